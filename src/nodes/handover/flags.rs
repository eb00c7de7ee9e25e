//! The flag half of an accelerator: a core on lines of a host that stores its own flags and polls those of its neighbours.
//!
//! Modelled: four lines, of the accelerator and of its neighbours two each: the last round that was given to the next one, the last that was taken
//! from the one before. One store is open at a time; a line that is polled is loaded every so many cycles, from the cache as long as nobody takes it
//! back. Left out: lines of data, evictions, for so few lines always have room.
//!
//! A walk through a store: the line is in S, so ownership is asked for and the agent stores when it comes; a snoop of the reader takes the
//! line to S again.

use super::{SharedDesk, on};
use scalepool_coherence::agent::{AgentOutput, Effect};
use scalepool_coherence::clocked::accessor::{AccessorMeasured, Caching, CoreOperation, LineRequestOutcome};
use scalepool_coherence::clocked::core::{Core, CoreReport, Told, Wants};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr};

/// Bytes of a flag: the first eight of its line.
const FLAG_BYTES: u64 = 0xff;

/// How the half is built.
#[derive(Debug, Clone, Copy)]
pub struct FlagConfig {
    /// Number of the accelerator.
    pub own: u16,
    /// Accelerators, at least two.
    pub accelerators: u16,
    /// Rounds.
    pub rounds: u64,
    /// Cycles from one look at a line to the next.
    pub poll_cycles: u64,
}

impl FlagConfig {
    /// The line with the last round that an accelerator has given.
    fn given(accelerator: u16) -> LineAddr {
        LineAddr(2 * u64::from(accelerator))
    }

    /// The line with the last round that an accelerator has taken.
    fn taken(accelerator: u16) -> LineAddr {
        LineAddr(2 * u64::from(accelerator) + 1)
    }

    fn next(&self) -> u16 {
        (self.own + 1) % self.accelerators
    }

    fn before(&self) -> u16 {
        (self.own + self.accelerators - 1) % self.accelerators
    }
}

/// An access that needs a message.
#[derive(Debug, Clone, Copy)]
struct OpenFlag {
    line: LineAddr,
    /// What is stored; `None`: a load.
    round: Option<u64>,
    number: u64,
    since: u64,
    /// The agent has the store and will do it.
    is_given_away: bool,
}

/// The half.
#[derive(Debug)]
pub struct FlagCore {
    config: FlagConfig,
    desk: SharedDesk,
    /// The last rounds that were stored: given, taken.
    stored: [u64; 2],
    store: Option<OpenFlag>,
    loads: Vec<OpenFlag>,
    accesses: u64,
    measured: AccessorMeasured,
    told: Vec<Told>,
    polls_at: u64,
}

fn flag(round: u64) -> CacheLine {
    let mut bytes = [0; 64];
    bytes[..8].copy_from_slice(&round.to_le_bytes());
    CacheLine::of(bytes)
}

fn round_of(line: &CacheLine) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&line.bytes[..8]);
    u64::from_le_bytes(bytes)
}

impl FlagCore {
    /// A half that has stored nothing.
    pub fn new(config: FlagConfig, desk: SharedDesk) -> FlagCore {
        FlagCore {
            config,
            desk,
            stored: [0; 2],
            store: None,
            loads: Vec::new(),
            accesses: 0,
            measured: AccessorMeasured::default(),
            told: Vec::new(),
            polls_at: 0,
        }
    }

    fn begins(&mut self, line: LineAddr, round: Option<u64>, cycle: u64) -> OpenFlag {
        let number = self.accesses;
        self.accesses += 1;
        let name = if round.is_some() { "store" } else { "load" };
        self.told.push(Told::Begins { access: number, name, address: line.address() });
        OpenFlag { line, round, number, since: cycle, is_given_away: false }
    }

    fn ends(&mut self, open: &OpenFlag, cycle: u64) {
        self.told.push(Told::Ends { access: open.number });
        self.measured.latency_cycles.push(cycle - open.since);
    }

    fn store_ends(&mut self, cycle: u64) {
        let Some(open) = self.store.take() else { return };
        self.ends(&open, cycle);
        let kind = usize::from(open.line == FlagConfig::taken(self.config.own));
        self.stored[kind] = open.round.unwrap_or(0);
    }

    /// What the home could not serve ends without an effect; whoever waits for the flag waits on, and the run says so.
    fn heeds(&mut self, effects: &[Effect<CacheLine>], cycle: u64) {
        for effect in effects {
            match effect {
                Effect::Stored(line) if self.store.is_some_and(|open| open.line == *line && open.is_given_away) => {
                    self.store_ends(cycle);
                }
                Effect::Done(line) => {
                    if let Some(open) = self.store.as_mut().filter(|open| open.line == *line) {
                        open.is_given_away = false;
                    }
                }
                Effect::Refused(_) => self.measured.refused += 1,
                _ => (),
            }
        }
    }

    /// The next flag that is to be stored, and its line: what was taken first, since somebody waits to fill the buffer again.
    fn due(&self) -> Option<(LineAddr, u64)> {
        let (desk, [given, taken], own) = (*on(&self.desk), self.stored, self.config.own);
        let taken = (desk.checked > taken).then_some((FlagConfig::taken(own), desk.checked));
        taken.or_else(|| (desk.given > given).then_some((FlagConfig::given(own), desk.given)))
    }

    fn stores<A: Caching>(
        &mut self,
        (agent, config): (&mut A, &CoherenceConfig),
        cycle: u64,
        out: &mut AgentOutput<CacheLine>,
    ) {
        if self.store.is_none()
            && let Some((line, round)) = self.due()
        {
            self.store = Some(self.begins(line, Some(round), cycle));
        }
        let Some(open) = self.store.filter(|open| !open.is_given_away) else { return };
        let bytes = flag(open.round.unwrap_or(0));
        out.worked.push(open.line);
        if agent.store(config, open.line, &bytes, FLAG_BYTES, out) {
            return self.store_ends(cycle);
        }
        let asked = agent.ask(config, open.line, &CoreOperation::Store { bytes, enables: FLAG_BYTES }, out);
        if asked != LineRequestOutcome::NotNow {
            self.told.push(Told::Asks { access: open.number, line: open.line });
        }
        self.store = Some(OpenFlag { is_given_away: asked == LineRequestOutcome::Store, ..open });
    }

    /// Looks at a line: its round, if the line is there.
    fn loads<A: Caching>(
        &mut self,
        (agent, config): (&mut A, &CoherenceConfig),
        line: LineAddr,
        cycle: u64,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<u64> {
        out.worked.push(line);
        let open = self.loads.iter().position(|open| open.line == line);
        if let Some(value) = agent.value(config, line, out) {
            if let Some(open) = open.map(|n| self.loads.remove(n)) {
                self.ends(&open, cycle);
            }
            return Some(round_of(&value));
        }
        if agent.ask(config, line, &CoreOperation::Load, out) != LineRequestOutcome::NotNow {
            let access = match open {
                Some(n) => self.loads[n].number,
                None => {
                    let begun = self.begins(line, None, cycle);
                    self.loads.push(begun);
                    begun.number
                }
            };
            self.told.push(Told::Asks { access, line });
        }
        None
    }
}

impl<A: Caching> Core<A> for FlagCore {
    fn cycle(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        self.heeds(effects, cycle);
        self.stores((agent, config), cycle, out);
        let FlagConfig { rounds, poll_cycles, .. } = self.config;
        let desk = *on(&self.desk);
        if cycle >= self.polls_at || !self.loads.is_empty() {
            self.polls_at = cycle + poll_cycles;
            if desk.taken < self.stored[0] {
                let line = FlagConfig::taken(self.config.next());
                if let Some(round) = self.loads((&mut *agent, config), line, cycle, out) {
                    on(&self.desk).taken = round;
                }
            }
            if desk.seen == self.stored[1] && desk.seen < rounds {
                let line = FlagConfig::given(self.config.before());
                if let Some(round) = self.loads((agent, config), line, cycle, out) {
                    on(&self.desk).seen = round;
                }
            }
        }
        let is_over = on(&self.desk).is_over(rounds) && self.stored == [rounds; 2];
        if is_over { Wants::Message } else { Wants::Cycle(cycle + poll_cycles) }
    }

    fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    fn report(&self) -> Option<CoreReport> {
        Some(CoreReport { measured: self.measured.clone(), aborts: 0 })
    }

    fn open_work(&self) -> Option<String> {
        let (desk, [given, taken], rounds) = (*on(&self.desk), self.stored, self.config.rounds);
        let is_over = desk.is_over(rounds) && given == rounds && taken == rounds;
        let text = || {
            format!(
                "flags of rounds {given} given and {taken} taken, {} seen and {} checked, of {rounds}",
                desk.seen, desk.taken
            )
        };
        (!is_over).then(text)
    }
}
