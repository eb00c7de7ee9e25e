//! Results of nodes and ports to the report of a run.

use super::build::PortSummary;
use super::links::Spec;
use crate::report::{Broken, Report, Spread, direction, flit_clocks};
use crate::settings::Settings;
use crate::{Request, RunError};
use scalepool_coherence::agent::Agent;
use scalepool_coherence::clocked::accessor::Measured;
use scalepool_coherence::clocked::core::Core;
use scalepool_coherence::clocked::coverage::{Point, groups};
use scalepool_coherence::clocked::node::{NodeResult, ORDER};
use scalepool_coherence::clocked::switch::{SwitchResult, Table};
use scalepool_coherence::content::Line;
use scalepool_coherence::event::Event;
use scalepool_kernel::{RunReport, SimError};
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
    /// It had open work at the end.
    pub waits: bool,
}

impl Watching {
    /// Of a node.
    pub fn of<A: Agent<Line>, C: Core<A>>(place: &str, result: &Mutex<NodeResult<A, C>>) -> Watching {
        locked(result, |r| Watching {
            place: place.to_owned(),
            events: r.events.clone(),
            sent: r.sent,
            met: r.met.clone(),
            waits: r.end.as_ref().is_some_and(|(agent, core)| !agent.is_idle() || core.open_work().is_some()),
        })
    }
}

/// What a switch has counted and seen.
pub(super) struct Switched {
    place: String,
    events: Vec<Event>,
    forwarded: u64,
    discarded: u64,
}

impl Switched {
    /// Of a switch; `waiting` are the leaves that had open work at the end.
    pub fn of(place: &str, result: &SwitchResult, waiting: &[usize]) -> Switched {
        let mut events = result.events.clone();
        if let Some(Table::CacheId(routes)) = &result.table {
            events.extend(routes.watchdog(waiting));
        }
        Switched { place: place.to_owned(), events, forwarded: result.forwarded, discarded: result.discarded }
    }
}

/// What the report is made of.
pub(super) struct Outcome<'a> {
    pub request: &'a Request,
    pub settings: &'a Settings,
    /// The link of a leaf.
    pub spec: Spec,
    /// Of each link the upper port, then the lower one.
    pub ports: Vec<PortSummary>,
    pub nodes: Vec<Watching>,
    pub switches: Vec<Switched>,
    pub measured: Vec<Measured>,
    /// UIO accesses that were aborted.
    pub aborts: u64,
}

/// Bytes of a line.
const LINE_BYTES: f64 = 64.0;

fn broken(place: &str, event: &Event) -> Broken {
    Broken {
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

impl Outcome<'_> {
    /// The report.
    ///
    /// # Errors
    /// The design cannot be built.
    pub fn report(self, ended: Result<RunReport, SimError>) -> Result<Report, RunError> {
        if let Err(SimError::Build(e)) = ended {
            return Err(RunError::Build(SimError::Build(e)));
        }
        let Outcome { nodes, measured, .. } = &self;
        let mut violations = Vec::new();
        let (mut units, mut retries, mut stalls, mut damaged, mut halted) = ([0, 0], 0, 0, 0, false);
        for (n, port) in self.ports.iter().enumerate() {
            let of_port = port.violations.iter();
            violations.extend(of_port.map(|e| Broken { place: port.place.clone(), violation: e.violation.clone() }));
            damaged += port.damaged;
            let (sent, retried, stalled) = port.counted;
            units[n % 2] += sent;
            retries += retried;
            stalls += stalled;
            halted |= port.halted;
        }
        for node in nodes {
            violations.extend(node.events.iter().map(|(_, e)| broken(&node.place, e)));
        }
        for switch in &self.switches {
            violations.extend(switch.events.iter().map(|e| broken(&switch.place, e)));
        }
        // What the watcher says.
        let stops =
            |rule: &str| ["COH-INV", "COH-PSN"].iter().any(|area| rule.starts_with(area)) || rule == "COH-UIO-01";
        let stopped = nodes.iter().any(|n| n.events.iter().any(|(_, e)| stops(e.rule)));
        let line_bits = flit_clocks(self.spec.unit_time_fs, &ended) * 8 * self.spec.unit_bytes as u64;
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
                e.at()
            }
        };
        let of_direction = |(n, name)| {
            let ports = self.ports.iter().skip(n).step_by(2).map(|port| port.time);
            direction(name, ports, line_bits)
        };
        let clock_fs = self.settings.int("host.clock_fs");
        let time_fs = end.as_fs();
        let latency: Vec<u64> = measured.iter().flat_map(|m| m.latency_cycles.iter().copied()).collect();
        let accesses = latency.len() as u64;
        let seconds = time_fs as f64 / 1e15;
        let goodput = if time_fs == 0 { 0.0 } else { accesses as f64 * LINE_BYTES / seconds };
        let (num, den) = self.spec.unit_time_fs;
        let line_rate = self.spec.unit_bytes as f64 * 1e15 * den as f64 / num as f64;
        let messages = ORDER.iter().enumerate().filter_map(|(n, class)| {
            let count: u64 = nodes.iter().map(|node| node.sent[n]).sum();
            (count > 0).then(|| (class.name().to_lowercase().replace(' ', "_"), count))
        });
        let sum = |of: fn(&Measured) -> u64| measured.iter().map(of).sum::<u64>();
        let mut counts = vec![
            ("accesses".to_owned(), accesses),
            ("cache hits".to_owned(), sum(|m| m.hits)),
            ("evictions".to_owned(), sum(|m| m.evictions)),
        ];
        if self.settings.int("core.poison_every") > 0 {
            counts.push(("poisoned loads".into(), sum(|m| m.poisoned_loads)));
        }
        if self.aborts > 0 {
            counts.push(("uio aborts".into(), self.aborts));
        }
        let throttled = || measured.iter().filter_map(|m| m.throttled.as_ref());
        if throttled().next().is_some() {
            for (level, name) in ["light", "optimal", "moderate", "severe"].into_iter().enumerate() {
                counts.push((format!("answers of {name} load"), throttled().map(|t| t.loads[level]).sum()));
            }
            counts.push(("requests spaced".into(), throttled().map(|t| t.spaced).sum()));
            counts.push(("throttle most".into(), throttled().map(|t| t.most.into()).max().unwrap_or(0)));
            counts.push(("throttle last".into(), throttled().map(|t| t.last.into()).max().unwrap_or(0)));
        }
        if !self.switches.is_empty() {
            counts.push(("switched".into(), self.switches.iter().map(|s| s.forwarded).sum()));
            counts.push(("discarded".into(), self.switches.iter().map(|s| s.discarded).sum()));
        }
        Ok(Report {
            remarks: Vec::new(),
            components: Vec::new(),
            links: Vec::new(),
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
            where_time_goes: ["down", "up"].into_iter().enumerate().map(of_direction).collect(),
            fabric: None,
            counts,
            coverage: groups(&nodes.iter().flat_map(|n| n.met.iter().copied()).collect()),
            violations,
        })
    }
}
