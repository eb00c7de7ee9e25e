//! CXL 256-byte flits: what every byte is, written as byte ranges (sheet cxl-256b §1.1, §1.2, §1.5).
//!
//! Modelled: the cachemem map and the CXL.io map of the standard and of the latency-optimised flit. A PBR link uses the
//! standard maps. Left out: the bits inside the parts.

use std::ops::RangeInclusive;

/// A part of a flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Flit header.
    Header,
    /// Slot 0..=14.
    Slot(u8),
    /// Credit return.
    Crd,
    /// Transaction layer packets.
    Tlp,
    /// Data link layer packet.
    Dllp,
    /// The 8-byte CRC.
    Crc,
    /// The 6-byte CRC of the even half.
    EvenCrc,
    /// The 6-byte CRC of the odd half.
    OddCrc,
    /// Correction bytes.
    Fec,
}

/// Flit bytes, the part they belong to and the part's byte that the first of them is.
pub type Row = (RangeInclusive<usize>, Part, usize);

/// What each flit byte is: the part and the byte of that part. Panics when the rows do not cover the flit once.
pub fn map(rows: &[Row]) -> [(Part, usize); 256] {
    let mut bytes = [None; 256];
    for (range, part, first) in rows {
        for byte in range.clone() {
            let before = bytes[byte].replace((*part, first + byte - range.start()));
            assert_eq!(before, None, "byte {byte} is covered twice");
        }
    }
    std::array::from_fn(|byte| bytes[byte].unwrap_or_else(|| panic!("byte {byte} is not covered")))
}

/// §1.1.
pub fn standard_cachemem() -> Vec<Row> {
    let mut rows = vec![(0..=1, Part::Header, 0), (2..=15, Part::Slot(0), 0)];
    rows.extend((1..=14).map(|n: u8| (16 * usize::from(n)..=16 * usize::from(n) + 15, Part::Slot(n), 0)));
    rows.extend([(240..=241, Part::Crd, 0), (242..=249, Part::Crc, 0), (250..=255, Part::Fec, 0)]);
    rows
}

/// §1.2.
pub fn standard_io() -> Vec<Row> {
    vec![
        (0..=1, Part::Header, 0),
        (2..=237, Part::Tlp, 0),
        (238..=241, Part::Dllp, 0),
        (242..=249, Part::Crc, 0),
        (250..=255, Part::Fec, 0),
    ]
}

/// §1.5.
#[rustfmt::skip] // one row a line, as in the sheet
pub fn latency_optimised_cachemem() -> Vec<Row> {
    vec![
        (0..=1, Part::Header, 0),
        (2..=15, Part::Slot(0), 0),
        (16..=31, Part::Slot(1), 0), (32..=47, Part::Slot(2), 0), (48..=63, Part::Slot(3), 0),
        (64..=79, Part::Slot(4), 0), (80..=95, Part::Slot(5), 0), (96..=111, Part::Slot(6), 0),
        (112..=121, Part::Slot(7), 0),
        (122..=127, Part::EvenCrc, 0),
        (128..=137, Part::Slot(8), 0),
        (138..=143, Part::Slot(7), 10),
        (144..=159, Part::Slot(9), 0), (160..=175, Part::Slot(10), 0), (176..=191, Part::Slot(11), 0),
        (192..=207, Part::Slot(12), 0), (208..=223, Part::Slot(13), 0), (224..=239, Part::Slot(14), 0),
        (240..=241, Part::Crd, 0),
        (242..=243, Part::Slot(8), 10),
        (244..=249, Part::Fec, 0),
        (250..=255, Part::OddCrc, 0),
    ]
}

/// §1.5, last lines: TLP bytes 0-119 and 120-231, DLLP at 240-243, checks as in the cachemem flit.
pub fn latency_optimised_io() -> Vec<Row> {
    vec![
        (0..=1, Part::Header, 0),
        (2..=121, Part::Tlp, 0),
        (122..=127, Part::EvenCrc, 0),
        (128..=239, Part::Tlp, 120),
        (240..=243, Part::Dllp, 0),
        (244..=249, Part::Fec, 0),
        (250..=255, Part::OddCrc, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: &[Row], part: Part) -> usize {
        map(rows).iter().filter(|(p, _)| *p == part).count()
    }

    /// Every byte is covered once, and no byte of a part appears twice.
    #[test]
    fn the_maps_are_bijections() {
        for rows in [standard_cachemem(), standard_io(), latency_optimised_cachemem(), latency_optimised_io()] {
            let mut bytes = map(&rows).to_vec();
            bytes.sort_unstable();
            bytes.dedup();
            assert_eq!(bytes.len(), 256);
            for (part, index) in bytes {
                assert!(index < size(&rows, part), "{part:?} has a gap below its byte {index}");
            }
        }
    }

    #[test]
    fn sizes_are_those_of_the_sheet() {
        let slots = |rows: &[Row]| (0..15).map(|n| size(rows, Part::Slot(n))).collect::<Vec<_>>();
        assert_eq!(slots(&standard_cachemem()), [14, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16]);
        assert_eq!(slots(&latency_optimised_cachemem()), [14, 16, 16, 16, 16, 16, 16, 16, 12, 16, 16, 16, 16, 16, 16]);
        assert_eq!((size(&standard_io(), Part::Tlp), size(&latency_optimised_io(), Part::Tlp)), (236, 232));
    }
}
