//! The end of a CXL.io link as a module of the kernel.
//!
//! Modelled: one unit a flit clock, the faulty wire behind the transmitter, training that takes both ends down, errors of
//! protocol IDs told to those above. Detail: the latency of pipelines and lanes is that of the kernel link between two
//! ports. Left out: what the TLPs mean; NULL units and NOPs that carry nothing; faults of 256B flits.
//!
//! Training takes both ends down, one telling the other, as in [`crate::link::cxl68::port`].
//!
//! A walk through one flit clock: training ends if its time is over; what is due on the wire is received; TLPs that came go
//! up as far as the channel has room, which frees their buffers; TLPs from above go to the link layer; one unit is sent. The
//! timers of the link layer run on until the host says that it is done and the link is at rest.

use super::flits::FlitLine;
use crate::endpoint::config_space::LinkError;
use crate::kernel::{Cx, In, LinkIn, LinkOut, Module, Next, Out, Pending, Time};
use crate::link::arbmux::cxl68::{ArbMux, Client, Entry};
use crate::link::cxlio::{NonFlitEnd, Port as IoPort, Stats, Tlp};
use crate::link::event::{Event, Severity};
use crate::link::fault::FaultyWire;
use crate::trace::{Body, Kind, Stamp, Tap};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::cxl::cxl256::flit::Flit;
use scalepool_protocols::wire::Violation;
use std::sync::{Arc, Mutex, PoisonError};

/// What goes between an agent and its link end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The bytes of a TLP.
    Tlp(Vec<u8>),
    /// Up only: the link saw an error that a Flex Bus port remembers.
    Error(LinkError),
    /// Down only: the host has nothing more to ask.
    Done,
}

/// What travels between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnWire {
    /// A unit as it arrives.
    Unit(Unit),
    /// A 256B flit.
    Flit(Flit),
    /// The sender trains the link.
    Train,
    /// The host has nothing more to ask.
    Done,
}

/// Signals of a port in waves, with their widths in bits.
pub const SIGNALS: &[(&str, u32)] = &[("up", 1), ("unacknowledged", 12), ("sent", 32), ("received", 32)];

/// Protocols of the link: CXL.io alone, so the ARB/MUX is bypassed.
pub const IO_ONLY: Enabled = Enabled { io: true, cachemem: false };

/// Stands where CXL.cachemem would: it logs units whose protocol ID cannot be used.
#[derive(Debug, Clone, Default)]
pub struct PidLog {
    units: u64,
    events: Vec<Event>,
}

impl Client for PidLog {
    fn transmit(&mut self, _now: u64) -> Option<Unit> {
        None
    }

    fn receive(&mut self, unit: &Unit, _now: u64) {
        self.units += 1;
        if let Some(log) = pid::receive(unit.pid(), IO_ONLY).log {
            let found = format!("{:#06x}", unit.pid());
            let violation = Violation::at_byte(log.rule(), 0, found, "an ID of CXL.io", log.text());
            self.events.push(Event { severity: Severity::Retrain, unit: self.units, violation });
        }
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    fn link_reset(&mut self) {}

    fn is_quiet(&self) -> bool {
        true
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }
}

/// A link end in one of the modes.
pub enum Line {
    /// 68B units, with the faults of the transmitter.
    Units(Box<ArbMux<NonFlitEnd, PidLog>>, FaultyWire),
    /// 256B flits.
    Flits(Box<FlitLine>),
}

impl Line {
    /// The link layer of CXL.io.
    fn io(&self) -> &dyn IoPort {
        match self {
            Line::Units(mux, _) => &mux.io,
            Line::Flits(line) => &line.io,
        }
    }

    fn io_mut(&mut self) -> &mut dyn IoPort {
        match self {
            Line::Units(mux, _) => &mut mux.io,
            Line::Flits(line) => &mut line.io,
        }
    }

    /// What leaves in this flit clock: one unit, or, by a fault, none or two.
    fn transmit(&mut self, now: u64) -> Option<[Option<OnWire>; 2]> {
        match self {
            Line::Units(mux, wire) => mux.transmit(now).map(|unit| wire.send(unit).map(|u| u.map(OnWire::Unit))),
            Line::Flits(line) => line.transmit(now).map(|flit| [Some(OnWire::Flit(flit)), None]),
        }
    }

    fn take_events(&mut self) -> Vec<Event> {
        let mut events = match self {
            Line::Units(mux, _) => {
                let mut events = mux.take_events();
                events.append(&mut mux.cachemem.events);
                events
            }
            Line::Flits(line) => line.take_events(),
        };
        events.extend(self.io_mut().take_io_events());
        events
    }

    fn phy_down(&mut self) {
        if let Line::Units(mux, _) = self {
            mux.phy_down();
        }
    }

    fn phy_up(&mut self) {
        if let Line::Units(mux, _) = self {
            mux.phy_up(Entry::Recovery);
        }
    }

    fn take_retrain_request(&mut self) -> bool {
        match self {
            Line::Units(mux, _) => mux.take_retrain_request(),
            Line::Flits(_) => false,
        }
    }

    fn is_quiet(&self) -> bool {
        match self {
            Line::Units(mux, _) => mux.io.is_quiet(),
            Line::Flits(line) => line.is_quiet(),
        }
    }

    /// TLPs in the replay buffer of a 68B link.
    fn unacknowledged(&self) -> usize {
        match self {
            Line::Units(mux, _) => mux.io.unacknowledged(),
            Line::Flits(_) => 0,
        }
    }

    /// Units that the faults have changed.
    fn damaged(&self) -> u64 {
        match self {
            Line::Units(_, wire) => wire.damaged,
            Line::Flits(_) => 0,
        }
    }
}

/// What a port leaves behind for the report of the run.
#[derive(Debug, Clone, Default)]
pub struct PortResult {
    /// Counters.
    pub stats: Stats,
    /// Units sent.
    pub units: u64,
    /// Broken rules of the peer, without what a fault input made and the link repaired.
    pub violations: Vec<Event>,
    /// Units that the fault inputs of its transmitter changed.
    pub damaged: u64,
    /// Times that the link was trained.
    pub trainings: u64,
}

/// Channel ends, wire ends and taps of a port.
pub struct Ports {
    /// From the agent.
    pub tx: In<Item>,
    /// To the agent.
    pub rx: Out<Item>,
    /// To the peer.
    pub wire_out: LinkOut<OnWire>,
    /// From the peer.
    pub wire_in: LinkIn<OnWire>,
    /// Received units.
    pub flits: Tap,
    /// Signals of the link layer.
    pub signals: Tap,
}

/// Inputs of a port besides its ends.
pub struct PortConfig {
    /// Direction of its transmitter.
    pub dir: Dir,
    /// The link end, in L0.
    pub line: Line,
    /// Name of the flit format.
    pub protocol: &'static str,
    /// Faults of either wire are asked for, so the link may have something to repair.
    pub faulty: bool,
    /// Time that training takes \[fs\].
    pub retrain_fs: u64,
    /// Flit clocks from the start for which credits are held back, 0 for none.
    pub hold_credits_flits: u64,
}

/// Training under way.
#[derive(Debug, Clone, Copy)]
struct Training {
    until: Time,
    /// The peer has told that it trains too.
    peer: bool,
}

/// A link end with its place in a simulation.
pub struct Port {
    config: PortConfig,
    ports: Ports,
    /// A TLP that found its queue full.
    held: Option<Tlp>,
    training: Option<Training>,
    /// The host is done; a host's port tells the device's when it has nothing left to send.
    done: bool,
    told: bool,
    shown: [Option<u64>; SIGNALS.len()],
    result: Arc<Mutex<PortResult>>,
    units: u64,
    trainings: u64,
    busy_since: Option<Time>,
}

impl Port {
    /// A port; its counters are in `result` when it is dropped, broken rules as they are seen.
    pub fn new(config: PortConfig, ports: Ports, result: Arc<Mutex<PortResult>>) -> Port {
        Port {
            config,
            ports,
            held: None,
            training: None,
            done: false,
            told: false,
            shown: [None; SIGNALS.len()],
            result,
            units: 0,
            trainings: 0,
            busy_since: None,
        }
    }

    fn train(&mut self, cx: &mut Cx, peer: bool) {
        self.config.line.phy_down();
        self.ports.wire_out.push(cx, OnWire::Train);
        self.training = Some(Training { until: cx.now().plus_fs(self.config.retrain_fs), peer });
        self.trainings += 1;
    }

    /// The peer trains: as an answer to our word, or of itself, also directly behind a training that it has finished.
    fn peer_trains(&mut self, cx: &mut Cx) {
        match &mut self.training {
            Some(training) if !training.peer => training.peer = true,
            _ => self.train(cx, true),
        }
    }

    fn trained(&mut self, now: Time) {
        if self.training.is_some_and(|t| t.peer && now >= t.until) {
            self.training = None;
            self.config.line.phy_up();
        }
    }

    fn show_unit(&mut self, bytes: &[u8], at: Stamp) {
        let (protocol, dir) = (self.config.protocol, self.config.dir.opposite().name());
        self.ports.flits.record(at, Kind::Flit, 0, 0, || Body::Flit { protocol, dir, bytes: bytes.to_vec() });
    }

    /// Whether anything came.
    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let mut some = false;
        while let Some(item) = self.ports.wire_in.pop(cx) {
            some = true;
            match item {
                OnWire::Train => self.peer_trains(cx),
                OnWire::Done => self.done = true,
                // Of before the training; what comes behind it finds this end up, as its time is over first.
                OnWire::Unit(_) | OnWire::Flit(_) if self.training.is_some() => {}
                OnWire::Unit(unit) => {
                    self.show_unit(&unit.0, at);
                    if let Line::Units(mux, _) = &mut self.config.line {
                        mux.receive(&unit, at.cycle);
                    }
                }
                OnWire::Flit(flit) => {
                    self.show_unit(&flit.0, at);
                    if let Line::Flits(line) = &mut self.config.line {
                        line.receive(&flit, at.cycle);
                    }
                }
            }
        }
        some
    }

    /// Tells those above what a Flex Bus port remembers, and keeps events that no fault input explains.
    fn report(&mut self, cx: &mut Cx, at: Stamp) {
        for event in self.config.line.take_events() {
            if let Some(error) = LinkError::of_rule(event.violation.rule)
                && self.ports.rx.has_room(cx, 1)
            {
                let _ = self.ports.rx.push(cx, Item::Error(error));
            }
            let violation = &event.violation;
            self.ports.signals.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            let repaired = self.config.faulty && matches!(event.severity, Severity::Corrected | Severity::Retrain);
            if !repaired {
                self.result.lock().unwrap_or_else(PoisonError::into_inner).violations.push(event);
            }
        }
    }

    fn deliver(&mut self, cx: &mut Cx) {
        while self.ports.rx.has_room(cx, 1) {
            let Some(tlp) = self.config.line.io_mut().pop() else { break };
            let _ = self.ports.rx.push(cx, Item::Tlp(tlp.into_bytes()));
        }
    }

    fn fetch(&mut self, cx: &mut Cx) {
        loop {
            if let Some(tlp) = self.held.take()
                && let Err(refused) = self.config.line.io_mut().push(tlp)
            {
                self.held = Some(refused.tlp);
                return;
            }
            match self.ports.tx.pop(cx) {
                // An agent of this model sends whole TLPs of the form of its link.
                Some(Item::Tlp(bytes)) => self.held = Tlp::new(self.config.line.io().form(), bytes).ok(),
                Some(Item::Done) => self.done = true,
                Some(Item::Error(_)) => {}
                None => return,
            }
        }
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp) {
        if let Some(arrives) = self.config.line.transmit(at.cycle) {
            self.units += 1;
            for unit in arrives.into_iter().flatten() {
                self.ports.wire_out.push(cx, unit);
            }
        }
        if self.config.line.take_retrain_request() {
            self.train(cx, false);
        }
    }

    fn is_quiet(&self) -> bool {
        self.held.is_none() && self.training.is_none() && self.config.line.is_quiet()
    }

    fn show(&mut self, at: Stamp) {
        if !self.ports.signals.is_on() {
            return;
        }
        let io = self.config.line.io();
        let values: [u64; SIGNALS.len()] = [
            io.is_up().into(),
            self.config.line.unacknowledged() as u64,
            io.stats().sent.iter().sum(),
            io.stats().received.iter().sum(),
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

impl Module for Port {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.trained(cx.now());
        let came = self.arrivals(cx, at);
        // At rest nothing happens until something comes, whatever the timers of the link layer say.
        if self.told && !came && self.is_quiet() {
            return Next::Idle;
        }
        self.trained(cx.now());
        self.config.line.io_mut().hold_credits(at.cycle < self.config.hold_credits_flits);
        self.fetch(cx);
        if self.training.is_none() {
            self.send(cx, at);
        }
        self.deliver(cx);
        self.report(cx, at);
        self.show(at);
        let quiet = self.is_quiet();
        self.busy_since = if quiet { None } else { self.busy_since.or(Some(cx.now())) };
        if self.done && quiet && !self.told {
            self.told = true;
            if self.config.dir == Dir::Down {
                self.ports.wire_out.push(cx, OnWire::Done);
            }
        }
        match self.training {
            // Without the peer's word there is nothing to do until it arrives, and that wakes the module.
            Some(training) if training.until > cx.now() => Next::At(training.until),
            Some(_) => Next::Idle,
            None => Next::busy_if(!self.told || !quiet),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        if self.is_quiet() {
            return Ok(());
        }
        let what = format!("the link is not at rest: {} TLPs not acknowledged", self.config.line.unacknowledged());
        Err(Pending::new(what, self.busy_since.unwrap_or(Time::ZERO)))
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("units", self.units);
    }
}

impl Drop for Port {
    /// The simulation is over, however it ended.
    fn drop(&mut self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.stats = *self.config.line.io().stats();
        result.units = self.units;
        result.damaged = self.config.line.damaged();
        result.trainings = self.trainings;
    }
}
