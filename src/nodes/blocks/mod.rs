//! Nodes that read and write blocks of up to 256 bytes in HBM of their own and of others, whatever protocol their links have.
//!
//! Modelled: requests with a tag until their last answer, requests of others that take effect when they come and are answered behind the
//! latency of HBM, bulk writes and what says that they are visible; on UALink by [`ualink`], on NVLink by [`nvlink`]. Left out: who asks
//! and why, see [`tiers`](super::tiers) and [`handover`](super::handover).
//!
//! A walk: the user asks whether a read is hindered, sends it, and learns its tag. In a later cycle it takes what its node has to tell, and
//! finds the end of that tag with the lines that were read, each with its poison. Between these it lets the node serve others, and gets
//! those of their requests that are at control addresses, which are about something else than memory.

pub mod nvlink;
mod nvlink_packets;
mod open;
pub mod ualink;

use scalepool_kernel::Cx;
use scalepool_link::nvlink::NvlMessage;
use scalepool_memory::LineBytes;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_trace::{Stamp, Tap, Wait};
use std::ops::Range;

/// Bytes of a block, which a request does not leave: a region of UALink (`ualink` §12), a block of NVLink (`bridge` §6).
pub const BLOCK_BYTES: u64 = 256;

/// A line, and whether it is poisoned.
pub type MarkedLine = (LineBytes, bool);

/// Where bytes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockAddress {
    /// Accelerator or bridge.
    pub node: u16,
    /// Byte address there, a multiple of 64.
    pub address: u64,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockNodeConfig {
    /// Its number.
    pub own: u16,
    /// Number of its fabric, for traces.
    pub fabric: u32,
    /// Cycles from a request to its answer in its HBM.
    pub hbm_cycles: u64,
    /// Control addresses: requests of others there are handed out.
    pub control: Range<u64>,
}

/// A request that is to leave: whole lines of one block.
#[derive(Debug, Clone)]
pub struct BlockRequest {
    /// Where.
    pub to: BlockAddress,
    /// Lines to write; none: a read.
    pub lines: Vec<MarkedLine>,
    /// Lines to read or write, 1 to 4.
    pub count: u64,
    /// Its parent in traces.
    pub parent: u64,
}

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeAccess {
    /// It reads so many lines.
    Read(u64),
    /// It writes, and is answered.
    Write,
    /// It writes in bulk, see [`BlockNode::send_bulk`].
    Bulk,
}

/// What a node has found wrong, without a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockFinding {
    /// The rule.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
    /// What it means.
    pub text: &'static str,
}

/// A request is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockEnd {
    /// Its tag, which is free again.
    pub tag: u16,
    /// Where it was.
    pub to: BlockAddress,
    /// Lines that came of a read, in order.
    pub lines: Vec<MarkedLine>,
    /// How it was refused, if it was.
    pub refused: Option<String>,
    /// Why fewer lines came than were asked for, if so.
    pub incomplete: Option<BlockFinding>,
}

/// What a node tells its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockEvent {
    /// A request is over.
    Ended(BlockEnd),
    /// What came is wrong, and was left.
    Found(BlockFinding),
    /// Its link is down (`ualink` §12): the user calls [`BlockNode::isolate`].
    LinkDown,
    /// An answer came behind that.
    Late,
}

/// What another node asks for at a control address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForeignOperation {
    /// A read of whole lines.
    Read,
    /// A write of whole lines, of which this is the first one.
    Write(MarkedLine),
    /// Anything else, as it is named.
    Other(String),
}

impl ForeignOperation {
    /// As messages name it.
    pub fn name(&self) -> String {
        match self {
            ForeignOperation::Read => "a read".to_owned(),
            ForeignOperation::Write((_, false)) => "a write".to_owned(),
            ForeignOperation::Write((_, true)) => "a poisoned write".to_owned(),
            ForeignOperation::Other(name) => name.clone(),
        }
    }
}

/// How a request at a control address is answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ControlReply {
    /// Over a port of UALink.
    Ualink(usize, TlReq),
    /// Over a link of NVLink; a posted request has no answer.
    Nvlink(usize, Box<NvlMessage>),
}

/// A request of another node at a control address.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignRequest {
    /// Who asks.
    pub source: u16,
    /// A read, a write with its first line, or another operation by its name.
    pub operation: ForeignOperation,
    /// The address.
    pub address: u64,
    /// Lines that it touches.
    pub lines: usize,
    /// The transaction in traces.
    pub id: u64,
    /// How it is answered.
    pub(crate) reply: ControlReply,
}

/// A node, as its user has it.
pub trait BlockNode {
    /// Most requests that it sends in a cycle.
    fn width(&self) -> usize;

    /// Why a request cannot leave now.
    fn hindered(&self, cx: &Cx, to: BlockAddress, access: NodeAccess) -> Option<Wait>;

    /// A request leaves; whether it can was asked before. Its tag, which names its end; `None`: there is none free.
    fn send(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, request: BlockRequest) -> Option<u16>;

    /// A bulk write leaves, like a request, of whose effect [`fence`](BlockNode::fence) and the ends of all that is open tell together.
    fn send_bulk(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, request: BlockRequest);

    /// Asks a node whether its bulk writes are visible there, as far as answers to them do not say it.
    fn fence(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap, node: u16);

    /// The next thing that answers of others tell, in the order in which they came.
    fn answered(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<BlockEvent>;

    /// The next request to its own HBM that is over.
    fn own_ended(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<BlockEnd>;

    /// Whatever waits for room leaves: answers to others, and the rest of its own requests.
    fn leave(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap);

    /// Requests of others take effect, up to the next one at a control address.
    fn serve(&mut self, cx: &mut Cx, at: Stamp, tap: &mut Tap) -> Option<ForeignRequest>;

    /// The next thing that is wrong with requests of others.
    fn found(&mut self) -> Option<BlockFinding> {
        None
    }

    /// A request at a control address is answered behind the latency of HBM, one that reads with these lines.
    fn reply(&mut self, at: Stamp, to: &ForeignRequest, lines: Vec<MarkedLine>);

    /// Nothing that is open will end: tags and transactions of traces, by tag.
    fn isolate(&mut self) -> Vec<(u16, u64)>;

    /// A line of its own HBM as it is now.
    fn own_line(&self, address: u64) -> MarkedLine;

    /// Requests that are open.
    fn open(&self) -> usize;

    /// The cycle of the oldest of them.
    fn open_since(&self) -> Option<u64>;

    /// The next cycle behind this one in which it has something to do by itself.
    fn due(&self, cycle: u64) -> Option<u64>;

    /// Requests of others that it has taken.
    fn served(&self) -> u64;
}
