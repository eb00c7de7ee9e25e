//! Sequential cores over the agents, with every order of their messages and every time of their accesses.
//!
//! Modelled: a core on each agent that does one access after the other, the litmus [`LitmusShape`]s; it asks for what
//! an access needs, for a copy or for the value alone, and may evict any line at any time. Every share of clean copies
//! stands at a start. Detail: the agents of the random tester, a line each of real bytes, of which the first one
//! counts. Left out: two accesses of a core at once, silent drops of clean copies, the other legal answers.
//!
//! A forbidden outcome is a breach of V2, with the way to it. With a rule off nothing else is: what the agents say of each
//! other is for the other explorations, here it is shown what a program sees of the missing rule.
//!
//! One step: a core acts or a message arrives. A load ends with a value of its cache or one that came to be used once; a
//! store ends when its agent has made it. When all programs are over, the values loaded and the last ones of the lines are
//! the outcome.

use super::shapes::{LitmusAccess, LitmusShape};
use crate::explore::system::SentMessage;
use crate::explore::{AgentWait, Awaited, ChartStep, Explored, ExploredSystem, Fairness, delivery};
use crate::net::Net;
use crate::stress::StressProtocol;
use crate::stress::bias::BiasRig;
use crate::stress::cache::CacheRig;
use crate::stress::mem::MemRig;
use crate::stress::rig::{Need, Rig, StressRequestOutcome, Who};
use scalepool_coherence::agent::{Accept, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::device::WriteBytes;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::host::HostAccess;
use scalepool_coherence::message::shown;
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::View;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Lines of a shape.
const LINES: u64 = 2;

/// Where a core's store stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Storing {
    /// The core makes it when it may.
    Core,
    /// The agent makes it.
    Agent,
}

/// A core, on the agent of its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Core {
    next: u8,
    storing: Storing,
    loaded: Vec<u8>,
}

/// What does not change during a search.
#[derive(Debug)]
struct Setup {
    config: CoherenceConfig,
    shape: &'static LitmusShape,
    lines: u64,
}

/// Cores, agents and messages.
#[derive(Debug, Clone)]
pub struct Cores<R> {
    setup: Arc<Setup>,
    rig: R,
    net: Net<CacheLine>,
    cores: Vec<Core>,
    /// The copies of the start are placed.
    begun: bool,
    /// The programs stand on the agents in reverse order.
    mirrored: bool,
}

impl<R: PartialEq> PartialEq for Cores<R> {
    fn eq(&self, other: &Self) -> bool {
        let flags = |s: &Self| (s.begun, s.mirrored);
        (&self.rig, &self.net, &self.cores, flags(self)) == (&other.rig, &other.net, &other.cores, flags(other))
    }
}

impl<R: Eq> Eq for Cores<R> {}

impl<R: Hash> Hash for Cores<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.rig, &self.net, &self.cores, self.begun, self.mirrored).hash(state);
    }
}

/// A move. Cores, lines and the places of messages are numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LitmusMove {
    /// The programs begin, with a copy for each bit: core + cores * line. Agents that are not alike get them in either order.
    Begin { copies: u8, mirrored: bool },
    /// A message arrives.
    Deliver { link: u8, dir: Dir, index: u8 },
    /// A core does its next access, or asks for what it needs: the value alone, or a copy.
    Act { core: u8, value: bool },
    /// A core gives a copy up.
    Evict { core: u8, line: u8 },
    /// A core drops a dirty copy, where the rule against it is off.
    Drop { core: u8, line: u8 },
}

/// The start of a shape over a protocol; its agents are as many as its cores.
pub fn start(shape: &'static LitmusShape, protocol: StressProtocol, config: CoherenceConfig) -> Box<dyn Explored> {
    match protocol {
        StressProtocol::Cache(devices) => Box::new(Cores::new(CacheRig::new(devices), shape, config)),
        StressProtocol::HdmDb(hosts) => Box::new(Cores::new(MemRig::new(&config, hosts, LINES), shape, config)),
        StressProtocol::HdmD => Box::new(Cores::new(BiasRig::new(), shape, config)),
    }
}

impl<R: Rig + Clone> Cores<R> {
    fn new(rig: R, shape: &'static LitmusShape, config: CoherenceConfig) -> Self {
        let net = Net::new(rig.leaves());
        let accesses = || shape.programs.iter().copied().flatten();
        let lines = 1 + accesses().map(|a| a.line()).max().unwrap_or(0);
        let core = Core { next: 0, storing: Storing::Core, loaded: Vec::new() };
        let cores = vec![core; shape.programs.len().min(rig.actors())];
        Self { setup: Arc::new(Setup { config, shape, lines }), rig, net, cores, begun: false, mirrored: false }
    }

    fn who(&self, actor: usize) -> Who {
        if actor < self.rig.leaves() { Who::Leaf(actor) } else { Who::Hub }
    }

    /// Chart column of an agent: the leaves, then the hub.
    fn column(&self, who: Who) -> usize {
        match who {
            Who::Leaf(n) => n,
            Who::Hub => self.rig.leaves(),
        }
    }

    /// The program of a core; also the core of a program.
    fn program(&self, core: usize) -> usize {
        if self.mirrored { self.cores.len() - 1 - core } else { core }
    }

    fn access(&self, core: usize) -> Option<LitmusAccess> {
        self.setup.shape.programs[self.program(core)].get(usize::from(self.cores[core].next)).copied()
    }

    /// A load of the core has got a value, if the core waits for this line.
    fn loaded(&mut self, core: usize, line: LineAddr, value: CacheLine) {
        if self.begun && self.access(core) == Some(LitmusAccess::Load(line.0)) {
            let core = &mut self.cores[core];
            core.loaded.push(value.bytes[0]);
            core.next += 1;
        }
    }

    /// The store that the core waits to make.
    fn wanted(&self, core: usize, line: LineAddr) -> Option<WriteBytes<CacheLine>> {
        match self.access(core) {
            Some(LitmusAccess::Store(at, value)) if at == line.0 => Some(bytes_of(value)),
            _ => None,
        }
    }

    /// The next access of a core, or a request for it. Text for a chart.
    fn act(&mut self, core: usize, value: bool, out: &mut AgentOutput<CacheLine>) -> String {
        let setup = Arc::clone(&self.setup);
        let config = &setup.config;
        match self.access(core) {
            Some(LitmusAccess::Load(line)) => {
                let at = LineAddr(line);
                let name = name_of(line);
                if !value && let Some(loaded) = self.rig.load(config, core, at, out) {
                    self.loaded(core, at, loaded);
                    return format!("loads {} of {name}", loaded.bytes[0]);
                }
                let need = if value { Need::Value } else { Need::Copy };
                self.rig.ask(config, core, at, need, out);
                format!("asks for {name}")
            }
            Some(LitmusAccess::Store(line, stored)) if self.cores[core].storing == Storing::Core => {
                let at = LineAddr(line);
                let (bytes, name) = (bytes_of(stored), name_of(line));
                if self.rig.store(config, core, at, &bytes, out) {
                    return format!("stores {stored} to {name}");
                }
                if self.rig.ask(config, core, at, Need::Ownership(&bytes), out) == StressRequestOutcome::Given {
                    self.cores[core].storing = Storing::Agent;
                }
                format!("asks for {name} to store {stored}")
            }
            _ => String::new(),
        }
    }

    /// Makes effects true and sends what was sent.
    fn settle(
        &mut self,
        who: Who,
        out: &mut AgentOutput<CacheLine>,
        sent: &mut Vec<SentMessage>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        let setup = Arc::clone(&self.setup);
        let actor = self.column(who);
        while !out.effects.is_empty() {
            for effect in std::mem::take(&mut out.effects) {
                if actor < self.cores.len() {
                    self.effect(actor, effect, out);
                }
            }
        }
        if setup.config.mutant.is_none() {
            events.append(&mut out.events);
        }
        out.events.clear();
        for (port, msg) in out.sends.drain(..) {
            let (link, to) = match who {
                Who::Leaf(n) => (n, Who::Hub),
                Who::Hub => (usize::from(port), Who::Leaf(usize::from(port))),
            };
            sent.push(SentMessage { from: actor, to: self.column(to), label: msg.label(), message: shown(&msg) });
            self.net.send(link, msg);
        }
    }

    fn effect(&mut self, core: usize, effect: Effect<CacheLine>, out: &mut AgentOutput<CacheLine>) {
        let setup = Arc::clone(&self.setup);
        match effect {
            Effect::Stored(line) if self.wanted(core, line).is_some() => {
                self.cores[core].next += 1;
                self.cores[core].storing = Storing::Core;
            }
            Effect::Used { line, value, .. } => self.loaded(core, line, value),
            Effect::Done(line) => {
                // The agent may have given the store back undone.
                if self.wanted(core, line).is_some() {
                    self.cores[core].storing = Storing::Core;
                }
                match self.rig.due(core, line) {
                    HostAccess::Load => {
                        if let Some(value) = self.rig.load(&setup.config, core, line, out) {
                            self.loaded(core, line, value);
                        }
                    }
                    HostAccess::Store | HostAccess::StorePart => {
                        if let Some(bytes) = self.wanted(core, line) {
                            self.rig.store(&setup.config, core, line, &bytes, out);
                        }
                    }
                    HostAccess::Nothing => {}
                }
            }
            _ => {}
        }
    }

    /// Takes a message.
    fn deliver(&mut self, link: usize, dir: Dir, index: usize, out: &mut AgentOutput<CacheLine>) -> Who {
        let msg = self.net.remove(link, dir, index);
        let who = self.receiver(link, dir);
        self.rig.take(&self.setup.config, who, link as AgentPort, msg, 0, out);
        who
    }

    fn receiver(&self, link: usize, dir: Dir) -> Who {
        if dir == R::TO_LEAF { Who::Leaf(link) } else { Who::Hub }
    }

    /// Whether a message may arrive now and is taken.
    fn arrives(&self, link: usize, dir: Dir, index: usize) -> bool {
        let config = &self.setup.config;
        let msg = &self.net.of(link, dir)[index];
        self.net.is_free(config, link, dir, index)
            && self.rig.accepts(config, self.receiver(link, dir), link as AgentPort, msg) == Accept::Take
    }

    fn deliveries(&self) -> impl Iterator<Item = (usize, Dir, usize)> {
        let lanes = (0..self.rig.leaves()).flat_map(|link| [(link, Dir::Down), (link, Dir::Up)]);
        lanes
            .flat_map(|(link, dir)| (0..self.net.of(link, dir).len()).map(move |index| (link, dir, index)))
            .filter(|&(link, dir, index)| self.arrives(link, dir, index))
    }

    /// Gives the copies of the start: each is asked for, and all that follows is delivered.
    fn place(&mut self, copies: u8, events: &mut Vec<CoherenceEvent>) {
        for bit in (0..8).filter(|bit| copies >> bit & 1 == 1) {
            let (core, line) = (bit % self.cores.len(), (bit / self.cores.len()) as u64);
            let mut out = AgentOutput::default();
            self.rig.ask(&Arc::clone(&self.setup).config, core, LineAddr(line), Need::Copy, &mut out);
            self.settle(self.who(core), &mut out, &mut Vec::new(), events);
            loop {
                let first = self.deliveries().next();
                let Some((link, dir, index)) = first else { break };
                let who = self.deliver(link, dir, index, &mut out);
                self.settle(who, &mut out, &mut Vec::new(), events);
            }
        }
        self.begun = true;
    }

    /// Makes a move; its text for a chart.
    fn perform(&mut self, mv: LitmusMove, sent: &mut Vec<SentMessage>, events: &mut Vec<CoherenceEvent>) -> String {
        let setup = Arc::clone(&self.setup);
        let mut out = AgentOutput::default();
        let (who, text) = match mv {
            LitmusMove::Begin { copies, mirrored } => {
                self.mirrored = mirrored;
                self.place(copies, events);
                return "the programs begin".into();
            }
            LitmusMove::Deliver { link, dir, index } => {
                (self.deliver(link.into(), dir, index.into(), &mut out), String::new())
            }
            LitmusMove::Act { core, value } => {
                let text = self.act(core.into(), value, &mut out);
                (self.who(core.into()), text)
            }
            LitmusMove::Evict { core, line } => {
                self.rig.evict(&setup.config, core.into(), LineAddr(line.into()), &mut out);
                (self.who(core.into()), format!("evicts {}", name_of(line.into())))
            }
            LitmusMove::Drop { core, line } => {
                self.rig.drop_dirty(&setup.config, core.into(), LineAddr(line.into()));
                (self.who(core.into()), format!("drops {}", name_of(line.into())))
            }
        };
        self.settle(who, &mut out, sent, events);
        text
    }

    /// Whether a move of a core changes anything, tried on a copy of the agents.
    fn can(&self, mv: LitmusMove) -> bool {
        let config = &self.setup.config;
        let (mut rig, out) = (self.rig.clone(), &mut AgentOutput::default());
        match mv {
            LitmusMove::Begin { .. } | LitmusMove::Deliver { .. } => true,
            LitmusMove::Act { core, value } => {
                let core = usize::from(core);
                match self.access(core) {
                    Some(LitmusAccess::Load(line)) => {
                        let at = LineAddr(line);
                        let need = if value { Need::Value } else { Need::Copy };
                        !value && rig.load(config, core, at, out).is_some()
                            || rig.ask(config, core, at, need, out) != StressRequestOutcome::No
                    }
                    Some(LitmusAccess::Store(line, stored)) if !value && self.cores[core].storing == Storing::Core => {
                        let (at, bytes) = (LineAddr(line), bytes_of(stored));
                        rig.store(config, core, at, &bytes, out)
                            || rig.ask(config, core, at, Need::Ownership(&bytes), out) != StressRequestOutcome::No
                    }
                    _ => false,
                }
            }
            LitmusMove::Evict { core, line } => rig.evict(config, core.into(), LineAddr(line.into()), out),
            LitmusMove::Drop { core, line } => rig.drop_dirty(config, core.into(), LineAddr(line.into())),
        }
    }

    fn is_over(&self) -> bool {
        (0..self.cores.len()).all(|core| self.access(core).is_none())
    }

    /// Loaded values, core by core, and the last value of each line: of its dirty copy, else the home's.
    fn seen(&self) -> (Vec<u8>, [u8; 2]) {
        let zero = CacheLine::initial(LineAddr(0));
        let mut last = [0; 2];
        for (line, last) in (0..self.setup.lines).zip(&mut last) {
            let line = LineAddr(line);
            let (copies, in_flight) = (Vec::new(), Vec::new());
            let mut view = View { line, newest: zero, home: zero, copies, in_flight, tracked: IdSet::EMPTY };
            self.rig.view(&self.setup.config, line, &mut view);
            *last = view.copies.iter().find(|c| c.dirty).map_or(view.home, |c| c.value).bytes[0];
        }
        let by_program = (0..self.cores.len()).map(|program| &self.cores[self.program(program)]);
        (by_program.flat_map(|c| c.loaded.iter().copied()).collect(), last)
    }
}

/// The first byte of a line.
fn bytes_of(value: u8) -> WriteBytes<CacheLine> {
    WriteBytes { data: CacheLine::of([value; 64]), enables: 1 }
}

fn name_of(line: u64) -> &'static str {
    if line == 0 { "x" } else { "y" }
}

impl<R: Rig + Clone + Eq + Hash + Send + Sync> ExploredSystem for Cores<R> {
    type Move = LitmusMove;

    fn columns(&self) -> Vec<String> {
        let leaves = (0..self.rig.leaves()).map(Who::Leaf);
        leaves.chain([Who::Hub]).map(|who| self.rig.name(who)).collect()
    }

    fn moves(&self, out: &mut Vec<LitmusMove>) {
        if !self.begun {
            let bits = self.cores.len() as u64 * self.setup.lines;
            let orders = if self.rig.leaves() < self.cores.len() { &[false, true][..] } else { &[false] };
            let starts = orders.iter().flat_map(|&mirrored| (0..1 << bits).map(move |copies| (copies, mirrored)));
            return out.extend(starts.map(|(copies, mirrored)| LitmusMove::Begin { copies, mirrored }));
        }
        out.extend(self.deliveries().map(|(link, dir, index)| LitmusMove::Deliver {
            link: link as u8,
            dir,
            index: index as u8,
        }));
        for core in 0..self.cores.len() as u8 {
            out.extend(
                [false, true].map(|value| LitmusMove::Act { core, value }).into_iter().filter(|mv| self.can(*mv)),
            );
            for line in 0..self.setup.lines as u8 {
                if self.rig.holds(core.into(), LineAddr(line.into())) {
                    let leaves = [LitmusMove::Evict { core, line }, LitmusMove::Drop { core, line }];
                    out.extend(leaves.into_iter().filter(|mv| self.can(*mv)));
                }
            }
        }
    }

    fn fairness(&self, mv: LitmusMove) -> Fairness {
        if matches!(mv, LitmusMove::Deliver { .. }) { Fairness::Strong } else { Fairness::Optional }
    }

    fn action(&self, mv: LitmusMove) -> u128 {
        match mv {
            LitmusMove::Deliver { link, dir, index } => {
                let link = usize::from(link);
                delivery(link, dir, &self.net.of(link, dir)[usize::from(index)])
            }
            _ => 0,
        }
    }

    /// Requests, and stores that an agent has. A core may evict what it has asked for before it uses it, so that its program
    /// need not end; that it can is asked of quiescence.
    fn waits(&self, out: &mut Vec<AgentWait>) {
        if self.setup.config.mutant.is_some() {
            return;
        }
        for core in 0..self.cores.len() {
            let agent = self.column(self.who(core));
            for line in (0..self.setup.lines).map(LineAddr) {
                let mut wait = |awaited| out.push(AgentWait { agent, awaited, line: Some(line) });
                if self.rig.awaits(core, line) {
                    wait(Awaited::Request);
                }
                if self.cores[core].storing == Storing::Agent && self.wanted(core, line).is_some() {
                    wait(Awaited::Store);
                }
            }
        }
    }

    /// Every program is over.
    fn is_quiescent(&self) -> bool {
        self.is_idle() && (self.setup.config.mutant.is_some() || self.is_over())
    }

    fn apply(&mut self, mv: LitmusMove, events: &mut Vec<CoherenceEvent>) {
        self.perform(mv, &mut Vec::new(), events);
    }

    fn describe(&self, mv: LitmusMove) -> ChartStep {
        let mut sent = Vec::new();
        let mut after = self.clone();
        let text = after.perform(mv, &mut sent, &mut Vec::new());
        let agent = match mv {
            LitmusMove::Deliver { link, dir, index } => {
                let msg: &Msg<CacheLine> = &self.net.of(link.into(), dir)[usize::from(index)];
                let leaf = usize::from(link);
                let hub = self.column(Who::Hub);
                let (from, to) = if dir == R::TO_LEAF { (hub, leaf) } else { (leaf, hub) };
                let did = (0..self.cores.len()).filter(|c| after.cores[*c].next != self.cores[*c].next);
                let did = did.filter_map(|c| self.access(c).map(|a| a.text(after.cores[c].loaded.last()))).collect();
                return ChartStep::Deliver { from, to, label: msg.label(), message: shown(msg), did, sent };
            }
            LitmusMove::Begin { copies, mirrored } => {
                let places = (0..8).filter(|bit| copies >> bit & 1 == 1);
                let place = |bit: usize| {
                    let name = self.rig.name(self.who(bit % self.cores.len()));
                    format!("{} at {name}", name_of((bit / self.cores.len()) as u64))
                };
                let held: Vec<String> = places.map(place).collect();
                let held = if held.is_empty() { "nothing held".into() } else { held.join(", ") };
                let held = if mirrored { format!("{held}; programs in reverse") } else { held };
                return ChartStep::Act { agent: self.column(Who::Hub), text: held, sent };
            }
            LitmusMove::Act { core, .. } | LitmusMove::Evict { core, .. } | LitmusMove::Drop { core, .. } => {
                core.into()
            }
        };
        ChartStep::Act { agent, text, sent }
    }

    fn check(&self, events: &mut Vec<CoherenceEvent>) {
        if !self.begun || !self.is_over() || !self.net.is_empty() {
            return;
        }
        let (loaded, last) = self.seen();
        if (self.setup.shape.forbidden)(&loaded, last) {
            let found = format!("{loaded:?} loaded and {last:?} in the end");
            let expected = "an outcome that some order of the accesses explains";
            events.push(CoherenceEvent::new("COH-INV-02", None, self.setup.shape.name, found, expected));
        }
    }

    /// With a rule off nobody asks whether the agents are.
    fn is_idle(&self) -> bool {
        self.setup.config.mutant.is_some() || self.net.is_empty() && self.rig.is_idle()
    }

    fn outcome(&self) -> String {
        let (loaded, last) = self.seen();
        let over = if self.is_over() { "" } else { " without an end" };
        format!("{loaded:?} {last:?}{over}")
    }
}
