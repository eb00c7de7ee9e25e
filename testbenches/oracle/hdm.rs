//! HDM decoders by the formulas of the sheet (`fabric` §2.2, §2.3), one case each and in bits where the sheet has bits.

use bitvec::prelude::*;

/// How the root selects a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// By address bits.
    Modulo,
    /// By parities of address bits.
    Xor,
}

/// Maps of XOR arithmetic for chunks of 256 bytes, as lists of address bits (`fabric` §2.5).
const XOR_BITS: [&[usize]; 4] = [&[8, 11, 17, 25], &[9, 12, 18, 26], &[10, 16, 24], &[11]];

/// Code of the ways in a decoder register: IW.
fn iw(ways: u64) -> u32 {
    match ways {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        16 => 4,
        3 => 8,
        6 => 9,
        12 => 10,
        other => panic!("{other} ways have no code"),
    }
}

/// Bits `high` to `low` of a number.
fn bits(number: u64, high: usize, low: usize) -> u64 {
    number.view_bits::<Lsb0>()[low..=high].load_le()
}

fn parity(hpa: u64, map: &[usize], g: usize) -> u64 {
    let all = hpa.view_bits::<Lsb0>();
    u64::from(map.iter().filter(|&&bit| all[bit + g]).count() % 2 == 1)
}

/// The target of an address among `ways`; the granularity is 256 << g bytes.
pub fn target(hpa: u64, ways: u64, g: usize, root: Root) -> u64 {
    // The lowest bit of the target, and so on, in either arithmetic.
    let bit = |n: usize| match root {
        Root::Modulo => bits(hpa, 8 + g + n, 8 + g + n),
        Root::Xor => parity(hpa, XOR_BITS[n], g),
    };
    match ways {
        1 => 0,
        2 => bit(0),
        4 => bit(0) + 2 * bit(1),
        8 => bit(0) + 2 * bit(1) + 4 * bit(2),
        16 => bit(0) + 2 * bit(1) + 4 * bit(2) + 8 * bit(3),
        3 => (hpa >> (8 + g)) % 3,
        6 => bit(0) + 2 * ((hpa >> (9 + g)) % 3),
        12 => bit(0) + 2 * bit(1) + 4 * ((hpa >> (10 + g)) % 3),
        other => panic!("{other} ways are no interleave"),
    }
}

/// The target of an address at a switch or a host bridge: plain bits from that of its granularity, 256 << g bytes, on.
pub fn bridge_way(hpa: u64, ways: u64, g: usize) -> u64 {
    match ways {
        1 => 0,
        2 => bits(hpa, 8 + g, 8 + g),
        4 => bits(hpa, 9 + g, 8 + g),
        8 => bits(hpa, 10 + g, 8 + g),
        other => panic!("{other} ways are none of a bridge"),
    }
}

/// The byte of a device's share, from the offset in the window, as the registers say it.
pub fn share_offset(off: u64, ways: u64, g: usize) -> u64 {
    let (iw, ig) = (iw(ways), g as u32);
    let low = bits(off, 7 + g, 0);
    let chunk = if iw < 8 { off >> (8 + ig + iw) } else { (off >> (ig + iw)) / 3 };
    (chunk << (8 + ig)) | low
}

/// The offset in the window of a byte of the share at a position; `base` is that of the window.
pub fn window_offset(share: u64, position: u64, base: u64, ways: u64, g: usize, root: Root) -> u64 {
    let chunk = share >> (8 + g);
    let mut hpa = base + (((chunk * ways + position) << (8 + g)) | bits(share, 7 + g, 0));
    if root == Root::Xor {
        for map in &XOR_BITS[..ways.trailing_zeros() as usize] {
            let value = parity(hpa, map, g) == 1;
            hpa.view_bits_mut::<Lsb0>().set(map[0] + g, value);
        }
    }
    hpa - base
}
