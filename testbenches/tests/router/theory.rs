//! A crossbar and a queue beside theory (fabric 6.1).

use super::good;
use scalepool_testbenches::soak::is_soak;

fn crossbar(set: &[&str]) -> scalepool::scenario::report::ScenarioReport {
    good("fabric-crossbar", set)
}

fn throughput(set: &[&str]) -> f64 {
    crossbar(set).fabric.expect("a fabric").accepted_flits_per_node_cycle
}

/// Saturated inputs with one queue each pass what theory says of their number.
#[test]
fn fab_xbr_01_p() {
    for (ports, expected) in [("2", 0.750), ("4", 0.655), ("16", 0.601), ("64", 0.590)] {
        let slots = if is_soak() || ports != "64" { "traffic.slots=40000" } else { "traffic.slots=8000" };
        let found =
            throughput(&[&format!("switch.ports={ports}"), "switch.queueing=fifo", "traffic.arrivals=full", slots]);
        assert!((found - expected).abs() < 0.005, "{ports} ports: {found}");
    }
}

/// The limit of many ports is not the value of sixteen.
#[test]
fn fab_xbr_01_n() {
    let set = ["switch.ports=16", "switch.queueing=fifo", "traffic.arrivals=full", "traffic.slots=8000"];
    let limit = 2.0 - 2f64.sqrt();
    assert!(throughput(&set) - limit > 0.008, "{}", throughput(&set));
}

#[test]
fn full_queues_for_each_output_fill_every_slot() {
    for ports in ["2", "16", "64"] {
        let set = ["traffic.arrivals=full", "traffic.slots=2000", "traffic.warm_up_slots=63"];
        let found = throughput(&[&set[..], &[&format!("switch.ports={ports}")]].concat());
        assert_eq!(found, 1.0, "{ports} ports");
    }
    let found =
        throughput(&["switch.arbiter=random", "switch.ports=64", "traffic.arrivals=full", "traffic.slots=1500"]);
    assert!((found - 0.632).abs() < 0.01, "random matching: {found}");
}

/// Queues at outputs wait as long as theory says.
#[test]
fn fab_xbr_02_p() {
    for p in [0.1, 0.5, 0.8] {
        let expected = 15.0 / 16.0 * p / (2.0 * (1.0 - p));
        let slots = if is_soak() { 400_000 } else { 60_000 };
        let (load, slots) = (format!("traffic.load={p}"), format!("traffic.slots={slots}"));
        let found = crossbar(&["switch.queueing=output", &load, &slots]).latency_cycles.mean - 1.0;
        assert!((found / expected - 1.0).abs() < 0.03, "{p}: {found}, expected {expected}");
    }
}

/// One queue at each input waits much longer at the same load.
#[test]
fn fab_xbr_02_n() {
    let expected = 15.0 / 16.0 * 0.5 / (2.0 * 0.5);
    let set = ["switch.queueing=fifo", "traffic.load=0.5", "traffic.slots=8000"];
    let found = crossbar(&set).latency_cycles.mean - 1.0;
    assert!(found > 1.2 * expected, "{found}, where output queues wait {expected}");
}

#[test]
fn a_queue_with_one_server_waits_as_long_as_theory_says() {
    for tenth in 1..=9u32 {
        let load = f64::from(tenth) / 10.0;
        // The wait scatters with the load (fabric 6.1); 10^5 packets are enough up to a half.
        let packets = match tenth {
            9 if is_soak() => 4_000_000,
            _ if is_soak() => 1_000_000,
            1..=5 => 200_000,
            _ => continue,
        };
        let expected = load / (2.0 * (1.0 - load));
        let (set_load, set_packets) = (format!("traffic.load={load}"), format!("traffic.packets={packets}"));
        let report = good("queue-md1", &[&set_load, &set_packets]);
        // A service takes 1000 cycles.
        let found = report.latency_cycles.mean / 1000.0 - 1.0;
        assert!((found / expected - 1.0).abs() < 0.03, "{load}: {found}, expected {expected}");
    }
}
