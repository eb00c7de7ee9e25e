//! TLPs that wait, in the order in which they may leave.
//!
//! Modelled: the oldest goes first; where it cannot, a later one may pass it and all others in front of it as the policy says
//! ([`IoOrder`]). So nothing posted and no answer waits for a request that cannot move.

use super::order::IoOrder;
use super::tlp::{IoCreditClass, IoTlp};
use scalepool_protocols::cxl::cxlio::order::TlpOrder;
use std::collections::VecDeque;

/// TLPs in the order of their arrival.
#[derive(Debug, Clone, Default)]
pub struct Queues {
    order: IoOrder,
    waiting: VecDeque<(TlpOrder, IoTlp)>,
    /// By [`IoCreditClass::index`].
    counts: [usize; 3],
}

impl Queues {
    /// Nothing, with a policy.
    pub fn new(order: IoOrder) -> Queues {
        Queues { order, ..Queues::default() }
    }

    /// Puts a TLP behind all others.
    pub fn push(&mut self, tlp: IoTlp) {
        self.counts[tlp.kind().index()] += 1;
        self.waiting.push_back((tlp.order(), tlp));
    }

    /// TLPs of a kind.
    pub fn len(&self, kind: IoCreditClass) -> usize {
        self.counts[kind.index()]
    }

    /// TLPs of all kinds.
    pub fn count(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The TLP at a place, 0 the oldest.
    pub fn tlp(&self, n: usize) -> Option<&IoTlp> {
        self.waiting.get(n).map(|(_, tlp)| tlp)
    }

    /// What the order of the TLP at a place depends on.
    pub fn order(&self, n: usize) -> Option<&TlpOrder> {
        self.waiting.get(n).map(|(order, _)| order)
    }

    /// Data credits that the TLPs of a kind take together.
    pub fn data_credits(&self, kind: IoCreditClass) -> u64 {
        let of_kind = self.waiting.iter().filter(|(_, tlp)| tlp.kind() == kind);
        of_kind.map(|(_, tlp)| u64::from(tlp.data_credits())).sum()
    }

    /// Place of the oldest TLP that may leave and that `fits`.
    pub fn next(&self, fits: impl Fn(&IoTlp) -> bool) -> Option<usize> {
        // What holds a TLP is mostly near in front of it: behind a long row of requests, looking from its end finds that at once.
        let passes = |later, n| self.waiting.range(..n).rev().all(|(earlier, _)| (self.order.passes)(later, earlier));
        let mut places = self.waiting.iter().enumerate();
        places.find(|(n, (order, tlp))| fits(tlp) && passes(order, *n)).map(|(n, _)| n)
    }

    /// Takes that TLP.
    pub fn pop(&mut self, fits: impl Fn(&IoTlp) -> bool) -> Option<IoTlp> {
        let n = self.next(fits)?;
        self.take(n)
    }

    /// Takes the TLP at a place.
    pub fn take(&mut self, n: usize) -> Option<IoTlp> {
        let (_, tlp) = self.waiting.remove(n)?;
        self.counts[tlp.kind().index()] -= 1;
        Some(tlp)
    }
}
