//! Poison that is lost or made.

use super::CoherenceMutant;
use scalepool_coherence::rules::{PoisonRules, PoisonStep};

impl PoisonRules for CoherenceMutant {
    fn stays_poisoned(&self, step: PoisonStep, poison: bool) -> bool {
        match (self, step) {
            (Self::FillPoisons, PoisonStep::Filled) => true,
            (Self::FillCleansPoison, PoisonStep::Filled)
            | (Self::PoisonLeftBehind, PoisonStep::Sent)
            | (Self::MemoryCleansPoison, PoisonStep::Stored)
            | (Self::LoadHidesPoison, PoisonStep::Loaded) => false,
            _ => poison,
        }
    }

    fn poisoned_behind_store(&self, before: bool, merged: bool) -> bool {
        merged || *self == Self::WholeKeepsPoison && before
    }

    fn poisoned_behind_part(&self, merged: bool) -> bool {
        merged && *self != Self::PartClearsPoison
    }
}
