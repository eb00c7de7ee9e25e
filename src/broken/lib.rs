//! Of each rule a short case that breaks it, as a few lines of text and as a wave, or why there is none.
//!
//! Modelled: flits of the golden vectors (`vectors`), runs in which a flit is changed on its way ([`runs`]) and commands of a DRAM
//! (`dram`), each judged by what judges flits, messages and commands of somebody else. What fires first in a case is its rule.
//! Left out: rules that only a part of the model can break, or none; `reasons.txt` says of each why nothing is shown, and the tests named
//! `<rule>_n` break these too.
//!
//! A case is input, never a fault of the model: the model judges it as it judges everything else.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod dram;
mod flits;
mod reason;
pub mod runs;
mod timeline;
mod vectors;

use scalepool_golden::breaking::{BreakingCase, breaking_cases};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::rules::Rule;
use scalepool_trace::{Hub, TimeAxis};
pub use timeline::CaseStep;

/// A case that breaks a rule, judged.
pub struct BrokenCase {
    /// What it is, in words.
    pub what: String,
    /// When the rule is broken \[fs\].
    pub t_fs: u64,
    /// What is found there.
    pub found: String,
    /// The last steps up to there, in the order of time; the rule is broken at the last one.
    pub steps: Vec<CaseStep>,
    /// The records of its wave.
    pub records: Hub,
    /// Unit and end of its times.
    pub axis: TimeAxis,
}

/// The cases of the rules whose ids begin with a prefix.
pub struct BrokenCases {
    vectors: OrderedMap<&'static str, BreakingCase>,
}

impl BrokenCases {
    /// The cases of an id, an area or a family of rules; all for an empty `prefix`.
    pub fn of(prefix: &str) -> BrokenCases {
        BrokenCases { vectors: breaking_cases(prefix) }
    }

    /// The rules that have one, in no order. Those of an id are more than it: all that begin so.
    pub fn rules(&self, prefix: &str) -> Vec<&'static str> {
        let others = runs::rules().chain(dram::rules());
        self.vectors.keys().copied().chain(others).filter(|rule| rule.starts_with(prefix)).collect()
    }

    /// The case of a rule; `None` where there is none.
    ///
    /// # Errors
    /// A case that cannot be made, or that does not break the rule first.
    pub fn find(&self, rule: &Rule) -> anyhow::Result<Option<BrokenCase>> {
        if let Some(case) = self.vectors.get(rule.id) {
            return vectors::judged(rule.id, case).map(Some);
        }
        match runs::of(rule.id)? {
            Some(case) => Ok(Some(case)),
            None => dram::of(rule.id),
        }
    }

    /// Why a rule has no case; `None` where it has one.
    pub fn reason(&self, rule: &Rule) -> Option<&'static str> {
        if self.rules(rule.id).is_empty() { reason::of(rule.id) } else { None }
    }
}

/// The name of the test that breaks a rule, such as `cxl68_crc_01_n`.
pub fn breaking_test(rule: &Rule) -> String {
    format!("{}_n", rule.id.to_lowercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_protocols::rules;

    /// Each line of reasons is that of a rule without a case, and a sentence.
    #[test]
    fn every_reason_is_used() {
        let cases = BrokenCases::of("");
        let used: Vec<&str> = rules::all().filter_map(|rule| cases.reason(rule)).collect();
        for (about, reason) in reason::lines() {
            assert!(used.contains(&reason), "{about}: no rule has this reason: {reason}");
            assert!(reason.ends_with('.') && reason.len() > 20, "{about}: {reason}");
        }
    }

    /// Every rule has a case that breaks it first, or a reason why nothing is shown, and never both.
    #[test]
    fn every_rule_has_a_case_or_a_reason() {
        let cases = BrokenCases::of("");
        let with_cases = cases.rules("");
        let mut wrong = Vec::new();
        for rule in rules::all() {
            let listed = with_cases.iter().filter(|id| **id == rule.id).count();
            match cases.find(rule) {
                Ok(Some(case)) => {
                    let last = case.steps.last().is_some_and(|step| step.t_fs <= case.t_fs);
                    if listed != 1 || !last || !case.found.starts_with(rule.id) || cases.reason(rule).is_some() {
                        wrong.push(format!("{}: listed {listed} times, {}", rule.id, case.found));
                    }
                }
                Ok(None) if listed == 0 && cases.reason(rule).is_some() => (),
                Ok(None) => wrong.push(format!("{}: listed {listed} times, no case, no reason", rule.id)),
                Err(error) => wrong.push(format!("{}: {error:#}", rule.id)),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
