//! Rules of the sheet that are off, one at a time: what a proof gives the agents instead of
//! [`SHEET`], so that an exploration has to find each of them. They cannot be set from a file, and no scenario uses them.
//!
//! Modelled: each rule that is off, as another row of [`SheetRules`]. A few are no row yet but a branch of an agent, which asks
//! for the name: those whose row here is empty.

use scalepool_coherence::bias::tables::{self as bias_tables, Row as BiasRow};
use scalepool_coherence::cache::home::Phase;
use scalepool_coherence::cache::requests::Snooped;
use scalepool_coherence::cache::snoops::{self, Forward, Left, Reading, Reply, SnoopRow};
use scalepool_coherence::cache::state::{CacheLineState, Snoop};
use scalepool_coherence::config::WithoutBytes;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::HostAccess;
use scalepool_coherence::mem::host_rows::{self, MemHostAction, MemHostInput};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::rules::{M2sKind, SHEET, SheetRules};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode, DevLoad, M2sReqOpcode, MetaValue, SnpType};

/// One rule that is off, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoherenceMutant {
    // CXL.cache
    /// O1: a snoop overtakes a GO.
    SnoopPassesGo,
    /// O2, O4, O5: the home starts a request on a line whose transaction is still open.
    HomeDoesNotBlock,
    /// O3: the home releases the line when the pull is sent, not when its data is in.
    SnoopDuringPull,
    /// O6: the home sends the data of a read and lets the next snoop go before the GO.
    SnoopBetweenDataAndGo,
    /// O7: the device keeps a snoop waiting until its own request has ended.
    SnoopWaitsForRequest,
    /// O9: the home answers before the snoop answers are in.
    GoBeforeAnswers,
    /// O12: the home forgets an evicting device before the GO of the evict: when it takes the request of a peer.
    EvictUntracksAll,
    /// 2.1: the core goes on using a line whose evict is under way.
    UseAfterEvict,
    /// 2.5: Bogus is never set.
    BogusNotSet,
    /// 2.5: the home writes bogus data to memory.
    BogusWritten,
    /// 2.4: GO is here, data is not: the device answers a snoop as if it held nothing.
    GrantedAnswersAsInvalid,
    /// 2.4: GO is here, data is not: the device keeps the snoop waiting for the data.
    GrantedHoldsSnoop,
    /// 2.4: a device that lost its S copy goes on with the old bytes after RdOwnNoData.
    OldBytesKept,
    /// 2.7: a stale evict clears the present owner.
    StaleEvictClearsOwner,
    /// 2.3: the home writes what RspVFwdV brought to memory, as clean data.
    CurrentDataCleansOwner,
    /// 2.8: sharers are not snooped for ownership.
    SharersNotSnooped,
    /// 2.1, 3.1: M is dropped silently.
    DirtyDropped,
    /// 2.3: a device keeps its S copy under SnpInv.
    CopyKeptUnderSnpInv,
    /// 2.2: the home hands clean data over with GO-M.
    CleanGrantedDirty,
    /// 2.6 O13: the home ends WrInv before its data is in.
    WriteEndsBeforeData,
    /// A line whose bytes are on their way to the memory behind the home's port is released before that memory has them.
    StoreNotAwaited,
    /// 2.9: a port lets messages of other CacheIDs down.
    ForeignCacheId,
    /// Poison: a copy is made of a poisoned line as if it were good.
    FillCleansPoison,
    /// Poison: data for the home, of a snoop, an evict or a write, leaves its poison behind.
    PoisonLeftBehind,
    /// Poison: memory takes the bytes of a poisoned write and not its poison.
    MemoryCleansPoison,
    /// Poison: a write of a part of a poisoned line makes all of it good.
    PartClearsPoison,
    /// Poison: a copy is made of a good line as if it were poisoned.
    FillPoisons,
    // CXL.mem
    /// 3.5: BIConflictAck overtakes a Cmp of the same Tag.
    AckPassesCmp,
    /// 3.3: an M2S Req overtakes a Mem*Fwd of the line.
    ReqPassesFwd,
    /// 3.2: a read is filled by its completion, before its data is here.
    FilledWithoutData,
    /// 3.2, 3.7: an exclusive grant is given while one other holder has not been asked.
    HolderSkipped,
    /// 3.2, 3.7: a shared grant is given without asking the owner.
    OwnerNotAsked,
    /// 3.4: a filter entry leaves before its hosts have answered.
    EntryLeavesEarly,
    /// 3.4: BIRsp is sent with the write back, not after its Cmp.
    AnswerBeforeWriteDone,
    /// 3.4: a dirty copy is given up without a write back.
    DirtyHostNotWritten,
    /// 3.4: the DCOH keeps writes waiting while a BISnp is open.
    BisnpBlocksRwd,
    /// 3.4: the DCOH serves requests to a line with an open BISnp.
    ReqServedUnderBisnp,
    /// 3.4: a host that lost its S copy goes on with the old bytes after MemInv.
    HostOldBytes,
    /// 3.4: a host that was granted a line without bytes does not ask for them, whatever the access is for.
    BytesNotAsked,
    /// 3.4: a block answer is sent while a line of the block still waits.
    BlockAnswerEarly,
    /// 3.4: a request to a line of a block is served before the line is answered.
    BlockLineReleased,
    /// 3.5: BIConflict travels like a Req: it waits for the BISnp it is about.
    ConflictOnReq,
    /// 3.5: BIConflictAck is withheld until the BISnp is answered.
    AckWithheld,
    /// 3.5: the host takes the row of the early conflict in a late one.
    ConflictRowSwapped,
    /// 3.5: one BIConflict for all lines of a block.
    OneConflictForBlock,
    /// 3.5: a granted line is given up before its access.
    GrantNotUsed,
    /// 3.7: a device with two interfaces answers a snoop of one from what it got through the other.
    InterfaceForgotten,
    /// 3.7: an access of UIO that is refused has the effect of the part that was hit.
    PartOfUio,
    /// 3.7: a UIO write leaves the holders their copies.
    UioSkipsHolders,
    /// 3.8: an overloaded device leaves back-invalidates out.
    LoadSkipsSnoops,
    /// Poison: a store of a whole line leaves the line poisoned.
    WholeKeepsPoison,
    /// Poison: a load of a poisoned line says nothing of it.
    LoadHidesPoison,
    // HDM-D
    /// 3.3: Mem*Fwd is sent with the write back, not after its Cmp.
    FwdBeforeWriteDone,
    /// 3.3: the device uses a line in host bias without asking.
    LocalUseInHostBias,
    /// 3.3: the device's own cache is not snooped when the host takes a line back.
    BackFlipUnsnooped,
    /// 3.3: CLFlush flips the bias.
    FlushFlips,
    /// 3.3: the device keeps an M2S Req waiting until its own request has ended.
    ReqWaitsForOwnRequest,
}

/// The sheet with other rows, under the name of the mutant.
macro_rules! without {
    ($name:ident $(, $row:ident: $value:expr)*) => {{
        static RULES: SheetRules = SheetRules { name: stringify!($name), $($row: $value,)* ..SheetRules::SHEET };
        &RULES
    }};
}

impl CoherenceMutant {
    /// The rules of the agents where this one is off.
    pub fn rules(self) -> &'static SheetRules {
        match self {
            CoherenceMutant::SnoopPassesGo => without!(SnoopPassesGo, orders: &["COH-BIC-03", "COH-BIA-11"]),
            CoherenceMutant::HomeDoesNotBlock => without!(HomeDoesNotBlock, blocks: |_| false),
            CoherenceMutant::SnoopDuringPull => {
                without!(SnoopDuringPull, blocks: |phase| blocks(phase) && !matches!(phase, Phase::Pulling { .. }))
            }
            CoherenceMutant::SnoopBetweenDataAndGo => without!(SnoopBetweenDataAndGo),
            CoherenceMutant::SnoopWaitsForRequest => without!(SnoopWaitsForRequest, snoop_waits: |at| !at.is_stable()),
            CoherenceMutant::GoBeforeAnswers => without!(GoBeforeAnswers),
            CoherenceMutant::EvictUntracksAll => without!(EvictUntracksAll),
            CoherenceMutant::UseAfterEvict => without!(UseAfterEvict, may_load: |at| at.may_load() || at.is_evicting()),
            CoherenceMutant::BogusNotSet => without!(BogusNotSet, bogus: |_| false),
            CoherenceMutant::BogusWritten => {
                without!(BogusWritten, evict_written: |held, bogus, op| (SHEET.evict_written)(held, bogus, op) || !held && bogus)
            }
            CoherenceMutant::GrantedAnswersAsInvalid => {
                without!(GrantedAnswersAsInvalid, snoop_row: granted_as_invalid)
            }
            CoherenceMutant::GrantedHoldsSnoop => without!(GrantedHoldsSnoop, snoop_waits: CacheLineState::is_granted),
            CoherenceMutant::OldBytesKept => without!(OldBytesKept, loses_bytes: |at| at == CacheLineState::NdI),
            CoherenceMutant::StaleEvictClearsOwner => without!(StaleEvictClearsOwner, evicted: |holders, device| {
                holders.forget(device);
                holders.owner = None;
            }),
            CoherenceMutant::CurrentDataCleansOwner => without!(CurrentDataCleansOwner, reading: current_data_written),
            CoherenceMutant::SharersNotSnooped => {
                without!(SharersNotSnooped, snooped: |snooped, holders| if snooped == Snooped::Nobody { IdSet::EMPTY } else { holders.owner() })
            }
            CoherenceMutant::DirtyDropped => {
                without!(DirtyDropped, drops: |config, at| at == CacheLineState::M || (SHEET.drops)(config, at),
        host_drops: |at| at != Copy4::I)
            }
            CoherenceMutant::CopyKeptUnderSnpInv => without!(CopyKeptUnderSnpInv, snoop_row: copy_kept),
            CoherenceMutant::CleanGrantedDirty => {
                without!(CleanGrantedDirty, grants_dirty: |passed, alone| passed || alone)
            }
            CoherenceMutant::WriteEndsBeforeData => without!(WriteEndsBeforeData),
            CoherenceMutant::StoreNotAwaited => {
                without!(StoreNotAwaited, blocks: |phase| blocks(phase) && !matches!(phase, Phase::Storing { .. }))
            }
            CoherenceMutant::ForeignCacheId => without!(ForeignCacheId, passes_down: |_| true),
            CoherenceMutant::FillCleansPoison => without!(FillCleansPoison, filled_poison: |_| false),
            CoherenceMutant::PoisonLeftBehind => without!(PoisonLeftBehind, sent_poison: |_| false),
            CoherenceMutant::MemoryCleansPoison => without!(MemoryCleansPoison, stored_poison: |_| false),
            CoherenceMutant::PartClearsPoison => without!(PartClearsPoison),
            CoherenceMutant::FillPoisons => without!(FillPoisons, filled_poison: |_| true),
            CoherenceMutant::AckPassesCmp => without!(AckPassesCmp, orders: &["COH-ORD-01", "COH-BIA-11"]),
            CoherenceMutant::ReqPassesFwd => without!(ReqPassesFwd, orders: &["COH-ORD-01", "COH-BIC-03"]),
            CoherenceMutant::FilledWithoutData => without!(FilledWithoutData, fill_waits: |_, _| false,
        stray_data: None),
            CoherenceMutant::HolderSkipped => without!(HolderSkipped, asked: |holders, asked| {
                let mut all = (SHEET.asked)(holders, asked);
                let skips = asked.requester.is_some() && asked.snp == SnpType::SnpInv;
                if let Some(first) = all.first().filter(|_| skips) {
                    all.remove(first);
                }
                all
            }),
            CoherenceMutant::OwnerNotAsked => {
                without!(OwnerNotAsked, asked: |holders, asked| match (asked.requester, asked.snp) {
                    (Some(_), SnpType::SnpData) => IdSet::EMPTY,
                    _ => (SHEET.asked)(holders, asked),
                })
            }
            CoherenceMutant::EntryLeavesEarly => without!(EntryLeavesEarly),
            CoherenceMutant::AnswerBeforeWriteDone => without!(AnswerBeforeWriteDone, birsp_awaits_write: false),
            CoherenceMutant::DirtyHostNotWritten => without!(DirtyHostNotWritten, writes_back: |_| false),
            CoherenceMutant::BisnpBlocksRwd => without!(BisnpBlocksRwd, m2s_waits: |kind| kind != M2sKind::Conflict),
            CoherenceMutant::ReqServedUnderBisnp => without!(ReqServedUnderBisnp, m2s_waits: |_| false),
            CoherenceMutant::HostOldBytes => without!(HostOldBytes, keeps_bytes: |left, open| open || left != Copy4::I),
            CoherenceMutant::BytesNotAsked => {
                without!(BytesNotAsked, asks_bytes: |access, choice| access != HostAccess::Store && choice == WithoutBytes::Read)
            }
            CoherenceMutant::BlockAnswerEarly => without!(BlockAnswerEarly),
            CoherenceMutant::BlockLineReleased => without!(BlockLineReleased, block_released: |_, _| true),
            CoherenceMutant::ConflictOnReq => without!(ConflictOnReq, m2s_waits: |kind| kind != M2sKind::Rwd),
            CoherenceMutant::AckWithheld => without!(AckWithheld, m2s_waits: |kind| kind != M2sKind::Rwd),
            CoherenceMutant::ConflictRowSwapped => without!(ConflictRowSwapped, host_row: early_row_late),
            CoherenceMutant::OneConflictForBlock => without!(OneConflictForBlock, disputes: |already| !already),
            CoherenceMutant::GrantNotUsed => without!(GrantNotUsed, due_access: |_| HostAccess::Nothing),
            CoherenceMutant::InterfaceForgotten => without!(InterfaceForgotten),
            CoherenceMutant::PartOfUio => without!(PartOfUio),
            CoherenceMutant::UioSkipsHolders => {
                without!(UioSkipsHolders, asked: |holders, asked| if asked.uio_write { IdSet::EMPTY } else { (SHEET.asked)(holders, asked) })
            }
            CoherenceMutant::LoadSkipsSnoops => without!(LoadSkipsSnoops, asked: |holders, asked| {
                if asked.load == DevLoad(0) { (SHEET.asked)(holders, asked) } else { IdSet::EMPTY }
            }),
            CoherenceMutant::WholeKeepsPoison => {
                without!(WholeKeepsPoison, poison_behind_store: |was, merged| was || merged)
            }
            CoherenceMutant::LoadHidesPoison => without!(LoadHidesPoison, loaded_poison: |_| false),
            CoherenceMutant::FwdBeforeWriteDone => without!(FwdBeforeWriteDone, fwd_awaits_write: false),
            CoherenceMutant::LocalUseInHostBias => without!(LocalUseInHostBias, uses_alone: |_| true),
            CoherenceMutant::BackFlipUnsnooped => without!(BackFlipUnsnooped, own_snoop: |_| SnpType::NoOp),
            CoherenceMutant::FlushFlips => without!(FlushFlips, bias_row: flush_flips),
            CoherenceMutant::ReqWaitsForOwnRequest => {
                without!(ReqWaitsForOwnRequest, awaits_own_request: |req| !matches!(req, M2sReqOpcode::MemRdFwd | M2sReqOpcode::MemWrFwd))
            }
        }
    }
}

fn blocks(phase: Phase) -> bool {
    (SHEET.blocks)(phase)
}

/// Rows by which a state answers every snoop as if it held nothing, and stays.
macro_rules! as_invalid {
    (@row $at:ident $snoop:ident) => {
        SnoopRow {
            rule: "COH-TRN-03",
            at: CacheLineState::$at,
            snoop: Snoop::$snoop,
            replies: &[Reply { rsp: D2hRspOpcode::RspIHitI, next: CacheLineState::$at, forward: Forward::No }],
            never: "",
        }
    };
    ($($at:ident)*) => {
        [$(as_invalid!(@row $at Data), as_invalid!(@row $at Inv), as_invalid!(@row $at Cur),)*]
    };
}

fn granted_as_invalid(at: CacheLineState, snoop: Snoop) -> &'static SnoopRow {
    static ROWS: [SnoopRow; 12] = as_invalid!(RdGoS RdGoE RdGoESt RdGoM);
    let own = ROWS.iter().find(|row| (row.at, row.snoop) == (at, snoop));
    own.unwrap_or_else(|| snoops::row_of(at, snoop))
}

fn copy_kept(at: CacheLineState, snoop: Snoop) -> &'static SnoopRow {
    static KEPT: SnoopRow = SnoopRow {
        rule: "COH-SNP-06",
        at: CacheLineState::S,
        snoop: Snoop::Inv,
        replies: &[Reply { rsp: D2hRspOpcode::RspIHitSE, next: CacheLineState::S, forward: Forward::No }],
        never: "",
    };
    if (KEPT.at, KEPT.snoop) == (at, snoop) { &KEPT } else { snoops::row_of(at, snoop) }
}

fn current_data_written(rsp: D2hRspOpcode) -> Option<&'static Reading> {
    static WRITTEN: Reading =
        Reading { rsp: D2hRspOpcode::RspVFwdV, to: &[Snoop::Cur], left: Left::Shared, data: true, written: true };
    if rsp == WRITTEN.rsp { Some(&WRITTEN) } else { snoops::reading(rsp) }
}

fn early_row_late(phase: host_rows::Phase, input: MemHostInput) -> &'static host_rows::Row {
    static EARLY: host_rows::Row = host_rows::Row {
        phase: host_rows::Phase::ConflictWon,
        input: MemHostInput::Ack,
        act: Some(MemHostAction::Answer),
        rule: "COH-BIC-04",
    };
    if (EARLY.phase, EARLY.input) == (phase, input) { &EARLY } else { host_rows::find(phase, input) }
}

fn flush_flips(opcode: D2hReqOpcode) -> Option<&'static BiasRow> {
    static FLIPS: BiasRow = BiasRow {
        rule: "COH-BIA-06",
        opcodes: &[D2hReqOpcode::CLFlush],
        served: bias_tables::Served::Forward(M2sReqOpcode::MemRdFwd),
        grants: &[(MetaValue::Invalid, Copy4::I, true)],
    };
    if opcode == D2hReqOpcode::CLFlush { Some(&FLIPS) } else { bias_tables::find(opcode) }
}
