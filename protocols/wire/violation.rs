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
    /// Line of memory, by its byte address.
    Line(u64),
    /// A message whose line is not known.
    Message,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            At::Byte(n) => write!(f, "byte {n}"),
            At::Line(address) => write!(f, "line {address:#x}"),
            At::Message => write!(f, "message"),
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

impl Violation {
    /// A finding at a byte of a unit.
    pub fn at_byte(
        rule: &'static str,
        byte: usize,
        found: impl ToString,
        expected: impl ToString,
        text: impl Into<String>,
    ) -> Violation {
        let (found, expected) = (found.to_string(), expected.to_string());
        Violation { rule, at: At::Byte(byte), found, expected, text: text.into() }
    }

    /// Moves a finding of a message to its place in a unit; `byte_of` gives the byte that holds a bit of the message.
    #[must_use]
    pub fn in_unit(mut self, byte_of: impl FnOnce(u32) -> usize) -> Violation {
        if let At::Bits { lsb, .. } = self.at {
            self.text = format!("{} (message {})", self.text, self.at);
            self.at = At::Byte(byte_of(lsb));
        }
        self
    }
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Broken rules.
    pub violations: Vec<Violation>,
    /// Legal, but not as tight as it could be.
    pub lints: Vec<Violation>,
}

impl Findings {
    /// Adds a broken rule at a byte of the unit.
    pub fn broken(
        &mut self,
        rule: &'static str,
        byte: usize,
        found: impl ToString,
        expected: impl ToString,
        text: impl Into<String>,
    ) {
        self.violations.push(Violation::at_byte(rule, byte, found, expected, text));
    }

    /// Moves findings of a message, those from the n-th broken rule on, to their places in the unit; see
    /// [`Violation::in_unit`].
    #[inline]
    pub fn place(&mut self, first: usize, byte_of: impl Fn(u32) -> usize) {
        if self.violations.len() > first {
            let of_message = self.violations.split_off(first);
            self.violations.extend(of_message.into_iter().map(|violation| violation.in_unit(&byte_of)));
        }
    }

    /// Adds a lint at a byte of the unit.
    pub fn lint(
        &mut self,
        rule: &'static str,
        byte: usize,
        found: impl ToString,
        expected: impl ToString,
        text: impl Into<String>,
    ) {
        self.lints.push(Violation::at_byte(rule, byte, found, expected, text));
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}: found {}, expected {}", self.rule, self.at, self.text, self.found, self.expected)
    }
}
