//! A message of NVLink as bytes of one length: in a channel that RTL or a caller drives and samples.
//!
//! Modelled: 16 bytes of the header, 16 of the address extension that is in force for it (`ae` of the sheet's packet, whether a link
//! sends it or not), 16 of byte enables (bit i for byte i of the payload; ones where the bit `be` of the header is 0) and 256 of data,
//! of which `size` + 1 units of 16 bytes mean something where the operation carries data; the rest is zeros. Left out: what links
//! decide, which is 0: `ackid`, `ackv`, `len`, `crd`, `crh`, `crvc`, `ae`, `crc`. Basis: model, no product; that there is such a form is our choice (D).
//!
//! A walk through one: a READ of 64 bytes has `size` 3 in its header and nothing but zeros and ones behind its address extension.

use super::message::{NvlMessage, NvlRefused};
use scalepool_protocols::nvlink::{Ae, FLIT_BYTES, MAX_DATA_FLITS, NvlHeader, Vc};
use scalepool_protocols::wire::{FieldError, Violation, Wire};
use thiserror::Error;

/// Bytes of a message.
pub const PACKED_BYTES: usize = DATA + MAX_DATA_FLITS * FLIT_BYTES;
/// Where the address extension, the byte enables and the data begin.
const AE: usize = FLIT_BYTES;
const ENABLES: usize = 2 * FLIT_BYTES;
const DATA: usize = 3 * FLIT_BYTES;
/// Fields of the header that the link decides.
const OF_THE_LINK: [&str; 8] = ["ackid", "ackv", "len", "crd", "crh", "crvc", "ae", "crc"];

/// Bytes that are no message, or a message that has no bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NvlPackedError {
    /// Too many or too few.
    #[error(
        "nvlink.header: found {found} bytes, expected {PACKED_BYTES}: 16 of the header, 16 of the address extension, 16 of byte enables, 256 of data"
    )]
    Length {
        /// Bytes given.
        found: usize,
    },
    /// A part of a field that does not fit.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A rule of a layout is broken.
    #[error("{0}")]
    Rule(Violation),
    /// A field that the link decides.
    #[error("nvlink.header: field `{field}`: found {found:#x}, expected 0: the link decides it")]
    OfTheLink {
        /// The field.
        field: &'static str,
        /// Its value.
        found: u128,
    },
    /// Bytes where the message has none.
    #[error(
        "nvlink.header: {what} from byte {first} on: found {found:#04x}, expected {expected:#04x}, since the message has none"
    )]
    Payload {
        /// Part of what follows the header.
        what: &'static str,
        /// Its first byte.
        first: usize,
        /// The first byte that says something.
        found: u8,
        /// What stands for none.
        expected: u8,
    },
    /// Of another virtual channel.
    #[error("nvlink.header: field `vc`: found {found:?}, expected {expected:?}, that of the port")]
    Channel {
        /// That of the message.
        found: Vc,
        /// That in which it was given.
        expected: Vc,
    },
    /// The link cannot carry it.
    #[error(transparent)]
    Refused(#[from] NvlRefused),
}

impl NvlMessage {
    /// The bytes of the message in its channel.
    ///
    /// # Errors
    /// [`NvlPackedError::Refused`].
    pub fn to_packed(&self) -> Result<Vec<u8>, NvlPackedError> {
        let packet = self.packet(false)?;
        let header = NvlHeader { len: 0, ..packet.header() };
        let mut bytes = header.to_bits()?.to_le_bytes().to_vec();
        bytes.extend(self.ae().to_bits()?.to_le_bytes());
        bytes.extend(self.be.unwrap_or(u128::MAX).to_le_bytes());
        bytes.extend(&self.data);
        bytes.resize(PACKED_BYTES, 0);
        Ok(bytes)
    }

    /// The message of bytes in a virtual channel.
    ///
    /// # Errors
    /// The bytes are no message of it, see [`NvlPackedError`].
    pub fn from_packed_on(vc: Vc, bytes: &[u8]) -> Result<NvlMessage, NvlPackedError> {
        let message = NvlMessage::from_packed(bytes)?;
        if message.vc != vc {
            return Err(NvlPackedError::Channel { found: message.vc, expected: vc });
        }
        Ok(message)
    }

    /// The message of bytes in any channel.
    ///
    /// # Errors
    /// The bytes are no message, see [`NvlPackedError`].
    pub fn from_packed(bytes: &[u8]) -> Result<NvlMessage, NvlPackedError> {
        let found = bytes.len();
        if found != PACKED_BYTES {
            return Err(NvlPackedError::Length { found });
        }
        let bits =
            |from: usize| bytes[from..from + FLIT_BYTES].iter().rev().fold(0, |all, byte| all << 8 | u128::from(*byte));
        for (def, bits) in [(NvlHeader::DEF, bits(0)), (Ae::DEF, bits(AE))] {
            let mut broken = Vec::new();
            def.check(bits, &mut broken);
            if let Some(first) = broken.into_iter().next() {
                return Err(NvlPackedError::Rule(first));
            }
        }
        for field in NvlHeader::DEF.fields.iter().filter(|field| OF_THE_LINK.contains(&field.name)) {
            let found = field.extract(bits(0));
            if found != 0 {
                return Err(NvlPackedError::OfTheLink { field: field.name, found });
            }
        }
        let (header, ae) = (NvlHeader::from_bits(bits(0)), Ae::from_bits(bits(AE)));
        let has_data = header.op.has_data() == Some(true);
        let length = if has_data { (usize::from(header.size) + 1) * FLIT_BYTES } else { 0 };
        let none = |what, first: usize, part: &[u8], expected: u8| match part.iter().find(|byte| **byte != expected) {
            Some(found) => Err(NvlPackedError::Payload { what, first, found: *found, expected }),
            None => Ok(()),
        };
        let (data, unused) = bytes[DATA..].split_at(length);
        none("data", DATA + length, unused, 0)?;
        if !header.be {
            none("byte enables", ENABLES, &bytes[ENABLES..DATA], 0xff)?;
        }
        let message = NvlMessage {
            op: header.op,
            vc: header.vc,
            tag: header.tag,
            rid: header.rid,
            size: if has_data { 0 } else { header.size },
            ep: header.ep,
            atag: header.atag,
            address: ae.address | header.address,
            attr: ae.attr,
            route: ae.route,
            be: header.be.then(|| bits(ENABLES)),
            data: data.to_vec(),
        };
        // It has to be a packet too.
        message.packet(false)?;
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::nvlink::{NvlConfig, Op};

    fn write() -> NvlMessage {
        NvlMessage {
            tag: 9,
            rid: 3,
            address: 0x40_0000_1240,
            attr: 5,
            be: Some(0xffff),
            data: (0..32).collect(),
            ..NvlMessage::new(Op::WRITE_NONPOSTED, &NvlConfig::default())
        }
    }

    #[test]
    fn messages_come_back_as_they_were() {
        let read = NvlMessage { size: 3, address: 0x80, ..NvlMessage::new(Op::READ, &NvlConfig::default()) };
        for message in [write(), read] {
            let bytes = message.to_packed().expect("it has a form");
            assert_eq!(bytes.len(), 304);
            assert_eq!(NvlMessage::from_packed(&bytes), Ok(message));
        }
    }

    #[test]
    fn bytes_that_are_no_message_are_refused_by_name() {
        let bytes = write().to_packed().expect("it has a form");
        let refused = |at: usize, value: u8, expected: &str| {
            let mut wrong = bytes.clone();
            wrong[at] = value;
            let text = NvlMessage::from_packed(&wrong).expect_err(expected).to_string();
            assert!(text.contains(expected), "{text}");
        };
        refused(0, 1, "field `ackid`: found 0x1, expected 0: the link decides it");
        refused(80, 1, "data from byte 80 on: found 0x01, expected 0x00");
        refused(16, 1, "NVL-HDR-02");
        let text = NvlMessage::from_packed(&bytes[1..]).expect_err("short").to_string();
        assert!(text.contains("found 303 bytes, expected 304"), "{text}");
        let read = NvlMessage { size: 3, ..NvlMessage::new(Op::READ, &NvlConfig::default()) };
        let mut wrong = read.to_packed().expect("it has a form");
        wrong[32] = 0;
        let text = NvlMessage::from_packed(&wrong).expect_err("enables").to_string();
        assert!(text.contains("byte enables from byte 32 on: found 0x00, expected 0xff"), "{text}");
    }
}
