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

use super::judged::{LineHistory, OpenRequest};
use super::{ADDED, AcceleratorOperation, BASE, Shown, WORD_ENABLES, filled, small_cache};
use crate::explore::fingerprint::fingerprint;
use crate::explore::system::{AgentWait, Awaited, ChartStep, ExploredSystem, Fairness, SentMessage, delivery, outcome};
use crate::net::Net;
use scalepool_bridge::cache::StorePolicy;
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::outbound::table::{ChildId, FEWEST_ENTRIES};
use scalepool_bridge::outbound::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge, OutboundConfig, upli};
use scalepool_bridge::watched::BridgeLines;
use scalepool_bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, LEAST_BYTES, WindowClass};
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use scalepool_coherence::cache::backing::Backing;
use scalepool_coherence::cache::device::{DeviceCache, WriteBytes};
use scalepool_coherence::cache::home::HomeAgent;
use scalepool_coherence::cache::state::CacheLineState;
use scalepool_coherence::clocked::cache::Sparse;
use scalepool_coherence::clocked::watcher::Watched;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr, LineContent, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::{Dir, Msg, shown};
use scalepool_coherence::monitor::{CopyView, View, check_copies, name_invariants};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, D2hRspOpcode};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::pack::with_data;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Columns and ports: the device is behind port 0 of the home, the bridge behind port 1, each over the link of its number.
const COLUMNS: [&str; 4] = ["device", "bridge", "home", "accelerator"];
const DEVICE: usize = 0;
const BRIDGE: usize = 1;
const HOME: usize = 2;
const ACCELERATOR: usize = 3;

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
    bridge: OutboundBridge,
    /// Accesses to the memory of the cache that have not ended.
    accesses: Vec<BridgeActor>,
    home: HomeAgent<CacheLine, Sparse>,
    device: DeviceCache<CacheLine>,
    net: Net<CacheLine>,
    /// Requests by requester.
    requests: Vec<Option<OpenRequest>>,
    history: Vec<LineHistory>,
    /// Requests of accelerators, of the device and of the core that have begun, and stores.
    begun: [u8; 3],
    stores: u8,
}

impl HostBridgeSystem {
    fn content(&self) -> impl PartialEq + Hash + '_ {
        let mut bridge = Shown::default();
        self.bridge.hash_state(&mut bridge);
        self.accesses.iter().for_each(|by| by.hash(&mut bridge));
        let agents = (&self.home, &self.device, &self.net, bridge.0);
        (agents, &self.requests, &self.history, self.begun, self.stores)
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

impl HostBridgeSystem {
    /// Nothing has begun, and memory is all zeros.
    pub fn new(setup: HostBridgeSetup) -> HostBridgeSystem {
        let (class, rights) = (WindowClass::Cc, [AccessRights::ALL; GROUPS]);
        let (ports, granule) = (vec![0], 256);
        let window = BridgeWindow { base: BASE, size: LEAST_BYTES, out_base: 0, class, ports, granule, rights };
        let windows = BridgeWindows::new(vec![window], OrderedMap::new(), 1);
        let config = OutboundConfig {
            windows: windows.unwrap_or_else(|e| unreachable!("{e}")),
            entries: FEWEST_ENTRIES,
            write_buffers: 4,
            order: BridgeOrder::Blocks,
            data: setup.stores.map(|stores| small_cache(stores, 1)),
            templates: None,
            ecc: None,
            host_ports: 0..1,
            control: None,
            io_ack: Default::default(),
            single_beat: false,
            exported: None,
        };
        HostBridgeSystem {
            bridge: OutboundBridge::new(config),
            accesses: Vec::new(),
            home: HomeAgent::new(Sparse::default()),
            device: DeviceCache::new(),
            net: Net::new(2),
            requests: vec![None; setup.requesters.into()],
            history: vec![LineHistory::new(); setup.lines.into()],
            begun: [0; 3],
            stores: 0,
            setup: Arc::new(setup),
        }
    }

    fn lines(&self) -> impl Iterator<Item = LineAddr> + use<> {
        (0..u64::from(self.setup.lines)).map(LineAddr)
    }

    fn next_store(&mut self) -> u8 {
        self.stores += 1;
        self.stores
    }

    /// A store of an accelerator has been done where this is the line now.
    fn placed(&mut self, line: LineAddr, content: &CacheLine, events: &mut Vec<CoherenceEvent>) {
        let open = self.requests.iter().flatten().filter(|open| LineAddr(open.line.into()) == line);
        if let Some(found) = self.history[line.0 as usize].placed(content, open) {
            let expected = "what an open request makes of the newest value";
            events.push(CoherenceEvent::new("COH-INV-03", line, "system", found, expected));
        }
    }

    /// The line that a child writes by a message of its own, without owning it; `None`: it gives back what it owned.
    fn written(&self, id: ChildId, msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine)> {
        let Msg::D2hData { bogus: false, data, enables, .. } = *msg else { return None };
        let child = self.bridge.child_of(id).filter(|child| child.steps.len() == 1 && child.cached.is_none())?;
        let mut line = self.history[child.line.0 as usize].newest();
        line.merge(&data, enables);
        Some((child.line, line))
    }

    /// Does what the bridge asks for.
    fn follow(&mut self, out: BridgeOutput, events: &mut Vec<CoherenceEvent>) {
        for finding in out.findings {
            events.push(CoherenceEvent::new(finding.rule, None, COLUMNS[BRIDGE], finding.found, finding.expected));
        }
        for step in out.steps {
            match step {
                BridgeStep::Send { by, msg, .. } => {
                    let mut more = BridgeOutput::default();
                    if let Some(BridgeActor::Child(id)) = by {
                        if let Some((line, content)) = self.written(id, &msg) {
                            self.placed(line, &content, events);
                        }
                        self.bridge.sent(id, &msg, &mut more);
                    }
                    let sent = match self.setup.wrong {
                        Some(wrong) => wrong.sent(by, msg),
                        None => Some(msg),
                    };
                    sent.into_iter().for_each(|msg| self.net.send(BRIDGE, msg));
                    if !more.steps.is_empty() || !more.findings.is_empty() {
                        self.follow(more, events);
                    }
                }
                BridgeStep::Access { by: Some(by), .. } => self.accesses.push(by),
                BridgeStep::Changed { line, is_stored: true, copy, .. } => {
                    let stored = copy.copy(&self.setup.config, line).map(|copy| copy.value);
                    stored.iter().for_each(|content| self.placed(line, content, events));
                }
                BridgeStep::Respond { entry } => self.respond(entry, events),
                BridgeStep::Access { by: None, .. }
                | BridgeStep::Changed { .. }
                | BridgeStep::Advanced { .. }
                | BridgeStep::SendTlp { .. }
                | BridgeStep::AskOwner(_)
                | BridgeStep::Waits { .. }
                | BridgeStep::GoesOn { .. }
                | BridgeStep::Beat { .. }
                | BridgeStep::Viral => (),
            }
        }
    }

    /// A response is ready: what it says is judged, and its entry is free.
    fn respond(&mut self, entry: u16, events: &mut Vec<CoherenceEvent>) {
        let slot = self.requests.iter().position(|open| open.as_ref().is_some_and(|open| open.entry == entry));
        let (Some(slot), Some((_, response))) = (slot, self.bridge.response(entry)) else {
            let found = format!("a response for entry {entry}");
            return events.push(CoherenceEvent::new("COH-IDS-01", None, COLUMNS[BRIDGE], found, "an open request"));
        };
        let Some(open) = self.requests[slot].take() else { return };
        let history = &mut self.history[usize::from(open.line)];
        if let Some((rule, found, expected)) = history.judge(&open, response.status, response.lines.first()) {
            events.push(CoherenceEvent::new(rule, LineAddr(open.line.into()), COLUMNS[ACCELERATOR], found, expected));
        }
        self.bridge.left(entry);
    }

    fn request(&mut self, requester: u8, operation: AcceleratorOperation, line: u8, events: &mut Vec<CoherenceEvent>) {
        self.begun[0] += 1;
        let address = BASE + u64::from(line) * LINE_BYTES as u64;
        let (cmd, len, attr) = match operation {
            AcceleratorOperation::Read => (ReqCmd::Read, 15, 0),
            AcceleratorOperation::WriteWord => (ReqCmd::Write, 15, 0),
            AcceleratorOperation::Add => (ReqCmd::AtomicR, 1, 1 << 2),
            AcceleratorOperation::Write | AcceleratorOperation::WritePoison => (ReqCmd::WriteFull, 15, 0),
        };
        let is_store = !matches!(operation, AcceleratorOperation::Read | AcceleratorOperation::Add);
        let value = if is_store { self.next_store() } else { 0 };
        let mut beat = [value; LINE_BYTES];
        if operation == AcceleratorOperation::Add {
            beat[..8].copy_from_slice(&ADDED.to_le_bytes());
        }
        let data: &[_] = if operation == AcceleratorOperation::Read { &[] } else { &[beat] };
        let mut enables = [0; 32];
        enables[usize::from(line) * 8..][..8].copy_from_slice(&WORD_ENABLES.to_le_bytes());
        let has_enables = matches!(operation, AcceleratorOperation::WriteWord | AcceleratorOperation::Add);
        let (src, tag) = (requester.into(), requester.into());
        let req = TlReq { cmd, address, len, attr, src, tag, ..TlReq::default() };
        let request = upli::asked(&with_data(ControlField::Request(req), data, has_enables.then_some(enables)));
        let since = self.history[usize::from(line)].now();
        let Some(entry) = request.and_then(|request| self.bridge.admit(0, request)) else {
            let (at, found) = (LineAddr(line.into()), "a request that finds no room");
            return events.push(CoherenceEvent::new("COH-INV-09", at, COLUMNS[BRIDGE], found, "an entry and a buffer"));
        };
        let number = self.begun[0];
        self.requests[usize::from(requester)] = Some(OpenRequest { number, entry, operation, line, value, since });
        let mut out = BridgeOutput::default();
        self.bridge.start(entry, &mut out);
        self.follow(out, events);
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
        self.begun[1] += 1;
        let mut out = AgentOutput::default();
        let at = self.device.at(line);
        let (op, bytes) = match (operation, at) {
            (DeviceOperation::Load, _) => (D2hReqOpcode::RdShared, None),
            (DeviceOperation::Store, CacheLineState::E | CacheLineState::M) => {
                let store = whole(self.next_store());
                self.device.store(line, &store, &mut out);
                return self.settle(DEVICE, out, events);
            }
            (DeviceOperation::Store, CacheLineState::S) => (D2hReqOpcode::RdOwnNoData, Some(whole(self.next_store()))),
            (DeviceOperation::Store, _) => (D2hReqOpcode::RdOwn, Some(whole(self.next_store()))),
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
            let history = &mut self.history[line.0 as usize];
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
            (Dir::Down, _) => {
                let mut out = BridgeOutput::default();
                self.bridge.receive(0, msg, &mut out);
                self.follow(out, events);
            }
        }
    }

    /// The view of a line that the monitors ask for.
    fn view(&self, line: LineAddr) -> View<CacheLine> {
        let config = &self.setup.config;
        let of_bridge = BridgeLines::of(&self.bridge, 0, &[line]);
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
            newest: self.history[line.0 as usize].newest(),
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
        let HostBridgeSetup { config, requesters, requests, lines, of_device, of_core, .. } = &*self.setup;
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
        out.extend((0..self.accesses.len() as u8).map(|index| HostBridgeMove::Access { index }));
        let operations = [
            AcceleratorOperation::Read,
            AcceleratorOperation::Write,
            AcceleratorOperation::WriteWord,
            AcceleratorOperation::Add,
        ];
        for requester in (0..*requesters).filter(|_| self.begun[0] < *requests) {
            if self.requests[usize::from(requester)].is_none() {
                for line in 0..*lines {
                    out.extend(operations.map(|operation| HostBridgeMove::Request { requester, operation, line }));
                }
            }
        }
        if self.begun[1] < *of_device {
            self.lines().for_each(|line| self.device_operations(line, out));
        }
        let is_busy = |line: &LineAddr| self.home.open().iter().any(|open| open.line == *line);
        let free = self.lines().filter(|line| self.begun[2] < *of_core && !is_busy(line));
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
            HostBridgeMove::Access { index } => match self.accesses[usize::from(index)] {
                BridgeActor::Child(id) => fingerprint(&("access", id.tag())),
                BridgeActor::WriteBack(n) => fingerprint(&("write back", n)),
            },
            _ => 0,
        }
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        for open in self.requests.iter().flatten() {
            let line = Some(LineAddr(open.line.into()));
            out.push(AgentWait { agent: ACCELERATOR, awaited: Awaited::Request, line });
        }
        for line in self.lines().filter(|line| !self.device.at(*line).is_stable()) {
            out.push(AgentWait { agent: DEVICE, awaited: Awaited::Request, line: Some(line) });
        }
    }

    fn apply(&mut self, mv: HostBridgeMove, events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        let first = events.len();
        match mv {
            HostBridgeMove::Deliver { link, dir, index } => self.deliver(link, dir, index, events),
            HostBridgeMove::Access { index } => {
                let by = self.accesses.remove(index.into());
                let mut out = BridgeOutput::default();
                self.bridge.accessed(by, &mut out);
                self.follow(out, events);
            }
            HostBridgeMove::Request { requester, operation, line } => self.request(requester, operation, line, events),
            HostBridgeMove::Device { operation, line } => self.at_device(operation, LineAddr(line.into()), events),
            HostBridgeMove::Core { line } => {
                self.begun[2] += 1;
                let (store, setup) = (whole(self.next_store()), Arc::clone(&self.setup));
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
        self.lines().for_each(|line| check_copies(&self.view(line), &|n| COLUMNS[n].to_owned(), events));
        name_invariants(events, first);
    }

    fn is_idle(&self) -> bool {
        self.net.is_empty()
            && self.accesses.is_empty()
            && self.home.is_idle()
            && self.device.is_idle()
            && self.bridge.open() == 0
    }

    /// The states of the copies of device and bridge, and whether memory is current, line by line.
    fn outcome(&self) -> String {
        let of_line = |line: LineAddr| {
            let view = self.view(line);
            let letter = |agent: usize| match view.copies.iter().find(|copy| copy.agent == agent) {
                None => 'I',
                Some(copy) if copy.dirty => 'M',
                Some(copy) if copy.writable => 'E',
                Some(_) => 'S',
            };
            outcome(&format!("{}{}", letter(DEVICE), letter(BRIDGE)), view.home == view.newest, None)
        };
        self.lines().map(of_line).collect::<Vec<_>>().join(", ")
    }

    fn check_idle(&self, events: &mut Vec<CoherenceEvent>) {
        let mut say = |line: Option<LineAddr>, found: String, expected: &str| {
            events.push(CoherenceEvent::new("COH-INV-14", line, "system", found, expected));
        };
        if let Some(held) = self.bridge.held() {
            say(None, format!("{held} at the bridge"), "nothing that is held");
        }
        for line in self.lines() {
            let untold = self.history[line.0 as usize].untold();
            if untold > 0 && self.requests.iter().all(Option::is_none) {
                say(Some(line), format!("results of {untold} atomics that nobody asked for"), "one for each request");
            }
            let view = self.view(line);
            if view.home != view.newest && !view.copies.iter().any(|copy| copy.dirty) {
                say(Some(line), format!("{} in memory and no M copy", view.home), "the newest value");
            }
        }
    }
}
