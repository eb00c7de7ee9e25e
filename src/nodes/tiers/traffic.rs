//! What an accelerator with tiers does: accesses to pages of all accelerators, and explicit copies between them.
//!
//! Modelled: reads and writes of blocks of 256 bytes and writes of one line; a set of hot pages that moves on, so that what is hot
//! changes; copies of ranges. Left out: atomics. Of each page every accelerator uses a part of its own, so pages are shared and each
//! source knows what its bytes have to be. A walk: of 100 operations ten go to pages of others; of the rest 90 percent go to two hot
//! pages; after a phase the next two pages are hot.

use super::copies::COPY_BLOCK_BYTES;
use scalepool_kernel::Rng;

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieredOp {
    /// A block is read.
    Read {
        /// Number among the pages of all.
        page: u32,
        /// First byte in it.
        offset: u64,
    },
    /// Lines are written.
    Write {
        /// Number among the pages of all.
        page: u32,
        /// First byte in it.
        offset: u64,
        /// Lines: 4, or 1.
        lines: u64,
    },
    /// The copy engine copies a range of one page to the same range of another one.
    Copy {
        /// The page that is read.
        from: u32,
        /// The page that is written.
        to: u32,
        /// First byte in both.
        offset: u64,
        /// Bytes.
        bytes: u64,
    },
}

/// What an accelerator does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TieredTraffic {
    /// Its number.
    pub own: u16,
    /// Accelerators.
    pub accelerators: u16,
    /// Pages that each of them manages.
    pub pages: u32,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Blocks of 256 bytes that it uses of its part of a page, from the first one on.
    pub blocks: u64,
    /// Operations.
    pub count: u64,
    /// Operations of 100 that go to pages of others.
    pub foreign_percent: u64,
    /// Pages that are hot.
    pub hot_pages: u32,
    /// Operations of 100 that go to hot pages.
    pub hot_percent: u64,
    /// Operations after which the next pages are hot; 0: never.
    pub phase: u64,
    /// One in so many operations is a copy; 0: none.
    pub copy_every: u64,
}

impl TieredTraffic {
    /// Blocks of a page that belong to one accelerator.
    pub fn part_blocks(page_bytes: u64, accelerators: u16) -> u64 {
        page_bytes / COPY_BLOCK_BYTES / u64::from(accelerators.max(1))
    }
}

/// Draws the operations of an accelerator.
pub struct TieredGenerator {
    traffic: TieredTraffic,
    rng: Rng,
    drawn: u64,
}

impl TieredGenerator {
    /// Of this traffic.
    pub fn new(traffic: TieredTraffic, rng: Rng) -> TieredGenerator {
        TieredGenerator { traffic, rng, drawn: 0 }
    }

    fn page(&mut self) -> u32 {
        let TieredTraffic { own, accelerators, pages, foreign_percent, hot_pages, hot_percent, phase, .. } =
            self.traffic;
        let is_foreign = accelerators > 1 && self.rng.ratio(foreign_percent, 100);
        let further = if is_foreign { 1 + self.rng.below(u64::from(accelerators) - 1) } else { 0 };
        let manager = (u64::from(own) + further) % u64::from(accelerators);
        let hot = u64::from(hot_pages.clamp(1, pages));
        let first_hot = self.drawn.checked_div(phase).unwrap_or(0) * hot;
        let page = match self.rng.ratio(hot_percent, 100) {
            true => (first_hot + self.rng.below(hot)) % u64::from(pages),
            false => self.rng.below(pages.into()),
        };
        (manager * u64::from(pages) + page) as u32
    }
}

impl Iterator for TieredGenerator {
    type Item = TieredOp;

    fn next(&mut self) -> Option<TieredOp> {
        let TieredTraffic { own, accelerators, pages, page_bytes, blocks, count, copy_every, .. } = self.traffic;
        if self.drawn == count {
            return None;
        }
        let page = self.page();
        let part = TieredTraffic::part_blocks(page_bytes, accelerators);
        let (first, used) = (u64::from(own) * part, blocks.clamp(1, part.max(1)));
        self.drawn += 1;
        let all = pages * u32::from(accelerators);
        if copy_every > 0 && self.drawn.is_multiple_of(copy_every) && all > 1 {
            let other = self.page();
            let to = if other == page { (page + 1) % all } else { other };
            let (offset, bytes) = (first * COPY_BLOCK_BYTES, used * COPY_BLOCK_BYTES);
            return Some(TieredOp::Copy { from: page, to, offset, bytes });
        }
        let offset = (first + self.rng.below(used)) * COPY_BLOCK_BYTES;
        Some(match self.rng.below(6) {
            0 => TieredOp::Write { page, offset, lines: 4 },
            1 => TieredOp::Write { page, offset: offset + 64 * self.rng.below(4), lines: 1 },
            _ => TieredOp::Read { page, offset },
        })
    }
}
