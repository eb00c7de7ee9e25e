//! Who leaves a full set (`bridge` §9.1): what the policies have in common.
//!
//! Modelled: a number for each way, whose meaning is the policy's. Left out: which ways may leave at all, which the owner says, since a
//! block that is in use stays. A walk: a set is full and way 2 is in use; the policy names another way, and changes the numbers of the
//! set if that is how it ages.

use super::{lfu::Lfu, lru::Lru, srrip::Srrip};
use std::fmt::Debug;

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvictionPolicy {
    /// The one that was not used for longest.
    Lru,
    /// The one that is expected to be used latest, in 2 bits.
    Srrip,
    /// The one that was used least often.
    Lfu,
}

impl EvictionPolicy {
    /// Names, in the order of [`ALL`](EvictionPolicy::ALL).
    pub const NAMES: &'static [&'static str] = &["lru", "srrip", "lfu"];
    /// All policies.
    pub const ALL: [EvictionPolicy; 3] = [EvictionPolicy::Lru, EvictionPolicy::Srrip, EvictionPolicy::Lfu];

    /// The policy of a name.
    pub fn find(name: &str) -> Option<EvictionPolicy> {
        EvictionPolicy::NAMES
            .iter()
            .zip(EvictionPolicy::ALL)
            .find(|(known, _)| **known == name)
            .map(|(_, policy)| policy)
    }

    /// What it does.
    pub(super) fn replacement(self) -> &'static dyn Replacement {
        match self {
            EvictionPolicy::Lru => &Lru,
            EvictionPolicy::Srrip => &Srrip,
            EvictionPolicy::Lfu => &Lfu,
        }
    }
}

/// What a policy does with the numbers of the ways of a set. `now` counts the lookups of the whole cache.
pub(super) trait Replacement: Debug + Sync {
    /// The number of a block that has just entered.
    fn entered(&self, now: u64) -> u64;

    /// The number of a block that is looked for again; `is_hit`: its sector was there.
    fn used(&self, number: u64, now: u64, is_hit: bool) -> u64;

    /// The way that leaves, of those that may; `None`: none may.
    fn victim(&self, numbers: &mut [u64], now: u64, may_leave: &dyn Fn(usize) -> bool) -> Option<usize>;
}
