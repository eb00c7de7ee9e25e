//! Windows, groups and rights change by epochs (`bridge` §2).
//!
//! Modelled: software writes shadow tables, which nobody looks at, and commits them, by the [registers](crate::registers::tables) or all at once; requests that have an entry end under the old tables,
//! those that come meanwhile wait in front of the table of transactions; then the shadow tables are those of the next epoch, whose number is one more.
//! A request that was given up and answered is no longer under way, though its late answer is. Left out: the lines of the cache, which lie under
//! CXL addresses and stay: whoever leads an address to another line, or to the same one by another port, flushes before.
//!
//! A walk: a read is under way; a window is moved in the shadow tables and committed; another read comes and waits; the first one is
//! answered from the old place; the epoch is 1, and the second read is sent to the new place.

use super::OutboundBridge;
use super::transaction::TransactionProgress;
use crate::registers::tables::CommitRefusal;
use crate::window::BridgeWindows;
use scalepool_protocols::bridge::BridgeCommitFault;

/// What a commit has to keep as it is if there is a cache of lines and nothing flushes it before.
pub const SAME_PORT: &str = "the same one: the cache keeps lines by their ports, and nothing flushes it before";

/// Tables of an epoch that is to come.
#[derive(Debug, Clone, Default)]
pub(super) struct EpochTables {
    /// Commits that are done: the number of the epoch.
    number: u64,
    /// What software has written and not committed.
    shadow: Option<BridgeWindows>,
    /// What was committed, as long as requests of the old epoch are under way.
    committed: Option<BridgeWindows>,
}

/// What becomes of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitOutcome {
    /// Nothing was under way: the new epoch has begun.
    Done,
    /// It waits for requests of the old epoch.
    Waits,
    /// It is refused and changes nothing: an earlier one waits, or nothing was written to the shadow tables.
    Refused,
}

impl OutboundBridge {
    /// Number of the epoch, from 0.
    pub fn epoch(&self) -> u64 {
        self.epochs.number
    }

    /// Whether a commit waits for requests of the old epoch.
    pub fn is_committing(&self) -> bool {
        self.epochs.committed.is_some()
    }

    /// Writes the shadow tables: nothing changes before they are committed. While a commit waits, they are those of the next one.
    pub fn write_shadow(&mut self, windows: BridgeWindows) {
        if let Some(registers) = &mut self.registers {
            registers.show_tables(&windows);
        }
        self.epochs.shadow = Some(windows);
    }

    /// Commits the shadow tables that stand in the registers; what cannot be changes nothing, and the registers say why.
    pub(super) fn commit_registers(&mut self) {
        let (Some(registers), Some(window)) = (&self.registers, self.config.control) else { return };
        let busy = CommitRefusal { fault: BridgeCommitFault::Busy, at: 0 };
        let tables = (!self.is_committing()).then(|| registers.tables(self.config.windows.limits(), window));
        let refusal = match tables.unwrap_or(Err(busy)) {
            Ok(windows) => {
                self.epochs.shadow = Some(windows);
                self.commit();
                None
            }
            Err(refusal) => Some(refusal),
        };
        if let Some(registers) = &mut self.registers {
            registers.committed(refusal);
        }
    }

    /// Commits the shadow tables.
    pub fn commit(&mut self) -> CommitOutcome {
        if self.is_committing() {
            return CommitOutcome::Refused;
        }
        let Some(windows) = self.epochs.shadow.take() else { return CommitOutcome::Refused };
        self.epochs.committed = Some(windows);
        self.end_epoch();
        if self.is_committing() { CommitOutcome::Waits } else { CommitOutcome::Done }
    }

    /// The next epoch begins if one is committed and nothing of the old one is under way: no request, and no operation of the registers,
    /// whose range is one of addresses under the old tables.
    pub(super) fn end_epoch(&mut self) {
        if !self.is_committing() || self.managed.is_some() {
            return;
        }
        if self.table.all().any(|transaction| transaction.progress != TransactionProgress::Left) {
            return;
        }
        if let Some(windows) = self.epochs.committed.take() {
            self.config.windows = windows;
            self.epochs.number += 1;
        }
    }
}
