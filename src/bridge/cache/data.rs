//! Lines in the cache (`bridge` §9.1, §9.4).
//!
//! Modelled: blocks by CXL port and address, a state and real bytes for each sector, where a sector lies in HBM. Left out: what is sent
//! for a sector. A walk: a line is looked for; its block is not there and its set is full, so the block that the policy names leaves, with
//! all its sectors at once, and the new one takes its way without a valid sector.

use super::sector::SectorState;
use super::sets::{SetArray, WayPlace};
use super::{BLOCK_BYTES, ConversionCacheError, DataCacheConfig, TAG_BYTES};
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_memory::LINE_BYTES;
use std::hash::Hasher;

/// Most sectors of a block.
const MOST_SECTORS: usize = (BLOCK_BYTES[BLOCK_BYTES.len() - 1] / LINE_BYTES) as usize;

/// A line at a CXL port.
pub type PortLine = (usize, LineAddr);

/// A block at a CXL port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CachedBlock {
    /// CXL port.
    pub port: usize,
    /// Address divided by the bytes of a block.
    pub number: u64,
}

impl CachedBlock {
    /// Its lines, if it has so many sectors.
    pub fn lines(self, sectors: u64) -> impl Iterator<Item = PortLine> {
        (0..sectors).map(move |n| (self.port, LineAddr(self.number * sectors + n)))
    }
}

/// A sector of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sector {
    /// Its state.
    pub state: SectorState,
    /// Its bytes, if it is valid.
    pub line: CacheLine,
}

const EMPTY: Sector = Sector { state: SectorState::Invalid, line: CacheLine::of([0; 64]) };

/// What a lookup of a line that enters comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockRoom {
    /// The block is there.
    Present,
    /// It can take a way; these sectors of the block that has been there are valid.
    Free(Vec<(PortLine, Sector)>),
    /// Every block of the set is in use.
    InUse,
}

/// The lines.
#[derive(Debug, Clone)]
pub struct DataCache {
    config: DataCacheConfig,
    sets: u64,
    array: SetArray<CachedBlock, [Sector; MOST_SECTORS]>,
}

impl DataCache {
    /// An empty one.
    ///
    /// # Errors
    /// A shape that cannot be.
    pub fn new(config: DataCacheConfig) -> Result<DataCache, ConversionCacheError> {
        Ok(DataCache { sets: config.sets()?, array: SetArray::new(config.ways, config.policy), config })
    }

    /// Shows its lines to `state`, with all on which it depends which of them leaves.
    pub(crate) fn hash_lines<H: Hasher>(&self, state: &mut H) {
        self.array.hash_ways(state);
    }

    /// How it is built.
    pub fn config(&self) -> &DataCacheConfig {
        &self.config
    }

    /// The block of a line.
    pub fn block(&self, (port, line): PortLine) -> CachedBlock {
        CachedBlock { port, number: line.0 / self.config.sectors() }
    }

    /// Number of its set: that of the block modulo the sets (`bridge` §9.1).
    pub fn set(&self, block: CachedBlock) -> u64 {
        block.number % self.sets
    }

    fn find(&self, place: PortLine) -> Option<(WayPlace, usize)> {
        let block = self.block(place);
        let way = self.array.find(self.set(block), block)?;
        Some((way, (place.1.0 % self.config.sectors()) as usize))
    }

    /// The sector of a line; one that is not there is invalid.
    pub fn sector(&self, place: PortLine) -> Sector {
        let find = |(way, n): (WayPlace, usize)| self.array.get(way).map(|sectors| sectors[n]);
        self.find(place).and_then(find).unwrap_or(EMPTY)
    }

    /// State of the sector of a line.
    pub fn state(&self, place: PortLine) -> SectorState {
        self.sector(place).state
    }

    /// Whether the block of a line is there, whatever is valid of it.
    pub fn has_block(&self, place: PortLine) -> bool {
        self.find(place).is_some()
    }

    /// A lookup of a line whose block is there.
    pub fn used(&mut self, place: PortLine, is_hit: bool) {
        if let Some((way, _)) = self.find(place) {
            self.array.used(way, is_hit);
        }
    }

    /// Whether a line can enter; `is_in_use` says which blocks have to stay. Nothing leaves yet.
    pub fn room(&mut self, place: PortLine, is_in_use: impl Fn(CachedBlock) -> bool) -> BlockRoom {
        if self.find(place).is_some() {
            return BlockRoom::Present;
        }
        let set = self.set(self.block(place));
        let Some(way) = self.array.way_for(set, |block| !is_in_use(*block)) else { return BlockRoom::InUse };
        let Some((block, sectors)) = self.array.entry(way) else { return BlockRoom::Free(Vec::new()) };
        let leaving = block.lines(self.config.sectors()).zip(sectors).filter(|(_, sector)| sector.state.is_valid());
        BlockRoom::Free(leaving.map(|(line, sector)| (line, *sector)).collect())
    }

    /// A line enters, into the way that [`room`](DataCache::room) has found.
    pub fn enter(&mut self, place: PortLine, is_in_use: impl Fn(CachedBlock) -> bool) {
        let block = self.block(place);
        if let Some(way) = self.array.way_for(self.set(block), |block| !is_in_use(*block)) {
            self.array.put(way, block, [EMPTY; MOST_SECTORS]);
        }
    }

    /// Changes the sector of a line whose block is there.
    pub fn set_sector(&mut self, place: PortLine, sector: Sector) {
        if let Some((way, n)) = self.find(place)
            && let Some(sectors) = self.array.get_mut(way)
        {
            sectors[n] = sector;
        }
    }

    /// Takes a block out that has no valid sector.
    pub fn drop_if_empty(&mut self, place: PortLine) {
        let Some((way, _)) = self.find(place) else { return };
        if self.array.get(way).is_some_and(|sectors| sectors.iter().all(|sector| !sector.state.is_valid())) {
            self.array.remove(way);
        }
    }

    /// Lines with a valid sector.
    pub fn valid(&self) -> Vec<(PortLine, SectorState)> {
        let of = |(block, sectors): (CachedBlock, &[Sector; MOST_SECTORS])| {
            let states = sectors.map(|sector| sector.state);
            block.lines(self.config.sectors()).zip(states).filter(|(_, state)| state.is_valid()).collect::<Vec<_>>()
        };
        self.array.all().flat_map(of).collect()
    }

    /// Where the sector of a line lies in HBM \[byte\]; the way of a block that is not there is not known.
    pub fn hbm_address(&self, place: PortLine) -> Option<u64> {
        let (WayPlace { set, way }, n) = self.find(place)?;
        let block = set * self.config.ways as u64 + way as u64;
        Some(block * self.config.block_bytes + n as u64 * LINE_BYTES)
    }

    /// Where the tags of the set of a line lie in HBM \[byte\]: behind the data.
    pub fn hbm_tags(&self, place: PortLine) -> u64 {
        let set = self.set(self.block(place));
        (self.config.capacity_bytes + set * self.config.ways as u64 * TAG_BYTES) / LINE_BYTES * LINE_BYTES
    }
}
