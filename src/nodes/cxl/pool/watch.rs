//! Checks of a pool of memories, from what is seen of it: rules MEM-MIR-01 to 05 and MEM-RMV-01 to 03.
//!
//! Modelled: requests, what memories are asked and answer, and memories that come and go, told one by one; the watch keeps its own account
//! of the copies that count and knows nothing of the tables of the pool. Left out: times.
//!
//! A walk through a mirrored write: it is taken for range 0; memories 0 and 1 are asked with its bytes; both answer; then it is answered.
//! If memory 0 is lost in between, the answer of memory 1 is enough.

use super::agent::RemovalOption;
use super::ranges::{MemorySet, PoolRange};
use scalepool_memory::ALL_BYTES;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::message::Data;

/// A line with its poison.
pub type PoolLine = (Data, bool);

/// Something that a watch is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PoolEvent {
    /// A request is taken.
    Taken {
        /// Its number, which is free when it was answered and nothing of it is due.
        id: usize,
        /// Its range; `None`: there is none.
        range: Option<usize>,
        /// Data answers it.
        is_read: bool,
        /// What it writes.
        written: Option<PoolLine>,
    },
    /// A memory is asked.
    Asked {
        /// The request.
        id: usize,
        /// The memory.
        memory: usize,
        /// What is written there.
        written: Option<PoolLine>,
    },
    /// A memory has answered; not of one that was lost meanwhile.
    Came {
        /// The request.
        id: usize,
        /// The memory.
        memory: usize,
        /// What was read.
        data: Option<PoolLine>,
    },
    /// The request is answered.
    Answered {
        /// The request.
        id: usize,
        /// What was read.
        data: Option<PoolLine>,
    },
    /// A memory begins to leave.
    Leaves {
        /// The memory.
        memory: usize,
    },
    /// A memory is gone.
    Left {
        /// The memory.
        memory: usize,
        /// How.
        option: RemovalOption,
    },
    /// A memory is there again.
    Returned {
        /// The memory.
        memory: usize,
    },
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolFinding {
    /// The rule.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

#[derive(Debug, Clone)]
struct WatchedRequest {
    range: Option<usize>,
    is_read: bool,
    written: Option<PoolLine>,
    /// Copies that a write has to reach: those that counted when it was taken, without those that were lost since.
    owed: MemorySet,
    /// Memories that were asked.
    asked: MemorySet,
    /// Those of them that have not answered and are not lost.
    open: MemorySet,
    /// What came of a read, the last one.
    came: Option<(usize, Option<PoolLine>)>,
    is_answered: bool,
}

/// The checks of a pool.
#[derive(Debug)]
pub struct PoolWatch {
    ranges: Vec<PoolRange>,
    /// Memories that may be asked.
    there: MemorySet,
    /// By range: copies that have missed a write, or may have.
    behind: Vec<MemorySet>,
    requests: OrderedMap<usize, WatchedRequest>,
}

/// Bytes that a line says, where all that is not said stays.
fn bytes_of((data, poison): PoolLine) -> ([u8; 64], u64, bool) {
    (data.line, data.byte_enables.unwrap_or(ALL_BYTES), poison)
}

fn is_same(a: Option<PoolLine>, b: Option<PoolLine>) -> bool {
    a.map(bytes_of) == b.map(bytes_of)
}

fn finding(rule: &'static str, found: String, expected: &'static str) -> Option<PoolFinding> {
    Some(PoolFinding { rule, found, expected })
}

impl PoolWatch {
    /// Of these ranges; `there` are the memories that are there first.
    pub fn new(ranges: Vec<PoolRange>, there: MemorySet) -> PoolWatch {
        let behind =
            |range: &PoolRange| if range.is_mirrored() { range.memories.without(there) } else { MemorySet::default() };
        PoolWatch { behind: ranges.iter().map(behind).collect(), ranges, there, requests: OrderedMap::new() }
    }

    /// Copies of a range that count.
    fn copies(&self, range: Option<usize>) -> MemorySet {
        range.map_or(MemorySet::default(), |range| {
            self.ranges[range].memories.and(self.there).without(self.behind[range])
        })
    }

    /// Something has happened: the rule that it breaks.
    pub fn see(&mut self, event: PoolEvent) -> Option<PoolFinding> {
        match event {
            PoolEvent::Taken { id, range, is_read, written } => {
                let owed = if is_read { MemorySet::default() } else { self.copies(range) };
                let (asked, open) = (MemorySet::default(), MemorySet::default());
                let request =
                    WatchedRequest { range, is_read, written, owed, asked, open, came: None, is_answered: false };
                let before = self.requests.insert(id, request);
                if before.is_some_and(|before| !before.is_answered) {
                    return finding("MEM-RMV-03", format!("request {id} taken again"), "one answer to each request");
                }
                None
            }
            PoolEvent::Asked { id, memory, written } => self.asked(id, memory, written),
            PoolEvent::Came { id, memory, data } => {
                let request = self.requests.get_mut(&id)?;
                request.open.remove(memory);
                request.owed.remove(memory);
                request.came = Some((memory, data));
                None
            }
            PoolEvent::Answered { id, data } => self.answered(id, data),
            PoolEvent::Leaves { memory } => {
                self.goes(memory);
                None
            }
            PoolEvent::Left { memory, option } => {
                self.goes(memory);
                let open = self.requests.iter().find(|(_, request)| request.open.has(memory)).map(|(id, _)| *id);
                self.requests.values_mut().for_each(|request| {
                    request.open.remove(memory);
                    request.owed.remove(memory);
                });
                let id = open.filter(|_| option == RemovalOption::Managed)?;
                finding(
                    "MEM-RMV-02",
                    format!("memory {memory} leaves with request {id} open"),
                    "a managed removal behind the last answer",
                )
            }
            PoolEvent::Returned { memory } => {
                self.there.insert(memory);
                None
            }
        }
    }

    /// A memory takes no new requests; its copies of mirrored ranges miss what is written from here on.
    fn goes(&mut self, memory: usize) {
        self.there.remove(memory);
        for (range, behind) in self.ranges.iter().zip(&mut self.behind) {
            if range.is_mirrored() && range.memories.has(memory) {
                behind.insert(memory);
            }
        }
    }

    fn asked(&mut self, id: usize, memory: usize, written: Option<PoolLine>) -> Option<PoolFinding> {
        let request = self.requests.get(&id)?.clone();
        let copies = self.copies(request.range);
        let is_behind = request.range.is_some_and(|range| self.behind[range].has(memory));
        let is_there = self.there.has(memory);
        let mine = self.requests.get_mut(&id)?;
        mine.asked.insert(memory);
        mine.open.insert(memory);
        let found = format!("request {id} asked of memory {memory}");
        if !is_there {
            return finding("MEM-RMV-01", found, "requests to memories that are there");
        }
        if is_behind && request.is_read {
            return finding(
                "MEM-MIR-05",
                found,
                "reads of a copy that has missed no write: one that returned stays out",
            );
        }
        if request.is_read && (!copies.has(memory) || request.asked.has(memory) || !request.open.is_empty()) {
            return finding("MEM-MIR-03", found, "a read of one copy of its range at a time, each once");
        }
        if !request.is_read && (!copies.has(memory) || request.asked.has(memory) || !is_same(written, request.written))
        {
            return finding("MEM-MIR-01", found, "a write with its bytes to each copy of its range once");
        }
        None
    }

    fn answered(&mut self, id: usize, data: Option<PoolLine>) -> Option<PoolFinding> {
        let copies = self.copies(self.requests.get(&id)?.range);
        let request = self.requests.get_mut(&id)?;
        let was_answered = std::mem::replace(&mut request.is_answered, true);
        if was_answered {
            return finding("MEM-RMV-03", format!("request {id} answered again"), "one answer to each request");
        }
        if !request.is_read {
            if !request.owed.without(request.asked).is_empty() {
                let found = format!("write {id} answered, asked of {:?}", request.asked);
                return finding("MEM-MIR-01", found, "a write to each copy of its range");
            }
            if !request.open.is_empty() {
                let found = format!("write {id} answered with {:?} open", request.open);
                return finding("MEM-MIR-02", found, "an answer behind those of all copies that are there");
            }
            return None;
        }
        // A copy that has not been asked could still answer, or one could without poison.
        let is_poor = data.is_none_or(|(_, poison)| poison);
        if is_poor && !copies.without(request.asked).is_empty() {
            let found = format!("read {id} answered without the bytes that {copies:?} can hold");
            return finding("MEM-MIR-04", found, "every copy asked before a read ends without good bytes");
        }
        let came = request.came.and_then(|(_, came)| came);
        if !is_same(data, came) {
            let found = format!("read {id} answered with other bytes than came");
            return finding("MEM-MIR-04", found, "the bytes of a copy that counts");
        }
        None
    }
}
