//! Status of a request that is answered in parts (`bridge` §8.1).
//!
//! Modelled: the rank of a status, by which one is told for all lines of a request. Left out: what makes a status, which stands with
//! the table of flows and with the windows. A walk: a line ends with 3 and another one with 8; the request is answered with 3.

use scalepool_protocols::ualink::code::Status;

/// Ranks from the highest: a higher one is told before the others (`bridge` §8.1).
pub const RANKS: [Status; 5] =
    [Status::ProtectionViolation, Status::DecodeError, Status::TargetAbort, Status::CompletionTimeout, Status::OKAY];

/// Place in [`RANKS`]; a status that the bridge never makes comes behind all.
fn place(status: Status) -> usize {
    RANKS.iter().position(|rank| *rank == status).unwrap_or(RANKS.len())
}

/// What is told of the status of an accelerator: a bridge never makes others than those that have a rank, 15 ISOLATE among them
/// (`bridge` §8.2), and what they say is no success.
pub fn told(status: Status) -> Status {
    if RANKS.contains(&status) { status } else { Status::TargetAbort }
}

/// The status of two lines together.
pub fn merged(a: Status, b: Status) -> Status {
    if place(a) <= place(b) { a } else { b }
}
