//! `memory.node`: a memory of tier 2 with several ports, see [`scalepool_nodes::cxl::memory`].
//!
//! Modelled: one memory behind ports of CXL.mem, for bridges with port based routing, hosts and switches alike; requests of all ports
//! take effect in one order. Nobody keeps lines coherent (HDM-H): who shares a line has to agree on it. Left out: rights of ports.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ConfigFinding, NodeError, Offer, PortDecl, PortRole, Site, component,
};
use crate::kinds::cxl_links;
use crate::kinds::media::{CxlMedia, DRAM_METRICS, MEDIA_METRICS, SharedMedia};
use crate::kinds::memory_device::{MemoryParts, PORT_METRICS};
use crate::kinds::memory_ecc::MemoryEcc;
use crate::quantity::Unit;
use scalepool_arbiter::ARBITER_NAMES;
use scalepool_kernel::Clock;
use scalepool_memory::LINE_BYTES;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "memory.node",
    about: "memory of tier 2 (HDM-H) with several CXL ports `cxl` in front of one memory",
    fields: MemoryNode::fields,
    read: component::<MemoryNode>,
    external: &["flits", "messages"],
    metrics: &[DRAM_METRICS, MEDIA_METRICS, PORT_METRICS],
};

config! {
    /// A memory node. Numbers without another source are of the model (basis: model).
    pub struct MemoryNode {
        ports: usize = "2" [Unit::Of("ports")] in FieldRange::Int(1, 64), "CXL ports; all reach all bytes";
        arbiter: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ARBITER_NAMES), "whose request is taken, one a cycle (fabric §6.2); not given = round-robin";
        size: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 46), "memory size; a port toward a bridge has addresses from 0 on";
        latency_cycles: u64 = "160" [Unit::Of("node cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in the node; with banks or a preset in `media`, the time there is not included";
        queue: usize = "512" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 20), "requests of all ports that the node can queue";
        media: Option<CxlMedia> = "" [Unit::Of("-")] in FieldRange::Table(CxlMedia::fields), "what stands behind the latency; left out, the latency is all";
        ecc: Option<MemoryEcc> = "" [Unit::Of("-")] in FieldRange::Table(MemoryEcc::fields), "codes that correct errors, faults of cells, and the patrol that looks for them; left out, there are none (memory §6)";
    }
}

impl Component for MemoryNode {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "cxl", len: Some(self.ports), links: cxl_links::NAMES, role: PortRole::Device }]
    }

    fn offer(&self) -> Offer {
        Offer { memory_bytes: Some(self.size), ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let is_whole = self.size.is_multiple_of(LINE_BYTES);
        let text = || ("size", format!("found {} bytes, expected a multiple of {LINE_BYTES} bytes", self.size));
        let of_media = self.media.iter().flat_map(|media| media.check(self.size));
        let of_ecc = self.ecc.iter().flat_map(|ecc| ecc.check(self.size));
        (!is_whole).then(text).into_iter().chain(of_media).chain(of_ecc).collect()
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let media = self.media.as_ref().map_or(0, CxlMedia::own_wait_fs);
        clock.periods_fs(self.latency_cycles).max(media)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(cxl_links::answered_memory())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let parts = MemoryParts {
            size: self.size,
            logical_devices: 1,
            latency_cycles: self.latency_cycles,
            queue: self.queue,
            media: self.media.as_ref(),
            shared: SharedMedia::ONE,
            dead_medium: None,
            is_apart: false,
            telemetry: None,
            ecc: self.ecc.as_ref(),
            arbiter: self.arbiter.as_deref(),
            gfd: None,
        };
        parts.elaborate(site, hub)
    }
}
