//! Coverage: rows of tables that a run has met, in groups.
//!
//! Modelled: bins with counts, merging, what is left. Left out: what the rows are, see the coverage of each link.

use std::fmt::Write;

/// One bin.
#[derive(Debug, Clone)]
struct Bin {
    name: String,
    hits: u64,
}

/// Which rows of a group were met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// Name of the group.
    pub group: &'static str,
    /// Its rows.
    pub rows: Vec<bool>,
}

impl Met {
    /// Groups of two ends of a link, which have the same rows: name, rows that either has met, rows in all.
    pub fn summary<'a>(one: &'a [Met], other: &'a [Met]) -> impl Iterator<Item = (String, u64, u64)> + 'a {
        one.iter().zip(other).map(|(one, other)| {
            let met = one.rows.iter().zip(&other.rows).filter(|(one, other)| **one || **other).count();
            (one.group.to_owned(), met as u64, one.rows.len() as u64)
        })
    }
}

/// A group: its bins, found by a dense key.
#[derive(Debug, Clone)]
pub struct Group {
    name: &'static str,
    bins: Vec<Bin>,
    /// Key to bin; a key without a bin is no goal.
    index: Vec<Option<u16>>,
}

impl Group {
    /// A group of named bins, none met; keys are dense.
    pub fn new(name: &'static str, bins: impl Iterator<Item = (usize, String)>) -> Group {
        let mut group = Group { name, bins: Vec::new(), index: Vec::new() };
        for (key, name) in bins {
            if group.index.len() <= key {
                group.index.resize(key + 1, None);
            }
            group.index[key] = Some(group.bins.len() as u16);
            group.bins.push(Bin { name, hits: 0 });
        }
        group
    }

    /// Counts the bin of a key, if there is one.
    pub fn hit(&mut self, key: usize) {
        if let Some(&Some(bin)) = self.index.get(key) {
            self.bins[bin as usize].hits += 1;
        }
    }

    /// Adds the counts of a group with the same bins.
    pub fn merge(&mut self, other: &Group) {
        for (bin, their) in self.bins.iter_mut().zip(&other.bins) {
            bin.hits += their.hits;
        }
    }

    /// Which bins were met.
    pub fn met(&self) -> Met {
        Met { group: self.name, rows: self.bins.iter().map(|bin| bin.hits > 0).collect() }
    }

    /// Name, bins met and bins in all.
    pub fn summary(&self) -> (&'static str, usize, usize) {
        (self.name, self.bins.iter().filter(|b| b.hits > 0).count(), self.bins.len())
    }

    /// Bins never met, `group: bin`.
    pub fn holes(&self) -> Vec<String> {
        let open = self.bins.iter().filter(|b| b.hits == 0);
        open.map(|b| format!("{}: {}", self.name, b.name)).collect()
    }
}

/// Text for people: each group with its share, then its bins with their counts.
pub(super) fn report<'a>(groups: impl IntoIterator<Item = &'a Group>) -> String {
    let mut out = String::new();
    for group in groups {
        let (name, met, of) = group.summary();
        let _ = writeln!(out, "{name}: {met} of {of} bins");
        for bin in &group.bins {
            let _ = writeln!(out, "  {:>10}  {}", bin.hits, bin.name);
        }
    }
    out
}
