//! Packets that wait for one another, collectives, closed loops: beside what arithmetic says.

use super::{good, request, run};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

fn count(report: &ScenarioReport, name: &str) -> u64 {
    report.counts.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name} is counted")).1
}

/// Cycles that a packet takes in a mesh without others in its way; see `latency_without_load_is_that_of_the_formula`.
fn alone(routers: u64, flits: u64) -> u64 {
    5 * routers + 2 + flits - 1
}

#[test]
fn a_collective_takes_its_steps() {
    for (pattern, rounds, steps) in [("ring", 1, 2), ("ring", 3, 6), ("tree", 2, 4)] {
        let rounds = format!("traffic.rounds={rounds}");
        let pattern = format!("traffic.pattern={pattern}");
        let report = good("fabric-vc-router", &["topology=mesh:2x1", &pattern, &rounds, "traffic.packet_flits=4"]);
        assert_eq!(count(&report, "last packet"), steps * alone(2, 4), "{pattern} {rounds}");
    }
    // A binary tree of seven nodes in a row: 3 to 1 to 0, then 0 to 1 to 3; the other way, 6 to 2 to 0, is as long in routers or longer.
    let report = good("fabric-vc-router", &["topology=mesh:7x1", "traffic.pattern=tree"]);
    assert_eq!(count(&report, "packets taken"), 12);
    let least = 2 * (alone(5, 1) + alone(3, 1));
    let last = count(&report, "last packet");
    assert!((least..=least + 10).contains(&last), "{last}, expected {least} and a few waits");
    let all = good("fabric-vc-router", &["topology=mesh:4x4", "traffic.pattern=all-to-all", "traffic.rounds=2"]);
    assert_eq!(count(&all, "packets taken"), 2 * 16 * 15);
}

#[test]
fn a_program_runs_from_its_file() {
    let path = |name: &str| format!("{}/systems/{name}", env!("CARGO_MANIFEST_DIR"));
    let report = good(&path("packet_program.toml"), &[]);
    // Packet 4 waits for its time, 60 ns at 1 ns a cycle; 5 and 6 follow one another. From 2 to 0 and back there are two routers,
    // from 0 to 3 three. What nodes have to say at a time leaves one flit a cycle.
    let last = 60 + alone(2, 16) + alone(3, 16) + alone(3, 1);
    assert_eq!(count(&report, "last packet"), last);
    assert_eq!((count(&report, "packets made"), count(&report, "packets taken")), (6, 6));
}

#[test]
fn what_is_no_program_is_refused_with_its_line() {
    let refused = |set: &[&str]| run("fabric-vc-router", set).expect_err("refused").to_string();
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("wrong.jsonl");
    std::fs::write(&path, "{\"id\": 1, \"source\": 0, \"target\": 9, \"bytes\": 64}\n").expect("it can be written");
    let file = format!("component.node.traffic.program={}", path.display());
    let program = "component.node.traffic.pattern=program";
    let text = refused(&["topology=mesh:2x1", program, &file]);
    assert!(text.contains("wrong.jsonl: packet 1: found node 9, expected a node from 0 to 1"), "{text}");
    let text = refused(&["topology=mesh:2x1", program, "component.node.traffic.program=/nowhere.jsonl"]);
    assert!(text.contains("/nowhere.jsonl: No such file or directory"), "{text}");
    let text = refused(&["topology=mesh:2x1", program]);
    assert!(text.contains("found no file with pattern = \"program\""), "{text}");
    let text = refused(&["topology=mesh:2x1", &file]);
    assert!(text.contains("found a file with pattern = \"uniform\", expected pattern = \"program\""), "{text}");
    let text = refused(&["topology=mesh:2x1", "traffic.answer_flits=2"]);
    assert!(text.contains("traffic.answer_flits: found 2 in an open loop"), "{text}");
    for set in [
        ["traffic.pattern=ring", "traffic.outstanding=1"],
        ["traffic.pattern=tree", "traffic.burst=2"],
        ["traffic.pattern=uniform", "traffic.rounds=2"],
        ["traffic.pattern=ring", "traffic.load=0.3"],
        ["traffic.pattern=all-to-all", "traffic.packets=7"],
        ["traffic.pattern=tree", "traffic.warm_up_cycles=0"],
    ] {
        let text = refused(&set);
        assert!(text.contains("found it with pattern = "), "{text}");
    }
}

/// A node whose packets others wait for has to do what they do.
#[test]
fn nodes_with_another_collective_are_refused() {
    for other in ["pattern=tree", "rounds=2", "packet_flits=3", "pattern=uniform"] {
        let other = format!("component.node[2].traffic.{other}");
        let error = run("fabric-vc-router", &["topology=mesh:2x2", "traffic.pattern=ring", &other]);
        let text = error.expect_err("refused").to_string();
        assert!(text.contains("expected what the first node of the fabric does"), "{other}: {text}");
        assert!(text.contains("component.node[2].traffic"), "{text}");
    }
    good("fabric-vc-router", &["topology=mesh:2x2", "component.node[1].traffic.load=0.2", "traffic.packets=20"]);
}

#[test]
fn a_closed_loop_has_so_many_packets_open() {
    // One packet of each of two nodes: request and answer take the same way, and nothing else is on it.
    let two = ["topology=mesh:2x1", "traffic.pattern=complement", "traffic.load=1", "traffic.packets=50"];
    let report = good("fabric-vc-router", &[&two[..], &["traffic.outstanding=1"]].concat());
    assert_eq!((report.latency_cycles.min, report.latency_cycles.max), (2 * alone(2, 1), 2 * alone(2, 1)));
    let longer = good("fabric-vc-router", &[&two[..], &["traffic.outstanding=1", "traffic.answer_flits=8"]].concat());
    assert_eq!(longer.latency_cycles.max, alone(2, 1) + alone(2, 8));
    // Little's law: packets open = packets a cycle x cycles that each is open.
    for (outstanding, load) in [(1, "1"), (4, "1"), (16, "1"), (4, "0.01")] {
        let open = format!("traffic.outstanding={outstanding}");
        let load = format!("traffic.load={load}");
        let set = ["topology=mesh:4x4", "traffic.packets=1500", "traffic.warm_up_cycles=300", &open, &load];
        let report = good("fabric-vc-router", &set);
        // Half of the flits are answers.
        let rate = report.fabric.expect("a fabric").accepted_flits_per_node_cycle / 2.0;
        let found = rate * report.latency_cycles.mean;
        let is_full = load == "traffic.load=1";
        let limit = f64::from(outstanding);
        assert!(found <= 1.02 * limit && (!is_full || found >= 0.95 * limit), "{open} {load}: {found}");
    }
}

#[test]
fn bursts_wait_longer_at_the_same_load() {
    let with = |burst: &str| {
        let set = ["topology=mesh:4x4", "traffic.packets=400", "traffic.load=0.2", burst];
        let report = good("fabric-vc-router", &set);
        (report.fabric.expect("a fabric").accepted_flits_per_node_cycle, report.latency_cycles.mean)
    };
    let (alone, together) = (with("traffic.burst=1"), with("traffic.burst=16"));
    assert!((alone.0 - together.0).abs() < 0.03, "{alone:?} {together:?}");
    assert!(together.1 > 1.3 * alone.1, "{alone:?} {together:?}");
}

#[test]
fn programs_and_closed_loops_are_the_same_on_threads() {
    for set in [
        &["traffic.pattern=all-to-all", "traffic.rounds=2"][..],
        &["traffic.outstanding=4", "traffic.load=1", "traffic.packets=40", "traffic.warm_up_cycles=20"],
    ] {
        let outcome = |threads| {
            let dir = tempfile::tempdir().expect("a folder");
            let trace = dir.path().join("trace.jsonl");
            let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
            let set = [&["topology=mesh:4x4"][..], set].concat();
            let request = ScenarioRequest { threads, outputs, ..request("fabric-vc-router", &set) };
            let report = scenario::run(&request, &mut |_| ()).expect("it runs");
            (report.json(), std::fs::read(trace).expect("the run wrote it"))
        };
        assert!(outcome(1) == outcome(2), "{set:?}");
    }
}

#[test]
fn a_drawing_shows_which_links_are_loaded() {
    // Each of two nodes sends to the other one all the time.
    let dir = tempfile::tempdir().expect("a folder");
    let drawing = dir.path().join("loads.svg");
    let outputs = Outputs { drawing: Some(drawing.clone()), ..Outputs::default() };
    let set = ["topology=mesh:2x1", "traffic.pattern=complement", "traffic.load=1", "traffic.packets=5000"];
    let request = ScenarioRequest { outputs, ..request("fabric-vc-router", &set) };
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    for (path, load) in &report.link_loads {
        assert!(load.iter().all(|share| share.is_some_and(|share| (0.99..=1.0).contains(&share))), "{path}: {load:?}");
    }
    let drawn = std::fs::read_to_string(drawing).expect("the run wrote it");
    assert_eq!(drawn.matches("stroke=\"#d0312d\"").count(), 3 + 1, "three links and the legend: {drawn}");
}
