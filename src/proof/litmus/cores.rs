//! Cores over the agents, with every order of their messages and every time of their accesses.
//!
//! Modelled: a core on each agent with a thread of a [`LitmusProgram`]: any access whose predecessors are done may go, so that
//! sequential cores, cores with a store buffer and weakly ordered ones differ in nothing but the program's orders. A load
//! takes the value of an earlier store of its own core that is not done. Where a program has exclusive accesses, each store leaves its
//! name in a byte beside its value, and a store exclusive stores if it finds the name that its load found. A core asks for what an access needs, and where the
//! program leaves it free, for the value alone, and evicts any line at any time. Detail: the agents of the random tester, a
//! line each of real bytes, of which the first one counts; memory is 0 at the start, and values are kept as their difference
//! from those of the program's start. Left out: silent drops of clean copies, the other legal answers.
//!
//! A forbidden outcome is reported as a violation of V2, with its trace. With a rule off only forbidden outcomes are reported: what
//! the agents find themselves is the subject of the other explorations; here it is shown what a program sees of the missing rule.
//!
//! One step: a core acts or a message arrives. A load ends with a value of its cache or one that came to be used once; a
//! store ends when its agent has made it. When all programs are over, the values loaded and the last ones of the lines are
//! the outcome.

use super::bridge::{BridgeRig, atomic_of};
use super::program::{Freedom, LitmusAgents, LitmusProgram};
use super::shapes::LitmusShape;
use crate::explore::fingerprint::fingerprint;
use crate::explore::system::SentMessage;
use crate::explore::{AgentWait, Awaited, ChartStep, Explored, ExploredSystem, Fairness, delivery};
use crate::net::Net;
use crate::stress::StressProtocol;
use crate::stress::bias::BiasRig;
use crate::stress::cache::CacheRig;
use crate::stress::mem::MemRig;
use crate::stress::rig::{CoreAnswer, Need, Rig, StressRequestOutcome, Who};
use scalepool_bridge::atomics::{AtomicOperation, OPERATIONS};
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
use scalepool_coherence::thread::{AccessSet, EXCLUSIVE_FAILED, EXCLUSIVE_STORED, MOST_ACCESSES, ThreadAccess};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A core, on the agent of its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ProgramCore {
    /// Accesses that have taken effect.
    done: AccessSet,
    /// Stores that the agent makes.
    given: AccessSet,
    /// What each access has loaded; 0 of the others.
    loaded: Vec<u8>,
    /// Name of the store that each load has taken its value from, 0: none; empty where the program has no exclusive accesses.
    sources: Vec<u8>,
}

impl ProgramCore {
    fn is_done(&self, access: usize) -> bool {
        self.done >> access & 1 == 1
    }

    fn is_given(&self, access: usize) -> bool {
        self.given >> access & 1 == 1
    }
}

/// What does not change during a search.
#[derive(Debug)]
struct Setup {
    config: CoherenceConfig,
    program: LitmusProgram,
    lines: u64,
}

/// Cores, agents and messages.
#[derive(Debug, Clone)]
pub struct Cores<R> {
    setup: Arc<Setup>,
    rig: R,
    net: Net<CacheLine>,
    cores: Vec<ProgramCore>,
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
    Begin { copies: u16, mirrored: bool },
    /// A message arrives.
    Deliver { link: u8, dir: Dir, index: u8 },
    /// A core does an access, or asks for what that needs: the value alone, or a copy.
    Act { core: u8, access: u8, value: bool },
    /// A store exclusive of a core does not store.
    Fail { core: u8, access: u8 },
    /// A core gives a copy up.
    Evict { core: u8, line: u8 },
    /// A core drops a dirty copy, where the rule against it is off.
    Drop { core: u8, line: u8 },
    /// Something ends that has begun inside the agent of a link.
    Inside { leaf: u8, index: u8 },
}

/// The start of a shape on the cores of some agents.
pub fn start(shape: &LitmusShape, agents: LitmusAgents, config: CoherenceConfig) -> Box<dyn Explored> {
    run(LitmusProgram::of_shape(shape), agents, config)
}

/// The start of a program on the cores of some agents.
pub fn run(program: LitmusProgram, agents: LitmusAgents, config: CoherenceConfig) -> Box<dyn Explored> {
    // The shapes have two lines, also where one is used.
    let lines = program.initial.len().max(2) as u64;
    match agents {
        LitmusAgents::Caching(StressProtocol::Cache(devices)) => {
            Box::new(Cores::new(CacheRig::new(devices), program, config))
        }
        LitmusAgents::Caching(StressProtocol::HdmDb(hosts)) => {
            Box::new(Cores::new(MemRig::new(&config, hosts, lines), program, config))
        }
        LitmusAgents::Caching(StressProtocol::HdmD) => Box::new(Cores::new(BiasRig::new(), program, config)),
        LitmusAgents::Bridge(agents) => Box::new(Cores::new(BridgeRig::new(&config, &agents, lines), program, config)),
    }
}

impl<R: Rig + Clone> Cores<R> {
    fn new(rig: R, program: LitmusProgram, config: CoherenceConfig) -> Self {
        let net = Net::new(rig.leaves());
        // Any thread may be on any core.
        let longest = program.threads.iter().map(Vec::len).max().unwrap_or(0);
        let has_exclusive = program.threads.iter().flatten().any(|access| access.exclusive.is_some());
        let sources = vec![0; if has_exclusive { longest } else { 0 }];
        let core = ProgramCore { done: 0, given: 0, loaded: vec![0; longest], sources };
        let cores = vec![core; program.threads.len().min(rig.actors())];
        let lines = program.initial.len() as u64;
        Self { setup: Arc::new(Setup { config, program, lines }), rig, net, cores, begun: false, mirrored: false }
    }

    fn who(&self, actor: usize) -> Who {
        self.rig.who(actor)
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

    fn thread(&self, core: usize) -> &[ThreadAccess] {
        &self.setup.program.threads[self.program(core)]
    }

    /// Accesses of a core whose predecessors are done, and that are not done themselves.
    fn ready(&self, core: usize) -> impl Iterator<Item = (usize, &ThreadAccess)> {
        let own = &self.cores[core];
        let is_ready = |(n, access): &(usize, &ThreadAccess)| !own.is_done(*n) && access.behind & !own.done == 0;
        self.thread(core).iter().enumerate().filter(is_ready)
    }

    /// The store of its own core from which a load takes its value, since that is not done.
    fn forwards(&self, core: usize, access: &ThreadAccess) -> Option<usize> {
        access.forwards.filter(|store| !self.cores[core].is_done(*store))
    }

    /// The load of a line for which the agent is asked.
    fn load_of(&self, core: usize, line: LineAddr) -> Option<usize> {
        let mut loads = self.ready(core).filter(|(_, access)| access.store.is_none() && access.line == line.0);
        loads.find(|(_, access)| self.forwards(core, access).is_none()).map(|(n, _)| n)
    }

    /// The store that the core waits to make, with its bytes.
    fn wanted(&self, core: usize, line: LineAddr) -> Option<(usize, WriteBytes<CacheLine>)> {
        let (n, _) = self.ready(core).find(|(_, access)| access.store.is_some() && access.line == line.0)?;
        Some((n, self.bytes_of(core, n, self.stored(core, n)?)))
    }

    /// What a store writes; `None`: it is no store, or the value is no byte.
    fn stored(&self, core: usize, access: usize) -> Option<u8> {
        self.stored_from(core, access, None)
    }

    /// The same where a read-modify-write loads `old`.
    fn stored_from(&self, core: usize, access: usize, old: Option<u8>) -> Option<u8> {
        let loaded = |n: usize| old.filter(|_| n == access).unwrap_or(self.cores[core].loaded[n]);
        u8::try_from(self.thread(core)[access].store.as_ref()?.value(&loaded)).ok()
    }

    /// A value as lines keep it, and back.
    fn raw(&self, line: u64, value: u8) -> u8 {
        value ^ self.setup.program.initial[line as usize]
    }

    /// What a store writes to its line: its value, and its name where the program has exclusive accesses.
    fn bytes_of(&self, core: usize, access: usize, stored: u8) -> WriteBytes<CacheLine> {
        let mut data = CacheLine::of([self.raw(self.thread(core)[access].line, stored); 64]);
        if self.cores[core].sources.is_empty() {
            return WriteBytes { data, enables: 1 };
        }
        data.bytes[1] = self.name_of_store(core, access);
        WriteBytes { data, enables: 0b11 }
    }

    fn name_of_store(&self, core: usize, access: usize) -> u8 {
        (self.program(core) * MOST_ACCESSES + access) as u8 + 1
    }

    /// Whether a store exclusive finds its line stored to since its load.
    fn has_lost(&self, core: usize, access: usize, found: &CacheLine) -> bool {
        let load = self.thread(core)[access].exclusive;
        load.is_some_and(|load| self.cores[core].sources[load] != found.bytes[1])
    }

    /// A load of the core has got a value, if the core waits for this line.
    fn loaded(&mut self, core: usize, line: LineAddr, value: CacheLine) {
        if self.begun
            && let Some(access) = self.load_of(core, line)
        {
            self.sees(core, access, value.bytes[1]);
            let value = self.raw(line.0, value.bytes[0]);
            self.does(core, access, value);
        }
    }

    /// A load takes its value from a store of this name.
    fn sees(&mut self, core: usize, access: usize, store: u8) {
        self.cores[core].sources.get_mut(access).into_iter().for_each(|source| *source = store);
    }

    /// An access has taken effect.
    fn does(&mut self, core: usize, access: usize, loaded: u8) {
        let core = &mut self.cores[core];
        core.done |= 1 << access;
        core.given &= !(1 << access);
        core.loaded[access] = loaded;
    }

    /// An access of a core, or a request for it. Text for a chart, if it is `told`.
    fn act(&mut self, core: usize, access: usize, value: bool, told: bool, out: &mut AgentOutput<CacheLine>) -> String {
        let setup = Arc::clone(&self.setup);
        let config = &setup.config;
        let own = &setup.program.threads[self.program(core)][access];
        let (at, name) = (LineAddr(own.line), name_of(own.line));
        if own.store.is_none() {
            if let Some(store) = self.forwards(core, own) {
                let loaded = self.stored(core, store).unwrap_or_default();
                self.sees(core, access, self.name_of_store(core, store));
                self.does(core, access, loaded);
                return text_of(told, format_args!("loads {loaded} of {name} from its own store"));
            }
            if !value && let Some(loaded) = self.rig.load(config, core, at, out) {
                self.loaded(core, at, loaded);
                return text_of(told, format_args!("loads {} of {name}", self.raw(own.line, loaded.bytes[0])));
            }
            let need = if value { Need::Value } else { Need::Copy };
            self.rig.ask(config, core, at, need, out);
            return text_of(told, format_args!("asks for {name}"));
        }
        if let Some((operation, operand)) = self.atomic(core, access) {
            self.rig.ask(config, core, at, Need::Atomic(operation, &operand), out);
            return text_of(told, format_args!("has {name} updated"));
        }
        if own.is_rmw || own.exclusive.is_some() {
            if self.update(core, access, out) {
                return text_of(told, format_args!("does its update of {name}"));
            }
            self.rig.ask(config, core, at, Need::Update, out);
            return text_of(told, format_args!("asks for {name} to update it"));
        }
        let Some(stored) = self.stored(core, access) else { return String::new() };
        let bytes = self.bytes_of(core, access, stored);
        if self.rig.store(config, core, at, &bytes, out) {
            return text_of(told, format_args!("stores {stored} to {name}"));
        }
        if self.rig.ask(config, core, at, Need::Ownership(&bytes), out) == StressRequestOutcome::Given {
            self.cores[core].given |= 1 << access;
        }
        text_of(told, format_args!("asks for {name} to store {stored}"))
    }

    /// The operation and the operand of a read-modify-write that is not done at its core.
    fn atomic(&self, core: usize, access: usize) -> Option<(u8, WriteBytes<CacheLine>)> {
        let own = &self.thread(core)[access];
        if !own.is_rmw || !self.rig.asks_away(core) {
            return None;
        }
        let (operation, operand) = atomic_of(access, own, &|n| self.cores[core].loaded[n])?;
        // What is exchanged is kept as its difference from the value of the start; what is added or differs in bits is one.
        let is_swap = operation == AtomicOperation::Swap;
        let operand = if is_swap { self.raw(own.line, operand) } else { operand };
        let code = OPERATIONS.iter().position(|of| *of == operation)? as u8;
        Some((code, WriteBytes { data: CacheLine::of([operand; 64]), enables: 1 }))
    }

    /// A read-modify-write at one point, or a store exclusive, if its line is owned. It is done when the agent says that it has
    /// stored; a store exclusive that has lost its line is done without.
    fn update(&mut self, core: usize, access: usize, out: &mut AgentOutput<CacheLine>) -> bool {
        let setup = Arc::clone(&self.setup);
        let line = setup.program.threads[self.program(core)][access].line;
        let Some(old) = self.rig.load(&setup.config, core, LineAddr(line), out) else { return false };
        if self.has_lost(core, access, &old) {
            self.does(core, access, EXCLUSIVE_FAILED);
            return true;
        }
        let is_rmw = self.thread(core)[access].is_rmw;
        self.cores[core].loaded[access] = if is_rmw { self.raw(line, old.bytes[0]) } else { EXCLUSIVE_STORED };
        let bytes = self.stored(core, access).map(|stored| self.bytes_of(core, access, stored));
        let is_made = bytes.is_some_and(|bytes| self.rig.store(&setup.config, core, LineAddr(line), &bytes, out));
        if !is_made {
            self.cores[core].loaded[access] = 0;
        }
        is_made
    }

    /// Whether an access of a core can go, or ask for what it needs, tried on a copy of the agents.
    fn can_act(&self, core: usize, access: usize, value: bool) -> bool {
        let config = &self.setup.config;
        let own = &self.thread(core)[access];
        let (mut rig, out, at) = (self.rig.clone(), &mut AgentOutput::default(), LineAddr(own.line));
        if own.store.is_none() {
            if let Some(store) = self.forwards(core, own) {
                let is_known = self.thread(core)[store].known & !self.cores[core].done == 0;
                return !value && is_known && self.stored(core, store).is_some();
            }
            let need = if value { Need::Value } else { Need::Copy };
            return !value && rig.load(config, core, at, out).is_some()
                || rig.ask(config, core, at, need, out) != StressRequestOutcome::No;
        }
        if let Some((operation, operand)) = self.atomic(core, access).filter(|_| !value) {
            return rig.ask(config, core, at, Need::Atomic(operation, &operand), out) != StressRequestOutcome::No;
        }
        if own.is_rmw || own.exclusive.is_some() {
            if value {
                return false;
            }
            if let Some(old) = rig.load(config, core, at, out) {
                if self.has_lost(core, access, &old) {
                    return true;
                }
                // What is no byte is not stored: the program does not end.
                let old = self.raw(own.line, old.bytes[0]);
                let Some(stored) = self.stored_from(core, access, Some(old)) else { return false };
                if rig.store(config, core, at, &self.bytes_of(core, access, stored), out) {
                    return true;
                }
            }
            return rig.ask(config, core, at, Need::Update, out) != StressRequestOutcome::No;
        }
        let Some(stored) = self.stored(core, access).filter(|_| !value && !self.cores[core].is_given(access)) else {
            return false;
        };
        let bytes = self.bytes_of(core, access, stored);
        rig.store(config, core, at, &bytes, out)
            || rig.ask(config, core, at, Need::Ownership(&bytes), out) != StressRequestOutcome::No
    }

    /// Makes effects true and sends what was sent.
    fn settle(
        &mut self,
        who: Who,
        out: &mut AgentOutput<CacheLine>,
        mut sent: Option<&mut Vec<SentMessage>>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        let setup = Arc::clone(&self.setup);
        let (column, actor) = (self.column(who), self.rig.actor_at(who));
        while !out.effects.is_empty() {
            for effect in std::mem::take(&mut out.effects) {
                if let Some(actor) = actor.filter(|actor| *actor < self.cores.len()) {
                    self.effect(actor, effect, out);
                }
            }
        }
        for answer in self.rig.take_answers() {
            self.answered(answer);
        }
        if setup.config.rules.is_sheet() {
            events.append(&mut out.events);
        }
        out.events.clear();
        for (port, msg) in out.sends.drain(..) {
            let (link, to) = match who {
                Who::Leaf(n) => (n, Who::Hub),
                Who::Hub => (usize::from(port), Who::Leaf(usize::from(port))),
            };
            if let Some(sent) = &mut sent {
                sent.push(SentMessage { from: column, to: self.column(to), label: msg.label(), message: shown(&msg) });
            }
            self.net.send(link, msg);
        }
    }

    /// A request of a core without a cache has been answered.
    fn answered(&mut self, CoreAnswer { actor, line, value }: CoreAnswer) {
        match (value, self.wanted_update(actor, line)) {
            (Some(value), Some(access)) if self.begun => {
                let old = self.raw(line.0, value.bytes[0]);
                self.does(actor, access, old);
            }
            (Some(value), _) => self.loaded(actor, line, value),
            (None, _) => {
                if let Some((access, _)) = self.wanted(actor, line) {
                    self.does(actor, access, 0);
                }
            }
        }
    }

    /// The read-modify-write of a line that a core waits for.
    fn wanted_update(&self, core: usize, line: LineAddr) -> Option<usize> {
        let mut ready = self.ready(core).filter(|(_, access)| access.line == line.0);
        ready.find(|(_, access)| access.is_rmw).map(|(n, _)| n)
    }

    fn effect(&mut self, core: usize, effect: Effect<CacheLine>, out: &mut AgentOutput<CacheLine>) {
        let setup = Arc::clone(&self.setup);
        match effect {
            Effect::Stored(line) => {
                if let Some((access, _)) = self.wanted(core, line) {
                    // Of a read-modify-write it is known what it has loaded; a store has loaded 0.
                    self.does(core, access, self.cores[core].loaded[access]);
                }
            }
            Effect::Used { line, value, .. } => self.loaded(core, line, value),
            Effect::Done(line) => {
                // The agent may have given the store back undone.
                if let Some((access, _)) = self.wanted(core, line) {
                    self.cores[core].given &= !(1 << access);
                }
                match self.rig.due(core, line) {
                    HostAccess::Load => {
                        if let Some(value) = self.rig.load(&setup.config, core, line, out) {
                            self.loaded(core, line, value);
                        }
                    }
                    HostAccess::Store | HostAccess::StorePart => match self.wanted(core, line) {
                        Some((access, _))
                            if self.thread(core)[access].is_rmw || self.thread(core)[access].exclusive.is_some() =>
                        {
                            self.update(core, access, out);
                        }
                        Some((_, bytes)) => {
                            self.rig.store(&setup.config, core, line, &bytes, out);
                        }
                        None => {}
                    },
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
    fn place(&mut self, copies: u16, events: &mut Vec<CoherenceEvent>) {
        for bit in (0..16).filter(|bit| copies >> bit & 1 == 1) {
            let (core, line) = (bit % self.cores.len(), (bit / self.cores.len()) as u64);
            let mut out = AgentOutput::default();
            self.rig.ask(&Arc::clone(&self.setup).config, core, LineAddr(line), Need::Copy, &mut out);
            self.settle(self.who(core), &mut out, None, events);
            loop {
                let inside = (0..self.rig.leaves()).find(|leaf| self.rig.inner_steps(*leaf) > 0);
                let first = self.deliveries().next();
                let who = match (inside, first) {
                    (Some(leaf), _) => {
                        self.rig.inner_step(leaf, 0, &mut out);
                        Who::Leaf(leaf)
                    }
                    (None, Some((link, dir, index))) => self.deliver(link, dir, index, &mut out),
                    (None, None) => break,
                };
                self.settle(who, &mut out, None, events);
            }
        }
        self.begun = true;
    }

    /// The agent whose step a move is; `None`: of all.
    fn actor(&self, mv: LitmusMove) -> Option<usize> {
        match mv {
            LitmusMove::Begin { .. } => None,
            LitmusMove::Deliver { link, dir, .. } => Some(self.column(self.receiver(link.into(), dir))),
            LitmusMove::Inside { leaf, .. } => Some(leaf.into()),
            LitmusMove::Act { core, .. }
            | LitmusMove::Fail { core, .. }
            | LitmusMove::Evict { core, .. }
            | LitmusMove::Drop { core, .. } => Some(self.column(self.who(core.into()))),
        }
    }

    /// Makes a move. For a chart: its text, and what it sends in `sent`.
    fn perform(
        &mut self,
        mv: LitmusMove,
        sent: Option<&mut Vec<SentMessage>>,
        events: &mut Vec<CoherenceEvent>,
    ) -> String {
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
            LitmusMove::Inside { leaf, index } => {
                self.rig.inner_step(leaf.into(), index.into(), &mut out);
                (Who::Leaf(leaf.into()), "an access to the cache ends".to_owned())
            }
            LitmusMove::Act { core, access, value } => {
                let text = self.act(core.into(), access.into(), value, sent.is_some(), &mut out);
                (self.who(core.into()), text)
            }
            LitmusMove::Fail { core, access } => {
                self.does(core.into(), access.into(), EXCLUSIVE_FAILED);
                let name = name_of(self.thread(core.into())[usize::from(access)].line);
                (self.who(core.into()), text_of(sent.is_some(), format_args!("gives up its store exclusive of {name}")))
            }
            LitmusMove::Evict { core, line } => {
                self.rig.evict(&setup.config, core.into(), LineAddr(line.into()), &mut out);
                (self.who(core.into()), text_of(sent.is_some(), format_args!("evicts {}", name_of(line.into()))))
            }
            LitmusMove::Drop { core, line } => {
                self.rig.drop_dirty(&setup.config, core.into(), LineAddr(line.into()));
                (self.who(core.into()), text_of(sent.is_some(), format_args!("drops {}", name_of(line.into()))))
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
            LitmusMove::Begin { .. }
            | LitmusMove::Deliver { .. }
            | LitmusMove::Inside { .. }
            | LitmusMove::Fail { .. } => true,
            LitmusMove::Act { core, access, value } => self.can_act(core.into(), access.into(), value),
            LitmusMove::Evict { core, line } => rig.evict(config, core.into(), LineAddr(line.into()), out),
            LitmusMove::Drop { core, line } => rig.drop_dirty(config, core.into(), LineAddr(line.into())),
        }
    }

    /// What a core has done on its way to a later state, in words.
    fn did(&self, core: usize, after: &ProgramCore) -> Vec<String> {
        let new = (0..self.thread(core).len()).filter(|n| after.is_done(*n) && !self.cores[core].is_done(*n));
        let has_failed = |n: usize| self.thread(core)[n].exclusive.is_some() && after.loaded[n] == EXCLUSIVE_FAILED;
        let text = |n: usize| match self.stored_from(core, n, Some(after.loaded[n])) {
            Some(_) if has_failed(n) => "does not store: its line was stored to".to_owned(),
            Some(value) if self.thread(core)[n].is_rmw => format!("loads {} and stores {value}", after.loaded[n]),
            Some(value) => format!("stores {value}"),
            None => format!("loads {}", after.loaded[n]),
        };
        new.map(text).collect()
    }

    fn is_over(&self) -> bool {
        (0..self.cores.len()).all(|core| self.cores[core].done.count_ones() as usize == self.thread(core).len())
    }

    /// Loaded values, core by core, and the last value of each line: of its dirty copy, else the home's; at least two
    /// lines, as the shapes have them.
    fn seen(&self) -> (Vec<u8>, Vec<u8>) {
        let zero = CacheLine::initial(LineAddr(0));
        let last = (0..self.setup.lines).map(|line| {
            let (copies, in_flight, levels) = (Vec::new(), Vec::new(), Vec::new());
            let line = LineAddr(line);
            let mut view = View { line, newest: zero, home: zero, copies, in_flight, tracked: IdSet::EMPTY, levels };
            self.rig.view(&self.setup.config, line, &mut view);
            self.raw(line.0, view.copies.iter().find(|c| c.dirty).map_or(view.home, |c| c.value).bytes[0])
        });
        let loads = |program: usize| {
            let core = self.program(program);
            let of_loads = self.thread(core).iter().zip(&self.cores[core].loaded).filter(|(a, _)| a.gives_value());
            of_loads.map(|(_, value)| *value)
        };
        let mut last: Vec<u8> = last.collect();
        last.resize(last.len().max(2), 0);
        ((0..self.cores.len()).flat_map(loads).collect(), last)
    }
}

/// A text that somebody asks for; nothing else.
fn text_of(told: bool, text: fmt::Arguments<'_>) -> String {
    if told { text.to_string() } else { String::new() }
}

fn name_of(line: u64) -> &'static str {
    ["x", "y", "z", "w"].get(line as usize).copied().unwrap_or("?")
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
            let all = ((1_u64 << bits) - 1) as u16;
            let shares: Vec<u16> = match self.setup.program.freedom {
                Freedom::All => (0..=all).collect(),
                Freedom::Copies => {
                    // The copies of a line at every core are neighbouring bits.
                    let cores = self.cores.len() as u64;
                    let of_line = |line: u64| (((1_u64 << cores) - 1) << (line * cores)) as u16;
                    let mut shares = vec![0, all];
                    shares.extend((0..self.setup.lines).map(of_line).filter(|copies| *copies != all));
                    shares
                }
            };
            let orders = if self.rig.are_alike() { &[false][..] } else { &[false, true] };
            let starts = orders.iter().flat_map(|&mirrored| shares.iter().map(move |&copies| (copies, mirrored)));
            return out.extend(starts.map(|(copies, mirrored)| LitmusMove::Begin { copies, mirrored }));
        }
        out.extend(self.deliveries().map(|(link, dir, index)| LitmusMove::Deliver {
            link: link as u8,
            dir,
            index: index as u8,
        }));
        out.extend((0..self.rig.leaves()).flat_map(|leaf| {
            (0..self.rig.inner_steps(leaf))
                .map(move |index| LitmusMove::Inside { leaf: leaf as u8, index: index as u8 })
        }));
        let is_free = self.setup.program.freedom == Freedom::All;
        for core in 0..self.cores.len() as u8 {
            let act = |access: usize, value| LitmusMove::Act { core, access: access as u8, value };
            let accesses = self.ready(core.into()).flat_map(|(access, _)| [act(access, false), act(access, true)]);
            let is_offered = |mv: &LitmusMove| is_free || !matches!(mv, LitmusMove::Act { value: true, .. });
            out.extend(accesses.filter(is_offered).filter(|mv| self.can(*mv)));
            // Whatever else its thread has to do before.
            let fails = |(n, access): &(usize, &ThreadAccess)| {
                access.exclusive.is_some() && !self.cores[usize::from(core)].is_done(*n)
            };
            let open = self.thread(core.into()).iter().enumerate().filter(fails);
            out.extend(open.map(|(access, _)| LitmusMove::Fail { core, access: access as u8 }));
            if !is_free {
                continue;
            }
            for line in 0..self.setup.lines as u8 {
                if self.rig.holds(core.into(), LineAddr(line.into())) {
                    let leaves = [LitmusMove::Evict { core, line }, LitmusMove::Drop { core, line }];
                    out.extend(leaves.into_iter().filter(|mv| self.can(*mv)));
                }
            }
        }
    }

    fn fairness(&self, mv: LitmusMove) -> Fairness {
        match mv {
            LitmusMove::Deliver { .. } | LitmusMove::Inside { .. } => Fairness::Strong,
            _ => Fairness::Optional,
        }
    }

    fn action(&self, mv: LitmusMove) -> u128 {
        match mv {
            LitmusMove::Deliver { link, dir, index } => {
                let link = usize::from(link);
                delivery(link, dir, &self.net.of(link, dir)[usize::from(index)])
            }
            LitmusMove::Inside { leaf, index } => fingerprint(&(leaf, index)),
            _ => 0,
        }
    }

    /// Requests, and stores that an agent has. A core may evict what it has asked for before it uses it, so that its program
    /// need not end; that it can is asked of quiescence.
    fn waits(&self, out: &mut Vec<AgentWait>) {
        if !self.setup.config.rules.is_sheet() {
            return;
        }
        for core in 0..self.cores.len() {
            let agent = self.column(self.who(core));
            for line in (0..self.setup.lines).map(LineAddr) {
                let mut wait = |awaited| out.push(AgentWait { agent, awaited, line: Some(line) });
                if self.rig.awaits(core, line) {
                    wait(Awaited::Request);
                }
                if self.wanted(core, line).is_some_and(|(access, _)| self.cores[core].is_given(access)) {
                    wait(Awaited::Store);
                }
            }
        }
    }

    /// Every program is over.
    fn is_quiescent(&self) -> bool {
        self.is_idle() && (!self.setup.config.rules.is_sheet() || self.is_over())
    }

    fn apply(&mut self, mv: LitmusMove, events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        self.perform(mv, None, events);
        self.actor(mv)
    }

    /// Values are bytes, which no other agent's step makes old: any two agents commute.
    fn commuted(&self, mv: LitmusMove, agent: usize, after: &Self) -> Option<LitmusMove> {
        let actor = self.actor(mv)?;
        let LitmusMove::Deliver { link, dir, index } = mv else { return (actor != agent).then_some(mv) };
        let msg = &self.net.of(link.into(), dir)[usize::from(index)];
        // The message is where it was, or behind others that have come meanwhile.
        let index = after.net.of(link.into(), dir).iter().position(|other| other == msg)?;
        (actor != agent).then_some(LitmusMove::Deliver { link, dir, index: index as u8 })
    }

    fn describe(&self, mv: LitmusMove) -> ChartStep {
        let mut sent = Vec::new();
        let mut after = self.clone();
        let text = after.perform(mv, Some(&mut sent), &mut Vec::new());
        let agent = match mv {
            LitmusMove::Deliver { link, dir, index } => {
                let msg: &Msg<CacheLine> = &self.net.of(link.into(), dir)[usize::from(index)];
                let leaf = usize::from(link);
                let hub = self.column(Who::Hub);
                let (from, to) = if dir == R::TO_LEAF { (hub, leaf) } else { (leaf, hub) };
                let did = (0..self.cores.len()).flat_map(|core| self.did(core, &after.cores[core])).collect();
                return ChartStep::Deliver { from, to, label: msg.label(), message: shown(msg), did, sent };
            }
            LitmusMove::Begin { copies, mirrored } => {
                let places = (0..16).filter(|bit| copies >> bit & 1 == 1);
                let place = |bit: usize| {
                    let name = self.rig.name(self.who(bit % self.cores.len()));
                    format!("{} at {name}", name_of((bit / self.cores.len()) as u64))
                };
                let held: Vec<String> = places.map(place).collect();
                let held = if held.is_empty() { "nothing held".into() } else { held.join(", ") };
                let held = if mirrored { format!("{held}; programs in reverse") } else { held };
                return ChartStep::Act { agent: self.column(Who::Hub), text: held, line: None, sent };
            }
            LitmusMove::Inside { leaf, .. } => leaf.into(),
            LitmusMove::Act { core, .. }
            | LitmusMove::Fail { core, .. }
            | LitmusMove::Evict { core, .. }
            | LitmusMove::Drop { core, .. } => self.column(self.who(core.into())),
        };
        ChartStep::Act { agent, text, line: None, sent }
    }

    fn check(&self, events: &mut Vec<CoherenceEvent>) {
        if !self.begun || !self.is_over() || !self.net.is_empty() {
            return;
        }
        let (loaded, last) = self.seen();
        if self.setup.program.forbidden.is_some_and(|forbidden| forbidden(&loaded, &last)) {
            let found = format!("{loaded:?} loaded and {last:?} in the end");
            let expected = "an outcome that some order of the accesses explains";
            events.push(CoherenceEvent::new("COH-INV-02", None, self.setup.program.name.clone(), found, expected));
        }
    }

    /// With a rule off nobody asks whether the agents are.
    fn is_idle(&self) -> bool {
        !self.setup.config.rules.is_sheet() || self.net.is_empty() && self.rig.is_idle()
    }

    fn outcome(&self) -> String {
        let (loaded, last) = self.seen();
        let over = if self.is_over() { "" } else { " without an end" };
        format!("{loaded:?} {last:?}{over}")
    }
}
