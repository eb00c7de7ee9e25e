//! The slot formats of every slot of every mode, and the rule of zero extension.

use super::common::{all_slots, ones, patterns};
use bitvec::prelude::*;
use scalepool_oracle::cxl256_slots::{self as oracle, Kind, SlotOracle, Space};
use scalepool_protocols::cxl::cxl256::Routing;
use scalepool_protocols::cxl::cxl256::check::zero_extension;
use scalepool_protocols::cxl::cxl256::mode::Mode;
use scalepool_protocols::cxl::cxl256::slot::{self, Cxl256SlotPlace, SlotFormat, SlotKind};
use std::collections::BTreeSet;

/// The row of the oracle for a slot of a flit: the sheet's kinds, without asking the model (§1.1, §1.5).
fn theirs(mode: Mode, n: usize, code: u8) -> (Kind, Option<&'static SlotOracle>) {
    let kind = match (mode, n) {
        (_, 0) => Kind::H,
        (Mode::LatencyOptimised, 8) => Kind::Hs,
        _ => Kind::G,
    };
    let space = if mode == Mode::Pbr { Space::Pbr } else { Space::Hbr };
    (kind, oracle::slot(space, kind, code))
}

/// Every format with messages in both spellings.
fn pairs() -> Vec<(&'static SlotFormat, &'static SlotOracle)> {
    let of = |format: &SlotFormat| {
        let space = if format.routing == Routing::Pbr { Space::Pbr } else { Space::Hbr };
        let kind = match format.kind {
            SlotKind::G => Kind::G,
            SlotKind::H => Kind::H,
            SlotKind::Hs => Kind::Hs,
        };
        oracle::slot(space, kind, format.code)
    };
    let pairs: Vec<_> = slot::all_formats().filter_map(|format| Some((format, of(format)?))).collect();
    assert_eq!(pairs.len(), oracle::slots().len());
    pairs
}

fn bits_of(value: u128, width: u32) -> BitVec<u8, Lsb0> {
    value.to_le_bytes().view_bits::<Lsb0>()[..width as usize].to_bitvec()
}

/// The model's slot with one message, as bytes.
fn placed(format: &SlotFormat, place: &Cxl256SlotPlace, message: u128) -> Vec<u8> {
    let slot = place.insert(u128::from(format.code), message);
    assert_eq!(slot & !format.kind.mask(), 0, "{} leaves its slot", format.name);
    slot.to_le_bytes()[..format.kind.bytes()].to_vec()
}

#[test]
fn every_code_of_every_slot() {
    for (mode, n) in all_slots() {
        for code in 0..16 {
            let (kind, expected) = theirs(mode, n, code);
            let found = slot::format(mode, n, code);
            let control = code == oracle::CONTROL && kind != Kind::G;
            let case = format!("{mode:?} slot {n} code {code}");
            assert_eq!(found.is_some(), expected.is_some() || control, "{case}");
            let Some(found) = found else { continue };
            let names: Vec<_> = found.classes.iter().map(|c| c.def(found.routing).name).collect();
            assert_eq!(names, expected.map_or(&[][..], |e| e.messages), "{case}");
            assert_eq!((found.is_control(), found.has_data()), (control, code >= 12), "{case}");
            assert_eq!(found.kind.bytes(), kind.bytes(), "{case}");
            assert_eq!(found.name.trim_end_matches(char::is_numeric), format!("{kind:?}").to_uppercase(), "{case}");
        }
    }
}

/// Every pattern at every place: the bytes of the slot, the message that comes back, the neighbours.
#[test]
fn every_bit_of_every_place() {
    for (format, theirs) in pairs() {
        let mut used = 0xf;
        assert_eq!(format.places().count(), theirs.messages.len(), "{}", format.name);
        for (k, place) in format.places().enumerate() {
            let width = place.class.def(format.routing).bits;
            let range = theirs.places()[k].clone();
            assert_eq!((place.lsb as usize, place.kept as usize), (range.start, range.len()), "{theirs:?} place {k}");
            used |= place.bits();
            for message in patterns(width) {
                let case = format!("{theirs:?} place {k} {message:#x}");
                let Some(expected) = theirs.place(k, &bits_of(message, width)) else {
                    assert!(!place.fits(message), "{case}");
                    continue;
                };
                assert!(place.fits(message), "{case}");
                assert_eq!(placed(format, &place, message), expected, "{case}");
                let mut slot = [0; 16];
                slot[..expected.len()].copy_from_slice(&expected);
                assert_eq!(place.extract(u128::from_le_bytes(slot)), message, "{case}");
                assert_eq!(theirs.extract(&expected, k), bits_of(message, width), "{case}");
                assert_eq!(place.is_valid(u128::from_le_bytes(slot)), message & 1 == 1, "{case}");
                // Over a full slot: the neighbours stay.
                let over = place.insert(u128::MAX, message);
                assert_eq!(over | place.bits(), u128::MAX, "{case}");
                assert_eq!(place.extract(over), message, "{case}");
            }
            // A full slot: what is cut off reads as 0 in both.
            let full = vec![0xff; format.kind.bytes()];
            assert_eq!(bits_of(place.extract(u128::MAX), width), theirs.extract(&full, k), "{theirs:?} place {k}");
        }
        assert_eq!(used.count_ones() as usize, 4 + theirs.used_bits, "{theirs:?}");
        assert_eq!(format.reserved_bits(), format.kind.mask() & !used, "{theirs:?}");
    }
}

/// §2.3: each dropped bit is refused alone, each kept bit is taken, and nothing else than the four formats drops bits.
#[test]
fn zero_extension_on_both_sides_of_the_rule() {
    let mut cut = BTreeSet::new();
    for (format, theirs) in pairs() {
        for (k, place) in format.places().enumerate() {
            let width = place.class.def(format.routing).bits;
            let mut both = |message: u128| {
                let kept = theirs.place(k, &bits_of(message, width)).is_some();
                let judged = zero_extension(&place, format, message);
                assert_eq!(judged.is_ok(), kept, "{theirs:?} {message:#x}");
                if let Err(violation) = judged {
                    let rule = if theirs.space == Space::Pbr { "CXLPBR-SLT-02" } else { "CXL256-SLT-05" };
                    assert_eq!(violation.rule, rule, "{theirs:?} {message:#x}");
                    cut.insert((format!("{:?}", theirs.space), format.name, place.kept, width));
                }
            };
            for bit in 0..width {
                both(1 << bit);
                both(1 << bit | 1);
            }
            both(ones(place.kept));
            both(ones(width));
            both(ones(width) & !ones(place.kept));
        }
    }
    let found: Vec<_> = cut.iter().map(|(space, name, kept, width)| (space.as_str(), *name, *kept, *width)).collect();
    assert_eq!(
        found,
        [("Hbr", "HS14", 92, 104), ("Hbr", "HS4", 92, 100), ("Pbr", "H14", 108, 124), ("Pbr", "H4", 108, 120)]
    );
}
