//! The way of a unit between two ports: the hooks at both ends of the wire and the faults between them.

use crate::fault::{FaultyWire, WireUnit};
use crate::hook::{Direction, Hooks};
use scalepool_protocols::wire::Violation;

/// A unit behind the faulty wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arriving<U> {
    /// As it arrives.
    pub unit: U,
    /// A fault input changed it.
    pub damaged: bool,
    /// A fault input took away the unit before it, or doubled it.
    pub behind_hidden: bool,
}

/// What the hooks of the wire make of a unit; with it whether they changed it.
pub(crate) fn on_wire<U: WireUnit>(
    hooks: &Hooks,
    way: Direction,
    protocol: &'static str,
    unit: U,
) -> impl Iterator<Item = (U, bool)> + use<U> {
    let arrivals = if hooks.looks_at_wire(way) { hooks.wire(way, protocol, unit) } else { [Some((unit, false)), None] };
    arrivals.into_iter().flatten()
}

/// What stands behind a transmitter: the hooks of the wire and its faults.
pub(crate) struct WayOut {
    wire: FaultyWire,
    /// The last unit that was sent vanished or came twice.
    hidden: bool,
}

impl WayOut {
    pub fn new(wire: FaultyWire) -> WayOut {
        WayOut { wire, hidden: false }
    }

    /// Bit error rate of the wire.
    pub fn ber(&self) -> f64 {
        self.wire.ber()
    }

    /// Sends a unit; `push` takes what travels of it.
    #[inline]
    pub fn send<U: WireUnit>(
        &mut self,
        hooks: &Hooks,
        protocol: &'static str,
        unit: U,
        mut push: impl FnMut(Arriving<U>),
    ) {
        // Nearly every unit arrives as it is: 30 instructions instead of 200.
        if !hooks.looks_at_wire(Direction::Tx) && self.wire.sends_whole(unit.bytes().len()) {
            let behind_hidden = std::mem::take(&mut self.hidden);
            return push(Arriving { unit, damaged: false, behind_hidden });
        }
        for (leaves, hooked) in on_wire(hooks, Direction::Tx, protocol, unit) {
            let (damaged_before, unseen_before) = (self.wire.damaged, self.wire.unseen);
            for unit in self.wire.send_hooked(leaves, hooked).into_iter().flatten() {
                let damaged = hooked || self.wire.damaged != damaged_before;
                let behind_hidden = std::mem::take(&mut self.hidden);
                push(Arriving { unit, damaged, behind_hidden });
                // The second copy of a unit, and what follows it.
                self.hidden = self.wire.unseen != unseen_before;
            }
            self.hidden |= self.wire.unseen != unseen_before;
        }
    }

    /// Whether [`WayOut::take_wrong`] has some. Nearly always it has none, and a flit without asking for them takes 30
    /// instructions less.
    #[inline]
    pub fn has_wrong(&self) -> bool {
        self.wire.has_wrong()
    }

    /// Rules that verdicts from patterns of errors broke since the last call (`fabric` BIT-3).
    pub fn take_wrong(&mut self) -> Vec<Violation> {
        self.wire.take_wrong()
    }

    /// Units that its faults changed, where units have numbers also those that vanished or came twice.
    pub fn damaged(&self, is_numbered: bool) -> u64 {
        self.wire.damaged + if is_numbered { self.wire.unseen } else { 0 }
    }
}
