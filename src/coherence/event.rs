//! What an agent or a monitor reports: a broken rule, where, what was found and what was expected.

use super::content::LineAddr;
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};
use std::fmt;

/// A broken rule of family COH.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoherenceEvent {
    /// Rule id of the conformance table.
    pub rule: &'static str,
    /// Line concerned; `None` where no line is known (an identifier nobody has given).
    pub line: Option<LineAddr>,
    /// Agent that saw it, e.g. `device 1`.
    pub at: String,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl CoherenceEvent {
    /// An event at a place that its reporter names.
    pub fn new(
        rule: &'static str,
        line: impl Into<Option<LineAddr>>,
        at: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { rule, line: line.into(), at: at.into(), found: found.into(), expected: expected.into() }
    }

    /// The same as a broken rule of any family.
    pub fn violation(&self) -> Violation {
        Violation {
            rule: self.rule,
            at: self.line.map_or(At::Message, |line| At::Line(line.address())),
            found: self.found.clone(),
            expected: self.expected.clone(),
            text: self.text(),
        }
    }

    /// Who saw it, and what the rule says.
    pub fn text(&self) -> String {
        format!("{}: {}", self.at, rules::find(self.rule).map_or(self.rule, |rule| rule.text))
    }
}

impl fmt::Display for CoherenceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.at)?;
        if let Some(line) = self.line {
            write!(f, ", line {:#x}", line.address())?;
        }
        write!(f, ": found {}, expected {}", self.found, self.expected)
    }
}
