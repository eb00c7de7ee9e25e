//! The scenarios `ualink-pair` and `ualink-pod`, run as a user does.

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, Modes, ScenarioRequest};
use scalepool_testbenches::soak::is_soak;

/// An owned setting.
pub fn set(text: &str) -> String {
    text.to_owned()
}

fn request(name: &str, settings: &[String]) -> ScenarioRequest {
    ScenarioRequest { scenario: name.into(), seed: 1, threads: 1, set: settings.to_vec(), ..ScenarioRequest::default() }
}

/// Runs a scenario.
pub fn run(name: &str, settings: &[String]) -> ScenarioReport {
    scenario::run(&request(name, settings), &mut |_| ()).expect("a legal request")
}

/// Rules of a report, in order.
pub fn rules_of(report: &ScenarioReport) -> Vec<&'static str> {
    report.violations.iter().map(|b| b.violation.rule).collect()
}

fn settings(text: &str) -> Vec<String> {
    text.split_whitespace().map(set).collect()
}

/// What a run leaves: report, trace and wave.
fn outcome(request: &ScenarioRequest, observed: bool) -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |ending: &str| dir.path().join(format!("run.{ending}"));
    let outputs = match observed {
        true => Outputs { vcd: Some(file("vcd")), trace: Some(file("jsonl")), ..Outputs::default() },
        false => Outputs::default(),
    };
    let report = scenario::run(&ScenarioRequest { outputs, ..request.clone() }, &mut |_| ()).expect("a legal request");
    assert_eq!(rules_of(&report), [""; 0]);
    let mut all = vec![serde_json::to_vec(&report.json()).expect("JSON")];
    if observed {
        all.extend(["jsonl", "vcd", "gtkw"].map(|ending| std::fs::read(file(ending)).expect("written")));
    }
    all
}

#[test]
fn every_mode_of_the_kernel_gives_the_same_bytes() {
    for (name, text) in [
        ("ualink-pair", "traffic.operations=60 traffic.mix=all link.ber=0.00002 accel.vcs=4 traffic.regions=6"),
        ("ualink-pod", "traffic.operations=12 traffic.mix=all link.ber=0.00002 pod.accelerators=5 pod.switches=2"),
    ] {
        let plain = ScenarioRequest { seed: 7, ..request(name, &settings(text)) };
        let usual = outcome(&plain, true);
        assert!(usual[1].len() > 1000 && usual[2].len() > 1000);
        let same = |mode: &str, other: Vec<Vec<u8>>| {
            assert!(usual.iter().zip(&other).all(|(a, b)| a == b), "{name}: {mode}");
        };
        same("two threads", outcome(&ScenarioRequest { threads: 2, ..plain.clone() }, true));
        let modes = Modes { shuffle: Some(3), ..Modes::default() };
        same("shuffled order", outcome(&ScenarioRequest { modes, threads: 2, ..plain.clone() }, true));
        let modes = Modes { evaluate_idle: true, ..Modes::default() };
        same("idle modules evaluated", outcome(&ScenarioRequest { modes, ..plain.clone() }, true));
        same("no observer", outcome(&plain, false));
    }
}

#[test]
fn faults_are_repaired() {
    let text = "traffic.operations=300 link.fault=flip:300:77,vanish:260,dup:270,drop:280,up:noise:290";
    let report = run("ualink-pair", &settings(text));
    assert_eq!((report.errors_repaired, rules_of(&report).len()), (5, 0));
    assert!(report.retries >= 1, "{}", report.retries);
    for (ber, seed) in [("1e-6", 1), ("1e-5", 2), ("1e-4", 3)] {
        let text = format!("traffic.operations=400 traffic.mix=all traffic.poison_every=7 link.ber={ber}");
        let request = ScenarioRequest { seed, ..request("ualink-pair", &settings(&text)) };
        let report = scenario::run(&request, &mut |_| ()).expect("a legal request");
        assert_eq!(rules_of(&report), [""; 0], "{ber}");
    }
}

#[test]
fn each_option_of_the_link_works() {
    for text in [
        "link.authentication=auth",
        "link.authentication=encrypt link.key_roll_every=9",
        "link.shared_data_buffer=on link.pool_data=16",
        "link.compression=off accel.responses=single",
        "link.width=1 link.interleave=1",
        "link.rate_gtps=106.25 link.width=2",
        "link.pool_commands=0 link.pool_data=0 accel.vcs=4",
    ] {
        let text = format!("traffic.operations=120 traffic.mix=all {text}");
        assert_eq!(rules_of(&run("ualink-pair", &settings(&text))), [""; 0], "{text}");
    }
}

#[test]
fn every_pattern_passes_the_pod() {
    for pattern in ["all-to-all", "ring", "hot-spot", "random"] {
        let text = format!("traffic.operations=40 traffic.mix=all traffic.pattern={pattern} pod.switches=2");
        let report = run("ualink-pod", &settings(&text));
        assert_eq!(rules_of(&report), [""; 0], "{pattern}");
        let count = |name: &str| report.counts.iter().find(|(k, _)| k == name).expect("counted").1;
        assert_eq!((count("operations"), count("relayed requests"), count("relayed responses")), (320, 320, 320));
        let json = report.json();
        for key in ["hops_mean", "offered_flits_per_node_cycle", "accepted_flits_per_node_cycle"] {
            assert!(json[key].as_f64().is_some_and(|x| x > 0.0), "{pattern}: {key}");
        }
    }
}

/// More with `SCALEPOOL_SOAK`: 1024 accelerators.
#[test]
fn large_pods() {
    let soak = is_soak();
    let accelerators = if soak { 1024 } else { 40 };
    let text = format!("pod.accelerators={accelerators} traffic.operations=4 traffic.pattern=random");
    let report = run("ualink-pod", &settings(&text));
    assert_eq!(rules_of(&report), [""; 0]);
    assert!(report.counts.contains(&("operations".to_owned(), 4 * accelerators)));
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    for (name, text) in [
        ("ualink-pair", "link.pool_commands=0 link.vc_data=3"),
        ("ualink-pair", "link.fault=flip:1:5120"),
        ("ualink-pair", "switch.latency_fs=1"),
        ("ualink-pod", "switch.deny=1-2"),
        ("ualink-pod", "pod.accelerators=1025"),
    ] {
        assert!(scenario::run(&request(name, &settings(text)), &mut |_| ()).is_err(), "{name} {text}");
    }
}
