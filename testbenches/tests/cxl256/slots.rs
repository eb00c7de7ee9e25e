//! CXL256-SLT: slot formats, directions, zero extension.

use super::common::*;
use scalepool_protocols::cxl::cxl256::check::zero_extension;
use scalepool_protocols::cxl::cxl256::slot;
use serde_json::json;
use std::ops::Range;

const LOPT: Mode = Mode::LatencyOptimised;

/// The formats of a slot are those of the sheet (code, bits of all messages); each carries its messages from bit 4 on, a
/// valid one at a time is read back, and all of them together.
#[track_caller]
pub fn formats_p(mode: Mode, n: usize, kind: &str, sheet: &[(u8, u32)]) {
    let rows: Vec<_> = slot::formats(mode, n).iter().filter(|f| !f.is_control()).collect();
    assert_eq!(rows.len(), sheet.len());
    for (row, &(code, bits)) in rows.iter().zip(sheet) {
        assert_eq!((row.name, row.code), (format!("{kind}{code}").as_str(), code));
        assert_eq!(row.places().map(|p| p.kept).sum::<u32>(), bits, "{}", row.name);
        let messages: Vec<_> =
            row.places().zip(1..).map(|(p, id)| legal(mode, p.class, id) & (u128::MAX >> (128 - p.kept))).collect();
        let mut next = 4;
        for place in row.places() {
            assert_eq!(place.lsb, next, "{}", row.name);
            next += place.kept;
        }
        let all: Vec<_> = messages.iter().copied().enumerate().collect();
        let given = |some: &[(usize, u128)]| {
            let flit = cachemem(mode).with(n, row.name, some).flit();
            let dir = row.classes[0].dir();
            let decoded = read(mode, dir, &[flit]).decoded.remove(0);
            let read: Vec<_> = decoded.messages().collect();
            let want: Vec<_> = some.iter().map(|&(p, bits)| (n, row.classes[p], bits)).collect();
            assert_eq!(read, want, "{}", row.name);
        };
        given(&all);
        all.iter().for_each(|one| given(&[*one]));
        // Every bit of the first message, by its position in the slot.
        let place = row.places().next().expect("one at least");
        for bit in 0..place.kept {
            let slot = cachemem(mode).with(n, row.name, &[(0, 1 << bit)]).flit.slot(mode, n);
            assert_eq!(slot, u128::from(code) | 1 << (4 + bit), "{} bit {bit}", row.name);
        }
    }
}

/// Reserved codes are kept, hold no message and are named by the rule.
#[track_caller]
pub fn reserved_format_n(mode: Mode, n: usize, codes: Range<u8>, rule: &str) {
    for code in codes {
        let bits = u128::from(code) | 0x5a5a << 8;
        let flit = cachemem(mode).bits(n, bits).flit();
        let read = read(mode, Dir::Down, &[flit]);
        assert_eq!((read.only().rule, read.only().found.as_str()), (rule, format!("{code:#x}").as_str()));
        assert_eq!(read.decoded[0].messages().count(), 0);
        assert_eq!(read.decoded[0].flit().slot(mode, n), bits);
    }
}

#[test]
fn cxl256_slt_01_p() {
    let bits = [
        (0, 112),
        (1, 120),
        (2, 124),
        (3, 96),
        (4, 100),
        (5, 120),
        (6, 124),
        (7, 120),
        (12, 112),
        (13, 96),
        (14, 104),
        (15, 120),
    ];
    // Slots 7 (in two parts) and 9 to 14 of a latency-optimised flit are G slots as well.
    [(Mode::Standard, 1), (Mode::Standard, 8), (Mode::Standard, 14), (LOPT, 7), (LOPT, 9)]
        .into_iter()
        .for_each(|(mode, n)| formats_p(mode, n, "G", &bits));
}

#[test]
fn cxl256_slt_01_n() {
    reserved_format_n(Mode::Standard, 1, 8..12, "CXL256-SLT-01");
    reserved_format_n(LOPT, 7, 8..12, "CXL256-SLT-01");
}

#[test]
fn cxl256_slt_02_p() {
    let bits = [
        (0, 72),
        (1, 80),
        (2, 100),
        (3, 96),
        (4, 100),
        (5, 80),
        (6, 84),
        (7, 80),
        (12, 84),
        (13, 96),
        (14, 104),
        (15, 80),
    ];
    [Mode::Standard, LOPT].into_iter().for_each(|mode| formats_p(mode, 0, "H", &bits));
}

#[test]
fn cxl256_slt_02_n() {
    reserved_format_n(Mode::Standard, 0, 9..12, "CXL256-SLT-02");
}

#[test]
fn cxl256_slt_03_p() {
    let bits = [
        (0, 72),
        (1, 80),
        (2, 76),
        (3, 72),
        (4, 92),
        (5, 80),
        (6, 84),
        (7, 80),
        (12, 84),
        (13, 72),
        (14, 92),
        (15, 80),
    ];
    formats_p(LOPT, 8, "HS", &bits);
}

#[test]
fn cxl256_slt_03_n() {
    reserved_format_n(LOPT, 8, 9..12, "CXL256-SLT-03");
}

/// Each class in a slot that holds it first.
const FIRST: [(Class, &str); 12] = [
    (Class::H2dReq, "G0"),
    (Class::H2dRsp, "G1"),
    (Class::H2dData, "G12"),
    (Class::D2hReq, "G2"),
    (Class::D2hRsp, "G3"),
    (Class::D2hData, "G13"),
    (Class::M2sReq, "G4"),
    (Class::M2sRwd, "G14"),
    (Class::M2sBirsp, "G5"),
    (Class::S2mBisnp, "G6"),
    (Class::S2mNdr, "G7"),
    (Class::S2mDrs, "G15"),
];

#[test]
fn cxl256_slt_04_p() {
    for (class, format) in FIRST {
        let flit = cachemem(Mode::Standard).with(1, format, &[(0, legal(Mode::Standard, class, 1))]).flit();
        assert_eq!(read(Mode::Standard, class.dir(), &[flit]).rules(), [""; 0], "{class:?}");
        let p2p = Cxl256Config { direct_p2p: true, ..Cxl256Config::default() };
        let other = read_as(Mode::Standard, class.dir().opposite(), p2p, &[flit]);
        assert_eq!(other.rules().is_empty(), class.is_mem(), "{class:?}: CXL.mem alone goes between peers");
    }
}

#[test]
fn cxl256_slt_04_n() {
    for (class, format) in FIRST {
        let flit = cachemem(Mode::Standard).with(1, format, &[(0, legal(Mode::Standard, class, 1))]).flit();
        let read = read(Mode::Standard, class.dir().opposite(), &[flit]);
        assert_eq!(read.only().rule, "CXL256-SLT-04", "{class:?}");
        assert_eq!(read.only().at.to_string(), "byte 16");
    }
}

#[test]
fn cxl256_slt_05_p() {
    for (name, class, ckid) in [("HS4", Class::M2sReq, 0x1fff), ("HS14", Class::M2sRwd, 0xfff)] {
        let format = slot::formats(LOPT, 8).iter().find(|f| f.name == name).expect("listed");
        let place = format.places().next().expect("one message");
        assert_eq!(place.kept, 92);
        assert_eq!(zero_extension(&place, format, message(LOPT, class, 1, &[("ckid", ckid)])), Ok(()));
    }
}

#[test]
fn cxl256_slt_05_n() {
    for (name, class, fields) in [
        ("HS4", Class::M2sReq, &[("rsvd", 2), ("rsvd", 0x40), ("tc", 1)][..]),
        ("HS14", Class::M2sRwd, &[("ckid", 1 << 12), ("rsvd", 1), ("tc", 1)]),
    ] {
        for field in fields {
            let format = slot::formats(LOPT, 8).iter().find(|f| f.name == name).expect("listed");
            let place = format.places().next().expect("one message");
            let dropped = zero_extension(&place, format, message(LOPT, class, 1, &[*field])).expect_err("dropped");
            assert_eq!(dropped.rule, "CXL256-SLT-05", "{name} {field:?}");
        }
    }
    // The encoder refuses; in a G slot the same message has a place.
    let form = |n: usize, format: &str| {
        json!({"kind": "protocol", "slots": [{"slot": n, "format": format, "messages": [
            {"layout": "cxl256.m2s_req", "fields": {"opcode": "MemRd", "tc": 1}}]}]})
    };
    assert!(encode(LOPT, &form(8, "HS4")).expect_err("dropped").contains("CXL256-SLT-05"));
    assert!(encode(LOPT, &form(9, "G4")).is_ok());
}

#[test]
fn cxl256_slt_06_p() {
    // What the short slot does not carry reads as zero.
    let req = message(LOPT, Class::M2sReq, 1, &[("ckid", 0x1fff)]);
    let flit = cachemem(LOPT).with(8, "HS4", &[(0, req)]).flit();
    assert_eq!(read(LOPT, Dir::Down, &[flit]).decoded[0].messages().next(), Some((8, Class::M2sReq, req)));
}

#[test]
fn cxl256_slt_06_n() {
    // A message with dropped bits set comes out as another one: the bits behind the slot are not taken for it.
    let req = message(LOPT, Class::M2sReq, 1, &[("tc", 3)]);
    let mut flit = cachemem(LOPT).with(8, "HS4", &[(0, req)]);
    flit = flit.bits(9, u128::MAX);
    let decoded = read(LOPT, Dir::Down, &[flit.flit()]).decoded.remove(0);
    let (_, _, bits) = decoded.messages().next().expect("the request");
    assert_eq!(bits, message(LOPT, Class::M2sReq, 1, &[]));
    assert_ne!(bits, req);
}

#[test]
fn cxl256_slt_07_p() {
    for row in slot::all_formats() {
        let used = row.places().fold(0xf, |bits, p| bits | p.bits());
        let top = 128 - used.leading_zeros();
        assert_eq!(used, u128::MAX >> (128 - top), "{}: without gap", row.name);
        assert_eq!(row.reserved_bits(), row.kind.mask() & !used);
    }
}

#[test]
fn cxl256_slt_07_n() {
    // Bits above the last message: ignored and kept.
    let flit = cachemem(Mode::Standard).with(1, "G4", &[(0, legal(Mode::Standard, Class::M2sReq, 1))]);
    let stray = flit.flit.slot(Mode::Standard, 1) | 1 << 127 | 1 << 104;
    let read = read(Mode::Standard, Dir::Down, &[flit.bits(1, stray).flit()]);
    assert_eq!(read.rules(), [""; 0]);
    assert_eq!(read.delivered.len(), 1);
    assert_eq!(read.decoded[0].flit().slot(Mode::Standard, 1), stray);
}
