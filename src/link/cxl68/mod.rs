//! The CXL 68B link layer (`cxl-68b` sections 5 to 7).
//!
//! Modelled: initialisation, credits, acknowledgements, retry with all its counters and both state machines, viral, and
//! an event for every rule that a receiver can see broken. Detail: one unit (a flit or a control flit) per flit clock in
//! each direction. Left out: IDE encryption, the ARB/MUX (the next layer down) and electrical retraining, whose effect
//! and duration are inputs.
//!
//! A [`Cxl68End`] is one end of the link. It holds the transmitter and the receiver together, because acknowledgements,
//! credits and retry connect the two. In one flit clock, [`Cxl68End::receive`] first takes the unit that arrived. A
//! good flit advances the sequence number, frees retry-buffer entries, returns credits and delivers its messages; a bad
//! flit starts the local retry state machine. Then [`Cxl68End::transmit`] sends one unit. It takes the first of these that is
//! waiting: the rest of a sequence of all-data flits, a framed RETRY.Ack or RETRY.Req sequence, INIT.Param or filler while
//! the link comes up, a replayed flit, a new flit.
//!
//! Flits travel as bytes, or as their content without bytes ([`form`]). The two ends of a link use the same form.

pub mod coverage;
pub mod credit;
pub mod end;
pub mod fault;
pub mod fill;
pub mod form;
mod halves;
pub mod monitor;
pub mod pair;
pub mod port;
pub mod retry;
pub mod timing;

pub use super::event::{self, LinkEvent, Severity};
pub use credit::{CreditBook, CreditTurns};
pub use end::{Cxl68End, EndConfig, Stats};
pub use fill::phy_fill;
pub use form::Flit68;
pub use monitor::{Known, Monitor, MonitorConfig};
pub use pair::Pair;

/// Bytes of memory that a unit on the wire takes, together with the time at which it is due.
pub const UNDER_WAY_BYTES: usize = 128;
