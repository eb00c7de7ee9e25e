//! NVLink packets of the model profile NVL-M1, a second time (sheet nvlink §6.1, §6.2). Basis: model, no product.
//!
//! Modelled: header and AE as lists of widths from bit 127 downward, so that a place follows from the widths before it;
//! the CRC as the remainder of schoolbook division by a generator that is multiplied out from its factors. Left out:
//! meaning of codes.

use bitvec::prelude::*;

/// Names and widths of the header, highest bit first (§6.1).
#[rustfmt::skip] // one part a line, as in the sheet
pub const HEADER: [(&str, usize); 18] = [
    ("crc", 25),
    ("op", 6), ("vc", 3), ("tag", 10), ("rid", 9), ("address", 34), ("size", 4), ("ae", 1), ("be", 1), ("ep", 1),
    ("crvc", 3), ("crh", 4), ("crd", 5), ("rsvd", 2),
    ("len", 5), ("atag", 2), ("ackv", 1), ("ackid", 12),
];

/// Names and widths of the address extension, highest bit first (§6.1).
pub const AE: [(&str, usize); 4] = [("address", 26), ("attr", 6), ("route", 32), ("rsvd", 64)];

/// Bits of the CRC.
const CRC_BITS: usize = 25;

/// The bytes of a flit from its fields, byte 0 first. Panics when a value is wider than its field.
pub fn pack(fields: &[(&str, usize)], value: impl Fn(&str) -> u128) -> [u8; 16] {
    let mut falling = BitVec::<u8, Msb0>::new();
    for &(name, width) in fields {
        let value = value(name);
        assert_eq!(value >> width, 0, "{name}: {value:#x} is too wide");
        falling.extend((0..width).rev().map(|bit| value >> bit & 1 == 1));
    }
    bytes_of(&falling)
}

/// The field values of a flit, in the order of `fields`.
pub fn unpack(fields: &[(&str, usize)], bytes: [u8; 16]) -> Vec<u128> {
    let falling = falling(bytes);
    let mut rest = &falling[..];
    let mut values = Vec::new();
    for &(_, width) in fields {
        let (field, others) = rest.split_at(width);
        values.push(field.iter().fold(0, |value, bit| value << 1 | u128::from(*bit)));
        rest = others;
    }
    assert!(rest.is_empty(), "the widths do not sum to 128");
    values
}

/// Bit 127 first: the last byte holds the highest bits.
fn falling(bytes: [u8; 16]) -> BitVec<u8, Msb0> {
    let mut bytes = bytes;
    bytes.reverse();
    BitVec::from_slice(&bytes)
}

fn bytes_of(falling: &BitSlice<u8, Msb0>) -> [u8; 16] {
    let mut bytes: Vec<u8> = falling.chunks(8).map(|byte| byte.load_be::<u8>()).collect();
    bytes.reverse();
    bytes.try_into().expect("16 bytes")
}

/// The product of two polynomials over GF(2), coefficient of x^i at bit i.
fn product(a: u64, b: u64) -> u64 {
    (0..32).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ a << bit)
}

/// (x + 1) m1 m3, with m1 = x^12+x^6+x^4+x+1 and m3 = 0x145B (§6.2).
pub fn generator() -> u64 {
    product(product(0b11, 1 << 12 | 1 << 6 | 1 << 4 | 1 << 1 | 1), 0x145b)
}

/// The remainder of bits (highest power first) times x^25; the first 25 bits are inverted, which is the initial value of
/// all ones.
fn remainder(message: &BitSlice<u8, Msb0>, inverted: bool) -> u32 {
    let mut rest = message.to_bitvec();
    rest.extend([false; CRC_BITS]);
    if inverted {
        rest[..CRC_BITS].iter_mut().for_each(|mut bit| *bit = !*bit);
    }
    let generator = generator();
    for lead in 0..message.len() {
        if rest[lead] {
            for power in 0..=CRC_BITS {
                let flipped = rest[lead + power] ^ (generator >> (CRC_BITS - power) & 1 == 1);
                rest.set(lead + power, flipped);
            }
        }
    }
    rest[message.len()..].iter().fold(0, |crc, bit| crc << 1 | u32::from(*bit))
}

/// The CRC of a header behind the flits that followed the header before it (§6.2); CRC bits of the header do not count.
pub fn crc(previous: &[[u8; 16]], header: [u8; 16]) -> u32 {
    let mut message = BitVec::<u8, Msb0>::new();
    previous.iter().for_each(|flit| message.extend_from_bitslice(&falling(*flit)));
    message.extend_from_bitslice(&falling(header)[CRC_BITS..]);
    remainder(&message, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §6.1: the sums at the end of the header table.
    #[test]
    fn widths_are_those_of_the_sheet() {
        let sum = |fields: &[(&str, usize)]| fields.iter().map(|f| f.1).sum::<usize>();
        assert_eq!((sum(&HEADER), sum(&AE)), (128, 128));
        assert_eq!((sum(&HEADER[..1]), sum(&HEADER[1..14]), sum(&HEADER[14..])), (25, 83, 20));
    }

    /// §6.2: polynomial and check values.
    #[test]
    fn known_answers() {
        assert_eq!(generator(), 0x3c2_60a7);
        let text = BitVec::<u8, Msb0>::from_slice(b"123456789");
        assert_eq!((remainder(&text, true), remainder(&text, false)), (0x1d5_6a14, 0x17e_b263));
    }

    #[test]
    fn a_flit_unpacks_to_what_was_packed() {
        let bytes = pack(&HEADER, |name| name.len() as u128 & 1);
        let values: Vec<u128> = HEADER.iter().map(|(name, _)| name.len() as u128 & 1).collect();
        assert_eq!(unpack(&HEADER, bytes), values);
        let top = pack(&HEADER, |name| u128::from(name == "crc") << 24);
        assert_eq!(top, std::array::from_fn(|n| if n == 15 { 0x80 } else { 0 }));
    }
}
