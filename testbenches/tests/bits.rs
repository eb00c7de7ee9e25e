//! Flits without bytes: a run in which nobody looks at the bytes of a link is the run in which every link has them.

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, SCENARIOS, ScenarioRequest};

const SEEDS: [u64; 3] = [1, 2, 3];

fn request(name: &str, seed: u64, set: &[&str]) -> ScenarioRequest {
    ScenarioRequest {
        scenario: name.to_owned(),
        seed,
        threads: 1,
        set: set.iter().map(|&text| text.to_owned()).collect(),
        ..ScenarioRequest::default()
    }
}

/// The whole report of a run, as a machine reads it.
fn report(name: &str, seed: u64, set: &[&str]) -> String {
    let report = scenario::run(&request(name, seed, set), &mut |_| ()).expect("a legal request");
    serde_json::to_string(&report.json()).expect("a report is JSON")
}

/// Scenarios whose links can go without bytes.
fn scenarios() -> Vec<&'static str> {
    let has_bits = |scenario: &&scenario::Scenario| scenario.keys().iter().any(|key| key.name == "link.bits");
    SCENARIOS.iter().filter(has_bits).map(|scenario| scenario.name).collect()
}

#[test]
fn reports_are_the_same_with_bytes_and_without() {
    assert!(scenarios().len() >= 2, "{:?}", scenarios());
    for name in scenarios() {
        for seed in SEEDS {
            let [watched, always] =
                ["watched", "always"].map(|bits| report(name, seed, &[&format!("link.bits={bits}")]));
            assert_eq!(watched, always, "{name}, seed {seed}");
            assert_eq!(report(name, seed, &[]), watched, "{name}, seed {seed}: watched is the default");
        }
    }
}

/// What changes the decisions of packers and receivers: protection, forms, order, credits at their least, poison, stalls.
#[test]
fn reports_are_the_same_with_every_choice_of_a_link() {
    let choices: &[&[&str]] = &[
        &["traffic.mix=all", "traffic.poison_every=3"],
        &["traffic.mix=all", "link.authentication=auth", "link.key_roll_every=20"],
        &["traffic.mix=all", "link.authentication=encrypt"],
        &["traffic.mix=all", "link.compression=off", "accel.responses=single"],
        &["traffic.mix=all", "link.order=relaxed", "accel.vcs=4"],
        &["link.pool_commands=0", "link.pool_data=0", "link.vc_commands=1", "link.vc_data=4"],
        &["link.shared_data_buffer=on", "link.stall_percent=60", "traffic.poison_every=1"],
        &["upli.model=on", "traffic.mix=all"],
        &["link.rate_gtps=106.25", "link.width=1", "link.interleave=1"],
    ];
    for name in ["ualink-pair", "ualink-pod"] {
        for set in choices {
            let set = [&["traffic.operations=60"], *set].concat();
            let always = report(name, 5, &[&set[..], &["link.bits=always"]].concat());
            assert_eq!(report(name, 5, &[&set[..], &["link.bits=watched"]].concat()), always, "{name} {set:?}");
        }
    }
}

/// The part of a trace that one accelerator and its links write, without its first line, which names the settings.
fn trace_of(scope: &str, set: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.jsonl");
    let outputs = Outputs { trace: Some(path.clone()), scopes: vec![scope.to_owned()], ..Outputs::default() };
    let request = ScenarioRequest { outputs, ..request("ualink-pod", 4, set) };
    scenario::run(&request, &mut |_| ()).expect("a legal request");
    let text = std::fs::read_to_string(path).expect("the trace is there");
    text.lines().skip(1).map(str::to_owned).collect()
}

/// Bytes at one accelerator change nothing there, whatever the others have, and all of its flits are in the trace.
#[test]
fn a_watched_link_among_others_shows_what_it_always_shows() {
    let size = ["pod.accelerators=5", "traffic.operations=40", "traffic.mix=all"];
    let alone = trace_of("accel[1]", &size);
    assert!(alone.iter().filter(|line| line.contains("\"kind\":\"flit\"")).count() > 20, "flits are there");
    assert_eq!(alone, trace_of("accel[1]", &[&size[..], &["link.bits=always"]].concat()));
}

/// What can damage a flit gives all flits of the link bytes.
#[test]
fn faults_are_seen_and_repaired_as_with_bytes() {
    for fault in ["link.ber=1e-6", "link.fault=flip:9:100,drop:14", "link.outage_fs=400000000"] {
        let set = [fault, "traffic.operations=60"];
        let always = report("ualink-pod", 2, &[&set[..], &["link.bits=always"]].concat());
        assert_eq!(report("ualink-pod", 2, &set), always, "{fault}");
        let is_whole = always.contains("\"retries\":0,\"errors_repaired\":0,");
        assert!(!is_whole || fault.contains("outage"), "{fault}: something was repaired: {always}");
    }
}
