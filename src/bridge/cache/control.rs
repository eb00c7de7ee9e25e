//! Registers by which software manages lines that nobody keeps coherent (`bridge` §9.9).
//!
//! Modelled: a window of 4 KiB for accelerators whose first line is eight registers of 64 bits, little-endian; the sheet names them, their places
//! are our choice. Left out: who may use them, since a window has no class to which rights belong.
//!
//! | Byte | Register | Meaning |
//! |---|---|---|
//! | 0 | op | bit 0: flush, bit 1: invalidate |
//! | 8 | base | first address of accelerators |
//! | 16 | length | bytes |
//! | 24 | start | a number that is not 0 starts the operation; reads as 0 |
//! | 32 | done | 1: no operation runs |
//! | 40 | errors | starts that were refused: no operation is named, or one runs; and poisoned writes, which change nothing else |
//! | 48 | lost | lines whose stores were dropped by invalidates |
//!
//! A walk: op, base, length and start are written by one write; done is 0 until every line of the range that was stored to is in memory, and 1
//! from then on.

use scalepool_memory::LineBytes;

/// Bytes of the window (`bridge` §9.9).
pub const CONTROL_BYTES: u64 = 4096;

/// What is done to lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManagedRange {
    /// Stores go to memory.
    pub flush: bool,
    /// Lines leave.
    pub invalidate: bool,
    /// First address of accelerators.
    pub base: u64,
    /// Bytes.
    pub length: u64,
}

impl ManagedRange {
    /// Whether so many bytes from an address on have one in common with it; a range without a byte has none, wherever it lies.
    pub fn meets(&self, address: u64, bytes: u64) -> bool {
        self.length > 0 && address < self.base.saturating_add(self.length) && self.base < address.saturating_add(bytes)
    }
}

/// The registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ControlRegisters {
    op: u64,
    base: u64,
    length: u64,
    /// An operation runs.
    pub is_running: bool,
    /// Starts that were refused, and poisoned writes.
    pub errors: u64,
    /// Lines whose stores were dropped.
    pub lost: u64,
}

impl ControlRegisters {
    /// The first line of the window, as it is read.
    pub fn line(&self) -> LineBytes {
        let ControlRegisters { op, base, length, is_running, errors, lost } = *self;
        let mut line = [0; 64];
        let registers = [op, base, length, 0, u64::from(!is_running), errors, lost, 0];
        for (bytes, register) in line.chunks_exact_mut(8).zip(registers) {
            bytes.copy_from_slice(&register.to_le_bytes());
        }
        line
    }

    /// The first line is written under a mask of bytes: what is to be done now, if something is. Registers that are not written whole, or
    /// only tell something, keep what they are; so do all while an operation runs.
    pub fn write(&mut self, data: &LineBytes, mask: u64) -> Option<ManagedRange> {
        let written = |n: usize| {
            let bytes = data[8 * n..][..8].try_into().unwrap_or([0; 8]);
            (mask >> (8 * n) & 0xff == 0xff).then(|| u64::from_le_bytes(bytes))
        };
        let starts = written(3).is_some_and(|start| start != 0);
        if !self.is_running {
            self.op = written(0).unwrap_or(self.op);
            self.base = written(1).unwrap_or(self.base);
            self.length = written(2).unwrap_or(self.length);
        }
        if !starts {
            return None;
        }
        if self.is_running || self.op & 3 == 0 {
            self.errors += 1;
            return None;
        }
        self.is_running = true;
        let (flush, invalidate) = (self.op & 1 == 1, self.op & 2 == 2);
        Some(ManagedRange { flush, invalidate, base: self.base, length: self.length })
    }
}
