//! Control flits, CRC and runs of data at the link (CXL68-CTL, CRC, FLT, NUL, PCK).

use super::rig::{Rig, Space, quick};
use super::units::{control, control_slot, flips, forged, init_param, is_retry, llcrd, named, protocol, sent, wire};
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::cxl68::retry::Local;
use scalepool::link::cxl68::{EndConfig, Severity, phy_fill};
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, StaticBitFault};
use scalepool_protocols::cxl::cxl68::control::{Control, Llcrd, RetryReq};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::{Class, D2hData, H2dData, M2sRwd, S2mDrs};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68UnitKind};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;

const STATIC_CHOICES: [StaticBitFault; 2] = [StaticBitFault::CrcError, StaticBitFault::FatalInNormal];

/// Reserved bits of the control slots, flit bit numbers, from `cxl-68b` §6.1 and §6.3.
fn reserved_bits(name: &str) -> Vec<u16> {
    let head: Vec<u16> = match name {
        "LLCRD.Acknowledge" => [1, 3, 4].into_iter().chain(8..20).collect(),
        "IDE.Idle" | "IDE.Start" | "IDE.TMAC" => (1..5).chain(8..24).collect(),
        _ => (1..5).chain(8..32).collect(),
    };
    let payload: Vec<u16> = match name {
        "LLCRD.Acknowledge" => [3].into_iter().chain(8..64).collect(),
        "RETRY.Req" => (8..16).chain(26..64).collect(),
        "RETRY.Ack" => [2].into_iter().chain(48..64).collect(),
        "INIT.Param" => (4..24).chain(32..64).collect(),
        "IDE.TMAC" => Vec::new(),
        _ => (0..64).collect(),
    };
    head.into_iter().chain(payload.into_iter().map(|b| 64 + b)).chain(128..512).collect()
}

fn with_bits(mut unit: Cxl68Unit, bits: &[u16]) -> Cxl68Unit {
    for &bit in bits {
        unit.0[2 + usize::from(bit) / 8] |= 1 << (bit % 8);
    }
    unit.set_tail(unit.expected_crc());
    unit
}

/// An LLCRD without its Ak bit.
fn without_ak(item: &HookItem<'_>) -> HookAnswer {
    let unit = Cxl68Unit::from_bytes(item.bytes).expect("68 bytes");
    match Control::from_slot(unit.slot(0)) {
        Control::LlcrdAcknowledge(llcrd) if unit.crc_ok() && unit.slot(0) & 1 == 1 && llcrd.ak => {
            let bare = Control::LlcrdAcknowledge(Llcrd { ak: false, ..llcrd });
            HookAnswer::Replace(control_slot(bare.to_slot().expect("its own fields")).0.to_vec())
        }
        _ => HookAnswer::Keep,
    }
}

#[test]
fn cxl68_ctl_04_n2() {
    // An end that reads Full_Ack without the bit that travels in Ak frees 8 entries too few.
    for drops in [false, true] {
        let link = Cxl68Config { llcrd_ack_threshold: 9, ..quick() };
        let mut rig = Rig::mem(link);
        if drops {
            rig.attach(Dir::Down, (HookPoint::ReplayIn, Direction::Rx), without_ak);
        }
        for burst in 0..4 {
            rig.traffic(Space::Device, 40, burst);
            rig.settle();
        }
        let expected: &[&str] = if drops { &["SIM-E2E-03"] } else { &[] };
        assert_eq!(rig.broken_rules().into_iter().collect::<Vec<_>>(), expected);
        assert!(rig.broken.iter().all(|b| b.text.contains("retry buffer")), "{:?}", rig.broken);
    }
}

#[test]
fn cxl68_ctl_05_p2() {
    for static_bit_fault in STATIC_CHOICES {
        let mut rig = Rig::cachemem(Cxl68Config { static_bit_fault, ..quick() });
        rig.pair.wires.put(Dir::Up, wire((0..3).map(|n| Fault::Drop { unit: 60 + 7 * n }).collect()));
        rig.all_traffic(3, 1);
        rig.assert_no_loss();
        assert!(rig.events.is_empty(), "INIT, LLCRD and all RETRY flits have travelled");
    }
}

#[test]
fn cxl68_ctl_05_n2() {
    let names = ["RETRY.Idle", "RETRY.Frame", "RETRY.Req", "RETRY.Ack", "LLCRD.Acknowledge", "INIT.Param"];
    let mut units = Vec::new();
    for name in names {
        units.extend((5..8).chain(40..64).map(|bit| with_bits(named(name), &[bit])));
    }
    // An IDE flit has no static zeros, but a CTL_FMT.
    for name in ["IDE.Idle", "IDE.Start", "IDE.TMAC"] {
        let slot = named(name).slot(0);
        units.extend([0, 2, 3, 7].map(|fmt: u128| control_slot(slot & !(7 << 5) | fmt << 5)));
    }
    for static_bit_fault in STATIC_CHOICES {
        let mut rig = Rig::mem(Cxl68Config { static_bit_fault, ..quick() });
        rig.bring_up();
        for unit in &units {
            let (eseq, retries) = (rig.pair.device.eseq(), rig.pair.device.stats().retries);
            rig.pair.inject(Dir::Down, unit);
            rig.events.clear();
            if static_bit_fault == StaticBitFault::FatalInNormal {
                let mut device = rig.pair.device.clone();
                assert_eq!(device.halted(), Some("CXL68-CTL-05"));
                assert_eq!(device.take_events()[0].severity, Severity::Uncorrectable);
                // In the shadow of a CRC error it is none.
                rig = Rig::mem(Cxl68Config { static_bit_fault, ..quick() });
                rig.bring_up();
                let mut bad = named("RETRY.Idle");
                bad.set_tail(!bad.tail());
                rig.pair.inject(Dir::Down, &bad);
                rig.pair.inject(Dir::Down, unit);
                rig.write_line(Space::Device, 0, [7; 64]);
                rig.assert_no_loss();
                assert!(rig.events.is_empty());
                continue;
            }
            // As a CRC error: RETRY asks for it again, nothing is lost.
            assert_eq!((rig.pair.device.local().state, rig.pair.device.eseq()), (Local::LlrReq, eseq));
            let events = rig.pair.device.take_events();
            assert_eq!(events.len(), 1);
            assert_eq!((events[0].violation.rule, events[0].severity), ("CXL68-CTL-05", Severity::Protocol));
            rig.write_line(Space::Device, 64, [9; 64]);
            rig.read(Space::Device, 64);
            rig.assert_no_loss();
            assert_eq!(rig.pair.device.stats().retries, retries + 1);
        }
    }
}

#[test]
fn cxl68_ctl_06_p2() {
    // Every reserved bit of every control flit of one direction is 1 on the wire, the CRC fits: nothing changes.
    let run = |faults: Vec<Fault>| {
        let mut rig = Rig::cachemem(quick());
        rig.pair.wires.keep_log();
        rig.pair.wires.put(Dir::Down, wire(faults));
        rig.pair.wires.put(Dir::Up, wire(vec![Fault::Drop { unit: 50 }]));
        rig.all_traffic(2, 6);
        rig.assert_no_loss();
        assert!(rig.events.is_empty());
        (rig.pair.wires.now(), rig.pair.wires.take_log(), rig.reads)
    };
    let (clean_flits, log, clean_reads) = run(Vec::new());
    let mut kinds = std::collections::BTreeSet::new();
    let mut faults = Vec::new();
    for (n, seen) in log.iter().filter(|s| s.dir == Dir::Down).enumerate() {
        // A flit of the direction is a control flit if it is one here: nothing is all data before the first retry ends.
        let slot = seen.unit.slot(0);
        let known = Control::from_slot(slot);
        if slot & 1 == 1 && Control::static_bits_ok(slot) && seen.unit.slot(1) == 0 {
            kinds.insert(known.name());
            faults.extend(forged(n as u64, &reserved_bits(known.name())));
        }
    }
    for name in ["INIT.Param", "LLCRD.Acknowledge", "RETRY.Frame", "RETRY.Idle", "RETRY.Req"] {
        assert!(kinds.contains(name), "{name} is among {kinds:?}");
    }
    let (flits, _, reads) = run(faults);
    assert_eq!((flits, reads), (clean_flits, clean_reads));
}

#[test]
fn cxl68_ctl_06_n2() {
    // Any event is a failure, bit by bit and all at once, in every kind.
    for name in Control::NAMES {
        let bits = reserved_bits(name);
        let each = bits.iter().map(|&b| vec![b]).chain([bits.clone()]);
        let mut rig = Rig::mem(quick());
        rig.bring_up();
        for bits in each {
            let unit = if name == "INIT.Param" { init_param(127) } else { named(name) };
            let mut device = if name == "INIT.Param" { Rig::mem(quick()).pair.device } else { rig.pair.device.clone() };
            let mut plain = device.clone();
            device.receive(&with_bits(unit, &bits), 1);
            plain.receive(&unit, 1);
            assert_eq!(device.take_events(), [], "{name} bits {bits:?}");
            let state = |e: &scalepool::link::cxl68::Cxl68End| {
                (e.eseq(), e.num_ack(), e.local().clone(), e.halted(), e.credits().spend)
            };
            assert_eq!(state(&device), state(&plain), "{name} bits {bits:?}");
        }
    }
}

/// Kinds of retryable flits.
fn kind_name(unit: &Cxl68DecodedUnit) -> &'static str {
    match &unit.kind {
        Cxl68UnitKind::Protocol(_) => "protocol",
        Cxl68UnitKind::AllData => "all-data",
        Cxl68UnitKind::Control(c) => c.name(),
        _ => "other",
    }
}

/// A link with flits of every kind in both directions.
fn varied(down: Vec<Fault>, up: Vec<Fault>) -> Rig {
    let mut rig = Rig::cachemem(quick());
    rig.pair.wires.keep_log();
    rig.pair.wires.put(Dir::Down, wire(down));
    rig.pair.wires.put(Dir::Up, wire(up));
    rig.all_traffic(4, 11);
    rig.assert_no_loss();
    rig
}

const KINDS: [&str; 4] = ["protocol", "all-data", "LLCRD.Acknowledge", "INIT.Param"];

#[test]
fn cxl68_crc_04_p() {
    let mut rig = varied(Vec::new(), Vec::new());
    assert!(rig.events.is_empty());
    let log = rig.pair.wires.take_log();
    for dir in Dir::ALL {
        let units = sent(&log, dir);
        assert!(units.iter().all(|u| u.crc_ok == Some(true)));
        for kind in KINDS {
            assert!(units.iter().any(|u| kind_name(u) == kind), "{kind} {}", dir.name());
        }
    }
    assert_eq!(rig.pair.host.stats().retries + rig.pair.device.stats().retries, 0);
}

#[test]
fn cxl68_crc_04_n() {
    let log = varied(Vec::new(), Vec::new()).pair.wires.take_log();
    for dir in Dir::ALL {
        let units = sent(&log, dir);
        for kind in KINDS.into_iter().chain(["RETRY.Idle"]) {
            let of_kind = units.iter().enumerate().filter(|(_, u)| kind_name(u) == kind);
            for (n, _) in of_kind.step_by(5).take(4) {
                // Payload and CRC field, ends and middle.
                for bit in [0, 1, 31, 127, 128, 300, 511, 512, 527] {
                    let faults = flips(n as u64, [bit]);
                    let rig = if dir == Dir::Down { varied(faults, vec![]) } else { varied(vec![], faults) };
                    let receiver = if dir == Dir::Down { &rig.pair.device } else { &rig.pair.host };
                    assert_eq!(receiver.stats().crc_errors, 1, "{kind} {n} bit {bit}");
                    assert_eq!(receiver.stats().retries, 1);
                    assert!(rig.events.is_empty());
                }
            }
        }
    }
}

#[test]
fn cxl68_flt_02_p2() {
    // Lines whose chunks look like RETRY flits and other control slots, in runs of all-data flits.
    let req = control(Control::RetryReq(RetryReq { eseq: 3, ..RetryReq::default() })).slot(0);
    let images = [named("RETRY.Frame").slot(0), req, named("RETRY.Ack").slot(0), init_param(21).slot(0)];
    let mut rig = Rig::mem(quick());
    rig.bring_up();
    for n in 0..64 {
        let mut bytes = [0; 64];
        for (k, chunk) in bytes.chunks_exact_mut(16).enumerate() {
            // Five Frames in a row and then a Req, at the places where slot 0 is.
            let image = if n % 6 == 5 { images[1 + n % 3] } else { images[(k * usize::from(n % 7 == 0)) % 4] };
            chunk.copy_from_slice(&image.to_le_bytes());
        }
        rig.write_line(Space::Device, 64 * n as u64, bytes);
    }
    rig.settle();
    rig.pair.wires.keep_log();
    rig.takes = false;
    for n in 0..20 {
        rig.read(Space::Device, 64 * n);
    }
    rig.steps(100);
    rig.takes = true;
    rig.assert_no_loss();
    assert!(rig.events.is_empty());
    assert_eq!(rig.pair.host.stats().retries + rig.pair.device.stats().retries, 0);
    let units = sent(&rig.pair.wires.take_log(), Dir::Up);
    let alike = units.iter().filter(|u| u.kind == Cxl68UnitKind::AllData && u.unit.slot(0) & 1 == 1).count();
    assert!(alike > 10, "{alike} all-data flits look like control flits");
}

#[test]
fn cxl68_nul_01_p() {
    // A link layer that has stopped, that trains or that has nothing to send: the physical layer sends NULL.
    let null = Cxl68Unit::plain(pid::NULL, &[0; 64]);
    let mut rig = Rig::mem(quick());
    rig.bring_up();
    rig.steps(200);
    let mut other = Rig::mem(quick());
    other.bring_up();
    for now in 0..100 {
        let unit = phy_fill(rig.pair.host.transmit(1_000_000 + now));
        if now >= 2 {
            assert_eq!(unit, null, "clock {now}");
        }
        other.pair.inject(Dir::Down, &phy_fill(None));
    }
    assert_eq!((null.pid(), null.tail(), *null.payload()), (pid::NULL, 0, [0; 64]));
    other.all_traffic(1, 1);
    other.assert_no_loss();
    assert!(other.events.is_empty());
    // What the link layer sends is not touched.
    assert_eq!(phy_fill(Some(named("RETRY.Idle"))), named("RETRY.Idle"));
    rig.pair.train();
    assert_eq!(phy_fill(rig.pair.device.transmit(0)), null);
}

#[test]
fn cxl68_nul_01_n2() {
    for byte in [2, 33, 65] {
        let mut rig = Rig::mem(quick());
        rig.bring_up();
        let mut unit = phy_fill(None);
        unit.0[byte] = 0x40;
        rig.pair.inject(Dir::Up, &unit);
        rig.step();
        assert_eq!(rig.rules().into_iter().collect::<Vec<_>>(), ["CXL68-NUL-01"]);
        assert_eq!(rig.events[0].1.severity, Severity::Protocol);
        rig.all_traffic(1, 2);
        assert!(rig.settle());
        assert_eq!((rig.broken.len(), rig.events.len()), (0, 1), "nothing else changes");
    }
}

/// A link that is up, a unit handed to the receiver of a direction, and the rule that stopped it.
fn stopped_by(dir: Dir, link: Cxl68Config, unit: &Cxl68Unit) -> Option<&'static str> {
    let mut rig = Rig::cachemem(link);
    rig.bring_up();
    let before = rig.pair.receiver(dir).inbox_len();
    rig.pair.inject(dir, unit);
    let receiver = rig.pair.receiver(dir);
    let halted = receiver.halted()?;
    assert_eq!(receiver.inbox_len(), before, "nothing of the flit is delivered");
    let events = receiver.take_events();
    assert!(events.iter().any(|e| e.violation.rule == halted && e.severity == Severity::Uncorrectable));
    rig.step();
    assert_eq!(rig.pair.receiver(dir).transmit(10_000), None, "the link has stopped");
    Some(halted)
}

fn header(sz: bool, be: bool) -> FlitHeader {
    FlitHeader { sz, be, ..FlitHeader::from_bits(0) }
}

/// A flit with one data header of a class.
fn data_flit(class: Class, header: FlitHeader) -> Cxl68Unit {
    let one = |m: Result<u128, _>| m.map_err(|e: scalepool_protocols::wire::FieldError| e.to_string()).expect("fits");
    let (format, bits) = match class {
        Class::M2sRwd => ("H4", one(M2sRwd::default().to_bits())),
        Class::H2dData => ("H1", one(H2dData::default().to_bits())),
        Class::S2mDrs => ("H3", one(S2mDrs::default().to_bits())),
        _ => ("H0", one(D2hData::default().to_bits())),
    };
    protocol(class.dir(), header, &[(0, format)], &[(class, bits)])
}

const WITH_DATA: [Class; 4] = [Class::M2sRwd, Class::H2dData, Class::S2mDrs, Class::D2hData];

#[test]
fn cxl68_hdr_03_n2() {
    for class in WITH_DATA {
        let stopped = stopped_by(class.dir(), quick(), &data_flit(class, header(false, false)));
        assert_eq!(stopped, (class == Class::M2sRwd).then_some("CXL68-HDR-03"), "{class:?}");
    }
}

#[test]
fn cxl68_hdr_04_n2() {
    for class in WITH_DATA {
        let stopped = stopped_by(class.dir(), quick(), &data_flit(class, header(true, true)));
        let legal = matches!(class, Class::M2sRwd | Class::D2hData);
        assert_eq!(stopped, (!legal).then_some("CXL68-HDR-04"), "{class:?}");
    }
}

#[test]
fn cxl68_pck_14_n2() {
    let drs = S2mDrs::default().to_bits().expect("fits");
    let h2d = H2dData::default().to_bits().expect("fits");
    for (dir, format, class, bits) in [(Dir::Up, "H5", Class::S2mDrs, drs), (Dir::Down, "H3", Class::H2dData, h2d)] {
        let unit = protocol(dir, header(true, false), &[(0, format)], &[(class, bits); 2]);
        assert_eq!(stopped_by(dir, Cxl68Config { mdh: false, ..quick() }, &unit), Some("CXL68-PCK-14"));
        assert_eq!(stopped_by(dir, quick(), &unit), None, "enabled, it is legal");
    }
}

#[test]
fn cxl68_pck_15_p() {
    // Bursts of reads make runs of all-data flits; the host's requests make LLCRDs due all the time.
    let link = Cxl68Config { llcrd_flush_flits: 1, llcrd_ack_threshold: 2, ..quick() };
    let mut rig = Rig::new(EndConfig::mem(Dir::Down, link, 64), EndConfig::mem(Dir::Up, link, 64));
    rig.bring_up();
    rig.pair.wires.keep_log();
    for n in 0..400 {
        rig.read(Space::Device, 64 * (n % 64));
        if n % 3 == 0 {
            rig.write_line(Space::Device, 64 * (64 + n % 64), [n as u8; 64]);
            rig.steps(2);
        }
    }
    rig.assert_no_loss();
    let units = sent(&rig.pair.wires.take_log(), Dir::Up);
    assert!(units.iter().filter_map(|u| check::intent(&u.kind, u.rollover_before)).next().is_none());
    // Runs of more than one flit are there, and LLCRDs directly behind them: they have waited.
    let after_run = units.windows(3).filter(|w| {
        let run = w[0].kind == Cxl68UnitKind::AllData && w[1].kind == Cxl68UnitKind::AllData;
        run && w[2].rollover_before <= 3 && matches!(w[2].kind, Cxl68UnitKind::Control(_)) && !is_retry(&w[2])
    });
    assert!(after_run.count() > 0);
}

#[test]
fn llcrd_and_requests_of_a_stopped_link_are_not_taken() {
    // After an uncorrectable event nothing is counted any more.
    let mut rig = Rig::mem(quick());
    rig.bring_up();
    rig.pair.inject(Dir::Up, &init_param(127));
    let (spend, eseq) = (rig.pair.host.credits().spend, rig.pair.host.eseq());
    rig.pair.inject(Dir::Up, &llcrd([9, 9, 9], 0));
    assert_eq!((rig.pair.host.credits().spend, rig.pair.host.eseq()), (spend, eseq));
}
