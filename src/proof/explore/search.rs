//! Breadth-first search over all states.
//!
//! Breadth first, so that the way to a fault is a shortest one. Of a visited state its fingerprint, its parent and the
//! number of the move that led to it are kept; the states themselves only for the two levels at work. When nothing is broken
//! and all states were visited, [`super::liveness`] looks for what never ends; for that all moves are kept too.

use super::desk::{OpenDesk, WorkPool};
use super::expand::{Expander, Expansion, Leads, NewState};
use super::graph::StateGraph;
use super::level::SearchLevel;
use super::liveness::{self, Endless, Lasso};
use super::memory::resident_bytes;
use super::system::{AgentWait, ChartStep, ExploredSystem};
use super::visited::{Numbering, Visited};
use crate::flows::name;
use scalepool_coherence::chart::Chart;
use scalepool_coherence::event::CoherenceEvent;
use scalepool_ordered::OrderedMap;
use std::sync::mpsc::{Receiver, Sender, channel};

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
    /// Whether to leave out deliveries that commute, where liveness is not looked for: fewer moves, the same states. A way to a fault
    /// is looked for again without.
    pub reduction: bool,
    /// Most memory that the program may take, a limit that [`memory_limit`](super::memory_limit) has let through; with more the
    /// search gives up \[bytes\].
    pub memory_bytes: Option<usize>,
    /// Threads that try the moves. The report does not depend on it.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 50_000_000, symmetry: false, liveness: true, reduction: false, memory_bytes: None, threads: 1 }
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
    pub outcomes: OrderedMap<String, u64>,
}

/// A state's parent and the move that led here.
type Origin = (u32, u16);

/// The thread that takes everything over.
const OWN_THREAD: usize = 0;

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
    let plain = Limits { symmetry: false, reduction: false, ..limits };
    // Where no agents are alike there is nothing to rename.
    let limits = Limits { symmetry: limits.symmetry && start.has_symmetry(), ..limits };
    if !limits.symmetry && !limits.reduction {
        return run(start, plain, progress);
    }
    let report = run(start, Limits { liveness: false, ..limits }, progress);
    if report.violation.is_none() && !(report.complete && limits.liveness) {
        return report;
    }
    // Renaming loses which agent is which: the way to the fault, and who waits, is looked for again with names.
    let again = run(start, plain, progress);
    if again.violation.is_some() {
        again
    } else {
        ExplorationReport { complete: again.complete, kept_bytes: again.kept_bytes, ..report }
    }
}

/// What the search knows so far.
struct SearchProgress<'a, S: ExploredSystem> {
    start: &'a S,
    limits: Limits,
    report: ExplorationReport,
    origins: Vec<Origin>,
    ends: OrderedMap<u32, (String, u64)>,
    graph: Option<StateGraph>,
    visited: Numbering<'a>,
    /// States of the next level.
    next: SearchLevel<S>,
    progress: &'a mut dyn FnMut(&ExplorationReport),
}

impl<S: ExploredSystem> SearchProgress<'_, S> {
    /// The next number is that of a new state; `false`: the search ends here, with a fault if there is one.
    fn add(&mut self, mut new: NewState<S>, waits: &[AgentWait], origin: Origin) -> bool {
        if let Some(event) = new.broken {
            return self.fault(*event, origin);
        }
        let to = self.origins.len() as u32;
        self.ends.extend(new.outcome.take().map(|outcome| (to, (outcome.into(), 1))));
        if self.report.states == self.limits.states.min(u32::MAX as usize) {
            return false;
        }
        if let Some(graph) = &mut self.graph {
            graph.push_state(waits, new.is_quiescent);
        }
        self.report.states += 1;
        if self.report.states.is_multiple_of(PROGRESS_STATES) {
            self.report.frontier = self.next.len();
            (self.progress)(&self.report);
            if self.limits.memory_bytes.is_some_and(|most| resident_bytes().is_some_and(|bytes| bytes > most)) {
                return false;
            }
        }
        self.next.push(new.waiting());
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
    fn take(&mut self, first: u32, all: &mut Expansion<S>) -> bool {
        let Expansion { moves, edges, owed, asleep, new, waits, faults, known, .. } = all;
        let (mut edges, mut owed, mut new, mut faults) =
            (edges.drain(..), owed.drain(..), new.drain(..), faults.drain(..));
        let (mut asleep, mut waits) = (asleep.as_slice(), waits.as_slice());
        for (number, &mut moves) in (first..).zip(moves) {
            if let Some(graph) = &mut self.graph {
                if graph.is_full() {
                    return false;
                }
                graph.begin_moves();
            }
            for edge in edges.by_ref().take(moves.into()) {
                self.report.transitions += 1;
                let origin = (number, edge.ordinal);
                let (place, state) = match edge.leads {
                    Leads::Broken => return faults.next().is_none_or(|event| self.fault(event, origin)),
                    Leads::Known(to) => (Err(to), None),
                    Leads::Found(print) => (self.visited.insert(print), None),
                    Leads::New(print) => (self.visited.insert(print), new.next()),
                };
                let (Ok(to) | Err(to)) = place;
                if let Some(graph) = &mut self.graph {
                    graph.push_move(to, owed.next().flatten());
                }
                let sleeping = first_of(&mut asleep, edge.asleep);
                let waiting = first_of(&mut waits, state.as_ref().map_or(0, |state| state.waits));
                if place.is_err() {
                    self.again(to, state.as_ref().map_or(sleeping, |state| &state.asleep));
                    known.extend(state);
                } else if let Some(state) = state
                    && !self.add(state, waiting, origin)
                {
                    return false;
                }
            }
        }
        true
    }

    /// One way more leads to a visited state.
    fn again(&mut self, to: u32, asleep: &[S::Move]) {
        if let Some((_, paths)) = self.ends.get_mut(&to) {
            *paths += 1;
        }
        let first = self.origins.len() - self.next.len();
        let place = (to as usize).checked_sub(first).filter(|_| self.limits.reduction);
        if let Some(state) = place.and_then(|place| self.next.get_mut(place)) {
            state.reached_again(asleep);
        }
    }
}

/// Takes the first so many off a list.
fn first_of<'a, T>(list: &mut &'a [T], count: u16) -> &'a [T] {
    let (first, rest) = list.split_at(count.into());
    *list = rest;
    first
}

/// What a thread has made of a part; nothing: the thread has panicked.
type ExpandedPart<S> = Option<Expansion<S>>;

/// Says so when its thread panics, so that nobody waits for it.
struct Worker<S: ExploredSystem> {
    thread: usize,
    answers: Sender<ExpandedPart<S>>,
}

impl<S: ExploredSystem> Drop for Worker<S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.answers.send(None);
        }
    }
}

/// Expands parts until there are no more.
fn work<S: ExploredSystem>(worker: &Worker<S>, (start, limits): (&S, Limits), desk: &WorkPool<S>, visited: &Visited) {
    let mut expander = Expander::new(start, limits, worker.thread);
    while let Some((part, returned)) = desk.wait(worker.thread) {
        expander.recycle(returned);
        if worker.answers.send(Some(expander.expand(part, &visited.table()))).is_err() {
            break;
        }
    }
}

/// Visits level after level. This thread takes over what the moves of each part lead to, part after part, and expands parts itself
/// when nothing is there to be taken over. `false`: the search ended before the last level.
fn levels<S: ExploredSystem>(
    known: &mut SearchProgress<'_, S>,
    desk: &WorkPool<S>,
    answers: &Receiver<ExpandedPart<S>>,
    (expander, visited): (&mut Expander<S>, &Visited),
) -> bool {
    let mut level = 0;
    while !known.next.is_empty() {
        let mut first = (known.origins.len() - known.next.len()) as u32;
        let parts = desk.lay_out(level, &mut known.next);
        level += 1;
        let mut done = OrderedMap::new();
        for number in 0..parts {
            let mut all = loop {
                for answer in answers.try_iter() {
                    let Some(all) = answer else { return false };
                    done.insert(all.part.number, all);
                }
                if let Some(all) = done.remove(&number) {
                    break all;
                }
                if let Some((part, returned)) = desk.take(OWN_THREAD) {
                    expander.recycle(returned);
                    done.insert(part.number, expander.expand(part, &visited.table()));
                } else if let Ok(Some(all)) = answers.recv() {
                    done.insert(all.part.number, all);
                } else {
                    return false;
                }
            };
            if !known.take(first, &mut all) {
                return false;
            }
            first += all.moves.len() as u32;
            desk.give_back(all, &mut known.next);
        }
        known.report.depth += usize::from(!known.next.is_empty());
    }
    true
}

fn run<S: ExploredSystem>(
    start: &S,
    limits: Limits,
    progress: &mut dyn FnMut(&ExplorationReport),
) -> ExplorationReport {
    let visited = Visited::default();
    let mut known = SearchProgress {
        start,
        limits,
        report: ExplorationReport { by_name: !limits.symmetry, ..ExplorationReport::default() },
        origins: Vec::new(),
        ends: OrderedMap::new(),
        graph: limits.liveness.then(StateGraph::default),
        visited: Numbering::new(&visited),
        next: SearchLevel::new(),
        progress,
    };
    let mut expander = Expander::new(start, limits, OWN_THREAD);
    let (print, new, waits) = expander.begin();
    let _ = known.visited.insert(print);
    if let Some(event) = new.broken {
        known.report.states = 1;
        known.report.violation = Some(way(start, *event, &[], None));
        return known.report;
    }
    known.add(new, &waits, (0, 0));
    let desk = WorkPool::new(limits.threads.max(1));
    let is_whole = std::thread::scope(|scope| {
        let (send, answers) = channel();
        for thread in OWN_THREAD + 1..limits.threads {
            let (worker, desk, visited) = (Worker { thread, answers: send.clone() }, &desk, &visited);
            scope.spawn(move || work(&worker, (start, limits), desk, visited));
        }
        drop(send);
        let open = OpenDesk(&desk);
        levels(&mut known, open.0, &answers, (&mut expander, &visited))
    });
    let SearchProgress { mut report, ends, graph, origins, visited: numbering, .. } = known;
    report.frontier = 0;
    report.kept_bytes =
        numbering.bytes() + size_of_val(origins.as_slice()) + graph.as_ref().map_or(0, StateGraph::bytes);
    drop(numbering);
    drop(visited);
    if report.violation.is_none() {
        report.outcomes = outcomes(ends);
    }
    if is_whole {
        report.complete = true;
        let lasso = graph.and_then(|graph| liveness::find(&graph, limits.threads));
        report.violation = lasso.map(|lasso| endless(start, &lasso, &origins));
    }
    report
}

/// By name.
fn outcomes(ends: OrderedMap<u32, (String, u64)>) -> OrderedMap<String, u64> {
    let mut named = OrderedMap::new();
    for (outcome, paths) in ends.into_values() {
        *named.entry(outcome).or_default() += paths;
    }
    named
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
