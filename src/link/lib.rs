//! Link layers: a transmitter and a receiver for each end of a link, with one folder per protocol.
//!
//! Every link layer has the same three parts: a packer (messages to flits), a credit book and a replay machine. The parts
//! are plain state machines: units (flits) go in and out, and time is the flit clock of the caller. A kernel module, the
//! [`port`], places them in a simulation and adds latency; the agents behind the port exchange messages that know no
//! flit format. A protocol violation by the peer becomes a [`LinkEvent`](event::LinkEvent) with a rule id, never a
//! panic. Left out: lane training and electrical states.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod arbmux;
pub mod bit_errors;
pub mod classes;
pub mod coverage;
pub mod cxl256;
pub mod cxl68;
pub mod cxlio;
pub mod event;
pub mod external;
pub mod fault;
pub mod health;
pub mod hook;
pub mod io_ends;
pub mod line_time;
pub mod link_coverage;
pub mod mailbox;
pub mod nvlink;
pub mod pair;
pub mod plain;
pub mod port;
pub mod protocol;
pub mod sample;
pub mod sim_port;
mod statuses;
pub mod ualink;
pub mod watch;
pub mod wires;
