//! `libscalepool`: every exported function of [`scalepool_capi`], and nothing else.

pub use scalepool_capi::*;
