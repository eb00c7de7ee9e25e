//! Breadth-first search over all states.
//!
//! Breadth first, so that the way to a fault is a shortest one. Of a visited state its fingerprint, its parent and the
//! number of the move that led to it are kept; the states themselves only for the two levels at work.

use super::fingerprint::{Itself, fingerprint};
use super::system::{Step, System};
use crate::coherence::event::Event;
use crate::coherence::flows::name;
use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasherDefault;

/// Where the search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most states that it visits; with more it gives up.
    pub states: usize,
    /// Whether to rename interchangeable agents ([`System::canonical`]). A way to a fault is then looked for again
    /// without renaming, so that its agents keep their names.
    pub symmetry: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 50_000_000, symmetry: false }
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
    /// The words that [`play`](crate::coherence::flows::play) follows to the same end, one a step.
    pub script: Vec<String>,
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
    /// Whether all states were visited.
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
    let report = run(start, limits, progress);
    // Renaming loses which agent is which: the way to the fault is looked for again with names.
    if report.violation.is_some() && limits.symmetry {
        run(start, Limits { symmetry: false, ..limits }, progress)
    } else {
        report
    }
}

fn run<S: System>(start: &S, limits: Limits, progress: &mut dyn FnMut(&Report)) -> Report {
    let renamed = |s: S| if limits.symmetry { s.canonical() } else { s };
    let first = renamed(start.clone());
    let mut visited: HashSet<u128, BuildHasherDefault<Itself>> = HashSet::default();
    visited.insert(fingerprint(&first));
    let mut origins: Vec<Origin> = vec![(0, 0)];
    let mut report = Report { states: 1, ..Report::default() };
    let (mut moves, mut events) = (Vec::new(), Vec::new());
    let mut ends: BTreeMap<u128, (String, u64)> = BTreeMap::new();
    judge(&first, &mut moves, &mut events);
    if let Some(event) = events.pop() {
        report.violation = Some(Violation { event, columns: start.columns(), steps: Vec::new(), script: Vec::new() });
        return report;
    }
    if moves.is_empty() {
        ends.insert(fingerprint(&first), (first.outcome(), 1));
    }
    let mut level = vec![(first, 0_u32)];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (state, number) in level {
            moves.clear();
            state.moves(&mut moves);
            let candidates = std::mem::take(&mut moves);
            for (ordinal, &mv) in candidates.iter().enumerate() {
                report.transitions += 1;
                let mut after = state.clone();
                after.apply(mv, &mut events);
                let after = renamed(after);
                let print = fingerprint(&after);
                if events.is_empty() && !visited.insert(print) {
                    if let Some((_, paths)) = ends.get_mut(&print) {
                        *paths += 1;
                    }
                    continue;
                }
                if events.is_empty() {
                    moves.clear();
                    judge(&after, &mut moves, &mut events);
                }
                if !events.is_empty() {
                    let event = events.swap_remove(0);
                    report.depth += 1;
                    report.violation = Some(way(start, event, &origins, number, ordinal));
                    return report;
                }
                if moves.is_empty() {
                    ends.insert(print, (after.outcome(), 1));
                }
                if report.states == limits.states {
                    report.outcomes = outcomes(ends);
                    return report;
                }
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
    report
}

/// By name.
fn outcomes(ends: BTreeMap<u128, (String, u64)>) -> BTreeMap<String, u64> {
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
    } else if !moves.iter().any(|&mv| state.drains(mv)) {
        events.push(Event::new(
            "COH-INV-09",
            None,
            "system",
            "work is open and nothing can move",
            "a move that leads to the end",
        ));
    }
}

/// The steps from the start to state `number` and one move on, which breaks a rule.
fn way<S: System>(start: &S, event: Event, origins: &[Origin], mut number: u32, last: usize) -> Violation {
    let mut ordinals = vec![last as u16];
    while number != 0 {
        let (parent, ordinal) = origins[number as usize];
        ordinals.push(ordinal);
        number = parent;
    }
    let columns = start.columns();
    let mut state = start.clone();
    let (mut moves, mut events) = (Vec::new(), Vec::new());
    let (mut steps, mut script) = (Vec::new(), Vec::new());
    for ordinal in ordinals.into_iter().rev() {
        moves.clear();
        state.moves(&mut moves);
        // A search with renaming numbers moves of other states; its caller looks the way up again.
        let Some(&mv) = moves.get(usize::from(ordinal)) else { break };
        let step = state.describe(mv);
        let word = name(&columns, &step);
        let same = moves[..usize::from(ordinal)].iter().filter(|m| name(&columns, &state.describe(**m)) == word);
        script.push(match same.count() {
            0 => word,
            n => format!("{word} #{}", n + 1),
        });
        steps.push(step);
        state.apply(mv, &mut events);
    }
    Violation { event, columns, steps, script }
}
