//! Racks: hosts and memories at leaf switches, spines above.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::system::description::Description;
use std::path::PathBuf;

const RACK: &str = include_str!("../../../src/system/builtin/pbr-rack.toml");

/// Every access goes over a leaf, a spine and a leaf; destinations are dealt over the spines.
#[test]
fn a_rack_passes_what_its_hosts_ask_for() {
    let report = run(RACK, &["host.accesses=6"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let sum = |array: &str, count_of: usize, name: &str| {
        (0..count_of).map(|n| count(&report, &format!("{array}[{n}]"), name)).sum::<u64>()
    };
    let [reads, writes] = ["reads", "writes"].map(|name| sum("host", 64, name));
    assert_eq!(reads + writes, 64 * 6);
    for (array, switches) in [("front", 8), ("spine", 4), ("back", 8)] {
        let switched = ["M2S Req", "M2S RwD", "S2M NDR", "S2M DRS"]
            .map(|class| sum(array, switches, &format!("switched {class}")));
        assert_eq!(switched, [reads, writes, writes, reads], "{array}");
    }
    for n in 0..4 {
        assert_eq!(count(&report, &format!("spine[{n}]"), "switched M2S Req"), reads / 4, "spine[{n}]");
    }
}

#[test]
fn racks_of_any_size_are_the_same_on_any_number_of_threads() {
    let set = ["rack.leaves=2", "rack.spines=3", "rack.per_leaf=2", "host.accesses=60", "link.ber=1e-5"];
    let [one, two] = [1, 2].map(|threads| on_threads(RACK, &set, threads));
    assert_eq!(one.violations, []);
    assert_eq!(one.json(), two.json());
    run(RACK, &["rack.leaves=1", "rack.spines=1", "rack.per_leaf=1", "host.accesses=40"])
        .unwrap_or_else(|error| panic!("{error}"));
}

/// More PIDs than there are, and more hosts than a switch has ports for.
#[test]
fn racks_that_are_too_large_are_refused() {
    let refused = |set: &[(&str, &str)]| {
        let text = set.iter().fold(RACK.to_owned(), |text, (from, to)| text.replace(from, to));
        let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
        description.resolve().err().map(|problems| problems.to_string())
    };
    let leaves = ("leaf_count = 8", "leaf_count = 32");
    let found = refused(&[leaves, ("per_leaf = 8", "per_leaf = 64")]).expect("it is refused");
    assert!(found.contains("expected at most 4095 (fabric PID-1)"), "{found}");
    let found = refused(&[("spine_count = 4", "spine_count = 17")]).expect("it is refused");
    assert!(found.contains("found 17, expected 1 to 16"), "{found}");
    assert_eq!(refused(&[]), None);
}

const ENDPOINTS_4096: &str = include_str!("../../../src/system/builtin/pbr-4096.toml");

/// 512 hosts and 3,584 logical devices are a fabric, and none of what they need is too much for the 12 bits of a PID.
#[test]
fn four_thousand_endpoints_are_a_fabric() {
    let description = Description::parse("f.toml", PathBuf::new(), ENDPOINTS_4096).expect("it is TOML");
    let system = description.resolve().unwrap_or_else(|problems| panic!("{problems}"));
    let count = |kind: &str| system.components.iter().filter(|one| one.kind.name == kind).count();
    assert_eq!((count("cxl.host"), count("cxl.memory"), count("cxl.switch.pbr")), (512, 224, 48));
    assert_eq!(system.memory_map.len(), 3584);
}

/// Windows are those of logical devices too where the command line says how many there are.
#[test]
fn logical_devices_of_a_rack_may_be_set() {
    let small = ["rack.leaves=1", "rack.per_leaf=2", "rack.memory_leaves=2", "rack.memories_per_leaf=1"];
    let set = [&small[..], &["memory.logical_devices=2", "rack.spines=1", "host.accesses=20"]].concat();
    let report = run(ENDPOINTS_4096, &set).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert_eq!((0..2).map(|n| count(&report, &format!("host[{n}]"), "reads")).sum::<u64>(), 40);
}

/// The same with 16 hosts and 4 devices: every host asks a logical device of each, at random and in time.
#[test]
fn hosts_of_a_rack_ask_logical_devices_at_random() {
    let small =
        ["rack.leaves=2", "rack.per_leaf=8", "rack.memory_leaves=2", "rack.memories_per_leaf=2", "rack.spines=2"];
    let set = [&small[..], &["host.accesses=40", "component.front.spread=congestion"]].concat();
    let [one, two] = [1, 2].map(|threads| on_threads(ENDPOINTS_4096, &set, threads));
    assert_eq!(one.violations, []);
    assert_eq!(one.json(), two.json());
    let json = one.json();
    for n in 0..4 {
        let asked = json["links"][format!("memory[{n}]")]["cxl256.m2s_req"].as_u64().expect("a count");
        assert!((100..220).contains(&asked), "memory[{n}]: {asked} of 640 requests");
    }
    // 40 accesses of 2.222 ns each; the last one is due at 86.6 ns.
    assert!(one.time_fs > 86_000_000, "{}", one.time_fs);
    let given = ENDPOINTS_4096.replace("[settings]", "[memory_map]\n[settings]");
    let description = Description::parse("f.toml", PathBuf::new(), &given).expect("it is TOML");
    let found = description.resolve().err().expect("it is refused").to_string();
    assert!(found.contains("found a [memory_map] beside it, expected none"), "{found}");
}
