//! Cases that stand in a text: `= RULE what happens`, then the lines of the case, up to the next head.
//!
//! A walk: of `bridge.txt` the text behind `= BRG-MAP-01 a read is answered twice` up to the next `=` is judged by the module that knows what
//! its lines mean; an error names the file and the rule.

use super::{BrokenCase, CaseError};

/// A text with cases.
pub(super) struct CaseFile {
    /// Its name, for errors.
    pub(super) name: &'static str,
    /// The text.
    pub(super) text: &'static str,
    /// Makes a case of its rule, of what happens and of its lines.
    pub(super) judged: fn(&'static str, &str, &str) -> Result<BrokenCase, CaseError>,
}

impl CaseFile {
    /// Of each case its rule, what happens, and its lines.
    fn cases(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        self.text.split("\n= ").skip(1).filter_map(|case| {
            let (head, lines) = case.split_once('\n')?;
            let (rule, what) = head.split_once(' ')?;
            Some((rule, what, lines))
        })
    }

    /// Rules that a case breaks.
    pub(super) fn rules(&self) -> impl Iterator<Item = &'static str> {
        self.cases().map(|(rule, ..)| rule)
    }

    /// The case of a rule.
    ///
    /// # Errors
    /// What is wrong with its lines, with the file and the rule.
    pub(super) fn case(&self, rule: &str) -> Result<Option<BrokenCase>, CaseError> {
        let found = self.cases().find(|(id, ..)| *id == rule);
        let wrong = |e| CaseError::of(format!("{}: {rule}: {e}", self.name));
        found.map(|(id, what, lines)| (self.judged)(id, what, lines).map_err(wrong)).transpose()
    }
}
