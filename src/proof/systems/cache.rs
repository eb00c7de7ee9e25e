//! Some device caches and a home with the channels between them, as one state of a search.
//!
//! Two ways to drive it: *free*, where every device may begin any operation of a menu whenever its state allows, and by
//! *programs*, one list of operations a device, for litmus cases.

use crate::explore::fingerprint::fingerprint;
use crate::explore::system::{Awaited, Fairness, Sent, Step, System, Wait, delivery, outcome};
use crate::net::Net;
use scalepool_coherence::agent::{Accept, Agent, Effect, Out, Port};
use scalepool_coherence::cache::backing::{Backing, Flat};
use scalepool_coherence::cache::device::{Bytes, Device};
use scalepool_coherence::cache::home::{Holders, Home, Phase, Task, Transaction};
use scalepool_coherence::cache::requests;
use scalepool_coherence::cache::snoops;
use scalepool_coherence::cache::state::{Answer, At, Snoop};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Age, Content, LineAddr, Token, WHOLE_LINE};
use scalepool_coherence::event::Event;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::message::shown;
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{self, CopyView, DeviceStep, DeviceWatch, HomeWatch, PoisonedLines, View, misled};
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An operation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// A request of §2.2.
    Request(Op),
    /// Needs a valid copy.
    Load,
    /// Needs E or M.
    Store,
}

/// What does not change during a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Choices.
    pub config: CoherenceConfig,
    /// How many devices, 1 to 16.
    pub devices: usize,
    /// How many lines, from line 0 on.
    pub lines: u64,
    /// Free operations; empty when programs run.
    pub menu: Vec<Op>,
    /// Free devices attach a store to RdOwn and RdOwnNoData too (a store that waits for ownership).
    pub waiting_stores: bool,
    /// The host's core reads and writes too.
    pub core: bool,
    /// Programs, one a device; empty when free. They run on line 0.
    pub programs: Vec<Vec<Act>>,
    /// Check every step (V5 to V8) too, not only states and values.
    pub orders: bool,
    /// Devices whose stores and writes are poisoned; an M copy of the start is a store.
    pub poisoners: IdSet,
}

impl Setup {
    fn poisons(&self, device: Port) -> bool {
        self.poisoners.has(device)
    }

    /// Free devices with a menu on one line.
    pub fn free(config: CoherenceConfig, devices: usize, menu: &[Op]) -> Self {
        Self {
            config,
            devices,
            lines: 1,
            menu: menu.to_vec(),
            waiting_stores: true,
            core: false,
            programs: Vec::new(),
            orders: true,
            poisoners: IdSet::EMPTY,
        }
    }
}

/// Every request of §2.2 but CacheFlushed, which is about a whole cache.
pub const ALL_REQUESTS: &[Op] = &[
    Op::RdCurr,
    Op::RdOwn,
    Op::RdShared,
    Op::RdAny,
    Op::RdOwnNoData,
    Op::ItoMWr,
    Op::WrCur,
    Op::CLFlush,
    Op::CleanEvict,
    Op::DirtyEvict,
    Op::CleanEvictNoData,
    Op::WOWrInv,
    Op::WOWrInvF,
    Op::WrInv,
];

/// What the size hints of the sheet (§4) cover: reads, ItoMWr and evicts.
pub const HINTED_REQUESTS: &[Op] = &[
    Op::RdShared,
    Op::RdOwn,
    Op::RdOwnNoData,
    Op::RdAny,
    Op::RdCurr,
    Op::ItoMWr,
    Op::CleanEvict,
    Op::CleanEvictNoData,
    Op::DirtyEvict,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    devices: Vec<Device<Token>>,
    home: Home<Token, Flat<Token>>,
    net: Net<Token>,
    /// Programs: next operation of each device, and whether it has asked for ownership that it has not given up.
    at: Vec<(u8, bool)>,
    /// What the stores made of each line.
    poisoned: PoisonedLines,
    /// Programs: of each load of a device, whether it got poison. Empty where nobody poisons.
    loads: Vec<Vec<bool>>,
}

/// The system.
#[derive(Debug, Clone)]
pub struct CacheSystem {
    setup: Arc<Setup>,
    state: State,
}

impl PartialEq for CacheSystem {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl Eq for CacheSystem {}

impl Hash for CacheSystem {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
    }
}

/// A move. Devices, lines, links and the places of messages are numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Move {
    /// A message arrives; `way` as [`Agent::ways`] counts.
    Deliver { link: Port, dir: Dir, index: u8, way: u8 },
    /// A device begins a request, with a store that waits for it or without.
    Issue { device: Port, line: u8, op: Op, store: bool },
    /// The store that comes next in a program joins the read of its device, which has GO and no data yet.
    Join { device: Port },
    /// A core stores to its copy.
    Store { device: Port, line: u8 },
    /// A copy is dropped.
    Drop { device: Port, line: u8 },
    /// A choice of the home.
    Choose(u8),
    /// The host's core reads.
    CoreRead(u8),
    /// The host's core writes.
    CoreWrite(u8),
}

fn new_bytes(line: LineAddr, enables: u64, poison: bool) -> Bytes<Token> {
    Bytes { data: Token::of(line, Age::New).poisoned(poison), enables }
}

/// What a write request writes: a part of the line where that is legal.
fn bytes_of(op: Op, line: LineAddr, poison: bool) -> Option<Bytes<Token>> {
    match op {
        Op::WrInv | Op::WOWrInv => Some(new_bytes(line, 1, poison)),
        Op::ItoMWr | Op::WrCur | Op::WOWrInvF => Some(new_bytes(line, WHOLE_LINE, poison)),
        _ => None,
    }
}

/// Column of a device in a chart; the home is column 0.
fn column(device: Port) -> usize {
    usize::from(device) + 1
}

impl CacheSystem {
    /// All caches empty, memory current.
    pub fn new(setup: Setup) -> Self {
        let state = State {
            devices: vec![Device::new(); setup.devices],
            home: Home::new(Flat::default()),
            net: Net::new(setup.devices),
            at: vec![(0, false); setup.programs.len()],
            poisoned: PoisonedLines::default(),
            loads: if setup.poisoners.is_empty() { Vec::new() } else { vec![Vec::new(); setup.programs.len()] },
        };
        let mut system = Self { setup: Arc::new(setup), state };
        // Memory is written once, so that equal memories look equal.
        for line in (0..system.setup.lines).map(LineAddr) {
            system.state.home.memory.write(line, &Token::initial(line), WHOLE_LINE);
        }
        system
    }

    /// One stable state a device on line 0; an M copy makes the home's value an old one. No check that they go together.
    pub fn start_at(mut self, states: &[At]) -> Self {
        let line = LineAddr(0);
        let mut holders = Holders::default();
        for (port, &at) in states.iter().enumerate().take(self.setup.devices) {
            let poison = at == At::M && self.setup.poisons(port as Port);
            self.state.devices[port].preset(line, at, Token::of(line, Age::Current).poisoned(poison));
            if at == At::M {
                self.state.poisoned.set(line, poison);
            }
            match at {
                At::S => holders.sharers.insert(port as Port),
                At::E | At::M => holders.owner = Some(port as Port),
                _ => {}
            }
        }
        self.state.home.set_holders(line, holders);
        if states.contains(&At::M) {
            self.state.home.memory.write(line, &Token::of(line, Age::Stale), WHOLE_LINE);
        }
        self
    }

    /// The devices.
    pub fn devices(&self) -> &[Device<Token>] {
        &self.state.devices
    }

    /// The home.
    pub fn home(&self) -> &Home<Token, Flat<Token>> {
        &self.state.home
    }

    /// The messages under way.
    pub fn net(&self) -> &Net<Token> {
        &self.state.net
    }

    fn lines(&self) -> impl Iterator<Item = LineAddr> + use<> {
        (0..self.setup.lines).map(LineAddr)
    }

    fn step(&mut self, mv: Move, out: &mut Out<Token>) -> Actor {
        let config = &self.setup.config;
        let state = &mut self.state;
        let poisons = |device: Port| self.setup.poisons(device);
        match mv {
            Move::Deliver { link, dir, index, way } => {
                let msg = state.net.remove(usize::from(link), dir, usize::from(index));
                match dir {
                    Dir::Down => {
                        state.devices[usize::from(link)].take(config, 0, msg, way, out);
                        Actor::Device(link)
                    }
                    Dir::Up => {
                        state.home.take(config, link, msg, way, out);
                        Actor::Home
                    }
                }
            }
            Move::Issue { device, line, op, store } => {
                let line = LineAddr(u64::from(line));
                let poison = poisons(device);
                let bytes = if store { Some(new_bytes(line, 1, poison)) } else { bytes_of(op, line, poison) };
                state.devices[usize::from(device)].issue(op, line, bytes, out);
                Actor::Device(device)
            }
            Move::Join { device } => {
                let line = LineAddr(0);
                state.devices[usize::from(device)].join(line, new_bytes(line, 1, poisons(device)));
                Actor::Device(device)
            }
            Move::Store { device, line } => {
                let line = LineAddr(u64::from(line));
                state.devices[usize::from(device)].store(line, &new_bytes(line, 1, poisons(device)), out);
                Actor::Device(device)
            }
            Move::Drop { device, line } => {
                state.devices[usize::from(device)].drop_copy(config, LineAddr(u64::from(line)));
                Actor::Device(device)
            }
            Move::Choose(choice) => {
                state.home.choose(config, choice, out);
                Actor::Home
            }
            Move::CoreRead(line) => {
                state.home.core_read(config, LineAddr(u64::from(line)), out);
                Actor::Home
            }
            Move::CoreWrite(line) => {
                let line = LineAddr(u64::from(line));
                state.home.core_write(config, line, Token::of(line, Age::New), 1, out);
                Actor::Home
            }
        }
    }

    /// Makes a move, with all that follows from it at once. `did` gets the operations that a program began or did.
    fn run(&mut self, mv: Move, out: &mut Out<Token>, did: &mut Vec<String>) -> Actor {
        let watched = self.setup.orders.then(|| self.watched(mv)).flatten();
        let write = self.write_of(mv);
        let actor = self.step(mv, out);
        let stored = out.effects.iter().any(|e| matches!(e, Effect::Stored(_)));
        if let Some(watched) = watched {
            self.check_step(&watched, out);
        }
        self.order(actor, write, out);
        if let Actor::Device(device) = actor {
            // A store of the program that waited with a request is done.
            if let Some(at) = self.state.at.get_mut(usize::from(device)).filter(|_| stored) {
                at.0 += 1;
                did.push("Store".to_owned());
            }
            self.advance(device, out, did);
        }
        actor
    }

    /// What a move is about to happen to.
    fn watched(&self, mv: Move) -> Option<Watched> {
        let of =
            |device: Port, step| Some(Watched::Device(device, self.state.devices[usize::from(device)].clone(), step));
        let at = |line: u8| LineAddr(u64::from(line));
        match mv {
            Move::Deliver { link, dir, index, .. } => {
                let (lane, index) = (usize::from(link), usize::from(index));
                let passes = self.state.net.overtakes(lane, dir, index);
                let msg = self.state.net.of(lane, dir)[index];
                if let Some(rule) = passes {
                    return Some(Watched::Passes(rule, msg));
                }
                match dir {
                    Dir::Down => of(link, DeviceStep::Took(msg)),
                    Dir::Up => Some(Watched::Home(link, self.state.home.clone(), msg)),
                }
            }
            Move::Issue { device, line, op, .. } => of(device, DeviceStep::Issued(op, at(line))),
            Move::Store { device, line } => of(device, DeviceStep::Stored(at(line))),
            Move::Drop { device, line } => of(device, DeviceStep::Dropped(at(line))),
            Move::Join { .. } | Move::Choose(_) | Move::CoreRead(_) | Move::CoreWrite(_) => None,
        }
    }

    /// V5 to V8: what the step breaks.
    fn check_step(&self, watched: &Watched, out: &mut Out<Token>) {
        let config = &self.setup.config;
        let mut events = Vec::new();
        match watched {
            Watched::Device(device, before, step) => {
                let after = &self.state.devices[usize::from(*device)];
                DeviceWatch { before, out, after }.check(config, step, &mut events);
            }
            Watched::Home(port, before, msg) => {
                HomeWatch { before, out, after: &self.state.home }.check(config, *port, msg, &mut events);
            }
            Watched::Passes(rule, msg) => events.push(monitor::overtaken(rule, msg)),
        }
        out.events.extend(events);
    }

    /// Poison and byte enables of the write that a move may bring to its place: a device's data, or the host core's.
    fn write_of(&self, mv: Move) -> (bool, u64) {
        if let Move::Deliver { link, dir: Dir::Up, index, .. } = mv
            && let Msg::D2hData { uqid, enables, .. } =
                self.state.net.of(usize::from(link), Dir::Up)[usize::from(index)]
            && self.state.home.pulls(uqid)
        {
            return (self.setup.poisons(link), enables);
        }
        (false, 1)
    }

    /// The value that a store or write has left where it was done; a copy that has gone in the same step is on its way.
    fn placed(&self, actor: Actor, effect: &Effect<Token>, out: &Out<Token>) -> Option<Token> {
        match (effect, actor) {
            (Effect::Stored(line), Actor::Device(device)) => {
                let copy = self.state.devices[usize::from(device)].entry(*line).and_then(|e| e.data.as_ref());
                let sent = out.sends.iter().rev().find_map(|(_, m)| m.data());
                copy.map(|b| b.data).or(sent.copied())
            }
            _ => Some(self.state.home.memory.read(effect.line())),
        }
    }

    /// Gives new values their place in coherence order; `write` is what [`Self::write_of`] said of the move.
    fn order(&mut self, actor: Actor, write: (bool, u64), out: &mut Out<Token>) {
        for effect in std::mem::take(&mut out.effects) {
            let newest = self.newest(effect.line());
            let line = match effect {
                Effect::Written(line) | Effect::Stored(line) => line,
                Effect::Used { line, value, current } => {
                    if let Some((rule, expected)) = misled(&value, &newest) {
                        let found = format!("a core used {value:?}");
                        out.events.push(Event::new(rule, line, actor.name(), found, expected));
                    } else if current && value.age != Age::Current {
                        let expected = "the newest value";
                        let at = actor.name();
                        out.events.push(Event::new("COH-REQ-20", line, at, "an old value read by a core", expected));
                    }
                    continue;
                }
                Effect::Done(_) => continue,
            };
            let (poison, enables) = match (&effect, actor) {
                (Effect::Stored(_), Actor::Device(device)) => (self.setup.poisons(device), 1),
                _ => write,
            };
            let placed = self.placed(actor, &effect, out);
            out.events.extend(self.state.poisoned.stored(line, poison, enables, placed.as_ref()));
            // One write more is in coherence order: every other value of the line grows old.
            let state = &mut self.state;
            let mut old = |t: &mut Token| t.grow_old(line);
            state.devices.iter_mut().for_each(|d| d.visit(&mut old));
            state.home.visit(&mut old);
            state.net.visit(&mut old);
            out.sends.iter_mut().filter_map(|(_, m)| m.data_mut()).for_each(&mut old);
            let mut settle = |t: &mut Token| {
                if u64::from(t.line) == line.0 {
                    t.settle();
                }
            };
            match (&effect, actor) {
                (Effect::Stored(_), Actor::Device(device)) => {
                    state.devices[usize::from(device)].visit(&mut settle);
                    out.sends.iter_mut().filter_map(|(_, m)| m.data_mut()).for_each(&mut settle);
                }
                _ => {
                    state.home.memory.visit(&mut settle);
                    // A read that waited in the queue was answered from memory in the same step.
                    out.sends.iter_mut().filter_map(|(_, m)| m.data_mut()).for_each(&mut settle);
                }
            }
        }
    }

    /// Begins or does every operation of a program that is possible now: an operation is issued as soon as its start
    /// state holds. A store whose requested ownership was lost before it could happen asks again, and waits with that
    /// request.
    fn advance(&mut self, device: Port, out: &mut Out<Token>, did: &mut Vec<String>) {
        let n = usize::from(device);
        let line = LineAddr(0);
        let setup = Arc::clone(&self.setup);
        let Some(program) = setup.programs.get(n) else { return };
        loop {
            let (next, asked) = self.state.at[n];
            let poison = setup.poisons(device);
            let cache = &mut self.state.devices[n];
            let at = cache.at(line);
            let text = match program.get(usize::from(next)) {
                Some(Act::Request(op)) if cache.issue(*op, line, bytes_of(*op, line, poison), out) => {
                    self.state.at[n] = (next + 1, requests::owns(*op, asked));
                    op.name().unwrap_or("?")
                }
                Some(Act::Load) if cache.may_load(&setup.config, line) => {
                    self.state.at[n].0 += 1;
                    let poison = cache.load(&setup.config, line).is_some_and(Token::is_poisoned);
                    out.events.extend(self.state.poisoned.loaded(line, poison));
                    self.state.loads.get_mut(n).into_iter().for_each(|loads| loads.push(poison));
                    if poison { "Load, poisoned" } else { "Load" }
                }
                Some(Act::Store) if cache.store(line, &new_bytes(line, 1, poison), out) => {
                    self.state.at[n].0 += 1;
                    "Store"
                }
                // Ownership that was refused with an error is not lost: the store waits for ever.
                Some(Act::Store) if asked && at.is_stable() && setup.config.error_of(line).is_none() => {
                    let op = if at == At::S { Op::RdOwnNoData } else { Op::RdOwn };
                    cache.issue(op, line, Some(new_bytes(line, 1, poison)), out);
                    "Store asks again"
                }
                _ => return,
            };
            did.push(text.to_owned());
            self.order(Actor::Device(device), (false, 1), out);
        }
    }

    /// The value of the last store in coherence order.
    fn newest(&self, line: LineAddr) -> Token {
        Token::of(line, Age::Current).poisoned(self.state.poisoned.has(line))
    }

    /// Begins the programs.
    pub fn begin(mut self) -> Self {
        for device in 0..self.setup.programs.len() as Port {
            let mut out = Out::default();
            self.advance(device, &mut out, &mut Vec::new());
            for (_, msg) in out.sends {
                self.state.net.send(usize::from(device), msg);
            }
        }
        self
    }

    /// The common view of a line.
    fn view(&self, line: LineAddr) -> View<Token> {
        let state = &self.state;
        let config = &self.setup.config;
        let holders = state.home.holders(line);
        let mut copies = Vec::new();
        let mut tracked = holders.all();
        for (agent, device) in state.devices.iter().enumerate() {
            let Some(entry) = device.entry(line) else { continue };
            if let Some(copy) = &entry.data
                && entry.at.has_copy()
            {
                copies.push(CopyView {
                    agent,
                    usable: device.may_load(config, line),
                    writable: entry.at.may_store(),
                    dirty: entry.at.is_dirty(),
                    value: copy.data,
                });
            }
            // O12: tracking ends when the final GO of an evict is sent, the copy when it arrives.
            let ends = |m: &Msg<Token>| matches!(m, Msg::H2dRsp { cqid, .. } if *cqid == entry.cqid) && m.bears_go();
            if entry.at.is_evicting() && state.net.of(agent, Dir::Down).iter().any(ends) {
                tracked.insert(agent as Port);
            }
        }
        let in_flight = state.net.iter().filter_map(|(_, m)| match m {
            Msg::D2hData { bogus: true, .. } => None,
            m => m.data().filter(|d| u64::from(d.line) == line.0).copied(),
        });
        // Data that waits at the home for its answer, and data that a device has early, are on their way too.
        let kept = state.home.open().iter().flat_map(data_kept).copied();
        let early = state.devices.iter().filter_map(|d| d.entry(line)).filter(|e| e.at == At::RdData);
        let early = early.filter_map(|e| e.data.as_ref().map(|b| b.data));
        let newest = self.newest(line);
        // §2.2: a write that is answered with an error is aborted, its data may be dropped. It is not lost.
        let aborted = config.error_of(line).map(|_| newest);
        View {
            line,
            newest,
            home: state.home.memory.read(line),
            copies,
            in_flight: in_flight.chain(kept).chain(early).chain(aborted).collect(),
            tracked,
        }
    }

    /// A write that the home answers with an error is aborted, and its data may be dropped (§2.2).
    fn may_lose(&self, line: LineAddr) -> bool {
        self.setup.config.error_of(line).is_some()
    }

    /// What a grant or an end under way says must be true already: GO-M of dirty data only, WrInv after its data.
    fn check_answers(&self, line: LineAddr, events: &mut Vec<Event>) {
        let state = &self.state;
        for (link, device) in state.devices.iter().enumerate() {
            let Some(entry) = device.entry(line) else { continue };
            let of_line = state.net.of(link, Dir::Down).iter().filter_map(|m| match m {
                Msg::H2dRsp { opcode, rsp_data, cqid } if *cqid == entry.cqid => Answer::of(*opcode, *rsp_data),
                _ => None,
            });
            for answer in of_line {
                if answer == Answer::GoM && state.home.memory.read(line).age == Age::Current {
                    let (at, found) = (format!("device {link}"), "GO-M for data that memory has too");
                    events.push(Event::new("COH-REQ-17", line, at, found, "GO-M for dirty data only"));
                }
                let pulled = |t: &&Transaction<Token>| {
                    let write = matches!(t.task, Task::Request { op: Op::WrInv, cqid } if cqid == entry.cqid);
                    write && usize::from(t.port) == link && t.line == line
                };
                if answer == Answer::GoI && state.home.open().iter().any(|t| pulled(&t)) {
                    let (at, found) = (format!("device {link}"), "the end of WrInv before its data has come");
                    events.push(Event::new(
                        "COH-ORD-13",
                        line,
                        at,
                        found,
                        "a strongly ordered write that is visible when it ends",
                    ));
                }
            }
        }
    }

    /// V6, V8: what the home has open on a line, and what it has sent under it.
    fn check_orders(&self, line: LineAddr, events: &mut Vec<Event>) {
        let state = &self.state;
        let mut say = |rule, at: String, found: &str, expected: &str| {
            events.push(Event::new(rule, line, at, found, expected));
        };
        let open = || state.home.open().iter().filter(|t| t.line == line);
        for (link, device) in state.devices.iter().enumerate() {
            let port = link as Port;
            let at = || format!("device {link}");
            if device.at(line).is_evicting() && device.may_load(&self.setup.config, line) {
                let found = format!("a copy in use in {}", device.at(line).name());
                say("COH-STA-04", at(), &found, "no use after the evict was issued");
            }
            let snoops = open().filter(|t| t.answers.has(port) || t.data.has(port)).count();
            if snoops > 1 {
                say("COH-ORD-04", at(), "two snoops on a line", "one snoop per line and device");
            }
            let pulls = open().any(|t| matches!(t.phase, Phase::Pulling { .. }) && usize::from(t.port) == link);
            if snoops > 0 && pulls {
                say("COH-ORD-03", at(), "a snoop beside an open pull", "one of them at a time");
            }
            let lane = state.net.of(link, Dir::Down);
            let cqid = device.entry(line).filter(|e| !e.at.is_stable()).map(|e| e.cqid);
            let go = |m: &Msg<Token>| m.bears_go() && matches!(m, Msg::H2dRsp { cqid: c, .. } if Some(*c) == cqid);
            if snoops > 0 && !matches!(open().find(|t| t.answers.has(port)), Some(t) if t.phase == Phase::Absorbing) {
                let snoop = lane.iter().position(|m| matches!(m, Msg::H2dReq { line: l, .. } if *l == line));
                // Without the snoop in the channel, it is at the device or answered: any GO under way came after it.
                if lane.iter().enumerate().any(|(i, m)| go(m) && snoop.is_none_or(|s| i > s)) {
                    say("COH-ORD-02", at(), "a GO under an open snoop", "the GO after the snoop's answer and data");
                }
            }
        }
        if open().count() > 1 {
            say("COH-ORD-05", "home".into(), "two transactions on a line", "one transaction per line");
        }
        if open().any(|t| t.phase == Phase::Absorbing) {
            say("COH-ORD-08", "home".into(), "an answer before all snoop answers", "all answers before the GO");
        }
    }
}

/// An agent before a step, with what comes; or a message that overtakes one it must not pass.
enum Watched {
    Device(Port, Device<Token>, DeviceStep<Token>),
    Home(Port, Home<Token, Flat<Token>>, Msg<Token>),
    Passes(&'static str, Msg<Token>),
}

/// Who moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Actor {
    Home,
    Device(Port),
}

impl Actor {
    fn name(self) -> String {
        match self {
            Actor::Home => "home".into(),
            Actor::Device(n) => format!("device {n}"),
        }
    }
}

impl System for CacheSystem {
    type Move = Move;

    fn columns(&self) -> Vec<String> {
        let devices = (0..self.setup.devices).map(|n| format!("device {n}"));
        std::iter::once("home".to_owned()).chain(devices).collect()
    }

    fn moves(&self, out: &mut Vec<Move>) {
        let (config, state) = (&self.setup.config, &self.state);
        for link in 0..self.setup.devices {
            for dir in [Dir::Down, Dir::Up] {
                for (index, msg) in state.net.of(link, dir).iter().enumerate() {
                    if !state.net.is_free(config, link, dir, index) {
                        continue;
                    }
                    let (accept, ways) = match dir {
                        Dir::Down => {
                            (state.devices[link].accepts(config, 0, msg), state.devices[link].ways(config, 0, msg))
                        }
                        Dir::Up => (state.home.accepts(config, link as Port, msg), 1),
                    };
                    if accept == Accept::Take {
                        let (link, index) = (link as Port, index as u8);
                        out.extend((0..ways).map(|way| Move::Deliver { link, dir, index, way }));
                    }
                }
            }
        }
        out.extend((0..state.home.choices(config)).map(Move::Choose));
        // Whether a store is there in time to wait with the read before it (§2.4) is not said: both.
        for (n, (program, at)) in self.setup.programs.iter().zip(&state.at).enumerate() {
            if program.get(usize::from(at.0)) == Some(&Act::Store) && state.devices[n].can_join(LineAddr(0)) {
                out.push(Move::Join { device: n as Port });
            }
        }
        let free = if self.setup.programs.is_empty() { state.devices.as_slice() } else { &[] };
        for (n, cache) in free.iter().enumerate() {
            let device = n as Port;
            for line in self.lines() {
                let number = line.0 as u8;
                for &op in &self.setup.menu {
                    if cache.can_issue(op, line) {
                        out.push(Move::Issue { device, line: number, op, store: false });
                        if self.setup.waiting_stores && [Op::RdOwn, Op::RdOwnNoData].contains(&op) {
                            out.push(Move::Issue { device, line: number, op, store: true });
                        }
                    }
                }
                if cache.at(line).may_store() {
                    out.push(Move::Store { device, line: number });
                }
                if cache.can_drop(config, line) {
                    out.push(Move::Drop { device, line: number });
                }
            }
        }
        if self.setup.core {
            for line in self.lines().filter(|l| state.home.open().iter().all(|t| t.line != *l)) {
                out.push(Move::CoreRead(line.0 as u8));
                out.push(Move::CoreWrite(line.0 as u8));
            }
        }
    }

    fn fairness(&self, mv: Move) -> Fairness {
        match mv {
            Move::Deliver { .. } | Move::Choose(_) => Fairness::Strong,
            _ => Fairness::Optional,
        }
    }

    fn action(&self, mv: Move) -> u128 {
        match mv {
            Move::Deliver { link, dir, index, .. } => {
                let link = usize::from(link);
                delivery(link, dir, &self.state.net.of(link, dir)[usize::from(index)])
            }
            Move::Choose(choice) => fingerprint(&choice),
            _ => 0,
        }
    }

    fn waits(&self, out: &mut Vec<Wait>) {
        let state = &self.state;
        for (device, n) in state.devices.iter().zip(0..) {
            let agent = column(n);
            let mut wait = |awaited, line| out.push(Wait { agent, awaited, line });
            if device.is_flushing() {
                wait(Awaited::Request, None);
            }
            for (line, entry) in device.lines() {
                if !entry.at.is_stable() {
                    wait(Awaited::Request, Some(line));
                }
                if entry.store.is_some() {
                    wait(Awaited::Store, Some(line));
                }
            }
            // A store of a program that asks again and again until it is done.
            let program = self.setup.programs.get(usize::from(n)).zip(state.at.get(usize::from(n)));
            let line = LineAddr(0);
            if let Some((program, &(next, true))) = program
                && program.get(usize::from(next)) == Some(&Act::Store)
                && device.entry(line).is_none_or(|e| e.store.is_none())
                && self.setup.config.error_of(line).is_none()
            {
                wait(Awaited::Store, Some(line));
            }
        }
        let of_host = state.home.open().iter().filter(|t| !matches!(t.task, Task::Request { .. }));
        out.extend(of_host.map(|t| Wait { agent: 0, awaited: Awaited::Request, line: Some(t.line) }));
    }

    fn apply(&mut self, mv: Move, events: &mut Vec<Event>) {
        let mut out = Out::default();
        let actor = self.run(mv, &mut out, &mut Vec::new());
        for (port, msg) in out.sends {
            let link = match actor {
                Actor::Home => usize::from(port),
                Actor::Device(n) => usize::from(n),
            };
            self.state.net.send(link, msg);
        }
        let first = events.len();
        events.extend(out.events.into_iter().map(|mut e| {
            e.at = actor.name();
            e
        }));
        monitor::name_invariants(events, first);
    }

    fn describe(&self, mv: Move) -> Step {
        let mut after = self.clone();
        let mut out = Out::default();
        let mut did = Vec::new();
        let actor = after.run(mv, &mut out, &mut did);
        let sent = out
            .sends
            .iter()
            .map(|(port, msg)| match actor {
                Actor::Home => Sent { from: 0, to: column(*port), label: msg.label(), message: shown(msg) },
                Actor::Device(n) => Sent { from: column(n), to: 0, label: msg.label(), message: shown(msg) },
            })
            .collect();
        let act = |agent: usize, text: String| (agent, text);
        let (agent, text) = match mv {
            Move::Deliver { link, dir, index, .. } => {
                let msg = &self.state.net.of(usize::from(link), dir)[usize::from(index)];
                let (from, to) = if dir == Dir::Down { (0, column(link)) } else { (column(link), 0) };
                return Step::Deliver { from, to, label: msg.label(), message: shown(msg), did, sent };
            }
            Move::Issue { device, op, store, .. } => {
                let text = format!("{}{}", op.name().unwrap_or("?"), if store { ", a store waits" } else { "" });
                act(column(device), text)
            }
            Move::Join { device } => act(column(device), "a store waits".into()),
            Move::Store { device, .. } => act(column(device), "Store".into()),
            Move::Drop { device, .. } => act(column(device), "drops its copy".into()),
            Move::Choose(_) => act(0, "sends the GO".into()),
            Move::CoreRead(_) => act(0, "core reads".into()),
            Move::CoreWrite(_) => act(0, "core writes".into()),
        };
        Step::Act { agent, text, sent }
    }

    fn check(&self, events: &mut Vec<Event>) {
        let first = events.len();
        for line in self.lines() {
            let found = events.len();
            monitor::check_copies(&self.view(line), events);
            if self.may_lose(line) {
                let lost = |e: &Event| e.rule == "COH-INV-03";
                let kept: Vec<Event> = events.drain(found..).filter(|e| !lost(e)).collect();
                events.extend(kept);
            }
            self.check_answers(line, events);
            if self.setup.orders {
                self.check_orders(line, events);
            }
        }
        for (link, device) in self.state.devices.iter().enumerate().filter(|_| self.setup.orders) {
            // O7: a snoop that has arrived is answered, whatever else the device waits for.
            let lane = self.state.net.of(link, Dir::Down);
            let held = lane.iter().find(|m| device.accepts(&self.setup.config, 0, m) == Accept::Wait);
            if let Some(msg) = held {
                let at = format!("device {link}");
                events.push(Event::new(
                    "COH-ORD-07",
                    msg.line(),
                    at,
                    "a snoop that is kept waiting",
                    "an answer at once",
                ));
                if let Msg::H2dReq { opcode, line, .. } = msg
                    && let Some(snoop) = Snoop::of(*opcode)
                {
                    let (at, state) = (format!("device {link}"), device.at(*line));
                    let found = format!("Snp{} held in {}", snoop.name(), state.name());
                    events.push(Event::new(
                        snoops::row_of(state, snoop).rule,
                        *line,
                        at,
                        found,
                        "the answer of the row",
                    ));
                }
            }
        }
        monitor::name_invariants(events, first);
    }

    fn is_idle(&self) -> bool {
        self.state.net.is_empty() && self.state.home.is_idle() && self.state.devices.iter().all(Agent::is_idle)
    }

    fn check_idle(&self, events: &mut Vec<Event>) {
        for line in self.lines().filter(|l| self.setup.config.error_of(*l).is_none()) {
            let home = self.state.home.memory.read(line);
            let dirty = self.state.devices.iter().any(|d| d.at(line) == At::M) || self.may_lose(line);
            if !dirty && home.age != Age::Current {
                let found = "an old value at the home and no M copy";
                events.push(Event::new("COH-INV-14", line, "home", found, "the last store's value"));
            }
        }
    }

    fn outcome(&self) -> String {
        let line = LineAddr(0);
        let letters: String = self.state.devices.iter().map(|d| d.at(line).letter()).collect();
        let home = self.state.home.memory.read(line);
        let poison = (!self.setup.poisoners.is_empty()).then_some((home.poison, self.state.loads.as_slice()));
        outcome(&letters, home.age == Age::Current, poison)
    }

    /// Devices that run no program and poison nothing are alike: they are sorted by all that the system knows of them.
    fn canonical(self) -> Self {
        if !self.setup.programs.is_empty() || !self.setup.poisoners.is_empty() {
            return self;
        }
        let order = self.by_content();
        if order.is_sorted() { self } else { self.renamed(&order) }
    }
}

/// The same system with its devices renamed.
impl CacheSystem {
    /// The devices, sorted by all that is known of them without their numbers.
    fn by_content(&self) -> Vec<usize> {
        let state = &self.state;
        // UQIDs name the port: all are compared as those of one port.
        let same = |msg: &Msg<Token>| {
            let mut msg = *msg;
            on_port(&mut msg, 0);
            msg
        };
        let messages = |n: usize, dir: Dir| state.net.of(n, dir).iter().map(same);
        let owing = |n: usize| {
            let mut device = state.devices[n].clone();
            device.rename_port(0);
            device
        };
        let mut order: Vec<usize> = (0..state.devices.len()).collect();
        order.sort_by(|&a, &b| {
            let by_state = owing(a).cmp(&owing(b));
            by_state
                .then_with(|| messages(a, Dir::Down).cmp(messages(b, Dir::Down)))
                .then_with(|| messages(a, Dir::Up).cmp(messages(b, Dir::Up)))
                .then_with(|| state.home.signature(a as Port).cmp(&state.home.signature(b as Port)))
        });
        order
    }

    /// Device `order[n]` becomes n.
    fn renamed(self, order: &[usize]) -> Self {
        let mut to = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            to[old] = new as Port;
        }
        let Self { setup, state } = self;
        let devices = order
            .iter()
            .map(|&old| {
                let mut device = state.devices[old].clone();
                device.rename_port(to[old]);
                device
            })
            .collect();
        let home = state.home.renamed(&to);
        let net = state.net.renamed(order, |msg, new| on_port(msg, new as Port));
        Self { setup, state: State { devices, home, net, ..state } }
    }
}

/// The same message where its device is on another port: its UQID says so.
fn on_port(msg: &mut Msg<Token>, port: Port) {
    match msg {
        Msg::H2dReq { uqid, .. } | Msg::D2hRsp { uqid, .. } | Msg::D2hData { uqid, .. } => *uqid = *uqid & !15 | port,
        Msg::H2dRsp { opcode, rsp_data, .. } if requests::names_uqid(*opcode) => *rsp_data = *rsp_data & !15 | port,
        _ => {}
    }
}

/// What an open transaction holds of the line's data.
fn data_kept(transaction: &Transaction<Token>) -> impl Iterator<Item = &Token> {
    let write = match &transaction.task {
        Task::CoreWrite { data, .. } => Some(data),
        _ => None,
    };
    transaction.values().chain(write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::system::{orbits, reachable};
    use scalepool_coherence::config::{ErrorAnswer, ErrorRange};

    fn drops() -> CoherenceConfig {
        CoherenceConfig { silent_drop_e: true, ..CoherenceConfig::default() }
    }

    /// The form does not depend on which port an open snoop or pull was sent to, nor on early data at the home, nor on
    /// RspData that names nobody.
    #[test]
    fn every_renaming_of_a_state_has_one_form() {
        let two = reachable(&CacheSystem::new(Setup::free(CoherenceConfig::default(), 2, ALL_REQUESTS)));
        let left = orbits(&two, 2, |s, order| s.renamed(order));
        println!("two devices: {} states, {left} without names", two.len());
        // Every answer is an error, and the copy is there from the start: its CleanEvict is answered too.
        let range = ErrorRange { first: 0, last: 63, answer: ErrorAnswer::GoError };
        let refusing = CoherenceConfig { error_ranges: vec![range], ..CoherenceConfig::default() };
        let start = CacheSystem::new(Setup::free(refusing, 2, ALL_REQUESTS)).start_at(&[At::I, At::E]);
        orbits(&reachable(&start), 2, |s, order| s.renamed(order));
        let menu = [Op::RdShared, Op::RdOwn, Op::DirtyEvict];
        let three = reachable(&CacheSystem::new(Setup { waiting_stores: false, ..Setup::free(drops(), 3, &menu) }));
        let left = orbits(&three, 3, |s, order| s.renamed(order));
        println!("three devices: {} states, {left} without names", three.len());
    }
}
