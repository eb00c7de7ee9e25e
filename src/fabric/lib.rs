//! Fabrics: what stands between links.
//!
//! Modelled: [CXL switches](cxl_switch) with hierarchy based and with port based routing, the [UALink switch](ualink_switch) and the switch of
//! the [NVLink model](nvlink_switch); a [router](vc_router) as textbooks have it, which knows no protocol, and
//! [topologies](topology) of many of them; the [registers](hdm_registers) of HDM decoders and their commit; policies for messages with [several ways](spread). The pieces that decide who is next stand below the links, in
//! [`scalepool_arbiter`]. Left out: see each of them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cxl_switch;
pub mod hdm_registers;
pub mod nvlink_switch;
pub mod spread;
pub mod topology;
pub mod ualink_switch;
pub mod vc_router;
