//! Memories with flash, codes and several ports in systems that run.

use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, RunError, ScenarioRequest};

/// A host that reads and writes a memory; `MEMORY` are keys of its table.
const PAIR: &str = r#"format = 1
[system]
name = "pair"
[clock]
core = { period = "500 ps" }
[component.host]
kind = "cxl.host"
clock = "core"
stimulus = { pattern = "mix", accesses = 400, region_lines = 64 }
[component.memory]
kind = "cxl.memory"
clock = "core"
size = "64 MiB"
MEMORY
[link.cxl]
kind = "cxl-68b"
between = ["host.cxl", "memory.cxl"]
"#;

/// Hosts that share a node, each in a part of it.
const NODE: &str = r#"format = 1
[system]
name = "node"
[clock]
core = { period = "500 ps" }
[component]
host = { kind = "cxl.host", count = 3, clock = "core", stimulus = { pattern = "mix", accesses = 300, region_lines = 64, base = "1 MiB" }, at = { 1 = { stimulus = { base = "2 MiB" } }, 2 = { stimulus = { base = "3 MiB" } } } }
node = { kind = "memory.node", clock = "core", size = "64 MiB", ports = 3, arbiter = "ARBITER", latency_cycles = 40, queue = 4 }
[link]
cxl = { kind = "cxl-256b", between = ["host[i].cxl", "node.cxl[i]"] }
"#;

pub fn try_text(text: &str) -> Result<ScenarioReport, RunError> {
    let request =
        ScenarioRequest { description: Some(text.to_owned()), seed: 1, threads: 1, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ())
}

pub fn run_text(text: &str) -> ScenarioReport {
    try_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn pair(memory: &str) -> ScenarioReport {
    try_text(&PAIR.replace("MEMORY", memory)).unwrap_or_else(|error| panic!("{memory}: {error}"))
}

fn refused(memory: &str) -> String {
    try_text(&PAIR.replace("MEMORY", memory)).expect_err(memory).to_string()
}

pub fn count(report: &ScenarioReport, name: &str) -> u64 {
    let json = report.json();
    json["counts"][name].as_u64().unwrap_or_else(|| panic!("no `{name}`: {json:?}"))
}

#[test]
fn presets_of_media_run() {
    let flash = pair("media = { preset = \"flash_ull\", buffer_size = \"64 KiB\" }");
    assert_eq!(flash.violations, []);
    assert_eq!((count(&flash, "flash reads"), count(&flash, "buffer misses")), (1, 1), "64 lines are a page");
    assert!(count(&flash, "buffer hits") > 300 && count(&flash, "media bytes") > 0);
    for media in [
        "preset = \"fixed\"",
        "preset = \"fixed\", latency = \"1 us\", bandwidth = 1",
        "preset = \"nvm_2400\"",
        "preset = \"ddr5_4800b\", buffer = \"hbm3_6400\", buffer_size = \"64 KiB\"",
    ] {
        assert_eq!(pair(&format!("media = {{ {media} }}")).violations, [], "{media}");
    }
    for (memory, expected) in [
        ("media = { preset = \"fixed\", buffer = \"hbm3_6400\" }", "expected a preset of one of these"),
        ("media = { preset = \"flash_mlc\", buffer_size = \"65 KiB\" }", "a set of 16 pages"),
        ("media = { preset = \"flash_slc\", kind = \"banks\" }", "expected one of them"),
    ] {
        let error = refused(memory);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn codes_correct_and_the_shadow_sees_what_they_do_not() {
    let upsets = "upset_every = 10, upset_bits";
    let good = pair(&format!("ecc = {{ scheme = \"secded\", {upsets} = 1 }}"));
    assert_eq!((good.violations.as_slice(), count(&good, "bits flipped")), (&[][..], 40));
    assert!(count(&good, "reads corrected") > 10);
    // Without a code nobody but the host's own copy of the bytes sees it.
    let silent = pair(&format!("ecc = {{ {upsets} = 1 }}"));
    assert!(silent.violations.iter().all(|found| found.place.starts_with("host")) && !silent.violations.is_empty());
    assert_eq!(count(&silent, "reads corrected"), 0);
    // In a die that corrects single bits the same flips vanish.
    assert_eq!(pair(&format!("ecc = {{ on_die = \"sec\", {upsets} = 1 }}")).violations, []);
    // Two bits of the first word of line 3 are lost, and the host gets poison.
    let lost = pair("ecc = { scheme = \"secded\", flips = [\"0xc0:0\", \"0xc0:1\"] }");
    assert_eq!(count(&lost, "lines lost"), 1);
    // A whole device is no loss for the symbol code.
    let device = pair("ecc = { scheme = \"symbol\", dead_device = 5 }");
    assert_eq!(device.violations, []);
    assert!(count(&device, "reads corrected") > 100);
    for (ecc, expected) in [
        ("flips = [\"0x4000000:0\"]", "below 0x4000000"),
        ("flips = [\"0:512\"]", "bits 0 to 511"),
        ("flips = [\"0\"]", "expected ADDRESS:BIT"),
        ("dead_device = 1", "expected scheme = \"symbol\""),
        ("scheme = \"secded\", dead_device = 5", "found `dead_device` with scheme = \"secded\""),
        ("dead_device = 5", "found `dead_device` with scheme = \"none\", expected scheme = \"symbol\""),
    ] {
        let error = refused(&format!("ecc = {{ {ecc} }}"));
        assert!(error.contains(expected), "{error}");
    }
}

/// With rows that close behind each line every line opens its own; with rows that stay open a line is counted once, or each burst
/// of it where these lie apart.
#[test]
fn rows_are_counted_by_the_lines_that_open_them() {
    let rows = |report: &ScenarioReport| ["row hits", "row misses", "row conflicts"].map(|name| count(report, name));
    for preset in ["ddr4_3200aa", "ddr5_4800b", "hbm3_6400"] {
        for depth in [1, 8, 64] {
            let media = format!("preset = \"{preset}\", refresh = \"none\", reads = {depth}, writes = {depth}");
            let text = PAIR.replace("accesses = 400, region_lines = 64", "accesses = 60, region_lines = 200000");
            let text = text.replace(
                "clock = \"core\"\nstimulus",
                "clock = \"core\"\noutstanding = 200\ncache = { size = 0 }\nstimulus",
            );
            let of = |more: &str| run_text(&text.replace("MEMORY", &format!("media = {{ {media}, {more} }}")));
            let closed = of("policy = \"closed\"");
            assert_eq!(closed.violations, []);
            let [hits, misses, conflicts] = rows(&closed);
            assert_eq!((hits, conflicts, misses + count(&closed, "forwarded reads")), (0, 0, 60), "{media}");
            for policy in ["open", "adaptive"] {
                let open = of(&format!("policy = \"{policy}\""));
                let all: u64 = rows(&open).iter().sum();
                assert_eq!(all + count(&open, "forwarded reads"), 60, "{media} {policy}");
                let has_hits = rows(&open)[0] > 30 || policy == "adaptive";
                assert!(has_hits, "{media} {policy}: lines in turn share rows");
            }
            let parts: u64 = rows(&of("map = \"robaracoch\"")).iter().sum();
            assert_eq!(parts, if preset == "hbm3_6400" { 120 } else { 60 }, "{media}: a burst of HBM3 is half a line");
        }
    }
}

#[test]
fn the_patrol_goes_on_beside_requests_and_ends_with_them() {
    let ecc =
        |scrub| format!("ecc = {{ scheme = \"secded\", scrub = \"{scrub}\", flips = [\"0x40:5\", \"0x80:570\"] }}");
    for media in ["", "media = { preset = \"ddr5_4800b\" }\n"] {
        let slow = pair(&format!("{media}{}", ecc("1 us")));
        let still = pair(&format!("{media}{}", ecc("0")));
        assert_eq!(slow.violations, []);
        let time = slow.json()["time_fs"].as_u64().expect("a time");
        let scrubbed = count(&slow, "lines scrubbed");
        assert!(scrubbed >= 2 && scrubbed <= time / 1_000_000_000, "{scrubbed} in {time} fs");
        assert!(count(&still, "lines scrubbed") == 0 && count(&still, "bits flipped") == 2);
    }
}

#[test]
fn several_hosts_share_a_node() {
    for arbiter in ["round-robin", "matrix", "weighted-round-robin", "strict-priority"] {
        let report = try_text(&NODE.replace("ARBITER", arbiter)).unwrap_or_else(|error| panic!("{arbiter}: {error}"));
        assert_eq!(report.violations, [], "{arbiter}");
        assert_eq!((count(&report, "port requests"), count(&report, "least port requests")), (900, 300), "{arbiter}");
    }
}
