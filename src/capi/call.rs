//! The border: what stands around every call, and everything that touches memory of the caller.
//!
//! [`call`] checks that the versions have been compared, catches what would unwind and keeps the text of a failure.
//! [`Caller`] reads and writes through the caller's pointers. Inputs are copied before anything is written, so buffers of
//! one call may overlap; every place to write to is checked before the work, so a call that is refused has done nothing.

use super::status::{
    Failure, SP_ERR_ALIGN, SP_ERR_INPUT, SP_ERR_INTERNAL, SP_ERR_NULL, SP_ERR_SHORT, SP_ERR_VERSION, SP_OK,
};
use std::cell::RefCell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest text that a call takes, in bytes: as long as a line of the command line.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Largest other input, in bytes.
const MAX_INPUT_BYTES: usize = 1 << 28;

thread_local! {
    /// Text of the last call of this thread that did not answer `SP_OK`.
    static LAST_ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Whether the versions have been compared.
static OPEN: AtomicBool = AtomicBool::new(false);

/// From now on other calls do something.
pub fn open() {
    OPEN.store(true, Ordering::Relaxed);
}

/// Runs a call; before `sp_open` it is refused.
pub fn call(work: impl FnOnce() -> Result<i32, Failure>) -> i32 {
    call_before_open(|| {
        if OPEN.load(Ordering::Relaxed) {
            return work();
        }
        Err(Failure::new(SP_ERR_VERSION, "sp_open has not been called, expected it before any other call"))
    })
}

/// Runs a call that may come before `sp_open`.
pub fn call_before_open(work: impl FnOnce() -> Result<i32, Failure>) -> i32 {
    // Objects that a panic may have left half changed are behind a mutex that is poisoned then.
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(status)) => return status,
        Ok(Err(failure)) => failure,
        Err(_) => {
            Failure::new(SP_ERR_INTERNAL, "internal error of the library; the handle of the call can only be destroyed")
        }
    };
    set_last_error(failure.text);
    failure.status
}

/// The text of the last failure of this thread.
pub fn last_error() -> String {
    LAST_ERROR.try_with(|last| last.borrow().clone()).unwrap_or_default()
}

/// Sets it.
pub fn set_last_error(text: String) {
    // No place is left for the text in a thread that is ending.
    let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = text);
}

/// A type of which every bit pattern is a value.
///
/// # Safety
/// That it is so, and that it has no padding.
pub unsafe trait Plain: Copy {}
// SAFETY: an integer.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for i8 {}
// SAFETY: an integer.
unsafe impl Plain for i32 {}
// SAFETY: an integer.
unsafe impl Plain for u32 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}
// SAFETY: an integer.
unsafe impl Plain for usize {}

/// The caller's promise: every pointer that it gave to this call and that is not null points to as many readable or
/// writable items as it said.
pub struct Caller(());

/// A place for one value.
pub struct OutValue<T>(*mut T);

/// A buffer for a number of values that is known later, with the place for that number.
pub struct Buffer<T> {
    what: &'static str,
    start: *mut T,
    capacity: usize,
    needed: OutValue<usize>,
}

fn check<T>(what: &str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::new(SP_ERR_NULL, format!("{what}: found a null pointer")));
    }
    if !pointer.is_aligned() {
        let text = format!("{what}: found an address that is not a multiple of {}", align_of::<T>());
        return Err(Failure::new(SP_ERR_ALIGN, text));
    }
    Ok(())
}

impl Caller {
    /// Trusts the caller for one call.
    ///
    /// # Safety
    /// What the header says about pointers: each one is null, or points to memory of the length that stands beside it and
    /// that no other thread uses during the call.
    pub const unsafe fn trusted() -> Caller {
        Caller(())
    }

    /// A copy of `count` items. Null is an input without items.
    pub fn items<T: Plain>(&self, what: &str, start: *const T, count: usize) -> Result<Vec<T>, Failure> {
        if count == 0 {
            return Ok(Vec::new());
        }
        check(what, start)?;
        if count.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > MAX_INPUT_BYTES) {
            return Err(Failure::range(what, format!("{count} items"), format!("at most {MAX_INPUT_BYTES} bytes")));
        }
        // SAFETY: not null, aligned, of the length that the caller promised; the slice is gone before anything is written.
        Ok(unsafe { std::slice::from_raw_parts(start, count) }.to_vec())
    }

    /// A copy of a text.
    pub fn text(&self, what: &str, start: *const c_char, length: usize) -> Result<String, Failure> {
        if start.is_null() {
            check(what, start)?;
        }
        if length > MAX_TEXT_BYTES {
            return Err(Failure::range(what, format!("{length} bytes"), format!("at most {MAX_TEXT_BYTES}")));
        }
        String::from_utf8(self.items(what, start.cast::<u8>(), length)?).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            Failure::new(SP_ERR_INPUT, format!("{what}: found a byte that is not UTF-8 at offset {at}"))
        })
    }

    /// A place to write a value to.
    pub fn place<T: Plain>(&self, what: &str, place: *mut T) -> Result<OutValue<T>, Failure> {
        check(what, place)?;
        Ok(OutValue(place))
    }

    /// A buffer to fill. It may be null with capacity 0: then the needed length is written, and nothing else happens.
    pub fn buffer<T: Plain>(
        &self,
        what: &'static str,
        start: *mut T,
        capacity: usize,
        needed: *mut usize,
    ) -> Result<Buffer<T>, Failure> {
        if capacity > 0 || !start.is_null() {
            check(what, start)?;
        }
        Ok(Buffer { what, start, capacity, needed: self.place("length", needed)? })
    }

    /// The same, where the caller may not want it: all null.
    pub fn wanted<T: Plain>(
        &self,
        what: &'static str,
        start: *mut T,
        capacity: usize,
        needed: *mut usize,
    ) -> Result<Option<Buffer<T>>, Failure> {
        if start.is_null() && capacity == 0 && needed.is_null() {
            return Ok(None);
        }
        self.buffer(what, start, capacity, needed).map(Some)
    }

    /// Room for exactly `count` items; no length is written.
    pub fn room<T: Plain>(&self, what: &'static str, start: *mut T, count: usize) -> Result<OutArray<T>, Failure> {
        if count > 0 {
            check(what, start)?;
        }
        Ok(OutArray { start, count })
    }
}

/// Room for a number of items that the caller gave.
pub struct OutArray<T> {
    start: *mut T,
    count: usize,
}

impl<T: Plain> OutArray<T> {
    /// Writes the items, no more than there is room for.
    pub fn set(&self, items: &[T]) {
        let count = items.len().min(self.count);
        if count > 0 {
            // SAFETY: checked in `Caller::room`; the source is memory of the library.
            unsafe { std::ptr::copy_nonoverlapping(items.as_ptr(), self.start, count) };
        }
    }
}

impl<T: Plain> OutValue<T> {
    /// Writes the value.
    pub fn set(&self, value: T) {
        // SAFETY: checked in `Caller::place`; that it is writable is the caller's promise.
        unsafe { self.0.write(value) };
    }
}

impl<T: Plain> Buffer<T> {
    /// Writes the needed length and says whether there is room for it.
    pub fn fits(&self, length: usize) -> Result<(), Failure> {
        self.announce(length, length)
    }

    fn announce(&self, length: usize, room: usize) -> Result<(), Failure> {
        self.needed.set(length);
        if room > self.capacity {
            let text = format!("{}: found room for {}, expected {room}", self.what, self.capacity);
            return Err(Failure::new(SP_ERR_SHORT, text));
        }
        Ok(())
    }

    /// Writes length and items, or the length alone if there is no room.
    pub fn fill(&self, items: &[T]) -> Result<i32, Failure> {
        self.fits(items.len())?;
        if !items.is_empty() {
            // SAFETY: checked in `Caller::buffer`; the source is memory of the library.
            unsafe { std::ptr::copy_nonoverlapping(items.as_ptr(), self.start, items.len()) };
        }
        Ok(SP_OK)
    }
}

impl Buffer<c_char> {
    /// Whether a text and its final NUL have room; the length is written without the NUL.
    pub fn fits_text(&self, text: &str) -> Result<(), Failure> {
        self.announce(text.len(), text.len() + 1)
    }

    /// Writes a text with a final NUL, and its length without it.
    pub fn fill_text(&self, text: &str) -> Result<i32, Failure> {
        self.fits_text(text)?;
        let bytes: Vec<c_char> = text.bytes().chain([0]).map(|b| b as c_char).collect();
        // SAFETY: checked in `Caller::buffer`; the source is memory of the library.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start, bytes.len()) };
        Ok(SP_OK)
    }
}
