//! The byte maps: every flit byte belongs to one part in both spellings.

use super::common::Bytes;
use scalepool_oracle::cxl256_flit::{self as oracle, Part};
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{self, Cxl256Flit};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::mode::Mode;
use scalepool_protocols::wire::Wire;
use std::ops::Range;

fn cachemem(mode: Mode) -> [(Part, usize); 256] {
    oracle::map(&match mode {
        Mode::LatencyOptimised => oracle::latency_optimised_cachemem(),
        Mode::Standard | Mode::Pbr => oracle::standard_cachemem(),
    })
}

fn io(mode: Mode) -> [(Part, usize); 256] {
    oracle::map(&match mode {
        Mode::LatencyOptimised => oracle::latency_optimised_io(),
        Mode::Standard | Mode::Pbr => oracle::standard_io(),
    })
}

/// The flit bytes of a part, from its byte 0 upward.
fn bytes_of(map: &[(Part, usize); 256], part: Part) -> Vec<usize> {
    let mut found: Vec<_> = (0..256).filter(|at| map[*at].0 == part).collect();
    found.sort_by_key(|at| map[*at].1);
    found
}

/// CRC and FEC of the model as parts of the oracle.
fn checks(mode: Mode) -> Vec<(Part, Range<usize>)> {
    let parts = flit::crc_parts(mode).iter().map(|crc| {
        let part = match crc.half {
            "even" => Part::EvenCrc,
            "odd" => Part::OddCrc,
            _ => Part::Crc,
        };
        (part, crc.bytes.clone())
    });
    parts.chain([(Part::Fec, flit::fec_bytes(mode))]).collect()
}

/// Every byte of a part is written from the right byte of its content, and nothing else is; it reads back from there.
#[test]
fn cachemem_maps() {
    for mode in Mode::ALL {
        let map = cachemem(mode);
        let mut covered = 0;
        for n in 0..15 {
            let places = bytes_of(&map, Part::Slot(n as u8));
            covered += places.len();
            assert_eq!(mode.slot_kind(n).bytes(), places.len(), "{mode:?} slot {n}");
            for (k, &at) in places.iter().enumerate() {
                assert_eq!(flit::slot_byte(mode, n, k), at, "{mode:?} slot {n} byte {k}");
                let mut expected = Cxl256Flit::ZERO;
                expected.0[at] = 0xA5;
                let mut found = Cxl256Flit::ZERO;
                found.set_slot(mode, n, 0xA5 << (8 * k));
                assert_eq!(found, expected, "{mode:?} slot {n} byte {k}");
                assert_eq!(expected.slot(mode, n), 0xA5 << (8 * k), "{mode:?} slot {n} byte {k}");
            }
        }
        for (part, range) in checks(mode) {
            assert!(bytes_of(&map, part).into_iter().eq(range.clone()), "{mode:?} {part:?} at {range:?}");
            covered += range.len();
        }
        assert_eq!(covered + 2 + 2, 256, "{mode:?}: the rest is header and credits");
    }
}

/// Header (§1.3, bits 15:8 in byte 0) and credits (§1.6, little endian): each bit alone.
#[test]
fn header_and_credits() {
    for mode in Mode::ALL {
        let map = cachemem(mode);
        let (header, crd) = (bytes_of(&map, Part::Header), bytes_of(&map, Part::Crd));
        for bit in 0..16 {
            let mut expected = Cxl256Flit::ZERO;
            expected.0[header[1 - bit / 8]] = 1 << (bit % 8);
            let mut found = Cxl256Flit::ZERO;
            found.set_header(&FlitHeader::from_bits(1 << bit)).unwrap();
            assert_eq!(found, expected, "{mode:?} header bit {bit}");
            assert_eq!(expected.header().to_bits(), Ok(1 << bit));

            let mut expected = Cxl256Flit::ZERO;
            expected.0[crd[bit / 8]] = 1 << (bit % 8);
            let mut found = Cxl256Flit::ZERO;
            found.set_crd(&Crd::from_bits(1 << bit)).unwrap();
            assert_eq!(found, expected, "{mode:?} credit bit {bit}");
            assert_eq!(expected.crd().to_bits(), Ok(1 << bit));
        }
    }
}

/// CXL.io: TLP bytes and then the DLLP are the body of the model.
#[test]
fn io_maps() {
    for mode in Mode::ALL {
        let map = io(mode);
        let body = [bytes_of(&map, Part::Tlp), bytes_of(&map, Part::Dllp)].concat();
        assert_eq!(flit::body_bytes(mode), body.len(), "{mode:?}");
        assert!((0..body.len()).map(|k| flit::body_byte(mode, k)).eq(body.iter().copied()), "{mode:?}");
        for (part, range) in checks(mode) {
            assert!(bytes_of(&map, part).into_iter().eq(range.clone()), "{mode:?} {part:?} at {range:?}");
        }
        assert_eq!(bytes_of(&map, Part::Dllp).len(), flit::DLLP_BYTES);

        let content: [u8; 256] = Bytes(1).array();
        let mut found = Cxl256Flit::ZERO;
        found.set_body(mode, content[..body.len()].iter().copied());
        let mut expected = Cxl256Flit::ZERO;
        body.iter().zip(content).for_each(|(&at, byte)| expected.0[at] = byte);
        assert_eq!(found, expected, "{mode:?}");
        assert!(expected.body(mode).eq(content[..body.len()].iter().copied()), "{mode:?}");
    }
}
