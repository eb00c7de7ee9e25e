//! A broken rule, with its place.

use std::fmt;

/// One broken rule: what was found where, and what the rule asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Rule id, a row of [`crate::rules`].
    pub rule: &'static str,
    /// Place: `byte N` of a wire unit, `bits H:L` of a message.
    pub at: String,
    /// What was found.
    pub found: String,
    /// What the rule expects.
    pub expected: String,
    /// One sentence for people.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}: found {}, expected {}", self.rule, self.at, self.text, self.found, self.expected)
    }
}
