//! Checksums: for each a bitwise definition, a table path, and where it pays a path with SIMD instructions, chosen at
//! run time.
//!
//! The definition decides; the fast paths are equal to it on every input tried (see the tests of each module). The
//! bit order of a checksum belongs to the checksum.

// What the SIMD paths multiply with is of no use to a CPU that has none.
#![cfg_attr(not(target_arch = "x86_64"), allow(unused))]

/// Fills the columns of a table `[[T; 256]; N]` whose index is a byte and whose entries are linear in that byte, from the
/// columns of the eight bytes with a single bit: any other column is the sum of two before it.
///
/// Every pass of the compiler evaluates the tables: 20.9 s with every column computed on its own, 1.2 s this way.
macro_rules! fill_by_linearity {
    ($table:ident) => {
        let mut b = 1;
        while b < 256 {
            // `b` without its lowest bit.
            let rest = b & (b - 1);
            let mut row = 0;
            while row < $table.len() {
                if rest != 0 {
                    $table[row][b] = $table[row][rest] ^ $table[row][b ^ rest];
                }
                row += 1;
            }
            b += 1;
        }
    };
}

pub mod crc16;
pub mod crc25;
pub mod crc256;
pub mod fec256;
mod gf256;
pub mod pcie;
#[cfg(test)]
mod samples;
pub mod seal256;
mod simd;

/// Instructions that the checksums may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Simd {
    /// None beyond those that every CPU has: tables.
    Off,
    /// Carry-less multiplication and AVX2, as CPUs without GFNI have them.
    Avx2,
    /// All that this CPU has.
    All,
}

/// Limits the instructions of all checksums for the whole process, so that a run can show that they change nothing, and a
/// bench how fast another CPU would be. There is no limit at the start.
pub fn use_simd(limit: Simd) {
    simd::LIMIT.store(limit as u8, core::sync::atomic::Ordering::Relaxed);
}
