//! What comes to the watchers and tables of a fabric or of memories and breaks a rule: steps of ports, credits, registers, commands,
//! identifiers, copies, pages.
//!
//! Modelled: a watcher or a table with nothing in it, and words of what happens, a line each, a nanosecond apart; the first finding or refusal
//! is that of the rule. What the words of a watcher mean stands with it in `watched/`. The cases stand in `watched.txt`; the wave has what
//! each line sets.
//! Left out: messages, which `switches` has.
//!
//! A walk: to the watcher of downstream ports comes `step 0 - - link_up`, of a port to which nothing is bound and which Link Disable holds:
//! FAB-BND-03.

mod ends;
mod io_link;
mod line68;
mod load;
mod memories;
mod ports;
mod registers;
mod tables;
mod tlps;
mod ual_switch;

use super::case_file::CaseFile;
use super::timeline::told;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::{Body, FigureSignal, Hub, PlaceKind, RecordKind, Stamp, TimeAxis};

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "watched.txt", text: include_str!("watched.txt"), judged };

/// Time from line to line \[fs\].
const STEP_FS: u64 = 1_000_000;

/// Bits of a value in the wave.
const VALUE_BITS: u32 = 64;

/// What is found at a line.
pub(super) enum Found {
    /// A watcher has found a rule broken.
    Violation(Violation),
    /// A table has refused something; the words name the rule.
    Refused(String),
}

/// What a line did.
#[derive(Default)]
pub(super) struct LineOutcome {
    /// In words; empty: the words of the line say it.
    pub(super) said: String,
    /// A number of it, for the wave.
    pub(super) value: u64,
    pub(super) found: Option<Found>,
}

impl LineOutcome {
    /// What a watcher says of a line.
    pub(super) fn judged(said: impl Into<String>, value: u64, found: Option<Violation>) -> Option<LineOutcome> {
        Some(LineOutcome { said: said.into(), value, found: found.map(Found::Violation) })
    }

    /// What a table says of a line.
    pub(super) fn tried<T, E: std::fmt::Display>(
        said: impl Into<String>,
        value: u64,
        tried: Result<T, E>,
    ) -> Option<LineOutcome> {
        let found = tried.err().map(|error| Found::Refused(error.to_string()));
        Some(LineOutcome { said: said.into(), value, found })
    }
}

/// A watcher or a table.
pub(super) trait CaseWatcher {
    /// Takes a line; `None`: it is none of this one.
    fn line(&mut self, words: &[&str]) -> Option<LineOutcome>;
}

/// Makes a watcher.
pub(super) type MadeWatched = fn() -> Option<Box<dyn CaseWatcher>>;

/// All of them, by name.
fn all() -> impl Iterator<Item = (&'static str, MadeWatched)> {
    let lists = [
        memories::ALL,
        ports::ALL,
        tables::ALL,
        tlps::ALL,
        ends::ALL,
        io_link::ALL,
        line68::ALL,
        load::ALL,
        registers::ALL,
        ual_switch::ALL,
    ];
    lists.into_iter().flatten().copied()
}

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let name = lines.next().unwrap_or_default();
    let made = all().find(|(known, _)| *known == name);
    let known = || all().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let (name, make) = made.ok_or_else(|| CaseError::of(format!("found `{name}`, expected one of {}", known())))?;
    let mut watched = make().ok_or_else(|| CaseError::of(format!("found no {name}, expected one")))?;
    let mut hub = Hub::new(true);
    let mut findings = hub.tap(name, PlaceKind::Findings);
    let signal = FigureSignal { name: "value".to_owned(), width: VALUE_BITS, names: None };
    let mut values = hub.tap(&format!("{name}.steps"), PlaceKind::Figures(vec![signal].into()));
    let mut steps = Vec::new();
    for (n, line) in lines.enumerate() {
        let t_fs = STEP_FS * (n as u64 + 1);
        let words: Vec<&str> = line.split(' ').collect();
        let LineOutcome { said, value, found } =
            watched.line(&words).ok_or_else(|| CaseError::of(format!("found `{line}`, expected a line of {name}")))?;
        let said = if said.is_empty() { line.to_owned() } else { said };
        steps.push(CaseStep { t_fs, place: name.to_owned(), said });
        let at = Stamp { t_fs, cycle: n as u64 + 1 };
        values.record(at, RecordKind::Value, 0, 0, || Body::Figure { signal: 0, value });
        let mut violation = match found {
            None => continue,
            Some(Found::Violation(violation)) if violation.rule == rule => violation,
            Some(Found::Violation(violation)) => {
                return Err(CaseError::of(format!("found {violation}, expected {rule} first")));
            }
            Some(Found::Refused(text)) if super::descriptions::names(&text, rule) => refused(rule, &text),
            Some(Found::Refused(text)) => {
                return Err(CaseError::of(format!("found `{text}`, expected a refusal that names {rule}")));
            }
        };
        // A line has no bytes.
        violation.at = At::Message;
        let found = told(&violation);
        findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
        let axis = TimeAxis::of_step(1, t_fs + STEP_FS);
        return Ok(BrokenCase { what: what.to_owned(), t_fs, found, steps, records: Some(hub), axis });
    }
    Err(CaseError::breaks_nothing(rule, "line"))
}

/// A refusal as a broken rule: what stands in front of its `, expected` was found.
fn refused(rule: &'static str, text: &str) -> Violation {
    let (found, expected) = text.split_once(", expected ").unwrap_or((text, "it to be refused"));
    let strip = |text: &str| text.strip_prefix("found ").unwrap_or(text).to_owned();
    let text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
    Violation { rule, at: At::Message, found: strip(found), expected: expected.to_owned(), text }
}
