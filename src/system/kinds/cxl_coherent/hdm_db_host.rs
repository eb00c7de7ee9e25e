//! `cxl.hdm-db-host` and `cxl.hdm-db-peer`: a host, or a device that is a direct peer, that caches the memory of devices (HDM-DB), with
//! a core for each of them.

use super::agent::{Described, component as agents};
use super::coherent_waits;
use super::core::CxlCore;
use super::figures::METRICS;
use super::hdm_db_device::LINKS;
use crate::channels::{ChannelWait, Reach};
use crate::coherence::Coherent;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, CxlSide, NodeError, PortDecl, PortRole, Site, component,
};
use crate::quantity::Unit;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::ids::AgentPort;
use scalepool_coherence::mem::host::MemHost;
use scalepool_coherence::mem::load::Steps;
use scalepool_trace::{Hub, PlaceKind};

/// A host.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.hdm-db-host",
    about: "host that caches the memory of devices (HDM-DB), with a core for each device; its ports are `port[n]`",
    fields: HdmDbHost::fields,
    read: component::<HdmDbHost>,
    external: &["flits"],
    metrics: &[METRICS],
};

/// A direct peer.
pub const PEER: ComponentKind = ComponentKind {
    name: "cxl.hdm-db-peer",
    about: "device that reads and writes the memory of other devices directly, as further holder of lines (HDM-DB); its ports are `port[n]`",
    fields: HdmDbPeer::fields,
    read: component::<HdmDbPeer>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// What a core does about DevLoad.
    pub struct ThrottleConfig {
        heed: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "hosts and peers obey DevLoad: they leave idle cycles between two requests (coherence §3.8)";
        normal: u32 = "4" [Unit::Of("idle cycles")] in FieldRange::Int(1, 1 << 20), "idle cycles added under moderate overload, removed when the load is light";
        severe: u32 = "16" [Unit::Of("idle cycles")] in FieldRange::Int(1, 1 << 20), "idle cycles added under severe overload";
        most: u32 = "256" [Unit::Of("idle cycles")] in FieldRange::Int(1, 1 << 20), "most idle cycles between two requests";
        window: u64 = "1000" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 40), "time between two throttle steps (tH); the first overload acts at once";
    }
}

impl ThrottleConfig {
    /// The steps of who obeys DevLoad; `None`: nobody does.
    pub fn steps(&self) -> Option<Steps> {
        let ThrottleConfig { heed, normal, severe, most, window } = *self;
        heed.then_some(Steps { normal_delta: normal, severe_delta: severe, most, window_cycles: window })
    }
}

config! {
    /// Who holds lines of devices.
    pub struct Holder {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 16), "ports, one for each device";
        core: CxlCore = "" [Unit::Of("-")] in FieldRange::Table(CxlCore::fields), "core, cache and stimulus for each device";
        throttle: ThrottleConfig = "" [Unit::Of("-")] in FieldRange::Table(ThrottleConfig::fields), "what the cores do about DevLoad";
    }
}

config! {
    /// A host.
    pub struct HdmDbHost with { holder: Holder } {}
}

config! {
    /// A direct peer.
    pub struct HdmDbPeer with { holder: Holder } {}
}

impl Holder {
    fn port(&self, links: &'static [&'static str]) -> PortDecl {
        PortDecl {
            name: "port",
            len: Some(self.ports),
            links,
            role: PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Host),
        }
    }

    fn coherent(&self, path: &str) -> Coherent {
        Coherent::Holder((0..self.ports).map(|n| name(path, n)).collect())
    }

    fn elaborate(&self, waits: &WaitTable, site: &Site<'_>, hub: &mut Hub) -> ComponentNode {
        let mut all = Vec::new();
        for (n, port) in site.ports.iter().enumerate() {
            let (name, seat) = (name(site.path, n), port.seat());
            let tap = hub.tap(&name, PlaceKind::Messages(port.link.cxl().0.layouts()));
            let holder = seat.holders.start;
            let program = || self.core.program(site, &name, seat, Some(holder));
            let core = self.core.core(site, program, |core| match self.throttle.steps() {
                Some(steps) => core.heeding(steps),
                None => core,
            });
            let agent = Described {
                waits: waits.clone(),
                ..Described::with_core(name, MemHost::new(holder as AgentPort), core, tap)
            };
            all.push(agent.holder(&site.ports[n..=n], true));
        }
        agents(all, site, self.core.poison_every > 0)
    }
}

/// Name of the agent for the device at a port.
fn name(path: &str, port: usize) -> String {
    format!("{path}.mem[{port}]")
}

/// Both kinds are one but for their links and for what waits for what.
macro_rules! holders {
    ($($kind:ty: $links:expr, $waits:expr;)*) => {
        $(impl Component for $kind {
            fn ports(&self) -> Vec<PortDecl> {
                vec![self.holder.port($links)]
            }

            fn core_lines(&self) -> Option<u64> {
                Some(self.holder.core.lines)
            }

            fn coherent(&self, path: &str) -> Option<Coherent> {
                Some(self.holder.coherent(path))
            }

            fn shares_stimulus(&self) -> Option<u64> {
                Some(self.holder.core.trace_block)
            }

            fn waits(&self) -> Option<Vec<ChannelWait>> {
                // There is an agent for each port.
                Some(coherent_waits(&$waits, &Reach::SamePort))
            }

            fn asks(&self) -> bool {
                true
            }

            fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
                Ok(self.holder.elaborate(&$waits, site, hub))
            }
        })*
    };
}

holders! {
    HdmDbHost: LINKS, WaitTable::default();
    // Direct peers need a fabric (`coherence` §3.7).
    HdmDbPeer: &["cxl-256b-pbr"], WaitTable::peer();
}
