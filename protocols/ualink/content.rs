//! What flits carry, without their bytes.
//!
//! Modelled: every decision of the packers (which field stands in which Control half, which halves hold data, where a TL flit
//! begins and ends in DL flits), and the transactions themselves, which move from the sender to the receiver with all their
//! data. Left out: bytes, so also CRC, reserved bits, and whatever can be wrong with them. A link at which nobody looks and
//! which has no faults carries its flits so: the same transactions, times, credits and counts as with bytes.
//!
//! A walk: [`TlPacker::pack_content`](super::pack::TlPacker::pack_content) makes a TL flit. Its transactions go with their
//! Control half; halves of data that follow later are only counted. [`ContentPacker`](super::segment::ContentPacker) finds
//! the DL flit in which the last sector of each TL flit travels, which carries it.
//! [`TlUnpacker::begin`](super::unpack::TlUnpacker::begin) takes its transactions, and hands each on when its last half has
//! come.

use super::code::HalfType;
use super::field::TlFc;
use super::half::{HALF_SECTORS, MessageHalf};
use super::segment::MOST_STARTS;
use super::unpack::Transfer;

/// A TL flit without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlContent {
    /// Both halves are data or byte enables that are owed: so many such TL flits in a row, at least one.
    Data(u8),
    /// Any other.
    Other(Box<TlHalves>),
}

impl TlContent {
    /// A Control half without fields, and nothing behind it.
    pub fn empty() -> TlContent {
        TlContent::Other(Box::new(TlHalves { control: Some(TlControl::default()), upper: TlUpper::Nothing }))
    }

    /// TL flits that it stands for.
    pub fn count(&self) -> u64 {
        match self {
            TlContent::Data(flits) => (*flits).into(),
            TlContent::Other(_) => 1,
        }
    }
}

/// Both halves of a TL flit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlHalves {
    /// The Control half, which is the lower one; `None`: the lower half is owed.
    pub control: Option<TlControl>,
    /// The upper half.
    pub upper: TlUpper,
}

/// A Control half.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlControl {
    /// Credits that it returns.
    pub credits: Option<TlFc>,
    /// Requests and responses in their order, each with all of its data, as it is when it has come; first the places that are
    /// taken. Beside the transactions themselves a Control half takes no memory of its own.
    pub transfers: [Option<Box<Transfer>>; HALF_SECTORS],
}

/// The upper half of a TL flit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TlUpper {
    /// Nothing is owed to it.
    #[default]
    Nothing,
    /// Data or byte enables that are owed.
    Owed,
    /// Authentication tags, which stand in their transactions.
    Tags,
    /// A message.
    Message(MessageHalf),
}

/// Payload of a DL flit without its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DlContent {
    /// DL message DWords, in order of their segments.
    pub words: Vec<u32>,
    /// TL flits whose last sector it carries, in order; first the places that are taken.
    pub tl_flits: [Option<TlContent>; MOST_WHOLE],
    /// Places that are taken.
    taken: u8,
}

/// Most TL flits whose last sector a payload carries: all that begin in it and one from before.
const MOST_WHOLE: usize = MOST_STARTS + 1;

impl DlContent {
    /// Adds a TL flit that is whole now.
    pub(super) fn add(&mut self, flit: TlContent) {
        let taken = usize::from(self.taken);
        let last = taken.checked_sub(1).and_then(|last| self.tl_flits[last].as_mut());
        if let (Some(TlContent::Data(before)), TlContent::Data(more)) = (last, &flit) {
            *before += more;
            return;
        }
        self.tl_flits[taken] = Some(flit);
        self.taken += 1;
    }
}

impl Transfer {
    /// As it is at the receiver: beats that are known to be wrong have been replaced.
    pub(super) fn as_received(mut self: Box<Self>) -> Box<Self> {
        if self.poisoned != 0 {
            let (poisoned, poison) = (self.poisoned, MessageHalf::new(HalfType::Poison).to_half());
            self.data.change(|halves| {
                let wrong = halves.iter_mut().enumerate().filter(|(n, _)| poisoned >> (n / 2) & 1 == 1);
                wrong.for_each(|(_, half)| *half = poison);
            });
        }
        self
    }
}
