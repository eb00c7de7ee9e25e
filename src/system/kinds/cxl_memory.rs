//! `cxl.memory`: a CXL Type 3 device with host-managed memory (HDM-H), see [`scalepool_nodes::cxl::memory`].

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ConfigFinding, DomainMember, NodeError, Offer, PortDecl, PortRole, Site,
    SitePort, component,
};
use crate::kinds::cxl_links;
use crate::kinds::gfd::{GFD_METRICS, GfdConfig, PbrRequesters};
use crate::kinds::media::{CxlMedia, DRAM_METRICS, MEDIA_METRICS, SharedMedia};
use crate::kinds::memory_device::{MemoryParts, TELEMETRY_METRICS};
use crate::kinds::memory_ecc::MemoryEcc;
use crate::memory_map::MapView;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::binding::LOGICAL_DEVICES;
use scalepool_kernel::{Clock, Time};
use scalepool_memory::LINE_BYTES;
use scalepool_memory::decoder::Decoders;
use scalepool_nodes::cxl::memory::telemetry::{LdShare, TelemetryConfig, WHOLE};
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.memory",
    about: "CXL Type 3 device with host-managed memory (HDM-H); its port is `cxl`",
    fields: CxlMemory::fields,
    read: component::<CxlMemory>,
    external: &["flits", "messages"],
    metrics: &[DRAM_METRICS, MEDIA_METRICS, TELEMETRY_METRICS, GFD_METRICS],
};

config! {
    /// The share of a logical device.
    pub struct LdShareConfig {
        ld: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, LOGICAL_DEVICES as u64 - 1), "logical device";
        fraction: u64 = "0" [Unit::Of("256ths")] in FieldRange::Int(0, WHOLE - 1), "its allocation of what all use; whoever uses more is told of a severe overload, others of a moderate one (fabric QOS-5)";
        limit: u64 = "0" [Unit::Of("256ths")] in FieldRange::Int(0, WHOLE - 1), "its limit of `queue`; above it is told of an overload in any case; 0 = none";
    }
}

config! {
    /// What a device tells of its load.
    pub struct MemoryTelemetry {
        sample: u64 = "8" [Unit::Of("100 ns")] in FieldRange::Int(0, 15), "time between two samples of whether an answer waits at the port; 0 = none (fabric QOS-2)";
        moderate: usize = "10" [Unit::Of("percent")] in FieldRange::Int(1, 100), "the port is moderately congested if an answer waited in so many of the last 100 samples";
        severe: usize = "25" [Unit::Of("percent")] in FieldRange::Int(1, 100), "the port is severely congested if an answer waited in so many of the last 100 samples";
        interval: u64 = "64" [Unit::Of("ns")] in FieldRange::Int(0, 127), "length of an interval; completions of the last 16 intervals count as used by a logical device; 0 = open requests alone count (fabric QOS-4)";
        shares: Vec<(LdShareConfig, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(LdShareConfig::fields), "shares of logical devices; without one for it, a logical device has none (fabric QOS-8)";
    }
}

impl MemoryTelemetry {
    /// As a device with these logical devices has it.
    fn config(&self, logical_devices: Option<usize>, clock: Clock) -> TelemetryConfig {
        let cycles = |ns: u64| if ns == 0 { 0 } else { clock.first_at_or_after(Time::from_fs(ns * FS_PER_NS)).max(1) };
        let mut shares = vec![LdShare::default(); logical_devices.unwrap_or(0)];
        for (LdShareConfig { ld, fraction, limit }, _) in &self.shares {
            shares[*ld] = LdShare { fraction: *fraction, limit: *limit };
        }
        TelemetryConfig {
            sample_cycles: cycles(100 * self.sample),
            congestion_percent: [self.moderate, self.severe],
            interval_cycles: cycles(self.interval),
            shares,
        }
    }

    /// What is wrong with its shares, or with its thresholds.
    fn check(&self, logical_devices: Option<usize>) -> Vec<ConfigFinding> {
        let count = logical_devices.unwrap_or(0);
        let mut found = Vec::new();
        for (n, (share, _)) in self.shares.iter().enumerate() {
            let ld = share.ld;
            if ld >= count {
                let text = format!("found a share of LD {ld}, expected one of the {count} logical devices");
                found.push(("telemetry.shares", text));
            } else if self.shares[..n].iter().any(|(other, _)| other.ld == ld) {
                found.push(("telemetry.shares", format!("found two shares of LD {ld}, expected one")));
            }
        }
        let sum: u64 = self.shares.iter().map(|(share, _)| share.fraction).sum();
        if sum > WHOLE {
            found.push((
                "telemetry.shares",
                format!("found fractions of {sum} 256ths together, expected at most {WHOLE}"),
            ));
        }
        if self.moderate > self.severe {
            let text = format!("found {} percent, expected at most the {} of `severe`", self.moderate, self.severe);
            found.push(("telemetry.moderate", text));
        }
        found
    }
}

/// Femtoseconds of a nanosecond.
const FS_PER_NS: u64 = 1_000_000;

config! {
    /// A memory device. Numbers without another source are of the model (basis: model).
    pub struct CxlMemory {
        size: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 46), "memory size, of all logical devices together; without a memory map, addresses of a host wrap around at this size, and a home has lines up to it";
        logical_devices: Option<usize> = "" [Unit::Of("logical devices")] in FieldRange::Int(1, LOGICAL_DEVICES as u64), "logical devices, each with an equal part of the memory at addresses of its own (fabric MLD-1); not given = it is no multi-logical device";
        latency_cycles: u64 = "160" [Unit::Of("device cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to response in the device; with banks or a preset in `media`, the time there is not included";
        queue: usize = "512" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 20), "requests that the device can queue";
        media: Option<CxlMedia> = "" [Unit::Of("-")] in FieldRange::Table(CxlMedia::fields), "what stands behind the latency; left out, the latency is all";
        telemetry: Option<MemoryTelemetry> = "" [Unit::Of("-")] in FieldRange::Table(MemoryTelemetry::fields), "what its answers tell of its load (DevLoad); left out, it is always light (fabric QOS-1)";
        gfd: Option<GfdConfig> = "" [Unit::Of("-")] in FieldRange::Table(GfdConfig::fields), "it is a G-FAM device at an edge port of a fabric with port based routing, whose hosts it tells apart by their PIDs (fabric §3.6); left out, it is none";
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
        Offer {
            memory_bytes: Some(self.logical_bytes()),
            logical_devices,
            is_gfd: self.gfd.is_some(),
            ..Offer::default()
        }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let step = LINE_BYTES * self.logical_devices.unwrap_or(1) as u64;
        let is_whole = self.size.is_multiple_of(step);
        let each = if step > LINE_BYTES { " for each logical device" } else { "" };
        let text = || ("size", format!("found {} bytes, expected a multiple of {LINE_BYTES} bytes{each}", self.size));
        let of_media = self.media.iter().flat_map(|media| media.check(self.size));
        let of_ecc = self.ecc.iter().flat_map(|ecc| ecc.check(self.size));
        let of_telemetry = self.telemetry.iter().flat_map(|one| one.check(self.logical_devices));
        let of_gfd = self.gfd.iter().flat_map(|gfd| {
            let text =
                "found logical devices of a G-FAM device, expected none: PIDs tell its hosts apart (fabric GFD-1)";
            let logical = self.logical_devices.is_some().then(|| ("logical_devices", text.to_owned()));
            logical.into_iter().chain(gfd.check(self.size).map(|text| ("gfd", text)))
        });
        (!is_whole).then(text).into_iter().chain(of_gfd).chain(of_media).chain(of_ecc).chain(of_telemetry).collect()
    }

    /// Logical devices are told apart by LD-IDs, which a switch gives.
    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let is_shared = self.logical_devices.is_none() || ports[0].peer_role == PortRole::SwitchDownstream;
        let text = "found logical devices at the port of a host, expected a switch there (fabric MLD-2)";
        let is_at_edge = ports[0].peer_role == PortRole::SwitchDownstream && ports[0].link.cxl().0 == MessageForm::Pbr;
        let gfd = (self.gfd.is_some() && !is_at_edge).then(|| {
            let text = "found a G-FAM device elsewhere than at an edge port of a switch with port based routing, by a link of kind `cxl-256b-pbr` (fabric PID-3)";
            ("gfd", text.to_owned())
        });
        (!is_shared).then(|| ("logical_devices", text.to_owned())).into_iter().chain(gfd).collect()
    }

    fn check_requesters(&self, map: &MapView, requesters: &PbrRequesters) -> Vec<(Option<TextPlace>, String)> {
        let windows = map.decoders(0);
        let windows = windows.as_ref().map(Decoders::list);
        self.gfd.as_ref().map(|gfd| gfd.check_requesters(self.size, windows, requesters)).unwrap_or_default()
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let media = self.media.as_ref().map_or(0, CxlMedia::own_wait_fs);
        clock.periods_fs(self.latency_cycles).max(media)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(cxl_links::answered_memory())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let gfd = match (&self.gfd, &site.requesters) {
            (Some(gfd), Some(requesters)) => {
                let windows = site.map.decoders(0);
                let table = gfd.with_requesters(self.size, windows.as_ref().map(Decoders::list), requesters);
                Some(table.map_err(|text| NodeError::Joined { path: site.path.to_owned(), text })?)
            }
            _ => None,
        };
        let parts = MemoryParts {
            size: self.size,
            logical_devices: self.logical_devices.unwrap_or(1),
            latency_cycles: self.latency_cycles,
            queue: self.queue,
            media: self.media.as_ref(),
            shared: SharedMedia::ONE,
            dead_medium: None,
            is_apart: false,
            telemetry: self.telemetry.as_ref().map(|one| one.config(self.logical_devices, site.clock)),
            ecc: self.ecc.as_ref(),
            arbiter: None,
            gfd,
        };
        parts.elaborate(site, hub)
    }
}
