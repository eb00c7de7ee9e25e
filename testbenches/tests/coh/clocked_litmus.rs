//! `.litmus` files on clocked cores over links: outcomes stay inside the explored set, and what leaves it is found.
//!
//! All shapes in all orders over all protocols, against axioms: `testbenches/litmus/runs.py`.

use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::litmus::herd::{HerdHistogram, HerdTest, OutcomeSet, SeenOutcome, parse};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::scenario::litmus::{LitmusSimulation, amended_litmus, litmus};
use scalepool::scenario::{Modes, ScenarioRequest};

const MP: &str = " w[] x 1 | r[] r0 y ;\n w[] y 1 | r[] r1 x ;";
const SB: &str = " w[] x 1 | w[] y 1 ;\n r[] r0 y | r[] r0 x ;";

fn lisa(orders: &str, rows: &str, names: &str) -> HerdTest {
    let text = format!(
        "LISA t\nOrders={orders}\n{{ x=0; y=7; }}\n P0 | P1 ;\n{rows}\nlocations [{names} x; y;]\nexists (true)\n"
    );
    parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn explored(test: &HerdTest) -> OutcomeSet {
    test.explore(CoherenceConfig::default(), 1_000_000, &mut |_| ()).expect("values of a byte").allowed()
}

fn request(scenario: &str, set: &[&str], seed: u64) -> ScenarioRequest {
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    ScenarioRequest { scenario: scenario.to_owned(), set, seed, threads: 1, ..ScenarioRequest::default() }
}

fn histogram(test: &HerdTest, allowed: OutcomeSet, simulations: &[LitmusSimulation]) -> HerdHistogram {
    let mut seen = Vec::new();
    for of in simulations {
        for (values, runs, run) in &of.outcomes {
            seen.push((values, SeenOutcome { runs: *runs, seed: of.seed, run: *run }));
        }
    }
    test.histogram(allowed, seen)
}

fn runs(simulations: &[LitmusSimulation]) -> u64 {
    simulations.iter().flat_map(|s| &s.outcomes).map(|(_, runs, _)| runs).sum()
}

/// Sequential cores and such with store buffers over a link that loses flits: nothing outside, and the set is reached.
#[test]
fn runs_over_links_with_bit_errors_stay_inside_the_set() {
    for (orders, rows, names, all) in [("SC,SC", MP, "1:r0; 1:r1;", 3), ("TSO,TSO", SB, "0:r0; 1:r0;", 4)] {
        let test = lisa(orders, rows, names);
        let allowed = explored(&test);
        assert_eq!(allowed.len(), all, "{orders}");
        let request = request("cxl-cache-pair", &["link.ber=1e-5"], 11);
        let ended = litmus(&request, &test.threads(), 400).expect("they may run");
        assert_eq!((runs(&ended), ended.iter().map(|s| s.violations.len()).sum::<usize>()), (400, 0));
        let found = histogram(&test, allowed, &ended);
        assert_eq!((found.outside().count(), found.reached()), (0, all), "{orders}");
    }
}

/// Cores that are weaker than what the set was explored for; and agents of which one rule is off.
#[test]
fn an_outcome_outside_the_set_is_found_and_its_seed_repeats_it() {
    let (strict, weak) = (lisa("SC,SC", MP, "1:r0; 1:r1;"), lisa("ARM,ARM", MP, "1:r0; 1:r1;"));
    let allowed = explored(&strict);
    let ended = litmus(&request("cxl-cache-pair", &[], 3), &weak.threads(), 1_200).expect("they may run");
    assert_eq!(ended.len(), 2, "a simulation has 1000 runs");
    let found = histogram(&strict, allowed.clone(), &ended);
    let (outcome, first) =
        found.outside().map(|(o, s)| (o.clone(), *s)).next().expect("weak cores swap loads or stores");
    let again = litmus(&request("cxl-cache-pair", &[], first.seed), &weak.threads(), first.run).expect("they may run");
    let again = histogram(&strict, allowed.clone(), &again);
    let repeated = again.outside().find(|(o, _)| **o == outcome).map(|(_, s)| (s.seed, s.run));
    assert_eq!(repeated, Some((first.seed, first.run)));

    for (scenario, mutant) in
        [("cxl-cache-pair", CoherenceMutant::SharersNotSnooped), ("hdm-db-share", CoherenceMutant::HolderSkipped)]
    {
        // The watcher would end the run at the first step that breaks a rule.
        let request = request(scenario, &["watch=off"], 5);
        let amend = |config: &mut CoherenceConfig| config.rules = mutant.rules();
        let ended = amended_litmus(&request, &strict.threads(), 300, &amend).expect("they may run");
        assert!(histogram(&strict, allowed.clone(), &ended).outside().next().is_some(), "{mutant:?}");
    }
}

/// Monitors of clocked cores: a store exclusive fails where another core has taken the line, and stores where none has.
#[test]
fn exclusive_accesses_of_clocked_cores_stay_inside_the_set() {
    let test = increments();
    let ended = litmus(&request("cxl-cache-pair", &[], 21), &test.threads(), 300).expect("they may run");
    assert!(ended.iter().all(|s| s.violations.is_empty()), "{ended:?}");
    let found = histogram(&test, explored(&test), &ended);
    assert_eq!((runs(&ended), found.outside().count()), (300, 0));
    // Both stored, one behind the other; one has failed, or both.
    assert!(found.reached() >= 4, "{} outcomes", found.reached());
}

/// Two cores that increment a line by exclusive accesses.
fn increments() -> HerdTest {
    let rows = " LDXR W0,[X5] | LDXR W0,[X5] ;\n ADD W1,W0,#1 | ADD W1,W0,#1 ;\n STXR W2,W1,[X5] | STXR W2,W1,[X5] ;";
    let text = format!(
        "AArch64 t\n{{ x=0; 0:X5=x; 1:X5=x; }}\n P0 | P1 ;\n{rows}\nlocations [0:X0; 0:X2; 1:X0; 1:X2; x;]\nexists (true)\n"
    );
    parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The file says CXL.cache, the system has HDM: a store exclusive could not fail there, so its core would wait for ever.
#[test]
fn exclusive_accesses_on_cores_over_hdm_are_refused() {
    for (scenario, role) in [("hdm-db-share", "a host of HDM-DB"), ("bias-flip", "a host of HDM-D")] {
        let error = litmus(&request(scenario, &[], 1), &increments().threads(), 1).expect_err("refused").to_string();
        assert!(error.starts_with("a litmus program: found exclusive accesses where "), "{scenario}: {error}");
        assert!(error.contains(&format!(" is {role}, expected devices of CXL.cache alone")), "{scenario}: {error}");
    }
}

/// Threads and the order of evaluation change nothing.
#[test]
fn runs_are_the_same_on_threads_and_in_any_order_of_evaluation() {
    let test = lisa("TSO,ARM", SB, "0:r0; 1:r0;");
    let ended = |threads, modes| {
        let request = ScenarioRequest { threads, modes, ..request("hdm-db-share", &[], 9) };
        litmus(&request, &test.threads(), 1_100).expect("they may run")
    };
    let first = ended(1, Modes::default());
    assert_eq!(first, ended(2, Modes::default()));
    assert_eq!(first, ended(1, Modes { shuffle: Some(4), evaluate_idle: true }));
}

/// Systems whose cores cannot run a program.
#[test]
fn a_system_that_does_not_fit_is_refused() {
    let test = lisa("SC,SC", MP, "1:r0; 1:r1;");
    for (scenario, set, text) in [
        ("cxl-cache-pair", &["devices=1"][..], "found 1 cores, expected 2, one for each thread"),
        ("cxl-cache-peers", &[], "found 2 homes of lines, expected a coherent system with exactly one"),
        ("cxl68-expander", &[], "found 0 homes of lines"),
    ] {
        let error = litmus(&request(scenario, set, 1), &test.threads(), 1).expect_err("refused").to_string();
        assert!(error.contains(text), "{scenario}: {error}");
    }
}

/// Logs of herd7 and litmus7 as sets.
#[test]
fn a_log_gives_the_allowed_outcomes() {
    let test = lisa("SC,SC", MP, "1:r0; 1:r1;");
    let herd = "Test t Allowed\nStates 2\n1:r0=0; 1:r1=0; [x]=1; [y]=1;\n1:r0=1; 1:r1=1; [x]=1; [y]=1;\nOk\n";
    let litmus7 = "Histogram (2 states)\n12    :>1:r1=0; 1:r0=0; x=1; y=1;\n3     *>1:r0=1; 1:r1=1; x=1; y=1;\n";
    let expected: OutcomeSet = [vec![0, 0, 1, 1], vec![1, 1, 1, 1]].into();
    assert_eq!(test.allowed_by(herd), Ok(expected.clone()));
    assert_eq!(test.allowed_by(litmus7), Ok(expected));
    for (log, found) in [
        ("Test t Allowed\n", "line 1, column 1: found no outcomes"),
        ("States 2\n1:r0=0; 1:r1=0; [x]=1; [y]=1;\n", "line 2, column 1: found 1 outcomes, expected 2 outcomes"),
        (
            "States 1\n1:r0=0; 1:r1=0;\n",
            "line 2, column 1: found `1:r0=0; 1:r1=0;`, expected values of 1:r0, 1:r1, x, y",
        ),
        ("States 1\n1:r0=0; 1:r1=?;\n", "line 2, column 1: found `1:r1=?`"),
    ] {
        let error = test.allowed_by(log).expect_err("no such log").to_string();
        assert!(error.starts_with(found), "{error}");
    }
}
