//! Placement policies: where a page goes first, and which page moves next (BRG-MIG-05, choice c27).
//!
//! Modelled: `static` deals pages to frames by their numbers before anything is accessed; `first-touch` gives the fastest free frame to
//! the page that is accessed first; `temperature` places like `first-touch` and moves pages by their temperature, which is accesses in an
//! interval. Pages change places only where the hotter one has at least twice the temperature of the colder one, so that two pages
//! that are about as hot do not change places all the time. Left out: prefetch, and moves of several pages at once.
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
}

/// How many times as hot as a page of a faster tier another one has to be to take its place (BRG-MIG-05, choice c27).
pub const HYSTERESIS: u64 = 2;

impl PlacementPolicy {
    /// Names in descriptions, in the order of the variants.
    pub const NAMES: &[&str] = &["static", "first-touch", "temperature"];

    /// The policy of a name.
    pub fn by_name(name: &str) -> Option<PlacementPolicy> {
        let all = [PlacementPolicy::Static, PlacementPolicy::FirstTouch, PlacementPolicy::Temperature];
        PlacementPolicy::NAMES.iter().position(|other| *other == name).map(|n| all[n])
    }

    /// Whether accesses are counted, so that pages move.
    pub fn moves_pages(self) -> bool {
        self == PlacementPolicy::Temperature
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
