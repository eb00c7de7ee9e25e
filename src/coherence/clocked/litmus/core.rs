//! A core with a thread of a litmus program.
//!
//! A walk through one cycle: stores that the agent has made are done; of the accesses that may go, each whose delay is over is
//! tried, and asked for where the agent cannot do it now; when all are done the core has ended its part, and looks from time
//! to time whether all others have.

use super::runs::{Begun, CorePlan, LitmusRuns, Preparation, RunPart, next_look};
use crate::agent::{AgentOutput, Effect};
use crate::clocked::accessor::{Caching, CoreOperation, LineRequestOutcome};
use crate::clocked::core::{Core, Wants};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr};
use crate::thread::{AccessSet, ThreadAccess};

/// The core.
#[derive(Debug)]
pub struct LitmusCore {
    runs: LitmusRuns,
    core: usize,
    now: Begun,
    /// Own work in the part is done.
    has_ended: bool,
    /// Preparations or last loads done.
    steps: usize,
    /// Accesses done.
    done: AccessSet,
    /// Stores that the agent makes.
    given: AccessSet,
    /// What each access has loaded.
    loaded: Vec<u8>,
    /// Cycle in which each access goes, from when it may.
    goes_at: Vec<Option<u64>>,
    /// Bytes read at the end.
    read: Vec<u8>,
}

impl LitmusCore {
    /// One more core of these runs.
    pub fn new(runs: &LitmusRuns) -> Self {
        let plan = CorePlan::default();
        let (places, held) = (Vec::new(), Vec::new());
        let now = Begun { parts: 0, part: RunPart::Over, starts_at: 0, reads: false, plan, places, held };
        Self {
            core: runs.join(),
            runs: runs.clone(),
            now,
            has_ended: true,
            steps: 0,
            done: 0,
            given: 0,
            loaded: Vec::new(),
            goes_at: Vec::new(),
            read: Vec::new(),
        }
    }

    /// A part begins.
    fn begin(&mut self, begun: Begun) {
        (self.has_ended, self.steps) = (false, 0);
        if begun.part == RunPart::Run {
            let accesses = begun.plan.delays_cycles.len();
            (self.done, self.given) = (0, 0);
            (self.loaded, self.goes_at) = (vec![0; accesses], vec![None; accesses]);
        }
        self.read.clear();
        self.now = begun;
    }

    fn line(&self, access: &ThreadAccess) -> LineAddr {
        self.now.places[access.line as usize].line
    }

    fn is_done(&self, access: usize) -> bool {
        self.done >> access & 1 == 1
    }

    /// The value of a location in a line; also the byte of a value.
    fn shifted(&self, location: u64, byte: u8) -> u8 {
        byte ^ self.now.held[location as usize] ^ self.runs.program().initial[location as usize]
    }

    fn value_in(&self, access: &ThreadAccess, line: &CacheLine) -> u8 {
        self.shifted(access.line, line.bytes[self.now.places[access.line as usize].byte])
    }

    /// What an access stores, of which `own` is loaded if it loads too. The exploration of the program has refused values that
    /// are no byte.
    fn stored(&self, n: usize, access: &ThreadAccess, own: u8) -> u8 {
        let loaded = |other| if other == n { own } else { self.loaded[other] };
        access.store.as_ref().map_or(0, |term| term.value(&loaded) as u8)
    }

    /// The bytes and enables of a store.
    fn bytes(&self, access: &ThreadAccess, value: u8) -> (CacheLine, u64) {
        let byte = self.now.places[access.line as usize].byte;
        (CacheLine::of([self.shifted(access.line, value); 64]), 1 << byte)
    }

    /// What has ended since the last cycle.
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
        // A request that has ended without the store: it is asked for again.
        for effect in effects {
            if let Effect::Done(line) = effect
                && let Some(n) = given(self, *line)
            {
                self.given &= !(1 << n);
            }
        }
    }

    /// Tries an access; whether it is done.
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
            if let Some(value) = agent.value(config, line, out) {
                self.loaded[n] = self.value_in(access, &value);
                return true;
            }
            agent.ask(config, line, &CoreOperation::Load, out);
            return false;
        }
        out.worked.push(line);
        if access.is_rmw {
            if let Some(value) = agent.value(config, line, out) {
                let own = self.value_in(access, &value);
                let (bytes, enables) = self.bytes(access, self.stored(n, access, own));
                if agent.store(config, line, &bytes, enables, out) {
                    self.loaded[n] = own;
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

    /// A cycle of the thread: the next one in which there is something to do; `None`: it has ended.
    fn run_thread<A: Caching>(
        &mut self,
        thread: &[ThreadAccess],
        cycle: u64,
        (agent, config): (&mut A, &CoherenceConfig),
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<u64> {
        let begins_at = self.now.starts_at + self.now.plan.skew_cycles;
        let mut next = u64::MAX;
        if let Some((after_cycles, line)) = self.now.plan.evicts {
            let evicts_at = begins_at + after_cycles;
            if cycle >= evicts_at {
                out.worked.push(line);
                agent.evict(config, line, out);
                self.now.plan.evicts = None;
            } else {
                next = evicts_at;
            }
        }
        if cycle < begins_at {
            return Some(next.min(begins_at));
        }
        let mut has_done = false;
        for at in 0..self.now.plan.order.len() {
            let n = self.now.plan.order[at];
            let access = &thread[n];
            if self.is_done(n) || access.behind & !self.done != 0 || self.given >> n & 1 == 1 {
                continue;
            }
            let delay_cycles = self.now.plan.delays_cycles[n];
            let goes_at = *self.goes_at[n].get_or_insert(cycle + delay_cycles);
            if cycle < goes_at {
                next = next.min(goes_at);
            } else if self.try_access((n, access), thread, (&mut *agent, config), out) {
                self.done |= 1 << n;
                has_done = true;
            }
        }
        let is_over = self.done.count_ones() as usize == thread.len() && self.now.plan.evicts.is_none();
        match (is_over, has_done) {
            (true, _) => None,
            // What was done may let another access go.
            (false, true) => Some(cycle + 1),
            (false, false) => Some(next.min(next_look(cycle))),
        }
    }

    /// The lines of a part, one behind the other; `false`: not yet done.
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

impl<A: Caching> Core<A> for LitmusCore {
    fn cycle(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        if let Some(begun) = self.runs.begun(self.core, self.now.parts) {
            self.begin(begun);
        }
        if self.now.part == RunPart::Over {
            return Wants::Message;
        }
        let runs = self.runs.clone();
        let thread = self.now.plan.thread.filter(|_| self.now.part == RunPart::Run);
        let accesses = thread.map_or(&[][..], |thread| &runs.program().threads[thread]);
        self.hear(accesses, effects);
        if self.has_ended {
            return Wants::Cycle(next_look(cycle));
        }
        if cycle < self.now.starts_at {
            return Wants::Cycle(self.now.starts_at);
        }
        let to = (&mut *agent, config);
        let next = match self.now.part {
            RunPart::Prepare => {
                let todo = std::mem::take(&mut self.now.plan.preparations);
                let is_over = self.walk(&todo, to, out, |_, _| ());
                self.now.plan.preparations = todo;
                (!is_over).then(|| next_look(cycle))
            }
            RunPart::Read if self.now.reads => {
                let todo: Vec<_> = self.now.places.iter().map(|place| (place.line, Preparation::Load)).collect();
                let (places, mut bytes) = (self.now.places.clone(), std::mem::take(&mut self.read));
                let is_over = self.walk(&todo, to, out, |n, value| bytes.push(value.bytes[places[n].byte]));
                self.read = bytes;
                if is_over {
                    runs.read(&self.read);
                }
                (!is_over).then(|| next_look(cycle))
            }
            RunPart::Run => self.run_thread(accesses, cycle, to, out),
            RunPart::Read | RunPart::Over => None,
        };
        if let Some(next) = next {
            return Wants::Cycle(next);
        }
        if let Some(thread) = thread {
            let loads = accesses.iter().zip(&self.loaded).filter(|(access, _)| access.loads());
            runs.loaded(thread, loads.map(|(_, value)| *value).collect());
        }
        self.has_ended = true;
        runs.ends(cycle);
        Wants::Cycle(next_look(cycle))
    }

    fn open_work(&self) -> Option<String> {
        let is_open = self.now.part != RunPart::Over || !self.runs.are_over();
        is_open.then(|| format!("run {} of the litmus program", self.runs.run() + 1))
    }
}
