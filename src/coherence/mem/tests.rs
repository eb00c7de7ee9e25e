//! The exploration of HDM-DB and what each mutant is found by.

use super::system::{MemSystem, Setup};
use super::{DeviceOp, HostReq};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::explore::{Limits, Report, search};

fn explore(setup: Setup) -> Report {
    let start = std::time::Instant::now();
    let report = search(&MemSystem::new(setup), Limits { states: 3_000_000, symmetry: false });
    println!("{} states {} transitions depth {} {:?}", report.states, report.transitions, report.depth, start.elapsed());
    if let Some(v) = &report.violation {
        println!("{}", v.event);
        for s in &v.steps {
            println!("  {s:?}");
        }
    }
    report
}

#[test]
fn core_of_two_hosts() {
    let report = explore(Setup::core(CoherenceConfig::default(), 2));
    assert!(report.violation.is_none() && report.complete);
}

#[test]
fn everything_of_two_hosts() {
    let report = explore(Setup::everything(CoherenceConfig::default(), 2));
    assert!(report.violation.is_none() && report.complete);
}

#[test]
fn core_of_three_hosts() {
    let report = explore(Setup::core(CoherenceConfig::default(), 3));
    assert!(report.violation.is_none() && report.complete);
}
