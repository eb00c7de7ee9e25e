//! Frames of the tiers: where a page of an accelerator can lie, and which pages lie there.
//!
//! Modelled: each accelerator manages the pages of its own part of the address space and has frames for them in three tiers: its own
//! HBM, HBM that its neighbour lends it, and tier 2 behind a bridge. Frames of tier 2 leave and come while the system runs: one that has
//! left is not free, and a page that lies there has to move. Left out: frames that change their owner. A walk: page 5 goes into
//! the first free frame of HBM; when it moves to tier 2 it has a frame in both until every source knows the new one; then the old one is
//! free.

use crate::blocks::{BLOCK_BYTES, BlockAddress};
use std::ops::Range;

/// A tier, the fastest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// HBM of the accelerator that manages the page.
    Hbm,
    /// HBM of the next accelerator.
    PeerHbm,
    /// Memory behind a bridge.
    Tier2,
}

impl Tier {
    /// All of them, the fastest first.
    pub const ALL: [Tier; 3] = [Tier::Hbm, Tier::PeerHbm, Tier::Tier2];

    /// Place in [`Tier::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A frame for one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TierFrame {
    /// Where it is.
    pub tier: Tier,
    /// Its number there among those of its manager.
    pub frame: u32,
}

/// How the frames of all accelerators of a fabric lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierLayout {
    /// Accelerators; they have the numbers from 0.
    pub accelerators: u16,
    /// Pages that each of them manages.
    pub pages: u32,
    /// Bytes of a page; 64 KiB by default (BRG-MIG, choice c27).
    pub page_bytes: u64,
    /// Frames that each has in each tier.
    pub frames: [u32; 3],
    /// Node that leads to tier 2.
    pub bridge: u16,
    /// First address of tier 2 there.
    pub tier2_base: u64,
    /// First address of an accelerator at which messages about pages are taken, behind all HBM.
    pub control_base: u64,
}

impl TierLayout {
    /// Pages of all accelerators.
    pub fn all_pages(&self) -> u32 {
        self.pages * u32::from(self.accelerators)
    }

    /// The address of an accelerator at which it takes messages about a page.
    pub fn control_address(&self, page: u32) -> u64 {
        self.control_base + BLOCK_BYTES * u64::from(page)
    }

    /// The addresses of all of these.
    pub fn control_addresses(&self) -> Range<u64> {
        self.control_base..self.control_address(self.all_pages())
    }

    /// The page of such an address; `None`: it is the address of none.
    pub fn page_at(&self, address: u64) -> Option<u32> {
        let page = u32::try_from(address.checked_sub(self.control_base)? / BLOCK_BYTES).ok()?;
        (page < self.all_pages()).then_some(page)
    }

    /// The accelerator that manages a page.
    pub fn manager(&self, page: u32) -> u16 {
        (page / self.pages) as u16
    }

    /// The frame of tier 2, of whatever manager, in which an address of a node lies.
    pub fn tier2_frame(&self, at: BlockAddress) -> Option<u32> {
        let frames = u64::from(self.frames[Tier::Tier2.index()]);
        let number = at.address.checked_sub(self.tier2_base)? / self.page_bytes;
        let is_there = at.node == self.bridge && number < frames * u64::from(self.accelerators);
        is_there.then(|| (number % frames) as u32)
    }

    /// Whether a manager has this frame.
    pub fn has_frame(&self, place: TierFrame) -> bool {
        place.frame < self.frames[place.tier.index()]
    }

    /// Where a frame of a manager begins. HBM holds the frames of its own accelerator first and those that it lends behind them.
    pub fn address(&self, manager: u16, place: TierFrame) -> BlockAddress {
        let of_frame = |n: u64| n * self.page_bytes;
        let frame = u64::from(place.frame);
        match place.tier {
            Tier::Hbm => BlockAddress { node: manager, address: of_frame(frame) },
            Tier::PeerHbm => BlockAddress {
                node: (manager + 1) % self.accelerators,
                address: of_frame(u64::from(self.frames[Tier::Hbm.index()]) + frame),
            },
            Tier::Tier2 => {
                let before = u64::from(manager) * u64::from(self.frames[Tier::Tier2.index()]);
                BlockAddress { node: self.bridge, address: self.tier2_base + of_frame(before + frame) }
            }
        }
    }
}

/// How a frame of tier 2 is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FramePresence {
    Present,
    /// It leaves or has left; what it held may be lost, and it may be there again once no page is.
    Gone {
        is_lost: bool,
        comes: bool,
    },
}

/// Which page lies in which frame of a manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameBook {
    /// Of tier 2, by frame.
    presence: Vec<FramePresence>,
    /// By tier and frame.
    pages: [Vec<Option<u32>>; 3],
    /// By tier: no frame below this one is free.
    first_free: [usize; 3],
}

impl FrameBook {
    /// So many frames in each tier, all of them free.
    pub fn new(frames: [u32; 3]) -> FrameBook {
        let presence = vec![FramePresence::Present; frames[Tier::Tier2.index()] as usize];
        FrameBook { presence, pages: frames.map(|count| vec![None; count as usize]), first_free: [0; 3] }
    }

    /// Frames of tier 2 leave; with `is_lost` what they hold is lost.
    pub fn leave(&mut self, frames: Range<u32>, is_lost: bool) {
        for frame in frames {
            if let Some(presence) = self.presence.get_mut(frame as usize) {
                *presence = FramePresence::Gone { is_lost, comes: false };
            }
        }
    }

    /// Frames of tier 2 come: one in which a page still lies when that has moved.
    pub fn come(&mut self, frames: Range<u32>) {
        let tier = Tier::Tier2;
        for frame in frames {
            let is_empty = self.page_in(TierFrame { tier, frame }).is_none();
            match self.presence.get_mut(frame as usize) {
                Some(presence) if is_empty => {
                    *presence = FramePresence::Present;
                    let first = &mut self.first_free[tier.index()];
                    *first = (*first).min(frame as usize);
                }
                Some(FramePresence::Gone { comes, .. }) => *comes = true,
                _ => (),
            }
        }
    }

    /// Whether a frame is not leaving and has not left.
    pub fn is_present(&self, place: TierFrame) -> bool {
        let presence = || self.presence.get(place.frame as usize);
        place.tier != Tier::Tier2 || presence().is_none_or(|presence| *presence == FramePresence::Present)
    }

    /// Whether what a frame held is lost.
    pub fn is_lost(&self, place: TierFrame) -> bool {
        let presence = || self.presence.get(place.frame as usize);
        place.tier == Tier::Tier2
            && presence().is_some_and(|presence| matches!(presence, FramePresence::Gone { is_lost: true, .. }))
    }

    /// The page in a frame.
    pub fn page_in(&self, place: TierFrame) -> Option<u32> {
        *self.pages[place.tier.index()].get(place.frame as usize)?
    }

    /// The first page in a frame of tier 2 that leaves or has left.
    pub fn stranded(&self) -> Option<u32> {
        let frames = (0..self.presence.len() as u32).map(|frame| TierFrame { tier: Tier::Tier2, frame });
        frames.filter(|place| !self.is_present(*place)).find_map(|place| self.page_in(place))
    }

    /// Frames of a tier, whether they are there or not.
    pub fn count(&self, tier: Tier) -> u32 {
        self.pages[tier.index()].len() as u32
    }

    /// Free frames of a tier.
    pub fn count_free(&self, tier: Tier) -> u32 {
        let is_free = |frame: &u32| self.is_free(TierFrame { tier, frame: *frame });
        (0..self.pages[tier.index()].len() as u32).filter(is_free).count() as u32
    }

    fn is_free(&self, place: TierFrame) -> bool {
        self.pages[place.tier.index()].get(place.frame as usize) == Some(&None) && self.is_present(place)
    }

    /// The first free frame of a tier.
    pub fn free_in(&self, tier: Tier) -> Option<TierFrame> {
        let frames = self.first_free[tier.index()] as u32..self.pages[tier.index()].len() as u32;
        frames.map(|frame| TierFrame { tier, frame }).find(|place| self.is_free(*place))
    }

    /// The first free frame of the fastest tier that has one.
    pub fn free(&self) -> Option<TierFrame> {
        Tier::ALL.into_iter().find_map(|tier| self.free_in(tier))
    }

    /// A page takes a frame; `false`: the frame is not free.
    pub fn take(&mut self, place: TierFrame, page: u32) -> bool {
        let is_present = self.is_present(place);
        match self.pages[place.tier.index()].get_mut(place.frame as usize) {
            Some(slot @ None) if is_present => {
                *slot = Some(page);
                let first = &mut self.first_free[place.tier.index()];
                *first += usize::from(*first == place.frame as usize);
                true
            }
            _ => false,
        }
    }

    /// A frame is free again.
    pub fn release(&mut self, place: TierFrame) {
        if let Some(slot) = self.pages[place.tier.index()].get_mut(place.frame as usize) {
            *slot = None;
            let first = &mut self.first_free[place.tier.index()];
            *first = (*first).min(place.frame as usize);
        }
        let presence = self.presence.get_mut(place.frame as usize).filter(|_| place.tier == Tier::Tier2);
        if let Some(presence @ FramePresence::Gone { comes: true, .. }) = presence {
            *presence = FramePresence::Present;
        }
    }

    /// Pages of a tier, by frame.
    pub fn pages_of(&self, tier: Tier) -> impl Iterator<Item = u32> + '_ {
        self.pages[tier.index()].iter().flatten().copied()
    }
}
