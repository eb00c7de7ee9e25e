//! Cores of accelerators behind bridges, and of hosts, on the lines of one device with back-invalidation (`bridge` §4, §9).
//!
//! Modelled: accelerators whose cores have no cache, each request of which takes effect somewhere between its begin and its answer; the
//! outbound half of each bridge with its conversion cache or without; hosts with their caches; the device. Detail: bytes by value; each
//! line is behind a window of its own, so that requests of one accelerator to two lines have no order. Left out: links of the accelerators, which delay and reorder nothing that the cores do not; time, epochs, errors.
//!
//! A walk through a store of an accelerator: its request becomes MemInv, the Cmp-E of the device makes the bridge owner, the store is in a
//! sector of the cache, and the answer goes back: from then on the accesses may go that the core has behind it.

use crate::stress::mem::{ask_host, evict_of_host, view_of_host};
use crate::stress::rig::{CoreAnswer, Need, Rig, StressRequestOutcome, Who};
use crate::systems::bridge::wrong::{self, WrongBridge};
use crate::systems::bridge::{BASE, Shown, small_cache};
use scalepool_bridge::atomics::AtomicOperation;
use scalepool_bridge::cache::StorePolicy;
use scalepool_bridge::outbound::order::BridgeOrder;
use scalepool_bridge::outbound::table::FEWEST_ENTRIES;
use scalepool_bridge::outbound::{BridgeActor, BridgeOutput, BridgeStep, OutboundBridge, OutboundConfig, upli};
use scalepool_bridge::watched::BridgeLines;
use scalepool_bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, LEAST_BYTES, WindowClass};
use scalepool_coherence::agent::{Accept, Agent, AgentOutput, AgentPort};
use scalepool_coherence::cache::device::WriteBytes;
use scalepool_coherence::clocked::watcher::Watched;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr, WHOLE_LINE};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::dcoh::Dcoh;
use scalepool_coherence::mem::host::{HostAccess, MemHost};
use scalepool_coherence::message::{Dir, Msg};
use scalepool_coherence::monitor::{CopyView, View};
use scalepool_coherence::thread::{Term, ThreadAccess};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::{AtomicSize, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::pack::with_data;
use std::hash::{Hash, Hasher};

/// Accelerators behind bridges, and hosts, in the order of their cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeAgents {
    /// Bridges, 1 or 2.
    pub bridges: u8,
    /// Accelerators behind each of them.
    pub accelerators: u8,
    /// Hosts.
    pub hosts: u8,
    /// The conversion cache keeps lines; `None`: there is none.
    pub stores: Option<StorePolicy>,
    /// Lines for which it has room.
    pub cache_lines: u8,
    /// What is wrong with the bridges.
    pub wrong: Option<WrongBridge>,
}

impl BridgeAgents {
    /// One bridge with a cache of two lines that writes back, so many accelerators behind it, one host.
    pub fn beside_a_host(accelerators: u8) -> BridgeAgents {
        let (stores, cache_lines, wrong) = (Some(StorePolicy::Back), 2, None);
        BridgeAgents { bridges: 1, accelerators, hosts: 1, stores, cache_lines, wrong }
    }
}

/// What a bridge computes for a read-modify-write, access n of its thread, and with which operand; `None`: none of its atomics is that.
pub(super) fn atomic_of(
    n: usize,
    access: &ThreadAccess,
    loaded: &dyn Fn(usize) -> u8,
) -> Option<(AtomicOperation, u8)> {
    let of_old = |term: &Term| *term == Term::Load(n);
    let (operation, operand) = match access.store.as_ref()? {
        Term::Add(a, b) if of_old(a) => (AtomicOperation::Add, &**b),
        Term::Add(a, b) if of_old(b) => (AtomicOperation::Add, &**a),
        Term::Eor(a, b) if of_old(a) => (AtomicOperation::Xor, &**b),
        Term::Eor(a, b) if of_old(b) => (AtomicOperation::Xor, &**a),
        stored => (AtomicOperation::Swap, stored),
    };
    if uses(operand, n) {
        return None;
    }
    let operand = u8::try_from(operand.value(loaded)).ok()?;
    Some((operation, operand))
}

/// Whether a term has the value of a load in it.
fn uses(term: &Term, load: usize) -> bool {
    match term {
        Term::Number(_) => false,
        Term::Load(n) => *n == load,
        Term::Eor(a, b) | Term::Add(a, b) => uses(a, load) || uses(b, load),
    }
}

/// A request of a core that is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct UnansweredAccess {
    actor: usize,
    line: LineAddr,
    entry: u16,
    /// Its answer has a value for the core.
    reads: bool,
}

/// A bridge and what is open in it.
#[derive(Debug, Clone)]
struct BridgeLeaf {
    bridge: OutboundBridge,
    /// Accesses to the memory of the cache that have not ended.
    accesses: Vec<BridgeActor>,
    open: Vec<UnansweredAccess>,
}

impl BridgeLeaf {
    fn shown(&self) -> (Vec<u8>, &[UnansweredAccess]) {
        let mut shown = Shown::default();
        self.bridge.hash_state(&mut shown);
        self.accesses.iter().for_each(|by| by.hash(&mut shown));
        (shown.0, &self.open)
    }
}

impl PartialEq for BridgeLeaf {
    fn eq(&self, other: &Self) -> bool {
        self.shown() == other.shown()
    }
}

impl Eq for BridgeLeaf {}

impl Hash for BridgeLeaf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shown().hash(state);
    }
}

/// The agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BridgeRig {
    /// How many accelerators each bridge has, and what is wrong with it.
    accelerators: usize,
    wrong: Option<WrongBridge>,
    /// The leaves: first these, then the hosts.
    bridges: Vec<BridgeLeaf>,
    hosts: Vec<MemHost<CacheLine>>,
    dcoh: Dcoh<CacheLine>,
    lines: u64,
    answers: Vec<CoreAnswer>,
}

/// A bridge with a window for each line.
fn bridge(agents: &BridgeAgents, lines: u64) -> OutboundBridge {
    let window = |n: u64| BridgeWindow {
        base: BASE + n * LEAST_BYTES,
        size: LEAST_BYTES,
        out_base: 0,
        class: WindowClass::Mc,
        ports: vec![0],
        granule: 256,
        rights: [AccessRights::ALL; GROUPS],
    };
    let windows = (0..lines).map(window).collect();
    OutboundBridge::new(OutboundConfig {
        windows: BridgeWindows::new(windows, OrderedMap::new(), 1).unwrap_or_else(|e| unreachable!("{e}")),
        entries: FEWEST_ENTRIES,
        write_buffers: 8,
        order: BridgeOrder::Blocks,
        data: agents.stores.map(|stores| small_cache(stores, agents.cache_lines.max(1))),
        templates: None,
        ecc: None,
        host_ports: 0..0,
        control: None,
        io_ack: Default::default(),
        single_beat: false,
        exported: None,
    })
}

impl BridgeRig {
    /// Nothing held; `lines` from line 0 on.
    pub fn new(config: &CoherenceConfig, agents: &BridgeAgents, lines: u64) -> Self {
        let (bridges, hosts) = (usize::from(agents.bridges.clamp(1, 2)), agents.hosts.into());
        let leaf = || BridgeLeaf { bridge: bridge(agents, lines), accesses: Vec::new(), open: Vec::new() };
        BridgeRig {
            accelerators: agents.accelerators.max(1).into(),
            wrong: agents.wrong,
            bridges: (0..bridges).map(|_| leaf()).collect(),
            hosts: (0..hosts).map(MemHost::new).collect(),
            dcoh: Dcoh::new(config, bridges as AgentPort + hosts),
            lines,
            answers: Vec::new(),
        }
    }

    /// Cores of accelerators; the others are those of the hosts.
    fn requesters(&self) -> usize {
        self.bridges.len() * self.accelerators
    }

    fn host_mut(&mut self, actor: usize) -> Option<&mut MemHost<CacheLine>> {
        let host = actor.checked_sub(self.requesters())?;
        self.hosts.get_mut(host)
    }

    fn host(&self, actor: usize) -> Option<&MemHost<CacheLine>> {
        self.hosts.get(actor.checked_sub(self.requesters())?)
    }

    /// Does what a bridge asks for.
    fn follow(&mut self, leaf: usize, asked: BridgeOutput, out: &mut AgentOutput<CacheLine>) {
        for found in asked.findings {
            let at = self.name(Who::Leaf(leaf));
            out.events.push(CoherenceEvent::new(found.rule, None, at, found.found, found.expected));
        }
        let (of, mut more) = (&mut self.bridges[leaf], BridgeOutput::default());
        for step in asked.steps {
            match step {
                BridgeStep::Send { by, msg, .. } => {
                    if let Some(BridgeActor::Child(id)) = by {
                        of.bridge.sent(id, &msg, &mut more);
                    }
                    out.sends.extend(wrong::sent(self.wrong, msg).map(|msg| (0, msg)));
                }
                BridgeStep::Access { by: Some(by), .. } => of.accesses.push(by),
                BridgeStep::Respond { entry } => {
                    let at = of.open.iter().position(|open| open.entry == entry);
                    let response = of.bridge.response(entry);
                    if let (Some(at), Some((_, response))) = (at, response)
                        && let Some((status, line)) =
                            wrong::answered(self.wrong, response.status, response.lines.first())
                    {
                        let open = of.open.remove(at);
                        if status != Status::OKAY {
                            let found = format!("status {}", status.0);
                            let at = format!("accelerator {}", open.actor);
                            out.events.push(CoherenceEvent::new("BRG-ERR-20", open.line, at, found, "OKAY"));
                        }
                        let value = line.filter(|_| open.reads);
                        self.answers.push(CoreAnswer { actor: open.actor, line: open.line, value });
                    }
                    of.bridge.left(entry);
                }
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
        if !more.steps.is_empty() || !more.findings.is_empty() {
            self.follow(leaf, more, out);
        }
    }

    /// A core of an accelerator sends a request.
    fn request(
        &mut self,
        actor: usize,
        line: LineAddr,
        need: Need,
        out: &mut AgentOutput<CacheLine>,
    ) -> StressRequestOutcome {
        let leaf = actor / self.accelerators;
        let is_open = |open: &UnansweredAccess| (open.actor, open.line) == (actor, line);
        if self.bridges[leaf].open.iter().any(is_open) {
            return StressRequestOutcome::No;
        }
        let address = BASE + line.0 * LEAST_BYTES + line.0 * LINE_BYTES as u64;
        let (cmd, len, attr, bytes) = match need {
            Need::Copy => (ReqCmd::Read, 15, 0, None),
            Need::Ownership(bytes) if bytes.enables == WHOLE_LINE => (ReqCmd::WriteFull, 15, 0, Some(*bytes)),
            Need::Ownership(bytes) => (ReqCmd::Write, 15, 0, Some(*bytes)),
            // One element of a byte; operations above 15 have their highest bit apart.
            Need::Atomic(code, bytes) => {
                (ReqCmd::AtomicR, 0, (code & 15) << 4 | AtomicSize::Bits8.0 << 2 | code >> 4, Some(*bytes))
            }
            Need::Value | Need::Update => return StressRequestOutcome::No,
        };
        let reads = matches!(need, Need::Copy | Need::Atomic(..));
        let data: Vec<[u8; LINE_BYTES]> = bytes.iter().map(|bytes| bytes.data.bytes).collect();
        let is_part = bytes.is_some_and(|bytes: WriteBytes<CacheLine>| bytes.enables != WHOLE_LINE);
        let enables = bytes.filter(|_| is_part).map(|bytes| {
            let mut of_block = [0; 32];
            of_block[(line.0 % 4) as usize * 8..][..8].copy_from_slice(&bytes.enables.to_le_bytes());
            of_block
        });
        let (src, tag) = ((actor % self.accelerators) as u16, line.0 as u16);
        let req = TlReq { cmd, address, len, attr, src, tag, ..TlReq::default() };
        let of = &mut self.bridges[leaf];
        let request = upli::asked(&with_data(ControlField::Request(req), &data, enables));
        let request = request.map(|request| wrong::asked(self.wrong, request, line.0 as u8));
        let Some(entry) = request.and_then(|request| of.bridge.admit(0, request)) else {
            return StressRequestOutcome::No;
        };
        of.open.push(UnansweredAccess { actor, line, entry, reads });
        let mut asked = BridgeOutput::default();
        of.bridge.start(entry, &mut asked);
        self.follow(leaf, asked, out);
        // What takes effect away from the core is done when its answer comes.
        if reads { StressRequestOutcome::Yes } else { StressRequestOutcome::Given }
    }
}

impl Rig for BridgeRig {
    const TO_LEAF: Dir = Dir::Up;

    fn leaves(&self) -> usize {
        self.bridges.len() + self.hosts.len()
    }

    fn actors(&self) -> usize {
        self.requesters() + self.hosts.len()
    }

    fn who(&self, actor: usize) -> Who {
        match actor.checked_sub(self.requesters()) {
            None => Who::Leaf(actor / self.accelerators),
            Some(host) => Who::Leaf(self.bridges.len() + host),
        }
    }

    fn actor_at(&self, who: Who) -> Option<usize> {
        match who {
            Who::Leaf(leaf) => leaf.checked_sub(self.bridges.len()).map(|host| self.requesters() + host),
            Who::Hub => None,
        }
    }

    fn are_alike(&self) -> bool {
        self.hosts.is_empty()
    }

    fn asks_away(&self, actor: usize) -> bool {
        actor < self.requesters()
    }

    fn take_answers(&mut self) -> Vec<CoreAnswer> {
        std::mem::take(&mut self.answers)
    }

    fn inner_steps(&self, leaf: usize) -> usize {
        self.bridges.get(leaf).map_or(0, |of| of.accesses.len())
    }

    fn inner_step(&mut self, leaf: usize, index: usize, out: &mut AgentOutput<CacheLine>) {
        let by = self.bridges[leaf].accesses.remove(index);
        let mut asked = BridgeOutput::default();
        self.bridges[leaf].bridge.accessed(by, &mut asked);
        self.follow(leaf, asked, out);
    }

    fn name(&self, who: Who) -> String {
        match who {
            Who::Leaf(leaf) => match leaf.checked_sub(self.bridges.len()) {
                None => format!("bridge {leaf}"),
                Some(host) => format!("host {host}"),
            },
            Who::Hub => "DCOH".into(),
        }
    }

    fn accepts(&self, config: &CoherenceConfig, who: Who, port: AgentPort, msg: &Msg<CacheLine>) -> Accept {
        match who {
            Who::Leaf(leaf) if leaf < self.bridges.len() => Accept::Take,
            Who::Leaf(leaf) => self.hosts[leaf - self.bridges.len()].accepts(config, 0, msg),
            Who::Hub => self.dcoh.accepts(config, port, msg),
        }
    }

    fn take(
        &mut self,
        config: &CoherenceConfig,
        who: Who,
        port: AgentPort,
        msg: Msg<CacheLine>,
        way: u8,
        out: &mut AgentOutput<CacheLine>,
    ) {
        match who {
            Who::Leaf(leaf) if leaf < self.bridges.len() => {
                let (taken, answer) = wrong::received(self.wrong, msg);
                out.sends.extend(answer.map(|answer| (0, answer)));
                let mut asked = BridgeOutput::default();
                taken.into_iter().for_each(|msg| self.bridges[leaf].bridge.receive(0, msg, &mut asked));
                self.follow(leaf, asked, out);
            }
            Who::Leaf(leaf) => self.hosts[leaf - self.bridges.len()].take(config, 0, msg, way, out),
            Who::Hub => self.dcoh.take(config, port, msg, way, out),
        }
    }

    fn holds(&self, actor: usize, line: LineAddr) -> bool {
        self.host(actor).is_some_and(|host| host.holds(line))
    }

    fn load(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        out: &mut AgentOutput<CacheLine>,
    ) -> Option<CacheLine> {
        self.host_mut(actor)?.load(config, line, out)
    }

    fn store(
        &mut self,
        config: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        bytes: &WriteBytes<CacheLine>,
        out: &mut AgentOutput<CacheLine>,
    ) -> bool {
        self.host_mut(actor).is_some_and(|host| host.store(config, line, bytes.data, bytes.enables, out))
    }

    fn ask(
        &mut self,
        _: &CoherenceConfig,
        actor: usize,
        line: LineAddr,
        need: Need,
        out: &mut AgentOutput<CacheLine>,
    ) -> StressRequestOutcome {
        match self.host_mut(actor) {
            Some(host) => ask_host(host, line, need, out),
            None => self.request(actor, line, need, out),
        }
    }

    fn due(&self, actor: usize, line: LineAddr) -> HostAccess {
        self.host(actor).map_or(HostAccess::Nothing, |host| host.due(line))
    }

    fn evict(&mut self, _: &CoherenceConfig, actor: usize, line: LineAddr, out: &mut AgentOutput<CacheLine>) -> bool {
        self.host_mut(actor).is_some_and(|host| evict_of_host(host, line, out))
    }

    fn drop_dirty(&mut self, config: &CoherenceConfig, actor: usize, line: LineAddr) -> bool {
        self.host_mut(actor).is_some_and(|host| host.drop_dirty(config, line))
    }

    fn view(&self, config: &CoherenceConfig, line: LineAddr, view: &mut View<CacheLine>) {
        view.home = self.dcoh.memory(line);
        view.tracked = self.dcoh.holders(line).map_or(IdSet::EMPTY, |holders| holders.all());
        for (n, of) in self.bridges.iter().enumerate() {
            let copy = BridgeLines::of(&of.bridge, 0, &[line]).copy(config, line);
            view.copies.extend(copy.map(|copy| CopyView { agent: n, ..copy }));
        }
        let first = self.bridges.len();
        view.copies.extend(self.hosts.iter().enumerate().filter_map(|(n, host)| view_of_host(host, first + n, line)));
    }

    fn awaits(&self, actor: usize, line: LineAddr) -> bool {
        match self.host(actor) {
            Some(host) => host.awaits(line),
            None => {
                let open = &self.bridges[actor / self.accelerators].open;
                open.iter().any(|open| (open.actor, open.line) == (actor, line))
            }
        }
    }

    fn is_idle(&self) -> bool {
        let is_idle = |of: &BridgeLeaf| of.accesses.is_empty() && of.open.is_empty() && of.bridge.held().is_none();
        self.dcoh.is_idle() && self.hosts.iter().all(Agent::is_idle) && self.bridges.iter().all(is_idle)
    }
}
