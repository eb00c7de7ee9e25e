//! What a call answers: a status, and a text for every status but [`SP_OK`].
//!
//! 0 is success, positive numbers are outcomes of a call that did its work, negative ones are refusals: nothing happened.

use scalepool::forms::FormError;

/// Done.
pub const SP_OK: i32 = 0;
/// Done, and a rule is broken or a comparison failed; the last error says which.
pub const SP_FINDING: i32 = 1;
/// Nothing waits to be taken.
pub const SP_EMPTY: i32 = 2;
/// What was taken says that an earlier input could not be read.
pub const SP_UNREADABLE: i32 = 3;
/// A pointer is null.
pub const SP_ERR_NULL: i32 = -1;
/// A buffer is too short; its needed length has been written.
pub const SP_ERR_SHORT: i32 = -2;
/// The handle names nothing: it is wrong, destroyed, or of another kind.
pub const SP_ERR_HANDLE: i32 = -3;
/// An input cannot be read: a text, a name, a field, a flit.
pub const SP_ERR_INPUT: i32 = -4;
/// A number or a length is out of its range.
pub const SP_ERR_RANGE: i32 = -5;
/// A pointer is not aligned for what it points to.
pub const SP_ERR_ALIGN: i32 = -6;
/// Another thread is inside a call with the same handle.
pub const SP_ERR_BUSY: i32 = -7;
/// The versions of header and library do not go together, or `sp_open` has not been called.
pub const SP_ERR_VERSION: i32 = -8;
/// The handle cannot do this: it was made for something else.
pub const SP_ERR_KIND: i32 = -9;
/// A mistake of the library. The handle of the call can only be destroyed.
pub const SP_ERR_INTERNAL: i32 = -10;

/// An answer that is not [`SP_OK`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub status: i32,
    pub text: String,
}

impl Failure {
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
