//! CXL256-CTL, ALM: control slots and ALMPs.

use super::common::*;
use scalepool::forms::flit256::{Cxl256FlitDecoder, Cxl256FlitEncoder, to_json};
use scalepool_protocols::cxl::cxl256::almp::{Almp, L0p};
use scalepool_protocols::cxl::cxl256::code::{FlitType, L0pWidth, LlCtrl, VlsmInstance, VlsmState};
use scalepool_protocols::cxl::cxl256::control::{self, Ide, InitParam, KINDS, Poison, Viral};
use scalepool_protocols::cxl::cxl256::stream::{Cxl256FlitKind, Cxl256SlotRole};
use scalepool_protocols::wire::Wire;
use serde_json::{Value, json};

const STD: Mode = Mode::Standard;
const LOPT: Mode = Mode::LatencyOptimised;

#[test]
fn cxl256_ctl_01_p() {
    layout_p::<Ide>("slot_fmt 3:0, llctrl 7:4, sub_type 11:8, rsvd 15:12, mac 111:16");
    layout_p::<Viral>("slot_fmt 3:0, llctrl 7:4, sub_type 11:8, rsvd 15:12, ld_ids 31:16, rsvd1 111:32");
    layout_p::<Poison>("slot_fmt 3:0, llctrl 7:4, sub_type 11:8, rsvd 15:12, message 19:16, rsvd1 111:20");
    layout_p::<InitParam>("slot_fmt 3:0, llctrl 7:4, sub_type 11:8, rsvd 15:12, direct_p2p 16, rsvd1 111:17");
}

#[test]
fn cxl256_ctl_01_n() {
    layout_n::<Ide>("CXL256-CTL-01");
    layout_n::<Viral>("CXL256-CTL-01");
    layout_n::<Poison>("CXL256-CTL-01");
    layout_n::<InitParam>("CXL256-CTL-01");
}

/// Name, LLCTRL, SubType, also in HS (`cxl-256b` §6).
const SHEET: [(&str, u128, u128, bool); 8] = [
    ("IDE.Idle", 2, 0, false),
    ("IDE.Start", 2, 1, false),
    ("IDE.TMAC", 2, 2, false),
    ("IDE.MAC", 2, 3, false),
    ("IDE.Stop", 2, 4, false),
    ("Viral", 3, 0, true),
    ("Poison", 3, 1, true),
    ("INIT.Param", 12, 8, false),
];

/// Four data headers in the last slot: 16 slots of data are to come, so that Poison has a message to name.
fn open_data(mode: Mode) -> Cxl256Flit {
    let headers: Vec<_> = (0..4).map(|k| (k, legal(mode, Class::D2hData, k as u16))).collect();
    cachemem(mode).with(14, "G13", &headers).flit()
}

#[test]
fn cxl256_ctl_02_p() {
    assert_eq!(KINDS.len(), SHEET.len());
    for (name, llctrl, sub_type, in_hs) in SHEET {
        let slot = 8 | llctrl << 4 | sub_type << 8;
        assert_eq!(control::by_name(name).map(|k| k.default_slot()), Some(slot));
        let places: &[(Mode, usize)] = if in_hs { &[(STD, 0), (LOPT, 0), (LOPT, 8)] } else { &[(STD, 0), (LOPT, 0)] };
        for &(mode, n) in places {
            let read = read(mode, Dir::Up, &[open_data(mode), cachemem(mode).bits(n, slot).flit()]);
            let roles = &read.decoded[1].roles;
            assert!(matches!(roles[n], Cxl256SlotRole::Control(Some(k)) if k.name == name), "{name}");
            assert_eq!(read.decoded[1].kind == Cxl256FlitKind::Control, n == 0);
            // With data owed the slots behind an IDE.MAC are data.
            assert_eq!(read.rules(), [""; 0], "{name}");
        }
    }
    for (code, name) in [(2, "IDE"), (3, "Error"), (12, "INIT")] {
        assert_eq!(LlCtrl(code).name(), Some(name));
    }
}

#[test]
fn cxl256_ctl_02_n() {
    for (name, llctrl, sub_type, in_hs) in SHEET {
        let slot = 8 | llctrl << 4 | sub_type << 8;
        let rules = read(LOPT, Dir::Up, &[open_data(LOPT), cachemem(LOPT).bits(8, slot).flit()]).rules();
        assert_eq!(rules.contains(&"CXL256-CTL-02"), !in_hs, "{name} in slot 8");
    }
    // G slots have no control format at all.
    assert_eq!(read(STD, Dir::Down, &[cachemem(STD).bits(1, 8 | 3 << 4).flit()]).only().rule, "CXL256-SLT-01");
}

const VIRAL: u128 = 8 | 3 << 4 | 0b101 << 16;
const IDE_MAC: u128 = 8 | 2 << 4 | 3 << 8 | 0xabc << 16;

#[test]
fn cxl256_ctl_03_p() {
    read(STD, Dir::Down, &[cachemem(STD).bits(0, VIRAL).flit()]).assert_clean();
    let req = legal(STD, Class::M2sReq, 1);
    let mac = read(STD, Dir::Down, &[cachemem(STD).bits(0, IDE_MAC).with(1, "G4", &[(0, req)]).flit()]);
    mac.assert_clean();
    assert_eq!(mac.delivered.len(), 1);
    // Slot 8: what stands before it counts, what is behind it is zero.
    let late = read(LOPT, Dir::Down, &[cachemem(LOPT).with(1, "G4", &[(0, req)]).bits(8, VIRAL).flit()]);
    assert_eq!((late.rules(), late.delivered.len()), (vec![], 1));
}

#[test]
fn cxl256_ctl_03_n() {
    let req = legal(STD, Class::M2sReq, 1);
    let beside = read(STD, Dir::Down, &[cachemem(STD).bits(0, VIRAL).with(1, "G4", &[(0, req)]).flit()]);
    assert_eq!((beside.only().rule, beside.delivered.len()), ("CXL256-CTL-03", 0));
    let late = read(LOPT, Dir::Down, &[cachemem(LOPT).bits(8, VIRAL).with(9, "G4", &[(0, req)]).flit()]);
    assert_eq!((late.only().rule, late.delivered.len()), ("CXL256-CTL-03", 0));
}

#[test]
fn cxl256_ctl_04_p() {
    // Listed kinds come with their names, so that nothing of them is dropped.
    let named = json!({"kind": "control", "control": {"name": "Viral", "fields": {"ld_ids": 5}}, "header": {"seq": 1}});
    assert_eq!(encode(STD, &named), Ok(cachemem(STD).bits(0, VIRAL).flit()));
}

#[test]
fn cxl256_ctl_04_n() {
    for slot in [8u128, 8 | 2 << 4 | 5 << 8, 8 | 3 << 4 | 2 << 8, 8 | 12 << 4, 8 | 15 << 4 | 15 << 8] {
        let rest = cachemem(STD).run(1..15, 0x100).flit();
        let unlisted = cachemem(STD).bits(0, slot).flit();
        let read = read(STD, Dir::Up, &[open_data(STD), unlisted, rest]);
        assert_eq!(read.rules(), [""; 0], "no event");
        assert!(matches!(read.decoded[1].roles[0], Cxl256SlotRole::Control(None)));
        assert_eq!((read.delivered.len(), read.owed_slots), (3, 2), "no effect");
    }
}

/// Poison of a message while `open` data messages have data to come.
fn poison(open: usize, message: u128) -> Read {
    let header = |k: usize| (k, legal(STD, Class::D2hData, k as u16));
    // Headers in the last slot, so that all their data is still to come.
    let headers: Vec<_> = (0..open.min(4)).map(header).collect();
    let flit = cachemem(STD).with(14, "G13", &headers).flit();
    read(STD, Dir::Up, &[flit, cachemem(STD).bits(0, 8 | 3 << 4 | 1 << 8 | message << 16).flit()])
}

#[test]
fn cxl256_ctl_06_p() {
    for open in 1..=4 {
        (0..open).for_each(|n| assert_eq!(poison(open, n as u128).rules(), [""; 0]));
    }
}

#[test]
fn cxl256_ctl_06_n() {
    for (open, message) in [(1, 1), (2, 2), (4, 4), (4, 7), (4, 8), (4, 15)] {
        assert_eq!(poison(open, message).only().rule, "CXL256-CTL-06", "{open} open, {message}");
    }
    let none = read(STD, Dir::Up, &[cachemem(STD).bits(0, 8 | 3 << 4 | 1 << 8).flit()]);
    assert_eq!(none.only().rule, "CXL256-CTL-06");
}

/// An ALMP of a word.
fn almp(word: u128) -> Build {
    word.to_le_bytes()[..4].iter().zip(2..).fold(of_type(STD, FlitType::Almp), |b, (&byte, at)| b.byte(at, byte))
}

#[test]
fn cxl256_alm_01_p() {
    // `cxl-256b` §10: L0p request x8 in a flit with header E0 02.
    let mut flit = Cxl256Flit::ZERO;
    flit.0[..6].copy_from_slice(&bytes("E0 02 00 01 80 14"));
    flit.seal(STD);
    assert_eq!(flit.0[242..], bytes("CD 5B 54 02 B6 81 FD F0 AD 26 DB 57 26 FC"));
    read(STD, Dir::Down, &[flit]).assert_clean();
    let form = json!({"kind": "almp", "header": {"prior": 1, "seq": 2}, "almp": {"kind": "request", "width": "x8"}});
    assert_eq!(encode(STD, &form), Ok(flit));
    layout_p::<Almp>("rsvd 7:0, code 15:8, state 19:16, rsvd1 22:20, request 23, instance_id 27:24, rsvd2 31:28");
    layout_p::<L0p>("rsvd 7:0, code 15:8, rsvd1 21:16, prio 22, request 23, instance_id 27:24, width 31:28");
}

#[test]
fn cxl256_alm_01_n() {
    layout_n::<Almp>("CXL256-ALM-01");
    layout_n::<L0p>("CXL256-ALM-01");
    let active = Almp { state: VlsmState::Active, instance_id: VlsmInstance::Io, ..Almp::default() };
    let word = active.to_bits().expect("it fits");
    for at in [6, 100, 241] {
        let read = read(STD, Dir::Down, &[almp(word).byte(at, 1).flit()]);
        assert_eq!((read.only().rule, read.only().at.to_string()), ("CXL256-ALM-01", format!("byte {at}")));
    }
    let other_code = Almp { code: 9, ..active }.to_bits().expect("it fits");
    assert_eq!(read(STD, Dir::Down, &[almp(other_code).flit()]).only().rule, "CXL256-ALM-01");
}

/// Rules that a vLSM ALMP breaks.
fn vlsm(state: u8, request: bool, instance: u8) -> Vec<&'static str> {
    let almp_of = Almp { state: VlsmState(state), request, instance_id: VlsmInstance(instance), ..Almp::default() };
    read(STD, Dir::Down, &[almp(almp_of.to_bits().expect("it fits")).flit()]).rules()
}

/// State, legal as status, legal as request.
const STATES: [(u8, bool, bool); 10] = [
    (0, true, false),
    (1, true, true),
    (2, true, false),
    (3, false, true),
    (4, true, true),
    (5, true, true),
    (6, true, true),
    (7, true, true),
    (8, true, true),
    (11, true, true),
];

#[test]
fn cxl256_alm_02_p() {
    for (state, status, request) in STATES {
        for instance in [1, 2] {
            assert_eq!(vlsm(state, false, instance).is_empty(), status, "status {state}");
            assert_eq!(vlsm(state, true, instance).is_empty(), request, "request {state}");
        }
    }
    for width in [0, 1, 2, 3, 4, 8] {
        let l0p = L0p { width: L0pWidth(width), request: width != 8, ..L0p::default() };
        read(STD, Dir::Down, &[almp(l0p.to_bits().expect("it fits")).flit()]).assert_clean();
    }
}

#[test]
fn cxl256_alm_02_n() {
    // Request{Active.PMNAK}, Status{DAPM}, reserved states, instances and widths.
    assert_eq!(vlsm(2, true, 1), ["CXL256-ALM-02"]);
    assert_eq!(vlsm(3, false, 1), ["CXL256-ALM-02"]);
    for state in [9, 10, 12, 13, 14, 15] {
        assert_eq!(vlsm(state, false, 1), ["CXL256-ALM-02"], "{state}");
    }
    for instance in [0, 3, 4, 15] {
        assert_eq!(vlsm(1, false, instance), ["CXL256-ALM-02"], "{instance}");
    }
    for l0p in [L0p { width: L0pWidth(5), ..L0p::default() }, L0p { instance_id: 2, ..L0p::default() }] {
        assert_eq!(read(STD, Dir::Down, &[almp(l0p.to_bits().expect("it fits")).flit()]).only().rule, "CXL256-ALM-02");
    }
}

/// A slot of an unlisted kind comes back from its object, also where nothing but its codes is set.
#[test]
fn unlisted_control_slots_are_written_again() {
    let slots = [(STD, 0), (Mode::Pbr, 0), (LOPT, 0), (LOPT, 8)];
    for (mode, n) in slots {
        for codes in 0..1u128 << 8 {
            for payload in [0, 1 << 16, 1 << 95] {
                let flit = cachemem(mode).bits(n, 8 | codes << 4 | payload).flit();
                let (decoded, findings) = Cxl256FlitDecoder::new(mode, Dir::Down).read(&flit);
                let mut object = to_json(&decoded, &findings, 0);
                for key in ["hex", "crc", "fec"] {
                    object.as_object_mut().expect("an object").shift_remove(key);
                }
                let again =
                    Cxl256FlitEncoder::new(mode, None).encode(&object).unwrap_or_else(|e| panic!("{object}: {e}"));
                assert_eq!(again.unit, flit, "{object}");
            }
        }
    }
    // The name says no more than that the kind is unlisted, so the slot has to stand there, and to be one.
    let refused = |slots: Value| {
        let object = json!({"kind": "control", "control": {"name": "reserved"}, "slots": slots});
        Cxl256FlitEncoder::new(STD, Some(Dir::Down)).encode(&object).expect_err("which kind?").to_string()
    };
    assert!(refused(json!([])).ends_with("found an unlisted control slot, expected `hex` of the slot"));
    assert!(refused(json!([{"slot": 0, "format": "H8"}])).ends_with("expected `hex` of the slot"));
    for hex in ["2800000000000000000000000000", "0000000000000000000000000000"] {
        let error = refused(json!([{"slot": 0, "hex": hex}]));
        assert!(error.contains("expected `hex` of a control slot whose kind is unlisted"), "{error}");
    }
}
