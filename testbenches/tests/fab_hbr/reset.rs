//! Resets while a system runs (`fabric` §1.4): whom they reach, and that they leave nothing open.

use super::manager::{of_the_other_host, with};
use super::systems::{POOLED, count, on_threads, refused};
use scalepool::scenario::report::ScenarioReport;

/// `pooled-pair`, whose hosts read, with a reset.
fn reset(at: &str, what: &str) -> ScenarioReport {
    let command = format!("{{ at = \"{at}\", command = \"reset\", {what} }}");
    let report = with(&command, &["host.accesses=6000", "host.pattern=reads"]);
    // The run has come to its end with nothing open, and every byte was as written.
    assert_eq!(report.violations, [], "{at} {what}");
    assert_eq!(count(&report, "switch", "commands refused"), 0, "{at} {what}");
    report
}

/// For each host, whether requests of it were open and ended by their time-out. Most others got their bytes.
fn noticed(report: &ScenarioReport) -> [bool; 2] {
    ["host[0]", "host[1]"].map(|host| {
        let of = |name| count(report, host, name);
        let (lost, unmapped) = (of("requests timed out"), of("reads not decoded"));
        assert!(lost + unmapped < of("reads") / 2, "{host}: the reset does not end, {lost} and {unmapped}");
        // An unmapped read brings bytes, those that are all ones.
        assert_eq!(of("reads") * 64, of("bytes") + lost * 64, "{host}: each read ends once");
        lost > 0
    })
}

const UPSTREAM: &str = "scope = \"upstream\", vcs = 1";
const VPPB: &str = "scope = \"vppb\", vcs = 1";
const PORT: &str = "scope = \"port\"";
const SWITCH: &str = "scope = \"switch\"";

/// Whether a reset reaches the hosts that it is to reach and no others, at three times.
fn reaches(what: &str, hosts: [bool; 2]) -> bool {
    ["3 us", "10 us", "10003 ns"].into_iter().all(|at| noticed(&reset(at, what)) == hosts)
}

/// The whole switch: everybody behind it.
#[test]
fn fab_rst_01_p() {
    assert!(reaches(SWITCH, [true, true]));
}

#[test]
fn fab_rst_01_n() {
    assert!(!reaches(UPSTREAM, [true, true]), "a reset that leaves a hierarchy out is seen");
}

/// PERST# of an upstream port: the logical device of its hierarchy, and not that of the other one.
#[test]
fn fab_rst_02_p() {
    assert!(reaches(UPSTREAM, [false, true]));
    assert!(reaches("scope = \"upstream\"", [true, false]));
}

#[test]
fn fab_rst_02_n() {
    assert!(!reaches(PORT, [false, true]), "a reset that the other hierarchy notices is seen");
}

/// A hot reset of an upstream port, or SBR in its vPPB, is the same: the device of another port of the hierarchy is reset too.
#[test]
fn fab_rst_03_p() {
    let twice = "scope = \"upstream\", vcs = 1 }, { at = \"14 us\", command = \"reset\", scope = \"upstream\", vcs = 1";
    assert_eq!(noticed(&reset("10 us", twice)), [false, true]);
}

#[test]
fn fab_rst_03_n() {
    assert!(!reaches("scope = \"upstream\", vcs = 0", [false, true]), "a reset of the other hierarchy is seen");
}

/// SBR in one vPPB: what it is bound to.
#[test]
fn fab_rst_04_p() {
    assert!(reaches(VPPB, [false, true]));
}

#[test]
fn fab_rst_04_n() {
    assert!(!reaches(SWITCH, [false, true]), "a reset of more than that is seen");
}

/// The manager resets a port: all of its logical devices.
#[test]
fn fab_rst_05_p() {
    assert!(reaches(PORT, [true, true]));
}

#[test]
fn fab_rst_05_n() {
    assert!(!reaches(VPPB, [true, true]), "a reset of one logical device alone is seen");
}

/// The reset of a logical device leaves the link up and the other logical device alone, record by record.
#[test]
fn fab_rst_07_p() {
    let resets = ["4 us", "5 us", "6 us"].map(|at| format!("{{ at = \"{at}\", command = \"reset\", vcs = 1 }}"));
    assert!(of_the_other_host(&resets.join(", "), &[]) == of_the_other_host("", &[]));
}

#[test]
fn fab_rst_07_n() {
    assert!(!reaches(PORT, [false, true]), "a reset that reaches the other logical device is seen");
}

#[test]
fn resets_are_the_same_on_any_number_of_threads() {
    let text = POOLED
        .replace("preset = \"cxl_switch\"", "commands = [{ at = \"5 us\", command = \"reset\", scope = \"port\" }]")
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    let [one, two] = [1, 2].map(|threads| on_threads(&text, &["host.accesses=1500"], threads).json());
    assert_eq!(one, two);
}

#[test]
fn fields_that_a_reset_has_no_use_for_are_refused() {
    for (command, expected) in [
        ("command = \"reset\", scope = \"switch\", vcs = 1", "found vcs of a reset with scope = \"switch\""),
        ("command = \"reset\", scope = \"port\", vppb = 1", "found vppb of a reset with scope = \"port\""),
        ("command = \"reset\", scope = \"upstream\", port = 1", "found port of a reset with scope = \"upstream\""),
        ("command = \"reset\", ld = 1", "found ld of a reset with scope = \"vppb\""),
        ("command = \"reset\", option = \"surprise\"", "found option of a reset"),
        ("command = \"unbind\", scope = \"port\"", "of a command that resets nothing"),
    ] {
        let text = POOLED.replace("preset = \"cxl_switch\"", &format!("commands = [{{ at = \"5 us\", {command} }}]"));
        let found = refused(&text);
        assert!(found.contains(expected), "{command}: {found}");
    }
}
