//! Link layer retry (`cxl-68b` section 7): the retry buffer and the two state machines.
//!
//! Modelled: every row of the LRSM and RRSM tables, the buffer with its pointers, all counters. Detail: by flit. Left out:
//! what a flit holds; when something is sent is decided in [`super::end`].
//!
//! A walk through one error: a bad flit in NORMAL leads to LLRREQ; when the Req sequence has left, LOCAL_IDLE waits for
//! the Ack sequence with the same NUM_RETRY and counts every flit sent until then; the Ack leads back to NORMAL and the
//! next flit is number ESeq. At the peer the Req sequence leads to LLRACK, which ends when the Ack sequence has left; the
//! read pointer then walks through the buffer until it meets the write pointer.

use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

/// State of the local retry state machine (LRSM).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Local {
    /// RETRY_LOCAL_NORMAL.
    Normal,
    /// RETRY_LLRREQ: a Req sequence is due.
    LlrReq,
    /// RETRY_LOCAL_IDLE: the Ack sequence is awaited.
    LocalIdle,
    /// RETRY_PHY_REINIT: the physical layer trains.
    PhyReinit,
    /// RETRY_ABORT: the link has failed.
    Abort,
}

impl Local {
    /// All states, in order of the sheet.
    pub const ALL: [Local; 5] = [Local::Normal, Local::LlrReq, Local::LocalIdle, Local::PhyReinit, Local::Abort];

    /// Name as the sheet writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Local::Normal => "RETRY_LOCAL_NORMAL",
            Local::LlrReq => "RETRY_LLRREQ",
            Local::LocalIdle => "RETRY_LOCAL_IDLE",
            Local::PhyReinit => "RETRY_PHY_REINIT",
            Local::Abort => "RETRY_ABORT",
        }
    }
}

/// What happens to the LRSM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trigger {
    /// A good retryable flit.
    Retryable,
    /// A good flit that is not retryable and completes no sequence.
    NotRetryable,
    /// A good Req sequence.
    ReqSequence,
    /// A good Ack sequence with the awaited echo.
    AckMatch,
    /// The same, with Empty.
    AckMatchEmpty,
    /// A good Ack sequence with another echo.
    AckOther,
    /// A bad flit.
    Error,
    /// The physical layer trains, asked for or not.
    PhyDown,
    /// Training is over.
    PhyUp,
    /// A Req is due and both counters are at their maximum.
    BothLimits,
    /// A Req is due and NUM_RETRY alone is at its maximum.
    RetryLimit,
    /// The Req sequence has left.
    ReqSent,
    /// TIMEOUT has reached its threshold.
    Timeout,
}

impl Trigger {
    /// All triggers.
    pub const ALL: [Trigger; 13] = [
        Trigger::Retryable,
        Trigger::NotRetryable,
        Trigger::ReqSequence,
        Trigger::AckMatch,
        Trigger::AckMatchEmpty,
        Trigger::AckOther,
        Trigger::Error,
        Trigger::PhyDown,
        Trigger::PhyUp,
        Trigger::BothLimits,
        Trigger::RetryLimit,
        Trigger::ReqSent,
        Trigger::Timeout,
    ];
}

/// What a row changes besides the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counters {
    /// Nothing.
    Keep,
    /// NUM_RETRY = 0 and NUM_PHY_REINIT = 0.
    ClearBoth,
    /// NUM_RETRY = 0, TIMEOUT = 0.
    ClearRetry,
    /// NUM_RETRY + 1, TIMEOUT starts.
    CountRetry,
    /// NUM_PHY_REINIT + 1.
    CountReinit,
    /// TIMEOUT = 0.
    ClearTimeout,
}

/// One row of the LRSM table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalRow {
    /// Rule of the row.
    pub rule: &'static str,
    /// From one of these states.
    pub from: &'static [Local],
    /// On this.
    pub on: Trigger,
    /// To this state.
    pub to: Local,
    /// The flit is used; else it is discarded.
    pub process: bool,
    /// Counters that change.
    pub counters: Counters,
}

impl LocalRow {
    /// Its name as a coverage point: rule, states, trigger.
    pub fn name(&self) -> String {
        let from: Vec<_> = self.from.iter().map(|state| format!("{state:?}")).collect();
        format!("{} {} {:?}", self.rule, from.join("/"), self.on)
    }
}

const fn row(
    rule: &'static str,
    from: &'static [Local],
    on: Trigger,
    to: Local,
    process: bool,
    counters: Counters,
) -> LocalRow {
    LocalRow { rule, from, on, to, process, counters }
}

use Local::{Abort as X, LlrReq as Q, LocalIdle as I, Normal as N, PhyReinit as P};

/// The LRSM (`cxl-68b` §7.3), most frequent row first. A pair of state and trigger without a row changes nothing and
/// discards the flit; in LLRREQ an Ack sequence answers an older Req and is such a pair.
pub static LRSM: &[LocalRow] = &[
    row("CXL68-LRS-01", &[N], Trigger::Retryable, N, true, Counters::ClearBoth),
    row("CXL68-LRS-02", &[N], Trigger::NotRetryable, N, true, Counters::Keep),
    row("CXL68-LRS-03", &[N], Trigger::ReqSequence, N, true, Counters::Keep),
    row("CXL68-LRS-03", &[Q], Trigger::ReqSequence, Q, true, Counters::Keep),
    row("CXL68-LRS-03", &[I], Trigger::ReqSequence, I, true, Counters::Keep),
    row("CXL68-LRS-04", &[N], Trigger::Error, Q, false, Counters::Keep),
    row("CXL68-LRS-05", &[N, Q, I], Trigger::PhyDown, P, false, Counters::Keep),
    row("CXL68-LRS-06", &[Q], Trigger::BothLimits, X, false, Counters::Keep),
    row("CXL68-LRS-07", &[Q], Trigger::RetryLimit, P, false, Counters::CountReinit),
    row("CXL68-LRS-08", &[Q], Trigger::Retryable, Q, false, Counters::Keep),
    row("CXL68-LRS-08", &[Q], Trigger::NotRetryable, Q, false, Counters::Keep),
    row("CXL68-LRS-09", &[Q], Trigger::ReqSent, I, false, Counters::CountRetry),
    row("CXL68-LRS-10", &[Q], Trigger::Error, Q, false, Counters::Keep),
    row("CXL68-LRS-11", &[P], Trigger::PhyUp, Q, false, Counters::ClearRetry),
    row("CXL68-LRS-12", &[I], Trigger::AckMatch, N, true, Counters::ClearTimeout),
    row("CXL68-LRS-12", &[I], Trigger::AckMatchEmpty, N, true, Counters::ClearBoth),
    row("CXL68-LRS-13", &[I], Trigger::AckOther, I, false, Counters::Keep),
    row("CXL68-LRS-14", &[I], Trigger::Timeout, Q, false, Counters::ClearTimeout),
    row("CXL68-LRS-15", &[I], Trigger::Error, I, false, Counters::Keep),
    row("CXL68-LRS-15", &[I], Trigger::Retryable, I, false, Counters::Keep),
    row("CXL68-LRS-15", &[I], Trigger::NotRetryable, I, false, Counters::Keep),
];

/// The row of a pair, if it has one.
pub fn local_row(state: Local, on: Trigger) -> Option<&'static LocalRow> {
    LRSM.iter().find(|r| r.on == on && r.from.contains(&state))
}

/// State and counters of the local side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalRetry {
    /// State.
    pub state: Local,
    /// Tries since the last good flit.
    pub num_retry: u8,
    /// PHY reinitialisations that NUM_RETRY led to, since the last good flit.
    pub num_phy_reinit: u8,
    /// Flits sent since the Req, any kind.
    pub timeout_flits: u32,
    /// Times that each row of [`LRSM`] was taken: coverage points.
    pub rows_taken: Vec<u64>,
}

impl LocalRetry {
    /// NORMAL, all counters 0.
    pub fn new() -> LocalRetry {
        let rows_taken = vec![0; LRSM.len()];
        LocalRetry { state: Local::Normal, num_retry: 0, num_phy_reinit: 0, timeout_flits: 0, rows_taken }
    }

    /// The state and the three counters, without the coverage counts.
    pub fn registers(&self) -> (Local, u8, u8, u32) {
        (self.state, self.num_retry, self.num_phy_reinit, self.timeout_flits)
    }

    /// Takes a step. `true`: the flit is used.
    #[inline]
    pub fn step(&mut self, on: Trigger) -> bool {
        // Nearly every step is this row, which needs no search.
        if self.state == Local::Normal && on == Trigger::Retryable {
            self.rows_taken[0] += 1;
            (self.num_retry, self.num_phy_reinit, self.timeout_flits) = (0, 0, 0);
            return true;
        }
        self.step_by_table(on)
    }

    fn step_by_table(&mut self, on: Trigger) -> bool {
        let Some(n) = LRSM.iter().position(|r| r.on == on && r.from.contains(&self.state)) else { return false };
        let row = &LRSM[n];
        self.rows_taken[n] += 1;
        self.state = row.to;
        match row.counters {
            Counters::Keep => (),
            Counters::ClearBoth => (self.num_retry, self.num_phy_reinit, self.timeout_flits) = (0, 0, 0),
            Counters::ClearRetry => (self.num_retry, self.timeout_flits) = (0, 0),
            Counters::CountRetry => (self.num_retry, self.timeout_flits) = (self.num_retry + 1, 0),
            Counters::CountReinit => self.num_phy_reinit += 1,
            Counters::ClearTimeout => self.timeout_flits = 0,
        }
        row.process
    }
}

impl Default for LocalRetry {
    fn default() -> Self {
        LocalRetry::new()
    }
}

/// State of the remote retry state machine (RRSM, `cxl-68b` §7.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remote {
    /// RETRY_REMOTE_NORMAL.
    Normal,
    /// RETRY_LLRACK: an Ack sequence is due, with the echo of this NUM_RETRY and Eseq.
    LlrAck {
        /// NUM_RETRY of the Req.
        num_retry: u8,
        /// Eseq of the Req.
        eseq: u8,
    },
}

/// What happens to the RRSM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteTrigger {
    /// A good Req sequence.
    Req {
        /// Its NUM_RETRY.
        num_retry: u8,
        /// Its Eseq.
        eseq: u8,
    },
    /// The Ack sequence has left.
    AckSent,
    /// Retrain or reinitialisation.
    PhyDown,
}

impl Remote {
    /// The state after a trigger.
    pub const fn step(self, on: RemoteTrigger) -> Remote {
        match (self, on) {
            // A second Req while the Ack is pending asks anew; the Ack answers the newer one.
            (_, RemoteTrigger::Req { num_retry, eseq }) => Remote::LlrAck { num_retry, eseq },
            (_, RemoteTrigger::AckSent | RemoteTrigger::PhyDown) => Remote::Normal,
        }
    }
}

/// A flit in the retry buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored<U = Cxl68Unit> {
    /// As it was sent first, credits and Ak included \[D\].
    pub unit: U,
    /// Chunks owed behind it: more than 3, and the next flit is all data.
    pub rollover_after: usize,
    /// Acknowledgements that it carries.
    pub acks: u8,
}

/// The link layer retry buffer: index is sequence number (`cxl-68b` §7.1).
#[derive(Debug, Clone)]
pub struct RetryBuffer<U = Cxl68Unit> {
    entries: Vec<Option<Stored<U>>>,
    wr_ptr: u8,
    rd_ptr: u8,
    num_free: u16,
}

impl<U: Clone> RetryBuffer<U> {
    /// An empty buffer of 22 to 255 entries (LLR-06, checked by the configuration).
    pub fn new(entries: u16) -> RetryBuffer<U> {
        RetryBuffer { entries: vec![None; entries.into()], wr_ptr: 0, rd_ptr: 0, num_free: entries }
    }

    /// Sequence numbers before 0 comes again.
    pub fn modulus(&self) -> u16 {
        self.entries.len() as u16
    }

    /// Sequence number of the next new flit.
    pub fn wr_ptr(&self) -> u8 {
        self.wr_ptr
    }

    /// Sequence number of the next flit to send; equal to the write pointer: a new one.
    pub fn rd_ptr(&self) -> u8 {
        self.rd_ptr
    }

    /// NumFreeBuf.
    pub fn num_free(&self) -> u16 {
        self.num_free
    }

    /// Flits stored and not acknowledged.
    pub fn unacknowledged(&self) -> u16 {
        self.modulus() - self.num_free
    }

    /// Whether flits wait to be sent again.
    pub fn replaying(&self) -> bool {
        self.rd_ptr != self.wr_ptr
    }

    fn next(&self, seq: u8) -> u8 {
        ((u16::from(seq) + 1) % self.modulus()) as u8
    }

    /// Stores a new flit that is being sent. Call with a free entry only.
    pub fn store(&mut self, flit: Stored<U>) {
        let at_end = self.rd_ptr == self.wr_ptr;
        self.entries[usize::from(self.wr_ptr)] = Some(flit);
        self.wr_ptr = self.next(self.wr_ptr);
        self.num_free = self.num_free.saturating_sub(1);
        if at_end {
            self.rd_ptr = self.wr_ptr;
        }
    }

    /// The flit at the read pointer; moves on. `None`: nothing to replay.
    pub fn replay(&mut self) -> Option<Stored<U>> {
        if !self.replaying() {
            return None;
        }
        let flit = self.entries[usize::from(self.rd_ptr)].clone();
        self.rd_ptr = self.next(self.rd_ptr);
        flit
    }

    /// Whether a sequence number may be asked for: an unacknowledged flit, or the next new one.
    pub fn holds(&self, seq: u8) -> bool {
        let behind = (u16::from(self.wr_ptr) + self.modulus() - u16::from(seq) % self.modulus()) % self.modulus();
        u16::from(seq) < self.modulus() && behind <= self.unacknowledged()
    }

    /// Whether the flit of a number is all data: the one before it left more than three chunks owed. The receiver counts
    /// it so, and nothing may stand between the Ack and it. One entry is always free, so the one before is still there.
    pub fn starts_in_run(&self, seq: u8) -> bool {
        let before = self.after(seq, self.modulus() - 1);
        self.entry(before).is_some_and(|flit| flit.rollover_after > 3)
    }

    /// Points the next flit to a sequence number that [`RetryBuffer::holds`].
    pub fn rewind(&mut self, seq: u8) {
        self.rd_ptr = seq;
    }

    /// Frees entries. `false`: more than there are, nothing is freed.
    pub fn acknowledge(&mut self, count: u16) -> bool {
        let legal = count <= self.unacknowledged();
        if legal {
            self.num_free += count;
        }
        legal
    }

    /// The entry of a sequence number, if it was ever written.
    pub fn entry(&self, seq: u8) -> Option<&Stored<U>> {
        self.entries.get(usize::from(seq))?.as_ref()
    }

    /// A sequence number n flits on.
    pub fn after(&self, seq: u8, n: u16) -> u8 {
        ((u16::from(seq) + n) % self.modulus()) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step that is taken without a search does what its row says, and so does every other one.
    #[test]
    fn each_step_is_that_of_its_row() {
        let mut rows = 0;
        for state in Local::ALL {
            for on in LRSM.iter().map(|row| row.on) {
                let (num_retry, num_phy_reinit, timeout_flits) = (3, 2, 7);
                let before = LocalRetry { state, num_retry, num_phy_reinit, timeout_flits, ..LocalRetry::new() };
                let (mut short, mut long) = (before.clone(), before);
                assert_eq!(short.step(on), long.step_by_table(on), "{state:?} {on:?}");
                assert_eq!(short, long, "{state:?} {on:?}");
                rows += usize::from(local_row(state, on).is_some());
            }
        }
        assert!(rows > LRSM.len(), "{rows}");
    }
}
