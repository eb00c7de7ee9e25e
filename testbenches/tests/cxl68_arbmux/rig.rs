//! Two ports with both protocols, the wires between them and a physical layer that does what they ask.
//!
//! Modelled: a latency, faults, recovery that loses what is on the wires, L1 and L2 entered when both ports ask for them
//! and left when one asks for Active. A walk through [`Rig::step`]: training ends, units arrive, both ports send, the
//! physical layer looks at what the ports ask. CXL.io units carry a number, so that loss and order show.

use scalepool::kernel::Rng;
use scalepool::link::arbmux::cxl68::almp::{self, Says};
use scalepool::link::arbmux::cxl68::table::{Vlsm68Move, check_move};
use scalepool::link::arbmux::cxl68::{ArbMux, ArbMuxConfig, IoQueue, PhysicalLinkEntry};
use scalepool::link::arbmux::{ArbMuxInstance, Ask, State};
use scalepool::link::cxl68::fault::{Fault, FaultyWire};
use scalepool::link::cxl68::{Cxl68End, EndConfig, LinkEvent, Severity};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq, S2mNdr};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::stream::Cxl68Message;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES};
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

pub type Port = ArbMux<IoQueue, Cxl68End>;

/// Flit clocks that a unit is under way.
pub const LATENCY_FLITS: u64 = 12;
/// Flit clocks that training takes.
pub const RETRAIN_FLITS: u64 = 40;
/// Flit clocks of silence that a Request for a power state bears.
pub const PATIENCE_FLITS: u64 = 100;

/// What the physical layer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phy {
    L0,
    Sleeps(State),
    Trains { until: u64, entry: PhysicalLinkEntry },
}

pub struct Rig {
    pub host: Port,
    pub device: Port,
    pub phy: Phy,
    pub now: u64,
    pub trainings: u64,
    /// Every unit sent: flit clock, direction, unit.
    pub log: Vec<(u64, Dir, Cxl68Unit)>,
    pub events: Vec<(Dir, LinkEvent)>,
    pub moves: Vec<(Dir, ArbMuxInstance, Vlsm68Move)>,
    /// Levels of sleep that the physical layer has entered.
    pub slept: Vec<State>,
    wires: [FaultyWire; 2],
    in_flight: [VecDeque<(u64, Cxl68Unit)>; 2],
    io_sent: [u64; 2],
}

/// The sheet's time-out of 4096 flits only costs time.
fn link() -> Cxl68Config {
    Cxl68Config { timeout_flits: 256, ..Cxl68Config::default() }
}

pub fn config(dir: Dir) -> ArbMuxConfig {
    ArbMuxConfig { pm_patience_flits: PATIENCE_FLITS, ..ArbMuxConfig::new(dir, link()) }
}

fn wire(faults: Vec<Fault>) -> FaultyWire {
    FaultyWire::new(faults, 0.0, Rng::from_seed(1))
}

/// A CXL.io unit with a number.
pub fn io_unit(number: u64) -> Cxl68Unit {
    let mut payload = [0; PAYLOAD_BYTES];
    payload[..8].copy_from_slice(&number.to_le_bytes());
    Cxl68Unit::plain(pid::IO, &payload)
}

pub fn number_of(unit: &Cxl68Unit) -> u64 {
    u64::from_le_bytes(unit.payload()[..8].try_into().expect("8 bytes"))
}

pub fn kind(unit: &Cxl68Unit) -> PidKind {
    pid::receive(unit.pid(), Enabled::ALL).accept.expect("a unit of ours").kind
}

fn side(dir: Dir) -> usize {
    usize::from(dir == Dir::Up)
}

impl Rig {
    pub fn with(host: ArbMuxConfig, device: ArbMuxConfig) -> Rig {
        let end = |c: &ArbMuxConfig| {
            let mut end = EndConfig::mem(c.dir, c.link, 512);
            end.enabled = c.enabled;
            Cxl68End::new(end).expect("a legal configuration")
        };
        Rig {
            host: ArbMux::new(host, IoQueue::default(), end(&host)),
            device: ArbMux::new(device, IoQueue::default(), end(&device)),
            phy: Phy::Trains { until: 1, entry: PhysicalLinkEntry::First },
            now: 0,
            trainings: 0,
            log: Vec::new(),
            events: Vec::new(),
            moves: Vec::new(),
            slept: Vec::new(),
            wires: [wire(Vec::new()), wire(Vec::new())],
            in_flight: Default::default(),
            io_sent: [0; 2],
        }
    }

    pub fn new() -> Rig {
        Rig::with(config(Dir::Down), config(Dir::Up))
    }

    /// A link that is Active for both protocols and whose link layers are up.
    pub fn active() -> Rig {
        let mut rig = Rig::new();
        rig.ask_both(ArbMuxInstance::Io, Some(Ask::Active));
        rig.ask_both(ArbMuxInstance::Cachemem, Some(Ask::Active));
        rig.run(300);
        rig.assert_states(State::Active, State::Active);
        assert!(rig.host.cachemem.is_up() && rig.device.cachemem.is_up());
        rig.assert_no_events();
        rig
    }

    pub fn port(&mut self, dir: Dir) -> &mut Port {
        match dir {
            Dir::Down => &mut self.host,
            Dir::Up => &mut self.device,
        }
    }

    pub fn ask_both(&mut self, instance: ArbMuxInstance, ask: Option<Ask>) {
        self.host.ask(instance, ask);
        self.device.ask(instance, ask);
    }

    pub fn state(&mut self, dir: Dir, instance: ArbMuxInstance) -> State {
        self.port(dir).vlsm(instance).state()
    }

    /// Puts faults into the units of a direction, counted from the next one.
    pub fn faults(&mut self, dir: Dir, faults: Vec<Fault>) {
        self.wires[side(dir)] = wire(faults);
    }

    /// An ALMP that the port of a direction did not send arrives at its peer at once.
    pub fn inject(&mut self, dir: Dir, instance: ArbMuxInstance, says: Says) {
        self.inject_unit(dir, &almp::unit(instance, says));
    }

    pub fn inject_unit(&mut self, dir: Dir, unit: &Cxl68Unit) {
        let now = self.now;
        self.port(dir.opposite()).receive(unit, now);
        self.collect();
    }

    /// Recovery of both ports.
    pub fn train(&mut self) {
        self.down(Phy::Trains { until: self.now + RETRAIN_FLITS, entry: PhysicalLinkEntry::Recovery });
        self.trainings += 1;
    }

    fn down(&mut self, to: Phy) {
        self.in_flight = Default::default();
        self.host.phy_down();
        self.device.phy_down();
        self.phy = to;
    }

    pub fn step(&mut self) {
        self.now += 1;
        let now = self.now;
        if let Phy::Trains { until, entry } = self.phy
            && now >= until
        {
            self.phy = Phy::L0;
            self.host.phy_up(entry);
            self.device.phy_up(entry);
        }
        for dir in Dir::ALL {
            while self.in_flight[side(dir)].front().is_some_and(|u| u.0 <= now) {
                if let Some((_, unit)) = self.in_flight[side(dir)].pop_front() {
                    self.port(dir.opposite()).receive(&unit, now);
                }
            }
        }
        if self.phy == Phy::L0 {
            for dir in Dir::ALL {
                if let Some(unit) = self.port(dir).transmit(now) {
                    self.log.push((now, dir, unit));
                    let arrivals = self.wires[side(dir)].send(unit);
                    let due = now + LATENCY_FLITS;
                    self.in_flight[side(dir)].extend(arrivals.into_iter().flatten().map(|u| (due, u)));
                }
            }
        }
        self.collect();
        self.physical_layer();
    }

    fn physical_layer(&mut self) {
        let wanted = [self.host.take_retrain_request(), self.device.take_retrain_request()];
        let asked = [self.host.phy_request(), self.device.phy_request()];
        let sleepy = asked[0] == asked[1]
            && matches!(asked[0], State::L1(_) | State::L2)
            && self.in_flight.iter().all(VecDeque::is_empty);
        match self.phy {
            Phy::L0 if wanted.contains(&true) => self.train(),
            Phy::L0 if sleepy => {
                self.down(Phy::Sleeps(asked[0]));
                self.slept.push(asked[0]);
            }
            Phy::Sleeps(level) if asked.contains(&State::Active) => {
                let entry = if level == State::L2 { PhysicalLinkEntry::First } else { PhysicalLinkEntry::Recovery };
                self.phy = Phy::Trains { until: self.now + RETRAIN_FLITS, entry };
            }
            _ => (),
        }
    }

    fn collect(&mut self) {
        for dir in Dir::ALL {
            let (events, moves) = (self.port(dir).take_events(), self.port(dir).take_moves());
            self.events.extend(events.into_iter().map(|e| (dir, e)));
            self.moves.extend(moves.into_iter().map(|(i, m)| (dir, i, m)));
        }
    }

    pub fn run(&mut self, flits: u64) {
        (0..flits).for_each(|_| self.step());
    }

    /// CXL.io units queued at a port, numbered in order.
    pub fn send_io(&mut self, dir: Dir, count: u64) {
        for _ in 0..count {
            let number = self.io_sent[side(dir)];
            self.io_sent[side(dir)] += 1;
            self.port(dir).io.outgoing.push_back(io_unit(number));
        }
    }

    /// A message of CXL.mem queued at a port.
    pub fn send_mem(&mut self, dir: Dir, tag: u16) {
        let message = match dir {
            Dir::Down => Cxl68Message::new(Class::M2sReq, M2sReq { tag, ..M2sReq::default() }.to_bits().expect("fits")),
            Dir::Up => Cxl68Message::new(Class::S2mNdr, S2mNdr { tag, ..S2mNdr::default() }.to_bits().expect("fits")),
        };
        self.port(dir).cachemem.send(message).expect("a legal message");
    }

    /// Units of both protocols each way, all delivered, each once, in order.
    pub fn assert_traffic(&mut self) {
        for dir in Dir::ALL {
            self.port(dir.opposite()).io.incoming.clear();
            let first = self.io_sent[side(dir)];
            self.send_io(dir, 20);
            (0..20).for_each(|tag| self.send_mem(dir, tag));
            self.run(250);
            let peer = self.port(dir.opposite());
            let numbers: Vec<u64> = peer.io.incoming.iter().map(number_of).collect();
            assert_eq!(numbers, (first..first + 20).collect::<Vec<_>>(), "CXL.io {dir:?}");
            let mut tags = Vec::new();
            while let Some(m) = peer.cachemem.take() {
                tags.push(if dir == Dir::Down { M2sReq::from_bits(m.bits).tag } else { S2mNdr::from_bits(m.bits).tag });
            }
            assert_eq!(tags, (0..20).collect::<Vec<u16>>(), "CXL.mem {dir:?}");
            self.run(100);
        }
        assert!(self.host.cachemem.halted().is_none() && self.device.cachemem.halted().is_none());
    }

    pub fn assert_states(&mut self, io: State, cachemem: State) {
        for dir in Dir::ALL {
            assert_eq!(self.state(dir, ArbMuxInstance::Io), io, "CXL.io {dir:?}");
            assert_eq!(self.state(dir, ArbMuxInstance::Cachemem), cachemem, "CXL.cachemem {dir:?}");
        }
    }

    /// No event, and every change of state has a row.
    pub fn assert_no_events(&self) {
        assert!(self.events.is_empty(), "{}", self.events[0].1);
        self.assert_legal_moves();
    }

    pub fn assert_legal_moves(&self) {
        for (dir, instance, made) in &self.moves {
            assert_eq!(check_move(made), None, "{dir:?} {instance:?}");
        }
    }

    /// Nothing but requests for recovery was reported.
    pub fn assert_no_errors(&self) {
        assert!(self.events.iter().all(|(_, e)| e.severity == Severity::Retrain), "{:?}", self.events);
        self.assert_legal_moves();
    }

    pub fn saw(&self, dir: Dir, rule: &str, severity: Severity) -> bool {
        self.events.iter().any(|(d, e)| *d == dir && e.violation.rule == rule && e.severity == severity)
    }

    /// ALMPs of the log for an instance: direction and content.
    pub fn almps(&self, instance: ArbMuxInstance) -> Vec<(Dir, Says)> {
        let of = |&(_, dir, ref unit): &(u64, Dir, Cxl68Unit)| {
            let (i, says) = (kind(unit) == PidKind::Almp).then(|| almp::read(unit).expect("a legal ALMP"))?;
            (i == instance).then_some((dir, says))
        };
        self.log.iter().filter_map(of).collect()
    }
}
