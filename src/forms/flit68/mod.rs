//! Flits of CXL 68B: `{"protocol":"cxl-68b","dir":"down","index":0,"kind":"protocol",..,"hex":..}`.
//!
//! Modelled: every unit of 68 bytes as one object with the keys `protocol`, `dir`, `index`, `kind`, `pid`, `header`,
//! `slots`, `control`, `almp`, `data`, `tail`, `crc`, `violations`, `lints` and `hex`, in this order; a key stands there
//! when the kind has it. Left out: credits, retry and initialisation as state (see `scalepool::link`).
//!
//! What has no meaning still has a place, so that an object is exact:
//! * `hex` of a slot is the whole slot, in slot 0 of a protocol flit with the four header bytes; it is taken first, and
//!   `header`, `control`, `almp`, `messages` and `data` are written over it. It is printed for pad bits, MAC slots, stray
//!   bits of an empty slot, slots of a reserved format (`"format":"RSVD"`), and for the slots in which a control flit or
//!   ALMP differs from its own encoding.
//! * `data` (64 bytes) and `tail` (2 bytes) stand in `io` and `dropped`, in `null` and `almp` when they are not zero. A
//!   unit whose protocol ID no receiver can use is of kind `dropped`; reading it takes `pid`.
//! * `control.fields` has the fields that mean something for its name; `full_ack` and `mac` are joined from their parts.
//!   All fields of the layout are read. `almp` describes the first of the four copies.
//!
//! A walk through one line: [`Cxl68UnitDecoder::read`] takes the unit apart as the next one of its stream and judges
//! it, then [`to_json`] writes it. [`Cxl68UnitEncoder::encode`] builds the 68 bytes from the object alone (so a wrong
//! stream state never changes a byte), reads them as a receiver does to move the stream state on, and judges what the
//! sender meant against what a receiver sees.

mod control;
mod decode;
mod encode;
mod follow;

pub use decode::{Cxl68UnitDecoder, to_json};
pub use encode::{Cxl68UnitEncoder, Encoded};
pub use follow::Follower;

use scalepool_protocols::cxl::cxl68::stream::Cxl68UnitKind;

/// Name on the command line and in objects.
pub const PROTOCOL: &str = "cxl-68b";

/// Name of a kind.
pub const fn kind_name(kind: &Cxl68UnitKind) -> &'static str {
    match kind {
        Cxl68UnitKind::Protocol(_) => "protocol",
        Cxl68UnitKind::AllData => "all-data",
        Cxl68UnitKind::Control(_) => "control",
        Cxl68UnitKind::Almp => "almp",
        Cxl68UnitKind::Null => "null",
        Cxl68UnitKind::Io => "io",
        Cxl68UnitKind::Dropped => "dropped",
    }
}

/// Four hexadecimal digits: protocol IDs and CRCs.
fn word(number: u16) -> String {
    format!("{number:#06x}")
}
