//! Systems whose hosts share lines of a device over switches with port based routing (scenario FAB-T17).

use crate::fab_hbr::systems::{count, on_threads, refused, run};
use scalepool::scenario::report::ScenarioReport;

pub(super) const SHARE: &str = include_str!("../../systems/pbr_share.toml");
const SWITCHES: [&str; 6] = ["leaf[0]", "leaf[1]", "leaf[2]", "leaf[3]", "spine[0]", "spine[1]"];

fn sent(report: &ScenarioReport, class: &str) -> u64 {
    report.messages.iter().find(|(name, _)| name == class).map_or(0, |(_, n)| *n)
}

/// A run of 24 hosts without findings: each snoop and each answer passes a leaf, a spine and a leaf.
pub(super) fn shared(set: &[&str]) -> ScenarioReport {
    let report = run(SHARE, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    for (class, name) in [("S2M BISnp", "s2m_bisnp"), ("M2S BIRsp", "m2s_birsp"), ("M2S Req", "m2s_req")] {
        let passed: u64 = SWITCHES.iter().map(|switch| count(&report, switch, &format!("switched {class}"))).sum();
        assert_eq!(passed, 3 * sent(&report, name), "{set:?}: {class}");
    }
    for name in ["not decoded", "unknown LD-ID", "other classes", "not claimed", "no route", "switch answers"] {
        let found: u64 = SWITCHES.iter().map(|switch| count(&report, switch, name)).sum();
        assert_eq!(found, 0, "{set:?}: {name}");
    }
    report
}

#[test]
fn twenty_four_hosts_share_the_lines_of_one_device() {
    for pattern in ["producer-consumer", "false-sharing"] {
        let pattern = format!("core.pattern={pattern}");
        let report = shared(&["core.accesses=12", "core.lines=5", &pattern]);
        assert!(sent(&report, "s2m_bisnp") > 23, "{pattern}");
    }
    // A filter that takes lines back, small caches; queues of one message, wrong bits.
    shared(&["core.accesses=10", "device.filter_sets=2", "device.filter_ways=2", "core.cache_lines=2"]);
    shared(&["core.accesses=8", "switch.queue=1", "link.buffers=2", "link.ber=1e-5", "core.poison_every=5"]);
}

/// As many hosts at one switch that passes PIDs on as they are.
const ONE_SWITCH: &str = r#"format = 1
[clock]
agents = { period = "500 ps" }
[component]
dev = { kind = "cxl.hdm-db-device", trackers = 24 }
switch = { kind = "cxl.fabric-switch", hosts = 24, peers = 0 }
host = { kind = "cxl.hdm-db-host", count = 24, core = { pattern = "private", accesses = 20, outstanding = 1 } }
[link]
host = { kind = "cxl-256b-pbr", between = ["switch.host[i]", "host[i].port[0]"] }
dev = { kind = "cxl-256b-pbr", between = ["switch.trunk", "dev.link[0]"] }
"#;

/// Accesses that disturb nobody make the same messages with the fabric and with a switch that passes PIDs on as they are.
#[test]
fn the_fabric_adds_no_message() {
    let set = ["core.pattern=private", "core.accesses=20", "core.outstanding=1"];
    let direct = run(ONE_SWITCH, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(direct.violations, []);
    let agents = |report: &ScenarioReport| {
        let all = ["m2s_req", "m2s_rwd", "m2s_birsp", "s2m_ndr", "s2m_drs", "s2m_bisnp"];
        all.map(|class| sent(report, class))
    };
    assert_eq!(agents(&shared(&set)), agents(&direct));
}

#[test]
fn sharing_over_two_levels_is_the_same_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| on_threads(SHARE, &["core.accesses=6", "link.ber=1e-6"], threads).json());
    assert_eq!(one, two);
}

/// Sixteen hosts have a logical device each of a device without port based routing; and hosts without coherence, with memory
/// of their own, are in the same fabric.
const MIXED: &str = r#"format = 1
[clock]
agents = { period = "500 ps" }
[component]
front = { kind = "cxl.switch.pbr", hosts = 5, fabric = 1 }
back = { kind = "cxl.switch.pbr", ports = 3, fabric = 1 }
host = { kind = "cxl.hdm-db-host", count = 4, core = { accesses = 60, cache_lines = 3, lines = 4 } }
user = { kind = "cxl.host", stimulus = { pattern = "mix", accesses = 100 } }
pool = { kind = "cxl.hdm-db-device", logical_devices = 3, filter_sets = 1, filter_ways = 2 }
dev = { kind = "cxl.hdm-db-device" }
memory = { kind = "cxl.memory", size = "1 GiB" }
[link]
host = { kind = "cxl-256b", between = ["host[i].port[0]", "front.usp[i]"] }
user = { kind = "cxl-68b", between = ["user.cxl", "front.usp[4]"] }
isl = { kind = "cxl-256b-pbr", between = ["front.isl[0]", "back.isl[0]"] }
pool = { kind = "cxl-256b", between = ["back.dsp[0]", "pool.link[0]"] }
dev = { kind = "cxl-256b-lopt", between = ["back.dsp[1]", "dev.link[0]"] }
memory = { kind = "cxl-256b", between = ["back.dsp[2]", "memory.cxl"] }
"#;

fn mixed() -> String {
    let hosts = (0..4).map(|n| format!("[\"host[{n}].port[0]\", \"front.usp[{n}]\"]")).collect::<Vec<_>>();
    MIXED.replace("[\"host[i].port[0]\", \"front.usp[i]\"]", &format!("[{}]", hosts.join(", ")))
}

/// By the PIDs of bindings, and by segment tables.
#[test]
fn logical_devices_are_shared_beside_memories() {
    for text in [mixed(), mixed().replace("hosts = 5,", "hosts = 5, decode = \"ldst\",")] {
        let report = run(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.violations, []);
        for switch in ["front", "back"] {
            let passed = ["S2M BISnp", "M2S BIRsp"].map(|class| count(&report, switch, &format!("switched {class}")));
            assert_eq!(passed, ["s2m_bisnp", "m2s_birsp"].map(|class| sent(&report, class)));
            assert!(passed[0] > 10, "{passed:?}");
        }
        assert_eq!(count(&report, "user", "line accesses"), 100);
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let bound = |rest: &str| mixed().replace("ports = 3,", &format!("ports = 3, bindings = [{rest}],"));
    let given = "{ port = 0, ld = 0, usp = \"front.usp[0]\" }, { port = 0, ld = 1, usp = \"front.usp[1]\" }, \
                 { port = 0, ld = 2, usp = \"front.usp[2]\" }, { port = 1, usp = \"front.usp[3]\" }, \
                 { port = 2, usp = \"front.usp[4]\" }";
    let report = run(&bound(given), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let twice = SHARE.replace(
        "at = { 3 = { hosts = 0, ports = 1 } }",
        "at = { 3 = { hosts = 0, ports = 1, bindings = [{ usp = \"leaf[0].usp[0]\" }, { usp = \"leaf[0].usp[0]\" }] } }",
    );
    let logical =
        SHARE.replace("kind = \"cxl.hdm-db-device\"\n", "kind = \"cxl.hdm-db-device\"\nlogical_devices = 16\n");
    let cases = [
        (
            bound(&given.replace("front.usp[3]", "front.usp[9]").replace("front.usp[4]", "front.usp[3]")),
            "found a device at `back.dsp[2]` for a host of HDM-DB at `front.usp[3]`, expected two of one protocol (fabric ERR-4)",
        ),
        (twice, "found `leaf[3].dsp[0]` for `leaf[0].usp[0]`, which `leaf[0].usp[0]` has, expected a free one"),
        (logical, "found logical devices at leaf[3].dsp[0], whose link has port based routing, expected none"),
        (
            mixed().replace("memory = { kind = \"cxl-256b\"", "memory = { kind = \"cxl-256b-pbr\""),
            "found a device at back.dsp[2], expected a device of HDM-DB or a G-FAM device behind a link with port based routing",
        ),
        (
            mixed()
                .replace("count = 4", "ports = 4")
                .replace("host[0].port[0]", "host.port[0]")
                .replace("[\"host[1].port[0]\"", "[\"host.port[1]\"")
                .replace("host[2].port[0]", "host.port[2]")
                .replace("host[3].port[0]", "host.port[3]")
                .replace("kind = \"cxl.hdm-db-host\"", "kind = \"cxl.home\"")
                .replace(", core = { accesses = 60, cache_lines = 3, lines = 4 }", ""),
            "found no device for `front.usp[0]`, expected one at least for every host",
        ),
    ];
    for (text, expected) in cases {
        let found = refused(&text);
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
