//! CXL 256-byte flits: standard, latency-optimised, and with port based routing.
//!
//! Modelled, bit for bit: byte maps, the flit header, twelve messages of each routing, every slot format, all codes,
//! credit return, control slots, ALMPs, data and trailers, zero extension, CRC and FEC on both ends (sheet `cxl-256b`,
//! sections 1 to 8). Left out: TLPs and DLLPs, which are in [`super::cxlio`], IDE content, credits and retry as state (see
//! `scalepool::link`).
//!
//! A walk through one flit: [`flit::Cxl256Flit::receive`] repairs and checks it; [`header`] says what it carries;
//! [`stream::Unpacker`] knows which slots are owed to data and reads the others by [`slot`]; [`Class`] gives the layout of
//! a message in [`message`] or [`pbr`]; [`check`] names broken rules. [`packer`] goes the other way. [`content`] is a flit without its bytes.

pub mod almp;
pub mod check;
pub mod code;
pub mod config;
pub mod content;
pub mod control;
pub mod crd;
pub mod flit;
pub mod header;
pub mod message;
pub mod mode;
pub mod number;
pub mod packer;
pub mod pbr;
mod per_class;
pub mod routing;
pub mod slot;
pub mod stream;

pub use super::message::Class;
use crate::wire::{LayoutDef, Wire};
pub use mode::Mode;
pub use routing::Routing;

/// Layouts of family `cxl256` besides the messages, in order of the sheet.
const PARTS: [&LayoutDef; 8] = [
    header::FlitHeader::DEF,
    crd::Crd::DEF,
    control::Ide::DEF,
    control::Viral::DEF,
    control::Poison::DEF,
    control::InitParam::DEF,
    almp::Almp::DEF,
    almp::L0p::DEF,
];

/// Layouts of family `cxl256`: the messages, then the parts of a flit, in order of the sheet.
pub static LAYOUTS: &[&LayoutDef] = &{
    let mut all = [PARTS[0]; Class::COUNT + PARTS.len()];
    let messages = Class::layouts(Routing::Hbr);
    let mut n = 0;
    while n < all.len() {
        all[n] = if n < messages.len() { messages[n] } else { PARTS[n - messages.len()] };
        n += 1;
    }
    all
};

/// Layouts of family `cxlpbr`, in order of the sheet.
pub static PBR_LAYOUTS: &[&LayoutDef] = &Class::layouts(Routing::Pbr);
