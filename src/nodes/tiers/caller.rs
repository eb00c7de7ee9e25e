//! A policy of placement that somebody outside of the model decides by a function.
//!
//! Modelled: what the function is asked, where a page goes first and which page moves next, and with what it can decide: where all pages
//! of a manager lie, how often each was accessed, free frames. Left out: who the function is; a run of several threads, for the function
//! is called in the thread of the module. A walk: an interval is over, page 9 of tier 2 was accessed most, and a frame of HBM is free; the
//! function says page 9 and HBM, and the move begins; it is asked again when that is over.

use super::frames::Tier;
use super::policy::PageUse;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A page as the function sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageView {
    /// Where it lies; `None`: nobody has accessed it.
    pub tier: Option<Tier>,
    /// Its accesses in the last interval, and when it was used last.
    pub used: PageUse,
}

/// What the function is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacementQuestion<'a> {
    /// The page that is accessed first and needs a frame; `None`: which page moves next.
    pub first: Option<u32>,
    /// Intervals that are over.
    pub interval: u64,
    /// All pages of the manager.
    pub pages: &'a [PageView],
    /// Free frames by tier.
    pub free: [u32; 3],
}

/// A page and the tier to which it shall go; of a page that is accessed first, its page does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageWish {
    /// The page.
    pub page: u32,
    /// Where to; `None`: a tier that there is not, which is refused.
    pub tier: Option<Tier>,
}

/// The function; without a wish nothing moves, and a page that is accessed first gets the fastest free frame.
pub type Decide = Box<dyn FnMut(&PlacementQuestion<'_>) -> Option<PageWish> + Send>;

/// Where the function of an accelerator is put, before a run or while it goes on.
#[derive(Clone, Default)]
pub struct PlacementSlot(Arc<Mutex<Option<Decide>>>);

impl fmt::Debug for PlacementSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlacementSlot")
    }
}

impl PlacementSlot {
    /// This function decides from here on; `None`: nobody does.
    pub fn set(&self, decide: Option<Decide>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = decide;
    }

    /// What it decides.
    pub fn ask(&self, question: &PlacementQuestion<'_>) -> Option<PageWish> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(|decide| decide(question))
    }

    /// Takes the function out of another place, to go on with it here.
    pub fn take_over(&self, other: &PlacementSlot) {
        if !Arc::ptr_eq(&self.0, &other.0) {
            self.set(other.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// The places of all accelerators of a system whose policy is decided outside, by their paths.
#[derive(Debug, Default)]
pub struct PlacementSlots(Mutex<Vec<(String, PlacementSlot)>>);

impl PlacementSlots {
    /// Adds one.
    pub fn add(&self, path: &str, slot: PlacementSlot) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), slot));
    }

    /// All of them, in the order of the description.
    pub fn all(&self) -> Vec<(String, PlacementSlot)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
