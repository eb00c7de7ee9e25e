//! `memory.tray`: several media of one kind in a tray, a JBOM or a memory box, see [`scalepool_nodes::cxl::memory`].
//!
//! Modelled: a JBOM has each medium straight at a port of the tray, or all of them behind a switch inside; a memory box has one
//! controller in front of all media, with a buffer of pages in HBM if it is given one. A switch inside adds its time port to port, to a
//! request and to its answer; outside it is a component of the fabric. Media share the addresses in turn. Left out: queues of the switch
//! inside, cooling, power.
//!
//! A walk through one read of a box with a switch inside: switch, controller, lookup in the buffer, its HBM or media and fill, switch.

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
use scalepool_fabric::cxl_switch::SwitchPreset;
use scalepool_kernel::Clock;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "memory.tray",
    about: "JBOM or memory box: several media (HDM-H) behind CXL ports `cxl`, with a switch inside or without",
    fields: MemoryTray::fields,
    read: component::<MemoryTray>,
    external: &["flits", "messages"],
    metrics: &[DRAM_METRICS, MEDIA_METRICS, PORT_METRICS],
};

config! {
    /// A tray. Numbers without another source are of the model (basis: model).
    pub struct MemoryTray {
        form: String = "jbom" [Unit::Of("-")] in FieldRange::Words(&["jbom", "box"]), "jbom: media straight at the ports; box: one controller in front of all media (a choice)";
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 64), "CXL ports; of a JBOM without a switch inside one for each medium";
        media_count: usize = "1" [Unit::Of("media")] in FieldRange::Int(1, 64), "media of the tray, all alike";
        switch: String = "outside" [Unit::Of("-")] in FieldRange::Words(&["inside", "outside"]), "inside: a switch of the preset cxl_switch (fabric §5) between ports and media or controller; outside: it is a component of its own, or there is none";
        size: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 46), "memory size of all media together";
        granule: u64 = "4 KiB" [Unit::Bytes] in FieldRange::OneOf(&[256, 512, 1024, 2048, 4096, 8192, 16384]), "bytes in a row at one medium, where ports reach all of them";
        dead_medium: Option<usize> = "" [Unit::Of("-")] in FieldRange::Int(0, 63), "medium whose lines read as poison; left out, none";
        arbiter: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ARBITER_NAMES), "whose request is taken, one a cycle (fabric §6.2); not given = round-robin";
        port: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 40), "time of a port of the tray on each way, rounded up to clock cycles";
        controller: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 40), "time of the controller of a box for a request, rounded up to clock cycles; a JBOM has none (a choice)";
        queue: usize = "512" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 20), "requests of all ports that the tray can queue";
        media: Option<CxlMedia> = "" [Unit::Of("-")] in FieldRange::Table(CxlMedia::fields), "each medium; with `buffer`, the buffer of the box in front of all";
        ecc: Option<MemoryEcc> = "" [Unit::Of("-")] in FieldRange::Table(MemoryEcc::fields), "codes that correct errors, faults of cells, and the patrol that looks for them; left out, there are none (memory §6)";
    }
}

/// Cycles that cover a time.
fn cycles(fs: u64, clock: Clock) -> u64 {
    let (num, den) = clock.period();
    (u128::from(fs) * u128::from(den)).div_ceil(u128::from(num)) as u64
}

impl MemoryTray {
    /// Each port leads to a medium of its own.
    fn is_apart(&self) -> bool {
        self.form == "jbom" && self.switch == "outside"
    }

    /// From a port to the media and back, without the media \[cycles\].
    fn latency_cycles(&self, clock: Clock) -> u64 {
        let switch = SwitchPreset::by_name("cxl_switch").filter(|_| self.switch == "inside");
        let hop = switch.map_or(0, |preset| cycles(preset.stages_fs.iter().sum(), clock));
        2 * (cycles(self.port, clock) + hop) + cycles(self.controller, clock)
    }

    /// Bytes of a medium.
    fn medium_bytes(&self) -> u64 {
        self.size / self.media_count as u64
    }
}

impl Component for MemoryTray {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "cxl", len: Some(self.ports), links: cxl_links::NAMES, role: PortRole::Device }]
    }

    fn offer(&self) -> Offer {
        let memory_bytes = Some(if self.is_apart() { self.medium_bytes() } else { self.size });
        Offer { memory_bytes, ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let mut found = Vec::new();
        let step = self.granule * self.media_count as u64;
        if !self.size.is_multiple_of(step) {
            let text =
                format!("found {} bytes, expected a multiple of {step}, a row of bytes at each medium", self.size);
            found.push(("size", text));
        }
        let is_buffered = self.media.as_ref().is_some_and(CxlMedia::is_buffered_dram);
        if self.form == "jbom" && is_buffered {
            let text = "found a buffer in a JBOM, expected form = \"box\": a JBOM has no controller for it".to_owned();
            found.push(("media", text));
        }
        if self.form == "jbom" && self.controller > 0 {
            found.push(("controller", "found a controller in a JBOM, expected form = \"box\"".to_owned()));
        }
        if self.is_apart() && self.ports != self.media_count {
            let text = format!(
                "found {} ports and {} media of a JBOM without a switch inside, expected as many of both",
                self.ports, self.media_count
            );
            found.push(("ports", text));
        }
        let page = self.media.as_ref().map_or(0, CxlMedia::page_bytes);
        if is_buffered && self.granule < page {
            let text = format!("found {} bytes in a row at a medium, expected at least a page, {page}", self.granule);
            found.push(("granule", text));
        }
        if self.dead_medium.is_some_and(|medium| medium >= self.media_count) {
            let text = format!("found {:?}, expected one of {} media", self.dead_medium, self.media_count);
            found.push(("dead_medium", text));
        }
        let bytes = self.medium_bytes();
        let of_media = self.media.iter().flat_map(|media| media.check(bytes));
        found.into_iter().chain(of_media).chain(self.ecc.iter().flat_map(|ecc| ecc.check(self.size))).collect()
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let media = self.media.as_ref().map_or(0, CxlMedia::own_wait_fs);
        clock.periods_fs(self.latency_cycles(clock)).max(media)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(cxl_links::answered_memory())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let is_apart = self.is_apart();
        let granule = if is_apart { self.medium_bytes() } else { self.granule };
        let parts = MemoryParts {
            size: self.size,
            logical_devices: if is_apart { self.media_count } else { 1 },
            latency_cycles: self.latency_cycles(site.clock).max(1),
            queue: self.queue,
            media: self.media.as_ref(),
            shared: SharedMedia { count: self.media_count, granule },
            dead_medium: self.dead_medium,
            is_apart,
            telemetry: None,
            ecc: self.ecc.as_ref(),
            arbiter: self.arbiter.as_deref(),
            gfd: None,
        };
        parts.elaborate(site, hub)
    }
}
