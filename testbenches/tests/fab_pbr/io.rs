//! Root complexes that find devices and use them through a fabric: what they see of it, whatever the number of switches between.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::scenario::report::ScenarioReport;

pub const FABRIC: &str = include_str!("../../systems/pbr_io.toml");

pub fn good(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

pub fn of_hosts(report: &ScenarioReport, name: &str) -> [u64; 2] {
    [0, 1].map(|n| count(report, &format!("host[{n}]"), name))
}

/// Each root finds its edge, and for each of two devices a vPPB, a switch with one port, and the device.
#[test]
fn roots_find_devices_behind_a_fabric() {
    let report = good(FABRIC, &["host.accesses=60"]);
    assert_eq!(of_hosts(&report, "functions"), [9, 9]);
    assert_eq!(of_hosts(&report, "BARs"), [4, 4]);
    assert_eq!(of_hosts(&report, "memory ranges"), [2, 2]);
    assert_eq!(count(&report, "mid", "own configuration requests"), 0);
    assert!(count(&report, "mid", "forwarded") > 0);
    for switch in ["front", "mid", "back"] {
        for name in ["unclaimed TLPs", "lost with links", "no route", "not claimed"] {
            assert_eq!(count(&report, switch, name), 0, "{switch} {name}");
        }
    }
}

#[test]
fn a_fabric_is_the_same_on_any_number_of_threads() {
    let set = ["host.accesses=20", "link.ber=1e-6"];
    let [one, two] = [1, 2].map(|threads| on_threads(FABRIC, &set, threads).json());
    assert_eq!(one, two);
}
