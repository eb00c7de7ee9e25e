//! Rules CXL256-ALM-03 to 05.

use crate::cxl256_arbmux::rig::{LATENCY_FLITS, PATIENCE_FLITS, REFUSAL_FLITS, RETRAIN_FLITS, Rig, config, payload};
use scalepool::link::arbmux::cxl256::almp::{self, AlmpContent, Says};
use scalepool::link::arbmux::cxl256::l0p::{self, check_width};
use scalepool::link::arbmux::cxl256::state::{Cause, Vlsm256Move, check_move};
use scalepool::link::arbmux::cxl256::{ArbMuxConfig, LinkWidth, State, WidthMove, WidthRefused};
use scalepool::link::arbmux::{ArbMuxInstance, Ask, L1Level};
use scalepool::link::cxl256::client::{Client, FlitPart};
use scalepool::link::event::Severity;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;

const L1: State = State::L1(L1Level::L1_0);
const ASK_L1: Ask = Ask::L1(L1Level::L1_0);
const OPEN: Says = Says::Request(Ask::Active);
const ACTIVE: Says = Says::Status(State::Active);

#[test]
fn cxl256_alm_03_p() {
    let rig = Rig::active();
    assert_eq!(rig.log[0].1, Dir::Down, "downstream first");
    for instance in ArbMuxInstance::ALL {
        let says = rig.says(instance);
        assert_eq!(says[0], (Dir::Down, OPEN));
        for dir in Dir::ALL {
            let mut said = rig.said(dir, instance);
            said.sort();
            assert_eq!(said, [OPEN, ACTIVE], "one pair each way");
        }
    }
    // No Status after training, in any state.
    for (ask, state) in [(Ask::Active, State::Active), (ASK_L1, L1), (Ask::L2, State::L2)] {
        let mut rig = Rig::active();
        rig.ask_both(ArbMuxInstance::Io, Some(ask));
        rig.run(100);
        rig.log.clear();
        rig.train();
        rig.run(RETRAIN_FLITS + 100);
        assert_eq!(rig.almps(), []);
        rig.assert_states(state, State::Active);
        rig.assert_no_events();
    }
    // The upstream port does not begin, whatever its client asks.
    let mut rig = Rig::new();
    ArbMuxInstance::ALL.into_iter().for_each(|i| rig.ask(Dir::Up, i, Some(Ask::Active)));
    rig.run(100);
    assert_eq!(rig.almps(), []);
    rig.assert_no_events();
}

#[test]
fn cxl256_alm_03_n() {
    // A peer that synchronises Status.
    for dir in Dir::ALL {
        for state in State::ALL.into_iter().filter(|&s| s != State::PmNak) {
            let mut rig = Rig::active();
            rig.train();
            rig.run(RETRAIN_FLITS + 60);
            rig.inject(dir, ArbMuxInstance::Cachemem, Says::Status(state));
            assert_eq!(rig.rules(dir.opposite()), ["CXL256-ALM-03"], "{state:?}");
            assert_eq!(rig.events[0].1.severity, Severity::Protocol);
            rig.assert_states(State::Active, State::Active);
            rig.assert_traffic();
            assert_eq!((rig.trainings, rig.events.len()), (1, 1));
        }
    }
    // An upstream port that begins is answered and named.
    let mut rig = Rig::new();
    rig.inject(Dir::Up, ArbMuxInstance::Io, OPEN);
    assert_eq!(rig.rules(Dir::Down), ["CXL256-ALM-03"]);
    // Payload before Active is dropped and named, at all states but those that receive.
    let mut rig = Rig::new();
    for (flit_type, dropped) in [(FlitType::Io, 1), (FlitType::Cachemem, 2)] {
        rig.inject_flit(Dir::Down, &payload(flit_type, 7));
        assert_eq!(rig.device.client.stats().dropped, dropped);
        // The halves of a flit are one finding.
        rig.port(Dir::Down).receive(&payload(flit_type, 7), FlitPart::Even, 0);
        rig.port(Dir::Down).receive(&payload(flit_type, 7), FlitPart::Odd, 0);
    }
    assert_eq!(rig.rules(Dir::Up), ["CXL256-ALM-03"; 2]);
    assert_eq!(rig.rules(Dir::Down).len() + rig.host.client.take_events().len(), 2);
    for instance in ArbMuxInstance::ALL {
        assert_eq!(rig.taken(Dir::Down, instance), [0; 0]);
    }
    // Changes of state without a row.
    for from in State::ALL {
        for cause in Cause::ALL {
            let to_active = cause == Cause::Handshake && matches!(from, State::Reset | State::Retrain | State::PmNak);
            let made = Vlsm256Move { from, cause, to: State::Active };
            assert_eq!(check_move(&made).is_none(), to_active, "{made:?}");
        }
    }
}

#[test]
fn cxl256_alm_04_p() {
    for instance in ArbMuxInstance::ALL {
        let mut rig = Rig::active();
        rig.log.clear();
        rig.ask(Dir::Up, instance, Some(ASK_L1));
        rig.run(LATENCY_FLITS + 2);
        rig.give(Dir::Down, instance, 30);
        rig.run(REFUSAL_FLITS + LATENCY_FLITS - 2);
        rig.give(Dir::Up, instance, 3);
        rig.run(3);
        assert_eq!(rig.state(Dir::Up, instance), State::PmNak);
        // It receives and does not send.
        let got = rig.taken(Dir::Down, instance).len();
        rig.give(Dir::Down, instance, 5);
        rig.run(LATENCY_FLITS + 1);
        assert_eq!(rig.state(Dir::Up, instance), State::PmNak);
        assert_eq!(rig.taken(Dir::Up, instance), [0; 0]);
        rig.run(LATENCY_FLITS + 20);
        assert_eq!(got + rig.taken(Dir::Down, instance).len(), 35);
        // Back by one pair, then payload.
        assert_eq!(rig.taken(Dir::Up, instance), [0, 1, 2]);
        rig.assert_states(State::Active, State::Active);
        assert_eq!(rig.said(Dir::Up, instance), [Says::Request(ASK_L1), OPEN]);
        assert_eq!(rig.said(Dir::Down, instance), [Says::Status(State::PmNak), ACTIVE]);
        rig.assert_traffic();
        // It may ask again and be granted.
        rig.ask_both(instance, Some(ASK_L1));
        rig.run(100);
        for dir in Dir::ALL {
            assert_eq!(rig.state(dir, instance), L1);
        }
        rig.assert_no_events();
    }
    // A permission that does not go so deep is none; one that comes in time is.
    for (allowed, after, state) in [(Ask::L1(L1Level::L1_1), 0, State::Active), (Ask::L2, REFUSAL_FLITS - 2, State::L2)]
    {
        let mut rig = Rig::active();
        rig.ask(Dir::Up, ArbMuxInstance::Io, Some(Ask::L2));
        rig.run(LATENCY_FLITS + after);
        rig.ask(Dir::Down, ArbMuxInstance::Io, Some(allowed));
        rig.run(4 * LATENCY_FLITS + REFUSAL_FLITS);
        rig.assert_states(state, State::Active);
        rig.assert_no_events();
    }
    // The deepest one that both allow.
    for (allowed, state) in [(Ask::L1(L1Level::L1_2), State::L1(L1Level::L1_2)), (Ask::Deepest, State::L2)] {
        let mut rig = Rig::active();
        rig.ask(Dir::Up, ArbMuxInstance::Io, Some(Ask::Deepest));
        rig.ask(Dir::Down, ArbMuxInstance::Io, Some(allowed));
        rig.run(100);
        rig.assert_states(state, State::Active);
        rig.assert_no_events();
    }
}

#[test]
fn cxl256_alm_04_n() {
    // An upstream port that goes on asking, or sends, without Request{Active}.
    let refused = || {
        let mut rig = Rig::active();
        rig.inject(Dir::Up, ArbMuxInstance::Io, Says::Request(ASK_L1));
        rig.run(REFUSAL_FLITS + 1);
        assert!(rig.host.client.vlsm(ArbMuxInstance::Io).is_peer_refused());
        rig
    };
    for ask in Ask::ALL.into_iter().filter(|&a| a != Ask::Active) {
        let mut rig = refused();
        rig.inject(Dir::Up, ArbMuxInstance::Io, Says::Request(ask));
        assert_eq!(rig.rules(Dir::Down), ["CXL256-ALM-04"]);
        assert_eq!(rig.state(Dir::Down, ArbMuxInstance::Io), State::Active);
    }
    let mut rig = refused();
    rig.inject_flit(Dir::Up, &payload(FlitType::Io, 9));
    assert_eq!(rig.rules(Dir::Down), ["CXL256-ALM-04"]);
    assert_eq!(rig.taken(Dir::Up, ArbMuxInstance::Io), [9], "the receiver is Active and goes on");
    rig.inject(Dir::Up, ArbMuxInstance::Io, OPEN);
    rig.inject_flit(Dir::Up, &payload(FlitType::Io, 10));
    assert_eq!(rig.rules(Dir::Down), ["CXL256-ALM-04"], "Request{{Active}} ends it");
    // The downstream port asks; PMNAK answers nothing.
    let mut rig = Rig::active();
    rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Request(ASK_L1));
    rig.inject(Dir::Down, ArbMuxInstance::Io, Says::Status(State::PmNak));
    assert_eq!(rig.rules(Dir::Up), ["CXL256-ALM-04"; 2]);
    rig.assert_states(State::Active, State::Active);
    // Changes of state: PMNAK is left to Active alone, and only a refusal leads there.
    for to in State::ALL {
        for cause in [Cause::Granted, Cause::Refused, Cause::Wake] {
            assert!(check_move(&Vlsm256Move { from: State::PmNak, cause, to }).is_some());
        }
    }
    let made = Vlsm256Move { from: L1, cause: Cause::Refused, to: State::PmNak };
    assert_eq!(check_move(&made).map(|v| v.rule), Some("CXL256-ALM-04"));
}

fn widths(rig: &Rig) -> [LinkWidth; 2] {
    [rig.host.client.width(), rig.device.client.width()]
}

fn ask_width(rig: &mut Rig, dir: Dir, width: LinkWidth, priority: bool) {
    rig.port(dir).ask_width(width, priority).expect("a width of the link");
}

#[test]
fn cxl256_alm_05_p() {
    // Every width from every other one, asked by either port.
    for dir in Dir::ALL {
        let mut rig = Rig::active();
        for width in LinkWidth::ALL.into_iter().chain(LinkWidth::ALL.into_iter().rev()) {
            rig.log.clear();
            let before = rig.host.client.width();
            ask_width(&mut rig, dir, width, false);
            rig.run(60);
            assert_eq!(widths(&rig), [width; 2]);
            let request = (dir, AlmpContent::Width(l0p::Says::Request { width, priority: false }));
            let answer = (dir.opposite(), AlmpContent::Width(l0p::Says::Ack(width)));
            assert_eq!(rig.almps(), if width == before { vec![] } else { vec![request, answer] });
        }
        rig.assert_traffic();
        rig.assert_no_events();
    }
    // Refused without priority, agreed with it, agreed when wider.
    for dir in Dir::ALL {
        let mut rig = Rig::active();
        rig.port(dir.opposite()).set_narrowest(LinkWidth::X8);
        for (width, priority, then) in [
            (LinkWidth::X4, false, LinkWidth::X16),
            (LinkWidth::X8, false, LinkWidth::X8),
            (LinkWidth::X2, true, LinkWidth::X2),
            (LinkWidth::X1, false, LinkWidth::X2),
            (LinkWidth::X4, false, LinkWidth::X4),
        ] {
            ask_width(&mut rig, dir, width, priority);
            rig.run(60);
            assert_eq!(widths(&rig), [then; 2], "{width:?}");
        }
        rig.assert_no_events();
    }
    // Requests that cross: one is refused. Priority, then more lanes, then the downstream port.
    for (host, device, then) in [
        ((LinkWidth::X8, false), (LinkWidth::X4, true), LinkWidth::X4),
        ((LinkWidth::X8, true), (LinkWidth::X4, false), LinkWidth::X8),
        ((LinkWidth::X2, false), (LinkWidth::X4, false), LinkWidth::X4),
        ((LinkWidth::X2, true), (LinkWidth::X1, true), LinkWidth::X2),
        ((LinkWidth::X8, false), (LinkWidth::X8, false), LinkWidth::X8),
    ] {
        let mut rig = Rig::active();
        rig.log.clear();
        ask_width(&mut rig, Dir::Down, host.0, host.1);
        ask_width(&mut rig, Dir::Up, device.0, device.1);
        rig.run(60);
        assert_eq!(widths(&rig), [then; 2], "{host:?} {device:?}");
        let naks = rig.almps().into_iter().filter(|a| a.1 == AlmpContent::Width(l0p::Says::Nak)).count();
        assert_eq!(naks, 1);
        rig.assert_no_events();
    }
    // All lanes come back with the link.
    let mut rig = Rig::active();
    ask_width(&mut rig, Dir::Down, LinkWidth::X1, false);
    rig.run(60);
    rig.train();
    rig.run(100);
    assert_eq!(widths(&rig), [LinkWidth::X1; 2], "training keeps it");
    rig.reset();
    rig.run(100);
    assert_eq!(widths(&rig), [LinkWidth::X16; 2]);
    rig.assert_no_events();
}

#[test]
fn cxl256_alm_05_n() {
    // A port that asks for one lane gets NAK, and does nothing. One that takes the width all the same is told by the checker.
    let mut rig = Rig::active_with(ArbMuxConfig { narrowest: LinkWidth::X8, ..config(Dir::Down) }, config(Dir::Up));
    ask_width(&mut rig, Dir::Up, LinkWidth::X1, false);
    rig.run(60);
    let answers: Vec<_> = rig.almps().into_iter().filter(|a| a.1 == AlmpContent::Width(l0p::Says::Nak)).collect();
    assert_eq!((answers.len(), rig.widths.len()), (1, 0));
    let taken = WidthMove { from: LinkWidth::X16, to: LinkWidth::X1, by: Some(l0p::Says::Nak) };
    assert_eq!(check_width(&taken).map(|v| v.rule), Some("CXL256-ALM-05"));
    let other = WidthMove { from: LinkWidth::X16, to: LinkWidth::X4, by: Some(l0p::Says::Ack(LinkWidth::X8)) };
    assert_eq!(check_width(&other).map(|v| v.rule), Some("CXL256-ALM-05"));
    // Answers without a Request, and with another width: nothing changes.
    for says in LinkWidth::ALL.into_iter().map(l0p::Says::Ack).chain([l0p::Says::Nak]) {
        let mut rig = Rig::active();
        rig.inject_flit(Dir::Down, &almp::flit(AlmpContent::Width(says)));
        assert_eq!(rig.rules(Dir::Up), ["CXL256-ALM-05"]);
        assert_eq!(widths(&rig), [LinkWidth::X16; 2]);
        let mut rig = Rig::active();
        ask_width(&mut rig, Dir::Up, LinkWidth::X2, false);
        rig.inject_flit(Dir::Down, &almp::flit(AlmpContent::Width(says)));
        let wrong = !matches!(says, l0p::Says::Ack(LinkWidth::X2) | l0p::Says::Nak);
        assert_eq!(rig.rules(Dir::Up).len(), usize::from(wrong), "{says:?}");
        assert_eq!(rig.device.client.l0p().asked().is_some(), wrong, "it still waits");
        let width = if says == l0p::Says::Ack(LinkWidth::X2) { LinkWidth::X2 } else { LinkWidth::X16 };
        assert_eq!(widths(&rig)[1], width);
    }
    // What cannot be asked for; a peer that asks for more lanes than there are is refused.
    let narrow = |dir| ArbMuxConfig { width: LinkWidth::X8, ..config(dir) };
    let mut rig = Rig::active_with(narrow(Dir::Down), narrow(Dir::Up));
    let refused = rig.port(Dir::Up).ask_width(LinkWidth::X16, true);
    assert_eq!(refused, Err(WidthRefused::TooWide { found: LinkWidth::X16, full: LinkWidth::X8 }));
    ask_width(&mut rig, Dir::Up, LinkWidth::X4, true);
    assert_eq!(rig.port(Dir::Up).ask_width(LinkWidth::X2, true), Err(WidthRefused::Pending(LinkWidth::X4)));
    rig.run(60);
    rig.log.clear();
    let says = l0p::Says::Request { width: LinkWidth::X16, priority: true };
    rig.inject_flit(Dir::Up, &almp::flit(AlmpContent::Width(says)));
    rig.run(2);
    assert_eq!(rig.almps(), [(Dir::Down, AlmpContent::Width(l0p::Says::Nak))]);
}

/// Bytes of an ALMP that say nothing change nothing and are named by the rules of the codec.
#[test]
fn bad_almps_are_named() {
    let good = almp::flit(AlmpContent::Vlsm(ArbMuxInstance::Io, OPEN));
    let spoilt = |at: usize, byte: u8| {
        let mut flit = good;
        flit.0[at] = byte;
        flit
    };
    for (flit, rules) in [
        (spoilt(100, 1), &["CXL256-ALM-01"][..]),
        (spoilt(3, 9), &["CXL256-ALM-02"]),
        (spoilt(4, 0x80), &["CXL256-ALM-02"]),
        (spoilt(4, 0x0d), &["CXL256-ALM-02"]),
        (spoilt(5, 3), &["CXL256-ALM-02"]),
    ] {
        let mut rig = Rig::active();
        rig.inject_flit(Dir::Down, &flit);
        assert_eq!(rig.rules(Dir::Up), rules);
        rig.run(100);
        rig.assert_states(State::Active, State::Active);
    }
    let mut rig = Rig::active();
    let mut rng = scalepool::kernel::Rng::from_seed(7);
    for n in 0..20_000 {
        let mut flit = Cxl256Flit([0; 256]);
        let bytes = if n % 4 == 0 { 256 } else { 6 };
        flit.0[..bytes].iter_mut().for_each(|b| *b = rng.below(256) as u8);
        flit.0[0] |= 0xc0;
        if n % 4 != 0 {
            flit.0[3] = [1, 8][rng.below(2) as usize];
        }
        rig.inject_flit(if n % 2 == 0 { Dir::Down } else { Dir::Up }, &flit);
        if n % 64 == 0 {
            rig.step();
        }
    }
}

/// What the ports say of their next work is when a time-out is due.
#[test]
fn time_outs_are_foretold() {
    let mut rig = Rig::active();
    assert_eq!(rig.host.client.wakes_at(rig.now), None);
    assert!(rig.host.client.is_quiet() && rig.device.client.is_quiet());
    rig.port(Dir::Up).ask(ArbMuxInstance::Io, Some(ASK_L1));
    assert!(!rig.device.client.is_quiet());
    assert_eq!(rig.device.client.wakes_at(rig.now), Some(rig.now + 1));
    rig.step();
    assert_eq!(rig.device.client.wakes_at(rig.now), Some(rig.now + PATIENCE_FLITS));
    rig.run(LATENCY_FLITS);
    assert_eq!(rig.host.client.wakes_at(rig.now), Some(rig.now + REFUSAL_FLITS));
    assert!(!rig.host.client.is_quiet());
    rig.run(REFUSAL_FLITS - 1);
    assert_eq!(rig.host.client.wakes_at(rig.now), Some(rig.now + 1));
    rig.run(100);
    rig.assert_states(State::Active, State::Active);
    assert!(rig.host.client.is_quiet() && rig.device.client.is_quiet());
    rig.train();
    assert_eq!(rig.device.client.wakes_at(rig.now), None);
    rig.assert_no_events();
}

/// DLLP bytes travel beside the numbers: only while CXL.io is Active.
#[test]
fn dllps_need_an_active_vlsm() {
    let mut rig = Rig::new();
    for dir in Dir::ALL {
        rig.port(dir).io.dllp = Some([1, 2, 3, 4]);
    }
    rig.run(60);
    assert!(rig.device.client.io.dllps.is_empty() && rig.host.client.io.dllps.is_empty());
    rig.ask_all(Some(Ask::Active));
    rig.run(100);
    assert!(rig.device.client.io.dllps.contains(&[1, 2, 3, 4]) && rig.host.client.io.dllps.len() > 20);
    rig.port(Dir::Up).receive_dllp([9; 4], 0);
    assert_eq!(rig.device.client.io.dllps.last(), Some(&[9; 4]));
    rig.assert_no_events();
    assert_eq!(config(Dir::Up).mode, Mode::Standard);
}
