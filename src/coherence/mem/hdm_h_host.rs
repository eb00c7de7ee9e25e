//! The host's side of HDM-H: its requests to memory that nobody else caches.
//!
//! Modelled: MemRd, MemWr and MemWrPtl to one or several devices, with the tags of one host; a request that must not pass an
//! open one of its line waits, because CXL.mem keeps no order between M2S Req and M2S RwD; each answer belongs to an open
//! request and is that of its row of `coherence` §3.2. Detail: message in, messages out. Left out: what is cached and
//! evicted, which is the core's; MemRdFill, hints, and requests that change the stored bits alone.
//!
//! A walk through one read: no write of the line is open and a tag is free, so MemRd leaves; MemData comes, or MemDataNXM
//! where the device has no memory; the tag is free again, and the bytes are the core's. What the core has to know of a
//! request when its answer comes travels beside it as `N`.

use crate::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::message::Msg;
use crate::names::TAGS;
use scalepool_memory::spread::SpreadMap;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType};
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// A request without its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpenAccess<N> {
    /// The device that was asked.
    pub port: AgentPort,
    /// Its line.
    pub line: LineAddr,
    /// It writes.
    pub write: bool,
    /// What the core has to know when the answer comes.
    pub note: N,
}

/// Open requests of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Using {
    reads: u32,
    writes: u32,
}

impl Using {
    fn count(&mut self, write: bool) -> &mut u32 {
        if write { &mut self.writes } else { &mut self.reads }
    }
}

/// Open requests by line. In a tree a request, with its answer, took 800 instructions more than in a table without an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct LineUses(SpreadMap<Using>);

/// They follow from the open requests, so a state of the host differs from another one by those alone.
impl Hash for LineUses {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl LineUses {
    fn of(&self, line: LineAddr) -> Using {
        self.0.get(&line.0).copied().unwrap_or_default()
    }

    /// Begins a request, unless it has to wait: for a write of the line, and a write for a read of it too.
    fn begin(&mut self, line: LineAddr, write: bool) -> bool {
        let using = self.0.entry(line.0).or_default();
        let is_free = using.writes == 0 && (!write || using.reads == 0);
        if is_free {
            *using.count(write) += 1;
        }
        is_free
    }

    fn end(&mut self, line: LineAddr, write: bool) {
        let Entry::Occupied(mut using) = self.0.entry(line.0) else { return };
        *using.get_mut().count(write) -= 1;
        if *using.get() == Using::default() {
            using.remove();
        }
    }
}

/// Why an answer is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No message of S2M NDR or DRS.
    NoAnswer,
    /// No open request has its tag, or one that is answered by the other class or by another device.
    NoRequest {
        /// The tag.
        tag: u16,
    },
    /// A write is answered by another completion than Cmp.
    NotCmp {
        /// The tag.
        tag: u16,
        /// What came.
        opcode: NdrOpcode,
    },
}

impl Refusal {
    /// The rule that is broken, and what was found and expected, for an event.
    pub fn event(self, line: Option<LineAddr>) -> CoherenceEvent {
        let (rule, found, expected) = match self {
            Refusal::NoAnswer => ("COH-TYP-01", "another message".to_owned(), "S2M NDR or DRS"),
            Refusal::NoRequest { tag } => ("COH-IDS-01", format!("tag {tag:#06x}"), "an open request of its kind"),
            Refusal::NotCmp { tag, opcode } => {
                let opcode = opcode.name().unwrap_or("reserved");
                ("COH-MEM-33", format!("{opcode} for the write with tag {tag:#06x}"), "Cmp")
            }
        };
        CoherenceEvent::new(rule, line, "host of HDM-H", found, expected)
    }
}

/// Open requests by tag.
///
/// Tags begin in ascending order until all were used, and end in nearly the same order. A request that ends leaves its place
/// empty, until those before it have ended or as many places are empty as is worth closing the gaps. So a request is found
/// by the distance of its tag from the first one, and nothing behind it moves: with 1,024 open requests of
/// each host that took 700 instructions a flit of `pbr-rack`.
#[derive(Debug, Clone)]
struct OpenAccesses<N> {
    /// By ascending tag. Neither the first nor the last place is empty.
    places: VecDeque<(u16, Option<OpenAccess<N>>)>,
    /// Places that are not empty.
    count: usize,
}

/// Empty places that are left alone, and how many places there may be for each open request beyond them.
const GAPS: (usize, usize) = (64, 4);

impl<N> OpenAccesses<N> {
    fn iter(&self) -> impl Iterator<Item = (u16, &OpenAccess<N>)> {
        self.places.iter().filter_map(|(tag, open)| Some((*tag, open.as_ref()?)))
    }

    /// The place of a tag, or where it would stand.
    fn place(&self, tag: u16) -> usize {
        let is_there = |place: &usize| self.places.get(*place).is_some_and(|(open, _)| *open == tag);
        // Without closed gaps places are as far from each other as tags.
        let near = self.places.front().map_or(0, |(first, _)| usize::from(tag.wrapping_sub(*first)));
        Some(near).filter(is_there).unwrap_or_else(|| self.places.partition_point(|(open, _)| *open < tag))
    }

    fn get(&self, place: usize, tag: u16) -> Option<&OpenAccess<N>> {
        self.places.get(place).filter(|(open, _)| *open == tag)?.1.as_ref()
    }

    /// Begins a request; no open one has its tag.
    fn begin(&mut self, tag: u16, access: OpenAccess<N>) {
        self.count += 1;
        if self.places.back().is_none_or(|(last, _)| *last < tag) {
            return self.places.push_back((tag, Some(access)));
        }
        let place = self.place(tag);
        match self.places.get_mut(place).filter(|(open, _)| *open == tag) {
            Some((_, empty)) => *empty = Some(access),
            None => self.places.insert(place, (tag, Some(access))),
        }
    }

    /// Takes the request at the place of a tag.
    fn take(&mut self, place: usize) -> Option<OpenAccess<N>> {
        let open = self.places.get_mut(place)?.1.take()?;
        self.count -= 1;
        while self.places.front().is_some_and(|(_, open)| open.is_none()) {
            self.places.pop_front();
        }
        while self.places.back().is_some_and(|(_, open)| open.is_none()) {
            self.places.pop_back();
        }
        if self.places.len() > GAPS.0 + GAPS.1 * self.count {
            self.places.retain(|(_, open)| open.is_some());
        }
        Some(open)
    }
}

/// What is open, whatever was before it.
impl<N: PartialEq> PartialEq for OpenAccesses<N> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<N: Eq> Eq for OpenAccesses<N> {}

impl<N: Hash> Hash for OpenAccesses<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.count.hash(state);
        self.iter().for_each(|open| open.hash(state));
    }
}

/// A host as the agent of devices with HDM-H.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HdmHHost<N> {
    open: OpenAccesses<N>,
    lines: LineUses,
    reads: usize,
    /// The first tag that was never used, and then those that came back, in that order: a tag rests as long as it can, so
    /// that a late answer is seen.
    unused: u32,
    returned: VecDeque<u16>,
}

impl<N> Default for HdmHHost<N> {
    fn default() -> Self {
        let open = OpenAccesses { places: VecDeque::new(), count: 0 };
        Self { open, lines: LineUses::default(), reads: 0, unused: 0, returned: VecDeque::new() }
    }
}

impl<N> HdmHHost<N> {
    /// A host that has asked for nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests without their answers, by tag.
    pub fn open(&self) -> impl Iterator<Item = (u16, &OpenAccess<N>)> {
        self.open.iter()
    }

    /// How many there are.
    pub fn open_count(&self) -> usize {
        self.open.count
    }

    /// How many of them read.
    pub fn open_reads(&self) -> usize {
        self.reads
    }

    /// Tags that are free.
    pub fn free_tags(&self) -> usize {
        TAGS - self.open.count
    }

    /// Whether a read of a line is open.
    pub fn is_read(&self, line: LineAddr) -> bool {
        self.lines.of(line).reads > 0
    }

    /// Whether a write of a line is open.
    pub fn is_written(&self, line: LineAddr) -> bool {
        self.lines.of(line).writes > 0
    }

    /// An open read or write of a line.
    pub fn request(&self, line: LineAddr, write: bool) -> Option<&OpenAccess<N>> {
        self.open.iter().map(|(_, open)| open).find(|open| open.line == line && open.write == write)
    }

    /// Asks a device for a line: tag and message; `None`: a write of the line is open, or no tag is free.
    pub fn read<D>(&mut self, port: AgentPort, line: LineAddr, note: N) -> Option<(u16, Msg<D>)> {
        if self.free_tags() == 0 || !self.lines.begin(line, false) {
            return None;
        }
        let tag = self.take_tag()?;
        self.reads += 1;
        self.open.begin(tag, OpenAccess { port, line, write: false, note });
        let (snp, meta_field, meta) = (SnpType::NoOp, MetaField::NoOp, MetaValue::Invalid);
        Some((tag, Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp, meta_field, meta, line, tag }))
    }

    /// Writes the bytes of a line that `enables` selects: tag and message; `None`: a request of the line is open, or no tag is
    /// free.
    pub fn write<D>(
        &mut self,
        port: AgentPort,
        line: LineAddr,
        data: D,
        enables: u64,
        note: N,
    ) -> Option<(u16, Msg<D>)> {
        if self.free_tags() == 0 || !self.lines.begin(line, true) {
            return None;
        }
        let tag = self.take_tag()?;
        self.open.begin(tag, OpenAccess { port, line, write: true, note });
        let opcode = if enables == WHOLE_LINE { M2sRwdOpcode::MemWr } else { M2sRwdOpcode::MemWrPtl };
        // A write always has a meta value (`coherence` §3.2): the host keeps nothing of what it writes.
        let (snp, meta_field, meta) = (SnpType::NoOp, MetaField::Meta0State, MetaValue::Invalid);
        Some((tag, Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }))
    }

    /// Takes an answer: its request, which has ended, and the line of a read.
    ///
    /// # Errors
    /// A message that is no answer of an open request; nothing has changed then.
    pub fn answer<D>(&mut self, port: AgentPort, message: Msg<D>) -> Result<(OpenAccess<N>, Option<D>), Refusal> {
        let (tag, data, cmp) = match message {
            Msg::S2mDrs { tag, data, .. } => (tag, Some(data), NdrOpcode::Cmp),
            Msg::S2mNdr { tag, opcode, .. } => (tag, None, opcode),
            _ => return Err(Refusal::NoAnswer),
        };
        let is_its = |open: &&OpenAccess<N>| open.port == port && open.write == data.is_none();
        let place = self.open.place(tag);
        if self.open.get(place, tag).filter(is_its).is_none() {
            return Err(Refusal::NoRequest { tag });
        }
        if cmp != NdrOpcode::Cmp {
            return Err(Refusal::NotCmp { tag, opcode: cmp });
        }
        let Some(open) = self.open.take(place) else { return Err(Refusal::NoRequest { tag }) };
        self.returned.push_back(tag);
        self.release(&open);
        Ok((open, data))
    }

    /// Gives a request up that nobody will answer: what it was. Its tag rests as after an answer, so a late answer
    /// belongs to no request.
    pub fn give_up(&mut self, tag: u16) -> Option<OpenAccess<N>> {
        let place = self.open.place(tag);
        self.open.get(place, tag)?;
        let open = self.open.take(place)?;
        self.returned.push_back(tag);
        self.release(&open);
        Some(open)
    }

    fn release(&mut self, open: &OpenAccess<N>) {
        self.lines.end(open.line, open.write);
        self.reads -= usize::from(!open.write);
    }

    fn take_tag(&mut self) -> Option<u16> {
        match u16::try_from(self.unused) {
            Ok(tag) => {
                self.unused += 1;
                Some(tag)
            }
            Err(_) => self.returned.pop_front(),
        }
    }
}

impl<D: LineContent, N: Clone + Eq + Hash + Debug> Agent<D> for HdmHHost<N> {
    fn accepts(&self, _: &CoherenceConfig, _: AgentPort, _: &Msg<D>) -> Accept {
        Accept::Take
    }

    fn take(&mut self, _: &CoherenceConfig, port: AgentPort, msg: Msg<D>, _: u8, out: &mut AgentOutput<D>) {
        let line = msg.line();
        match self.answer(port, msg) {
            Ok((OpenAccess { line, .. }, data)) => {
                if let Some(value) = data {
                    out.effects.push(Effect::Used { line, value, current: false });
                }
                out.effects.push(Effect::Done(line));
            }
            Err(refusal) => out.events.push(refusal.event(line)),
        }
    }

    fn is_idle(&self) -> bool {
        self.open.count == 0
    }

    fn visit(&mut self, _: &mut dyn FnMut(&mut D)) {}
}
