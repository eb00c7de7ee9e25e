//! What the exploration of a `.litmus` file found, in herd's form and as JSON.

use super::histogram::OutcomeSet;
use super::parse::HerdError;
use super::{HerdTest, OutcomeTerm, Quantifier, observation};
use crate::explore::{Counterexample, ExplorationReport};
use scalepool_ordered::OrderedSet;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The outcomes of a file.
#[derive(Debug, Clone)]
pub struct HerdResult {
    test: HerdTest,
    /// Values of what the outcome names, sorted.
    outcomes: Vec<Vec<u32>>,
    /// Different states.
    pub states: usize,
    /// Moves tried.
    pub transitions: u64,
    /// Whether all states were visited.
    pub complete: bool,
    /// The first broken rule of the agents.
    pub violation: Option<Counterexample>,
}

impl HerdResult {
    /// Reads the outcomes of a search.
    ///
    /// # Errors
    /// A program that does not end: a store of a value that is no byte.
    pub(super) fn of(test: HerdTest, report: &ExplorationReport) -> Result<Self, HerdError> {
        let mut outcomes = OrderedSet::new();
        for name in report.outcomes.keys().filter(|_| report.violation.is_none()) {
            let Some((loaded, last)) = read(name) else {
                return Err(HerdError::at(0, 0, "a store of a value above 255", "values of 0 to 255"));
            };
            outcomes.insert(test.outcome(&loaded, &last));
        }
        Ok(Self {
            outcomes: outcomes.into_iter().collect(),
            states: report.states,
            transitions: report.transitions,
            complete: report.complete,
            violation: report.violation.clone(),
            test,
        })
    }

    /// The outcomes as a set to hold runs against.
    pub fn allowed(&self) -> OutcomeSet {
        self.outcomes.iter().cloned().collect()
    }

    /// Outcomes in which the condition holds, and in which it does not.
    pub fn witnesses(&self) -> (u64, u64) {
        let positive = self.outcomes.iter().filter(|outcome| self.test.condition.holds(outcome)).count();
        (positive as u64, (self.outcomes.len() - positive) as u64)
    }

    /// Whether the outcomes are as the file says.
    pub fn is_ok(&self) -> bool {
        self.test.quantifier.is_met(self.witnesses())
    }

    /// The limit of states ended the search, not a broken rule.
    pub fn gave_up(&self) -> bool {
        !self.complete && self.violation.is_none()
    }

    /// What the file claims does not hold: none but `exists` is a question.
    pub fn is_refuted(&self) -> bool {
        self.test.quantifier != Quantifier::Exists && !self.is_ok()
    }

    /// Herd's form.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let test = &self.test;
        writeln!(out, "Test {} {}\nStates {}", test.name, test.quantifier.claim(), self.outcomes.len())?;
        self.outcomes.iter().try_for_each(|outcome| writeln!(out, "{}", test.shown(outcome)))?;
        let (positive, negative) = self.witnesses();
        let verdict = if self.is_ok() { "Ok" } else { "No" };
        writeln!(out, "{verdict}\nWitnesses\nPositive: {positive} Negative: {negative}")?;
        writeln!(out, "Condition {} {}", test.quantifier.name(), test.text)?;
        writeln!(out, "Observation {} {} {positive} {negative}", test.name, observation(self.witnesses()))?;
        writeln!(out, "Explored {} states, {} transitions", self.states, self.transitions)?;
        match &self.violation {
            Some(violation) => write!(out, "{}\n{}", violation.event, violation.chart().text()),
            None => Ok(()),
        }
    }

    /// The JSON form.
    pub fn to_json(&self) -> Value {
        let test = &self.test;
        let outcome = |outcome: &Vec<u32>| Value::Object(test.object(outcome));
        let violations = self.violation.iter().map(|v| {
            let e = &v.event;
            json!({"rule": e.rule, "at": e.at, "found": e.found, "expected": e.expected})
        });
        let (positive, negative) = self.witnesses();
        json!({
            "test": test.name,
            "arch": test.dialect.name(),
            "protocol": test.agents.name(),
            "outcomes": self.outcomes.iter().map(outcome).collect::<Vec<_>>(),
            "condition": test.text,
            "quantifier": test.quantifier.name(),
            "ok": self.is_ok(),
            "positive": positive,
            "negative": negative,
            "observation": observation(self.witnesses()),
            "states": self.states,
            "transitions": self.transitions,
            "complete": self.complete,
            "violations": violations.collect::<Vec<_>>(),
        })
    }
}

/// Values loaded and last values of the lines, from the name of an outcome; `None`: a program has not ended.
fn read(name: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let (loaded, last) = name.split_once("] [")?;
    let bytes = |text: String| serde_json::from_str(&text).ok();
    Some((bytes(format!("{loaded}]"))?, bytes(format!("[{last}"))?))
}

impl HerdTest {
    /// The values of what an outcome names.
    pub(super) fn outcome(&self, loaded: &[u8], last: &[u8]) -> Vec<u32> {
        // Loads are numbered thread by thread, without the stores between them.
        let mut rest = loaded.iter().copied();
        let values: Vec<Vec<u8>> = self
            .program
            .threads
            .iter()
            .map(|thread| {
                thread.iter().map(|access| if access.gives_value() { rest.next().unwrap_or(0) } else { 0 }).collect()
            })
            .collect();
        let value = |named: &OutcomeTerm| match named {
            OutcomeTerm::Register { thread, term, .. } => term.value(&|access| values[*thread][access]),
            OutcomeTerm::Line { line, .. } => last[*line].into(),
        };
        self.named.iter().map(value).collect()
    }
}
