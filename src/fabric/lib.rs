//! Fabrics: what stands between links.
//!
//! Modelled: [`arbiter`]s, the pieces that decide who is next, the [UALink switch](ualink_switch) and the switch of the
//! [NVLink model](nvlink_switch). Left out: topologies of several hops, the switches of other protocols.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod arbiter;
pub mod nvlink_switch;
pub mod ualink_switch;
