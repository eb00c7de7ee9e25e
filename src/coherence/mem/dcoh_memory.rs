//! Where a DCOH keeps its lines: in a memory of its own, which reads and writes in the step that asks, or in one behind a port,
//! which answers later.
//!
//! Modelled: of a memory behind a port the lines in hand, and one job a line: it is fetched, or what was written is stored. A
//! write of a part waits for its line. Writes that come while a line is being stored are stored behind it. Detail: messages of
//! CXL.mem without coherence; the two bits of a line that the device keeps for its hosts stay at the DCOH. A memory that others
//! give away, as a bridge does with that of its accelerators, is passed on to: each read of a host is one there, and a write of a
//! part is one of a part. Left out: fetching beside back-invalidate snoops.
//!
//! A walk: MemRd of a host needs a line that is not in hand. [`DcohMemory::fetch`] sends MemRd; the data makes the line one in
//! hand ([`DcohMemory::fetched`]), the host is answered, and the line is released. MemWr of a host puts its bytes in hand and
//! they go on as MemWr ([`DcohMemory::settle`]); its Cmp comes back as that of the host ([`DcohMemory::stored`]).

use crate::agent::{AgentOutput, AgentPort};
use crate::cache::backing::{Backing, LinesInHand, read_of, write_of, write_part_of};
use crate::content::{LineAddr, LineContent};
use crate::names;
use scalepool_protocols::cxl::cxl256::code::MetaValue;
use std::collections::BTreeMap;

/// A line of device memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct DeviceMemoryLine<D> {
    data: D,
    meta: MetaValue,
}

/// A write of a part that waits for its line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WaitingPart<D> {
    pub data: D,
    pub enables: u64,
    /// It is a new value of the line, not one that its writer had made its own before.
    pub is_new: bool,
}

/// A line that has come.
pub(super) struct FetchedLine {
    pub line: LineAddr,
    /// A part that waited for it has made a new value.
    pub is_written: bool,
    /// Host and tag of writes that end when the line is stored.
    pub answers: Vec<(AgentPort, u16)>,
}

/// What is under way to the memory for a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Job<D> {
    line: LineAddr,
    /// `None`: it waits for a tag, and its message has not been sent.
    tag: Option<u16>,
    /// The line was asked for; otherwise its bytes are on their way.
    is_fetch: bool,
    /// Parts that wait for the line that was asked for, or that are stored as such, the first one on its way.
    parts: Vec<WaitingPart<D>>,
    /// Host and tag of writes that end when the line is stored.
    answers: Vec<(AgentPort, u16)>,
}

/// A memory behind a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Behind<D> {
    port: AgentPort,
    /// Nothing is kept in hand for a later read, and parts are stored as such.
    passes_on: bool,
    /// A line in hand counts as stored when its last write has been sent.
    hand: LinesInHand<D>,
    /// At most one of a line, sorted.
    jobs: Vec<Job<D>>,
}

/// The memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DcohMemory<D> {
    stored: BTreeMap<LineAddr, DeviceMemoryLine<D>>,
    behind: Option<Behind<D>>,
}

/// Most messages under way: as many as a tag names. Half of them are kept for writes, which hosts need not wait with.
const TAGS: usize = 1 << 16;

impl<D: LineContent> DcohMemory<D> {
    /// A memory of its own that nobody has written.
    pub fn own() -> Self {
        Self { stored: BTreeMap::new(), behind: None }
    }

    /// One behind this port.
    pub fn behind(port: AgentPort) -> Self {
        let behind = Behind { port, passes_on: false, hand: LinesInHand::of(port), jobs: Vec::new() };
        Self { stored: BTreeMap::new(), behind: Some(behind) }
    }

    /// One behind this port to which every access of a host is passed on.
    pub fn passing_on(port: AgentPort) -> Self {
        let mut memory = Self::behind(port);
        memory.behind.iter_mut().for_each(|behind| behind.passes_on = true);
        memory
    }

    /// Whether every access of a host is passed on to it.
    pub fn passes_on(&self) -> bool {
        self.behind.as_ref().is_some_and(|behind| behind.passes_on)
    }

    /// Whether a part of a line that is written now goes on as such: the line is not in hand, or other parts of it are on their way.
    pub fn passes_part(&self, line: LineAddr) -> bool {
        let has_parts = || self.jobs().any(|job| job.line == line && !job.parts.is_empty());
        self.passes_on() && (!self.has(line) || has_parts())
    }

    /// Whether it is behind a port.
    pub fn is_behind(&self) -> bool {
        self.behind.is_some()
    }

    /// The value of a line; of a memory behind a port, of one in hand.
    pub fn value(&self, line: LineAddr) -> D {
        match &self.behind {
            None => self.stored.get(&line).map_or_else(|| D::initial(line), |s| s.data.clone()),
            Some(behind) => behind.hand.read(line),
        }
    }

    /// The value of a line in hand that has not been sent to be stored, and parts that wait for theirs.
    pub fn unsent(&self, line: LineAddr) -> impl Iterator<Item = &D> {
        let hand = self.behind.iter().filter_map(move |b| b.hand.unstored(line));
        let jobs = self.behind.iter().flat_map(|b| &b.jobs).filter(move |job| job.line == line);
        hand.chain(jobs.flat_map(|job| job.parts.iter().map(|part| &part.data)))
    }

    /// Whether a line can be read, and a part of it written, now.
    pub fn has(&self, line: LineAddr) -> bool {
        self.behind.as_ref().is_none_or(|behind| behind.hand.has(line))
    }

    /// Whether something is under way for a line.
    pub fn is_busy(&self, line: LineAddr) -> bool {
        self.jobs().any(|job| job.line == line)
    }

    /// Whether nothing more may be asked for now.
    pub fn is_full(&self) -> bool {
        self.behind.as_ref().is_some_and(|behind| behind.jobs.len() >= TAGS / 2)
    }

    /// Whether the bytes of a line are not known until something under way has ended: it was asked for, or a part of it is being
    /// stored.
    pub fn is_fetching(&self, line: LineAddr) -> bool {
        self.jobs().any(|job| job.line == line && (job.is_fetch || !job.parts.is_empty()))
    }

    /// The line that was asked for under this tag.
    pub fn fetching(&self, tag: u16) -> Option<LineAddr> {
        self.jobs().find(|job| job.is_fetch && job.tag == Some(tag)).map(|job| job.line)
    }

    /// Lines for which something is under way.
    pub fn busy_lines(&self) -> impl Iterator<Item = LineAddr> {
        self.jobs().map(|job| job.line)
    }

    /// Nothing under way.
    pub fn is_idle(&self) -> bool {
        self.jobs().next().is_none()
    }

    fn jobs(&self) -> impl Iterator<Item = &Job<D>> {
        self.behind.iter().flat_map(|behind| &behind.jobs)
    }

    fn entry(&mut self, line: LineAddr) -> &mut DeviceMemoryLine<D> {
        self.stored.entry(line).or_insert_with(|| DeviceMemoryLine { data: D::initial(line), meta: MetaValue::Invalid })
    }

    /// Writes the enabled bytes; of a part only where [`DcohMemory::has`] holds.
    pub fn write(&mut self, line: LineAddr, data: &D, enables: u64) {
        match &mut self.behind {
            None => self.entry(line).data.merge(data, enables),
            Some(behind) => behind.hand.write(line, data, enables),
        }
    }

    /// The value with which a run starts, of a memory of its own.
    pub fn preset(&mut self, line: LineAddr, data: D) {
        if self.behind.is_none() {
            self.stored.insert(line, DeviceMemoryLine { data, meta: MetaValue::Invalid });
        }
    }

    /// The two bits that the device keeps for its hosts.
    pub fn meta(&self, line: LineAddr) -> MetaValue {
        self.stored.get(&line).map_or(MetaValue::Invalid, |s| s.meta)
    }

    /// Keeps them.
    pub fn set_meta(&mut self, line: LineAddr, meta: MetaValue) {
        self.entry(line).meta = meta;
    }

    /// Asks for a line that is not in hand.
    pub fn fetch(&mut self, line: LineAddr, out: &mut AgentOutput<D>) {
        if let Some(behind) = &mut self.behind {
            behind.begin(line, true, out);
        }
    }

    /// A write of a part of a line that is not in hand: the line is fetched first, unless parts are passed on.
    pub fn take_part(&mut self, line: LineAddr, part: WaitingPart<D>, out: &mut AgentOutput<D>) {
        if let Some(behind) = self.behind.as_mut().filter(|behind| behind.passes_on) {
            return behind.pass_on(line, part, out);
        }
        self.fetch(line, out);
        let jobs = self.behind.iter_mut().flat_map(|behind| &mut behind.jobs);
        jobs.filter(|job| job.line == line).for_each(|job| job.parts.push(part.clone()));
    }

    /// What was written to a line goes to the memory, unless a job is under way; a line without a job is released, if nobody
    /// keeps it.
    pub fn settle(&mut self, line: LineAddr, is_kept: bool, out: &mut AgentOutput<D>) {
        let Some(behind) = &mut self.behind else { return };
        if !behind.hand.is_stored(line) {
            behind.begin(line, false, out);
        } else if !is_kept && behind.place(line).is_err() {
            behind.hand.released(line);
        }
    }

    /// The write of a host ends when the line is stored. `false`: its job is over, the host may be answered.
    pub fn ends_when_stored(&mut self, line: LineAddr, host: AgentPort, tag: u16) -> bool {
        let Some(behind) = &mut self.behind else { return false };
        match behind.place(line) {
            Ok(at) => {
                behind.jobs[at].answers.push((host, tag));
                scalepool_ordered::sort(&mut behind.jobs[at].answers);
                true
            }
            Err(_) => false,
        }
    }

    /// A line has come: it is in hand, with the parts that waited for it; `None`: nobody has asked. Of a line that is not there
    /// (`data` is `None`) the parts are lost.
    pub fn fetched(&mut self, tag: u16, data: Option<D>, out: &mut AgentOutput<D>) -> Option<FetchedLine> {
        let behind = self.behind.as_mut()?;
        let at = behind.jobs.iter().position(|job| job.is_fetch && job.tag == Some(tag))?;
        if let Some(data) = data.as_ref().filter(|_| behind.passes_on && !behind.jobs[at].parts.is_empty()) {
            // Parts go on as such, whatever was read, under the same tag.
            let line = behind.jobs[at].line;
            if !behind.hand.has(line) {
                behind.hand.fetched(line, data.clone());
            }
            behind.jobs[at].is_fetch = false;
            for part in behind.jobs[at].parts.clone() {
                behind.show(line, &part);
            }
            let is_written = behind.jobs[at].parts.iter().any(|part| part.is_new);
            behind.send(at, out);
            return Some(FetchedLine { line, is_written, answers: Vec::new() });
        }
        let Job { line, parts, answers, .. } = behind.end(at, out);
        let Some(data) = data else { return Some(FetchedLine { line, is_written: false, answers }) };
        // What a host has written meanwhile is newer.
        if !behind.hand.has(line) {
            behind.hand.fetched(line, data);
        }
        parts.iter().for_each(|part| behind.hand.write(line, &part.data, part.enables));
        Some(FetchedLine { line, is_written: parts.iter().any(|part| part.is_new), answers })
    }

    /// A line has been stored: gives it with the writes that end; `None`: nothing was being stored under this tag. What was
    /// written meanwhile is stored behind it, and then all of them end.
    pub fn stored(&mut self, tag: u16, out: &mut AgentOutput<D>) -> Option<(LineAddr, Vec<(AgentPort, u16)>)> {
        let behind = self.behind.as_mut()?;
        let at = behind.jobs.iter().position(|job| !job.is_fetch && job.tag == Some(tag))?;
        let line = behind.jobs[at].line;
        if !behind.jobs[at].parts.is_empty() {
            behind.jobs[at].parts.remove(0);
        }
        if !behind.jobs[at].parts.is_empty() || !behind.hand.is_stored(line) {
            behind.send(at, out);
            return Some((line, Vec::new()));
        }
        Some((line, behind.end(at, out).answers))
    }

    /// Every value held.
    pub fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.stored.values_mut().for_each(|s| f(&mut s.data));
        if let Some(behind) = &mut self.behind {
            behind.hand.visit(f);
            behind.jobs.iter_mut().flat_map(|job| &mut job.parts).for_each(|part| f(&mut part.data));
        }
    }

    /// Hosts renamed.
    pub fn rename(&mut self, name: impl Fn(AgentPort) -> AgentPort) {
        for job in self.behind.iter_mut().flat_map(|behind| &mut behind.jobs) {
            job.answers.iter_mut().for_each(|(host, _)| *host = name(*host));
            scalepool_ordered::sort(&mut job.answers);
        }
    }

    /// Lines and tags of the writes of a host that have not ended.
    pub fn writes_of(&self, host: AgentPort) -> impl Iterator<Item = (LineAddr, u16)> {
        let answers = self.jobs().flat_map(|job| job.answers.iter().map(|answer| (job.line, *answer)));
        answers.filter(move |(_, (of, _))| *of == host).map(|(line, (_, tag))| (line, tag))
    }
}

impl<D: LineContent> Behind<D> {
    fn place(&self, line: LineAddr) -> Result<usize, usize> {
        self.jobs.binary_search_by_key(&line, |job| job.line)
    }

    /// Begins a job for a line, if none is under way.
    fn begin(&mut self, line: LineAddr, is_fetch: bool, out: &mut AgentOutput<D>) {
        if let Err(at) = self.place(line) {
            let tag = names::lowest_free(TAGS, self.jobs.iter().filter_map(|job| job.tag));
            let (parts, answers) = (Vec::new(), Vec::new());
            self.jobs.insert(at, Job { line, tag, is_fetch, parts, answers });
            self.send(at, out);
        }
    }

    /// Stores a part as such: at once, or behind what is under way for its line.
    fn pass_on(&mut self, line: LineAddr, part: WaitingPart<D>, out: &mut AgentOutput<D>) {
        if let Ok(at) = self.place(line) {
            self.show(line, &part);
            return self.jobs[at].parts.push(part);
        }
        let at = self.place(line).unwrap_or_else(|at| at);
        let tag = names::lowest_free(TAGS, self.jobs.iter().filter_map(|job| job.tag));
        self.jobs.insert(at, Job { line, tag, is_fetch: false, parts: vec![part], answers: Vec::new() });
        self.send(at, out);
    }

    /// A part changes a line in hand, which goes on as parts alone.
    fn show(&mut self, line: LineAddr, part: &WaitingPart<D>) {
        if self.hand.has(line) && self.hand.is_stored(line) {
            self.hand.write(line, &part.data, part.enables);
            self.hand.stored(line);
        }
    }

    /// A job is over: its tag goes to one that waits for a tag.
    fn end(&mut self, at: usize, out: &mut AgentOutput<D>) -> Job<D> {
        let job = self.jobs.remove(at);
        if let Some(next) = self.jobs.iter().position(|job| job.tag.is_none()) {
            self.jobs[next].tag = job.tag;
            self.send(next, out);
        }
        job
    }

    /// Sends the message of a job that has a tag: the request for its line, or the bytes in hand.
    fn send(&mut self, at: usize, out: &mut AgentOutput<D>) {
        let Job { line, tag: Some(tag), is_fetch, .. } = self.jobs[at] else { return };
        if is_fetch {
            return out.send(self.port, read_of(line, tag));
        }
        if let Some(WaitingPart { data, enables, .. }) = self.jobs[at].parts.first() {
            return out.send(self.port, write_part_of(line, tag, data.clone(), *enables));
        }
        self.hand.stored(line);
        out.send(self.port, write_of(line, tag, self.hand.read(line)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{CacheLine, WHOLE_LINE};
    use crate::message::Msg;

    /// More lines than tags: what finds no tag waits for one, and nothing is lost.
    #[test]
    fn jobs_without_a_tag_wait_for_one() {
        let mut memory = DcohMemory::<CacheLine>::behind(1);
        let mut out = AgentOutput::default();
        for line in 0..TAGS as u64 {
            memory.write(LineAddr(line), &CacheLine::of([1; 64]), WHOLE_LINE);
            // Taken without a search for each: the test is about the last ones.
            let behind = memory.behind.as_mut().expect("a port");
            let (parts, answers) = (Vec::new(), Vec::new());
            behind.jobs.push(Job { line: LineAddr(line), tag: Some(line as u16), is_fetch: false, parts, answers });
            behind.hand.stored(LineAddr(line));
        }
        assert!(memory.is_full());
        let (more, part) = (LineAddr(TAGS as u64), LineAddr(TAGS as u64 + 1));
        memory.write(more, &CacheLine::of([2; 64]), WHOLE_LINE);
        memory.settle(more, false, &mut out);
        assert!(memory.ends_when_stored(more, 0, 7));
        let (data, enables) = (CacheLine::of([3; 64]), 1);
        memory.take_part(part, WaitingPart { data, enables, is_new: true }, &mut out);
        assert!(out.sends.is_empty() && memory.unsent(more).count() == 1 && memory.unsent(part).count() == 1);
        // Each tag that comes free goes to the next one.
        assert_eq!(memory.stored(5, &mut out), Some((LineAddr(5), Vec::new())));
        assert!(matches!(out.sends[..], [(1, Msg::M2sRwd { line, tag: 5, .. })] if line == more));
        assert_eq!(memory.stored(9, &mut out), Some((LineAddr(9), Vec::new())));
        assert!(matches!(out.sends[1], (1, Msg::M2sReq { line, tag: 9, .. }) if line == part));
        assert_eq!(memory.stored(5, &mut out), Some((more, vec![(0, 7)])));
    }
}
