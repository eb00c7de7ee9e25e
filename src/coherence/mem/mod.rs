//! CXL.mem: the host's side, the DCOH of HDM-DB with its snoop filter, and the device of HDM-H.
//!
//! * [`tables`]: which message may be sent and what answers it, row by row. [`options`]: the choices.
//! * [`host`]: the host agent, whose steps are the rows of [`host_rows`].
//! * [`dcoh`]: the device agent; [`filter`]: its inclusive snoop filter.
//! * [`hdm_h`]: the device of memory that only its host caches; [`backing`]: where it keeps values. [`hdm_h_host`]: that host.
//! * [`load`]: DevLoad and what a host does about it. [`uio`]: accesses of CXL.io peers. [`peer`]: a device that is a host
//!   towards another device. [`boundary`]: what the states inside a host are outside.

pub mod backing;
pub mod boundary;
pub mod dcoh;
mod dcoh_memory;
pub mod filter;
pub mod hdm_h;
pub mod hdm_h_host;
pub mod hdm_home;
pub mod host;
pub mod host_rows;
pub mod load;
pub mod options;
pub mod peer;
pub mod tables;
pub mod uio;

pub use dcoh::{Dcoh, DeviceOp};
pub use filter::{Holders, SnoopFilter};
pub use hdm_h::HdmH;
pub use hdm_h_host::HdmHHost;
pub use hdm_home::HdmHome;
pub use host::{HostAccess, HostCopy, HostReq, MemHost};
