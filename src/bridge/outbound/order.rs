//! Which request waits for which (`bridge` §6.2).
//!
//! Modelled: O1, requests of one source, virtual channel and block of 256 bytes take effect one after the other; O3, strict, those of a
//! source. All others are free (O2). Left out: lines that are acquired early for requests that wait (`strict_prefetch`). A walk: a read and a write of one block by one source; the write waits until the read is performed.

use super::request::BridgeRequest;
use crate::lines::BLOCK_BYTES;
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

/// What stays in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BridgeOrder {
    /// Requests of one source, virtual channel and block.
    Blocks,
    /// All requests of a source.
    Sources,
}

/// Requests with the same key take effect one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderKey {
    source: u16,
    /// Virtual channel and block; `None`: all.
    block: Option<(u8, u64)>,
}

impl OrderKey {
    /// Of a request.
    pub fn of(order: BridgeOrder, request: &BridgeRequest) -> OrderKey {
        let block = (order == BridgeOrder::Blocks).then_some((request.class, request.address / BLOCK_BYTES));
        OrderKey { source: request.source, block }
    }
}

impl OrderKey {
    /// The same of another source.
    #[must_use]
    pub fn renamed(self, name: impl Fn(u16) -> u16) -> OrderKey {
        OrderKey { source: name(self.source), ..self }
    }
}

/// Requests by their keys; the first of each is active.
#[derive(Debug, Clone, Default, Hash)]
pub struct OrderQueues(OrderedMap<OrderKey, VecDeque<u16>>);

impl OrderQueues {
    /// Whether no request has a place.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same with sources renamed.
    #[must_use]
    pub fn renamed(&self, name: impl Fn(u16) -> u16) -> OrderQueues {
        OrderQueues(self.0.iter().map(|(key, queue)| (key.renamed(&name), queue.clone())).collect())
    }

    /// Adds a request; the one that it waits for, if it is not the first of its key.
    pub fn add(&mut self, key: OrderKey, entry: u16) -> Option<u16> {
        let queue = self.0.entry(key).or_default();
        queue.push_back(entry);
        (queue.len() > 1).then(|| queue[queue.len() - 2])
    }

    /// The active request of a key is performed; the one that is active now.
    pub fn performed(&mut self, key: OrderKey) -> Option<u16> {
        let queue = self.0.get_mut(&key)?;
        queue.pop_front();
        let next = queue.front().copied();
        if next.is_none() {
            self.0.remove(&key);
        }
        next
    }
}
