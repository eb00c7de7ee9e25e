//! Two ports with both protocols over numbered links, and a physical layer that does what they ask.
//!
//! Modelled: a latency, recovery that loses what is on the wires and that the numbers repair, L1 and L2 entered when both
//! ports ask for them and left when one asks for Active, flits that take longer on fewer lanes. A walk through
//! [`Rig::step`]: training ends, flits arrive, both ends send, the physical layer looks at what the ports ask. Payload is
//! opaque and numbered, so that loss and order show.
//!
//! In every step the rig holds the ports to their own word: a port that said that it has nothing to do before a flit clock
//! sends nothing of its own before that.

use scalepool::link::arbmux::cxl256::almp::{self, AlmpContent, Says};
use scalepool::link::arbmux::cxl256::l0p::check_width;
use scalepool::link::arbmux::cxl256::state::check_move;
use scalepool::link::arbmux::cxl256::{ArbMux, ArbMuxConfig, State, Vlsm256Move, WidthMove};
use scalepool::link::arbmux::{self, ArbMuxInstance, Ask};
use scalepool::link::cxl256::Layer;
use scalepool::link::cxl256::client::{Client, FlitPart};
use scalepool::link::cxl256::{Cxl256End, LinkConfig};
use scalepool::link::event::LinkEvent;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use std::collections::VecDeque;

pub type Port = ArbMux<Queue, Queue>;

/// Flit clocks that a flit is under way.
pub const LATENCY_FLITS: u64 = 12;
/// Flit clocks that training takes.
pub const RETRAIN_FLITS: u64 = 40;
/// Flit clocks of silence that a Request for a power state bears.
pub const PATIENCE_FLITS: u64 = 150;
/// Flit clocks that one waits for permission.
pub const REFUSAL_FLITS: u64 = 40;

/// A link layer of opaque, numbered payload: whatever is queued travels, whatever arrives is kept.
#[derive(Debug, Clone)]
pub struct Queue {
    flit_type: FlitType,
    pub outgoing: VecDeque<u64>,
    pub incoming: Vec<u64>,
    pub resets: u64,
    pub dllps: Vec<[u8; 4]>,
    pub dllp: Option<[u8; 4]>,
}

impl Queue {
    pub fn new(flit_type: FlitType) -> Queue {
        let (outgoing, incoming, dllps) = Default::default();
        Queue { flit_type, outgoing, incoming, resets: 0, dllps, dllp: None }
    }
}

/// A payload flit with a number.
pub fn payload(flit_type: FlitType, number: u64) -> Cxl256Flit {
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&FlitHeader { flit_type, ..FlitHeader::default() }).expect("fits");
    flit.0[2..10].copy_from_slice(&number.to_le_bytes());
    flit
}

impl Layer for Queue {}

impl Client for Queue {
    type Flit = Cxl256Flit;

    fn transmit(&mut self, _now_flits: u64) -> Option<Cxl256Flit> {
        self.outgoing.pop_front().map(|number| payload(self.flit_type, number))
    }

    fn receive(&mut self, flit: &Cxl256Flit, part: FlitPart, _now_flits: u64) {
        if part == FlitPart::Even {
            return;
        }
        self.incoming.push(u64::from_le_bytes(flit.0[2..10].try_into().expect("8 bytes")));
    }

    fn dllp(&mut self, _now_flits: u64) -> Option<[u8; 4]> {
        self.dllp
    }

    fn receive_dllp(&mut self, bytes: [u8; 4], _now_flits: u64) {
        if bytes != [0; 4] {
            self.dllps.push(bytes);
        }
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    fn link_reset(&mut self) {
        self.outgoing.clear();
        self.resets += 1;
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }

    fn is_quiet(&self) -> bool {
        self.outgoing.is_empty()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        (!self.outgoing.is_empty()).then_some(now_flits + 1)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Vec::new()
    }
}

/// What the physical layer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phy {
    L0,
    Sleeps(arbmux::State),
    Trains { until: u64, reset: bool },
}

/// What an end said about its next flit clock of work.
#[derive(Debug, Clone, Copy)]
struct Word {
    wakes_at: Option<u64>,
    delivered: u64,
    almps_and_payload: u64,
}

pub struct Rig {
    pub host: Cxl256End<Port>,
    pub device: Cxl256End<Port>,
    pub phy: Phy,
    pub now: u64,
    /// Flit clocks of the full width.
    pub time: u64,
    pub trainings: u64,
    /// Every new payload and ALMP sent: flit clock, direction, flit.
    pub log: Vec<(u64, Dir, Cxl256Flit)>,
    pub events: Vec<(Dir, LinkEvent)>,
    pub moves: Vec<(Dir, ArbMuxInstance, Vlsm256Move)>,
    pub widths: Vec<(Dir, WidthMove)>,
    /// Levels of sleep that the physical layer has entered.
    pub slept: Vec<arbmux::State>,
    /// Leaves out NOPs that the ends say they need not send.
    pub skips: bool,
    pub left_out: u64,
    in_flight: [VecDeque<(u64, Cxl256Flit)>; 2],
    /// Payload given, by direction and instance.
    pub given: [[u64; 2]; 2],
    words: [Option<Word>; 2],
}

pub fn config(dir: Dir) -> ArbMuxConfig {
    ArbMuxConfig {
        pm_patience_flits: PATIENCE_FLITS,
        pm_refusal_flits: Some(REFUSAL_FLITS),
        ..ArbMuxConfig::new(dir, Mode::Standard)
    }
}

pub fn port(config: ArbMuxConfig) -> Port {
    ArbMux::new(config, Queue::new(FlitType::Io), Queue::new(FlitType::Cachemem))
}

pub fn side(dir: Dir) -> usize {
    usize::from(dir == Dir::Up)
}

impl Rig {
    pub fn with(host: ArbMuxConfig, device: ArbMuxConfig) -> Rig {
        let end = |config| Cxl256End::new(LinkConfig { mode: Mode::Standard, ..LinkConfig::default() }, port(config));
        Rig {
            host: end(host),
            device: end(device),
            phy: Phy::L0,
            now: 0,
            time: 0,
            trainings: 0,
            log: Vec::new(),
            events: Vec::new(),
            moves: Vec::new(),
            widths: Vec::new(),
            slept: Vec::new(),
            skips: false,
            left_out: 0,
            in_flight: Default::default(),
            given: [[0; 2]; 2],
            words: [None; 2],
        }
    }

    pub fn new() -> Rig {
        Rig::with(config(Dir::Down), config(Dir::Up))
    }

    /// A link that is Active for both protocols.
    pub fn active_with(host: ArbMuxConfig, device: ArbMuxConfig) -> Rig {
        let mut rig = Rig::with(host, device);
        rig.ask_all(Some(Ask::Active));
        rig.run(100);
        rig.assert_states(State::Active, State::Active);
        rig.assert_no_events();
        rig
    }

    pub fn active() -> Rig {
        Rig::active_with(config(Dir::Down), config(Dir::Up))
    }

    fn end(&mut self, dir: Dir) -> &mut Cxl256End<Port> {
        match dir {
            Dir::Down => &mut self.host,
            Dir::Up => &mut self.device,
        }
    }

    /// The port that sends in a direction; whoever touches it may give it work.
    pub fn port(&mut self, dir: Dir) -> &mut Port {
        self.words[side(dir)] = None;
        &mut self.end(dir).client
    }

    pub fn queue(&mut self, dir: Dir, instance: ArbMuxInstance) -> &mut Queue {
        let port = self.port(dir);
        match instance {
            ArbMuxInstance::Io => &mut port.io,
            ArbMuxInstance::Cachemem => &mut port.cachemem,
        }
    }

    pub fn ask(&mut self, dir: Dir, instance: ArbMuxInstance, ask: Option<Ask>) {
        self.port(dir).ask(instance, ask);
    }

    pub fn ask_both(&mut self, instance: ArbMuxInstance, ask: Option<Ask>) {
        Dir::ALL.into_iter().for_each(|dir| self.ask(dir, instance, ask));
    }

    pub fn ask_all(&mut self, ask: Option<Ask>) {
        ArbMuxInstance::ALL.into_iter().for_each(|instance| self.ask_both(instance, ask));
    }

    pub fn state(&mut self, dir: Dir, instance: ArbMuxInstance) -> State {
        self.end(dir).client.vlsm(instance).state()
    }

    /// Payload queued at a port, numbered in order.
    pub fn give(&mut self, dir: Dir, instance: ArbMuxInstance, count: u64) {
        for _ in 0..count {
            let number = self.given[side(dir)][instance.index()];
            self.given[side(dir)][instance.index()] += 1;
            self.queue(dir, instance).outgoing.push_back(number);
        }
    }

    /// Payload that has come in a direction since the last call.
    pub fn taken(&mut self, dir: Dir, instance: ArbMuxInstance) -> Vec<u64> {
        std::mem::take(&mut self.queue(dir.opposite(), instance).incoming)
    }

    /// A flit that the port of a direction did not send arrives at its peer at once.
    pub fn inject_flit(&mut self, dir: Dir, flit: &Cxl256Flit) {
        let now = self.now;
        self.port(dir.opposite()).receive(flit, FlitPart::Whole, now);
        self.collect();
    }

    pub fn inject(&mut self, dir: Dir, instance: ArbMuxInstance, says: Says) {
        self.inject_flit(dir, &almp::flit(AlmpContent::Vlsm(instance, says)));
    }

    /// Recovery of both ports.
    pub fn train(&mut self) {
        self.down(Phy::Trains { until: self.now + RETRAIN_FLITS, reset: false });
    }

    /// The link goes through its down state.
    pub fn reset(&mut self) {
        self.down(Phy::Trains { until: self.now + RETRAIN_FLITS, reset: true });
    }

    fn down(&mut self, to: Phy) {
        self.in_flight = Default::default();
        self.trainings += u64::from(matches!(to, Phy::Trains { .. }));
        if self.phy == Phy::L0 {
            self.host.phy_down();
            self.device.phy_down();
        }
        self.words = [None; 2];
        self.phy = to;
    }

    fn up(&mut self, reset: bool) {
        self.phy = Phy::L0;
        self.words = [None; 2];
        for dir in Dir::ALL {
            if reset {
                self.end(dir).link_reset();
            }
            self.end(dir).phy_up();
        }
    }

    pub fn step(&mut self) {
        self.now += 1;
        self.time += self.host.client.l0p().flit_clocks().max(self.device.client.l0p().flit_clocks());
        let now = self.now;
        if let Phy::Trains { until, reset } = self.phy
            && now >= until
        {
            self.up(reset);
        }
        if self.phy == Phy::L0 {
            Dir::ALL.into_iter().for_each(|dir| self.arrivals(dir));
            Dir::ALL.into_iter().for_each(|dir| self.send(dir));
            self.collect();
            for dir in Dir::ALL {
                self.words[side(dir)] = Some(self.word(dir));
            }
        }
        self.physical_layer();
    }

    fn arrivals(&mut self, dir: Dir) {
        let now = self.now;
        while self.in_flight[side(dir)].front().is_some_and(|f| f.0 <= now) {
            if let Some((_, flit)) = self.in_flight[side(dir)].pop_front() {
                self.end(dir.opposite()).receive(&flit, now);
            }
        }
    }

    fn send(&mut self, dir: Dir) {
        let now = self.now;
        let word = self.words[side(dir)];
        let rests = |at: Option<u64>| at.is_none_or(|at| at > now);
        if self.skips && rests(self.end(dir).wakes_at(now - 1)) {
            self.left_out += 1;
            return;
        }
        let before = self.end(dir).stats().sent_payload;
        let flit = self.end(dir).transmit(now);
        if self.end(dir).stats().sent_payload > before {
            self.log.push((now, dir, flit));
        }
        self.in_flight[side(dir)].push_back((now + LATENCY_FLITS, flit));
        let is = self.word(dir);
        if let Some(said) = word
            && said.delivered == is.delivered
            && rests(said.wakes_at)
        {
            assert_eq!(said.almps_and_payload, is.almps_and_payload, "{dir:?} at {now} after {said:?}");
            let moved = self.port(dir).take_moves();
            assert_eq!(moved, [], "{dir:?} at {now} after {said:?}");
        }
    }

    fn word(&mut self, dir: Dir) -> Word {
        let now = self.now;
        let end = self.end(dir);
        let stats = end.client.stats();
        Word {
            wakes_at: end.client.wakes_at(now),
            delivered: end.stats().delivered,
            almps_and_payload: stats.almps_sent + stats.sent[0] + stats.sent[1],
        }
    }

    fn physical_layer(&mut self) {
        let wanted = [self.host.take_retrain_request(), self.device.take_retrain_request()];
        let asked = [self.host.client.phy_request(), self.device.client.phy_request()];
        let acknowledged =
            self.host.transmitter().unacknowledged() == 0 && self.device.transmitter().unacknowledged() == 0;
        let low = matches!(asked[0], arbmux::State::L1(_) | arbmux::State::L2);
        match self.phy {
            Phy::L0 if wanted.contains(&true) => self.train(),
            Phy::L0 if low && asked[0] == asked[1] && acknowledged => {
                self.down(Phy::Sleeps(asked[0]));
                self.slept.push(asked[0]);
            }
            Phy::Sleeps(level) if asked.contains(&arbmux::State::Active) => {
                let reset = level == arbmux::State::L2;
                self.phy = Phy::Trains { until: self.now + RETRAIN_FLITS, reset };
            }
            _ => (),
        }
    }

    fn collect(&mut self) {
        for dir in Dir::ALL {
            let end = self.end(dir);
            let (events, moves, widths) = (end.take_events(), end.client.take_moves(), end.client.take_width_moves());
            self.events.extend(events.into_iter().map(|e| (dir, e)));
            self.moves.extend(moves.into_iter().map(|(i, m)| (dir, i, m)));
            self.widths.extend(widths.into_iter().map(|m| (dir, m)));
        }
    }

    pub fn run(&mut self, flits: u64) {
        (0..flits).for_each(|_| self.step());
    }

    /// Payload of both protocols each way, all delivered, each once, in order; then all is quiet.
    pub fn assert_traffic(&mut self) {
        for dir in Dir::ALL {
            for instance in ArbMuxInstance::ALL {
                self.taken(dir, instance);
                self.give(dir, instance, 20);
            }
        }
        self.run(120);
        for dir in Dir::ALL {
            for instance in ArbMuxInstance::ALL {
                let end = self.given[side(dir)][instance.index()];
                assert_eq!(self.taken(dir, instance), (end - 20..end).collect::<Vec<_>>(), "{dir:?} {instance:?}");
            }
        }
        assert!(self.host.client.is_quiet() && self.device.client.is_quiet());
    }

    pub fn assert_states(&mut self, io: State, cachemem: State) {
        for dir in Dir::ALL {
            assert_eq!(self.state(dir, ArbMuxInstance::Io), io, "CXL.io {dir:?}");
            assert_eq!(self.state(dir, ArbMuxInstance::Cachemem), cachemem, "CXL.cachemem {dir:?}");
        }
    }

    /// No event, and every change has a row.
    pub fn assert_no_events(&self) {
        assert!(self.events.is_empty(), "{:?} {}", self.events[0].0, self.events[0].1);
        for (dir, instance, made) in &self.moves {
            assert_eq!(check_move(made), None, "{dir:?} {instance:?}");
        }
        for (dir, made) in &self.widths {
            assert_eq!(check_width(made), None, "{dir:?}");
        }
    }

    pub fn rules(&self, dir: Dir) -> Vec<&'static str> {
        self.events.iter().filter(|e| e.0 == dir).map(|e| e.1.violation.rule).collect()
    }

    /// ALMPs of the log: direction and content.
    pub fn almps(&self) -> Vec<(Dir, AlmpContent)> {
        let almps = self.log.iter().filter(|f| f.2.header().flit_type == FlitType::Almp);
        almps.map(|&(_, dir, ref flit)| (dir, almp::read(flit).expect("a legal ALMP"))).collect()
    }

    /// Those about an instance.
    pub fn says(&self, instance: ArbMuxInstance) -> Vec<(Dir, Says)> {
        let of = |(dir, content)| match content {
            AlmpContent::Vlsm(i, says) if i == instance => Some((dir, says)),
            _ => None,
        };
        self.almps().into_iter().filter_map(of).collect()
    }

    /// Those of a direction.
    pub fn said(&self, dir: Dir, instance: ArbMuxInstance) -> Vec<Says> {
        self.says(instance).into_iter().filter(|s| s.0 == dir).map(|s| s.1).collect()
    }
}
