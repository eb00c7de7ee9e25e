//! Switches with hierarchy based routing below one another, and below a fabric with port based routing.

use super::systems::{count, on_threads, run};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::description::Description;
use std::path::PathBuf;

const CASCADE: &str = include_str!("../../systems/cascaded_switches.toml");
const BELOW_PBR: &str = include_str!("../../systems/pbr_over_hbr.toml");

fn resolved(text: &str) -> Result<(), String> {
    let description = Description::parse("f.toml", PathBuf::new(), text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    description.resolve().map(drop).map_err(|problems| problems.to_string())
}

/// Why a description is refused.
fn refused(text: &str) -> String {
    resolved(text).expect_err("it is taken")
}

/// Changes a description at one place that has to be there.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

/// Memory and system address of each request that a memory has taken in a run without findings.
fn taken(text: &str, accesses: usize) -> Vec<(String, u64)> {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let set = vec![format!("host.accesses={accesses}")];
    let description = Some(text.to_owned());
    let request = ScenarioRequest { description, seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let text = std::fs::read_to_string(trace).expect("a trace");
    let mut all = Vec::new();
    for line in text.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let place = record["where"].as_str().unwrap_or_default();
        if let (Some(memory), "begin") = (place.strip_suffix(".mem"), record["kind"].as_str().unwrap_or_default()) {
            let address =
                record["fields"]["address"].as_str().and_then(|text| text.strip_prefix("0x")).expect("an address");
            all.push((memory.to_owned(), u64::from_str_radix(address, 16).expect("a number")));
        }
    }
    all
}

/// Every level takes the bits above those of the level before: bit 8 the upper switch, bit 9 the lower ones. Another hierarchy of
/// the same switches sees its own memories alone.
#[test]
fn fab_hdm_08_p2() {
    let taken = taken(CASCADE, 400);
    let mut seen = std::collections::BTreeSet::new();
    for (memory, address) in taken {
        let low = address >> 8 & 1;
        let expected = match (address >> 32, address >> 9 & 1) {
            (1, 0) => format!("memory[{low}]"),
            (1 | 2, _) => format!("shared[{low}]"),
            _ => panic!("{address:#x}"),
        };
        assert_eq!(memory, expected, "{address:#x}");
        seen.insert((memory, address >> 32));
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
}

/// Targets in an order in which the upper switch would have to deal by other bits than the lowest ones.
#[test]
fn fab_hdm_08_n2() {
    let from = "targets = [\"memory[0]\", \"memory[1]\", \"shared[0].ld[0]\", \"shared[1].ld[0]\"]";
    let to = "targets = [\"memory[0]\", \"shared[0].ld[0]\", \"memory[1]\", \"shared[1].ld[0]\"]";
    let found = refused(&changed(CASCADE, from, to));
    assert!(found.contains("in another order") && found.contains("fabric HDM-11"), "{found}");
}

/// Two levels of switches, and two levels of edge switches with two more below: one decode a level, each request once at each.
#[test]
fn fab_cmr_01_p2() {
    let report = run(CASCADE, &["host.accesses=500", "link.ber=2e-5"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert!(report.errors_repaired + report.retries > 0);
    let sum = |paths: &[&str], name: &str| paths.iter().map(|path| count(&report, path, name)).sum::<u64>();
    for (class, asked) in [("M2S Req", "reads"), ("M2S RwD", "writes")] {
        let asked = sum(&["host[0]", "host[1]"], asked);
        let name = format!("switched {class}");
        assert_eq!([sum(&["top"], &name), sum(&["low[0]", "low[1]"], &name)], [asked; 2]);
    }
    let report = run(BELOW_PBR, &["host.accesses=500"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let passed = |path: &str| {
        ["M2S Req", "M2S RwD", "S2M NDR", "S2M DRS"].map(|class| count(&report, path, &format!("switched {class}")))
    };
    let [front, back, below, lowest] = ["front", "back", "below", "lowest"].map(passed);
    assert_eq!(front, back);
    assert!(
        (0..4).all(|n| lowest[n] > 0 && lowest[n] < below[n] && below[n] < back[n]),
        "{back:?} {below:?} {lowest:?}"
    );
    for path in ["front", "back", "below", "lowest"] {
        for name in ["not decoded", "unknown LD-ID", "other classes", "switch answers"] {
            assert_eq!(count(&report, path, name), 0, "{name} of {path}");
        }
    }
}

/// What the upper switch claims and the lower one does not is answered there, as where nothing is bound: the lower switch has
/// unbound its vPPB.
#[test]
fn fab_cmr_01_n2() {
    let unbound = "\nhosts = 2\nports = 2\ncommands = [{ at = \"1 us\", command = \"unbind\", vcs = 1, vppb = 0 }]";
    let report = run(
        &changed(
            CASCADE,
            "count = 2\nclock = \"switch\"\nhosts = 2\nports = 2",
            &format!("count = 2\nclock = \"switch\"{unbound}"),
        ),
        &["host.accesses=500"],
    );
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    let answers = |path: &str| count(&report, path, "switch answers");
    assert_eq!(answers("top"), 0);
    assert!(answers("low[0]") > 0 && answers("low[0]") == count(&report, "low[0]", "not bound"));
    assert_eq!(count(&report, "host[1]", "line accesses"), 500, "every request ends");
}

/// Threads and bytes of flits change nothing.
#[test]
fn cascades_are_deterministic() {
    for text in [CASCADE, BELOW_PBR] {
        let [one, again] = [1, 2].map(|threads| on_threads(text, &["host.accesses=150"], threads).json());
        assert_eq!(one, again);
        let [watched, always] = ["watched", "always"]
            .map(|bits| on_threads(text, &["host.accesses=150", &format!("link.bits={bits}")], 1).json());
        assert_eq!(watched, always);
    }
}

/// A host below a segment table reaches what is below a switch with hierarchy based routing: its window is that of the edge port.
#[test]
fn a_segment_table_leads_to_a_switch() {
    let mut text = BELOW_PBR.to_owned();
    for (from, to) in [
        ("\"4 GiB\"", "\"64 GiB\""),
        ("\"5 GiB\"", "\"128 GiB\""),
        ("\"6 GiB\"", "\"192 GiB\""),
        ("\"8 GiB\"", "\"64 TiB\""),
    ] {
        text = changed(&text, &format!("base = {from}"), &format!("base = {to}"));
    }
    let report = run(&text, &["host.accesses=300", "decode=ldst"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert!(count(&report, "lowest", "switched M2S Req") > 0);
}

/// A switch with hierarchy based routing stands below a host, an edge port or another such switch; one with port based routing below a
/// host alone, and at the end of all switches is a host.
#[test]
fn fab_pid_03_p2() {
    for text in [CASCADE, BELOW_PBR] {
        resolved(text).unwrap_or_else(|problems| panic!("{problems}"));
    }
}

#[test]
fn fab_pid_03_n2() {
    let low = "[component.low]\nkind = \"cxl.switch.hbr\"\ncount = 2\nclock = \"switch\"\nhosts = 2\nports = 2\nbindings = [{ vcs = 0, vppb = 0, port = 0 }, { vcs = 0, vppb = 1, port = 1, ld = 0 }, { vcs = 1, vppb = 0, port = 1, ld = 1 }]";
    let pbr = changed(
        CASCADE,
        low,
        "[component.low]\nkind = \"cxl.switch.pbr\"\ncount = 2\nclock = \"switch\"\nhosts = 2\nports = 2",
    );
    let found = refused(&pbr);
    assert!(found.contains("expected a host above the upstream port"), "{found}");
    // Two switches below each other.
    let circle = "format = 1\n[system]\nname = \"circle\"\n[clock]\ncore = { period = \"1 ns\" }\n\
        [memory_map.all]\nbase = \"4 GiB\"\nsize = \"1 GiB\"\ntargets = \"memory\"\n\
        [component.host]\nkind = \"cxl.host\"\n[component.one]\nkind = \"cxl.switch.hbr\"\nhosts = 2\nports = 2\n\
        bindings = [{ vcs = 0, vppb = 0, port = 0 }, { vcs = 1, vppb = 0, port = 1 }]\n\
        [component.two]\nkind = \"cxl.switch.hbr\"\n[component.memory]\nkind = \"cxl.memory\"\n\
        [link.host]\nkind = \"cxl-256b\"\nbetween = [\"host.cxl\", \"one.usp[0]\"]\n\
        [link.memory]\nkind = \"cxl-256b\"\nbetween = [\"one.dsp[0]\", \"memory.cxl\"]\n\
        [link.down]\nkind = \"cxl-256b\"\nbetween = [\"one.dsp[1]\", \"two.usp[0]\"]\n\
        [link.up]\nkind = \"cxl-256b\"\nbetween = [\"two.dsp[0]\", \"one.usp[1]\"]\n";
    let found = refused(circle);
    assert!(found.contains("found no host above `one.usp[1]`") && found.contains("fabric PID-3"), "{found}");
}

/// A host of another protocol than the memories two levels down is told so, at each of the switches.
#[test]
fn protocols_are_compared_over_levels() {
    let text = changed(
        CASCADE,
        "[component.host]\nkind = \"cxl.host\"\ncount = 2\nclock = \"core\"\nstimulus = { pattern = \"mix\", accesses = 1_000 }",
        "[component.host]\nkind = \"cxl.hdm-db-host\"\ncount = 2\nclock = \"core\"",
    );
    let text = changed(&text, "host[i].cxl", "host[i].port[0]");
    let text = text.split("[settings]").next().expect("a text").to_owned();
    let found = refused(&text);
    assert!(found.contains("expected two of one protocol (fabric ERR-4)"), "{found}");
}
