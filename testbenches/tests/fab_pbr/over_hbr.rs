//! Coherent traffic of a fabric whose devices stand below a switch with hierarchy based routing (`fabric` §3.4).

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::scenario::report::ScenarioReport;

const SYSTEM: &str = include_str!("../../systems/pbr_over_hbr_coherence.toml");

/// A run without findings, in which nothing that has to reach somebody is dropped.
fn sound(set: &[&str]) -> ScenarioReport {
    let report = run(SYSTEM, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    for path in ["front", "spine", "back", "below"] {
        for name in ["not decoded", "unknown LD-ID", "other classes", "CacheIDs discarded", "switch answers"] {
            assert_eq!(count(&report, path, name), 0, "{set:?}: {name} of {path}");
        }
    }
    assert_eq!(count(&report, "below", "back-invalidates discarded"), 0, "{set:?}");
    report
}

/// Every level passes each snoop and each answer once, those of the caching device at the edge port itself not by the switch below.
#[test]
fn lines_are_shared_and_cached_over_a_fabric_and_a_switch_below() {
    for decode in ["hdm", "ldst"] {
        let set = [
            "host.accesses=40",
            "host.pattern=false-sharing",
            "host.lines=3",
            "dev.accesses=40",
            "dev.pattern=migratory",
            "dev.lines=3",
            &format!("decode={decode}"),
        ];
        let report = sound(&set);
        for class in ["S2M BISnp", "M2S BIRsp", "D2H Req", "D2H Rsp", "H2D Rsp", "H2D Data", "H2D Req"] {
            let passed =
                ["front", "spine", "back", "below"].map(|path| count(&report, path, &format!("switched {class}")));
            assert!(passed[3] > 20 && passed[0] == passed[1] && passed[1] == passed[2], "{decode} {class}: {passed:?}");
            let is_cache = class.contains('D');
            assert!(
                if is_cache { passed[3] < passed[2] } else { passed[3] == passed[2] },
                "{decode} {class}: {passed:?}"
            );
        }
    }
}

/// Pressure on everything that can be full, and wrong bits.
#[test]
fn lines_stay_coherent_below_a_fabric() {
    let set = ["host.accesses=30", "dev.accesses=30", "host.lines=4", "dev.lines=4", "shared.filter_sets=1"];
    for more in [
        ["host.pattern=producer-consumer", "link.ber=2e-5", "component.spine.queue=1"],
        ["host.pattern=false-sharing", "component.below.output_queue=1", "component.back.queue=1"],
    ] {
        sound(&[&set[..], &more].concat());
    }
}

#[test]
fn coherence_below_a_fabric_is_deterministic() {
    let set = ["host.accesses=15", "dev.accesses=15"];
    let [one, two] = [1, 2].map(|threads| on_threads(SYSTEM, &set, threads).json());
    assert_eq!(one, two);
    let with_bits = |bits: &str| on_threads(SYSTEM, &[&set[..], &[&format!("link.bits={bits}")]].concat(), 1).json();
    assert_eq!(with_bits("watched"), with_bits("always"));
}

/// The host of another protocol, and more caching devices below all edges than a home has CacheIDs for.
#[test]
fn what_cannot_be_coherent_below_a_fabric_is_refused() {
    let crossed = SYSTEM
        .replacen("{ port = 0, usp = \"front.usp[0]\" }", "{ port = 0, usp = \"front.usp[2]\" }", 1)
        .replacen("{ port = 2, usp = \"front.usp[2]\" }", "{ port = 2, usp = \"front.usp[0]\" }", 1);
    let error = run(&crossed, &[]).expect_err("two protocols");
    assert!(error.contains("expected two of one protocol (fabric ERR-4)"), "{error}");
    let links: Vec<String> = (3..17).map(|n| format!("[\"below.dsp[{n}]\", \"dev[{n}].link\"]")).collect();
    let from = "[\"below.dsp[2]\", \"dev[1].link\"]";
    let bindings: Vec<String> = (3..17).map(|n| format!("{{ vcs = 2, vppb = {n}, port = {n} }}")).collect();
    let last = "{ vcs = 2, vppb = 1, port = 2 }";
    let many = SYSTEM
        .replacen(from, &format!("{from}, {}", links.join(", ")), 1)
        .replacen(last, &format!("{last}, {}", bindings.join(", ")), 1)
        .replacen("hosts = 3\nports = 3", "hosts = 3\nports = 17", 1)
        .replacen("kind = \"cxl.cache-device\"\ncount = 3", "kind = \"cxl.cache-device\"\ncount = 17", 1);
    let error = run(&many, &[]).expect_err("17 devices");
    assert!(error.contains("COH-CID-01") && error.contains("17 caching devices"), "{error}");
}
