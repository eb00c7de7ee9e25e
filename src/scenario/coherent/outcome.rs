//! Results of nodes and ports to the report of a run.

use super::build::place;
use super::links::{Counted, Line};
use crate::coherence::clocked::accessor::Measured;
use crate::coherence::clocked::coverage::{Point, groups};
use crate::coherence::clocked::node::{NodeResult, ORDER};
use crate::coherence::event::Event;
use crate::kernel::{RunReport, SimError, Time};
use crate::link::port::PortResult;
use crate::scenario::report::{Broken, Report, Spread};
use crate::scenario::settings::Settings;
use crate::scenario::{Request, RunError};
use scalepool_protocols::wire::{At, Violation};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A settling limit above all time-outs of a link.
pub(super) const STALL_LIMIT_FS: u64 = 20_000_000_000_000;

pub(super) fn locked<T, R>(result: &Mutex<T>, f: impl FnOnce(&T) -> R) -> R {
    f(&result.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What a core has measured, of its node's result.
pub(super) fn measured<A, C>(
    result: &Arc<Mutex<NodeResult<A, C>>>,
    of: impl FnOnce(&C) -> Option<Measured>,
) -> Option<Measured> {
    locked(result, |r| r.end.as_ref().and_then(|(_, core)| of(core)))
}

/// Events and counts of a node.
pub(super) struct Watching {
    place: String,
    events: Vec<(u64, Event)>,
    sent: [u64; 12],
    met: BTreeSet<Point>,
}

impl Watching {
    /// Of a node.
    pub fn of<A, C>(place: &str, result: &Mutex<NodeResult<A, C>>) -> Watching {
        locked(result, |r| Watching {
            place: place.to_owned(),
            events: r.events.clone(),
            sent: r.sent,
            met: r.met.clone(),
        })
    }
}

/// What the report needs besides the nodes.
pub(super) struct Outcome<'a, E> {
    pub request: &'a Request,
    pub settings: &'a Settings,
    pub line: &'a Line<E>,
    pub ports: &'a [[Arc<Mutex<PortResult<E>>>; 2]],
}

/// Bytes of a line.
const LINE_BYTES: f64 = 64.0;

impl<E: Counted> Outcome<'_, E> {
    /// The report.
    ///
    /// # Errors
    /// The design cannot be built.
    pub fn report(
        &self,
        ended: Result<RunReport, SimError>,
        nodes: Vec<Watching>,
        measured: Vec<Measured>,
    ) -> Result<Report, RunError> {
        if let Err(SimError::Build(e)) = ended {
            return Err(RunError::Build(SimError::Build(e)));
        }
        let mut violations = Vec::new();
        let (mut units, mut retries, mut stalls, mut damaged, mut halted) = ([0, 0], 0, 0, 0, false);
        for (n, ports) in self.ports.iter().enumerate() {
            for (end, port) in ports.iter().enumerate() {
                locked(port, |port| {
                    let broken = port.violations.iter();
                    violations.extend(broken.map(|e| Broken { place: place(n, end), violation: e.violation.clone() }));
                    damaged += port.damaged;
                    if let Some(of) = &port.end {
                        let (sent, retried, stalled) = of.counted();
                        units[end] += sent;
                        retries += retried;
                        stalls += stalled;
                        halted |= of.halted().is_some();
                    }
                });
            }
        }
        for node in &nodes {
            violations.extend(node.events.iter().map(|(_, e)| Broken {
                place: node.place.clone(),
                violation: Violation {
                    rule: e.rule,
                    at: e.line.map_or(At::Message, |line| At::Line(line.address())),
                    found: e.found.clone(),
                    expected: e.expected.clone(),
                    text: format!("{} breaks {}", e.at, e.rule),
                },
            }));
        }
        let stopped = nodes.iter().any(|n| n.events.iter().any(|(_, e)| e.rule.starts_with("COH-INV")));
        let ended_well = ended.is_ok();
        let end = match ended {
            Ok(report) => report.end,
            Err(e) => {
                let violation = Violation {
                    rule: "SIM-E2E-03",
                    at: At::Message,
                    found: "open work".into(),
                    expected: "none".into(),
                    text: e.to_string(),
                };
                // A broken invariant has stopped the run; then open work is no news.
                if !stopped {
                    violations.push(Broken { place: "simulation".into(), violation });
                }
                match e {
                    SimError::Stall { at, .. } | SimError::Deadlock { at, .. } | SimError::OpenAtLimit { at, .. } => at,
                    SimError::Build(_) => Time::ZERO,
                }
            }
        };
        let clock_fs = self.settings.int("host.clock_fs");
        let time_fs = end.as_fs();
        let latency: Vec<u64> = measured.iter().flat_map(|m| m.latency_cycles.iter().copied()).collect();
        let accesses = latency.len() as u64;
        let seconds = time_fs as f64 / 1e15;
        let goodput = if time_fs == 0 { 0.0 } else { accesses as f64 * LINE_BYTES / seconds };
        let (num, den) = self.line.unit_time_fs;
        let line_rate = self.line.unit_bytes as f64 * 1e15 * den as f64 / num as f64;
        let messages = ORDER.iter().enumerate().filter_map(|(n, class)| {
            let count: u64 = nodes.iter().map(|node| node.sent[n]).sum();
            (count > 0).then(|| (class.name().to_lowercase().replace(' ', "_"), count))
        });
        let sum = |of: fn(&Measured) -> u64| measured.iter().map(of).sum::<u64>();
        Ok(Report {
            remarks: Vec::new(),
            scenario: self.request.scenario.clone(),
            seed: self.request.seed,
            cycles: time_fs / clock_fs,
            time_fs,
            flits: vec![("down".into(), units[0]), ("up".into(), units[1])],
            messages: messages.collect(),
            goodput_bytes_per_s: goodput,
            efficiency: goodput / line_rate,
            latency_fs: Spread::of(latency.iter().map(|c| c * clock_fs).collect()),
            latency_cycles: Spread::of(latency),
            retries,
            errors_repaired: if ended_well && !halted { damaged } else { 0 },
            credit_stalls: stalls,
            fabric: None,
            counts: vec![
                ("accesses".into(), accesses),
                ("cache hits".into(), sum(|m| m.hits)),
                ("evictions".into(), sum(|m| m.evictions)),
            ],
            coverage: groups(&nodes.iter().flat_map(|n| n.met.iter().copied()).collect()),
            violations,
        })
    }
}
