//! The scenario `cxlio-enumerate`, whole, and descriptions with its kinds.

use scalepool::link::hook::Direction;
use scalepool::scenario::drive::Live;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, Modes, ScenarioRequest};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use std::fs;

const NAME: &str = "cxlio-enumerate";

fn request(set: &[&str]) -> ScenarioRequest {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    ScenarioRequest { scenario: NAME.into(), seed: 7, set, ..ScenarioRequest::default() }
}

fn run(set: &[&str]) -> ScenarioReport {
    scenario::run(&request(set), &mut |_| ()).expect("a legal request")
}

fn count(report: &ScenarioReport, name: &str) -> u64 {
    report.counts.iter().find(|(k, _)| k == name).unwrap_or_else(|| panic!("no count `{name}`")).1
}

#[test]
fn the_device_is_found_and_used() {
    let report = run(&[]);
    assert!(report.violations.is_empty(), "{:?}", report.violations);
    for (name, expected) in [
        ("connected mode", 2),
        ("functions", 1),
        ("extended capabilities", 5),
        ("DVSECs of CXL", 5),
        ("DVSEC 0 [bytes]", 0x3c),
        ("DVSEC 7 [bytes]", 0x20),
        ("BARs", 2),
        ("BARs [bytes]", (64 << 10) + (1 << 20)),
        ("memory ranges", 1),
        ("memory ranges [bytes]", 16 << 30),
        ("largest payload [bytes]", 256),
        ("CXL.mem enabled", 1),
        ("power management ready", 1),
        // CXL.io, CXL.mem, 68B flits with VH.
        ("host port status", 0x26),
        ("device port status", 0x26),
        ("configuration retries", 2),
    ] {
        assert_eq!(count(&report, name), expected, "{name}");
    }
    assert_eq!(count(&report, "memory writes") + count(&report, "memory reads"), 200);
    assert!(report.goodput_bytes_per_s > 0.0 && report.latency_fs.min > 0);
}

#[test]
fn other_devices_are_found_as_they_are() {
    let mld = run(&["device.logical_devices=4", "device.range1_bytes=1g", "device.bar1_bytes=0", "host.accesses=20"]);
    assert!(mld.violations.is_empty(), "{:?}", mld.violations);
    for (name, expected) in
        [("logical devices", 4), ("DVSECs of CXL", 6), ("DVSEC 9 [bytes]", 0x10), ("memory ranges", 2), ("BARs", 1)]
    {
        assert_eq!(count(&mld, name), expected, "{name}");
    }
    let small = run(&["device.bar0_bytes=0", "device.bar1_bytes=0", "device.range0_bytes=0"]);
    assert!(small.violations.is_empty(), "{:?}", small.violations);
    assert_eq!((count(&small, "BARs"), count(&small, "CXL.mem enabled"), count(&small, "memory reads")), (0, 0, 0));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    for (set, says) in [
        ("device.bar0_bytes=3000", "power of two"),
        ("device.range0_bytes=1m", "256 MiB"),
        ("link.fault=bend:3", "link.fault"),
        ("link.mode=cxl-512b", "link.mode"),
    ] {
        let error = scenario::run(&request(&[set]), &mut |_| ()).expect_err("refused").to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn every_way_of_running_gives_the_same_result() {
    let set = ["host.accesses=60", "link.ber=2e-6", "link.fault=flip:40:300,up:noise:60"];
    let one = run(&set);
    for (threads, modes) in [
        (1, Modes::default()),
        (2, Modes { shuffle: Some(3), evaluate_idle: false }),
        (1, Modes { shuffle: None, evaluate_idle: true }),
    ] {
        let other = scenario::run(&ScenarioRequest { threads, modes, ..request(&set) }, &mut |_| ()).expect("legal");
        assert_eq!(other, one, "{threads} {modes:?}");
    }
}

#[test]
fn errors_of_the_wire_are_repaired_and_remembered() {
    // One byte of an ID, both, a payload, in both directions.
    let spoiled =
        run(&["link.fault=flip:30:3,up:flip:33:9,flip:50:100,up:flip:55:200,up:noise:70", "host.accesses=100"]);
    assert!(spoiled.violations.is_empty(), "{:?}", spoiled.violations);
    assert_eq!(spoiled.errors_repaired, 5);
    // Status bits 8 and 9 of the port that received: corrected, not readable.
    assert_eq!(count(&spoiled, "host port status") >> 8 & 3, 3);
    assert!(count(&spoiled, "trainings") >= 2, "both ends train");
    let noisy = run(&["link.ber=1e-5", "host.accesses=400"]);
    assert!(noisy.violations.is_empty(), "{:?}", noisy.violations);
    assert!(noisy.errors_repaired > 10 && noisy.retries > 0, "{} {}", noisy.errors_repaired, noisy.retries);
    // One unit in 60 is hit: the link trains for it and goes on.
    let loud = run(&["link.ber=3e-5", "host.accesses=600"]);
    assert!(loud.violations.is_empty(), "{:?}", loud.violations);
    assert!(count(&loud, "trainings") < 4 * loud.errors_repaired);
}

#[test]
fn held_credits_only_delay() {
    let held = run(&["link.credits_hold=5000", "host.accesses=300"]);
    assert!(held.violations.is_empty(), "{:?}", held.violations);
}

#[test]
fn every_transaction_of_the_trace_begins_and_ends_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let outputs = |n: u32| Outputs {
        vcd: Some(folder.path().join(format!("{n}.vcd"))),
        trace: Some(folder.path().join(format!("{n}.jsonl"))),
        ..Outputs::default()
    };
    for n in 0..2 {
        let request = ScenarioRequest { outputs: outputs(n), ..request(&["host.accesses=40"]) };
        let report = scenario::run(&request, &mut |_| ()).expect("legal");
        assert!(report.violations.is_empty());
        assert_eq!(report, run(&["host.accesses=40"]), "observers change nothing");
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    assert_eq!(read("0.jsonl"), read("1.jsonl"));
    assert_eq!(read("0.vcd"), read("1.vcd"));
    let mut open = std::collections::BTreeSet::new();
    let mut ended = 0;
    for line in read("0.jsonl").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let id = record["id"].as_u64().unwrap_or(0);
        match record["kind"].as_str() {
            Some("begin") => assert!(open.insert(id), "begins twice: {line}"),
            Some("end") => {
                assert!(open.remove(&id), "ends without a beginning: {line}");
                ended += 1;
            }
            _ => {}
        }
    }
    assert!(open.is_empty() && ended > 200, "{ended} ended, open: {open:?}");
    assert!(read("0.vcd").contains("nfm_cfg"));
}

#[test]
fn every_mode_that_two_ends_agree_on_brings_the_device_up() {
    // Host, device, rate, connected mode, status bits besides CXL.io and CXL.mem: 68B with VH 5, LOpt 13, PBR 14.
    for (host, device, rate, mode, status) in [
        ("cxl-68b", "cxl-256b-pbr", 32, 2, 1 << 5),
        ("cxl-256b-pbr", "cxl-68b", 16, 2, 1 << 5),
        ("cxl-256b", "cxl-256b-pbr", 64, 3, 1 << 5),
        ("cxl-256b-pbr", "cxl-256b-lopt", 32, 3, 1 << 5),
        ("cxl-256b-lopt", "cxl-256b-pbr", 64, 4, 1 << 5 | 1 << 13),
        ("cxl-256b-pbr", "cxl-256b-pbr", 64, 5, 1 << 5 | 1 << 14),
    ] {
        let set = [
            &format!("link.mode={host}")[..],
            &format!("device.mode={device}"),
            &format!("link.rate_gtps={rate}"),
            "host.accesses=300",
            "link.credits_hold=400",
        ];
        let report = run(&set);
        assert!(report.violations.is_empty(), "{set:?} {:?}", report.violations);
        for (name, expected) in [
            ("connected mode", mode),
            ("host port status", status | 6),
            ("device port status", status | 6),
            ("DVSECs of CXL", 5),
            ("CXL.mem enabled", 1),
            ("power management ready", 1),
        ] {
            assert_eq!(count(&report, name), expected, "{set:?} {name}");
        }
        let modes = Modes { shuffle: Some(1), evaluate_idle: true };
        let again = scenario::run(&ScenarioRequest { threads: 1, modes, ..request(&set) }, &mut |_| ()).expect("legal");
        assert_eq!(again, report, "{set:?}");
    }
}

#[test]
fn the_device_is_told_of_resets_and_flushes() {
    for (power, answered) in [("none", 0), ("reset", 1), ("s3", 1), ("flush", 2)] {
        for mode in ["cxl-68b", "cxl-256b"] {
            let set = [format!("host.power={power}"), format!("link.mode={mode}"), "host.accesses=10".into()];
            let report = run(&[&set[0], &set[1], &set[2]]);
            assert!(report.violations.is_empty(), "{set:?} {:?}", report.violations);
            assert_eq!(count(&report, "power requests answered"), answered, "{set:?}");
        }
    }
}

#[test]
fn a_rate_at_which_no_link_comes_up_is_refused() {
    let error = scenario::run(&request(&["link.rate_gtps=64"]), &mut |_| ()).expect_err("refused").to_string();
    assert!(error.contains("no CXL link"), "{error}");
}

/// Bits that the FEC repairs, flits that go again alone or with all behind them, training.
#[test]
fn flits_of_256_bytes_are_repaired() {
    for mode in Mode::ALL {
        let link = format!("link.mode={}", mode.protocol());
        let listed = run(&[&link, "host.accesses=30", "link.fault=flip:100:300,up:noise:110,drop:120,up:drop:130"]);
        assert!(listed.violations.is_empty(), "{mode:?} {:?}", listed.violations);
        assert_eq!(listed.errors_repaired, 4, "{mode:?}");
        for nak in ["off", "on"] {
            let nak = format!("link.selective_nak={nak}");
            let set = [&link[..], &nak, "host.accesses=40", "link.ber=4e-4", "link.retrain_fs=1000000"];
            let noisy = run(&set);
            assert!(noisy.violations.is_empty(), "{set:?} {:?}", noisy.violations);
            assert!(noisy.errors_repaired > 100 && noisy.retries > 0 && count(&noisy, "replayed flits") > 0, "{set:?}");
            assert_eq!(count(&noisy, "early halves") > 0, mode.is_lopt(), "{set:?}");
        }
    }
    let loud = run(&["link.mode=cxl-256b", "host.accesses=40", "link.ber=1e-3", "link.retrain_fs=1000000"]);
    assert!(loud.violations.is_empty() && count(&loud, "trainings") > 0, "{:?}", loud.violations);
}

/// CXL.io and CXL.mem over one link: both sides open both protocols by ALMPs, each gets through, all ways of running agree.
#[test]
fn two_protocols_share_a_link_in_every_mode() {
    for mode in ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"] {
        let link = format!("link.mode={mode}");
        let set = [&link[..], "link.cachemem=on", "host.accesses=30", "mem.accesses=300"];
        let clean = run(&set);
        assert!(clean.violations.is_empty(), "{mode} {:?}", clean.violations);
        assert_eq!((count(&clean, "CXL.mem reads"), count(&clean, "CXL.mem writes")), (200, 100), "{mode}");
        assert_eq!(count(&clean, "memory writes") + count(&clean, "memory reads"), 30, "{mode}");
        for dir in ["down", "up"] {
            // Request and Status of Active, once a protocol.
            assert_eq!(count(&clean, &format!("ALMPs {dir}")), 4, "{mode}");
            assert!(count(&clean, &format!("CXL.io flits {dir}")) > 50, "{mode} {dir}");
            assert!(count(&clean, &format!("CXL.cachemem flits {dir}")) > 20, "{mode} {dir}");
        }
        assert!(clean.coverage.len() > 3 && clean.coverage.iter().all(|(_, met, of)| *met > 0 || *of > 0));
        // A 256B flit is four times as long and most of its errors are repaired by FEC.
        let ber = if mode == "cxl-68b" { "link.ber=2e-5" } else { "link.ber=4e-4" };
        let faulty = [&set[..], &[ber, "link.fault=drop:60,up:noise:80", "link.retrain_fs=1000000"]].concat();
        let repaired = run(&faulty);
        assert!(repaired.violations.is_empty(), "{mode} {:?}", repaired.violations);
        assert!(repaired.errors_repaired > 2 && repaired.retries > 0, "{mode}");
        let modes = Modes { shuffle: Some(5), evaluate_idle: true };
        let again =
            scenario::run(&ScenarioRequest { threads: 1, modes, ..request(&faulty) }, &mut |_| ()).expect("legal");
        assert_eq!(again, repaired, "{mode}");
    }
}

/// On a narrow link that both protocols fill the one with the greater weight waits less.
#[test]
fn weights_shift_the_shares() {
    for mode in ["cxl-68b", "cxl-256b"] {
        let with = |io: u32, cachemem: u32| {
            let set = [
                format!("link.mode={mode}"),
                format!("arbmux.weight_io={io}"),
                format!("arbmux.weight_cachemem={cachemem}"),
            ];
            let fixed = ["link.cachemem=on", "link.width=2", "mem.pattern=writes", "host.access_bytes=4096"];
            let set: Vec<&str> = set.iter().map(String::as_str).chain(fixed).collect();
            let report = run(&set);
            assert!(report.violations.is_empty(), "{mode} {:?}", report.violations);
            (report.latency_fs.mean, count(&report, "CXL.mem mean latency [fs]"))
        };
        let (io_first, mem_first) = (with(8, 1), with(1, 8));
        assert!(io_first.0 < mem_first.0, "{mode}: {io_first:?} {mem_first:?}");
        assert!(io_first.1 > mem_first.1, "{mode}: {io_first:?} {mem_first:?}");
    }
}

#[test]
fn waiting_for_credits_is_counted() {
    for mode in ["cxl-68b", "cxl-256b"] {
        let link = format!("link.mode={mode}");
        let set = [&link[..], "link.cachemem=on", "link.buffers=2", "link.credits_hold=1500", "mem.accesses=200"];
        let held = run(&set);
        assert!(held.violations.is_empty() && held.credit_stalls > 500, "{mode}: {}", held.credit_stalls);
    }
}

#[test]
fn coverage_counts_the_types_of_tlps() {
    for mode in ["cxl-68b", "cxl-256b"] {
        let report = run(&[&format!("link.mode={mode}"), "host.accesses=60"]);
        let (group, met, of) = &report.coverage[0];
        // CfgRd0, CfgWr0, MRd, MWr, Msg, Cpl, CplD: 64-bit addresses alone.
        assert_eq!((&group[..], *met), ("TLP type", 7), "{mode} of {of}");
    }
}

#[test]
fn waves_show_flits_of_both_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    for (mode, says) in [("cxl-68b", "$scope module flit"), ("cxl-256b-lopt", "$scope module taken")] {
        let vcd = folder.path().join(format!("{mode}.vcd"));
        let outputs = Outputs { vcd: Some(vcd.clone()), ..Outputs::default() };
        let link = format!("link.mode={mode}");
        scenario::run(&ScenarioRequest { outputs, ..request(&[&link, "host.accesses=5"]) }, &mut |_| ())
            .expect("legal");
        let text = fs::read_to_string(vcd).expect("written");
        assert!(text.contains(says), "{mode}");
    }
}

#[test]
fn flits_of_256_bytes_decode_in_every_mode() {
    // Every flit of the trace is sealed, numbered in order and read back by the codec.
    for mode in Mode::ALL {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("t.jsonl");
        let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
        let link = format!("link.mode={}", mode.protocol());
        let set = [&link[..], "host.accesses=20"];
        scenario::run(&ScenarioRequest { outputs, ..request(&set) }, &mut |_| ()).expect("legal");
        let mut flits = 0;
        for line in fs::read_to_string(&trace).expect("written").lines().skip(1) {
            let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
            if record["kind"] != "flit" {
                continue;
            }
            let hex = record["hex"].as_str().expect("raw bytes");
            let bytes: Vec<u8> =
                (0..hex.len() / 2).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).expect("hex")).collect();
            let flit = Cxl256Flit::from_bytes(&bytes).expect("256 bytes");
            assert!(flit.crc_ok(mode), "{line}");
            flits += 1;
        }
        assert!(flits > 200, "{flits}");
    }
}

/// Its description, to be changed.
fn description() -> &'static str {
    scenario::find(NAME).map(|scenario| scenario.description()).expect("it is known")
}

/// Runs a description.
fn described(text: &str) -> Result<ScenarioReport, scenario::RunError> {
    let request = ScenarioRequest { description: Some(text.to_owned()), ..request(&["host.accesses=40"]) };
    scenario::run(&request, &mut |_| ())
}

#[test]
fn what_fits_alone_and_not_together_is_refused_with_its_place() {
    let refused = |from: &str, to: &str| {
        let text = description().replace(from, to);
        assert_ne!(text, description(), "{from}");
        described(&text).expect_err("it is refused").to_string()
    };
    let at_the_link = |more: &str| refused("buffers = 64", &format!("buffers = 64\n{more}"));
    for (found, expected) in [
        (
            at_the_link("rate = 64"),
            "text:24:8: link.cxl.rate: found 64 GT/s between ends of which one has no 256B flits, expected less: no CXL link",
        ),
        (
            at_the_link("propagation = \"90 us\""),
            "text:12:12: component.host.timeout: found 50 us, expected more than 180.052 us, the time there",
        ),
        // Units of 68 bytes have 544 bits.
        (
            at_the_link("fault = [\"flip:1:544\"]"),
            "text:24:9: link.cxl.fault: found `flip:1:544`, expected flip:FLIT:BIT",
        ),
        (
            refused("kind = \"cxl-io\"", "kind = \"cxl-68b\""),
            "text:22:12: link.cxl.between: found a link of kind `cxl-68b` at `host.link`, expected cxl-io",
        ),
        (
            refused("\"cxl.io-device\"", "\"cxl.io-device\"\nbar1 = 3000"),
            "text:18:8: component.device.bar1: BAR 1: found 3000 bytes, expected 0 or a power of two",
        ),
    ] {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
    // Flits of 256 bytes have more.
    let text = description()
        .replace("\"cxl.root\"", "\"cxl.root\"\nmode = \"cxl-256b\"")
        .replace("buffers = 64", "buffers = 64\nfault = [\"flip:100:544\"]");
    assert_eq!(described(&text).expect("it runs").errors_repaired, 1);
}

/// Two systems in one description, each in a mode of its own, one with both protocols.
#[test]
fn devices_beside_each_other_are_as_each_alone() {
    let both = description()
        .replace("\"cxl.root\"", "\"cxl.root\"\ncount = 2")
        .replace("\"cxl.io-device\"", "\"cxl.io-device\"\ncount = 2")
        .replace("\"host.link\", \"device.link\"", "\"host[i].link\", \"device[i].link\"")
        .replace("[component.device]", "[component.host.at.1]\nmode = \"cxl-256b-lopt\"\n[component.device]")
        .replace("[settings]", "[link.cxl.at.1]\ncachemem = true\n[settings]");
    let both = described(&both).expect("it runs");
    assert_eq!(both.violations, []);
    let figures = |n: usize, name: &str| {
        let part = &both.components[n];
        part.counts
            .iter()
            .find(|(metric, _)| metric.name == name)
            .unwrap_or_else(|| panic!("{}: no `{name}`", part.path))
            .1
    };
    let alone = run(&["link.mode=cxl-256b-lopt", "link.cachemem=on", "host.accesses=40"]);
    for (n, mode) in [(0, 2), (1, 4)] {
        assert_eq!((figures(n, "connected mode"), figures(n, "functions")), (mode, 1), "{n}");
        assert_eq!(figures(n, "memory writes") + figures(n, "memory reads"), 40, "{n}");
    }
    assert_eq!(figures(1, "CXL.mem reads"), count(&alone, "CXL.mem reads"));
    assert!(!both.components[0].counts.iter().any(|(metric, _)| metric.name == "CXL.mem reads"), "CXL.io alone");
}

/// What the device sends in a run of the model, driven in its place at the same times, serves the root complex the same way.
#[test]
fn a_driven_device_stands_for_that_of_the_model() {
    const CYCLES: u64 = 6000;
    const CYCLE_FS: u64 = 500_000;
    for mode in ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"] {
        for cachemem in ["off", "on"] {
            let (link, cachemem) = (format!("link.mode={mode}"), format!("link.cachemem={cachemem}"));
            let set = [&link[..], &cachemem, "host.accesses=20", "mem.accesses=100", "device.not_ready=0"];
            let live = |external: Option<&str>| {
                let external = external.map(str::to_owned);
                Live::new(&ScenarioRequest { cycles: Some(CYCLES), external, ..request(&set) }).expect("it is built")
            };
            let mut model = live(None);
            let hooks = model.port("device.link").expect("a port").hooks.clone();
            hooks.sample(Direction::Tx, true).expect("nobody is busy");
            model.run_until(None, &mut |_| ()).expect("it runs");
            let mut outside = live(Some("device.link"));
            let feed = outside.port("device.link").expect("a port").feed.clone().expect("a caller drives it");
            let mut sent = 0;
            while let Some(sample) = hooks.samples(Direction::Tx, |samples| samples.take()).expect("nobody is busy") {
                outside.run_until(Some(sample.t_fs / CYCLE_FS), &mut |_| ()).expect("it runs");
                assert!(feed.drive(sample.unit));
                sent += 1;
            }
            outside.run_until(None, &mut |_| ()).expect("it runs");
            assert!(sent > 100, "{set:?}: {sent} units");
            let [model, outside] = [&mut model, &mut outside].map(|live| live.report().expect("a report"));
            assert_eq!(outside.violations, [], "{set:?}");
            assert_eq!(outside.components[0], model.components[0], "{set:?}");
            assert_eq!((outside.flits, outside.latency_fs), (model.flits, model.latency_fs), "{set:?}");
        }
    }
    for (found, says) in [("device.function", "expected the only port"), ("host", "host.link, device.link")] {
        let request = ScenarioRequest { external: Some(found.into()), ..request(&[]) };
        let error = scenario::run(&request, &mut |_| ()).expect_err("refused").to_string();
        assert!(error.starts_with(&format!("external: found `{found}`")) && error.contains(says), "{error}");
    }
}
