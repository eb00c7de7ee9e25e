//! Hosts that share lines, and devices that cache them, over several levels of switches with hierarchy based routing.

use super::systems::{count, on_threads, refused, run};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use std::collections::{BTreeMap, BTreeSet};

const CASCADE: &str = include_str!("../../systems/cascaded_coherence.toml");

/// A run without findings in which no switch discards or answers anything.
fn sound(set: &[&str]) -> ScenarioReport {
    let report = run(CASCADE, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    for path in ["top", "low", "lowest"] {
        for name in [
            "not decoded",
            "not bound",
            "unknown LD-ID",
            "other classes",
            "CacheIDs discarded",
            "back-invalidates discarded",
            "switch answers",
        ] {
            assert_eq!(count(&report, path, name), 0, "{set:?}: {name} of {path}");
        }
    }
    report
}

fn passed(report: &ScenarioReport, path: &str, class: &str) -> u64 {
    count(report, path, &format!("switched {class}"))
}

/// Numbers in a field of the messages of a layout, by the place where they were seen.
fn numbers(set: &[&str], field: &str, layouts: &[&str]) -> BTreeMap<String, BTreeSet<u64>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(path.clone()), ..Outputs::default() };
    let set = set.iter().map(|one| (*one).to_owned()).collect();
    let description = Some(CASCADE.to_owned());
    let request = ScenarioRequest { description, seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(path).expect("a trace");
    let mut all: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if layouts.contains(&record["message"].as_str().unwrap_or_default()) {
            let place = record["where"].as_str().unwrap_or_default().to_owned();
            all.entry(place).or_default().insert(record["fields"][field].as_u64().expect("a number"));
        }
    }
    all
}

/// BI Forward at the upper ports, BI Enable at the one above the device: hosts see the bus of the device, which is behind the bus
/// of the lower switch and the one inside it, the device its LD-IDs.
#[test]
fn fab_bir_01_p2() {
    let seen =
        numbers(&["host.accesses=30", "host.pattern=false-sharing", "host.lines=3"], "bi_id", &["cxl256.s2m_bisnp"]);
    assert_eq!(seen["shared.dcoh"], (0..4).collect());
    // vPPB 0 above: bus 3, inside the lower switch 4; its vPPB 2 is two buses further, and vPPB 3 above three.
    let of_hosts = [5, 7, 8, 5];
    for (n, bus) in of_hosts.into_iter().enumerate() {
        assert_eq!(seen[&format!("host[{n}].mem[0]")], BTreeSet::from([bus]), "host[{n}]: {seen:?}");
    }
    let report = sound(&["host.accesses=30", "host.pattern=false-sharing", "host.lines=3"]);
    for class in ["S2M BISnp", "M2S BIRsp"] {
        assert!(passed(&report, "low", class) > 20);
        assert_eq!(passed(&report, "top", class), passed(&report, "low", class), "{class}");
    }
}

/// A link between switches without the identifiers of back-invalidates and CacheIDs is refused, whichever of them it would carry.
#[test]
fn fab_bir_01_n2() {
    let text = CASCADE.replacen("[link.cascade]\nkind = \"cxl-256b\"", "[link.cascade]\nkind = \"cxl-68b\"", 1);
    let found = refused(&text);
    assert!(found.contains("cxl-68b") && found.contains("low.usp[0]") && found.contains("fabric BIR-1"), "{found}");
    assert!(found.contains("low.usp[4]") && found.contains("fabric CID-5"), "{found}");
}

/// The port above a device assigns its CacheID, ports above switches forward it: the home and all switches see the same four, in the
/// order of the vPPBs, over one, two and three levels.
#[test]
fn fab_cid_02_p2() {
    let set = ["dev.accesses=40", "dev.pattern=migratory", "dev.lines=3", "host.accesses=5"];
    for layout in ["cxl256.d2h_req", "cxl256.h2d_req", "cxl256.h2d_rsp"] {
        let seen = numbers(&set, "cache_id", &[layout]);
        if layout != "cxl256.d2h_req" {
            assert_eq!(seen["top"], (0..4).collect(), "{layout}: {seen:?}");
            assert_eq!(seen["low"], (1..4).collect(), "{layout}: {seen:?}");
            assert_eq!(seen["lowest"], BTreeSet::from([1]), "{layout}: {seen:?}");
        }
        assert_eq!(seen["home.home"], (0..4).collect(), "{layout}: {seen:?}");
    }
    let report = sound(&set);
    let snoops = |path: &str| passed(&report, path, "H2D Req");
    assert!(snoops("top") > snoops("low") && snoops("low") > snoops("lowest") && snoops("lowest") > 0);
}

/// A lower switch without an entry for a CacheID: what the home sends is discarded there, and the watch-dog names the device.
#[test]
fn fab_cid_02_n2() {
    let error = run(CASCADE, &["dev.accesses=10", "host.accesses=5", "low.table=2:none"]);
    let text = match error {
        Ok(report) => format!("{:?}", report.violations),
        Err(error) => error,
    };
    assert!(text.contains("COH-CID-03") && text.contains("device 2"), "{text}");
}

/// More caching devices than CacheIDs, counted over all levels.
#[test]
fn fab_cid_03_n2() {
    let more = CASCADE.replacen(
        "clock = \"switch\"\n\n[component.shared]",
        "clock = \"switch\"\nports = 14\n\n[component.shared]",
        1,
    );
    let more = more.replacen("kind = \"cxl.cache-device\"\ncount = 4", "kind = \"cxl.cache-device\"\ncount = 17", 1);
    let links: Vec<String> = (1..14).map(|n| format!("[\"lowest.dsp[{n}]\", \"dev[{}].link\"]", n + 3)).collect();
    let from = "[\"low.dsp[2]\", \"dev[3].link\"]";
    let more = more.replacen(from, &format!("{from}, {}", links.join(", ")), 1);
    let error = run(&more, &[]).expect_err("17 devices");
    assert!(error.contains("found 17 holders of its lines, expected 1 to 16"), "{error}");
}

/// Pressure on everything that can be full, and wrong bits: invariants hold, and nothing is lost.
#[test]
fn lines_stay_coherent_over_levels() {
    let set = ["host.accesses=30", "dev.accesses=30", "host.lines=4", "dev.lines=4", "shared.filter_sets=1"];
    for more in [
        ["host.pattern=producer-consumer", "link.ber=2e-5", "component.top.queue=1"],
        ["host.pattern=false-sharing", "component.low.output_queue=1", "component.low.queue=1"],
    ] {
        sound(&[&set[..], &more].concat());
    }
}

/// Threads and bytes of flits change nothing.
#[test]
fn coherent_cascades_are_deterministic() {
    let set = ["host.accesses=15", "dev.accesses=15"];
    let [one, two] = [1, 2].map(|threads| on_threads(CASCADE, &set, threads).json());
    assert_eq!(one, two);
    let with_bits = |bits: &str| on_threads(CASCADE, &[&set[..], &[&format!("link.bits={bits}")]].concat(), 1).json();
    assert_eq!(with_bits("watched"), with_bits("always"));
}

/// vPPBs behind which no bus number is left.
#[test]
fn a_hierarchy_has_256_buses() {
    // Bus 3 is that of vPPB 0; the switch behind vPPB 250 has bus 253, inside it is 254, and its vPPBs 0 and 1 have 255 and none.
    let at = |vppb: usize| {
        CASCADE
            .replacen("{ vcs = 4, vppb = 1, port = 4 }", &format!("{{ vcs = 4, vppb = {vppb}, port = 4 }}"), 1)
            .replacen("hosts = 5\nports = 6", "hosts = 5\nports = 6\nvppbs = 255", 1)
    };
    run(&at(245), &["dev.accesses=5", "host.accesses=5"]).unwrap_or_else(|error| panic!("{error}"));
    let error = run(&at(250), &[]).expect_err("no bus is left");
    assert!(error.contains("without a bus") && error.contains("fabric BIR-1"), "{error}");
}
