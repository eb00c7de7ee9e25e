//! Packets and checksums of another implementation, held against the library: CRC-16 of a DLLP by cocotbext-pcie, LCRC
//! and ECRC of a TLP by the CRC-32 of zlib.
//!
//! `testbenches/pcie/check.py` writes them: a few are committed, and with `SCALEPOOL_PCIE_VECTORS=FILE` in the
//! environment those of FILE are taken instead, as `make test` does with all packets of that run.

use scalepool_protocols::check::pcie::{dllp_crc, ecrc, lcrc, lcrc_nullified};
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::cxl::cxlio::framing::{Framed, frame_tlp, length_fits, unframe_tlp};
use scalepool_protocols::cxl::cxlio::non_flit_mode::TlpShape;
use std::collections::BTreeSet;
use std::env;
use std::fs;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pcie/vectors.txt");

fn hex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "found {text}, expected whole bytes");
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal")).collect()
}

/// LCRC, ECRC, length, header and frame of one TLP, prefixes excluded.
fn tlp(sequence: u16, bytes: &[u8], crc: &[u8]) {
    assert_eq!(lcrc(sequence, bytes), crc);
    assert!(length_fits(bytes), "its own length");

    let def = TlpShape::of(bytes[0]).and_then(TlpShape::def).expect("a listed type");
    let header = &bytes[..def.len_bytes()];
    assert_eq!(def.to_bytes(def.from_bytes(header).expect("a whole header")), header);

    if bytes[2] >> 7 == 1 {
        let (covered, digest) = bytes.split_at(bytes.len() - 4);
        assert_eq!(ecrc(covered), digest, "ECRC");
    }

    let (token, trailer) = frame_tlp(sequence, bytes).expect("it fits a frame");
    assert_eq!(trailer, crc);
    let framed = |crc: &[u8]| [&token, bytes, crc].concat();
    assert_eq!(unframe_tlp(&framed(crc)), Ok(Some(Framed::Good(sequence, bytes))));
    assert_eq!(unframe_tlp(&framed(&lcrc_nullified(sequence, bytes))), Ok(Some(Framed::Nullified(sequence))));
    let mut bad = framed(crc);
    bad[4 + usize::from(sequence) % bytes.len()] ^= 1 << (sequence % 8);
    assert_eq!(unframe_tlp(&bad), Ok(Some(Framed::BadLcrc(sequence))));
}

/// CRC-16 and type of one DLLP.
fn dllp(bytes: &[u8], crc: &[u8]) {
    let packet = Dllp::from_bytes(bytes).expect("4 bytes");
    assert_eq!(dllp_crc(&packet.0), crc);
    assert_eq!(packet.framed().as_slice(), [bytes, crc].concat());
    assert_eq!(Dllp::from_framed(&[bytes, crc].concat()), Ok((packet, true)));
    let mut violations = Vec::new();
    packet.check(false, &mut violations);
    assert!(violations.is_empty(), "{violations:?}");
}

#[test]
fn checksums_are_those_of_another_implementation() {
    let path = env::var("SCALEPOOL_PCIE_VECTORS").unwrap_or_else(|_| COMMITTED.to_owned());
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (mut types, mut tlps, mut dllps, mut digests) = (BTreeSet::new(), 0, 0, 0);
    for line in text.lines() {
        // A failed assertion shows only bytes; this names the packet they came from.
        println!("{line}");
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["tlp", sequence, packet, crc] => {
                let packet = hex(packet);
                tlp(sequence.parse().expect("a sequence number"), &packet, &hex(crc));
                types.insert(packet[0]);
                tlps += 1;
                digests += u32::from(packet[2] >> 7);
            }
            ["dllp", packet, crc] => {
                dllp(&hex(packet), &hex(crc));
                dllps += 1;
            }
            _ => panic!("found `{line}`, expected `tlp SEQUENCE HEX LCRC` or `dllp HEX CRC`"),
        }
    }
    eprintln!("LCRC of {tlps} TLPs, {digests} with ECRC, CRC-16 of {dllps} DLLPs");
    // Types of TLP in `cxl-io` §1.2 besides prefixes and deferrable writes, which the client does not have.
    assert_eq!(types.len(), 34);
    assert!(tlps >= 150 && dllps >= 150, "found {tlps} TLPs and {dllps} DLLPs, expected 150 of each or more");
}
