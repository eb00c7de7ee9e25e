//! CRC-16 of 64 payload bytes: ours three ways, beside the `crc` crate with its largest table.
//!
//! The crate wants the bytes in the order in which they are divided, byte 63 first. Here it gets them turned round
//! beforehand; a flit codec that used it would have to turn them, see `flits`.

use std::hint::black_box;

use crc::{Algorithm, Crc, Table as CrcTable};
use scalepool_protocols::check::crc16;

use super::Effort;
use super::race::{Numbers, Variant, race};
use super::table::{Row, Table};

/// `cxl-68b` §1.6. The check value is that of the string 123456789, the residue that of every sound word.
const CXL68: Algorithm<u16> =
    Algorithm { width: 16, poly: 0xf053, init: 0, refin: false, refout: false, xorout: 0, check: 0x3b99, residue: 0 };

/// The crate's fastest: 16 tables, 16 bytes a step.
pub static CRATE: Crc<u16, CrcTable<16>> = Crc::<u16, CrcTable<16>>::new(&CXL68);

/// Payloads a call: 16 KiB, half of a first-level cache.
const PAYLOADS: usize = 256;

/// Adds the rows of the CRC.
pub fn measure(effort: Effort, table: &mut Table) {
    let mut numbers = Numbers(16);
    let payloads: Vec<[u8; 64]> =
        (0..PAYLOADS).map(|_| std::array::from_fn(|_| (numbers.next() & 0xff) as u8)).collect();
    let mut turned = payloads.clone();
    turned.iter_mut().for_each(|payload| payload.reverse());
    for (payload, turned) in payloads.iter().zip(&turned) {
        let expected = CRATE.checksum(turned);
        assert_eq!(crc16::cxl68_bitwise(payload), expected);
        assert_eq!(crc16::cxl68_table(payload), expected);
        assert_eq!(crc16::cxl68(payload), expected);
    }
    let mut copy = payloads.clone();

    let every = |crc: fn(&[u8; 64]) -> u16, payloads: &[[u8; 64]]| {
        black_box(payloads).iter().for_each(|payload| {
            black_box(crc(payload));
        });
    };
    let variants: [Variant; 5] = [
        Box::new(|| every(crc16::cxl68_bitwise, &payloads)),
        Box::new(|| every(crc16::cxl68_table, &payloads)),
        Box::new(|| every(crc16::cxl68, &payloads)),
        Box::new(|| every(|payload| CRATE.checksum(payload), &turned)),
        Box::new(|| black_box(&mut copy).copy_from_slice(black_box(&payloads))),
    ];
    let [bitwise, by_table, best, of_crate, memcpy] = race(effort, PAYLOADS, variants);
    let best_way = if crc16::cxl68_simd(&payloads[0]).is_some() { "crc16 SIMD" } else { "crc16 best (no SIMD here)" };
    for (what, ours, aim) in
        [("crc16 bitwise", bitwise, None), ("crc16 table", by_table, None), (best_way, best, Some(2.0))]
    {
        let peer = Some(("crc crate, Table<16>", of_crate));
        table.row(Row { what: what.into(), unit: "M payload/s", ours, peer, aim, memcpy: Some(memcpy) });
    }
}
