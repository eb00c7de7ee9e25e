//! A crossbar and a queue beside theory (fabric 6.1).

use super::good;
use scalepool::kernel::Rng;
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

/// Cells of a slot and output with full queues, once the pointers have come apart.
fn of_full_queues(ports: &str, set: &[&str]) -> f64 {
    throughput(
        &[&["traffic.arrivals=full", "traffic.warm_up_slots=63", &format!("switch.ports={ports}")], set].concat(),
    )
}

/// Full queues for each output fill every slot, and random matching leaves what theory says.
#[test]
fn fab_xbr_04_p() {
    for ports in ["2", "16", "64"] {
        assert_eq!(of_full_queues(ports, &["traffic.slots=2000"]), 1.0, "{ports} ports");
    }
    let found = of_full_queues("64", &["switch.arbiter=random", "traffic.slots=1500"]);
    assert!((found - 0.632).abs() < 0.01, "random matching: {found}");
}

/// Pointers that move for grants that were not accepted leave a third of the slots empty, and so do those of a matching without any.
#[test]
fn fab_xbr_04_n() {
    const PORTS: usize = 16;
    let mut rng = Rng::from_seed(21);
    let mut pointers: [[usize; PORTS]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| rng.below(16) as usize));
    let mut passed = 0;
    for _ in 0..2000 {
        let [grants, accepts] = &mut pointers;
        for (input, accept) in accepts.iter_mut().enumerate() {
            let of_input = |output: &usize| grants[*output] == input;
            if let Some(output) = (0..PORTS).map(|n| (*accept + n) % PORTS).find(of_input) {
                *accept = (output + 1) % PORTS;
                passed += 1;
            }
        }
        grants.iter_mut().for_each(|grant| *grant = (*grant + 1) % PORTS);
    }
    let found = f64::from(passed) / (2000 * PORTS) as f64;
    assert!((found - 0.64).abs() < 0.05, "{found}");
    let random = of_full_queues("16", &["switch.arbiter=random", "traffic.slots=1500"]);
    assert!(random < 0.7, "{random}");
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

/// The wait of M/D/1 \[services\].
fn md1(load: f64) -> f64 {
    load / (2.0 * (1.0 - load))
}

fn is_md1(load: f64, found: f64) -> bool {
    (found / md1(load) - 1.0).abs() < 0.03
}

/// A queue with one server waits as long as theory says, at loads of 0.1 to 0.5; the soak has those of 0.6 to 0.9 as well, which need more
/// packets.
#[test]
fn fab_xbr_03_p() {
    for tenth in 1..=9u32 {
        let load = f64::from(tenth) / 10.0;
        // The wait scatters with the load (fabric 6.1); 10^5 packets are enough up to a half.
        let packets = match tenth {
            9 if is_soak() => 4_000_000,
            _ if is_soak() => 1_000_000,
            1..=5 => 200_000,
            _ => continue,
        };
        let (set_load, set_packets) = (format!("traffic.load={load}"), format!("traffic.packets={packets}"));
        let report = good("queue-md1", &[&set_load, &set_packets]);
        // A service takes 1000 cycles.
        let found = report.latency_cycles.mean / 1000.0 - 1.0;
        assert!(is_md1(load, found), "{load}: {found}, expected {}", md1(load));
    }
}

/// The mean wait \[services\] where arrivals come in slots, at most one in each, and a service takes so many of them.
fn slotted_wait(load: f64, slots: u64) -> f64 {
    let (mut rng, mut free, mut waited, mut packets) = (Rng::from_seed(22), 0u64, 0u64, 0u64);
    let percent = (load * 1000.0) as u64;
    for slot in 0..4_000_000 {
        if rng.ratio(percent, 1000 * slots) {
            waited += free.saturating_sub(slot);
            free = free.max(slot) + slots;
            packets += 1;
        }
    }
    waited as f64 / (packets * slots) as f64
}

/// Arrivals in slots are another queue: no wait with services of one slot, and (S-1)/S of that of M/D/1 with S of them.
#[test]
fn fab_xbr_03_n() {
    assert_eq!(slotted_wait(0.5, 1), 0.0);
    for (slots, share) in [(2, 0.5), (16, 0.9375)] {
        let found = slotted_wait(0.5, slots);
        assert!((found / md1(0.5) / share - 1.0).abs() < 0.03, "{slots}: {found}");
        assert!(!is_md1(0.5, found), "{slots}: {found}");
    }
}
