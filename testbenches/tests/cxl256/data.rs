//! CXL256-DAT, TRL: data runs and trailers.

use super::common::*;
use scalepool_protocols::cxl::cxl256::stream::{Cxl256Message, Cxl256SlotRole, Data, trailer};
use scalepool_protocols::wire::At;
use serde_json::json;

const STD: Mode = Mode::Standard;
const LOPT: Mode = Mode::LatencyOptimised;

/// The n-th data slot of the line `id`: every byte differs from those of other lines.
fn chunk(id: u8, n: usize) -> u128 {
    u128::from_le_bytes(std::array::from_fn(|k| (16 * n + k) as u8 ^ id.wrapping_mul(0x41)))
}

fn line(id: u8) -> [u8; 64] {
    std::array::from_fn(|k| k as u8 ^ id.wrapping_mul(0x41))
}

/// Puts a sequence of slots into the G slots from `n` on.
fn fill(build: Build, n: usize, slots: impl IntoIterator<Item = u128>) -> Build {
    slots.into_iter().zip(n..15).fold(build, |b, (bits, n)| b.bits(n, bits))
}

fn lines(ids: impl IntoIterator<Item = u8>) -> Vec<u128> {
    ids.into_iter().flat_map(|id| (0..4).map(move |n| chunk(id, n))).collect()
}

/// Tag, UQID or CQID of delivered messages, with their lines.
fn delivered(read: &Read) -> Vec<(u128, [u8; 64])> {
    let id = |m: &Cxl256Message| {
        let def = m.class.def(STD.routing());
        let names = ["tag", "uqid", "cqid"];
        names.into_iter().find_map(|n| def.field(n).ok()).expect("an identifier").extract(m.bits)
    };
    read.delivered.iter().filter_map(|m| Some((id(m), m.data?.line))).collect()
}

#[test]
fn cxl256_dat_01_p() {
    let flit = cachemem(STD).with(0, "H14", &[(0, legal(STD, Class::M2sRwd, 1))]);
    let read = read(STD, Dir::Down, &[fill(flit, 1, lines([1])).flit()]);
    read.assert_clean();
    assert_eq!(delivered(&read), [(1, line(1))]);
    assert_eq!(Data::line(line(1)).slot(2), chunk(1, 2));
}

#[test]
fn cxl256_dat_01_n() {
    // Two slots of data and then a message: the receiver takes the message for data, the encoder says so.
    let form = json!({"kind": "protocol", "slots": [
        {"slot": 0, "format": "H14", "messages": [{"layout": "cxl256.m2s_rwd", "fields": {"opcode": "MemWr"}}]},
        {"slot": 1, "data": "00".repeat(16)}, {"slot": 2, "data": "00".repeat(16)},
        {"slot": 3, "format": "G4", "messages": [{"layout": "cxl256.m2s_req", "fields": {"opcode": "MemRd"}}]}]});
    let encoded =
        scalepool::forms::flit256::Cxl256FlitEncoder::new(STD, Some(Dir::Down)).encode(&form).expect("it can be sent");
    assert_eq!(encoded.findings.violations[0].rule, "CXL256-DAT-02");
    assert_eq!(encoded.findings.violations[0].at.to_string(), "byte 48");
    assert_eq!(read(STD, Dir::Down, &[encoded.unit]).owed_slots, 0, "four slots, whatever was meant");
}

#[test]
fn cxl256_dat_02_p() {
    for (format, class, headers) in
        [("G12", Class::H2dData, 4), ("G13", Class::D2hData, 4), ("G14", Class::M2sRwd, 1), ("G15", Class::S2mDrs, 3)]
    {
        for n in 1..=headers {
            let messages: Vec<_> = (0..n).map(|k| (k, legal(STD, class, k as u16))).collect();
            let flit = cachemem(STD).with(1, format, &messages).flit();
            assert_eq!(read(STD, class.dir(), &[flit]).owed_slots, (4 * n).saturating_sub(13));
            let roles = read(STD, class.dir(), &[flit]).decoded.remove(0).roles;
            let data = roles.iter().filter(|r| matches!(r, Cxl256SlotRole::Data)).count();
            assert_eq!(data, (4 * n).min(13), "{format}, {n} headers");
        }
    }
}

#[test]
fn cxl256_dat_02_n() {
    let form = json!({"kind": "protocol", "slots": [{"slot": 1, "data": "11".repeat(16)}]});
    let encoded =
        scalepool::forms::flit256::Cxl256FlitEncoder::new(STD, Some(Dir::Down)).encode(&form).expect("it can be sent");
    assert!(encoded.findings.violations.iter().any(|v| v.rule == "CXL256-DAT-02"));
}

#[test]
fn cxl256_dat_03_p() {
    // A run over the end of a flit skips slot 0, and in a latency-optimised flit slot 8.
    for mode in [STD, LOPT] {
        let first = fill(cachemem(mode).with(13, "G14", &[(0, legal(mode, Class::M2sRwd, 1))]), 14, [chunk(1, 0)]);
        let req = legal(mode, Class::M2sReq, 2);
        let second = fill(cachemem(mode).with(0, "H4", &[(0, req)]), 1, (1..4).map(|n| chunk(1, n)));
        let read = read(mode, Dir::Down, &[first.flit(), second.flit()]);
        assert_eq!(read.rules(), [""; 0]);
        assert_eq!(delivered(&read), [(1, line(1))]);
        assert_eq!(read.delivered[0].class, Class::M2sReq, "slot 0 comes first");
    }
    let write = cachemem(LOPT).with(6, "G14", &[(0, legal(LOPT, Class::M2sRwd, 1))]).bits(7, chunk(1, 0));
    let flit = fill(write.with(8, "HS4", &[(0, legal(LOPT, Class::M2sReq, 2))]), 9, (1..4).map(|n| chunk(1, n)));
    let read = read(LOPT, Dir::Down, &[flit.flit()]);
    assert_eq!(delivered(&read), [(1, line(1))]);
}

#[test]
fn cxl256_dat_03_n() {
    for (mode, n, len) in [(STD, 0, 14), (LOPT, 0, 14), (LOPT, 8, 12)] {
        let form = json!({"kind": "protocol", "slots": [{"slot": n, "data": "11".repeat(len)}]});
        let error = encode(mode, &form).expect_err("no data in a short slot");
        assert!(error.contains("CXL256-DAT-03"), "{error}");
    }
}

/// Four data headers in one slot, their lines behind it in an order.
fn four_lines(order: [u8; 4]) -> Vec<(u128, [u8; 64])> {
    let headers: Vec<_> = (0..4).map(|k| (k, legal(STD, Class::D2hData, k as u16 + 1))).collect();
    let slots = lines(order);
    let first = fill(cachemem(STD).with(0, "H13", &headers), 1, slots[..14].to_vec());
    let second = fill(cachemem(STD), 1, slots[14..].to_vec());
    let read = read(STD, Dir::Up, &[first.flit(), second.flit()]);
    assert_eq!(read.rules(), [""; 0]);
    delivered(&read)
}

#[test]
fn cxl256_dat_04_p() {
    assert_eq!(four_lines([1, 2, 3, 4]), [1, 2, 3, 4].map(|id| (u128::from(id), line(id))));
}

#[test]
fn cxl256_dat_04_n() {
    // A sender that swaps two lines is not understood.
    assert_eq!(four_lines([2, 1, 3, 4])[..2], [(1, line(2)), (2, line(1))]);
}

/// Flits of D2H data headers with trailers that leave `owed` slots before the slot 0 of the last one, whose H13 has
/// four headers with trailers: 20 slots more.
fn outstanding(owed: usize) -> Read {
    let header = |trailer: u128, id| message(STD, Class::D2hData, id, &[("bep", trailer)]);
    // Slot 14 - 20 + owed .. leaves `owed` of 20 slots; without enough room a second slot of headers follows.
    let four: Vec<_> = (0..4).map(|k| (k, header(1, k as u16))).collect();
    let one = [(0, header(0, 9))];
    let flits = match owed {
        16 => vec![cachemem(STD).with(10, "G13", &four).flit()],
        17 => vec![cachemem(STD).with(11, "G13", &four).flit()],
        _ => vec![cachemem(STD).with(13, "G13", &one).flit()],
    };
    let last = cachemem(STD).with(0, "H13", &four).flit();
    read(STD, Dir::Up, &[flits, vec![last]].concat())
}

#[test]
fn cxl256_dat_05_p() {
    let read = outstanding(16);
    assert_eq!(read.decoded[1].owed_slots[..2], [16, 36]);
    assert!(!read.rules().contains(&"CXL256-DAT-05"), "{:?}", read.rules());
}

#[test]
fn cxl256_dat_05_n() {
    let read = outstanding(17);
    assert_eq!(read.decoded[1].owed_slots[..2], [17, 37]);
    assert!(read.rules().contains(&"CXL256-DAT-05"), "{:?}", read.rules());
}

/// What a receiver makes of one header and five slots behind it.
fn with_trailer(class: Class, fields: &[(&str, u128)], trailer: u128) -> (Option<u64>, Option<u32>, usize) {
    let format = match class {
        Class::M2sRwd => "H14",
        Class::D2hData => "H13",
        _ => "H15",
    };
    let flit = cachemem(STD).with(0, format, &[(0, message(STD, class, 1, fields))]);
    let read = read(STD, class.dir(), &[fill(flit, 1, lines([1]).into_iter().chain([trailer])).flit()]);
    let data = read.delivered[0].data.expect("it has data");
    assert_eq!(data.line, line(1));
    let trailers = read.decoded[0].roles.iter().filter(|r| matches!(r, Cxl256SlotRole::Trailer)).count();
    (data.byte_enables, data.metadata, trailers)
}

const BE: u64 = 0x8000_0000_0000_0001;
const EMD: u32 = 0xe000_0007;

#[test]
fn cxl256_trl_01_p() {
    let (be, emd) = (u128::from(BE), u128::from(EMD));
    let write = |opcode, field| [("opcode", opcode), ("meta_field", field), ("trp", 1)];
    let both = be | emd << 64;
    assert_eq!(with_trailer(Class::M2sRwd, &write(1, 1), emd), (None, Some(EMD), 1));
    assert_eq!(with_trailer(Class::M2sRwd, &write(2, 3), be), (Some(BE), None, 1));
    assert_eq!(with_trailer(Class::M2sRwd, &write(2, 1), both), (Some(BE), Some(EMD), 1));
    assert_eq!(with_trailer(Class::D2hData, &[("bep", 1)], be), (Some(BE), None, 1));
    assert_eq!(with_trailer(Class::S2mDrs, &[("trp", 1)], emd), (None, Some(EMD), 1));
    // The way out is the way in.
    let data = Data { line: line(1), byte_enables: Some(BE), metadata: Some(EMD) };
    for (class, fields, want) in
        [(Class::M2sRwd, write(2, 1), both), (Class::M2sRwd, write(2, 3), be), (Class::M2sRwd, write(1, 1), emd)]
    {
        let trailer = trailer(class, STD.routing(), message(STD, class, 1, &fields)).expect("TRP is set");
        assert_eq!(trailer.slot(&data), want);
    }
}

#[test]
fn cxl256_trl_01_n() {
    // No TRP: the slot behind the line is no trailer, and is read as messages.
    assert_eq!(with_trailer(Class::M2sRwd, &[("opcode", 2), ("meta_field", 3)], BE.into()), (None, None, 0));
    let flit = cachemem(STD).with(0, "H14", &[(0, message(STD, Class::M2sRwd, 1, &[("opcode", 2)]))]);
    let read = read(STD, Dir::Down, &[fill(flit, 1, lines([1]).into_iter().chain([0x1b])).flit()]);
    assert_eq!(read.rules(), ["CXL256-TRL-01", "CXL256-SLT-01"], "its low bits are taken for a format");
}

/// §4.5: a partial write has a trailer, a whole one exactly with extended metadata. A wrong TRP is blamed on the write in
/// both routings; what follows is found by TRP all the same.
#[test]
fn trp_is_judged_where_it_stands() {
    let [write, partial] = [[1, 9], [2, 10]];
    let legal = |opcode, meta, trp| {
        partial.contains(&opcode) && trp == 1 || write.contains(&opcode) && (meta == 1) == (trp == 1)
    };
    for mode in Mode::ALL {
        for opcode in write.into_iter().chain(partial) {
            for (meta, trp) in [(0, 0), (0, 1), (1, 0), (1, 1), (3, 0), (3, 1)] {
                let fields = [("opcode", opcode), ("meta_field", meta), ("trp", trp)];
                let slots = lines([1]).into_iter().chain(std::iter::repeat_n(0, trp as usize));
                let header = cachemem(mode).with(1, "G14", &[(0, message(mode, Class::M2sRwd, 1, &fields))]);
                let read = read(mode, Dir::Down, &[fill(header, 2, slots).flit()]);
                let expected = if legal(opcode, meta, trp) { vec![] } else { vec!["CXL256-TRL-01"] };
                assert_eq!(read.rules(), expected, "{mode:?} {fields:?}");
                assert_eq!(delivered(&read), [(1, line(1))], "{mode:?} {fields:?}");
                if let Some(broken) = read.findings[0].violations.first() {
                    assert_eq!(broken.at, At::Byte(flit::slot_byte(mode, 1, (4 + 75) / 8)));
                }
            }
        }
        // The sheet says nothing about the trailer of what is no write.
        for opcode in [4, 5] {
            let fields = [("opcode", opcode), ("meta_field", 1), ("trp", 1)];
            let header = cachemem(mode).with(1, "G14", &[(0, message(mode, Class::M2sRwd, 1, &fields))]);
            assert_eq!(read(mode, Dir::Down, &[fill(header, 2, [0; 5]).flit()]).rules(), [""; 0]);
        }
    }
    // A message that is not there is not judged.
    let absent = plain(STD, Class::M2sRwd, &[("opcode", 2)]) & !1;
    let mut broken = Vec::new();
    Class::M2sRwd.def(STD.routing()).check(absent, &mut broken);
    assert_eq!(broken, []);
}

#[test]
fn cxl256_trl_02_p() {
    let two: Vec<_> = (0..2).map(|k| (k, message(STD, Class::D2hData, k as u16 + 1, &[("bep", 1)]))).collect();
    let slots = [lines([1]), vec![0x11], lines([2]), vec![0x22]].concat();
    let read = read(STD, Dir::Up, &[fill(cachemem(STD).with(0, "H13", &two), 1, slots).flit()]);
    read.assert_clean();
    let enables: Vec<_> = read.delivered.iter().map(|m| m.data.and_then(|d| d.byte_enables)).collect();
    assert_eq!((delivered(&read), enables), (vec![(1, line(1)), (2, line(2))], vec![Some(0x11), Some(0x22)]));
}

#[test]
fn cxl256_trl_02_n() {
    // Both trailers behind both lines: lines and enables come out wrong.
    let two: Vec<_> = (0..2).map(|k| (k, message(STD, Class::D2hData, k as u16 + 1, &[("bep", 1)]))).collect();
    let slots = [lines([1, 2]), vec![0x11, 0x22]].concat();
    let read = read(STD, Dir::Up, &[fill(cachemem(STD).with(0, "H13", &two), 1, slots).flit()]);
    assert_eq!(delivered(&read)[0], (1, line(1)));
    assert_ne!(delivered(&read)[1], (2, line(2)));
    assert_ne!(read.delivered[0].data.and_then(|d| d.byte_enables), Some(0x11));
}

/// Two DRS headers with their TRP, and the slots behind them.
fn two_drs(trp: [u128; 2], slots: Vec<u128>) -> Read {
    let headers: Vec<_> =
        trp.iter().enumerate().map(|(k, t)| (k, message(STD, Class::S2mDrs, k as u16 + 1, &[("trp", *t)]))).collect();
    read(STD, Dir::Up, &[fill(cachemem(STD).with(0, "H15", &headers), 1, slots).flit()])
}

fn metadata(read: &Read) -> Vec<Option<u32>> {
    read.delivered.iter().map(|m| m.data.and_then(|d| d.metadata)).collect()
}

#[test]
fn cxl256_trl_03_p() {
    let words = 0xaau128 | 0xbb << 32;
    for (trp, want) in [([0, 1], [None, Some(0xaa)]), ([1, 0], [Some(0xaa), None]), ([1, 1], [Some(0xaa), Some(0xbb)])]
    {
        let read = two_drs(trp, [lines([1]), vec![words], lines([2])].concat());
        read.assert_clean();
        assert_eq!((delivered(&read), metadata(&read)), (vec![(1, line(1)), (2, line(2))], want.to_vec()), "{trp:?}");
    }
    let none = two_drs([0, 0], lines([1, 2]));
    assert_eq!((delivered(&none), metadata(&none)), (vec![(1, line(1)), (2, line(2))], vec![None, None]));
}

#[test]
fn cxl256_trl_03_n() {
    // A trailer behind each line: the second line begins a slot late.
    let read = two_drs([1, 1], [lines([1]), vec![0xaa], lines([2]), vec![0xbb]].concat());
    assert_eq!(metadata(&read), [Some(0xaa), Some(0)], "the second word is not there");
    let late = two_drs([0, 1], [lines([1, 2]), vec![0xaa]].concat());
    assert_ne!(delivered(&late)[1], (2, line(2)));
}

/// Three DRS headers, TRP of the first and the third.
fn three_drs(words: u128) -> Vec<Option<u32>> {
    let headers: Vec<_> = [1, 0, 1]
        .iter()
        .enumerate()
        .map(|(k, t)| (k, message(STD, Class::S2mDrs, k as u16 + 1, &[("trp", *t)])))
        .collect();
    let slots = [lines([1]), vec![words], lines([2, 3])].concat();
    let read = read(STD, Dir::Up, &[fill(cachemem(STD).with(1, "G15", &headers), 2, slots).flit()]);
    assert_eq!(delivered(&read), [1, 2, 3].map(|id| (u128::from(id), line(id))));
    metadata(&read)
}

#[test]
fn cxl256_trl_04_p() {
    assert_eq!(three_drs(0xaa | 0xcc << 32), [Some(0xaa), None, Some(0xcc)]);
}

#[test]
fn cxl256_trl_04_n() {
    // Words at the places of their headers: the third header gets the wrong one.
    assert_eq!(three_drs(0xaa | 0xcc << 64), [Some(0xaa), None, Some(0)]);
}
