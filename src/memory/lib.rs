//! Memory: a sparse backing store and a cache array, both with real bytes; decoders of address windows; backends that say when an
//! access is done, with DRAM, HBM and flash behind them; and error-correcting codes.
//!
//! All are data structures, not modules: they hold no clock and know no protocol. Whoever owns one (a host, a device)
//! decides when an access happens; a backend says when it is done. Left out here: coherence states.
//!
//! Invariants: everything moves in lines of [`LINE_BYTES`]; bit n of a byte-enable mask stands for byte n of the line,
//! as in the BE field of CXL (`cxl-68b`, slot formats with byte enables); lines are visited in address order.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod backend;
pub mod bridge;
pub mod cache;
pub mod decoder;
pub mod dram;
pub mod dropped;
pub mod ecc;
pub mod flash;
pub mod gfd;
pub mod limit;
pub mod owner_clock;
pub mod spread;
pub mod store;
pub mod uio;

/// Bytes of a line: the unit of CXL.mem and CXL.cache transfers.
pub const LINE_BYTES: u64 = 64;

/// The data of one line, byte 0 at the lowest address.
pub type LineBytes = [u8; LINE_BYTES as usize];

/// Byte enables of a whole line.
pub const ALL_BYTES: u64 = u64::MAX;

/// The address of the line that holds the byte at `address`.
pub fn line_address(address: u64) -> u64 {
    address & !(LINE_BYTES - 1)
}

/// Copies those bytes of `from` into `into` whose bit in `byte_enables` is 1.
pub fn merge_bytes(into: &mut LineBytes, from: &LineBytes, byte_enables: u64) {
    // A whole line is a copy: 4 instructions instead of 1,600.
    if byte_enables == ALL_BYTES {
        *into = *from;
        return;
    }
    for (n, (to, from)) in into.iter_mut().zip(from).enumerate() {
        if byte_enables >> n & 1 == 1 {
            *to = *from;
        }
    }
}
