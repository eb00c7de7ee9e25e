//! Exhaustive exploration of CXL.cache.

use scalepool::coherence::cache::system::{ALL_REQUESTS, CacheSystem, Setup};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::explore::{Limits, Report, search};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// What the size hints of the sheet (§4) cover: reads, ItoMWr, evicts and drops.
pub const HINTED: &[Op] = &[
    Op::RdShared,
    Op::RdOwn,
    Op::RdOwnNoData,
    Op::RdAny,
    Op::RdCurr,
    Op::ItoMWr,
    Op::CleanEvict,
    Op::CleanEvictNoData,
    Op::DirtyEvict,
];

pub fn drops() -> CoherenceConfig {
    CoherenceConfig { silent_drop_e: true, ..CoherenceConfig::default() }
}

fn clean(report: &Report) {
    if let Some(v) = &report.violation {
        for step in &v.steps {
            println!("{step:?}");
        }
        panic!("{}", v.event);
    }
    assert!(report.complete);
}

#[test]
fn two_devices_hinted() {
    let report = search(&CacheSystem::new(Setup::free(drops(), 2, HINTED)), Limits::default());
    println!("{} states, {} transitions, depth {}", report.states, report.transitions, report.depth);
    clean(&report);
}

#[test]
fn two_devices_all() {
    let config = CoherenceConfig { alternatives: true, ..drops() };
    let mut setup = Setup::free(config, 2, ALL_REQUESTS);
    setup.core = true;
    let report = search(&CacheSystem::new(setup), Limits { symmetry: true, ..Limits::default() });
    println!("{} states, {} transitions, depth {}", report.states, report.transitions, report.depth);
    clean(&report);
}

#[test]
fn three_devices_hinted() {
    let limits = Limits { symmetry: true, ..Limits::default() };
    let report = search(&CacheSystem::new(Setup::free(drops(), 3, HINTED)), limits);
    println!("{} states, {} transitions, depth {}", report.states, report.transitions, report.depth);
    clean(&report);
}
