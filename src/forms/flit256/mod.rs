//! Flits of CXL 256B: `{"protocol":"cxl-256b","dir":"down","index":0,"kind":"protocol",..,"hex":..}`.
//!
//! Modelled: every flit of 256 bytes as one object with the keys `protocol`, `dir`, `index`, `kind`, `header`, `control`,
//! `slots`, `crd`, `almp`, `tlps`, `dllp`, `data`, `crc`, `fec`, `violations`, `lints` and `hex`, in this order; a key
//! stands there when the kind has it. Left out: credits, sequence numbers and retry as state (see `scalepool::link`).
//!
//! Everything but `hex` describes the flit behind its FEC; `hex` is the flit as it was read and `fec.corrected` lists the
//! difference. What has no meaning still has a place, so that an object is exact:
//! * `hex` of a slot is the whole slot; it is taken first, and `format`, `control`, `messages` and `data` are written over
//!   it. It is printed for bits that no message gives, slots of a reserved format (`"format":"RSVD"`), control slots that
//!   differ from their own encoding, and slots beside a control slot that are not zero. A slot of zeros has no messages.
//! * `header`: without `seq` reading takes the first legal number of a stream: 1 for a payload flit, 1023 beside an Ack or
//!   Nak, 0 for any other NOP.
//! * `control` is slot 0 of a flit of kind `control`; a control slot 8 has its own.
//! * `tlps` and `dllp` are written by [`super::flit_io`].
//! * `data` is the body (all between header, CRC and FEC) of a NOP or ALMP that is not zero behind its form.
//!
//! A walk through one line: [`Cxl256FlitDecoder::read`] takes the flit apart as the next one of its stream and judges
//! it, then [`to_json`] writes it. [`Cxl256FlitEncoder::encode`] builds the 256 bytes from the object alone (so a wrong
//! stream state never changes a byte), reads them as a receiver does, and prints what that sees.

mod control;
mod decode;
mod encode;
mod follow;

pub use decode::{Cxl256FlitDecoder, to_json};
pub use encode::{Cxl256FlitEncoder, Encoded};
pub use follow::Follower;

use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::stream::Cxl256FlitKind;

/// The mode of a protocol, by its name on the command line and in objects.
pub fn mode_of(protocol: &str) -> Option<Mode> {
    Mode::ALL.into_iter().find(|m| m.protocol() == protocol)
}

/// Name of a format whose code is reserved.
const RESERVED_FORMAT: &str = "RSVD";

/// Names of the kinds, each with the type of its flits.
const KINDS: [(&str, FlitType); 7] = [
    ("protocol", FlitType::Cachemem),
    ("control", FlitType::Cachemem),
    ("empty", FlitType::Cachemem),
    ("nop", FlitType::Nop),
    ("idle", FlitType::Nop),
    ("almp", FlitType::Almp),
    ("io", FlitType::Io),
];

/// Name of a kind.
pub const fn kind_name(kind: &Cxl256FlitKind) -> &'static str {
    match kind {
        Cxl256FlitKind::Protocol => "protocol",
        Cxl256FlitKind::Control => "control",
        Cxl256FlitKind::Empty => "empty",
        Cxl256FlitKind::Nop => "nop",
        Cxl256FlitKind::Idle => "idle",
        Cxl256FlitKind::Almp => "almp",
        Cxl256FlitKind::Io(_) => "io",
    }
}
