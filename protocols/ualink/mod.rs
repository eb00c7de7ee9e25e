//! UALink 200G: the data-link flit, its messages, and the transaction-layer flits inside.
//!
//! Modelled, bit for bit (sheet `ualink`, sections 1 to 6, 9, 10, 12): the 640-byte DL flit with its byte map, segment
//! headers, both flit headers and CRC-32; packing of TL flits with carry-over and alternative sectors; every DL message;
//! TL flits with their half-flit kinds, the six field formats, data owed, byte enables, authentication tags and message
//! halves; the address cache of compressed requests for both roles; UPLI signals. Left out: replay, credits, channel
//! negotiation, UART credit and rate changes as state (see `scalepool::link`), the cipher (tags are opaque), and the
//! physical layer but for its sizes and codes.
//!
//! A walk through one flit: [`flit::DlFlit`] checks the CRC and gives [`header::UalHeader`] and the 157 payload
//! sectors; [`segment::Unpacker`] cuts those into DL messages and TL flits, of which the last may go on in the next DL
//! flit; [`unpack::TlUnpacker`] knows what each half of a TL flit is, reads Control halves by [`control`], and joins
//! data to its fields; [`stream::Unpacker`] does all of it and names broken rules. [`pack::TlPacker`] and
//! [`segment::Packer`] go the other way.

pub mod code;
pub mod compress;
pub mod config;
pub mod content;
pub mod control;
pub mod crc;
pub mod field;
pub mod flit;
pub mod half;
pub mod halves;
pub mod header;
pub mod message;
pub mod pack;
pub mod packed;
pub mod phy;
pub mod segment;
pub mod sequence;
pub mod spare;
pub mod stream;
pub mod unpack;
pub mod upli;

use crate::wire::{LayoutDef, Wire};

/// Layouts of family `ualink`, in order of the sheet.
pub static LAYOUTS: &[&LayoutDef] = &[
    header::ExplicitHeader::DEF,
    header::CommandHeader::DEF,
    header::SegmentHeader::DEF,
    message::NoOp::DEF,
    message::TlRate::DEF,
    message::DeviceId::DEF,
    message::PortNumber::DEF,
    message::DlChannel::DEF,
    message::UartTransport::DEF,
    message::UartCredit::DEF,
    message::UartResetReq::DEF,
    message::UartResetRsp::DEF,
    message::UartVendor::DEF,
    field::TlReq::DEF,
    field::TlRsp::DEF,
    field::TlCreq::DEF,
    field::TlCrspSingle::DEF,
    field::TlCrspMulti::DEF,
    field::TlFc::DEF,
    upli::UpliReq::DEF,
    upli::UpliOrigData::DEF,
    upli::UpliRdRsp::DEF,
    upli::UpliWrRsp::DEF,
    upli::UpliCredit::DEF,
    upli::ReadAttr::DEF,
    upli::AtomicAttr::DEF,
    upli::Iv::DEF,
];
