//! The built program from outside: forms, exit status, messages, pipes; and the forms as a library, where every byte
//! string must come back as it was.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use scalepool::forms::flit68::{self, Cxl68UnitDecoder, Cxl68UnitEncoder};
use scalepool::forms::{flit, flit256, message, number};
use scalepool::kernel::Rng;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, UNIT_BYTES};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::{registry, rules};
use serde_json::{Value, json};

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scalepool"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run_with(args: &[&str], input: &[u8]) -> Output {
    let mut child = program(args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // The program may end before it has read everything.
        scope.spawn(move || stdin.write_all(input).ok());
        child.wait_with_output().unwrap()
    })
}

fn run(args: &[&str]) -> Output {
    run_with(args, b"")
}

/// Exit status, stdout, stderr.
fn seen(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Stdout of a run that ends with 0.
fn stdout(args: &[&str]) -> String {
    let (status, out, err) = seen(run(args));
    assert_eq!((status, err.as_str()), (0, ""), "{args:?}");
    out
}

/// Answers of a batch and its exit status.
fn batch(args: &[&str], lines: &[Value]) -> (i32, Vec<Value>) {
    let input: String = lines.iter().map(|l| format!("{l}\n")).collect();
    let (status, out, err) = seen(run_with(args, input.as_bytes()));
    assert_eq!(status == 2, !err.is_empty(), "{err}");
    (status, out.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
}

/// One answer of `flit encode cxl-68b` for a direction.
fn encoded_as(dir: &str, flit: Value) -> (i32, Value) {
    let (status, mut answers) = batch(&["flit", "encode", "cxl-68b", "--dir", dir], &[flit]);
    (status, answers.remove(0))
}

/// One answer of `flit encode cxl-68b` for the way down.
fn encoded(flit: Value) -> (i32, Value) {
    encoded_as("down", flit)
}

fn rules_of(answer: &Value, key: &str) -> Vec<String> {
    let list = answer[key].as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(|v| v["rule"].as_str().unwrap().to_owned()).collect()
}

/// A folder of this test alone, empty.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

const REQ: &str = "cxl68.m2s_req";
/// MemRd of address 0x1000 with tag 7.
const MEM_RD: &str = "0370000008000000000000";

// ---- what people read ----

#[test]
fn describe_for_people() {
    insta::assert_snapshot!(stdout(&["describe", "cxl68.h2d_rsp"]));
}

#[test]
fn lists_for_people() {
    insta::assert_snapshot!([stdout(&["list", "layouts"]), stdout(&["list", "protocols"])].join("\n"));
}

#[test]
fn decode_for_people() {
    let (status, out, err) = seen(run(&["decode", REQ, "ad70000008000000006002"]));
    assert_eq!((status, err.as_str()), (1, ""));
    insta::assert_snapshot!(out);
}

/// The trace of a short run.
fn short_trace(name: &str) -> (PathBuf, String) {
    let folder = folder(name);
    std::fs::create_dir_all(&folder).unwrap();
    let trace = folder.join("trace.jsonl").display().to_string();
    let set = ["--set", "host.accesses=24", "--set", "host.outstanding=4", "--set", "host.pattern=mix"];
    let (status, _, err) = seen(run(&[&["run", "cxl68-expander", "--trace", &trace][..], &set].concat()));
    assert_eq!(status, 0, "{err}");
    (folder, trace)
}

#[test]
fn explain_for_people() {
    let (folder, trace) = short_trace("explain");
    let texts = [
        stdout(&["list", "waits"]),
        stdout(&["explain", &trace]),
        stdout(&["explain", &trace, "--txn", "9"]),
        stdout(&["explain", &trace, "--txn", "10"]),
        stdout(&["explain", &trace, "--slowest", "3"]),
        stdout(&["explain", &trace, "--aggregate"]),
    ];
    insta::assert_snapshot!(texts.join("\n"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn explain_for_machines() {
    let (folder, trace) = short_trace("explain_json");
    let json = |args: &[&str]| serde_json::from_str::<Value>(&stdout(args)).unwrap();
    let rows = json(&["explain", &trace, "--json"]);
    let device = rows.as_array().unwrap().iter().find(|row| row["where"] == "device.mem").unwrap();
    assert_eq!(device["waits"]["wait_media"]["count"], device["count"]);
    let tree = json(&["explain", &trace, "--json", "--txn", "9"]);
    let picture = folder.join("tree.svg").display().to_string();
    assert_eq!(json(&["explain", &trace, "--json", "--txn", "9", "--svg", &picture]), tree);
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("device.mem: ") && drawn.contains("wait_media at device.mem"));
    let request = &tree["children"][0];
    assert_eq!((&request["parent"], &request["children"][0]["where"]), (&tree["id"], &Value::from("device.mem")));
    let fs = |value: &Value| value.as_u64().unwrap();
    let sum = |hops: &Value| {
        let rows = hops.as_array().unwrap().iter();
        rows.map(|hop| fs(&hop["service_fs"]) + hop["waits_fs"].as_object().unwrap().values().map(fs).sum::<u64>())
            .sum::<u64>()
    };
    assert_eq!(sum(&tree["hops"]), fs(&tree["end_fs"]) - fs(&tree["begin_fs"]));
    let slowest = json(&["explain", &trace, "--json", "--slowest", "24"]);
    let times: Vec<u64> = slowest.as_array().unwrap().iter().map(|root| fs(&root["time_fs"])).collect();
    assert!(times.len() == 24 && times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let all = json(&["explain", &trace, "--json", "--aggregate"]);
    assert_eq!((sum(&all["hops"]), fs(&all["total_fs"])), (times.iter().sum(), times.iter().sum()));
    let waits = json(&["list", "waits", "--json"]);
    assert!(waits.as_array().unwrap().iter().any(|w| w["wait"] == "wait_media"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn explain_says_what_is_wrong() {
    let (folder, trace) = short_trace("explain_wrong");
    let (status, _, err) = seen(run(&["explain", &trace, "--txn", "3000000"]));
    assert_eq!(status, 2);
    assert!(err.contains("--txn: found 3000000, expected the id of one of the"), "{err}");
    let (status, _, err) = seen(run(&["explain", "Cargo.toml"]));
    assert_eq!(status, 2);
    assert!(err.contains("Cargo.toml:1:") && err.contains("expected a JSON object"), "{err}");
    let (status, _, err) = seen(run(&["explain", "no/such/file"]));
    assert_eq!(status, 2);
    assert!(err.starts_with("scalepool: no/such/file: cannot be read: "), "{err}");
    // A trace of the device alone has no requests of the host.
    let part = folder.join("part.jsonl").display().to_string();
    let args = ["run", "cxl68-expander", "--set", "host.accesses=2", "--wave-scope", "device", "--trace", &part];
    assert_eq!(seen(run(&args)).0, 0);
    let (status, out, err) = seen(run(&["explain", &part]));
    assert_eq!(status, 1);
    assert!(out.contains("device.mem") && err.contains("2 records without a place in a tree"), "{out}{err}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Every subcommand has a page, and every shell a file that knows the subcommands.
#[test]
fn man_pages_and_completion_follow_the_command_line() {
    let folder = folder("man");
    let written = |format: &str| stdout(&["export", format, "--out", &folder.display().to_string()]);
    let pages = written("man");
    for page in ["scalepool.1", "scalepool-explain.1", "scalepool-flit-decode.1", "scalepool-export-man.1"] {
        assert!(pages.lines().any(|line| line.ends_with(page)), "{page}: {pages}");
    }
    let explain = std::fs::read_to_string(folder.join("scalepool-explain.1")).unwrap();
    assert!(explain.contains("slowest") && explain.starts_with(".ie"), "{explain}");
    for line in written("completion").lines() {
        let text = std::fs::read_to_string(line).unwrap();
        assert!(["explain", "slowest", "litmus"].iter().all(|word| text.contains(word)), "{line}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn no_line_is_wider_than_120_columns() {
    let mut texts = vec![stdout(&["list"]), stdout(&["--help"])];
    for l in registry::layouts() {
        texts.push(stdout(&["describe", l.name]));
        let (status, out, _) = seen(run(&["decode", l.name, &"00".repeat(l.len_bytes())]));
        assert!(status < 2);
        texts.push(out);
    }
    for line in texts.iter().flat_map(|t| t.lines()) {
        assert!(line.chars().count() <= 120 && line.trim_end() == line, "{line:?}");
    }
}

#[test]
fn encode_for_people_is_hex_alone() {
    assert_eq!(stdout(&["encode", REQ, "opcode=MemRd", "address=0x1000", "tag=7"]), format!("{MEM_RD}\n"));
    assert_eq!(stdout(&["encode", REQ, "opcode=1", "address=4096", "tag=0x7", "valid=1"]), format!("{MEM_RD}\n"));
}

// ---- what machines read ----

#[test]
fn machine_forms() {
    let lines = [
        stdout(&["encode", REQ, "opcode=MemRd", "address=0x1000", "tag=7", "--json"]),
        stdout(&["decode", REQ, MEM_RD, "--json"]),
        seen(run(&["decode", "cxl68.ide", "ffffffffffffffffffffffffffffffff", "--json"])).1,
        seen(run(&["decode", REQ, "0d70000008000000000000", "--json"])).1,
        stdout(&["describe", "cxl68.s2m_drs", "--json"]),
        stdout(&["list", "protocols", "--json"]),
        stdout(&["list", "scenarios", "--json"]),
    ];
    insta::assert_snapshot!(lines.concat());
}

#[test]
fn lists_are_complete() {
    let list = |what| -> Vec<Value> { serde_json::from_str(&stdout(&["list", what, "--json"])).unwrap() };
    let names = |what, key: &str| list(what).iter().map(|l| l[key].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(names("layouts", "layout"), registry::layouts().map(|l| l.name).collect::<Vec<_>>());
    assert_eq!(names("rules", "rule"), rules::all().map(|r| r.id).collect::<Vec<_>>());
    let all: Value = serde_json::from_str(&stdout(&["list", "--json"])).unwrap();
    let keys: Vec<_> = all.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["layouts", "protocols", "scenarios", "kinds", "explorations", "waits", "health", "rules"]);
    assert_eq!(all["layouts"], Value::from(list("layouts")));
}

#[test]
fn json_is_accepted_where_it_changes_nothing() {
    let line = format!("{}\n", json!({"layout": REQ, "hex": MEM_RD}));
    let plain = seen(run_with(&["decode", "--jsonl"], line.as_bytes()));
    assert_eq!(seen(run_with(&["decode", "--jsonl", "--json"], line.as_bytes())), plain);
    let unit = "00".repeat(UNIT_BYTES);
    let plain = seen(run(&["flit", "decode", "cxl-68b", "--dir", "down", &unit]));
    assert_eq!(seen(run(&["flit", "decode", "cxl-68b", "--dir", "down", "--json", &unit])), plain);
}

// ---- what is refused ----

/// Every way to be refused: exit status 2, a message on stderr, nothing on stdout.
#[test]
fn refusals() {
    let refused: &[&[&str]] = &[
        &["encode", "cxl68.m2s_rek"],
        &["encode", "no such layout, and its name is far longer than any name of a layout will ever become"],
        &["encode", REQ, "tag"],
        &["encode", REQ, "tag="],
        &["encode", REQ, "tags=1"],
        &["encode", REQ, "tag=0x10000"],
        &["encode", REQ, "tag=-1"],
        &["encode", REQ, "tag=1.5"],
        &["encode", REQ, "tag=0x1ffffffffffffffffffffffffffffffff"],
        &["encode", REQ, "tag=1", "tag=2"],
        &["encode", REQ, "opcode=MemRead"],
        &["encode", REQ, "opcode=16"],
        &["encode", REQ, "address=1"],
        &["encode", REQ, "address=0x10000000000000"],
        &["decode", "cxl68.d2h_rek", "00"],
        &["decode", REQ, "037000000800000000000"],
        &["decode", REQ, "03700000080000000000"],
        &["decode", REQ, "037000000800000000000000"],
        &["decode", REQ, "0370000008000000000080"],
        &["decode", REQ, "0x70000008000000000000"],
        &["decode", REQ, "é370000008000000000000"],
        &["decode", REQ, ""],
        &["describe", "cxl68"],
        &["flit", "decode", "cxl-257b", "--dir", "down", "00"],
        &["flit", "encode", "cxl68"],
    ];
    let mut messages = String::new();
    for args in refused {
        let (status, out, err) = seen(run(args));
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        messages += &format!("{}\n    {}", args.join(" "), err);
    }
    insta::assert_snapshot!(messages);
}

/// Wrong usage: the words are clap's, the status is ours.
#[test]
fn wrong_usage() {
    let wrong: &[&[&str]] = &[
        &[],
        &["no-such-command"],
        &["list", "colours"],
        &["encode"],
        &["encode", "--jsonl", REQ],
        &["decode", REQ],
        &["decode", REQ, MEM_RD, "--jsonl"],
        &["flit"],
        &["flit", "decode", "cxl-68b", "00"],
        &["flit", "decode", "cxl-68b", "--dir", "left", "00"],
        &["export", "md"],
        &["describe", REQ, "--colour"],
    ];
    for args in wrong {
        let (status, out, err) = seen(run(args));
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains("Usage:") || err.contains("error:"), "{args:?}: {err}");
    }
    for args in [["--help"], ["--version"]] {
        assert!(stdout(&args).contains("scalepool"));
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let output = program(&["decode", REQ]).arg(std::ffi::OsStr::from_bytes(b"\xff")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// A bad line is answered, the rest goes on.
#[test]
fn bad_lines_of_encode() {
    let good = json!({"layout": REQ, "fields": {"tag": 1}}).to_string();
    let lines: &[&[u8]] = &[
        good.as_bytes(),
        b"",
        b"   ",
        b"{",
        b"[]",
        b"7",
        b"{} {}",
        b"{}",
        b"{\"layout\":7}",
        b"{\"layout\":\"cxl68.m2s_rqe\"}",
        b"{\"layout\":\"cxl68.m2s_req\",\"field\":{}}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":[]}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":-1}}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":1.0}}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":true}}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":65536}}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"opcode\":\"memrd\"}}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"address\":\"0x11\"}}",
        b"{\"layout\":\"cxl68.m2s_req\",\"fields\":{\"tag\":\"\xff\"}}",
        good.as_bytes(),
    ];
    let (status, out, err) = seen(run_with(&["encode", "--jsonl"], &lines.join(&b'\n')));
    assert_eq!(status, 2);
    assert_eq!(out.lines().count(), lines.len());
    assert_eq!(out.lines().next(), out.lines().last());
    insta::assert_snapshot!(format!("{out}{err}"));
}

#[test]
fn bad_lines_of_decode() {
    let lines = [
        json!({"layout": REQ, "hex": MEM_RD}),
        json!({"layout": REQ, "hex": MEM_RD, "bits": 87}),
        json!({"layout": REQ}),
        json!({"layout": REQ, "hex": 3}),
        json!({"layout": REQ, "hex": "0"}),
        json!({"layout": REQ, "hex": "zz"}),
        json!({"layout": REQ, "hex": "00"}),
        json!({"layout": REQ, "hex": MEM_RD, "fields": {}}),
        json!({"layout": REQ, "hex": "0d70000008000000000000"}),
    ];
    let (status, answers) = batch(&["decode", "--jsonl"], &lines);
    assert_eq!(status, 2, "a refusal counts more than a violation");
    assert_eq!(answers[0], answers[1]);
    assert_eq!(rules_of(&answers[8], "violations"), ["CXL68-ENC-01"]);
    for (n, answer) in answers.iter().enumerate().skip(2).take(6) {
        assert_eq!(answer["line"], n + 1);
        assert!(answer["error"]["text"].is_string());
    }
    assert_eq!(batch(&["decode", "--jsonl"], &lines[8..]).0, 1);
    assert_eq!(batch(&["decode", "--jsonl"], &lines[..2]).0, 0);
    assert_eq!(batch(&["decode", "--jsonl"], &[]), (0, vec![]));
}

/// What cannot be written into a unit.
#[test]
fn refused_flits() {
    let slot = |slot: Value| json!({"kind": "protocol", "slots": [slot]});
    let flits = [
        json!([]),
        json!({}),
        json!({"kind": "nop"}),
        json!({"kind": "protocol", "colour": 1}),
        json!({"kind": "protocol", "data": "00"}),
        json!({"kind": "protocol", "protocol": "cxl-256b"}),
        json!({"kind": "protocol", "dir": "up"}),
        json!({"kind": "protocol", "dir": "left"}),
        json!({"kind": "protocol", "index": "x"}),
        json!({"kind": "protocol", "pid": "0xffff"}),
        json!({"kind": "protocol", "pid": "0x15555"}),
        json!({"kind": "io", "pid": "0x1234"}),
        json!({"kind": "protocol", "header": {"ak": 2}}),
        json!({"kind": "protocol", "header": {"akk": 1}}),
        json!({"kind": "protocol", "crc": {"force": "0x10000"}}),
        json!({"kind": "protocol", "crc": 1}),
        json!({"kind": "almp", "almp": {}, "crc": {"force": 1}}),
        json!({"kind": "protocol", "slots": 1}),
        json!({"kind": "protocol", "slots": [{"slot": 1}, {"slot": 1}]}),
        slot(json!({"format": "H0"})),
        slot(json!({"slot": 4})),
        slot(json!({"slot": 0, "format": "G0"})),
        slot(json!({"slot": 0, "data": "00".repeat(16)})),
        slot(json!({"slot": 1, "format": "H0"})),
        slot(json!({"slot": 1, "format": "G6"})),
        slot(json!({"slot": 1, "format": "RSVD"})),
        slot(json!({"slot": 1, "data": "00"})),
        slot(json!({"slot": 1, "hex": "xx"})),
        slot(json!({"slot": 1, "messages": [{"layout": REQ}]})),
        slot(json!({"slot": 0, "format": "H5", "messages": [{"layout": REQ}, {"layout": REQ}]})),
        slot(json!({"slot": 0, "format": "H5", "messages": [{"layout": "cxl68.almp"}]})),
        slot(json!({"slot": 0, "format": "H5", "messages": [{"layout": REQ, "fields": {"tag": 65536}}]})),
        slot(json!({"slot": 0, "format": "H5", "messages": {}})),
        slot(json!({"slot": 1, "format": "G4", "messages": [{"layout": REQ}], "data": "00".repeat(16)})),
        json!({"kind": "protocol", "header": {"slot0": 3}, "slots": [{"slot": 0, "format": "H5"}]}),
        json!({"kind": "control"}),
        json!({"kind": "control", "control": {}}),
        json!({"kind": "control", "control": {"name": "RETRY"}}),
        json!({"kind": "control", "control": {"name": "reserved"}}),
        json!({"kind": "control", "control": {"name": "RETRY.Req", "fields": {"full_ack": 1}}}),
        json!({"kind": "control", "control": {"name": "LLCRD.Acknowledge", "fields": {"full_ack": 256}}}),
        json!({"kind": "control", "control": {"name": "RETRY.Req"}, "slots": [{"slot": 0, "format": "H0"}]}),
        json!({"kind": "almp"}),
        json!({"kind": "almp", "almp": {"kind": "reply"}}),
        json!({"kind": "almp", "almp": {"state": "asleep"}}),
        json!({"kind": "almp", "almp": {"state": 16}}),
        json!({"kind": "almp", "almp": {}, "tail": "00"}),
        json!({"kind": "io", "data": "00"}),
        json!({"kind": "null", "slots": []}),
    ];
    let (status, answers) = batch(&["flit", "encode", "cxl-68b", "--dir", "down"], &flits);
    assert_eq!(status, 2);
    let text: String = flits
        .iter()
        .zip(&answers)
        .map(|(flit, answer)| format!("{flit}\n    {}\n", answer["error"]["text"].as_str().expect("refused")))
        .collect();
    insta::assert_snapshot!(text);
    let (status, answers) = batch(&["flit", "encode", "cxl-68b"], &[json!({"kind": "io"})]);
    assert_eq!((status, &answers[0]["error"]["expected"]), (2, &json!("`down` or `up`")));
}

#[test]
fn refused_lines_of_flit_decode() {
    let unit = "00".repeat(UNIT_BYTES);
    let short = &unit[2..];
    let args = ["flit", "decode", "cxl-68b", "--dir", "up"];
    let good = unit.replace('0', "9");
    let lines = format!("{unit}\n\n{short}\n{good}\nx{}\nhello\n{unit}0\n{good}\n{short}", &unit[1..]);
    let from_stdin = seen(run_with(&args, lines.as_bytes()));
    let answers: Vec<Value> = from_stdin.1.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(from_stdin.0, 2);
    let seen_lines: Vec<_> = answers.iter().map(|a| a["line"].as_u64().ok_or(a["index"].as_u64())).collect();
    let flit = |n| Err(Some(n));
    assert_eq!(seen_lines, [flit(0), Ok(3), flit(1), Ok(5), Ok(6), flit(2), Ok(7), flit(3), Ok(9)]);
    let text = |n: usize| answers[n]["error"]["text"].as_str().unwrap();
    assert_eq!(text(1), "column 1: found 134 digits of a flit that begins here, expected 136 digits, 68 bytes");
    assert_eq!(text(3), "column 1: found `x`, an unknown value, expected a hexadecimal digit");
    assert!(text(4).starts_with("column 1: found 'h', expected hexadecimal digits"), "{}", text(4));
    assert_eq!(text(6), "column 137: found 1 digits of a flit that begins here, expected 136 digits, 68 bytes");
    assert!(from_stdin.2.starts_with("scalepool: line 3: column 1: found 134 digits"), "{}", from_stdin.2);
    assert!(from_stdin.2.contains("; 5 of 9 inputs cannot be read"), "{}", from_stdin.2);
    let all: Vec<&str> = args.into_iter().chain([unit.as_str(), short]).collect();
    let (status, out, err) = seen(run(&all));
    assert_eq!((status, out.lines().count()), (2, 2));
    assert!(err.contains("line 2: column 1: found 134 digits"), "{err}");
}

/// The same flits in every form that simulators print, of every protocol.
#[test]
fn flits_are_read_as_simulators_print_them() {
    for (protocol, objects) in [
        ("cxl-68b", json!([{"kind": "protocol"}, {"kind": "io", "data": "a5".repeat(64)}, {"kind": "null"}])),
        ("cxl-256b", json!([{"kind": "protocol"}, {"kind": "empty"}, {"kind": "nop", "dllp": {"hex": "31000000"}}])),
        ("ualink", json!([{"messages": [{"layout": "ualink.dl_noop"}]}, {"kind": "nop"}])),
        (
            "nvlink",
            json!([
                {"packet": {"header": {"op": "WRITE_POSTED"}, "data": "0123456789abcdef".repeat(6)}},
                {"packet": {"header": {"op": "IDLE"}}},
                {"packet": {"header": {"op": "WRITE_POSTED"}, "data": "00".repeat(16)}},
            ]),
        ),
    ] {
        let (_, flits) = batch(&["flit", "encode", protocol, "--dir", "up"], objects.as_array().unwrap());
        let hex: Vec<&str> = flits.iter().map(|f| f["hex"].as_str().unwrap()).collect();
        let decode = |order: &str, text: String| {
            let args = ["flit", "decode", protocol, "--dir", "up", "--order", order];
            let (status, out, err) = seen(run_with(&args, text.as_bytes()));
            assert_ne!(status, 2, "{protocol}: {err}\n{text}");
            let answers: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
            assert_eq!(answers, flits, "{protocol}\n{text}");
        };
        let pieces = |text: &str, digits: usize, between: &str| {
            let chars: Vec<char> = text.chars().collect();
            chars.chunks(digits).map(String::from_iter).collect::<Vec<_>>().join(between)
        };
        let each = |f: &dyn Fn(usize, &str) -> String| hex.iter().enumerate().map(|(n, h)| f(n, h)).collect::<Vec<_>>();
        decode("byte0", hex.join("\n"));
        decode("byte0", format!("\n\n  {}  \r\n\n", hex.join(" ")));
        decode("byte0", each(&|n, h| format!("{n}: 0x{}  // {n}", h.to_uppercase())).join("\n# more\n"));
        decode("byte0", each(&|_, h| pieces(h, 8, "_")).join("\n"));
        decode("byte0", each(&|_, h| format!("0x{}", pieces(h, 8, " 0x"))).join("\n"));
        decode("byte0", each(&|_, h| pieces(h, 32, "\n")).join("\n"));
        decode("byte0", each(&|_, h| format!("0000: {}", pieces(h, 2, " "))).join("\n"));
        let number = |bytes: &[char]| bytes.chunks(2).rev().flatten().collect::<String>();
        let unit = if protocol == "nvlink" { 32 } else { usize::MAX };
        let msb = each(&|_, h| {
            let chars: Vec<char> = h.chars().collect();
            chars.chunks(unit.min(chars.len())).map(number).collect::<Vec<_>>().join(" ")
        });
        decode("msb", msb.join("\n"));
        decode(
            "msb",
            msb.join("\n").lines().map(|l| pieces(&l.replace(' ', ""), 16, "_")).collect::<Vec<_>>().join("\n"),
        );
    }
}

/// The vectors for `$readmemh` are such text too.
#[test]
fn golden_numbers_are_read_with_the_last_byte_first() {
    for (path, protocol) in [
        ("cxl68/flit_cxl-68b_up", "cxl-68b"),
        ("cxl256/flit_cxl-256b_up", "cxl-256b"),
        ("ualink/flit_ualink_up", "ualink"),
    ] {
        let read = |extension: &str| std::fs::read_to_string(format!("golden/{path}.{extension}")).unwrap();
        let args = ["flit", "decode", protocol, "--dir", "up", "--order", "msb"];
        let (_, out, err) = seen(run_with(&args, read("hex").as_bytes()));
        assert_eq!(err, "");
        let hex = |text: String| -> Vec<Value> {
            text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()["hex"].clone()).collect()
        };
        assert_eq!(hex(out), hex(read("jsonl")), "{path}");
    }
}

/// What two ends have agreed on decides what is legal.
#[test]
fn choices_of_the_flit_commands() {
    let of = |layout: &str, format: &str, fields: Value| json!({"kind": "protocol", "slots": [{"slot": 0, "format": format, "messages": [{"layout": layout, "fields": fields}]}]});
    let drs = json!({"layout": "cxl256.s2m_drs"});
    let two_headers = json!({"kind": "protocol", "slots": [{"slot": 0, "format": "H15", "messages": [drs, drs]}]});
    let write = json!({"layout": "ualink.tl_req", "fields": {"cmd": "Read", "len": 15}});
    let tagged =
        json!({"tl_flits": [{"lower": {"messages": [write]}, "upper": {"hex": "07".repeat(8) + &"00".repeat(24)}}]});
    let two68 = json!({"kind": "protocol", "header": {"sz": 1}, "slots": [
        {"slot": 0, "format": "H3", "messages": vec![json!({"layout": "cxl68.h2d_data"}); 2]}]});
    let rows = [
        (
            "cxl-256b",
            "up",
            "direct_p2p",
            "off",
            of("cxl256.m2s_req", "H4", json!({"opcode": "MemRd"})),
            "CXL256-SLT-04",
        ),
        ("cxl-256b", "down", "fast_go", "off", of("cxl256.h2d_rsp", "H1", json!({"opcode": 12})), "CXL256-ENC-04"),
        ("cxl-256b", "up", "mdh", "on", two_headers, "CXL256-PCK-04"),
        (
            "cxl-256b",
            "down",
            "withdrawn_codes",
            "on",
            of("cxl256.m2s_req", "H4", json!({"opcode": 7})),
            "CXL256-ENC-06",
        ),
        (
            "cxl-256b-pbr",
            "up",
            "direct_p2p",
            "off",
            of("cxlpbr.m2s_req", "H4", json!({"opcode": "MemRd"})),
            "CXL256-SLT-04",
        ),
        (
            "cxl-256b-pbr",
            "up",
            "between_switches",
            "off",
            of("cxlpbr.h2d_rsp", "H1", json!({"opcode": "GO"})),
            "CXL256-SLT-04",
        ),
        ("cxl-68b", "down", "mdh", "on", two68, "CXL68-PCK-14"),
        ("ualink", "down", "authentication", "off", tagged, "UAL-TLF-05"),
    ];
    for (protocol, dir, choice, default, flit, rule) in rows {
        let with = |value: &str| {
            let set = format!("{choice}={value}");
            let (_, encoded) =
                batch(&["flit", "encode", protocol, "--dir", dir, "--set", &set], std::slice::from_ref(&flit));
            let hex = encoded[0]["hex"].as_str().unwrap_or_else(|| panic!("{encoded:?}")).to_owned();
            let (_, out, _) = seen(run(&["flit", "decode", protocol, "--dir", dir, "--set", &set, &hex]));
            let decoded: Value = serde_json::from_str(out.trim()).unwrap();
            let found = rules_of(&decoded, "violations");
            assert_eq!(
                rules_of(&encoded[0], "violations").contains(&rule.to_owned()),
                found.contains(&rule.to_owned())
            );
            (found.contains(&rule.to_owned()), encoded)
        };
        assert_eq!((with("on").0, with("off").0), (false, true), "{protocol} {choice}");
        let (_, plain) = batch(&["flit", "encode", protocol, "--dir", dir], std::slice::from_ref(&flit));
        assert_eq!(plain, with(default).1, "{protocol} {choice}: {default} is the default");
    }
    let (status, _, err) = seen(run(&["flit", "decode", "cxl-io", "--dir", "up", "--set", "fast_go=on", "00"]));
    assert_eq!(
        (status, err.as_str()),
        (
            2,
            "scalepool: option: found `fast_go`, expected none: cxl-io has no options; fast_go is one of cxl-256b, cxl-256b-lopt, cxl-256b-pbr\n"
        )
    );
    let help = stdout(&["flit", "decode", "--help"]);
    for text in [
        "direct_p2p (cxl-256b, cxl-256b-lopt, cxl-256b-pbr; off)",
        "between_switches (cxl-256b-pbr; off)",
        "fast_go",
        "mdh (cxl-68b; on)",
        "comment = `//` or `#`",
        "msb",
    ] {
        assert!(help.contains(text), "{text}\n{help}");
    }
}

/// A key of an object that comes twice is refused with its place, wherever JSON is read.
#[test]
fn a_key_that_comes_twice_is_refused() {
    let message = r#"{"layout":"cxl68.m2s_req","fields":{"tag":1,"tag":1}}"#;
    let hex = r#"{"layout":"cxl68.m2s_req","hex":"00","hex":"00"}"#;
    let flit = r#"{"dir":"up","kind":"io","dir":"up"}"#;
    for (args, line, key, column) in [
        (&["encode", "--jsonl"][..], message, "tag", 49),
        (&["decode", "--jsonl"], hex, "hex", 42),
        (&["flit", "encode", "cxl-68b"], flit, "dir", 29),
        (&["flit", "encode", "ualink"], flit, "dir", 29),
    ] {
        let (status, out, _) = seen(run_with(args, format!("{line}\n").as_bytes()));
        let answer: Value = serde_json::from_str(out.trim()).unwrap();
        assert_eq!((status, &answer["line"]), (2, &json!(1)), "{args:?}");
        let text =
            format!("column {column}: found key `{key}` for the second time, expected each key of an object once");
        assert_eq!(answer["error"]["text"], text, "{args:?}");
    }
}

/// A unit whose protocol ID nobody can use is dropped; it is none of the physical layer's fillers.
#[test]
fn a_unit_of_unknown_protocol_id_is_named() {
    for (pid, kind) in
        [("9999", "null"), ("9998", "null"), ("5587", "dropped"), ("1234", "dropped"), ("0000", "dropped")]
    {
        let unit = format!("{pid}{}", "00".repeat(UNIT_BYTES - 2));
        let (_, out, _) = seen(run(&["flit", "decode", "cxl-68b", "--dir", "up", &unit]));
        let flit: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(flit["kind"], kind, "{pid}");
        assert_eq!(encoded_as("up", flit.clone()).1, flit, "{pid}");
    }
    let refused = |flit| encoded_as("up", flit).1["error"]["text"].as_str().unwrap().to_owned();
    let expected = "expected an ID for which every receiver drops the unit";
    assert_eq!(refused(json!({"kind": "dropped"})), format!("flit: found no key `pid`, {expected}"));
    assert_eq!(refused(json!({"kind": "dropped", "pid": "0x9999"})), format!("pid: found 0x9999, {expected}"));
    let null = "pid: found 0x1234, expected an ID that is read as Null, such as 0x9999";
    assert_eq!(refused(json!({"kind": "null", "pid": "0x1234"})), null);
}

/// Four zero bytes in the DLLP field of a flit are no DLLP; in particular none of them is an Ack.
#[test]
fn an_empty_dllp_field_says_nothing() {
    for protocol in ["cxl-io", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"] {
        let dllp = |object: Value| batch(&["flit", "encode", protocol, "--dir", "up"], &[object]).1[0]["dllp"].clone();
        assert_eq!(dllp(json!({"kind": "io"})), json!({"hex": "00000000"}));
        assert_eq!(dllp(json!({"kind": "io", "dllp": {"hex": "00000001"}}))["type"], "Ack");
        assert_eq!(dllp(json!({"kind": "io", "header": {"dllp_type": 1}}))["type"], "OptimizedUpdateFc");
        assert_eq!(dllp(json!({"kind": "nop"})), Value::Null);
    }
}

#[test]
fn lines_that_are_too_long() {
    let mut input = vec![b'0'; (1 << 20) + 1];
    input.extend_from_slice(b"\n00\n");
    let (status, out, err) = seen(run_with(&["flit", "decode", "cxl-68b", "--dir", "up"], &input));
    assert_eq!((status, out.lines().count()), (2, 2));
    assert!(err.contains("line 1: line: found 1048577 bytes, expected at most 1048576 bytes"), "{err}");
    let deep = "[".repeat(100_000);
    let (status, out, _) = seen(run_with(&["encode", "--jsonl"], deep.as_bytes()));
    assert_eq!((status, out.lines().count()), (2, 1));
}

// ---- pipes ----

/// A reader that goes away early is no error, and nothing is said about it.
#[test]
fn a_closed_pipe_is_success() {
    let line = format!("{}\n", json!({"layout": REQ}));
    let mut child = program(&["encode", "--jsonl"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdin.write_all(line.as_bytes()).unwrap();
    out.read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"layout\""));
    drop(out);
    // Answers are written before the next read, so one more line meets the closed pipe.
    while stdin.write_all(line.as_bytes()).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));

    let mut child = program(&["list", "rules"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

/// A peer that asks one line at a time gets each answer before it asks again.
#[test]
fn answers_come_line_by_line() {
    let mut child = program(&["flit", "decode", "cxl-68b", "--dir", "down"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut unit = Cxl68Unit([0; UNIT_BYTES]);
    unit.0[..2].copy_from_slice(&[0x99, 0x99]);
    for index in 0..3 {
        writeln!(stdin, "{unit:?}").unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["index"], index);
    }
    drop(stdin);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("", Some(0)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = program(&["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("scalepool: stdout cannot be written: "));
}

// ---- flits ----

fn rwd_flit() -> Value {
    json!({"kind": "protocol", "header": {"sz": 1, "ak": 1}, "slots": [
        {"slot": 0, "format": "H4", "messages": [{"layout": "cxl68.m2s_rwd", "fields": {"opcode": "MemWr", "tag": 5}}]},
        {"slot": 1, "format": "G0", "data": "000102030405060708090a0b0c0d0e0f"},
    ]})
}

#[test]
fn a_flit_is_completed() {
    let (status, flit) = encoded(rwd_flit());
    assert_eq!(status, 0);
    insta::assert_snapshot!(serde_json::to_string_pretty(&flit).unwrap());
    let hex = flit["hex"].as_str().unwrap();
    let decoded = stdout(&["flit", "decode", "cxl-68b", "--dir", "down", hex]);
    assert_eq!(serde_json::from_str::<Value>(&decoded).unwrap(), flit, "a decoder prints the same object");
    assert_eq!(encoded(flit.clone()), (0, flit), "and its keys are accepted again");
}

#[test]
fn defaults_of_each_kind() {
    let head = |flit: Value| encoded(flit).1["hex"].as_str().unwrap()[..12].to_owned();
    assert_eq!(head(json!({"kind": "protocol"})), "555500000000");
    assert_eq!(head(json!({"kind": "all-data"})), "555500000000");
    assert_eq!(head(json!({"kind": "control", "control": {"name": "RETRY.Frame"}})), "555501000000");
    assert_eq!(
        head(json!({"kind": "almp", "almp": {"kind": "request", "state": "active", "instance": "io"}})),
        "cccc00088101"
    );
    assert_eq!(head(json!({"kind": "null"})), "999900000000");
    assert_eq!(head(json!({"kind": "io"})), "ffff00000000");
}

#[test]
fn joined_fields_of_control_flits() {
    let control = |name: &str, fields: Value| {
        let (status, flit) = encoded(json!({"kind": "control", "control": {"name": name, "fields": fields}}));
        assert_eq!((status, flit.get("slots")), (0, None));
        (flit["control"]["fields"].clone(), flit["hex"].as_str().unwrap()[4..36].to_owned())
    };
    // Full_Ack is {Ack[7:4], Ak, Ack[2:0]}: Ak at bit 2, Ack[2:0] at bits 66:64, Ack[7:4] at bits 71:68.
    let (fields, hex) = control("LLCRD.Acknowledge", json!({"full_ack": 0xad, "req_crd": 3}));
    assert_eq!(fields, json!({"full_ack": 0xad, "rsp_crd": 0, "req_crd": 3, "data_crd": 0}));
    assert_eq!(hex, "0500000310000000a500000000000000");
    let (fields, hex) = control("IDE.TMAC", json!({"mac": "0x112233445566778899aabbcc"}));
    assert_eq!(fields, json!({"mac": "0x112233445566778899aabbcc"}));
    assert_eq!(hex, "210000cc22bbaa998877665544332211");
    assert_eq!(control("RETRY.Idle", json!({})), (json!({}), "01000000010000000000000000000000".into()));
}

#[test]
fn a_forced_crc_is_written_and_named() {
    let mut flit = rwd_flit();
    flit["crc"] = json!({"force": "0x1234"});
    let (status, flit) = encoded(flit);
    assert_eq!(status, 1);
    assert_eq!(rules_of(&flit, "violations"), ["CXL68-CRC-01"]);
    assert_eq!((&flit["crc"]["ok"], &flit["crc"]["found"]), (&json!(false), &json!("0x1234")));
    assert!(flit["hex"].as_str().unwrap().ends_with("3412"));
}

/// What a receiver cannot see, because it counts: the sender's intent is judged.
#[test]
fn intent_is_judged_and_bytes_are_made() {
    let mdh = json!({"kind": "protocol", "header": {"sz": 1}, "slots": [
        {"slot": 0, "format": "H3", "messages": vec![json!({"layout": "cxl68.h2d_data"}); 4]}]});
    let frame = json!({"kind": "control", "control": {"name": "RETRY.Frame"}});
    let idle = json!({"kind": "protocol"});
    let all_data = json!({"kind": "all-data"});
    let second = |flit: &Value| {
        let (status, answers) = batch(&["flit", "encode", "cxl-68b", "--dir", "down"], &[mdh.clone(), flit.clone()]);
        assert_eq!(answers[1]["hex"].as_str().unwrap().len(), 2 * UNIT_BYTES);
        assert_eq!(answers[1]["kind"], flit["kind"]);
        (status, rules_of(&answers[1], "violations"))
    };
    assert_eq!(second(&all_data), (0, vec![]));
    assert_eq!(second(&frame), (1, vec!["CXL68-PCK-15".to_owned()]));
    assert_eq!(second(&idle), (1, vec!["CXL68-PCK-04".to_owned()]));
    assert_eq!(encoded(all_data), (1, encoded(json!({"kind": "all-data"})).1));
    assert_eq!(rules_of(&encoded(json!({"kind": "all-data"})).1, "violations")[0], "CXL68-FLT-02");
    let stray = json!({"kind": "protocol", "slots": [{"slot": 2, "data": "ff".repeat(16)}]});
    assert_eq!(rules_of(&encoded(stray).1, "violations"), ["CXL68-PCK-04"]);
    let typed = json!({"kind": "protocol", "header": {"flit_type": 1}});
    assert_eq!(rules_of(&encoded(typed).1, "violations")[0], "CXL68-FLT-01");
}

/// The bytes of an object are its own: nothing that stood before it in the stream changes them.
#[test]
fn a_refused_flit_leaves_the_stream_alone() {
    let bad = json!({"kind": "protocol", "header": {"tag": 1}});
    let (_, answers) = batch(&["flit", "encode", "cxl-68b", "--dir", "down"], &[bad, rwd_flit()]);
    assert_eq!(answers[1], encoded(rwd_flit()).1);
}

#[test]
fn hex_of_a_slot_comes_first() {
    let flit = json!({"kind": "protocol", "slots": [{"slot": 1, "format": "G5", "hex": "ff".repeat(16), "messages": [{"layout": "cxl68.h2d_rsp", "fields": {"valid": 0}}]}]});
    let (_, flit) = encoded(flit);
    let hex = flit["hex"].as_str().unwrap();
    // The answer stands at bits 119:88; the request under it and the pad bits are kept.
    assert_eq!(&hex[36..68], "ffffffffffffffffffffff00000000ff");
    assert_eq!(flit["slots"][1]["hex"].as_str().unwrap(), &hex[36..68], "stray bits are printed");
}

#[test]
fn lints_do_not_change_the_status() {
    let flit = json!({"kind": "protocol", "slots": [{"slot": 1, "format": "G1", "messages": [
        {"layout": "cxl68.h2d_rsp", "fields": {"valid": 0}}, {"layout": "cxl68.h2d_rsp", "fields": {"opcode": "ExtCmp"}}]}]});
    let (status, flit) = encoded(flit);
    assert_eq!((status, rules_of(&flit, "lints")), (0, vec!["CXL68-PCK-10".to_owned()]));
}

// ---- decoding and encoding again ----

/// Bytes that are often of some meaning: right protocol IDs, control codes, a right CRC.
fn unit() -> impl Strategy<Value = Cxl68Unit> {
    let pid = prop_oneof![
        4 => Just([0x55, 0x55]),
        1 => prop::sample::select(vec![[0xff; 2], [0x99; 2], [0xcc; 2], [0x87; 2], [0x1e; 2], [0xd2; 2], [0x4b; 2]]),
        1 => any::<[u8; 2]>(),
    ];
    let head = prop_oneof![
        2 => any::<[u8; 5]>(),
        1 => prop::sample::select(vec![0x00, 0x10, 0x01, 0x11, 0x21, 0x31, 0x02, 0x12, 0x22, 0x8c]).prop_map(|c| [1, 0, 0, 0, c]),
    ];
    let body = prop_oneof![any::<[[u8; 32]; 2]>(), Just([[0; 32]; 2])];
    (pid, head, body, any::<bool>(), any::<u16>()).prop_map(|(pid, head, body, good, tail)| {
        let mut unit = Cxl68Unit([0; UNIT_BYTES]);
        unit.0[..2].copy_from_slice(&pid);
        unit.0[2..66].copy_from_slice(&body.concat());
        unit.0[2..7].copy_from_slice(&head);
        unit.set_tail(if good { unit.expected_crc() } else { tail });
        unit
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 2000, rng_seed: RngSeed::Fixed(68), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_unit_comes_back(units in prop::collection::vec(unit(), 1..6), down in any::<bool>()) {
        let dir = if down { Dir::Down } else { Dir::Up };
        let (mut decoder, mut encoder) = (Cxl68UnitDecoder::new(dir), Cxl68UnitEncoder::new(None));
        for (index, unit) in units.iter().enumerate() {
            let (decoded, findings) = decoder.read(unit);
            let form = flit68::to_json(&decoded, &findings, index as u64);
            // Through text, as between two programs.
            let form: Value = serde_json::from_str(&form.to_string()).unwrap();
            let mut expected = *unit;
            if decoded.crc_ok == Some(false) {
                expected.set_tail(unit.expected_crc());
            }
            let again = encoder.encode(&form).map_err(|e| TestCaseError::fail(format!("{e}: {form}")))?;
            prop_assert_eq!(again.unit, expected, "{}", form);
            prop_assert_eq!(&again.form["index"], index);
        }
    }

    #[test]
    fn any_message_comes_back(bits in any::<u128>()) {
        for def in registry::layouts() {
            let bits = bits & (u128::MAX >> (128 - def.bits));
            let text = message::message_to_json(def, bits).to_string();
            let (read, again) = message::message_from_json(&serde_json::from_str(&text).unwrap()).unwrap();
            prop_assert_eq!((read.name, again), (def.name, bits));
        }
    }

    /// Whatever the line is, it is answered or refused.
    #[test]
    fn no_object_makes_the_encoder_panic(kind in "protocol|control|almp|null|io|all-data", key in "[a-z]{1,8}", text in ".{0,40}", n in any::<i64>()) {
        for value in [json!(text), json!(n), json!([n]), json!({&key: n}), json!([{"slot": n, "hex": text}]), Value::Null] {
            for key in ["header", "slots", "control", "almp", "data", "tail", "crc", "pid", "dir", "index", &key] {
                let _ = Cxl68UnitEncoder::new(Some(Dir::Up)).encode(&json!({"kind": kind, key: value}));
            }
        }
    }
}

/// Flits of every protocol with few bits set, where codes stand more often than elsewhere: what is empty, reserved or unlisted
/// comes back too.
#[test]
fn sparse_flits_come_back() {
    for protocol in registry::PROTOCOLS {
        for dir in Dir::ALL {
            let mut rng = Rng::for_name(1, &format!("{}.{}", protocol.name, dir.name()));
            let (mut decoder, mut encoder) =
                (flit::FlitDecoder::new(protocol.name, dir), flit::FlitEncoder::new(protocol.name, None));
            let (decoder, encoder) = (decoder.as_mut().unwrap(), encoder.as_mut().unwrap());
            let mut sent = Vec::new();
            let mut asked = Vec::new();
            let mut answered = Vec::new();
            for _ in 0..400 {
                let unit = sparse(protocol, &mut rng);
                asked.extend(decoder.read(Ok(&unit)));
                sent.push(unit);
            }
            asked.extend(decoder.finish());
            for answer in asked {
                let (mut form, _) = answer.unwrap();
                for key in ["hex", "crc", "fec", "violations", "lints"] {
                    form.as_object_mut().unwrap().shift_remove(key);
                }
                answered.extend(encoder.encode(Ok(form)));
            }
            answered.extend(encoder.finish());
            assert_eq!(answered.len(), sent.len());
            for (unit, answer) in sent.iter().zip(answered) {
                let (form, _) = answer.unwrap_or_else(|e| panic!("{}: {e}: {unit:02x?}", protocol.name));
                let again = number::bytes_of(form["hex"].as_str().unwrap(), "hex").unwrap();
                // CRC and FEC were computed.
                let of_content = |bytes: &[u8]| -> Vec<u8> {
                    let is_check = |n: usize| match (protocol.name, bytes.len()) {
                        ("cxl-68b", _) => n >= 66 && bytes[..2] == [0x55; 2],
                        ("cxl-256b-lopt", _) => (122..128).contains(&n) || n >= 244,
                        ("ualink", _) => n >= 636,
                        ("nvlink", _) => (12..16).contains(&n),
                        _ => n >= 242,
                    };
                    bytes.iter().enumerate().filter(|&(n, _)| !is_check(n)).map(|(_, b)| *b).collect()
                };
                assert_eq!(of_content(&again), of_content(unit), "{} {form}", protocol.name);
            }
        }
    }
}

/// A flit with few bits set; one in two of them stands where a header or a format code does. No check of it fits.
fn sparse(protocol: &registry::Protocol, rng: &mut Rng) -> Vec<u8> {
    let hot: &[usize] = match protocol.name {
        "cxl-68b" => &[2, 3, 4, 5, 6, 18, 34, 50],
        "ualink" => &[0, 1, 2, 3, 67, 68, 195, 323, 451, 579, 624, 625, 626],
        "nvlink" => &[0, 1, 2, 3, 4, 11],
        _ => &[0, 1, 2, 3, 4, 16, 32, 128, 238, 239, 240, 241],
    };
    let flits = if protocol.name == "nvlink" { 1 + rng.below(18) as usize } else { 1 };
    let mut unit = vec![0; flits * protocol.unit_bytes];
    for _ in 0..rng.below(6) {
        let any = rng.below(unit.len() as u64) as usize;
        let at = if rng.ratio(1, 2) { hot[rng.below(hot.len() as u64) as usize] } else { any };
        unit[at] = if rng.ratio(1, 3) { 8 } else { 1 << rng.below(8) };
    }
    match (protocol.name, protocol.unit_bytes) {
        ("cxl-68b", _) => unit[..2].fill([0x55, 0x55, 0xcc, 0x99, 0xff, 0x12][rng.below(6) as usize]),
        // A flit that no FEC repairs into another one.
        (_, 256) => {
            unit[0] = unit[0] & 0x3f | (rng.below(4) as u8) << 6;
            seal(protocol.name, &mut unit);
        }
        _ => (),
    }
    unit
}

/// CRC and FEC of a 256B flit.
fn seal(protocol: &str, unit: &mut [u8]) {
    let mode = flit256::mode_of(protocol).unwrap_or(Mode::Standard);
    let mut flit = Cxl256Flit::from_bytes(unit).unwrap();
    flit.seal(mode);
    unit.copy_from_slice(&flit.0);
}

/// The same through the program, as one stream each way.
#[test]
fn a_stream_comes_back_through_the_program() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{TestRng, TestRunner};
    let rng = TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &[68; 32]);
    let mut runner = TestRunner::new_with_rng(config(), rng);
    for dir in Dir::ALL {
        let units: Vec<Cxl68Unit> = (0..300).map(|_| unit().new_tree(&mut runner).unwrap().current()).collect();
        let lines: String = units.iter().map(|u| format!("{u:?}\n")).collect();
        let (status, out, _) = seen(run_with(&["flit", "decode", "cxl-68b", "--dir", dir.name()], lines.as_bytes()));
        assert_eq!(status, 1);
        let (status, out, _) = seen(run_with(&["flit", "encode", "cxl-68b"], out.as_bytes()));
        assert_eq!(status, 1);
        for (unit, line) in units.iter().zip(out.lines()) {
            let form: Value = serde_json::from_str(line).unwrap();
            let payload = form["hex"].as_str().unwrap();
            assert_eq!(payload[..132], format!("{unit:?}")[..132]);
        }
    }
}

// ---- export ----

#[test]
fn markdown_holds_every_table_and_is_the_same_each_time() {
    let (a, b) = (folder("export_md_a/deep"), folder("export_md_b"));
    let names = [
        "coherence_flows.md",
        "coherence_tables.md",
        "cxl256.md",
        "cxl68.md",
        "cxlio.md",
        "cxlpbr.md",
        "nvlink.md",
        "registers.md",
        "rules.md",
        "rules_brg.md",
        "rules_coh.md",
        "rules_cxl256.md",
        "rules_cxl68.md",
        "rules_cxlio.md",
        "rules_cxlpbr.md",
        "rules_fab.md",
        "rules_liv.md",
        "rules_mem.md",
        "rules_nvl.md",
        "rules_sim.md",
        "rules_txn.md",
        "rules_ual.md",
        "ualink.md",
    ];
    for folder in [&a, &b] {
        let out = stdout(&["export", "md", "--out", folder.to_str().unwrap()]);
        assert_eq!(out.lines().map(PathBuf::from).collect::<Vec<_>>(), names.map(|n| folder.join(n)));
        let mut there: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        there.sort();
        assert_eq!(there, names, "no file is left half-written");
    }
    let read = |folder: &PathBuf, name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in names {
        assert_eq!(read(&a, name), read(&b, name));
    }
    for def in registry::layouts() {
        let layouts = read(&a, &format!("{}.md", def.family()));
        assert!(layouts.contains(&format!("## {}\n", def.name)));
    }
    // Every rule stands in the page of its family, in a table, and either in front of what breaks it or in a line that says why nothing does.
    let page_of = |rule: &str| format!("rules_{}.md", rule.split('-').next().unwrap_or_default().to_lowercase());
    for rule in rules::all() {
        let page = read(&a, &page_of(rule.id));
        assert!(page.contains(&format!("| {} |", rule.id)), "{}", rule.id);
        let reasoned = page.lines().filter_map(|line| line.strip_prefix("No wave of ")?.split(':').next());
        let is_reasoned = reasoned.flat_map(|ids| ids.split(", ")).any(|id| id == rule.id);
        assert!(page.contains(&format!("\n{}, broken by ", rule.id)) != is_reasoned, "{}", rule.id);
    }
    // Every area has an entry that leads to its heading, and each page leads to the areas of its rules.
    let index = read(&a, "rules.md");
    let anchors_of = |page: &str| -> Vec<String> {
        let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
        headings
            .map(|heading| {
                heading
                    .to_lowercase()
                    .replace(|c: char| !c.is_alphanumeric() && !" -_".contains(c), "")
                    .replace(' ', "-")
            })
            .collect()
    };
    let of_rules = || names.iter().filter(|name| name.starts_with("rules_"));
    for name in of_rules() {
        let anchors = anchors_of(&read(&a, name));
        assert!(!anchors.is_empty(), "{name}");
        assert!(anchors.iter().all(|anchor| index.contains(&format!("]({name}#{anchor})"))), "{name}: {anchors:?}");
    }
    // Tables of states, of rules and of registers are no pages of a protocol.
    let is_of_protocol =
        |name: &&&str| !name.starts_with("coherence") && !name.starts_with("rules") && **name != "registers.md";
    for name in names.iter().filter(is_of_protocol) {
        let page = read(&a, name);
        let links = page.split("](rules_").skip(1).filter_map(|rest| rest.split(')').next());
        let links: Vec<(String, &str)> =
            links.filter_map(|link| link.split_once('#')).map(|(file, to)| (format!("rules_{file}"), to)).collect();
        let leads = |(file, to): &(String, &str)| anchors_of(&read(&a, file)).iter().any(|anchor| anchor == to);
        assert!(!links.is_empty() && links.iter().all(leads), "{name}");
    }
    let page = read(&a, "cxl68.md");
    let slots = page.split("## Slot formats").nth(1).and_then(|rest| rest.split("\n## ").next());
    insta::assert_snapshot!(slots.unwrap());
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = folder("export_md_file");
    std::fs::write(&folder, "a file").unwrap();
    let (status, out, err) = seen(run(&["export", "md", "--out", folder.to_str().unwrap()]));
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("export_md_file: File exists"), "{err}");
    std::fs::remove_file(folder).unwrap();
}

/// A viewer writes one value and waits for its line before it writes the next.
#[test]
fn a_wave_filter_answers_each_value_at_once() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let vectors = std::fs::read_to_string(root.join("golden/cxl68/flit_cxl-68b_down.hex")).unwrap();
    let flit = vectors.lines().find(|line| !line.starts_with("//")).unwrap();
    let mut damaged = flit.to_owned();
    damaged.replace_range(20..21, if &flit[20..21] == "0" { "1" } else { "0" });
    let mut filter = program(&["wave-filter", "cxl-68b", "--dir", "down"]).spawn().unwrap();
    let (mut to, mut from) = (filter.stdin.take().unwrap(), BufReader::new(filter.stdout.take().unwrap()));
    let mut ask = |value: &str| {
        writeln!(to, "{value}").unwrap();
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let good = ask(flit);
    assert!(good.starts_with("protocol; m2s_req opcode=MemInvNT snp_type=SnpInv"), "{good}");
    assert!(ask(&damaged).ends_with("; broken: CXL68-CRC-01"));
    assert_eq!(ask("xxxx"), "xxxx");
    assert_eq!(ask(flit), good, "nothing is kept from one value to the next");
    drop(to);
    assert!(filter.wait().unwrap().success());
}

/// The committed exports are those of the tables. `SCALEPOOL_BLESS=1` writes them anew.
#[test]
fn committed_exports_are_fresh() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for format in ["sv", "c", "md", "gtkwave", "sva", "plan", "schema", "systemrdl", "uvm"] {
        // The pages of the book stand with it.
        let committed = match format {
            "md" => root.join("docs/reference"),
            format => root.join("testbenches/export").join(format),
        };
        let into = |folder: &PathBuf| stdout(&["export", format, "--out", folder.to_str().unwrap()]);
        let (made, old) = (folder(&format!("export_{format}_fresh")), committed);
        if std::env::var_os("SCALEPOOL_BLESS").is_some() {
            let _ = std::fs::remove_dir_all(&old);
            into(&old);
        }
        into(&made);
        let names = |folder: &PathBuf| {
            let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&made), names(&old), "files of {format}");
        for name in names(&made) {
            let [new, old] = [&made, &old].map(|folder| std::fs::read(folder.join(&name)).unwrap());
            assert!(new == old, "{format}/{}: not what `export {format}` writes", name.display());
        }
    }
}

#[test]
fn a_murphi_model_is_the_text_with_its_numbers_filled_in() {
    let text = stdout(&["export", "murphi", "hdm-db-3"]);
    let committed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testbenches/models/hdm_db.m");
    let committed = std::fs::read_to_string(committed).unwrap();
    assert_eq!(text, committed.replace("HOSTS: 2;", "HOSTS: 3;"));
    let file = folder("export_murphi.m");
    let args = ["export", "murphi", "hdm-d", "--set", "mem.flush_keeps_shared=true", "--mutant", "FlushFlips", "--out"];
    let out = stdout(&[&args[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(out.trim_end(), file.to_str().unwrap());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("MUTANT: FlushFlips;") && text.contains("FLUSH_KEEPS_SHARED: 1;"));
    std::fs::remove_file(file).unwrap();
}

/// The menu of CXL.cache with three devices is that of the exploration.
#[test]
fn a_murphi_model_has_the_menu_of_its_exploration() {
    let switches = |name: &str| {
        let text = stdout(&["export", "murphi", name]);
        ["RDOWN", "ITOMWR", "CLEANEVICT", "WRCUR", "WRINV", "CLFLUSH", "WAITING"]
            .map(|op| text.contains(&format!(" {op}: 1;")))
    };
    assert_eq!(switches("cxl-cache-2"), [true; 7]);
    assert_eq!(switches("cxl-cache-3"), [true, true, true, false, false, false, true]);
}

#[test]
fn a_murphi_model_says_what_it_does_not_have() {
    for (args, expected) in [
        (
            &["cxl-cache"][..],
            "found the model \"cxl-cache\", expected one of cxl-cache-2, cxl-cache-2-core, cxl-cache-2-memory, cxl-cache-3, hdm-db-2, hdm-db-3, hdm-db-two-levels, hdm-d",
        ),
        (
            &["cxl-cache-2", "--mutant", "StoreNotAwaited"],
            "cxl-cache-2: found the mutant \"StoreNotAwaited\", expected one of SnoopPassesGo, ",
        ),
        (&["hdm-db-2", "--agents", "0"], "hdm-db-2: found 0 agents, expected 1 to 16"),
        (&["hdm-db-2", "--agents", "17"], "hdm-db-2: found 17 agents, expected 1 to 16"),
        (&["hdm-d", "--agents", "2"], "hdm-d: found 2 agents, expected no number: a host and a device"),
        (
            &["hdm-db-2", "--ops", "MemRdA,RdOwn"],
            "hdm-db-2: found the operation \"RdOwn\", expected one of MemRdA, MemRdS, MemInv, MemClnEvct, MemWr, Drop, Waiting",
        ),
        (&["cxl-cache-2", "--ops", ""], "cxl-cache-2: found the operation \"\", expected one of RdCurr, "),
        (
            &["cxl-cache-2", "--set", "grant_dirty=true"],
            "cxl-cache-2: found the option grant_dirty, expected one of clean_evict, silent_drop_s, silent_drop_e",
        ),
        (&["hdm-db-2", "--set", "mem.one_access=false"], "hdm-db-2: found the option mem.one_access, expected none"),
        (&["hdm-db-2", "--set", "mem.one_acces=false"], "--set: unknown field `one_acces`"),
        (
            &["hdm-d", "--mutant", "BogusNotSet"],
            "hdm-d: found the mutant \"BogusNotSet\", expected one of ReqPassesFwd, ",
        ),
    ] {
        let (status, out, err) = seen(run(&[&["export", "murphi"], args].concat()));
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}

#[test]
fn a_text_in_tla_is_a_module_with_its_definitions_filled_in_and_a_configuration() {
    let folder = folder("export_tla");
    let to = folder.to_str().unwrap();
    let written = stdout(&["export", "tla", "cxl-cache-2-memory", "--out", to]);
    let files = ["CxlCacheMemory.cfg", "CxlCacheMemory.tla"].map(|name| folder.join(name));
    assert_eq!(written.lines().collect::<Vec<_>>(), files.each_ref().map(|file| file.to_str().unwrap()));
    let committed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testbenches/models/cxl_cache_memory.tla");
    let committed = std::fs::read_to_string(committed).unwrap();
    assert_eq!(std::fs::read_to_string(&files[1]).unwrap(), committed);
    stdout(&["export", "tla", "cxl-cache-2-memory", "--agents", "3", "--out", to]);
    let three = committed.replace("\nDevices == 1..2\n", "\nDevices == 1..3\n");
    assert!(three != committed && std::fs::read_to_string(&files[1]).unwrap() == three);
    std::fs::remove_dir_all(&folder).unwrap();
    for (args, expected) in [
        (&["hdm-d"][..], "found the model \"hdm-d\", expected one of cxl-cache-2-memory"),
        (&["cxl-cache-2-memory", "--agents", "17"], "cxl-cache-2-memory: found 17 agents, expected 1 to 16"),
        (
            &["cxl-cache-2-memory", "--ops", "MemRdA"],
            "cxl-cache-2-memory: found the operation \"MemRdA\", expected one of",
        ),
        (
            &["cxl-cache-2-memory", "--set", "grant_dirty=true"],
            "cxl-cache-2-memory: found the option grant_dirty, expected one of",
        ),
    ] {
        let (status, out, err) = seen(run(&[&["export", "tla", "--out", to], args].concat()));
        assert_eq!((status, out.as_str(), folder.exists()), (2, "", false), "{args:?}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}

/// What the plan names is there: the vector sets; tests of rules are the business of the suite `meta`.
#[test]
fn the_plan_names_sets_that_exist() {
    let folder = folder("export_plan");
    stdout(&["export", "plan", "--out", folder.to_str().unwrap()]);
    let plan = std::fs::read_to_string(folder.join("plan.csv")).unwrap();
    let rows = |kind: &str| plan.lines().filter(|l| l.starts_with(kind)).collect::<Vec<_>>();
    assert_eq!(rows("rule,").len(), rules::all().count());
    assert!(rows("coverage,").len() > 500 && rows("run,").len() == 3);
    for row in rows("vectors,") {
        let set = row.split(',').nth(5).unwrap();
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("{set}.rsp"));
        assert!(path.exists(), "{row}");
    }
}

// ---- inspect ----

const MAPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testbenches/maps");
const WAVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/waves");

#[test]
fn a_wave_is_inspected() {
    let (wave, map) = (format!("{WAVES}/cxl68-retry.vcd"), format!("{MAPS}/waves_cxl68.toml"));
    let trace = folder("inspect.jsonl");
    let (status, out, err) = seen(run(&["inspect", &wave, "--map", &map, "--trace", trace.to_str().unwrap()]));
    // One flit of each direction was spoilt on purpose.
    assert_eq!((status, err.as_str()), (1, ""));
    for line in [
        "36.125000 ns device.cxl #16 protocol\n",
        "  broken: 36.125000 ns device.cxl.flit.raw[535:528] CXL68-CRC-01 at byte 66: the CRC does not match the bytes of the flit: found ",
        "  cxl68.m2s_req opcode=MemRd ",
        "device.cxl  93     93     1\n",
    ] {
        assert!(out.contains(line), "`{line}` is not in:\n{out}");
    }
    let golden = format!("{WAVES}/cxl68-retry.jsonl");
    let mask = "scenario_hash,seed,cycle";
    let policy = ["--policy", "by-key", "--key", "where"];
    let compare = |more: &[&str]| {
        let args = [&["diff", &golden, trace.to_str().unwrap(), "--mask", mask], &policy[..], more].concat();
        seen(run(&args))
    };
    assert_eq!(compare(&["--kind", "flit"]), (0, String::new(), String::new()));
    assert_eq!(compare(&[]).0, 1, "the golden trace has values as well");
    let (status, _, err) = compare(&["--kind", "flits"]);
    assert!(status == 2 && err.contains("expected one of begin, mark, end, flit, violation, value"), "{err}");
    std::fs::remove_file(trace).unwrap();
}

/// Of an FST and of a VCD: the reader of an FST is a process of its own, which writes into files that the other one has made.
#[test]
fn inspect_writes_what_viewers_and_other_tools_read() {
    let folder = folder("inspect_files");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let map = format!("{MAPS}/waves_cxl68.toml");
    let fst = file("retry.fst");
    let set = ["--set", "host.accesses=24", "--set", "link.fault=flip:26:300", "--fst", &fst];
    let (status, ..) = seen(run(&[&["run", "cxl68-expander"], &set[..]].concat()));
    assert_eq!(status, 0);
    for (wave, kind) in [(format!("{WAVES}/cxl68-retry.vcd"), "vcd"), (fst, "fst")] {
        let names =
            ["d.fst", "d.vcd", "d.gtkw", "d.html", "c.json", "j.xml"].map(|name| file(&format!("{kind}_{name}")));
        let [fst, vcd, gtkw, html, coverage, junit] = names.each_ref().map(String::as_str);
        let outputs =
            ["--fst", fst, "--vcd", vcd, "--gtkw", gtkw, "--html", html, "--coverage", coverage, "--junit", junit];
        let (status, _, err) = seen(run(&[&["inspect", &wave, "--map", &map], &outputs[..]].concat()));
        assert_eq!((status, err.as_str()), (1, ""), "{kind}: a broken CRC");
        let text = |path: &str| std::fs::read_to_string(path).unwrap();
        assert!(text(gtkw).starts_with(&format!("[dumpfile] \"{kind}_d.fst\"\n")));
        assert!(text(&gtkw.replace(".gtkw", ".source.gtkw")).contains("[markername] ACXL68-CRC-01"));
        assert!(text(html).contains("CXL68-CRC-01") && text(vcd).contains("$enddefinitions"));
        assert!(text(junit).contains("<failure type=\"CXL68-CRC-01\""));
        assert!(text(junit).contains(&format!("value=\"scalepool inspect {wave} --map {map} --fst {fst}")));
        let again: Value = serde_json::from_str(&text(coverage)).unwrap();
        let failures = text(junit).matches("<failure type=\"CXL68-CRC-01\"").count();
        assert_eq!(again["broken"]["CXL68-CRC-01"], failures);
    }
    let left = std::fs::read_dir(&folder)
        .unwrap()
        .filter(|f| f.as_ref().unwrap().file_name().to_str().unwrap().starts_with('.'));
    assert_eq!(left.count(), 0, "temporary files");
}

#[test]
fn coverage_is_merged_and_shown() {
    let folder = folder("coverage");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let names = ["one.json", "two.json", "all.json", "page.html", "cocotb.xml", "ucis.xml", "plan.csv", "junit.xml"];
    let [one, two, all, html, cocotb, ucis, plan, junit] = names.map(file);
    for (seed, path) in [("1", &one), ("2", &two)] {
        let (status, ..) = seen(run(&[
            "run",
            "cxl68-expander",
            "--seed",
            seed,
            "--set",
            "host.accesses=20",
            "--coverage",
            path,
            "--junit",
            &junit,
        ]));
        assert_eq!(status, 0);
    }
    let junit = std::fs::read_to_string(&junit).unwrap();
    assert!(junit.contains("<property name=\"seed\" value=\"2\"/>") && junit.contains("failures=\"0\""), "{junit}");
    let table = stdout(&[
        "coverage", &one, &two, "--out", &all, "--html", &html, "--cocotb", &cocotb, "--ucis", &ucis, "--plan", &plan,
        "--holes",
    ]);
    let hits = |path: &str| {
        let form: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let group = form["groups"].as_array().unwrap().iter().find(|g| g["group"] == "opcode x channel").unwrap();
        group["bins"]["cxl68.m2s_req MemRd"].as_u64().unwrap()
    };
    let sum = hits(&one) + hits(&two);
    assert!(sum > 20 && hits(&all) == sum);
    let row = format!("coverage,cxl-68b: opcode x channel: cxl68.m2s_req MemRd,,,,,,,,{sum}");
    assert!(std::fs::read_to_string(&plan).unwrap().lines().any(|line| line == row), "{row}");
    assert!(table.starts_with("protocol  group"), "{table}");
    assert!(table.contains("never hit: cxl-68b: opcode x channel: cxl68.d2h_req RdShared\n"), "{table}");
    let again = stdout(&["coverage", &all, "--json"]);
    assert_eq!(again, std::fs::read_to_string(&all).unwrap());
    let bad = file("bad.json");
    std::fs::write(&bad, "{}").unwrap();
    let (status, _, err) = seen(run(&["coverage", &bad]));
    assert!(status == 2 && err.contains("bad.json: key `scalepool_coverage`: found null, expected 1"), "{err}");
    // What this program does not have, and what stands there twice.
    let text = std::fs::read_to_string(&one).unwrap();
    let first = text.split_once("\"bins\":{").map(|(_, bins)| bins.split_once(':').unwrap().0.to_owned()).unwrap();
    for (changed, expected) in [
        (
            text.replacen("\"bins\":{", "\"bins\":{\"foo\":3,", 1),
            "found the bin `cxl-68b: opcode x channel: foo`, expected one of this program".to_owned(),
        ),
        (
            text.replacen("\"bins\":{", &format!("\"bins\":{{{first}:3,"), 1),
            format!("key {} for the second time", first.replace('"', "`")),
        ),
        (
            text.replacen("\"broken\":{", "\"broken\":{\"CXL68-NO-01\":1", 1),
            "found the rule `CXL68-NO-01`, expected one that `list rules` shows".to_owned(),
        ),
    ] {
        std::fs::write(&bad, changed).unwrap();
        let (status, _, err) = seen(run(&["coverage", &bad]));
        assert!(status == 2 && err.contains(&expected), "{err}: {expected}");
    }
    let (status, _, err) = seen(run(&["coverage", &one, "--out", &one]));
    assert!(status == 2 && err.contains("found an input of this run"), "{err}");
}

#[test]
fn a_waiver_with_a_last_day_asks_which_day_it_is() {
    let folder = folder("waiver");
    std::fs::create_dir_all(&folder).unwrap();
    let map = folder.join("map.toml");
    let text = std::fs::read_to_string(format!("{MAPS}/waves_cxl68.toml")).unwrap();
    let waiver = "[[waiver]]\nrule = \"CXL68-CRC-01\"\nuntil = \"2027-01-15\"\nreason = \"issue 12\"\n";
    std::fs::write(&map, format!("{text}\n{waiver}")).unwrap();
    let wave = format!("{WAVES}/cxl68-retry.vcd");
    let args = ["inspect", &wave, "--map", map.to_str().unwrap()];
    let (status, _, err) = seen(run(&args));
    assert!(status == 2 && err.contains("found a waiver with a last day, expected --today DAY"), "{err}");
    let (status, out, err) = seen(run(&[&args[..], &["--today", "2027-01-15"]].concat()));
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("  waived (issue 12): ") && !out.contains("broken:"), "{out}");
    let (status, out, err) = seen(run(&[&args[..], &["--today", "2027-01-16"]].concat()));
    assert!(status == 1 && out.contains("broken:") && err.contains("has expired on 2027-01-15"), "{err}");
}

#[test]
fn options_without_the_file_that_they_are_for_are_refused() {
    let (wave, map) = (format!("{WAVES}/cxl68-retry.vcd"), format!("{MAPS}/waves_cxl68.toml"));
    for (more, expected) in [
        (&["--gtkw", "x.gtkw"][..], "x.gtkw: found a save file without a wave, expected --fst or --vcd beside it"),
        (&["--wave-from", "5"], "time window: found no output that it applies to"),
        (&["--today", "soon"], "found `soon`, expected a day such as 2027-03-31"),
        (&["--html", "y", "--junit", "y"], "y: found another output of this run"),
    ] {
        let (status, _, err) = seen(run(&[&["inspect", &wave, "--map", &map], more].concat()));
        assert!(status == 2 && err.contains(expected), "{err}");
    }
}

#[test]
fn inspect_prints_json_lines() {
    let (wave, map) = (format!("{WAVES}/cxl68-retry.vcd"), format!("{MAPS}/waves_cxl68.toml"));
    let (status, out, _) = seen(run(&["inspect", &wave, "--map", &map, "--json", "--all"]));
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let (summary, flits) = lines.split_last().unwrap();
    assert_eq!((status, flits.len()), (1, 188));
    let row = json!({"interface": "host.cxl", "edges": 95, "flits": 95, "violations": 1, "left_over_beats": 0});
    assert_eq!(summary["summary"][0], row);
    let broken = flits.iter().find(|f| f["violations"] != json!([])).unwrap();
    let keys: Vec<_> = broken.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["t_fs", "cycle", "where", "flit", "violations", "lints"]);
    assert_eq!(broken["violations"][0]["rule"], "CXL68-CRC-01");
    assert_eq!(broken["violations"][0]["t_fs"], 36_125_000);
    assert_eq!(broken["flit"]["crc"]["ok"], false);
}

#[test]
fn inspect_refuses_what_it_cannot_use() {
    let map = format!("{MAPS}/waves_cxl68.toml");
    let wave = format!("{WAVES}/cxl68-retry.vcd");
    let other = format!("{MAPS}/waves_ualink.toml");
    let text = folder("inspect.txt");
    std::fs::write(&text, "$timescale 1 ns $end $var wire 4 ! a $end $enddefinitions $end\n#0\nb01q1 !\n").unwrap();
    for (args, expected) in [
        (["inspect", "no.vcd", "--map", &map], "no.vcd: cannot be read as a wave: "),
        (["inspect", &wave, "--map", "no.toml"], "no.toml: cannot be read"),
        (["inspect", &wave, "--map", &wave], "cxl68-retry.vcd: TOML parse error at line 1"),
        (["inspect", &map, "--map", &map], "cannot be read as a capture of flits: line "),
        (["inspect", text.to_str().unwrap(), "--map", &map], "cannot be read as a wave: "),
        (["inspect", &wave, "--map", &other], "key `clock`: found `accel[0].port[0].flit.seq`, expected a signal of "),
    ] {
        let (status, out, err) = seen(run(&args));
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(expected) && err.lines().count() <= 6 && !err.contains("panicked"), "{err}");
    }
    std::fs::remove_file(text).unwrap();
}

/// A trace of a run needs no wave; where it is not what the map says, the line is named.
#[test]
fn a_capture_is_inspected() {
    let (trace, map) = (format!("{WAVES}/cxl68-retry.jsonl"), format!("{MAPS}/waves_cxl68.toml"));
    let (status, out, err) = seen(run(&["inspect", &trace, "--map", &map, "--health"]));
    assert_eq!((status, err.as_str()), (1, ""));
    assert!(out.contains("broken: 36.125000 ns device.cxl CXL68-CRC-01 at byte 66: "), "{out}");
    assert!(out.contains("device.cxl  93     93     1\n"), "{out}");
    assert!(out.contains("interface   lines  flits  violations\n"), "{out}");
    let flits = folder("flits.txt");
    std::fs::write(&flits, "# by hand\n1.5 host.cxl 00\n").unwrap();
    let save = folder("flits.gtkw");
    let vcd = folder("flits.vcd");
    let outputs = ["--vcd", vcd.to_str().unwrap(), "--gtkw", save.to_str().unwrap()];
    for (args, expected) in [
        (
            vec!["inspect", flits.to_str().unwrap(), "--map", &map],
            "line 2: found 1 bytes for interface `host.cxl` of cxl-68b, expected 68",
        ),
        ([&["inspect", &trace, "--map", &map], &outputs[..]].concat(), "--gtkw: found a capture, "),
    ] {
        let (status, out, err) = seen(run(&args));
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(expected), "{err}");
    }
    std::fs::remove_file(flits).unwrap();
}

/// A rule is shown broken, by a flit, by messages at a bridge or a switch, by commands of a DRAM, by steps of a port, by what a reference
/// answers; or it is said why not.
#[test]
fn describe_shows_how_a_rule_is_broken() {
    let shown = |rule: &str| stdout(&["describe", rule]);
    insta::assert_snapshot!("describe_cxl68_crd_04", shown("CXL68-CRD-04"));
    insta::assert_snapshot!("describe_brg_crd_01", shown("BRG-CRD-01"));
    insta::assert_snapshot!("describe_mem_tim_02", shown("MEM-TIM-02"));
    insta::assert_snapshot!("describe_fab_xbr_01", shown("FAB-XBR-01"));
    insta::assert_snapshot!("describe_fab_cmr_02", shown("FAB-CMR-02"));
    insta::assert_snapshot!("describe_fab_bnd_02", shown("FAB-BND-02"));
    insta::assert_snapshot!("describe_fab_rgt_03", shown("FAB-RGT-03"));
    insta::assert_snapshot!("describe_cxl68_slt_06", shown("CXL68-SLT-06"));
    insta::assert_snapshot!("describe_fab_vcs_01", shown("FAB-VCS-01"));
}

/// The wave of a rule has the rule and its flits; rules that no case breaks, and names that are no rules, are refused.
#[test]
fn describe_writes_the_wave_of_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    for (rule, name) in [
        ("CXL68-CRC-01", "a.vcd"),
        ("CXL256-FEC-02", "b.fst"),
        ("UAL-CRC-01", "c.vcd"),
        ("NVL-CRC-01", "d.vcd"),
        ("TXN-TAG-02", "e.fst"),
        ("MEM-TIM-02", "f.vcd"),
        ("BRG-CRD-01", "g.fst"),
    ] {
        let answer: Value = serde_json::from_str(&stdout(&["describe", rule, "--wave", &at(name), "--json"])).unwrap();
        assert_eq!(answer["rule"], rule);
        let t_fs = answer["wave"]["t_fs"].as_u64().unwrap();
        assert!(answer["wave"]["found"].as_str().unwrap().starts_with(rule), "{answer}");
        assert_eq!(
            (&answer["broken"]["t_fs"], &answer["broken"]["found"]),
            (&answer["wave"]["t_fs"], &answer["wave"]["found"])
        );
        assert!(!answer["broken"]["steps"].as_array().unwrap().is_empty(), "{answer}");
        let save = std::fs::read_to_string(at(&format!("{}.gtkw", &name[..1]))).unwrap();
        // The marker stands behind the zoom.
        assert!(
            save.lines().any(|line| line.starts_with('*') && line.contains(&format!(" {t_fs}"))),
            "{rule} {t_fs}: {save}"
        );
    }
    let wave = std::fs::read_to_string(at("a.vcd")).unwrap();
    assert!(wave.contains("m2s_req") && wave.contains("violations"), "no flits in the wave");
    let wave = std::fs::read_to_string(at("f.vcd")).unwrap();
    assert!(
        wave.contains("bank1") && wave.contains("command") && wave.contains("violations"),
        "no commands in the wave"
    );
    for (args, expected) in [
        (
            ["describe", "CXL68-LLR-03", "--wave", "x.vcd"],
            "found CXL68-LLR-03, which has no wave: It is about the counters, the buffer and the timer ",
        ),
        (["describe", "CXL68-LLR-03", "--wave", "x.vcd"], "Expected a rule that has one; of CXL68 these are "),
        (
            ["describe", "cxl68.m2s_req", "--wave", "x.vcd"],
            "found `cxl68.m2s_req`, expected a rule that has a wave, such as CXL68-CRC-01;",
        ),
        (
            ["describe", "CXL68-CRC", "--wave", "x.vcd"],
            "found `CXL68-CRC`, expected a rule that has a wave, such as CXL68-CRC-01, CXL68-CRC-02, ",
        ),
        (["describe", "TXN-TAG", "--wave", "x.vcd"], "such as TXN-TAG-02"),
        (["describe", "FAB-VCS-01", "--wave", "x.vcd"], "found a case in which nothing moves"),
        (["describe", "CXL68-CRC-01", "--wave", "x.png"], "found x.png, expected a name that ends in .vcd or .fst"),
    ] {
        let (status, out, err) = seen(run(&args));
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(expected), "{err}");
    }
}

/// The example of the issue that asked for litmus cases; then a broken file, a missing one, a kind nobody knows.
#[test]
fn litmus_prints_outcomes_and_refuses_bad_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let good = "kind = \"cxl-cache\"\nstart = \"MI\"\nprograms = [[\"DirtyEvict\"], [\"RdShared\"]]\n[config]\n";
    let answer: Value = serde_json::from_str(&stdout(&["litmus", &file("good.toml", good), "--json"])).unwrap();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["states", "transitions", "violations", "outcomes"]);
    assert_eq!(answer["violations"], json!([]));
    let outcomes = answer["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 1, "{answer}");
    assert_eq!((&outcomes[0]["final"], &outcomes[0]["fresh"]), (&json!("IS"), &json!(true)));
    assert!(stdout(&["litmus", &file("good.toml", good)]).contains("IS fresh"));
    for (name, text, place) in [
        ("word.toml", good.replace("RdShared", "RdSharde"), "line 3"),
        ("start.toml", good.replace("MI", "MS"), "line 2"),
        ("kind.toml", good.replace("cxl-cache", "cxl"), "line 1"),
        ("option.toml", format!("{good}speed = 1\n"), "line 5"),
    ] {
        let (status, out, err) = seen(run(&["litmus", &file(name, &text)]));
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(err.contains(place), "{name}: {err}");
    }
    assert_eq!(seen(run(&["litmus", "no-such-file.toml"])).0, 2);
}

/// The histogram of runs; a set that lacks what they see; arguments that do not go together.
#[test]
fn litmus_runs_a_program_on_clocked_cores() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let adds = "X86 adds\n{ x=0; }\n P0 | P1 ;\n LOCK INC [x] | LOCK INC [x] ;\n~exists (x=1)\n";
    let adds = file("adds.litmus", adds);
    let printed = stdout(&["litmus", &adds, "--runs", "50"]);
    let expected = "Test adds Forbidden\nHistogram (1 states)\n50    :>[x]=2;\nOk\n\nWitnesses\nPositive: 0, Negative: 50\n\
                    Condition ~exists (x=1) is validated\nObservation adds Never 0 50\nReached 1 of 1 allowed outcomes\n";
    assert_eq!(printed, expected);

    let log = file("log.txt", "Test adds Forbidden\nStates 1\n[x]=1;\nOk\n");
    let (status, out, _) = seen(run(&["litmus", &adds, "--runs", "50", "--seed", "7", "--allowed", &log]));
    assert_eq!(status, 1);
    assert!(
        out.ends_with(
            "\nReached 0 of 1 allowed outcomes\nNot allowed: [x]=2; 50 runs, the first with --seed 7 --runs 1\n"
        ),
        "{out}"
    );
    let (status, out, _) =
        seen(run(&["litmus", &adds, "--json", "--runs", "2", "--allowed", &log, "--system", "hdm-db-share"]));
    let form: Value = serde_json::from_str(&out).unwrap();
    let first = json!([{"outcome": {"x": 2}, "runs": 2, "allowed": false, "first": {"seed": 1, "run": 1}}]);
    assert_eq!((status, &form["histogram"], &form["violations"]), (1, &first, &json!([])));

    let case =
        file("case.toml", "kind = \"cxl-cache\"\nstart = \"MI\"\nprograms = [[\"DirtyEvict\"], [\"RdShared\"]]\n");
    for (args, text) in [
        (&["litmus", &case, "--runs", "1"][..], "found a case in TOML"),
        (&["litmus", &adds, "--seed", "1"], "--runs"),
        (&["litmus", &adds, "--runs", "18446744073709551615"], "is not in 1..=1000000000"),
        (&["litmus", &adds, "--runs", "1", "--system", "cxl68-expander"], "found 0 homes of lines"),
        (&["litmus", &adds, "--runs", "1", "--allowed", &case], "line 1, column 1: found no outcomes"),
    ] {
        let (status, _, err) = seen(run(args));
        assert!(status == 2 && err.contains(text), "{args:?}: {status} {err}");
    }
}

/// A clean exploration, one with an option that gives a guarantee up, and what can be had of its counterexample.
#[test]
fn explore_prints_its_counts_and_writes_the_way_to_a_broken_rule() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    // The seconds are on stderr.
    let printed = |args: &[&str]| {
        let (status, out, _) = seen(run(args));
        assert_eq!(status, 0, "{args:?}");
        out
    };
    let clean = printed(&["explore", "hdm-d"]);
    assert!(clean.starts_with("hdm-d: ") && clean.ends_with("\nno rule is broken\n"), "{clean}");
    let form: Value = serde_json::from_str(&printed(&["explore", "hdm-d", "--json"])).unwrap();
    let keys: Vec<&String> = form.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["exploration", "states", "transitions", "depth", "complete", "violations"]);
    let timed: Value = serde_json::from_str(&printed(&["explore", "hdm-d", "--json", "--timing"])).unwrap();
    assert!(timed["seconds"].is_f64() && timed["states"] == form["states"], "{timed}");

    // §3.5: without the one access a grant may be taken away before its use, which V10 says.
    let broken = ["explore", "hdm-db-2", "--set", "mem.one_access=false"];
    let (text, svg, trace, wave, script) = (at("a.txt"), at("a.svg"), at("a.jsonl"), at("a.vcd"), at("a.script"));
    let files = ["--chart", &text, "--trace", &trace, "--vcd", &wave, "--script", &script];
    let (status, out, _) = seen(run(&[&broken[..], &files].concat()));
    assert_eq!(status, 1);
    assert!(out.contains("\nCOH-INV-10 is broken after "), "{out}");
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert!(out.ends_with(&read(&text)) && read(&text).contains("CmpE"), "{out}");
    assert!(read(&trace).contains("\"rule\":\"COH-INV-10\"") && read(&wave).contains("$scope module host_1 $end"));
    assert_eq!(seen(run(&[&broken[..], &["--chart", &svg]].concat())).0, 1);
    assert!(read(&svg).starts_with("<svg "));
    let (status, out, _) = seen(run(&[&broken[..], &["--follow", &script]].concat()));
    assert!(status == 1 && out.starts_with("COH-INV-10: host 1"), "{out}");
    // Under the rule that is kept the same way breaks nothing.
    let (status, out, _) = seen(run(&["explore", "hdm-db-2", "--follow", &script]));
    assert!(status == 0 && out.contains("BIRspI") && out.contains("end: "), "{out}");

    std::fs::write(
        at("case.toml"),
        "kind = \"cxl-cache\"\nstart = \"MI\"\nprograms = [[\"DirtyEvict\"], [\"RdShared\"]]\n",
    )
    .unwrap();
    assert!(printed(&["explore", &at("case.toml")]).contains("\nIS fresh "));
    // Two stores take the line from each other for ever; of states and steps alone nothing is wrong.
    let swap = "kind = \"hdm-db\"\nstart = \"II\"\nprograms = [[\"MemRdA\", \"Store\"], [\"MemRdA\", \"Store\"]]\n\
                [config.mem]\none_access = false\n";
    std::fs::write(at("swap.toml"), swap).unwrap();
    let swap = ["explore", &at("swap.toml")];
    let (status, out, _) = seen(run(&[&swap[..], &files].concat()));
    assert!(status == 1 && out.contains("found a store that waits for ever: steps "), "{out}");
    assert!(out.ends_with(&read(&text)) && read(&text).contains("from here on, again and again"), "{out}");
    assert!(read(&trace).contains("a store that waits for ever") && read(&script).contains("\nagain and again\n"));
    let (status, out, _) = seen(run(&[&swap[..], &["--follow", &script]].concat()));
    assert!(status == 1 && out.contains("found a store that waits for ever: steps "), "{out}");
    let safe = printed(&[&swap[..], &["--no-liveness"]].concat());
    assert!(safe.ends_with("\nno rule is broken; liveness was not checked\n"), "{safe}");
    // A round that does not come back, and one that leaves a message where it is.
    let steps = read(&script);
    let (cut, _) = steps.trim_end().rsplit_once('\n').unwrap();
    for (name, wrong) in [("cut", cut), ("rest", "again and again\n")] {
        std::fs::write(at(name), wrong).unwrap();
        let (status, _, err) = seen(run(&[&swap[..], &["--follow", &at(name)]].concat()));
        assert!(status == 2 && err.contains("found no step `again and again`"), "{err}");
    }
    for (args, expected) in [
        (&["explore"][..], "expected FILE.toml or a name that `list explorations` shows"),
        (&["explore", "hdm-x"], "found \"hdm-x\""),
        (&["explore", "hdm-d", "--set", "speed=1"], "--set: unknown field `speed`"),
        (&["explore", "hdm-d", "--set", "speed"], "expected option=value"),
        (&["explore", "hdm-d", "--states", "100"], "gave up after 100 states"),
        (&["explore", "hdm-d", "--follow", &text], "found no step"),
        (&["explore", "none.toml"], "none.toml: "),
    ] {
        let (status, _, err) = seen(run(args));
        assert!(status == 2 && err.contains(expected), "{args:?}: {err}");
    }
}

/// The descriptions that run clocked: homes, holders and switches become the agents of a search.
#[test]
fn explore_takes_system_descriptions() {
    let counted = |args: &[&str]| -> Value {
        let (status, out, err) = seen(run(&[&["explore"], args, &["--json"]].concat()));
        assert_eq!(status, 0, "{args:?}: {err}");
        serde_json::from_str(&out).unwrap()
    };
    let pair = counted(&["cxl-cache-pair"]);
    assert!(pair["complete"] == true && pair["violations"] == serde_json::json!([]), "{pair}");
    let states = |form: &Value| form["states"].as_u64().unwrap();
    let three = counted(&["cxl-cache-pair", "--set", "devices=3", "--no-liveness"]);
    let more = counted(&["cxl-cache-pair", "--ops", "RdOwn", "--lines", "2"]);
    let behind = counted(&["cxl-cache-switch"]);
    assert!(states(&three) > states(&pair) && states(&more) > 4 && states(&behind) > states(&pair));
    for name in ["hdm-db-share", "bias-flip"] {
        assert_eq!(counted(&[name])["complete"], true, "{name}");
    }
    // Peers use both homes; hosts stand behind a switch of a fabric.
    for name in ["cxl-cache-peers", "hdm-db-fabric"] {
        assert_eq!(counted(&[name, "--ops", "RdOwn,MemRdA"])["complete"], true, "{name}");
    }
    // A file is the same as the scenario that it was written from.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pair.toml").display().to_string();
    let (_, text, _) = seen(run(&["describe", "cxl-cache-pair", "--toml"]));
    std::fs::write(&file, text).unwrap();
    assert_eq!(states(&counted(&[&file])), states(&pair));
    // A hole in the table of a switch.
    let (status, out, _) = seen(run(&["explore", "cxl-cache-switch", "--set", "switch.table=1:none"]));
    assert!(status == 1 && out.contains("COH-INV-09 is broken after 5 steps") && out.contains(" switch "), "{out}");
    for (args, expected) in [
        (&["explore", "ualink-pair"][..], "expected kinds that keep lines coherent"),
        (&["explore", "cxl-cache-pair", "--ops", "RdOwm"], "found the operation \"RdOwm\""),
        (&["explore", "cxl-cache-pair", "--set", "devices=17"], "devices"),
        (&["explore", "cxl-cache-pair", "--lines", "33"], "33 is not in 1..=32"),
        (&["explore", "cxl-cache-peers", "--lines", "32"], "found 64 lines, expected 1 to 32"),
        (
            &["explore", "cxl-cache-pair", "--agents", "2"],
            "found --agents, expected the number of agents in the description",
        ),
        (
            &["explore", "hdm-d", "--lines", "2"],
            "hdm-d: found --lines 2, expected none: the lines of this exploration are fixed",
        ),
        (&["explore", "cxl-cache-2", "--agents", "17"], "17 is not in 1..=16"),
        (&["explore", "cxl-cache-2", "--ops", "MemWr"], "cxl-cache-2: found --ops with operations of hosts of CXL.mem"),
    ] {
        let (status, _, err) = seen(run(args));
        assert!(status == 2 && err.contains(expected), "{args:?}: {err}");
    }
}

/// Rules are turned off in builds for tests alone, of which this is one.
#[test]
#[cfg(debug_assertions)]
fn explore_turns_rules_off_in_builds_for_tests() {
    let (status, out, _) = seen(run(&["explore", "--mutant", "SharersNotSnooped"]));
    assert!(status == 1 && out.starts_with("cxl-cache-2-values: ") && out.contains("COH-INV-04 is broken"), "{out}");
    let (status, _, err) = seen(run(&["explore", "--mutant", "PartOfUio"]));
    assert!(status == 2 && err.contains("a test finds COH-UIO-02"), "{err}");
    assert_eq!(seen(run(&["explore", "hdm-d", "--mutant", "Nothing"])).0, 2);
}

/// The file of a description in a folder of its own.
fn described(name: &str, text: &str) -> String {
    let folder = folder(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("f.toml");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn descriptions_are_checked_drawn_and_described() {
    let built_in = stdout(&["describe", "cxl68-expander", "--toml"]);
    let file = described("described", &built_in);
    assert_eq!(stdout(&["check", &file]), "cxl68-expander: 2 components, 1 link\n");
    let form: Value = serde_json::from_str(&stdout(&["check", &file, "--json"])).unwrap();
    assert_eq!(form["links"], json!([{"path": "cxl", "kind": "cxl-68b", "between": ["host.cxl", "device.cxl"]}]));
    // Requests of the host need room for answers of the device, and nothing needs room for requests.
    let (graph, request) = (&form["channels"], json!({"link": "cxl", "direction": "down", "class": "M2S Req"}));
    assert_eq!((&graph["channels"][0], &graph["edges"]), (&request, &json!([[0, 3, 0], [0, 2, 1], [1, 2, 2]])));
    assert_eq!(graph["reasons"][0], json!({"by": "device", "why": "answers requests"}));
    let svg = file.replace("f.toml", "f.svg");
    stdout(&["check", &file, "--svg", &svg]);
    let drawn = std::fs::read_to_string(&svg).unwrap();
    for text in ["<svg ", ">host<", ">device<", "cxl (cxl-68b)"] {
        assert!(drawn.contains(text), "{text}: {drawn}");
    }
    // After a run each link has its load, both ways, which the table of its time has too.
    let report: Value = serde_json::from_str(&seen(run(&["run", &file, "--json", "--drawing", &svg])).1).unwrap();
    let drawn = std::fs::read_to_string(&svg).unwrap();
    let share = |direction: &str| {
        let times = &report["where_time_goes"]["directions"][direction];
        let all = times["line"].as_u64().unwrap();
        let busy: u64 = ["payload", "headers", "replay"].iter().filter_map(|of| times[of].as_u64()).sum();
        format!("{:.1} %", busy as f64 * 100.0 / all as f64)
    };
    let title = format!("<title>cxl (cxl-68b): {}, back {}</title>", share("down"), share("up"));
    assert!(drawn.contains(&title) && drawn.contains(">from 75 %<"), "{title}: {drawn}");
    // A file says of itself what the scenario says, and a kind has its fields.
    let settings = |name: &str| stdout(&["describe", name, "--json"]);
    assert_eq!(settings(&file), settings("cxl68-expander"));
    assert!(stdout(&["describe", "cxl.host"]).contains("stimulus.pattern"));
    for told in [stdout(&["describe", "cxl.host"]), stdout(&["run", "--help"])] {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for part in
            ["columns time, op, address, size", "host cycles", "the first line may be a header with these names"]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    assert!(stdout(&["describe", "memory_map"]).contains("granularity"));
}

#[test]
fn the_windows_of_a_memory_map_are_shown() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/testbenches/systems/interleaved_memories.toml");
    let three = ["component.host.ports=3", "component.memory.count=3", "memory_map.spread.size=12 GiB"];
    let set: Vec<&str> = three.iter().flat_map(|set| ["--set", set]).collect();
    let args = |more: &[&'static str]| [&["check", file][..], &set, more].concat();
    let (status, out, err) = seen(run(&args(&[])));
    assert_eq!(status, 0, "{err}");
    let line = "spread: 0x100000000 to 0x3ffffffff at memory[0], memory[1], memory[2], 1024 bytes each in turn, xor\n";
    assert!(out.starts_with("interleaved-memories: 4 components, 3 links, 2 windows\n") && out.contains(line), "{out}");
    let warning = ":26:8: memory_map.spread.base: 0x100000000 is no multiple of 768 MiB";
    assert!(err.starts_with("warning: ") && err.contains(warning), "{err}");
    let (_, out, err) = seen(run(&args(&["--json"])));
    let form: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(err, "");
    assert_eq!(form["warnings"][0]["line"], 26);
    assert_eq!(
        form["memory_map"][1],
        json!({
            "name": "near", "base": 0x8_0000_0000u64, "size": 8u64 << 30, "targets": ["memory[0]"],
            "granularity": 256, "arithmetic": "modulo",
        })
    );
}

#[test]
fn wrong_descriptions_are_refused_whole() {
    let built_in = stdout(&["describe", "cxl68-expander", "--toml"]);
    let wrong = built_in.replace("\"cxl-68b\"", "\"cxl-69b\"").replace("\"cxl.memory\"", "\"cxl.memroy\"");
    let file = described("wrong_description", &wrong);
    let (status, out, err) = seen(run(&["check", &file]));
    assert_eq!((status, out.as_str(), err.lines().count()), (2, "", 2), "{err}");
    assert!(
        err.contains(&format!("{file}:17:8: component.device.kind: found the kind of component `cxl.memroy`")),
        "{err}"
    );
    let (status, out, err) = seen(run(&["check", &file, "--json"]));
    let form: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, err.as_str()), (2, ""));
    assert_eq!(
        (&form["problems"][0]["line"], &form["problems"][0]["key"]),
        (&json!(17), &json!("component.device.kind"))
    );
    // The description is no place for its drawing.
    let sound = described("no_drawing", &built_in);
    let (status, _, err) = seen(run(&["check", &sound, "--svg", &sound]));
    assert_eq!((status, std::fs::read_to_string(&sound).unwrap()), (2, built_in.clone()), "{err}");
    for (args, text) in [
        (&["describe", "cxl.host", "--toml"][..], "found `cxl.host`, expected a scenario: cxl68-expander"),
        (&["check", "nowhere.toml"], "nowhere.toml:1:1: the file cannot be read"),
        (&["check", &sound, "--set", "host.accesses=0"], "--set host.accesses: found `0`, expected 1 to"),
    ] {
        let (status, _, err) = seen(run(args));
        assert!(status == 2 && err.contains(text), "{args:?}: {err}");
    }
}
