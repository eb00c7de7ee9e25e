//! What both halves of a bridge say of their entries when a run ends or stalls.
//!
//! Modelled: how many are in use, and since when the oldest of them. Left out: what each waits for, which stands in the trace.

use scalepool_kernel::{Clock, Pending, Time};

/// Nothing, if no entry is in use; else how many `things` have one, with the first of the cycles since which they have.
///
/// # Errors
/// [`Pending`], if one is in use.
pub fn none_open(open: usize, things: &str, since: impl Iterator<Item = u64>, clock: Clock) -> Result<(), Pending> {
    if open == 0 {
        return Ok(());
    }
    let oldest = since.min().unwrap_or(0);
    let since = if oldest == 0 { Time::ZERO } else { clock.edge(oldest) };
    Err(Pending::new(format!("{open} {things} have an entry"), since))
}
