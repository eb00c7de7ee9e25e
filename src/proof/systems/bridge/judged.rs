//! Which value of a line is the newest one, and whether what a request got was.
//!
//! A line has two parts that stores write apart: its first word, and the rest. The history of each is the list of its values in coherence
//! order; no value comes twice, because each store has a number of its own and an atomic adds to one of them.

use super::{ADDED, AcceleratorOperation};
use scalepool_coherence::content::{CacheLine, LINE_BYTES};
use scalepool_protocols::ualink::code::Status;

/// A request that is not answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct OpenRequest {
    /// Its entry.
    pub entry: u16,
    /// What it does.
    pub operation: AcceleratorOperation,
    /// Its line.
    pub line: u8,
    /// The number of the store, if it is one.
    pub value: u8,
    /// How many values word and rest had when it began.
    pub since: (usize, usize),
}

/// The values of a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LineHistory {
    words: Vec<u64>,
    rests: Vec<u8>,
    /// Values that an atomic has got.
    taken: Vec<u64>,
}

/// Word and rest of a line.
fn parts(line: &CacheLine) -> (u64, u8) {
    let word = line.bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    (word, line.bytes[LINE_BYTES - 1])
}

/// Adds a value that is new; an old one that is not the newest is told.
fn add<T: PartialEq + Copy + std::fmt::LowerHex>(values: &mut Vec<T>, value: T, what: &str) -> Option<String> {
    match values.iter().position(|known| *known == value) {
        None => values.push(value),
        Some(at) if at + 1 == values.len() => (),
        Some(_) => return Some(format!("{what} {value:#x}, an old value, over a newer one")),
    }
    None
}

impl LineHistory {
    /// All zeros.
    pub fn new() -> LineHistory {
        LineHistory { words: vec![0], rests: vec![0], taken: Vec::new() }
    }

    /// How many values word and rest have had before the newest one.
    pub fn now(&self) -> (usize, usize) {
        (self.words.len() - 1, self.rests.len() - 1)
    }

    /// The newest value.
    pub fn newest(&self) -> CacheLine {
        let (word, rest) = (self.words.last().copied().unwrap_or(0), self.rests.last().copied().unwrap_or(0));
        let mut bytes = [rest; LINE_BYTES];
        bytes[..8].copy_from_slice(&word.to_le_bytes());
        CacheLine::of(bytes)
    }

    /// A store is done that left the line so. What is wrong with it.
    pub fn placed(&mut self, line: &CacheLine) -> Option<String> {
        let (word, rest) = parts(line);
        add(&mut self.words, word, "the word").or(add(&mut self.rests, rest, "the rest"))
    }

    /// What is wrong with the answer to a request: rule, what was found, what was expected.
    pub fn judge(
        &mut self,
        open: &OpenRequest,
        status: Status,
        line: Option<&CacheLine>,
    ) -> Option<(&'static str, String, &'static str)> {
        if status != Status::OKAY {
            return Some(("BRG-ERR-20", format!("status {}", status.0), "OKAY: the device has the line"));
        }
        let at = |word: u64| self.words.iter().position(|known| *known == word);
        let stored = u64::from(open.value) * 0x0101_0101_0101_0101;
        match (open.operation, line.map(parts)) {
            (AcceleratorOperation::Read, Some((word, rest))) => {
                let is_word = at(word).is_some_and(|at| at >= open.since.0);
                let is_rest = self.rests.iter().position(|known| *known == rest).is_some_and(|at| at >= open.since.1);
                (!is_word || !is_rest).then(|| {
                    let found = format!("a read of {word:#x} and {rest:#x}");
                    ("COH-INV-02", found, "values that were the newest ones since it began")
                })
            }
            (AcceleratorOperation::Write | AcceleratorOperation::WriteWord, _) => at(stored)
                .is_none()
                .then(|| ("COH-INV-03", format!("a write of {stored:#x} answered and not done"), "its store")),
            (AcceleratorOperation::Add, Some((old, _))) => {
                let follows = at(old).is_some_and(|at| self.words.get(at + 1) == Some(&old.wrapping_add(ADDED)));
                if !follows || self.taken.contains(&old) {
                    let found = format!("an atomic that got {old:#x}");
                    return Some(("COH-INV-15", found, "the value in front of its result, which no other one got"));
                }
                self.taken.push(old);
                None
            }
            (_, None) => Some(("COH-INV-02", "an answer without data".to_owned(), "a line")),
        }
    }
}
