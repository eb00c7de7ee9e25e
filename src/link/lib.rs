//! Link layers: transmitter and receiver pairs, one folder a protocol.
//!
//! Each is built from three parts of the same shape: a packer (messages to flits), a credit book and a replay machine.
//! They are plain state: units go in and out, time is the flit clock of the caller. A kernel module around them, the
//! [`port`], gives them a place and a latency; agents behind it speak neutral messages. A protocol violation by a peer is
//! an [`Event`](event::Event) with a rule id, never a panic. Left out: lane training, electrical states.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod arbmux;
pub mod classes;
pub mod coverage;
pub mod cxl256;
pub mod cxl68;
pub mod cxlio;
pub mod event;
pub mod external;
pub mod fault;
pub mod hook;
pub mod io_ends;
pub mod line_time;
pub mod mailbox;
pub mod nvlink;
pub mod pair;
pub mod port;
pub mod protocol;
pub mod sample;
pub mod sim_port;
pub mod ualink;
pub mod watch;
pub mod wires;
