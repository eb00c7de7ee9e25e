//! Figures of the replay machine, and what it waits for, at an end and at the watcher of one.

use super::{Replay, ReplayStats};
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, figures, states};
use crate::hook::Direction;
use scalepool_protocols::ualink::sequence;

impl<P> Replay<P> {
    /// Place of its state in [`states::UALINK`].
    pub fn health_state(&self) -> usize {
        match () {
            () if self.is_waiting() => states::RETRY_WAITS,
            () if self.is_replaying() => states::RETRY_REPLAYS,
            () => states::RETRY_NORMAL,
        }
    }

    /// Fills the figures of what has come and of the numbers; `all` is counted since the start.
    pub fn fill_health(&self, all: &ReplayStats, health: &mut LinkHealth) {
        health.number(&figures::NEXT_NUMBER, sequence::next(self.last_given()));
        health.number(&figures::EXPECTED_NUMBER, sequence::next(self.last_taken()));
        health.number(&figures::ACKNOWLEDGED_NUMBER, self.last_acknowledged());
        health.number(&figures::UNACKNOWLEDGED_FLITS, self.unacknowledged() as u64);
        health.number(&figures::NAKS_RECEIVED, all.requests_heard);
        health.number(&figures::DUPLICATE_FLITS, all.duplicates);
        health.number(&figures::DISCARDED_FLITS, all.dropped - all.duplicates);
    }

    /// Tells what it waits for from the peer.
    pub fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let mut wait = |kind, waiting: u64, progress: u64| {
            each(LinkWait { kind, by: Direction::Rx, channel: "", waiting, is_passed: false, progress });
        };
        if self.unacknowledged() > 0 {
            wait(WaitKind::Acknowledgement, self.unacknowledged() as u64, self.last_acknowledged().into());
        }
        if self.is_waiting() {
            let due = sequence::next(self.last_taken()).into();
            wait(WaitKind::Replay, due, due);
        }
    }
}
