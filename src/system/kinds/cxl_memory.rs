//! `cxl.memory`: a CXL Type 3 device with host-managed memory (HDM-H), see [`scalepool_nodes::cxl::memory`].

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ConfigFinding, DomainMember, NodeError, Offer, PortDecl, PortRole, Site,
    SitePort, component,
};
use crate::kinds::cxl_links;
use crate::kinds::media::{CxlMedia, DRAM_METRICS, MEDIA_METRICS, SharedMedia};
use crate::kinds::memory_device::MemoryParts;
use crate::kinds::memory_ecc::MemoryEcc;
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_kernel::Clock;
use scalepool_memory::LINE_BYTES;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.memory",
    about: "CXL Type 3 device with host-managed memory (HDM-H); its port is `cxl`",
    fields: CxlMemory::fields,
    read: component::<CxlMemory>,
    external: &["flits", "messages"],
    metrics: &[DRAM_METRICS, MEDIA_METRICS],
};

config! {
    /// A memory device. Numbers without another source are of the model (basis: model).
    pub struct CxlMemory {
        size: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 46), "memory size, of all logical devices together; without a memory map, addresses of a host wrap around at this size, and a home has lines up to it";
        logical_devices: Option<usize> = "" [Unit::Of("logical devices")] in FieldRange::Int(1, LOGICAL_DEVICES as u64), "logical devices, each with an equal part of the memory at addresses of its own (fabric MLD-1); not given = it is no multi-logical device";
        latency_cycles: u64 = "160" [Unit::Of("device cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in the device; with banks or a preset in `media`, the time there is not included";
        queue: usize = "512" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 20), "requests that the device can queue";
        media: Option<CxlMedia> = "" [Unit::Of("-")] in FieldRange::Table(CxlMedia::fields), "what stands behind the latency; left out, the latency is all";
        ecc: Option<MemoryEcc> = "" [Unit::Of("-")] in FieldRange::Table(MemoryEcc::fields), "codes that correct errors, faults of cells, and the patrol that looks for them; left out, there are none (memory §6)";
    }
}

impl CxlMemory {
    /// Bytes of a logical device.
    fn logical_bytes(&self) -> u64 {
        self.size / self.logical_devices.unwrap_or(1) as u64
    }
}

impl Component for CxlMemory {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "cxl", len: None, links: cxl_links::NAMES, role: PortRole::Device }]
    }

    fn offer(&self) -> Offer {
        let logical_devices = self.logical_devices.map(|count| count as u8);
        Offer { memory_bytes: Some(self.logical_bytes()), logical_devices, ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let step = LINE_BYTES * self.logical_devices.unwrap_or(1) as u64;
        let is_whole = self.size.is_multiple_of(step);
        let each = if step > LINE_BYTES { " for each logical device" } else { "" };
        let text = || ("size", format!("found {} bytes, expected a multiple of {LINE_BYTES} bytes{each}", self.size));
        let of_media = self.media.iter().flat_map(|media| media.check(self.size));
        let of_ecc = self.ecc.iter().flat_map(|ecc| ecc.check(self.size));
        (!is_whole).then(text).into_iter().chain(of_media).chain(of_ecc).collect()
    }

    /// Logical devices are told apart by LD-IDs, which a switch gives.
    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let is_shared = self.logical_devices.is_none() || ports[0].peer_role == PortRole::SwitchDownstream;
        let text = "found logical devices at the port of a host, expected a switch there (fabric MLD-2)";
        (!is_shared).then(|| ("logical_devices", text.to_owned())).into_iter().collect()
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
            logical_devices: self.logical_devices.unwrap_or(1),
            latency_cycles: self.latency_cycles,
            queue: self.queue,
            media: self.media.as_ref(),
            shared: SharedMedia::ONE,
            dead_medium: None,
            is_apart: false,
            ecc: self.ecc.as_ref(),
            arbiter: None,
        };
        parts.elaborate(site, hub)
    }
}
