//! CXL68-PCK: packing, rollover, data headers.

use super::common::*;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::slot::{self, SlotContent, SlotFormat};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68Message, Cxl68SlotRole, Cxl68UnitKind, Size};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::{At, Wire};
use scalepool_testbenches::legal::{Random, random_message};
use std::fmt::Write;

/// `cxl-68b` §5.1.
const MAXIMA: [(Class, usize); 10] = [
    (Class::D2hReq, 4),
    (Class::D2hRsp, 2),
    (Class::D2hData, 4),
    (Class::S2mNdr, 2),
    (Class::S2mDrs, 3),
    (Class::H2dReq, 2),
    (Class::H2dRsp, 4),
    (Class::H2dData, 4),
    (Class::M2sReq, 2),
    (Class::M2sRwd, 1),
];

/// A flit full to the maximum of a class, and one that holds one message more. Slots hold one D2H Req each, so a flit has
/// no place for a fifth. A second data header needs 32 B transfers in slot 0, or the data of the first covers its slot.
fn full(class: Class) -> (Flit, Option<Flit>) {
    let flit = Flit::new(class.dir()).sized(true, false);
    let half = flit.sized(false, false);
    let at = |places: &[usize]| places.iter().map(|k| (*k, legal(class, *k as u16))).collect::<Vec<_>>();
    match class {
        Class::D2hReq => ((1..4).fold(flit.with(0, "H1", &at(&[0])), |f, n| f.with(n, "G1", &at(&[0]))), None),
        Class::D2hRsp => {
            let two = flit.with(0, "H0", &at(&[1, 2]));
            (two, Some(two.with(1, "G1", &at(&[1]))))
        }
        Class::D2hData => {
            let four = flit.with(0, "H2", &at(&[0, 1, 2, 3]));
            (four, Some(half.with(0, "H0", &at(&[0])).with(3, "G3", &at(&[0, 1, 2, 3]))))
        }
        Class::S2mNdr => {
            let two = flit.with(0, "H4", &at(&[0, 1]));
            (two, Some(two.with(1, "G5", &at(&[0]))))
        }
        Class::S2mDrs => {
            let three = flit.with(3, "G6", &at(&[0, 1, 2]));
            (three, Some(half.with(0, "H3", &at(&[0])).with(3, "G6", &at(&[0, 1, 2]))))
        }
        Class::H2dReq => {
            let two = flit.with(0, "H0", &at(&[0])).with(1, "G2", &at(&[0]));
            (two, Some(two.with(2, "G2", &at(&[0]))))
        }
        Class::H2dRsp => {
            let four = flit.with(1, "G1", &at(&[0, 1, 2, 3]));
            (four, Some(four.with(2, "G1", &at(&[0]))))
        }
        Class::H2dData => {
            let four = flit.with(0, "H3", &at(&[0, 1, 2, 3]));
            (four, Some(half.with(0, "H1", &at(&[0])).with(3, "G3", &at(&[0, 1, 2, 3]))))
        }
        Class::M2sReq => {
            let two = flit.with(0, "H5", &at(&[0])).with(1, "G4", &at(&[0]));
            (two, Some(two.with(2, "G4", &at(&[0]))))
        }
        Class::M2sRwd => {
            let one = flit.with(3, "G5", &at(&[0]));
            (one, Some(half.with(0, "H4", &at(&[0])).with(3, "G5", &at(&[0]))))
        }
    }
}

#[track_caller]
fn maxima_p(dir: Dir) {
    for (class, most) in MAXIMA.into_iter().filter(|m| m.0.dir() == dir) {
        assert_eq!(usize::from(class.max_per_flit()), most);
        let read = judge(dir, full(class).0.unit());
        read.assert_legal();
        assert_eq!(read.decoded[0].messages().count(), most);
        oracle(dir, true, &[full(class).0.unit()]).expect("the oracle agrees");
        // Our packer never goes above, and reaches the maximum.
        let waiting: Vec<Cxl68Message> = (0..40).map(|n| message(class, n)).collect();
        let units = pack(dir, config(), &waiting);
        let counts: Vec<usize> =
            super::common::read(dir, &units).decoded.iter().map(|d| d.messages().count()).collect();
        let reached = counts.iter().max();
        // Two read answers in slot 0 leave three slots for data, three in G6 two: fewer flits in the end.
        let expected = if class == Class::S2mDrs { 2..=3 } else { most..=most };
        assert!(reached.is_some_and(|m| expected.contains(m)), "{}: {counts:?}", class.def().name);
    }
}

#[track_caller]
fn maxima_n(dir: Dir, rule: &str) {
    for (class, most) in MAXIMA.into_iter().filter(|m| m.0.dir() == dir && m.0 != Class::D2hReq) {
        let over = full(class).1.expect("there is a place for one more").unit();
        let read = judge(dir, over);
        let named: Vec<_> = read.violations().into_iter().filter(|v| v.rule == rule).collect();
        assert_eq!(named.len(), 1, "{}: {:?}", class.def().name, read.rules());
        assert_eq!(named[0].found, (most + 1).to_string());
        assert!(named[0].text.contains(class.def().name));
        // Without data headers it is the only rule broken, and the oracle names it too.
        if !class.has_data() {
            assert_eq!(read.rules(), [rule]);
            assert!(oracle(dir, true, &[over]).expect_err("too many").starts_with(rule));
        }
    }
}

#[test]
fn cxl68_pck_01_p() {
    maxima_p(Dir::Up);
}

#[test]
fn cxl68_pck_01_n() {
    maxima_n(Dir::Up, "CXL68-PCK-01");
}

#[test]
fn cxl68_pck_02_p() {
    maxima_p(Dir::Down);
}

#[test]
fn cxl68_pck_02_n() {
    maxima_n(Dir::Down, "CXL68-PCK-02");
}

/// Every legal Sz and BE of every data class.
fn shapes() -> impl Iterator<Item = Cxl68Message> {
    [Class::M2sRwd, Class::S2mDrs, Class::D2hData, Class::H2dData].into_iter().flat_map(|class| {
        let sizes = [Size::Line, Size::LowerHalf, Size::UpperHalf];
        let sizes = sizes.into_iter().filter(move |s| *s == Size::Line || class.may_be_32_bytes());
        let sizes = sizes.filter(move |s| *s != Size::UpperHalf || class != Class::S2mDrs);
        sizes.flat_map(move |size| {
            let enables = [None, Some(0x0123_4567_89ab_cdef)].into_iter();
            enables.filter(move |e| e.is_none() || class.may_have_byte_enables()).map(move |e| sized(class, 5, size, e))
        })
    })
}

#[test]
fn cxl68_pck_03_p() {
    assert_eq!(shapes().count(), 2 + 2 + 6 + 3);
    for m in shapes() {
        let (dir, data) = (m.class.dir(), m.data.expect("data"));
        let owed = match data.size {
            Size::Line => 4,
            _ => 2,
        } + usize::from(data.byte_enables.is_some());
        assert_eq!(data.chunks(), owed);
        let mut packer = Packer::new(dir, config());
        packer.push(&m).expect("legal");
        let mut units = Vec::new();
        while let Some(unit) = unit_of(&packer.pack(&mut PLENTY.clone(), 4)) {
            units.push(unit);
            let facts = oracle(dir, true, &units).expect("legal");
            let read = read(dir, &units);
            let after = facts.last().expect("one").rollover_after;
            assert_eq!((packer.rollover(), read.rollover), (after, after), "Tx, Rx and the oracle count alike");
        }
        let read = read(dir, &units);
        read.assert_clean();
        assert_eq!(read.delivered, [m]);
        let roles = read.decoded.iter().flat_map(|d| d.roles);
        assert_eq!(roles.filter(|r| matches!(r, Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables)).count(), owed);
    }
}

#[test]
fn cxl68_pck_03_n() {
    // A sender that forgets the byte-enable chunk goes on with messages where the receiver expects the chunk.
    let header = legal(Class::M2sRwd, 1);
    let first =
        Flit::new(Dir::Down).sized(true, true).with(0, "H4", &[(0, header)]).chunk(1, 1).chunk(2, 2).chunk(3, 3);
    let next = Flit::new(Dir::Down).chunk(1, 4).with(2, "G4", &[(0, legal(Class::M2sReq, 2))]);
    let units = [first.unit(), next.unit()];
    let read = read(Dir::Down, &units);
    assert_eq!(read.rules(), ["CXL68-PCK-06"]);
    assert!(oracle(Dir::Down, true, &units).expect_err("counts apart").starts_with("CXL68-PCK-04"));
    // A sender that ends its stream with chunks owed.
    assert_eq!(super::common::read(Dir::Down, &[first.unit()]).rollover, 2);
}

/// A stream of which the last flit leaves `rollover` chunks owed, 0 to 16.
fn owing(rollover: usize) -> Vec<Cxl68Unit> {
    let h3 = |k: usize| (0..k).map(|n| (n, legal(Class::H2dData, n as u16))).collect::<Vec<_>>();
    let down = Flit::new(Dir::Down);
    // In slot 0: chunks minus three; in slot 1, 2, 3: minus two, one, none.
    match rollover {
        0 => vec![],
        1 => vec![down.sized(true, false).with(0, "H4", &[(0, legal(Class::M2sRwd, 1))]).unit()],
        2..=4 => vec![down.sized(true, false).with(rollover - 1, "G5", &[(0, legal(Class::M2sRwd, 1))]).unit()],
        5 => vec![down.sized(true, true).with(3, "G5", &[(0, legal(Class::M2sRwd, 1))]).unit()],
        _ => {
            let (headers, slot) =
                [(2, 1), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2), (3, 3), (4, 0), (4, 1), (4, 2), (4, 3)][rollover - 6];
            let format = if slot == 0 { "H3" } else { "G3" };
            vec![down.sized(true, false).with(slot, format, &h3(headers)).unit()]
        }
    }
}

#[test]
fn cxl68_pck_04_p() {
    for rollover in 0..=16 {
        let before = owing(rollover);
        let head = read(Dir::Down, &before);
        head.assert_legal();
        assert_eq!(head.rollover, rollover);
        let next = Flit::new(Dir::Down).chunk(1, 1 << 100).chunk(2, 2 << 100).chunk(3, 3 << 100);
        let units = [before, vec![next.unit()]].concat();
        let read = read(Dir::Down, &units);
        let last = read.decoded.last().expect("read");
        let facts = oracle(Dir::Down, true, &units).expect("legal");
        assert_eq!(facts.last().expect("read").rollover_after, last.rollover_after);
        let is_chunk = |r: &Cxl68SlotRole| matches!(r, Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables);
        let chunks: Vec<usize> = (0..4).filter(|n| is_chunk(&last.roles[*n])).collect();
        if rollover > 3 {
            assert_eq!(last.kind, Cxl68UnitKind::AllData);
            assert_eq!(chunks, [0, 1, 2, 3]);
        } else {
            assert!(matches!(last.kind, Cxl68UnitKind::Protocol(_)));
            assert_eq!(chunks, (1..=rollover).collect::<Vec<_>>(), "slots 1 to {rollover}");
        }
        assert_eq!(last.rollover_after, rollover - chunks.len());
    }
}

#[test]
fn cxl68_pck_04_n() {
    let protocol = Cxl68UnitKind::Protocol(FlitHeader::from_bits(0));
    for rollover in 0..=16 {
        let found = check::intent(&protocol, rollover).map(|v| v.rule);
        assert_eq!(found, (rollover > 3).then_some("CXL68-PCK-04"), "{rollover} owed");
    }
    // On the wire such a flit is four chunks: its messages are lost and its bytes are data.
    let lost = Flit::new(Dir::Down).with(0, "H5", &[(0, legal(Class::M2sReq, 2))]).unit();
    let read = read(Dir::Down, &[owing(4), vec![lost]].concat());
    assert_eq!(read.decoded[1].kind, Cxl68UnitKind::AllData);
    assert_ne!(read.delivered[0].data.map(|d| d.bytes), message(Class::M2sRwd, 1).data.map(|d| d.bytes));
    assert!(of_class(&read.delivered, Class::M2sReq).is_empty());
}

/// Random mixes through the packer, every flit with its place in the stream.
fn sweep(config: Cxl68Config, mut each: impl FnMut(Dir, &Packed, usize)) {
    let mut random = Random::new(5);
    for dir in Dir::ALL {
        let mut packer = Packer::new(dir, config);
        for _ in 0..3000 {
            for _ in 0..random.below(4) {
                packer.push(&random_message(&mut random, dir)).expect("legal");
            }
            let owed = packer.rollover();
            let packed = packer.pack(&mut PLENTY.clone(), 4);
            each(dir, &packed, owed);
        }
    }
}

/// The slots of a protocol flit with their formats; none for other flits.
fn slots_of(dir: Dir, packed: &Packed) -> Vec<(usize, &'static SlotFormat, u128)> {
    let Packed::Protocol(header, slots) = packed else { return Vec::new() };
    let row = |n| slot::format(Revision::V2_0, dir, n, header.slot(n)).expect("a listed code");
    slots.iter().enumerate().map(|(n, slot)| (n, row(n), *slot)).collect()
}

/// Valid data headers of a slot.
fn data_headers(format: &SlotFormat, slot: u128) -> usize {
    format.places().iter().filter(|p| p.class.has_data() && p.is_valid(slot)).count()
}

#[test]
fn cxl68_pck_05_p() {
    let mut flits = 0;
    sweep(config(), |dir, packed, _| {
        let Packed::Protocol(header, slots) = packed else { return };
        flits += 1;
        let format = slot::format(Revision::V2_0, dir, 0, header.slot0).expect("a listed code");
        assert!(format.is_header() && format.content != SlotContent::Data);
        // Slot 0 holds messages of its format or nothing, never a chunk.
        assert_eq!(slots[0] & format.reserved_bits(), 0);
        let used = format.places().iter().any(|p| p.is_valid(slots[0]));
        assert!(used || slots[0] == 0);
    });
    assert!(flits > 3000);
}

#[test]
fn cxl68_pck_05_n() {
    for dir in Dir::ALL {
        assert!(slot::formats(Revision::V2_0, dir, 0).iter().all(|f| f.name != "G0" && f.content != SlotContent::Data));
        // Code 0 in slot 0 is H0; with chunks owed a receiver still reads messages there, so data put there is lost.
        let class = if dir == Dir::Down { Class::M2sRwd } else { Class::S2mDrs };
        let (format, chunk) = (if dir == Dir::Down { "H4" } else { "H3" }, u128::MAX << 64);
        let first = Flit::new(dir).sized(true, false).with(0, format, &[(0, legal(class, 1))]);
        let forced = Flit::new(dir).chunk(0, chunk);
        let read = read(dir, &[first.unit(), forced.unit()]);
        assert!(matches!(read.decoded[1].roles[0], Cxl68SlotRole::Format(f) if f.name == "H0"));
        assert_eq!(read.decoded[1].roles[1], Cxl68SlotRole::Data);
        assert_eq!(&read.delivered.last().expect("complete").data.expect("data").bytes[48..], &[0; 16]);
    }
}

#[test]
fn cxl68_pck_06_p() {
    // A write header in slot k, on top of 0 to 3 chunks owed: the older data first, then from slot k + 1.
    for older in 0..=3usize {
        for k in 0..4 {
            if k > 0 && k <= older {
                continue; // those slots are taken by the older data
            }
            let mut flit = Flit::new(Dir::Down).sized(true, false);
            let format = if k == 0 { "H4" } else { "G5" };
            flit = flit.with(k, format, &[(0, legal(Class::M2sRwd, 9))]);
            let read = read(Dir::Down, &[owing(older), vec![flit.unit()]].concat());
            read.assert_legal();
            let last = read.decoded.last().expect("read");
            for n in 1..4 {
                let is_data = last.roles[n] == Cxl68SlotRole::Data;
                assert_eq!(is_data, n <= older || n > k, "{older} owed, header in slot {k}, slot {n}");
            }
            let own = 3 - k.max(older);
            assert_eq!(last.rollover_after, 4 - own, "{older} owed, header in slot {k}");
        }
    }
}

#[test]
fn cxl68_pck_06_n() {
    // Two chunks owed; the sender puts messages into slot 1 first.
    for (n, rollover) in [(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)] {
        let bad = Flit::new(Dir::Down).with(n, "G4", &[(0, legal(Class::M2sReq, 2))]);
        let read = read(Dir::Down, &[owing(rollover), vec![bad.unit()]].concat());
        assert_eq!(read.rules(), ["CXL68-PCK-06"], "slot {n} with {rollover} owed");
        assert_eq!(read.violations()[0].at, At::Byte(3), "the format codes of slots 1 to 3 begin in byte 3");
    }
}

/// Chunks of a stream in the order of the wire.
fn chunks(dir: Dir, units: &[Cxl68Unit]) -> Vec<u128> {
    let read = read(dir, units);
    let slots = read.decoded.iter().flat_map(|d| {
        let is_chunk = |n: &usize| matches!(d.roles[*n], Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables);
        (0..4).filter(is_chunk).map(|n| d.unit.slot(n)).collect::<Vec<_>>()
    });
    slots.collect()
}

#[test]
fn cxl68_pck_07_p() {
    for m in shapes() {
        let data = m.data.expect("data");
        let units = pack(m.class.dir(), config(), &[m]);
        let half = |at: usize| u128::from_le_bytes(data.bytes[at..at + 16].try_into().expect("16 bytes"));
        let mut expected: Vec<u128> = match data.size {
            Size::Line => vec![half(0), half(16), half(32), half(48)],
            Size::LowerHalf => vec![half(0), half(16)],
            Size::UpperHalf => vec![half(32), half(48)],
        };
        expected.extend(data.byte_enables.map(u128::from));
        assert_eq!(chunks(m.class.dir(), &units), expected, "the enables last");
    }
}

/// The same stream with its chunks in another order.
fn reordered(dir: Dir, units: &[Cxl68Unit], order: impl Fn(&mut Vec<u128>)) -> Vec<Cxl68Unit> {
    let mut all = chunks(dir, units);
    order(&mut all);
    let mut next = all.into_iter();
    let mut moved = |d: &Cxl68DecodedUnit| {
        let slots = std::array::from_fn(|n| match d.roles[n] {
            Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables => next.next().expect("as many chunks as before"),
            _ => d.unit.slot(n),
        });
        Cxl68Unit::from_slots(d.unit.pid(), &slots)
    };
    read(dir, units).decoded.iter().map(&mut moved).collect()
}

#[test]
fn cxl68_pck_07_n() {
    for m in shapes().filter(|m| m.data.is_some_and(|d| d.byte_enables.is_some())) {
        let dir = m.class.dir();
        let units = pack(dir, config(), &[m]);
        let wrong = reordered(dir, &units, |all| all.rotate_right(1));
        assert_ne!(wrong, units);
        assert_ne!(read(dir, &wrong).delivered, [m], "enables first: other data arrives");
        let facts = oracle(dir, true, &wrong).expect("still legal flits");
        assert!(!same_transfer(&m, facts.iter().flat_map(|f| &f.completed).next().expect("one transfer")));
        let same = reordered(dir, &units, |_| ());
        assert_eq!(same, units, "the reordering itself changes nothing");
    }
}

#[test]
fn cxl68_pck_08_p() {
    for dir in Dir::ALL {
        let class = if dir == Dir::Down { Class::H2dData } else { Class::D2hData };
        // Four headers in slot 3 owe 16 chunks: four all-data flits, then the next flit is free.
        let four: Vec<_> = (0..4).map(|n| (n, legal(class, n as u16))).collect();
        let first = Flit::new(dir).sized(true, false).with(3, "G3", &four).unit();
        let run: Vec<Cxl68Unit> = (0..4).map(|n| all_data([n, n, n, n])).collect();
        let read = read(dir, &[vec![first], run, vec![Flit::new(dir).unit()]].concat());
        read.assert_legal();
        let kinds: Vec<bool> = read.decoded.iter().map(|d| d.kind == Cxl68UnitKind::AllData).collect();
        assert_eq!(kinds, [false, true, true, true, true, false]);
    }
    let (mut run, mut longest) = (0, 0);
    sweep(config(), |_, packed, _| {
        run = if matches!(packed, Packed::AllData(_)) { run + 1 } else { 0 };
        longest = longest.max(run);
    });
    assert!((1..=4).contains(&longest), "{longest}");
}

#[test]
fn cxl68_pck_08_n() {
    // A fifth all-data flit with nothing owed.
    assert_eq!(check::intent(&Cxl68UnitKind::AllData, 0).map(|v| v.rule), Some("CXL68-FLT-02"));
    // More than 16 chunks owed make a fifth all-data flit due; only headers that break another rule owe that much.
    let four: Vec<_> = (0..4).map(|k| (k, legal(Class::D2hData, k as u16))).collect();
    let flit = Flit::new(Dir::Up).with(3, "G3", &four);
    let read = judge(Dir::Up, flit.sized(true, true).unit());
    assert_eq!(read.rollover, 20, "four transfers with byte enables");
    assert_eq!(read.rules(), ["CXL68-PCK-13", "CXL68-PCK-08"]);
    assert_eq!(judge(Dir::Up, flit.sized(true, false).unit()).rollover, 16);
    judge(Dir::Up, flit.sized(true, false).unit()).assert_legal();
}

#[test]
fn cxl68_pck_09_p() {
    for class in [Class::M2sRwd, Class::S2mDrs, Class::D2hData, Class::H2dData] {
        let two = [message(class, 1), message(class, 2)];
        let units = pack(class.dir(), config(), &two);
        let bytes: Vec<u8> = chunks(class.dir(), &units).into_iter().flat_map(u128::to_le_bytes).collect();
        assert_eq!(bytes, [line(1), line(2)].concat(), "one line after the other, low half first");
        let read = read(class.dir(), &units);
        read.assert_clean();
        assert_eq!(read.delivered, two);
    }
}

#[test]
fn cxl68_pck_09_n() {
    for class in [Class::M2sRwd, Class::S2mDrs, Class::D2hData, Class::H2dData] {
        let two = [message(class, 1), message(class, 2)];
        let units = pack(class.dir(), config(), &two);
        let interleaved = reordered(class.dir(), &units, |all| {
            *all = [0, 4, 1, 5, 2, 6, 3, 7].map(|n: usize| all[n]).to_vec();
        });
        assert_ne!(read(class.dir(), &interleaved).delivered, two);
        let upper_first = reordered(class.dir(), &units, |all| all[..4].rotate_left(2));
        assert_ne!(read(class.dir(), &upper_first).delivered, two);
    }
}

/// One flit in a line: format and valid messages of each slot; `D` data, `B` byte enables, `-` empty.
fn picture(dir: Dir, config: Cxl68Config, units: &[Cxl68Unit]) -> String {
    let mut out = String::new();
    for decoded in read_as(dir, config, units).decoded {
        let size = match decoded.kind {
            Cxl68UnitKind::Protocol(h) => format!("Sz{} BE{}", u8::from(h.sz), u8::from(h.be)),
            _ => "all-data".into(),
        };
        let slots: Vec<String> = decoded
            .roles
            .iter()
            .enumerate()
            .map(|(n, role)| match role {
                Cxl68SlotRole::Data => "D".into(),
                Cxl68SlotRole::ByteEnables => "B".into(),
                Cxl68SlotRole::Format(f) => {
                    let valid = f.places().iter().filter(|p| p.is_valid(decoded.unit.slot(n)));
                    let names: Vec<&str> = valid.map(|p| &p.class.def().name[6..]).collect();
                    if names.is_empty() { "-".into() } else { format!("{}({})", f.name, names.join(" ")) }
                }
                other => format!("{other:?}"),
            })
            .collect();
        let _ = writeln!(out, "  {size:9} {}", slots.join(" | "));
    }
    out
}

/// 20 mixes: name, direction, how many of which class wait (`+be` with byte enables, `32` half a line).
fn mixes() -> Vec<(&'static str, Dir, Vec<Cxl68Message>)> {
    use Class::*;
    let n = |class: Class, count: u16| (0..count).map(move |k| message(class, k)).collect::<Vec<_>>();
    let be =
        |class: Class, count: u16| (0..count).map(move |k| sized(class, k, Size::Line, Some(0xff))).collect::<Vec<_>>();
    let half =
        |class: Class, count: u16| (0..count).map(move |k| sized(class, k, Size::LowerHalf, None)).collect::<Vec<_>>();
    vec![
        ("one read request", Dir::Down, n(M2sReq, 1)),
        ("five read requests", Dir::Down, n(M2sReq, 5)),
        ("one write", Dir::Down, n(M2sRwd, 1)),
        ("four writes", Dir::Down, n(M2sRwd, 4)),
        ("two partial writes", Dir::Down, be(M2sRwd, 2)),
        ("two reads, one write", Dir::Down, [n(M2sReq, 2), n(M2sRwd, 1)].concat()),
        ("snoops and answers", Dir::Down, [n(H2dReq, 3), n(H2dRsp, 6)].concat()),
        ("four lines to the cache", Dir::Down, n(H2dData, 4)),
        ("three half lines to the cache", Dir::Down, half(H2dData, 3)),
        (
            "all that goes down",
            Dir::Down,
            [n(M2sReq, 2), n(M2sRwd, 2), n(H2dReq, 2), n(H2dRsp, 2), n(H2dData, 2)].concat(),
        ),
        ("one read answer", Dir::Up, n(S2mDrs, 1)),
        ("eight read answers", Dir::Up, n(S2mDrs, 8)),
        ("three half read answers", Dir::Up, half(S2mDrs, 3)),
        ("five completions", Dir::Up, n(S2mNdr, 5)),
        ("two read answers, one completion", Dir::Up, [n(S2mDrs, 2), n(S2mNdr, 1)].concat()),
        ("six cache requests", Dir::Up, n(D2hReq, 6)),
        ("requests and snoop answers", Dir::Up, [n(D2hReq, 3), n(D2hRsp, 4)].concat()),
        ("four lines from the cache", Dir::Up, n(D2hData, 4)),
        ("two partial lines from the cache", Dir::Up, be(D2hData, 2)),
        ("all that goes up", Dir::Up, [n(D2hReq, 2), n(D2hRsp, 2), n(D2hData, 2), n(S2mNdr, 2), n(S2mDrs, 2)].concat()),
    ]
}

#[test]
fn cxl68_pck_10_p() {
    let mut out = String::new();
    assert_eq!(mixes().len(), 20);
    for mdh in [true, false] {
        let config = Cxl68Config { mdh, ..config() };
        for (name, dir, messages) in mixes() {
            let units = pack(dir, config, &messages);
            read_as(dir, config, &units).assert_clean();
            oracle(dir, mdh, &units).expect("legal");
            let _ = writeln!(out, "{} {}{name}: {} flits", dir.name(), if mdh { "mdh, " } else { "" }, units.len());
            out += &picture(dir, config, &units);
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn cxl68_pck_10_n() {
    // A gap within a slot: the second place of a kind is used while the first one is free.
    for (dir, n, format, place, class) in [
        (Dir::Down, 1, "G1", 2, Class::H2dRsp),
        (Dir::Down, 0, "H1", 2, Class::H2dRsp),
        (Dir::Up, 0, "H4", 1, Class::S2mNdr),
        (Dir::Up, 1, "G1", 2, Class::D2hRsp),
    ] {
        let read = judge(dir, Flit::new(dir).with(n, format, &[(place, legal(class, 1))]).unit());
        read.assert_legal();
        assert_eq!(read.lints(), ["CXL68-PCK-10"], "{} {format} place {place}", dir.name());
    }
    // A gap between slots.
    let later = Flit::new(Dir::Down).with(3, "G4", &[(0, legal(Class::M2sReq, 1))]);
    let read = judge(Dir::Down, later.unit());
    read.assert_legal();
    assert_eq!(read.lints(), ["CXL68-PCK-10"]);
    assert_eq!(read.findings[0].lints[0].at, At::Byte(50));
    judge(Dir::Down, Flit::new(Dir::Down).with(1, "G4", &[(0, legal(Class::M2sReq, 1))]).unit()).assert_clean();
}

#[test]
fn cxl68_pck_11_p() {
    // The requests of a stream, with empty slots of every format among them.
    let mut random = Random::new(11);
    for dir in Dir::ALL {
        let class = if dir == Dir::Down { Class::M2sReq } else { Class::D2hReq };
        let (h, g) = if dir == Dir::Down { ("H5", "G4") } else { ("H1", "G1") };
        for round in 0..200u16 {
            let mut flit = Flit::new(dir);
            let mut sent = Vec::new();
            for n in 0..4 {
                if sent.len() < 2 && random.one_in(2) {
                    let m = Cxl68Message::new(class, legal(class, 16 * round + n));
                    flit = flit.with(n.into(), if n == 0 { h } else { g }, &[(0, m.bits)]);
                    sent.push(m);
                } else {
                    let rows = slot::formats(Revision::V2_0, dir, n.into());
                    flit = flit.with(n.into(), rows[random.below(rows.len())].name, &[]);
                }
            }
            let read = judge(dir, flit.unit());
            read.assert_legal();
            assert_eq!(read.delivered, sent);
        }
    }
}

#[test]
fn cxl68_pck_11_n() {
    // Slots full of ones but for the valid bits hold no message.
    for dir in Dir::ALL {
        for n in 0..4 {
            for format in slot::formats(Revision::V2_0, dir, n) {
                let valid = format.places().iter().fold(0u128, |v, p| v | 1 << p.lsb);
                let header = if n == 0 { 0xffff_ffff } else { 0 };
                let mut flit = Flit::new(dir).with(n, format.name, &[]);
                flit.slots[n] = !(valid | header);
                let read = judge(dir, flit.unit());
                assert!(read.delivered.is_empty(), "{} slot {n} {}", dir.name(), format.name);
                assert_eq!((read.decoded[0].messages().count(), read.rollover), (0, 0));
                read.assert_clean();
            }
        }
    }
}

#[test]
fn cxl68_pck_12_p() {
    for (class, n, format, place) in [
        (Class::M2sRwd, 0, "H4", 0),
        (Class::H2dData, 0, "H1", 0),
        (Class::H2dData, 2, "G2", 1),
        (Class::D2hData, 0, "H1", 1),
        (Class::D2hData, 3, "G2", 1),
        (Class::S2mDrs, 0, "H3", 0),
        (Class::S2mDrs, 1, "G4", 0),
    ] {
        let flit = Flit::new(class.dir()).sized(true, false).with(n, format, &[(place, legal(class, 1))]);
        let read = judge(class.dir(), flit.unit());
        read.assert_legal();
        assert_eq!(read.decoded[0].messages().count(), 1);
    }
    sweep(Cxl68Config { mdh: false, ..config() }, |dir, packed, _| {
        let headers: usize = slots_of(dir, packed).iter().map(|(_, format, slot)| data_headers(format, *slot)).sum();
        assert!(headers <= 1);
    });
}

#[test]
fn cxl68_pck_12_n() {
    let d = |id| legal(Class::D2hData, id);
    // A 32 B transfer in slot 0 takes slots 1 and 2; slot 3 is free for a second header.
    let down = Flit::new(Dir::Down).with(0, "H1", &[(0, legal(Class::H2dData, 1))]).with(
        3,
        "G2",
        &[(1, legal(Class::H2dData, 2))],
    );
    let up = Flit::new(Dir::Up).with(0, "H1", &[(1, d(1))]).with(3, "G2", &[(1, d(2))]);
    let mem = Flit::new(Dir::Up).with(0, "H3", &[(0, legal(Class::S2mDrs, 1))]).with(
        3,
        "G4",
        &[(0, legal(Class::S2mDrs, 2))],
    );
    let mixed = Flit::new(Dir::Up).with(0, "H3", &[(0, legal(Class::S2mDrs, 1))]).with(3, "G2", &[(1, d(2))]);
    for flit in [down, up, mem, mixed] {
        let read = judge(flit.dir, flit.unit());
        assert_eq!(read.rules(), ["CXL68-PCK-12"]);
        assert!(oracle(flit.dir, true, &[flit.unit()]).expect_err("two").starts_with("CXL68-PCK-12"));
    }
    // An MDH slot and one more header.
    let mdh = Flit::new(Dir::Up).with(0, "H1", &[(1, d(1))]).with(3, "G3", &[(0, d(2)), (1, d(3))]);
    assert!(judge(Dir::Up, mdh.unit()).rules().contains(&"CXL68-PCK-12"));
}

/// MDH slots: direction, slot, format, class, most headers.
const MDH: [(Dir, usize, &str, Class, usize); 6] = [
    (Dir::Down, 0, "H3", Class::H2dData, 4),
    (Dir::Down, 1, "G3", Class::H2dData, 4),
    (Dir::Up, 0, "H2", Class::D2hData, 4),
    (Dir::Up, 0, "H5", Class::S2mDrs, 2),
    (Dir::Up, 1, "G3", Class::D2hData, 4),
    (Dir::Up, 1, "G6", Class::S2mDrs, 3),
];

fn mdh_flit(row: (Dir, usize, &str, Class, usize), headers: usize, sz: bool, be: bool) -> Cxl68Unit {
    let (dir, n, format, class, _) = row;
    let messages: Vec<_> = (0..headers).map(|k| (k, legal(class, k as u16))).collect();
    Flit::new(dir).sized(sz, be).with(n, format, &messages).unit()
}

#[test]
fn cxl68_pck_13_p() {
    let listed: Vec<&str> = slot::all_formats().filter(|f| f.mdh).map(|f| f.name).collect();
    assert_eq!(listed, ["H3", "G3", "H2", "H5", "G3", "G6"]);
    for row in MDH {
        for headers in 2..=row.4 {
            let unit = mdh_flit(row, headers, true, false);
            let read = judge(row.0, unit);
            read.assert_clean();
            assert_eq!(read.decoded[0].messages().count(), headers);
            assert_eq!(read.rollover, 4 * headers - (3 - row.1));
            oracle(row.0, true, &[unit]).expect("legal");
        }
    }
    // What our packer makes of waiting lines: MDH slots only with two headers at least, of 64 B, without enables.
    let mut seen = 0;
    sweep(config(), |dir, packed, _| {
        for (_, format, slot) in slots_of(dir, packed) {
            let headers = data_headers(format, slot);
            if format.mdh && headers > 0 {
                assert!(headers >= 2);
                assert!(matches!(packed, Packed::Protocol(header, _) if header.sz && !header.be));
                seen += 1;
            }
        }
    });
    assert!(seen > 100, "{seen}");
}

#[test]
fn cxl68_pck_13_n() {
    for row in MDH {
        let (dir, _, format, _, most) = row;
        let rules = |headers, sz, be| judge(dir, mdh_flit(row, headers, sz, be)).rules();
        assert_eq!(rules(1, true, false), ["CXL68-PCK-13"], "{format}: one header");
        assert_eq!(rules(most, false, false), ["CXL68-PCK-13"], "{format}: 32 B");
        assert!(rules(most, true, true).contains(&"CXL68-PCK-13"), "{format}: byte enables");
        assert!(
            oracle(dir, true, &[mdh_flit(row, 1, true, false)]).expect_err("one header").starts_with("CXL68-PCK-13")
        );
    }
    // A response alone in an MDH slot.
    let alone = Flit::new(Dir::Up).sized(true, false).with(0, "H2", &[(4, legal(Class::D2hRsp, 1))]);
    assert_eq!(judge(Dir::Up, alone.unit()).rules(), ["CXL68-PCK-13"]);
}

#[test]
fn cxl68_pck_14_p() {
    let off = Cxl68Config { mdh: false, ..config() };
    sweep(off, |dir, packed, _| {
        for (n, format, slot) in slots_of(dir, packed).into_iter().filter(|s| s.1.mdh) {
            assert!(!format.places().iter().any(|p| p.is_valid(slot)), "{} slot {n} {}", dir.name(), format.name);
        }
    });
    assert!(config().mdh);
}

#[test]
fn cxl68_pck_14_n() {
    let off = Cxl68Config { mdh: false, ..config() };
    for row in MDH {
        for headers in 1..=row.4 {
            let unit = mdh_flit(row, headers, true, false);
            let rules = read_as(row.0, off, &[unit]).rules();
            assert!(rules.contains(&"CXL68-PCK-14"), "{} {}", row.0.name(), row.2);
            assert!(oracle(row.0, false, &[unit]).expect_err("disabled").starts_with("CXL68-PCK-14"));
        }
        // An empty slot of such a format holds no header and is no MDH.
        read_as(row.0, off, &[mdh_flit(row, 0, true, false)]).assert_legal();
    }
}

#[test]
fn cxl68_pck_15_n() {
    for name in Control::NAMES {
        let control = Cxl68UnitKind::Control(Control::by_name(name).expect("listed"));
        for rollover in 0..=16 {
            let found = check::intent(&control, rollover).map(|v| v.rule);
            assert_eq!(found, (rollover > 3).then_some("CXL68-PCK-15"), "{name} with {rollover} owed");
        }
    }
    // Injected all the same, it is four chunks to the receiver, and the data is wrong.
    let llcrd = control(&Control::by_name("LLCRD.Acknowledge").expect("listed"));
    let read = read(Dir::Down, &[owing(4), vec![llcrd]].concat());
    assert_eq!(read.decoded[1].kind, Cxl68UnitKind::AllData);
    assert_eq!(&read.delivered[0].data.expect("data").bytes, llcrd.payload());
}

#[test]
fn cxl68_pck_16_p() {
    let mut unused = 0;
    sweep(config(), |dir, packed, mut owed| {
        let Packed::Protocol(header, _) = packed else { return };
        let chunks = if header.sz { 4 } else { 2 } + usize::from(header.be);
        for (n, format, slot) in slots_of(dir, packed) {
            if n > 0 && owed > 0 {
                owed -= 1;
                assert_eq!(format.name, "G0", "data");
                continue;
            }
            if !format.places().iter().any(|p| p.is_valid(slot)) {
                assert_eq!((format.code, slot), (0, 0), "{} slot {n}", dir.name());
                unused += 1;
            }
            owed += data_headers(format, slot) * chunks;
        }
    });
    assert!(unused > 1000, "{unused}");
}

#[test]
fn cxl68_pck_16_n() {
    for dir in Dir::ALL {
        for n in 0..4 {
            for format in slot::formats(Revision::V2_0, dir, n) {
                let flit = Flit::new(dir).with(n, format.name, &[]);
                let read = judge(dir, flit.unit());
                read.assert_clean();
                assert!(read.delivered.is_empty());
            }
        }
        // G0 with nothing owed is empty whatever stands in it.
        let stray = Flit::new(dir).chunk(1, u128::MAX);
        let read = judge(dir, stray.unit());
        read.assert_clean();
        assert_eq!(read.delivered, []);
        assert_eq!(oracle(dir, true, &[stray.unit()]).expect("legal")[0].stray_slots, [1]);
    }
}
