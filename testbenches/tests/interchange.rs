//! Waves between this program and others: what we write, others read, and what others write, we read.

mod analyser;
mod bus;
mod capture;
mod coherence;
mod fst;
mod gtkwave;
mod inspect;
mod liveness;
mod own;
mod transactions;

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_testbenches::soak::is_soak;
use std::path::{Path, PathBuf};

/// A run of a scenario with these settings and outputs.
fn run(scenario: &str, set: &[&str], outputs: Outputs) -> ScenarioReport {
    let set = set.iter().map(|s| s.to_string()).collect();
    let request =
        ScenarioRequest { scenario: scenario.into(), seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).expect("the scenario runs")
}

/// A setting that says how much work there is: half of it, in `make soak` all.
fn work(key: &str, whole: u64) -> String {
    let amount = if is_soak() { whole } else { whole / 2 };
    format!("{key}={amount}")
}

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
