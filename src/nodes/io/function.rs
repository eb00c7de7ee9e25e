//! The device: a completer and a power management agent behind one link end, or one of each for every logical device.
//!
//! Modelled: logical devices by the LD-ID in front of each TLP (`fabric` IOR-5), each with a configuration space, memory and an agent of
//! its own; a device that is one may use memory of its peers by unordered I/O ([`UioAccesses`]), from when it is the master of its bus on.
//! Left out: the logical device of the fabric manager.
//!
//! A walk through one cycle: what is due leaves, answers first, then what the agent has to say; then everything that came
//! is taken. A request takes effect at once and its completions become due after the latency of the device.

use super::tlps::{self, IoRequestNames};
use super::uio::{UioAccessResult, UioAccesses};
use scalepool_endpoint::completer::Completer;
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::pm::{Happened, PmAgent};
use scalepool_endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::io_ends::IoItem;
use scalepool_memory::backend::{MemoryBackend, MemoryRequest, MemoryTiming};
use scalepool_trace::{RecordKind, Stamp, Tap, TransactionNaming, Wait};
use std::sync::{Arc, Mutex, PoisonError};

/// What the device leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct FunctionResult {
    /// What did not go as it should.
    pub events: Vec<EndpointEvent>,
    /// Configuration and memory requests served.
    pub requests: u64,
    /// Completions sent.
    pub completions: u64,
    /// TLPs for logical devices that are not there, which were dropped.
    pub unknown_ld: u64,
    /// What it asked of others by UIO; `None`: it asks for nothing.
    pub uio: Option<UioAccessResult>,
}

/// A logical device, or the whole device.
pub struct LogicalFunction {
    /// LD-ID in front of its TLPs; `None`: it is the only one, and there is no such prefix.
    pub ld: Option<u16>,
    /// What answers requests.
    pub completer: Completer,
    /// Its agent of power management.
    pub agent: PmAgent,
}

/// An answer that is not due yet.
struct Answer {
    id: u64,
    /// The last one of its request.
    last: bool,
    since: Time,
    /// LD-ID in front of it.
    ld: Option<u16>,
    bytes: Vec<u8>,
}

/// The device.
pub struct Function {
    logical: Vec<LogicalFunction>,
    form: TlpForm,
    /// What the host asks for, for traces.
    requests: IoRequestNames,
    /// The first answer is due and has no room, as the trace says.
    is_held: bool,
    /// Keeps the time of every answer; what it answers is registers and memory alike, so it has no banks.
    answers: Box<dyn MemoryBackend<Answer>>,
    /// What it asks of others by UIO.
    uio: Option<UioAccesses>,
    rx: In<IoItem>,
    tx: Out<IoItem>,
    tap: Tap,
    result: Arc<Mutex<FunctionResult>>,
    mine: FunctionResult,
}

impl Function {
    /// A device that answers after `latency_cycles`; `requests` are those of its link.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        logical: Vec<LogicalFunction>,
        form: TlpForm,
        latency_cycles: u64,
        requests: IoRequestNames,
        rx: In<IoItem>,
        tx: Out<IoItem>,
        tap: Tap,
        result: Arc<Mutex<FunctionResult>>,
    ) -> Function {
        let (answers, mine) = (MemoryTiming::fixed(latency_cycles).build(), FunctionResult::default());
        let is_held = false;
        Function { logical, form, requests, is_held, answers, uio: None, rx, tx, tap, result, mine }
    }

    /// The device, which makes these accesses by UIO.
    pub fn asking(self, uio: Option<UioAccesses>) -> Function {
        Function { uio, ..self }
    }

    /// What its accesses of UIO have to say: completions that do not come, and requests, if it is the master of its bus.
    fn ask(&mut self, cx: &mut Cx, at: Stamp) {
        let (Some(uio), [own]) = (&mut self.uio, &self.logical[..]) else { return };
        uio.expire(&mut self.tap, at);
        if !own.completer.space().passes_up() {
            return;
        }
        uio.learns(own.completer.id());
        while self.tx.has_room(cx, 1)
            && let Some(bytes) = uio.next(cx.now(), &mut self.tap, at)
        {
            // Room was asked for before.
            let _ = self.tx.push(cx, IoItem::Tlp(bytes));
        }
    }

    /// The bytes of a TLP of ours: every field of it comes from a TLP of the same form, so it has some.
    fn bytes_of(&mut self, tlp: &Tlp) -> Option<Vec<u8>> {
        tlp.encode(self.form).map_err(|e| self.mine.events.push(e.into())).ok()
    }

    /// What the agents have to say.
    fn next_message(&mut self) -> Option<(Option<u16>, Tlp)> {
        self.logical.iter_mut().find_map(|one| Some((one.ld, one.agent.next_message()?)))
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp) {
        while self.answers.is_ready(at.cycle)
            && self.tx.has_room(cx, 1)
            && let Some(answer) = self.answers.pop(at.cycle)
        {
            self.is_held = false;
            let (kind, form) = (if answer.last { RecordKind::End } else { RecordKind::Mark }, self.form);
            self.tap.record(at, kind, answer.id, 0, || match answer.last {
                true => tlps::body(&answer.bytes, form),
                false => scalepool_trace::Body::Mark("part"),
            });
            self.mine.completions += 1;
            // Room was asked for before.
            let _ = self.tx.push(cx, IoItem::Tlp(tlps::with_ld(answer.ld, answer.bytes)));
        }
        if let Some(answer) = self.answers.first().filter(|_| self.answers.is_ready(at.cycle) && !self.is_held) {
            self.tap.wait(at, answer.id, Wait::Link, 0);
            self.is_held = true;
        }
        while self.tx.has_room(cx, 1) {
            let Some((ld, message)) = self.next_message() else { break };
            let Some(bytes) = self.bytes_of(&message) else { break };
            let (id, form) = (self.tap.new_id(), self.form);
            self.tap.record(at, RecordKind::Begin, id, 0, || tlps::body(&bytes, form));
            self.tap.record(at, RecordKind::End, id, 0, || scalepool_trace::Body::None);
            let _ = self.tx.push(cx, IoItem::Tlp(tlps::with_ld(ld, bytes)));
        }
    }

    fn take(&mut self, bytes: &[u8], cx: &mut Cx, at: Stamp) {
        let (ld, bytes) = tlps::without_ld(bytes);
        let tlp = match Tlp::decode(bytes, self.form) {
            Ok(tlp) => tlp,
            Err(error) => {
                self.mine.events.push(error.into());
                return;
            }
        };
        if let (TlpKind::UioCompletion { .. }, Some(uio)) = (&tlp.kind, &mut self.uio) {
            uio.receive(&tlp, bytes.to_vec(), &mut self.tap, at);
            cx.progress();
            return;
        }
        let named = TransactionNaming::By(self.requests.handle_of(ld, &tlp));
        let Some(n) = self.logical.iter().position(|one| one.ld == ld) else {
            self.mine.unknown_ld += 1;
            return;
        };
        let own = &mut self.logical[n];
        if own.agent.receive(&tlp, at.cycle) {
            if own.agent.take_happened().contains(&Happened::Ready) {
                own.completer.space_mut().pm_init_complete();
            }
            return;
        }
        let (id, form) = (self.tap.new_id(), self.form);
        self.tap.named(named, at, RecordKind::Begin, id, 0, || tlps::body(bytes, form));
        self.mine.requests += 1;
        let answers = self.logical[n].completer.receive(&tlp);
        if answers.is_empty() || tlp.is_completion() {
            self.tap.record(at, RecordKind::End, id, 0, || scalepool_trace::Body::None);
        } else {
            self.tap.wait(at, id, Wait::Media, 0);
        }
        let count = answers.len();
        for (k, answer) in answers.into_iter().enumerate() {
            let Some(bytes) = self.bytes_of(&answer) else { continue };
            // A latency without limits always has room.
            let answer = Answer { id, last: k + 1 == count, since: cx.now(), ld, bytes };
            let _ = self.answers.push(at.cycle, &MemoryRequest::NONE, answer);
        }
    }
}

impl Module for Function {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some(item) = self.rx.pop(cx) {
            match item {
                IoItem::Tlp(bytes) => self.take(&bytes, cx, at),
                IoItem::Error(error) => self.logical.iter_mut().for_each(|one| one.completer.space_mut().note(error)),
                IoItem::Done => {}
            }
        }
        self.logical.iter_mut().for_each(|one| one.agent.expire(at.cycle));
        self.send(cx, at);
        self.ask(cx, at);
        for one in &mut self.logical {
            self.mine.events.extend(one.completer.take_events());
            self.mine.events.extend(one.agent.take_events());
        }
        // An answer that is due and has no room is woken by the consumer's pop.
        let ready = self.answers.ready_at().filter(|ready| *ready > at.cycle);
        let asks = self.uio.as_ref().and_then(|uio| uio.due(at.cycle));
        match ready.into_iter().chain(asks).min() {
            Some(cycle) => Next::In(cycle - at.cycle),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.answers.first() {
            Some(answer) => {
                Err(Pending::new(format!("{} completions to send", self.answers.in_flight()), answer.since))
            }
            None if !self.logical.iter().all(|one| one.agent.is_quiet()) => {
                Err(Pending::new("power management messages to send", Time::ZERO))
            }
            None => self.uio.as_ref().and_then(UioAccesses::pending).map_or(Ok(()), Err),
        }
    }

    fn publish(&self) {
        let uio = self.uio.as_ref().map(UioAccesses::result);
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = FunctionResult { uio, ..self.mine.clone() };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("answers", self.answers.in_flight() as u64);
    }
}
