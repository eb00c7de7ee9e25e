//! Checks of moves, from what is seen of them: rules BRG-MIG-01 to BRG-MIG-05 (choice c27), and MEM-RMV-05 and 06 of frames that leave.
//!
//! Modelled: what a manager sees of its moves, and a source of its accesses, told one by one. It keeps its own account of both and knows
//! nothing of the tables and phases of those whom it watches. Left out: accesses of other sources, which have watches of their own.
//!
//! A walk through a move: when it begins, the frame to which it goes must be free; every source that was ever told the old place has to
//! have answered a block before the first byte is read, and a cache on the way has said that it holds nothing of the page; each of its blocks is read once and written once with the same lines; when a source is
//! told the new place, all of them have been written.

use super::copies::{COPY_BLOCK_BYTES, CopyLines};
use super::frames::{Tier, TierFrame};
use scalepool_ordered::{OrderedMap, OrderedSet};

/// Something that a watch is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TierEvent {
    /// A manager gives a page its first frame.
    Placed(u32, TierFrame),
    /// A page begins to move to a frame.
    Moves(u32, TierFrame),
    /// A source is to block a page.
    Blocks(u16, u32),
    /// A source has answered that.
    Drained(u16, u32),
    /// The cache of a bridge has said that it holds nothing of a page.
    Flushed(u32),
    /// A block of a page was read.
    CopyRead(u32, u64, CopyLines),
    /// A block of a page is written.
    CopyWrite(u32, u64, CopyLines),
    /// A source that has asked is told the place of a page.
    Answers(u16, u32),
    /// A source is told the new place of a page.
    Switches(u16, u32),
    /// The move of a page is over.
    Moved(u32),
    /// The move of a page will not be finished.
    GivesUp(u32),
    /// Frames of tier 2 leave.
    Leaves(u32, u32),
    /// No page of this manager lies in them any more.
    Left(u32, u32),
    /// Frames of tier 2 are there again.
    Comes(u32, u32),
    /// This source begins an access to a page in a frame.
    Accesses(u32, TierFrame),
    /// It ends.
    Accessed(u32),
    /// This source answers a block of a page.
    AnswersBlock(u32),
    /// This source has learned a place of a page.
    Learned(u32, TierFrame),
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierFinding {
    /// The rule.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

#[derive(Debug, Default)]
struct WatchedMove {
    from: Option<TierFrame>,
    to: Option<TierFrame>,
    /// Sources that know the old place and have not answered a block.
    knowing: OrderedSet<u16>,
    is_flushed: bool,
    /// Lines that were read, by block.
    read: OrderedMap<u64, CopyLines>,
    /// Blocks that were written.
    written: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct WatchedSource {
    /// The place, unless it is blocked.
    place: Option<TierFrame>,
    open: u32,
}

/// The checks at an accelerator, as manager and as source.
#[derive(Debug)]
pub struct MigrationWatch {
    page_blocks: u64,
    frames: [u32; 3],
    /// A cache on the way to tier 2 can hold lines of a page there.
    is_cached: bool,
    /// Where pages lie that it manages.
    places: OrderedMap<u32, TierFrame>,
    /// Frames in which they lie or into which they move.
    taken: OrderedSet<TierFrame>,
    /// Sources that were told the place of a page, by page.
    told: OrderedMap<u32, OrderedSet<u16>>,
    moves: OrderedMap<u32, WatchedMove>,
    /// Frames of tier 2 that leave or have left.
    gone: OrderedSet<u32>,
    /// What it has learned as a source.
    source: OrderedMap<u32, WatchedSource>,
}

fn finding(rule: &'static str, found: String, expected: &'static str) -> Option<TierFinding> {
    Some(TierFinding { rule, found, expected })
}

impl MigrationWatch {
    /// Of pages of so many bytes, and of so many frames; `is_cached`: a bridge on the way to tier 2 has a cache.
    pub fn new(page_bytes: u64, frames: [u32; 3], is_cached: bool) -> MigrationWatch {
        MigrationWatch {
            page_blocks: page_bytes / COPY_BLOCK_BYTES,
            frames,
            is_cached,
            places: OrderedMap::new(),
            taken: OrderedSet::new(),
            told: OrderedMap::new(),
            moves: OrderedMap::new(),
            gone: OrderedSet::new(),
            source: OrderedMap::new(),
        }
    }

    /// Whether a frame is there and no page lies in it or moves into it.
    fn is_free(&self, place: TierFrame) -> bool {
        place.frame < self.frames[place.tier.index()] && !self.taken.contains(&place)
    }

    fn is_gone(&self, place: TierFrame) -> bool {
        place.tier == Tier::Tier2 && self.gone.contains(&place.frame)
    }

    /// Something has happened: the rule that it breaks.
    pub fn see(&mut self, event: TierEvent) -> Option<TierFinding> {
        match event {
            TierEvent::Placed(page, place) => {
                let is_free = self.is_free(place);
                let was = self.places.insert(page, place);
                self.taken.insert(place);
                let found = || format!("page {page} in {place:?}, before in {was:?}");
                if self.is_gone(place) {
                    return finding("MEM-RMV-05", found(), "no page in a frame that leaves or has left");
                }
                if !is_free || was.is_some() {
                    return finding("BRG-MIG-05", found(), "a free frame for a page without one");
                }
            }
            TierEvent::Moves(page, to) => {
                let is_free = self.is_free(to);
                self.taken.insert(to);
                let (from, knowing) = (self.places.get(&page).copied(), self.told.remove(&page).unwrap_or_default());
                self.moves.insert(page, WatchedMove { from, to: Some(to), knowing, ..WatchedMove::default() });
                if self.is_gone(to) {
                    let found = format!("page {page} moves to {to:?}");
                    return finding("MEM-RMV-05", found, "no page in a frame that leaves or has left");
                }
                if !is_free {
                    return finding("BRG-MIG-05", format!("page {page} to {to:?}"), "a move to a free frame");
                }
            }
            TierEvent::Blocks(source, page) => {
                self.moving(page).knowing.insert(source);
            }
            TierEvent::Drained(source, page) => {
                self.moving(page).knowing.remove(&source);
            }
            TierEvent::Flushed(page) => {
                let moving = self.moving(page);
                moving.is_flushed = true;
                if !moving.knowing.is_empty() {
                    let found = format!("a flush of page {page} with {} sources that access it", moving.knowing.len());
                    return finding("BRG-MIG-03", found, "a flush behind the last access");
                }
            }
            TierEvent::CopyRead(page, block, lines) => {
                let is_cached = self.is_cached;
                let moving = self.moving(page);
                moving.read.insert(block, lines);
                if let Some(source) = moving.knowing.first() {
                    let found = format!("block {block} of page {page} read while source {source} knows its old place");
                    return finding("BRG-MIG-02", found, "a copy behind the last answer to a block");
                }
                if is_cached && moving.from.is_some_and(|from| from.tier == Tier::Tier2) && !moving.is_flushed {
                    let found = format!("block {block} of page {page} read before caches are flushed");
                    return finding("BRG-MIG-03", found, "a copy behind the flush");
                }
            }
            TierEvent::CopyWrite(page, block, lines) => {
                let moving = self.moving(page);
                moving.written += 1;
                if moving.read.remove(&block) != Some(lines) {
                    let found = format!("block {block} of page {page} written with other lines than were read");
                    return finding("BRG-MIG-01", found, "the lines that were read, once, with their poison");
                }
            }
            TierEvent::Answers(source, page) => {
                self.told.entry(page).or_default().insert(source);
                if self.moves.contains_key(&page) {
                    let found = format!("source {source} is told the place of page {page}, which moves");
                    return finding("BRG-MIG-02", found, "an answer in front of a move or behind it");
                }
            }
            TierEvent::Switches(source, page) => {
                self.told.entry(page).or_default().insert(source);
                let all = self.page_blocks;
                let written = self.moving(page).written;
                if written != all {
                    let found = format!("{written} of {all} blocks of page {page} copied when its new place is told");
                    return finding("BRG-MIG-04", found, "every byte moved by a read and a write of its own");
                }
            }
            TierEvent::Moved(page) => {
                if let Some(to) = self.moves.remove(&page).and_then(|moved| moved.to)
                    && let Some(from) = self.places.insert(page, to)
                {
                    self.taken.remove(&from);
                }
            }
            TierEvent::GivesUp(page) => {
                self.moves.remove(&page);
            }
            TierEvent::Leaves(first, end) => self.gone.extend(first..end),
            TierEvent::Comes(first, end) => (first..end).for_each(|frame| {
                self.gone.remove(&frame);
            }),
            TierEvent::Left(first, end) => {
                let is_there = |place: &TierFrame| place.tier == Tier::Tier2 && (first..end).contains(&place.frame);
                if let Some(place) = self.taken.iter().find(|place| is_there(place)) {
                    let found = format!("a removal of frames {first} to {end} that is over with a page in {place:?}");
                    return finding("MEM-RMV-06", found, "every page moved away before");
                }
            }
            TierEvent::Accesses(page, place) => {
                let known = self.source.entry(page).or_default();
                known.open += 1;
                if known.place != Some(place) {
                    let found = format!("an access to page {page} in {place:?}, which lies in {:?}", known.place);
                    return finding("BRG-MIG-02", found, "an access where the page lies, and none while it is blocked");
                }
            }
            TierEvent::Accessed(page) => {
                let known = self.source.entry(page).or_default();
                known.open = known.open.saturating_sub(1);
            }
            TierEvent::AnswersBlock(page) => {
                let known = self.source.entry(page).or_default();
                known.place = None;
                if known.open > 0 {
                    let found = format!("{} accesses to page {page} open when its block is answered", known.open);
                    return finding("BRG-MIG-02", found, "open accesses end before a page moves");
                }
            }
            TierEvent::Learned(page, place) => self.source.entry(page).or_default().place = Some(place),
        }
        None
    }

    fn moving(&mut self, page: u32) -> &mut WatchedMove {
        self.moves.entry(page).or_default()
    }
}
