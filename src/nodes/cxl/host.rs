//! The host: a core that follows a memory trace through a cache, and the requests that miss.
//!
//! Modelled: one access after the other in program order, at the earliest at the cycle that the trace gives and stalled
//! while too many misses are open; ports whose memories share the addresses by the windows of a memory map; a write-back, write-allocate cache whose lines are claimed when they miss, so hits,
//! misses and write-backs do not depend on the latency of memory; an end-to-end check of all bytes. Its requests, their tags
//! and their order are those of the host of the coherence engine ([`HdmHHost`]), the one that the chapter 14 tests judge.
//! A request may have a time-out, after which it ends with an error that is counted, and a time-out may isolate the root port
//! ([`super::isolation`]).
//! Left out: dependences between accesses, instruction timing, virtual memory.
//!
//! A walk through one cycle: the agent takes the answers; they are checked against what memory must hold, and put into the
//! lines that wait for them; then accesses are issued until one is not due or cannot go.
//!
//! In traces an access is the root of a tree, from when it is due to its data or its completion; one that hits ends at once.
//! The requests that it sends, that of a victim too, are its children.

use super::isolation::{IsolatedAnswer, IsolationControl, RootPortIsolation};
use super::{cxl_tag, shown};
use crate::PlacedViolation;
use crate::latencies::Latencies;
use crate::stimulus::{LineAccess, LineSource};
use scalepool_coherence::agent::AgentPort;
use scalepool_coherence::content::{self, LineAddr};
use scalepool_coherence::event::CoherenceEvent;
use scalepool_coherence::mem::hdm_h_host::{HdmHHost, OpenAccess, Refusal};
use scalepool_coherence::mem::load::{Steps, Throttle};
use scalepool_coherence::message::Msg;
use scalepool_coherence::message::from_link;
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Rng, Time};
use scalepool_memory::cache::Cache;
use scalepool_memory::decoder::{Destination, WindowRoutes};
use scalepool_memory::dropped::DroppedStores;
use scalepool_memory::store::{Background, Store};
use scalepool_memory::{ALL_BYTES, LineBytes};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::PeerRoute;
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};
use std::sync::{Arc, Mutex, PoisonError};

/// What the host leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct HostResult {
    /// Line accesses issued.
    pub accesses: u64,
    /// Of them hits.
    pub hits: u64,
    /// Of them misses, or reads where there is no cache.
    pub misses: u64,
    /// Dirty lines written back, or writes where there is no cache.
    pub writes: u64,
    /// Bytes of finished reads and writes.
    pub bytes: u64,
    /// Request to answer, by transaction.
    pub latencies: Latencies,
    /// End-to-end checks that failed.
    pub broken: Vec<PlacedViolation>,
    /// Cycles in which an access was due and could not go.
    pub stall_cycles: u64,
    /// Requests that ended with an error; `None`: none may.
    pub errors: Option<HostErrors>,
    /// What DevLoad did to it; `None`: it does not heed it.
    pub throttled: Option<HostThrottled>,
}

/// What a host has seen of DevLoad, and done about it (`fabric` QOS-3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostThrottled {
    /// Answers by their DevLoad, 0 to 3.
    pub loads: [u64; 4],
    /// Requests before which it left idle cycles.
    pub spaced: u64,
    /// Most idle cycles between two requests.
    pub most: u32,
}

/// The throttle of a memory.
struct MemoryThrottle {
    throttle: Throttle,
    /// First cycle in which a request may go there.
    from_cycle: u64,
}

/// Requests of a host that ended with an error (`fabric` ERR-1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostErrors {
    /// Reads of an address that nothing decodes.
    pub not_decoded: u64,
    /// Requests whose answer has not come in time: the port behind them is gone.
    pub timed_out: u64,
    /// Answers that came later than that, and were dropped.
    pub late: u64,
    /// Reads that ended with poisoned data because their root port was isolated.
    pub isolated_reads: u64,
    /// Writes that were completed, and lost, for the same reason.
    pub isolated_writes: u64,
}

/// How the host is built.
pub struct HostConfig {
    /// Its place in traces and reports.
    pub place: String,
    /// Accesses in program order, addresses in windows of `routes`, or of device memory.
    pub accesses: LineSource,
    /// Cycles are times of their own; else each is relative to the access before.
    pub absolute_cycles: bool,
    /// `None`: every access goes to memory.
    pub cache: Option<Cache>,
    /// Most misses that may be open (without a cache: most requests).
    pub outstanding: usize,
    /// Content of memory that was never written.
    pub background: Background,
    /// For each of its links, port of the host and of the device it asks, where the link routes by ports; else 0.
    pub ports: Vec<HostPorts>,
    /// Windows of the memory map that it can reach; `None`: its one link leads to memory whose addresses it uses.
    pub routes: Option<WindowRoutes>,
    /// How its links spell messages, for traces.
    pub form: MessageForm,
    /// Time after which a request without an answer ends with an error, as one of an address that nothing decodes does then
    /// \[cycles\]; `None`: both break a rule.
    pub timeout_cycles: Option<u64>,
    /// What isolates its root ports.
    pub isolation: IsolationControl,
    /// How it slows down what it asks of an overloaded memory; `None`: it does not.
    pub throttle: Option<Steps>,
    /// Stores that were dropped and completed, as those who dropped them tell: what such a store would have written is not checked.
    pub dropped: Arc<DroppedStores>,
}

/// Identifiers of port based routing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostPorts {
    /// Of the host.
    pub own: u16,
    /// Of the device.
    pub device: u16,
    /// Number of the link, for traces.
    pub link: u32,
}

impl HostPorts {
    /// A request of the port, as the device knows it.
    fn handle(self, tag: u16) -> TransactionHandle {
        cxl_tag(self.link, self.own, self.device, tag)
    }
}

/// Channel ends of a port of the host.
pub struct HostChannels {
    /// Requests.
    pub tx: Out<Message>,
    /// Answers.
    pub rx: In<Message>,
}

/// What the core knows of a request whose answer has not come.
struct CoreRequest {
    to: Destination,
    bytes: u64,
    since: Time,
    since_cycle: u64,
    id: u64,
    /// The access that ends with it, 0 for none.
    ends: u64,
    /// Bytes that it writes.
    enables: u64,
}

/// An access that is due.
#[derive(Debug, Clone, Copy)]
struct Tried {
    id: u64,
    /// What it waits for.
    wait: Option<Wait>,
}

/// What has become of an access.
enum Outcome {
    Hit,
    Sent,
    /// It has to wait, and so for this transaction where it is known.
    Waits(Wait, u64),
}

/// The host core and its cache.
pub struct Host {
    config: HostConfig,
    /// The next access, and how many there were before it.
    next: Option<LineAccess>,
    issued: u64,
    /// That access, if it is due.
    tried: Option<Tried>,
    /// Cycle and schedule of the access before.
    before: Option<(u64, u64)>,
    agent: HdmHHost<CoreRequest>,
    /// What each memory holds once every write under way is done, by its own addresses.
    expected: Vec<Store>,
    rng: Rng,
    channels: Vec<HostChannels>,
    tap: Tap,
    result: Arc<Mutex<HostResult>>,
    mine: HostResult,
    stalled_since: Option<u64>,
    /// Isolation of each root port.
    isolation: Vec<RootPortIsolation>,
    /// Tags of requests that have timed out, or were open when their port was isolated.
    given_up: OrderedSet<u16>,
    /// Bytes that may hold what was written last or not, as byte enables by memory and device address of the line: the write has
    /// timed out, or was dropped. They are checked again from the next write on.
    unsure: OrderedMap<(usize, u64), u64>,
    /// The next access is not due: time is all it waits for.
    waits: bool,
    /// By memory, if it heeds what they tell of their load.
    throttles: Vec<MemoryThrottle>,
}

impl Host {
    /// A host with the channel ends of its ports.
    pub fn new(
        mut config: HostConfig,
        channels: Vec<HostChannels>,
        rng: Rng,
        tap: Tap,
        result: Arc<Mutex<HostResult>>,
    ) -> Host {
        let targets = config.routes.as_ref().map_or(1, WindowRoutes::targets);
        let throttle = |steps| MemoryThrottle { throttle: Throttle::new(steps), from_cycle: 0 };
        Host {
            expected: (0..targets).map(|_| Store::new(config.background)).collect(),
            throttles: config.throttle.iter().flat_map(|steps| (0..targets).map(|_| throttle(*steps))).collect(),
            next: config.accesses.next(),
            issued: 0,
            tried: None,
            mine: HostResult {
                errors: config.timeout_cycles.map(|_| HostErrors::default()),
                throttled: config.throttle.map(|_| HostThrottled::default()),
                ..HostResult::default()
            },
            isolation: vec![RootPortIsolation::new(config.isolation); config.ports.len()],
            given_up: OrderedSet::new(),
            unsure: OrderedMap::new(),
            config,
            before: None,
            agent: HdmHHost::new(),
            rng,
            channels,
            tap,
            result,
            stalled_since: None,
            waits: false,
        }
    }

    fn broken(&mut self, rule: &'static str, found: String, expected: String, text: String) {
        let violation = Violation { rule, at: At::Byte(0), found, expected, text };
        self.mine.broken.push(PlacedViolation { place: self.config.place.clone(), violation });
    }

    fn answer(&mut self, port: usize, message: &Message, cx: &mut Cx, at: Stamp) {
        let form = self.config.form;
        let dpid = match message {
            Message::S2mDrs(drs, _) => drs.dpid,
            Message::S2mNdr(ndr) => ndr.dpid,
            _ => self.config.ports[port].own,
        };
        let own = self.config.ports[port].own;
        if dpid != own {
            let (found, expected) = (format!("{dpid:#05x}"), format!("{own:#05x}"));
            self.broken("SIM-E2E-02", found, expected, "an answer is received for another host (DPID)".into());
            return;
        }
        let (request, data) = match self.agent.answer(port as AgentPort, from_link(message)) {
            Ok(taken) => taken,
            Err(refusal) => return self.refuse(refusal, message),
        };
        let is_unmapped = self.mine.errors.is_some() && self.is_unmapped(message, request.note.to);
        if let (true, Some(errors)) = (is_unmapped, &mut self.mine.errors) {
            errors.not_decoded += 1;
        }
        let CoreRequest { to, bytes, since, since_cycle, id, ends, enables } = request.note;
        self.heed(to.target, message, at.cycle);
        self.tap.record(at, RecordKind::End, id, 0, || shown(message, form));
        if ends != 0 {
            self.tap.record(at, RecordKind::End, ends, 0, || Body::None);
        }
        self.mine.latencies.add(at.cycle - since_cycle, at.t_fs - since.as_fs());
        self.mine.bytes += bytes;
        if let Some(content::CacheLine { bytes, poison }) = data {
            let line = request.line.address();
            let expected = self.expected[to.target].read_line(to.device_address);
            let unsure = self.unsure.get(&(to.target, to.device_address)).copied().unwrap_or(0);
            let known = if is_unmapped { 0 } else { !unsure };
            // Nearly all lines are as expected: compared as a whole first, 165 instructions a flit of `cxl68-expander` less.
            let differs = |n: &usize| known >> n & 1 == 1 && bytes[*n] != expected.data[*n];
            let wrong = if bytes == expected.data { None } else { (0..64).find(differs) };
            // Poison is of the whole line.
            if wrong.is_some() || (known == ALL_BYTES && poison != expected.poison) {
                let n = wrong.unwrap_or(0);
                let found = format!("{:#04x}, poison {}", bytes[n], u8::from(poison));
                let expected = format!("{:#04x}, poison {}", expected.data[n], u8::from(expected.poison));
                self.broken("SIM-E2E-01", found, expected, format!("byte {n} of line {line:#x} has a wrong value"));
            }
            if let Some(cache) = &mut self.config.cache {
                cache.refill(line, &bytes);
            }
        } else if self.mine.errors.is_some() {
            let written = self.expected[to.target].read_line(to.device_address).data;
            if self.config.dropped.take(request.line.address(), &written, enables) {
                self.doubt(to, enables);
            }
        }
        cx.progress();
    }

    /// Whether a read reached no memory: its answer says so, or on a 68B link, where none can say so, it brings all ones where
    /// something else was written (`fabric` CMR-4).
    fn is_unmapped(&self, message: &Message, to: Destination) -> bool {
        let Message::S2mDrs(header, data) = message else { return false };
        let ones = [0xff; 64];
        let is_only_sign = self.config.form == MessageForm::Cxl68 && data.line == ones;
        let written = || self.expected[to.target].read_line(to.device_address).data;
        header.opcode == DrsOpcode::MemDataNXM || (is_only_sign && written() != ones)
    }

    /// Heeds what an answer tells of the load of its memory.
    fn heed(&mut self, target: usize, message: &Message, cycle: u64) {
        let load = match message {
            Message::S2mDrs(header, _) => header.devload,
            Message::S2mNdr(header) => header.devload,
            _ => return,
        };
        if let (Some(own), Some(throttled)) = (self.throttles.get_mut(target), &mut self.mine.throttled) {
            own.throttle.answer(cycle, load);
            throttled.loads[usize::from(load.0 & 3)] += 1;
            throttled.most = throttled.most.max(own.throttle.level(cycle));
        }
    }

    /// A request to a memory has left: the next one comes behind the idle cycles of its throttle.
    fn space(&mut self, target: usize, cycle: u64) {
        if let (Some(own), Some(throttled)) = (self.throttles.get_mut(target), &mut self.mine.throttled)
            && own.throttle.level(cycle) > 0
        {
            own.from_cycle = cycle + 1 + u64::from(own.throttle.level(cycle));
            throttled.spaced += 1;
        }
    }

    /// An answer that belongs to no request.
    fn refuse(&mut self, refusal: Refusal, message: &Message) {
        if let (Refusal::NoRequest { tag }, Some(errors)) = (refusal, &mut self.mine.errors)
            && self.given_up.remove(&tag)
        {
            errors.late += 1;
            return;
        }
        let layout = self.config.form.layout(message.class()).map_or("answer", |layout| layout.name);
        let (rule, text) = match refusal {
            Refusal::NoAnswer => ("SIM-E2E-02", "a message is received that a host cannot take".to_owned()),
            Refusal::NoRequest { .. } => ("SIM-E2E-02", format!("{layout} received without a request")),
            Refusal::NotCmp { .. } => ("COH-MEM-33", refusal.event(None).text()),
        };
        let CoherenceEvent { found, expected, .. } = refusal.event(None);
        let found = if refusal == Refusal::NoAnswer { format!("{:?}", message.class()) } else { found };
        self.broken(rule, found, expected, text);
    }

    /// Ends the requests whose time is over; the cycle in which the next one's is.
    fn time_out(&mut self, cx: &mut Cx, at: Stamp) -> Option<u64> {
        let timeout = self.config.timeout_cycles?;
        let over = |(tag, request): (u16, &OpenAccess<CoreRequest>)| {
            (request.note.since_cycle + timeout <= at.cycle).then_some(tag)
        };
        let tags: Vec<u16> = self.agent.open().filter_map(over).collect();
        for tag in tags {
            let Some(port) = self.give_up(tag, "timed_out", at) else { continue };
            self.given_up.insert(tag);
            if let Some(errors) = &mut self.mine.errors {
                errors.timed_out += 1;
            }
            cx.progress();
            if self.isolation[port].timed_out() {
                let open = self.agent.open().filter(|(_, request)| request.note.to.port == port);
                let open: Vec<u16> = open.map(|(tag, _)| tag).collect();
                for tag in open {
                    self.isolated(tag, at);
                    self.given_up.insert(tag);
                }
            }
        }
        self.agent.open().map(|(_, request)| request.note.since_cycle + timeout).min()
    }

    /// Ends a request that gets no answer; its root port.
    fn give_up(&mut self, tag: u16, why: &'static str, at: Stamp) -> Option<usize> {
        let OpenAccess { write, note, .. } = self.agent.give_up(tag)?;
        if write {
            self.doubt(note.to, note.enables);
        }
        self.tap.record(at, RecordKind::Mark, note.id, 0, || Body::Mark(why));
        self.tap.record(at, RecordKind::End, note.id, 0, || Body::None);
        if note.ends != 0 {
            self.tap.record(at, RecordKind::End, note.ends, 0, || Body::None);
        }
        Some(note.to.port)
    }

    /// Bytes of a line may hold what was written last or not.
    fn doubt(&mut self, to: Destination, enables: u64) {
        *self.unsure.entry((to.target, to.device_address)).or_default() |= enables;
    }

    /// Ends a request at its isolated root port.
    fn isolated(&mut self, tag: u16, at: Stamp) {
        let answer = self.agent.open().find(|(open, _)| *open == tag).map(|(_, open)| IsolatedAnswer::of(open.write));
        if self.give_up(tag, "isolated", at).is_none() {
            return;
        }
        if let Some(errors) = &mut self.mine.errors {
            match answer {
                Some(IsolatedAnswer::Completion) => errors.isolated_writes += 1,
                _ => errors.isolated_reads += 1,
            }
        }
    }

    /// The open read or write of a line, 0 for none; it is looked for among all that is open, and for traces alone.
    fn holder(&self, line: LineAddr, write: bool) -> u64 {
        let request = self.tap.is_on().then(|| self.agent.request(line, write)).flatten();
        request.map_or(0, |request| request.note.id)
    }

    /// Tries the access; `false`: it has to wait.
    fn attempt(&mut self, access: &LineAccess, cx: &mut Cx, at: Stamp) -> bool {
        let Tried { id, wait } = match self.tried {
            Some(tried) => tried,
            None => {
                let id = self.tap.new_id();
                let (name, address) = (if access.write { "write" } else { "read" }, access.line_address);
                self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name, address });
                Tried { id, wait: None }
            }
        };
        match self.issue(access, id, cx, at) {
            Outcome::Waits(now, holder) => {
                if wait != Some(now) {
                    self.tap.wait(at, id, now, holder);
                }
                self.tried = Some(Tried { id, wait: Some(now) });
                return false;
            }
            Outcome::Hit => self.tap.record(at, RecordKind::End, id, 0, || Body::None),
            Outcome::Sent if wait.is_some() => self.tap.wait_over(at, id),
            Outcome::Sent => (),
        }
        self.tried = None;
        true
    }

    fn issue(&mut self, access: &LineAccess, id: u64, cx: &mut Cx, at: Stamp) -> Outcome {
        let line = access.line_address;
        let enables = access.byte_enables();
        let Some(cache) = &mut self.config.cache else {
            return self.issue_uncached((line, access.write, enables), id, cx, at);
        };
        if cache.lookup(line).is_some() {
            if access.write {
                let data = random_line(&mut self.rng);
                cache.write(line, &data, enables);
            } else {
                cache.read(line);
            }
            self.mine.hits += 1;
            return Outcome::Hit;
        }
        let victim = cache.next_victim(line);
        let reads_victim = victim.map(|v| LineAddr::of_address(v.address)).filter(|victim| self.agent.is_read(*victim));
        let writes_back = victim.filter(|v| v.is_dirty()).map(|v| destination(&self.config.routes, v.address).port);
        let to = destination(&self.config.routes, line);
        let messages = 1 + usize::from(writes_back.is_some());
        let at_port = 1 + usize::from(writes_back == Some(to.port));
        let asked = LineAddr::of_address(line);
        if is_throttled(&self.throttles, to.target, at.cycle) {
            return Outcome::Waits(Wait::Throttle, 0);
        } else if self.agent.open_reads() >= self.config.outstanding {
            return Outcome::Waits(Wait::Limit, 0);
        } else if self.agent.is_written(asked) {
            return Outcome::Waits(Wait::Line, self.holder(asked, true));
        } else if let Some(victim) = reads_victim {
            return Outcome::Waits(Wait::Room, self.holder(victim, false));
        } else if self.agent.free_tags() < messages {
            return Outcome::Waits(Wait::Tag, 0);
        } else if !self.channels[to.port].tx.has_room(cx, at_port)
            || writes_back.is_some_and(|port| !self.channels[port].tx.has_room(cx, 1))
        {
            return Outcome::Waits(Wait::Link, 0);
        }
        let victim = cache.fill(line, &[0; 64]);
        if access.write {
            let data = random_line(&mut self.rng);
            cache.write(line, &data, enables);
        }
        if let Some(victim) = victim.filter(|v| v.is_dirty()) {
            self.send_write((victim.address, &victim.data, ALL_BYTES), (id, 0), cx, at);
        }
        self.send_read(line, id, cx, at);
        self.space(to.target, at.cycle);
        Outcome::Sent
    }

    fn issue_uncached(&mut self, (line, write, enables): (u64, bool, u64), id: u64, cx: &mut Cx, at: Stamp) -> Outcome {
        let (to, asked) = (destination(&self.config.routes, line), LineAddr::of_address(line));
        if is_throttled(&self.throttles, to.target, at.cycle) {
            return Outcome::Waits(Wait::Throttle, 0);
        } else if self.agent.open_count() >= self.config.outstanding {
            return Outcome::Waits(Wait::Limit, 0);
        } else if self.agent.is_written(asked) {
            return Outcome::Waits(Wait::Line, self.holder(asked, true));
        } else if write && self.agent.is_read(asked) {
            return Outcome::Waits(Wait::Line, self.holder(asked, false));
        } else if self.agent.free_tags() == 0 {
            return Outcome::Waits(Wait::Tag, 0);
        } else if !self.channels[to.port].tx.has_room(cx, 1) {
            return Outcome::Waits(Wait::Link, 0);
        }
        if write {
            let data = random_line(&mut self.rng);
            self.send_write((line, &data, enables), (id, id), cx, at);
        } else {
            self.send_read(line, id, cx, at);
        }
        self.space(to.target, at.cycle);
        Outcome::Sent
    }

    /// Sends a read with which an access ends.
    fn send_read(&mut self, line: u64, access: u64, cx: &mut Cx, at: Stamp) {
        let note = self.asked(line, (64, 0), access, cx, at);
        let (port, id) = (note.to.port, note.id);
        // It was asked before whether the line and a tag are free.
        let Some((tag, request)) = self.agent.read(port as AgentPort, LineAddr::of_address(line), note) else { return };
        self.mine.misses += 1;
        self.send((port, tag), &request, (id, access), cx, at);
    }

    /// Sends a write that an access causes, and with which it may end.
    fn send_write(
        &mut self,
        (line, data, enables): (u64, &LineBytes, u64),
        (access, ends): (u64, u64),
        cx: &mut Cx,
        at: Stamp,
    ) {
        let note = self.asked(line, (u64::from(enables.count_ones()), enables), ends, cx, at);
        let (to, id, bytes) = (note.to, note.id, content::CacheLine::of(*data));
        // It was asked before whether the line and a tag are free.
        let line = LineAddr::of_address(line);
        let Some((tag, request)) = self.agent.write(to.port as AgentPort, line, bytes, enables, note) else { return };
        self.mine.writes += 1;
        self.expected[to.target].write_line(to.device_address, data, enables, false);
        if let Some(unsure) = self.unsure.get_mut(&(to.target, to.device_address)) {
            *unsure &= !enables;
            if *unsure == 0 {
                self.unsure.remove(&(to.target, to.device_address));
            }
        }
        self.send((to.port, tag), &request, (id, access), cx, at);
    }

    /// What to know of a request to a line with which an access ends, of its bytes and of those that it writes.
    fn asked(&mut self, line: u64, (bytes, enables): (u64, u64), ends: u64, cx: &Cx, at: Stamp) -> CoreRequest {
        let to = destination(&self.config.routes, line);
        CoreRequest { to, bytes, since: cx.now(), since_cycle: at.cycle, id: self.tap.new_id(), ends, enables }
    }

    fn send(
        &mut self,
        (port, tag): (usize, u16),
        request: &Msg<content::CacheLine>,
        (id, access): (u64, u64),
        cx: &mut Cx,
        at: Stamp,
    ) {
        let (form, ports) = (self.config.form, self.config.ports[port]);
        let message = request.to_link(PeerRoute { spid: ports.own, dpid: ports.device, ..PeerRoute::default() });
        self.tap.named(TransactionNaming::As(ports.handle(tag)), at, RecordKind::Begin, id, access, || {
            shown(&message, form)
        });
        if self.isolation[port].is_isolated() {
            return self.isolated(tag, at);
        }
        // Room was asked for before; a refusal would lose the request and show as one that is never answered.
        self.channels[port].tx.push_made(cx, || message);
    }

    /// Cycle at which the next access is due.
    fn due(&self, access: &LineAccess) -> u64 {
        match self.before {
            Some((issued, scheduled)) if !self.config.absolute_cycles => issued + (access.cycle - scheduled),
            _ => access.cycle,
        }
    }
}

/// Whether the throttle of a memory holds a request back.
fn is_throttled(throttles: &[MemoryThrottle], target: usize, cycle: u64) -> bool {
    throttles.get(target).is_some_and(|own| cycle < own.from_cycle)
}

/// Where a line leads.
fn destination(routes: &Option<WindowRoutes>, line: u64) -> Destination {
    let Some(routes) = routes else { return Destination { port: 0, target: 0, device_address: line } };
    routes.destination(line).unwrap_or_else(|| unreachable!("accesses lie in windows: {line:#x}"))
}

/// Bytes that a store writes: random, so that a byte in a wrong place is seen.
fn random_line(rng: &mut Rng) -> LineBytes {
    let mut line = [0; 64];
    rng.fill_bytes(&mut line);
    line
}

impl Module for Host {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        for port in 0..self.channels.len() {
            loop {
                // Looked at where it was put: bound to a name, it would be moved once more.
                let popped = self.channels[port].rx.pop(cx);
                let Some(message) = &popped else { break };
                self.answer(port, message, cx, at);
            }
        }
        let next_timeout = self.time_out(cx, at);
        let mut next_due = None;
        self.waits = false;
        while let Some(access) = self.next {
            let due = self.due(&access);
            if due > at.cycle {
                next_due = Some(due);
                self.waits = true;
                break;
            }
            if !self.attempt(&access, cx, at) {
                // Woken by an answer or by room in the channel, or when the throttle lets it go.
                self.stalled_since.get_or_insert(at.cycle);
                if self.tried.is_some_and(|tried| tried.wait == Some(Wait::Throttle)) {
                    let target = destination(&self.config.routes, access.line_address).target;
                    let from_cycle = self.throttles.get(target).map_or(at.cycle, |own| own.from_cycle);
                    next_due = Some(from_cycle.max(at.cycle + 1));
                    self.waits = true;
                }
                break;
            }
            if let Some(since) = self.stalled_since.take() {
                self.mine.stall_cycles += at.cycle - since;
            }
            self.mine.accesses += 1;
            self.before = Some((at.cycle, access.cycle));
            self.next = self.config.accesses.next();
            self.issued += 1;
        }
        let has_open = self.agent.open_count() > 0;
        let timeout = self.config.timeout_cycles.filter(|_| has_open);
        let over = timeout.map(|cycles| next_timeout.unwrap_or(at.cycle + cycles));
        next_due.into_iter().chain(over).min().map_or(Next::Idle, |cycle| Next::In(cycle - at.cycle))
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let left = self.config.accesses.len() + usize::from(self.next.is_some());
        match self.agent.open().min_by_key(|(_, request)| request.note.since) {
            Some((tag, request)) => {
                let kind = if request.write { "write" } else { "read" };
                let (n, line) = (self.agent.open_count(), request.line.address());
                let what = format!(
                    "{n} requests open, oldest: {kind} of line {line:#x}, tag {tag:#06x}; {left} accesses left"
                );
                Err(Pending::new(what, request.note.since))
            }
            // A trace may be silent for longer than any time-out; that is no stall.
            None if left > 0 && !self.waits => Err(Pending::new(format!("{left} accesses left"), Time::ZERO)),
            None => Ok(()),
        }
    }

    fn publish(&self) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = self.mine.clone();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.agent.open_count() as u64);
        visit("next_access", self.issued);
    }
}
