//! Whether a rule is named when it is broken: by the exploration of a system with one rule off, and by the watches over a
//! step that a test has made up.
//!
//! No peer can break, or see, what happens inside an agent: loads, stores, silent drops and the start of requests of a
//! device (`coherence` §2.1, O11a), what a home does with its directory and memory (§2.7, §2.8), what a host keeps (§3.1,
//! §3.4). Of these rules the watch sees the agent itself before and after the step; the test lets the agent take a real
//! message and then changes what became of it.

use super::cache_bench::*;
use super::stress::soak;
use scalepool::coherence::event::CoherenceEvent;
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::mem::{Dcoh, MemHost};
use scalepool::coherence::monitor::{DcohStep, DcohWatch, DeviceStep, DeviceWatch, HomeWatch, MemHostWatch};
use scalepool::proof::explore::{ChartStep, ExploredSystem};
use scalepool::proof::litmus;
use scalepool::proof::mutant::CoherenceMutant;
use std::collections::{BTreeSet, HashSet};

/// States after which a search for a rule gives up.
const STATES: usize = 60_000;

/// Searches past every other fault for an event of `rule`, and returns it with a shortest way to it. The event says
/// where, what was found and what was expected.
pub fn names<S: ExploredSystem>(start: &S, rule: &str) -> Counterexample {
    let (mut level, mut seen) = (vec![(start.clone(), 0)], HashSet::from([start.clone()]));
    let (mut moves, mut events, mut others) = (Vec::new(), Vec::new(), BTreeSet::new());
    // Of each state its parent and the move that led to it.
    let mut origins: Vec<(usize, Option<S::Move>)> = vec![(0, None)];
    while !level.is_empty() && seen.len() < STATES {
        let mut next = Vec::new();
        for (state, number) in level {
            moves.clear();
            state.moves(&mut moves);
            for &mv in &moves {
                let mut after = state.clone();
                events.clear();
                after.apply(mv, &mut events);
                let new = !seen.contains(&after);
                if new {
                    after.check(&mut events);
                }
                if let Some(at) = events.iter().position(|e| e.rule == rule) {
                    let event = events.swap_remove(at);
                    assert!(!event.at.is_empty() && !event.found.is_empty() && !event.expected.is_empty(), "{event}");
                    return Counterexample {
                        event,
                        columns: start.columns(),
                        steps: way(start, &origins, number, mv),
                        repeats: None,
                        script: Vec::new(),
                    };
                }
                others.extend(events.iter().map(|e| e.rule));
                if new {
                    seen.insert(after.clone());
                    next.push((after, origins.len()));
                    origins.push((number, Some(mv)));
                }
            }
        }
        level = next;
    }
    panic!("{rule} is not named in {} states; {others:?} are", seen.len());
}

/// The steps to state `number`, and one more.
fn way<S: ExploredSystem>(
    start: &S,
    origins: &[(usize, Option<S::Move>)],
    mut number: usize,
    last: S::Move,
) -> Vec<ChartStep> {
    let mut moves = vec![last];
    while let (parent, Some(mv)) = origins[number] {
        moves.push(mv);
        number = parent;
    }
    let (mut state, mut steps) = (start.clone(), Vec::new());
    for mv in moves.into_iter().rev() {
        steps.push(state.describe(mv));
        state.apply(mv, &mut Vec::new());
    }
    steps
}

/// The same for two devices of CXL.cache with one rule off and every request.
pub fn cache_names(mutant: CoherenceMutant, rule: &str) -> Counterexample {
    let config =
        CoherenceConfig { rules: mutant.rules(), clean_evict: CleanEvictAnswer::Pull, ..CoherenceConfig::default() };
    names(&cache_system(Setup::free(config, 2, ALL_REQUESTS)), rule)
}

/// An agent whose steps a watch judges.
pub trait Judged<D: LineContent>: Agent<D> {
    /// The rules that the step from `before` to `after` breaks.
    fn judge(
        &self,
        config: &CoherenceConfig,
        took: (AgentPort, Msg<D>),
        out: &AgentOutput<D>,
        after: &Self,
    ) -> Vec<CoherenceEvent>;
}

impl<D: LineContent> Judged<D> for DeviceCache<D> {
    fn judge(
        &self,
        config: &CoherenceConfig,
        (_, msg): (AgentPort, Msg<D>),
        out: &AgentOutput<D>,
        after: &Self,
    ) -> Vec<CoherenceEvent> {
        let mut events = Vec::new();
        DeviceWatch { before: self, out, after }.check(config, &DeviceStep::Took(msg), &mut events);
        events
    }
}

impl<D: LineContent> Judged<D> for HomeAgent<D, Flat<D>> {
    fn judge(
        &self,
        config: &CoherenceConfig,
        (port, msg): (AgentPort, Msg<D>),
        out: &AgentOutput<D>,
        after: &Self,
    ) -> Vec<CoherenceEvent> {
        let mut events = Vec::new();
        HomeWatch { before: self, out, after }.check(config, port, &msg, &mut events);
        events
    }
}

impl<D: LineContent> Judged<D> for MemHost<D> {
    fn judge(
        &self,
        _: &CoherenceConfig,
        (_, msg): (AgentPort, Msg<D>),
        out: &AgentOutput<D>,
        after: &Self,
    ) -> Vec<CoherenceEvent> {
        let mut events = Vec::new();
        MemHostWatch { before: self, out, after }.check(Some(&msg), &mut events);
        events
    }
}

impl<D: LineContent> Judged<D> for Dcoh<D> {
    fn judge(
        &self,
        config: &CoherenceConfig,
        (port, msg): (AgentPort, Msg<D>),
        out: &AgentOutput<D>,
        after: &Self,
    ) -> Vec<CoherenceEvent> {
        let mut events = Vec::new();
        DcohWatch { before: self, out, after, peers: &IdSet::EMPTY }.check(
            config,
            &DcohStep::Took(port, msg),
            &mut events,
        );
        events
    }
}

/// Rules that an agent breaks that took a message and whose step is then changed; unchanged it breaks none.
pub fn takes_and<D: LineContent, A: Judged<D>>(
    config: &CoherenceConfig,
    agent: &A,
    took: (AgentPort, Msg<D>),
    change: impl FnOnce(&mut A, &mut AgentOutput<D>),
) -> Vec<&'static str> {
    let (mut after, mut out) = (agent.clone(), AgentOutput::default());
    after.take(config, took.0, took.1.clone(), 0, &mut out);
    let events = agent.judge(config, took.clone(), &out, &after);
    assert!(events.is_empty(), "as it is it obeys: {events:?}");
    change(&mut after, &mut out);
    agent.judge(config, took, &out, &after).iter().map(|e| e.rule).collect()
}

/// Rules that a device breaks that went from `before` to `after` by itself and sent `sends`.
pub fn device_breaks(
    before: &Bench,
    step: DeviceStep<LineToken>,
    sends: Vec<Msg<LineToken>>,
    after: &Bench,
) -> Vec<&'static str> {
    let out = AgentOutput { sends: sends.into_iter().map(|m| (0, m)).collect(), ..AgentOutput::default() };
    let mut events = Vec::new();
    let watch = DeviceWatch { before: &before.device, out: &out, after: &after.device };
    watch.check(&before.config, &step, &mut events);
    events.iter().map(|e| e.rule).collect()
}

/// The watches blame nobody who keeps the rules: random programs of every kind under random legal choices, two or three
/// agents and up to three operations each, every order of messages.
#[test]
fn no_legal_program_is_blamed() {
    const CACHE: &[&str] = &[
        "RdCurr",
        "RdShared",
        "RdAny",
        "RdOwn",
        "RdOwnNoData",
        "ItoMWr",
        "WrCur",
        "CLFlush",
        "CleanEvict",
        "CleanEvictNoData",
        "DirtyEvict",
        "WOWrInv",
        "WOWrInvF",
        "WrInv",
        "Load",
        "Store",
    ];
    const MEM: &[&str] = &["MemRdS", "MemRdA", "MemInv", "MemWr", "MemClnEvct", "Load", "Store"];
    // Options with legal values; the first is the default.
    const OPTIONS: &[&[&str]] = &[
        &["", "alternatives = true"],
        &["", "snp_data_on_m = 'shared-then-invalid'", "snp_data_on_m = 'invalid'"],
        &["", "snp_cur_on_clean = 'shared'", "snp_cur_on_clean = 'forward'"],
        &["", "snp_cur_on_m = 'shared'", "snp_cur_on_m = 'invalid'"],
        &["", "without_bytes = 'write'"],
        &["", "rd_any_exclusive = false"],
        &["", "grant_dirty = true"],
        &["", "clean_evict = 'pull'"],
        &["", "home_queue_requests = 1"],
        &["", "error_ranges = [{ first = 0, last = 63, answer = 'go-error' }]"],
    ];
    let mut seed = 1_u64;
    let mut pick = move |of: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % of
    };
    let mut explored = 0;
    for case in 0..400 * soak() {
        let kind = ["cxl-cache", "hdm-db", "hdm-d"][(case % 3) as usize];
        let agents = if kind == "hdm-d" { 2 } else { 2 + usize::from(pick(4) == 0) };
        let owner = pick(agents + 1);
        let start: String = (0..agents)
            .map(|agent| match owner {
                0 => ['I', 'S'][pick(2)],
                n if n == agent + 1 => ['E', 'M'][pick(2)],
                _ => 'I',
            })
            .collect();
        let programs: Vec<Vec<&str>> = (0..agents)
            .map(|agent| {
                let menu = if kind == "cxl-cache" || kind == "hdm-d" && agent == 0 { CACHE } else { MEM };
                (0..1 + pick(if agents == 2 { 3 } else { 2 })).map(|_| menu[pick(menu.len())]).collect()
            })
            .collect();
        let options = OPTIONS.iter().map(|o| o[pick(3).saturating_sub(1) * pick(o.len())]);
        let acting = litmus::LitmusKind::ALL.into_iter().find(|k| k.name() == kind).expect("a kind").options();
        let options: Vec<&str> =
            options.filter(|o| o.split(' ').next().is_some_and(|name| acting.concat().contains(&name))).collect();
        let file =
            format!("kind = '{kind}'\nstart = '{start}'\nprograms = {programs:?}\n[config]\n{}\n", options.join("\n"));
        let found = litmus::parse(&file).and_then(|case| case.explore());
        let found = found.unwrap_or_else(|e| panic!("{file}\n{e}"));
        if let Some(v) = found.violation {
            panic!("{file}\n{}\n{}", v.event, v.chart().text());
        }
        explored += found.states;
    }
    println!("{explored} states");
}
