//! The UPLIs of a station: the boundary between an accelerator and the transaction layers of up to four ports.
//!
//! Modelled: two interfaces, signal by signal ([`upli`](scalepool_link::ualink::upli)): on one the accelerator asks and the
//! ports answer for it, on the other the ports hand in the requests of others and the accelerator answers. Time slots of the
//! ports, credits, parity, bursts; drop mode and isolation; a monitor on each interface; faults of parity bits at numbered
//! words. Detail: one clock of the accelerator. Left out: what software does to leave drop mode.
//!
//! A walk through one cycle: transactions from the accelerator and from the ports enter the four queues; both interfaces
//! take a step, their monitors read the wires; what has come out goes on as far as its channel has room. An interface on
//! which nothing is under way rests, and its slots go on by the clock all the same.

use crate::PlacedViolation;
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::ualink::tl::TlClass;
use scalepool_link::ualink::upli::{Cycle, Monitor, Originator, UpliCompleter, UpliConfig, UpliConfigError};
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::ualink::upli::{UpliOrigData, UpliRdRsp, UpliReq, UpliWrRsp};
use scalepool_protocols::wire::{LayoutDef, Violation, Wire};
use scalepool_trace::{Body, PlaceKind, RecordKind, Stamp, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// Words of a UPLI, for waves.
pub const LAYOUTS: &[&LayoutDef] = &[UpliReq::DEF, UpliOrigData::DEF, UpliRdRsp::DEF, UpliWrRsp::DEF];
/// What an interface shows in a wave.
pub const SHOWS: PlaceKind = PlaceKind::Messages(LAYOUTS);
/// Transactions of a port that wait at an interface; the rest waits in the channel.
const DEPTH: usize = 8;
/// Most broken rules that a station keeps one by one.
const MOST_BROKEN: usize = 100;

/// Words whose parity a fault input can spoil.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParityWord {
    /// A request: its control parity.
    Request,
    /// A write response: its control parity.
    Response,
    /// A beat of originator data: its data parity.
    Data,
    /// A beat of a read response: its data parity.
    Read,
}

/// A fault: which word of its kind, counted from 0 as they are driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParityFault {
    /// Kind.
    pub word: ParityWord,
    /// Number.
    pub number: u64,
}

/// Reads `request:N`, `response:N`, `data:N`, `read:N`; `None` for anything else.
pub fn parse(text: &str) -> Option<ParityFault> {
    let (word, number) = text.split_once(':')?;
    let word = match word {
        "request" => ParityWord::Request,
        "response" => ParityWord::Response,
        "data" => ParityWord::Data,
        "read" => ParityWord::Read,
        _ => return None,
    };
    Some(ParityFault { word, number: number.parse().ok()? })
}

/// What a station leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct StationResult {
    /// Words driven: requests, originator data, read responses, write responses.
    pub words: [u64; 4],
    /// Rules broken on the interfaces, as their monitors and their ends see it.
    pub broken: Vec<PlacedViolation>,
    /// All credits were home at the end, on both interfaces.
    pub credits_home: bool,
    /// A port went into drop mode or isolation.
    pub dropped: bool,
}

/// One interface with its monitor.
#[derive(Debug, Clone)]
struct UpliInterface {
    name: String,
    originator: Originator,
    completer: UpliCompleter,
    monitor: Monitor,
    faults: Vec<ParityFault>,
    /// Words so far, in the order of [`StationResult::words`].
    words: [u64; 4],
}

impl UpliInterface {
    fn new(config: UpliConfig) -> Result<UpliInterface, UpliConfigError> {
        Ok(UpliInterface {
            name: String::new(),
            originator: Originator::new(config)?,
            completer: UpliCompleter::new(config)?,
            monitor: Monitor::new(config)?,
            faults: Vec::new(),
            words: [0; 4],
        })
    }

    fn is_quiet(&self) -> bool {
        self.originator.is_quiet() && self.completer.is_quiet()
    }

    /// One cycle: who broke what.
    fn step(&mut self, at: Stamp, tap: &mut Tap) -> Vec<Violation> {
        self.originator.skip_to(at.cycle);
        self.completer.skip_to(at.cycle);
        self.monitor.skip_to(at.cycle);
        let mut wires = Cycle { originator: self.originator.drive(), completer: self.completer.drive() };
        self.spoil(&mut wires);
        show(&wires, at, tap);
        self.originator.sample(&wires.completer);
        self.completer.sample(&wires.originator);
        let mut found = self.monitor.observe(&wires);
        found.extend(self.originator.take_events());
        found.extend(self.completer.take_events());
        for violation in &found {
            tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
        }
        found
    }

    /// Counts words and applies faults.
    fn spoil(&mut self, wires: &mut Cycle) {
        let (request, data) = (&mut wires.originator.request.word, &mut wires.originator.data.word);
        let (read, write) = (&mut wires.completer.rd.word, &mut wires.completer.wr.word);
        let valid = [request.valid, data.valid, read.valid, write.valid];
        for fault in &self.faults {
            let kind = match fault.word {
                ParityWord::Request => 0,
                ParityWord::Data => 1,
                ParityWord::Read => 2,
                ParityWord::Response => 3,
            };
            if !valid[kind] || self.words[kind] != fault.number {
                continue;
            }
            match fault.word {
                ParityWord::Request => request.parity ^= true,
                ParityWord::Data => data.data_parity ^= 1,
                ParityWord::Read => read.data_parity ^= 1,
                ParityWord::Response => write.parity ^= true,
            }
        }
        self.words.iter_mut().zip(valid).for_each(|(count, valid)| *count += u64::from(valid));
    }
}

/// Records the words that stand on the wires.
fn show(wires: &Cycle, at: Stamp, tap: &mut Tap) {
    let Cycle { originator, completer } = wires;
    word(originator.request.word.valid, &originator.request.word, at, tap);
    word(originator.data.word.valid, &originator.data.word, at, tap);
    word(completer.rd.word.valid, &completer.rd.word, at, tap);
    word(completer.wr.word.valid, &completer.wr.word, at, tap);
}

fn word<W: Wire>(valid: bool, word: &W, at: Stamp, tap: &mut Tap) {
    if let (true, Ok(bits)) = (valid, word.to_bits()) {
        tap.record(at, RecordKind::Mark, 0, 0, || Body::Message { layout: W::DEF, bits, data: None });
    }
}

/// Both interfaces of a station, before anything has happened.
#[derive(Debug, Clone)]
pub struct Interfaces {
    /// The accelerator asks.
    asks: UpliInterface,
    /// The accelerator is asked.
    asked: UpliInterface,
}

impl Interfaces {
    /// Both of a kind.
    ///
    /// # Errors
    /// A configuration with which nothing can work.
    pub fn new(config: UpliConfig) -> Result<Interfaces, UpliConfigError> {
        let asks = UpliInterface::new(config)?;
        Ok(Interfaces { asked: asks.clone(), asks })
    }
}

/// Channels of one port, by class.
pub struct Sides {
    /// From the accelerator.
    pub accel_rx: [In<Box<Transfer>>; 2],
    /// To the accelerator.
    pub accel_tx: [Out<Box<Transfer>>; 2],
    /// From the port.
    pub port_rx: [In<Box<Transfer>>; 2],
    /// To the port.
    pub port_tx: [Out<Box<Transfer>>; 2],
}

/// The interfaces of a station.
pub struct Station {
    /// The accelerator asks.
    asks: UpliInterface,
    /// The accelerator is asked.
    asked: UpliInterface,
    sides: Vec<Sides>,
    /// Of both interfaces.
    taps: [Tap; 2],
    mine: StationResult,
    busy_since: Option<Time>,
    result: Arc<Mutex<StationResult>>,
}

impl Station {
    /// A station with the channels of its ports; faults are on the interface on which the accelerator asks.
    pub fn new(
        name: &str,
        interfaces: Interfaces,
        faults: Vec<ParityFault>,
        sides: Vec<Sides>,
        taps: [Tap; 2],
        result: Arc<Mutex<StationResult>>,
    ) -> Station {
        let Interfaces { asks, asked } = interfaces;
        Station {
            asks: UpliInterface { name: format!("{name}.asks"), faults, ..asks },
            asked: UpliInterface { name: format!("{name}.asked"), ..asked },
            sides,
            taps,
            mine: StationResult::default(),
            busy_since: None,
            result,
        }
    }

    fn keep(mine: &mut StationResult, place: &str, found: impl IntoIterator<Item = Violation>) {
        for violation in found {
            if mine.broken.len() < MOST_BROKEN {
                mine.broken.push(PlacedViolation { place: place.to_owned(), violation });
            }
        }
    }

    /// What the interfaces have room for.
    fn enter(&mut self, cx: &mut Cx) {
        let (request, response) = (TlClass::Request.index(), TlClass::Response.index());
        let mut refused = Vec::new();
        for (n, side) in self.sides.iter_mut().enumerate() {
            let port = n as u8;
            for (interface, from) in
                [(&mut self.asks, &mut side.accel_rx[request]), (&mut self.asked, &mut side.port_rx[request])]
            {
                while interface.originator.waiting(port) < DEPTH
                    && let Some(transfer) = from.pop(cx)
                {
                    let entered = interface.originator.submit(port, &transfer);
                    refused.extend(entered.err().map(|error| (interface.name.clone(), error)));
                }
            }
            for (interface, from) in
                [(&mut self.asks, &mut side.port_rx[response]), (&mut self.asked, &mut side.accel_rx[response])]
            {
                while interface.completer.waiting(port) < DEPTH
                    && let Some(transfer) = from.pop(cx)
                {
                    if matches!(&transfer.field, ControlField::Response(rsp) if rsp.status == Status::ISOLATE) {
                        // The port says that its link is down.
                        interface.completer.link_down(port);
                        continue;
                    }
                    let entered = interface.completer.answer(port, &transfer);
                    refused.extend(entered.err().map(|error| (interface.name.clone(), error)));
                }
            }
        }
        for (name, error) in refused {
            let text = "a transaction does not fit the UPLI signals; it is dropped";
            let found = Violation::at_byte("UAL-UPL-01", 0, error, "a transaction that fits its signals", text);
            Station::keep(&mut self.mine, &name, [found]);
        }
    }

    /// What has come out, as far as there is room.
    fn leave(&mut self, cx: &mut Cx) {
        let (request, response) = (TlClass::Request.index(), TlClass::Response.index());
        for (n, side) in self.sides.iter_mut().enumerate() {
            for (interface, to) in
                [(&mut self.asks, &mut side.port_tx[request]), (&mut self.asked, &mut side.accel_tx[request])]
            {
                while to.has_room(cx, 1)
                    && let Some(transfer) = interface.completer.take_of(n as u8)
                {
                    // Room was asked for before.
                    let _ = to.push(cx, Box::new(transfer));
                }
            }
        }
        // Answers leave in the order in which they came over all ports.
        while self.sides.iter().all(|side| side.accel_tx[response].has_room(cx, 1))
            && let Some((port, answer)) = self.asks.originator.take()
        {
            let _ = self.sides[usize::from(port)].accel_tx[response].push(cx, Box::new(answer));
        }
        while self.sides.iter().all(|side| side.port_tx[response].has_room(cx, 1))
            && let Some((port, answer)) = self.asked.originator.take()
        {
            let _ = self.sides[usize::from(port)].port_tx[response].push(cx, Box::new(answer));
        }
    }

    fn is_quiet(&self) -> bool {
        self.asks.is_quiet() && self.asked.is_quiet()
    }
}

impl Module for Station {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        self.enter(cx);
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        for (interface, tap) in [&mut self.asks, &mut self.asked].into_iter().zip(&mut self.taps) {
            if !interface.is_quiet() {
                let found = interface.step(at, tap);
                Station::keep(&mut self.mine, &interface.name, found);
            }
        }
        self.leave(cx);
        let ports = 0..self.sides.len() as u8;
        self.mine.dropped |= { ports }.any(|port| {
            [&self.asks, &self.asked].iter().any(|i| i.completer.is_dropping(port) || i.originator.is_isolated(port))
        });
        let quiet = self.is_quiet();
        self.busy_since = if quiet { None } else { self.busy_since.or(Some(cx.now())) };
        Next::busy_if(!quiet)
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.busy_since {
            Some(since) => Err(Pending::new("transactions at a UPLI", since)),
            None => Ok(()),
        }
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let words = std::array::from_fn(|n| self.asks.words[n] + self.asked.words[n]);
        let credits_home = self.asks.monitor.credits_are_home() && self.asked.monitor.credits_are_home();
        *result = StationResult { words, credits_home, ..self.mine.clone() };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open_tags", (self.asks.monitor.open_tags() + self.asked.monitor.open_tags()) as u64);
    }
}
