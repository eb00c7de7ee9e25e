//! `cxl68-expander`: a host and a CXL Type 3 expander (HDM-H) over one CXL 2.0 link in 68B flit mode.
//!
//! Modelled: two partitions, each an agent and a link end, joined by the two directions of the wire. Three clocks: the
//! host's (the reference), the flit clock of the line rate, the device's. Left out: CXL.io, ARB/MUX, enumeration.
//!
//! A walk through one read: the core misses and sends MemRd with a tag; the host's link end packs it into a slot and
//! sends the flit; the wire takes its latency; the device's end delivers the message and gives its credit back; the store
//! answers; DRS and four data chunks travel up; the core checks the bytes and the tag is free again.

mod device;
mod host;

use super::observe::Observer;
use super::report::{Broken, Report, Spread};
use super::settings::{Key, Range, SettingError, Settings};
use super::stimulus::{self, LineAccess, Mix, Op, Region};
use super::{Request, RunError};
use crate::kernel::{BuildError, Clock, Rng, RunOptions, SimError, Simulation, Time};
use crate::link::cxl68::end::{End, EndConfig};
use crate::link::cxl68::fault::{Fault, FaultyWire};
use crate::link::cxl68::port::{OnWire, Port, PortConfig, PortResult, Ports, SIGNALS};
use crate::link::cxl68::retry::LRSM;
use crate::link::cxl68::timing::LineRate;
use crate::memory::LINE_BYTES;
use crate::memory::cache::{Cache, CacheConfig};
use crate::memory::store::{Background, Store};
use crate::trace::{Header, Hub, PlaceKind};
use device::Device;
use host::{Host, HostConfig, HostResult};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::lanes::Width;
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq, M2sRwd, S2mDrs, S2mNdr};
use scalepool_protocols::cxl::cxl68::stream::Message;
use scalepool_protocols::wire::{At, LayoutDef, Violation, Wire};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex, PoisonError};

/// Name on the command line.
pub const NAME: &str = "cxl68-expander";
/// What it is.
pub const DOC: &str = "host with a cache and a CXL Type 3 memory expander (HDM-H) over one link in 68B flit mode";

/// Messages of a CXL.mem transaction, for waves.
const TRANSACTION_LAYOUTS: &[&LayoutDef] = &[M2sReq::DEF, M2sRwd::DEF, S2mNdr::DEF, S2mDrs::DEF];

const fn key(name: &'static str, default: &'static str, unit: &'static str, range: Range, doc: &'static str) -> Key {
    Key { name, default, unit, range, doc }
}

const ON_OFF: Range = Range::Words(&["on", "off"]);

/// Settings. Numbers without another source are of the model (basis: model).
pub static KEYS: &[Key] = &[
    key("link.rate_gtps", "32", "GT/s a lane", Range::Words(&["8", "16", "32"]), "line rate (cxl-68b §1.3)"),
    key("link.width", "16", "lanes", Range::Words(&["1", "2", "4", "8", "16"]), "lanes (cxl-68b §1.3)"),
    key("link.mode", "cxl-68b", "-", Range::Words(&["cxl-68b"]), "flit mode"),
    key("link.mdh", "on", "-", ON_OFF, "several data headers in one slot (cxl-68b §5.3)"),
    key("link.sync_headers", "off", "-", ON_OFF, "2-bit sync header every 130 bits (cxl-68b §1.3)"),
    key("link.skip_ordered_sets", "off", "-", ON_OFF, "one ordered set every 340 data blocks"),
    key("link.ber", "0", "errors a bit", Range::Real(0.0, 0.1), "bit error rate of both directions"),
    key(
        "link.fault",
        "",
        "-",
        Range::List(
            "flip:FLIT:BIT, noise:FLIT, drop:FLIT, dup:FLIT, vanish:FLIT; `up:` in front for the device's flits",
        ),
        "faults at numbered flits, counted from 0 as they are sent, RETRY and INIT flits included",
    ),
    key("link.credits_hold", "0", "flit clocks", Range::Int(0, 1 << 40), "the device holds its credits back so long"),
    key("link.buffers", "256", "messages a channel", Range::Int(1, 1023), "receive buffers; credits have 10 bits"),
    key("link.retry_entries", "128", "flits", Range::Int(22, 255), "retry buffer (cxl-68b §7.1)"),
    key("link.timeout_flits", "4096", "flits", Range::Int(1, u32::MAX as u64), "retry time-out (cxl-68b §7.3)"),
    key("link.max_num_retry", "10", "tries", Range::Int(1, 31), "before the PHY is reinitialised (cxl-68b §7.3)"),
    key("link.max_num_phy_reinit", "10", "tries", Range::Int(1, 31), "before the link is given up (cxl-68b §7.3)"),
    key("link.flush_flits", "32", "flit clocks", Range::Int(1, 1023), "LLCRD flush timer (cxl-68b §7.1)"),
    key("link.tx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "transmit pipeline"),
    key("link.rx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "receive pipeline"),
    key("link.propagation_fs", "2000000", "fs", Range::Int(0, 1 << 40), "flight time on the wire"),
    key("link.retrain_fs", "1000000000", "fs", Range::Int(1, 1 << 50), "time that training takes"),
    key("host.clock_fs", "500000", "fs", Range::Int(1000, 1 << 30), "period of the host clock, the reference"),
    key("host.outstanding", "64", "misses", Range::Int(1, 32768), "misses that may be open"),
    key("host.cache_bytes", "32768", "bytes", Range::Int(0, 1 << 32), "cache; 0 for none"),
    key("host.cache_ways", "8", "ways", Range::Int(1, 1024), "ways of the cache, LRU"),
    key("host.ifetch", "on", "-", ON_OFF, "instruction fetches of a trace are loads"),
    key(
        "host.pattern",
        "reads",
        "-",
        Range::Words(&["reads", "writes", "mix"]),
        "generated accesses where no --stimulus is given; mix is two reads to a write",
    ),
    key("host.accesses", "10000", "line accesses", Range::Int(1, 1 << 24), "number of generated accesses"),
    key("host.region_lines", "65536", "lines", Range::Int(1, 1 << 40), "region that they walk through"),
    key("device.bytes", "16g", "bytes", Range::Int(64, 1 << 46), "size; addresses are taken modulo it"),
    key("device.clock_fs", "500000", "fs", Range::Int(1000, 1 << 30), "period of the device clock"),
    key("device.latency_cycles", "160", "device cycles", Range::Int(1, 1 << 30), "request to answer in the device"),
    key("device.queue", "512", "requests", Range::Int(1, 1 << 20), "requests that the device holds"),
];

/// Messages between an agent and its link end; channels are one flit clock or agent clock long.
const CHANNEL_DEPTH: u32 = 32;
/// Content of memory that nothing has written: each 8 bytes hold their own address, so a wrong line is seen.
const BACKGROUND: Background = Background::OwnAddress;
/// A settling limit above all time-outs of the link: 4096 flits at the slowest line rate take 2.3 ms.
const STALL_LIMIT_FS: u64 = 20_000_000_000_000;

/// Latest time of an access \[fs\], 2.5 hours: the half of what 64 bits hold, so what follows it has a time too.
const LATEST_ACCESS_FS: u64 = u64::MAX / 2;

struct Accesses {
    list: Vec<LineAccess>,
    absolute: bool,
    /// Bytes that name the stimulus, for the hash of the run.
    digest: [u8; 32],
    cached: bool,
}

fn accesses(request: &Request, settings: &Settings) -> Result<Accesses, RunError> {
    let size = settings.int("device.bytes");
    let mut sha = Sha256::new();
    let (raw, absolute, cached) = match &request.stimulus {
        Some(path) => {
            let raw = stimulus::read_trace(path, None)?;
            let absolute = raw.iter().any(|a| a.at_cycles.is_some());
            (raw, absolute, true)
        }
        None => {
            let mix = match settings.word("host.pattern") {
                "reads" => Mix::Reads,
                "writes" => Mix::Writes,
                _ => Mix::TwoToOne,
            };
            let lines = settings.int("host.region_lines").min(size / LINE_BYTES);
            let region = Region::new(0, lines)?;
            (stimulus::saturated(mix, region, settings.int("host.accesses")).collect(), true, false)
        }
    };
    let latest_cycle = LATEST_ACCESS_FS / settings.int("host.clock_fs");
    for a in &raw {
        if let Some(found) = a.at_cycles.filter(|&cycle| cycle > latest_cycle) {
            let expected = "a cycle of host.clock_fs before 2^63 fs";
            return Err(stimulus::ParameterError { parameter: "time of an access", found, expected }.into());
        }
        let op = match a.op {
            Op::Ifetch => 0u8,
            Op::Load => 1,
            Op::Store => 2,
            Op::Modify => 3,
        };
        sha.update(a.at_cycles.unwrap_or(u64::MAX).to_le_bytes());
        sha.update([op]);
        sha.update(a.address.to_le_bytes());
        sha.update(a.size_bytes.to_le_bytes());
    }
    let mut list: Vec<LineAccess> = stimulus::line_accesses(&raw, settings.is_on("host.ifetch")).collect();
    for access in &mut list {
        access.line_address %= size;
    }
    Ok(Accesses { list, absolute, digest: sha.finalize().into(), cached })
}

fn faults(settings: &Settings) -> Result<[Vec<Fault>; 2], SettingError> {
    let mut by_dir = [Vec::new(), Vec::new()];
    for text in settings.list("link.fault") {
        let (up, fault) = match text.strip_prefix("up:") {
            Some(rest) => (1, rest),
            None => (0, text.strip_prefix("down:").unwrap_or(text)),
        };
        by_dir[up].push(fault.parse().map_err(|_| settings.refuse("link.fault", text))?);
    }
    Ok(by_dir)
}

fn link_config(settings: &Settings) -> Cxl68Config {
    Cxl68Config {
        mdh: settings.is_on("link.mdh"),
        llrb_entries: settings.int("link.retry_entries") as u16,
        timeout_flits: settings.int("link.timeout_flits") as u32,
        max_num_retry: settings.int("link.max_num_retry") as u8,
        max_num_phy_reinit: settings.int("link.max_num_phy_reinit") as u8,
        llcrd_flush_flits: settings.int("link.flush_flits") as u16,
        ..Cxl68Config::default()
    }
}

fn together(key: &'static str, text: impl ToString) -> SettingError {
    SettingError::Together { key, text: text.to_string() }
}

/// Hash of everything that decides the result, but the seed.
fn scenario_hash(settings: &Settings, accesses: &Accesses, cycles: Option<u64>) -> String {
    let mut sha = Sha256::new();
    sha.update(NAME);
    for (key, value) in settings.iter() {
        sha.update(format!("\n{key}={value}"));
    }
    sha.update(format!("\ncycles={cycles:?}\n"));
    sha.update(accesses.digest);
    crate::forms::number::hex(&sha.finalize())
}

/// Runs the scenario.
///
/// # Errors
/// Anything that keeps it from running.
pub fn run(request: &Request, settings: &Settings, on_window: &mut dyn FnMut(Time)) -> Result<Report, RunError> {
    let width = settings.int("link.width");
    let width = Width::new(width as u8).ok_or_else(|| settings.refuse("link.width", width))?;
    let line = LineRate {
        rate_gtps: settings.int("link.rate_gtps") as u32,
        width,
        sync_headers: settings.is_on("link.sync_headers"),
        skip_ordered_sets: settings.is_on("link.skip_ordered_sets"),
    };
    if !settings.int("device.bytes").is_multiple_of(LINE_BYTES) {
        return Err(together("device.bytes", "expected a multiple of 64 bytes").into());
    }
    let link = link_config(settings);
    let buffers = settings.int("link.buffers") as u16;
    let ends = [End::new(EndConfig::mem(Dir::Down, link, buffers))?, End::new(EndConfig::mem(Dir::Up, link, buffers))?];
    let faults = faults(settings)?;
    let accesses = accesses(request, settings)?;
    // Generated accesses are there to load the link, so no cache stands in their way.
    let cache_bytes = if accesses.cached { settings.int("host.cache_bytes") } else { 0 };
    let cache = match cache_bytes {
        0 => None,
        capacity_bytes => {
            Some(Cache::new(CacheConfig { capacity_bytes, ways: settings.int("host.cache_ways") as u32 })?)
        }
    };

    let mut hub = Hub::new(request.outputs.any());
    let taps = Taps {
        host: hub.tap(host::PLACE, host::SHOWS),
        host_flits: hub.tap("host.link", PlaceKind::Flits { protocol: "cxl-68b", dir: "up" }),
        host_signals: hub.tap("host.link", PlaceKind::Values(SIGNALS)),
        device: hub.tap(device::PLACE, device::SHOWS),
        device_flits: hub.tap("device.link", PlaceKind::Flits { protocol: "cxl-68b", dir: "down" }),
        device_signals: hub.tap("device.link", PlaceKind::Values(SIGNALS)),
    };
    let header = Header {
        model_version: env!("CARGO_PKG_VERSION").into(),
        scenario_hash: scenario_hash(settings, &accesses, request.cycles),
        seed: request.seed,
    };
    let mut observer = Observer::open(&request.outputs, &header, &hub)?;

    let results = Results::default();
    let sim = build(request.seed, settings, &line, ends, faults, accesses, cache, taps, &results)
        .map_err(|e| RunError::Build(SimError::Build(e)))?;
    let clock_fs = settings.int("host.clock_fs");
    let options = RunOptions {
        limit: request.cycles.map(|n| Time::from_fs(n.saturating_mul(clock_fs))),
        open_at_limit_allowed: true,
        stall_limit_fs: Some(STALL_LIMIT_FS),
        threads: request.threads.max(1),
        shuffle: request.modes.shuffle,
        evaluate_idle: request.modes.evaluate_idle,
    };
    let mut output = Ok(());
    let outcome = sim.run(&options, |window_end| {
        on_window(window_end);
        if output.is_ok() {
            output = observer.drain(&mut hub);
        }
    });
    output?;
    observer.finish(&mut hub)?;
    report(request, &line, clock_fs, outcome, &results)
}

struct Taps {
    host: crate::trace::Tap,
    host_flits: crate::trace::Tap,
    host_signals: crate::trace::Tap,
    device: crate::trace::Tap,
    device_flits: crate::trace::Tap,
    device_signals: crate::trace::Tap,
}

#[derive(Default)]
struct Results {
    host: Arc<Mutex<HostResult>>,
    host_port: Arc<Mutex<PortResult>>,
    device_port: Arc<Mutex<PortResult>>,
}

#[allow(clippy::too_many_arguments)]
fn build(
    seed: u64,
    settings: &Settings,
    line: &LineRate,
    ends: [End; 2],
    faults: [Vec<Fault>; 2],
    accesses: Accesses,
    cache: Option<Cache>,
    taps: Taps,
    results: &Results,
) -> Result<Simulation, BuildError> {
    let (num, den) = line.unit_time_fs();
    let flit_clock = Clock::new(num, den, 0)?;
    // A unit is there when its last byte is.
    let latency_fs = settings.int("link.tx_pipeline_fs")
        + settings.int("link.propagation_fs")
        + settings.int("link.rx_pipeline_fs")
        + num.div_ceil(den);
    let mut sim = Simulation::new(seed);
    let (down_out, down_in) = sim.link::<OnWire>("wire.down", latency_fs)?;
    let (up_out, up_in) = sim.link::<OnWire>("wire.up", latency_fs)?;

    let ber = settings.real("link.ber");
    let retrain_fs = settings.int("link.retrain_fs");
    let [down_faults, up_faults] = faults;
    let [host_end, device_end] = ends;
    let port_config = move |end, faults, hold_credits_flits, rng: Rng| PortConfig {
        end,
        wire: FaultyWire::new(faults, ber, rng),
        retrain_fs,
        hold_credits_flits,
    };

    let host_clock = Clock::with_period_fs(settings.int("host.clock_fs"))?;
    let config = HostConfig {
        accesses: accesses.list,
        absolute_cycles: accesses.absolute,
        cache,
        outstanding: settings.int("host.outstanding") as usize,
        background: BACKGROUND,
    };
    let (host_result, port_result) = (results.host.clone(), results.host_port.clone());
    let (core_tap, flits, signals) = (taps.host, taps.host_flits, taps.host_signals);
    sim.partition(move |p| {
        let core = p.clock("host", host_clock)?;
        let flit = p.clock("flit", flit_clock)?;
        let (tx, to_link) = p.channel::<Message>("host.tx", CHANNEL_DEPTH, 1)?;
        let (from_link, rx) = p.channel::<Message>("host.rx", CHANNEL_DEPTH, 1)?;
        p.module("host.core", core, |bind| {
            let (tx, rx, rng) = (bind.attach(tx), bind.attach(rx), bind.rng());
            Host::new(config, tx, rx, rng, core_tap, host_result)
        })?;
        p.module("host.link", flit, |bind| {
            let ports = Ports {
                tx: bind.attach(to_link),
                rx: bind.attach(from_link),
                wire_out: bind.attach(down_out),
                wire_in: bind.attach(up_in),
                flits,
                signals,
            };
            Port::new(port_config(host_end, down_faults, 0, bind.rng()), ports, port_result)
        })
    });

    let device_clock = Clock::with_period_fs(settings.int("device.clock_fs"))?;
    let (latency, queue) = (settings.int("device.latency_cycles"), settings.int("device.queue") as usize);
    let hold = settings.int("link.credits_hold");
    let port_result = results.device_port.clone();
    let (mem_tap, flits, signals) = (taps.device, taps.device_flits, taps.device_signals);
    sim.partition(move |p| {
        let mem = p.clock("device", device_clock)?;
        let flit = p.clock("flit", flit_clock)?;
        let (tx, to_link) = p.channel::<Message>("device.tx", CHANNEL_DEPTH, 1)?;
        let (from_link, rx) = p.channel::<Message>("device.rx", CHANNEL_DEPTH, 1)?;
        p.module("device.link", flit, |bind| {
            let ports = Ports {
                tx: bind.attach(to_link),
                rx: bind.attach(from_link),
                wire_out: bind.attach(up_out),
                wire_in: bind.attach(down_in),
                flits,
                signals,
            };
            Port::new(port_config(device_end, up_faults, hold, bind.rng()), ports, port_result)
        })?;
        p.module("device.mem", mem, |bind| {
            let (rx, tx) = (bind.attach(rx), bind.attach(tx));
            Device::new(Store::new(BACKGROUND), latency, queue, rx, tx, mem_tap)
        })
    });
    Ok(sim)
}

/// What a link end should have at the end of a run and has not: a flit vanished or came twice.
fn astray(place: &'static str, end: &PortResult, peer: &PortResult) -> impl Iterator<Item = Broken> {
    end.astray(peer).into_iter().map(move |(found, expected)| {
        let text = "not everything has come home".to_owned();
        Broken {
            place: place.into(),
            violation: Violation { rule: "SIM-E2E-03", at: At::Byte(0), found, expected, text },
        }
    })
}

fn report(
    request: &Request,
    line: &LineRate,
    clock_fs: u64,
    outcome: Result<crate::kernel::RunReport, SimError>,
    results: &Results,
) -> Result<Report, RunError> {
    let host = results.host.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let host_port = results.host_port.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let device_port = results.device_port.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let ended_well = outcome.is_ok();
    let mut violations: Vec<Broken> = Vec::new();
    for (place, port) in [("host.link", &host_port), ("device.link", &device_port)] {
        let of_port = port.violations.iter().map(|e| Broken { place: place.into(), violation: e.violation.clone() });
        violations.extend(of_port);
    }
    violations.extend(host.broken.clone());
    let end = match outcome {
        Ok(report) => {
            if request.cycles.is_none() {
                let ends = [("host.link", &host_port, &device_port), ("device.link", &device_port, &host_port)];
                violations.extend(ends.into_iter().flat_map(|(place, end, peer)| astray(place, end, peer)));
            }
            report.end
        }
        Err(SimError::Build(e)) => return Err(RunError::Build(SimError::Build(e))),
        Err(e) => {
            let at = match &e {
                SimError::Stall { at, .. } | SimError::Deadlock { at, .. } | SimError::OpenAtLimit { at, .. } => *at,
                SimError::Build(_) => Time::ZERO,
            };
            let violation = Violation {
                rule: "SIM-E2E-03",
                at: At::Byte(0),
                found: "open work".into(),
                expected: "none".into(),
                text: e.to_string(),
            };
            violations.push(Broken { place: "simulation".into(), violation });
            at
        }
    };
    let time_fs = end.as_fs();
    let seconds = time_fs as f64 / 1e15;
    let goodput = if time_fs == 0 { 0.0 } else { host.bytes as f64 / seconds };
    let sent = |class: Class| {
        let port = if class.dir() == Dir::Down { &host_port } else { &device_port };
        port.stats.messages[class.index()]
    };
    let classes = [Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs];
    let retries = host_port.stats.retries + device_port.stats.retries;
    let repaired = ended_well && host_port.halted.or(device_port.halted).is_none();
    let counts = [
        ("line accesses", host.accesses),
        ("cache hits", host.hits),
        ("reads", host.misses),
        ("writes", host.writes),
        ("host stall cycles", host.stall_cycles),
        ("protocol flits", host_port.stats.sent_protocol + device_port.stats.sent_protocol),
        ("all-data flits", host_port.stats.sent_all_data + device_port.stats.sent_all_data),
        ("LLCRD flits", host_port.stats.sent_llcrd + device_port.stats.sent_llcrd),
        ("RETRY flits", host_port.stats.sent_retry + device_port.stats.sent_retry),
        ("replayed flits", host_port.stats.replayed + device_port.stats.replayed),
    ];
    let mut coverage = host_port.coverage.clone();
    coverage.merge(&device_port.coverage);
    let rows = host_port.retry_rows.iter().zip(&device_port.retry_rows);
    let retry_rows = rows.filter(|(a, b)| *a + *b > 0).count();
    let groups = coverage.summary().chain([("LRSM row", retry_rows, LRSM.len())]);
    Ok(Report {
        scenario: NAME.into(),
        seed: request.seed,
        cycles: time_fs / clock_fs,
        time_fs,
        flits: vec![("down".into(), host_port.stats.sent), ("up".into(), device_port.stats.sent)],
        messages: classes.map(|c| (c.def().name.to_owned(), sent(c))).into(),
        goodput_bytes_per_s: goodput,
        efficiency: goodput / line.unit_bytes_per_s(),
        latency_cycles: Spread::of(host.latency_cycles),
        latency_fs: Spread::of(host.latency_fs),
        retries,
        errors_repaired: if repaired { host_port.damaged + device_port.damaged } else { 0 },
        credit_stalls: host_port.stats.credit_stalls + device_port.stats.credit_stalls,
        fabric: None,
        counts: counts.map(|(k, v)| (k.to_owned(), v)).into(),
        coverage: groups.map(|(g, met, of)| (g.to_owned(), met as u64, of as u64)).collect(),
        violations,
    })
}
