//! Whole systems and the parts that they are made of: kernel, arbiters, switches, endpoints, stimuli.
#![forbid(unsafe_code)]

mod arbiters;
mod bit_errors;
mod bits;
mod brg;
mod cables;
mod channels;
mod cxlio_endpoint;
mod descriptions;
mod determinism;
mod ends;
mod fab_hbr;
mod fab_io;
mod fab_net;
mod fab_pbr;
mod fab_qos;
mod kernel;
mod mem;
mod memory_backend;
mod memory_map;
mod messages;
mod nvl_fabric;
mod ordered;
mod router;
mod rules_off;
mod stimulus;
mod ual_fabric;
