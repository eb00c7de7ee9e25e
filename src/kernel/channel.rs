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
use super::module::{Core, Cx, End, LinkEnds, Place, Queue, sealed};
use super::time::Time;

/// The item that found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the channel is full")]
pub struct Full<T>(pub T);

struct Slot<T> {
    /// The edge of the reader's clock at which the item is due.
    due: Cell<u64>,
    item: Cell<Option<T>>,
}

struct Channel<T> {
    name: String,
    depth: u32,
    latency_cycles: u32,
    /// A power of two of them, at least `depth`.
    slots: Box<[Slot<T>]>,
    head: Cell<u32>,
    len: Cell<u32>,
    /// The instant of the last pop, and the pops of that instant: slots that are not free yet.
    popped_at: Cell<Time>,
    popped: Cell<u32>,
    /// The writer found too little room; the next pop wakes it.
    writer_waits: Cell<bool>,
    writer: Cell<Option<Place>>,
    reader: Cell<Option<Place>>,
}

impl<T> Channel<T> {
    #[inline]
    fn slot(&self, ahead: u32) -> &Slot<T> {
        &self.slots[self.head.get().wrapping_add(ahead) as usize & (self.slots.len() - 1)]
    }

    #[inline]
    fn popped_now(&self, now: Time) -> u32 {
        if self.popped_at.get() == now { self.popped.get() } else { 0 }
    }

    #[inline]
    fn free(&self, now: Time) -> u32 {
        self.depth - self.len.get() - self.popped_now(now)
    }

    /// Wakes the writer as soon as there is more room than now.
    fn wait_for_room(&self, cx: &Cx) {
        if self.popped_now(cx.now) > 0 {
            cx.core.wake(cx.place, cx.cycle + 1);
        } else {
            self.writer_waits.set(true);
        }
    }

    #[cold]
    fn wake_writer(&self, cx: &Cx) {
        self.writer_waits.set(false);
        if let Some(place) = self.writer.get() {
            let clock = &cx.core.domains[place.domain as usize].clock;
            cx.core.wake(place, clock.first_after(cx.now));
        }
    }

    /// The edge of the reader's clock at which an item sent now is due.
    #[inline]
    fn due(&self, cx: &Cx, reader: Place) -> u64 {
        let sent_for = cx.cycle.saturating_add(u64::from(self.latency_cycles));
        if reader.domain == cx.place.domain { sent_for } else { other_domain(cx.core, cx.place, reader, sent_for) }
    }
}

#[cold]
fn other_domain(core: &Core, writer: Place, reader: Place, cycle: u64) -> u64 {
    let due = core.domains[writer.domain as usize].clock.edge(cycle);
    core.domains[reader.domain as usize].clock.first_at_or_after(due)
}

impl<T> Queue for Channel<T> {
    fn name(&self) -> &str {
        &self.name
    }
    fn writer(&self) -> Option<Place> {
        self.writer.get()
    }
    fn reader(&self) -> Option<Place> {
        self.reader.get()
    }
    fn left(&self) -> Option<(usize, u64)> {
        (self.len.get() > 0).then(|| (self.len.get() as usize, self.slot(0).due.get()))
    }
}

/// A new channel: its two ends, and its entry in the list of the partition.
#[allow(clippy::type_complexity)]
pub(super) fn channel<T: 'static>(
    name: &str,
    depth: u32,
    latency_cycles: u32,
) -> Result<(OutEnd<T>, InEnd<T>, Rc<dyn Queue>), BuildError> {
    if depth == 0 {
        return Err(BuildError::Depth { name: name.into() });
    }
    if latency_cycles == 0 {
        return Err(BuildError::Latency { name: name.into() });
    }
    let slot = |_| Slot { due: Cell::new(0), item: Cell::new(None) };
    let channel = Rc::new(Channel {
        name: name.into(),
        depth,
        latency_cycles,
        slots: (0..depth.next_power_of_two()).map(slot).collect(),
        head: Cell::new(0),
        len: Cell::new(0),
        popped_at: Cell::new(Time::MAX),
        popped: Cell::new(0),
        writer_waits: Cell::new(false),
        writer: Cell::new(None),
        reader: Cell::new(None),
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
    fn attach(self, place: Place, _: &mut LinkEnds) -> Out<T> {
        self.0.writer.set(Some(place));
        Out(self.0)
    }
}

impl<T> End for InEnd<T> {}
impl<T> sealed::Attach for InEnd<T> {
    type Port = In<T>;
    #[allow(private_interfaces)]
    fn attach(self, place: Place, _: &mut LinkEnds) -> In<T> {
        self.0.reader.set(Some(place));
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
        if channel.free(cx.now) == 0 {
            channel.wait_for_room(cx);
            return Err(Full(item));
        }
        let Some(reader) = channel.reader.get() else { return Err(Full(item)) };
        let due = channel.due(cx, reader);
        let slot = channel.slot(channel.len.get());
        slot.due.set(due);
        slot.item.set(Some(item));
        channel.len.set(channel.len.get() + 1);
        cx.core.wake(reader, due);
        Ok(())
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
    #[inline]
    pub fn pop(&mut self, cx: &mut Cx) -> Option<T> {
        if !self.is_due(cx) {
            return None;
        }
        let channel = &*self.channel;
        let item = self.seen.take().or_else(|| channel.slot(0).item.take());
        channel.head.set(channel.head.get().wrapping_add(1));
        channel.len.set(channel.len.get() - 1);
        channel.popped.set(channel.popped_now(cx.now) + 1);
        channel.popped_at.set(cx.now);
        if channel.writer_waits.get() {
            channel.wake_writer(cx);
        }
        item
    }

    /// Looks at the first item that is due and leaves it in its slot.
    #[inline]
    pub fn peek(&mut self, cx: &Cx) -> Option<&T> {
        if self.seen.is_none() && self.is_due(cx) {
            self.seen = self.channel.slot(0).item.take();
        }
        self.seen.as_ref()
    }

    /// Whether an item is due.
    #[inline]
    pub fn is_due(&self, cx: &Cx) -> bool {
        self.channel.len.get() > 0 && self.channel.slot(0).due.get() <= cx.cycle
    }
}
