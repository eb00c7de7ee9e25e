//! CXL.cache decided wrongly.

use super::CoherenceMutant;
use scalepool_coherence::agent::AgentPort;
use scalepool_coherence::cache::home::{Holders, Phase};
use scalepool_coherence::cache::requests::{Snooped, WriteAnswers};
use scalepool_coherence::cache::snoops::{Forward, Left, Reading, Reply, SnoopRow};
use scalepool_coherence::cache::state::{CacheLineState, HostAnswer, Snoop};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::rules::{CacheRules, Sheet};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode};

impl CacheRules for CoherenceMutant {
    fn may_load(&self, at: CacheLineState) -> bool {
        Sheet.may_load(at) || *self == Self::UseAfterEvict && at.is_evicting()
    }

    fn drops(&self, config: &CoherenceConfig, at: CacheLineState) -> bool {
        Sheet.drops(config, at) || *self == Self::DirtyDropped && at == CacheLineState::M
    }

    fn snoop_row(&self, at: CacheLineState, snoop: Snoop) -> &'static SnoopRow {
        let rows: &[SnoopRow] = match self {
            Self::GrantedAnswersAsInvalid => &GRANTED_AS_INVALID,
            Self::CopyKeptUnderSnpInv => &COPY_KEPT,
            _ => &[],
        };
        let wrong = rows.iter().find(|row| (row.at, row.snoop) == (at, snoop));
        wrong.unwrap_or_else(|| Sheet.snoop_row(at, snoop))
    }

    fn snoop_waits(&self, at: CacheLineState) -> bool {
        match self {
            Self::SnoopWaitsForRequest => !at.is_stable(),
            Self::GrantedHoldsSnoop => at.is_granted(),
            _ => Sheet.snoop_waits(at),
        }
    }

    fn loses_bytes(&self, at: CacheLineState) -> bool {
        Sheet.loses_bytes(at) && !(*self == Self::OldBytesKept && at == CacheLineState::UpI)
    }

    fn is_bogus(&self, at: CacheLineState) -> bool {
        Sheet.is_bogus(at) && *self != Self::BogusNotSet
    }

    fn blocks(&self, phase: Phase) -> bool {
        let released = match self {
            Self::HomeDoesNotBlock => true,
            Self::StoreNotAwaited => matches!(phase, Phase::Storing { .. }),
            Self::SnoopDuringPull => matches!(phase, Phase::Pulling { .. }),
            Self::SnoopBetweenDataAndGo => matches!(phase, Phase::GoFollows(_)),
            _ => false,
        };
        !released && Sheet.blocks(phase)
    }

    fn snooped(&self, snooped: Snooped, holders: &Holders) -> IdSet {
        match (self, snooped) {
            (Self::SharersNotSnooped, Snooped::Everybody(_)) => holders.owner(),
            _ => Sheet.snooped(snooped, holders),
        }
    }

    fn answer_awaits_snoops(&self) -> bool {
        *self != Self::GoBeforeAnswers
    }

    fn go_leaves_with_data(&self) -> bool {
        *self != Self::SnoopBetweenDataAndGo
    }

    fn grants_dirty(&self, passed: bool, alone: bool) -> bool {
        Sheet.grants_dirty(passed, alone) || *self == Self::CleanGrantedDirty && alone
    }

    fn reading(&self, rsp: D2hRspOpcode) -> Option<&'static Reading> {
        static WRITTEN: Reading =
            Reading { rsp: D2hRspOpcode::RspVFwdV, to: &[Snoop::Cur], left: Left::Shared, data: true, written: true };
        if *self == Self::CurrentDataCleansOwner && rsp == WRITTEN.rsp { Some(&WRITTEN) } else { Sheet.reading(rsp) }
    }

    fn write_answers(&self, op: D2hReqOpcode) -> WriteAnswers {
        match (self, op) {
            (Self::WriteEndsBeforeData, D2hReqOpcode::WrInv) => {
                WriteAnswers { at_pull: &[HostAnswer::Pull, HostAnswer::GoI], behind_data: None }
            }
            _ => Sheet.write_answers(op),
        }
    }

    fn evicted(&self, holders: &mut Holders, device: AgentPort) {
        Sheet.evicted(holders, device);
        if *self == Self::StaleEvictClearsOwner {
            holders.owner = None;
        }
    }

    fn tracks_waiting(&self) -> bool {
        *self != Self::EvictUntracksAll
    }

    fn is_evict_written(&self, owned: bool, bogus: bool, op: D2hReqOpcode) -> bool {
        Sheet.is_evict_written(owned, bogus, op) || *self == Self::BogusWritten && !owned && bogus
    }

    fn passes_down(&self, own: bool) -> bool {
        own || *self == Self::ForeignCacheId
    }
}

/// A row with one answer, without data.
const fn answers(rule: &'static str, at: CacheLineState, snoop: Snoop, replies: &'static [Reply; 1]) -> SnoopRow {
    SnoopRow { rule, at, snoop, replies, never: "" }
}

/// Rows by which a device with GO and without data answers as if it held nothing, and goes on.
static GRANTED_AS_INVALID: [SnoopRow; 12] = {
    const RULE: &str = "COH-TRN-03";
    const fn stays(next: CacheLineState) -> Reply {
        Reply { rsp: D2hRspOpcode::RspIHitI, next, forward: Forward::No }
    }
    use CacheLineState::{RdGoE, RdGoESt, RdGoM, RdGoS};
    [
        answers(RULE, RdGoS, Snoop::Data, &[stays(RdGoS)]),
        answers(RULE, RdGoS, Snoop::Inv, &[stays(RdGoS)]),
        answers(RULE, RdGoS, Snoop::Cur, &[stays(RdGoS)]),
        answers(RULE, RdGoE, Snoop::Data, &[stays(RdGoE)]),
        answers(RULE, RdGoE, Snoop::Inv, &[stays(RdGoE)]),
        answers(RULE, RdGoE, Snoop::Cur, &[stays(RdGoE)]),
        answers(RULE, RdGoESt, Snoop::Data, &[stays(RdGoESt)]),
        answers(RULE, RdGoESt, Snoop::Inv, &[stays(RdGoESt)]),
        answers(RULE, RdGoESt, Snoop::Cur, &[stays(RdGoESt)]),
        answers(RULE, RdGoM, Snoop::Data, &[stays(RdGoM)]),
        answers(RULE, RdGoM, Snoop::Inv, &[stays(RdGoM)]),
        answers(RULE, RdGoM, Snoop::Cur, &[stays(RdGoM)]),
    ]
};

/// The row by which S stays under SnpInv.
static COPY_KEPT: [SnoopRow; 1] = [answers(
    "COH-SNP-06",
    CacheLineState::S,
    Snoop::Inv,
    &[Reply { rsp: D2hRspOpcode::RspIHitSE, next: CacheLineState::S, forward: Forward::No }],
)];
