//! Segment tables of an edge port towards a host: FAST and LDST (`fabric` §3.3).
//!
//! Modelled: a range of addresses in segments of 64 GiB to 8 TiB; an entry for each segment, found by its number modulo the
//! depth; one DPID for a segment, or an interleave over 2 to 256 DPIDs from a table of them (IDT); the access vector, which
//! says which PIDs an entry may name. Detail: the decode is exact; register layouts are not modelled. Left out: the
//! management endpoint that writes them.
//!
//! A walk through one address: outside of the range, or with an invalid entry, the next decoder is asked. Else the entry has
//! the DPID, or the address bits above the granularity select it behind the entry's index. The address is not changed.

use super::pid::{PIDS, PbrPid};
use scalepool_memory::decoder::ADDRESS_END;
use scalepool_ordered::OrderedMap;

/// The smallest segment \[bytes\] (`fabric` EDG-1).
pub const SEGMENT_BYTES: u64 = 64 << 30;
/// The largest code of a segment size, 8 TiB.
pub const MOST_SEGMENT_CODE: u8 = 7;
/// The largest number of ways of an entry.
pub const MOST_WAYS: usize = 256;
/// Granularities \[bytes\], of codes 0 to 6.
const GRANULARITIES: [u64; 7] = [256, 512, 1024, 2048, 4096, 8192, 16384];

/// Which PIDs a host may reach (`fabric` EDG-6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessVector(Vec<u64>);

impl Default for AccessVector {
    fn default() -> Self {
        AccessVector(vec![0; PIDS / 64])
    }
}

impl AccessVector {
    /// Enables or disables a PID.
    pub fn set(&mut self, pid: PbrPid, is_enabled: bool) {
        let (word, bit) = (usize::from(pid.number()) / 64, pid.number() % 64);
        self.0[word] = self.0[word] & !(1 << bit) | u64::from(is_enabled) << bit;
    }

    /// Whether a PID is enabled.
    pub fn has(&self, pid: PbrPid) -> bool {
        self.0[usize::from(pid.number()) / 64] >> (pid.number() % 64) & 1 == 1
    }
}

/// Why a table or an entry is refused, as Invalid Input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// The code of the segment size.
    #[error("found segment size code {found}, expected 0 to {MOST_SEGMENT_CODE}: 64 GiB to 8 TiB (fabric EDG-1)")]
    Size {
        /// The code that was given.
        found: u8,
    },
    /// The number of entries.
    #[error("found {found} entries, expected a power of two (fabric EDG-1)")]
    Depth {
        /// The number that was given.
        found: usize,
    },
    /// Base or limit.
    #[error("found the range {base:#x} to {limit:#x}, expected multiples of the segment, {segment:#x} (fabric EDG-1)")]
    Range {
        /// First address.
        base: u64,
        /// First address behind the range.
        limit: u64,
        /// Size of a segment.
        segment: u64,
    },
    /// An entry that does not exist.
    #[error("found entry {found}, expected 0 to {last}")]
    Entry {
        /// The number that was given.
        found: usize,
        /// The highest valid number.
        last: usize,
    },
    /// An interleave that no code says.
    #[error("found {found} ways, expected a power of two up to {MOST_WAYS} (fabric EDG-1, EDG-3)")]
    Ways {
        /// The number that was given.
        found: usize,
    },
    /// A granularity that no code says.
    #[error("found a granularity of {found} bytes, expected 256 to 16384, a power of two (fabric EDG-1)")]
    Granularity {
        /// What was given.
        found: u64,
    },
    /// A PID that the host may not reach.
    #[error("found the PID {found:#05x}, which is not enabled, expected one of the access vector (fabric EDG-6)")]
    Access {
        /// The PID.
        found: u16,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SegmentTarget {
    granularity: u64,
    /// Place of the first DPID in the IDT, and how many there are.
    first: usize,
    ways: usize,
}

/// A segment table with its IDT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentTable {
    base: u64,
    limit: u64,
    segment: u64,
    depth: usize,
    /// Valid entries by number.
    entries: OrderedMap<usize, SegmentTarget>,
    idt: Vec<PbrPid>,
}

impl SegmentTable {
    /// Makes a table for addresses from `base` to before `limit`, with segments of 64 GiB << `segment_code`. All entries are
    /// invalid.
    ///
    /// # Errors
    /// What registers cannot say.
    pub fn new(base: u64, limit: u64, segment_code: u8, depth: usize) -> Result<SegmentTable, SegmentError> {
        if segment_code > MOST_SEGMENT_CODE {
            return Err(SegmentError::Size { found: segment_code });
        }
        if !depth.is_power_of_two() {
            return Err(SegmentError::Depth { found: depth });
        }
        let segment = SEGMENT_BYTES << segment_code;
        if !base.is_multiple_of(segment) || !limit.is_multiple_of(segment) || limit < base {
            return Err(SegmentError::Range { base, limit, segment });
        }
        Ok(SegmentTable { base, limit, segment, depth, entries: OrderedMap::new(), idt: Vec::new() })
    }

    /// A table whose one entry is that of all addresses: whoever numbers the lines of a device from 0 has no other.
    pub fn of_all(dpid: PbrPid) -> SegmentTable {
        let segment = SEGMENT_BYTES << MOST_SEGMENT_CODE;
        let entries = OrderedMap::from([(0, SegmentTarget { granularity: GRANULARITIES[0], first: 0, ways: 1 })]);
        SegmentTable { base: 0, limit: ADDRESS_END, segment, depth: 1, entries, idt: vec![dpid] }
    }

    /// Makes an entry valid: its DPID, or the DPIDs in the order of the ways, `granularity` bytes each in turn.
    ///
    /// # Errors
    /// What is refused as Invalid Input; nothing is written then.
    pub fn set(
        &mut self,
        entry: usize,
        granularity: u64,
        dpids: &[PbrPid],
        access: &AccessVector,
    ) -> Result<(), SegmentError> {
        if entry >= self.depth {
            return Err(SegmentError::Entry { found: entry, last: self.depth - 1 });
        }
        let ways = dpids.len();
        if !ways.is_power_of_two() || ways > MOST_WAYS {
            return Err(SegmentError::Ways { found: ways });
        }
        if !GRANULARITIES.contains(&granularity) {
            return Err(SegmentError::Granularity { found: granularity });
        }
        if let Some(pid) = dpids.iter().find(|pid| !access.has(**pid)) {
            return Err(SegmentError::Access { found: pid.number() });
        }
        self.entries.insert(entry, SegmentTarget { granularity, first: self.idt.len(), ways });
        self.idt.extend(dpids);
        Ok(())
    }

    /// The entry of an address, valid or not; `None`: the address is out of range.
    pub fn index(&self, address: u64) -> Option<usize> {
        // The depth is a power of two below 2^52 / 64 GiB times a small factor, so that it fits.
        let is_in = (self.base..self.limit).contains(&address);
        is_in.then(|| (address / self.segment % self.depth as u64) as usize)
    }

    /// The DPID of an address; `None`: the next decoder is asked.
    pub fn dpid(&self, address: u64) -> Option<PbrPid> {
        let SegmentTarget { granularity, first, ways } = self.entries.get(&self.index(address)?)?;
        let way = (address / granularity) & (*ways as u64 - 1);
        self.idt.get(first + way as usize).copied()
    }
}
