//! The table of inbound transactions: their entries, which are the tags of requests to accelerators (`bridge` §7).
//!
//! Modelled: entries that stay taken until an answer that nobody waits for any more has come; how full the table is, as hosts are told.
//! Left out: what an entry is for. A walk: a request of a host gets an entry; its accelerator does not answer in time, so the host gets
//! its answer and the entry stays taken; the late answer comes, and it is free.

use super::cached::CacheUse;
use super::convert::InboundRow;
use super::poison::AcceleratorLine;
use crate::hairpin::{OwnerAnswer, OwnerAtomic};
use crate::window::InboundClass;
use scalepool_coherence::content::CacheLine;
use scalepool_coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::DevLoad;
use scalepool_protocols::cxl::message::PeerRoute;
use std::collections::VecDeque;

/// Most entries: tags of NVLink have 10 bits (`bridge` §7).
pub const MOST_INBOUND: usize = 1024;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InboundSource {
    /// Target port of the bridge.
    pub port: usize,
    /// SPID where the link routes by ports, else LD-ID: what groups of sources are made of.
    pub id: u16,
    /// How the answer finds its way.
    pub route: PeerRoute,
    /// Traffic class, which is the virtual channel.
    pub traffic_class: u8,
    /// To windows of which class its port leads.
    pub class: InboundClass,
}

/// How far a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboundProgress {
    /// In the stages.
    Admitted,
    /// Behind others on its line.
    Waiting,
    /// Its request is under way to the accelerator, or about to leave.
    Asked,
    /// Its answer is made.
    Answered,
    /// Its answer has left.
    Left,
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboundReply {
    /// A message, to CXL or to the home.
    Message(Msg<CacheLine>),
    /// How an atomic has ended, to the outbound half.
    Owner(OwnerAnswer),
}

/// A transaction.
#[derive(Debug, Clone)]
pub struct InboundTransaction {
    /// Its message; of an atomic of the hairpin, one that carries its operands.
    pub msg: Msg<CacheLine>,
    /// The atomic, if it is one of the hairpin.
    pub atomic: Option<OwnerAtomic>,
    /// Who asks.
    pub source: InboundSource,
    /// What becomes of the message.
    pub row: InboundRow,
    /// Where its line lies, if it was looked up and there is one.
    pub place: Option<AcceleratorLine>,
    /// How far it is.
    pub progress: InboundProgress,
    /// What the cache is to it.
    pub cache: CacheUse,
    /// The accelerator has not answered.
    pub awaits_accelerator: bool,
    /// Its answer, if there is one.
    pub answer: Option<InboundReply>,
    /// Which time it has last got on, of all times that transactions have.
    pub advances: u64,
}

/// Entries.
#[derive(Debug, Clone)]
pub struct InboundTable {
    entries: Vec<Option<Box<InboundTransaction>>>,
    /// The one that came back last is taken last, so that a late answer is seen.
    free: VecDeque<u16>,
}

/// From how many hundredths of the table on a load is optimal, moderate, severe (`bridge` §7).
const LOADS_PERCENT: [usize; 3] = [50, 75, 90];

impl InboundTable {
    /// A table of so many entries without transactions.
    pub fn new(entries: usize) -> InboundTable {
        InboundTable { entries: (0..entries).map(|_| None).collect(), free: (0..entries as u16).collect() }
    }

    /// Whether there is a free entry.
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Gives a transaction an entry; `None`: there is no room.
    pub fn insert(&mut self, transaction: InboundTransaction) -> Option<u16> {
        let entry = self.free.pop_front()?;
        self.entries[usize::from(entry)] = Some(Box::new(transaction));
        Some(entry)
    }

    /// A transaction.
    pub fn get(&self, entry: u16) -> Option<&InboundTransaction> {
        self.entries.get(usize::from(entry))?.as_deref()
    }

    /// A transaction, to change it.
    pub fn get_mut(&mut self, entry: u16) -> Option<&mut InboundTransaction> {
        self.entries.get_mut(usize::from(entry))?.as_deref_mut()
    }

    /// Frees an entry.
    pub fn remove(&mut self, entry: u16) {
        if self.entries.get_mut(usize::from(entry)).and_then(Option::take).is_some() {
            self.free.push_back(entry);
        }
    }

    /// Entries in use.
    pub fn count(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// The load that hosts are told.
    pub fn load(&self) -> DevLoad {
        let (used, all) = (self.count(), self.entries.len());
        DevLoad(LOADS_PERCENT.iter().filter(|percent| 100 * used >= **percent * all).count() as u8)
    }
}
