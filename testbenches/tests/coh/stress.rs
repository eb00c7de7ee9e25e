//! Random testing of the agents: some hundred thousand operations, and the litmus shapes with and without the rules that guard
//! them.
//!
//! `SCALEPOOL_SOAK` multiplies operations and runs: `make soak` has thirty million.

use super::mem_explore::with;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::mem::options::MemConfig;
use scalepool::proof::litmus::shapes::SHAPES;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::stress::litmus::explore;
use scalepool::proof::stress::{Stress, StressCounts, StressProtocol};
use scalepool_testbenches::soak::number_in;

/// How much more than in the normal run.
pub fn soak() -> u64 {
    number_in("SCALEPOOL_SOAK", 1)
}

/// Runs of one protocol, seed after seed, until all operations are done; a failure prints its seed.
pub fn runs(protocols: &[StressProtocol], seeds: u64, operations: u64) -> StressCounts {
    let mut sum = StressCounts::default();
    for seed in 0..seeds {
        let protocol = protocols[(seed % protocols.len() as u64) as usize];
        let stress = Stress::new(protocol, seed / protocols.len() as u64, operations / seeds);
        let counts = stress.run().unwrap_or_else(|failure| panic!("{protocol:?}\n{failure}"));
        sum.operations += counts.operations;
        sum.loads += counts.loads;
        sum.stores += counts.stores;
        sum.writes += counts.writes;
        sum.messages += counts.messages;
        sum.devload = sum.devload.max(counts.devload);
    }
    println!("{sum:?}");
    sum
}

/// Of all operations half are over CXL.cache, with 2 to 16 devices.
#[test]
fn stress_cxl_cache() {
    let sum = runs(&[2, 3, 4, 8, 16].map(StressProtocol::Cache), 40, 80_000 * soak());
    assert!(sum.operations >= 80_000 && sum.writes > 0);
}

#[test]
fn stress_hdm_db() {
    let sum = runs(&[2, 3, 4, 8].map(StressProtocol::HdmDb), 32, 60_000 * soak());
    assert!(sum.operations >= 60_000);
}

#[test]
fn stress_hdm_d() {
    let sum = runs(&[StressProtocol::HdmD], 16, 40_000 * soak());
    assert!(sum.operations >= 40_000 && sum.writes > 0);
}

#[test]
fn equal_seeds_give_equal_runs() {
    for protocol in [StressProtocol::Cache(4), StressProtocol::HdmDb(3), StressProtocol::HdmD] {
        let run = || Stress::new(protocol, 7, 3_000).run();
        assert_eq!(run(), run());
    }
}

/// What a failure tells is enough to repeat it.
#[test]
fn a_failure_names_its_seed_and_the_last_messages() {
    let mut stress = Stress::new(StressProtocol::Cache(3), 5, 100_000);
    stress.config.rules = CoherenceMutant::SharersNotSnooped.rules();
    let failure = *stress.run().expect_err("a rule is off");
    assert_eq!(failure.seed, 5);
    assert!(failure.event.rule.starts_with("COH-INV-"), "{failure}");
    assert!(!failure.last.is_empty() && !failure.states.is_empty(), "{failure}");
    assert_eq!(stress.run(), Err(Box::new(failure)));
}

/// Mutants that the random tester sees, beside the exploration.
#[test]
fn stress_kills_mutants() {
    use CoherenceMutant::*;
    let cache = [
        HomeDoesNotBlock,
        SnoopDuringPull,
        SnoopWaitsForRequest,
        GoBeforeAnswers,
        EvictUntracksAll,
        UseAfterEvict,
        BogusNotSet,
        BogusWritten,
        GrantedAnswersAsInvalid,
        OldBytesKept,
        StaleEvictClearsOwner,
        SharersNotSnooped,
        DirtyDropped,
        CopyKeptUnderSnpInv,
    ];
    let db = [
        AckPassesCmp,
        FilledWithoutData,
        HolderSkipped,
        OwnerNotAsked,
        EntryLeavesEarly,
        AnswerBeforeWriteDone,
        DirtyHostNotWritten,
        BisnpBlocksRwd,
        ConflictOnReq,
        AckWithheld,
        ConflictRowSwapped,
    ];
    let d = [FwdBeforeWriteDone, LocalUseInHostBias, BackFlipUnsnooped];
    let all = cache.map(|m| (StressProtocol::Cache(3), m)).into_iter();
    let all = all.chain(db.map(|m| (StressProtocol::HdmDb(3), m))).chain(d.map(|m| (StressProtocol::HdmD, m)));
    for (protocol, mutant) in all {
        let killer = (0..20).find_map(|seed| {
            let mut stress = Stress::new(protocol, seed, 10_000);
            stress.config.rules = mutant.rules();
            stress.run().err()
        });
        let failure = killer.unwrap_or_else(|| panic!("{mutant:?} lives"));
        println!("{mutant:?}: seed {}, step {}: {}", failure.seed, failure.step, failure.event.rule);
    }
}

/// COH-T10: the shapes over host, devices and HDM-DB; no forbidden outcome.
#[test]
fn scenario_coh_t10() {
    for protocol in [StressProtocol::Cache(3), StressProtocol::HdmDb(4), StressProtocol::HdmD] {
        for shape in SHAPES.iter().filter(|s| s.programs.len() <= 2 || protocol != StressProtocol::HdmD) {
            let seen = explore(shape, protocol, &CoherenceConfig::default(), 250 * soak());
            println!("{protocol:?} {}: {} outcomes", shape.name, seen.outcomes.len());
            assert_eq!((seen.forbidden, seen.broken), (0, 0), "{protocol:?} {} {seen:?}", shape.name);
        }
    }
    let config = with(MemConfig { shared_grants_exclusive: true, ..MemConfig::default() });
    for shape in SHAPES {
        let seen = explore(shape, StressProtocol::HdmDb(4), &config, 50 * soak());
        assert_eq!((seen.forbidden, seen.broken), (0, 0), "{} {seen:?}", shape.name);
    }
}

/// A rule that is off, the protocol, and the shapes whose forbidden outcome is seen then.
const PAIRS: &[(StressProtocol, CoherenceMutant, &[&str])] = &[
    (StressProtocol::Cache(3), CoherenceMutant::HomeDoesNotBlock, &["CoWR", "SB"]),
    (StressProtocol::Cache(3), CoherenceMutant::GoBeforeAnswers, &["CoWR", "SB"]),
    (StressProtocol::Cache(3), CoherenceMutant::SharersNotSnooped, &["MP", "SB", "IRIW"]),
    (StressProtocol::Cache(3), CoherenceMutant::CopyKeptUnderSnpInv, &["MP", "SB", "IRIW"]),
    (StressProtocol::Cache(3), CoherenceMutant::DirtyDropped, &["CoRR", "CoWW", "CoRW", "MP", "SB"]),
    (StressProtocol::HdmDb(4), CoherenceMutant::HolderSkipped, &["SB", "2+2W"]),
    (StressProtocol::HdmDb(4), CoherenceMutant::OwnerNotAsked, &["CoWW", "SB"]),
    (StressProtocol::HdmDb(4), CoherenceMutant::AnswerBeforeWriteDone, &["CoWW", "CoWR", "SB"]),
    (StressProtocol::HdmDb(4), CoherenceMutant::DirtyHostNotWritten, &["CoWW", "CoWR", "SB"]),
    (StressProtocol::HdmD, CoherenceMutant::FwdBeforeWriteDone, &["MP", "SB"]),
    (StressProtocol::HdmD, CoherenceMutant::LocalUseInHostBias, &["MP", "SB", "2+2W"]),
    (StressProtocol::HdmD, CoherenceMutant::BackFlipUnsnooped, &["CoRR", "CoRW", "MP", "SB"]),
];

/// Every forbidden outcome is seen when a rule that forbids it is off.
#[test]
fn a_missing_rule_shows_the_forbidden_outcome() {
    for &(protocol, mutant, shapes) in PAIRS {
        let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
        for name in shapes {
            let shape = SHAPES.iter().find(|s| s.name == *name).expect("a shape");
            let seen = explore(shape, protocol, &config, 1_500);
            println!("{protocol:?}, {mutant:?}, {name}: {} of 1500", seen.forbidden);
            assert!(seen.forbidden > 0, "{protocol:?}, {mutant:?}, {name}: {seen:?}");
        }
    }
}
