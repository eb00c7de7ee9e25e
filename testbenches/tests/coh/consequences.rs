//! Rules of the engine that are off, one at a time, and what each is seen by: with all monitors, and with those of steps (V5 to
//! V8, which restate the rules) switched off, by what it does to states, values and progress alone, or by what the agents
//! themselves report of a message that cannot be. The same over two levels stands in `composite`, over memories behind a port in
//! `memory_behind`.
//!
//! `GrantedHoldsSnoop` does nothing else: the data that its device waits for is on its way whenever the grant is, and a snoop does
//! not stop it. Only the monitor of O7 sees it.

use scalepool::proof::explore::killers::{self, KILLERS};
use scalepool::proof::explore::named::{NamedSystem, find};
use scalepool::proof::explore::{Explored, Limits};
use scalepool::proof::mutant::CoherenceMutant::{self, *};
use scalepool::proof::systems::bias::{Setup as BiasSetup, system as bias};
use scalepool::proof::systems::cache::{Setup as CacheSetup, system as cache};
use scalepool::proof::systems::mem::{Setup as MemSetup, system as mem};

/// The rule that is off, the rule that all monitors name, and the harm that is left to be seen without those of steps.
type Row = (CoherenceMutant, &'static str, &'static str);

const TABLE: &[Row] = &[
    (SnoopPassesGo, "COH-ORD-01", "COH-ORD-06"),
    (HomeDoesNotBlock, "COH-HOM-01", "COH-REQ-20"),
    (SnoopDuringPull, "COH-HOM-01", "COH-REQ-20"),
    (SnoopBetweenDataAndGo, "COH-HOM-01", "COH-ORD-06"),
    (SnoopWaitsForRequest, "COH-ORD-07", "COH-INV-09"),
    (GoBeforeAnswers, "COH-ORD-08", "COH-INV-04"),
    (EvictUntracksAll, "COH-ORD-12", "COH-INV-04"),
    (UseAfterEvict, "COH-STA-04", "COH-INV-01"),
    (BogusNotSet, "COH-BOG-01", "COH-EVT-03"),
    (BogusWritten, "COH-BOG-03", "COH-INV-03"),
    (GrantedAnswersAsInvalid, "COH-TRN-03", "COH-INV-04"),
    (GrantedHoldsSnoop, "COH-ORD-07", "nothing"),
    (OldBytesKept, "COH-TRN-02", "COH-INV-02"),
    (StaleEvictClearsOwner, "COH-EVT-04", "COH-INV-04"),
    (CurrentDataCleansOwner, "COH-HOM-04", "COH-EVT-03"),
    (SharersNotSnooped, "COH-HOM-02", "COH-INV-04"),
    (DirtyDropped, "COH-STA-02", "COH-INV-03"),
    (CopyKeptUnderSnpInv, "COH-SNP-06", "COH-INV-04"),
    (CleanGrantedDirty, "COH-REQ-17", "COH-REQ-17"),
    (WriteEndsBeforeData, "COH-ORD-13", "COH-ORD-13"),
    (StoreNotAwaited, "COH-HOM-01", "COH-INV-03"),
    (FillCleansPoison, "COH-PSN-01", "COH-PSN-01"),
    (PoisonLeftBehind, "COH-PSN-01", "COH-PSN-01"),
    (MemoryCleansPoison, "COH-PSN-01", "COH-PSN-01"),
    (PartClearsPoison, "COH-PSN-03", "COH-PSN-03"),
    (FillPoisons, "COH-PSN-02", "COH-PSN-02"),
    (AckPassesCmp, "COH-BIC-03", "COH-INV-04"),
    (ReqPassesFwd, "COH-BIA-11", "COH-INV-01"),
    (FilledWithoutData, "COH-MEM-47", "COH-MEM-47"),
    (HolderSkipped, "COH-MHO-01", "COH-INV-04"),
    (OwnerNotAsked, "COH-MHO-02", "COH-INV-01"),
    (EntryLeavesEarly, "COH-SFI-01", "COH-INV-12"),
    (AnswerBeforeWriteDone, "COH-SFI-05", "COH-MEM-42"),
    (DirtyHostNotWritten, "COH-SFI-05", "COH-INV-03"),
    (BisnpBlocksRwd, "COH-SFI-06", "COH-INV-09"),
    (ReqServedUnderBisnp, "COH-SFI-06", "COH-INV-04"),
    (HostOldBytes, "COH-SFI-10", "COH-INV-02"),
    (BytesNotAsked, "COH-INV-10", "COH-INV-10"),
    (BlockAnswerEarly, "COH-BLK-04", "COH-BIC-11"),
    (BlockLineReleased, "COH-BLK-05", "COH-SFI-08"),
    (ConflictOnReq, "COH-BIC-01", "COH-INV-09"),
    (AckWithheld, "COH-BIC-01", "COH-INV-09"),
    (ConflictRowSwapped, "COH-BIC-04", "COH-INV-04"),
    (OneConflictForBlock, "COH-BIC-10", "COH-INV-09"),
    (GrantNotUsed, "COH-INV-10", "COH-INV-10"),
    (UioSkipsHolders, "COH-UIO-01", "COH-INV-02"),
    (LoadSkipsSnoops, "COH-MHO-01", "COH-INV-04"),
    (WholeKeepsPoison, "COH-PSN-04", "COH-PSN-04"),
    (FwdBeforeWriteDone, "COH-BIA-12", "COH-INV-02"),
    (LocalUseInHostBias, "COH-INV-13", "COH-INV-13"),
    (BackFlipUnsnooped, "COH-BIA-13", "COH-INV-13"),
    (FlushFlips, "COH-BIA-14", "COH-INV-04"),
    (ReqWaitsForOwnRequest, "COH-BIA-15", "COH-INV-09"),
];

/// The exploration that finds a mutant, with the monitors of steps or without.
fn start(mutant: CoherenceMutant, orders: bool) -> Option<Box<dyn Explored>> {
    let (named, config) = killers::of(mutant)?.case()?;
    // The exploration of values is the other one without those monitors.
    let name = if named.name == "cxl-cache-2-values" { "cxl-cache-2" } else { named.name };
    Some(match (find(name)?.system)(config) {
        NamedSystem::Cache(setup) => Box::new(cache(CacheSetup { orders, ..setup })),
        NamedSystem::HdmDb(setup) => Box::new(mem(MemSetup { orders, ..setup })),
        NamedSystem::HdmD(setup) => Box::new(bias(BiasSetup { orders, ..setup })),
        other => panic!("{mutant:?}: {other:?} cannot go without monitors of steps"),
    })
}

#[test]
fn every_rule_that_is_off_is_seen_by_what_it_does() {
    let explored: Vec<CoherenceMutant> = KILLERS.iter().filter(|k| k.exploration.is_some()).map(|k| k.mutant).collect();
    let listed: Vec<CoherenceMutant> = TABLE.iter().map(|row| row.0).collect();
    let mut wrong = 0;
    for &mutant in &explored {
        let found = |orders| {
            let start = start(mutant, orders).expect("an exploration");
            // What never ends is looked for where nothing else is to be seen.
            let expected = TABLE.iter().find(|row| row.0 == mutant).map(|row| if orders { row.1 } else { row.2 });
            let liveness = expected.is_none_or(|rule| ["COH-INV-10", "nothing"].contains(&rule));
            let report = start.search(Limits { states: 800_000, liveness, ..Limits::default() }, &mut |_| ());
            assert!(report.complete || report.violation.is_some());
            report.violation.map_or("nothing", |violation| violation.event.rule)
        };
        let row = (mutant, found(true), found(false));
        println!("    ({mutant:?}, {:?}, {:?}),", row.1, row.2);
        wrong += usize::from(!TABLE.contains(&row));
    }
    assert_eq!((listed, wrong), (explored, 0), "the table is another one");
}
