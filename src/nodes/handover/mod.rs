//! Accelerators that hand buffers to each other: their bulk by XLink, their flags by CXL.cache (`bridge` §1.4, §2; choices c3 and c25).
//!
//! Modelled: each accelerator fills a buffer in the HBM of the next one by writes of 256 bytes on UALink or NVLink, round by round, and tells it by a
//! flag in memory of a host, which both cache by CXL.cache links of their own; the next one checks every byte of the buffer and says by a
//! second flag that it may be filled again. The flag of a round is stored when every write of it is answered with OKAY, or, on NVLink, where they are
//! posted, when the FLUSH behind them is answered: XLink and CXL keep no order
//! between each other, so nothing else says that the bulk is visible. Detail: whole transactions of XLink, messages of CXL.cache. Left
//! out: caches for data other than flags; compute.
//!
//! Instead of stamps the buffers can carry the partial sums of an all-reduce or a broadcast around the ring of accelerators
//! ([`collective`]), or these pass by coherent loads and stores of lines of the host, with nothing by XLink ([`exchange`]).
//!
//! An accelerator has two halves, [`bulk`] on XLink and [`flags`] on CXL.cache, beside each other on one clock; what one has to know of the
//! other lies on their [`HandoverDesk`].
//!
//! A walk through a round: the bulk half writes all blocks and gets all answers, or that of its FLUSH, so the round is given; the flag half stores its number, for
//! which the home takes the line back from the next accelerator; that one loads the line again and finds the number; its bulk half
//! reads its HBM and finds the round in each block; its flag half stores the number in the second line; the first accelerator loads it and goes on.

pub mod bulk;
pub mod collective;
pub mod exchange;
pub mod flags;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rounds that the halves of an accelerator have come to; rounds count from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandoverDesk {
    /// The last one whose flag may be stored.
    pub given: u64,
    /// The last one of its own that the next accelerator has checked, as its flag says.
    pub taken: u64,
    /// The last one of the accelerator before whose flag was seen.
    pub seen: u64,
    /// The last one of that which was checked.
    pub checked: u64,
}

impl HandoverDesk {
    /// Whether all of so many rounds are over on both sides.
    pub fn is_over(&self, rounds: u64) -> bool {
        self.taken == rounds && self.checked == rounds
    }
}

/// The desk between the halves of one accelerator, which are in one partition.
pub type SharedDesk = Arc<Mutex<HandoverDesk>>;

/// What lies on a desk.
fn on(desk: &SharedDesk) -> MutexGuard<'_, HandoverDesk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When the flag of a round is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagOrder {
    /// Behind the answers to all writes of its bulk, or to the FLUSH behind them.
    Behind,
    /// When the last write of its bulk has left, as by software that forgets to wait for answers or for a FLUSH: the reader may find old
    /// bulk where the flag is faster.
    Sent,
    /// When the first write of its bulk leaves, as by software that takes the order of its stores for that of their effects: the reader may
    /// find old bulk.
    First,
}
