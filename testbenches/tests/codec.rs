//! The codecs: rules of every flit format, second spellings, golden vectors, random input.
#![forbid(unsafe_code)]

mod check256;
mod cxl256;
mod cxl68;
mod cxlio;
mod flits_soak;
mod fuzzing;
mod golden;
mod oracle256;
mod pcie_vectors;
mod ual;
