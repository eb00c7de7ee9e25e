//! The inbound half of a bridge on a clock: target ports, stages with latencies, traces.
//!
//! Modelled: one message of CXL enters a cycle, of all target ports in turn; one answer of each link of accelerators enters; accesses
//! to accelerators leave at the rate of the [`BridgeTiming`], answers to CXL one a cycle; a message that finds no entry stays in front
//! and holds up what comes behind it at its port alone. Requests of CXL.io have ports and transactions of their own
//! ([`half`](super::bar::half)) beside them, and the same links to accelerators. Left out: the ports, which are those of memories and of
//! accelerators; a queue for each class in front of the table, since both wait for the same entries.
//!
//! A walk through one cycle: answers of accelerators enter, those that are through the stages of answers take effect; a message enters, what
//! is through the stages of requests is converted; transactions without progress are given up; accesses and answers that are framed leave
//! as far as there is room.
//!
//! In traces a transaction is a child of the request of its host, from the port in to the port out; what its accelerator does is a
//! child of it.

use super::bar::half::{BarHalf, BarResult};
use super::cached::InboundCacheCounts;
use super::owner::{OwnerEntrance, OwnerPort};
use super::port::TargetPort;
use super::side::{AcceleratorAnswer, AcceleratorSide, SideAccess};
use super::table::InboundSource;
use super::{InboundBridge, InboundConfig, InboundCounts, InboundOutput, InboundStep};
use crate::entries::none_open;
use crate::outbound::BridgeFinding;
use crate::timing::BridgeTiming;
use crate::waits::WaitWatch;
use crate::window::InboundClass;
use scalepool_coherence::clocked::outages::{LinkOutage, LinkOutages};
use scalepool_coherence::message::from_link;
use scalepool_kernel::{Clock, Cx, Module, Next, Pending};
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::cxl::{cxl_tag, shown};
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::{Message, MessageForm, PeerRoute};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most broken rules that a bridge keeps one by one.
const MOST_BROKEN: usize = 100;

/// How the inbound half is built.
pub struct InboundModuleConfig {
    /// Its place in traces and reports.
    pub place: String,
    /// What it converts.
    pub inbound: InboundConfig,
    /// Its stages.
    pub timing: BridgeTiming,
    /// Cycles that a read waits for reads of the lines beside it, to leave with them; `None`: every line leaves alone.
    pub merge_cycles: Option<u64>,
    /// Latency of an access to the memory of the cache, if there is one \[cycles\].
    pub cache_cycles: u64,
    /// Times in which links of target ports are down; those of one port do not overlap.
    pub outages: Vec<LinkOutage>,
    /// Whether the CXL ports of the bridge are viral, as the other half says.
    pub viral: Arc<AtomicBool>,
    /// How traces spell messages, whatever the form of their link.
    pub shown: MessageForm,
    /// What its messages may wait for.
    pub waits: WaitWatch,
    /// Its clock.
    pub clock: Clock,
}

/// What the inbound half leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct InboundResult {
    /// What it has counted.
    pub counts: InboundCounts,
    /// Of the cache, if there is one.
    pub cache: Option<InboundCacheCounts>,
    /// Messages answered, hints that were dropped among them.
    pub done: u64,
    /// Cycles from the port in to the port out, of all messages that were answered.
    pub cycles: u64,
    /// Cycles in which a message was at a port and no entry was free for it.
    pub full_cycles: u64,
    /// Times that the link of a target port has gone down.
    pub lost_links: u64,
    /// Messages of CXL.mem that were lost with a link, or whose answers were.
    pub lost_messages: u64,
    /// Rules that were broken.
    pub broken: Vec<PlacedViolation>,
    /// Of class BR.
    pub bars: BarResult,
}

/// A transaction in traces.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TracedInbound {
    pub(super) id: u64,
    pub(super) since_cycle: u64,
    /// What it waits for, as the trace says.
    wait: Option<Wait>,
}

/// The inbound half.
pub struct InboundModule {
    pub(super) config: InboundModuleConfig,
    pub(super) bridge: InboundBridge,
    side: Box<dyn AcceleratorSide>,
    pub(super) ports: Vec<TargetPort>,
    /// Requests of CXL.io.
    bars: BarHalf,
    /// Atomics of the outbound half, if it reaches memory of the own cluster.
    pub(super) owner: Option<OwnerEntrance>,
    /// The port at which a message is looked for first.
    first: usize,
    /// Messages in the stages, each with the cycle in which it is through.
    requests: VecDeque<(u64, u16)>,
    /// Accesses in the last stage.
    pub(super) accesses: VecDeque<(u64, u16)>,
    /// Accesses to the memory of the cache.
    in_cache: VecDeque<(u64, u16)>,
    /// Answers of accelerators in the stages.
    answers: VecDeque<(u64, AcceleratorAnswer)>,
    /// Answers to CXL in the last stage, by port.
    pub(super) responses: Vec<VecDeque<(u64, u16)>>,
    /// When a transaction that has not got on since is given up: cycle, entry, which time it had got on.
    deadlines: VecDeque<(u64, u16, u64)>,
    /// Accesses whose link was reset: when nothing can come for them any more, tag, the cycle in which that was heard.
    lost: VecDeque<(u64, u16, u64)>,
    pub(super) traced: Vec<TracedInbound>,
    /// Since when the message in front of each port waits for an entry \[cycles\].
    full_since: Vec<Option<u64>>,
    /// Links of target ports that are down, or will be.
    pub(super) links: LinkOutages,
    /// When the link of each port went down last \[cycles\]; 0: it has not.
    pub(super) lost_before: Vec<u64>,
    arrived: Vec<Result<AcceleratorAnswer, BridgeFinding>>,
    out: InboundOutput,
    pub(super) tap: Tap,
    pub(super) mine: InboundResult,
    result: Arc<Mutex<InboundResult>>,
}

/// A message's request as its host knows it in traces.
pub(super) fn handle_of(link: u32, message: &Message) -> Option<TransactionHandle> {
    let (host, device, tag) = match message {
        // A link has port identifiers or LD-IDs.
        Message::M2sReq(header) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
        Message::M2sRwd(header, _) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
        _ => return None,
    };
    Some(cxl_tag(link, host, device, tag))
}

/// Who asks by a message, and the port that it is for.
fn source_of(port: usize, (form, class): (MessageForm, InboundClass), message: &Message) -> (InboundSource, u16) {
    let (ld_id, spid, dpid, traffic_class) = match message {
        Message::M2sReq(header) => (header.ld_id, header.spid, header.dpid, header.tc),
        Message::M2sRwd(header, _) => (header.ld_id, header.spid, header.dpid, header.tc),
        _ => (0, 0, 0, 0),
    };
    let id = if form == MessageForm::Pbr { spid } else { ld_id.into() };
    let route = PeerRoute { ld_id, dpid: spid, ..PeerRoute::default() };
    (InboundSource { port, id, route, traffic_class, class }, dpid)
}

impl InboundModule {
    /// The inbound half with its ports; what it publishes is in `result`.
    pub fn new(
        config: InboundModuleConfig,
        side: Box<dyn AcceleratorSide>,
        (ports, bars, owner): (Vec<TargetPort>, BarHalf, Option<OwnerPort>),
        tap: Tap,
        result: Arc<Mutex<InboundResult>>,
    ) -> InboundModule {
        InboundModule {
            bridge: InboundBridge::new(config.inbound.clone()),
            side,
            first: 0,
            requests: VecDeque::new(),
            accesses: VecDeque::new(),
            in_cache: VecDeque::new(),
            answers: VecDeque::new(),
            responses: ports.iter().map(|_| VecDeque::new()).collect(),
            deadlines: VecDeque::new(),
            lost: VecDeque::new(),
            traced: vec![TracedInbound::default(); config.inbound.entries],
            full_since: vec![None; ports.len()],
            links: LinkOutages::new(&config.outages),
            lost_before: vec![0; ports.len()],
            arrived: Vec::new(),
            out: InboundOutput::default(),
            mine: InboundResult::default(),
            ports,
            bars,
            owner: owner.map(OwnerEntrance::new),
            tap,
            result,
            config,
        }
    }

    fn broken(&mut self, finding: BridgeFinding, at: Stamp) {
        let BridgeFinding { rule, found, expected } = finding;
        let text = scalepool_protocols::rules::find(rule).map_or("", |rule| rule.text);
        let violation = Violation::at_byte(rule, 0, found, expected, text);
        self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
        if self.mine.broken.len() < MOST_BROKEN {
            self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
        }
    }

    // ---- from accelerators ---------------------------------------------------------------------------------------

    fn take_answers(&mut self, cx: &mut Cx, at: Stamp) {
        let due = at.cycle + self.config.timing.answer_cycles();
        let mut arrived = std::mem::take(&mut self.arrived);
        self.side.receive(cx, &mut arrived);
        for answer in arrived.drain(..) {
            match answer {
                Ok(answer) => {
                    for entry in [answer.tag].into_iter().chain(self.bridge.merged(answer.tag).to_vec()) {
                        if self.traced.get(usize::from(entry)).is_some_and(|traced| traced.id != 0) {
                            self.show_wait(entry, Some((Wait::Stage, 0)), at);
                        }
                    }
                    self.answers.push_back((due, answer));
                }
                Err(finding) => self.broken(finding, at),
            }
        }
        self.arrived = arrived;
        self.take_lost(cx, at);
        while self.answers.front().is_some_and(|(due, _)| *due <= at.cycle) {
            let Some((_, AcceleratorAnswer { tag, status, lines })) = self.answers.pop_front() else { return };
            if self.bars.owns(tag) {
                self.bars.receive(tag, status, &lines, at);
            } else {
                self.bridge.receive(tag, status, &lines, &mut self.out);
                self.follow(at);
            }
            cx.progress();
        }
    }

    /// Accesses whose link was reset end at once. What was under way behind the link at that time may still come, for as long as a
    /// request may take; until then their tags are not used again.
    fn take_lost(&mut self, cx: &mut Cx, at: Stamp) {
        for tag in self.side.take_lost() {
            self.lost.push_back((at.cycle + self.config.timing.timeout_cycles, tag, at.cycle));
            if self.bars.owns(tag) {
                self.bars.link_lost(tag, at);
            } else {
                self.bridge.link_lost(tag, &mut self.out);
                self.follow(at);
            }
            cx.progress();
        }
        while self.lost.front().is_some_and(|(due, ..)| *due <= at.cycle) {
            let Some((_, tag, lost_cycle)) = self.lost.pop_front() else { return };
            if !self.side.forgets(tag, lost_cycle) {
                continue;
            }
            if self.bars.owns(tag) {
                self.bars.forget(tag, at);
            } else {
                self.bridge.forget(tag, &mut self.out);
                self.follow(at);
            }
            cx.progress();
        }
    }

    // ---- from CXL ------------------------------------------------------------------------------------------------

    /// Takes a message, if there is one and an entry for it.
    fn enter_request(&mut self, cx: &mut Cx, at: Stamp) {
        let ports = self.ports.len();
        for n in 0..ports {
            let port = (self.first + n) % ports;
            if !self.ports[port].rx.is_due(cx) {
                continue;
            }
            let is_full = !self.bridge.has_room();
            self.show_full(port, is_full, cx, at);
            if is_full {
                continue;
            }
            let Some(message) = self.ports[port].rx.pop(cx) else { continue };
            self.begin(port, &message, at);
            self.first = (port + 1) % ports;
            self.owner.iter_mut().for_each(|owner| owner.is_next = true);
            cx.progress();
            break;
        }
    }

    /// Says of the message in front of a port that it waits for an entry, and when it does no more.
    pub(super) fn show_full(&mut self, port: usize, is_full: bool, cx: &Cx, at: Stamp) {
        if is_full == self.full_since[port].is_some() {
            return;
        }
        let since = std::mem::replace(&mut self.full_since[port], is_full.then_some(at.cycle));
        self.mine.full_cycles += since.map_or(0, |since| at.cycle - since);
        let TargetPort { rx, link, .. } = &mut self.ports[port];
        let Some(handle) = rx.peek(cx).and_then(|message| handle_of(*link, message)) else { return };
        let body = || match is_full {
            true => Body::Wait { wait: Wait::Room, holder: 0 },
            false => Body::Mark(scalepool_trace::wait::WAIT_OVER),
        };
        self.tap.named(TransactionNaming::By(handle), at, RecordKind::Mark, 0, 0, body);
    }

    fn begin(&mut self, port: usize, message: &Message, at: Stamp) {
        let TargetPort { own, form, link, .. } = self.ports[port];
        let (source, dpid) = source_of(port, (form, self.ports[port].class()), message);
        if form == MessageForm::Pbr && dpid != own {
            let found = format!("a message for port {dpid:#05x}");
            let finding = BridgeFinding { rule: "SIM-E2E-02", found, expected: "the identifier of the port" };
            return self.broken(finding, at);
        }
        let admitted = self.bridge.admit(source, from_link(message), &mut self.out);
        self.follow(at);
        let Some(entry) = admitted else { return };
        let named = handle_of(link, message).map_or(TransactionNaming::Nowhere, TransactionNaming::By);
        let form = self.config.shown;
        self.begins(entry, named, at, || shown(message, form));
    }

    /// A transaction has an entry and passes the stages of requests.
    pub(super) fn begins(&mut self, entry: u16, named: TransactionNaming, at: Stamp, body: impl FnOnce() -> Body) {
        let id = self.tap.new_id();
        self.tap.named(named, at, RecordKind::Begin, id, 0, body);
        self.traced[usize::from(entry)] = TracedInbound { id, since_cycle: at.cycle, wait: None };
        self.show_wait(entry, Some((Wait::Stage, 0)), at);
        self.requests.push_back((at.cycle + self.config.timing.request_cycles(), entry));
    }

    fn start_requests(&mut self, cx: &mut Cx, at: Stamp) {
        while self.requests.front().is_some_and(|(due, _)| *due <= at.cycle) {
            let Some((_, entry)) = self.requests.pop_front() else { return };
            if self.config.viral.load(Ordering::Relaxed) {
                self.bridge.go_viral();
            }
            self.bridge.start(entry, &mut self.out);
            self.follow(at);
            cx.progress();
        }
    }

    /// Accesses to the memory of the cache that have ended take effect.
    fn end_cache_accesses(&mut self, cx: &mut Cx, at: Stamp) {
        while self.in_cache.front().is_some_and(|(due, _)| *due <= at.cycle) {
            let Some((_, entry)) = self.in_cache.pop_front() else { return };
            self.bridge.cache_accessed(entry, &mut self.out);
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
                InboundStep::Send(entry) => self.leave(entry, at),
                InboundStep::AccessCache(entry) => {
                    self.show_wait(entry, Some((Wait::Media, 0)), at);
                    self.in_cache.push_back((at.cycle + self.config.cache_cycles, entry));
                }
                InboundStep::Respond(entry) => {
                    self.show_wait(entry, Some((Wait::Stage, 0)), at);
                    let port = self.bridge.transaction(entry).map_or(0, |transaction| transaction.source.port);
                    let leaving = (at.cycle + timing.frame_cycles, entry);
                    match (self.responses.get_mut(port), &mut self.owner) {
                        (Some(queue), _) => queue.push_back(leaving),
                        (None, Some(owner)) => owner.leaving.push_back(leaving),
                        (None, None) => (),
                    }
                }
                InboundStep::Drop(entry) => self.end(entry, at, || Body::Mark("dropped")),
                InboundStep::Advanced { entry, advances } => {
                    self.deadlines.push_back((at.cycle + timing.timeout_cycles, entry, advances));
                }
                InboundStep::Waits { entry, holder } => {
                    let holder = self.traced[usize::from(holder)].id;
                    self.show_wait(entry, Some((Wait::Line, holder)), at);
                }
                InboundStep::GoesOn(entry) => self.show_wait(entry, Some((Wait::Stage, 0)), at),
            }
        }
        let findings = std::mem::take(&mut out.findings);
        self.out = out;
        findings.into_iter().for_each(|finding| self.broken(finding, at));
    }

    /// A transaction waits for room for a class.
    fn observe_wait(&mut self, entry: u16, outgoing: &'static str, at: Stamp) {
        let Some(incoming) = self.bridge.transaction(entry).map(|open| open.msg.class().name()) else { return };
        let finding = self.config.waits.observed(incoming, outgoing);
        finding.into_iter().for_each(|finding| self.broken(finding, at));
    }

    /// Says of a transaction what it waits for from here on, or that it goes on.
    pub(super) fn show_wait(&mut self, entry: u16, wait: Option<(Wait, u64)>, at: Stamp) {
        let traced = &mut self.traced[usize::from(entry)];
        match wait {
            Some((wait, holder)) if traced.wait != Some(wait) => self.tap.wait(at, traced.id, wait, holder),
            None if traced.wait.is_some() => self.tap.wait_over(at, traced.id),
            _ => (),
        }
        traced.wait = wait.map(|(wait, _)| wait);
    }

    /// A transaction has ended: its entry is free unless its accelerator has still to answer.
    pub(super) fn end(&mut self, entry: u16, at: Stamp, body: impl FnOnce() -> Body) {
        let traced = &mut self.traced[usize::from(entry)];
        self.mine.done += 1;
        self.mine.cycles += at.cycle - traced.since_cycle;
        let id = std::mem::take(&mut traced.id);
        self.tap.record(at, RecordKind::End, id, 0, body);
        self.bridge.left(entry);
    }

    /// Gives up what has not got on for too long.
    fn time_out(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(&(due, entry, advances)) = self.deadlines.front() {
            let is_open = self.bridge.transaction(entry).is_some_and(|open| open.advances == advances);
            if is_open && due > at.cycle {
                break;
            }
            self.deadlines.pop_front();
            if is_open {
                self.bridge.time_out(entry, advances, &mut self.out);
                self.follow(at);
                cx.progress();
            }
        }
    }

    // ---- out -----------------------------------------------------------------------------------------------------

    /// Accesses leave for accelerators in their order, at the rate of the stages and as far as links have room; one without room holds
    /// up those of other links no more. Whether the rate has held something back.
    fn send(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        // Lines and bytes of blocks are first by turns, so that neither keeps the other one waiting.
        let most = self.config.timing.children_per_cycle;
        if at.cycle.is_multiple_of(2) {
            let (sent, is_rated) = self.send_lines(most, cx, at);
            return is_rated | self.bars.send(&mut *self.side, most - sent, at, cx).1;
        }
        let (sent, is_rated) = self.bars.send(&mut *self.side, most, at, cx);
        is_rated | self.send_lines(most - sent, cx, at).1
    }

    /// The same of lines, at most so many: how many left, and whether that number has held something back.
    fn send_lines(&mut self, most: usize, cx: &mut Cx, at: Stamp) -> (usize, bool) {
        let (mut sent, mut n) = (0, 0);
        while n < self.accesses.len() {
            let (due, entry) = self.accesses[n];
            if due > at.cycle {
                n += 1;
                continue;
            }
            if sent == most {
                return (sent, true);
            }
            let Some(access) = self.bridge.access(entry) else {
                self.accesses.remove(n);
                continue;
            };
            if !self.side.has_room(cx, SideAccess::Lines(&access)) {
                self.show_wait(entry, Some((Wait::Link, 0)), at);
                self.observe_wait(entry, self.config.waits.classes.request, at);
                n += 1;
                continue;
            }
            let (entry, access) = self.merge((due, entry), access, at);
            self.accesses.retain(|(_, other)| *other != entry && !self.bridge.merged(entry).contains(other));
            // Those in front of it that have no room, or are not due, are looked at again.
            n = 0;
            self.show_wait(entry, None, at);
            let handle = self.side.send(cx, entry, SideAccess::Lines(&access));
            let (id, named) = (self.traced[usize::from(entry)].id, handle.map(TransactionNaming::As));
            let named = named.unwrap_or(TransactionNaming::Nowhere);
            self.tap.named(named, at, RecordKind::Mark, id, 0, || Body::Mark("sent"));
            self.bridge.sent(entry, &mut self.out);
            self.follow(at);
            sent += 1;
            cx.progress();
        }
        (sent, false)
    }

    /// One answer leaves, if one is due and has room: whether it did.
    fn respond(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let is_due = |queue: &VecDeque<(u64, u16)>| queue.front().filter(|(due, _)| *due <= at.cycle).copied();
        let mut oldest: Option<(u64, usize, u16)> = None;
        for port in 0..self.ports.len() {
            let Some((due, entry)) = is_due(&self.responses[port]) else { continue };
            if !self.ports[port].tx.has_room(cx, 1) {
                self.show_wait(entry, Some((Wait::Link, 0)), at);
                let answer = self.bridge.answer(entry).map_or("", |(_, answer)| answer.class().name());
                self.observe_wait(entry, answer, at);
            } else if oldest.is_none_or(|(first, ..)| due < first) {
                oldest = Some((due, port, entry));
            }
        }
        let Some((_, port, entry)) = oldest else { return false };
        self.responses[port].pop_front();
        let Some((source, answer)) = self.bridge.answer(entry) else { return true };
        let form = self.ports[port].form;
        let mut message = answer.to_link(source.route);
        // A 68B link has no other word for data that is not there: all ones say it (`fabric` CMR-4).
        if form == MessageForm::Cxl68
            && let Message::S2mDrs(header, _) = &mut message
        {
            header.opcode = DrsOpcode::MemData;
        }
        self.show_wait(entry, None, at);
        // Room was asked for before.
        let _ = self.ports[port].tx.push(cx, message);
        let form = self.config.shown;
        self.end(entry, at, || shown(&message, form));
        cx.progress();
        true
    }

    /// When it has something to do without being woken: what has no room is woken by room, what a rate has held back goes on in the
    /// next cycle.
    fn next(&self, cx: &Cx, at: Stamp) -> Next {
        let has_atomic = self.owner.as_ref().is_some_and(|owner| owner.port.rx.is_due(cx));
        let has_request = self.bridge.has_room() && (has_atomic || self.ports.iter().any(|port| port.rx.is_due(cx)));
        if has_request || self.side.is_due(cx) || self.bars.is_due(cx) {
            return Next::Busy;
        }
        let fronts = [
            self.requests.front().map(|(due, _)| *due),
            self.answers.front().map(|(due, _)| *due),
            self.in_cache.front().map(|(due, _)| *due),
            self.accesses.iter().map(|(due, _)| *due).filter(|due| *due > at.cycle).min(),
            self.deadlines.front().map(|(due, ..)| *due),
            self.lost.front().map(|(due, ..)| *due),
            self.links.due(),
        ];
        let responses = self.responses.iter().filter_map(|queue| queue.front().map(|(due, _)| *due));
        let of_owner = self.owner.as_ref().and_then(OwnerEntrance::due);
        let all = fronts.into_iter().flatten().chain(responses).chain(of_owner).chain(self.bars.next(at));
        let due = all.filter(|due| *due > at.cycle).min();
        due.map_or(Next::Idle, |due| Next::In(due - at.cycle))
    }
}

impl Module for InboundModule {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.follow_links(cx, at);
        self.take_answers(cx, at);
        // By turns, so that neither takes every entry.
        if !self.enter_atomic(cx, at) {
            self.enter_request(cx, at);
        }
        self.bars.enter(cx, at);
        self.start_requests(cx, at);
        self.end_cache_accesses(cx, at);
        self.bars.start(self.config.viral.load(Ordering::Relaxed), at, cx);
        self.time_out(cx, at);
        self.bars.time_out(at, cx);
        let is_rated = self.send(cx, at);
        self.drop_lost(cx, at);
        let has_left = self.respond(cx, at) | self.answer_atomic(cx, at) | self.bars.respond(at, cx);
        for finding in self.bars.take_findings() {
            self.broken(finding, at);
        }
        match has_left || is_rated {
            true => Next::Busy,
            false => self.next(cx, at),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let since = self.traced.iter().filter(|t| t.id != 0).map(|t| t.since_cycle);
        let since = since.chain(self.bars.since());
        none_open(self.bridge.open() + self.bars.open(), "transactions from CXL", since, self.config.clock)?;
        match self.bars.is_quiet() {
            true => Ok(()),
            false => Err(Pending::new("power management messages to send", scalepool_kernel::Time::ZERO)),
        }
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let (counts, cache, bars) = (self.bridge.counts(), self.bridge.cache_counts(), self.bars.result());
        *result = InboundResult { counts, cache, bars, ..self.mine.clone() };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", (self.bridge.open() + self.bars.open()) as u64);
        visit("lost_lines", self.bridge.lost().len() as u64);
    }
}
