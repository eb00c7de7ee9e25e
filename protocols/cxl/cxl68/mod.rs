//! CXL 68-byte flits: CXL.cache and CXL.mem as revision 2.0 has them and later revisions keep them.
//!
//! Modelled, bit for bit: protocol IDs, the flit header, ten messages, every slot format of both directions, all codes,
//! control flits, CRC placement, rollover of data, lane striping (sheet `cxl-68b`, sections 1 to 6). Left out: CXL.io
//! content (carried as opaque bytes), IDE content (framed only), credits and retry as state (see `scalepool::link`).
//!
//! A walk through one flit: [`mod@unit`] splits 68 bytes into protocol ID, payload and CRC; [`pid`] says who it is for;
//! [`stream::Unpacker`] knows from its rollover count whether it is an all-data flit, else reads [`header`] or
//! [`control`]; [`slot`] finds the messages; the same reader joins headers and data chunks to whole messages;
//! [`check`] names broken rules. [`packer`] goes the other way. [`content`] is a flit without its bytes.

pub mod check;
pub mod code;
pub mod config;
pub mod content;
pub mod control;
pub mod credit;
pub mod header;
pub mod lanes;
pub mod message;
pub mod packable;
pub mod packer;
pub mod pid;
pub mod slot;
pub mod stream;
pub mod unit;

pub use super::Dir;
use crate::wire::{LayoutDef, Wire};

/// All layouts of the family, in order of the sheet.
pub static LAYOUTS: &[&LayoutDef] = &[
    message::M2sReq::DEF,
    message::M2sRwd::DEF,
    message::S2mNdr::DEF,
    message::S2mDrs::DEF,
    message::D2hReq::DEF,
    message::D2hRsp::DEF,
    message::D2hData::DEF,
    message::H2dReq::DEF,
    message::H2dRsp::DEF,
    message::H2dData::DEF,
    header::FlitHeader::DEF,
    control::Llcrd::DEF,
    control::RetryReq::DEF,
    control::RetryAck::DEF,
    control::Retry::DEF,
    control::InitParam::DEF,
    control::Ide::DEF,
    control::Almp::DEF,
];
