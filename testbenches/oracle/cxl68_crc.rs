//! The CRC-16 of a 68-byte flit, twice, one bit at a time (sheet cxl-68b §1.6).
//!
//! Both take the 512 payload bits of a flit; neither uses a table. [`lfsr`] divides: a shift register eats flit bit 511
//! first. [`columns`] adds: every set flit bit i contributes x^(16+i) mod P, whatever the other bits are. Left out: the
//! protocol ID, which the CRC does not cover.

use bitvec::prelude::*;

/// P without its top bit: x^16+x^15+x^14+x^13+x^12+x^6+x^4+x+1.
pub const POLYNOMIAL: u16 = 0xF053;

/// The CRC of flit bytes 0..=63, by division.
pub fn lfsr(payload: &[u8; 64]) -> u16 {
    divide(payload.view_bits::<Lsb0>().iter().by_vals().rev())
}

/// The CRC of flit bytes 0..=63, as the sum of the columns of its set bits.
pub fn columns(payload: &[u8; 64]) -> u16 {
    let mut power = POLYNOMIAL; // x^16 mod P, the column of flit bit 0
    let mut sum = 0;
    for bit in payload.view_bits::<Lsb0>() {
        if *bit {
            sum ^= power;
        }
        power = times_x(power);
    }
    sum
}

/// Flit bytes 64 and 65 for that payload.
pub fn bytes(payload: &[u8; 64]) -> [u8; 2] {
    lfsr(payload).to_le_bytes()
}

/// The remainder of the bits (highest power first) times x^16; start value 0, nothing inverted, nothing reflected.
fn divide(bits: impl Iterator<Item = bool>) -> u16 {
    bits.fold(0, |register, bit| times_x(register ^ (u16::from(bit) << 15)))
}

fn times_x(value: u16) -> u16 {
    (value << 1) ^ if value & 0x8000 != 0 { POLYNOMIAL } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(bit: usize) -> [u8; 64] {
        let mut payload = [0; 64];
        payload[bit / 8] = 1 << (bit % 8);
        payload
    }

    /// The table of §1.6.
    #[test]
    fn known_answers() {
        let ramp = std::array::from_fn(|n| n as u8);
        let answers: [([u8; 64], u16, [u8; 2]); 9] = [
            ([0; 64], 0x0000, [0x00, 0x00]),
            (only(0), 0xF053, [0x53, 0xF0]),
            (only(1), 0x10F5, [0xF5, 0x10]),
            (only(8), 0x3954, [0x54, 0x39]),
            (only(127), 0x16B2, [0xB2, 0x16]),
            (only(128), 0x2D64, [0x64, 0x2D]),
            (only(511), 0xC47D, [0x7D, 0xC4]),
            ([0xFF; 64], 0x7856, [0x56, 0x78]),
            (ramp, 0xABF7, [0xF7, 0xAB]),
        ];
        for (payload, crc, tail) in answers {
            assert_eq!(lfsr(&payload), crc, "{payload:02x?}");
            assert_eq!(columns(&payload), crc, "{payload:02x?}");
            assert_eq!(bytes(&payload), tail, "{payload:02x?}");
        }
    }

    #[test]
    fn the_engine_fed_in_natural_order() {
        let text = b"123456789";
        assert_eq!(divide(text.view_bits::<Msb0>().iter().by_vals()), 0x3B99);
    }

    /// A mask has a one at flit bit i where that bit alone sets the CRC bit; the sheet prints bit 511 at the left.
    #[test]
    fn first_and_last_words_of_two_masks() {
        let mask = |crc_bit: u32| {
            let column_bits = (0..512).rev().map(|bit| columns(&only(bit)) >> crc_bit & 1 == 1);
            let mask: BitVec<u8, Msb0> = column_bits.collect();
            let bytes = mask.into_vec();
            (bytes[..8].to_vec(), bytes[60..].to_vec())
        };
        let first_15 = vec![0xEF, 0x9C, 0xD9, 0xF9, 0xC4, 0xBB, 0xB8, 0x3A];
        assert_eq!(mask(15), (first_15, vec![0x74, 0x6B, 0x24, 0x31]));
        let first_0 = vec![0xDF, 0x39, 0xB3, 0xF3, 0x89, 0x77, 0x70, 0x74];
        assert_eq!(mask(0), (first_0, vec![0xE8, 0xD6, 0x48, 0x63]));
    }

    #[test]
    fn both_ways_agree_on_every_single_bit_and_pair_of_neighbours() {
        for bit in 0..512 {
            let mut payload = only(bit);
            assert_eq!(lfsr(&payload), columns(&payload), "bit {bit}");
            let neighbour = (bit + 1) % 512;
            payload[neighbour / 8] |= 1 << (neighbour % 8);
            assert_eq!(lfsr(&payload), columns(&payload), "bits {bit} and {neighbour}");
        }
    }
}
