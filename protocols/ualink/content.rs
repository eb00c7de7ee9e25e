//! The content of UALink flits without their bytes.
//!
//! Modelled: every decision of the packers (which field is in which Control half, which halves hold data, and where a TL
//! flit begins and ends in DL flits), and the transactions themselves, which move from sender to receiver with all their
//! data. Left out: bytes, and therefore CRC, reserved bits and errors in either. A link without observers and without
//! faults transfers its flits in this form: transactions, times, credits and counts are the same as with bytes.
//!
//! A walk through one TL flit: [`TlPacker::pack_content`](super::pack::TlPacker::pack_content) builds the TL flit. Its
//! transactions travel with their Control half; the halves of data that follow later are only counted.
//! [`ContentPacker`](super::segment::ContentPacker) finds the DL flit in which the last sector of the TL flit travels;
//! that DL flit carries the TL flit. [`TlUnpacker::begin`](super::unpack::TlUnpacker::begin) takes the transactions and
//! delivers each one when its last half has arrived.

use super::code::HalfType;
use super::field::TlFc;
use super::half::{HALF_SECTORS, MessageHalf};
use super::segment::MOST_STARTS;
use super::unpack::Transfer;

/// A TL flit without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlContent {
    /// A run of consecutive TL flits (at least one) in which both halves hold data or byte enables of earlier Control
    /// halves.
    Data(u8),
    /// Any other TL flit.
    Other(Box<TlHalves>),
}

impl TlContent {
    /// A TL flit with an empty Control half and an empty upper half.
    pub fn empty() -> TlContent {
        TlContent::Other(Box::new(TlHalves { control: Some(TlControl::default()), upper: TlUpper::Nothing }))
    }

    /// Number of TL flits that this content represents.
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
    /// The Control half, which is the lower half; `None` if the lower half holds data or byte enables of an earlier
    /// Control half.
    pub control: Option<TlControl>,
    /// The upper half.
    pub upper: TlUpper,
}

/// A Control half.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlControl {
    /// Credits that the Control half returns.
    pub credits: Option<TlFc>,
    /// Requests and responses in order, each complete with all of its data, as after the arrival of its last half.
    /// Occupied entries come first. A Control half allocates no memory besides the transactions themselves.
    pub transfers: [Option<Box<Transfer>>; HALF_SECTORS],
}

/// The upper half of a TL flit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TlUpper {
    /// The upper half is empty.
    #[default]
    Nothing,
    /// Data or byte enables of an earlier Control half.
    Owed,
    /// Authentication tags, which are stored in their transactions.
    Tags,
    /// A message, of which there are few.
    Message(Box<MessageHalf>),
}

/// Payload of a DL flit without its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DlContent {
    /// DL message DWords, in order of their segments.
    pub words: Vec<u32>,
    /// The TL flits whose last sector this payload carries and that are more than data, in order. Occupied entries come first.
    others: [Option<Box<TlHalves>>; MOST_WHOLE],
    /// Number of occupied entries.
    taken: u8,
    /// TL flits of data alone, so many before each of the others, and behind the last of them.
    data: [u8; MOST_WHOLE + 1],
}

/// Maximum number of TL flits whose last sector a payload carries: all TL flits that begin in the payload, and one that
/// began in an earlier payload.
const MOST_WHOLE: usize = MOST_STARTS + 1;

impl DlContent {
    /// Adds a TL flit whose last sector is in this payload.
    pub(super) fn add(&mut self, flit: TlContent) {
        let taken = usize::from(self.taken);
        match flit {
            TlContent::Data(flits) => self.data[taken] += flits,
            TlContent::Other(halves) => {
                self.others[taken] = Some(halves);
                self.taken += 1;
            }
        }
    }

    /// Hands on the TL flits whose last sector this payload carries, in order. Nothing is left in it afterwards.
    pub fn drain(&mut self, mut each: impl FnMut(TlContent)) {
        self.words.clear();
        for n in 0..=usize::from(core::mem::take(&mut self.taken)) {
            let flits = core::mem::take(&mut self.data[n]);
            if flits > 0 {
                each(TlContent::Data(flits));
            }
            if let Some(halves) = self.others.get_mut(n).and_then(Option::take) {
                each(TlContent::Other(halves));
            }
        }
    }
}

impl Transfer {
    /// The content as the receiver sees it: beats that are known to be wrong have been replaced.
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
