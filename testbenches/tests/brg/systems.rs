//! Systems with a bridge, from their descriptions to their runs.

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::description::Description;
use scalepool::system::design::System;
use serde_json::Value;
use std::path::PathBuf;

pub const TEXT: &str = include_str!("../../../src/system/builtin/bridge-ualink.toml");

/// A description, up to a system.
pub fn resolves(text: &str) -> Result<System, String> {
    let description = Description::parse("f.toml", PathBuf::new(), text).map_err(|e| e.to_string())?;
    description.resolve().map_err(|e| e.to_string())
}

fn request(text: &str, set: &[&str], threads: usize) -> ScenarioRequest {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    ScenarioRequest { description: Some(text.to_owned()), seed: 1, threads, set, ..ScenarioRequest::default() }
}

fn run(text: &str, set: &[&str], threads: usize) -> ScenarioReport {
    scenario::run(&request(text, set, threads), &mut |_| ()).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

fn count(report: &ScenarioReport, name: &str) -> u64 {
    let json = report.json();
    json["components"]["bridge"][name].as_u64().unwrap_or_else(|| panic!("no `{name}`: {json:?}"))
}

/// A run in which the accelerators find nothing wrong with any byte.
fn sound(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set, 1);
    assert_eq!(report.violations, [], "{set:?}");
    assert_eq!(count(&report, "requests refused"), 0, "{set:?}");
    report
}

#[test]
fn accelerators_find_every_byte_behind_the_bridge() {
    let report = sound(TEXT, &["traffic.operations=200"]);
    // Of two accelerators each asks the other one and the bridge in turn.
    assert_eq!((count(&report, "requests answered"), count(&report, "lines")), (200, 800));
    sound(TEXT, &["traffic.operations=60", "traffic.bytes=192", "traffic.mix=writes", "accel.vcs=4"]);
    sound(TEXT, &["traffic.operations=40", "link.order=strict", "traffic.blocks=2"]);
}

#[test]
fn errors_of_both_links_and_poison_change_no_byte() {
    let report =
        sound(TEXT, &["traffic.operations=150", "link.ber=2e-6", "link.cxl_ber=2e-6", "traffic.poison_every=4"]);
    assert!(report.json()["retries"].as_u64() > Some(0), "{:?}", report.json());
}

/// The smallest table, buffers for one write, memory that takes one request at a time: all of it is done, only later.
#[test]
fn a_full_bridge_holds_requests_back_and_loses_none() {
    let small = ["bridge.entries=32", "bridge.write_buffers=4", "memory.queue=1", "traffic.operations=40"];
    let report = sound(TEXT, &small);
    assert!(count(&report, "full cycles") > 0);
    assert_eq!(count(&report, "requests answered"), 40);
}

#[test]
fn a_silent_memory_ends_requests_with_a_status() {
    let report = run(TEXT, &["bridge.timeout_cycles=60", "memory.latency_cycles=2000", "traffic.operations=4"], 1);
    assert!(count(&report, "time-outs") > 0 && count(&report, "late answers") > 0);
    let rules: std::collections::BTreeSet<_> = report.violations.iter().map(|found| found.violation.rule).collect();
    assert_eq!(rules, ["SIM-E2E-02"].into(), "the accelerators are told, and that is no isolation");
}

/// A write that the bridge has given up is done or not; what is read later is either, and no byte is called wrong.
#[test]
fn a_write_that_is_given_up_is_unknown_until_it_is_read() {
    let busy = ["memory.queue=1", "memory.latency_cycles=100", "traffic.operations=60", "traffic.blocks=2"];
    let report = run(TEXT, &[&busy[..], &["bridge.timeout_cycles=600"]].concat(), 1);
    let (all, given_up) = (count(&report, "requests answered"), count(&report, "time-outs"));
    assert!(0 < given_up && given_up < all, "{given_up} of {all}");
    let other = report.violations.iter().find(|found| found.violation.rule != "SIM-E2E-02");
    assert!(other.is_none(), "{other:?}");
}

#[test]
fn nothing_depends_on_threads_or_on_who_looks() {
    let set = ["traffic.operations=50"];
    let one = run(TEXT, &set, 1).json();
    assert_eq!(run(TEXT, &set, 2).json(), one);
    let folder = tempfile::tempdir().expect("a folder");
    let outputs = Outputs {
        trace: Some(folder.path().join("t.jsonl")),
        fst: Some(folder.path().join("w.fst")),
        ..Outputs::default()
    };
    let seen = scenario::run(&ScenarioRequest { outputs, ..request(TEXT, &set, 1) }, &mut |_| ()).expect("it runs");
    assert_eq!(seen.json(), one);
}

/// From an access of an accelerator over its UALink request and the bridge to what the memory does for each line.
#[test]
fn one_access_is_one_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let request = ScenarioRequest { outputs, ..request(TEXT, &["traffic.operations=2"], 1) };
    scenario::run(&request, &mut |_| ()).expect("it runs");
    let text = std::fs::read_to_string(trace).expect("a trace");
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let begins = |place: &str| -> Vec<&Value> {
        records.iter().filter(|r| r["kind"] == "begin" && r["where"] == place).collect()
    };
    let by_id = |id: &Value| records.iter().find(|r| r["kind"] == "begin" && r["id"] == *id).expect("it has begun");
    let served = begins("memory.mem");
    assert_eq!(served.len(), 8);
    for served in served {
        let line = by_id(&served["parent"]);
        let converted = by_id(&line["parent"]);
        let asked = by_id(&converted["parent"]);
        let access = by_id(&asked["parent"]);
        let places = [line, converted, asked, access].map(|r| r["where"].as_str().expect("a place").to_owned());
        assert_eq!([&places[0], &places[1]], ["bridge", "bridge"]);
        assert!(places[2].starts_with("accel[") && places[3] == places[2], "{places:?}");
        assert_eq!(access["parent"], 0);
    }
    let ends = |id: &Value| records.iter().filter(|r| r["kind"] == "end" && r["id"] == *id).count();
    let open: Vec<&Value> = records.iter().filter(|r| r["kind"] == "begin" && ends(&r["id"]) != 1).collect();
    assert!(open.is_empty(), "{open:?}");
}

/// Accelerators in front of a device that keeps its memory coherent; a host loads what they write, from so many lines.
fn coherent(host_lines: u64) -> String {
    include_str!("../../systems/coherent_bridge.toml").replace("lines = 4", &format!("lines = {host_lines}"))
}

/// Reads, writes of any part and atomics on lines of a device that a host caches as well: every byte is right for the accelerators, and
/// the watcher of the device finds the newest value in every copy of the host.
#[test]
fn a_coherent_device_stays_coherent() {
    for host_lines in [4, 64, 1000] {
        let report = run(&coherent(host_lines), &[], 1);
        assert_eq!(report.violations, [], "{host_lines}");
        assert_eq!(count(&report, "requests refused"), 0);
        assert!(count(&report, "atomics") > 10 && count(&report, "writes") > 10);
        assert!(host_lines > 4 || count(&report, "snoops") > 0, "the host takes lines that the bridge uses");
    }
    assert_eq!(run(&coherent(16), &[], 2).json(), run(&coherent(16), &[], 1).json());
}

/// Accelerators in front of the memory of a host, over a kind of link, beside a device that caches so many lines of it.
fn of_host(link: &str, lines: u64) -> String {
    let text = include_str!("../../systems/host_lines.toml").replace("lines = 4", &format!("lines = {lines}"));
    text.replace("kind = \"cxl-256b\"", &format!("kind = \"{link}\""))
}

/// Windows of class CC over every kind of link with CXL.cache, without a cache and with several: accelerators find every byte, and the
/// watcher of the home finds the newest value in every copy, those of the bridge among them.
#[test]
fn memory_of_a_host_stays_coherent() {
    for link in ["cxl-256b", "cxl-68b", "cxl-256b-pbr"] {
        for (cache, lines) in [
            ("mode = \"off\"", 4),
            ("mode = \"data\"", 4),
            ("mode = \"both\", capacity = \"1 KiB\", ways = 2, tag_store = \"hbm\"", 16),
            ("mode = \"data\", capacity = \"1 KiB\", ways = 2, write = \"through\", block = \"128 B\"", 16),
        ] {
            let report = run(&with_cache(&of_host(link, lines), cache), &[], 1);
            assert_eq!(report.violations, [], "{link} {cache}");
            assert_eq!((count(&report, "requests refused"), count(&report, "time-outs")), (0, 0), "{link} {cache}");
            assert!(count(&report, "atomics") > 10 && count(&report, "writes") > 10);
            assert!(cache.contains("off") || count(&report, "cache read hits") > 0, "{cache}");
            assert!(cache != "mode = \"data\"" || count(&report, "snoop hits") > 0, "{cache}");
        }
    }
    let text = with_cache(&of_host("cxl-256b", 16), "mode = \"both\", capacity = \"1 KiB\", ways = 2");
    assert_eq!(run(&text, &[], 2).json(), run(&text, &[], 1).json());
}

/// A bridge gives up before accelerators do, which are isolated then and never hear why (BRG-TMO-01).
#[test]
fn accelerators_do_not_give_up_first() {
    let text = include_str!("../../systems/bridge_io.toml");
    let cycles = |cycles: u64| format!("component.bridge.stages.timeout_cycles={cycles}");
    let late = scenario::run(&request(text, &[&cycles(2_000_000)], 1), &mut |_| ());
    let late = late.map(|_| String::new()).unwrap_or_else(|error| error.to_string());
    assert!(late.contains("stages.timeout_cycles: found"), "{late}");
    assert!(late.contains("accelerators give up before the bridge does"), "{late}");
    assert_eq!(run(text, &[&cycles(1_999_999)], 1).violations, []);
}

/// The same system with GPUs, the first of which uses memory from 16 MiB on, where its window begins.
fn with_gpus(text: &str) -> String {
    text.replace("{ base = \"0\", size = \"1 GiB\"", "{ base = \"16 MiB\", size = \"1 GiB\"")
        .replace("kind = \"ualink.accelerator\"", "kind = \"nvlink.gpu\"\nlinks = 1")
        .replace(
            "{ operations = 150, mix = \"all\", blocks = 4 }",
            "{ pattern = \"accesses\", requests = 150, region = \"1 KiB\" }",
        )
        .replace("kind = \"ualink.switch\"", "kind = \"nvlink.switch\"")
        .replace("kind = \"ualink\"\norder = \"relaxed\"", "kind = \"nvlink\"")
        .replace("bridge.ualink", "bridge.nvlink")
        .replace("].port[0]\", \"switch", "].link[0]\", \"switch")
}

/// Accelerators and others store to the same lines: no accelerator knows what it reads and says so (`traffic.shared`), and the watchers
/// of device and home find the newest value in every copy. What does not say so takes the stores of others for wrong bytes.
#[test]
fn accelerators_and_hosts_store_to_the_same_lines() {
    for (text, other) in [(coherent(16), "host"), (of_host("cxl-256b", 16), "device")] {
        for text in [text.clone(), with_gpus(&text)] {
            for cache in ["mode = \"off\"", "mode = \"data\", capacity = \"1 KiB\", ways = 2"] {
                let text = with_cache(&text, cache);
                let pattern = format!("component.{other}.core.pattern=false-sharing");
                let shared = run(&text, &[&pattern, "component.accel.traffic.shared=on"], 1);
                assert_eq!(shared.violations, [], "{other} {cache}");
                let own = run(&text, &[&pattern, "component.accel.traffic.shared=off"], 1);
                assert!(own.violations.iter().any(|found| found.violation.rule == "SIM-E2E-01"), "{other} {cache}");
            }
        }
    }
    let litmus = with_gpus(&coherent(4)).replace("\"accesses\", requests = 150", "\"litmus\"");
    let refused = scenario::run(&request(&litmus, &["component.accel.traffic.shared=on"], 1), &mut |_| ());
    let told = refused.map(|_| String::new()).unwrap_or_else(|error| error.to_string());
    assert!(told.contains("traffic.shared: found it with a program that knows its values"), "{told}");
}

/// Evictions of lines of a host are counted as their messages leave, whatever a snoop has made of the line before.
#[test]
fn evictions_of_lines_of_a_host_are_those_that_leave() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = of_host("cxl-256b", 4).replace("blocks = 4", "blocks = 1").replace("accesses = 2000", "accesses = 4000");
    let text = with_cache(&text, "mode = \"data\", capacity = \"64\", ways = 1, block = 64");
    let mut snooped = 0;
    for seed in 1..=3 {
        let trace = folder.path().join(format!("{seed}.jsonl"));
        let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
        let request = ScenarioRequest { outputs, seed, ..request(&text, &[], 1) };
        let report = scenario::run(&request, &mut |_| ()).expect("it runs");
        assert_eq!(report.violations, [], "{seed}");
        let trace = std::fs::read_to_string(trace).expect("a trace");
        let records = || trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record"));
        let at_bridge = |r: &Value| r["kind"] == "begin" && r["where"] == "bridge";
        let sent = |opcode: &str| records().filter(|r| at_bridge(r) && r["fields"]["opcode"] == opcode).count() as u64;
        let counted = ["clean evictions", "dirty evictions"].map(|name| count(&report, name));
        assert_eq!(counted, ["CleanEvictNoData", "DirtyEvict"].map(sent), "{seed}");
        snooped += trace.matches("\"opcode\":\"RspSFwdM\"").count();
    }
    assert!(snooped > 0, "snoops have made dirty lines clean that were leaving");
}

/// A line that is held for an atomic alone is in no cache: without one of lines no snoop hits.
#[test]
fn snoops_hit_lines_of_the_cache_alone() {
    for (cache, hits) in [("mode = \"template\"", false), ("mode = \"data\"", true)] {
        let report = run(&with_cache(&of_host("cxl-256b", 4), cache), &[], 1);
        assert_eq!(report.violations, [], "{cache}");
        assert!(count(&report, "snoops") > 0 && (count(&report, "snoop hits") > 0) == hits, "{cache}");
    }
}

/// Waves show what passes at links with flits of different forms at one bridge or one home.
#[test]
fn waves_show_links_of_different_forms() {
    let folder = tempfile::tempdir().expect("a folder");
    let two = |bridge: &str, device: &str| {
        of_host(bridge, 4)
            .replace(&format!("[link.other]\nkind = \"{bridge}\""), &format!("[link.other]\nkind = \"{device}\""))
    };
    let own = "windows = [{ base = \"0\", size = \"1 GiB\", to = \"0\", class = \"CC\" }]";
    let windows = own.replace(" }]", " }, { base = \"1 GiB\", size = \"1 GiB\", to = \"0\", class = \"MC\" }]");
    let of_bridge = of_host("cxl-256b", 4)
        .replace(own, &windows)
        .replace("host_ports = 1", "host_ports = 1\ncoherent_ports = 1")
        + "\n[component.dev]\nkind = \"cxl.hdm-db-device\"\nclock = \"agents\"\nports = 1\n\n[link.dev]\nkind = \"cxl-256b-pbr\"\nbetween = [\"bridge.coherent[0]\", \"dev.link[0]\"]\n";
    let mut texts = vec![of_bridge];
    for forms in
        [["cxl-256b", "cxl-68b"], ["cxl-68b", "cxl-256b"], ["cxl-256b-pbr", "cxl-256b"], ["cxl-68b", "cxl-256b-pbr"]]
    {
        texts.push(two(forms[0], forms[1]));
    }
    for (n, text) in texts.iter().enumerate() {
        let file = |end: &str| folder.path().join(format!("{n}.{end}"));
        let outputs = Outputs { vcd: Some(file("vcd")), fst: Some(file("fst")), ..Outputs::default() };
        let report = scenario::run(&ScenarioRequest { outputs, ..request(text, &[], 1) }, &mut |_| ());
        let report = report.unwrap_or_else(|error| panic!("{n}: {error}"));
        assert_eq!(report.violations, [], "{n}");
        assert_eq!(report.json(), run(text, &[], 1).json(), "{n}");
    }
}

/// The memory of the host may be a device behind a port of its own: accelerators find there what it held at first.
#[test]
fn memory_behind_a_host_is_found_as_it_was() {
    let behind = "\n[component.mem]\nkind = \"cxl.memory\"\nclock = \"agents\"\nsize = \"1 GiB\"\n\n[link.mem]\nkind = \"cxl-256b\"\nbetween = [\"home.memory\", \"mem.cxl\"]\n";
    let text = of_host("cxl-256b", 4).replace("kind = \"cxl.home\"", "kind = \"cxl.home\"\nmemory = \"port\"") + behind;
    for cache in ["mode = \"off\"", "mode = \"data\", capacity = \"1 KiB\", ways = 2"] {
        let report = run(&with_cache(&text, cache), &[], 1);
        assert_eq!((report.violations.as_slice(), count(&report, "requests refused")), (&[][..], 0), "{cache}");
        assert!(count(&report, "reads") > 10 && count(&report, "atomics") > 10);
    }
}

/// What cannot be is refused: a window without its port, more entries than there are identifiers, memory without an owner on 68-byte flits.
#[test]
fn windows_to_a_host_that_cannot_be_are_refused() {
    let text = of_host("cxl-256b", 4);
    let refused = |text: &str, expected: &str| {
        let error = resolves(text).err().unwrap_or_else(|| panic!("{expected}: it resolves"));
        assert!(error.contains(expected), "{error}");
    };
    resolves(&text).expect("as it is");
    refused(&text.replace("class = \"CC\"", "class = \"MC\""), "0 ports `coherent`");
    let crowded = |entries: usize| with_cache(&text, &format!("mode = \"data\" }}\nentries = {entries}\nstages = {{"));
    refused(&crowded(1008), "at most 1007");
    resolves(&crowded(1007)).expect("as many as there are identifiers");
}

/// With a conversion cache.
fn with_cache(text: &str, cache: &str) -> String {
    text.replace("kind = \"bridge.ualink\"", &format!("kind = \"bridge.ualink\"\ncache = {{ {cache} }}"))
}

/// Every mode, policy and place of tags, with blocks that leave all the time: accelerators find every byte, of memory without an owner.
#[test]
fn accelerators_find_every_byte_in_the_cache() {
    let set = ["traffic.operations=120", "traffic.blocks=16"];
    for cache in [
        "mode = \"template\"",
        "mode = \"data\"",
        "mode = \"both\", capacity = \"2 KiB\", ways = 2, policy = \"srrip\"",
        "mode = \"both\", capacity = \"2 KiB\", ways = 4, block = \"64 B\", policy = \"lfu\", write = \"through\"",
        "mode = \"data\", capacity = \"1 KiB\", ways = 1, tag_store = \"hbm\", media = { preset = \"hbm3_6400\" }",
    ] {
        let report = sound(&with_cache(TEXT, cache), &set);
        let told = |name| count(&report, name);
        if cache.contains("template") {
            assert!(told("conversions saved") == told("template hits") && told("template hits") > 0, "{cache}");
            continue;
        }
        let hits: u64 = told("cache read hits") + told("cache write hits");
        let misses = told("cache read misses") + told("cache write misses") + told("cache bypasses");
        assert_eq!(hits + misses, told("lines"), "{cache}");
        let written = told("dirty evictions") + told("lines written through");
        assert!(hits > 0 && (!cache.contains("KiB") || written > 0), "{cache}");
        assert!(!cache.contains("hbm3") || told("media bytes") > 0);
    }
}

/// A host loads what the accelerators store in their cache: the device snoops the bridge, and the watcher finds the newest value in every
/// copy.
#[test]
fn a_coherent_device_stays_coherent_behind_a_cache() {
    for (cache, host_lines) in [
        ("mode = \"data\"", 4),
        ("mode = \"both\", capacity = \"1 KiB\", ways = 2, tag_store = \"hbm\"", 16),
        ("mode = \"data\", capacity = \"1 KiB\", ways = 2, write = \"through\", block = \"128 B\"", 16),
        ("mode = \"data\", capacity = \"2 KiB\", ways = 1, media = { preset = \"hbm3_6400\" }", 64),
    ] {
        let report = run(&with_cache(&coherent(host_lines), cache), &[], 1);
        assert_eq!(report.violations, [], "{cache}");
        assert_eq!(count(&report, "requests refused"), 0);
        let told = |name| count(&report, name);
        assert!(told("snoops") > 0 && told("cache read hits") > 0, "{cache}");
        assert!(
            cache.contains("KiB") || told("snoop hits") > 0,
            "{cache}: lines are there when the host asks for them"
        );
        assert!(!cache.contains("1 KiB") || told("clean evictions") > 0, "{cache}");
    }
    let text = with_cache(&coherent(16), "mode = \"both\", capacity = \"1 KiB\", ways = 2");
    assert_eq!(run(&text, &[], 2).json(), run(&text, &[], 1).json());
}

/// Stores of streams pass by a cache whose tags lie in HBM while a host takes their lines: none is written by who does not own it.
#[test]
fn streams_own_what_they_write_behind_tags_in_hbm() {
    let cache = "capacity = \"64 B\", ways = 1, block = \"64 B\", tag_store = \"hbm\", stream_blocks = 1";
    let set = ["component.accel.outstanding=2", "component.accel.traffic.blocks=1"];
    let report = run(&with_cache(&coherent(4), cache).replace("accesses = 2000", "accesses = 20_000"), &set, 1);
    assert_eq!((report.violations.as_slice(), count(&report, "time-outs")), (&[][..], 0));
    assert!(count(&report, "cache bypasses") > 0 && count(&report, "snoops") > 0);
}

/// The smallest caches: everything waits for the only way of a set, and nothing is given up.
#[test]
fn a_full_cache_holds_requests_back_and_loses_none() {
    for (block, stores) in [(64, "back"), (64, "through"), (256, "back")] {
        let cache = format!("capacity = {block}, ways = 1, block = {block}, write = \"{stores}\", stream_blocks = 0");
        let report = sound(&with_cache(TEXT, &cache), &["traffic.operations=300"]);
        assert_eq!((count(&report, "time-outs"), count(&report, "requests answered")), (0, 300), "{cache}");
        assert!(count(&report, "dirty evictions") + count(&report, "lines written through") > 0, "{cache}");
    }
}

/// Every access begins and ends once, what the cache gives back included, and the device finds all of it under the bridge.
#[test]
fn traces_tell_what_the_cache_gives_back() {
    let folder = tempfile::tempdir().expect("a folder");
    for (n, text) in [TEXT.to_owned(), coherent(16)].iter().enumerate() {
        let trace = folder.path().join(format!("{n}.jsonl"));
        let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
        let text = with_cache(text, "mode = \"data\", capacity = \"1 KiB\", ways = 1");
        let set: &[&str] = if n == 0 { &["traffic.operations=30"] } else { &[] };
        scenario::run(&ScenarioRequest { outputs, ..request(&text, set, 1) }, &mut |_| ()).expect("it runs");
        let text = std::fs::read_to_string(trace).expect("a trace");
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
        let ids = |kind: &str, place: &str, name: &str| -> Vec<u64> {
            let of = records.iter().filter(|r| r["kind"] == kind && r["where"] == place);
            let mut ids: Vec<u64> = of.map(|r| r[name].as_u64().expect("a number")).collect();
            ids.sort_unstable();
            ids
        };
        let begun = ids("begin", "bridge", "id");
        assert_eq!(begun, ids("end", "bridge", "id"), "each ends once");
        let parents = ids("begin", "memory.mem", "parent");
        assert!(parents.iter().all(|parent| begun.binary_search(parent).is_ok()));
    }
}

/// A cache that is off is none, and one that cannot be is refused.
#[test]
fn caches_that_cannot_be_are_refused() {
    let cycles = |text: &str| count(&run(text, &["traffic.operations=20"], 1), "request cycles");
    assert_eq!(cycles(&with_cache(TEXT, "mode = \"off\"")), cycles(TEXT));
    for (cache, expected) in [
        ("ways = 17", "1 to 16"),
        ("block = 96", "64"),
        ("capacity = 5000", "expected a multiple of the 4096 bytes of a set"),
        ("mode = \"template\", capacity = 1000", "expected a multiple of the 4096 bytes of a set"),
        ("mode = \"off\", capacity = 1000", "expected a multiple of the 4096 bytes of a set"),
        ("mode = \"off\", capacity = \"32 GiB\", media = { preset = \"hbm3_6400\" }", "expected at most"),
        ("templates = 9", "multiple of template_ways"),
        ("mode = \"lines\"", "template"),
        ("policy = \"fifo\"", "srrip"),
        ("media = { kind = \"fixed\" }", "media without a time"),
        ("capacity = \"32 GiB\", media = { preset = \"hbm3_6400\" }", "expected at most"),
    ] {
        let error = resolves(&with_cache(TEXT, cache)).err().unwrap_or_else(|| panic!("{cache}: it is taken"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// What is not built is refused by name; so is what does not fit.
#[test]
fn descriptions_that_ask_for_more_are_refused() {
    let window = "{ base = \"0\", size = \"1 GiB\", to = \"0\", class = \"MN\" }";
    let other = |new: &str| TEXT.replace(window, new);
    let cases = [
        (other("{ class = \"XX\" }"), "expected MN, MC, CC"),
        (other("{ class = \"CC\" }"), "expected one of the 0 ports `host`"),
        (other("{ class = \"MC\" }"), "expected one of the 0 ports `coherent`"),
        (other(""), "found no window"),
        (other("{ size = \"1 MiB\" }"), "expected 2 MiB to 4 PiB"),
        (other("{ base = 64 }"), "multiple of 256"),
        (other("{ ports = [\"1\"] }"), "at port 1, expected one of the 1 ports `cxl`"),
        (other("{ ports = [\"one\"] }"), "found port `one`"),
        (other("{ rights = [\"0:rx\"] }"), "found rights `0:rx`"),
        (other("{ base = 0 }, { base = \"1 MiB\" }"), "do not overlap"),
        (TEXT.replace("cxl-256b-pbr", "cxl-256b"), "cxl-256b-pbr"),
        (TEXT.replace("order = \"relaxed\"", "authentication = \"auth\""), "does not check tags"),
        (TEXT.replace("kind = \"bridge.ualink\"", "kind = \"bridge.ualink\"\ngroups = [\"1024:0\"]"), "1024"),
        (TEXT.replace("kind = \"bridge.ualink\"", "kind = \"bridge.ualink\"\ninbound = 1"), "inbound"),
    ];
    for (text, expected) in cases {
        let error = resolves(&text).err().unwrap_or_else(|| panic!("{expected}: it is taken"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn brg_prt_02_p() {
    assert!(resolves(TEXT).is_ok());
}

/// Neither links of other forms nor hosts and other requesters fit there.
#[test]
fn brg_prt_02_n() {
    for kind in ["cxl-68b", "cxl-256b", "cxl-256b-lopt"] {
        let error = resolves(&TEXT.replace("cxl-256b-pbr", kind)).err().expect("it is refused");
        assert!(error.contains("bridge.cxl[0]") && error.contains("cxl-256b-pbr"), "{error}");
    }
    let error = resolves(&TEXT.replace("cxl.memory", "cxl.host")).err().expect("it is refused");
    assert!(error.contains("bridge.cxl[0]"), "{error}");
}

/// Rights of a group: the accelerator that may not write is told so.
#[test]
fn rights_are_those_of_the_group() {
    let text = TEXT
        .replace("class = \"MN\"", "class = \"MN\", rights = [\"0:rw\", \"1:r\"]")
        .replace("kind = \"bridge.ualink\"", "kind = \"bridge.ualink\"\ngroups = [\"1:1\"]");
    let report = run(&text, &["traffic.operations=30"], 1);
    let refused = count(&report, "requests refused");
    assert!(refused > 0 && refused == count(&report, "writes") / 2, "{refused}");
    assert!(report.violations.iter().all(|found| found.place == "accel[1]"), "{:?}", report.violations);
}
