//! Systems whose hosts share lines, or whose devices cache them, through one switch (scenario FAB-T17).

use super::systems::{count, on_threads, refused, run};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest, observe::Outputs};
use std::collections::BTreeSet;

pub const SHARE: &str = include_str!("../../../src/system/builtin/share-16.toml");

/// A run of 16 hosts without findings whose snoops are all passed on and answered.
fn shared(set: &[&str]) -> ScenarioReport {
    let report = run(SHARE, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    let switch = |name| count(&report, "switch", name);
    assert_eq!(switch("switched S2M BISnp"), sent(&report, "s2m_bisnp"), "{set:?}");
    assert_eq!(switch("switched M2S BIRsp"), sent(&report, "m2s_birsp"), "{set:?}");
    for name in ["not decoded", "not bound", "unknown LD-ID", "other classes", "back-invalidates discarded"] {
        assert_eq!(switch(name), 0, "{set:?}: {name}");
    }
    report
}

fn sent(report: &ScenarioReport, class: &str) -> u64 {
    report.messages.iter().find(|(name, _)| name == class).map_or(0, |(_, n)| *n)
}

#[test]
fn sixteen_hosts_share_the_lines_of_one_device() {
    for pattern in ["producer-consumer", "false-sharing", "walk"] {
        let pattern = format!("core.pattern={pattern}");
        let report = shared(&["core.accesses=30", "core.lines=5", &pattern]);
        assert!(sent(&report, "s2m_bisnp") > 15, "{pattern}");
    }
    // A filter that takes lines back, small caches, queues of one message, wrong bits.
    let pressure = ["device.filter_sets=2", "device.filter_ways=2", "core.cache_lines=2"];
    let narrow = ["switch.queue=1", "component.switch.output_queue=1", "link.buffers=2"];
    for more in [pressure, narrow, ["link.mode=cxl-256b-lopt", "link.ber=1e-5", "core.poison_every=5"]] {
        shared(&[&["core.accesses=20"][..], &more].concat());
    }
}

/// Accesses that disturb nobody make the same messages with the switch and without it.
#[test]
fn the_switch_adds_no_message() {
    let set = ["core.pattern=private", "core.accesses=40", "core.outstanding=1"];
    let request = |name: &str, more: &[&str]| {
        let set = set.iter().chain(more).map(|s| (*s).to_owned()).collect();
        let request = ScenarioRequest { scenario: name.into(), seed: 1, set, ..ScenarioRequest::default() };
        scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let (switched, direct) = (shared(&set), request("hdm-db-share", &["hosts=16"]));
    assert_eq!(switched.messages, direct.messages);
}

#[test]
fn sharing_is_the_same_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| on_threads(SHARE, &["core.accesses=15", "link.ber=1e-6"], threads).json());
    assert_eq!(one, two);
}

/// Snoops, and what they cause, have one tree of transactions from the first access to the last answer.
#[test]
fn transactions_of_snoops_go_through_the_switch() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let set = ["core.accesses=12", "core.pattern=false-sharing", "core.lines=2"].map(str::to_owned).to_vec();
    let outputs = Outputs { trace: Some(path.clone()), ..Outputs::default() };
    let request = ScenarioRequest { scenario: "share-16".into(), seed: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert_eq!(report.violations, []);
    let text = std::fs::read_to_string(path).expect("a trace");
    let (mut passed, mut sources) = ([0; 2], [BTreeSet::new(), BTreeSet::new()]);
    for line in text.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let message = record["message"].as_str().unwrap_or_default();
        let Some(class) = ["cxl256.s2m_bisnp", "cxl256.m2s_birsp"].iter().position(|name| *name == message) else {
            continue;
        };
        let bi_id = record["fields"]["bi_id"].as_u64().expect("a BI-ID");
        match record["where"].as_str().expect("a place") {
            "switch" => {
                assert_ne!(record["id"], 0, "{record}");
                passed[class] += 1;
            }
            "dev.dcoh" => drop(sources[0].insert(bi_id)),
            _ => drop(sources[1].insert(bi_id)),
        }
    }
    assert!(passed[0] > 50 && passed[0] == passed[1], "{passed:?}");
    // LD-IDs on the link of the device, the bus of the device on those of all hosts.
    assert_eq!(sources, [(0..16).collect(), BTreeSet::from([3])]);
}

/// Hosts with a device each, hosts with memory, and a host whose lines devices cache, all behind one switch.
pub const MIXED: &str = r#"format = 1
[system]
name = "mixed"
[clock]
agents = { period = "500 ps" }
[component.switch]
kind = "cxl.switch.hbr"
hosts = 4
ports = 5
bindings = [
    { vcs = 0, vppb = 7, port = 3 }, { vcs = 1, vppb = 2, port = 1 }, { vcs = 2, vppb = 0, port = 0 },
    { vcs = 3, vppb = 9, port = 2 }, { vcs = 3, vppb = 4, port = 4 },
]
[component]
host = { kind = "cxl.hdm-db-host", count = 2, core = { accesses = 60, cache_lines = 3 } }
dev = { kind = "cxl.hdm-db-device", count = 2, filter_sets = 1, filter_ways = 2 }
user = { kind = "cxl.host", stimulus = { pattern = "mix", accesses = 200 } }
memory = { kind = "cxl.memory", size = "1 GiB" }
home = { kind = "cxl.home" }
cache = { kind = "cxl.cache-device", count = 2, core = { pattern = "migratory", accesses = 40, lines = 3 } }
[link]
host = { kind = "cxl-256b", between = [["host[0].port[0]", "switch.usp[0]"], ["host[1].port[0]", "switch.usp[1]"]] }
user = { kind = "cxl-256b", between = ["user.cxl", "switch.usp[2]"] }
home = { kind = "cxl-256b", between = ["home.port[0]", "switch.usp[3]"] }
memory = { kind = "cxl-68b", between = ["switch.dsp[0]", "memory.cxl"] }
dev = { kind = "cxl-256b", between = [["switch.dsp[1]", "dev[1].link[0]"], ["switch.dsp[3]", "dev[0].link[0]"]] }
cache = { kind = "cxl-68b", between = [["switch.dsp[2]", "cache[0].link"], ["switch.dsp[4]", "cache[1].link"]] }
"#;

#[test]
fn every_protocol_passes_one_switch_at_once() {
    let report = run(MIXED, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    for class in ["S2M BISnp", "M2S BIRsp", "D2H Req", "H2D Req", "H2D Rsp", "M2S Req", "S2M DRS"] {
        assert!(count(&report, "switch", &format!("switched {class}")) > 0, "{class}");
    }
    assert_eq!(count(&report, "user", "line accesses"), 200);
}

/// A host and a device at one switch with port based routing.
const BY_PORTS: &str = r#"format = 1
[clock]
agents = { period = "500 ps" }
[component]
switch = { kind = "cxl.switch.pbr", hosts = 1, ports = 1 }
host = { kind = "cxl.hdm-db-host" }
dev = { kind = "cxl.hdm-db-device" }
[link]
host = { kind = "cxl-256b", between = ["host.port[0]", "switch.usp[0]"] }
dev = { kind = "cxl-256b", between = ["switch.dsp[0]", "dev.link[0]"] }
"#;

/// A 68B hop, protocols that are not the same at both ends, two devices of one host, moving a host away from its lines.
#[test]
fn what_cannot_be_shared_is_refused() {
    for (text, expected) in [
        (
            MIXED.replace("host = { kind = \"cxl-256b\"", "host = { kind = \"cxl-68b\""),
            "found a link of kind `cxl-68b`",
        ),
        (
            MIXED
                .replace("vcs = 0, vppb = 7, port = 3", "vcs = 0, vppb = 7, port = 0")
                .replace("vcs = 2, vppb = 0, port = 0", "vcs = 2, vppb = 0, port = 3"),
            "found a device at switch.dsp[0] for a host of HDM-DB at switch.usp[0], expected two of one protocol (fabric ERR-4)",
        ),
        (
            SHARE.replace("bindings = [", "commands = [{ at = \"1 us\", vcs = 3 }]\nbindings = ["),
            "found vPPB 0 of VCS 3, whose host caches lines",
        ),
        (
            SHARE.replace("hosts = 16\n", "hosts = 16\ntable = [\"1:none\"]\n"),
            "found `1:none`, expected none: nothing caches the lines of a host here",
        ),
        (
            MIXED.replace("hosts = 4\n", "hosts = 4\ntable = [\"0:1\", \"1:2\"]\n"),
            "found `1:2`, expected none or a caching device of 0 to 1 (fabric CID-3)",
        ),
        (
            MIXED.replace("{ vcs = 3, vppb = 4, port = 4 },", ""),
            "found none of switch.dsp[4], where a device of CXL.cache is, expected one",
        ),
    ] {
        let found = refused(&text);
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

/// A host with two ports has two logical devices of one device, each with an agent of its own.
#[test]
fn one_host_has_two_logical_devices() {
    let two = BY_PORTS
        .replace(
            "cxl.switch.pbr\", hosts = 1, ports = 1",
            "cxl.switch.hbr\", hosts = 2, bindings = [{ vcs = 0, ld = 3 }, { vcs = 1, ld = 1 }]",
        )
        .replace("cxl.hdm-db-host\"", "cxl.hdm-db-host\", ports = 2, core = { accesses = 60, lines = 3 }")
        .replace("cxl.hdm-db-device\"", "cxl.hdm-db-device\", logical_devices = 4")
        .replace("\"host.port[0]\", \"switch.usp[0]\"", "\"host.port[i]\", \"switch.usp[i]\"");
    let report = run(&two, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert!(sent(&report, "s2m_bisnp") > 0);
}

/// An LD-ID that is none is said once, and not what stands in its place.
#[test]
fn a_wrong_binding_is_one_finding() {
    let found = refused(&SHARE.replace("{ vcs = 15, ld = 15 }", "{ vcs = 15, ld = 16 }"));
    assert!(found.contains("bindings[15].ld: found 16, expected 0 to 15"), "{found}");
    assert!(!found.contains("which is bound to"), "{found}");
}

/// Two devices of one host would have the same lines.
#[test]
fn a_host_numbers_the_lines_of_one_device() {
    let two = MIXED
        .replace("vcs = 1, vppb = 2, port = 1", "vcs = 0, vppb = 2, port = 1")
        .replace("hosts = 4", "hosts = 3")
        .replace("vcs = 2,", "vcs = 1,")
        .replace("vcs = 3,", "vcs = 2,")
        .replace("cxl.hdm-db-host\", count = 2", "cxl.hdm-db-host\", count = 1")
        .replace(", [\"host[1].port[0]\", \"switch.usp[1]\"]", "")
        .replace("switch.usp[2]", "switch.usp[1]")
        .replace("switch.usp[3]", "switch.usp[2]");
    let found = refused(&two);
    assert!(found.contains("found 2 devices bound to VCS 0, expected one"), "{found}");
}

/// Links above the lowest switch carry CacheIDs where several devices cache.
#[test]
fn fab_cid_05_p() {
    let report = run(MIXED, &["link.home.kind=cxl-256b-lopt"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
}

#[test]
fn fab_cid_05_n() {
    let error = run(MIXED, &["link.home.kind=cxl-68b"]).expect_err("no CacheID fits there");
    assert!(error.contains("COH-CID-04: 2 caching devices behind a link without CacheID"), "{error}");
}
