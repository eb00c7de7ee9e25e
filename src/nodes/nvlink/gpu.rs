//! A GPU: its memory, the transaction layer over its ganged links, and the program that it runs. Basis: model.
//!
//! Modelled: requests with tags, posted writes with their order (see [`link_group`](super::link_group)), answers after a fixed latency,
//! atomics, FLUSH, poison of lines. Detail: one module; any number of messages a link and cycle that the channels hold. Left out: caches,
//! address translation, copy engines as such.
//!
//! A walk through one cycle: answers are matched with what is open; posted requests take effect; requests with an answer
//! take effect and their answers wait for their time; FLUSHes whose writes are here are answered; answers leave; the program
//! is asked for requests until it waits or a link has no room.
//!
//! In traces a request of the program is the root of a tree, with a mark `sent` for each message that it takes; a posted one
//! ends when it is sent. What the target does for it is its child, as is what members do for a reduction.

use super::completer::NvlCompleter;
use super::ledger::{NvlLedger, NvlPeer};
use super::link_group::{LinkGroup, TAGS, global, local, target};
use super::program::{GpuProgram, GpuRequest, GpuStep};
use crate::PlacedViolation;
use crate::latencies::Latencies;
use scalepool_fabric::nvlink_switch::crossbar::SWITCH_RID;
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::nvlink::NvlMessage;
use scalepool_link::nvlink::port::body_of;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::nvlink::{Ae, Class, NvlConfig, NvlHeader, Op};
use scalepool_protocols::wire::{LayoutDef, Violation, Wire};
use scalepool_trace::{
    Body, PlaceKind, RecordKind, RequestIdentifier, Stamp, Tap, TransactionHandle, TransactionNaming, Wait,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Messages of a transaction, for waves.
const LAYOUTS: &[&LayoutDef] = &[NvlHeader::DEF, Ae::DEF];
/// What a GPU shows in a wave.
pub const SHOWS: PlaceKind = PlaceKind::Messages(LAYOUTS);

/// How a GPU is built.
pub struct GpuConfig {
    /// Its number, which is its requester identifier.
    pub id: u16,
    /// Number of its fabric, for traces.
    pub fabric: u32,
    /// Request to answer in its memory \[cycles\].
    pub memory_cycles: u64,
    /// Requests that may be open, 1 to 1024.
    pub outstanding: usize,
    /// Answers a link that wait, before requests are taken no more.
    pub answer_queue: usize,
    /// Members of the multicast group: the GPUs below this number.
    pub group: u16,
    /// What it runs.
    pub program: Box<dyn GpuProgram>,
}

/// What a GPU leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct GpuResult {
    /// Requests sent, by operation code.
    pub sent: OrderedMap<u8, u64>,
    /// Requests served, by operation code.
    pub served: OrderedMap<u8, u64>,
    /// Answers received.
    pub answers: u64,
    /// Bytes that the program counts.
    pub bytes: u64,
    /// Request to answer, by transaction.
    pub latencies: Latencies,
    /// Broken rules.
    pub broken: Vec<PlacedViolation>,
    /// Flits sent, AE left out, first copies.
    pub flits: u64,
    /// Flits received, AE left out.
    pub received_flits: u64,
    /// Last cycle in which something was received.
    pub last_cycle: u64,
}

/// Channels of one link, by [`CHANNELS`](scalepool_link::nvlink::port::CHANNELS).
pub struct LinkEnds {
    /// To the port.
    pub tx: [Out<NvlMessage>; 3],
    /// From the port.
    pub rx: [In<NvlMessage>; 3],
}

struct OpenAsk {
    ask: GpuRequest,
    since: Time,
    since_cycle: u64,
    id: u64,
    /// The FLUSH that it is a part of.
    group: Option<u64>,
}

/// A message that has not gone to its port.
struct Held {
    link: usize,
    channel: usize,
    message: NvlMessage,
    id: u64,
    /// It waits for its port, as the trace says.
    waits: bool,
}

/// The module.
pub struct Gpu {
    config: GpuConfig,
    codec: NvlConfig,
    place: String,
    completer: NvlCompleter,
    link_group: LinkGroup,
    links: Vec<LinkEnds>,
    open: OrderedMap<u16, OpenAsk>,
    free_tags: VecDeque<u16>,
    /// Parts of a FLUSH that are not answered, and the first error of the others.
    groups: OrderedMap<u64, (usize, Option<u8>)>,
    next_group: u64,
    /// What found no room.
    held: VecDeque<Held>,
    tap: Tap,
    mine: GpuResult,
    /// All messages that it has sent and received.
    ledger: NvlLedger,
    result: Arc<Mutex<GpuResult>>,
    /// Where the ledger is left for the end of the run.
    left: Arc<Mutex<NvlLedger>>,
    until: Option<u64>,
}

/// A request as its requester and its target know it in traces.
pub fn request_handle(fabric: u32, request: &NvlMessage, target: u16) -> TransactionHandle {
    let (rid, address) = (u32::from(request.rid), local(request.address));
    let handle = TransactionHandle {
        identifier: RequestIdentifier::NvlinkTag,
        link: fabric,
        owner: rid,
        value: request.tag,
        address: 0,
    };
    match request.op {
        // The switch reads for it in its own name.
        op if op == Op::REDUCE_READ || request.rid == SWITCH_RID => {
            TransactionHandle { identifier: RequestIdentifier::NvlinkReduction, owner: 0, value: 0, address, ..handle }
        }
        Op::MULTICAST_WRITE => TransactionHandle { identifier: RequestIdentifier::NvlinkPosted, address, ..handle },
        op if op.class() == Some(Class::Posted) => TransactionHandle {
            identifier: RequestIdentifier::NvlinkPosted,
            owner: rid << 16 | u32::from(target) << 1 | 1,
            address,
            ..handle
        },
        _ => handle,
    }
}

/// Flits of a message, AE left out.
fn flits(message: &NvlMessage) -> u64 {
    1 + u64::from(message.be.is_some()) + u64::from(message.data_flits())
}

/// Whether bytes are the same, where both have enabled ones.
fn same_where(enabled: u128, one: &[u8], other: &[u8]) -> bool {
    let is_enabled = |n: usize| n >= 128 || enabled >> n & 1 == 1;
    one.len() == other.len() && one.iter().zip(other).enumerate().all(|(n, (a, b))| a == b || !is_enabled(n))
}

impl Gpu {
    /// A GPU with its links; what it publishes is in `result`, and what it has sent and received in `left`.
    pub fn new(
        config: GpuConfig,
        links: Vec<LinkEnds>,
        tap: Tap,
        (result, left): (Arc<Mutex<GpuResult>>, Arc<Mutex<NvlLedger>>),
    ) -> Gpu {
        let mut gpu = Gpu {
            codec: NvlConfig::default(),
            place: format!("gpu[{}]", config.id),
            completer: NvlCompleter::new(
                (config.id, config.fabric),
                links.len(),
                config.memory_cycles,
                config.answer_queue,
            ),
            link_group: LinkGroup::new(links.len()),
            open: OrderedMap::new(),
            free_tags: (0..TAGS as u16).collect(),
            groups: OrderedMap::new(),
            next_group: 0,
            held: VecDeque::new(),
            tap,
            mine: GpuResult::default(),
            ledger: NvlLedger::default(),
            result,
            left,
            until: None,
            links,
            config,
        };
        gpu.config.program.start(&mut gpu.completer.memory);
        gpu
    }

    fn at_home(&self, violation: Violation) -> PlacedViolation {
        PlacedViolation { place: self.place.clone(), violation }
    }

    fn broken(&mut self, violation: Violation) {
        let broken = self.at_home(violation);
        self.mine.broken.push(broken);
    }

    fn rule(&mut self, rule: &'static str, found: impl ToString, expected: impl ToString, text: &str) {
        self.broken(Violation::at_byte(rule, 0, found, expected, text));
    }

    // ---- answers -------------------------------------------------------------------------------------------------

    fn take_answer(&mut self, cx: &mut Cx, at: Stamp, link: usize, message: NvlMessage) {
        self.mine.answers += 1;
        let known = if message.rid == self.config.id { self.open.remove(&message.tag) } else { None };
        let Some(open) = known else {
            let found = format!("{:?} to {} with tag {}", message.op, message.rid, message.tag);
            self.rule(
                "NVL-TLR-01",
                found,
                "an answer to an open request",
                "an answer is received that nobody waits for",
            );
            return;
        };
        let peer = if open.ask.op == Op::REDUCE_READ { NvlPeer::Switch } else { NvlPeer::Gpu(open.ask.target) };
        self.ledger.receive((peer, link, 2), &message);
        self.free_tags.push_back(message.tag);
        let expects_data =
            open.ask.read_bytes.max(if open.ask.op == Op::ATOMIC_RETURN { open.ask.data.len() } else { 0 });
        let fits = match message.op {
            Op::RSP_DATA => expects_data == message.data.len(),
            Op::RSP_DONE => expects_data == 0,
            _ => true,
        };
        if !fits {
            let found = format!("{:?} with {} bytes", message.op, message.data.len());
            self.rule("NVL-TLR-01", found, format!("{expects_data} bytes"), "the answer does not fit its request");
        }
        // One that has failed brings no bytes to compare; the program tells of it.
        let is_known = message.op != Op::RSP_ERROR && self.config.program.knows(&open.ask);
        let known = open.ask.expected.as_ref().filter(|_| is_known);
        // Of an atomic, the old values of its elements return in their own lanes, and nothing is said of the others (`bridge` §4.4).
        let enabled = open.ask.be.filter(|_| open.ask.op == Op::ATOMIC_RETURN).unwrap_or(u128::MAX);
        if let Some(expected) = known.filter(|expected| !same_where(enabled, expected, &message.data)) {
            let hex = scalepool_forms::number::hex;
            let (found, text) =
                (hex(&message.data), format!("{:?} of {:#x} at {}", open.ask.op, open.ask.address, open.ask.target));
            self.rule("SIM-E2E-01", found, hex(expected), &text);
        }
        if message.ep && known.is_some() {
            let text = format!("{:?} of {:#x} at {}", open.ask.op, open.ask.address, open.ask.target);
            self.rule("SIM-E2E-01", "poisoned data", "data without poison, as they were written", &text);
        }
        let error = (message.op == Op::RSP_ERROR).then_some(message.size);
        let mut first_error = error;
        if let Some(group) = open.group {
            let (left, of_others) = self.groups.entry(group).or_default();
            *left = left.saturating_sub(1);
            // Any part may bring the error of the whole.
            *of_others = of_others.or(error);
            first_error = *of_others;
            if *left > 0 {
                return;
            }
            self.groups.remove(&group);
        }
        self.mine.latencies.add(at.cycle - open.since_cycle, cx.now().since_fs(open.since));
        self.tap.record(at, RecordKind::End, open.id, 0, || body_of(&message));
        cx.progress();
        let data = first_error.map_or(Ok(message.data.as_slice()), Err);
        self.config.program.answered(&open.ask, data, &mut self.completer.memory);
    }

    // ---- requests of others --------------------------------------------------------------------------------------

    fn take_posted(&mut self, cx: &mut Cx, at: Stamp, link: usize, message: NvlMessage) {
        let id = self.completer.serves(&message, at, &mut self.tap);
        self.tap.record(at, RecordKind::End, id, 0, || Body::None);
        self.mine.received_flits += flits(&message);
        *self.mine.served.entry(message.op.0).or_default() += 1;
        if let Some(wrong) = self.completer.posted(&message, link) {
            self.broken(wrong);
        }
        cx.progress();
        let address = local(message.address);
        self.config.program.arrived(message.rid, address, &message.data, &mut self.completer.memory);
    }

    fn take_request(&mut self, at: Stamp, link: usize, message: NvlMessage) {
        let id = self.completer.serves(&message, at, &mut self.tap);
        self.mine.received_flits += flits(&message);
        *self.mine.served.entry(message.op.0).or_default() += 1;
        self.completer.request(message, link, id, at, &mut self.tap);
    }

    fn receive(&mut self, cx: &mut Cx, at: Stamp) {
        let before = self.mine.answers + self.mine.served.values().sum::<u64>();
        for link in 0..self.links.len() {
            while let Some(message) = self.links[link].rx[2].pop(cx) {
                self.mine.received_flits += flits(&message);
                self.take_answer(cx, at, link, message);
            }
            while let Some(message) = self.links[link].rx[1].pop(cx) {
                self.ledger.receive((NvlPeer::of_requester(message.rid), link, 1), &message);
                self.take_posted(cx, at, link, message);
            }
            while self.completer.may_take(link)
                && let Some(message) = self.links[link].rx[0].pop(cx)
            {
                self.ledger.receive((NvlPeer::of_requester(message.rid), link, 0), &message);
                self.take_request(at, link, message);
            }
        }
        self.completer.answer_flushes(at, &mut self.tap);
        if self.mine.answers + self.mine.served.values().sum::<u64>() != before {
            self.mine.last_cycle = at.cycle;
        }
    }

    // ---- own requests --------------------------------------------------------------------------------------------

    /// Messages of a request with the link and channel of each.
    fn issue(&mut self, cx: &Cx, at: Stamp, ask: GpuRequest) {
        let id = self.tap.new_id();
        *self.mine.sent.entry(ask.op.0).or_default() += 1;
        let link = self.link_group.link_of(ask.address);
        let size = (ask.read_bytes / 16).saturating_sub(1) as u8;
        let message = NvlMessage {
            rid: self.config.id,
            size,
            address: global(ask.target, ask.address),
            attr: ask.attr,
            be: ask.be,
            data: ask.data.clone(),
            ..NvlMessage::new(ask.op, &self.codec)
        };
        self.tap.record(at, RecordKind::Begin, id, 0, || body_of(&message));
        let channel = usize::from(ask.op.class() == Some(Class::Posted));
        if ask.op == Op::FLUSH {
            let parts = self.link_group.flush(ask.target);
            if parts.is_empty() {
                self.tap.record(at, RecordKind::End, id, 0, || Body::None);
                self.config.program.answered(&ask, Ok(&[]), &mut self.completer.memory);
                return;
            }
            let group = self.next_group;
            self.next_group += 1;
            self.groups.insert(group, (parts.len(), None));
            for (link, count) in parts {
                let address = global(ask.target, local(count << 4));
                let tag = self.open(cx, at, id, ask.clone(), Some(group));
                let message = NvlMessage { tag, address, ..message.clone() };
                self.held.push_back(Held { link, channel: 0, message, id, waits: false });
            }
            return;
        }
        let tag = match ask.op {
            Op::MULTICAST_WRITE => 0,
            _ if channel == 1 => self.link_group.post(ask.target, link),
            _ => self.open(cx, at, id, ask, None),
        };
        self.held.push_back(Held { link, channel, message: NvlMessage { tag, ..message }, id, waits: false });
    }

    fn open(&mut self, cx: &Cx, at: Stamp, id: u64, ask: GpuRequest, group: Option<u64>) -> u16 {
        // The caller keeps enough of them free.
        let tag = self.free_tags.pop_front().unwrap_or(0);
        self.open.insert(tag, OpenAsk { ask, since: cx.now(), since_cycle: at.cycle, id, group });
        tag
    }

    /// A message goes to its port.
    fn enter(&mut self, link: usize, channel: usize, message: &NvlMessage) {
        let ledger = &mut self.ledger;
        match message.op {
            Op::MULTICAST_WRITE => {
                (0..self.config.group).for_each(|gpu| ledger.send((NvlPeer::Gpu(gpu), link, channel), message));
            }
            Op::REDUCE_READ => ledger.send((NvlPeer::Switch, link, channel), message),
            op if op.class() == Some(Class::Response) => {
                ledger.send((NvlPeer::of_requester(message.rid), link, channel), message);
            }
            _ => ledger.send((NvlPeer::Gpu(target(message.address)), link, channel), message),
        }
    }

    /// Sends what was held; `false`: something found no room.
    fn send_held(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        while let Some(held) = self.held.pop_front() {
            let Held { link, channel, id, waits, .. } = held;
            if !self.links[link].tx[channel].has_room(cx, 1) {
                if !waits {
                    self.tap.wait(at, id, Wait::Link, 0);
                }
                self.held.push_front(Held { waits: true, ..held });
                return false;
            }
            let message = held.message;
            if waits {
                self.tap.wait_over(at, id);
            }
            let named = TransactionNaming::As(request_handle(self.config.fabric, &message, target(message.address)));
            self.tap.named(named, at, RecordKind::Mark, id, 0, || Body::Mark("sent"));
            if channel == 1 {
                self.tap.record(at, RecordKind::End, id, 0, || Body::None);
            }
            self.enter(link, channel, &message);
            self.mine.flits += flits(&message);
            // There was room.
            let _ = self.links[link].tx[channel].push(cx, message);
        }
        true
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp) {
        self.until = None;
        for link in 0..self.links.len() {
            while self.completer.is_due(link, at.cycle)
                && self.links[link].tx[2].has_room(cx, 1)
                && let Some(answer) = self.completer.leaves(link, at, &mut self.tap)
            {
                self.enter(link, 2, &answer);
                self.mine.flits += flits(&answer);
                // There was room.
                let _ = self.links[link].tx[2].push(cx, answer);
            }
            self.completer.stays(link, at, &mut self.tap);
        }
        while self.send_held(cx, at) {
            // A FLUSH takes a tag for each link.
            if self.open.len() >= self.config.outstanding || self.free_tags.len() < self.links.len() {
                break;
            }
            match self.config.program.next(at.cycle, &mut self.completer.memory) {
                GpuStep::Send(ask) => self.issue(cx, at, ask),
                GpuStep::Until(cycle) => {
                    self.until = Some(cycle);
                    break;
                }
                GpuStep::Wait | GpuStep::Done => break,
            }
        }
        for violation in self.config.program.take_broken() {
            self.broken(violation);
        }
    }
}

impl Module for Gpu {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.receive(cx, at);
        self.send(cx, at);
        // Requests that were left in their channels wake nobody again, and answers that left have made room for more.
        let more = |(link, ends): (usize, &LinkEnds)| self.completer.may_take(link) && ends.rx[0].is_due(cx);
        if self.links.iter().enumerate().any(more) {
            return Next::Busy;
        }
        match self.completer.due(at.cycle).into_iter().chain(self.until).min() {
            Some(due) => Next::In(due.saturating_sub(at.cycle).max(1)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        if let Some(oldest) = self.open.values().min_by_key(|open| open.since) {
            let what = format!("{} requests without answer, the oldest {:?}", self.open.len(), oldest.ask.op);
            return Err(Pending::new(what, oldest.since));
        }
        if let Some(what) = self.config.program.missing() {
            return Err(Pending::new(what, Time::ZERO));
        }
        let waiting = self.completer.waiting() + self.held.len();
        if waiting > 0 {
            return Err(Pending::new(format!("{waiting} messages to send or flushes to answer"), Time::ZERO));
        }
        Ok(())
    }

    fn publish(&self) {
        let mut mine = GpuResult { bytes: self.config.program.bytes(), ..self.mine.clone() };
        mine.broken.extend(self.config.program.broken_at_end().into_iter().map(|violation| self.at_home(violation)));
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = mine;
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.ledger);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.open.len() as u64);
    }
}
