//! The link layer of CXL.io: TLPs between two ends, over 68B units or over 256B flits (`cxl-io`, `cxl-256b` §1.2, §9).
//!
//! Modelled: flow control of virtual channel 0 and, where UIO is on the link, of a second one, with their initialisation, ordering of posted, non-posted and completion
//! TLPs ([`order`]), local ID prefixes; in *non-flit mode* ([`NonFlitEnd`]) framing, sequence numbers, LCRC, Ack, Nak and replay; in
//! *flit mode* ([`FlitEnd`]) filling and reading of TLP bytes, PBR headers and the DLLP field, while numbers and replay
//! are below it. Detail: one flit a flit clock in each direction. Left out: other virtual channels, shared credits, the
//! exchange of data link features, Optimized_Update_FC, ECRC and IDE checks, what a TLP means.
//!
//! Both ends are an [`IoPort`] to those above. A walk through one flit clock: what arrived is cut into TLPs and DLLPs;
//! TLPs with credit wait until they are popped, DLLPs move credits and acknowledgements. Then the end fills a flit:
//! DLLPs that are due, what must go again, TLPs that have credit in the order of [`queue`], and filler.

pub mod config;
pub mod credit;
pub mod credit_watch;
pub mod deframer;
pub mod flit;
pub mod flow;
pub mod nonflit;
pub mod order;
pub mod port;
pub mod queue;
pub mod sequence;
pub mod tlp;
pub mod watched;

pub use config::{Buffers, FlitConfig, IdPrefix, IoConfig, IoConfigError, ReplayConfig};
pub use credit::{Advertised, Scale};
pub use credit_watch::IoCreditWatch;
pub use flit::FlitEnd;
pub use nonflit::NonFlitEnd;
pub use order::IoOrder;
pub use port::{IoCreditRoom, IoPort, IoRefused, Stats, Why};
pub use tlp::{IoCreditClass, IoTlp, IoTlpError, IoTlpForm};
pub use watched::FramedLinkReader;
