//! Fabrics: what stands between links.
//!
//! Modelled: [`arbiter`]s, the pieces that decide who is next, and the [UALink switch](ualink_switch). Left out: the switches
//! of the other protocols and topologies.

pub mod arbiter;
pub mod ualink_switch;
