//! What the wire does to a flit, and what a sender with a wrong CRC or FEC does.

use scalepool_protocols::check::fec256;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, crc_parts, fec_bytes};

/// With some bytes wrong.
pub fn bytes(flit: &Cxl256Flit, wrong: &[(usize, u8)]) -> Cxl256Flit {
    let mut damaged = *flit;
    wrong.iter().for_each(|&(at, by)| damaged.0[at] ^= by);
    damaged
}

/// With one wrong CRC byte, and a FEC that fits: CRC number `part` of the mode.
pub fn crc(mode: Mode, flit: &Cxl256Flit, part: usize) -> Cxl256Flit {
    let mut damaged = bytes(flit, &[(crc_parts(mode)[part].bytes.start, 0x40)]);
    damaged.seal_fec(mode);
    damaged
}

/// With FEC bytes as if the byte `at` of a good flit were wrong by `by`: a receiver spoils that byte.
pub fn misled(mode: Mode, flit: &Cxl256Flit, at: usize, by: u8) -> Cxl256Flit {
    // The code is linear: what the FEC of a flit with that byte alone says is added.
    let mut alone = [0; 256];
    alone[at] = by;
    let first = alone.first_chunk().unwrap_or_else(|| unreachable!("a flit is longer than its FEC's message"));
    let syndrome = if mode.is_lopt() { fec256::parity_lopt(&alone) } else { fec256::parity(first) };
    let wrong: Vec<(usize, u8)> = fec_bytes(mode).zip(syndrome).collect();
    bytes(flit, &wrong)
}

/// With two wrong FEC bytes of group 1 whose syndromes name no row: their quotient is alpha^-1 (`cxl-256b` §8).
pub fn hopeless(mode: Mode, flit: &Cxl256Flit) -> Cxl256Flit {
    let at = fec_bytes(mode).start;
    bytes(flit, &[(at, 1), (at + 3, 2)])
}
