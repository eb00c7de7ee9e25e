//! NVLink, model profile NVL-M1. Basis of everything here: model.
//!
//! Public are the outline (flits of 128 bits, packets of 1 to 18, a header of 25 + 83 + 20 bits, what its CRC covers and
//! finds) and the names of the virtual channels; every bit inside that outline is a choice of the profile (sheet
//! `nvlink`, section 6). No vector made from it says anything about a product.
//!
//! Modelled, bit for bit: header, address extension (AE), byte enables (BE), data, CRC-25 with its carry-over from packet
//! to packet, codes. Left out: implicit identifiers, credits and replay as state (see `scalepool::link`); atomic operation
//! codes and error codes, which belong to the bridge.
//!
//! A walk through one packet: [`Packet::from_bytes`] takes the flits; [`stream::Unpacker`] keeps the payload of the packet
//! before and the AE of each channel, and checks the CRC; [`Packet::parts`] tells AE, BE and data apart by the
//! [`NvlHeader`]; [`check`] names broken rules. A sender goes the other way: [`Packet::build`], then
//! [`stream::Packer`].

pub mod c2c;
pub mod check;
pub mod code;
pub mod config;
pub mod generation;
pub mod header;
pub mod packet;
pub mod stream;

use crate::wire::{LayoutDef, Wire};
pub use c2c::{C2C, C2C_RATE, C2c, C2cError};
pub use code::{Class, Op, Vc};
pub use config::NvlConfig;
pub use generation::{GENERATIONS, Generation, efficiency};
pub use header::{Ae, NvlHeader};
pub use packet::{NvlPacketParts, Packet, PacketError};

/// Bytes of a flit (`nvlink` §1).
pub const FLIT_BYTES: usize = 16;
/// Flits of the longest packet: header, AE, 16 of data (`nvlink` §1).
pub const MAX_FLITS: usize = 18;
/// Data flits of the longest packet (`nvlink` §1).
pub const MAX_DATA_FLITS: usize = 16;
/// Longest payload that may have byte enables: one bit of the BE flit for each byte (`nvlink` §6.1).
pub const MAX_BE_DATA_FLITS: usize = 8;

/// All layouts of the family, in order of the sheet.
pub static LAYOUTS: &[&LayoutDef] = &[NvlHeader::DEF, Ae::DEF];
