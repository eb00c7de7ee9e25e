//! The bulk half of an accelerator: it fills the buffer of the next one, and checks its own, which the one before fills.
//!
//! Modelled: writes of 256 bytes that take effect in the HBM of the next accelerator when they arrive there: on UALink each is answered behind its
//! latency, on NVLink they are posted, and a FLUSH is answered behind the last of them; all
//! writes to a block on one link; every byte of a buffer compared with that of the round whose flag was seen. What the links need, its
//! [node](crate::blocks) does. Left out: reads of others, poison, UPLI, protection.
//!
//! A walk through the check of a round: its flag was seen, so all blocks are read at once, as they are in that cycle; a block of an older round
//! breaks BRG-TIR-03; behind the latency of HBM the buffer may be filled again.

use super::collective::{CollectiveResult, CollectiveTask, RingMember};
use super::{FlagOrder, SharedDesk, on};
use crate::PlacedViolation;
use crate::blocks::{BLOCK_BYTES, BlockAddress, BlockEnd, BlockEvent, BlockNode, BlockRequest, NodeAccess};
use scalepool_kernel::{Clock, Cx, Module, Next, Pending, Time};
use scalepool_memory::backend::{MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_protocols::rules;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, Wait};
use std::sync::{Arc, Mutex, PoisonError};

/// Lines of a block.
const BLOCK_LINES: u64 = BLOCK_BYTES / LINE_BYTES;
/// Most broken checks that are kept one by one.
const MOST_BROKEN: usize = 100;

/// How the half is built.
#[derive(Debug, Clone)]
pub struct BulkConfig {
    /// Number of the accelerator.
    pub own: u16,
    /// Number of the one that it fills, and of the one that fills its own buffer.
    pub neighbours: [u16; 2],
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
    /// Most writes that are open; those that are posted are not.
    pub outstanding: usize,
    /// Cycle of the first write.
    pub start_cycle: u64,
    /// Request to answer in its HBM.
    pub hbm_cycles: u64,
}

/// What the half leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct BulkResult {
    /// Rounds that were given.
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

/// A look at the buffer that HBM is not through with.
struct OpenCheck {
    round: u64,
    /// The transaction in traces.
    id: u64,
}

/// The half.
pub struct BulkHalf {
    config: BulkConfig,
    /// Its HBM and its links.
    node: Box<dyn BlockNode>,
    desk: SharedDesk,
    ring: Option<RingMember>,
    checks: Box<dyn MemoryBackend<OpenCheck>>,
    /// The round that is being written, and its next block.
    round: u64,
    block: u64,
    /// It was asked whether the last block of it is visible.
    is_fenced: bool,
    /// The round whose buffer was read last.
    reading: u64,
    tap: Tap,
    mine: BulkResult,
    result: Arc<Mutex<BulkResult>>,
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
    /// A half with a node that has its number and no control addresses. What it publishes is in `result`.
    pub fn new(
        config: BulkConfig,
        node: Box<dyn BlockNode>,
        desk: SharedDesk,
        tap: Tap,
        result: Arc<Mutex<BulkResult>>,
    ) -> BulkHalf {
        BulkHalf {
            ring: config.ring.map(|task| RingMember::new(task, config.own)),
            checks: MemoryTiming::fixed(config.hbm_cycles).build(),
            round: 1,
            block: 0,
            is_fenced: false,
            reading: 0,
            mine: BulkResult::default(),
            config,
            node,
            desk,
            tap,
            result,
        }
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
        let BulkConfig { neighbours: [node, _], outstanding, .. } = self.config;
        let blocks = self.round_blocks();
        while self.block < blocks && self.node.open() < outstanding {
            let to = BlockAddress { node, address: self.block * BLOCK_BYTES };
            if self.node.hindered(cx, to, NodeAccess::Bulk).is_some() {
                break;
            }
            let lines = self.block_lines().into_iter().map(|line| (line, false)).collect();
            let request = BlockRequest { to, lines, count: BLOCK_LINES, parent: 0 };
            self.node.send_bulk(cx, at, &mut self.tap, request);
            self.block += 1;
            cx.progress();
        }
        self.block == blocks
    }

    /// Whether the round may be given when all of its blocks have left: they are visible, or nobody asks for that.
    fn may_give(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        if self.config.order == FlagOrder::Sent {
            return true;
        }
        if !std::mem::replace(&mut self.is_fenced, true) {
            let [next, _] = self.config.neighbours;
            self.node.fence(cx, at, &mut self.tap, next);
        }
        self.node.open() == 0
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
        if self.write(cx, at) && self.may_give(cx, at) {
            on(&self.desk).given = self.round;
            self.mine.given += 1;
            self.mine.blocks += self.block;
            (self.round, self.block, self.is_fenced) = (self.round + 1, 0, false);
            cx.progress();
        }
    }

    /// What answers of others tell.
    fn heeds(&mut self, cx: &mut Cx, event: BlockEvent, at: Stamp) {
        match event {
            BlockEvent::Ended(BlockEnd { refused: Some(found), .. }) => {
                let (expected, text) = ("OKAY".to_owned(), "a response does not fit its request");
                self.broken("SIM-E2E-02", found, expected, text);
                // What is not written is not given.
                self.mine.is_isolated = true;
            }
            BlockEvent::Found(_) if self.mine.is_isolated => (),
            BlockEvent::Found(finding) => self.broken(finding.rule, finding.found, finding.expected, finding.text),
            BlockEvent::LinkDown => self.isolate(cx, at),
            BlockEvent::Ended(_) | BlockEvent::Late => (),
        }
    }

    /// The link is down: no round is given any more (`ualink` §12).
    fn isolate(&mut self, cx: &mut Cx, at: Stamp) {
        let open = self.node.isolate();
        if std::mem::replace(&mut self.mine.is_isolated, true) {
            return;
        }
        for (_, id) in open {
            self.tap.record(at, RecordKind::End, id, 0, || Body::Mark("isolated"));
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
        let _ = self.checks.push(at.cycle, &MemoryRequest::NONE, OpenCheck { round: seen, id });
        if self.ring.is_some() {
            return self.sums(seen, at);
        }
        let (BulkConfig { neighbours: [_, before], blocks, .. }, node) = (&self.config, &self.node);
        let is_right = |line: &u64| node.own_line(line * LINE_BYTES) == (stamped(*before, seen, *line), false);
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
        let node = &self.node;
        let line = |line: u64| node.own_line(line * LINE_BYTES).0;
        let Some(arrival) = self.ring.as_mut().map(|ring| ring.arrives(round, line)) else { return };
        self.mine.collectives.is_wrong(&format!("round {round}"), &arrival.wrong);
        if arrival.is_last {
            self.mine.collectives.done += 1;
            self.mine.collectives.cycles = at.cycle - self.config.start_cycle;
        }
    }

    /// Looks at the buffer that HBM is through with by now.
    fn checks_end(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(OpenCheck { round, id }) = self.checks.pop(at.cycle) {
            cx.progress();
            self.tap.record(at, RecordKind::End, id, 0, || Body::None);
            self.mine.checked += 1;
            on(&self.desk).checked = round;
        }
    }

    /// Requests of others take effect.
    fn serve(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(request) = self.node.serve(cx, at, &mut self.tap) {
            // There are no control addresses.
            self.node.reply(at, &request, vec![([0; LINE_BYTES as usize], true); request.lines]);
        }
        while let Some(finding) = self.node.found() {
            self.broken(finding.rule, finding.found, finding.expected, finding.text);
        }
    }
}

impl Module for BulkHalf {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some(event) = self.node.answered(cx, at, &mut self.tap) {
            self.heeds(cx, event, at);
        }
        self.checks_end(cx, at);
        while self.node.own_ended(cx, at, &mut self.tap).is_some() {
            // It asks for nothing in its own HBM; answers to others are due by now.
        }
        self.node.leave(cx, at, &mut self.tap);
        // What was written before a flag was seen is there; what comes in this cycle is not yet.
        self.checks(at);
        self.serve(cx, at);
        self.gives(cx, at);
        // Nothing but a look at the desk says that a flag was seen.
        if !self.is_over() {
            return Next::Busy;
        }
        let checks = self.checks.ready_at().into_iter().filter(|due| *due > at.cycle);
        let due = checks.chain(self.node.due(at.cycle)).min();
        due.map_or(Next::Idle, |due| Next::At(cx.in_cycles(due - at.cycle)))
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let desk = *on(&self.desk);
        match self.node.open_since() {
            Some(since) => {
                let found = format!("{} writes without answer", self.node.open());
                Err(Pending::new(found, self.config.clock.edge(since)))
            }
            None if !self.is_over() => {
                let rounds = self.config.rounds;
                let text = format!("rounds {} taken and {} checked of {rounds}", desk.taken, desk.checked);
                Err(Pending::new(text, Time::ZERO))
            }
            None => Ok(()),
        }
    }

    fn publish(&self) {
        let mine = BulkResult { served: self.node.served(), ..self.mine.clone() };
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = mine;
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.node.open() as u64);
        visit("round", self.round);
    }
}
