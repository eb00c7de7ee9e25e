//! Initialisation (CXL68-INI).

use super::rig::{Rig, Space, quick};
use super::units::{control, first, init_param, is_retry, llcrd, named, protocol, sent, wire};
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::cxl68::retry::Local;
use scalepool::link::cxl68::{Cxl68End, EndConfig, Pair, Severity};
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, WrapMeaning};
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68Message, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;

const WRAP_MEANINGS: [WrapMeaning; 2] = [WrapMeaning::HighestNumber, WrapMeaning::Modulus];

fn end(dir: Dir) -> Cxl68End {
    Cxl68End::new(EndConfig::mem(dir, quick(), 16)).expect("legal")
}

fn request() -> u128 {
    M2sReq::default().to_bits().expect("fits")
}

/// A protocol flit with one M2S Req.
fn request_flit() -> Cxl68Unit {
    protocol(Dir::Down, FlitHeader::from_bits(0), &[(0, "H5")], &[(Class::M2sReq, request())])
}

fn is_init(decoded: &Cxl68DecodedUnit) -> bool {
    matches!(decoded.kind, Cxl68UnitKind::Control(Control::InitParam(_)))
}

/// Units that an end sends in some clocks when nothing comes in.
fn alone(end: &mut Cxl68End, clocks: u64) -> Vec<Cxl68DecodedUnit> {
    let mut unpacker = Unpacker::new(end.config().dir, end.config().link.revision, Enabled::ALL);
    (0..clocks).filter_map(|now| end.transmit(now)).map(|unit| unpacker.read(&unit)).collect()
}

/// The one event of an end: its rule, if it is uncorrectable and the link has stopped.
fn stopped_by(end: &mut Cxl68End) -> &'static str {
    let events = end.take_events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0].severity, Severity::Uncorrectable);
    assert_eq!(end.halted(), Some(events[0].violation.rule));
    assert_eq!(end.transmit(1000), None, "a link that has stopped sends nothing");
    events[0].violation.rule
}

#[test]
fn cxl68_ini_01_p() {
    for dir in Dir::ALL {
        let mut end = end(dir);
        let units = alone(&mut end, 100);
        assert_eq!(units.len(), 100, "one a clock");
        assert!(units.iter().all(|u| is_retry(u) && u.is_good()));
        // A bad flit, a NULL and a bad ID are no clean flit.
        let mut bad = named("RETRY.Idle");
        bad.set_tail(!bad.tail());
        end.receive(&bad, 100);
        end.receive(&Cxl68Unit::plain(pid::NULL, &[0; 64]), 101);
        assert!(alone(&mut end, 100).iter().all(is_retry));
    }
}

#[test]
fn cxl68_ini_01_n() {
    for unit in [llcrd([0, 9, 0], 0), request_flit()] {
        let mut device = end(Dir::Up);
        device.receive(&unit, 0);
        assert_eq!(stopped_by(&mut device), "CXL68-INI-01");
        assert_eq!((device.inbox_len(), device.is_up()), (0, false));
    }
}

#[test]
fn cxl68_ini_02_p() {
    for wrap_meaning in WRAP_MEANINGS {
        let mut rig = Rig::mem(Cxl68Config { wrap_meaning, ..quick() });
        rig.pair.wires.keep_log();
        rig.bring_up();
        rig.all_traffic(2, 1);
        rig.assert_no_loss();
        let log = rig.pair.wires.take_log();
        for dir in Dir::ALL {
            let units = sent(&log, dir);
            assert_eq!(units.iter().filter(|u| is_init(u)).count(), 1);
            let first = units.iter().find(|u| !is_retry(u)).expect("there is one");
            let Cxl68UnitKind::Control(Control::InitParam(init)) = first.kind else { panic!("INIT.Param is first") };
            let expected = if wrap_meaning == WrapMeaning::Modulus { 128 } else { 127 };
            assert_eq!((init.version, init.wrap), (2, expected));
        }
        // Sequence 0 is entry 0 of the retry buffer: a replay from 0 brings INIT.Param again.
        let entry = *rig.pair.host.buffer().entry(0).expect("written");
        let read = Unpacker::new(Dir::Down, quick().revision, Enabled::ALL).read(&entry.unit);
        assert!(is_init(&read) || rig.pair.host.stats().sent > 128);
    }
}

#[test]
fn cxl68_ini_02_n() {
    for wrap in [9, 127] {
        let mut rig = Rig::mem(quick());
        rig.bring_up();
        rig.pair.inject(Dir::Down, &init_param(wrap));
        assert_eq!(stopped_by(&mut rig.pair.device), "CXL68-INI-02");
    }
}

#[test]
fn cxl68_ini_03_p() {
    // A clean flit has come, INIT.Param not yet: one INIT.Param, then RETRY flits alone, however much waits.
    for dir in Dir::ALL {
        let mut end = end(dir);
        if dir == Dir::Down {
            end.send(Cxl68Message::new(Class::M2sReq, request())).expect("legal");
        }
        end.receive(&named("RETRY.Idle"), 0);
        let units = alone(&mut end, 200);
        assert!(is_init(&units[0]));
        assert_eq!(units.len(), 200);
        assert!(units[1..].iter().all(is_retry));
        end.receive(&init_param(127), 200);
        let next = end.transmit(201).expect("credits are due");
        assert!(!is_retry(&Unpacker::new(dir, quick().revision, Enabled::ALL).read(&next)));
    }
}

#[test]
fn cxl68_ini_03_n() {
    for unit in [request_flit(), llcrd([0; 3], 0)] {
        let mut device = end(Dir::Up);
        device.receive(&init_param(127), 0);
        device.receive(&unit, 1);
        assert_eq!(stopped_by(&mut device), "CXL68-INI-03");
    }
}

#[test]
fn cxl68_ini_04_p() {
    // Numbers run on through 9 and the parameters may become active at once or 8 flits later: retry works at any moment.
    let mut seen = 0;
    for wrap_meaning in WRAP_MEANINGS {
        for param_delay_flits in [0, 3, 8] {
            for drop in 12..60 {
                let link = Cxl68Config { wrap_meaning, ..quick() };
                let [mut host, mut device] = [Dir::Down, Dir::Up].map(|d| EndConfig::mem(d, link, 32));
                (host.param_delay_flits, device.param_delay_flits) = (param_delay_flits, 8 - param_delay_flits);
                let mut rig = Rig::new(host, device);
                rig.pair.wires.put(Dir::Up, wire(vec![Fault::Drop { unit: drop }]));
                rig.traffic(Space::Device, 30, drop);
                rig.assert_no_loss();
                let sent = rig.pair.device.stats().sent > drop;
                assert_eq!(rig.pair.host.stats().crc_errors, u64::from(sent), "unit {drop}");
                seen += u64::from(sent);
            }
        }
    }
    assert!(seen > 200, "{seen} runs had an error");
}

#[test]
fn cxl68_ini_04_n() {
    // The host stays at wrap 9 while the device goes on to 127: the numbers are apart from the tenth flit on, and the
    // first retry shows it.
    let stays = |item: &HookItem<'_>| {
        let unit = Cxl68Unit::from_bytes(item.bytes).expect("68 bytes");
        let init = unit.slot(0) & 1 == 1 && matches!(Control::from_slot(unit.slot(0)), Control::InitParam(_));
        if init { HookAnswer::Replace(init_param(9).0.to_vec()) } else { HookAnswer::Keep }
    };
    let mut rig = Rig::with_hook(Dir::Down, (HookPoint::ReplayIn, Direction::Rx), stays, quick());
    rig.bring_up();
    rig.traffic(Space::Device, 40, 4);
    assert!(rig.settle(), "without an error nobody sees it");
    assert!(rig.rules().is_empty());
    drop_next(&mut rig);
    rig.read(Space::Device, 0);
    rig.settle();
    assert!(rig.rules().contains("CXL68-RRS-01"), "{:?}", rig.rules());
}

/// Spoils the next unit that the device sends, as seen by a new wire.
fn drop_next(rig: &mut Rig) {
    rig.pair.wires.put(Dir::Up, wire(vec![Fault::Drop { unit: 0 }]));
}

#[test]
fn cxl68_ini_05_p() {
    // Only RETRY flits come before INIT.Param, and any number of them: framed or not, no event.
    let mut device = end(Dir::Up);
    for name in ["RETRY.Idle", "RETRY.Frame", "RETRY.Req", "RETRY.Ack", "RETRY.Idle"] {
        device.receive(&named(name), 0);
    }
    for kind in [Cxl68UnitKind::Null, Cxl68UnitKind::Almp] {
        let unit =
            if kind == Cxl68UnitKind::Null { Cxl68Unit::plain(pid::NULL, &[0; 64]) } else { super::units::almp() };
        device.receive(&unit, 1);
    }
    assert!(is_init(&alone(&mut device, 1)[0]));
    device.receive(&init_param(127), 2);
    assert_eq!(device.take_events(), []);
    assert!(device.is_up());
}

#[test]
fn cxl68_ini_05_n() {
    let ide = |name: &str| control(Control::by_name(name).expect("listed"));
    for unit in [llcrd([0, 9, 0], 0), request_flit(), ide("IDE.Start"), ide("IDE.Idle"), ide("IDE.TMAC")] {
        for clean_seen in [false, true] {
            let mut device = end(Dir::Up);
            if clean_seen {
                device.receive(&named("RETRY.Idle"), 0);
            }
            alone(&mut device, 2);
            device.receive(&unit, 2);
            assert_eq!(stopped_by(&mut device), "CXL68-INI-05");
            assert_eq!(device.local().state, Local::Normal);
        }
    }
}

/// A link with buffers of `entries`, traffic around the wrap and an error at each of some flits.
fn around_the_wrap(entries: u16, readings: [WrapMeaning; 2]) -> Rig {
    let configs = [Dir::Down, Dir::Up].map(|dir| {
        let wrap_meaning = readings[usize::from(dir == Dir::Up)];
        EndConfig::mem(dir, Cxl68Config { wrap_meaning, llrb_entries: entries, ..quick() }, 32)
    });
    let [host, device] = configs;
    let mut rig = Rig::new(host, device);
    rig.bring_up();
    for round in 0..20 {
        rig.traffic(Space::Device, 40, round);
        rig.settle();
        if rig.pair.device.stats().sent > u64::from(entries) * 3 / 2 {
            break;
        }
    }
    for (dir, round) in [(Dir::Up, 100), (Dir::Down, 101), (Dir::Up, 102)] {
        let faults = (0..60).step_by(29).map(|unit| Fault::Drop { unit }).collect();
        rig.pair.wires.put(dir, wire(faults));
        rig.traffic(Space::Device, 30, round);
        rig.settle();
    }
    rig
}

#[test]
fn cxl68_ini_06_p() {
    for entries in (22..=255).step_by(13).chain([23, 127, 128, 255]) {
        for reading in WRAP_MEANINGS {
            let mut rig = around_the_wrap(entries, [reading; 2]);
            rig.assert_no_loss();
            assert!(rig.pair.host.stats().retries > 0 && rig.pair.device.stats().retries > 0);
            assert!(rig.pair.device.stats().sent > u64::from(entries));
        }
    }
}

#[test]
fn cxl68_ini_06_n() {
    // Each end understands the other one's wrap value by its own reading: one number more or one less before 0. A retry
    // then asks for a flit that is not there, or starts at a wrong one; the former is an event, the latter is left to
    // the end-to-end check until a retry asks too far.
    let apart = [WrapMeaning::HighestNumber, WrapMeaning::Modulus];
    for readings in [apart, [apart[1], apart[0]]] {
        for entries in [22, 64] {
            let rig = around_the_wrap(entries, readings);
            let (at, first) = rig.events.first().expect("seen");
            assert_eq!((first.violation.rule, first.severity), ("CXL68-RRS-01", Severity::Protocol), "{at}");
            // Nobody repairs it: in the end RETRY gives up.
            assert!(rig.pair.host.halted().or(rig.pair.device.halted()).is_some());
        }
    }
}

#[test]
fn a_link_comes_up_with_a_peer_that_is_late() {
    // The device is stepped only from clock 50 on; until then the host's units are lost.
    let mut pair = Pair::new(
        EndConfig::mem(Dir::Down, quick(), 16),
        EndConfig::mem(Dir::Up, quick(), 16),
        super::rig::LATENCY_FLITS,
        super::rig::RETRAIN_FLITS,
    )
    .expect("legal");
    for now in 0..50 {
        assert!(pair.host.transmit(now).is_some());
    }
    assert!(pair.drain(200));
    assert_eq!(pair.host.take_events(), []);
    assert_eq!(pair.device.take_events(), []);
    assert_eq!(first_init(&mut pair), None, "INIT.Param is not sent again");
}

fn first_init(pair: &mut Pair) -> Option<u64> {
    pair.wires.keep_log();
    for _ in 0..100 {
        pair.step();
    }
    let log = pair.wires.take_log();
    log.iter().any(|s| sent(&[*s], s.dir).iter().any(is_init)).then(|| first(&log, Dir::Down, is_init))
}
