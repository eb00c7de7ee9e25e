//! Latency and throughput of whole fabrics beside the formulas, and beside published ranges.

use super::{good, request};
use scalepool::scenario::curve::{self, LOAD_KEY};
use scalepool::scenario::{self, ScenarioRequest};
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

#[test]
fn rates_and_packets_are_as_offered() {
    for pattern in ["uniform", "hot-spot", "permutation", "transpose", "complement", "neighbour"] {
        let set =
            [&format!("traffic.pattern={pattern}"), "topology=torus:4x4", "traffic.load=0.1", "traffic.packets=400"];
        let report = good("fabric-vc-router", &set);
        let fabric = report.fabric.expect("a fabric");
        let offered = fabric.offered_flits_per_node_cycle;
        assert!((offered - 0.1).abs() < 0.005, "{pattern}: {offered}");
        let accepted = fabric.accepted_flits_per_node_cycle;
        assert!((accepted / offered - 1.0).abs() < 0.01, "{pattern}: {accepted} of {offered}");
        let count = |name: &str| report.counts.iter().find(|(of, _)| of == name).map(|(_, n)| *n);
        assert_eq!(count("packets made"), count("packets taken"), "{pattern}");
    }
}

#[test]
fn threads_change_nothing() {
    for topology in ["mesh:4x4", "torus:4x4", "fat-tree:2x3", "dragonfly:1,3,1"] {
        let set = [&format!("topology={topology}"), "traffic.load=0.4", "traffic.packet_flits=3", "traffic.packets=40"];
        let one = request("fabric-vc-router", &set);
        let run = |request: &ScenarioRequest| {
            serde_json::to_string(&scenario::run(request, &mut |_| ()).expect("it runs").json()).expect("JSON")
        };
        let two = ScenarioRequest { threads: 2, ..one.clone() };
        assert_eq!(run(&one), run(&two), "{topology}");
        let idle = scenario::Modes { evaluate_idle: true, shuffle: Some(3) };
        assert_eq!(run(&one), run(&ScenarioRequest { modes: idle, ..one.clone() }), "{topology}");
        assert_ne!(run(&one), run(&ScenarioRequest { seed: 8, ..one.clone() }), "{topology}");
    }
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
