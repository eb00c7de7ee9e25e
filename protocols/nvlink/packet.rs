//! A packet: 1 to 18 flits, and what each of them is (`nvlink` §1, §6.1).

use super::header::{Ae, CRC_LSB, NvlHeader};
use super::{FLIT_BYTES, MAX_BE_DATA_FLITS, MAX_DATA_FLITS, MAX_FLITS};
use crate::wire::{FieldError, Wire};
use thiserror::Error;

/// Why flits are no packet.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PacketError {
    /// Bytes that are not 1 to 18 flits.
    #[error("nvlink packet: found {found} bytes, expected a multiple of {FLIT_BYTES} from {FLIT_BYTES} to 288")]
    Length {
        /// Bytes given.
        found: usize,
    },
    /// Too many flits, or none.
    #[error("nvlink packet: found {found} flits, expected 1 to {MAX_FLITS}")]
    Flits {
        /// Flits given.
        found: usize,
    },
    /// Data that is not 0 to 16 flits.
    #[error("nvlink packet: found {found} bytes of data, expected {expected}")]
    Data {
        /// Bytes given.
        found: usize,
        /// What the operation takes.
        expected: &'static str,
    },
    /// Byte enables that do not go with the data.
    #[error("nvlink packet: found byte enables beside {found} bytes of data, expected 16 to 128 bytes")]
    ByteEnables {
        /// Bytes of data.
        found: usize,
    },
    /// A header field does not fit.
    #[error(transparent)]
    Field(#[from] FieldError),
}

/// The flits of a packet, header first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    flits: [u128; MAX_FLITS],
    /// 1 to 18.
    count: usize,
}

/// What follows the header, told apart by its bits `ae` and `be`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvlPacketParts<'a> {
    /// Address extension.
    pub ae: Option<u128>,
    /// Byte enables: bit i is for payload byte i.
    pub be: Option<u128>,
    /// Data, ascending.
    pub data: &'a [u128],
}

impl Packet {
    /// A packet of these flits.
    ///
    /// # Errors
    /// [`PacketError::Flits`].
    pub fn new(flits: &[u128]) -> Result<Packet, PacketError> {
        if !(1..=MAX_FLITS).contains(&flits.len()) {
            return Err(PacketError::Flits { found: flits.len() });
        }
        let mut packet = Packet { flits: [0; MAX_FLITS], count: flits.len() };
        packet.flits[..flits.len()].copy_from_slice(flits);
        Ok(packet)
    }

    /// A packet of these bytes, byte 0 first.
    ///
    /// # Errors
    /// [`PacketError::Length`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Packet, PacketError> {
        let found = bytes.len();
        let (flits, rest) = bytes.as_chunks::<FLIT_BYTES>();
        if !rest.is_empty() || !(1..=MAX_FLITS).contains(&flits.len()) {
            return Err(PacketError::Length { found });
        }
        let mut packet = Packet { flits: [0; MAX_FLITS], count: flits.len() };
        packet.flits.iter_mut().zip(flits).for_each(|(flit, bytes)| *flit = u128::from_le_bytes(*bytes));
        Ok(packet)
    }

    /// A legal packet of its parts: `len`, `ae`, `be` and, where the operation carries data, `size` follow from them; the
    /// CRC is left as it is.
    ///
    /// # Errors
    /// [`PacketError::Data`] and [`PacketError::ByteEnables`] for parts that do not go together, [`PacketError::Field`].
    pub fn build(header: NvlHeader, ae: Option<Ae>, be: Option<u128>, data: &[u8]) -> Result<Packet, PacketError> {
        let found = data.len();
        let (data, rest) = data.as_chunks::<FLIT_BYTES>();
        let (fits, expected) = match header.op.has_data() {
            Some(true) => ((1..=MAX_DATA_FLITS).contains(&data.len()), "a multiple of 16 from 16 to 256"),
            Some(false) => (data.is_empty(), "none with this operation"),
            None => (data.len() <= MAX_DATA_FLITS, "a multiple of 16 up to 256"),
        };
        if !fits || !rest.is_empty() {
            return Err(PacketError::Data { found, expected });
        }
        if be.is_some() && !(1..=MAX_BE_DATA_FLITS).contains(&data.len()) {
            return Err(PacketError::ByteEnables { found });
        }
        let len = usize::from(ae.is_some()) + usize::from(be.is_some()) + data.len();
        let mut header = NvlHeader { len: len as u8, ae: ae.is_some(), be: be.is_some(), ..header };
        if header.op.has_data() == Some(true) {
            header.size = (data.len() - 1) as u8;
        }
        let mut packet = Packet { flits: [0; MAX_FLITS], count: 1 + len };
        let ae = ae.map(|ae| ae.to_bits()).transpose()?;
        let data = data.iter().map(|bytes| u128::from_le_bytes(*bytes));
        let flits = [header.to_bits()?].into_iter().chain(ae).chain(be).chain(data);
        packet.flits.iter_mut().zip(flits).for_each(|(to, flit)| *to = flit);
        Ok(packet)
    }

    /// All flits, header first.
    pub fn flits(&self) -> &[u128] {
        &self.flits[..self.count]
    }

    /// The header flit.
    pub fn header_bits(&self) -> u128 {
        self.flits[0]
    }

    /// The header.
    pub fn header(&self) -> NvlHeader {
        NvlHeader::from_bits(self.flits[0])
    }

    /// Everything behind the header: what the next header's CRC covers.
    pub fn payload(&self) -> &[u128] {
        &self.flits[1..self.count]
    }

    /// Everything behind the header, to change it.
    pub fn payload_mut(&mut self) -> &mut [u128] {
        &mut self.flits[1..self.count]
    }

    /// The same flits under another header.
    #[must_use]
    pub fn with_header_bits(mut self, header: u128) -> Packet {
        self.flits[0] = header;
        self
    }

    /// The CRC that stands in the header.
    pub fn crc(&self) -> u32 {
        (self.flits[0] >> CRC_LSB) as u32
    }

    /// The same packet with another CRC, of which the lowest 25 bits count.
    #[must_use]
    pub fn with_crc(self, crc: u32) -> Packet {
        let kept = self.flits[0] & ((1 << CRC_LSB) - 1);
        self.with_header_bits(kept | u128::from(crc) << CRC_LSB)
    }

    /// AE, BE and data. A part that the header announces and that is not there is missing; flits beyond what it announces
    /// count as data.
    pub fn parts(&self) -> NvlPacketParts<'_> {
        let header = self.header();
        let mut rest = self.payload();
        let mut take = |announced: bool| match rest {
            [first, others @ ..] if announced => {
                rest = others;
                Some(*first)
            }
            _ => None,
        };
        let (ae, be) = (take(header.ae), take(header.be));
        NvlPacketParts { ae, be, data: rest }
    }

    /// Bytes as they travel, byte 0 first.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.flits().iter().flat_map(|flit| flit.to_le_bytes())
    }
}

impl core::fmt::Debug for Packet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Packet").field(&self.header()).field(&self.payload()).finish()
    }
}
