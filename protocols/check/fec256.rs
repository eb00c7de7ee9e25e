//! Forward error correction of the CXL 256-byte flit: three interleaved groups, one wrong byte in each is repaired
//! (`cxl-256b` §8).
//!
//! Protected byte n is row n / 3 of group n mod 3; groups 1 and 2 lack row 83 and count 0 there. Each group has a check
//! byte C = sum of B_i * alpha^(84 - i) and a parity byte P = sum of B_i in GF(2^8) with polynomial 11Dh, alpha = 2.
//! On the wire: C1 C2 C0 P1 P2 P0, so that every byte of a flit keeps index mod 3 = group.
//!
//! A standard flit protects bytes 0 to 249 and carries the FEC behind them. A latency-optimised flit carries it at 244 to
//! 249, before the CRC of the odd half; which order its 250 protected bytes have is our choice, see [`parity_lopt`].
//!
//! A repair is only a guess: two wrong bytes in one group can look like one wrong byte elsewhere. The CRC decides.

use super::crc256::STANDARD_BYTES;
use super::gf256::{self, BLOCK_BYTES, Block, Products};
use super::simd;
use thiserror::Error;

/// x^8 + x^4 + x^3 + x^2 + 1, the field of the FEC (`cxl-256b` §8; the CRC has another one).
pub const FIELD: u16 = 0x11d;
/// Bytes that the FEC protects.
pub const PROTECTED_BYTES: usize = 250;
/// Bytes of the FEC itself.
pub const PARITY_BYTES: usize = 6;
/// Interleaved groups.
pub const GROUPS: usize = 3;
/// Rows of a group, the implied zero of groups 1 and 2 included.
pub const ROWS: usize = 84;

/// Group of byte n of the FEC: C1 C2 C0 P1 P2 P0.
const WIRE_GROUP: [usize; PARITY_BYTES] = [1, 2, 0, 1, 2, 0];

/// a * alpha.
const fn double(a: u8) -> u8 {
    let shifted = (a as u16) << 1;
    (if shifted >> 8 == 1 { shifted ^ FIELD } else { shifted }) as u8
}

/// The definition: both sums by Horner's rule, byte by byte.
pub fn parity_bytewise(protected: &[u8; PROTECTED_BYTES]) -> [u8; PARITY_BYTES] {
    let (mut check, mut parity) = ([0; GROUPS], [0; GROUPS]);
    for n in 0..GROUPS * ROWS {
        let b = protected.get(n).copied().unwrap_or(0);
        check[n % GROUPS] = double(check[n % GROUPS] ^ b);
        parity[n % GROUPS] ^= b;
    }
    wire(check, parity)
}

fn wire(check: [u8; GROUPS], parity: [u8; GROUPS]) -> [u8; PARITY_BYTES] {
    core::array::from_fn(|n| if n < GROUPS { check[WIRE_GROUP[n]] } else { parity[WIRE_GROUP[n]] })
}

/// Rows that the table path takes in one step.
const STEP_ROWS: usize = 4;

/// `POWER[n][b]` is b * alpha^(n + 1).
static POWER: [[u8; 256]; STEP_ROWS] = {
    let mut table = [[0; 256]; STEP_ROWS];
    let mut b = 0;
    while b < 256 {
        let mut value = b as u8;
        let mut n = 0;
        while n < STEP_ROWS {
            value = double(value);
            table[n][b] = value;
            n += 1;
        }
        b += 1;
    }
    table
};

/// Table path of [`parity`], four rows a step: 70 ns (Xeon, 2.3 GHz nominal). Three parts of the rows side by side took 79,
/// sums over the bits of the factors in vectors that the compiler makes 96.
pub fn parity_table(protected: &[u8; PROTECTED_BYTES]) -> [u8; PARITY_BYTES] {
    let (mut check, mut parity) = ([0u8; GROUPS], [0u8; GROUPS]);
    let mut step = |rows: &[u8]| {
        for g in 0..GROUPS {
            let [a, b, c, d] = core::array::from_fn(|row| rows[GROUPS * row + g]);
            parity[g] ^= a ^ b ^ c ^ d;
            check[g] = POWER[3][usize::from(check[g] ^ a)]
                ^ POWER[2][usize::from(b)]
                ^ POWER[1][usize::from(c)]
                ^ POWER[0][usize::from(d)];
        }
    };
    let whole = protected.chunks_exact(GROUPS * STEP_ROWS);
    let rest = whole.remainder();
    whole.for_each(&mut step);
    // 250 = 20 * 12 + 10: the last step takes the two implied zeros.
    let mut last = [0; GROUPS * STEP_ROWS];
    last[..rest.len()].copy_from_slice(rest);
    step(&last);
    wire(check, parity)
}

/// Rows of a step of the path with shuffles.
const STEP_ROWS_SIMD: i32 = 32;

/// Blocks of the protected bytes that do not overlap, and the bytes behind them.
const WHOLE_BLOCKS: usize = PROTECTED_BYTES / BLOCK_BYTES;
const LAST_BYTES: usize = PROTECTED_BYTES % BLOCK_BYTES;

/// What the path with shuffles multiplies with. It takes 32 rows a step: 96 bytes, three blocks. Its eighth block is the end
/// of the message, so some bytes stand two rows behind the place that they would have if the seven before went on.
pub(super) struct Rows {
    /// alpha^32: a step.
    pub step: Products,
    /// alpha^2: two rows.
    pub two_rows: Products,
    /// Ones for the bytes of the last block that stand in their place.
    pub in_place: Block,
    /// Ones for those that stand two rows behind.
    pub moved: Block,
    /// 16, 8, 4, 2 and 1 rows, by which the first half of a step counts more than the last one: of checks for the first 16
    /// bytes, of parities, which all count once, for the last 16.
    pub halves: [Products; 5],
    /// What the last row of a step counts.
    pub last_row: Products,
}

impl Rows {
    /// `last` tells where in the last block the protected bytes behind the seven blocks stand.
    const fn new(last: [usize; LAST_BYTES]) -> Rows {
        let (step, two_rows) = (gf256::power(STEP_ROWS_SIMD, FIELD), gf256::power(2, FIELD));
        let mut rows = Rows {
            step: gf256::products([step; 2], FIELD),
            two_rows: gf256::products([two_rows; 2], FIELD),
            in_place: [0; BLOCK_BYTES],
            moved: [0; BLOCK_BYTES],
            halves: [[[0; BLOCK_BYTES]; 2]; 5],
            last_row: gf256::products([gf256::power(ROWS as i32 + 1 - 3 * STEP_ROWS_SIMD, FIELD), 1], FIELD),
        };
        let mut n = 0;
        while n < LAST_BYTES {
            assert!(last[n] == n || last[n] == n + 2 * GROUPS);
            let mask = if last[n] == n { &mut rows.in_place } else { &mut rows.moved };
            mask[last[n]] = 0xff;
            n += 1;
        }
        let mut fold = 0;
        while fold < 5 {
            rows.halves[fold] = gf256::products([gf256::power(16 >> fold, FIELD), 1], FIELD);
            fold += 1;
        }
        rows
    }
}

const ROWS_STANDARD: Rows = Rows::new({
    let (mut last, mut n) = ([0; LAST_BYTES], 0);
    while n < LAST_BYTES {
        last[n] = n + BLOCK_BYTES - LAST_BYTES;
        n += 1;
    }
    last
});

/// Those of a standard flit.
static STANDARD: Rows = ROWS_STANDARD;

/// Those of a standard flit whose CRC is not there yet: it counts nothing.
static ROWS_WITHOUT_CRC: Rows = {
    let (mut rows, mut n) = (ROWS_STANDARD, 0);
    while n < PROTECTED_BYTES - STANDARD_BYTES {
        rows.moved[BLOCK_BYTES - 1 - n] = 0;
        n += 1;
    }
    rows
};

/// The FEC of a standard flit as if its CRC were 0, for CPUs with AVX2.
#[inline]
pub(super) fn parity_without_crc_avx2(protected: &[u8; PROTECTED_BYTES]) -> Option<[u8; PARITY_BYTES]> {
    simd::fec(protected, &ROWS_WITHOUT_CRC).map(|[check, parity]| wire(check, parity))
}

/// What the CRC of a standard flit counts in the FEC, the first byte of each lowest.
pub(super) const fn parity_of_crc(crc: u64) -> u64 {
    let (mut parity, mut at) = (0, 0);
    while at < PROTECTED_BYTES - STANDARD_BYTES {
        let (byte, n) = ((crc >> (8 * at)) as u8, STANDARD_BYTES + at);
        let check = gf256::mul(byte, gf256::power((ROWS - n / GROUPS) as i32, FIELD), FIELD);
        let mut wire = 0;
        while WIRE_GROUP[wire] != n % GROUPS {
            wire += 1;
        }
        parity ^= (check as u64) << (8 * wire) ^ (byte as u64) << (8 * (GROUPS + wire));
        at += 1;
    }
    parity
}

/// Path of [`parity`] for CPUs with AVX2; `None` where the CPU has none or it is switched off.
#[inline]
pub fn parity_avx2(protected: &[u8; PROTECTED_BYTES]) -> Option<[u8; PARITY_BYTES]> {
    simd::fec(protected, &STANDARD).map(|[check, parity]| wire(check, parity))
}

/// The FEC bytes of 250 protected bytes, as they go on the wire. The fastest path of this machine.
#[inline]
pub fn parity(protected: &[u8; PROTECTED_BYTES]) -> [u8; PARITY_BYTES] {
    parity_avx2(protected).unwrap_or_else(|| parity_table(protected))
}

/// `LOG[a]` is the power of alpha that gives a; a = 0 has none.
static LOG: [u8; 256] = {
    let mut log = [0; 256];
    let mut power = 1;
    let mut n = 0;
    while n < 255 {
        log[power as usize] = n;
        power = double(power);
        n += 1;
    }
    log
};

/// One byte that the FEC changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Correction {
    /// Byte of the flit, 0 to 255; a byte of the FEC itself counts too.
    pub byte: usize,
    /// What was added to it: received xor repaired.
    pub xor: u8,
}

/// What [`correct`] changed: at most one byte in each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Corrections([Option<Correction>; GROUPS]);

impl Corrections {
    /// The repairs, group 0 first.
    pub fn iter(&self) -> impl Iterator<Item = Correction> + '_ {
        self.0.iter().flatten().copied()
    }

    /// Makes the repairs.
    pub fn apply(&self, flit: &mut [u8; 256]) {
        for Correction { byte, xor } in self.iter() {
            flit[byte] ^= xor;
        }
    }

    /// Nothing was wrong.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// A group whose syndrome no single wrong byte explains; the flit is left as it was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("FEC group {group} has no single wrong byte: parity syndrome {parity:#04x}, check syndrome {check:#04x}")]
pub struct Uncorrectable {
    /// The first such group, 0 to 2.
    pub group: usize,
    /// Received xor recomputed parity byte.
    pub parity: u8,
    /// Received xor recomputed check byte.
    pub check: u8,
}

/// Received xor recomputed FEC bytes, in wire order; all 0 where nothing is wrong.
pub fn syndrome(protected: &[u8; PROTECTED_BYTES], received: &[u8; PARITY_BYTES]) -> [u8; PARITY_BYTES] {
    let expected = parity(protected);
    core::array::from_fn(|n| received[n] ^ expected[n])
}

/// Which byte (0 to 249 protected, 250 to 255 the FEC) of each group is wrong, by what (`cxl-256b` §8, decode table).
pub fn locate(syndrome: &[u8; PARITY_BYTES]) -> Result<Corrections, Uncorrectable> {
    let mut found = Corrections::default();
    if *syndrome == [0; PARITY_BYTES] {
        return Ok(found);
    }
    for at in 0..GROUPS {
        let (group, check, parity) = (WIRE_GROUP[at], syndrome[at], syndrome[GROUPS + at]);
        found.0[group] = match (parity, check) {
            (0, 0) => None,
            (_, 0) => Some(Correction { byte: PROTECTED_BYTES + GROUPS + at, xor: parity }),
            (0, _) => Some(Correction { byte: PROTECTED_BYTES + at, xor: check }),
            _ => {
                // check = parity * alpha^(84 - row), row 0 to 83; row 83 of groups 1 and 2 does not exist.
                let power = (i32::from(LOG[usize::from(check)]) - i32::from(LOG[usize::from(parity)])).rem_euclid(255);
                let byte = match power {
                    1..=84 => GROUPS * (ROWS - power as usize) + group,
                    _ => PROTECTED_BYTES,
                };
                if byte >= PROTECTED_BYTES {
                    return Err(Uncorrectable { group, parity, check });
                }
                Some(Correction { byte, xor: parity })
            }
        };
    }
    Ok(found)
}

/// What [`correct`] would change.
///
/// # Errors
/// A group with a syndrome that no single byte explains.
pub fn find(flit: &[u8; 256]) -> Result<Corrections, Uncorrectable> {
    let (protected, received) = flit.split_first_chunk().expect("256 bytes");
    locate(&syndrome(protected, received.first_chunk().expect("6 bytes")))
}

/// Repairs a standard flit in place: at most one wrong byte in each group.
///
/// # Errors
/// A group with a syndrome that no single byte explains; the flit is unchanged then.
pub fn correct(flit: &mut [u8; 256]) -> Result<Corrections, Uncorrectable> {
    let found = find(flit)?;
    found.apply(flit);
    Ok(found)
}

/// First FEC byte of a latency-optimised flit (`cxl-256b` §1.5).
const LOPT_AT: usize = 244;

/// Flit byte of byte n of the sequence "250 protected bytes, 6 FEC bytes" in a latency-optimised flit.
///
/// Sheet mark \[D\]: no source tells in which order the FEC takes the bytes behind it. Chosen: as they stand in the flit,
/// 0 to 243, then 250 to 255. This function and [`lopt_ordered`] are the only places that know.
const fn lopt_byte(n: usize) -> usize {
    match n {
        0..LOPT_AT => n,
        LOPT_AT..PROTECTED_BYTES => n + PARITY_BYTES,
        _ => n - PARITY_BYTES,
    }
}

/// The 250 protected bytes of a latency-optimised flit in the order of the FEC.
fn lopt_ordered(flit: &[u8; 256]) -> [u8; PROTECTED_BYTES] {
    let mut ordered = [0; PROTECTED_BYTES];
    ordered[..LOPT_AT].copy_from_slice(&flit[..LOPT_AT]);
    ordered[LOPT_AT..].copy_from_slice(&flit[PROTECTED_BYTES..]);
    ordered
}

/// As [`ROWS_STANDARD`], of a whole latency-optimised flit where it stands: the FEC itself counts nothing.
static ROWS_LOPT: Rows = Rows::new({
    let (mut last, mut n) = ([0; LAST_BYTES], 0);
    while n < LAST_BYTES {
        last[n] = lopt_byte(WHOLE_BLOCKS * BLOCK_BYTES + n) - WHOLE_BLOCKS * BLOCK_BYTES;
        n += 1;
    }
    last
});

/// Path of [`parity_lopt`] for CPUs with AVX2; `None` where the CPU has none or it is switched off.
#[inline]
pub fn parity_lopt_avx2(flit: &[u8; 256]) -> Option<[u8; PARITY_BYTES]> {
    simd::fec(flit, &ROWS_LOPT).map(|[check, parity]| wire(check, parity))
}

/// Table path of [`parity_lopt`].
pub fn parity_lopt_table(flit: &[u8; 256]) -> [u8; PARITY_BYTES] {
    parity_table(&lopt_ordered(flit))
}

/// The FEC bytes 244 to 249 of a latency-optimised flit; what stands there now does not matter. Both CRCs must be in place.
#[inline]
pub fn parity_lopt(flit: &[u8; 256]) -> [u8; PARITY_BYTES] {
    parity_lopt_avx2(flit).unwrap_or_else(|| parity_lopt_table(flit))
}

/// What [`correct_lopt`] would change.
///
/// # Errors
/// A group with a syndrome that no single byte explains.
pub fn find_lopt(flit: &[u8; 256]) -> Result<Corrections, Uncorrectable> {
    let received: &[u8; PARITY_BYTES] = flit[LOPT_AT..].first_chunk().expect("6 bytes");
    let expected = parity_lopt(flit);
    let mut found = locate(&core::array::from_fn(|n| received[n] ^ expected[n]))?;
    for Correction { byte, .. } in found.0.iter_mut().flatten() {
        *byte = lopt_byte(*byte);
    }
    Ok(found)
}

/// Repairs a latency-optimised flit in place: at most one wrong byte in each group.
///
/// # Errors
/// A group with a syndrome that no single byte explains; the flit is unchanged then.
pub fn correct_lopt(flit: &mut [u8; 256]) -> Result<Corrections, Uncorrectable> {
    let found = find_lopt(flit)?;
    found.apply(flit);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::crc256;
    use crate::check::samples;

    fn coded(message: [u8; 242]) -> [u8; 256] {
        let mut flit = [0; 256];
        flit[..242].copy_from_slice(&message);
        flit[242..250].copy_from_slice(&crc256::crc8(&message).to_le_bytes());
        let fec = parity(flit.first_chunk().expect("250 bytes"));
        flit[250..].copy_from_slice(&fec);
        flit
    }

    fn ramp() -> [u8; 256] {
        coded(core::array::from_fn(|i| i as u8))
    }

    /// `cxl-256b` §10.
    #[test]
    fn known_answers() {
        let message = |bytes: &[(usize, u8)]| {
            let mut m = [0; 242];
            bytes.iter().for_each(|&(at, b)| m[at] = b);
            m
        };
        let cases: [([u8; 242], [u8; 6]); 11] = [
            ([0; 242], [0; 6]),
            (core::array::from_fn(|i| i as u8), [0x15, 0xa0, 0x3d, 0xc7, 0xff, 0xa8]),
            ([0xff; 242], [0x53, 0xcd, 0x0e, 0xc3, 0x41, 0xb4]),
            (message(&[(241, 1)]), [0xfd, 0xe6, 0x96, 0xbe, 0x32, 0x4d]),
            (message(&[(241, 2)]), [0x3f, 0xd1, 0x85, 0x57, 0x64, 0x9a]),
            (message(&[(240, 0x80)]), [0x11, 0x16, 0x92, 0x8c, 0xbb, 0x93]),
            (message(&[(120, 0x5a)]), [0x80, 0xd6, 0x8f, 0x29, 0x8e, 0x2b]),
            (message(&[(0, 0xa0), (1, 1), (240, 1)]), [0x9b, 0x9a, 0x3a, 0x1a, 0xd4, 0xc3]),
            (message(&[(0, 4), (1, 5)]), [0x4a, 0x20, 0x10, 0x17, 0xe4, 0x2b]),
            (message(&[(0, 0xe0), (1, 2), (3, 1), (4, 0x80), (5, 0x14)]), [0xad, 0x26, 0xdb, 0x57, 0x26, 0xfc]),
            (message(&[(0, 0xa0), (1, 3), (2, 0x34), (4, 1), (6, 0x40)]), [0x8e, 0x03, 0xb7, 0x3e, 0x1f, 0xf3]),
        ];
        for (m, want) in cases {
            let flit = coded(m);
            assert_eq!(flit[250..], want);
            assert_eq!(parity_bytewise(flit.first_chunk().expect("250 bytes")), want);
            assert_eq!(parity_table(flit.first_chunk().expect("250 bytes")), want);
        }
    }

    /// `cxl-256b` §10, table of decodes: the syndromes and rows of three wrong bytes.
    #[test]
    fn known_syndromes() {
        for (byte, xor, group, check, row) in
            [(100, 0x10, 1, 0xa0, 33), (249, 0x80, 0, 0x1d, 83), (2, 0x01, 2, 0x6b, 0)]
        {
            let mut flit = ramp();
            flit[byte] ^= xor;
            let s = syndrome(flit.first_chunk().expect("250"), flit.last_chunk().expect("6"));
            let at = WIRE_GROUP.iter().position(|&g| g == group).expect("a group");
            assert_eq!((s[at], s[GROUPS + at]), (check, xor));
            assert_eq!(GROUPS * row + group, byte);
            assert_eq!(correct(&mut flit).expect("one byte").iter().collect::<Vec<_>>(), [Correction { byte, xor }]);
            assert_eq!(flit, ramp());
        }
    }

    /// `cxl-256b` §10, last row of the 6-byte CRCs.
    #[test]
    fn known_answer_lopt() {
        let mut flit: [u8; 256] = core::array::from_fn(|i| i as u8);
        flit[122..128].copy_from_slice(&[0x60, 0x5c, 0x52, 0xa8, 0xef, 0x40]);
        flit[250..].copy_from_slice(&[0x18, 0x6c, 0x07, 0x3f, 0x48, 0x90]);
        assert_eq!(parity_lopt(&flit), [0x21, 0x89, 0xd4, 0x67, 0x49, 0xd2]);
    }

    /// All paths, with single values in every place and with 10^5 random messages.
    #[test]
    fn all_paths_are_equal() {
        let same = |flit: &[u8; 256]| {
            let p = flit.first_chunk().expect("250");
            let want = parity_bytewise(p);
            assert_eq!((parity_table(p), parity_avx2(p).unwrap_or(want), parity(p)), (want, want, want));
            let want = parity_bytewise(&lopt_ordered(flit));
            assert_eq!(parity_lopt_table(flit), want);
            assert_eq!((parity_lopt_avx2(flit).unwrap_or(want), parity_lopt(flit)), (want, want));
        };
        samples::thorough(100_000).for_each(|flit| same(&flit));
    }

    /// The row that groups 1 and 2 do not have is named, not repaired, and the flit stays.
    #[test]
    fn implied_row_is_uncorrectable() {
        for (at, group) in [(0, 1), (1, 2)] {
            let mut flit = ramp();
            // One wrong byte in row 83: check syndrome = parity syndrome * alpha.
            flit[PROTECTED_BYTES + at] ^= double(0x40);
            flit[PROTECTED_BYTES + GROUPS + at] ^= 0x40;
            let received = flit;
            assert_eq!(correct(&mut flit), Err(Uncorrectable { group, parity: 0x40, check: 0x80 }));
            assert_eq!(flit, received);
        }
    }
}
