//! Pages of an accelerator with tiers: messages of others about them, and what its manager has to do.
//!
//! Modelled: questions and blocks of others that are answered when the time has come; moves with their messages, the flush of the cache
//! of a bridge by its control window, and the copy. Left out: what is decided, see [`manager`](super::super::manager).
//!
//! A walk through a flush: operation, base, length and start are written by one write to the control window; the registers are read
//! until done is 1. If they name another range, another accelerator was first, and the write is tried again.

use super::super::frames::{Tier, TierFrame};
use super::super::manager::ManagerAct;
use super::super::messages::PageMessage;
use super::super::table::Translation;
use super::super::watch::TierEvent;
use super::transfers::CopyReason;
use super::{Purpose, TierRequest, TieredAccelerator};
use crate::blocks::{BlockAddress, ForeignOperation, ForeignRequest, MarkedLine};
use scalepool_memory::LINE_BYTES;
use scalepool_trace::{Body, RecordKind, Stamp, Wait};

/// Flush and invalidate, as the control window of a bridge names them (`bridge` §9.9).
const FLUSH_AND_INVALIDATE: u64 = 3;

/// Most reads of the registers of a bridge for one line of a page and one accelerator, each of which may have a flush of its own in
/// front: one read sees many lines go.
const MOST_POLLS: u64 = 4;

/// A message of another accelerator that is not answered yet.
pub(super) struct WaitingMessage {
    page: u32,
    request: ForeignRequest,
}

impl WaitingMessage {
    /// Whether it is a block of its page; else it is a question.
    fn is_block(&self) -> bool {
        matches!(self.request.operation, ForeignOperation::Write(_))
    }
}

/// A move in traces.
pub(super) struct OpenMove {
    id: u64,
    since_cycle: u64,
    /// How often the registers of a bridge have been read.
    polls: u64,
}

/// What was decided about a page, by the tier to which it goes.
fn decision(is_first: bool, tier: Tier) -> &'static str {
    match (is_first, tier) {
        (true, Tier::Hbm) => "place in HBM",
        (true, Tier::PeerHbm) => "place in peer HBM",
        (true, Tier::Tier2) => "place in tier 2",
        (false, Tier::Hbm) => "move to HBM",
        (false, Tier::PeerHbm) => "move to peer HBM",
        (false, Tier::Tier2) => "move to tier 2",
    }
}

impl TieredAccelerator {
    /// The number of a page of its own among the pages of all.
    fn page_of_all(&self, page: u32) -> u32 {
        u32::from(self.config.own) * self.config.layout.pages + page
    }

    /// Another accelerator says something about a page, or asks for its place.
    pub(super) fn message(&mut self, page: u32, request: ForeignRequest, at: Stamp) {
        let (source, id, layout) = (request.source, request.id, self.config.layout);
        let (pages, is_managed) = (layout.pages, layout.manager(page) == self.config.own);
        let is_line = request.lines == 1 && source != self.config.own;
        let is_source = source < layout.accelerators;
        let said = match request.operation {
            ForeignOperation::Write((line, false)) if is_line => PageMessage::of_line(&line),
            _ => None,
        };
        let is_of_manager = layout.manager(page) == source;
        match said {
            _ if request.operation == ForeignOperation::Read && is_line && is_managed && is_source => {
                self.tap.wait(at, id, Wait::Page, 0);
                self.waiting.push(WaitingMessage { page, request });
                self.manager.asks(source, page % pages);
            }
            Some(PageMessage::Block) if is_of_manager && !self.is_block_waiting(page) => {
                self.tap.wait(at, id, Wait::Line, 0);
                self.waiting.push(WaitingMessage { page, request });
                if self.table.block(page) {
                    self.block_is_done(page, at);
                }
            }
            Some(PageMessage::Switch(place, is_damaged)) if is_of_manager && layout.has_frame(place) => {
                self.page_has_moved(page, place, is_damaged);
                self.node.reply(at, &request, Vec::new());
            }
            Some(PageMessage::Accesses(count)) if is_managed && is_source => {
                self.manager.accessed(page % pages, count);
                self.node.reply(at, &request, Vec::new());
            }
            _ => {
                let found = format!("{} of node {source} about page {page}: {said:?}", request.operation.name());
                self.broken("SIM-E2E-02", found, "a message about a page", "a control address takes no such request");
                self.node.reply(at, &request, vec![([0; 64], true); request.lines]);
            }
        }
    }

    /// Whether a block of a page waits for the last access to it.
    fn is_block_waiting(&self, page: u32) -> bool {
        self.waiting.iter().any(|message| message.page == page && message.is_block())
    }

    /// The message about a page that waits: the question of a source, or the block.
    fn take_waiting(&mut self, page: u32, asking: Option<u16>) -> Option<ForeignRequest> {
        let is_meant = |message: &WaitingMessage| {
            let is_kind = match asking {
                Some(source) => !message.is_block() && message.request.source == source,
                None => message.is_block(),
            };
            message.page == page && is_kind
        };
        let n = self.waiting.iter().position(is_meant)?;
        Some(self.waiting.remove(n).request)
    }

    /// An access to a page or a copy has ended: who waits for the last one is told.
    pub(super) fn page_ends(&mut self, page: u32, at: Stamp) {
        self.see(TierEvent::Accessed(page));
        if self.table.ends(page) {
            self.block_is_done(page, at);
        }
    }

    /// No access to a blocked page is open here.
    fn block_is_done(&mut self, page: u32, at: Stamp) {
        self.see(TierEvent::AnswersBlock(page));
        if self.config.layout.manager(page) == self.config.own {
            self.has_drained(self.config.own, page);
        } else if let Some(request) = self.take_waiting(page, None) {
            self.node.reply(at, &request, Vec::new());
        }
    }

    /// A source has no access to a page of its own open any more.
    pub(super) fn has_drained(&mut self, source: u16, page: u32) {
        self.see(TierEvent::Drained(source, page % self.config.layout.pages));
        self.manager.drained();
    }

    /// The manager of a page has told its place.
    pub(super) fn place_was_told(&mut self, page: u32, line: Option<&MarkedLine>) {
        match line.and_then(|(line, _)| PageMessage::of_line(line)) {
            Some(PageMessage::Place(place)) if self.config.layout.has_frame(place) => self.learn(page, place),
            other => {
                let found = format!("{other:?} about page {page}");
                self.broken("SIM-E2E-02", found, "the place of a page", "a manager does not answer its question");
            }
        }
    }

    fn learn(&mut self, page: u32, place: TierFrame) {
        self.table.answered(page, place);
        if let Translation::At(place) = self.table.look_up(page) {
            self.see(TierEvent::Learned(page, place));
        }
    }

    /// A page that was blocked lies here now.
    fn page_has_moved(&mut self, page: u32, place: TierFrame, is_damaged: bool) {
        self.table.switch(page, place);
        self.see(TierEvent::Learned(page, place));
        if is_damaged {
            self.doubt(page, 0, self.config.layout.page_bytes);
        }
    }

    /// Does what the manager wants done.
    pub(super) fn follow(&mut self, at: Stamp) {
        while let Some(act) = self.manager.acts.pop_front() {
            self.perform(act, at);
        }
    }

    fn perform(&mut self, act: ManagerAct, at: Stamp) {
        let own = self.config.own;
        let parent = self.moving.as_ref().map_or(0, |moving| moving.id);
        match act {
            ManagerAct::Placed { page, place } => {
                self.mine.placed[place.tier.index()] += 1;
                self.see(TierEvent::Placed(page, place));
                let address = self.virtual_address(self.page_of_all(page), 0);
                let id = self.tap.new_id();
                let name = decision(true, place.tier);
                self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name, address });
                self.tap.record(at, RecordKind::End, id, 0, || Body::None);
            }
            ManagerAct::Answer { source, page, place } => {
                self.see(TierEvent::Answers(source, page));
                let page = self.page_of_all(page);
                if source == own {
                    self.learn(page, place);
                } else if let Some(request) = self.take_waiting(page, Some(source)) {
                    self.node.reply(at, &request, vec![(PageMessage::Place(place).line(), false)]);
                }
            }
            ManagerAct::Moves { page, to, .. } => {
                self.see(TierEvent::Moves(page, to));
                let address = self.virtual_address(self.page_of_all(page), 0);
                let (id, name) = (self.tap.new_id(), decision(false, to.tier));
                self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name, address });
                self.tap.wait(at, id, Wait::Line, 0);
                self.moving = Some(OpenMove { id, since_cycle: at.cycle, polls: 0 });
            }
            ManagerAct::Block { source, page } => {
                self.see(TierEvent::Blocks(source, page));
                let of_all = self.page_of_all(page);
                if source != own {
                    let purpose = Purpose::Block { source, page: of_all };
                    self.tell(source, of_all, PageMessage::Block, purpose, parent);
                } else if self.table.block(of_all) {
                    self.block_is_done(of_all, at);
                }
            }
            ManagerAct::Flush { page, from } => {
                self.tap.wait_over(at, parent);
                match self.config.control.filter(|_| from.tier == Tier::Tier2) {
                    Some(_) => self.start_flush(page),
                    None => self.manager.flushed(),
                }
            }
            ManagerAct::Copy { page, from, to } => {
                let layout = self.config.layout;
                let (from, to) = (layout.address(own, from), layout.address(own, to));
                self.begin_copy(CopyReason::Move { page }, from, to, layout.page_bytes, parent);
            }
            ManagerAct::Switch { source, page, place, is_damaged } => {
                self.see(TierEvent::Switches(source, page));
                let of_all = self.page_of_all(page);
                if source != own {
                    let message = PageMessage::Switch(place, is_damaged);
                    self.tell(source, of_all, message, Purpose::Switch, parent);
                } else {
                    self.page_has_moved(of_all, place, is_damaged);
                    self.manager.switched();
                }
            }
            ManagerAct::Left { frames } => {
                self.see(TierEvent::Left(frames.start, frames.end));
                self.mine.frames[0] += u64::from(frames.end - frames.start);
                self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark("frames left"));
            }
            ManagerAct::Moved { page } => {
                self.see(TierEvent::Moved(page));
                if let Some(OpenMove { id, since_cycle, .. }) = self.moving.take() {
                    self.mine.moves += 1;
                    self.mine.move_cycles += at.cycle - since_cycle;
                    self.tap.record(at, RecordKind::End, id, 0, || Body::None);
                }
            }
        }
    }

    /// A message about a page is to leave.
    pub(super) fn tell(&mut self, node: u16, page: u32, message: PageMessage, purpose: Purpose, parent: u64) {
        let to = BlockAddress { node, address: self.config.layout.control_address(page) };
        let lines = vec![(message.line(), false)];
        self.control.push_back(TierRequest { to, lines, count: 1, purpose, parent });
    }

    // ---- the cache of a bridge -----------------------------------------------------------------------------------

    /// Address of the page that moves, at the bridge.
    fn flushed_from(&self) -> Option<u64> {
        let (_, from, _) = self.manager.moving()?;
        Some(self.config.layout.address(self.config.own, from).address)
    }

    fn ask_control(&mut self, lines: Vec<MarkedLine>, purpose: Purpose) {
        let Some(address) = self.config.control else { return };
        let to = BlockAddress { node: self.config.layout.bridge, address };
        let parent = self.moving.as_ref().map_or(0, |moving| moving.id);
        self.control.push_back(TierRequest { to, lines, count: 1, purpose, parent });
    }

    fn start_flush(&mut self, page: u32) {
        let Some(base) = self.flushed_from() else { return };
        let mut line = [0; 64];
        let registers = [FLUSH_AND_INVALIDATE, base, self.config.layout.page_bytes, 1];
        for (bytes, register) in line.as_chunks_mut().0.iter_mut().zip(registers) {
            *bytes = u64::to_le_bytes(register);
        }
        self.ask_control(vec![(line, false)], Purpose::FlushStart { page });
    }

    pub(super) fn poll_flush(&mut self, page: u32) {
        self.ask_control(Vec::new(), Purpose::FlushPoll { page });
    }

    /// The registers of the bridge: base is the second one, done the fifth.
    pub(super) fn flush_was_polled(&mut self, page: u32, line: Option<&MarkedLine>) {
        let Some(from) = self.flushed_from() else { return };
        let Some((line, false)) = line else { return self.is_not_flushed(page, "no registers of a bridge".to_owned()) };
        let polls = self.moving.as_mut().map_or(0, |moving| {
            moving.polls += 1;
            moving.polls
        });
        let layout = self.config.layout;
        let most = MOST_POLLS * u64::from(layout.accelerators) * (layout.page_bytes / LINE_BYTES);
        if polls > most {
            return self.is_not_flushed(page, format!("no end after {most} reads of the registers"));
        }
        let register = |n: usize| u64::from_le_bytes(line.as_chunks().0[n]);
        match (register(1) == from, register(4) == 1) {
            (true, true) => self.is_flushed(page),
            (true, false) => self.poll_flush(page),
            (false, _) => self.start_flush(page),
        }
    }

    /// A flush has no end: the move goes on, and the watch sees what is copied without it.
    fn is_not_flushed(&mut self, page: u32, found: String) {
        let found = format!("{found} in a flush of page {page}");
        self.broken("BRG-MIG-03", found, "done = 1", "a control window does not answer as a bridge does");
        self.manager.flushed();
    }

    /// Nothing that the manager wants done leaves any more.
    pub(super) fn manager_ends(&mut self, at: Stamp) {
        if let Some((page, _, _)) = self.manager.moving() {
            self.see(TierEvent::GivesUp(page));
        }
        if let Some(OpenMove { id, .. }) = self.moving.take() {
            self.ends_undone(id, at);
        }
        self.manager.isolate();
    }

    fn is_flushed(&mut self, page: u32) {
        self.see(TierEvent::Flushed(page));
        self.manager.flushed();
    }
}
