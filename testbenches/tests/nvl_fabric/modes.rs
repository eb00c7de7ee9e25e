//! Same seed, same bytes: report, trace and wave, whatever the mode of the kernel.

use super::common::request;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, Modes, ScenarioRequest};
use std::path::Path;

fn outcome(scenario: &str, set: &[&str], threads: usize, modes: Modes, dir: &Path) -> Vec<Vec<u8>> {
    let file = |ending: &str| dir.join(format!("run.{ending}"));
    let outputs = Outputs { vcd: Some(file("vcd")), trace: Some(file("jsonl")), ..Outputs::default() };
    let request = ScenarioRequest { threads, modes, outputs, ..request(scenario, set) };
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert!(report.violations.is_empty(), "{}", report.violations[0].violation);
    let files = ["vcd", "jsonl", "gtkw"].map(|ending| std::fs::read(file(ending)).expect("the run wrote it"));
    [serde_json::to_vec(&report.json()).expect("JSON")].into_iter().chain(files).collect()
}

fn every_mode(scenario: &str, set: &[&str]) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let plain = outcome(scenario, set, 1, Modes::default(), dir.path());
    assert!(plain.iter().all(|bytes| bytes.len() > 500));
    let shuffled = Modes { shuffle: Some(3), ..Modes::default() };
    let idle = Modes { evaluate_idle: true, ..Modes::default() };
    for (threads, modes) in [(2, Modes::default()), (2, shuffled), (1, idle)] {
        let other = outcome(scenario, set, threads, modes, dir.path());
        for (n, (a, b)) in plain.iter().zip(&other).enumerate() {
            let at = || a.iter().zip(b).position(|(x, y)| x != y);
            assert!(a == b, "{scenario}, output {n}, {threads} threads, {modes:?}: differs at byte {:?}", at());
        }
    }
}

#[test]
fn pair_is_the_same_in_every_mode() {
    every_mode("nvlink-pair", &["traffic.requests=40", "link.count=2", "link.ber=2e-6", "traffic.region_bytes=1024"]);
}

#[test]
fn pod_is_the_same_in_every_mode() {
    let small = ["pod.gpus=4", "link.stall=30", "link.headers=2", "link.data_flits=16", "switch.store_flits=40"];
    for work in [["pod.work=switch", "collective.bytes=4096"], ["traffic.mix=mix", "traffic.requests=20"]] {
        every_mode("nvlink-pod", &small.iter().chain(&work).copied().collect::<Vec<_>>());
    }
}
