//! An [`End`] as a module of the kernel. Basis: model.
//!
//! Modelled: one flit a flit clock, the faulty wire behind the transmitter, one channel of messages for each virtual
//! channel and direction, so that a channel without credit holds up no other. Detail: the flits of a packet travel as one
//! burst that takes their clocks and is there with the last of them, so what a header says is heard when its packet ends;
//! the latency of PHY, data link and lanes is the latency of the kernel link between two ports. While nothing is open the port sleeps: the IDLE flits that a
//! wire would carry then say nothing, are not modelled and do not count. Left out: what the messages mean.
//!
//! A walk through one flit clock: flits that are due are received, events are recorded; accepted messages go to the
//! consumer as far as its channels have room, which frees their buffers; where a packet ends, it leaves, messages of the
//! producer move into the queues of the end, and the next packet begins, unless nothing is open.

use super::end::{End, Stats};
use super::flit::Flit;
use super::message::Message;
use super::stall::{Stall, WINDOW_CYCLES};
use crate::event::{Event, Severity, finding};
use crate::fault::FaultyWire;
use crate::hook::{Direction, Hooks};
use crate::line_time::LineTime;
use crate::port::{GIVE_UP_RULE, given_up};
use scalepool_kernel::{Cx, In, LinkIn, LinkOut, Module, Next, Out, Pending, Time};
use scalepool_protocols::nvlink::{FLIT_BYTES, Header, Vc};
use scalepool_protocols::wire::Wire;
use scalepool_trace::{Body, Kind, PlaceKind, Stamp, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// The channels that operations use by default (`nvlink` §6.1), in the order of channel ends and counts of a port.
pub const CHANNELS: [Vc; 3] = [Vc::CREQ0, Vc::CREQ1, Vc::RSP0];

/// Place of a channel in [`CHANNELS`]; answers for one that is not there.
pub fn channel_of(vc: Vc) -> usize {
    CHANNELS.iter().position(|&c| c == vc).unwrap_or(2)
}

/// What travels between two ports: the flits of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Burst {
    /// As they arrive.
    pub flits: Vec<Flit>,
    /// A fault input changed one of them.
    pub damaged: bool,
}

/// Signals of a port in waves, with their widths in bits.
pub const SIGNALS: &[(&str, u32)] =
    &[("next_id", 12), ("accepted_id", 12), ("unacknowledged", 12), ("hunting", 1), ("replaying", 1), ("tries", 4)];

/// Packets of a direction as they arrive and as they are accepted; the signals of the link stand beside them.
pub const fn shows(dir: &'static str) -> PlaceKind {
    PlaceKind::Flits { protocol: PROTOCOL, dir }
}

/// Name in [`scalepool_protocols::registry::PROTOCOLS`].
pub(super) const PROTOCOL: &str = "nvlink";

/// What a port leaves behind for the report of the run.
#[derive(Debug, Clone, Default)]
pub struct PortResult {
    /// Counters.
    pub stats: Stats,
    /// Broken rules of the peer, without what a fault input made and the link repaired.
    pub violations: Vec<Event>,
    /// Flits that the fault inputs of its transmitter changed.
    pub damaged: u64,
    /// Messages of each of [`CHANNELS`] given to the consumer.
    pub delivered: [u64; 3],
    /// Messages of each of [`CHANNELS`] taken from the producer.
    pub taken: [u64; 3],
    /// Times that a message waited and something else went: IDLE, a replay, credits.
    pub credit_stalls: u64,
    /// Windows in which its consumer held something back.
    pub stalled_windows: u64,
    /// The link is down.
    pub down: bool,
    /// Where the time of what it sends has gone, without what it left idle.
    pub time: LineTime,
    /// Credits to spend, headers and data flits, of each of [`CHANNELS`].
    pub spend: [[u64; 2]; 3],
    /// Credits that the peer has to spend, as far as this end knows.
    pub granted: [[u64; 2]; 3],
}

impl PortResult {
    /// What is not in its place when nothing is under way any more: messages that neither arrived nor came back, credits
    /// that neither end has. Each is a text of what was found and one of what was expected.
    pub fn astray(&self, peer: &PortResult) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (n, vc) in CHANNELS.iter().enumerate() {
            if self.taken[n] != peer.delivered[n] {
                found.push((format!("{} messages on {vc:?}", peer.delivered[n]), format!("{} sent", self.taken[n])));
            }
            if self.spend[n] != peer.granted[n] {
                let (has, should) = (self.spend[n], peer.granted[n]);
                found.push((format!("credits {has:?} on {vc:?}"), format!("{should:?}, as the peer counts")));
            }
        }
        found
    }
}

/// The rule by which a link is down.
const LINK_FAILURE: &str = "NVL-RPL-05";
/// Bits of a flit.
const FLIT_BITS: u64 = 8 * FLIT_BYTES as u64;

/// Most messages a channel that wait in the end; the rest waits in the producer's channel.
const QUEUE_DEPTH: usize = 2;

/// Channel ends, wire ends and taps of a port.
pub struct Ports {
    /// Messages to send, by [`CHANNELS`].
    pub tx: [In<Message>; 3],
    /// Messages received, by [`CHANNELS`].
    pub rx: [Out<Message>; 3],
    /// To the peer.
    pub wire_out: LinkOut<Burst>,
    /// From the peer.
    pub wire_in: LinkIn<Burst>,
    /// Packets received, see [`shows`].
    pub packets: Tap,
    /// [`SIGNALS`].
    pub signals: Tap,
}

/// Inputs of a port besides its ends.
pub struct PortConfig {
    /// The link end.
    pub end: End,
    /// Faults of its transmitter.
    pub wire: FaultyWire,
    /// Flit clocks from the start for which credits are held back, 0 for none.
    pub hold_credits_flits: u64,
    /// When its consumer takes nothing.
    pub stall: Stall,
    /// Direction of what it receives, `down` or `up`: a name, both are alike.
    pub dir: &'static str,
    /// Hooks of the end.
    pub hooks: Hooks,
    /// Replays in vain after which the run ends.
    pub give_up: u32,
}

/// A link end with its place in a simulation.
pub struct Port {
    end: End,
    ports: Ports,
    wire: FaultyWire,
    hold_until_flits: u64,
    dir: &'static str,
    stall: Stall,
    /// The window in which something was held back last.
    stalled_window: Option<u64>,
    /// The packet that goes, and the clock at which its last flit has gone.
    under_way: Option<Burst>,
    packet_ends: u64,
    time: LineTime,
    /// See [`PortConfig::give_up`]; `None`: it has been said.
    give_up: Option<u32>,
    /// Since when the link is down.
    down_since: Option<Time>,
    shown: [Option<u64>; SIGNALS.len()],
    mine: PortResult,
    result: Arc<Mutex<PortResult>>,
    busy_since: Option<Time>,
}

impl Port {
    /// A port; `result` is filled when the run is looked at.
    pub fn new(config: PortConfig, ports: Ports, result: Arc<Mutex<PortResult>>) -> Port {
        let mut end = config.end;
        end.attach_hooks(&config.hooks);
        Port {
            end,
            ports,
            wire: config.wire,
            hold_until_flits: config.hold_credits_flits,
            dir: config.dir,
            stall: config.stall,
            stalled_window: None,
            under_way: None,
            packet_ends: 0,
            time: LineTime::default(),
            give_up: Some(config.give_up),
            down_since: None,
            shown: [None; SIGNALS.len()],
            mine: PortResult::default(),
            result,
            busy_since: None,
        }
    }

    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(Burst { flits, damaged }) = self.ports.wire_in.pop(cx) {
            if !flits.is_empty() {
                self.ports.packets.record(at, Kind::Flit, 0, 0, || Body::Flit {
                    protocol: PROTOCOL,
                    dir: self.dir,
                    bytes: flits.iter().flat_map(|flit| flit.0).collect(),
                });
            }
            let mut hooked = false;
            for flit in flits {
                for (flit, other) in self.end.hooks().wire(Direction::Rx, "nvlink", flit).into_iter().flatten() {
                    hooked |= other;
                    self.end.receive(&flit);
                }
            }
            for (number, packet) in self.end.take_packets() {
                let taken = || Body::Taken { number, bytes: packet.bytes().collect() };
                self.ports.packets.record(at, Kind::Mark, 0, 0, taken);
            }
            self.report(damaged || hooked, at);
        }
    }

    /// Keeps events, without those that a fault input made and that a replay repairs.
    fn report(&mut self, damaged: bool, at: Stamp) {
        for event in self.end.take_events() {
            let violation = &event.violation;
            self.ports.packets.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            if !(damaged && event.severity <= Severity::Retrain) {
                self.mine.violations.push(event);
            }
        }
    }

    /// The clock until which messages that are here are held back.
    fn stalled_until(&mut self, cycle: u64) -> Option<u64> {
        if CHANNELS.iter().all(|&vc| self.end.received(vc) == 0) {
            return None;
        }
        let until = self.stall.until(cycle)?;
        let window = cycle / WINDOW_CYCLES;
        self.mine.stalled_windows += u64::from(self.stalled_window.replace(window) != Some(window));
        Some(until)
    }

    fn deliver(&mut self, cx: &mut Cx) {
        for (n, vc) in CHANNELS.into_iter().enumerate() {
            while self.end.received(vc) > 0 && self.ports.rx[n].has_room(cx, 1) {
                let Some(message) = self.end.take(vc) else { break };
                self.mine.delivered[n] += 1;
                if self.ports.rx[n].push(cx, message).is_err() {
                    break;
                }
            }
        }
    }

    fn fetch(&mut self, cx: &mut Cx) {
        for (n, vc) in CHANNELS.into_iter().enumerate() {
            while self.end.waiting(vc) < QUEUE_DEPTH
                && let Some(message) = self.ports.tx[n].pop(cx)
            {
                self.mine.taken[n] += 1;
                if let Err(refused) = self.end.send(Message { vc, ..message }) {
                    // A producer of this model sends legal messages only; what it did wrong is shown, not hidden.
                    let violation =
                        finding("NVL-PKT-04", refused, "a legal message", "the message cannot be sent as a packet");
                    self.mine.violations.push(Event { severity: Severity::Protocol, unit: 0, violation });
                }
            }
        }
    }

    /// The next packet, which takes as many clocks as it has flits.
    fn begin(&mut self, at: Stamp) {
        let packets = self.end.stats().sent_packets;
        let (mut flits, mut hooked, damaged_before) = (Vec::new(), false, self.wire.damaged);
        self.packet_ends = at.cycle;
        loop {
            let flit = self.end.transmit();
            for (leaves, other) in self.end.hooks().wire(Direction::Tx, "nvlink", flit).into_iter().flatten() {
                hooked |= other;
                flits.extend(self.wire.send(leaves).into_iter().flatten());
            }
            self.packet_ends += 1;
            if self.end.is_between_packets() {
                break;
            }
        }
        self.time.add((self.packet_ends - at.cycle) * FLIT_BITS, &self.end.uses());
        let waits = CHANNELS.iter().any(|&vc| self.end.waiting(vc) > 0);
        self.mine.credit_stalls += u64::from(waits && self.end.stats().sent_packets == packets);
        self.under_way = Some(Burst { flits, damaged: hooked || self.wire.damaged != damaged_before });
        self.report(false, at);
    }

    /// Ends the run where the link cannot work.
    fn judge(&mut self, cx: &mut Cx) {
        let tries = self.end.fruitless();
        if self.end.is_down() {
            if self.down_since.replace(self.down_since.unwrap_or(cx.now())).is_none() {
                cx.give_up(LINK_FAILURE);
            }
        } else if self.give_up.take_if(|most| tries >= *most).is_some() {
            let violation = given_up(tries, self.wire.ber());
            self.ports.packets.record(
                Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() },
                Kind::Violation,
                0,
                0,
                || Body::Violation(violation.clone()),
            );
            self.mine.violations.push(Event { severity: Severity::Uncorrectable, unit: 0, violation });
            cx.give_up(GIVE_UP_RULE);
        }
    }

    fn show(&mut self, at: Stamp) {
        if !self.ports.signals.is_on() {
            return;
        }
        let (sender, receiver) = (self.end.transmitter(), self.end.receiver());
        let values: [u64; SIGNALS.len()] = [
            sender.next_id().into(),
            receiver.accepted().into(),
            sender.unacknowledged_flits() as u64,
            receiver.is_hunting().into(),
            sender.is_replaying().into(),
            sender.tries().into(),
        ];
        for (n, value) in values.into_iter().enumerate() {
            if self.shown[n] != Some(value) {
                self.shown[n] = Some(value);
                let signal = SIGNALS[n].0;
                self.ports.signals.record(at, Kind::Value, 0, 0, || Body::Value { signal, value });
            }
        }
    }
}

/// A message for traces: the header that says it, without what a link adds, and its data.
pub fn body_of(message: &Message) -> Body {
    let header = Header {
        op: message.op,
        vc: message.vc,
        tag: message.tag,
        rid: message.rid,
        size: if message.data.is_empty() { message.size } else { (message.data_flits() - 1) as u8 },
        ep: message.ep,
        be: message.be.is_some(),
        atag: message.atag,
        address: message.address & ((1 << 38) - 1),
        ..Header::default()
    };
    let data = (!message.data.is_empty()).then(|| message.data.clone());
    Body::Message { layout: Header::DEF, bits: header.to_bits().unwrap_or(0), data }
}

impl Module for Port {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        if self.ports.packets.is_on() {
            self.end.keep_packets();
        }
        self.end.hooks().instant(self.end.stats().sent_flits, at.t_fs);
        let holds = at.cycle < self.hold_until_flits;
        self.end.hold_credits(holds);
        self.arrivals(cx, at);
        let stalled_until = self.stalled_until(at.cycle);
        if stalled_until.is_none() {
            self.deliver(cx);
        }
        if at.cycle >= self.packet_ends {
            if let Some(burst) = self.under_way.take() {
                self.ports.wire_out.push(cx, burst);
            }
            self.fetch(cx);
            if !self.end.is_quiet() && !self.end.is_down() {
                self.begin(at);
            }
        }
        self.judge(cx);
        self.show(at);
        let quiet = self.end.is_quiet();
        self.busy_since = if quiet { None } else { self.busy_since.or(Some(cx.now())) };
        let packet_ends = self.under_way.as_ref().map(|_| self.packet_ends);
        let released = (holds && packet_ends.is_none()).then_some(self.hold_until_flits);
        match packet_ends.into_iter().chain(released).chain(stalled_until).min() {
            Some(cycle) => Next::At(cx.in_cycles(cycle - at.cycle)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let since = self.busy_since.unwrap_or(Time::ZERO);
        if self.end.is_down() {
            return Err(Pending::new("the link is down (NVL-RPL-05)", self.down_since.unwrap_or(since)));
        }
        if self.end.is_quiet() {
            return Ok(());
        }
        let waiting: usize = CHANNELS.iter().map(|&vc| self.end.waiting(vc)).sum();
        let received: usize = CHANNELS.iter().map(|&vc| self.end.received(vc)).sum();
        let open = self.end.transmitter().unacknowledged_flits();
        let what =
            format!("{waiting} messages to send, {received} received and not taken, {open} flits unacknowledged");
        Err(Pending::new(what, since))
    }

    fn publish(&self) {
        let credits = self.end.credits();
        let both = |c: super::credit::Count| [c.headers, c.data_flits];
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = PortResult {
            stats: *self.end.stats(),
            damaged: self.wire.damaged,
            down: self.end.is_down(),
            time: self.time,
            spend: CHANNELS.map(|vc| both(credits.available(vc))),
            granted: CHANNELS.map(|vc| both(credits.granted(vc))),
            ..self.mine.clone()
        };
    }

    fn is_done(&self) -> bool {
        !self.end.is_down() && self.end.is_done()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("next_id", self.end.transmitter().next_id().into());
        visit("accepted_id", self.end.receiver().accepted().into());
    }
}
