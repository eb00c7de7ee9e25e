//! Tables of a running switch that software commits while messages pass (`fabric` CID-4, HDM-2).
//!
//! Modelled: when software begins each commit, how long the switch takes, its limit, and that a table is used from its commit on and not
//! before: requests find no decoder (`fabric` CMR-4), messages of CXL.cache no entry (`fabric` CID-3). Detail: whole tables. Left out: the
//! registers; a second table in the place of one that is in use, as the tables of a description are its only ones; tables that the hardware
//! refuses, as descriptions with such tables are.
//!
//! A walk: at its time a commit begins, and the status is Pending. When the switch has taken the table within the limit the status is
//! Committed and messages are routed by it; else it is Error when the limit is over, and the table is never used.

use super::command::ManagerEvent;
use super::commit::{CommitStatus, CommittedTable};
use scalepool_ordered::OrderedSet;

/// A table of a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// The HDM decoders of the upstream port.
    Hdm,
    /// CacheIDs: the table of the upstream port with the decoders of the ports below.
    CacheId,
}

/// The commit of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableCommit {
    /// The hierarchy.
    pub vcs: usize,
    /// The table.
    pub kind: TableKind,
    /// Cycle in which software begins it.
    pub at_cycle: u64,
    /// Time that the switch takes \[cycles\].
    pub takes_cycles: u64,
    /// Time after which it has failed \[cycles\].
    pub limit_cycles: u64,
}

impl TableCommit {
    /// The cycle in which the switch has taken the table.
    const fn taken_at(&self) -> u64 {
        self.at_cycle.saturating_add(self.takes_cycles)
    }

    /// The first cycle behind the limit.
    const fn over_at(&self) -> u64 {
        self.at_cycle.saturating_add(self.limit_cycles).saturating_add(1)
    }
}

/// The commits of a switch.
#[derive(Debug, Clone, Default)]
pub(super) struct Committing {
    commits: Vec<(TableCommit, CommittedTable<()>)>,
}

impl Committing {
    /// Tables that are not in use before their commit.
    pub fn new(commits: Vec<TableCommit>) -> Committing {
        let table = |one: TableCommit| (one, CommittedTable::new(one.limit_cycles));
        Committing { commits: commits.into_iter().map(table).collect() }
    }

    /// Tables that are not in use.
    pub fn uncommitted(&self) -> OrderedSet<(usize, TableKind)> {
        let open = self.commits.iter().filter(|(_, table)| table.in_use().is_none());
        open.map(|(one, _)| (one.vcs, one.kind)).collect()
    }

    /// Whether a table may be used.
    pub fn is_in_use(&self, vcs: usize, kind: TableKind) -> bool {
        let own = self.commits.iter().find(|(one, _)| (one.vcs, one.kind) == (vcs, kind));
        own.is_none_or(|(_, table)| table.in_use().is_some())
    }

    /// The next commit that has ended by a cycle.
    pub fn due(&mut self, cycle: u64) -> Option<ManagerEvent> {
        self.commits.iter_mut().find_map(|(one, table)| {
            if table.status() == CommitStatus::Idle && one.at_cycle <= cycle {
                table.begin((), one.at_cycle);
            }
            if table.status() != CommitStatus::Pending {
                return None;
            }
            if one.taken_at() <= cycle && one.taken_at() < one.over_at() {
                table.finish(true, one.taken_at());
                return Some(ManagerEvent::Committed(one.vcs, one.kind));
            }
            (table.poll(cycle) == CommitStatus::Error).then_some(ManagerEvent::CommitFailed(one.vcs, one.kind))
        })
    }

    /// The next cycle in which one begins or ends.
    pub fn next_cycle(&self) -> Option<u64> {
        let next = |(one, table): &(TableCommit, CommittedTable<()>)| match table.status() {
            CommitStatus::Idle => Some(one.at_cycle),
            CommitStatus::Pending => Some(one.taken_at().min(one.over_at())),
            CommitStatus::Committed | CommitStatus::Error => None,
        };
        self.commits.iter().filter_map(next).min()
    }
}
