//! One declaration per layout.
//!
//! Modelled: fields of a fixed place and width inside a message ([`layout!`](crate::layout)), their code tables
//! ([`wire_enum!`](crate::wire_enum)) and byte maps of larger units ([`frame!`](crate::frame)). Encode, decode, range
//! check, rustdoc and the run-time tables ([`LayoutDef`], [`FrameDef`]) come from that one declaration; gaps, overlaps
//! and wrong sums do not compile.
//!
//! Bit i of a message is `(raw >> i) & 1`; byte n bit b is bit 8n+b. Left out: checksums (see [`crate::check`]) and
//! everything that depends on more than one message.
//!
//! Contract: `from_bits` is total, unknown codes and reserved bits are kept, so `from_bits(x)?.to_bits() == x`;
//! `to_bits` refuses values that do not fit; [`LayoutDef::check`] judges a pattern and changes nothing.

mod code;
mod error;
mod frame;
mod layout;
mod packed;
mod violation;

pub use code::{Code, CodeTable, FieldValue};
pub use error::{FieldError, FieldFault};
#[doc(hidden)]
pub use frame::assert_frame;
pub use frame::{FrameDef, Segment};
pub use layout::{Basis, ByteOrder, CodeSet, FieldDef, LayoutDef, LayoutFault, Numbers, Screen, Wire};
#[doc(hidden)]
pub use layout::{assert_no_fault, code_sets, cut_out, find_fault, last_of};
pub use packed::PackedError;
pub use violation::{At, Findings, Violation};
