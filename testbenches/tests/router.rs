//! Routers with virtual channels, topologies, and the queues whose figures theory knows.

mod allocation;
mod buffers;
mod deadlock;
mod file;
mod latency;
mod programs;
mod routing;
mod theory;
mod topology;
mod traffic;

use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, RunError, ScenarioRequest};

fn request(scenario: &str, set: &[&str]) -> ScenarioRequest {
    let set = set.iter().map(|&text| text.to_owned()).collect();
    ScenarioRequest { scenario: scenario.into(), seed: 7, threads: 1, set, ..ScenarioRequest::default() }
}

fn run(scenario: &str, set: &[&str]) -> Result<ScenarioReport, RunError> {
    scenario::run(&request(scenario, set), &mut |_| ())
}

/// A run that ends well.
fn good(scenario: &str, set: &[&str]) -> ScenarioReport {
    let report = run(scenario, set).unwrap_or_else(|e| panic!("{scenario} {set:?}: {e}"));
    assert_eq!(report.violations, [], "{scenario} {set:?}");
    report
}
