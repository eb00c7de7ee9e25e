//! CXL68-SLT: slot formats.

use super::common::*;
use bitvec::prelude::*;
use scalepool_oracle::cxl68_slots::{self as oracle_slots, CHUNK, MAC, SlotOracle};
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::message::{Class, S2mNdr};
use scalepool_protocols::cxl::cxl68::slot::{self, SlotContent, SlotFormat};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68SlotRole, Size};
use scalepool_protocols::wire::{At, Wire};

fn bits_of(value: u128, width: usize) -> BitVec<u8, Lsb0> {
    value.to_le_bytes().view_bits::<Lsb0>()[..width].to_bitvec()
}

fn format(dir: Dir, name: &str) -> &'static SlotFormat {
    let n = usize::from(name.starts_with('G'));
    slot::formats(Revision::V2_0, dir, n).iter().find(|f| f.name == name).expect("a format of the sheet")
}

/// Every format of one table with its row in the oracle.
fn table(dir: Dir, n: usize) -> Vec<(&'static SlotFormat, &'static SlotOracle)> {
    let rows = slot::formats(Revision::V2_0, dir, n).iter();
    let oracle: Vec<_> =
        oracle_slots::slots().iter().filter(|o| o.dir == oracle_dir(dir) && o.generic == (n > 0)).collect();
    assert_eq!(rows.len(), oracle.len());
    rows.zip(oracle).collect()
}

/// W, obeys: each place of each format holds each bit of its message where the oracle has it, both ways.
#[track_caller]
fn places_p(dir: Dir, n: usize) {
    for (format, oracle) in table(dir, n) {
        assert_eq!((format.name, format.code, format.mdh), (oracle.name, oracle.code, oracle.mdh));
        assert_eq!(format.is_header(), n == 0);
        match format.content {
            SlotContent::Data => assert_eq!((oracle.places.len(), oracle.places[0].message), (1, CHUNK)),
            SlotContent::Mac => assert_eq!((oracle.places.len(), oracle.places[0].message), (1, MAC)),
            SlotContent::Messages(places) => {
                assert_eq!(places.len(), oracle.places.len(), "{}", format.name);
                for (k, (place, theirs)) in places.iter().zip(oracle.places).enumerate() {
                    let def = place.class.def();
                    assert_eq!((def.name, def.bits as usize), (theirs.message, theirs.bits()), "{}", format.name);
                    let all = (1u128 << def.bits) - 1;
                    let ones = (0..def.bits).map(|bit| 1 << bit);
                    let zeros = (0..def.bits).map(|bit| all & !(1 << bit));
                    for message in ones.chain(zeros).chain([0, all, 0x5555_5555_5555_5555_5555_5555 & all]) {
                        let slot = place.insert(0, message);
                        let expected = oracle_slots::place(oracle, k, &bits_of(message, def.bits as usize));
                        assert_eq!(slot.to_le_bytes(), expected, "{} place {k} {message:#x}", format.name);
                        assert_eq!(place.extract(slot), message);
                        assert_eq!(
                            oracle_slots::extract(oracle, &slot.to_le_bytes(), k),
                            bits_of(message, def.bits as usize)
                        );
                        // Over a slot that is full: the neighbours stay as they are.
                        let over = place.insert(u128::MAX, message);
                        let mut theirs = [0xff; 16];
                        oracle_slots::place_into(oracle, &mut theirs, k, &bits_of(message, def.bits as usize));
                        assert_eq!(over.to_le_bytes(), theirs, "{} place {k} {message:#x}", format.name);
                        assert_eq!(place.is_valid(slot), message & 1 == 1);
                    }
                    assert_eq!(place.bits(), place.insert(0, all));
                }
            }
        }
    }
}

/// W, breaks: a message that is too wide for its place is refused by its layout; reserved bits of the slot change no
/// message and are kept; reserved bits of a message at any place are named with their byte.
#[track_caller]
fn places_n(dir: Dir, n: usize) {
    for (format, _) in table(dir, n) {
        let reserved = format.reserved_bits();
        for bit in (0..128).filter(|bit| reserved >> bit & 1 == 1) {
            let read = judge(dir, Flit::new(dir).with(n, format.name, &[]).chunk_over(n, 1 << bit).unit());
            read.assert_clean();
            assert!(read.delivered.is_empty(), "{} bit {bit}", format.name);
            assert_eq!(read.decoded[0].unit.slot(n) >> bit & 1, 1, "decode keeps the bit");
        }
        for (k, place) in format.places().iter().enumerate() {
            let def = place.class.def();
            assert_eq!(place.extract(u128::MAX), (1 << def.bits) - 1);
            assert!(def.fields.iter().all(|f| f.insert(0, (f.max_raw() + 1) << f.address_lsb).is_err()));
            for field in def.fields.iter().filter(|f| f.reserved) {
                let message = legal(place.class, 1) | 1 << field.lsb;
                let flit = Flit::new(dir).sized(true, false).with(n, format.name, &[(k, message)]);
                let read = judge(dir, flit.unit());
                let named = read.violations().into_iter().filter(|v| v.rule == def.rule).collect::<Vec<_>>();
                assert_eq!(named.len(), 1, "{} place {k} {}", format.name, field.name);
                let byte = 2 + 16 * n + (u32::from(place.lsb) + field.lsb) as usize / 8;
                assert_eq!(named[0].at, At::Byte(byte), "{} place {k} {}", format.name, field.name);
                assert!(named[0].text.contains(field.name));
            }
        }
    }
}

impl Flit {
    /// Sets bits of a slot on top of what stands there.
    fn chunk_over(mut self, n: usize, bits: u128) -> Flit {
        self.slots[n] |= bits;
        self
    }
}

#[test]
fn cxl68_slt_01_p() {
    for dir in Dir::ALL {
        for n in 0..4 {
            for code in 0..8 {
                let oracle = oracle_slots::slot_of_code(oracle_dir(dir), n > 0, code);
                let found = slot::format(Revision::V2_0, dir, n, code);
                assert_eq!(found.map(|f| f.name), oracle.map(|o| o.name), "{} slot {n} code {code}", dir.name());
                let Some(found) = found else { continue };
                let flit = Flit::new(dir).with(n, found.name, &[]);
                assert_eq!(flit.header.slot(n), code);
                let read = judge(dir, flit.unit());
                read.assert_clean();
                assert!(matches!(read.decoded[0].roles[n], Cxl68SlotRole::Format(f) if f.name == found.name));
            }
        }
    }
    assert_eq!(slot::all_formats().count(), 7 + 6 + 7 + 7);
}

#[test]
fn cxl68_slt_01_n() {
    let mut reserved = 0;
    for dir in Dir::ALL {
        for n in 0..4 {
            for code in 0..8 {
                if oracle_slots::slot_of_code(oracle_dir(dir), n > 0, code).is_some() {
                    continue;
                }
                reserved += 1;
                let mut flit = Flit::new(dir).chunk(n, if n == 0 { 0 } else { u128::MAX });
                flit.header.set_slot(n, code);
                let read = judge(dir, flit.unit());
                assert_eq!(read.rules(), ["CXL68-SLT-01"]);
                assert_eq!(read.violations()[0].found, format!("{code:#x}"));
                // The byte of the unit that holds the lowest bit of the code.
                assert_eq!(read.violations()[0].at, At::Byte(2 + (5 + 3 * n) / 8));
                assert!(matches!(read.decoded[0].roles[n], Cxl68SlotRole::Reserved(c) if c == code));
                assert!(read.delivered.is_empty());
                assert_eq!(read.decoded[0].unit, flit.unit());
            }
        }
    }
    assert_eq!(reserved, 1 + 3 * 2 + 1 + 3, "111 everywhere, and down G6");
}

#[test]
fn cxl68_slt_02_p() {
    places_p(Dir::Down, 0);
}

#[test]
fn cxl68_slt_02_n() {
    places_n(Dir::Down, 0);
}

#[test]
fn cxl68_slt_03_p() {
    places_p(Dir::Down, 1);
}

#[test]
fn cxl68_slt_03_n() {
    (1..4).for_each(|n| places_n(Dir::Down, n));
}

#[test]
fn cxl68_slt_04_p() {
    places_p(Dir::Up, 0);
}

#[test]
fn cxl68_slt_04_n() {
    places_n(Dir::Up, 0);
}

#[test]
fn cxl68_slt_05_p() {
    places_p(Dir::Up, 1);
    // G6 has DevLoad, although one figure draws it reserved (`cxl-68b` §10).
    for (k, lsb) in [(0, 29), (1, 69), (2, 109)] {
        assert_eq!(format(Dir::Up, "G6").places()[k].extract(3 << lsb), 3 << 29);
    }
}

#[test]
fn cxl68_slt_05_n() {
    (1..4).for_each(|n| places_n(Dir::Up, n));
}

/// The formats with a split first NDR: name, its place, slot bit of the first NDR.
const SPLIT: [(&str, usize, u32); 3] = [("H4", 0, 32), ("G4", 1, 40), ("G5", 0, 0)];

#[test]
fn cxl68_slt_06_p() {
    for (name, first, at) in SPLIT {
        let places = format(Dir::Up, name).places();
        // DevLoad of NDR0 stands behind NDR1 and its DevLoad: 28 + 30 bits up.
        assert_eq!(places[first].insert(0, 3 << 28), 3 << (at + 58), "{name}");
        assert_eq!(places[first + 1].insert(0, 3 << 28), 3 << (at + 28 + 28), "{name}");
        assert_eq!(places[first].insert(0, (1 << 28) - 1), ((1 << 28) - 1) << at, "{name}");
        let (a, b) = (legal(Class::S2mNdr, 0xabc) | 1 << 28, legal(Class::S2mNdr, 0x123) | 2 << 28);
        let n = usize::from(name != "H4");
        let read = judge(Dir::Up, Flit::new(Dir::Up).with(n, name, &[(first, a), (first + 1, b)]).unit());
        read.assert_clean();
        assert_eq!(read.delivered.iter().map(|m| m.bits).collect::<Vec<_>>(), [a, b]);
    }
}

#[test]
fn cxl68_slt_06_n() {
    for (name, first, at) in SPLIT {
        let places = format(Dir::Up, name).places();
        // The encoding that a careless reader of the sheet would make: two NDR of 30 bits side by side.
        let (a, b) = (legal(Class::S2mNdr, 1) | 3 << 28, legal(Class::S2mNdr, 2));
        let contiguous = a << at | b << (at + 30);
        let ours = places[first + 1].insert(places[first].insert(0, a), b);
        assert_ne!(ours, contiguous, "{name}");
        assert_ne!((places[first].extract(contiguous), places[first + 1].extract(contiguous)), (a, b), "{name}");
    }
}

/// Down G4 and G5 with both messages: name, first and second class.
const PADDED: [(&str, Class, Class); 2] = [("G4", Class::M2sReq, Class::H2dData), ("G5", Class::M2sRwd, Class::H2dRsp)];

#[test]
fn cxl68_slt_07_p() {
    for (name, first, second) in PADDED {
        let places = format(Dir::Down, name).places();
        assert_eq!((places[0].class, places[1].class), (first, second));
        assert_eq!((places[0].lsb, places[0].width, places[1].lsb), (0, 87, 88), "the second message at byte 11");
        assert_eq!(format(Dir::Down, name).reserved_bits() >> 87 & 1, 1);
    }
}

#[test]
fn cxl68_slt_07_n() {
    for (name, first, second) in PADDED {
        let flit =
            Flit::new(Dir::Down).sized(true, false).with(1, name, &[(0, legal(first, 1)), (1, legal(second, 2))]);
        let clean = judge(Dir::Down, flit.unit());
        let padded = judge(Dir::Down, flit.chunk_over(1, 1 << 87).unit());
        clean.assert_clean();
        padded.assert_clean();
        let all = |r: &Read| r.decoded[0].messages().collect::<Vec<_>>();
        assert_eq!(all(&clean), all(&padded));
        assert_eq!(all(&clean).len(), 2);
        assert_eq!(padded.decoded[0].unit.slot(1) >> 87 & 1, 1);
    }
}

#[test]
fn cxl68_slt_08_p() {
    let flit = Flit::new(Dir::Up).with(1, "G5", &[(0, legal(Class::S2mNdr, 1)), (1, legal(Class::S2mNdr, 2))]);
    let read = judge(Dir::Up, flit.unit());
    read.assert_clean();
    assert_eq!(read.delivered.len(), 2);
    assert_eq!(format(Dir::Up, "G5").places().len(), 2);
}

#[test]
fn cxl68_slt_08_n() {
    // Bit 56 would be the valid bit of a third NDR in 1.1; here it is the low DevLoad bit of the second one.
    let read = judge(Dir::Up, Flit::new(Dir::Up).with(1, "G5", &[]).chunk_over(1, 1 << 56).unit());
    assert!(read.delivered.is_empty());
    read.assert_clean();
    let flit = Flit::new(Dir::Up).with(1, "G5", &[(0, legal(Class::S2mNdr, 1)), (1, legal(Class::S2mNdr, 2))]);
    let read = judge(Dir::Up, flit.chunk_over(1, 1 << 56).unit());
    assert_eq!(read.delivered.len(), 2);
    assert_eq!(S2mNdr::from_bits(read.delivered[1].bits).devload.0, 1);
}

#[test]
fn cxl68_slt_09_p() {
    let ramp: [u8; 64] = std::array::from_fn(|k| k as u8);
    let mut write = message(Class::M2sRwd, 1);
    write.data.as_mut().expect("data").bytes = ramp;
    let units = pack(Dir::Down, config(), &[write]);
    // Header in slot 0, three chunks behind it, the last one in slot 1 of the next flit.
    let sent: Vec<u8> = [&units[0].0[18..66], &units[1].0[18..34]].concat();
    assert_eq!(sent, ramp, "chunk byte k is slot byte k");
    assert_eq!(read(Dir::Down, &units).delivered, [write]);
}

#[test]
fn cxl68_slt_09_n() {
    let write = message(Class::M2sRwd, 1);
    let mut units = pack(Dir::Down, config(), &[write]);
    let slot = units[0].0[18..34].to_vec();
    units[0].0[18..26].copy_from_slice(&slot[8..]);
    units[0].0[26..34].copy_from_slice(&slot[..8]);
    units[0] = with_crc(units[0]);
    let swapped = read(Dir::Down, &units).delivered;
    assert_eq!(swapped.len(), 1);
    assert_ne!(swapped, [write], "swapped halves of a chunk are other data");
}

#[test]
fn cxl68_slt_10_p() {
    let enables = 0x8000_0001_c000_0003;
    for (class, size) in [
        (Class::M2sRwd, Size::Line),
        (Class::D2hData, Size::Line),
        (Class::D2hData, Size::LowerHalf),
        (Class::D2hData, Size::UpperHalf),
    ] {
        let sent = sized(class, 2, size, Some(enables));
        let units = pack(class.dir(), config(), &[sent]);
        let read = read(class.dir(), &units);
        read.assert_clean();
        let (at, n) = read
            .decoded
            .iter()
            .enumerate()
            .find_map(|(at, d)| d.roles.iter().position(|r| *r == Cxl68SlotRole::ByteEnables).map(|n| (at, n)))
            .expect("a byte-enable chunk");
        assert_eq!(units[at].slot(n), u128::from(enables), "bits 63:0, in natural position, the rest 0");
        let data = read.delivered[0].data.expect("data");
        assert_eq!(data.enabled(), enables & size.bytes_mask());
        let facts = oracle(class.dir(), true, &units).expect("legal");
        assert!(same_transfer(&sent, facts.iter().flat_map(|f| &f.completed).next().expect("one transfer")));
    }
}

#[test]
fn cxl68_slt_10_n() {
    for (size, other_half) in [(Size::LowerHalf, 0xffff_ffff_0000_0000), (Size::UpperHalf, 0xffff_ffff)] {
        let sent = sized(Class::D2hData, 2, size, Some(other_half));
        let read = read(Dir::Up, &pack(Dir::Up, config(), &[sent]));
        read.assert_clean();
        assert_eq!(read.delivered[0].data.expect("data").enabled(), 0, "no byte changes");
    }
    // Bits above the enables are reserved: ignored.
    let write = sized(Class::M2sRwd, 1, Size::Line, Some(0xff));
    let mut units = pack(Dir::Down, config(), &[write]);
    let last = units.len() - 1;
    units[last].0[34 + 8..34 + 16].fill(0xee);
    units[last] = with_crc(units[last]);
    let read = read(Dir::Down, &units);
    read.assert_clean();
    assert_eq!(read.delivered, [write]);
}
