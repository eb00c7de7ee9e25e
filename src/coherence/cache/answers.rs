//! What a device does with H2D Rsp and H2D Data in each state (`coherence` §2.2, §2.4). A pair without a row is impossible.

use super::state::{CacheLineState, HostAnswer};

/// What arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// An H2D Rsp.
    Answer(HostAnswer),
    /// H2D Data.
    Data,
}

/// What the device does besides changing state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheDeviceAction {
    /// Remembers it.
    Note,
    /// Keeps the data; the core may use it once.
    Keep,
    /// The line is cached; a store that waited is done.
    Fill,
    /// The data is used at most once and forgotten.
    UseOnce,
    /// The line is cached if anything stays, a store that waited is done, and the owed data leaves.
    PayOwed,
    /// The S copy becomes E; a store that waited is done.
    Upgrade,
    /// Ownership without bytes: the E is given up and the line asked for, or all of it is written.
    NoBytes,
    /// The request has ended without anything to send.
    End,
    /// The evicted copy leaves, Bogus when a snoop has hit it.
    SendCopy,
    /// The data of the write leaves.
    SendWrite,
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRow {
    /// Rule.
    pub rule: &'static str,
    /// State.
    pub at: CacheLineState,
    /// What arrived.
    pub got: Got,
    /// State that follows. [`CacheDeviceAction::Fill`] and [`CacheDeviceAction::Upgrade`] make M of E when a store
    /// waited.
    pub next: CacheLineState,
    /// What is done.
    pub act: CacheDeviceAction,
}

/// The table.
pub static ROWS: &[AnswerRow] = {
    use CacheDeviceAction::*;
    use CacheLineState::*;
    use HostAnswer::*;
    const fn go(
        rule: &'static str,
        at: CacheLineState,
        answer: HostAnswer,
        next: CacheLineState,
        act: CacheDeviceAction,
    ) -> AnswerRow {
        AnswerRow { rule, at, got: Got::Answer(answer), next, act }
    }
    const fn data(rule: &'static str, at: CacheLineState, next: CacheLineState, act: CacheDeviceAction) -> AnswerRow {
        AnswerRow { rule, at, got: Got::Data, next, act }
    }
    &[
        data("COH-REQ-01", Cur, I, UseOnce),
        go("COH-REQ-21", RdWait, GoS, RdGoS, Note),
        // A store that waits makes RdGoESt of it.
        go("COH-REQ-21", RdWait, GoE, RdGoE, Note),
        go("COH-REQ-21", RdWait, GoM, RdGoM, Note),
        go("COH-REQ-18", RdWait, GoI, RdOnce, Note),
        go("COH-REQ-18", RdWait, GoErr, RdOnce, Note),
        data("COH-REQ-20", RdWait, RdData, Keep),
        go("COH-REQ-21", RdData, GoS, S, Fill),
        go("COH-REQ-21", RdData, GoE, E, Fill),
        go("COH-REQ-21", RdData, GoM, M, Fill),
        go("COH-REQ-18", RdData, GoI, I, UseOnce),
        go("COH-REQ-18", RdData, GoErr, I, UseOnce),
        data("COH-REQ-21", RdGoS, S, Fill),
        data("COH-REQ-21", RdGoE, E, Fill),
        data("COH-REQ-21", RdGoESt, E, Fill),
        data("COH-REQ-21", RdGoM, M, Fill),
        data("COH-TRN-03", RdOnce, I, UseOnce),
        data("COH-TRN-03", OweI, I, PayOwed),
        data("COH-TRN-03", OweS, S, PayOwed),
        data("COH-TRN-03", OweM, M, PayOwed),
        go("COH-REQ-05", UpS, GoE, E, Upgrade),
        go("COH-REQ-28", UpI, GoE, I, NoBytes),
        go("COH-REQ-05", UpS, GoErr, I, End),
        go("COH-REQ-05", UpI, GoErr, I, End),
        go("COH-REQ-06", Fl, GoI, I, End),
        go("COH-REQ-06", Fl, GoErr, I, End),
        go("COH-EVT-01", EvM, GoPull, I, SendCopy),
        go("COH-REQ-24", EvM, GoErrPull, I, SendCopy),
        go("COH-REQ-10", EvE, GoPull, I, SendCopy),
        go("COH-REQ-10", EvE, GoDrop, I, End),
        go("COH-EVT-02", EvS, GoPull, I, SendCopy),
        go("COH-REQ-24", EvS, GoErrPull, I, SendCopy),
        go("COH-EVT-04", EvS, GoDrop, I, End),
        go("COH-EVT-02", EvI, GoPull, I, SendCopy),
        go("COH-REQ-24", EvI, GoErrPull, I, SendCopy),
        go("COH-EVT-04", EvI, GoDrop, I, End),
        go("COH-REQ-11", NdE, GoI, I, End),
        go("COH-REQ-11", NdS, GoI, I, End),
        go("COH-EVT-05", NdI, GoI, I, End),
        // ItoMWr and WrCur end with their data, WOWrInv* with their ExtCmp (state WrSent).
        go("COH-REQ-08", Wr, GoPull, I, SendWrite),
        go("COH-REQ-24", Wr, GoErrPull, I, SendWrite),
        go("COH-REQ-22", Wr, Pull, WrSent, SendWrite),
        go("COH-REQ-23", Wr, FastGoPull, WrSent, SendWrite),
        go("COH-REQ-23", Wr, ExtCmp, WrExt, Note),
        go("COH-REQ-22", WrSent, GoI, I, End),
        go("COH-REQ-22", WrSent, GoErr, I, End),
        go("COH-REQ-23", WrSent, ExtCmp, I, End),
        go("COH-REQ-23", WrExt, FastGoPull, I, SendWrite),
        go("COH-REQ-23", WrExt, GoErrPull, I, SendWrite),
    ]
};

/// The row of a state and what arrived; `None` for an impossible pair.
pub fn row_of(at: CacheLineState, got: Got) -> Option<&'static AnswerRow> {
    ROWS.iter().find(|r| r.at == at && r.got == got)
}
