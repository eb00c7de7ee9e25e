//! What the link does after a protocol ID that cannot be used (CXL68-PID).

use super::rig::{Rig, Space, quick};
use super::units::{almp, named, wire};
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::cxl68::{EndConfig, LinkEvent, Severity, phy_fill};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PIDS, PidKind};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

/// A code that no ID has.
const INVALID: u8 = 0x00;

/// A legal unit with each of the IDs.
fn unit_of(kind: PidKind) -> Cxl68Unit {
    match kind {
        PidKind::Io => Cxl68Unit::plain(pid::IO, &[0x5a; 64]),
        PidKind::Cachemem => named("RETRY.Idle"),
        PidKind::Null => phy_fill(None),
        PidKind::Almp => almp(),
    }
}

fn with_id(mut unit: Cxl68Unit, lo: u8, hi: u8) -> Cxl68Unit {
    (unit.0[0], unit.0[1]) = (lo, hi);
    unit
}

/// A link of both protocols, up.
fn up() -> Rig {
    let mut rig = Rig::cachemem(quick());
    rig.bring_up();
    rig
}

/// A link whose device has other protocols enabled.
fn with_enabled(enabled: Enabled) -> Rig {
    let mut device = EndConfig::cachemem(Dir::Up, quick(), 32);
    device.enabled = enabled;
    Rig::new(EndConfig::cachemem(Dir::Down, quick(), 32), device)
}

const NO_IO: Enabled = Enabled { io: false, cachemem: true };
const IO_ONLY: Enabled = Enabled { io: true, cachemem: false };

fn one(rig: &mut Rig) -> LinkEvent {
    assert_eq!(rig.events.len(), 1, "{:?}", rig.events);
    rig.events.pop().expect("one").1
}

/// The unit was dropped, the event says so, the link trains once, and nothing is lost.
fn dropped_and_trained(rig: &mut Rig, rule: &str) {
    let event = one(rig);
    assert_eq!((event.violation.rule, event.severity), (rule, Severity::Retrain));
    let trainings = rig.pair.trainings;
    assert_eq!(trainings, 1);
    let retries = rig.pair.host.stats().retries + rig.pair.device.stats().retries;
    rig.all_traffic(2, 21);
    rig.assert_no_loss();
    assert_eq!(rig.pair.trainings, 1, "trained once");
    let after = rig.pair.host.stats().retries + rig.pair.device.stats().retries;
    assert!(after >= retries.max(2), "both link layers were told: each asks for a retry");
    assert_eq!(rig.pair.host.stats().pid_errors + rig.pair.device.stats().pid_errors, 1);
}

#[test]
fn cxl68_pid_02_p2() {
    for spoiled in 0..16u16 {
        let mut rig = Rig::cachemem(quick());
        let faults = [40, 55, 70].map(|unit| Fault::Flip { unit, bit: spoiled });
        rig.pair.wires.put(Dir::Down, wire(faults.to_vec()));
        rig.all_traffic(3, 2);
        rig.assert_no_loss();
        assert_eq!(rig.events.len(), 3);
        for (_, event) in &rig.events {
            assert_eq!((event.violation.rule, event.severity), ("CXL68-PID-02", Severity::Corrected));
        }
        assert_eq!((rig.pair.trainings, rig.pair.device.stats().retries), (0, 0), "the flit was used");
    }
}

#[test]
fn cxl68_pid_02_n2() {
    // Every ID, either byte: corrected, used, no training.
    for row in PIDS.into_iter().filter(|p| !p.eds) {
        for (lo, hi) in [(INVALID, row.code), (row.code, INVALID)] {
            let mut rig = up();
            rig.pair.inject(Dir::Down, &with_id(unit_of(row.kind), lo, hi));
            rig.step();
            let event = one(&mut rig);
            assert_eq!((event.violation.rule, event.severity), ("CXL68-PID-02", Severity::Corrected));
            rig.all_traffic(1, 3);
            rig.assert_no_loss();
            assert_eq!(rig.pair.trainings, 0);
        }
    }
}

#[test]
fn cxl68_pid_03_p2() {
    let mut rig = up();
    rig.all_traffic(4, 4);
    rig.assert_no_loss();
    assert_eq!((rig.events.len(), rig.pair.trainings), (0, 0));
}

#[test]
fn cxl68_pid_03_n2() {
    for dir in Dir::ALL {
        for unit in [30, 47, 64] {
            let mut rig = Rig::cachemem(quick());
            rig.pair.wires.put(dir, wire(vec![Fault::Noise { unit }]));
            rig.all_traffic(2, unit);
            rig.settle();
            dropped_and_trained(&mut rig, "CXL68-PID-03");
        }
    }
}

#[test]
fn a_unit_between_a_dropped_one_and_training_takes_no_number() {
    // Two units at one moment: the first is dropped, the second must not pass for it.
    let mut rig = up();
    let eseq = rig.pair.device.eseq();
    rig.pair.inject(Dir::Down, &with_id(named("RETRY.Idle"), INVALID, INVALID));
    rig.pair.inject(Dir::Down, &super::units::llcrd([0; 3], 0));
    assert_eq!(rig.pair.device.eseq(), eseq);
    assert_eq!(rig.pair.device.transmit(rig.pair.wires.now() + 1), None, "training comes first");
    rig.step();
    rig.settle();
    dropped_and_trained(&mut rig, "CXL68-PID-03");
}

#[test]
fn cxl68_pid_04_p2() {
    // Two equal valid bytes of every enabled ID.
    let mut rig = up();
    for row in PIDS.into_iter().filter(|p| !p.eds) {
        rig.pair.inject(Dir::Up, &unit_of(row.kind));
        rig.pair.inject(Dir::Down, &unit_of(row.kind));
    }
    rig.step();
    rig.all_traffic(1, 1);
    rig.assert_no_loss();
    assert_eq!((rig.events.len(), rig.pair.trainings), (0, 0));
}

#[test]
fn cxl68_pid_04_n2() {
    for a in PIDS {
        for b in PIDS.into_iter().filter(|b| b.code != a.code) {
            let mut rig = up();
            rig.pair.inject(Dir::Up, &with_id(unit_of(a.kind), a.code, b.code));
            rig.step();
            dropped_and_trained(&mut rig, "CXL68-PID-04");
        }
    }
}

#[test]
fn cxl68_pid_05_p2() {
    for enabled in [Enabled::ALL, NO_IO] {
        let mut rig = with_enabled(enabled);
        rig.all_traffic(2, 9);
        rig.assert_no_loss();
        assert!(rig.events.is_empty());
    }
}

#[test]
fn cxl68_pid_05_n2() {
    // CXL.io on a link of CXL.cachemem alone, in traffic.
    let mut rig = with_enabled(NO_IO);
    rig.bring_up();
    rig.all_traffic(1, 5);
    rig.pair.inject(Dir::Down, &unit_of(PidKind::Io));
    rig.settle();
    dropped_and_trained(&mut rig, "CXL68-PID-05");
    // CXL.cachemem on a link of CXL.io alone.
    let mut rig = with_enabled(IO_ONLY);
    rig.pair.inject(Dir::Down, &unit_of(PidKind::Cachemem));
    let events = rig.pair.device.take_events();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].violation.rule, events[0].severity), ("CXL68-PID-05", Severity::Retrain));
    assert!(events[0].violation.text.contains("unexpected"));
    assert!(rig.pair.device.take_retrain_request());
}

#[test]
fn cxl68_pid_06_p2() {
    // One byte of an enabled protocol beside an invalid one is PID-02, not unexpected.
    for (lo, hi) in [(0x55, INVALID), (INVALID, 0x87)] {
        let mut rig = with_enabled(NO_IO);
        rig.bring_up();
        rig.pair.inject(Dir::Down, &with_id(named("RETRY.Idle"), lo, hi));
        rig.step();
        assert_eq!(one(&mut rig).violation.rule, "CXL68-PID-02");
    }
}

#[test]
fn cxl68_pid_06_n2() {
    for code in [0xff, 0xd2] {
        for (lo, hi) in [(code, INVALID), (INVALID, code)] {
            let mut rig = with_enabled(NO_IO);
            rig.bring_up();
            rig.pair.inject(Dir::Down, &with_id(unit_of(PidKind::Io), lo, hi));
            rig.step();
            let text = rig.events[0].1.violation.text.clone();
            assert!(text.contains("unexpected") && !text.contains("framing"), "{text}");
            dropped_and_trained(&mut rig, "CXL68-PID-06");
        }
    }
}

#[test]
fn cxl68_pid_07_p2() {
    let mut rig = with_enabled(IO_ONLY);
    for kind in [PidKind::Null, PidKind::Almp] {
        rig.pair.inject(Dir::Down, &unit_of(kind));
    }
    assert_eq!(rig.pair.device.take_events(), []);
    assert!(!rig.pair.device.take_retrain_request());
}

#[test]
fn cxl68_pid_07_n2() {
    for kind in [PidKind::Null, PidKind::Almp] {
        let mut rig = with_enabled(IO_ONLY);
        rig.pair.inject(Dir::Down, &with_id(unit_of(kind), 0x98, 0x98));
        let events = rig.pair.device.take_events();
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].violation.rule, events[0].severity), ("CXL68-PID-03", Severity::Retrain));
        assert!(rig.pair.device.take_retrain_request());
    }
    // In traffic nothing is lost.
    let mut rig = up();
    rig.traffic(Space::Device, 20, 3);
    rig.pair.inject(Dir::Up, &with_id(phy_fill(None), 0x9a, 0x9a));
    rig.settle();
    dropped_and_trained(&mut rig, "CXL68-PID-03");
}
