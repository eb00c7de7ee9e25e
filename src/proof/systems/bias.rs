//! A device of HDM-D and its host with every order of their messages, for the exploration and for litmus cases.

use crate::explore::system::{Sent, outcome};
use crate::explore::{Awaited, Fairness, Step, System, Wait, delivery};
use crate::net::Net;
use crate::systems::mem::{Act, advance_host, program_wait};
use scalepool_coherence::agent::{Accept, Agent, Effect, Out};
use scalepool_coherence::bias::device::{Bias, BiasDevice, enables_of};
use scalepool_coherence::bias::host::BiasHost;
use scalepool_coherence::cache::requests::owns;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Age, Content, LineAddr, Token, WHOLE_LINE};
use scalepool_coherence::event::Event;
use scalepool_coherence::ids::{IdSet, Port};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::mem::{HostAccess, HostReq};
use scalepool_coherence::message::shown;
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{
    CopyView, PoisonedLines, View, check_bias, check_bias_device, check_bias_host, check_copies, misled,
    name_invariants, overtaken,
};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, M2sReqOpcode};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The line of every exploration.
const LINE: LineAddr = LineAddr(0);
/// Agent and column of the device.
const DEVICE: usize = 0;
/// Agent and column of the host.
const HOST: usize = 1;

/// An operation of the device's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAct {
    /// An operation of §2.2.
    Op(D2hReqOpcode),
    /// Needs a valid copy.
    Load,
    /// Needs E or M.
    Store,
}

/// What an exploration may do; no part of a state.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration of both agents.
    pub config: CoherenceConfig,
    /// Free operations of the device.
    pub device: Vec<D2hReqOpcode>,
    /// Free requests of the host.
    pub host: Vec<HostReq>,
    /// Programs of device and host; empty when they are free.
    pub device_program: Vec<DeviceAct>,
    /// Program of the host.
    pub host_program: Vec<Act>,
    /// Whether the programs run.
    pub programs: bool,
    /// Check every step (V5 to V8) too, not only states and values.
    pub orders: bool,
    /// Agents whose stores and writes are poisoned: 0 the device, 1 the host. An M copy of the start is a store.
    pub poisoners: IdSet,
}

impl Setup {
    fn poisons(&self, agent: usize) -> bool {
        self.poisoners.has(agent as Port)
    }

    fn new_value(&self, agent: usize) -> Token {
        Token::of(LINE, Age::New).poisoned(self.poisons(agent))
    }

    /// Every operation of both.
    pub fn everything(config: CoherenceConfig) -> Self {
        let device = scalepool_coherence::bias::tables::ROWS.iter().flat_map(|r| r.opcodes).copied().collect();
        let host = HostReq::ALL.into_iter().filter(|r| {
            ![M2sReqOpcode::MemClnEvct, M2sReqOpcode::MemSpecRd, M2sReqOpcode::MemInvNT].contains(&r.opcode)
        });
        let (device_program, host_program) = (Vec::new(), Vec::new());
        let host = host.collect();
        Self {
            config,
            device,
            host,
            device_program,
            host_program,
            programs: false,
            orders: true,
            poisoners: IdSet::EMPTY,
        }
    }
}

/// One move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A message is delivered.
    Deliver {
        /// Direction.
        dir: Dir,
        /// Place in its lane.
        index: u8,
        /// Which of the legal ways.
        way: u8,
    },
    /// The device begins an operation.
    Device(D2hReqOpcode),
    /// The device stores.
    DeviceStore,
    /// The host issues a request of the setup.
    Host {
        /// Index into the requests.
        request: u8,
        /// Access that it is for.
        want: HostAccess,
    },
    /// The host writes back and keeps so much.
    WriteBack(Copy4),
    /// The host stores.
    HostStore,
    /// The host drops a clean copy.
    Drop,
}

/// The two agents and the messages under way.
#[derive(Debug, Clone)]
pub struct BiasSystem {
    setup: Arc<Setup>,
    device: BiasDevice<Token>,
    host: BiasHost<Token>,
    net: Net<Token>,
    /// Programs of device and host: next operation, and whether ownership has been asked for.
    at: [(u8, bool); 2],
    /// What the stores made of the line.
    poisoned: PoisonedLines,
    /// Programs: of each load of device and host, whether it got poison. Empty where nobody poisons.
    loads: Vec<Vec<bool>>,
}

impl PartialEq for BiasSystem {
    fn eq(&self, other: &Self) -> bool {
        let ghosts = |s: &Self| (s.at, s.poisoned);
        (&self.device, &self.host, &self.net, ghosts(self), &self.loads)
            == (&other.device, &other.host, &other.net, ghosts(other), &other.loads)
    }
}

impl Eq for BiasSystem {}

impl Hash for BiasSystem {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.device, &self.host, &self.net, self.at, self.poisoned, &self.loads).hash(state);
    }
}

impl BiasSystem {
    /// Nobody holds anything, host bias, memory has the newest value.
    pub fn new(setup: Setup) -> Self {
        let system = Self {
            poisoned: PoisonedLines::default(),
            loads: if setup.poisoners.is_empty() { Vec::new() } else { vec![Vec::new(); 2] },
            setup: Arc::new(setup),
            device: BiasDevice::new(),
            host: BiasHost::new(0),
            net: Net::new(1),
            at: [(0, false); 2],
        };
        system.start_at(Copy4::I, Copy4::I)
    }

    /// A stable state of each; an M copy makes the memory's value an old one. A device that owns has device bias.
    pub fn start_at(mut self, device: Copy4, host: Copy4) -> Self {
        let dirty = device == Copy4::M || host == Copy4::M;
        let poison = dirty && self.setup.poisons(if host == Copy4::M { HOST } else { DEVICE });
        self.poisoned.set(LINE, poison);
        let current = Token::of(LINE, Age::Current).poisoned(poison);
        let memory = if dirty { Token::of(LINE, Age::Stale) } else { current };
        let bias = if device >= Copy4::E { Bias::Device } else { Bias::Host };
        self.device.preset(LINE, memory, bias, device, (device != Copy4::I).then_some(current));
        if host != Copy4::I {
            self.host.mem.preset(LINE, host, current);
        }
        self
    }

    /// Begins the programs.
    pub fn begin(mut self) -> Self {
        for agent in [DEVICE, HOST] {
            self.run_program(agent, &mut Out::default(), &mut Vec::new(), &mut Vec::new());
        }
        self
    }

    /// The value of the last store in coherence order.
    fn newest(&self) -> Token {
        Token::of(LINE, Age::Current).poisoned(self.poisoned.has(LINE))
    }

    /// The value that a store or write has left where it was done; a copy that has gone in the same step is on its way.
    fn placed(&self, agent: usize, effect: &Effect<Token>, out: &Out<Token>) -> Option<Token> {
        let copy = match (agent, effect) {
            (HOST, _) => self.host.mem.copy(LINE).data,
            (_, Effect::Stored(_)) => self.device.own(LINE).1,
            _ => Some(self.device.memory(LINE)),
        };
        copy.or(out.sends.iter().rev().find_map(|(_, m)| m.data()).copied())
    }

    /// `write`: byte enables of a write that the step brings to memory.
    fn settle(
        &mut self,
        agent: usize,
        write: u64,
        out: &mut Out<Token>,
        sent: &mut Vec<Sent>,
        events: &mut Vec<Event>,
    ) {
        for effect in std::mem::take(&mut out.effects) {
            match effect {
                Effect::Stored(line) | Effect::Written(line) => {
                    // Writes that come by message are the device's own.
                    let enables = if matches!(effect, Effect::Written(_)) { write } else { WHOLE_LINE };
                    let placed = self.placed(agent, &effect, out);
                    events.extend(self.poisoned.stored(line, self.setup.poisons(agent), enables, placed.as_ref()));
                    let mut age = |t: &mut Token| t.grow_old(line);
                    self.device.visit(&mut age);
                    self.host.visit(&mut age);
                    self.net.visit(&mut age);
                    let mut settle = |t: &mut Token| t.settle();
                    match agent {
                        DEVICE => self.device.visit(&mut settle),
                        _ => {
                            self.host.visit(&mut settle);
                            out.sends.iter_mut().filter_map(|(_, m)| m.data_mut()).for_each(&mut settle);
                        }
                    }
                }
                Effect::Used { value, current, line } => {
                    if let Some((rule, expected)) = misled(&value, &self.newest()) {
                        events.push(Event::new(rule, line, "device", format!("{value:?} was used"), expected));
                    } else if current && value.age != Age::Current {
                        events.push(Event::new("COH-INV-02", line, "device", "an old value used", "the newest"));
                    }
                }
                _ => {}
            }
        }
        for (_, msg) in out.sends.drain(..) {
            sent.push(Sent { from: agent, to: 1 - agent, label: msg.label(), message: shown(&msg) });
            self.net.send(0, msg);
        }
        events.append(&mut out.events);
    }

    /// One operation of the device's program, if it is possible now.
    fn advance_device(&mut self, out: &mut Out<Token>) -> Option<&'static str> {
        let setup = Arc::clone(&self.setup);
        let (next, asked) = self.at[DEVICE];
        if setup.config.mem.is_outside(LINE) {
            // The device does not have the line that its program is about.
            return None;
        }
        match *setup.device_program.get(usize::from(next))? {
            DeviceAct::Op(opcode) if self.device.can_issue(LINE, opcode) => {
                self.issue_device(opcode, out);
                self.at[DEVICE] = (next + 1, owns(opcode, asked));
                opcode.name()
            }
            DeviceAct::Load if self.device.can_load(LINE) => {
                self.at[DEVICE].0 += 1;
                let poison = self.device.own(LINE).1.is_some_and(|value| value.poison);
                self.loads.get_mut(DEVICE).into_iter().for_each(|loads| loads.push(poison));
                out.events.extend(self.poisoned.loaded(LINE, poison));
                Some(if poison { "Load, poisoned" } else { "Load" })
            }
            DeviceAct::Store if self.device.store(LINE, &setup.new_value(DEVICE), WHOLE_LINE, out) => {
                self.at[DEVICE].0 += 1;
                Some("Store")
            }
            // Ownership that was refused with an error is not lost: the store waits for ever.
            DeviceAct::Store if asked && !self.device.is_pending(LINE) && setup.config.error_of(LINE).is_none() => {
                let shared = self.device.own(LINE).0 == Copy4::S;
                self.issue_device(if shared { D2hReqOpcode::RdOwnNoData } else { D2hReqOpcode::RdOwn }, out);
                Some("Store asks again")
            }
            _ => None,
        }
    }

    fn run_program(
        &mut self,
        agent: usize,
        out: &mut Out<Token>,
        sent: &mut Vec<Sent>,
        events: &mut Vec<Event>,
    ) -> Vec<&'static str> {
        let setup = Arc::clone(&self.setup);
        let mut did = Vec::new();
        loop {
            // In device bias a write of the device is done at once.
            let write = match setup.device_program.get(usize::from(self.at[DEVICE].0)) {
                Some(DeviceAct::Op(opcode)) => enables_of(*opcode).unwrap_or(WHOLE_LINE),
                _ => WHOLE_LINE,
            };
            let text = if agent == DEVICE {
                self.advance_device(out)
            } else if self.host.is_busy(LINE) {
                None
            } else {
                let (program, poison) = (&setup.host_program, setup.poisons(HOST));
                let did = advance_host(&setup.config, &mut self.host.mem, program, &mut self.at[HOST], poison, out);
                if let Some((_, Some(loaded))) = did {
                    self.loads.get_mut(HOST).into_iter().for_each(|loads| loads.push(loaded));
                    out.events.extend(self.poisoned.loaded(LINE, loaded));
                }
                did.map(|(text, _)| text)
            };
            let Some(text) = text else { return did };
            did.push(text);
            self.settle(agent, write, out, sent, events);
        }
    }

    fn issue_device(&mut self, opcode: D2hReqOpcode, out: &mut Out<Token>) {
        let data = enables_of(opcode).map(|enables| (self.setup.new_value(DEVICE), enables));
        self.device.issue(&self.setup.config, LINE, opcode, data, out);
    }

    /// Byte enables of a write that a move may bring to memory: of the operation that begins, of the data that comes, or of
    /// the open request that Mem*Fwd ends.
    fn write_of(&self, mv: Move) -> u64 {
        let of = |opcode| enables_of(opcode).unwrap_or(WHOLE_LINE);
        match mv {
            Move::Device(opcode) => of(opcode),
            Move::Deliver { dir: Dir::Down, index, .. } => match self.net.of(0, Dir::Down)[usize::from(index)] {
                Msg::M2sRwd { enables, .. } => enables,
                _ => self.device.asked(LINE).map_or(WHOLE_LINE, of),
            },
            _ => WHOLE_LINE,
        }
    }

    fn perform(&mut self, mv: Move, sent: &mut Vec<Sent>, events: &mut Vec<Event>) -> Vec<&'static str> {
        let setup = Arc::clone(&self.setup);
        let config = &setup.config;
        let mut out = Out::default();
        let passes = match mv {
            Move::Deliver { dir, index, .. } if setup.orders => self.net.overtakes(0, dir, usize::from(index)),
            _ => None,
        };
        let write = self.write_of(mv);
        let agent = match mv {
            Move::Deliver { dir, index, way } => {
                let msg = self.net.remove(0, dir, usize::from(index));
                events.extend(passes.map(|rule| overtaken(rule, &msg)));
                match dir {
                    Dir::Down => {
                        let before = setup.orders.then(|| self.device.clone());
                        self.device.take(config, 0, msg, way, &mut out);
                        if let Some(before) = before {
                            check_bias_device(&before, &msg, &out, &self.device, events);
                        }
                        DEVICE
                    }
                    Dir::Up => {
                        self.host.take(config, 0, msg, way, &mut out);
                        HOST
                    }
                }
            }
            Move::Device(opcode) => {
                self.issue_device(opcode, &mut out);
                DEVICE
            }
            Move::DeviceStore => {
                self.device.store(LINE, &setup.new_value(DEVICE), WHOLE_LINE, &mut out);
                DEVICE
            }
            Move::Host { request, want } => {
                self.host.mem.issue(LINE, setup.host[usize::from(request)], want, &mut out);
                HOST
            }
            Move::WriteBack(kept) => {
                self.host.mem.write_back(LINE, kept, &mut out);
                HOST
            }
            Move::HostStore => {
                self.host.mem.store(config, LINE, setup.new_value(HOST), WHOLE_LINE, &mut out);
                HOST
            }
            Move::Drop => {
                self.host.mem.drop_clean(LINE);
                HOST
            }
        };
        if setup.orders {
            check_bias_host(&out, &self.host, events);
        }
        self.settle(agent, write, &mut out, sent, events);
        if setup.programs {
            return self.run_program(agent, &mut out, sent, events);
        }
        if self.host.mem.due(LINE).stores() {
            self.host.mem.store(config, LINE, setup.new_value(HOST), WHOLE_LINE, &mut out);
            self.settle(HOST, write, &mut out, sent, events);
        }
        Vec::new()
    }

    fn view(&self) -> View<Token> {
        let mut copies = Vec::new();
        let mut tracked = IdSet::one(DEVICE as Port);
        if let (state, Some(value)) = self.device.own(LINE)
            && state != Copy4::I
        {
            let (writable, dirty) = (state >= Copy4::E, state == Copy4::M);
            copies.push(CopyView { agent: DEVICE, usable: true, writable, dirty, value });
        }
        let copy = self.host.mem.copy(LINE);
        if copy.state != Copy4::I {
            let value = copy.data.unwrap_or_else(Token::ones);
            let (usable, writable, dirty) = (copy.usable, copy.writable, copy.dirty);
            copies.push(CopyView { agent: HOST, usable, writable, dirty, value });
        }
        if self.device.bias(LINE) == Bias::Host {
            tracked.insert(HOST as Port);
        }
        let dirty_answers = self.setup.config.mem.cmp_m;
        let under_way = self.net.iter().filter_map(|(_, m)| match m {
            Msg::M2sRwd { data, .. } => Some(*data),
            Msg::S2mDrs { data, .. } if dirty_answers => Some(*data),
            _ => None,
        });
        let arrived = self.host.mem.arrived(LINE).filter(|_| dirty_answers).copied();
        View {
            line: LINE,
            newest: self.newest(),
            home: self.device.memory(LINE),
            copies,
            in_flight: under_way.chain(arrived).collect(),
            tracked,
        }
    }
}

impl System for BiasSystem {
    type Move = Move;

    fn columns(&self) -> Vec<String> {
        vec!["device".to_owned(), "host".to_owned()]
    }

    fn moves(&self, out: &mut Vec<Move>) {
        let config = &self.setup.config;
        for dir in [Dir::Down, Dir::Up] {
            for (index, msg) in self.net.of(0, dir).iter().enumerate() {
                let (accept, ways) = match dir {
                    Dir::Down => (self.device.accepts(config, 0, msg), self.device.ways(config, 0, msg)),
                    Dir::Up => (self.host.accepts(config, 0, msg), self.host.ways(config, 0, msg)),
                };
                if accept == Accept::Take && self.net.is_free(config, 0, dir, index) {
                    let ways = if config.alternatives { ways } else { 1 };
                    out.extend((0..ways).map(|way| Move::Deliver { dir, index: index as u8, way }));
                }
            }
        }
        if self.setup.programs {
            return;
        }
        out.extend(self.setup.device.iter().filter(|&&o| self.device.can_issue(LINE, o)).map(|&o| Move::Device(o)));
        if self.device.can_store(LINE) {
            out.push(Move::DeviceStore);
        }
        if !self.host.is_free(LINE) {
            return;
        }
        let mem = &self.host.mem;
        for (request, &req) in (0_u8..).zip(&self.setup.host) {
            if mem.can_issue(LINE, req) {
                out.push(Move::Host { request, want: HostAccess::Nothing });
                if req.asks_ownership() {
                    out.push(Move::Host { request, want: HostAccess::Store });
                }
            }
        }
        if mem.can_write_back(LINE) {
            out.extend([Copy4::I, Copy4::S, Copy4::E].map(Move::WriteBack));
        }
        if mem.can_store(LINE, true) {
            out.push(Move::HostStore);
        }
        if matches!(mem.copy(LINE).state, Copy4::S | Copy4::E) {
            out.push(Move::Drop);
        }
    }

    fn fairness(&self, mv: Move) -> Fairness {
        if matches!(mv, Move::Deliver { .. }) { Fairness::Strong } else { Fairness::Optional }
    }

    fn action(&self, mv: Move) -> u128 {
        match mv {
            Move::Deliver { dir, index, .. } => delivery(0, dir, &self.net.of(0, dir)[usize::from(index)]),
            _ => 0,
        }
    }

    fn waits(&self, out: &mut Vec<Wait>) {
        let setup = &self.setup;
        let mut wait = |agent, awaited| out.push(Wait { agent, awaited, line: Some(LINE) });
        if self.device.is_pending(LINE) {
            wait(DEVICE, Awaited::Request);
        }
        let (next, asked) = self.at[DEVICE];
        let refused = setup.config.mem.is_outside(LINE) || setup.config.error_of(LINE).is_some();
        if asked && !refused && setup.device_program.get(usize::from(next)) == Some(&DeviceAct::Store) {
            wait(DEVICE, Awaited::Store);
        }
        if self.host.mem.awaits(LINE) {
            wait(HOST, Awaited::Request);
        }
        if setup.programs {
            let program = program_wait(&setup.config, &self.host.mem, &setup.host_program, self.at[HOST]);
            program.into_iter().for_each(|awaited| wait(HOST, awaited));
        }
    }

    fn apply(&mut self, mv: Move, events: &mut Vec<Event>) {
        let first = events.len();
        self.perform(mv, &mut Vec::new(), events);
        name_invariants(events, first);
    }

    fn describe(&self, mv: Move) -> Step {
        let mut sent = Vec::new();
        let mut after = self.clone();
        let did = after.perform(mv, &mut sent, &mut Vec::new()).into_iter().map(str::to_owned).collect();
        let act = |agent, text: String, sent| Step::Act { agent, text, sent };
        match mv {
            Move::Deliver { dir, index, .. } => {
                let msg = &self.net.of(0, dir)[usize::from(index)];
                let (from, to) = if dir == Dir::Down { (HOST, DEVICE) } else { (DEVICE, HOST) };
                Step::Deliver { from, to, label: msg.label(), message: shown(msg), did, sent }
            }
            Move::Device(opcode) => act(DEVICE, opcode.name().unwrap_or("?").to_owned(), sent),
            Move::DeviceStore => act(DEVICE, "Store".into(), sent),
            Move::Host { request, .. } => {
                let opcode = self.setup.host[usize::from(request)].opcode;
                act(HOST, opcode.name().unwrap_or("?").to_owned(), sent)
            }
            Move::WriteBack(kept) => act(HOST, format!("MemWr, keeps {}", kept.letter()), sent),
            Move::HostStore => act(HOST, "Store".into(), sent),
            Move::Drop => act(HOST, "drops its copy".into(), sent),
        }
    }

    fn check(&self, events: &mut Vec<Event>) {
        let view = self.view();
        check_copies(&view, events);
        check_bias(&view, DEVICE, self.device.bias(LINE) == Bias::Device, events);
        // The device ends M2S requests whatever it asks for itself.
        let config = &self.setup.config;
        let held = self.net.of(0, Dir::Down).iter().find(|m| self.device.accepts(config, 0, m) == Accept::Wait);
        if let Some(msg) = held.filter(|_| self.setup.orders) {
            let found = format!("{} kept waiting", msg.label());
            events.push(Event::new("COH-BIA-15", LINE, "device", found, "an end without requests of the device's own"));
        }
    }

    fn outcome(&self) -> String {
        let (device, host) = (self.device.own(LINE).0, self.host.mem.copy(LINE).state);
        let letters: String = [device.letter(), host.letter()].into_iter().collect();
        let memory = self.device.memory(LINE);
        let poison = (!self.setup.poisoners.is_empty()).then_some((memory.poison, self.loads.as_slice()));
        outcome(&letters, memory.age == Age::Current, poison)
    }

    fn is_idle(&self) -> bool {
        self.net.is_empty() && self.device.is_idle() && self.host.is_idle()
    }

    fn check_idle(&self, events: &mut Vec<Event>) {
        let view = self.view();
        if view.home != view.newest && !view.copies.iter().any(|c| c.dirty) {
            let found = format!("{:?} in memory and no M copy", view.home);
            events.push(Event::new("COH-INV-14", LINE, "system", found, "the newest value"));
        }
    }
}
