//! What a run of the scenario says: results of the modules to the report.

use super::build::{DEVICE_LINK, HOST_LINK, Results};
use super::ends::{EndFigures, HasIo, WithIo};
use super::function;
use super::root;
use super::{NAME, Pace, RunError};
use crate::Request;
use crate::report::{Broken, Report, Spread, direction, flit_clocks};
use scalepool_endpoint::event::Event;
use scalepool_endpoint::tlp::TlpError;
use scalepool_kernel::SimError;
use scalepool_link::cxlio::Stats;
use scalepool_link::port::PortResult;
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
pub(super) fn report<E: HasIo>(
    request: &Request,
    mode: ConnectedMode,
    pace: Pace,
    clock_fs: u64,
    outcome: Result<scalepool_kernel::RunReport, SimError>,
    results: &Results<E>,
) -> Result<Report, RunError> {
    if let Err(SimError::Build(e)) = outcome {
        return Err(RunError::Build(SimError::Build(e)));
    }
    let (root, function, mem) = (read(&results.root), read(&results.function), read(&results.mem));
    let ports: [PortResult<WithIo<E>>; 2] = results.ports.each_ref().map(|port| read(port));
    let [host, device] =
        ports.each_ref().map(|p| p.end.as_ref().expect("a port leaves its end behind, however the run ended"));
    let ends = [&host.end, &device.end];
    let stats: [Stats; 2] = ends.map(|end| *end.io().stats());
    let figures = ends.map(HasIo::figures);
    let mut violations: Vec<Broken> = Vec::new();
    for (place, port) in [HOST_LINK, DEVICE_LINK].into_iter().zip(&ports) {
        let of_port = port.violations.iter().map(|e| Broken { place: place.into(), violation: e.violation.clone() });
        violations.extend(of_port);
    }
    for (place, events) in [(root::PLACE, &root.events), (function::PLACE, &function.events)] {
        let of_agent = events.iter().filter_map(violation_of);
        violations.extend(of_agent.map(|violation| Broken { place: place.into(), violation }));
    }
    violations.extend(root.broken.clone());
    violations.extend(mem.broken.clone());
    let line_bits = flit_clocks((pace.num, pace.den), &outcome) * 8 * pace.unit_bytes as u64;
    let ended_well = outcome.is_ok();
    let end = match outcome {
        Ok(report) => report.end,
        Err(e) => {
            let at = e.at();
            let violation = Violation::at_byte("SIM-E2E-03", 0, "open work", "none", e.to_string());
            violations.push(Broken { place: "simulation".into(), violation });
            at
        }
    };
    let time_fs = end.as_fs();
    let goodput = if time_fs == 0 { 0.0 } else { (root.bytes + mem.bytes) as f64 / (time_fs as f64 / 1e15) };
    let found = root.found.clone().unwrap_or_default();
    let bytes = |ranges: &[std::ops::Range<u64>]| ranges.iter().map(|r| r.end - r.start).sum::<u64>();
    let of_io = |count: fn(&Stats) -> u64| stats.iter().map(count).sum::<u64>();
    let of_ends = |count: fn(&EndFigures) -> u64| figures.iter().map(count).sum::<u64>();
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
            ("replayed TLPs", of_io(|s| s.replayed)),
            ("replayed flits", of_ends(|f| f.replayed)),
            ("early halves", of_ends(|f| f.early_halves)),
            ("trainings", ports.iter().map(|p| p.trainings).sum()),
        ]
        .map(|(k, v)| (k.to_owned(), v)),
    );
    for (dir, shares) in ["down", "up"].into_iter().zip(&figures).filter_map(|(dir, f)| Some((dir, f.shares?))) {
        let [io, cachemem] = shares.sent;
        let of_dir = [("CXL.io flits", io), ("CXL.cachemem flits", cachemem), ("ALMPs", shares.almps)];
        counts.extend(of_dir.map(|(name, n)| (format!("{name} {dir}"), n)));
    }
    if figures[0].shares.is_some() {
        let answers = mem.latency_fs.len() as u64;
        let mean_fs = mem.latency_fs.iter().sum::<u64>().checked_div(answers).unwrap_or(0);
        let of_mem =
            [("CXL.mem reads", mem.misses), ("CXL.mem writes", mem.writes), ("CXL.mem mean latency [fs]", mean_fs)];
        counts.extend(of_mem.map(|(name, n)| (name.to_owned(), n)));
    }
    let names = ["posted", "non-posted", "completion"];
    let messages = ["down", "up"]
        .into_iter()
        .zip(&stats)
        .flat_map(|(dir, stats)| names.into_iter().zip(stats.sent).map(move |(name, n)| (format!("{name} {dir}"), n)));
    Ok(Report {
        remarks: Vec::new(),
        components: Vec::new(),
        links: Vec::new(),
        scenario: NAME.into(),
        seed: request.seed,
        cycles: time_fs / clock_fs,
        time_fs,
        flits: vec![("down".into(), figures[0].units), ("up".into(), figures[1].units)],
        messages: messages.collect(),
        goodput_bytes_per_s: goodput,
        efficiency: goodput / pace.unit_bytes_per_s(),
        latency_cycles: Spread::of(root.latency_cycles),
        latency_fs: Spread::of(root.latency_fs),
        retries: of_io(|s| s.replays) + of_ends(|f| f.replays),
        errors_repaired: if ended_well { ports.iter().map(|p| p.damaged).sum() } else { 0 },
        credit_stalls: of_ends(|f| f.credit_stalls),
        where_time_goes: ["down", "up"]
            .into_iter()
            .zip(&ports)
            .map(|(name, port)| direction(name, [port.time], line_bits))
            .collect(),
        fabric: None,
        counts,
        coverage: host.coverage(device),
        violations,
    })
}
