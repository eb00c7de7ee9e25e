//! Random testing of the agents: three million operations, and the litmus shapes with and without the rules that guard
//! them.
//!
//! `SCALEPOOL_SOAK` multiplies operations and runs: `make soak` has thirty million.

use super::mem_explore::with;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::mem::options::MemConfig;
use scalepool::coherence::mutant::Mutant;
use scalepool::proof::litmus::shapes::SHAPES;
use scalepool::proof::stress::litmus::explore;
use scalepool::proof::stress::{Counts, Protocol, Stress};

/// How much more than in the normal run.
pub fn soak() -> u64 {
    std::env::var("SCALEPOOL_SOAK")
        .map_or(1, |text| text.parse().unwrap_or_else(|_| panic!("SCALEPOOL_SOAK: found `{text}`, expected a factor")))
}

/// Runs of one protocol, seed after seed, until all operations are done; a failure prints its seed.
pub fn runs(protocols: &[Protocol], seeds: u64, operations: u64) -> Counts {
    let mut sum = Counts::default();
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

/// Of three million operations half are over CXL.cache, with 2 to 16 devices.
#[test]
fn stress_cxl_cache() {
    let sum = runs(&[2, 3, 4, 8, 16].map(Protocol::Cache), 80, 1_500_000 * soak());
    assert!(sum.operations >= 1_500_000 && sum.writes > 0);
}

#[test]
fn stress_hdm_db() {
    let sum = runs(&[2, 3, 4, 8].map(Protocol::HdmDb), 64, 1_200_000 * soak());
    assert!(sum.operations >= 1_200_000);
}

#[test]
fn stress_hdm_d() {
    let sum = runs(&[Protocol::HdmD], 32, 300_000 * soak());
    assert!(sum.operations >= 300_000 && sum.writes > 0);
}

#[test]
fn equal_seeds_give_equal_runs() {
    for protocol in [Protocol::Cache(4), Protocol::HdmDb(3), Protocol::HdmD] {
        let run = || Stress::new(protocol, 7, 3_000).run();
        assert_eq!(run(), run());
    }
}

/// What a failure tells is enough to repeat it.
#[test]
fn a_failure_names_its_seed_and_the_last_messages() {
    let mut stress = Stress::new(Protocol::Cache(3), 5, 100_000);
    stress.config.mutant = Some(Mutant::SharersNotSnooped);
    let failure = *stress.run().expect_err("a rule is off");
    assert_eq!(failure.seed, 5);
    assert!(failure.event.rule.starts_with("COH-INV-"), "{failure}");
    assert!(!failure.last.is_empty() && !failure.states.is_empty(), "{failure}");
    assert_eq!(stress.run(), Err(Box::new(failure)));
}

/// Mutants that the random tester sees, beside the exploration.
#[test]
fn stress_kills_mutants() {
    use Mutant::*;
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
    let all = cache.map(|m| (Protocol::Cache(3), m)).into_iter();
    let all = all.chain(db.map(|m| (Protocol::HdmDb(3), m))).chain(d.map(|m| (Protocol::HdmD, m)));
    for (protocol, mutant) in all {
        let killer = (0..20).find_map(|seed| {
            let mut stress = Stress::new(protocol, seed, 10_000);
            stress.config.mutant = Some(mutant);
            stress.run().err()
        });
        let failure = killer.unwrap_or_else(|| panic!("{mutant:?} lives"));
        println!("{mutant:?}: seed {}, step {}: {}", failure.seed, failure.step, failure.event.rule);
    }
}

/// COH-T10: the shapes over host, devices and HDM-DB; no forbidden outcome.
#[test]
fn scenario_coh_t10() {
    for protocol in [Protocol::Cache(3), Protocol::HdmDb(4), Protocol::HdmD] {
        for shape in SHAPES.iter().filter(|s| s.programs.len() <= 2 || protocol != Protocol::HdmD) {
            let seen = explore(shape, protocol, &CoherenceConfig::default(), 1_000 * soak());
            println!("{protocol:?} {}: {} outcomes", shape.name, seen.outcomes.len());
            assert_eq!((seen.forbidden, seen.broken), (0, 0), "{protocol:?} {} {seen:?}", shape.name);
        }
    }
    let config = with(MemConfig { shared_grants_exclusive: true, ..MemConfig::default() });
    for shape in SHAPES {
        let seen = explore(shape, Protocol::HdmDb(4), &config, 200 * soak());
        assert_eq!((seen.forbidden, seen.broken), (0, 0), "{} {seen:?}", shape.name);
    }
}

/// A rule that is off, the protocol, and the shapes whose forbidden outcome is seen then.
const PAIRS: &[(Protocol, Mutant, &[&str])] = &[
    (Protocol::Cache(3), Mutant::HomeDoesNotBlock, &["CoWR", "SB"]),
    (Protocol::Cache(3), Mutant::GoBeforeAnswers, &["CoWR", "SB"]),
    (Protocol::Cache(3), Mutant::SharersNotSnooped, &["MP", "SB", "IRIW"]),
    (Protocol::Cache(3), Mutant::CopyKeptUnderSnpInv, &["MP", "SB", "IRIW"]),
    (Protocol::Cache(3), Mutant::DirtyDropped, &["CoRR", "CoWW", "CoRW", "MP", "SB"]),
    (Protocol::HdmDb(4), Mutant::HolderSkipped, &["SB", "2+2W"]),
    (Protocol::HdmDb(4), Mutant::OwnerNotAsked, &["CoWW", "SB"]),
    (Protocol::HdmDb(4), Mutant::AnswerBeforeWriteDone, &["CoWW", "CoWR", "SB"]),
    (Protocol::HdmDb(4), Mutant::DirtyHostNotWritten, &["CoWW", "CoWR", "SB"]),
    (Protocol::HdmD, Mutant::FwdBeforeWriteDone, &["MP", "SB"]),
    (Protocol::HdmD, Mutant::LocalUseInHostBias, &["MP", "SB", "2+2W"]),
    (Protocol::HdmD, Mutant::BackFlipUnsnooped, &["CoRR", "CoRW", "MP", "SB"]),
];

/// Every forbidden outcome is seen when a rule that forbids it is off.
#[test]
fn a_missing_rule_shows_the_forbidden_outcome() {
    for &(protocol, mutant, shapes) in PAIRS {
        let config = CoherenceConfig { mutant: Some(mutant), ..CoherenceConfig::default() };
        for name in shapes {
            let shape = SHAPES.iter().find(|s| s.name == *name).expect("a shape");
            let seen = explore(shape, protocol, &config, 1_500);
            println!("{protocol:?}, {mutant:?}, {name}: {} of 1500", seen.forbidden);
            assert!(seen.forbidden > 0, "{protocol:?}, {mutant:?}, {name}: {seen:?}");
        }
    }
}
