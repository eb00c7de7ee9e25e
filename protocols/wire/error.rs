//! Why a message could not be encoded or read.

use thiserror::Error;

/// What is wrong with a field or a byte string, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{layout}: {fault}")]
pub struct FieldError {
    /// Layout name, e.g. `cxl68.m2s_req`.
    pub layout: &'static str,
    /// The fault.
    pub fault: FieldFault,
}

/// The kinds of [`FieldError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FieldFault {
    /// A value does not fit its field.
    #[error("field `{field}` at bits {}:{lsb}: found {found:#x}, expected at most {max:#x}", lsb + width - 1)]
    TooWide {
        /// Field name.
        field: &'static str,
        /// Lowest bit in the message.
        lsb: u32,
        /// Width in bits.
        width: u32,
        /// The value.
        found: u128,
        /// Largest value that fits.
        max: u128,
    },
    /// A byte address has low bits that do not travel.
    #[error(
        "field `{field}` at bits {}:{lsb}: found {found:#x}, expected a multiple of {align_bytes} bytes",
        lsb + width - 1
    )]
    Misaligned {
        /// Field name.
        field: &'static str,
        /// Lowest bit in the message.
        lsb: u32,
        /// Width in bits.
        width: u32,
        /// The address.
        found: u128,
        /// Alignment in bytes.
        align_bytes: u128,
    },
    /// The layout has no such field.
    #[error("found field `{found}`, expected one of: {expected}")]
    UnknownField {
        /// The name given.
        found: String,
        /// The names there are.
        expected: String,
    },
    /// The field has no such code name.
    #[error("field `{field}`: found code `{found}`, expected a number or one of: {expected}")]
    UnknownCode {
        /// Field name.
        field: &'static str,
        /// The name given.
        found: String,
        /// The names there are.
        expected: String,
    },
    /// A byte string has the wrong length.
    #[error("found {found} bytes, expected {expected} ({bits} bits)")]
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes of the layout.
        expected: usize,
        /// Bits of the layout.
        bits: u32,
    },
    /// Bits above the message are set in its last byte.
    #[error("bits above bit {} are set: found {found:#x}, expected 0", bits - 1)]
    Padding {
        /// Bits of the layout.
        bits: u32,
        /// The bits found above it.
        found: u128,
    },
}
