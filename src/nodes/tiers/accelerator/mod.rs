//! The clocked accelerator: originator and completer on its links, manager of its pages, copy engine.
//!
//! Modelled: as many requests a cycle as it has links; requests to a block of 256 bytes take one link, so they keep their order; what
//! links of a protocol need, its [node](crate::blocks) does; every byte that is read
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
use super::frames::TierLayout;
use super::leaving::{FrameChange, FrameSchedule, TimedFrames};
use super::manager::PageManager;
use super::policy::PlacementPolicy;
use super::table::PageTable;
use super::traffic::{TieredGenerator, TieredOp};
use super::watch::{MigrationWatch, TierEvent};
use crate::PlacedViolation;
use crate::blocks::{
    BlockAddress, BlockEnd, BlockEvent, BlockFinding, BlockNode, BlockRequest, MarkedLine, NodeAccess,
};
use crate::latencies::Latencies;
use crate::ualink::read::BACKGROUND;
use operations::TriedOp;
use pages::{OpenMove, WaitingMessage};
use scalepool_kernel::{Clock, Cx, Module, Next, Pending, Time};
use scalepool_memory::store::Store;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use transfers::OpenTierCopy;

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
}

/// Why a request was sent.
#[derive(Debug, Clone)]
enum Purpose {
    /// An operation.
    Access(Box<TierAccess>),
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
struct TierAccess {
    page: u32,
    /// What has to be read.
    expects: Vec<MarkedLine>,
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
    to: BlockAddress,
    /// Lines to write; none: a read.
    lines: Vec<MarkedLine>,
    /// Lines to read or write.
    count: u64,
    purpose: Purpose,
    /// Its parent in traces.
    parent: u64,
}

impl TierRequest {
    fn access(&self) -> NodeAccess {
        if self.lines.is_empty() { NodeAccess::Read(self.count) } else { NodeAccess::Write }
    }
}

/// An accelerator.
pub struct TieredAccelerator {
    config: TieredConfig,
    /// Its HBM and its links.
    node: Box<dyn BlockNode>,
    table: PageTable,
    manager: PageManager,
    engine: CopyEngine,
    watch: MigrationWatch,
    copies: Vec<OpenTierCopy>,
    next_copy: u64,
    /// What it has written, by addresses of pages.
    expected: Store,
    /// Why the requests were sent that are open, by tag.
    purposes: Vec<Option<Purpose>>,
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
}

impl TieredAccelerator {
    /// An accelerator with a node that has its number and the control addresses of its layout. What it publishes is in `result`.
    pub fn new(
        mut config: TieredConfig,
        node: Box<dyn BlockNode>,
        tap: Tap,
        result: Arc<Mutex<TieredResult>>,
    ) -> TieredAccelerator {
        let layout = config.layout;
        let all = layout.all_pages();
        let next = config.operations.next();
        TieredAccelerator {
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
            purposes: Vec::new(),
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
            node,
            tap,
            mine: TieredResult::default(),
            result,
        }
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

    /// A request leaves; whether it can was asked before.
    fn send(&mut self, cx: &mut Cx, at: Stamp, request: TierRequest) {
        let TierRequest { to, lines, count, purpose, parent } = request;
        let Some(tag) = self.node.send(cx, at, &mut self.tap, BlockRequest { to, lines, count, parent }) else {
            return;
        };
        self.open_accesses += usize::from(matches!(purpose, Purpose::Access(_)));
        let tag = usize::from(tag);
        if self.purposes.len() <= tag {
            self.purposes.resize(tag + 1, None);
        }
        self.purposes[tag] = Some(purpose);
    }

    fn is_wrong(&mut self, finding: BlockFinding) {
        self.broken(finding.rule, finding.found, &finding.expected, finding.text);
    }

    /// What answers of others tell.
    fn heeds(&mut self, cx: &mut Cx, event: BlockEvent, at: Stamp) {
        match event {
            BlockEvent::Ended(end) => self.ended(end, at),
            BlockEvent::Found(finding) => self.is_wrong(finding),
            BlockEvent::LinkDown => self.isolate(cx, at),
            BlockEvent::Late => self.mine.late += 1,
        }
    }

    /// The last answer to a request has come.
    fn ended(&mut self, end: BlockEnd, at: Stamp) {
        let BlockEnd { tag, to, lines, refused, incomplete } = end;
        let Some(purpose) = self.purposes.get_mut(usize::from(tag)).and_then(Option::take) else { return };
        let (is_ok, is_lost) = (refused.is_none(), self.is_lost(to));
        let is_refused = !is_ok && is_lost;
        if let Some(found) = refused.filter(|_| !is_lost) {
            self.broken("SIM-E2E-02", found, "OKAY", "a response does not fit its request");
        }
        self.mine.refused_requests += u64::from(is_refused);
        if let Some(finding) = incomplete.filter(|_| is_ok) {
            self.is_wrong(finding);
        }
        match purpose {
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
    fn is_lost(&self, at: BlockAddress) -> bool {
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
        for (tag, id) in self.node.isolate() {
            self.ends_undone(id, at);
            if let Some(Purpose::Access(access)) = self.purposes.get_mut(usize::from(tag)).and_then(Option::take) {
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

    /// Requests of others take effect; those about pages are messages.
    fn serve(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(request) = self.node.serve(cx, at, &mut self.tap) {
            match self.config.layout.page_at(request.address) {
                Some(page) => self.message(page, request, at),
                // The node has the control addresses of pages alone.
                None => self.node.reply(at, &request, vec![([0; 64], true); request.lines]),
            }
        }
        while let Some(finding) = self.node.found() {
            self.is_wrong(finding);
        }
    }
}

impl Module for TieredAccelerator {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some(event) = self.node.answered(cx, at, &mut self.tap) {
            self.heeds(cx, event, at);
        }
        while let Some(end) = self.node.own_ended(cx, at, &mut self.tap) {
            self.ended(end, at);
        }
        self.node.leave(cx, at, &mut self.tap);
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
        let due = self.node.due(at.cycle).into_iter().chain(timers).filter(|due| *due > at.cycle).min();
        due.map_or(Next::Idle, |due| Next::At(cx.in_cycles(due - at.cycle)))
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.node.open_since() {
            Some(since) => {
                let found = format!("{} requests without answer", self.node.open());
                Err(Pending::new(found, self.config.clock.edge(since)))
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
        let mine = TieredResult { prefetched, refused, served: self.node.served(), ..self.mine.clone() };
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = mine;
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.node.open() as u64);
        visit("blocks_copied", self.engine.under_way() as u64);
    }
}
