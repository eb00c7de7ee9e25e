//! Fabrics: what stands between links.
//!
//! Modelled: [`arbiter`]s, the pieces that decide who is next. Left out: crossbars, routing, switches and topologies.

pub mod arbiter;
