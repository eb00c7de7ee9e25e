//! CXL.mem beside CXL.io through one switch: root complexes find their devices over CXL.io, and use their memory by CXL.mem.

use crate::fab_hbr::systems::{count, on_threads, refused, run};
use scalepool::scenario::report::ScenarioReport;
use scalepool::system::description::Description;
use std::path::PathBuf;

const BOTH: &str = include_str!("../../systems/io_and_mem_switch.toml");
const LOGICAL: &str = include_str!("../../systems/io_logical_devices.toml");
const PBR: &str = include_str!("../../systems/pbr_io.toml");
/// Line accesses of each host by CXL.mem.
const ACCESSES: u64 = 300;

/// A run without findings, among them reads with other bytes than were written, in which the switch has passed on all that `hosts` asked
/// by CXL.mem, and each of them has found so many functions.
fn sound(text: &str, hosts: usize, functions: u64, set: &[&str]) -> ScenarioReport {
    let mem = format!("component.host.memory.accesses={ACCESSES}");
    let report = run(text, &[&["host.accesses=20", &mem], set].concat()).unwrap_or_else(|e| panic!("{set:?}: {e}"));
    assert_eq!(report.violations, [], "{set:?}");
    let of_hosts =
        |name: &str| -> Vec<u64> { (0..hosts).map(|n| count(&report, &format!("host[{n}]"), name)).collect() };
    assert_eq!(of_hosts("functions"), vec![functions; hosts], "{set:?}");
    assert!(of_hosts("memory reads").iter().all(|reads| *reads > 0), "{set:?}");
    let [reads, writes] = ["CXL.mem reads", "CXL.mem writes"].map(|name| of_hosts(name).iter().sum::<u64>());
    assert_eq!(reads + writes, hosts as u64 * ACCESSES, "{set:?}");
    assert!(reads > 0 && writes > 0, "{set:?}");
    let of_switch = |name: &str| count(&report, "switch", name);
    let switched = ["M2S Req", "M2S RwD", "S2M NDR", "S2M DRS"].map(|class| of_switch(&format!("switched {class}")));
    assert_eq!(switched, [reads, writes, writes, reads], "{set:?}");
    for name in ["not decoded", "unknown LD-ID", "other classes", "switch answers", "unclaimed TLPs"] {
        assert_eq!(of_switch(name), 0, "{name}, {set:?}");
    }
    report
}

/// The upstream port, two bridges and two devices of each host; every read, of BARs and of memory, has the bytes that were written.
#[test]
fn roots_find_devices_and_use_their_memory() {
    for set in [
        &[][..],
        &["link.ber=1e-5"],
        &["link.buffers=1", "switch.queue=1"],
        &["device.mode=cxl-68b"],
        &["host.mode=cxl-256b-lopt"],
        &["mem.start=0"],
        &["host.power=reset"],
        &["host.power=flush"],
    ] {
        sound(BOTH, 2, 5, set);
    }
}

/// Four hosts use the same addresses of memory, and logical devices of one link hold what each has written.
#[test]
fn logical_devices_have_memory_of_their_own() {
    let both = LOGICAL.replace("kind = \"cxl-io\"\n", "kind = \"cxl-io\"\ncachemem = true\n");
    sound(&both, 4, 9, &[]);
    sound(&both, 4, 9, &["link.ber=1e-5"]);
}

/// The system in which the port of vPPB 1 of the first hierarchy is unbound, and bound again if `again`, while both hosts use CXL.mem.
fn rebound(again: bool) -> String {
    let unbind = "{ at = \"60 us\", vppb = 1 }";
    let bind = if again { ", { at = \"150 us\", command = \"bind\", vppb = 1 }" } else { "" };
    let memory = "memory = { start = \"40 us\", not_decoded = \"counted\" } #";
    let rescan = if again { "rest_at = \"100 us\"\nrescan_at = \"160 us\"\n" } else { "" };
    BOTH.replacen("ports = 4\n", &format!("ports = 4\ncommands = [{unbind}{bind}]\n"), 1).replacen(
        "memory = { start = \"40 us\" }",
        &format!("failures = \"counted\"\n{rescan}{memory}"),
        1,
    )
}

/// So many accesses that CXL.mem is in use before the unbind and long after the bind.
const REBOUND: [&str; 3] = ["host.accesses=4000", "mem.accesses=8000", "component.host.memory.outstanding=8"];

/// Both protocols notice an unbind: what was asked before is answered, later configuration requests and reads of BARs behind the vPPB are
/// unsupported, and CXL.mem there is answered as not decoded. The host of the other hierarchy notices nothing.
#[test]
fn both_protocols_notice_an_unbind() {
    let set = [&REBOUND[..], &["link.ber=1e-6"]].concat();
    let report = run(&rebound(false), &set).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let of = |path: &str, name: &str| count(&report, path, name);
    assert_eq!((of("switch", "ports unbound"), of("switch", "ports bound")), (1, 0));
    let names = ["CXL.mem reads not decoded", "reads unsupported", "reads timed out", "late completions"];
    let [lost, unsupported, timed_out, late] = names.map(|name| of("host[0]", name));
    let reads = of("host[0]", "CXL.mem reads");
    assert!(3 * lost > reads && unsupported > 0, "{lost} of {reads} not decoded, {unsupported} unsupported");
    assert_eq!([timed_out, late], [0, 0]);
    assert_eq!(names.map(|name| of("host[1]", name)), [0; 4]);
    assert!(of("switch", "requests without a port") > lost, "writes too");
    for host in ["host[0]", "host[1]"] {
        assert_eq!(of(host, "CXL.mem reads") + of(host, "CXL.mem writes"), 8000, "{host}");
    }
}

/// A port that is bound again: the host walks again and finds what it had, and memory there has what was written before.
#[test]
fn both_protocols_notice_a_bind() {
    let [report, two] = [1, 2].map(|threads| on_threads(&rebound(true), &REBOUND, threads));
    assert_eq!(report.json(), two.json());
    assert_eq!(report.violations, []);
    let of = |path: &str, name: &str| count(&report, path, name);
    assert_eq!((of("switch", "ports unbound"), of("switch", "ports bound")), (1, 1));
    assert_eq!(["host[0]", "host[1]"].map(|host| of(host, "functions")), [5, 5]);
    let (lost, reads) = (of("host[0]", "CXL.mem reads not decoded"), of("host[0]", "CXL.mem reads"));
    assert!(lost > 0 && 3 * lost < reads, "{lost} of {reads}");
}

#[test]
fn commands_that_cannot_be_are_refused() {
    for (commands, expected) in [
        ("{ vppb = 2 }", "found vPPB 2 of VCS 0, expected one that is bound"),
        ("{ vcs = 2 }", "found vPPB 0 of VCS 2, expected one that is bound"),
        ("{ command = \"bind\" }", "found `bind` for vPPB 0 of VCS 0 at 0, expected `unbind`"),
        (
            "{ at = \"1 us\" }, { at = \"1 us\", command = \"bind\" }",
            "found `bind` for vPPB 0 of VCS 0 at 1 us, expected `bind`, later",
        ),
        ("{ at = \"1 us\" }, { at = \"2 us\" }", "found `unbind` for vPPB 0 of VCS 0 at 2 us, expected `bind`"),
    ] {
        let found = refused(&BOTH.replacen("ports = 4\n", &format!("ports = 4\ncommands = [{commands}]\n"), 1));
        assert!(found.contains(expected), "{expected}\n{found}");
    }
    let found = refused(&LOGICAL.replacen("hosts = 4\n", "hosts = 4\ncommands = [{ vppb = 1 }]\n", 1));
    assert!(
        found.contains(
            "found vPPB 1 of VCS 0, which has the logical device 4, expected one to which a port is bound whole"
        ),
        "{found}"
    );
}

#[test]
fn both_protocols_are_the_same_on_any_number_of_threads() {
    let set = ["host.accesses=20", "mem.accesses=200", "link.ber=1e-5"];
    let [one, two] = [1, 2].map(|threads| on_threads(BOTH, &set, threads).json());
    assert_eq!(one, two);
}

#[test]
fn what_cannot_stand_beside_is_refused() {
    let logical = LOGICAL.replace("kind = \"cxl-io\"\n", "kind = \"cxl-io\"\ncachemem = true\n");
    for (text, from, to, expected) in [
        (
            BOTH,
            "\"device[i].link\"]\ncachemem = true\n",
            "\"device[i].link\"]\n",
            "found CXL.io alone on the link at switch.dsp[0], and CXL.mem beside it at switch.usp[0], expected cachemem = true on all links of the switch, or on none",
        ),
        (
            BOTH,
            "ports = 4\n",
            "ports = 4\nbindings = [{ port = 0 }, { vppb = 1, port = 1 }, { vppb = 2, port = 2 }, { vcs = 1, port = 3 }]\n",
            "found 3 devices bound to VCS 0, whose links carry CXL.mem, expected 1, 2, 4 or 8",
        ),
        (
            &logical,
            "clock = \"host\"\nmode = \"cxl-256b\"\nlogical_devices",
            "clock = \"host\"\nmode = \"cxl-68b\"\nlogical_devices",
            "found a logical device at switch.dsp[0], whose link has 68B flits, expected 256B flits",
        ),
        (
            BOTH,
            "ports = 4\n",
            "ports = 4\nmem = { class_weights = [\"M2S Req:0\"] }\n",
            "component.switch.mem: found `M2S Req:0`",
        ),
        (
            LOGICAL,
            "kind = \"cxl.switch.io\"\n",
            "kind = \"cxl.switch.io\"\nmem = { queue = 8 }\n",
            "component.switch.mem: found a table, expected none: no link of the switch carries CXL.mem (cachemem = true)",
        ),
        (
            PBR,
            "kind = \"cxl-io\"\n",
            "kind = \"cxl-io\"\ncachemem = true\n",
            "expected CXL.io alone: a cxl.switch.pbr passes CXL.mem",
        ),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        let description = Description::parse("f.toml", PathBuf::new(), &changed).expect("it is TOML");
        let found = description.resolve().err().expect("it is refused").to_string();
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
