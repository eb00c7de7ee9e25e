//! Limits of what the program takes and where it writes: memory, values at their ends, files, signals.

#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_scalepool");

/// Exit status, stdout, stderr of the program in a folder.
fn scalepool(dir: &Path, args: &[&str]) -> (i32, String, String) {
    ended(Command::new(PROGRAM).args(args).current_dir(dir), args)
}

fn ended(command: &mut Command, args: &[&str]) -> (i32, String, String) {
    let out = command.output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(out.stdout), text(out.stderr));
    (out.status.code().unwrap_or_else(|| panic!("{args:?} ended by a signal: {stderr}")), stdout, stderr)
}

/// The same in 512 MiB of address space, so with less memory than that.
fn within_512_mib(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 524288 && exec \"$0\" \"$@\"", PROGRAM]).args(args).current_dir(dir);
    ended(&mut shell, args)
}

/// Exit status 2, nothing on stdout, a message with this text and no panic.
fn is_refused(found: &(i32, String, String), expected: &str) {
    let (status, out, err) = found;
    assert_eq!((*status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains(expected) && !err.contains("panicked"), "found {err}, expected {expected}");
}

fn text_file(dir: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(dir.join(name), text).expect("a file");
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder");
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

const MAP: &str = "[[interface]]\nname = \"x\"\nprotocol = \"cxl-68b\"\ndir = \"down\"\nclock = \"c\"\ndata = \"d\"\n";

/// A wave with a clock and 544 bits of data.
fn wave(header: &str, body: &str) -> String {
    let vars = "$var wire 1 ! c $end\n$var wire 544 \" d $end\n";
    format!("{header}$scope module t $end\n{vars}$upscope $end\n$enddefinitions $end\n#0\n0!\nb0 \"\n#5\n1!\n{body}")
}

const PS: &str = "$timescale 1ps $end\n";

// ---- memory ------------------------------------------------------------------------------------------------------------

/// The most accesses that a setting allows cost no more than few of them.
#[test]
fn long_programs_are_made_as_they_are_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs: &[&[&str]] = &[
        &["bias-flip", "--set", "core.accesses=16777216"],
        &["cxl-cache-pair", "--set", "core.accesses=16777216", "--set", "core.pattern=false-sharing"],
        &["hdm-db-share", "--set", "uio.accesses=16777216"],
        &["cxl68-expander", "--set", "host.accesses=16777216"],
        &["cxlio-enumerate", "--set", "mem.accesses=16777216", "--set", "link.cachemem=on"],
    ];
    for run in runs {
        let (status, _, err) = within_512_mib(dir.path(), &[&["run"], *run, &["--cycles", "10"]].concat());
        assert_eq!(status, 0, "{run:?}: {err}");
    }
}

#[test]
fn inputs_without_end_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let refused = |args: &[&str], expected: &str| is_refused(&within_512_mib(dir.path(), args), expected);
    refused(&["diff", "/dev/zero", "/dev/zero"], "/dev/zero:1:1048577: found more than 1048576 bytes in a line");
    refused(&["run", "cxl68-expander", "--stimulus", "/dev/zero"], "/dev/zero:1: found more than 65536 bytes");
    refused(&["litmus", "/dev/zero"], "found more than 1048576 bytes");
    text_file(dir.path(), "map.toml", MAP);
    refused(&["inspect", "/dev/zero", "--map", "map.toml"], "expected a file");
    text_file(dir.path(), "w.vcd", wave(PS, ""));
    refused(&["inspect", "w.vcd", "--map", "/dev/zero"], "found more than 1048576 bytes");
    // Lines of a trace: a thousand times the same compressed part.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let lines = "0,r,0,1\n".repeat(1 << 17);
    gzip.write_all(lines.as_bytes()).expect("in memory");
    text_file(dir.path(), "bomb.gz", gzip.finish().expect("in memory").repeat(1024));
    refused(
        &["run", "cxl68-expander", "--stimulus", "bomb.gz"],
        "bomb.gz:8388609: found more than 8388608 accesses, expected at most that in one file",
    );
}

#[test]
fn wide_and_deep_inputs_are_refused_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let begun = Instant::now();
    text_file(dir.path(), "map.toml", MAP);
    let refused = |wave: &str, expected: &str| {
        text_file(dir.path(), "w.vcd", wave);
        is_refused(&within_512_mib(dir.path(), &["inspect", "w.vcd", "--map", "map.toml"]), expected);
    };
    let wide = wave(PS, "").replace("544", "4294967295");
    refused(&wide, "line 4: found width `4294967295` of `d`, expected at most 1048576 bits");
    refused(
        &wave(&"$scope module m $end\n".repeat(100_000), ""),
        "line 1001: found a deeper scope, expected at most 1000",
    );
    let (start, programs) = ("I".repeat(100_000), "[\"Load\"],".repeat(100_000));
    let case = format!("kind = \"cxl-cache\"\nstart = \"{start}\"\nprograms = [{}]\n", &programs[..800_000]);
    text_file(dir.path(), "c.toml", case);
    is_refused(&within_512_mib(dir.path(), &["litmus", "c.toml"]), "c.toml");
    let case = format!("kind = \"cxl-cache\"\nstart = \"{}\"\nprograms = []\n", "I".repeat(100_000));
    text_file(dir.path(), "c.toml", case);
    is_refused(
        &within_512_mib(dir.path(), &["litmus", "c.toml"]),
        "c.toml: line 2: found `100000 letters`, expected at most 64",
    );
    let deep = "[".repeat(100_000);
    text_file(dir.path(), "deep.jsonl", format!("{deep}\n"));
    is_refused(&within_512_mib(dir.path(), &["diff", "deep.jsonl", "deep.jsonl"]), "deep.jsonl:1:");
    text_file(dir.path(), "deep.toml", format!("a = {deep}\n"));
    is_refused(&within_512_mib(dir.path(), &["litmus", "deep.toml"]), "deep.toml");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

// ---- values ------------------------------------------------------------------------------------------------------------

#[test]
fn times_of_a_wave_are_sound() {
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "map.toml", MAP);
    let inspect = |text: String| {
        text_file(dir.path(), "w.vcd", text);
        scalepool(dir.path(), &["inspect", "w.vcd", "--map", "map.toml", "--json"])
    };
    assert_eq!(inspect(wave(PS, "#7\n0!\n")).0, 1, "a flit of zeros breaks rules");
    is_refused(&inspect(wave(PS, "#-1\n0!\n")), "line 12: found time `-1`, expected a whole number");
    is_refused(&inspect(wave(PS, "#18446744073709552\n0!\n")), "before 2^64 fs");
    is_refused(&inspect(wave(PS, "#4\n0!\n#10\n1!\n")), "found time 4 behind time 5, expected times that never fall");
    is_refused(&inspect(wave("$timescale 0 ps $end\n", "")), "found timescale `0ps`");
}

#[test]
fn numbers_of_a_map_do_not_wrap() {
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "w.vcd", wave(PS, ""));
    let inspect = |map: String| {
        text_file(dir.path(), "map.toml", map);
        scalepool(dir.path(), &["inspect", "w.vcd", "--map", "map.toml"])
    };
    let most = u64::MAX;
    for range in [format!("{most}:{most}"), format!("{most}:0"), format!("{most}")] {
        let found = inspect(format!("{MAP}valid = \"d[{range}]\"\n"));
        is_refused(&found, &format!("found `d[{range}]`, expected a part of `t.d[543:0]`"));
    }
    let up = MAP.replace("\"x\"", "\"y\"").replace("down", "up");
    let link = |flits: u64| {
        format!("{MAP}{up}[[link]]\nname = \"e\"\nsends = \"x\"\nreceives = \"y\"\nreaction_flits = {flits}\n")
    };
    assert_eq!(inspect(link(1 << 20)).0, 1);
    is_refused(&inspect(link((1 << 20) + 1)), "reaction_flits: found 1048577, expected at most 1048576 units");
    is_refused(&inspect(link(most)), "reaction_flits");
}

/// More credits than 16 bits count.
#[test]
fn the_largest_data_buffers_of_ualink() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = ["run", "ualink-pair", "--set", "link.vc_data=16384", "--set", "traffic.operations=20"];
    let (status, out, err) = scalepool(dir.path(), &args);
    assert_eq!(status, 0, "{out}{err}");
}

// ---- what is said where --------------------------------------------------------------------------------------------------

/// The reader of waves wonders at some files on stdout, where JSON lines stand.
#[test]
fn every_line_of_inspect_is_json() {
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "map.toml", MAP);
    for body in ["#7\n0!\n", "#7\n$comment time $end\n0!\n#7\n1!\n"] {
        text_file(dir.path(), "w.vcd", wave(PS, body));
        let (_, out, err) = scalepool(dir.path(), &["inspect", "w.vcd", "--map", "map.toml", "--json", "--all"]);
        assert!(!out.is_empty(), "{err}");
        out.lines()
            .for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{line}: {e}"))));
    }
}

/// Nobody can say which of two equal keys counts.
#[test]
fn a_key_twice_is_no_equal_trace() {
    let dir = tempfile::tempdir().expect("a folder");
    let head = "{\"format\":\"scalepool-trace\",\"format_version\":1}\n";
    text_file(dir.path(), "a.jsonl", format!("{head}{{\"where\":\"x\",\"id\":1}}\n"));
    text_file(dir.path(), "b.jsonl", format!("{head}{{\"where\":\"y\",\"where\":\"x\",\"id\":1}}\n"));
    is_refused(&scalepool(dir.path(), &["diff", "a.jsonl", "b.jsonl"]), "b.jsonl:2:");
    assert_eq!(scalepool(dir.path(), &["diff", "a.jsonl", "a.jsonl"]).0, 0);
}

// ---- files -------------------------------------------------------------------------------------------------------------

const RUN: [&str; 4] = ["run", "cxl68-expander", "--set", "host.accesses=4"];

/// No output takes the place of an input, however either is spelled.
#[test]
fn a_link_to_an_input_is_the_input() {
    let dir = tempfile::tempdir().expect("a folder");
    let stimulus = "0,read,0x0,64\n";
    text_file(dir.path(), "in.csv", stimulus);
    symlink("in.csv", dir.path().join("soft")).expect("a link");
    fs::hard_link(dir.path().join("in.csv"), dir.path().join("hard")).expect("a link");
    for (input, output) in [("in.csv", "soft"), ("in.csv", "hard"), ("soft", "in.csv"), ("soft", "hard")] {
        for option in ["--trace", "--vcd", "--fst"] {
            let args = ["run", "cxl68-expander", "--stimulus", input, option, output];
            is_refused(&scalepool(dir.path(), &args), &format!("{output}: found an input of this run"));
        }
    }
    assert_eq!(fs::read_to_string(dir.path().join("in.csv")).expect("it is there"), stimulus);
    // The files of GTKWave are outputs too.
    fs::create_dir(dir.path().join("q.codes")).expect("a folder");
    fs::rename(dir.path().join("in.csv"), dir.path().join("q.codes/in.csv")).expect("it moves");
    let args = ["run", "cxl68-expander", "--stimulus", "q.codes/in.csv", "--vcd", "q.vcd"];
    is_refused(&scalepool(dir.path(), &args), "q.codes: found an input of this run");
    fs::rename(dir.path().join("q.codes/in.csv"), dir.path().join("q.gtkw")).expect("it moves");
    let args = ["run", "cxl68-expander", "--stimulus", "q.gtkw", "--vcd", "q.vcd"];
    is_refused(&scalepool(dir.path(), &args), "q.gtkw: found an input of this run");
}

#[test]
fn outputs_are_judged_together_before_the_run() {
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "here", "");
    symlink("here", dir.path().join("there")).expect("a link");
    symlink("nowhere", dir.path().join("lost")).expect("a link");
    let before = names(dir.path());
    let cases: &[(&[&str], &str)] = &[
        (&["--vcd", "here", "--trace", "there"], "there: found another output of this run"),
        (&["--vcd", "b.vcd", "--trace", "b.codes"], "b.codes: found another output of this run"),
        (&["--vcd", "b.vcd", "--trace", "b.gtkw"], "b.gtkw: found another output of this run"),
        (&["--vcd", "b.vcd", "--fst", "./b.vcd"], "./b.vcd: found another output of this run"),
        (&["--trace", "lost"], "lost: found a link to nothing, expected a file, or a link to one"),
        (&["--trace", "."], ".: found a folder, expected a file"),
    ];
    for (outputs, expected) in cases {
        is_refused(&scalepool(dir.path(), &[&RUN[..], outputs].concat()), expected);
        assert_eq!(names(dir.path()), before, "{outputs:?} left something behind");
    }
    text_file(dir.path(), "b.codes", "mine");
    is_refused(&scalepool(dir.path(), &[&RUN[..], &["--vcd", "b.vcd"]].concat()), "b.codes: found a file");
    // Where stdout goes is an output as well.
    let shell = format!("exec '{PROGRAM}' run cxl68-expander --set host.accesses=4 --trace out > out");
    let found = ended(Command::new("sh").args(["-c", &shell]).current_dir(dir.path()), &[]);
    is_refused(&found, "out: found the file that standard output or standard error goes to");
}

/// Temporary files have names of their own: nothing that stands there is written or removed.
#[test]
fn files_of_others_stay() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |name: &str| dir.path().join(name);
    let stimulus = "0,read,0x0,64\n";
    text_file(dir.path(), "q.vcd.part", stimulus);
    let args = ["run", "cxl68-expander", "--stimulus", "q.vcd.part", "--vcd", "q.vcd"];
    assert_eq!(scalepool(dir.path(), &args).0, 0);
    assert_eq!(fs::read_to_string(file("q.vcd.part")).expect("it is there"), stimulus);
    text_file(dir.path(), "precious", "mine");
    symlink("precious", file("t.jsonl.part")).expect("a link");
    assert_eq!(scalepool(dir.path(), &[&RUN[..], &["--trace", "t.jsonl"]].concat()).0, 0);
    assert_eq!(fs::read_to_string(file("precious")).expect("it is there"), "mine");
    fs::create_dir(file(".z.new")).expect("a folder");
    text_file(dir.path(), ".z.new/mine", "mine");
    for _ in 0..2 {
        let args = ["golden", "--out", "z", "--protocol", "nvlink", "--count", "1"];
        assert_eq!(scalepool(dir.path(), &args).0, 0);
        assert_eq!(fs::read_to_string(file(".z.new/mine")).expect("it is there"), "mine");
    }
    let known = [".z.new", "precious", "q.codes", "q.gtkw", "q.vcd", "q.vcd.part", "t.jsonl", "t.jsonl.part", "z"];
    assert_eq!(names(dir.path()), known);
    // A link as output stays a link: the file that it names is replaced.
    text_file(dir.path(), "real", "old");
    symlink("real", file("link")).expect("a link");
    assert_eq!(scalepool(dir.path(), &[&RUN[..], &["--trace", "link"]].concat()).0, 0);
    assert!(file("link").is_symlink());
    assert!(fs::read_to_string(file("real")).expect("it is there").starts_with("{\"format\":\"scalepool-trace\""));
}

/// Nobody writes to a pipe that stands where a file of a set should.
#[test]
fn a_check_of_vectors_waits_for_nobody() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |name: &str| dir.path().join(name);
    assert_eq!(scalepool(dir.path(), &["golden", "--out", "z", "--protocol", "nvlink", "--count", "1"]).0, 0);
    for name in ["z/SHA256SUMS", "z/MANIFEST.toml"] {
        fs::remove_file(file(name)).expect("it was there");
        assert!(Command::new("mkfifo").arg(file(name)).status().expect("it starts").success());
        let found = scalepool(dir.path(), &["golden", "--check", "z"]);
        is_refused(&found, &format!("{name}: cannot read: found a folder, a pipe or a device, expected a file"));
    }
}

/// A signal leaves nothing behind and ends the program as it ends any other.
#[test]
fn signals_clean_up() {
    use std::os::unix::process::ExitStatusExt;
    let dir = tempfile::tempdir().expect("a folder");
    text_file(dir.path(), "t.jsonl", "old");
    let long: &[&str] =
        &["run", "cxl68-expander", "--set", "host.accesses=16000000", "--trace", "t.jsonl", "--vcd", "w.vcd"];
    let vectors: &[&str] = &["golden", "--out", "z", "--count", "10000"];
    for (args, signal, number) in [(long, "-INT", 2), (long, "-TERM", 15), (vectors, "-HUP", 1)] {
        // Tests that `nohup` started ignore SIGHUP, and what they start would too.
        let mut run = Command::new("env")
            .args(["--default-signal=HUP,INT,TERM", PROGRAM])
            .args(args)
            .current_dir(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let begun = Instant::now();
        let is_under_way = || names(dir.path()).iter().any(|name| name.starts_with(".scalepool."));
        while !is_under_way() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{args:?} writes nothing");
            std::thread::sleep(Duration::from_millis(10));
        }
        let id = run.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("it starts").success());
        let status = run.wait().expect("it ends");
        let mut err = String::new();
        run.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        assert_eq!(status.signal(), Some(number), "{args:?}: {status} {err}");
        assert_eq!(names(dir.path()), ["t.jsonl"], "{args:?} {signal} left something behind");
        assert_eq!(fs::read_to_string(dir.path().join("t.jsonl")).expect("it is there"), "old");
    }
}
