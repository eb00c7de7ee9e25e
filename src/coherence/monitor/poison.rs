//! Poison of values: it stays with the bytes it stands on, and only a store says where it comes and goes (`fabric` §1.8,
//! `memory` §6.3).

use crate::content::{LineAddr, LineContent, LineToken, WHOLE_LINE, merged_poison};
use crate::event::CoherenceEvent;

/// The rule that a value breaks which differs from what it has to be in its poison alone, and what it has to be.
pub fn misled<D: LineContent>(value: &D, expected: &D) -> Option<(&'static str, &'static str)> {
    if value == expected || value.clone().poisoned(expected.is_poisoned()) != *expected {
        return None;
    }
    Some(match expected.is_poisoned() {
        true => ("COH-PSN-01", "the poison of the last store's line"),
        false => ("COH-PSN-02", "a good line, as the last store left it"),
    })
}

/// Which lines are poisoned as their stores have left them, a bit a line: what every value of a line is held against. It
/// knows nothing of the agents, only the stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PoisonedLines(u32);

impl PoisonedLines {
    /// Whether a line is poisoned.
    pub fn has(self, line: LineAddr) -> bool {
        self.0 >> line.0 & 1 == 1
    }

    /// Says what the start of a run has.
    pub fn set(&mut self, line: LineAddr, poison: bool) {
        self.0 = self.0 & !(1 << line.0) | u32::from(poison) << line.0;
    }

    /// A load of the newest value got poison or did not: the rule that this breaks.
    pub fn loaded(self, line: LineAddr, poison: bool) -> Option<CoherenceEvent> {
        let found = format!("a load that {} poison", if poison { "got" } else { "got no" });
        (poison != self.has(line))
            .then(|| CoherenceEvent::new("COH-PSN-05", line, "system", found, "what the last store left"))
    }

    /// A store or write of the bytes that `enables` selects has its place; `poison` is that of its bytes, `value` what the
    /// line is now at the agent that did it. The rule that this value breaks.
    pub fn stored(
        &mut self,
        line: LineAddr,
        poison: bool,
        enables: u64,
        value: Option<&LineToken>,
    ) -> Option<CoherenceEvent> {
        let was = self.has(line);
        let now = merged_poison(was, poison, enables);
        self.set(line, now);
        let value = value.filter(|v| v.poison != now)?;
        let (rule, expected) = match (now, was) {
            (true, _) if enables != WHOLE_LINE => {
                ("COH-PSN-03", "the poison of the line or of the part that is stored")
            }
            (true, _) => ("COH-PSN-01", "the poison of the store's bytes"),
            (false, true) => ("COH-PSN-04", "a good line behind a good store of the whole line"),
            (false, false) => ("COH-PSN-02", "a good line behind a good store"),
        };
        let part = if enables == WHOLE_LINE { "the whole line" } else { "a part" };
        Some(CoherenceEvent::new(rule, line, "system", format!("{value} behind a store of {part}"), expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Age;

    #[test]
    fn each_wrong_poison_has_its_rule() {
        let line = LineAddr(1);
        let token = |poison| LineToken::of(line, Age::New).poisoned(poison);
        for (was, poison, enables, expected) in [
            (true, false, 1, "COH-PSN-03"),
            (false, true, 1, "COH-PSN-03"),
            (false, true, WHOLE_LINE, "COH-PSN-01"),
            (true, false, WHOLE_LINE, "COH-PSN-04"),
            (false, false, 1, "COH-PSN-02"),
        ] {
            let now = merged_poison(was, poison, enables);
            for (value, found) in [(now, None), (!now, Some(expected))] {
                let mut lines = PoisonedLines::default();
                lines.set(line, was);
                let event = lines.stored(line, poison, enables, Some(&token(value)));
                assert_eq!((event.map(|e| e.rule), lines.has(line), lines.has(LineAddr(0))), (found, now, false));
            }
        }
        assert_eq!(misled(&token(true), &token(true)), None);
        assert_eq!(misled(&token(false), &token(true)).map(|m| m.0), Some("COH-PSN-01"));
        assert_eq!(misled(&token(true), &token(false)).map(|m| m.0), Some("COH-PSN-02"));
        assert_eq!(
            misled(&token(true), &LineToken::of(line, Age::Stale)),
            None,
            "another value is no matter of poison"
        );
    }
}
