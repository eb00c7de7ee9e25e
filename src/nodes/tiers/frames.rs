//! Frames of the tiers: where a page of an accelerator can lie, and which pages lie there.
//!
//! Modelled: each accelerator manages the pages of its own part of the address space and has frames for them in three tiers: its own
//! HBM, HBM that its neighbour lends it, and tier 2 behind a bridge. Left out: frames that change their owner. A walk: page 5 goes into
//! the first free frame of HBM; when it moves to tier 2 it has a frame in both until every source knows the new one; then the old one is
//! free.

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

/// Where bytes of a page are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierAddress {
    /// Accelerator or bridge.
    pub node: u16,
    /// Byte address there.
    pub address: u64,
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
}

impl TierLayout {
    /// The accelerator that manages a page.
    pub fn manager(&self, page: u32) -> u16 {
        (page / self.pages) as u16
    }

    /// Whether a manager has this frame.
    pub fn has_frame(&self, place: TierFrame) -> bool {
        place.frame < self.frames[place.tier.index()]
    }

    /// Where a frame of a manager begins. HBM holds the frames of its own accelerator first and those that it lends behind them.
    pub fn address(&self, manager: u16, place: TierFrame) -> TierAddress {
        let of_frame = |n: u64| n * self.page_bytes;
        let frame = u64::from(place.frame);
        match place.tier {
            Tier::Hbm => TierAddress { node: manager, address: of_frame(frame) },
            Tier::PeerHbm => TierAddress {
                node: (manager + 1) % self.accelerators,
                address: of_frame(u64::from(self.frames[Tier::Hbm.index()]) + frame),
            },
            Tier::Tier2 => {
                let before = u64::from(manager) * u64::from(self.frames[Tier::Tier2.index()]);
                TierAddress { node: self.bridge, address: self.tier2_base + of_frame(before + frame) }
            }
        }
    }
}

/// Which page lies in which frame of a manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameBook {
    /// By tier and frame.
    pages: [Vec<Option<u32>>; 3],
    /// By tier: no frame below this one is free.
    first_free: [usize; 3],
}

impl FrameBook {
    /// So many frames in each tier, all of them free.
    pub fn new(frames: [u32; 3]) -> FrameBook {
        FrameBook { pages: frames.map(|count| vec![None; count as usize]), first_free: [0; 3] }
    }

    /// Free frames of a tier.
    pub fn count_free(&self, tier: Tier) -> u32 {
        self.pages[tier.index()].iter().filter(|page| page.is_none()).count() as u32
    }

    /// The first free frame of a tier.
    pub fn free_in(&self, tier: Tier) -> Option<TierFrame> {
        let from = self.first_free[tier.index()];
        let frame = from + self.pages[tier.index()][from..].iter().position(Option::is_none)?;
        Some(TierFrame { tier, frame: frame as u32 })
    }

    /// The first free frame of the fastest tier that has one.
    pub fn free(&self) -> Option<TierFrame> {
        Tier::ALL.into_iter().find_map(|tier| self.free_in(tier))
    }

    /// A page takes a frame; `false`: the frame is not free.
    pub fn take(&mut self, place: TierFrame, page: u32) -> bool {
        match self.pages[place.tier.index()].get_mut(place.frame as usize) {
            Some(slot @ None) => {
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
    }

    /// Pages of a tier, by frame.
    pub fn pages_of(&self, tier: Tier) -> impl Iterator<Item = u32> + '_ {
        self.pages[tier.index()].iter().flatten().copied()
    }
}
