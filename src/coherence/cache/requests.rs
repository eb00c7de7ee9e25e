//! The requests: from which state, answered how, and which snoops the home sends for them (`coherence` §2.2, §2.3, §2.8).

use super::state::{Answer, At, Snoop};
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
pub enum Kind {
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
pub struct Request {
    /// Rule.
    pub rule: &'static str,
    /// The request.
    pub op: Op,
    /// What it does.
    pub kind: Kind,
    /// States at issue and the transient state that follows.
    pub starts: &'static [(At, At)],
    /// H2D Rsp that may come; any other breaks the rule.
    pub answers: &'static [Answer],
    /// Snoops that the home sends first.
    pub snooped: Snooped,
}

/// The table.
pub static REQUESTS: &[Request] = {
    use Answer::*;
    use At::*;
    const INV: Snooped = Snooped::Everybody(Snoop::Inv);
    const DATA: Snooped = Snooped::Owner(Snoop::Data);
    const fn row(
        rule: &'static str,
        op: Op,
        kind: Kind,
        starts: &'static [(At, At)],
        answers: &'static [Answer],
        snooped: Snooped,
    ) -> Request {
        Request { rule, op, kind, starts, answers, snooped }
    }
    &[
        row("COH-REQ-01", Op::RdCurr, Kind::Current, &[(I, Cur)], &[], Snooped::Owner(Snoop::Cur)),
        row("COH-REQ-02", Op::RdShared, Kind::Read, &[(I, RdWait)], &[GoS, GoI, GoErr], DATA),
        row("COH-REQ-03", Op::RdAny, Kind::Read, &[(I, RdWait)], &[GoS, GoE, GoM, GoI, GoErr], DATA),
        row("COH-REQ-04", Op::RdOwn, Kind::Read, &[(I, RdWait)], &[GoE, GoM, GoI, GoErr], INV),
        row("COH-REQ-05", Op::RdOwnNoData, Kind::NoData, &[(S, UpS), (I, UpI)], &[GoE, GoErr], INV),
        row("COH-REQ-06", Op::CLFlush, Kind::NoData, &[(I, Fl)], &[GoI, GoErr], INV),
        row("COH-REQ-07", Op::CacheFlushed, Kind::NoData, &[], &[GoI], Snooped::Nobody),
        row("COH-REQ-08", Op::ItoMWr, Kind::Write, &[(I, Wr)], &[GoPull, GoErrPull], INV),
        row("COH-REQ-09", Op::WrCur, Kind::Write, &[(I, Wr)], &[GoPull, GoErrPull], INV),
        row("COH-REQ-10", Op::CleanEvict, Kind::Evict, &[(E, EvE)], &[GoPull, GoDrop], Snooped::Nobody),
        row("COH-REQ-11", Op::CleanEvictNoData, Kind::Evict, &[(E, NdE), (S, NdS)], &[GoI], Snooped::Nobody),
        row("COH-REQ-12", Op::DirtyEvict, Kind::Evict, &[(M, EvM)], &[GoPull, GoErrPull], Snooped::Nobody),
        row("COH-REQ-13", Op::WrInv, Kind::Write, &[(I, Wr)], &[Pull, GoI, GoErr], INV),
        row("COH-REQ-14", Op::WOWrInv, Kind::Write, &[(I, Wr)], &[FastGoPull, GoErrPull, ExtCmp], INV),
        row("COH-REQ-15", Op::WOWrInvF, Kind::Write, &[(I, Wr)], &[FastGoPull, GoErrPull, ExtCmp], INV),
    ]
};

/// The row of a request; `None` for a reserved opcode.
pub fn request(op: Op) -> Option<&'static Request> {
    REQUESTS.iter().find(|r| r.op == op)
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
pub fn never(op: Op, answer: Answer) -> Option<&'static str> {
    match (op, answer) {
        (Op::RdShared, Answer::GoE) | (Op::DirtyEvict, Answer::GoDrop) => Some("COH-REQ-19"),
        (_, Answer::GoDrop) if request(op).is_some_and(|r| r.kind == Kind::Write) => Some("COH-REQ-25"),
        _ => None,
    }
}

/// Whether RspData of an H2D Rsp is a UQID (COH-IDS-05): of a GO it is a state, and of ExtCmp it means nothing.
pub fn names_uqid(opcode: H2dRspOpcode) -> bool {
    ![H2dRspOpcode::GO, H2dRspOpcode::ExtCmp].contains(&opcode)
}
