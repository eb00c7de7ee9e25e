//! A link end that stands outside the simulation: its units are driven by a caller.
//!
//! Modelled: the place of an end, not the end. What the caller drives leaves here, one unit a flit clock, over the same
//! faulty wire as that of a [`Port`](super::port::Port); what arrives is kept for the caller
//! ([`Hooks::sample`](super::hook::Hooks::sample)). Detail: nothing is sent in a flit clock for which nothing was
//! driven. Left out: what the units mean; half units, which arrive whole.
//!
//! Training is below the wire, so it is done here: the peer's word is answered, and until the time is over driven units
//! wait.
//!
//! A walk through one flit clock: what is due on the wire passes the hooks and is kept; the oldest driven unit leaves.

use super::fault::{FaultyWire, WireUnit};
use super::hook::Direction;
use super::port::{Arriving, LinkEnd, PortResult, Reports, WayOut, WireItem, on_wire};
use scalepool_kernel::{Cx, LinkIn, LinkOut, Module, Next, Time};
use scalepool_trace::{Body, RecordKind, Stamp, Tap};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Units that may wait to be sent.
pub const MAX_DRIVEN: usize = 1 << 16;

/// Units of the caller, in the order in which they leave; a copy is the same queue.
#[derive(Debug, Clone, Default)]
pub struct Feed(Arc<Mutex<Fed>>);

#[derive(Debug, Default)]
struct Fed {
    units: VecDeque<Vec<u8>>,
    sent: u64,
}

impl Feed {
    fn open(&self) -> MutexGuard<'_, Fed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a unit behind the others; whether there is room.
    pub fn drive(&self, unit: Vec<u8>) -> bool {
        let mut fed = self.open();
        let has_room = fed.units.len() < MAX_DRIVEN;
        if has_room {
            fed.units.push_back(unit);
        }
        has_room
    }

    /// Units that wait.
    pub fn waiting(&self) -> usize {
        self.open().units.len()
    }

    /// Units that have left.
    pub fn sent(&self) -> u64 {
        self.open().sent
    }

    /// The oldest unit that waits, which leaves now.
    pub(crate) fn next(&self) -> Option<Vec<u8>> {
        let mut fed = self.open();
        let unit = fed.units.pop_front();
        fed.sent += u64::from(unit.is_some());
        unit
    }
}

/// What an external end needs.
pub struct ExternalConfig<E> {
    /// The end that would stand here: names, units, hooks and a report without counts.
    pub end: E,
    /// Faults of the wire that leaves.
    pub wire: FaultyWire,
    /// Direction of what it receives, in traces.
    pub dir: &'static str,
    /// Time that training takes \[fs\].
    pub retrain_fs: u64,
    /// Two edges a flit clock, as the peer has.
    pub halves: bool,
    /// Units to send.
    pub feed: Feed,
}

/// Wire ends and observers.
pub struct ExternalWires<E: LinkEnd> {
    /// To the peer.
    pub wire_out: LinkOut<WireItem<E::Unit>>,
    /// From the peer.
    pub wire_in: LinkIn<WireItem<E::Unit>>,
    /// Received units.
    pub flits: Tap,
}

/// An end outside the simulation.
pub struct ExternalEnd<E: Reports> {
    end: E,
    way_out: WayOut,
    retrain_fs: u64,
    edges: u64,
    feed: Feed,
    wires: ExternalWires<E>,
    result: Arc<Mutex<PortResult<E::Report>>>,
    trained_at: Option<Time>,
    dir: &'static str,
}

impl<E: Reports> ExternalEnd<E> {
    /// An external end.
    pub fn new(
        config: ExternalConfig<E>,
        wires: ExternalWires<E>,
        result: Arc<Mutex<PortResult<E::Report>>>,
    ) -> ExternalEnd<E> {
        ExternalEnd {
            end: config.end,
            way_out: WayOut::new(config.wire),
            retrain_fs: config.retrain_fs,
            edges: if config.halves { 2 } else { 1 },
            feed: config.feed,
            wires,
            result,
            trained_at: None,
            dir: config.dir,
        }
    }

    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(item) = self.wires.wire_in.pop(cx) {
            match item {
                WireItem::Unit { arriving: Arriving { unit, .. }, .. } => {
                    for (unit, _) in on_wire(self.end.hooks(), Direction::Rx, self.end.protocol(), unit) {
                        self.wires.flits.record(at, RecordKind::Flit, 0, 0, || Body::Flit {
                            protocol: self.end.protocol(),
                            dir: self.dir,
                            bytes: unit.bytes().to_vec(),
                        });
                    }
                }
                WireItem::Train => {
                    self.wires.wire_out.push(cx, WireItem::Train);
                    self.trained_at = Some(cx.now().plus_fs(self.retrain_fs));
                }
                // A caller's end hears of no status beside its flits.
                WireItem::HotReset | WireItem::Over => {}
            }
        }
    }

    fn send(&mut self, cx: &mut Cx) {
        // Bytes of another length were refused before they came here.
        if let Some(unit) = self.feed.next().and_then(|bytes| self.end.unit(&bytes).ok()) {
            let push = |arriving| self.wires.wire_out.push(cx, WireItem::Unit { arriving, expects: 0 });
            self.way_out.send(self.end.hooks(), self.end.protocol(), unit, push);
        }
    }
}

impl<E: Reports> Module for ExternalEnd<E> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.end.hooks().instant(at.cycle / self.edges, at.t_fs);
        self.arrivals(cx, at);
        self.trained_at = self.trained_at.filter(|&over| cx.now() < over);
        if self.trained_at.is_none() && at.cycle.is_multiple_of(self.edges) {
            self.send(cx);
        }
        // The caller may drive a unit at any time.
        Next::Busy
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.end = Some(self.end.report());
        result.damaged = self.way_out.damaged(self.end.is_numbered());
    }
}
