//! Poison travels with its bytes and stays until they are overwritten.

/// Where bytes are handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoisonStep {
    /// Into a copy that is filled.
    Filled,
    /// From a copy to the home.
    Sent,
    /// Into memory.
    Stored,
    /// From a copy to a core that loads.
    Loaded,
}

/// Whether bytes are poisoned.
pub trait PoisonRules {
    /// Bytes that are handed on, by what they were before.
    fn stays_poisoned(&self, _step: PoisonStep, poison: bool) -> bool {
        poison
    }

    /// The copy of a host behind a store, by what it was before and what the merged bytes are.
    fn poisoned_behind_store(&self, _before: bool, merged: bool) -> bool {
        merged
    }

    /// A line of a home's memory behind a write of a part of it, by what the merged bytes are.
    fn poisoned_behind_part(&self, merged: bool) -> bool {
        merged
    }
}
