//! `cxlio-enumerate`: a root complex finds a CXL Type 3 device over CXL.io and brings it up.
//!
//! Modelled: two partitions, each an agent and a link end, joined by the two directions of the wire. Three clocks: the
//! host's (the reference), the flit clock of the line rate, the device's. The host walks configuration space, sizes and
//! places BARs, programs the memory ranges of CXL.mem and locks them, then writes and reads behind the BARs; both sides
//! start power management beside it. Left out: CXL.cachemem on the same link, switches, several devices.
//!
//! A walk through one configuration read: the root complex gives it a tag and its bytes go to the host's link end, which
//! frames them, with sequence number and LCRC or in a flit; the device's end checks them and hands them over; the completer
//! answers after its latency; the completion finds its tag and the walk goes on with the next access.
//!
//! Faults are for 68B links, whose TLPs are replayed here. The replay of 256B flits belongs to their own link layer, which
//! is not in this scenario: their wires are clean.

mod flits;
mod function;
mod keys;
mod outcome;
mod port;
mod root;
mod tlps;
mod walk;

use super::observe::Observer;
use super::report::Report;
use super::settings::{SettingError, Settings};
use super::{Request, RunError};
use crate::endpoint::completer::{Completer, CompleterConfig};
use crate::endpoint::config_space::ConfigSpace;
use crate::endpoint::config_space::port::port as root_port;
use crate::endpoint::config_space::type3::{Type3Config, type3};
use crate::endpoint::pm::{Ask, PmAgent, PmConfig, ResetKind, Side};
use crate::endpoint::requester::{Requester, RequesterConfig};
use crate::endpoint::tlp::Form;
use crate::kernel::{BuildError, Clock, RunOptions, SimError, Simulation, Time};
use crate::link::arbmux::cxl68::{ArbMux, ArbMuxConfig, Entry};
use crate::link::cxl68::timing::LineRate;
use crate::link::cxlio::{FlitConfig, FlitEnd, IoConfig, NonFlitEnd, ReplayConfig};
use crate::link::fault::{Fault, FaultyWire};
use crate::memory::store::{Background, Store};
use crate::trace::{Header, Hub, PlaceKind, Tap};
use flits::FlitLine;
use function::{Function, FunctionResult};
use port::{IO_ONLY, Item, Line, OnWire, PidLog, Port, PortConfig, PortResult, Ports, SIGNALS};
use root::{Root, RootConfig, RootResult};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::lanes::Width;
use scalepool_protocols::cxl::cxl68::unit::UNIT_BYTES;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::FLIT_BYTES;
use scalepool_protocols::cxl::cxlio::dvsec::{ConnectedMode, FlexBus, Trained, negotiate};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};
use walk::Windows;

pub use keys::KEYS;

/// Name on the command line.
pub const NAME: &str = "cxlio-enumerate";
/// What it is.
pub const DOC: &str = "root complex that finds a CXL Type 3 device over CXL.io and brings it up";

/// TLPs between an agent and its link end: room for the longest access in the smallest payloads.
const CHANNEL_DEPTH: u32 = 64;
/// Content of registers behind BARs that nothing has written.
const BACKGROUND: Background = Background::Zero;
/// Silence after which a run has failed: above completion time-out and training.
const STALL_LIMIT_FS: u64 = 20_000_000_000_000;
/// Root complex: bus 0, device 0, function 0.
const ROOT_ID: u16 = 0;
/// PBR IDs of the two ends.
const HOST_PORT: u16 = 0x001;
const DEVICE_PORT: u16 = 0x002;
/// Bus behind the root port.
const DEVICE_BUS: u8 = 1;

fn together(key: &'static str, text: impl ToString) -> SettingError {
    SettingError::Together { key, text: text.to_string() }
}

/// What the host's port can do that reaches a mode.
fn host_can(mode: &str) -> FlexBus {
    FlexBus {
        io: true,
        mem: true,
        vh_68b: true,
        lopt_256b: mode == "cxl-256b-lopt",
        pbr: mode == "cxl-256b-pbr",
        ..FlexBus::default()
    }
}

/// What a device can do whose best mode this is: everything up to it.
fn device_can(mode: &str) -> FlexBus {
    FlexBus { lopt_256b: matches!(mode, "cxl-256b-lopt" | "cxl-256b-pbr"), ..host_can(mode) }
}

/// How TLPs are written at both ends, host first, and the format of 256B flits.
fn forms(mode: ConnectedMode) -> ([Form; 2], Option<Mode>) {
    match mode {
        ConnectedMode::Rcd | ConnectedMode::Vh68b => ([Form::NonFlit; 2], None),
        ConnectedMode::Standard256b => ([Form::Flit; 2], Some(Mode::Standard)),
        ConnectedMode::LatencyOptimised256b => ([Form::Flit; 2], Some(Mode::LatencyOptimised)),
        ConnectedMode::Pbr => {
            let to = |spid, dpid| Form::Pbr { spid, dpid };
            ([to(HOST_PORT, DEVICE_PORT), to(DEVICE_PORT, HOST_PORT)], Some(Mode::Pbr))
        }
    }
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

/// Hash of everything that decides the result, but the seed.
fn scenario_hash(settings: &Settings, cycles: Option<u64>) -> String {
    let mut sha = Sha256::new();
    sha.update(NAME);
    for (key, value) in settings.iter() {
        sha.update(format!("\n{key}={value}"));
    }
    sha.update(format!("\ncycles={cycles:?}\n"));
    crate::forms::number::hex(&sha.finalize())
}

/// What was read from the settings, apart from clocks.
struct Plan {
    pace: Pace,
    /// Host first, as everything that is there twice.
    forms: [Form; 2],
    protocol: &'static str,
    mode: ConnectedMode,
    faults: [Vec<Fault>; 2],
    ber: f64,
    port: ConfigSpace,
    device: ConfigSpace,
    ends: [End; 2],
}

/// A link end before its wire is known.
enum End {
    Units(Box<ArbMux<NonFlitEnd, PidLog>>),
    Flits(Box<FlitLine>),
}

/// How long a unit takes, as a fraction of femtoseconds, and its length.
#[derive(Clone, Copy)]
struct Pace {
    num: u64,
    den: u64,
    unit_bytes: u64,
}

impl Pace {
    /// Of 68B units or 256B flits. 10^6 fs over the rate in GT/s is the time of one bit on one lane.
    fn new(line: &LineRate, flits: bool) -> Pace {
        if !flits {
            let (num, den) = line.unit_time_fs();
            return Pace { num, den, unit_bytes: UNIT_BYTES as u64 };
        }
        let unit_bytes = FLIT_BYTES as u64;
        let den = u64::from(line.rate_gtps) * line.width.lanes() as u64;
        Pace { num: unit_bytes * 8 * 1_000_000, den, unit_bytes }
    }

    /// Time of a unit \[fs\], rounded up.
    const fn unit_fs(&self) -> u64 {
        self.num.div_ceil(self.den)
    }

    fn unit_bytes_per_s(&self) -> f64 {
        self.unit_bytes as f64 * 1e15 * self.den as f64 / self.num as f64
    }
}

fn plan(settings: &Settings) -> Result<Plan, RunError> {
    let width = settings.int("link.width");
    let width = Width::new(width as u8).ok_or_else(|| settings.refuse("link.width", width))?;
    let rate_gtps = settings.int("link.rate_gtps") as u32;
    let line = LineRate { rate_gtps, width, sync_headers: false, skip_ordered_sets: false };
    let (host_mode, device_mode) = (settings.word("link.mode"), settings.word("device.mode"));
    let config = Type3Config {
        flex_bus: device_can(device_mode),
        bar_bytes: [settings.int("device.bar0_bytes"), settings.int("device.bar1_bytes")],
        range_bytes: [settings.int("device.range0_bytes"), settings.int("device.range1_bytes")],
        logical_devices: settings.int("device.logical_devices") as u16,
        max_payload_bytes: settings.int("device.max_payload_bytes") as usize,
        ..Type3Config::default()
    };
    let mut device = type3(&config).map_err(|e| together("device", e))?;
    let mut port = root_port(host_can(host_mode));
    let flit_mode = host_mode != "cxl-68b" && device_mode != "cxl-68b";
    let trained = Trained { flit_mode, rate_gtps };
    let Some(mode) = negotiate(&port.flex_bus(), &device.flex_bus(), trained) else {
        return Err(together("link.rate_gtps", "no CXL link comes up at this rate").into());
    };
    let (of_port, of_device) = (port.flex_bus(), device.flex_bus());
    port.trained(&of_device, mode);
    device.trained(&of_port, mode);
    let (forms, flits) = forms(mode);
    let pace = Pace::new(&line, flits.is_some());
    let (faults, ber) = (faults(settings)?, settings.real("link.ber"));
    if flits.is_some() && (ber > 0.0 || faults.iter().any(|f| !f.is_empty())) {
        let text = "found faults on a link of 256B flits, expected link.mode=cxl-68b";
        return Err(together(if ber > 0.0 { "link.ber" } else { "link.fault" }, text).into());
    }
    let end = |dir| end(dir, &pace, flits).map_err(|e| together("link.rate_gtps", e));
    let ends = [end(Dir::Down)?, end(Dir::Up)?];
    let protocol = flits.map_or("cxl-68b", Mode::protocol);
    Ok(Plan { pace, forms, protocol, mode, faults, ber, port, device, ends })
}

struct Taps {
    root: Tap,
    host_flits: Tap,
    host_signals: Tap,
    function: Tap,
    device_flits: Tap,
    device_signals: Tap,
}

#[derive(Default)]
struct Results {
    root: Arc<Mutex<RootResult>>,
    function: Arc<Mutex<FunctionResult>>,
    host_port: Arc<Mutex<PortResult>>,
    device_port: Arc<Mutex<PortResult>>,
}

/// Runs the scenario.
///
/// # Errors
/// Anything that keeps it from running.
pub fn run(request: &Request, settings: &Settings, on_window: &mut dyn FnMut(Time)) -> Result<Report, RunError> {
    let plan = plan(settings)?;
    let (mode, pace) = (plan.mode, plan.pace);
    let mut hub = Hub::new(request.outputs.any());
    // Waves show 68B units; other flits are in the JSON lines.
    let flits = |dir| match plan.protocol {
        "cxl-68b" => PlaceKind::Flits { protocol: plan.protocol, dir },
        _ => PlaceKind::Values(&[]),
    };
    let taps = Taps {
        root: hub.tap(root::PLACE, tlps::shows(plan.forms[0])),
        host_flits: hub.tap("host.link", flits("up")),
        host_signals: hub.tap("host.link", PlaceKind::Values(SIGNALS)),
        function: hub.tap(function::PLACE, tlps::shows(plan.forms[0])),
        device_flits: hub.tap("device.link", flits("down")),
        device_signals: hub.tap("device.link", PlaceKind::Values(SIGNALS)),
    };
    let header = Header {
        model_version: env!("CARGO_PKG_VERSION").into(),
        scenario_hash: scenario_hash(settings, request.cycles),
        seed: request.seed,
    };
    let mut observer = Observer::open(&request.outputs, &header, &hub)?;
    let results = Results::default();
    let sim = build(request.seed, settings, plan, taps, &results).map_err(|e| RunError::Build(SimError::Build(e)))?;
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
    outcome::report(request, mode, pace.unit_bytes_per_s(), clock_fs, outcome, &results)
}

/// A link end of one direction.
fn end(dir: Dir, pace: &Pace, flits: Option<Mode>) -> Result<End, crate::link::cxlio::ConfigError> {
    let io = IoConfig { flit_fs: pace.unit_fs(), ..IoConfig::default() };
    if let Some(mode) = flits {
        let io = FlitEnd::new(io, FlitConfig::new(mode))?;
        return Ok(End::Flits(Box::new(FlitLine::new(io, mode))));
    }
    let io = NonFlitEnd::new(io, ReplayConfig::default())?;
    let config = ArbMuxConfig { enabled: IO_ONLY, ..ArbMuxConfig::new(dir, Cxl68Config::default()) };
    let mut mux = ArbMux::new(config, io, PidLog::default());
    mux.phy_up(Entry::First);
    Ok(End::Units(Box::new(mux)))
}

impl End {
    fn with(self, wire: FaultyWire) -> Line {
        match self {
            End::Units(mux) => Line::Units(mux, wire),
            End::Flits(line) => Line::Flits(line),
        }
    }
}

fn build(seed: u64, settings: &Settings, plan: Plan, taps: Taps, results: &Results) -> Result<Simulation, BuildError> {
    let flit_clock = Clock::new(plan.pace.num, plan.pace.den, 0)?;
    // A unit is there when its last byte is.
    let latency_fs = settings.int("link.tx_pipeline_fs")
        + settings.int("link.propagation_fs")
        + settings.int("link.rx_pipeline_fs")
        + plan.pace.unit_fs();
    let mut sim = Simulation::new(seed);
    let (down_out, down_in) = sim.link::<OnWire>("wire.down", latency_fs)?;
    let (up_out, up_in) = sim.link::<OnWire>("wire.up", latency_fs)?;
    let (protocol, ber) = (plan.protocol, plan.ber);
    let [host_form, device_form] = plan.forms;
    let retrain_fs = settings.int("link.retrain_fs");
    let faulty = ber > 0.0 || plan.faults.iter().any(|f| !f.is_empty());
    let [down_faults, up_faults] = plan.faults;
    let port_config =
        move |dir, line, hold_credits_flits| PortConfig { dir, line, protocol, faulty, retrain_fs, hold_credits_flits };
    let [host_end, device_end] = plan.ends;

    let clock_fs = settings.int("host.clock_fs");
    let host_clock = Clock::with_period_fs(clock_fs)?;
    let cycles = |key| settings.int(key).div_ceil(clock_fs);
    let timeout = cycles("host.timeout_fs");
    let config = RootConfig {
        form: host_form,
        requester: Requester::new(RequesterConfig {
            id: ROOT_ID,
            outstanding: settings.int("host.outstanding") as usize,
            timeout,
        }),
        agent: PmAgent::new(PmConfig { timeout, ..PmConfig::new(Side::Host) }),
        port: plan.port,
        windows: Windows {
            bus: DEVICE_BUS,
            mmio: settings.int("host.mmio_base"),
            memory: settings.int("host.memory_base"),
            max_payload_bytes: settings.int("host.max_payload_bytes") as usize,
        },
        accesses: settings.int("host.accesses"),
        access_bytes: settings.int("host.access_bytes"),
        retry_cycles: cycles("host.retry_fs"),
        power: match settings.word("host.power") {
            "reset" => Some(Ask::ResetPrep(ResetKind::Reset)),
            "s3" => Some(Ask::ResetPrep(ResetKind::S3)),
            "flush" => Some(Ask::Flush),
            _ => None,
        },
    };
    let (root_result, port_result) = (results.root.clone(), results.host_port.clone());
    let (root_tap, flits, signals) = (taps.root, taps.host_flits, taps.host_signals);
    sim.partition(move |p| {
        let core = p.clock("host", host_clock)?;
        let flit = p.clock("flit", flit_clock)?;
        let (tx, to_link) = p.channel::<Item>("host.tx", CHANNEL_DEPTH, 1)?;
        let (from_link, rx) = p.channel::<Item>("host.rx", CHANNEL_DEPTH, 1)?;
        p.module("host.root", core, |bind| {
            let (tx, rx, rng) = (bind.attach(tx), bind.attach(rx), bind.rng());
            Root::new(config, tx, rx, rng, root_tap, root_result)
        })?;
        p.module("host.link", flit, |bind| {
            let wire = FaultyWire::new(down_faults, ber, bind.rng());
            let ports = Ports {
                tx: bind.attach(to_link),
                rx: bind.attach(from_link),
                wire_out: bind.attach(down_out),
                wire_in: bind.attach(up_in),
                flits,
                signals,
            };
            Port::new(port_config(Dir::Down, host_end.with(wire), 0), ports, port_result)
        })
    });

    let device_clock = Clock::with_period_fs(settings.int("device.clock_fs"))?;
    let completer = CompleterConfig {
        boundary_bytes: settings.int("device.boundary_bytes"),
        not_ready: settings.int("device.not_ready") as u32,
    };
    let space = plan.device;
    let latency = settings.int("device.latency_cycles");
    let hold = settings.int("link.credits_hold");
    let (function_result, port_result) = (results.function.clone(), results.device_port.clone());
    let (function_tap, flits, signals) = (taps.function, taps.device_flits, taps.device_signals);
    sim.partition(move |p| {
        let core = p.clock("device", device_clock)?;
        let flit = p.clock("flit", flit_clock)?;
        let (tx, to_link) = p.channel::<Item>("device.tx", CHANNEL_DEPTH, 1)?;
        let (from_link, rx) = p.channel::<Item>("device.rx", CHANNEL_DEPTH, 1)?;
        p.module("device.link", flit, |bind| {
            let wire = FaultyWire::new(up_faults, ber, bind.rng());
            let ports = Ports {
                tx: bind.attach(to_link),
                rx: bind.attach(from_link),
                wire_out: bind.attach(up_out),
                wire_in: bind.attach(down_in),
                flits,
                signals,
            };
            Port::new(port_config(Dir::Up, device_end.with(wire), hold), ports, port_result)
        })?;
        p.module("device.function", core, |bind| {
            let completer = Completer::new(completer, space, Store::new(BACKGROUND));
            let agent = PmAgent::new(PmConfig::new(Side::Device));
            let (rx, tx) = (bind.attach(rx), bind.attach(tx));
            Function::new(completer, agent, device_form, latency, rx, tx, function_tap, function_result)
        })
    });
    Ok(sim)
}
