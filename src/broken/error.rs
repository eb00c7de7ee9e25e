//! Why a case cannot be shown.

use std::fmt::Display;

/// A case that cannot be made, or that does not break its rule first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(String);

impl CaseError {
    /// What is wrong, in words.
    pub(super) fn of(what: impl Display) -> CaseError {
        CaseError(what.to_string())
    }

    /// Nothing breaks a rule first.
    pub(super) fn breaks_nothing(rule: &str, what: &str) -> CaseError {
        CaseError(format!("{rule}: found no {what} that breaks it first, expected one"))
    }
}
