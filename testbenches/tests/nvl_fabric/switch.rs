//! NVL-SWI, NVL-T13, NVL-T14: the switch between GPUs.

use super::common::*;

const HOT: [&str; 3] = ["pod.work=hot-spot", "traffic.requests=100", "traffic.verify=off"];

fn broken_switch(switch: SwitchFault) -> Wrong {
    Wrong { switch: Some(switch), gpu: None }
}

/// All want one output: nobody loses more than the N - 1 grants of a round.
#[test]
fn nvl_swi_01_p() {
    let report = run_pod(&HOT);
    assert!((1..8).contains(&count(&report, "most grants lost in a row")));
    assert_eq!(report.fabric.map(|f| f.hops_mean), Some(2.0));
}

#[test]
fn nvl_swi_01_n() {
    let report = pod_with(broken_switch(SwitchFault::Unfair), &HOT);
    assert_eq!(rules(&report), ["NVL-SWI-01"]);
}

/// NVL-T13: all to all, each message once. 72 endpoints as well.
#[test]
fn t13_all_to_all() {
    for (gpus, set) in [
        (8u64, &["traffic.mix=mix", "traffic.requests=70", "pod.links=2", "traffic.region_bytes=1024"][..]),
        (72, &["pod.gpus=72", "traffic.requests=71", "traffic.bytes=64", "traffic.verify=off"][..]),
    ] {
        let report = run_pod(set);
        assert_eq!(count(&report, "switch messages received"), count(&report, "switch messages sent"), "{gpus}");
        // Nobody starves, and the bytes of a run with verification are those that were written.
        assert!(count(&report, "most grants lost in a row") <= gpus * gpus);
        assert_eq!(count(&report, "switch misses") + count(&report, "switch stray responses"), 0);
    }
}

#[test]
fn nvl_swi_02_p() {
    // Requests by address to 5 GPUs, answers by requester; two switches, two links to each.
    let set = ["pod.gpus=5", "pod.links=4", "pod.switches=2", "traffic.mix=mix", "traffic.requests=60"];
    let report = run_pod(&set);
    assert_eq!(count(&report, "switch misses"), 0);
}

#[test]
fn nvl_swi_02_n() {
    let report = pod_with(broken_switch(SwitchFault::NoEntry), &["traffic.requests=70"]);
    // Ten of the writes of each of the seven others, and the first FLUSH of each.
    assert_eq!(count(&report, "switch misses"), 7 * 10 + 7);
    assert_eq!(rules(&report), ["SIM-E2E-03"], "a FLUSH that was dropped is never answered");
}

const SUM: [&str; 2] = ["pod.work=switch", "collective.bytes=8192"];

/// NVL-T14: groups of 2 to 8, one copy each.
#[test]
fn nvl_swi_03_p() {
    for members in 2..=8u64 {
        let members_of = format!("collective.gpus={members}");
        let report = run_pod(&[SUM[0], SUM[1], &members_of]);
        let blocks = count(&report, "MULTICAST_WRITE");
        assert_eq!(count(&report, "REDUCE_READ"), blocks);
        // A read and a copy for each member and block.
        assert_eq!(count(&report, "switch copies"), 2 * members * blocks);
        assert_eq!(count(&report, "switch sums"), blocks);
    }
}

#[test]
fn nvl_swi_03_n() {
    for fault in [SwitchFault::LosesCopy, SwitchFault::DoublesCopy] {
        let report = pod_with(broken_switch(fault), &SUM);
        assert!(rules(&report).contains(&"NVL-SWI-03"), "{fault:?}: {:?}", rules(&report));
    }
}

/// A single read of 16 bytes through one switch.
fn probe(set: &[&str]) -> u64 {
    let base = ["pod.gpus=2", "traffic.requests=1", "traffic.mix=reads", "traffic.bytes=16", "traffic.verify=off"];
    run_pod(&base.iter().chain(set).copied().collect::<Vec<_>>()).latency_cycles.min
}

/// At 0.32 ns a flit: the first credits come over a link, then 4 links of 60 ns, 2 hops of 150 ns, 100 cycles in memory; the
/// rest are the flits themselves and a clock for each channel between modules.
#[test]
fn nvl_swi_04_p() {
    let ideal = 5 * 188 + 2 * 469 + 100;
    let found = probe(&[]);
    assert!((ideal..ideal + 40).contains(&found), "{found} cycles, expected about {ideal}");
}

/// Other latencies are told apart, to the cycle.
#[test]
fn nvl_swi_04_n() {
    let base = probe(&[]);
    assert_eq!(probe(&["switch.hop_fs=300000000"]) - base, 2 * 469);
    let longer = probe(&["link.latency_fs=120000000"]) - base;
    assert!((5 * 187..=5 * 188).contains(&longer), "{longer}");
}
