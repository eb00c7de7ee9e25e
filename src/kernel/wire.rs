//! Wires: a value that stays until it is overwritten (`sc_signal`). One writer, any number of readers, no back-pressure.
//!
//! The last write of an edge wins, is visible from its due time on, and stays. A write that changes the value wakes the
//! readers; writing the same value again is nothing.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::error::BuildError;
use super::module::{Cx, End, ModulePlace, PartitionLinkEnds, ReportedChannel, sealed};
use super::time::Time;

struct WireState<T> {
    name: String,
    latency_cycles: u32,
    /// The value that every reader sees, and those that will follow, with the times at which they do.
    value: RefCell<T>,
    coming: RefCell<VecDeque<(Time, T)>>,
    writer: Cell<Option<ModulePlace>>,
    readers: RefCell<Vec<ModulePlace>>,
}

impl<T> WireState<T> {
    /// Makes the last of what is visible at `now` the value; the same whoever does it first at an instant.
    fn settle(&self, now: Time) {
        let mut coming = self.coming.borrow_mut();
        while coming.front().is_some_and(|first| first.0 <= now) {
            if let Some((_, value)) = coming.pop_front() {
                *self.value.borrow_mut() = value;
            }
        }
    }
}

impl<T> ReportedChannel for WireState<T> {
    fn name(&self) -> &str {
        &self.name
    }
    fn writer(&self) -> Option<ModulePlace> {
        self.writer.get()
    }
    fn reader(&self) -> Option<ModulePlace> {
        self.readers.borrow().first().copied()
    }
    fn left(&self) -> Option<(usize, u64)> {
        None
    }
}

/// A new wire: its two ends, and its entry in the list of the partition.
#[allow(clippy::type_complexity)]
pub(super) fn wire<T: Clone + PartialEq + 'static>(
    name: &str,
    latency_cycles: u32,
    initial: T,
) -> Result<(WireOutEnd<T>, WireInEnd<T>, Rc<dyn ReportedChannel>), BuildError> {
    if latency_cycles == 0 {
        return Err(BuildError::Latency { name: name.into() });
    }
    let wire = Rc::new(WireState {
        name: name.into(),
        latency_cycles,
        value: RefCell::new(initial),
        coming: RefCell::default(),
        writer: Cell::new(None),
        readers: RefCell::default(),
    });
    Ok((WireOutEnd(wire.clone()), WireInEnd(wire.clone()), wire))
}

/// The writing end of a wire, not attached yet.
#[must_use = "an end that no module owns is an error"]
pub struct WireOutEnd<T>(Rc<WireState<T>>);

/// The reading end of a wire, not attached yet. A copy for every reader.
#[must_use = "an end that no module owns is an error"]
pub struct WireInEnd<T>(Rc<WireState<T>>);

impl<T> Clone for WireInEnd<T> {
    fn clone(&self) -> Self {
        WireInEnd(self.0.clone())
    }
}

impl<T> End for WireOutEnd<T> {}
impl<T> sealed::Attach for WireOutEnd<T> {
    type Port = WireOut<T>;
    #[allow(private_interfaces)]
    fn attach(self, place: ModulePlace, _: &mut PartitionLinkEnds) -> WireOut<T> {
        self.0.writer.set(Some(place));
        WireOut(self.0)
    }
}

impl<T> End for WireInEnd<T> {}
impl<T> sealed::Attach for WireInEnd<T> {
    type Port = WireIn<T>;
    #[allow(private_interfaces)]
    fn attach(self, place: ModulePlace, _: &mut PartitionLinkEnds) -> WireIn<T> {
        self.0.readers.borrow_mut().push(place);
        WireIn(self.0)
    }
}

/// The port of the module that drives a wire.
pub struct WireOut<T>(Rc<WireState<T>>);

impl<T: Clone + PartialEq> WireOut<T> {
    /// Drives `value`. A second write at the same edge replaces the first one.
    pub fn write(&mut self, cx: &mut Cx, value: T) {
        let wire = &*self.0;
        wire.settle(cx.now);
        let due = cx.in_cycles(u64::from(wire.latency_cycles));
        let mut coming = wire.coming.borrow_mut();
        if coming.back().is_some_and(|last| last.0 == due) {
            coming.pop_back();
        }
        let same = match coming.back() {
            Some(last) => last.1 == value,
            None => *wire.value.borrow() == value,
        };
        if !same {
            coming.push_back((due, value));
            for reader in wire.readers.borrow().iter() {
                cx.core.wake_at(*reader, due);
            }
        }
    }
}

/// The port of a module that reads a wire.
pub struct WireIn<T>(Rc<WireState<T>>);

impl<T: Clone> WireIn<T> {
    /// The value at this edge.
    pub fn read(&self, cx: &Cx) -> T {
        self.0.settle(cx.now);
        self.0.value.borrow().clone()
    }
}
