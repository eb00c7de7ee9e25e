//! What is known of one line: who may hold it, and which values it has had.

use super::PassiveHolder;
use crate::content::CacheLine;
use crate::mem::tables::Copy4;
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

/// What somebody may hold of a line, as far as its messages tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PossibleCopy {
    /// The most it may hold; less may be left, for clean copies go silently.
    pub most: Copy4,
    /// The most that it may have held since its last request ended. A request says what was there when it was made, and an
    /// answer to a snoop may have passed it since.
    pub before: Copy4,
    /// It was granted M, and the bytes have not come back: it holds M for certain.
    pub dirty: bool,
    /// It has asked to give the copy up, and no longer uses it.
    pub leaving: bool,
}

impl PossibleCopy {
    /// Holds this from a grant on.
    pub fn granted(state: Copy4) -> PossibleCopy {
        PossibleCopy { most: state, before: state, dirty: state == Copy4::M, leaving: false }
    }

    /// At most `left` is left, and the bytes of a dirty copy have gone.
    pub fn lowered(self, left: Copy4) -> PossibleCopy {
        PossibleCopy { most: self.most.min(left), dirty: false, ..self }
    }

    /// What it holds, for messages: "a device that ...".
    pub fn in_words(self) -> String {
        match (self.most, self.dirty) {
            (_, true) => "holds M, which it was granted and has not given back".into(),
            (Copy4::I, _) => "holds nothing, for it was granted nothing that is still there".into(),
            (most, _) => format!("holds {} at most", most.letter()),
        }
    }

    /// The states in which it may be; a store makes M of E without a message, and a clean copy goes without one.
    pub fn possible(self) -> &'static [Copy4] {
        match (self.most, self.dirty) {
            (_, true) => &[Copy4::M],
            (Copy4::I, _) => &[Copy4::I],
            (Copy4::S, _) => &[Copy4::S, Copy4::I],
            (Copy4::E | Copy4::M, _) => &[Copy4::M, Copy4::E, Copy4::S, Copy4::I],
        }
    }

    /// The same when it made the request that passes now.
    pub fn possible_at_request(self) -> &'static [Copy4] {
        match self.dirty && !self.leaving {
            true => self.possible(),
            false => PossibleCopy { most: self.most.max(self.before), dirty: false, ..self }.possible(),
        }
    }
}

/// Values of a line that are remembered at most. An answer that never comes would keep all of them; of what is older nothing is
/// said. Basis: model.
const MOST_VALUES: usize = 1024;

/// The values of a line, as long as an open read may bring an old one.
#[derive(Debug, Clone)]
pub(super) struct LineValues {
    /// Oldest first, never empty; `None`: not known.
    values: VecDeque<Option<CacheLine>>,
    /// Values that have been dropped in front.
    dropped: u64,
    /// Open reads.
    readers: usize,
    /// Writes whose answer has not come, and the marks behind which they are seen: until then a read may get what was before.
    writes: Vec<u64>,
}

impl Default for LineValues {
    fn default() -> LineValues {
        LineValues { values: VecDeque::from([None]), dropped: 0, readers: 0, writes: Vec::new() }
    }
}

impl LineValues {
    pub fn last(&self) -> Option<&CacheLine> {
        self.values.back().and_then(Option::as_ref)
    }

    pub fn push(&mut self, value: Option<CacheLine>) {
        // Behind a value that is not known there may be another one that is not known.
        if value.is_none() || self.values.back() != Some(&value) {
            self.values.push_back(value);
        }
        if self.values.len() > MOST_VALUES {
            self.values.pop_front();
            self.values[0] = None;
            self.dropped += 1;
        }
        self.trim();
    }

    /// Whether the line has had one value since `mark`.
    pub fn is_last(&self, mark: u64) -> bool {
        mark >= self.mark()
    }

    fn mark(&self) -> u64 {
        self.dropped + self.values.len() as u64 - 1
    }

    /// Values that nobody can get any more go.
    fn trim(&mut self) {
        if self.readers == 0 && self.writes.is_empty() {
            self.dropped = self.mark();
            self.values.drain(..self.values.len() - 1);
        }
    }

    pub fn read_begins(&mut self) -> u64 {
        self.readers += 1;
        self.writes.iter().copied().fold(self.mark(), u64::min)
    }

    pub fn read_ends(&mut self) {
        self.readers = self.readers.saturating_sub(1);
        self.trim();
    }

    /// A write leaves: what is known before it may be read until its answer has come.
    pub fn write_begins(&mut self) -> u64 {
        let mark = self.mark();
        self.writes.push(mark);
        mark
    }

    pub fn write_ends(&mut self, mark: u64) {
        if let Some(n) = self.writes.iter().position(|m| *m == mark) {
            self.writes.remove(n);
        }
        self.trim();
    }

    /// Writes that are open.
    pub fn open_writes(&self) -> usize {
        self.writes.len()
    }

    /// The last value, if it is known and `value` is another one. Memory may fail, so that poison alone is no other value.
    pub fn is_not_last(&self, value: &CacheLine) -> Option<CacheLine> {
        self.last().filter(|last| *last != value && !value.poison).copied()
    }

    /// The last value, if all since `mark` are known and `value` is none of them.
    pub fn is_none_since(&self, mark: u64, value: &CacheLine) -> Option<CacheLine> {
        let first = mark.saturating_sub(self.dropped) as usize;
        let may_be = |known: &Option<CacheLine>| known.as_ref().is_none_or(|known| known == value);
        let fits = value.poison || self.values.range(first.min(self.values.len() - 1)..).any(may_be);
        if fits { None } else { self.last().copied() }
    }
}

/// A line.
#[derive(Debug, Clone, Default)]
pub(super) struct PassiveLine {
    pub values: LineValues,
    pub holders: OrderedMap<PassiveHolder, PossibleCopy>,
}

impl PassiveLine {
    /// Whether somebody holds a copy, who has to be asked before anybody else writes.
    pub fn is_held(&self) -> bool {
        self.holders.values().any(|held| held.most > Copy4::I && !held.leaving)
    }

    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        self.holders.is_empty()
            && self.values.readers == 0
            && self.values.writes.is_empty()
            && self.values.last().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: usize) -> CacheLine {
        CacheLine::of([n as u8; 64])
    }

    /// A read without an answer keeps what came since, up to a limit, and of older values nothing is said.
    #[test]
    fn values_behind_an_answer_that_never_comes_are_limited() {
        let mut values = LineValues::default();
        values.push(Some(line(0)));
        let mark = values.read_begins();
        (1..MOST_VALUES - 1).for_each(|n| values.push(Some(line(n))));
        assert!(values.is_none_since(mark, &CacheLine::of([0xff, 0].repeat(32).try_into().expect("64"))).is_some());
        (0..10 * MOST_VALUES).for_each(|n| values.push(Some(line(n))));
        assert_eq!(values.values.len(), MOST_VALUES);
        let other = CacheLine::of([0xff, 0].repeat(32).try_into().expect("64"));
        assert_eq!(values.is_none_since(mark, &other), None);
        let late = values.read_begins();
        assert!(values.is_none_since(late, &other).is_some());
    }
}
