//! Memory of another cluster that is reached without coherence, by operations: RDMA over a network, or a link from chip to chip (C2C).
//!
//! Modelled: the baselines beside the bridge (BRG-BAS-01, choice c28). Each request is one operation and takes the sum of its named
//! parts, none of which overlap: the time of the software that posts and completes it, that of the network, and its bytes over the
//! bandwidth. The bytes of several operations share the line one after the other; the other parts of several operations go on at once.
//! Real bytes with poison, atomics, posted requests and their FLUSH. Left out: packets of the network, losses, registration of memory.
//! Every figure is a named setting and our own choice.
//!
//! A walk through a read of 256 bytes by RDMA: it comes over UALink and takes effect at once, in front of the time that it takes, so
//! operations take effect in the order in which they come; then 2000 ns of software and 1000 ns of network pass, and 256 bytes at
//! 50 GB/s, 5.12 ns; the response leaves at the next edge.

use crate::commands::{AccessKind, CommandAction};
use crate::module::side::RequesterSide;
use crate::outbound::BridgeFinding;
use crate::outbound::posted::{CoveredRequests, PostedBook};
use crate::outbound::request::{AnsweredBeats, BridgeRequest, BridgeResponse, PostedRole};
use scalepool_coherence::content::CacheLine;
use scalepool_kernel::{Cx, Module, Next, Pending, Time};
use scalepool_memory::ALL_BYTES;
use scalepool_memory::backend::{MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_memory::store::{Background, Store};
use scalepool_nodes::PlacedViolation;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The named parts of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteOperation {
    /// Software that posts and completes it \[fs\]; over C2C there is none.
    pub software_fs: u64,
    /// Network or link, there and back \[fs\].
    pub network_fs: u64,
    /// Bandwidth \[MB/s\], not 0.
    pub mbytes_per_s: u64,
}

/// Femtoseconds for a byte at 1 MB/s.
const BYTE_FS: u64 = 1_000_000_000;

impl RemoteOperation {
    /// RDMA over InfiniBand: 400 Gb/s, 1 us of network, 2 us of software. Basis: model, our own choice.
    pub const RDMA: RemoteOperation =
        RemoteOperation { software_fs: 2_000_000_000, network_fs: 1_000_000_000, mbytes_per_s: 50_000 };
    /// Memory of a CPU over NVLink from chip to chip: 450 GB/s in a direction, 300 ns. Basis: model, our own choice.
    pub const C2C_NVLINK: RemoteOperation =
        RemoteOperation { software_fs: 0, network_fs: 300_000_000, mbytes_per_s: 450_000 };
    /// Memory of a CPU over PCIe: 64 GB/s in a direction, 600 ns. Basis: model, our own choice.
    pub const C2C_PCIE: RemoteOperation =
        RemoteOperation { software_fs: 0, network_fs: 600_000_000, mbytes_per_s: 64_000 };

    /// Time in front of the first byte \[fs\].
    pub fn latency_fs(self) -> u64 {
        self.software_fs.saturating_add(self.network_fs)
    }

    /// Time of a byte: numerator and denominator \[fs\].
    pub fn byte_time(self) -> (u64, u64) {
        (BYTE_FS, self.mbytes_per_s)
    }

    /// Time of an operation on so many bytes that is alone \[fs\], rounded up (BRG-BAS-01).
    pub fn time_fs(self, bytes: u64) -> u64 {
        let of_bytes = (u128::from(bytes) * u128::from(BYTE_FS)).div_ceil(u128::from(self.mbytes_per_s));
        self.latency_fs().saturating_add(u64::try_from(of_bytes).unwrap_or(u64::MAX))
    }
}

/// What it leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct RemoteResult {
    /// Operations that are done: reads, writes, atomics.
    pub done: [u64; 3],
    /// Bytes of these.
    pub bytes: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Checks that failed.
    pub broken: Vec<PlacedViolation>,
}

/// An operation that is under way.
struct OpenOperation {
    input: usize,
    request: BridgeRequest,
    status: Status,
    lines: Vec<CacheLine>,
    /// Number among the posted requests of its source and link.
    posted: u64,
    /// Posted requests that it waits for, if it is a FLUSH.
    covered: CoveredRequests,
    /// Transaction in traces.
    id: u64,
}

/// The memory behind it, and the time of operations.
pub struct RemoteMemory {
    side: Box<dyn RequesterSide>,
    /// Decides when operations end.
    line: Box<dyn MemoryBackend<OpenOperation>>,
    store: Store,
    /// Bytes.
    size: u64,
    posted: PostedBook,
    /// FLUSHes that wait for posted requests.
    flushes: Vec<OpenOperation>,
    /// Responses that wait for the room of their input.
    leaving: Vec<VecDeque<OpenOperation>>,
    place: String,
    tap: Tap,
    mine: RemoteResult,
    result: Arc<Mutex<RemoteResult>>,
}

/// Content at first: each 8 bytes hold their own address.
pub const REMOTE_BACKGROUND: Background = Background::OwnAddress;
/// Responses that wait for an input, at which no more requests are taken.
const MOST_LEAVING: usize = 64;
/// Number of a FLUSH in the book, which need not tell them apart: all are looked at whenever a posted request is performed.
const ANY_FLUSH: u16 = 0;

/// How it is built.
pub struct RemoteConfig {
    /// Its place in traces.
    pub place: String,
    /// Bytes behind it.
    pub size: u64,
    /// Decides when operations end.
    pub timing: MemoryTiming,
}

impl RemoteMemory {
    /// With these links to those who ask; what it publishes is in `result`.
    pub fn new(
        config: RemoteConfig,
        side: Box<dyn RequesterSide>,
        tap: Tap,
        result: Arc<Mutex<RemoteResult>>,
    ) -> RemoteMemory {
        let RemoteConfig { place, size, timing } = config;
        RemoteMemory {
            leaving: (0..side.inputs()).map(|_| VecDeque::new()).collect(),
            side,
            line: timing.build(),
            store: Store::new(REMOTE_BACKGROUND),
            size,
            posted: PostedBook::default(),
            flushes: Vec::new(),
            place,
            tap,
            mine: RemoteResult::default(),
            result,
        }
    }

    /// The status of a request, before it does anything: addresses first, then what it asks for (`bridge` §2).
    fn status(&self, request: &BridgeRequest) -> Status {
        match request.action {
            CommandAction::Lines if request.address >= self.size || request.bytes > self.size - request.address => {
                Status::DecodeError
            }
            CommandAction::Lines if !request.is_legal => Status::TargetAbort,
            CommandAction::Refused => Status::TargetAbort,
            _ => Status::OKAY,
        }
    }

    /// What a request reads and writes.
    fn perform(&mut self, request: &BridgeRequest) -> Vec<CacheLine> {
        let mut lines = Vec::new();
        for (n, line) in request.lines.iter().enumerate() {
            let old = self.store.read_line(line.address);
            let operand = request.data.get(n);
            match (request.access, operand, &request.atomic) {
                (AccessKind::Write, Some(new), _) if line.mask != 0 => {
                    self.store.write_line(line.address, &new.bytes, line.mask, new.poison);
                }
                (AccessKind::Atomic, Some(operand), Some(atomic)) if !old.poison => {
                    let (new, answer) = atomic.apply(&old.data, &operand.bytes);
                    self.store.write_line(line.address, &new, ALL_BYTES, operand.poison);
                    lines.push(CacheLine::of(answer));
                    continue;
                }
                _ => (),
            }
            lines.push(CacheLine { bytes: old.data, poison: old.poison });
        }
        lines
    }

    fn take_requests(&mut self, cx: &mut Cx, at: Stamp) {
        for input in 0..self.leaving.len() {
            while self.leaving[input].len() < MOST_LEAVING
                && let Some(front) = self.side.front(cx, input)
                && self.line.has_room(at.cycle, &MemoryRequest::NONE)
            {
                let Some(request) = self.side.take(cx, input) else { continue };
                let id = self.tap.new_id();
                let named = front.handle.map_or(TransactionNaming::Nowhere, TransactionNaming::By);
                let body = || Body::Access { name: "remote operation", address: request.address };
                self.tap.named(named, at, RecordKind::Begin, id, 0, body);
                self.tap.wait(at, id, Wait::Media, 0);
                self.begin(input, request, id, at);
            }
        }
    }

    fn begin(&mut self, input: usize, request: BridgeRequest, id: u64, at: Stamp) {
        let status = self.status(&request);
        let is_done = status == Status::OKAY && request.action == CommandAction::Lines;
        let lines = if is_done { self.perform(&request) } else { vec![CacheLine::of([0; 64]); request.lines.len()] };
        let posted = match request.posted {
            PostedRole::Posted { link } => self.posted.arrives((request.source, link)),
            PostedRole::Answered | PostedRole::Flush(_) => 0,
        };
        let covered = match request.posted {
            PostedRole::Flush(cover) => self.posted.covered(request.source, cover),
            _ => Vec::new(),
        };
        if is_done {
            self.mine.done[request.access as usize] += 1;
            self.mine.bytes += request.bytes;
        }
        self.mine.refused += u64::from(status != Status::OKAY);
        let (bytes, access) = if is_done { (request.bytes, MemoryAccess::Modify) } else { (0, MemoryAccess::Read) };
        let of_line = MemoryRequest { address: request.address, bytes, access };
        let operation = OpenOperation { input, request, status, lines, posted, covered, id };
        // Room was asked for before.
        let _ = self.line.push(at.cycle, &of_line, operation);
    }

    /// An operation has taken its time.
    fn end(&mut self, operation: OpenOperation) {
        match operation.request.posted {
            PostedRole::Answered => self.leaving[operation.input].push_back(operation),
            PostedRole::Posted { link } => {
                let way = (operation.request.source, link);
                self.posted.performed(way, operation.posted, operation.status);
                self.leaving[operation.input].push_back(operation);
                self.end_flushes();
            }
            PostedRole::Flush(_) => {
                self.flushes.push(operation);
                self.end_flushes();
            }
        }
    }

    /// FLUSHes are answered that wait for nothing any more.
    fn end_flushes(&mut self) {
        let mut waiting = Vec::new();
        for mut flush in std::mem::take(&mut self.flushes) {
            let source = flush.request.source;
            if self.posted.are_performed(&flush.covered) {
                flush.status = self.posted.answers(ANY_FLUSH, source);
                self.leaving[flush.input].push_back(flush);
            } else {
                waiting.push(flush);
            }
        }
        self.flushes = waiting;
    }

    fn respond(&mut self, cx: &mut Cx, at: Stamp) {
        for input in 0..self.leaving.len() {
            while let Some(first) = self.leaving[input].front() {
                let OpenOperation { request, status, lines, id, .. } = first;
                let response =
                    BridgeResponse { request, status: *status, lines: lines.clone(), beats: AnsweredBeats::All };
                if !self.side.has_room(cx, input, &response) {
                    break;
                }
                self.side.respond(cx, input, &response);
                self.tap.record(at, RecordKind::End, *id, 0, || Body::None);
                self.leaving[input].pop_front();
                cx.progress();
            }
        }
    }
}

impl Module for RemoteMemory {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.line.advance(at.cycle);
        while let Some(operation) = self.line.pop(at.cycle) {
            self.end(operation);
        }
        self.respond(cx, at);
        self.take_requests(cx, at);
        for BridgeFinding { rule, found, expected } in self.side.take_findings(cx) {
            let violation = Violation::at_byte(rule, 0, found, expected, "a link brings what nobody asked for");
            self.mine.broken.push(PlacedViolation { place: self.place.clone(), violation });
        }
        // What takes no time, such as a refused request without software and network, is answered at the next edge.
        if self.line.ready_at().is_some_and(|ready| ready <= at.cycle) {
            return Next::Busy;
        }
        match self.line.wake_at(at.cycle) {
            Some(due) => Next::At(cx.in_cycles(due - at.cycle)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let waiting: usize = self.leaving.iter().map(VecDeque::len).sum();
        match self.line.in_flight() + self.flushes.len() + waiting {
            0 => Ok(()),
            open => Err(Pending::new(format!("{open} remote operations"), Time::ZERO)),
        }
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = self.mine.clone();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("operations", self.line.in_flight() as u64);
    }
}
