//! The home agent: one transaction a line, a directory of who holds what, and the memory behind it (`coherence` §2.8).
//!
//! One request: it is taken when no transaction is open on its line and one is free ([`HomeAgent::accepts`]; otherwise
//! it waits in its channel or in the bounded queue). The snoops of its row ([`requests`]) go out; each answer updates
//! the directory and, with data, the memory ([`READINGS`](super::snoops::READINGS)). With the last one the requester is answered. A read
//! ends there; a write or an evict has been pulled and ends when its data is in.
//!
//! A memory of its own reads and writes in the step that asks. One behind a port ([`Backing::port`]) takes two stages more, of which each
//! transaction has at most what it needs: behind the last snoop answer the line is *fetched*, unless it is in hand, or what a
//! holder gave back is *stored*; then the requester is answered. What a pull or the core wrote is stored before the
//! transaction ends. Left out: reading memory beside the snoops, on the chance that nobody has the line dirty.
//!
//! Port n is the device with CacheID n; requests are keyed by (port, CQID). [`HOST_CORE`] is the host's own core, a
//! requester as any other that needs no message.

mod answers;

use super::backing::{Backing, read_of, write_of};
use super::device::WriteBytes;
use super::requests::{self, Snooped};
use super::state::{HostAnswer, Snoop};
use crate::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use crate::config::{CoherenceConfig, ErrorAnswer};
use crate::content::{LineAddr, LineContent, WHOLE_LINE};
use crate::event::CoherenceEvent;
use crate::ids::IdSet;
use crate::lines::LineMap;
use crate::message::Msg;
use crate::names;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, D2hRspOpcode, DrsOpcode};
use std::fmt;

/// Devices below one home: CacheID has 4 bits, and the home names the port in 4 bits of the UQID (`coherence` §1, §2.9).
pub const PORTS: AgentPort = 16;

/// The requester that is the host's own core.
pub const HOST_CORE: AgentPort = PORTS;

/// Most open transactions: UQID has 12 bits, 4 of which name the port.
pub const SLOTS: usize = u8::MAX as usize;

/// What the directory says of a line. Empty entries are not kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Holders {
    /// Who was granted E or M.
    pub owner: Option<AgentPort>,
    /// Who may hold S.
    pub sharers: IdSet,
}

/// In words.
impl fmt::Display for Holders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.owner {
            Some(port) => write!(f, "device {port} as owner")?,
            None => f.write_str("no owner")?,
        }
        write!(f, " and {}", self.sharers.named("sharer"))
    }
}

impl Holders {
    /// Nobody but an owner.
    fn owned_by(port: AgentPort) -> Self {
        Self { owner: Some(port), sharers: IdSet::EMPTY }
    }

    /// Everybody.
    pub fn all(&self) -> IdSet {
        self.owner.into_iter().fold(self.sharers.clone(), IdSet::with)
    }

    /// The owner as a set.
    pub fn owner(&self) -> IdSet {
        self.owner.map_or(IdSet::EMPTY, IdSet::one)
    }

    /// What is left when a device holds nothing.
    pub fn forget(&mut self, port: AgentPort) {
        self.sharers.remove(port);
        if self.owner == Some(port) {
            self.owner = None;
        }
    }
}

/// How far a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Snoop answers are missing.
    Snooping,
    /// The requester was pulled, its data is missing; `expected`: an evict of the true holder, or a write.
    Pulling {
        /// The data counts.
        expected: bool,
    },
    /// The line has been asked for from the memory behind its port.
    Fetching,
    /// What was written is on its way to the memory behind its port.
    Storing {
        /// The transaction ends with it; otherwise the answer follows.
        ends: bool,
    },
    /// The requester has its answer, snoop answers are missing: not where an answer awaits them
    /// ([`answer_awaits_snoops`](crate::rules::CacheRules::answer_awaits_snoops)).
    Answered,
    /// The data of a read has left, and its GO leaves in a step of its own: where they do not leave together
    /// ([`go_leaves_with_data`](crate::rules::CacheRules::go_leaves_with_data)).
    GoFollows(HostAnswer),
}

/// What is done for the requester.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task<D> {
    /// A device's request.
    Request {
        /// The request.
        op: Op,
        /// Its CQID.
        cqid: u16,
    },
    /// The snoop filter takes its entry back.
    Recall,
    /// The host's core reads.
    CoreRead,
    /// The host's core writes.
    CoreWrite {
        /// Values.
        data: D,
        /// One bit a byte.
        enables: u64,
    },
}

impl<D> Task<D> {
    /// Whom the home snoops for it.
    fn snooped(&self) -> Snooped {
        match self {
            Task::Request { op, .. } => requests::request(*op).map_or(Snooped::Nobody, |r| r.snooped),
            Task::Recall | Task::CoreWrite { .. } => Snooped::Everybody(Snoop::Inv),
            Task::CoreRead => Snooped::Owner(Snoop::Data),
        }
    }
}

/// An open transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HomeTransaction<D> {
    /// Upper part of its UQIDs.
    pub slot: u8,
    /// Line.
    pub line: LineAddr,
    /// Who asked.
    pub port: AgentPort,
    /// What the transaction does for its requester.
    pub task: Task<D>,
    /// How far it is.
    pub phase: Phase,
    /// Ports whose D2H Rsp is missing.
    pub answers: IdSet,
    /// Ports whose D2H Data is missing.
    pub data: IdSet,
    /// Data that came before its D2H Rsp.
    early: Vec<(AgentPort, D)>,
    /// Answers whose data is missing.
    late: Vec<(AgentPort, D2hRspOpcode)>,
    /// Some holder kept a copy.
    kept: bool,
    /// The value, when it does not stand in memory: to the requester only.
    passed: Option<D>,
    /// `passed` is dirty: it goes with GO-M.
    dirty: bool,
    /// The request was answered with an error: its data is taken and forgotten.
    pub refused: Option<ErrorAnswer>,
}

impl<D> HomeTransaction<D> {
    /// Whether it cannot go on without the line's bytes: those of a read that no holder has given, and those around a write of
    /// a part.
    fn needs_line(&self) -> bool {
        match &self.task {
            Task::CoreRead => true,
            Task::CoreWrite { enables, .. } => *enables != WHOLE_LINE,
            Task::Request { op: Op::RdCurr | Op::RdShared | Op::RdAny | Op::RdOwn, .. } => self.passed.is_none(),
            Task::Request { op: Op::WrInv | Op::WOWrInv, .. } => true,
            Task::Request { .. } | Task::Recall => false,
        }
    }

    /// Whether it writes the line when its snoops are answered, so that what a holder gave back need not be stored before.
    fn will_write(&self) -> bool {
        let writes = [Op::ItoMWr, Op::WrCur, Op::WrInv, Op::WOWrInv, Op::WOWrInvF];
        matches!(&self.task, Task::CoreWrite { .. })
            || matches!(&self.task, Task::Request { op, .. } if writes.contains(op))
    }

    /// Values that it holds back: data before its answer, and data on its way to the requester only.
    pub fn values(&self) -> impl Iterator<Item = &D> {
        self.early.iter().map(|(_, d)| d).chain(&self.passed)
    }

    /// The Fwd answer of a port whose data is missing.
    pub fn late_answer(&self, port: AgentPort) -> Option<D2hRspOpcode> {
        self.late.iter().find(|(p, _)| *p == port).map(|(_, rsp)| *rsp)
    }
}

/// A request that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct WaitingRequest {
    port: AgentPort,
    op: Op,
    line: LineAddr,
    cqid: u16,
}

/// The home agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HomeAgent<D, B> {
    directory: LineMap<(LineAddr, Holders)>,
    open: Vec<HomeTransaction<D>>,
    queue: Vec<WaitingRequest>,
    /// Memory.
    pub memory: B,
}

fn event<D>(out: &mut AgentOutput<D>, rule: &'static str, line: Option<LineAddr>, found: String, expected: &str) {
    out.events.push(CoherenceEvent::new(rule, line, "home", found, expected));
}

impl<D: LineContent, B: Backing<D>> HomeAgent<D, B> {
    /// A home whose devices hold nothing.
    pub fn new(memory: B) -> Self {
        Self { directory: LineMap::default(), open: Vec::new(), queue: Vec::new(), memory }
    }

    /// What the directory says of a line.
    pub fn holders(&self, line: LineAddr) -> Holders {
        self.directory.get(line).map_or_else(Holders::default, |(_, holders)| holders.clone())
    }

    /// Sets the directory, as the start of a run.
    pub fn set_holders(&mut self, line: LineAddr, holders: Holders) {
        if holders == Holders::default() {
            self.directory.remove(line);
        } else {
            let at = self.directory.place(line, |line| (line, Holders::default()));
            self.directory[at].1 = holders;
        }
    }

    fn change(&mut self, line: LineAddr, f: impl FnOnce(&mut Holders)) {
        let mut holders = self.holders(line);
        f(&mut holders);
        self.set_holders(line, holders);
    }

    /// Every line that the directory knows, with its holders.
    pub fn directory(&self) -> impl Iterator<Item = (LineAddr, &Holders)> {
        self.directory.iter().map(|(line, holders)| (*line, holders))
    }

    /// The line of a request that waits in the queue.
    pub fn waiting(&self, port: AgentPort, cqid: u16) -> Option<LineAddr> {
        self.queue.iter().find(|w| (w.port, w.cqid) == (port, cqid)).map(|w| w.line)
    }

    /// Open transactions.
    pub fn open(&self) -> &[HomeTransaction<D>] {
        &self.open
    }

    /// Whether the data of an UQID is that of a pull.
    pub fn pulls(&self, uqid: u16) -> bool {
        self.slot((uqid >> 4) as u8)
            .is_some_and(|i| matches!(self.open[i].phase, Phase::Pulling { .. }) && self.open[i].port == port_of(uqid))
    }

    /// Lines that taking a message may change, but for those of messages that it sends then: an answer concerns the
    /// line of its transaction, and requests that wait may go on.
    pub fn lines_of(&self, msg: &Msg<D>) -> Vec<LineAddr> {
        let waiting = self.queue.iter().map(|w| w.line);
        match *msg {
            Msg::D2hReq { opcode: Op::CacheFlushed, .. } => self.directory.iter().map(|(line, _)| *line).collect(),
            Msg::D2hRsp { uqid, .. } | Msg::D2hData { uqid, .. } => {
                let answered = self.slot((uqid >> 4) as u8).map(|i| self.open[i].line);
                waiting.chain(answered).collect()
            }
            Msg::S2mDrs { tag, .. } | Msg::S2mNdr { tag, .. } => {
                let asked = self.open.iter().filter(|t| u16::from(t.slot) == tag).map(|t| t.line);
                waiting.chain(asked).collect()
            }
            _ => waiting.chain(msg.line()).collect(),
        }
    }

    /// Lines that the directory knows.
    pub fn tracked_lines(&self) -> usize {
        self.directory.len()
    }

    fn busy(&self, config: &CoherenceConfig, line: LineAddr) -> bool {
        self.open.iter().any(|t| t.line == line && config.rules.blocks(t.phase))
    }

    /// The snoop filter has a place for a line that `op` makes tracked.
    fn has_room(&self, config: &CoherenceConfig, op: Op, line: LineAddr) -> bool {
        config.home_filter_lines == 0
            || ![Op::RdShared, Op::RdAny, Op::RdOwn, Op::RdOwnNoData].contains(&op)
            || self.holders(line) != Holders::default()
            || self.directory.len() + self.grants_open(line) < config.home_filter_lines
    }

    /// Lines not in the directory that an open transaction will bring there.
    fn grants_open(&self, but: LineAddr) -> usize {
        let grants = |t: &&HomeTransaction<D>| {
            matches!(t.task, Task::Request { op: Op::RdShared | Op::RdAny | Op::RdOwn | Op::RdOwnNoData, .. })
        };
        let lines = self.open.iter().filter(grants).map(|t| t.line);
        lines.filter(|l| *l != but && self.holders(*l) == Holders::default()).count()
    }

    /// A transaction that is not in use; without one every request waits.
    fn free_slot(&self, config: &CoherenceConfig) -> Option<u8> {
        let used = self.open.iter().map(|t| u16::from(t.slot));
        names::lowest_free(config.home_transactions.min(SLOTS), used).map(|slot| slot as u8)
    }

    /// The transaction for a request that may start now.
    fn may_start(&self, config: &CoherenceConfig, op: Op, line: LineAddr) -> Option<u8> {
        let free = !self.busy(config, line) && self.has_room(config, op, line);
        if free { self.free_slot(config) } else { None }
    }

    /// A host core's read; answered with [`Effect::Used`]. `false`: the line is busy, or no transaction is free.
    pub fn core_read(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<D>) -> bool {
        self.core(config, line, Task::CoreRead, out)
    }

    /// A host core's write; answered with [`Effect::Written`]. `false`: the line is busy, or no transaction is free.
    pub fn core_write(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        data: D,
        enables: u64,
        out: &mut AgentOutput<D>,
    ) -> bool {
        self.core(config, line, Task::CoreWrite { data, enables }, out)
    }

    fn core(&mut self, config: &CoherenceConfig, line: LineAddr, task: Task<D>, out: &mut AgentOutput<D>) -> bool {
        let slot = if self.busy(config, line) { None } else { self.free_slot(config) };
        if let Some(slot) = slot {
            self.start(config, slot, HOST_CORE, line, task, out);
            self.serve(config, out);
        }
        slot.is_some()
    }

    /// Opens transaction `slot`, which is free, and sends its snoops.
    fn start(
        &mut self,
        config: &CoherenceConfig,
        slot: u8,
        port: AgentPort,
        line: LineAddr,
        task: Task<D>,
        out: &mut AgentOutput<D>,
    ) {
        if let (Task::Request { op, cqid }, Some(error)) = (&task, config.error_of(line)) {
            return self.refuse(slot, port, line, *op, *cqid, error, out);
        }
        let holders = self.holders(line);
        let snooped = task.snooped();
        let (snoop, mut targets) = (snooped.snoop(), config.rules.snooped(snooped, &holders));
        targets.remove(port);
        let transaction = HomeTransaction {
            slot,
            line,
            port,
            task,
            phase: Phase::Snooping,
            answers: targets.clone(),
            data: IdSet::EMPTY,
            early: Vec::new(),
            late: Vec::new(),
            kept: false,
            passed: None,
            dirty: false,
            refused: None,
        };
        for target in &targets {
            if let Some(snoop) = snoop {
                out.send(target, Msg::H2dReq { opcode: snoop.code(), line, uqid: uqid(slot, target) });
            }
        }
        self.open.push(transaction);
        scalepool_ordered::sort_by_key(&mut self.open, |t| t.slot);
        if targets.is_empty() {
            self.ready(config, slot, out);
        } else if !config.rules.answer_awaits_snoops() {
            self.answer(config, slot, out);
            if let Some(i) = self.slot(slot) {
                self.open[i].phase = Phase::Answered;
            }
        }
    }

    /// The transaction of a slot and its number.
    fn slot(&self, slot: u8) -> Option<usize> {
        self.open.iter().position(|t| t.slot == slot)
    }

    /// All snoops are answered: what is missing is fetched, and what a holder gave back is stored, before the requester is
    /// answered.
    fn ready(&mut self, config: &CoherenceConfig, slot: u8, out: &mut AgentOutput<D>) {
        let Some(i) = self.slot(slot) else { return };
        let t = &self.open[i];
        if t.needs_line()
            && !self.memory.has(t.line)
            && let Some(memory) = self.memory.port()
        {
            out.send(memory, read_of(t.line, slot.into()));
            self.open[i].phase = Phase::Fetching;
        } else if !self.memory.is_stored(t.line) && !t.will_write() {
            self.store(i, false, out);
        } else {
            self.answer(config, slot, out);
        }
    }

    /// Sends what was written to the memory behind its port.
    fn store(&mut self, i: usize, ends: bool, out: &mut AgentOutput<D>) {
        let Some(memory) = self.memory.port() else { return };
        let t = &mut self.open[i];
        t.phase = Phase::Storing { ends };
        out.send(memory, write_of(t.line, t.slot.into(), self.memory.read(t.line)));
    }

    /// Ends a transaction whose writes have been made: they are stored first where memory is behind a port, then a write that
    /// was pulled without a GO is answered.
    fn finish(&mut self, config: &CoherenceConfig, slot: u8, out: &mut AgentOutput<D>) {
        let Some(i) = self.slot(slot) else { return };
        if !self.memory.is_stored(self.open[i].line) {
            return self.store(i, true, out);
        }
        let t = &self.open[i];
        if let (&Task::Request { op, cqid }, Phase::Pulling { .. } | Phase::Storing { ends: true }) = (&t.task, t.phase)
        {
            let last = match (config.rules.write_answers(op).behind_data, t.refused) {
                (Some(HostAnswer::GoI), Some(ErrorAnswer::GoInvalid | ErrorAnswer::GoError)) => Some(HostAnswer::GoErr),
                (last, _) => last,
            };
            if let Some((opcode, state)) = last.map(HostAnswer::code) {
                out.send(t.port, Msg::H2dRsp { opcode, rsp_data: state.map_or(0, |s| u16::from(s.0)), cqid });
            }
        }
        self.close(slot, out);
    }

    fn untrack(&mut self, config: &CoherenceConfig, line: LineAddr, port: AgentPort) {
        self.change(line, |h| config.rules.evicted(h, port));
    }

    /// The transaction is over; [`HomeAgent::serve`] follows at the end of the step.
    fn close(&mut self, slot: u8, out: &mut AgentOutput<D>) {
        if let Some(i) = self.slot(slot) {
            let t = self.open.remove(i);
            if self.open.iter().all(|other| other.line != t.line) {
                self.memory.released(t.line);
            }
            out.effects.push(Effect::Done(t.line));
        }
    }

    /// Ends a step in which a transaction has ended: starts what waits for its line, for a transaction or for a place in the
    /// filter and can go on now, oldest first. What is started may end at once, so this goes round until nothing more can.
    fn serve(&mut self, config: &CoherenceConfig, out: &mut AgentOutput<D>) {
        if !out.effects.iter().any(|e| matches!(e, Effect::Done(_))) {
            return;
        }
        let first = |home: &Self| {
            let mut waiting = home.queue.iter().enumerate();
            waiting.find_map(|(i, w)| Some((i, home.may_start(config, w.op, w.line)?)))
        };
        loop {
            while let Some((i, slot)) = first(self) {
                let w = self.queue.remove(i);
                self.start(config, slot, w.port, w.line, Task::Request { op: w.op, cqid: w.cqid }, out);
            }
            if !self.recall(config, out) {
                return;
            }
        }
    }

    /// A request waits for nothing but a place in the filter: the first line without a transaction gives its place up.
    /// `true`: the place is free already.
    fn recall(&mut self, config: &CoherenceConfig, out: &mut AgentOutput<D>) -> bool {
        let recalls = self.open.iter().any(|t| t.task == Task::Recall);
        let needed = self.queue.iter().any(|w| !self.busy(config, w.line) && !self.has_room(config, w.op, w.line));
        let victim = self.directory.iter().map(|(l, _)| *l).find(|l| !self.busy(config, *l));
        match (victim.filter(|_| needed && !recalls), self.free_slot(config)) {
            (Some(line), Some(slot)) => {
                self.start(config, slot, HOST_CORE, line, Task::Recall, out);
                self.holders(line) == Holders::default()
            }
            // The next transaction that ends asks again.
            _ => false,
        }
    }

    /// Takes a line back from all its holders, as for a place in the snoop filter. `false`: the line is busy, nobody has it, or no
    /// transaction is free.
    pub fn take_back(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<D>) -> bool {
        let is_held = self.holders(line) != Holders::default() && !self.busy(config, line);
        let slot = self.free_slot(config).filter(|_| is_held);
        slot.into_iter().for_each(|slot| self.start(config, slot, HOST_CORE, line, Task::Recall, out));
        slot.is_some()
    }

    fn requested(
        &mut self,
        config: &CoherenceConfig,
        port: AgentPort,
        op: Op,
        line: LineAddr,
        cqid: u16,
        out: &mut AgentOutput<D>,
    ) {
        if requests::request(op).is_none() {
            return event(out, "COH-OPC-01", Some(line), format!("D2H Req code {}", op.0), "a listed request");
        }
        if config.is_own_memory(port, line) && ![Op::ItoMWr, Op::WrCur, Op::WrInv].contains(&op) {
            let found = format!("{} for the device's own HDM-DB", op.name().unwrap_or("?"));
            return event(out, "COH-BIA-10", Some(line), found, "ItoMWr, WrCur or WrInv");
        }
        if op == Op::CacheFlushed {
            // The device holds nothing and asks for nothing: all its tracking goes. Its own snoops may be under way.
            let lines: Vec<LineAddr> = self.directory.iter().map(|(line, _)| *line).collect();
            for line in lines {
                self.change(line, |h| h.forget(port));
            }
            let (opcode, state) = HostAnswer::GoI.code();
            return out.send(port, Msg::H2dRsp { opcode, rsp_data: state.map_or(0, |s| u16::from(s.0)), cqid });
        }
        match self.may_start(config, op, line) {
            Some(slot) => self.start(config, slot, port, line, Task::Request { op, cqid }, out),
            None => {
                if !config.rules.tracks_waiting() {
                    self.change(line, |h| h.forget(port));
                }
                self.queue.push(WaitingRequest { port, op, line, cqid });
                self.recall(config, out);
            }
        }
    }
}

/// UQID of a transaction and a port.
pub fn uqid(slot: u8, port: AgentPort) -> u16 {
    u16::from(slot) << 4 | port & 15
}

/// The port to which an UQID was given: D2H Rsp and D2H Data carry no CacheID (`coherence` §1).
pub fn port_of(uqid: u16) -> AgentPort {
    uqid & 15
}

impl<D: LineContent, B: Backing<D>> Agent<D> for HomeAgent<D, B> {
    fn accepts(&self, config: &CoherenceConfig, _port: AgentPort, msg: &Msg<D>) -> Accept {
        let Msg::D2hReq { opcode, line, .. } = msg else { return Accept::Take };
        if *opcode == Op::CacheFlushed {
            return Accept::Take;
        }
        let free = self.may_start(config, *opcode, *line).is_some();
        // One place is kept for a request that makes the filter give an entry back.
        let recalls = !self.busy(config, *line)
            && !self.has_room(config, *opcode, *line)
            && self.queue.is_empty()
            && self.open.iter().all(|t| t.task != Task::Recall);
        // An evict of a device that is not tracked while it waits needs no place.
        let untracked =
            !config.rules.tracks_waiting() && [Op::DirtyEvict, Op::CleanEvict, Op::CleanEvictNoData].contains(opcode);
        if free || recalls || untracked || self.queue.len() < config.home_queue_requests {
            Accept::Take
        } else {
            Accept::Wait
        }
    }

    fn take(&mut self, config: &CoherenceConfig, port: AgentPort, msg: Msg<D>, _way: u8, out: &mut AgentOutput<D>) {
        match msg {
            Msg::D2hReq { opcode, line, cqid } => self.requested(config, port, opcode, line, cqid, out),
            Msg::D2hRsp { opcode, uqid } => self.snoop_answered(config, port, opcode, uqid, out),
            Msg::D2hData { uqid, bogus, data, enables, .. } => {
                self.data_came(config, port, uqid, bogus, WriteBytes { data, enables }, out)
            }
            Msg::S2mDrs { opcode, tag, data, .. } if self.memory.port().is_some() => {
                self.fetched(config, tag, (opcode != DrsOpcode::MemDataNXM).then_some(data), out);
            }
            Msg::S2mNdr { tag, .. } if self.memory.port().is_some() => self.stored(config, tag, out),
            other => event(out, "COH-TYP-01", other.line(), other.class().name().into(), "a D2H message"),
        }
        self.serve(config, out);
    }

    fn choices(&self, _config: &CoherenceConfig) -> u8 {
        self.open.iter().filter(|t| matches!(t.phase, Phase::GoFollows(_))).count() as u8
    }

    /// The GO of a read whose data has left.
    fn choose(&mut self, config: &CoherenceConfig, choice: u8, out: &mut AgentOutput<D>) {
        let owing: Vec<(u8, AgentPort, HostAnswer, u16)> = self
            .open
            .iter()
            .filter_map(|t| match (t.phase, &t.task) {
                (Phase::GoFollows(go), Task::Request { cqid, .. }) => Some((t.slot, t.port, go, *cqid)),
                _ => None,
            })
            .collect();
        if let Some(&(slot, port, go, cqid)) = owing.get(usize::from(choice)) {
            let (opcode, state) = go.code();
            out.send(port, Msg::H2dRsp { opcode, rsp_data: state.map_or(0, |s| u16::from(s.0)), cqid });
            self.close(slot, out);
            self.serve(config, out);
        }
    }

    fn is_idle(&self) -> bool {
        self.open.is_empty() && self.queue.is_empty()
    }

    fn visit(&mut self, f: &mut dyn FnMut(&mut D)) {
        self.memory.visit(f);
        for t in &mut self.open {
            t.early.iter_mut().for_each(|(_, d)| f(d));
            t.passed.iter_mut().for_each(&mut *f);
            if let Task::CoreWrite { data, .. } = &mut t.task {
                f(data);
            }
        }
    }
}

/// The same home with its devices renamed: port p becomes `to[p]`. For the symmetry reduction of a search.
impl<D: LineContent, B: Backing<D>> HomeAgent<D, B> {
    /// Renames ports.
    pub fn rename(&mut self, to: &[AgentPort]) {
        let port = |p: AgentPort| to.get(usize::from(p)).copied().unwrap_or(p);
        let renamed = |ports: &IdSet| ports.iter().map(port).collect();
        for (_, h) in self.directory.iter_mut() {
            *h = Holders { owner: h.owner.map(port), sharers: renamed(&h.sharers) };
        }
        for t in &mut self.open {
            t.port = port(t.port);
            (t.answers, t.data) = (renamed(&t.answers), renamed(&t.data));
            t.early.iter_mut().for_each(|(p, _)| *p = port(*p));
            t.late.iter_mut().for_each(|(p, _)| *p = port(*p));
            scalepool_ordered::sort(&mut t.early);
            scalepool_ordered::sort(&mut t.late);
        }
        self.queue.iter_mut().for_each(|w| w.port = port(w.port));
    }

    /// What the home knows of one port, without its number: two ports with equal answers are the same to it. Flags of
    /// each line, transaction and waiting request, then the data that came early.
    pub fn signature(&self, port: AgentPort) -> (Vec<u64>, Vec<Option<&D>>) {
        let lines =
            self.directory.iter().map(|(_, h)| u64::from(h.owner == Some(port)) << 1 | u64::from(h.sharers.has(port)));
        let open = self.open.iter().map(|t| {
            let late = t.late_answer(port).map_or(0, |rsp| u64::from(rsp.0) + 1);
            let bits =
                u64::from(t.port == port) | u64::from(t.answers.has(port)) << 1 | u64::from(t.data.has(port)) << 2;
            bits | late << 3
        });
        let queue = self.queue.iter().map(|w| u64::from(w.port == port));
        let early = self.open.iter().map(|t| t.early.iter().find(|(p, _)| *p == port).map(|(_, data)| data));
        (lines.chain(open).chain(queue).collect(), early.collect())
    }
}
