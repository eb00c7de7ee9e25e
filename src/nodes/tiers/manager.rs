//! The manager of pages: gives them frames, and moves them while sources go on accessing them (BRG-MIG-01 to 05, choice c27).
//!
//! Modelled: each accelerator manages its part of all pages; sources ask it for the place of a page, and it remembers who knows it. A
//! move blocks the page at all of these, waits until none has an access to it open, has it flushed out of a cache on the way where
//! there can be one, copies it, and tells all of them the new place. Left out: what carries all that, see
//! [`accelerator`](super::accelerator); time. One page moves at a time.
//!
//! A walk through a move: page 7 of tier 2 has become hot. Accelerators 0 and 2 know where it is, so both are sent a block; 0 answers at
//! once, 2 when its read has ended. The control window of the bridge flushes and invalidates the page. The copy engine copies it to a
//! free frame of HBM. Both are sent the new place, and when they have answered the old frame is free. Who asked meanwhile is answered
//! now.

use super::caller::{PageView, PageWish, PlacementQuestion, PlacementSlot};
use super::frames::{FrameBook, Tier, TierFrame};
use super::policy::{PageDecision, PageUse, PlacementPolicy, next_fill, next_move, next_prefetch};
use std::collections::VecDeque;
use std::ops::Range;

/// What a manager wants done; pages are counted from its first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManagerAct {
    /// A page has got its first frame.
    Placed {
        /// The page.
        page: u32,
        /// Where.
        place: TierFrame,
    },
    /// A source is told the place of a page.
    Answer {
        /// The source.
        source: u16,
        /// The page.
        page: u32,
        /// Where.
        place: TierFrame,
    },
    /// A page begins to move.
    Moves {
        /// The page.
        page: u32,
        /// From where.
        from: TierFrame,
        /// To where.
        to: TierFrame,
    },
    /// A source blocks a page; it calls [`PageManager::drained`] when no access is open.
    Block {
        /// The source.
        source: u16,
        /// The page.
        page: u32,
    },
    /// No source accesses the page any more; stores that a cache holds go to this frame, and the cache forgets it.
    Flush {
        /// The page.
        page: u32,
        /// The frame.
        from: TierFrame,
    },
    /// The page is copied.
    Copy {
        /// The page.
        page: u32,
        /// From where.
        from: TierFrame,
        /// To where.
        to: TierFrame,
    },
    /// A source is told the new place; it calls [`PageManager::switched`].
    Switch {
        /// The source.
        source: u16,
        /// The page.
        page: u32,
        /// Where.
        place: TierFrame,
        /// What the old place held may be lost.
        is_damaged: bool,
    },
    /// The move is over.
    Moved {
        /// The page.
        page: u32,
    },
    /// No page lies in these frames of tier 2, which have left.
    Left {
        /// They.
        frames: Range<u32>,
    },
}

/// How far a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MovePhase {
    /// So many sources have accesses open, or have not said otherwise.
    Draining(usize),
    /// A cache is flushed.
    Flushing,
    /// The bytes are copied.
    Copying,
    /// So many sources have not heard of the new place.
    Switching(usize),
}

#[derive(Debug, Clone, Copy)]
struct PageMove {
    page: u32,
    from: TierFrame,
    to: TierFrame,
    phase: MovePhase,
}

#[derive(Debug, Clone, Default)]
struct ManagedPage {
    place: Option<TierFrame>,
    /// Sources that know the place, ascending.
    known_to: Vec<u16>,
    /// Accesses since the interval began.
    accesses: u64,
    /// Those of the last one, and when it was used last.
    used: PageUse,
    /// The interval in which somebody outside has last moved it.
    wished_in: Option<u64>,
}

/// The manager of the pages of an accelerator.
#[derive(Debug, Clone)]
pub struct PageManager {
    policy: PlacementPolicy,
    /// Who decides where the policy says that somebody outside does.
    caller: PlacementSlot,
    /// Its decisions that cannot be.
    refused: u64,
    book: FrameBook,
    pages: Vec<ManagedPage>,
    moving: Option<PageMove>,
    /// Sources that have asked for the page that moves.
    asking: Vec<u16>,
    /// The last interval that is over, counted from 1; 0: none is.
    interval: u64,
    /// Pages behind an accessed one that are brought up with it.
    prefetch: u32,
    /// The page that was brought up last since it was accessed, until the pages behind it are.
    demanded: Option<u32>,
    /// Pages that were.
    prefetched: u64,
    /// Frames of tier 2 that leave, while pages lie there.
    leaving: Vec<Range<u32>>,
    /// It can tell nobody anything any more, so it begins no move.
    is_isolated: bool,
    /// What is to be done.
    pub acts: VecDeque<ManagerAct>,
}

impl PageManager {
    /// Of so many pages and frames. There are frames for all pages; by temperature, for one more.
    pub fn new(policy: PlacementPolicy, pages: u32, frames: [u32; 3]) -> PageManager {
        let mut manager = PageManager {
            policy,
            caller: PlacementSlot::default(),
            refused: 0,
            book: FrameBook::new(frames),
            pages: vec![ManagedPage::default(); pages as usize],
            moving: None,
            asking: Vec::new(),
            interval: 0,
            prefetch: 0,
            demanded: None,
            prefetched: 0,
            leaving: Vec::new(),
            is_isolated: false,
            acts: VecDeque::new(),
        };
        manager.place_first();
        manager
    }

    /// By policies that deal pages to frames before anything is accessed.
    fn place_first(&mut self) {
        if matches!(self.policy, PlacementPolicy::Static | PlacementPolicy::Exclusive) {
            (0..self.pages.len() as u32).for_each(|page| self.place(page));
        }
    }

    /// The same without these frames of tier 2, which come later.
    #[must_use]
    pub fn without(mut self, frames: &[Range<u32>]) -> PageManager {
        if frames.is_empty() {
            return self;
        }
        let count = |tier: Tier| self.book.count(tier);
        self.book = FrameBook::new(Tier::ALL.map(count));
        frames.iter().for_each(|frames| self.book.leave(frames.clone(), false));
        self.acts.clear();
        self.pages.iter_mut().for_each(|page| page.place = None);
        self.place_first();
        self
    }

    /// Frames of tier 2 leave: no page goes there any more, and those that lie there move away, one after the other (MEM-RMV-05, 06). With
    /// `is_lost` they have left already, and what they held is lost.
    pub fn frames_leave(&mut self, frames: Range<u32>, is_lost: bool) {
        self.book.leave(frames.clone(), is_lost);
        self.leaving.push(frames);
        self.frames_left();
        self.decide();
    }

    /// Frames of tier 2 come.
    pub fn frames_come(&mut self, frames: Range<u32>) {
        self.book.come(frames);
        self.decide();
    }

    /// Whether pages lie in frames that leave.
    pub fn is_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Says of frames that leave that no page lies there any more.
    fn frames_left(&mut self) {
        let tier = Tier::Tier2;
        let is_empty =
            |frames: &Range<u32>| frames.clone().all(|frame| self.book.page_in(TierFrame { tier, frame }).is_none());
        let (left, leaving): (Vec<_>, Vec<_>) = std::mem::take(&mut self.leaving).into_iter().partition(is_empty);
        self.leaving = leaving;
        self.acts.extend(left.into_iter().map(|frames| ManagerAct::Left { frames }));
    }

    /// The same with somebody outside who decides where the policy says so.
    #[must_use]
    pub fn with_caller(mut self, caller: PlacementSlot) -> PageManager {
        self.caller = caller;
        self
    }

    /// Decisions of somebody outside that could not be: a page without a frame or one that has moved in the interval, its own tier, or one
    /// without a free frame.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// What somebody outside decides: where a page goes that is accessed first, or which page moves next.
    fn wish(&self, first: Option<u32>) -> Option<PageWish> {
        let view = |page: &ManagedPage| PageView { tier: page.place.map(|place| place.tier), used: page.used };
        let pages: Vec<PageView> = self.pages.iter().map(view).collect();
        let free = Tier::ALL.map(|tier| self.book.count_free(tier));
        self.caller.ask(&PlacementQuestion { first, interval: self.interval, pages: &pages, free })
    }

    /// Where a page goes first by what somebody outside says; without a word the fastest free frame.
    fn wished_first(&mut self, page: u32) -> Option<TierFrame> {
        let Some(wish) = self.wish(Some(page)) else { return self.book.free() };
        let free = wish.tier.and_then(|tier| self.book.free_in(tier));
        self.refused += u64::from(free.is_none());
        free.or_else(|| self.book.free())
    }

    /// The next move by what somebody outside says. A page moves once in an interval, so that moves come to an end.
    fn wished_move(&mut self) -> Option<PageDecision> {
        let PageWish { page, tier } = self.wish(None)?;
        let interval = self.interval;
        let of_page = self.pages.get_mut(page as usize).filter(|page| page.wished_in != Some(interval));
        let elsewhere = of_page.filter(|page| page.place.is_some_and(|place| Some(place.tier) != tier));
        let found = elsewhere.zip(tier.and_then(|tier| self.book.free_in(tier))).map(|(of_page, to)| {
            of_page.wished_in = Some(interval);
            PageDecision { page, to }
        });
        self.refused += u64::from(found.is_none());
        found
    }

    /// The same with so many pages behind an accessed one that are brought up with it, and so many first pages that are brought up before
    /// anything is accessed.
    #[must_use]
    pub fn with_prefetch(mut self, pages: u32, warm: u32) -> PageManager {
        self.prefetch = pages;
        // As if each had been accessed once in an interval before the first one.
        self.pages.iter_mut().take(warm as usize).for_each(|page| page.accesses = 1);
        if warm > 0 {
            self.interval_over();
        }
        self
    }

    /// Pages that prefetch has brought up, or is bringing up.
    pub fn prefetched(&self) -> u64 {
        self.prefetched
    }

    /// Whether a page moves, or is about to.
    pub fn is_moving(&self) -> bool {
        self.moving.is_some() || !self.acts.is_empty()
    }

    fn place(&mut self, page: u32) {
        // A description with fewer frames than pages is refused.
        let first = match self.policy {
            PlacementPolicy::Exclusive => self.book.free_in(Tier::Tier2),
            PlacementPolicy::Caller => self.wished_first(page),
            _ => self.book.free(),
        };
        let Some(place) = first else { return };
        self.book.take(place, page);
        self.pages[page as usize].place = Some(place);
        self.acts.push_back(ManagerAct::Placed { page, place });
    }

    /// A source asks where a page is.
    pub fn asks(&mut self, source: u16, page: u32) {
        if self.pages[page as usize].place.is_none() {
            self.place(page);
        }
        if self.moving.is_some_and(|moving| moving.page == page) {
            self.asking.push(source);
        } else {
            self.answer(source, page);
        }
    }

    fn answer(&mut self, source: u16, page: u32) {
        let of_page = &mut self.pages[page as usize];
        let Some(place) = of_page.place else { return };
        if let Err(n) = of_page.known_to.binary_search(&source) {
            of_page.known_to.insert(n, source);
        }
        self.acts.push_back(ManagerAct::Answer { source, page, place });
    }

    /// Accesses to a page were made. The number comes over a link from anybody: what does not fit counts as the largest one.
    pub fn accessed(&mut self, page: u32, accesses: u64) {
        let count = &mut self.pages[page as usize].accesses;
        *count = count.saturating_add(accesses);
    }

    /// An interval is over: temperatures are those of its accesses.
    pub fn interval_over(&mut self) {
        self.interval += 1;
        for page in &mut self.pages {
            page.used.accesses = std::mem::take(&mut page.accesses);
            if page.used.accesses > 0 {
                page.used.interval = self.interval;
            }
        }
        self.decide();
    }

    /// What the policy decides now.
    fn decision(&mut self) -> Option<PageDecision> {
        let used: Vec<PageUse> = self.pages.iter().map(|page| page.used).collect();
        let is_exclusive = self.policy == PlacementPolicy::Exclusive;
        // A move may last longer than an interval, so that others are accessed whenever one ends: those behind the one that moved come first.
        if let Some(page) = self.demanded {
            let of_demand = |(n, used): (usize, &PageUse)| PageUse { accesses: u64::from(n == page as usize), ..*used };
            let of_demand: Vec<PageUse> = used.iter().enumerate().map(of_demand).collect();
            let since = used[page as usize].interval;
            if let Some(decision) = next_prefetch(&of_demand, &self.book, self.prefetch, (is_exclusive, since)) {
                return Some(self.prefetching(decision));
            }
            self.demanded = None;
        }
        let by_policy = match self.policy {
            PlacementPolicy::Exclusive => next_fill(&used, &self.book),
            PlacementPolicy::Caller => self.wished_move(),
            _ => next_move(&used.iter().map(|page| page.accesses).collect::<Vec<_>>(), &self.book),
        };
        if by_policy.is_some() || self.prefetch == 0 {
            let brought_up = by_policy.filter(|found| found.to.tier == Tier::Hbm && self.prefetch > 0);
            self.demanded = brought_up.map(|found| found.page);
            return by_policy;
        }
        let decision = next_prefetch(&used, &self.book, self.prefetch, (is_exclusive, self.interval))?;
        Some(self.prefetching(decision))
    }

    /// Counts a page that is prefetched; it does not leave again before it can have been accessed.
    fn prefetching(&mut self, decision: PageDecision) -> PageDecision {
        if decision.to.tier == Tier::Hbm {
            self.prefetched += 1;
            self.pages[decision.page as usize].used.interval = self.interval;
        }
        decision
    }

    /// The next move begins, if one is due and none is under way.
    fn decide(&mut self) {
        if self.moving.is_some() || self.is_isolated {
            return;
        }
        let stranded = self.book.stranded().zip(self.book.free()).map(|(page, to)| PageDecision { page, to });
        let decision = match stranded {
            None if self.policy.moves_pages() => self.decision(),
            stranded => stranded,
        };
        let Some(PageDecision { page, to }) = decision else { return };
        let of_page = &self.pages[page as usize];
        let Some(from) = of_page.place.filter(|_| self.book.take(to, page)) else { return };
        self.acts.push_back(ManagerAct::Moves { page, from, to });
        self.acts.extend(of_page.known_to.iter().map(|source| ManagerAct::Block { source: *source, page }));
        self.moving = Some(PageMove { page, from, to, phase: MovePhase::Draining(of_page.known_to.len()) });
        self.flush_if_drained();
    }

    /// Behind the last source that knew the page, or at once if none does, it is flushed.
    fn flush_if_drained(&mut self) {
        if let Some(PageMove { page, from, phase: MovePhase::Draining(0), .. }) = self.moving {
            self.acts.push_back(ManagerAct::Flush { page, from });
            self.set_phase(MovePhase::Flushing);
        }
    }

    /// A source has no access to the page open any more.
    pub fn drained(&mut self) {
        let Some(PageMove { phase: MovePhase::Draining(left), .. }) = &mut self.moving else { return };
        *left -= 1;
        self.flush_if_drained();
    }

    fn set_phase(&mut self, phase: MovePhase) {
        if let Some(moving) = &mut self.moving {
            moving.phase = phase;
        }
    }

    /// No cache holds anything of the page any more.
    pub fn flushed(&mut self) {
        let Some(PageMove { page, from, to, phase: MovePhase::Flushing }) = self.moving else { return };
        self.acts.push_back(ManagerAct::Copy { page, from, to });
        self.set_phase(MovePhase::Copying);
    }

    /// Every byte is in its new place.
    pub fn copied(&mut self) {
        let Some(PageMove { page, from, to, phase: MovePhase::Copying }) = self.moving else { return };
        let is_damaged = self.book.is_lost(from);
        self.pages[page as usize].place = Some(to);
        let known_to = &self.pages[page as usize].known_to;
        self.acts.extend(known_to.iter().map(|source| ManagerAct::Switch {
            source: *source,
            page,
            place: to,
            is_damaged,
        }));
        self.set_phase(MovePhase::Switching(known_to.len()));
        self.end_if_switched();
    }

    /// A source knows the new place.
    pub fn switched(&mut self) {
        let Some(PageMove { phase: MovePhase::Switching(left), .. }) = &mut self.moving else { return };
        *left -= 1;
        self.end_if_switched();
    }

    /// Behind the last source that knew the page, or at once if none does, the move is over.
    fn end_if_switched(&mut self) {
        let Some(PageMove { page, from, phase: MovePhase::Switching(0), .. }) = self.moving else { return };
        self.moving = None;
        self.book.release(from);
        self.acts.push_back(ManagerAct::Moved { page });
        self.frames_left();
        for source in std::mem::take(&mut self.asking) {
            self.answer(source, page);
        }
        self.decide();
    }

    /// Nothing that it wants done leaves any more: a move ends where it is, no other one begins, and who has asked for the page that
    /// moved is told where its bytes are. Both frames of that move stay taken, since not every source has heard of its end.
    pub fn isolate(&mut self) {
        self.is_isolated = true;
        self.leaving.clear();
        self.acts.retain(|act| matches!(act, ManagerAct::Placed { .. } | ManagerAct::Answer { .. }));
        let Some(PageMove { page, .. }) = self.moving.take() else { return };
        for source in std::mem::take(&mut self.asking) {
            self.answer(source, page);
        }
    }

    /// Whether accesses have been counted that no decision has seen.
    pub fn has_counts(&self) -> bool {
        self.pages.iter().any(|page| page.accesses > 0)
    }

    /// The page that moves, from where and to where.
    pub fn moving(&self) -> Option<(u32, TierFrame, TierFrame)> {
        self.moving.map(|PageMove { page, from, to, .. }| (page, from, to))
    }
}
