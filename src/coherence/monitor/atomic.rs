//! Atomics: what one has computed is stored over the value that it was computed from (`bridge` §4.4).

use crate::content::{Age, LineAddr, LineToken};
use crate::event::CoherenceEvent;

/// What is wrong with a value that gets its place in coherence order now, `at` an agent: it was computed from a value that
/// is no longer the last one, so that the store between is lost, or, of two atomics, the first one.
pub fn lost_atomic(line: LineAddr, at: &str, value: &LineToken) -> Option<CoherenceEvent> {
    let found = "an atomic stored over a value that it was not computed from";
    (value.age == Age::Outdated)
        .then(|| CoherenceEvent::new("COH-INV-15", line, at, found, "an atomic of the last store's value"))
}
