//! Arbiters and allocators by name, as a description chooses them.
//!
//! A new one is a file of its own with its `KIND`, its `mod` line and its place in [`ARBITERS`] or [`ALLOCATORS`]; every
//! component that lets its arbiter be chosen takes it from then on. What makes it is a function and no closure: a closure is
//! compiled where it is named, and with it the arbiter, in `system` without optimisation (19,500 instructions a slot of a CXL
//! switch instead of 2,700). Left out: arbiters that have to know more than who asks, such as ages or
//! sizes of packets.

use super::{ALLOCATORS, ARBITERS, Allocator, Arbiter, ArbiterError};

type NewArbiter = Result<Box<dyn Arbiter>, ArbiterError>;
type NewAllocator = Result<Box<dyn Allocator>, ArbiterError>;

/// An arbiter by name.
#[derive(Debug, Clone, Copy)]
pub struct ArbiterKind {
    /// Name in a description.
    pub name: &'static str,
    /// Whom it chooses.
    pub about: &'static str,
    /// Makes one that has granted nothing yet, with a weight for each requester; most rules have no use for weights.
    pub make: fn(&[u16]) -> NewArbiter,
}

/// An allocator by name.
#[derive(Debug, Clone, Copy)]
pub struct AllocatorKind {
    /// Name in a description.
    pub name: &'static str,
    /// How it pairs inputs with outputs.
    pub about: &'static str,
    /// Makes one that has matched nothing yet, of so many inputs and outputs.
    pub make: fn(usize, usize) -> NewAllocator,
}

/// Names of the arbiters that can be chosen.
pub const ARBITER_NAMES: &[&str] = &{
    let (mut names, mut n) = ([""; ARBITERS.len()], 0);
    while n < names.len() {
        names[n] = ARBITERS[n].name;
        n += 1;
    }
    names
};

/// Names of the allocators that can be chosen.
pub const ALLOCATOR_NAMES: &[&str] = &{
    let (mut names, mut n) = ([""; ALLOCATORS.len()], 0);
    while n < names.len() {
        names[n] = ALLOCATORS[n].name;
        n += 1;
    }
    names
};

impl ArbiterKind {
    /// The arbiter of a name.
    ///
    /// # Errors
    /// [`ArbiterError::UnknownArbiter`].
    pub fn by_name(name: &str) -> Result<&'static ArbiterKind, ArbiterError> {
        let found = ARBITERS.iter().find(|kind| kind.name == name);
        found.ok_or_else(|| ArbiterError::UnknownArbiter { found: name.to_owned() })
    }
}

impl AllocatorKind {
    /// The allocator of a name.
    ///
    /// # Errors
    /// [`ArbiterError::UnknownAllocator`].
    pub fn by_name(name: &str) -> Result<&'static AllocatorKind, ArbiterError> {
        let found = ALLOCATORS.iter().find(|kind| kind.name == name);
        found.ok_or_else(|| ArbiterError::UnknownAllocator { found: name.to_owned() })
    }
}
