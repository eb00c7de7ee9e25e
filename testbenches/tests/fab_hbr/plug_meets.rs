//! Several things that happen to one port at a time, in systems: a removal that meets a link that is down or a reset, binds meanwhile,
//! a containment that meets the loss of its link (`fabric` §1.2, MLD-7, MLD-10).

use super::plug_traffic::{run_with, system};
use super::systems::{count, refused};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;

/// Commands: when, what, and the rest of the entry.
type Commands = &'static [(&'static str, &'static str, &'static str)];

/// A run with commands, each of them `"2 us", "unbind", rest`.
fn with(is_shared: bool, commands: &[(&str, &str, &str)], set: &[&str]) -> ScenarioReport {
    run_with(system(is_shared, &spelled(commands)), set, 1, Outputs::default())
}

fn spelled(commands: &[(&str, &str, &str)]) -> String {
    let one = |(at, command, rest): &(&str, &str, &str)| format!("{{ at = \"{at}\", command = \"{command}\"{rest} }}");
    commands.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn found(report: &ScenarioReport) -> Vec<(&str, &str)> {
    report.violations.iter().map(|one| (one.violation.rule, one.violation.found.as_str())).collect()
}

const SET: &[&str] = &["host.accesses=2500"];
const HOST_0: &str = ", vcs = 0";
const HOST_1: &str = ", vcs = 1";

/// Every host has agreed, so that both are unbound, whatever has happened to them in between.
#[test]
fn a_removal_comes_to_its_end_over_a_link_that_is_down_and_in_a_reset() {
    let between: [Commands; 4] = [
        &[],
        &[("2 us", "link-down", "")],
        &[("2090 ns", "reset", HOST_0)],
        &[("2090 ns", "reset", HOST_1), ("2095 ns", "link-down", "")],
    ];
    for happens in between {
        let ready = [("2100 ns", "ready", HOST_0), ("2150 ns", "ready", HOST_1)];
        let commands = [&[("1 us", "attention", "")][..], happens, &ready].concat();
        let report = with(true, &commands, SET);
        assert_eq!(found(&report), [], "{happens:?}");
        assert_eq!(count(&report, "switch", "vPPBs unbound"), 2, "{happens:?}");
    }
}

/// A device is bound while it is not there: that binding is none of the device that was taken out.
#[test]
fn a_logical_device_is_bound_while_its_device_is_away() {
    let commands = [("1 us", "remove", ""), ("2 us", "bind", ", vcs = 1, ld = 1"), ("3 us", "insert", "")];
    let report = with(true, &commands, SET);
    assert_eq!(found(&report), []);
    assert_eq!(["vPPBs unbound", "vPPBs bound"].map(|name| count(&report, "switch", name)), [2, 1]);
}

/// Logical devices that are not there are refused in every bind, not in the first one of a vPPB alone.
#[test]
fn fab_bnd_07_n9() {
    for (is_shared, port, expected) in [
        (false, ", port = 1, ld = 3", "vPPB 0 of VCS 1: found LD 3 at switch.dsp[1], expected none"),
        (true, ", ld = 9", "vPPB 0 of VCS 1: found LD 9 at switch.dsp[0], expected 0 to 1"),
    ] {
        let rest = format!(", vcs = 1{port}");
        let text = system(is_shared, &spelled(&[("2 us", "unbind", HOST_1), ("3 us", "bind", &rest)]));
        let found = refused(&text);
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

/// Answers that came later than a limit that is too short are no answers that a later reset awaits.
#[test]
fn a_reset_ends_although_a_limit_was_too_short_before() {
    let commands = [("4200 ns", "link-down", ", port = 1"), ("15500 ns", "reset", HOST_1)];
    let set = [
        "host.accesses=30",
        "host.outstanding=1",
        "component.host.stimulus.interval=2 us",
        "component.switch.drain_limit=0",
        "component.switch.link_training=0",
        "host.pattern=reads",
    ];
    let report = with(false, &commands, &set);
    assert_eq!(found(&report), []);
    assert_eq!(count(&report, "switch", "vPPBs reset"), 1);
    // One access at most comes while the vPPB is in reset.
    assert!(count(&report, "switch", "not bound") <= 1, "{}", count(&report, "switch", "not bound"));
}

/// The loss of its link ends no containment, and a vPPB whose link is down is refused for that.
#[test]
fn a_containment_outlasts_its_link() {
    let lost = |clears: &[(&str, &str, &str)]| {
        let commands = [&[("1 us", "dpc", HOST_1), ("2 us", "link-down", "")][..], clears].concat();
        let report = with(true, &commands, SET);
        assert_eq!(found(&report), [], "{clears:?}");
        (count(&report, "switch", "contained messages"), count(&report, "host[1]", "requests timed out"))
    };
    let (kept, cleared) = (lost(&[]), lost(&[("2300 ns", "dpc-clear", HOST_1)]));
    assert!(kept.0 > 10 * cleared.0.max(10) && kept.1 > cleared.1, "{kept:?} {cleared:?}");
    let down = ("2 us", "link-down", ", port = 0");
    for (is_shared, command, rest) in [(true, "dpc", HOST_1), (true, "viral", HOST_0), (false, "viral", HOST_0)] {
        let report = with(is_shared, &[down, ("2100 ns", command, rest)], SET);
        assert_eq!(found(&report), [("FAB-BND-07", "a link at port 0 that is down")], "{command}");
    }
    let report = with(true, &[("2 us", "reset", HOST_1), ("2 us", "dpc", HOST_1)], SET);
    assert_eq!(found(&report), [("FAB-BND-07", "an unbind or a reset of vPPB 0 of VCS 1 under way")]);
}

/// Who is being unbound is asked for nothing; who is bound meanwhile is.
#[test]
fn a_removal_asks_who_is_bound() {
    let draining = [("2 us", "unbind", HOST_1), ("2001 ns", "attention", ""), ("4 us", "ready", HOST_0)];
    let report = with(true, &draining, SET);
    assert_eq!(found(&report), []);
    assert_eq!(count(&report, "switch", "vPPBs unbound"), 2);
    let late = [
        ("2 us", "unbind", HOST_1),
        ("4 us", "attention", ""),
        ("5 us", "bind", ", vcs = 1, ld = 1"),
        ("6 us", "ready", HOST_0),
        ("9 us", "ready", HOST_1),
    ];
    for (commands, unbound) in [(&late[..4], 1), (&late[..], 3)] {
        let report = with(true, commands, SET);
        assert_eq!(found(&report), []);
        assert_eq!(count(&report, "switch", "vPPBs unbound"), unbound);
    }
    let nobody = [("2 us", "remove", ", port = 1"), ("3 us", "attention", ", port = 1")];
    assert_eq!(found(&with(false, &nobody, SET)), [("FAB-BND-07", "no device at port 1")]);
}

/// An error needs a device, and the logical device that it is of.
#[test]
fn an_error_of_nobody_is_refused() {
    let cases: [(bool, Commands, &str); 4] = [
        (false, &[("2 us", "error", ", ld = 1")], "LD 1 at port 0"),
        (true, &[("2 us", "error", ", ld = 2")], "LD 2 at port 0"),
        (true, &[("2 us", "remove", ""), ("3 us", "error", "")], "no device at port 0"),
        (false, &[("2 us", "remove", ""), ("3 us", "error", "")], "no device at port 0"),
    ];
    for (is_shared, commands, expected) in cases {
        assert_eq!(found(&with(is_shared, commands, SET)), [("FAB-BND-07", expected)], "{commands:?}");
    }
    let signed = spelled(&[("2 us", "error", ", header = \"+a000001 00000002 00000003 00000004\"")]);
    assert!(refused(&system(true, &signed)).contains("expected four numbers of eight hexadecimal digits"));
}
