//! Coverage: rows of tables that a run has met, in groups.
//!
//! Modelled: bins with counts, merging, what is left. Left out: what the rows are, see the coverage of each link.

use std::fmt::Write;

/// One bin.
#[derive(Debug, Clone)]
struct Bin {
    name: String,
    key: usize,
}

/// How often each bin of a group was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// What it is about: a protocol, or `coherence`.
    pub protocol: &'static str,
    /// Name of the group.
    pub group: &'static str,
    /// Names of its bins, with hits.
    pub bins: Vec<(String, u64)>,
}

impl Met {
    /// Groups of two ends of a link, which have the same bins: the hits of both.
    pub fn of_both(one: &[Met], other: &[Met]) -> Vec<Met> {
        let both = one.iter().zip(other).map(|(one, other)| {
            let mut sum = one.clone();
            sum.add(other);
            sum
        });
        both.collect()
    }

    /// Adds the hits of a group with the same bins.
    pub fn add(&mut self, other: &Met) {
        self.bins.iter_mut().zip(&other.bins).for_each(|((_, hits), (_, theirs))| *hits += theirs);
    }

    /// Bins that were met.
    pub fn count(&self) -> u64 {
        self.bins.iter().filter(|(_, hits)| *hits > 0).count() as u64
    }
}

/// A group: its bins, found by a dense key. What a run meets is counted by key alone, one addition an event; names and bins
/// come in when it is reported.
#[derive(Debug, Clone)]
pub struct CoverageGroup {
    name: &'static str,
    bins: Vec<Bin>,
    /// Hits by key; a key without a bin is no goal.
    hits: Vec<u64>,
}

impl CoverageGroup {
    /// A group of named bins, none met; keys are dense.
    pub fn new(name: &'static str, bins: impl Iterator<Item = (usize, String)>) -> CoverageGroup {
        let bins: Vec<Bin> = bins.map(|(key, name)| Bin { name, key }).collect();
        let keys = bins.iter().map(|bin| bin.key + 1).max().unwrap_or(0);
        CoverageGroup { name, bins, hits: vec![0; keys] }
    }

    /// Counts the bin of a key, if there is one.
    #[inline]
    pub fn hit(&mut self, key: usize) {
        self.hits(key, 1);
    }

    /// Counts the bin of a key so many times, if there is one.
    #[inline]
    pub fn hits(&mut self, key: usize, times: u64) {
        if let Some(hits) = self.hits.get_mut(key) {
            *hits = hits.wrapping_add(times);
        }
    }

    /// Bins with their hits.
    fn counts(&self) -> impl Iterator<Item = (&Bin, u64)> {
        self.bins.iter().map(|bin| (bin, self.hits[bin.key]))
    }

    /// Adds the counts of a group with the same bins.
    pub fn merge(&mut self, other: &CoverageGroup) {
        self.hits.iter_mut().zip(&other.hits).for_each(|(hits, theirs)| *hits += theirs);
    }

    /// How often the bins were met, in a group of a protocol.
    pub fn met(&self, protocol: &'static str) -> Met {
        let bins = self.counts().map(|(bin, hits)| (bin.name.clone(), hits)).collect();
        Met { protocol, group: self.name, bins }
    }

    /// Name, bins met and bins in all.
    pub fn summary(&self) -> (&'static str, usize, usize) {
        (self.name, self.counts().filter(|(_, hits)| *hits > 0).count(), self.bins.len())
    }

    /// Bins never met, `group: bin`.
    pub fn holes(&self) -> Vec<String> {
        let open = self.counts().filter(|(_, hits)| *hits == 0);
        open.map(|(bin, _)| format!("{}: {}", self.name, bin.name)).collect()
    }
}

/// Text for people: each group with its share, then its bins with their counts.
pub(super) fn report<'a>(groups: impl IntoIterator<Item = &'a CoverageGroup>) -> String {
    let mut out = String::new();
    for group in groups {
        let (name, met, of) = group.summary();
        let _ = writeln!(out, "{name}: {met} of {of} bins");
        for (bin, hits) in group.counts() {
            let _ = writeln!(out, "  {hits:>10}  {}", bin.name);
        }
    }
    out
}
