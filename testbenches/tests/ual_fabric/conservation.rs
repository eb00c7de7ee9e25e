//! Messages through pods: each comes out once, in the order that is promised for its source, destination and port, under
//! back-pressure on every port. Requests and answers are compared one by one, by what they are, not by sums.

use super::pods::{rules_of, run, set};
use super::rig::{on_vc, read, response, write};
use scalepool::link::ualink::upli::{Ordered, Ordering};
use scalepool::nodes::ualink::ledger::{UalLedger, conservation};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;

fn pod(seed: u64, text: &str) -> ScenarioReport {
    let set = text.split_whitespace().map(set).collect();
    let request =
        ScenarioRequest { scenario: "ualink-pod".into(), seed, threads: 1, set, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).expect("a legal request")
}

/// Two topologies, three seeds, both orders; buffers of a few transactions, ports that take nothing most of the time.
#[test]
fn what_goes_in_comes_out_once_and_in_order() {
    let scarce = "link.pool_commands=3 link.pool_data=8 link.vc_commands=1 link.vc_data=4 switch.egress_queue=2";
    for topology in ["pod.accelerators=6 pod.switches=1", "pod.accelerators=4 pod.switches=3 link.width=2"] {
        for seed in 1..=3 {
            for order in ["strict", "relaxed"] {
                let text = format!(
                    "{scarce} {topology} link.order={order} link.stall_percent=70 traffic.operations=50 traffic.mix=all \
                     accel.vcs=4 traffic.pattern=random link.ber=1e-6"
                );
                let report = pod(seed, &text);
                assert_eq!(rules_of(&report), [""; 0], "seed {seed}: {text}");
                assert!(report.credit_stalls > 100, "{}: there is back-pressure", report.credit_stalls);
            }
        }
    }
}

/// A stall is felt, and changes nothing but time.
#[test]
fn stalls_cost_time_alone() {
    let text = |percent: u32| format!("traffic.operations=40 traffic.mix=all link.stall_percent={percent}");
    let [free, stalled] = [0, 90].map(|percent| pod(1, &text(percent)));
    assert_eq!((rules_of(&free), rules_of(&stalled)), (vec![], vec![]));
    assert!(stalled.latency_fs.mean > 1.2 * free.latency_fs.mean, "{:?} {:?}", stalled.latency_fs, free.latency_fs);
    assert_eq!(free.counts[..4], stalled.counts[..4]);
}

/// Relaxed order lets channels pass each other somewhere, and keeps each channel to a block in order; strict order does not.
#[test]
fn relaxed_order_is_used_and_bounded() {
    let scarce = "link.pool_commands=0 link.pool_data=0 link.vc_commands=1 link.vc_data=4 link.stall_percent=60";
    let text = |order: &str| {
        format!("{scarce} pod.accelerators=4 accel.vcs=4 traffic.mix=all traffic.operations=80 link.order={order}")
    };
    let [strict, relaxed] = ["strict", "relaxed"].map(|order| pod(5, &text(order)));
    assert_eq!((rules_of(&strict), rules_of(&relaxed)), (vec![], vec![]));
    // Four channels that need not wait for each other are faster than one row.
    assert!(relaxed.time_fs < strict.time_fs, "{} and {} fs", relaxed.time_fs, strict.time_fs);
}

/// Nothing comes between denied pairs, and the rest is all there.
#[test]
fn denied_pairs_lose_their_own_alone() {
    let settings =
        ["switch.deny=1:2", "accel.timeout_fs=20000000000", "traffic.operations=30", "link.stall_percent=30"];
    let report = run("ualink-pod", &settings.map(set));
    assert!(rules_of(&report).iter().all(|rule| *rule == "UAL-UPL-14"), "{:?}", rules_of(&report));
}

fn of(transfer: &Transfer) -> (usize, Ordered) {
    (0, Ordered::of(transfer).expect("a transaction"))
}

/// The account itself: lost, doubled, swapped, from nowhere, denied.
#[test]
fn the_account_sees_each_kind_of_loss() {
    let of_vc = |n: u16, vc| on_vc(write(ReqCmd::WriteFull, 0x100, 1, n), vc);
    let list: Vec<Transfer> =
        vec![of_vc(1, 0), of_vc(2, 1), of_vc(3, 0), read(0x400, 1, 4), response(0, 5), response(1, 6)];
    let sent: Vec<_> = list.iter().map(of).collect();
    let judged = |order: &[usize], ordering: Ordering, denied: &[(u16, u16)]| {
        let came = order.iter().map(|&n| sent[n]).collect();
        let ledger = UalLedger { sent: sent.iter().copied().collect(), came };
        let found = conservation(&[&ledger], ordering, denied, true, 1);
        found.iter().map(|v| v.rule).collect::<Vec<_>>()
    };
    let (strict, relaxed) = (Ordering::Strict, Ordering::Default);
    assert_eq!(judged(&[0, 1, 2, 3, 4, 5], strict, &[]), [""; 0]);
    assert_eq!(judged(&[0, 1, 5, 2, 4, 3], strict, &[]), [""; 0], "answers and requests keep no order");
    assert_eq!(judged(&[0, 1, 2, 4, 5], strict, &[]), ["SIM-E2E-03"], "lost");
    assert_eq!(judged(&[0, 1, 2, 2, 3, 4, 5], strict, &[]), ["UAL-UPL-09"], "doubled");
    assert_eq!(judged(&[1, 0, 2, 3, 4, 5], strict, &[]), ["UAL-UPL-06"], "swapped");
    assert_eq!(judged(&[1, 3, 0, 2, 4, 5], relaxed, &[]), [""; 0], "other channels and blocks may pass");
    assert_eq!(judged(&[2, 0, 1, 3, 4, 5], relaxed, &[]), ["UAL-UPL-05"]);
    let pair = match list[0].field {
        ControlField::Request(req) => (req.src, req.dst),
        _ => unreachable!("a write"),
    };
    assert_eq!(judged(&[0], strict, &[pair]), ["UAL-SWI-02"]);
    assert_eq!(judged(&[], strict, &[pair]), [""; 0]);
    let other_port = UalLedger { sent: [sent[0]].into_iter().collect(), came: [(1, sent[0].1)].into_iter().collect() };
    let found = conservation(&[&other_port], strict, &[], true, 1);
    assert_eq!(found.iter().map(|v| v.rule).collect::<Vec<_>>(), ["SIM-E2E-03", "UAL-UPL-09"], "by another port");
}
