//! The UALink data link layer (`ualink` sections 6 to 8, 13).
//!
//! Modelled: link states, link-level replay with its receive and transmit decisions, packing of TL flits and DL messages into
//! DL flits, every DL message with its answer and deadline, error containment. Detail: one DL flit a flit time in each
//! direction. Left out: what happens below the DL flit (64B/66B blocks, lanes), which is a rate and a latency.
//!
//! One [`End`] is one side of the link, over it a [`client::Client`] that makes and takes TL flits. A walk through one flit
//! time: [`End::receive`] hears whether a flit or a control flit came; a good flit moves the replay machine, and payload that
//! is the next in order is cut into DL messages and TL flits. [`End::transmit`] asks the link state what may go out; then
//! the replay machine sends payload again, or asks the packer for new payload, which takes DL messages and TL flits.

pub mod client;
pub mod config;
pub mod end;
pub mod external;
pub mod line;
mod link_end;
pub mod messages;
pub mod monitor;
pub mod mutant;
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
pub use end::{CONTROL_BYTES, End, OnLine, Stats};
pub use monitor::{Monitor, MonitorConfig};
pub use pair::Pair;
