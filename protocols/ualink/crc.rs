//! CRC-32 of the DL flit (`ualink` §5).
//!
//! The IEEE 802.3 CRC over the 640 bytes with the CRC taken as 0, byte 0 and bit 0 first. It goes out x^0 first: bit 0 of
//! CRC0 is the coefficient of x^0, the reverse of the order of an Ethernet FCS.

use super::flit::{FLIT_BYTES, map};
use crate::check::pcie::Crc32;

/// Which coefficient is sent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcBitOrder {
    /// x^0 first, as the sheet says.
    X0First,
    /// x^31 first, as Ethernet does (`ualink` §16 X13).
    X31First,
}

/// Which bytes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcCoverage {
    /// 636 bytes and four zeros in place of the CRC.
    WholeFlit,
    /// The 636 bytes alone (`ualink` §16 X3).
    DataOnly,
}

/// The four bytes at 636, first one lowest.
pub fn crc(flit: &[u8; FLIT_BYTES], order: CrcBitOrder, coverage: CrcCoverage) -> u32 {
    finish(Crc32::default().feed(&flit[..map::CRC.start]), Crc32::feed, order, coverage)
}

/// The same bit by bit: the definition.
pub fn crc_bitwise(flit: &[u8; FLIT_BYTES], order: CrcBitOrder, coverage: CrcCoverage) -> u32 {
    finish(Crc32::default().feed_bitwise(&flit[..map::CRC.start]), Crc32::feed_bitwise, order, coverage)
}

fn finish(data: Crc32, feed: fn(Crc32, &[u8]) -> Crc32, order: CrcBitOrder, coverage: CrcCoverage) -> u32 {
    let all = match coverage {
        CrcCoverage::WholeFlit => feed(data, &[0; 4]),
        CrcCoverage::DataOnly => data,
    };
    // Bit 0 of the register is x^31.
    let fcs = u32::from_le_bytes(all.finish());
    match order {
        CrcBitOrder::X0First => fcs.reverse_bits(),
        CrcBitOrder::X31First => fcs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The idle Ack of `ualink` §5.
    fn anchor() -> [u8; FLIT_BYTES] {
        let mut flit = [0; FLIT_BYTES];
        flit[map::FH].copy_from_slice(&[0x00, 0xff, 0x4f]);
        flit
    }

    #[test]
    fn anchor_in_both_orders() {
        assert_eq!(crc(&anchor(), CrcBitOrder::X31First, CrcCoverage::WholeFlit), 0x4009_bc57);
        assert_eq!(crc(&anchor(), CrcBitOrder::X0First, CrcCoverage::WholeFlit), 0xea3d_9002);
    }

    #[test]
    fn both_paths_are_equal() {
        let ramp: [u8; FLIT_BYTES] = core::array::from_fn(|n| (n * 7 + n / 256) as u8);
        for flit in [[0; FLIT_BYTES], [0xff; FLIT_BYTES], ramp, anchor()] {
            for order in [CrcBitOrder::X0First, CrcBitOrder::X31First] {
                for coverage in [CrcCoverage::WholeFlit, CrcCoverage::DataOnly] {
                    assert_eq!(crc(&flit, order, coverage), crc_bitwise(&flit, order, coverage));
                }
            }
        }
    }
}
