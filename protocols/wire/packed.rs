//! Why bytes of a message channel are no message of it: one error for every protocol.
//!
//! Modelled: what the packed forms of CXL, UALink and NVLink messages have in common: a length, a header in a layout, and behind it
//! parts that a message may lack; where it lacks one, all of its bytes have one stated value. Left out: the forms themselves, which
//! stand with their protocols.

use super::error::FieldError;
use super::layout::{FieldDef, LayoutDef};
use super::violation::Violation;
use thiserror::Error;

/// Bytes that are no message of their channel, or a message that has no bytes there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PackedError {
    /// Too many or too few.
    #[error("{layout}: found {found} bytes, expected {expected}: {header} of the header{payload}")]
    Length {
        /// Layout of the header.
        layout: &'static str,
        /// Bytes given.
        found: usize,
        /// Bytes of the channel.
        expected: usize,
        /// Of these the header has so many.
        header: usize,
        /// What follows it.
        payload: &'static str,
    },
    /// A value that does not fit, or bits behind the last field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A rule of the layout is broken.
    #[error("{0}")]
    Rule(Violation),
    /// A field that has to have another value.
    #[error("{layout}: field `{field}` at bits {span}: found {found:#x}, expected {expected:#x}{why}")]
    Value {
        /// Layout of the header.
        layout: &'static str,
        /// The field.
        field: &'static str,
        /// Its place.
        span: String,
        /// Its value.
        found: u128,
        /// The value that it has to have.
        expected: u128,
        /// Why.
        why: &'static str,
    },
    /// Bytes where the message has none.
    #[error(
        "{layout}: {what} at bytes {first} to {last}: found {found:#x}, expected {expected:#x}, since the message has none"
    )]
    Payload {
        /// Layout of the header.
        layout: &'static str,
        /// Part of what follows it.
        what: &'static str,
        /// Its first byte.
        first: usize,
        /// Its last byte.
        last: usize,
        /// What is there.
        found: u64,
        /// What stands for none.
        expected: u64,
    },
    /// The channel or its link does not carry such a message.
    #[error("{0}")]
    NotCarried(String),
}

impl PackedError {
    /// A field of a header that has to have another value; `why` follows the sentence.
    pub fn value(def: &LayoutDef, field: &FieldDef, bits: u128, expected: u128, why: &'static str) -> PackedError {
        let (span, found) = (field.span(), field.value(bits));
        PackedError::Value { layout: def.name, field: field.name, span, found, expected, why }
    }
}

impl LayoutDef {
    /// Judges the header of a packed message: the first rule of its layout that it breaks, then the fields that the link decides, which
    /// are 0 in a channel.
    ///
    /// # Errors
    /// [`PackedError::Rule`] and [`PackedError::Value`].
    pub fn check_packed(&self, bits: u128, of_the_link: &[&str]) -> Result<(), PackedError> {
        let mut broken = Vec::new();
        self.check(bits, &mut broken);
        if let Some(first) = broken.into_iter().next() {
            return Err(PackedError::Rule(first));
        }
        match self.fields.iter().find(|field| of_the_link.contains(&field.name) && field.extract(bits) != 0) {
            Some(field) => Err(PackedError::value(self, field, bits, 0, ": the link decides it")),
            None => Ok(()),
        }
    }

    /// Judges a part that the message of this header lacks: each byte has to be `expected`.
    ///
    /// # Errors
    /// [`PackedError::Payload`].
    pub fn check_absent(&self, what: &'static str, first: usize, part: &[u8], expected: u8) -> Result<(), PackedError> {
        match part.iter().find(|byte| **byte != expected) {
            Some(found) => Err(PackedError::Payload {
                layout: self.name,
                what,
                first,
                last: first + part.len() - 1,
                found: u64::from(*found),
                expected: u64::from(expected),
            }),
            None => Ok(()),
        }
    }
}
