//! `cxl.hdm-d-device` and `cxl.hdm-d-host`: a device and its host, each with a core, that use the device's memory (HDM-D). The bias
//! of a line says who uses it without asking.

use super::agent::{Described, component as agents};
use super::coherent_waits;
use super::core::CxlCore;
use super::figures::METRICS;
use crate::channels::{ChannelWait, Reach};
use crate::coherence::{Coherent, LineOwner};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, CxlSide, NodeError, PortDecl, PortRole, Site, component,
};
use crate::kinds::cxl_links;
use crate::quantity::Unit;
use scalepool_coherence::bias::{BiasDevice, BiasHost};
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_trace::{Hub, PlaceKind};

/// The device.
pub const DEVICE: ComponentKind = ComponentKind {
    name: "cxl.hdm-d-device",
    about: "device with a core and memory that it shares with its host by a bias table (HDM-D); its port is `link`",
    fields: HdmDDevice::fields,
    read: component::<HdmDDevice>,
    external: &["flits"],
    metrics: &[METRICS],
};

/// The host.
pub const HOST: ComponentKind = ComponentKind {
    name: "cxl.hdm-d-host",
    about: "host with a core that uses the memory of a device with a bias table (HDM-D); its port is `port[0]`",
    fields: HdmDHost::fields,
    read: component::<HdmDHost>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// A device with HDM-D.
    pub struct HdmDDevice {
        core: CxlCore = "" [Unit::Of("-")] in FieldRange::Table(CxlCore::fields), "core, cache and stimulus of the device";
        watch: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "check the invariants V1 to V4 and V13 after every step (coherence §4)";
    }
}

config! {
    /// A host that uses HDM-D.
    pub struct HdmDHost {
        core: CxlCore = "" [Unit::Of("-")] in FieldRange::Table(CxlCore::fields), "core, cache and stimulus of the host";
    }
}

impl Component for HdmDDevice {
    fn ports(&self) -> Vec<PortDecl> {
        let role = PortRole::Coherent(CoherenceProtocol::HdmD, CxlSide::Device);
        vec![PortDecl { name: "link", len: None, links: cxl_links::NAMES, role }]
    }

    fn why_no_window(&self) -> &'static str {
        "whose lines its host numbers from 0"
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        let config = CoherenceConfig::default();
        let (name, watch) = (format!("{path}.bias"), self.watch);
        Some(Coherent::Home(Box::new(LineOwner { name, config, watch, acts: true, most_holders: 1, requester: None })))
    }

    fn shares_stimulus(&self) -> Option<u64> {
        Some(self.core.trace_block)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(coherent_waits(&WaitTable::default(), &Reach::SamePort))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, port) = (format!("{}.bias", site.path), &site.ports[0]);
        let tap = hub.tap(&name, PlaceKind::Messages(port.link.cxl().0.layouts()));
        let program = || self.core.program(site, &name, port.seat(), None);
        let core = self.core.core(site, program, |core| core);
        let device = Described::with_core(name, BiasDevice::new(), core, tap);
        Ok(agents(vec![device.home(site.ports, false)], site, self.core.poison_every > 0))
    }
}

impl Component for HdmDHost {
    fn ports(&self) -> Vec<PortDecl> {
        let role = PortRole::Coherent(CoherenceProtocol::HdmD, CxlSide::Host);
        vec![PortDecl { name: "port", len: Some(1), links: cxl_links::NAMES, role }]
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        Some(Coherent::Holder(vec![format!("{path}.mem")]))
    }

    fn shares_stimulus(&self) -> Option<u64> {
        Some(self.core.trace_block)
    }

    fn asks(&self) -> bool {
        true
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(coherent_waits(&WaitTable::default(), &Reach::SamePort))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, port) = (format!("{}.mem", site.path), &site.ports[0]);
        let tap = hub.tap(&name, PlaceKind::Messages(port.link.cxl().0.layouts()));
        let program = || self.core.program(site, &name, port.seat(), Some(0));
        let core = self.core.core(site, program, |core| core);
        let host = Described::with_core(name, BiasHost::new(0), core, tap);
        Ok(agents(vec![host.holder(site.ports, true)], site, self.core.poison_every > 0))
    }
}
