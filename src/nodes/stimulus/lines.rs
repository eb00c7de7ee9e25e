//! From accesses of any size to accesses of one line each.

use super::{StimulusAccess, StimulusOp};
use scalepool_memory::LINE_BYTES;
use std::borrow::Borrow;
use std::ops::RangeInclusive;
use std::sync::Arc;

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

/// The line accesses of a trace, in program order, each made when it is asked for.
///
/// An access that crosses a line end becomes one access a line, in address order; a modify loads all of its lines and
/// then stores them, all in one cycle. Without `ifetch`, instruction fetches are left out, but each still takes its
/// cycle in a trace without times. An access of 0 bytes gives nothing.
pub fn line_accesses<I>(accesses: I, ifetch: bool) -> impl ExactSizeIterator<Item = LineAccess> + Clone + use<I>
where
    I: IntoIterator<IntoIter: Clone, Item: Borrow<StimulusAccess>>,
{
    let wanted = move |access: &StimulusAccess| access.size_bytes > 0 && (ifetch || access.op != StimulusOp::Ifetch);
    let accesses = accesses.into_iter().map(|access| *access.borrow());
    let left = accesses.clone().filter(wanted).map(|a| directions(a.op).len() * lines(&a).count()).sum();
    let placed = (0..).zip(accesses).filter(move |(_, access)| wanted(access));
    let of_lines = placed.flat_map(|(place, access)| {
        let cycle = access.at_cycles.unwrap_or(place);
        directions(access.op).iter().flat_map(move |&write| one_direction(access, cycle, write))
    });
    Counted { of_lines, left }
}

/// Whether each direction of an operation writes.
fn directions(op: StimulusOp) -> &'static [bool] {
    match op {
        StimulusOp::Ifetch | StimulusOp::Load => &[false],
        StimulusOp::Store => &[true],
        StimulusOp::Modify => &[false, true],
    }
}

/// Accesses that know how many they are.
#[derive(Clone)]
struct Counted<I> {
    of_lines: I,
    left: usize,
}

impl<I: Iterator<Item = LineAccess>> Iterator for Counted<I> {
    type Item = LineAccess;

    fn next(&mut self) -> Option<LineAccess> {
        let access = self.of_lines.next()?;
        self.left -= 1;
        Some(access)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator<Item = LineAccess>> ExactSizeIterator for Counted<I> {}

/// Numbers of the lines of an access of at least one byte.
fn lines(access: &StimulusAccess) -> RangeInclusive<u64> {
    // The readers refuse accesses past the end of the address space; one made by hand stops there.
    let last = access.address.saturating_add(u64::from(access.size_bytes) - 1);
    access.address / LINE_BYTES..=last / LINE_BYTES
}

fn one_direction(access: StimulusAccess, cycle: u64, write: bool) -> impl Iterator<Item = LineAccess> + Clone {
    let first = access.address;
    let last = first.saturating_add(u64::from(access.size_bytes) - 1);
    lines(&access).map(move |line| {
        let line_address = line * LINE_BYTES;
        let from = first.max(line_address) - line_address;
        let to = last.min(line_address + (LINE_BYTES - 1)) - line_address;
        // Both are below 64.
        LineAccess { cycle, line_address, offset: from as u8, len: (to - from + 1) as u8, write }
    })
}

/// The accesses of a trace that is held once, for any number of readers.
pub fn in_memory(
    trace: impl Into<Arc<Vec<StimulusAccess>>>,
) -> impl Iterator<Item = StimulusAccess> + Clone + Send + 'static {
    let trace = trace.into();
    (0..trace.len()).map(move |n| trace[n])
}
