//! What kinds of memories on CXL have in common: how a device with ports is made of its settings.
//!
//! Modelled: the parts of [`scalepool_nodes::cxl::memory`]. A walk: the kind says what its memory is ([`MemoryParts`]); the ports of the
//! site give routes and decoders, by who stands at their other ends; the device becomes one module.

use crate::kind::{ComponentNode, ComponentPlug, NodeError, PortRole, Site, SitePort};
use crate::kinds::gfd::ACCESS_ERRORS;
use crate::kinds::media::{self, CxlMedia, SharedMedia, timing};
use crate::kinds::memory_ecc::MemoryEcc;
use crate::metric::metrics;
use scalepool_arbiter::{Arbiter, RoundRobin};
use scalepool_memory::decoder::{Arithmetic, Decoders, GRANULARITIES, Interleave, Window};
use scalepool_memory::ecc::{EccConfig, EccStore};
use scalepool_memory::gfd::GfdTable;
use scalepool_nodes::cxl::memory::telemetry::TelemetryConfig;
use scalepool_nodes::cxl::memory::{
    DeadMedium, DeviceAddresses, DeviceConfig, LogicalDevice, MemoryDevice, MemoryResult, MemoryRoute, shown_form,
};
use scalepool_nodes::cxl::{BACKGROUND, transaction_layouts};
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// What a memory is.
pub struct MemoryParts<'a> {
    /// Bytes of all logical devices together.
    pub size: u64,
    /// Logical devices.
    pub logical_devices: usize,
    /// Latency from request to response \[cycles\].
    pub latency_cycles: u64,
    /// Requests that it queues.
    pub queue: usize,
    /// Its media.
    pub media: Option<&'a CxlMedia>,
    /// How many of these share its addresses.
    pub shared: SharedMedia,
    /// Of several, the one whose lines are lost.
    pub dead_medium: Option<usize>,
    /// Each port reaches the logical device of its number alone.
    pub is_apart: bool,
    /// What it tells of its load.
    pub telemetry: Option<TelemetryConfig>,
    /// Its codes.
    pub ecc: Option<&'a MemoryEcc>,
    /// Arbiter of its ports, by name.
    pub arbiter: Option<&'a str>,
    /// Its tables, of a G-FAM device.
    pub gfd: Option<GfdTable>,
}

metrics! {
    /// What a memory with several ports counts.
    pub static PORT_METRICS {
        PORT_REQUESTS = "port requests" ["requests"] Sum, "requests that were taken, of all ports";
        LEAST_PORT = "least port requests" ["requests"] Smallest, "requests that were taken at the port with the fewest";
    }
}

metrics! {
    /// What a memory with telemetry has told (`fabric` §4.3).
    pub static TELEMETRY_METRICS {
        TOLD_LIGHT = "told light load" ["answers"] Sum, "answers with DevLoad 0";
        TOLD_OPTIMAL = "told optimal load" ["answers"] Sum, "answers with DevLoad 1";
        TOLD_MODERATE = "told moderate load" ["answers"] Sum, "answers with DevLoad 2, moderate overload";
        TOLD_SEVERE = "told severe load" ["answers"] Sum, "answers with DevLoad 3, severe overload";
    }
}

/// An arbiter of so many ports.
///
/// # Errors
/// What is wrong with their number.
pub fn arbiter(name: Option<&str>, ports: usize, site: &Site<'_>) -> Result<Box<dyn Arbiter>, NodeError> {
    let made = (super::arbiter(name, &RoundRobin::KIND).make)(&vec![1; ports]);
    made.map_err(|error| NodeError::Joined { path: site.path.to_owned(), text: error.to_string() })
}

impl MemoryParts<'_> {
    fn logical_bytes(&self) -> u64 {
        self.size / self.logical_devices as u64
    }

    /// Addresses at a port. The memory of a home, or of a device that asks for it directly, has its lines from 0 on, and no others. A host
    /// knows how large its memory is; those do not.
    fn decoders(&self, logical: usize, port: &SitePort, site: &Site<'_>) -> Option<Decoders> {
        let is_direct = matches!(port.peer_role, PortRole::HomeMemory | PortRole::Requester);
        if !is_direct {
            return site.map.decoders(logical);
        }
        let interleave = Interleave::new(1, GRANULARITIES[0], Arithmetic::Modulo)?;
        let mut decoders = Decoders::default();
        let size = if self.is_apart { self.logical_bytes() } else { self.size };
        decoders.push(Window { base: 0, size, interleave });
        Some(decoders)
    }

    /// The device.
    ///
    /// # Errors
    /// What is wrong with its media or its arbiter.
    pub fn elaborate(self, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let name = format!("{}.mem", site.path);
        let tap = hub.tap(
            &name,
            PlaceKind::Messages(transaction_layouts(shown_form(site.ports.iter().map(|port| port.link.cxl().0)))),
        );
        let has_code = self.ecc.is_some_and(MemoryEcc::has_code);
        let timing = timing(self.latency_cycles, self.queue, (self.media, self.shared), has_code, site)
            .map_err(|text| NodeError::Joined { path: site.path.to_owned(), text })?;
        let ecc = self.ecc.map_or(EccConfig::NONE, |ecc| ecc.config(self.media));
        let logical = |n: usize| {
            let mut store = EccStore::new(BACKGROUND, ecc);
            let own = |address: &u64| address / self.logical_bytes() == n as u64;
            let flips = self.ecc.map(MemoryEcc::flips).unwrap_or_default();
            flips.iter().filter(|(address, _)| own(address)).for_each(|(address, bit)| {
                store.flip(address % self.logical_bytes(), *bit);
            });
            let addresses = match &self.gfd {
                Some(table) => DeviceAddresses::ByRequester(table.clone()),
                None => DeviceAddresses::ByPort(site.ports.iter().map(|port| self.decoders(n, port, site)).collect()),
            };
            // A medium of its own is a logical device, all of whose lines are its.
            let all = DeadMedium { medium: 0, media: 1, granule: GRANULARITIES[0] };
            let dead = self.dead_medium.and_then(|medium| match self.is_apart {
                true => (medium == n).then_some(all),
                false => Some(DeadMedium {
                    medium: medium as u64,
                    media: self.shared.count as u64,
                    granule: self.shared.granule,
                }),
            });
            let mut device = LogicalDevice::with_addresses(store, addresses);
            device.dead = dead;
            device
        };
        let route = |port: &SitePort| {
            let (form, ids) = port.link.cxl();
            let id = site.requesters.as_ref().map_or(ids[1], |requesters| requesters.own);
            (MemoryRoute { id, form }, port.number)
        };
        let config = DeviceConfig {
            logical: (0..self.logical_devices).map(logical).collect(),
            logical_bytes: self.logical_bytes(),
            timing,
            ports: site.ports.iter().map(route).collect(),
            arbiter: arbiter(self.arbiter, site.ports.len(), site)?,
            patrol: self.ecc.and_then(|ecc| ecc.patrol(self.size, site.clock)),
            upsets: self.ecc.map(MemoryEcc::upsets).unwrap_or_default(),
            is_apart: self.is_apart,
            telemetry: self.telemetry,
            dropped: site.dropped_stores(),
            place: name.clone(),
        };
        let result = Arc::<Mutex<MemoryResult>>::default();
        let left = result.clone();
        let is_gfd = self.gfd.is_some();
        let is_kept = site.keeps_dram_commands && self.media.is_some_and(CxlMedia::has_commands);
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let ends: Vec<_> = plugs.into_iter().map(ComponentPlug::cxl).collect();
                if ends.is_empty() {
                    return Ok(());
                }
                p.module(&name, clock, |bind| {
                    let ends = ends.into_iter().map(|(tx, rx)| (bind.attach(rx), bind.attach(tx))).collect();
                    MemoryDevice::new(config, ends, bind.rng(), tap, result)
                })
            }),
            measure: Box::new(move || {
                let result = super::published(&left);
                let (requests, told, access_errors) = (result.requests.clone(), result.told, result.access_errors);
                let mut measured = media::measured(result, is_kept);
                if requests.len() > 1 {
                    let least = requests.iter().min().copied().unwrap_or(0);
                    measured.counts.extend([(&PORT_REQUESTS, requests.iter().sum()), (&LEAST_PORT, least)]);
                }
                if is_gfd {
                    measured.counts.push((&ACCESS_ERRORS, access_errors));
                }
                if let Some(told) = told {
                    measured
                        .counts
                        .extend([&TOLD_LIGHT, &TOLD_OPTIMAL, &TOLD_MODERATE, &TOLD_SEVERE].into_iter().zip(told));
                }
                measured
            }),
            digest: Vec::new(),
            ledger: None,
        })
    }
}
