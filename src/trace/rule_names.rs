//! The names of all rules as codes, so that a wave can show by name which rule was broken.
//!
//! Code 0 is no rule; the others count the rule table from 1, so they change when rules are added and never stand in a file
//! without their names.

use std::sync::LazyLock;

use scalepool_protocols::rules;
use scalepool_protocols::wire::{Code, CodeTable};

/// Bits of a code: 2^12 is several times the number of rules.
const WIDTH: u32 = 12;

static TABLE: LazyLock<CodeTable> = LazyLock::new(|| {
    let none = Code { name: "none", value: 0, doc: "No rule was broken." };
    let rows = rules::all().zip(1..).map(|(rule, value)| Code { name: rule.id, value, doc: rule.text });
    let rows: Vec<Code> = std::iter::once(none).chain(rows).collect();
    // Made once for the whole run of the program.
    let codes = Box::leak(rows.into_boxed_slice());
    CodeTable { name: "Rule", width: WIDTH, rule: "none, it does not travel", source: "the rule table", codes }
});

/// The table.
pub(super) fn table() -> &'static CodeTable {
    &TABLE
}

/// Code of a rule; 0 for an id that no rule has.
pub(super) fn code_of(rule: &str) -> u16 {
    TABLE.codes.iter().find(|code| code.name == rule).map_or(0, |code| code.value as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_code_of_its_own() {
        assert!(rules::all().count() < 1 << WIDTH);
        for (n, rule) in rules::all().enumerate() {
            assert_eq!(usize::from(code_of(rule.id)), n + 1);
        }
        assert_eq!(code_of("none"), 0);
        assert_eq!(code_of("NO-SUCH-01"), 0);
    }
}
