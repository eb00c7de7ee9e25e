//! Requests of CXL.io to memory of accelerators behind a BAR, class BR, without time (`bridge` §2, §3.5, §5.3, §6.4, §8.2).
//!
//! Modelled: MRd, MWr, FetchAdd, Swap and CAS of 32 and 64 bits, cut at blocks of 256 bytes, each of which has a window and rights of its
//! own; what a requester has written before a request is performed before that, and with relaxed ordering what it has written to the same
//! blocks; one access at a line at a time; completions in order, cut at blocks, at the largest payload and where poison begins or ends,
//! ended by the first block that fails; time-outs, behind which tags stay taken. What an accelerator is asked is the same for
//! UALink and NVLink but for the units of an access ([`access`]). Detail: TLP in, TLPs out. Left out: configuration, messages and I/O, which
//! the bridge handles by itself; what stages and links do, which is up to the [`module`](super::module). A byte has one window, so that
//! lines of this class are never those of CXL.mem, whose locks are their own.
//!
//! A walk through MRd of 300 bytes behind an MWr of its requester: the MWr has left as one Write, and nothing else leaves; its answer comes,
//! and two Reads leave, one for each block; the answer of the second one comes and waits; that of the first one comes, and two CplDs leave.

pub mod access;
pub mod half;
pub mod packets;
pub mod rows;
pub mod upli;

use crate::commands::AccessKind;
use crate::lines::BLOCK_BYTES;
use crate::outbound::BridgeFinding;
use crate::status::{RANKS, merged};
use crate::window::{BridgeWindows, InboundClass};
use access::{AccessReach, BlockAccess, BlockOperation, WrittenBytes};
use rows::{TlpAction, action, completion_status};
use scalepool_coherence::content::CacheLine;
use scalepool_endpoint::tlp::{Enables, Tlp, TlpKind};
use scalepool_memory::LINE_BYTES;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::ualink::code::Status;
use std::collections::VecDeque;
use std::ops::Range;

/// Relaxed ordering among the attributes of a TLP (`cxl-io` §1).
const RELAXED: u8 = 1 << 1;

/// How it is built.
#[derive(Debug, Clone)]
pub struct BarConfig {
    /// Windows of class BR.
    pub windows: BridgeWindows<InboundClass>,
    /// What one access takes.
    pub reach: AccessReach,
    /// Tags of its accesses, which are those of no other half.
    pub tags: Range<u16>,
    /// The largest payload of a completion \[bytes\]: 256 where the host allows it.
    pub payload_bytes: usize,
}

/// What follows from a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BarStep {
    /// The access of a tag leaves for its accelerator.
    Send(u16),
    /// An access has got on; from here on its time counts anew.
    Advanced {
        /// Its tag.
        tag: u16,
        /// The number of this advance, for [`BarTarget::time_out`].
        advances: u64,
    },
    /// A completion of a request leaves.
    Respond {
        /// The request.
        request: u64,
        /// Its port.
        port: usize,
        /// The completion; who completes is known at the port.
        tlp: Tlp,
        /// The last one.
        is_last: bool,
    },
    /// A write is over.
    Written(u64),
    /// A request waits for an earlier write of its requester.
    Waits {
        /// The request.
        request: u64,
        /// The write.
        holder: u64,
    },
}

/// What follows from a call; the caller owns it and empties it between calls.
#[derive(Debug, Clone, Default)]
pub struct BarOutput {
    /// What is to be done, in this order.
    pub steps: Vec<BarStep>,
    /// Broken rules.
    pub findings: Vec<BridgeFinding>,
}

/// What it has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BarCounts {
    /// Requests: reads, writes, atomics.
    pub requests: [u64; 3],
    /// Accesses to accelerators.
    pub accesses: u64,
    /// Reads and atomics that ended without success.
    pub refused: u64,
    /// Writes that have not been done, or not all of them: nobody is told but by this count.
    pub lost_writes: u64,
    /// Of both, those outside of all windows, or at an address that their accelerator does not have.
    pub outside: u64,
    /// Of both, those without the right.
    pub without_right: u64,
    /// Accesses that were given up.
    pub timeouts: u64,
    /// Answers of accelerators that came when their access was given up.
    pub late: u64,
}

impl BarCounts {
    /// A request, or a part of one that is completed, has ended with a status: those of which hosts do not hear enough, or nothing
    /// (`bridge` §8.2).
    fn ended(&mut self, status: Status) {
        self.outside += u64::from(status == Status::DecodeError);
        self.without_right += u64::from(status == Status::ProtectionViolation);
    }
}

/// One access of a block.
#[derive(Debug, Clone)]
struct BarPiece {
    access: BlockAccess,
    is_sent: bool,
    is_done: bool,
}

/// The bytes of a request in one block.
#[derive(Debug, Clone)]
struct BarBlock {
    /// Addresses of CXL.
    place: Range<u64>,
    /// Address at its accelerator of the first byte.
    address: u64,
    pieces: Vec<BarPiece>,
    /// The worst status so far.
    status: Status,
    /// What was read.
    data: Vec<u8>,
    /// Lines of the block whose bytes are known to be wrong.
    poisoned: [bool; (BLOCK_BYTES / LINE_BYTES) as usize],
}

/// The line of its block that an address lies in, on either side: windows move addresses by whole blocks.
fn line_of_block(address: u64) -> usize {
    (address % BLOCK_BYTES / LINE_BYTES) as usize
}

impl BarBlock {
    fn is_over(&self) -> bool {
        self.status != Status::OKAY || self.pieces.iter().all(|piece| piece.is_done)
    }
}

/// A request.
#[derive(Debug, Clone)]
struct BarRequest {
    port: usize,
    tlp: Tlp,
    blocks: Vec<BarBlock>,
    /// Blocks that are completed.
    completed: usize,
    /// It waits for a write, as it was said.
    waits_for: Option<u64>,
}

impl BarRequest {
    fn is_write(&self) -> bool {
        !self.tlp.is_non_posted()
    }

    /// Blocks of CXL that it touches.
    fn touches(&self) -> Range<u64> {
        let (address, bytes) = extent(&self.tlp);
        address / BLOCK_BYTES..(address + bytes).div_ceil(BLOCK_BYTES)
    }
}

/// Who waits for an answer of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerAwaitedBy {
    /// The request.
    ByRequest,
    /// Nobody: the request has ended with an earlier block that failed.
    ByNobody,
    /// It was given up, and its tag and lines are taken until the answer is here.
    GivenUp,
}

/// An access that is under way.
#[derive(Debug, Clone)]
struct OpenBarAccess {
    request: u64,
    block: usize,
    piece: usize,
    access: BlockAccess,
    advances: u64,
    awaited: AnswerAwaitedBy,
}

/// Memory of accelerators behind BARs.
#[derive(Debug, Clone)]
pub struct BarTarget {
    config: BarConfig,
    /// Requests in the order in which they came.
    requests: OrderedMap<u64, BarRequest>,
    /// Those that are converted, of which accesses have still to leave.
    launching: OrderedSet<u64>,
    next: u64,
    open: OrderedMap<u16, OpenBarAccess>,
    free: VecDeque<u16>,
    /// Lines that an access is under way to, each with its tag.
    busy: OrderedMap<(u16, u64), u16>,
    /// Writes that are not over, by port and requester, in their order.
    writes: OrderedMap<(usize, u16), VecDeque<u64>>,
    counts: BarCounts,
    advances: u64,
}

/// First byte and bytes of a request of memory.
fn extent(tlp: &Tlp) -> (u64, u64) {
    match tlp.kind {
        TlpKind::MemRead { address, dw, .. } => (address, (dw * DW_BYTES) as u64),
        TlpKind::MemWrite { address, .. } => (address, tlp.data.len() as u64),
        TlpKind::Atomic { operation, address } => (address, (tlp.data.len() / operation.operands()) as u64),
        _ => (0, 0),
    }
}

/// Lines that an access touches.
fn lines_of(access: &BlockAccess) -> Vec<(u16, u64)> {
    access.lines().map(|line| (access.target, line)).collect()
}

impl BarTarget {
    /// Nothing is under way.
    pub fn new(config: BarConfig) -> BarTarget {
        BarTarget {
            requests: OrderedMap::new(),
            launching: OrderedSet::new(),
            next: 1,
            open: OrderedMap::new(),
            free: config.tags.clone().collect(),
            busy: OrderedMap::new(),
            writes: OrderedMap::new(),
            counts: BarCounts::default(),
            advances: 0,
            config,
        }
    }

    /// What it has counted.
    pub fn counts(&self) -> BarCounts {
        self.counts
    }

    /// Requests that are not over, and accesses that nobody waits for any more.
    pub fn open(&self) -> usize {
        self.requests.len() + self.open.values().filter(|open| open.awaited != AnswerAwaitedBy::ByRequest).count()
    }

    /// Whether another request can come: while as many writes are under way as there are tags none can. Requests with a completion have
    /// no limit of their own, since each has a tag of its requester.
    pub fn has_room(&self) -> bool {
        self.writes.values().map(VecDeque::len).sum::<usize>() < self.config.tags.len()
    }

    /// Whether a tag is one of its own.
    pub fn owns(&self, tag: u16) -> bool {
        self.config.tags.contains(&tag)
    }

    /// The access of a tag.
    pub fn access(&self, tag: u16) -> Option<&BlockAccess> {
        self.open.get(&tag).map(|open| &open.access)
    }

    /// The request that an access is for.
    pub fn request_of(&self, tag: u16) -> Option<u64> {
        self.open.get(&tag).map(|open| open.request)
    }

    /// When an access has last got on; `None`: nobody waits for it.
    pub fn advances(&self, tag: u16) -> Option<u64> {
        self.open.get(&tag).filter(|open| open.awaited != AnswerAwaitedBy::GivenUp).map(|open| open.advances)
    }

    /// A TLP of memory has come to a port; its number.
    pub fn admit(&mut self, port: usize, tlp: Tlp) -> u64 {
        let request = self.next;
        self.next += 1;
        let (blocks, completed) = (Vec::new(), 0);
        let of = BarRequest { port, tlp, blocks, completed, waits_for: None };
        if of.is_write() {
            self.writes.entry((port, of.tlp.requester)).or_default().push_back(request);
        }
        self.requests.insert(request, of);
        request
    }

    /// The stages in front are behind a request: it is converted, and what may leave of it leaves. `is_viral`: its port takes nothing.
    pub fn start(&mut self, request: u64, is_viral: bool, out: &mut BarOutput) {
        let Some(BarRequest { tlp, .. }) = self.requests.get(&request) else { return };
        let (access, n) = match tlp.kind {
            TlpKind::MemWrite { .. } => (AccessKind::Write, 1),
            TlpKind::Atomic { .. } => (AccessKind::Atomic, 2),
            _ => (AccessKind::Read, 0),
        };
        let (address, bytes) = extent(tlp);
        let mut blocks: Vec<BarBlock> = Vec::new();
        for place in access::blocks(address, bytes) {
            blocks.push(self.converted(tlp, access, place, is_viral));
            if !tlp.is_non_posted() {
                continue;
            }
            // Nothing is asked for behind the first block that fails.
            if blocks.last().is_some_and(|block| block.status != Status::OKAY) {
                break;
            }
        }
        self.counts.requests[n] += 1;
        if let Some(of) = self.requests.get_mut(&request) {
            of.blocks = blocks;
        }
        self.launching.insert(request);
        self.pump(out);
    }

    /// A block of a request: window, rights and legality, in this order (`bridge` §2), and its accesses.
    fn converted(&self, tlp: &Tlp, access: AccessKind, place: Range<u64>, is_viral: bool) -> BarBlock {
        let bytes = (place.end - place.start) as usize;
        let mut block = BarBlock {
            place: place.clone(),
            address: 0,
            pieces: Vec::new(),
            status: Status::OKAY,
            data: vec![0; bytes],
            poisoned: Default::default(),
        };
        let windows = &self.config.windows;
        let route = match (windows.route(tlp.requester, place.start, access), action(tlp)) {
            (Ok(route), TlpAction::Accesses) if !is_viral => route,
            (Ok(_), _) => return BarBlock { status: Status::TargetAbort, ..block },
            (Err(status), _) => return BarBlock { status, ..block },
        };
        let (target, reach, vchan) = (route.port as u16, self.config.reach, tlp.tc & 3);
        block.address = route.address;
        let at = route.address..route.address + bytes as u64;
        let from = (place.start - extent(tlp).0) as usize;
        let accesses = match tlp.kind {
            // A read of no byte asks for what was written before it, and for nothing else (`bridge` §3.2).
            TlpKind::MemRead { enables: Enables { first: 0, .. }, dw: 1, .. } => Vec::new(),
            TlpKind::MemRead { .. } => vec![access::read(reach, (target, &at), vchan)],
            TlpKind::Atomic { operation, .. } => {
                vec![access::atomic(reach, (target, at.start), (operation, &tlp.data), tlp.poison, vchan)]
            }
            TlpKind::MemWrite { enables, .. } => {
                let enabled = access::enabled(enables, tlp.data.len() / DW_BYTES);
                let written = WrittenBytes {
                    address: at.start,
                    data: &tlp.data[from..from + bytes],
                    enabled: &enabled[from..from + bytes],
                    poison: tlp.poison,
                };
                access::writes(reach, target, written, vchan)
            }
            _ => Vec::new(),
        };
        block.pieces = accesses.into_iter().map(|access| BarPiece { access, is_sent: false, is_done: false }).collect();
        block
    }

    /// The earlier write that a request waits for (`bridge` §6.4).
    fn written_before(&self, request: u64) -> Option<u64> {
        let of = self.requests.get(&request)?;
        let is_relaxed = of.is_write() && of.tlp.attr & RELAXED != 0;
        let touches = of.touches();
        let holds = |other: &u64| {
            let blocks = self.requests.get(other).map_or(0..0, BarRequest::touches);
            !is_relaxed || blocks.start < touches.end && touches.start < blocks.end
        };
        let writes = self.writes.get(&(of.port, of.tlp.requester))?;
        let earlier = writes.partition_point(|other| *other < request);
        writes.range(..earlier).rfind(|other| holds(other)).copied()
    }

    /// All that may leave leaves, in the order in which requests came.
    fn pump(&mut self, out: &mut BarOutput) {
        // Lines that an earlier request waits for.
        let mut wanted = OrderedSet::new();
        let mut from = 0;
        let next = |launching: &OrderedSet<u64>, from| launching.range(from..).next().copied();
        while let Some(request) = next(&self.launching, from) {
            from = request + 1;
            let before = self.written_before(request);
            let Some(of) = self.requests.get_mut(&request) else { continue };
            if let Some(holder) = before {
                if std::mem::replace(&mut of.waits_for, before) != before {
                    out.steps.push(BarStep::Waits { request, holder });
                }
                continue;
            }
            let is_write = of.is_write();
            for block in 0..of.blocks.len() {
                for piece in 0..self.requests.get(&request).map_or(0, |of| of.blocks[block].pieces.len()) {
                    self.launch((request, block, piece), &mut wanted, out);
                }
                // Nothing is asked for behind the first block of a read that fails.
                let status = self.requests.get(&request).map_or(Status::OKAY, |of| of.blocks[block].status);
                if !is_write && status != Status::OKAY {
                    break;
                }
            }
            let mut pieces =
                self.requests.get(&request).into_iter().flat_map(|of| &of.blocks).flat_map(|block| &block.pieces);
            if pieces.all(|piece| piece.is_sent || piece.is_done) {
                self.launching.remove(&request);
            }
            self.complete(request, out);
        }
    }

    /// An access leaves, if its lines and a tag are free. One to lines whose accelerator has not answered an access that was given up ends
    /// as that one: nobody knows whether it is still to be performed.
    fn launch(
        &mut self,
        (request, block, piece): (u64, usize, usize),
        wanted: &mut OrderedSet<(u16, u64)>,
        out: &mut BarOutput,
    ) {
        let Some(of) = self.requests.get_mut(&request).and_then(|of| of.blocks.get_mut(block)) else { return };
        let Some(BarPiece { access, is_sent: false, is_done: false }) = of.pieces.get(piece) else { return };
        let lines = lines_of(access);
        let is_given_up = |tag: &u16| self.open.get(tag).is_some_and(|open| open.awaited == AnswerAwaitedBy::GivenUp);
        let is_dead = lines.iter().any(|line| self.busy.get(line).is_some_and(is_given_up))
            || self.free.is_empty() && self.open.keys().all(is_given_up);
        if is_dead {
            (of.pieces[piece].is_done, of.status) = (true, merged(of.status, Status::CompletionTimeout));
            return;
        }
        let is_free = lines.iter().all(|line| !self.busy.contains_key(line) && !wanted.contains(line));
        let tag = if is_free { self.free.pop_front() } else { None };
        let Some(tag) = tag else {
            wanted.extend(lines);
            return;
        };
        let access = access.clone();
        of.pieces[piece].is_sent = true;
        self.advances += 1;
        let advances = self.advances;
        self.busy.extend(lines.into_iter().map(|line| (line, tag)));
        self.open.insert(
            tag,
            OpenBarAccess { request, block, piece, access, advances, awaited: AnswerAwaitedBy::ByRequest },
        );
        self.counts.accesses += 1;
        out.steps.push(BarStep::Advanced { tag, advances });
        out.steps.push(BarStep::Send(tag));
    }

    /// The access of a tag has left for its link.
    pub fn sent(&mut self, tag: u16, out: &mut BarOutput) {
        self.advances += 1;
        let advances = self.advances;
        if let Some(open) = self.open.get_mut(&tag).filter(|open| open.awaited != AnswerAwaitedBy::GivenUp) {
            open.advances = advances;
            out.steps.push(BarStep::Advanced { tag, advances });
        }
    }

    /// An accelerator answers the access of a tag: its status, and the lines that it has read.
    pub fn receive(&mut self, tag: u16, status: Status, read: &[CacheLine], out: &mut BarOutput) {
        let Some(open) = self.open.remove(&tag) else {
            let found = format!("an answer with tag {tag}");
            let expected = "an open access to an accelerator";
            return out.findings.push(BridgeFinding { rule: "BRG-TAG-02", found, expected });
        };
        for line in lines_of(&open.access) {
            self.busy.remove(&line);
        }
        self.free.push_back(tag);
        if open.awaited != AnswerAwaitedBy::ByRequest {
            self.counts.late += u64::from(open.awaited == AnswerAwaitedBy::GivenUp);
            return self.pump(out);
        }
        let asks = open.access.operation != BlockOperation::Write;
        let lines = if asks && status == Status::OKAY { lines_of(&open.access).len() } else { 0 };
        let is_right = status != Status::OKAY || lines == read.len();
        if !is_right {
            let found = format!("{} lines of data for tag {tag}, which has asked for {lines}", read.len());
            let expected = "as many lines as an access reads, none for a write";
            out.findings.push(BridgeFinding { rule: "BRG-MAP-64", found, expected });
        }
        let status = if is_right { status } else { Status::TargetAbort };
        self.ended(&open, status, read, out);
    }

    /// An access has not got on since it had done so for this time: it ends as with status 8.
    pub fn time_out(&mut self, tag: u16, advances: u64, out: &mut BarOutput) {
        let is_meant =
            |open: &&mut OpenBarAccess| open.awaited != AnswerAwaitedBy::GivenUp && open.advances == advances;
        let Some(open) = self.open.get_mut(&tag).filter(is_meant) else { return };
        let awaited = std::mem::replace(&mut open.awaited, AnswerAwaitedBy::GivenUp);
        self.counts.timeouts += 1;
        if awaited == AnswerAwaitedBy::ByNobody {
            return self.pump(out);
        }
        let open = open.clone();
        self.ended(&open, Status::CompletionTimeout, &[], out);
    }

    /// The link over which the access of a tag was asked was reset: it ends as with status 8 (`bridge` §8.2: link down).
    pub fn link_lost(&mut self, tag: u16, out: &mut BarOutput) {
        if let Some(advances) = self.advances(tag) {
            self.time_out(tag, advances, out);
        }
    }

    /// The answer to the access of a tag that was lost cannot come any more: its tag and its lines are free (`bridge` §7).
    pub fn forget(&mut self, tag: u16, out: &mut BarOutput) {
        let late = self.counts.late;
        self.receive(tag, Status::CompletionTimeout, &[], out);
        self.counts.late = late;
    }

    fn ended(&mut self, open: &OpenBarAccess, status: Status, read: &[CacheLine], out: &mut BarOutput) {
        let of = self.requests.get_mut(&open.request).and_then(|of| of.blocks.get_mut(open.block));
        if let Some(block) = of {
            block.pieces[open.piece].is_done = true;
            // One that the bridge does not know is as if the accelerator had given up.
            let status = if RANKS.contains(&status) { status } else { Status::TargetAbort };
            block.status = merged(block.status, status);
            let base = open.access.address / LINE_BYTES * LINE_BYTES;
            // Bytes around those that were asked for are not passed on.
            let end = block.address + block.data.len() as u64;
            for (line, at) in read.iter().zip((base..).step_by(LINE_BYTES as usize)) {
                let (from, to) = (at.max(block.address), (at + LINE_BYTES).min(end));
                if from < to {
                    let bytes = &line.bytes[(from - at) as usize..(to - at) as usize];
                    block.data[(from - block.address) as usize..(to - block.address) as usize].copy_from_slice(bytes);
                    block.poisoned[line_of_block(at)] = line.poison;
                }
            }
        }
        self.complete(open.request, out);
        self.pump(out);
    }

    /// Completions leave for the blocks of a request that are over, in their order; a write is over with its last block.
    fn complete(&mut self, request: u64, out: &mut BarOutput) {
        let payload = self.config.payload_bytes as u64;
        let Some(of) = self.requests.get_mut(&request) else { return };
        if of.is_write() {
            if of.blocks.iter().all(|block| block.pieces.iter().all(|piece| piece.is_done)) {
                let status = of.blocks.iter().fold(Status::OKAY, |worst, block| merged(worst, block.status));
                self.counts.lost_writes += u64::from(status != Status::OKAY);
                self.counts.ended(status);
                let writer = (of.port, of.tlp.requester);
                self.remove(request);
                if let Some(writes) = self.writes.get_mut(&writer) {
                    writes.retain(|other| *other != request);
                    if writes.is_empty() {
                        self.writes.remove(&writer);
                    }
                }
                out.steps.push(BarStep::Written(request));
            }
            return;
        }
        let (port, mut is_over) = (of.port, false);
        while !is_over && of.blocks.get(of.completed).is_some_and(BarBlock::is_over) {
            let block = &of.blocks[of.completed];
            of.completed += 1;
            let is_good = block.status == Status::OKAY;
            let parts = if is_good { parts(block, payload) } else { vec![block.place.clone()] };
            for part in parts {
                let tlp = completion(&of.tlp, block, &part);
                is_over = !is_good || part.end == extent(&of.tlp).0 + extent(&of.tlp).1;
                self.counts.refused += u64::from(!is_good);
                self.counts.ended(block.status);
                out.steps.push(BarStep::Respond { request, port, tlp, is_last: is_over });
            }
        }
        if is_over {
            // What is under way still is for nobody.
            let own = |open: &&mut OpenBarAccess| open.request == request && open.awaited == AnswerAwaitedBy::ByRequest;
            self.open.values_mut().filter(own).for_each(|open| open.awaited = AnswerAwaitedBy::ByNobody);
            self.remove(request);
        }
    }

    fn remove(&mut self, request: u64) {
        self.requests.remove(&request);
        self.launching.remove(&request);
    }

    /// The host has set the largest payload.
    pub fn set_payload(&mut self, bytes: usize) {
        self.config.payload_bytes = bytes;
    }
}

/// The bytes of a block in completions: cut at the largest payload, and where poison begins or ends.
fn parts(block: &BarBlock, payload_bytes: u64) -> Vec<Range<u64>> {
    let mut parts: Vec<Range<u64>> = Vec::new();
    let mut at = block.place.start;
    while at < block.place.end {
        let end = (at / LINE_BYTES * LINE_BYTES + LINE_BYTES).min(block.place.end);
        // Payloads are whole lines.
        let is_cut = at.is_multiple_of(payload_bytes)
            || at > block.place.start && block.poisoned[line_of_block(at - 1)] != block.poisoned[line_of_block(at)];
        match parts.last_mut() {
            Some(part) if !is_cut => part.end = end,
            _ => parts.push(at..end),
        }
        at = end;
    }
    parts
}

/// The completion of a part of a request.
fn completion(tlp: &Tlp, block: &BarBlock, part: &Range<u64>) -> Tlp {
    let (from, bytes) = extent(tlp);
    let (first, count) = match tlp.kind {
        TlpKind::MemRead { dw, enables, .. } => enables.bounds(dw),
        _ => (0, bytes as usize),
    };
    let status = completion_status(block.status);
    let begins = (from + first as u64).max(part.start);
    let byte_count = (from + (first + count) as u64).saturating_sub(begins).max(1) as usize;
    // Only completions of memory reads say where their bytes begin; an atomic is one element, and its completion says 0. Our own choice.
    let lower_address = if matches!(tlp.kind, TlpKind::MemRead { .. }) { (begins & 0x7f) as u8 } else { 0 };
    let kind = TlpKind::Completion { completer: 0, status, byte_count, lower_address };
    let answer = Tlp { tag: tlp.tag, tc: tlp.tc, attr: tlp.attr, ..Tlp::new(kind, tlp.requester, Vec::new()) };
    if status != CplStatus::SC {
        return answer;
    }
    let [start, end] = [part.start, part.end].map(|at| (at - block.place.start) as usize);
    Tlp { data: block.data[start..end].to_vec(), poison: block.poisoned[line_of_block(part.start)], ..answer }
}
