//! An accelerator: an originator that asks others for their memory, and a completer that answers for its own.
//!
//! Modelled: one request a port and cycle, tags that are unique on a port until the last beat of the answer, all requests to
//! a region of 256 bytes on the same port and virtual channel, so that they stay in order; the check of every byte that
//! comes back; requests that a bridge gives up, whose lines are [unknown]; isolation: when the link goes down or an answer is late, what is open and what is still to be asked is
//! answered by dummies, for good \[D\]; where a UPLI stands between it and its ports, the UPLI's originator gives the
//! dummies, port by port. Detail: whole transactions, not beats. Left out: slots of UPLI, see [`station`](super::station); compute.
//!
//! A walk through one cycle: responses are checked and close their requests; late ones are found; requests of others take
//! effect on the memory, their answers become due after its latency; answers that are due leave; then operations are issued
//! until none is due, or one cannot go.
//!
//! In traces an operation is the root of a tree, from when it is due to its answer; its request is its child, and what the
//! completer does for a request is that one's child.

use super::check::CompleterWatch;
use super::completer::{Responses, UalDelayedAnswer, answers};
use super::draws::{DrawLog, DrawLogs, Draws};
use super::ledger::UalLedger;
use super::open::{OpenRequests, UalOpenRequest};
use super::read::lines_of;
use super::regions::Regions;
use super::request_handle;
use super::traffic::{Generator, UalTrafficOp};
use super::unknown::{self, LineJudgement, UnknownLines};
use crate::PlacedViolation;
use crate::first_lines::MemoryBehind;
use crate::latencies::Latencies;
use scalepool_kernel::{Clock, Cx, In, Module, Next, Out, Pending, Rng, Time};
use scalepool_link::ualink::tl::TlClass;
use scalepool_link::ualink::upli::Ordered;
use scalepool_memory::LINE_BYTES;
use scalepool_memory::backend::{MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq, TlRsp};
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::spare::SpareBoxes;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{LayoutDef, Violation, Wire};
use scalepool_trace::{Body, PlaceKind, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages of a transaction, for waves.
pub const LAYOUTS: &[&LayoutDef] = &[TlReq::DEF, TlRsp::DEF];
/// What an accelerator shows in a wave.
pub const SHOWS: PlaceKind = PlaceKind::Messages(LAYOUTS);
/// Tags of a port: 11 bits (`ualink` §12).
const TAGS: u16 = 1 << 11;
/// Most broken checks that an accelerator keeps one by one.
const MOST_BROKEN: usize = 100;

/// What an accelerator leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct AcceleratorResult {
    /// Operations issued, by kind: reads, writes, atomics, key rolls.
    pub issued: [u64; 4],
    /// Operations answered.
    pub done: u64,
    /// Bytes of data of finished operations.
    pub bytes: u64,
    /// Beats of 64 bytes of data of finished operations.
    pub beats: u64,
    /// Request to answer, by transaction.
    pub latencies: Latencies,
    /// Requests of others served.
    pub served: u64,
    /// Operations that a dummy answered, in isolation.
    pub dummies: u64,
    /// The watchdog has isolated the originator: a request had no answer in time.
    pub is_timed_out: bool,
    /// Answers that came when nobody waited any more, in isolation.
    pub late: u64,
    /// Operations that a bridge answered with another status than OKAY, where these are counted.
    pub failed: u64,
    /// End-to-end checks that failed.
    pub broken: Vec<PlacedViolation>,
}

impl AcceleratorResult {
    /// What its isolation breaks. A request without an answer in time breaks UAL-UPL-14. Where a link or a UPLI has ended
    /// requests, the reason is told there and the dummies are what UAL-UPL-14 asks for; what stays is work that is not done.
    pub fn isolation(&self, place: &str) -> Option<PlacedViolation> {
        let (rule, expected, text) = match self.is_timed_out {
            true => (
                "UAL-UPL-14",
                "an answer in time",
                "a request is not answered in time; the watchdog isolates the originator",
            ),
            false => ("SIM-E2E-03", "no open request", "the originator is isolated"),
        };
        let found = format!("{} operations answered by dummies", self.dummies);
        let broken =
            PlacedViolation { place: place.to_owned(), violation: Violation::at_byte(rule, 0, found, expected, text) };
        (self.dummies > 0).then_some(broken)
    }
}

/// How an accelerator is built.
pub struct AcceleratorConfig {
    /// Its number.
    pub own: u16,
    /// Number of its fabric, for traces.
    pub fabric: u32,
    /// Place in traces.
    pub place: String,
    /// What it asks for.
    pub operations: Generator,
    /// Its clock.
    pub clock: Clock,
    /// Cycle of the first operation.
    pub start_cycle: u64,
    /// Cycles from one operation to the next; 0: as fast as they go.
    pub interval_cycles: u64,
    /// Most operations that may be open.
    pub outstanding: usize,
    /// Virtual channels that it uses, 1 to 4.
    pub vcs: u8,
    /// Each so many writes one has a poisoned beat; 0: none.
    pub poison_every: u64,
    /// Others store to the same bytes, so it does not know what it reads.
    pub shares: bool,
    /// Operations that a bridge answers with another status than OKAY are counted and break no rule.
    pub counts_failures: bool,
    /// Time after which an answer is late \[fs\].
    pub timeout_fs: u64,
    /// Request to answer in its memory.
    pub latency_cycles: u64,
    /// Answers that its completer holds for a port.
    pub queue: usize,
    /// How reads of several beats are answered.
    pub responses: Responses,
}

/// Channels between an accelerator and one of its ports, by class.
pub struct AcceleratorPortEnds {
    /// To the link.
    pub tx: [Out<Box<Transfer>>; 2],
    /// From the link.
    pub rx: [In<Box<Transfer>>; 2],
}

/// An answer of the completer.
struct DueAnswer {
    answer: UalDelayedAnswer,
    /// The transaction that it answers.
    id: u64,
}

/// Tags that are free.
#[derive(Default)]
struct Tags {
    fresh: u16,
    back: VecDeque<u16>,
}

impl Tags {
    fn take(&mut self) -> Option<u16> {
        if self.fresh < TAGS {
            self.fresh += 1;
            return Some(self.fresh - 1);
        }
        self.back.pop_front()
    }

    fn are_left(&self) -> bool {
        self.fresh < TAGS || !self.back.is_empty()
    }
}

/// Originator and completer.
pub struct Accelerator {
    config: AcceleratorConfig,
    ports: Vec<AcceleratorPortEnds>,
    memory: Regions,
    watch: CompleterWatch,
    /// Answers of the completer by port, which keep their order there.
    answers: Vec<Box<dyn MemoryBackend<DueAnswer>>>,
    /// Ports whose first answer is due and has no room, as the trace says.
    held: Vec<bool>,
    /// What the memories of all hold in the regions of this originator, once all that is open is done.
    expected: Regions,
    /// Lines of these that may hold something else.
    unknown: UnknownLines,
    /// Nodes that stand in front of memory of others.
    behind: Arc<MemoryBehind>,
    next: Option<UalTrafficOp>,
    next_at_cycle: u64,
    /// The next operation, if it is due: its id and what it waits for.
    tried: Option<(u64, Option<Wait>)>,
    open: OpenRequests,
    tags: Vec<Tags>,
    isolated: bool,
    writes: u64,
    draws: Draws,
    /// Boxes of transactions that have come, for those that go.
    spare: SpareBoxes<Transfer>,
    tap: Tap,
    mine: AcceleratorResult,
    result: Arc<Mutex<AcceleratorResult>>,
    ledger: Arc<Mutex<UalLedger>>,
}

/// An operation in traces.
fn name_of(cmd: ReqCmd) -> &'static str {
    match cmd {
        ReqCmd::Read => "read",
        ReqCmd::WriteMessage => "message",
        cmd if cmd.is_atomic() => "atomic",
        _ => "write",
    }
}

fn entries(ledger: &Mutex<UalLedger>) -> MutexGuard<'_, UalLedger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Accelerator {
    /// An accelerator with its ports, at least one; `rng` draws what it writes. What it publishes is in `result`; messages
    /// are in `ledger` as they pass. `logs` are the same for all accelerators of a fabric, of which each has one, and so is
    /// `behind`.
    pub fn new(
        mut config: AcceleratorConfig,
        ports: Vec<AcceleratorPortEnds>,
        rng: Rng,
        tap: Tap,
        logs: Arc<DrawLogs>,
        behind: Arc<MemoryBehind>,
        (result, ledger): (Arc<Mutex<AcceleratorResult>>, Arc<Mutex<UalLedger>>),
    ) -> Accelerator {
        let (next, next_at_cycle) = (config.operations.next(), config.start_cycle);
        // Numbers of a fabric count from 0, so there is one.
        let log = logs.of(config.own).cloned().unwrap_or_else(|| DrawLog::new(config.own));
        Accelerator {
            answers: ports.iter().map(|_| MemoryTiming::fixed(config.latency_cycles).build()).collect(),
            held: vec![false; ports.len()],
            tags: ports.iter().map(|_| Tags::default()).collect(),
            open: OpenRequests::new(ports.len()),
            watch: CompleterWatch::new(config.own, ports.len()),
            config,
            ports,
            memory: Regions::new(logs.clone()),
            expected: Regions::expected(logs, behind.clone()),
            unknown: UnknownLines::default(),
            behind,
            next,
            next_at_cycle,
            tried: None,
            isolated: false,
            writes: 0,
            draws: Draws::new(rng, log),
            spare: SpareBoxes::default(),
            tap,
            mine: AcceleratorResult::default(),
            result,
            ledger,
        }
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: String, text: String) {
        self.keep(Violation::at_byte(rule, 0, found, expected, text));
    }

    fn keep(&mut self, violation: Violation) {
        if self.mine.broken.len() < MOST_BROKEN {
            self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
        }
    }

    // ---- originator ----------------------------------------------------------------------------------------------

    /// Everything that is open or still to be asked gets a dummy answer (`ualink` §12).
    fn isolate(&mut self, at: Stamp, cx: &mut Cx) {
        self.isolated = true;
        for open in self.open.take_all() {
            self.tap.record(at, RecordKind::End, open.id, 0, || Body::Mark("isolated"));
            self.tap.record(at, RecordKind::End, open.access(), 0, || Body::Mark("isolated"));
            self.mine.dummies += u64::from(open.cmd != ReqCmd::WriteMessage);
        }
        if let Some((id, _)) = self.tried.take() {
            self.tap.record(at, RecordKind::End, id, 0, || Body::Mark("isolated"));
        }
        let rest = self.next.take().into_iter().chain(self.config.operations.by_ref());
        self.mine.dummies += rest.filter(|op| op.cmd != ReqCmd::WriteMessage).count() as u64;
        cx.progress();
    }

    fn response(&mut self, port: usize, transfer: &Transfer, at: Stamp, cx: &mut Cx) {
        let ControlField::Response(rsp) = &transfer.field else { return };
        if rsp.status == Status::ISOLATE {
            return self.isolate(at, cx);
        }
        let own = self.config.own;
        let is_read = rsp.rdwr == RdWr::Read;
        let Some(open) = self.open.get(port, rsp.tag).filter(|open| is_read == open.is_read()) else {
            if self.isolated {
                self.mine.late += 1;
            } else {
                let (found, expected) = (format!("tag {:#x}", rsp.tag), "an open request of its kind".to_owned());
                self.broken("SIM-E2E-02", found, expected, "a response is received without a request".to_owned());
            }
            return;
        };
        if self.config.counts_failures && rsp.status != Status::OKAY && self.behind.of(open.dst()).is_some() {
            return self.given_up(port, rsp, at, cx);
        }
        if rsp.status == Status::CompletionTimeout {
            return match self.behind.of(open.dst()) {
                Some(_) => self.given_up(port, rsp, at, cx),
                None => self.dummy(port, rsp, at, cx),
            };
        }
        // A compressed answer does not say where it comes from.
        let named = TlRsp { src: open.dst(), ..*rsp };
        entries(&self.ledger).came.add(port, Ordered::response(&named));
        if !self.unknown.is_empty() {
            self.learn((port, rsp.tag), rsp, transfer);
        }
        let Some((is_finished, wrong)) = self.open.answer(port, rsp.tag, transfer) else { return };
        // A read that was refused brings no data, and what its response has in their place is not compared: it is told once.
        let is_known = rsp.status == Status::OKAY && !self.config.shares;
        let is_told = |violation: &Violation| is_known || violation.rule != "SIM-E2E-01";
        wrong.into_iter().filter(is_told).for_each(|violation| self.keep(violation));
        if rsp.dst != own || rsp.status != Status::OKAY {
            let found = format!("{:?} for accelerator {}", rsp.status, rsp.dst);
            self.broken(
                "SIM-E2E-02",
                found,
                format!("OKAY for {own}"),
                "a response does not fit its request".to_owned(),
            );
        }
        if is_finished {
            self.close(port, rsp, at, cx);
        }
    }

    /// A node that stands in front of memory of others has given a request up, or if failures are counted, refused it. What it was to write is
    /// there or not.
    fn given_up(&mut self, port: usize, rsp: &TlRsp, at: Stamp, cx: &mut Cx) {
        let Some(open) = self.open.get(port, rsp.tag) else { return };
        let named = TlRsp { src: open.dst(), ..*rsp };
        entries(&self.ledger).came.add(port, Ordered::response(&named));
        if rsp.rdwr == RdWr::Read && !rsp.last {
            return;
        }
        if self.config.counts_failures {
            self.mine.failed += 1;
        } else {
            let text = if open.is_read() { "a read has no data" } else { "a write is done or not" };
            let found = format!("{:?} of node {} for accelerator {}", rsp.status, open.dst(), rsp.dst);
            let text = format!("{text}: it was given up");
            self.broken("SIM-E2E-02", found, format!("OKAY for {}", self.config.own), text);
        }
        let place = (port, rsp.tag);
        let others: Vec<_> = self.open.by_place().filter(|(other, _)| *other != place).collect();
        self.unknown.given_up(place, &open, &others, at.cycle);
        self.close(port, rsp, at, cx);
    }

    /// Lines of a read are judged that may hold something else than what is expected.
    fn learn(&mut self, place: (usize, u16), rsp: &TlRsp, transfer: &Transfer) {
        let (port, tag) = place;
        let Some(open) = self.open.get(port, tag).filter(|_| rsp.status == Status::OKAY) else { return };
        let first = if rsp.len == 0 { usize::from(rsp.offset) } else { 0 };
        for (n, bytes) in lines_of(&transfer.data).enumerate() {
            let (beat, is) = (first + n, (bytes, transfer.poisoned >> n & 1 == 1));
            let Some(expected) = self.open.expected_line(port, tag, beat) else { continue };
            let line = open.first_line() + LINE_BYTES * beat as u64;
            match self.unknown.judge(place, &open, line, (&is, &expected)) {
                LineJudgement::Known => continue,
                LineJudgement::Accepted => (),
                LineJudgement::Learned => {
                    self.expected.set_line(line, is);
                    let others: Vec<_> = self.open.by_place().filter(|(other, _)| *other != place).collect();
                    self.unknown.accept(line, &others);
                }
            }
            self.open.expect(port, tag, beat, is);
        }
    }

    /// An answer that the originator of the UPLI gives by itself, because the port is lost.
    fn dummy(&mut self, port: usize, rsp: &TlRsp, at: Stamp, cx: &mut Cx) {
        if rsp.rdwr == RdWr::Read && !rsp.last {
            return;
        }
        if let Some(open) = self.open.remove(port, rsp.tag) {
            self.tags[port].back.push_back(rsp.tag);
            self.tap.record(at, RecordKind::End, open.id, 0, || Body::Mark("isolated"));
            self.tap.record(at, RecordKind::End, open.access(), 0, || Body::Mark("isolated"));
            self.mine.dummies += u64::from(open.cmd != ReqCmd::WriteMessage);
            cx.progress();
        }
    }

    fn close(&mut self, port: usize, rsp: &TlRsp, at: Stamp, cx: &mut Cx) {
        let Some(open) = self.open.remove(port, rsp.tag) else { return };
        self.unknown.ended((port, rsp.tag));
        self.tags[port].back.push_back(rsp.tag);
        let has_failed =
            rsp.status == Status::CompletionTimeout || self.config.counts_failures && rsp.status != Status::OKAY;
        if open.cmd != ReqCmd::WriteMessage && !has_failed {
            self.mine.done += 1;
            self.mine.bytes += 4 * u64::from(open.dwords);
            self.mine.beats += u64::from(open.beats());
        }
        let since = self.config.clock.edge(open.since_cycle);
        self.mine.latencies.add(at.cycle - open.since_cycle, at.t_fs - since.as_fs());
        let bits = || rsp.to_bits().unwrap_or(0);
        self.tap.record(at, RecordKind::End, open.id, 0, || Body::Message {
            layout: TlRsp::DEF,
            bits: bits(),
            data: None,
        });
        self.tap.record(at, RecordKind::End, open.access(), 0, || Body::None);
        cx.progress();
    }

    /// The deadline of a request that was sent in a cycle.
    fn deadline(&self, since_cycle: u64) -> Time {
        self.config.clock.edge(since_cycle).plus_fs(self.config.timeout_fs)
    }

    /// Whether a request has had no answer for too long.
    fn is_late(&mut self, now: Time) -> bool {
        let may_be = self.open.since_cycle().is_some_and(|since| self.deadline(since) <= now);
        may_be && self.open.oldest_cycle().is_some_and(|since| self.deadline(since) <= now)
    }

    /// The request of an operation.
    fn request(&mut self, op: &UalTrafficOp, tag: u16, vchan: u8) -> Transfer {
        let beats = op.beats();
        let mut req = TlReq {
            cmd: op.cmd,
            src: self.config.own,
            dst: op.dst,
            address: op.address,
            len: op.dwords - 1,
            tag,
            vchan,
            metadata: op.metadata,
            ..TlReq::default()
        };
        if !op.cmd.has_data() {
            req.attr = 0xff;
            return Transfer::new(ControlField::Request(req));
        }
        req.numbeats = beats - 1;
        let data = self.draws.halves(2 * beats);
        if op.cmd.is_atomic() {
            // Operand of 64 bits (`ualink` §12), operation 0.
            req.attr = 1 << 2;
        }
        let enables = match op.cmd {
            ReqCmd::WriteFull => None,
            ReqCmd::Write => Some(self.draws.half()),
            _ => Some([0xff; 32]),
        };
        // Bytes of other beats of the block are not enabled.
        let first = (op.address % REGION_BYTES / 64) as usize;
        let inside = 8 * first..8 * (first + usize::from(beats));
        let enables =
            enables.map(|half: Half| std::array::from_fn(|byte| if inside.contains(&byte) { half[byte] } else { 0 }));
        self.writes += 1;
        let poisoned = self.config.poison_every > 0 && self.writes.is_multiple_of(self.config.poison_every);
        let (poisoned, enables) = (u8::from(poisoned), enables.map(Box::new));
        Transfer { poisoned, data, enables, ..Transfer::new(ControlField::Request(req)) }
    }

    /// Tries the next operation; `false`: it has to wait.
    fn attempt(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let Some(op) = self.next else { return false };
        let (id, wait) = *self.tried.get_or_insert_with(|| {
            let id = self.tap.new_id();
            self.tap
                .record(at, RecordKind::Begin, id, 0, || Body::Access { name: name_of(op.cmd), address: op.address });
            (id, None)
        });
        match self.issue(&op, id, cx, at) {
            Some(now) => {
                if wait != Some(now) {
                    self.tap.wait(at, id, now, 0);
                }
                self.tried = Some((id, Some(now)));
                return false;
            }
            None if wait.is_some() => self.tap.wait_over(at, id),
            None => (),
        }
        self.tried = None;
        true
    }

    /// Issues the next operation, or says what it has to wait for.
    fn issue(&mut self, op: &UalTrafficOp, access: u64, cx: &mut Cx, at: Stamp) -> Option<Wait> {
        let op = *op;
        let region = op.address / REGION_BYTES;
        // One port and one channel for a region, so its requests stay in order (`ualink` §12).
        let port = (region % self.ports.len() as u64) as usize;
        let vchan = (region / self.ports.len() as u64 % u64::from(self.config.vcs)) as u8;
        // One key roll at a time: what ends the last one names its request by the tag alone.
        let is_roll = op.cmd == ReqCmd::WriteMessage;
        let rolls = is_roll && self.open.iter().any(|open| open.cmd == ReqCmd::WriteMessage);
        if rolls {
            return Some(Wait::Order);
        } else if self.open.count() >= self.config.outstanding {
            return Some(Wait::Limit);
        } else if !self.tags[port].are_left() {
            return Some(Wait::Tag);
        } else if !self.ports[port].tx[TlClass::Request.index()].has_room(cx, 1) {
            return Some(Wait::Link);
        }
        let Some(tag) = self.tags[port].take() else { return Some(Wait::Tag) };
        let request = self.request(&op, tag, vchan);
        entries(&self.ledger).sends(port, &request);
        if let ControlField::Request(req) = request.field
            && unknown::writes(op.cmd)
            && self.behind.of(op.dst).is_some()
        {
            let whole = TlReq { cmd: ReqCmd::Read, numbeats: 0, ..req };
            let before = self.expected.apply(op.dst, &Transfer::new(ControlField::Request(whole)));
            let known = self.unknown.sends((port, tag), &op, before, at.cycle);
            if !known.is_empty() {
                let others: Vec<_> = self.open.by_place().collect();
                known.into_iter().for_each(|line| self.unknown.accept(line, &others));
            }
        }
        let expects = self.expected.apply(op.dst, &request);
        let id = self.tap.new_id();
        let bits = || request.field.to_bits().unwrap_or(0);
        let named =
            request_handle(self.config.fabric, &request).map_or(TransactionNaming::Nowhere, TransactionNaming::As);
        let body = || Body::Message { layout: TlReq::DEF, bits: bits(), data: None };
        self.tap.named(named, at, RecordKind::Begin, id, access, body);
        self.open.insert(port, tag, UalOpenRequest::new(&op, at.cycle, id, access), expects);
        self.mine.issued[match op.cmd {
            ReqCmd::Read => 0,
            cmd if cmd.is_atomic() => 2,
            ReqCmd::WriteMessage => 3,
            _ => 1,
        }] += 1;
        // Room was asked for before.
        let _ = self.ports[port].tx[TlClass::Request.index()].push(cx, self.spare.boxed(request));
        self.next = self.config.operations.next();
        self.next_at_cycle = at.cycle + self.config.interval_cycles;
        None
    }

    // ---- completer -----------------------------------------------------------------------------------------------

    /// Begins what the completer does for a request.
    fn serves(&mut self, request: &Transfer, at: Stamp) -> u64 {
        let id = self.tap.new_id();
        let named =
            request_handle(self.config.fabric, request).map_or(TransactionNaming::Nowhere, TransactionNaming::By);
        let address = request.address.get().unwrap_or(0);
        self.tap.named(named, at, RecordKind::Begin, id, 0, || Body::Access { name: "serve", address });
        self.tap.wait(at, id, Wait::Media, 0);
        id
    }

    fn complete(&mut self, cx: &mut Cx, at: Stamp) {
        let (request, response) = (TlClass::Request.index(), TlClass::Response.index());
        for port in 0..self.ports.len() {
            while self.answers[port].is_ready(at.cycle)
                && self.ports[port].tx[response].has_room(cx, 1)
                && let Some(answer) = self.answers[port].pop(at.cycle)
            {
                let DueAnswer { answer, id } = answer;
                self.held[port] = false;
                if answer.is_last() {
                    self.tap.record(at, RecordKind::End, id, 0, || Body::None);
                    let (dst, tag) = answer.asked_by();
                    self.watch.answered(port, dst, tag);
                }
                let answer = answer.transfer(self.config.own);
                entries(&self.ledger).sends(port, &answer);
                // Room was asked for before.
                let _ = self.ports[port].tx[response].push(cx, self.spare.boxed(answer));
            }
            let first = self.answers[port].first().filter(|_| !self.held[port]);
            if let Some(first) = first.filter(|_| self.answers[port].is_ready(at.cycle)) {
                self.tap.wait(at, first.id, Wait::Link, 0);
                self.held[port] = true;
            }
            while self.answers[port].in_flight() < self.config.queue
                && let Some(transfer) = self.ports[port].rx[request].pop(cx)
            {
                self.mine.served += 1;
                entries(&self.ledger).takes(port, &transfer);
                let id = self.serves(&transfer, at);
                let ControlField::Request(req) = &transfer.field else {
                    self.tap.record(at, RecordKind::End, id, 0, || Body::None);
                    continue;
                };
                self.watch.request(port, req).into_iter().for_each(|violation| self.keep(violation));
                let read = self.memory.apply(self.config.own, &transfer);
                for answer in answers(read, req, self.config.responses) {
                    // A latency without limits always has room.
                    let _ = self.answers[port].push(at.cycle, &MemoryRequest::NONE, DueAnswer { answer, id });
                }
                self.spare.keep(transfer);
            }
        }
    }
}

impl Module for Accelerator {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        for port in 0..self.ports.len() {
            while let Some(transfer) = self.ports[port].rx[TlClass::Response.index()].pop(cx) {
                self.response(port, &transfer, at, cx);
                self.spare.keep(transfer);
            }
        }
        if self.is_late(cx.now()) {
            self.mine.is_timed_out = true;
            self.isolate(at, cx);
        }
        self.complete(cx, at);
        let mut issued = 0;
        while issued < self.ports.len() && self.next_at_cycle <= at.cycle && self.attempt(cx, at) {
            issued += 1;
        }
        if issued > 0 && self.next.is_some() && self.config.interval_cycles <= 1 {
            return Next::Busy;
        }
        // What waits for room, for an answer or for a request is woken by it.
        let answer = self.answers.iter().filter_map(|queue| queue.ready_at());
        let issue = self.next.map(|_| self.next_at_cycle);
        let due = answer.chain(issue).filter(|&due| due > at.cycle).min();
        let due = due.map(|due| cx.in_cycles(due - at.cycle));
        let deadline = self.open.since_cycle().map(|since| self.deadline(since));
        due.into_iter().chain(deadline).min().map_or(Next::Idle, Next::At)
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.open.iter().map(|open| self.config.clock.edge(open.since_cycle)).min() {
            Some(since) => Err(Pending::new(format!("{} requests without answer", self.open.count()), since)),
            None if self.next.is_some() => Err(Pending::new("operations not issued", Time::ZERO)),
            None => Ok(()),
        }
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = self.mine.clone();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.open.count() as u64);
    }
}
