//! What every port has around its link end, whatever the protocol: hooks and faults of the wire, events that count, signals,
//! the account of the line, the end of a run whose link cannot work.
//!
//! A walk through one flit clock, whose steps the port around it takes: [`Frame::begins`] tells the hooks the time and the end whether anybody looks;
//! [`Frame::arrives`] hands a unit to the end and keeps what is broken; [`Frame::transmit`] asks the end for a unit and
//! [`Frame::leaves`] puts it on the wire; [`Frame::judge`] gives up where nothing gets through; [`Frame::show`] shows what has
//! changed.

use super::end::LinkEnd;
use super::wire::{Arriving, WayOut};
use crate::event::{LinkEvent, Severity};
use crate::fault::{FaultyWire, WireUnit};
use crate::line_time::{LineTime, LineTimeParts};
use crate::protocol::LinkProtocol;
use scalepool_kernel::{Cx, Pending, Time};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a port leaves behind for the report of the run.
#[derive(Debug, Clone)]
pub struct PortResult<R> {
    /// What the end said when the run was looked at; `None` before.
    pub end: Option<R>,
    /// Broken rules of the peer, without what a fault input made and the link repaired.
    pub violations: Vec<LinkEvent>,
    /// Units that the fault inputs of its transmitter changed; where units have numbers also those that vanished or came
    /// twice.
    pub damaged: u64,
    /// Where the time of what it sends has gone, without what it left idle.
    pub time: LineTime,
}

impl<R> Default for PortResult<R> {
    fn default() -> Self {
        PortResult { end: None, violations: Vec::new(), damaged: 0, time: LineTime::default() }
    }
}

/// Rule of a link that cannot work.
pub const GIVE_UP_RULE: &str = "SIM-LNK-01";

/// Rules of links that have given up by themselves: RETRY_ABORT (`cxl-68b` §7.3), replays without progress (`nvlink` §6.3).
const LINK_FAILURES: [&str; 2] = ["CXL68-LRS-06", "NVL-RPL-05"];

/// What a port says of a link that cannot work.
fn given_up(tries: u32, ber: f64) -> Violation {
    let found = format!("{tries} trainings or replays in a row");
    let text = format!(
        "the link cannot work: no training or replay brought a good payload unit, at a bit error rate of {ber:e}"
    );
    Violation::at_byte(GIVE_UP_RULE, 0, found, "one good payload unit", text)
}

/// What a frame is made of.
pub struct FrameConfig<E> {
    /// The link end.
    pub end: E,
    /// Faults of its transmitter.
    pub wire: FaultyWire,
    /// Direction of what it receives, in traces.
    pub dir: &'static str,
    /// Trainings and replays in vain after which the run ends, see [`LinkEnd::fruitless`].
    pub give_up: u32,
    /// Received units.
    pub flits: Tap,
    /// Signals of the link layer.
    pub signals: Tap,
}

/// A link end with what every port has around it.
pub struct Frame<E: LinkEnd, R> {
    /// The link end.
    pub end: E,
    way_out: WayOut,
    dir: &'static str,
    flits: Tap,
    signals: Tap,
    shown: Vec<Option<u64>>,
    time: LineTime,
    unit_bits: u64,
    /// See [`FrameConfig::give_up`]; `None`: it has been said.
    give_up: Option<u32>,
    /// Of [`LinkEnd::fruitless`], what was counted when its work was last done.
    tries_at_rest: u32,
    /// Since when the link has failed or trains.
    pub down_since: Option<Time>,
    busy_since: Option<Time>,
    result: Arc<Mutex<PortResult<R>>>,
}

impl<E: LinkEnd, R> Frame<E, R> {
    /// A frame; broken rules are in `result` as they are seen, the rest when it is published.
    pub fn new(config: FrameConfig<E>, result: Arc<Mutex<PortResult<R>>>) -> Frame<E, R> {
        let unit_bits = LinkProtocol::named(config.end.protocol()).map_or(0, |p| 8 * p.unit_bytes() as u64);
        Frame {
            end: config.end,
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
            result,
        }
    }

    /// A flit clock begins.
    pub fn begins(&mut self, now_flits: u64, at: Stamp) {
        if self.flits.is_on() {
            self.end.keep_payload();
        }
        self.end.hooks().instant(now_flits, at.t_fs);
    }

    /// Shows bytes that have come.
    pub fn came(&mut self, at: Stamp, bytes: impl FnOnce() -> Vec<u8>) {
        let (protocol, dir) = (self.end.protocol(), self.dir);
        self.flits.record(at, RecordKind::Flit, 0, 0, || Body::Flit { protocol, dir, bytes: bytes() });
    }

    /// All of a unit is there.
    pub fn arrives(&mut self, unit: &E::Unit, damaged: bool, now_flits: u64, at: Stamp) {
        self.shows(unit, at);
        self.end.receive(unit, now_flits);
        self.taken(at);
        self.report(damaged, at);
    }

    /// The same with a unit that nobody else needs.
    pub fn takes_in(&mut self, unit: E::Unit, damaged: bool, now_flits: u64, at: Stamp) {
        self.shows(&unit, at);
        self.end.take_in(unit, now_flits);
        self.taken(at);
        self.report(damaged, at);
    }

    fn shows(&mut self, unit: &E::Unit, at: Stamp) {
        if !unit.bytes().is_empty() {
            self.came(at, || unit.bytes().to_vec());
        }
    }

    /// Shows the payload that the end has taken.
    pub fn taken(&mut self, at: Stamp) {
        let flits = &mut self.flits;
        self.end.take_payload(&mut |number, bytes| {
            flits.record(at, RecordKind::Mark, 0, 0, || Body::Taken { number, bytes: bytes.to_vec() });
        });
    }

    /// Keeps the events of the end, without those that the link repairs.
    #[inline]
    pub fn report(&mut self, damaged: bool, at: Stamp) {
        let events = self.end.take_events();
        if !events.is_empty() {
            self.keep(events, damaged, at);
        }
    }

    #[cold]
    fn keep(&mut self, events: Vec<LinkEvent>, damaged: bool, at: Stamp) {
        for event in events {
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

    /// A broken rule that is seen above the link end, in what came over it or in what an agent sends.
    pub fn broken(&mut self, violation: Violation, at: Stamp) {
        self.record(&violation, at);
        self.count(LinkEvent { severity: Severity::Protocol, unit: 0, violation });
    }

    /// An item of an agent that cannot be sent. Agents of this model send legal items only; what one did wrong is not hidden.
    pub fn refused(&self, violation: Violation) {
        self.count(LinkEvent { severity: Severity::Protocol, unit: 0, violation });
    }

    /// Adds units to the account of the line.
    pub fn account(&mut self, units: u64, uses: &LineTimeParts) {
        self.time.add(units * self.unit_bits, uses);
    }

    /// Asks the end for the unit of this flit clock, which is in the account then.
    pub fn transmit(&mut self, now_flits: u64) -> Option<E::Unit> {
        let unit = self.end.transmit(now_flits);
        self.account(1, &self.end.uses());
        unit
    }

    /// A unit leaves; `push` takes what travels of it.
    #[inline]
    pub fn leaves(&mut self, unit: E::Unit, push: impl FnMut(Arriving<E::Unit>)) {
        self.way_out.send(self.end.hooks(), self.end.protocol(), unit, push);
    }

    /// Ends the run where the link cannot work. `rests`: nothing of the agents waits; what a link repairs then carries nothing,
    /// so it is no try in vain.
    pub fn judge(&mut self, cx: &mut Cx, rests: bool, at: Stamp) {
        let tries = self.end.fruitless();
        let at_rest = if rests { tries } else { self.tries_at_rest.min(tries) };
        self.tries_at_rest = at_rest;
        let tries = tries - at_rest;
        if let Some(rule) = self.end.halted() {
            self.down_since.get_or_insert(cx.now());
            if LINK_FAILURES.contains(&rule) {
                cx.give_up(rule);
            }
        } else if self.give_up.take_if(|most| tries >= *most).is_some() {
            self.down_since.get_or_insert(cx.now());
            let violation = given_up(tries, self.way_out.ber());
            self.record(&violation, at);
            self.result().violations.push(LinkEvent { severity: Severity::Uncorrectable, unit: 0, violation });
            cx.give_up(GIVE_UP_RULE);
        }
    }

    /// Shows the signals that have changed.
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

    /// Whether work is open at the end of a flit clock.
    pub fn is_busy(&mut self, busy: bool, now: Time) {
        self.busy_since = if busy { self.busy_since.or(Some(now)) } else { None };
    }

    /// What is open where nothing happens any more.
    ///
    /// # Errors
    /// Work that is not done, or a link that has stopped.
    pub fn idle_ok(&self, busy: bool) -> Result<(), Pending> {
        let since = self.down_since.or(self.busy_since).unwrap_or(Time::ZERO);
        match self.end.halted() {
            Some(rule) => Err(Pending::new(format!("the link has stopped ({rule})"), since)),
            None if busy => Err(Pending::new(self.end.open_work(), since)),
            None => Ok(()),
        }
    }

    /// Leaves its figures in its result.
    pub fn publish(&self, report: R) {
        let mut result = self.result();
        result.end = Some(report);
        result.damaged = self.way_out.damaged(self.end.is_numbered());
        result.time = self.time;
    }

    fn result(&self) -> MutexGuard<'_, PortResult<R>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
