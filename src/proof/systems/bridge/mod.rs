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

mod asked;
mod judged;
pub mod of_host;
pub mod wrong;

use crate::explore::fingerprint::fingerprint;
use crate::explore::system::{AgentWait, Awaited, ChartStep, ExploredSystem, Fairness, SentMessage, delivery};
use crate::net::Net;
use asked::{ACCELERATOR, AskedBridge, AskedSetup, BRIDGE, LeavingMessage, Surroundings};
use scalepool_bridge::cache::data::DataCache;
use scalepool_bridge::cache::policy::EvictionPolicy;
use scalepool_bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool_bridge::outbound::BridgeActor;
use scalepool_bridge::watched::BridgeLines;
use scalepool_bridge::window::WindowClass;
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
use scalepool_protocols::cxl::cxl256::code::M2sRwdOpcode;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use wrong::WrongBridge;

/// Columns, ports and links: the host is behind port 0 of the device, the bridge behind port 1, each over the link of its number.
const COLUMNS: [&str; 4] = ["host", "bridge", "device", "accelerator"];
const HOST: usize = 0;
const DEVICE: usize = 2;
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
    asked: AskedBridge,
    device: Dcoh<CacheLine>,
    host: MemHost<CacheLine>,
    net: Net<CacheLine>,
    /// The access that waits at the host, by line.
    wanted: Vec<HostAccess>,
    /// Operations of the host that have begun.
    host_begun: u8,
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
    fn content(&self) -> impl PartialEq + Hash + '_ {
        ((&self.device, &self.host, &self.net), self.asked.content(), &self.wanted, self.host_begun)
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

/// What becomes of a message of the bridge. A store that passes by the cache is the newest value when it leaves: the bridge owns the line.
fn leaves(asked: &AskedBridge, by: Option<BridgeActor>, msg: Msg<CacheLine>) -> LeavingMessage {
    let placed = match (by, msg) {
        (Some(BridgeActor::Child(_)), Msg::M2sRwd { line, data, .. }) => Some((line, data)),
        _ => None,
    };
    LeavingMessage { placed, sent: wrong::sent(asked.wrong, msg) }
}

impl BridgeSystem {
    /// Nothing has begun, and memory is all zeros.
    pub fn new(setup: BridgeSetup) -> BridgeSystem {
        let BridgeSetup { stores, lines, requesters, is_one_source, wrong, .. } = setup;
        let class = WindowClass::Mc;
        BridgeSystem {
            asked: AskedBridge::new(AskedSetup { class, stores, lines, requesters, is_one_source, wrong }),
            device: Dcoh::new(&setup.config, 2),
            host: MemHost::new(HOST as AgentPort),
            net: Net::new(2),
            wanted: vec![HostAccess::Nothing; lines.into()],
            host_begun: 0,
            setup: Arc::new(setup),
        }
    }

    /// Does something at the bridge, with what is around it.
    fn at_bridge(
        &mut self,
        events: &mut Vec<CoherenceEvent>,
        work: impl FnOnce(&mut AskedBridge, &mut Surroundings<'_>),
    ) {
        let config = &self.setup.config;
        work(&mut self.asked, &mut Surroundings { config, net: &mut self.net, leaves: &leaves, events });
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
                if let Some(value) = value.filter(|value| *value != self.asked.history[place].newest()) {
                    let (found, expected) = (format!("a load of {value}"), "the newest value");
                    events.push(CoherenceEvent::new("COH-INV-02", line, COLUMNS[HOST], found, expected));
                }
            }
            HostAccess::Store | HostAccess::StorePart if self.host.can_store(line, true) => {
                let store = self.asked.next_store();
                self.host.store(&config.config, line, filled(store), WHOLE_LINE, &mut out);
                self.asked.history[place].host_stores(store);
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
                taken.into_iter().for_each(|msg| self.at_bridge(events, |asked, around| asked.receive(msg, around)));
            }
            HOST => {
                self.host.take(&setup.config, 0, msg, 0, &mut out);
                self.settle(HOST, out, events);
                // An access that must come before the line is given up is made at once.
                while let Some(line) = self.asked.lines().find(|line| self.host.due(*line) != HostAccess::Nothing) {
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
        self.asked.requests = order.iter().map(|from| self.asked.requests[*from].clone()).collect();
        if self.has_sources() {
            let new = |source: u16| order.iter().position(|from| *from == usize::from(source)).unwrap_or_default();
            self.asked.bridge.rename_sources(|source| new(source) as u16);
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
        let of_bridge = BridgeLines::of(&self.asked.bridge, 0, &[line]).copy(&self.setup.config, line);
        let of_bridge = of_bridge.map(|copy| CopyView { agent: BRIDGE, ..copy });
        let counts = |m: &Msg<CacheLine>| matches!(m, Msg::M2sRwd { opcode, line: of, .. } if *opcode != M2sRwdOpcode::BIConflict && *of == line);
        let under_way = self.net.iter().filter(|(_, m)| counts(m)).filter_map(|(_, m)| m.data().copied());
        View {
            line,
            newest: self.asked.history[line.0 as usize].newest(),
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
        out.extend((0..self.asked.accesses.len() as u8).map(|index| BridgeMove::Access { index }));
        let count = ACCELERATOR_OPERATIONS.len() - usize::from(!self.setup.poisons);
        let requests = self.asked.may_begin(self.setup.requests, &ACCELERATOR_OPERATIONS[..count]);
        out.extend(requests.map(|(requester, operation, line)| BridgeMove::Request { requester, operation, line }));
        self.asked.lines().for_each(|line| self.host_operations(line, out));
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
            BridgeMove::Access { index } => self.asked.access_action(index),
            BridgeMove::GoesOn { line } => fingerprint(&("goes on", line)),
            BridgeMove::Request { .. } | BridgeMove::Host { .. } => 0,
        }
    }

    fn waits(&self, out: &mut Vec<AgentWait>) {
        self.asked.waits(out);
        for (line, want) in self.asked.lines().zip(&self.wanted) {
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
            BridgeMove::Access { index } => self.at_bridge(events, |asked, around| asked.accessed(index, around)),
            BridgeMove::Request { requester, operation, line } => {
                self.at_bridge(events, |asked, around| asked.request(requester, operation, line, around));
            }
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
        let answered = self.asked.requests.iter().zip(&after.asked.requests).filter(|(_, after)| after.is_none());
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
        self.asked.lines().for_each(|line| check_copies(&self.view(line), &|n| COLUMNS[n].to_owned(), events));
        name_invariants(events, first);
    }

    fn is_idle(&self) -> bool {
        self.net.is_empty() && self.asked.is_idle() && self.host.is_idle() && self.device.is_idle()
    }

    fn has_symmetry(&self) -> bool {
        self.setup.requesters > 1
    }

    /// Requesters with an open request first, in the order of the entries, which are all different; those without are alike in all respects.
    fn canonical(self, moves: &mut [BridgeMove]) -> Self {
        let place = |n: &usize| self.asked.requests[*n].as_ref().map_or(u32::MAX, |open| open.entry.into());
        let mut order: Vec<usize> = (0..self.asked.requests.len()).collect();
        scalepool_ordered::sort_by(&mut order, |a, b| place(a).cmp(&place(b)).then(a.cmp(b)));
        for mv in moves {
            if let BridgeMove::Request { requester, .. } = mv {
                *requester = order.iter().position(|from| *from == usize::from(*requester)).unwrap_or_default() as u8;
            }
        }
        self.renamed(&order)
    }

    fn outcome(&self) -> String {
        self.asked.outcome(HOST, |line| self.view(line))
    }

    fn check_idle(&self, events: &mut Vec<CoherenceEvent>) {
        self.asked.check_idle(|line| self.view(line), events);
    }
}
