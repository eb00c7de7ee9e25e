//! Results of GPUs and ports to the report.

use crate::report::{Broken, FabricFigures, Report, Spread, direction, flit_clocks};
use crate::{Request, RunError};
use scalepool_kernel::{RunReport, SimError, Stop};
use scalepool_link::line_time::LineTime;
use scalepool_link::nvlink::chain::Chain;
use scalepool_link::nvlink::port::{CHANNELS, PortResult};
use scalepool_link::nvlink::wiring::Socket;
use scalepool_link::sim_port::SimPort;
use scalepool_nodes::nvlink::gpu::GpuResult;
use scalepool_nodes::nvlink::ledger::{self, Ledger};
use scalepool_protocols::nvlink::{FLIT_BYTES, Op};
use scalepool_protocols::wire::Violation;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A result as it stands.
pub fn read<T: Clone>(result: &Mutex<T>) -> T {
    result.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Where the results of a run will be.
#[derive(Default)]
pub struct Results {
    /// GPUs.
    pub gpus: Vec<Arc<Mutex<GpuResult>>>,
    /// Both ends of each link.
    pub links: Vec<[(SimPort, Arc<Mutex<PortResult>>); 2]>,
}

impl Results {
    /// Takes in both ends of a link.
    pub fn add(&mut self, ends: [&mut Socket; 2]) {
        self.links.push(ends.map(|end| {
            let port = SimPort::new(end.name(), "nvlink", FLIT_BYTES);
            end.hooks = port.hooks.clone();
            (port, end.result.clone())
        }));
    }

    /// All link ends.
    pub fn ports(&self) -> Vec<SimPort> {
        self.links.iter().flatten().map(|(port, _)| port.clone()).collect()
    }
}

/// What a scenario knows of its run.
pub struct Run<'a> {
    /// Request.
    pub request: &'a Request,
    /// Period of the flit clock, the reference \[fs\].
    pub flit_fs: u64,
    /// Directions of links over which goodput is counted.
    pub directions: u64,
    /// What the switch behind a GPU's link has taken in and sent out of itself, by GPU, link and channel.
    pub own: BTreeMap<(usize, usize), [[Chain; 2]; CHANNELS.len()]>,
    /// Broken rules, counts and figures that a fabric adds.
    pub extra: (Vec<Broken>, Vec<(String, u64)>, Option<FabricFigures>),
}

/// Operations of the transaction layer, the coverage points.
const OPERATIONS: [Op; 8] = [
    Op::READ,
    Op::WRITE_POSTED,
    Op::WRITE_NONPOSTED,
    Op::ATOMIC_RETURN,
    Op::ATOMIC_POSTED,
    Op::FLUSH,
    Op::MULTICAST_WRITE,
    Op::REDUCE_READ,
];

fn open_work(place: &str, found: String, expected: String, text: &str) -> Broken {
    Broken { place: place.into(), violation: Violation::at_byte("SIM-E2E-03", 0, found, expected, text) }
}

impl Run<'_> {
    /// The report.
    ///
    /// # Errors
    /// The simulation could not be built.
    pub fn report(self, outcome: Result<RunReport, SimError>, results: &Results) -> Result<Report, RunError> {
        let gpus: Vec<GpuResult> = results.gpus.iter().map(|g| read(g)).collect();
        let links: Vec<[PortResult; 2]> = results.links.iter().map(|l| [read(&l[0].1), read(&l[1].1)]).collect();
        let ports = || links.iter().flatten();
        let clocks = flit_clocks((self.flit_fs, 1), &outcome);
        let at_rest = outcome.as_ref().is_ok_and(|report| report.stop == Stop::Quiescent);
        let mut violations = Vec::new();
        for (names, ends) in results.links.iter().zip(&links) {
            for (n, end) in ends.iter().enumerate() {
                let place = &names[n].0.name;
                violations.extend(
                    end.violations.iter().map(|e| Broken { place: place.clone(), violation: e.violation.clone() }),
                );
                if at_rest {
                    let astray = end.astray(&ends[1 - n]).into_iter();
                    violations.extend(astray.map(|(f, e)| {
                        open_work(place, f, e, "credits or requests are still open at the end of the run")
                    }));
                }
            }
        }
        violations.extend(gpus.iter().flat_map(|g| g.broken.clone()));
        if at_rest {
            let ledgers: Vec<&Ledger> = gpus.iter().map(|g| &g.ledger).collect();
            let own =
                |gpu, link, channel: usize| self.own.get(&(gpu, link)).map_or_else(Default::default, |o| o[channel]);
            violations.extend(ledger::compare(&ledgers, own));
        }
        let (broken, more, fabric) = self.extra;
        violations.extend(broken);
        let ended_well = outcome.is_ok();
        let end = match outcome {
            Ok(report) => report.end,
            Err(SimError::Build(e)) => return Err(RunError::Build(SimError::Build(e))),
            Err(e) => {
                violations.push(open_work("simulation", "open work".into(), "none".into(), &e.to_string()));
                e.at()
            }
        };
        let last = gpus.iter().map(|g| g.last_cycle).max().unwrap_or(0);
        let time_fs = end.as_fs();
        let bytes: u64 = gpus.iter().map(|g| g.bytes).sum();
        let work_fs = if last > 0 { last * self.flit_fs } else { time_fs };
        let goodput = if work_fs == 0 { 0.0 } else { bytes as f64 / (work_fs as f64 / 1e15) };
        let capacity = self.directions as f64 * FLIT_BYTES as f64 * 1e15 / self.flit_fs as f64;
        let sum = |count: fn(&PortResult) -> u64| ports().map(count).sum::<u64>();
        // A packet is counted when it begins, so the last one may end behind the run.
        let line_bits = |time: LineTime| time.total().max(clocks * 8 * FLIT_BYTES as u64);
        let times =
            |name: &str, n: usize| direction(name, links.iter().map(|l| l[n].time.of_line(line_bits(l[n].time))), 0);
        let side = |n: usize| links.iter().map(|l| l[n].stats.sent_flits).sum::<u64>();
        let sent = |op: Op| gpus.iter().filter_map(|g| g.sent.get(&op.0)).sum::<u64>();
        let repaired = ended_well && ports().all(|p| !p.down);
        let name = |op: Op| format!("{op:?}");
        let mut counts: Vec<(String, u64)> = OPERATIONS.iter().map(|&op| (name(op), sent(op))).collect();
        counts.extend([
            ("answers".to_owned(), gpus.iter().map(|g| g.answers).sum()),
            ("payload [bytes]".to_owned(), bytes),
            ("cycles of work".to_owned(), last),
            ("replayed packets".to_owned(), sum(|p| p.stats.replayed)),
            ("credit carriers".to_owned(), sum(|p| p.stats.carriers)),
            ("ports under back-pressure".to_owned(), sum(|p| u64::from(p.stalled_windows > 0))),
        ]);
        counts.extend(more);
        let met = OPERATIONS.iter().filter(|&&op| sent(op) > 0).count() as u64;
        let delivered = |n: usize| ports().map(|p| p.delivered[n]).sum::<u64>();
        Ok(Report {
            remarks: Vec::new(),
            components: Vec::new(),
            links: Vec::new(),
            scenario: self.request.scenario.clone(),
            seed: self.request.seed,
            cycles: time_fs / self.flit_fs,
            time_fs,
            flits: vec![("down".into(), side(0)), ("up".into(), side(1))],
            messages: CHANNELS.iter().enumerate().map(|(n, vc)| (format!("{vc:?}"), delivered(n))).collect(),
            goodput_bytes_per_s: goodput,
            efficiency: goodput / capacity,
            latency_cycles: Spread::of(gpus.iter().flat_map(|g| g.latency_cycles.clone()).collect()),
            latency_fs: Spread::of(gpus.iter().flat_map(|g| g.latency_fs.clone()).collect()),
            retries: sum(|p| p.stats.replays),
            errors_repaired: if repaired { sum(|p| p.damaged) } else { 0 },
            credit_stalls: sum(|p| p.credit_stalls),
            where_time_goes: vec![times("down", 0), times("up", 1)],
            fabric,
            counts,
            coverage: vec![("operation".into(), met, OPERATIONS.len() as u64)],
            violations,
        })
    }
}
