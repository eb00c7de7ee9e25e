//! Breadth-first search over all states.
//!
//! Breadth first, so that the way to a fault is a shortest one. Of a visited state its fingerprint, its parent and the
//! number of the move that led to it are kept; the states themselves only for the two levels at work. When nothing is broken
//! and all states were visited, [`super::liveness`] looks for what never ends; for that all moves are kept too.

use super::fingerprint::{Visited, fingerprint};
use super::graph::Graph;
use super::liveness::{self, Endless, Lasso};
use super::system::{AgentWait, ChartStep, ExploredSystem, Fairness};
use crate::flows::name;
use scalepool_coherence::chart::Chart;
use scalepool_coherence::event::CoherenceEvent;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{PoisonError, RwLock};
use std::thread::Scope;

/// Where the search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most states that it visits; with more it gives up.
    pub states: usize,
    /// Whether to rename interchangeable agents ([`ExploredSystem::canonical`]). A way to a fault is then looked for
    /// again without renaming, so that its agents keep their names; so is what never ends.
    pub symmetry: bool,
    /// Whether to look for what never ends, when all states were visited and no rule is broken in one.
    pub liveness: bool,
    /// Threads that try the moves. The report does not depend on it.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 50_000_000, symmetry: false, liveness: true, threads: 1 }
    }
}

/// A fault with the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterexample {
    /// What is broken.
    pub event: CoherenceEvent,
    /// Names of the agents, the columns of a chart.
    pub columns: Vec<String>,
    /// Every step from the start, the last one breaks the rule.
    pub steps: Vec<ChartStep>,
    /// Something never ends: from this step on (counted from 0) the steps come again and again. Behind the last step:
    /// nothing more happens.
    pub repeats: Option<usize>,
    /// The words that [`play`](crate::flows::play) follows to the same end.
    pub script: Vec<String>,
}

impl Counterexample {
    /// The way to the fault as a message sequence chart.
    pub fn chart(&self) -> Chart {
        Chart::new(&self.columns, &self.steps, self.event.to_string()).repeating(self.repeats)
    }
}

/// What the search found. Equal on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExplorationReport {
    /// Different states.
    pub states: usize,
    /// Moves tried.
    pub transitions: u64,
    /// Longest shortest way from the start, in moves.
    pub depth: usize,
    /// States of the next level that have been found; 0 at the end.
    pub frontier: usize,
    /// Memory of what is kept of every visited state: its fingerprint, the way to it, and its moves for the search for what never
    /// ends \[bytes\]. The states of the frontier, which are kept whole, are not in it.
    pub kept_bytes: usize,
    /// Equal agents were told apart, without symmetry.
    pub by_name: bool,
    /// Whether all states were visited, and, if that was asked for, all moves looked at for what never ends.
    pub complete: bool,
    /// The first fault, if any; the search ends there.
    pub violation: Option<Counterexample>,
    /// Outcomes of the visited states without a move, each with the number of moves that end there.
    pub outcomes: BTreeMap<String, u64>,
}

/// A state's parent and the move that led here.
type Origin = (u32, u16);

/// States that a thread takes at once: some milliseconds of work.
const PART_STATES: usize = 256;

/// New states between two reports of progress.
const PROGRESS_STATES: usize = 1 << 14;

/// Visits every state reachable from `start`.
pub fn search<S: ExploredSystem>(start: &S, limits: Limits) -> ExplorationReport {
    search_with(start, limits, &mut |_| ())
}

/// As [`search()`]; `progress` sees the counts now and then.
pub fn search_with<S: ExploredSystem>(
    start: &S,
    limits: Limits,
    progress: &mut dyn FnMut(&ExplorationReport),
) -> ExplorationReport {
    let named = Limits { symmetry: false, ..limits };
    if limits.symmetry {
        let report = run(start, Limits { liveness: false, ..limits }, progress);
        if report.violation.is_none() && !(report.complete && limits.liveness) {
            return report;
        }
        // Renaming loses which agent is which: the way to the fault, and who waits, is looked for again with names.
        let again = run(start, named, progress);
        if again.violation.is_some() {
            again
        } else {
            ExplorationReport { complete: again.complete, kept_bytes: again.kept_bytes, ..report }
        }
    } else {
        run(start, named, progress)
    }
}

/// Where a move leads.
enum Leads {
    /// To a state that this part or a batch before has found.
    Known,
    /// To the next of the new states.
    New,
    /// To the next of the faults.
    Broken,
}

/// A move of a state.
struct Edge {
    leads: Leads,
    print: u128,
    /// What a fair run owes the move, with its action; `None`: nothing.
    owed: Option<(Fairness, u128)>,
}

/// A state that was not visited before, judged.
struct NewState<S> {
    state: S,
    /// The first rule that is broken in it.
    broken: Option<Box<CoherenceEvent>>,
    /// The name of the outcome, where no move is left.
    outcome: Option<Box<str>>,
    /// How many wait; they stand in [`Expansion::waits`].
    waits: usize,
    is_quiescent: bool,
}

/// What the moves of some states lead to, in order.
struct Expansion<S> {
    /// Moves of each state.
    moves: Vec<usize>,
    edges: Vec<Edge>,
    new: Vec<NewState<S>>,
    faults: Vec<CoherenceEvent>,
    waits: Vec<AgentWait>,
}

impl<S> Default for Expansion<S> {
    fn default() -> Self {
        Self { moves: Vec::new(), edges: Vec::new(), new: Vec::new(), faults: Vec::new(), waits: Vec::new() }
    }
}

/// Makes the moves of states, and judges what is new.
struct Expander<S: ExploredSystem> {
    symmetry: bool,
    liveness: bool,
    /// What the part at work has found itself.
    found: Visited,
    moves: Vec<S::Move>,
    after_moves: Vec<S::Move>,
    events: Vec<CoherenceEvent>,
}

impl<S: ExploredSystem> Expander<S> {
    fn new(limits: Limits) -> Self {
        let (moves, after_moves, events) = Default::default();
        Self {
            symmetry: limits.symmetry,
            liveness: limits.liveness,
            found: Visited::default(),
            moves,
            after_moves,
            events,
        }
    }

    fn renamed(&self, state: S) -> S {
        if self.symmetry { state.canonical() } else { state }
    }

    /// Judges a state, which comes to the end of the new ones.
    fn judge(&mut self, state: S, into: &mut Expansion<S>) {
        self.after_moves.clear();
        judge(&state, &mut self.after_moves, &mut self.events);
        let is_end = self.events.is_empty() && self.after_moves.is_empty();
        let first = into.waits.len();
        if self.liveness {
            state.waits(&mut into.waits);
            into.waits[first..].sort_unstable();
        }
        into.new.push(NewState {
            outcome: is_end.then(|| state.outcome().into_boxed_str()),
            broken: self.events.drain(..).next().map(Box::new),
            waits: into.waits.len() - first,
            is_quiescent: self.liveness && state.is_quiescent(),
            state,
        });
    }

    /// All moves of the states, in their order.
    fn expand(&mut self, states: &[S], visited: &Visited) -> Expansion<S> {
        let mut all = Expansion::default();
        self.found.clear();
        for state in states {
            let mut moves = std::mem::take(&mut self.moves);
            moves.clear();
            state.moves(&mut moves);
            all.moves.push(moves.len());
            for &mv in &moves {
                let mut after = state.clone();
                after.apply(mv, &mut self.events);
                let after = self.renamed(after);
                let print = fingerprint(&after);
                let fairness = if self.liveness { state.fairness(mv) } else { Fairness::Optional };
                let leads = if let Some(event) = self.events.drain(..).next() {
                    all.faults.push(event);
                    Leads::Broken
                } else if visited.has(print) || self.found.insert(print).is_err() {
                    Leads::Known
                } else {
                    self.judge(after, &mut all);
                    Leads::New
                };
                let owed = (fairness != Fairness::Optional).then(|| (fairness, state.action(mv)));
                all.edges.push(Edge { leads, print, owed });
            }
            self.moves = moves;
        }
        all
    }
}

/// What the search knows so far.
struct Progress<'a, S> {
    start: &'a S,
    limits: Limits,
    report: ExplorationReport,
    origins: Vec<Origin>,
    ends: BTreeMap<u32, (String, u64)>,
    graph: Option<Graph>,
    /// States of the next level.
    next: Vec<S>,
    progress: &'a mut dyn FnMut(&ExplorationReport),
}

impl<S: ExploredSystem> Progress<'_, S> {
    /// The next number is that of a new state; `false`: the search ends here, with a fault if there is one.
    fn add(&mut self, new: NewState<S>, waits: &mut impl Iterator<Item = AgentWait>, origin: Origin) -> bool {
        let waits: Vec<AgentWait> = waits.take(new.waits).collect();
        if let Some(event) = new.broken {
            return self.fault(*event, origin);
        }
        let to = self.origins.len() as u32;
        self.ends.extend(new.outcome.map(|outcome| (to, (outcome.into(), 1))));
        if self.report.states == self.limits.states.min(u32::MAX as usize) {
            return false;
        }
        if let Some(graph) = &mut self.graph {
            graph.push_state(&waits, new.is_quiescent);
        }
        self.report.states += 1;
        if self.report.states.is_multiple_of(PROGRESS_STATES) {
            self.report.frontier = self.next.len();
            (self.progress)(&self.report);
        }
        self.next.push(new.state);
        self.origins.push(origin);
        true
    }

    /// A move breaks a rule, or leads where one is broken.
    fn fault(&mut self, event: CoherenceEvent, (number, ordinal): Origin) -> bool {
        let ordinals: Vec<u16> = path(&self.origins, number).into_iter().chain([ordinal]).collect();
        self.report.depth += 1;
        self.report.violation = Some(way(self.start, event, &ordinals, None));
        false
    }

    /// Takes over what the moves of the states from number `first` on lead to; `false`: the search ends here.
    fn take(&mut self, first: u32, all: Expansion<S>, visited: &mut Visited) -> bool {
        let Expansion { moves, edges, new, faults, waits } = all;
        let (mut edges, mut new, mut faults) = (edges.into_iter(), new.into_iter(), faults.into_iter());
        let mut waits = waits.into_iter();
        for (number, moves) in (first..).zip(moves) {
            if let Some(graph) = &mut self.graph {
                if graph.is_full() {
                    return false;
                }
                graph.begin_moves();
            }
            for (ordinal, edge) in (0..).zip(edges.by_ref().take(moves)) {
                self.report.transitions += 1;
                if let Leads::Broken = edge.leads {
                    return faults.next().is_none_or(|event| self.fault(event, (number, ordinal)));
                }
                let state = match edge.leads {
                    Leads::New => new.next(),
                    _ => None,
                };
                let place = visited.insert(edge.print);
                let (Ok(to) | Err(to)) = place;
                if let Some(graph) = &mut self.graph {
                    graph.push_move(to, edge.owed);
                }
                if place.is_err() {
                    // Another part of the batch may have found it too.
                    waits.by_ref().take(state.map_or(0, |state| state.waits)).for_each(drop);
                    if let Some((_, paths)) = self.ends.get_mut(&to) {
                        *paths += 1;
                    }
                } else if let Some(state) = state
                    && !self.add(state, &mut waits, (number, ordinal))
                {
                    return false;
                }
            }
        }
        true
    }
}

/// A thread that expands: what it is given, and what comes back.
type Worker<S> = (Sender<Vec<S>>, Receiver<Expansion<S>>);

/// A thread that expands what comes until nothing more does.
fn worker<'scope, S: ExploredSystem + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    limits: Limits,
    visited: &'scope RwLock<Visited>,
) -> Worker<S> {
    let (give, given) = channel::<Vec<S>>();
    let (answer, answers) = channel();
    scope.spawn(move || {
        let mut expander = Expander::new(limits);
        while let Ok(states) = given.recv() {
            let all = expander.expand(&states, &visited.read().unwrap_or_else(PoisonError::into_inner));
            // The states end here: their memory is taken again by what this thread makes next.
            drop(states);
            if answer.send(all).is_err() {
                break;
            }
        }
    });
    (give, answers)
}

fn run<S: ExploredSystem>(
    start: &S,
    limits: Limits,
    progress: &mut dyn FnMut(&ExplorationReport),
) -> ExplorationReport {
    let mut known = Progress {
        start,
        limits,
        report: ExplorationReport { by_name: !limits.symmetry, ..ExplorationReport::default() },
        origins: Vec::new(),
        ends: BTreeMap::new(),
        graph: limits.liveness.then(Graph::default),
        next: Vec::new(),
        progress,
    };
    let mut expander = Expander::new(limits);
    let visited = RwLock::new(Visited::default());
    let mut first = Expansion::default();
    let state = expander.renamed(start.clone());
    let _ = visited.write().unwrap_or_else(PoisonError::into_inner).insert(fingerprint(&state));
    expander.judge(state, &mut first);
    let mut waits = first.waits.into_iter();
    for new in first.new {
        if let Some(event) = new.broken {
            known.report.states = 1;
            known.report.violation = Some(way(start, *event, &[], None));
            return known.report;
        }
        known.add(new, &mut waits, (0, 0));
    }
    let is_whole = std::thread::scope(|scope| {
        let workers: Vec<Worker<S>> = (1..limits.threads).map(|_| worker(scope, limits, &visited)).collect();
        while !known.next.is_empty() {
            let level = std::mem::take(&mut known.next);
            let mut number = (known.origins.len() - level.len()) as u32;
            let mut level = level.into_iter();
            while level.len() > 0 {
                let mut part = || level.by_ref().take(PART_STATES).collect::<Vec<S>>();
                let own = part();
                let busy: Vec<_> = workers
                    .iter()
                    .map(|(give, answers)| (give.send(part()), answers))
                    .filter_map(|(given, answers)| given.ok().map(|()| answers))
                    .collect();
                let all = expander.expand(&own, &visited.read().unwrap_or_else(PoisonError::into_inner));
                drop(own);
                // A thread that has ended without an answer has panicked, and so does the scope.
                let others = busy.into_iter().map_while(|answers| answers.recv().ok());
                let all: Vec<_> = std::iter::once(all).chain(others).collect();
                let mut visited = visited.write().unwrap_or_else(PoisonError::into_inner);
                for all in all {
                    let states = all.moves.len() as u32;
                    if !known.take(number, all, &mut visited) {
                        return false;
                    }
                    number += states;
                }
            }
            known.report.depth += usize::from(!known.next.is_empty());
        }
        true
    });
    let Progress { mut report, ends, graph, origins, .. } = known;
    report.frontier = 0;
    let visited = visited.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.kept_bytes = visited.bytes() + size_of_val(origins.as_slice()) + graph.as_ref().map_or(0, Graph::bytes);
    drop(visited);
    if report.violation.is_none() {
        report.outcomes = outcomes(ends);
    }
    if is_whole {
        report.complete = true;
        let lasso = graph.and_then(|graph| liveness::find(&graph));
        report.violation = lasso.map(|lasso| endless(start, &lasso, &origins));
    }
    report
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
fn judge<S: ExploredSystem>(state: &S, moves: &mut Vec<S::Move>, events: &mut Vec<CoherenceEvent>) {
    state.check(events);
    state.moves(moves);
    if state.is_idle() {
        state.check_idle(events);
    } else if !moves.iter().any(|&mv| state.fairness(mv) == Fairness::Strong) {
        events.push(CoherenceEvent::new(
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
pub fn endless_event(columns: &[String], wait: Option<AgentWait>, first: usize, steps: usize) -> CoherenceEvent {
    let how = match steps - first {
        0 => "nothing more happens".to_owned(),
        1 => format!("step {steps} comes again and again"),
        _ => format!("steps {} to {steps} come again and again", first + 1),
    };
    match wait {
        Some(AgentWait { agent, awaited, line }) => {
            let at = columns.get(agent).map_or("?", String::as_str);
            CoherenceEvent::new(
                "COH-INV-10",
                line,
                at,
                format!("{awaited} that waits for ever: {how}"),
                "an end of every wait",
            )
        }
        None => {
            let found = format!("no way to an end of all work: {how}");
            CoherenceEvent::new("COH-INV-09", None, "system", found, "every state reaches quiescence")
        }
    }
}

/// The run that never ends.
fn endless<S: ExploredSystem>(start: &S, lasso: &Lasso, origins: &[Origin]) -> Counterexample {
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
fn way<S: ExploredSystem>(
    start: &S,
    event: CoherenceEvent,
    ordinals: &[u16],
    repeats: Option<usize>,
) -> Counterexample {
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
    Counterexample { event, columns, steps, repeats, script }
}
