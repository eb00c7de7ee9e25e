//! The bulk half of an accelerator: it fills the buffer of the next one, and checks its own, which the one before fills.
//!
//! Modelled: writes of 256 bytes that take effect in the HBM of the next accelerator when they arrive there and are answered behind its latency; tags; all
//! writes to a region on one port; every byte of a buffer compared with that of the round whose flag was seen. Left out: reads on
//! UALink, poison, UPLI, protection.
//!
//! A walk through the check of a round: its flag was seen, so all blocks are read at once, as they are in that cycle; a block of an older round
//! breaks BRG-TIR-03; behind the latency of HBM the buffer may be filled again.

use super::collective::{CollectiveResult, CollectiveTask, RingMember};
use super::{FlagOrder, SharedDesk, on};
use crate::PlacedViolation;
use crate::ualink::accelerator::AcceleratorPortEnds;
use crate::ualink::completer::{Responses, UalDelayedAnswer, answers, apply, global};
use crate::ualink::ledger::UalLedger;
use crate::ualink::read::{BACKGROUND, Read};
use crate::ualink::request_handle;
use scalepool_kernel::{Clock, Cx, Module, Next, Pending, Time};
use scalepool_link::ualink::tl::TlClass;
use scalepool_link::ualink::upli::Ordered;
use scalepool_memory::backend::{MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_memory::store::Store;
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_protocols::rules;
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{Violation, Wire};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines of a block.
const BLOCK_LINES: u64 = REGION_BYTES / LINE_BYTES;
/// Tags of an accelerator: 11 bits (`ualink` §12), here of all ports together.
const TAGS: u16 = 1 << 11;
/// Answers that wait for a port, at which no more requests are taken.
const MOST_LEAVING: usize = 64;
/// Most broken checks that are kept one by one.
const MOST_BROKEN: usize = 100;

/// How the half is built.
#[derive(Debug, Clone)]
pub struct BulkConfig {
    /// Number of the accelerator.
    pub own: u16,
    /// Number of the one that it fills, and of the one that fills its own buffer.
    pub neighbours: [u16; 2],
    /// Number of its fabric, for traces.
    pub fabric: u32,
    /// Place in traces.
    pub place: String,
    /// Its clock.
    pub clock: Clock,
    /// Blocks of 256 bytes of a buffer.
    pub blocks: u64,
    /// Rounds.
    pub rounds: u64,
    /// Collectives whose chunks the buffers carry; `None`: stamps.
    pub ring: Option<CollectiveTask>,
    /// When flags are stored.
    pub order: FlagOrder,
    /// Most writes that are open.
    pub outstanding: usize,
    /// Cycle of the first write.
    pub start_cycle: u64,
    /// Request to answer in its HBM.
    pub hbm_cycles: u64,
}

/// What the half leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct BulkResult {
    /// Rounds that were given, with all writes answered.
    pub given: u64,
    /// Rounds that were checked.
    pub checked: u64,
    /// Blocks that were written.
    pub blocks: u64,
    /// Blocks that were older than the flag that was seen.
    pub stale: u64,
    /// Requests of others served.
    pub served: u64,
    /// What collectives have come to.
    pub collectives: CollectiveResult,
    /// Checks that failed.
    pub broken: Vec<PlacedViolation>,
    /// Its link went down.
    pub is_isolated: bool,
}

/// What HBM does.
enum HbmWork {
    /// An answer to another node.
    Answer { port: usize, answer: UalDelayedAnswer, id: u64 },
    /// The buffer was read for a round.
    Checked { round: u64, id: u64 },
}

/// A write without an answer.
#[derive(Debug, Clone, Copy)]
struct OpenWrite {
    port: usize,
    id: u64,
    since_cycle: u64,
}

/// The half.
pub struct BulkHalf {
    config: BulkConfig,
    ports: Vec<AcceleratorPortEnds>,
    desk: SharedDesk,
    ring: Option<RingMember>,
    memory: Store,
    hbm: Box<dyn MemoryBackend<HbmWork>>,
    leaving: Vec<VecDeque<(UalDelayedAnswer, u64)>>,
    open: Vec<Option<OpenWrite>>,
    free: Vec<u16>,
    /// The round that is being written, and its next block.
    round: u64,
    block: u64,
    /// The round whose buffer was read last.
    reading: u64,
    tap: Tap,
    mine: BulkResult,
    result: Arc<Mutex<BulkResult>>,
    ledger: Arc<Mutex<UalLedger>>,
}

/// Bytes of a line of a block: who writes them, in which round, and where they are.
fn stamped(writer: u16, round: u64, line: u64) -> LineBytes {
    let mut bytes = [0; LINE_BYTES as usize];
    let words = [u64::from(writer), round, line, !round];
    bytes
        .chunks_exact_mut(8)
        .zip(words.iter().cycle())
        .for_each(|(part, word)| part.copy_from_slice(&word.to_le_bytes()));
    bytes
}

impl BulkHalf {
    /// A half with its ports, at least one. What it publishes is in `result`; messages are in `ledger` as they pass.
    pub fn new(
        config: BulkConfig,
        ports: Vec<AcceleratorPortEnds>,
        desk: SharedDesk,
        tap: Tap,
        (result, ledger): (Arc<Mutex<BulkResult>>, Arc<Mutex<UalLedger>>),
    ) -> BulkHalf {
        BulkHalf {
            ring: config.ring.map(|task| RingMember::new(task, config.own)),
            memory: Store::new(BACKGROUND),
            hbm: MemoryTiming::fixed(config.hbm_cycles).build(),
            leaving: ports.iter().map(|_| VecDeque::new()).collect(),
            open: vec![None; usize::from(TAGS)],
            free: (0..TAGS).rev().collect(),
            round: 1,
            block: 0,
            reading: 0,
            mine: BulkResult::default(),
            config,
            ports,
            desk,
            tap,
            result,
            ledger,
        }
    }

    fn ledger(&self) -> MutexGuard<'_, UalLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: String, text: &str) {
        if self.mine.broken.len() < MOST_BROKEN {
            let violation = Violation::at_byte(rule, 0, found, expected, text);
            self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
        }
    }

    fn is_over(&self) -> bool {
        on(&self.desk).is_over(self.config.rounds) && self.round > self.config.rounds
    }

    fn under_way(&self) -> usize {
        usize::from(TAGS) - self.free.len()
    }

    // ---- originator ----------------------------------------------------------------------------------------------

    /// Blocks of the round that is written.
    fn round_blocks(&self) -> u64 {
        self.ring.as_ref().map_or(self.config.blocks, |ring| ring.blocks(self.round))
    }

    /// The next block of it.
    fn block_lines(&self) -> Vec<LineBytes> {
        match &self.ring {
            Some(ring) => ring.passed_on(self.round, self.block),
            None => {
                (0..BLOCK_LINES).map(|n| stamped(self.config.own, self.round, BLOCK_LINES * self.block + n)).collect()
            }
        }
    }

    /// Writes blocks of the round as far as there are tags and room; whether the last one has left.
    fn write(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let BulkConfig { own, neighbours: [next, _], outstanding, .. } = self.config;
        let blocks = self.round_blocks();
        while self.block < blocks && self.under_way() < outstanding.min(usize::from(TAGS)) {
            let address = self.block * REGION_BYTES;
            let port = (self.block % self.ports.len() as u64) as usize;
            if !self.ports[port].tx[TlClass::Request.index()].has_room(cx, 1) {
                break;
            }
            let Some(tag) = self.free.pop() else { break };
            let lines: Vec<(LineBytes, bool)> = self.block_lines().into_iter().map(|line| (line, false)).collect();
            let Read { data, poisoned } = lines.into();
            let (cmd, len, numbeats) = (ReqCmd::WriteFull, (16 * BLOCK_LINES - 1) as u8, (BLOCK_LINES - 1) as u8);
            let req = TlReq { cmd, src: own, dst: next, address, len, numbeats, tag, ..TlReq::default() };
            let transfer = Transfer { data, poisoned, ..Transfer::new(ControlField::Request(req)) };
            let named = request_handle(self.config.fabric, &transfer);
            let named = named.map_or(TransactionNaming::Nowhere, TransactionNaming::As);
            let (id, bits) = (self.tap.new_id(), || req.to_bits().unwrap_or(0));
            let body = || Body::Message { layout: TlReq::DEF, bits: bits(), data: None };
            self.tap.named(named, at, RecordKind::Begin, id, 0, body);
            self.ledger().sends(port, &transfer);
            // Room was asked for before.
            let _ = self.ports[port].tx[TlClass::Request.index()].push(cx, Box::new(transfer));
            self.open[usize::from(tag)] = Some(OpenWrite { port, id, since_cycle: at.cycle });
            self.block += 1;
            cx.progress();
        }
        self.block == blocks
    }

    /// A round begins when the one before was taken, and is given by its order.
    fn gives(&mut self, cx: &mut Cx, at: Stamp) {
        let BulkConfig { rounds, order, start_cycle, .. } = self.config;
        let desk = *on(&self.desk);
        // A ring passes on what has come in the round before.
        let has_come = self.ring.is_none() || desk.checked + 1 >= self.round;
        let may_begin = desk.taken + 1 >= self.round && has_come && self.round <= rounds;
        if !may_begin || at.cycle < start_cycle || self.mine.is_isolated {
            return;
        }
        if order == FlagOrder::First {
            on(&self.desk).given = self.round;
        }
        if self.write(cx, at) && self.under_way() == 0 {
            on(&self.desk).given = self.round;
            self.mine.given += 1;
            self.mine.blocks += self.block;
            (self.round, self.block) = (self.round + 1, 0);
            cx.progress();
        }
    }

    fn response(&mut self, cx: &mut Cx, port: usize, transfer: &Transfer, at: Stamp) {
        let ControlField::Response(rsp) = &transfer.field else { return };
        if rsp.status == Status::ISOLATE {
            return self.isolate(cx, at);
        }
        let [next, _] = self.config.neighbours;
        let open = self.open.get_mut(usize::from(rsp.tag));
        let Some(open) = open.and_then(|open| open.take_if(|open| open.port == port)) else {
            if !self.mine.is_isolated {
                let found = format!("tag {:#x} at port {port}", rsp.tag);
                let expected = "an open write of this accelerator at its port".to_owned();
                self.broken("SIM-E2E-02", found, expected, "a response is received without a request");
            }
            return;
        };
        self.free.push(rsp.tag);
        // A compressed answer does not say where it comes from.
        self.ledger().came.add(port, Ordered::response(&TlRsp { src: next, ..*rsp }));
        let bits = || rsp.to_bits().unwrap_or(0);
        let body = || Body::Message { layout: TlRsp::DEF, bits: bits(), data: None };
        self.tap.record(at, RecordKind::End, open.id, 0, body);
        cx.progress();
        if rsp.status != Status::OKAY {
            let found = format!("{:?} of node {next}", rsp.status);
            self.broken("SIM-E2E-02", found, "OKAY".to_owned(), "a response does not fit its request");
            // What is not written is not given.
            self.mine.is_isolated = true;
        }
    }

    /// The link is down: no round is given any more (`ualink` §12).
    fn isolate(&mut self, cx: &mut Cx, at: Stamp) {
        if std::mem::replace(&mut self.mine.is_isolated, true) {
            return;
        }
        for (tag, open) in (0..TAGS).zip(&mut self.open) {
            if let Some(open) = open.take() {
                self.free.push(tag);
                self.tap.record(at, RecordKind::End, open.id, 0, || Body::Mark("isolated"));
            }
        }
        cx.progress();
        let found = "a link that is down".to_owned();
        self.broken("SIM-E2E-03", found, "no open request".to_owned(), "the originator is isolated");
    }

    // ---- completer -----------------------------------------------------------------------------------------------

    /// The buffer is read when the flag of a round was seen.
    fn checks(&mut self, at: Stamp) {
        let seen = on(&self.desk).seen;
        if seen == self.reading {
            return;
        }
        self.reading = seen;
        let id = self.tap.new_id();
        self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name: "check", address: 0 });
        self.tap.wait(at, id, Wait::Media, 0);
        // A latency without limits always has room.
        let _ = self.hbm.push(at.cycle, &MemoryRequest::NONE, HbmWork::Checked { round: seen, id });
        if self.ring.is_some() {
            return self.sums(seen, at);
        }
        let (BulkConfig { own, neighbours: [_, before], blocks, .. }, memory) = (&self.config, &self.memory);
        let is_right = |line: &u64| {
            let stored = memory.read_line(global(*own, line * LINE_BYTES));
            !stored.poison && stored.data == stamped(*before, seen, *line)
        };
        let is_stale = |block: &u64| !(block * BLOCK_LINES..(block + 1) * BLOCK_LINES).all(|line| is_right(&line));
        let stale: Vec<u64> = (0..*blocks).filter(is_stale).collect();
        if let Some(first) = stale.first() {
            let found = format!("{} of {blocks} blocks of another round, the first one {first}", stale.len());
            let text = rules::find("BRG-TIR-03").map_or("", |rule| rule.text);
            let expected = format!("round {seen} of accelerator {before}, whose flag was seen");
            self.mine.stale += stale.len() as u64;
            self.broken("BRG-TIR-03", found, expected, text);
        }
    }

    /// Takes the chunk that came in a round of a ring.
    fn sums(&mut self, round: u64, at: Stamp) {
        let (own, memory) = (self.config.own, &self.memory);
        let line = |line: u64| memory.read_line(global(own, line * LINE_BYTES)).data;
        let Some(arrival) = self.ring.as_mut().map(|ring| ring.arrives(round, line)) else { return };
        self.mine.collectives.is_wrong(&format!("round {round}"), &arrival.wrong);
        if arrival.is_last {
            self.mine.collectives.done += 1;
            self.mine.collectives.cycles = at.cycle - self.config.start_cycle;
        }
    }

    /// What HBM has done by now, and answers that leave.
    fn memory_ends(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(work) = self.hbm.pop(at.cycle) {
            cx.progress();
            match work {
                HbmWork::Answer { port, answer, id } => self.leaving[port].push_back((answer, id)),
                HbmWork::Checked { round, id } => {
                    self.tap.record(at, RecordKind::End, id, 0, || Body::None);
                    self.mine.checked += 1;
                    on(&self.desk).checked = round;
                }
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
                let named = request_handle(self.config.fabric, &transfer);
                let named = named.map_or(TransactionNaming::Nowhere, TransactionNaming::By);
                let body = || Body::Access { name: "serve", address: req.address };
                self.tap.named(named, at, RecordKind::Begin, id, 0, body);
                self.tap.wait(at, id, Wait::Media, 0);
                let read = apply(&mut self.memory, self.config.own, &transfer);
                for answer in answers(read, req, Responses::Multi) {
                    // A latency without limits always has room.
                    let _ = self.hbm.push(at.cycle, &MemoryRequest::NONE, HbmWork::Answer { port, answer, id });
                }
            }
        }
    }
}

impl Module for BulkHalf {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        for port in 0..self.ports.len() {
            while let Some(transfer) = self.ports[port].rx[TlClass::Response.index()].pop(cx) {
                self.response(cx, port, &transfer, at);
            }
        }
        self.memory_ends(cx, at);
        // What was written before a flag was seen is there; what comes in this cycle is not yet.
        self.checks(at);
        self.serve(cx, at);
        self.gives(cx, at);
        // Nothing but a look at the desk says that a flag was seen.
        if !self.is_over() {
            return Next::Busy;
        }
        let due = self.hbm.ready_at().into_iter().filter(|due| *due > at.cycle).min();
        due.map_or(Next::Idle, |due| Next::At(cx.in_cycles(due - at.cycle)))
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let since = self.open.iter().flatten().map(|open| self.config.clock.edge(open.since_cycle)).min();
        let desk = *on(&self.desk);
        match since {
            Some(since) => Err(Pending::new(format!("{} writes without answer", self.under_way()), since)),
            None if !self.is_over() => {
                let rounds = self.config.rounds;
                let text = format!("rounds {} taken and {} checked of {rounds}", desk.taken, desk.checked);
                Err(Pending::new(text, Time::ZERO))
            }
            None => Ok(()),
        }
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = self.mine.clone();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.under_way() as u64);
        visit("round", self.round);
    }
}
