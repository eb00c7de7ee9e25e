//! What agents, cores and switches leave behind, as figures of their components.

use crate::measured::ComponentMeasured;
use crate::metric::Metric;
use crate::metric::metrics;
use scalepool_coherence::clocked::accessor;
use scalepool_coherence::clocked::coverage::{CoverageTable, Point};
use scalepool_coherence::clocked::node::NodeResult;
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::{Class, ORDER};
use scalepool_link::coverage::Met;
use scalepool_nodes::PlacedViolation;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::wire::{At, Violation};
use std::sync::{Mutex, PoisonError};

/// What an agent has done.
pub(in crate::kinds) struct Figures {
    events: Vec<CoherenceEvent>,
    sent: [u64; Class::COUNT],
    met: OrderedSet<Point>,
    measured: Option<accessor::AccessorMeasured>,
    aborts: u64,
}

/// Reads the result of a node.
pub(in crate::kinds) fn figures(result: &Mutex<NodeResult>) -> Figures {
    let result = result.lock().unwrap_or_else(PoisonError::into_inner);
    Figures {
        events: result.events.iter().map(|(_, event)| event.clone()).collect(),
        sent: result.sent,
        met: result.met.clone(),
        measured: result.core.as_ref().map(|core| core.measured.clone()),
        aborts: result.core.as_ref().map_or(0, |core| core.aborts),
    }
}

/// Whether a node has open work.
pub(super) fn waits(result: &Mutex<NodeResult>) -> bool {
    result.lock().unwrap_or_else(PoisonError::into_inner).is_open
}

/// A broken rule as a report has it.
pub(super) fn broken(place: &str, event: &CoherenceEvent) -> PlacedViolation {
    PlacedViolation {
        place: place.to_owned(),
        violation: Violation {
            rule: event.rule,
            at: event.line.map_or(At::Message, |line| At::Line(line.address())),
            found: event.found.clone(),
            expected: event.expected.clone(),
            text: event.text(),
        },
    }
}

/// Whether a rule is the watcher's, which ends the run.
fn ends_the_run(rule: &str) -> bool {
    ["COH-INV", "COH-PSN"].iter().any(|area| rule.starts_with(area)) || rule == "COH-UIO-01"
}

/// Rows of the tables of agents, without tables of which no row was used.
fn rows(agents: &[(&str, Figures)]) -> Vec<Met> {
    let of_table = |table: CoverageTable| {
        let mut hits = vec![0; table.rows()];
        let met = agents.iter().flat_map(|(_, agent)| &agent.met).filter(|(of, _)| *of == table);
        // An agent tells which rows it has used, not how often.
        met.for_each(|(_, row)| hits[*row] += 1);
        let is_used = hits.iter().any(|&hits| hits > 0);
        let bins = || table.row_names().into_iter().zip(hits).collect();
        is_used.then(|| Met { protocol: "coherence", group: table.name(), bins: bins() })
    };
    CoverageTable::ALL.into_iter().filter_map(of_table).collect()
}

metrics! {
    /// What agents with a core count.
    pub(in crate::kinds) static METRICS {
        ACCESSES = "accesses" ["accesses"] Sum, "loads and stores of cores that are done";
        HITS = "cache hits" ["accesses"] Sum, "accesses that the own cache answered";
        EVICTIONS = "evictions" ["lines"] Sum, "lines that a cache gave up for others";
        POISONED = "poisoned loads" ["loads"] Sum, "loads that were answered with poison";
        REFUSED = "refused accesses" ["accesses"] Sum, "accesses that the home answered with an error, none of those that are done";
        ABORTS = "uio aborts" ["accesses"] Sum, "accesses of UIO that were answered with an abort";
        LIGHT = "answers of light load" ["answers"] Sum, "answers with DevLoad light";
        OPTIMAL = "answers of optimal load" ["answers"] Sum, "answers with DevLoad optimal";
        MODERATE = "answers of moderate load" ["answers"] Sum, "answers with DevLoad moderate overload";
        SEVERE = "answers of severe load" ["answers"] Sum, "answers with DevLoad severe overload";
        SPACED = "requests spaced" ["requests"] Sum, "requests that waited since the device was overloaded";
        THROTTLE_MOST = "throttle most" ["step"] Largest, "the strongest throttling of the run";
        THROTTLE_LAST = "throttle last" ["step"] Largest, "the throttling at its end";
    }
}

/// Answers by the load that the device reports, light first.
static LOADS: [&Metric; 4] = [&LIGHT, &OPTIMAL, &MODERATE, &SEVERE];

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// Figures of agents with their names; `period` is that of their clock \[fs\].
pub(in crate::kinds) fn measured(
    agents: &[(&str, Figures)],
    period: (u64, u64),
    is_poisoning: bool,
) -> ComponentMeasured {
    let cores = || agents.iter().filter_map(|(_, agent)| agent.measured.as_ref());
    let sum = |of: fn(&accessor::AccessorMeasured) -> u64| cores().map(of).sum::<u64>();
    let latency_cycles = || cores().flat_map(|core| core.latency_cycles.iter().copied());
    let accesses = latency_cycles().count() as u64;
    let (num, den) = period;
    let fs = |cycles: u64| (u128::from(cycles) * u128::from(num) / u128::from(den)) as u64;
    let mut all = ComponentMeasured {
        bytes: accesses * LINE_BYTES,
        latencies: latency_cycles().map(|cycles| (cycles, fs(cycles))).collect(),
        messages: ORDER
            .iter()
            .enumerate()
            .map(|(n, class)| {
                let sent = agents.iter().map(|(_, agent)| agent.sent[n]).sum();
                (class.name().to_lowercase().replace(' ', "_"), sent)
            })
            .collect(),
        rows: rows(agents),
        broken: agents.iter().flat_map(|(name, agent)| agent.events.iter().map(|e| broken(name, e))).collect(),
        has_stopped: agents.iter().flat_map(|(_, agent)| &agent.events).any(|event| ends_the_run(event.rule)),
        ..ComponentMeasured::default()
    };
    if cores().next().is_some() {
        all.counts =
            vec![(&ACCESSES, accesses), (&HITS, sum(|core| core.hits)), (&EVICTIONS, sum(|core| core.evictions))];
    }
    if is_poisoning {
        all.counts.push((&POISONED, sum(|core| core.poisoned_loads)));
    }
    let refused = sum(|core| core.refused);
    if refused > 0 {
        all.counts.push((&REFUSED, refused));
    }
    let aborts = agents.iter().map(|(_, agent)| agent.aborts).sum();
    if aborts > 0 {
        all.counts.push((&ABORTS, aborts));
    }
    let throttled: Vec<_> = cores().filter_map(|core| core.throttled.as_ref()).collect();
    if !throttled.is_empty() {
        for (level, metric) in LOADS.into_iter().enumerate() {
            all.counts.push((metric, throttled.iter().map(|t| t.loads[level]).sum()));
        }
        all.counts.push((&SPACED, throttled.iter().map(|t| t.spaced).sum()));
        let largest = |of: fn(&accessor::Throttled) -> u64| throttled.iter().map(|t| of(t)).max().unwrap_or(0);
        all.counts.push((&THROTTLE_MOST, largest(|t| t.most.into())));
        all.counts.push((&THROTTLE_LAST, largest(|t| t.last.into())));
    }
    all
}
