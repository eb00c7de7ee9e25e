//! What a device answers to a snoop in each state, and what the home makes of it (`coherence` §2.3, §2.4).

use super::state::{CacheLineState, Snoop};
use scalepool_protocols::cxl::cxl256::code::D2hRspOpcode as Rsp;

/// When the forwarded line leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forward {
    /// No data.
    No,
    /// With the answer.
    Now,
    /// When the device's own data has come.
    Owed,
}

/// A legal answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The D2H Rsp.
    pub rsp: Rsp,
    /// State that follows.
    pub next: CacheLineState,
    /// The line's data.
    pub forward: Forward,
}

/// A row: the answers of one state to one snoop, the default first. No answers: the snoop is impossible here.
#[derive(Debug)]
pub struct SnoopRow {
    /// Rule.
    pub rule: &'static str,
    /// State.
    pub at: CacheLineState,
    /// Snoop.
    pub snoop: Snoop,
    /// Legal answers.
    pub replies: &'static [Reply],
    /// Why it is impossible, for rows without answers.
    pub never: &'static str,
}

const fn hit(rsp: Rsp, next: CacheLineState) -> Reply {
    Reply { rsp, next, forward: Forward::No }
}

const fn fwd(rsp: Rsp, next: CacheLineState) -> Reply {
    Reply { rsp, next, forward: Forward::Now }
}

const fn owe(rsp: Rsp, next: CacheLineState) -> Reply {
    Reply { rsp, next, forward: Forward::Owed }
}

const fn row(rule: &'static str, at: CacheLineState, snoop: Snoop, replies: &'static [Reply]) -> SnoopRow {
    SnoopRow { rule, at, snoop, replies, never: "" }
}

const fn never(rule: &'static str, at: CacheLineState, snoop: Snoop, never: &'static str) -> SnoopRow {
    SnoopRow { rule, at, snoop, replies: &[], never }
}

/// Three rows of a state that answers as I and stays.
macro_rules! as_invalid {
    ($($rule:literal $at:ident)*) => {
        [$(
            [row($rule, CacheLineState::$at, Snoop::Data, &[hit(Rsp::RspIHitI, CacheLineState::$at)]),
             row($rule, CacheLineState::$at, Snoop::Inv, &[hit(Rsp::RspIHitI, CacheLineState::$at)]),
             row($rule, CacheLineState::$at, Snoop::Cur, &[hit(Rsp::RspIHitI, CacheLineState::$at)])],
        )*]
    };
}

/// Three impossible rows.
macro_rules! impossible {
    ($($rule:literal $at:ident $why:literal)*) => {
        [$(
            [never($rule, CacheLineState::$at, Snoop::Data, $why), never($rule, CacheLineState::$at, Snoop::Inv, $why),
             never($rule, CacheLineState::$at, Snoop::Cur, $why)],
        )*]
    };
}

static AS_INVALID: [[SnoopRow; 3]; 10] = as_invalid! {
    "COH-TRN-01" Cur "COH-TRN-01" RdWait "COH-TRN-03" RdOnce "COH-TRN-02" UpI "COH-TRN-01" Fl
    "COH-TRN-04" EvI "COH-TRN-05" NdI "COH-TRN-06" Wr "COH-TRN-06" WrSent "COH-TRN-06" WrExt
};

static IMPOSSIBLE: [[SnoopRow; 3]; 4] = impossible! {
    "COH-ORD-06" RdData "between the data of a read and its GO the home sends no snoop"
    "COH-ORD-04" OweI "the snoop before is not answered in full"
    "COH-ORD-04" OweS "the snoop before is not answered in full"
    "COH-ORD-04" OweM "the snoop before is not answered in full"
};

static ROWS: &[SnoopRow] = {
    use Snoop::{Cur, Data, Inv};
    &[
        row("COH-SNP-01", CacheLineState::I, Data, &[hit(Rsp::RspIHitI, CacheLineState::I)]),
        row("COH-SNP-05", CacheLineState::I, Inv, &[hit(Rsp::RspIHitI, CacheLineState::I)]),
        row("COH-SNP-09", CacheLineState::I, Cur, &[hit(Rsp::RspIHitI, CacheLineState::I)]),
        row("COH-SNP-02", CacheLineState::S, Data, &[hit(Rsp::RspSHitSE, CacheLineState::S)]),
        row("COH-SNP-06", CacheLineState::S, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::I)]),
        row(
            "COH-SNP-10",
            CacheLineState::S,
            Cur,
            &[hit(Rsp::RspVHitV, CacheLineState::S), hit(Rsp::RspSHitSE, CacheLineState::S)],
        ),
        row("COH-SNP-03", CacheLineState::E, Data, &[hit(Rsp::RspSHitSE, CacheLineState::S)]),
        row("COH-SNP-07", CacheLineState::E, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::I)]),
        row(
            "COH-SNP-11",
            CacheLineState::E,
            Cur,
            &[
                hit(Rsp::RspVHitV, CacheLineState::E),
                hit(Rsp::RspSHitSE, CacheLineState::S),
                fwd(Rsp::RspVFwdV, CacheLineState::E),
            ],
        ),
        row(
            "COH-SNP-04",
            CacheLineState::M,
            Data,
            &[
                fwd(Rsp::RspSFwdM, CacheLineState::S),
                fwd(Rsp::RspSFwdM, CacheLineState::I),
                fwd(Rsp::RspIFwdM, CacheLineState::I),
            ],
        ),
        row("COH-SNP-08", CacheLineState::M, Inv, &[fwd(Rsp::RspIFwdM, CacheLineState::I)]),
        row(
            "COH-SNP-12",
            CacheLineState::M,
            Cur,
            &[
                fwd(Rsp::RspVFwdV, CacheLineState::M),
                fwd(Rsp::RspSFwdM, CacheLineState::S),
                fwd(Rsp::RspIFwdM, CacheLineState::I),
            ],
        ),
        row("COH-TRN-02", CacheLineState::UpS, Data, &[hit(Rsp::RspSHitSE, CacheLineState::UpS)]),
        row("COH-TRN-02", CacheLineState::UpS, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::UpI)]),
        row("COH-TRN-02", CacheLineState::UpS, Cur, &[hit(Rsp::RspVHitV, CacheLineState::UpS)]),
        row("COH-TRN-03", CacheLineState::RdGoS, Data, &[hit(Rsp::RspSHitSE, CacheLineState::RdGoS)]),
        row("COH-TRN-03", CacheLineState::RdGoS, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::RdOnce)]),
        row("COH-TRN-03", CacheLineState::RdGoS, Cur, &[hit(Rsp::RspVHitV, CacheLineState::RdGoS)]),
        row("COH-TRN-03", CacheLineState::RdGoE, Data, &[hit(Rsp::RspSHitSE, CacheLineState::RdGoS)]),
        row("COH-TRN-03", CacheLineState::RdGoE, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::RdOnce)]),
        row("COH-TRN-03", CacheLineState::RdGoE, Cur, &[hit(Rsp::RspVHitV, CacheLineState::RdGoE)]),
        row(
            "COH-TRN-03",
            CacheLineState::RdGoESt,
            Data,
            &[owe(Rsp::RspSFwdM, CacheLineState::OweS), owe(Rsp::RspIFwdM, CacheLineState::OweI)],
        ),
        row("COH-TRN-03", CacheLineState::RdGoESt, Inv, &[owe(Rsp::RspIFwdM, CacheLineState::OweI)]),
        row("COH-TRN-03", CacheLineState::RdGoESt, Cur, &[hit(Rsp::RspVHitV, CacheLineState::RdGoESt)]),
        row(
            "COH-TRN-03",
            CacheLineState::RdGoM,
            Data,
            &[owe(Rsp::RspSFwdM, CacheLineState::OweS), owe(Rsp::RspIFwdM, CacheLineState::OweI)],
        ),
        row("COH-TRN-03", CacheLineState::RdGoM, Inv, &[owe(Rsp::RspIFwdM, CacheLineState::OweI)]),
        row("COH-TRN-03", CacheLineState::RdGoM, Cur, &[owe(Rsp::RspVFwdV, CacheLineState::OweM)]),
        row(
            "COH-TRN-04",
            CacheLineState::EvM,
            Data,
            &[fwd(Rsp::RspSFwdM, CacheLineState::EvS), fwd(Rsp::RspIFwdM, CacheLineState::EvI)],
        ),
        row("COH-TRN-04", CacheLineState::EvM, Inv, &[fwd(Rsp::RspIFwdM, CacheLineState::EvI)]),
        row(
            "COH-TRN-04",
            CacheLineState::EvM,
            Cur,
            &[
                fwd(Rsp::RspVFwdV, CacheLineState::EvM),
                fwd(Rsp::RspSFwdM, CacheLineState::EvS),
                fwd(Rsp::RspIFwdM, CacheLineState::EvI),
            ],
        ),
        row("COH-TRN-05", CacheLineState::EvE, Data, &[hit(Rsp::RspSHitSE, CacheLineState::EvS)]),
        row("COH-TRN-05", CacheLineState::EvE, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::EvI)]),
        row(
            "COH-TRN-05",
            CacheLineState::EvE,
            Cur,
            &[
                hit(Rsp::RspVHitV, CacheLineState::EvE),
                hit(Rsp::RspSHitSE, CacheLineState::EvS),
                fwd(Rsp::RspVFwdV, CacheLineState::EvE),
            ],
        ),
        row("COH-TRN-05", CacheLineState::EvS, Data, &[hit(Rsp::RspSHitSE, CacheLineState::EvS)]),
        row("COH-TRN-05", CacheLineState::EvS, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::EvI)]),
        row("COH-TRN-05", CacheLineState::EvS, Cur, &[hit(Rsp::RspVHitV, CacheLineState::EvS)]),
        row("COH-TRN-05", CacheLineState::NdE, Data, &[hit(Rsp::RspSHitSE, CacheLineState::NdS)]),
        row("COH-TRN-05", CacheLineState::NdE, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::NdI)]),
        row(
            "COH-TRN-05",
            CacheLineState::NdE,
            Cur,
            &[hit(Rsp::RspVHitV, CacheLineState::NdE), hit(Rsp::RspSHitSE, CacheLineState::NdS)],
        ),
        row("COH-TRN-05", CacheLineState::NdS, Data, &[hit(Rsp::RspSHitSE, CacheLineState::NdS)]),
        row("COH-TRN-05", CacheLineState::NdS, Inv, &[hit(Rsp::RspIHitSE, CacheLineState::NdI)]),
        row("COH-TRN-05", CacheLineState::NdS, Cur, &[hit(Rsp::RspVHitV, CacheLineState::NdS)]),
    ]
};

/// All rows: every state with every snoop, impossible pairs included.
pub fn rows() -> impl Iterator<Item = &'static SnoopRow> {
    ROWS.iter().chain(AS_INVALID.iter().flatten()).chain(IMPOSSIBLE.iter().flatten())
}

/// The row of a state and a snoop.
pub fn row_of(at: CacheLineState, snoop: Snoop) -> &'static SnoopRow {
    // The test `every_pair_has_one_row` shows that the search never fails; the fallback keeps it total.
    rows().find(|r| r.at == at && r.snoop == snoop).unwrap_or(&ROWS[0])
}

/// What the home makes of an answer: the holder stays what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// It holds nothing.
    Nothing,
    /// It may hold S.
    Shared,
    /// Whatever it had.
    Same,
}

/// How the home reads a D2H Rsp.
#[derive(Debug)]
pub struct Reading {
    /// The answer.
    pub rsp: Rsp,
    /// Snoops that it may answer.
    pub to: &'static [Snoop],
    /// What the holder keeps.
    pub left: Left,
    /// One line of data comes with it.
    pub data: bool,
    /// The data makes memory current; otherwise it goes to the requester only.
    pub written: bool,
}

/// The table.
pub static READINGS: &[Reading] = {
    use Snoop::{Cur, Data, Inv};
    const fn row(rsp: Rsp, to: &'static [Snoop], left: Left, data: bool, written: bool) -> Reading {
        Reading { rsp, to, left, data, written }
    }
    &[
        row(Rsp::RspIHitI, &[Data, Inv, Cur], Left::Nothing, false, false),
        row(Rsp::RspIHitSE, &[Inv], Left::Nothing, false, false),
        row(Rsp::RspSHitSE, &[Data, Cur], Left::Shared, false, false),
        row(Rsp::RspVHitV, &[Cur], Left::Same, false, false),
        row(Rsp::RspSFwdM, &[Data, Cur], Left::Shared, true, true),
        row(Rsp::RspIFwdM, &[Data, Inv, Cur], Left::Nothing, true, true),
        row(Rsp::RspVFwdV, &[Cur], Left::Same, true, false),
    ]
};

/// How a D2H Rsp is read; `None` for a reserved opcode.
pub fn reading(rsp: Rsp) -> Option<&'static Reading> {
    READINGS.iter().find(|r| r.rsp == rsp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_one_row() {
        for &at in CacheLineState::ALL {
            for &snoop in Snoop::ALL {
                assert_eq!(rows().filter(|r| r.at == at && r.snoop == snoop).count(), 1, "{at:?} {snoop:?}");
            }
        }
    }

    #[test]
    fn every_reply_is_one_that_the_home_reads() {
        for row in rows() {
            for reply in row.replies {
                let reading = reading(reply.rsp).expect("a row");
                assert!(reading.to.contains(&row.snoop), "{row:?}");
                assert_eq!(reading.data, reply.forward != Forward::No, "{row:?}");
            }
        }
    }
}
