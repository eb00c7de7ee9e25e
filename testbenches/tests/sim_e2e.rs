//! The end-to-end checks, and what only they can see.
//!
//! A flit that vanishes without a trace and a flit with a good CRC that comes twice cannot be seen by this link layer:
//! sequence numbers do not travel in ordinary flits. The tests named so show that the end-to-end check catches both while
//! the link layer is silent, and what the link layer notices later, if anything.

use crate::cxl68_link::rig::{Rig, Space, quick};
use crate::cxl68_link::units::{sent, wire};
use scalepool::kernel::Rng;
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::cxl68::retry::Local;
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint, RULES};
use scalepool::scenario::drive::Live;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

fn run(set: &[&str]) -> ScenarioReport {
    let request = ScenarioRequest {
        scenario: "cxl68-expander".into(),
        seed: 1,
        threads: 1,
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..ScenarioRequest::default()
    };
    scenario::run(&request, &mut |_| ()).expect("a legal request")
}

fn rules(report: &ScenarioReport) -> BTreeSet<&'static str> {
    report.violations.iter().map(|b| b.violation.rule).collect()
}

/// Two reads and a write of lines in turn, round a region that makes reads meet what was written.
const MIX: [&str; 4] = ["host.pattern=mix", "host.accesses=3000", "host.region_lines=64", "host.outstanding=16"];

fn mix(fault: &str) -> ScenarioReport {
    let set: Vec<&str> = MIX.into_iter().chain([fault]).collect();
    run(&set)
}

#[test]
fn sim_e2e_01_p() {
    for fault in ["link.fault=", "link.fault=drop:300,up:drop:301,flip:500:100,noise:600,up:noise:700", "link.ber=1e-5"]
    {
        let report = mix(fault);
        assert_eq!(report.violations, [], "{fault}");
        assert_eq!(report.retries > 0, fault != "link.fault=");
    }
}

#[test]
fn sim_e2e_01_n() {
    // Flits of the device vanish: data that comes next stands in their place. (Where a flit vanishes before all data, the
    // data can look like a broken control flit: CTL-02 or CTL-05 is reported, and the retry brings back what was lost.)
    let mut wrong = 0;
    for n in 300..330 {
        let found = rules(&mix(&format!("link.fault=up:vanish:{n}")));
        assert!(!found.is_empty(), "unit {n}: at least its number is missing at the end");
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
    // Flits of the device come twice; those with completions are seen by the host.
    let twice = (400..410).map(|n| {
        let fault = format!("link.fault=up:dup:{n}");
        rules(&run(&["host.pattern=writes", "host.accesses=1000", &fault]))
    });
    let seen = twice.filter(|found| found.contains("SIM-E2E-02")).count();
    assert!(seen > 5, "{seen} of 10");
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
    // Flits of the device vanish: where they had completions requests stay open, and the run says which.
    let mut open = 0;
    for n in 400..410 {
        let report = run(&["host.pattern=writes", "host.accesses=1000", &format!("link.fault=up:vanish:{n}")]);
        assert!(rules(&report).contains("SIM-E2E-03"), "unit {n}: its number at least is missing");
        let time_out = report.violations.iter().find(|b| b.place == "simulation");
        open += usize::from(
            time_out
                .is_some_and(|b| b.violation.text.contains("host.core") && b.violation.text.contains("write of line")),
        );
    }
    assert!(open > 5, "{open} of 10");
}

// ---- 256B flits: what is lost, damaged or comes twice is seen by its number and repaired -------------------------------

/// Runs of a mode with faults at random.
const FAULT_SEEDS: u64 = 60;

const MODES_256: [&str; 3] = ["256b", "256b-lopt", "256b-pbr"];

fn mix_256(mode: &str, set: &[&str]) -> ScenarioReport {
    let mode = format!("link.mode={mode}");
    let set: Vec<&str> = MIX.into_iter().chain([mode.as_str(), "link.buffers=16"]).chain(set.iter().copied()).collect();
    run(&set)
}

#[test]
fn links_of_256b_flits_repair_what_they_are_given() {
    for mode in MODES_256 {
        let clean = mix_256(mode, &[]);
        assert_eq!((clean.violations.len(), clean.retries, clean.errors_repaired), (0, 0, 0), "{mode}");
        for selective in ["off", "on"] {
            let selective = format!("link.selective_nak={selective}");
            let faults =
                "link.fault=drop:300,up:drop:301,noise:400,noise:401,up:noise:500,flip:600:77,up:flip:601:2047";
            let repaired = mix_256(mode, &[faults, &selective]);
            assert_eq!(repaired.violations, [], "{mode} {selective}");
            assert_eq!(repaired.errors_repaired, 7, "{mode} {selective}");
            assert!(repaired.retries >= 1 && repaired.messages == clean.messages, "{mode} {selective}");
            // Numbers show what a 68B link cannot see: no byte is lost or taken twice.
            for kind in ["vanish", "dup"] {
                let unseen = format!("link.fault={kind}:300,up:{kind}:301,{kind}:350,up:{kind}:351");
                let report = mix_256(mode, &[&unseen, &selective]);
                assert_eq!(report.violations, [], "{mode} {selective} {kind}");
                assert_eq!(
                    (&report.messages, report.errors_repaired),
                    (&clean.messages, 4),
                    "{mode} {selective} {kind}"
                );
            }
        }
    }
}

/// Faults of every kind at random flits, alone or side by side with others: the link repairs them, counts them all and
/// blames nobody.
#[test]
fn links_of_256b_flits_repair_faults_anywhere() {
    for mode in MODES_256 {
        for seed in 1..=FAULT_SEEDS {
            let mut rng = Rng::for_name(seed, mode);
            // Of each direction: by flit, so that a flit has one fault.
            let mut faults: [BTreeMap<u64, String>; 2] = Default::default();
            for _ in 0..3 + rng.below(6) {
                let first = rng.below(500);
                // One alone, or a group behind each other.
                for flit in first..first + [1, 1, 2, 3][rng.below(4) as usize] {
                    let kind = ["vanish", "dup", "drop", "noise", "flip"][rng.below(5) as usize];
                    let bit = if kind == "flip" { format!(":{}", rng.below(2048)) } else { String::new() };
                    faults[rng.below(2) as usize].insert(flit, format!("{kind}:{flit}{bit}"));
                }
            }
            let up = faults[1].values().map(|fault| format!("up:{fault}"));
            let list: Vec<String> = faults[0].values().cloned().chain(up).collect();
            let list = format!("link.fault={}", list.join(","));
            let selective = format!("link.selective_nak={}", if rng.ratio(1, 2) { "on" } else { "off" });
            let report = mix_256(mode, &[&list, &selective, "host.accesses=600", "link.retrain_fs=1000000"]);
            assert_eq!(report.violations, [], "{mode} seed {seed} {selective} {list}");
            let met = |(n, (_, sent)): (usize, &(String, u64))| faults[n].range(..sent).count() as u64;
            let expected: u64 = report.flits.iter().enumerate().map(met).sum();
            assert_eq!(report.errors_repaired, expected, "{mode} seed {seed} {selective} {list}");
        }
    }
}

#[test]
fn links_of_256b_flits_bear_bit_errors() {
    for mode in MODES_256 {
        // One error in 49 flits: the FEC repairs nearly all. One in 2: some flits have too many and go again.
        for (ber, retries) in [("1e-5", false), ("2e-4", false), ("1e-3", true)] {
            let report = mix_256(mode, &[&format!("link.ber={ber}"), "host.accesses=1000", "link.retrain_fs=1000000"]);
            assert_eq!(report.violations, [], "{mode} {ber}");
            assert!(report.errors_repaired > 0 && (report.retries > 0 || !retries), "{mode} {ber}");
        }
    }
}

#[test]
fn links_of_256b_flits_train_when_replays_do_not_help() {
    for mode in MODES_256 {
        let cut = (300..420).map(|n| format!("drop:{n}")).collect::<Vec<_>>().join(",");
        let fault = format!("link.fault={cut}");
        let set = [&fault, "link.retrain_fs=1000000", "link.timeout_flits=100", "link.nak_ignore_flits=0"];
        let report = mix_256(mode, &set);
        assert_eq!(report.violations, [], "{mode}");
    }
}

#[test]
fn credits_that_are_held_stall_links_of_256b_flits() {
    for mode in MODES_256 {
        let held = mix_256(mode, &["link.credits_hold=5000", "host.accesses=100"]);
        assert_eq!(held.violations, [], "{mode}");
        assert!(held.credit_stalls > 4000, "{mode}: {}", held.credit_stalls);
    }
}

#[test]
fn an_even_half_is_used_half_a_flit_time_earlier() {
    let spread = |mode: &str| {
        let mode = format!("link.mode={mode}");
        run(&[&mode, "host.pattern=writes", "host.accesses=2000", "host.outstanding=8"]).latency_fs
    };
    let (standard, lopt) = (spread("256b"), spread("256b-lopt"));
    // A write has two transfers; a flit takes 2 ns, the host's clock 0.5 ns.
    assert_eq!(standard.min - lopt.min, 2_000_000, "{standard:?} {lopt:?}");
}

// ---- what a link layer without numbers in its flits cannot see ---------------------------------------------------------

/// Device-side units of a run without faults: where the completions and the data are.
fn clean_units(rig: &mut Rig) -> Vec<Cxl68DecodedUnit> {
    rig.pair.wires.keep_log();
    load(rig);
    rig.assert_no_loss();
    sent(&rig.pair.wires.take_log(), Dir::Up)
}

fn load(rig: &mut Rig) {
    for n in 0..60 {
        rig.write_line(Space::Device, 64 * n, [n as u8; 64]);
    }
    rig.traffic(Space::Device, 60, 77);
}

/// A run with a fault of the device's wire, to the end.
fn faulty(fault: Fault) -> Rig {
    let mut rig = Rig::mem(quick());
    rig.pair.wires.put(Dir::Up, wire(vec![fault]));
    load(&mut rig);
    rig.settle();
    rig
}

/// An acknowledgement for which no flit is left: in an LLCRD, in a header.
const ACKS_TOO_MANY: [&str; 2] = ["CXL68-LLR-05", "CXL68-LLR-09"];

fn carries_messages(unit: &Cxl68DecodedUnit) -> bool {
    unit.messages().next().is_some()
}

/// Flits with whole messages, nothing owed before or after and no acknowledgement: taken out or repeated, they leave no
/// gap in the data and free no entry twice.
fn closed(units: &[Cxl68DecodedUnit]) -> Vec<u64> {
    let no_ak = |u: &Cxl68DecodedUnit| matches!(u.kind, Cxl68UnitKind::Protocol(header) if !header.ak);
    let whole =
        |u: &Cxl68DecodedUnit| carries_messages(u) && no_ak(u) && (u.rollover_before, u.rollover_after) == (0, 0);
    (0..).zip(units).filter(|(_, u)| whole(u)).map(|(n, _)| n).collect()
}

/// The link layer is silent to the end of the run, beyond the moment at which the end-to-end check has fired: ESeq is one
/// behind, an entry of the retry buffer is never freed, and nothing says so. A later retry starts one flit too early, with
/// one that was received already; that this one comes twice is no event of its own, but if it acknowledges something it
/// may do so once too often (LLR-05, LLR-09). A flit with a data header is another matter: the data slots behind it break
/// the packing rules at once.
#[test]
fn a_flit_that_vanishes_is_seen_end_to_end_and_not_by_the_link() {
    let units = closed(&clean_units(&mut Rig::mem(quick())));
    assert!(units.len() > 10, "{units:?}");
    for unit in units {
        let mut rig = faulty(Fault::Vanish { unit });
        assert!(rig.broken_rules().contains("SIM-E2E-03"), "unit {unit}: {:?}", rig.broken_rules());
        assert_eq!(rig.events, [], "unit {unit}");
        assert_eq!(rig.pair.host.stats().retries + rig.pair.device.stats().retries, 0);
        // The end that sent it has an entry that stays.
        let (unacknowledged, due) = (rig.pair.device.buffer().unacknowledged(), rig.pair.host.num_ack());
        assert_eq!(unacknowledged, due + 1);
        // The run ends here for a user. A retry after it starts one flit too early.
        rig.pair.wires.put(Dir::Up, wire(vec![Fault::Drop { unit: 0 }]));
        rig.read(Space::Device, 64 * 100);
        rig.settle();
        assert_eq!(rig.pair.host.stats().retries, 1);
        assert_eq!(rig.pair.host.eseq(), rig.pair.device.buffer().wr_ptr(), "now the numbers are equal");
        assert!(rig.rules().is_subset(&ACKS_TOO_MANY.into()), "unit {unit}: {:?}", rig.rules());
    }
}

/// The end-to-end check fires at the flit itself. The link layer is silent there and as long as flits are under way; it
/// notices only when an acknowledgement comes for which no flit is left (LLR-05 or LLR-09).
#[test]
fn a_good_flit_that_comes_twice_is_seen_end_to_end_and_by_the_link_only_later() {
    let all = clean_units(&mut Rig::mem(quick()));
    let completes = |n: &u64| all[*n as usize].messages().any(|(_, class, _)| class == Class::S2mNdr);
    let units: Vec<u64> = closed(&all).into_iter().filter(completes).collect();
    assert!(units.len() > 10, "{units:?}");
    for unit in units {
        let rig = faulty(Fault::Duplicate { unit });
        let first = rig.broken.iter().find(|b| b.rule == "SIM-E2E-02").expect("the second completion");
        for (at, event) in &rig.events {
            assert!(ACKS_TOO_MANY.contains(&event.violation.rule), "unit {unit}: {event}");
            assert!(*at > first.at, "unit {unit}: {at} after {}", first.at);
        }
        assert!(!rig.events.is_empty(), "unit {unit}: when all is acknowledged, one is left over");
        assert_eq!(rig.pair.host.stats().retries + rig.pair.device.stats().retries, 0);
    }
}

/// The same with data: an all-data flit comes twice, or not at all. Either the end-to-end check fires, or what stands in
/// a wrong place happens to look like a broken flit: then there is an event, and the retry makes it good.
#[test]
fn data_that_comes_twice_or_not_at_all_does_not_pass() {
    let units = clean_units(&mut Rig::mem(quick()));
    let all_data: Vec<u64> =
        (0..).zip(&units).filter(|(_, u)| u.kind == Cxl68UnitKind::AllData).map(|(n, _)| n).collect();
    assert!(all_data.len() > 5, "{all_data:?}");
    let mut end_to_end = 0;
    for unit in all_data {
        for fault in [Fault::Vanish { unit }, Fault::Duplicate { unit }] {
            let rig = faulty(fault.clone());
            end_to_end += usize::from(!rig.broken.is_empty());
            let repaired = !rig.events.is_empty() && rig.pair.host.stats().retries > 0;
            assert!(!rig.broken.is_empty() || repaired, "{fault:?}");
        }
    }
    assert!(end_to_end > 5, "{end_to_end}");
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
        assert!(abort.violation.text.contains("RETRY_ABORT") && abort.place.ends_with(".cxl"));
        assert_eq!(report.errors_repaired, 0, "nothing counts as repaired");
        assert_eq!(report.json()["violations"].as_array().map(Vec::len), Some(report.violations.len()));
    }
}

/// The same for a link that is cut while an Ack is awaited; in NORMAL a link layer waits for ever, and only open work
/// shows it.
#[test]
fn a_cut_link_ends_in_abort_or_in_open_work() {
    for awaits_ack in [false, true] {
        let link = Cxl68Config { max_num_retry: 3, max_num_phy_reinit: 4, ..quick() };
        let mut rig = Rig::mem(link);
        rig.bring_up();
        if awaits_ack {
            rig.pair.wires.put(Dir::Up, wire(vec![Fault::Drop { unit: 0 }]));
            rig.read(Space::Device, 0);
            while rig.pair.host.local().state == Local::Normal {
                rig.step();
            }
        }
        rig.pair.cut = true;
        rig.read(Space::Device, 64);
        assert!(!rig.settle());
        assert!(rig.broken_rules().contains("SIM-E2E-03"));
        assert_eq!(rig.pair.host.halted(), awaits_ack.then_some("CXL68-LRS-06"));
        assert_eq!(rig.rules().contains("CXL68-LRS-06"), awaits_ack);
        if awaits_ack {
            assert_eq!(rig.pair.host.local().state, Local::Abort);
            assert!(rig.pair.trainings >= 4);
        }
    }
}

// ---- hooks at the ports of a simulation -------------------------------------------------------------------------------

fn hooked(scenario: &str, threads: usize, attach: impl FnOnce(&Live)) -> ScenarioReport {
    let set = ["host.accesses=400", "host.pattern=mix", "link.ber=1e-5"].map(String::from).to_vec();
    let request = ScenarioRequest { scenario: scenario.into(), seed: 4, threads, set, ..ScenarioRequest::default() };
    let live = Live::new(&request).expect("it is built");
    attach(&live);
    live.finish(&mut |_| ()).expect("it runs")
}

/// Hooks that keep everything see all points of both ends, and change nothing.
#[test]
fn hooks_that_watch_change_no_result() {
    for scenario in ["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander", "cxl-pbr-pair"] {
        let bare = hooked(scenario, 1, |_| ()).json();
        for threads in [1, 2] {
            let counts: Arc<Mutex<BTreeMap<(&str, &str), u64>>> = Arc::default();
            let report = hooked(scenario, threads, |live| {
                for (port, rule) in live.ports().iter().flat_map(|port| RULES.map(|rule| (port, rule))) {
                    let counts = counts.clone();
                    let count = move |item: &HookItem<'_>| {
                        let point = (item.point.name(), item.way.name());
                        *counts.lock().expect("no panic").entry(point).or_default() += 1;
                        HookAnswer::Keep
                    };
                    port.hooks.attach(rule.point, rule.way, count).expect("no hook runs");
                }
            });
            assert_eq!(report.json(), bare, "{scenario}");
            let counts = counts.lock().expect("no panic");
            // The FEC of a 256B link leaves nothing to be sent again here.
            let again = usize::from(counts.contains_key(&("replay_out", "tx")));
            assert_eq!(counts.len(), RULES.len() - 1 + again, "{scenario}: {counts:?}");
            assert_eq!(counts[&("packer_in", "tx")], counts[&("packer_out", "rx")], "{scenario}: {counts:?}");
        }
    }
}

/// The device is that of the coherence engine: what its table does not take breaks the row's rule in a run too (`coherence`
/// §3.2). Bits of the headers are those of `cxl-256b` §4: SnpType 7:5, MetaField 9:8.
#[test]
fn a_device_judges_what_its_host_asks() {
    let broken = |layout: &'static str, byte: usize, bits: u8| {
        let report = hooked("cxl256-expander", 1, |live| {
            let wrong = move |item: &HookItem<'_>| {
                let mut bytes = item.bytes.to_vec();
                bytes[byte] |= bits;
                if item.name == layout { HookAnswer::Replace(bytes) } else { HookAnswer::Keep }
            };
            let hooks = &live.port("host.cxl").expect("it has one").hooks;
            hooks.attach(HookPoint::PackerIn, Direction::Tx, wrong).expect("no hook runs");
        });
        let of_device = report.violations.iter().filter(|b| b.place == "device.mem");
        of_device.map(|b| b.violation.rule).collect::<BTreeSet<_>>()
    };
    assert_eq!(broken("none", 0, 0), BTreeSet::new());
    assert_eq!(broken("cxl256.m2s_rwd", 1, 3), BTreeSet::from(["COH-MEM-33"]), "a write without a meta value");
    assert_eq!(broken("cxl256.m2s_req", 0, 0x20), BTreeSet::from(["COH-MEM-29", "COH-MEM-35"]), "a snoop, and no DCOH");
}

/// In a run the wire asks for the verdict about each flit that it damages twice, and both agree; a flit that was spoilt before is one of which
/// the pattern of the errors alone says too little.
#[test]
fn fab_bit_03_p2() {
    let rule = "FAB-BIT-03";
    for scenario in ["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander"] {
        let set = ["host.accesses=400", "link.ber=1e-4"].map(String::from).to_vec();
        let request =
            ScenarioRequest { scenario: scenario.into(), seed: 4, threads: 1, set, ..ScenarioRequest::default() };
        let live = Live::new(&request).expect("it is built");
        let sound = live.finish(&mut |_| ()).expect("it runs");
        assert!(!rules(&sound).contains(rule), "{scenario}: {:?}", rules(&sound));
        // A 68B unit has no FEC: with an error in it both verdicts call it bad, whatever it was before.
        if scenario == "cxl68-expander" {
            continue;
        }
        let set = ["host.accesses=400", "link.fault=flip:60:300,flip:61:300,flip:62:300"].map(String::from).to_vec();
        let request =
            ScenarioRequest { scenario: scenario.into(), seed: 4, threads: 1, set, ..ScenarioRequest::default() };
        let live = Live::new(&request).expect("it is built");
        let spoilt = |item: &HookItem<'_>| {
            let mut bytes = item.bytes.to_vec();
            // The protocol ID or header stays, the rest no code knows.
            bytes[8..].iter_mut().for_each(|byte| *byte ^= 0x5a);
            if (60..63).contains(&item.number) { HookAnswer::Replace(bytes) } else { HookAnswer::Keep }
        };
        let hooks = &live.port("host.cxl").expect("it has one").hooks;
        hooks.attach(HookPoint::Wire, Direction::Tx, spoilt).expect("no hook runs");
        let broken = live.finish(&mut |_| ()).expect("it runs");
        assert!(rules(&broken).contains(rule), "{scenario}: {:?}", rules(&broken));
    }
}

/// What hooks do to the wire is repaired like any fault of it; what they take from a packer is missed end to end.
#[test]
fn hooks_are_faults_of_a_simulation() {
    for scenario in ["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander", "cxl-pbr-pair"] {
        let at = |point, way, fault| {
            hooked(scenario, 1, |live| {
                let hooks = &live.port("device.cxl").expect("it has one").hooks;
                hooks.attach_fault(point, way, fault).expect("allowed");
            })
        };
        for way in [Direction::Rx, Direction::Tx] {
            let report = at(HookPoint::Wire, way, Fault::Drop { unit: 60 });
            assert!(report.violations.is_empty(), "{scenario}: {:?}", report.violations.first().map(|b| &b.violation));
        }
        for (point, way) in [(HookPoint::PackerIn, Direction::Tx), (HookPoint::PackerOut, Direction::Rx)] {
            let report = at(point, way, Fault::Vanish { unit: 20 });
            assert!(rules(&report).contains("SIM-E2E-03"), "{scenario}: {:?}", rules(&report));
        }
    }
    let request = ScenarioRequest { scenario: "cxl68-expander".into(), ..ScenarioRequest::default() };
    let live = Live::new(&request).expect("it is built");
    let refused = live.port("host").expect_err("no such port");
    assert_eq!(refused.to_string(), "port `host`: expected one of: host.cxl, device.cxl");
}
