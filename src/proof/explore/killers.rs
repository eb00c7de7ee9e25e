//! What finds each rule that is off: an exploration, the options that it needs, and the rule whose breach is seen first.
//!
//! Over CXL.cache the rows leave the order rules (V6, V8) out: states and values alone (V1 to V4, V9, V14 and what the
//! agents report) show the harm of nearly every missing rule. Over CXL.mem the monitors name the missing rule itself. `GrantedHoldsSnoop` does no harm to
//! states and values: the data that the device waits for always comes, since a snoop does not block H2D Data. It is
//! against §2.4 all the same (a D2H Rsp depends on nothing), which the monitor of O7 says. Four rules are about what is no
//! part of an exploration, a port, a second interface, an address decoder, the value that a load gets; tests of those parts
//! find them.

use super::named::{NamedExploration, find};
use crate::mutant::CoherenceMutant::{self, *};
use scalepool_coherence::config::{CleanEvictAnswer, CoherenceConfig, WithoutBytes};
use scalepool_coherence::mem::options::BlockAnswer;

/// What finds a rule that is off.
#[derive(Debug)]
pub struct Killer {
    /// The rule that is off.
    pub mutant: CoherenceMutant,
    /// Name of the exploration; `None`: a test of a part that explorations leave out.
    pub exploration: Option<&'static str>,
    /// Options that it needs.
    pub options: fn(&mut CoherenceConfig),
    /// The rule whose breach is seen.
    pub rule: &'static str,
}

impl Killer {
    /// The exploration and its configuration, the rule off.
    pub fn case(&self) -> Option<(&'static NamedExploration, CoherenceConfig)> {
        let mut config = CoherenceConfig { rules: self.mutant.rules(), ..CoherenceConfig::default() };
        (self.options)(&mut config);
        Some((find(self.exploration?)?, config))
    }
}

const fn found(mutant: CoherenceMutant, exploration: &'static str, rule: &'static str) -> Killer {
    Killer { mutant, exploration: Some(exploration), options: |_| {}, rule }
}

const fn found_with(
    mutant: CoherenceMutant,
    exploration: &'static str,
    options: fn(&mut CoherenceConfig),
    rule: &'static str,
) -> Killer {
    Killer { mutant, exploration: Some(exploration), options, rule }
}

const fn tested(mutant: CoherenceMutant, rule: &'static str) -> Killer {
    Killer { mutant, exploration: None, options: |_| {}, rule }
}

/// Clean evicts are pulled, so that their data can be wrong.
const PULLED: fn(&mut CoherenceConfig) = |c| c.clean_evict = CleanEvictAnswer::Pull;

/// All of them, in the order of [`CoherenceMutant`].
pub static KILLERS: &[Killer] = &[
    found_with(SnoopPassesGo, "cxl-cache-2-values", PULLED, "COH-ORD-06"),
    found_with(HomeDoesNotBlock, "cxl-cache-2-values", PULLED, "COH-REQ-20"),
    found_with(SnoopDuringPull, "cxl-cache-2-values", PULLED, "COH-REQ-20"),
    found_with(SnoopBetweenDataAndGo, "cxl-cache-2-values", PULLED, "COH-ORD-06"),
    found_with(SnoopWaitsForRequest, "cxl-cache-2-values", PULLED, "COH-INV-09"),
    found_with(GoBeforeAnswers, "cxl-cache-2-values", PULLED, "COH-INV-04"),
    found_with(EvictUntracksAll, "cxl-cache-2-values", PULLED, "COH-INV-04"),
    found_with(UseAfterEvict, "cxl-cache-2-values", PULLED, "COH-INV-01"),
    found_with(BogusNotSet, "cxl-cache-2-values", PULLED, "COH-EVT-03"),
    found_with(BogusWritten, "cxl-cache-2-values", PULLED, "COH-INV-03"),
    found_with(GrantedAnswersAsInvalid, "cxl-cache-2-values", PULLED, "COH-INV-04"),
    found_with(GrantedHoldsSnoop, "cxl-cache-2", PULLED, "COH-ORD-07"),
    found_with(OldBytesKept, "cxl-cache-2-values", PULLED, "COH-INV-02"),
    found_with(StaleEvictClearsOwner, "cxl-cache-2-values", PULLED, "COH-INV-04"),
    found_with(CurrentDataCleansOwner, "cxl-cache-2-values", PULLED, "COH-EVT-03"),
    found_with(SharersNotSnooped, "cxl-cache-2-values", PULLED, "COH-INV-04"),
    found_with(DirtyDropped, "cxl-cache-2-values", PULLED, "COH-INV-03"),
    found_with(CopyKeptUnderSnpInv, "cxl-cache-2-values", PULLED, "COH-INV-04"),
    found_with(CleanGrantedDirty, "cxl-cache-2-values", PULLED, "COH-REQ-17"),
    found_with(WriteEndsBeforeData, "cxl-cache-2-values", PULLED, "COH-ORD-13"),
    found(StoreNotAwaited, "cxl-cache-2-memory", "COH-HOM-01"),
    tested(ForeignCacheId, "COH-CID-02"),
    found(FillCleansPoison, "cxl-cache-2-poison", "COH-PSN-01"),
    found(PoisonLeftBehind, "cxl-cache-2-poison", "COH-PSN-01"),
    found(MemoryCleansPoison, "cxl-cache-2-poison", "COH-PSN-01"),
    found(PartClearsPoison, "cxl-cache-2-poison", "COH-PSN-03"),
    found(FillPoisons, "cxl-cache-2-poison", "COH-PSN-02"),
    found(AckPassesCmp, "hdm-db-2", "COH-BIC-03"),
    found(ReqPassesFwd, "hdm-d", "COH-BIA-11"),
    found(FilledWithoutData, "hdm-db-2", "COH-MEM-47"),
    found(HolderSkipped, "hdm-db-2", "COH-MHO-01"),
    found(OwnerNotAsked, "hdm-db-2", "COH-MHO-02"),
    found(EntryLeavesEarly, "hdm-db-filter", "COH-SFI-01"),
    found(AnswerBeforeWriteDone, "hdm-db-2", "COH-SFI-05"),
    found(DirtyHostNotWritten, "hdm-db-2", "COH-SFI-05"),
    found(BisnpBlocksRwd, "hdm-db-2", "COH-SFI-06"),
    found(ReqServedUnderBisnp, "hdm-db-2", "COH-SFI-06"),
    found_with(HostOldBytes, "hdm-db-2", |c| c.without_bytes = WithoutBytes::Write, "COH-SFI-10"),
    found_with(BytesNotAsked, "hdm-db-2-loads", |c| c.without_bytes = WithoutBytes::Write, "COH-INV-10"),
    found_with(BlockAnswerEarly, "hdm-db-block", |c| c.mem.block_answer = BlockAnswer::Whole, "COH-BLK-04"),
    found(BlockLineReleased, "hdm-db-block", "COH-BLK-05"),
    found(ConflictOnReq, "hdm-db-2", "COH-BIC-01"),
    found(AckWithheld, "hdm-db-2", "COH-BIC-01"),
    found(ConflictRowSwapped, "hdm-db-2", "COH-BIC-04"),
    found(OneConflictForBlock, "hdm-db-block", "COH-BIC-10"),
    found(GrantNotUsed, "hdm-db-2", "COH-INV-10"),
    tested(InterfaceForgotten, "COH-P2P-02"),
    tested(PartOfUio, "COH-UIO-02"),
    found(UioSkipsHolders, "hdm-db-uio", "COH-UIO-01"),
    found_with(LoadSkipsSnoops, "hdm-db-2", |c| c.mem.throughput_reduction = 2, "COH-MHO-01"),
    found(WholeKeepsPoison, "hdm-db-2-poison", "COH-PSN-04"),
    tested(LoadHidesPoison, "COH-PSN-05"),
    found(FwdBeforeWriteDone, "hdm-d", "COH-BIA-12"),
    found(LocalUseInHostBias, "hdm-d", "COH-INV-13"),
    found(BackFlipUnsnooped, "hdm-d", "COH-BIA-13"),
    found_with(FlushFlips, "hdm-d", |c| c.mem.flush_keeps_shared = true, "COH-BIA-14"),
    found(ReqWaitsForOwnRequest, "hdm-d", "COH-BIA-15"),
];

/// For each litmus shape a rule by which its forbidden outcome is seen when it is off.
///
/// CoRR of HDM-DB takes a rule about the fill: all data comes from the device's memory, which takes a write of the recorded
/// owner alone, so an old value behind a new one can only come from an answer that nobody waits for any more. CoRW takes a
/// store that is lost: nobody but the storing core is left to snoop.
pub static SHAPE_KILLERS: &[Killer] = &[
    found(DirtyDropped, "cxl-cache-corr", "COH-INV-02"),
    found(DirtyDropped, "cxl-cache-coww", "COH-INV-02"),
    found(HomeDoesNotBlock, "cxl-cache-cowr", "COH-INV-02"),
    found(DirtyDropped, "cxl-cache-corw", "COH-INV-02"),
    found(SharersNotSnooped, "cxl-cache-mp", "COH-INV-02"),
    found(SharersNotSnooped, "cxl-cache-sb", "COH-INV-02"),
    found(DirtyDropped, "cxl-cache-2+2w", "COH-INV-02"),
    found(FilledWithoutData, "hdm-db-corr", "COH-INV-02"),
    found(DirtyHostNotWritten, "hdm-db-coww", "COH-INV-02"),
    found(DirtyHostNotWritten, "hdm-db-cowr", "COH-INV-02"),
    found(DirtyDropped, "hdm-db-corw", "COH-INV-02"),
    found(HolderSkipped, "hdm-db-mp", "COH-INV-02"),
    found(HolderSkipped, "hdm-db-sb", "COH-INV-02"),
    found(HolderSkipped, "hdm-db-2+2w", "COH-INV-02"),
    found(BackFlipUnsnooped, "hdm-d-corr", "COH-INV-02"),
    found(DirtyDropped, "hdm-d-coww", "COH-INV-02"),
    found(DirtyDropped, "hdm-d-cowr", "COH-INV-02"),
    found(BackFlipUnsnooped, "hdm-d-corw", "COH-INV-02"),
    found(LocalUseInHostBias, "hdm-d-mp", "COH-INV-02"),
    found(LocalUseInHostBias, "hdm-d-sb", "COH-INV-02"),
    found(LocalUseInHostBias, "hdm-d-2+2w", "COH-INV-02"),
    found(FilledWithoutData, "bridge-corr", "COH-INV-02"),
    found(DirtyDropped, "bridge-coww", "COH-INV-02"),
    found(DirtyDropped, "bridge-cowr", "COH-INV-02"),
    found(DirtyDropped, "bridge-corw", "COH-INV-02"),
    found(HolderSkipped, "bridge-mp", "COH-INV-02"),
    found(HolderSkipped, "bridge-sb", "COH-INV-02"),
    found(DirtyDropped, "bridge-2+2w", "COH-INV-02"),
];

/// What finds a mutant.
pub fn of(mutant: CoherenceMutant) -> Option<&'static Killer> {
    KILLERS.iter().find(|k| k.mutant == mutant)
}
