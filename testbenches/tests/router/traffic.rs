//! Traffic: where patterns send, how much is offered, and packets that wait for others.

use super::{good, request};
use scalepool::kernel::Rng;
use scalepool::nodes::fabric::pattern::{PATTERN_NAMES, TrafficPattern, permutation};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Patterns that send all packets of a node to one place.
const FIXED: [&str; 5] = ["permutation", "transpose", "complement", "neighbour", "shift"];
const HOT_PERCENT: u8 = 25;

/// Destinations of every node among so many, drawn so often each.
fn drawn(name: &str, nodes: u16, draws: usize) -> Vec<Vec<u16>> {
    let shared = Arc::new(permutation(9, nodes));
    let mut rng = Rng::from_seed(23);
    let of_node = |node| {
        let pattern = TrafficPattern::of(name, node, nodes, HOT_PERCENT, 3, || shared.clone()).expect("a square");
        (0..draws).map(|_| pattern.draw(&mut rng, nodes)).collect()
    };
    (0..nodes).map(of_node).collect()
}

/// Whether every node has one destination, and every node is one.
fn is_one_to_one(all: &[Vec<u16>]) -> bool {
    let firsts: BTreeSet<u16> = all.iter().filter_map(|of_node| of_node.first().copied()).collect();
    let is_fixed = all.iter().all(|of_node| of_node.windows(2).all(|two| two[0] == two[1]));
    is_fixed && firsts.len() == all.len() && firsts.iter().all(|node| usize::from(*node) < all.len())
}

/// Patterns one-to-one or as their definition, and the load that was asked for.
#[test]
fn fab_trf_01_p() {
    for nodes in [1, 4, 9, 64, 144] {
        for name in FIXED {
            assert!(is_one_to_one(&drawn(name, nodes, 3)), "{name} among {nodes}");
        }
    }
    let one = |name: &str, nodes: u16| -> Vec<u16> { drawn(name, nodes, 1).concat() };
    assert_eq!(one("transpose", 9), [0, 3, 6, 1, 4, 7, 2, 5, 8], "row and column change places");
    assert_eq!(one("complement", 5), [4, 3, 2, 1, 0]);
    assert_eq!(one("neighbour", 4), [1, 2, 3, 0]);
    assert_eq!(one("shift", 5), [3, 4, 0, 1, 2]);
    for (name, of_first) in [("uniform", 1.0 / 16.0), ("hot-spot", 0.25 + 0.75 / 16.0)] {
        let all = drawn(name, 16, 4000).concat();
        for node in 0..16 {
            let expected = if node == 0 { of_first } else { (1.0 - of_first) / 15.0 };
            let found = all.iter().filter(|to| **to == node).count() as f64 / all.len() as f64;
            assert!((found - expected).abs() < 0.006, "{name}: {found} to node {node}, expected {expected}");
        }
    }
    for pattern in PATTERN_NAMES {
        let set =
            [&format!("traffic.pattern={pattern}"), "topology=torus:4x4", "traffic.load=0.1", "traffic.packets=400"];
        let report = good("fabric-vc-router", &set);
        let fabric = report.fabric.expect("a fabric");
        let offered = fabric.offered_flits_per_node_cycle;
        // 16 x 400 arrivals scatter by 1.3 % (1 / sqrt(6400)), so the 1 % of the sheet needs more of them than a test has time for: this
        // allows 5 %, four times the scatter.
        assert!((offered - 0.1).abs() < 0.005, "{pattern}: {offered}");
        let accepted = fabric.accepted_flits_per_node_cycle;
        assert!((accepted / offered - 1.0).abs() < 0.01, "{pattern}: {accepted} of {offered}");
        let count = |name: &str| report.counts.iter().find(|(of, _)| of == name).map(|(_, n)| *n);
        assert_eq!(count("packets made"), count("packets taken"), "{pattern}");
    }
}

/// A transpose needs a square; a shift that is not taken modulo the nodes, and one that draws, are no permutations.
#[test]
fn fab_trf_01_n() {
    for nodes in [2, 6, 63] {
        let found = TrafficPattern::of("transpose", 0, nodes, 0, 0, || Arc::new(Vec::new())).expect_err("no square");
        assert_eq!(found, format!("found transpose among {nodes} nodes, expected a square number of nodes"));
    }
    let without_modulo: Vec<Vec<u16>> = (0..9).map(|node| vec![node + 3]).collect();
    assert!(!is_one_to_one(&without_modulo));
    assert!(!is_one_to_one(&drawn("uniform", 9, 3)));
    assert!(!is_one_to_one(&drawn("hot-spot", 9, 3)));
}

/// Begins and ends of a run's packets in the order of their times, ends first: time \[fs\], whether it is an end, number, place.
fn packets(scenario: &str, set: &[&str]) -> Vec<(u64, bool, u64, String)> {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let report = scenario::run(&ScenarioRequest { outputs, ..request(scenario, set) }, &mut |_| ()).expect("it runs");
    assert_eq!(report.violations, []);
    let text = std::fs::read_to_string(trace).expect("the run wrote it");
    let mut all = Vec::new();
    for line in text.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let place = record["where"].as_str().expect("a place").to_owned();
        let kind = record["kind"].as_str().expect("a kind");
        if place.starts_with("node") && (kind == "begin" || kind == "end") {
            let number = |key: &str| record[key].as_u64().unwrap_or_else(|| panic!("{key} of {line}"));
            all.push((number("t_fs"), kind == "end", number("id"), place));
        }
    }
    all.sort_by_key(|(at, is_end, id, _)| (*at, !*is_end, *id));
    all
}

/// Most packets of a node without their answers, at any time.
fn most_open(packets: &[(u64, bool, u64, String)]) -> usize {
    let (mut open, mut most) = (BTreeMap::<&str, BTreeSet<u64>>::new(), 0);
    for (_, is_end, id, place) in packets {
        let of_node = open.entry(place).or_default();
        assert!(if *is_end { of_node.remove(id) } else { of_node.insert(*id) }, "{id} begins and ends once");
        most = most.max(of_node.len());
    }
    most
}

/// The example of a program, as its file says: packet, source, and what it waits for.
const PROGRAM: [(u64, u16, &[u64]); 6] =
    [(1, 0, &[]), (2, 0, &[]), (3, 1, &[1]), (4, 2, &[2]), (5, 0, &[3, 4]), (6, 3, &[5])];

/// Packets that begin before all that they wait for have come.
fn early(packets: &[(u64, bool, u64, String)]) -> usize {
    let at = |is_end: bool, id: u64| {
        packets.iter().find(|packet| (packet.1, packet.2) == (is_end, id)).unwrap_or_else(|| panic!("{id}")).0
    };
    let is_early = |(id, _, after): &&(u64, u16, &[u64])| after.iter().any(|before| at(false, *id) < at(true, *before));
    PROGRAM.iter().filter(is_early).count()
}

/// The latest that a packet may leave behind what it waits for: the next cycle of its node.
const LATEST_FS: u64 = 1_000_000;

/// Packets that begin later than the last that they wait for has come, or than their own time.
fn late(packets: &[(u64, bool, u64, String)]) -> usize {
    let at = |is_end: bool, id: u64| {
        packets.iter().find(|packet| (packet.1, packet.2) == (is_end, id)).unwrap_or_else(|| panic!("{id}")).0
    };
    let is_late = |(id, _, after): &&(u64, u16, &[u64])| {
        let own_fs = if *id == 4 { 60_000_000 } else { 0 };
        let due = after.iter().map(|before| at(true, *before)).max().unwrap_or(0).max(own_fs);
        at(false, *id) > due + LATEST_FS
    };
    // The two first packets of one node leave one after the other.
    PROGRAM.iter().filter(|(_, _, after)| !after.is_empty()).filter(is_late).count()
}

fn program(text: &str) -> Vec<(u64, bool, u64, String)> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("program.jsonl");
    std::fs::write(&path, text).expect("it can be written");
    let file = format!("component.node.traffic.program={}", path.display());
    let set = ["topology=mesh:2x2", "component.node.traffic.pattern=program", &file];
    packets("fabric-vc-router", &set)
}

const TEXT: &str = include_str!("../../systems/packet_program.jsonl");

/// A closed loop reaches its limit and no more, and no packet of a program is early, or later than the cycle behind the last that it waits for.
#[test]
fn fab_trf_02_p() {
    for outstanding in [1, 4, 16] {
        let open = format!("traffic.outstanding={outstanding}");
        let set = ["topology=mesh:3x3", "traffic.load=1", "traffic.packets=100", "traffic.warm_up_cycles=20", &open];
        assert_eq!(most_open(&packets("fabric-vc-router", &set)), outstanding, "{open}");
    }
    let found = program(TEXT);
    assert_eq!((found.len(), early(&found), late(&found)), (12, 0, 0));
}

/// An open loop goes above any limit; a program whose packets wait for nothing sends them early. What cannot be waited for is refused.
#[test]
fn fab_trf_02_n() {
    let begun = |set: &[&str]| {
        let all = packets("fabric-vc-router", set);
        let mut open = BTreeSet::new();
        let mut most = 0;
        for (_, is_end, id, _) in &all {
            if *is_end {
                open.remove(id)
            } else {
                open.insert(*id)
            };
            most = most.max(open.len());
        }
        most
    };
    let open = begun(&["topology=mesh:2x1", "traffic.load=1", "traffic.packets=100", "traffic.warm_up_cycles=20"]);
    assert!(open > 2 * 16, "{open}");
    let at_once: String = TEXT
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| format!("{}}}\n", line.trim_end_matches('}').split(", \"after\"").next().unwrap_or_default()))
        .collect();
    assert_eq!(early(&program(&at_once)), 4);
    let held = TEXT.replace("\"after\": [1]}", "\"after\": [1], \"time_ns\": 900}");
    assert_eq!(
        (early(&program(&held)), late(&program(&held))),
        (0, 1),
        "the third one is held, and those behind it wait for it"
    );
    let refused = |text: &str| {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("wrong.jsonl");
        std::fs::write(&path, text).expect("it can be written");
        let file = format!("component.node.traffic.program={}", path.display());
        let set = ["topology=mesh:2x1", "component.node.traffic.pattern=program", &file];
        super::run("fabric-vc-router", &set).expect_err("refused").to_string()
    };
    let line = |id: u64, after: u64| {
        let (source, target) = (id % 2, (id + 1) % 2);
        format!("{{\"id\": {id}, \"source\": {source}, \"target\": {target}, \"bytes\": 8, \"after\": [{after}]}}\n")
    };
    let text = refused(&line(1, 9));
    assert!(text.contains("packet 1: found packet 9 in `after`, expected packets of the same program"), "{text}");
    let text = refused(&(line(1, 2) + &line(2, 1)));
    assert!(text.contains("found packets that wait for one another"), "{text}");
}
