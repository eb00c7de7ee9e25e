//! A request of an accelerator as the outbound half takes it, whatever its protocol, and what it is answered with.
//!
//! Modelled: who asks, what for, the lines that it touches with their bytes. Left out: how it is spelled, see [`upli`](super::upli) and
//! [`nvlink`](super::nvlink). A walk: a UPLI Write of 80 bytes becomes a request of two lines, each with its mask and its data; when both
//! are written the response has its status alone.

use crate::atomics::LineAtomic;
use crate::commands::{AccessKind, CommandAction};
use crate::lines::TouchedLine;
use scalepool_coherence::content::CacheLine;
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::field::TlReq;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeRequest {
    /// Number of the accelerator that asks.
    pub source: u16,
    /// Its class, 0 to 3, each of which has entries of its own: the virtual channel of UALink, of NVLink 0 with an answer and 1 posted.
    pub class: u8,
    /// Traffic class of its messages on CXL.
    pub traffic_class: u8,
    /// Address of its first byte.
    pub address: u64,
    /// Bytes that it covers.
    pub bytes: u64,
    /// What becomes of it.
    pub action: CommandAction,
    /// What it does to lines, and which right it takes.
    pub access: AccessKind,
    /// It lies in one block, has all of its data, and is an atomic that can be done or none.
    pub is_legal: bool,
    /// Lines that it touches inside its block, ascending.
    pub lines: Vec<TouchedLine>,
    /// What it writes, or operands: one for each line.
    pub data: Vec<CacheLine>,
    /// Buffers of 64 bytes that its data take.
    pub buffers: usize,
    /// What is computed, of an atomic that can be done.
    pub atomic: Option<LineAtomic>,
    /// Bytes that were enabled outside of what it covers; they are ignored.
    pub ignored: u32,
    /// Posted requests and their FLUSH.
    pub posted: PostedRole,
    /// What its response is made of.
    pub reply: ReplyForm,
}

/// What a request needs to get in, as it is known before it is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryNeed {
    /// Its class, see [`BridgeRequest::class`].
    pub class: u8,
    /// Address of its first byte; `None`: it has none, such as FLUSH.
    pub address: Option<u64>,
    /// Buffers of 64 bytes that its data take.
    pub buffers: usize,
}

impl BridgeRequest {
    /// What it needs to get in.
    pub fn need(&self) -> EntryNeed {
        let has_address = !matches!(self.posted, PostedRole::Flush { .. });
        EntryNeed { class: self.class, address: has_address.then_some(self.address), buffers: self.buffers }
    }
}

/// What a request is to the order of posted requests (`bridge` §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostedRole {
    /// It has an answer of its own.
    Answered,
    /// It is posted over a link: nobody hears of it before the next FLUSH.
    Posted {
        /// The link.
        link: usize,
    },
    /// It is answered when the posted requests that it covers are performed.
    Flush(FlushCover),
}

/// Which posted requests of its source a FLUSH covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushCover {
    /// Those that have come before it.
    Arrived,
    /// So many that were posted over its link, counted from the first one of all, whether they have come or not: a FLUSH may overtake
    /// them, since it has another channel.
    Counted {
        /// The link.
        link: usize,
        /// How many.
        count: u64,
    },
}

/// What a response is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyForm {
    /// A UPLI request.
    Upli(TlReq),
    /// An NVLink request: operation and tag.
    Nvlink(Op, u16),
}

/// What a request is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeResponse<'a> {
    /// The request.
    pub request: &'a BridgeRequest,
    /// Its status.
    pub status: Status,
    /// The lines that it has read, one for each that it touches; of use if the status is OKAY.
    pub lines: Vec<CacheLine>,
    /// Which of them.
    pub beats: AnsweredBeats,
}

/// Lines that leave with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBeats {
    /// All of them.
    All,
    /// One by itself (`bridge` §3.3).
    One {
        /// Its number, 0 is that of the first line that the request touches.
        number: u8,
        /// No other one follows.
        is_last: bool,
    },
}
