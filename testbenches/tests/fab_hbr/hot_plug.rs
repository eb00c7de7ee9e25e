//! Ports that come and go, as hosts and the fabric manager see them, and tables that are committed (`fabric` §1.2, §1.3, §1.7).

use scalepool::fabric::cxl_switch::commit::{CommitLimit, CommitStatus, CommittedTable};
use scalepool::fabric::cxl_switch::hot_plug::PortStep::*;
use scalepool::fabric::cxl_switch::hot_plug::{HotPlugError, HotPlugPort, PortStep, SharedRemoval, TrainingError};

const VPPB: (usize, usize) = (1, 3);
const BIND: [PortStep; 5] = [Mapped(VPPB), LinesMoved, LinkDisabled, FunctionsMoved, ManagerBridgeGone];

/// A port with a device, bound and up.
fn up() -> HotPlugPort {
    let mut port = HotPlugPort::new(true);
    port.bind(VPPB).expect("it is the manager's");
    port.release_link().expect("it is bound");
    port.train().expect("a device is there");
    port.take_steps();
    port
}

/// Whether the steps of a bind are in order, and the link comes up after its host has released it and not before.
fn is_bind(steps: &[PortStep]) -> bool {
    let place = |step| steps.iter().position(|one| *one == step);
    let host = [LinkReleased, LinkUp].map(place);
    steps.starts_with(&BIND) && host[0].is_some() && host[0] < host[1]
}

#[test]
fn fab_bnd_01_p() {
    let mut port = HotPlugPort::new(true);
    port.bind(VPPB).expect("it is the manager's");
    port.release_link().expect("it is bound");
    port.train().expect("a device is there");
    let steps = port.take_steps();
    assert!(is_bind(&steps), "{steps:?}");
    assert_eq!(port.bind((0, 0)), Err(HotPlugError::Bound { vppb: VPPB }));
    assert_eq!((port.is_up(), port.take_steps()), (true, Vec::new()), "what is refused changes nothing");
}

/// A link that is up before its host has released it is seen, and here it does not come up.
#[test]
fn fab_bnd_01_n() {
    let mut port = HotPlugPort::new(true);
    port.bind(VPPB).expect("it is the manager's");
    assert_eq!((port.train(), port.is_up()), (Err(TrainingError::Disabled), false));
    let early = [&BIND[..], &[LinkUp, LinkReleased]].concat();
    assert!(!is_bind(&early));
}

/// Presence, then the event, then the host can train the link.
#[test]
fn fab_bnd_02_p() {
    let mut port = HotPlugPort::new(true);
    assert!(!port.is_presence_seen(), "the manager's port shows nothing");
    port.bind(VPPB).expect("it is the manager's");
    assert_eq!(port.take_steps()[BIND.len()..], [PresenceSeen, HotPlugEvent]);
    assert!(port.is_presence_seen());
    port.release_link().expect("it is bound");
    assert_eq!((port.train(), port.take_steps()), (Ok(()), vec![LinkReleased, LinkUp]));
}

/// Without a device there is no presence, no event and no link until it comes.
#[test]
fn fab_bnd_02_n() {
    let mut port = HotPlugPort::new(false);
    port.bind(VPPB).expect("it is the manager's");
    port.release_link().expect("it is bound");
    assert_eq!(port.train(), Err(TrainingError::Absent));
    assert_eq!(port.take_steps(), [&BIND[..], &[LinkReleased]].concat());
    port.insert();
    assert_eq!(port.take_steps(), [PresenceSeen, HotPlugEvent]);
}

#[test]
fn fab_bnd_03_p() {
    let mut port = up();
    assert_eq!(port.unbind(), Ok(VPPB));
    assert_eq!(port.take_steps(), [LinkDownSeen, AbsenceSeen, LinkDisabled, ManagerOwned]);
    assert_eq!((port.is_up(), port.is_presence_seen()), (false, false));
}

/// While it is not bound it does not train, whoever asks.
#[test]
fn fab_bnd_03_n() {
    let mut port = up();
    port.unbind().expect("it is bound");
    assert_eq!(port.release_link(), Err(HotPlugError::NotBound));
    assert_eq!((port.train(), port.unbind()), (Err(TrainingError::Disabled), Err(HotPlugError::NotBound)));
    assert!(!port.is_up());
}

#[test]
fn fab_bnd_08_p() {
    let mut lost = up();
    lost.surprise_down();
    assert_eq!((lost.take_steps(), lost.is_presence_seen()), (vec![LinkDownSeen, HotPlugEvent], true));
    lost.surprise_down();
    assert_eq!(lost.take_steps(), [], "it is down");
    let mut removed = up();
    removed.remove();
    assert_eq!(removed.take_steps(), [LinkDownSeen, AbsenceSeen, HotPlugEvent]);
    assert_eq!((removed.is_presence_seen(), removed.is_up()), (false, false));
    removed.remove();
    assert_eq!(removed.take_steps(), [], "nothing is there");
    let mut unbound = HotPlugPort::new(true);
    unbound.remove();
    unbound.insert();
    assert_eq!(unbound.take_steps(), [PhysicalRecord; 2], "the manager hears of both, and no host");
}

/// Presence that goes with the link is seen: the device would not come back by training.
#[test]
fn fab_bnd_08_n() {
    let (mut lost, mut removed) = (up(), up());
    lost.surprise_down();
    removed.remove();
    assert_ne!(lost.take_steps().contains(&AbsenceSeen), removed.take_steps().contains(&AbsenceSeen));
    assert_eq!([lost.train(), removed.train()], [Ok(()), Err(TrainingError::Absent)]);
}

#[test]
fn fab_mld_04_p() {
    let mut port = HotPlugPort::of_logical_devices(true);
    port.bind(VPPB).expect("it is the manager's");
    assert_eq!(port.train(), Err(TrainingError::Disabled), "its host releases the link");
    port.release_link().expect("it is bound");
    assert_eq!((port.train(), port.advertises_mld()), (Ok(()), false), "it is bound as a whole");
}

/// The manager's port advertises it in training, so that its device can be shared; a port that can have one device alone never does.
#[test]
fn fab_mld_04_n() {
    let mut port = HotPlugPort::of_logical_devices(true);
    assert_eq!((port.train(), port.is_up(), port.advertises_mld()), (Ok(()), true, true));
    port.bind(VPPB).expect("it is the manager's");
    assert_eq!((port.is_up(), port.unbind()), (false, Ok(VPPB)), "it trains anew with each change");
    assert_eq!((port.train(), port.is_up(), port.advertises_mld()), (Ok(()), true, true));
    let mut single = HotPlugPort::new(true);
    assert_eq!((single.train(), single.advertises_mld()), (Err(TrainingError::Disabled), false));
    assert_eq!(HotPlugPort::of_logical_devices(false).train(), Err(TrainingError::Absent));
}

#[test]
fn fab_mld_10_p() {
    for hosts in 1..=4 {
        let vppbs: Vec<(usize, usize)> = (0..hosts).map(|vcs| (vcs, 0)).collect();
        let mut removal = SharedRemoval::begin(vppbs.iter().copied());
        assert_eq!(removal.awaited().collect::<Vec<_>>(), vppbs, "the button is shown on all");
        for (n, vppb) in vppbs.iter().rev().enumerate() {
            let unbound = removal.ready(*vppb);
            assert_eq!(unbound, if n + 1 == hosts { vppbs.clone() } else { Vec::new() }, "{n} of {hosts}");
        }
    }
}

/// A host that signals twice does not stand for another one.
#[test]
fn fab_mld_10_n() {
    let mut removal = SharedRemoval::begin([(0, 0), (1, 0)]);
    assert_eq!([removal.ready((0, 0)), removal.ready((0, 0)), removal.ready((7, 0))], [vec![], vec![], vec![]]);
    assert_eq!(removal.ready((1, 0)), [(0, 0), (1, 0)]);
    assert_eq!(removal.ready((1, 0)), [], "once");
}

/// A commit ends in time, for each code of the scale; until then the table of before is used.
#[test]
fn fab_cid_04_p() {
    for scale in 0..=7 {
        let limit = CommitLimit { base: 3, scale };
        let limit_us = limit.micros().expect("it is legal");
        assert_eq!(limit_us, 3 * 10u64.pow(scale.into()));
        let mut table = CommittedTable::new(limit_us);
        assert_eq!((table.poll(0), table.in_use()), (CommitStatus::Idle, None));
        table.begin("first", 100);
        table.finish(true, 100 + limit_us);
        assert_eq!((table.poll(100 + limit_us), table.in_use()), (CommitStatus::Committed, Some(&"first")));
        table.begin("second", 10_000);
        assert_eq!((table.poll(10_000 + limit_us), table.in_use()), (CommitStatus::Pending, Some(&"first")));
        assert_eq!((table.poll(10_001 + limit_us), table.in_use()), (CommitStatus::Error, Some(&"first")));
    }
}

/// A table that is refused, or comes too late, is never used.
#[test]
fn fab_cid_04_n() {
    let mut table = CommittedTable::new(1);
    table.begin("late", 0);
    table.finish(true, 2);
    assert_eq!((table.poll(2), table.in_use()), (CommitStatus::Error, None));
    table.begin("bad", 5);
    table.finish(false, 5);
    assert_eq!((table.poll(5), table.in_use()), (CommitStatus::Error, None));
    for (base, scale) in [(16, 0), (1, 8)] {
        let error = CommitLimit { base, scale }.micros().expect_err("it cannot be").to_string();
        assert!(error.starts_with(&format!("found base {base} and scale code {scale}")), "{error}");
    }
}
