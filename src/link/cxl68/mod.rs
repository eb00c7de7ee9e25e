//! The CXL 68B link layer (`cxl-68b` sections 5 to 7).
//!
//! Modelled: initialisation, credits, acknowledgements, retry with all its counters and both state machines, viral,
//! events for every rule that a receiver can see. Detail: one unit a flit clock in each direction. Left out: IDE
//! encryption, ARB/MUX (the next layer down), electrical retraining (its effect and duration are inputs).
//!
//! One [`End`] is one side of the link, transmitter and receiver together, because acknowledgements, credits and retry
//! tie the two. A walk through one flit clock: [`End::receive`] takes the unit that arrived; a good flit moves the
//! sequence number on, frees retry-buffer entries and credits of the other side's messages and delivers its messages; a
//! bad one starts the local retry machine. [`End::transmit`] then sends, in this order: the rest of an all-data run, a
//! framed Ack or Req sequence, INIT.Param or filler while the link comes up, replayed flits, new flits.

pub mod coverage;
pub mod credit;
pub mod end;
pub mod fault;
pub mod fill;
pub mod monitor;
pub mod mutant;
pub mod pair;
pub mod port;
pub mod retry;
pub mod timing;

pub use super::event::{self, Event, Severity};
pub use credit::CreditBook;
pub use end::{End, EndConfig, Stats};
pub use fill::phy_fill;
pub use monitor::{Known, Monitor, MonitorConfig};
pub use mutant::Mutant;
pub use pair::Pair;

/// Bytes of memory that a unit under way takes, with the time at which it is due.
pub const UNDER_WAY_BYTES: usize = 128;
