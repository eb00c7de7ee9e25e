//! Channels: one writer, one reader, a depth, and a latency of at least one edge of the writer's clock.
//!
//! An item sent at edge k of the writer is due at the time of edge k + latency; the reader sees it from its own first edge
//! not before that time. A slot freed at an instant is usable at later instants only. Neither end can therefore see what the
//! other one does at the same instant, the order of evaluation cannot matter, and there is no commit phase.
//!
//! ```text
//! depth 1, latency 1      edge   0       1       2       3       4
//!                       writer   push a  full    push b  full    push c
//!                       reader           pop a           pop b            one item every second edge
//! ```

use std::cell::Cell;
use std::rc::Rc;

use super::error::BuildError;
use super::module::{Cx, End, ModulePlace, PartitionLinkEnds, ReportedChannel, sealed};
use super::time::Time;

/// The item that found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the channel is full")]
pub struct Full<T>(pub T);

/// Slots that a channel uses as long as they suffice.
const FIRST_RING: usize = 2;

struct ChannelSlot<T> {
    /// The edge of the reader's clock at which the item is due.
    due: Cell<u64>,
    item: Cell<Option<T>>,
}

/// Nothing is in the channel, so nothing is due at any edge.
const NOTHING_DUE: u64 = u64::MAX;

/// What every push and pop touches comes first and fits into one line of a cache.
#[repr(C, align(64))]
struct Channel<T> {
    /// When the first item is due, as in its slot: readers ask for it more often than anything else.
    first_due: Cell<u64>,
    /// A power of two of them, at least `depth`.
    slots: Box<[ChannelSlot<T>]>,
    /// The slots in use are a ring of `mask + 1`. It starts small and grows with what is under way, so that a deep
    /// channel with little in it stays in the cache.
    mask: Cell<u32>,
    /// Below `mask + 1`.
    head: Cell<u32>,
    len: Cell<u32>,
    depth: u32,
    latency_cycles: u32,
    /// The pops of the instant `popped_at`: slots that are not free yet.
    popped: Cell<u32>,
    popped_at: Cell<Time>,
    reader: Cell<ModulePlace>,
    /// The writer found too little room; the next pop wakes it.
    writer_waits: Cell<bool>,
    writer: Cell<ModulePlace>,
    /// The edge of the writer at which it last sent to a reader on another clock, and the edge of the reader at which that is due.
    sent_at: Cell<u64>,
    sent_due: Cell<u64>,
    name: String,
}

impl<T> Channel<T> {
    /// The first item's.
    #[inline]
    fn first(&self) -> &ChannelSlot<T> {
        &self.slots[self.head.get() as usize]
    }

    #[inline]
    fn slot(&self, ahead: u32) -> &ChannelSlot<T> {
        &self.slots[(self.head.get().wrapping_add(ahead) & self.mask.get()) as usize]
    }

    /// Doubles the ring: what had wrapped around to its start moves behind its old end.
    #[cold]
    fn grow(&self) {
        let old = self.mask.get() as usize + 1;
        for wrapped in 0..self.head.get() as usize {
            let (from, to) = (&self.slots[wrapped], &self.slots[old + wrapped]);
            to.due.set(from.due.get());
            to.item.set(from.item.take());
        }
        self.mask.set(2 * old as u32 - 1);
    }

    #[inline]
    fn popped_now(&self, now: Time) -> u32 {
        if self.popped_at.get() == now { self.popped.get() } else { 0 }
    }

    /// Items and pops of this instant together take at most `depth` slots, so nothing wraps here.
    #[inline]
    fn free(&self, now: Time) -> u32 {
        self.depth.wrapping_sub(self.len.get()).wrapping_sub(self.popped_now(now))
    }

    /// Whether there is no room. Most often the pops of the last instant that had some do not matter, whenever it was.
    #[inline]
    fn is_full(&self, now: Time) -> bool {
        self.len.get().wrapping_add(self.popped.get()) >= self.depth && self.free(now) == 0
    }

    /// Wakes the writer as soon as there is more room than now.
    // Not in line: a loop that sends would make ready for it in each pass.
    #[cold]
    #[inline(never)]
    fn wait_for_room(&self, cx: &Cx) {
        if self.popped_now(cx.now) > 0 {
            cx.domain.wake(cx.place.module, cx.cycle + 1, cx.now);
        } else {
            self.writer_waits.set(true);
        }
    }

    #[cold]
    fn wake_writer(&self, cx: &Cx) {
        self.writer_waits.set(false);
        let writer = self.writer.get();
        let domain = &cx.core.domains[writer.domain as usize];
        domain.wake(writer.module, domain.clock.first_after(cx.now), cx.now);
    }

    /// Wakes the reader for an item sent now, and returns the edge of its clock at which the item is due.
    #[inline]
    fn wake_reader(&self, cx: &Cx) -> u64 {
        let reader = self.reader.get();
        let due = cx.cycle.saturating_add(u64::from(self.latency_cycles));
        if reader.domain != cx.place.domain {
            // Items of one edge are due at one edge, and the reader is woken for it once: 80 instructions less for each but the first.
            if self.sent_at.get() != cx.cycle {
                self.sent_at.set(cx.cycle);
                self.sent_due.set(cx.core.wake_at(reader, cx.domain.clock.edge(due)));
            }
            return self.sent_due.get();
        }
        cx.domain.wake(reader.module, due, cx.now);
        due
    }
}

impl<T> ReportedChannel for Channel<T> {
    fn name(&self) -> &str {
        &self.name
    }
    fn writer(&self) -> Option<ModulePlace> {
        self.writer.get().known()
    }
    fn reader(&self) -> Option<ModulePlace> {
        self.reader.get().known()
    }
    fn left(&self) -> Option<(usize, u64)> {
        (self.len.get() > 0).then(|| (self.len.get() as usize, self.first().due.get()))
    }
}

/// A new channel: its two ends, and its entry in the list of the partition.
#[allow(clippy::type_complexity)]
pub(super) fn channel<T: 'static>(
    name: &str,
    depth: u32,
    latency_cycles: u32,
) -> Result<(OutEnd<T>, InEnd<T>, Rc<dyn ReportedChannel>), BuildError> {
    if depth == 0 {
        return Err(BuildError::Depth { name: name.into() });
    }
    if latency_cycles == 0 {
        return Err(BuildError::Latency { name: name.into() });
    }
    let slot = |_| ChannelSlot { due: Cell::new(0), item: Cell::new(None) };
    let slots: Box<[ChannelSlot<T>]> = (0..depth.next_power_of_two()).map(slot).collect();
    let channel = Rc::new(Channel {
        first_due: Cell::new(NOTHING_DUE),
        mask: Cell::new(slots.len().min(FIRST_RING) as u32 - 1),
        slots,
        head: Cell::new(0),
        len: Cell::new(0),
        depth,
        latency_cycles,
        popped: Cell::new(0),
        popped_at: Cell::new(Time::MAX),
        reader: Cell::new(ModulePlace::UNKNOWN),
        writer_waits: Cell::new(false),
        writer: Cell::new(ModulePlace::UNKNOWN),
        sent_at: Cell::new(u64::MAX),
        sent_due: Cell::new(0),
        name: name.into(),
    });
    Ok((OutEnd(channel.clone()), InEnd(channel.clone()), channel))
}

/// The writing end of a channel, not attached yet.
#[must_use = "an end that no module owns is an error"]
pub struct OutEnd<T>(Rc<Channel<T>>);

/// The reading end of a channel, not attached yet.
#[must_use = "an end that no module owns is an error"]
pub struct InEnd<T>(Rc<Channel<T>>);

impl<T> End for OutEnd<T> {}
impl<T> sealed::Attach for OutEnd<T> {
    type Port = Out<T>;
    #[allow(private_interfaces)]
    fn attach(self, place: ModulePlace, _: &mut PartitionLinkEnds) -> Out<T> {
        self.0.writer.set(place);
        Out(self.0)
    }
}

impl<T> End for InEnd<T> {}
impl<T> sealed::Attach for InEnd<T> {
    type Port = In<T>;
    #[allow(private_interfaces)]
    fn attach(self, place: ModulePlace, _: &mut PartitionLinkEnds) -> In<T> {
        self.0.reader.set(place);
        In { channel: self.0, seen: None }
    }
}

/// The port of the module that writes into a channel.
pub struct Out<T>(Rc<Channel<T>>);

impl<T> Out<T> {
    /// Sends `item`; the reader is woken for it.
    ///
    /// # Errors
    /// [`Full`] hands the item back if there is no room; the module is woken at the edge after the next pop.
    #[inline]
    pub fn push(&mut self, cx: &mut Cx, item: T) -> Result<(), Full<T>> {
        let channel = &*self.0;
        if channel.is_full(cx.now) {
            channel.wait_for_room(cx);
            return Err(Full(item));
        }
        self.place(cx, || item);
        Ok(())
    }

    /// Sends what `item` makes, if there is room; else the module is woken at the edge after the next pop. Whether it was sent.
    // In line, so that a message is made where it lies in the channel: one that is made first is moved once more.
    #[inline(always)]
    pub fn push_made(&mut self, cx: &mut Cx, item: impl FnOnce() -> T) -> bool {
        let channel = &*self.0;
        if channel.is_full(cx.now) {
            channel.wait_for_room(cx);
            return false;
        }
        self.place(cx, item);
        true
    }

    #[inline(always)]
    fn place(&mut self, cx: &mut Cx, item: impl FnOnce() -> T) {
        let channel = &*self.0;
        let len = channel.len.get();
        if len > channel.mask.get() {
            channel.grow();
        }
        let due = channel.wake_reader(cx);
        let slot = channel.slot(len);
        slot.item.set(Some(item()));
        slot.due.set(due);
        if len == 0 {
            channel.first_due.set(due);
        }
        // At most `depth`, which is a number of 32 bits.
        channel.len.set(len.wrapping_add(1));
    }

    /// Items that may be sent at this edge. With 0 the module is woken at the edge after the next pop.
    #[inline]
    pub fn free(&self, cx: &Cx) -> usize {
        let free = self.0.free(cx.now);
        if free == 0 {
            self.0.wait_for_room(cx);
        }
        free as usize
    }

    /// Whether `items` may be sent at this edge. If not, the module is woken at the edge after the next pop.
    #[inline]
    pub fn has_room(&self, cx: &Cx, items: usize) -> bool {
        let enough = self.0.free(cx.now) as usize >= items;
        if !enough {
            self.0.wait_for_room(cx);
        }
        enough
    }
}

/// The port of the module that reads from a channel.
pub struct In<T> {
    channel: Rc<Channel<T>>,
    /// The first item, if somebody looked at it; it still takes its slot.
    seen: Option<T>,
}

impl<T> In<T> {
    /// Takes the first item that is due.
    // In line: a call would hand the item back through memory. An evaluation of the ring in `make bench` takes 210
    // instructions instead of 234 (64 items, callgrind).
    #[inline(always)]
    pub fn pop(&mut self, cx: &mut Cx) -> Option<T> {
        if !self.is_due(cx) {
            return None;
        }
        let channel = &*self.channel;
        let first = channel.first();
        // Something was due, so there is at least one item.
        let left = channel.len.get().wrapping_sub(1);
        channel.len.set(left);
        if left == 0 {
            channel.head.set(0);
            channel.first_due.set(NOTHING_DUE);
        } else {
            channel.head.set(channel.head.get().wrapping_add(1) & channel.mask.get());
            channel.first_due.set(channel.first().due.get());
        }
        channel.popped.set(channel.popped_now(cx.now).wrapping_add(1));
        channel.popped_at.set(cx.now);
        if channel.writer_waits.get() {
            channel.wake_writer(cx);
        }
        // At last, so that it is moved once, to where the caller wants it: messages have 112 bytes.
        if self.seen.is_some() { self.seen.take() } else { first.item.take() }
    }

    /// Looks at the first item that is due and leaves it in its slot.
    #[inline]
    pub fn peek(&mut self, cx: &Cx) -> Option<&T> {
        if self.seen.is_none() && self.is_due(cx) {
            self.seen = self.channel.first().item.take();
        }
        self.seen.as_ref()
    }

    /// Whether an item is due.
    #[inline]
    pub fn is_due(&self, cx: &Cx) -> bool {
        self.channel.first_due.get() <= cx.cycle
    }
}
