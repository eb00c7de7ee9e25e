//! CXL 256-byte flits: standard, latency-optimised, and with port based routing.
//!
//! Modelled, bit for bit: byte maps, the flit header, twelve messages of each routing, every slot format, all codes,
//! credit return, control slots, ALMPs, data and trailers, zero extension, CRC and FEC on both ends (sheet `cxl-256b`,
//! sections 1 to 8). Left out: TLPs and DLLPs, which are in [`super::cxlio`], IDE content, credits and retry as state (see
//! `scalepool::link`).
//!
//! A walk through one flit: [`flit::Flit::receive`] repairs and checks it; [`header`] says what it carries;
//! [`stream::Unpacker`] knows which slots are owed to data and reads the others by [`slot`]; [`class`] gives the layout of
//! a message in [`message`] or [`pbr`]; [`check`] names broken rules.

pub mod almp;
pub mod check;
pub mod class;
pub mod code;
pub mod config;
pub mod control;
pub mod crd;
pub mod flit;
pub mod header;
pub mod message;
pub mod mode;
pub mod number;
pub mod packer;
pub mod pbr;
pub mod slot;
pub mod stream;

use crate::wire::{LayoutDef, Wire};
pub use class::{Class, Routing};
pub use mode::Mode;

/// Layouts of family `cxl256`, in order of the sheet.
pub static LAYOUTS: &[&LayoutDef] = &[
    message::H2dReq::DEF,
    message::H2dRsp::DEF,
    message::H2dData::DEF,
    message::D2hReq::DEF,
    message::D2hRsp::DEF,
    message::D2hData::DEF,
    message::M2sReq::DEF,
    message::M2sRwd::DEF,
    message::M2sBirsp::DEF,
    message::S2mBisnp::DEF,
    message::S2mNdr::DEF,
    message::S2mDrs::DEF,
    header::FlitHeader::DEF,
    crd::Crd::DEF,
    control::Ide::DEF,
    control::Viral::DEF,
    control::Poison::DEF,
    control::InitParam::DEF,
    almp::Almp::DEF,
    almp::L0p::DEF,
];

/// Layouts of family `cxlpbr`, in order of the sheet.
pub static PBR_LAYOUTS: &[&LayoutDef] = &[
    pbr::H2dReq::DEF,
    pbr::H2dRsp::DEF,
    pbr::H2dData::DEF,
    pbr::D2hReq::DEF,
    pbr::D2hRsp::DEF,
    pbr::D2hData::DEF,
    pbr::M2sReq::DEF,
    pbr::M2sRwd::DEF,
    pbr::M2sBirsp::DEF,
    pbr::S2mBisnp::DEF,
    pbr::S2mNdr::DEF,
    pbr::S2mDrs::DEF,
];
