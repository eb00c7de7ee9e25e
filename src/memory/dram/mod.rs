//! DRAM and HBM at command level.
//!
//! Modelled: channels with their command and data buses, pseudo-channels, ranks, stacks, bank groups, banks and rows;
//! every spacing rule between two commands (`memory §3`); a first-ready scheduler with starvation limits, a write queue
//! that drains in batches, page policies, all-bank and per-bank refresh (`memory §4`); address mapping as a parameter
//! (`memory §5`). Presets are public figures (`memory §2`). Left out: the bytes, which a [`Store`](crate::store::Store)
//! holds; power-down and self-refresh; training; voltage and temperature, except that refresh is more frequent when hot.
//!
//! A walk through one read: [`controller`] receives the line, finds its place by [`mapping`], and passes it to the
//! [`channel`] of that place, which sees it after the front latency. The channel chooses commands by age and by what
//! [`timing`] allows: an activate of the row, then a read. The data end CL + BL after the read, and the response is
//! available after the back latency.
//!
//! Every command can be kept as a [`command::DramCommand`], written as text ([`trace`]), and judged by [`monitor`], which
//! was written from the table of rules and shares nothing with [`timing`] but the presets.
//!
//! Time is counted in whole clocks of the command clock, tCK. Invariant: the same requests at the same times give the
//! same commands, however often the owner advances the model in between.

pub mod channel;
pub mod command;
pub mod controller;
pub mod mapping;
pub mod monitor;
pub mod preset;
mod refresh;
#[cfg(test)]
mod tests;
pub mod timing;
pub mod trace;

pub use command::{DramCommand, DramOperation, DramPlace};
pub use controller::{DramConfig, DramController};
pub use mapping::{DramMap, DramMapping};
pub use monitor::{DramFinding, DramMonitor};
pub use preset::DramPreset;
