//! A pool of memories on CXL (HDM-H): ranges of addresses in front of several memories, some of them mirrored, and memories that come and
//! go while requests are under way.
//!
//! Modelled: ports of requesters in front, a port to each memory behind; one request a cycle of all ports is taken, chosen by an arbiter,
//! and becomes one or more requests to memories behind a latency, and their answers become its answer behind the same latency. What
//! goes where is the business of the [`agent`], which a [`watch`] judges while the system runs. Detail: to the message. Left out: lines
//! that others hold (HDM-DB), a mirror that is filled again, power; a memory that is lost goes on answering on its link, and what it says
//! is dropped (late answers).
//!
//! A walk through one cycle: commands that are due are done; all answers of memories are taken, since the place of the request is theirs;
//! a request is taken if none of its line is in front; what has waited for the latency leaves as far as the links have room.

pub mod agent;
pub mod ranges;
pub mod watch;

use super::memory::MemoryRoute;
use super::{cxl_tag, shown};
use crate::PlacedViolation;
use crate::cxl::coherent::wiring::ClassEnds;
use agent::{PoolAgent, PoolCommand, PoolCounts, PoolOutput};
use ranges::{MemorySet, PoolRange};
use scalepool_arbiter::{Arbiter, Requests};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_memory::decoder::Decoders;
use scalepool_memory::dropped::DroppedStores;
use scalepool_memory::{ALL_BYTES, LINE_BYTES};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm, PeerRoute};
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Most broken rules that are kept one by one.
const MOST_BROKEN: usize = 100;
/// Classes that leave for memories, each with a queue of its own.
const SENT: [Class; 2] = [Class::M2sReq, Class::M2sRwd];

/// A port of requesters.
pub struct PoolPort {
    /// How its link spells messages, and its own identifier there.
    pub route: MemoryRoute,
    /// Number of its link, for traces.
    pub link: u32,
    /// What its system addresses mean; `None`: they are addresses of the pool.
    pub decoders: Option<Decoders>,
}

/// A port to a memory.
pub struct PoolMemoryPort {
    /// How its link spells messages.
    pub form: MessageForm,
    /// Its own identifier there, and that of the memory.
    pub ids: [u16; 2],
    /// Number of its link, for traces.
    pub link: u32,
}

/// How a pool is built.
pub struct PoolConfig {
    /// Its place in traces and reports.
    pub place: String,
    /// Ranges.
    pub ranges: Vec<PoolRange>,
    /// Ports of requesters.
    pub ports: Vec<PoolPort>,
    /// Ports to memories.
    pub memories: Vec<PoolMemoryPort>,
    /// Memories that have not come yet.
    pub absent: MemorySet,
    /// Requests that can be open.
    pub entries: usize,
    /// Cycles of a request to its memories, and of their answer back.
    pub latency_cycles: u64,
    /// What happens to memories, the earliest first, each with its cycle.
    pub commands: VecDeque<(u64, PoolCommand)>,
    /// Which port's request is taken.
    pub arbiter: Box<dyn Arbiter>,
    /// How traces spell messages.
    pub shown: MessageForm,
    /// Where the checkers of a run learn of stores that reach nothing.
    pub dropped: Arc<DroppedStores>,
}

/// What a pool leaves behind.
#[derive(Debug, Clone, Default)]
pub struct PoolResult {
    /// What it has counted.
    pub counts: PoolCounts,
    /// Rules that were broken.
    pub broken: Vec<PlacedViolation>,
}

/// The end of a port of requesters.
struct UpEnd {
    rx: In<Message>,
    tx: Out<Message>,
    /// Answers, each with the cycle from which it leaves.
    queue: VecDeque<(u64, usize, Message)>,
}

/// The end of a port to a memory.
struct DownEnd {
    channels: ClassEnds,
    /// Messages that have left.
    sent: u64,
    /// By class: requests, each with the cycle from which it leaves.
    queues: [VecDeque<(u64, usize, Message)>; SENT.len()],
}

/// The pool.
pub struct MemoryPool {
    config: PoolConfig,
    agent: PoolAgent,
    up: Vec<UpEnd>,
    down: Vec<DownEnd>,
    out: PoolOutput,
    /// By request: it in traces.
    traced: Vec<u64>,
    /// By request and memory: what was asked there, in traces.
    asked: OrderedMap<(usize, usize), u64>,
    /// By request: when it came.
    since: Vec<Time>,
    broken: Vec<PlacedViolation>,
    tap: Tap,
    result: Arc<Mutex<PoolResult>>,
}

impl MemoryPool {
    /// A pool with the channel ends of its ports and of its memories; `result` is filled when the run is looked at.
    pub fn new(
        config: PoolConfig,
        up: Vec<(In<Message>, Out<Message>)>,
        down: Vec<ClassEnds>,
        tap: Tap,
        result: Arc<Mutex<PoolResult>>,
    ) -> MemoryPool {
        MemoryPool {
            agent: PoolAgent::new(config.ranges.clone(), config.memories.len(), config.absent, config.entries),
            up: up.into_iter().map(|(rx, tx)| UpEnd { rx, tx, queue: VecDeque::new() }).collect(),
            down: down
                .into_iter()
                .map(|channels| DownEnd { channels, sent: 0, queues: [VecDeque::new(), VecDeque::new()] })
                .collect(),
            out: PoolOutput::default(),
            traced: vec![0; config.entries],
            asked: OrderedMap::new(),
            since: vec![Time::ZERO; config.entries],
            broken: Vec::new(),
            config,
            tap,
            result,
        }
    }

    /// A request or an answer as both ends of a link know it.
    fn handle(message: &Message, link: u32) -> Option<TransactionHandle> {
        let (host, device, tag) = match message {
            Message::M2sReq(header) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
            Message::M2sRwd(header, _) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
            _ => return None,
        };
        Some(cxl_tag(link, host, device, tag))
    }

    /// The address of a request in the pool; `None`: it is for none of it.
    fn address(&self, port: usize, message: &Message) -> Option<u64> {
        let address = match message {
            Message::M2sReq(header) => header.address,
            Message::M2sRwd(header, _) => header.address,
            _ => return None,
        };
        let found = self.config.ports[port].decoders.as_ref();
        found.map_or(Some(address), |decoders| decoders.device_address(address))
    }

    /// Answers of memories: each has a place with its request.
    fn take_answers(&mut self, cx: &mut Cx, at: Stamp) {
        for memory in 0..self.down.len() {
            for class in 0..self.down[memory].channels.rx.len() {
                while let Some(answer) = self.down[memory].channels.rx[class].1.pop(cx) {
                    if let Some(id) = tag_of(&answer).and_then(|tag| self.asked.remove(&(usize::from(tag), memory))) {
                        let form = self.config.shown;
                        self.tap.record(at, RecordKind::End, id, 0, || shown(&answer, form));
                    }
                    self.agent.answered(memory, &answer, &mut self.out);
                    self.follow(at);
                }
            }
        }
    }

    /// Ports whose request in front can be taken.
    fn asking(&mut self, cx: &Cx) -> Requests {
        let mut asking = Requests::NONE;
        for port in 0..self.up.len() {
            let Some(message) = self.up[port].rx.peek(cx).copied() else { continue };
            if self.up[port].queue.len() < self.config.entries
                && self.agent.accepts(self.address(port, &message), &message)
            {
                asking.insert(port);
            }
        }
        asking
    }

    /// Takes a request of a port that stands in front.
    fn take_request(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let asking = self.asking(cx);
        let Some(port) = self.config.arbiter.arbitrate(&asking) else { return false };
        self.config.arbiter.update(&asking, port);
        let Some(message) = self.up[port].rx.pop(cx) else { return false };
        let own = self.config.ports[port].route;
        // One for another port stays without an answer.
        if message.route().dpid != own.id {
            return true;
        }
        let address = self.address(port, &message);
        let Some(id) = self.agent.take(port, address, &message, &mut self.out) else { return true };
        let (traced, form) = (self.tap.new_id(), self.config.shown);
        let handle = MemoryPool::handle(&message, self.config.ports[port].link);
        let named = handle.map_or(TransactionNaming::Nowhere, TransactionNaming::By);
        self.tap.named(named, at, RecordKind::Begin, traced, 0, || shown(&message, form));
        self.tap.wait(at, traced, Wait::Media, 0);
        (self.traced[id], self.since[id]) = (traced, cx.now());
        self.follow(at);
        true
    }

    /// Puts what the agent wants sent into the queues, and keeps what its watch finds.
    fn follow(&mut self, at: Stamp) {
        let due = at.cycle + self.config.latency_cycles;
        let form = self.config.shown;
        for (memory, id, message) in std::mem::take(&mut self.out.down) {
            let PoolMemoryPort { ids, link, .. } = self.config.memories[memory];
            let message = message.on_route(PeerRoute { spid: ids[0], dpid: ids[1], ..PeerRoute::default() });
            let traced = self.tap.new_id();
            self.asked.insert((id, memory), traced);
            let named = MemoryPool::handle(&message, link).map_or(TransactionNaming::Nowhere, TransactionNaming::As);
            self.tap.named(named, at, RecordKind::Begin, traced, self.traced[id], || shown(&message, form));
            let class = usize::from(matches!(message, Message::M2sRwd(..)));
            self.down[memory].queues[class].push_back((due, id, message));
        }
        for (port, id, message) in std::mem::take(&mut self.out.up) {
            self.up[port].queue.push_back((due, id, message));
        }
        for message in std::mem::take(&mut self.out.dropped) {
            if let Message::M2sRwd(header, data) = message {
                self.config.dropped.note(header.address, &data.line, data.byte_enables.unwrap_or(ALL_BYTES));
            }
        }
        for finding in std::mem::take(&mut self.out.findings) {
            let violation = Violation {
                rule: finding.rule,
                at: At::Byte(0),
                found: finding.found,
                expected: finding.expected.to_owned(),
                text: scalepool_protocols::rules::find(finding.rule)
                    .map_or_else(String::new, |rule| rule.text.to_owned()),
            };
            self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
            if self.broken.len() < MOST_BROKEN {
                self.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
            }
        }
    }

    /// Sends what has waited for its latency, as far as there is room. Returns whether a queue of answers had no room for a request
    /// and has it now.
    fn send(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let is_full = |end: &UpEnd| end.queue.len() >= self.config.entries;
        let mut made_room = false;
        for (port, end) in self.up.iter_mut().enumerate() {
            let was_full = is_full(end);
            while end.queue.front().is_some_and(|(due, ..)| *due <= at.cycle)
                && end.tx.has_room(cx, 1)
                && let Some((_, id, message)) = end.queue.pop_front()
            {
                let (form, shown_form) = (self.config.ports[port].route.form, self.config.shown);
                let message = spelled(message, form);
                self.tap.record(at, RecordKind::End, self.traced[id], 0, || shown(&message, shown_form));
                // Room was asked for before.
                let _ = end.tx.push(cx, message);
                self.since[id] = Time::ZERO;
                cx.progress();
            }
            made_room |= was_full && !is_full(end);
        }
        for end in &mut self.down {
            for (class, queue) in SENT.into_iter().zip(&mut end.queues) {
                let Some((_, tx)) = end.channels.tx.iter_mut().find(|(of, _)| *of == class) else { continue };
                while queue.front().is_some_and(|(due, ..)| *due <= at.cycle)
                    && tx.has_room(cx, 1)
                    && let Some((_, _, message)) = queue.pop_front()
                {
                    // Room was asked for before.
                    let _ = tx.push(cx, (end.sent, message));
                    end.sent += 1;
                }
            }
        }
        made_room
    }

    /// The first cycle at which something that waits for its latency is due.
    fn due(&self) -> Option<u64> {
        let up = self.up.iter().filter_map(|end| end.queue.front());
        let down = self.down.iter().flat_map(|end| end.queues.iter().filter_map(VecDeque::front));
        up.chain(down).map(|(due, ..)| *due).min()
    }
}

fn tag_of(answer: &Message) -> Option<u16> {
    match answer {
        Message::S2mNdr(header) => Some(header.tag),
        Message::S2mDrs(header, _) => Some(header.tag),
        _ => None,
    }
}

/// An answer as a link of this form can say it: one of 68B units has no other word for data that is not there, all ones say it
/// (`fabric` CMR-4).
fn spelled(mut answer: Message, form: MessageForm) -> Message {
    if let (MessageForm::Cxl68, Message::S2mDrs(header, _)) = (form, &mut answer) {
        header.opcode = DrsOpcode::MemData;
    }
    answer
}

impl Module for MemoryPool {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while self.config.commands.front().is_some_and(|(due, _)| *due <= at.cycle)
            && let Some((_, command)) = self.config.commands.pop_front()
        {
            self.agent.command(command, &mut self.out);
            let name = match command {
                PoolCommand::Remove(..) => "memory removed",
                PoolCommand::Insert(_) => "memory inserted",
            };
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
            self.follow(at);
        }
        self.take_answers(cx, at);
        let took = self.take_request(cx, at);
        let made_room = self.send(cx, at);
        if took || (made_room && !self.asking(cx).is_empty()) {
            return Next::Busy;
        }
        let command = self.config.commands.front().map(|(due, _)| *due);
        // What is due and has no room is woken for by the consumer's pop.
        let due = self.due().into_iter().chain(command).filter(|due| *due > at.cycle).min();
        due.map_or(Next::Idle, |due| Next::In(due - at.cycle))
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let queued = self.up.iter().map(|end| end.queue.len()).sum::<usize>();
        let open = self.agent.open();
        match open + queued {
            0 if self.agent.is_changing() => Err(Pending::new("a memory that leaves or comes", Time::ZERO)),
            0 => Ok(()),
            _ => {
                let since = self.since.iter().copied().filter(|since| *since > Time::ZERO).min().unwrap_or(Time::ZERO);
                Err(Pending::new(format!("{open} requests open, {queued} answers to send"), since))
            }
        }
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        *result = PoolResult { counts: self.agent.counts, broken: self.broken.clone() };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.agent.open() as u64);
    }
}

/// Most requests that can be open: their tags have 16 bits.
pub const MOST_ENTRIES: usize = 1 << 16;

/// Whether ranges can be those of a pool with so many memories, each with its size; what is wrong with the first that cannot.
///
/// # Errors
/// The number of the range, and what was found and expected.
pub fn check_ranges(ranges: &[PoolRange], memory_bytes: &[Option<u64>]) -> Result<(), (usize, String)> {
    for (n, range) in ranges.iter().enumerate() {
        let (base, end) = (range.base, u128::from(range.base) + u128::from(range.size));
        if !base.is_multiple_of(LINE_BYTES)
            || !range.size.is_multiple_of(LINE_BYTES)
            || !range.to.is_multiple_of(LINE_BYTES)
        {
            return Err((n, format!("found {base:#x} to {end:#x}, expected multiples of {LINE_BYTES} bytes")));
        }
        if let Some(other) = ranges[..n].iter().position(|other| {
            u128::from(other.base) < end && u128::from(base) < u128::from(other.base) + u128::from(other.size)
        }) {
            return Err((n, format!("found {base:#x} to {end:#x}, expected none of the addresses of range {other}")));
        }
        for memory in range.memories.all() {
            let bytes = memory_bytes.get(memory).copied().flatten();
            let last = u128::from(range.to) + u128::from(range.size);
            if bytes.is_some_and(|bytes| u128::from(bytes) < last) {
                let found = format!("found bytes up to {last:#x} of memory {memory}");
                return Err((n, format!("{found}, expected at most its size, {:#x}", bytes.unwrap_or(0))));
            }
        }
    }
    Ok(())
}
