//! Results of all modules to the report of a run.

use super::build::{DEVICE_PORT, HOST_PORT, Results};
use super::links::Reported;
use crate::kernel::{RunReport, SimError, Stop};
use crate::link::external::Feed;
use crate::link::port::PortResult;
use crate::nodes::cxl::host::HostResult;
use crate::scenario::report::{Broken, Report, Spread, direction, flit_clocks};
use crate::scenario::{Request, RunError};
use scalepool_protocols::wire::{At, Violation};
use std::sync::{Arc, Mutex, PoisonError};

/// What the report needs of a run besides its results.
pub(super) struct Run<'a> {
    pub request: &'a Request,
    /// Period of the reference clock.
    pub clock_fs: u64,
    /// Rate of whole units in one direction.
    pub unit_bytes_per_s: f64,
    /// Bytes of a unit, and its time as a fraction \[fs\], (numerator, denominator).
    pub unit: (usize, (u64, u64)),
    /// What a caller drove in place of host and device.
    pub feeds: &'a [Option<Feed>; 2],
}

/// Something is open, missing or left over when the run is over.
fn open_work(place: &str, found: String, expected: String, text: String) -> Broken {
    Broken { place: place.into(), violation: Violation { rule: "SIM-E2E-03", at: At::Byte(0), found, expected, text } }
}

fn taken<T: Clone>(result: &Arc<Mutex<T>>) -> T {
    result.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Run<'_> {
    /// The report.
    ///
    /// # Errors
    /// The design cannot be built.
    pub fn report<E: Reported>(
        &self,
        outcome: Result<RunReport, SimError>,
        results: &Results<E>,
    ) -> Result<Report, RunError> {
        if let Err(SimError::Build(e)) = outcome {
            return Err(RunError::Build(SimError::Build(e)));
        }
        let host: HostResult = taken(&results.host);
        let ports: [PortResult<E>; 2] = [taken(&results.host_port), taken(&results.device_port)];
        let [host_end, device_end] =
            ports.each_ref().map(|p| p.end.as_ref().expect("a port leaves its end behind, however the run ended"));
        let mut violations: Vec<Broken> = Vec::new();
        for (place, port) in [HOST_PORT, DEVICE_PORT].into_iter().zip(&ports) {
            let of_port =
                port.violations.iter().map(|e| Broken { place: place.into(), violation: e.violation.clone() });
            violations.extend(of_port);
        }
        violations.extend(host.broken.clone());
        let line_bits = flit_clocks(self.unit.1, &outcome) * 8 * self.unit.0 as u64;
        let ended_well = outcome.is_ok();
        let end = match outcome {
            Ok(report) => {
                if report.stop == Stop::Quiescent && self.feeds.iter().all(Option::is_none) {
                    for (place, end, peer) in [(HOST_PORT, host_end, device_end), (DEVICE_PORT, device_end, host_end)] {
                        let text = || "credits or requests are still open at the end of the run".to_owned();
                        let astray = end.astray(peer).into_iter();
                        violations.extend(astray.map(|(found, expected)| open_work(place, found, expected, text())));
                    }
                }
                report.end
            }
            Err(e) => {
                violations.push(open_work("simulation", "open work".into(), "none".into(), e.to_string()));
                e.at()
            }
        };
        let time_fs = end.as_fs();
        let seconds = time_fs as f64 / 1e15;
        let goodput = if time_fs == 0 { 0.0 } else { host.bytes as f64 / seconds };
        let figures = E::figures(host_end, device_end);
        let repaired = ended_well && host_end.halted().or(device_end.halted()).is_none();
        let of_host = [
            ("line accesses", host.accesses),
            ("cache hits", host.hits),
            ("reads", host.misses),
            ("writes", host.writes),
            ("host stall cycles", host.stall_cycles),
        ];
        let mut units = figures.units;
        for (units, feed) in units.iter_mut().zip(self.feeds) {
            *units = feed.as_ref().map_or(*units, Feed::sent);
        }
        let [down, up] = units;
        let of_model = ["down", "up"].into_iter().zip(&ports).zip(self.feeds).filter(|(_, feed)| feed.is_none());
        Ok(Report {
            remarks: Vec::new(),
            scenario: self.request.scenario.clone(),
            seed: self.request.seed,
            cycles: time_fs / self.clock_fs,
            time_fs,
            flits: vec![("down".into(), down), ("up".into(), up)],
            messages: figures.messages,
            goodput_bytes_per_s: goodput,
            efficiency: goodput / self.unit_bytes_per_s,
            latency_cycles: Spread::of(host.latency_cycles),
            latency_fs: Spread::of(host.latency_fs),
            retries: figures.retries,
            errors_repaired: if repaired { ports.iter().map(|p| p.damaged).sum() } else { 0 },
            credit_stalls: figures.credit_stalls,
            where_time_goes: of_model.map(|((name, port), _)| direction(name, [port.time], line_bits)).collect(),
            fabric: None,
            counts: of_host.into_iter().chain(figures.counts).map(|(k, v)| (k.to_owned(), v)).collect(),
            coverage: figures.coverage,
            violations,
        })
    }
}
