//! One transaction from an accelerator to CXL: its request and what is done to its lines.

use super::host_lines::HostLine;
use super::order::OrderKey;
use super::posted::CoveredRequests;
use super::request::{AnsweredBeats, BridgeRequest};
use super::rooms::RoomMoves;
use crate::atomics::LineAtomic;
use crate::cache::sector::SectorState;
use crate::cache::templates::{Template, TemplateKey};
use crate::commands::{AccessKind, CommandAction};
use crate::flows::{FlowStep, LineOperation};
use crate::io::exchange::IoExchange;
use crate::window::WindowClass;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_memory::LineBytes;
use scalepool_protocols::ualink::code::Status;

/// How far a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionProgress {
    /// It has an entry and is on its way through the stages.
    Admitted,
    /// Earlier ones have to be performed first.
    Ordered,
    /// Its lines are worked on.
    Active,
    /// It is performed; its answer has not left.
    Performed,
    /// Its answer has left; answers from CXL that nobody waits for are still to come.
    Left,
}

/// A transaction.
#[derive(Debug, Clone)]
pub struct Transaction {
    /// The request.
    pub request: BridgeRequest,
    /// The class by which it has its entry.
    pub class: usize,
    /// Input where it came.
    pub port: usize,
    /// Its number among the posted requests of its source and link, if it is one.
    pub number: u64,
    /// Posted requests that it waits for, if it is a FLUSH.
    pub covered: CoveredRequests,
    /// How far it is.
    pub progress: TransactionProgress,
    /// Where it stands among others.
    pub key: OrderKey,
    /// The status that is told, so far.
    pub status: Status,
    /// What is done to its lines.
    pub children: Vec<Child>,
    /// Write buffers that it holds.
    pub buffers: usize,
    /// What it was converted to, to be kept when it has sent something; `None`: it is not kept.
    pub conversion: Option<(TemplateKey, Template)>,
    /// Its conversion was found.
    pub is_templated: bool,
    /// A message has left for it that takes a conversion.
    pub is_converted: bool,
    /// What comes for it from CXL.io.
    pub exchange: Option<IoExchange>,
    /// It may begin but for its turn among the requests of class IO of its source.
    pub waits_turn: bool,
    /// Bit n: line n was answered by itself.
    pub answered_beats: u8,
}

impl Transaction {
    /// Whether every child has ended.
    pub fn is_done(&self) -> bool {
        self.children.iter().all(|child| child.is_done)
    }

    /// Lines of a read that have ended and can be answered by themselves from here on. The last one is left: with it the request ends.
    pub fn new_beats(&mut self) -> impl Iterator<Item = u8> + use<> {
        let is_read = self.request.access == AccessKind::Read && self.request.action != CommandAction::Ended;
        let ended = self.children.iter().enumerate().map(|(n, child)| u8::from(child.is_done && is_read) << n);
        let mut new = ended.sum::<u8>() & !self.answered_beats;
        let left = self.children.len() - self.answered_beats.count_ones() as usize;
        if new.count_ones() as usize == left && new != 0 {
            new &= !(1 << new.ilog2());
        }
        self.answered_beats |= new;
        (0..u8::BITS as u8).filter(move |n| new >> n & 1 == 1)
    }

    /// What its response has when all children have ended: all lines, or the one that was not answered by itself.
    pub fn last_beats(&self) -> AnsweredBeats {
        let left = (0..self.children.len() as u8).find(|n| self.answered_beats >> n & 1 == 0);
        match left {
            Some(number) if self.answered_beats != 0 => AnsweredBeats::One { number, is_last: true },
            _ => AnsweredBeats::All,
        }
    }

    /// Whether an answer from CXL is still to come.
    pub fn awaits_any(&self) -> bool {
        self.children.iter().any(|child| child.awaited.any())
    }
}

/// Answers that are still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct AwaitedAnswers {
    /// S2M NDR, or H2D Rsp.
    pub completion: bool,
    /// S2M DRS, or H2D Data.
    pub data: bool,
    /// BIConflictAck.
    pub ack: bool,
    /// An access to the memory of the cache.
    pub access: bool,
    /// Room in the link for data that a host has pulled.
    pub buffer: bool,
}

impl AwaitedAnswers {
    /// Whether there is one.
    pub fn any(self) -> bool {
        self.completion || self.data || self.ack || self.access || self.buffer
    }
}

/// What the cache says of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheVerdict {
    /// Its sector is there.
    Hit,
    /// It is not, and enters.
    Miss,
    /// It is not, and does not enter.
    Bypass,
}

/// How far a line is that the cache serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CachedStage {
    /// Its sector is looked for, or a way is not free yet.
    Looked,
    /// It is asked for on CXL.
    Asked,
    /// Its bytes are read or stored.
    Accessed,
    /// It is stored, and is to be written through.
    Stored,
    /// Its bytes are read in vain: they are lost, and it is asked for again.
    Damaged,
}

/// What is done to one line.
#[derive(Debug, Clone)]
pub struct Child {
    /// CXL port.
    pub port: usize,
    /// The line there.
    pub line: LineAddr,
    /// What its window is.
    pub class: WindowClass,
    /// What is done.
    pub operation: LineOperation,
    /// Bytes that are written.
    pub mask: u64,
    /// Bytes to write, or operands.
    pub data: CacheLine,
    /// What is computed, of an atomic.
    pub atomic: Option<LineAtomic>,
    /// What is sent; empty for a line without an enabled byte.
    pub steps: &'static [FlowStep],
    /// The step that is under way.
    pub step: usize,
    /// What there is of the line of a host.
    pub host: HostLine,
    /// What is still to come for it.
    pub awaited: AwaitedAnswers,
    /// The line as it was read.
    pub read: Option<CacheLine>,
    /// What goes back, of an atomic.
    pub before: Option<LineBytes>,
    /// Why it ends without its remaining steps.
    pub failed: Option<Status>,
    /// It has ended; answers may still be to come if it was given up.
    pub is_done: bool,
    /// It holds a buffer for what it writes.
    pub has_buffer: bool,
    /// When it got on last, as a number among those of all children.
    pub advances: u64,
    /// What the cache has said of it; `None`: nobody has asked it.
    pub verdict: Option<CacheVerdict>,
    /// How far it is in the cache; `None`: it passes by.
    pub cached: Option<CachedStage>,
    /// The state that the answer of a device grants.
    pub granted: SectorState,
    /// It waits for a way of the cache or for a buffer of write backs.
    pub waits_for_room: bool,
    /// How often that had moved for which it, or the holder of its line, waits when its time was last counted anew.
    pub room_moves: Option<RoomMoves>,
    /// Of class IO: it holds its line, and its request sends when all of them do.
    pub is_held: bool,
}

impl Child {
    /// Whether a read that comes now may take what this one brings (`bridge` §3.4: "no order conflict"). Where a device keeps lines coherent
    /// and the bridge takes no copy, the device may have served this one before a store that the other one has to see: whoever has seen
    /// that a flag is set would get the data from before. An exploration of two accelerators finds it. A host takes a line even while it is
    /// read, and then nobody else gets what was read of it.
    pub fn may_be_joined(&self) -> bool {
        // Reads of CXL.io may have effects, so each has its own.
        if self.class == WindowClass::Io {
            return false;
        }
        let takes_a_copy = self.cached.is_some();
        self.class == WindowClass::Mn || takes_a_copy && !self.host.is_snooped || !self.awaited.any()
    }

    /// The line that goes back to the one who asks.
    pub fn answered(&self) -> CacheLine {
        let read = self.read.unwrap_or(CacheLine::of([0; 64]));
        self.before.map_or(read, |bytes| CacheLine { bytes, poison: read.poison })
    }

    /// The line that the second step of a write sends, or that the only one does.
    pub fn written(&mut self) -> CacheLine {
        let Some(old) = self.read else { return self.data };
        let mut line = old;
        match self.atomic {
            // What is computed from bytes that are known to be wrong would hide it.
            Some(_) if old.poison => self.before = Some(old.bytes),
            Some(atomic) => {
                let (bytes, before) = atomic.apply(&old.bytes, &self.data.bytes);
                (line.bytes, self.before) = (bytes, Some(before));
                line.poison = self.data.poison;
            }
            None => scalepool_coherence::content::LineContent::merge(&mut line, &self.data, self.mask),
        }
        line
    }
}
