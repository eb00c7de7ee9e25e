//! Units on lanes and in blocks: what the physical layer shows of flits (`cxl-68b` §1.2, §1.3).
//!
//! Modelled: byte striping over x1 to x16, start lanes, 128b/130b blocks as runs of 16 bytes a lane with or without sync
//! header, implied EDS, NULL units that a block end cuts short. Left out: scrambling, training, symbols of ordered sets.

use super::pid::{self, PidKind};
use super::unit::{UNIT_BYTES, map};
use crate::wire::{At, Violation};

/// Lanes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cxl68Width(u8);

impl Cxl68Width {
    /// x1, x2, x4, x8, x16.
    pub const ALL: [Cxl68Width; 5] = [Cxl68Width(1), Cxl68Width(2), Cxl68Width(4), Cxl68Width(8), Cxl68Width(16)];

    /// A width, `None` unless it is 1, 2, 4, 8 or 16.
    pub const fn new(lanes: u8) -> Option<Cxl68Width> {
        if matches!(lanes, 1 | 2 | 4 | 8 | 16) { Some(Cxl68Width(lanes)) } else { None }
    }

    /// Number of lanes.
    pub const fn lanes(self) -> usize {
        self.0 as usize
    }

    /// Lane on which unit n of a gapless stream starts.
    pub const fn start_lane(self, n: usize) -> usize {
        n * UNIT_BYTES % self.lanes()
    }

    /// Symbols after which the pattern of start lanes repeats: 17 for x16, x8 and x4; a unit for x2 and x1.
    pub const fn period_symbols(self) -> usize {
        let symbols = UNIT_BYTES / self.lanes();
        if symbols < 17 { 17 } else { symbols }
    }
}

/// Spreads bytes over lanes: byte k goes to the next lane in order, 8 bits a symbol.
pub fn stripe(bytes: &[u8], width: Cxl68Width) -> Vec<Vec<u8>> {
    let lane = |l| bytes.iter().skip(l).step_by(width.lanes()).copied().collect();
    (0..width.lanes()).map(lane).collect()
}

/// Joins lanes to bytes, starting at a lane of symbol 0 and ending with the shortest lane.
pub fn unstripe(lanes: &[Vec<u8>], start_lane: usize) -> Vec<u8> {
    let symbols = lanes.iter().map(Vec::len).max().unwrap_or(0);
    let all = (0..symbols).flat_map(|s| lanes.iter().map(move |lane| lane.get(s).copied()));
    all.skip(start_lane).map_while(|b| b).collect()
}

/// Bytes of one lane in one block: 128 bits.
const BLOCK_BYTES_A_LANE: usize = 16;

/// One 128b/130b block over all lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// 16 bytes a lane, in byte order of the units.
    Data(Vec<u8>),
    /// An ordered set.
    OrderedSet,
}

/// Bytes of a data block.
pub const fn block_bytes(width: Cxl68Width) -> usize {
    BLOCK_BYTES_A_LANE * width.lanes()
}

/// Units of a block stream. A NULL unit with EDS that its block cut short has fewer than 68 bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Units in order.
    pub units: Vec<Vec<u8>>,
    /// Broken rules; `at` counts bytes of all data blocks from the first one.
    pub violations: Vec<Violation>,
}

/// Cuts a block stream into units and checks where ordered sets stand.
///
/// `sync_header_bypass`: a NULL unit with EDS has full length; else it ends at the first block end after its ID.
pub fn read_blocks(blocks: &[Block], width: Cxl68Width, sync_header_bypass: bool) -> Blocks {
    let size = block_bytes(width);
    let mut bytes = Vec::new();
    // Data blocks behind which an ordered set stands, as counts of data blocks.
    let mut sets = Vec::new();
    for block in blocks {
        match block {
            Block::Data(data) => bytes.extend_from_slice(data),
            Block::OrderedSet => sets.push(bytes.len().div_ceil(size)),
        }
    }
    let mut out = Blocks::default();
    let mut broken = |rule, at, found: &str, expected: &str, text: &str| {
        let (found, expected, text) = (found.to_owned(), expected.to_owned(), text.to_owned());
        out.violations.push(Violation { rule, at: At::Byte(at), found, expected, text });
    };
    // Units with implied EDS: first byte, count of data blocks at their end.
    let mut announced: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at + map::PID.len() <= bytes.len() {
        let id = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let pid = pid::receive(id, pid::Enabled::ALL).accept;
        let null_eds = pid.is_some_and(|p| p.eds && p.kind == PidKind::Null);
        let block_end = (at + map::PID.len()).div_ceil(size) * size;
        let full = at + UNIT_BYTES;
        let end = if null_eds && !sync_header_bypass { full.min(block_end) } else { full };
        if end > bytes.len() {
            break;
        }
        out.units.push(bytes[at..end].to_vec());
        if let Some(&(eds_at, block)) = announced.last()
            && block == end.div_ceil(size)
        {
            broken(
                "CXL68-EDS-01",
                eds_at,
                "another unit",
                "no unit behind it",
                "a unit with implied EDS is not the last one of its block",
            );
        }
        if pid.is_some_and(|p| p.eds) {
            let block = end.div_ceil(size);
            announced.push((at, block));
            if !sets.contains(&block) {
                let rule = if null_eds && full > block_end { "CXL68-NUL-02" } else { "CXL68-EDS-01" };
                broken(rule, at, "a data block", "an ordered set", "no ordered set follows a unit with implied EDS");
            }
        }
        at = end;
        if null_eds {
            // The rest of the block, if any, is filler that belongs to no unit.
            at = if sync_header_bypass { at } else { block_end };
        }
    }
    for set in sets {
        if !announced.iter().any(|(_, block)| *block == set) && set * size <= at {
            broken(
                "CXL68-EDS-01",
                set * size,
                "an ordered set",
                "a data block",
                "an ordered set follows although no unit announced it with implied EDS",
            );
        }
    }
    out
}
