//! Viral of a switch with hierarchy based routing below an edge of a fabric: through the fabric to the host that has it, and to all of
//! that host's devices (`fabric` §1.10, PID-4).

use crate::fab_hbr::systems::{count, on_threads, refused, run};
use scalepool::scenario::report::ScenarioReport;

const SYSTEM: &str = include_str!("../../systems/pbr_over_hbr.toml");

/// The system with a command at the upper one of the two switches below the fabric, and a device with logical devices at an edge port itself.
fn text(command: &str) -> String {
    let from = "[component.below] # two hierarchies, one for each host\n";
    let shared = [
        (from, format!("{from}commands = [{command}]\n")),
        ("{ port = 2, usp = \"front.usp[0]\" }", "{ port = 2, ld = 1, usp = \"front.usp[0]\" }".to_owned()),
        (
            "[component.near]\nkind = \"cxl.memory\"\n",
            "[component.near]\nkind = \"cxl.memory\"\nlogical_devices = 2\n".to_owned(),
        ),
        ("targets = \"near\"", "targets = \"near.ld[1]\"".to_owned()),
    ];
    shared.into_iter().fold(SYSTEM.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, &to, 1)
    })
}

/// Places that heard viral over their links, and what, in order, of a run without other findings and in which requests go on.
fn heard(command: &str, set: &[&str]) -> (Vec<(String, String)>, ScenarioReport) {
    let set = [&["host.accesses=600"], set].concat();
    let report = run(&text(command), &set).unwrap_or_else(|error| panic!("{error}"));
    let one = |one: &scalepool::nodes::PlacedViolation| {
        assert_eq!(one.violation.rule, "CXL256-VIR-01", "{one:?}");
        let (_, what) = one.violation.found.rsplit_once(' ').expect("a vector or a PID");
        (one.place.clone(), what.to_owned())
    };
    let mut all: Vec<(String, String)> = report.violations.iter().map(one).collect();
    all.sort();
    for host in ["host[0]", "host[1]"] {
        assert_eq!(count(&report, host, "line accesses"), 600, "{command}");
    }
    (all, report)
}

/// What of `heard` no link between the switches of the fabric has heard.
fn at_edges(all: &[(String, String)]) -> Vec<(&str, &str)> {
    let edges = all.iter().filter(|(place, _)| !place.contains("isl"));
    edges.map(|(place, what)| (place.as_str(), what.as_str())).collect()
}

/// Each hierarchy of the switch below: its host and all of its devices hear of it, behind the switch and beside it, those with logical
/// devices by their bits, and the host of the other hierarchy and its devices do not.
#[test]
fn viral_below_an_edge_reaches_the_hierarchy_of_its_host() {
    let first = [
        ("back.dsp[0]", "0x0000"),
        ("below.dsp[1]", "0x0000"),
        ("below.usp[0]", "0x0000"),
        ("deep[0].cxl", "0x0000"),
        ("deep[1].cxl", "0x0000"),
        ("host[0].cxl", "0x0000"),
        ("lowest.usp[0]", "0x0000"),
        ("near.cxl", "0x0002"),
        ("shared.cxl", "0x0001"),
    ];
    // The switch at the bottom answers that it is viral too, as each switch of a cascade tells all of its ports.
    let second =
        [("back.dsp[1]", "0x0000"), ("below.usp[1]", "0x0000"), ("host[1].cxl", "0x0000"), ("shared.cxl", "0x0002")];
    for (vcs, expected) in [&first[..], &second[..]].into_iter().enumerate() {
        let command = format!("{{ at = \"1 us\", command = \"viral\", vcs = {vcs}, scope = \"upstream\" }}");
        for set in [&[][..], &["link.ber=1e-5"]] {
            let (all, report) = heard(&command, set);
            assert_eq!(at_edges(&all), expected, "VCS {vcs} {set:?}");
            let viral = |path: &str| count(&report, path, "hierarchies viral");
            assert_eq!(["front", "back", "below"].map(viral), [1, 0, 1], "VCS {vcs} {set:?}");
            for path in ["front", "back"] {
                let passed: u64 = ["M2S Req", "M2S RwD", "S2M NDR", "S2M DRS"]
                    .map(|class| count(&report, path, &format!("switched {class}")))
                    .into_iter()
                    .sum();
                let messages = count(&report, path, "viral messages");
                assert!(0 < messages && messages < passed, "VCS {vcs} {set:?}: {messages} of {passed} at {path}");
            }
        }
    }
}

/// A fatal error in all of the switch below: both hierarchies, whose statuses pass the same link one by one.
#[test]
fn both_hierarchies_pass_one_link() {
    let command = "{ at = \"1 us\", command = \"viral\", scope = \"switch\" }";
    let (all, report) = heard(command, &[]);
    let hosts: Vec<_> = at_edges(&all).into_iter().filter(|(place, _)| place.starts_with("host")).collect();
    assert_eq!(hosts, [("host[0].cxl", "0x0000"), ("host[1].cxl", "0x0000")]);
    assert_eq!(count(&report, "front", "hierarchies viral"), 2);
    let [one, two] = [1, 2].map(|threads| on_threads(&text(command), &["host.accesses=200"], threads).json());
    assert_eq!(one, two);
}

/// A segment table names devices and no bindings, so there is no hierarchy to which viral could go.
#[test]
fn viral_in_a_fabric_with_segment_tables_is_refused() {
    let command = "{ at = \"1 us\", command = \"viral\", scope = \"upstream\" }";
    let text = text(command).replacen("hosts = 2\nfabric = 1\n", "hosts = 2\nfabric = 1\ndecode = \"ldst\"\n", 1);
    let found = refused(&text);
    assert!(found.contains("found decode = \"ldst\" with a command `viral` at a switch below the fabric"), "{found}");
}
