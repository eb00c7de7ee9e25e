//! CXL256-PCK: what a flit may hold, and where.

use super::common::*;

const STD: Mode = Mode::Standard;
const LOPT: Mode = Mode::LatencyOptimised;

fn m(mode: Mode, class: Class, id: u16) -> u128 {
    legal(mode, class, id)
}

#[test]
fn cxl256_pck_01_p() {
    let ndr = |id| m(STD, Class::S2mNdr, id);
    let flit = cachemem(STD)
        .with(0, "H7", &[(0, ndr(1)), (1, ndr(2))])
        .with(1, "G7", &[(0, ndr(3)), (1, ndr(4))])
        .with(4, "G6", &[(0, m(STD, Class::S2mBisnp, 1))]);
    read(STD, Dir::Up, &[flit.flit()]).assert_clean();
}

#[test]
fn cxl256_pck_01_n() {
    let ndr = |id| m(STD, Class::S2mNdr, id);
    // A place left free inside a slot, and a slot inside a group.
    let gap = cachemem(STD).with(1, "G7", &[(0, ndr(1)), (2, ndr(2))]).flit();
    let hole = cachemem(STD).with(2, "G7", &[(0, ndr(1))]).flit();
    for flit in [gap, hole] {
        let read = read(STD, Dir::Up, &[flit]);
        assert_eq!((read.rules(), read.lints()), (vec![], vec!["CXL256-PCK-01"]));
    }
}

/// Four headers with trailers (20 slots) that leave `owed` slots to the next flit, in whose slot 0 stands another one.
fn header_on_top_of(owed: usize) -> Read {
    let four = [0u16, 1, 2, 3].map(|k| (usize::from(k), message(STD, Class::D2hData, k, &[("bep", 1)])));
    let begin = cachemem(STD).with(owed - 6, "G13", &four).flit();
    let top = cachemem(STD).with(0, "H13", &[(0, m(STD, Class::D2hData, 9))]).flit();
    let read = read(STD, Dir::Up, &[begin, top]);
    assert_eq!(read.decoded[1].owed_slots[0], owed);
    read
}

#[test]
fn cxl256_pck_02_p() {
    assert_eq!(header_on_top_of(16).rules(), [""; 0]);
}

#[test]
fn cxl256_pck_02_n() {
    assert_eq!(header_on_top_of(17).rules(), ["CXL256-PCK-02"]);
}

#[test]
fn cxl256_pck_03_p() {
    let flit = cachemem(STD).with(1, "G15", &[(0, m(STD, Class::S2mDrs, 1)), (1, m(STD, Class::S2mDrs, 2))]);
    read(STD, Dir::Up, &[flit.run(2..10, 0x100).flit()]).assert_clean();
}

#[test]
fn cxl256_pck_03_n() {
    for (format, class) in [("G12", Class::H2dData), ("G13", Class::D2hData), ("G15", Class::S2mDrs)] {
        let flit = cachemem(STD).with(1, format, &[(1, m(STD, class, 1))]).run(2..6, 0x100).flit();
        assert_eq!(read(STD, class.dir(), &[flit]).rules(), ["CXL256-PCK-03"], "{format}");
        let none = cachemem(STD).with(1, format, &[]).flit();
        assert_eq!(read(STD, class.dir(), &[none]).rules(), ["CXL256-PCK-03"], "{format}");
    }
}

const NO_MDH: Cxl256Config =
    Cxl256Config { mdh: false, fast_go: false, withdrawn_codes: true, direct_p2p: false, between_switches: false };

#[test]
fn cxl256_pck_04_p() {
    let one = cachemem(STD).with(1, "G15", &[(0, m(STD, Class::S2mDrs, 1))]).flit();
    let two = cachemem(STD).with(1, "G15", &[(0, m(STD, Class::S2mDrs, 1)), (1, m(STD, Class::S2mDrs, 2))]).flit();
    read_as(STD, Dir::Up, NO_MDH, &[one]).assert_clean();
    read(STD, Dir::Up, &[two]).assert_clean();
}

#[test]
fn cxl256_pck_04_n() {
    let two = cachemem(STD).with(1, "G15", &[(0, m(STD, Class::S2mDrs, 1)), (1, m(STD, Class::S2mDrs, 2))]).flit();
    assert_eq!(read_as(STD, Dir::Up, NO_MDH, &[two]).only().rule, "CXL256-PCK-04");
}

#[test]
fn cxl256_pck_05_p() {
    // Another kind, another group, or a short slot of zeros.
    let req = m(STD, Class::M2sReq, 1);
    let other_kind = cachemem(STD).with(0, "H1", &[(0, m(STD, Class::H2dRsp, 1))]).with(1, "G4", &[(0, req)]);
    let other_group = cachemem(STD).with(0, "H4", &[]).with(4, "G4", &[(0, req)]);
    let zeros = cachemem(STD).with(1, "G4", &[(0, req)]);
    for flit in [other_kind, other_group, zeros] {
        assert_eq!(read(STD, Dir::Down, &[flit.flit()]).rules(), [""; 0]);
    }
}

#[test]
fn cxl256_pck_05_n() {
    let req = m(LOPT, Class::M2sReq, 1);
    let in_h = cachemem(LOPT).with(0, "H4", &[]).with(2, "G4", &[(0, req)]);
    let in_hs = cachemem(LOPT).with(8, "HS4", &[]).with(9, "G4", &[(0, req)]);
    let half = cachemem(LOPT).with(0, "H1", &[(0, m(LOPT, Class::H2dRsp, 1))]);
    let half = half.with(1, "G1", &[(0, m(LOPT, Class::H2dRsp, 2))]);
    for flit in [in_h, in_hs, half] {
        assert_eq!(read(LOPT, Dir::Down, &[flit.flit()]).only().rule, "CXL256-PCK-05");
    }
}

/// Flits of data headers (a line each), as lists of (slot, format, headers).
fn headers(flits: &[&[(usize, &str, usize)]]) -> Read {
    let build = |slots: &&[(usize, &str, usize)]| {
        let put = |b: Build, &(n, format, count): &(usize, &str, usize)| {
            let class = if format == "G15" { Class::S2mDrs } else { Class::D2hData };
            let all: Vec<_> = (0..count).map(|k| (k, m(STD, class, k as u16))).collect();
            b.with(n, format, &all)
        };
        slots.iter().fold(cachemem(STD), put).flit()
    };
    read(STD, Dir::Up, &flits.iter().map(build).collect::<Vec<_>>())
}

/// Two headers in slot 0, three behind their lines; seven slots are owed to the next flit.
const FIVE: &[(usize, &str, usize)] = &[(0, "H13", 2), (9, "G15", 3)];

#[test]
fn cxl256_pck_06_p() {
    let five = headers(&[FIVE]);
    assert_eq!((five.decoded[0].active, five.rules()), (5, vec![]));
    let eight = headers(&[FIVE, &[(8, "G13", 3)]]);
    let second = &eight.decoded[1];
    assert_eq!((second.active, second.active_in_two, eight.rules()), (5, 8, vec![]));
}

#[test]
fn cxl256_pck_06_n() {
    let six = headers(&[&[(0, "H13", 2), (9, "G13", 4)]]);
    assert_eq!((six.decoded[0].active, six.only().rule), (6, "CXL256-PCK-06"));
    let nine = headers(&[FIVE, &[(8, "G13", 4)]]);
    assert_eq!(nine.decoded[1].active_in_two, 9);
    // Six in the second flit, nine in both.
    assert_eq!(nine.rules(), ["CXL256-PCK-06"; 2]);
}

/// Class, its maximum in 128 bytes, and the G format and number of messages of one slot.
const MAXIMA: [(Class, usize, &str, usize); 12] = [
    (Class::D2hReq, 4, "G2", 1),
    (Class::D2hRsp, 4, "G3", 4),
    (Class::D2hData, 4, "G13", 4),
    (Class::S2mBisnp, 2, "G6", 1),
    (Class::S2mNdr, 6, "G7", 3),
    (Class::S2mDrs, 3, "G15", 3),
    (Class::H2dReq, 2, "G0", 1),
    (Class::H2dRsp, 6, "G1", 3),
    (Class::H2dData, 4, "G12", 4),
    (Class::M2sReq, 4, "G4", 1),
    (Class::M2sRwd, 2, "G14", 1),
    (Class::M2sBirsp, 3, "G5", 3),
];

/// `count` messages of a class in G slots from `n` on, data behind each slot.
fn many(class: Class, format: &str, a_slot: usize, count: usize, mut n: usize) -> Build {
    let mut build = cachemem(STD);
    let mut left = count;
    while left > 0 {
        let here = left.min(a_slot);
        let messages: Vec<_> = (0..here).map(|k| (k, m(STD, class, k as u16))).collect();
        build = build.with(n, format, &messages);
        n += 1 + if class.has_data() { 4 * here } else { 0 };
        left -= here;
    }
    build
}

#[test]
fn cxl256_pck_07_p() {
    for (class, max, format, a_slot) in MAXIMA {
        assert_eq!(usize::from(class.max_per_window()), max, "{class:?}");
        let flit = many(class, format, a_slot, max, 1).flit();
        assert!(!read(STD, class.dir(), &[flit]).rules().contains(&"CXL256-PCK-07"), "{class:?}");
    }
    // Groups A and C are not neighbours; slot 7 of a latency-optimised flit counts once in B and C.
    let req = |b: Build, n| b.with(n, "G4", &[(0, m(STD, Class::M2sReq, n as u16))]);
    let apart = [1, 2, 3, 9, 10, 11].into_iter().fold(cachemem(STD), req).flit();
    assert!(!read(STD, Dir::Down, &[apart]).rules().contains(&"CXL256-PCK-07"));
    let lopt = [7, 9, 10, 11].into_iter().fold(cachemem(LOPT), req).flit();
    assert!(!read(LOPT, Dir::Down, &[lopt]).rules().contains(&"CXL256-PCK-07"));
}

#[test]
fn cxl256_pck_07_n() {
    for (class, max, format, a_slot) in MAXIMA {
        // Data of four headers reaches beyond two groups: one header in front, the others behind its line.
        let flit = if class.has_data() && max > 2 {
            let one = [(0, m(STD, class, 9))];
            let rest: Vec<_> = (0..max).map(|k| (k, m(STD, class, k as u16))).collect();
            cachemem(STD).with(1, format, &one).with(6, format, &rest[..max]).flit()
        } else if class == Class::M2sRwd {
            let one = |n: u16| [(0, m(STD, class, n))];
            cachemem(STD).with(0, "H14", &one(1)).with(5, "G14", &one(2)).flit()
        } else {
            many(class, format, a_slot, max + 1, 1).flit()
        };
        let rules = read(STD, class.dir(), &[flit]).rules();
        // Two RwD are the maximum, and three with their lines do not fit into eight slots.
        assert_eq!(rules.contains(&"CXL256-PCK-07"), class != Class::M2sRwd, "{class:?} {rules:?}");
    }
    // The window reaches over the end of a flit, and slot 7 of a latency-optimised flit into groups C and D.
    let req = |b: Build, n| b.with(n, "G4", &[(0, m(STD, Class::M2sReq, n as u16))]);
    let first = [12, 13, 14].into_iter().fold(cachemem(STD), req).flit();
    let second = [1, 2].into_iter().fold(cachemem(STD), req).flit();
    assert_eq!(read(STD, Dir::Down, &[first, second]).only().rule, "CXL256-PCK-07");
    let lopt = [7, 9, 10, 12, 13].into_iter().fold(cachemem(LOPT), req).flit();
    assert!(read(LOPT, Dir::Down, &[lopt]).rules().contains(&"CXL256-PCK-07"));
    assert!(
        !read(STD, Dir::Down, &[[7, 9, 10, 12, 13].into_iter().fold(cachemem(STD), req).flit()])
            .rules()
            .contains(&"CXL256-PCK-07")
    );
}
