//! Collectives by coherent loads and stores: a core on lines of a host, which accelerators cache by their links of CXL.cache (BRG-TIR-06).
//!
//! Modelled: each accelerator has lines for its vector and for the chunk that it sums, and three flags: its vector is stored, its chunk is summed, it
//! has read all. In an all-reduce accelerator c loads chunk c of all others, adds them in the order of their numbers, and stores the sum, which all
//! others load; in a broadcast the others load what accelerator 0 has stored. So many accesses are open at once; a flag is stored behind all
//! stores before it, which are done by then, since a store takes place in an owned line. What is loaded at the end is compared bit for bit with
//! a plain sum. Left out: evictions, the time of additions, writes past the caches.
//!
//! A walk through an all-reduce of two: both store their vectors, and then their first flags; accelerator 0 polls the flag of 1 until a snoop has
//! taken its old copy and the new one says that the vector is there; it loads chunk 0 of 1, adds, stores the sum and its second flag; it waits for that of
//! 1, loads the sum of chunk 1, and stores its third flag, behind which the lines may be stored again.

use super::collective::{CollectiveKind, CollectiveResult, CollectiveTask};
use scalepool_coherence::agent::{AgentOutput, Effect};
use scalepool_coherence::clocked::accessor::{AccessorMeasured, Caching, CoreOperation, LineRequestOutcome};
use scalepool_coherence::clocked::core::{Core, CoreReport, Told, Wants};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_fabric::nvlink_switch::reduction::sum;
use scalepool_memory::{ALL_BYTES, LINE_BYTES};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::field::REGION_BYTES;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How the core is built.
#[derive(Debug, Clone, Copy)]
pub struct ExchangeConfig {
    /// What is done.
    pub task: CollectiveTask,
    /// Number of the accelerator.
    pub own: u16,
    /// Collectives.
    pub rounds: u64,
    /// Most accesses that are open.
    pub outstanding: usize,
    /// Cycle of the first access.
    pub start_cycle: u64,
    /// Cycles from one look at a flag to the next.
    pub poll_cycles: u64,
}

/// A flag of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    /// Its vector is stored.
    Stored,
    /// Its chunk is summed.
    Summed,
    /// It has read all.
    Read,
}

/// Flags of an accelerator.
const FLAGS: u64 = 3;

impl ExchangeConfig {
    fn flag(member: usize, flag: Flag) -> LineAddr {
        LineAddr(FLAGS * member as u64 + flag as u64)
    }

    /// A line of a chunk of a vector.
    fn of_vector(&self, member: usize, chunk: usize, line: u64) -> LineAddr {
        let CollectiveTask { members, .. } = self.task;
        let before = (member * members + chunk) as u64 * self.task.chunk_lines();
        LineAddr(FLAGS * members as u64 + before + line)
    }

    /// A line of the sum of a chunk.
    fn of_sum(&self, chunk: usize, line: u64) -> LineAddr {
        self.of_vector(self.task.members, chunk, line)
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = usize::from(self.own);
        (0..self.task.members).filter(move |member| *member != own)
    }
}

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExchangePhase {
    /// All others have read what the lines held before.
    AwaitReaders,
    StoreVector,
    FlagStored,
    AwaitVectors,
    LoadVectors,
    StoreSum,
    FlagSummed,
    AwaitSums,
    LoadSums,
    FlagRead,
}

/// An access that has begun.
#[derive(Debug, Clone, Copy)]
struct OpenExchange {
    line: LineAddr,
    /// What is stored; `None`: a load.
    bytes: Option<CacheLine>,
    number: u64,
    since: u64,
    /// The agent has the store and will do it.
    is_given_away: bool,
}

/// The core.
#[derive(Debug)]
pub struct ExchangeCore {
    config: ExchangeConfig,
    /// The collective that goes on, from 0.
    collective: u64,
    phase: ExchangePhase,
    has_begun: bool,
    /// Accesses that have not begun: line, and what is stored.
    queue: VecDeque<(LineAddr, Option<CacheLine>)>,
    open: Vec<OpenExchange>,
    /// Flags that are waited for.
    awaited: Vec<LineAddr>,
    polls_at: u64,
    loaded: OrderedMap<LineAddr, CacheLine>,
    accesses: u64,
    measured: AccessorMeasured,
    told: Vec<Told>,
    result: Arc<Mutex<CollectiveResult>>,
}

fn flag_line(value: u64) -> CacheLine {
    let mut bytes = [0; LINE_BYTES as usize];
    bytes[..8].copy_from_slice(&value.to_le_bytes());
    CacheLine::of(bytes)
}

fn flag_of(line: &CacheLine) -> u64 {
    u64::from_le_bytes(line.bytes.as_chunks().0[0])
}

impl ExchangeCore {
    /// A core that has stored nothing. What it publishes is in `result`.
    pub fn new(config: ExchangeConfig, result: Arc<Mutex<CollectiveResult>>) -> ExchangeCore {
        ExchangeCore {
            config,
            collective: 0,
            phase: ExchangePhase::AwaitReaders,
            has_begun: false,
            queue: VecDeque::new(),
            open: Vec::new(),
            awaited: Vec::new(),
            polls_at: 0,
            loaded: OrderedMap::new(),
            accesses: 0,
            measured: AccessorMeasured::default(),
            told: Vec::new(),
            result,
        }
    }

    fn is_over(&self) -> bool {
        self.collective == self.config.rounds
    }

    fn own(&self) -> usize {
        usize::from(self.config.own)
    }

    /// The phases of this accelerator, in their order.
    fn phases(&self) -> &'static [ExchangePhase] {
        use ExchangePhase::*;
        match (self.config.task.kind, self.config.own) {
            (CollectiveKind::AllReduce, _) => &[
                AwaitReaders,
                StoreVector,
                FlagStored,
                AwaitVectors,
                LoadVectors,
                StoreSum,
                FlagSummed,
                AwaitSums,
                LoadSums,
                FlagRead,
            ],
            (CollectiveKind::Broadcast, 0) => &[AwaitReaders, StoreVector, FlagStored, FlagRead],
            (CollectiveKind::Broadcast, _) => &[AwaitVectors, LoadVectors, FlagRead],
        }
    }

    fn store_chunk(&mut self, bytes: &[u8], line_of: impl Fn(u64) -> LineAddr) {
        let lines = bytes.as_chunks().0.iter().zip(0..);
        self.queue.extend(lines.map(|(line, n)| (line_of(n), Some(CacheLine::of(*line)))));
    }

    fn load_chunk(&mut self, line_of: impl Fn(u64) -> LineAddr) {
        self.queue.extend((0..self.config.task.chunk_lines()).map(|n| (line_of(n), None)));
    }

    /// The bytes of a chunk that was loaded.
    fn loaded(&mut self, line_of: impl Fn(u64) -> LineAddr) -> Vec<u8> {
        let lines = (0..self.config.task.chunk_lines()).map(line_of);
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend(self.loaded.remove(&line).map_or([0; LINE_BYTES as usize], |line| line.bytes));
        }
        bytes
    }

    /// Queues the accesses of a phase.
    fn begin(&mut self, phase: ExchangePhase) {
        let (config, own, collective) = (self.config, self.own(), self.collective);
        let members = config.task.members;
        let await_flags = |flag: Flag| config.others().map(|member| ExchangeConfig::flag(member, flag)).collect();
        match phase {
            ExchangePhase::AwaitReaders => self.awaited = await_flags(Flag::Read),
            ExchangePhase::AwaitSums => self.awaited = await_flags(Flag::Summed),
            ExchangePhase::AwaitVectors if config.task.kind == CollectiveKind::Broadcast => {
                self.awaited = vec![ExchangeConfig::flag(0, Flag::Stored)];
            }
            ExchangePhase::AwaitVectors => self.awaited = await_flags(Flag::Stored),
            ExchangePhase::StoreVector => {
                for chunk in 0..members {
                    let bytes = config.task.own(collective, own, chunk);
                    self.store_chunk(&bytes, |n| config.of_vector(own, chunk, n));
                }
            }
            ExchangePhase::LoadVectors if config.task.kind == CollectiveKind::Broadcast => {
                (0..members).for_each(|chunk| self.load_chunk(|n| config.of_vector(0, chunk, n)));
            }
            ExchangePhase::LoadVectors => {
                config.others().for_each(|member| self.load_chunk(|n| config.of_vector(member, own, n)));
            }
            ExchangePhase::StoreSum => {
                let of = |member: usize| match member == own {
                    true => config.task.own(collective, own, own),
                    false => self.loaded(|n| config.of_vector(member, own, n)),
                };
                let all: Vec<Vec<u8>> = (0..members).map(of).collect();
                let total = sum(config.task.number, &all.iter().map(Vec::as_slice).collect::<Vec<_>>());
                self.compare(own, &total);
                self.store_chunk(&total, |n| config.of_sum(own, n));
            }
            ExchangePhase::LoadSums => config.others().for_each(|chunk| self.load_chunk(|n| config.of_sum(chunk, n))),
            ExchangePhase::FlagStored => self.store_flag(Flag::Stored),
            ExchangePhase::FlagSummed => self.store_flag(Flag::Summed),
            ExchangePhase::FlagRead => {
                match config.task.kind {
                    CollectiveKind::AllReduce => config.others().for_each(|chunk| {
                        let bytes = self.loaded(|n| config.of_sum(chunk, n));
                        self.compare(chunk, &bytes);
                    }),
                    CollectiveKind::Broadcast if own > 0 => (0..members).for_each(|chunk| {
                        let bytes = self.loaded(|n| config.of_vector(0, chunk, n));
                        self.compare(chunk, &bytes);
                    }),
                    CollectiveKind::Broadcast => (),
                }
                self.store_flag(Flag::Read);
            }
        }
    }

    fn store_flag(&mut self, flag: Flag) {
        let line = ExchangeConfig::flag(self.own(), flag);
        self.queue.push_back((line, Some(flag_line(self.collective + 1))));
    }

    /// Compares a chunk of the end with a plain sum.
    fn compare(&mut self, chunk: usize, bytes: &[u8]) {
        let expected = self.config.task.direct(self.collective, chunk);
        let block = REGION_BYTES as usize;
        let pairs = bytes.chunks(block).zip(expected.chunks(block)).zip(0..);
        let wrong: Vec<u64> = pairs.filter(|((is, expected), _)| is != expected).map(|(_, n)| n).collect();
        let what = format!("chunk {chunk} of collective {}", self.collective);
        self.result.lock().unwrap_or_else(PoisonError::into_inner).is_wrong(&what, &wrong);
    }

    /// The next phase, if all of this one is done.
    fn goes_on(&mut self, cycle: u64) {
        while !self.is_over() && self.queue.is_empty() && self.open.is_empty() && self.awaited.is_empty() {
            let phases = self.phases();
            if std::mem::replace(&mut self.has_begun, true) {
                let place = phases.iter().position(|phase| *phase == self.phase).unwrap_or(0);
                self.phase = phases[(place + 1) % phases.len()];
                if place + 1 == phases.len() {
                    self.collective += 1;
                    let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
                    (result.done, result.cycles) = (self.collective, cycle - self.config.start_cycle);
                    if self.collective == self.config.rounds {
                        return;
                    }
                }
            } else {
                self.phase = phases[0];
            }
            self.begin(self.phase);
            self.polls_at = cycle;
        }
    }

    fn ends(&mut self, open: &OpenExchange, cycle: u64) {
        self.told.push(Told::Ends { access: open.number });
        self.measured.latency_cycles.push(cycle - open.since);
    }

    fn starts(&mut self, line: LineAddr, bytes: Option<CacheLine>, cycle: u64) {
        let number = self.accesses;
        self.accesses += 1;
        let name = if bytes.is_some() { "store" } else { "load" };
        self.told.push(Told::Begins { access: number, name, address: line.address() });
        self.open.push(OpenExchange { line, bytes, number, since: cycle, is_given_away: false });
    }

    /// What the home could not serve ends without an effect, and the run says that the core waits.
    fn heeds(&mut self, effects: &[Effect<CacheLine>], cycle: u64) {
        for effect in effects {
            match effect {
                Effect::Stored(line) => {
                    let stored = self.open.iter().position(|open| open.line == *line && open.is_given_away);
                    if let Some(open) = stored.map(|n| self.open.remove(n)) {
                        self.ends(&open, cycle);
                    }
                }
                Effect::Done(line) => {
                    self.open.iter_mut().filter(|open| open.line == *line).for_each(|open| open.is_given_away = false);
                }
                Effect::Refused(_) => self.measured.refused += 1,
                _ => (),
            }
        }
    }

    /// Does an access that has begun, or asks for its line; whether it is done.
    fn tries<A: Caching>(
        &mut self,
        (agent, config): (&mut A, &CoherenceConfig),
        n: usize,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        let OpenExchange { line, bytes, number, is_given_away, .. } = self.open[n];
        if is_given_away {
            return false;
        }
        out.worked.push(line);
        let act = match bytes {
            Some(bytes) if agent.store(config, line, &bytes, ALL_BYTES, out) => return true,
            Some(bytes) => CoreOperation::Store { bytes, enables: ALL_BYTES },
            None => {
                if let Some(value) = agent.value(config, line, out) {
                    self.loaded.insert(line, value);
                    return true;
                }
                CoreOperation::Load
            }
        };
        let asked = agent.ask(config, line, &act, out);
        if asked != LineRequestOutcome::NotNow {
            self.told.push(Told::Asks { access: number, line });
        }
        self.open[n].is_given_away = asked == LineRequestOutcome::Store;
        false
    }

    /// Flags that have been loaded and are not old.
    fn sees_flags(&mut self) {
        let wanted = if self.phase == ExchangePhase::AwaitReaders { self.collective } else { self.collective + 1 };
        let loaded = &mut self.loaded;
        self.awaited.retain(|line| loaded.remove(line).is_none_or(|value| flag_of(&value) < wanted));
    }
}

impl<A: Caching> Core<A> for ExchangeCore {
    fn cycle(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        self.heeds(effects, cycle);
        if cycle < self.config.start_cycle {
            return Wants::Cycle(self.config.start_cycle);
        }
        self.goes_on(cycle);
        if self.is_over() {
            return Wants::Message;
        }
        if !self.awaited.is_empty() && self.open.is_empty() && cycle >= self.polls_at {
            self.polls_at = cycle + self.config.poll_cycles;
            self.awaited.clone().into_iter().for_each(|line| self.starts(line, None, cycle));
        }
        // One access begins in a cycle.
        if self.open.len() < self.config.outstanding
            && let Some((line, bytes)) = self.queue.pop_front()
        {
            self.starts(line, bytes, cycle);
        }
        for n in (0..self.open.len()).rev() {
            if self.tries((&mut *agent, config), n, out) {
                let open = self.open.remove(n);
                self.ends(&open, cycle);
            }
        }
        if !self.awaited.is_empty() && self.open.is_empty() {
            self.sees_flags();
        }
        match self.queue.is_empty() && self.open.is_empty() && !self.awaited.is_empty() {
            true => Wants::Cycle(self.polls_at.max(cycle + 1)),
            false => Wants::NextCycle,
        }
    }

    fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    fn report(&self) -> Option<CoreReport> {
        Some(CoreReport { measured: self.measured.clone(), aborts: 0 })
    }

    fn open_work(&self) -> Option<String> {
        let text = || format!("collective {} of {}, {:?}", self.collective, self.config.rounds, self.phase);
        (!self.is_over()).then(text)
    }
}
