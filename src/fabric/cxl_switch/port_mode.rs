//! Modes in which the links of downstream ports have come up (`fabric` VCS-6).
//!
//! Modelled: ports in CXL mode, with a device of CXL 1.1 (RCD), and in PCIe mode; which messages of CXL.mem and CXL.cache pass them, and that
//! a hierarchy has one RCD at most. Detail: one message, without time; a switch with hierarchy based routing asks for each of its messages.
//! Left out: the training that decides a mode, which a description says.
//!
//! A walk through one message: it is routed as in any switch ([`HbrRoutes::route`]). What leads to a port in PCIe mode, or comes from one,
//! is of a class that the port has not negotiated, so it is dropped (`fabric` ERR-4).

use super::binding::VppbBinding;
use super::route::{HbrRoute, HbrRoutes};
use super::switching::Undelivered;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::message::Message;

/// The mode of a downstream port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DspMode {
    /// CXL.
    #[default]
    Cxl,
    /// CXL, with a device of CXL 1.1 below.
    Rcd,
    /// PCI Express: neither CXL.mem nor CXL.cache.
    Pcie,
}

impl DspMode {
    /// Their names in descriptions.
    pub const NAMES: &'static [&'static str] = &["cxl", "rcd", "pcie"];

    /// The mode of a name.
    pub fn by_name(name: &str) -> Option<DspMode> {
        match name {
            "cxl" => Some(DspMode::Cxl),
            "rcd" => Some(DspMode::Rcd),
            "pcie" => Some(DspMode::Pcie),
            _ => None,
        }
    }
}

/// Two devices of CXL 1.1 in one hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("found devices of CXL 1.1 at dsp[{}] and dsp[{}] in VCS {vcs}, expected at most one (fabric VCS-6)", .ports[0], .ports[1])]
pub struct SecondRcd {
    /// The hierarchy.
    pub vcs: usize,
    /// The ports.
    pub ports: [usize; 2],
}

/// The modes of the downstream ports of a switch; one that is not given is in CXL mode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DspModes(OrderedMap<usize, DspMode>);

impl DspModes {
    /// A port has come up in a mode.
    pub fn set(&mut self, port: usize, mode: DspMode) {
        self.0.insert(port, mode);
    }

    /// The mode of a port.
    pub fn of(&self, port: usize) -> DspMode {
        self.0.get(&port).copied().unwrap_or_default()
    }

    /// Judges what is bound: a hierarchy has one device of CXL 1.1 at most.
    ///
    /// # Errors
    /// The first hierarchy that has two.
    pub fn check(&self, bound: &[VppbBinding]) -> Result<(), SecondRcd> {
        let mut first = OrderedMap::new();
        for VppbBinding { vcs, port, .. } in bound.iter().filter(|one| self.of(one.port) == DspMode::Rcd) {
            match *first.entry(*vcs).or_insert(*port) {
                before if before != *port => return Err(SecondRcd { vcs: *vcs, ports: [before, *port] }),
                _ => {}
            }
        }
        Ok(())
    }

    /// The route of a message that was received at a port, upstream ports first.
    pub fn route(&self, routes: &HbrRoutes, from: usize, message: &Message) -> HbrRoute {
        let is_pcie = |port: usize| port.checked_sub(routes.hosts()).is_some_and(|dsp| self.of(dsp) == DspMode::Pcie);
        match routes.route(from, message) {
            _ if is_pcie(from) => HbrRoute::Dropped(Undelivered::Class),
            HbrRoute::Port(to, ..) if is_pcie(to) => HbrRoute::Dropped(Undelivered::Class),
            routed => routed,
        }
    }
}
