//! Every message that goes into a pod comes out once, unchanged, in the order of its source, destination, link and channel,
//! while every port holds back what it receives now and then. The scenario compares both ends of every way
//! (`scalepool::nodes::nvlink::ledger`); wrong switches show that it would see what is wrong.

use super::common::*;
use scalepool::scenario::report::ScenarioReport;
use scalepool_testbenches::soak::is_soak;

/// Small buffers and stores, which fill at once where nothing is taken.
const SMALL: [&str; 3] = ["link.headers=2", "link.data_flits=16", "switch.store_flits=34"];

fn stalled(percent: u64, seed: u64, set: &[&str]) -> ScenarioReport {
    let stall = format!("link.stall={percent}");
    let set: Vec<&str> = SMALL.into_iter().chain([stall.as_str()]).chain(set.iter().copied()).collect();
    pod_of_seed(seed, &set)
}

/// Sizes: GPUs, links of each, switches.
const SHAPES: [[&str; 3]; 4] = [
    ["pod.gpus=2", "pod.links=1", "pod.switches=1"],
    ["pod.gpus=5", "pod.links=3", "pod.switches=2"],
    ["pod.gpus=8", "pod.links=2", "pod.switches=2"],
    ["pod.gpus=12", "pod.links=1", "pod.switches=1"],
];

/// Both ends of every link that carries something held messages back.
fn assert_pressure(report: &ScenarioReport, gpus: u64, links: u64) {
    assert_eq!(count(report, "ports under back-pressure"), 2 * gpus * links);
    assert!(report.credit_stalls > 0);
}

#[test]
fn sim_e2e_04_p() {
    for [gpus, links, switches] in SHAPES {
        let number = |text: &str| text.split('=').next_back().and_then(|n| n.parse().ok()).expect("a number");
        for (seed, percent) in [(1, 30), (2, 80)] {
            // Each work with one of the two pressures, in `make soak` with both.
            for work in ["pod.work=all-to-all", "pod.work=random"] {
                if !is_soak() && (work == "pod.work=random") != (percent == 80) {
                    continue;
                }
                let more = ["traffic.mix=mix", "traffic.requests=24", "traffic.region_bytes=2048", "link.ber=1e-7"];
                let set: Vec<&str> = [gpus, links, switches, work].into_iter().chain(more).collect();
                let report = stalled(percent, seed, &set);
                assert_pressure(&report, number(gpus), number(links));
                assert_eq!(count(&report, "switch messages received"), count(&report, "switch messages sent"));
            }
        }
    }
}

/// All to one: its port and those of its switch take what the others send.
#[test]
fn hot_spot_under_back_pressure() {
    for (seed, percent) in [(1, 20), (2, 50), (3, 80)] {
        let set = ["pod.work=hot-spot", "traffic.mix=mix", "traffic.requests=60", "traffic.region_bytes=2048"];
        let report = stalled(percent, seed, &set);
        // The spot asks nobody and is asked by all.
        assert_pressure(&report, 8, 1);
        assert!(count(&report, "switch store full") > 0);
    }
}

/// Reads that the switch reduces and writes that it copies.
#[test]
fn multicast_and_reduction_under_back_pressure() {
    for (gpus, links) in [("pod.gpus=3", 1), ("pod.gpus=6", 2), ("pod.gpus=9", 1)] {
        // Two pods are under one of the pressures each, the third under both; in `make soak` all are.
        for (seed, percent) in [(4, 40), (5, 80)] {
            if !is_soak()
                && (gpus, percent) != ("pod.gpus=3", 40)
                && (gpus, percent) != ("pod.gpus=6", 80)
                && gpus != "pod.gpus=9"
            {
                continue;
            }
            for way in ["pod.work=switch", "pod.work=direct", "pod.work=ring"] {
                let links_of = format!("pod.links={links}");
                let report = stalled(percent, seed, &[gpus, &links_of, way, "collective.bytes=4096"]);
                assert!(count(&report, "ports under back-pressure") > 0 && report.credit_stalls > 0);
                if way == "pod.work=switch" {
                    let blocks = count(&report, "MULTICAST_WRITE");
                    assert_eq!((count(&report, "REDUCE_READ"), count(&report, "switch sums")), (blocks, blocks));
                }
            }
        }
    }
}

/// A pair has the same ledger and the same stalls.
#[test]
fn pair_under_back_pressure() {
    for seed in 1..=4u64 {
        let stall = format!("link.stall={}", 20 * seed);
        let set = [&stall, "link.headers=1", "link.data_flits=16", "traffic.requests=100", "link.ber=1e-6"];
        let report = run_pair(&set);
        assert_eq!(count(&report, "ports under back-pressure"), 8);
    }
}

/// Answers that overtake each other, a copy that is missing, one too many: the ledger sees each, with and without stalls.
#[test]
fn sim_e2e_04_n() {
    let mix = ["traffic.mix=mix", "traffic.requests=60", "traffic.region_bytes=2048"];
    for stall in ["link.stall=0", "link.stall=40"] {
        let swaps = Wrong { switch: Some(SwitchFault::SwapsAnswers), gpu: None };
        let report = pod_with(swaps, &[mix[0], mix[1], mix[2], stall]);
        assert_eq!(rules(&report), ["SIM-E2E-04"]);
        for switch in [SwitchFault::LosesCopy, SwitchFault::DoublesCopy] {
            let report = pod_with(Wrong { switch: Some(switch), gpu: None }, &["pod.work=switch", stall]);
            let rules = rules(&report);
            assert!(rules.contains(&"NVL-SWI-03"), "{switch:?}: {rules:?}");
            // What is missing keeps the run from its end, and then nothing is compared.
            assert_eq!(rules.contains(&"SIM-E2E-04"), switch == SwitchFault::DoublesCopy, "{rules:?}");
        }
    }
}
