//! `cxl.memory`: a CXL Type 3 device with host-managed memory (HDM-H), see [`scalepool_nodes::cxl::memory`].

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, NodeError, Offer, PortDecl, PortRole, Site,
    SitePort, component,
};
use crate::kinds::cxl_links;
use crate::kinds::media::{self, CxlMedia, DRAM_METRICS, timing};
use crate::quantity::Unit;
use scalepool_kernel::Clock;
use scalepool_memory::LINE_BYTES;
use scalepool_memory::decoder::{Arithmetic, Decoders, GRANULARITIES, Interleave, Window};
use scalepool_memory::store::Store;
use scalepool_nodes::cxl::memory::{DeviceConfig, MemoryDevice, MemoryResult};
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
        size: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 46), "memory size; without a memory map, addresses of a host wrap around at this size, and a home has lines up to it";
        latency_cycles: u64 = "160" [Unit::Of("device cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in the device; with banks or a preset in `media`, the time there is not included";
        queue: usize = "512" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 20), "requests that the device can queue";
        media: Option<CxlMedia> = "" [Unit::Of("-")] in FieldRange::Table(CxlMedia::fields), "what stands behind the latency; left out, the latency is all";
    }
}

impl CxlMemory {
    /// The memory of a home has its lines from 0 on, and no others. A host knows how large its memory is; a home does not.
    fn of_home(&self, port: &SitePort) -> Option<Decoders> {
        let interleave = Interleave::new(1, GRANULARITIES[0], Arithmetic::Modulo)?;
        let mut decoders = Decoders::default();
        decoders.push(Window { base: 0, size: self.size, interleave });
        (port.peer_role == PortRole::HomeMemory).then_some(decoders)
    }
}

impl Component for CxlMemory {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "cxl", len: None, links: cxl_links::NAMES, role: PortRole::Device }]
    }

    fn offer(&self) -> Offer {
        Offer { memory_bytes: Some(self.size), ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let is_whole = self.size.is_multiple_of(LINE_BYTES);
        let text = || ("size", format!("found {} bytes, expected a multiple of {LINE_BYTES} bytes", self.size));
        let of_media = self.media.iter().flat_map(|media| media.check(self.size));
        (!is_whole).then(text).into_iter().chain(of_media).collect()
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
        let timing = timing(self.latency_cycles, self.queue, self.media.as_ref(), site.clock, false)
            .map_err(|text| NodeError::Joined { path: site.path.to_owned(), text })?;
        let config = DeviceConfig {
            store: Store::new(BACKGROUND),
            decoders: site.map.decoders.clone().or_else(|| self.of_home(&site.ports[0])),
            timing,
            port: port_ids[1],
            form,
            link: site.ports[0].number,
            place: name.clone(),
        };
        let result = Arc::<Mutex<MemoryResult>>::default();
        let left = result.clone();
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let Some((tx, rx)) = plugs.into_iter().map(ComponentPlug::cxl).next() else { return Ok(()) };
                p.module(&name, clock, |bind| MemoryDevice::new(config, bind.attach(rx), bind.attach(tx), tap, result))
            }),
            measure: Box::new(move || media::measured(super::published(&left))),
            digest: Vec::new(),
            ledger: None,
        })
    }
}
