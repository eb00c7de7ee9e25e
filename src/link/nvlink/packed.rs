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
use scalepool_protocols::wire::{PackedError, Wire};

/// Bytes of a message.
pub const PACKED_BYTES: usize = DATA + MAX_DATA_FLITS * FLIT_BYTES;
/// Where the address extension, the byte enables and the data begin.
const AE: usize = FLIT_BYTES;
const ENABLES: usize = 2 * FLIT_BYTES;
const DATA: usize = 3 * FLIT_BYTES;
/// Fields of the header that the link decides.
const OF_THE_LINK: [&str; 8] = ["ackid", "ackv", "len", "crd", "crh", "crvc", "ae", "crc"];

impl From<NvlRefused> for PackedError {
    fn from(refused: NvlRefused) -> PackedError {
        PackedError::NotCarried(refused.to_string())
    }
}

impl NvlMessage {
    /// The bytes of the message in its channel.
    ///
    /// # Errors
    /// [`PackedError::NotCarried`].
    pub fn to_packed(&self) -> Result<Vec<u8>, PackedError> {
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
    /// The bytes are no message of it, see [`PackedError`].
    pub fn from_packed_on(vc: Vc, bytes: &[u8]) -> Result<NvlMessage, PackedError> {
        let message = NvlMessage::from_packed(bytes)?;
        if message.vc != vc {
            let (found, header) = (message.vc, NvlHeader::DEF.name);
            let text = format!("{header}: field `vc`: found {found:?}, expected {vc:?}, that of the port");
            return Err(PackedError::NotCarried(text));
        }
        Ok(message)
    }

    /// The message of bytes in any channel.
    ///
    /// # Errors
    /// The bytes are no message, see [`PackedError`].
    pub fn from_packed(bytes: &[u8]) -> Result<NvlMessage, PackedError> {
        let found = bytes.len();
        if found != PACKED_BYTES {
            return Err(PackedError::Length {
                layout: NvlHeader::DEF.name,
                found,
                expected: PACKED_BYTES,
                header: FLIT_BYTES,
                payload: ", 16 of the address extension, 16 of byte enables, 256 of data",
            });
        }
        let bits =
            |from: usize| bytes[from..from + FLIT_BYTES].iter().rev().fold(0, |all, byte| all << 8 | u128::from(*byte));
        NvlHeader::DEF.check_packed(bits(0), &OF_THE_LINK)?;
        Ae::DEF.check_packed(bits(AE), &[])?;
        let (header, ae) = (NvlHeader::from_bits(bits(0)), Ae::from_bits(bits(AE)));
        let has_data = header.op.has_data() == Some(true);
        let length = if has_data { (usize::from(header.size) + 1) * FLIT_BYTES } else { 0 };
        let (data, unused) = bytes[DATA..].split_at(length);
        NvlHeader::DEF.check_absent("data", DATA + length, unused, 0)?;
        if !header.be {
            NvlHeader::DEF.check_absent("byte enables", ENABLES, &bytes[ENABLES..DATA], 0xff)?;
        }
        let message = NvlMessage::of_parts(header, &ae, header.be.then(|| bits(ENABLES)), data.to_vec());
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
        refused(0, 1, "field `ackid` at bits 11:0: found 0x1, expected 0x0: the link decides it");
        refused(80, 1, "data at bytes 80 to 303: found 0x1, expected 0x0");
        refused(16, 1, "NVL-HDR-02");
        let text = NvlMessage::from_packed(&bytes[1..]).expect_err("short").to_string();
        assert!(text.contains("found 303 bytes, expected 304"), "{text}");
        let read = NvlMessage { size: 3, ..NvlMessage::new(Op::READ, &NvlConfig::default()) };
        let mut wrong = read.to_packed().expect("it has a form");
        wrong[32] = 0;
        let text = NvlMessage::from_packed(&wrong).expect_err("enables").to_string();
        assert!(text.contains("byte enables at bytes 32 to 47: found 0x0, expected 0xff"), "{text}");
    }
}
