//! Messages as text: fields by name, codes by name, addresses as byte addresses.
//!
//! Left out: reading such text back.

use std::fmt::Write;

use scalepool_protocols::wire::{FieldDef, LayoutDef};

/// Largest integer that every JSON reader keeps exact (architecture §8.1).
const MAX_EXACT: u128 = (1 << 53) - 1;

/// Writes an integer, as a `0x` string where a reader could lose bits.
pub(super) fn integer(out: &mut String, value: u128) {
    // Writing to a String cannot fail.
    let _ = if value <= MAX_EXACT { write!(out, "{value}") } else { write!(out, "\"{value:#x}\"") };
}

/// Writes a quoted text.
pub(super) fn text(out: &mut String, text: &str) {
    if text.bytes().all(|b| b >= b' ' && b != b'"' && b != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}

/// Writes bytes as quoted lower-case hex, byte 0 first.
pub(super) fn hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)].into());
        out.push(DIGITS[usize::from(byte & 15)].into());
    }
    out.push('"');
}

/// Writes the value of a field: a code by name, an address as a `0x` string, else an integer.
fn value(out: &mut String, field: &FieldDef, bits: u128) {
    let raw = field.extract(bits);
    if let Some(name) = field.codes.and_then(|codes| codes.name_of(raw)) {
        text(out, name);
    } else if field.address_lsb > 0 {
        let _ = write!(out, "\"{:#x}\"", field.value(bits));
    } else {
        integer(out, raw);
    }
}

/// Writes the object of all fields, reserved ones included, in layout order.
pub(super) fn object(out: &mut String, layout: &LayoutDef, bits: u128) {
    for (n, field) in layout.fields.iter().enumerate() {
        out.push(if n == 0 { '{' } else { ',' });
        text(out, field.name);
        out.push(':');
        value(out, field, bits);
    }
    out.push('}');
}
