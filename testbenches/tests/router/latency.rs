//! Latency and throughput of whole fabrics beside the formulas, and beside published ranges.

use super::{good, request};
use scalepool::scenario::curve::{self, LOAD_KEY};
use scalepool_testbenches::soak::is_soak;

/// A topology, and its latency without load by mean routers passed.
type Formula = (&'static str, fn(f64) -> f64);

const FORMULAS: [Formula; 4] = [
    ("mesh:8x8", |h| 5.0 * h + 2.0),
    // Channels between routers take two cycles.
    ("torus:8x8", |h| 5.0 * h + (h - 1.0) + 2.0),
    ("torus:4x4x4", |h| 5.0 * h + (h - 1.0) + 2.0),
    ("fat-tree:4x3", |h| 4.0 * h + 2.0),
];

/// The latency without load is that of the formula of each topology.
#[test]
fn fab_lat_02_p() {
    for (topology, formula) in FORMULAS {
        for flits in if is_soak() { 1..=8 } else { 1..=2 } {
            let packets = if is_soak() { 1000 } else { 30 };
            let set = [
                format!("topology={topology}"),
                "traffic.load=0.005".to_owned(),
                format!("traffic.packet_flits={flits}"),
                format!("traffic.packets={packets}"),
            ];
            let report = good("fabric-vc-router", &set.each_ref().map(String::as_str));
            let h = report.fabric.expect("a fabric").hops_mean;
            let expected = formula(h) + f64::from(flits - 1);
            let found = report.latency_cycles.mean;
            assert!(
                (found - expected).abs() < 0.1,
                "{topology}, {flits} flits: {found}, expected {expected} with h = {h}"
            );
        }
    }
}

/// Counted without the router of the destination, the routers passed give another latency.
#[test]
fn fab_lat_02_n() {
    let report = good("fabric-vc-router", &["topology=mesh:4x4", "traffic.load=0.005", "traffic.packets=20"]);
    let (h, formula) = (report.fabric.expect("a fabric").hops_mean, FORMULAS[0].1);
    let found = report.latency_cycles.mean;
    assert!((found - formula(h)).abs() < 0.1 && (found - formula(h - 1.0)).abs() > 4.0, "{found} with h = {h}");
}

/// Cycles that a packet takes over so many routers in a row, alone.
fn crossing(routers: u64, flits: u64, more: &str) -> u64 {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("one.jsonl");
    // A flit has 16 bytes.
    let text = format!("{{\"id\": 1, \"source\": 0, \"target\": {}, \"bytes\": {}}}\n", routers - 1, 16 * flits);
    std::fs::write(&path, text).expect("it can be written");
    let [topology, file] =
        [format!("topology=mesh:{routers}x1"), format!("component.node.traffic.program={}", path.display())];
    let report = good("fabric-vc-router", &[&topology, "component.node.traffic.pattern=program", &file, more]);
    report.counts.iter().find(|(name, _)| name == "last packet").expect("it is counted").1
}

/// The flits of a packet pass any number of routers one behind the other.
#[test]
fn fab_swc_06_p() {
    for (routers, flits) in (2..=5).flat_map(|routers| [1, 2, 5, 18].map(|flits| (routers, flits))) {
        let found = crossing(routers, flits, "router.vcs=4");
        assert_eq!(found, 5 * routers + 2 + (flits - 1), "{routers} routers, {flits} flits");
    }
}

/// Routers that first took in the whole packet would need its flits at each of them again, and a stage more is seen.
#[test]
fn fab_swc_06_n() {
    for (routers, flits) in [(2, 2), (3, 5), (5, 18)] {
        let found = crossing(routers, flits, "router.vcs=4");
        assert_ne!(found, routers * (5 + flits - 1) + 2 + (flits - 1), "{routers} routers, {flits} flits");
        assert_eq!(crossing(routers, flits, "router.routing_delay_cycles=2"), found + routers);
    }
}

/// Settings of routers that take in the whole packet first.
const STORED: &str = "component.router.switching=store-and-forward";

/// Each router takes in the whole packet before its first flit leaves: its flits are paid at every router and at the node.
#[test]
fn fab_swc_07_p() {
    for (routers, flits) in (2..=5).flat_map(|routers| [1, 2, 5, 8].map(|flits| (routers, flits))) {
        let found = crossing(routers, flits, STORED);
        assert_eq!(found, routers * (5 + flits - 1) + 2 + (flits - 1), "{routers} routers, {flits} flits");
    }
    // Packets behind each other in one buffer, under load, and every one arrives.
    let set = [STORED, "topology=mesh:4x4", "traffic.packet_flits=4", "traffic.load=0.3", "traffic.packets=60"];
    let report = good("fabric-vc-router", &set);
    let cut = good("fabric-vc-router", &[&["router.vcs=4"][..], &set[1..]].concat());
    assert!(report.latency_cycles.mean > cut.latency_cycles.mean + 6.0);
}

/// What cuts through is found to be no store-and-forward, and a packet that no buffer holds never leaves.
#[test]
fn fab_swc_07_n() {
    for (routers, flits) in [(2, 2), (3, 5), (5, 8)] {
        let found = crossing(routers, flits, "router.vcs=4");
        assert!(found < routers * (5 + flits - 1) + 2 + (flits - 1), "{routers} routers, {flits} flits");
    }
    let set = [STORED, "topology=mesh:2x1", "traffic.packet_flits=9", "traffic.packets=2"];
    let report = super::run("fabric-vc-router", &set).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<&str> = report.violations.iter().map(|one| one.violation.text.as_str()).collect();
    let expected = "waits for the rest of its packet, for all of which the buffer has to have room";
    assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
}

#[test]
fn a_single_packet_takes_the_formula_exactly() {
    // Node 0 of a mesh of two by one sends to node 1 and 1 to 0, so seldom that nothing waits.
    let set = ["topology=mesh:2x1", "traffic.pattern=complement", "traffic.load=0.001", "traffic.packets=4"];
    let report = good("fabric-vc-router", &set);
    assert_eq!((report.latency_cycles.min, report.latency_cycles.max), (12, 12));
    assert_eq!(report.fabric.expect("a fabric").hops_mean, 2.0);
    // Each setting of a stage is one cycle more at each router, or at each channel between routers.
    let with = |more: &str| good("fabric-vc-router", &[&set[..], &[more]].concat()).latency_cycles.max;
    assert_eq!(with("router.routing_delay_cycles=2"), 14);
    assert_eq!(with("channel.latency_cycles=4"), 15);
    assert_eq!(with("router.credit_delay_cycles=9"), 12);
}

/// Ranges of saturation in flits a node and cycle, uniform traffic of single flits.
const RANGES: [(&str, f64, f64); 4] =
    [("mesh:8x8", 0.39, 0.43), ("torus:8x8", 0.50, 0.54), ("torus:4x4x4", 0.79, 0.84), ("fat-tree:4x3", 0.67, 0.72)];

#[test]
fn saturation_lies_in_the_published_ranges() {
    for (topology, low, high) in RANGES {
        let (packets, warm_up, margin) = if is_soak() { (1000, 3000, 0.0) } else { (150, 600, 0.03) };
        let set = [
            format!("topology={topology}"),
            format!("traffic.packets={packets}"),
            format!("traffic.warm_up_cycles={warm_up}"),
        ];
        let request = request("fabric-vc-router", &set.each_ref().map(String::as_str));
        if is_soak() {
            let found = curve::saturation(&request, LOAD_KEY, 1.0, 0.016).expect("it runs").load;
            assert!((low..=high).contains(&found), "{topology}: {found}");
        } else {
            // One run on each side of the range.
            let zero = curve::point(&request, LOAD_KEY, 0.005).expect("it runs").latency.mean;
            let mean = |load: f64| curve::point(&request, LOAD_KEY, load).expect("it runs").latency.mean;
            assert!(mean(low - margin) < 3.0 * zero, "{topology} is not stable at {}", low - margin);
            assert!(mean(high + 2.0 * margin) > 3.0 * zero, "{topology} is stable at {}", high + 2.0 * margin);
        }
    }
}

/// Runs that end before their warm-up is over say nothing of a saturation load.
#[test]
fn saturation_of_runs_that_measure_nothing_is_refused() {
    let short = request("fabric-vc-router", &["topology=mesh:2x2", "traffic.warm_up_cycles=3000"]);
    let short = scalepool::scenario::ScenarioRequest { cycles: Some(1500), ..short };
    let error = curve::saturation(&short, LOAD_KEY, 0.9, 0.2).expect_err("nothing is measured").to_string();
    assert!(error.contains("traffic.load = 0.005: found a run that measured no latency"), "{error}");
}

/// Where the setting takes no load as low as that of an idle system, the lowest that it takes stands for it.
#[test]
fn saturation_starts_at_the_lowest_legal_load() {
    let short = request("queue-md1", &["traffic.packets=300"]);
    let found = curve::saturation(&short, LOAD_KEY, 0.9, 0.1).expect("it runs");
    assert!((0.3..=0.9).contains(&found.load) && found.zero_load_cycles > 1000.0, "{found:?}");
    let error = curve::saturation(&short, "traffic.packets", 0.9, 0.1).expect_err("it has whole numbers").to_string();
    assert!(error.contains("--key traffic.packets: found a setting that takes"), "{error}");
    let error = curve::saturation(&request("cxl68-expander", &[]), LOAD_KEY, 0.9, 0.1).expect_err("it has none");
    assert!(error.to_string().contains("`traffic.load`: no such key"), "{error}");
}

#[test]
fn a_curve_has_a_row_for_each_load() {
    assert_eq!(curve::loads("0.1:0.5:0.2"), Ok(vec![0.1, 0.3, 0.5]));
    assert_eq!(curve::loads("0.1,0.25"), Ok(vec![0.1, 0.25]));
    for wrong in ["", "a", "0.1:0.2", "0.1:0.5:0", "0.5:0.1:0.1", "0:1:0.0001"] {
        assert!(curve::loads(wrong).is_err(), "{wrong}");
    }
    let request = request("fabric-vc-router", &["topology=mesh:4x4", "traffic.packets=50"]);
    let points: Vec<_> =
        [0.1, 0.3].iter().map(|&load| curve::point(&request, LOAD_KEY, load).expect("it runs")).collect();
    let csv = curve::csv(&points);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    assert_eq!((rows[0][6], rows[0][9], rows[1][0], rows[2][0]), ("occupancy_vc0", "occupancy_vc3", "0.1", "0.3"));
    assert!(points[1].occupancy[0].1 > points[0].occupancy[0].1, "{csv}");
    let svg = curve::svg("mesh", &points);
    assert_eq!((svg.matches("<polyline").count(), svg.matches("</svg>").count()), (3, 1));
}
