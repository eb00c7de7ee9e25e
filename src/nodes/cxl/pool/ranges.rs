//! Ranges of a pool of memories: which bytes lie where, and which of their copies still count.
//!
//! Modelled: a range in one memory, or mirrored in several at the same address of each. A copy whose memory leaves is out for good, since
//! it misses what is written from then on (a choice: a memory that returns is not filled again); a range that is not mirrored is there
//! again when its memory returns, with what that memory holds. A walk: a range lies in memories 0 and 1; memory 0 is lost; reads go to 1
//! from then on, and still do when memory 0 has returned.

/// Memories, as a set of their numbers, below [`MOST_MEMORIES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemorySet(u64);

/// Most memories of a pool.
pub const MOST_MEMORIES: usize = 64;

impl MemorySet {
    /// One memory.
    pub fn one(memory: usize) -> MemorySet {
        MemorySet(1 << memory)
    }

    /// Whether it has a memory.
    pub fn has(self, memory: usize) -> bool {
        self.0 >> memory & 1 == 1
    }

    /// Adds one.
    pub fn insert(&mut self, memory: usize) {
        self.0 |= 1 << memory;
    }

    /// Takes one away; whether it was there.
    pub fn remove(&mut self, memory: usize) -> bool {
        let had = self.has(memory);
        self.0 &= !(1 << memory);
        had
    }

    /// Those of this set that are in another one.
    #[must_use]
    pub fn and(self, other: MemorySet) -> MemorySet {
        MemorySet(self.0 & other.0)
    }

    /// Those of this set that are not in another one.
    #[must_use]
    pub fn without(self, other: MemorySet) -> MemorySet {
        MemorySet(self.0 & !other.0)
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The one of the lowest number.
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// All of them, ascending.
    pub fn all(self) -> impl Iterator<Item = usize> {
        (0..MOST_MEMORIES).filter(move |memory| self.has(*memory))
    }
}

impl FromIterator<usize> for MemorySet {
    fn from_iter<I: IntoIterator<Item = usize>>(memories: I) -> MemorySet {
        let mut set = MemorySet::default();
        memories.into_iter().for_each(|memory| set.insert(memory));
        set
    }
}

/// A range of addresses of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRange {
    /// First byte.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Address of the first byte in each of its memories.
    pub to: u64,
    /// Memories that hold it: one, or several that hold the same.
    pub memories: MemorySet,
}

impl PoolRange {
    /// Whether several memories hold it.
    pub fn is_mirrored(&self) -> bool {
        self.memories.all().count() > 1
    }

    /// Whether an address is in it.
    pub fn has(&self, address: u64) -> bool {
        address.checked_sub(self.base).is_some_and(|offset| offset < self.size)
    }
}
