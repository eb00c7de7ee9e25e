//! Chapter 14 of the specification, section 14.5 in 68B mode; a name is a section number.

use crate::cxl68_arbmux::rig::{LATENCY_FLITS, PATIENCE_FLITS, Phy, RETRAIN_FLITS, Rig, config, kind};
use crate::cxl68_arbmux::rules::shares;
use scalepool::link::arbmux::cxl68::almp::{self, Says};
use scalepool::link::arbmux::cxl68::{ArbMuxConfig, PhysicalLinkEntry};
use scalepool::link::arbmux::{ArbMuxInstance, Ask, L1Level, State};
use scalepool::link::cxl68::Severity;
use scalepool::link::cxl68::fault::Fault;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::pid::{Enabled, PidKind};

const L1: State = State::L1(L1Level::L1_0);
const ASK_L1: Ask = Ask::L1(L1Level::L1_0);

fn of(rig: &Rig, dir: Dir) -> Vec<Says> {
    rig.almps(ArbMuxInstance::Io).into_iter().filter(|a| a.0 == dir).map(|a| a.1).collect()
}

#[test]
fn c14_5_1() {
    let mut rig = Rig::active();
    assert_eq!(rig.log[0].1, Dir::Down, "the first ALMP");
    for instance in ArbMuxInstance::ALL {
        for dir in Dir::ALL {
            let mut said: Vec<Says> = rig.almps(instance).into_iter().filter(|a| a.0 == dir).map(|a| a.1).collect();
            said.sort();
            assert_eq!(said, [Says::Request(Ask::Active), Says::Status(State::Active)]);
        }
    }
    for dir in Dir::ALL {
        let status = rig.log.iter().position(|u| {
            u.1 != dir && almp::read(&u.2) == Some((ArbMuxInstance::Cachemem, Says::Status(State::Active)))
        });
        let payload = rig.log.iter().position(|u| u.1 == dir && kind(&u.2) == PidKind::Cachemem);
        assert!(status.is_some() && status < payload, "payload after the peer's Status");
    }
    rig.assert_traffic();
    rig.assert_no_events();
}

#[test]
fn c14_5_2() {
    for weights in [[1u16, 1], [3, 1], [2, 5]] {
        let (sent, rig) = shares(weights, 700);
        let [io, cachemem] = sent;
        assert!(io > 0 && cachemem > 0);
        // Both always have a unit, so the shares are those of the weights.
        let total = u64::from(weights[0]) + u64::from(weights[1]);
        let expected = (io + cachemem) * u64::from(weights[0]) / total;
        assert!(io.abs_diff(expected) <= 1, "{weights:?}: {sent:?}");
        rig.assert_no_events();
    }
}

#[test]
fn c14_5_3() {
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
    for instance in ArbMuxInstance::ALL {
        rig.ask_both(instance, Some(ASK_L1));
    }
    rig.run(60);
    assert_eq!(rig.phy, Phy::Sleeps(L1));
    for instance in ArbMuxInstance::ALL {
        assert_eq!(rig.almps(instance), [(Dir::Up, Says::Request(ASK_L1)), (Dir::Down, Says::Status(L1))]);
    }
    let sent = rig.log.len();
    rig.send_io(Dir::Down, 5);
    rig.send_io(Dir::Up, 5);
    rig.run(100);
    assert_eq!(rig.log.len(), sent, "no flits after");
    rig.assert_no_events();
}

#[test]
fn c14_5_4() {
    for (a, b) in [(L1Level::L1_0, L1Level::L1_2), (L1Level::L1_3, L1Level::L1_1)] {
        let mut rig = Rig::active();
        rig.ask_both(ArbMuxInstance::Io, Some(Ask::L1(a)));
        rig.ask_both(ArbMuxInstance::Cachemem, Some(Ask::L1(b)));
        rig.run(100);
        rig.assert_states(State::L1(a), State::L1(b));
        assert_eq!(rig.slept, [State::L1(a.min(b))]);
        assert_eq!(rig.host.phy_request(), rig.device.phy_request());
        rig.assert_no_events();
    }
}

#[test]
fn c14_5_5() {
    let mut rig = Rig::active();
    rig.log.clear();
    for instance in ArbMuxInstance::ALL {
        rig.ask_both(instance, Some(Ask::L2));
    }
    rig.run(100);
    for instance in ArbMuxInstance::ALL {
        assert_eq!(rig.almps(instance), [(Dir::Up, Says::Request(Ask::L2)), (Dir::Down, Says::Status(State::L2))]);
    }
    rig.assert_states(State::L2, State::L2);
    assert_eq!(rig.phy, Phy::Sleeps(State::L2));
    rig.assert_no_events();
}

#[test]
fn c14_5_6() {
    for wakes in Dir::ALL {
        for instance in ArbMuxInstance::ALL {
            let mut rig = Rig::active();
            for each in ArbMuxInstance::ALL {
                rig.ask_both(each, Some(ASK_L1));
            }
            rig.run(100);
            assert_eq!(rig.phy, Phy::Sleeps(L1));
            rig.log.clear();
            rig.port(wakes).ask(instance, Some(Ask::Active));
            rig.run(300);
            for dir in Dir::ALL {
                let said: Vec<Says> = rig.almps(instance).into_iter().filter(|a| a.0 == dir).map(|a| a.1).collect();
                assert_eq!(said[0], Says::Status(L1), "synchronisation first");
                let mut rest = said[1..].to_vec();
                rest.sort();
                assert_eq!(rest, [Says::Request(Ask::Active), Says::Status(State::Active)]);
                assert_eq!(rig.state(dir, instance), State::Active);
            }
            rig.assert_no_events();
        }
    }
    // And traffic goes on.
    let mut rig = Rig::active();
    for each in ArbMuxInstance::ALL {
        rig.ask_both(each, Some(ASK_L1));
    }
    rig.run(100);
    for each in ArbMuxInstance::ALL {
        rig.device.ask(each, Some(Ask::Active));
    }
    rig.run(300);
    rig.assert_traffic();
    rig.assert_no_events();
}

#[test]
fn c14_5_8() {
    let asks = [(None, State::Active), (Some(ASK_L1), L1), (Some(Ask::L1(L1Level::L1_2)), State::L1(L1Level::L1_2))];
    for (ask, state) in asks.into_iter().chain([(Some(Ask::L2), State::L2)]) {
        let mut rig = Rig::active();
        rig.ask_both(ArbMuxInstance::Io, ask);
        rig.run(100);
        rig.log.clear();
        rig.train();
        rig.run(200);
        for dir in Dir::ALL {
            assert_eq!(of(&rig, dir), [Says::Status(state)]);
            assert_eq!(rig.state(dir, ArbMuxInstance::Io), state);
        }
        rig.assert_no_events();
    }
    // In Reset, and in Retrain on the way out of L1.
    let mut rig = Rig::new();
    rig.run(5);
    rig.train();
    rig.run(200);
    assert_eq!(
        rig.almps(ArbMuxInstance::Io),
        [(Dir::Down, Says::Status(State::Reset)), (Dir::Up, Says::Status(State::Reset))]
    );
    rig.assert_no_events();
    let mut rig = Rig::active();
    rig.ask_both(ArbMuxInstance::Io, Some(ASK_L1));
    rig.run(100);
    rig.host.ask(ArbMuxInstance::Io, Some(Ask::Active));
    rig.run(LATENCY_FLITS + 2);
    rig.assert_states(State::Retrain, State::Active);
    rig.log.clear();
    rig.train();
    rig.run(300);
    for dir in Dir::ALL {
        assert_eq!(of(&rig, dir)[0], Says::Status(State::Retrain));
        assert_eq!(rig.state(dir, ArbMuxInstance::Io), State::Active);
    }
    rig.assert_no_events();
}

/// Partly: the ARB/MUX alone; a link of CXL.io alone has no ALMP, in training neither.
#[test]
fn c14_5_9_1() {
    let alone = |dir| ArbMuxConfig { enabled: Enabled { io: true, cachemem: false }, ..config(dir) };
    let mut rig = Rig::with(alone(Dir::Down), alone(Dir::Up));
    rig.send_io(Dir::Down, 20);
    rig.run(40);
    rig.train();
    rig.send_io(Dir::Up, 20);
    rig.run(100);
    assert_eq!((rig.device.io.incoming.len(), rig.host.io.incoming.len()), (20, 20));
    assert!(rig.log.iter().all(|u| kind(&u.2) == PidKind::Io));
    rig.assert_no_events();
}

#[test]
fn c14_5_9_2() {
    let mut rig = Rig::active();
    rig.log.clear();
    rig.device.ask(ArbMuxInstance::Io, Some(ASK_L1));
    rig.run(PATIENCE_FLITS / 2);
    rig.send_io(Dir::Up, 1);
    rig.run(10);
    assert!(rig.host.io.incoming.is_empty(), "it waits for the answer");
    rig.run(PATIENCE_FLITS);
    assert_eq!(of(&rig, Dir::Up), [Says::Request(ASK_L1), Says::Request(Ask::Active)]);
    assert_eq!(of(&rig, Dir::Down), [Says::Status(State::Active)]);
    assert_eq!(rig.host.io.incoming.len(), 1);
    rig.assert_traffic();
    assert_eq!(rig.trainings, 0);
    rig.assert_no_events();
}

#[test]
fn c14_5_9_3() {
    for dir in Dir::ALL {
        let mut rig = Rig::active();
        rig.inject(dir, ArbMuxInstance::Io, Says::Status(State::Active));
        rig.run(200);
        assert_eq!(rig.trainings, 1);
        rig.assert_states(State::Active, State::Active);
        rig.assert_no_errors();
        rig.assert_traffic();
    }
}

/// The first ALMP of a recovery, with one and with two wrong bits in its four copies.
#[test]
fn c14_5_9_4() {
    let flips = |bits: &[u16]| bits.iter().map(|&bit| Fault::Flip { unit: 0, bit: 16 + bit }).collect::<Vec<_>>();
    let one = (0..128).map(|bit| vec![bit]);
    // The second bit is in every other copy, among them at the same place of the DWORD.
    let two = (0..128).flat_map(|bit| [1, 31, 32, 64, 96].map(|gap| vec![bit, (bit + gap) % 128]));
    for (n, bits) in one.chain(two).enumerate() {
        let dir = Dir::ALL[n % 2];
        let mut rig = Rig::active();
        rig.train();
        rig.faults(dir, flips(&bits));
        rig.run(RETRAIN_FLITS + LATENCY_FLITS + 2);
        assert!(rig.saw(dir.opposite(), "CXL68-ALM-01", Severity::Retrain), "{bits:?}");
        rig.run(100);
        assert_eq!(rig.trainings, 2);
        rig.assert_states(State::Active, State::Active);
    }
}

#[test]
fn c14_5_9_5() {
    for dir in Dir::ALL {
        let mut rig = Rig::active();
        // One side trains, the other one does not see it: its peer's Status comes without a Request.
        rig.port(dir).phy_down();
        rig.port(dir).phy_up(PhysicalLinkEntry::Recovery);
        rig.run(LATENCY_FLITS + 2);
        assert!(rig.saw(dir.opposite(), "CXL68-VLS-08", Severity::Retrain));
        assert_eq!(rig.trainings, 1);
        rig.run(RETRAIN_FLITS + 2 * LATENCY_FLITS);
        assert_eq!(rig.trainings, 1, "the second one succeeds");
        rig.assert_states(State::Active, State::Active);
        rig.run(100);
        rig.assert_traffic();
        rig.assert_legal_moves();
    }
}
