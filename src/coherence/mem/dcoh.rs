//! The DCOH: the device's side of HDM-DB, with its memory, its own cache and the inclusive snoop filter.
//!
//! Modelled: every M2S row of [`super::tables`], back-invalidates with bounded trackers, block back-invalidates, filter
//! victims, the device's own cache as one more agent, UIO accesses of peers, conflicts, addresses without memory, poison,
//! stored metadata, DevLoad. Detail: one transaction a line; a request that has to wait for answers keeps its line busy.
//! A memory behind a port takes its time: what a transaction needs is fetched behind the last answer, a write ends when it is
//! stored (`dcoh_memory`). Left out: access times of a memory of its own, TEE opcodes (reported as reserved).
//!
//! Invariants: a line that a host caches has a filter entry; an entry leaves only after the answer of every host in it;
//! RwD and BIRsp are always taken; equal inputs give equal outputs.
//!
//! One request: MemRd Any of host 0 on a line that host 1 may own. The DCOH takes it, opens a tracker, sends BISnpInv to
//! host 1 and keeps all other requests to the line in their channel. Host 1 writes its dirty copy back, which the DCOH
//! takes at any time, gets its Cmp and answers BIRspI. The tracker closes, Cmp-E and the data leave for host 0, and the
//! filter records it as owner.

mod back_invalidates;
mod requests;

use super::dcoh_memory::{DcohMemory, FetchedLine};
use super::filter::{Holders, SnoopFilter};
use super::host::block_lines;
use super::load;
use super::options::BlockRelease;
use super::tables::{self, Copy4};
use crate::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::ids::{IdSet, MOST_PORTS};
use crate::message::Msg;
use crate::names::BI_TAGS;
use crate::rules::{AskedFor, M2sKind};
use scalepool_protocols::cxl::cxl256::code::{
    BisnpOpcode, DevLoad, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use std::collections::BTreeMap;

/// What the device itself, or a peer through it, does with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceOp {
    /// Reads the current value once; nothing is cached.
    ReadOnce,
    /// Takes an S copy.
    ReadShared,
    /// Takes an E copy.
    ReadOwn,
    /// Gives its own copy up; a dirty one goes to memory.
    Evict,
    /// Takes the line back from every host.
    Reclaim,
    /// Reads the current value for a peer (UIO): nobody loses a copy, nobody gets one.
    UioRead,
    /// Takes the line back from every holder, the own cache too, and writes a peer's bytes to memory (UIO).
    UioWrite,
}

/// Why a transaction is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum DcohCause {
    Host {
        host: AgentPort,
        opcode: M2sReqOpcode,
        meta_field: MetaField,
        meta: MetaValue,
        snp: SnpType,
        tag: u16,
        way: u8,
    },
    Device(DeviceOp),
}

/// A transaction that waits for answers. It keeps its lines, and its victim, busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Open {
    line: LineAddr,
    /// Lines of a block, 1 otherwise.
    count: u8,
    /// Entry that has to leave the filter first.
    victim: Option<LineAddr>,
    cause: DcohCause,
}

impl Open {
    fn covers(&self, line: LineAddr) -> bool {
        (self.line.0..self.line.0 + u64::from(self.count)).contains(&line.0)
    }
}

/// One open back-invalidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Tracker {
    host: AgentPort,
    bi_tag: u16,
    opcode: BisnpOpcode,
    first: LineAddr,
    count: u8,
    /// Lines not yet answered, a bit each.
    waits: u8,
    /// Lines with a conflict, a bit each.
    disputed: u8,
}

impl Tracker {
    fn bit(&self, line: LineAddr) -> u8 {
        match line.0.checked_sub(self.first.0) {
            Some(i) if i < u64::from(self.count) => 1 << i,
            _ => 0,
        }
    }
}

/// The device's coherence engine for HDM-DB. Port n is host n.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dcoh<D> {
    hosts: AgentPort,
    filter: SnoopFilter,
    memory: DcohMemory<D>,
    own: BTreeMap<LineAddr, (Copy4, D)>,
    open: Vec<Open>,
    trackers: Vec<Tracker>,
    /// Bytes of UIO writes that wait for their holders.
    uio: BTreeMap<LineAddr, (D, u64)>,
}

impl<D: LineContent> Dcoh<D> {
    /// A device for `hosts` hosts (1 to [`MOST_PORTS`]), with memory, empty filter and empty cache.
    pub fn new(config: &CoherenceConfig, hosts: AgentPort) -> Self {
        Self::over(DcohMemory::own(), config, hosts)
    }

    /// The same with its memory behind port `hosts`, to which CXL.mem without coherence leads.
    pub fn without_memory(config: &CoherenceConfig, hosts: AgentPort) -> Self {
        Self::over(DcohMemory::behind(hosts), config, hosts)
    }

    /// The same with its memory behind port `memory`, where every access of a host goes on to that memory, which is not the device's: a
    /// read is a read there, a write of a part is one of a part (`bridge` §5.1). Who asks by a port between those of hosts and that one
    /// holds nothing.
    pub fn exporting(config: &CoherenceConfig, hosts: AgentPort, memory: AgentPort) -> Self {
        Self::over(DcohMemory::passing_on(memory), config, hosts)
    }

    fn over(memory: DcohMemory<D>, config: &CoherenceConfig, hosts: AgentPort) -> Self {
        Self {
            hosts: hosts.clamp(1, MOST_PORTS as AgentPort),
            filter: SnoopFilter::new(config.mem.filter_sets, config.mem.filter_ways),
            memory,
            own: BTreeMap::new(),
            open: Vec::new(),
            trackers: Vec::new(),
            uio: BTreeMap::new(),
        }
    }

    /// Writes memory and says who holds the line, without messages, for the start of a run.
    pub fn preset(&mut self, line: LineAddr, data: D, holders: Holders) {
        self.memory.preset(line, data);
        if !holders.is_empty() {
            self.filter.put(line, holders);
        }
    }

    /// Value of the memory; of one behind a port, of a line in hand.
    pub fn memory(&self, line: LineAddr) -> D {
        self.memory.value(line)
    }

    /// Whether the memory is behind a port.
    pub fn is_memory_behind(&self) -> bool {
        self.memory.is_behind()
    }

    /// Whether the value of a line is here, and not in a memory behind a port.
    pub fn has(&self, line: LineAddr) -> bool {
        self.memory.has(line)
    }

    /// The line that was asked for from a memory behind a port under this tag.
    pub fn fetching(&self, tag: u16) -> Option<LineAddr> {
        self.memory.fetching(tag)
    }

    /// The bytes of a write that go on to the memory behind a port as a part, with the bytes that it enables, if the message is
    /// such a one.
    pub fn passed_on<'a>(&self, msg: &'a Msg<D>) -> Option<(LineAddr, &'a D, u64)> {
        let Msg::M2sRwd { opcode: M2sRwdOpcode::MemWrPtl, line, data, enables, .. } = msg else { return None };
        (*enables != WHOLE_LINE && self.memory.passes_part(*line)).then_some((*line, data, *enables))
    }

    /// Values of a line on their way to the memory behind a port that are not in a message.
    pub fn unsent(&self, line: LineAddr) -> impl Iterator<Item = &D> {
        self.memory.unsent(line)
    }

    /// Marks a line of memory as poisoned or not: the media fault input.
    pub fn set_poison(&mut self, line: LineAddr, poison: bool) {
        let data = self.memory(line).poisoned(poison);
        self.memory.write(line, &data, WHOLE_LINE);
    }

    /// What the filter says of a line.
    pub fn holders(&self, line: LineAddr) -> Option<Holders> {
        self.filter.get(line)
    }

    /// The filter.
    pub fn filter(&self) -> &SnoopFilter {
        &self.filter
    }

    /// The device's own copy.
    pub fn own(&self, line: LineAddr) -> Option<(Copy4, D)> {
        self.own.get(&line).cloned()
    }

    /// Back-invalidates that are open.
    pub fn open_back_invalidates(&self) -> usize {
        self.trackers.len()
    }

    /// Whether a back-invalidate of the line is not answered, and then whether it is one of a block.
    pub fn unanswered(&self, line: LineAddr) -> Option<bool> {
        self.trackers.iter().find(|t| t.waits & t.bit(line) != 0).map(|t| t.count > 1)
    }

    /// The host whose open request for the line says that it holds nothing (MetaValue Invalid).
    pub fn gives_up(&self, line: LineAddr) -> Option<AgentPort> {
        self.open.iter().filter(|o| o.covers(line)).find_map(|o| match o.cause {
            DcohCause::Host { host, meta_field, meta, .. } => {
                (tables::meta_said(meta_field, meta) == Some(Some(MetaValue::Invalid))).then_some(host)
            }
            DcohCause::Device(_) => None,
        })
    }

    /// The load that the next answer tells.
    pub fn load(&self, config: &CoherenceConfig) -> DevLoad {
        let internal = load::of_depth(self.trackers.len() + self.open.len(), config.mem.devload);
        let (egress, reduction) = (DevLoad(0), DevLoad(config.mem.throughput_reduction));
        load::DevLoadParts { internal, egress, reduction }.reported()
    }

    /// Whether requests to a line have to wait.
    pub fn is_busy(&self, config: &CoherenceConfig, line: LineAddr) -> bool {
        let released = |answered: bool| config.rules.releases_line(config.mem.block_release, answered);
        let waits = |t: &Tracker| t.waits & t.bit(line) != 0 && !(t.count > 1 && released(false));
        if self.trackers.iter().any(waits) || self.memory.is_busy(line) {
            return true;
        }
        self.open.iter().any(|o| o.victim == Some(line) || (o.covers(line) && !(o.count > 1 && released(true))))
    }

    /// Whether the device may start an operation on a line now.
    pub fn can_issue(&self, config: &CoherenceConfig, line: LineAddr, op: DeviceOp) -> bool {
        let own = self.own.get(&line).map_or(Copy4::I, |o| o.0);
        let starts = match op {
            DeviceOp::ReadOnce | DeviceOp::ReadShared => own == Copy4::I,
            DeviceOp::ReadOwn => own <= Copy4::S,
            DeviceOp::Evict => own != Copy4::I,
            DeviceOp::Reclaim | DeviceOp::UioRead | DeviceOp::UioWrite => true,
        };
        starts && !self.is_busy(config, line) && self.can_begin(config)
    }

    /// Lines of its own operations, and of those of CXL.io peers, that have not ended.
    pub fn own_operations(&self) -> impl Iterator<Item = LineAddr> {
        self.open.iter().filter(|o| matches!(o.cause, DcohCause::Device(_))).map(|o| o.line)
    }

    /// Lines of open transactions, their victims among them.
    pub fn busy_lines(&self) -> impl Iterator<Item = LineAddr> {
        let covered = |first: LineAddr, count: u8| (first.0..first.0 + u64::from(count)).map(LineAddr);
        let open = self.open.iter().flat_map(move |o| covered(o.line, o.count).chain(o.victim));
        let trackers = self.trackers.iter().flat_map(move |t| covered(t.first, t.count));
        open.chain(trackers).chain(self.memory.busy_lines())
    }

    /// Starts an operation for which [`Dcoh::can_issue`] holds.
    pub fn issue(&mut self, config: &CoherenceConfig, line: LineAddr, op: DeviceOp, out: &mut AgentOutput<D>) {
        if !self.can_issue(config, line, op) {
            out.events.push(self.event("COH-STA-01", Some(line), format!("{op:?}"), "an idle line in the right state"));
            return;
        }
        self.begin(config, Open { line, count: 1, victim: None, cause: DcohCause::Device(op) }, out);
    }

    /// Starts a UIO write of a peer, for which [`Dcoh::can_issue`] holds; [`Effect::Written`] says when it is done.
    pub fn uio_write(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        data: D,
        enables: u64,
        out: &mut AgentOutput<D>,
    ) -> bool {
        let starts = self.can_issue(config, line, DeviceOp::UioWrite);
        if starts {
            self.uio.insert(line, (data, enables));
            self.issue(config, line, DeviceOp::UioWrite, out);
        }
        starts
    }

    /// Starts an operation on 2 or 4 lines with block back-invalidates; `block` has the enable in bits 1:0.
    ///
    /// Returns whether it was started: all lines must be idle.
    pub fn issue_block(
        &mut self,
        config: &CoherenceConfig,
        block: LineAddr,
        op: DeviceOp,
        out: &mut AgentOutput<D>,
    ) -> bool {
        let Some((line, count)) = block_lines(block) else {
            out.events.push(self.event("COH-BLK-01", Some(block), "enable 0", "enable 1, 2 or 3"));
            return false;
        };
        if (0..count).any(|i| !self.can_issue(config, LineAddr(line.0 + i), op)) {
            return false;
        }
        self.begin(config, Open { line, count: count as u8, victim: None, cause: DcohCause::Device(op) }, out);
        true
    }

    /// Whether the device's core can store into its own copy.
    pub fn can_store(&self, line: LineAddr) -> bool {
        self.own.get(&line).is_some_and(|o| o.0 >= Copy4::E)
    }

    /// A store into the device's own copy; without E or M nothing happens.
    pub fn store(&mut self, line: LineAddr, data: &D, enables: u64, out: &mut AgentOutput<D>) -> bool {
        match self.own.get_mut(&line) {
            Some((state, value)) if *state >= Copy4::E => {
                value.merge(data, enables);
                *state = Copy4::M;
                out.effects.push(Effect::Stored(line));
                true
            }
            _ => false,
        }
    }

    fn event(
        &self,
        rule: &'static str,
        line: Option<LineAddr>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> CoherenceEvent {
        CoherenceEvent::new(rule, line, "DCOH", found, expected)
    }

    /// Whether there are places for a transaction more: trackers for every host, and a tag for the memory behind a port.
    fn can_begin(&self, config: &CoherenceConfig) -> bool {
        let most = config.mem.trackers.clamp(usize::from(self.hosts), BI_TAGS);
        self.trackers.len() + usize::from(self.hosts) <= most && !self.memory.is_full()
    }

    /// Meta0 that an answer to a Req returns.
    fn returned_meta(&self, config: &CoherenceConfig, line: LineAddr) -> (MetaField, MetaValue) {
        if config.mem.meta_stored {
            (MetaField::Meta0State, self.memory.meta(line))
        } else {
            (MetaField::NoOp, MetaValue::Invalid)
        }
    }

    fn ndr(
        &self,
        config: &CoherenceConfig,
        host: AgentPort,
        opcode: NdrOpcode,
        tag: u16,
        line: Option<LineAddr>,
        out: &mut AgentOutput<D>,
    ) {
        let (meta_field, meta) = match line {
            Some(line) => self.returned_meta(config, line),
            None => (MetaField::NoOp, MetaValue::Invalid),
        };
        out.send(host, Msg::S2mNdr { opcode, meta_field, meta, tag, devload: self.load(config) });
    }

    /// The hosts that a snoop of this kind must ask.
    fn asked(&self, config: &CoherenceConfig, line: LineAddr, asked: &AskedFor) -> IdSet {
        config.rules.asked(self.filter.get(line).unwrap_or(Holders::NONE), asked)
    }

    /// The entry that leaves for a new line; `None` while all of them are busy.
    fn victim(&self, config: &CoherenceConfig, line: LineAddr) -> Option<LineAddr> {
        self.filter.candidates(line).map(|e| e.line).find(|&l| !self.is_busy(config, l))
    }

    /// Whether a request of this kind leaves an entry in the filter.
    fn needs_entry(opcode: M2sReqOpcode, meta_field: MetaField, meta: MetaValue) -> bool {
        match opcode {
            M2sReqOpcode::MemRdData => true,
            M2sReqOpcode::MemRd | M2sReqOpcode::MemInv | M2sReqOpcode::MemInvNT => {
                tables::meta_said(meta_field, meta).flatten().is_some_and(|value| value != MetaValue::Invalid)
            }
            _ => false,
        }
    }

    /// Opens a transaction; what needs no answer ends at once.
    fn begin(&mut self, config: &CoherenceConfig, open: Open, out: &mut AgentOutput<D>) {
        if let Some(victim) = open.victim {
            let holders = self.filter.get(victim).unwrap_or(Holders::NONE).all();
            self.back_invalidate(&holders, BisnpOpcode::BISnpInv, victim, 1, out);
            if !config.rules.entry_awaits_hosts() {
                self.filter.remove(victim);
                self.filter.put(open.line, Holders::NONE);
                self.complete(config, &open, out);
                return;
            }
        }
        let snp = Self::snp_of(&open.cause);
        let (requester, uio_write) = match open.cause {
            DcohCause::Host { host, .. } => (Some(host), false),
            DcohCause::Device(op) => (None, op == DeviceOp::UioWrite),
        };
        let asked_for = AskedFor { snp, requester, uio_write, load: self.load(config) };
        let lines = (0..u64::from(open.count)).map(|i| LineAddr(open.line.0 + i));
        let mut asked = IdSet::EMPTY;
        lines.for_each(|line| asked.add_all(&self.asked(config, line, &asked_for)));
        let opcode = match snp {
            SnpType::SnpInv => BisnpOpcode::BISnpInv,
            SnpType::SnpData => BisnpOpcode::BISnpData,
            _ => BisnpOpcode::BISnpCur,
        };
        self.back_invalidate(&asked, opcode, open.line, open.count, out);
        if open.victim.is_none() && asked.is_empty() && !self.fetches(&open, out) {
            self.complete(config, &open, out);
        } else if config.mem.block_release == BlockRelease::Early {
            // Each line has its effect when it is released: what others get of it then knows of the device's copy.
            (0..u64::from(open.count))
                .for_each(|i| self.wait(Open { line: LineAddr(open.line.0 + i), count: 1, ..open }));
        } else {
            self.wait(open);
        }
    }

    /// Keeps a transaction until its answers are in.
    fn wait(&mut self, open: Open) {
        let at = self.open.partition_point(|o| o < &open);
        self.open.insert(at, open);
    }

    /// Own copy under a host's access; a dirty one goes to memory.
    fn own_under(&mut self, config: &CoherenceConfig, line: LineAddr, snp: SnpType) {
        let Some((state, data)) = self.own.get(&line).cloned() else { return };
        if snp == SnpType::NoOp || snp == SnpType::SnpCur {
            return;
        }
        if state == Copy4::M {
            self.memory.write(line, &data, WHOLE_LINE);
        }
        if snp == SnpType::SnpData && config.mem.device_keeps_shared {
            if let Some(own) = self.own.get_mut(&line) {
                own.0 = Copy4::S;
            }
        } else {
            self.own.remove(&line);
        }
    }

    /// Every answer is in: the transaction has its effect and its answers leave.
    fn complete(&mut self, config: &CoherenceConfig, open: &Open, out: &mut AgentOutput<D>) {
        match open.cause {
            DcohCause::Host { host, opcode, meta_field, meta, snp, tag, way } => {
                self.complete_host(config, open.line, host, (opcode, meta_field, meta, snp), tag, way, out);
            }
            DcohCause::Device(op) => {
                for i in 0..u64::from(open.count) {
                    self.complete_device(LineAddr(open.line.0 + i), op, out);
                }
            }
        }
        for line in (0..u64::from(open.count)).map(|i| LineAddr(open.line.0 + i)) {
            self.settle(line, out);
        }
    }

    fn complete_device(&mut self, line: LineAddr, op: DeviceOp, out: &mut AgentOutput<D>) {
        match op {
            DeviceOp::ReadOnce => {
                let value = self.memory(line);
                out.effects.push(Effect::Used { line, value, current: false });
            }
            DeviceOp::UioRead => {
                let value = self.own(line).map_or_else(|| self.memory(line), |(_, own)| own);
                out.effects.push(Effect::Used { line, value, current: false });
            }
            DeviceOp::UioWrite => {
                if let Some((Copy4::M, own)) = self.own.remove(&line) {
                    self.memory.write(line, &own, WHOLE_LINE);
                }
                if let Some((data, enables)) = self.uio.remove(&line) {
                    self.memory.write(line, &data, enables);
                    out.effects.push(Effect::Written(line));
                }
            }
            DeviceOp::ReadShared => {
                let value = self.memory(line);
                self.own.insert(line, (Copy4::S, value));
            }
            DeviceOp::ReadOwn => {
                let value = self.memory(line);
                self.own.insert(line, (Copy4::E, value));
            }
            DeviceOp::Evict | DeviceOp::Reclaim => {
                if let Some((Copy4::M, data)) = self.own.remove(&line) {
                    self.memory.write(line, &data, WHOLE_LINE);
                }
            }
        }
        self.tidy(line);
        out.effects.push(Effect::Done(line));
    }

    /// An entry without holders leaves, unless a transaction keeps it.
    fn tidy(&mut self, line: LineAddr) {
        let kept = self.open.iter().any(|o| o.covers(line) || o.victim == Some(line))
            || self.trackers.iter().any(|t| t.bit(line) & t.waits != 0);
        if !kept && self.filter.get(line).is_some_and(|holders| holders.is_empty()) {
            self.filter.remove(line);
        }
    }

    /// Ends every transaction whose answers are all in.
    fn advance(&mut self, config: &CoherenceConfig, out: &mut AgentOutput<D>) {
        while let Some(at) = self.open.iter().position(|o| {
            let waits = |line: LineAddr| self.trackers.iter().any(|t| t.waits & t.bit(line) != 0);
            let is_open = |line: LineAddr| waits(line) || self.memory.is_fetching(line);
            !(0..u64::from(o.count)).any(|i| is_open(LineAddr(o.line.0 + i))) && !o.victim.is_some_and(waits)
        }) {
            let open = self.open[at];
            if self.fetches(&open, out) {
                continue;
            }
            self.open.remove(at);
            if let Some(victim) = open.victim {
                self.filter.remove(victim);
            }
            self.complete(config, &open, out);
        }
    }

    /// What was written to a line goes on to a memory behind a port.
    fn settle(&mut self, line: LineAddr, out: &mut AgentOutput<D>) {
        let is_kept = self.open.iter().any(|o| o.covers(line));
        self.memory.settle(line, is_kept, out);
    }

    /// Whether a transaction whose answers are in has to wait for bytes from the memory behind a port, which it asks for.
    fn fetches(&mut self, open: &Open, out: &mut AgentOutput<D>) -> bool {
        let mut fetches = false;
        for line in (0..u64::from(open.count)).map(|i| LineAddr(open.line.0 + i)) {
            let own = self.own.get(&line).map(|own| own.0);
            let needs = match open.cause {
                DcohCause::Host { opcode, .. } => tables::is_read(opcode) && own != Some(Copy4::M),
                DcohCause::Device(DeviceOp::ReadOnce | DeviceOp::ReadShared | DeviceOp::ReadOwn) => true,
                DcohCause::Device(DeviceOp::UioRead) => own.is_none(),
                DcohCause::Device(DeviceOp::UioWrite) => {
                    let is_part = self.uio.get(&line).is_some_and(|(_, enables)| *enables != WHOLE_LINE);
                    is_part && own != Some(Copy4::M)
                }
                DcohCause::Device(DeviceOp::Evict | DeviceOp::Reclaim) => false,
            };
            if needs && !self.memory.has(line) {
                self.memory.fetch(line, out);
                fetches = true;
            }
        }
        fetches
    }

    /// The memory behind its port has sent a line, or says that there is none.
    fn take_line(&mut self, config: &CoherenceConfig, tag: u16, data: Option<D>, out: &mut AgentOutput<D>) {
        let is_there = data.is_some();
        let Some(FetchedLine { line, is_written, answers }) = self.memory.fetched(tag, data, out) else {
            let found = format!("S2M DRS with tag {tag}");
            out.events.push(self.event("COH-IDS-01", None, found, "the tag of an open read"));
            return;
        };
        if is_written {
            out.effects.push(Effect::Written(line));
        }
        if !is_there {
            self.refuse(config, line, out);
        }
        self.settle(line, out);
        for (host, tag) in answers {
            if !self.memory.ends_when_stored(line, host, tag) {
                self.ndr(config, host, NdrOpcode::Cmp, tag, None, out);
            }
        }
        self.advance(config, out);
        self.settle(line, out);
    }

    /// The memory behind its port has what was written.
    fn take_done(&mut self, config: &CoherenceConfig, tag: u16, out: &mut AgentOutput<D>) {
        let Some((line, answers)) = self.memory.stored(tag, out) else {
            let found = format!("S2M NDR with tag {tag}");
            out.events.push(self.event("COH-IDS-01", None, found, "the tag of an open write"));
            return;
        };
        for (host, tag) in answers {
            self.ndr(config, host, NdrOpcode::Cmp, tag, None, out);
        }
        if self.memory.passes_on() {
            // Whoever waits reads for itself.
            self.memory.settle(line, false, out);
            self.advance(config, out);
        }
        self.settle(line, out);
    }

    /// The memory behind its port has no such line: what waits for it ends as for an address without memory.
    fn refuse(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<D>) {
        while let Some(at) = self.open.iter().position(|o| o.covers(line)) {
            let open = self.open.remove(at);
            // Its victim has left all the same: without holders it would take a place for ever.
            open.victim.into_iter().for_each(|victim| self.tidy(victim));
            match open.cause {
                DcohCause::Host { host, opcode, tag, .. } => {
                    answer_outside(config, host, tables::is_read(opcode), tag, self.load(config), out);
                }
                DcohCause::Device(_) => {
                    self.uio.remove(&line);
                    out.effects.push(Effect::Refused(line));
                    out.effects.push(Effect::Done(line));
                }
            }
            self.tidy(line);
        }
    }
}

/// What an address gets that the device does not have (`coherence` §3.2).
pub fn answer_outside<D: LineContent>(
    config: &CoherenceConfig,
    port: AgentPort,
    read: bool,
    tag: u16,
    devload: DevLoad,
    out: &mut AgentOutput<D>,
) {
    let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
    let msg = match read {
        true => {
            let data = D::ones().poisoned(config.mem.no_range_poison);
            Msg::S2mDrs { opcode: DrsOpcode::MemDataNXM, meta_field, meta, tag, data, devload }
        }
        false => Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag, devload },
    };
    out.send(port, msg);
}

impl<D: LineContent> Agent<D> for Dcoh<D> {
    fn accepts(&self, config: &CoherenceConfig, _: AgentPort, msg: &Msg<D>) -> Accept {
        let wait = |w: bool| if w { Accept::Wait } else { Accept::Take };
        match *msg {
            Msg::M2sReq { opcode: M2sReqOpcode::MemSpecRd, .. } => Accept::Take,
            Msg::M2sReq { line, opcode, meta_field, meta, .. } => {
                let needs = Self::needs_entry(opcode, meta_field, meta) && self.filter.get(line).is_none();
                let no_place = needs && !self.filter.has_room(line) && self.victim(config, line).is_none();
                let held = self.is_busy(config, line) || no_place || !self.can_begin(config);
                wait(held && config.rules.m2s_waits(M2sKind::Req))
            }
            Msg::M2sRwd { line, opcode, .. } => {
                let is_conflict = opcode == M2sRwdOpcode::BIConflict;
                let kind = if is_conflict { M2sKind::Conflict } else { M2sKind::Rwd };
                wait(config.rules.m2s_waits(kind) && self.is_busy(config, line))
            }
            _ => Accept::Take,
        }
    }

    fn ways(&self, _: &CoherenceConfig, _: AgentPort, msg: &Msg<D>) -> u8 {
        match msg {
            Msg::M2sReq { opcode: M2sReqOpcode::MemRdData, .. } => 2,
            Msg::M2sReq { opcode: M2sReqOpcode::MemRd, meta: MetaValue::Shared, .. } => 2,
            _ => 1,
        }
    }

    fn take(&mut self, config: &CoherenceConfig, port: AgentPort, msg: Msg<D>, way: u8, out: &mut AgentOutput<D>) {
        match msg {
            Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } => {
                self.take_req(config, port, (opcode, meta_field, meta, snp), line, tag, way, out);
            }
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables } => {
                let payload = (data, enables);
                self.take_rwd(config, port, (opcode, meta_field, meta, snp), line, tag, payload, out);
            }
            Msg::M2sBirsp { opcode, bi_tag, low_addr } => {
                self.take_birsp(config, port, opcode, bi_tag, low_addr, out);
            }
            Msg::S2mDrs { opcode, tag, data, .. } if self.memory.is_behind() => {
                self.take_line(config, tag, (opcode != DrsOpcode::MemDataNXM).then_some(data), out);
            }
            Msg::S2mNdr { tag, .. } if self.memory.is_behind() => self.take_done(config, tag, out),
            other => {
                let found = format!("{} at a DCOH", other.class().name());
                out.events.push(self.event("COH-TYP-01", other.line(), found, "M2S messages"));
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.open.is_empty() && self.trackers.is_empty() && self.memory.is_idle()
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.memory.visit(f);
        self.own.values_mut().for_each(|o| f(&mut o.1));
        self.uio.values_mut().for_each(|w| f(&mut w.0));
    }
}

/// The same device with its hosts renamed: host h becomes `to[h]`. For the symmetry reduction of a search.
impl<D: LineContent> Dcoh<D> {
    /// Renames hosts. BITags are numbered host by host, so they stay.
    pub fn rename(&mut self, to: &[AgentPort]) {
        let name = |h: AgentPort| to.get(usize::from(h)).copied().unwrap_or(h);
        self.filter.change_all(|holders| match holders {
            Holders::Owner(owner) => Holders::Owner(name(owner)),
            Holders::Shared(hosts) => Holders::Shared(hosts.iter().map(name).collect()),
        });
        for open in &mut self.open {
            if let DcohCause::Host { host, .. } = &mut open.cause {
                *host = name(*host);
            }
        }
        self.trackers.iter_mut().for_each(|t| t.host = name(t.host));
        self.memory.rename(name);
        scalepool_ordered::sort(&mut self.open);
        scalepool_ordered::sort(&mut self.trackers);
    }

    /// What the device knows of one host, without its number: two hosts with equal answers are the same to it.
    pub fn signature(&self, host: AgentPort) -> Vec<(u64, u64)> {
        let entry = |e: &super::filter::SnoopFilterEntry| {
            (e.line.0, u64::from(e.holders == Holders::Owner(host)) << 1 | u64::from(e.holders.has(host)))
        };
        let mut signature: Vec<(u64, u64)> = self.filter.iter().map(entry).collect();
        for open in &self.open {
            let asks = matches!(open.cause, DcohCause::Host { host: h, .. } if h == host);
            signature.push((open.line.0, u64::from(asks)));
        }
        for t in self.trackers.iter().filter(|t| t.host == host) {
            let kind = u64::from(t.opcode.0) << 40 | u64::from(t.count) << 32 | u64::from(t.bi_tag) << 16;
            signature.push((t.first.0, kind | u64::from(t.waits) << 8 | u64::from(t.disputed)));
        }
        signature.extend(self.memory.writes_of(host).map(|(line, tag)| (line.0, u64::from(tag) << 48 | 1 << 47)));
        signature
    }
}
