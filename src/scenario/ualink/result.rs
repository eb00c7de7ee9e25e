//! Results of the modules to a report.

use super::build::{Design, Results};
use crate::report::{Broken, FabricFigures, Report, Spread, direction, flit_clocks};
use crate::{Request, RunError};
use scalepool_fabric::ualink_switch::core::CoreStats;
use scalepool_kernel::{RunReport, SimError, Stop};
use scalepool_link::ualink::tl::port::PortResult;
use scalepool_nodes::ualink::accelerator::AcceleratorResult;
use scalepool_nodes::ualink::check::{Ledger, conservation};
use scalepool_nodes::ualink::station::StationResult;
use scalepool_protocols::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::flit::FLIT_BYTES;
use scalepool_protocols::wire::{At, LayoutDef, Violation, Wire};
use std::sync::{Arc, Mutex, PoisonError};

/// Most messages out of place that a report names one by one.
const MOST_FOUND: usize = 100;
/// Fields by type.
const FIELDS: [&LayoutDef; 6] = [TlFc::DEF, TlReq::DEF, TlRsp::DEF, TlCreq::DEF, TlCrspSingle::DEF, TlCrspMulti::DEF];

fn copy<T: Clone>(result: &Arc<Mutex<T>>) -> T {
    result.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn open_work(place: &str, found: String, expected: &str, text: String) -> Broken {
    let violation = Violation { rule: "SIM-E2E-03", at: At::Byte(0), found, expected: expected.into(), text };
    Broken { place: place.into(), violation }
}

/// What went wrong at a port.
fn of_port(name: &str, port: &PortResult, at_rest: bool) -> Vec<Broken> {
    let mut broken: Vec<Broken> =
        port.violations.iter().map(|e| Broken { place: name.into(), violation: e.violation.clone() }).collect();
    if at_rest && port.astray > 0 {
        let found = format!("{} credits spent", port.astray);
        broken.push(open_work(
            name,
            found,
            "all credits returned",
            "credits or flits are still open at the end of the run".into(),
        ));
    }
    if at_rest && port.kept > 0 {
        let found = format!("{} flits without Ack", port.kept);
        broken.push(open_work(
            name,
            found,
            "no flit without Ack",
            "credits or flits are still open at the end of the run".into(),
        ));
    }
    if port.link.downs > 0 {
        let found = format!("{} times down, {} transactions dropped", port.link.downs, port.tl.dropped);
        broken.push(open_work(name, found, "always up", "the link has left Up".into()));
    }
    broken
}

/// The report of a run.
///
/// # Errors
/// The design could not be built.
pub fn report(
    scenario: &str,
    request: &Request,
    design: &Design,
    outcome: Result<RunReport, SimError>,
    results: &Results,
) -> Result<Report, RunError> {
    let accelerators: Vec<AcceleratorResult> = results.accelerators.iter().map(copy).collect();
    let ports: Vec<(&str, PortResult)> =
        results.ports.iter().map(|(end, port)| (end.name.as_str(), copy(port))).collect();
    let ended_well = outcome.is_ok();
    let line_bits = flit_clocks(design.line.code_word_fs(), &outcome) * 8 * FLIT_BYTES as u64;
    let at_rest = outcome.as_ref().is_ok_and(|report| report.stop == Stop::Quiescent);
    let mut violations: Vec<Broken> = Vec::new();
    for (name, port) in &ports {
        violations.extend(of_port(name, port, at_rest));
    }
    for (n, accelerator) in accelerators.iter().enumerate() {
        violations.extend(accelerator.broken.clone());
        violations.extend(accelerator.isolation(&format!("accel[{n}]")));
    }
    let stations: Vec<(&str, StationResult)> =
        results.stations.iter().map(|(name, s)| (name.as_str(), copy(s))).collect();
    for (name, station) in &stations {
        violations.extend(station.broken.clone());
        if at_rest && !station.dropped && !station.credits_home {
            let found = "credits spent".to_owned();
            violations.push(open_work(
                name,
                found,
                "all credits returned",
                "credits or flits are still open at the end of the run".into(),
            ));
        }
    }
    // What is lost with a link or in isolation is told above.
    let is_whole = ports.iter().all(|(_, port)| port.link.downs == 0)
        && stations.iter().all(|(_, station)| !station.dropped)
        && accelerators.iter().all(|a| a.dummies + a.late == 0);
    if ended_well && is_whole {
        let ledgers: Vec<&Ledger> = accelerators.iter().map(|a| &a.ledger).collect();
        let found = conservation(&ledgers, design.ordering, &design.denied, at_rest);
        violations
            .extend(found.into_iter().take(MOST_FOUND).map(|violation| Broken { place: "fabric".into(), violation }));
    }
    let end = match outcome {
        Ok(report) => report.end,
        Err(SimError::Build(e)) => return Err(RunError::Build(SimError::Build(e))),
        Err(e) => {
            let at = e.at();
            violations.push(open_work("simulation", "open work".into(), "none", e.to_string()));
            at
        }
    };
    let time_fs = end.as_fs();
    let cycles = time_fs / design.accel_clock_fs;
    let sum = |of: &dyn Fn(&AcceleratorResult) -> u64| accelerators.iter().map(of).sum::<u64>();
    let sum_ports = |of: &dyn Fn(&PortResult) -> u64| ports.iter().map(|(_, port)| of(port)).sum::<u64>();
    let flits_of =
        |of: &str| ports.iter().filter(|(name, _)| name.starts_with(of)).map(|(_, port)| port.flits).sum::<u64>();
    let times_of = |of: &str| {
        let ports = ports.iter().filter(|(name, _)| name.starts_with(of));
        ports.map(|(_, port)| port.time).collect::<Vec<_>>()
    };
    let places = match design.switches {
        0 => [("down", "accel[0]"), ("up", "accel[1]")],
        _ => [("to switch", "accel"), ("from switch", "switch")],
    };
    let flits = places.map(|(dir, of)| (dir.to_owned(), flits_of(of))).into();
    let places = places.into_iter();
    let bytes = sum(&|a| a.bytes);
    // From the first operation on: the time in which links come up is no traffic.
    let active_cycles = cycles.saturating_sub(design.start_cycle);
    let active_fs = time_fs.saturating_sub(design.start_cycle.saturating_mul(design.accel_clock_fs));
    let goodput = if active_fs == 0 { 0.0 } else { bytes as f64 * 1e15 / active_fs as f64 };
    let nodes = accelerators.len() as f64;
    let all_ports = nodes * design.ports() as f64;
    let downs = sum_ports(&|p| p.link.downs);
    let fields: Vec<u64> = (0..FIELDS.len()).map(|n| sum_ports(&|p| p.tl.fields[n])).collect();
    let beats = sum(&|a| a.beats);
    let fabric = (design.switches > 0).then(|| FabricFigures {
        // From an accelerator to a switch and from there to an accelerator.
        hops_mean: 2.0,
        // TL flits of data, 64 bytes; the line of a port takes one a cycle at x4 and 1562.5 MHz (`ualink` §1).
        offered_flits_per_node_cycle: match design.interval_cycles {
            0 => design.flit_bytes_per_s() * design.accel_clock_fs as f64 / 1e15 / 64.0 * design.ports() as f64,
            interval => design.beats as f64 / interval as f64,
        },
        accepted_flits_per_node_cycle: match active_cycles {
            0 => 0.0,
            cycles => beats as f64 / nodes / cycles as f64,
        },
    });
    let counts = [
        ("operations", sum(&|a| a.done)),
        ("reads", sum(&|a| a.issued[0])),
        ("writes", sum(&|a| a.issued[1])),
        ("atomics", sum(&|a| a.issued[2])),
        ("dummy answers", sum(&|a| a.dummies)),
        ("late answers", sum(&|a| a.late)),
        ("TL flits", sum_ports(&|p| p.tl.flits)),
        ("empty TL flits", sum_ports(&|p| p.tl.empty_flits)),
        ("link downs", downs),
        ("transactions dropped", sum_ports(&|p| p.tl.dropped)),
    ];
    let mut counts: Vec<(String, u64)> = counts.map(|(k, v)| (k.to_owned(), v)).into();
    let rolls = sum(&|a| a.issued[3]);
    counts.extend((rolls > 0).then(|| ("key rolls".to_owned(), rolls)));
    for (n, name) in ["requests", "data beats", "read response beats", "write responses"].into_iter().enumerate() {
        let words = stations.iter().map(|(_, station)| station.words[n]).sum();
        counts.extend((!stations.is_empty()).then(|| (format!("UPLI {name}"), words)));
    }
    if design.switches > 0 {
        let sum_switches = |of: &dyn Fn(&CoreStats) -> u64| results.switches.iter().map(|s| of(&copy(s))).sum::<u64>();
        counts.push(("relayed requests".to_owned(), sum_switches(&|s| s.granted[0])));
        counts.push(("relayed responses".to_owned(), sum_switches(&|s| s.granted[1])));
        counts.push(("denied".to_owned(), sum_switches(&|s| s.denied)));
        counts.push(("out of range".to_owned(), sum_switches(&|s| s.out_of_range)));
    }
    let latency = |of: &dyn Fn(&AcceleratorResult) -> &Vec<u64>| {
        Spread::of(accelerators.iter().flat_map(|a| of(a).iter().copied()).collect())
    };
    let met = fields.iter().filter(|&&n| n > 0).count() as u64;
    Ok(Report {
        remarks: Vec::new(),
        components: Vec::new(),
        links: Vec::new(),
        scenario: scenario.into(),
        seed: request.seed,
        cycles,
        time_fs,
        flits,
        messages: FIELDS.iter().zip(&fields).map(|(def, &n)| (def.name.to_owned(), n)).collect(),
        goodput_bytes_per_s: goodput,
        efficiency: goodput / (design.flit_bytes_per_s() * all_ports),
        latency_cycles: latency(&|a| &a.latency_cycles),
        latency_fs: latency(&|a| &a.latency_fs),
        retries: sum_ports(&|p| p.replays),
        errors_repaired: if ended_well && downs == 0 { sum_ports(&|p| p.damaged) } else { 0 },
        credit_stalls: sum_ports(&|p| p.tl.credit_stalls),
        where_time_goes: places.map(|(name, of)| direction(name, times_of(of), line_bits)).collect(),
        fabric,
        counts,
        coverage: vec![("field types".to_owned(), met, FIELDS.len() as u64)],
        violations,
    })
}
