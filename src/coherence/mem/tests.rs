//! The exploration of HDM-DB and what each mutant is found by.

use super::system::{MemSystem, Setup};
use super::{DeviceOp, HostReq};
use super::tables::Copy4;
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

#[test]
fn all_requests_of_two_hosts() {
    let setup = Setup {
        device: Vec::new(),
        drops: false,
        requests: HostReq::ALL.into_iter().filter(|r| *r != HostReq::INV_NT && *r != HostReq::SPEC_RD).collect(),
        ..Setup::everything(CoherenceConfig::default(), 2)
    };
    let report = explore(setup);
    assert!(report.violation.is_none() && report.complete);
}

#[test]
fn device_cache_and_two_hosts() {
    let setup = Setup {
        device: vec![DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict],
        write_backs: vec![Copy4::I, Copy4::S],
        ..Setup::core(CoherenceConfig::default(), 2)
    };
    let report = explore(setup);
    assert!(report.violation.is_none() && report.complete);
}
