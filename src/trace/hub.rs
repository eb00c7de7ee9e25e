//! Taps and the hub that owns their buffers.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scalepool_protocols::wire::{CodeTable, LayoutDef};

use super::handles::{Handles, TransactionNaming};
use super::wait::{WAIT_OVER, Wait};
use super::{Body, Record, RecordKind, Sink, Stamp};

/// A signal that is named at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureSignal {
    /// Name within the scope of its place; dots make scopes.
    pub name: String,
    /// Width in bits, 1 to 64.
    pub width: u32,
    /// Family and names of its values, if they have names.
    pub names: Option<(&'static str, &'static CodeTable)>,
}

/// What a place shows in a wave. A record whose body is of another kind is written to JSON lines alone.
#[derive(Debug, Clone)]
pub enum PlaceKind {
    /// Wire units of one direction, as the receiver sees them.
    Flits {
        /// Name in [`scalepool_protocols::registry::PROTOCOLS`].
        protocol: &'static str,
        /// `down` or `up`.
        dir: &'static str,
    },
    /// Named signals with their width in bits, 1 to 64.
    Values(&'static [(&'static str, u32)]),
    /// Signals that are named at run time, such as figures of channels.
    Figures(Arc<[FigureSignal]>),
    /// The last broken rule by its name, with one count of all of them.
    Findings,
    /// Messages of these layouts.
    Messages(&'static [&'static LayoutDef]),
}

/// Where records come from.
#[derive(Debug, Clone)]
pub struct TracePlace {
    /// Dotted path, e.g. `pod0.sw0.port[3].rx`. Several places may share one: their signals stand in one scope.
    pub path: String,
    /// What it shows in a wave.
    pub kind: PlaceKind,
    /// Number of the coherent link that ends there, by which the log tells identifiers of different links apart.
    pub link: Option<u16>,
}

/// All places, in order of creation.
#[derive(Debug, Clone, Default)]
pub struct Places(Vec<TracePlace>);

impl Places {
    /// The place of an ordinal.
    pub fn get(&self, ordinal: u32) -> Option<&TracePlace> {
        self.0.get(ordinal as usize)
    }

    /// Path of an ordinal, `?` for one that does not exist.
    pub fn path(&self, ordinal: u32) -> &str {
        self.get(ordinal).map_or("?", |p| &p.path)
    }

    /// All of them; the position is the ordinal.
    pub fn iter(&self) -> impl Iterator<Item = &TracePlace> {
        self.0.iter()
    }
}

/// Records that nobody has taken.
#[derive(Debug, Default)]
struct PendingRecords {
    /// Whether records are kept; one for all taps of a hub.
    on: Arc<AtomicBool>,
    records: Mutex<Vec<Record>>,
}

type RecordBuffer = Arc<PendingRecords>;

/// A panic of a recording thread leaves the buffer as it was between two pushes, so its content is good.
fn open(buffer: &RecordBuffer) -> MutexGuard<'_, Vec<Record>> {
    buffer.records.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bits of an id below the ordinal: 2^36 transactions a place; with up to 2^17 places an id is below 2^53, the largest
/// integer that JSON readers keep exact.
const ID_COUNTER_BITS: u32 = 36;

/// Where a module leaves its records. Moves to the thread of the module.
#[derive(Debug, Default)]
pub struct Tap {
    ordinal: u32,
    ids: u64,
    sequence: u64,
    buffer: Option<RecordBuffer>,
}

impl Tap {
    /// A tap of no hub: nothing is kept, ids count from 1.
    pub fn off() -> Tap {
        Tap::default()
    }

    /// Whether records are kept.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.on.load(Ordering::Relaxed))
    }

    /// A new transaction id, (ordinal, own counter). Counts also when off; never 0.
    #[inline]
    pub fn new_id(&mut self) -> u64 {
        self.ids += 1;
        u64::from(self.ordinal) << ID_COUNTER_BITS | self.ids
    }

    /// Records an event; `body` is called only when the tap is on. `id` and `parent` are 0 where there is none; the parent of a
    /// transaction need be said only where it begins.
    #[inline]
    #[track_caller]
    pub fn record(&mut self, at: Stamp, kind: RecordKind, id: u64, parent: u64, body: impl FnOnce() -> Body) {
        if self.is_on() {
            self.push(at, kind, (id, parent), (TransactionNaming::Nowhere, None), body);
        }
    }

    /// Records an event of a transaction that other places know by a handle.
    #[inline]
    #[track_caller]
    pub fn named(
        &mut self,
        named: TransactionNaming,
        at: Stamp,
        kind: RecordKind,
        id: u64,
        parent: u64,
        body: impl FnOnce() -> Body,
    ) {
        if self.is_on() {
            self.push(at, kind, (id, parent), (named, None), body);
        }
    }

    /// Records a message that a coherent agent sends (`true`) or takes on its link of this number.
    #[track_caller]
    pub fn record_on(
        &mut self,
        link: (u16, bool),
        named: TransactionNaming,
        at: Stamp,
        kind: RecordKind,
        ids: (u64, u64),
        body: impl FnOnce() -> Body,
    ) {
        self.push(at, kind, ids, (named, Some(link)), body);
    }

    /// From here on a transaction waits; `holder` is the transaction that has to end before, 0 where none is known.
    #[inline]
    #[track_caller]
    pub fn wait(&mut self, at: Stamp, id: u64, wait: Wait, holder: u64) {
        if self.is_on() {
            self.push(at, RecordKind::Mark, (id, 0), (TransactionNaming::Nowhere, None), || Body::Wait {
                wait,
                holder,
            });
        }
    }

    /// A transaction waits no more.
    #[track_caller]
    pub fn wait_over(&mut self, at: Stamp, id: u64) {
        self.push(at, RecordKind::Mark, (id, 0), (TransactionNaming::Nowhere, None), || Body::Mark(WAIT_OVER));
    }

    #[track_caller]
    fn push(
        &mut self,
        at: Stamp,
        kind: RecordKind,
        (id, parent): (u64, u64),
        (named, link): (TransactionNaming, Option<(u16, bool)>),
        body: impl FnOnce() -> Body,
    ) {
        let Some(buffer) = self.buffer.as_ref().filter(|buffer| buffer.on.load(Ordering::Relaxed)) else { return };
        let (ordinal, sequence, from) = (self.ordinal, self.sequence, std::panic::Location::caller());
        let record = Record { at, ordinal, sequence, kind, id, parent, body: body(), named, link, from };
        self.sequence += 1;
        open(buffer).push(record);
    }
}

/// Owns the places and the buffers of a simulation.
#[derive(Debug, Default)]
pub struct Hub {
    on: Arc<AtomicBool>,
    places: Places,
    buffers: Vec<RecordBuffer>,
    handles: Handles,
}

impl Hub {
    /// A hub whose taps are all on or all off.
    pub fn new(on: bool) -> Hub {
        let mut hub = Hub::default();
        hub.switch(on);
        hub
    }

    /// Switches all taps on or off. Between two steps, or what a module records of an instant may be a part of it. What began
    /// while they were off is not known as a parent.
    pub fn switch(&mut self, on: bool) {
        if self.on.swap(on, Ordering::Relaxed) != on {
            self.handles = Handles::default();
        }
    }

    /// Whether the taps are on.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// A tap at a place. Its ordinal is the number of taps made before it, so elaboration order is output order.
    pub fn tap(&mut self, path: &str, kind: PlaceKind) -> Tap {
        let ordinal = self.places.0.len() as u32;
        self.places.0.push(TracePlace { path: path.to_owned(), kind, link: None });
        let buffer = Arc::new(PendingRecords { on: self.on.clone(), records: Mutex::default() });
        self.buffers.push(buffer.clone());
        Tap { ordinal, ids: 0, sequence: 0, buffer: Some(buffer) }
    }

    /// A coherent link of this number ends at the places of a path.
    pub fn number_link(&mut self, path: &str, link: u16) {
        self.places.0.iter_mut().filter(|place| place.path == path).for_each(|place| place.link = Some(link));
    }

    /// All places so far.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Takes all records, sorted by (time, ordinal, own sequence), each with its parent.
    ///
    /// Call it when no module will record an earlier time any more, else order holds within one call only.
    pub fn drain(&mut self) -> Vec<Record> {
        let records = self.buffers.iter().flat_map(|b| std::mem::take(&mut *open(b))).collect();
        self.in_order(records)
    }

    /// As [`Hub::drain`], records before a time alone: for partitions of which some run ahead, the time that all reached.
    pub fn drain_before(&mut self, t_fs: u64) -> Vec<Record> {
        let mut records = Vec::new();
        for buffer in &self.buffers {
            let mut buffer = open(buffer);
            let (due, later) = std::mem::take(&mut *buffer).into_iter().partition::<Vec<_>, _>(|r| r.at.t_fs < t_fs);
            *buffer = later;
            records.extend(due);
        }
        self.in_order(records)
    }

    fn in_order(&mut self, mut records: Vec<Record>) -> Vec<Record> {
        records.sort_by_key(|r| (r.at.t_fs, r.ordinal, r.sequence));
        records.iter_mut().for_each(|record| self.handles.complete(record));
        records
    }

    /// Drains into sinks.
    ///
    /// # Errors
    /// The first error of a sink; the records are gone then.
    pub fn drain_into(&mut self, sinks: &mut [&mut dyn Sink]) -> io::Result<()> {
        for record in self.drain() {
            for sink in sinks.iter_mut() {
                sink.record(&self.places, &record)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: PlaceKind = PlaceKind::Values(&[("n", 8)]);

    #[test]
    fn ids_count_the_same_on_and_off_and_no_body_is_built_when_off() {
        let [mut on, mut off] = [true, false].map(Hub::new);
        for hub in [&mut on, &mut off] {
            hub.tap("a", VALUES);
        }
        let (mut tap_on, mut tap_off) = (on.tap("b", VALUES), off.tap("b", VALUES));
        assert_eq!((tap_on.is_on(), tap_off.is_on()), (true, false));
        for n in 1..4 {
            assert_eq!(tap_on.new_id(), 1 << 36 | n);
            assert_eq!(tap_off.new_id(), 1 << 36 | n);
        }
        tap_off.record(Stamp::default(), RecordKind::Mark, 0, 0, || unreachable!("off"));
        assert!(off.drain().is_empty());
        assert_eq!(Tap::off().new_id(), 1);
    }

    #[test]
    fn a_drain_is_ordered_by_time_place_and_sequence() {
        let mut hub = Hub::new(true);
        let (mut a, mut b) = (hub.tap("a", VALUES), hub.tap("b", VALUES));
        let at = |t_fs| Stamp { t_fs, cycle: 0 };
        let say = |tap: &mut Tap, t, id| tap.record(at(t), RecordKind::Mark, id, 0, || Body::Mark("m"));
        say(&mut b, 5, 1);
        say(&mut b, 5, 2);
        say(&mut a, 7, 3);
        say(&mut a, 5, 4);
        let ids = |records: Vec<Record>| records.iter().map(|r| r.id).collect::<Vec<_>>();
        assert_eq!(ids(hub.drain_before(7)), [4, 1, 2]);
        assert_eq!(ids(hub.drain()), [3]);
        assert!(hub.drain().is_empty());
    }

    #[test]
    fn a_tap_moves_to_another_thread() {
        let mut hub = Hub::new(true);
        let mut tap = hub.tap("a", VALUES);
        let thread = std::thread::spawn(move || tap.record(Stamp::default(), RecordKind::Mark, 0, 0, || Body::None));
        thread.join().expect("the thread only records");
        assert_eq!(hub.drain().len(), 1);
    }
}
