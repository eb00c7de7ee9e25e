//! Commit of a table that software writes: CacheID route tables and decoders, BI route tables (`fabric` CID-4, BIR-2).
//!
//! A reference for tests and RTL; no switch of a running system uses it yet. The tests of FAB-CID-04 judge this reference alone.
//!
//! Modelled: the handshake, write 1 and poll Committed or Error, its time limit, and which table is in use meanwhile. Detail:
//! times in microseconds of the caller. Left out: the registers around it; the tables of a running switch are committed before
//! it starts, as configuration software has it.
//!
//! A walk: software writes a table and begins the commit. The table of before stays in use until the hardware has taken the new
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
    pending: Option<(T, u64)>,
    status: CommitStatus,
    limit_us: u64,
}

impl<T> CommittedTable<T> {
    /// No table.
    ///
    /// # Errors
    /// See [`CommitLimit::micros`].
    pub fn new(limit: CommitLimit) -> Result<CommittedTable<T>, CommitLimitError> {
        Ok(CommittedTable { in_use: None, pending: None, status: CommitStatus::Idle, limit_us: limit.micros()? })
    }

    /// Software begins the commit of a table; one that was pending is given up.
    pub fn begin(&mut self, table: T, now_us: u64) {
        self.pending = Some((table, now_us.saturating_add(self.limit_us)));
        self.status = CommitStatus::Pending;
    }

    /// The hardware is done with the pending table: it takes it, or refuses it.
    pub fn finish(&mut self, is_taken: bool, now_us: u64) {
        if self.poll(now_us) != CommitStatus::Pending {
            return;
        }
        let table = self.pending.take().map(|(table, _)| table).filter(|_| is_taken);
        self.status = if table.is_some() { CommitStatus::Committed } else { CommitStatus::Error };
        self.in_use = table.or_else(|| self.in_use.take());
    }

    /// What software reads now; a commit whose limit is over has ended as an error.
    pub fn poll(&mut self, now_us: u64) -> CommitStatus {
        if self.pending.as_ref().is_some_and(|(_, until_us)| now_us > *until_us) {
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
