//! The two wires between a pair of ends without a kernel, for vectors and for tests of a link layer alone.
//!
//! Modelled: a latency in flit clocks, the same both ways; faults; a record of what was sent. The ends are not here: a pair
//! of each link layer has its own walk through a flit clock. It begins with [`LinkWires::tick`], takes what is due,
//! then sends.

use super::fault::{FaultyWire, WireUnit};
use scalepool_protocols::cxl::Dir;
use std::collections::VecDeque;

/// A unit as it was sent, before any fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentUnit<U> {
    /// Flit clock of transmission.
    pub at: u64,
    /// Direction.
    pub dir: Dir,
    /// The unit.
    pub unit: U,
}

/// Both directions.
#[derive(Debug, Clone)]
pub struct LinkWires<U> {
    down: WireLane<U>,
    up: WireLane<U>,
    latency_flits: u64,
    now: u64,
    log: Option<Vec<SentUnit<U>>>,
}

impl<U: WireUnit> LinkWires<U> {
    /// Wires without faults that take `latency_flits`, at least 1, at flit clock 0.
    pub fn new(latency_flits: u64) -> LinkWires<U> {
        let latency_flits = latency_flits.max(1);
        LinkWires { down: WireLane::clean(), up: WireLane::clean(), latency_flits, now: 0, log: None }
    }

    /// Puts a faulty wire into a direction.
    pub fn put(&mut self, dir: Dir, wire: FaultyWire) {
        self.lane(dir).wire = wire;
    }

    /// Units that arrived changed.
    pub fn damaged(&self) -> u64 {
        self.down.wire.damaged + self.up.wire.damaged
    }

    /// Units that arrived changed and looked good.
    pub fn undetected(&self) -> u64 {
        self.down.wire.undetected + self.up.wire.undetected
    }

    /// Keeps every unit that is sent from now on.
    pub fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Units sent since [`LinkWires::keep_log`] or the last call.
    pub fn take_log(&mut self) -> Vec<SentUnit<U>> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Flit clocks so far.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The next flit clock begins.
    pub fn tick(&mut self) {
        self.now += 1;
    }

    /// Sends a unit.
    pub fn send(&mut self, dir: Dir, unit: U) {
        let (at, due) = (self.now, self.now + self.latency_flits);
        if let Some(log) = &mut self.log {
            log.push(SentUnit { at, dir, unit: unit.clone() });
        }
        self.lane(dir).send(unit, due);
    }

    /// The next unit that has arrived by now.
    pub fn arrival(&mut self, dir: Dir) -> Option<U> {
        let now = self.now;
        self.lane(dir).arrival(now)
    }

    /// The unit that arrives in the next flit clock, if one does; it stays on the wire.
    pub fn coming(&mut self, dir: Dir) -> Option<U> {
        let next = self.now + 1;
        self.lane(dir).coming(next)
    }

    /// Loses what is under way.
    pub fn clear(&mut self) {
        self.down.clear();
        self.up.clear();
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.down.is_empty() && self.up.is_empty()
    }

    fn lane(&mut self, dir: Dir) -> &mut WireLane<U> {
        match dir {
            Dir::Down => &mut self.down,
            Dir::Up => &mut self.up,
        }
    }
}

/// One direction of a link: the faulty wire and what is under way on it.
#[derive(Debug, Clone)]
struct WireLane<U> {
    /// The wire.
    wire: FaultyWire,
    in_flight: VecDeque<(u64, U)>,
}

impl<U: WireUnit> WireLane<U> {
    /// A lane without faults.
    fn clean() -> WireLane<U> {
        WireLane { wire: FaultyWire::clean(), in_flight: VecDeque::new() }
    }

    /// Sends a unit that arrives at flit clock `due`.
    fn send(&mut self, unit: U, due: u64) {
        self.in_flight.extend(self.wire.send(unit).into_iter().flatten().map(|arrives| (due, arrives)));
    }

    /// The next unit that has arrived by flit clock `now`.
    fn arrival(&mut self, now: u64) -> Option<U> {
        let is_due = self.in_flight.front()?.0 <= now;
        is_due.then(|| self.in_flight.pop_front()).flatten().map(|(_, unit)| unit)
    }

    /// The unit that arrives next, if it does by flit clock `now`; it stays on the lane.
    fn coming(&self, now: u64) -> Option<U> {
        self.in_flight.front().filter(|(due, _)| *due <= now).map(|(_, unit)| unit.clone())
    }

    /// Loses what is under way.
    fn clear(&mut self) {
        self.in_flight.clear();
    }

    /// Whether nothing is under way.
    fn is_empty(&self) -> bool {
        self.in_flight.is_empty()
    }
}
