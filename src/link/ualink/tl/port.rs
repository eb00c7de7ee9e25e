//! The side between an end of a UALink and its wires.
//!
//! Modelled: one code word a flit clock, code words that carry no flit, faults of the line. Detail: the latency of pipelines and
//! lanes is that of the kernel link between two ports. Left out: what transactions mean.
//!
//! A real link never rests: NOP flits go on for ever. Those that carry no news are skipped, or no simulation would end. So
//! each item on the wire says whether its sender still waits for something; whoever gets such a one answers with a flit of
//! its own, even if that is a NOP, because the answer carries an Ack.
//!
//! A walk through one flit clock: the line comes up, or follows an outage; what is due on the wire is taken; one item is sent,
//! if the code word has room for it and there is anything to say.

use super::{Tl, TlStats};
use crate::event::finding;
use crate::hook::Direction;
use crate::line_time::{LineTimeParts, Use};
use crate::port::{Frame, LinkEnd, PortEnd, PortPhy, Reports, on_wire};
use crate::ualink::line::{CodeWord, UalLine};
use crate::ualink::state::Fault;
use crate::ualink::{OnLine, Stats, UalEnd};
use scalepool_kernel::{Cx, Next, Time};
use scalepool_protocols::ualink::pack::PackError;
use scalepool_protocols::wire::Violation;
use scalepool_trace::Stamp;

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

impl Reports for UalEnd<Tl> {
    type Report = UalReport;

    fn report(&self) -> UalReport {
        let tl = &self.client;
        UalReport {
            link: *self.stats(),
            tl: *tl.stats(),
            flits: self.flits()[0],
            replays: self.replay().stats().replays,
            astray: tl.credits().total().total() - tl.credits().has().total(),
            kept: self.replay().unacknowledged(),
        }
    }
}

impl PortEnd for UalEnd<Tl> {
    type Item = UalWireItem;
    type Phy = CodeWordPhy;
}

/// What a transaction of a user is that cannot be sent: a mistake that is shown, not hidden.
pub fn illegal(refused: &PackError) -> Violation {
    finding("UAL-SIZ-02", "an illegal transaction", "a legal one", &refused.to_string())
}

/// The code words under an end.
#[derive(Debug)]
pub struct CodeWordPhy {
    line: UalLine,
    started: bool,
    /// The peer waits for a flit of ours.
    answer: bool,
    /// From when until when the layer below reports a fault, until that is over.
    outage: Option<(Time, Time)>,
}

impl CodeWordPhy {
    /// The side of an end after reset. In an outage, from one time until another, the layer below reports a local fault: the
    /// link goes down and comes up again.
    pub fn new(line: UalLine, outage: Option<(Time, Time)>) -> CodeWordPhy {
        CodeWordPhy { line, started: false, answer: false, outage }
    }

    fn follow_outage(&mut self, end: &mut UalEnd<Tl>, now: Time) {
        if let Some((from, until)) = self.outage {
            if now >= until {
                self.outage = None;
                end.line_fault(None);
            } else if now >= from {
                end.line_fault(Some(Fault::Local));
            }
        }
    }
}

impl PortPhy<UalEnd<Tl>> for CodeWordPhy {
    fn begins(&mut self, frame: &mut Frame<UalEnd<Tl>>, cx: &mut Cx, at: Stamp) {
        frame.begins(at.cycle, at);
        frame.pass_time(at.cycle);
        if !self.started {
            self.started = true;
            frame.end.line_fault(None);
        }
        self.follow_outage(&mut frame.end, cx.now());
    }

    fn arrives(&mut self, frame: &mut Frame<UalEnd<Tl>>, item: UalWireItem, _: &mut Cx, at: Stamp) {
        let UalWireItem { mut item, waits } = item;
        self.answer |= waits;
        if !frame.end.hooks().looks_at_wire(Direction::Rx) {
            frame.takes_in(&mut item, false, at.cycle, at);
            return;
        }
        for (item, _) in on_wire(frame.end.hooks(), Direction::Rx, frame.end.protocol(), item) {
            frame.arrives(&item, false, at.cycle, at);
        }
    }

    fn sends(&mut self, frame: &mut Frame<UalEnd<Tl>>, cx: &mut Cx, at: Stamp) {
        let busy = self.is_busy(&frame.end);
        if busy && self.line.code_word(at.cycle) != CodeWord::Flit {
            frame.account(1, &LineTimeParts::all(Use::Control));
        } else if busy {
            self.answer = false;
            let item = frame.transmit(at.cycle);
            let waits = !frame.end.is_quiet();
            if let Some(item) = item {
                frame.leaves(item, |out, arriving| out.push(cx, UalWireItem { item: arriving.unit, waits }));
            }
            frame.report(false, at);
        }
        frame.judge(cx, |_| false, at);
    }

    fn next(&self, end: &UalEnd<Tl>, cx: &Cx, _: Stamp, _: impl FnOnce(&Cx) -> bool) -> Next {
        match self.outage {
            _ if self.is_busy(end) => Next::Busy,
            Some((from, until)) => Next::At(if cx.now() < from { from } else { until }),
            None => Next::Idle,
        }
    }

    /// Something is to be sent, waited for or taken, or the peer waits for an answer.
    fn is_busy(&self, end: &UalEnd<Tl>) -> bool {
        !self.started || self.answer || !end.is_quiet()
    }
}
