//! A litmus program on the cores of a system, over its links, many times.
//!
//! Modelled: simulations one behind the other, of [`RUNS_OF_A_SIMULATION`] runs each, so that a run can be repeated without all
//! those before it; simulation n has the seed of the first one plus n. Left out: what the outcomes mean, which is the caller's.
//!
//! A walk through one simulation: the description is resolved and built with cores that run the program; it runs to its end;
//! outcomes and broken rules are taken over in the order of the simulations, on however many threads they ran.

use super::report::PlacedViolation;
use super::{Modes, RunError, ScenarioRequest, builtin, described};
use scalepool_coherence::clocked::litmus::LitmusRuns;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::thread::ThreadProgram;
use scalepool_kernel::{RunOptions, SimError, shared};
use scalepool_protocols::wire::Violation;
use scalepool_system::build::{Run, amended};
use scalepool_system::description::Description;
use scalepool_system::measured::Ending;
use scalepool_trace::filter::WatchedPlaces;

/// Runs of a simulation.
pub const RUNS_OF_A_SIMULATION: u64 = 1000;

/// Values loaded, thread by thread, and the last value of each location.
pub type LitmusValues = (Vec<u8>, Vec<u8>);

/// What one simulation has seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LitmusSimulation {
    /// Its seed.
    pub seed: u64,
    /// Outcomes: how many runs had it, and the first of them, from 1.
    pub outcomes: Vec<(LitmusValues, u64, u64)>,
    /// Broken rules.
    pub violations: Vec<PlacedViolation>,
    /// Its end \[fs\].
    pub time_fs: u64,
}

/// Makes other choices of coherent agents, which no description can make.
pub type Amend<'a> = &'a (dyn Fn(&mut CoherenceConfig) + Sync);

/// So many runs of a program on the system of a request, on the threads of the request.
///
/// # Errors
/// A description that is wrong or whose cores cannot run the program.
pub fn litmus(
    request: &ScenarioRequest,
    program: &ThreadProgram,
    runs: u64,
) -> Result<Vec<LitmusSimulation>, RunError> {
    amended_litmus(request, program, runs, &|_| ())
}

/// The same with agents of other choices.
///
/// # Errors
/// Those of [`litmus`].
pub fn amended_litmus(
    request: &ScenarioRequest,
    program: &ThreadProgram,
    runs: u64,
    amend: Amend<'_>,
) -> Result<Vec<LitmusSimulation>, RunError> {
    let description = described::description(request, builtin(request)?)?;
    let parts: Vec<u64> = (0..runs.div_ceil(RUNS_OF_A_SIMULATION)).collect();
    let ended = shared(&parts, request.threads, |n| {
        let runs = RUNS_OF_A_SIMULATION.min(runs - n * RUNS_OF_A_SIMULATION);
        simulate(&description, request.modes, program, (runs, request.seed.wrapping_add(*n)), amend)
    });
    ended.into_iter().collect()
}

fn simulate(
    description: &Description,
    modes: Modes,
    program: &ThreadProgram,
    (runs, seed): (u64, u64),
    amend: Amend<'_>,
) -> Result<LitmusSimulation, RunError> {
    let system = description.resolve()?;
    let shared = LitmusRuns::new(program.clone(), runs, seed);
    // Nobody looks at its flits.
    let watched = WatchedPlaces::Matching(Vec::new());
    let run = Run { seed, litmus: Some(shared.clone()), watched, ..Run::default() };
    let assembly = amended(system, run, amend)?;
    let figures = assembly.figures;
    let options = RunOptions {
        stall_limit_fs: Some(figures.settle_fs),
        shuffle: modes.shuffle,
        evaluate_idle: modes.evaluate_idle,
        ..RunOptions::default()
    };
    let ended = assembly.sim.run(&options, |_| ());
    if let Err(SimError::Build(e)) = ended {
        return Err(RunError::Build(SimError::Build(e)));
    }
    let ending = Ending::of(&ended);
    let (components, links) = (figures.components(), figures.links(&ending));
    let mut violations: Vec<PlacedViolation> =
        links.iter().flat_map(|(.., link)| link.broken.iter().cloned()).collect();
    violations.extend(components.iter().flat_map(|(_, component)| component.broken.iter().cloned()));
    let has_stopped = components.iter().any(|(_, component)| component.has_stopped);
    if let (Err(e), false) = (&ended, has_stopped) {
        let violation = Violation::at_byte("SIM-E2E-03", 0, "open work", "none", e.to_string());
        violations.push(PlacedViolation { place: "simulation".into(), violation });
    }
    let outcomes = shared.outcomes().into_iter().map(|(values, seen)| (values, seen.runs, seen.first + 1));
    Ok(LitmusSimulation { seed, outcomes: outcomes.collect(), violations, time_fs: ending.at.as_fs() })
}
