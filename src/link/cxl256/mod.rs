//! The CXL 256B link layer: standard, latency-optimised and PBR flits (`cxl-256b` sections 1.4 to 1.6, 6, 7.3 and 9).
//!
//! The link layer has two sublayers. A [`Cxl256End`] is one side of the link: it numbers, stores, replays and checks
//! flits without knowing their content. Its [`Client`] fills payload flits and receives the payload flits that passed the
//! checks. [`Cachemem`] is the client for CXL.cache and CXL.mem; CXL.io, and an ARB/MUX in front of both, are further
//! clients.
//!
//! Modelled in the lower sublayer: the sequence number handshake, explicit and implied sequence numbers, Ack, standard
//! and selective Nak, retry buffer, replay timer and replay count, FEC and CRC on the receive path, even flit halves that
//! are used before the odd halves have arrived, injected flit errors, new DLLPs in NOP flits and repeated CXL.io flits.
//! Modelled in the upper sublayer: packing, INIT.Param, credits in the CRD field, Empty flits, viral, Poison. Detail: one
//! flit per flit clock in each direction, or half a flit where even halves are used early. Left out: IDE content and
//! electrical retraining (its effect and duration are inputs).
//!
//! A walk through one flit clock: [`Cxl256End::receive`] corrects and checks the flit. A bad flit may cause a replay
//! request. A good flit delivers the peer's acknowledgements, and the client takes its payload if its sequence number is
//! the expected one and is certain. [`Cxl256End::transmit`] then sends the first of these that is due: a NOP during the
//! sequence number handshake, a flit of a replay, the flit that follows a Viral, new payload of the client, a NOP. The
//! flit header carries the Nak, the Ack or the sequence number that is due.
//!
//! A flit that vanishes or is duplicated without any other trace is detected by its sequence number, which takes an
//! explicit one, see [`LinkConfig::doubt_implied`]. The price is a delay of one flit for payload with an implied number,
//! which is one in four flits on a busy link.
//!
//! Flits travel as bytes, or as their content without bytes ([`form`]): one end is of one form.

pub mod cachemem;
pub mod client;
pub mod config;
pub mod coverage;
pub mod credit;
pub mod end;
pub mod fault;
pub mod form;
mod inbox;
pub mod monitor;
pub mod pair;
pub mod port;
pub mod receiver;
mod spares;
pub mod transmitter;

pub use cachemem::{Cachemem, CachememStats};
pub use client::{Client, FlitPart, Urgent};
pub use config::{CachememConfig, CreditReturn, LinkConfig, NoSuchMode, ReplayLimit, ack_target_flits, negotiated};
pub use end::{Cxl256End, Stats, repaired};
pub use fault::WireFlit;
pub use monitor::Monitor;
pub use pair::Pair;
pub use port::Layer;
