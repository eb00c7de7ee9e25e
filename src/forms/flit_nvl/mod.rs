//! Packets of NVLink (model profile NVL-M1): `{"protocol":"nvlink","dir":"down","index":0,"kind":"protocol","packet":{..},..}`.
//!
//! Modelled: every packet of 1 to 18 flits as one object with the keys `protocol`, `dir`, `index`, `kind`, `packet`,
//! `crc`, `violations` and `hex`, in this order. `packet` has `header` and `ae` (fields), `be` and `data` (hex); a part
//! stands there when the packet has it. `kind` follows from the operation: `idle`, `control` (REPLAY_INIT, CREDIT_INIT)
//! or `protocol`. Left out: identifiers, delivery and replay (see `scalepool::link`).
//!
//! * The flits behind the header are told apart by its bits `ae` and `be`; what is left is data, so an object is exact
//!   whatever `len` says.
//! * Reading takes `ae`, `be` and `data` as they stand. `len`, `ae`, `be`, `vc` and, where the operation carries data,
//!   `size` follow from them unless the header gives them. `crc` of the header is passed over: the CRC is computed, or
//!   forced by `"crc":{"force":..}`.
//!
//! A walk through one line: [`NvlPacketDecoder::read`] checks the packet as the next one of its stream, [`to_json`]
//! writes it. [`NvlPacketEncoder::encode`] builds the flits, puts the CRC in, reads them as a receiver does and prints
//! what that sees.

mod decode;
mod encode;
mod follow;

pub use decode::{NvlPacketDecoder, to_json};
pub use encode::{Encoded, NvlPacketEncoder};
pub use follow::Follower;

use super::FormError;
use scalepool_protocols::nvlink::{Op, Packet, PacketError};

/// Name on the command line and in objects.
pub const PROTOCOL: &str = "nvlink";

/// Name of the kind of an operation.
pub fn kind_name(op: Op) -> &'static str {
    match op {
        Op::IDLE => "idle",
        Op::REPLAY_INIT | Op::CREDIT_INIT => "control",
        _ => "protocol",
    }
}

/// The packet of its bytes, byte 0 first.
///
/// # Errors
/// Not 1 to 18 flits of 16 bytes.
pub fn packet(bytes: &[u8]) -> Result<Packet, FormError> {
    Ok(Packet::from_bytes(bytes)?)
}

impl From<PacketError> for FormError {
    fn from(error: PacketError) -> FormError {
        match error {
            PacketError::Field(error) => error.into(),
            PacketError::Length { found } => {
                FormError::new("flit", format!("{found} bytes"), "a multiple of 16 from 16 to 288 bytes")
            }
            PacketError::Flits { found } => FormError::new("packet", format!("{found} flits"), "1 to 18 flits"),
            PacketError::Data { found, expected } => FormError::new("packet.data", format!("{found} bytes"), expected),
            PacketError::ByteEnables { found } => {
                FormError::new("packet.be", format!("{found} bytes of data"), "16 to 128 bytes of data")
            }
        }
    }
}
