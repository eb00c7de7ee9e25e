//! `cxlio-enumerate`: a root complex finds a CXL Type 3 device over CXL.io and brings it up.
//!
//! Modelled: two partitions, each an agent and a link end, joined by the two directions of the wire. Three clocks: the
//! host's (the reference), the flit clock of the line rate, the device's. The host walks configuration space, sizes and
//! places BARs, programs the memory ranges of CXL.mem and locks them, then writes and reads behind the BARs; both sides
//! start power management beside it. With `link.cachemem` a core reads and writes the memory of the device over the same
//! link, in 64-byte lines, while the rest goes on; the ARB/MUX shares the link by its weights, and the CXL.mem side is that
//! of the expander. Left out: switches, several devices, ranges of memory that decode its addresses.
//!
//! A walk through one configuration read: the root complex gives it a tag and its bytes go to the host's link end, which
//! frames them, with sequence number and LCRC or in a flit; the device's end checks them and hands them over; the completer
//! answers after its latency; the completion finds its tag and the walk goes on with the next access.
//!
//! What the wire damages is repaired: TLPs of 68B units go again by their own numbers, 256B flits by those of the flits.
//! A 68B link of both protocols cannot see units of CXL.cachemem that vanish or come twice.

mod build;
mod ends;
mod function;
mod keys;
mod outcome;
mod root;
mod tlps;
mod walk;

use super::drive::{Built, identity};
use super::faults::faults;
use super::flit_link::flit_link;
use super::settings::{SettingError, Settings};
use super::{Request, RunError, memory};
use build::{Results, Taps};
use ends::{Beside, HasIo, PidLog, Units};
use scalepool_endpoint::config_space::ConfigSpace;
use scalepool_endpoint::config_space::port::port as root_port;
use scalepool_endpoint::config_space::type3::{Type3Config, type3};
use scalepool_endpoint::tlp::Form;
use scalepool_kernel::SimError;
use scalepool_link::arbmux::cxl68::{ArbMux as ArbMux68, ArbMuxConfig as ArbMux68Config};
use scalepool_link::arbmux::cxl256::{ArbMux as ArbMux256, ArbMuxConfig as ArbMux256Config};
use scalepool_link::arbmux::{Ask, Instance};
use scalepool_link::cxl68::timing::LineRate;
use scalepool_link::cxl68::{End as End68, EndConfig};
use scalepool_link::cxl256::Cachemem;
use scalepool_link::cxl256::config::{CachememConfig, LinkConfig, flit_time_fs};
use scalepool_link::cxl256::port::PortEnd;
use scalepool_link::cxlio::{FlitConfig, FlitEnd, IoConfig, NonFlitEnd, ReplayConfig};
use scalepool_link::fault::Fault;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::lanes::Width;
use scalepool_protocols::cxl::cxl68::unit::UNIT_BYTES;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::FLIT_BYTES;
use scalepool_protocols::cxl::cxlio::dvsec::{ConnectedMode, FlexBus, Trained, negotiate};
use scalepool_trace::Hub;

pub use keys::KEYS;

/// Name on the command line.
pub const NAME: &str = "cxlio-enumerate";
/// What it is.
pub const DOC: &str = "root complex that finds a CXL Type 3 device over CXL.io and brings it up";

/// Silence after which a run has failed: above completion time-out and training.
const STALL_LIMIT_FS: u64 = 20_000_000_000_000;
/// PBR IDs of the two ends.
const HOST_PORT: u16 = 0x001;
const DEVICE_PORT: u16 = 0x002;
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

/// What was read from the settings, apart from clocks.
struct Plan {
    pace: Pace,
    /// Host first, as everything that is there twice.
    forms: [Form; 2],
    mode: ConnectedMode,
    /// Format of 256B flits; `None`: 68B units.
    flits: Option<Mode>,
    faults: [Vec<Fault>; 2],
    ber: f64,
    port: ConfigSpace,
    device: ConfigSpace,
}

impl Plan {
    /// Whether the wires do anything but carry.
    fn is_faulty(&self) -> bool {
        self.ber > 0.0 || self.faults.iter().any(|f| !f.is_empty())
    }

    fn io(&self) -> IoConfig {
        IoConfig { flit_fs: self.pace.unit_fs(), ..IoConfig::default() }
    }
}

/// How long a unit takes, as a fraction of femtoseconds, and its length.
#[derive(Clone, Copy)]
struct Pace {
    num: u64,
    den: u64,
    unit_bytes: usize,
    /// Units that are used by halves have two edges of the port.
    halves: bool,
}

impl Pace {
    /// Of 68B units or 256B flits.
    fn new(line: &LineRate, flits: Option<Mode>) -> Pace {
        let ((num, den), unit_bytes) = match flits {
            None => (line.unit_time_fs(), UNIT_BYTES),
            Some(_) => (flit_time_fs(line.width.lanes() as u64, line.rate_gtps.into()), FLIT_BYTES),
        };
        Pace { num, den, unit_bytes, halves: flits.is_some_and(Mode::is_lopt) }
    }

    /// Edges of a port in a flit clock.
    const fn edges(&self) -> u64 {
        if self.halves { 2 } else { 1 }
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
    let pace = Pace::new(&line, flits);
    if flits.is_none() {
        memory::check_68b(settings, 1, (pace.num, pace.den))?;
    }
    let faults = faults(settings, pace.unit_bytes)?;
    Ok(Plan { pace, forms, mode, flits, faults, ber: settings.real("link.ber"), port, device })
}

/// Builds the scenario.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build(request: &Request, settings: &Settings) -> Result<Built, RunError> {
    let plan = plan(settings)?;
    match (plan.flits, settings.is_on("link.cachemem")) {
        (None, false) => {
            let ends = both(|dir| units(dir, &plan, settings, PidLog::default()))?;
            build_on(ends, plan, request, settings)
        }
        (None, true) => {
            let buffers = settings.int("link.buffers") as u16;
            let ends = both(|dir| {
                let end = End68::new(EndConfig::mem(dir, Cxl68Config::default(), buffers))?;
                units(dir, &plan, settings, end)
            })?;
            build_on(ends, plan, request, settings)
        }
        (Some(mode), false) => {
            let ends = both(|dir| Ok(PortEnd::new(link_of(mode, settings)?, dir, flit_io(mode, &plan)?)))?;
            build_on(ends, plan, request, settings)
        }
        (Some(mode), true) => {
            let ends = both(|dir| shared(mode, dir, &plan, settings))?;
            build_on(ends, plan, request, settings)
        }
    }
}

/// Both ends, host first.
fn both<E>(end: impl Fn(Dir) -> Result<E, RunError>) -> Result<[E; 2], RunError> {
    Ok([end(Dir::Down)?, end(Dir::Up)?])
}

fn weights(settings: &Settings) -> [u16; 2] {
    ["arbmux.weight_io", "arbmux.weight_cachemem"].map(|key| settings.int(key) as u16)
}

/// An end of 68B units.
fn units<C: Beside>(dir: Dir, plan: &Plan, settings: &Settings, beside: C) -> Result<Units<C>, RunError> {
    let io = NonFlitEnd::new(plan.io(), ReplayConfig::default()).map_err(|e| together("link.rate_gtps", e))?;
    let config = ArbMux68Config {
        enabled: C::ENABLED,
        weights: weights(settings),
        ..ArbMux68Config::new(dir, Cxl68Config::default())
    };
    Ok(Units::new(ArbMux68::new(config, io, beside), dir, plan.is_faulty()))
}

fn link_of(mode: Mode, settings: &Settings) -> Result<LinkConfig, RunError> {
    let selective_nak = settings.is_on("link.selective_nak");
    Ok(LinkConfig { selective_nak, ..flit_link(mode, settings)? })
}

fn flit_io(mode: Mode, plan: &Plan) -> Result<FlitEnd, RunError> {
    Ok(FlitEnd::new(plan.io(), FlitConfig::new(mode)).map_err(|e| together("link.rate_gtps", e))?)
}

/// An end of 256B flits that carries both protocols, and asks for Active at once.
fn shared(
    mode: Mode,
    dir: Dir,
    plan: &Plan,
    settings: &Settings,
) -> Result<PortEnd<ArbMux256<FlitEnd, Cachemem>>, RunError> {
    let cachemem = Cachemem::new(CachememConfig::mem(dir, mode, settings.int("link.buffers") as u16));
    let config = ArbMux256Config { weights: weights(settings), ..ArbMux256Config::new(dir, mode) };
    let mut mux = ArbMux256::new(config, flit_io(mode, plan)?, cachemem);
    Instance::ALL.into_iter().for_each(|instance| mux.ask(instance, Some(Ask::Active)));
    Ok(PortEnd::new(link_of(mode, settings)?, dir, mux))
}

/// Refuses a time-out that every completion would miss.
fn check_timeout(settings: &Settings) -> Result<(), SettingError> {
    let one_way = ["link.tx_pipeline_fs", "link.propagation_fs", "link.rx_pipeline_fs"];
    let way_fs = one_way.iter().map(|key| settings.int(key)).sum::<u64>();
    let answer_fs = settings.int("device.latency_cycles") * settings.int("device.clock_fs");
    let (found, least) = (settings.int("host.timeout_fs"), 2 * way_fs + answer_fs);
    if found > least {
        return Ok(());
    }
    Err(together(
        "host.timeout_fs",
        format!("found {found} fs, expected more than {least} fs, the time there and back"),
    ))
}

fn build_on<E: HasIo>(ends: [E; 2], plan: Plan, request: &Request, settings: &Settings) -> Result<Built, RunError> {
    check_timeout(settings)?;
    let (mode, pace) = (plan.mode, plan.pace);
    let mut hub = Hub::default();
    let cachemem = settings.is_on("link.cachemem");
    let taps =
        Taps::new::<E>(ends[0].protocol(), plan.forms[0], cachemem.then(|| build::message_form(plan.flits)), &mut hub);
    let results = Results::default();
    let accesses = if cachemem { build::accesses(settings)? } else { Box::new(std::iter::empty()) };
    let sim = build::build(request.seed, settings, plan, ends, accesses, taps, &results)
        .map_err(|e| RunError::Build(SimError::Build(e)))?;
    let clock_fs = settings.int("host.clock_fs");
    Ok(Built {
        sim,
        hub,
        identity: identity(request, settings),
        ber: settings.real("link.ber"),
        clock_fs,
        stall_limit_fs: STALL_LIMIT_FS,
        stimulus: Vec::new(),
        ports: Vec::new(),
        report: Box::new(move |request, ended| outcome::report(request, mode, pace, clock_fs, ended, &results)),
        chart: None,
    })
}
