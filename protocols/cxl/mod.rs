//! Compute Express Link.

pub mod cxl68;
