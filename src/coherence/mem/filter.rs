//! The inclusive snoop filter: which host may hold a line.
//!
//! Modelled: sets and ways, least recently used victims, per line a set of sharers or one owner. Detail: a line that a
//! host caches has an entry; an entry leaves when nobody holds the line. Left out: nothing that the sheet asks for.

use crate::content::LineAddr;

/// Who may hold a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holders {
    /// Hosts that may have S, a bit each. 0: the entry is kept for a line that is being granted or taken back.
    Shared(u16),
    /// The host that may have it in any state.
    Owner(u8),
}

impl Holders {
    /// As a set, a bit a host.
    pub fn mask(self) -> u16 {
        match self {
            Holders::Shared(mask) => mask,
            Holders::Owner(host) => 1 << host,
        }
    }

    /// Whether the host may hold it.
    pub fn has(self, host: u8) -> bool {
        self.mask() >> host & 1 == 1
    }

    /// Without one host.
    pub fn without(self, host: u8) -> Self {
        match self {
            Holders::Shared(mask) => Holders::Shared(mask & !(1 << host)),
            Holders::Owner(owner) if owner == host => Holders::Shared(0),
            owner => owner,
        }
    }
}

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The line.
    pub line: LineAddr,
    /// Who may hold it.
    pub holders: Holders,
}

/// The filter. Entries of a set stand in order of use, the least recent first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter {
    sets: Vec<Vec<Entry>>,
    ways: usize,
}

impl Filter {
    /// `sets` times `ways` entries; `sets` 0: as many as there are lines.
    pub fn new(sets: usize, ways: usize) -> Self {
        Self { sets: vec![Vec::new(); sets.max(1)], ways: if sets == 0 { usize::MAX } else { ways.max(1) } }
    }

    fn set(&self, line: LineAddr) -> usize {
        (line.0 % self.sets.len() as u64) as usize
    }

    /// Who may hold a line; `None` without an entry.
    pub fn get(&self, line: LineAddr) -> Option<Holders> {
        self.sets[self.set(line)].iter().find(|e| e.line == line).map(|e| e.holders)
    }

    /// Whether a new line fits without a victim.
    pub fn has_room(&self, line: LineAddr) -> bool {
        self.sets[self.set(line)].len() < self.ways
    }

    /// Entries of the line's set, least recently used first.
    pub fn candidates(&self, line: LineAddr) -> impl Iterator<Item = &Entry> {
        self.sets[self.set(line)].iter()
    }

    /// Sets the holders of a line and makes it the most recently used one of its set. The caller has made room.
    pub fn put(&mut self, line: LineAddr, holders: Holders) {
        let set = self.set(line);
        self.sets[set].retain(|e| e.line != line);
        self.sets[set].push(Entry { line, holders });
    }

    /// Changes the holders where an entry is, without a use.
    pub fn update(&mut self, line: LineAddr, f: impl FnOnce(Holders) -> Holders) {
        let set = self.set(line);
        if let Some(entry) = self.sets[set].iter_mut().find(|e| e.line == line) {
            entry.holders = f(entry.holders);
        }
    }

    /// Changes the holders of every entry.
    pub fn change_all(&mut self, f: impl Fn(Holders) -> Holders) {
        self.sets.iter_mut().flatten().for_each(|e| e.holders = f(e.holders));
    }

    /// Removes an entry.
    pub fn remove(&mut self, line: LineAddr) {
        let set = self.set(line);
        self.sets[set].retain(|e| e.line != line);
    }

    /// Entries in use.
    pub fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }

    /// Whether no line is tracked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries, set by set.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.sets.iter().flatten()
    }
}
