//! The device: a completer and a power management agent behind one link end.
//!
//! A walk through one cycle: what is due leaves, answers first, then what the agent has to say; then everything that came
//! is taken. A request takes effect at once and its completions become due after the latency of the device.

use super::tlps::{self, IoRequestNames};
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
}

/// An answer that is not due yet.
struct Answer {
    id: u64,
    /// The last one of its request.
    last: bool,
    since: Time,
    bytes: Vec<u8>,
}

/// The device.
pub struct Function {
    completer: Completer,
    agent: PmAgent,
    form: TlpForm,
    /// What the host asks for, for traces.
    requests: IoRequestNames,
    /// The first answer is due and has no room, as the trace says.
    is_held: bool,
    /// Keeps the time of every answer; what it answers is registers and memory alike, so it has no banks.
    answers: Box<dyn MemoryBackend<Answer>>,
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
        completer: Completer,
        agent: PmAgent,
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
        Function { completer, agent, form, requests, is_held, answers, rx, tx, tap, result, mine }
    }

    /// The bytes of a TLP of ours: every field of it comes from a TLP of the same form, so it has some.
    fn bytes_of(&mut self, tlp: &Tlp) -> Option<Vec<u8>> {
        tlp.encode(self.form).map_err(|e| self.mine.events.push(e.into())).ok()
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
            let _ = self.tx.push(cx, IoItem::Tlp(answer.bytes));
        }
        if let Some(answer) = self.answers.first().filter(|_| self.answers.is_ready(at.cycle) && !self.is_held) {
            self.tap.wait(at, answer.id, Wait::Link, 0);
            self.is_held = true;
        }
        while self.tx.has_room(cx, 1) {
            let Some(message) = self.agent.next_message() else { break };
            let Some(bytes) = self.bytes_of(&message) else { break };
            let (id, form) = (self.tap.new_id(), self.form);
            self.tap.record(at, RecordKind::Begin, id, 0, || tlps::body(&bytes, form));
            self.tap.record(at, RecordKind::End, id, 0, || scalepool_trace::Body::None);
            let _ = self.tx.push(cx, IoItem::Tlp(bytes));
        }
    }

    fn take(&mut self, bytes: &[u8], cx: &Cx, at: Stamp) {
        let tlp = match Tlp::decode(bytes, self.form) {
            Ok(tlp) => tlp,
            Err(error) => {
                self.mine.events.push(error.into());
                return;
            }
        };
        let named = TransactionNaming::By(self.requests.handle(&tlp));
        if self.agent.receive(&tlp, at.cycle) {
            if self.agent.take_happened().contains(&Happened::Ready) {
                self.completer.space_mut().pm_init_complete();
            }
            return;
        }
        let (id, form) = (self.tap.new_id(), self.form);
        self.tap.named(named, at, RecordKind::Begin, id, 0, || tlps::body(bytes, form));
        self.mine.requests += 1;
        let answers = self.completer.receive(&tlp);
        if answers.is_empty() || matches!(tlp.kind, TlpKind::Completion { .. }) {
            self.tap.record(at, RecordKind::End, id, 0, || scalepool_trace::Body::None);
        } else {
            self.tap.wait(at, id, Wait::Media, 0);
        }
        let n = answers.len();
        for (k, answer) in answers.into_iter().enumerate() {
            let Some(bytes) = self.bytes_of(&answer) else { continue };
            // A latency without limits always has room.
            let answer = Answer { id, last: k + 1 == n, since: cx.now(), bytes };
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
                IoItem::Error(error) => self.completer.space_mut().note(error),
                IoItem::Done => {}
            }
        }
        self.agent.expire(at.cycle);
        self.send(cx, at);
        self.mine.events.extend(self.completer.take_events());
        self.mine.events.extend(self.agent.take_events());
        match self.answers.ready_at() {
            Some(ready) if ready > at.cycle => Next::In(ready - at.cycle),
            // Due and no room: the consumer's pop wakes us.
            _ => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.answers.first() {
            Some(answer) => {
                Err(Pending::new(format!("{} completions to send", self.answers.in_flight()), answer.since))
            }
            None if !self.agent.is_quiet() => Err(Pending::new("power management messages to send", Time::ZERO)),
            None => Ok(()),
        }
    }

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.mine);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("answers", self.answers.in_flight() as u64);
    }
}
