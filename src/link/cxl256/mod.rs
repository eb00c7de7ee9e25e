//! The CXL 256B link layer for standard flits with CXL.cache and CXL.mem (`cxl-256b` sections 1.4, 1.6, 6 and 9).
//!
//! Modelled: handshake of sequence numbers, numbers stated and implied, Ack, standard and selective Nak, retry buffer, replay timer
//! and count, INIT.Param, credits in the CRD field, Empty and NOP flits, FEC on the receive path. Detail: one flit a flit
//! clock in each direction. Left out: viral, IDE, CXL.io and ALMP content (such flits are numbered and
//! passed over), latency-optimised flits, electrical retraining (its effect and duration are inputs).
//!
//! One [`End`] is one side of the link. A walk through one flit clock: [`End::receive`] repairs and checks the flit; a bad
//! one may ask for a replay, a good one moves the peer's acknowledgements on, and if it is the expected number its slots
//! are read. [`End::transmit`] then sends, in this order: NOPs while numbers are being agreed, flits of a replay,
//! INIT.Param, new messages, credits alone, a NOP; the header carries the Nak, Ack or number that is due.

pub mod cachemem;
pub mod client;
pub mod config;
pub mod coverage;
pub mod credit;
pub mod end;
pub mod fault;
pub mod number;
pub mod pair;
pub mod port;
pub mod receiver;
pub mod transmitter;

pub use cachemem::{Cachemem, CachememStats};
pub use client::{Client, Part, Urgent};
pub use config::{CachememConfig, CreditReturn, LinkConfig, NoSuchMode, ReplayLimit, ack_target_flits, negotiated};
pub use end::{End, Stats};
pub use fault::WireFlit;
pub use pair::Pair;
