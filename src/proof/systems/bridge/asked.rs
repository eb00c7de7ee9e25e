//! The bridge of a search with the requesters in front of it, and what is known of their lines: what the systems of this module share.
//!
//! Modelled: requests that begin at any time, each of one line; what the bridge asks for, done at once; the judgement of its responses.
//! Left out: who is behind the bridge, and when a store has its place in coherence order, which the system says.
//!
//! A walk through a read: a requester without a request asks; the messages of the bridge go to the net; when its response is ready, its line
//! has to be one that was the newest at some time since the request began.

use super::judged::{JudgedRequest, LineHistory};
use super::wrong::{self, WrongBridge};
use super::{ADDED, AcceleratorOperation, BASE, Shown, WORD_ENABLES, small_cache};
use crate::explore::fingerprint::fingerprint;
use crate::explore::system::{AgentWait, Awaited, outcome};
use crate::net::Net;
use scalepool_bridge::cache::StorePolicy;
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::outbound::table::FEWEST_ENTRIES;
use scalepool_bridge::outbound::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge, OutboundConfig, upli};
use scalepool_bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, LEAST_BYTES, WindowClass};
use scalepool_coherence::clocked::watcher::Watched;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::message::Msg;
use scalepool_coherence::monitor::View;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;
use std::hash::Hash;

/// Port and link of the bridge, and its column.
pub(super) const BRIDGE: usize = 1;
/// Column of the accelerators.
pub(super) const ACCELERATOR: usize = 3;

/// A message that leaves the bridge.
pub(super) struct LeavingMessage {
    /// The line that has its place in coherence order with it, as it is now.
    pub placed: Option<(LineAddr, CacheLine)>,
    /// What is sent in its place; `None`: nothing.
    pub sent: Option<Msg<CacheLine>>,
}

/// What becomes of a message, which leaves for somebody.
type Leaves<'a> = dyn Fn(&AskedBridge, Option<BridgeActor>, Msg<CacheLine>) -> LeavingMessage + 'a;

/// What is around the bridge.
pub(super) struct Surroundings<'a> {
    pub config: &'a CoherenceConfig,
    pub net: &'a mut Net<CacheLine>,
    pub leaves: &'a Leaves<'a>,
    pub events: &'a mut Vec<CoherenceEvent>,
}

/// The bridge and its requesters.
#[derive(Debug, Clone)]
pub(super) struct AskedBridge {
    pub bridge: OutboundBridge,
    /// Accesses to the memory of the cache that have not ended.
    pub accesses: Vec<BridgeActor>,
    /// Requests by requester.
    pub requests: Vec<Option<JudgedRequest>>,
    /// What each line has been.
    pub history: Vec<LineHistory>,
    /// Requests that have begun.
    pub begun: u8,
    /// Stores of all.
    stores: u8,
    /// The requesters are one accelerator, whose requests have an order.
    is_one_source: bool,
    /// What is wrong with it.
    pub wrong: Option<WrongBridge>,
}

/// How it is built.
pub(super) struct AskedSetup {
    /// Class of its window.
    pub class: WindowClass,
    /// The conversion cache keeps a line; `None`: there is none.
    pub stores: Option<StorePolicy>,
    pub lines: u8,
    pub requesters: u8,
    pub is_one_source: bool,
    pub wrong: Option<WrongBridge>,
}

impl AskedBridge {
    /// Nothing has begun, and all lines are zeros.
    pub fn new(setup: AskedSetup) -> AskedBridge {
        let AskedSetup { class, stores, lines, requesters, is_one_source, wrong } = setup;
        let (ports, granule, rights) = (vec![0], 256, [AccessRights::ALL; GROUPS]);
        let window = BridgeWindow { base: BASE, size: LEAST_BYTES, out_base: 0, class, ports, granule, rights };
        let windows = BridgeWindows::new(vec![window], OrderedMap::new(), 1);
        let config = OutboundConfig {
            windows: windows.unwrap_or_else(|e| unreachable!("{e}")),
            entries: FEWEST_ENTRIES,
            write_buffers: 4,
            order: BridgeOrder::Blocks,
            data: stores.map(|stores| small_cache(stores, 1)),
            templates: None,
            ecc: None,
            host_ports: 0..usize::from(class == WindowClass::Cc),
            control: None,
            io_ack: Default::default(),
            single_beat: false,
            exported: None,
        };
        AskedBridge {
            bridge: OutboundBridge::new(config),
            accesses: Vec::new(),
            requests: vec![None; requesters.into()],
            history: vec![LineHistory::new(); lines.into()],
            begun: 0,
            stores: 0,
            is_one_source,
            wrong,
        }
    }

    /// All that a state of a search is compared by.
    pub fn content(&self) -> impl PartialEq + Hash + '_ {
        let mut shown = Shown::default();
        self.bridge.hash_state(&mut shown);
        self.accesses.iter().for_each(|by| by.hash(&mut shown));
        (shown.0, &self.requests, &self.history, self.begun, self.stores)
    }

    /// The lines.
    pub fn lines(&self) -> impl Iterator<Item = LineAddr> + use<> {
        (0..self.history.len() as u64).map(LineAddr)
    }

    /// The number of the next store.
    pub fn next_store(&mut self) -> u8 {
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
    pub fn follow(&mut self, out: BridgeOutput, around: &mut Surroundings<'_>) {
        for finding in out.findings {
            around.events.push(CoherenceEvent::new(finding.rule, None, "bridge", finding.found, finding.expected));
        }
        for step in out.steps {
            match step {
                BridgeStep::Send { by, msg, .. } => {
                    let LeavingMessage { placed, sent } = (around.leaves)(self, by, msg);
                    if let Some((line, content)) = placed {
                        self.placed(line, &content, around.events);
                    }
                    let mut more = BridgeOutput::default();
                    if let Some(BridgeActor::Child(id)) = by {
                        self.bridge.sent(id, &msg, &mut more);
                    }
                    sent.into_iter().for_each(|msg| around.net.send(BRIDGE, msg));
                    if !more.steps.is_empty() || !more.findings.is_empty() {
                        self.follow(more, around);
                    }
                }
                BridgeStep::Access { by: Some(by), .. } => self.accesses.push(by),
                BridgeStep::Changed { line, is_stored: true, copy, .. } => {
                    let stored = copy.copy(around.config, line).map(|copy| copy.value);
                    stored.iter().for_each(|content| self.placed(line, content, around.events));
                }
                BridgeStep::Respond { entry } => self.respond(entry, around.events),
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
            return events.push(CoherenceEvent::new("COH-IDS-01", None, "bridge", found, "an open request"));
        };
        let Some((status, line)) = wrong::answered(self.wrong, response.status, response.lines.first()) else {
            return self.bridge.left(entry);
        };
        let Some(open) = self.requests[slot].take() else { return };
        let at = LineAddr(open.line.into());
        let mut say = |rule, found, expected| {
            events.push(CoherenceEvent::new(rule, at, "accelerator", found, expected));
        };
        // Requests of one source to one block, in which all lines lie, are performed as they have begun.
        let of_source = self.requests.iter().flatten().filter(|_| self.is_one_source);
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

    /// A requester begins.
    pub fn request(&mut self, requester: u8, operation: AcceleratorOperation, line: u8, around: &mut Surroundings<'_>) {
        self.begun += 1;
        let address = BASE + u64::from(line) * LINE_BYTES as u64;
        let (cmd, len, attr) = match operation {
            AcceleratorOperation::Read => (ReqCmd::Read, 15, 0),
            AcceleratorOperation::Write | AcceleratorOperation::WritePoison => (ReqCmd::WriteFull, 15, 0),
            AcceleratorOperation::WriteWord => (ReqCmd::Write, 15, 0),
            AcceleratorOperation::Add => (ReqCmd::AtomicR, 1, 1 << 2),
        };
        let is_store = !matches!(operation, AcceleratorOperation::Read | AcceleratorOperation::Add);
        let value = if is_store { self.next_store() } else { 0 };
        let mut beat = [value; LINE_BYTES];
        if operation == AcceleratorOperation::Add {
            beat[..8].copy_from_slice(&ADDED.to_le_bytes());
        }
        let data: &[_] = if operation == AcceleratorOperation::Read { &[] } else { &[beat] };
        let has_enables = matches!(operation, AcceleratorOperation::WriteWord | AcceleratorOperation::Add);
        let enables = has_enables.then(|| {
            let mut enables = [0; 32];
            enables[usize::from(line) * 8..][..8].copy_from_slice(&WORD_ENABLES.to_le_bytes());
            enables
        });
        let src = if self.is_one_source { 0 } else { requester.into() };
        let (tag, numbeats) = (requester.into(), data.len().saturating_sub(1) as u8);
        let req = TlReq { cmd, address, len, attr, src, tag, numbeats, ..TlReq::default() };
        let poisoned = u8::from(operation == AcceleratorOperation::WritePoison);
        let request = upli::asked(&Transfer { poisoned, ..with_data(ControlField::Request(req), data, enables) });
        let request = request.map(|request| wrong::asked(self.wrong, request, requester));
        let since = self.history[usize::from(line)].now();
        let Some(entry) = request.and_then(|request| self.bridge.admit(0, request)) else {
            let (at, found) = (LineAddr(line.into()), "a request that finds no room");
            let expected = "an entry and a buffer: there are more of them than requesters";
            return around.events.push(CoherenceEvent::new("COH-INV-09", at, "bridge", found, expected));
        };
        let number = self.begun;
        self.requests[usize::from(requester)] = Some(JudgedRequest { number, entry, operation, line, value, since });
        let mut out = BridgeOutput::default();
        self.bridge.start(entry, &mut out);
        self.follow(out, around);
    }

    /// A message arrives at the bridge.
    pub fn receive(&mut self, msg: Msg<CacheLine>, around: &mut Surroundings<'_>) {
        let mut out = BridgeOutput::default();
        self.bridge.receive(0, msg, &mut out);
        self.follow(out, around);
    }

    /// An access to the memory of the cache ends.
    pub fn accessed(&mut self, index: u8, around: &mut Surroundings<'_>) {
        let by = self.accesses.remove(index.into());
        let mut out = BridgeOutput::default();
        self.bridge.accessed(by, &mut out);
        self.follow(out, around);
    }

    /// Requests of these kinds that may begin if there are at most so many: requester, operation, line.
    pub fn may_begin<'a>(
        &'a self,
        most: u8,
        operations: &'a [AcceleratorOperation],
    ) -> impl Iterator<Item = (u8, AcceleratorOperation, u8)> + 'a {
        let free = (0u8..).zip(&self.requests).filter(move |(_, open)| open.is_none() && self.begun < most);
        let lines = self.history.len() as u8;
        free.flat_map(move |(requester, _)| {
            (0..lines).flat_map(move |line| operations.iter().map(move |operation| (requester, *operation, line)))
        })
    }

    /// What the end of an access is, whatever its place among others.
    pub fn access_action(&self, index: u8) -> u128 {
        match self.accesses[usize::from(index)] {
            BridgeActor::Child(id) => fingerprint(&("access", id.tag())),
            BridgeActor::WriteBack(n) => fingerprint(&("write back", n)),
        }
    }

    /// Who waits for a response.
    pub fn waits(&self, out: &mut Vec<AgentWait>) {
        for open in self.requests.iter().flatten() {
            let line = Some(LineAddr(open.line.into()));
            out.push(AgentWait { agent: ACCELERATOR, awaited: Awaited::Request, line });
        }
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.accesses.is_empty() && self.bridge.open() == 0
    }

    /// The states of the copies of another agent and of the bridge, and whether memory is current, line by line.
    pub fn outcome(&self, other: usize, view: impl Fn(LineAddr) -> View<CacheLine>) -> String {
        let of_line = |line: LineAddr| {
            let view = view(line);
            let letter = |agent: usize| match view.copies.iter().find(|copy| copy.agent == agent) {
                None => 'I',
                Some(copy) if copy.dirty => 'M',
                Some(copy) if copy.writable => 'E',
                Some(_) => 'S',
            };
            outcome(&format!("{}{}", letter(other), letter(BRIDGE)), view.home == view.newest, None)
        };
        self.lines().map(of_line).collect::<Vec<_>>().join(", ")
    }

    /// What must not be when nothing is under way.
    pub fn check_idle(&self, view: impl Fn(LineAddr) -> View<CacheLine>, events: &mut Vec<CoherenceEvent>) {
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
            let view = view(line);
            if view.home != view.newest && !view.copies.iter().any(|copy| copy.dirty) {
                say(Some(line), format!("{} in memory and no M copy", view.home), "the newest value");
            }
        }
    }
}
