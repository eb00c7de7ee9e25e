//! Litmus tests over two lines: sequential cores, random order of all messages, the outcomes that were seen.
//!
//! Every core does one access after the other; a load ends with its value, a store with its place in coherence order.
//! The agents then owe sequential consistency, so each shape has outcomes that must never be seen. Copies are given to
//! random cores before the programs begin, and cores evict and drop lines between their accesses.

use super::bias::BiasRig;
use super::cache::CacheRig;
use super::mem::MemRig;
use super::rig::{Pending, Rig};
use super::tester::Tester;
use super::{Protocol, Stress};
use crate::coherence::cache::device::Bytes;
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::{Line, LineAddr};
use crate::coherence::event::Event;
use std::collections::BTreeMap;

/// An access of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Loads a line.
    Load(u64),
    /// Stores a value to a line.
    Store(u64, u8),
}

/// A shape: programs, and which outcome no order of the accesses explains.
#[derive(Debug)]
pub struct Shape {
    /// Name in the literature.
    pub name: &'static str,
    /// One a core.
    pub programs: &'static [&'static [Access]],
    /// Of the values loaded, core by core, and the last values of the two lines.
    pub forbidden: fn(&[u8], [u8; 2]) -> bool,
}

use Access::{Load, Store};
const X: u64 = 0;
const Y: u64 = 1;

/// The shapes.
pub static SHAPES: &[Shape] = &[
    Shape {
        name: "CoRR",
        programs: &[&[Store(X, 1)], &[Load(X), Load(X)]],
        forbidden: |r, _| r == [1, 0],
    },
    Shape {
        name: "CoWW",
        programs: &[&[Store(X, 1), Store(X, 2)], &[Load(X)]],
        forbidden: |_, last| last[0] != 2,
    },
    Shape {
        name: "CoWR",
        programs: &[&[Store(X, 1), Load(X)], &[Store(X, 2)]],
        forbidden: |r, last| r[0] == 0 || (r[0] == 2 && last[0] == 1),
    },
    Shape {
        name: "CoRW",
        programs: &[&[Load(X), Store(X, 1)], &[Store(X, 2)]],
        forbidden: |r, last| r[0] == 1 || (r[0] == 2 && last[0] == 2),
    },
    Shape {
        name: "MP",
        programs: &[&[Store(X, 1), Store(Y, 1)], &[Load(Y), Load(X)]],
        forbidden: |r, _| r == [1, 0],
    },
    Shape {
        name: "SB",
        programs: &[&[Store(X, 1), Load(Y)], &[Store(Y, 1), Load(X)]],
        forbidden: |r, _| r == [0, 0],
    },
    Shape {
        name: "2+2W",
        programs: &[&[Store(X, 1), Store(Y, 2)], &[Store(Y, 1), Store(X, 2)]],
        forbidden: |_, last| last == [1, 1],
    },
    Shape {
        name: "IRIW",
        programs: &[&[Store(X, 1)], &[Store(Y, 1)], &[Load(X), Load(Y)], &[Load(Y), Load(X)]],
        forbidden: |r, _| r == [1, 0, 1, 0],
    },
];

/// Steps after which a run that has not ended counts as without outcome (a rule is off, and something waits for ever).
const MOST_STEPS: u64 = 20_000;

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Runs by outcome: loaded values, last values.
    pub outcomes: BTreeMap<(Vec<u8>, [u8; 2]), u64>,
    /// Runs with a forbidden outcome.
    pub forbidden: u64,
    /// Runs that did not end, or whose agents contradicted each other.
    pub broken: u64,
}

/// Runs a shape with seeds 0 to `runs` - 1.
pub fn explore(shape: &Shape, protocol: Protocol, config: &CoherenceConfig, runs: u64) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..runs {
        let mut stress = Stress::new(protocol, seed, 0);
        (stress.lines, stress.cache_lines, stress.byte_owners) = (2, 8, true);
        stress.config = config.clone();
        let outcome = match protocol {
            Protocol::Cache(devices) => once(shape, CacheRig::new(devices), &stress),
            Protocol::HdmDb(hosts) => once(shape, MemRig::new(config, hosts, 2), &stress),
            Protocol::HdmD => once(shape, BiasRig::new(), &stress),
        };
        match outcome {
            Ok(Some((loaded, last))) => {
                seen.forbidden += u64::from((shape.forbidden)(&loaded, last));
                *seen.outcomes.entry((loaded, last)).or_default() += 1;
            }
            Ok(None) | Err(_) => seen.broken += 1,
        }
    }
    seen
}

/// A core.
struct Core {
    actor: usize,
    program: &'static [Access],
    /// Next access, and whether it is a store that has begun.
    at: usize,
    storing: bool,
    loaded: Vec<u8>,
}

fn store_of(value: u8) -> Bytes<Line> {
    Bytes { data: Line([value; 64]), enables: 1 }
}

/// One run; `None`: it did not end.
fn once<R: Rig>(shape: &Shape, rig: R, stress: &Stress) -> Result<Option<(Vec<u8>, [u8; 2])>, Event> {
    let actors = rig.actors();
    // A broken rule is a broken run; with a rule off it is the outcome that counts.
    let mut tester = Tester::new(rig, stress, stress.config.mutant.is_none());
    tester.dice.evicts_only = true;
    let mut places: Vec<usize> = (0..actors).collect();
    let mut cores = Vec::new();
    for program in shape.programs {
        let actor = places.swap_remove(tester.dice.below(places.len()));
        cores.push(Core { actor, program, at: 0, storing: false, loaded: Vec::new() });
    }
    for actor in 0..actors {
        for line in [X, Y] {
            if tester.dice.once_in(2) {
                tester.try_load(actor, LineAddr(line))?;
                tester.drain()?;
            }
        }
    }
    tester.used.clear();
    while cores.iter().any(|c| c.at < c.program.len()) {
        if tester.counts.steps > MOST_STEPS {
            return Ok(None);
        }
        if tester.dice.once_in(4) {
            let n = tester.dice.below(cores.len());
            act(&mut tester, &mut cores[n])?;
        } else {
            tester.deliver()?;
        }
        note(&mut tester, &mut cores);
    }
    tester.drain()?;
    let last = [X, Y].map(|line| tester.last(LineAddr(line)).0[0]);
    Ok(Some((cores.into_iter().flat_map(|c| c.loaded).collect(), last)))
}

/// The core goes on, or evicts a line.
fn act<R: Rig>(tester: &mut Tester<R>, core: &mut Core) -> Result<(), Event> {
    tester.counts.steps += 1;
    if !core.storing && tester.dice.once_in(4) {
        let line = LineAddr(tester.dice.below(2) as u64);
        return tester.other(core.actor, line);
    }
    match core.program.get(core.at) {
        None => Ok(()),
        Some(Load(line)) => tester.try_load(core.actor, LineAddr(*line)),
        Some(Store(line, value)) => {
            let line = LineAddr(*line);
            let waiting = match tester.pending[tester.place(core.actor, line)] {
                Some(waiting) => waiting,
                None if core.storing => return Ok(()),
                None => Pending { bytes: store_of(*value), given: false, since: tester.counts.steps },
            };
            core.storing = true;
            tester.try_store(core.actor, line, waiting)
        }
    }
}

/// Takes note of accesses that have ended.
fn note<R: Rig>(tester: &mut Tester<R>, cores: &mut [Core]) {
    for core in cores {
        match core.program.get(core.at) {
            Some(Load(line)) => {
                let seen = tester.used.iter().find(|(actor, at, _)| *actor == core.actor && at.0 == *line);
                if let Some((_, _, value)) = seen {
                    core.loaded.push(value.0[0]);
                    core.at += 1;
                }
            }
            Some(Store(line, _)) if core.storing && !tester.is_storing(core.actor, LineAddr(*line)) => {
                core.storing = false;
                core.at += 1;
            }
            _ => {}
        }
    }
    tester.used.clear();
}
