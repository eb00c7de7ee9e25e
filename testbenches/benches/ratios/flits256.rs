//! Whole flits of 256 bytes: slots to a flit with CRC and FEC, and a clean flit judged and cut into slots.
//!
//! The slots hold random bits: what they mean costs nothing here. The peer computes CRC and FEC byte by byte, as they are
//! defined, and does all else the same way. `AVX2` rows are what a CPU without GFNI does, beside one that has the tables alone.

use std::hint::black_box;

use scalepool_protocols::check::{Simd, crc256, fec256};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, SLOTS, crc_parts, fec_bytes};

use super::Effort;
use super::race::{Numbers, Variant, limited, race};
use super::table::{Row, Table};

/// Flits a call: 16 KiB.
const FLITS: usize = 64;
/// Million flits a second that encoding and decoding want to reach, CRC and FEC included.
const AIM: f64 = 10.0;

type Slots = [u128; SLOTS];

fn part<const N: usize>(flit: &Cxl256Flit, at: usize) -> &[u8; N] {
    flit.0[at..].first_chunk().expect("inside the flit")
}

/// The CRCs in order of their bytes, by definition.
fn crcs_bytewise(flit: &Cxl256Flit, mode: Mode) -> [u64; 2] {
    match mode.is_lopt() {
        true => [crc256::crc6_even_bytewise(part(flit, 0)), crc256::crc6_odd_bytewise(part(flit, 128))],
        false => [crc256::crc8_bytewise(part(flit, 0)), 0],
    }
}

/// The FEC, by definition.
fn fec_bytewise(flit: &Cxl256Flit, mode: Mode) -> [u8; 6] {
    let mut protected = *part(flit, 0);
    if mode.is_lopt() {
        protected[fec_bytes(mode).start..].copy_from_slice(&flit.0[fec_bytes(mode).end..]);
    }
    fec256::parity_bytewise(&protected)
}

fn fill(slots: &Slots, mode: Mode) -> Cxl256Flit {
    let mut flit = Cxl256Flit::ZERO;
    slots.iter().enumerate().for_each(|(n, &slot)| flit.set_slot(mode, n, slot));
    flit
}

fn encode(slots: &Slots, mode: Mode) -> Cxl256Flit {
    let mut flit = fill(slots, mode);
    flit.seal(mode);
    flit
}

fn encode_bytewise(slots: &Slots, mode: Mode) -> Cxl256Flit {
    let mut flit = fill(slots, mode);
    let crcs = crcs_bytewise(&flit, mode);
    crc_parts(mode).iter().zip(crcs).for_each(|(part, crc)| part.put(&mut flit, crc));
    let fec = fec_bytewise(&flit, mode);
    flit.0[fec_bytes(mode)].copy_from_slice(&fec);
    flit
}

fn decode(flit: &Cxl256Flit, mode: Mode) -> Option<Slots> {
    let received = flit.receive(mode);
    received.is_good().then(|| std::array::from_fn(|n| received.flit.slot(mode, n)))
}

fn decode_bytewise(flit: &Cxl256Flit, mode: Mode) -> Option<Slots> {
    let crcs = crcs_bytewise(flit, mode);
    let good = crc_parts(mode).iter().zip(crcs).all(|(part, crc)| part.found(flit) == crc)
        && flit.0[fec_bytes(mode)] == fec_bytewise(flit, mode);
    good.then(|| std::array::from_fn(|n| flit.slot(mode, n)))
}

/// Adds the rows of the two maps.
pub fn measure(effort: Effort, table: &mut Table) {
    for mode in [Mode::Standard, Mode::LatencyOptimised] {
        let mut numbers = Numbers(256);
        let slots: Vec<Slots> = (0..FLITS).map(|_| std::array::from_fn(|_| numbers.next())).collect();
        let flits: Vec<Cxl256Flit> = slots.iter().map(|slots| encode(slots, mode)).collect();
        for (slots, flit) in slots.iter().zip(&flits) {
            assert_eq!(*flit, encode_bytewise(slots, mode));
            assert_eq!(decode(flit, mode), decode_bytewise(flit, mode));
        }
        let mut out = [(); 5].map(|_| flits.clone());
        let [best, avx2, by_table, bytewise, copied] = &mut out;
        let encode_all = |out: &mut Vec<Cxl256Flit>, encode: fn(&Slots, Mode) -> Cxl256Flit| {
            for (to, from) in black_box(out).iter_mut().zip(black_box(&slots)) {
                *to = encode(from, mode);
            }
        };
        let encoders: [Variant; 5] = [
            Box::new(|| encode_all(best, encode)),
            Box::new(|| limited(Simd::Avx2, || encode_all(avx2, encode))),
            Box::new(|| limited(Simd::Off, || encode_all(by_table, encode))),
            Box::new(|| encode_all(bytewise, encode_bytewise)),
            Box::new(|| black_box(&mut *copied).copy_from_slice(black_box(&flits))),
        ];
        let [best_encode, avx2_encode, table_encode, bytewise_encode, memcpy] = race(effort, FLITS, encoders);

        let decode_all = |decode: fn(&Cxl256Flit, Mode) -> Option<Slots>| {
            black_box(&flits).iter().for_each(|flit| {
                black_box(decode(flit, mode));
            });
        };
        let decoders: [Variant; 4] = [
            Box::new(|| decode_all(decode)),
            Box::new(|| limited(Simd::Avx2, || decode_all(decode))),
            Box::new(|| limited(Simd::Off, || decode_all(decode))),
            Box::new(|| decode_all(decode_bytewise)),
        ];
        let [best_decode, avx2_decode, table_decode, bytewise_decode] = race(effort, FLITS, decoders);

        let name = if mode.is_lopt() { "LOpt" } else { "std" };
        for (what, ours, peer) in [
            ("encode", best_encode, ("bytewise", bytewise_encode)),
            ("encode, AVX2", avx2_encode, ("table", table_encode)),
            ("encode, table", table_encode, ("bytewise", bytewise_encode)),
            ("decode", best_decode, ("bytewise", bytewise_decode)),
            ("decode, AVX2", avx2_decode, ("table", table_decode)),
            ("decode, table", table_decode, ("bytewise", bytewise_decode)),
        ] {
            let (what, peer) = (format!("256B {name} {what}"), Some(peer));
            table.row(Row { what, unit: "M flit/s", ours, peer, aim: None, memcpy: Some(memcpy) });
        }
        let aim = |rate: f64| if rate >= AIM { "met" } else { "MISSED" };
        table.remark(format!(
            "256B {name} with CRC and FEC: aim {AIM} M flit/s, encode {}, decode of a clean flit {}",
            aim(best_encode),
            aim(best_decode)
        ));
    }
}
