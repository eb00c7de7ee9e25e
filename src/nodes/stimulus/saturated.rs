//! Traffic of endless demand: whole lines, in address order, round and round a region, all ready at cycle 0. How fast
//! they go is then up to the host's outstanding limit and everything behind it.

use super::{ParameterError, StimulusAccess, StimulusOp};
use scalepool_memory::LINE_BYTES;

/// A range of whole lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRegion {
    base_address: u64,
    lines: u64,
}

impl LineRegion {
    /// `lines` lines from `base_address` on.
    ///
    /// # Errors
    /// A base that is not a multiple of 64, no lines, or an end past the address space.
    pub fn new(base_address: u64, lines: u64) -> Result<LineRegion, ParameterError> {
        let wrong = |parameter, found, expected| Err(ParameterError { parameter, found, expected });
        if !base_address.is_multiple_of(LINE_BYTES) {
            return wrong("base_address", base_address, "a multiple of 64");
        }
        if lines == 0 || lines > (u64::MAX - base_address) / LINE_BYTES + 1 {
            return wrong("lines", lines, "at least 1, and an end within 2^64 bytes");
        }
        Ok(LineRegion { base_address, lines })
    }
}

/// The share of reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// Reads only.
    Reads,
    /// Writes only.
    Writes,
    /// Two reads, then a write, and again. In a region whose line count is a multiple of 3 a line always sees the same.
    TwoToOne,
}

/// `count` accesses of whole lines to a region.
pub fn saturated(mix: Mix, region: LineRegion, count: u64) -> impl Iterator<Item = StimulusAccess> + Clone + Send {
    (0..count).map(move |n| {
        let op = match mix {
            Mix::Reads => StimulusOp::Load,
            Mix::Writes => StimulusOp::Store,
            Mix::TwoToOne if n % 3 == 2 => StimulusOp::Store,
            Mix::TwoToOne => StimulusOp::Load,
        };
        let address = region.base_address + n % region.lines * LINE_BYTES;
        StimulusAccess { at_cycles: Some(0), op, address, size_bytes: LINE_BYTES as u32 }
    })
}
