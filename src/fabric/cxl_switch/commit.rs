//! Commit of a table that software writes: CacheID route tables and decoders, BI route tables (`fabric` CID-4, BIR-2).
//!
//! The handshake of one table; [`committing`](super::committing) has those of a running switch.
//!
//! Modelled: the handshake, write 1 and poll Committed or Error, its time limit, and which table is in use meanwhile. Detail:
//! times in one unit of the caller. Left out: the registers around it.
//!
//! A walk: software writes a table and begins the commit. The previous table stays in use until the hardware has taken the new
//! one in time, which is then Committed; a table that is refused, or not taken within the limit, ends as Error and is not used.

/// The limit of a commit: base x 10^scale microseconds (`fabric` CID-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitLimit {
    /// Base, 4 bits.
    pub base: u8,
    /// Code of the scale, 0 to 7.
    pub scale: u8,
}

/// A limit that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "found base {base} and scale code {scale} of a commit limit, expected a base of 0 to 15 and a code of 0 to 7 (fabric CID-4)"
)]
pub struct CommitLimitError {
    base: u8,
    scale: u8,
}

impl CommitLimit {
    /// The limit \[us\].
    ///
    /// # Errors
    /// The base has more than 4 bits, or the code of the scale is above 7.
    pub fn micros(self) -> Result<u64, CommitLimitError> {
        let CommitLimit { base, scale } = self;
        if base > 15 || scale > 7 {
            return Err(CommitLimitError { base, scale });
        }
        Ok(u64::from(base) * 10u64.pow(scale.into()))
    }
}

/// What software reads while it polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitStatus {
    /// Nothing has been committed.
    Idle,
    /// Neither Committed nor Error yet.
    Pending,
    /// Committed: the table is in use.
    Committed,
    /// Error: the table is not in use.
    Error,
}

/// A table with its commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedTable<T> {
    in_use: Option<T>,
    /// With the last time at which it can be taken.
    pending: Option<(T, u64)>,
    status: CommitStatus,
    limit: u64,
}

impl<T> CommittedTable<T> {
    /// No table; a commit may take up to the limit.
    pub fn new(limit: u64) -> CommittedTable<T> {
        CommittedTable { in_use: None, pending: None, status: CommitStatus::Idle, limit }
    }

    /// What the last poll has seen, or the last commit has ended with.
    pub fn status(&self) -> CommitStatus {
        self.status
    }

    /// Software begins the commit of a table; one that was pending is given up.
    pub fn begin(&mut self, table: T, now: u64) {
        self.pending = Some((table, now.saturating_add(self.limit)));
        self.status = CommitStatus::Pending;
    }

    /// The hardware is done with the pending table: it takes it, or refuses it.
    pub fn finish(&mut self, is_taken: bool, now: u64) {
        if self.poll(now) != CommitStatus::Pending {
            return;
        }
        let table = self.pending.take().map(|(table, _)| table).filter(|_| is_taken);
        self.status = if table.is_some() { CommitStatus::Committed } else { CommitStatus::Error };
        self.in_use = table.or_else(|| self.in_use.take());
    }

    /// What software reads now; a commit whose limit is over has ended as an error.
    pub fn poll(&mut self, now: u64) -> CommitStatus {
        if self.pending.as_ref().is_some_and(|(_, until)| now > *until) {
            self.pending = None;
            self.status = CommitStatus::Error;
        }
        self.status
    }

    /// The table that messages are routed by: the last one that was committed.
    pub fn in_use(&self) -> Option<&T> {
        self.in_use.as_ref()
    }
}
