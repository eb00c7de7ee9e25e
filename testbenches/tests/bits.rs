//! Flits without bytes: a run in which nobody looks at the bytes of a link is the run in which every link has them.

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, SCENARIOS, ScenarioRequest};
use scalepool_testbenches::soak::is_soak;

/// Seeds of a run of each scenario, in `make soak` all three: with one, every link of every scenario has bytes once and none once.
fn seeds() -> std::ops::RangeInclusive<u64> {
    1..=if is_soak() { 3 } else { 1 }
}

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

fn has_key(scenario: &scenario::Scenario, name: &str) -> bool {
    scenario.keys().iter().any(|key| key.name == name)
}

/// Scenarios whose links can go without bytes, each with the settings of a short run.
fn scenarios() -> Vec<(&'static str, Vec<&'static str>)> {
    const SHORT: [(&str, &str); 5] = [
        ("host.accesses", "host.accesses=300"),
        ("core.accesses", "core.accesses=80"),
        ("uio.accesses", "uio.accesses=20"),
        ("rack.leaves", "rack.leaves=2"),
        ("rack.per_leaf", "rack.per_leaf=2"),
    ];
    let of_links = SCENARIOS.iter().filter(|scenario| has_key(scenario, "link.bits"));
    let short = |scenario| SHORT.iter().filter(move |(key, _)| has_key(scenario, key)).map(|(_, set)| *set);
    of_links.map(|scenario| (scenario.name, short(scenario).collect())).collect()
}

/// That a run reports the same with bytes in any case and with bytes where somebody looks: the report.
fn is_the_same(name: &str, seed: u64, set: &[&str]) -> String {
    let [always, watched] =
        ["link.bits=always", "link.bits=watched"].map(|bits| report(name, seed, &[set, &[bits]].concat()));
    assert_eq!(watched, always, "{name} {set:?}, seed {seed}");
    watched
}

#[test]
fn reports_are_the_same_with_bytes_and_without() {
    assert!(scenarios().len() >= 15, "{:?}", scenarios());
    for (name, short) in scenarios() {
        let watched: Vec<String> = seeds().map(|seed| is_the_same(name, seed, &short)).collect();
        assert_eq!(report(name, 1, &short), watched[0], "{name}: watched is the default");
    }
}

/// Flit modes of CXL.cachemem.
const MODES: [&str; 4] = ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"];

/// What changes the decisions of CXL packers and receivers: credits at their least, back-pressure of a memory, one data header
/// a slot, credit returns, retry buffers, what goes beside the messages.
#[test]
fn reports_are_the_same_with_every_choice_of_a_cxl_link() {
    let choices: &[&[&str]] = &[
        &[],
        &["link.buffers=1"],
        &["link.buffers=3", "host.outstanding=64"],
        &["device.queue=1", "host.outstanding=64"],
        &["link.mdh=off", "host.outstanding=64"],
        &["link.retry_entries=22", "link.flush_flits=1", "host.outstanding=64"],
        &["link.credits_hold=400"],
        &["link.width=1", "link.rate_gtps=8"],
        &["link.propagation_fs=90000000"],
        &["link.timeout_flits=40"],
        &["link.tx_pipeline_fs=0", "link.rx_pipeline_fs=0", "link.propagation_fs=0"],
    ];
    for (mode, expander) in
        MODES.into_iter().zip(["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander", "cxl-pbr-pair"])
    {
        for pattern in ["host.pattern=mix", "host.pattern=writes"] {
            for set in choices {
                is_the_same(expander, 6, &[&["host.accesses=120", pattern], *set].concat());
            }
        }
        let setting = format!("link.mode={mode}");
        // 68B flits have no back-invalidate snoops.
        let of_cores =
            ["cxl-cache-pair", "bias-flip", "hdm-db-share"].into_iter().take(if mode == "cxl-68b" { 2 } else { 3 });
        for name in of_cores {
            for set in [&["link.buffers=1"][..], &["core.poison_every=3"], &["core.outstanding=16"]] {
                is_the_same(name, 7, &[&["core.accesses=60", &setting], set].concat());
            }
        }
    }
}

/// What changes the decisions of UALink packers and receivers: protection, forms, order, credits at their least, poison, stalls.
#[test]
fn reports_are_the_same_with_every_choice_of_a_ualink() {
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
            is_the_same(name, 5, &[&["traffic.operations=60"], *set].concat());
        }
    }
}

/// Transactions are the same where no link has bytes: places of agents are in the trace, those of link ends are not.
#[test]
fn fab_bit_01_p() {
    let agents = [
        ("cxl68-expander", "host.core"),
        ("cxl256-expander", "host.core"),
        ("cxl256-lopt-expander", "device.mem"),
        ("cxl-pbr-pair", "host.core"),
        ("pooled-pair", "host[1].core"),
        ("cxl-cache-peers", "dev[1].cache"),
        ("hdm-db-fabric", "acc[0].mem[0]"),
    ];
    let short = |name| scenarios().into_iter().find(|(scenario, _)| *scenario == name).expect("a built-in system").1;
    for (name, scope) in agents {
        let set = short(name);
        let watched = trace_of(name, scope, &set);
        assert!(
            watched.iter().filter(|line| line.contains("\"kind\":\"end\"")).count() > 20,
            "{name}: transactions are there"
        );
        assert!(!watched.iter().any(|line| line.contains("\"kind\":\"flit\"")), "{name}: no flit is looked at");
        assert_eq!(watched, trace_of(name, scope, &[&set[..], &["link.bits=always"]].concat()), "{name}");
    }
}

/// Data headers that share a slot are a decision of the packer: with one more decided otherwise, transactions have other times.
#[test]
fn fab_bit_01_n() {
    let of = |bits: &str, mdh: &str| {
        let set = ["host.accesses=120", "host.outstanding=64", "host.pattern=reads", bits, mdh];
        trace_of("cxl68-expander", "host.core", &set)
    };
    assert_eq!(of("link.bits=watched", "link.mdh=on"), of("link.bits=always", "link.mdh=on"));
    assert_ne!(of("link.bits=watched", "link.mdh=on"), of("link.bits=always", "link.mdh=off"));
}

/// The part of a trace that the places below a scope write, without its first line, which names the settings.
fn trace_of(name: &str, scope: &str, set: &[&str]) -> Vec<String> {
    trace_of_scopes(name, &[scope], set)
}

fn trace_of_scopes(name: &str, scopes: &[&str], set: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.jsonl");
    let outputs = Outputs {
        trace: Some(path.clone()),
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        ..Outputs::default()
    };
    let request = ScenarioRequest { outputs, ..request(name, 4, set) };
    scenario::run(&request, &mut |_| ()).expect("a legal request");
    let text = std::fs::read_to_string(path).expect("the trace is there");
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A host of a pool beside one whose link is watched or is not.
fn beside_a_watched_link(is_watched: bool, set: &[&str]) -> Vec<String> {
    let own = "\"where\":\"host[0].core";
    let scopes = if is_watched { vec!["host[0].core", "host[1]"] } else { vec!["host[0].core"] };
    let lines = trace_of_scopes("pool-16", &scopes, &[set, &["host.accesses=100"]].concat());
    assert_eq!(lines.iter().any(|line| line.contains("\"kind\":\"flit\"")), is_watched);
    lines.into_iter().filter(|line| line.contains(own)).collect()
}

/// A watcher that took a credit of its link would be seen at the host beside it.
#[test]
fn fab_bit_02_n() {
    let [own, other] =
        ["link.hosts.buffers=2", "link.hosts.buffers=1"].map(|buffers| beside_a_watched_link(false, &[buffers]));
    assert!(own.len() > 100);
    assert_ne!(own, other);
}

/// Bytes at one place change nothing there and nowhere else, whatever the others have, and all of its flits are in the trace.
#[test]
fn fab_bit_02_p() {
    for set in [&[][..], &["link.hosts.buffers=1"]] {
        assert_eq!(beside_a_watched_link(true, set), beside_a_watched_link(false, set), "{set:?}");
    }
    let systems: [(&str, &str, &[&str]); 4] = [
        ("ualink-pod", "accel[1]", &["pod.accelerators=5", "traffic.operations=40", "traffic.mix=all"]),
        ("pool-16", "host[1]", &["host.accesses=100"]),
        ("pool-16", "host[1]", &["host.accesses=100", "link.mode=cxl-68b"]),
        ("cxl-cache-switch", "dev[1]", &["core.accesses=60"]),
    ];
    for (name, scope, size) in systems {
        let alone = trace_of(name, scope, size);
        let of_kind = |kind: &str| alone.iter().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count();
        assert!(of_kind("flit") > 20 && of_kind("end") > 20, "{name}: flits and transactions are there");
        assert_eq!(alone, trace_of(name, scope, &[size, &["link.bits=always"]].concat()), "{name}");
    }
}

/// What can damage a flit gives all flits of the link bytes.
#[test]
fn faults_are_seen_and_repaired_as_with_bytes() {
    let pod = ["link.ber=1e-6", "link.fault=flip:9:100,drop:14", "link.outage_fs=400000000"];
    let runs = pod.map(|fault| ("ualink-pod", fault, "traffic.operations=60")).into_iter();
    let expander = ["link.ber=1e-5", "link.fault=flip:30:100,drop:34", "link.fault=up:dup:40,vanish:50"];
    let of_cxl = |fault| {
        ["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander"]
            .map(move |name| (name, fault, "host.accesses=300"))
    };
    for (name, fault, size) in runs.chain(expander.into_iter().flat_map(of_cxl)) {
        let set = [fault, size];
        let always = report(name, 2, &[&set[..], &["link.bits=always"]].concat());
        assert_eq!(report(name, 2, &set), always, "{name} {fault}");
        let is_whole = always.contains("\"retries\":0,\"errors_repaired\":0,");
        let is_unseen = fault.contains("outage") || name.contains("68") && fault.contains("dup");
        assert!(!is_whole || is_unseen, "{name} {fault}: something was repaired: {always}");
    }
}
