//! From accesses of any size to accesses of one line each.

use super::{StimulusAccess, StimulusOp};
use scalepool_memory::LINE_BYTES;
use std::borrow::Borrow;
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

/// The line accesses of a trace, in program order, each made when it is asked for. They are counted when somebody asks how many
/// are left.
///
/// An access that crosses a line end becomes one access a line, in address order; a modify loads all of its lines and
/// then stores them, all in one cycle. Without `ifetch`, instruction fetches are left out, but each still takes its
/// cycle in a trace without times. An access of 0 bytes gives nothing.
pub fn line_accesses<I>(accesses: I, ifetch: bool) -> impl ExactSizeIterator<Item = LineAccess> + Clone + use<I>
where
    I: IntoIterator<IntoIter: Clone, Item: Borrow<StimulusAccess>>,
{
    LineAccesses { accesses: accesses.into_iter(), ifetch, place: 0, cut: None }
}

/// An access that is being cut into lines: what comes next of it.
#[derive(Clone, Copy)]
struct Cut {
    op: StimulusOp,
    cycle: u64,
    /// Its first and its last byte.
    first_byte: u64,
    last_byte: u64,
    /// Number of the line.
    line: u64,
    write: bool,
}

impl Cut {
    /// Numbers of the first and the last line.
    fn ends(&self) -> (u64, u64) {
        (self.first_byte / LINE_BYTES, self.last_byte / LINE_BYTES)
    }

    fn made(&self) -> LineAccess {
        let line_address = self.line * LINE_BYTES;
        let from = self.first_byte.max(line_address) - line_address;
        let to = self.last_byte.min(line_address + (LINE_BYTES - 1)) - line_address;
        // Both are below 64.
        LineAccess {
            cycle: self.cycle,
            line_address,
            offset: from as u8,
            len: (to - from + 1) as u8,
            write: self.write,
        }
    }

    /// Goes on to what comes behind it; `false`: nothing does.
    fn advance(&mut self) -> bool {
        let (first, last) = self.ends();
        if self.line < last {
            self.line += 1;
        } else if self.op == StimulusOp::Modify && !self.write {
            (self.line, self.write) = (first, true);
        } else {
            return false;
        }
        true
    }

    /// How many are left, this one included.
    fn left(&self) -> u64 {
        let (first, last) = self.ends();
        let is_load_of_two = self.op == StimulusOp::Modify && !self.write;
        last - self.line + 1 + if is_load_of_two { last - first + 1 } else { 0 }
    }
}

/// The last byte of an access of at least one byte. The readers refuse accesses past the end of the address space; one made by
/// hand stops there.
fn last_byte(access: &StimulusAccess) -> u64 {
    access.address.saturating_add(u64::from(access.size_bytes) - 1)
}

/// See [`line_accesses`]. It is one loop with a state of its own: an access out of chained iterators took 250 instructions more.
#[derive(Clone)]
struct LineAccesses<I> {
    accesses: I,
    ifetch: bool,
    /// Place of the next access in its trace.
    place: u64,
    cut: Option<Cut>,
}

impl<I: Iterator<Item: Borrow<StimulusAccess>>> LineAccesses<I> {
    /// The beginning of the next access that is wanted.
    fn begin(&mut self) -> Option<Cut> {
        loop {
            let access = *self.accesses.next()?.borrow();
            let cycle = access.at_cycles.unwrap_or(self.place);
            self.place += 1;
            if access.size_bytes > 0 && (self.ifetch || access.op != StimulusOp::Ifetch) {
                let StimulusAccess { op, address: first_byte, .. } = access;
                let (line, last_byte, write) = (first_byte / LINE_BYTES, last_byte(&access), op == StimulusOp::Store);
                return Some(Cut { op, cycle, first_byte, last_byte, line, write });
            }
        }
    }
}

impl<I: Iterator<Item: Borrow<StimulusAccess>> + Clone> Iterator for LineAccesses<I> {
    type Item = LineAccess;

    #[inline]
    fn next(&mut self) -> Option<LineAccess> {
        if self.cut.is_none() {
            let cut = self.begin()?;
            let (first, last) = cut.ends();
            // Most accesses lie in one line, and nothing has to be kept of them.
            if first == last && cut.op != StimulusOp::Modify {
                return Some(cut.made());
            }
            self.cut = Some(cut);
        }
        let cut = self.cut.as_mut()?;
        let made = cut.made();
        if !cut.advance() {
            self.cut = None;
        }
        Some(made)
    }

    /// Exact.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let mut rest = self.clone();
        let mut left = 0;
        while let Some(cut) = rest.cut.take().or_else(|| rest.begin()) {
            left += cut.left() as usize;
        }
        (left, Some(left))
    }
}

impl<I: Iterator<Item: Borrow<StimulusAccess>> + Clone> ExactSizeIterator for LineAccesses<I> {}

/// The accesses of a trace that is held once, for any number of readers.
pub fn in_memory(
    trace: impl Into<Arc<Vec<StimulusAccess>>>,
) -> impl Iterator<Item = StimulusAccess> + Clone + Send + 'static {
    let trace = trace.into();
    (0..trace.len()).map(move |n| trace[n])
}
