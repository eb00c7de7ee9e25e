//! The reference waves and traces in `waves/` are what the model writes today.
//!
//! `SCALEPOOL_BLESS=1` writes them anew; the change then belongs into the review and, for a released version, into
//! CHANGELOG.md.

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::nvlink::Packet;
use scalepool_protocols::nvlink::stream::Unpacker;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name, scenario and settings of each reference run.
const RUNS: &[(&str, &str, &[&str])] = &[
    ("cxl68-expander", "cxl68-expander", &["host.pattern=mix", "host.accesses=24", "link.buffers=8"]),
    (
        "cxl68-retry",
        "cxl68-expander",
        &["host.pattern=mix", "host.accesses=12", "link.buffers=8", "link.fault=drop:16,up:flip:26:300"],
    ),
    ("cxl256-expander", "cxl256-expander", &["host.accesses=12", MIX, BUFFERS, FLUSH, TX, RX, WIRE, DEVICE]),
    ("cxl256-retry", "cxl256-expander", &["host.accesses=12", MIX, BUFFERS, FLUSH, TX, RX, WIRE, DEVICE, FAULTS]),
    ("cxl256-lopt-expander", "cxl256-lopt-expander", &["host.accesses=12", MIX, BUFFERS, FLUSH, TX, RX, WIRE, DEVICE]),
    ("cxl-pbr-pair", "cxl-pbr-pair", &["host.accesses=12", MIX, BUFFERS, FLUSH, TX, RX, WIRE, DEVICE]),
    ("cxlio-68b", "cxlio-enumerate", &["host.accesses=4", "host.access_bytes=64", TX, RX, WIRE, DEVICE]),
    (
        "ualink-pair",
        "ualink-pair",
        &["traffic.operations=6", "traffic.start_cycles=1600", "link.pipeline_fs=1000000", FLIP],
    ),
    ("nvlink-pair", "nvlink-pair", &["traffic.requests=12", "link.count=2", "link.latency_fs=10000000"]),
    ("hdm-db-conflict", "hdm-db-share", &["core.pattern=migratory", "core.lines=2", "core.accesses=2"]),
    ("cxlio-256b-shared", "cxlio-enumerate", &[FLITS, RATE, SHARED, "mem.accesses=12", TX, RX, WIRE, DEVICE]),
];

/// Time behind which a reference run is not shown \[fs\], by name: both protocols are open and in use by then.
const SHOWN_UNTIL_FS: &[(&str, u64)] = &[("cxlio-256b-shared", 200_000_000)];

/// Run whose agents alone are shown, with a chart of its messages beside the wave: both have the same times.
const CHARTED: &str = "hdm-db-conflict";

const FLITS: &str = "link.mode=cxl-256b";
const RATE: &str = "link.rate_gtps=64";
const SHARED: &str = "link.cachemem=on";
const MIX: &str = "host.pattern=mix";
const BUFFERS: &str = "link.buffers=16";
const FLUSH: &str = "link.flush_flits=8";
// Short ways: until a flit is acknowledged both ends send NOPs, which are 256 bytes each in these files.
const TX: &str = "link.tx_pipeline_fs=1000000";
const RX: &str = "link.rx_pipeline_fs=1000000";
const WIRE: &str = "link.propagation_fs=1000000";
const DEVICE: &str = "device.latency_cycles=10";
/// A flit of the traffic, which is sent again.
const FLIP: &str = "link.fault=flip:74:300";
/// A flit that the FEC repairs, one that has to go again.
const FAULTS: &str = "link.fault=flip:22:300,up:drop:28";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../waves")
}

/// Makes the reference runs, or one of them.
fn write(into: &Path, only: Option<&str>) {
    for (name, scenario, set) in RUNS.iter().filter(|(name, ..)| only.is_none_or(|n| n == *name)) {
        let charted = *name == CHARTED;
        let request = ScenarioRequest {
            scenario: (*scenario).into(),
            seed: 1,
            threads: 1,
            set: set.iter().map(|s| s.to_string()).collect(),
            outputs: Outputs {
                vcd: Some(into.join(format!("{name}.vcd"))),
                trace: Some(into.join(format!("{name}.jsonl"))),
                chart: charted.then(|| into.join(format!("{name}.txt"))),
                scopes: if charted { vec!["*.dcoh".into(), "*.mem*".into()] } else { Vec::new() },
                to_fs: SHOWN_UNTIL_FS.iter().find(|(of, _)| of == name).map(|(_, until)| *until),
                ..Outputs::default()
            },
            ..ScenarioRequest::default()
        };
        let report = scenario::run(&request, &mut |_| ()).expect("the scenario runs");
        assert!(report.violations.is_empty(), "{name}: {}", report.violations[0].violation);
        if charted {
            let outputs = Outputs { chart: Some(into.join(format!("{name}.svg"))), ..Outputs::default() };
            scenario::run(&ScenarioRequest { outputs, ..request }, &mut |_| ()).expect("the scenario runs");
        }
    }
}

/// The times of a chart are those of the wave, and a BIConflict leaves and arrives when the trace says so.
#[test]
fn chart_and_wave_agree() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(dir.path(), Some(CHARTED));
    let file = |ending: &str| {
        std::fs::read_to_string(dir.path().join(format!("{CHARTED}.{ending}"))).expect("a file of the run")
    };
    let (chart, wave, trace) = (file("txt"), file("vcd"), file("jsonl"));
    let fs = |ns: &str| (ns.parse::<f64>().expect("a time in ns") * 1e6).round() as u64;
    let rows = || {
        chart.lines().skip(1).filter_map(|l| Some((l.split_whitespace().next()?, l))).filter(|(t, _)| t.contains('.'))
    };
    let changes: std::collections::BTreeSet<u64> =
        wave.lines().filter_map(|l| l.strip_prefix('#')).map(|t| t.parse().expect("a time")).collect();
    assert!(rows().count() > 20, "{chart}");
    for (ns, row) in rows() {
        assert!(changes.contains(&fs(ns)), "nothing changes in the wave at `{row}`");
    }
    let mut in_chart: Vec<u64> = rows().filter(|(_, row)| row.contains("BIConflict ")).map(|(ns, _)| fs(ns)).collect();
    let mut in_trace: Vec<u64> = trace
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON lines"))
        .filter(|r| r["message"] == "cxl256.m2s_rwd" && r["fields"]["opcode"] == "BIConflict")
        .map(|r| r["t_fs"].as_u64().expect("a time"))
        .collect();
    in_chart.sort_unstable();
    in_trace.sort_unstable();
    assert!(in_chart.len() >= 2, "{chart}");
    assert_eq!(in_chart, in_trace);
}

/// Files below a folder, by path relative to it.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let relative = path.strip_prefix(dir).expect("below the folder").to_owned();
                found.insert(relative, std::fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

/// A viewer that opens a save file shows something: the marker stands in the window, at a time at which the wave changes,
/// and what is listed first are signals that have a value.
#[test]
fn save_files_open_at_something_worth_seeing() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(dir.path(), None);
    for (name, ..) in RUNS {
        let file = |ending: &str| {
            std::fs::read_to_string(dir.path().join(format!("{name}.{ending}"))).expect("a file of the run")
        };
        let (save, wave) = (file("gtkw"), file("vcd"));
        let number = |line: &str, at: usize| line.split_whitespace().nth(at).and_then(|word| word.parse::<u64>().ok());
        let start = save.lines().find(|l| l.starts_with("[timestart]")).and_then(|l| number(l, 1)).expect("a start");
        let marker = save.lines().find(|l| l.starts_with('*')).and_then(|l| number(l, 1));
        let marker = marker.unwrap_or_else(|| panic!("{name}: no marker"));
        // 200 pixels of some 700 are two to the power of the zoom.
        let zoom = save.lines().find_map(|l| l.strip_prefix("*-")?.split_once('.')?.0.parse::<u32>().ok());
        let end = start + (1_u64 << zoom.expect("a zoom")) / 200 * 700;
        assert!(start <= marker && marker < end, "{name}: window from {start} to {end} fs, marker at {marker} fs");
        assert!(marker > 0 && wave.contains(&format!("\n#{marker}\n")), "{name}: nothing changes at {marker} fs");
        let times = wave.lines().filter_map(|l| l.strip_prefix('#')?.parse::<u64>().ok());
        let seen = times.filter(|t| (marker..end).contains(t)).count();
        assert!(seen > 8, "{name}: the window to {end} fs shows {seen} changes from {marker} fs on");

        let (mut closed, mut group, mut shown) = (Vec::new(), true, 0);
        for (flags, line) in save.lines().zip(save.lines().skip(1)) {
            match (flags, line.strip_prefix('-')) {
                ("@800200" | "@c00200", Some(path)) => {
                    group = group && flags == "@800200";
                    closed.push((path, group));
                }
                ("@1000200" | "@1401200", Some(path)) => {
                    assert_eq!(closed.pop().map(|(open, _)| open), Some(path), "{name}: groups");
                    group = closed.last().is_none_or(|(_, open)| *open);
                }
                _ if line.contains('.') && !line.starts_with(['^', '@', '[', '*', '-']) => shown += usize::from(group),
                _ => (),
            }
        }
        assert!((10..=60).contains(&shown), "{name}: {shown} signals at first");
    }
}

#[test]
fn reference_waves_are_fresh() {
    if std::env::var_os("SCALEPOOL_BLESS").is_some() {
        std::fs::create_dir_all(folder()).expect("waves/ can be made");
        write(&folder(), None);
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(dir.path(), None);
    let (new, committed) = (files(dir.path()), files(&folder()));
    let names = |f: &BTreeMap<PathBuf, Vec<u8>>| f.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&committed), names(&new), "files in waves/");
    for (name, bytes) in &new {
        let old = &committed[name];
        let line = old.split(|&b| b == b'\n').zip(bytes.split(|&b| b == b'\n')).position(|(a, b)| a != b);
        assert!(old == bytes, "{}: line {} differs", name.display(), line.map_or(0, |n| n + 1));
    }
}

/// Last value of every `seq` of a wave, by dotted scope.
fn counts(wave: &str) -> BTreeMap<String, u64> {
    let (mut scope, mut of_code, mut counts) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for line in wave.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["$scope", _, name, ..] => scope.push(name),
            ["$upscope", ..] => drop(scope.pop()),
            ["$var", _, _, code, "seq", ..] => drop(of_code.insert(code, scope.join("."))),
            [value, code] if value.starts_with('b') => {
                if let (Some(scope), Ok(count)) = (of_code.get(code), u64::from_str_radix(&value[1..], 2)) {
                    counts.insert(scope.clone(), count);
                }
            }
            _ => (),
        }
    }
    counts
}

/// What an agent has sent or taken is in the wave of the flits that its peer's link end has received, once.
fn assert_messages(name: &str, wave: &str, trace: &str) {
    let counts = counts(wave);
    let records: Vec<serde_json::Value> =
        trace.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect();
    // Enumeration is no description: its link ends are called otherwise.
    let port = if name.starts_with("cxlio") { "link" } else { "cxl" };
    for (node, agent, kind) in [("device", "device.mem", "begin"), ("host", "host.core", "end")] {
        for message in ["m2s_req", "m2s_rwd", "s2m_ndr", "s2m_drs"] {
            let is_one = |r: &&serde_json::Value| {
                let layout = r["message"].as_str().unwrap_or_default();
                r["where"] == agent && r["kind"] == kind && layout.ends_with(message)
            };
            let first = format!("{node}.{port}.{message}");
            let of_scope = |(scope, n): (&String, &u64)| {
                (*scope == first || scope.starts_with(&format!("{first}_"))).then_some(*n)
            };
            let shown: u64 = counts.iter().filter_map(of_scope).sum();
            assert_eq!(shown, records.iter().filter(is_one).count() as u64, "{name}: {first}");
        }
    }
}

#[test]
fn every_message_is_in_the_wave_once() {
    let text = |path: PathBuf| std::fs::read_to_string(path).expect("text");
    let dir = tempfile::tempdir().expect("a temporary folder");
    write(dir.path(), None);
    for (name, ..) in RUNS {
        let [wave, trace] = ["vcd", "jsonl"].map(|ending| text(dir.path().join(format!("{name}.{ending}"))));
        assert_messages(name, &wave, &trace);
    }
    // Damage, replays of one and of many, training.
    let file = |name: &str, ending: &str| dir.path().join(format!("{name}.{ending}"));
    for (n, mode) in ["256b", "256b", "256b-lopt", "256b-pbr"].into_iter().enumerate() {
        let noisy = ["host.pattern=mix", "host.accesses=200", "link.ber=0.0006", "link.retrain_fs=1000000"];
        let selective = format!("link.selective_nak={}", if n % 2 == 0 { "off" } else { "on" });
        let set = noisy.map(str::to_owned).into_iter().chain([format!("link.mode={mode}"), selective]);
        let request = ScenarioRequest {
            scenario: "cxl256-expander".into(),
            seed: n as u64,
            threads: 1,
            set: set.collect(),
            outputs: Outputs {
                vcd: Some(file(mode, "vcd")),
                trace: Some(file(mode, "jsonl")),
                scopes: vec!["*.cxl".into(), "device.mem".into(), "host.core".into()],
                ..Outputs::default()
            },
            ..ScenarioRequest::default()
        };
        let report = scenario::run(&request, &mut |_| ()).expect("the scenario runs");
        assert!(report.violations.is_empty() && report.retries > 0, "{mode}: {} retries", report.retries);
        assert_messages(mode, &text(file(mode, "vcd")), &text(file(mode, "jsonl")));
    }
}

/// Values of the variables of a VCD scope each time that a count `taken.seq` moves, or `taken_1.seq` of what is taken at the
/// same time, whose variables are then given under the names of the first; by name below the scope.
fn taken(wave: &str, place: &str) -> Vec<BTreeMap<String, u128>> {
    let (mut scope, mut of_code, mut now, mut seen) = (Vec::new(), BTreeMap::new(), BTreeMap::new(), Vec::new());
    let mut moved = [false; 2];
    // A time ends the one before.
    for line in wave.lines().chain(["#end"]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["$scope", _, name, ..] => scope.push(name),
            ["$upscope", ..] => drop(scope.pop()),
            ["$var", _, _, code, name, ..] => {
                let path = scope.join(".");
                if let Some(below) = path.strip_prefix(place).and_then(|rest| rest.strip_prefix('.')) {
                    of_code.insert(code, format!("{below}.{name}"));
                }
            }
            [value, code] if value.starts_with('b') => {
                if let Some(name) = of_code.get(code) {
                    moved[0] |= name == "taken.seq" && value != "b0";
                    moved[1] |= name == "taken_1.seq" && value != "b0";
                    // `x` and what is wider, the raw bits of a packet, are not asked for.
                    now.insert(name.clone(), u128::from_str_radix(&value[1..], 2).unwrap_or_default());
                }
            }
            [time] if time.starts_with('#') => {
                let [first, second] = std::mem::take(&mut moved);
                if first {
                    seen.push(now.clone());
                }
                if second {
                    let mut of_second = now.clone();
                    for (name, value) in now.iter().filter(|(name, _)| name.contains("_1.")) {
                        of_second.insert(name.replace("_1.", "."), *value);
                    }
                    of_second.insert("taken.data_flits".into(), 0);
                    seen.push(of_second);
                }
            }
            _ => (),
        }
    }
    seen
}

/// Every packet that a clean NVLink carries stands in the wave with header, AE, BE and data, once it is accepted: what the
/// flits of the trace say, taken apart here.
#[test]
fn nvlink_packets_are_in_the_wave_whole() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let [vcd, trace] = ["run.vcd", "run.jsonl"].map(|name| dir.path().join(name));
    let request = ScenarioRequest {
        scenario: "nvlink-pair".into(),
        seed: 5,
        threads: 1,
        set: ["traffic.requests=60", "link.count=1"].map(str::to_owned).into(),
        outputs: Outputs { vcd: Some(vcd.clone()), trace: Some(trace.clone()), ..Outputs::default() },
        ..ScenarioRequest::default()
    };
    let report = scenario::run(&request, &mut |_| ()).expect("the scenario runs");
    assert!(report.violations.is_empty(), "{}", report.violations[0].violation);
    let [vcd, trace] = [vcd, trace].map(|path| std::fs::read_to_string(path).expect("text"));
    for place in ["gpu[0].link[0]", "gpu[1].link[0]"] {
        let (mut unpacker, mut sent) = (Unpacker::default(), Vec::new());
        let mut parts_seen = [0; 3];
        for line in trace.lines() {
            let record: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
            if record["where"] == place && record["kind"] == "flit" {
                let hex = record["hex"].as_str().expect("bytes");
                let bytes = (0..hex.len() / 2).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).expect("hex"));
                let packet = Packet::from_bytes(&bytes.collect::<Vec<_>>()).expect("1 to 18 flits");
                assert!(unpacker.read(&packet).is_good());
                if packet.header().op.is_numbered() {
                    sent.push(packet);
                }
            }
        }
        let shown = taken(&vcd, place);
        assert_eq!(shown.len(), sent.len(), "{place}");
        let mut number = 4095;
        for (values, packet) in shown.iter().zip(&sent) {
            let (header, parts) = (packet.header(), packet.parts());
            number = (number + packet.flits().len() as u128) % 4096;
            let value = |name: &str| values.get(name).copied();
            assert_eq!(value("taken.number"), Some(number), "{place}");
            assert_eq!(value("header.raw"), Some(packet.header_bits()));
            assert_eq!(value("header.op"), Some(header.op.0.into()));
            assert_eq!(value("header.tag"), Some(header.tag.into()));
            assert_eq!(value("header.address"), Some(header.address.into()));
            assert_eq!(value("taken.data_flits"), Some(parts.data.len() as u128));
            for (n, flit) in parts.data.iter().enumerate() {
                assert_eq!(value(&format!("taken.data_{n}")), Some(*flit), "{place}: flit {n} of {header:?}");
            }
            assert!(parts.be.is_none_or(|be| value("taken.be") == Some(be)), "{place}: {header:?}");
            assert!(parts.ae.is_none_or(|ae| value("ae.raw") == Some(ae)), "{place}: {header:?}");
            let has = [parts.ae.is_some(), parts.be.is_some(), !parts.data.is_empty()];
            parts_seen.iter_mut().zip(has).for_each(|(n, has)| *n += u32::from(has));
        }
        assert!(parts_seen.iter().all(|&n| n > 5), "AE, BE and data have travelled: {parts_seen:?}");
    }
}
