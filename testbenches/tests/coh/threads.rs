//! Threads of an exploration: the report is the same with any number of them.

use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::explore::{ExplorationReport, Limits, named};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool_testbenches::soak::is_soak;

fn report(name: &str, config: &CoherenceConfig, limits: Limits) -> ExplorationReport {
    named::find(name).expect("an exploration").start(config.clone()).search(limits, &mut |_| ())
}

#[track_caller]
fn same_with_any_threads(name: &str, config: &CoherenceConfig, limits: Limits) -> ExplorationReport {
    let one = report(name, config, limits);
    for threads in [2, 3] {
        assert_eq!(report(name, config, Limits { threads, ..limits }), one, "{name} with {threads} threads");
    }
    one
}

/// States, transitions, depth and outcomes, with equal agents told apart and not, and with a limit in the middle.
#[test]
fn counts_do_not_depend_on_threads() {
    for name in ["cxl-cache-2-lines", "hdm-db-filter", "hdm-d", "hdm-db-mp"] {
        for symmetry in [false, true] {
            let limits = Limits { symmetry, states: if is_soak() { 10_000 } else { 2_000 }, ..Limits::default() };
            let all = same_with_any_threads(name, &CoherenceConfig::default(), limits);
            assert!(all.violation.is_none() && all.states > 1, "{name}: {all:?}");
            let half = Limits { states: all.states / 2, ..limits };
            assert!(!same_with_any_threads(name, &CoherenceConfig::default(), half).complete);
        }
    }
}

/// The first fault, with its way and its script; and what never ends.
#[test]
fn a_fault_does_not_depend_on_threads() {
    for mutant in [CoherenceMutant::SharersNotSnooped, CoherenceMutant::SnoopPassesGo] {
        let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
        let limits = Limits { symmetry: true, ..Limits::default() };
        let report = same_with_any_threads("cxl-cache-2", &config, limits);
        assert!(report.violation.is_some(), "{mutant:?}");
    }
    let mut config = CoherenceConfig::default();
    config.mem.one_access = false;
    let report = same_with_any_threads("hdm-db-2-loads", &config, Limits { states: 50_000, ..Limits::default() });
    assert_eq!(report.violation.map(|v| v.event.rule), Some("COH-INV-10"));
}
