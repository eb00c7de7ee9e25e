//! Memories with a fixed latency and with banks, behind a link: throughput by formula, full queues, ends of ranges, mistakes.

use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, RunError, ScenarioRequest};
use scalepool::system::description::Description;
use std::path::{Path, PathBuf};

/// Reads line after line over a link that is faster than the memory; both on a clock of 500 ps.
const PAIR: &str = r#"format = 1
[system]
name = "pair"
[clock]
host = { period = "500 ps" }
[component.host]
kind = "cxl.host"
clock = "host"
stimulus = { pattern = "reads", accesses = 1200 }
[component.memory]
kind = "cxl.memory"
clock = "host"
size = "1 GiB"
[link.cxl]
kind = "cxl-68b"
between = ["host.cxl", "memory.cxl"]
"#;
const ACCESSES: u64 = 1200;
/// Time for the first request to come and for the last answer to go, with the latency of the memory \[fs\].
const ENDS_FS: u64 = 500_000_000;

fn run_file(file: &Path, set: &[String]) -> Result<ScenarioReport, RunError> {
    let request = ScenarioRequest {
        scenario: file.display().to_string(),
        seed: 1,
        threads: 1,
        set: set.to_vec(),
        ..ScenarioRequest::default()
    };
    scenario::run(&request, &mut |_| ())
}

/// Runs a description; a line of keys goes into the table of the memory.
fn run(text: &str, memory: &str, set: &[&str]) -> ScenarioReport {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.toml");
    std::fs::write(&file, with(text, memory)).expect("it can be written");
    let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
    run_file(&file, &set).unwrap_or_else(|e| panic!("{memory}: {e}"))
}

fn with(text: &str, memory: &str) -> String {
    let size = if memory.contains("size =") { "" } else { "size = \"1 GiB\"\n" };
    text.replace("size = \"1 GiB\"\n", &format!("{size}{memory}\n"))
}

/// Everything was read, and rightly, in so much time for each access.
fn takes(memory: &str, per_access_fs: u64) {
    takes_in_all(memory, ACCESSES * per_access_fs);
}

fn takes_in_all(memory: &str, least: u64) {
    let report = run(PAIR, memory, &[]);
    assert_eq!(report.violations, [], "{memory}");
    assert_eq!(report.json()["counts"]["line accesses"], ACCESSES, "{memory}");
    let time = report.json()["time_fs"].as_u64().expect("a time");
    assert!((least..least + ENDS_FS).contains(&time), "{memory}: found {time} fs, expected {least} and a little more");
}

const NS: u64 = 1_000_000;

#[test]
fn banks_give_the_throughput_of_the_formula() {
    // Lines in turn over N banks of 100 ns: a line each 100/N ns, until the interval bounds it.
    for banks in [1, 2, 3, 4, 10] {
        takes(&format!("media = {{ kind = \"banks\", banks = {banks}, busy = \"100 ns\" }}"), 100 * NS / banks);
    }
    // 64 lines in a row in a bank, which hold up the other banks: only the first line of a row shares the time of the last one.
    let rows = "media = { kind = \"banks\", banks = 4, busy = \"100 ns\", interleave = 4096, queue = 1 }";
    takes_in_all(rows, (ACCESSES - ACCESSES / 64) * 100 * NS);
    takes("media = { kind = \"banks\", banks = 10, busy = \"100 ns\", interval = \"25 ns\" }", 25 * NS);
    takes("media = { interval = \"25 ns\" }", 25 * NS);
    // A bank is busy for whole cycles: 10.1 ns are 21 of them.
    takes("media = { kind = \"banks\", banks = 1, busy = \"10.1 ns\" }", 10_500_000);
}

#[test]
fn a_full_memory_holds_requests_up_and_loses_none() {
    // One request at a time takes its latency, 80 ns, and its time in the bank.
    takes("queue = 1", 80 * NS);
    takes("queue = 1\nmedia = { kind = \"banks\", busy = \"40 ns\" }", 120 * NS);
    takes("queue = 4", 20 * NS);
    takes("media = { kind = \"banks\", banks = 1, busy = \"40 ns\", queue = 1 }", 40 * NS);
}

#[test]
fn what_is_answered_out_of_order_is_right_on_every_link() {
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("systems/interleaved_memories.toml");
    let banks = ["kind=banks", "banks=3", "busy=90 ns", "interleave=128", "queue=2"];
    let set: Vec<String> = banks.iter().map(|set| format!("component.memory.media.{set}")).collect();
    assert_eq!(run_file(&map, &set).expect("it runs").violations, []);
    let media = "media = { kind = \"banks\", banks = 3, busy = \"90 ns\", queue = 2 }";
    for kind in ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"] {
        let text =
            PAIR.replace("cxl-68b", kind).replace("\"reads\"", "\"mix\"").replace("1200", "1200, region_lines = 40");
        for set in ["link.cxl.ber=0", "link.cxl.ber=1e-4"] {
            let report = run(&text, media, &[set]);
            assert_eq!(report.violations, [], "{kind} {set}");
            assert_eq!(report.json()["counts"]["line accesses"], ACCESSES, "{kind} {set}");
        }
    }
}

/// Presets of each standard.
const PRESETS: &[&str] = &["ddr4_3200aa", "ddr5_4800b", "lpddr5_6400", "hbm3_6400"];

#[test]
fn dram_answers_behind_a_link_and_its_commands_break_no_rule() {
    for preset in PRESETS {
        let media = format!("media = {{ preset = \"{preset}\" }}");
        let text = PAIR.replace("\"reads\"", "\"mix\"").replace("1200", "1200, region_lines = 4000");
        let report = run(&text, &media, &[]);
        // The monitor judges each command, the host each line that it reads.
        assert_eq!(report.violations, [], "{preset}");
        let json = report.json();
        let count = |name: &str| json["counts"][name].as_u64().unwrap_or_else(|| panic!("{preset}: no {name}"));
        assert_eq!(count("line accesses"), ACCESSES, "{preset}");
        let lines = count("row hits") + count("row misses") + count("row conflicts");
        assert_eq!(count("media bytes"), 64 * lines, "{preset}");
        assert!(lines + count("forwarded reads") >= ACCESSES && count("media bandwidth") > 0, "{preset}: {lines}");
    }
}

#[test]
fn a_read_of_dram_alone_takes_the_controller_and_the_arithmetic_of_its_preset() {
    // Accesses one after the other: with the memory's latency alone, and with DDR4 behind it.
    let with = |media: &str| {
        let text = PAIR.replace("accesses = 1200", "accesses = 1");
        let report = run(&text, media, &["component.host.outstanding=1"]);
        report.json()["latency_fs"]["max"].as_u64().expect("a latency")
    };
    // Front and back 20 ns, a closed bank 30 ns; each clock is at an edge of the others but for one of the device.
    let more = with("media = { preset = \"ddr4_3200aa\" }\nlatency_cycles = 160") - with("latency_cycles = 160");
    assert!((50 * NS..=51 * NS + NS / 2).contains(&more), "found {more} fs");
}

#[test]
fn both_ends_of_every_range_alone_and_together() {
    let banks = "media = { kind = \"banks\" }";
    let ends = [
        ["media.interval=0", "media.interval=1099511627776"],
        ["media.banks=1", "media.banks=4096"],
        ["media.interleave=64", "media.interleave=4096"],
        ["media.busy=1", "media.busy=1099511627776"],
        ["media.queue=1", "media.queue=65536"],
        ["queue=1", "queue=1048576"],
    ];
    let path = |set: &str| format!("component.memory.{set}");
    let mut runs: Vec<Vec<String>> = ends.iter().flatten().map(|set| vec![path(set)]).collect();
    runs.extend([0, 1].map(|end| ends.iter().map(|pair| path(pair[end])).collect()));
    for mut set in runs {
        set.extend(["component.host.stimulus.accesses=12", "component.host.stimulus.pattern=mix"].map(str::to_owned));
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let report = run(PAIR, banks, &set);
        assert_eq!(report.violations, [], "{set:?}");
        assert_eq!(report.json()["counts"]["line accesses"], 12, "{set:?}");
    }
}

#[test]
fn fixed_media_are_none() {
    let report = |memory: &str| run(PAIR, memory, &["component.host.stimulus.pattern=mix"]).json();
    assert_eq!(report("media = {}"), report(""));
    assert_eq!(report("media = { kind = \"fixed\", busy = \"48 ns\" }"), report(""));
}

#[test]
fn mistakes_have_their_places() {
    let cases = [
        (
            "media = { kind = \"bank\" }",
            "f.toml:14:18: component.memory.media.kind: found `bank`, expected fixed, banks",
        ),
        (
            "media = { bank = 3 }",
            "f.toml:14:11: component.memory.media.bank: found the key `bank`, expected one of kind, interval, banks",
        ),
        ("media = { banks = 0 }", "f.toml:14:19: component.memory.media.banks: found 0, expected 1 to 4096 [banks]"),
        ("media = { busy = 0 }", "component.memory.media.busy: found 0, expected 1 fs to 1.099511627776 ms"),
        ("media = { busy = \"3 KiB\" }", "a number with one of the units fs, ps, ns, us, ms or s"),
        ("media = { interleave = 65 }", "component.memory.media.interleave: found 65, expected 64, 128, 256"),
        ("media = { queue = 0 }", "component.memory.media.queue: found 0, expected 1 to 65536 [requests]"),
        (
            "media = { preset = \"ddr5_4800\" }",
            "component.memory.media.preset: found `ddr5_4800`, expected ddr4_3200aa, ddr5_4800b",
        ),
        (
            "media = { preset = \"hbm3_6400\", ranks = 2 }",
            "component.memory.media: ranks: found 2, expected 1: HBM has no gap between ranks",
        ),
        (
            "media = { preset = \"ddr4_3200aa\", refresh = \"per_bank\" }",
            "refresh: found per_bank, expected all or none: ddr4_3200aa has no refresh of banks",
        ),
        (
            "media = { preset = \"hbm3_6400\", map_bytes = 2048 }",
            "found an interleave of 2048 bytes, expected a multiple of 32",
        ),
        ("media = { preset = \"hbm3_6400\", kind = \"banks\" }", "found kind = \"banks\" with a preset"),
        ("media = { busy = \"500 ns\" }", "found `busy`, expected it only with kind = \"banks\""),
        ("media = { preset = \"hbm3_6400\", banks = 4 }", "found `banks`, expected it only with kind = \"banks\""),
        ("media = { bandwidth = 1 }", "found `bandwidth`, expected it only with preset = \"fixed\""),
        ("media = { channels = 4 }", "found `channels`, expected it only with a preset of DRAM or HBM"),
        (
            "media = { kind = \"banks\", hot = true }",
            "found `hot`, expected it only with a preset or a buffer of DRAM or HBM that is refreshed",
        ),
        (
            "media = { preset = \"ddr5_4800b\", lookup = \"1 ns\" }",
            "found `lookup`, expected it only with flash or `buffer`",
        ),
        ("ecc = { upset_bits = 3 }", "found `upset_bits`, expected it only with `upset_every`"),
        (
            "media = { preset = \"lpddr5_6400\", channels = 1 }\nsize = \"4 GiB\"",
            "component.memory.size: found 4294967296 bytes, expected at most 2147483648",
        ),
        (
            "media = \"banks\"",
            "f.toml:14:9: component.memory.media: found `banks`, expected a table with kind, interval",
        ),
    ];
    for (memory, expected) in cases {
        let description = Description::parse("f.toml", PathBuf::new(), &with(PAIR, memory)).expect("it is TOML");
        let found = description.resolve().map(|_| String::new()).unwrap_or_else(|e| e.to_string());
        assert!(found.contains(expected), "{memory}:\nfound    {found}\nexpected {expected}");
    }
}
