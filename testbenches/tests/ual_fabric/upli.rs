//! UPLIs between accelerators and their ports: words in traffic, slots of several ports, faults of parity.

use super::pods::{rules_of, run, set};
use scalepool::scenario::report::ScenarioReport;

fn pair(text: &str) -> ScenarioReport {
    run("ualink-pair", &text.split_whitespace().map(set).collect::<Vec<String>>())
}

fn count(report: &ScenarioReport, name: &str) -> u64 {
    report.counts.iter().find(|(k, _)| k == name).map_or(0, |(_, n)| *n)
}

/// Every operation crosses four interfaces: two as a request, two as an answer.
#[test]
fn a_run_drives_every_channel() {
    let report = pair("traffic.operations=150 traffic.mix=mix");
    assert_eq!(rules_of(&report), [""; 0]);
    assert_eq!(count(&report, "UPLI requests"), 2 * 300);
    // Two reads to a write, of four beats each.
    assert_eq!(count(&report, "UPLI data beats"), 2 * 4 * 100);
    assert_eq!(count(&report, "UPLI read response beats"), 2 * 4 * 200);
    assert_eq!(count(&report, "UPLI write responses"), 2 * 100);
}

/// One to four ports share an interface slot by slot, with few credits, several channels, lost flits.
#[test]
fn ports_take_turns() {
    for (ports, width) in [(1, 4), (2, 2), (3, 1), (4, 1)] {
        for order in ["strict", "relaxed"] {
            let text = format!(
                "traffic.operations=150 traffic.mix=all accel.vcs=4 pair.ports={ports} link.width={width} upli.credits=4 \
                 link.order={order} link.ber=1e-5"
            );
            let report = pair(&text);
            assert_eq!(rules_of(&report), [""; 0], "{text}");
            assert_eq!(count(&report, "operations"), 300);
        }
    }
}

#[test]
fn a_pod_can_have_them() {
    let settings = ["traffic.operations=40", "traffic.mix=all", "pod.switches=2", "upli.model=on", "link.width=2"];
    let report = run("ualink-pod", &settings.map(set));
    assert_eq!(rules_of(&report), [""; 0]);
    assert_eq!(count(&report, "UPLI requests"), 2 * 320);
}

/// Control parity of a request: its completer, all ports, goes into drop mode; the originator hears of it and isolates.
#[test]
fn wrong_control_parity_of_a_request() {
    let report = pair("traffic.operations=200 upli.fault=request:50");
    let places: Vec<(&str, &str)> = report
        .violations
        .iter()
        .map(|b| (b.place.as_str(), b.violation.rule))
        .filter(|v| v.1 == "UAL-UPL-13")
        .collect();
    // The monitor and the completer, each on its own.
    assert_eq!(places, [("accel[0].upli[0].asks", "UAL-UPL-13"); 2]);
    let (done, dummies) = (count(&report, "operations"), count(&report, "dummy answers"));
    assert_eq!(done + dummies, 400);
    assert!((150..=200).contains(&dummies), "one side is isolated, the other one is not: {dummies}");
    assert!(rules_of(&report).iter().all(|rule| ["UAL-UPL-13", "SIM-E2E-03"].contains(rule)));
}

/// Control parity of a write response: the originator isolates all ports by itself.
#[test]
fn wrong_control_parity_of_a_response() {
    let report = pair("traffic.operations=200 traffic.mix=writes upli.fault=response:20 pair.ports=2 link.width=2");
    let rules = rules_of(&report);
    assert_eq!(rules.iter().filter(|rule| **rule == "UAL-UPL-13").count(), 2);
    assert_eq!(count(&report, "operations") + count(&report, "dummy answers"), 400);
    assert!(count(&report, "dummy answers") >= 170, "both ports");
}

/// Data parity poisons the beat alone: everything goes on, and the bytes are known to be wrong.
#[test]
fn wrong_data_parity_poisons_a_beat() {
    for fault in ["data:7", "read:7"] {
        let report = pair(&format!("traffic.operations=100 traffic.blocks=2 upli.fault={fault}"));
        let rules = rules_of(&report);
        assert_eq!(rules.iter().filter(|rule| **rule == "UAL-UPL-13").count(), 2, "{fault}: {rules:?}");
        assert!(rules.iter().all(|rule| ["UAL-UPL-13", "SIM-E2E-01"].contains(rule)), "{fault}: {rules:?}");
        assert_eq!((count(&report, "operations"), count(&report, "dummy answers")), (200, 0));
    }
}
