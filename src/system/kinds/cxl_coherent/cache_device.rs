//! `cxl.cache-device` and `cxl.cache-peer`: a core with a cache of a host's lines; the peer uses the memory of one more device
//! besides, directly, over a fabric.

use super::agent::{Described, component as agents};
use super::coherent_waits;
use super::core::CxlCore;
use super::figures::METRICS;
use crate::channels::{ChannelWait, Reach};
use crate::coherence::{Coherent, Seat};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, CxlSide, NodeError, PortDecl, PortRole, Site, component,
};
use crate::kinds::cxl_links;
use crate::quantity::Unit;
use scalepool_coherence::cache::device::DeviceCache;
use scalepool_coherence::clocked::accessor::CoreAccess;
use scalepool_coherence::clocked::node::AgentWatch;
use scalepool_coherence::clocked::peer::{DIRECT, Divided};
use scalepool_coherence::clocked::program::CoreProgram;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::ids::AgentPort;
use scalepool_coherence::mem::peer::MemPeer;
use scalepool_trace::{Hub, PlaceKind};

/// A device with a cache.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.cache-device",
    about: "device with a core and a cache of a host's lines (CXL.cache); its port is `link`",
    fields: CacheDevice::fields,
    read: component::<CacheDevice>,
    external: &["flits"],
    metrics: &[METRICS],
};

/// One that is a direct peer of another device besides.
pub const PEER: ComponentKind = ComponentKind {
    name: "cxl.cache-peer",
    about: "device with a core and a cache of a host's lines, of which the odd ones are in the HDM-DB of another device, used directly; its ports are `link` and `peer`",
    fields: CachePeer::fields,
    read: component::<CachePeer>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// A caching device.
    pub struct CacheDevice {
        core: CxlCore = "" [Unit::Of("-")] in FieldRange::Table(CxlCore::fields), "core, cache and stimulus of the device";
    }
}

config! {
    /// A caching device that is a direct peer of another device.
    pub struct CachePeer {
        core: CxlCore = "" [Unit::Of("-")] in FieldRange::Table(CxlCore::fields), "core, cache and stimulus of the device";
    }
}

const LINK: PortDecl = PortDecl {
    name: "link",
    len: None,
    links: cxl_links::NAMES,
    role: PortRole::Coherent(CoherenceProtocol::Cache, CxlSide::Device),
};

/// A fabric has 256B flits with port based routing (`coherence` §3.7).
const DIRECT_PORT: PortDecl = PortDecl {
    name: "peer",
    len: None,
    links: &["cxl-256b-pbr"],
    role: PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Host),
};

impl Component for CacheDevice {
    fn ports(&self) -> Vec<PortDecl> {
        vec![LINK]
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        Some(Coherent::Holder(vec![format!("{path}.cache")]))
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
        let (name, port) = (format!("{}.cache", site.path), &site.ports[0]);
        let tap = hub.tap(&name, PlaceKind::Messages(port.link.cxl().0.layouts()));
        let seat = port.seat();
        let program = || self.core.program(site, &name, seat, Some(seat.holders.start));
        let core = self.core.core(site, program, |core| core);
        let device = Described::with_core(name, DeviceCache::new(), core, tap);
        Ok(agents(vec![device.holder(site.ports, false)], site, self.core.poison_every > 0))
    }
}

impl Component for CachePeer {
    fn ports(&self) -> Vec<PortDecl> {
        vec![LINK, DIRECT_PORT]
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        let name = format!("{path}.cache");
        Some(Coherent::Holder(vec![name.clone(), name]))
    }

    fn shares_stimulus(&self) -> Option<u64> {
        Some(self.core.trace_block)
    }

    fn asks(&self) -> bool {
        true
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(coherent_waits(&WaitTable::peer(), &Reach::AnyPort))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, port) = (format!("{}.cache", site.path), &site.ports[0]);
        let tap = hub.tap(&name, PlaceKind::Messages(port.link.cxl().0.peer_layouts()));
        let seat = port.seat();
        let holder = seat.holders.start;
        let program = || divided(self.core.program(site, &name, seat, Some(holder)));
        let core = self.core.core(site, program, |core| core);
        let device = Described {
            waits: WaitTable::peer(),
            watch: both_watches,
            ..Described::with_core(name, MemPeer::new(holder as AgentPort), core, tap)
        };
        Ok(agents(vec![device.holder(site.ports, false)], site, self.core.poison_every > 0))
    }
}

/// The same accesses, the odd lines of which are those of the other device.
fn divided(program: CoreProgram<CoreAccess>) -> CoreProgram<CoreAccess> {
    let line = |line: LineAddr| if line.0 % 2 == 1 { LineAddr(line.0 | DIRECT.0) } else { line };
    CoreProgram::new(program.map(move |access| CoreAccess { line: line(access.line), ..access }))
}

/// The watch of the host's lines, and that of the other device's.
fn both_watches(seats: &[Seat]) -> Option<Box<dyn AgentWatch<MemPeer<CacheLine>>>> {
    Some(Box::new(Divided { cache: seats[0].domain.watch(), mem: seats[1].domain.watch() }))
}
