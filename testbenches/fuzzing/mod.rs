//! What a fuzzer calls: functions that take any bytes and panic when a promise of a reader is broken.
//!
//! Modelled: every reader of bytes or text that came from outside: flits, TLPs, DLLPs, framing, messages, vector files,
//! objects, memory traces, maps, waves, litmus cases, traces. The promises: nothing panics, whatever decodes is judged and printed, and goes back to the bytes it
//! came from. Left out: sense; most of these bytes mean nothing. In all targets the first byte chooses between variants.
//!
//! The functions are called by the targets in `testbenches/fuzz`, and on seeded bytes by the test `fuzzing`.

mod cxlio;
mod files;
mod flit256;
mod flit68;
mod message;
mod nvlink;
mod text;
mod ualink;

pub use cxlio::{dllp, framing, tlp_flit_mode, tlp_non_flit_mode};
pub use files::{litmus, maps, traces, waves};
pub use flit68::flit68;
pub use flit256::{flit_io, flit256};
pub use message::message;
pub use nvlink::nvlink;
pub use text::{flit_object, message_object, stimulus, vectors};
pub use ualink::{ualink, ualink_message, ualink_tl};

use scalepool_protocols::wire::Violation;
use serde_json::Value;

/// A target by its name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets; each has a file of its name in `testbenches/fuzz/fuzz_targets`.
pub const TARGETS: [Target; 20] = [
    ("flit68", flit68),
    ("flit256", flit256),
    ("flit_io", flit_io),
    ("tlp_flit_mode", tlp_flit_mode),
    ("tlp_non_flit_mode", tlp_non_flit_mode),
    ("dllp", dllp),
    ("framing", framing),
    ("nvlink", nvlink),
    ("ualink", ualink),
    ("ualink_tl", ualink_tl),
    ("ualink_message", ualink_message),
    ("message", message),
    ("message_object", message_object),
    ("flit_object", flit_object),
    ("vectors", vectors),
    ("stimulus", stimulus),
    ("maps", maps),
    ("litmus", litmus),
    ("traces", traces),
    ("waves", waves),
];

/// Prints what was found.
fn print(violations: &[Violation]) {
    violations.iter().for_each(|v| assert!(!v.to_string().is_empty()));
}

/// Makes an object of what was read one of what is sent: the CRC that was found is written whatever it should be, the FEC
/// is worked out.
fn to_send(form: &mut Value) {
    fn force(crc: &mut Value) {
        let Some(crc) = crc.as_object_mut() else { return };
        let found = crc.remove("found");
        let halves: Vec<_> = ["even", "odd"].into_iter().filter_map(|key| crc.remove_entry(key)).collect();
        crc.clear();
        crc.extend(found.map(|found| ("force".to_owned(), found)));
        crc.extend(halves.into_iter().map(|(key, mut half)| {
            force(&mut half);
            (key, half)
        }));
    }
    let Some(form) = form.as_object_mut() else { return };
    form.retain(|key, _| !["hex", "fec", "violations", "lints"].contains(&key.as_str()));
    if let Some(crc) = form.get_mut("crc") {
        force(crc);
    }
}
