//! Host, link and device as partitions of a simulation.

use super::accesses::Accesses;
use super::links::{Link, Reported};
use crate::kernel::{
    Binder, BuildError, Clock, InEnd, LinkInEnd, LinkOutEnd, Module, OutEnd, PartitionBuilder, Simulation,
};
use crate::link::external::{External, ExternalConfig, ExternalWires, Feed};
use crate::link::fault::{Fault, FaultyWire};
use crate::link::port::{Channels, OnWire, Port, PortConfig, PortResult, Ports};
use crate::memory::cache::Cache;
use crate::memory::store::{Background, Store};
use crate::nodes::cxl::host::{self, Host, HostChannels, HostConfig, HostPorts, HostResult};
use crate::nodes::cxl::memory::{self as device, Device, DeviceConfig};
use crate::nodes::cxl::transaction_layouts;
use crate::scenario::Request;
use crate::scenario::settings::{GIVE_UP, Settings};
use crate::trace::{Hub, PlaceKind, Tap};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::message::Message;
use std::sync::{Arc, Mutex};

/// Messages between an agent and its link end; channels are one flit clock or agent clock long.
const CHANNEL_DEPTH: u32 = 32;
/// Content of memory that nothing has written: each 8 bytes hold their own address, so a wrong line is seen.
const BACKGROUND: Background = Background::OwnAddress;

/// Link end of the host.
pub(super) const HOST_PORT: &str = "host.link";
/// Link end of the device.
pub(super) const DEVICE_PORT: &str = "device.link";

/// What the host runs.
pub(super) struct Program {
    pub accesses: Accesses,
    pub cache: Option<Cache>,
}

/// Observers of all modules.
pub(super) struct Taps {
    host: Tap,
    host_flits: Tap,
    host_signals: Tap,
    device: Tap,
    device_flits: Tap,
    device_signals: Tap,
}

impl Taps {
    /// Taps in the order of elaboration, which is the order of output.
    pub fn new<E: Reported>(link: &Link<E>, hub: &mut Hub) -> Taps {
        let protocol = link.host.protocol();
        let messages = PlaceKind::Messages(transaction_layouts(link.form));
        Taps {
            host: hub.tap(host::PLACE, messages),
            host_flits: hub.tap(HOST_PORT, PlaceKind::Flits { protocol, dir: Dir::Up.name() }),
            host_signals: hub.tap(HOST_PORT, PlaceKind::Values(E::SIGNALS)),
            device: hub.tap(device::PLACE, messages),
            device_flits: hub.tap(DEVICE_PORT, PlaceKind::Flits { protocol, dir: Dir::Down.name() }),
            device_signals: hub.tap(DEVICE_PORT, PlaceKind::Values(E::SIGNALS)),
        }
    }
}

/// Results of all modules, there when the simulation is over.
pub(super) struct Results<E> {
    pub host: Arc<Mutex<HostResult>>,
    pub host_port: Arc<Mutex<PortResult<E>>>,
    pub device_port: Arc<Mutex<PortResult<E>>>,
}

impl<E> Default for Results<E> {
    fn default() -> Self {
        Results { host: Arc::default(), host_port: Arc::default(), device_port: Arc::default() }
    }
}

/// One side of the link: an agent and its link end.
struct Side<E: Reported> {
    /// Clock of the agent, prefix of its channels.
    name: &'static str,
    /// Module of the agent.
    agent: &'static str,
    /// Module of the link end.
    port: &'static str,
    agent_clock: Clock,
    flit_clock: Clock,
    wire_out: LinkOutEnd<OnWire<E::Unit>>,
    wire_in: LinkInEnd<OnWire<E::Unit>>,
    end: E,
    faults: Vec<Fault>,
    ber: f64,
    retrain_fs: u64,
    hold_credits_flits: u64,
    give_up: u32,
    halves: bool,
    flits: Tap,
    signals: Tap,
    result: Arc<Mutex<PortResult<E>>>,
    /// What a caller drives in place of agent and end.
    feed: Option<Feed>,
}

impl<E: Reported> Side<E> {
    /// Builds the agent, its link end and the channels between them.
    fn build<M: Module + 'static>(
        self,
        p: &mut PartitionBuilder,
        agent: impl FnOnce(&mut Binder, OutEnd<Message>, InEnd<Message>) -> M,
    ) -> Result<(), BuildError> {
        if self.feed.is_some() {
            return self.build_external(p);
        }
        let core = p.clock(self.name, self.agent_clock)?;
        let flit = p.clock("flit", self.flit_clock)?;
        let (tx, to_link) = p.channel::<Message>(&format!("{}.tx", self.name), CHANNEL_DEPTH, 1)?;
        // One flit clock too where the port has two edges of it.
        let edges = if self.halves { 2 } else { 1 };
        let (from_link, rx) = p.channel::<Message>(&format!("{}.rx", self.name), CHANNEL_DEPTH, edges)?;
        p.module(self.agent, core, |bind| agent(bind, tx, rx))?;
        p.module(self.port, flit, |bind| {
            let ports = Ports {
                agents: vec![Box::new(Channels { tx: bind.attach(to_link), rx: bind.attach(from_link) })],
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
                halves: self.halves,
                give_up: self.give_up,
            };
            Port::new(config, ports, self.result)
        })
    }

    /// Builds the place of an end that stands outside.
    fn build_external(self, p: &mut PartitionBuilder) -> Result<(), BuildError> {
        let flit = p.clock("flit", self.flit_clock)?;
        p.module(self.port, flit, |bind| {
            let wires = ExternalWires {
                wire_out: bind.attach(self.wire_out),
                wire_in: bind.attach(self.wire_in),
                flits: self.flits,
            };
            let config = ExternalConfig {
                end: self.end,
                wire: FaultyWire::new(self.faults, self.ber, bind.rng()),
                retrain_fs: self.retrain_fs,
                halves: self.halves,
                feed: self.feed.unwrap_or_default(),
            };
            External::new(config, wires, E::unit, self.result)
        })
    }
}

/// Builds the simulation. The observers of `taps` are those of [`taps`].
///
/// # Errors
/// A clock or a latency that the kernel refuses.
pub(super) fn build<E: Reported>(
    request: &Request,
    settings: &Settings,
    link: Link<E>,
    faults: [Vec<Fault>; 2],
    program: Program,
    taps: Taps,
    [host_feed, device_feed]: [Option<Feed>; 2],
) -> Result<(Simulation, Results<E>), BuildError> {
    let (num, den) = link.unit_time_fs;
    // A unit is there when its last byte is; one that is used by halves, when the last byte of its even half is.
    let parts = if link.halves { 2 } else { 1 };
    let flit_clock = Clock::new(num, den * parts, 0)?;
    let latency_fs = settings.int("link.tx_pipeline_fs")
        + settings.int("link.propagation_fs")
        + settings.int("link.rx_pipeline_fs")
        + num.div_ceil(den * parts);
    let mut sim = Simulation::new(request.seed);
    let (down_out, down_in) = sim.link::<OnWire<E::Unit>>("wire.down", latency_fs)?;
    let (up_out, up_in) = sim.link::<OnWire<E::Unit>>("wire.up", latency_fs)?;
    let results = Results::default();
    let [down_faults, up_faults] = faults;
    let (ber, retrain_fs) = (settings.real("link.ber"), settings.int("link.retrain_fs"));
    let give_up = settings.int(GIVE_UP.name) as u32;
    let [own, device_id] = link.port_ids;

    let config = HostConfig {
        accesses: program.accesses.list,
        absolute_cycles: program.accesses.absolute,
        cache: program.cache,
        outstanding: settings.int("host.outstanding") as usize,
        background: BACKGROUND,
        ports: HostPorts { own, device: device_id },
        form: link.form,
    };
    let host = Side {
        name: "host",
        agent: host::PLACE,
        port: HOST_PORT,
        agent_clock: Clock::with_period_fs(settings.int("host.clock_fs"))?,
        flit_clock,
        wire_out: down_out,
        wire_in: up_in,
        end: link.host,
        faults: down_faults,
        ber,
        retrain_fs,
        hold_credits_flits: 0,
        give_up,
        halves: link.halves,
        flits: taps.host_flits,
        signals: taps.host_signals,
        result: results.host_port.clone(),
        feed: host_feed,
    };
    let (tap, result) = (taps.host, results.host.clone());
    sim.partition(move |p| {
        host.build(p, |bind, tx, rx| {
            let channels = HostChannels { tx: bind.attach(tx), rx: bind.attach(rx) };
            Host::new(config, channels, bind.rng(), tap, result)
        })
    });

    let config = DeviceConfig {
        store: Store::new(BACKGROUND),
        latency_cycles: settings.int("device.latency_cycles"),
        queue: settings.int("device.queue") as usize,
        port: device_id,
        form: link.form,
    };
    let device = Side {
        name: "device",
        agent: device::PLACE,
        port: DEVICE_PORT,
        agent_clock: Clock::with_period_fs(settings.int("device.clock_fs"))?,
        flit_clock,
        wire_out: up_out,
        wire_in: down_in,
        end: link.device,
        faults: up_faults,
        ber,
        retrain_fs,
        hold_credits_flits: settings.int("link.credits_hold"),
        give_up,
        halves: link.halves,
        flits: taps.device_flits,
        signals: taps.device_signals,
        result: results.device_port.clone(),
        feed: device_feed,
    };
    let tap = taps.device;
    sim.partition(move |p| device.build(p, |bind, tx, rx| Device::new(config, bind.attach(rx), bind.attach(tx), tap)));
    Ok((sim, results))
}
