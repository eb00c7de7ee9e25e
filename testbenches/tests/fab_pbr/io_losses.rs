//! Root complexes whose accesses end without data: links that are lost and resets that come while they walk, write, and ask for a reset or
//! a flush. What the description declares breaks no rule where `failures = "counted"`, and nothing is made of answers that did not come.

use crate::fab_hbr::systems::{count, run};
use scalepool::nodes::io::walk::{Log, Windows, enumerate};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

const HOST: &str = r#"
format = 1
[system]
name = "losses"
about = "one root and one device, with switches between"
[clock]
host = { period = "500 ps" }
switch = { period = "1 ns" }
[component.host]
kind = "cxl.root"
clock = "host"
mode = "cxl-256b"
failures = "counted"
"#;
const DEVICE: &str = r#"
[component.device]
kind = "cxl.io-device"
clock = "host"
mode = "cxl-256b"
"#;
const EDGES: &str = r#"
[component.back]
kind = "cxl.switch.io-pbr"
clock = "switch"
ports = 1
fabric = 1
[link.host]
kind = "cxl-io"
between = ["host.link", "front.usp[0]"]
[link.isl]
kind = "cxl-io"
between = ["front.isl[0]", "back.isl[0]"]
[link.device]
kind = "cxl-io"
between = ["back.dsp[0]", "device.link"]
"#;
const ALONE: &str = r#"
[link.host]
kind = "cxl-io"
between = ["host.link", "front.usp[0]"]
[link.device]
kind = "cxl-io"
between = ["front.dsp[0]", "device.link"]
"#;
const FRONT: &str = "[component.front]\nkind = \"cxl.switch.io-pbr\"\nclock = \"switch\"\nhosts = 1\n";

/// Two edges with a link between; more settings of the root and of its edge.
fn with(root: &str, front: &str) -> String {
    format!("{HOST}accesses = 20\n{root}\n{FRONT}fabric = 1\n{front}\n{DEVICE}{EDGES}")
}

/// One switch between.
fn alone(root: &str, front: &str) -> String {
    format!("{HOST}{root}\n{FRONT}ports = 1\n{front}\n{DEVICE}{ALONE}")
}

fn good(text: &str) -> ScenarioReport {
    let report = run(text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(report.violations, [], "{text}");
    report
}

/// What a walk finds, in the order of the report.
const FOUND: [&str; 8] = [
    "functions",
    "capabilities",
    "extended capabilities",
    "DVSECs of CXL",
    "BARs",
    "BARs [bytes]",
    "memory ranges",
    "memory ranges [bytes]",
];

fn found(report: &ScenarioReport) -> [u64; 8] {
    FOUND.map(|name| count(report, "host", name))
}

/// Judges a walk that was cut short: it finds no more than a whole one.
fn is_part(report: &ScenarioReport, whole: [u64; 8], text: &str) {
    let all = found(report);
    assert!(all.iter().zip(whole).all(|(found, most)| *found <= most), "{all:?} of {whole:?}\n{text}");
}

/// Wherever a walk is when its link is lost: it goes on without the device, and finds nothing that is not there. The link may be lost
/// before the switches know each other, and the edge may answer or be silent.
#[test]
fn a_walk_over_a_lost_link_makes_nothing_of_missing_answers() {
    let whole = found(&good(&with("", "")));
    let mut unfinished = 0;
    let times = ["0", "1", "3.75", "14", "20", "27.5", "30", "36.5", "40", "45"];
    let edges = ["ur_on_unknown = \"on\"", ""];
    let reroutes = ["", ", rerouted_after = \"0 us\""];
    for (at, (edge, reroute)) in times.iter().flat_map(|at| edges.into_iter().zip(reroutes).map(move |way| (at, way))) {
        let text = with("", &format!("{edge}\nlost = [{{ isl = 0, at = \"{at} us\"{reroute} }}]"));
        let report = good(&text);
        is_part(&report, whole, &text);
        let [ended, timed_out, refused] =
            ["functions not walked to their end", "configuration requests timed out", "configuration requests refused"]
                .map(|name| count(&report, "host", name));
        assert!(ended == 0 || timed_out + refused > 0, "{ended} {timed_out} {refused}\n{text}");
        unfinished += ended;
    }
    assert!(unfinished > 4, "{unfinished}");
}

/// A reset that comes while the root walks ends that walk; after it the root finds all.
#[test]
fn a_reset_in_the_middle_of_a_walk_is_no_value() {
    let whole = found(&good(&with("", "")));
    for at in [2, 14, 20, 29, 36] {
        let root = format!("rest_at = \"{at} us\"\nrescan_at = \"{} us\"", at + 60);
        let front = format!("ur_on_unknown = \"on\"\nreset_hold = \"1 us\"\nresets = [{{ at = \"{at} us\" }}]");
        let report = good(&with(&root, &front));
        assert_eq!(found(&report), whole, "{at}");
        let accesses: u64 = ["memory reads", "memory writes"].map(|name| count(&report, "host", name)).iter().sum();
        assert_eq!(accesses, 20, "{at}");
    }
}

/// Where failures are not counted, a walk that ends early breaks a rule.
#[test]
fn a_walk_that_ends_early_is_wrong_where_nothing_may_fail() {
    let text =
        with("", "ur_on_unknown = \"on\"\nlost = [{ isl = 0, at = \"20 us\" }]").replace("\"counted\"", "\"broken\"");
    let report = run(&text, &[]).expect("it runs");
    assert!(report.violations.iter().any(|one| one.violation.rule == "SIM-E2E-03"), "{:?}", report.violations);
}

/// A device that says of every register that it is all ones: sizes without room for them are not placed, and nothing overflows.
#[test]
fn sizes_without_room_are_not_placed() {
    let windows = Windows { bus: 1, mmio: 1 << 36, memory: 1 << 40, max_payload_bytes: 256 };
    let mut log = Log::default();
    let found = loop {
        let access = match enumerate(&mut log, &windows) {
            Ok(found) => break found,
            Err(pause) => pause.0,
        };
        log.answer(Some(match access.register {
            0 => 0x1234_8086,
            0xc => 0,
            // The DVSEC of CXL devices, the only extended capability.
            0x100 => 0x0001_0023,
            0x104 => 0x03c0_1e98,
            0x108 => 0xffff_0000,
            _ => u32::MAX,
        }));
    };
    assert_eq!(found.dvsecs, [(0, 0x3c)]);
    assert!(found.ranges.is_empty() && found.bars.is_empty() && found.unanswered.is_empty(), "{found:?}");
}

/// Writes that were on their way when a reset came are lost: what is there is not known until it is written again.
#[test]
fn bytes_of_writes_lost_in_a_reset_are_unknown() {
    for (rest, seed) in [("35 us", 1), ("34.8 us", 3)] {
        let root = format!("accesses = 3000\noutstanding = 32\nrest_at = \"{rest}\"\nrescan_at = \"65 us\"");
        let text = alone(&root, "resets = [{ usp = 0, at = \"35 us\" }]");
        let request = ScenarioRequest { description: Some(text.clone()), seed, ..ScenarioRequest::default() };
        let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(report.violations, [], "{rest}");
        let accesses: u64 = ["memory reads", "memory writes"].map(|name| count(&report, "host", name)).iter().sum();
        assert_eq!(accesses, 3000, "{rest}");
    }
}

/// The wait for the next release is a timer: a reset over a lost link is given up after ten, however little else there is.
#[test]
fn a_reset_over_a_link_that_was_lost_first_does_not_stall() {
    let report = good(&with("", "lost = [{ isl = 0, at = \"1 us\" }]\nresets = [{ usp = 0, at = \"2 us\" }]"));
    assert_eq!(count(&report, "front", "resets given up"), 1);
}

/// A reset or a flush that a lost link keeps from the device is given up, and the host gets the answer of the others.
#[test]
fn power_requests_over_a_lost_link_are_given_up_and_counted() {
    for (power, at, reroute) in [
        ("reset", "40 us", ""),
        ("flush", "40 us", ""),
        ("reset", "0 us", ""),
        ("flush", "20 us", ", rerouted_after = \"1 us\""),
    ] {
        let text = with(
            &format!("power = \"{power}\""),
            &format!("ur_on_unknown = \"on\"\nlost = [{{ isl = 0, at = \"{at}\"{reroute} }}]"),
        );
        let report = good(&text);
        assert!(count(&report, "host", "power requests answered") > 0, "{power} {at}");
        let given_up = count(&report, "front", "power requests given up");
        assert_eq!(given_up > 0, reroute.is_empty(), "{power} {at}: {given_up}");
    }
}
