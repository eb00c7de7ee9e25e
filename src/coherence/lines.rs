//! What an agent keeps of each line: a short sorted list while the lines are few, with an index beside it when they are many.
//!
//! Modelled: entries by line, in the order of their lines. Detail: a search has a few lines, and its states are copied, compared
//! and hashed more often than anything else is done to them, so a list of up to [`FEW`] entries is no more than that. A run has
//! thousands of lines of which a few are being worked on: then an entry is found through an index, and what looks for open work
//! passes over all lines that have rested since. Both do the same in the same order; which of the two it is can't be seen.
//! Left out: what an entry means.

use crate::content::LineAddr;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::ops::{Index, IndexMut};

/// Most entries of a list without index.
pub const FEW: usize = 16;

/// An entry knows its line, which never changes.
pub trait OfLine {
    /// Its line.
    fn line(&self) -> LineAddr;
}

impl<T> OfLine for (LineAddr, T) {
    fn line(&self) -> LineAddr {
        self.0
    }
}

/// Entries by line. An entry has a place for as long as no entry is added or removed.
#[derive(Debug, Clone)]
pub struct LineMap<T>(LineStore<T>);

#[derive(Debug, Clone)]
enum LineStore<T> {
    /// Sorted by line.
    Few(Vec<T>),
    Many(Box<IndexedLines<T>>),
}

#[derive(Debug, Clone)]
struct IndexedLines<T> {
    /// Entries; those that no line leads to have been removed.
    places: Vec<T>,
    by_line: BTreeMap<LineAddr, usize>,
    free: Vec<usize>,
    /// Lines that may be open: those that were touched and have not been seen at rest since.
    touched: BTreeSet<LineAddr>,
}

impl<T> Default for LineMap<T> {
    fn default() -> Self {
        Self(LineStore::Few(Vec::new()))
    }
}

impl<T: OfLine> IndexedLines<T> {
    fn new(entries: Vec<T>) -> Self {
        let by_line: BTreeMap<LineAddr, usize> = entries.iter().enumerate().map(|(at, e)| (e.line(), at)).collect();
        Self { touched: by_line.keys().copied().collect(), places: entries, by_line, free: Vec::new() }
    }

    /// Places of all entries that may be open.
    fn open_places(&self) -> impl Iterator<Item = usize> {
        self.touched.iter().filter_map(|line| self.by_line.get(line).copied())
    }

    fn insert(&mut self, entry: T) -> usize {
        let line = entry.line();
        let at = match self.free.pop() {
            Some(at) => {
                self.places[at] = entry;
                at
            }
            None => {
                self.places.push(entry);
                self.places.len() - 1
            }
        };
        self.by_line.insert(line, at);
        at
    }
}

impl<T: OfLine> LineMap<T> {
    /// Where the entry of a line is.
    fn find(&self, line: LineAddr) -> Option<usize> {
        match &self.0 {
            LineStore::Few(entries) => entries.iter().position(|e| e.line() == line),
            LineStore::Many(all) => all.by_line.get(&line).copied(),
        }
    }

    /// The entry of a line.
    #[inline]
    pub fn get(&self, line: LineAddr) -> Option<&T> {
        match &self.0 {
            LineStore::Few(entries) => entries.iter().find(|e| e.line() == line),
            LineStore::Many(all) => all.by_line.get(&line).map(|at| &all.places[*at]),
        }
    }

    /// The place of a line's entry, which is made if need be.
    pub fn place(&mut self, line: LineAddr, new: impl FnOnce(LineAddr) -> T) -> usize {
        if let Some(at) = self.find(line) {
            return at;
        }
        match &mut self.0 {
            LineStore::Few(entries) if entries.len() < FEW => {
                let at = entries.partition_point(|e| e.line() < line);
                entries.insert(at, new(line));
                at
            }
            LineStore::Few(entries) => {
                let mut all = IndexedLines::new(std::mem::take(entries));
                let at = all.insert(new(line));
                self.0 = LineStore::Many(Box::new(all));
                at
            }
            LineStore::Many(all) => all.insert(new(line)),
        }
    }

    /// The same for an entry that is about to be worked on.
    pub fn touch(&mut self, line: LineAddr, new: impl FnOnce(LineAddr) -> T) -> usize {
        let at = self.place(line, new);
        if let LineStore::Many(all) = &mut self.0 {
            all.touched.insert(line);
        }
        at
    }

    /// Removes the entry of a line, if it has one.
    pub fn remove(&mut self, line: LineAddr) {
        let at = self.find(line);
        match (&mut self.0, at) {
            (_, None) => {}
            (LineStore::Few(entries), Some(at)) => {
                entries.remove(at);
            }
            (LineStore::Many(all), Some(at)) => {
                all.by_line.remove(&line);
                all.touched.remove(&line);
                all.free.push(at);
            }
        }
    }

    /// Ends a step: removes what has gone of the entries that were touched. Those that are not open either are at rest now.
    pub fn settle(&mut self, has_gone: impl Fn(&T) -> bool, is_open: impl Fn(&T) -> bool) {
        match &mut self.0 {
            LineStore::Few(entries) => entries.retain(|e| !has_gone(e)),
            LineStore::Many(all) => {
                let IndexedLines { places, by_line, free, touched } = &mut **all;
                touched.retain(|line| {
                    let Some(&at) = by_line.get(line) else { return false };
                    if has_gone(&places[at]) {
                        by_line.remove(line);
                        free.push(at);
                        return false;
                    }
                    is_open(&places[at])
                });
            }
        }
    }

    /// All entries that may be open, by line: all of a few.
    pub fn open(&self) -> impl Iterator<Item = &T> {
        let (few, many) = match &self.0 {
            LineStore::Few(entries) => (entries.as_slice(), None),
            LineStore::Many(all) => (Default::default(), Some(all.open_places().map(|at| &all.places[at]))),
        };
        few.iter().chain(many.into_iter().flatten())
    }

    /// The place of the first entry of a kind, among those that may be open.
    pub fn first_open(&self, is_wanted: impl Fn(&T) -> bool) -> Option<usize> {
        match &self.0 {
            LineStore::Few(entries) => entries.iter().position(is_wanted),
            LineStore::Many(all) => all.open_places().find(|at| is_wanted(&all.places[*at])),
        }
    }

    /// All entries, by line.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let (few, many) = match &self.0 {
            LineStore::Few(entries) => (entries.as_slice(), None),
            LineStore::Many(all) => (Default::default(), Some(all.by_line.values().map(|at| &all.places[*at]))),
        };
        few.iter().chain(many.into_iter().flatten())
    }

    /// All entries, in any order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (few, many) = match &mut self.0 {
            LineStore::Few(entries) => (entries.as_mut_slice(), None),
            LineStore::Many(all) => {
                let IndexedLines { places, by_line, .. } = &mut **all;
                let is_here = |at: usize, e: &T| by_line.get(&e.line()) == Some(&at);
                let here = places.iter_mut().enumerate().filter(move |(at, e)| is_here(*at, e));
                (Default::default(), Some(here.map(|(_, e)| e)))
            }
        };
        few.iter_mut().chain(many.into_iter().flatten())
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match &self.0 {
            LineStore::Few(entries) => entries.len(),
            LineStore::Many(all) => all.by_line.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Index<usize> for LineMap<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        match &self.0 {
            LineStore::Few(entries) => &entries[at],
            LineStore::Many(all) => &all.places[at],
        }
    }
}

impl<T> IndexMut<usize> for LineMap<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        match &mut self.0 {
            LineStore::Few(entries) => &mut entries[at],
            LineStore::Many(all) => &mut all.places[at],
        }
    }
}

impl<T: OfLine + PartialEq> PartialEq for LineMap<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (LineStore::Few(own), LineStore::Few(other)) => own == other,
            _ => self.iter().eq(other.iter()),
        }
    }
}

impl<T: OfLine + Eq> Eq for LineMap<T> {}

impl<T: OfLine + PartialOrd> PartialOrd for LineMap<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.iter().partial_cmp(other.iter())
    }
}

impl<T: OfLine + Ord> Ord for LineMap<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl<T: OfLine + Hash> Hash for LineMap<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        match &self.0 {
            LineStore::Few(entries) => entries.iter().for_each(|entry| entry.hash(state)),
            LineStore::Many(_) => self.iter().for_each(|entry| entry.hash(state)),
        }
    }
}
