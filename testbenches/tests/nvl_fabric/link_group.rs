//! NVL-TLR, NVL-T11, NVL-T12: answers, order and credits between two GPUs.

use super::common::*;

/// Small enough for every run of the suite, large enough for all operations.
const MIX: [&str; 2] = ["traffic.requests=150", "traffic.region_bytes=2048"];

fn mix(more: &[&'static str]) -> Vec<&'static str> {
    MIX.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn nvl_tlr_01_p() {
    let report = run_pair(&mix(&["link.count=2"]));
    // One answer for each request of the channel of requests with answer, and no other.
    assert_eq!(count(&report, "CREQ0"), count(&report, "RSP0"));
    for op in ["READ", "WRITE_POSTED", "WRITE_NONPOSTED", "ATOMIC_RETURN", "ATOMIC_POSTED", "FLUSH"] {
        assert!(count(&report, op) > 0, "{op}");
    }
    assert_eq!(count(&report, "CREQ1"), count(&report, "WRITE_POSTED") + count(&report, "ATOMIC_POSTED"));
}

#[test]
fn nvl_tlr_01_n() {
    let extra = pair_with(GpuFault::AnswersPosted, &mix(&[]));
    assert!(rules(&extra).contains(&"NVL-TLR-01"), "{:?}", rules(&extra));
    let missing = pair_with(GpuFault::KeepsAnswers, &mix(&[]));
    assert_eq!(rules(&missing), ["SIM-E2E-03"]);
    let text = &missing.violations[0].violation.text;
    assert!(text.contains("requests without answer"), "{text}");
}

const LITMUS: [&str; 3] = ["traffic.pattern=litmus", "traffic.requests=4", "link.skew_fs=3000000"];

/// NVL-T12 with the links apart, so that writes overtake each other between links.
#[test]
fn nvl_tlr_02_p() {
    let report = run_pair(&LITMUS);
    assert_eq!(count(&report, "FLUSH"), 8);
}

#[test]
fn nvl_tlr_02_n() {
    let report = pair_with(GpuFault::FlushPasses, &LITMUS);
    assert!(rules(&report).contains(&"NVL-TLR-02"), "{:?}", rules(&report));
}

/// 2 to 18 links: litmus tests, and traffic whose bytes would be wrong in another order.
#[test]
fn nvl_tlr_03_p() {
    for links in ["link.count=2", "link.count=7", "link.count=18"] {
        run_pair(&[LITMUS[0], "traffic.requests=2", LITMUS[2], links]);
    }
    run_pair(&mix(&["link.count=3", LITMUS[2]]));
}

#[test]
fn nvl_tlr_03_n() {
    for set in [&LITMUS[..], &MIX[..]] {
        let report = pair_with(GpuFault::LinksInTurn, set);
        assert!(rules(&report).contains(&"NVL-TLR-03"), "{:?}", rules(&report));
    }
}

/// NVL-T11: one header credit and one longest packet; no overrun, everything arrives. Answers that wait for requests end in
/// a standstill that is reported.
#[test]
fn t11_smallest_credits() {
    let small = ["link.headers=1", "link.data_flits=16", "link.count=1"];
    let report = run_pair(&mix(&small));
    assert!(report.credit_stalls > 0);
    let blocked = pair_with(GpuFault::BlocksAnswers, &mix(&small));
    assert!(rules(&blocked).contains(&"SIM-E2E-03"), "{:?}", rules(&blocked));
}

/// Errors on every link are repaired, and no byte is wrong.
#[test]
fn bit_errors_are_repaired() {
    let report = run_pair(&mix(&["link.ber=3e-6", "link.count=2", "link.fault=flip:900:3,up:drop:1200"]));
    assert!(report.retries > 0 && report.errors_repaired >= 2, "{} {}", report.retries, report.errors_repaired);
}

/// NVL-EFF-01 in a simulation: reads in both directions share the wire with their requests.
#[test]
fn two_way_reads_take_one_flit_more() {
    let set = ["traffic.pattern=reads", "traffic.requests=2500", "link.count=1", "traffic.verify=off"];
    let report = run_pair(&set);
    assert!((0.87..0.8889).contains(&report.efficiency), "{}", report.efficiency);
}
