//! Placement policies: where a page goes first, and which page moves next (BRG-MIG-05, choice c27).
//!
//! Modelled: `static` deals pages to frames by their numbers before anything is accessed; `first-touch` gives the fastest free frame to
//! the page that is accessed first; `temperature` places like `first-touch` and moves pages by their temperature, which is accesses in an
//! interval. Pages change places only where the hotter one has at least twice the temperature of the colder one, so that two pages
//! that are about as hot do not change places all the time. `exclusive` makes of HBM a cache of tier 2 that holds what tier 2 does not: all
//! pages begin in tier 2, each one that was accessed in an interval moves up, and for it the page leaves HBM that was accessed in the oldest
//! interval, if that is an older one. By `caller` a function of the user decides both, see [`caller`](super::caller). Prefetch brings up the pages that follow one that was accessed, and throws none of
//! them out. Left out: moves of several pages at once.
//!
//! A walk through a decision: of all pages below HBM page 7 is the hottest, with 40 accesses in the last interval; HBM is full, and its
//! coldest page 2 had 11. Page 2 moves down to a free frame first, page 7 goes into its frame next.

use super::frames::{FrameBook, Tier, TierFrame};

/// A policy of placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementPolicy {
    /// By the numbers of pages.
    Static,
    /// By the order in which pages are accessed first.
    FirstTouch,
    /// By the order of first accesses, and by temperature from then on.
    Temperature,
    /// HBM is an exclusive cache of tier 2.
    Exclusive,
    /// By a function of somebody outside.
    Caller,
}

/// How many times as hot as a page of a faster tier another one has to be to take its place (BRG-MIG-05, choice c27).
pub const HYSTERESIS: u64 = 2;

impl PlacementPolicy {
    /// Names in descriptions, in the order of the variants.
    pub const NAMES: &[&str] = &["static", "first-touch", "temperature", "exclusive", "caller"];

    /// The policy of a name.
    pub fn by_name(name: &str) -> Option<PlacementPolicy> {
        use PlacementPolicy::*;
        let all = [Static, FirstTouch, Temperature, Exclusive, Caller];
        PlacementPolicy::NAMES.iter().position(|other| *other == name).map(|n| all[n])
    }

    /// Whether accesses are counted, so that pages move.
    pub fn moves_pages(self) -> bool {
        matches!(self, PlacementPolicy::Temperature | PlacementPolicy::Exclusive | PlacementPolicy::Caller)
    }
}

/// A page that is to move, and to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageDecision {
    /// The page, counted from the first one of its manager.
    pub page: u32,
    /// A free frame.
    pub to: TierFrame,
}

/// The next move by temperature; `accesses` has those of each page in the last interval, and pages without a frame are none of `book`.
/// Equal temperatures: the page of the lowest number.
pub fn next_move(accesses: &[u64], book: &FrameBook) -> Option<PageDecision> {
    let heat = |page: u32| accesses.get(page as usize).copied().unwrap_or(0);
    for upper in [Tier::Hbm, Tier::PeerHbm] {
        let below = || Tier::ALL.into_iter().filter(move |tier| *tier > upper);
        let lower = below().flat_map(|tier| book.pages_of(tier));
        let Some(hot) = lower.max_by_key(|page| (heat(*page), u32::MAX - page)).filter(|page| heat(*page) > 0) else {
            continue;
        };
        if let Some(to) = book.free_in(upper) {
            return Some(PageDecision { page: hot, to });
        }
        let Some(cold) = book.pages_of(upper).min_by_key(|page| (heat(*page), *page)) else { continue };
        // What overflows is more than any temperature.
        if heat(cold).checked_mul(HYSTERESIS).is_some_and(|least| heat(hot) >= least)
            && let Some(to) = below().find_map(|tier| book.free_in(tier))
        {
            return Some(PageDecision { page: cold, to });
        }
    }
    None
}

/// What is known of the accesses to a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageUse {
    /// Accesses in the last interval.
    pub accesses: u64,
    /// The last interval in which it was accessed or brought up; 0: never.
    pub interval: u64,
}

/// The move that makes room for a page of tier 2 in HBM, or that brings it up, if a page of HBM that is none of `kept` has not been used as
/// lately as `interval`.
fn brought_up(page: u32, interval: u64, used: &[PageUse], book: &FrameBook, kept: &[u32]) -> Option<PageDecision> {
    if let Some(to) = book.free_in(Tier::Hbm) {
        return Some(PageDecision { page, to });
    }
    let last = |page: &u32| used.get(*page as usize).map_or(0, |page| page.interval);
    let leaving = book.pages_of(Tier::Hbm).filter(|page| !kept.contains(page));
    let oldest = leaving.min_by_key(|page| (last(page), *page));
    let page = oldest.filter(|page| last(page) < interval)?;
    Some(PageDecision { page, to: book.free_in(Tier::Tier2)? })
}

/// The next move where HBM is an exclusive cache of tier 2: of the pages of tier 2 that were accessed in the last interval the one with
/// the most accesses enters, of equal ones that of the lowest number; the page of HBM that was used in the oldest interval leaves for it,
/// of equal ones that of the lowest number.
pub fn next_fill(used: &[PageUse], book: &FrameBook) -> Option<PageDecision> {
    let of = |page: u32| used.get(page as usize).copied().unwrap_or_default();
    let entering = book.pages_of(Tier::Tier2).filter(|page| of(*page).accesses > 0);
    let page = entering.max_by_key(|page| (of(*page).accesses, u32::MAX - page))?;
    brought_up(page, of(page).interval, used, book, &[])
}

/// The next page that is prefetched: one of the `ahead` pages behind a page that was accessed in the last interval. It takes a free frame
/// of HBM; with `evicts`, that of a page that has not been used in the interval `now` and is none of those behind.
pub fn next_prefetch(
    used: &[PageUse],
    book: &FrameBook,
    ahead: u32,
    (evicts, now): (bool, u64),
) -> Option<PageDecision> {
    let is_accessed = |page: &u32| used[*page as usize].accesses > 0;
    let behind = |page: u32| (page + 1..=page.saturating_add(ahead)).take_while(|next| (*next as usize) < used.len());
    let below: Vec<u32> = [Tier::PeerHbm, Tier::Tier2].into_iter().flat_map(|tier| book.pages_of(tier)).collect();
    let all: Vec<u32> = (0..used.len() as u32).filter(is_accessed).flat_map(behind).collect();
    let wanted = *all.iter().find(|page| below.contains(page))?;
    brought_up(wanted, if evicts { now } else { 0 }, used, book, &all)
}
