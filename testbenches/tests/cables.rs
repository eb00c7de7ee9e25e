//! Cables between the ends of links: length, medium and retimers delay what a link carries, and change nothing else.

use scalepool::scenario::{self, ScenarioRequest};

/// Settings of a run.
type Settings = &'static [&'static str];

/// What a run reports.
fn report(name: &str, set: &[&str]) -> String {
    let set = set.iter().map(|&text| text.to_owned()).collect();
    let request = ScenarioRequest { scenario: name.to_owned(), seed: 3, threads: 1, set, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::to_string(&report.json()).expect("a report is JSON")
}

/// A link of each kind behind a cable reports what it reports with the delay of that cable added to its own.
#[test]
fn a_cable_is_the_delay_of_its_length_and_retimers() {
    let cases: [(&str, [Settings; 3]); 6] = [
        // 3 m of copper are 13.8 ns, on top of 2 ns.
        ("cxl68-expander", [&["host.accesses=200"], &["link.cxl.length=3"], &["link.cxl.propagation=15800 ps"]]),
        (
            "cxl256-expander",
            [
                &["host.accesses=200"],
                &["link.cxl.length=0.5", "link.cxl.medium=board", "link.cxl.retimers=2"],
                &["link.cxl.propagation=125400 ps"],
            ],
        ),
        ("cxlio-enumerate", [&[], &["link.cxl.retimers=1", "link.cxl.retimer=7 ns"], &["link.cxl.propagation=9 ns"]]),
        (
            "ualink-pair",
            [
                &["traffic.operations=60"],
                &["link.links.length=20", "link.links.medium=fibre"],
                &["link.links.propagation=103 ns"],
            ],
        ),
        (
            "nvlink-pair",
            [
                &["traffic.requests=60"],
                &["link.links.length=2", "link.links.retimers=1"],
                &["link.links.latency=129200 ps"],
            ],
        ),
        // 4.6 ns are 5 cycles.
        (
            "fabric-vc-router",
            [&["topology=mesh:4x4", "traffic.packets=50"], &["link.channels.length=1"], &["link.channels.latency=6"]],
        ),
    ];
    for (name, [short, cable, plain]) in cases {
        let [with_cable, delayed] = [cable, plain].map(|more| report(name, &[short, more].concat()));
        assert_eq!(with_cable, delayed, "{name}");
        assert_ne!(with_cable, report(name, short), "{name}: the cable has no effect");
    }
}

/// The setting that is to blame is named, as for a delay of the link's own.
#[test]
fn a_cable_that_is_too_long_for_the_link_is_refused() {
    let cases: [(&str, &[&str], &str); 4] = [
        (
            "cxl256-expander",
            &["link.cxl.retimers=1", "link.cxl.propagation=1 ms"],
            "link.cxl.propagation: found 1000076000000 fs one way",
        ),
        ("ualink-pair", &["link.links.length=90"], "link.links.length: found 5"),
        ("ualink-pair", &["link.links.retimers=4", "link.links.retimer=150 ns"], "link.links.retimers: found 7"),
        (
            "nvlink-pair",
            &["link.links.retimers=4", "link.links.retimer=200 ns", "link.links.length=60"],
            "link.links.retimers: found 1.136 us one way, expected at most 994.24 ns",
        ),
    ];
    for (name, set, expected) in cases {
        let set = set.iter().map(|&text| text.to_owned()).collect();
        let request = ScenarioRequest { scenario: name.to_owned(), threads: 1, set, ..ScenarioRequest::default() };
        let error = scenario::run(&request, &mut |_| ()).expect_err("the way is too long").to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

/// The longest cables that are not refused change when things happen and no result.
#[test]
fn the_longest_cables_work() {
    let cases: [(&str, &[&str]); 6] = [
        (
            "cxl68-expander",
            &["host.accesses=100", "link.cxl.length=100", "link.cxl.retimers=4", "link.cxl.retimer=200 ns"],
        ),
        ("cxl256-expander", &["host.accesses=100", "link.cxl.length=100"]),
        (
            "cxlio-enumerate",
            &["link.cxl.length=100", "link.cxl.medium=board", "link.cxl.retimers=4", "link.cxl.retimer=200 ns"],
        ),
        ("ualink-pair", &["traffic.operations=60", "link.links.length=80"]),
        (
            "nvlink-pair",
            &["traffic.requests=60", "link.links.length=100", "link.links.retimers=2", "link.links.retimer=200 ns"],
        ),
        (
            "fabric-vc-router",
            &["topology=mesh:4x4", "traffic.packets=50", "link.channels.length=100", "link.channels.retimers=4"],
        ),
    ];
    for (name, set) in cases {
        let report: serde_json::Value = serde_json::from_str(&report(name, set)).expect("a report is JSON");
        assert_eq!(report["violations"], serde_json::json!([]), "{name}");
    }
}
