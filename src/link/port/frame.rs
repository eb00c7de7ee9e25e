//! The logic that every port has around its link end in every protocol: hooks, wire faults, event collection, signals,
//! the accounting of line time, and the end of a run whose link cannot work.
//!
//! A walk through one flit clock, in the steps that the surrounding port takes: [`Frame::begins`] gives the time to the
//! hooks and tells the end whether an observer is attached. [`Frame::takes_in`] passes a unit to the end and keeps the
//! rules that it breaks. [`Frame::transmit`] requests a unit from the end, and [`Frame::leaves`] puts it on the wire.
//! [`Frame::judge`] ends the run if nothing gets through. [`Frame::show`] records the signals that have changed.

use super::phy::PortEnd;
use super::wire::{Arriving, WayOut};
use crate::event::{LinkEvent, Severity};
use crate::fault::{FaultyWire, WireUnit};
use crate::health::LinkHealth;
use crate::line_time::{LineTime, LineTimeParts};
use crate::protocol::LinkProtocol;
use scalepool_kernel::{Cx, LinkOut, Pending, Time};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The result of a port for the report of the run.
#[derive(Debug, Clone)]
pub struct PortResult<R> {
    /// The report of the end when the results were last published; `None` before the first time.
    pub end: Option<R>,
    /// Rules that the peer broke, except those that an injected fault caused and the link repaired.
    pub violations: Vec<LinkEvent>,
    /// Units that the injected faults of the transmitter changed; where units have sequence numbers, also the units
    /// that vanished or were duplicated.
    pub damaged: u64,
    /// Use of the transmit line time, idle time excluded.
    pub time: LineTime,
    /// Figures of the end.
    pub health: LinkHealth,
}

impl<R> Default for PortResult<R> {
    fn default() -> Self {
        PortResult {
            end: None,
            violations: Vec::new(),
            damaged: 0,
            time: LineTime::default(),
            health: LinkHealth::default(),
        }
    }
}

/// Id of the rule for a link that cannot work.
pub const GIVE_UP_RULE: &str = "SIM-LNK-01";

/// Ids of the rules of links that have given up by their own protocol: RETRY_ABORT (`cxl-68b` §7.3), replays without
/// progress (`nvlink` §6.3).
const LINK_FAILURES: [&str; 2] = ["CXL68-LRS-06", "NVL-RPL-05"];

/// The violation that a port reports for a link that cannot work.
fn given_up(tries: u32, ber: f64) -> Violation {
    let found = match tries {
        1 => "1 training, replay or time-out without one".to_owned(),
        _ => format!("{tries} trainings, replays or time-outs in a row without one"),
    };
    let rate = if ber > 0.0 { format!(", at a bit error rate of {ber:e}") } else { String::new() };
    let text = format!("the link cannot work: no training, replay or time-out brought a good payload unit{rate}");
    Violation::at_byte(GIVE_UP_RULE, 0, found, "one good payload unit", text)
}

/// The parts of a frame.
pub struct FrameConfig<E: PortEnd> {
    /// The link end.
    pub end: E,
    /// Injected faults of the transmitter.
    pub wire: FaultyWire,
    /// Direction of received units, as traces show it.
    pub dir: &'static str,
    /// Number of trainings and replays without progress after which the run ends, see
    /// [`LinkEnd::fruitless`](super::LinkEnd::fruitless).
    pub give_up: u32,
    /// Wire to the peer.
    pub wire_out: LinkOut<E::Item>,
    /// Trace tap of received units.
    pub flits: Tap,
    /// Trace tap of the signals of the link layer.
    pub signals: Tap,
}

/// A link end with the logic that every port has around it.
pub struct Frame<E: PortEnd> {
    /// The link end.
    pub end: E,
    /// Wire to the peer.
    pub wire_out: LinkOut<E::Item>,
    way_out: WayOut,
    dir: &'static str,
    flits: Tap,
    signals: Tap,
    shown: Vec<Option<u64>>,
    time: LineTime,
    unit_bits: u64,
    /// See [`FrameConfig::give_up`]; `None` once the violation has been reported.
    give_up: Option<u32>,
    /// The value of [`LinkEnd::fruitless`](super::LinkEnd::fruitless) when the agents last had no work waiting.
    tries_at_rest: u32,
    /// Time since which the link has failed or is training.
    pub down_since: Option<Time>,
    busy_since: Option<Time>,
    /// The flit clock that has begun last.
    now_flits: u64,
    result: Arc<Mutex<PortResult<E::Report>>>,
}

impl<E: PortEnd> Frame<E> {
    /// Makes a frame. Broken rules appear in `result` as they are detected, the other fields when the frame publishes.
    pub fn new(config: FrameConfig<E>, result: Arc<Mutex<PortResult<E::Report>>>) -> Frame<E> {
        let unit_bits = LinkProtocol::named(config.end.protocol()).map_or(0, |p| 8 * p.unit_bytes() as u64);
        Frame {
            end: config.end,
            wire_out: config.wire_out,
            way_out: WayOut::new(config.wire),
            dir: config.dir,
            flits: config.flits,
            signals: config.signals,
            shown: vec![None; E::SIGNALS.len()],
            time: LineTime::default(),
            unit_bits,
            give_up: Some(config.give_up),
            tries_at_rest: 0,
            down_since: None,
            busy_since: None,
            now_flits: 0,
            result,
        }
    }

    /// Starts a flit clock.
    pub fn begins(&mut self, now_flits: u64, at: Stamp) {
        if self.flits.is_on() {
            self.end.keep_payload();
        }
        self.end.hooks().instant(now_flits, at.t_fs);
    }

    /// Lets the time of the end's states go on to a flit clock.
    pub fn pass_time(&mut self, now_flits: u64) {
        self.end.pass_time(now_flits);
        self.now_flits = now_flits;
    }

    /// Records bytes that have arrived.
    pub fn came(&mut self, at: Stamp, bytes: impl FnOnce() -> Vec<u8>) {
        let (protocol, dir) = (self.end.protocol(), self.dir);
        self.flits.record(at, RecordKind::Flit, 0, 0, || Body::Flit { protocol, dir, bytes: bytes() });
    }

    /// Takes a unit that has arrived completely.
    pub fn arrives(&mut self, unit: &E::Unit, damaged: bool, now_flits: u64, at: Stamp) {
        self.shows(unit, at);
        self.end.receive(unit, now_flits);
        self.taken(at);
        self.report(damaged, at);
    }

    /// Takes a unit that has arrived completely, and out of it what it holds: nobody else needs it.
    pub fn takes_in(&mut self, unit: &mut E::Unit, damaged: bool, now_flits: u64, at: Stamp) {
        self.shows(unit, at);
        self.end.take_in(unit, now_flits);
        self.taken(at);
        self.report(damaged, at);
    }

    fn shows(&mut self, unit: &E::Unit, at: Stamp) {
        if !unit.bytes().is_empty() {
            self.came(at, || unit.bytes().to_vec());
        }
    }

    /// Records the payload that the end has accepted.
    pub fn taken(&mut self, at: Stamp) {
        let flits = &mut self.flits;
        self.end.take_payload(&mut |number, bytes| {
            flits.record(at, RecordKind::Mark, 0, 0, || Body::Taken { number, bytes: bytes.to_vec() });
        });
    }

    /// Keeps the events of the end, except those that the link repairs.
    #[inline]
    pub fn report(&mut self, damaged: bool, at: Stamp) {
        if self.end.has_events() {
            self.keep(damaged, at);
        }
    }

    /// Keeps what the wire behind the transmitter has found out about verdicts from patterns of errors.
    #[inline]
    pub fn report_wire(&mut self, at: Stamp) {
        if self.way_out.has_wrong() {
            self.keep_wire(at);
        }
    }

    #[cold]
    fn keep_wire(&mut self, at: Stamp) {
        for violation in self.way_out.take_wrong() {
            self.broken(violation, at);
        }
    }

    fn keep(&mut self, damaged: bool, at: Stamp) {
        for event in self.end.take_events() {
            self.record(&event.violation, at);
            if !self.end.is_repaired(&event, damaged) {
                self.count(event);
            }
        }
    }

    fn record(&mut self, violation: &Violation, at: Stamp) {
        let place = if E::FINDINGS_WITH_UNITS { &mut self.flits } else { &mut self.signals };
        place.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
    }

    fn count(&self, event: LinkEvent) {
        let mut result = self.result();
        if result.violations.len() < E::MOST_FINDINGS {
            result.violations.push(event);
        }
    }

    /// Keeps a rule violation that was detected above the link end, in a received item or in an item that an agent
    /// sends.
    pub fn broken(&mut self, violation: Violation, at: Stamp) {
        self.record(&violation, at);
        self.count(LinkEvent { severity: Severity::Protocol, unit: 0, violation });
    }

    /// Adds units to the accounting of line time.
    pub fn account(&mut self, units: u64, uses: &LineTimeParts) {
        self.time.add(units * self.unit_bits, uses);
    }

    /// Requests the unit of this flit clock from the end, and adds it to the accounting of line time.
    pub fn transmit(&mut self, now_flits: u64) -> Option<E::Unit> {
        let unit = self.end.transmit(now_flits);
        self.end.account(self.unit_bits, &mut self.time);
        unit
    }

    /// Sends a unit; `push` receives the wire, and the units that remain after hooks and faults.
    #[inline]
    pub fn leaves(&mut self, unit: E::Unit, mut push: impl FnMut(&mut LinkOut<E::Item>, Arriving<E::Unit>)) {
        let wire_out = &mut self.wire_out;
        self.way_out.send(self.end.hooks(), self.end.protocol(), unit, |arriving| push(wire_out, arriving));
    }

    /// Ends the run if the link cannot work. `rests` says whether no work of the agents waits; a repair of the idle link
    /// then carries no payload, and does not count as a try without progress.
    pub fn judge(&mut self, cx: &mut Cx, rests: impl FnOnce(&E) -> bool, at: Stamp) {
        let tries = self.end.fruitless();
        let at_rest = if tries > 0 && rests(&self.end) { tries } else { self.tries_at_rest.min(tries) };
        self.tries_at_rest = at_rest;
        let tries = tries - at_rest;
        if let Some(rule) = self.end.halted() {
            self.down_since.get_or_insert(cx.now());
            if LINK_FAILURES.contains(&rule) {
                cx.give_up(rule);
            }
        } else if let Some(most) = self.give_up.take_if(|most| tries > *most) {
            // So many have brought nothing, and the next one begins.
            self.down_since.get_or_insert(cx.now());
            let violation = given_up(most, self.way_out.ber());
            self.record(&violation, at);
            self.result().violations.push(LinkEvent { severity: Severity::Uncorrectable, unit: 0, violation });
            cx.give_up(GIVE_UP_RULE);
        }
    }

    /// Records the signals that have changed.
    pub fn show(&mut self, at: Stamp) {
        if !self.signals.is_on() {
            return;
        }
        for ((shown, &(signal, _)), value) in self.shown.iter_mut().zip(E::SIGNALS).zip(self.end.values()) {
            if shown.replace(value) != Some(value) {
                self.signals.record(at, RecordKind::Value, 0, 0, || Body::Value { signal, value });
            }
        }
    }

    /// Notes whether work is outstanding at the end of a flit clock.
    pub fn is_busy(&mut self, busy: bool, now: Time) {
        self.busy_since = if busy { self.busy_since.or(Some(now)) } else { None };
    }

    /// Checks for outstanding work when no further event is scheduled.
    ///
    /// # Errors
    /// Work is outstanding, or the link has stopped.
    pub fn idle_ok(&self, busy: bool) -> Result<(), Pending> {
        let since = self.down_since.or(self.busy_since).unwrap_or(Time::ZERO);
        match self.end.halted() {
            Some(rule) => Err(Pending::new(format!("the link has stopped ({rule})"), since)),
            None if busy => Err(Pending::new(self.end.open_work(), since)),
            None => Ok(()),
        }
    }

    /// Writes the figures of the frame to the shared result.
    pub fn publish(&self, report: E::Report) {
        let mut result = self.result();
        result.end = Some(report);
        result.damaged = self.way_out.damaged(self.end.is_numbered());
        result.time = self.time;
        result.health = self.end.health(self.now_flits);
    }

    fn result(&self) -> MutexGuard<'_, PortResult<E::Report>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
