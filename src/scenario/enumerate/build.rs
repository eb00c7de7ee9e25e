//! Host, link and device as partitions of a simulation: an agent of CXL.io at each side, with CXL.cachemem one of
//! CXL.mem beside it, and the link end.

use super::ends::{HasIo, Item, WithIo};
use super::function::{self, Function, FunctionResult};
use super::root::{self, Root, RootConfig, RootResult};
use super::walk::Windows;
use super::{DEVICE_PORT, HOST_PORT, Pace, Plan, tlps};
use crate::RunError;
use crate::settings::{GIVE_UP, Settings};
use scalepool_endpoint::completer::{Completer, CompleterConfig};
use scalepool_endpoint::pm::{Ask, PmAgent, PmConfig, ResetKind, Side as PmSide};
use scalepool_endpoint::requester::{Requester, RequesterConfig};
use scalepool_endpoint::tlp::Form;
use scalepool_kernel::{
    Binder, BuildError, Clock, InEnd, LinkInEnd, LinkOutEnd, Module, OutEnd, PartitionBuilder, Simulation,
};
use scalepool_link::fault::{Fault, FaultyWire};
use scalepool_link::port::{Agent, Channels, OnWire, Port, PortConfig, PortResult, Ports};
use scalepool_memory::store::{Background, Store};
use scalepool_nodes::cxl::host::{Host, HostChannels, HostConfig, HostPorts, HostResult, LineSource};
use scalepool_nodes::cxl::memory::{Device, DeviceConfig};
use scalepool_nodes::cxl::transaction_layouts;
use scalepool_nodes::stimulus::{self, LineAccess, Mix, Region};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::message::{Form as MessageForm, Message};
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::{Arc, Mutex};

/// Items between an agent and its link end: room for the longest access in the smallest payloads.
const CHANNEL_DEPTH: u32 = 64;
/// Content of registers behind BARs that nothing has written.
const BACKGROUND: Background = Background::Zero;
/// Content of memory that nothing has written: each 8 bytes hold their own address, so a wrong line is seen.
const BACKGROUND_OF_MEM: Background = Background::OwnAddress;
/// Lines of memory that CXL.mem accesses walk through.
const MEM_LINES: u64 = 4096;
/// Requests that the memory of the device holds.
const MEM_QUEUE: usize = 512;
/// Core of the host's CXL.mem.
const HOST_MEM: &str = "host.core";
/// Memory of the device.
const DEVICE_MEM: &str = "device.mem";
/// Root complex: bus 0, device 0, function 0.
const ROOT_ID: u16 = 0;
/// Bus behind the root port.
const DEVICE_BUS: u8 = 1;

/// Link end of the host.
pub(super) const HOST_LINK: &str = "host.link";
/// Link end of the device.
pub(super) const DEVICE_LINK: &str = "device.link";

/// Observers of all modules; those of CXL.mem only where it is on the link.
pub(super) struct Taps {
    root: Tap,
    host_mem: Option<Tap>,
    host_flits: Tap,
    host_signals: Tap,
    function: Tap,
    device_mem: Option<Tap>,
    device_flits: Tap,
    device_signals: Tap,
}

impl Taps {
    /// Taps in the order of elaboration, which is the order of output.
    pub fn new<E: HasIo>(protocol: &'static str, form: Form, mem: Option<MessageForm>, hub: &mut Hub) -> Taps {
        let flits = |dir| PlaceKind::Flits { protocol, dir };
        let mem_kind = mem.map(|form| PlaceKind::Messages(transaction_layouts(form)));
        Taps {
            root: hub.tap(root::PLACE, tlps::shows(form)),
            host_mem: mem_kind.map(|kind| hub.tap(HOST_MEM, kind)),
            host_flits: hub.tap(HOST_LINK, flits("up")),
            host_signals: hub.tap(HOST_LINK, PlaceKind::Values(E::SIGNALS)),
            function: hub.tap(function::PLACE, tlps::shows(form)),
            device_mem: mem_kind.map(|kind| hub.tap(DEVICE_MEM, kind)),
            device_flits: hub.tap(DEVICE_LINK, flits("down")),
            device_signals: hub.tap(DEVICE_LINK, PlaceKind::Values(E::SIGNALS)),
        }
    }
}

/// Results of all modules, there when the simulation is over.
pub(super) struct Results<E> {
    pub root: Arc<Mutex<RootResult>>,
    pub function: Arc<Mutex<FunctionResult>>,
    pub mem: Arc<Mutex<HostResult>>,
    pub ports: [Arc<Mutex<PortResult<WithIo<E>>>>; 2],
}

impl<E> Default for Results<E> {
    fn default() -> Self {
        Results { root: Arc::default(), function: Arc::default(), mem: Arc::default(), ports: Default::default() }
    }
}

/// How a link spells messages of CXL.cachemem.
pub(super) fn message_form(flits: Option<Mode>) -> MessageForm {
    flits.map_or(MessageForm::Cxl68, |mode| mode.routing().into())
}

/// CXL.mem accesses in program order.
///
/// # Errors
/// A parameter out of range.
pub(super) fn accesses(settings: &Settings) -> Result<LineSource, RunError> {
    let mix = match settings.word("mem.pattern") {
        "reads" => Mix::Reads,
        "writes" => Mix::Writes,
        _ => Mix::TwoToOne,
    };
    let raw = stimulus::saturated(mix, Region::new(0, MEM_LINES)?, settings.int("mem.accesses"));
    let start = settings.int("mem.start_fs").div_ceil(settings.int("host.clock_fs"));
    Ok(Box::new(stimulus::line_accesses(raw, false).map(move |access| LineAccess { cycle: start, ..access })))
}

/// One side of the link: its end and what it shares with the agents.
struct Side<E: HasIo> {
    /// Clock of the agents, prefix of their channels.
    name: &'static str,
    /// Module of the link end.
    port: &'static str,
    agent_clock: Clock,
    flit_clock: Clock,
    pace: Pace,
    wire_out: LinkOutEnd<OnWire<E::Unit>>,
    wire_in: LinkInEnd<OnWire<E::Unit>>,
    end: WithIo<E>,
    faults: Vec<Fault>,
    ber: f64,
    retrain_fs: u64,
    hold_credits_flits: u64,
    give_up: u32,
    flits: Tap,
    signals: Tap,
    result: Arc<Mutex<PortResult<WithIo<E>>>>,
}

/// Channels of an agent that are not bound yet, at the agent's and at the port's side.
struct Pair<T> {
    agent: (OutEnd<T>, InEnd<T>),
    port: (InEnd<T>, OutEnd<T>),
}

impl<T: 'static> Pair<T> {
    fn new(p: &mut PartitionBuilder, name: &str, edges: u32) -> Result<Pair<T>, BuildError> {
        let (tx, to_link) = p.channel::<T>(&format!("{name}.tx"), CHANNEL_DEPTH, 1)?;
        // One flit clock too where the port has two edges of it.
        let (from_link, rx) = p.channel::<T>(&format!("{name}.rx"), CHANNEL_DEPTH, edges)?;
        Ok(Pair { agent: (tx, rx), port: (to_link, from_link) })
    }
}

fn attached<T: 'static>(bind: &mut Binder, (tx, rx): (InEnd<T>, OutEnd<T>)) -> Channels<T> {
    Channels { tx: bind.attach(tx), rx: bind.attach(rx) }
}

/// A module to be built with its channel ends, and its name.
type Make<T, M> = (&'static str, Box<dyn FnOnce(&mut Binder, OutEnd<T>, InEnd<T>) -> M + Send>);

impl<E: HasIo> Side<E> {
    /// Builds the agents, the link end and the channels between them.
    fn build<I: Module + 'static, M: Module + 'static>(
        self,
        p: &mut PartitionBuilder,
        io: Make<Item, I>,
        mem: Option<Make<Message, M>>,
    ) -> Result<(), BuildError> {
        let core = p.clock(self.name, self.agent_clock)?;
        let flit = p.clock("flit", self.flit_clock)?;
        let edges = self.pace.edges() as u32;
        let of_io = Pair::<Item>::new(p, self.name, edges)?;
        let (tx, rx) = of_io.agent;
        p.module(io.0, core, |bind| io.1(bind, tx, rx))?;
        let mut of_mem = None;
        if let Some((name, make)) = mem {
            let pair = Pair::<Message>::new(p, &format!("{}.mem", self.name), edges)?;
            let (tx, rx) = pair.agent;
            p.module(name, core, |bind| make(bind, tx, rx))?;
            of_mem = Some(pair.port);
        }
        p.module(self.port, flit, |bind| {
            let mut agents: Vec<Box<dyn Agent<WithIo<E>>>> = vec![Box::new(attached(bind, of_io.port))];
            if let Some(of_mem) = of_mem {
                agents.push(Box::new(attached(bind, of_mem)));
            }
            let ports = Ports {
                agents,
                wire_out: bind.attach(self.wire_out),
                wire_in: bind.attach(self.wire_in),
                flits: self.flits,
                signals: self.signals,
            };
            let config = PortConfig {
                end: self.end,
                wire: FaultyWire::new(self.faults, self.ber, bind.rng()),
                retrain_fs: self.retrain_fs,
                hold_credits_flits: self.hold_credits_flits,
                halves: self.pace.halves,
                give_up: self.give_up,
            };
            Port::new(config, ports, self.result)
        })
    }
}

fn root_config(settings: &Settings, plan: &Plan) -> RootConfig {
    let cycles = |key| settings.int(key).div_ceil(settings.int("host.clock_fs"));
    let timeout = cycles("host.timeout_fs");
    RootConfig {
        form: plan.forms[0],
        requester: Requester::new(RequesterConfig {
            id: ROOT_ID,
            outstanding: settings.int("host.outstanding") as usize,
            timeout,
        }),
        agent: PmAgent::new(PmConfig { timeout, ..PmConfig::new(PmSide::Host) }),
        port: plan.port.clone(),
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
    }
}

/// Builds the simulation.
///
/// # Errors
/// A clock or a latency that the kernel refuses.
pub(super) fn build<E: HasIo>(
    seed: u64,
    settings: &Settings,
    plan: Plan,
    ends: [E; 2],
    accesses: LineSource,
    taps: Taps,
    results: &Results<E>,
) -> Result<Simulation, BuildError> {
    let pace = plan.pace;
    // A unit is there when its last byte is; one that is used by halves, when the last byte of its even half is.
    let flit_clock = Clock::new(pace.num, pace.den * pace.edges(), 0)?;
    let latency_fs = settings.int("link.tx_pipeline_fs")
        + settings.int("link.propagation_fs")
        + settings.int("link.rx_pipeline_fs")
        + pace.num.div_ceil(pace.den * pace.edges());
    let mut sim = Simulation::new(seed);
    let (down_out, down_in) = sim.link::<OnWire<E::Unit>>("wire.down", latency_fs)?;
    let (up_out, up_in) = sim.link::<OnWire<E::Unit>>("wire.up", latency_fs)?;
    let (ber, retrain_fs) = (plan.ber, settings.int("link.retrain_fs"));
    let give_up = settings.int(GIVE_UP.name) as u32;
    let config = root_config(settings, &plan);
    let form = message_form(plan.flits);
    let ids = match plan.flits {
        Some(Mode::Pbr) => HostPorts { own: HOST_PORT, device: DEVICE_PORT },
        _ => HostPorts::default(),
    };
    let [down_faults, up_faults] = plan.faults;
    let [host_end, device_end] = ends;
    let [host_result, device_result] = results.ports.clone();

    let side = Side {
        name: "host",
        port: HOST_LINK,
        agent_clock: Clock::with_period_fs(settings.int("host.clock_fs"))?,
        flit_clock,
        pace,
        wire_out: down_out,
        wire_in: up_in,
        // Each access is a request without a cache in front, so each has one answer.
        end: WithIo::new(host_end, accesses.len() as u64),
        faults: down_faults,
        ber,
        retrain_fs,
        hold_credits_flits: 0,
        give_up,
        flits: taps.host_flits,
        signals: taps.host_signals,
        result: host_result,
    };
    let (root_tap, root_result) = (taps.root, results.root.clone());
    let io: Make<Item, Root> = (
        root::PLACE,
        Box::new(move |bind, tx, rx| {
            let (tx, rx, rng) = (bind.attach(tx), bind.attach(rx), bind.rng());
            Root::new(config, tx, rx, rng, root_tap, root_result)
        }),
    );
    let config = HostConfig {
        place: HOST_MEM.to_owned(),
        accesses,
        absolute_cycles: true,
        cache: None,
        outstanding: settings.int("mem.outstanding") as usize,
        background: BACKGROUND_OF_MEM,
        ports: ids,
        form,
    };
    let mem_result = results.mem.clone();
    let mem = taps.host_mem.map(|tap| -> Make<Message, Host> {
        let make = move |bind: &mut Binder, tx, rx| {
            let channels = HostChannels { tx: bind.attach(tx), rx: bind.attach(rx) };
            Host::new(config, channels, bind.rng(), tap, mem_result)
        };
        (HOST_MEM, Box::new(make))
    });
    sim.partition(move |p| side.build(p, io, mem));

    let side = Side {
        name: "device",
        port: DEVICE_LINK,
        agent_clock: Clock::with_period_fs(settings.int("device.clock_fs"))?,
        flit_clock,
        pace,
        wire_out: up_out,
        wire_in: down_in,
        end: WithIo::new(device_end, 0),
        faults: up_faults,
        ber,
        retrain_fs,
        hold_credits_flits: settings.int("link.credits_hold"),
        give_up,
        flits: taps.device_flits,
        signals: taps.device_signals,
        result: device_result,
    };
    let completer = CompleterConfig {
        boundary_bytes: settings.int("device.boundary_bytes"),
        not_ready: settings.int("device.not_ready") as u32,
    };
    let (space, device_form, latency) = (plan.device, plan.forms[1], settings.int("device.latency_cycles"));
    let (tap, result) = (taps.function, results.function.clone());
    let io: Make<Item, Function> = (
        function::PLACE,
        Box::new(move |bind, tx, rx| {
            let completer = Completer::new(completer, space, Store::new(BACKGROUND));
            let agent = PmAgent::new(PmConfig::new(PmSide::Device));
            let (rx, tx) = (bind.attach(rx), bind.attach(tx));
            Function::new(completer, agent, device_form, latency, rx, tx, tap, result)
        }),
    );
    let config = DeviceConfig {
        store: Store::new(BACKGROUND_OF_MEM),
        latency_cycles: latency,
        queue: MEM_QUEUE,
        port: ids.device,
        form,
    };
    let mem = taps.device_mem.map(|tap| -> Make<Message, Device> {
        let make = move |bind: &mut Binder, tx, rx| Device::new(config, bind.attach(rx), bind.attach(tx), tap);
        (DEVICE_MEM, Box::new(make))
    });
    sim.partition(move |p| side.build(p, io, mem));
    Ok(sim)
}
