//! Fabrics: what stands between links.
//!
//! Modelled: the [CXL switch](cxl_switch) with hierarchy based routing, the [UALink switch](ualink_switch) and the switch of
//! the [NVLink model](nvlink_switch). The pieces that decide
//! who is next stand below the links, in [`scalepool_arbiter`]. Left out: topologies of several hops.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cxl_switch;
pub mod nvlink_switch;
pub mod ualink_switch;
