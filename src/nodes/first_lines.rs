//! What memory behind a node holds at first, where that is not known by the addresses at which it is asked for.
//!
//! Modelled: one who stands in front of memory, such as a bridge, says it once while a system is made; one who compares bytes asks when
//! the system runs. Left out: what was written. A walk: a bridge moves addresses by 4 GiB, so the line at an address holds what memory
//! has 4 GiB above; an originator that reads it for the first time expects that.

use scalepool_memory::LineBytes;
use scalepool_ordered::OrderedMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The line at an address, a multiple of 64; `None`: there is no memory at it.
pub type LinesBehind = Box<dyn Fn(u64) -> Option<LineBytes> + Send + Sync>;

/// What memory holds at first, once somebody has said it.
#[derive(Default)]
pub struct FirstLines(OnceLock<LinesBehind>);

impl FirstLines {
    /// Memory holds these lines at first. What is said twice counts once.
    pub fn are(&self, lines: LinesBehind) {
        let _ = self.0.set(lines);
    }

    /// The lines, if somebody has said it.
    pub fn get(&self) -> Option<&LinesBehind> {
        self.0.get()
    }
}

/// Memory behind BARs, by the serial number of the device that has the BAR: who finds a device over CXL.io knows it by that, wherever it
/// stands.
#[derive(Default)]
pub struct LinesOfDevices(Mutex<OrderedMap<u64, Arc<FirstLines>>>);

impl LinesOfDevices {
    /// What is behind the BAR of the device with this number.
    pub fn of(&self, serial_number: u64) -> Arc<FirstLines> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(serial_number).or_default().clone()
    }
}

/// Nodes of a fabric that have no memory of their own, but that of others behind them, by their numbers.
pub struct MemoryBehind(Vec<FirstLines>);

impl MemoryBehind {
    /// Of so many nodes, of which none has others behind it.
    pub fn new(nodes: u16) -> MemoryBehind {
        MemoryBehind((0..nodes).map(|_| FirstLines::default()).collect())
    }

    /// A node of this number stands in front of memory that holds these lines at first. What is said twice counts once.
    pub fn stands_in_front(&self, owner: u16, lines: LinesBehind) {
        if let Some(place) = self.0.get(usize::from(owner)) {
            place.are(lines);
        }
    }

    /// What the memory behind a node holds at first, if there is any.
    pub fn of(&self, owner: u16) -> Option<&LinesBehind> {
        self.0.get(usize::from(owner)).and_then(FirstLines::get)
    }
}
