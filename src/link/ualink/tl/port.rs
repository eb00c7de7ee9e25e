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
//! anything to say; [`LinkPort::is_busy`] tells whether the next clock has work too.

use super::{Tl, TlClass, TlStats};
use crate::event::{Event, Severity};
use crate::fault::FaultyWire;
use crate::hook::{Direction, Hooks};
use crate::line_time::{LineTime, Parts, Use};
use crate::port::{GIVE_UP_RULE, given_up};
use crate::ualink::line::{CodeWord, Line};
use crate::ualink::state::{Fault, State};
use crate::ualink::{End, EndConfig, OnLine, Stats};
use scalepool_kernel::{Cx, LinkIn, LinkOut, Pending, Rng, Time};
use scalepool_protocols::ualink::flit::{FLIT_BYTES, Flit};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, Kind, Stamp, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// What travels between two ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UalWireItem {
    /// A flit, or what stands in its place.
    pub item: OnLine,
    /// The sender waits for something.
    pub waits: bool,
}

/// Signals of a port in waves, with their widths in bits.
pub const SIGNALS: &[(&str, u32)] = &[
    ("state", 2),
    ("requests_waiting", 16),
    ("responses_waiting", 16),
    ("credits", 16),
    ("credits_due", 16),
    ("carry_sectors", 4),
];

/// What a port leaves behind for the report of the run.
#[derive(Debug, Clone, Default)]
pub struct PortResult {
    /// Counters of the data link layer.
    pub link: Stats,
    /// Counters of the transaction layer.
    pub tl: TlStats,
    /// DL flits sent.
    pub flits: u64,
    /// Payload flits among them are sent again after that many requests.
    pub replays: u64,
    /// Broken rules of the peer, without what the link repaired.
    pub violations: Vec<Event>,
    /// Flits that the fault inputs of its transmitter changed, lost or doubled.
    pub damaged: u64,
    /// Credits that are not where they were at the start.
    pub astray: u64,
    /// Flits kept for replay.
    pub kept: usize,
    /// Where the time of what it sends has gone, without what it left idle.
    pub time: LineTime,
}

/// Most broken rules that a port keeps one by one.
const MOST_VIOLATIONS: usize = 100;

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

/// A link end with its wires.
pub struct LinkPort {
    end: End<Tl>,
    line: Line,
    dir: &'static str,
    wires: PortWires,
    wire: FaultyWire,
    started: bool,
    /// The peer waits for a flit of ours.
    answer: bool,
    /// From when until when the layer below reports a fault, until that is over.
    outage: Option<(Time, Time)>,
    flits: u64,
    shown: [Option<u64>; SIGNALS.len()],
    violations: Vec<Event>,
    busy_since: Option<Time>,
    stall: Stall,
    time: LineTime,
    /// Replays in vain after which the run ends; `None`: never, or it has been said.
    give_up: Option<u32>,
    result: Arc<Mutex<PortResult>>,
}

/// Bits of a flit.
const FLIT_BITS: u64 = 8 * FLIT_BYTES as u64;

impl LinkPort {
    /// A port after reset; `dir` is the direction of what it receives, in traces. Its counters are in `result` when it
    /// publishes them.
    pub fn new(
        config: EndConfig,
        tl: Tl,
        dir: &'static str,
        wire: FaultyWire,
        wires: PortWires,
        result: Arc<Mutex<PortResult>>,
    ) -> LinkPort {
        LinkPort {
            end: End::new(config, tl),
            line: config.line,
            dir,
            wires,
            wire,
            started: false,
            answer: false,
            outage: None,
            flits: 0,
            shown: [None; SIGNALS.len()],
            violations: Vec::new(),
            busy_since: None,
            stall: Stall::default(),
            time: LineTime::default(),
            give_up: None,
            result,
        }
    }

    /// The layer below reports a local fault from one time until another: the link goes down and comes up again.
    #[must_use]
    pub fn with_outage(mut self, from: Time, until: Time) -> LinkPort {
        self.outage = Some((from, until));
        self
    }

    /// Ends the run after so many replays in vain.
    #[must_use]
    pub fn giving_up_after(mut self, replays: u32) -> LinkPort {
        self.give_up = Some(replays);
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
        self.end.client.received(class) > 0 && !self.stall.draw()
    }

    /// When an outage begins or ends, if there is one to come.
    pub fn wakes_at(&self, now: Time) -> Option<Time> {
        self.outage.map(|(from, until)| if now < from { from } else { until })
    }

    fn follow_outage(&mut self, now: Time) {
        if let Some((from, until)) = self.outage {
            if now >= until {
                self.outage = None;
                self.end.line_fault(None);
            } else if now >= from {
                self.end.line_fault(Some(Fault::Local));
            }
        }
    }

    /// Takes hooks; those of before are gone.
    pub fn attach_hooks(&mut self, hooks: &Hooks) {
        self.end.attach_hooks(hooks);
    }

    /// Its transaction layer.
    pub fn tl(&mut self) -> &mut Tl {
        &mut self.end.client
    }

    /// Something is to be sent, waited for or taken, or the peer waits for an answer.
    pub fn is_busy(&self) -> bool {
        !self.started || self.answer || !self.end.is_quiet()
    }

    /// Takes what is due on the wire; tells whether anything came.
    pub fn receive(&mut self, cx: &mut Cx) -> bool {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.end.hooks().instant(at.cycle, at.t_fs);
        if !self.started {
            self.started = true;
            self.end.line_fault(None);
        }
        self.follow_outage(cx.now());
        let mut came = false;
        while let Some(arrived) = self.wires.wire_in.pop(cx) {
            came = true;
            self.answer |= arrived.waits;
            match arrived.item {
                OnLine::Flit(flit) if self.end.hooks().looks_at_wire(Direction::Rx) => {
                    for (flit, _) in self.end.hooks().wire(Direction::Rx, "ualink", *flit).into_iter().flatten() {
                        self.arrival(&OnLine::Flit(Arc::new(flit)), at);
                    }
                }
                item => self.arrival(&item, at),
            }
        }
        if came {
            self.report(at);
        }
        came
    }

    fn arrival(&mut self, item: &OnLine, at: Stamp) {
        if let OnLine::Flit(flit) = item {
            let dir = self.dir;
            self.wires.flits.record(at, Kind::Flit, 0, 0, || Body::Flit {
                protocol: "ualink",
                dir,
                bytes: flit.0.to_vec(),
            });
        }
        let before = self.end.replay().last_taken();
        self.end.receive(item, at.cycle);
        let number = self.end.replay().last_taken();
        if let OnLine::Flit(flit) = item
            && number != before
            && self.end.state() == State::Up
        {
            let bytes = || flit.0.to_vec();
            self.wires.flits.record(at, Kind::Mark, 0, 0, || Body::Taken { number, bytes: bytes() });
        }
    }

    /// Keeps events, without those of what the link repairs by itself; that it has left Up is counted with it.
    fn report(&mut self, at: Stamp) {
        for event in self.end.take_events() {
            let violation = &event.violation;
            self.wires.signals.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            let counts = !matches!(event.severity, Severity::Corrected | Severity::Retrain);
            if counts && self.violations.len() < MOST_VIOLATIONS {
                self.violations.push(event);
            }
        }
    }

    /// A transaction of the owner that cannot be sent: a mistake that is shown, not hidden.
    pub fn refuse(&mut self, text: &str) {
        let found = crate::event::finding("UAL-SIZ-02", "an illegal transaction", "a legal one", text);
        self.violations.push(Event { severity: Severity::Protocol, unit: 0, violation: found });
    }

    /// A broken rule that the owner has seen in what came over this link.
    pub fn broken(&mut self, violation: Violation, at: Stamp) {
        self.wires.signals.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
        if self.violations.len() < MOST_VIOLATIONS {
            self.violations.push(Event { severity: Severity::Protocol, unit: 0, violation });
        }
    }

    /// Sends one item, if this code word carries one and there is anything to say.
    pub fn transmit(&mut self, cx: &mut Cx) {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        let busy = self.is_busy();
        if busy && self.line.code_word(at.cycle) != CodeWord::Flit {
            self.time.add(FLIT_BITS, &Parts::all(Use::Control));
        } else if busy {
            self.answer = false;
            let item = self.end.transmit(at.cycle);
            self.time.add(FLIT_BITS, &self.end.uses());
            let waits = !self.end.is_quiet();
            match item {
                OnLine::Flit(flit) => {
                    self.flits += 1;
                    self.send(cx, flit, waits);
                }
                item => self.wires.wire_out.push(cx, UalWireItem { item, waits }),
            }
            self.report(at);
        }
        let tries = self.end.fruitless();
        if self.give_up.take_if(|most| tries >= *most).is_some() {
            let violation = given_up(tries, self.wire.ber());
            self.wires.signals.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            self.violations.push(Event { severity: Severity::Uncorrectable, unit: 0, violation });
            cx.give_up(GIVE_UP_RULE);
        }
        self.show(at);
        self.busy_since = if self.is_busy() { self.busy_since.or(Some(cx.now())) } else { None };
    }

    /// Sends a flit; most go as they are.
    fn send(&mut self, cx: &mut Cx, flit: Arc<Flit>, waits: bool) {
        let out = &mut self.wires.wire_out;
        if !self.end.hooks().looks_at_wire(Direction::Tx) && self.wire.sends_whole(FLIT_BYTES) {
            return out.push(cx, UalWireItem { item: OnLine::Flit(flit), waits });
        }
        for (leaves, _) in self.end.hooks().wire(Direction::Tx, "ualink", *flit).into_iter().flatten() {
            for flit in self.wire.send(leaves).into_iter().flatten() {
                out.push(cx, UalWireItem { item: OnLine::Flit(Arc::new(flit)), waits });
            }
        }
    }

    fn show(&mut self, at: Stamp) {
        if !self.wires.signals.is_on() {
            return;
        }
        let tl = &self.end.client;
        let values: [u64; SIGNALS.len()] = [
            self.end.state() as u64,
            tl.waiting(TlClass::Request) as u64,
            tl.waiting(TlClass::Response) as u64,
            tl.purse().has().total(),
            tl.stock().due().total(),
            self.end.carry() as u64,
        ];
        for (n, value) in values.into_iter().enumerate() {
            if self.shown[n] != Some(value) {
                self.shown[n] = Some(value);
                let signal = SIGNALS[n].0;
                self.wires.signals.record(at, Kind::Value, 0, 0, || Body::Value { signal, value });
            }
        }
    }

    /// What is open.
    ///
    /// # Errors
    /// Work that is not done.
    pub fn idle_ok(&self) -> Result<(), Pending> {
        if !self.is_busy() {
            return Ok(());
        }
        let tl = &self.end.client;
        let waiting = TlClass::ALL.map(|class| tl.waiting(class) + tl.received(class));
        let what =
            format!("link {}, {} requests and {} responses under way", self.end.state().name(), waiting[0], waiting[1]);
        Err(Pending::new(what, self.busy_since.unwrap_or(Time::ZERO)))
    }

    /// Leaves its counters in its result.
    pub fn publish(&self) {
        let tl = &self.end.client;
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = PortResult {
            link: *self.end.stats(),
            tl: *tl.stats(),
            flits: self.flits,
            replays: self.end.replay().stats().replays,
            violations: self.violations.clone(),
            damaged: self.wire.damaged + self.wire.unseen,
            astray: tl.purse().total().total() - tl.purse().has().total(),
            kept: self.end.replay().unacknowledged(),
            time: self.time,
        };
    }

    /// Named state for reports.
    pub fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("credits", self.end.client.purse().has().total());
        visit("credits_due", self.end.client.stock().due().total());
    }
}
