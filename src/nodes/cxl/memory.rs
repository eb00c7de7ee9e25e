//! The expander: a CXL Type 3 device with host-managed memory (HDM-H).
//!
//! Modelled: requests served in order of arrival, one a cycle, each after a fixed latency. What is answered is the business
//! of the device of the coherence engine ([`HdmH`]), the one that the chapter 14 tests judge, over a store with real bytes, byte
//! enables and poison; a message that is in no row of its table breaks that row's rule and gets no answer. Left out: DRAM
//! banks and refresh, stored meta values, DevLoad other than light load.
//!
//! A walk through one cycle: answers whose time has come leave as far as the channel has room; one request is taken, and
//! applied to the store at once, so requests to one line take effect in order of arrival.

use super::shown;
use crate::Broken;
use scalepool_coherence::agent::Out as Step;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{Line, LineAddr};
use scalepool_coherence::mem::HdmH;
use scalepool_coherence::mem::backing::Backing;
use scalepool_coherence::wire::{Route, from_link};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_memory::store::Store;
use scalepool_protocols::cxl::message::{Form, Message};
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::{Body, Kind, Stamp, Tap};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How the device is built.
pub struct DeviceConfig {
    /// Backing store.
    pub store: Store,
    /// Request to answer \[cycles of its clock\].
    pub latency_cycles: u64,
    /// Most requests that it holds.
    pub queue: usize,
    /// Its port, where the link routes by ports; else 0.
    pub port: u16,
    /// How its link spells messages, for traces.
    pub form: Form,
    /// Its name, for what breaks a rule.
    pub place: String,
}

/// A store of bytes as the memory of the agent.
struct Bytes(Store);

impl Backing<Line> for Bytes {
    fn value(&self, line: LineAddr) -> Line {
        let stored = self.0.read_line(line.address());
        Line { bytes: stored.data, poison: stored.poison }
    }

    fn merge(&mut self, line: LineAddr, data: &Line, enables: u64) {
        self.0.write_line(line.address(), &data.bytes, enables, data.poison);
    }
}

/// The device.
pub struct Device {
    agent: HdmH<Line, Bytes>,
    /// Choices of the agent.
    choices: CoherenceConfig,
    step: Step<Line>,
    latency_cycles: u64,
    queue: usize,
    port: u16,
    form: Form,
    place: String,
    /// Answers with the cycle at which they may leave, transaction and time of arrival.
    answers: VecDeque<(u64, u64, Time, Message)>,
    rx: In<Message>,
    tx: Out<Message>,
    tap: Tap,
    broken: Vec<Broken>,
    result: Arc<Mutex<Vec<Broken>>>,
}

impl Device {
    /// A device with its channel ends; `result` is filled with the rules that requests broke, when the run is looked at.
    pub fn new(
        config: DeviceConfig,
        rx: In<Message>,
        tx: Out<Message>,
        tap: Tap,
        result: Arc<Mutex<Vec<Broken>>>,
    ) -> Device {
        let DeviceConfig { store, latency_cycles, queue, port, form, place } = config;
        Device {
            agent: HdmH::over(Bytes(store)),
            choices: CoherenceConfig::default(),
            step: Step::default(),
            latency_cycles,
            queue,
            port,
            form,
            place,
            answers: VecDeque::new(),
            rx,
            tx,
            tap,
            broken: Vec::new(),
            result,
        }
    }

    /// The answer to a request, after its effect on the store; `None` where there is none: a hint, a request that breaks a rule,
    /// or one for another port, which stays open at the host.
    fn serve(&mut self, message: &Message, at: Stamp) -> Option<Message> {
        let (ld_id, spid, dpid) = match message {
            Message::M2sReq(header) => (header.ld_id, header.spid, header.dpid),
            Message::M2sRwd(header, _) => (header.ld_id, header.spid, header.dpid),
            _ => (0, 0, self.port),
        };
        if dpid != self.port {
            return None;
        }
        self.step.clear();
        self.agent.serve(&self.choices, from_link(message), &mut self.step);
        for event in &self.step.events {
            let address = event.line.map_or_else(String::new, |line| format!(" at {:#x}", line.address()));
            let violation = Violation {
                rule: event.rule,
                at: At::Byte(0),
                found: format!("{}{address}", event.found),
                expected: event.expected.clone(),
                text: event.text(),
            };
            self.tap.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            self.broken.push(Broken { place: self.place.clone(), violation });
        }
        let route = Route { ld_id, dpid: spid, ..Route::default() };
        self.step.sends.first().map(|(_, answer)| route.to_link(answer))
    }
}

impl Module for Device {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while let Some((due, id, _, answer)) = self.answers.front()
            && *due <= at.cycle
            && self.tx.has_room(cx, 1)
        {
            let (id, answer) = (*id, *answer);
            self.tap.record(at, Kind::End, id, 0, || shown(&answer, self.form));
            if self.tx.push(cx, answer).is_err() {
                break;
            }
            self.answers.pop_front();
        }
        if self.answers.len() < self.queue
            && let Some(request) = self.rx.pop(cx)
        {
            let id = self.tap.new_id();
            self.tap.record(at, Kind::Begin, id, 0, || shown(&request, self.form));
            if let Some(answer) = self.serve(&request, at) {
                self.answers.push_back((at.cycle + self.latency_cycles, id, cx.now(), answer));
            }
        }
        if self.rx.is_due(cx) && self.answers.len() < self.queue {
            return Next::Busy;
        }
        match self.answers.front() {
            Some((due, ..)) if *due > at.cycle => Next::At(cx.in_cycles(due - at.cycle)),
            // Due and no room: the consumer's pop wakes us.
            _ => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.answers.front() {
            Some((_, _, since, _)) => Err(Pending::new(format!("{} answers to send", self.answers.len()), *since)),
            None => Ok(()),
        }
    }

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.broken);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("answers", self.answers.len() as u64);
    }
}
