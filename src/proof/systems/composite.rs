//! Agents of any kinds with the links between them, as one state of a search.
//!
//! Modelled: every order of deliveries that the ordering rules leave open, every operation that an agent may begin, and the
//! place of each store in coherence order. Detail: one state is all agents, all messages under way and what the search
//! knows besides: which lines the stores have poisoned, how far each program is. Left out: time, flits and credits.
//!
//! Two ways to drive it: *free*, where every agent may begin any operation of a menu whenever its state allows, and by
//! *programs*, one list of operations an agent, for litmus cases.
//!
//! One move: a message is taken out of its channel, or an operation begins, and the agent acts (`Part::act`). Each store that has
//! happened in it makes every other value of its line old. What the agent has sent goes on its way over the link of the port,
//! in the direction of that end of the link. Then the agent makes the accesses that it owes its core.

use super::menu::StartState;
use super::misstep::{WrongStep, alter_one};
use super::part::{Deed, Member, MemoryPart, Operation, ProgramPlace};
use super::setup::{AgentSite, DescriptionError, PortHolder, Setup, SystemDescription, back};
use crate::explore::fingerprint::fingerprint;
use crate::explore::system::{AgentWait, Awaited, ChartStep, ExploredSystem, Fairness, SentMessage, delivery, outcome};
use crate::net::Net;
use crate::shared::SharedState;
use scalepool_coherence::agent::{Accept, AgentOutput, AgentPort, Effect};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Age, LineAddr, LineContent, LineToken};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::{Dir, Msg, shown};
use scalepool_coherence::monitor::{LevelView, PoisonedLines, View, lost_atomic, name_invariants, overtaken};
use scalepool_protocols::cxl::cxl256::code::M2sRwdOpcode;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The system.
#[derive(Debug, Clone)]
pub struct Composite {
    setup: Arc<Setup>,
    pub(super) agents: SmallVec<[SharedState<Member>; 6]>,
    pub(super) net: Net<LineToken>,
    /// Programs: where each agent's stands.
    places: Vec<ProgramPlace>,
    /// What the stores made of each line.
    poisoned: PoisonedLines,
    /// Programs: of each load of each agent, whether it got poison. Empty where nobody poisons.
    loads: Vec<Vec<bool>>,
}

impl PartialEq for Composite {
    fn eq(&self, other: &Self) -> bool {
        self.content() == other.content()
    }
}

impl Eq for Composite {}

impl Hash for Composite {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.content().hash(state);
    }
}

/// What is to be known of a step besides the state that it leads to.
#[derive(Default)]
struct StepLog<'a> {
    /// What it sends, for a chart; `None`: nobody asks.
    sent: Option<&'a mut Vec<SentMessage>>,
    /// A write got its place in coherence order, which changes the values of all agents.
    has_stored: bool,
    /// The stores of the step write a part of their line: what an atomic has computed.
    stores_part: bool,
    /// How the step is wrong; `None`: it is right.
    wrong: Option<WrongStep>,
    /// There was something in it to be made wrongly.
    was_wrong: bool,
}

/// CQID of a request that a device does not know of.
const WRONG_CQID: u16 = 15;

/// A move. Agents, links and the places of messages are numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CompositeMove {
    /// A message arrives; `way` as `Agent::ways` counts.
    Deliver { link: u16, dir: Dir, index: u8, way: u8 },
    /// An agent begins an operation.
    Begin { agent: u16, operation: Operation },
}

impl Composite {
    /// All caches empty, memory current.
    ///
    /// # Errors
    /// A description that is no system.
    pub fn new(description: SystemDescription) -> Result<Self, DescriptionError> {
        let (setup, agents) = Setup::new(description)?;
        let count = agents.len();
        let system = Self {
            net: Net::new(setup.links.len()),
            places: vec![(0, false); if setup.runs_programs { count } else { 0 }],
            poisoned: PoisonedLines::default(),
            loads: vec![Vec::new(); if setup.poisoners.is_empty() { 0 } else { count }],
            setup: Arc::new(setup),
            agents: agents.into_iter().map(SharedState::from).collect(),
        };
        let lines: Vec<LineAddr> = system.setup.all_lines().collect();
        // Memory is written once, so that equal memories look equal.
        Ok(lines.into_iter().fold(system, |system, line| system.line_at::<Copy4>(line, &[])))
    }

    /// A description that is known to be a system.
    pub(super) fn of(description: SystemDescription) -> Self {
        Self::new(description).unwrap_or_else(|e| unreachable!("{e}"))
    }

    /// The number by which a search knows the state.
    pub fn print(&self) -> u128 {
        fingerprint(self)
    }

    fn content(&self) -> impl PartialEq + Hash + '_ {
        (&self.agents, &self.net, &self.places, self.poisoned, &self.loads)
    }

    /// One stable state for each holder of line 0 in the order of the agents, with that of a home's own cache of HDM-D; an M copy
    /// makes memory an old one. No check that they go together.
    #[must_use]
    pub fn start_at<S: StartState>(self, states: &[S]) -> Self {
        self.line_at(LineAddr(0), states)
    }

    fn line_at<S: StartState>(mut self, line: LineAddr, states: &[S]) -> Self {
        let home = self.setup.lines[line.0 as usize];
        let is_held = |n: usize| n == home || self.setup.holders(home).iter().any(|h| h.agent == n);
        let with_letter = |n: &usize| self.agents[*n].part().letter(line).is_some() && is_held(*n);
        let cached: Vec<usize> = (0..self.agents.len()).filter(with_letter).collect();
        let states: Vec<(usize, Copy4)> = cached.into_iter().zip(states.iter().map(|s| s.held())).collect();
        let dirty = states.iter().find(|(_, state)| *state == Copy4::M).map(|(agent, _)| *agent);
        let poison = dirty.is_some_and(|agent| self.setup.poisoners.has(agent as AgentPort));
        self.poisoned.set(line, poison);
        let current = LineToken::of(line, Age::Current).poisoned(poison);
        let memory = if dirty.is_some() { LineToken::of(line, Age::Stale) } else { current };
        let of = |agent: usize| states.iter().find(|(n, _)| *n == agent).map_or(Copy4::I, |(_, state)| *state);
        let held: Vec<Copy4> = self.setup.holders(home).iter().map(|holder| of(holder.agent)).collect();
        if let Some(owner) = self.agents[home].owner_mut() {
            owner.start(line, memory, &held);
        }
        if let Some(behind) = self.setup.memory_of(home) {
            self.agents[behind].preset(line, memory, Copy4::I, current);
        }
        for (agent, state) in states.into_iter().filter(|(_, state)| *state != Copy4::I) {
            self.agents[agent].preset(line, memory, state, current);
        }
        self
    }

    /// Begins the programs.
    #[must_use]
    pub fn begin(mut self) -> Self {
        for agent in 0..self.places.len() {
            self.run_program(agent, &mut StepLog::default(), &mut Vec::new());
        }
        self
    }

    /// The agents.
    pub fn agents(&self) -> impl Iterator<Item = &Member> {
        self.agents.iter().map(|agent| &**agent)
    }

    pub(super) fn name(&self, agent: usize) -> &str {
        &self.setup.names[agent]
    }

    pub(super) fn config(&self, agent: usize) -> &CoherenceConfig {
        self.setup.config(agent)
    }

    pub(super) fn checks_orders(&self) -> bool {
        self.setup.orders
    }

    pub(super) fn runs_programs(&self) -> bool {
        self.setup.runs_programs
    }

    /// Where the program of an agent stands; `None`: the agents are free.
    pub(super) fn place(&self, agent: usize) -> Option<ProgramPlace> {
        self.places.get(agent).copied()
    }

    /// Messages of a direction of a link.
    pub(super) fn under_way(&self, link: usize, dir: Dir) -> &[Msg<LineToken>] {
        self.net.of(link, dir)
    }

    /// Messages that an agent has sent through a port.
    pub(super) fn sent(&self, agent: usize, port: AgentPort) -> &[Msg<LineToken>] {
        let (link, dir) = self.setup.port(agent, port);
        self.net.of(link, dir)
    }

    /// The link behind a port of a home, and the direction towards the home.
    pub(super) fn toward_home(&self, home: usize, port: AgentPort) -> (usize, Dir) {
        let (link, dir) = self.setup.port(home, port);
        (link, back(dir))
    }

    fn way(&self, home: usize, port: AgentPort) -> &PortHolder {
        &self.setup.holders(home)[usize::from(port)]
    }

    /// Who stands behind a port of a home.
    pub(super) fn holder(&self, home: usize, port: AgentPort) -> (usize, &Member) {
        let agent = self.way(home, port).agent;
        (agent, &self.agents[agent])
    }

    /// The memory of a home that has none of its own.
    pub(super) fn memory_of(&self, home: usize) -> Option<&MemoryPart> {
        match &*self.agents[self.setup.memory_of(home)?] {
            Member::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// Whether a home has no such line: it answers with an error, or the memory behind its port does.
    pub(super) fn is_absent(&self, home: usize, line: LineAddr) -> bool {
        let is_outside = |memory: usize| self.config(memory).mem.is_outside(line);
        self.config(home).error_of(line).is_some() || self.setup.memory_of(home).is_some_and(is_outside)
    }

    /// Messages of a home on their way to the holder behind a port, the nearest one first.
    pub(super) fn coming(&self, home: usize, port: AgentPort) -> impl Iterator<Item = &Msg<LineToken>> + Clone {
        self.way(home, port).way.iter().flat_map(|&(link, dir)| self.net.of(link, dir))
    }

    /// The value of the last store in coherence order.
    fn newest(&self, line: LineAddr) -> LineToken {
        LineToken::of(line, Age::Current).poisoned(self.poisoned.has(line))
    }

    fn home_of(&self, line: LineAddr) -> usize {
        self.setup.lines[line.0 as usize]
    }

    /// The view of a line that the monitors ask for.
    pub fn view(&self, line: LineAddr) -> View<LineToken> {
        let home = self.home_of(line);
        let owner = self.agents[home].owner().expect("the home of a line owns lines");
        let below = self.setup.below(home);
        let around = || below.iter().map(|(_, holder)| holder.agent).chain([home]);
        let counted = self.counted(home);
        let messages = self.net.iter().filter(|(_, m)| counted(m));
        let under_way = messages.filter_map(|(_, m)| m.data().copied()).filter(|value| of_line(value, line));
        // A write that the home answers with an error is aborted, and its data may be dropped (§2.2). It is not lost.
        let is_aborted = matches!(*self.agents[home], Member::CacheHome(_)) && self.is_absent(home, line);
        let aborted = is_aborted.then(|| self.newest(line));
        let kept = around().flat_map(|agent| self.agents[agent].part().kept(self.site(agent), line));
        let copies = around().filter_map(|agent| self.agents[agent].part().copy(self.site(agent), line));
        let mut between = around().filter(|&agent| agent != home && !self.setup.holders(agent).is_empty()).peekable();
        let levels = match between.peek() {
            None => Vec::new(),
            Some(_) => std::iter::once(home).chain(between).map(|level| self.level(home, level, line)).collect(),
        };
        View {
            line,
            newest: self.newest(line),
            home: owner.memory(self, self.site(home), line),
            copies: copies.collect(),
            in_flight: under_way.chain(kept).chain(aborted).collect(),
            // The home knows its own copy.
            tracked: self.tracked(home, line).with(home as AgentPort),
            levels,
        }
    }

    /// One level below the root `root`: that of the home `home`, which may be the root itself.
    fn level(&self, root: usize, home: usize, line: LineAddr) -> LevelView<LineToken> {
        let (part, site, holders) = (self.agents[home].part(), self.site(home), self.setup.holders(home));
        let counted = self.counted(root);
        let links =
            holders.iter().flat_map(|holder| &holder.way).flat_map(|&(link, dir)| [(link, dir), (link, back(dir))]);
        let messages = links.flat_map(|(link, dir)| self.net.of(link, dir)).filter(|m| counted(m));
        let under_way = messages.filter_map(|m| m.data().copied()).filter(|value| of_line(value, line));
        let of_holder = |holder: &PortHolder| self.agents[holder.agent].part().kept(self.site(holder.agent), line);
        let kept = holders.iter().flat_map(of_holder).chain(part.kept(site, line));
        let agents: IdSet = holders.iter().map(|holder| holder.agent as AgentPort).collect();
        let tracked = self.tracked(home, line);
        let in_flight = under_way.chain(kept).collect();
        match self.agents[home].owner().filter(|_| home == root) {
            // The root has a copy of its own, which it knows.
            Some(owner) => LevelView {
                home,
                agents: agents.with(home as AgentPort),
                tracked: tracked.with(home as AgentPort),
                holds: Copy4::M,
                value: Some(owner.memory(self, site, line)),
                in_flight,
            },
            None => {
                let (holds, value) = part.between(line);
                LevelView { home, agents, tracked, holds, value, in_flight }
            }
        }
    }

    /// Whether the data of a message will count when it arrives, in the system of a root.
    fn counted(&self, root: usize) -> impl Fn(&Msg<LineToken>) -> bool + Copy + use<> {
        let dirty_answers = self.config(root).mem.cmp_m;
        move |m| match m {
            Msg::D2hData { bogus, .. } => !bogus,
            Msg::H2dData { .. } => true,
            Msg::M2sRwd { opcode, .. } => *opcode != M2sRwdOpcode::BIConflict,
            Msg::S2mDrs { .. } => dirty_answers,
            _ => false,
        }
    }

    /// Whom a home takes for holders, of those directly below it.
    fn tracked(&self, home: usize, line: LineAddr) -> IdSet {
        let (holders, known) = (self.setup.holders(home), self.agents[home].tracked(line));
        let mut tracked: IdSet = known.iter().map(|port| holders[usize::from(port)].agent as AgentPort).collect();
        for (port, holder) in (0..).zip(holders) {
            // O12: tracking ends when the final GO of an evict is sent, the copy when it arrives.
            let evicting = self.agents[holder.agent].cache().and_then(|cache| cache.entry(line));
            if let Some(entry) = evicting.filter(|entry| entry.at.is_evicting()) {
                let ends =
                    |m: &Msg<LineToken>| matches!(m, Msg::H2dRsp { cqid, .. } if *cqid == entry.cqid) && m.bears_go();
                if self.coming(home, port).any(ends) {
                    tracked.insert(holder.agent as AgentPort);
                }
            }
        }
        tracked
    }

    /// Whose step a move is, and what it does. The message is still where it was.
    pub(super) fn deed(&self, mv: CompositeMove) -> (usize, Deed, u8) {
        match mv {
            CompositeMove::Deliver { link, dir, index, way } => {
                let link = usize::from(link);
                let (agent, port) = self.setup.receiver(link, dir);
                (agent, Deed::Took(port, self.net.of(link, dir)[usize::from(index)]), way)
            }
            CompositeMove::Begin { agent, operation } => (agent.into(), Deed::Began(operation), 0),
        }
    }

    /// Makes a move; returns whose step it is and what a program did in it.
    fn perform(
        &mut self,
        mv: CompositeMove,
        log: &mut StepLog<'_>,
        events: &mut Vec<CoherenceEvent>,
    ) -> (usize, Vec<&'static str>) {
        let setup = Arc::clone(&self.setup);
        let (agent, mut deed, way) = self.deed(mv);
        let site = setup.site(agent);
        let mut passes = None;
        if let CompositeMove::Deliver { link, dir, index, .. } = mv {
            let (link, index) = (usize::from(link), usize::from(index));
            passes = self.net.overtakes(link, dir, index).filter(|_| setup.orders);
            self.net.remove(link, dir, index);
        }
        let before = (setup.orders && passes.is_none()).then(|| self.agents[agent].clone());
        let write = self.agents[agent].part().write_of(site, &deed);
        let mut out = AgentOutput::default();
        match log.wrong {
            None => self.agents[agent].part_mut().act(site, &deed, way, &mut out),
            Some(wrong) => log.was_wrong = self.act_wrongly(agent, &mut deed, way, wrong, &mut out),
        }
        if let (Some(rule), Deed::Took(_, msg)) = (passes, &deed) {
            out.events.push(overtaken(rule, msg));
        }
        if let Some(before) = before {
            let mut found = Vec::new();
            self.agents[agent].check_step(site, &before, &deed, &out, &mut found);
            out.events.append(&mut found);
        }
        let stored = out.effects.iter().any(|effect| matches!(effect, Effect::Stored(_)));
        log.stores_part = matches!(deed, Deed::Began(Operation::StoreResult { .. }));
        self.settle(agent, write, &mut out, log, events);
        log.stores_part = false;
        if !setup.runs_programs {
            while self.agents[agent].part_mut().follow_up(site, &mut out) {
                self.settle(agent, write, &mut out, log, events);
            }
            if setup.menu.atomics.is_some() {
                self.agents[agent].part_mut().gives_up(site);
            }
            self.agents[agent].part_mut().check_after(site, events);
            return (agent, Vec::new());
        }
        let mut did = Vec::new();
        if stored && self.agents[agent].part().takes_store_along() {
            self.places[agent].0 += 1;
            did.push("Store");
        }
        did.extend(self.run_program(agent, log, events));
        (agent, did)
    }

    /// A step of an agent that is wrong; `false`: nothing in it can be wrong so. What the agent begins becomes what it sends.
    fn act_wrongly(
        &mut self,
        agent: usize,
        deed: &mut Deed,
        way: u8,
        wrong: WrongStep,
        out: &mut AgentOutput<LineToken>,
    ) -> bool {
        let setup = Arc::clone(&self.setup);
        let site = setup.site(agent);
        let before = self.agents[agent].clone();
        match (wrong, &mut *deed) {
            (WrongStep::Sends(class, alteration), deed) => {
                self.agents[agent].part_mut().act(site, deed, way, out);
                let is_changed = alter_one(&mut out.sends, class, alteration);
                if let (Deed::Began(Operation::Request { opcode, .. }), Some((_, Msg::D2hReq { opcode: sent, .. }))) =
                    (deed, out.sends.first())
                {
                    *opcode = *sent;
                }
                is_changed
            }
            (WrongStep::Takes(_, alteration), Deed::Took(port, msg)) => {
                for new in alteration.of(msg).unwrap_or_default() {
                    self.agents[agent].part_mut().act(site, &Deed::Took(*port, new), way, out);
                }
                true
            }
            (WrongStep::Stays(_), deed) => {
                self.agents[agent].part_mut().act(site, deed, way, out);
                std::mem::replace(&mut self.agents[agent], before.clone()) != before
            }
            (WrongStep::Stores(_), Deed::Began(Operation::Store { line })) => {
                let value = LineToken::of(*line, Age::New);
                self.agents[agent].preset(*line, value, Copy4::M, value);
                out.effects.push(Effect::Stored(*line));
                true
            }
            (WrongStep::Drops(_), Deed::Began(Operation::Drop { line })) => {
                let value = LineToken::of(*line, Age::Stale);
                self.agents[agent].preset(*line, value, Copy4::I, value);
                true
            }
            (WrongStep::Asks(opcode), Deed::Began(Operation::Request { line, .. })) => {
                out.send(0, Msg::D2hReq { opcode, line: *line, cqid: WRONG_CQID });
                true
            }
            (_, deed) => {
                self.agents[agent].part_mut().act(site, deed, way, out);
                true
            }
        }
    }

    /// All that the program of an agent can do now. Returns what it did.
    fn run_program(
        &mut self,
        agent: usize,
        log: &mut StepLog<'_>,
        events: &mut Vec<CoherenceEvent>,
    ) -> Vec<&'static str> {
        let setup = Arc::clone(&self.setup);
        let site = setup.site(agent);
        let (mut did, mut out) = (Vec::new(), AgentOutput::default());
        while let Some(done) = self.agents[agent].part_mut().advance(site, &mut self.places[agent], &mut out) {
            did.push(done.text);
            self.loads.get_mut(agent).into_iter().for_each(|loads| loads.extend(done.loaded));
            out.events.extend(done.loaded.and_then(|poison| self.poisoned.loaded(LineAddr(0), poison)));
            self.settle(agent, (site.poisons(), done.enables), &mut out, log, events);
        }
        did
    }

    /// Makes what a step has produced true everywhere, and sends what was sent. `write`: poison and byte enables of a write that
    /// the step has brought to memory.
    fn settle(
        &mut self,
        agent: usize,
        write: (bool, u64),
        out: &mut AgentOutput<LineToken>,
        log: &mut StepLog<'_>,
        events: &mut Vec<CoherenceEvent>,
    ) {
        let setup = Arc::clone(&self.setup);
        let site = setup.site(agent);
        for effect in std::mem::take(&mut out.effects) {
            log.has_stored |= matches!(effect, Effect::Stored(_) | Effect::Written(_));
            match effect {
                Effect::Used { line, value, current } => {
                    let newest = self.newest(line);
                    out.events.extend(self.agents[agent].part_mut().used(site, line, (value, current), newest));
                }
                Effect::Refused(line) => self.agents[agent].part_mut().refused(line),
                Effect::Done(line) => self.agents[agent].part_mut().done(line),
                // Nothing but memory is behind a home of these systems.
                Effect::ChangedBehind(_) => (),
                Effect::Stored(_) => {
                    let own = || self.agents[agent].part().store_enables(site, effect.line());
                    let enables = if log.stores_part { 1 } else { own() };
                    self.place_store(agent, &effect, (site.poisons(), enables), out);
                }
                Effect::Written(_) => self.place_store(agent, &effect, write, out),
            }
        }
        for (port, msg) in out.sends.drain(..) {
            let (link, dir) = setup.port(agent, port);
            if let Some(sent) = &mut log.sent {
                let (to, _) = setup.receiver(link, dir);
                sent.push(SentMessage { from: agent, to, label: msg.label(), message: shown(&msg) });
            }
            self.net.send_on(link, dir, msg);
        }
        events.append(&mut out.events);
    }

    /// One write more is in coherence order: every other value of the line grows old.
    fn place_store(
        &mut self,
        agent: usize,
        effect: &Effect<LineToken>,
        (poison, enables): (bool, u64),
        out: &mut AgentOutput<LineToken>,
    ) {
        let line = effect.line();
        // A copy that has gone in the same step is on its way.
        let sent = out.sends.iter().rev().find_map(|(_, m)| m.data()).copied();
        let placed = self.agents[agent].part().placed(effect).or(sent);
        out.events.extend(self.poisoned.stored(line, poison, enables, placed.as_ref()));
        out.events.extend(placed.and_then(|value| lost_atomic(line, self.name(agent), &value)));
        let mut old = |value: &mut LineToken| value.grow_old(line);
        for part in self.agents.iter_mut().map(|agent| agent.part_mut()) {
            part.visit(&mut old);
            part.stored_somewhere(line);
        }
        self.net.visit(&mut old);
        out.sends.iter_mut().filter_map(|(_, m)| m.data_mut()).for_each(&mut old);
        let mut settle = |value: &mut LineToken| {
            if u64::from(value.line) == line.0 {
                value.settle();
            }
        };
        self.agents[agent].part_mut().settle(effect, &mut settle);
        // The value may already be in a message of the same step.
        out.sends.iter_mut().filter_map(|(_, m)| m.data_mut()).for_each(&mut settle);
    }

    fn site(&self, agent: usize) -> AgentSite<'_> {
        self.setup.site(agent)
    }

    /// In how many ways the receiver of a message takes it now; `None`: it keeps it waiting.
    pub(super) fn is_accepted(&self, link: usize, dir: Dir, msg: &Msg<LineToken>) -> Option<u8> {
        let (agent, port) = self.setup.receiver(link, dir);
        let (part, site) = (self.agents[agent].part(), self.site(agent));
        (part.accepts(site, port, msg) == Accept::Take).then(|| part.ways(site, port, msg))
    }
}

impl ExploredSystem for Composite {
    type Move = CompositeMove;

    fn columns(&self) -> Vec<String> {
        self.setup.names.clone()
    }

    fn moves(&self, out: &mut Vec<CompositeMove>) {
        for link in 0..self.setup.links.len() {
            for dir in [Dir::Down, Dir::Up] {
                let (receiver, _) = self.setup.receiver(link, dir);
                for (index, msg) in self.net.of(link, dir).iter().enumerate() {
                    if !self.net.is_free(self.config(receiver), link, dir, index) {
                        continue;
                    }
                    let ways = self.is_accepted(link, dir, msg).unwrap_or(0);
                    let (link, index) = (link as u16, index as u8);
                    out.extend((0..ways).map(|way| CompositeMove::Deliver { link, dir, index, way }));
                }
            }
        }
        let mut operations = Vec::new();
        for (agent, member) in self.agents.iter().enumerate() {
            member.part().operations(self, self.site(agent), &mut operations);
            let agent = agent as u16;
            out.extend(operations.drain(..).map(|operation| CompositeMove::Begin { agent, operation }));
        }
    }

    fn fairness(&self, mv: CompositeMove) -> Fairness {
        match mv {
            CompositeMove::Deliver { .. } => Fairness::Strong,
            CompositeMove::Begin { agent, operation } => self.agents[usize::from(agent)].part().fairness(operation),
        }
    }

    fn action(&self, mv: CompositeMove) -> u128 {
        match mv {
            CompositeMove::Deliver { link, dir, index, .. } => {
                let link = usize::from(link);
                delivery(link, dir, &self.net.of(link, dir)[usize::from(index)])
            }
            // Any request for the access is one.
            CompositeMove::Begin { agent, operation: Operation::Read { line, .. } } => {
                fingerprint(&("asks", agent, line))
            }
            CompositeMove::Begin { agent, operation: Operation::Store { line } } => {
                fingerprint(&("stores", agent, line))
            }
            CompositeMove::Begin { agent, operation: Operation::Load { line } } => fingerprint(&("loads", agent, line)),
            CompositeMove::Begin { agent, operation: Operation::Choose(choice) } => {
                fingerprint(&("chooses", agent, choice))
            }
            CompositeMove::Begin { .. } => 0,
        }
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        for (agent, member) in self.agents.iter().enumerate() {
            let mut wait = |awaited: Awaited, line| out.push(AgentWait { agent, awaited, line });
            member.part().waits(self.site(agent), self.place(agent), &mut wait);
        }
    }

    fn apply(&mut self, mv: CompositeMove, events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        let first = events.len();
        let mut log = StepLog::default();
        let (agent, _) = self.perform(mv, &mut log, events);
        name_invariants(events, first);
        (!log.has_stored).then_some(agent)
    }

    fn commuted(&self, mv: CompositeMove, agent: usize, after: &Self) -> Option<CompositeMove> {
        let CompositeMove::Deliver { link, dir, index, way } = mv else { return None };
        let (receiver, _) = self.setup.receiver(link.into(), dir);
        // The message is where it was, or behind others that have come meanwhile.
        let msg = self.net.of(link.into(), dir)[usize::from(index)];
        let index = after.net.of(link.into(), dir).iter().position(|other| *other == msg)?;
        (receiver != agent).then_some(CompositeMove::Deliver { link, dir, index: index as u8, way })
    }

    fn describe(&self, mv: CompositeMove) -> ChartStep {
        self.told(mv, None)
    }

    fn check(&self, events: &mut Vec<CoherenceEvent>) {
        let first = events.len();
        for line in self.setup.all_lines() {
            let home = self.home_of(line);
            self.agents[home].owner().into_iter().for_each(|owner| owner.check(self, self.site(home), line, events));
        }
        for (agent, member) in self.agents.iter().enumerate().filter(|_| self.setup.orders) {
            member.owner().into_iter().for_each(|owner| owner.check_held(self, self.site(agent), events));
        }
        name_invariants(events, first);
    }

    fn outcome(&self) -> String {
        let line = LineAddr(0);
        let cached = || self.agents.iter().enumerate().filter_map(|(n, a)| Some((n, a.part().letter(line)?)));
        let letters: String = cached().map(|(_, letter)| letter).collect();
        let home = self.home_of(line);
        let memory = self.agents[home].owner().map(|owner| owner.memory(self, self.site(home), line));
        let memory = memory.unwrap_or_else(|| self.newest(line));
        let loads: Vec<Vec<bool>> = cached().filter_map(|(n, _)| self.loads.get(n).cloned()).collect();
        let poison = (!self.setup.poisoners.is_empty()).then_some((memory.poison, loads.as_slice()));
        outcome(&letters, memory.age == Age::Current, poison)
    }

    fn is_idle(&self) -> bool {
        self.net.is_empty() && self.agents.iter().all(|member| member.part().is_idle())
    }

    fn check_idle(&self, events: &mut Vec<CoherenceEvent>) {
        for line in self.setup.all_lines() {
            let home = self.home_of(line);
            let owner = self.agents[home].owner();
            owner.into_iter().for_each(|owner| owner.check_idle(self, self.site(home), line, events));
        }
    }

    /// Holders of one home that are alike are sorted by all that the system knows of them.
    fn canonical(self, moves: &mut [CompositeMove]) -> Self {
        let setup = Arc::clone(&self.setup);
        setup.alike().fold(self, |system, home| super::symmetry::sorted(system, home, moves))
    }

    fn apart(&self, beside: Option<&Self>) -> Self {
        let setup = beside.map_or_else(|| Arc::new((*self.setup).clone()), |state| Arc::clone(&state.setup));
        Self { setup, agents: self.agents.iter().map(SharedState::apart).collect(), ..self.clone() }
    }

    fn has_symmetry(&self) -> bool {
        self.setup.alike().next().is_some()
    }
}

fn of_line(value: &LineToken, line: LineAddr) -> bool {
    u64::from(value.line) == line.0
}

impl Composite {
    /// A step in words, as it should be or wrong.
    fn told(&self, mv: CompositeMove, wrong: Option<WrongStep>) -> ChartStep {
        let mut sent = Vec::new();
        let mut log = StepLog { sent: Some(&mut sent), wrong, ..StepLog::default() };
        let did = self.clone().perform(mv, &mut log, &mut Vec::new()).1.into_iter().map(str::to_owned).collect();
        match (mv, self.deed(mv)) {
            (CompositeMove::Deliver { link, dir, .. }, (to, Deed::Took(_, msg), _)) => {
                let from = self.setup.sender(link.into(), dir);
                ChartStep::Deliver { from, to, label: msg.label(), message: shown(&msg), did, sent }
            }
            (CompositeMove::Begin { agent, operation }, _) => {
                ChartStep::Act { agent: agent.into(), text: operation.text(), line: operation.line(), sent }
            }
            (CompositeMove::Deliver { .. }, (agent, Deed::Began(_), _)) => {
                ChartStep::Act { agent, text: String::new(), line: None, sent }
            }
        }
    }

    /// A wrong step in words.
    pub(super) fn describe_wrongly(&self, mv: CompositeMove, wrong: WrongStep) -> ChartStep {
        self.told(mv, Some(wrong))
    }

    /// Makes a move wrongly; `false`: nothing in it can be wrong so.
    pub(super) fn apply_wrongly(
        &mut self,
        mv: CompositeMove,
        wrong: WrongStep,
        events: &mut Vec<CoherenceEvent>,
    ) -> bool {
        let first = events.len();
        let mut log = StepLog { wrong: Some(wrong), ..StepLog::default() };
        self.perform(mv, &mut log, events);
        name_invariants(events, first);
        log.was_wrong
    }

    /// Whether no message that it must stay behind is in front of a message.
    pub(super) fn is_free(&self, link: usize, dir: Dir, index: usize) -> bool {
        let (receiver, _) = self.setup.receiver(link, dir);
        self.net.is_free(self.config(receiver), link, dir, index)
    }

    pub(super) fn links(&self) -> usize {
        self.setup.links.len()
    }

    /// Other messages take the place of one that is under way.
    pub(super) fn replace(&mut self, link: usize, dir: Dir, index: usize, new: Vec<Msg<LineToken>>) {
        self.net.replace(link, dir, index, new);
    }

    pub(super) fn setup(&self) -> &Arc<Setup> {
        &self.setup
    }
}
