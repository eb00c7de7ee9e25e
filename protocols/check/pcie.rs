//! Checksums of the PCI Express data link layer: CRC-16 of a DLLP, LCRC and ECRC of a TLP (`cxl-io` §1.4, §2.3).
//!
//! Both registers take every byte with its lowest bit first, start at all ones and are complemented at the end; here they
//! are written reflected, so that the answer goes out low byte first.

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

/// `[n][b]` is what byte b does to the register when n more bytes follow it in the same step.
static TABLE: [[u32; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut b = 0;
    while b < 256 {
        let mut crc = b as u32;
        let mut n = 0;
        while n < 8 {
            let mut bit = 0;
            while bit < 8 {
                crc = step(crc);
                bit += 1;
            }
            table[n][b] = crc;
            n += 1;
        }
        b += 1;
    }
    table
};

/// The register of the 32-bit CRC, fed piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Crc32(u32::MAX)
    }
}

impl Crc32 {
    /// Feeds bytes; table path, eight bytes a step.
    #[must_use]
    pub fn feed(self, bytes: &[u8]) -> Crc32 {
        let words = bytes.chunks_exact(8);
        let rest = words.remainder();
        let crc = words.fold(self.0, |crc, w| {
            let word = u64::from_le_bytes(w.try_into().expect("8 bytes")) ^ u64::from(crc);
            (0..8).fold(0, |next, n| next ^ TABLE[7 - n][(word >> (8 * n)) as usize & 0xff])
        });
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

    #[test]
    fn both_paths_are_equal() {
        let bytes: Vec<u8> = (0..300u32).map(|i| ((i * i * 37) >> 3) as u8).collect();
        for n in 0..bytes.len() {
            let (a, b) = bytes.split_at(n);
            let want = Crc32::default().feed_bitwise(&bytes);
            assert_eq!(Crc32::default().feed(a).feed(b), want);
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
