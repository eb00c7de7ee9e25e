//! What `nvlink-pod` promises: sums to the bit, bandwidth, conservation, work that follows the active ports.

use super::common::*;

/// Every way and number type gives the plain sum in its order, which the scenario compares bit for bit.
#[test]
fn all_reduce_is_exact_in_three_ways() {
    for way in ["pod.work=ring", "pod.work=direct", "pod.work=switch"] {
        for number in ["collective.number=int32", "collective.number=f32", "collective.number=bf16"] {
            let report = run_pod(&[way, number, "collective.bytes=4096", "collective.gpus=5", "pod.links=2"]);
            assert_eq!(count(&report, "vector [bytes]"), 5120);
            assert!(count(&report, "bus bandwidth [MB/s]") > 0);
        }
    }
}

/// Bus bandwidth of a ring beside that of full packets without a pause: 2(n-1)/n of the vector in the time that it takes.
/// Chunks are longer than the latency of a step, so it shows once.
fn ring(set: &[&str]) {
    let report = run_pod_on(2, set);
    let (found, wire) =
        (count(&report, "bus bandwidth [MB/s]"), count(&report, "bus bandwidth of full packets [MB/s]"));
    let bytes = count(&report, "vector [bytes]");
    println!("ring all-reduce of {bytes} bytes: bus bandwidth {found} MB/s of {wire} MB/s");
    assert!(found <= wire && 100 * found >= 95 * wire, "{found} MB/s of {wire} MB/s");
}

#[test]
fn ring_bandwidth_of_8() {
    ring(&["pod.work=ring", "collective.bytes=409600"]);
}

/// 72 GPUs take some 25 million flits, which is for `make soak`; 18 take a sixteenth. A chunk of 72 blocks takes longer than the
/// latency of a step.
#[test]
fn soak_ring_bandwidth_of_many() {
    let set = match std::env::var_os("SCALEPOOL_SOAK") {
        Some(_) => ["pod.work=ring", "pod.gpus=72", "collective.bytes=1327104"],
        None => ["pod.work=ring", "pod.gpus=18", "collective.bytes=331776"],
    };
    ring(&set);
}

/// Every store and every channel is full at times; nothing is lost, nothing comes twice, every credit comes home.
#[test]
fn messages_are_conserved_under_back_pressure() {
    let small = ["link.headers=2", "link.data_flits=16", "switch.store_flits=34", "traffic.mix=mix"];
    for work in ["pod.work=all-to-all", "pod.work=hot-spot", "pod.work=random"] {
        let more = [work, "traffic.requests=40", "traffic.region_bytes=2048", "link.ber=1e-7"];
        let report = run_pod(&small.iter().chain(&more).copied().collect::<Vec<_>>());
        assert!(report.credit_stalls > 0 && count(&report, "switch store full") > 0);
        assert_eq!(count(&report, "switch messages received"), count(&report, "switch messages sent"));
    }
}

/// Ports without work send their credits and sleep: two active GPUs cost the same among 8 and among 72.
#[test]
fn work_follows_the_active_ports() {
    let flits = |gpus: &str| {
        let report = run_pod(&["pod.work=ring", "collective.gpus=2", "collective.bytes=65536", gpus]);
        report.flits.iter().map(|(_, n)| n).sum::<u64>()
    };
    let (few, many) = (flits("pod.gpus=8"), flits("pod.gpus=72"));
    // Each of 64 further links: CREDIT_INIT of three channels at both ends.
    let idle = (many - few) / (2 * 64);
    assert!(idle <= 110, "{idle} flits of an idle port");
    assert_eq!((many - few) % (2 * 64), 0, "the active ports send the same");
}

#[test]
fn offered_and_accepted_load() {
    let set = ["pod.work=random", "traffic.load=0.3", "traffic.requests=400", "traffic.verify=off"];
    let fabric = run_pod(&set).fabric.expect("a fabric");
    assert!((fabric.offered_flits_per_node_cycle - 0.3).abs() < 1e-12);
    let found = fabric.accepted_flits_per_node_cycle;
    assert!((0.27..=0.31).contains(&found), "{found}");
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    for (set, text) in [
        (&["pod.gpus=19", "pod.switch=1"][..], "at most the 18 ports"),
        (&["pod.links=4", "pod.switches=5"], "found 5, expected at most 4"),
        (&["pod.work=switch", "pod.switch=2"], "neither copies nor reduces"),
        (&["collective.gpus=9"], "found 9, expected 0 or 2 to 8"),
        (&["traffic.bytes=24"], "a multiple of 16"),
    ] {
        let error = try_pod(Default::default(), set).expect_err("refused").to_string();
        assert!(error.contains(text), "{error}");
    }
    // 72 GPUs with 18 links each need 18 switches of 72 ports (`nvlink` §5).
    let report = run_pod(&["pod.gpus=72", "pod.links=18", "traffic.requests=0"]);
    assert_eq!(count(&report, "switches"), 18);
}
