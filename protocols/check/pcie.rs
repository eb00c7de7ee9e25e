//! Checksums of the PCI Express data link layer: CRC-16 of a DLLP, LCRC and ECRC of a TLP (`cxl-io` §1.4, §2.3).
//!
//! Both registers take every byte with its lowest bit first, start at all ones and are complemented at the end; here they
//! are written reflected, so that the answer goes out low byte first.

use super::simd;

/// x^16 + x^12 + x^3 + x + 1, reflected.
pub const DLLP_POLY: u16 = 0xd008;
/// 04C11DB7h reflected.
pub const LCRC_POLY: u32 = 0xedb8_8320;

/// CRC-16 of the four bytes of a DLLP: bytes 4 and 5 of the packet.
pub fn dllp_crc(dllp: &[u8; 4]) -> [u8; 2] {
    let crc = dllp.iter().fold(u16::MAX, |crc, &b| {
        (0..8).fold(crc ^ u16::from(b), |crc, _| crc >> 1 ^ if crc & 1 == 1 { DLLP_POLY } else { 0 })
    });
    (!crc).to_le_bytes()
}

/// One input bit into the reflected 32-bit register.
const fn step(crc: u32) -> u32 {
    crc >> 1 ^ if crc & 1 == 1 { LCRC_POLY } else { 0 }
}

/// Blocks of 16 bytes from which folding beats the table.
pub(super) const FOLDED_BLOCKS: usize = 4;

/// x^n mod P, reflected.
const fn power(n: u32) -> u32 {
    let (mut crc, mut k) = (1 << 31, 0);
    while k < n {
        crc = step(crc);
        k += 1;
    }
    crc
}

/// What moves the two halves of a reflected block of 16 bytes, the first half first, by so many bits. The product of two
/// reflected halves stands one place lower than its sum of powers says, so each factor has one x less.
const fn fold_by(bits: u32) -> [u64; 2] {
    [(power(bits + 63) as u64) << 32, (power(bits - 1) as u64) << 32]
}

/// Moves a block over the next one.
pub(super) const BY_A_BLOCK: [u64; 2] = fold_by(128);
/// Moves a block over the next four.
pub(super) const BY_FOUR_BLOCKS: [u64; 2] = fold_by(4 * 128);

/// `[n][b]` is what byte b does to the register when n more bytes follow it in the same step.
static TABLE: [[u32; 256]; 16] = {
    let mut table = [[0; 256]; 16];
    let mut single = 0;
    while single < 8 {
        let b: usize = 1 << single;
        let mut crc = b as u32;
        let mut n = 0;
        while n < 16 {
            let mut bit = 0;
            while bit < 8 {
                crc = step(crc);
                bit += 1;
            }
            table[n][b] = crc;
            n += 1;
        }
        single += 1;
    }
    fill_by_linearity!(table);
    table
};

/// A step of N bytes, 4 to 16: one table for each byte. The register falls into the first four.
#[inline]
fn sliced<const N: usize>(crc: u32, bytes: &[u8; N]) -> u32 {
    let register = crc.to_le_bytes();
    let at = |n: usize| bytes[n] ^ register.get(n).copied().unwrap_or(0);
    (0..N).fold(0, |next, n| next ^ TABLE[N - 1 - n][usize::from(at(n))])
}

/// The register of the 32-bit CRC, fed piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Crc32(u32::MAX)
    }
}

impl Crc32 {
    /// Feeds bytes by the best path that the CPU has: carry-less multiplication for all whole blocks of 16 bytes if there
    /// are four or more, the table for the rest.
    #[must_use]
    #[inline]
    pub fn feed(self, bytes: &[u8]) -> Crc32 {
        let (blocks, rest) = bytes.as_chunks::<16>();
        match simd::crc32_block(self.0, blocks) {
            // The register is part of the block.
            Some(block) => Crc32(0).feed_table(&block).feed_table(rest),
            None => self.feed_table(bytes),
        }
    }

    /// Feeds bytes; table path: sixteen bytes a step, then eight, four and one.
    #[must_use]
    pub fn feed_table(self, bytes: &[u8]) -> Crc32 {
        let (blocks, rest) = bytes.as_chunks::<16>();
        let crc = blocks.iter().fold(self.0, sliced);
        let (words, rest) = rest.as_chunks::<8>();
        let crc = words.iter().fold(crc, sliced);
        let (words, rest) = rest.as_chunks::<4>();
        let crc = words.iter().fold(crc, sliced);
        Crc32(rest.iter().fold(crc, |crc, &b| crc >> 8 ^ TABLE[0][(crc as u8 ^ b) as usize]))
    }

    /// Feeds bytes; the definition, bit by bit.
    #[must_use]
    pub fn feed_bitwise(self, bytes: &[u8]) -> Crc32 {
        Crc32(bytes.iter().fold(self.0, |crc, &b| (0..8).fold(crc ^ u32::from(b), |crc, _| step(crc))))
    }

    /// The four bytes that go out.
    pub fn finish(self) -> [u8; 4] {
        (!self.0).to_le_bytes()
    }
}

/// LCRC of a TLP: over the sequence number, in two bytes whose upper four bits are 0, then the TLP.
pub fn lcrc(sequence: u16, tlp: &[u8]) -> [u8; 4] {
    Crc32::default().feed(&(sequence & 0xfff).to_be_bytes()).feed(tlp).finish()
}

/// LCRC of a nullified TLP: complemented; the receiver drops it without a trace (sheet mark \[C\]).
pub fn lcrc_nullified(sequence: u16, tlp: &[u8]) -> [u8; 4] {
    lcrc(sequence, tlp).map(|b| !b)
}

/// ECRC of a TLP in non-flit mode without its local prefixes and without the digest itself. Bits that a switch may
/// change, bit 0 of byte 0 and EP, count as 1; TD must be set already (sheet mark \[C\]).
pub fn ecrc(tlp: &[u8]) -> [u8; 4] {
    let mut head = [0; 4];
    let (first, rest) = tlp.split_at(tlp.len().min(head.len()));
    head[..first.len()].copy_from_slice(first);
    head[0] |= 0x01;
    head[2] |= 0x40;
    Crc32::default().feed(&head[..first.len()]).feed(rest).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that look random.
    fn bytes(count: usize, seed: u64) -> Vec<u8> {
        let mut x = seed;
        let next = |_| {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (x >> 56) as u8
        };
        (0..count).map(next).collect()
    }

    /// Every length up to 1 KiB, whatever stands in the register before.
    #[test]
    fn all_paths_are_equal() {
        let all = bytes(1024, 1);
        let mut want = Crc32::default();
        for n in 0..=all.len() {
            assert_eq!(Crc32::default().feed_table(&all[..n]), want, "{n} bytes");
            assert_eq!(Crc32::default().feed(&all[..n]), want, "{n} bytes");
            let (a, b) = all.split_at(n);
            assert_eq!(Crc32::default().feed(a).feed(b), Crc32::default().feed_bitwise(&all), "after {n} bytes");
            if let Some(&byte) = all.get(n) {
                want = want.feed_bitwise(&[byte]);
            }
        }
        for seed in 2..500 {
            let (register, all) =
                (Crc32((seed as u32).wrapping_mul(0x9e37_79b9)), bytes(seed as usize * 7 % 700, seed));
            let want = register.feed_bitwise(&all);
            assert_eq!((register.feed_table(&all), register.feed(&all)), (want, want), "{} bytes", all.len());
        }
    }

    /// One bit in a message of zeros, at every place: no place is folded wrongly.
    #[test]
    fn walking_ones() {
        for bit in 0..8 * 176 {
            let mut message = [0; 176];
            message[bit / 8] = 1 << (bit % 8);
            let want = Crc32(0).feed_bitwise(&message);
            assert_eq!((Crc32(0).feed_table(&message), Crc32(0).feed(&message)), (want, want), "bit {bit}");
        }
    }

    /// The check value of the CRC catalogues, the well-known CRC of 32 zeros, and the residue that a message with its CRC
    /// behind it leaves, at lengths for every path.
    #[test]
    fn known_answers() {
        let text = b"123456789";
        let long = [0; 32];
        for feed in [Crc32::feed, Crc32::feed_table, Crc32::feed_bitwise] {
            let crc = |bytes: &[u8]| u32::from_le_bytes(feed(Crc32::default(), bytes).finish());
            assert_eq!(crc(text), 0xcbf4_3926);
            assert_eq!(crc(&long), 0x190a_55ad);
            for n in [9, 64, 100, 636, 1020] {
                let message = bytes(n, 9);
                let all = [&message[..], &crc(&message).to_le_bytes()].concat();
                assert_eq!(!crc(&all), 0xdebb_20e3, "{n} bytes");
            }
        }
    }

    /// `cxl-io` §2.4.
    #[test]
    fn dllp_answers() {
        for (dllp, crc) in [
            ([0x31, 0, 0, 0], [0xfb, 0x32]),
            ([0x00, 0x00, 0x0a, 0xbc], [0x90, 0xad]),
            ([0x10, 0x00, 0x00, 0x01], [0xf9, 0x1e]),
            ([0x40, 0x50, 0x12, 0x00], [0xd3, 0x29]),
            ([0x20, 0, 0, 0], [0x65, 0xad]),
        ] {
            assert_eq!(dllp_crc(&dllp), crc);
        }
    }

    /// `cxl-io` §8.
    #[test]
    fn lcrc_answer() {
        let tlp = [4, 0, 0, 1, 0, 0, 1, 0x0f, 5, 0, 1, 4];
        assert_eq!(lcrc(1, &tlp), [0x60, 0xce, 0xf4, 0x78]);
    }
}
