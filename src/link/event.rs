//! What a link end reports.

use scalepool_protocols::wire::{At, Violation};
use std::fmt;

/// How bad it is, in the words of the conformance catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Repaired on the spot; logged as correctable.
    Corrected,
    /// A protocol event; the receiver's state is unchanged.
    Protocol,
    /// The unit is dropped and the link is trained again.
    Retrain,
    /// The link stops.
    Uncorrectable,
    /// The peer has declared viral: the link goes on, whoever uses it has to contain the damage.
    Fatal,
}

/// A broken rule, seen by one end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// How bad.
    pub severity: Severity,
    /// Count of units received before, so the number of the unit concerned.
    pub unit: u64,
    /// Rule, place in the unit, found and expected.
    pub violation: Violation,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit {}: {:?}: {}", self.unit, self.severity, self.violation)
    }
}

/// A finding that concerns slot 0 of a unit.
pub(in crate::link) fn finding(
    rule: &'static str,
    found: impl ToString,
    expected: impl ToString,
    text: &str,
) -> Violation {
    let (found, expected) = (found.to_string(), expected.to_string());
    Violation { rule, at: At::Byte(2), found, expected, text: text.to_owned() }
}
