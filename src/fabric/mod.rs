//! Fabrics: what stands between links.
//!
//! Modelled: [`arbiter`]s, the pieces that decide who is next. [`nvlink_switch`], the switch of the NVLink model. Left out: topologies of several hops.

pub mod arbiter;
pub mod nvlink_switch;
