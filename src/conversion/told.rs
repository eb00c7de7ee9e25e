//! Messages of a bridge in words, for findings: one line each, and in what a message differs from one that was expected.
//!
//! Modelled: fields that are not 0 as ` name=value`, data as their first bytes and their number. A walk: a MemRd that takes all copies, where
//! one that takes none was expected, is told as `port 0: cxl256.m2s_req opcode=MemRd snp_type=SnpInv address=0x40`, and expected is `the same
//! with snp_type=SnpCur`.

use super::message::BridgeMessage;
use scalepool_forms::{Object, told};
use serde_json::Value;

/// Digits of data that are told.
const MOST_DIGITS: usize = 16;
/// Digits of a byte.
const BYTE_DIGITS: usize = 2;

/// A message with its port.
pub(crate) fn told(port: usize, message: &BridgeMessage) -> String {
    let form = message.to_json();
    let mut text = format!("port {port}: {}", message.layout());
    for (name, value) in form.as_object().into_iter().flatten().filter(|(name, _)| *name != "layout") {
        match value {
            Value::Object(fields) => text += &told::fields(Some(fields)),
            Value::Array(beats) if name == "data" => text += &format!(", {} beats of data", beats.len()),
            _ => text += &format!(", {name} {}", short(value)),
        }
    }
    text
}

fn short_field(name: &str, value: &Value) -> String {
    match value.as_u64() {
        Some(number) if name.contains("address") => format!("{number:#x}"),
        _ => short(value),
    }
}

fn is_long_data(text: &str) -> bool {
    text.len() > MOST_DIGITS && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) if is_long_data(text) => {
            format!("{}.. of {} bytes", &text[..MOST_DIGITS], text.len() / BYTE_DIGITS)
        }
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(short).collect::<Vec<_>>().join(" and "),
        _ => value.to_string(),
    }
}

/// In what the message that was expected differs from the one that was found, `name=value`; nothing where they are of two layouts, or say
/// the same. Tags are a choice of the bridge.
pub(crate) fn difference(found: &BridgeMessage, expected: &BridgeMessage) -> Option<String> {
    if found.layout() != expected.layout() {
        return None;
    }
    let mut told = Vec::new();
    differ("", &found.to_json(), &expected.to_json(), &mut told);
    (!told.is_empty()).then(|| format!("the same with {}", told.join(", ")))
}

fn differ(name: &str, found: &Value, expected: &Value, told: &mut Vec<String>) {
    if found == expected || name.starts_with("tag") {
        return;
    }
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            let only_found = found.keys().filter(|name| !expected.contains_key(*name));
            for name in expected.keys().chain(only_found) {
                let of = |form: &Object| form.get(name).cloned().unwrap_or_default();
                differ(name, &of(found), &of(expected), told);
            }
        }
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            let beats = found.iter().zip(expected).enumerate();
            beats.for_each(|(n, (found, expected))| differ(&format!("{name} {n}"), found, expected, told));
        }
        (Value::String(found), Value::String(expected))
            if found.len() == expected.len() && is_long_data(found) && is_long_data(expected) =>
        {
            let pairs = || found.as_bytes().chunks(BYTE_DIGITS).zip(expected.as_bytes().chunks(BYTE_DIGITS));
            let n = pairs().position(|(found, expected)| found != expected).unwrap_or_default();
            let byte = |text: &str| text.get(n * BYTE_DIGITS..(n + 1) * BYTE_DIGITS).unwrap_or_default().to_owned();
            told.push(format!("{} in place of {} as byte {n} of {name}", byte(expected), byte(found)));
        }
        _ => {
            told.push(match expected {
                Value::Null => format!("no {name}"),
                _ => format!("{name}={}", short_field(name, expected)),
            });
        }
    }
}
