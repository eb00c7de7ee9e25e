//! An accelerator behind a bridge with a window of class CC, the host whose memory it uses, and a device that caches lines of the host as
//! well, as one state of a search (`bridge` §9.5, §9.6 R6 to R8).
//!
//! Modelled: the outbound half of a bridge with its conversion cache or without, requesters that read, write and compute, a device with a
//! cache, the core of the host, and its home agent; every order of deliveries that the ordering rules leave open, and every order in
//! which requests begin. Detail: bytes by value, as [beside](super). Left out: time, links, time-outs, errors of the host, poison, full tables and
//! buffers. A write of the bridge has its place in coherence order when its data leaves, since the home keeps all others from the line
//! from its snoops to the data.
//!
//! One move: an operation begins, a message arrives, or an access to the memory of the cache ends.

use super::asked::{ACCELERATOR, AskedBridge, AskedSetup, BRIDGE, LeavingMessage, Surroundings};
use super::{AcceleratorOperation, filled};
use crate::explore::system::{AgentWait, Awaited, ChartStep, ExploredSystem, Fairness, SentMessage, delivery};
use crate::net::Net;
use scalepool_bridge::cache::StorePolicy;
use scalepool_bridge::outbound::BridgeActor;
use scalepool_bridge::watched::BridgeLines;
use scalepool_bridge::window::WindowClass;
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::backing::Backing;
use scalepool_coherence::cache::device::{DeviceCache, WriteBytes};
use scalepool_coherence::cache::home::HomeAgent;
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::clocked::cache::Sparse;
use scalepool_coherence::clocked::watcher::Watched;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::{Dir, Msg, shown};
use scalepool_coherence::monitor::{CopyView, View, check_copies, name_invariants};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Columns and ports: the device is behind port 0 of the home, the bridge behind port 1, each over the link of its number.
const COLUMNS: [&str; 4] = ["device", "bridge", "home", "accelerator"];
const DEVICE: usize = 0;
const HOME: usize = 2;

/// What is wrong with a bridge at the port of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongHostBridge {
    /// It says of no copy that it has it.
    HidesCopies,
    /// What it is pulled behind a snoop it sends as if it was good.
    NotBogus,
    /// It writes all bytes of a line of which some are enabled.
    WritesAll,
}

impl WrongHostBridge {
    /// All of them.
    pub const ALL: [WrongHostBridge; 3] =
        [WrongHostBridge::HidesCopies, WrongHostBridge::NotBogus, WrongHostBridge::WritesAll];

    /// What leaves instead of a message, if anything does.
    fn sent(self, by: Option<BridgeActor>, msg: Msg<CacheLine>) -> Option<Msg<CacheLine>> {
        match (self, msg) {
            (WrongHostBridge::HidesCopies, Msg::D2hRsp { uqid, .. }) => {
                Some(Msg::D2hRsp { opcode: D2hRspOpcode::RspIHitI, uqid })
            }
            (WrongHostBridge::HidesCopies, Msg::D2hData { .. }) if by.is_none() => None,
            (WrongHostBridge::NotBogus, Msg::D2hData { uqid, data, enables, .. }) => {
                Some(Msg::D2hData { uqid, bogus: false, data, enables })
            }
            (WrongHostBridge::WritesAll, Msg::D2hData { uqid, bogus, data, .. }) => {
                Some(Msg::D2hData { uqid, bogus, data, enables: WHOLE_LINE })
            }
            (_, msg) => Some(msg),
        }
    }
}

/// What is explored.
#[derive(Debug, Clone)]
pub struct HostBridgeSetup {
    /// Choices of home and device.
    pub config: CoherenceConfig,
    /// The conversion cache keeps lines; `None`: there is none.
    pub stores: Option<StorePolicy>,
    /// Lines, 1 to 4; the cache has room for one of them.
    pub lines: u8,
    /// Requesters, each with one request at a time.
    pub requesters: u8,
    /// Requests that begin, at most.
    pub requests: u8,
    /// Operations of the device that begin, at most.
    pub of_device: u8,
    /// Stores of the core of the host that begin, at most.
    pub of_core: u8,
    /// What is wrong with the bridge.
    pub wrong: Option<WrongHostBridge>,
}

impl HostBridgeSetup {
    /// One line, one accelerator with two requests, an operation of the device and one of the core of the host.
    pub fn one_line(config: CoherenceConfig, stores: Option<StorePolicy>) -> HostBridgeSetup {
        let (lines, requesters, requests, of_device, of_core) = (1, 1, 2, 1, 1);
        HostBridgeSetup { config, stores, lines, requesters, requests, of_device, of_core, wrong: None }
    }
}

/// An operation of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceOperation {
    /// Loads a line that it does not have.
    Load,
    /// Stores to all of it.
    Store,
    /// Gives its copy up.
    Evict,
}

/// What accelerators do.
const OPERATIONS: [AcceleratorOperation; 4] = [
    AcceleratorOperation::Read,
    AcceleratorOperation::Write,
    AcceleratorOperation::WriteWord,
    AcceleratorOperation::Add,
];

/// A move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HostBridgeMove {
    /// A message arrives.
    Deliver { link: u8, dir: Dir, index: u8 },
    /// An access to the memory of the cache ends.
    Access { index: u8 },
    /// A requester begins.
    Request { requester: u8, operation: AcceleratorOperation, line: u8 },
    /// The device begins.
    Device { operation: DeviceOperation, line: u8 },
    /// The core of the host stores to all of a line.
    Core { line: u8 },
}

/// The system.
#[derive(Debug, Clone)]
pub struct HostBridgeSystem {
    setup: Arc<HostBridgeSetup>,
    asked: AskedBridge,
    home: HomeAgent<CacheLine, Sparse>,
    device: DeviceCache<CacheLine>,
    net: Net<CacheLine>,
    /// Operations of the device and stores of the core that have begun.
    begun: [u8; 2],
}

impl HostBridgeSystem {
    fn content(&self) -> impl PartialEq + Hash + '_ {
        ((&self.home, &self.device, &self.net), self.asked.content(), self.begun)
    }
}

impl PartialEq for HostBridgeSystem {
    fn eq(&self, other: &Self) -> bool {
        self.content() == other.content()
    }
}

impl Eq for HostBridgeSystem {}

impl Hash for HostBridgeSystem {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.content().hash(state);
    }
}

/// A store of a whole line by the host or the device.
fn whole(store: u8) -> WriteBytes<CacheLine> {
    WriteBytes { data: filled(store), enables: WHOLE_LINE }
}

/// The line that a child writes by a message of its own, without owning it; `None`: it gives back what it owned.
fn written(asked: &AskedBridge, by: BridgeActor, msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine)> {
    let (BridgeActor::Child(id), Msg::D2hData { bogus: false, data, enables, .. }) = (by, *msg) else { return None };
    let child = asked.bridge.child_of(id).filter(|child| child.steps.len() == 1 && child.cached.is_none())?;
    let mut line = asked.history[child.line.0 as usize].newest();
    line.merge(&data, enables);
    Some((child.line, line))
}

impl HostBridgeSystem {
    /// Nothing has begun, and memory is all zeros.
    pub fn new(setup: HostBridgeSetup) -> HostBridgeSystem {
        let HostBridgeSetup { stores, lines, requesters, .. } = setup;
        let (class, is_one_source, wrong) = (WindowClass::Cc, false, None);
        HostBridgeSystem {
            asked: AskedBridge::new(AskedSetup { class, stores, lines, requesters, is_one_source, wrong }),
            home: HomeAgent::new(Sparse::default()),
            device: DeviceCache::new(),
            net: Net::new(2),
            begun: [0; 2],
            setup: Arc::new(setup),
        }
    }

    /// Does something at the bridge, with what is around it.
    fn at_bridge(
        &mut self,
        events: &mut Vec<CoherenceEvent>,
        work: impl FnOnce(&mut AskedBridge, &mut Surroundings<'_>),
    ) {
        let HostBridgeSetup { config, wrong, .. } = &*self.setup;
        let leaves = |asked: &AskedBridge, by: Option<BridgeActor>, msg: Msg<CacheLine>| LeavingMessage {
            placed: by.and_then(|by| written(asked, by, &msg)),
            sent: wrong.map_or(Some(msg), |wrong| wrong.sent(by, msg)),
        };
        work(&mut self.asked, &mut Surroundings { config, net: &mut self.net, leaves: &leaves, events });
    }

    fn device_operations(&self, line: LineAddr, out: &mut Vec<HostBridgeMove>) {
        let of = |operation| HostBridgeMove::Device { operation, line: line.0 as u8 };
        match self.device.at(line) {
            CacheLineState::I => out.extend([of(DeviceOperation::Load), of(DeviceOperation::Store)]),
            CacheLineState::S | CacheLineState::E | CacheLineState::M => {
                out.extend([of(DeviceOperation::Store), of(DeviceOperation::Evict)]);
            }
            _ => (),
        }
    }

    fn at_device(&mut self, operation: DeviceOperation, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        self.begun[0] += 1;
        let mut out = AgentOutput::default();
        let at = self.device.at(line);
        let (op, bytes) = match (operation, at) {
            (DeviceOperation::Load, _) => (D2hReqOpcode::RdShared, None),
            (DeviceOperation::Store, CacheLineState::E | CacheLineState::M) => {
                let store = whole(self.asked.next_store());
                self.device.store(line, &store, &mut out);
                return self.settle(DEVICE, out, events);
            }
            (DeviceOperation::Store, CacheLineState::S) => {
                (D2hReqOpcode::RdOwnNoData, Some(whole(self.asked.next_store())))
            }
            (DeviceOperation::Store, _) => (D2hReqOpcode::RdOwn, Some(whole(self.asked.next_store()))),
            (DeviceOperation::Evict, CacheLineState::M) => (D2hReqOpcode::DirtyEvict, None),
            (DeviceOperation::Evict, CacheLineState::E) => (D2hReqOpcode::CleanEvict, None),
            (DeviceOperation::Evict, _) => (D2hReqOpcode::CleanEvictNoData, None),
        };
        self.device.issue(op, line, bytes, &mut out);
        self.settle(DEVICE, out, events);
    }

    /// Takes what home or device has done.
    fn settle(&mut self, agent: usize, mut out: AgentOutput<CacheLine>, events: &mut Vec<CoherenceEvent>) {
        events.append(&mut out.events);
        for effect in &out.effects {
            let (line, value) = match *effect {
                // A copy that has gone in the same step left as data.
                Effect::Stored(line) => {
                    let here = self.device.entry(line).and_then(|entry| entry.data.as_ref().map(|bytes| bytes.data));
                    (line, here.or_else(|| out.sends.iter().rev().find_map(|(_, msg)| msg.data().copied())))
                }
                // What the bridge wrote was the newest value before.
                Effect::Written(line) => (line, Some(self.home.memory.read(line))),
                _ => continue,
            };
            let history = &mut self.asked.history[line.0 as usize];
            if let Some(value) = value.filter(|value| *value != history.newest()) {
                history.host_stores(value.bytes[0]);
            }
        }
        for (port, msg) in out.sends {
            self.net.send(if agent == HOME { port.into() } else { agent }, msg);
        }
    }

    fn deliver(&mut self, link: u8, dir: Dir, index: u8, events: &mut Vec<CoherenceEvent>) {
        let msg = self.net.remove(link.into(), dir, index.into());
        let setup = Arc::clone(&self.setup);
        let mut out = AgentOutput::default();
        match (dir, usize::from(link)) {
            (Dir::Up, _) => {
                self.home.take(&setup.config, link.into(), msg, 0, &mut out);
                self.settle(HOME, out, events);
            }
            (Dir::Down, DEVICE) => {
                self.device.take(&setup.config, 0, msg, 0, &mut out);
                self.settle(DEVICE, out, events);
            }
            (Dir::Down, _) => self.at_bridge(events, |asked, around| asked.receive(msg, around)),
        }
    }

    /// The view of a line that the monitors ask for.
    fn view(&self, line: LineAddr) -> View<CacheLine> {
        let config = &self.setup.config;
        let of_bridge = BridgeLines::of(&self.asked.bridge, 0, &[line]);
        let copies = [(DEVICE, self.device.copy(config, line)), (BRIDGE, of_bridge.copy(config, line))];
        let copies: Vec<_> = copies.into_iter().filter_map(|(agent, copy)| Some(CopyView { agent, ..copy? })).collect();
        let memory = self.home.memory.read(line);
        let early = [self.device.early(line), of_bridge.early(line)].into_iter().flatten();
        let kept = self.home.open().iter().filter(|open| open.line == line).flat_map(|open| open.values()).copied();
        let under_way = self.net.iter().filter_map(|(_, msg)| match *msg {
            Msg::H2dData { data, .. } => Some(data),
            Msg::D2hData { bogus: false, data, enables, .. } => {
                let mut merged = memory;
                merged.merge(&data, enables);
                Some(merged)
            }
            _ => None,
        });
        // What is not usable is on its way home: an evict whose end is under way.
        let leaving = copies.iter().filter(|copy| !copy.usable).map(|copy| copy.agent as AgentPort);
        let tracked = leaving.fold(self.home.holders(line).all(), |all, port| all.with(port));
        View {
            line,
            newest: self.asked.history[line.0 as usize].newest(),
            home: memory,
            in_flight: under_way.chain(early).chain(kept).collect(),
            copies,
            tracked,
            levels: Vec::new(),
        }
    }
}

impl ExploredSystem for HostBridgeSystem {
    type Move = HostBridgeMove;

    fn columns(&self) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn moves(&self, out: &mut Vec<HostBridgeMove>) {
        let HostBridgeSetup { config, requests, of_device, of_core, .. } = &*self.setup;
        for link in [DEVICE as u8, BRIDGE as u8] {
            for dir in [Dir::Down, Dir::Up] {
                for (index, msg) in self.net.of(link.into(), dir).iter().enumerate() {
                    let is_taken = || dir == Dir::Down || self.home.accepts(config, link.into(), msg) == Accept::Take;
                    if self.net.is_free(config, link.into(), dir, index) && is_taken() {
                        out.push(HostBridgeMove::Deliver { link, dir, index: index as u8 });
                    }
                }
            }
        }
        out.extend((0..self.asked.accesses.len() as u8).map(|index| HostBridgeMove::Access { index }));
        let requests = self.asked.may_begin(*requests, &OPERATIONS);
        out.extend(requests.map(|(requester, operation, line)| HostBridgeMove::Request { requester, operation, line }));
        if self.begun[0] < *of_device {
            self.asked.lines().for_each(|line| self.device_operations(line, out));
        }
        let is_busy = |line: &LineAddr| self.home.open().iter().any(|open| open.line == *line);
        let free = self.asked.lines().filter(|line| self.begun[1] < *of_core && !is_busy(line));
        out.extend(free.map(|line| HostBridgeMove::Core { line: line.0 as u8 }));
    }

    fn fairness(&self, mv: HostBridgeMove) -> Fairness {
        match mv {
            HostBridgeMove::Deliver { .. } | HostBridgeMove::Access { .. } => Fairness::Strong,
            _ => Fairness::Optional,
        }
    }

    fn action(&self, mv: HostBridgeMove) -> u128 {
        match mv {
            HostBridgeMove::Deliver { link, dir, index } => {
                delivery(link.into(), dir, &self.net.of(link.into(), dir)[usize::from(index)])
            }
            HostBridgeMove::Access { index } => self.asked.access_action(index),
            _ => 0,
        }
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        self.asked.waits(out);
        for line in self.asked.lines().filter(|line| !self.device.at(*line).is_stable()) {
            out.push(AgentWait { agent: DEVICE, awaited: Awaited::Request, line: Some(line) });
        }
    }

    fn apply(&mut self, mv: HostBridgeMove, events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        let first = events.len();
        match mv {
            HostBridgeMove::Deliver { link, dir, index } => self.deliver(link, dir, index, events),
            HostBridgeMove::Access { index } => self.at_bridge(events, |asked, around| asked.accessed(index, around)),
            HostBridgeMove::Request { requester, operation, line } => {
                self.at_bridge(events, |asked, around| asked.request(requester, operation, line, around));
            }
            HostBridgeMove::Device { operation, line } => self.at_device(operation, LineAddr(line.into()), events),
            HostBridgeMove::Core { line } => {
                self.begun[1] += 1;
                let (store, setup) = (whole(self.asked.next_store()), Arc::clone(&self.setup));
                let mut out = AgentOutput::default();
                let at = LineAddr(line.into());
                self.home.core_write(&setup.config, at, store.data, store.enables, &mut out);
                self.settle(HOME, out, events);
            }
        }
        name_invariants(events, first);
        None
    }

    fn describe(&self, mv: HostBridgeMove) -> ChartStep {
        let mut after = self.clone();
        after.apply(mv, &mut Vec::new());
        let mut sent = Vec::new();
        for link in [DEVICE, BRIDGE] {
            for (dir, from, to) in [(Dir::Down, HOME, link), (Dir::Up, link, HOME)] {
                let new = self.net.new_in(&after.net, link, dir).into_iter();
                sent.extend(new.map(|msg| SentMessage { from, to, label: msg.label(), message: shown(msg) }));
            }
        }
        match mv {
            HostBridgeMove::Deliver { link, dir, index } => {
                let msg = self.net.of(link.into(), dir)[usize::from(index)];
                let (from, to) = if dir == Dir::Up { (link.into(), HOME) } else { (HOME, link.into()) };
                ChartStep::Deliver { from, to, label: msg.label(), message: shown(&msg), did: Vec::new(), sent }
            }
            HostBridgeMove::Access { .. } => {
                ChartStep::Act { agent: BRIDGE, text: "an access to the cache ends".to_owned(), line: None, sent }
            }
            HostBridgeMove::Request { operation, line, .. } => ChartStep::Act {
                agent: ACCELERATOR,
                text: format!("{operation:?}"),
                line: Some(LineAddr(line.into())),
                sent,
            },
            HostBridgeMove::Device { operation, line } => ChartStep::Act {
                agent: DEVICE,
                text: format!("{operation:?}"),
                line: Some(LineAddr(line.into())),
                sent,
            },
            HostBridgeMove::Core { line } => ChartStep::Act {
                agent: HOME,
                text: "its core stores".to_owned(),
                line: Some(LineAddr(line.into())),
                sent,
            },
        }
    }

    fn check(&self, events: &mut Vec<CoherenceEvent>) {
        let first = events.len();
        self.asked.lines().for_each(|line| check_copies(&self.view(line), &|n| COLUMNS[n].to_owned(), events));
        name_invariants(events, first);
    }

    fn is_idle(&self) -> bool {
        self.net.is_empty() && self.asked.is_idle() && self.home.is_idle() && self.device.is_idle()
    }

    fn outcome(&self) -> String {
        self.asked.outcome(DEVICE, |line| self.view(line))
    }

    fn check_idle(&self, events: &mut Vec<CoherenceEvent>) {
        self.asked.check_idle(|line| self.view(line), events);
    }
}
