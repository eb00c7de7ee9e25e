//! Transactions under AES-256-GCM from accelerator to accelerator, in traffic: obeyed, tampered with, keys rolled.

use super::pods::{rules_of, run, set};
use scalepool::scenario::report::ScenarioReport;

fn scenario(name: &str, text: &str) -> ScenarioReport {
    run(name, &text.split_whitespace().map(set).collect::<Vec<String>>())
}

fn count(report: &ScenarioReport, name: &str) -> u64 {
    report.counts.iter().find(|(k, _)| k == name).map_or(0, |(_, n)| *n)
}

/// Data is equal end to end, keys roll in mid-traffic, flits get lost on the way.
#[test]
fn ual_sec_02_p() {
    for (kind, ber) in [("auth", "0"), ("encrypt", "0"), ("encrypt", "2e-5")] {
        let text = format!(
            "link.authentication={kind} link.key_roll_every=20 link.ber={ber} traffic.operations=240 traffic.mix=all \
             accel.vcs=3"
        );
        let report = scenario("ualink-pair", &text);
        assert_eq!(rules_of(&report), [""; 0], "{text}");
        // Every stream rolls four times each way.
        assert_eq!((count(&report, "operations"), count(&report, "key rolls")), (480, 24), "{text}");
        let pod = format!("{text} traffic.operations=60 pod.accelerators=5 pod.switches=2 accel.responses=single");
        let report = scenario("ualink-pod", &pod);
        assert_eq!(rules_of(&report), [""; 0], "{pod}");
        assert_eq!((count(&report, "operations"), count(&report, "key rolls")), (300, 15), "{pod}");
    }
}

/// A bit that flips behind the data link layer: in the field, the data, the tag.
#[test]
fn ual_sec_02_n() {
    let common = "traffic.operations=40 traffic.mix=writes accel.timeout_fs=20000000000";
    // Bits of a request of 256 bytes: 128 of the field, 2048 of data, 64 of the tag.
    for kind in ["auth", "encrypt"] {
        for bit in [104, 128 + 700, 128 + 2048 + 5] {
            // The first transaction that comes in a pair of writers is a request.
            let report = scenario("ualink-pair", &format!("{common} link.authentication={kind} link.tamper=0:{bit}"));
            let rules = rules_of(&report);
            assert_eq!(rules.iter().filter(|rule| **rule == "UAL-SEC-02").count(), 1, "{kind} {bit}: {rules:?}");
            let at = report.violations.iter().find(|b| b.violation.rule == "UAL-SEC-02").map(|b| b.place.as_str());
            assert_eq!(at, Some("accel[0].port[0]"));
            // It is dropped, so its originator waits in vain, and nobody takes wrong bytes.
            assert!(rules.iter().all(|rule| ["UAL-SEC-02", "UAL-UPL-14"].contains(rule)), "{rules:?}");
            assert!(count(&report, "dummy answers") > 0);
        }
    }
    // Without protection nobody can tell before the bytes are read.
    let reads = "traffic.operations=40 traffic.mix=reads traffic.blocks=1 link.tamper=3:300,50:200";
    let rules = |text: &str| rules_of(&scenario("ualink-pair", text));
    assert!(rules(reads).contains(&"SIM-E2E-01"), "{:?}", rules(reads));
    // A write response has nothing but its field.
    let text = format!("{common} link.authentication=auth link.tamper=60:2");
    assert!(rules(&text).contains(&"UAL-SEC-02"));
}

#[test]
fn protection_goes_with_what_it_needs() {
    for text in [
        "link.authentication=auth link.order=relaxed",
        "link.authentication=encrypt traffic.poison_every=3",
        "link.key_roll_every=5",
        "link.tamper=x:1",
        "upli.fault=read:1 upli.model=off",
        "upli.fault=beat:1",
        "pair.ports=2",
    ] {
        let request = scalepool::scenario::ScenarioRequest {
            scenario: "ualink-pair".into(),
            threads: 1,
            set: text.split_whitespace().map(set).collect(),
            ..Default::default()
        };
        assert!(scalepool::scenario::run(&request, &mut |_| ()).is_err(), "{text}");
    }
}
