//! One run of the current batch on one core: a thread, or loads and evictions around it.
//!
//! A walk through one cycle of a thread: stores that the agent has performed are marked as done. Each access whose
//! predecessors are done and whose delay is over is tried; if the agent cannot perform it now, the core requests the line.
//! A load exclusive sets the monitor of the run. A snoop or a request of another agent for the line clears it, as does the loss
//! of the copy; a store exclusive that finds it clear has failed.

use super::runs::{BegunRun, LitmusRuns, Preparation, RunPart, next_look};
use crate::agent::{AgentOutput, Effect};
use crate::clocked::accessor::{Caching, CoreOperation, LineRequestOutcome};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr};
use crate::message::{Class, Msg};
use crate::thread::{AccessSet, EXCLUSIVE_FAILED, EXCLUSIVE_STORED, ThreadAccess};

/// Lines of the largest block that a back-invalidate is about (`coherence` §3.4).
const LARGEST_BLOCK_LINES: u64 = 4;

/// The run.
#[derive(Debug)]
pub(super) struct CoreRun {
    runs: LitmusRuns,
    /// Its number in the batch.
    number: usize,
    begun: BegunRun,
    part: RunPart,
    /// First cycle of the phase.
    starts_at: u64,
    /// Cycle before which there is no work, unless something ends on a line of the run.
    next_at: u64,
    /// Whether the work of this core in the current phase is done.
    has_ended: bool,
    /// Number of preparations or final loads done.
    steps: usize,
    /// Accesses that are done.
    done: AccessSet,
    /// Stores that have been handed to the agent.
    given: AccessSet,
    /// Value that each access has loaded.
    loaded: Vec<u8>,
    /// Cycle in which each access issues; set when its predecessors are done.
    goes_at: Vec<Option<u64>>,
    /// The load exclusive since which the core has held the line.
    monitor: Option<usize>,
    /// Bytes read in the last phase.
    read: Vec<u8>,
}

impl CoreRun {
    /// Starts a phase of the run.
    pub fn new(runs: &LitmusRuns, number: usize, begun: BegunRun, part: RunPart, starts_at: u64) -> Self {
        let accesses = begun.plan.delays_cycles.len();
        Self {
            runs: runs.clone(),
            number,
            begun,
            part,
            starts_at,
            next_at: starts_at,
            has_ended: false,
            steps: 0,
            done: 0,
            given: 0,
            loaded: vec![0; accesses],
            goes_at: vec![None; accesses],
            monitor: None,
            read: Vec::new(),
        }
    }

    /// The agent is about to take a message. One of another agent that is about the monitored line, or about a block with it,
    /// clears the monitor.
    pub fn heard(&mut self, msg: &Msg<CacheLine>) {
        let asks = [Class::H2dReq, Class::S2mBisnp, Class::M2sReq, Class::M2sRwd, Class::D2hReq, Class::D2hData];
        let Some(load) = self.monitor.filter(|_| asks.contains(&msg.class())) else { return };
        let Some(thread) = self.begun.plan.thread else { return };
        let own = self.line(&self.runs.program().threads[thread][load]);
        if msg.line().is_none_or(|line| line.0 / LARGEST_BLOCK_LINES == own.0 / LARGEST_BLOCK_LINES) {
            self.monitor = None;
        }
    }

    /// Takes in what has ended since the last cycle, and works on the phase. Returns the next cycle in which there is work;
    /// `None` if this core has ended the phase of the run.
    pub fn cycle<A: Caching>(
        &mut self,
        cycle: u64,
        (agent, config): (&mut A, &CoherenceConfig),
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<u64> {
        let is_own = |effect: &Effect<CacheLine>| self.begun.places.iter().any(|place| place.line == effect.line());
        if self.has_ended {
            return None;
        }
        if cycle < self.next_at && self.monitor.is_none() && !effects.iter().any(is_own) {
            return Some(self.next_at);
        }
        let next = self.work(cycle, (agent, config), effects, out);
        self.next_at = next.unwrap_or(u64::MAX);
        next
    }

    fn work<A: Caching>(
        &mut self,
        cycle: u64,
        (agent, config): (&mut A, &CoherenceConfig),
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<u64> {
        let runs = self.runs.clone();
        let thread = self.begun.plan.thread.filter(|_| self.part == RunPart::Run);
        let accesses = thread.map_or(&[][..], |thread| &runs.program().threads[thread]);
        self.hear(accesses, effects);
        if cycle < self.starts_at {
            return Some(self.starts_at);
        }
        if let Some(load) = self.monitor {
            let is_held = agent.value(config, self.line(&accesses[load]), out).is_some();
            self.monitor = self.monitor.filter(|_| is_held);
        }
        let next = match self.part {
            RunPart::Prepare => {
                let todo = std::mem::take(&mut self.begun.plan.preparations);
                let is_over = self.walk(&todo, (agent, config), out, |_, _| ());
                self.begun.plan.preparations = todo;
                (!is_over).then(|| next_look(cycle))
            }
            RunPart::Read if self.begun.reads => {
                let todo: Vec<_> = self.begun.places.iter().map(|place| (place.line, Preparation::Load)).collect();
                let (places, mut bytes) = (self.begun.places.clone(), std::mem::take(&mut self.read));
                let is_over =
                    self.walk(&todo, (agent, config), out, |n, value| bytes.push(value.bytes[places[n].byte]));
                self.read = bytes;
                if is_over {
                    runs.read(self.number, &self.read);
                }
                (!is_over).then(|| next_look(cycle))
            }
            RunPart::Run => self.run_thread(accesses, cycle, (agent, config), out),
            RunPart::Read | RunPart::Over => None,
        };
        if next.is_none() {
            self.has_ended = true;
            if let Some(thread) = thread {
                let loads = accesses.iter().zip(&self.loaded).filter(|(access, _)| access.gives_value());
                runs.loaded(self.number, thread, loads.map(|(_, value)| *value).collect());
            }
        }
        next
    }

    fn line(&self, access: &ThreadAccess) -> LineAddr {
        self.begun.places[access.line as usize].line
    }

    fn is_done(&self, access: usize) -> bool {
        self.done >> access & 1 == 1
    }

    /// Converts the byte of a location in a line to its value in the program, and back: values are relative to the byte
    /// that the location held at the start of the run.
    fn shifted(&self, location: u64, byte: u8) -> u8 {
        byte ^ self.begun.held[location as usize] ^ self.runs.program().initial[location as usize]
    }

    fn value_in(&self, access: &ThreadAccess, line: &CacheLine) -> u8 {
        self.shifted(access.line, line.bytes[self.begun.places[access.line as usize].byte])
    }

    /// The value that an access stores. `own` is the value that the access itself has loaded, if it is a
    /// read-modify-write. The exploration of the program has refused values that do not fit a byte.
    fn stored(&self, n: usize, access: &ThreadAccess, own: u8) -> u8 {
        let loaded = |other| if other == n { own } else { self.loaded[other] };
        access.store.as_ref().map_or(0, |term| term.value(&loaded) as u8)
    }

    /// The bytes and enables of a store.
    fn bytes(&self, access: &ThreadAccess, value: u8) -> (CacheLine, u64) {
        let byte = self.begun.places[access.line as usize].byte;
        (CacheLine::of([self.shifted(access.line, value); 64]), 1 << byte)
    }

    /// Takes in the stores and requests that have ended since the last cycle.
    fn hear(&mut self, thread: &[ThreadAccess], effects: &[Effect<CacheLine>]) {
        let given = |core: &Self, line: LineAddr| {
            (0..thread.len()).find(|n| core.given >> n & 1 == 1 && core.line(&thread[*n]) == line)
        };
        for effect in effects {
            if let Effect::Stored(line) = effect
                && let Some(n) = given(self, *line)
            {
                (self.done, self.given) = (self.done | 1 << n, self.given & !(1 << n));
            }
        }
        // A request has ended without the store, so the core requests the line again.
        for effect in effects {
            if let Effect::Done(line) = effect
                && let Some(n) = given(self, *line)
            {
                self.given &= !(1 << n);
            }
        }
    }

    /// Tries an access; returns whether it is done.
    fn try_access<A: Caching>(
        &mut self,
        (n, access): (usize, &ThreadAccess),
        thread: &[ThreadAccess],
        (agent, config): (&mut A, &CoherenceConfig),
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        let line = self.line(access);
        if access.store.is_none() {
            if let Some(store) = access.forwards.filter(|store| !self.is_done(*store)) {
                if thread[store].known & !self.done != 0 {
                    return false;
                }
                self.loaded[n] = self.stored(store, &thread[store], 0);
                return true;
            }
            out.worked.push(line);
            let is_exclusive = thread.iter().any(|other| other.exclusive == Some(n));
            if let Some(value) = agent.value(config, line, out) {
                self.loaded[n] = self.value_in(access, &value);
                self.monitor = is_exclusive.then_some(n).or(self.monitor);
                return true;
            }
            if is_exclusive {
                agent.ask_to_own(config, line, out);
                return false;
            }
            agent.ask(config, line, &CoreOperation::Load, out);
            return false;
        }
        out.worked.push(line);
        if access.exclusive.is_some() && self.monitor != access.exclusive {
            self.loaded[n] = EXCLUSIVE_FAILED;
            self.monitor = None;
            return true;
        }
        if access.is_rmw || access.exclusive.is_some() {
            if let Some(value) = agent.value(config, line, out) {
                let own = self.value_in(access, &value);
                let (bytes, enables) = self.bytes(access, self.stored(n, access, own));
                if agent.store(config, line, &bytes, enables, out) {
                    self.loaded[n] = if access.is_rmw { own } else { EXCLUSIVE_STORED };
                    self.monitor = self.monitor.filter(|_| access.is_rmw);
                    return true;
                }
            }
            agent.ask_to_own(config, line, out);
            return false;
        }
        let (bytes, enables) = self.bytes(access, self.stored(n, access, 0));
        if agent.store(config, line, &bytes, enables, out) {
            return true;
        }
        if agent.ask(config, line, &CoreOperation::Store { bytes, enables }, out) == LineRequestOutcome::Store {
            self.given |= 1 << n;
        }
        false
    }

    /// Runs a cycle of the thread. Returns the next cycle in which there is work; `None` if the thread has ended.
    fn run_thread<A: Caching>(
        &mut self,
        thread: &[ThreadAccess],
        cycle: u64,
        (agent, config): (&mut A, &CoherenceConfig),
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<u64> {
        let begins_at = self.starts_at + self.begun.plan.skew_cycles;
        let mut next = u64::MAX;
        if let Some((after_cycles, line)) = self.begun.plan.evicts {
            let evicts_at = begins_at + after_cycles;
            if cycle >= evicts_at {
                out.worked.push(line);
                agent.evict(config, line, out);
                self.begun.plan.evicts = None;
            } else {
                next = evicts_at;
            }
        }
        if cycle < begins_at {
            return Some(next.min(begins_at));
        }
        let mut has_done = false;
        for at in 0..self.begun.plan.order.len() {
            let n = self.begun.plan.order[at];
            let access = &thread[n];
            if self.is_done(n) || access.behind & !self.done != 0 || self.given >> n & 1 == 1 {
                continue;
            }
            let delay_cycles = self.begun.plan.delays_cycles[n];
            let goes_at = *self.goes_at[n].get_or_insert(cycle + delay_cycles);
            if cycle < goes_at {
                next = next.min(goes_at);
            } else if self.try_access((n, access), thread, (&mut *agent, config), out) {
                self.done |= 1 << n;
                has_done = true;
            }
        }
        let is_over = self.done.count_ones() as usize == thread.len() && self.begun.plan.evicts.is_none();
        match (is_over, has_done) {
            (true, _) => None,
            // An access that was done may allow another access to issue.
            (false, true) => Some(cycle + 1),
            (false, false) => Some(next.min(next_look(cycle))),
        }
    }

    /// Loads or evicts the lines of a phase in sequence; returns `false` if some are not yet done.
    fn walk<A: Caching>(
        &mut self,
        todo: &[(LineAddr, Preparation)],
        (agent, config): (&mut A, &CoherenceConfig),
        out: &mut AgentOutput<CacheLine>,
        mut read: impl FnMut(usize, CacheLine),
    ) -> bool {
        while let Some(&(line, what)) = todo.get(self.steps) {
            out.worked.push(line);
            match what {
                Preparation::Evict => drop(agent.evict(config, line, out)),
                Preparation::Load => match agent.value(config, line, out) {
                    Some(value) => read(self.steps, value),
                    None => {
                        agent.ask(config, line, &CoreOperation::Load, out);
                        return false;
                    }
                },
            }
            self.steps += 1;
        }
        true
    }
}
