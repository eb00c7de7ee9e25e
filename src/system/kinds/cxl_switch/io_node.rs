//! What switches of CXL.io have, whatever routes their TLPs: ports as their links have trained, and the module with its result.
//!
//! A walk: each port is trained with what is at the other end of its link, which gives the spelling of TLPs there; the kind says
//! what the port is in its hierarchies; all of them and the channels of their link ends become the module.

use super::{SwitchModule, cycles, mem_beside, published};
use crate::kind::{Carried, ComponentNode, ComponentPlug, ConfigFinding, IoPlug, MemPlug, Site, SitePort};
use crate::measured::ComponentMeasured;
use crate::metric::MetricValue;
use scalepool_endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool_endpoint::tlp::TlpForm;
use scalepool_fabric::cxl_switch::{HbrSwitching, UioRoutes};
use scalepool_kernel::Clock;
use scalepool_memory::uio::UioRange;
use scalepool_nodes::io::mode::{self, FlexPort};
use scalepool_nodes::io::switch::hierarchy::{IoHierarchy, UioSettings};
use scalepool_nodes::io::switch::{IoSeat, IoSwitch, IoSwitchConfig, IoSwitchPort, IoSwitchResult};
use scalepool_nodes::io::{self, tlps};
use scalepool_protocols::cxl::cxlio::dvsec::{ConnectedMode, FlexBus};
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// A port whose link has trained.
pub(super) struct TrainedPort<'a> {
    port: &'a SitePort,
    /// What the other end can do.
    pub can: FlexBus,
    /// The mode on which both have agreed.
    pub agreed: ConnectedMode,
    form: TlpForm,
    side: PmSide,
    /// Its own side takes part in UIO.
    has_uio: bool,
}

impl<'a> TrainedPort<'a> {
    /// A port of a switch whose ports can do `own`; `is_up`: it leads towards a host.
    /// `has_uio`: the switch takes part in UIO there.
    pub fn new(own: &FlexPort, port: &'a SitePort, is_up: bool, has_uio: bool) -> TrainedPort<'a> {
        let Carried::CxlIo { rate_gtps, port_ids: [host, device], .. } = port.link.carried else {
            unreachable!("a port takes the links that it declares")
        };
        let trained = port.peer.flex_bus.and_then(|peer| Some((peer.can, own.train(&peer, rate_gtps)?)));
        let Some((can, agreed)) = trained else { unreachable!("it was checked") };
        let (side, [from, to]) = if is_up { (PmSide::Device, [device, host]) } else { (PmSide::Host, [host, device]) };
        TrainedPort { port, can, agreed, form: mode::form(agreed, from, to), side, has_uio }
    }

    /// Its power management, which gives up a device after so many cycles.
    pub fn agent(&self, timeout_cycles: u64) -> PmAgent {
        PmAgent::new(PmConfig { is_of_switch: true, timeout: timeout_cycles, ..PmConfig::new(self.side) })
    }

    /// The port with its places in hierarchies.
    pub fn seated(self, seats: Vec<IoSeat>, hub: &mut Hub) -> IoSwitchPort {
        let tap = hub.tap(&format!("{}.bridge", self.port.path), tlps::shows(self.form));
        let has_uio = self.has_uio && self.port.peer.has_uio && self.form != TlpForm::NonFlit;
        IoSwitchPort { seats, form: self.form, has_uio, link: self.port.number, tap }
    }
}

/// Cycles after which a port gives up a device in power management.
pub(super) fn power_timeout_cycles(clock: Clock, fs: u64) -> u64 {
    cycles(clock, fs).max(1)
}

/// Time within which a switch has to answer the host at a port in power management: the host's own, without that of the way there and
/// back \[fs\]; `None`: no host is there.
pub(super) fn answer_within_fs(port: &SitePort) -> Option<u64> {
    let Carried::CxlIo { way_fs, .. } = port.link.carried else { return None };
    Some(port.peer.power_timeout_fs?.saturating_sub(way_fs.saturating_mul(2)))
}

/// What a hierarchy with these ranges of vPPBs does with UIO.
pub(super) fn uio_settings(ranges: Vec<(usize, UioRange)>, to_peers: bool) -> UioSettings {
    UioSettings { routes: UioRoutes::of_ranges(ranges), to_peers }
}

/// Links that carry CXL.mem too, in a fabric with port based routing.
pub(super) fn with_cachemem(ports: &[SitePort]) -> Vec<ConfigFinding> {
    let text = |port: &SitePort| {
        let path = &port.path;
        let text =
            format!("found CXL.mem on the link at {path}, expected CXL.io alone: a cxl.switch.pbr passes CXL.mem");
        ("kind", text)
    };
    ports.iter().filter(|port| mem_beside::carries_mem(port)).map(text).collect()
}

/// A switch as a component: `finished` makes it what its kind adds, `counts` are those of its report; `mem` passes CXL.mem on, where its
/// links carry that too.
pub(super) fn node(
    site: &Site<'_>,
    (config, hierarchies, ports): (IoSwitchConfig, Vec<IoHierarchy>, Vec<IoSwitchPort>),
    mem: Option<SwitchModule<HbrSwitching>>,
    finished: impl FnOnce(IoSwitch) -> IoSwitch + Send + 'static,
    counts: impl Fn(&IoSwitchResult) -> Vec<MetricValue> + Send + 'static,
) -> ComponentNode {
    let result: Arc<Mutex<IoSwitchResult>> = Arc::default();
    let (shared, name, place) = (result.clone(), site.path.to_owned(), site.path.to_owned());
    let of_mem = mem.as_ref().map(|mem| (mem.name.clone(), mem.result.clone()));
    ComponentNode {
        place: Box::new(move |p, clock, plugs| {
            if plugs.is_empty() {
                return Ok(());
            }
            let both = plugs.into_iter().map(ComponentPlug::cxl_io).map(|IoPlug { io, mem }| (io, mem));
            let (ends, messages): (Vec<_>, Vec<_>) = both.unzip();
            p.module(&name, clock, |bind| {
                let ports = ports.into_iter().zip(ends);
                let ports = ports.map(|(port, (tx, rx))| (port, bind.attach(rx), bind.attach(tx))).collect();
                finished(IoSwitch::new(config, hierarchies, ports, shared))
            })?;
            let Some(mem) = mem else { return Ok(()) };
            mem.place(p, clock, messages.into_iter().flatten().map(MemPlug::by_class))
        }),
        measure: Box::new(move || {
            let result = published(&result);
            let own = ComponentMeasured {
                counts: counts(&result),
                broken: io::broken(&place, &result.events).collect(),
                ..ComponentMeasured::default()
            };
            let Some((place, result)) = &of_mem else { return own };
            let mem = mem_beside::figures(place, &published(result));
            ComponentMeasured {
                counts: own.counts.into_iter().chain(mem.counts).collect(),
                broken: own.broken.into_iter().chain(mem.broken).collect(),
                ..mem
            }
        }),
        digest: Vec::new(),
        ledger: None,
    }
}
