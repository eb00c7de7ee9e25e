//! Sizes and rates of the physical layer (`ualink` §1, §13). Left out: coding, FEC, markers as streams.

use super::flit::FLIT_BYTES;

/// Bits of a DL flit.
pub const FLIT_BITS: usize = 8 * FLIT_BYTES;
/// Bits of a DL flit behind 256B/257B transcoding.
pub const TRANSCODED_BITS: usize = FLIT_BITS / 256 * 257;
/// Bits of a code word: RS(544,514) over symbols of 10 bits, one flit each.
pub const CODE_WORD_BITS: usize = 544 * SYMBOL_BITS;
/// Bytes of a code word.
pub const CODE_WORD_BYTES: usize = CODE_WORD_BITS / 8;
/// Bits of a FEC symbol.
const SYMBOL_BITS: usize = 10;

const _: () = assert!(FLIT_BITS.is_multiple_of(256) && TRANSCODED_BITS == 514 * SYMBOL_BITS);

/// Serial rate of a lane in the 200G mode, Mb/s.
pub const LANE_MBPS: u64 = 212_500;

/// Time of a code word on 1, 2 or 4 lanes, in femtoseconds.
pub const fn flit_time_fs(lanes: u64) -> u64 {
    // bits / (Mb/s) = us; 10^9 fs a us.
    CODE_WORD_BITS as u64 * 1_000_000_000 / (LANE_MBPS * lanes)
}
