//! `scalepool run`, `diff` and `golden` from outside: figures that the specification fixes, stimulus semantics, refusals.

use scalepool::scenario::report::Spread;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exit status, stdout, stderr of the program in a folder.
fn scalepool(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_scalepool")).args(args).current_dir(dir).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (out.status.code().expect("no signal"), text(out.stdout), text(out.stderr))
}

/// The report of a run that ends as it should.
fn report(args: &[&str]) -> Value {
    let dir = tempfile::tempdir().expect("a folder");
    report_in(dir.path(), args)
}

fn report_in(dir: &Path, args: &[&str]) -> Value {
    let all = [&["run", "cxl68-expander", "--json"], args].concat();
    let (status, out, err) = scalepool(dir, &all);
    assert_eq!(status, 0, "{args:?}: {out}{err}");
    serde_json::from_str(&out).expect("one JSON object")
}

fn number(report: &Value, path: &str) -> f64 {
    let value = path.split('.').fold(report, |v, key| &v[key]);
    value.as_f64().unwrap_or_else(|| panic!("{path} in {report}"))
}

fn text_file(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("a file");
}

/// 8 reads in 9 flits with MDH, 4 in 5 without; writes 4 in 5: 83.66 %, 75.29 %, 75.29 % of the 68B rate, within 2 %.
#[test]
fn goodput_of_saturated_traffic() {
    for (pattern, mdh, flits, lines) in
        [("reads", "on", 9.0, 8.0), ("reads", "off", 5.0, 4.0), ("writes", "on", 5.0, 4.0), ("writes", "off", 5.0, 4.0)]
    {
        let (pattern, mdh) = (format!("host.pattern={pattern}"), format!("link.mdh={mdh}"));
        let set = ["--set", &pattern, "--set", &mdh, "--set", "host.accesses=20000", "--set", "host.outstanding=1024"];
        let r = report(&set);
        let (is, want) = (number(&r, "efficiency"), 64.0 * lines / (68.0 * flits));
        assert!((is / want - 1.0).abs() < 0.02, "{pattern} {mdh}: {is}, expected {want}");
    }
}

/// The line rate is the one thing that halves when the width halves.
#[test]
fn goodput_follows_rate_and_width() {
    let goodput = |set: &[&str]| {
        let mut args = vec!["--set", "host.accesses=50000", "--set", "host.outstanding=1024"];
        args.extend(set.iter().flat_map(|s| ["--set", s]));
        number(&report(&args), "goodput_bytes_per_s")
    };
    let full = goodput(&[]);
    for set in [&["link.width=8"][..], &["link.rate_gtps=16"]] {
        let ratio = goodput(set) / full;
        assert!((ratio - 0.5).abs() < 0.02, "{set:?}: {ratio}");
    }
    let sync = goodput(&["link.sync_headers=on"]) / full;
    assert!((sync - 128.0 / 130.0).abs() < 0.005, "{sync}");
}

/// A line is a cycle; M is two accesses; a line end splits; fetches count unless they are switched off.
#[test]
fn lackey_lines_become_accesses() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = "==1== banner\nI  00001000,4\n L 00002000,8\n S 00002008,8\n M 00003000,4\n L 0000403c,8\n";
    text_file(dir.path(), "t.lackey", trace);
    let with = |extra: &[&str]| report_in(dir.path(), &[&["--stimulus", "t.lackey"], extra].concat());
    let r = with(&[]);
    // I, L, S, M as load and store, L over a line end: 7 accesses to the lines 1000, 2000, 3000, 4000, 4040.
    assert_eq!(number(&r, "counts.line accesses"), 7.0);
    assert_eq!(number(&r, "counts.cache hits"), 2.0);
    assert_eq!((number(&r, "counts.reads"), number(&r, "messages")), (5.0, 10.0));
    let off = with(&["--set", "host.ifetch=off"]);
    assert_eq!(number(&off, "counts.reads"), 4.0);
    // Without a cache every access travels, stores with byte enables.
    let none = with(&["--set", "host.cache_bytes=0"]);
    assert_eq!((number(&none, "counts.reads"), number(&none, "counts.writes")), (5.0, 2.0));
}

/// With one miss allowed the second one waits for the first; times of a CSV are cycles.
#[test]
fn outstanding_misses_and_csv_times() {
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "t.csv", "time,op,address,size\n1000,read,0x0,64\n1000,read,0x1000,64\n50000,w,0x2000,64\n");
    let with = |n: &str| {
        let set = format!("host.outstanding={n}");
        report_in(dir.path(), &["--stimulus", "t.csv", "--set", &set])
    };
    let (one, two) = (with("1"), with("2"));
    assert!(number(&one, "counts.host stall cycles") > 200.0, "{one}");
    assert_eq!(number(&two, "counts.host stall cycles"), 0.0, "{two}");
    assert!(number(&two, "cycles") > 50_000.0, "the write waits for its time");
    assert_eq!(number(&two, "latency_cycles.min"), number(&one, "latency_cycles.min"));
}

/// A trace may be silent for longer than any time-out of the link; a time that the simulation does not reach is refused.
#[test]
fn long_silence_is_no_stall() {
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "gap.csv", "0,r,0x1000,64\n1000000000,r,0x2000,64\n");
    let r = report_in(dir.path(), &["--stimulus", "gap.csv"]);
    assert_eq!(number(&r, "messages"), 4.0, "{r}");
    assert!(number(&r, "cycles") > 1e9, "{r}");
    text_file(dir.path(), "late.csv", "18446744073709551615,r,0x1000,64\n");
    let (status, out, err) = scalepool(dir.path(), &["run", "cxl68-expander", "--stimulus", "late.csv"]);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("time of an access = 0xffffffffffffffff"), "{err}");
}

/// The scenarios of one mode each, and the mode that picks them.
const MODES: [(&str, &str); 4] = [
    ("cxl68-expander", "cxl-68b"),
    ("cxl256-expander", "cxl-256b"),
    ("cxl256-lopt-expander", "cxl-256b-lopt"),
    ("cxl-pbr-pair", "cxl-256b-pbr"),
];

/// A mode is its scenario, with and without `cxl-`; several give one list, each as it would be alone.
#[test]
fn modes_are_compared_in_one_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let set = ["--set", "host.accesses=300", "--set", "host.pattern=mix"];
    let json = |scenario: &str, more: &[&str]| -> Value {
        let (status, out, err) = scalepool(dir.path(), &[&["run", scenario, "--json"], &set[..], more].concat());
        assert_eq!(status, 0, "{scenario} {more:?}: {out}{err}");
        serde_json::from_str(&out).expect("one JSON object")
    };
    let all = json("cxl256-expander", &["--set", "link.mode=68b,cxl-256b, 256b-lopt,256b-pbr"]);
    let list = all["modes"].as_array().expect("a list");
    assert_eq!(list.len(), MODES.len());
    for ((scenario, mode), compared) in MODES.into_iter().zip(list) {
        let alone = json(scenario, &[]);
        assert_eq!(alone["scenario"], scenario);
        for word in [mode, mode.trim_start_matches("cxl-")] {
            assert_eq!(json("cxl68-expander", &["--set", &format!("link.mode={word}")]), alone, "{word}");
        }
        assert_eq!(compared["mode"], mode);
        let mut compared = compared.clone();
        compared.as_object_mut().expect("an object").shift_remove("mode");
        assert_eq!(compared, alone, "{mode}");
    }
    // A key of one mode alone goes to that one.
    let args = ["run", "cxl68-expander", "--set", "link.mode=68b,256b", "--set", "link.max_num_retry=3"];
    let (status, out, _) = scalepool(dir.path(), &[&args, &set[..]].concat());
    assert_eq!((status, out.lines().count()), (0, 3), "{out}");
    assert!(out.lines().all(|l| l.chars().count() <= 120), "{out}");
}

/// The figures of every end stand under its name, and under its mode where there are several.
#[test]
fn the_health_of_several_modes_says_which_mode_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let heads = |modes: &str| {
        let mode = format!("link.mode={modes}");
        let args = ["run", "cxl68-expander", "--set", "host.accesses=20", "--set", &mode, "--health"];
        let (status, out, err) = scalepool(dir.path(), &args);
        assert_eq!(status, 0, "{out}{err}");
        out.lines().filter(|line| line.ends_with(':')).map(str::to_owned).collect::<Vec<_>>()
    };
    let one = heads("68b");
    assert!(one.len() == 2 && one.iter().all(|head| head.starts_with("end ")), "{one:?}");
    let of = |mode: &str| one.iter().map(|head| format!("{mode}: {head}")).collect::<Vec<_>>();
    assert_eq!(heads("68b,256b"), [of("cxl-68b"), of("cxl-256b")].concat());
}

/// Every fixed key does the same for every mode.
#[test]
fn fixed_keys_work_in_every_mode() {
    for (_, mode) in MODES {
        let mode = format!("link.mode={mode}");
        let with = |set: &[&str]| {
            let all = ["host.accesses=3000", "host.outstanding=512", &mode].into_iter().chain(set.iter().copied());
            report(&all.flat_map(|s| ["--set", s]).collect::<Vec<_>>())
        };
        let full = number(&with(&[]), "time_fs");
        for set in [&["link.width=8"][..], &["link.rate_gtps=16"]] {
            assert!(number(&with(set), "time_fs") > 1.5 * full, "{mode} {set:?}");
        }
        assert!(number(&with(&["link.credits_hold=3000"]), "credit_stalls") > 2000.0, "{mode}");
        assert!(number(&with(&["host.outstanding=1"]), "latency_cycles.mean") < 300.0, "{mode}");
        let noisy = with(&["link.ber=1e-5", "link.fault=drop:200,up:drop:300", "host.pattern=mix"]);
        assert!(number(&noisy, "errors_repaired") > 2.0, "{mode}: {noisy}");
        assert_eq!(noisy["violations"].as_array().map(Vec::len), Some(0), "{mode}");
        let dir = tempfile::tempdir().expect("a folder");
        text_file(dir.path(), "t.csv", "0,read,0x0,64\n1,read,0x0,64\n2,read,0x40,64\n");
        for (cache, reads) in [("host.cache_bytes=0", 3.0), ("host.cache_bytes=4096", 2.0)] {
            let r = report_in(dir.path(), &["--set", &mode, "--set", cache, "--stimulus", "t.csv"]);
            assert_eq!(number(&r, "counts.reads"), reads, "{mode} {cache}");
        }
    }
}

/// Requests name the port of the host and of the device, answers go to the host's.
#[test]
fn port_identifiers_travel() {
    let dir = tempfile::tempdir().expect("a folder");
    let set =
        ["link.mode=256b-pbr", "link.host_pid=0x123", "link.device_pid=0x456", "host.pattern=mix", "host.accesses=9"];
    let args: Vec<&str> = set.into_iter().flat_map(|s| ["--set", s]).chain(["--trace", "t.jsonl"]).collect();
    report_in(dir.path(), &args);
    let text = std::fs::read_to_string(dir.path().join("t.jsonl")).expect("the run wrote it");
    let lines = text.lines().map(|l| serde_json::from_str::<Value>(l).expect("JSON"));
    let messages: Vec<Value> = lines.filter(|l| l["message"].is_string()).collect();
    assert_eq!(messages.len(), 9 * 4, "each is seen twice at each end");
    for m in messages {
        let name = m["message"].as_str().expect("a name");
        let expected = if name.contains("m2s") { (0x123.into(), 0x456.into()) } else { (Value::Null, 0x123.into()) };
        assert_eq!((m["fields"]["spid"].clone(), m["fields"]["dpid"].clone()), expected, "{m}");
    }
}

/// A pipe or a device is written as it is: a file in its place would be another thing.
#[cfg(unix)]
#[test]
fn special_files_are_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let dir = tempfile::tempdir().expect("a folder");
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it starts").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).expect("text")
    });
    report_in(dir.path(), &["--set", "host.accesses=24", "--trace", "pipe"]);
    assert!(reader.join().expect("no panic").starts_with("{\"format\":\"scalepool-trace\""));
    assert!(std::fs::metadata(&pipe).expect("it is there").file_type().is_fifo());
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 1, "nothing is left beside it");
}

/// The longest setting leaves room for the text behind it.
#[test]
fn tables_keep_their_last_column_readable() {
    let dir = tempfile::tempdir().expect("a folder");
    for (scenario, _) in MODES {
        let (_, out, _) = scalepool(dir.path(), &["describe", scenario]);
        assert!(out.contains("line rate (cxl-"), "{out}");
        assert!(out.lines().all(|l| l.chars().count() <= 120), "{out}");
    }
}

#[test]
fn threads_and_outputs_change_no_figure() {
    let dir = tempfile::tempdir().expect("a folder");
    let set = ["--set", "host.pattern=mix", "--set", "host.accesses=2000", "--set", "link.ber=0.00001", "--seed", "5"];
    let plain = report_in(dir.path(), &set);
    let other = [&set[..], &["--threads", "2", "--vcd", "a.vcd", "--trace", "a.jsonl"]].concat();
    assert_eq!(plain, report_in(dir.path(), &other));
    let timed = report_in(dir.path(), &[&set[..], &["--timing"]].concat());
    let keys: Vec<_> = timed.as_object().expect("an object").keys().collect();
    assert_eq!(keys.last().map(|k| k.as_str()), Some("timing"));
    assert_ne!(plain, report_in(dir.path(), &[&set[..6], &["--seed", "6"]].concat()), "the seed decides the errors");
}

/// What a fault input does and the link repairs is no violation; what it cannot repair is one.
#[test]
fn faults_are_repaired_or_reported() {
    let dir = tempfile::tempdir().expect("a folder");
    let set = ["--set", "host.accesses=500", "--set", "link.fault=flip:60:100,noise:80,drop:100,up:drop:90"];
    let r = report_in(dir.path(), &set);
    assert_eq!((number(&r, "errors_repaired"), r["violations"].as_array().map(Vec::len)), (4.0, Some(0)));
    assert!(number(&r, "retries") >= 3.0);
    let cut = ["run", "cxl68-expander", "--json", "--set", "link.ber=0.01", "--set", "host.accesses=20"];
    let fast =
        ["--set", "link.max_num_retry=1", "--set", "link.max_num_phy_reinit=1", "--set", "link.timeout_flits=64"];
    let (status, out, _) = scalepool(dir.path(), &[&cut[..], &fast].concat());
    assert_eq!(status, 1);
    let r: Value = serde_json::from_str(&out).expect("JSON");
    let rules: Vec<_> = r["violations"].as_array().expect("a list").iter().map(|v| v["rule"].clone()).collect();
    assert!(rules.contains(&"CXL68-LRS-06".into()) && rules.contains(&"SIM-E2E-03".into()), "{rules:?}");
    assert_eq!(number(&r, "errors_repaired"), 0.0);
}

#[test]
fn held_credits_stall_and_are_counted() {
    let r = report(&["--set", "host.accesses=100", "--set", "link.credits_hold=2000"]);
    assert!(number(&r, "credit_stalls") > 1500.0, "{r}");
    assert_eq!(number(&r, "counts.reads"), 100.0);
}

/// A cycle limit ends a run in the middle; that is no violation.
#[test]
fn a_cycle_limit_is_exact() {
    let r = report(&["--cycles", "1234", "--set", "host.accesses=100000"]);
    assert_eq!((number(&r, "cycles"), number(&r, "time_fs")), (1234.0, 617_000_000.0));
}

/// Names of what stands in a folder, in order.
fn names(dir: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(dir).expect("it is there");
    let mut names: Vec<_> = entries.map(|e| e.expect("entry").file_name()).collect();
    names.sort();
    names
}

/// Every refusal: exit status 2, a message that names the thing, nothing written.
#[test]
fn bad_input_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "bad.lackey", "I  04,3\n L zz,4\n");
    text_file(dir.path(), "bad.csv", "5,read,0x0,64\n4,read,0x0,64\n");
    text_file(dir.path(), "empty", "");
    text_file(dir.path(), "a.jsonl", "{\"format\":\"scalepool-trace\",\"format_version\":1}\n{\n");
    std::fs::create_dir(dir.path().join("full")).expect("a folder");
    text_file(&dir.path().join("full"), "mine.txt", "mine");
    let before = names(dir.path());
    let run =
        |args: &[&str]| [&["run", "cxl68-expander", "--vcd", "w.vcd", "--trace", "w.jsonl"], args].concat().join(" ");
    let cases = [
        (run(&["--set", "nosuch=1"]), "nosuch"),
        (run(&["--set", "link.width=3"]), "link.width: found `3`, expected 1, 2, 4, 8, 16"),
        (run(&["--set", "host.outstanding=0"]), "host.outstanding: found `0`, expected 1 to 32768"),
        (run(&["--set", "link.fault=flip:1"]), "link.fault: found `flip:1`"),
        (run(&["--set", "link.fault=flip:1:544"]), "flip:1:544"),
        (run(&["--set", "link.ber=2"]), "link.ber: found `2`"),
        (run(&["--set", "device.bytes=100"]), "device.bytes"),
        (run(&["--set", "link.mode"]), "expected key=value"),
        (run(&["--set", "link.mode=512b"]), "link.mode: found `512b`, expected cxl-68b, cxl-256b"),
        (run(&["--set", "link.mode="]), "link.mode: found ``"),
        (run(&["--set", "link.mode=68b,256b"]), "found a trace, a wave, a drawing or DRAM commands of several modes"),
        (run(&["--set", "link.mode=256b", "--set", "link.max_num_retry=3"]), "`link.max_num_retry`: no such key"),
        (run(&["--set", "link.mode=256b", "--set", "link.fault=flip:1:2048"]), "flip:1:2048"),
        (run(&["--set", "link.mode=256b-pbr", "--set", "link.host_pid=4096"]), "expected 0 to 4095"),
        (
            run(&["--set", "link.mode=256b", "--set", "link.rx_pipeline_fs=1000000000"]),
            "link.rx_pipeline_fs: found 1010000000 fs one way with the other pipeline and the wire, expected at most 496000000",
        ),
        (
            "run bias-flip --set link.mode=cxl-256b-lopt --set link.propagation_fs=600000000".into(),
            "link.propagation_fs: found 616000000 fs one way",
        ),
        (run(&["--set", "link.rate_gtps=64"]), "link.rate_gtps: found `64`, expected 8, 16, 32"),
        (run(&["--stimulus", "missing"]), "missing: cannot be read: No such file or directory (os error 2)\n"),
        (run(&["--stimulus", "bad.lackey"]), "bad.lackey:2:4: found `zz`"),
        (run(&["--stimulus", "bad.csv"]), "bad.csv:2"),
        (run(&["--stimulus", "empty"]), "empty"),
        (run(&["--stimulus", "bad.csv", "--set", "host.cache_bytes=100"]), "bad.csv:2"),
        (run(&["--wave-scope", "nowhere"]), "expected one of: device.cxl, device.mem, host.core, host.cxl\n"),
        (run(&["--wave-from", "9", "--wave-to", "8"]), "9"),
        ("run cxl68-expander --vcd missing/w.vcd".into(), "missing/w.vcd"),
        ("run cxl68-expander --trace full".into(), "full"),
        ("run cxl68-expander --vcd a --trace ./a".into(), "./a: found another output of this run"),
        ("run cxl68-expander --vcd a.vcd --trace a.gtkw".into(), "a.gtkw: found another output of this run"),
        ("run nosuch".into(), "expected one of: cxl68-expander, cxl256-expander, cxl256-lopt-expander, cxl-pbr-pair"),
        ("run cxl68-expander --threads 0".into(), "--threads"),
        ("run cxl68-expander --cycles 0".into(), "--cycles"),
        ("run cxl68-expander --seed x".into(), "--seed"),
        ("run cxl68-expander --timing".into(), "--json"),
        ("diff a.jsonl missing".into(), "missing"),
        ("diff a.jsonl a.jsonl".into(), "a.jsonl:2"),
        ("diff bad.csv bad.csv".into(), "bad.csv"),
        ("golden --out full".into(), "full"),
        ("golden --check empty".into(), "empty"),
        ("golden --protocol nosuch --out new".into(), "nosuch"),
    ];
    for (line, expected) in cases {
        let args: Vec<&str> = line.split(' ').collect();
        let (status, out, err) = scalepool(dir.path(), &args);
        assert_eq!((status, out.as_str()), (2, ""), "{line}: {err}");
        assert!(err.contains(expected), "{line}: found {err}, expected {expected}");
        assert!(!err.contains("panicked"), "{line}: {err}");
        assert_eq!(names(dir.path()), before, "{line} left something behind");
    }
}

/// A reader that goes away is no error.
#[test]
fn a_closed_pipe_is_success() {
    for args in [
        &["list", "rules"][..],
        &["run", "cxl68-expander", "--set", "host.accesses=10"],
        &["describe", "cxl68-expander"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_scalepool"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let _ = child.stdin.take().map(|mut s| s.flush());
        let out = child.wait_with_output().expect("it ends");
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

/// The log goes to stderr, changes nothing on stdout, and a filter that cannot be read is a usage error.
#[test]
fn a_log_beside_the_report() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = ["run", "cxl68-expander", "--json", "--set", "host.accesses=30"];
    let (status, bare, _) = scalepool(dir.path(), &args);
    let (logged, out, err) = scalepool(dir.path(), &[&args[..], &["--log", "link=debug,scenario=info"]].concat());
    assert_eq!((status, logged, out), (0, 0, bare));
    let lines: Vec<&str> = err.lines().filter(|line| line.starts_with("t_fs=")).collect();
    let of = |word: &str| lines.iter().filter(|line| line.split(' ').any(|w| w == word)).count();
    // Request and answer at the host, the device and two ports.
    assert_eq!((of("id=8"), of("layer=link") > 60, of("layer=scenario") > 60), (6, true, true), "{err}");
    let (status, out, err) = scalepool(dir.path(), &[&args[..], &["--log", "links=debug"]].concat());
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("found `links=debug`"), "{err}");
}

/// A number in a damaged FST can ask for more memory than there is. No output takes the place of an input.
#[test]
fn inspect_keeps_its_feet_and_its_inputs() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |name: &str| dir.path().join(name);
    let run = scalepool(dir.path(), &["run", "cxl68-expander", "--set", "host.accesses=2", "--fst", "w.fst"]);
    assert_eq!(run.0, 0, "{}", run.2);
    fs::write(file("map.toml"), include_str!("../maps/waves_cxl68.toml")).unwrap();
    let whole = fs::read(file("w.fst")).unwrap();
    // The last block begins with its length, found by trying: this makes the reader ask for 2 TB.
    let mut damaged = whole.clone();
    let place = damaged.len() - 5;
    damaged[place] = 68;
    fs::write(file("damaged.fst"), damaged).unwrap();
    let inspect =
        |wave: &str, trace: &str| scalepool(dir.path(), &["inspect", wave, "--map", "map.toml", "--trace", trace]);
    let (status, out, err) = inspect("damaged.fst", "trace.jsonl");
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("damaged.fst: found a damaged FST"), "{err}");
    assert_eq!(names(dir.path()), ["damaged.fst", "map.toml", "w.fst", "w.gtkw"], "something is left behind");
    for input in ["w.fst", "map.toml"] {
        let (status, _, err) = inspect("w.fst", input);
        assert_eq!(status, 2, "{err}");
        assert!(err.contains(&format!("{input}: found an input of this run")), "{err}");
    }
    assert_eq!(fs::read(file("w.fst")).unwrap(), whole);
    fs::write(file("one.csv"), "time,op,address,size\n0,R,0x40,64\n").unwrap();
    let (status, _, err) =
        scalepool(dir.path(), &["run", "cxl68-expander", "--stimulus", "one.csv", "--trace", "./one.csv"]);
    assert!(status == 2 && err.contains("./one.csv: found an input of this run"), "{err}");
    assert_eq!(inspect("w.fst", "trace.jsonl").0, 0);
}

#[test]
fn spread_of_few_and_many() {
    assert_eq!(Spread::of(vec![]), Spread::default());
    assert_eq!(Spread::of(vec![7]), Spread { min: 7, mean: 7.0, p50: 7, p99: 7, max: 7 });
    let s = Spread::of((1..=100).rev());
    assert_eq!(s, Spread { min: 1, mean: 50.5, p50: 50, p99: 99, max: 100 });
}

/// A memory box with a buffer of HBM in front of four DRAMs has a file for each of them, the buffer first, and each keeps its timing.
#[test]
fn commands_of_every_dram_of_a_memory_box_are_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("testbenches/systems/memory_box.toml");
    let system = system.display().to_string();
    let (status, out, err) = scalepool(dir.path(), &["run", &system, "--dram", "commands"]);
    assert_eq!(status, 0, "{out}{err}");
    assert_eq!(fs::read_dir(dir.path().join("commands")).expect("a folder").count(), 5);
    for n in 0..5 {
        let file = format!("commands/tray.dram[{n}].txt");
        let preset = if n == 0 { "hbm3_6400" } else { "ddr5_4800b" };
        let (status, out, err) = scalepool(dir.path(), &["inspect", "--dram", &file, "--preset", preset]);
        assert!(status == 0 && out.contains("0 violations"), "{file}: {out}{err}");
    }
}

/// Commands of a memory with a preset: the same for any number of threads, judged clean by the monitor of their device, and not
/// by that of another one. A memory behind a plain latency has none.
#[test]
fn dram_commands_are_written_and_keep_the_timing_of_their_device() {
    let dir = tempfile::tempdir().expect("a folder");
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("testbenches/systems/host_and_memory.toml");
    let system = system.display().to_string();
    let preset = ["--set", "component.memory.media.preset=ddr5_4800b", "--set", "host.accesses=500"];
    let written = |to: &str, threads: &str| {
        let args = [&["run", &system, "--dram", to, "--threads", threads][..], &preset].concat();
        let (status, out, err) = scalepool(dir.path(), &args);
        assert_eq!(status, 0, "{out}{err}");
        fs::read_to_string(dir.path().join(to).join("memory.txt")).expect("the run wrote it")
    };
    let text = written("one", "1");
    assert_eq!(text, written("two", "2"));
    let of = |operation: &str| text.lines().filter(|line| line.split(' ').nth(1) == Some(operation)).count();
    assert_eq!((of("RD") + of("WR"), of("ACT")), (500, of("PRE")), "{text}");
    let judged = |preset: &str| scalepool(dir.path(), &["inspect", "--dram", "one/memory.txt", "--preset", preset]);
    let (status, out, _) = judged("ddr5_4800b");
    assert!(status == 0 && out.contains("0 violations"), "{out}");
    let (status, out, _) = judged("ddr5_6400b");
    assert!(status == 1 && out.contains("MEM-TIM-"), "{out}");
    // Times beyond all traces, and a file without a command.
    let late = "2: found the time `18446744073709551615`, expected up to 4611686018427387904 clocks";
    for (text, expected) in [
        ("4611686018427387904 ACT 0 0 0 0 0 -\n18446744073709551615 PREA 0 0\n", late),
        ("# nothing\n", "found no command in the whole file, expected one a line"),
    ] {
        std::fs::write(dir.path().join("own.txt"), text).expect("a file");
        let (status, _, err) = scalepool(dir.path(), &["inspect", "--dram", "own.txt", "--preset", "ddr5_4800b"]);
        assert!(status == 2 && err.contains(expected), "{status}: {err}");
    }
    let (status, _, err) = scalepool(dir.path(), &["run", "cxl68-expander", "--dram", "none"]);
    assert!(status == 2 && err.contains("found no memory with a DRAM preset in `cxl68-expander`"), "{err}");
    assert!(!dir.path().join("none").exists());
}
