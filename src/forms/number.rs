//! Numbers and byte strings.

use super::{FormError, error::shortened, shown};
use serde_json::Value;
use std::fmt::Write;

/// Largest integer that every JSON reader keeps exact.
pub const MAX_JSON_INTEGER: u128 = (1 << 53) - 1;

/// A number: as it is up to [`MAX_JSON_INTEGER`], as a `0x` string above.
pub fn to_json(number: u128) -> Value {
    match u64::try_from(number) {
        Ok(small) if number <= MAX_JSON_INTEGER => small.into(),
        _ => format!("{number:#x}").into(),
    }
}

/// Reads a JSON integer or a string that [`parse`] takes.
///
/// # Errors
/// Everything else; `at` names the place.
pub fn from_json(value: &Value, at: &str) -> Result<u128, FormError> {
    let number = match value {
        Value::Number(n) => n.as_u64().map(u128::from),
        Value::String(s) => parse(s),
        _ => None,
    };
    number.ok_or_else(|| FormError::new(at, shown(value), "a whole number from 0, or a `0x` string up to 128 bits"))
}

/// `0x` and hexadecimal digits, or decimal digits; `None` for everything else and for more than 128 bits.
pub fn parse(text: &str) -> Option<u128> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    // The check keeps out the sign that the standard library accepts.
    digits.chars().all(|c| c.is_digit(radix)).then(|| u128::from_str_radix(digits, radix).ok()).flatten()
}

/// Lower-case hex, byte 0 first.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads hex of any case, byte 0 first.
///
/// # Errors
/// An odd number of digits, or a character that is no digit.
pub fn bytes_of(text: &str, at: &str) -> Result<Vec<u8>, FormError> {
    if let Some((offset, c)) = text.char_indices().find(|(_, c)| !c.is_ascii_hexdigit()) {
        let found = format!("character {c:?} at offset {offset} of `{}`", shortened(text));
        return Err(FormError::new(at, found, "hexadecimal digits"));
    }
    if text.len() % 2 == 1 {
        return Err(FormError::new(at, format!("{} digits", text.len()), "two hexadecimal digits a byte"));
    }
    let digit = |c: u8| (c as char).to_digit(16).map_or(0, |d| d as u8);
    Ok(text.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect())
}

/// Reads the hex string of exactly `N` bytes at `at`.
///
/// # Errors
/// No string, no hex, another length.
pub fn array_of<const N: usize>(value: &Value, at: &str) -> Result<[u8; N], FormError> {
    let bytes = bytes_of(super::text(value, at, "a string of hexadecimal digits")?, at)?;
    let found = bytes.len();
    bytes.try_into().map_err(|_| FormError::new(at, format!("{found} bytes"), format!("{N} bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_up_to_2_53_are_numbers() {
        assert_eq!(to_json(MAX_JSON_INTEGER).to_string(), "9007199254740991");
        assert_eq!(to_json(MAX_JSON_INTEGER + 1).to_string(), "\"0x20000000000000\"");
        for n in [0, 1, MAX_JSON_INTEGER, MAX_JSON_INTEGER + 1, u128::MAX] {
            assert_eq!(from_json(&to_json(n), "t"), Ok(n));
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in ["", "0x", "+1", "-1", "1.0", "0x+1", "0X1", "1_000", " 1", "0x1ffffffffffffffffffffffffffffffff"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        for json in ["1.5", "-1", "1e3", "true", "null", "[1]", "18446744073709551616"] {
            assert!(from_json(&serde_json::from_str(json).unwrap(), "t").is_err(), "{json}");
        }
    }
}
