//! Compute Express Link.

pub mod cxl68;
pub mod cxlio;
