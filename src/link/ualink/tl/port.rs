//! An end of a UALink with its wires, as a part of a module of the kernel.
//!
//! Modelled: one code word a flit clock, code words that carry no flit, the faulty wire behind the transmitter. Detail: the
//! latency of pipelines and lanes is that of the kernel link between two ports. Left out: what transactions mean.
//!
//! A real link never rests: NOP flits go on for ever. Those that carry no news are skipped, or no simulation would end. So
//! each item on the wire says whether its sender still waits for something; whoever gets such a one answers with a flit of
//! its own, even if that is a NOP, because the answer carries an Ack.
//!
//! A walk through one flit clock: [`LinkPort::receive`] takes what is due on the wire; the owner moves transactions between
//! [`LinkPort::tl`] and its channels; [`LinkPort::transmit`] sends one item, if the code word has room for it and there is
//! anything to say, and tells whether the next clock has work too.

use super::{Tl, TlClass, TlStats};
use crate::event::finding;
use crate::fault::FaultyWire;
use crate::hook::Direction;
use crate::line_time::{LineTimeParts, Use};
use crate::port::{Frame, FrameConfig, LinkEnd, PortResult, on_wire};
use crate::ualink::line::{CodeWord, UalLine};
use crate::ualink::state::Fault;
use crate::ualink::{OnLine, Stats, UalEnd};
use scalepool_kernel::{Cx, LinkIn, LinkOut, Pending, Rng, Time};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Stamp, Tap};
use std::sync::{Arc, Mutex};

/// What travels between two ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UalWireItem {
    /// A flit, or what stands in its place.
    pub item: OnLine,
    /// The sender waits for something.
    pub waits: bool,
}

/// What the report of a run needs of a port.
#[derive(Debug, Clone, Default)]
pub struct UalReport {
    /// Counters of the data link layer.
    pub link: Stats,
    /// Counters of the transaction layer.
    pub tl: TlStats,
    /// DL flits sent.
    pub flits: u64,
    /// Payload flits among them are sent again after that many requests.
    pub replays: u64,
    /// Credits that are not where they were at the start.
    pub astray: u64,
    /// Flits kept for replay.
    pub kept: usize,
}

/// Wires and taps of a port.
pub struct PortWires {
    /// To the peer.
    pub wire_out: LinkOut<UalWireItem>,
    /// From the peer.
    pub wire_in: LinkIn<UalWireItem>,
    /// Received flits.
    pub flits: Tap,
    /// Signals of the link.
    pub signals: Tap,
}

/// Back-pressure at will. Drawn only where something waits, so looking at a port that rests changes nothing.
#[derive(Debug, Default)]
struct Stall {
    percent: u64,
    rng: Option<Rng>,
}

impl Stall {
    fn draw(&mut self) -> bool {
        self.percent > 0 && self.rng.as_mut().is_some_and(|rng| rng.ratio(self.percent, 100))
    }
}

/// Inputs of a port besides its wires.
pub struct PortConfig {
    /// The link end.
    pub end: UalEnd<Tl>,
    /// Code words of its line.
    pub line: UalLine,
    /// Faults of its transmitter.
    pub wire: FaultyWire,
    /// Direction of what it receives, in traces.
    pub dir: &'static str,
    /// Replays in vain after which the run ends.
    pub give_up: u32,
}

/// A link end with its wires.
pub struct LinkPort {
    frame: Frame<UalEnd<Tl>, UalReport>,
    line: UalLine,
    wire_out: LinkOut<UalWireItem>,
    wire_in: LinkIn<UalWireItem>,
    started: bool,
    /// The peer waits for a flit of ours.
    answer: bool,
    /// From when until when the layer below reports a fault, until that is over.
    outage: Option<(Time, Time)>,
    flits: u64,
    stall: Stall,
}

impl LinkPort {
    /// A port after reset. Its counters are in `result` when it publishes them.
    pub fn new(config: PortConfig, wires: PortWires, result: Arc<Mutex<PortResult<UalReport>>>) -> LinkPort {
        let PortConfig { end, line, wire, dir, give_up } = config;
        let PortWires { wire_out, wire_in, flits, signals } = wires;
        LinkPort {
            frame: Frame::new(FrameConfig { end, wire, dir, give_up, flits, signals }, result),
            line,
            wire_out,
            wire_in,
            started: false,
            answer: false,
            outage: None,
            flits: 0,
            stall: Stall::default(),
        }
    }

    /// The layer below reports a local fault from one time until another: the link goes down and comes up again.
    #[must_use]
    pub fn with_outage(mut self, from: Time, until: Time) -> LinkPort {
        self.outage = Some((from, until));
        self
    }

    /// What is received is not taken in `percent` of 100 flit clocks, for each class by itself.
    #[must_use]
    pub fn with_stalls(mut self, percent: u64, rng: Rng) -> LinkPort {
        self.stall = Stall { percent, rng: Some(rng) };
        self
    }

    /// The next received transaction of a class, if there is one and this clock is not stalled.
    pub fn may_take(&mut self, class: TlClass) -> bool {
        self.frame.end.client.received(class) > 0 && !self.stall.draw()
    }

    /// When an outage begins or ends, if there is one to come.
    pub fn wakes_at(&self, now: Time) -> Option<Time> {
        self.outage.map(|(from, until)| if now < from { from } else { until })
    }

    fn follow_outage(&mut self, now: Time) {
        if let Some((from, until)) = self.outage {
            if now >= until {
                self.outage = None;
                self.frame.end.line_fault(None);
            } else if now >= from {
                self.frame.end.line_fault(Some(Fault::Local));
            }
        }
    }

    /// Its transaction layer.
    pub fn tl(&mut self) -> &mut Tl {
        &mut self.frame.end.client
    }

    /// Something is to be sent, waited for or taken, or the peer waits for an answer.
    pub fn is_busy(&self) -> bool {
        !self.started || self.answer || !self.frame.end.is_quiet()
    }

    /// Takes what is due on the wire; tells whether anything came.
    pub fn receive(&mut self, cx: &mut Cx) -> bool {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.frame.begins(at.cycle, at);
        self.frame.pass_time(at.cycle);
        if !self.started {
            self.started = true;
            self.frame.end.line_fault(None);
        }
        self.follow_outage(cx.now());
        let mut came = false;
        while let Some(UalWireItem { mut item, waits }) = self.wire_in.pop(cx) {
            came = true;
            self.answer |= waits;
            if !self.frame.end.hooks().looks_at_wire(Direction::Rx) {
                self.frame.takes_in(&mut item, false, at.cycle, at);
                continue;
            }
            for (item, _) in on_wire(self.frame.end.hooks(), Direction::Rx, self.frame.end.protocol(), item) {
                self.frame.arrives(&item, false, at.cycle, at);
            }
        }
        came
    }

    /// A transaction of the owner that cannot be sent: a mistake that is shown, not hidden.
    pub fn refuse(&mut self, text: &str) {
        self.frame.refused(finding("UAL-SIZ-02", "an illegal transaction", "a legal one", text));
    }

    /// A broken rule that the owner has seen in what came over this link.
    pub fn broken(&mut self, violation: Violation, at: Stamp) {
        self.frame.broken(violation, at);
    }

    /// Sends one item, if this code word carries one and there is anything to say; tells whether the next clock has work
    /// too.
    pub fn transmit(&mut self, cx: &mut Cx) -> bool {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        let mut busy = self.is_busy();
        if busy && self.line.code_word(at.cycle) != CodeWord::Flit {
            self.frame.account(1, &LineTimeParts::all(Use::Control));
        } else if busy {
            self.answer = false;
            let item = self.frame.transmit(at.cycle);
            let waits = !self.frame.end.is_quiet();
            busy = waits || !self.started;
            if let Some(item) = item {
                self.flits += u64::from(matches!(item, OnLine::Flit(_) | OnLine::Content(..)));
                let out = &mut self.wire_out;
                self.frame.leaves(item, |arriving| out.push(cx, UalWireItem { item: arriving.unit, waits }));
            }
            self.frame.report(false, at);
        }
        self.frame.judge(cx, |_| false, at);
        self.frame.show(at);
        self.frame.is_busy(busy, cx.now());
        busy
    }

    /// What is open.
    ///
    /// # Errors
    /// Work that is not done.
    pub fn idle_ok(&self) -> Result<(), Pending> {
        self.frame.idle_ok(self.is_busy())
    }

    /// Leaves its counters in its result.
    pub fn publish(&self) {
        let tl = &self.frame.end.client;
        self.frame.publish(UalReport {
            link: *self.frame.end.stats(),
            tl: *tl.stats(),
            flits: self.flits,
            replays: self.frame.end.replay().stats().replays,
            astray: tl.credits().total().total() - tl.credits().has().total(),
            kept: self.frame.end.replay().unacknowledged(),
        });
    }

    /// Named state for reports.
    pub fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("credits", self.frame.end.client.credits().has().total());
        visit("credits_due", self.frame.end.client.buffers().due().total());
    }
}
