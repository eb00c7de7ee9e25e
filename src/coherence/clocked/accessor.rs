//! A core that loads and stores through a caching agent, whatever its protocol.
//!
//! Modelled: a list of accesses in order, a window of them open at a time, a cache of a limited number of lines whose
//! least recently used line is evicted first. Detail: an access that hits takes one cycle. Left out: pipelines,
//! prefetching, the bytes of instructions.
//!
//! A walk through one cycle: open accesses whose line has come are done and leave the window, oldest first; those whose
//! line is not there and not asked for are asked for, if the cache has a place, else a victim is evicted; the next access
//! enters the window when its time has come. A core that heeds DevLoad leaves idle cycles between two requests, as many as
//! its throttle says (`coherence` §3.8); write-backs are not held.

use super::core::{Core, CoreReport, Told, Wants};
use super::program::CoreProgram;
use crate::agent::{AgentOutput, Effect};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use crate::ids::AgentPort;
use crate::mem::load::{Steps, Throttle};
use crate::message::Msg;
use scalepool_ordered::OrderedMap;
use scalepool_trace::Wait;
use std::collections::VecDeque;

/// What a core does to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreOperation {
    /// Reads it.
    Load,
    /// Writes the bytes that the enables select.
    Store {
        /// Values.
        bytes: CacheLine,
        /// One bit a byte.
        enables: u64,
    },
}

impl CoreOperation {
    /// It writes every byte.
    pub fn is_whole(&self) -> bool {
        matches!(self, CoreOperation::Store { enables: WHOLE_LINE, .. })
    }
}

/// An access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreAccess {
    /// Line.
    pub line: LineAddr,
    /// Load or store.
    pub act: CoreOperation,
    /// Cycles that must pass after the access before it has entered.
    pub think_cycles: u32,
}

/// What has become of asking for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineRequestOutcome {
    /// Nothing; something is open on the line.
    NotNow,
    /// A copy is on its way.
    Copy,
    /// Ownership is on its way and the agent does the store when it comes ([`Effect::Stored`]).
    Store,
}

/// What a core needs of a caching agent.
pub trait Caching {
    /// Loads a line, if it may be loaded now.
    fn value(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine>;

    /// Stores, if the line may be stored to now.
    fn store(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        bytes: &CacheLine,
        enables: u64,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool;

    /// Asks for what an access needs, if nothing is open on the line.
    fn ask(
        &mut self,
        config: &CoherenceConfig,
        line: LineAddr,
        act: &CoreOperation,
        out: &mut AgentOutput<CacheLine>,
    ) -> LineRequestOutcome;

    /// Asks for ownership of a line with its bytes, for a read-modify-write that the core makes itself, if nothing is open on
    /// it. An agent whose requests carry stores asks without one.
    fn ask_to_own(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) {
        let part = CoreOperation::Store { bytes: CacheLine::initial(line), enables: 1 };
        self.ask(config, line, &part, out);
    }

    /// Gives a line back, if nothing is open on it. `false`: not now.
    fn evict(&mut self, config: &CoherenceConfig, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool;

    /// Lines that take a place in the cache: held, or asked for.
    fn lines(&self) -> Vec<LineAddr>;

    /// How many lines these are.
    fn held(&self) -> usize {
        self.lines().len()
    }

    /// Whether a line is one of them.
    fn holds(&self, line: LineAddr) -> bool {
        self.lines().contains(&line)
    }
}

/// What an accessor has measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessorMeasured {
    /// Cycles of each access, from its entry to its end, in order of ending.
    pub latency_cycles: Vec<u64>,
    /// Accesses that needed no message.
    pub hits: u64,
    /// Lines evicted.
    pub evictions: u64,
    /// Loads that got poison.
    pub poisoned_loads: u64,
    /// Accesses that the home answered with an error, none of the others.
    pub refused: u64,
    /// What DevLoad did to it; `None`: it does not heed it.
    pub throttled: Option<Throttled>,
}

/// What a throttle has seen and done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Answers by their DevLoad, 0 to 3.
    pub loads: [u64; 4],
    /// Requests behind which it left idle cycles.
    pub spaced: u64,
    /// Most idle cycles between two requests.
    pub most: u32,
    /// Idle cycles between two requests at the end.
    pub last: u32,
}

/// An access under way.
#[derive(Debug, Clone)]
struct Open {
    access: CoreAccess,
    /// Counts the accesses, for traces.
    number: u64,
    /// What it waits for.
    wait: Option<Wait>,
    since: u64,
    /// It had to ask.
    missed: bool,
    /// The agent has its store and will do it.
    given_away: bool,
}

/// The core.
#[derive(Debug, Clone)]
pub struct Accessor {
    todo: CoreProgram<CoreAccess>,
    open: VecDeque<Open>,
    window: usize,
    /// Most lines in the cache.
    capacity_lines: usize,
    /// Cycle of the last use of each line.
    used: OrderedMap<LineAddr, u64>,
    enters_at: u64,
    throttle: Option<Throttle>,
    /// First cycle in which the throttle lets a request go.
    asks_at: u64,
    /// What has been measured.
    pub measured: AccessorMeasured,
    /// Every load with its value, for testers; empty unless asked for.
    pub loaded: Vec<(LineAddr, CacheLine)>,
    keeps_loads: bool,
    /// One store in so many is poisoned; 0: none.
    poison_every: u64,
    /// Stores that have entered.
    stores: u64,
    /// Accesses that have entered.
    entered: u64,
    /// What has become of them in this cycle.
    told: Vec<Told>,
}

impl Accessor {
    /// A core with `window` accesses open at a time and a cache of `capacity_lines` lines, both at least 1.
    pub fn new(accesses: CoreProgram<CoreAccess>, window: usize, capacity_lines: usize) -> Accessor {
        Accessor {
            enters_at: accesses.front().map_or(0, |a| a.think_cycles.into()),
            todo: accesses,
            open: VecDeque::new(),
            window: window.max(1),
            capacity_lines: capacity_lines.max(1),
            used: OrderedMap::new(),
            throttle: None,
            asks_at: 0,
            measured: AccessorMeasured::default(),
            loaded: Vec::new(),
            keeps_loads: false,
            poison_every: 0,
            stores: 0,
            entered: 0,
            told: Vec::new(),
        }
    }

    /// Poisons the bytes of one store in so many; 0: of none.
    pub fn poisoning(mut self, every: u64) -> Accessor {
        self.poison_every = every;
        self
    }

    /// The access that enters next.
    fn next_access(&mut self) -> Option<CoreAccess> {
        let mut access = self.todo.next()?;
        if let CoreOperation::Store { bytes, .. } = &mut access.act {
            self.stores += 1;
            let poison = self.poison_every > 0 && self.stores.is_multiple_of(self.poison_every);
            *bytes = bytes.poisoned(bytes.poison || poison);
        }
        Some(access)
    }

    /// Keeps every loaded value in `loaded`.
    pub fn keeping_loads(mut self) -> Accessor {
        self.keeps_loads = true;
        self
    }

    /// Heeds DevLoad.
    pub fn heeding(mut self, steps: Steps) -> Accessor {
        self.throttle = Some(Throttle::new(steps));
        self.measured.throttled = Some(Throttled::default());
        self
    }

    /// A request has left: the next one comes behind the idle cycles of the throttle.
    fn asked(&mut self, cycle: u64) {
        let idle = self.throttle.as_mut().map_or(0, |throttle| throttle.level(cycle));
        if idle > 0 {
            self.asks_at = cycle + 1 + u64::from(idle);
            if let Some(throttled) = &mut self.measured.throttled {
                throttled.spaced += 1;
            }
        }
    }

    /// Open access `n` has ended.
    fn done(&mut self, n: usize, cycle: u64) {
        if let Some(open) = self.open.remove(n) {
            self.told.push(Told::Ends { access: open.number });
            self.used.insert(open.access.line, cycle);
            self.measured.latency_cycles.push(cycle - open.since);
            self.measured.hits += u64::from(!open.missed);
        }
    }

    /// Open access `n` waits for this, or no more. Only what is new is told.
    fn waits(&mut self, n: usize, wait: Option<Wait>, on: Option<u64>) {
        let open = &mut self.open[n];
        let (access, line) = (open.number, open.access.line);
        match (std::mem::replace(&mut open.wait, wait), wait) {
            (before, now) if before == now => (),
            (_, Some(wait)) => {
                let line = (wait == Wait::Line).then_some(line);
                self.told.push(Told::Waits { access, wait, on, line });
            }
            (_, None) => self.told.push(Told::Goes { access }),
        }
    }

    /// Does an access if its line allows it.
    fn perform<A: Caching>(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        access: &CoreAccess,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        out.worked.push(access.line);
        match access.act {
            CoreOperation::Load => match agent.value(config, access.line, out) {
                Some(value) => {
                    self.measured.poisoned_loads += u64::from(value.poison);
                    if self.keeps_loads {
                        self.loaded.push((access.line, value));
                    }
                    true
                }
                None => false,
            },
            CoreOperation::Store { bytes, enables } => agent.store(config, access.line, &bytes, enables, out),
        }
    }

    /// Whether a new line has a place, perhaps at once that of the least recently used one that is not needed: a copy
    /// that goes without a message leaves its place now, and no message will come to tell of it.
    fn make_room<A: Caching>(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        (line, number): (LineAddr, u64),
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        if agent.holds(line) || agent.held() < self.capacity_lines {
            return true;
        }
        let mut victims: Vec<_> =
            agent.lines().into_iter().filter(|l| !self.open.iter().any(|o| o.access.line == *l)).collect();
        scalepool_ordered::sort_by_key(&mut victims, |l| (self.used.get(l).copied().unwrap_or(0), *l));
        let mut evict = |victim: &LineAddr| {
            out.worked.push(*victim);
            agent.evict(config, *victim, out)
        };
        if let Some(victim) = victims.into_iter().find(&mut evict) {
            self.used.remove(&victim);
            self.told.push(Told::Asks { access: number, line: victim });
            self.measured.evictions += 1;
        }
        agent.held() < self.capacity_lines
    }
}

impl<A: Caching> Core<A> for Accessor {
    fn cycle(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        for effect in effects {
            if let Effect::Stored(line) = effect
                && let Some(n) = self.open.iter().position(|o| o.access.line == *line && o.given_away)
            {
                self.done(n, cycle);
            }
        }
        for effect in effects {
            if let Effect::Refused(line) = effect
                && let Some(n) = self.open.iter().position(|o| o.access.line == *line)
                && let Some(open) = self.open.remove(n)
            {
                self.told.push(Told::Ends { access: open.number });
                self.measured.refused += 1;
            }
        }
        // A request that has ended without the store: it is asked for again.
        for effect in effects {
            if let Effect::Done(line) = effect
                && let Some(open) = self.open.iter_mut().find(|o| o.access.line == *line)
            {
                open.given_away = false;
            }
        }
        let (mut n, mut is_held, mut has_ended, mut lacks_room) = (0, false, false, false);
        while n < self.open.len() {
            let open = self.open[n].clone();
            let line = open.access.line;
            // Accesses of a core to one line keep their order.
            let before = self.open.iter().take(n).rev().find(|o| o.access.line == line).map(|o| o.number);
            let may_go = before.is_none() && !open.given_away;
            if may_go && self.perform(agent, config, &open.access, out) {
                self.done(n, cycle);
                has_ended = true;
                continue;
            }
            is_held |= may_go && cycle < self.asks_at;
            let may_ask = may_go && cycle >= self.asks_at;
            let mut wait = before.map(|_| Wait::Line);
            if may_ask && !self.make_room(agent, config, (line, open.number), out) {
                lacks_room = true;
                wait = Some(Wait::Room);
            } else if may_ask {
                let asked = agent.ask(config, line, &open.access.act, out);
                if asked != LineRequestOutcome::NotNow {
                    self.asked(cycle);
                    self.told.push(Told::Asks { access: open.number, line });
                }
                // Not now, and it has not asked: something else is open on the line.
                let is_kept = asked == LineRequestOutcome::NotNow && !open.missed;
                wait = is_kept.then_some(Wait::Line);
                self.open[n].missed |= asked != LineRequestOutcome::NotNow;
                self.open[n].given_away = asked == LineRequestOutcome::Store;
            } else if may_go {
                wait = Some(Wait::Throttle);
            }
            self.waits(n, wait, before);
            n += 1;
        }
        if self.open.len() < self.window
            && cycle >= self.enters_at
            && let Some(access) = self.next_access()
        {
            let (number, since) = (self.entered, cycle);
            self.entered += 1;
            let name = if access.act == CoreOperation::Load { "load" } else { "store" };
            self.told.push(Told::Begins { access: number, name, address: access.line.address() });
            self.open.push_back(Open { access, number, wait: None, since, missed: false, given_away: false });
            self.enters_at = cycle + 1 + self.todo.front().map_or(0, |a| u64::from(a.think_cycles));
            return Wants::NextCycle;
        }
        // The line of a younger access may be a victim now that the access has ended; no message tells of it.
        if has_ended && lacks_room {
            return Wants::NextCycle;
        }
        let enters = (self.open.len() < self.window && self.todo.front().is_some()).then_some(self.enters_at);
        let asks = is_held.then_some(self.asks_at);
        enters.into_iter().chain(asks).min().map_or(Wants::Message, Wants::Cycle)
    }

    fn heard(&mut self, cycle: u64, msg: &Msg<CacheLine>) {
        let (Some(throttle), Some(throttled)) = (&mut self.throttle, &mut self.measured.throttled) else { return };
        if let Msg::S2mNdr { devload, .. } | Msg::S2mDrs { devload, .. } = *msg {
            throttle.answer(cycle, devload);
            throttled.loads[usize::from(devload.0 & 3)] += 1;
            throttled.last = throttle.level(cycle);
            throttled.most = throttled.most.max(throttled.last);
        }
    }

    fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    fn report(&self) -> Option<CoreReport> {
        Some(CoreReport { measured: self.measured.clone(), aborts: 0 })
    }

    fn open_work(&self) -> Option<String> {
        match (self.open.front(), self.todo.len()) {
            (None, 0) => None,
            (None, todo) => Some(format!("{todo} accesses to do")),
            (Some(open), todo) => {
                let address = open.access.line.address();
                Some(format!("{} accesses open, the oldest to {address:#x}, {todo} to do", self.open.len()))
            }
        }
    }

    fn is_open(&self) -> bool {
        !self.open.is_empty() || self.todo.len() > 0
    }
}

/// The bytes of a store that marks who wrote and when: 8 bytes of writer and count, at the place of the writer. The upper byte
/// of the writer stands below the lower one.
pub fn signed(writer: AgentPort, count: u64) -> (CacheLine, u64) {
    let mut line = CacheLine::initial(LineAddr(0));
    let at = usize::from(writer % 8) * 8;
    let mark = u64::from(writer.swap_bytes()) << 48 | count & ((1 << 48) - 1);
    line.bytes[at..at + 8].copy_from_slice(&mark.to_le_bytes());
    (line, 0xff << at)
}
