//! Memory of a GPU: bytes behind local addresses, in units of 16 bytes, and atomic operations on it (`bridge` §4.4).
//!
//! Modelled: reads, writes with byte enables, atomics on little-endian elements, a poison mark for each line. Left out: time, ECC, FADD
//! of 16 bits (answered as refused).

use crate::first_lines::MemoryBehind;
use scalepool_memory::store::{Background, Store};
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_ordered::OrderedSet;
use std::sync::Arc;

/// Local memory, or what somebody expects of that of another node.
pub struct GpuMemory {
    store: Store,
    /// What it holds at first, if not its own addresses.
    first: Option<MemoryFirst>,
    /// Something was written that is known to be wrong, so that lines have to be asked for their marks.
    is_marked: bool,
}

/// Memory behind another node.
struct MemoryFirst {
    behind: Arc<MemoryBehind>,
    owner: u16,
    /// Lines that were written, and so stand in the store.
    begun: OrderedSet<u64>,
}

/// Bytes of a line that an offset and a length cover.
const fn mask(offset: u64, bytes: u64) -> u64 {
    (if bytes >= 64 { u64::MAX } else { (1 << bytes) - 1 }) << offset
}

impl Default for GpuMemory {
    /// Each 8 bytes hold their own address, so a wrong place is seen.
    fn default() -> GpuMemory {
        GpuMemory { store: Store::new(Background::OwnAddress), first: None, is_marked: false }
    }
}

impl GpuMemory {
    /// What is expected of the memory of a node, which may be that of others behind it.
    pub fn expected(behind: Arc<MemoryBehind>, owner: u16) -> GpuMemory {
        let first = MemoryFirst { behind, owner, begun: OrderedSet::new() };
        GpuMemory { first: Some(first), ..GpuMemory::default() }
    }

    /// The line at an address, as it is before anybody has written it; `None`: the store has it.
    fn first_line(&self, address: u64) -> Option<LineBytes> {
        let MemoryFirst { behind, owner, begun } = self.first.as_ref()?;
        let line = address / LINE_BYTES * LINE_BYTES;
        behind.of(*owner).filter(|_| !begun.contains(&line)).and_then(|lines| lines(line))
    }

    /// Puts a line in place that is to be written.
    fn begin(&mut self, address: u64) {
        if let Some(line) = self.first_line(address) {
            self.store.write_line(address, &line, u64::MAX, false);
        }
        if let Some(first) = self.first.as_mut().filter(|first| first.behind.of(first.owner).is_some()) {
            first.begun.insert(address / LINE_BYTES * LINE_BYTES);
        }
    }

    /// So many bytes from an address on.
    pub fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes);
        let mut at = address;
        while out.len() < bytes {
            let line = self.first_line(at).unwrap_or_else(|| self.store.read_line(at).data);
            let offset = (at % LINE_BYTES) as usize;
            let take = (bytes - out.len()).min(line.len() - offset);
            out.extend_from_slice(&line[offset..offset + take]);
            at += take as u64;
        }
        out
    }

    /// The line at an address, a multiple of 64, with its mark.
    pub fn marked_line(&self, address: u64) -> (LineBytes, bool) {
        let stored = self.store.read_line(address);
        (self.first_line(address).unwrap_or(stored.data), self.is_marked && stored.poison)
    }

    /// Whether a line among so many bytes from an address on is poisoned.
    pub fn is_poisoned(&self, address: u64, bytes: usize) -> bool {
        let lines = address / LINE_BYTES..(address + bytes as u64).div_ceil(LINE_BYTES);
        self.is_marked && lines.into_iter().any(|line| self.store.read_line(line * LINE_BYTES).poison)
    }

    /// Writes bytes whose enable is set; without enables all of them.
    pub fn write(&mut self, address: u64, data: &[u8], be: Option<u128>) {
        self.write_marked(address, data, be, false);
    }

    /// The same with bytes that are known to be wrong, or not: a write of whole lines marks them as it is marked itself, one of a part
    /// takes no mark away (`memory` §6.3).
    pub fn write_marked(&mut self, address: u64, data: &[u8], be: Option<u128>, poison: bool) {
        self.is_marked |= poison;
        let mut done = 0;
        while done < data.len() {
            let at = address + done as u64;
            let offset = at % LINE_BYTES;
            let take = (data.len() - done).min((LINE_BYTES - offset) as usize);
            let mut line: LineBytes = [0; LINE_BYTES as usize];
            line[offset as usize..offset as usize + take].copy_from_slice(&data[done..done + take]);
            let enabled = be.map_or(u64::MAX, |be| (be >> done) as u64) << offset;
            self.begin(at);
            self.store.write_line(at, &line, mask(offset, take as u64) & enabled, poison);
            done += take;
        }
    }

    /// An atomic operation with attributes, byte enables and operands as `bridge` §4.2 places them; the bytes before it, or
    /// `None`: refused, nothing has changed.
    pub fn atomic(&mut self, address: u64, attr: u8, be: u128, operands: &[u8]) -> Option<Vec<u8>> {
        let (op, size) = (attr & 0xf, [4usize, 8, 2, 1][usize::from(attr >> 4 & 3)]);
        if operands.is_empty() || address % LINE_BYTES + operands.len() as u64 > LINE_BYTES {
            return None;
        }
        let old = self.read(address, operands.len());
        let mut new = old.clone();
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
        let elements: Vec<usize> = (0..operands.len()).step_by(size).collect();
        let enabled = |at: usize| (be >> at) as u64 & mask(0, size as u64);
        if elements.iter().any(|&at| ![0, mask(0, size as u64)].contains(&enabled(at))) {
            return None;
        }
        let active: Vec<usize> = elements.into_iter().filter(|&at| enabled(at) != 0).collect();
        if op == CAS && (active.len() != 1 || size < 4 || operands.len() < 2 * size) {
            return None;
        }
        for at in active {
            let before = number(&old[at..at + size]);
            let after = if op == CAS {
                let (compare, swap) = (number(&operands[..size]), number(&operands[size..2 * size]));
                if before == compare { swap } else { before }
            } else {
                element(op, size, before, number(&operands[at..at + size]))?
            };
            new[at..at + size].copy_from_slice(&after.to_le_bytes()[..size]);
        }
        self.write(address, &new, None);
        Some(old)
    }
}

/// Code of compare and swap, which alone takes two operands (`bridge` §4.4).
pub const CAS: u8 = 2;
/// Codes of operations on one operand that all of 32 and 64 bits take, FADD left out (`bridge` §4.4).
pub const SIMPLE: [u8; 11] = [0, 1, 3, 4, 5, 6, 7, 8, 9, 11, 12];

/// One element of `size` bytes; `None` for an operation that there is not in this size.
fn element(op: u8, size: usize, old: u64, operand: u64) -> Option<u64> {
    let unused = 64 - 8 * size as u32;
    let signed = |n: u64| (n << unused) as i64;
    let wide = size >= 4;
    Some(match op {
        0 => old.wrapping_add(operand),
        1 => operand,
        3 => old & operand,
        4 => old | operand,
        5 => old ^ operand,
        6 => {
            if signed(operand) < signed(old) {
                operand
            } else {
                old
            }
        }
        7 => {
            if signed(operand) > signed(old) {
                operand
            } else {
                old
            }
        }
        8 => old.min(operand),
        9 => old.max(operand),
        10 if size == 4 => (f32::from_bits(old as u32) + f32::from_bits(operand as u32)).to_bits().into(),
        10 if size == 8 => (f64::from_bits(old) + f64::from_bits(operand)).to_bits(),
        11 if wide => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        12 if wide => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_of_one_line() {
        let mut memory = GpuMemory::default();
        memory.write(0x40, &[0; 16], None);
        let add = |memory: &mut GpuMemory, n: u8| {
            memory.atomic(0x40, 0, 0xf0, &[9, 9, 9, 9, n, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9])
        };
        assert_eq!(add(&mut memory, 5), Some(vec![0; 16]));
        assert_eq!(add(&mut memory, 3).map(|old| old[4]), Some(5));
        assert_eq!(memory.read(0x40, 8), [0, 0, 0, 0, 8, 0, 0, 0]);
        // CAS of 64 bits in the upper element: compare 8, new 77; then again, which fails.
        let cas = |memory: &mut GpuMemory| {
            let mut operands = [0; 16];
            (operands[0], operands[8]) = (0, 77);
            memory.atomic(0x40, CAS | 1 << 4, 0xff00, &operands).map(|old| old[8])
        };
        assert_eq!((cas(&mut memory), cas(&mut memory)), (Some(0), Some(77)));
        assert_eq!(memory.atomic(0x40, 0, 0x30, &[0; 16]), None, "an element enabled in part");
        assert_eq!(memory.atomic(0x40, 13, 0xf, &[0; 16]), None, "no such operation");
        assert_eq!(memory.read(0x1000, 8), 0x1000u64.to_le_bytes());
        assert_eq!(
            [element(11, 4, 7, 7), element(12, 4, 0, 9), element(6, 1, 0xff, 1)],
            [Some(0), Some(9), Some(0xff)]
        );
    }
}
