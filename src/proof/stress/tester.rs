//! The tester itself: random steps, the value that every line must have, the monitors behind each step.

use super::failure::{History, StressFailure};
use super::lanes::{Lanes, Letter};
use super::rig::{Dice, Need, PendingStore, StressRequestOutcome, StressRig, Who};
use super::{Stress, StressCounts};
use scalepool_coherence::agent::{Accept, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::device::WriteBytes;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr, LineContent};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::host::HostAccess;
use scalepool_coherence::message::{Dir, Msg, shown};
use scalepool_coherence::monitor::{View, check_copies, misled};
use scalepool_coherence::passive::{PassiveConfig, PassiveMonitor};

/// Steps without a delivery, while messages are under way, after which nothing moves any more.
const STUCK_STEPS: u64 = 100_000;
/// Steps that a store may wait for ownership (V10); far above what a fair order of steps needs where leaves are few.
const WAIT_STEPS: u64 = 2_000_000;
/// Leaves that are few.
const FEW_LEAVES: usize = 16;
/// Operations between two points at which all cores stop and everything drains.
const DRAIN_OPERATIONS: u64 = 5_000;
/// Steps for which some lanes stand still.
const FREEZE_STEPS: u64 = 64;

/// What a step was: who moved, and the message that it took.
type StressStep = (Who, Option<(AgentPort, Letter)>);

/// A run.
pub(super) struct Tester<R> {
    pub rig: R,
    pub dice: Dice,
    pub counts: StressCounts,
    config: CoherenceConfig,
    lanes: Lanes,
    /// Last value of each line in coherence order.
    newest: Vec<CacheLine>,
    /// What each actor knows of its own bytes, an actor after the other.
    own: Vec<CacheLine>,
    /// Stores without a place in order, as `own`.
    pub pending: Vec<Option<PendingStore>>,
    /// Writes by message without a place in order: actor, line, bytes.
    writes: Vec<(usize, LineAddr, WriteBytes<CacheLine>)>,
    lines: u64,
    history: History,
    view: View<CacheLine>,
    out: AgentOutput<CacheLine>,
    events: Vec<CoherenceEvent>,
    /// Lanes that stand still for a while, a bit each lane modulo 64.
    frozen: u64,
    last_delivery: u64,
    /// Invariants are watched; off for litmus runs with a rule missing, whose outcome is what counts.
    watch: bool,
    hub_acts: bool,
    /// Values that reached a core past its cache: actor, line, value.
    pub used: Vec<(usize, LineAddr, CacheLine)>,
    /// Beside the links; the seed, which says at which end of each it looks.
    passive: Option<(u64, PassiveMonitor)>,
}

impl<R: StressRig> Tester<R> {
    pub fn new(rig: R, stress: &Stress) -> Self {
        let actors = rig.actors();
        let places = actors * stress.lines as usize;
        let dice = Dice {
            rng: scalepool_kernel::Rng::from_seed(stress.seed),
            // A line has no more bytes to own.
            byte_owners: stress.byte_owners && actors <= LINE_BYTES,
            actors,
            cache_lines: stress.cache_lines.max(1),
            evicts_only: false,
            count: 0,
            poison_every: stress.poison_every,
        };
        let zero = CacheLine::initial(LineAddr(0));
        let names = (0..rig.leaves()).map(|n| rig.name(Who::Leaf(n))).collect();
        let config = PassiveConfig { all_writers_seen: !stress.hub_acts, region: R::REGION };
        let passive = stress.passive.then(|| (stress.seed, PassiveMonitor::new(config, names)));
        Self {
            lanes: Lanes::new(rig.leaves(), stress.credits),
            rig,
            dice,
            counts: StressCounts::default(),
            config: stress.config.clone(),
            newest: vec![zero; stress.lines as usize],
            own: vec![zero; places],
            pending: vec![None; places],
            writes: Vec::new(),
            lines: stress.lines,
            history: History::default(),
            view: View {
                line: LineAddr(0),
                newest: zero,
                home: zero,
                copies: Vec::new(),
                in_flight: Vec::new(),
                tracked: IdSet::EMPTY,
                levels: Vec::new(),
            },
            out: AgentOutput::default(),
            events: Vec::new(),
            frozen: 0,
            last_delivery: 0,
            watch: stress.watch,
            hub_acts: stress.hub_acts,
            used: Vec::new(),
            passive,
        }
    }

    pub fn lines(&self) -> u64 {
        self.lines
    }

    pub fn place(&self, actor: usize, line: LineAddr) -> usize {
        actor * self.lines as usize + line.0 as usize
    }

    /// The value of a line when nothing is open: that of its dirty copy, or the home's.
    pub fn last(&mut self, line: LineAddr) -> CacheLine {
        self.view.copies.clear();
        self.rig.view(&self.config, line, &mut self.view);
        self.view.copies.iter().find(|c| c.dirty).map_or(self.view.home, |c| c.value)
    }

    /// Whether an actor has a store to a line without a place in order.
    pub fn is_storing(&self, actor: usize, line: LineAddr) -> bool {
        self.pending[self.place(actor, line)].is_some() || self.writes.iter().any(|w| w.0 == actor && w.1 == line)
    }

    fn actor(&self, who: Who) -> usize {
        match who {
            Who::Leaf(n) => n,
            Who::Hub => self.rig.leaves(),
        }
    }

    fn who(&self, actor: usize) -> Who {
        if actor < self.rig.leaves() { Who::Leaf(actor) } else { Who::Hub }
    }

    /// `operations` random ones, with points of rest between them and at the end.
    pub fn run(&mut self, operations: u64) -> Result<(), CoherenceEvent> {
        let mut rest = DRAIN_OPERATIONS;
        // From run to run and from time to time a core acts more or less often than a message arrives.
        let mut acts_of_16 = 1 + self.dice.below(8) as u64;
        while self.counts.operations < operations {
            if self.dice.rng.below(16) < acts_of_16 {
                self.act()?;
            } else {
                self.deliver()?;
            }
            self.used.clear();
            if self.counts.operations >= rest {
                rest += DRAIN_OPERATIONS;
                acts_of_16 = 1 + self.dice.below(8) as u64;
                self.drain()?;
            }
        }
        self.drain()
    }

    /// A core does something.
    fn act(&mut self) -> Result<(), CoherenceEvent> {
        let actor = self.dice.below(self.rig.actors() - usize::from(!self.hub_acts));
        let line = LineAddr(self.dice.below(self.lines as usize) as u64);
        let place = self.place(actor, line);
        self.counts.steps += 1;
        if let Some(waiting) = self.pending[place] {
            // With more leaves as many more stand before it, each of which asks as many more.
            let crowd = self.rig.leaves().div_ceil(FEW_LEAVES) as u64;
            let longest = WAIT_STEPS * crowd * crowd;
            if self.counts.steps - waiting.since > longest {
                let found = format!("a store that waits for {longest} steps");
                return Err(CoherenceEvent::new("COH-INV-10", line, self.rig.name(self.who(actor)), found, "progress"));
            }
            return self.try_store(actor, line, waiting);
        }
        match self.dice.below(8) {
            0..=2 => self.try_load(actor, line),
            3..=5 => {
                let whole = !self.dice.byte_owners && self.dice.once_in(8);
                let bytes = self.dice.bytes(actor, whole);
                let waiting = PendingStore { bytes, given: false, since: self.counts.steps };
                self.try_store(actor, line, waiting)
            }
            _ => self.other(actor, line),
        }
    }

    /// Another request, an eviction, a drop.
    pub fn other(&mut self, actor: usize, line: LineAddr) -> Result<(), CoherenceEvent> {
        if let Some(bytes) = self.rig.other(&self.config, actor, line, &mut self.dice, &mut self.out) {
            // RdOwnNoData takes a store along, the others are writes.
            self.writes.push((actor, line, bytes));
        }
        self.counts.operations += u64::from(!self.out.sends.is_empty());
        self.settle((self.who(actor), None), Some(line))
    }

    /// Loads, or asks for a copy or for the value alone.
    pub fn try_load(&mut self, actor: usize, line: LineAddr) -> Result<(), CoherenceEvent> {
        if let Some(value) = self.rig.load(&self.config, actor, line, &mut self.out) {
            self.loaded(actor, line, &value, true)?;
            self.used.push((actor, line, value));
            return self.settle((self.who(actor), None), Some(line));
        }
        let known = self.rig.leaves() > actor || self.dice.once_in(2);
        if known && self.has_room(actor, line) {
            let need = if self.dice.once_in(4) { Need::Value } else { Need::Copy };
            self.rig.ask(&self.config, actor, line, need, &mut self.out);
        }
        self.settle((self.who(actor), None), Some(line))
    }

    /// Whether the cache takes one more line; the random eviction of [`StressRig::other`] makes room.
    fn has_room(&mut self, actor: usize, line: LineAddr) -> bool {
        let line_is_here = self.rig.holds(actor, line);
        line_is_here || self.rig.held(actor) < self.dice.cache_lines
    }

    /// Stores, or asks for ownership.
    pub fn try_store(&mut self, actor: usize, line: LineAddr, waiting: PendingStore) -> Result<(), CoherenceEvent> {
        let place = self.place(actor, line);
        if waiting.given || self.writes.iter().any(|w| w.0 == actor && w.1 == line) {
            return Ok(());
        }
        self.pending[place] = Some(waiting);
        if !self.rig.store(&self.config, actor, line, &waiting.bytes, &mut self.out) {
            if !self.has_room(actor, line) {
                return Ok(());
            }
            match self.rig.ask(&self.config, actor, line, Need::Ownership(&waiting.bytes), &mut self.out) {
                StressRequestOutcome::No | StressRequestOutcome::Yes => {}
                StressRequestOutcome::Given => self.pending[place] = Some(PendingStore { given: true, ..waiting }),
                StressRequestOutcome::Written => {
                    self.pending[place] = None;
                    self.writes.push((actor, line, waiting.bytes));
                }
            }
        }
        self.settle((self.who(actor), None), Some(line))
    }

    /// A message passes an end of its link, its sender's (`sent`) or its receiver's: what the monitor beside the links says.
    fn passes(&mut self, link: usize, msg: &Msg<CacheLine>, sent: bool) -> Result<(), CoherenceEvent> {
        let Some((seed, monitor)) = &mut self.passive else { return Ok(()) };
        let at_hub = *seed >> (link % 8) & 1 == 1;
        let to_leaf = msg.class().dir() == R::TO_LEAF;
        if sent != (at_hub == to_leaf) {
            return Ok(());
        }
        match monitor.see(link, &shown(msg)).into_iter().next() {
            Some(event) => Err(CoherenceEvent { at: format!("passive monitor, {}", event.at), ..event }),
            None => Ok(()),
        }
    }

    /// A message arrives.
    pub fn deliver(&mut self) -> Result<(), CoherenceEvent> {
        self.counts.steps += 1;
        let steps = self.counts.steps;
        if steps.is_multiple_of(FREEZE_STEPS) {
            self.frozen = self.dice.rng.next_u64() & self.dice.rng.next_u64() & self.dice.rng.next_u64();
        }
        let busy = self.lanes.busy();
        if busy.is_empty() {
            self.last_delivery = steps;
            return Ok(());
        }
        if steps - self.last_delivery > STUCK_STEPS {
            return Err(self.stuck());
        }
        let moves = |lane: &AgentPort| self.frozen >> (lane % u64::BITS as AgentPort) & 1 == 0;
        let moving = busy.iter().filter(moves).count();
        let nth = self.dice.below(if moving == 0 { busy.len() } else { moving });
        let Some(lane) = busy.iter().filter(|lane| moving == 0 || moves(lane)).nth(nth).map(usize::from) else {
            return Ok(());
        };
        let index = self.dice.below(self.lanes.lane(lane).len());
        self.deliver_one(lane, index).map(|_| ())
    }

    /// Delivers message `index` of a lane if it may arrive now and is taken.
    fn deliver_one(&mut self, lane: usize, index: usize) -> Result<bool, CoherenceEvent> {
        if !self.lanes.is_free(&self.config, lane, index) {
            return Ok(false);
        }
        let (link, dir) = Lanes::end(lane);
        let who = if dir == R::TO_LEAF { Who::Leaf(link) } else { Who::Hub };
        let port = link as AgentPort;
        let Letter { msg, .. } = self.lanes.lane(lane)[index];
        if self.rig.accepts(&self.config, who, port, &msg) == Accept::Wait {
            return Ok(false);
        }
        let ways = self.rig.ways(&self.config, who, port, &msg);
        let way = if self.config.alternatives { self.dice.below(ways.into()) as u8 } else { 0 };
        let letter = self.lanes.remove(lane, index);
        self.history.push(self.counts.steps, who, true, link, letter);
        self.last_delivery = self.counts.steps;
        self.counts.messages += 1;
        self.passes(link, &letter.msg, false)?;
        if let Msg::S2mNdr { devload, .. } | Msg::S2mDrs { devload, .. } = msg {
            self.counts.devload = self.counts.devload.max(devload.0);
        }
        self.rig.take(&self.config, who, port, msg, way, &mut self.out);
        self.settle((who, Some((port, letter))), letter.line)?;
        Ok(true)
    }

    /// Effects, sends and checks of a step.
    fn settle(&mut self, cause: StressStep, line: Option<LineAddr>) -> Result<(), CoherenceEvent> {
        let actor = self.actor(cause.0);
        let mut touched = [line; 4];
        loop {
            let effects = std::mem::take(&mut self.out.effects);
            if effects.is_empty() {
                break;
            }
            for effect in effects {
                let line = self.effect(actor, cause, effect)?;
                touched[3] = touched[2];
                touched[2] = touched[1];
                touched[1] = Some(line);
            }
        }
        if let Some(event) = self.out.events.drain(..).next()
            && self.watch
        {
            return Err(event);
        }
        for i in 0..self.out.sends.len() {
            let (port, msg) = self.out.sends[i];
            let link = match cause.0 {
                Who::Leaf(n) => n,
                Who::Hub => usize::from(port),
            };
            let letter = self.lanes.send(link, msg);
            self.history.push(self.counts.steps, cause.0, false, link, letter);
            self.passes(link, &msg, true)?;
        }
        self.out.sends.clear();
        for (i, line) in touched.into_iter().enumerate() {
            if let Some(line) = line.filter(|l| l.0 < self.lines && !touched[..i].contains(&Some(*l))) {
                self.check(line)?;
            }
        }
        Ok(())
    }

    /// Makes an effect true; returns its line.
    fn effect(
        &mut self,
        actor: usize,
        cause: StressStep,
        effect: Effect<CacheLine>,
    ) -> Result<LineAddr, CoherenceEvent> {
        match effect {
            Effect::Stored(line) => {
                let place = self.place(actor, line);
                let bytes = match self.pending[place].take() {
                    Some(pending) => pending.bytes,
                    // A store that went along with RdOwnNoData.
                    None => self.take_write(actor, line, None)?,
                };
                self.ordered(actor, line, &bytes);
                self.counts.stores += 1;
                Ok(line)
            }
            Effect::Written(line) => {
                let writes = &self.writes;
                let matches = |actor: usize, msg: &Msg<CacheLine>| match msg {
                    Msg::D2hData { data, enables, .. } => writes
                        .iter()
                        .any(|w| w.0 == actor && w.1 == line && w.2.data == *data && w.2.enables == *enables),
                    _ => false,
                };
                let msg = cause.1.map(|(port, letter)| (port, letter.msg));
                let writer = self.rig.writer(msg.map(|m| m.0), msg.as_ref().map(|m| &m.1), &matches);
                let bytes = self.take_write(writer, line, msg.map(|m| m.1))?;
                self.ordered(writer, line, &bytes);
                self.counts.writes += 1;
                Ok(line)
            }
            Effect::Used { line, value, current } => {
                self.loaded(actor, line, &value, current)?;
                self.used.push((actor, line, value));
                Ok(line)
            }
            // No line of the tester is refused, and nothing is behind its home but memory.
            Effect::Refused(line) | Effect::ChangedBehind(line) => Ok(line),
            Effect::Done(line) => {
                self.done(actor, line)?;
                Ok(line)
            }
        }
    }

    /// The oldest write of an actor to a line, or the one with the bytes of a message.
    fn take_write(
        &mut self,
        actor: usize,
        line: LineAddr,
        msg: Option<Msg<CacheLine>>,
    ) -> Result<WriteBytes<CacheLine>, CoherenceEvent> {
        let of = |w: &(usize, LineAddr, WriteBytes<CacheLine>)| w.0 == actor && w.1 == line;
        let exact =
            |w: &(usize, LineAddr, WriteBytes<CacheLine>)| of(w) && msg.is_some_and(|m| m.data() == Some(&w.2.data));
        let found = self.writes.iter().position(exact).or_else(|| self.writes.iter().position(of));
        match found {
            Some(n) => Ok(self.writes.remove(n).2),
            None => {
                let at = self.rig.name(self.who(actor));
                Err(CoherenceEvent::new(
                    "COH-INV-05",
                    line,
                    at,
                    "a store that no core has begun",
                    "one completion per store",
                ))
            }
        }
    }

    /// A store has its place in coherence order.
    fn ordered(&mut self, actor: usize, line: LineAddr, bytes: &WriteBytes<CacheLine>) {
        let place = self.place(actor, line);
        self.newest[line.0 as usize].merge(&bytes.data, bytes.enables);
        self.own[place].merge(&bytes.data, bytes.enables);
        self.counts.operations += 1;
    }

    /// A request has ended: what waited for it goes on.
    fn done(&mut self, actor: usize, line: LineAddr) -> Result<(), CoherenceEvent> {
        let place = self.place(actor, line);
        if let Some(waiting) = self.pending[place] {
            // The agent gave the store back undone.
            self.pending[place] = Some(PendingStore { given: false, ..waiting });
        }
        let made = match self.rig.due(actor, line) {
            HostAccess::Nothing => return Ok(()),
            HostAccess::Load => match self.rig.load(&self.config, actor, line, &mut self.out) {
                Some(value) => {
                    self.used.push((actor, line, value));
                    self.loaded(actor, line, &value, true)?;
                    true
                }
                None => false,
            },
            HostAccess::Store | HostAccess::StorePart => {
                self.pending[place].is_some_and(|p| self.rig.store(&self.config, actor, line, &p.bytes, &mut self.out))
            }
        };
        if !made && self.watch {
            let at = self.rig.name(self.who(actor));
            return Err(CoherenceEvent::new(
                "COH-BIC-12",
                line,
                at,
                "a grant whose access cannot be done",
                "the access that it was granted for",
            ));
        }
        Ok(())
    }

    /// A core has seen a value: `current` says that it must be the newest now.
    fn loaded(&mut self, actor: usize, line: LineAddr, value: &CacheLine, current: bool) -> Result<(), CoherenceEvent> {
        self.counts.operations += 1;
        self.counts.loads += 1;
        self.counts.poisoned_loads += u64::from(value.poison);
        if !self.watch {
            return Ok(());
        }
        let newest = &self.newest[line.0 as usize];
        if current && value != newest {
            let at = self.rig.name(self.who(actor));
            if let Some((_, expected)) = misled(value, newest) {
                return Err(CoherenceEvent::new("COH-PSN-05", line, at, format!("{value} loaded"), expected));
            }
            return Err(CoherenceEvent::new("COH-INV-02", line, at, format!("{value} loaded"), newest.to_string()));
        }
        // Its own bytes a core knows without asking anybody.
        if self.dice.byte_owners
            && (current || R::READS_FOLLOW_WRITES)
            && !self.writes.iter().any(|w| w.0 == actor && w.1 == line)
        {
            let (own, known) = (self.dice.own_bytes(actor), &self.own[self.place(actor, line)]);
            let mut merged = *known;
            merged.merge(value, own);
            if merged.bytes != known.bytes {
                let at = self.rig.name(self.who(actor));
                let expected = format!("own bytes {known} under {own:#018x}");
                return Err(CoherenceEvent::new("COH-INV-02", line, at, format!("{value} loaded"), expected));
            }
        }
        Ok(())
    }

    /// V1 to V4, and those of the protocol.
    fn check(&mut self, line: LineAddr) -> Result<(), CoherenceEvent> {
        if !self.watch {
            return Ok(());
        }
        self.view.copies.clear();
        self.view.in_flight.clear();
        self.view.line = line;
        self.view.newest = self.newest[line.0 as usize];
        self.rig.view(&self.config, line, &mut self.view);
        let rig = &self.rig;
        let name = |agent| rig.name(rig.who(agent));
        check_copies(&self.view, &name, &mut self.events);
        if !self.events.is_empty() {
            // Now also with what is under way, which is seldom needed.
            self.events.clear();
            self.rig.kept(line, &mut self.view.in_flight);
            self.view.in_flight.extend(self.lanes.values());
            check_copies(&self.view, &name, &mut self.events);
        }
        self.rig.check(&self.config, line, &mut self.events);
        self.counts.checks += 1;
        self.events.drain(..).next().map_or(Ok(()), Err)
    }

    fn stuck(&self) -> CoherenceEvent {
        let waiting: Vec<String> = (0..self.rig.leaves() * 2)
            .flat_map(|lane| self.lanes.lane(lane).iter().map(move |l| (lane / 2, l)))
            .map(|(link, l)| format!("{} on link {link}", l.msg.label()))
            .collect();
        CoherenceEvent::new("COH-INV-09", None, "system", waiting.join(", "), "progress of every message")
    }

    /// All cores stop: what is open ends, and nothing is left (V9, V11, V14).
    pub fn drain(&mut self) -> Result<(), CoherenceEvent> {
        while !self.lanes.busy().is_empty() {
            let mut moved = false;
            for lane in 0..self.rig.leaves() * 2 {
                let mut index = 0;
                while index < self.lanes.lane(lane).len() {
                    self.counts.steps += 1;
                    if self.deliver_one(lane, index)? {
                        moved = true;
                    } else {
                        index += 1;
                    }
                }
            }
            if !moved {
                return Err(self.stuck());
            }
        }
        self.counts.rests += 1;
        if !self.watch {
            return Ok(());
        }
        let system =
            |found: String, expected: &str| Err(CoherenceEvent::new("COH-INV-14", None, "system", found, expected));
        if !self.rig.is_idle() {
            return system("an open transaction".into(), "no open transaction when no message is under way");
        }
        if let Some((actor, line, _)) = self.writes.first() {
            return system(
                format!("a write of actor {actor} to {:#x} without its end", line.address()),
                "no open write",
            );
        }
        if self.pending.iter().flatten().any(|p| p.given) {
            return system("a store that an agent still holds".into(), "no open store");
        }
        self.pending.fill(None);
        for line in (0..self.lines).map(LineAddr) {
            self.check(line)?;
            if self.view.home != self.view.newest && !self.view.copies.iter().any(|c| c.dirty) {
                let found = format!("{} at home and no M copy", self.view.home);
                let expected = self.view.newest.to_string();
                return Err(CoherenceEvent::new("COH-INV-14", line, "home", found, expected));
            }
        }
        Ok(())
    }

    /// What a person needs to find the fault.
    pub fn failure(&mut self, seed: u64, event: CoherenceEvent) -> StressFailure {
        let names: Vec<String> = (0..self.rig.actors()).map(|a| self.rig.name(self.who(a))).collect();
        let mut states = Vec::new();
        if let Some(line) = event.line {
            self.view.copies.clear();
            self.rig.view(&self.config, line, &mut self.view);
            let letter = |dirty, writable| {
                if dirty {
                    'M'
                } else if writable {
                    'E'
                } else {
                    'S'
                }
            };
            states.extend(self.view.copies.iter().map(|c| {
                let right = if c.usable { "" } else { ", not usable" };
                format!("{} {}{right}", names[c.agent], letter(c.dirty, c.writable))
            }));
        }
        StressFailure { seed, step: self.counts.steps, states, last: self.history.of(event.line, &names), event }
    }
}

/// A direction in words.
pub(super) fn arrow(dir: Dir) -> &'static str {
    if dir == Dir::Down { "down" } else { "up" }
}
