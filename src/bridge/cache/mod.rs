//! The conversion cache of the bridge (`bridge` §9): lines and conversions that are used often.
//!
//! Modelled: blocks of 64 to 256 bytes in sets, with a state for each sector of 64 bytes, [who leaves](policy) a full set, [streams](stream)
//! that do not enter, [conversions](templates) that are kept without data. Detail: data structures
//! without time and without messages; what is sent for a sector stands in [`sector`], who sends it is the
//! [outbound half](super::outbound). Errors of the memory in which it lies are found by its [cells].
//!
//! A walk through a read: the block of its line is looked for in its set; the sector is there, so its bytes are read and the block is the
//! one that was used last. If it is not, a block that nobody uses leaves by the policy, what it has to give back is given back, and the
//! sector is filled when its bytes come.

pub mod cells;
pub mod data;
pub mod lfu;
pub mod lru;
pub mod policy;
pub mod sector;
pub mod sets;
pub mod srrip;
pub mod stream;
pub mod templates;

use policy::EvictionPolicy;
use scalepool_memory::LINE_BYTES;
use thiserror::Error;

/// Bytes of a block (`bridge` §9.1).
pub const BLOCK_BYTES: [u64; 3] = [64, 128, 256];
/// Most ways of a set (`bridge` §9.1).
pub const MOST_WAYS: usize = 16;
/// Bytes of the tag of a block where tags lie in HBM (our choice: the entry of a template has as many, `bridge` §9.7).
pub const TAG_BYTES: u64 = 32;

/// What happens to a store behind the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorePolicy {
    /// It stays until its block leaves or somebody asks for it.
    Back,
    /// It is written to memory as well, behind the response.
    Through,
}

/// How the data of the cache are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataCacheConfig {
    /// Bytes: sets times ways times block.
    pub capacity_bytes: u64,
    /// Blocks of a set, 1 to 16.
    pub ways: usize,
    /// Bytes of a block, one of [`BLOCK_BYTES`].
    pub block_bytes: u64,
    /// Who leaves a full set.
    pub policy: EvictionPolicy,
    /// What happens to stores.
    pub stores: StorePolicy,
    /// Blocks of a stream that enter; 0: streams are not looked for.
    pub stream_blocks: u64,
    /// Tags lie in HBM, not in SRAM.
    pub tags_in_hbm: bool,
}

impl DataCacheConfig {
    /// The sheet's numbers (`bridge` §9.1, §9.2).
    pub const SHEET: DataCacheConfig = DataCacheConfig {
        capacity_bytes: 1 << 30,
        ways: 16,
        block_bytes: 256,
        policy: EvictionPolicy::Lru,
        stores: StorePolicy::Back,
        stream_blocks: stream::SHEET_BLOCKS,
        tags_in_hbm: false,
    };

    /// Sets.
    ///
    /// # Errors
    /// A shape that cannot be.
    pub fn sets(&self) -> Result<u64, ConversionCacheError> {
        let DataCacheConfig { capacity_bytes, ways, block_bytes, .. } = *self;
        if !BLOCK_BYTES.contains(&block_bytes) {
            return Err(ConversionCacheError::Block(block_bytes));
        }
        if !(1..=MOST_WAYS).contains(&ways) {
            return Err(ConversionCacheError::Ways(ways));
        }
        let set_bytes = ways as u64 * block_bytes;
        if capacity_bytes == 0 || !capacity_bytes.is_multiple_of(set_bytes) {
            return Err(ConversionCacheError::Capacity { capacity_bytes, set_bytes });
        }
        Ok(capacity_bytes / set_bytes)
    }

    /// Lines of a block.
    pub fn sectors(&self) -> u64 {
        self.block_bytes / LINE_BYTES
    }

    /// Bytes that it takes in HBM, tags that lie there included.
    pub fn hbm_bytes(&self) -> u64 {
        let tags = if self.tags_in_hbm { self.capacity_bytes / self.block_bytes * TAG_BYTES } else { 0 };
        self.capacity_bytes + tags
    }
}

/// A cache that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConversionCacheError {
    /// Its block.
    #[error("found blocks of {0} bytes, expected 64, 128 or 256 (bridge §9.1)")]
    Block(u64),
    /// Its ways.
    #[error("found {0} ways, expected 1 to {MOST_WAYS} (bridge §9.1)")]
    Ways(usize),
    /// Its sets would not be whole.
    #[error("found {capacity_bytes} bytes, expected a multiple of the {set_bytes} bytes of a set, not 0 (bridge §9.1)")]
    Capacity {
        /// Bytes asked for.
        capacity_bytes: u64,
        /// Bytes of one set.
        set_bytes: u64,
    },
}

/// What the cache keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversionCacheConfig {
    /// Lines.
    pub data: Option<DataCacheConfig>,
    /// Conversions.
    pub templates: Option<templates::TemplateConfig>,
}

/// What a cache has counted (`bridge` §9.10). Of lines: hits, misses and bypasses together are the accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConversionCacheCounts {
    /// Lines whose sector was there: reads, writes, atomics.
    pub hits: [u64; 3],
    /// Lines whose sector was not there and that enter: reads, writes, atomics.
    pub misses: [u64; 3],
    /// Lines whose sector was not there and that do not enter: those of streams, and all of class IO.
    pub bypasses: u64,
    /// Hits of a store on a sector that had to be owned first.
    pub upgrades: u64,
    /// Requests whose conversion was found.
    pub template_hits: u64,
    /// Requests whose conversion was looked for and not found.
    pub template_misses: u64,
    /// Requests that caused no conversion: all their lines were there, or the conversion was.
    pub saved: u64,
    /// Sectors that left without data; those of a host that a snoop has taken before their message left are not among them.
    pub evicted_clean: u64,
    /// Sectors that left with data.
    pub evicted_dirty: u64,
    /// Stores that were written to memory as well.
    pub written_through: u64,
    /// Lines that software had written to memory.
    pub flushed: u64,
    /// Snoops of devices and hosts of a line that was there.
    pub snoop_hits: u64,
    /// Accesses to HBM.
    pub hbm_accesses: u64,
    /// Reads of HBM, of data and tags, whose error was corrected.
    pub corrected: u64,
    /// Clean sectors that were lost by errors of HBM and asked for again.
    pub refetched: u64,
    /// Dirty sectors that were lost by errors of HBM and are poison.
    pub lost_dirty: u64,
    /// Reads of tags that were lost.
    pub lost_tags: u64,
}

impl ConversionCacheCounts {
    /// A sector has left for a block that takes its way.
    pub(crate) fn evicted(&mut self, with_data: bool) {
        match with_data {
            true => self.evicted_dirty += 1,
            false => self.evicted_clean += 1,
        }
    }
}
