//! HDM-D: device memory whose coherence rests on a bias table and CXL.cache requests.
//!
//! Modelled: bias flips both ways, Mem*Fwd, the host as home of the device's requests, and the order that keeps M2S Req
//! behind Mem*Fwd. Detail: pure agents, one request a line on each side. Left out: several devices (`coherence` §2.9
//! allows one a bridge).
//!
//! * [`tables`]: which request gets which answer. [`device`] and [`host`]: the agents.

pub mod device;
pub mod host;
pub mod tables;

pub use device::{Bias, BiasDevice};
pub use host::BiasHost;
