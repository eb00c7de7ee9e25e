//! The side between an [`NvlEnd`] and its wires, and its channels of messages. Basis: model.
//!
//! Modelled: one flit a flit clock, one channel of messages for each virtual channel and direction, so that a channel without
//! credit holds up no other. Detail: the flits of a packet travel as one burst that takes their clocks and is there with the
//! last of them, so what a header says is heard when its packet ends; the latency of PHY, data link and lanes is the latency of
//! the kernel link between two ports. While nothing is open the port sleeps: the IDLE flits that a wire would carry then say
//! nothing, are not modelled and do not count. Left out: what the messages mean.
//!
//! A walk through one flit clock: flits that are due are received, events are recorded; accepted messages go to the
//! consumer as far as its channels have room, which frees their buffers; where a packet ends, messages of the producer move
//! into the queues of the end, the packet leaves, and the next one begins, unless nothing is open.

use super::end::{NvlEnd, PROTOCOL, Stats};
use super::flit::NvlFlit;
use super::message::NvlMessage;
use super::stall::{Stall, WINDOW_CYCLES};
use crate::event::finding;
use crate::hook::Direction;
use crate::port::{Frame, PortAgent, PortEnd, PortPhy, Reports, on_wire};
use scalepool_kernel::{Cx, In, Next, Out};
use scalepool_protocols::nvlink::{NvlHeader, Vc};
use scalepool_protocols::wire::{Violation, Wire};
use scalepool_trace::{Body, PlaceKind, Stamp};

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

impl Reports for NvlEnd {
    type Report = NvlReport;

    fn report(&self) -> NvlReport {
        let credits = self.credits();
        let both = |c: super::credit::NvlCreditCount| [c.headers, c.data_flits];
        NvlReport {
            stats: *self.stats(),
            delivered: CHANNELS.map(|vc| self.messages(vc)[1]),
            taken: CHANNELS.map(|vc| self.messages(vc)[0]),
            credit_stalls: 0,
            stalled_windows: 0,
            down: self.is_down(),
            spend: CHANNELS.map(|vc| both(credits.available(vc))),
            granted: CHANNELS.map(|vc| both(credits.granted(vc))),
        }
    }
}

impl PortEnd for NvlEnd {
    type Item = Burst;
    type Phy = PacketPhy;
}

/// Most messages a channel that wait in the end; the rest waits in the producer's channel.
const QUEUE_DEPTH: usize = 2;

/// Channels between an agent and its port, by [`CHANNELS`].
pub struct VcChannels {
    /// Messages to send.
    pub tx: [In<NvlMessage>; 3],
    /// Messages received.
    pub rx: [Out<NvlMessage>; 3],
}

impl PortAgent<NvlEnd> for VcChannels {
    fn deliver(&mut self, end: &mut NvlEnd, cx: &mut Cx) {
        for (vc, rx) in CHANNELS.into_iter().zip(&mut self.rx) {
            while end.received(vc) > 0 && rx.has_room(cx, 1) {
                let Some(message) = end.take(vc) else { break };
                // Room was asked for before.
                let _ = rx.push(cx, message);
            }
        }
    }

    fn fetch(&mut self, end: &mut NvlEnd, cx: &mut Cx, refused: &mut Vec<Violation>) {
        for (vc, tx) in CHANNELS.into_iter().zip(&mut self.tx) {
            while end.waiting(vc) < QUEUE_DEPTH
                && let Some(message) = tx.pop(cx)
            {
                if let Err(error) = end.send(NvlMessage { vc, ..message }) {
                    let text = "the message cannot be sent as a packet";
                    refused.push(finding("NVL-PKT-04", error, "a legal message", text));
                }
            }
        }
    }

    fn is_due(&self, cx: &Cx) -> bool {
        self.tx.iter().any(|tx| tx.is_due(cx))
    }
}

/// The flits of packets between an end and its wires.
#[derive(Debug)]
pub struct PacketPhy {
    hold_until_flits: u64,
    stall: Stall,
    /// The clock until which messages that are here are held back.
    stalled_until: Option<u64>,
    /// The window in which something was held back last, and how many there were.
    stalled_window: Option<u64>,
    stalled_windows: u64,
    credit_stalls: u64,
    /// The packet that goes, and the clock at which its last flit has gone.
    under_way: Option<Burst>,
    packet_ends: u64,
}

impl PacketPhy {
    /// The side of an end after reset, which holds credits back for so many flit clocks from the start (0 for none), and whose
    /// consumer takes nothing now and then.
    pub fn new(hold_credits_flits: u64, stall: Stall) -> PacketPhy {
        PacketPhy {
            hold_until_flits: hold_credits_flits,
            stall,
            stalled_until: None,
            stalled_window: None,
            stalled_windows: 0,
            credit_stalls: 0,
            under_way: None,
            packet_ends: 0,
        }
    }

    fn stalls(&mut self, end: &NvlEnd, cycle: u64) -> Option<u64> {
        if CHANNELS.iter().all(|&vc| end.received(vc) == 0) {
            return None;
        }
        let until = self.stall.until(cycle)?;
        let window = cycle / WINDOW_CYCLES;
        self.stalled_windows += u64::from(self.stalled_window.replace(window) != Some(window));
        Some(until)
    }

    /// The next packet, which takes as many clocks as it has flits.
    fn begin(&mut self, frame: &mut Frame<NvlEnd>, at: Stamp) {
        let packets = frame.end.stats().sent_packets;
        let (mut flits, mut damaged) = (Vec::new(), false);
        self.packet_ends = at.cycle;
        loop {
            let flit = NvlEnd::transmit(&mut frame.end);
            frame.leaves(flit, |_, arriving| {
                damaged |= arriving.damaged;
                flits.push(arriving.unit);
            });
            self.packet_ends += 1;
            if frame.end.is_between_packets() {
                break;
            }
        }
        let uses = NvlEnd::uses(&frame.end);
        frame.account(self.packet_ends - at.cycle, &uses);
        let waits = CHANNELS.iter().any(|&vc| frame.end.waiting(vc) > 0);
        self.credit_stalls += u64::from(waits && frame.end.stats().sent_packets == packets);
        self.under_way = Some(Burst { flits, damaged });
        frame.report(false, at);
    }
}

impl PortPhy<NvlEnd> for PacketPhy {
    fn begins(&mut self, frame: &mut Frame<NvlEnd>, _: &mut Cx, at: Stamp) {
        frame.begins(frame.end.stats().sent_flits, at);
        frame.pass_time(at.cycle);
        frame.end.hold_credits(at.cycle < self.hold_until_flits);
    }

    fn arrives(&mut self, frame: &mut Frame<NvlEnd>, Burst { flits, damaged }: Burst, _: &mut Cx, at: Stamp) {
        if !flits.is_empty() {
            frame.came(at, || flits.iter().flat_map(|flit| flit.0).collect());
        }
        let mut hooked = false;
        for flit in flits {
            for (flit, other) in on_wire(frame.end.hooks(), Direction::Rx, PROTOCOL, flit) {
                hooked |= other;
                NvlEnd::receive(&mut frame.end, &flit);
            }
        }
        frame.taken(at);
        frame.report(damaged || hooked, at);
    }

    fn delivers(&mut self, end: &NvlEnd, at: Stamp) -> bool {
        self.stalled_until = self.stalls(end, at.cycle);
        self.stalled_until.is_none()
    }

    fn fetches(&self, at: Stamp) -> bool {
        at.cycle >= self.packet_ends
    }

    fn sends(&mut self, frame: &mut Frame<NvlEnd>, cx: &mut Cx, at: Stamp) {
        if at.cycle >= self.packet_ends {
            if let Some(burst) = self.under_way.take() {
                frame.wire_out.push(cx, burst);
            }
            if !NvlEnd::is_quiet(&frame.end) && !frame.end.is_down() {
                self.begin(frame, at);
            }
        }
        frame.judge(cx, |_| false, at);
    }

    fn next(&self, _: &NvlEnd, _: &Cx, at: Stamp, _: impl FnOnce(&Cx) -> bool) -> Next {
        let packet_ends = self.under_way.as_ref().map(|_| self.packet_ends);
        let holds = at.cycle < self.hold_until_flits;
        let released = (holds && packet_ends.is_none()).then_some(self.hold_until_flits);
        match packet_ends.into_iter().chain(released).chain(self.stalled_until).min() {
            Some(cycle) => Next::In(cycle - at.cycle),
            None => Next::Idle,
        }
    }

    fn is_up(&self, end: &NvlEnd) -> bool {
        !end.is_down()
    }

    fn completes(&self, report: &mut NvlReport) {
        report.credit_stalls = self.credit_stalls;
        report.stalled_windows = self.stalled_windows;
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
