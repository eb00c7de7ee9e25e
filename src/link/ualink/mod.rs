//! The UALink data link layer (`ualink` sections 6 to 8, 13).
//!
//! Modelled: link states, link-level replay with its receive and transmit decisions, packing of TL (transaction layer)
//! flits and DL (data link) messages into DL flits, every DL message with its response and deadline, and error
//! containment. Detail: one DL flit per flit time in each direction. Left out: everything below the DL flit (64B/66B
//! blocks, lanes), which is a rate and a latency.
//!
//! A [`UalEnd`] is one end of the link; above it, a [`client::Client`] sends and receives TL flits. In one flit time,
//! [`UalEnd::receive`] takes the flit or control flit that arrived. A good flit advances the replay machine, and
//! payload that is next in sequence is unpacked into DL messages and TL flits. [`UalEnd::transmit`] asks the link state
//! what may be sent. Then the replay machine either sends payload again or asks the packer for new payload, made of DL
//! messages and TL flits.

pub mod client;
pub mod config;
pub mod end;
pub mod external;
mod form;
pub mod line;
mod link_end;
pub mod messages;
pub mod monitor;
pub mod pair;
pub mod replay;
pub mod security;
pub mod state;
#[cfg(test)]
mod tests;
pub mod tl;
pub mod upli;
pub mod wiring;

pub use config::EndConfig;
pub use end::{CONTROL_BYTES, OnLine, Stats, UalEnd};
pub use form::KeptFlit;
pub use monitor::{Monitor, MonitorConfig};
pub use pair::Pair;
