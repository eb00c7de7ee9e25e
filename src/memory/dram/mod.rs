//! DRAM and HBM at the level of commands.
//!
//! Modelled: channels with their command and data buses, pseudo-channels, ranks, stacks, bank groups, banks and rows; every
//! spacing rule between two commands (`memory §3`); a scheduler that serves the first ready request with caps on starvation,
//! a write queue that drains in batches, page policies, refresh of all banks or of one (`memory §4`); address mapping as a
//! parameter (`memory §5`). Presets are public figures (`memory §2`). Left out: bytes, which stand in a
//! [`Store`](crate::store::Store); power-down and self-refresh; training; voltage and temperature, but for refresh when hot.
//!
//! A walk through one read: [`controller`] takes the line, finds its place by [`mapping`], and gives it to the [`channel`] of
//! that place, which sees it after the front latency. The channel picks commands by age and by what [`timing`] allows: an
//! activate of its row, then a read; the data end CL + BL after the read, and the answer is there after the back latency.
//!
//! Every command can be kept as a [`command::DramCommand`], written as text ([`trace`]), and judged by [`monitor`], which was
//! written from the table of rules and shares nothing with [`timing`] but the presets.
//!
//! Time is counted in whole clocks of the command clock, tCK. Invariant: the same requests at the same times give the same
//! commands, however often the owner looks in between.

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
