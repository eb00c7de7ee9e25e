//! The clocked accelerator: originator and completer on UALink, manager of its pages, copy engine.
//!
//! Modelled: as many requests a cycle as it has ports; requests to a region of 256 bytes take one port, so they keep their order; tags that are
//! unique until the answer; HBM with a latency, in which requests take effect in the order in which they come; every byte that is read
//! is compared with what was written; isolation: when its link goes down, it asks for nothing more, and what it has begun ends undone,
//! while it goes on answering others; frames of tier 2 that leave and come: requests to one that is lost end with an error, and what
//! could not be read has poison from then on, until it is written again (MEM-RMV-07). Detail: whole transactions. Left out: atomics, protection of transactions, UPLI, time-outs: a
//! request that is not answered stalls the run, which names it; compute.
//!
//! A walk through one cycle: answers end what was asked; requests of others take effect, and their answers leave behind the latency;
//! what the manager has to do is done or becomes a message; then messages about pages, operations and copies leave, the last two by turns.
//!
//! In traces an operation is the root of a tree, and so is a move of a page: its name says what was decided, its parts are the messages
//! and copies that it costs.

mod operations;
mod pages;
mod transfers;

use super::caller::PlacementSlot;
use super::copies::CopyEngine;
use super::frames::{TierAddress, TierLayout};
use super::leaving::{FrameChange, FrameSchedule, TimedFrames};
use super::manager::PageManager;
use super::policy::PlacementPolicy;
use super::table::PageTable;
use super::traffic::{TieredGenerator, TieredOp};
use super::watch::{MigrationWatch, TierEvent};
use crate::PlacedViolation;
use crate::latencies::Latencies;
use crate::ualink::accelerator::AcceleratorPortEnds;
use crate::ualink::completer::{Responses, UalDelayedAnswer, answers, apply};
use crate::ualink::ledger::UalLedger;
use crate::ualink::read::{BACKGROUND, Read};
use crate::ualink::request_handle;
use operations::TriedOp;
use pages::{OpenMove, WaitingMessage};
use scalepool_kernel::{Clock, Cx, Module, Next, Out, Pending, Time};
use scalepool_link::ualink::tl::TlClass;
use scalepool_link::ualink::upli::Ordered;
use scalepool_memory::LineBytes;
use scalepool_memory::backend::{MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_memory::store::Store;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{Violation, Wire};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transfers::OpenTierCopy;

/// Tags of an accelerator: 11 bits (`ualink` §12), here of all ports together.
const TAGS: u16 = 1 << 11;
/// Answers that wait for a port, at which no more requests are taken.
const MOST_LEAVING: usize = 64;
/// Most broken checks that are kept one by one.
const MOST_BROKEN: usize = 100;

/// What it leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct TieredResult {
    /// Reads and writes that are done.
    pub done: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Explicit copies that are done.
    pub copies: u64,
    /// Bytes that these have moved.
    pub copied_bytes: u64,
    /// Accesses begun, by tier.
    pub by_tier: [u64; 3],
    /// Pages that got a frame, by tier.
    pub placed: [u64; 3],
    /// Moves that are over.
    pub moves: u64,
    /// Bytes that these have moved.
    pub moved_bytes: u64,
    /// Moves up by prefetch.
    pub prefetched: u64,
    /// Decisions of somebody outside that could not be.
    pub refused: u64,
    /// Accesses and blocks of copies that ended with an error, since the frame was lost.
    pub refused_requests: u64,
    /// Lines that were read with poison, since their bytes were lost with a frame.
    pub lost_lines: u64,
    /// Frames that have left, with no page in them, and frames that have come.
    pub frames: [u64; 2],
    /// Cycles in which a page of it moved.
    pub move_cycles: u64,
    /// Cycles in which its operations waited for the place of a page.
    pub page_wait_cycles: u64,
    /// Messages about pages that it has sent.
    pub messages: u64,
    /// Requests of others served.
    pub served: u64,
    /// Request to answer, by operation.
    pub latencies: Latencies,
    /// Checks that failed.
    pub broken: Vec<PlacedViolation>,
    /// Its link went down: what was open was not done.
    pub is_isolated: bool,
    /// Answers that came when nobody waited any more, in isolation.
    pub late: u64,
}

/// How it is built.
pub struct TieredConfig {
    /// Its number.
    pub own: u16,
    /// Number of its fabric, for traces.
    pub fabric: u32,
    /// Place in traces.
    pub place: String,
    /// Its clock.
    pub clock: Clock,
    /// Frames and pages of all.
    pub layout: TierLayout,
    /// Where pages go.
    pub policy: PlacementPolicy,
    /// Who decides it where the policy says that somebody outside does.
    pub caller: PlacementSlot,
    /// Frames of tier 2 that leave and come.
    pub changes: FrameSchedule,
    /// Pages behind an accessed one that are brought up with it, and first pages that are brought up before anything is accessed.
    pub prefetch: (u32, u32),
    /// Cycles in which accesses are counted for a temperature.
    pub interval_cycles: u64,
    /// Address of the control window of the bridge, by which its cache is flushed; `None`: no page is flushed.
    pub control: Option<u64>,
    /// The bridge has a cache, which can hold lines of pages in tier 2.
    pub is_cached: bool,
    /// What it does.
    pub operations: TieredGenerator,
    /// Cycle of the first operation.
    pub start_cycle: u64,
    /// Cycle from which none begins any more, if there is one.
    pub stop_cycle: Option<u64>,
    /// Most reads and writes that are open.
    pub outstanding: usize,
    /// Most blocks that are being copied.
    pub copy_outstanding: usize,
    /// One in so many writes has a poisoned line; 0: none.
    pub poison_every: u64,
    /// Request to answer in its HBM.
    pub hbm_cycles: u64,
}

/// Why a request was sent.
#[derive(Debug, Clone)]
enum Purpose {
    /// An operation.
    Access(Box<OpenAccess>),
    /// A block of a copy.
    CopyRead { id: u64, block: u64 },
    /// The same.
    CopyWrite { id: u64 },
    /// Where a page is.
    Ask { page: u32 },
    /// A source is to block a page.
    Block { source: u16, page: u32 },
    /// A source is told the new place of a page.
    Switch,
    /// The manager is told accesses.
    Report,
    /// A flush of a bridge is started.
    FlushStart { page: u32 },
    /// Its registers are read.
    FlushPoll { page: u32 },
}

/// A read or a write that is open.
#[derive(Debug, Clone)]
struct OpenAccess {
    page: u32,
    /// What has to be read.
    expects: Read,
    /// Lines of it, by bit, that may have been lost with a frame.
    doubted: u64,
    bytes: u64,
    /// The operation in traces.
    id: u64,
    due_cycle: u64,
}

/// A request that is to leave.
#[derive(Debug, Clone)]
struct TierRequest {
    to: TierAddress,
    /// Lines to write; none: a read.
    lines: Vec<(LineBytes, bool)>,
    /// Lines to read or write.
    count: u64,
    purpose: Purpose,
    /// Its parent in traces.
    parent: u64,
}

/// A request without an answer.
struct OpenTierRequest {
    purpose: Purpose,
    at: TierAddress,
    /// Where its answers come; `None`: from its own HBM.
    port: Option<usize>,
    is_read: bool,
    /// No answer so far says otherwise.
    is_ok: bool,
    /// What has come of a read.
    lines: Vec<Option<(LineBytes, bool)>>,
    since_cycle: u64,
    id: u64,
}

/// What HBM does.
enum HbmWork {
    /// A request of its own: what it has read.
    Own { tag: u16, read: Read },
    /// An answer to another node.
    Answer { port: usize, answer: UalDelayedAnswer, id: u64 },
}

/// An accelerator.
pub struct TieredAccelerator {
    config: TieredConfig,
    ports: Vec<AcceleratorPortEnds>,
    /// HBM.
    memory: Store,
    hbm: Box<dyn MemoryBackend<HbmWork>>,
    /// Answers that wait for the room of a port.
    leaving: Vec<VecDeque<(UalDelayedAnswer, u64)>>,
    table: PageTable,
    manager: PageManager,
    engine: CopyEngine,
    watch: MigrationWatch,
    copies: Vec<OpenTierCopy>,
    next_copy: u64,
    /// What it has written, by addresses of pages.
    expected: Store,
    open: Vec<Option<OpenTierRequest>>,
    free: Vec<u16>,
    /// Reads and writes among the open requests.
    open_accesses: usize,
    /// Messages about pages that are to leave.
    control: VecDeque<TierRequest>,
    /// Messages of others that are answered later.
    waiting: Vec<WaitingMessage>,
    moving: Option<OpenMove>,
    next: Option<TieredOp>,
    tried: Option<TriedOp>,
    /// A copy behind the writes of its blocks that were never written.
    put_off: Option<TieredOp>,
    /// Lines, by addresses of pages, that it has written and that may have been lost with a frame.
    doubted: OrderedSet<u64>,
    /// Accesses in this interval, by page.
    accesses: Vec<u64>,
    interval_end_cycle: u64,
    writes: u64,
    /// Copies have the next turn before operations.
    is_copy_turn: bool,
    tap: Tap,
    mine: TieredResult,
    result: Arc<Mutex<TieredResult>>,
    ledger: Arc<Mutex<UalLedger>>,
}

impl TieredAccelerator {
    /// An accelerator with its ports, at least one. What it publishes is in `result`; messages are in `ledger` as they pass.
    pub fn new(
        mut config: TieredConfig,
        ports: Vec<AcceleratorPortEnds>,
        tap: Tap,
        (result, ledger): (Arc<Mutex<TieredResult>>, Arc<Mutex<UalLedger>>),
    ) -> TieredAccelerator {
        let layout = config.layout;
        let all = layout.pages * u32::from(layout.accelerators);
        let next = config.operations.next();
        TieredAccelerator {
            memory: Store::new(BACKGROUND),
            hbm: MemoryTiming::fixed(config.hbm_cycles).build(),
            leaving: ports.iter().map(|_| VecDeque::new()).collect(),
            table: PageTable::new(all),
            manager: PageManager::new(config.policy, layout.pages, layout.frames)
                .without(&config.changes.absent())
                .with_caller(config.caller.clone())
                .with_prefetch(config.prefetch.0, config.prefetch.1),
            engine: CopyEngine::new(config.copy_outstanding),
            watch: MigrationWatch::new(layout.page_bytes, layout.frames, config.is_cached),
            copies: Vec::new(),
            next_copy: 0,
            expected: Store::new(BACKGROUND),
            open: (0..TAGS).map(|_| None).collect(),
            free: (0..TAGS).rev().collect(),
            open_accesses: 0,
            control: VecDeque::new(),
            waiting: Vec::new(),
            moving: None,
            next,
            tried: None,
            put_off: None,
            doubted: OrderedSet::new(),
            accesses: vec![0; all as usize],
            interval_end_cycle: config.start_cycle + config.interval_cycles,
            writes: 0,
            is_copy_turn: false,
            config,
            ports,
            tap,
            mine: TieredResult::default(),
            result,
            ledger,
        }
    }

    fn ledger(&self) -> MutexGuard<'_, UalLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: &str, text: &str) {
        if self.mine.broken.len() < MOST_BROKEN {
            let violation = Violation::at_byte(rule, 0, found, expected, text);
            self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
        }
    }

    /// Tells the watch, and keeps what it finds.
    fn see(&mut self, event: TierEvent) {
        if let Some(finding) = self.watch.see(event) {
            self.broken(finding.rule, finding.found, finding.expected, "a page is moved or accessed against the rules");
        }
    }

    // ---- requests ------------------------------------------------------------------------------------------------

    fn port_of(&self, address: u64) -> usize {
        (address / REGION_BYTES % self.ports.len() as u64) as usize
    }

    /// Why a request cannot leave now.
    fn hindered(&self, cx: &Cx, to: TierAddress) -> Option<Wait> {
        if self.free.is_empty() {
            return Some(Wait::Tag);
        }
        let is_own = to.node == self.config.own;
        let out: &Out<_> = &self.ports[self.port_of(to.address)].tx[TlClass::Request.index()];
        (!is_own && !out.has_room(cx, 1)).then_some(Wait::Link)
    }

    /// A request leaves; whether it can was asked before.
    fn send(&mut self, cx: &mut Cx, at: Stamp, request: TierRequest) {
        let TierRequest { to, lines, count, purpose, parent } = request;
        let Some(tag) = self.free.pop() else { return };
        let is_read = lines.is_empty();
        let req = TlReq {
            cmd: if is_read { ReqCmd::Read } else { ReqCmd::WriteFull },
            src: self.config.own,
            dst: to.node,
            address: to.address,
            // A request has four lines at most.
            len: (16 * count - 1) as u8,
            numbeats: if is_read { 0 } else { (count - 1) as u8 },
            attr: if is_read { 0xff } else { 0 },
            tag,
            ..TlReq::default()
        };
        let Read { data, poisoned } = lines.into();
        let transfer = Transfer { data, poisoned, ..Transfer::new(ControlField::Request(req)) };
        let id = self.tap.new_id();
        if to.node == self.config.own {
            self.tap.record(at, RecordKind::Begin, id, parent, || Body::Access { name: "hbm", address: to.address });
            self.tap.wait(at, id, Wait::Media, 0);
            let read = apply(&mut self.memory, to.node, &transfer);
            let access = if is_read { MemoryAccess::Read } else { MemoryAccess::Write };
            let memory = MemoryRequest { address: to.address, bytes: 64 * count, access };
            // A latency without limits always has room.
            let _ = self.hbm.push(at.cycle, &memory, HbmWork::Own { tag, read });
        } else {
            let port = self.port_of(to.address);
            let named =
                request_handle(self.config.fabric, &transfer).map_or(TransactionNaming::Nowhere, TransactionNaming::As);
            let bits = || req.to_bits().unwrap_or(0);
            let body = || Body::Message { layout: TlReq::DEF, bits: bits(), data: None };
            self.tap.named(named, at, RecordKind::Begin, id, parent, body);
            self.ledger().sends(port, &transfer);
            // Room was asked for before.
            let _ = self.ports[port].tx[TlClass::Request.index()].push(cx, Box::new(transfer));
        }
        let lines = if is_read { vec![None; count as usize] } else { Vec::new() };
        let port = (to.node != self.config.own).then(|| self.port_of(to.address));
        let open = OpenTierRequest { purpose, at: to, port, is_read, is_ok: true, lines, since_cycle: at.cycle, id };
        self.open_accesses += usize::from(matches!(open.purpose, Purpose::Access(_)));
        self.open[usize::from(tag)] = Some(open);
    }

    fn response(&mut self, cx: &mut Cx, port: usize, transfer: &Transfer, at: Stamp) {
        let ControlField::Response(rsp) = &transfer.field else { return };
        if rsp.status == Status::ISOLATE {
            return self.isolate(cx, at);
        }
        if self.mine.is_isolated {
            self.mine.late += 1;
            return;
        }
        let (own, is_read) = (self.config.own, rsp.rdwr == RdWr::Read);
        let asked = self.open.get_mut(usize::from(rsp.tag)).and_then(Option::as_mut);
        let is_meant =
            |open: &&mut OpenTierRequest| open.is_read == is_read && open.port == Some(port) && rsp.dst == own;
        let Some(open) = asked.filter(is_meant) else {
            let found = format!("tag {:#x} for accelerator {} at port {port}", rsp.tag, rsp.dst);
            return self.broken(
                "SIM-E2E-02",
                found,
                "an open request of this accelerator, of its kind and at its port",
                "a response is received without a request",
            );
        };
        open.is_ok &= rsp.status == Status::OKAY;
        // A compressed answer does not say where it comes from.
        let named = TlRsp { src: open.at.node, ..*rsp };
        let to = open.at;
        let first = if rsp.len == 0 { usize::from(rsp.offset) } else { 0 };
        let came = Read { data: transfer.data.clone(), poisoned: transfer.poisoned };
        for (slot, line) in open.lines.iter_mut().skip(first).zip(came.lines(0)) {
            *slot = Some(line);
        }
        let is_finished = !is_read || rsp.last;
        self.ledger().came.add(port, Ordered::response(&named));
        if rsp.status != Status::OKAY && !self.is_lost(to) {
            let (found, node) = (format!("{:?}", rsp.status), named.src);
            self.broken("SIM-E2E-02", format!("{found} of node {node}"), "OKAY", "a response does not fit its request");
        }
        if is_finished {
            let bits = || rsp.to_bits().unwrap_or(0);
            self.ended(cx, rsp.tag, at, || Body::Message { layout: TlRsp::DEF, bits: bits(), data: None });
        }
    }

    /// The last answer to a request has come.
    fn ended(&mut self, cx: &mut Cx, tag: u16, at: Stamp, body: impl FnOnce() -> Body) {
        let Some(open) = self.open[usize::from(tag)].take() else { return };
        self.free.push(tag);
        self.tap.record(at, RecordKind::End, open.id, 0, body);
        cx.progress();
        let lines: Vec<(LineBytes, bool)> = open.lines.iter().flatten().copied().collect();
        let is_refused = !open.is_ok && self.is_lost(open.at);
        self.mine.refused_requests += u64::from(is_refused);
        if lines.len() < open.lines.len() && !is_refused {
            let found = format!("{} of {} beats", lines.len(), open.lines.len());
            self.broken("UAL-UPL-12", found, "Last with the final beat", "a read response is not complete");
        }
        let is_ok = open.is_ok;
        match open.purpose {
            Purpose::Access(access) => {
                self.open_accesses -= 1;
                self.access_ends(&access, &lines, is_refused, at);
            }
            Purpose::CopyRead { id, block } => self.block_was_read(id, block, lines, is_ok),
            Purpose::CopyWrite { id } => {
                if let Some(copy) = self.engine.was_written(id) {
                    self.copy_ends(copy, at);
                }
            }
            Purpose::Ask { page } => self.place_was_told(page, lines.first()),
            Purpose::Block { source, page } => self.has_drained(source, page),
            Purpose::Switch => self.manager.switched(),
            Purpose::Report => (),
            Purpose::FlushStart { page } if is_ok => self.poll_flush(page),
            Purpose::FlushPoll { page } if is_ok => self.flush_was_polled(page, lines.first()),
            // That it was refused has been reported; the watch sees what is copied without a flush.
            Purpose::FlushStart { .. } | Purpose::FlushPoll { .. } => self.manager.flushed(),
        }
        self.follow(at);
    }

    /// Whether an address is in a frame that is lost.
    fn is_lost(&self, at: TierAddress) -> bool {
        self.config.layout.tier2_frame(at).is_some_and(|frame| self.config.changes.is_lost(frame))
    }

    /// Frames of tier 2 leave or come.
    fn change_frames(&mut self, at: Stamp) {
        while let Some(TimedFrames { change, frames, .. }) = self.config.changes.next(at.cycle) {
            let name = match change {
                FrameChange::Remove => "frames removed",
                FrameChange::Lose => "frames lost",
                FrameChange::Insert => "frames inserted",
            };
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
            if change == FrameChange::Insert {
                self.see(TierEvent::Comes(frames.start, frames.end));
                self.mine.frames[1] += u64::from(frames.end - frames.start);
                self.manager.frames_come(frames);
            } else {
                self.see(TierEvent::Leaves(frames.start, frames.end));
                self.manager.frames_leave(frames, change == FrameChange::Lose);
            }
        }
    }

    /// The link is down: nothing that is open or still to be done will be (`ualink` §12). Who waits for the last access to a page is
    /// answered when the link is up again, since nothing here accesses it any more.
    fn isolate(&mut self, cx: &mut Cx, at: Stamp) {
        if std::mem::replace(&mut self.mine.is_isolated, true) {
            return;
        }
        (self.next, self.put_off) = (None, None);
        self.config.changes.end();
        self.control.clear();
        self.manager_ends(at);
        let open: Vec<OpenTierRequest> = self.open.iter_mut().filter_map(Option::take).collect();
        for OpenTierRequest { purpose, id, .. } in open {
            self.ends_undone(id, at);
            if let Purpose::Access(access) = purpose {
                self.ends_undone(access.id, at);
                self.page_ends(access.page, at);
            }
        }
        self.open_accesses = 0;
        self.tried_ends(at);
        self.copies_end(at);
        self.follow(at);
        cx.progress();
        self.broken("SIM-E2E-03", "a link that is down".to_owned(), "no open request", "the originator is isolated");
    }

    /// A transaction of the trace ends without having been done.
    fn ends_undone(&mut self, id: u64, at: Stamp) {
        self.tap.record(at, RecordKind::End, id, 0, || Body::Mark("isolated"));
    }

    // ---- completer -----------------------------------------------------------------------------------------------

    /// What HBM has done by now, and answers that leave.
    fn memory_ends(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(work) = self.hbm.pop(at.cycle) {
            match work {
                HbmWork::Own { tag, read } => {
                    if let Some(open) = self.open[usize::from(tag)].as_mut() {
                        open.lines = read.lines(0).map(Some).collect();
                    }
                    self.ended(cx, tag, at, || Body::None);
                }
                HbmWork::Answer { port, answer, id } => self.leaving[port].push_back((answer, id)),
            }
        }
        for port in 0..self.ports.len() {
            while !self.leaving[port].is_empty()
                && self.ports[port].tx[TlClass::Response.index()].has_room(cx, 1)
                && let Some((answer, id)) = self.leaving[port].pop_front()
            {
                self.tap.record(at, RecordKind::End, id, 0, || Body::None);
                let answer = answer.transfer(self.config.own);
                self.ledger().sends(port, &answer);
                // Room was asked for before.
                let _ = self.ports[port].tx[TlClass::Response.index()].push(cx, Box::new(answer));
            }
        }
    }

    /// Requests of others take effect.
    fn serve(&mut self, cx: &mut Cx, at: Stamp) {
        for port in 0..self.ports.len() {
            while self.leaving[port].len() < MOST_LEAVING
                && let Some(transfer) = self.ports[port].rx[TlClass::Request.index()].pop(cx)
            {
                self.ledger().takes(port, &transfer);
                let ControlField::Request(req) = &transfer.field else { continue };
                self.mine.served += 1;
                let id = self.tap.new_id();
                let named = request_handle(self.config.fabric, &transfer)
                    .map_or(TransactionNaming::Nowhere, TransactionNaming::By);
                let body = || Body::Access { name: "serve", address: req.address };
                self.tap.named(named, at, RecordKind::Begin, id, 0, body);
                match super::messages::page_at(req.address, self.accesses.len() as u32) {
                    Some(page) => self.message(page, port, req, &transfer, id, at),
                    None => {
                        self.tap.wait(at, id, Wait::Media, 0);
                        let read = apply(&mut self.memory, self.config.own, &transfer);
                        self.answer(port, req, read, id, at);
                    }
                }
            }
        }
    }

    /// A request of another node is answered behind the latency of HBM.
    fn answer(&mut self, port: usize, req: &TlReq, read: Read, id: u64, at: Stamp) {
        for answer in answers(read, req, Responses::Multi) {
            // A latency without limits always has room.
            let _ = self.hbm.push(at.cycle, &MemoryRequest::NONE, HbmWork::Answer { port, answer, id });
        }
    }
}

impl Module for TieredAccelerator {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        for port in 0..self.ports.len() {
            while let Some(transfer) = self.ports[port].rx[TlClass::Response.index()].pop(cx) {
                self.response(cx, port, &transfer, at);
            }
        }
        self.memory_ends(cx, at);
        self.change_frames(at);
        self.serve(cx, at);
        self.end_interval(at);
        self.follow(at);
        let issued = self.issue(cx, at);
        if issued > 0 {
            return Next::Busy;
        }
        // What waits for room, for an answer or for a request is woken by it.
        let begins = self.next.map(|_| self.config.start_cycle);
        let interval = self.is_counting().then_some(self.interval_end_cycle);
        let stops = self.next.and(self.config.stop_cycle);
        let changes = self.config.changes.due_at();
        let timers = begins.into_iter().chain(interval).chain(changes).chain(stops);
        let due = self.hbm.ready_at().into_iter().chain(timers).filter(|due| *due > at.cycle).min();
        due.map_or(Next::Idle, |due| Next::At(cx.in_cycles(due - at.cycle)))
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let since = self.open.iter().flatten().map(|open| self.config.clock.edge(open.since_cycle)).min();
        match since {
            Some(since) => {
                Err(Pending::new(format!("{} requests without answer", self.open.iter().flatten().count()), since))
            }
            None if self.next.is_some() => Err(Pending::new("operations not issued", Time::ZERO)),
            None if self.manager.is_leaving() => Err(Pending::new("pages in frames that leave", Time::ZERO)),
            None if self.manager.is_moving() || !self.engine.is_idle() => {
                Err(Pending::new("a page that moves", Time::ZERO))
            }
            None if !self.waiting.is_empty() || !self.control.is_empty() => {
                Err(Pending::new("messages about pages without answer", Time::ZERO))
            }
            None => Ok(()),
        }
    }

    fn publish(&self) {
        let (prefetched, refused) = (self.manager.prefetched(), self.manager.refused());
        let mine = TieredResult { prefetched, refused, ..self.mine.clone() };
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = mine;
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.open.iter().flatten().count() as u64);
        visit("blocks_copied", self.engine.under_way() as u64);
    }
}
