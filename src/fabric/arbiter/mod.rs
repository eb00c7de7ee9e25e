//! Arbiters and allocators: who gets a resource in this slot, and who is next.
//!
//! Modelled: decisions, grant by grant, bit-exact to what a piece of hardware with the same registers does. Left out:
//! time; one call is one slot, and a module of the kernel gives it a place and a latency.
//!
//! | piece | chooses | a requester that keeps asking is served |
//! | --- | --- | --- |
//! | [`RoundRobin`] | the first at or behind a pointer | within N - 1 grants to others |
//! | [`Matrix`] | the one whose last grant is longest ago | within N - 1 grants to others |
//! | [`WeightedRoundRobin`] | the one that is owed most | w of every W grants, evenly spread, when all ask |
//! | [`DeficitRoundRobin`] | in turn, while a byte budget lasts | with an error of a quantum and a packet at most |
//! | [`AgeBased`] | the oldest | when all that is older is served |
//! | [`StrictPriority`] | the lowest number; overdue ones first | in the last of G slots; without guard never, maybe |
//! | [`Separable`] | one for each input and output, in two stages | always, while requests stand until served |
//! | [`Islip`] | the same, in iterations | always, while requests stand until served |
//!
//! # A walk through one slot
//!
//! 1. The owner gathers who asks: one bit a requester ([`Requests`]), or a value for each where the choice needs one.
//! 2. `arbitrate` names the winner. It changes nothing, so it may be asked twice, or in vain.
//! 3. If the grant was used, and only then, `update` moves the priority. A grant that found no room downstream leaves the
//!    winner where it is, so it is the winner of the next slot too.
//!
//! # Invariants
//!
//! Whoever is granted has asked; while someone asks, someone is granted (an allocator: at least one pair); the same calls
//! give the same grants. All that choose one are exhaustively compared with plain references for up to 5 requesters, the
//! allocators for up to 3 x 3 (`testbenches/tests/arbiters.rs`). Sources: `fabric` §6.1 and §6.2; names and sizes are our
//! own choice (§6.2, \[D\]).

mod age;
mod deficit;
mod islip;
mod matrix;
mod priority;
mod round_robin;
mod separable;
mod weighted;

pub use age::AgeBased;
pub use deficit::DeficitRoundRobin;
pub use islip::{Islip, Match};
pub use matrix::Matrix;
pub use priority::StrictPriority;
pub use round_robin::RoundRobin;
pub use separable::{Separable, Stage};
pub use weighted::WeightedRoundRobin;

use thiserror::Error;

/// Who asks: bit i stands for requester i. Bits beyond the requesters there are do not count.
pub type Requests = u128;

/// Most requesters of a piece: the bits of [`Requests`]. The largest switch of the sheets has 72 ports (`nvlink` §5).
pub const MAX_REQUESTERS: usize = 128;

/// One resource, many who want it, no more to know than who asks.
pub trait Arbiter {
    /// Number of requesters.
    fn requesters(&self) -> usize;

    /// Who gets the slot; `None` when nobody asks.
    fn arbitrate(&self, requests: Requests) -> Option<usize>;

    /// The grant that [`Arbiter::arbitrate`] gave for these requests was used.
    fn update(&mut self, requests: Requests, granted: usize);
}

/// Why a piece cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArbiterError {
    /// A number of requesters that does not fit.
    #[error("arbiter: found {found} requesters, expected 1 to {MAX_REQUESTERS}")]
    Requesters {
        /// What was given.
        found: usize,
    },
    /// A requester with a quantum of 0 bytes would never be served.
    #[error("deficit round robin: found a quantum of 0 bytes for requester {requester}, expected 1 or more")]
    Quantum {
        /// Whose it is.
        requester: usize,
    },
    /// A guard that cannot be kept: all other requesters may be overdue too.
    #[error("strict priority: found a guard of {found} slots, expected at least {least}, one for each requester")]
    Guard {
        /// What was given.
        found: u32,
        /// Smallest one that can be kept.
        least: u32,
    },
    /// An allocator without iterations matches nothing.
    #[error("iSLIP: found 0 iterations, expected 1 or more")]
    Iterations,
}

/// A number of requesters, checked.
fn sized(requesters: usize) -> Result<usize, ArbiterError> {
    match requesters {
        1..=MAX_REQUESTERS => Ok(requesters),
        found => Err(ArbiterError::Requesters { found }),
    }
}

/// The bits of so many requesters, 1 to 128.
const fn all(requesters: usize) -> Requests {
    Requests::MAX >> (MAX_REQUESTERS - requesters)
}

/// The lowest requester that asks.
fn lowest(requests: Requests) -> Option<usize> {
    (requests != 0).then(|| requests.trailing_zeros() as usize)
}

/// The first that asks at or behind a place, around the end.
fn at_or_behind(requests: Requests, place: usize) -> Option<usize> {
    lowest(requests & Requests::MAX << place).or_else(|| lowest(requests))
}

/// All who ask, lowest first.
fn members(requests: Requests) -> impl Iterator<Item = usize> {
    let mut rest = requests;
    std::iter::from_fn(move || {
        let next = lowest(rest)?;
        rest &= rest - 1;
        Some(next)
    })
}

/// Inputs that ask for an output; `requests[i]` holds the outputs that input i asks for.
fn askers(requests: &[Requests], output: usize) -> Requests {
    requests.iter().enumerate().fold(0, |set, (i, outputs)| set | (outputs >> output & 1) << i)
}
