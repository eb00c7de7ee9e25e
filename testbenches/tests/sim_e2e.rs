//! The end-to-end checks, and what only they can see.
//!
//! A flit that vanishes without a trace and a flit with a good CRC that comes twice cannot be seen by this link layer:
//! sequence numbers do not travel in ordinary flits. The tests named so show that the end-to-end check catches both while
//! the link layer is silent, and what the link layer notices later, if anything.
#![forbid(unsafe_code)]

#[path = "cxl68_link"]
mod cxl68_link {
    // Each suite over a link uses a part of these two.
    #[allow(dead_code)]
    pub mod rig;
    #[allow(dead_code)]
    pub mod units;
}

use cxl68_link::rig::{Rig, Space, quick};
use cxl68_link::units::{sent, wire};
use scalepool::link::cxl68::fault::Fault;
use scalepool::scenario::report::Report;
use scalepool::scenario::{self, Request};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::stream::{Decoded, Kind};
use std::collections::BTreeSet;

fn run(set: &[&str]) -> Report {
    let request = Request {
        scenario: "cxl68-expander".into(),
        seed: 1,
        threads: 1,
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Request::default()
    };
    scenario::run(&request, &mut |_| ()).expect("a legal request")
}

fn rules(report: &Report) -> BTreeSet<&'static str> {
    report.violations.iter().map(|b| b.violation.rule).collect()
}

/// Two reads and a write of lines in turn, round a region that makes reads meet what was written.
const MIX: [&str; 4] = ["host.pattern=mix", "host.accesses=3000", "host.region_lines=64", "host.outstanding=16"];

fn mix(fault: &str) -> Report {
    let set: Vec<&str> = MIX.into_iter().chain([fault]).collect();
    run(&set)
}

#[test]
fn sim_e2e_01_p() {
    for fault in ["link.fault=", "link.fault=drop:300,up:drop:301,flip:500:100,noise:600,up:noise:700", "link.ber=1e-5"] {
        let report = mix(fault);
        assert_eq!(report.violations, [], "{fault}");
        assert_eq!(report.retries > 0, fault != "link.fault=");
    }
}

#[test]
fn sim_e2e_01_n() {
    // All-data flits of the device vanish: what comes next stands in their place.
    let mut wrong = 0;
    for n in 300..330 {
        let found = rules(&mix(&format!("link.fault=up:vanish:{n}")));
        assert!(!found.is_empty(), "unit {n} carries something");
        wrong += usize::from(found.contains("SIM-E2E-01"));
    }
    assert!(wrong > 5, "{wrong} of 30 gave wrong bytes");
}

#[test]
fn sim_e2e_02_p() {
    let report = run(&["host.pattern=writes", "host.accesses=2000"]);
    assert_eq!(report.violations, []);
    let completions = report.messages.iter().find(|(name, _)| name == "cxl68.s2m_ndr").expect("counted").1;
    assert_eq!(completions, 2000, "one a write");
}

#[test]
fn sim_e2e_02_n() {
    // A flit with completions comes twice.
    let report = run(&["host.pattern=writes", "host.accesses=2000", "link.fault=up:dup:400"]);
    assert!(rules(&report).contains("SIM-E2E-02"), "{:?}", report.violations);
}

#[test]
fn sim_e2e_03_p() {
    // However long the credits are held, whatever is repaired: nothing stays open.
    for set in [&["link.credits_hold=5000"][..], &["link.fault=noise:60,up:drop:60", "link.buffers=4"][..]] {
        let set: Vec<&str> = MIX.into_iter().chain(set.iter().copied()).collect();
        assert_eq!(run(&set).violations, []);
    }
}

#[test]
fn sim_e2e_03_n() {
    // A flit with completions vanishes: requests stay open, and the run says which.
    let report = run(&["host.pattern=writes", "host.accesses=2000", "link.fault=up:vanish:400"]);
    let open = report.violations.iter().find(|b| b.violation.rule == "SIM-E2E-03").expect("seen");
    assert!(open.violation.text.contains("host.core") && open.violation.text.contains("write of line"), "{}", open.violation.text);
}

// ---- what a link layer without numbers in its flits cannot see ---------------------------------------------------------

/// Device-side units of a run without faults: where the completions and the data are.
fn clean_units(rig: &mut Rig) -> Vec<Decoded> {
    rig.pair.keep_log();
    load(rig);
    rig.assert_no_loss();
    sent(&rig.pair.take_log(), Dir::Up)
}

fn load(rig: &mut Rig) {
    rig.traffic(Space::Device, 120, 77);
}

/// A run with a fault of the device's wire, to the end.
fn faulty(fault: Fault) -> Rig {
    let mut rig = Rig::mem(quick());
    rig.pair.set_wire(Dir::Up, wire(vec![fault]));
    load(&mut rig);
    rig.settle();
    rig
}

fn carries_messages(unit: &Decoded) -> bool {
    unit.messages().next().is_some()
}

/// The link layer is silent to the end of the run, beyond the moment at which the end-to-end check has fired: ESeq is one
/// behind, an entry of the retry buffer is never freed, and nothing says so. Even a retry does not: the flit it begins
/// with is one that was received already, so that one comes twice.
#[test]
fn a_flit_that_vanishes_is_seen_end_to_end_and_never_by_the_link() {
    let units = clean_units(&mut Rig::mem(quick()));
    let with_messages: Vec<u64> =
        (0..).zip(&units).filter(|(_, u)| carries_messages(u)).map(|(n, _)| n).collect();
    assert!(with_messages.len() > 20);
    for &unit in with_messages.iter().step_by(4) {
        let mut rig = faulty(Fault::Vanish { unit });
        assert!(rig.broken_rules().contains("SIM-E2E-03"), "unit {unit}: {:?}", rig.broken_rules());
        assert_eq!(rig.events, [], "unit {unit}");
        assert_eq!(rig.pair.host.stats().retries + rig.pair.device.stats().retries, 0);
        // The end that sent it has an entry that stays.
        let (unacknowledged, due) = (rig.pair.device.buffer().unacknowledged(), rig.pair.host.num_ack());
        assert_eq!(unacknowledged, due + 1);
        // A later retry starts one flit too early, without an event.
        rig.pair.set_wire(Dir::Up, wire(vec![Fault::Drop { unit: 0 }]));
        rig.broken.clear();
        rig.read(Space::Device, 64 * 100);
        rig.settle();
        assert_eq!(rig.pair.host.stats().retries, 1);
        assert_eq!(rig.events, [], "unit {unit}");
    }
}

/// The end-to-end check fires at the flit itself. The link layer is silent there and as long as flits are under way; it
/// notices only when all is acknowledged and one acknowledgement is left over (LLR-05), if that moment comes.
#[test]
fn a_good_flit_that_comes_twice_is_seen_end_to_end_and_by_the_link_only_later() {
    let units = clean_units(&mut Rig::mem(quick()));
    let completes = |u: &Decoded| u.messages().any(|(_, class, _)| class == Class::S2mNdr);
    let with_completions: Vec<u64> = (0..).zip(&units).filter(|(_, u)| completes(u)).map(|(n, _)| n).collect();
    let mut noticed = 0;
    for &unit in with_completions.iter().step_by(3) {
        let rig = faulty(Fault::Duplicate { unit });
        let first = rig.broken.iter().find(|b| b.rule == "SIM-E2E-02").expect("the second completion");
        for (at, event) in &rig.events {
            assert_eq!(event.violation.rule, "CXL68-LLR-05", "unit {unit}");
            assert!(*at > first.at, "unit {unit}: {at} after {}", first.at);
            noticed += 1;
        }
        assert_eq!(rig.pair.host.stats().retries + rig.pair.device.stats().retries, 0);
    }
    assert!(noticed < with_completions.len().div_ceil(3), "{noticed}: often not at all");
}

/// The same with data: the bytes of an all-data flit come twice, or are gone.
#[test]
fn data_that_comes_twice_or_not_at_all_is_seen_end_to_end() {
    let units = clean_units(&mut Rig::mem(quick()));
    let all_data: Vec<u64> = (0..).zip(&units).filter(|(_, u)| u.kind == Kind::AllData).map(|(n, _)| n).collect();
    assert!(!all_data.is_empty());
    for unit in all_data {
        for fault in [Fault::Vanish { unit }, Fault::Duplicate { unit }] {
            let rig = faulty(fault.clone());
            assert!(!rig.broken.is_empty(), "{fault:?}");
            let first = rig.broken[0].at;
            assert!(rig.events.iter().all(|(at, _)| *at >= first), "{fault:?}: {:?}", rig.events);
        }
    }
}

// ---- the link fails ---------------------------------------------------------------------------------------------------

/// Enough spoiled units of the device that the host's tries and trainings run out: the run ends with RETRY_ABORT in the
/// report, and with the work that is open.
#[test]
fn a_link_that_cannot_be_repaired_is_reported_by_the_scenario() {
    let spoiled: Vec<String> = (100..1100).map(|n| format!("up:drop:{n}")).collect();
    let fault = format!("link.fault={}", spoiled.join(","));
    let short = ["link.max_num_retry=2", "link.max_num_phy_reinit=2", "link.timeout_flits=32", "host.accesses=2000"];
    for noise in [fault.as_str(), "link.ber=3e-3"] {
        let set: Vec<&str> = short.into_iter().chain([noise]).collect();
        let report = run(&set);
        let found = rules(&report);
        assert!(found.contains("CXL68-LRS-06"), "{noise:.20}: {found:?}");
        assert!(found.contains("SIM-E2E-03"), "{found:?}");
        let abort = report.violations.iter().find(|b| b.violation.rule == "CXL68-LRS-06").expect("seen");
        assert!(abort.violation.text.contains("RETRY_ABORT") && abort.place.ends_with(".link"));
        assert_eq!(report.errors_repaired, 0, "nothing counts as repaired");
        assert_eq!(report.json()["violations"].as_array().map(Vec::len), Some(report.violations.len()));
    }
}

/// The same for a link that is cut: nothing arrives any more.
#[test]
fn a_cut_link_ends_in_abort_on_both_sides() {
    let mut rig = Rig::mem(quick());
    rig.bring_up();
    rig.traffic(Space::Device, 10, 1);
    let mut noise = wire(Vec::new());
    std::mem::swap(&mut noise, &mut wire((0..4).map(|unit| Fault::Drop { unit }).collect()));
    rig.pair.set_wire(Dir::Up, noise);
    rig.traffic(Space::Device, 4, 2);
    rig.steps(40);
    rig.pair.cut = true;
    rig.read(Space::Device, 0);
    assert!(!rig.settle());
    assert_eq!(rig.pair.host.halted(), Some("CXL68-LRS-06"));
    assert!(rig.broken_rules().contains("SIM-E2E-03"));
    assert!(rig.rules().contains("CXL68-LRS-06"));
}
