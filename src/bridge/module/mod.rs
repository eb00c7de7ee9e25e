//! The bridge on a clock: ports, stages with latencies, traces.
//!
//! Modelled: one request enters a cycle, one answer of each class and CXL port enters, one response leaves; messages to CXL leave at the
//! rate of the [`BridgeTiming`], each class by a channel of its own; a request that finds no entry stays in front, and holds up what
//! comes behind it at its port, and of UALink in its virtual channel, alone. With a cache a request is looked for first, and converted only if a message has to leave for it; the
//! bytes are in a [memory](crate::cache_memory) of their own. Left out: the ports, which are those of accelerators and of CXL links.
//!
//! A walk through one cycle: what has come from CXL enters, what is through the stages of answers takes effect; new windows are committed; a request enters, what
//! is through the stages of requests is converted; accesses to the cache end and begin; requests without progress are given up; messages and responses that are framed
//! leave as far as there is room.
//!
//! In traces a request is a transaction that its accelerator has caused, from the port in to the port out; each message to CXL
//! for a line belongs to a child of it, from the link out to its last answer. Before its first child, and behind its last one, it passes
//! stages, which is a wait with a reason of its own.

mod cached;
pub mod epochs;
pub mod hairpin;
pub mod io;
mod links;
pub mod nvlink;
pub mod side;
pub mod ualink;

use crate::cache::ConversionCacheCounts;
use crate::cache_memory::CacheMemory;
use crate::entries::none_open;
use crate::load::IssueWindow;
use crate::outbound::request::{BridgeRequest, PostedRole};
use crate::outbound::table::ChildId;
use crate::outbound::write_backs::WriteBackEnd;
use crate::outbound::{
    BridgeActor, BridgeFinding, BridgeOutput, BridgeStep, BridgeWait, Lacking, OutboundBridge, OutboundConfig,
    OutboundCounts, host_lines, write_backs,
};
use crate::timing::BridgeTiming;
use crate::waits::{AcceleratorClasses, WaitWatch};
use crate::watched::{BridgeLines, PortWatch};
use crate::window::WindowClass;
use epochs::{EpochCounts, TimedCommit};
use hairpin::{OwnerChannels, OwnerState};
use io::{BridgeIoPort, IoState};
use scalepool_coherence::agent::Effect;
use scalepool_coherence::clocked::linked::{NodeLink, Received};
use scalepool_coherence::clocked::outages::{LinkOutage, LinkOutages};
use scalepool_coherence::clocked::tree;
use scalepool_coherence::content::{CacheLine, LineAddr};
use scalepool_coherence::message::{Class, Msg, from_link};
use scalepool_kernel::{Clock, Cx, Module, Next, Pending, Time};
use scalepool_memory::backend::{DramView, MemoryTiming};
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::cxl::memory::{DramFigures, KeptCommands};
use scalepool_nodes::cxl::{cxl_tag, shown};
use scalepool_protocols::cxl::message::{Message, PeerRoute};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionNaming, Wait};
use side::{FrontRequest, RequesterSide};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most broken rules that a bridge keeps one by one.
const MOST_BROKEN: usize = 100;
/// Classes of messages that leave for CXL, each with a queue of its own.
const SENT: [Class; 6] = [Class::M2sReq, Class::M2sRwd, Class::M2sBirsp, Class::D2hReq, Class::D2hRsp, Class::D2hData];

/// How a bridge is built.
pub struct BridgeConfig {
    /// Its place in traces and reports.
    pub place: String,
    /// What it converts.
    pub outbound: OutboundConfig,
    /// Its stages.
    pub timing: BridgeTiming,
    /// Windows that it gets later, the earliest first.
    pub commits: Vec<TimedCommit>,
    /// Times in which CXL links are down; those of one port do not overlap.
    pub outages: Vec<LinkOutage>,
    /// Whether its CXL ports are viral: both halves look at it.
    pub viral: Arc<AtomicBool>,
    /// The memory of its cache of lines, if it has one.
    pub cache_memory: Option<MemoryTiming>,
    /// What its messages may wait for.
    pub waits: WaitWatch,
    /// Its clock.
    pub clock: Clock,
}

/// What a bridge leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct BridgeResult {
    /// What it has counted.
    pub counts: OutboundCounts,
    /// What its cache has counted, if it has one.
    pub cache: Option<ConversionCacheCounts>,
    /// Requests answered.
    pub done: u64,
    /// Cycles from the port in to the port out, of all requests that were answered.
    pub cycles: u64,
    /// Cycles in which a request was at a port and no entry was free for it.
    pub full_cycles: u64,
    /// Cycles in which a request was at a port and waited for the next epoch.
    pub epoch_cycles: u64,
    /// Changes of its windows.
    pub epochs: EpochCounts,
    /// CXL ports that are viral, of those by which it asks.
    pub viral_ports: u64,
    /// Times that a CXL link has gone down.
    pub lost_links: u64,
    /// What the DRAM of its cache has done, if that is what it is.
    pub dram: Option<DramFigures>,
    /// Commands of this DRAM, if they are kept.
    pub commands: Vec<KeptCommands>,
    /// Rules that were broken.
    pub broken: Vec<PlacedViolation>,
}

/// A CXL port: its channels, and the watcher of the lines there, if there is one.
pub struct BridgeCxlPort {
    /// Channels.
    pub link: NodeLink,
    /// Its device keeps lines coherent.
    pub is_coherent: bool,
    /// Watcher.
    pub watch: Option<PortWatch>,
}

/// A message that waits to leave for CXL.
#[derive(Debug, Clone)]
struct Leaving {
    due: u64,
    by: Option<BridgeActor>,
    msg: Msg<CacheLine>,
    /// It asks for a line, which is under way from then on.
    is_first: bool,
    /// The trace says that it has no room.
    is_held: bool,
}

/// A response that waits to leave for an accelerator.
#[derive(Debug, Clone, Copy)]
struct DueResponse {
    due: u64,
    entry: u16,
    /// It is this beat alone, and others follow.
    beat: Option<u8>,
}

impl Leaving {
    /// The child for which it leaves, if it is one.
    fn child(&self) -> Option<ChildId> {
        match self.by {
            Some(BridgeActor::Child(child)) => Some(child),
            _ => None,
        }
    }
}

/// A transaction in traces.
#[derive(Debug, Clone, Copy, Default)]
struct Traced {
    id: u64,
    since_cycle: u64,
    /// No message leaves for it before.
    converted_cycle: u64,
    /// Its children, 0 where there is none under way.
    children: [u64; 4],
    /// What it waits for, as the trace says.
    wait: Option<Wait>,
}

/// A bridge.
pub struct Bridge {
    config: BridgeConfig,
    bridge: OutboundBridge,
    side: Box<dyn RequesterSide>,
    cxl: Vec<NodeLink>,
    /// Ports of CXL.io, whose numbers come behind those of the other CXL ports.
    io: Vec<IoState>,
    /// To the inbound half, if it has memory of the own cluster.
    owner: Option<OwnerState>,
    /// Whether devices keep lines coherent, by CXL port.
    are_coherent: Vec<bool>,
    /// Lines under way by CXL port.
    loads: Vec<IssueWindow>,
    /// Watchers of CXL ports.
    watches: Vec<Option<PortWatch>>,
    /// The input at which a request is looked for first.
    first: usize,
    /// Requests in the stages, each with the cycle in which it is through.
    requests: VecDeque<(u64, u16)>,
    /// Messages from CXL in the stages, with their ports.
    answers: VecDeque<(u64, usize, Message)>,
    /// What leaves for CXL, by port and by place in [`SENT`].
    sends: Vec<[VecDeque<Leaving>; SENT.len()]>,
    /// Responses in the last stage.
    responses: VecDeque<DueResponse>,
    /// When a child that has not got on since is given up: cycle, child, how often it had got on.
    deadlines: VecDeque<(u64, ChildId, u64)>,
    traced: Vec<Traced>,
    /// Write backs in traces, 0 where there is none under way.
    traced_write_backs: Vec<u64>,
    memory: Option<CacheMemory>,
    /// Findings of its DRAM that are known.
    dram_findings: usize,
    /// Accesses to the cache whose bytes are in the stages of answers.
    accessed: VecDeque<(u64, BridgeActor)>,
    /// Windows that it gets later.
    commits: VecDeque<TimedCommit>,
    /// CXL links that are down, or will be.
    links: LinkOutages,
    /// When the commit was due that waits \[cycles\].
    commit_since: Option<u64>,
    /// Since when the request in front of each input waits \[cycles\], and what for.
    full_since: Vec<Option<(u64, Lacking)>>,
    out: BridgeOutput,
    tap: Tap,
    mine: BridgeResult,
    result: Arc<Mutex<BridgeResult>>,
}

/// What a CXL port has in common with its peer.
fn peer_of(link: &NodeLink) -> PeerRoute {
    link.routes.first().copied().unwrap_or_default()
}

/// The child to which an answer belongs, or would if no write back had its CQID.
fn answered_child(message: &Message) -> Option<ChildId> {
    match message {
        Message::H2dRsp(header) => Some(ChildId::of_tag(header.cqid)),
        Message::H2dData(header, _) => Some(ChildId::of_tag(header.cqid)),
        Message::S2mDrs(header, _) => Some(ChildId::of_tag(header.tag)),
        Message::S2mNdr(header) => Some(ChildId::of_tag(header.tag)),
        _ => None,
    }
}

/// The class of the message for which somebody sends.
fn asked_by(
    bridge: &OutboundBridge,
    classes: AcceleratorClasses,
    (by, sent): (Option<BridgeActor>, Class),
) -> &'static str {
    match by {
        None if matches!(sent, Class::D2hRsp | Class::D2hData) => Class::H2dReq.name(),
        None => Class::S2mBisnp.name(),
        Some(BridgeActor::WriteBack(n)) => match bridge.write_backs().get(n).map(|write_back| write_back.end) {
            Some(WriteBackEnd::Snooped(..)) => Class::S2mBisnp.name(),
            // It makes room for a request.
            _ => classes.request,
        },
        Some(BridgeActor::Child(child)) => {
            let posted = bridge.transaction(child.entry).map(|open| open.request.posted);
            let posted = classes.posted.filter(|_| matches!(posted, Some(PostedRole::Posted { .. })));
            posted.unwrap_or(classes.request)
        }
    }
}

/// The tap of the hairpin, if a bridge has one and it is meant, or that of the bridge.
fn tap_of<'a>((own, owner): (&'a mut Tap, &'a mut Option<OwnerState>), is_hairpin: bool) -> &'a mut Tap {
    match owner {
        Some(owner) if is_hairpin => owner.tap(),
        _ => own,
    }
}

/// The place of a class in [`SENT`].
fn place_of(msg: &Msg<CacheLine>) -> usize {
    SENT.iter().position(|class| *class == msg.class()).unwrap_or(0)
}

impl Bridge {
    /// A bridge with its links to accelerators, its CXL ports, those of CXL.io, and its channels to the inbound half; what it publishes is in `result`.
    pub fn new(
        config: BridgeConfig,
        side: Box<dyn RequesterSide>,
        cxl: Vec<BridgeCxlPort>,
        (io, owner): (Vec<BridgeIoPort>, Option<OwnerChannels>),
        tap: Tap,
        result: Arc<Mutex<BridgeResult>>,
    ) -> Bridge {
        let are_coherent = cxl.iter().map(|port| port.is_coherent).collect();
        let (cxl, watches): (Vec<_>, Vec<_>) = cxl.into_iter().map(|port| (port.link, port.watch)).unzip();
        Bridge {
            bridge: OutboundBridge::new(config.outbound.clone()),
            first: 0,
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            sends: cxl.iter().map(|_| Default::default()).collect(),
            responses: VecDeque::new(),
            deadlines: VecDeque::new(),
            traced: vec![Traced::default(); config.outbound.entries],
            traced_write_backs: vec![0; (write_backs::WRITE_BACKS + write_backs::SNOOP_WRITE_BACKS).into()],
            memory: config.cache_memory.clone().map(CacheMemory::new),
            dram_findings: 0,
            accessed: VecDeque::new(),
            commits: config.commits.clone().into(),
            links: LinkOutages::new(&config.outages),
            commit_since: None,
            full_since: vec![None; side.inputs()],
            out: BridgeOutput::default(),
            mine: BridgeResult::default(),
            config,
            loads: vec![IssueWindow::default(); cxl.len()],
            side,
            io: io.into_iter().map(IoState::new).collect(),
            owner: owner.map(OwnerState::new),
            cxl,
            are_coherent,
            watches,
            tap,
            result,
        }
    }

    /// Where what passes at a CXL port is shown: the hairpin, which is the last one, has a place of its own.
    fn tap_at(&mut self, port: usize) -> &mut Tap {
        tap_of((&mut self.tap, &mut self.owner), port + 1 == self.cxl.len())
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: &str, text: &str) {
        if self.mine.broken.len() < MOST_BROKEN {
            let violation = Violation::at_byte(rule, 0, found, expected, text);
            self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
        }
    }

    // ---- from CXL ------------------------------------------------------------------------------------------------

    /// Takes a message of each class at each CXL port: there is always room, it was set aside with the entry.
    fn enter_answers(&mut self, cx: &mut Cx, at: Stamp) {
        let due = at.cycle + self.config.timing.answer_cycles();
        let last = self.cxl.len().saturating_sub(1);
        for (port, link) in self.cxl.iter_mut().enumerate().filter(|(port, _)| !self.links.is_down(*port)) {
            for n in 0..link.rx.len() {
                // A snoop stays behind every response that came before it, however many a cycle brings (`coherence` §2.6 O1).
                let is_response = |(class, channel): &(Class, Received)| *class == Class::H2dRsp && channel.is_due(cx);
                if link.rx[n].0 == Class::H2dReq && link.rx.iter().any(is_response) {
                    continue;
                }
                let Some(message) = link.rx[n].1.pop(cx) else { continue };
                let child = answered_child(&message).and_then(|id| {
                    self.traced.get(usize::from(id.entry)).map(|traced| traced.children[usize::from(id.child)])
                });
                if let Some(child) = child.filter(|child| *child != 0) {
                    tap_of((&mut self.tap, &mut self.owner), port == last).wait(at, child, Wait::Stage, 0);
                }
                self.answers.push_back((due, port, message));
            }
        }
    }

    fn take_answers(&mut self, cx: &mut Cx, at: Stamp) {
        while self.answers.front().is_some_and(|(due, ..)| *due <= at.cycle) {
            let Some((_, port, message)) = self.answers.pop_front() else { return };
            let msg = from_link(&message);
            self.watch(port, &msg, (true, false), at);
            if let Msg::S2mNdr { devload, .. } | Msg::S2mDrs { devload, .. } = msg {
                self.loads[port].told(devload, at.cycle, self.config.timing.growth_cycles);
            }
            let child = answered_child(&message);
            let before = self.awaits(child, port);
            self.bridge.receive(port, msg, &mut self.out);
            if before && !self.awaits(child, port) {
                self.loads[port].ended();
            }
            self.show_answer(port, &message, at);
            self.follow(at);
            cx.progress();
        }
    }

    /// Whether answers for a child are still to come at a port.
    fn awaits(&self, child: Option<ChildId>, port: usize) -> bool {
        let child = child.and_then(|id| self.bridge.child_of(id));
        child.is_some_and(|child| child.port == port && child.awaited.any())
    }

    /// Tells the watcher of a port of a message that is taken or sent; one that is written for a request without a cache is a store.
    fn watch(&mut self, port: usize, msg: &Msg<CacheLine>, (taken, is_store): (bool, bool), at: Stamp) {
        let Some(PortWatch { node, watch }) = &mut self.watches[port] else { return };
        watch.message(*node, 0, msg, taken, at);
        let lines: Vec<LineAddr> = msg.line().into_iter().collect();
        let stored = match msg {
            Msg::M2sRwd { line, .. } if is_store => vec![Effect::Stored(*line)],
            _ => Vec::new(),
        };
        let copies = BridgeLines::of(&self.bridge, port, &lines);
        self.judge_lines(port, (&copies, &lines), &stored, at);
    }

    /// Shows the watcher of a port what the bridge has of some lines.
    fn judge_lines(
        &mut self,
        port: usize,
        (copies, lines): (&BridgeLines, &[LineAddr]),
        stored: &[Effect<CacheLine>],
        at: Stamp,
    ) {
        let Some(PortWatch { node, watch }) = &mut self.watches[port] else { return };
        let events = watch.step(*node, copies, stored, lines, at);
        for event in events {
            let violation = event.violation();
            self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
            if self.mine.broken.len() < MOST_BROKEN {
                self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
            }
        }
    }

    /// Ends the child in the trace if this was its last answer.
    fn show_answer(&mut self, port: usize, message: &Message, at: Stamp) {
        let write_back = match message {
            Message::S2mNdr(header) => write_backs::of_tag(header.tag),
            Message::H2dRsp(header) => host_lines::write_back_of(header.cqid),
            _ => None,
        };
        if let Some(n) = write_back.filter(|n| self.traced_write_backs.get(usize::from(*n)).is_some_and(|id| *id != 0))
        {
            return self.show_written_back(n, port, message, at);
        }
        let Some(id) = answered_child(message) else { return };
        let Some(slot) = self.traced.get_mut(usize::from(id.entry)).map(|t| &mut t.children[usize::from(id.child)])
        else {
            return;
        };
        let is_open = self.bridge.child_of(id).is_some_and(|child| child.awaited.any() || !child.is_done);
        let (transaction, form) = (*slot, self.cxl[port].form);
        if transaction == 0 {
            return;
        }
        let kind = if is_open { RecordKind::Mark } else { RecordKind::End };
        if !is_open {
            *slot = 0;
        }
        self.tap_at(port).record(at, kind, transaction, 0, || shown(message, form));
    }

    // ---- from accelerators ---------------------------------------------------------------------------------------

    /// Takes a request, if there is one and an entry for it.
    fn enter_request(&mut self, cx: &mut Cx, at: Stamp) {
        let inputs = self.side.inputs();
        for n in 0..inputs {
            let input = (self.first + n) % inputs;
            let Some(front) = self.side.front(cx, input) else { continue };
            let lacking = self.bridge.lacks(front.need);
            self.show_full(input, lacking, front, at);
            if lacking.is_some() {
                continue;
            }
            let Some(request) = self.side.take(cx, input) else { continue };
            self.begin(input, request, front, at);
            self.first = (input + 1) % inputs;
            break;
        }
        for BridgeFinding { rule, found, expected } in self.side.take_findings(cx) {
            let text = scalepool_protocols::rules::find(rule).map_or("", |rule| rule.text);
            self.broken(rule, found, expected, text);
        }
    }

    /// Says of the request in front of an input what it waits for, and when it does no more.
    fn show_full(&mut self, input: usize, lacking: Option<Lacking>, front: FrontRequest, at: Stamp) {
        let reason = |lacking| if lacking == Lacking::Epoch { Wait::Epoch } else { Wait::Room };
        let (wait, before) = (lacking.map(reason), self.full_since[input]);
        if wait == before.map(|(_, lacking)| reason(lacking)) {
            return;
        }
        self.full_since[input] = lacking.map(|lacking| (at.cycle, lacking));
        if let Some((since, lacking)) = before {
            let (BridgeResult { epoch_cycles, full_cycles, .. }, cycles) = (&mut self.mine, at.cycle - since);
            *(if lacking == Lacking::Epoch { epoch_cycles } else { full_cycles }) += cycles;
        }
        if let Some(handle) = front.handle {
            let body = || match wait {
                Some(wait) => Body::Wait { wait, holder: 0 },
                None => Body::Mark(scalepool_trace::wait::WAIT_OVER),
            };
            self.tap.named(TransactionNaming::By(handle), at, RecordKind::Mark, 0, 0, body);
        }
    }

    fn begin(&mut self, input: usize, request: BridgeRequest, front: FrontRequest, at: Stamp) {
        let address = request.address;
        let Some(entry) = self.bridge.admit(input, request) else { return };
        let id = self.tap.new_id();
        let named = front.handle.map_or(TransactionNaming::Nowhere, TransactionNaming::By);
        self.tap.named(named, at, RecordKind::Begin, id, 0, || Body::Access { name: "convert", address });
        self.traced[usize::from(entry)] = Traced { id, since_cycle: at.cycle, ..Traced::default() };
        self.show_wait(entry, Some((Wait::Stage, 0)), at);
        self.requests.push_back((at.cycle + self.start_cycles(), entry));
    }

    fn start_requests(&mut self, cx: &mut Cx, at: Stamp) {
        while self.requests.front().is_some_and(|(due, _)| *due <= at.cycle) {
            let Some((_, entry)) = self.requests.pop_front() else { return };
            self.bridge.start(entry, &mut self.out);
            let is_found = self.bridge.transaction(entry).is_some_and(|transaction| transaction.is_templated);
            let rest =
                if is_found { 0 } else { self.config.timing.request_cycles().saturating_sub(self.start_cycles()) };
            self.traced[usize::from(entry)].converted_cycle = at.cycle + rest;
            self.follow(at);
            cx.progress();
        }
    }

    // ---- what follows --------------------------------------------------------------------------------------------

    fn follow(&mut self, at: Stamp) {
        let mut out = std::mem::take(&mut self.out);
        let timing = self.config.timing;
        for step in out.steps.drain(..) {
            match step {
                BridgeStep::Send { by, port, msg, is_computed } => {
                    let leaving = Leaving { due: at.cycle, by, msg, is_first: false, is_held: false };
                    let child = leaving.child().and_then(|id| self.bridge.child_of(id));
                    // Of the own cluster the home has the store.
                    let is_store = child.is_some_and(|child| child.cached.is_none() && child.class != WindowClass::Hp);
                    // A host tells nothing of its load, and the own home has to be told that a line is free.
                    let is_first = child.is_some_and(|child| child.step == 0 && child.class != WindowClass::Hp)
                        && !self.bridge.is_host(port);
                    self.watch(port, &leaving.msg, (false, is_store), at);
                    let alu = if is_computed { timing.alu_cycles } else { 0 };
                    let converted = leaving.child().map_or(0, |id| self.traced[usize::from(id.entry)].converted_cycle);
                    let due = at.cycle.max(converted) + alu + timing.frame_cycles;
                    let leaving = Leaving { due, is_first, ..leaving };
                    let queue = &mut self.sends[port][place_of(&leaving.msg)];
                    // What is computed comes behind what needs less time.
                    let behind = queue.iter().rev().take_while(|other| other.due > leaving.due).count();
                    queue.insert(queue.len() - behind, leaving);
                }
                BridgeStep::SendTlp { child, port, tlp, is_last } => self.frame_tlp(child, port, (tlp, is_last), at),
                BridgeStep::AskOwner(ask) => self.frame_owner(ask, at),
                BridgeStep::Respond { entry } => {
                    self.show_wait(entry, Some((Wait::Stage, 0)), at);
                    self.ready(entry, None, at);
                }
                BridgeStep::Beat { entry, beat } => self.ready(entry, Some(beat), at),
                BridgeStep::Access { by, address, is_write } => {
                    if let Some(BridgeActor::Child(id)) = by {
                        self.show_wait(id.entry, Some((Wait::Media, 0)), at);
                    }
                    if let Some(memory) = &mut self.memory {
                        memory.access(by, address, is_write);
                    }
                }
                BridgeStep::Changed { port, line, copy, is_stored } => {
                    let stored = is_stored.then_some(Effect::Stored(line));
                    self.judge_lines(port, (&copy, &[line]), stored.as_slice(), at);
                }
                BridgeStep::Viral => {
                    self.config.viral.store(true, Ordering::Relaxed);
                    self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark("viral"));
                }
                BridgeStep::Advanced { child, advances } => {
                    self.deadlines.push_back((at.cycle + timing.timeout_cycles, child, advances));
                }
                BridgeStep::Waits { entry, reason, holder } => {
                    let wait = match reason {
                        BridgeWait::Order => Wait::Order,
                        BridgeWait::Line => Wait::Line,
                        BridgeWait::Room => Wait::Room,
                    };
                    let holder = holder.map_or(0, |holder| self.traced[usize::from(holder)].id);
                    self.show_wait(entry, Some((wait, holder)), at);
                }
                BridgeStep::GoesOn { entry } => self.show_wait(entry, Some((Wait::Stage, 0)), at),
            }
        }
        for finding in out.findings.drain(..) {
            self.broken(finding.rule, finding.found, finding.expected, "a message from CXL does not fit what is open");
        }
        self.out = out;
    }

    /// Says of a request what it waits for from here on, or that it goes on.
    fn show_wait(&mut self, entry: u16, wait: Option<(Wait, u64)>, at: Stamp) {
        let traced = &mut self.traced[usize::from(entry)];
        match wait {
            Some((wait, holder)) => self.tap.wait(at, traced.id, wait, holder),
            None if traced.wait.is_some() => self.tap.wait_over(at, traced.id),
            None => (),
        }
        traced.wait = wait.map(|(wait, _)| wait);
    }

    /// Gives up what has not got on for too long.
    fn time_out(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(&(due, child, advances)) = self.deadlines.front() {
            let is_open = |open: &crate::outbound::transaction::Child| !open.is_done && open.advances == advances;
            let is_open = self.bridge.child_of(child).is_some_and(is_open);
            if is_open && due > at.cycle {
                break;
            }
            self.deadlines.pop_front();
            if is_open {
                let is_hairpin = self.bridge.child_of(child).is_some_and(|child| child.class == WindowClass::Hp);
                self.bridge.time_out(child, advances, &mut self.out);
                let children = std::mem::take(&mut self.traced[usize::from(child.entry)].children);
                for id in children.into_iter().filter(|id| *id != 0) {
                    let tap = tap_of((&mut self.tap, &mut self.owner), is_hairpin);
                    tap.record(at, RecordKind::End, id, 0, || Body::Mark("timed_out"));
                }
                self.follow(at);
                cx.progress();
            }
        }
    }

    // ---- out -----------------------------------------------------------------------------------------------------

    /// Messages leave for CXL, those first that are due first, at the rate of the stages and as far as channels have room. Whether
    /// the rate has held something back.
    fn send(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        for _ in 0..self.config.timing.children_per_cycle {
            let (next, tlp) = (self.next_to_send(cx, at), self.next_tlp(cx, at));
            if let Some((_, n)) = tlp.filter(|(due, _)| next.is_none_or(|(other, ..)| *due < other)) {
                self.send_tlp(n, cx, at);
                continue;
            }
            let Some((_, port, place)) = next else { return false };
            let Some(leaving) = self.sends[port][place].pop_front() else { return false };
            let mut message = leaving.msg.to_link(peer_of(&self.cxl[port]));
            // The traffic class is the virtual channel (`bridge` §2).
            let request = leaving.child().and_then(|child| self.bridge.transaction(child.entry));
            let vchan = request.map_or(0, |transaction| transaction.request.traffic_class);
            match &mut message {
                Message::M2sReq(header) => header.tc = vchan,
                Message::M2sRwd(header, _) => header.tc = vchan,
                _ => (),
            }
            if let Some((_, channel)) = self.cxl[port].tx.iter_mut().find(|(class, _)| *class == SENT[place]) {
                // Room was asked for before. Nothing has to stay behind another class, so all have one number.
                let _ = channel.push(cx, (0, message));
            }
            self.show_sent(port, &leaving, &message, at);
            cx.progress();
        }
        true
    }

    /// Since when the message that leaves next may, its port and its class; those without room say so in the trace.
    fn next_to_send(&mut self, cx: &Cx, at: Stamp) -> Option<(u64, usize, usize)> {
        let mut next: Option<(u64, usize, usize)> = None;
        let mut unlisted = Vec::new();
        for port in 0..self.cxl.len() {
            let is_down = self.links.is_down(port);
            for (place, sent) in SENT.iter().enumerate().filter(|_| !is_down) {
                let Some(front) = self.sends[port][place].front_mut().filter(|front| front.due <= at.cycle) else {
                    continue;
                };
                let channel = self.cxl[port].tx.iter().find(|(class, _)| class == sent);
                let has_channel = channel.is_some_and(|(_, channel)| channel.has_room(cx, 1));
                let has_window = !front.is_first || self.loads[port].has_room();
                if !has_channel || !has_window {
                    let is_new = !std::mem::replace(&mut front.is_held, true);
                    let wait = if has_window { Wait::Link } else { Wait::Throttle };
                    if is_new && !has_channel {
                        let waits = &mut self.config.waits;
                        let incoming = asked_by(&self.bridge, waits.classes, (front.by, *sent));
                        unlisted.extend(waits.observed(incoming, sent.name()));
                    }
                    if let Some(child) = front.child().filter(|_| is_new) {
                        self.show_wait(child.entry, Some((wait, 0)), at);
                    }
                } else if next.is_none_or(|(due, ..)| front.due < due) {
                    next = Some((front.due, port, place));
                }
            }
        }
        for BridgeFinding { rule, found, expected } in unlisted {
            self.broken(rule, found, expected, "a message waits for one that it must not wait for");
        }
        next
    }

    fn show_sent(&mut self, port: usize, leaving: &Leaving, message: &Message, at: Stamp) {
        if let Some(BridgeActor::WriteBack(n)) = leaving.by {
            if matches!(leaving.msg, Msg::D2hData { .. }) {
                // The trace of a write back to a host ends with the GO that pulls its data.
                return;
            }
            return self.show_write_back(n, port, message, at);
        }
        let Some(child) = leaving.child() else { return };
        if leaving.is_first {
            self.loads[port].issued();
        }
        if leaving.is_held || self.traced[usize::from(child.entry)].wait == Some(Wait::Stage) {
            self.show_wait(child.entry, None, at);
        }
        self.bridge.sent(child, &leaving.msg, &mut self.out);
        let form = self.cxl[port].form;
        let Traced { id: parent, children, .. } = self.traced[usize::from(child.entry)];
        let mut id = children[usize::from(child.child)];
        let (mut kind, mut named) = (RecordKind::Mark, TransactionNaming::Nowhere);
        if id == 0 {
            id = self.tap_at(port).new_id();
            self.traced[usize::from(child.entry)].children[usize::from(child.child)] = id;
            kind = RecordKind::Begin;
            named = self.naming(port, child.tag(), message);
        } else if matches!(leaving.msg, Msg::D2hData { .. })
            && !self.bridge.child_of(child).is_some_and(|open| open.awaited.any() || !open.is_done)
        {
            // With its data it has ended.
            kind = RecordKind::End;
            self.traced[usize::from(child.entry)].children[usize::from(child.child)] = 0;
        }
        self.tap_at(port).named(named, at, kind, id, parent, || shown(message, form));
        self.follow(at);
    }

    /// The name by which the device knows a message. Where it keeps lines coherent, all know requests as coherent agents do.
    fn naming(&self, port: usize, tag: u16, message: &Message) -> TransactionNaming {
        let (form, link) = (self.cxl[port].form, self.cxl[port].link);
        let peer = peer_of(&self.cxl[port]);
        TransactionNaming::As(match self.are_coherent[port] {
            true => tree::part(link, form, message).1,
            false => cxl_tag(link, peer.spid, peer.dpid, tag),
        })
    }

    /// One response leaves, if one is due and has room: whether it did.
    fn respond(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        for n in 0..self.responses.len() {
            let DueResponse { due, entry, beat } = self.responses[n];
            if due > at.cycle {
                return false;
            }
            let answer = match beat {
                Some(beat) => self.bridge.beat(entry, beat),
                None => self.bridge.response(entry),
            };
            let Some((input, response)) = answer else { return false };
            if !self.side.has_room(cx, input, &response) {
                let AcceleratorClasses { request, response, .. } = self.config.waits.classes;
                if let Some(BridgeFinding { rule, found, expected }) = self.config.waits.observed(request, response) {
                    self.broken(rule, found, expected, "a message waits for one that it must not wait for");
                }
                continue;
            }
            self.side.respond(cx, input, &response);
            self.responses.remove(n);
            cx.progress();
            if beat.is_some() {
                return true;
            }
            self.mine.done += 1;
            let traced = &mut self.traced[usize::from(entry)];
            self.mine.cycles += at.cycle - traced.since_cycle;
            // Its children may still be open, if it was given up.
            let id = std::mem::take(&mut traced.id);
            self.tap.record(at, RecordKind::End, id, 0, || Body::None);
            self.bridge.left(entry);
            return true;
        }
        false
    }

    /// When it has something to do without being woken: what has no room is woken by room, what a rate has held back goes on in the
    /// next cycle.
    fn next(&mut self, cx: &Cx, at: Stamp) -> Next {
        let (bridge, side) = (&self.bridge, &mut self.side);
        let mut fronts = (0..side.inputs()).filter_map(|input| side.front(cx, input));
        let has_request = fronts.any(|front| bridge.lacks(front.need).is_none());
        let links = &self.links;
        let has_answer = |(port, link): (usize, &NodeLink)| {
            !links.is_down(port) && link.rx.iter().any(|(_, channel)| channel.is_due(cx))
        };
        let io_from = self.cxl.len();
        let has_tlp = |(n, state): (usize, &IoState)| !links.is_down(io_from + n) && state.port.rx.is_due(cx);
        let has_owner = self.owner.as_ref().is_some_and(|state| state.is_due(cx));
        if has_request
            || has_owner
            || self.cxl.iter().enumerate().any(has_answer)
            || self.io.iter().enumerate().any(has_tlp)
        {
            return Next::Busy;
        }
        let sends = self.sends.iter().flatten().filter_map(|queue| queue.front().map(|leaving| leaving.due));
        let fronts = [
            self.commits.front().map(|commit| commit.at_cycle),
            self.links.due(),
            self.requests.front().map(|(due, _)| *due),
            self.answers.front().map(|(due, ..)| *due),
            self.responses.iter().map(|response| response.due).find(|due| *due > at.cycle),
            self.deadlines.front().map(|(due, ..)| *due),
            self.accessed.front().map(|(due, _)| *due),
            self.memory.as_ref().and_then(|memory| memory.wake_at(at.cycle)),
        ];
        let of_io = self.io.iter().flat_map(|state| [state.due(), state.answers_due()]).flatten();
        let of_owner = self.owner.iter().flat_map(OwnerState::due);
        let due =
            fronts.into_iter().flatten().chain(sends).chain(of_io).chain(of_owner).filter(|due| *due > at.cycle).min();
        due.map_or(Next::Idle, |due| Next::In(due - at.cycle))
    }
}

impl Module for Bridge {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.follow_links(cx, at);
        self.enter_answers(cx, at);
        self.take_answers(cx, at);
        self.enter_tlps(cx, at);
        self.take_tlps(cx, at);
        self.take_owner_answers(cx, at);
        self.commit_windows(at);
        self.enter_request(cx, at);
        self.start_requests(cx, at);
        self.access_cache(cx, at);
        self.time_out(cx, at);
        let has_asked = self.send_owner(cx, at);
        let is_rated = self.send(cx, at);
        let has_responded = self.respond(cx, at);
        self.show_epoch(at);
        match has_responded || is_rated || has_asked {
            true => Next::Busy,
            false => self.next(cx, at),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        if self.io.iter().any(|state| !state.is_quiet()) {
            return Err(Pending::new("power management messages to send or answers to collect", Time::ZERO));
        }
        let since = self.traced.iter().filter(|t| t.id != 0).map(|t| t.since_cycle);
        none_open(self.bridge.open(), "transactions", since, self.config.clock)
    }

    fn publish(&self) {
        let OutboundConfig { data, templates, .. } = &self.config.outbound;
        let cache = (data.is_some() || templates.is_some()).then(|| self.bridge.cache_counts());
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let mut commands = std::mem::take(&mut result.commands);
        let dram = self.memory.as_ref().and_then(CacheMemory::dram).map(|view| {
            KeptCommands::publish(&mut commands, 0, &view);
            let DramView { counts, bytes, last_data_fs, .. } = view;
            DramFigures { counts, bytes, last_data_fs }
        });
        let viral_ports = if self.bridge.is_viral() { self.cxl.len() as u64 } else { 0 };
        *result =
            BridgeResult { counts: self.bridge.counts(), viral_ports, cache, dram, commands, ..self.mine.clone() };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.bridge.open() as u64);
        visit("write_buffers_free", self.bridge.buffers_free() as u64);
        let OutboundConfig { data, templates, .. } = &self.config.outbound;
        let counts = self.bridge.cache_counts();
        if data.is_some() {
            visit("cache_hits", counts.hits.iter().sum());
            visit("cache_misses", counts.misses.iter().sum());
            visit("write_backs", self.bridge.write_backs().open() as u64);
        }
        if templates.is_some() {
            visit("template_hits", counts.template_hits);
            visit("template_misses", counts.template_misses);
        }
    }
}
