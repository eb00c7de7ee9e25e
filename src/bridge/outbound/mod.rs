//! Transactions from accelerators to CXL, without time (`bridge` §3, §4, §6, §7, §8).
//!
//! Modelled: a request takes an entry, becomes up to four children, one for each line, and is answered when all have ended; order and
//! line locks; the steps of each flow, or what the [cache](super::cache) makes of them; kept conversions; back-invalidate snoops; time-outs,
//! behind which identifiers stay taken until the late answer is there; requests of class IO, which send TLPs. Detail: message in, messages out. Left out: the stages and their
//! latencies and the memory of the cache, which are those of the [module](super::module).
//!
//! A walk through a partial write of a line of class MC: the request has an entry and is the first of its block; no other transaction uses
//! the line, so MemRd Any/SnpInv leaves; Cmp-E and the data come; the bytes are merged and MemWr leaves; its Cmp ends the child and the
//! request, the response is ready, and whoever waited for the line or for the block goes on.

mod cached;
mod convert;
mod damage;
pub mod epoch;
mod hairpin;
pub mod host_lines;
mod identity;
mod io;
mod links;
mod manage;
pub mod nvlink;
pub mod order;
pub mod posted;
pub mod request;
pub mod rooms;
mod snoops;
pub mod table;
pub mod transaction;
pub mod upli;
pub mod write_backs;

use crate::cache::ConversionCacheCounts;
use crate::cache::cells::{CacheCells, CacheEccConfig};
use crate::cache::data::{DataCache, PortLine};
use crate::cache::sector::SectorState;
use crate::cache::stream::StreamDetector;
use crate::cache::templates::{TemplateConfig, TemplateStore};
use crate::commands::{AccessKind, CommandAction};
use crate::flows::{LineOperation, StepMessage};
use crate::hairpin::OwnerAtomic;
use crate::io::tlps::IoAck;
use crate::io::turns::IoTurns;
use crate::locks::{LineLocks, LockHolder, LockOutcome, OpenSnoop};
use crate::registers::{BridgeRegisters, ControlWindow};
use crate::status::merged;
use crate::watched::BridgeLines;
use crate::window::{BridgeWindows, InboundClass, WindowClass};
use epoch::EpochTables;
use order::{BridgeOrder, OrderKey, OrderQueues};
use posted::PostedBook;
use request::{AnsweredBeats, BridgeRequest, BridgeResponse, EntryNeed, PostedRole};
use rooms::RoomQueues;
use scalepool_coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool_coherence::message::Msg;
use scalepool_endpoint::tlp::Tlp;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, NdrOpcode};
use scalepool_protocols::ualink::code::Status;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use table::{CHANNELS, ChildId, TransactionTable};
use transaction::{AwaitedAnswers, CacheVerdict, Child, Transaction, TransactionProgress};
use write_backs::WriteBackBuffer;

/// How the outbound half is built.
#[derive(Debug, Clone)]
pub struct OutboundConfig {
    /// Its windows at first.
    pub windows: BridgeWindows,
    /// Entries of its table, [`FEWEST_ENTRIES`](table::FEWEST_ENTRIES), with a hairpin
    /// [`FEWEST_WITH_HAIRPIN`](table::FEWEST_WITH_HAIRPIN), to [`MOST_ENTRIES`](table::MOST_ENTRIES).
    pub entries: usize,
    /// Buffers of 64 bytes for what is written, at least 4.
    pub write_buffers: usize,
    /// What stays in order.
    pub order: BridgeOrder,
    /// The cache of lines, empty, if there is one.
    pub data: Option<DataCache>,
    /// Errors of the memory in which its lines lie; `None`: there are none.
    pub ecc: Option<CacheEccConfig>,
    /// The cache of conversions, if there is one.
    pub templates: Option<TemplateConfig>,
    /// CXL ports that lead to hosts, whose lines it caches (class CC); those before lead to memory, those behind to CXL.io.
    pub host_ports: Range<usize>,
    /// Where its registers are, if accelerators reach any.
    pub control: Option<ControlWindow>,
    /// When writes of class IO are acknowledged.
    pub io_ack: IoAck,
    /// Reads of several lines are answered line by line, as these come (`bridge` §3.3); UALink only.
    pub single_beat: bool,
    /// Windows from CXL, to whose memory of class DB those of class HP lead; `None`: there is no such window.
    pub exported: Option<Arc<BridgeWindows<InboundClass>>>,
}

/// Who sends a message, or accesses the memory of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BridgeActor {
    /// A request.
    Child(ChildId),
    /// The cache, for what it gives back.
    WriteBack(u16),
}

/// What follows from a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BridgeStep {
    /// A message leaves through a CXL port.
    Send {
        /// For whom; `None`: it answers a snoop.
        by: Option<BridgeActor>,
        /// CXL port.
        port: usize,
        /// The message.
        msg: Msg<CacheLine>,
        /// It carries what an atomic has computed.
        is_computed: bool,
    },
    /// A TLP leaves through a CXL port, behind all that have left there before.
    SendTlp {
        /// For whom.
        child: ChildId,
        /// CXL port.
        port: usize,
        /// The TLP, without its requester.
        tlp: Tlp,
        /// It is the last one of its request.
        is_last: bool,
    },
    /// The accelerator whose line it is performs an atomic, asked by the inbound half.
    AskOwner(OwnerAtomic),
    /// The memory of the cache is accessed, 64 bytes of it.
    Access {
        /// Who waits for the end; `None`: nobody.
        by: Option<BridgeActor>,
        /// Its first byte there.
        address: u64,
        /// It is written.
        is_write: bool,
    },
    /// The sector of a line has changed in the cache.
    Changed {
        /// CXL port.
        port: usize,
        /// The line.
        line: LineAddr,
        /// What there is of it from here on; what follows may change it again.
        copy: BridgeLines,
        /// A store was done in it.
        is_stored: bool,
    },
    /// The CXL ports have gone viral.
    Viral,
    /// A line of a read that is answered line by line is ready, and others are not.
    Beat {
        /// Its entry.
        entry: u16,
        /// Which of its lines.
        beat: u8,
    },
    /// The response to a request is ready, or its last beat.
    Respond {
        /// Its entry.
        entry: u16,
    },
    /// A child has got on, it has begun to wait for its line, or others have got on for which it waits; from here on its time counts anew.
    Advanced {
        /// Which.
        child: ChildId,
        /// The number of this advance, for [`OutboundBridge::time_out`].
        advances: u64,
    },
    /// A request waits for another one.
    Waits {
        /// Its entry.
        entry: u16,
        /// What for.
        reason: BridgeWait,
        /// The entry for which it waits, where it is one.
        holder: Option<u16>,
    },
    /// A request that waited goes on.
    GoesOn {
        /// Its entry.
        entry: u16,
    },
}

/// Why a request waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BridgeWait {
    /// Requests of its source come first.
    Order,
    /// Another one uses the line.
    Line,
    /// No way of the cache, or no buffer of write backs, is free.
    Room,
}

/// Something that broke a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeFinding {
    /// The rule.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

/// What follows from a call; the caller owns it and empties it between calls.
#[derive(Debug, Clone, Default)]
pub struct BridgeOutput {
    /// What is to be done, in this order.
    pub steps: Vec<BridgeStep>,
    /// Broken rules.
    pub findings: Vec<BridgeFinding>,
}

impl BridgeOutput {
    fn find(&mut self, rule: &'static str, found: String, expected: &'static str) {
        self.findings.push(BridgeFinding { rule, found, expected });
    }
}

/// What a request lacks to get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacking {
    /// An entry of the table.
    Entry,
    /// Buffers for what it writes.
    Buffers,
    /// The next epoch, which has to begin first.
    Epoch,
}

/// What the outbound half has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboundCounts {
    /// Requests: reads, writes, atomics, messages that end here.
    pub requests: [u64; 4],
    /// Requests that were answered with a status that is not OKAY.
    pub refused: u64,
    /// Lines that were accessed.
    pub children: u64,
    /// Reads that got the data of another one.
    pub joined: u64,
    /// Bytes that were enabled outside of their request.
    pub ignored_bytes: u64,
    /// Requests that were given up.
    pub timeouts: u64,
    /// Requests that ended because the CXL link that they needed went down.
    pub lost: u64,
    /// Answers that nobody waited for any more.
    pub late: u64,
    /// Back-invalidate snoops.
    pub snoops: u64,
}

/// Work that a call has made and not done.
#[derive(Debug, Clone, Copy)]
enum OutboundWork {
    /// A request is the first of its key.
    Activate(u16),
    /// A child holds its line.
    Launch(ChildId),
    /// A child that waits for room in the cache may find it.
    Enter(ChildId),
    /// A way of a set may be free.
    TryWay(u64),
    /// An entry of the buffer of write backs is free.
    TryEntry,
    /// A child of the request has ended.
    Check(u16),
}

/// The outbound half of a bridge.
#[derive(Debug, Clone)]
pub struct OutboundBridge {
    config: OutboundConfig,
    table: TransactionTable,
    queues: OrderQueues,
    /// Requests of class IO that have not left.
    turns: IoTurns,
    posted: PostedBook,
    locks: LineLocks,
    buffers_free: usize,
    work: VecDeque<OutboundWork>,
    counts: OutboundCounts,
    /// Times that children got on, all together.
    advances: u64,
    cache: Option<DataCache>,
    streams: StreamDetector,
    templates: Option<TemplateStore>,
    write_backs: WriteBackBuffer,
    /// Who waits for a way of the cache or for an entry of the buffer of write backs.
    rooms: RoomQueues,
    /// Snoops of dirty lines that wait for such an entry.
    waiting_snoops: VecDeque<(PortLine, OpenSnoop)>,
    cache_counts: ConversionCacheCounts,
    /// The registers, if accelerators reach any.
    registers: Option<Box<BridgeRegisters>>,
    /// The operation of the registers that runs.
    managed: Option<manage::ManagedOperation>,
    /// Windows that are to come.
    epochs: EpochTables,
    /// Cells of the memory of the cache.
    cells: Option<CacheCells>,
    /// Its CXL ports are viral.
    is_viral: bool,
    /// CXL ports whose link is down.
    down: OrderedSet<usize>,
}

impl OutboundBridge {
    /// A bridge with nothing under way.
    pub fn new(config: OutboundConfig) -> OutboundBridge {
        OutboundBridge {
            table: TransactionTable::new(config.entries, config.exported.is_some()),
            queues: OrderQueues::default(),
            turns: IoTurns::default(),
            posted: PostedBook::default(),
            locks: LineLocks::default(),
            buffers_free: config.write_buffers,
            work: VecDeque::new(),
            counts: OutboundCounts::default(),
            advances: 0,
            streams: StreamDetector::new(config.data.as_ref().map_or(0, |data| data.config().stream_blocks)),
            cache: config.data.clone(),
            templates: config.templates.map(TemplateStore::new),
            write_backs: WriteBackBuffer::default(),
            rooms: RoomQueues::default(),
            waiting_snoops: VecDeque::new(),
            cache_counts: ConversionCacheCounts::default(),
            registers: config.control.map(|window| {
                let flips = config.data.is_some() && config.ecc.is_some();
                Box::new(BridgeRegisters::new(&config.windows, window, flips))
            }),
            managed: None,
            epochs: EpochTables::default(),
            cells: config.ecc.map(CacheCells::new),
            is_viral: false,
            down: OrderedSet::new(),
            config,
        }
    }

    /// What it has counted.
    pub fn counts(&self) -> OutboundCounts {
        self.counts
    }

    /// What its cache has counted.
    pub fn cache_counts(&self) -> ConversionCacheCounts {
        self.cache_counts
    }

    /// Its cache of lines.
    pub fn cache(&self) -> Option<&DataCache> {
        self.cache.as_ref()
    }

    /// What the cache gives back.
    pub fn write_backs(&self) -> &WriteBackBuffer {
        &self.write_backs
    }

    /// Transactions that have an entry, and write backs.
    pub fn open(&self) -> usize {
        self.table.count() + self.write_backs.open()
    }

    /// Buffers that hold nothing.
    pub fn buffers_free(&self) -> usize {
        self.buffers_free
    }

    /// What a request lacks to get in; `None`: there is room.
    pub fn lacks(&self, asked: EntryNeed) -> Option<Lacking> {
        if self.is_committing() {
            return Some(Lacking::Epoch);
        }
        if !self.table.has_room(self.entry_class(asked)) {
            return Some(Lacking::Entry);
        }
        (asked.buffers > self.buffers_free).then_some(Lacking::Buffers)
    }

    /// The class by which a request gets its entry: its virtual channel, or the hairpin, whatever its channel.
    fn entry_class(&self, asked: EntryNeed) -> usize {
        let leads_back = |address| {
            let route = self.config.windows.translated(address);
            route.is_some_and(|route| route.class == WindowClass::Hp)
        };
        let is_hairpin = self.config.exported.is_some() && asked.address.is_some_and(leads_back);
        if is_hairpin { table::HAIRPIN } else { usize::from(asked.class) % CHANNELS }
    }

    /// Gives a request of an input an entry; `None`: there is no room.
    pub fn admit(&mut self, port: usize, request: BridgeRequest) -> Option<u16> {
        let need = request.need();
        if self.lacks(need).is_some() {
            return None;
        }
        let (class, buffers) = (self.entry_class(need), need.buffers);
        let number = match request.posted {
            PostedRole::Posted { link } => self.posted.arrives((request.source, link)),
            _ => 0,
        };
        let covered = match request.posted {
            PostedRole::Flush(cover) => self.posted.covered(request.source, cover),
            _ => Vec::new(),
        };
        let transaction = Transaction {
            covered,
            key: OrderKey::of(self.config.order, &request),
            request,
            class,
            port,
            number,
            progress: TransactionProgress::Admitted,
            status: Status::OKAY,
            children: Vec::new(),
            buffers,
            conversion: None,
            is_templated: false,
            is_converted: false,
            exchange: None,
            waits_turn: false,
            answered_beats: 0,
        };
        let entry = self.table.insert(class, transaction)?;
        self.buffers_free -= buffers;
        Some(entry)
    }

    /// The stages in front are behind a request: it is converted and takes its place.
    pub fn start(&mut self, entry: u16, out: &mut BridgeOutput) {
        let Some(transaction) = self.table.get(entry) else { return };
        let (key, ignored) = (transaction.key, transaction.request.ignored);
        let (action, access) = (transaction.request.action, transaction.request.access);
        let (status, children) = match self.converted(entry) {
            Ok(mut children) => (self.refuses_lost(&mut children), children),
            Err(status) => (status, Vec::new()),
        };
        self.counts.ignored_bytes += u64::from(ignored);
        self.counts.requests[match (action, access) {
            (CommandAction::Ended | CommandAction::Flush, _) => 3,
            (_, AccessKind::Read) => 0,
            (_, AccessKind::Write) => 1,
            (_, AccessKind::Atomic) => 2,
        }] += 1;
        self.counts.children += children.iter().filter(|child| !child.is_done).count() as u64;
        let Some(transaction) = self.table.get_mut(entry) else { return };
        // Data of lines that nothing is sent for are not needed.
        let used = children.iter().filter(|child| child.has_buffer).count();
        self.buffers_free += transaction.buffers - used.min(transaction.buffers);
        transaction.buffers = used;
        (transaction.status, transaction.children, transaction.progress) =
            (status, children, TransactionProgress::Ordered);
        self.takes_turn(entry);
        if action == CommandAction::Flush {
            // It waits for what was posted, and for nothing else.
            self.posted.waits(entry);
            self.work.push_back(OutboundWork::Activate(entry));
            return self.settle(out);
        }
        match self.queues.add(key, entry) {
            Some(holder) => {
                out.steps.push(BridgeStep::Waits { entry, reason: BridgeWait::Order, holder: Some(holder) });
            }
            None => self.work.push_back(OutboundWork::Activate(entry)),
        }
        self.settle(out);
    }

    fn child(&mut self, id: ChildId) -> Option<&mut Child> {
        self.table.get_mut(id.entry)?.children.get_mut(usize::from(id.child))
    }

    /// A child, to be looked at.
    pub fn child_of(&self, id: ChildId) -> Option<&Child> {
        self.table.child(id)
    }

    /// A transaction, to be looked at.
    pub fn transaction(&self, entry: u16) -> Option<&Transaction> {
        self.table.get(entry)
    }

    /// Does what follows from what was done, until nothing does.
    fn settle(&mut self, out: &mut BridgeOutput) {
        while let Some(work) = self.work.pop_front() {
            match work {
                OutboundWork::Activate(entry) => self.activate(entry, out),
                OutboundWork::Launch(id) => self.launch(id, out),
                OutboundWork::Enter(id) => self.enter_again(id, out),
                OutboundWork::TryWay(set) => self.try_way(set, out),
                OutboundWork::TryEntry => self.try_entry(out),
                OutboundWork::Check(entry) => self.check(entry, out),
            }
        }
    }

    /// A request is the first of its key: its children lock their lines.
    fn activate(&mut self, entry: u16, out: &mut BridgeOutput) {
        let is_flush = |transaction: &Transaction| transaction.request.action == CommandAction::Flush;
        let is_flush = self.table.get(entry).is_some_and(is_flush);
        if !is_flush && self.waits_for_operation(entry, out) {
            return;
        }
        if self.waits_for_turn(entry, out) {
            return;
        }
        let Some(transaction) = self.table.get_mut(entry) else { return };
        transaction.progress = TransactionProgress::Active;
        if transaction.status == Status::OKAY && !is_flush {
            self.access_control(entry, out);
        }
        let Some(transaction) = self.table.get(entry) else { return };
        let places: Vec<_> = (0u8..).zip(&transaction.children).filter(|(_, child)| !child.is_done).collect();
        let places: Vec<_> = places.into_iter().map(|(n, c)| (n, (c.port, c.line), c.operation, c.class)).collect();
        self.work.push_back(OutboundWork::Check(entry));
        for (child, place, operation, class) in places {
            let id = ChildId { entry, child };
            self.gets_on(id, out);
            let table = &self.table;
            let may_join = |holder: ChildId| {
                let other = table.get(holder.entry).and_then(|t| t.children.get(usize::from(holder.child)));
                operation == LineOperation::Read
                    && other.is_some_and(|c| c.operation == operation && c.class == class && !c.is_done)
                    && other.is_some_and(Child::may_be_joined)
            };
            match self.locks.lock(place, id, may_join) {
                LockOutcome::Held => self.work.push_back(OutboundWork::Launch(id)),
                LockOutcome::Joined(holder) => self.joined(holder),
                LockOutcome::Waits(holder) => {
                    let holder = match holder {
                        LockHolder::Child(id) => Some(id.entry),
                        LockHolder::WriteBack(_) => None,
                    };
                    out.steps.push(BridgeStep::Waits { entry, reason: BridgeWait::Line, holder });
                }
            }
        }
    }

    /// Sends the message of a child's step.
    fn send_step(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child(id) else { return };
        let Some(&step) = child.steps.get(child.step) else { return };
        let (line, tag) = (child.line, id.tag());
        let is_hairpin = child.class == WindowClass::Hp;
        let is_computed = child.step > 0 && child.atomic.is_some() && !is_hairpin;
        let msg = match step.message {
            StepMessage::Owner => return self.ask_owner(id, out),
            StepMessage::GiveBack => hairpin::give_back(line, tag),
            StepMessage::Request(opcode, f) => {
                Msg::M2sReq { opcode, snp: f.snp, meta_field: f.field, meta: f.value, line, tag }
            }
            StepMessage::Data(opcode, f) => {
                let data = child.written();
                // A line that is merged is written whole.
                let enables = if child.read.is_some() { WHOLE_LINE } else { child.mask };
                Msg::M2sRwd { opcode, snp: f.snp, meta_field: f.field, meta: f.value, line, tag, data, enables }
            }
            StepMessage::Cache(opcode) => match self.asks_host(id, opcode) {
                Some(msg) => msg,
                None => return,
            },
        };
        let Some(child) = self.child(id) else { return };
        child.awaited =
            AwaitedAnswers { completion: step.is_completed(), data: step.data, ..AwaitedAnswers::default() };
        let place = (child.port, child.line);
        // What the cache has lost is nothing to lines that it never holds.
        let msg = if is_hairpin { msg } else { self.as_viral(msg) };
        let port = place.0;
        self.keep_conversion(id.entry);
        self.gets_on(id, out);
        out.steps.push(BridgeStep::Send { by: Some(BridgeActor::Child(id)), port, msg, is_computed });
        if self.is_host(port) {
            self.show_host(place, out);
        }
    }

    /// A message of a child has left for its link: what it wrote takes no buffer here any more, and with data that a host has pulled its
    /// step is done.
    pub fn sent(&mut self, id: ChildId, msg: &Msg<CacheLine>, out: &mut BridgeOutput) {
        match msg {
            Msg::M2sRwd { .. } => self.free_buffer(id),
            Msg::D2hData { .. } => {
                let Some(child) = self.child(id).filter(|child| child.awaited.buffer) else { return };
                child.awaited.buffer = false;
                self.free_buffer(id);
                self.answered(id, out);
                self.settle(out);
            }
            _ => (),
        }
    }

    fn free_buffer(&mut self, id: ChildId) {
        let Some(child) = self.child(id).filter(|child| child.has_buffer) else { return };
        child.has_buffer = false;
        if let Some(transaction) = self.table.get_mut(id.entry) {
            transaction.buffers -= 1;
        }
        self.buffers_free += 1;
    }

    /// A message comes from CXL: an answer, or a snoop.
    pub fn receive(&mut self, port: usize, msg: Msg<CacheLine>, out: &mut BridgeOutput) {
        let is_host = self.is_host(port);
        match msg {
            // Nothing else is between a bridge and a host: an identifier of CXL.mem would be taken for a CQID.
            other if is_host == other.class().is_mem() => {
                let expected =
                    if is_host { "H2D Req, Rsp or Data of a host" } else { "S2M NDR, DRS or BISnp of memory" };
                out.find("COH-TYP-01", other.class().name().to_owned(), expected);
            }
            Msg::S2mDrs { opcode, tag, data, .. } => {
                let is_nxm = opcode == DrsOpcode::MemDataNXM;
                if let Some((id, child)) = self.awaiting(port, tag, |awaited| awaited.data, "S2M DRS", out) {
                    child.awaited.data = false;
                    child.read = (!is_nxm).then_some(data);
                    // Where there is no memory there is no NDR either.
                    child.awaited.completion &= !is_nxm;
                    child.failed = is_nxm.then_some(Status::DecodeError);
                    self.answered(id, out);
                }
            }
            Msg::S2mNdr { opcode, tag, .. } if let Some(n) = write_backs::of_tag(tag) => {
                self.written_back(n, port, opcode, out);
            }
            Msg::S2mNdr { opcode: NdrOpcode::BIConflictAck, tag, .. } => self.acknowledged(port, tag, out),
            Msg::S2mNdr { opcode, tag, .. } => self.completed(port, tag, opcode, out),
            Msg::S2mBisnp { opcode, line, bi_tag } => self.snooped(port, opcode, line, bi_tag, out),
            Msg::H2dReq { opcode, line, uqid } => self.host_snooped(port, opcode, line, uqid, out),
            Msg::H2dRsp { opcode, rsp_data, cqid } => self.host_answered(port, (opcode, rsp_data, cqid), out),
            Msg::H2dData { cqid, data, go_err } => {
                self.host_filled(port, cqid, (data, go_err), out);
            }
            other => out.find(
                "COH-TYP-01",
                other.class().name().to_owned(),
                "S2M NDR, DRS or BISnp, or of a host H2D Req, Rsp or Data",
            ),
        }
        self.settle(out);
    }

    /// The child for which an answer comes; one that belongs to none is told and dropped.
    fn awaiting(
        &mut self,
        port: usize,
        tag: u16,
        waits: fn(AwaitedAnswers) -> bool,
        what: &str,
        out: &mut BridgeOutput,
    ) -> Option<(ChildId, &mut Child)> {
        let id = ChildId::of_tag(tag);
        let fits = |child: &Child| child.port == port && waits(child.awaited);
        if !self.child_of(id).is_some_and(fits) {
            out.find("COH-IDS-01", format!("{what} with tag {tag:#06x}"), "an open request of its kind");
            return None;
        }
        Some((id, self.child(id)?))
    }

    /// S2M NDR for a request or for data.
    fn completed(&mut self, port: usize, tag: u16, opcode: NdrOpcode, out: &mut BridgeOutput) {
        let Some((id, child)) = self.awaiting(port, tag, |awaited| awaited.completion, "S2M NDR", out) else { return };
        let step = child.steps[child.step];
        // Ownership that nobody can have: there is no memory (`bridge` §8.1).
        let is_nxm = opcode == NdrOpcode::Cmp
            && child.operation == LineOperation::WriteFull
            && !step.completions.contains(&opcode);
        if !is_nxm && !step.completions.contains(&opcode) {
            let expected = step.completions.first().and_then(|c| c.name()).unwrap_or("no completion");
            let found = opcode.name().map_or_else(|| format!("reserved {}", opcode.0), str::to_owned);
            return out.find("BRG-SPL-08", format!("{found} with tag {tag:#06x}"), expected);
        }
        child.awaited.completion = false;
        child.failed = child.failed.or(is_nxm.then_some(Status::DecodeError));
        child.granted = if opcode == NdrOpcode::CmpS { SectorState::Shared } else { SectorState::Exclusive };
        self.answered(id, out);
    }

    /// A child gets on, so its time counts anew. The number that says so is never used again, and 0 is that of a child that has not
    /// begun: an old deadline would else end a younger child at the same place too early.
    pub(super) fn gets_on(&mut self, id: ChildId, out: &mut BridgeOutput) {
        self.advances += 1;
        let advances = self.advances;
        let Some(child) = self.child(id) else { return };
        child.advances = advances;
        out.steps.push(BridgeStep::Advanced { child: id, advances });
    }

    /// An answer has come: if it was the last one, the next step or the end of the child.
    fn answered(&mut self, id: ChildId, out: &mut BridgeOutput) {
        self.gets_on(id, out);
        let Some(child) = self.child(id) else { return };
        if child.awaited.any() {
            return;
        }
        if child.owes_line() {
            child.gives_line_back();
            self.work.push_back(OutboundWork::Launch(id));
            return;
        }
        if child.is_done {
            self.counts.late += 1;
            self.release(id, out);
            self.retire(id.entry);
            return;
        }
        if let Some(stage) = child.cached {
            return self.cached_answered(id, stage, out);
        }
        child.step += 1;
        if child.failed.is_none() && child.step < child.steps.len() {
            self.work.push_back(OutboundWork::Launch(id));
            return;
        }
        let failed = child.failed;
        self.end(id, failed);
        self.release(id, out);
    }

    /// A child has ended; with a status that is not OKAY, reads that have joined it end with it too, unless a late answer brings the line.
    fn end(&mut self, id: ChildId, status: Option<Status>) {
        self.free_buffer(id);
        let Some(transaction) = self.table.get_mut(id.entry) else { return };
        transaction.status = status.map_or(transaction.status, |status| merged(transaction.status, status));
        if let Some(child) = transaction.children.get_mut(usize::from(id.child)) {
            child.is_done = true;
            child.failed = status.or(child.failed);
        }
        self.work.push_back(OutboundWork::Check(id.entry));
    }

    /// The line of a child is free; reads that have joined it end with what it has got: the line, or the status that says why it has none.
    fn release(&mut self, id: ChildId, out: &mut BridgeOutput) {
        let Some(child) = self.child_of(id) else { return };
        let (place, read) = ((child.port, child.line), child.read);
        let failed = child.failed.filter(|_| read.is_none());
        for other in self.locks.take_joined(place) {
            if let Some(child) = self.child(other) {
                child.read = read;
            }
            self.end(other, failed);
        }
        self.release_line(place, out);
    }

    /// Nobody uses a line any more: a snoop that waits is answered, and whoever waits goes on, unless the snoop takes the line.
    fn release_line(&mut self, place: PortLine, out: &mut BridgeOutput) {
        if let Some(snoop) = self.locks.get_mut(place).and_then(|lock| lock.snoop.take())
            && self.answer_snoop(place, snoop, out)
        {
            return;
        }
        if let Some(next) = self.locks.release(place) {
            out.steps.push(BridgeStep::GoesOn { entry: next.entry });
            self.work.push_back(OutboundWork::Launch(next));
        }
        self.drop_empty(place);
        self.line_is_free(place);
        self.manage(out);
    }

    /// The block of a line leaves the cache if nothing of it is there and nobody uses it.
    fn drop_empty(&mut self, place: PortLine) {
        let Some(cache) = &mut self.cache else { return };
        let sectors = cache.config().sectors();
        if !cache.block(place).lines(sectors).any(|line| self.locks.is_held(line)) {
            cache.drop_if_empty(place);
        }
    }

    /// If all children of a request have ended, it is performed.
    fn check(&mut self, entry: u16, out: &mut BridgeOutput) {
        let Some(transaction) = self.table.get_mut(entry) else { return };
        if transaction.progress != TransactionProgress::Active {
            return;
        }
        if self.config.single_beat {
            out.steps.extend(transaction.new_beats().map(|beat| BridgeStep::Beat { entry, beat }));
        }
        if !transaction.is_done() {
            return;
        }
        let (source, way) = (transaction.request.source, transaction.request.posted);
        if let PostedRole::Flush(_) = way {
            if !self.posted.are_performed(&transaction.covered) {
                return;
            }
            transaction.status = self.posted.answers(entry, source);
        }
        transaction.progress = TransactionProgress::Performed;
        self.turn_over(entry, out);
        let Some(transaction) = self.table.get(entry) else { return };
        let (key, number, status) = (transaction.key, transaction.number, transaction.status);
        if let PostedRole::Posted { link } = way {
            let flushes = self.posted.performed((source, link), number, status);
            self.work.extend(flushes.into_iter().map(OutboundWork::Check));
        }
        let Some(transaction) = self.table.get(entry) else { return };
        let has_found = transaction.children.iter().any(|child| child.verdict == Some(CacheVerdict::Hit));
        let is_saved = transaction.is_templated || has_found && !transaction.is_converted;
        self.cache_counts.saved += u64::from(is_saved && transaction.status == Status::OKAY);
        self.counts.refused += u64::from(transaction.status != Status::OKAY);
        out.steps.push(BridgeStep::Respond { entry });
        self.manage(out);
        if matches!(way, PostedRole::Flush(_)) {
            return;
        }
        if let Some(next) = self.queues.performed(key) {
            out.steps.push(BridgeStep::GoesOn { entry: next });
            self.work.push_back(OutboundWork::Activate(next));
        }
    }

    /// A child has not got on since it had advanced so many times: its request ends with status 8, unless it waits for room or for its line
    /// and others get on there. Its entry stays taken until what is still to come has come.
    pub fn time_out(&mut self, id: ChildId, advances: u64, out: &mut BridgeOutput) {
        if !self.child_of(id).is_some_and(|child| !child.is_done && child.advances == advances) {
            return;
        }
        // A full structure is back-pressure: time counts anew while what it waits for moves.
        if self.has_room_moved(id) || self.has_line_moved(id) {
            return self.gets_on(id, out);
        }
        self.counts.timeouts += 1;
        let children = self.table.get(id.entry).map_or(0, |transaction| transaction.children.len() as u8);
        for child in 0..children {
            self.give_up(ChildId { child, ..id }, Status::CompletionTimeout, out);
        }
        self.settle(out);
    }

    /// Whether the holder of the line for which a child waits has got on since the time of that child was last counted anew. A holder that
    /// has not is given up itself, or was, since its time began before that of the child.
    fn has_line_moved(&mut self, id: ChildId) -> bool {
        let Some(child) = self.child_of(id) else { return false };
        let (place, advances) = ((child.port, child.line), child.advances);
        match self.locks.get_mut(place).map(|lock| lock.holder) {
            Some(LockHolder::Child(holder)) if holder != id => {
                self.child_of(holder).is_some_and(|holder| !holder.is_done && holder.advances > advances)
            }
            _ => false,
        }
    }

    /// The input of a request that is performed, and what it is answered with, or with its last beat.
    pub fn response(&self, entry: u16) -> Option<(usize, BridgeResponse<'_>)> {
        self.answer(entry, self.table.get(entry)?.last_beats())
    }

    /// The input of a request, and the response with one of its beats, which others follow.
    pub fn beat(&self, entry: u16, number: u8) -> Option<(usize, BridgeResponse<'_>)> {
        self.answer(entry, AnsweredBeats::One { number, is_last: false })
    }

    fn answer(&self, entry: u16, beats: AnsweredBeats) -> Option<(usize, BridgeResponse<'_>)> {
        let Transaction { request, status, port, children, .. } = self.table.get(entry)?;
        let lines = children.iter().map(Child::answered).collect();
        Some((*port, BridgeResponse { request, status: *status, lines, beats }))
    }

    /// The response of a request has left: its entry is free unless answers from CXL are still to come.
    pub fn left(&mut self, entry: u16) {
        if let Some(transaction) = self.table.get_mut(entry) {
            transaction.progress = TransactionProgress::Left;
            self.retire(entry);
            self.end_epoch();
        }
    }

    fn retire(&mut self, entry: u16) {
        let Some(transaction) = self.table.get(entry) else { return };
        if transaction.progress == TransactionProgress::Left && !transaction.awaits_any() {
            let class = transaction.class;
            self.table.remove(entry, class);
        }
    }
}
