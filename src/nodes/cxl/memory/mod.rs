//! A memory on CXL with host-managed memory (HDM-H): the expander of a host, and the memory node that several share.
//!
//! Modelled: ports, each the end of a link, in front of one memory. Requests of a port are served in order of arrival, at most one a
//! cycle of all ports, chosen by an arbiter, and answered when the memory behind them is done, which may be out of order where lines
//! differ: a fixed latency, banks, DRAM or flash (see [`backend`](scalepool_memory::backend)). What is answered is the business of the
//! device of the coherence engine ([`HdmH`](scalepool_coherence::mem::HdmH)), the one that the chapter 14 tests judge, over a store with
//! real bytes, byte enables, codes and poison (`server`); a message that is in no row of its table breaks that row's rule and gets no
//! answer. HDM decoders make device addresses of system addresses. A patrol reads line after line where nobody asks. Left out: stored meta
//! values, DevLoad other than light load where no telemetry is asked for.
//!
//! A walk through one cycle: answers whose time has come leave as far as the channel of their port has room; one request is taken if
//! the memory has room for it, and applied to the store at once, so requests to one line take effect in order of arrival, whatever
//! their ports; with no request at any port the patrol may read its line.

mod server;
pub mod telemetry;

pub use server::{DeadMedium, DeviceAddresses, LogicalDevice, MemoryRoute, shown_form};

use super::{cxl_tag, shown};
use crate::PlacedViolation;
use crate::item_places::ItemPlaces;
use scalepool_arbiter::{Arbiter, Requests};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Rng, Time};
use scalepool_memory::LINE_BYTES;
use scalepool_memory::backend::{DramView, LineBufferCounts, MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_memory::dram::channel::DramCounts;
use scalepool_memory::dram::{DramCommand, DramFinding, DramPreset};
use scalepool_memory::dropped::DroppedStores;
use scalepool_memory::ecc::{EccCounts, Patrol, UpsetConfig, Upsets};
use scalepool_memory::flash::FlashCounts;
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::wait::WAIT_OVER;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming, Wait};
use server::{DeviceServer, ReachedMemory};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use telemetry::{Telemetry, TelemetryConfig};

/// A cycle that never comes.
const NEVER: u64 = u64::MAX;

/// How the device is built.
pub struct DeviceConfig {
    /// Logical devices, by LD-ID; a device without any has one.
    pub logical: Vec<LogicalDevice>,
    /// Bytes of each; they follow one another in the memory behind.
    pub logical_bytes: u64,
    /// When requests are answered, in cycles of its clock.
    pub timing: MemoryTiming,
    /// Ports, each with the number of its link, for traces.
    pub ports: Vec<(MemoryRoute, u32)>,
    /// Which port's request is taken.
    pub arbiter: Box<dyn Arbiter>,
    /// The patrol; `None`: none.
    pub patrol: Option<Patrol>,
    /// Bits that flip in the run.
    pub upsets: UpsetConfig,
    /// Each port reaches the logical device of its number alone, as the media of a JBOM.
    pub is_apart: bool,
    /// What it tells of its load; `None`: it is always light.
    pub telemetry: Option<TelemetryConfig>,
    /// Where the checkers of a run learn of stores that it drops and completes.
    pub dropped: Arc<DroppedStores>,
    /// Its name, for what breaks a rule.
    pub place: String,
}

/// An answer that waits for the memory or for its port.
struct Answer {
    /// When its request came.
    since: Time,
    port: usize,
    transaction: u64,
    message: Message,
}

/// What is under way in the memory.
struct UnderWay {
    /// When it came.
    since: Time,
    /// Place of the answer; a read or a write of the patrol has none.
    answer: Option<usize>,
}

/// Commands of a DRAM; those of one channel in order.
#[derive(Debug, Clone)]
pub struct KeptCommands {
    /// Its organisation and timing.
    pub preset: DramPreset,
    /// What it was told.
    pub commands: Vec<DramCommand>,
}

impl KeptCommands {
    /// Adds what DRAM `n` has been told since the last call, if that is kept.
    pub fn publish(all: &mut Vec<KeptCommands>, n: usize, view: &DramView<'_>) {
        let Some(trace) = view.trace else { return };
        if all.len() == n {
            all.push(KeptCommands { preset: *view.preset, commands: Vec::new() });
        }
        let Some(KeptCommands { commands, .. }) = all.get_mut(n) else { return };
        commands.extend_from_slice(trace.get(commands.len()..).unwrap_or_default());
    }
}

/// What a device leaves behind.
#[derive(Debug, Clone, Default)]
pub struct MemoryResult {
    /// Rules that requests broke, or commands of its DRAM.
    pub broken: Vec<PlacedViolation>,
    /// Figures of its DRAM, if it has that.
    pub dram: Option<DramFigures>,
    /// Commands of each of its DRAMs, if they are kept.
    pub commands: Vec<KeptCommands>,
    /// What its buffer and the flash behind it have counted, if it has that.
    pub buffer: Option<(LineBufferCounts, FlashCounts)>,
    /// What its codes have counted.
    pub ecc: EccCounts,
    /// By port: requests that were taken.
    pub requests: Vec<u64>,
    /// Requests that were access errors, of a device with tables by requester.
    pub access_errors: u64,
    /// Answers by the load that they told, of a device with telemetry.
    pub told: Option<[u64; 4]>,
}

/// Figures of the DRAM of a device, of all of it together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DramFigures {
    /// What its channels have done.
    pub counts: DramCounts,
    /// Bytes that went over its data buses.
    pub bytes: u64,
    /// Time at which the last data ended \[fs\].
    pub last_data_fs: u64,
}

/// The request that stands in front at a port.
#[derive(Debug, Clone, Copy)]
struct MemoryFrontRequest {
    /// What it reaches.
    target: Option<ReachedMemory>,
    /// What it asks of the memory.
    asks: MemoryRequest,
}

/// A port of the device.
struct MemoryPort {
    link: u32,
    rx: In<Message>,
    tx: Out<Message>,
    /// The request that stands in front. Looked up once for each: 130 instructions a flit of `cxl68-expander` less than each time
    /// it is asked for.
    front: Option<MemoryFrontRequest>,
    /// Places of answers whose time has come.
    ready: VecDeque<usize>,
    /// The first answer is ready and has no room, as the trace says.
    is_held: bool,
    /// Its next request waits for the memory or for the arbiter, as the trace says.
    is_waiting: bool,
    requests: u64,
}

impl MemoryPort {
    /// A request as its host knows it.
    fn handle(&self, request: &Message) -> Option<TransactionHandle> {
        let (host, device, tag) = match request {
            // A link has port identifiers or LD-IDs.
            Message::M2sReq(header) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
            Message::M2sRwd(header, _) => (header.spid, header.dpid | u16::from(header.ld_id), header.tag),
            _ => return None,
        };
        Some(cxl_tag(self.link, host, device, tag))
    }
}

/// The device.
pub struct MemoryDevice {
    server: DeviceServer,
    /// How traces spell messages.
    form: MessageForm,
    memory: Box<dyn MemoryBackend<UnderWay>>,
    answers: ItemPlaces<Answer>,
    ports: Vec<MemoryPort>,
    arbiter: Box<dyn Arbiter>,
    /// DRAMs of the memory.
    drams: usize,
    /// Requests that are in flight at most, those included that wait at their ports.
    most: usize,
    /// Reads and writes of the patrol that are in flight.
    patrolling: usize,
    patrol: Option<Patrol>,
    /// The line that the patrol writes back.
    write_back: Option<u64>,
    upsets: Upsets,
    /// Of the bits that flip.
    rng: Rng,
    telemetry: Option<Telemetry>,
    place: String,
    tap: Tap,
    broken: Vec<PlacedViolation>,
    /// By DRAM: rules broken by its commands that stand in `broken`.
    findings: Vec<usize>,
    result: Arc<Mutex<MemoryResult>>,
}

impl MemoryDevice {
    /// A device with the channel ends of its ports; `result` is filled when the run is looked at.
    pub fn new(
        config: DeviceConfig,
        channels: Vec<(In<Message>, Out<Message>)>,
        rng: Rng,
        tap: Tap,
        result: Arc<Mutex<MemoryResult>>,
    ) -> MemoryDevice {
        let DeviceConfig {
            logical,
            logical_bytes,
            timing,
            ports,
            arbiter,
            patrol,
            upsets,
            is_apart,
            telemetry,
            dropped,
            place,
        } = config;
        let routes = ports.iter().map(|(route, _)| *route).collect();
        let port = |((_, link), (rx, tx))| MemoryPort {
            link,
            rx,
            tx,
            front: None,
            ready: VecDeque::new(),
            is_held: false,
            is_waiting: false,
            requests: 0,
        };
        let server = DeviceServer::new(logical, (logical_bytes, is_apart), routes, dropped);
        let most = timing.in_flight;
        let memory = timing.build::<UnderWay>();
        let drams = memory.drams();
        MemoryDevice {
            form: server.shown(),
            server,
            most,
            drams,
            memory,
            answers: ItemPlaces::default(),
            ports: ports.into_iter().zip(channels).map(port).collect(),
            arbiter,
            patrolling: 0,
            patrol,
            write_back: None,
            upsets: Upsets::new(upsets),
            rng,
            telemetry: telemetry.map(Telemetry::new),
            place,
            tap,
            broken: Vec::new(),
            findings: vec![0; drams],
            result,
        }
    }

    /// Answers that are ready and have not left.
    fn ready(&self) -> usize {
        self.ports.iter().map(|port| port.ready.len()).sum()
    }

    /// Looks at the request that stands in front at a port; whether there is one.
    fn look(&mut self, port: usize, cx: &Cx) -> bool {
        let MemoryPort { rx, front, .. } = &mut self.ports[port];
        if front.is_none() {
            *front = rx.peek(cx).map(|request| {
                let target = self.server.target(port, request);
                MemoryFrontRequest { target, asks: self.server.request(target) }
            });
        }
        front.is_some()
    }

    /// Requests that have been taken and whose answers have not left.
    fn queued(&self) -> usize {
        self.memory.in_flight() - self.patrolling + self.ready()
    }

    /// Whether as many requests are in flight as may be.
    fn is_full(&self) -> bool {
        self.queued() >= self.most
    }

    /// The first cycle from which the memory takes a request that stands in front at a port.
    fn takes_at(&self, cycle: u64) -> u64 {
        let mut first = NEVER;
        for front in self.ports.iter().filter_map(|port| port.front.as_ref()) {
            if self.is_full() {
                break;
            }
            first = first.min(self.memory.room_at(cycle, &front.asks).unwrap_or(NEVER));
        }
        first
    }

    /// The port whose request the memory takes in this cycle.
    fn grant(&mut self, cycle: u64) -> Option<usize> {
        if self.is_full() {
            return None;
        }
        // Of one port there is nothing to choose.
        if let [port] = &self.ports[..] {
            return self.has_room(port, cycle).then_some(0);
        }
        let mut asking = Requests::NONE;
        for (n, port) in self.ports.iter().enumerate() {
            if self.has_room(port, cycle) {
                asking.insert(n);
            }
        }
        let port = self.arbiter.arbitrate(&asking)?;
        self.arbiter.update(&asking, port);
        Some(port)
    }

    /// Whether a request stands in front at a port for which the memory has room.
    #[inline]
    fn has_room(&self, port: &MemoryPort, cycle: u64) -> bool {
        port.front.as_ref().is_some_and(|front| self.memory.has_room(cycle, &front.asks))
    }

    /// Says of the next request of a port that it waits, and when it does no more.
    #[inline]
    fn show_waiting(&mut self, port: usize, is_waiting: bool, cx: &Cx, at: Stamp) {
        // Most requests never wait, and a call costs more than the question.
        if is_waiting != self.ports[port].is_waiting {
            self.tell_waiting(port, is_waiting, cx, at);
        }
    }

    #[cold]
    fn tell_waiting(&mut self, port: usize, is_waiting: bool, cx: &Cx, at: Stamp) {
        self.ports[port].is_waiting = is_waiting;
        let front = self.ports[port].rx.peek(cx).copied();
        if let Some(handle) = front.and_then(|request| self.ports[port].handle(&request)) {
            let body = || if is_waiting { Body::Wait { wait: Wait::Room, holder: 0 } } else { Body::Mark(WAIT_OVER) };
            self.tap.named(TransactionNaming::By(handle), at, RecordKind::Mark, 0, 0, body);
        }
    }

    /// The answer to a request; the rules that it breaks are kept.
    fn serve(&mut self, port: usize, request: &Message, target: Option<ReachedMemory>, at: Stamp) -> Option<Message> {
        let answer = self.server.serve(port, request, target);
        for event in &self.server.step.events {
            let address = event.line.map_or_else(String::new, |line| format!(" at {:#x}", line.address()));
            let violation = Violation {
                rule: event.rule,
                at: At::Byte(0),
                found: format!("{}{address}", event.found),
                expected: event.expected.clone(),
                text: event.text(),
            };
            self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
            self.broken.push(PlacedViolation { place: self.place.clone(), violation });
        }
        answer
    }

    /// Lets the memory do what is due; the rules that its commands break are kept.
    fn advance(&mut self, at: Stamp) {
        self.memory.advance(at.cycle);
        for n in 0..self.drams {
            let Some(DramView { findings, .. }) = self.memory.dram(n) else { return };
            let new = &findings[self.findings[n]..];
            self.findings[n] = findings.len();
            for placed in new.iter().map(|finding| violation(finding, &self.place)) {
                self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(placed.violation.clone()));
                self.broken.push(placed);
            }
        }
    }

    /// Sends what has ended, as far as the ports have room.
    fn send(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(UnderWay { answer, .. }) = self.memory.pop(at.cycle) {
            match answer {
                Some(place) => self.ports[self.answers.at(place).port].ready.push_back(place),
                None => self.patrolling -= 1,
            }
        }
        let form = self.form;
        let mut queued = if self.telemetry.is_some() { self.queued() } else { 0 };
        for port in &mut self.ports {
            while !port.ready.is_empty()
                && port.tx.has_room(cx, 1)
                && let Some(place) = port.ready.pop_front()
            {
                let Answer { transaction, message, .. } = self.answers.taken(place);
                if let Some(telemetry) = &mut self.telemetry {
                    tell(telemetry, message, (queued, self.most));
                    queued -= 1;
                }
                self.tap.record(at, RecordKind::End, *transaction, 0, || shown(message, form));
                // Room was asked for before.
                port.tx.push_made(cx, || *message);
                port.is_held = false;
            }
            if let Some(first) = port.ready.front()
                && !port.is_held
            {
                self.tap.wait(at, self.answers.at(*first).transaction, Wait::Link, 0);
                port.is_held = true;
            }
        }
    }

    /// Accounts what telemetry samples.
    fn sample(&mut self, at: Stamp) {
        if let Some(telemetry) = &mut self.telemetry {
            let is_congested = self.ports.iter().any(|port| port.is_held);
            telemetry.pass(at.cycle, is_congested);
        }
    }

    /// Takes a request of a port for which the memory has room.
    fn take(&mut self, port: usize, front: &MemoryFrontRequest, cx: &mut Cx, at: Stamp) {
        let popped = self.ports[port].rx.pop(cx);
        let Some(message) = &popped else { return };
        self.ports[port].requests += 1;
        let transaction = self.tap.new_id();
        let named = self.ports[port].handle(message).map_or(TransactionNaming::Nowhere, TransactionNaming::By);
        let form = self.form;
        self.tap.named(named, at, RecordKind::Begin, transaction, 0, || shown(message, form));
        self.upset(&front.asks);
        match self.serve(port, message, front.target, at) {
            Some(message) => {
                if let Some(telemetry) = &mut self.telemetry {
                    telemetry.taken(message.route().ld_id.into());
                }
                self.tap.wait(at, transaction, Wait::Media, 0);
                let since = cx.now();
                let answer = Some(self.answers.put(Answer { since, port, transaction, message }));
                // Room was asked for before.
                let _ = self.memory.push(at.cycle, &front.asks, UnderWay { since, answer });
            }
            None => self.tap.record(at, RecordKind::End, transaction, 0, || Body::None),
        }
    }

    /// Takes one of the requests that stand in front, if the memory has room for one, and says which of them wait.
    fn take_first(&mut self, cx: &mut Cx, at: Stamp) {
        let granted = self.grant(at.cycle);
        for port in 0..self.ports.len() {
            let is_waiting = self.ports[port].front.is_some() && granted.is_none_or(|winner| winner != port);
            self.show_waiting(port, is_waiting, cx, at);
        }
        let Some(port) = granted else { return };
        let Some(front) = self.ports[port].front.take() else { return };
        self.take(port, &front, cx, at);
        if self.look(port, cx) {
            let is_waiting = self.is_full() || !self.has_room(&self.ports[port], at.cycle);
            self.show_waiting(port, is_waiting, cx, at);
        }
    }

    /// Lets bits of the line of a request flip, if it is time for that.
    fn upset(&mut self, request: &MemoryRequest) {
        if request.bytes == 0 {
            return;
        }
        let rng = &mut self.rng;
        let flipped = self.upsets.before(|below| rng.below(below));
        if !flipped.is_empty() {
            let (store, address) = self.server.store_mut(request.address);
            flipped.into_iter().for_each(|bit| store.flip(address, bit));
        }
    }

    /// Lets the patrol go on, if it may.
    fn patrol(&mut self, has_waiting: bool, cx: &Cx, cycle: u64) {
        let Some(patrol) = &mut self.patrol else { return };
        let (address, access) = match (self.write_back, self.patrolling) {
            (Some(address), 0) => (address, MemoryAccess::Write),
            (None, 0) => match patrol.due(cycle, has_waiting) {
                Some(address) => (address, MemoryAccess::Read),
                None => return,
            },
            _ => return,
        };
        let request = MemoryRequest { address, bytes: LINE_BYTES, access };
        if self.memory.push(cycle, &request, UnderWay { since: cx.now(), answer: None }).is_err() {
            return;
        }
        self.patrolling += 1;
        if self.write_back.take().is_none() {
            patrol.taken(cycle);
            let (store, at) = self.server.store_mut(address);
            self.write_back = store.scrub(at).then_some(address);
        }
    }

    /// The next cycle at which the patrol has something to do.
    fn patrol_at(&self, cycle: u64) -> Option<u64> {
        let patrol = self.patrol.as_ref().filter(|_| self.patrolling == 0)?;
        Some(if self.write_back.is_some() { cycle + 1 } else { patrol.due_at().max(cycle + 1) })
    }

    /// The oldest answer that has not left.
    fn oldest(&self) -> Option<Time> {
        let ready = self.ports.iter().filter_map(|port| port.ready.front()).map(|first| self.answers.at(*first).since);
        let under_way = (self.memory.in_flight() > self.patrolling).then(|| self.memory.oldest()).flatten();
        ready.chain(under_way.map(|under_way| under_way.since)).min()
    }
}

/// Writes into an answer what the device tells of its load.
fn tell(telemetry: &mut Telemetry, message: &mut Message, queue: (usize, usize)) {
    let load = telemetry.answer(message.route().ld_id.into(), queue);
    match message {
        Message::S2mNdr(header) => header.devload = load,
        Message::S2mDrs(header, _) => header.devload = load,
        _ => (),
    }
}

/// A rule that a command of the memory at a place broke.
pub fn violation(finding: &DramFinding, place: &str) -> PlacedViolation {
    let DramFinding { rule, command, found, expected } = finding;
    let violation = Violation {
        rule,
        at: At::Byte(0),
        found: format!("{found}, channel {}", command.place.channel),
        expected: expected.clone(),
        text: scalepool_protocols::rules::find(rule).map_or_else(String::new, |rule| rule.text.to_owned()),
    };
    PlacedViolation { place: place.to_owned(), violation }
}

impl Module for MemoryDevice {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.advance(at);
        self.sample(at);
        self.send(cx, at);
        self.sample(at);
        let mut next = NEVER;
        let mut has_asked = false;
        for port in 0..self.ports.len() {
            has_asked |= self.look(port, cx);
        }
        // Every second time the memory runs to answer alone, and nobody waits to be taken.
        if has_asked {
            self.take_first(cx, at);
            next = self.takes_at(at.cycle);
        }
        if self.patrol.is_some() {
            self.patrol(has_asked, cx, at.cycle);
            next = next.min(self.patrol_at(at.cycle).unwrap_or(NEVER));
        }
        // One that is ready and has no room is woken for by the consumer's pop.
        match next.min(self.memory.wake_at(at.cycle).unwrap_or(NEVER)) {
            NEVER => Next::Idle,
            next if next <= at.cycle => Next::Busy,
            next => Next::In(next - at.cycle),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let answers = self.memory.in_flight() - self.patrolling + self.ready();
        match self.oldest() {
            Some(oldest) => Err(Pending::new(format!("{answers} answers to send"), oldest)),
            None => Ok(()),
        }
    }

    /// A patrol never ends.
    fn is_done(&self) -> bool {
        self.patrol.is_some() && self.oldest().is_none()
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.broken.clone_from(&self.broken);
        result.ecc = self.server.ecc();
        result.told = self.telemetry.as_ref().map(|telemetry| telemetry.told);
        result.buffer = self.memory.buffer();
        result.access_errors = self.server.access_errors;
        result.requests = self.ports.iter().map(|port| port.requests).collect();
        let mut sum: Option<DramFigures> = None;
        for (n, view) in (0..).map_while(|n| Some((n, self.memory.dram(n)?))) {
            let figures = sum.get_or_insert_default();
            figures.counts.add(&view.counts);
            figures.bytes += view.bytes;
            figures.last_data_fs = figures.last_data_fs.max(view.last_data_fs);
            KeptCommands::publish(&mut result.commands, n, &view);
        }
        result.dram = sum;
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("answers", (self.memory.in_flight() - self.patrolling + self.ready()) as u64);
    }
}
