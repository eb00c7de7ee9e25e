//! What stands between agents: a switch that all devices of a host, or all holders of a device, share; direct peers.

use super::scenarios::{MODES, PATTERNS, below_a_switch, count, run, settings, sound};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const SMALL: [&str; 3] = ["core.accesses=40", "core.lines=5", "core.cache_lines=4"];

/// [`SMALL`] and more.
fn small(more: &[&str]) -> Vec<String> {
    settings(&[&SMALL[..], more].concat())
}

/// Records of the trace of a sound run.
pub fn trace(scenario: &str, set: Vec<String>) -> Vec<Value> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("trace.jsonl");
    let mut request =
        ScenarioRequest { scenario: scenario.into(), seed: 3, threads: 1, set, ..ScenarioRequest::default() };
    request.outputs.trace = Some(path.clone());
    // A wave has a place for every message.
    request.outputs.vcd = Some(dir.path().join("wave.vcd"));
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert!(report.violations.is_empty(), "{:?}", report.violations.first());
    let text = std::fs::read_to_string(path).expect("a trace");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Messages of CXL.cache that passed a switch with virtual hierarchies.
fn switched(report: &ScenarioReport) -> u64 {
    let classes = ["D2H Req", "D2H Rsp", "D2H Data", "H2D Req", "H2D Rsp", "H2D Data"];
    classes.iter().map(|class| count(report, &format!("switched {class}"))).sum()
}

/// Caching devices behind a switch of a fabric.
const BEHIND_A_FABRIC: &str = r#"format = 1
[clock]
agents = { period = "500 ps" }
[component]
host = { kind = "cxl.home" }
switch = { kind = "cxl.fabric-switch", carries = "cxl.cache", devices = 3 }
dev = { kind = "cxl.cache-device", count = 3, core = { accesses = 40, lines = 5, cache_lines = 4 } }
[link]
trunk = { kind = "cxl-256b-pbr", between = ["host.port[0]", "switch.trunk"] }
dev = { kind = "cxl-256b-pbr", between = ["switch.device[i]", "dev[i].link"] }
[settings]
"core.pattern" = "component.dev.core.pattern"
"#;

#[test]
fn devices_cache_lines_over_a_fabric() {
    for pattern in PATTERNS {
        let request = described(BEHIND_A_FABRIC, 1, &[&format!("core.pattern={pattern}")]);
        let report = scenario::run(&request, &mut |_| ()).expect("it runs");
        assert!(report.violations.is_empty(), "{:?}", report.violations.first());
        let messages: u64 = report.messages.iter().map(|(_, n)| n).sum();
        assert_eq!((count(&report, "switched"), count(&report, "discarded")), (messages, 0), "{pattern}");
    }
}

#[test]
fn devices_share_a_switch_in_every_mode_and_pattern() {
    for mode in &MODES[1..3] {
        for pattern in PATTERNS {
            let (mode, pattern) = (format!("link.mode={mode}"), format!("core.pattern={pattern}"));
            let report = sound("cxl-cache-switch", None, &small(&["devices=3", &mode, &pattern]));
            let messages: u64 = report.messages.iter().map(|(_, n)| n).sum();
            assert_eq!(switched(&report), messages, "{mode} {pattern}: each message passes the switch once");
            assert_eq!(count(&report, "CacheIDs discarded"), 0, "{mode} {pattern}");
            assert!(count(&report, "accesses") >= 120 && count(&report, "h2d_req") > 0, "{mode} {pattern}");
        }
    }
    // Links of devices that have no CacheID, all 16 of them, a filter that takes lines back.
    for more in [
        ["switch.device_mode=cxl-68b", "devices=4"],
        ["core.accesses=6", "devices=16"],
        ["home.filter_lines=2", "devices=4"],
    ] {
        let report = sound("cxl-cache-switch", None, &small(&[&["core.pattern=migratory"], &more[..]].concat()));
        assert!(count(&report, "h2d_req") > 0, "{more:?}");
    }
}

#[test]
fn the_link_above_carries_cache_ids() {
    for own in ["cxl-256b", "cxl-68b"] {
        let own = format!("switch.device_mode={own}");
        let set = small(&["devices=3", "core.pattern=migratory", &own]);
        let mut seen: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for record in trace("cxl-cache-switch", set) {
            let Some(id) = record["fields"]["cache_id"].as_u64() else { continue };
            let place = record["where"].as_str().expect("a place").to_owned();
            seen.entry(place).or_default().insert(id);
        }
        let all = BTreeSet::from([0, 1, 2]);
        assert_eq!((&seen["host.home"], &seen["switch"]), (&all, &all), "{own}: {seen:?}");
        if own.ends_with("256b") {
            // A device does not know its own; what comes down to it has it.
            assert_eq!(seen["dev[2].cache"], BTreeSet::from([0, 2]), "{seen:?}");
        } else {
            assert!(!seen.contains_key("dev[2].cache"), "68B flits have no field: {seen:?}");
        }
    }
}

#[test]
fn an_entry_that_is_not_valid_cuts_a_device_off() {
    let cut = |entry: &str| {
        let table = format!("switch.table={entry}");
        run("cxl-cache-switch", None, &small(&["devices=3", &table])).expect("a legal request")
    };
    let report = cut("1:none");
    assert!(count(&report, "CacheIDs discarded") > 0, "without answer");
    let named: Vec<_> = report.violations.iter().filter(|b| b.violation.rule == "COH-CID-03").collect();
    assert_eq!((named.len(), named[0].place.as_str()), (1, "switch"));
    assert!(named[0].violation.text.starts_with("device 1: "), "{}", named[0].violation);
    assert!(report.violations.iter().any(|b| b.violation.rule == "SIM-E2E-03"), "it waits for ever");
    // A wrong port lets nothing foreign through: its device never sees it.
    let report = cut("1:2");
    assert!(count(&report, "CacheIDs discarded") > 0);
    assert_eq!(report.violations.iter().map(|b| b.violation.rule).collect::<BTreeSet<_>>(), ["SIM-E2E-03"].into());
    // An entry again as it is changes nothing.
    assert!(cut("1:1").violations.is_empty());
}

#[test]
fn what_cannot_stand_behind_a_switch_is_refused() {
    let refused = |scenario: &str, set: &[&str]| run(scenario, None, &settings(set)).expect_err("refused").to_string();
    for (scenario, set, why) in [
        ("cxl-cache-switch", &["link.mode=cxl-68b"][..], "COH-CID-04"),
        ("cxl-cache-switch", &["link.mode=cxl-256b-pbr"], "expected cxl-68b, cxl-256b, cxl-256b-lopt"),
        ("cxl-cache-switch", &["switch.table=16:1"], "found `16:1`"),
        ("cxl-cache-switch", &["switch.table=3"], "found `3`"),
        ("cxl-cache-switch", &["switch.table=3:16"], "found `3:16`"),
        ("hdm-db-fabric", &["link.host.kind=cxl-256b"], "expected cxl-256b-pbr"),
        ("hdm-db-share", &["link.mode=cxl-68b"], "expected cxl-256b, cxl-256b-lopt, cxl-256b-pbr"),
        ("hdm-db-fabric", &["peers=4092", "hosts=2"], "expected 1 to 4093 in all"),
    ] {
        let error = refused(scenario, set);
        assert!(error.contains(why), "{set:?}: {error}");
    }
    // Alone, a device needs no CacheID.
    sound("cxl-cache-switch", None, &small(&["link.mode=cxl-68b", "devices=1"]));
}

#[test]
fn hosts_and_direct_peers_share_the_memory_of_devices() {
    for pattern in PATTERNS {
        let pattern = format!("core.pattern={pattern}");
        for more in [
            ["hosts=3", "peers=1", "devices=3"],
            ["hosts=1", "peers=1", "devices=2"],
            ["hosts=2", "peers=2", "devices=1"],
        ] {
            let set = small(&[&more[..], &[pattern.as_str()]].concat());
            let report = sound("hdm-db-fabric", None, &set);
            let messages: u64 = report.messages.iter().map(|(_, n)| n).sum();
            assert_eq!(count(&report, "switched"), messages, "{set:?}");
            assert_eq!(count(&report, "s2m_bisnp"), count(&report, "m2s_birsp"), "{set:?}");
        }
    }
}

/// With one host, whatever it is asked to give up is wanted by the peer, and the other way round.
#[test]
fn a_direct_peer_takes_lines_from_the_host_and_gives_them_back() {
    let set = small(&["hosts=1", "peers=1", "core.pattern=migratory"]);
    let records = trace("hdm-db-fabric", set);
    let seen = |place: &str, message: &str| {
        let of = |r: &&Value| r["where"] == place && r["message"].as_str().is_some_and(|m| m.ends_with(message));
        records.iter().filter(of).count()
    };
    for place in ["host[0].mem[0]", "acc[0].mem[0]"] {
        assert!(seen(place, "s2m_bisnp") > 10 && seen(place, "m2s_rwd") > 10, "{place}: snooped, and writes back");
    }
}

/// UIO reads and writes beside cores that use the same lines: the watcher knows every value.
#[test]
fn a_peer_on_cxl_io_reads_and_writes_under_the_copies_of_hosts() {
    for (pattern, bytes) in [("migratory", 64), ("read-mostly", 64), ("false-sharing", 200), ("producer-consumer", 1)] {
        let (pattern, bytes) = (format!("core.pattern={pattern}"), format!("uio.bytes={bytes}"));
        let report = sound("hdm-db-share", None, &small(&["uio.accesses=60", &pattern, &bytes, "devices=2"]));
        let quiet = sound("hdm-db-share", None, &small(&[&pattern, "devices=2"]));
        let ended = count(&report, "accesses") - count(&quiet, "accesses") + count(&report, "uio aborts");
        assert_eq!(ended, 120, "{pattern} {bytes}: each is completed or aborted");
        assert!(count(&report, "s2m_bisnp") > count(&quiet, "s2m_bisnp"), "{pattern} {bytes}: holders were asked");
    }
    // All of them cross the end: no effect at all.
    let set = small(&["uio.accesses=30", "uio.bytes=4096", "core.pattern=private"]);
    let report = sound("hdm-db-share", None, &set);
    assert_eq!((count(&report, "uio aborts"), count(&report, "s2m_bisnp")), (30, 0));
    // Beside direct peers and a filter that is too small.
    let more = ["uio.accesses=40", "hosts=1", "peers=1", "device.filter_sets=1", "device.filter_ways=2"];
    sound("hdm-db-fabric", None, &small(&more));
}

/// Devices that cache the host's lines over CXL.cache and those of one more device over CXL.mem of their own.
#[test]
fn devices_use_another_one_directly() {
    for mode in MODES {
        for pattern in PATTERNS {
            let (mode, pattern) = (format!("link.mode={mode}"), format!("core.pattern={pattern}"));
            let report = sound("cxl-cache-peers", None, &small(&[&mode, &pattern]));
            for class in ["d2h_req", "h2d_rsp", "m2s_req", "s2m_bisnp", "m2s_birsp"] {
                assert!(count(&report, class) > 0, "{mode} {pattern}: {class}");
            }
            let of_mem = ["m2s_req", "m2s_rwd", "m2s_birsp", "s2m_bisnp", "s2m_ndr", "s2m_drs"];
            let mem: u64 = of_mem.iter().map(|class| count(&report, class)).sum();
            assert_eq!(count(&report, "switched"), mem, "{mode} {pattern}: over the fabric");
        }
    }
    // Below a switch too, and with faults on the way.
    sound(&below_a_switch(), None, &small(&["core.pattern=migratory", "link.ber=1e-5"]));
    // No line goes over both interfaces, whatever the flits of either.
    for mode in ["cxl-68b", "cxl-256b"] {
        let mode = format!("link.mode={mode}");
        let records = trace("cxl-cache-peers", small(&["core.pattern=migratory", &mode]));
        let mut lines = [BTreeSet::new(), BTreeSet::new()];
        for record in records.iter().filter(|r| r["where"] == "dev[1].cache") {
            let (message, address) = (record["message"].as_str(), record["fields"]["address"].as_str());
            if let (Some(message), Some(address)) = (message, address) {
                let class = message.split('.').next_back().expect("a name");
                lines[usize::from(["m2s_req", "m2s_rwd", "s2m_bisnp"].contains(&class))].insert(address.to_owned());
            }
        }
        assert!(lines.iter().all(|l| !l.is_empty()) && lines[0].is_disjoint(&lines[1]), "{lines:?}");
    }
}

/// Two homes of different protocols, with a switch before one of them and links of several modes, in one description.
const MIXED: &str = r#"format = 1
[clock]
fast = { period = "400 ps" }
slow = { period = "500 ps" }
[component]
home = { kind = "cxl.home", clock = "slow" }
switch = { kind = "cxl.switch.hbr", clock = "fast", ports = 2 }
dev = { kind = "cxl.cache-device", clock = "slow", count = 2, core = { accesses = 60, lines = 3 } }
memory = { kind = "cxl.hdm-db-device", clock = "fast", ports = 2 }
host = { kind = "cxl.hdm-db-host", clock = "slow", count = 2, core = { pattern = "migratory", accesses = 40, lines = 3 }, at = { 1 = { core = { pattern = "walk" } } } }
[link]
trunk = { kind = "cxl-256b", between = ["home.port[0]", "switch.usp[0]"] }
dev = { kind = "cxl-68b", between = ["switch.dsp[i]", "dev[i].link"] }
one = { kind = "cxl-256b-lopt", between = ["host[0].port[0]", "memory.link[0]"] }
two = { kind = "cxl-256b-pbr", between = ["host[1].port[0]", "memory.link[1]"] }
[settings]
"watch" = ["component.home.watch", "component.memory.watch"]
"ber" = ["link.trunk.ber", "link.dev.ber", "link.one.ber", "link.two.ber"]
"#;

/// A request for a description.
fn described(text: &str, threads: usize, set: &[&str]) -> ScenarioRequest {
    ScenarioRequest {
        description: Some(text.to_owned()),
        seed: 5,
        threads,
        set: settings(set),
        ..ScenarioRequest::default()
    }
}

#[test]
fn agents_are_joined_in_other_ways() {
    for set in [&[][..], &["ber=1e-5"]] {
        let run = |threads, more: &[&str]| {
            let request = described(MIXED, threads, &[set, more].concat());
            let report = scenario::run(&request, &mut |_| ()).expect("it runs");
            assert!(report.violations.is_empty(), "{:?}", report.violations.first());
            report
        };
        let report = run(1, &[]);
        assert_eq!(run(2, &[]).json(), report.json(), "however many threads there are");
        let unseen = run(2, &["watch=off"]);
        assert_eq!((&unseen.messages, unseen.time_fs), (&report.messages, report.time_fs), "a watcher changes nothing");
        // Two devices, one host that reads and then writes, one that walks.
        assert_eq!(count(&report, "accesses"), 60 + 60 + 80 + 40);
        let cached = ["d2h_req", "d2h_rsp", "d2h_data", "h2d_req", "h2d_rsp", "h2d_data"];
        let cached: u64 = cached.iter().map(|class| count(&report, class)).sum();
        assert_eq!(switched(&report), cached, "the switch has the messages of its home alone");
        assert!(count(&report, "s2m_bisnp") > 0 && count(&report, "h2d_req") > 0);
    }
}

#[test]
fn sides_that_do_not_fit_are_refused() {
    for (from, to, why) in [
        (
            "\"memory.link[0]\"]",
            "\"home.port[0]\"]",
            "found `host[0].port[0]`, a host of HDM-DB, and `home.port[0]`, a host of CXL.cache, expected both sides of one protocol",
        ),
        (
            "kind = \"cxl-256b-lopt\"",
            "kind = \"cxl-68b\"",
            "found a link of kind `cxl-68b` at `host[0].port[0]`, expected cxl-256b",
        ),
        (
            "kind = \"cxl.hdm-db-device\"",
            "kind = \"cxl.hdm-d-device\"",
            "found the key `ports`, expected one of core, watch",
        ),
        (
            "ports = 2 }\nhost",
            "ports = 2, devload = [\"3\", \"2\", \"1\"] }\nhost",
            "expected three numbers above 0 that do not fall",
        ),
        ("ports = 2 }\ndev", "ports = 2, table = [\"16:0\"] }\ndev", "found `16:0`, expected CACHEID:DEVICE"),
    ] {
        assert!(MIXED.contains(from), "{from}");
        let error = scenario::check(&described(&MIXED.replacen(from, to, 1), 1, &[])).expect_err("refused").to_string();
        assert!(error.contains(why), "{to}: {error}");
    }
}

/// A trace is dealt to all cores in blocks of one length.
#[test]
fn cores_that_share_a_trace_agree_on_its_blocks() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace.csv");
    std::fs::write(&trace, "cycle,op,address,size\n0,W,0x40,8\n1,R,0x80,8\n2,R,0x40,8\n").expect("a file");
    let run = |set: &[&str]| {
        let request = ScenarioRequest { stimulus: Some(trace.clone()), ..described(MIXED, 1, set) };
        scenario::run(&request, &mut |_| ())
    };
    assert_eq!(count(&run(&[]).expect("it runs"), "accesses"), 3);
    let error = run(&["component.dev.core.trace_block=2"]).expect_err("refused").to_string();
    assert!(error.contains("found blocks of 2 and of 64 accesses, expected one length"), "{error}");
}
