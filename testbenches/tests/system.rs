//! Whole systems and the parts that they are made of: kernel, arbiters, switches, endpoints, stimuli.
#![forbid(unsafe_code)]

mod arbiters;
mod cxlio_endpoint;
mod determinism;
mod ends;
mod kernel;
mod nvl_fabric;
mod stimulus;
mod ual_fabric;
