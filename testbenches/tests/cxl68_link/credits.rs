//! Credits over time (CXL68-CRD).

use super::rig::{Rig, Space, quick};
use super::units::{llcrd, protocol, sent};
use scalepool::link::cxl68::{CreditTurns, EndConfig, Severity};
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::{Control, Llcrd};
use scalepool_protocols::cxl::cxl68::credit::{self, CreditField};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind, Data, Size};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;

/// Credits of a unit, by class of the other direction.
fn credits(unit: &Cxl68DecodedUnit) -> [u64; 10] {
    let codes = match unit.kind {
        Cxl68UnitKind::Protocol(h) => [h.rsp_crd, h.req_crd, h.data_crd],
        Cxl68UnitKind::Control(Control::LlcrdAcknowledge(l)) => [l.rsp_crd, l.req_crd, l.data_crd],
        _ => [0; 3],
    };
    let mut count = [0; 10];
    for (field, code) in CreditField::ALL.into_iter().zip(codes) {
        if let Some((class, n)) = credit::decode(unit.dir, field, code) {
            count[class.index()] += u64::from(n);
        }
    }
    count
}

/// What an end makes of credits that come to it, as they travel: Rsp, Req, Data.
const CREDITS_COME: (HookPoint, Direction) = (HookPoint::Credit, Direction::Rx);

#[test]
fn cxl68_crd_02_p() {
    let mut rig = Rig::cachemem(quick());
    rig.pair.wires.keep_log();
    rig.all_traffic(6, 3);
    rig.assert_no_loss();
    let log = rig.pair.wires.take_log();
    for dir in Dir::ALL {
        let units = sent(&log, dir);
        let mut returned = [0; 10];
        for unit in &units {
            for (sum, n) in returned.iter_mut().zip(credits(unit)) {
                *sum += n;
            }
        }
        let peer = if dir == Dir::Down { rig.pair.device.stats() } else { rig.pair.host.stats() };
        for class in Class::ALL {
            let i = class.index();
            // All buffers at first, then one for each message: what travels down is for what travels up.
            let expected = if class.dir() == dir { 0 } else { 32 + peer.messages[i] };
            assert_eq!(returned[i], expected, "{} in units that go {}", class.def().name, dir.name());
        }
    }
}

#[test]
fn cxl68_crd_02_n() {
    // An end that reads the fields as those of its own direction never gets a credit: it starves, and the watchdog of
    // open work says so.
    for dir in Dir::ALL {
        let of_own_direction = move |item: &HookItem<'_>| {
            let fields = CreditField::ALL.into_iter().zip(item.bytes);
            // None of the classes that it reads is one that it sends.
            let codes = fields.map(|(field, &code)| match credit::decode(dir, field, code) {
                Some((class, _)) if class.dir() == dir => code,
                _ => 0,
            });
            HookAnswer::Replace(codes.collect())
        };
        let mut rig = Rig::with_hook(dir, CREDITS_COME, of_own_direction, quick());
        rig.read(Space::Device, 0);
        assert!(!rig.settle());
        assert_eq!(rig.broken_rules().into_iter().collect::<Vec<_>>(), ["SIM-E2E-03"]);
        assert!(rig.rules().is_empty(), "no unit was wrong");
        assert!(rig.pair.sender(dir).stats().credit_stalls > 0, "the starving end counts it");
    }
}

#[test]
fn cxl68_crd_03_p() {
    // One credit a message, whatever it carries: no data, 32 B, 64 B, 64 B and byte enables.
    let mut rig = Rig::cachemem(quick());
    rig.bring_up();
    for (size, byte_enables) in
        [(Size::Line, None), (Size::Line, Some(0xff)), (Size::LowerHalf, None), (Size::UpperHalf, Some(1 << 40))]
    {
        let bytes = [0; 64];
        rig.write(Space::Host, 0, Data { bytes, size, byte_enables }, false);
        if size == Size::Line {
            rig.write(Space::Device, 0, Data { bytes, size, byte_enables }, false);
        }
        rig.assert_no_loss();
    }
    rig.all_traffic(5, 4);
    rig.assert_no_loss();
}

/// A flit that returns four credits, one a chunk, for each message with 64 bytes of data.
fn credit_per_chunk(item: &HookItem<'_>) -> HookAnswer {
    let unit = Cxl68Unit::from_bytes(item.bytes).expect("68 bytes");
    let mut slots = [0, 1, 2, 3].map(|n| unit.slot(n));
    // Codes are powers of two (`cxl-68b` §5.4).
    let four = |code: u8| if code & 7 == 0 { code } else { code + 2 };
    match Control::from_slot(slots[0]) {
        Control::LlcrdAcknowledge(llcrd) if slots[0] & 1 == 1 => {
            let llcrd = Control::LlcrdAcknowledge(Llcrd { data_crd: four(llcrd.data_crd), ..llcrd });
            slots[0] = llcrd.to_slot().expect("fits");
        }
        _ => {
            let header = FlitHeader::from_bits(slots[0] & 0xffff_ffff);
            let header = FlitHeader { data_crd: four(header.data_crd), ..header };
            slots[0] = slots[0] >> 32 << 32 | header.to_bits().expect("fits");
        }
    }
    HookAnswer::Replace(Cxl68Unit::from_slots(unit.pid(), &slots).0.to_vec())
}

#[test]
fn cxl68_crd_03_n() {
    for dir in Dir::ALL {
        let mut rig = Rig::cachemem(quick());
        rig.bring_up();
        rig.attach(dir, (HookPoint::ReplayIn, Direction::Tx), credit_per_chunk);
        assert_eq!(rig.broken, []);
        rig.write_line(Space::Device, 0, [1; 64]);
        rig.read(Space::Device, 0);
        assert!(rig.settle());
        assert_eq!(rig.broken_rules().into_iter().collect::<Vec<_>>(), ["SIM-E2E-03"], "the count at idle is wrong");
        assert!(rig.broken.iter().all(|b| b.text.contains("credits for")));
    }
}

#[test]
fn cxl68_crd_04_p() {
    // One buffer: request and answer strictly in turn, and no event.
    let mut rig = Rig::new(EndConfig::mem(Dir::Down, quick(), 1), EndConfig::mem(Dir::Up, quick(), 1));
    rig.bring_up();
    rig.takes = false;
    for line in 0..6 {
        rig.read(Space::Device, 64 * line);
    }
    rig.steps(400);
    assert_eq!(rig.pair.device.inbox_len(), 1, "no second one without a credit");
    assert_eq!(rig.pair.host.credits().spend[Class::M2sReq.index()], 0);
    assert!(rig.pair.host.stats().credit_stalls > 0);
    rig.takes = true;
    rig.assert_no_loss();
    assert_eq!(rig.pair.host.stats().messages[Class::M2sReq.index()], 6);
}

#[test]
fn cxl68_crd_04_n() {
    let mut rig = Rig::new(EndConfig::mem(Dir::Down, quick(), 1), EndConfig::mem(Dir::Up, quick(), 1));
    rig.bring_up();
    let request = M2sReq::default().to_bits().expect("fits");
    let messages = [(Class::M2sReq, request); 2];
    let unit = protocol(Dir::Down, FlitHeader::from_bits(0), &[(0, "H5"), (1, "G4")], &messages);
    rig.takes = false;
    rig.pair.inject(Dir::Down, &unit);
    rig.step();
    assert_eq!(rig.events.len(), 1, "the first one had a credit: {:?}", rig.events);
    let event = &rig.events[0].1;
    assert_eq!((event.violation.rule, event.severity), ("CXL68-CRD-04", Severity::Protocol));
    assert_eq!(rig.pair.device.halted(), None);
}

#[test]
fn cxl68_crd_05_p() {
    let [host, device] = [Dir::Down, Dir::Up].map(|dir| EndConfig::cachemem(dir, quick(), 48));
    let mut rig = Rig::new(host, device);
    rig.pair.wires.keep_log();
    rig.all_traffic(12, 5);
    rig.assert_no_loss();
    let log = rig.pair.wires.take_log();
    for dir in Dir::ALL {
        // The first grants show it: cache and mem in turn while both are pending, the largest power of two first.
        let mut data_codes = sent(&log, dir).into_iter().filter_map(|u| match u.kind {
            Cxl68UnitKind::Control(Control::LlcrdAcknowledge(l)) => Some(l.data_crd),
            Cxl68UnitKind::Protocol(h) => Some(h.data_crd),
            _ => None,
        });
        let first: Vec<u8> = data_codes.by_ref().filter(|c| c & 7 != 0).take(4).collect();
        assert_eq!(first, [0x6, 0xe, 0x5, 0xd], "32 and 16 credits of each protocol, {}", dir.name());
    }
}

#[test]
fn cxl68_crd_05_n() {
    // So many CXL.mem credits that they are pending in far more than 64 flits; those of CXL.cache wait behind them.
    let mut host = EndConfig::cachemem(Dir::Down, quick(), 32);
    host.buffers[Class::S2mDrs.index()] = 20_000;
    let mut rig = Rig::new(host, EndConfig::cachemem(Dir::Up, quick(), 32));
    rig.pair.wires.keep_log();
    rig.bring_up();
    assert_eq!(rig.rules().into_iter().collect::<Vec<_>>(), [""; 0]);
    // The check of the end, in front of a field that would return those of CXL.mem alone.
    let fields =
        sent(&rig.pair.wires.take_log(), Dir::Down).into_iter().filter(|unit| credits(unit) != [0; 10]).count();
    assert!(fields > 64, "{fields} flits return credits");
    let mut turns = CreditTurns::default();
    let broken: Vec<_> = (0..fields).filter_map(|_| turns.returned(true, [true, true])).collect();
    assert_eq!(broken, vec!["CXL68-CRD-05"; fields - 64]);
    // In turn, or where the other protocol has nothing to return, nobody waits.
    assert_eq!(turns.returned(false, [true, true]), None);
    assert!((0..200).all(|n| turns.returned(n % 2 == 0, [true, true]).is_none()));
    assert!((0..200).all(|_| turns.returned(true, [false, true]).is_none()));
}

#[test]
fn cxl68_crd_06_p() {
    for (bits, maximum) in [(1, 1), (3, 7), (4, 15), (10, 1023), (16, 65_535)] {
        let link = Cxl68Config { credit_counter_bits: bits, ..quick() };
        let mut rig = Rig::new(EndConfig::mem(Dir::Down, link, 64), EndConfig::mem(Dir::Up, link, 64));
        rig.bring_up();
        let spend = |rig: &Rig| rig.pair.host.credits().spend[Class::M2sReq.index()];
        assert_eq!(spend(&rig), 64.min(maximum));
        for n in 0..2000 {
            rig.pair.inject(Dir::Up, &llcrd([0, 0xf, 0xf], 0));
            assert_eq!(spend(&rig), (128 + 64 * n).min(maximum.into()).try_into().unwrap_or(maximum));
        }
        assert_eq!(rig.pair.host.take_events(), []);
    }
}

#[test]
fn cxl68_crd_06_n() {
    // 64 credits into a counter of 4 bits that wraps are none: the sender starves.
    let link = Cxl68Config { credit_counter_bits: 4, ..quick() };
    let mut rig = Rig::new(EndConfig::mem(Dir::Down, link, 64), EndConfig::mem(Dir::Up, link, 64));
    let wraps = |item: &HookItem<'_>| {
        let fields = CreditField::ALL.into_iter().zip(item.bytes);
        let codes = fields.map(|(field, &code)| match credit::decode(Dir::Up, field, code) {
            Some((_, count)) if count >= 16 => 0,
            _ => code,
        });
        HookAnswer::Replace(codes.collect())
    };
    rig.attach(Dir::Down, CREDITS_COME, wraps);
    rig.read(Space::Device, 0);
    assert!(!rig.settle());
    assert_eq!(rig.broken[0].rule, "SIM-E2E-03");
    assert_eq!(rig.pair.host.credits().spend[Class::M2sReq.index()], 0);
}

#[test]
fn cxl68_crd_07_p() {
    // A host of both protocols and a device of CXL.mem alone: the cache credits of the host go nowhere.
    let mut rig = Rig::new(EndConfig::cachemem(Dir::Down, quick(), 32), EndConfig::mem(Dir::Up, quick(), 32));
    for burst in 0..5 {
        rig.traffic(Space::Device, 20, burst);
    }
    assert!(rig.settle());
    assert_eq!((rig.broken.len(), rig.events.len()), (0, 0));
    for class in [Class::D2hReq, Class::D2hRsp, Class::D2hData] {
        assert_eq!(rig.pair.device.credits().spend[class.index()], 0);
    }
}

#[test]
fn cxl68_crd_07_n() {
    let mut rig = Rig::mem(quick());
    rig.bring_up();
    let before = rig.pair.device.credits().spend;
    for code in 0..8 {
        rig.pair.inject(Dir::Down, &llcrd([code; 3], 0));
    }
    assert_eq!(rig.pair.device.credits().spend, before);
    assert_eq!(rig.pair.device.take_events(), []);
    // The same codes with the bit of CXL.mem do count, so the fields were read.
    rig.pair.inject(Dir::Down, &llcrd([9, 0, 9], 0));
    let after = rig.pair.device.credits().spend;
    assert_eq!(after[Class::S2mNdr.index()], before[Class::S2mNdr.index()] + 1);
    assert_eq!(after[Class::S2mDrs.index()], before[Class::S2mDrs.index()] + 1);
}

#[test]
fn cxl68_crd_08_p() {
    // The timer is far off, so it is not what makes the LLCRDs.
    let mut rig = Rig::cachemem(Cxl68Config { llcrd_flush_flits: 1023, ..quick() });
    rig.pair.wires.keep_log();
    // Requests of both protocols wait already when the link comes up.
    for n in 0..8 {
        rig.read(Space::Host, 64 * n);
        rig.read(Space::Device, 64 * n);
    }
    rig.all_traffic(2, 8);
    rig.assert_no_loss();
    let log = rig.pair.wires.take_log();
    for dir in Dir::ALL {
        let units = sent(&log, dir);
        let init =
            units.iter().position(|u| matches!(u.kind, Cxl68UnitKind::Control(Control::InitParam(_)))).expect("sent");
        assert!(units[..init].iter().all(|u| credits(u) == [0; 10]), "none before INIT.Param");
        let first = units.iter().find(|u| credits(u) != [0; 10]).expect("granted");
        assert!(
            matches!(first.kind, Cxl68UnitKind::Control(Control::LlcrdAcknowledge(_))),
            "the first ones in an LLCRD"
        );
        let header = units.iter().position(|u| matches!(u.kind, Cxl68UnitKind::Protocol(_)) && credits(u) != [0; 10]);
        let granted = units[..header.unwrap_or(units.len())].iter().fold([0; 10], |mut sum, u| {
            credits(u).into_iter().enumerate().for_each(|(i, n)| sum[i] += n);
            sum
        });
        for class in Class::ALL.into_iter().filter(|c| c.dir() != dir) {
            assert!(granted[class.index()] >= 32, "all buffers of {} before a header carries any", class.def().name);
        }
    }
}

#[test]
fn cxl68_crd_08_n() {
    // Credits in a header and in an LLCRD before INIT.Param.
    let header = FlitHeader { req_crd: 9, ..FlitHeader::from_bits(0) };
    for unit in [protocol(Dir::Up, header, &[], &[]), llcrd([0, 9, 0], 0)] {
        let mut rig = Rig::mem(quick());
        rig.step();
        rig.pair.inject(Dir::Up, &unit);
        rig.step();
        assert_eq!(rig.rules().into_iter().collect::<Vec<_>>(), ["CXL68-INI-05"]);
        assert_eq!(rig.pair.host.credits().spend, [0; 10]);
        assert_eq!(rig.pair.host.halted(), Some("CXL68-INI-05"));
    }
}
