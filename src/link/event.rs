//! What a link end reports.

use super::hook::Direction;
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
pub struct LinkEvent {
    /// How bad.
    pub severity: Severity,
    /// Count of units received before, so the number of the unit concerned.
    pub unit: u64,
    /// Rule, place in the unit, found and expected.
    pub violation: Violation,
}

/// Who has broken a rule, as far as one end can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Culprit {
    /// The end that is watched, by what it sent.
    End,
    /// Its peer, by what came to the end.
    Peer,
    /// Nobody that can be named: a unit was damaged or lost under way, which the link repairs, or it has given up behind that.
    Line,
}

impl Culprit {
    /// Its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Culprit::End => "end",
            Culprit::Peer => "peer",
            Culprit::Line => "line",
        }
    }
}

/// Rules by which an end that has asked too often gives its link up: whether the peer or the line is why, it cannot tell.
const GIVEN_UP: [&str; 3] = ["CXL68-LRS-06", "NVL-RPL-05", "UAL-TXS-07"];

impl LinkEvent {
    /// Who has broken the rule, for an event that concerns what came to the end or what it sent.
    pub fn culprit(&self, way: Direction) -> Culprit {
        match (way, self.severity) {
            (Direction::Tx, _) => Culprit::End,
            (Direction::Rx, Severity::Corrected | Severity::Retrain) => Culprit::Line,
            (Direction::Rx, _) if GIVEN_UP.contains(&self.violation.rule) => Culprit::Line,
            (Direction::Rx, _) => Culprit::Peer,
        }
    }
}

impl fmt::Display for LinkEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit {}: {:?}: {}", self.unit, self.severity, self.violation)
    }
}

/// A finding that concerns slot 0 of a unit.
pub(crate) fn finding(rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) -> Violation {
    let (found, expected) = (found.to_string(), expected.to_string());
    Violation { rule, at: At::Byte(2), found, expected, text: text.to_owned() }
}
