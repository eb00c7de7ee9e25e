//! The UALink data link layer (`ualink` sections 6 to 8).
//!
//! Modelled: link-level replay with its receive and transmit decisions, windows, ambiguous state, ignore window and
//! watchdog. Detail: one DL flit a flit time in each direction. Left out: what happens below the DL flit (64B/66B blocks,
//! alignment, lanes), which is a rate and a latency.

pub mod line;
pub mod replay;
pub mod sequence;
pub mod state;
