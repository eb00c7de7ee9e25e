//! An accelerator behind a bridge, a host and a device with back-invalidation as one state of a search (`bridge` §9.6).
//!
//! Modelled: the outbound half of a bridge with its conversion cache or without, requesters that read, write and compute, a host with its
//! cache, and the device whose lines all of them share; every order of deliveries that the ordering rules leave open, and every order in
//! which requests begin. Detail: bytes by value. Each store writes a number of its own, so a value says which store it is of, and what is
//! computed says of which value. Left out: time, links, time-outs, epochs, errors, kept conversions, full tables and buffers, the memory of the
//! cache but for the end of an access, which comes at any time behind its begin.
//!
//! Requesters are alike but for their numbers, which a search with symmetry takes from them. They begin a bounded number of requests in one run, and so does the host, or it goes on without end and does not store; all of them in
//! any order. So the search ends.
//!
//! One move: an operation begins, a message arrives, or an access to the memory of the cache ends. What the bridge asks for is done at once:
//! messages go on their way, accesses wait for their end, responses are judged. A store gets its place in coherence order where it is done:
//! in a sector of the cache, in the copy of the host, or in the message with which it leaves a bridge that owns the line. A read is right if its value was the newest one at some
//! time since it began.

mod judged;
pub mod of_host;
pub mod wrong;

use crate::explore::fingerprint::fingerprint;
use crate::explore::system::{AgentWait, Awaited, ChartStep, ExploredSystem, Fairness, SentMessage, delivery, outcome};
use crate::net::Net;
use judged::{LineHistory, OpenRequest};
use scalepool_bridge::cache::data::DataCache;
use scalepool_bridge::cache::policy::EvictionPolicy;
use scalepool_bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::outbound::table::FEWEST_ENTRIES;
use scalepool_bridge::outbound::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge, OutboundConfig, upli};
use scalepool_bridge::watched::BridgeLines;
use scalepool_bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, LEAST_BYTES, WindowClass};
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool_coherence::clocked::watcher::Watched;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::mem::dcoh::Dcoh;
use scalepool_coherence::mem::host::{HostAccess, HostReq, MemHost};
use scalepool_coherence::mem::host_rows::Phase;
use scalepool_coherence::mem::tables::Copy4;
use scalepool_coherence::message::{Dir, Msg, shown};
use scalepool_coherence::monitor::{CopyView, View, check_copies, name_invariants};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::M2sRwdOpcode;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use wrong::WrongBridge;

/// Columns, ports and links: the host is behind port 0 of the device, the bridge behind port 1, each over the link of its number.
const COLUMNS: [&str; 4] = ["host", "bridge", "device", "accelerator"];
const HOST: usize = 0;
const BRIDGE: usize = 1;
const DEVICE: usize = 2;
const ACCELERATOR: usize = 3;
/// First address of the window.
pub(crate) const BASE: u64 = 0x1000_0000;
/// What an atomic adds, so that each result is a value of its own: numbers of stores are smaller.
const ADDED: u64 = 0x10;
/// Bytes of the word that partial stores write and atomics compute.
const WORD_ENABLES: u64 = 0xff;

/// What is explored.
#[derive(Debug, Clone)]
pub struct BridgeSetup {
    /// Choices of host and device.
    pub config: CoherenceConfig,
    /// The conversion cache keeps lines; `None`: there is none.
    pub stores: Option<StorePolicy>,
    /// Lines, 1 to 4; the cache has room for one of them.
    pub lines: u8,
    /// Requesters, each with one request at a time.
    pub requesters: u8,
    /// The requesters are one accelerator, whose requests have an order: all lines lie in one block of 256 bytes.
    pub is_one_source: bool,
    /// Requests that begin, at most.
    pub requests: u8,
    /// What the host does.
    pub host: HostMenu,
    /// Accelerators write poison too.
    pub poisons: bool,
    /// What is wrong with the bridge.
    pub wrong: Option<WrongBridge>,
}

impl BridgeSetup {
    /// One line, one accelerator with two requests, two operations of the host.
    pub fn one_line(config: CoherenceConfig, stores: Option<StorePolicy>) -> BridgeSetup {
        let (lines, requesters, requests, host) = (1, 1, 2, HostMenu::Bounded(2));
        let (is_one_source, poisons, wrong) = (false, false, None);
        BridgeSetup { config, stores, lines, requesters, is_one_source, requests, host, poisons, wrong }
    }
}

/// A request of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AcceleratorOperation {
    /// Reads a line.
    Read,
    /// Writes all of it.
    Write,
    /// Writes a word of it.
    WriteWord,
    /// Adds to the word and gets the old value.
    Add,
    /// Writes all of it, poisoned.
    WritePoison,
}

/// All of them; the last one where accelerators write poison.
const ACCELERATOR_OPERATIONS: [AcceleratorOperation; 5] = [
    AcceleratorOperation::Read,
    AcceleratorOperation::Write,
    AcceleratorOperation::WriteWord,
    AcceleratorOperation::Add,
    AcceleratorOperation::WritePoison,
];

/// What the host may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostMenu {
    /// So many operations, at most, of those but [`HostOperation::Own`].
    Bounded(u8),
    /// Operations without end, all but stores, each of which would be a value of its own. Whoever waits has to get the line all the same.
    Endless,
}

/// An operation of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostOperation {
    /// Loads from a line that it does not have.
    Load,
    /// Stores to all of it.
    Store,
    /// Takes ownership of a line and does nothing with it.
    Own,
    /// Gives its copy up.
    Evict,
}

/// A move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BridgeMove {
    /// A message arrives.
    Deliver { link: u8, dir: Dir, index: u8 },
    /// An access to the memory of the cache ends.
    Access { index: u8 },
    /// A requester begins.
    Request { requester: u8, operation: AcceleratorOperation, line: u8 },
    /// The host begins.
    Host { operation: HostOperation, line: u8 },
    /// The host asks again for what it waits for, or has it and makes its access.
    GoesOn { line: u8 },
}

/// The system.
#[derive(Debug, Clone)]
pub struct BridgeSystem {
    setup: Arc<BridgeSetup>,
    bridge: OutboundBridge,
    /// Accesses to the memory of the cache that have not ended.
    accesses: Vec<BridgeActor>,
    device: Dcoh<CacheLine>,
    host: MemHost<CacheLine>,
    net: Net<CacheLine>,
    /// Requests by requester.
    requests: Vec<Option<OpenRequest>>,
    /// The access that waits at the host, by line.
    wanted: Vec<HostAccess>,
    history: Vec<LineHistory>,
    /// Requests and operations of the host that have begun, and stores.
    begun: u8,
    host_begun: u8,
    stores: u8,
}

/// Collects what a state shows to a hash, so that states are compared by all of it.
#[derive(Default)]
pub(crate) struct Shown(pub(crate) Vec<u8>);

impl Hasher for Shown {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl BridgeSystem {
    fn bridge_state(&self) -> Shown {
        let mut shown = Shown::default();
        self.bridge.hash_state(&mut shown);
        self.accesses.iter().for_each(|by| by.hash(&mut shown));
        shown
    }

    fn content(&self) -> impl PartialEq + Hash + '_ {
        let began = (self.begun, self.host_begun, self.stores);
        let bridge = self.bridge_state().0;
        ((&self.device, &self.host, &self.net, bridge), &self.requests, &self.wanted, &self.history, began)
    }
}

impl PartialEq for BridgeSystem {
    fn eq(&self, other: &Self) -> bool {
        self.content() == other.content()
    }
}

impl Eq for BridgeSystem {}

impl Hash for BridgeSystem {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.content().hash(state);
    }
}

/// A line of one byte value in all places.
fn filled(value: u8) -> CacheLine {
    CacheLine::of([value; LINE_BYTES])
}

/// A conversion cache with room for so many lines, whichever these are.
pub(crate) fn small_cache(stores: StorePolicy, lines: u8) -> DataCache {
    let config = DataCacheConfig {
        capacity_bytes: u64::from(lines) * LINE_BYTES as u64,
        ways: lines.into(),
        block_bytes: LINE_BYTES as u64,
        policy: EvictionPolicy::Lru,
        stores,
        stream_blocks: 0,
        tags_in_hbm: false,
    };
    DataCache::new(config).unwrap_or_else(|e| unreachable!("{e}"))
}

impl BridgeSystem {
    /// Nothing has begun, and memory is all zeros.
    pub fn new(setup: BridgeSetup) -> BridgeSystem {
        let lines = usize::from(setup.lines);
        let rights = [AccessRights::ALL; GROUPS];
        let (class, granule) = (WindowClass::Mc, 256);
        let window =
            BridgeWindow { base: BASE, size: LEAST_BYTES, out_base: 0, class, ports: vec![0], granule, rights };
        let windows = BridgeWindows::new(vec![window], OrderedMap::new(), 1);
        let data = setup.stores.map(|stores| small_cache(stores, 1));
        let config = OutboundConfig {
            windows: windows.unwrap_or_else(|e| unreachable!("{e}")),
            entries: FEWEST_ENTRIES,
            write_buffers: 4,
            order: BridgeOrder::Blocks,
            data,
            templates: None,
            ecc: None,
            host_ports: 0..0,
            control: None,
            io_ack: Default::default(),
            single_beat: false,
            exported: None,
        };
        BridgeSystem {
            bridge: OutboundBridge::new(config),
            accesses: Vec::new(),
            device: Dcoh::new(&setup.config, 2),
            host: MemHost::new(HOST as AgentPort),
            net: Net::new(2),
            requests: vec![None; setup.requesters.into()],
            wanted: vec![HostAccess::Nothing; lines],
            history: vec![LineHistory::new(); lines],
            begun: 0,
            host_begun: 0,
            stores: 0,
            setup: Arc::new(setup),
        }
    }

    fn lines(&self) -> impl Iterator<Item = LineAddr> + use<> {
        (0..u64::from(self.setup.lines)).map(LineAddr)
    }

    /// The number of the next store.
    fn next_store(&mut self) -> u8 {
        self.stores += 1;
        self.stores
    }

    /// A store has been done where this is the line now.
    fn placed(&mut self, line: LineAddr, content: &CacheLine, events: &mut Vec<CoherenceEvent>) {
        let open = self.requests.iter().flatten().filter(|open| LineAddr(open.line.into()) == line);
        if let Some(found) = self.history[line.0 as usize].placed(content, open) {
            let expected = "what an open request makes of the newest value";
            events.push(CoherenceEvent::new("COH-INV-03", line, "system", found, expected));
        }
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
                        self.bridge.sent(id, &msg, &mut more);
                        // A store that passes by the cache is the newest value when it leaves: the bridge owns the line.
                        if let Msg::M2sRwd { line, data, .. } = &msg {
                            self.placed(*line, data, events);
                        }
                    }
                    if let Some(msg) = wrong::sent(self.setup.wrong, msg) {
                        self.net.send(BRIDGE, msg);
                    }
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
        let Some((status, line)) = wrong::answered(self.setup.wrong, response.status, response.lines.first()) else {
            return self.bridge.left(entry);
        };
        let Some(open) = self.requests[slot].take() else { return };
        let at = LineAddr(open.line.into());
        let mut say = |rule, found, expected| {
            events.push(CoherenceEvent::new(rule, at, COLUMNS[ACCELERATOR], found, expected));
        };
        // Requests of one source to one block, in which all lines lie, are performed as they have begun.
        let of_source = self.requests.iter().flatten().filter(|_| self.setup.is_one_source);
        if let Some(older) = of_source.min_by_key(|other| other.number).filter(|other| other.number < open.number) {
            let found = format!("request {} before request {}", open.number, older.number);
            say("BRG-ORD-01", found, "requests of one source to one block in their order");
        }
        if let Some((rule, found, expected)) = self.history[usize::from(open.line)].judge(&open, status, line.as_ref())
        {
            say(rule, found, expected);
        }
        self.bridge.left(entry);
    }

    fn request(&mut self, requester: u8, operation: AcceleratorOperation, line: u8, events: &mut Vec<CoherenceEvent>) {
        self.begun += 1;
        let address = BASE + u64::from(line) * LINE_BYTES as u64;
        let (cmd, len, attr) = match operation {
            AcceleratorOperation::Read => (ReqCmd::Read, 15, 0),
            AcceleratorOperation::Write | AcceleratorOperation::WritePoison => (ReqCmd::WriteFull, 15, 0),
            AcceleratorOperation::WriteWord => (ReqCmd::Write, 15, 0),
            AcceleratorOperation::Add => (ReqCmd::AtomicR, 1, 1 << 2),
        };
        let value = match operation {
            AcceleratorOperation::Read | AcceleratorOperation::Add => 0,
            AcceleratorOperation::Write | AcceleratorOperation::WritePoison | AcceleratorOperation::WriteWord => {
                self.next_store()
            }
        };
        let mut beat = [value; LINE_BYTES];
        if operation == AcceleratorOperation::Add {
            beat[..8].copy_from_slice(&ADDED.to_le_bytes());
        }
        let data: &[_] = if operation == AcceleratorOperation::Read { &[] } else { &[beat] };
        let mut enables = [0; 32];
        enables[usize::from(line) * 8..][..8].copy_from_slice(&WORD_ENABLES.to_le_bytes());
        let enables = match operation {
            AcceleratorOperation::Read | AcceleratorOperation::Write | AcceleratorOperation::WritePoison => None,
            AcceleratorOperation::WriteWord | AcceleratorOperation::Add => Some(enables),
        };
        let src = if self.setup.is_one_source { 0 } else { requester.into() };
        let (tag, numbeats) = (requester.into(), data.len().saturating_sub(1) as u8);
        let req = TlReq { cmd, address, len, attr, src, tag, numbeats, ..TlReq::default() };
        let poisoned = u8::from(operation == AcceleratorOperation::WritePoison);
        let request = upli::asked(&Transfer { poisoned, ..with_data(ControlField::Request(req), data, enables) });
        let request = request.map(|request| wrong::asked(self.setup.wrong, request, requester));
        let since = self.history[usize::from(line)].now();
        let Some(entry) = request.and_then(|request| self.bridge.admit(0, request)) else {
            let found = "a request that finds no room";
            let expected = "an entry and a buffer: there are more of them than requesters";
            return events.push(CoherenceEvent::new(
                "COH-INV-09",
                LineAddr(line.into()),
                COLUMNS[BRIDGE],
                found,
                expected,
            ));
        };
        let number = self.begun;
        self.requests[usize::from(requester)] = Some(OpenRequest { number, entry, operation, line, value, since });
        let mut out = BridgeOutput::default();
        self.bridge.start(entry, &mut out);
        self.follow(out, events);
    }

    fn begin_at_host(&mut self, operation: HostOperation, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        self.host_begun += u8::from(matches!(self.setup.host, HostMenu::Bounded(_)));
        match operation {
            HostOperation::Own => {
                let mut out = AgentOutput::default();
                self.host.issue(line, HostReq::RD_ANY, HostAccess::Nothing, &mut out);
                self.settle(HOST, out, events);
            }
            HostOperation::Evict => {
                let mut out = AgentOutput::default();
                match self.host.copy(line).state {
                    Copy4::M => self.host.write_back(line, Copy4::I, &mut out),
                    _ => self.host.issue(line, HostReq::CLN_EVCT, HostAccess::Nothing, &mut out),
                }
                self.settle(HOST, out, events);
            }
            HostOperation::Load | HostOperation::Store => {
                let stores = operation == HostOperation::Store;
                self.wanted[line.0 as usize] = if stores { HostAccess::Store } else { HostAccess::Load };
                self.goes_on(line, events);
            }
        }
    }

    /// The host makes the access that waits, if it may, or asks for the line.
    fn goes_on(&mut self, line: LineAddr, events: &mut Vec<CoherenceEvent>) {
        if self.access(line, events) {
            return;
        }
        let mut out = AgentOutput::default();
        let want = self.wanted[line.0 as usize];
        let request = if want.stores() { HostReq::RD_ANY } else { HostReq::RD_SHARED };
        self.host.issue(line, request, want, &mut out);
        self.settle(HOST, out, events);
    }

    /// Makes the access that waits at the host. Whether it did.
    fn access(&mut self, line: LineAddr, events: &mut Vec<CoherenceEvent>) -> bool {
        let (place, config) = (line.0 as usize, self.setup.clone());
        let mut out = AgentOutput::default();
        match self.wanted[place] {
            HostAccess::Load if self.host.can_load(line) => {
                let value = self.host.load(&config.config, line, &mut out);
                if let Some(value) = value.filter(|value| *value != self.history[place].newest()) {
                    let (found, expected) = (format!("a load of {value}"), "the newest value");
                    events.push(CoherenceEvent::new("COH-INV-02", line, COLUMNS[HOST], found, expected));
                }
            }
            HostAccess::Store | HostAccess::StorePart if self.host.can_store(line, true) => {
                let store = self.next_store();
                self.host.store(&config.config, line, filled(store), WHOLE_LINE, &mut out);
                self.history[place].host_stores(store);
            }
            _ => return false,
        }
        self.wanted[place] = HostAccess::Nothing;
        self.settle(HOST, out, events);
        true
    }

    /// Sends what host or device has sent.
    fn settle(&mut self, agent: usize, mut out: AgentOutput<CacheLine>, events: &mut Vec<CoherenceEvent>) {
        events.append(&mut out.events);
        for (port, msg) in out.sends {
            self.net.send(if agent == DEVICE { port.into() } else { agent }, msg);
        }
    }

    /// Who takes a message.
    fn receiver(link: u8, dir: Dir) -> usize {
        if dir == Dir::Down { DEVICE } else { link.into() }
    }

    fn deliver(&mut self, link: u8, dir: Dir, index: u8, events: &mut Vec<CoherenceEvent>) {
        let msg = self.net.remove(link.into(), dir, index.into());
        let setup = Arc::clone(&self.setup);
        let mut out = AgentOutput::default();
        match Self::receiver(link, dir) {
            BRIDGE => {
                let (taken, answer) = wrong::received(setup.wrong, msg);
                answer.into_iter().for_each(|answer| self.net.send(BRIDGE, answer));
                let mut out = BridgeOutput::default();
                taken.into_iter().for_each(|msg| self.bridge.receive(0, msg, &mut out));
                self.follow(out, events);
            }
            HOST => {
                self.host.take(&setup.config, 0, msg, 0, &mut out);
                self.settle(HOST, out, events);
                // An access that must come before the line is given up is made at once.
                while let Some(line) = self.lines().find(|line| self.host.due(*line) != HostAccess::Nothing) {
                    if !self.access(line, events) {
                        break;
                    }
                }
            }
            _ => {
                self.device.take(&setup.config, link.into(), msg, 0, &mut out);
                self.settle(DEVICE, out, events);
            }
        }
    }

    /// Whether the accelerators of requests have numbers of their own.
    fn has_sources(&self) -> bool {
        !self.setup.is_one_source || self.setup.wrong == Some(WrongBridge::Overtakes)
    }

    /// The same state with requester `order[n]` as n.
    fn renamed(mut self, order: &[usize]) -> Self {
        self.requests = order.iter().map(|from| self.requests[*from].clone()).collect();
        if self.has_sources() {
            let new = |source: u16| order.iter().position(|from| *from == usize::from(source)).unwrap_or_default();
            self.bridge.rename_sources(|source| new(source) as u16);
        }
        self
    }

    /// The view of a line that the monitors ask for.
    fn view(&self, line: LineAddr) -> View<CacheLine> {
        let host = self.host.copy(line);
        let of_host = (host.state != Copy4::I).then(|| CopyView {
            agent: HOST,
            usable: host.usable,
            writable: host.writable,
            dirty: host.dirty,
            value: host.data.unwrap_or_else(|| filled(0xff)),
        });
        let of_bridge = BridgeLines::of(&self.bridge, 0, &[line]).copy(&self.setup.config, line);
        let of_bridge = of_bridge.map(|copy| CopyView { agent: BRIDGE, ..copy });
        let counts = |m: &Msg<CacheLine>| matches!(m, Msg::M2sRwd { opcode, line: of, .. } if *opcode != M2sRwdOpcode::BIConflict && *of == line);
        let under_way = self.net.iter().filter(|(_, m)| counts(m)).filter_map(|(_, m)| m.data().copied());
        View {
            line,
            newest: self.history[line.0 as usize].newest(),
            home: self.device.memory(line),
            copies: of_host.into_iter().chain(of_bridge).collect(),
            in_flight: under_way.collect(),
            tracked: self.device.holders(line).map_or_else(Default::default, |holders| holders.all()),
            levels: Vec::new(),
        }
    }

    /// What the host may begin with a line.
    fn host_operations(&self, line: LineAddr, out: &mut Vec<BridgeMove>) {
        let is_idle = self.host.phase(line) == Phase::Idle;
        let of = |operation| BridgeMove::Host { operation, line: line.0 as u8 };
        if self.wanted[line.0 as usize] != HostAccess::Nothing {
            if self.host.can_issue(line, HostReq::RD_ANY) || self.host.can_store(line, true) {
                out.push(BridgeMove::GoesOn { line: line.0 as u8 });
            }
            return;
        }
        let has_ended = matches!(self.setup.host, HostMenu::Bounded(most) if self.host_begun >= most);
        if has_ended || !is_idle {
            return;
        }
        let state = self.host.copy(line).state;
        if state == Copy4::I {
            out.push(of(HostOperation::Load));
        } else {
            out.push(of(HostOperation::Evict));
        }
        match self.setup.host {
            HostMenu::Bounded(_) => out.push(of(HostOperation::Store)),
            HostMenu::Endless if self.host.can_issue(line, HostReq::RD_ANY) => out.push(of(HostOperation::Own)),
            HostMenu::Endless => (),
        }
    }
}

impl ExploredSystem for BridgeSystem {
    type Move = BridgeMove;

    fn columns(&self) -> Vec<String> {
        COLUMNS.map(str::to_owned).to_vec()
    }

    fn moves(&self, out: &mut Vec<BridgeMove>) {
        let config = &self.setup.config;
        for link in [HOST as u8, BRIDGE as u8] {
            for dir in [Dir::Down, Dir::Up] {
                for (index, msg) in self.net.of(link.into(), dir).iter().enumerate() {
                    let is_free = self.net.is_free(config, link.into(), dir, index);
                    let is_taken = || match Self::receiver(link, dir) {
                        BRIDGE => true,
                        HOST => self.host.accepts(config, 0, msg) == Accept::Take,
                        _ => self.device.accepts(config, link.into(), msg) == Accept::Take,
                    };
                    if is_free && is_taken() {
                        out.push(BridgeMove::Deliver { link, dir, index: index as u8 });
                    }
                }
            }
        }
        out.extend((0..self.accesses.len() as u8).map(|index| BridgeMove::Access { index }));
        for requester in 0..self.setup.requesters {
            let is_free = self.requests[usize::from(requester)].is_none();
            if is_free && self.begun < self.setup.requests {
                for line in 0..self.setup.lines {
                    let of = |operation| BridgeMove::Request { requester, operation, line };
                    let count = ACCELERATOR_OPERATIONS.len() - usize::from(!self.setup.poisons);
                    out.extend(ACCELERATOR_OPERATIONS[..count].iter().copied().map(of));
                }
            }
        }
        self.lines().for_each(|line| self.host_operations(line, out));
    }

    fn fairness(&self, mv: BridgeMove) -> Fairness {
        match mv {
            BridgeMove::Deliver { .. } | BridgeMove::Access { .. } => Fairness::Strong,
            BridgeMove::GoesOn { .. } => Fairness::Weak,
            BridgeMove::Request { .. } | BridgeMove::Host { .. } => Fairness::Optional,
        }
    }

    fn action(&self, mv: BridgeMove) -> u128 {
        match mv {
            BridgeMove::Deliver { link, dir, index } => {
                delivery(link.into(), dir, &self.net.of(link.into(), dir)[usize::from(index)])
            }
            BridgeMove::Access { index } => match self.accesses[usize::from(index)] {
                BridgeActor::Child(id) => fingerprint(&("access", id.tag())),
                BridgeActor::WriteBack(n) => fingerprint(&("write back", n)),
            },
            BridgeMove::GoesOn { line } => fingerprint(&("goes on", line)),
            BridgeMove::Request { .. } | BridgeMove::Host { .. } => 0,
        }
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        for open in self.requests.iter().flatten() {
            let line = Some(LineAddr(open.line.into()));
            out.push(AgentWait { agent: ACCELERATOR, awaited: Awaited::Request, line });
        }
        for (line, want) in self.lines().zip(&self.wanted) {
            if *want != HostAccess::Nothing {
                let awaited = if want.stores() { Awaited::Store } else { Awaited::Load };
                out.push(AgentWait { agent: HOST, awaited, line: Some(line) });
            }
        }
    }

    fn apply(&mut self, mv: BridgeMove, events: &mut Vec<CoherenceEvent>) -> Option<usize> {
        let first = events.len();
        match mv {
            BridgeMove::Deliver { link, dir, index } => self.deliver(link, dir, index, events),
            BridgeMove::Access { index } => {
                let by = self.accesses.remove(index.into());
                let mut out = BridgeOutput::default();
                self.bridge.accessed(by, &mut out);
                self.follow(out, events);
            }
            BridgeMove::Request { requester, operation, line } => self.request(requester, operation, line, events),
            BridgeMove::Host { operation, line } => self.begin_at_host(operation, LineAddr(line.into()), events),
            BridgeMove::GoesOn { line } => self.goes_on(LineAddr(line.into()), events),
        }
        name_invariants(events, first);
        None
    }

    fn describe(&self, mv: BridgeMove) -> ChartStep {
        let mut after = self.clone();
        after.apply(mv, &mut Vec::new());
        let mut sent = Vec::new();
        for link in [HOST, BRIDGE] {
            for (dir, from, to) in [(Dir::Down, link, DEVICE), (Dir::Up, DEVICE, link)] {
                let new = self.net.new_in(&after.net, link, dir).into_iter();
                sent.extend(new.map(|msg| SentMessage { from, to, label: msg.label(), message: shown(msg) }));
            }
        }
        let answered = self.requests.iter().zip(&after.requests).filter(|(_, after)| after.is_none());
        let answered = answered.filter_map(|(before, _)| before.as_ref());
        let did = answered.map(|open| format!("the accelerator has the answer to its {:?}", open.operation)).collect();
        match mv {
            BridgeMove::Deliver { link, dir, index } => {
                let msg = self.net.of(link.into(), dir)[usize::from(index)];
                let to = Self::receiver(link, dir);
                let from = if to == DEVICE { link.into() } else { DEVICE };
                ChartStep::Deliver { from, to, label: msg.label(), message: shown(&msg), did, sent }
            }
            BridgeMove::Access { .. } => {
                ChartStep::Act { agent: BRIDGE, text: "an access to the cache ends".to_owned(), line: None, sent }
            }
            BridgeMove::Request { operation, line, .. } => ChartStep::Act {
                agent: ACCELERATOR,
                text: format!("{operation:?}"),
                line: Some(LineAddr(line.into())),
                sent,
            },
            BridgeMove::Host { operation, line } => {
                ChartStep::Act { agent: HOST, text: format!("{operation:?}"), line: Some(LineAddr(line.into())), sent }
            }
            BridgeMove::GoesOn { line } => {
                ChartStep::Act { agent: HOST, text: "goes on".to_owned(), line: Some(LineAddr(line.into())), sent }
            }
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
            && self.host.is_idle()
            && self.device.is_idle()
            && self.bridge.open() == 0
    }

    fn has_symmetry(&self) -> bool {
        self.setup.requesters > 1
    }

    /// Requesters with an open request first, in the order of the entries, which are all different; those without are alike in all respects.
    fn canonical(self, moves: &mut [BridgeMove]) -> Self {
        let place = |n: &usize| self.requests[*n].as_ref().map_or(u32::MAX, |open| open.entry.into());
        let mut order: Vec<usize> = (0..self.requests.len()).collect();
        scalepool_ordered::sort_by(&mut order, |a, b| place(a).cmp(&place(b)).then(a.cmp(b)));
        for mv in moves {
            if let BridgeMove::Request { requester, .. } = mv {
                *requester = order.iter().position(|from| *from == usize::from(*requester)).unwrap_or_default() as u8;
            }
        }
        self.renamed(&order)
    }

    /// The states of the copies of host and bridge, and whether memory is current, line by line.
    fn outcome(&self) -> String {
        let of_line = |line: LineAddr| {
            let view = self.view(line);
            let letter = |agent: usize| match view.copies.iter().find(|copy| copy.agent == agent) {
                None => 'I',
                Some(copy) if copy.dirty => 'M',
                Some(copy) if copy.writable => 'E',
                Some(_) => 'S',
            };
            outcome(&format!("{}{}", letter(HOST), letter(BRIDGE)), view.home == view.newest, None)
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
