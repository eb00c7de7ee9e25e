//! Ports with their channels, put into a simulation: the same for an endpoint and for a switch.

use super::config::{Buffers, LinkConfig};
use super::end::NvlEnd;
use super::external::ExternalPort;
use super::message::NvlMessage;
use super::port::{Burst, NvlReport, PacketPhy, VcChannels, shows};
use super::stall::Stall;
use crate::external::Feed;
use crate::fault::{Fault, FaultyWire};
use crate::hook::Hooks;
use crate::port::{LinkEnd, Port, PortConfig, PortResult, Ports, WayOut};
use scalepool_kernel::{BuildError, ClockId, InEnd, LinkInEnd, LinkOutEnd, OutEnd, PartitionBuilder, Simulation};
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::{Arc, Mutex};

/// What all links of a simulation have in common.
#[derive(Debug, Clone, Copy)]
pub struct NvlLinkCommon {
    /// Choices of the link layer.
    pub config: LinkConfig,
    /// Receive buffers of each end.
    pub buffers: Buffers,
    /// Bit error rate.
    pub ber: f64,
    /// Percent of the time in which the consumer of a port takes nothing.
    pub stall_percent: u64,
    /// Replays in vain after which the run ends.
    pub give_up: u32,
    /// Messages that a channel between a port and its user holds.
    pub channel_depth: u32,
}

/// One end of a link before it has a place.
pub struct Socket {
    wire_out: LinkOutEnd<Burst>,
    wire_in: LinkInEnd<Burst>,
    /// Received packets, and signals.
    taps: Option<[Tap; 2]>,
    /// Direction of what it receives.
    dir: &'static str,
    name: String,
    /// Listed faults of what it sends.
    pub faults: Vec<Fault>,
    /// Flit clocks for which it holds credits back.
    pub hold_credits_flits: u64,
    /// Where its result will be.
    pub result: Arc<Mutex<PortResult<NvlReport>>>,
    /// Hooks of the end, none by default.
    pub hooks: Hooks,
}

/// The user's side of a port: channels by [`CHANNELS`](super::port::CHANNELS).
pub struct NvlPlug {
    /// To the port.
    pub tx: [OutEnd<NvlMessage>; 3],
    /// From the port.
    pub rx: [InEnd<NvlMessage>; 3],
}

/// Both ends of a link between two named ports, `latency_fs` long each way; the first one sends down.
///
/// # Errors
/// Names of the kernel's grammar that are used twice; a latency of 0.
pub fn link(sim: &mut Simulation, names: [&str; 2], latency_fs: u64) -> Result<[Socket; 2], BuildError> {
    let [first, second] = names;
    let (down_out, down_in) = sim.link::<Burst>(&format!("{first}.wire"), latency_fs)?;
    let (up_out, up_in) = sim.link::<Burst>(&format!("{second}.wire"), latency_fs)?;
    let socket = |name: &str, wire_out, wire_in, dir| Socket {
        wire_out,
        wire_in,
        taps: None,
        dir,
        name: name.to_owned(),
        faults: Vec::new(),
        hold_credits_flits: 0,
        result: Arc::default(),
        hooks: Hooks::default(),
    };
    Ok([socket(first, down_out, up_in, "up"), socket(second, up_out, down_in, "down")])
}

/// Makes three of something, one a channel.
fn three<T>(mut make: impl FnMut(usize) -> Result<T, BuildError>) -> Result<[T; 3], BuildError> {
    Ok([make(0)?, make(1)?, make(2)?])
}

impl Socket {
    /// Name of the port.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes its places in traces.
    pub fn tap(&mut self, hub: &mut Hub) {
        self.taps =
            Some([hub.tap(&self.name, shows(self.dir)), hub.tap(&self.name, PlaceKind::Values(NvlEnd::SIGNALS))]);
    }

    /// Puts the port into a partition, on a clock of flits.
    ///
    /// # Errors
    /// A name used twice.
    pub fn place(self, p: &mut PartitionBuilder, clock: ClockId, kind: &NvlLinkCommon) -> Result<NvlPlug, BuildError> {
        let name = self.name;
        let [packets, signals] = self.taps.unwrap_or_else(|| unreachable!("places in traces are taken before"));
        let mut channel =
            |what: &str, n: usize| p.channel::<NvlMessage>(&format!("{name}.{what}[{n}]"), kind.channel_depth, 1);
        let [(tx0, in0), (tx1, in1), (tx2, in2)] = three(|n| channel("tx", n))?;
        let [(out0, rx0), (out1, rx1), (out2, rx2)] = three(|n| channel("rx", n))?;
        p.module(&name, clock, |bind| {
            let mut end = NvlEnd::new(kind.config, kind.buffers);
            end.attach_hooks(&self.hooks);
            let wire = FaultyWire::new(self.faults, kind.ber, bind.rng());
            let stall = Stall::new(kind.stall_percent, bind.rng_for("stall"));
            let phy = PacketPhy::new(self.hold_credits_flits, stall);
            let config = PortConfig { end, phy, wire, dir: self.dir, give_up: kind.give_up };
            let channels = VcChannels {
                tx: [in0, in1, in2].map(|end| bind.attach(end)),
                rx: [out0, out1, out2].map(|end| bind.attach(end)),
            };
            let (wire_out, wire_in) = (bind.attach(self.wire_out), bind.attach(self.wire_in));
            let ports = Ports { agents: vec![Box::new(channels)], wire_out, wire_in, flits: packets, signals };
            Port::new(config, ports, self.result)
        })?;
        Ok(NvlPlug { tx: [tx0, tx1, tx2], rx: [rx0, rx1, rx2] })
    }

    /// Puts the place of the end, whose flits a caller drives, into a partition.
    ///
    /// # Errors
    /// A name used twice.
    pub fn place_external(
        self,
        p: &mut PartitionBuilder,
        clock: ClockId,
        ber: f64,
        feed: Feed,
    ) -> Result<(), BuildError> {
        let name = self.name;
        let [packets, _] = self.taps.unwrap_or_else(|| unreachable!("places in traces are taken before"));
        p.module(&name, clock, |bind| ExternalPort {
            dir: self.dir,
            wire_out: bind.attach(self.wire_out),
            wire_in: bind.attach(self.wire_in),
            packets,
            way_out: WayOut::new(FaultyWire::new(self.faults, ber, bind.rng())),
            hooks: self.hooks,
            feed,
            result: self.result,
        })?;
        Ok(())
    }
}
