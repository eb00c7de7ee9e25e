//! What a run of the scenario says: results of the modules to the report.

use super::Results;
use super::function;
use super::port::PortResult;
use super::root;
use super::{NAME, RunError};
use crate::endpoint::event::Event;
use crate::endpoint::tlp::TlpError;
use crate::kernel::{SimError, Time};
use crate::scenario::Request;
use crate::scenario::report::{Broken, Report, Spread};
use scalepool_protocols::cxl::cxlio::dvsec::ConnectedMode;
use scalepool_protocols::wire::{Violation, Wire};
use std::sync::{Mutex, PoisonError};

/// The broken rule of an event; `None`: nothing is wrong, somebody asked for what is not there.
fn violation_of(event: &Event) -> Option<Violation> {
    let rule = match event {
        Event::Rule(violation) => return Some(violation.clone()),
        Event::Refused { .. } | Event::Poisoned { .. } => return None,
        Event::Malformed(TlpError::Fault(_)) => "CXLIO-FMT-01",
        Event::Malformed(_) => "CXLIO-NFM-03",
        Event::UnexpectedCompletion { .. } => "SIM-E2E-02",
        Event::CompletionTimeout { .. } => "SIM-E2E-03",
    };
    Some(Violation::at_byte(rule, 0, event, "requests and their completions", "an end of a transaction is wrong"))
}

fn read<T: Clone>(result: &Mutex<T>) -> T {
    result.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Puts the results of all modules together.
///
/// # Errors
/// The simulation could not be built.
pub fn report(
    request: &Request,
    mode: ConnectedMode,
    unit_bytes_per_s: f64,
    clock_fs: u64,
    outcome: Result<crate::kernel::RunReport, SimError>,
    results: &Results,
) -> Result<Report, RunError> {
    let (root, function) = (read(&results.root), read(&results.function));
    let ports = [read(&results.host_port), read(&results.device_port)];
    let mut violations: Vec<Broken> = Vec::new();
    for (place, port) in ["host.link", "device.link"].into_iter().zip(&ports) {
        let of_port = port.violations.iter().map(|e| Broken { place: place.into(), violation: e.violation.clone() });
        violations.extend(of_port);
    }
    for (place, events) in [(root::PLACE, &root.events), (function::PLACE, &function.events)] {
        let of_agent = events.iter().filter_map(violation_of);
        violations.extend(of_agent.map(|violation| Broken { place: place.into(), violation }));
    }
    violations.extend(root.broken.clone());
    let ended_well = outcome.is_ok();
    let end = match outcome {
        Ok(report) => report.end,
        Err(SimError::Build(e)) => return Err(RunError::Build(SimError::Build(e))),
        Err(e) => {
            let at = match &e {
                SimError::Stall { at, .. } | SimError::Deadlock { at, .. } | SimError::OpenAtLimit { at, .. } => *at,
                SimError::Build(_) => Time::ZERO,
            };
            let violation = Violation::at_byte("SIM-E2E-03", 0, "open work", "none", e.to_string());
            violations.push(Broken { place: "simulation".into(), violation });
            at
        }
    };
    let time_fs = end.as_fs();
    let goodput = if time_fs == 0 { 0.0 } else { root.bytes as f64 / (time_fs as f64 / 1e15) };
    let found = root.found.clone().unwrap_or_default();
    let bytes = |ranges: &[std::ops::Range<u64>]| ranges.iter().map(|r| r.end - r.start).sum::<u64>();
    let both = |count: fn(&PortResult) -> u64| ports.iter().map(count).sum::<u64>();
    let status = Wire::to_bits;
    let mut counts: Vec<(String, u64)> = [
        ("connected mode", mode as u64),
        ("functions", found.functions.len() as u64),
        ("capabilities", found.capabilities),
        ("extended capabilities", found.extended.len() as u64),
        ("DVSECs of CXL", found.dvsecs.len() as u64),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into();
    counts.extend(found.dvsecs.iter().map(|(id, length)| (format!("DVSEC {id} [bytes]"), u64::from(*length))));
    counts.extend(
        [
            ("BARs", found.bars.len() as u64),
            ("BARs [bytes]", bytes(&found.bars)),
            ("memory ranges", found.ranges.len() as u64),
            ("memory ranges [bytes]", bytes(&found.ranges)),
            ("logical devices", found.logical_devices.into()),
            ("largest payload [bytes]", found.max_payload_bytes as u64),
            ("CXL.mem enabled", u64::from(found.mem_enabled && function.mem_enabled)),
            ("power management ready", u64::from(root.pm_ready && function.pm_ready)),
            ("power requests answered", root.power_answered),
            ("host port status", status(&root.status).unwrap_or(0) as u64),
            ("device port status", status(&found.status).unwrap_or(0) as u64),
            ("configuration reads", root.config[0]),
            ("configuration writes", root.config[1]),
            ("configuration retries", root.config[2]),
            ("memory writes", root.memory[0]),
            ("memory reads", root.memory[1]),
            ("requests served", function.requests),
            ("completions", function.completions),
            ("replayed TLPs", both(|p| p.stats.replayed)),
            ("trainings", both(|p| p.trainings)),
        ]
        .map(|(k, v)| (k.to_owned(), v)),
    );
    let names = ["posted", "non-posted", "completion"];
    let messages = ["down", "up"].into_iter().zip(&ports).flat_map(|(dir, port)| {
        names.into_iter().zip(port.stats.sent).map(move |(name, n)| (format!("{name} {dir}"), n))
    });
    Ok(Report {
        scenario: NAME.into(),
        seed: request.seed,
        cycles: time_fs / clock_fs,
        time_fs,
        flits: vec![("down".into(), ports[0].units), ("up".into(), ports[1].units)],
        messages: messages.collect(),
        goodput_bytes_per_s: goodput,
        efficiency: goodput / unit_bytes_per_s,
        latency_cycles: Spread::of(root.latency_cycles),
        latency_fs: Spread::of(root.latency_fs),
        retries: both(|p| p.stats.replays),
        errors_repaired: if ended_well { both(|p| p.damaged) } else { 0 },
        credit_stalls: 0,
        fabric: None,
        counts,
        coverage: Vec::new(),
        violations,
    })
}
