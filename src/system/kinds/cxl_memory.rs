//! `cxl.memory`: a CXL Type 3 device with host-managed memory (HDM-H), see [`scalepool_nodes::cxl::memory`].

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError, Offer, PortDecl,
    PortRole, Site, SitePort, component,
};
use crate::kinds::cxl_links;
use crate::kinds::media::{self, CxlMedia, DRAM_METRICS, timing};
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_kernel::Clock;
use scalepool_memory::LINE_BYTES;
use scalepool_memory::decoder::{Arithmetic, Decoders, GRANULARITIES, Interleave, Window};
use scalepool_memory::store::Store;
use scalepool_nodes::cxl::memory::{DeviceConfig, LogicalDevice, MemoryDevice, MemoryResult};
use scalepool_nodes::cxl::{BACKGROUND, transaction_layouts};
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.memory",
    about: "CXL Type 3 device with host-managed memory (HDM-H); its port is `cxl`",
    fields: CxlMemory::fields,
    read: component::<CxlMemory>,
    external: &["flits", "messages"],
    metrics: &[DRAM_METRICS],
};

config! {
    /// A memory device. Numbers without another source are of the model (basis: model).
    pub struct CxlMemory {
        size: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 46), "memory size, of all logical devices together; without a memory map, addresses of a host wrap around at this size, and a home has lines up to it";
        logical_devices: Option<usize> = "" [Unit::Of("logical devices")] in FieldRange::Int(1, LOGICAL_DEVICES as u64), "logical devices, each with an equal part of the memory at addresses of its own (fabric MLD-1); not given = it is no multi-logical device";
        latency_cycles: u64 = "160" [Unit::Of("device cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in the device; with banks or a preset in `media`, the time there is not included";
        queue: usize = "512" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 20), "requests that the device can queue";
        media: Option<CxlMedia> = "" [Unit::Of("-")] in FieldRange::Table(CxlMedia::fields), "what stands behind the latency; left out, the latency is all";
    }
}

impl CxlMemory {
    /// Bytes of a logical device.
    fn logical_bytes(&self) -> u64 {
        self.size / self.logical_devices.unwrap_or(1) as u64
    }

    /// The memory of a home, or of a device that asks for it directly, has its lines from 0 on, and no others. A host knows how
    /// large its memory is; those do not.
    fn of_home(&self, port: &SitePort) -> Option<Decoders> {
        let interleave = Interleave::new(1, GRANULARITIES[0], Arithmetic::Modulo)?;
        let mut decoders = Decoders::default();
        decoders.push(Window { base: 0, size: self.size, interleave });
        matches!(port.peer_role, PortRole::HomeMemory | PortRole::Requester).then_some(decoders)
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
        (!is_whole).then(text).into_iter().chain(of_media).collect()
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
        let name = format!("{}.mem", site.path);
        let (form, port_ids) = site.ports[0].link.cxl();
        let tap = hub.tap(&name, PlaceKind::Messages(transaction_layouts(form)));
        let timing = timing(self.latency_cycles, self.queue, self.media.as_ref(), site)
            .map_err(|text| NodeError::Joined { path: site.path.to_owned(), text })?;
        let logical = |n: usize| LogicalDevice {
            store: Store::new(BACKGROUND),
            decoders: site.map.decoders(n).or_else(|| self.of_home(&site.ports[0])),
        };
        let config = DeviceConfig {
            logical: (0..self.logical_devices.unwrap_or(1)).map(logical).collect(),
            logical_bytes: self.logical_bytes(),
            timing,
            port: port_ids[1],
            form,
            link: site.ports[0].number,
            place: name.clone(),
        };
        let result = Arc::<Mutex<MemoryResult>>::default();
        let left = result.clone();
        let kept = self.media.as_ref().filter(|_| site.keeps_dram_commands).and_then(CxlMedia::preset);
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let Some((tx, rx)) = plugs.into_iter().map(ComponentPlug::cxl).next() else { return Ok(()) };
                p.module(&name, clock, |bind| MemoryDevice::new(config, bind.attach(rx), bind.attach(tx), tap, result))
            }),
            measure: Box::new(move || media::measured(super::published(&left), kept)),
            digest: Vec::new(),
            ledger: None,
        })
    }
}
