//! Breadth-first search over all states.
//!
//! Breadth first, so that the way to a fault is a shortest one. Of a visited state its fingerprint, its parent and the
//! number of the move that led to it are kept; the states themselves only for the two levels at work. When nothing is broken
//! and all states were visited, [`super::liveness`] looks for what never ends; for that all moves are kept too.

use super::fingerprint::{Visited, fingerprint};
use super::graph::Graph;
use super::liveness::{self, Endless, Lasso};
use super::system::{Fairness, Step, System, Wait};
use crate::flows::name;
use scalepool_coherence::chart::Chart;
use scalepool_coherence::event::Event;
use std::collections::BTreeMap;

/// Where the search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most states that it visits; with more it gives up.
    pub states: usize,
    /// Whether to rename interchangeable agents ([`System::canonical`]). A way to a fault is then looked for again
    /// without renaming, so that its agents keep their names; so is what never ends.
    pub symmetry: bool,
    /// Whether to look for what never ends, when all states were visited and no rule is broken in one.
    pub liveness: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 50_000_000, symmetry: false, liveness: true }
    }
}

/// A fault with the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What is broken.
    pub event: Event,
    /// Names of the agents, the columns of a chart.
    pub columns: Vec<String>,
    /// Every step from the start, the last one breaks the rule.
    pub steps: Vec<Step>,
    /// Something never ends: from this step on (counted from 0) the steps come again and again. Behind the last step:
    /// nothing more happens.
    pub repeats: Option<usize>,
    /// The words that [`play`](crate::flows::play) follows to the same end.
    pub script: Vec<String>,
}

impl Violation {
    /// The way to the fault as a message sequence chart.
    pub fn chart(&self) -> Chart {
        Chart::new(&self.columns, &self.steps, self.event.to_string()).repeating(self.repeats)
    }
}

/// What the search found. Equal on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Different states.
    pub states: usize,
    /// Moves tried.
    pub transitions: u64,
    /// Longest shortest way from the start, in moves.
    pub depth: usize,
    /// Equal agents were told apart, without symmetry.
    pub by_name: bool,
    /// Whether all states were visited, and, if that was asked for, all moves looked at for what never ends.
    pub complete: bool,
    /// The first fault, if any; the search ends there.
    pub violation: Option<Violation>,
    /// Outcomes of the visited states without a move, each with the number of moves that end there.
    pub outcomes: BTreeMap<String, u64>,
}

/// A state's parent and the move that led here.
type Origin = (u32, u16);

/// New states between two reports of progress.
const PROGRESS_STATES: usize = 1 << 14;

/// Visits every state reachable from `start`.
pub fn search<S: System>(start: &S, limits: Limits) -> Report {
    search_with(start, limits, &mut |_| ())
}

/// As [`search()`]; `progress` sees the counts now and then.
pub fn search_with<S: System>(start: &S, limits: Limits, progress: &mut dyn FnMut(&Report)) -> Report {
    let named = Limits { symmetry: false, ..limits };
    if limits.symmetry {
        let report = run(start, Limits { liveness: false, ..limits }, progress);
        if report.violation.is_none() && !(report.complete && limits.liveness) {
            return report;
        }
        // Renaming loses which agent is which: the way to the fault, and who waits, is looked for again with names.
        let again = run(start, named, progress);
        if again.violation.is_some() { again } else { Report { complete: again.complete, ..report } }
    } else {
        run(start, named, progress)
    }
}

fn run<S: System>(start: &S, limits: Limits, progress: &mut dyn FnMut(&Report)) -> Report {
    let renamed = |s: S| if limits.symmetry { s.canonical() } else { s };
    let first = renamed(start.clone());
    let most = limits.states.min(u32::MAX as usize);
    let mut visited = Visited::default();
    let _ = visited.insert(fingerprint(&first));
    let mut origins: Vec<Origin> = vec![(0, 0)];
    let mut report = Report { states: 1, by_name: !limits.symmetry, ..Report::default() };
    let (mut moves, mut events) = (Vec::new(), Vec::new());
    let mut ends: BTreeMap<u32, (String, u64)> = BTreeMap::new();
    let mut graph = limits.liveness.then(Graph::default);
    let mut waits = Vec::new();
    judge(&first, &mut moves, &mut events);
    if let Some(event) = events.pop() {
        report.violation = Some(way(start, event, &[], None));
        return report;
    }
    if moves.is_empty() {
        ends.insert(0, (first.outcome(), 1));
    }
    record_state(graph.as_mut(), &first, &mut waits);
    let mut level = vec![(first, 0_u32)];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (state, number) in level {
            moves.clear();
            state.moves(&mut moves);
            let candidates = std::mem::take(&mut moves);
            if let Some(graph) = &mut graph {
                if graph.is_full() {
                    report.outcomes = outcomes(ends);
                    return report;
                }
                graph.begin_moves();
            }
            for (ordinal, &mv) in candidates.iter().enumerate() {
                report.transitions += 1;
                let mut after = state.clone();
                after.apply(mv, &mut events);
                let after = renamed(after);
                if events.is_empty() {
                    let place = visited.insert(fingerprint(&after));
                    let (Ok(to) | Err(to)) = place;
                    if let Some(graph) = &mut graph {
                        let fairness = state.fairness(mv);
                        let is_owed = fairness != Fairness::Optional;
                        graph.push_move(to, is_owed.then(|| (fairness, state.action(mv))));
                    }
                    if place.is_err() {
                        if let Some((_, paths)) = ends.get_mut(&to) {
                            *paths += 1;
                        }
                        continue;
                    }
                    moves.clear();
                    judge(&after, &mut moves, &mut events);
                    if events.is_empty() && moves.is_empty() {
                        ends.insert(to, (after.outcome(), 1));
                    }
                }
                if !events.is_empty() {
                    let event = events.swap_remove(0);
                    let ordinals = path(&origins, number).into_iter().chain([ordinal as u16]);
                    report.depth += 1;
                    report.violation = Some(way(start, event, &ordinals.collect::<Vec<_>>(), None));
                    return report;
                }
                if report.states == most {
                    report.outcomes = outcomes(ends);
                    return report;
                }
                record_state(graph.as_mut(), &after, &mut waits);
                report.states += 1;
                if report.states.is_multiple_of(PROGRESS_STATES) {
                    progress(&report);
                }
                next.push((after, origins.len() as u32));
                origins.push((number, ordinal as u16));
            }
            moves = candidates;
        }
        report.depth += usize::from(!next.is_empty());
        level = next;
    }
    report.outcomes = outcomes(ends);
    report.complete = true;
    let lasso = graph.and_then(|graph| liveness::find(&graph));
    report.violation = lasso.map(|lasso| endless(start, &lasso, &origins));
    report
}

/// A state and who waits in it.
fn record_state<S: System>(graph: Option<&mut Graph>, state: &S, waits: &mut Vec<Wait>) {
    if let Some(graph) = graph {
        waits.clear();
        state.waits(waits);
        waits.sort_unstable();
        graph.push_state(waits, state.is_quiescent());
    }
}

/// By name.
fn outcomes(ends: BTreeMap<u32, (String, u64)>) -> BTreeMap<String, u64> {
    let mut named = BTreeMap::new();
    for (outcome, paths) in ends.into_values() {
        *named.entry(outcome).or_default() += paths;
    }
    named
}

/// The invariants, and that whatever is open can go on. Leaves the possible moves in `moves`.
fn judge<S: System>(state: &S, moves: &mut Vec<S::Move>, events: &mut Vec<Event>) {
    state.check(events);
    state.moves(moves);
    if state.is_idle() {
        state.check_idle(events);
    } else if !moves.iter().any(|&mv| state.fairness(mv) == Fairness::Strong) {
        events.push(Event::new(
            "COH-INV-09",
            None,
            "system",
            "work is open and nothing can move",
            "a move that leads to the end",
        ));
    }
}

/// What [`play`](crate::flows::play) reads as the place from which the steps come again and again.
pub const REPEATS: &str = "again and again";

/// The wait that never ends, or all work, with the steps that come again and again: from `first` on of `steps`.
pub fn endless_event(columns: &[String], wait: Option<Wait>, first: usize, steps: usize) -> Event {
    let how = match steps - first {
        0 => "nothing more happens".to_owned(),
        1 => format!("step {steps} comes again and again"),
        _ => format!("steps {} to {steps} come again and again", first + 1),
    };
    match wait {
        Some(Wait { agent, awaited, line }) => {
            let at = columns.get(agent).map_or("?", String::as_str);
            Event::new("COH-INV-10", line, at, format!("{awaited} that waits for ever: {how}"), "an end of every wait")
        }
        None => {
            let found = format!("no way to an end of all work: {how}");
            Event::new("COH-INV-09", None, "system", found, "every state reaches quiescence")
        }
    }
}

/// The run that never ends.
fn endless<S: System>(start: &S, lasso: &Lasso, origins: &[Origin]) -> Violation {
    let mut ordinals = path(origins, lasso.state);
    let first = ordinals.len();
    ordinals.extend(&lasso.round);
    let wait = match lasso.endless {
        Endless::Work => None,
        Endless::Wait(wait) => Some(wait),
    };
    let event = endless_event(&start.columns(), wait, first, ordinals.len());
    way(start, event, &ordinals, Some(first))
}

/// The moves from the start to a state, each by its place among the moves of its state.
fn path(origins: &[Origin], mut number: u32) -> Vec<u16> {
    let mut ordinals = Vec::new();
    while number != 0 {
        let (parent, ordinal) = origins[number as usize];
        ordinals.push(ordinal);
        number = parent;
    }
    ordinals.reverse();
    ordinals
}

/// The steps of some moves from the start.
fn way<S: System>(start: &S, event: Event, ordinals: &[u16], repeats: Option<usize>) -> Violation {
    let columns = start.columns();
    let mut state = start.clone();
    let (mut moves, mut events) = (Vec::new(), Vec::new());
    let (mut steps, mut script) = (Vec::new(), Vec::new());
    for &ordinal in ordinals {
        moves.clear();
        state.moves(&mut moves);
        // A search with renaming numbers moves of other states; its caller looks the way up again.
        let Some(&mv) = moves.get(usize::from(ordinal)) else { break };
        let step = state.describe(mv);
        let word = name(&columns, &step);
        let same = moves[..usize::from(ordinal)].iter().filter(|m| name(&columns, &state.describe(**m)) == word);
        if repeats == Some(steps.len()) {
            script.push(REPEATS.to_owned());
        }
        script.push(match same.count() {
            0 => word,
            n => format!("{word} #{}", n + 1),
        });
        steps.push(step);
        state.apply(mv, &mut events);
    }
    if repeats == Some(steps.len()) {
        script.push(REPEATS.to_owned());
    }
    Violation { event, columns, steps, repeats, script }
}
