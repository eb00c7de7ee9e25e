//! Hosts and one HDM-DB device with every order of their messages, for the exploration.
//!
//! Modelled: all requests, write backs, evictions, drops, loads and stores of each host and of the device's own cache, at
//! any time that their start state allows. Detail: one state of the search is all agents and all messages under way.
//! Left out: time and credits.

use crate::explore::fingerprint::fingerprint;
use crate::explore::system::{Sent, outcome};
use crate::explore::{Awaited, Fairness, Step, System, Wait, delivery};
use crate::net::Net;
use scalepool_coherence::agent::{Accept, Agent, Effect, Out};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Age, Content, LineAddr, Token, WHOLE_LINE};
use scalepool_coherence::event::Event;
use scalepool_coherence::ids::{IdSet, Port};
use scalepool_coherence::mem::dcoh::{Dcoh, DeviceOp};
use scalepool_coherence::mem::filter::Holders;
use scalepool_coherence::mem::host::{HostAccess, HostReq, MemHost, block_lines};
use scalepool_coherence::mem::host_rows::Phase;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::shown;
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{
    CopyView, DcohStep, DcohWatch, MemHostWatch, PoisonedLines, View, check_copies, misled, name_invariants, overtaken,
};
use scalepool_coherence::mutant::Mutant;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An operation of a host's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A request of §3.2.
    Request(HostReq),
    /// MemWr of a dirty line, of which nothing is kept.
    WriteBack,
    /// Needs a valid copy.
    Load,
    /// Needs E or M.
    Store,
}

impl Act {
    /// The access for which a request is made when this operation comes next.
    pub fn want(next: Option<&Self>) -> HostAccess {
        match next {
            Some(Act::Load) => HostAccess::Load,
            Some(Act::Store) => HostAccess::Store,
            _ => HostAccess::Nothing,
        }
    }
}

/// Does or begins the operation of a host's program at `at` on line 0, if it is possible now: an operation is issued as
/// soon as its start state holds. `at` is the number of the next operation and whether ownership has been asked for
/// and not given up, so that a store which lost it asks again. `poison` is that of its stores. Returns what was done and,
/// of a load, whether it got poison.
pub fn advance_host(
    config: &CoherenceConfig,
    host: &mut MemHost<Token>,
    program: &[Act],
    at: &mut (u8, bool),
    poison: bool,
    out: &mut Out<Token>,
) -> Option<(&'static str, Option<bool>)> {
    let line = LineAddr(0);
    let next = usize::from(at.0);
    // An access waits for the end of the request before it, also where the old copy would allow it.
    let may_access = host.phase(line) == Phase::Idle || host.due(line) != HostAccess::Nothing;
    match *program.get(next)? {
        Act::Load | Act::Store if !may_access => None,
        Act::Request(req) if host.can_issue(line, req) => {
            host.issue(line, req, Act::want(program.get(next + 1)), out);
            *at = (at.0 + 1, req.asks_ownership() || at.1 && req != HostReq::CLN_EVCT);
            Some((req.opcode.name()?, None))
        }
        Act::WriteBack if host.can_write_back(line) => {
            host.write_back(line, Copy4::I, out);
            *at = (at.0 + 1, false);
            Some(("MemWr", None))
        }
        Act::Load if host.can_load(line) => {
            let poison = host.load(config, line, out).is_some_and(|value| value.poison);
            at.0 += 1;
            Some((if poison { "Load, poisoned" } else { "Load" }, Some(poison)))
        }
        Act::Store if host.store(config, line, Token::of(line, Age::New).poisoned(poison), WHOLE_LINE, out) => {
            at.0 += 1;
            Some(("Store", None))
        }
        // Ownership that was refused is not lost: the store waits for ever.
        Act::Store
            if at.1
                && host.copy(line).state < Copy4::E
                && !config.mem.is_outside(line)
                && host.can_issue(line, HostReq::RD_ANY) =>
        {
            host.issue(line, HostReq::RD_ANY, HostAccess::Store, out);
            Some(("Store asks again", None))
        }
        _ => None,
    }
}

/// The access that comes next in a host's program and waits for what was asked for it: a store for ownership, which it asks
/// for again when it was lost, a load for the bytes of a line that was granted without them.
pub fn program_wait(
    config: &CoherenceConfig,
    host: &MemHost<Token>,
    program: &[Act],
    (next, asked): (u8, bool),
) -> Option<Awaited> {
    let copy = host.copy(LineAddr(0));
    match program.get(usize::from(next))? {
        Act::Store if asked && !config.mem.is_outside(LineAddr(0)) => Some(Awaited::Store),
        Act::Load if copy.state != Copy4::I && copy.data.is_none() => Some(Awaited::Load),
        _ => None,
    }
}

/// What an exploration may do; no part of a state.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration of all agents.
    pub config: CoherenceConfig,
    /// Hosts, at least 1. Their lines together are at most 65,536.
    pub hosts: Port,
    /// Lines 0 to n-1.
    pub lines: u8,
    /// Requests of the hosts.
    pub requests: Vec<HostReq>,
    /// What a MemWr may keep; empty: no write backs of their own.
    pub write_backs: Vec<Copy4>,
    /// Whether hosts store into copies that they own.
    pub stores: bool,
    /// Accesses for which ownership is asked.
    pub wants: Vec<HostAccess>,
    /// Whether hosts drop clean copies.
    pub drops: bool,
    /// Operations of the device's own cache.
    pub device: Vec<DeviceOp>,
    /// Operations of the device on a block of lines, and its enable.
    pub blocks: Vec<(DeviceOp, u8)>,
    /// Programs, one a host, on line 0; empty when the hosts are free.
    pub programs: Vec<Vec<Act>>,
    /// Hosts that are direct peers.
    pub peers: IdSet,
    /// Check every step (V5 to V8) too, not only states and values.
    pub orders: bool,
    /// Agents whose stores and writes are poisoned, the device behind the hosts; an M copy of the start is a store.
    pub poisoners: IdSet,
}

impl Setup {
    fn poisons(&self, agent: usize) -> bool {
        self.poisoners.has(agent as Port)
    }

    /// What an agent stores: the whole line, and a part of it for a peer over UIO.
    fn new_value(&self, agent: usize, line: LineAddr) -> Token {
        Token::of(line, Age::New).poisoned(self.poisons(agent))
    }

    /// Everything on one line.
    pub fn everything(config: CoherenceConfig, hosts: Port) -> Self {
        Self {
            config,
            hosts,
            lines: 1,
            requests: HostReq::ALL.to_vec(),
            write_backs: vec![Copy4::I, Copy4::S, Copy4::E],
            stores: true,
            wants: vec![HostAccess::Nothing, HostAccess::Store],
            drops: true,
            device: vec![DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict],
            blocks: Vec::new(),
            programs: Vec::new(),
            peers: IdSet::EMPTY,
            orders: true,
            poisoners: IdSet::EMPTY,
        }
    }

    /// Two lines that share the one entry of a filter.
    pub fn one_entry(mut config: CoherenceConfig) -> Self {
        config.mem.filter_sets = 1;
        config.mem.filter_ways = 1;
        Self { lines: 2, ..Self::owners(config, 2) }
    }

    /// The device takes blocks of two lines back while hosts own them.
    pub fn blocks(config: CoherenceConfig, hosts: Port, ops: &[DeviceOp]) -> Self {
        Self { lines: 2, blocks: ops.iter().map(|&op| (op, 1)).collect(), ..Self::owners(config, hosts) }
    }

    /// Two hosts, of which one may be a direct peer, and accesses of UIO at any time.
    pub fn uio(config: CoherenceConfig) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::CLN_EVCT],
            device: vec![DeviceOp::UioRead, DeviceOp::UioWrite],
            ..Self::core(config, 2)
        }
    }

    /// Hosts that ask for ownership to load and to store; every access waits until it is made.
    pub fn waiting_accesses(config: CoherenceConfig, hosts: Port) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::INV],
            wants: vec![HostAccess::Load, HostAccess::Store],
            ..Self::core(config, hosts)
        }
    }

    /// Hosts that ask for ownership and store, and do nothing else.
    fn owners(config: CoherenceConfig, hosts: Port) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY],
            write_backs: Vec::new(),
            stores: false,
            wants: vec![HostAccess::Store],
            ..Self::core(config, hosts)
        }
    }

    /// The core of the protocol on one line: reads, ownership, evictions, stores.
    pub fn core(config: CoherenceConfig, hosts: Port) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::INV, HostReq::CLN_EVCT],
            write_backs: vec![Copy4::I],
            drops: false,
            device: Vec::new(),
            ..Self::everything(config, hosts)
        }
    }
}

/// One move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Message `index` of a lane is delivered and taken in way `way`.
    Deliver {
        /// Link, which is the host's number.
        link: Port,
        /// Direction.
        dir: Dir,
        /// Place in its lane.
        index: u8,
        /// Which of the legal ways.
        way: u8,
    },
    /// A host issues a request of the setup.
    Issue {
        /// Host.
        host: Port,
        /// Line.
        line: u8,
        /// Index into the requests.
        request: u8,
        /// Access that it is for.
        want: HostAccess,
    },
    /// A host writes a dirty line back.
    WriteBack {
        /// Host.
        host: Port,
        /// Line.
        line: u8,
        /// What it keeps.
        kept: Copy4,
    },
    /// A host stores into its copy.
    Store {
        /// Host.
        host: Port,
        /// Line.
        line: u8,
    },
    /// A host makes a load that waits.
    Load {
        /// Host.
        host: Port,
        /// Line.
        line: u8,
    },
    /// A host drops a clean copy.
    Drop {
        /// Host.
        host: Port,
        /// Line.
        line: u8,
    },
    /// The device starts an operation.
    Device {
        /// Line.
        line: u8,
        /// Operation.
        op: DeviceOp,
    },
    /// The device stores into its own copy.
    DeviceStore {
        /// Line.
        line: u8,
    },
    /// The device starts a block operation.
    Block {
        /// Operation.
        op: DeviceOp,
        /// Lines, as the enable of a block at line 0.
        enable: u8,
    },
}

/// An agent before a step, with what comes; or a message that overtakes one it must not pass.
enum Watched {
    Host(Port, MemHost<Token>, Option<Msg<Token>>),
    Device(Dcoh<Token>, DcohStep<Token>),
    Passes(&'static str, Msg<Token>),
}

/// The agents and the messages under way.
#[derive(Debug, Clone)]
pub struct MemSystem {
    setup: Arc<Setup>,
    hosts: Vec<MemHost<Token>>,
    dcoh: Dcoh<Token>,
    net: Net<Token>,
    /// Places (a host's number at a line) with a store that waits to be made, and those that were granted it and have not.
    wanting: IdSet,
    unused: IdSet,
    /// The same for loads that wait to be made.
    loading: IdSet,
    /// Lines with a UIO read under way, and those of them that were stored to since it began.
    reading: IdSet,
    moved: IdSet,
    /// Programs: next operation of each host, and whether it has asked for ownership.
    at: Vec<(u8, bool)>,
    /// What the stores made of each line.
    poisoned: PoisonedLines,
    /// Programs: of each load of a host, whether it got poison. Empty where nobody poisons.
    loads: Vec<Vec<bool>>,
}

impl PartialEq for MemSystem {
    fn eq(&self, other: &Self) -> bool {
        (&self.hosts, &self.dcoh, &self.net, self.ghosts(), &self.at, &self.loads)
            == (&other.hosts, &other.dcoh, &other.net, other.ghosts(), &other.at, &other.loads)
    }
}

impl MemSystem {
    /// What the search knows besides the agents and their messages.
    fn ghosts(&self) -> ([&IdSet; 5], PoisonedLines) {
        ([&self.wanting, &self.unused, &self.loading, &self.reading, &self.moved], self.poisoned)
    }
}

impl Eq for MemSystem {}

impl Hash for MemSystem {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.hosts, &self.dcoh, &self.net, self.ghosts(), &self.at, &self.loads).hash(state);
    }
}

impl MemSystem {
    /// Nobody holds anything; memory has the newest values.
    pub fn new(setup: Setup) -> Self {
        let mut dcoh = Dcoh::new(&setup.config, setup.hosts);
        for line in (0..u64::from(setup.lines)).map(LineAddr) {
            dcoh.preset(line, Token::of(line, Age::Current), Holders::NONE);
        }
        Self {
            hosts: (0..setup.hosts).map(MemHost::new).collect(),
            dcoh,
            net: Net::new(usize::from(setup.hosts)),
            at: vec![(0, false); setup.programs.len()],
            poisoned: PoisonedLines::default(),
            loads: if setup.poisoners.is_empty() { Vec::new() } else { vec![Vec::new(); setup.programs.len()] },
            setup: Arc::new(setup),
            wanting: IdSet::EMPTY,
            unused: IdSet::EMPTY,
            loading: IdSet::EMPTY,
            reading: IdSet::EMPTY,
            moved: IdSet::EMPTY,
        }
    }

    /// One stable state a host on line 0; an M copy makes the memory's value an old one. The states go together.
    pub fn start_at(mut self, states: &[Copy4]) -> Self {
        let line = LineAddr(0);
        let mut holders = Holders::NONE;
        let dirty = states.contains(&Copy4::M);
        for (h, (host, &state)) in self.hosts.iter_mut().zip(states).enumerate() {
            if state != Copy4::I {
                let poison = state == Copy4::M && self.setup.poisons(h);
                host.preset(line, state, Token::of(line, Age::Current).poisoned(poison));
                if state == Copy4::M {
                    self.poisoned.set(line, poison);
                }
                holders = match state {
                    Copy4::S => Holders::Shared(holders.all().with(h as Port)),
                    _ => Holders::Owner(h as Port),
                };
            }
        }
        self.dcoh.preset(line, Token::of(line, if dirty { Age::Stale } else { Age::Current }), holders);
        self
    }

    /// Begins the programs.
    pub fn begin(mut self) -> Self {
        for host in 0..self.hosts.len() {
            self.run_program(host, &mut Out::default(), &mut Vec::new(), &mut Vec::new());
        }
        self
    }

    /// All that a host's program can do now. Returns what it did.
    fn run_program(
        &mut self,
        host: usize,
        out: &mut Out<Token>,
        sent: &mut Vec<Sent>,
        events: &mut Vec<Event>,
    ) -> Vec<&'static str> {
        let setup = Arc::clone(&self.setup);
        let mut did = Vec::new();
        let Some(program) = setup.programs.get(host) else { return did };
        let poison = setup.poisons(host);
        while let Some((text, loaded)) =
            advance_host(&setup.config, &mut self.hosts[host], program, &mut self.at[host], poison, out)
        {
            did.push(text);
            self.loads.get_mut(host).into_iter().for_each(|loads| loads.extend(loaded));
            out.events.extend(loaded.and_then(|poison| self.poisoned.loaded(LineAddr(0), poison)));
            self.settle(host, out, sent, events);
        }
        did
    }

    /// The hosts.
    pub fn hosts(&self) -> &[MemHost<Token>] {
        &self.hosts
    }

    /// The view that the monitors ask for.
    pub fn view(&self, line: LineAddr) -> View<Token> {
        let mut copies = Vec::new();
        for (agent, host) in self.hosts.iter().enumerate() {
            let copy = host.copy(line);
            if copy.state != Copy4::I {
                copies.push(CopyView {
                    agent,
                    usable: copy.usable,
                    writable: copy.writable,
                    dirty: copy.dirty,
                    value: copy.data.unwrap_or_else(Token::ones),
                });
            }
        }
        let device = self.hosts.len();
        let mut tracked = self.dcoh.holders(line).map_or(IdSet::EMPTY, |h| h.all());
        if let Some((state, value)) = self.dcoh.own(line) {
            let (writable, dirty) = (state >= Copy4::E, state == Copy4::M);
            copies.push(CopyView { agent: device, usable: true, writable, dirty, value });
            tracked.insert(device as Port);
        }
        let dirty_answers = self.setup.config.mem.cmp_m;
        let counts = |m: &Msg<Token>| match m {
            Msg::M2sRwd { opcode, .. } => *opcode != M2sRwdOpcode::BIConflict,
            Msg::S2mDrs { .. } => dirty_answers,
            _ => false,
        };
        let under_way = self.net.iter().filter(|(_, m)| counts(m)).filter_map(|(_, m)| m.data().copied());
        let arrived = self.hosts.iter().filter(|_| dirty_answers).filter_map(|h| h.arrived(line).copied());
        let in_flight = under_way.chain(arrived).filter(|t| u64::from(t.line) == line.0).collect();
        View { line, newest: self.newest(line), home: self.dcoh.memory(line), copies, in_flight, tracked }
    }

    /// The value of the last store in coherence order.
    fn newest(&self, line: LineAddr) -> Token {
        Token::of(line, Age::Current).poisoned(self.poisoned.has(line))
    }

    /// The value that a store or write has left where it was done; a copy that has gone in the same step is on its way.
    fn placed(&self, agent: usize, effect: &Effect<Token>, out: &Out<Token>) -> Option<Token> {
        let line = effect.line();
        let copy = match (self.hosts.get(agent), effect) {
            (Some(host), _) => host.copy(line).data,
            (None, Effect::Stored(_)) => self.dcoh.own(line).map(|(_, value)| value),
            (None, _) => Some(self.dcoh.memory(line)),
        };
        copy.or(out.sends.iter().rev().find_map(|(_, m)| m.data()).copied())
    }

    fn lines(&self) -> impl Iterator<Item = LineAddr> + use<> {
        (0..u64::from(self.setup.lines)).map(LineAddr)
    }

    /// Sends what an agent has produced and makes the effects true everywhere. `agent`: hosts, then the device.
    fn settle(&mut self, agent: usize, out: &mut Out<Token>, sent: &mut Vec<Sent>, events: &mut Vec<Event>) {
        let device = self.hosts.len();
        for effect in std::mem::take(&mut out.effects) {
            if let Effect::Done(line) = effect
                && agent != device
                && self.hosts[agent].copy(line).state >= Copy4::E
            {
                let place = self.place(agent as Port, line.0 as u8);
                if self.wanting.has(place) {
                    self.unused.insert(place);
                }
            }
            if let Effect::Used { line, value, .. } = effect
                && agent == device
                && self.reading.has(line.0 as Port)
            {
                let moved = self.moved.has(line.0 as Port);
                if let Some((rule, expected)) = misled(&value, &self.newest(line)) {
                    events.push(Event::new(rule, line, "device", format!("a read of {value:?}"), expected));
                } else if value.age != Age::Current && !moved {
                    let found = format!("a read of {value:?}");
                    events.push(Event::new("COH-INV-02", line, "device", found, "the newest value since it began"));
                }
                self.reading.remove(line.0 as Port);
                self.moved.remove(line.0 as Port);
            }
            if let Effect::Stored(line) | Effect::Written(line) = effect {
                if self.reading.has(line.0 as Port) {
                    self.moved.insert(line.0 as Port);
                }
                // Only a peer's write over UIO is one of a part.
                let enables = if matches!(effect, Effect::Written(_)) { 1 } else { WHOLE_LINE };
                let placed = self.placed(agent, &effect, out);
                events.extend(self.poisoned.stored(line, self.setup.poisons(agent), enables, placed.as_ref()));
                let mut age = |t: &mut Token| t.grow_old(line);
                self.hosts.iter_mut().for_each(|h| h.visit(&mut age));
                self.dcoh.visit(&mut age);
                self.net.visit(&mut age);
                let mut settle = |t: &mut Token| t.settle();
                // The value may already be in a message of the same step.
                out.sends.iter_mut().filter_map(|(_, m)| m.data_mut()).for_each(&mut settle);
                match self.hosts.get_mut(agent) {
                    Some(host) => host.visit(&mut settle),
                    None => self.dcoh.visit(&mut settle),
                }
            }
        }
        for (port, msg) in out.sends.drain(..) {
            let link = if agent == device { usize::from(port) } else { agent };
            let to = if agent == device { link } else { device };
            sent.push(Sent { from: agent, to, label: msg.label(), message: shown(&msg) });
            self.net.send(link, msg);
        }
        events.append(&mut out.events);
    }

    /// The core makes the access that its host has to make at once.
    fn make_due(&mut self, out: &mut Out<Token>, sent: &mut Vec<Sent>, events: &mut Vec<Event>) {
        for host in 0..self.hosts.len() {
            for line in self.lines() {
                let place = self.place(host as Port, line.0 as u8);
                match self.hosts[host].due(line) {
                    HostAccess::Store | HostAccess::StorePart => {
                        let new = self.setup.new_value(host, line);
                        self.hosts[host].store(&self.setup.config, line, new, WHOLE_LINE, out);
                        self.wanting.remove(place);
                    }
                    HostAccess::Load => {
                        self.hosts[host].load(&self.setup.config, line, out);
                        self.loading.remove(place);
                    }
                    HostAccess::Nothing => continue,
                }
                self.settle(host, out, sent, events);
            }
        }
    }

    /// The number of a host at a line.
    fn place(&self, host: Port, line: u8) -> Port {
        Port::from(line) * self.setup.hosts + host
    }

    fn has_place(&self, places: &IdSet, host: Port, line: LineAddr) -> bool {
        places.has(self.place(host, line.0 as u8))
    }

    /// The access of a host that waits.
    fn want(&self, host: Port, line: u8) -> HostAccess {
        if self.wanting.has(self.place(host, line)) {
            HostAccess::Store
        } else if self.loading.has(self.place(host, line)) {
            HostAccess::Load
        } else {
            HostAccess::Nothing
        }
    }

    /// A grant that was taken away before its access: V10.
    fn watch_grants(&mut self, events: &mut Vec<Event>) {
        for line in self.lines() {
            for host in 0..self.setup.hosts {
                let place = self.place(host, line.0 as u8);
                if !self.wanting.has(place) {
                    self.unused.remove(place);
                    continue;
                }
                if self.unused.has(place) && self.hosts[usize::from(host)].copy(line).state < Copy4::E {
                    let found = "a granted line given up before the store it was granted for";
                    for rule in ["COH-INV-10", "COH-BIC-12"] {
                        let at = format!("host {host}");
                        events.push(Event::new(rule, line, at, found, "at least one access"));
                    }
                }
            }
        }
    }

    /// What a move is about to happen to.
    fn watched(&self, mv: Move) -> Option<Watched> {
        let of_host = |host: Port, took| Some(Watched::Host(host, self.hosts[usize::from(host)].clone(), took));
        let began =
            |op, line: u64, count| Some(Watched::Device(self.dcoh.clone(), DcohStep::Began(op, LineAddr(line), count)));
        match mv {
            Move::Deliver { link, dir, index, .. } => {
                let (lane, index) = (usize::from(link), usize::from(index));
                let msg = self.net.of(lane, dir)[index];
                match (self.net.overtakes(lane, dir, index), dir) {
                    (Some(rule), _) => Some(Watched::Passes(rule, msg)),
                    (None, Dir::Down) => Some(Watched::Device(self.dcoh.clone(), DcohStep::Took(link, msg))),
                    (None, Dir::Up) => of_host(link, Some(msg)),
                }
            }
            Move::Issue { host, .. }
            | Move::WriteBack { host, .. }
            | Move::Store { host, .. }
            | Move::Load { host, .. } => of_host(host, None),
            Move::Device { line, op } => began(op, line.into(), 1),
            Move::Block { op, enable } => {
                let (first, count) = block_lines(LineAddr(enable.into()))?;
                began(op, first.0, count)
            }
            Move::Drop { .. } | Move::DeviceStore { .. } => None,
        }
    }

    /// V5 to V8: what the step breaks.
    fn check_step(&self, watched: &Watched, out: &mut Out<Token>) {
        let mut events = Vec::new();
        match watched {
            Watched::Host(host, before, took) => {
                let after = &self.hosts[usize::from(*host)];
                MemHostWatch { before, out, after }.check(took.as_ref(), &mut events);
                events.iter_mut().for_each(|e| e.at = format!("host {host}"));
            }
            Watched::Device(before, step) => {
                let (after, peers) = (&self.dcoh, &self.setup.peers);
                DcohWatch { before, out, after, peers }.check(&self.setup.config, step, &mut events);
            }
            Watched::Passes(rule, msg) => events.push(overtaken(rule, msg)),
        }
        out.events.extend(events);
    }

    /// What a device keeps waiting though it must not: RwD and BIRsp drain without a Req or a BISnp.
    fn check_held(&self, events: &mut Vec<Event>) {
        for link in 0..self.setup.hosts {
            for msg in self.net.of(link.into(), Dir::Down) {
                let (Msg::M2sRwd { .. } | Msg::M2sBirsp { .. }) = msg else { continue };
                if self.dcoh.accepts(&self.setup.config, link, msg) == Accept::Take {
                    continue;
                }
                let mut say = |rule, expected: &str| {
                    let found = format!("{} of host {link} kept waiting", msg.label());
                    events.push(Event::new(rule, msg.line(), "DCOH", found, expected));
                };
                if matches!(msg, Msg::M2sRwd { opcode, .. } if *opcode == M2sRwdOpcode::BIConflict) {
                    say("COH-BIC-01", "BIConflict on RwD, which passes what a Req waits for");
                    say("COH-BIC-02", "BIConflictAck at once");
                    continue;
                }
                say("COH-SFI-06", "RwD and BIRsp accepted while a BISnp is open");
                say("COH-DLK-15", "a sink for RwD and BIRsp without progress of Req");
                if msg.line().is_some_and(|l| self.hosts[usize::from(link)].phase(l) == Phase::WritingSnooped) {
                    say("COH-BIC-08", "the data of the write passes the open BISnp");
                }
            }
        }
    }

    /// Makes a move; returns what a program did in the same step.
    fn perform(&mut self, mv: Move, sent: &mut Vec<Sent>, events: &mut Vec<Event>) -> Vec<&'static str> {
        let setup = Arc::clone(&self.setup);
        let config = &setup.config;
        let mut out = Out::default();
        let device = self.hosts.len();
        let watched = setup.orders.then(|| self.watched(mv)).flatten();
        let agent = match mv {
            Move::Deliver { link, dir, index, way } => {
                let msg = self.net.remove(usize::from(link), dir, usize::from(index));
                match dir {
                    Dir::Down => {
                        self.dcoh.take(config, link, msg, way, &mut out);
                        device
                    }
                    Dir::Up => {
                        self.hosts[usize::from(link)].take(config, 0, msg, way, &mut out);
                        usize::from(link)
                    }
                }
            }
            Move::Issue { host, line, request, want } => {
                let req = setup.requests[usize::from(request)];
                self.hosts[usize::from(host)].issue(LineAddr(line.into()), req, want, &mut out);
                match want {
                    HostAccess::Store | HostAccess::StorePart => self.wanting.insert(self.place(host, line)),
                    HostAccess::Load => self.loading.insert(self.place(host, line)),
                    HostAccess::Nothing => {}
                }
                usize::from(host)
            }
            Move::WriteBack { host, line, kept } => {
                self.hosts[usize::from(host)].write_back(LineAddr(line.into()), kept, &mut out);
                usize::from(host)
            }
            Move::Store { host, line } => {
                let at = LineAddr(line.into());
                let new = setup.new_value(host.into(), at);
                self.hosts[usize::from(host)].store(config, at, new, WHOLE_LINE, &mut out);
                self.wanting.remove(self.place(host, line));
                usize::from(host)
            }
            Move::Load { host, line } => {
                self.hosts[usize::from(host)].load(config, LineAddr(line.into()), &mut out);
                self.loading.remove(self.place(host, line));
                usize::from(host)
            }
            Move::Drop { host, line } => {
                self.hosts[usize::from(host)].drop_clean(LineAddr(line.into()));
                usize::from(host)
            }
            Move::Device { line, op: DeviceOp::UioWrite } => {
                let at = LineAddr(line.into());
                self.dcoh.uio_write(config, at, setup.new_value(device, at), 1, &mut out);
                device
            }
            Move::Device { line, op } => {
                if op == DeviceOp::UioRead {
                    self.reading.insert(line.into());
                }
                self.dcoh.issue(config, LineAddr(line.into()), op, &mut out);
                device
            }
            Move::DeviceStore { line } => {
                let at = LineAddr(line.into());
                self.dcoh.store(at, &setup.new_value(device, at), WHOLE_LINE, &mut out);
                device
            }
            Move::Block { op, enable } => {
                self.dcoh.issue_block(config, LineAddr(enable.into()), op, &mut out);
                device
            }
        };
        if let Some(watched) = watched {
            self.check_step(&watched, &mut out);
        }
        self.settle(agent, &mut out, sent, events);
        if setup.programs.is_empty() {
            self.make_due(&mut out, sent, events);
            self.watch_grants(events);
            Vec::new()
        } else if agent != device {
            self.run_program(agent, &mut out, sent, events)
        } else {
            Vec::new()
        }
    }
}

impl System for MemSystem {
    type Move = Move;

    fn columns(&self) -> Vec<String> {
        (0..self.hosts.len()).map(|h| format!("host {h}")).chain(["device".to_owned()]).collect()
    }

    fn moves(&self, out: &mut Vec<Move>) {
        let config = &self.setup.config;
        for link in 0..self.setup.hosts {
            for dir in [Dir::Down, Dir::Up] {
                for (index, msg) in self.net.of(usize::from(link), dir).iter().enumerate() {
                    if !self.net.is_free(config, usize::from(link), dir, index) {
                        continue;
                    }
                    let host = &self.hosts[usize::from(link)];
                    let (accept, ways) = match dir {
                        Dir::Down => (self.dcoh.accepts(config, link, msg), self.dcoh.ways(config, link, msg)),
                        Dir::Up => (host.accepts(config, 0, msg), host.ways(config, 0, msg)),
                    };
                    if accept == Accept::Take {
                        let ways = if config.alternatives { ways } else { 1 };
                        out.extend((0..ways).map(|way| Move::Deliver { link, dir, index: index as u8, way }));
                    }
                }
            }
        }
        if !self.setup.programs.is_empty() {
            return;
        }
        for at in self.lines() {
            let line = at.0 as u8;
            for (h, host) in (0..self.setup.hosts).zip(&self.hosts) {
                for (r, &req) in self.setup.requests.iter().enumerate() {
                    let request = r as u8;
                    if req.opcode == M2sReqOpcode::MemSpecRd {
                        // A hint changes nothing; one under way is enough.
                        let one = self.net.of(usize::from(h), Dir::Down);
                        if host.copy(at).state == Copy4::I
                            && !one.iter().any(|m| matches!(m, Msg::M2sReq { opcode, .. } if *opcode == req.opcode))
                        {
                            out.push(Move::Issue { host: h, line, request, want: HostAccess::Nothing });
                        }
                        continue;
                    }
                    if host.can_issue(at, req) {
                        let waits = self.want(h, line);
                        let wants =
                            if req.asks_ownership() { self.setup.wants.as_slice() } else { &[HostAccess::Nothing] };
                        let open = wants.iter().filter(|w| waits == HostAccess::Nothing || **w == waits);
                        out.extend(open.map(|&want| Move::Issue { host: h, line, request, want }));
                    }
                }
                if host.can_write_back(at) {
                    out.extend(self.setup.write_backs.iter().map(|&kept| Move::WriteBack { host: h, line, kept }));
                }
                if self.setup.stores && host.can_store(at, true) {
                    out.push(Move::Store { host: h, line });
                }
                if self.want(h, line) == HostAccess::Load && host.can_load(at) {
                    out.push(Move::Load { host: h, line });
                }
                let clean = matches!(host.copy(at).state, Copy4::S | Copy4::E);
                if self.setup.drops && clean && host.phase(at) == Phase::Idle {
                    out.push(Move::Drop { host: h, line });
                }
            }
            for &op in &self.setup.device {
                if self.dcoh.can_issue(config, at, op) {
                    out.push(Move::Device { line, op });
                }
            }
            if !self.setup.device.is_empty() && self.dcoh.can_store(at) {
                out.push(Move::DeviceStore { line });
            }
        }
        for &(op, enable) in &self.setup.blocks {
            let count = if enable == 3 { 4 } else { 2 };
            let first = if enable == 2 { 2 } else { 0 };
            if (first..first + count).all(|l| self.dcoh.can_issue(config, LineAddr(l), op)) {
                out.push(Move::Block { op, enable });
            }
        }
    }

    /// Deliveries are owed strongly; what a host does for an access that waits already, weakly.
    fn fairness(&self, mv: Move) -> Fairness {
        match mv {
            Move::Deliver { .. } => Fairness::Strong,
            Move::Load { .. } => Fairness::Weak,
            Move::Issue { host, line, want, .. } if want != HostAccess::Nothing && self.want(host, line) == want => {
                Fairness::Weak
            }
            Move::Store { host, line } if self.want(host, line) == HostAccess::Store => Fairness::Weak,
            _ => Fairness::Optional,
        }
    }

    fn action(&self, mv: Move) -> u128 {
        match mv {
            Move::Deliver { link, dir, index, .. } => {
                let link = usize::from(link);
                delivery(link, dir, &self.net.of(link, dir)[usize::from(index)])
            }
            // Any request for the access is one.
            Move::Issue { host, line, .. } => fingerprint(&("asks", host, line)),
            Move::Store { host, line } => fingerprint(&("stores", host, line)),
            Move::Load { host, line } => fingerprint(&("loads", host, line)),
            _ => 0,
        }
    }

    fn waits(&self, out: &mut Vec<Wait>) {
        let config = &self.setup.config;
        for (agent, host) in self.hosts.iter().enumerate() {
            for at in self.lines() {
                let mut wait = |awaited| out.push(Wait { agent, awaited, line: Some(at) });
                if host.awaits(at) {
                    wait(Awaited::Request);
                }
                match self.want(agent as Port, at.0 as u8) {
                    HostAccess::Load => wait(Awaited::Load),
                    HostAccess::Store | HostAccess::StorePart => wait(Awaited::Store),
                    HostAccess::Nothing => {}
                }
            }
            if let Some((program, &at)) = self.setup.programs.get(agent).zip(self.at.get(agent)) {
                let waits = program_wait(config, host, program, at);
                out.extend(waits.map(|awaited| Wait { agent, awaited, line: Some(LineAddr(0)) }));
            }
        }
        let agent = self.hosts.len();
        let own = self.dcoh.own_operations();
        out.extend(own.map(|line| Wait { agent, awaited: Awaited::Request, line: Some(line) }));
    }

    fn apply(&mut self, mv: Move, events: &mut Vec<Event>) {
        let first = events.len();
        self.perform(mv, &mut Vec::new(), events);
        name_invariants(events, first);
    }

    fn describe(&self, mv: Move) -> Step {
        let mut sent = Vec::new();
        let mut after = self.clone();
        let did = after.perform(mv, &mut sent, &mut Vec::new());
        let did = did.into_iter().map(str::to_owned).collect();
        let device = self.hosts.len();
        match mv {
            Move::Deliver { link, dir, index, .. } => {
                let msg = &self.net.of(usize::from(link), dir)[usize::from(index)];
                let host = usize::from(link);
                let (from, to) = if dir == Dir::Down { (host, device) } else { (device, host) };
                Step::Deliver { from, to, label: msg.label(), message: shown(msg), did, sent }
            }
            Move::Issue { host, request, want, .. } => {
                let opcode = self.setup.requests[usize::from(request)].opcode;
                let text = match want {
                    HostAccess::Store | HostAccess::StorePart => {
                        format!("{} for a store", opcode.name().unwrap_or("?"))
                    }
                    HostAccess::Load => format!("{} for a load", opcode.name().unwrap_or("?")),
                    HostAccess::Nothing => opcode.name().unwrap_or("?").to_owned(),
                };
                Step::Act { agent: host.into(), text, sent }
            }
            Move::WriteBack { host, kept, .. } => {
                Step::Act { agent: host.into(), text: format!("MemWr, keeps {}", kept.letter()), sent }
            }
            Move::Store { host, .. } => Step::Act { agent: host.into(), text: "Store".into(), sent },
            Move::Load { host, .. } => Step::Act { agent: host.into(), text: "Load".into(), sent },
            Move::Drop { host, .. } => Step::Act { agent: host.into(), text: "drops its copy".into(), sent },
            Move::Device { op, .. } => Step::Act { agent: device, text: format!("{op:?}"), sent },
            Move::DeviceStore { .. } => Step::Act { agent: device, text: "Store".into(), sent },
            Move::Block { op, .. } => Step::Act { agent: device, text: format!("{op:?} of a block"), sent },
        }
    }

    fn check(&self, events: &mut Vec<Event>) {
        for line in self.lines() {
            // V12: with a filter of limited size a held line without an entry is a victim that left too early.
            let held = self.hosts.iter().position(|h| h.copy(line).state != Copy4::I);
            if self.setup.config.mem.filter_sets != 0
                && self.dcoh.holders(line).is_none()
                && let Some(host) = held
            {
                let at = format!("host {host}");
                events.push(Event::new(
                    "COH-INV-12",
                    line,
                    at,
                    "a copy without a filter entry",
                    "a filter entry for every copy",
                ));
            }
            check_copies(&self.view(line), events);
        }
        if self.setup.orders {
            self.check_held(events);
        }
    }

    fn outcome(&self) -> String {
        let line = LineAddr(0);
        let letters: String = self.hosts.iter().map(|h| h.copy(line).state.letter()).collect();
        let memory = self.dcoh.memory(line);
        let poison = (!self.setup.poisoners.is_empty()).then_some((memory.poison, self.loads.as_slice()));
        outcome(&letters, memory.age == Age::Current, poison)
    }

    fn is_idle(&self) -> bool {
        self.net.is_empty() && self.dcoh.is_idle() && self.hosts.iter().all(Agent::is_idle)
    }

    fn check_idle(&self, events: &mut Vec<Event>) {
        for line in self.lines() {
            let view = self.view(line);
            let dirty = view.copies.iter().any(|c| c.dirty);
            if !dirty && view.home != view.newest {
                let found = format!("{:?} in memory and no M copy", view.home);
                events.push(Event::new("COH-INV-14", line, "system", found, "the newest value"));
            }
            for entry in self.dcoh.filter().iter().filter(|e| e.line == line && e.holders.is_empty()) {
                let found = format!("an entry without holders, {:?}", entry.holders);
                events.push(Event::new("COH-INV-14", line, "DCOH", found, "entries for holders only"));
            }
        }
    }

    /// Hosts that run no program and poison nothing are alike: they are sorted by all that the system knows of them. The device asks all
    /// holders at once and numbers its snoops host by host, so no order of hosts is in what it does; with the rule off
    /// that leaves out the first holder there is one, and nobody is renamed.
    fn canonical(self) -> Self {
        let alike = self.setup.programs.is_empty() && self.setup.poisoners.is_empty();
        if !alike || self.setup.config.has(Mutant::HolderSkipped) {
            return self;
        }
        let order = self.by_content();
        if order.is_sorted() { self } else { self.renamed(&order) }
    }
}

/// The same system with its hosts renamed.
impl MemSystem {
    /// The hosts, sorted by all that is known of them without their numbers.
    fn by_content(&self) -> Vec<usize> {
        let of_host = |places, host| self.lines().map(move |l| self.has_place(places, host, l));
        let flags = |host: usize| {
            let all = [&self.wanting, &self.unused, &self.loading];
            all.into_iter().flat_map(move |places| of_host(places, host as Port))
        };
        let mut order: Vec<usize> = (0..self.hosts.len()).collect();
        order.sort_by(|&a, &b| {
            let by_state = self.hosts[a].content().cmp(&self.hosts[b].content());
            by_state
                .then_with(|| self.net.of(a, Dir::Down).cmp(self.net.of(b, Dir::Down)))
                .then_with(|| self.net.of(a, Dir::Up).cmp(self.net.of(b, Dir::Up)))
                .then_with(|| self.dcoh.signature(a as Port).cmp(&self.dcoh.signature(b as Port)))
                .then_with(|| flags(a).cmp(flags(b)))
        });
        order
    }

    /// Host `order[n]` becomes n.
    fn renamed(self, order: &[usize]) -> Self {
        let mut to = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            to[old] = new as Port;
        }
        let of_host =
            |place: Port| place / self.setup.hosts * self.setup.hosts + to[usize::from(place % self.setup.hosts)];
        let renamed = |places: &IdSet| places.iter().map(of_host).collect();
        let (wanting, unused, loading) = (renamed(&self.wanting), renamed(&self.unused), renamed(&self.loading));
        let hosts = order.iter().enumerate().map(|(new, &old)| self.hosts[old].clone().renamed(new as Port)).collect();
        // No message of CXL.mem says which host it is of.
        let (dcoh, net) = (self.dcoh.renamed(&to), self.net.renamed(order, |_, _| {}));
        Self { hosts, dcoh, net, wanting, unused, loading, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::system::{orbits, reachable};

    #[test]
    fn every_renaming_of_a_state_has_one_form() {
        let config = CoherenceConfig::default;
        for setup in [
            Setup::core(config(), 2),
            Setup::waiting_accesses(config(), 2),
            Setup::one_entry(config()),
            Setup::uio(config()),
        ] {
            orbits(&reachable(&MemSystem::new(setup)), 2, |s, order| s.renamed(order));
        }
        let setup = Setup { requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED], ..Setup::core(config(), 3) };
        let three = reachable(&MemSystem::new(setup));
        let left = orbits(&three, 3, |s, order| s.renamed(order));
        println!("three hosts: {} states, {left} without names", three.len());
    }
}
