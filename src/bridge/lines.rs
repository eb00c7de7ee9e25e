//! A request cut at lines of 64 bytes (`bridge` §3.1, §3.2).
//!
//! Modelled: the lines that a request touches, the bytes of each that it covers, and the bytes that it writes. Left out: what becomes of
//! a line. A walk through 20 DWords from byte 0x38 on: 8 bytes of the first line, all of the second, 8 of the third.

use scalepool_memory::LINE_BYTES;

/// Lines of a block of 256 bytes.
pub const BLOCK_LINES: usize = 4;
/// Bytes of a block: a request stays in one (`bridge` §2).
pub const BLOCK_BYTES: u64 = BLOCK_LINES as u64 * LINE_BYTES;

/// A line that a request touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TouchedLine {
    /// Address of its first byte.
    pub address: u64,
    /// Bit i: byte i lies between the first and the last byte of the request.
    pub covered: u64,
    /// Bit i: byte i is covered and enabled.
    pub mask: u64,
}

/// Whether the last of so many bytes lies in another block of 256 bytes than the first one.
pub fn crosses(address: u64, bytes: u64) -> bool {
    address % BLOCK_BYTES + bytes > BLOCK_BYTES
}

/// Bits `from` up to, not including, `to` of 64.
fn bits(from: u64, to: u64) -> u64 {
    let below = |n: u64| u64::MAX.checked_shr(64 - n as u32).unwrap_or(0);
    below(to) & !below(from)
}

/// The lines that so many bytes touch inside the block of the first one, ascending; `enables` has a bit for each byte of the block, without
/// them all are enabled.
pub fn touched(address: u64, bytes: u64, enables: Option<&[u64; BLOCK_LINES]>) -> impl Iterator<Item = TouchedLine> {
    let first = address % BLOCK_BYTES;
    let (block, end) = (address - first, (first + bytes).min(BLOCK_BYTES));
    let enables = enables.copied().unwrap_or([u64::MAX; BLOCK_LINES]);
    (0u64..).zip(enables).filter_map(move |(n, enabled)| {
        let (from, to) = (n * LINE_BYTES, (n + 1) * LINE_BYTES);
        let inside = |byte: u64| byte.clamp(from, to) - from;
        let covered = bits(inside(first), inside(end));
        (covered != 0).then_some(TouchedLine { address: block + from, covered, mask: covered & enabled })
    })
}

/// Bytes that are enabled outside of what a request covers; they are ignored (`bridge` §3.2).
pub fn ignored(address: u64, bytes: u64, enables: Option<&[u64; BLOCK_LINES]>) -> u32 {
    let Some(of_block) = enables else { return 0 };
    let all: u32 = of_block.iter().map(|line| line.count_ones()).sum();
    all - touched(address, bytes, enables).map(|line| line.mask.count_ones()).sum::<u32>()
}
