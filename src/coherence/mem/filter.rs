//! The inclusive snoop filter: which host may hold a line.
//!
//! Modelled: sets and ways, least recently used victims, per line a set of sharers or one owner. Detail: a line that a
//! host caches has an entry; an entry leaves when nobody holds the line. Left out: nothing that the sheet asks for.

use crate::content::LineAddr;
use crate::ids::{AgentPort, IdSet};
use crate::lines::FEW;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Who may hold a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holders {
    /// Hosts that may have S. None: the entry is kept for a line that is being granted or taken back.
    Shared(IdSet),
    /// The host that may have it in any state.
    Owner(AgentPort),
}

/// In words.
impl fmt::Display for Holders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holders::Shared(hosts) if hosts.is_empty() => f.write_str("no holder"),
            Holders::Shared(hosts) => write!(f, "{} with a shared copy", hosts.named("host")),
            Holders::Owner(host) => write!(f, "host {host} as owner"),
        }
    }
}

impl Holders {
    /// Nobody, of whom the filter knows.
    pub const NONE: Self = Holders::Shared(IdSet::EMPTY);

    /// All of them.
    pub fn all(&self) -> IdSet {
        match self {
            Holders::Shared(hosts) => hosts.clone(),
            Holders::Owner(host) => IdSet::one(*host),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        matches!(self, Holders::Shared(hosts) if hosts.is_empty())
    }

    /// Whether the host may hold it.
    pub fn has(&self, host: AgentPort) -> bool {
        match self {
            Holders::Shared(hosts) => hosts.has(host),
            Holders::Owner(owner) => *owner == host,
        }
    }

    /// Without one host.
    #[must_use]
    pub fn without(self, host: AgentPort) -> Self {
        match self {
            Holders::Shared(hosts) => Holders::Shared(hosts.without(host)),
            Holders::Owner(owner) if owner == host => Holders::NONE,
            owner => owner,
        }
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnoopFilterEntry {
    /// The line.
    pub line: LineAddr,
    /// Who may hold it.
    pub holders: Holders,
}

/// The filter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnoopFilter {
    sets: Vec<Set>,
    ways: usize,
}

impl SnoopFilter {
    /// `sets` times `ways` entries; `sets` 0: as many as there are lines.
    pub fn new(sets: usize, ways: usize) -> Self {
        Self { sets: vec![Set::default(); sets.max(1)], ways: if sets == 0 { usize::MAX } else { ways.max(1) } }
    }

    fn set(&self, line: LineAddr) -> &Set {
        &self.sets[(line.0 % self.sets.len() as u64) as usize]
    }

    fn set_mut(&mut self, line: LineAddr) -> &mut Set {
        let sets = self.sets.len() as u64;
        &mut self.sets[(line.0 % sets) as usize]
    }

    /// Who may hold a line; `None` without an entry.
    pub fn get(&self, line: LineAddr) -> Option<Holders> {
        self.set(line).get(line).map(|e| e.holders.clone())
    }

    /// Whether a new line fits without a victim.
    pub fn has_room(&self, line: LineAddr) -> bool {
        self.set(line).len() < self.ways
    }

    /// Entries of the line's set, least recently used first.
    pub fn candidates(&self, line: LineAddr) -> impl Iterator<Item = &SnoopFilterEntry> {
        self.set(line).iter()
    }

    /// Sets the holders of a line and makes it the most recently used one of its set. The caller has made room.
    pub fn put(&mut self, line: LineAddr, holders: Holders) {
        self.set_mut(line).put(SnoopFilterEntry { line, holders });
    }

    /// Changes the holders where an entry is, without a use.
    pub fn update(&mut self, line: LineAddr, f: impl FnOnce(Holders) -> Holders) {
        if let Some(entry) = self.set_mut(line).get_mut(line) {
            entry.change(f);
        }
    }

    /// Changes the holders of every entry.
    pub fn change_all(&mut self, f: impl Fn(Holders) -> Holders) {
        self.sets.iter_mut().flat_map(Set::iter_mut).for_each(|entry| entry.change(&f));
    }

    /// Removes an entry.
    pub fn remove(&mut self, line: LineAddr) {
        self.set_mut(line).remove(line);
    }

    /// Entries in use.
    pub fn len(&self) -> usize {
        self.sets.iter().map(Set::len).sum()
    }

    /// Whether no line is tracked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries, set by set.
    pub fn iter(&self) -> impl Iterator<Item = &SnoopFilterEntry> {
        self.sets.iter().flat_map(Set::iter)
    }
}

impl SnoopFilterEntry {
    fn change(&mut self, f: impl FnOnce(Holders) -> Holders) {
        self.holders = f(std::mem::replace(&mut self.holders, Holders::NONE));
    }
}

/// Entries in order of use. As in [`LineMap`](crate::lines::LineMap), a few of them, as a search has, are a list, and
/// many have an index.
#[derive(Debug, Clone)]
enum Set {
    /// The least recently used one first.
    Few(Vec<SnoopFilterEntry>),
    Many(Box<IndexedFilter>),
}

#[derive(Debug, Clone)]
struct IndexedFilter {
    /// Entries by line, each with the number of its last use.
    entries: BTreeMap<LineAddr, (u64, SnoopFilterEntry)>,
    /// Lines by the number of their last use.
    by_use: BTreeMap<u64, LineAddr>,
    /// Number of the next use.
    next: u64,
}

impl IndexedFilter {
    fn put(&mut self, entry: SnoopFilterEntry) {
        let line = entry.line;
        if let Some((before, _)) = self.entries.insert(line, (self.next, entry)) {
            self.by_use.remove(&before);
        }
        self.by_use.insert(self.next, line);
        self.next += 1;
    }
}

impl Default for Set {
    fn default() -> Self {
        Set::Few(Vec::new())
    }
}

impl Set {
    fn get(&self, line: LineAddr) -> Option<&SnoopFilterEntry> {
        match self {
            Set::Few(entries) => entries.iter().find(|e| e.line == line),
            Set::Many(all) => all.entries.get(&line).map(|(_, entry)| entry),
        }
    }

    fn get_mut(&mut self, line: LineAddr) -> Option<&mut SnoopFilterEntry> {
        match self {
            Set::Few(entries) => entries.iter_mut().find(|e| e.line == line),
            Set::Many(all) => all.entries.get_mut(&line).map(|(_, entry)| entry),
        }
    }

    fn len(&self) -> usize {
        match self {
            Set::Few(entries) => entries.len(),
            Set::Many(all) => all.entries.len(),
        }
    }

    /// Takes an entry as the most recently used one.
    fn put(&mut self, entry: SnoopFilterEntry) {
        match self {
            Set::Few(entries) => {
                entries.retain(|e| e.line != entry.line);
                if entries.len() < FEW {
                    return entries.push(entry);
                }
                let mut all = IndexedFilter { entries: BTreeMap::new(), by_use: BTreeMap::new(), next: 0 };
                entries.drain(..).chain([entry]).for_each(|entry| all.put(entry));
                *self = Set::Many(Box::new(all));
            }
            Set::Many(all) => all.put(entry),
        }
    }

    fn remove(&mut self, line: LineAddr) {
        match self {
            Set::Few(entries) => entries.retain(|e| e.line != line),
            Set::Many(all) => {
                if let Some((used, _)) = all.entries.remove(&line) {
                    all.by_use.remove(&used);
                }
            }
        }
    }

    /// The least recently used one first.
    fn iter(&self) -> impl Iterator<Item = &SnoopFilterEntry> {
        let (few, many) = match self {
            Set::Few(entries) => (entries.as_slice(), None),
            Set::Many(all) => {
                (Default::default(), Some(all.by_use.values().filter_map(|line| Some(&all.entries.get(line)?.1))))
            }
        };
        few.iter().chain(many.into_iter().flatten())
    }

    /// In any order.
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut SnoopFilterEntry> {
        let (few, many) = match self {
            Set::Few(entries) => (entries.as_mut_slice(), None),
            Set::Many(all) => (Default::default(), Some(all.entries.values_mut().map(|(_, entry)| entry))),
        };
        few.iter_mut().chain(many.into_iter().flatten())
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Set::Few(own), Set::Few(other)) => own == other,
            _ => self.iter().eq(other.iter()),
        }
    }
}

impl Eq for Set {}

impl PartialOrd for Set {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Set {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl Hash for Set {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        match self {
            Set::Few(entries) => entries.iter().for_each(|entry| entry.hash(state)),
            Set::Many(_) => self.iter().for_each(|entry| entry.hash(state)),
        }
    }
}
