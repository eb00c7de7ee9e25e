//! A script to a chart.

use crate::coherence::chart::Chart;
use crate::coherence::explore::{Step, System};

/// A script that cannot be followed, or a flow that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// A step is not possible.
    #[error("flow {flow}: found no step `{word}`, expected one of: {possible}")]
    Step {
        /// Flow.
        flow: &'static str,
        /// The step.
        word: String,
        /// What is possible.
        possible: String,
    },
    /// A rule is broken on the way.
    #[error("flow {flow}: {event}")]
    Broken {
        /// Flow.
        flow: &'static str,
        /// What the monitors say.
        event: String,
    },
}

/// Steps of a flow; a longer one goes round.
const MOST_STEPS: usize = 200;

/// Follows a script, drains the system and draws the way.
///
/// A word is `AGENT: WHAT` for what an agent does of its own and `FROM > TO: MESSAGE` for a delivery; ` #2` behind it
/// takes the second that fits; `all` delivers everything.
///
/// # Errors
/// A step that is not possible, a rule that is broken.
pub fn play<S: System>(flow: &'static str, mut system: S, script: &[&str]) -> Result<Chart, FlowError> {
    let columns = system.columns();
    let mut steps = Vec::new();
    let mut make = |system: &mut S, mv: S::Move| {
        let mut events = Vec::new();
        steps.push(system.describe(mv));
        system.apply(mv, &mut events);
        system.check(&mut events);
        match events.first() {
            Some(event) => Err(FlowError::Broken { flow, event: event.to_string() }),
            None if steps.len() > MOST_STEPS => Err(FlowError::Broken { flow, event: "it does not end".into() }),
            None => Ok(()),
        }
    };
    let moves = |system: &S| {
        let mut moves = Vec::new();
        system.moves(&mut moves);
        moves
    };
    for &word in script.iter().chain(&["all"]) {
        if word == "all" {
            while let Some(mv) = moves(&system).into_iter().find(|mv| system.drains(*mv)) {
                make(&mut system, mv)?;
            }
            continue;
        }
        let (text, nth) = match word.split_once(" #") {
            Some((text, n)) => (text, n.parse::<usize>().unwrap_or(1)),
            None => (word, 1),
        };
        let all = moves(&system);
        let mut fitting = all.iter().filter(|mv| name(&columns, &system.describe(**mv)) == text);
        let Some(&mv) = fitting.nth(nth - 1) else {
            let possible: Vec<_> = all.iter().map(|mv| name(&columns, &system.describe(*mv))).collect();
            return Err(FlowError::Step { flow, word: word.to_owned(), possible: possible.join("; ") });
        };
        make(&mut system, mv)?;
    }
    let mut events = Vec::new();
    system.check_idle(&mut events);
    if !system.is_idle() || !events.is_empty() {
        let event = events.first().map_or("it ends with open work".to_owned(), ToString::to_string);
        return Err(FlowError::Broken { flow, event });
    }
    let outcome = system.outcome();
    let mut words = outcome.split(' ');
    let letters = words.next().unwrap_or_default();
    let age = if words.next() == Some("true") { "current" } else { "old" };
    let poison = if words.next().is_some_and(|word| word.starts_with('P')) { " and poisoned" } else { "" };
    let memory = format!("{age}{poison}");
    Ok(Chart::new(&columns, &steps, format!("end: {letters}, memory {memory}")))
}

/// A step in the words of a script.
pub fn name(columns: &[String], step: &Step) -> String {
    let column = |n: &usize| columns.get(*n).map_or("?", String::as_str);
    match step {
        Step::Act { agent, text, .. } => format!("{}: {text}", column(agent)),
        Step::Deliver { from, to, label, .. } => format!("{} > {}: {label}", column(from), column(to)),
    }
}
