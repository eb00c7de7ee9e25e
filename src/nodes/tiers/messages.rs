//! Messages about pages: reads and writes of 64 bytes at control addresses of an accelerator (choice c27).
//!
//! Modelled: each page has a line of its own among the control addresses of every accelerator, so that messages about one page keep
//! their order. A read of it at the manager asks for the place of the page; a write says what its first word names. An answer to a
//! write says that it is done. Left out: rights. The form is ours.
//!
//! | Byte | Word | Meaning |
//! |---|---|---|
//! | 0 | what | 0 place, 1 block, 2 new place, 3 accesses |
//! | 8 | tier | 0 HBM, 1 HBM of the peer, 2 tier 2 |
//! | 16 | frame | number of the frame in its tier |
//! | 24 | accesses | accesses in an interval; of a new place 1: what the old one held may be lost |

use super::frames::{Tier, TierFrame};
use scalepool_memory::LineBytes;

/// First control address of an accelerator on UALink: behind all HBM, below the 54 bits of addresses that stores tell accelerators apart by.
pub const UALINK_CONTROL_BASE: u64 = 1 << 40;
/// First control address of a GPU on NVLink: the upper half of the 36 bits of local addresses (`nvlink` §5), below which HBM lies.
pub const NVLINK_CONTROL_BASE: u64 = 1 << 35;

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageMessage {
    /// The page lies here: the answer of a manager.
    Place(TierFrame),
    /// No access to the page may begin; the answer comes when none is open.
    Block,
    /// The page lies here now; whether bytes of it may be lost, which then have poison.
    Switch(TierFrame, bool),
    /// A source has made so many accesses in the last interval.
    Accesses(u64),
}

impl PageMessage {
    /// Its line.
    pub fn line(self) -> LineBytes {
        let of = |what, place: TierFrame| [what, place.tier.index() as u64, u64::from(place.frame), 0];
        let words = match self {
            PageMessage::Place(place) => of(0, place),
            PageMessage::Block => [1, 0, 0, 0],
            PageMessage::Switch(place, is_damaged) => {
                let [what, tier, frame, _] = of(2, place);
                [what, tier, frame, u64::from(is_damaged)]
            }
            PageMessage::Accesses(count) => [3, 0, 0, count],
        };
        let mut line = [0; 64];
        for (bytes, word) in line.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        line
    }

    /// The message of a line; `None`: it is none.
    pub fn of_line(line: &LineBytes) -> Option<PageMessage> {
        let word = |n: usize| u64::from_le_bytes(line.as_chunks().0[n]);
        let place = || {
            let tier = *Tier::ALL.get(usize::try_from(word(1)).ok()?)?;
            Some(TierFrame { tier, frame: u32::try_from(word(2)).ok()? })
        };
        match word(0) {
            0 => place().map(PageMessage::Place),
            1 => Some(PageMessage::Block),
            2 => place().map(|place| PageMessage::Switch(place, word(3) == 1)),
            3 => Some(PageMessage::Accesses(word(3))),
            _ => None,
        }
    }
}
