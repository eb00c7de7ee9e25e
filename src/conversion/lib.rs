//! The bridge SoC as a reference model for bridges of other people: messages at its ports, vectors of every conversion, a scoreboard.
//!
//! Modelled: what comes to a bridge and what leaves it, as JSON with the layouts of the links ([`message`]); one half of a bridge
//! without time ([`model`]); the walk over commands, windows, errors and cached lines ([`vectors`]); a bridge that is watched from both sides
//! ([`scoreboard`]). Left out: clocks, credits, link layers.
//!
//! A walk through one vector: a UALink read of two lines is given to a fresh model; it sends two MemRd; the memory of the vector answers
//! each with Cmp and data; the model responds with two beats. The case lists these messages in their order, all with their bits.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod accelerators;
pub mod config;
mod control;
pub mod credits;
pub mod exported;
mod hosts;
mod meaning;
pub mod message;
pub mod model;
pub mod scoreboard;
pub mod tlp;
mod told;
pub mod vectors;
