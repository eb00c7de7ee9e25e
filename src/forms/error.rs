//! Why a form could not be read.

use super::Object;
use scalepool_protocols::wire::{FieldError, FieldFault};
use serde_json::Value;
use thiserror::Error;

/// What is wrong with an input: where, what was found, what was expected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{at}: found {found}, expected {expected}")]
pub struct FormError {
    /// Line of the input, from 1, where it is not the one that asked: text over several lines.
    pub line: Option<u64>,
    /// Place: a key path of the input (`slots[1].messages[0]`), or a layout with field and bits.
    pub at: String,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: String,
}

impl FormError {
    /// An error at a place.
    pub fn new(at: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> FormError {
        FormError { line: None, at: at.into(), found: found.into(), expected: expected.into() }
    }

    /// The same error, in a line of the input.
    #[must_use]
    pub fn in_line(self, line: u64) -> FormError {
        FormError { line: Some(line), ..self }
    }

    /// The same error, seen from one level further out.
    #[must_use]
    pub fn within(mut self, place: impl AsRef<str>) -> FormError {
        self.at = format!("{}: {}", place.as_ref(), self.at);
        self
    }

    /// `{"at":..,"found":..,"expected":..,"text":..}`.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("at".into(), self.at.clone().into());
        object.insert("found".into(), self.found.clone().into());
        object.insert("expected".into(), self.expected.clone().into());
        object.insert("text".into(), self.to_string().into());
        Value::Object(object)
    }
}

impl From<FieldError> for FormError {
    fn from(FieldError { layout, fault }: FieldError) -> FormError {
        let bits = |lsb: u32, width: u32| match width {
            1 => format!("bit {lsb}"),
            _ => format!("bits {}:{lsb}", lsb + width - 1),
        };
        match fault {
            FieldFault::TooWide { field, lsb, width, found, max } => FormError::new(
                format!("{layout}: field `{field}` at {}", bits(lsb, width)),
                format!("{found:#x}"),
                format!("at most {max:#x}"),
            ),
            FieldFault::Misaligned { field, lsb, width, found, align_bytes } => FormError::new(
                format!("{layout}: field `{field}` at {}", bits(lsb, width)),
                format!("{found:#x}"),
                format!("a byte address that is a multiple of {align_bytes}"),
            ),
            FieldFault::UnknownField { found, expected } => {
                FormError::new(layout, format!("field `{}`", shortened(&found)), format!("one of: {expected}"))
            }
            FieldFault::UnknownCode { field, found, expected } => FormError::new(
                format!("{layout}: field `{field}`"),
                format!("code `{}`", shortened(&found)),
                format!("a number or one of: {expected}"),
            ),
            FieldFault::Length { found, expected, bits } => {
                FormError::new(layout, format!("{found} bytes"), format!("{expected} bytes ({bits} bits)"))
            }
            FieldFault::Padding { bits, found } => FormError::new(
                layout,
                format!("{found:#x} in the bits above bit {}", bits - 1),
                format!("0: the layout has {bits} bits"),
            ),
        }
    }
}

/// Longest piece of input that is repeated in a message, in characters.
const SHOWN_CHARS: usize = 60;

/// Long input of an error message by its beginning.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text.to_owned(),
    }
}
