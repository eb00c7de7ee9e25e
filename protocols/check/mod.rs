//! Checksums: for each a bitwise definition, a table path, and where it pays a path with SIMD instructions, chosen at
//! run time.
//!
//! The definition decides; the fast paths are equal to it on every input tried (see the tests of each module). The
//! bit order of a checksum belongs to the checksum.

// What the SIMD paths multiply with is of no use to a CPU that has none.
#![cfg_attr(not(target_arch = "x86_64"), allow(unused))]

pub mod crc16;
pub mod crc25;
pub mod crc256;
pub mod fec256;
mod gf256;
pub mod pcie;
mod simd;

/// Switches the SIMD paths of all checksums off or on for the whole process, so that a run can show that they change
/// nothing. They are on at the start.
pub fn use_simd(on: bool) {
    simd::ENABLED.store(on, core::sync::atomic::Ordering::Relaxed);
}
