//! Outcomes of runs with how often each was seen, in the form of litmus7, held against a set of allowed ones.
//!
//! A walk through one histogram: [`HerdTest::allowed_by`] reads a set from a log of herd7 or litmus7, or
//! [`HerdResult::allowed`](super::HerdResult::allowed) gives the explored one; what runs have loaded and left is named as the
//! file names it and counted; an outcome that is not in the set is printed with the run in which it came first.

use super::parse::HerdError;
use super::{HerdTest, OutcomeTerm, Quantifier, observation};
use scalepool_ordered::{OrderedMap, OrderedSet};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Outcomes: the values of what the file names.
pub type OutcomeSet = OrderedSet<Vec<u32>>;

/// How often an outcome was seen, and where it came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenOutcome {
    /// Runs.
    pub runs: u64,
    /// Seed of the simulation in which it came first.
    pub seed: u64,
    /// The first run of that simulation, from 1.
    pub run: u64,
}

/// Runs of a file by outcome.
#[derive(Debug, Clone)]
pub struct HerdHistogram {
    test: HerdTest,
    allowed: OutcomeSet,
    seen: OrderedMap<Vec<u32>, SeenOutcome>,
}

impl HerdTest {
    /// Counts runs, in the order of their simulations: values loaded, thread by thread, and the last ones of the locations.
    pub fn histogram<'a>(
        &self,
        allowed: OutcomeSet,
        runs: impl IntoIterator<Item = (&'a (Vec<u8>, Vec<u8>), SeenOutcome)>,
    ) -> HerdHistogram {
        let mut seen: OrderedMap<Vec<u32>, SeenOutcome> = OrderedMap::new();
        for ((loaded, last), more) in runs {
            let add = |known: &mut SeenOutcome| {
                known.runs += more.runs;
                // Several values may be one outcome; simulations come in their order, what one has seen does not.
                if known.seed == more.seed {
                    known.run = known.run.min(more.run);
                }
            };
            seen.entry(self.outcome(loaded, last)).and_modify(add).or_insert(more);
        }
        HerdHistogram { test: self.clone(), allowed, seen }
    }

    /// The outcomes in a log of herd7 or litmus7: the lines behind `States 3` or `Histogram (3 states)`, which have a value
    /// for everything that the file names.
    ///
    /// # Errors
    /// What is no such log, with its line.
    pub fn allowed_by(&self, log: &str) -> Result<OutcomeSet, HerdError> {
        let mut lines = (1..).zip(log.lines().map(str::trim));
        let count = |line: &str| {
            let digits = line
                .strip_prefix("States ")
                .or_else(|| line.strip_prefix("Histogram (").and_then(|rest| rest.split(' ').next()));
            digits.and_then(|digits| digits.trim().parse::<usize>().ok())
        };
        let Some(states) = lines.find_map(|(_, line)| count(line)) else {
            return Err(HerdError::at(1, 1, "no outcomes", "a line `States 3` or `Histogram (3 states)`"));
        };
        let mut allowed = OutcomeSet::new();
        for n in 0..states {
            let Some((number, line)) = lines.next() else {
                let expected = format!("{states} outcomes");
                return Err(HerdError::at(log.lines().count(), 1, format!("{n} outcomes"), expected));
            };
            // litmus7 puts the number of runs in front.
            let atoms = line.split_once('>').map_or(line, |(_, atoms)| atoms);
            let mut values = OrderedMap::new();
            for atom in atoms.split(';').map(str::trim).filter(|atom| !atom.is_empty()) {
                let value =
                    atom.split_once('=').and_then(|(name, value)| Some((name, value.trim().parse::<u32>().ok()?)));
                let Some((name, value)) = value else {
                    return Err(HerdError::at(number, 1, format!("`{atom}`"), "a value such as 0:EAX=1 or [x]=1"));
                };
                values.insert(name.trim().trim_matches(['[', ']']).to_owned(), value);
            }
            let outcome: Option<Vec<u32>> = self.named.iter().map(|named| values.get(&named.key()).copied()).collect();
            match outcome.filter(|outcome| outcome.len() == values.len()) {
                Some(outcome) => drop(allowed.insert(outcome)),
                None => {
                    let names: Vec<String> = self.named.iter().map(OutcomeTerm::key).collect();
                    return Err(HerdError::at(
                        number,
                        1,
                        format!("`{atoms}`"),
                        format!("values of {}", names.join(", ")),
                    ));
                }
            }
        }
        Ok(allowed)
    }

    /// An outcome as herd prints it.
    pub(super) fn shown(&self, outcome: &[u32]) -> String {
        let words = self.named.iter().zip(outcome).map(|(named, value)| match named {
            OutcomeTerm::Register { .. } => format!("{}={value};", named.key()),
            OutcomeTerm::Line { name, .. } => format!("[{name}]={value};"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// An outcome as an object.
    pub(super) fn object(&self, outcome: &[u32]) -> Map<String, Value> {
        self.named.iter().zip(outcome).map(|(named, value)| (named.key(), json!(value))).collect()
    }
}

impl HerdHistogram {
    /// Outcomes that are not allowed.
    pub fn outside(&self) -> impl Iterator<Item = (&Vec<u32>, &SeenOutcome)> {
        self.seen.iter().filter(|(outcome, _)| !self.allowed.contains(*outcome))
    }

    /// Allowed outcomes that were seen.
    pub fn reached(&self) -> usize {
        self.seen.len() - self.outside().count()
    }

    /// Runs in which the condition holds, and in which it does not.
    pub fn witnesses(&self) -> (u64, u64) {
        let sum = |holds: bool| {
            let of = self.seen.iter().filter(|(outcome, _)| self.test.condition.holds(outcome) == holds);
            of.map(|(_, seen)| seen.runs).sum()
        };
        (sum(true), sum(false))
    }

    /// Whether the runs are as the file says.
    fn is_validated(&self) -> bool {
        self.test.quantifier.is_met(self.witnesses())
    }

    /// What the file claims is not so: none but `exists` is a question.
    pub fn is_refuted(&self) -> bool {
        self.test.quantifier != Quantifier::Exists && !self.is_validated()
    }

    /// The form of litmus7, and what was reached of the allowed outcomes. `*` stands at outcomes in which the condition holds.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let test = &self.test;
        writeln!(out, "Test {} {}\nHistogram ({} states)", test.name, test.quantifier.claim(), self.seen.len())?;
        for (outcome, seen) in &self.seen {
            let mark = if test.condition.holds(outcome) { '*' } else { ':' };
            writeln!(out, "{:<6}{mark}>{}", seen.runs, test.shown(outcome))?;
        }
        let (positive, negative) = self.witnesses();
        let (verdict, is) = if self.is_validated() { ("Ok", "is") } else { ("No", "is NOT") };
        writeln!(out, "{verdict}\n\nWitnesses\nPositive: {positive}, Negative: {negative}")?;
        writeln!(out, "Condition {} {} {is} validated", test.quantifier.name(), test.text)?;
        writeln!(out, "Observation {} {} {positive} {negative}", test.name, observation(self.witnesses()))?;
        writeln!(out, "Reached {} of {} allowed outcomes", self.reached(), self.allowed.len())?;
        self.outside().try_for_each(|(outcome, SeenOutcome { runs, seed, run })| {
            let (outcome, plural) = (test.shown(outcome), if *runs == 1 { "run" } else { "runs" });
            writeln!(out, "Not allowed: {outcome} {runs} {plural}, the first with --seed {seed} --runs {run}")
        })
    }

    /// The JSON form.
    pub fn to_json(&self) -> Value {
        let test = &self.test;
        let seen = self.seen.iter().map(|(outcome, SeenOutcome { runs, seed, run })| {
            let mut form = json!({"outcome": test.object(outcome), "runs": runs});
            form["allowed"] = json!(self.allowed.contains(outcome));
            form["first"] = json!({"seed": seed, "run": run});
            form
        });
        let (positive, negative) = self.witnesses();
        json!({
            "test": test.name,
            "arch": test.dialect.name(),
            "protocol": test.agents.name(),
            "histogram": seen.collect::<Vec<_>>(),
            "condition": test.text,
            "quantifier": test.quantifier.name(),
            "ok": self.is_validated(),
            "positive": positive,
            "negative": negative,
            "observation": observation(self.witnesses()),
            "reached": self.reached(),
            "allowed": self.allowed.len(),
        })
    }
}
