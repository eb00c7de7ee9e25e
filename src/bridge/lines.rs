//! A request cut at lines of 64 bytes (`bridge` §3.1, §3.2).
//!
//! Modelled: the lines that a request touches, the bytes of each that it covers, and the bytes that it writes. Left out: what becomes of
//! a line. A walk through 20 DWords from byte 0x38 on: 8 bytes of the first line, all of the second, 8 of the third.

use scalepool_memory::LINE_BYTES;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq};
use scalepool_protocols::ualink::half::Half;

/// Lines of a block of 256 bytes.
pub const BLOCK_LINES: usize = 4;

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

/// Bytes that a request covers.
pub fn bytes(req: &TlReq) -> u64 {
    4 * (u64::from(req.len) + 1)
}

/// Whether the last byte of a request lies in another block of 256 bytes than the first one.
pub fn crosses(req: &TlReq) -> bool {
    req.address % REGION_BYTES + bytes(req) > REGION_BYTES
}

/// Bits `from` up to, not including, `to` of 64.
fn bits(from: u64, to: u64) -> u64 {
    let below = |n: u64| u64::MAX.checked_shr(64 - n as u32).unwrap_or(0);
    below(to) & !below(from)
}

/// Enables of the bytes of a line in a block; without enables all bytes are enabled.
fn enabled(enables: Option<&Half>, line_in_block: usize) -> u64 {
    enables.map_or(u64::MAX, |half| u64::from_le_bytes(std::array::from_fn(|k| half[8 * line_in_block + k])))
}

/// The lines that a request touches inside its block, ascending: beat i of its data is the i-th of them.
pub fn touched(req: &TlReq, enables: Option<&Half>) -> impl Iterator<Item = TouchedLine> {
    let first = req.address % REGION_BYTES;
    let (block, end) = (req.address - first, (first + bytes(req)).min(REGION_BYTES));
    let enables = enables.copied();
    (0..BLOCK_LINES as u64).filter_map(move |n| {
        let (from, to) = (n * LINE_BYTES, (n + 1) * LINE_BYTES);
        let inside = |byte: u64| byte.clamp(from, to) - from;
        let covered = bits(inside(first), inside(end));
        let mask = covered & enabled(enables.as_ref(), n as usize);
        (covered != 0).then_some(TouchedLine { address: block + from, covered, mask })
    })
}

/// Bytes that are enabled outside of what a request covers; they are ignored (`bridge` §3.2).
pub fn ignored(req: &TlReq, enables: Option<&Half>) -> u32 {
    let Some(half) = enables else { return 0 };
    let all: u32 = half.iter().map(|byte| byte.count_ones()).sum();
    all - touched(req, enables).map(|line| line.mask.count_ones()).sum::<u32>()
}
