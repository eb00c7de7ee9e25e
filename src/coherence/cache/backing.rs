//! Where the home's lines live.

use crate::content::{LineAddr, LineContent};
use std::fmt::Debug;
use std::hash::Hash;

/// Memory behind the home. A line that nobody has written reads as [`LineContent::initial`].
pub trait Backing<D: LineContent>: Clone + Eq + Hash + Debug {
    /// The line's value.
    fn read(&self, line: LineAddr) -> D;
    /// Writes the enabled bytes.
    fn write(&mut self, line: LineAddr, data: &D, enables: u64);
    /// Every value held.
    fn visit(&mut self, f: &mut dyn FnMut(&mut D));
}

/// The lines that were written, sorted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flat<D>(Vec<(LineAddr, D)>);

impl<D> Default for Flat<D> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<D: LineContent> Flat<D> {
    /// The lines that were written.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> {
        self.0.iter().map(|(line, _)| *line)
    }

    /// Whether a line was written.
    pub fn holds(&self, line: LineAddr) -> bool {
        self.0.binary_search_by_key(&line, |(l, _)| *l).is_ok()
    }

    /// The line is as one that nobody has written.
    pub fn forget(&mut self, line: LineAddr) {
        if let Ok(at) = self.0.binary_search_by_key(&line, |(l, _)| *l) {
            self.0.remove(at);
        }
    }
}

impl<D: LineContent> Backing<D> for Flat<D> {
    fn read(&self, line: LineAddr) -> D {
        match self.0.binary_search_by_key(&line, |(l, _)| *l) {
            Ok(i) => self.0[i].1.clone(),
            Err(_) => D::initial(line),
        }
    }

    fn write(&mut self, line: LineAddr, data: &D, enables: u64) {
        let i = match self.0.binary_search_by_key(&line, |(l, _)| *l) {
            Ok(i) => i,
            Err(i) => {
                self.0.insert(i, (line, D::initial(line)));
                i
            }
        };
        self.0[i].1.merge(data, enables);
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.0.iter_mut().for_each(|(_, d)| f(d));
    }
}
