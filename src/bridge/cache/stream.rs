//! Streams, which do not enter the cache (`bridge` §9.2, conformance choice c16).
//!
//! Modelled: for each source the block that it asked for last and how many blocks in a row ascend to it; from the block behind a set
//! number of them on nothing enters, until the source asks for another block than the next one or finds a line in the cache. Left out:
//! streams that go down, or by more than one block. A walk: a source reads blocks 5 to 13; of these 5 to 12 enter and 13 does not.

use scalepool_ordered::OrderedMap;

/// Blocks of a stream that enter (`bridge` §9.2).
pub const SHEET_BLOCKS: u64 = 8;

/// Last block and length of the run that ends with it.
#[derive(Debug, Clone, Copy, Hash)]
struct BlockRun {
    block: u64,
    length: u64,
}

/// Streams of all sources.
#[derive(Debug, Clone, Default, Hash)]
pub struct StreamDetector {
    most: u64,
    runs: OrderedMap<u16, BlockRun>,
}

impl StreamDetector {
    /// So many blocks of a stream enter; 0: all.
    pub fn new(most: u64) -> StreamDetector {
        StreamDetector { most, runs: OrderedMap::new() }
    }

    /// The same with sources renamed.
    #[must_use]
    pub fn renamed(&self, name: impl Fn(u16) -> u16) -> StreamDetector {
        StreamDetector { most: self.most, runs: self.runs.iter().map(|(source, run)| (name(*source), *run)).collect() }
    }

    /// A source asks for a line of a block, which is there or not: whether it belongs to a stream that does not enter.
    pub fn passes_by(&mut self, source: u16, block: u64, is_hit: bool) -> bool {
        if self.most == 0 {
            return false;
        }
        let run = self.runs.entry(source).or_insert(BlockRun { block, length: 0 });
        run.length = match () {
            () if is_hit => 0,
            () if run.length == 0 => 1,
            () if block == run.block => run.length,
            () if block == run.block.wrapping_add(1) => run.length + 1,
            () => 1,
        };
        run.block = block;
        run.length > self.most
    }
}
