//! Checksums: for each a bitwise definition, a table path, and where it pays a path with carry-less multiplication.
//!
//! The definition decides; the fast paths are equal to it on every input tried (see the tests of each module). The
//! bit order of a checksum belongs to the checksum.

pub mod crc16;
pub mod crc25;
pub mod crc256;
pub mod fec256;
pub mod pcie;
mod simd;
