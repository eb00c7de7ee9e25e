//! Chapter 14 of the specification, section 14.5 in 256B mode; a name is a section number.

use crate::cxl256_arbmux::rig::{LATENCY_FLITS, PATIENCE_FLITS, Phy, REFUSAL_FLITS, Rig, config};
use scalepool::link::arbmux::cxl256::almp::{self, AlmpContent, Says};
use scalepool::link::arbmux::cxl256::{ArbMuxConfig, LinkWidth, State};
use scalepool::link::arbmux::{self, ArbMuxInstance, Ask, L1Level};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;

const L1: State = State::L1(L1Level::L1_0);
const PHY_L1: arbmux::State = arbmux::State::L1(L1Level::L1_0);
const ASK_L1: Ask = Ask::L1(L1Level::L1_0);
const OPEN: Says = Says::Request(Ask::Active);
const ACTIVE: Says = Says::Status(State::Active);

#[test]
fn c14_5_1_256() {
    let mut rig = Rig::new();
    for dir in Dir::ALL {
        ArbMuxInstance::ALL.into_iter().for_each(|instance| rig.give(dir, instance, 3));
    }
    rig.ask_all(Some(Ask::Active));
    rig.run(150);
    assert_eq!((rig.log[0].1, rig.log[0].2.header().flit_type), (Dir::Down, FlitType::Almp), "the first ALMP");
    let types = [FlitType::Io, FlitType::Cachemem];
    for (instance, flit_type) in ArbMuxInstance::ALL.into_iter().zip(types) {
        for dir in Dir::ALL {
            let mut said = rig.said(dir, instance);
            said.sort();
            assert_eq!(said, [OPEN, ACTIVE]);
            let payload = rig.log.iter().position(|f| f.1 == dir && f.2.header().flit_type == flit_type);
            let is_almp = |f: &Cxl256Flit| matches!(almp::read(f), Some(AlmpContent::Vlsm(i, _)) if i == instance);
            let last_almp = rig.log.iter().rposition(|f| f.1 == dir && is_almp(&f.2));
            assert!(payload.is_some() && last_almp < payload, "no payload earlier");
            assert_eq!(rig.taken(dir, instance), [0, 1, 2]);
        }
    }
    rig.assert_traffic();
    rig.assert_no_events();
}

/// Payload of both protocols that left the host while both were saturated.
fn shares(weights: [u16; 2], flits: u64) -> [u64; 2] {
    let mut rig = Rig::active_with(ArbMuxConfig { weights, ..config(Dir::Down) }, config(Dir::Up));
    for instance in ArbMuxInstance::ALL {
        rig.give(Dir::Down, instance, flits);
    }
    rig.run(flits);
    rig.assert_no_events();
    rig.host.client.stats().sent
}

#[test]
fn c14_5_2_256() {
    for (weights, expected) in [([1, 1], [350, 350]), ([3, 1], [525, 175]), ([2, 5], [200, 500]), ([0, 1], [0, 700])] {
        assert_eq!(shares(weights, 700), expected, "{weights:?}");
    }
    // The order is that of the weights, spread evenly; what one leaves the other one takes.
    let mut rig = Rig::active();
    rig.port(Dir::Down).set_weights([2, 1]);
    rig.log.clear();
    rig.give(Dir::Down, ArbMuxInstance::Io, 6);
    rig.give(Dir::Down, ArbMuxInstance::Cachemem, 6);
    rig.run(12);
    let order: String =
        rig.log.iter().map(|f| if f.2.header().flit_type == FlitType::Io { 'i' } else { 'c' }).collect();
    assert_eq!(order, "iciiciiciccc");
    rig.assert_no_events();
}

/// Active.PMNAK.
#[test]
fn c14_5_2b_256() {
    let mut rig = Rig::active();
    rig.log.clear();
    for instance in ArbMuxInstance::ALL {
        rig.ask(Dir::Up, instance, Some(ASK_L1));
    }
    rig.run(REFUSAL_FLITS + 2 * LATENCY_FLITS + 2);
    for instance in ArbMuxInstance::ALL {
        assert_eq!(rig.state(Dir::Up, instance), State::PmNak);
        rig.give(Dir::Up, instance, 4);
        rig.give(Dir::Down, instance, 4);
    }
    rig.run(60);
    for instance in ArbMuxInstance::ALL {
        assert_eq!(rig.taken(Dir::Down, instance), [0, 1, 2, 3], "it still receives");
        assert_eq!(rig.taken(Dir::Up, instance), [0, 1, 2, 3]);
        assert_eq!(rig.said(Dir::Up, instance), [Says::Request(ASK_L1), OPEN]);
        assert_eq!(rig.said(Dir::Down, instance), [Says::Status(State::PmNak), ACTIVE]);
    }
    // Nothing left the device between its Request for L1 and the answer to Request{Active}.
    let first = rig.log.iter().position(|f| f.1 == Dir::Up && f.2.header().flit_type != FlitType::Almp);
    let answered = rig.log.iter().position(|f| f.1 == Dir::Down && f.2.0[4..6] == [0x01, 0x01]);
    assert!(answered.is_some() && answered < first);
    rig.assert_states(State::Active, State::Active);
    rig.assert_traffic();
    assert_eq!((rig.phy, rig.trainings), (Phy::L0, 0));
    rig.assert_no_events();
}

#[test]
fn c14_5_3_256() {
    // Each link layer alone.
    for instance in ArbMuxInstance::ALL {
        let mut rig = Rig::active();
        rig.ask_both(instance, Some(ASK_L1));
        rig.run(300);
        for dir in Dir::ALL {
            assert_eq!(rig.state(dir, instance), L1);
        }
        assert_eq!(rig.phy, Phy::L0, "the other one is Active");
        rig.assert_no_events();
    }
    // Both.
    let mut rig = Rig::active();
    rig.log.clear();
    rig.ask_all(Some(ASK_L1));
    rig.run(80);
    assert_eq!(rig.phy, Phy::Sleeps(PHY_L1));
    for instance in ArbMuxInstance::ALL {
        assert_eq!(rig.says(instance), [(Dir::Up, Says::Request(ASK_L1)), (Dir::Down, Says::Status(L1))]);
    }
    let sent = rig.log.len();
    rig.give(Dir::Down, ArbMuxInstance::Io, 5);
    rig.give(Dir::Up, ArbMuxInstance::Cachemem, 5);
    rig.run(100);
    assert_eq!(rig.log.len(), sent, "no flits after");
    rig.assert_no_events();
}

#[test]
fn c14_5_4_256() {
    for (a, b) in [(L1Level::L1_0, L1Level::L1_2), (L1Level::L1_3, L1Level::L1_1)] {
        let mut rig = Rig::active();
        rig.ask_both(ArbMuxInstance::Io, Some(Ask::L1(a)));
        rig.ask_both(ArbMuxInstance::Cachemem, Some(Ask::L1(b)));
        rig.run(100);
        rig.assert_states(State::L1(a), State::L1(b));
        assert_eq!(rig.slept, [arbmux::State::L1(a.min(b))]);
        assert_eq!(rig.host.client.phy_request(), rig.device.client.phy_request());
        rig.assert_no_events();
    }
}

#[test]
fn c14_5_5_256() {
    let mut rig = Rig::active();
    rig.log.clear();
    rig.ask_all(Some(Ask::L2));
    rig.run(100);
    for instance in ArbMuxInstance::ALL {
        assert_eq!(rig.says(instance), [(Dir::Up, Says::Request(Ask::L2)), (Dir::Down, Says::Status(State::L2))]);
    }
    rig.assert_states(State::L2, State::L2);
    assert_eq!(rig.phy, Phy::Sleeps(arbmux::State::L2));
    // The way out is through Reset, by full training.
    rig.ask_all(Some(Ask::Active));
    rig.run(200);
    rig.assert_states(State::Active, State::Active);
    rig.assert_traffic();
    rig.assert_no_events();
}

#[test]
fn c14_5_6_256() {
    for wakes in Dir::ALL {
        for instance in ArbMuxInstance::ALL {
            let mut rig = Rig::active();
            rig.ask_all(Some(ASK_L1));
            rig.run(100);
            assert_eq!(rig.phy, Phy::Sleeps(PHY_L1));
            rig.log.clear();
            rig.ask(wakes, instance, Some(Ask::Active));
            rig.run(300);
            for dir in Dir::ALL {
                let mut said = rig.said(dir, instance);
                said.sort();
                assert_eq!(said, [OPEN, ACTIVE], "the Active pair alone");
                assert_eq!(rig.state(dir, instance), State::Active);
            }
            assert_eq!(rig.almps().len(), 4, "nothing about the other one");
            assert_eq!(rig.phy, Phy::L0);
            rig.ask_all(Some(Ask::Active));
            rig.run(100);
            rig.assert_traffic();
            rig.assert_no_events();
        }
    }
}

/// Partly: a warm reset is an input that takes the link to its down state; the LTSSM is left out.
#[test]
fn c14_5_7_256() {
    let mut rig = Rig::active();
    rig.give(Dir::Down, ArbMuxInstance::Io, 400);
    rig.run(50);
    rig.port(Dir::Up).ask_width(LinkWidth::X4, true).expect("a width of the link");
    rig.run(40);
    rig.log.clear();
    rig.reset();
    assert!(matches!(rig.phy, Phy::Trains { reset: true, .. }));
    rig.run(20);
    assert_eq!(rig.log, [], "nothing is sent while the link is down");
    ArbMuxInstance::ALL.into_iter().for_each(|i| rig.ask_both(i, None));
    rig.run(100);
    rig.assert_states(State::Reset, State::Reset);
    for dir in Dir::ALL {
        for instance in ArbMuxInstance::ALL {
            assert!(rig.queue(dir, instance).resets > 0 && rig.queue(dir, instance).outgoing.is_empty());
        }
    }
    assert_eq!(rig.log, []);
    rig.ask_all(Some(Ask::Active));
    rig.run(100);
    assert_eq!(rig.log[0].1, Dir::Down, "it begins anew, downstream first");
    rig.assert_states(State::Active, State::Active);
    rig.assert_traffic();
    rig.assert_no_events();
}

/// Silence instead of PMNAK.
#[test]
fn c14_5_9_2_256() {
    let silent = ArbMuxConfig { pm_refusal_flits: None, ..config(Dir::Down) };
    let mut rig = Rig::active_with(silent, config(Dir::Up));
    rig.log.clear();
    rig.ask(Dir::Up, ArbMuxInstance::Io, Some(ASK_L1));
    rig.run(PATIENCE_FLITS / 2);
    rig.give(Dir::Up, ArbMuxInstance::Io, 1);
    rig.run(20);
    assert_eq!(rig.taken(Dir::Up, ArbMuxInstance::Io), [0; 0], "it waits for the answer");
    rig.run(PATIENCE_FLITS);
    assert_eq!(rig.said(Dir::Up, ArbMuxInstance::Io), [Says::Request(ASK_L1), OPEN]);
    assert_eq!(rig.said(Dir::Down, ArbMuxInstance::Io), [ACTIVE]);
    assert_eq!(rig.taken(Dir::Up, ArbMuxInstance::Io), [0]);
    rig.assert_traffic();
    assert_eq!(rig.trainings, 0);
    rig.assert_no_events();
}

/// Time in flit clocks of the full width that `count` flits of saturated traffic take each way.
fn time_of(rig: &mut Rig, count: u64) -> u64 {
    for dir in Dir::ALL {
        ArbMuxInstance::ALL.into_iter().for_each(|instance| rig.give(dir, instance, count / 2));
    }
    let start = rig.time;
    rig.run(count);
    rig.time - start
}

#[test]
fn c14_5_10_1_256() {
    for dir in Dir::ALL {
        let mut rig = Rig::active();
        assert_eq!(time_of(&mut rig, 100), 100);
        // Down and up again, in traffic.
        for (width, clocks) in [(LinkWidth::X8, 2), (LinkWidth::X2, 8), (LinkWidth::X4, 4), (LinkWidth::X16, 1)] {
            rig.port(dir).ask_width(width, false).expect("a width of the link");
            time_of(&mut rig, 100);
            assert_eq!([rig.host.client.width(), rig.device.client.width()], [width; 2]);
            assert_eq!(time_of(&mut rig, 100), 100 * clocks);
        }
        rig.run(60);
        for sent in Dir::ALL {
            for instance in ArbMuxInstance::ALL {
                assert_eq!(rig.taken(sent, instance), (0..450).collect::<Vec<u64>>(), "no data error");
            }
        }
        assert_eq!(rig.widths.len(), 8);
        rig.assert_no_events();
    }
}

#[test]
fn c14_5_10_2_256() {
    for dir in Dir::ALL {
        let mut rig = Rig::active();
        rig.port(dir.opposite()).set_narrowest(LinkWidth::X16);
        rig.port(dir).ask_width(LinkWidth::X8, false).expect("a width of the link");
        assert_eq!(time_of(&mut rig, 100), 100);
        assert_eq!(time_of(&mut rig, 100), 100);
        assert_eq!([rig.host.client.width(), rig.device.client.width()], [LinkWidth::X16; 2]);
        assert_eq!(rig.widths, []);
        rig.run(60);
        for sent in Dir::ALL {
            for instance in ArbMuxInstance::ALL {
                assert_eq!(rig.taken(sent, instance), (0..100).collect::<Vec<u64>>(), "no data error");
            }
        }
        rig.assert_no_events();
    }
}
