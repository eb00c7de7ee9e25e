//! Segment tables, without messages (`fabric` §3.3).

use scalepool::fabric::cxl_switch::pbr::{AccessVector, PbrPid, SegmentError, SegmentTable};

const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const PIB: u64 = 1 << 50;

fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).expect("it is none that is reserved")
}

fn pids(numbers: std::ops::Range<u16>) -> Vec<PbrPid> {
    numbers.map(pid).collect()
}

/// An access vector with all PIDs.
fn all() -> AccessVector {
    let mut access = AccessVector::default();
    (0..0xfff).for_each(|number| access.set(pid(number), true));
    access
}

/// The table of the worked example: entries of 512 GiB from 1 PiB to 3 PiB.
fn example() -> SegmentTable {
    SegmentTable::new(PIB, 3 * PIB, 3, 4096).expect("registers can say it")
}

const POINTS: [(u64, Option<usize>); 9] = [
    (PIB, Some(2048)),
    (PIB + 512 * GIB - 1, Some(2048)),
    (PIB + 512 * GIB, Some(2049)),
    (2 * PIB - 1, Some(4095)),
    (2 * PIB, Some(0)),
    (2 * PIB + 5 * TIB, Some(10)),
    (3 * PIB - 1, Some(2047)),
    (3 * PIB, None),
    (PIB - 1, None),
];

/// The entry is the number of the segment modulo the depth, for every size of segments.
#[test]
fn fab_edg_01_p() {
    for code in 0..=7u8 {
        let segment = (64 * GIB) << code;
        let table = SegmentTable::new(4 * segment, 20 * segment, code, 8).expect("registers can say it");
        for n in 0..24u64 {
            let expected = (4..20).contains(&n).then_some((n % 8) as usize);
            for address in [n * segment, (n + 1) * segment - 1] {
                assert_eq!(table.index(address), expected, "code {code}, segment {n}");
            }
        }
    }
}

#[test]
fn fab_edg_01_n() {
    for found in [0, 3, 3000, 4095] {
        assert_eq!(SegmentTable::new(0, PIB, 0, found), Err(SegmentError::Depth { found }));
    }
    assert_eq!(SegmentTable::new(0, PIB, 8, 16), Err(SegmentError::Size { found: 8 }));
    for (base, limit) in [(GIB, 128 * GIB), (0, 65 * GIB), (128 * GIB, 64 * GIB)] {
        let refused = SegmentTable::new(base, limit, 0, 16);
        assert_eq!(refused, Err(SegmentError::Range { base, limit, segment: 64 * GIB }));
    }
}

/// One DPID for a segment, or one for each way; an invalid entry is no hit.
#[test]
fn fab_edg_02_p() {
    let mut table = example();
    table.set(2048, 256, &[pid(7)], &all()).expect("it is legal");
    for (code, entry) in (1..=8u32).zip(2049..) {
        let granularity = 256 << (code % 7);
        table.set(entry, granularity, &pids(100..100 + (1 << code)), &all()).expect("it is legal");
        let base = PIB + (entry as u64 - 2048) * 512 * GIB;
        for chunk in [0, 1, 2, (1 << code) - 1, 1 << code, 12_345u64] {
            for offset in [0, granularity - 1] {
                let expected = pid(100 + (chunk % (1 << code)) as u16);
                assert_eq!(table.dpid(base + chunk * granularity + offset), Some(expected), "{code}: {chunk}");
            }
        }
    }
    assert_eq!([PIB, PIB + 511 * GIB].map(|address| table.dpid(address)), [Some(pid(7)); 2]);
    assert_eq!([2 * PIB, 3 * PIB, 0].map(|address| table.dpid(address)), [None; 3], "invalid, or out of range");
}

/// A DPID from the offset in the segment would be another one where segments are no multiple of ways times granularity; an
/// entry taken as valid would lead somewhere.
#[test]
fn fab_edg_02_n() {
    let mut table = example();
    table.set(2049, 1024, &pids(1..5), &all()).expect("it is legal");
    let base = PIB + 512 * GIB;
    let wrong = |address: u64| pid(1 + (address / 1024 + 1) as u16 % 4);
    assert!((0..4).all(|chunk| table.dpid(base + chunk * 1024) != Some(wrong(base + chunk * 1024))));
    assert_eq!(table.dpid(PIB), None);
}

#[test]
fn fab_edg_03_p() {
    let mut table = SegmentTable::new(0, 64 * GIB, 0, 1).expect("the smallest");
    for ways in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        table.set(0, 256, &pids(0..ways), &all()).expect("a power of two");
        assert_eq!(table.dpid(64 * GIB - 1), Some(pid(ways - 1)));
    }
}

#[test]
fn fab_edg_03_n() {
    let mut table = SegmentTable::new(0, 64 * GIB, 0, 1).expect("the smallest");
    let before = table.clone();
    for ways in [0, 3, 6, 12, 512] {
        let refused = table.set(0, 256, &pids(0..ways), &all());
        assert_eq!(refused, Err(SegmentError::Ways { found: ways.into() }));
    }
    for found in [0, 128, 300, 32_768] {
        assert_eq!(table.set(0, found, &[pid(1)], &all()), Err(SegmentError::Granularity { found }));
    }
    assert_eq!(table.set(1, 256, &[pid(1)], &all()), Err(SegmentError::Entry { found: 1, last: 0 }));
    assert_eq!(table, before);
    let small = SegmentTable::new(0, 32 * GIB, 0, 1);
    assert!(matches!(small, Err(SegmentError::Range { .. })), "half a segment");
}

/// The worked example of the sheet.
#[test]
fn fab_edg_04_p() {
    let mut table = example();
    for (address, expected) in POINTS {
        assert_eq!(table.index(address), expected, "{address:#x}");
    }
    // Eight DPIDs in front, so that those of the entry begin at place 8 of the IDT.
    for entry in [1, 2] {
        table.set(entry, 256, &pids(50..54), &all()).expect("it is legal");
    }
    table.set(2048, 1024, &pids(8..12), &all()).expect("it is legal");
    assert_eq!([0xc34, 0x1000].map(|offset| table.dpid(PIB + offset)), [Some(pid(11)), Some(pid(8))]);
}

/// With the limit taken as part of the range, a point would differ.
#[test]
fn fab_edg_04_n() {
    let inclusive =
        |address: u64| (PIB..=3 * PIB).contains(&address).then_some((address / (512 * GIB) % 4096) as usize);
    let wrong = POINTS.iter().filter(|(address, expected)| inclusive(*address) != *expected).count();
    assert_eq!(wrong, 1);
}

#[test]
fn fab_edg_06_p() {
    let mut access = AccessVector::default();
    for number in [0, 63, 64, 0xffe] {
        access.set(pid(number), true);
    }
    assert_eq!((0..0xfff).filter(|number| access.has(pid(*number))).collect::<Vec<_>>(), [0, 63, 64, 0xffe]);
    let mut table = example();
    table.set(5, 256, &[pid(63), pid(0xffe)], &access).expect("both are enabled");
    access.set(pid(63), false);
    assert!(!access.has(pid(63)) && access.has(pid(64)));
}

/// Any PID of an entry that is not enabled: nothing is written.
#[test]
fn fab_edg_06_n() {
    let mut access = all();
    access.set(pid(9), false);
    let mut table = example();
    table.set(5, 256, &[pid(1)], &access).expect("it is enabled");
    let before = table.clone();
    for dpids in [vec![pid(9)], vec![pid(1), pid(9)], pids(8..12)] {
        assert_eq!(table.set(5, 256, &dpids, &access), Err(SegmentError::Access { found: 9 }));
        assert_eq!(table, before);
    }
}
