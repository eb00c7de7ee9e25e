//! The requests: from which state, answered how, and which snoops the home sends for them (`coherence` §2.2, §2.3, §2.8).

use super::state::{CacheLineState, HostAnswer, Snoop};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, H2dRspOpcode};

/// Whom the home snoops for a request; never the requester.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snooped {
    /// Nobody.
    Nobody,
    /// Who holds E or M, if anybody.
    Owner(Snoop),
    /// Everybody who is tracked.
    Everybody(Snoop),
}

impl Snooped {
    /// The snoop that is sent.
    pub fn snoop(self) -> Option<Snoop> {
        match self {
            Snooped::Nobody => None,
            Snooped::Owner(snoop) | Snooped::Everybody(snoop) => Some(snoop),
        }
    }
}

/// What a request brings to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheRequestKind {
    /// H2D Data only: the value, once.
    Current,
    /// GO and H2D Data.
    Read,
    /// GO only.
    NoData,
    /// The device's bytes go to the home.
    Write,
    /// The device gives a copy up.
    Evict,
}

/// A row of §2.2.
#[derive(Debug)]
pub struct CacheRequestRow {
    /// Rule.
    pub rule: &'static str,
    /// The request.
    pub op: Op,
    /// What it does.
    pub kind: CacheRequestKind,
    /// States at issue and the transient state that follows.
    pub starts: &'static [(CacheLineState, CacheLineState)],
    /// H2D Rsp that may come; any other breaks the rule.
    pub answers: &'static [HostAnswer],
    /// Snoops that the home sends first.
    pub snooped: Snooped,
}

/// The table.
pub static REQUESTS: &[CacheRequestRow] = {
    use CacheLineState::*;
    use HostAnswer::*;
    const INV: Snooped = Snooped::Everybody(Snoop::Inv);
    const DATA: Snooped = Snooped::Owner(Snoop::Data);
    const fn row(
        rule: &'static str,
        op: Op,
        kind: CacheRequestKind,
        starts: &'static [(CacheLineState, CacheLineState)],
        answers: &'static [HostAnswer],
        snooped: Snooped,
    ) -> CacheRequestRow {
        CacheRequestRow { rule, op, kind, starts, answers, snooped }
    }
    &[
        row("COH-REQ-01", Op::RdCurr, CacheRequestKind::Current, &[(I, Cur)], &[], Snooped::Owner(Snoop::Cur)),
        row("COH-REQ-02", Op::RdShared, CacheRequestKind::Read, &[(I, RdWait)], &[GoS, GoI, GoErr], DATA),
        row("COH-REQ-03", Op::RdAny, CacheRequestKind::Read, &[(I, RdWait)], &[GoS, GoE, GoM, GoI, GoErr], DATA),
        row("COH-REQ-04", Op::RdOwn, CacheRequestKind::Read, &[(I, RdWait)], &[GoE, GoM, GoI, GoErr], INV),
        row("COH-REQ-05", Op::RdOwnNoData, CacheRequestKind::NoData, &[(S, UpS), (I, UpI)], &[GoE, GoErr], INV),
        row("COH-REQ-06", Op::CLFlush, CacheRequestKind::NoData, &[(I, Fl)], &[GoI, GoErr], INV),
        row("COH-REQ-07", Op::CacheFlushed, CacheRequestKind::NoData, &[], &[GoI], Snooped::Nobody),
        row("COH-REQ-08", Op::ItoMWr, CacheRequestKind::Write, &[(I, Wr)], &[GoPull, GoErrPull], INV),
        row("COH-REQ-09", Op::WrCur, CacheRequestKind::Write, &[(I, Wr)], &[GoPull, GoErrPull], INV),
        row("COH-REQ-10", Op::CleanEvict, CacheRequestKind::Evict, &[(E, EvE)], &[GoPull, GoDrop], Snooped::Nobody),
        row(
            "COH-REQ-11",
            Op::CleanEvictNoData,
            CacheRequestKind::Evict,
            &[(E, NdE), (S, NdS)],
            &[GoI],
            Snooped::Nobody,
        ),
        row("COH-REQ-12", Op::DirtyEvict, CacheRequestKind::Evict, &[(M, EvM)], &[GoPull, GoErrPull], Snooped::Nobody),
        row("COH-REQ-13", Op::WrInv, CacheRequestKind::Write, &[(I, Wr)], &[Pull, GoI, GoErr], INV),
        row("COH-REQ-14", Op::WOWrInv, CacheRequestKind::Write, &[(I, Wr)], &[FastGoPull, GoErrPull, ExtCmp], INV),
        row("COH-REQ-15", Op::WOWrInvF, CacheRequestKind::Write, &[(I, Wr)], &[FastGoPull, GoErrPull, ExtCmp], INV),
    ]
};

/// The row of a request; `None` for a reserved opcode.
pub fn request(op: Op) -> Option<&'static CacheRequestRow> {
    REQUESTS.iter().find(|r| r.op == op)
}

/// What a write is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteAnswers {
    /// When its data is pulled.
    pub at_pull: &'static [HostAnswer],
    /// When its data is in.
    pub behind_data: Option<HostAnswer>,
}

/// How a write is answered (§2.2): with one GO and pull, or with a pull and a last answer behind the data. Nothing for what is no
/// write.
pub fn write_answers(op: Op) -> WriteAnswers {
    let (at_pull, behind_data): (&[HostAnswer], _) = match op {
        Op::ItoMWr | Op::WrCur => (&[HostAnswer::GoPull], None),
        Op::WrInv => (&[HostAnswer::Pull], Some(HostAnswer::GoI)),
        Op::WOWrInv | Op::WOWrInvF => (&[HostAnswer::FastGoPull], Some(HostAnswer::ExtCmp)),
        _ => (&[], None),
    };
    WriteAnswers { at_pull, behind_data }
}

/// Whether a device has asked for ownership that it has not given up, behind `op`: a store of a program that lost it asks
/// again. `asked`: whether it had before.
pub fn owns(op: Op, asked: bool) -> bool {
    match op {
        Op::RdOwn | Op::RdOwnNoData => true,
        Op::CleanEvict | Op::CleanEvictNoData | Op::DirtyEvict => false,
        _ => asked,
    }
}

/// The rule that names an answer which a request never gets, beside its row: GO-E to RdShared, Drop to DirtyEvict and to
/// writes, of which a part of a line may be all there is.
pub fn never(op: Op, answer: HostAnswer) -> Option<&'static str> {
    match (op, answer) {
        (Op::RdShared, HostAnswer::GoE) | (Op::DirtyEvict, HostAnswer::GoDrop) => Some("COH-REQ-19"),
        (_, HostAnswer::GoDrop) if request(op).is_some_and(|r| r.kind == CacheRequestKind::Write) => Some("COH-REQ-25"),
        _ => None,
    }
}

/// Whether RspData of an H2D Rsp is a UQID (COH-IDS-05): of a GO it is a state, and of ExtCmp it means nothing.
pub fn names_uqid(opcode: H2dRspOpcode) -> bool {
    ![H2dRspOpcode::GO, H2dRspOpcode::ExtCmp].contains(&opcode)
}
