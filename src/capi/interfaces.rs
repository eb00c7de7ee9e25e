//! The table of standard bus interfaces of IP cores, for bindings that find the signals of a design by name.

use super::call::{Caller, call};
use scalepool_protocols::interfaces::{CORE_INTERFACES, CoreInterface, SignalNeed, SignalWidth};
use serde_json::{Value, json};
use std::ffi::c_char;

fn described(interface: &CoreInterface) -> Value {
    let signals = interface.signals.iter().map(|signal| {
        let need = match signal.need {
            SignalNeed::Always => "always",
            SignalNeed::Driven => "driven",
            SignalNeed::Optional => "optional",
        };
        let width = match interface.width(signal.role) {
            SignalWidth::Bits(bits) => json!(bits),
            SignalWidth::Beat => json!("beat"),
            SignalWidth::BeatBytes => json!("beat_bytes"),
            SignalWidth::User => json!("user"),
        };
        json!({
            "name": signal.name, "role": signal.role.key(), "need": need, "width": width,
            "of_sender": signal.role.is_of_sender(),
        })
    });
    json!({"key": interface.key, "about": interface.doc, "signals": signals.collect::<Vec<_>>()})
}

/// Gives the standard bus interfaces of IP cores as a JSON list: the key of each and its signals. A signal has a name, a role, a need
/// (`always`, `driven`: if the interface is driven and not only watched, or `optional`), a width (in bits, or `beat`, `beat_bytes` or
/// `user`), and whether the sender of units drives it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_interfaces(text: *mut c_char, text_capacity: usize, text_length: *mut usize) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let all: Vec<Value> = CORE_INTERFACES.iter().map(described).collect();
        caller.buffer("text", text, text_capacity, text_length)?.fill_text(&Value::Array(all).to_string())
    })
}
