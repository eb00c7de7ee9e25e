//! The JSON forms of messages, violations and flits.
//!
//! Modelled: how a message, a broken rule and a whole flit are written as JSON and read back; the command line, traces,
//! vector files and stimulus all use these. Detail: every bit of a unit has a place in its form, so decoding and encoding
//! again gives the same bytes (a CRC apart, which is computed unless `force` stands there). Left out: files and lines
//! (see the command line), but for reading no more of one than a limit ([`input`]); what a rule says (see `scalepool_protocols`).
//!
//! Invariants: keys always come in the same order; a reader refuses what it does not know, and a key that comes twice, and
//! says where ([`FormError`]); nothing here panics on input. Integers up to 2^53 - 1 print as numbers, larger ones as `0x` strings, both are read.
//! Bytes are lower-case hex, byte 0 first.
//!
//! A walk through one flit: [`hex::HexReader`] reads the digits, [`flit68::Cxl68UnitDecoder`] keeps the stream state
//! and takes the unit apart, [`flit68::to_json`] writes it, with [`message`] for each place of a slot and [`violation`]
//! for each finding. [`flit68::Cxl68UnitEncoder`] goes the other way and keeps the state that a sender has. [`flit256`]
//! does the same for 256-byte flits, [`flit_nvl`] for packets of NVLink.
//! [`flit_ual`] does it for UALink, where an answer may have to wait for the next flit. [`flit`] picks by name.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod almp;
mod error;
pub mod flit;
pub mod flit256;
pub mod flit68;
pub mod flit_io;
pub mod flit_nvl;
pub mod flit_ual;
pub mod follow;
pub mod hex;
pub mod input;
pub mod json;
pub mod layout;
pub mod message;
pub mod number;
pub mod options;
pub mod stream;
pub mod told;
pub mod violation;

pub use error::{FormError, shortened};

use serde_json::{Map, Value};

/// A JSON object.
pub type Object = Map<String, Value>;

/// Reads a text of JSON.
///
/// # Errors
/// Text that is blank or no JSON; an object with a key for the second time.
pub fn parse(text: &str) -> Result<Value, FormError> {
    if text.trim().is_empty() {
        return Err(FormError::new("line", "a blank line", "a JSON object"));
    }
    json::read(text).map_err(|e| {
        let message = e.to_string();
        let found = message.rsplit_once(" at line ").map_or(message.as_str(), |(found, _)| found);
        let expected = if e.is_data() { "each key of an object once" } else { "a JSON object" };
        FormError::new(format!("column {}", e.column()), found, expected)
    })
}

/// The object at `at`, all of whose keys are in `known`.
///
/// # Errors
/// A value that is no object, or a key that is not known; `at` names the place.
pub fn object<'a>(value: &'a Value, at: &str, known: &[&str]) -> Result<&'a Object, FormError> {
    let object = value.as_object().ok_or_else(|| FormError::new(at, shown(value), "an object"))?;
    match object.keys().find(|k| !known.contains(&k.as_str())) {
        Some(key) => Err(FormError::new(at, format!("key `{key}`"), format!("one of: {}", known.join(", ")))),
        None => Ok(object),
    }
}

/// The string at `at`.
///
/// # Errors
/// A value that is no string; `at` names the place, `expected` says what a string there holds.
pub fn text<'a>(value: &'a Value, at: &str, expected: &str) -> Result<&'a str, FormError> {
    value.as_str().ok_or_else(|| FormError::new(at, shown(value), expected))
}

/// A JSON value in an error message: short ones in full, long ones by their beginning.
pub fn shown(value: &Value) -> String {
    error::shortened(&value.to_string())
}
