//! Class BR of the bridge in runs: a root complex reads and writes memory of accelerators behind a BAR, and judges every byte.

use crate::fab_hbr::systems::{count, on_threads, refused, run};
use scalepool::nodes::PlacedViolation;
use scalepool::scenario::report::ScenarioReport;

const UALINK: &str = include_str!("../../systems/bar_memory.toml");

/// The same system with GPUs.
fn nvlink() -> String {
    UALINK
        .replace("accel = { kind = \"ualink.accelerator\", count = 2, clock = \"accel\", traffic = { operations = 50, regions = 1 } }",
            "accel = { kind = \"nvlink.gpu\", count = 2, clock = \"bridge\", links = 1, traffic = { pattern = \"accesses\", requests = 100 } }")
        .replace("kind = \"ualink.switch\", clock = \"accel\"", "kind = \"nvlink.switch\", clock = \"bridge\"")
        .replace("accel = { period = \"640 ps\" } # ualink §1; the reference clock\n", "")
        .replace("bridge.ualink", "bridge.nvlink")
        .replace("kind = \"ualink\", order = \"relaxed\"", "kind = \"nvlink\"")
        .replace("].port[0]\", \"switch", "].link[0]\", \"switch")
}

fn sound(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

/// Reads behind the BAR bring what accelerators hold, writes are seen by later reads, over links of every kind and with errors.
#[test]
fn memory_of_accelerators_is_read_and_written_behind_a_bar() {
    for text in [UALINK.to_owned(), nvlink()] {
        for set in [
            &["root.accesses=200"][..],
            &["root.accesses=100", "bridge.bar_mode=cxl-68b"],
            &["root.accesses=100", "link.ber=1e-4"],
            &["root.accesses=40", "root.access_bytes=4096"],
        ] {
            let report = sound(&text, set);
            let of = |name| count(&report, "bridge", name);
            assert!(of("BAR reads") > 10 && of("BAR writes") > 10 && of("BAR accesses") > 50, "{set:?}");
            assert_eq!(of("BAR requests"), of("BAR reads") + of("BAR writes"));
            assert_eq!([of("BAR refused"), of("BAR writes lost"), of("BAR time-outs")], [0; 3], "{set:?}");
            assert_eq!(count(&report, "root", "BARs [bytes]"), 64 << 20);
        }
    }
}

/// Accelerators that answer each beat of a read by itself: the bridge waits for all of them (`ualink` §12).
#[test]
fn beats_of_accelerators_may_come_one_by_one() {
    for bytes in ["root.access_bytes=64", "root.access_bytes=4096"] {
        let set = ["component.accel.responses=single", "root.accesses=60", bytes];
        let report = sound(UALINK, &set);
        assert!(count(&report, "bridge", "BAR reads") > 10, "{set:?}");
        assert_eq!(count(&report, "bridge", "BAR refused"), 0, "{set:?}");
    }
    let merged = ["component.accel.responses=single", "component.ubridge.merge_inbound=on"];
    let report = sound(include_str!("../../systems/exported_hbm.toml"), &merged);
    assert!(count(&report, "ubridge", "inbound merged reads") > 0);
}

/// The UALink of the bridge goes down for 1 us: what was asked over it ends at once, requests that its port drops end as well, and all that
/// comes later is served. With a single identifier, which nobody can use until nothing can come for it any more, all is refused meanwhile.
#[test]
fn a_bridge_outlives_an_outage_of_its_ualink() {
    let text = UALINK
        .replace(", [\"bridge.x[0]\", \"switch.port[2]\"],\n] }", ",\n] }\nx = { kind = \"ualink\", order = \"relaxed\", outage = \"6 us\", between = [[\"bridge.x[0]\", \"switch.port[2]\"]] }")
        .replace("timeout = \"1 ms\" }", "timeout = \"1 ms\", failures = \"counted\" }");
    for is_one in [false, true] {
        let entries = format!("bridge.bar_entries={}", if is_one { 1 } else { 256 });
        let report = run(&text, &["root.accesses=1500", &entries]).expect("it runs");
        let links = |found: &&PlacedViolation| found.violation.text == "the link has left Up";
        assert_eq!(report.violations.iter().filter(links).count(), report.violations.len(), "{:?}", report.violations);
        assert!(count(&report, "bridge", "BAR time-outs") > 0, "{entries}: something was under way");
        assert_eq!(count(&report, "bridge", "BAR refused") > 100, is_one, "{entries}");
    }
}

/// Atomics of a root complex are performed by accelerators of both protocols, and give back what was there before.
#[test]
fn atomics_of_a_root_are_performed_behind_a_bar() {
    for text in [UALINK.to_owned(), nvlink()] {
        let report = sound(&text, &["root.accesses=300", "root.atomics=on"]);
        let [performed, asked] = [count(&report, "bridge", "BAR atomics"), count(&report, "root", "memory atomics")];
        assert!(performed == asked && asked > 40, "{performed} of {asked}");
    }
}

/// One access at a time, and as many as there may be: every request ends.
#[test]
fn a_bar_works_at_both_ends_of_its_ranges() {
    for set in [
        ["bridge.bar_entries=1", "bridge.inbound_entries=2", "root.outstanding=1024"],
        ["bridge.bar_entries=1023", "bridge.inbound_entries=1024", "root.outstanding=1024"],
        ["bridge.bar_entries=1", "bridge.inbound_entries=1024", "root.outstanding=1"],
    ] {
        sound(UALINK, &[&set[..], &["root.accesses=60", "root.access_bytes=4096"]].concat());
    }
}

/// Threads change nothing.
#[test]
fn a_bar_is_the_same_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| on_threads(UALINK, &["root.accesses=60"], threads).json());
    assert_eq!(one, two);
}

/// Who may not read gets CA, and is the only one who hears of it.
#[test]
fn reads_without_the_right_end_with_ca() {
    let text = UALINK.replace("class = \"BR\",", "class = \"BR\", rights = [\"0:w\"],");
    let report = run(&text, &["root.accesses=60"]).expect("a run");
    assert!(report.violations.iter().all(|broken| broken.violation.rule == "SIM-E2E-03"), "{:?}", report.violations);
    let [refused, reads] = [count(&report, "bridge", "BAR refused"), count(&report, "root", "memory reads")];
    assert!(refused == reads && reads > 10, "{refused} of {reads}");
}

/// Writes without the right have no effect and no answer: a root that counts failures takes the old value for right, another one does not. The
/// bridge says why.
#[test]
fn writes_without_the_right_leave_memory_as_it_is() {
    let text = UALINK.replace("class = \"BR\",", "class = \"BR\", rights = [\"0:r\"],");
    let counting = text.replace("accesses = 300", "failures = \"counted\", accesses = 300");
    let report = sound(&counting, &[]);
    let of = |name| count(&report, "bridge", name);
    assert!(of("BAR writes lost") == of("BAR writes") && of("BAR writes") > 50);
    assert_eq!([of("BAR requests without right"), of("BAR requests outside")], [of("BAR writes"), 0]);
    assert_eq!(["reads aborted", "reads unsupported"].map(|name| count(&report, "root", name)), [0, 0]);
    let report = run(&text, &[]).expect("a run");
    assert!(report.violations.iter().any(|broken| broken.violation.rule == "SIM-E2E-01"));
}

/// A read without the right ends with CA, which the root tells from UR.
#[test]
fn counted_reads_without_the_right_are_aborted() {
    let text = UALINK
        .replace("class = \"BR\",", "class = \"BR\", rights = [\"0:w\"],")
        .replace("accesses = 300", "failures = \"counted\", accesses = 60");
    let report = sound(&text, &[]);
    let [aborted, reads, unsupported, timed_out] =
        ["reads aborted", "memory reads", "reads unsupported", "reads timed out"]
            .map(|name| count(&report, "root", name));
    assert!(aborted == reads && reads > 10, "{aborted} of {reads}");
    assert_eq!([unsupported, timed_out], [0, 0]);
    assert_eq!(count(&report, "bridge", "BAR requests without right"), reads);
}

/// Accelerators that answer when their accesses were given up: writes count as lost and reads end with CA, and the run ends.
#[test]
fn accelerators_that_answer_too_late_stall_nobody() {
    let text = UALINK
        .replace("bar_ports = 1\n", "bar_ports = 1\nstages = { timeout_cycles = 100 }\n")
        .replace("accesses = 300", "failures = \"counted\", accesses = 30");
    let report = run(&text, &[]).expect("a run");
    let of = |name| count(&report, "bridge", name);
    assert!(of("BAR time-outs") > 0 && of("BAR late answers") > 0, "an accelerator takes longer than 100 cycles");
    assert!(of("BAR writes lost") > 0 && of("BAR refused") > 0);
    assert_eq!(of("BAR requests"), of("BAR reads") + of("BAR writes"));
}

/// Two root complexes find the same memory; one of them may use it.
#[test]
fn two_root_complexes_find_one_bar() {
    let two = UALINK
        .replace("bar_ports = 1", "bar_ports = 2")
        .replace(
            "root = {",
            "other = { kind = \"cxl.root\", clock = \"agents\", mode = \"cxl-68b\", accesses = 0 }\nroot = {",
        )
        .replace(
            "[\"root.link\", \"bridge.bar[0]\"]",
            "[[\"root.link\", \"bridge.bar[0]\"], [\"other.link\", \"bridge.bar[1]\"]]",
        );
    let report = sound(&two, &["root.accesses=60"]);
    assert_eq!(count(&report, "other", "BARs [bytes]"), 64 << 20);
    let error = refused(&two.replace("accesses = 0", "accesses = 9"));
    assert!(error.contains("that both use the BAR, expected one"), "{error}");
}

/// What does not go together is refused with its place.
#[test]
fn bars_that_cannot_be_are_refused() {
    for (from, to, expected) in [
        ("class = \"BR\"", "class = \"NH\"", "found 0 windows of class BR and 1 bar port, expected both or neither"),
        ("bar_ports = 1\n", "", "found 1 window of class BR and 0 bar ports, expected both or neither"),
        (
            "bar_ports = 1\n",
            "bar_ports = 1\nbar_entries = 64\ninbound_entries = 64\n",
            "found 64, expected less than inbound_entries = 64",
        ),
        (
            "bar_ports = 1\n",
            "bar_ports = 1\ninbound_entries = 1\n",
            "component.bridge.inbound_entries: found 1, expected at least 2",
        ),
        ("accelerators = [\"0\", \"1\"]", "accelerators = []", "found a window with an empty list of accelerators"),
        ("class = \"BR\",", "class = \"BR\", rights = [],", "found a window with an empty list of rights"),
        (
            "{ base = \"0\", size = \"64 MiB\"",
            "{ base = \"2 MiB\", size = \"64 MiB\"",
            "found no window of class BR at byte 0 of the BAR",
        ),
        ("kind = \"cxl-io\",", "kind = \"cxl-io\", cachemem = true,", "found a link with cachemem"),
        ("class = \"BR\",", "class = \"BR\", rights = [\"0:x\"],", "of class BR also a"),
    ] {
        assert!(UALINK.contains(from), "{from}");
        let error = refused(&UALINK.replace(from, to));
        assert!(error.contains(expected), "{to}: {error}");
    }
    for (unused, found) in [("bar_mode = \"cxl-68b\"", "cxl-68b"), ("bar_entries = 256", "256")] {
        let error = refused(&UALINK.replace("bar_ports = 1\n", &format!("{unused}\n")));
        assert!(error.contains(&format!("found {found} without bar_ports")), "{error}");
    }
    // What a setting that is refused would lead to is no second finding.
    let error = run(UALINK, &["component.bridge.bar_ports=17"]).expect_err("too many").to_string();
    assert_eq!(error, "--set component.bridge.bar_ports: found `17`, expected 0 to 16 [ports]");
}

/// A switch with more ports than accelerators is refused with its place, wherever the others lead.
#[test]
fn a_switch_has_a_port_for_each_accelerator() {
    let spare =
        UALINK.replace("cxl_ports = 0", "cxl_ports = 0\nx_ports = 2").replace("ports = 3 }", "ports = 4 }").replace(
            "[\"bridge.x[0]\", \"switch.port[2]\"]",
            "[\"bridge.x[0]\", \"switch.port[2]\"], [\"bridge.x[1]\", \"switch.port[3]\"]",
        );
    let turned = UALINK
        .replace("\"switch.port[0]\"", "\"switch.port[x]\"")
        .replace("\"switch.port[1]\"", "\"switch.port[0]\"")
        .replace("\"switch.port[x]\"", "\"switch.port[1]\"");
    for (text, expected) in [
        (spare, "component.switch.ports: found 4 ports for 3 accelerators, expected one for each"),
        (turned, "component.switch.ports: found accelerator 1 at switch.port[0], expected accelerator 0"),
    ] {
        let error = refused(&text);
        assert!(error.contains(expected), "{error}");
    }
}

/// A few transactions are enough for a BAR, half of which are accesses for it.
#[test]
fn a_bar_works_with_few_transactions_of_its_bridge() {
    sound(&UALINK.replace("bar_ports = 1\n", "bar_ports = 1\ninbound_entries = 2\n"), &["root.accesses=40"]);
}

/// Completions that come when their requests have ended by time-out, which is counted, are counted and break no rule.
#[test]
fn late_completions_of_counted_time_outs_are_counted() {
    let text = UALINK.replace("timeout = \"1 ms\"", "timeout = \"50 us\", failures = \"counted\"");
    let report = sound(&text, &["root.accesses=120", "root.access_bytes=4096"]);
    let [late, timed_out] = ["late completions", "reads timed out"].map(|name| count(&report, "root", name));
    assert!(late > 0 && timed_out > 0, "{late} {timed_out}");
    let report = run(&text.replace(", failures = \"counted\"", ""), &["root.accesses=120", "root.access_bytes=4096"]);
    let report = report.expect("a run");
    for rule in ["SIM-E2E-02", "SIM-E2E-03"] {
        assert!(report.violations.iter().any(|broken| broken.violation.rule == rule), "{rule}");
    }
}

const BEHIND_SWITCH: &str = include_str!("../../systems/bar_behind_switch.toml");

/// Bridges behind a switch, beside a device: each byte is that of the device whose BAR it is, at the first access and behind writes.
#[test]
fn bars_of_bridges_are_reached_through_a_switch() {
    for set in [
        &[][..],
        &["root.mode=cxl-68b"],
        &["link.ber=1e-5", "root.accesses=200"],
        &["root.access_bytes=4096", "root.accesses=120"],
        &["switch.queue=1", "switch.order=relaxed"],
    ] {
        let report = sound(BEHIND_SWITCH, set);
        for bridge in ["ubridge", "nbridge"] {
            let of = |name| count(&report, bridge, name);
            assert!(of("BAR reads") > 0 && of("BAR writes") > 0, "{bridge}, {set:?}");
            assert_eq!(of("BAR requests"), of("BAR reads") + of("BAR writes"), "{bridge}, {set:?}");
            assert_eq!([of("BAR refused"), of("BAR writes lost")], [0; 2], "{bridge}, {set:?}");
        }
        assert!(count(&report, "switch", "switched posted") > 20, "{set:?}");
    }
}

/// A root complex that took the bytes of one bridge for those of the other would be seen: they differ, as do their first addresses.
#[test]
fn bars_of_bridges_hold_different_bytes() {
    let far = BEHIND_SWITCH.replace(
        "{ vcs = 0, vppb = 1, port = 1 }, { vcs = 0, vppb = 2, port = 2 }",
        "{ vcs = 0, vppb = 2, port = 1 }, { vcs = 0, vppb = 1, port = 2 }",
    );
    assert_ne!(far, BEHIND_SWITCH);
    for text in [BEHIND_SWITCH, &far] {
        let one = sound(text, &["root.accesses=100"]);
        assert!(count(&one, "ubridge", "BAR reads") > 0 && count(&one, "nbridge", "BAR reads") > 0);
    }
}

/// A port of a bridge behind a switch, and another one of it elsewhere: two root complexes could write to the same bytes.
#[test]
fn a_second_port_beside_a_switch_is_refused() {
    let text = BEHIND_SWITCH
        .replacen("bar_ports = 1", "bar_ports = 2", 1)
        .replace("[\"switch.dsp[3]\", \"device[1].link\"]", "[\"switch.dsp[3]\", \"ubridge.bar[1]\"]")
        .replace("kind = \"cxl.io-device\", count = 2", "kind = \"cxl.io-device\", count = 1");
    let found = refused(&text);
    assert!(found.contains("expected one port alone"), "{found}");
    let small = BEHIND_SWITCH.replace("{ base = \"0\", size = \"64 MiB\"", "{ base = \"64 MiB\", size = \"64 MiB\"");
    assert!(refused(&small).contains("found no window of class BR at byte 0 of the BAR"));
}

/// The link of a port of class BR is lost: what a root complex has asked ends by its own time-out, and what comes later is served. What is
/// written meanwhile is there or not.
#[test]
fn brg_err_26_p2() {
    for (text, [first, second]) in [(UALINK, ["8 us", "30 us"]), (BEHIND_SWITCH, ["40 us", "60 us"])] {
        let text = text
            .replace("timeout = \"1 ms\" }", "timeout = \"60 us\", failures = \"counted\" }")
            .replacen("bar_ports = 1", &format!("bar_ports = 1\nlost = [{{ port = \"bar[0]\", at = \"{first}\", length = \"2 us\" }}, {{ port = \"bar[0]\", at = \"{second}\", length = \"1 fs\" }}]"), 1);
        let report = run(&text, &["root.accesses=1500"]).expect("it runs");
        assert_eq!(report.violations, []);
        let bridge = if text.contains("component.ubridge") { "ubridge" } else { "bridge" };
        assert_eq!(count(&report, bridge, "CXL links lost"), 2);
        assert!(count(&report, bridge, "messages lost with links") > 0, "{bridge}");
    }
}
