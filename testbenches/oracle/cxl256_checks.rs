//! CRC and FEC of 256-byte flits as arithmetic on polynomials (sheet cxl-256b §7, §8).
//!
//! Modelled: the 8-byte CRC of standard and PBR flits, the two 6-byte CRCs of a latency-optimised flit, the six FEC
//! bytes of both, and correction. No table: a product in GF(256) is a carry-less product reduced by long division, a
//! CRC is the remainder of schoolbook division by a generator multiplied out from its roots, a check byte is a sum of
//! powers, and a correction is found by trying every row. Left out: the rules of retry.

/// Field polynomial of the CRCs: x^8+x^5+x^3+x+1 (§7.1).
const CRC_FIELD: u16 = 0x12B;
/// Field polynomial of the FEC: x^8+x^4+x^3+x^2+1 (§8).
const FEC_FIELD: u16 = 0x11D;
/// alpha of both fields.
const ALPHA: u8 = 0x02;
/// Rows of a FEC group.
const ROWS: usize = 84;
/// Groups in the order in which their check bytes and then their parity bytes are sent.
const GROUPS_ON_WIRE: [usize; 3] = [1, 2, 0];

fn product(field: u16, a: u8, b: u8) -> u8 {
    let mut sum = (0..8).filter(|bit| b >> bit & 1 == 1).fold(0u16, |sum, bit| sum ^ u16::from(a) << bit);
    for bit in (8..15).rev() {
        if sum >> bit & 1 == 1 {
            sum ^= field << (bit - 8);
        }
    }
    sum as u8
}

fn power(field: u16, exponent: usize) -> u8 {
    (0..exponent).fold(1, |power, _| product(field, power, ALPHA))
}

/// The product over i = 1..=degree of (x + alpha^i), highest coefficient first.
fn generator(degree: usize) -> Vec<u8> {
    (1..=degree).fold(vec![1], |factors, i| {
        let root = power(CRC_FIELD, i);
        let mut next = factors.clone();
        next.push(0); // times x
        for (coefficient, factor) in next[1..].iter_mut().zip(&factors) {
            *coefficient ^= product(CRC_FIELD, *factor, root);
        }
        next
    })
}

/// The remainder of message * x^degree, lowest coefficient first; the message's first byte is its highest coefficient.
fn remainder(message: &[u8], degree: usize) -> Vec<u8> {
    let generator = generator(degree);
    let mut rest = message.to_vec();
    rest.extend(vec![0; degree]);
    for lead in 0..message.len() {
        let quotient = rest[lead];
        for (byte, coefficient) in rest[lead..].iter_mut().zip(&generator) {
            *byte ^= product(CRC_FIELD, *coefficient, quotient);
        }
    }
    rest[message.len()..].iter().rev().copied().collect()
}

/// §7.1: flit bytes 242..=249 for flit bytes 0..=241.
pub fn standard_crc(flit: &[u8; 256]) -> [u8; 8] {
    remainder(&flit[..242], 8).try_into().unwrap()
}

/// §7.2: flit bytes 122..=127 for flit bytes 0..=121, padded to 130.
pub fn even_crc(flit: &[u8; 256]) -> [u8; 6] {
    padded_crc(&flit[..122])
}

/// §7.2: flit bytes 250..=255 for flit bytes 128..=243, padded to 130.
pub fn odd_crc(flit: &[u8; 256]) -> [u8; 6] {
    padded_crc(&flit[128..244])
}

fn padded_crc(half: &[u8]) -> [u8; 6] {
    let mut message = half.to_vec();
    message.resize(130, 0);
    remainder(&message, 6).try_into().unwrap()
}

/// §8: flit bytes 250..=255 for flit bytes 0..=249.
pub fn standard_fec(flit: &[u8; 256]) -> [u8; 6] {
    parity(&flit[..250])
}

/// §8: flit bytes 244..=249 for the bytes before and behind them.
pub fn latency_optimised_fec(flit: &[u8; 256]) -> [u8; 6] {
    parity(&[&flit[..244], &flit[250..]].concat())
}

fn parity(protected: &[u8]) -> [u8; 6] {
    let pairs = GROUPS_ON_WIRE.map(|group| check_and_parity(protected, group));
    [pairs[0].0, pairs[1].0, pairs[2].0, pairs[0].1, pairs[1].1, pairs[2].1]
}

/// C and P of a group: the sum of B\[i\] * alpha^(84-i), and of B\[i\].
fn check_and_parity(protected: &[u8], group: usize) -> (u8, u8) {
    let rows = protected.iter().skip(group).step_by(3).enumerate();
    rows.fold((0, 0), |(c, p), (row, byte)| (c ^ product(FEC_FIELD, *byte, power(FEC_FIELD, ROWS - row)), p ^ byte))
}

/// Corrects up to one byte a group of the 250 protected bytes; the index and the difference of each corrected byte in
/// the order of groups 0, 1, 2, or the groups beyond repair, in which case nothing is corrected.
pub fn correct(protected: &mut [u8; 250], fec: [u8; 6]) -> Result<Vec<(usize, u8)>, Vec<usize>> {
    let (mut found, mut beyond) = (vec![], vec![]);
    for group in 0..3 {
        let place = GROUPS_ON_WIRE.iter().position(|g| *g == group).unwrap();
        let (c, p) = check_and_parity(protected, group);
        let (s_c, s_p) = (fec[place] ^ c, fec[place + 3] ^ p);
        if s_c == 0 || s_p == 0 {
            continue; // no error, or in a FEC byte
        }
        let row = (0..ROWS).find(|row| product(FEC_FIELD, s_p, power(FEC_FIELD, ROWS - row)) == s_c);
        match row.map(|row| 3 * row + group).filter(|byte| *byte < protected.len()) {
            Some(byte) => found.push((byte, s_p)),
            None => beyond.push(group), // no row, or the implied zero of groups 1 and 2
        }
    }
    if !beyond.is_empty() {
        return Err(beyond);
    }
    found.iter().for_each(|&(byte, difference)| protected[byte] ^= difference);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(byte: impl Fn(usize) -> u8) -> [u8; 256] {
        std::array::from_fn(byte)
    }

    /// The flit with its CRC and FEC, bytes 242..=255.
    fn checks(mut flit: [u8; 256]) -> [u8; 14] {
        let crc = standard_crc(&flit);
        flit[242..250].copy_from_slice(&crc);
        let fec = standard_fec(&flit);
        [&crc[..], &fec].concat().try_into().unwrap()
    }

    #[test]
    fn generators_are_those_of_the_sheet() {
        assert_eq!(generator(8), [0x01, 0xD5, 0x68, 0xFE, 0xD5, 0x33, 0x41, 0x4D, 0x69]);
        assert_eq!(generator(6), [0x01, 0x7E, 0x47, 0xAB, 0x1A, 0xA8, 0x32]);
    }

    /// §10, rows of the 242-byte inputs.
    #[test]
    fn known_answers() {
        let ramp = [0xBC, 0xE5, 0x2C, 0x43, 0x1B, 0xBA, 0x50, 0x56, 0x15, 0xA0, 0x3D, 0xC7, 0xFF, 0xA8];
        assert_eq!(checks(filled(|i| i as u8)), ramp);
        let ones = [0x51, 0x13, 0xC2, 0x34, 0xDD, 0xFE, 0x24, 0x85, 0x53, 0xCD, 0x0E, 0xC3, 0x41, 0xB4];
        assert_eq!(checks([0xFF; 256]), ones);
        let one = [0x69, 0x4D, 0x41, 0x33, 0xD5, 0xFE, 0x68, 0xD5, 0xFD, 0xE6, 0x96, 0xBE, 0x32, 0x4D];
        assert_eq!(checks(filled(|i| u8::from(i == 241))), one);
    }

    /// §10, rows of the 6-byte CRC and of the latency-optimised FEC.
    #[test]
    fn known_answers_of_the_halves() {
        let mut flit = filled(|i| i as u8);
        let (even, odd) = (even_crc(&flit), odd_crc(&flit));
        assert_eq!(even, [0x60, 0x5C, 0x52, 0xA8, 0xEF, 0x40]);
        assert_eq!(odd, [0x18, 0x6C, 0x07, 0x3F, 0x48, 0x90]);
        flit[122..128].copy_from_slice(&even);
        flit[250..].copy_from_slice(&odd);
        assert_eq!(latency_optimised_fec(&flit), [0x21, 0x89, 0xD4, 0x67, 0x49, 0xD2]);
        assert_eq!(even_crc(&filled(|i| u8::from(i == 0))), [0x59, 0x16, 0x20, 0x2A, 0x8E, 0x62]);
        assert_eq!(odd_crc(&filled(|i| u8::from(i == 243))), [0x90, 0x7C, 0xEA, 0x19, 0xBF, 0xEC]);
    }

    /// §10, one wrong byte in each group.
    #[test]
    fn one_wrong_byte_a_group_comes_back() {
        let mut flit = filled(|i| i as u8);
        let crc = standard_crc(&flit);
        flit[242..250].copy_from_slice(&crc);
        let fec = standard_fec(&flit);
        let good: [u8; 250] = flit[..250].try_into().unwrap();
        let mut bad = good;
        bad[100] ^= 0x10;
        bad[249] ^= 0x80;
        bad[2] ^= 0x01;
        assert_eq!(correct(&mut bad, fec), Ok(vec![(249, 0x80), (100, 0x10), (2, 0x01)]));
        assert_eq!(bad, good);
    }
}
