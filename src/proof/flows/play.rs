//! A script to a chart.

use crate::explore::{AgentWait, ChartStep, ExploredSystem, Fairness, REPEATS, endless_event};
use scalepool_coherence::chart::Chart;
use scalepool_coherence::event::CoherenceEvent;

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
/// takes the second that fits; `all` delivers everything. The steps behind [`REPEATS`] must be a fair round
/// ([`crate::explore::liveness`]), back to the state where they begin; what waits all the way round breaks a rule.
///
/// # Errors
/// A step that is not possible, a rule that is broken.
pub fn play<S: ExploredSystem>(flow: &'static str, mut system: S, script: &[&str]) -> Result<Chart, FlowError> {
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
    let mut round: Option<Round<S>> = None;
    for (number, &word) in script.iter().enumerate() {
        if word == "all" {
            drain(&mut system, &mut make)?;
        } else if word == REPEATS {
            round = Some(Round {
                first: number,
                start: system.clone(),
                states: vec![Standing::of(&system)],
                made: Vec::new(),
            });
        } else {
            let mv = fitting(&system, &columns, word).map_err(|possible| FlowError::Step {
                flow,
                word: word.to_owned(),
                possible,
            })?;
            if let Some(round) = &mut round {
                round.made.extend((system.fairness(mv) != Fairness::Optional).then(|| system.action(mv)));
            }
            make(&mut system, mv)?;
            if let Some(round) = &mut round {
                round.states.push(Standing::of(&system));
            }
        }
    }
    if let Some(round) = round {
        return Err(match round.event(&system, &columns) {
            Ok(event) => FlowError::Broken { flow, event: event.to_string() },
            Err(possible) => FlowError::Step { flow, word: REPEATS.to_owned(), possible: possible.to_owned() },
        });
    }
    drain(&mut system, &mut make)?;
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

fn moves<S: ExploredSystem>(system: &S) -> Vec<S::Move> {
    let mut moves = Vec::new();
    system.moves(&mut moves);
    moves
}

/// Delivers everything.
fn drain<S: ExploredSystem>(
    system: &mut S,
    make: &mut impl FnMut(&mut S, S::Move) -> Result<(), FlowError>,
) -> Result<(), FlowError> {
    while let Some(mv) = moves(system).into_iter().find(|mv| system.fairness(*mv) == Fairness::Strong) {
        make(system, mv)?;
    }
    Ok(())
}

/// The move of a word; otherwise the words of all that are possible.
fn fitting<S: ExploredSystem>(system: &S, columns: &[String], word: &str) -> Result<S::Move, String> {
    let (text, nth) = match word.split_once(" #") {
        Some((text, n)) => (text, n.parse::<usize>().unwrap_or(1)),
        None => (word, 1),
    };
    let all = moves(system);
    let mut fitting = all.iter().filter(|mv| name(columns, &system.describe(**mv)) == text);
    fitting.nth(nth - 1).copied().ok_or_else(|| {
        let possible: Vec<_> = all.iter().map(|mv| name(columns, &system.describe(*mv))).collect();
        possible.join("; ")
    })
}

/// A state of a round: who waits, and what could be done.
struct Standing {
    waits: Vec<AgentWait>,
    possible: Vec<(Fairness, u128)>,
}

impl Standing {
    fn of<S: ExploredSystem>(system: &S) -> Self {
        let mut waits = Vec::new();
        system.waits(&mut waits);
        scalepool_ordered::sort(&mut waits);
        let owed = moves(system).into_iter().filter(|mv| system.fairness(*mv) != Fairness::Optional);
        Self { waits, possible: owed.map(|mv| (system.fairness(mv), system.action(mv))).collect() }
    }
}

/// Steps that come again and again.
struct Round<S> {
    /// Steps before it.
    first: usize,
    start: S,
    states: Vec<Standing>,
    /// Actions of its steps.
    made: Vec<u128>,
}

impl<S: ExploredSystem> Round<S> {
    /// What never ends; otherwise what the steps are not.
    fn event(&self, end: &S, columns: &[String]) -> Result<CoherenceEvent, &'static str> {
        if *end != self.start {
            return Err("steps back to the state where they begin");
        }
        let always = |action: &(Fairness, u128)| self.states.iter().all(|s| s.possible.contains(action));
        let owed = |action: &&(Fairness, u128)| action.0 == Fairness::Strong || always(action);
        if self.states.iter().flat_map(|s| &s.possible).filter(owed).any(|(_, action)| !self.made.contains(action)) {
            return Err("steps that leave out nothing that can be done again and again");
        }
        let mut waits = self.states[0].waits.iter().filter(|wait| self.states.iter().all(|s| s.waits.contains(wait)));
        let steps = self.states.len() - 1;
        Ok(endless_event(columns, waits.next().copied(), self.first, self.first + steps))
    }
}

/// A step in the words of a script.
pub fn name(columns: &[String], step: &ChartStep) -> String {
    let column = |n: &usize| columns.get(*n).map_or("?", String::as_str);
    match step {
        ChartStep::Act { agent, text, .. } => format!("{}: {text}", column(agent)),
        ChartStep::Deliver { from, to, label, .. } => format!("{} > {}: {label}", column(from), column(to)),
    }
}
