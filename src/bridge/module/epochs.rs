//! When the windows of a bridge change while it runs (`bridge` §2).
//!
//! Modelled: commits of new windows and rights at given cycles, or by software; one at a given cycle that comes while another one waits follows
//! behind it, and takes the place of what software has written and not committed. Left out: writes of the former to shadow tables in traffic,
//! which nobody sees: they are there when they are committed. A walk: a commit is due in cycle 500; three requests have
//! an entry, so the request in front of each input waits with the reason of an epoch; the last response leaves in cycle 700, the mark of the new
//! epoch stands in the trace, and in the next cycle a request enters.

use super::Bridge;
use crate::outbound::epoch::CommitOutcome;
use crate::window::BridgeWindows;
use scalepool_trace::{Body, RecordKind, Stamp};

/// New windows, and when they are committed.
#[derive(Debug, Clone)]
pub struct TimedCommit {
    /// Cycle of the bridge.
    pub at_cycle: u64,
    /// The windows with rights and groups of sources.
    pub windows: BridgeWindows,
}

/// What a bridge counts of epochs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EpochCounts {
    /// Commits that are done.
    pub commits: u64,
    /// Cycles from when commits were due to when their epoch began.
    pub commit_cycles: u64,
}

impl Bridge {
    /// Commits what is due, one at a time.
    pub(super) fn commit_windows(&mut self, at: Stamp) {
        while self.commits.front().is_some_and(|commit| commit.at_cycle <= at.cycle) && !self.bridge.is_committing() {
            let Some(TimedCommit { at_cycle, windows }) = self.commits.pop_front() else { return };
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark("commit"));
            self.commit_since = Some(at_cycle);
            self.bridge.write_shadow(windows);
            if self.bridge.commit() == CommitOutcome::Done {
                self.show_epoch(at);
            }
        }
    }

    /// Says that software has committed by the registers, and that a new epoch has begun, if one has since it was last said.
    pub(super) fn show_epoch(&mut self, at: Stamp) {
        if self.bridge.is_committing() && self.commit_since.is_none() {
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark("commit"));
            self.commit_since = Some(at.cycle);
        }
        let counts = &mut self.mine.epochs;
        if self.bridge.epoch() > counts.commits {
            counts.commits = self.bridge.epoch();
            counts.commit_cycles += at.cycle - self.commit_since.take().unwrap_or(at.cycle);
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark("epoch"));
        }
    }
}
