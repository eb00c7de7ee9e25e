//! Operations of an accelerator with tiers: from the draw to the check of what was read.
//!
//! Modelled: operations in the order in which they are drawn; the first access to a block writes it whole, as software does that uses
//! new memory, so every byte that is read is known; operations that meet a copy wait for its end. Left out: operations that overtake
//! others. A walk: a read of page 9 is due; its place is not known, so the manager is asked, and the read waits; the place comes, the
//! request leaves; its lines come back and are compared.

use super::super::copies::COPY_BLOCK_BYTES;
use super::super::frames::TierFrame;
use super::super::messages::PageMessage;
use super::super::table::Translation;
use super::super::traffic::TieredOp;
use super::super::watch::TierEvent;
use super::transfers::CopyReason;
use super::{Purpose, TierAccess, TierRequest, TieredAccelerator};
use crate::blocks::{BlockAddress, MarkedLine, NodeAccess};
use scalepool_kernel::Cx;
use scalepool_memory::{ALL_BYTES, LINE_BYTES, LineBytes};
use scalepool_trace::{Body, RecordKind, Stamp, Wait};

/// 2^64 divided by the golden ratio, odd: by it numbers that follow each other differ in high bits, where addresses do not.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Lines of a block.
const BLOCK_LINES: u64 = COPY_BLOCK_BYTES / LINE_BYTES;

/// The operation that is due.
pub(super) struct TriedOp {
    id: u64,
    due_cycle: u64,
    wait: Option<(Wait, u64)>,
}

impl TieredAccelerator {
    /// Address of a byte of a page among the pages of all.
    pub(super) fn virtual_address(&self, page: u32, offset: u64) -> u64 {
        u64::from(page) * self.config.layout.page_bytes + offset
    }

    /// Sends what can leave in this cycle; how much that was.
    pub(super) fn issue(&mut self, cx: &mut Cx, at: Stamp) -> usize {
        let mut issued = 0;
        while !self.mine.is_isolated && issued < self.node.width() {
            if self.control_may_leave(cx)
                && let Some(message) = self.control.pop_front()
            {
                self.mine.messages += 1;
                self.send(cx, at, message);
                issued += 1;
                continue;
            }
            let is_issued = match self.is_copy_turn {
                true => self.copy_step(cx, at) || self.attempt(cx, at),
                false => self.attempt(cx, at) || self.copy_step(cx, at),
            };
            if !is_issued {
                // The operation may just have asked where its page is: the question leaves now, since nothing else wakes it.
                if self.control_may_leave(cx) {
                    continue;
                }
                break;
            }
            self.is_copy_turn = !self.is_copy_turn;
            issued += 1;
        }
        issued
    }

    /// Whether there is a message about a page that can leave.
    fn control_may_leave(&self, cx: &Cx) -> bool {
        self.control.front().is_some_and(|first| self.node.hindered(cx, first.to, first.access()).is_none())
    }

    /// Tries the next operation; `false`: there is none that is due, or it has to wait.
    fn attempt(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let Some(mut op) = self.next.filter(|_| at.cycle >= self.config.start_cycle) else { return false };
        if self.tried.is_none() && self.config.stop_cycle.is_some_and(|stop| at.cycle >= stop) {
            (self.next, self.put_off) = (None, None);
            return false;
        }
        if self.tried.is_none() {
            let drawn = op;
            op = self.with_known_bytes(op);
            self.next = Some(op);
            self.put_off = (matches!(drawn, TieredOp::Copy { .. }) && op != drawn).then_some(drawn);
            let (name, page, offset) = match op {
                TieredOp::Read { page, offset } => ("read", page, offset),
                TieredOp::Write { page, offset, .. } => ("write", page, offset),
                TieredOp::Copy { from, offset, .. } => ("copy", from, offset),
            };
            let (id, address) = (self.tap.new_id(), self.virtual_address(page, offset));
            self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name, address });
            self.tried = Some(TriedOp { id, due_cycle: at.cycle, wait: None });
        }
        let hindered = self.begin(cx, op, at);
        let Some(tried) = &mut self.tried else { return true };
        let before = tried.wait;
        if before.map(|(wait, _)| wait) != hindered {
            tried.wait = hindered.map(|wait| (wait, at.cycle));
            if let Some((Wait::Page, since)) = before {
                self.mine.page_wait_cycles += at.cycle - since;
            }
            match hindered {
                Some(wait) => self.tap.wait(at, tried.id, wait, 0),
                None => self.tap.wait_over(at, tried.id),
            }
        }
        if hindered.is_some() {
            return false;
        }
        self.tried = None;
        self.next = self.put_off.take().or_else(|| self.config.operations.next());
        true
    }

    /// The operation that is due will not be done.
    pub(super) fn tried_ends(&mut self, at: Stamp) {
        if let Some(TriedOp { id, .. }) = self.tried.take() {
            self.ends_undone(id, at);
        }
    }

    /// Where a page is; else the operation waits, and the manager is asked if nobody has.
    fn place_of(&mut self, page: u32, at: Stamp) -> Option<TierFrame> {
        if self.table.look_up(page) == Translation::Ask {
            let manager = self.config.layout.manager(page);
            self.table.asked(page);
            if manager == self.config.own {
                self.manager.asks(manager, page % self.config.layout.pages);
                self.follow(at);
            } else {
                let to = BlockAddress { node: manager, address: self.config.layout.control_address(page) };
                let (purpose, parent) = (Purpose::Ask { page }, self.tried.as_ref().map_or(0, |tried| tried.id));
                self.control.push_back(TierRequest { to, lines: Vec::new(), count: 1, purpose, parent });
            }
        }
        match self.table.look_up(page) {
            Translation::At(place) => Some(place),
            Translation::Ask | Translation::Wait => None,
        }
    }

    fn frame_address(&self, page: u32, place: TierFrame, offset: u64) -> BlockAddress {
        let layout = &self.config.layout;
        let start = layout.address(layout.manager(page), place);
        BlockAddress { address: start.address + offset, ..start }
    }

    /// Whether a range of a page is read or written by an explicit copy that is open.
    fn meets_copy(&self, page: u32, offset: u64, bytes: u64) -> bool {
        self.copies.iter().any(|copy| match copy.reason {
            CopyReason::Explicit { from, to, offset: start, bytes: all, .. } => {
                (page == from || page == to) && offset < start + all && start < offset + bytes
            }
            CopyReason::Move { .. } => false,
        })
    }

    /// Begins an operation, or says what it has to wait for.
    fn begin(&mut self, cx: &mut Cx, op: TieredOp, at: Stamp) -> Option<Wait> {
        match op {
            TieredOp::Read { page, offset } => self.access(cx, page, offset, 0, at),
            TieredOp::Write { page, offset, lines } => self.access(cx, page, offset, lines, at),
            TieredOp::Copy { from, to, offset, bytes } => self.explicit_copy((from, to), offset, bytes, at),
        }
    }

    /// The operation, or a write of the first block that it uses and that was never written: in place of a read or a write, in front of
    /// a copy.
    fn with_known_bytes(&self, op: TieredOp) -> TieredOp {
        let (page, offset, bytes) = match op {
            TieredOp::Read { page, offset } | TieredOp::Write { page, offset, .. } => (page, offset, COPY_BLOCK_BYTES),
            TieredOp::Copy { from, offset, bytes, .. } => (from, offset, bytes),
        };
        let first = offset / COPY_BLOCK_BYTES * COPY_BLOCK_BYTES;
        let mut blocks = (0..bytes / COPY_BLOCK_BYTES).map(|n| first + COPY_BLOCK_BYTES * n);
        let fresh = blocks.find(|block| !self.expected.is_written(self.virtual_address(page, *block), 1));
        fresh.map_or(op, |offset| TieredOp::Write { page, offset, lines: BLOCK_LINES })
    }

    /// A block is read, or so many lines are written.
    fn access(&mut self, cx: &mut Cx, page: u32, offset: u64, lines: u64, at: Stamp) -> Option<Wait> {
        let Some(place) = self.place_of(page, at) else { return Some(Wait::Page) };
        let count = if lines == 0 { BLOCK_LINES } else { lines };
        if self.meets_copy(page, offset, LINE_BYTES * count) {
            return Some(Wait::Line);
        }
        if self.open_accesses >= self.config.outstanding {
            return Some(Wait::Limit);
        }
        let to = self.frame_address(page, place, offset);
        let access = if lines == 0 { NodeAccess::Read(count) } else { NodeAccess::Write };
        if let Some(wait) = self.node.hindered(cx, to, access) {
            return Some(wait);
        }
        let address = self.virtual_address(page, offset);
        let written = if lines == 0 { Vec::new() } else { self.draw(address, lines) };
        let expects = match lines {
            0 => (0..BLOCK_LINES)
                .map(|n| self.expected.read_line(address + LINE_BYTES * n))
                .map(|line| (line.data, line.poison))
                .collect(),
            _ => Vec::new(),
        };
        let is_doubted = |n: &u64| self.doubted.contains(&(address + LINE_BYTES * n));
        let doubted = (0..BLOCK_LINES).filter(is_doubted).fold(0, |lines, n| lines | 1 << n);
        self.page_begins(page, place, 1);
        self.mine.by_tier[place.tier.index()] += 1;
        let (id, due_cycle) = self.tried.as_ref().map_or((0, at.cycle), |tried| (tried.id, tried.due_cycle));
        let access = TierAccess { page, expects, doubted, bytes: LINE_BYTES * count, id, due_cycle };
        let purpose = Purpose::Access(Box::new(access));
        self.send(cx, at, TierRequest { to, lines: written, count, purpose, parent: id });
        None
    }

    /// New bytes for lines, which are expected from here on; of some writes the first line is poisoned.
    fn draw(&mut self, address: u64, lines: u64) -> Vec<MarkedLine> {
        self.writes += 1;
        let every = self.config.poison_every;
        let is_poisoned = every > 0 && self.writes.is_multiple_of(every);
        let which = (self.writes << 10 ^ u64::from(self.config.own)).wrapping_mul(SCATTER);
        let line = |n: u64| {
            let mut line: LineBytes = [0; 64];
            for (k, word) in line.as_chunks_mut().0.iter_mut().enumerate() {
                // Which write of which accelerator it is, and where: a byte of another place or time differs.
                *word = (which ^ (address + LINE_BYTES * n + 8 * k as u64)).to_le_bytes();
            }
            (line, is_poisoned && n == 0)
        };
        let drawn: Vec<_> = (0..lines).map(line).collect();
        for n in 0..lines {
            self.doubted.remove(&(address + LINE_BYTES * n));
        }
        self.expected.write_lines(address, drawn.iter().map(|(line, poison)| (*line, ALL_BYTES, *poison)));
        drawn
    }

    /// A range of a page is copied to another page.
    fn explicit_copy(&mut self, (from, to): (u32, u32), offset: u64, bytes: u64, at: Stamp) -> Option<Wait> {
        let (Some(source), Some(target)) = (self.place_of(from, at), self.place_of(to, at)) else {
            return Some(Wait::Page);
        };
        if self.meets_copy(from, offset, bytes) || self.meets_copy(to, offset, bytes) {
            return Some(Wait::Line);
        }
        let lines: Vec<_> = (0..bytes / LINE_BYTES)
            .map(|n| self.expected.read_line(self.virtual_address(from, offset) + LINE_BYTES * n))
            .map(|line| (line.data, ALL_BYTES, line.poison))
            .collect();
        self.expected.write_lines(self.virtual_address(to, offset), lines);
        self.doubt_copied(from, to, offset, bytes);
        let blocks = bytes / COPY_BLOCK_BYTES;
        self.page_begins(from, source, blocks);
        self.page_begins(to, target, blocks);
        let (id, due_cycle) = self.tried.as_ref().map_or((0, at.cycle), |tried| (tried.id, tried.due_cycle));
        let reason = CopyReason::Explicit { from, to, offset, bytes, due_cycle };
        let (read, write) = (self.frame_address(from, source, offset), self.frame_address(to, target, offset));
        self.begin_copy(reason, read, write, bytes, id);
        None
    }

    /// An access to a page begins, which counts so many times for its temperature.
    fn page_begins(&mut self, page: u32, place: TierFrame, accesses: u64) {
        self.table.begins(page);
        self.accesses[page as usize] += accesses;
        self.see(TierEvent::Accesses(page, place));
    }

    /// An access has ended.
    pub(super) fn access_ends(&mut self, access: &TierAccess, lines: &[MarkedLine], is_refused: bool, at: Stamp) {
        let TierAccess { page, expects, doubted, bytes, id, due_cycle } = access;
        if is_refused {
            self.tap.record(at, RecordKind::End, *id, 0, || Body::Mark("refused"));
            return self.page_ends(*page, at);
        }
        for (n, (is, expected)) in lines.iter().zip(expects).enumerate() {
            if is.1 && doubted >> n & 1 == 1 {
                self.mine.lost_lines += 1;
                continue;
            }
            // Links do not carry the bytes of a poisoned beat.
            if is.1 != expected.1 || !is.1 && is.0 != expected.0 {
                let word = |line: &LineBytes| u64::from_le_bytes(line.as_chunks().0[0]);
                let found = format!("{:#x}, poison {}, in line {n} of page {page}", word(&is.0), is.1);
                let expected = format!("{:#x}, poison {}", word(&expected.0), expected.1);
                self.broken("SIM-E2E-01", found, &expected, "what was read is not what was written last");
            }
        }
        self.mine.done += 1;
        self.mine.bytes += bytes;
        self.operation_ends(*id, *due_cycle, at);
        self.page_ends(*page, at);
    }

    /// What this source has written to a page, in a range of it, may be lost: it may have poison until it is written again (MEM-RMV-07).
    pub(super) fn doubt(&mut self, page: u32, offset: u64, bytes: u64) {
        let start = self.virtual_address(page, offset);
        let lines = (0..bytes / LINE_BYTES).map(|n| start + LINE_BYTES * n);
        let written: Vec<u64> = lines.filter(|line| self.expected.is_written(*line, 1)).collect();
        self.doubted.extend(written);
    }

    /// A copy has the doubts of what it copies, and no others.
    fn doubt_copied(&mut self, from: u32, to: u32, offset: u64, bytes: u64) {
        let [from, to] = [from, to].map(|page| self.virtual_address(page, offset));
        for n in 0..bytes / LINE_BYTES {
            match self.doubted.contains(&(from + LINE_BYTES * n)) {
                true => self.doubted.insert(to + LINE_BYTES * n),
                false => self.doubted.remove(&(to + LINE_BYTES * n)),
            };
        }
    }

    /// An operation is done.
    pub(super) fn operation_ends(&mut self, id: u64, due_cycle: u64, at: Stamp) {
        let since = self.config.clock.edge(due_cycle);
        self.mine.latencies.add(at.cycle - due_cycle, at.t_fs - since.as_fs());
        self.tap.record(at, RecordKind::End, id, 0, || Body::None);
    }

    /// Whether the end of the interval matters: accesses are still made, or were counted and not decided about.
    pub(super) fn is_counting(&self) -> bool {
        let counts = || self.manager.has_counts() || self.accesses.iter().any(|count| *count > 0);
        self.config.policy.moves_pages() && !self.mine.is_isolated && (self.next.is_some() || counts())
    }

    /// An interval of temperatures is over: the manager decides about the one before, whose accesses all sources have reported by now;
    /// then managers are told what was accessed in this one.
    pub(super) fn end_interval(&mut self, at: Stamp) {
        if self.interval_end_cycle > at.cycle || !self.config.policy.moves_pages() || self.mine.is_isolated {
            return;
        }
        // Intervals in which nothing here had to run were without accesses.
        let over = (at.cycle - self.interval_end_cycle) / self.config.interval_cycles + 1;
        self.interval_end_cycle += over * self.config.interval_cycles;
        self.manager.interval_over();
        let layout = self.config.layout;
        for page in 0..self.accesses.len() as u32 {
            let count = std::mem::take(&mut self.accesses[page as usize]);
            let manager = layout.manager(page);
            if count == 0 {
                continue;
            }
            if manager == self.config.own {
                self.manager.accessed(page % layout.pages, count);
            } else {
                self.tell(manager, page, PageMessage::Accesses(count), Purpose::Report, 0);
            }
        }
    }
}
