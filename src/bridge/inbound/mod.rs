//! Transactions from CXL to accelerators, without time (`bridge` §5.2, §5.4, §6.4, §7, §8).
//!
//! Modelled: a message of CXL.mem to memory that hosts alone keep coherent takes an entry, becomes one request of 64 bytes to an
//! accelerator, and is answered when that has answered; windows and rights; line locks, reads that join a read; status and poison both
//! ways, the list of lines whose write was lost; time-outs, behind which tags stay taken until the late answer is there. What an
//! accelerator is asked is the same for UALink and NVLink; [`nvlink`] and [`ualink`] spell it. Reads of lines side by side may leave as one.
//! Detail: message in, messages out. Left out: CXL.io, the stages and their latencies, and
//! which reads leave together, which are up to the [`module`].
//!
//! Memory that the bridge keeps coherent (HDM-DB) has its home in front of it: [`exported`]. Lines may be kept in front of the accelerators:
//! [`cached`].
//!
//! A walk through one partial write: the message has an entry, its address lies in a window, its source may write there, nobody uses the
//! line; a write with byte enables goes to the accelerator; its answer comes with status 0, so Cmp is ready, and whoever waited for the
//! line goes on.

pub mod bar;
pub mod beats;
pub mod cached;
pub mod convert;
pub mod exported;
pub mod hairpin;
mod links;
mod merge;
pub mod module;
pub mod nvlink;
pub mod owner;
pub mod poison;
pub mod port;
pub mod side;
pub mod table;
pub mod ualink;

use crate::atomics::LineAtomic;
use crate::cache::data::DataCache;
use crate::commands::AccessKind;
use crate::flows::LineOperation;
use crate::hairpin::{OwnerAnswer, OwnerAtomic};
use crate::locks::{LineLocks, LockHolder, LockOutcome};
use crate::outbound::BridgeFinding;
use crate::outbound::table::ChildId;
use crate::window::{BridgeWindows, InboundClass};
use cached::{CacheUse, InboundCache, InboundCacheCounts};
use convert::{InboundAnswer, InboundRow, OWNER_ATOMIC, WriteEnd, inbound_row, read_answer, refused_row, write_end};
use poison::{AcceleratorLine, PoisonList};
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_coherence::message::Msg;
use scalepool_memory::decoder::Decoders;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType};
use scalepool_protocols::ualink::code::Status;
use side::SideAccess;
use table::{InboundProgress, InboundReply, InboundSource, InboundTable, InboundTransaction};

/// How the inbound half is built.
#[derive(Debug, Clone)]
pub struct InboundConfig {
    /// Its windows, dealt among accelerators.
    pub windows: BridgeWindows<InboundClass>,
    /// For each target port the decoders that the memory map gives it; `None`: its addresses are those of windows.
    pub decoders: Vec<Option<Decoders>>,
    /// Entries of its table, 1 to [`MOST_INBOUND`](table::MOST_INBOUND).
    pub entries: usize,
    /// The cache in front of accelerators, empty, if there is one.
    pub cache: Option<DataCache>,
}

/// What an accelerator is asked: an access to one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceleratorAccess {
    /// Number of the accelerator.
    pub target: u16,
    /// Line in its memory.
    pub line: LineAddr,
    /// Lines from that one on: 1, and of reads 2 or 4 as well, a whole part of a block.
    pub lines: u8,
    /// What is done to it.
    pub operation: LineOperation,
    /// What is computed, of an atomic, and whether the old values go back.
    pub atomic: Option<(LineAtomic, bool)>,
    /// What is written.
    pub data: CacheLine,
    /// Bit i: byte i is written.
    pub mask: u64,
    /// Virtual channel.
    pub vchan: u8,
}

/// What follows from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboundStep {
    /// The access of an entry leaves for its accelerator.
    Send(u16),
    /// The memory of the cache is accessed for an entry; behind it comes [`InboundBridge::cache_accessed`].
    AccessCache(u16),
    /// The answer of an entry is ready.
    Respond(u16),
    /// An entry has ended without an answer.
    Drop(u16),
    /// A transaction has got on; from here on its time counts anew.
    Advanced {
        /// Its entry.
        entry: u16,
        /// The number of this advance, for [`InboundBridge::time_out`].
        advances: u64,
    },
    /// A transaction waits for its line, which another one holds.
    Waits {
        /// Its entry.
        entry: u16,
        /// The other one's.
        holder: u16,
    },
    /// A transaction that waited goes on.
    GoesOn(u16),
}

/// What follows from a call; the caller owns it and empties it between calls.
#[derive(Debug, Clone, Default)]
pub struct InboundOutput {
    /// What is to be done, in this order.
    pub steps: Vec<InboundStep>,
    /// Broken rules.
    pub findings: Vec<BridgeFinding>,
}

impl InboundOutput {
    fn find(&mut self, rule: &'static str, found: String, expected: &'static str) {
        self.findings.push(BridgeFinding { rule, found, expected });
    }
}

/// What the inbound half has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InboundCounts {
    /// Messages: reads, writes, others.
    pub messages: [u64; 3],
    /// Accesses to accelerators.
    pub accesses: u64,
    /// Reads that got the data of another one.
    pub joined: u64,
    /// Reads that have left with that of another line.
    pub merged: u64,
    /// Messages outside of all windows, or without the right.
    pub refused: u64,
    /// Messages that stand in no row.
    pub illegal: u64,
    /// Writes whose bytes may be in memory or not.
    pub lost_writes: u64,
    /// Reads of such lines, and those at a port that has gone viral.
    pub poisoned_reads: u64,
    /// Transactions that were given up.
    pub timeouts: u64,
    /// Answers that nobody waited for any more.
    pub late: u64,
    /// Target ports that have gone viral, since the list of lost lines was full.
    pub viral_ports: u64,
}

/// The inbound half of a bridge.
#[derive(Debug, Clone)]
pub struct InboundBridge {
    config: InboundConfig,
    table: InboundTable,
    locks: LineLocks,
    lost: PoisonList,
    cache: Option<InboundCache>,
    /// Target ports that have gone viral.
    viral: Vec<bool>,
    counts: InboundCounts,
    /// Reads of the next lines that leave with the access of an entry, by that entry.
    merged: OrderedMap<u16, Vec<u16>>,
    /// Times that transactions got on, all together.
    advances: u64,
}

/// Where atomics of the hairpin come from, which is no target port.
const HAIRPIN: usize = usize::MAX;

/// An entry as the holder of a line.
fn holder(entry: u16) -> ChildId {
    ChildId { entry, child: 0 }
}

/// A line as locks know it.
fn place_of((target, line): AcceleratorLine) -> (usize, LineAddr) {
    (usize::from(target), line)
}

impl InboundBridge {
    /// A bridge with nothing under way.
    pub fn new(mut config: InboundConfig) -> InboundBridge {
        let data = config.cache.take();
        InboundBridge {
            cache: data.map(|data| InboundCache { data, counts: InboundCacheCounts::default() }),
            table: InboundTable::new(config.entries),
            locks: LineLocks::default(),
            lost: PoisonList::default(),
            viral: vec![false; config.decoders.len()],
            counts: InboundCounts::default(),
            merged: OrderedMap::new(),
            advances: 0,
            config,
        }
    }

    /// What it has counted.
    pub fn counts(&self) -> InboundCounts {
        self.counts
    }

    /// Transactions that have an entry.
    pub fn open(&self) -> usize {
        self.table.count()
    }

    /// Whether a message can have an entry.
    pub fn has_room(&self) -> bool {
        self.table.has_room()
    }

    /// Lines whose write was lost.
    pub fn lost(&self) -> &PoisonList {
        &self.lost
    }

    /// A transaction, to be looked at.
    pub fn transaction(&self, entry: u16) -> Option<&InboundTransaction> {
        self.table.get(entry)
    }

    /// Gives a message of a target port an entry; `None`: there is no room, or it is none that memory takes.
    pub fn admit(&mut self, source: InboundSource, msg: Msg<CacheLine>, out: &mut InboundOutput) -> Option<u16> {
        if matches!(msg, Msg::S2mBisnp { .. } | Msg::H2dReq { .. }) {
            let found = format!("a snoop by {} of memory in front of which no copy is", msg.class().name());
            out.find("BRG-CHC-26", found, "none: what is kept in front of memory has no state of coherence");
            return None;
        }
        if !matches!(msg, Msg::M2sReq { .. } | Msg::M2sRwd { .. }) {
            out.find("COH-TYP-01", msg.class().name().to_owned(), "M2S Req or RwD");
            return None;
        }
        let row = inbound_row(&msg).unwrap_or_else(|_| refused_row(&msg));
        self.insert(msg, source, row, None)
    }

    /// The same of an atomic of the hairpin, whose line the home keeps for it.
    pub fn admit_atomic(&mut self, ask: OwnerAtomic) -> Option<u16> {
        let OwnerAtomic { child, line, operands, vchan, .. } = ask;
        let msg = Msg::M2sRwd {
            opcode: M2sRwdOpcode::MemWrPtl,
            snp: SnpType::NoOp,
            meta_field: MetaField::NoOp,
            meta: MetaValue::Invalid,
            line,
            tag: child.tag(),
            data: operands,
            enables: ask.atomic.mask(),
        };
        let (port, class, traffic_class) = (HAIRPIN, InboundClass::Db, vchan);
        let source = InboundSource { port, class, traffic_class, ..InboundSource::default() };
        self.insert(msg, source, OWNER_ATOMIC, Some(ask))
    }

    fn insert(
        &mut self,
        msg: Msg<CacheLine>,
        source: InboundSource,
        row: InboundRow,
        atomic: Option<OwnerAtomic>,
    ) -> Option<u16> {
        self.table.insert(InboundTransaction {
            msg,
            atomic,
            source,
            row,
            place: None,
            progress: InboundProgress::Admitted,
            cache: CacheUse::PassedBy,
            awaits_accelerator: false,
            answer: None,
            advances: 0,
        })
    }

    /// The stages in front are behind a message: it is converted and takes its place.
    pub fn start(&mut self, entry: u16, out: &mut InboundOutput) {
        let Some(transaction) = self.table.get(entry) else { return };
        let (msg, source, row) = (transaction.msg, transaction.source, transaction.row);
        let is_read = row.answer == InboundAnswer::Data;
        let is_write = matches!(row.operation, Some(LineOperation::WriteFull | LineOperation::WritePart));
        self.counts.messages[if is_read {
            0
        } else if is_write {
            1
        } else {
            2
        }] += 1;
        // Window, rights, legality, in this order (`bridge` §2).
        let access = if is_write { AccessKind::Write } else { AccessKind::Read };
        let place = match self.routed(&msg, source, access) {
            Ok(place) => place,
            Err(status) => {
                self.counts.refused += 1;
                return self.refuse(entry, status, out);
            }
        };
        if row.answer != InboundAnswer::OldValues
            && let Err(rule) = inbound_row(&msg)
        {
            self.counts.illegal += 1;
            let address = msg.line().map_or(0, LineAddr::address);
            out.find(rule, format!("{} at {address:#x}", msg.label()), "a row of the table of HDM-H");
            return self.refuse(entry, Status::TargetAbort, out);
        }
        let Some(transaction) = self.table.get_mut(entry) else { return };
        transaction.place = Some(place);
        let has_bytes = !matches!(msg, Msg::M2sRwd { enables: 0, opcode: M2sRwdOpcode::MemWrPtl, .. });
        if row.operation.is_none() || !has_bytes {
            return self.finish(entry, Status::OKAY, CacheLine::ones(), out);
        }
        if self.viral.get(source.port) == Some(&true) {
            self.counts.poisoned_reads += u64::from(is_read);
            return self.refuse(entry, Status::TargetAbort, out);
        }
        self.gets_on(entry, out);
        let table = &self.table;
        let may_join = |other: ChildId| {
            let is_reading = |other: &InboundTransaction| {
                other.row.operation == Some(LineOperation::Read) && other.progress == InboundProgress::Asked
            };
            is_read && table.get(other.entry).is_some_and(is_reading)
        };
        match self.locks.lock(place_of(place), holder(entry), may_join) {
            LockOutcome::Held => self.launch(entry, out),
            LockOutcome::Joined(reader) => {
                self.counts.joined += 1;
                self.waits(entry);
                out.steps.push(InboundStep::Waits { entry, holder: reader.entry });
            }
            LockOutcome::Waits(before) => {
                self.waits(entry);
                let (LockHolder::Child(ChildId { entry: holder, .. }) | LockHolder::WriteBack(holder)) = before;
                out.steps.push(InboundStep::Waits { entry, holder });
            }
        }
    }

    fn waits(&mut self, entry: u16) {
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.progress = InboundProgress::Waiting;
        }
    }

    /// Where the line of a message lies, or the status with which it ends.
    fn routed(
        &self,
        msg: &Msg<CacheLine>,
        source: InboundSource,
        access: AccessKind,
    ) -> Result<AcceleratorLine, Status> {
        let address = msg.line().map_or(0, LineAddr::address);
        let address = match self.config.decoders.get(source.port) {
            Some(Some(decoders)) => decoders.device_address(address).ok_or(Status::DecodeError)?,
            _ => address,
        };
        let windows = &self.config.windows;
        // A port leads to windows of its class, and there are no others for it.
        let found = windows.translated(address).filter(|route| route.class == source.class);
        let found = found.ok_or(Status::DecodeError)?;
        let route = match source.class {
            InboundClass::Nh => windows.route(source.id, address, access)?,
            // The home asks, which has looked at the rights of those that ask it ([`exported`]).
            InboundClass::Db => found,
            // Requests of CXL.io come to no port of CXL.mem ([`bar`]).
            InboundClass::Br => return Err(Status::DecodeError),
        };
        Ok((route.port as u16, LineAddr::of_address(route.address)))
    }

    /// A transaction gets on, so its time counts anew. The number that says so is never used again.
    fn gets_on(&mut self, entry: u16, out: &mut InboundOutput) {
        self.advances += 1;
        let advances = self.advances;
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.advances = advances;
            out.steps.push(InboundStep::Advanced { entry, advances });
        }
    }

    /// A transaction holds its line: its access leaves, unless what is read there is poison already.
    fn launch(&mut self, entry: u16, out: &mut InboundOutput) {
        let Some(transaction) = self.table.get_mut(entry) else { return };
        transaction.progress = InboundProgress::Asked;
        let operation = transaction.row.operation;
        let Some(place) = transaction.place else { return };
        let is_lost = self.lost.has(place);
        // A poisoned line stays as it is under an atomic, which is answered with poison (BRG-ATM-06).
        let end = match operation {
            Some(LineOperation::Read) if is_lost => Some((Status::TargetAbort, CacheLine::ones())),
            Some(LineOperation::Atomic) if is_lost => Some((Status::OKAY, CacheLine::ones().poisoned(true))),
            _ => None,
        };
        if let Some((status, line)) = end {
            self.counts.poisoned_reads += 1;
            self.finish(entry, status, line, out);
            return self.release(place, (status, line), out);
        }
        if !self.looks_up(entry, place, out) {
            self.ask(entry, out);
        }
    }

    /// The access of a transaction leaves.
    fn ask(&mut self, entry: u16, out: &mut InboundOutput) {
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.awaits_accelerator = true;
        }
        self.counts.accesses += 1;
        self.gets_on(entry, out);
        out.steps.push(InboundStep::Send(entry));
    }

    /// Reads of the lines behind that of an entry leave with its access, which is one of all these lines from then on (`bridge` §3.5).
    pub fn merge(&mut self, entry: u16, others: Vec<u16>) {
        self.counts.merged += others.len() as u64;
        self.merged.insert(entry, others);
    }

    /// Entries of reads that have left with the access of an entry.
    pub fn merged(&self, entry: u16) -> &[u16] {
        self.merged.get(&entry).map_or(&[], Vec::as_slice)
    }

    /// The access of an entry.
    pub fn access(&self, entry: u16) -> Option<AcceleratorAccess> {
        let InboundTransaction { msg, atomic, row, place, source, cache, .. } = self.table.get(entry)?;
        let (operation, (target, line)) = (row.operation?, (*place)?);
        let (data, mask) = match msg {
            Msg::M2sRwd { data, enables, .. } => (*data, *enables),
            _ => (CacheLine::of([0; 64]), 0),
        };
        let lines = 1 + self.merged(entry).len() as u8;
        let (atomic, vchan) = (atomic.map(|ask| (ask.atomic, ask.returns)), source.traffic_class);
        let own = AcceleratorAccess { target, line, lines, operation, atomic, data, mask, vchan };
        Some(InboundBridge::cache_access(cache, own))
    }

    /// The access of an entry has left for its link.
    pub fn sent(&mut self, entry: u16, out: &mut InboundOutput) {
        for entry in [entry].into_iter().chain(self.merged(entry).to_vec()) {
            self.gets_on(entry, out);
        }
    }

    /// An accelerator answers the access of a tag: its status, and the lines that it has read, in their order.
    pub fn receive(&mut self, tag: u16, status: Status, read: &[CacheLine], out: &mut InboundOutput) {
        if !self.table.get(tag).is_some_and(|transaction| transaction.awaits_accelerator) {
            return out.find("BRG-TAG-02", format!("an answer with tag {tag}"), "an open access to an accelerator");
        }
        let is_read = self.access(tag).is_some_and(|access| SideAccess::Lines(&access).is_read());
        let others = self.merged.remove(&tag).unwrap_or_default();
        let asked = if is_read { 1 + others.len() } else { 0 };
        if status == Status::OKAY && asked != read.len() {
            let found = format!("{} lines of data for tag {tag}, which has asked for {asked}", read.len());
            out.find("BRG-MAP-64", found, "as many lines as a read has asked for, none for a write");
        }
        for (n, entry) in [tag].into_iter().chain(others).enumerate() {
            self.receive_line(entry, status, read.get(n).copied(), out);
        }
    }

    /// The access of an entry has ended with a status and its line.
    fn receive_line(&mut self, tag: u16, status: Status, read: Option<CacheLine>, out: &mut InboundOutput) {
        let is_read = self.access(tag).is_some_and(|access| access.operation == LineOperation::Read);
        let Some(transaction) = self.table.get_mut(tag) else { return };
        transaction.awaits_accelerator = false;
        let Some(place) = transaction.place else { return };
        let line = read.unwrap_or_else(CacheLine::ones);
        let status = if is_read && read.is_none() && status == Status::OKAY { Status::TargetAbort } else { status };
        if self.receives_for_cache(tag, place, (status, read), out) {
            return;
        }
        let Some(transaction) = self.table.get(tag) else { return };
        if transaction.progress == InboundProgress::Asked {
            self.finish(tag, status, line, out);
        } else {
            self.counts.late += 1;
            self.retire(tag);
        }
        self.release(place, (status, line), out);
    }

    /// Nobody uses a line any more: reads that have joined end with what was read, and whoever waits goes on.
    fn release(&mut self, place: AcceleratorLine, (status, line): (Status, CacheLine), out: &mut InboundOutput) {
        for other in self.locks.take_joined(place_of(place)) {
            self.finish(other.entry, status, line, out);
        }
        if let Some(next) = self.locks.release(place_of(place)) {
            out.steps.push(InboundStep::GoesOn(next.entry));
            self.launch(next.entry, out);
        }
    }

    /// Ends a transaction that was refused: its write has no effect.
    fn refuse(&mut self, entry: u16, status: Status, out: &mut InboundOutput) {
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.row.operation = None;
        }
        self.finish(entry, status, CacheLine::ones(), out);
    }

    /// Makes the answer of a transaction whose access has ended with a status.
    fn finish(&mut self, entry: u16, status: Status, line: CacheLine, out: &mut InboundOutput) {
        let devload = self.table.load();
        let Some(transaction) = self.table.get_mut(entry) else { return };
        let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
        let tag = match transaction.msg {
            Msg::M2sReq { tag, .. } | Msg::M2sRwd { tag, .. } => tag,
            _ => 0,
        };
        transaction.progress = InboundProgress::Answered;
        transaction.answer = match transaction.row.answer {
            InboundAnswer::Nothing => None,
            InboundAnswer::Completion => {
                Some(InboundReply::Message(Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag, devload }))
            }
            InboundAnswer::Data => {
                let (opcode, data) = read_answer(status, line);
                Some(InboundReply::Message(Msg::S2mDrs { opcode, meta_field, meta, tag, data, devload }))
            }
            InboundAnswer::OldValues => {
                transaction.atomic.map(|ask| InboundReply::Owner(OwnerAnswer { child: ask.child, status, line }))
            }
        };
        let (has_answer, row, port) = (transaction.answer.is_some(), transaction.row, transaction.source.port);
        if let (Some(operation), Some(place)) = (row.operation, transaction.place)
            && matches!(operation, LineOperation::WriteFull | LineOperation::WritePart)
        {
            match write_end(status) {
                WriteEnd::Written if operation == LineOperation::WriteFull => self.lost.remove(place),
                WriteEnd::Written => (),
                WriteEnd::Refused => self.counts.refused += 1,
                WriteEnd::Lost => self.lose(place, port),
            }
        }
        out.steps.push(if has_answer { InboundStep::Respond(entry) } else { InboundStep::Drop(entry) });
    }

    /// All target ports are viral from now on: what they read is poison, and what they write has no effect.
    pub fn go_viral(&mut self) {
        self.counts.viral_ports = self.viral.len() as u64;
        self.viral.fill(true);
    }

    /// The write of a line is lost. One that the list has no room for makes its port viral, so that nobody takes old data for new.
    fn lose(&mut self, place: AcceleratorLine, port: usize) {
        self.counts.lost_writes += 1;
        if !self.lost.add(place)
            && let Some(viral) = self.viral.get_mut(port)
        {
            self.counts.viral_ports += u64::from(!*viral);
            *viral = true;
        }
    }

    /// A transaction has not got on since it had done so for this time: it ends as with status 8, unless it waits for one that has its
    /// time still. Its entry stays taken until its accelerator has answered.
    pub fn time_out(&mut self, entry: u16, advances: u64, out: &mut InboundOutput) {
        let Some(transaction) = self.table.get(entry) else { return };
        let is_open = matches!(transaction.progress, InboundProgress::Waiting | InboundProgress::Asked);
        let Some(place) = transaction.place.filter(|_| is_open && transaction.advances == advances) else { return };
        if transaction.progress == InboundProgress::Waiting {
            let of_line = self.locks.get_mut(place_of(place)).map(|lock| lock.holder);
            let is_alive = match of_line {
                Some(LockHolder::Child(ChildId { entry, .. }) | LockHolder::WriteBack(entry)) => self.is_at_work(entry),
                None => false,
            };
            if is_alive {
                return self.gets_on(entry, out);
            }
            self.locks.give_up(place_of(place), holder(entry));
        }
        // An access of the cache ends by itself.
        if self.is_in_cache(entry) {
            return self.gets_on(entry, out);
        }
        self.give_up(entry, out);
    }

    fn give_up(&mut self, entry: u16, out: &mut InboundOutput) {
        self.counts.timeouts += 1;
        self.gives_up_lines(entry, out);
        self.finish(entry, Status::CompletionTimeout, CacheLine::ones(), out);
    }

    /// The link over which the access of a tag was asked was reset: what it was for ends as with status 8 (`bridge` §8.2: link down). Its
    /// entry stays taken until its accelerator has answered or it is [forgotten](Self::forget).
    pub fn link_lost(&mut self, tag: u16, out: &mut InboundOutput) {
        for entry in [tag].into_iter().chain(self.merged(tag).to_vec()) {
            if self.is_at_work(entry) && !self.is_in_cache(entry) {
                self.give_up(entry, out);
            }
        }
    }

    /// The answer to the access of a tag that was lost cannot come any more: its entry and its line are free (`bridge` §7).
    pub fn forget(&mut self, tag: u16, out: &mut InboundOutput) {
        let late = self.counts.late;
        self.receive(tag, Status::CompletionTimeout, &[], out);
        self.counts.late = late;
    }

    /// Where the answer of an entry goes, and the answer.
    pub fn answer(&self, entry: u16) -> Option<(InboundSource, Msg<CacheLine>)> {
        let transaction = self.table.get(entry)?;
        match transaction.answer? {
            InboundReply::Message(answer) => Some((transaction.source, answer)),
            InboundReply::Owner(_) => None,
        }
    }

    /// How the atomic of an entry has ended, for the outbound half.
    pub fn owner_answer(&self, entry: u16) -> Option<OwnerAnswer> {
        match self.table.get(entry)?.answer? {
            InboundReply::Owner(answer) => Some(answer),
            InboundReply::Message(_) => None,
        }
    }

    /// The answer of an entry has left, or it had none: it is free unless its accelerator has still to answer.
    pub fn left(&mut self, entry: u16) {
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.progress = InboundProgress::Left;
            self.retire(entry);
        }
    }

    /// Whether a transaction is under way and has its time still.
    fn is_at_work(&self, entry: u16) -> bool {
        self.table.get(entry).is_some_and(|transaction| transaction.progress == InboundProgress::Asked)
    }

    fn retire(&mut self, entry: u16) {
        let is_over = |transaction: &InboundTransaction| {
            transaction.progress == InboundProgress::Left && !transaction.awaits_accelerator
        };
        if self.table.get(entry).is_some_and(is_over) {
            self.table.remove(entry);
        }
    }
}
