//! An [`NvlEnd`] as a module of the kernel. Basis: model.
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

use super::end::{NvlEnd, PROTOCOL, Stats};
use super::flit::NvlFlit;
use super::message::NvlMessage;
use super::stall::{Stall, WINDOW_CYCLES};
use crate::event::finding;
use crate::fault::FaultyWire;
use crate::hook::{Direction, Hooks};
use crate::port::{Frame, FrameConfig, PortResult, on_wire};
use scalepool_kernel::{Cx, In, LinkIn, LinkOut, Module, Next, Out, Pending};
use scalepool_protocols::nvlink::{NvlHeader, Vc};
use scalepool_protocols::wire::Wire;
use scalepool_trace::{Body, PlaceKind, Stamp, Tap};
use std::sync::{Arc, Mutex};

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
    pub flits: Vec<NvlFlit>,
    /// A fault input changed one of them.
    pub damaged: bool,
}

/// Packets of a direction as they arrive and as they are accepted; the signals of the link stand beside them.
pub const fn shows(dir: &'static str) -> PlaceKind {
    PlaceKind::Flits { protocol: PROTOCOL, dir }
}

/// What the report of a run needs of a port.
#[derive(Debug, Clone, Default)]
pub struct NvlReport {
    /// Counters of the end.
    pub stats: Stats,
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
    /// Credits to spend, headers and data flits, of each of [`CHANNELS`].
    pub spend: [[u64; 2]; 3],
    /// Credits that the peer has to spend, as far as this end knows.
    pub granted: [[u64; 2]; 3],
}

impl NvlReport {
    /// What is not in its place when nothing is under way any more: messages that neither arrived nor came back, credits
    /// that neither end has. Each is a text of what was found and one of what was expected.
    pub fn astray(&self, peer: &NvlReport) -> Vec<(String, String)> {
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

/// Most messages a channel that wait in the end; the rest waits in the producer's channel.
const QUEUE_DEPTH: usize = 2;

/// Channel ends, wire ends and taps of a port.
pub struct Ports {
    /// Messages to send, by [`CHANNELS`].
    pub tx: [In<NvlMessage>; 3],
    /// Messages received, by [`CHANNELS`].
    pub rx: [Out<NvlMessage>; 3],
    /// To the peer.
    pub wire_out: LinkOut<Burst>,
    /// From the peer.
    pub wire_in: LinkIn<Burst>,
    /// Packets received, see [`shows`].
    pub packets: Tap,
    /// [`LinkEnd::SIGNALS`](crate::port::LinkEnd::SIGNALS) of the end.
    pub signals: Tap,
}

/// Inputs of a port besides its ends.
pub struct PortConfig {
    /// The link end.
    pub end: NvlEnd,
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
pub struct NvlPort {
    frame: Frame<NvlEnd, NvlReport>,
    tx: [In<NvlMessage>; 3],
    rx: [Out<NvlMessage>; 3],
    wire_out: LinkOut<Burst>,
    wire_in: LinkIn<Burst>,
    hold_until_flits: u64,
    stall: Stall,
    /// The window in which something was held back last.
    stalled_window: Option<u64>,
    /// The packet that goes, and the clock at which its last flit has gone.
    under_way: Option<Burst>,
    packet_ends: u64,
    /// What the port counts beside its end.
    mine: NvlReport,
}

impl NvlPort {
    /// A port; `result` is filled when the run is looked at.
    pub fn new(config: PortConfig, ports: Ports, result: Arc<Mutex<PortResult<NvlReport>>>) -> NvlPort {
        let PortConfig { mut end, wire, hold_credits_flits, stall, dir, hooks, give_up } = config;
        let Ports { tx, rx, wire_out, wire_in, packets: flits, signals } = ports;
        end.attach_hooks(&hooks);
        NvlPort {
            frame: Frame::new(FrameConfig { end, wire, dir, give_up, flits, signals }, result),
            tx,
            rx,
            wire_out,
            wire_in,
            hold_until_flits: hold_credits_flits,
            stall,
            stalled_window: None,
            under_way: None,
            packet_ends: 0,
            mine: NvlReport::default(),
        }
    }

    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(Burst { flits, damaged }) = self.wire_in.pop(cx) {
            if !flits.is_empty() {
                self.frame.came(at, || flits.iter().flat_map(|flit| flit.0).collect());
            }
            let mut hooked = false;
            for flit in flits {
                for (flit, other) in on_wire(self.frame.end.hooks(), Direction::Rx, PROTOCOL, flit) {
                    hooked |= other;
                    NvlEnd::receive(&mut self.frame.end, &flit);
                }
            }
            self.frame.taken(at);
            self.frame.report(damaged || hooked, at);
        }
    }

    /// The clock until which messages that are here are held back.
    fn stalled_until(&mut self, cycle: u64) -> Option<u64> {
        if CHANNELS.iter().all(|&vc| self.frame.end.received(vc) == 0) {
            return None;
        }
        let until = self.stall.until(cycle)?;
        let window = cycle / WINDOW_CYCLES;
        self.mine.stalled_windows += u64::from(self.stalled_window.replace(window) != Some(window));
        Some(until)
    }

    fn deliver(&mut self, cx: &mut Cx) {
        for (n, vc) in CHANNELS.into_iter().enumerate() {
            while self.frame.end.received(vc) > 0 && self.rx[n].has_room(cx, 1) {
                let Some(message) = self.frame.end.take(vc) else { break };
                self.mine.delivered[n] += 1;
                if self.rx[n].push(cx, message).is_err() {
                    break;
                }
            }
        }
    }

    fn fetch(&mut self, cx: &mut Cx) {
        for (n, vc) in CHANNELS.into_iter().enumerate() {
            while self.frame.end.waiting(vc) < QUEUE_DEPTH
                && let Some(message) = self.tx[n].pop(cx)
            {
                self.mine.taken[n] += 1;
                if let Err(refused) = self.frame.end.send(NvlMessage { vc, ..message }) {
                    let text = "the message cannot be sent as a packet";
                    self.frame.refused(finding("NVL-PKT-04", refused, "a legal message", text));
                }
            }
        }
    }

    /// The next packet, which takes as many clocks as it has flits.
    fn begin(&mut self, at: Stamp) {
        let packets = self.frame.end.stats().sent_packets;
        let (mut flits, mut damaged) = (Vec::new(), false);
        self.packet_ends = at.cycle;
        loop {
            let flit = NvlEnd::transmit(&mut self.frame.end);
            self.frame.leaves(flit, |arriving| {
                damaged |= arriving.damaged;
                flits.push(arriving.unit);
            });
            self.packet_ends += 1;
            if self.frame.end.is_between_packets() {
                break;
            }
        }
        let uses = self.frame.end.uses();
        self.frame.account(self.packet_ends - at.cycle, &uses);
        let waits = CHANNELS.iter().any(|&vc| self.frame.end.waiting(vc) > 0);
        self.mine.credit_stalls += u64::from(waits && self.frame.end.stats().sent_packets == packets);
        self.under_way = Some(Burst { flits, damaged });
        self.frame.report(false, at);
    }
}

/// A message for traces: the header that says it, without what a link adds, and its data.
pub fn body_of(message: &NvlMessage) -> Body {
    let header = NvlHeader {
        op: message.op,
        vc: message.vc,
        tag: message.tag,
        rid: message.rid,
        size: if message.data.is_empty() { message.size } else { (message.data_flits() - 1) as u8 },
        ep: message.ep,
        be: message.be.is_some(),
        atag: message.atag,
        address: message.address & ((1 << 38) - 1),
        ..NvlHeader::default()
    };
    let data = (!message.data.is_empty()).then(|| message.data.clone());
    Body::Message { layout: NvlHeader::DEF, bits: header.to_bits().unwrap_or(0), data }
}

impl Module for NvlPort {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        let sent_flits = self.frame.end.stats().sent_flits;
        self.frame.begins(sent_flits, at);
        self.frame.pass_time(at.cycle);
        let holds = at.cycle < self.hold_until_flits;
        self.frame.end.hold_credits(holds);
        self.arrivals(cx, at);
        let stalled_until = self.stalled_until(at.cycle);
        if stalled_until.is_none() {
            self.deliver(cx);
        }
        if at.cycle >= self.packet_ends {
            if let Some(burst) = self.under_way.take() {
                self.wire_out.push(cx, burst);
            }
            self.fetch(cx);
            if !self.frame.end.is_quiet() && !self.frame.end.is_down() {
                self.begin(at);
            }
        }
        self.frame.judge(cx, |_| false, at);
        self.frame.show(at);
        let busy = !self.frame.end.is_quiet();
        self.frame.is_busy(busy, cx.now());
        let packet_ends = self.under_way.as_ref().map(|_| self.packet_ends);
        let released = (holds && packet_ends.is_none()).then_some(self.hold_until_flits);
        match packet_ends.into_iter().chain(released).chain(stalled_until).min() {
            Some(cycle) => Next::In(cycle - at.cycle),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        self.frame.idle_ok(!self.frame.end.is_quiet())
    }

    fn publish(&self) {
        let credits = self.frame.end.credits();
        let both = |c: super::credit::NvlCreditCount| [c.headers, c.data_flits];
        self.frame.publish(NvlReport {
            stats: *self.frame.end.stats(),
            down: self.frame.end.is_down(),
            spend: CHANNELS.map(|vc| both(credits.available(vc))),
            granted: CHANNELS.map(|vc| both(credits.granted(vc))),
            ..self.mine.clone()
        });
    }

    fn is_done(&self) -> bool {
        !self.frame.end.is_down() && self.frame.end.is_done()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("next_id", self.frame.end.transmitter().next_id().into());
        visit("accepted_id", self.frame.end.receiver().accepted().into());
    }
}
