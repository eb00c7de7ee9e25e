//! An [`End`] as a module of the kernel.
//!
//! Modelled: one unit a flit clock, the faulty wire behind the transmitter, training that takes both ends down. Detail:
//! the latency of pipelines and lanes is the latency of the kernel link between two ports. Left out: what the units mean.
//!
//! A walk through one flit clock: training ends if its time is over; what is due on the wire is received, events are
//! recorded; received messages go to the consumer as far as its channel has room, which frees their buffers; messages of
//! the producer move into the packer; one unit is sent.

use super::coverage::Coverage;
use super::end::{End, Stats};
use super::event::{Event, Severity};
use super::fault::FaultyWire;
use super::retry::Local;
use crate::kernel::{Cx, In, LinkIn, LinkOut, Module, Next, Out, Pending, Time};
use crate::trace::{Body, Kind, Stamp, Tap};
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::stream::Message;
use scalepool_protocols::cxl::cxl68::unit::Unit;
use std::sync::{Arc, Mutex, PoisonError};

/// What travels between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnWire {
    /// A unit.
    Unit {
        /// As it arrives.
        unit: Unit,
        /// A fault input changed it.
        damaged: bool,
    },
    /// The sender trains the link.
    Train,
}

/// Signals of a port in waves, with their widths in bits.
pub const SIGNALS: &[(&str, u32)] = &[
    ("lrsm", 3),
    ("eseq", 8),
    ("num_ack", 9),
    ("num_free_buf", 9),
    ("wr_ptr", 8),
    ("rd_ptr", 8),
    ("credits_waiting", 16),
    ("rollover", 6),
];

/// What a port leaves behind for the report of the run.
#[derive(Debug, Clone, Default)]
pub struct PortResult {
    /// Counters.
    pub stats: Stats,
    /// Broken rules of the peer, without what a fault input made and the link repaired.
    pub violations: Vec<Event>,
    /// Units that the fault inputs of its transmitter changed.
    pub damaged: u64,
    /// Rows of the codec's tables that its receiver has met.
    pub coverage: Coverage,
    /// Times that each row of [`LRSM`](super::retry::LRSM) was taken.
    pub retry_rows: Vec<u64>,
    /// The link has failed.
    pub halted: Option<&'static str>,
}

/// Most messages a class that wait in the packer; the rest waits in the producer's channel.
const PACKER_DEPTH: usize = 16;

/// Channel ends, wire ends and taps of a port.
pub struct Ports {
    /// Messages to send.
    pub tx: In<Message>,
    /// Messages received.
    pub rx: Out<Message>,
    /// To the peer.
    pub wire_out: LinkOut<OnWire>,
    /// From the peer.
    pub wire_in: LinkIn<OnWire>,
    /// Received units.
    pub flits: Tap,
    /// Signals of the link layer.
    pub signals: Tap,
}

/// A link end with its place in a simulation.
pub struct Port {
    end: End,
    ports: Ports,
    wire: FaultyWire,
    retrain_fs: u64,
    training_until: Option<Time>,
    hold_until_flits: u64,
    shown: [Option<u64>; SIGNALS.len()],
    result: Arc<Mutex<PortResult>>,
    busy_since: Option<Time>,
}

/// Inputs of a port besides its ends.
pub struct PortConfig {
    /// The link end.
    pub end: End,
    /// Faults of its transmitter.
    pub wire: FaultyWire,
    /// Time that training takes \[fs\].
    pub retrain_fs: u64,
    /// Flit clocks from the start for which credits are held back, 0 for none.
    pub hold_credits_flits: u64,
}

impl Port {
    /// A port; its counters are in `result` when it is dropped, broken rules as they are seen.
    pub fn new(config: PortConfig, ports: Ports, result: Arc<Mutex<PortResult>>) -> Port {
        Port {
            end: config.end,
            ports,
            wire: config.wire,
            retrain_fs: config.retrain_fs,
            training_until: None,
            hold_until_flits: config.hold_credits_flits,
            shown: [None; SIGNALS.len()],
            result,
            busy_since: None,
        }
    }

    fn train(&mut self, now: Time) {
        self.end.phy_down();
        self.training_until = Some(now.plus_fs(self.retrain_fs));
    }

    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(item) = self.ports.wire_in.pop(cx) {
            match item {
                OnWire::Train => self.train(cx.now()),
                OnWire::Unit { unit, damaged } => {
                    self.ports.flits.record(at, Kind::Flit, 0, 0, || Body::Flit {
                        protocol: "cxl-68b",
                        dir: self.end.config().dir.opposite().name(),
                        bytes: unit.0.to_vec(),
                    });
                    self.end.receive(&unit, at.cycle);
                    let events = self.end.take_events();
                    self.report(events, damaged, at);
                }
            }
        }
    }

    /// Keeps events, without those that a fault input made and that training or correction repairs.
    fn report(&mut self, events: Vec<Event>, damaged: bool, at: Stamp) {
        for event in events {
            let repaired = damaged && matches!(event.severity, Severity::Corrected | Severity::Retrain);
            let violation = &event.violation;
            self.ports.signals.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            if !repaired {
                let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
                result.violations.push(event);
            }
        }
    }

    fn deliver(&mut self, cx: &mut Cx) {
        while self.end.next_class().is_some() && self.ports.rx.has_room(cx, 1) {
            let Some(message) = self.end.take() else { break };
            if self.ports.rx.push(cx, message).is_err() {
                break;
            }
        }
    }

    fn fetch(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(message) = self.ports.tx.peek(cx)
            && self.end.waiting(message.class) < PACKER_DEPTH
        {
            let Some(message) = self.ports.tx.pop(cx) else { break };
            if let Err(refused) = self.end.send(message) {
                // A producer of this model sends legal messages only; what it did wrong is shown, not hidden.
                let text = refused.to_string();
                let event = Event {
                    severity: Severity::Protocol,
                    unit: 0,
                    violation: super::event::finding("CXL68-MSG-13", "an illegal message", "a legal one", &text),
                };
                self.report(vec![event], false, at);
            }
        }
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp) {
        if let Some(unit) = self.end.transmit(at.cycle) {
            let damaged_before = self.wire.damaged;
            for arrives in self.wire.send(unit).into_iter().flatten() {
                let damaged = self.wire.damaged != damaged_before;
                self.ports.wire_out.push(cx, OnWire::Unit { unit: arrives, damaged });
            }
        }
        let events = self.end.take_events();
        self.report(events, false, at);
        if self.end.take_retrain_request() && self.training_until.is_none() {
            self.ports.wire_out.push(cx, OnWire::Train);
            self.train(cx.now());
        }
    }

    fn show(&mut self, at: Stamp) {
        if !self.ports.signals.is_on() {
            return;
        }
        let buffer = self.end.buffer();
        let lrsm = Local::ALL.iter().position(|&s| s == self.end.local().state).unwrap_or(0) as u64;
        let values: [u64; SIGNALS.len()] = [
            lrsm,
            self.end.eseq().into(),
            self.end.num_ack().into(),
            buffer.num_free().into(),
            buffer.wr_ptr().into(),
            buffer.rd_ptr().into(),
            self.end.credits().pending().into(),
            self.end.rollover() as u64,
        ];
        for (n, value) in values.into_iter().enumerate() {
            if self.shown[n] != Some(value) {
                self.shown[n] = Some(value);
                let signal = SIGNALS[n].0;
                self.ports.signals.record(at, Kind::Value, 0, 0, || Body::Value { signal, value });
            }
        }
    }
}

impl Drop for Port {
    /// The simulation is over, however it ended.
    fn drop(&mut self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.stats = *self.end.stats();
        result.damaged = self.wire.damaged;
        result.coverage = self.end.coverage().clone();
        result.retry_rows.clone_from(&self.end.local().rows_taken);
        result.halted = self.end.halted();
    }
}

impl Module for Port {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        if self.training_until.is_some_and(|until| cx.now() >= until) {
            self.training_until = None;
            self.end.phy_up();
        }
        self.end.hold_credits(at.cycle < self.hold_until_flits);
        self.arrivals(cx, at);
        self.deliver(cx);
        self.fetch(cx, at);
        if self.training_until.is_none() {
            self.send(cx, at);
        }
        self.show(at);
        self.busy_since = if self.end.is_quiet() { None } else { self.busy_since.or(Some(cx.now())) };
        if let Some(until) = self.training_until {
            return Next::At(until);
        }
        let mut wakes_at = self.end.wakes_at(at.cycle);
        if at.cycle < self.hold_until_flits {
            wakes_at = Some(wakes_at.unwrap_or(u64::MAX).min(self.hold_until_flits));
        }
        match wakes_at {
            Some(cycle) if cycle <= at.cycle + 1 => Next::Busy,
            Some(cycle) => Next::At(cx.in_cycles(cycle - at.cycle)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let since = self.busy_since.unwrap_or(Time::ZERO);
        match self.end.halted() {
            Some(rule) => Err(Pending::new(format!("the link has stopped ({rule})"), since)),
            None if self.end.is_quiet() => Ok(()),
            None => {
                let waiting: usize = Class::ALL.iter().map(|&c| self.end.waiting(c)).sum();
                let what = format!(
                    "{waiting} messages to send, {} received and not taken, LRSM {}, {} credits to return",
                    self.end.inbox_len(),
                    self.end.local().state.name(),
                    self.end.credits().pending()
                );
                Err(Pending::new(what, since))
            }
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("num_free_buf", self.end.buffer().num_free().into());
        visit("num_ack", self.end.num_ack().into());
        visit("eseq", self.end.eseq().into());
    }
}
