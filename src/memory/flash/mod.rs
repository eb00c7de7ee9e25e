//! Flash: presets, and an array of dies behind channels that reads, programs and erases pages (`memory §9`, \[D\]).
//!
//! Modelled: [presets](preset) and the time of operations on [dies](mod@array). The buffer in front of them is
//! [`LineBuffer`](crate::backend::LineBuffer). Left out: wear, garbage collection beyond one erase for 256 programs, errors of cells.
//!
//! A walk through one miss of the buffer: the die that has the page reads it; the page crosses the channel that its dies share; the
//! buffer has it.

pub mod array;
pub mod preset;

pub use array::{FlashArray, FlashCounts};
pub use preset::FlashPreset;
