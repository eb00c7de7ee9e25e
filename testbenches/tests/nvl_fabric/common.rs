//! Runs of the scenarios.

use scalepool::nodes::nvlink::gpu::Mutant;
use scalepool::scenario::nvlink::pod::Mutants;
use scalepool::scenario::nvlink::{pair, pod};
use scalepool::scenario::report::Report;
use scalepool::scenario::settings::{Key, Settings};
use scalepool::scenario::{Request, RunError};

fn settings(keys: &'static [Key], set: &[&str]) -> Settings {
    let mut settings = Settings::new(keys);
    set.iter().for_each(|text| settings.set(text).expect("a legal setting"));
    settings
}

pub fn request(scenario: &str, set: &[&str]) -> Request {
    let set = set.iter().map(|&text| text.to_owned()).collect();
    Request { scenario: scenario.into(), seed: 7, threads: 1, set, ..Request::default() }
}

/// `nvlink-pair` with a mistake.
pub fn pair_with(mutant: Mutant, set: &[&str]) -> Report {
    let request = request(pair::NAME, set);
    let built = pair::build_with(&request, &settings(pair::KEYS, set), mutant);
    built.and_then(|built| built.run(&request, &mut |_| ())).expect("it runs")
}

/// `nvlink-pair`, without broken rules.
pub fn run_pair(set: &[&str]) -> Report {
    clean(pair_with(Mutant::None, set))
}

/// `nvlink-pod` with mistakes.
pub fn pod_with(mutants: Mutants, set: &[&str]) -> Report {
    try_pod(mutants, set).expect("it runs")
}

fn run_pod_with(request: &Request, mutants: Mutants, set: &[&str]) -> Result<Report, RunError> {
    pod::build_with(request, &settings(pod::KEYS, set), mutants)?.run(request, &mut |_| ())
}

pub fn try_pod(mutants: Mutants, set: &[&str]) -> Result<Report, RunError> {
    run_pod_with(&request(pod::NAME, set), mutants, set)
}

/// `nvlink-pod`, without broken rules.
pub fn run_pod(set: &[&str]) -> Report {
    clean(pod_with(Mutants::default(), set))
}

/// The same on so many threads.
pub fn run_pod_on(threads: usize, set: &[&str]) -> Report {
    let request = Request { threads, ..request(pod::NAME, set) };
    clean(run_pod_with(&request, Mutants::default(), set).expect("it runs"))
}

/// The same with another seed.
pub fn pod_of_seed(seed: u64, set: &[&str]) -> Report {
    let request = Request { seed, ..request(pod::NAME, set) };
    clean(run_pod_with(&request, Mutants::default(), set).expect("it runs"))
}

fn clean(report: Report) -> Report {
    assert_eq!(rules(&report), Vec::<&str>::new(), "{}", report.violations[0].violation);
    report
}

/// Rules that were broken, each once, sorted.
pub fn rules(report: &Report) -> Vec<&'static str> {
    let mut rules: Vec<_> = report.violations.iter().map(|b| b.violation.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// A count of a report.
pub fn count(report: &Report, name: &str) -> u64 {
    let all = report.counts.iter().chain(&report.messages);
    all.clone().find(|(k, _)| k == name).unwrap_or_else(|| panic!("no count `{name}`")).1
}
