//! Root complexes that find devices and use them through a fabric: what they see of it, whatever the number of switches between, and
//! what becomes of what they ask when a link is lost.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::endpoint::tlp::{Tlp, TlpKind};
use scalepool::fabric::cxl_switch::pbr::{PbrGraph, judge_containment};
use scalepool::nodes::io::switch::fabric::{EDGE_LAYERS, judge_unroutable};
use scalepool::nodes::io::switch::hierarchy::{IoHierarchy, IoRouted, IoSide};
use scalepool::nodes::io::walk::{ConfigAccess, ConfigWalkResult, Log, Windows, enumerate, judge_layers};
use scalepool::scenario::report::ScenarioReport;
use scalepool::system::description::Description;
use scalepool_protocols::cxl::cxlio::dvsec::FlexBus;
use std::path::PathBuf;

const FABRIC: &str = include_str!("../../systems/pbr_io.toml");
const MID: &str = "[component.mid]\nkind = \"cxl.switch.io-pbr\"\nclock = \"switch\"\nfabric = 2\n";
const ISLS: &str = "[[\"front.isl[0]\", \"mid.isl[0]\"], [\"mid.isl[1]\", \"back.isl[0]\"]]";

fn good(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

fn of_hosts(report: &ScenarioReport, name: &str) -> [u64; 2] {
    [0, 1].map(|n| count(report, &format!("host[{n}]"), name))
}

/// The fabric with so many switches between its edges.
fn between(switches: usize) -> String {
    let last = switches.saturating_sub(1);
    let (mid, isls) = match switches {
        0 => (String::new(), "[[\"front.isl[0]\", \"back.isl[0]\"]]".to_owned()),
        _ => {
            let inner = (0..last).map(|n| format!("[\"mid[{n}].isl[1]\", \"mid[{}].isl[0]\"]", n + 1));
            let ends = [
                "[\"front.isl[0]\", \"mid[0].isl[0]\"]".to_owned(),
                format!("[\"mid[{last}].isl[1]\", \"back.isl[0]\"]"),
            ];
            let all: Vec<String> = ends.into_iter().chain(inner).collect();
            (MID.replace("fabric = 2", &format!("count = {switches}\nfabric = 2")), format!("[{}]", all.join(", ")))
        }
    };
    FABRIC.replace(MID, &mid).replace(ISLS, &isls)
}

/// Each root finds its edge, and for each of two devices a vPPB, a switch with one port, and the device.
#[test]
fn roots_find_devices_behind_a_fabric() {
    let report = good(FABRIC, &["host.accesses=60"]);
    assert_eq!(of_hosts(&report, "functions"), [9, 9]);
    assert_eq!(of_hosts(&report, "BARs"), [4, 4]);
    assert_eq!(of_hosts(&report, "memory ranges"), [2, 2]);
    assert_eq!(count(&report, "mid", "own configuration requests"), 0);
    assert!(count(&report, "mid", "forwarded") > 0);
    for switch in ["front", "mid", "back"] {
        for name in ["unclaimed TLPs", "TLPs lost with links", "TLPs without a route", "TLPs not claimed"] {
            assert_eq!(count(&report, switch, name), 0, "{switch} {name}");
        }
    }
}

/// A device at the switch of its host is behind one switch, as without a fabric.
#[test]
fn a_device_at_the_edge_of_its_host_is_behind_one_switch() {
    let text = FABRIC
        .replace("hosts = 2\nfabric = 1", "hosts = 2\nports = 2\nfabric = 1")
        .replace("ports = 4\nfabric = 1", "ports = 2\nfabric = 1")
        .replace("[\"back.dsp[i]\", \"device[i].link\"]", "[[\"front.dsp[0]\", \"device[0].link\"], [\"front.dsp[1]\", \"device[1].link\"], [\"back.dsp[0]\", \"device[2].link\"], [\"back.dsp[1]\", \"device[3].link\"]]");
    let report = good(&text, &["host.accesses=40"]);
    // The edge, a vPPB and a device; a vPPB, a switch with one port and a device.
    assert_eq!(of_hosts(&report, "functions"), [7, 7]);
    assert_eq!(of_hosts(&report, "BARs"), [4, 4]);
}

/// Units and flits at the edges, errors on all lines, resets and flushes.
#[test]
fn links_of_other_forms_and_power_messages_cross_a_fabric() {
    for set in ["host.mode=cxl-68b", "device.mode=cxl-68b", "link.ber=1e-6", "component.front.queue=1"] {
        let report = good(FABRIC, &["host.accesses=20", set]);
        assert_eq!(of_hosts(&report, "functions"), [9, 9], "{set}");
    }
    for (power, requests) in [("reset", 1), ("flush", 2)] {
        let report = good(FABRIC, &["host.accesses=5", &format!("host.power={power}")]);
        assert_eq!(of_hosts(&report, "power requests answered"), [requests; 2], "{power}");
        let collected = ["front", "back"].map(|path| count(&report, path, "power requests collected"));
        assert_eq!(collected, [2 * requests, 4 * requests], "{power}");
    }
}

#[test]
fn a_fabric_is_the_same_on_any_number_of_threads() {
    let set = ["host.accesses=20", "link.ber=1e-6"];
    let [one, two] = [1, 2].map(|threads| on_threads(FABRIC, &set, threads).json());
    assert_eq!(one, two);
}

/// The fabric with switches that lose a link while the hosts read; those are told that reads may fail.
fn losing(lost_at_front: &str, lost_at_mid: &str) -> String {
    let lost = |list: &str| if list.is_empty() { String::new() } else { format!("\nlost = [{list}]") };
    FABRIC
        .replace("kind = \"cxl.root\"", "kind = \"cxl.root\"\nfailures = \"counted\"")
        .replace("hosts = 2", &format!("hosts = 2{}", lost(lost_at_front)))
        .replace("fabric = 2", &format!("fabric = 2{}", lost(lost_at_mid)))
}

fn sum(report: &ScenarioReport, name: &str) -> u64 {
    of_hosts(report, name).iter().sum()
}

/// A root sees two switches one below the other with 0, 1, 2 and 5 switches between. When the manager knows of a lost link, their
/// virtual links go down at the edge of the host, wherever the lost one is.
#[test]
fn fab_pid_04_p() {
    for switches in [0, 1, 2, 5] {
        let report = good(&between(switches), &["host.accesses=10"]);
        assert_eq!(of_hosts(&report, "functions"), [9, 9], "{switches}");
    }
    let lost = "{ at = \"187 us\", rerouted_after = \"5 us\" }";
    for text in [losing(lost, ""), losing("", &lost.replace("{ at", "{ isl = 1, at"))] {
        let report = good(&text, &["host.accesses=2000"]);
        assert_eq!(count(&report, "front", "surprise link downs"), 4);
        assert!(sum(&report, "reads unsupported") > 0);
    }
}

/// The hierarchies of three switches, one below the other, as a root finds them.
fn nested(count: usize) -> ConfigWalkResult {
    let mut switches: Vec<IoHierarchy> =
        (0..count).map(|_| IoHierarchy::new(&[true], 1, FlexBus::default(), 512)).collect();
    let windows = Windows { bus: 1, mmio: 1 << 36, memory: 1 << 40, max_payload_bytes: 256 };
    let mut log = Log::default();
    loop {
        let access = match enumerate(&mut log, &windows) {
            Ok(found) => return found,
            Err(pause) => pause.0,
        };
        log.answer(answer(&mut switches, access));
    }
}

/// What the root reads; `None`: nobody is there.
fn answer(switches: &mut [IoHierarchy], ConfigAccess { target, register, write }: ConfigAccess) -> Option<u32> {
    let level = u8::from(target >> 8 != 1);
    let mut tlp = match write {
        None => Tlp::new(TlpKind::ConfigRead { level, target, register, enables: 0xf }, 0, Vec::new()),
        Some((value, enables)) => {
            Tlp::new(TlpKind::ConfigWrite { level, target, register, enables }, 0, value.to_le_bytes().to_vec())
        }
    };
    for switch in switches {
        match switch.route(IoSide::Up, tlp) {
            IoRouted::To(_, onward) => tlp = onward,
            IoRouted::Completed(answer) => {
                return Some(answer.data.first_chunk().map_or(0, |dw| u32::from_le_bytes(*dw)));
            }
            IoRouted::ToAll(..) | IoRouted::Unsupported(_) | IoRouted::Aborted(_) | IoRouted::Dropped => return None,
        }
    }
    None
}

/// Three switches one below the other are more than two edges.
#[test]
fn fab_pid_04_n() {
    for (switches, is_broken) in [(1, false), (2, false), (3, true)] {
        let found = nested(switches);
        assert_eq!(found.layers, switches);
        let rule = judge_layers(&found, EDGE_LAYERS).map(|violation| violation.rule);
        assert_eq!(rule, is_broken.then_some("FAB-PID-04"), "{switches}");
    }
}

/// What no way leads to is dropped, and the host times out; the edge answers if it is told to, and knows. A switch in between never
/// answers.
#[test]
fn fab_drt_03_p() {
    let at_front = losing("{ at = \"187 us\" }", "");
    let at_mid = losing("", "{ isl = 1, at = \"187 us\" }");
    let on = |text: &str| text.replace("hosts = 2", "hosts = 2\nur_on_unknown = \"on\"");
    for (text, is_answered) in
        [(at_front.clone(), false), (at_mid.clone(), false), (on(&at_mid), false), (on(&at_front), true)]
    {
        let report = good(&text, &["host.accesses=1000"]);
        let (refused, answered) = (sum(&report, "reads unsupported"), count(&report, "front", "unknown completed"));
        let timed_out = sum(&report, "reads timed out");
        assert_eq!(refused, answered);
        assert_eq!(refused > 0, is_answered, "{text}");
        assert!(timed_out > 0 || is_answered, "{text}");
        assert_eq!(count(&report, "mid", "unknown completed"), 0);
        assert_eq!(count(&report, "front", "surprise link downs"), 0);
    }
}

/// An answer with the option off, or from another switch than the first, is seen.
#[test]
fn fab_drt_03_n() {
    for (is_on, is_first) in [(false, false), (false, true), (true, false), (true, true)] {
        let rule = |was_completed| judge_unroutable(is_on, is_first, was_completed).map(|violation| violation.rule);
        assert_eq!(rule(true), (!(is_on && is_first)).then_some("FAB-DRT-03"), "{is_on} {is_first}");
        assert_eq!(rule(false), None);
    }
}

/// The fabric as a circle of its three switches, whose mid switch has an error of the link to the edge of the devices; `circle`: the
/// edges are joined too.
fn with_error(circle: bool) -> ScenarioReport {
    let error = "errors = [{ isl = 1, at = \"187 us\", rerouted_after = \"5 us\" }]";
    let text = losing("", "").replace("fabric = 2", &format!("fabric = 2\n{error}"));
    let text = match circle {
        false => text,
        true => text
            .replace("hosts = 2\nfabric = 1", "hosts = 2\nfabric = 2")
            .replace("ports = 4\nfabric = 1", "ports = 4\nfabric = 2")
            .replace(
                "[\"mid.isl[1]\", \"back.isl[0]\"]",
                "[\"mid.isl[1]\", \"back.isl[0]\"], [\"front.isl[1]\", \"back.isl[1]\"]",
            ),
    };
    good(&text, &["host.accesses=1000"])
}

/// A link with an error is contained where there is another way to the manager; the only one stays up, and nothing is lost.
#[test]
fn fab_isl_04_p() {
    for (circle, expected) in [(true, [1, 0]), (false, [0, 1])] {
        let report = with_error(circle);
        let counts = ["contained links", "uncontained errors"].map(|name| count(&report, "mid", name));
        assert_eq!(counts, expected, "{circle}");
        assert_eq!(count(&report, "mid", "TLPs lost with links"), 0, "{circle}");
        assert_eq!(["reads unsupported", "reads timed out"].map(|name| sum(&report, name)), [0, 0], "{circle}");
    }
}

/// A containment that cuts the manager off, and a missing one, are seen.
#[test]
fn fab_isl_04_n() {
    for (is_only_way, is_contained) in [(false, false), (false, true), (true, false), (true, true)] {
        let rule = judge_containment(is_only_way, is_contained).map(|violation| violation.rule);
        assert_eq!(rule, (is_only_way == is_contained).then_some("FAB-ISL-04"), "{is_only_way} {is_contained}");
    }
    let mut graph = PbrGraph::new(3);
    for (switch, port, other) in [(0, 0, 1), (1, 0, 0), (1, 1, 2), (2, 0, 1)] {
        graph.join(switch, port, other);
    }
    assert!(graph.is_only_way([(1, 1), (2, 0)]));
    graph.join(0, 1, 2);
    graph.join(2, 1, 0);
    assert!(!graph.is_only_way([(1, 1), (2, 0)]));
}

/// A root rests while its hierarchy is reset, walks again and goes on; the other one walks again for nothing. No inter-switch link is
/// reset: first contact is made once.
#[test]
fn a_reset_of_a_hierarchy_crosses_a_fabric() {
    let resting = "kind = \"cxl.root\"\nrest_at = \"188 us\"\nrescan_at = \"210 us\"";
    for kind in ["hot", "perst"] {
        let reset = format!("hosts = 2\nresets = [{{ at = \"200 us\", kind = \"{kind}\" }}]");
        let text = FABRIC.replace("kind = \"cxl.root\"", resting).replace("hosts = 2", &reset);
        let report = good(&text, &["host.accesses=1000"]);
        assert_eq!(of_hosts(&report, "functions"), [9, 9], "{kind}");
        let accesses: [u64; 2] =
            [0, 1].map(|n| ["memory reads", "memory writes"].map(|name| of_hosts(&report, name)[n]).iter().sum());
        assert_eq!(accesses, [1000; 2], "{kind}");
        let of_switches = |name| ["front", "back"].map(|path| count(&report, path, name));
        assert_eq!(of_switches("resets carried"), [2, 0], "{kind}");
        assert_eq!(of_switches("resets taken"), [0, 2], "{kind}");
        assert_eq!(["front", "mid", "back"].map(|path| count(&report, path, "first contacts")), [1, 2, 1], "{kind}");
    }
}

/// A host that does not walk again reaches nothing after a reset, and the other one everything.
#[test]
fn a_hierarchy_is_gone_after_a_reset() {
    let text = losing("", "").replace("hosts = 2", "hosts = 2\nresets = [{ at = \"187 us\" }]");
    let report = good(&text, &["host.accesses=2000"]);
    let [first, second] = of_hosts(&report, "reads unsupported");
    assert!(first > 0 && second == 0, "{first} and {second}");
}

/// A virtual link whose way is lost does not come up: after ten releases, 10 ms apart, the manager is told.
#[test]
fn a_reset_over_a_lost_link_is_given_up() {
    let text = losing("", "{ isl = 1, at = \"199 us\" }")
        .replace("failures =", "rest_at = \"188 us\"\nrescan_at = \"210 us\"\nfailures =")
        .replace("hosts = 2", "hosts = 2\nresets = [{ at = \"200 us\" }]");
    let report = good(&text, &["host.accesses=1000"]);
    assert_eq!(["resets carried", "resets given up"].map(|name| count(&report, "front", name)), [0, 2]);
    assert_eq!(of_hosts(&report, "functions")[0], 3, "its edge and two vPPBs");
    assert!(report.json()["time_fs"].as_u64().expect("a time") > 100_000_000_000_000, "ten times 10 ms");
}

#[test]
fn what_a_fabric_of_cxl_io_cannot_do_is_refused() {
    for (from, to, expected) in [
        (
            "mode = \"cxl-256b\"\n\n[link.host]",
            "mode = \"cxl-256b-pbr\"\n\n[link.host]",
            "port based routing ends at the edge",
        ),
        ("[link.isl]\n", "[link.isl]\ncachemem = true\n", "found CXL.mem on the link at"),
        ("hosts = 2\n", "hosts = 2\npower_timeout = \"30 us\"\n", "half the time-out of the host"),
        ("hosts = 2\n", "hosts = 2\nlost = [{ isl = 1, at = \"1 us\" }]\n", "found isl = 1"),
        (
            "ports = 4\n",
            "ports = 4\nbindings = [{ port = 0, usp = \"front.usp[0]\" }]\n",
            "found no device for `front.usp[1]`",
        ),
        ("ports = 4\n", "ports = 4\nbindings = [{ port = 0, usp = \"front.usp[2]\" }]\n", "no edge port of a host"),
        ("hosts = 2\n", "hosts = 2\nresets = [{ usp = 2 }]\n", "found usp = 2, expected one of the 2"),
        (
            "fabric = 2\n",
            "fabric = 2\nmax_payload = 256\n",
            "found 256 B, expected 512 B, the default: it has no edge port",
        ),
        ("ports = 4\n", "ports = 4\nmax_payload = 200\n", "expected 128, 256, 512, 1024, 2048, 4096"),
        (
            "kind = \"cxl.root\"\n",
            "kind = \"cxl.root\"\nmax_payload = 384\n",
            "expected 128, 256, 512, 1024, 2048, 4096",
        ),
        ("kind = \"cxl.root\"\n", "kind = \"cxl.root\"\nrescan_at = \"1 us\"\n", "found no rest_at"),
        (
            "kind = \"cxl.root\"\n",
            "kind = \"cxl.root\"\nmemory_base = \"0x10000001\"\n",
            "found 0x10000001, expected a multiple of 256 MiB",
        ),
        ("hosts = 2\nfabric = 1\n", "hosts = 2\nfabric = 1\nrouting = \"up-down\"\n", "found another policy"),
    ] {
        assert!(FABRIC.contains(from), "{from}");
        let text = FABRIC.replacen(from, to, 1);
        let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
        let found = description.resolve().err().expect("it is refused").to_string();
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
