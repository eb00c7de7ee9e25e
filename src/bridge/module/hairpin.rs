//! Atomics on memory of the own cluster on a clock: the channels between the outbound and the inbound half.
//!
//! Modelled: one atomic leaves for the inbound half in a cycle, in the order in which their lines were held; its answer passes the stages of
//! answers. Left out: what the inbound half does with it, see [`inbound::owner`](crate::inbound::owner). A walk: the line is held, the
//! atomic is framed and leaves; its answer comes, is through the stages, and the line is given back.

use super::Bridge;
use crate::hairpin::{OwnerAnswer, OwnerAtomic};
use scalepool_kernel::{Cx, In, Out};
use scalepool_nodes::cxl::cxl_tag;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};
use std::collections::VecDeque;

/// The channels to the inbound half.
pub struct OwnerChannels {
    /// Atomics.
    pub asks: Out<OwnerAtomic>,
    /// How they end.
    pub answers: In<OwnerAnswer>,
    /// Number of the channels among links, for traces.
    pub link: u32,
    /// Where what passes between the outbound half and the home is shown.
    pub tap: Tap,
}

/// The channels with what waits there.
pub(super) struct OwnerState {
    channels: OwnerChannels,
    leaving: VecDeque<(u64, OwnerAtomic)>,
    /// Answers in the stages, each with the cycle in which it is through.
    answers: VecDeque<(u64, OwnerAnswer)>,
}

/// Class of what is asked, for the waits that are told.
const ATOMIC: &str = "atomic of the hairpin";

/// The name of an atomic in traces.
pub(crate) fn handle(link: u32, ask: &OwnerAtomic) -> TransactionHandle {
    cxl_tag(link, 0, 0, ask.child.tag())
}

impl OwnerState {
    pub(super) fn new(channels: OwnerChannels) -> OwnerState {
        OwnerState { channels, leaving: VecDeque::new(), answers: VecDeque::new() }
    }

    /// Where what passes between the outbound half and the home is shown.
    pub(super) fn tap(&mut self) -> &mut Tap {
        &mut self.channels.tap
    }

    /// Whether an answer waits to be taken.
    pub(super) fn is_due(&self, cx: &Cx) -> bool {
        self.channels.answers.is_due(cx)
    }

    /// When it has something to do.
    pub(super) fn due(&self) -> impl Iterator<Item = u64> {
        let leaving = self.leaving.front().map(|(due, _)| *due);
        leaving.into_iter().chain(self.answers.front().map(|(due, _)| *due))
    }
}

impl Bridge {
    /// Answers of accelerators enter, and those that are through the stages take effect.
    pub(super) fn take_owner_answers(&mut self, cx: &mut Cx, at: Stamp) {
        let due = at.cycle + self.config.timing.answer_cycles();
        let Some(state) = &mut self.owner else { return };
        while let Some(answer) = state.channels.answers.pop(cx) {
            let traced = &self.traced[usize::from(answer.child.entry)];
            state.channels.tap.wait(at, traced.children[usize::from(answer.child.child)], Wait::Stage, 0);
            state.answers.push_back((due, answer));
        }
        while let Some(state) = &mut self.owner
            && state.answers.front().is_some_and(|(due, _)| *due <= at.cycle)
            && let Some((_, answer)) = state.answers.pop_front()
        {
            self.bridge.receive_owner(answer, &mut self.out);
            self.follow(at);
            cx.progress();
        }
    }

    /// An atomic is made: it leaves behind those before it.
    pub(super) fn frame_owner(&mut self, ask: OwnerAtomic, at: Stamp) {
        let due = at.cycle + self.config.timing.frame_cycles;
        if let Some(state) = &mut self.owner {
            state.leaving.push_back((due, ask));
        }
    }

    /// The first atomic leaves, if it is due and has room: whether it did.
    pub(super) fn send_owner(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let Some(state) = &mut self.owner else { return false };
        let Some(&(_, ask)) = state.leaving.front().filter(|(due, _)| *due <= at.cycle) else { return false };
        let child = ask.child;
        if state.channels.asks.push(cx, ask).is_err() {
            self.show_wait(child.entry, Some((Wait::Link, 0)), at);
            return false;
        }
        state.leaving.pop_front();
        let named = TransactionNaming::As(handle(state.channels.link, &ask));
        let id = self.traced[usize::from(child.entry)].children[usize::from(child.child)];
        state.channels.tap.named(named, at, RecordKind::Mark, id, 0, || Body::Mark(ATOMIC));
        cx.progress();
        true
    }
}
