//! What accelerators are asked for a request of CXL.io (`bridge` §3.5, §5.3, §5.4).
//!
//! Modelled: a request cut at blocks of 256 bytes; on NVLink a read rounded out to units of 16 bytes, a write with byte enables cut at
//! the 128 bytes that its enables reach, an atomic as one unit. Detail: every byte and enable. Left out: windows, and when an access leaves.
//!
//! A walk through MWr of bytes 5 to 299: the first block is written from byte 4 on, the second one up to byte 43. On NVLink the first
//! one is two accesses, of which the first has enables from its byte 5 on, and the second one is written to byte 47 with enables.

use crate::lines::BLOCK_BYTES;
use scalepool_endpoint::tlp::{Enables, TlpAtomic};
use scalepool_memory::LINE_BYTES;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use std::ops::Range;

/// What one access to an accelerator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessReach {
    /// It begins and ends at multiples of so many bytes.
    pub unit_bytes: u64,
    /// Most bytes of one with byte enables.
    pub enabled_bytes: u64,
}

impl AccessReach {
    /// UALink: DWords, enables for a whole block.
    pub const UPLI: AccessReach = AccessReach { unit_bytes: 4, enabled_bytes: BLOCK_BYTES };
    /// NVLink: units of 16 bytes, enables for 128 bytes (`nvlink` NVL-PKT-03).
    pub const NVLINK: AccessReach = AccessReach { unit_bytes: 16, enabled_bytes: 128 };
}

/// What is done to bytes of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOperation {
    /// They are read.
    Read,
    /// They are written, as far as they are enabled.
    Write,
    /// One element is computed with; its operands are the data.
    Atomic {
        /// What is computed.
        operation: TlpAtomic,
        /// Byte of the element, counted from the first one of the access.
        at: usize,
        /// Bytes of the element: 4 or 8.
        size: usize,
    },
}

/// An access to bytes of one block, which is a whole number of units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockAccess {
    /// Number of the accelerator.
    pub target: u16,
    /// Address of the first byte in its memory.
    pub address: u64,
    /// Bytes.
    pub bytes: usize,
    /// What is done.
    pub operation: BlockOperation,
    /// What is written, byte by byte; the operands of an atomic, one behind the other.
    pub data: Vec<u8>,
    /// Which bytes are written; `None`: all of them.
    pub enables: Option<Vec<bool>>,
    /// The data are known to be wrong.
    pub poison: bool,
    /// Virtual channel.
    pub vchan: u8,
}

impl BlockAccess {
    /// Numbers of the lines that it touches.
    pub fn lines(&self) -> Range<u64> {
        self.address / LINE_BYTES..(self.address + self.bytes as u64).div_ceil(LINE_BYTES)
    }
}

/// The bytes of a request in the blocks that it touches.
pub fn blocks(address: u64, bytes: u64) -> Vec<Range<u64>> {
    let end = address + bytes;
    let mut all = Vec::new();
    let mut from = address;
    while from < end {
        let to = (from - from % BLOCK_BYTES + BLOCK_BYTES).min(end);
        all.push(from..to);
        from = to;
    }
    all
}

/// Bytes rounded out to whole units.
fn rounded(bytes: &Range<u64>, unit_bytes: u64) -> Range<u64> {
    bytes.start - bytes.start % unit_bytes..bytes.end.next_multiple_of(unit_bytes)
}

/// The access that reads bytes of a block.
pub fn read(reach: AccessReach, (target, bytes): (u16, &Range<u64>), vchan: u8) -> BlockAccess {
    let all = rounded(bytes, reach.unit_bytes);
    BlockAccess {
        target,
        address: all.start,
        bytes: (all.end - all.start) as usize,
        operation: BlockOperation::Read,
        data: Vec::new(),
        enables: None,
        poison: false,
        vchan,
    }
}

/// Bytes of a write inside one block.
#[derive(Debug, Clone, Copy)]
pub struct WrittenBytes<'a> {
    /// Address of the first one at its accelerator.
    pub address: u64,
    /// The bytes.
    pub data: &'a [u8],
    /// Which of them are written.
    pub enabled: &'a [bool],
    /// They are known to be wrong.
    pub poison: bool,
}

/// The accesses that write bytes of a block, ascending; those without an enabled byte are left out.
pub fn writes(reach: AccessReach, target: u16, written: WrittenBytes<'_>, vchan: u8) -> Vec<BlockAccess> {
    let WrittenBytes { address, data, enabled, poison } = written;
    let all = rounded(&(address..address + data.len() as u64), reach.unit_bytes);
    let of = |at: u64| at.checked_sub(address).map(|n| n as usize);
    let has = |at: u64| of(at).and_then(|n| enabled.get(n)).copied().unwrap_or(false);
    let byte = |at: u64| of(at).and_then(|n| data.get(n)).copied().unwrap_or(0);
    // One without enables may be a whole block.
    let is_whole = all.clone().all(has);
    let reach_bytes = if is_whole { BLOCK_BYTES } else { reach.enabled_bytes };
    let mut accesses = Vec::new();
    let mut from = all.start;
    while from < all.end {
        let to = (from - from % reach_bytes + reach_bytes).min(all.end);
        let enables: Vec<bool> = (from..to).map(has).collect();
        if enables.contains(&true) {
            accesses.push(BlockAccess {
                target,
                address: from,
                bytes: (to - from) as usize,
                operation: BlockOperation::Write,
                data: (from..to).map(byte).collect(),
                enables: enables.contains(&false).then_some(enables),
                poison,
                vchan,
            });
        }
        from = to;
    }
    accesses
}

/// The access of an atomic on one element.
pub fn atomic(
    reach: AccessReach,
    (target, address): (u16, u64),
    (operation, operands): (TlpAtomic, &[u8]),
    poison: bool,
    vchan: u8,
) -> BlockAccess {
    let size = operands.len() / operation.operands();
    let all = rounded(&(address..address + size as u64), reach.unit_bytes);
    BlockAccess {
        target,
        address: all.start,
        bytes: (all.end - all.start) as usize,
        operation: BlockOperation::Atomic { operation, at: (address - all.start) as usize, size },
        data: operands.to_vec(),
        enables: None,
        poison,
        vchan,
    }
}

/// Which bytes of so many DWords are enabled.
pub fn enabled(enables: Enables, dw: usize) -> Vec<bool> {
    (0..dw * DW_BYTES).map(|n| enables.has(n, dw)).collect()
}
