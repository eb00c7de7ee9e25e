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
//! 2. `arbitrate` names the winner, or pairs inputs with outputs ([`Matching`]). It changes nothing, so it may be asked
//!    twice, or in vain.
//! 3. If the grant was used, and only then, `update` moves the priority. A grant that found no room downstream leaves the
//!    winner where it is, so it is the winner of the next slot too.
//!
//! Descriptions choose by name ([`ARBITERS`], [`ALLOCATORS`]).
//!
//! # Invariants
//!
//! Whoever is granted has asked; while someone asks, someone is granted (an allocator: at least one pair); the same calls
//! give the same grants. All that choose one are exhaustively compared with plain references for up to 5 requesters, the
//! allocators for up to 3 x 3, and all of them by random walks at 64, 65, 128, 129 and 1,024
//! (`testbenches/tests/arbiters.rs`). Sources: `fabric` §6.1 and §6.2; names and sizes are our own choice (§6.2, \[D\]).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod age;
mod deficit;
mod islip;
mod kind;
mod matching;
mod matrix;
mod priority;
mod requests;
mod round_robin;
mod separable;
mod weighted;

pub use age::AgeBased;
pub use deficit::DeficitRoundRobin;
pub use islip::Islip;
pub use kind::{ALLOCATOR_NAMES, ARBITER_NAMES, AllocatorKind, ArbiterKind};
pub use matching::{Match, Matching};
pub use matrix::Matrix;
pub use priority::StrictPriority;
pub use requests::{MAX_REQUESTERS, Requests};
pub use round_robin::RoundRobin;
pub use separable::{Separable, Stage};
pub use weighted::WeightedRoundRobin;

use std::fmt::Debug;
use thiserror::Error;

/// All arbiters that a description can choose.
pub const ARBITERS: &[ArbiterKind] = &[RoundRobin::KIND, Matrix::KIND, WeightedRoundRobin::KIND, StrictPriority::KIND];

/// All allocators that a description can choose.
pub const ALLOCATORS: &[AllocatorKind] = &[Separable::OUTPUT_FIRST, Separable::INPUT_FIRST, Islip::KIND];

/// One resource, many who want it, no more to know than who asks.
pub trait Arbiter: Debug + Send + CloneArbiter {
    /// Number of requesters.
    fn requesters(&self) -> usize;

    /// Who gets the slot; `None` when nobody asks. Requests of requesters that there are not do not count.
    fn arbitrate(&self, requests: &Requests) -> Option<usize>;

    /// The grant that [`Arbiter::arbitrate`] gave for these requests was used.
    fn update(&mut self, requests: &Requests, granted: usize);
}

/// A copy of an arbiter of any kind; whatever can be cloned has it.
pub trait CloneArbiter {
    /// The copy.
    fn boxed(&self) -> Box<dyn Arbiter>;
}

impl<A: Arbiter + Clone + 'static> CloneArbiter for A {
    fn boxed(&self) -> Box<dyn Arbiter> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Arbiter> {
    fn clone(&self) -> Box<dyn Arbiter> {
        (**self).boxed()
    }
}

/// Inputs and outputs, each of which takes part in one pair of a slot at most.
pub trait Allocator: Debug + Send {
    /// Number of inputs.
    fn inputs(&self) -> usize;

    /// Number of outputs.
    fn outputs(&self) -> usize;

    /// Matches inputs to outputs. `requests[i]` holds the outputs that input i asks for; inputs that are left out at the end
    /// ask for none, and those that there are not do not count.
    fn arbitrate(&self, requests: &[Requests], matching: &mut Matching);

    /// The pairs that stand in the matching were used; [`Allocator::arbitrate`] of this allocator made it for these
    /// requests, and nothing but [`Matching::drop_pair`] has changed it since.
    ///
    /// # Panics
    /// The matching is of another allocator with other sizes.
    fn update(&mut self, requests: &[Requests], used: &Matching);
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
    /// No arbiter has this name.
    #[error("found the arbiter `{found}`, expected one of {}", ARBITER_NAMES.join(", "))]
    UnknownArbiter {
        /// What was given.
        found: String,
    },
    /// No allocator has this name.
    #[error("found the allocator `{found}`, expected one of {}", ALLOCATOR_NAMES.join(", "))]
    UnknownAllocator {
        /// What was given.
        found: String,
    },
}

/// A number of requesters, checked.
fn sized(requesters: usize) -> Result<usize, ArbiterError> {
    match requesters {
        1..=MAX_REQUESTERS => Ok(requesters),
        found => Err(ArbiterError::Requesters { found }),
    }
}
