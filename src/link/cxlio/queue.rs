//! TLPs that wait, in the order in which they may leave.
//!
//! Modelled, as PCI Express orders them \[C\]: the oldest goes first; where it cannot, a posted request may pass
//! everything but posted ones, a completion may pass non-posted requests (and posted ones with relaxed ordering), a
//! non-posted request passes completions alone. So nothing posted and no answer waits for a request that cannot move.

use super::tlp::{IoCreditClass, IoTlp};
use std::collections::VecDeque;

/// Three queues with one order.
#[derive(Debug, Clone, Default)]
pub struct Queues {
    queues: [VecDeque<(u64, IoTlp)>; 3],
    pushed: u64,
}

impl Queues {
    /// Puts a TLP behind all others.
    pub fn push(&mut self, tlp: IoTlp) {
        self.queues[tlp.kind().index()].push_back((self.pushed, tlp));
        self.pushed += 1;
    }

    /// TLPs of a kind.
    pub fn len(&self, kind: IoCreditClass) -> usize {
        self.queues[kind.index()].len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    /// Data credits that the TLPs of a kind take together.
    pub fn data_credits(&self, kind: IoCreditClass) -> u64 {
        self.queues[kind.index()].iter().map(|(_, tlp)| u64::from(tlp.data_credits())).sum()
    }

    /// The first of a kind, if no rule holds it behind an older one.
    fn head(&self, kind: IoCreditClass) -> Option<&(u64, IoTlp)> {
        let head = self.queues[kind.index()].front()?;
        let behind_posted = self.queues[IoCreditClass::Posted.index()].front().is_some_and(|older| older.0 < head.0);
        let may_pass = match kind {
            IoCreditClass::Posted => true,
            IoCreditClass::NonPosted => false,
            IoCreditClass::Completion => head.1.is_relaxed(),
        };
        (!behind_posted || may_pass).then_some(head)
    }

    /// Kind of the oldest TLP that may leave and that `fits`.
    pub fn next(&self, fits: impl Fn(&IoTlp) -> bool) -> Option<IoCreditClass> {
        let heads = IoCreditClass::ALL.into_iter().filter_map(|kind| Some((kind, self.head(kind)?)));
        heads.filter(|(_, head)| fits(&head.1)).map(|(kind, head)| (head.0, kind)).min().map(|(_, kind)| kind)
    }

    /// Takes that TLP.
    pub fn pop(&mut self, fits: impl Fn(&IoTlp) -> bool) -> Option<IoTlp> {
        let kind = self.next(fits)?;
        self.queues[kind.index()].pop_front().map(|(_, tlp)| tlp)
    }
}
