//! Arbiters and allocators, which decide which requester gets a resource in a slot.
//!
//! Modelled: the decisions, grant by grant, bit-exact with hardware that has the same registers. Left out: time. One call
//! stands for one slot; the kernel module that owns an arbiter gives it a clock and a latency.
//!
//! | arbiter or allocator | choice | service of a requester that keeps requesting |
//! | --- | --- | --- |
//! | [`RoundRobin`] | the first requester at or after a pointer | within N - 1 grants to others |
//! | [`Matrix`] | the least recently granted requester | within N - 1 grants to others |
//! | [`WeightedRoundRobin`] | the requester that is furthest behind its share | w of every W grants, evenly spread, if all request |
//! | [`DeficitRoundRobin`] | the requesters in turn, each while its byte budget lasts | its share of bytes, to within one quantum and one packet |
//! | [`AgeBased`] | the oldest request | once all older requests have been served |
//! | [`StrictPriority`] | the lowest number; overdue requesters first | in slot G of its wait; without a guard possibly never |
//! | [`Separable`] | pairs of an input and an output, in two stages | always, if requests persist until served |
//! | [`Islip`] | pairs of an input and an output, in iterations | always, if requests persist until served |
//!
//! # A walk through one slot
//!
//! 1. The owner collects the requests: one bit per requester ([`Requests`]), or one value per requester where the choice
//!    depends on a value.
//! 2. `arbitrate` names the winner, or pairs inputs with outputs ([`Matching`]). The call changes no state, so the owner
//!    may repeat it or ignore its result.
//! 3. Only if the grant was used, the owner calls `update`, which advances the priority. If a grant found no room
//!    downstream, the priority stays as it is, and the same requester wins the next slot too.
//!
//! System descriptions select an arbiter or an allocator by name ([`ARBITERS`], [`ALLOCATORS`]).
//!
//! # Invariants
//!
//! Only a requester is granted. While anyone requests, someone is granted (by an allocator: at least one pair). The same
//! sequence of calls gives the same grants. The arbiters are compared exhaustively with plain reference models for up to
//! 5 requesters, and the allocators for up to 3 x 3; all of them are also compared in random walks at 64, 65, 128, 129
//! and 1,024 requesters (`testbenches/tests/arbiters.rs`). Sources: `fabric` §6.1 and §6.2; names and sizes are our own
//! choice (§6.2, \[D\]).

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
pub use requests::{MAX_REQUESTERS, Requests, WORD_BITS};
pub use round_robin::RoundRobin;
pub use separable::{Separable, Stage};
pub use weighted::WeightedRoundRobin;

use std::fmt::Debug;
use thiserror::Error;

/// All arbiters that a description can choose.
pub const ARBITERS: &[ArbiterKind] = &[RoundRobin::KIND, Matrix::KIND, WeightedRoundRobin::KIND, StrictPriority::KIND];

/// All allocators that a description can choose.
pub const ALLOCATORS: &[AllocatorKind] = &[Separable::OUTPUT_FIRST, Separable::INPUT_FIRST, Islip::KIND];

/// An arbiter of one resource among many requesters, which decides by the request bits alone.
pub trait Arbiter: Debug + Send + CloneArbiter {
    /// Number of requesters.
    fn requesters(&self) -> usize;

    /// The requester that is granted the slot; `None` if there is no request. Requests beyond the number of requesters
    /// are ignored.
    fn arbitrate(&self, requests: &Requests) -> Option<usize>;

    /// The grant that [`Arbiter::arbitrate`] gave for these requests was used.
    fn update(&mut self, requests: &Requests, granted: usize);

    /// [`Arbiter::arbitrate`] among the first 64 requesters, bit n for requester n: a set of them need not be made.
    fn arbitrate_word(&self, requests: u64) -> Option<usize> {
        self.arbitrate(&Requests::from(requests))
    }

    /// [`Arbiter::update`] for what [`Arbiter::arbitrate_word`] granted.
    fn update_word(&mut self, requests: u64, granted: usize) {
        self.update(&Requests::from(requests), granted);
    }
}

/// Cloning of a boxed arbiter of any kind; implemented for every arbiter that is `Clone`.
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

/// An allocator that pairs inputs with outputs; each input and each output is in at most one pair per slot.
pub trait Allocator: Debug + Send {
    /// Number of inputs.
    fn inputs(&self) -> usize;

    /// Number of outputs.
    fn outputs(&self) -> usize;

    /// Matches inputs to outputs. `requests[i]` holds the outputs that input i requests. Inputs beyond the end of
    /// `requests` request none; entries beyond the number of inputs are ignored.
    fn arbitrate(&self, requests: &[Requests], matching: &mut Matching);

    /// Records that the pairs in the matching were used. The matching must come from [`Allocator::arbitrate`] of this
    /// allocator for the same requests; only [`Matching::drop_pair`] may have changed it since.
    ///
    /// # Panics
    /// The matching was made by an allocator of other sizes.
    fn update(&mut self, requests: &[Requests], used: &Matching);
}

/// Why an arbiter or an allocator cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArbiterError {
    /// The number of requesters is out of range.
    #[error("arbiter: found {found} requesters, expected 1 to {MAX_REQUESTERS}")]
    Requesters {
        /// The value that was given.
        found: usize,
    },
    /// A requester with a quantum of 0 bytes would never be served.
    #[error("deficit round robin: found a quantum of 0 bytes for requester {requester}, expected 1 or more")]
    Quantum {
        /// The requester that has the quantum of 0.
        requester: usize,
    },
    /// A starvation guard that is too short to be guaranteed, because all other requesters may be overdue too.
    #[error("strict priority: found a guard of {found} slots, expected at least {least}, one for each requester")]
    Guard {
        /// The value that was given.
        found: u32,
        /// The shortest guard that can be guaranteed.
        least: u32,
    },
    /// An allocator without iterations matches nothing.
    #[error("iSLIP: found 0 iterations, expected 1 or more")]
    Iterations,
    /// No arbiter has this name.
    #[error("found the arbiter `{found}`, expected one of {}", ARBITER_NAMES.join(", "))]
    UnknownArbiter {
        /// The value that was given.
        found: String,
    },
    /// No allocator has this name.
    #[error("found the allocator `{found}`, expected one of {}", ALLOCATOR_NAMES.join(", "))]
    UnknownAllocator {
        /// The value that was given.
        found: String,
    },
}

/// Checks a number of requesters.
fn sized(requesters: usize) -> Result<usize, ArbiterError> {
    match requesters {
        1..=MAX_REQUESTERS => Ok(requesters),
        found => Err(ArbiterError::Requesters { found }),
    }
}
