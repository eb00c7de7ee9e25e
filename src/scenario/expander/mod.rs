//! The expanders: a host and a CXL Type 3 device with memory (HDM-H) over one CXL link, in every flit mode.
//!
//! Modelled: two partitions, each an agent and a link end, joined by the two directions of the wire. Three clocks: the
//! host's (the reference), the flit clock of the line rate, the device's. Agents exchange messages and know no flit; the
//! scenarios differ in the link between them and in nothing else, so `link.mode` picks one by its mode. Left out: CXL.io,
//! ARB/MUX, enumeration.
//!
//! A walk through one read: the core misses and sends MemRd with a tag; the host's link end packs it into a slot and
//! sends the flit; the wire takes its latency; the device's end delivers the message and gives its credit back; the store
//! answers; DRS and its data travel up; the core checks the bytes and the tag is free again.

mod accesses;
pub(in crate::scenario) mod build;
pub(in crate::scenario) mod device;
pub(in crate::scenario) mod host;
mod keys;
mod links;
mod outcome;

use super::drive::{Built, Ended};
use super::faults::faults;
use super::ports::SimPort;
use super::settings::{SettingError, Settings};
use super::{Request, RunError, Scenario};
use crate::kernel::SimError;
use crate::link::external::Feed;
use crate::memory::LINE_BYTES;
use crate::memory::cache::{Cache, CacheConfig};
use crate::trace::{Body, Hub};
use accesses::accesses;
use build::{DEVICE_PORT, HOST_PORT, Program, Taps};
use links::{Link, Reported};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::message::{Form, Message};

/// The scenario over 68B flits. Its mode is the default of `link.mode`.
pub const CXL68: Scenario = Scenario {
    name: "cxl68-expander",
    doc: "host with a cache and a CXL Type 3 memory expander (HDM-H) over one link in 68B flit mode",
    keys: keys::CXL68,
    build: |request, settings| build(links::cxl68(settings)?, request, settings),
};

/// The scenario over standard 256B flits. Its mode is the default of `link.mode`.
pub const CXL256: Scenario = Scenario {
    name: "cxl256-expander",
    doc: "host with a cache and a CXL Type 3 memory expander (HDM-H) over one link in standard 256B flit mode",
    keys: keys::CXL256,
    build: |request, settings| build(links::cxl256(Mode::Standard, settings)?, request, settings),
};

/// The scenario over latency-optimised 256B flits. Its mode is the default of `link.mode`.
pub const CXL256_LOPT: Scenario = Scenario {
    name: "cxl256-lopt-expander",
    doc: "host with a cache and a CXL Type 3 expander (HDM-H) over one link of latency-optimised 256B flits",
    keys: keys::CXL256_LOPT,
    build: |request, settings| build(links::cxl256(Mode::LatencyOptimised, settings)?, request, settings),
};

/// The scenario over 256B flits with port based routing. Its mode is the default of `link.mode`.
pub const CXL_PBR: Scenario = Scenario {
    name: "cxl-pbr-pair",
    doc: "host with a cache and a CXL Type 3 expander (HDM-H) over one link of 256B flits with port-based routing",
    keys: keys::CXL256_PBR,
    build: |request, settings| build(links::cxl256(Mode::Pbr, settings)?, request, settings),
};

/// A settling limit above all time-outs of the link: 4096 flits at the slowest line rate take 2.3 ms.
const STALL_LIMIT_FS: u64 = 20_000_000_000_000;

/// A message as traces show it.
fn shown(message: &Message, form: Form) -> Body {
    let data = message.data().map(|d| d.line.to_vec());
    // What the link cannot carry is refused by its end and reported there.
    message.spell(form).map_or(Body::None, |(layout, bits)| Body::Message { layout, bits, data })
}

/// The program of the host.
fn program(request: &Request, settings: &Settings) -> Result<Program, RunError> {
    if !settings.int("device.bytes").is_multiple_of(LINE_BYTES) {
        let text = "expected a multiple of 64 bytes".to_owned();
        return Err(SettingError::Together { key: "device.bytes", text }.into());
    }
    let accesses = accesses(request, settings)?;
    // Generated accesses are there to load the link, so no cache stands in their way.
    let capacity_bytes = if accesses.cached { settings.int("host.cache_bytes") } else { 0 };
    let config = CacheConfig { capacity_bytes, ways: settings.int("host.cache_ways") as u32 };
    let cache = (capacity_bytes > 0).then(|| Cache::new(config)).transpose()?;
    Ok(Program { accesses, cache })
}

/// Places of its link ends, either of which may be external.
pub const PORTS: [&str; 2] = [HOST_PORT, DEVICE_PORT];

/// Builds an expander over a link.
///
/// # Errors
/// Anything that keeps it from running.
fn build<E: Reported>(mut link: Link<E>, request: &Request, settings: &Settings) -> Result<Built, RunError> {
    let faults = faults(settings, link.unit_bytes)?;
    let program = program(request, settings)?;
    let port = |name, end: &mut E| {
        let feed = (request.external.as_deref() == Some(name)).then(Feed::default);
        let port = SimPort { feed, ..SimPort::new(name, end.protocol(), link.unit_bytes) };
        end.attach_hooks(&port.hooks);
        port
    };
    let ports = [port(HOST_PORT, &mut link.host), port(DEVICE_PORT, &mut link.device)];
    let feeds = ports.each_ref().map(|port| port.feed.clone());
    let mut hub = Hub::default();
    let taps = Taps::new(&link, &mut hub);
    let stimulus = program.accesses.digest.to_vec();
    let clock_fs = settings.int("host.clock_fs");
    let unit_bytes_per_s = link.unit_bytes_per_s();
    let unit = (link.unit_bytes, link.unit_time_fs);
    let (sim, results) = build::build(request, settings, link, faults, program, taps, feeds.clone())
        .map_err(|e| RunError::Build(SimError::Build(e)))?;
    let report = move |request: &Request, _: &Settings, ended: Ended| {
        outcome::Run { request, clock_fs, unit_bytes_per_s, unit, feeds: &feeds }.report(ended, &results)
    };
    Ok(Built {
        sim,
        hub,
        settings: settings.clone(),
        clock_fs,
        stall_limit_fs: STALL_LIMIT_FS,
        stimulus,
        ports: ports.into(),
        report: Box::new(report),
        chart: None,
    })
}
