//! A set-associative cache array with real bytes: write-back, write-allocate, least recently used line out first.
//!
//! Modelled: tags, 64 B of data a line, which bytes of it are dirty, exact LRU within a set. Left out: time, ports,
//! coherence states, misses under way: the owner fetches a missing line and calls [`Cache::fill`].
//!
//! A load is `read`; when that gives `None`, fetch the line, `fill` it, write back the victim if it is dirty, `read`
//! again. A store is the same with `write`.
//!
//! Invariants: a line is in at most one way; a line without dirty bytes equals what was filled; a fill never replaces
//! a dirty byte.

use thiserror::Error;

use super::{LINE_BYTES, LineBytes, line_address, merge_bytes};

/// The shape of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheConfig {
    /// Data bytes; `ways` x 64 times a power of two.
    pub capacity_bytes: u64,
    /// Lines a set, at least 1.
    pub ways: u32,
}

impl Default for CacheConfig {
    /// 32 KiB in 8 ways of 64 sets: the first-level data cache of common server cores. Basis: model.
    fn default() -> CacheConfig {
        CacheConfig { capacity_bytes: 32 * 1024, ways: 8 }
    }
}

impl CacheConfig {
    /// The number of sets, a power of two.
    ///
    /// # Errors
    /// See [`CacheConfigError`].
    pub fn sets(&self) -> Result<u64, CacheConfigError> {
        let capacity_bytes = self.capacity_bytes;
        if self.ways == 0 {
            return Err(CacheConfigError::ZeroWays);
        }
        let way_bytes = u64::from(self.ways) * LINE_BYTES;
        if capacity_bytes == 0 || !capacity_bytes.is_multiple_of(way_bytes) {
            return Err(CacheConfigError::NotDivisible { capacity_bytes, ways: self.ways, way_bytes });
        }
        let sets = capacity_bytes / way_bytes;
        if !sets.is_power_of_two() {
            return Err(CacheConfigError::SetsNotPowerOfTwo { capacity_bytes, ways: self.ways, sets });
        }
        if capacity_bytes > MAX_CAPACITY_BYTES {
            return Err(CacheConfigError::TooLarge { capacity_bytes });
        }
        Ok(sets)
    }
}

/// 1 GiB: every line has real bytes in the simulator's own memory. Basis: model.
pub const MAX_CAPACITY_BYTES: u64 = 1 << 30;

/// A cache shape that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CacheConfigError {
    /// No ways.
    #[error("cache: found 0 ways, expected at least 1")]
    ZeroWays,
    /// The sets would not be whole.
    #[error("cache: found {capacity_bytes} bytes, expected a multiple of {way_bytes} ({ways} ways of 64 bytes), not 0")]
    NotDivisible {
        /// The capacity asked for.
        capacity_bytes: u64,
        /// The ways asked for.
        ways: u32,
        /// Bytes of one set.
        way_bytes: u64,
    },
    /// The set index would not be a slice of the address.
    #[error("cache: found {sets} sets ({capacity_bytes} bytes in {ways} ways), expected a power of two")]
    SetsNotPowerOfTwo {
        /// The capacity asked for.
        capacity_bytes: u64,
        /// The ways asked for.
        ways: u32,
        /// The sets that follow from them.
        sets: u64,
    },
    /// Above [`MAX_CAPACITY_BYTES`].
    #[error("cache: found {capacity_bytes} bytes, expected at most {MAX_CAPACITY_BYTES}")]
    TooLarge {
        /// The capacity asked for.
        capacity_bytes: u64,
    },
}

/// A line that left the cache, or its dirty bytes that have to be written back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// Address of its byte 0.
    pub address: u64,
    /// All its bytes.
    pub data: LineBytes,
    /// Which bytes differ from memory as far as the cache knows: bit n for byte n. 0: nothing to write back.
    pub dirty_bytes: u64,
}

impl Victim {
    /// The line has to be written back.
    pub fn is_dirty(&self) -> bool {
        self.dirty_bytes != 0
    }
}

struct Way {
    held: Victim,
    /// The value of [`Cache::uses`] at the last use.
    last_use: u64,
}

/// A cache array. Addresses may point anywhere into a line.
pub struct Cache {
    /// Set by set; a set holds at most `ways` lines, in no order.
    sets: Vec<Vec<Way>>,
    ways: usize,
    /// Counts reads, writes and fills: the clock of LRU.
    uses: u64,
}

impl Cache {
    /// An empty cache.
    ///
    /// # Errors
    /// A shape that cannot be built: see [`CacheConfigError`].
    pub fn new(config: CacheConfig) -> Result<Cache, CacheConfigError> {
        let sets = config.sets()?;
        Ok(Cache { sets: (0..sets).map(|_| Vec::new()).collect(), ways: config.ways as usize, uses: 0 })
    }

    /// The line's bytes if it is held; its age stays as it is.
    pub fn lookup(&self, address: u64) -> Option<&LineBytes> {
        self.find(address).map(|(set, way)| &self.sets[set][way].held.data)
    }

    /// A load: the line's bytes if it is held; it becomes the most recently used.
    pub fn read(&mut self, address: u64) -> Option<&LineBytes> {
        self.touch(address).map(|held| &held.data)
    }

    /// A store: changes the bytes whose bit in `byte_enables` is 1 and marks them dirty; the line becomes the most
    /// recently used. False, and nothing done, if the line is not held.
    pub fn write(&mut self, address: u64, data: &LineBytes, byte_enables: u64) -> bool {
        let Some(held) = self.touch(address) else { return false };
        merge_bytes(&mut held.data, data, byte_enables);
        held.dirty_bytes |= byte_enables;
        true
    }

    /// Puts a fetched line in as the most recently used and gives back the line that had to leave a full set: the
    /// least recently used one, dirty or not. A line that is already held takes the new bytes where it is not dirty.
    pub fn fill(&mut self, address: u64, data: &LineBytes) -> Option<Victim> {
        if let Some(held) = self.touch(address) {
            let clean_bytes = !held.dirty_bytes;
            merge_bytes(&mut held.data, data, clean_bytes);
            return None;
        }
        self.uses += 1;
        let held = Victim { address: line_address(address), data: *data, dirty_bytes: 0 };
        let way = Way { held, last_use: self.uses };
        let index = self.set_of(address);
        let set = &mut self.sets[index];
        let oldest = (0..set.len()).min_by_key(|&way| set[way].last_use);
        match oldest {
            Some(oldest) if set.len() == self.ways => Some(std::mem::replace(&mut set[oldest], way).held),
            _ => {
                set.push(way);
                None
            }
        }
    }

    /// The line that a fill of a line that is not held would put out now.
    pub fn next_victim(&self, address: u64) -> Option<&Victim> {
        let set = &self.sets[self.set_of(address)];
        let full = set.len() == self.ways && self.find(address).is_none();
        set.iter().filter(|_| full).min_by_key(|way| way.last_use).map(|way| &way.held)
    }

    /// Bytes for a line whose place was taken when it missed: they fill what is not dirty, the line's age stays as it
    /// is. False, and nothing done, if the line is not held.
    pub fn refill(&mut self, address: u64, data: &LineBytes) -> bool {
        let Some((set, way)) = self.find(address) else { return false };
        let held = &mut self.sets[set][way].held;
        let clean_bytes = !held.dirty_bytes;
        merge_bytes(&mut held.data, data, clean_bytes);
        true
    }

    /// Takes one line out, as a back-invalidation or an eviction on demand does.
    pub fn remove(&mut self, address: u64) -> Option<Victim> {
        let (set, way) = self.find(address)?;
        Some(self.sets[set].swap_remove(way).held)
    }

    /// Empties the cache and gives the dirty lines in address order.
    pub fn flush(&mut self) -> Vec<Victim> {
        let all = self.sets.iter_mut().flat_map(|set| set.drain(..));
        let mut dirty: Vec<Victim> = all.map(|way| way.held).filter(Victim::is_dirty).collect();
        scalepool_ordered::sort_by_key(&mut dirty, |line| line.address);
        dirty
    }

    fn touch(&mut self, address: u64) -> Option<&mut Victim> {
        let (set, way) = self.find(address)?;
        self.uses += 1;
        let way = &mut self.sets[set][way];
        way.last_use = self.uses;
        Some(&mut way.held)
    }

    fn find(&self, address: u64) -> Option<(usize, usize)> {
        let set = self.set_of(address);
        let line = line_address(address);
        self.sets[set].iter().position(|way| way.held.address == line).map(|way| (set, way))
    }

    /// The set index is the address bits just above the line offset.
    fn set_of(&self, address: u64) -> usize {
        (address / LINE_BYTES % self.sets.len() as u64) as usize
    }
}
