//! Root complexes that find devices through a switch and use them.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::nodes::io::switch::manager::{PortProtocol, judge_manager};
use scalepool::scenario::report::ScenarioReport;
use scalepool::system::description::Description;
use std::path::PathBuf;

const SWITCH: &str = include_str!("../../systems/io_switch.toml");

fn good(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

fn of_hosts(report: &ScenarioReport, name: &str) -> [u64; 2] {
    [0, 1].map(|n| count(report, &format!("host[{n}]"), name))
}

/// Each root finds the upstream port, two bridges and two devices of its own, and every read has the bytes that were written.
#[test]
fn roots_find_their_devices_and_no_others() {
    let report = good(SWITCH, &["host.accesses=60"]);
    assert_eq!(of_hosts(&report, "functions"), [5, 5]);
    assert_eq!(of_hosts(&report, "BARs"), [4, 4]);
    assert_eq!(of_hosts(&report, "memory ranges"), [2, 2]);
    assert_eq!(of_hosts(&report, "largest payload [bytes]"), [256, 256]);
    assert_eq!(count(&report, "switch", "unclaimed TLPs"), 0);
    // 30 device numbers of the inner bus have no vPPB.
    assert_eq!(count(&report, "switch", "unsupported requests"), 2 * 30);
    let served: u64 = (0..4).map(|n| count(&report, &format!("device[{n}]"), "requests served")).sum();
    let passed: u64 =
        ["posted", "non-posted"].iter().map(|kind| count(&report, "switch", &format!("switched {kind}"))).sum();
    assert_eq!(served, passed);
}

/// Bridges without a port answer themselves, and nothing is behind them.
#[test]
fn bridges_without_a_port_are_found_and_lead_nowhere() {
    let report = good(SWITCH, &["host.accesses=20", "switch.vppbs=3"]);
    assert_eq!(of_hosts(&report, "functions"), [6, 6]);
    // One number less without a vPPB, and one device behind the bridge that is not there.
    assert_eq!(count(&report, "switch", "unsupported requests"), 2 * (29 + 1));
}

/// More vPPBs than device numbers are functions of one device.
#[test]
fn functions_of_one_device_are_found() {
    let text = SWITCH.replace("ports = 4\n", "ports = 4\ndevice_numbers = 1\n");
    let report = good(&text, &["host.accesses=20"]);
    assert_eq!((of_hosts(&report, "functions"), of_hosts(&report, "BARs")), ([5, 5], [4, 4]));
}

/// Units on one side and flits on the other, errors on all lines, a queue of one.
#[test]
fn links_of_other_forms_and_with_errors_carry_the_same() {
    for set in [
        &["host.mode=cxl-68b"][..],
        &["device.mode=cxl-68b", "link.ber=1e-6"],
        &["switch.queue=1", "host.outstanding=1", "device.not_ready=0"],
    ] {
        let report = good(SWITCH, &[&["host.accesses=20"], set].concat());
        assert_eq!(of_hosts(&report, "functions"), [5, 5], "{set:?}");
    }
}

/// Room for one read at each device: writes pass the reads that wait in the switch, which no policy holds back, and nothing is broken.
#[test]
fn writes_pass_reads_that_have_no_room() {
    let passed = |report: &ScenarioReport| {
        let json = report.json();
        let links = json["links"].as_object().expect("the links");
        links.values().map(|link| link["TLPs that passed others"].as_u64().unwrap_or(0)).sum::<u64>()
    };
    for order in ["strict", "relaxed"] {
        let order = format!("switch.order={order}");
        let report = good(SWITCH, &["host.accesses=400", "link.non_posted=1", &order]);
        assert!(passed(&report) > 20, "{order}: {}", passed(&report));
        assert_eq!(passed(&good(SWITCH, &["host.accesses=60", &order])), 0, "room for all");
    }
    for (set, expected) in [
        (["switch.order=fifo"], "found `fifo`, expected strict, relaxed"),
        (["link.non_posted=0"], "found `0`, expected 1 to 127"),
        (["link.non_posted=128"], "found `128`, expected 1 to 127"),
    ] {
        let text = run(SWITCH, &set).err().map(|error| error.to_string()).expect("it is refused");
        assert!(text.contains(expected), "{text}");
    }
}

/// A reset or a flush is answered once for all devices below.
#[test]
fn power_messages_are_collected() {
    for (power, requests) in [("reset", 1), ("flush", 2)] {
        let report = good(SWITCH, &["host.accesses=5", &format!("host.power={power}")]);
        assert_eq!(of_hosts(&report, "power requests answered"), [requests; 2], "{power}");
        assert_eq!(count(&report, "switch", "power requests collected"), 2 * requests, "{power}");
    }
}

#[test]
fn a_switch_is_the_same_on_any_number_of_threads() {
    let set = ["host.accesses=20", "link.ber=1e-6"];
    let [one, two] = [1, 2].map(|threads| on_threads(SWITCH, &set, threads).json());
    assert_eq!(one, two);
}

/// The manager reads and writes a device at a port that no host has.
#[test]
fn fab_vcs_08_p() {
    let access = |port: usize, at: &str| {
        format!(
            "{{ port = {port}, at = \"{at}\", register = 0 }}, {{ port = {port}, at = \"{at}\", register = 72, write = 32768 }}"
        )
    };
    let bound = "bindings = [{ port = 0 }, { vcs = 1, port = 1 }, { vcs = 1, vppb = 1, port = 2 }]";
    let text = |list: String| SWITCH.replace("ports = 4\n", &format!("ports = 4\n{bound}\nmanager = [{list}]\n"));
    let of_manager = |report: &ScenarioReport| {
        ["manager accesses", "manager accesses refused"].map(|name| count(report, "switch", name))
    };
    let report = good(&text(access(3, "20 us")), &["host.accesses=20"]);
    assert_eq!((of_manager(&report), of_hosts(&report, "functions")), ([2, 0], [4, 5]));
    // Those of a host are no business of the manager, and notice nothing.
    let others = good(&text([access(0, "20 us"), access(3, "20 us")].join(", ")), &["host.accesses=20"]);
    assert_eq!(of_manager(&others), [2, 2]);
    assert_eq!(of_hosts(&others, "memory reads"), of_hosts(&report, "memory reads"));
    // A port whose logical devices are bound is theirs too; those at other ports are one device without bindings.
    let shared = text([access(0, "20 us"), access(3, "20 us")].join(", "))
        .replace(bound, "bindings = [{ port = 0, ld = 0 }, { vcs = 1, port = 0, ld = 1 }]")
        .replace("kind = \"cxl.io-device\"\n", "kind = \"cxl.io-device\"\nlogical_devices = 2\n");
    let shared = good(&shared, &["host.accesses=20"]);
    assert_eq!((of_manager(&shared), of_hosts(&shared, "functions")), ([2, 2], [3, 3]));
}

/// CXL.io to a port that is bound is seen, and so are other protocols.
#[test]
fn fab_vcs_08_n() {
    for (protocol, is_bound, is_broken) in [
        (PortProtocol::Io, false, false),
        (PortProtocol::Io, true, true),
        (PortProtocol::Mem, false, true),
        (PortProtocol::Cache, false, true),
        (PortProtocol::Mem, true, true),
    ] {
        let rule = judge_manager(protocol, is_bound).map(|violation| violation.rule);
        assert_eq!(rule, is_broken.then_some("FAB-VCS-08"), "{protocol:?} {is_bound}");
    }
}

#[test]
fn what_a_switch_cannot_do_is_refused() {
    for (from, to, expected) in [
        ("ports = 4\n", "ports = 4\nvppbs = 257\n", "found 257, expected 1 to 256"),
        (
            "ports = 4\n",
            "ports = 4\nvppbs = 9\ndevice_numbers = 1\n",
            "found 9 vPPBs of a hierarchy, expected at most 8",
        ),
        ("ports = 4\n", "ports = 4\nbindings = [{ vcs = 0, port = 0 }]\n", "found no binding of VCS 1"),
        ("ports = 4\n", "ports = 4\nbindings = [{ port = 0 }, { port = 1 }]\n", "vPPB 0"),
        ("ports = 4\n", "ports = 4\nmanager = [{ port = 4 }]\n", "found port 4, expected 0 to 3"),
        ("ports = 4\n", "ports = 4\nmanager = [{ register = 2 }]\n", "found register 2, expected a multiple of 4"),
        ("ports = 4\n", "ports = 4\npower_timeout = \"50 us\"\n", "the time-out of the host at switch.usp[0]"),
    ] {
        let text = SWITCH.replace(from, to);
        let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
        let found = description.resolve().err().expect("it is refused").to_string();
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

/// A completion is as long under way as a request: a time-out that all completions of a device would miss is refused, over switches too.
#[test]
fn time_outs_shorter_than_the_way_over_switches_are_refused() {
    let fabric = include_str!("../../systems/pbr_io.toml");
    let at_all = |latency: &str| {
        fabric.replace(
            "kind = \"cxl.switch.io-pbr\"\n",
            &format!("kind = \"cxl.switch.io-pbr\"\nlatency = \"{latency}\"\n"),
        )
    };
    let at_one = |latency: &str| SWITCH.replace("ports = 4\n", &format!("ports = 4\nlatency = \"{latency}\"\n"));
    for (text, least) in [(at_one("25 us"), "50.092 us"), (at_all("9 us"), "54.164 us")] {
        let found = run(&text, &["host.accesses=5"]).expect_err("it is refused").to_string();
        let expected = format!(
            "component.host.timeout: found 50 us, expected more than {least}, the time there and back of device["
        );
        assert!(found.contains(&expected), "{expected}\n{found}");
    }
    for text in [at_one("24 us"), at_all("8 us")] {
        good(&text, &["host.accesses=5"]);
    }
}

/// Those of unordered I/O too, of roots and of devices.
#[test]
fn time_outs_of_unordered_io_are_refused_too() {
    let text = include_str!("../../systems/uio_peers.toml");
    let text = text.replace("kind = \"cxl.switch.io\"\n", "kind = \"cxl.switch.io\"\nlatency = \"30 us\"\n");
    let text = text.replace("kind = \"cxl.root\"\n", "kind = \"cxl.root\"\ntimeout = \"100 us\"\n");
    let found = run(&text, &[]).expect_err("it is refused").to_string();
    for expected in [
        "component.host.uio: found 50 us, expected more than 60.092 us, the time there and back of what is nearest",
        "component.accelerator.uio: found 50 us, expected more than 60.036 us, the time there and back of what is nearest",
    ] {
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
