//! CXL68-CRC: the checksum against its definition, a crate by other people, the oracle and the columns of the sheet.

use super::common::*;
use crc::{Algorithm, Crc};
use proptest::prelude::*;
use scalepool_oracle::cxl68_crc;
use scalepool_protocols::check::crc16::{cxl68, cxl68_bitwise, cxl68_simd, cxl68_table};
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid::{self, PIDS};
use scalepool_protocols::cxl::cxl68::stream::Cxl68UnitKind;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::At;

/// `cxl-68b` §1.6 in the terms of the `crc` crate; its input is bytes 63 to 0, highest bit first.
const ALGORITHM: Algorithm<u16> =
    Algorithm { width: 16, poly: 0xf053, init: 0, refin: false, refout: false, xorout: 0, check: 0x3b99, residue: 0 };

fn by_crate(payload: &[u8; 64]) -> u16 {
    let mut reversed = *payload;
    reversed.reverse();
    Crc::<u16>::new(&ALGORITHM).checksum(&reversed)
}

fn only(bit: usize) -> [u8; 64] {
    let mut payload = [0; 64];
    payload[bit / 8] = 1 << (bit % 8);
    payload
}

/// x^n mod P by schoolbook division of a 17-bit polynomial.
fn x_power(n: usize) -> u16 {
    (0..n).fold(1u32, |value, _| {
        let next = value << 1;
        if next & 0x1_0000 != 0 { next ^ 0x1_f053 } else { next }
    }) as u16
}

/// The 16 masks of 512 bits that the publications print; bit i of mask b is bit b of the column of flit bit i.
fn masks() -> [[u8; 64]; 16] {
    let mut masks = [[0; 64]; 16];
    for bit in 0..512 {
        let column = x_power(16 + bit);
        for (b, mask) in masks.iter_mut().enumerate() {
            mask[bit / 8] |= ((column >> b & 1) as u8) << (bit % 8);
        }
    }
    masks
}

fn by_masks(masks: &[[u8; 64]; 16], payload: &[u8; 64]) -> u16 {
    let parity = |mask: &[u8; 64]| mask.iter().zip(payload).map(|(m, p)| (m & p).count_ones()).sum::<u32>() & 1;
    (0..16).fold(0, |crc, b| crc | (parity(&masks[b]) as u16) << b)
}

/// All ways to the same number.
#[track_caller]
fn agree(masks: &[[u8; 64]; 16], payload: &[u8; 64]) {
    let want = cxl68_bitwise(payload);
    assert_eq!(cxl68_table(payload), want, "table {payload:02x?}");
    assert_eq!(cxl68(payload), want, "fastest path {payload:02x?}");
    assert_eq!(cxl68_simd(payload).unwrap_or(want), want, "carry-less path {payload:02x?}");
    assert_eq!(cxl68_crc::lfsr(payload), want, "oracle, division {payload:02x?}");
    assert_eq!(cxl68_crc::columns(payload), want, "oracle, columns {payload:02x?}");
    assert_eq!(by_crate(payload), want, "crate {payload:02x?}");
    assert_eq!(by_masks(masks, payload), want, "masks {payload:02x?}");
}

#[test]
fn cxl68_crc_01_p() {
    // The table of `cxl-68b` §1.6.
    let answers = [
        ([0; 64], 0x0000, [0x00, 0x00]),
        (only(0), 0xf053, [0x53, 0xf0]),
        (only(1), 0x10f5, [0xf5, 0x10]),
        (only(8), 0x3954, [0x54, 0x39]),
        (only(127), 0x16b2, [0xb2, 0x16]),
        (only(128), 0x2d64, [0x64, 0x2d]),
        (only(511), 0xc47d, [0x7d, 0xc4]),
        ([0xff; 64], 0x7856, [0x56, 0x78]),
        (std::array::from_fn(|k| k as u8), 0xabf7, [0xf7, 0xab]),
    ];
    for (payload, crc, tail) in answers {
        assert_eq!(cxl68(&payload), crc);
        let unit = Cxl68Unit::cachemem(pid::CACHEMEM, &payload);
        assert_eq!(unit.0[66..], tail);
        assert!(unit.crc_ok());
        assert!(!judge(Dir::Down, unit).rules().contains(&"CXL68-CRC-01"));
    }
    assert_eq!(Crc::<u16>::new(&ALGORITHM).checksum(b"123456789"), 0x3b99);
}

/// Flits of each kind, each with what must stand before it.
fn flits() -> Vec<Vec<Cxl68Unit>> {
    use scalepool_protocols::cxl::cxl68::control::Control;
    let read = Flit::new(Dir::Down).with(0, "H5", &[(0, legal(Class::M2sReq, 9))]).unit();
    let write = Flit::new(Dir::Down).sized(true, false).with(3, "G5", &[(0, legal(Class::M2sRwd, 1))]).unit();
    let data = all_data([0x0123, 1 << 127, 0, u128::MAX]);
    vec![vec![read], vec![write, data], vec![control(&Control::by_name("INIT.Param").expect("listed"))]]
}

#[test]
fn cxl68_crc_01_n() {
    for units in flits() {
        let (last, before) = units.split_last().expect("one unit at least");
        for bit in 0..528 {
            let mut bad = *last;
            bad.0[2 + bit / 8] ^= 1 << (bit % 8);
            let read = read(Dir::Down, &[before, &[bad]].concat());
            assert_eq!(read.rules(), ["CXL68-CRC-01"], "flit bit {bit}");
            assert_eq!(read.violations()[0].at, At::Byte(66));
            let decoded = read.decoded.last().expect("read");
            assert!(!decoded.is_good());
            assert_eq!(decoded.rollover_after, decoded.rollover_before, "a bad flit changes nothing");
            assert!(read.delivered.is_empty());
        }
    }
}

#[test]
fn cxl68_crc_02_p() {
    let masks = masks();
    // First and last words of two masks as the sheet prints them, bit 511 at the left.
    let words = |mask: &[u8; 64]| {
        let mut printed = *mask;
        printed.reverse();
        (printed[..8].to_vec(), printed[60..].to_vec())
    };
    assert_eq!(words(&masks[15]), (vec![0xef, 0x9c, 0xd9, 0xf9, 0xc4, 0xbb, 0xb8, 0x3a], vec![0x74, 0x6b, 0x24, 0x31]));
    assert_eq!(words(&masks[0]), (vec![0xdf, 0x39, 0xb3, 0xf3, 0x89, 0x77, 0x70, 0x74], vec![0xe8, 0xd6, 0x48, 0x63]));
    for bit in 0..512 {
        let payload = only(bit);
        assert_eq!(cxl68(&payload), x_power(16 + bit), "flit bit {bit} is x^{}", 16 + bit);
        agree(&masks, &payload);
        let mut zero = [0xff; 64];
        zero[bit / 8] ^= 1 << (bit % 8);
        agree(&masks, &zero);
    }
    agree(&masks, &[0; 64]);
    agree(&masks, &[0xff; 64]);
}

proptest! {
    #![proptest_config(random_cases(256, "tests/cxl68/crc.regressions"))]

    #[test]
    fn cxl68_crc_02_p2(payload in prop::array::uniform32(any::<[u8; 2]>())) {
        let mut bytes = [0; 64];
        bytes.chunks_mut(2).zip(payload).for_each(|(to, from)| to.copy_from_slice(&from));
        agree(&masks(), &bytes);
    }
}

#[test]
fn cxl68_crc_02_n() {
    for unit in flits().into_iter().flatten() {
        let mut bad = unit;
        bad.set_tail(unit.tail().reverse_bits());
        assert_ne!(bad, unit, "the CRC of the test must not read the same both ways");
        assert!(!bad.crc_ok());
        let mut swapped = unit;
        swapped.set_tail(unit.tail().swap_bytes());
        assert_ne!(swapped, unit);
        assert!(!swapped.crc_ok(), "byte 64 of the flit is the low half");
        let mut first_bit_first = unit;
        let natural = Crc::<u16>::new(&ALGORITHM).checksum(unit.payload());
        first_bit_first.set_tail(natural);
        assert!(!first_bit_first.crc_ok(), "bit 511 goes in first");
    }
}

#[test]
fn cxl68_crc_03_p() {
    let payload = line(77);
    let tails: Vec<u16> = PIDS.iter().map(|p| Cxl68Unit::cachemem(p.id(), &payload).tail()).collect();
    assert_eq!(tails, [cxl68_bitwise(&payload); 8]);
    for id in [0, 0x5587, 0xffff, 0x1234] {
        assert!(Cxl68Unit::cachemem(id, &payload).crc_ok());
    }
}

#[test]
fn cxl68_crc_03_n() {
    let unit = flits()[0][0];
    for bit in 0..16 {
        let mut bad = unit;
        bad.0[bit / 8] ^= 1 << (bit % 8);
        let read = judge(Dir::Down, bad);
        assert_eq!(read.rules(), ["CXL68-PID-02"], "ID bit {bit}: an ID event and no CRC event");
        assert_eq!(read.decoded[0].crc_ok, Some(true));
        assert!(matches!(read.decoded[0].kind, Cxl68UnitKind::Protocol(_)));
    }
    // Both bytes spoiled the same way: no ID at all, and still no CRC event.
    for bit in 0..8 {
        let mut bad = unit;
        bad.0[0] ^= 1 << bit;
        bad.0[1] ^= 1 << bit;
        assert_eq!(judge(Dir::Down, bad).rules(), ["CXL68-PID-03"]);
    }
}
