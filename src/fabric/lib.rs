//! Fabrics: the switches and routers between links.
//!
//! Modelled: [CXL switches](cxl_switch) with hierarchy-based and with port-based routing; the [UALink switch](ualink_switch); the
//! switch of the [NVLink model](nvlink_switch); a textbook [router](vc_router), which knows no protocol, and [topologies](topology)
//! of many such routers; the [registers](hdm_registers) of HDM decoders and their commit; [policies](spread) that choose one of
//! several routes for a message. The arbiters are those of [`scalepool_arbiter`], which links use as well. Left out: each module
//! lists what it leaves out.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cxl_switch;
pub mod hdm_registers;
pub mod nvlink_switch;
pub mod spread;
pub mod topology;
pub mod ualink_switch;
pub mod vc_router;
