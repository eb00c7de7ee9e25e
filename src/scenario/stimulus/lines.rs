//! From accesses of any size to accesses of one line each.

use super::{Access, Op};
use crate::memory::LINE_BYTES;

/// An access within one 64 B line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineAccess {
    /// The earliest host cycle at which it may be issued.
    pub cycle: u64,
    /// Address of the line, a multiple of 64.
    pub line_address: u64,
    /// First byte within the line, 0 to 63.
    pub offset: u8,
    /// Bytes, 1 to 64; `offset` + `len` is at most 64.
    pub len: u8,
    /// A store; else a load.
    pub write: bool,
}

impl LineAccess {
    /// One bit a byte of the line: 1 for the bytes accessed.
    pub fn byte_enables(&self) -> u64 {
        u64::MAX >> (64 - u32::from(self.len)) << self.offset
    }
}

/// The line accesses of a trace, in program order.
///
/// An access that crosses a line end becomes one access a line, in address order; a modify loads all of its lines and
/// then stores them, all in one cycle. Without `ifetch`, instruction fetches are left out, but each still takes its
/// cycle in a trace without times. An access of 0 bytes gives nothing.
pub fn line_accesses(accesses: &[Access], ifetch: bool) -> impl Iterator<Item = LineAccess> + '_ {
    let wanted = move |access: &Access| access.size_bytes > 0 && (ifetch || access.op != Op::Ifetch);
    accesses.iter().zip(0..).filter(move |(access, _)| wanted(access)).flat_map(|(access, place)| {
        let cycle = access.at_cycles.unwrap_or(place);
        let writes: &[bool] = match access.op {
            Op::Ifetch | Op::Load => &[false],
            Op::Store => &[true],
            Op::Modify => &[false, true],
        };
        writes.iter().flat_map(move |&write| one_direction(access, cycle, write))
    })
}

fn one_direction(access: &Access, cycle: u64, write: bool) -> impl Iterator<Item = LineAccess> + use<> {
    let first = access.address;
    // The readers refuse accesses past the end of the address space; one made by hand stops there.
    let last = first.saturating_add(u64::from(access.size_bytes) - 1);
    (first / LINE_BYTES..=last / LINE_BYTES).map(move |line| {
        let line_address = line * LINE_BYTES;
        let from = first.max(line_address) - line_address;
        let to = last.min(line_address + (LINE_BYTES - 1)) - line_address;
        // Both are below 64.
        LineAccess { cycle, line_address, offset: from as u8, len: (to - from + 1) as u8, write }
    })
}
