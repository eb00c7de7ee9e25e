//! The CXL 256B link layer: standard, latency-optimised and PBR flits (`cxl-256b` sections 1.4 to 1.6, 6, 7.3 and 9).
//!
//! Two layers. A [`Cxl256End`] is one side of the link: it numbers, keeps, repeats and checks flits and knows nothing
//! of what they hold. Its [`Client`] fills payload flits and takes those that came well: [`Cachemem`] is CXL.cache and
//! CXL.mem; CXL.io and an ARB/MUX in front of both are others.
//!
//! Modelled below: handshake of sequence numbers, numbers stated and implied, Ack, standard and selective Nak, retry buffer,
//! replay timer and count, FEC and CRC on the receive path, even halves that are used before the odd ones have come, flits
//! spoilt on purpose, fresh DLLPs in NOPs and repeated CXL.io flits. Modelled above: packing, INIT.Param, credits in the CRD
//! field, Empty flits, viral, Poison. Detail: one flit a flit clock in each direction; half a flit for even halves. Left
//! out: IDE content, electrical retraining (its effect and duration are inputs).
//!
//! A walk through one flit clock: [`Cxl256End::receive`] repairs and checks the flit; a bad one may ask for a replay, a
//! good one moves the peer's acknowledgements on, and if its number is due and sure the client takes it.
//! [`Cxl256End::transmit`] then sends, in this order: NOPs while numbers are being agreed, flits of a replay, what
//! follows a Viral, new payload of the client, a NOP; the header carries the Nak, Ack or number that is due.
//!
//! Flits that vanish or come twice without a trace are found by their numbers, which takes a stated one: see
//! [`LinkConfig::doubt_implied`]. It costs one flit for payload with an implied number, one in four on a busy link.

pub mod cachemem;
pub mod client;
pub mod config;
pub mod coverage;
pub mod credit;
pub mod end;
pub mod fault;
pub mod monitor;
pub mod pair;
pub mod port;
pub mod receiver;
pub mod transmitter;

pub use cachemem::{Cachemem, CachememStats};
pub use client::{Client, FlitPart, Urgent};
pub use config::{CachememConfig, CreditReturn, LinkConfig, NoSuchMode, ReplayLimit, ack_target_flits, negotiated};
pub use end::{Cxl256End, Stats};
pub use fault::WireFlit;
pub use monitor::Monitor;
pub use pair::Pair;
pub use port::Layer;
