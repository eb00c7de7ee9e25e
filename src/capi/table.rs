//! Handles: 64-bit numbers that name objects of the library, never addresses.
//!
//! A handle is a generation (bits 63:32), a kind (31:24) and a place (23:0). A place that is used again has another
//! generation, so a handle that was destroyed names nothing ever after. 0 is never a handle. The lock of the table is held
//! for a look-up only; an object has a lock of its own, and a second thread is refused, not kept waiting.

use super::status::{Failure, SP_ERR_BUSY, SP_ERR_HANDLE, SP_ERR_INTERNAL};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// Objects of one kind that may exist at a time.
const MAX_OBJECTS: usize = 4096;

/// All objects of one kind.
pub struct ObjectTable<T> {
    kind: u8,
    name: &'static str,
    slots: Mutex<Vec<TableSlot<T>>>,
}

struct TableSlot<T> {
    generation: u32,
    object: Option<Arc<Mutex<T>>>,
}

impl<T> ObjectTable<T> {
    /// An empty table. Each has its own `kind`, from 1.
    pub const fn new(kind: u8, name: &'static str) -> ObjectTable<T> {
        ObjectTable { kind, name, slots: Mutex::new(Vec::new()) }
    }

    /// Takes an object in; its handle.
    ///
    /// # Errors
    /// All places are taken.
    pub fn insert(&self, object: T) -> Result<u64, Failure> {
        let object = Some(Arc::new(Mutex::new(object)));
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        // A place whose generations are used up stays empty.
        let place = match slots.iter().position(|s| s.object.is_none() && s.generation < u32::MAX) {
            Some(place) => place,
            None if slots.len() < MAX_OBJECTS => {
                slots.push(TableSlot { generation: 0, object: None });
                slots.len() - 1
            }
            None => {
                return Err(Failure::range(self.name, "no free handle", format!("at most {MAX_OBJECTS} at a time")));
            }
        };
        let slot = &mut slots[place];
        slot.generation += 1;
        slot.object = object;
        Ok(u64::from(slot.generation) << 32 | u64::from(self.kind) << 24 | place as u64)
    }

    fn unknown(&self, handle: u64) -> Failure {
        let text = format!("handle: found {handle:#x}, expected a {} that has not been destroyed", self.name);
        Failure::new(SP_ERR_HANDLE, text)
    }

    /// Finds the slot of a handle and does something with it.
    fn at<R>(&self, handle: u64, found: impl FnOnce(&mut Option<Arc<Mutex<T>>>) -> Option<R>) -> Result<R, Failure> {
        let (generation, kind, place) = ((handle >> 32) as u32, (handle >> 24) as u8, handle as usize & 0xff_ffff);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots
            .get_mut(place)
            .filter(|slot| kind == self.kind && slot.generation == generation)
            .and_then(|slot| found(&mut slot.object))
            .ok_or_else(|| self.unknown(handle))
    }

    /// Works with an object.
    ///
    /// # Errors
    /// A handle that names none, an object that another call works with, and those of `work`.
    pub fn with<R>(&self, handle: u64, work: impl FnOnce(&mut T) -> Result<R, Failure>) -> Result<R, Failure> {
        let object = self.at(handle, |object| object.clone())?;
        match object.try_lock() {
            Ok(mut object) => work(&mut object),
            Err(TryLockError::WouldBlock) => Err(busy(handle)),
            Err(TryLockError::Poisoned(_)) => {
                let text = format!(
                    "handle {handle:#x}: an earlier call with it failed inside the library; it can only be destroyed"
                );
                Err(Failure::new(SP_ERR_INTERNAL, text))
            }
        }
    }

    /// Forgets an object. While a call is inside it, of another thread or around a hook, it stays.
    ///
    /// # Errors
    /// A handle that names none, an object that a call works with.
    pub fn remove(&self, handle: u64) -> Result<(), Failure> {
        let found = self.at(handle, |object| object.clone())?;
        if let Err(TryLockError::WouldBlock) = found.try_lock() {
            return Err(busy(handle));
        }
        // The lock is free again when the object is dropped.
        let object = self.at(handle, Option::take)?;
        drop(object);
        Ok(())
    }
}

fn busy(handle: u64) -> Failure {
    Failure::new(
        SP_ERR_BUSY,
        format!("handle {handle:#x}: another call with it is still running, in another thread or around this one"),
    )
}
