//! What a call answers: a status, and a text for every status but [`SP_OK`].
//!
//! 0 is success, positive numbers are outcomes of a call that did its work, negative ones are refusals: nothing happened.

use scalepool::forms::FormError;

/// Success.
pub const SP_OK: i32 = 0;
/// The call is done, and a rule is broken or a comparison failed; sp_last_error says which.
pub const SP_FINDING: i32 = 1;
/// Nothing is waiting to be taken, or the simulation has nothing left to do.
pub const SP_EMPTY: i32 = 2;
/// The answer that was taken says that an earlier input could not be read.
pub const SP_UNREADABLE: i32 = 3;
/// There is no room: what was to be queued was not taken, and can be tried again after a step.
pub const SP_FULL: i32 = 4;
/// A pointer is null.
pub const SP_ERR_NULL: i32 = -1;
/// A buffer is too short; the length that is needed has been written.
pub const SP_ERR_SHORT: i32 = -2;
/// The handle is invalid: it is wrong, has been destroyed, or belongs to an object of another kind.
pub const SP_ERR_HANDLE: i32 = -3;
/// An input cannot be read: a text, a name, a field or a flit.
pub const SP_ERR_INPUT: i32 = -4;
/// A number or a length is out of range.
pub const SP_ERR_RANGE: i32 = -5;
/// A pointer is not aligned for its type.
pub const SP_ERR_ALIGN: i32 = -6;
/// Another call with the same handle is still running: in another thread, or around the callback that makes this call.
pub const SP_ERR_BUSY: i32 = -7;
/// The versions of header and library do not match, or sp_open has not been called.
pub const SP_ERR_VERSION: i32 = -8;
/// The object of the handle does not support this call: an encoder does not decode, a passive end does not send.
pub const SP_ERR_KIND: i32 = -9;
/// Internal error of the library. The handle of the call can only be destroyed.
pub const SP_ERR_INTERNAL: i32 = -10;

/// An answer that is not [`SP_OK`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// One of the codes `SP_ERR_*`.
    pub status: i32,
    /// What was found, and what was expected.
    pub text: String,
}

impl Failure {
    /// With a code and a text.
    pub fn new(status: i32, text: impl Into<String>) -> Failure {
        Failure { status, text: text.into() }
    }

    /// A number outside its range.
    pub fn range(what: &str, found: impl std::fmt::Display, expected: impl std::fmt::Display) -> Failure {
        Failure::new(SP_ERR_RANGE, format!("{what}: found {found}, expected {expected}"))
    }
}

impl From<FormError> for Failure {
    fn from(error: FormError) -> Failure {
        Failure::new(SP_ERR_INPUT, error.to_string())
    }
}
