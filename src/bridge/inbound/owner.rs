//! Atomics that the outbound half asks of accelerators of the own cluster, on a clock (`bridge` §5.1).
//!
//! Modelled: one enters in a cycle, if there is an entry for it; it is a transaction as those of CXL.mem are; how it ends goes back to the
//! outbound half. Left out: the line, which the home keeps for it, see [`hairpin`](super::hairpin). A walk: an atomic has an entry and
//! passes the stages of requests; its accelerator is asked and answers; the old values leave for the outbound half.

use super::module::InboundModule;
use crate::hairpin::{OwnerAnswer, OwnerAtomic};
use crate::module::hairpin::handle;
use scalepool_kernel::{Cx, In, Out};
use scalepool_trace::{Body, Stamp, TransactionNaming, Wait};
use std::collections::VecDeque;

/// The channels to the outbound half.
pub struct OwnerPort {
    /// Atomics.
    pub rx: In<OwnerAtomic>,
    /// How they end.
    pub tx: Out<OwnerAnswer>,
    /// Number of the channels among links, for traces.
    pub link: u32,
}

/// The channels with what waits there.
pub(super) struct OwnerEntrance {
    pub(super) port: OwnerPort,
    /// Answers in the last stage, each with the cycle in which it may leave.
    pub(super) leaving: VecDeque<(u64, u16)>,
    /// A request of CXL.mem has entered since the last atomic.
    pub(super) is_next: bool,
}

impl InboundModule {
    /// Takes an atomic, if there is one and an entry for it, and requests have had their turn: whether it did.
    pub(super) fn enter_atomic(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let has_request = self.ports.iter().any(|port| port.rx.is_due(cx));
        let Some(owner) = &mut self.owner else { return false };
        if !self.bridge.has_room() || has_request && !owner.is_next {
            return false;
        }
        let Some(ask) = owner.port.rx.pop(cx) else { return false };
        owner.is_next = false;
        let named = TransactionNaming::By(handle(owner.port.link, &ask));
        let Some(entry) = self.bridge.admit_atomic(ask) else { return false };
        let address = ask.line.address();
        self.begins(entry, named, at, || Body::Access { name: "atomic", address });
        cx.progress();
        true
    }

    /// The first answer leaves, if it is due and has room: whether it did.
    pub(super) fn answer_atomic(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let Some(OwnerEntrance { port, leaving, .. }) = &mut self.owner else { return false };
        let Some(&(_, entry)) = leaving.front().filter(|(due, _)| *due <= at.cycle) else { return false };
        let Some(answer) = self.bridge.owner_answer(entry) else { return false };
        if port.tx.push(cx, answer).is_err() {
            self.show_wait(entry, Some((Wait::Link, 0)), at);
            return false;
        }
        leaving.pop_front();
        self.show_wait(entry, None, at);
        self.end(entry, at, || Body::None);
        cx.progress();
        true
    }
}

impl OwnerEntrance {
    /// With nothing under way.
    pub(super) fn new(port: OwnerPort) -> OwnerEntrance {
        OwnerEntrance { port, leaving: VecDeque::new(), is_next: true }
    }

    /// When it has something to do.
    pub(super) fn due(&self) -> Option<u64> {
        self.leaving.front().map(|(due, _)| *due)
    }
}
