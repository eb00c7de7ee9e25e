//! One table of ratios: messages, flits of 68 and 256 bytes, flits of UALink and packets of NVLink, CRC-16 and the kernel,
//! each beside its peers; then how a pod grows, and how long a large description takes.
//!
//! Measured: throughput on one thread, data in the first or second level of the cache. Left out: latency of a single call,
//! memory traffic, more than one thread.
//!
//! A walk through one group of rows: every variant of the group gets a number of calls that fills its turn; the variants
//! take turns, round after round, so that a change of the machine's speed meets them all; the best turn of each counts,
//! because whatever disturbs a turn makes it slower. Turns are shorter than the time slices of a busy machine. All variants of a group are first shown to give the same result.

mod coherence;
mod crc16;
mod descriptions;
mod flits;
mod flits256;
mod kernel;
mod messages;
mod pods;
mod race;
#[path = "../ring.rs"]
mod ring;
mod systemc;
mod table;
mod xlinks;

use std::time::Duration;

use table::Table;

/// How long to measure.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// Turns of every variant.
    rounds: u32,
    /// Length of a turn.
    turn: Duration,
    /// The kernel's turns are so many times shorter, and SystemC has none if this is not 1.
    kernel_part: u64,
}

/// For figures: about a minute with SystemC.
const FULL: Effort = Effort { rounds: 150, turn: Duration::from_micros(500), kernel_part: 1 };
/// For a look whether everything runs: about a second.
const QUICK: Effort = Effort { rounds: 3, turn: Duration::from_micros(100), kernel_part: 40 };

/// Measures everything and returns the table; a `quick` run shows that everything runs, and its figures mean nothing.
pub fn report(quick: bool) -> String {
    let effort = if quick { QUICK } else { FULL };
    let mut table = Table::new(effort.rounds);
    messages::measure(effort, &mut table);
    flits::measure(effort, &mut table);
    flits256::measure(effort, &mut table);
    xlinks::measure(effort, &mut table);
    crc16::measure(effort, &mut table);
    kernel::measure(effort, &mut table);
    // Pods tell memory by the most that the process has had, so what takes much comes behind them.
    pods::measure(effort, &mut table);
    descriptions::measure(effort, &mut table);
    coherence::measure(effort, &mut table);
    table.to_string()
}

/// The rows of the CRC-16 alone, as [`report`] has them.
pub fn crc16_alone(quick: bool) -> String {
    let effort = if quick { QUICK } else { FULL };
    let mut table = Table::new(effort.rounds);
    crc16::measure(effort, &mut table);
    table.to_string()
}
