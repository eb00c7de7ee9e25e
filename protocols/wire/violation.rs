//! A broken rule, with its place.

use std::fmt;

/// Place of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// Byte of a wire unit.
    Byte(usize),
    /// Bits of a message.
    Bits {
        /// Lowest bit.
        lsb: u32,
        /// Number of bits.
        width: u32,
    },
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            At::Byte(n) => write!(f, "byte {n}"),
            At::Bits { lsb, width: 1 } => write!(f, "bit {lsb}"),
            At::Bits { lsb, width } => write!(f, "bits {}:{lsb}", lsb + width - 1),
        }
    }
}

/// One broken rule: what was found where, and what the rule asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Rule id, a row of [`crate::rules`].
    pub rule: &'static str,
    /// Place.
    pub at: At,
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
