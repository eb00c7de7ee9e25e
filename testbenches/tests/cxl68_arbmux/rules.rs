//! Rules CXL68-VLS-01 to 09 and CXL68-MUX-01.

use crate::cxl68_arbmux::rig::{LATENCY_FLITS, PATIENCE_FLITS, Phy, RETRAIN_FLITS, Rig, config, io_unit, kind};
use scalepool::arbiter::{Arbiter, Requests, WeightedRoundRobin};
use scalepool::link::arbmux::cxl68::almp::{self, Says};
use scalepool::link::arbmux::cxl68::table::{
    Cause, Family, RESOLUTION, TRANSITIONS, Vlsm68Move, check_move, check_phy, resolve,
};
use scalepool::link::arbmux::cxl68::{ArbMux, ArbMuxConfig, IoQueue, PhysicalLinkEntry};
use scalepool::link::arbmux::{ArbMuxInstance, Ask, L1Level, State};
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::cxl68::{Cxl68End, EndConfig, Severity};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::stream::Unpacker;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;

const L1: State = State::L1(L1Level::L1_0);
const ASK_L1: Ask = Ask::L1(L1Level::L1_0);

/// A port of the device alone, in L0 after recovery with a vLSM of CXL.io that has a snapshot of a state.
fn recovered(snapshot: State) -> ArbMux<IoQueue, Cxl68End> {
    let end = Cxl68End::new(EndConfig::mem(Dir::Up, Cxl68Config::default(), 8)).expect("legal");
    let mut port = ArbMux::new(config(Dir::Up), IoQueue::default(), end);
    port.phy_up(PhysicalLinkEntry::First);
    let says = |port: &mut ArbMux<IoQueue, Cxl68End>, says| port.receive(&almp::unit(ArbMuxInstance::Io, says), 0);
    let send =
        |port: &mut ArbMux<IoQueue, Cxl68End>| while port.transmit(0).is_some_and(|u| kind(&u) == PidKind::Almp) {};
    if snapshot != State::Reset {
        says(&mut port, Says::Request(Ask::Active));
        send(&mut port);
        says(&mut port, Says::Status(State::Active));
        send(&mut port);
    }
    let ask = match snapshot {
        State::L1(level) => Some(Ask::L1(level)),
        State::Retrain => Some(ASK_L1),
        State::L2 => Some(Ask::L2),
        State::Reset | State::Active => None,
    };
    if let Some(ask) = ask {
        port.ask(ArbMuxInstance::Io, Some(ask));
        send(&mut port);
        says(&mut port, Says::Status(ask.power_state().expect("a power state")));
    }
    if snapshot == State::Retrain {
        says(&mut port, Says::Request(Ask::Active));
    }
    assert_eq!(port.vlsm(ArbMuxInstance::Io).state(), snapshot);
    assert_eq!(port.take_events(), []);
    port.phy_down();
    port.phy_up(PhysicalLinkEntry::Recovery);
    port
}

#[test]
fn every_almp_of_ours_is_legal_and_reads_back() {
    let asks = [Ask::Active, Ask::L2, Ask::Deepest].into_iter().chain(L1Level::ALL.map(Ask::L1));
    for says in asks.map(Says::Request).chain(State::ALL.map(Says::Status)) {
        for instance in ArbMuxInstance::ALL {
            let unit = almp::unit(instance, says);
            let decoded = Unpacker::new(Dir::Down, Revision::V2_0, Enabled::ALL).read(&unit);
            assert_eq!(check::unit(&decoded, &Cxl68Config::default()).violations, [], "{says:?}");
            assert_eq!(almp::read(&unit), Some((instance, says)));
        }
    }
}

#[test]
fn any_bytes_are_taken_without_panic() {
    let mut rig = Rig::active();
    let mut rng = scalepool::kernel::Rng::from_seed(7);
    for n in 0..20_000u64 {
        let mut unit = Cxl68Unit([0; 68]);
        unit.0.iter_mut().for_each(|b| *b = rng.below(256) as u8);
        if n % 4 != 0 {
            // ALMPs whose copies agree, so that every code is met.
            let word = [rng.below(2) as u8, 8, rng.below(256) as u8, rng.below(4) as u8];
            (0..4).for_each(|k| unit.0[2 + 4 * k..6 + 4 * k].copy_from_slice(&word));
            unit.0[..2].copy_from_slice(&pid::ALMP.to_le_bytes());
        }
        rig.inject_unit(if n % 2 == 0 { Dir::Down } else { Dir::Up }, &unit);
        rig.step();
    }
    assert!(rig.trainings > 0);
}

/// Clients that change their minds, noise on both wires: whatever happened, the link comes back and every change of state
/// has a row.
#[test]
fn noise_and_changing_wishes_end_in_active() {
    let mut trainings = 0;
    let mut slept = 0;
    for seed in 0..150 {
        let mut rng = scalepool::kernel::Rng::from_seed(seed);
        let mut rig = Rig::active();
        for dir in Dir::ALL {
            rig.faults(dir, (0..12).map(|_| Fault::Noise { unit: rng.below(600) }).collect());
        }
        for _ in 0..40 {
            let ask = [
                None,
                Some(Ask::Active),
                Some(ASK_L1),
                Some(Ask::L1(L1Level::L1_2)),
                Some(Ask::L2),
                Some(Ask::Deepest),
            ];
            let ask = ask[rng.below(6) as usize];
            let instance = ArbMuxInstance::ALL[rng.below(2) as usize];
            match rng.below(3) {
                0 => rig.ask_both(instance, ask),
                1 => rig.host.ask(instance, ask),
                _ => rig.device.ask(instance, ask),
            }
            rig.send_io(Dir::ALL[rng.below(2) as usize], rng.below(4));
            rig.run(rng.below(120));
        }
        for dir in Dir::ALL {
            rig.faults(dir, Vec::new());
        }
        for instance in ArbMuxInstance::ALL {
            rig.ask_both(instance, Some(Ask::Active));
        }
        rig.run(2500);
        rig.assert_states(State::Active, State::Active);
        rig.assert_legal_moves();
        for (dir, event) in &rig.events {
            assert_eq!(event.severity, Severity::Retrain, "seed {seed} {dir:?}: {event}");
        }
        rig.assert_traffic();
        trainings += rig.trainings;
        slept += rig.slept.len();
    }
    assert!(trainings > 150 && slept > 20, "{trainings} {slept}");
}

/// Noise in the place of any unit while the link comes up, among them the Status that makes one side Active and not the
/// other.
#[test]
fn noise_at_any_unit_of_the_start_is_repaired() {
    for dir in Dir::ALL {
        for unit in 0..30 {
            let mut rig = Rig::new();
            rig.faults(dir, vec![Fault::Noise { unit }]);
            for instance in ArbMuxInstance::ALL {
                rig.ask_both(instance, Some(Ask::Active));
            }
            rig.run(700);
            assert_eq!(rig.trainings, 1, "{dir:?} {unit}");
            rig.assert_states(State::Active, State::Active);
            assert!(rig.host.cachemem.is_up() && rig.device.cachemem.is_up(), "{dir:?} {unit}");
            rig.assert_traffic();
            rig.assert_no_errors();
        }
    }
}

// ---- VLS --------------------------------------------------------------------------------------------------------------

#[test]
fn cxl68_vls_01_p() {
    let mut rig = Rig::new();
    rig.send_io(Dir::Down, 5);
    rig.host.ask(ArbMuxInstance::Io, Some(Ask::Active));
    let mut seen = [[false; 2]; 2];
    for _ in 0..200 {
        let before = rig.log.len();
        rig.step();
        for (_, dir, unit) in rig.log[before..].iter().copied() {
            match (kind(&unit), almp::read(&unit)) {
                // Sent by this side, and received by it from the other one before payload leaves.
                (PidKind::Almp, Some((_, Says::Status(State::Active)))) => seen[usize::from(dir == Dir::Up)][0] = true,
                (PidKind::Io, _) => assert_eq!(seen, [[true, false]; 2], "payload before the handshake"),
                _ => (),
            }
        }
    }
    assert_eq!(rig.device.io.incoming.len(), 5);
    rig.assert_states(State::Active, State::Reset);
    rig.assert_no_events();
}

#[test]
fn cxl68_vls_01_n() {
    let mut rig = Rig::new();
    rig.run(3);
    rig.inject_unit(Dir::Down, &io_unit(0));
    let cachemem = Cxl68Unit::from_slots(pid::CACHEMEM, &[0; 4]);
    rig.inject_unit(Dir::Up, &cachemem);
    assert!(rig.saw(Dir::Up, "CXL68-VLS-01", Severity::Protocol));
    assert!(rig.saw(Dir::Down, "CXL68-VLS-01", Severity::Protocol));
    assert!(rig.device.io.incoming.is_empty(), "dropped");
    assert_eq!(rig.device.stats().dropped, 1);
    rig.assert_states(State::Reset, State::Reset);
    // One half of the handshake is not enough.
    let mut rig = Rig::new();
    rig.device.ask(ArbMuxInstance::Io, Some(Ask::Active));
    rig.run(3);
    rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Request(Ask::Active));
    rig.inject_unit(Dir::Down, &io_unit(0));
    assert!(rig.saw(Dir::Up, "CXL68-VLS-01", Severity::Protocol));
}

#[test]
fn cxl68_vls_02_p() {
    // Only the upstream port wants to be Active: it waits for the downstream port, whatever the protocol.
    let mut rig = Rig::new();
    rig.device.ask(ArbMuxInstance::Io, Some(Ask::Active));
    rig.run(200);
    assert!(rig.log.is_empty());
    rig.host.ask(ArbMuxInstance::Cachemem, Some(Ask::Active));
    rig.run(200);
    let first = rig.log.iter().find(|u| kind(&u.2) == PidKind::Almp).expect("an ALMP");
    assert_eq!(first.1, Dir::Down);
    rig.assert_states(State::Active, State::Active);
    rig.assert_no_events();
}

#[test]
fn cxl68_vls_02_n() {
    let mut rig = Rig::new();
    rig.run(3);
    rig.inject(Dir::Up, ArbMuxInstance::Io, Says::Request(Ask::Active));
    assert!(rig.saw(Dir::Down, "CXL68-VLS-02", Severity::Protocol));
}

/// A device that has sent Request{Active} and waits for the answer.
fn waits_for_active() -> Rig {
    let mut rig = Rig::new();
    rig.device.ask(ArbMuxInstance::Io, Some(Ask::Active));
    rig.host.ask(ArbMuxInstance::Cachemem, Some(Ask::Active));
    while !rig.almps(ArbMuxInstance::Io).contains(&(Dir::Up, Says::Request(Ask::Active))) {
        rig.step();
    }
    rig
}

#[test]
fn cxl68_vls_03_p() {
    for with_request in [false, true] {
        let mut rig = waits_for_active();
        if with_request {
            rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Request(Ask::Active));
        }
        rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Status(State::Active));
        assert_eq!(rig.trainings, 0);
        rig.assert_no_events();
    }
}

#[test]
fn cxl68_vls_03_n() {
    for wrong in State::ALL.into_iter().filter(|&s| s != State::Active) {
        let mut rig = waits_for_active();
        rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Status(wrong));
        assert!(rig.saw(Dir::Up, "CXL68-VLS-03", Severity::Retrain), "{wrong:?}");
        rig.run(400);
        assert_eq!(rig.trainings, 1);
        rig.assert_states(State::Active, State::Active);
        rig.assert_no_errors();
    }
}

#[test]
fn cxl68_vls_04_p() {
    let mut rig = Rig::active();
    rig.log.clear();
    rig.ask_both(ArbMuxInstance::Io, Some(ASK_L1));
    rig.run(60);
    let expected = [(Dir::Up, Says::Request(ASK_L1)), (Dir::Down, Says::Status(L1))];
    assert_eq!(rig.almps(ArbMuxInstance::Io), expected);
    rig.assert_states(L1, State::Active);
    rig.assert_no_events();
    // A deeper state than allowed, and the deepest that is.
    let mut rig = Rig::active();
    rig.log.clear();
    rig.host.ask(ArbMuxInstance::Io, Some(Ask::L1(L1Level::L1_1)));
    rig.device.ask(ArbMuxInstance::Io, Some(Ask::L2));
    rig.run(60);
    assert_eq!(rig.almps(ArbMuxInstance::Io), [(Dir::Up, Says::Request(Ask::L2))], "silence");
    let mut rig = Rig::active();
    rig.host.ask(ArbMuxInstance::Io, Some(Ask::L1(L1Level::L1_1)));
    rig.device.ask(ArbMuxInstance::Io, Some(Ask::Deepest));
    rig.run(60);
    rig.assert_states(State::L1(L1Level::L1_1), State::Active);
}

#[test]
fn cxl68_vls_04_n() {
    for ask in [ASK_L1, Ask::L2, Ask::Deepest] {
        let mut rig = Rig::active();
        rig.log.clear();
        rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Request(ask));
        assert!(rig.saw(Dir::Up, "CXL68-VLS-04", Severity::Protocol));
        rig.run(PATIENCE_FLITS);
        assert_eq!(rig.almps(ArbMuxInstance::Io), [], "no answer");
        rig.assert_states(State::Active, State::Active);
    }
}

fn path(rig: &Rig, dir: Dir, instance: ArbMuxInstance) -> Vec<State> {
    rig.moves.iter().filter(|m| m.0 == dir && m.1 == instance).map(|m| m.2.to).collect()
}

#[test]
fn cxl68_vls_05_p() {
    for (ask, sleep, between) in [(ASK_L1, L1, State::Retrain), (Ask::L2, State::L2, State::Reset)] {
        for wakes in Dir::ALL {
            // One protocol alone, so that the physical layer stays in L0, and then both.
            for both in [false, true] {
                let mut rig = Rig::active();
                rig.ask_both(ArbMuxInstance::Io, Some(ask));
                if both {
                    rig.ask_both(ArbMuxInstance::Cachemem, Some(ask));
                }
                rig.run(150);
                assert_eq!(rig.phy, if both { Phy::Sleeps(sleep) } else { Phy::L0 });
                rig.moves.clear();
                rig.port(wakes).ask(ArbMuxInstance::Io, Some(Ask::Active));
                if both {
                    rig.port(wakes).ask(ArbMuxInstance::Cachemem, Some(Ask::Active));
                    // After L2 the first ALMP is the downstream port's.
                    if ask == Ask::L2 {
                        rig.ask_both(ArbMuxInstance::Io, Some(Ask::Active));
                        rig.ask_both(ArbMuxInstance::Cachemem, Some(Ask::Active));
                    }
                }
                rig.run(400);
                for dir in Dir::ALL {
                    assert_eq!(
                        path(&rig, dir, ArbMuxInstance::Io),
                        [between, State::Active],
                        "{ask:?} {wakes:?} {both}"
                    );
                }
                rig.assert_no_events();
                rig.assert_traffic();
            }
        }
    }
}

#[test]
fn cxl68_vls_05_n() {
    let mut rig = Rig::new();
    for instance in ArbMuxInstance::ALL {
        rig.ask_both(instance, Some(Ask::Active));
    }
    rig.run(300);
    rig.ask_both(ArbMuxInstance::Io, Some(Ask::L2));
    rig.run(60);
    rig.device.ask(ArbMuxInstance::Io, Some(Ask::Active));
    rig.run(200);
    // A port that leaves Reset out makes one move of the two that lead from L2 to Active.
    let of_io: Vec<_> = rig.moves.iter().filter(|m| m.0 == Dir::Up && m.1 == ArbMuxInstance::Io).map(|m| m.2).collect();
    let direct = |pair: &[Vlsm68Move]| match pair {
        [first, second] if first.from == State::L2 => Some(Vlsm68Move { from: first.from, ..*second }),
        _ => None,
    };
    let made: Vec<_> = of_io.windows(2).filter_map(direct).collect();
    assert_eq!(made.iter().map(|made| (made.from, made.to)).collect::<Vec<_>>(), [(State::L2, State::Active)]);
    assert_eq!(of_io.iter().find_map(check_move), None);
    assert_eq!(check_move(&made[0]).map(|v| v.rule), Some("CXL68-VLS-05"));
    // Every pair without a row is named.
    for from in State::ALL {
        for to in State::ALL {
            for cause in [Cause::Handshake, Cause::Granted, Cause::Wake, Cause::LinkReset] {
                let made = Vlsm68Move { from, cause, to };
                let rows = TRANSITIONS.iter();
                let has_row =
                    rows.filter(|r| r.from == from.family() && r.to == to.family() && r.cause == cause).count() == 1;
                assert_eq!(check_move(&made).is_none(), has_row, "{made:?}");
            }
        }
    }
}

#[test]
fn cxl68_vls_06_p() {
    let mut rig = Rig::active();
    rig.send_io(Dir::Down, 500);
    rig.send_io(Dir::Up, 500);
    rig.run(20);
    rig.log.clear();
    rig.train();
    rig.run(RETRAIN_FLITS + 2 * LATENCY_FLITS);
    for dir in Dir::ALL {
        let of_dir: Vec<Cxl68Unit> = rig.log.iter().filter(|u| u.1 == dir).map(|u| u.2).collect();
        let [first, second, third, ..] = of_dir[..] else { panic!("units in {dir:?}") };
        assert_eq!(almp::read(&first), Some((ArbMuxInstance::Io, Says::Status(State::Active))));
        assert_eq!(almp::read(&second), Some((ArbMuxInstance::Cachemem, Says::Status(State::Active))));
        assert_ne!(kind(&third), PidKind::Almp);
    }
    rig.assert_no_events();
}

#[test]
fn cxl68_vls_06_n() {
    let mut rig = Rig::active();
    rig.train();
    rig.run(RETRAIN_FLITS + 2);
    rig.inject_unit(Dir::Down, &io_unit(0));
    rig.inject_unit(Dir::Up, &Cxl68Unit::from_slots(pid::CACHEMEM, &[0; 4]));
    assert!(rig.saw(Dir::Up, "CXL68-VLS-06", Severity::Protocol));
    assert!(rig.saw(Dir::Down, "CXL68-VLS-06", Severity::Protocol));
    assert!(rig.device.io.incoming.is_empty(), "dropped");
}

/// The sheet's sentence again: sent, received, resolved.
const SHEET: &str = "Reset,Reset->Reset; Reset,Active->Active; Reset,L2->Reset; Active,Reset->Active; \
    Active,Active->Active; Active,Retrain->Active; Active,L1->Retrain; Active,L2->Reset; Retrain,Active->Active; \
    Retrain,Retrain->Retrain; Retrain,L1->Retrain; L1,Active->L1; L1,Retrain->L1; L1,L1->L1; L2,Active->L2; \
    L2,Reset->L2; L2,L2->L2";

/// Sends and receives one Status of CXL.io; the events and the state after it.
fn synchronise(sent: State, received: State) -> (Vec<&'static str>, State) {
    let mut port = recovered(sent);
    let unit = port.transmit(1).expect("a Status");
    assert_eq!(almp::read(&unit), Some((ArbMuxInstance::Io, Says::Status(sent))));
    assert!(port.vlsm(ArbMuxInstance::Io).is_synchronising());
    port.receive(&almp::unit(ArbMuxInstance::Io, Says::Status(received)), 2);
    assert!(!port.vlsm(ArbMuxInstance::Io).is_synchronising());
    (port.take_events().iter().map(|e| e.violation.rule).collect(), port.vlsm(ArbMuxInstance::Io).state())
}

#[test]
fn cxl68_vls_07_p() {
    let text = RESOLUTION.map(|r| format!("{:?},{:?}->{:?}", r.sent, r.received, r.resolved)).join("; ");
    assert_eq!(text, SHEET);
    let mut rows = 0;
    for sent in State::ALL {
        for received in State::ALL {
            let row = RESOLUTION.iter().find(|r| r.sent == sent.family() && r.received == received.family());
            let Some(row) = row else { continue };
            let (events, state) = synchronise(sent, received);
            assert!(events.is_empty(), "{sent:?} {received:?}: {events:?}");
            assert_eq!(state.family(), row.resolved, "{sent:?} {received:?}");
            assert!(row.resolved != Family::L1 || state == sent, "the level stays");
            rows += 1;
        }
    }
    // 17 rows, of which those with one L1 stand for four pairs and the one with two for sixteen.
    assert_eq!(rows, 12 + 4 * 4 + 16);
}

#[test]
fn cxl68_vls_07_n() {
    let mut undefined = 0;
    for sent in State::ALL {
        for received in State::ALL.into_iter().filter(|&r| resolve(sent, r).is_none()) {
            let (events, state) = synchronise(sent, received);
            assert_eq!(events, ["CXL68-VLS-07"], "{sent:?} {received:?}");
            assert_eq!(state, sent, "it stays");
            undefined += 1;
        }
    }
    assert_eq!(undefined, 64 - 44);
}

#[test]
fn cxl68_vls_08_p() {
    let mut rig = Rig::active();
    rig.assert_traffic();
    rig.ask_both(ArbMuxInstance::Cachemem, Some(Ask::L2));
    rig.run(100);
    rig.host.ask(ArbMuxInstance::Cachemem, Some(Ask::Active));
    rig.run(300);
    rig.assert_traffic();
    assert_eq!(rig.trainings, 0);
    rig.assert_no_events();
}

#[test]
fn cxl68_vls_08_n() {
    // A Request during synchronisation.
    let mut rig = Rig::active();
    rig.train();
    rig.run(RETRAIN_FLITS + 2);
    rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Request(Ask::Active));
    assert!(rig.saw(Dir::Up, "CXL68-VLS-08", Severity::Retrain));
    rig.run(300);
    assert_eq!(rig.trainings, 2);
    // A Request for a power state while Status{Active} is due; the downstream port is the one that takes them.
    let mut rig = Rig::new();
    rig.host.ask(ArbMuxInstance::Io, Some(Ask::Active));
    rig.run(2);
    rig.inject(Dir::Up, ArbMuxInstance::Io, Says::Request(Ask::L2));
    assert!(rig.saw(Dir::Down, "CXL68-VLS-08", Severity::Retrain));
    // A Status without a Request, and one that is not what the Request asked for.
    for (ask, status) in
        [(None, State::Active), (None, L1), (Some(ASK_L1), State::L2), (Some(Ask::Deepest), State::Reset)]
    {
        let mut rig = Rig::active();
        rig.device.ask(ArbMuxInstance::Io, ask);
        rig.run(2);
        rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Status(status));
        assert!(rig.saw(Dir::Up, "CXL68-VLS-08", Severity::Retrain), "{ask:?} {status:?}");
        rig.device.ask(ArbMuxInstance::Io, None);
        rig.run(300);
        assert_eq!(rig.trainings, 1);
        rig.assert_states(State::Active, State::Active);
    }
}

/// The sheet's rule again, by depth: 0 Active, 1 to 4 L1.0 to L1.3, 5 L2, 6 Reset: the least wins.
fn depth(state: State) -> usize {
    match state {
        State::Active | State::Retrain => 0,
        State::L1(level) => 1 + level as usize,
        State::L2 => 5,
        State::Reset => 6,
    }
}

#[test]
fn cxl68_vls_09_p() {
    for io in State::ALL {
        for cachemem in State::ALL {
            let least = if depth(io) <= depth(cachemem) { io } else { cachemem };
            let asked = if least == State::Retrain { State::Active } else { least };
            assert_eq!(check_phy(io, cachemem, asked), None, "{io:?} {cachemem:?}");
        }
    }
}

#[test]
fn cxl68_vls_09_n() {
    let mut rig = Rig::new();
    for instance in ArbMuxInstance::ALL {
        rig.ask_both(instance, Some(Ask::Active));
    }
    rig.run(300);
    rig.ask_both(ArbMuxInstance::Io, Some(ASK_L1));
    rig.ask_both(ArbMuxInstance::Cachemem, Some(Ask::L2));
    rig.run(100);
    rig.assert_states(L1, State::L2);
    assert_eq!(check_phy(L1, State::L2, rig.host.phy_request()), None);
    assert_eq!(check_phy(L1, State::L2, rig.device.phy_request()), None);
    // A port at which the deeper state wins.
    let asked = L1.max(State::L2);
    assert_eq!(check_phy(L1, State::L2, asked).map(|v| v.rule), Some("CXL68-VLS-09"), "{asked:?}");
}

// ---- MUX --------------------------------------------------------------------------------------------------------------

/// Both protocols saturated for a while; units of each that left the host.
pub fn shares(weights: [u16; 2], flits: u64) -> ([u64; 2], Rig) {
    let mut rig = Rig::active();
    rig.host.set_weights(weights);
    let before = rig.host.stats().sent;
    rig.log.clear();
    for tag in 0..flits {
        rig.send_io(Dir::Down, 1);
        // Three requests fill a flit, so the queue never runs dry; the device takes what comes.
        (0..3).for_each(|_| rig.send_mem(Dir::Down, tag as u16));
        rig.step();
        while rig.device.cachemem.take().is_some() {}
    }
    let after = rig.host.stats().sent;
    ([after[0] - before[0], after[1] - before[1]], rig)
}

#[test]
fn cxl68_mux_01_p() {
    for weights in [[1, 1], [1, 3], [5, 2], [65535, 65535]] {
        let (mut arbiter, both) = (WeightedRoundRobin::new(&weights).unwrap(), Requests::all(2));
        let total = u64::from(weights[0]) + u64::from(weights[1]);
        let mut got = [0u64; 2];
        for place in 1..=4000u64 {
            let first = arbiter.arbitrate(&both).unwrap();
            arbiter.update(&both, first);
            got[first] += 1;
            for n in 0..2 {
                let share = place * u64::from(weights[n]);
                assert!((got[n] * total).abs_diff(share) <= total, "{weights:?}: {got:?} of {place}");
            }
        }
    }
    // A unit is never cut: each one of the log is whole, by its ID and CRC.
    let (_, rig) = shares([1, 1], 200);
    assert!(rig.log.iter().all(|u| kind(&u.2) != PidKind::Cachemem || u.2.crc_ok()));
    let controls = rig.log.iter().filter(|u| u.2.slot(0) & 1 == 1 && kind(&u.2) == PidKind::Cachemem);
    assert!(controls.into_iter().all(|u| Control::static_bits_ok(u.2.slot(0))));
    rig.assert_no_events();
}

#[test]
fn cxl68_mux_01_n() {
    let mut rig = Rig::active();
    rig.host.set_weights([0, 1]);
    rig.step();
    assert!(rig.saw(Dir::Down, "CXL68-MUX-01", Severity::Protocol));
    rig.events.clear();
    // It still gets the places that the other client leaves.
    rig.assert_traffic();
    rig.assert_no_events();
    // At build time too, and not for a protocol that is not there.
    let port = |config: ArbMuxConfig| {
        let end = Cxl68End::new(EndConfig::mem(config.dir, config.link, 8)).expect("legal");
        ArbMux::new(config, IoQueue::default(), end).take_events().len()
    };
    let zero = ArbMuxConfig { weights: [1, 0], ..config(Dir::Down) };
    assert_eq!(port(zero), 1);
    assert_eq!(port(ArbMuxConfig { enabled: Enabled { io: true, cachemem: false }, ..zero }), 0);
}
