//! `nvlink-pair`: two GPUs over 1 to 18 ganged links. Basis: model (NVL-M1).
//!
//! Modelled: reads, posted and non-posted writes with byte enables, atomics, FLUSH, all checked byte for byte; litmus tests
//! of order (NVL-T12). Two partitions, one a GPU; one clock, that of the flits, the reference. Left out: a switch.

use super::outcome::{Results, Run};
use super::*;
use crate::drive::{Built, identity};
use crate::faults::faults;
use crate::settings::{GIVE_UP, SettingError};
use crate::{Request, RunError};
use scalepool_kernel::{Rng, SimError};
use scalepool_link::nvlink::wiring;
use scalepool_nodes::nvlink::gpu::{GpuConfig, Mutant};
use scalepool_nodes::nvlink::litmus::Litmus;
use scalepool_nodes::nvlink::program::Program;
use scalepool_nodes::nvlink::traffic::{Aim, Mix, Traffic, TrafficConfig};
use scalepool_protocols::nvlink::FLIT_BYTES;

/// Name on the command line.
pub const NAME: &str = "nvlink-pair";
/// What it is.
pub const DOC: &str = "model NVL-M1: two GPUs over ganged NVLinks, every byte checked, litmus tests of order";

/// Settings. Numbers without another source are of the model (basis: model).
pub static KEYS: &[Key] = &[
    GENERATION,
    key("link.count", "4", "links", Range::Int(1, 18), "ganged links (nvlink §4: up to 18)"),
    LATENCY,
    key("link.skew_fs", "0", "fs", Range::Int(0, 1 << 40), "added latency of each link over the one before"),
    BER,
    GIVE_UP,
    key(
        "link.fault",
        "",
        "-",
        Range::List("flip:FLIT:BIT, noise:FLIT, drop:FLIT; `up:` in front for the flits of GPU 1"),
        "faults to inject at numbered flits of link 0, counted from 0 in the order sent, idle flits included",
    ),
    key(
        "link.credits_hold",
        "0",
        "flit clocks",
        Range::Int(0, 1 << 40),
        "time for which GPU 1 holds back freed credits on link 0",
    ),
    STALL,
    HEADERS,
    DATA_FLITS,
    MEMORY,
    OUTSTANDING,
    key(
        "traffic.pattern",
        "mix",
        "-",
        Range::Words(&["mix", "reads", "writes", "stream", "litmus"]),
        "all operations and sizes; reads or posted writes of traffic.bytes; writes to blocks in order; litmus tests of order",
    ),
    key(
        "traffic.requests",
        "1000",
        "requests",
        Range::Int(0, 1 << 24),
        "requests of each GPU; rounds of the litmus test",
    ),
    BYTES,
    REGION,
    VERIFY,
];

/// Builds the scenario.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build(request: &Request, settings: &Settings) -> Result<Built, RunError> {
    build_with(request, settings, Mutant::None)
}

/// The same with a mistake in both GPUs.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build_with(request: &Request, settings: &Settings, mutant: Mutant) -> Result<Built, RunError> {
    check_sizes(settings)?;
    let settings = with_preset(settings);
    let faults = faults(&settings, FLIT_BYTES)?;
    let mut hub = Hub::default();
    let mut results = Results::default();
    let sim = simulation(request, &settings, mutant, faults, &mut hub, &mut results)
        .map_err(|e| RunError::Build(SimError::Build(e)))?;
    let flit_fs = generation(&settings).flit_fs();
    let directions = 2 * settings.int("link.count");
    Ok(Built {
        sim,
        hub,
        identity: identity(request, &settings),
        ber: settings.real("link.ber"),
        clock_fs: flit_fs,
        stall_limit_fs: STALL_LIMIT_FS,
        stimulus: Vec::new(),
        ports: results.ports(),
        report: Box::new(move |request, ended| {
            let run = Run { request, flit_fs, directions, own: Default::default(), extra: Default::default() };
            run.report(ended, &results)
        }),
        chart: None,
    })
}

/// Refuses sizes that are no whole units.
pub(super) fn check_sizes(settings: &Settings) -> Result<(), SettingError> {
    for (key, unit) in
        [("traffic.bytes", FLIT_BYTES as u64), ("traffic.region_bytes", scalepool_nodes::nvlink::gang::BLOCK_BYTES)]
    {
        if !settings.int(key).is_multiple_of(unit) {
            return Err(SettingError::Together { key, text: format!("expected a multiple of {unit} bytes") });
        }
    }
    Ok(())
}

fn simulation(
    request: &Request,
    settings: &Settings,
    mutant: Mutant,
    faults: [Vec<scalepool_link::fault::Fault>; 2],
    hub: &mut Hub,
    results: &mut Results,
) -> Result<Simulation, BuildError> {
    let generation = generation(settings);
    let (clock, kind) = (Clock::with_period_fs(generation.flit_fs())?, link_kind(settings, generation));
    let mut sim = Simulation::new(request.seed);
    let mut sides = [Vec::new(), Vec::new()];
    let mut faults = faults.map(Some);
    for n in 0..settings.int("link.count") {
        let names = [0, 1].map(|gpu| format!("gpu[{gpu}].link[{n}]"));
        let latency_fs = settings.int("link.latency_fs") + n * settings.int("link.skew_fs");
        let mut ends = wiring::link(&mut sim, [&names[0], &names[1]], latency_fs)?;
        ends.iter_mut().for_each(|end| end.tap(hub));
        if n == 0 {
            ends[1].hold_credits_flits = settings.int("link.credits_hold");
            for (end, faults) in ends.iter_mut().zip(&mut faults) {
                end.faults = faults.take().unwrap_or_default();
            }
        }
        results.add(ends.each_mut());
        sides.iter_mut().zip(ends).for_each(|(side, end)| side.push(end));
    }
    for (id, sockets) in (0u16..).zip(sides) {
        let requests = settings.int("traffic.requests");
        let mix = match settings.word("traffic.pattern") {
            "reads" => Some(Mix::Reads),
            "writes" => Some(Mix::Writes),
            "stream" => Some(Mix::Stream),
            "mix" => Some(Mix::All),
            _ => None,
        };
        let program: Box<dyn Program> = match mix {
            Some(mix) => {
                let config = TrafficConfig {
                    id,
                    gpus: 2,
                    mix,
                    aim: Aim::AllToAll,
                    requests,
                    bytes: settings.int("traffic.bytes") as usize,
                    region_bytes: settings.int("traffic.region_bytes"),
                    load: 0.0,
                    verify: settings.is_on("traffic.verify"),
                };
                Box::new(Traffic::new(config, Rng::for_name(request.seed, &format!("gpu[{id}].traffic"))))
            }
            None => Box::new(Litmus::new(1 - id, 2 * settings.int("link.count"), requests)),
        };
        let config = GpuConfig {
            id,
            memory_cycles: settings.int("gpu.memory_cycles"),
            outstanding: settings.int("gpu.outstanding") as usize,
            answer_queue: ANSWER_QUEUE,
            group: 0,
            program,
            mutant,
        };
        results.gpus.push(add_gpu(&mut sim, hub, clock, kind, config, sockets));
    }
    Ok(sim)
}
