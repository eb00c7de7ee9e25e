//! Which value of a line is the newest one, and whether what a request got was.
//!
//! The history of a line is the list of its values in coherence order. A line has two parts that stores write apart, its first word and the
//! rest. No value comes twice, because each store has a number of its own and an atomic adds to one of them. A store may come next only as
//! what a request that is open makes of the newest value. Poison is part of a value: a store of the whole line takes it away or brings it,
//! one of a part leaves it, and an atomic leaves a poisoned line as it is and is answered with poison (`bridge` §4.4, §8.3).

use super::{ADDED, AcceleratorOperation};
use scalepool_coherence::content::{CacheLine, LINE_BYTES};
use scalepool_protocols::ualink::code::Status;

/// A request that is not answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct JudgedRequest {
    /// Its number, in the order in which requests have begun.
    pub number: u8,
    /// Its entry.
    pub entry: u16,
    /// What it does.
    pub operation: AcceleratorOperation,
    /// Its line.
    pub line: u8,
    /// The number of the store, if it is one.
    pub value: u8,
    /// How many values the line had had before the newest one when it began.
    pub since: usize,
}

/// A value of a line: its first word, and the byte that stands in all other places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LineValue {
    word: u64,
    rest: u8,
    poison: bool,
}

impl LineValue {
    fn line(self) -> CacheLine {
        let mut bytes = [self.rest; LINE_BYTES];
        bytes[..8].copy_from_slice(&self.word.to_le_bytes());
        CacheLine { poison: self.poison, ..CacheLine::of(bytes) }
    }
}

/// The word in which a store writes its number into each byte.
fn word_of(store: u8) -> u64 {
    u64::from_le_bytes([store; 8])
}

impl JudgedRequest {
    /// What it makes of a value, if it stores.
    fn result(&self, LineValue { word, rest, poison }: LineValue) -> Option<LineValue> {
        let (stored, is_poisoned) = (word_of(self.value), self.operation == AcceleratorOperation::WritePoison);
        match self.operation {
            AcceleratorOperation::Read => None,
            AcceleratorOperation::Write | AcceleratorOperation::WritePoison => {
                Some(LineValue { word: stored, rest: self.value, poison: is_poisoned })
            }
            AcceleratorOperation::WriteWord => Some(LineValue { word: stored, rest, poison }),
            AcceleratorOperation::Add if poison => None,
            AcceleratorOperation::Add => Some(LineValue { word: word.wrapping_add(ADDED), rest, poison }),
        }
    }
}

/// The values of a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LineHistory {
    values: Vec<LineValue>,
    /// Places of results of atomics that no answer has told.
    untold: Vec<usize>,
}

impl LineHistory {
    /// All zeros.
    pub fn new() -> LineHistory {
        LineHistory { values: vec![LineValue { word: 0, rest: 0, poison: false }], untold: Vec::new() }
    }

    /// How many values there have been before the newest one.
    pub fn now(&self) -> usize {
        self.values.len() - 1
    }

    fn last(&self) -> LineValue {
        self.values[self.now()]
    }

    /// The newest value.
    pub fn newest(&self) -> CacheLine {
        self.last().line()
    }

    /// The host stores to the whole line.
    pub fn host_stores(&mut self, store: u8) {
        self.values.push(LineValue { word: word_of(store), rest: store, poison: false });
    }

    /// A place in which the newest value is has this content now: the same, or what one of the open requests has made of it. What is wrong.
    pub fn placed<'a>(
        &mut self,
        line: &CacheLine,
        mut open: impl Iterator<Item = &'a JudgedRequest>,
    ) -> Option<String> {
        if *line == self.newest() {
            return None;
        }
        let last = self.last();
        let result = |request: &'a JudgedRequest| Some((request, request.result(last).filter(|v| v.line() == *line)?));
        let Some((request, value)) = open.find_map(result).filter(|(_, value)| !self.values.contains(value)) else {
            return Some(line.to_string());
        };
        self.values.push(value);
        if request.operation == AcceleratorOperation::Add {
            self.untold.push(self.now());
        }
        None
    }

    /// Results of atomics that no answer has told.
    pub fn untold(&self) -> usize {
        self.untold.len()
    }

    /// What is wrong with the answer to a request: rule, what was found, what was expected.
    pub fn judge(
        &mut self,
        open: &JudgedRequest,
        status: Status,
        line: Option<&CacheLine>,
    ) -> Option<(&'static str, String, &'static str)> {
        if status != Status::OKAY {
            return Some((
                "BRG-ERR-20",
                format!("status {}", status.name().unwrap_or("?")),
                "OKAY: the device has the line",
            ));
        }
        let Some(line) = line else { return Some(("COH-INV-02", "an answer without data".to_owned(), "a line")) };
        match open.operation {
            AcceleratorOperation::Read => {
                let is_one = self.values[open.since..].iter().any(|value| value.line() == *line);
                (!is_one).then(|| {
                    ("COH-INV-02", format!("a read of {line}"), "a value that was the newest one since it began")
                })
            }
            AcceleratorOperation::Write | AcceleratorOperation::WritePoison | AcceleratorOperation::WriteWord => {
                let is_done = self.values.iter().any(|value| value.word == word_of(open.value));
                (!is_done).then(|| {
                    ("COH-INV-03", format!("store {} answered and not done", open.value), "its value in the line")
                })
            }
            // Nothing was added to a line that was poisoned since it began.
            AcceleratorOperation::Add if line.poison => {
                let is_one = self.values[open.since..].iter().any(|value| value.poison);
                (!is_one)
                    .then(|| ("BRG-ATM-06", format!("an atomic that got {line}"), "poison of a poisoned line alone"))
            }
            AcceleratorOperation::Add => {
                let old = line.bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
                let told = self.untold.iter().position(|at| self.values[at - 1].word == old);
                match told {
                    Some(at) => drop(self.untold.remove(at)),
                    None => {
                        let found = format!("an atomic that got {old:#x}");
                        return Some(("COH-INV-15", found, "the value in front of its result, which no other one got"));
                    }
                }
                None
            }
        }
    }
}
