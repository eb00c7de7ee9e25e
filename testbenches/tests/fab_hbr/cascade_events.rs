//! Viral and resets through switches below switches: where they go on, and where they end.

use super::systems::{count, on_threads, run};
use scalepool::scenario::report::ScenarioReport;

const CASCADE: &str = include_str!("../../systems/cascaded_switches.toml");

/// The cascade with a command at one of its switches, and hosts that give up requests which nobody answers.
fn text(switch: &str, command: &str) -> String {
    let text = CASCADE.replacen("kind = \"cxl.host\"\n", "kind = \"cxl.host\"\ntimeout = \"8 us\"\n", 1);
    let (component, commands) = match switch.strip_suffix(']').and_then(|path| path.split_once('[')) {
        None => (switch, format!("commands = [{command}]\n")),
        Some((component, n)) => (component, format!("at = {{ {n} = {{ commands = [{command}] }} }}\n")),
    };
    let from = format!("[component.{component}]\n");
    assert!(text.contains(&from), "{from}");
    text.replacen(&from, &format!("{from}{commands}"), 1)
}

const LINKS: [&str; 4] = ["host", "cascade", "memory", "shared"];

/// Places that heard viral over their links, in order, and what they heard, of a run without other findings.
fn heard(text: &str, mode: &str, set: &[&str]) -> (Vec<(String, String)>, ScenarioReport) {
    let modes = LINKS.map(|link| format!("link.{link}.kind={mode}"));
    let set: Vec<&str> = modes.iter().map(String::as_str).chain(set.iter().copied()).collect();
    let report = run(text, &set).unwrap_or_else(|error| panic!("{error}"));
    let mut all: Vec<(String, String)> = report
        .violations
        .iter()
        .map(|one| {
            assert!(["CXL256-VIR-01", "CXL68-VIR-02"].contains(&one.violation.rule), "{one:?}");
            let (_, vector) = one.violation.found.rsplit_once(' ').expect("a vector");
            (one.place.clone(), vector.to_owned())
        })
        .collect();
    all.sort();
    (all, report)
}

fn viral_hierarchies(report: &ScenarioReport) -> [u64; 3] {
    ["low[0]", "low[1]", "top"].map(|path| count(report, path, "hierarchies viral"))
}

/// Everybody of the first hierarchy, in order: all of its ports, once each, the shared devices by the bit of its logical device.
fn of_first_hierarchy() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (place, vector) in [
        ("host[0].cxl", 0),
        ("low[0].usp[0]", 0),
        ("low[1].usp[0]", 0),
        ("memory[0].cxl", 0),
        ("memory[1].cxl", 0),
        ("shared[0].cxl", 1),
        ("shared[1].cxl", 1),
        ("top.dsp[0]", 0),
        ("top.dsp[2]", 0),
    ] {
        all.push((place.to_owned(), format!("{vector:#06x}")));
    }
    all
}

/// Wherever a hierarchy goes viral, above or below, all of its switches do, and every port of it hears so once.
#[test]
fn fab_vir_01_p2() {
    for mode in ["cxl-256b", "cxl-256b-lopt", "cxl-68b"] {
        for (switch, place) in [
            ("top", "scope = \"upstream\""),
            ("top", "vppb = 1"),
            ("low[1]", "vppb = 0"),
            ("low[0]", "scope = \"upstream\""),
        ] {
            let (places, report) = heard(
                &text(switch, &format!("{{ at = \"2 us\", command = \"viral\", {place} }}")),
                mode,
                &["host.accesses=400"],
            );
            assert_eq!(places, of_first_hierarchy(), "{mode}: {switch} {place}");
            assert_eq!(viral_hierarchies(&report), [1; 3], "{mode}: {switch} {place}");
            for host in ["host[0]", "host[1]"] {
                assert_eq!(count(&report, host, "line accesses"), 400, "{mode}: {switch} {place}: requests go on");
                assert_eq!(count(&report, host, "requests timed out"), 0, "{mode}: {switch} {place}");
            }
        }
    }
}

/// A vPPB where viral is not enabled keeps it from the switch below, and what comes from there from its hierarchy.
#[test]
fn fab_vir_01_n2() {
    let off = |switch, command| {
        let from = "{ vcs = 0, vppb = 1, port = 2 }";
        text(switch, command).replacen(from, "{ vcs = 0, vppb = 1, port = 2, viral = false }", 1)
    };
    let command = "{ at = \"2 us\", command = \"viral\", scope = \"upstream\" }";
    let (places, report) = heard(&off("top", command), "cxl-256b", &["host.accesses=300"]);
    assert_eq!(viral_hierarchies(&report), [1, 0, 1]);
    assert!(places.iter().all(|(place, _)| !place.contains("[1]")), "{places:?}");
    let (places, report) = heard(&off("low[1]", command), "cxl-256b", &["host.accesses=300"]);
    assert_eq!(viral_hierarchies(&report), [0, 1, 0]);
    let places: Vec<&str> = places.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, ["memory[1].cxl", "shared[1].cxl", "top.dsp[2]"]);
}

/// A fatal error inside the upper switch: all of its hierarchies, and those of the switches below.
#[test]
fn fab_vir_04_p2() {
    let command = "{ at = \"2 us\", command = \"viral\", scope = \"switch\" }";
    let (_, report) = heard(&text("top", command), "cxl-256b", &["host.accesses=300"]);
    assert_eq!(viral_hierarchies(&report), [2; 3]);
    // A conventional reset of the hierarchy clears it in all of them: later messages count no more.
    let viral = "{ at = \"2 us\", command = \"viral\", scope = \"upstream\" }";
    let counted = |reset: &str| {
        let (_, report) = heard(&text("top", &format!("{viral}{reset}")), "cxl-256b", &["host.accesses=1500"]);
        ["top", "low[0]", "low[1]"].map(|path| count(&report, path, "viral messages"))
    };
    let [all, after_reset] = [counted(""), counted(", { at = \"3 us\", command = \"reset\", scope = \"upstream\" }")];
    assert!((0..3).all(|n| after_reset[n] < all[n] / 2), "{after_reset:?} of {all:?}");
}

/// A reset of the port alone: the hierarchy above stays viral, and the port tells so again when it is used again.
#[test]
fn fab_vir_04_n2() {
    let commands =
        "{ at = \"2 us\", command = \"viral\", scope = \"upstream\" }, { at = \"3 us\", command = \"reset\" }";
    let (_, report) = heard(&text("top", commands), "cxl-256b", &["host.accesses=1500"]);
    assert_eq!(viral_hierarchies(&report), [2, 1, 1], "the lower switch goes viral again");
}

/// A run with a reset, which leaves nothing open: vPPBs that each switch has reset, and whether each host missed an answer.
fn reset(switch: &str, what: &str, mode: &str) -> ([u64; 3], [bool; 2]) {
    let command = format!("{{ at = \"2 us\", command = \"reset\", {what} }}");
    let modes = LINKS.map(|link| format!("link.{link}.kind={mode}"));
    let set: Vec<&str> = modes.iter().map(String::as_str).chain(["host.pattern=reads", "host.accesses=2500"]).collect();
    let report = run(&text(switch, &command), &set).unwrap_or_else(|error| panic!("{mode} {switch} {what}: {error}"));
    assert_eq!(report.violations, [], "{mode} {switch} {what}");
    let hosts = ["host[0]", "host[1]"].map(|host| {
        let of = |name| count(&report, host, name);
        let (lost, unmapped) = (of("requests timed out"), of("reads not decoded"));
        assert!(lost + unmapped < of("reads") / 2, "{host}: the reset does not end, {lost} and {unmapped}");
        assert_eq!(of("reads") * 64, of("bytes") + lost * 64, "{host}: each read ends once");
        lost > 0
    });
    (["low[0]", "low[1]", "top"].map(|path| count(&report, path, "vPPBs reset")), hosts)
}

/// A reset of a hierarchy reaches all that is bound in it, at every level, and of shared devices no more than that.
#[test]
fn fab_rst_02_p2() {
    for mode in ["cxl-256b", "cxl-256b-lopt", "cxl-68b"] {
        assert_eq!(reset("top", "scope = \"upstream\"", mode), ([2, 2, 2], [true, false]), "{mode}");
    }
    assert_eq!(reset("top", "scope = \"upstream\", vcs = 1", "cxl-256b"), ([1, 1, 2], [false, true]));
    assert_eq!(reset("top", "scope = \"switch\"", "cxl-256b"), ([3, 3, 4], [true, true]));
}

/// A reset of one vPPB, or of the port below it, leaves the other switch below alone, and one at the lower switch all above.
#[test]
fn fab_rst_02_n2() {
    for what in ["vppb = 1", "scope = \"port\", port = 2"] {
        assert_eq!(reset("top", what, "cxl-256b"), ([0, 2, 1], [true, false]), "{what}");
    }
    assert_eq!(reset("low[0]", "vppb = 0", "cxl-256b"), ([1, 0, 0], [true, false]));
}

#[test]
fn events_of_cascades_are_deterministic() {
    let commands =
        "{ at = \"1 us\", command = \"viral\", vcs = 1 }, { at = \"2 us\", command = \"reset\", scope = \"switch\" }";
    let [one, two] = [1, 2].map(|threads| on_threads(&text("top", commands), &["host.accesses=300"], threads).json());
    assert_eq!(one, two);
}
