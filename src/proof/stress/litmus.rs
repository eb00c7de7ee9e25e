//! Programs of sequential cores with random order of all messages, and the litmus shapes run so.
//!
//! Copies are given to random cores before the programs begin, and cores evict and drop lines between their accesses. The
//! same shapes with every order: [`crate::litmus::cores`].

use super::bias::BiasRig;
use super::cache::CacheRig;
use super::mem::MemRig;
use super::rig::{PendingStore, StressRig};
use super::tester::Tester;
use super::{Stress, StressFailure, StressProtocol};
use crate::litmus::shapes::{LitmusAccess, LitmusShape};
use scalepool_coherence::cache::device::WriteBytes;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_ordered::OrderedMap;

/// Steps an access after which a run that has not ended counts as without outcome (a rule is off, and something waits for ever).
const MOST_STEPS: u64 = 4_000;

/// Steps in which cores go on evicting when their programs are over.
const LAST_STEPS: u64 = 40;

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenOutcomes {
    /// Runs by outcome: loaded values, last values.
    pub outcomes: OrderedMap<(Vec<u8>, [u8; 2]), u64>,
    /// Runs with a forbidden outcome.
    pub forbidden: u64,
    /// Runs that did not end, or whose agents contradicted each other.
    pub broken: u64,
}

/// Runs a shape with seeds 0 to `runs` - 1.
pub fn explore(shape: &LitmusShape, protocol: StressProtocol, config: &CoherenceConfig, runs: u64) -> SeenOutcomes {
    let mut seen = SeenOutcomes::default();
    for seed in 0..runs {
        let mut stress = Stress::new(protocol, seed, 0);
        (stress.lines, stress.cache_lines, stress.byte_owners) = (2, 8, false);
        stress.config = config.clone();
        let work = |access: &LitmusAccess| match *access {
            LitmusAccess::Load(line) => Work { line: LineAddr(line), store: None },
            LitmusAccess::Store(line, value) => {
                Work { line: LineAddr(line), store: Some(WriteBytes { data: CacheLine::of([value; 64]), enables: 1 }) }
            }
        };
        let programs: Vec<Vec<Work>> = shape.programs.iter().map(|p| p.iter().map(work).collect()).collect();
        match play(&stress, &programs) {
            Ok(Some(played)) => {
                let loaded: Vec<u8> = played.loaded.iter().flatten().map(|l| l.bytes[0]).collect();
                let last = [played.last[0].bytes[0], played.last[1].bytes[0]];
                seen.forbidden += u64::from((shape.forbidden)(&loaded, &last));
                *seen.outcomes.entry((loaded, last)).or_default() += 1;
            }
            Ok(None) | Err(_) => seen.broken += 1,
        }
    }
    seen
}

/// An access of a core to all 64 bytes of a line or some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Line.
    pub line: LineAddr,
    /// What is stored; a load without.
    pub store: Option<WriteBytes<CacheLine>>,
}

/// What programs have done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// Values loaded, program by program.
    pub loaded: Vec<Vec<CacheLine>>,
    /// Last value of each line.
    pub last: Vec<CacheLine>,
}

/// Runs a program on each of as many cores, picked at random among the actors; `None`: it did not end.
///
/// # Errors
/// The first broken rule, unless a rule is off by intent: then the outcome is what counts.
pub fn play(stress: &Stress, programs: &[Vec<Work>]) -> Result<Option<Played>, Box<StressFailure>> {
    match stress.protocol {
        StressProtocol::Cache(devices) => drive(CacheRig::new(devices), stress, programs),
        StressProtocol::HdmDb(hosts) => drive(MemRig::new(&stress.config, hosts, stress.lines), stress, programs),
        StressProtocol::HdmD => drive(BiasRig::new(), stress, programs),
    }
}

fn drive<R: StressRig>(rig: R, stress: &Stress, programs: &[Vec<Work>]) -> Result<Option<Played>, Box<StressFailure>> {
    let is_legal = stress.config.rules.is_sheet();
    let mut tester = Tester::new(rig, &Stress { watch: is_legal, passive: is_legal, ..stress.clone() });
    tester.dice.evicts_only = true;
    once(&mut tester, programs).map_err(|event| Box::new(tester.failure(stress.seed, event)))
}

/// A core.
struct StressCore<'a> {
    actor: usize,
    program: &'a [Work],
    /// Next access, and whether it is a store that has begun.
    at: usize,
    storing: bool,
    loaded: Vec<CacheLine>,
}

fn once<R: StressRig>(tester: &mut Tester<R>, programs: &[Vec<Work>]) -> Result<Option<Played>, CoherenceEvent> {
    let actors = tester.rig.actors();
    let lines = tester.lines();
    let mut places: Vec<usize> = (0..actors).collect();
    let mut cores = Vec::new();
    for program in programs.iter().take(actors) {
        let actor = places.swap_remove(tester.dice.below(places.len()));
        cores.push(StressCore { actor, program, at: 0, storing: false, loaded: Vec::new() });
    }
    for actor in 0..actors {
        for line in (0..lines).map(LineAddr) {
            if tester.dice.once_in(2) {
                tester.try_load(actor, line)?;
                tester.drain()?;
            }
        }
    }
    tester.used.clear();
    let accesses: usize = programs.iter().map(Vec::len).sum();
    let most = tester.counts.steps + MOST_STEPS * accesses as u64;
    while cores.iter().any(|c| c.at < c.program.len()) {
        if tester.counts.steps > most {
            return Ok(None);
        }
        if tester.dice.once_in(4) {
            let n = tester.dice.below(cores.len());
            act(tester, &mut cores[n])?;
        } else {
            tester.deliver()?;
        }
        note(tester, &mut cores);
    }
    for _ in 0..LAST_STEPS {
        if tester.dice.once_in(4) {
            let n = tester.dice.below(cores.len());
            evict(tester, cores[n].actor)?;
        } else {
            tester.deliver()?;
        }
    }
    tester.drain()?;
    let last = (0..lines).map(|line| tester.last(LineAddr(line))).collect();
    Ok(Some(Played { loaded: cores.into_iter().map(|c| c.loaded).collect(), last }))
}

fn evict<R: StressRig>(tester: &mut Tester<R>, actor: usize) -> Result<(), CoherenceEvent> {
    let line = LineAddr(tester.dice.below(tester.lines() as usize) as u64);
    tester.other(actor, line)
}

/// The core goes on, or evicts a line.
fn act<R: StressRig>(tester: &mut Tester<R>, core: &mut StressCore) -> Result<(), CoherenceEvent> {
    tester.counts.steps += 1;
    if tester.dice.once_in(4) {
        return evict(tester, core.actor);
    }
    let Some(&Work { line, store }) = core.program.get(core.at) else { return Ok(()) };
    let Some(bytes) = store else { return tester.try_load(core.actor, line) };
    let waiting = match tester.pending[tester.place(core.actor, line)] {
        Some(waiting) => waiting,
        None if core.storing => return Ok(()),
        None => PendingStore { bytes, given: false, since: tester.counts.steps },
    };
    core.storing = true;
    tester.try_store(core.actor, line, waiting)
}

/// Takes note of accesses that have ended.
fn note<R: StressRig>(tester: &mut Tester<R>, cores: &mut [StressCore]) {
    for core in cores {
        match core.program.get(core.at) {
            Some(Work { line, store: None }) => {
                if let Some((_, _, value)) =
                    tester.used.iter().find(|(actor, at, _)| *actor == core.actor && at == line)
                {
                    core.loaded.push(*value);
                    core.at += 1;
                }
            }
            Some(Work { line, .. }) if core.storing && !tester.is_storing(core.actor, *line) => {
                core.storing = false;
                core.at += 1;
            }
            _ => {}
        }
    }
    tester.used.clear();
}
