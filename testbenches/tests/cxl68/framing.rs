//! CXL68-FRM, PID, FLT: bytes on the wire, protocol IDs, kinds of flits.

use super::common::*;
use scalepool::forms::flit68::kind_name;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::code::M2sReqOpcode;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PIDS, PidKind, PidLog};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, map};
use scalepool_protocols::wire::{At, FieldFault, Wire};

/// A read request alone.
fn protocol_flit() -> Cxl68Unit {
    Flit::new(Dir::Down).with(0, "H5", &[(0, legal(Class::M2sReq, 1))]).unit()
}

/// A write whose header in slot 3 makes an all-data flit of the next one.
fn before_all_data() -> Cxl68Unit {
    Flit::new(Dir::Down).sized(true, false).with(3, "G5", &[(0, legal(Class::M2sRwd, 1))]).unit()
}

/// The DWORD of Request{Active} of CXL.cachemem.
const ALMP_WORD: u32 = 0x0281_0800;

/// One unit of each kind, with the name of the kind and the tail it must have.
fn one_of_each() -> Vec<(&'static str, Vec<Cxl68Unit>)> {
    let idle = Control::by_name("RETRY.Idle").expect("listed");
    vec![
        ("protocol", vec![protocol_flit()]),
        ("all-data", vec![before_all_data(), all_data([1, 2, 3, 4])]),
        ("control", vec![control(&idle)]),
        ("almp", vec![almp(ALMP_WORD)]),
        ("null", vec![Cxl68Unit::plain(pid::NULL, &[0; 64])]),
        ("io", vec![Cxl68Unit::plain(pid::IO, &line(9))]),
    ]
}

#[test]
fn cxl68_frm_01_p() {
    assert_eq!((map::PID, map::SLOT0.start, map::SLOT3.end, map::TAIL, map::LEN), (0..2, 2, 66, 66..68, 68));
    let sum: usize = map::FRAME.segments.iter().map(|s| s.len_bytes).sum();
    assert_eq!(sum, 2 + 64 + 2);
    for (kind, units) in one_of_each() {
        let read = read(Dir::Down, &units);
        read.assert_legal();
        let last = read.decoded.last().expect("one unit at least");
        assert_eq!(kind_name(&last.kind), kind);
        let bytes = last.unit.0;
        assert_eq!(bytes.len(), 68);
        assert_eq!(Cxl68Unit::from_bytes(&bytes), Ok(last.unit));
        assert_eq!(last.unit.pid().to_le_bytes(), bytes[..2]);
        assert_eq!(last.unit.payload()[..], bytes[2..66]);
        assert_eq!(last.unit.tail().to_le_bytes(), bytes[66..]);
    }
}

#[test]
fn cxl68_frm_01_n() {
    for len in [0, 1, 66, 67, 69, 136] {
        let error = Cxl68Unit::from_bytes(&vec![0x55; len]).expect_err("only 68 bytes are a unit");
        assert_eq!(error.fault, FieldFault::Length { found: len, expected: 68, bits: 544 });
        assert!(error.to_string().contains(&format!("found {len} bytes, expected 68")), "{error}");
    }
}

#[test]
fn cxl68_frm_02_p() {
    for (kind, units) in one_of_each() {
        let unit = units.last().expect("one unit at least");
        match kind {
            "protocol" | "all-data" | "control" => {
                assert_eq!(unit.0[66..], scalepool_oracle::cxl68_crc::bytes(unit.payload()), "{kind}");
            }
            _ => assert_eq!(unit.0[66..], [0, 0], "{kind}"),
        }
    }
}

#[test]
fn cxl68_frm_02_n() {
    for bit in 0..16 {
        for unit in [almp(ALMP_WORD), Cxl68Unit::plain(pid::NULL, &[0; 64])] {
            let mut bad = unit;
            bad.set_tail(1 << bit);
            let read = judge(Dir::Up, bad);
            assert_eq!(read.rules(), ["CXL68-FRM-02"]);
            assert_eq!(read.violations()[0].at, At::Byte(66));
            assert_eq!(read.decoded[0].unit, bad, "decode keeps the bits");
        }
        let mut io = Cxl68Unit::plain(pid::IO, &line(9));
        io.set_tail(1 << bit);
        judge(Dir::Up, io).assert_clean();
    }
}

#[test]
fn cxl68_frm_03_p() {
    let ramp: [u8; 64] = std::array::from_fn(|k| k as u8);
    let unit = Cxl68Unit::cachemem(0x8755, &ramp);
    assert_eq!(unit.0[..2], [0x55, 0x87], "low byte first");
    assert_eq!(unit.0[66..], [0xf7, 0xab], "known answer of `cxl-68b` §1.6");
    for n in 0..4 {
        let slot = unit.slot(n).to_le_bytes();
        assert_eq!(slot, std::array::from_fn(|k| (16 * n + k) as u8));
        assert_eq!(Cxl68Unit::slot_byte(n), 2 + 16 * n);
    }
    for bit in 0..512 {
        let mut payload = [0; 64];
        payload[bit / 8] = 1 << (bit % 8);
        let unit = Cxl68Unit::plain(pid::IO, &payload);
        assert_eq!(unit.0[2 + bit / 8], 1 << (bit % 8));
        assert_eq!(unit.slot(bit / 128), 1 << (bit % 128));
    }
}

#[test]
fn cxl68_frm_03_n() {
    let mut unit = protocol_flit();
    unit.0[2..66].reverse();
    assert_eq!(judge(Dir::Down, unit).rules(), ["CXL68-CRC-01"]);
    let mut ramp = Cxl68Unit::cachemem(pid::CACHEMEM, &std::array::from_fn(|k| k as u8));
    ramp.0[2..66].reverse();
    assert!(!ramp.crc_ok());
}

/// The ID table of `cxl-68b` §1.2.
const IDS: [(u16, PidKind, bool); 8] = [
    (0xffff, PidKind::Io, false),
    (0xd2d2, PidKind::Io, true),
    (0x5555, PidKind::Cachemem, false),
    (0x8787, PidKind::Cachemem, true),
    (0x9999, PidKind::Null, false),
    (0x4b4b, PidKind::Null, true),
    (0xcccc, PidKind::Almp, false),
    (0x1e1e, PidKind::Almp, true),
];

fn invalid_codes() -> impl Iterator<Item = u8> {
    (0..=255u8).filter(|code| IDS.iter().all(|(id, ..)| *id as u8 != *code))
}

fn id(lo: u8, hi: u8) -> u16 {
    u16::from_le_bytes([lo, hi])
}

#[test]
fn cxl68_pid_01_p() {
    for (n, (number, kind, eds)) in IDS.into_iter().enumerate() {
        let row = pid::lookup(number as u8).expect("listed");
        assert_eq!((row.id(), row.kind, row.eds), (number, kind, eds));
        assert_eq!(PIDS[n], row);
        let action = pid::receive(number, Enabled::ALL);
        assert_eq!((action.accept, action.log), (Some(row), None));
    }
    assert_eq!([pid::IO, pid::CACHEMEM, pid::NULL, pid::ALMP], [0xffff, 0x5555, 0x9999, 0xcccc]);
}

#[test]
fn cxl68_pid_01_n() {
    let mut events = 0;
    for number in 0..=u16::MAX {
        if IDS.iter().all(|(id, ..)| *id != number) {
            assert!(pid::receive(number, Enabled::ALL).log.is_some(), "{number:#06x}");
            events += 1;
        }
    }
    assert_eq!(events, 65536 - 8);
    assert_eq!(invalid_codes().count(), 248);
    assert!(invalid_codes().all(|code| pid::lookup(code).is_none()));
}

#[test]
fn cxl68_pid_02_p() {
    for row in PIDS {
        for bad in invalid_codes() {
            for number in [id(row.code, bad), id(bad, row.code)] {
                let action = pid::receive(number, Enabled::ALL);
                assert_eq!(action.accept, Some(row), "{number:#06x}");
                assert_eq!(action.log, Some(PidLog::CorrectableFraming), "{number:#06x}");
            }
        }
    }
}

#[test]
fn cxl68_pid_02_n() {
    // Neither lost nor answered by a retrain: the message of a flit with one bad ID byte arrives, and one finding says so.
    let clean = judge(Dir::Down, protocol_flit());
    for byte in 0..2 {
        for bad in invalid_codes() {
            let mut unit = protocol_flit();
            unit.0[byte] = bad;
            let read = judge(Dir::Down, unit);
            assert_eq!(read.delivered, clean.delivered);
            assert!(read.decoded[0].is_good());
            assert_eq!(read.rules(), ["CXL68-PID-02"]);
            assert_eq!(read.violations()[0].at, At::Byte(0));
        }
    }
}

/// Units of every kind with any protocol enabled make no ID event.
#[track_caller]
fn clean_ids() {
    for (_, units) in one_of_each() {
        read(Dir::Down, &units).assert_legal();
    }
    for row in PIDS {
        assert_eq!(pid::receive(row.id(), Enabled::ALL).log, None);
    }
}

#[track_caller]
fn dropped(number: u16, enabled: Enabled, log: PidLog) {
    let action = pid::receive(number, enabled);
    assert_eq!((action.accept, action.log), (None, Some(log)), "{number:#06x}");
}

#[test]
fn cxl68_pid_03_p() {
    clean_ids();
}

#[test]
fn cxl68_pid_03_n() {
    for lo in invalid_codes() {
        for hi in invalid_codes() {
            dropped(id(lo, hi), Enabled::ALL, PidLog::UncorrectableInvalid);
        }
    }
    let mut unit = before_all_data();
    (unit.0[0], unit.0[1]) = (0, 0);
    let read = judge(Dir::Down, unit);
    assert_eq!(read.rules(), ["CXL68-PID-03"]);
    assert_eq!((read.delivered.len(), read.rollover), (0, 0), "a dropped unit changes no state");
}

#[test]
fn cxl68_pid_04_p() {
    clean_ids();
}

#[test]
fn cxl68_pid_04_n() {
    let io_only = Enabled { io: true, cachemem: false };
    for (lo, hi) in PIDS.iter().flat_map(|a| PIDS.iter().map(move |b| (a.code, b.code))).filter(|(a, b)| a != b) {
        dropped(id(lo, hi), Enabled::ALL, PidLog::UncorrectableMismatch);
        dropped(id(lo, hi), io_only, PidLog::UncorrectableMismatch);
        let mut unit = protocol_flit();
        (unit.0[0], unit.0[1]) = (lo, hi);
        assert_eq!(judge(Dir::Down, unit).rules(), ["CXL68-PID-04"]);
    }
}

/// Each way to have one protocol off, and the kind that is off.
const ONE_OFF: [(Enabled, PidKind); 2] =
    [(Enabled { io: true, cachemem: false }, PidKind::Cachemem), (Enabled { io: false, cachemem: true }, PidKind::Io)];

#[test]
fn cxl68_pid_05_p() {
    for (enabled, off) in ONE_OFF {
        for row in PIDS.iter().filter(|p| p.kind != off) {
            assert_eq!(pid::receive(row.id(), enabled).log, None);
        }
    }
}

#[test]
fn cxl68_pid_05_n() {
    for (enabled, off) in ONE_OFF {
        for row in PIDS.iter().filter(|p| p.kind == off) {
            dropped(row.id(), enabled, PidLog::UnexpectedDropped);
        }
    }
    let mut reader = Unpacker::new(Dir::Down, Revision::V2_0, ONE_OFF[0].0);
    let decoded = reader.read(&protocol_flit());
    assert_eq!(decoded.kind, Cxl68UnitKind::Dropped);
    let found = check::unit(&decoded, &config()).violations;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule, "CXL68-PID-05");
    assert!(found[0].text.contains("unexpected"));
    assert!(reader.delivered().is_empty());
}

#[test]
fn cxl68_pid_06_p() {
    cxl68_pid_05_p();
}

#[test]
fn cxl68_pid_06_n() {
    for (enabled, off) in ONE_OFF {
        for row in PIDS.iter().filter(|p| p.kind == off) {
            for bad in invalid_codes() {
                for number in [id(row.code, bad), id(bad, row.code)] {
                    dropped(number, enabled, PidLog::UnexpectedHalf);
                }
            }
        }
    }
    let half = PidLog::UnexpectedHalf;
    assert!(half.is_unexpected() && half.text().contains("unexpected") && !half.text().contains("framing"));
    assert_eq!(half.rule(), "CXL68-PID-06");
}

#[test]
fn cxl68_pid_07_p() {
    for enabled in [Enabled { io: true, cachemem: false }, Enabled { io: false, cachemem: false }] {
        for row in PIDS.iter().filter(|p| matches!(p.kind, PidKind::Null | PidKind::Almp)) {
            assert_eq!(pid::receive(row.id(), enabled), pid::PidAction { accept: Some(*row), log: None });
        }
    }
}

#[test]
fn cxl68_pid_07_n() {
    let io_only = ONE_OFF[0].0;
    for bad in invalid_codes() {
        dropped(id(bad, bad), io_only, PidLog::UncorrectableInvalid);
    }
}

#[test]
fn cxl68_pid_08_p() {
    for (n, a) in PIDS.iter().enumerate() {
        for b in &PIDS[n + 1..] {
            assert!((a.code ^ b.code).count_ones() >= 4, "{:#04x} {:#04x}", a.code, b.code);
        }
    }
}

#[test]
fn cxl68_pid_08_n() {
    let mut tried = 0;
    for row in PIDS {
        for error in (1..=255u8).filter(|e| e.count_ones() <= 3) {
            assert_eq!(pid::lookup(row.code ^ error), None, "{:#04x} with error {error:#04x}", row.code);
            tried += 1;
        }
    }
    assert_eq!(tried, 8 * (8 + 28 + 56));
}

#[test]
fn cxl68_flt_01_p() {
    for (name, units) in one_of_each() {
        let read = read(Dir::Down, &units);
        let last = read.decoded.last().expect("one unit at least");
        assert_eq!(kind_name(&last.kind), name);
        match name {
            "protocol" => assert_eq!(last.unit.slot(0) & 1, 0),
            "control" => assert_eq!(last.unit.slot(0) & 1, 1),
            _ => (),
        }
        read.assert_legal();
    }
}

#[test]
fn cxl68_flt_01_n() {
    // MemInv behind a valid bit reads as LLCTRL 1, SubType 0: a RETRY.Idle whose static bits hold the tag.
    let body = M2sReq { opcode: M2sReqOpcode::MemInv, tag: 0xabcd, ..M2sReq::default() };
    let mut flit = Flit::new(Dir::Down).with(0, "H5", &[(0, body.to_bits().expect("fits"))]);
    flit.header.flit_type = true;
    let read = judge(Dir::Down, flit.unit());
    assert_eq!(read.rules(), ["CXL68-CTL-05"]);
    assert!(read.delivered.is_empty(), "a control flit holds no message");
    // Other bodies read as a kind that does not exist; the static bits are wrong in any case.
    for class in [Class::M2sReq, Class::H2dReq, Class::M2sRwd] {
        let format = match class {
            Class::M2sReq => "H5",
            Class::H2dReq => "H0",
            _ => "H4",
        };
        let mut flit = Flit::new(Dir::Down).sized(true, false).with(0, format, &[(0, legal(class, 7))]);
        flit.header.flit_type = true;
        let unit = flit.unit();
        assert!(!Control::static_bits_ok(unit.slot(0)));
        let rules = judge(Dir::Down, unit).rules();
        assert!(rules == ["CXL68-CTL-05"] || rules == ["CXL68-CTL-02"], "{rules:?}");
    }
}

#[test]
fn cxl68_flt_02_p() {
    let frame = control(&Control::by_name("RETRY.Frame").expect("listed"));
    let read = read(Dir::Down, &[before_all_data(), frame]);
    read.assert_legal();
    assert_eq!(read.decoded[1].kind, Cxl68UnitKind::AllData);
    let data = read.delivered[0].data.expect("a write has data");
    assert_eq!(&data.bytes, frame.payload(), "what looks like a control flit is data");
    // The same unit with nothing owed is a control flit.
    assert!(matches!(judge(Dir::Down, frame).decoded[0].kind, Cxl68UnitKind::Control(Control::RetryFrame(_))));
}

#[test]
fn cxl68_flt_02_n() {
    for rollover in 0..=3 {
        let found = check::intent(&Cxl68UnitKind::AllData, rollover).expect("no all-data flit is due");
        assert_eq!(found.rule, "CXL68-FLT-02");
        assert_eq!(found.found, format!("{rollover} chunks owed"));
    }
    for rollover in 4..=16 {
        assert_eq!(check::intent(&Cxl68UnitKind::AllData, rollover), None);
    }
}
