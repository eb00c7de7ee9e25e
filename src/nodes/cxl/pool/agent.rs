//! What a pool of memories does, without time: requests become requests of memories, their answers one answer; memories come and go
//! (MEM-MIR-01 to 05, MEM-RMV-01 to 04).
//!
//! Modelled: ranges in one memory or mirrored in several. A write of a mirrored range goes to every copy and is answered when all have
//! answered; a read goes to the copy of the lowest number alone, and to the next one if that is lost meanwhile or answers with poison. A
//! request waits while a write of its line is open, and a write while any is, so what a read has seen is in every copy. A removal is managed:
//! no new request goes to the memory, and it leaves behind the last open one; or it is a surprise, and what is open there is asked of
//! another copy, or answered as unmapped. What has no memory is answered as unmapped: data of all ones without memory, and a write is
//! completed, for which CXL.mem has no other word. Left out: what CXL.mem says of memory with other holders (HDM-DB), copies that are
//! filled again. Hints are dropped.
//!
//! A walk through a loss: a write is open at memories 0 and 1, a read at 0; memory 0 is lost. The read is asked of 1 and answered by it;
//! the write is answered when 1 has; answers of 0 that come late are dropped, and the tags of both are free when these have come.

use super::ranges::{MemorySet, PoolRange};
use super::watch::{PoolEvent, PoolFinding, PoolWatch};
use scalepool_memory::{ALL_BYTES, LINE_BYTES};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, M2sRwdOpcode, NdrOpcode};
use scalepool_protocols::cxl::message::{Data, Message, S2mDrs, S2mNdr};

/// What a pool counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolCounts {
    /// Requests that were taken.
    pub requests: u64,
    /// Writes that went to more than one copy.
    pub mirrored_writes: u64,
    /// Reads that were asked of a further copy.
    pub further_reads: u64,
    /// Copies of mirrored ranges that are out.
    pub copies_lost: u64,
    /// Requests that were answered as unmapped.
    pub unmapped: u64,
    /// Answers of memories that came when nobody waited any more.
    pub late: u64,
    /// Memories that have left.
    pub removed: u64,
    /// Memories that have come.
    pub inserted: u64,
    /// Commands that could not be done and changed nothing.
    pub refused: u64,
}

/// How a memory leaves, in the words of a switch (`fabric` BND-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalOption {
    /// Behind the last open request.
    Managed,
    /// At once.
    Surprise,
}

/// What happens to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolCommand {
    /// It is taken out.
    Remove(usize, RemovalOption),
    /// It is plugged in.
    Insert(usize),
}

/// Where a memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Present,
    /// It leaves behind the last open request.
    Leaving,
    Absent,
    /// It comes behind the last answer to an earlier request.
    Coming,
}

/// A request without an answer, or whose late answers have not come.
#[derive(Debug, Clone)]
struct PoolRequest {
    port: usize,
    request: Message,
    /// Place of its range.
    range: usize,
    /// Address in the memories.
    address: u64,
    is_read: bool,
    /// Memories that were asked.
    asked: MemorySet,
    /// Memories whose answers it waits for.
    awaited: MemorySet,
    /// Memories whose answers have not come, those included for which it does not wait.
    due: MemorySet,
    /// Address in the pool of its line, if it is for any.
    line: Option<u64>,
    /// An answer that has come: of a write while others are due, of a read one with poison while another copy is asked.
    kept: Option<Message>,
    is_answered: bool,
}

/// What is to be sent.
#[derive(Debug, Default)]
pub struct PoolOutput {
    /// Requests, each to a memory and of a request here.
    pub down: Vec<(usize, usize, Message)>,
    /// Answers, each to a port and of a request here.
    pub up: Vec<(usize, usize, Message)>,
    /// Writes that were completed and reached no memory.
    pub dropped: Vec<Message>,
    /// Rules that were broken.
    pub findings: Vec<PoolFinding>,
}

/// A pool.
pub struct PoolAgent {
    ranges: Vec<PoolRange>,
    /// By range: copies that are out.
    out: Vec<MemorySet>,
    memories: Vec<Presence>,
    open: Vec<Option<PoolRequest>>,
    free: Vec<usize>,
    /// By line: requests that are open, and whether one is a write.
    lines: OrderedMap<u64, (usize, bool)>,
    watch: PoolWatch,
    /// What it has counted.
    pub counts: PoolCounts,
}

fn address_of(message: &Message) -> Option<u64> {
    match message {
        Message::M2sReq(header) => Some(header.address),
        Message::M2sRwd(header, _) => Some(header.address),
        _ => None,
    }
}

/// Whether data answers a request.
fn is_read(message: &Message) -> bool {
    match message {
        Message::M2sReq(header) => matches!(header.opcode, M2sReqOpcode::MemRd | M2sReqOpcode::MemRdData),
        Message::M2sRwd(header, _) => header.opcode == M2sRwdOpcode::MemRdFill,
        _ => false,
    }
}

/// Bytes that a request writes.
fn written(message: &Message) -> Option<(Data, bool)> {
    match message {
        Message::M2sRwd(header, data) if header.opcode != M2sRwdOpcode::MemRdFill => Some((*data, header.poison)),
        _ => None,
    }
}

/// The request with another tag, at another address.
fn moved_to(message: &Message, new_tag: u16, new_address: u64) -> Message {
    let mut moved = *message;
    match &mut moved {
        Message::M2sReq(header) => (header.tag, header.address, header.ld_id) = (new_tag, new_address, 0),
        Message::M2sRwd(header, _) => (header.tag, header.address, header.ld_id) = (new_tag, new_address, 0),
        _ => (),
    }
    moved
}

/// The tag of a request or of an answer.
fn tag_of(message: &Message) -> u16 {
    match message {
        Message::M2sReq(header) => header.tag,
        Message::M2sRwd(header, _) => header.tag,
        Message::S2mNdr(header) => header.tag,
        Message::S2mDrs(header, _) => header.tag,
        _ => 0,
    }
}

/// The answer with the tag of its request.
fn answer_to(request: &Message, answer: &Message) -> Message {
    let mut named = *answer;
    match &mut named {
        Message::S2mNdr(header) => header.tag = tag_of(request),
        Message::S2mDrs(header, _) => header.tag = tag_of(request),
        _ => (),
    }
    named
}

/// What answers a request for which there is no memory.
fn unmapped(request: &Message) -> Message {
    let tag = tag_of(request);
    match is_read(request) {
        true => Message::S2mDrs(
            S2mDrs { opcode: DrsOpcode::MemDataNXM, tag, ..S2mDrs::default() },
            Data::line([0xff; LINE_BYTES as usize]),
        ),
        false => Message::S2mNdr(S2mNdr { opcode: NdrOpcode::Cmp, tag, ..S2mNdr::default() }),
    }
}

impl PoolAgent {
    /// A pool of so many memories with these ranges and at most so many open requests; `absent` have not come yet.
    pub fn new(ranges: Vec<PoolRange>, memories: usize, absent: MemorySet, entries: usize) -> PoolAgent {
        let presence = |memory| if absent.has(memory) { Presence::Absent } else { Presence::Present };
        PoolAgent {
            out: ranges.iter().map(|range| if range.is_mirrored() { absent } else { MemorySet::default() }).collect(),
            watch: PoolWatch::new(ranges.clone(), (0..memories).filter(|memory| !absent.has(*memory)).collect()),
            ranges,
            memories: (0..memories).map(presence).collect(),
            open: vec![None; entries],
            free: (0..entries).rev().collect(),
            lines: OrderedMap::new(),
            counts: PoolCounts::default(),
        }
    }

    fn see(&mut self, event: PoolEvent, out: &mut PoolOutput) {
        out.findings.extend(self.watch.see(event));
    }

    fn present(&self) -> MemorySet {
        (0..self.memories.len()).filter(|memory| self.memories[*memory] == Presence::Present).collect()
    }

    /// Copies of a range that may be asked.
    fn copies(&self, range: usize) -> MemorySet {
        self.ranges[range].memories.and(self.present()).without(self.out[range])
    }

    /// Requests that are open, or whose late answers have not come.
    pub fn open(&self) -> usize {
        self.open.len() - self.free.len()
    }

    /// Whether a memory leaves or comes when something has ended.
    pub fn is_changing(&self) -> bool {
        self.memories.iter().any(|memory| matches!(memory, Presence::Leaving | Presence::Coming))
    }

    /// Whether a request can be taken: there is room for it, and none of its line is in front.
    pub fn accepts(&self, address: Option<u64>, request: &Message) -> bool {
        let line = address.and_then(|address| self.lines.get(&(address / LINE_BYTES)));
        !self.free.is_empty() && line.is_none_or(|(_, is_write)| !is_write && is_read(request))
    }

    /// Takes a request for an address of the pool, `None`: for none of it. Returns its number; `None`: it needs no answer.
    pub fn take(
        &mut self,
        port: usize,
        address: Option<u64>,
        request: &Message,
        out: &mut PoolOutput,
    ) -> Option<usize> {
        if matches!(request, Message::M2sReq(header) if header.opcode == M2sReqOpcode::MemSpecRd) {
            return None;
        }
        address_of(request)?;
        let id = self.free.pop()?;
        self.counts.requests += 1;
        let range = address.and_then(|address| {
            let range = self.ranges.iter().position(|range| range.has(address))?;
            Some((range, address - self.ranges[range].base + self.ranges[range].to))
        });
        let is_read = is_read(request);
        self.see(
            PoolEvent::Taken { id, range: range.map(|(range, _)| range), is_read, written: written(request) },
            out,
        );
        let open = PoolRequest {
            port,
            request: *request,
            range: range.map_or(0, |(range, _)| range),
            address: range.map_or(0, |(_, address)| address),
            is_read,
            asked: MemorySet::default(),
            awaited: MemorySet::default(),
            due: MemorySet::default(),
            line: address.map(|address| address / LINE_BYTES),
            kept: None,
            is_answered: false,
        };
        if let Some(line) = open.line {
            let (count, is_write) = self.lines.entry(line).or_default();
            (*count, *is_write) = (*count + 1, !is_read);
        }
        self.open[id] = Some(open);
        let copies = range.map_or(MemorySet::default(), |(range, _)| self.copies(range));
        let asked = match (is_read, copies.first()) {
            (true, Some(first)) => MemorySet::one(first),
            _ => copies,
        };
        self.counts.mirrored_writes += u64::from(asked.all().count() > 1);
        self.ask(id, asked, out);
        self.settle(id, out);
        Some(id)
    }

    fn ask(&mut self, id: usize, memories: MemorySet, out: &mut PoolOutput) {
        for memory in memories.all() {
            let Some(open) = self.open[id].as_mut() else { return };
            [&mut open.asked, &mut open.awaited, &mut open.due].into_iter().for_each(|set| set.insert(memory));
            let message = moved_to(&open.request, id as u16, open.address);
            let event = PoolEvent::Asked { id, memory, written: written(&message) };
            out.down.push((memory, id, message));
            self.see(event, out);
        }
    }

    /// A memory answers.
    pub fn answered(&mut self, memory: usize, answer: &Message, out: &mut PoolOutput) {
        let id = usize::from(tag_of(answer));
        let Some(open) = self.open.get_mut(id).and_then(Option::as_mut).filter(|open| open.due.has(memory)) else {
            out.findings.push(PoolFinding {
                rule: "MEM-RMV-03",
                found: format!("an answer of memory {memory} with tag {id:#x}"),
                expected: "an answer to a request that it has",
            });
            return;
        };
        open.due.remove(memory);
        if !open.awaited.remove(memory) {
            self.counts.late += 1;
            return self.settle_all(id, out);
        }
        open.kept = Some(*answer);
        let (is_read, data) = (open.is_read, answered_data(answer));
        self.see(PoolEvent::Came { id, memory, data }, out);
        if is_read && data.is_some_and(|(_, poison)| !poison) {
            self.reply(id, answer, out);
        }
        self.settle_all(id, out);
    }

    fn reply(&mut self, id: usize, answer: &Message, out: &mut PoolOutput) {
        let Some(open) = self.open[id].as_mut().filter(|open| !open.is_answered) else { return };
        open.is_answered = true;
        let (port, line) = (open.port, open.line);
        let answer = answer_to(&open.request, answer);
        if let Some((count, _)) = line.and_then(|line| self.lines.get_mut(&line)) {
            *count -= 1;
        }
        if let Some(line) = line.filter(|line| self.lines.get(line).is_some_and(|(count, _)| *count == 0)) {
            self.lines.remove(&line);
        }
        out.up.push((port, id, answer));
        self.see(PoolEvent::Answered { id, data: answered_data(&answer) }, out);
    }

    /// What follows for a request when it waits for nobody.
    fn settle(&mut self, id: usize, out: &mut PoolOutput) {
        let Some(open) = self.open[id].as_ref() else { return };
        if !open.is_answered && open.awaited.is_empty() {
            let further = if open.is_read { self.copies(open.range).without(open.asked).first() } else { None };
            // What is in no range was asked of nobody, and has no copies.
            match further.filter(|_| !open.asked.is_empty()) {
                Some(further) => {
                    self.counts.further_reads += 1;
                    self.ask(id, MemorySet::one(further), out);
                }
                None => {
                    let (request, kept, is_read) = (open.request, open.kept, open.is_read);
                    if kept.is_none() {
                        self.counts.unmapped += 1;
                        out.dropped.extend((!is_read).then_some(request));
                    }
                    self.reply(id, &kept.unwrap_or_else(|| unmapped(&request)), out);
                }
            }
        }
        if self.open[id].as_ref().is_some_and(|open| open.is_answered && open.due.is_empty()) {
            self.open[id] = None;
            self.free.push(id);
        }
    }

    /// The same, and what memories that leave or come wait for.
    fn settle_all(&mut self, id: usize, out: &mut PoolOutput) {
        self.settle(id, out);
        self.change(out);
    }

    /// Memories leave behind their last open request, and come behind the last late answer.
    fn change(&mut self, out: &mut PoolOutput) {
        for memory in 0..self.memories.len() {
            let is_in =
                |set: fn(&PoolRequest) -> MemorySet| self.open.iter().flatten().any(|open| set(open).has(memory));
            match self.memories[memory] {
                Presence::Leaving if !is_in(|open| open.awaited) => {
                    self.memories[memory] = Presence::Absent;
                    self.counts.removed += 1;
                    self.see(PoolEvent::Left { memory, option: RemovalOption::Managed }, out);
                }
                Presence::Coming if !is_in(|open| open.due) => {
                    self.memories[memory] = Presence::Present;
                    self.counts.inserted += 1;
                    self.see(PoolEvent::Returned { memory }, out);
                }
                _ => (),
            }
        }
    }

    /// Something happens to a memory; what cannot be done changes nothing.
    pub fn command(&mut self, command: PoolCommand, out: &mut PoolOutput) {
        match command {
            PoolCommand::Insert(memory) if self.memories[memory] == Presence::Absent => {
                self.memories[memory] = Presence::Coming;
            }
            PoolCommand::Remove(memory, option) if self.memories[memory] == Presence::Present => {
                self.leaves(memory, option, out);
            }
            // What is about to leave in order can still be lost.
            PoolCommand::Remove(memory, RemovalOption::Surprise) if self.memories[memory] == Presence::Leaving => {
                self.leaves(memory, RemovalOption::Surprise, out);
            }
            refused => {
                self.counts.refused += 1;
                let (PoolCommand::Insert(memory) | PoolCommand::Remove(memory, _)) = refused;
                let state = self.memories[memory];
                out.findings.push(PoolFinding {
                    rule: "MEM-RMV-04",
                    found: format!("{refused:?} of a memory that is {state:?}"),
                    expected: "a removal of one that is there, or an insertion of one that is not",
                });
            }
        }
        self.change(out);
    }

    fn leaves(&mut self, memory: usize, option: RemovalOption, out: &mut PoolOutput) {
        for (range, out_of_range) in self.ranges.iter().zip(&mut self.out) {
            if range.is_mirrored() && range.memories.has(memory) && !out_of_range.has(memory) {
                out_of_range.insert(memory);
                self.counts.copies_lost += 1;
            }
        }
        if option == RemovalOption::Managed {
            self.memories[memory] = Presence::Leaving;
            self.see(PoolEvent::Leaves { memory }, out);
            return;
        }
        self.memories[memory] = Presence::Absent;
        self.counts.removed += 1;
        self.see(PoolEvent::Left { memory, option }, out);
        for id in 0..self.open.len() {
            if self.open[id].as_mut().is_some_and(|open| open.awaited.remove(memory)) {
                self.settle(id, out);
            }
        }
    }
}

/// Data of an answer, with its poison; what is nowhere has none.
fn answered_data(answer: &Message) -> Option<(Data, bool)> {
    match answer {
        Message::S2mDrs(header, data) if header.opcode != DrsOpcode::MemDataNXM => {
            Some((Data { byte_enables: Some(ALL_BYTES), ..*data }, header.poison))
        }
        _ => None,
    }
}
