//! Two ends and the wires between them, without a kernel: for vectors and for tests of the link layer alone.
//!
//! Modelled: one flit a flit clock in each direction, a latency in flit clocks, faults, training that takes a stated time
//! and loses what is on the wires. A walk through [`Pair::step`]: flits that are due arrive, both ends send, the even
//! halves of the flits that arrive next come, a request to train takes the link down.

use super::cachemem::Cachemem;
use super::client::Client;
use super::config::{CachememConfig, LinkConfig};
use super::end::End;
use super::fault::WireFlit;
use crate::link::fault::{FaultyWire, Lane};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::flit::Flit;

/// A flit as it was sent, before any fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Flit clock of transmission.
    pub at: u64,
    /// Direction.
    pub dir: Dir,
    /// The flit.
    pub flit: Flit,
}

/// A link.
#[derive(Debug, Clone)]
pub struct Pair<C: Client = Cachemem> {
    /// The end that sends down.
    pub host: End<C>,
    /// The end that sends up.
    pub device: End<C>,
    down: Lane<WireFlit>,
    up: Lane<WireFlit>,
    latency_flits: u64,
    retrain_flits: u64,
    training: Option<u64>,
    now: u64,
    /// Times that the link was trained.
    pub trainings: u64,
    log: Option<Vec<Seen>>,
}

impl Pair {
    /// A link with CXL.cachemem at both ends, see [`Pair::new`].
    pub fn cachemem(
        link: LinkConfig,
        host: CachememConfig,
        device: CachememConfig,
        latency_flits: u64,
        retrain_flits: u64,
    ) -> Pair {
        Pair::new(End::cachemem(link, host), End::cachemem(link, device), latency_flits, retrain_flits)
    }
}

impl<C: Client> Pair<C> {
    /// A link whose wires take `latency_flits` (at least 1) and whose training takes `retrain_flits`.
    pub fn new(host: End<C>, device: End<C>, latency_flits: u64, retrain_flits: u64) -> Pair<C> {
        Pair {
            host,
            device,
            down: Lane::clean(),
            up: Lane::clean(),
            latency_flits: latency_flits.max(1),
            retrain_flits,
            training: None,
            now: 0,
            trainings: 0,
            log: None,
        }
    }

    /// Puts a faulty wire into a direction.
    pub fn set_wire(&mut self, dir: Dir, wire: FaultyWire) {
        self.lane(dir).wire = wire;
    }

    /// Flits that arrived changed.
    pub fn damaged(&self) -> u64 {
        self.down.wire.damaged + self.up.wire.damaged
    }

    /// Flits of which FEC and CRC did not tell that they had changed.
    pub fn undetected(&self) -> u64 {
        self.down.wire.undetected + self.up.wire.undetected
    }

    /// Keeps every flit that is sent from now on.
    pub fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// Flits sent since [`Pair::keep_log`] or the last call.
    pub fn take_log(&mut self) -> Vec<Seen> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Flit clocks so far.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The end that transmits in a direction.
    pub fn sender(&mut self, dir: Dir) -> &mut End<C> {
        match dir {
            Dir::Down => &mut self.host,
            Dir::Up => &mut self.device,
        }
    }

    /// The end that receives a direction.
    pub fn receiver(&mut self, dir: Dir) -> &mut End<C> {
        self.sender(dir.opposite())
    }

    fn lane(&mut self, dir: Dir) -> &mut Lane<WireFlit> {
        match dir {
            Dir::Down => &mut self.down,
            Dir::Up => &mut self.up,
        }
    }

    /// Takes the link down for training, whoever wants it.
    pub fn train(&mut self) {
        self.trainings += 1;
        self.down.clear();
        self.up.clear();
        self.host.phy_down();
        self.device.phy_down();
        self.training = Some(self.now + self.retrain_flits);
    }

    /// One flit clock.
    pub fn step(&mut self) {
        self.now += 1;
        if self.training.is_some_and(|until| self.now >= until) {
            self.training = None;
            self.host.phy_up();
            self.device.phy_up();
        }
        if self.training.is_some() {
            return;
        }
        let (now, due) = (self.now, self.now + self.latency_flits);
        for dir in Dir::ALL {
            while let Some(wire) = self.lane(dir).arrival(now) {
                self.receiver(dir).receive(&wire.flit, now);
            }
        }
        for dir in Dir::ALL {
            let sender = self.sender(dir);
            let (mode, flit) = (sender.link().mode, sender.transmit(now));
            self.lane(dir).send(WireFlit { mode, flit }, due);
            if let Some(log) = &mut self.log {
                log.push(Seen { at: now, dir, flit });
            }
        }
        // Half a flit clock before a flit is whole its first half is there.
        for dir in Dir::ALL {
            if let Some(wire) = self.lane(dir).coming(now + 1) {
                self.receiver(dir).receive_even(&wire.flit, now);
            }
        }
        let wanted = [self.host.take_retrain_request(), self.device.take_retrain_request()];
        if wanted.contains(&true) {
            self.train();
        }
    }

    /// Steps until both ends are quiet. `false`: still busy after `limit_flits`.
    pub fn drain(&mut self, limit_flits: u64) -> bool {
        for _ in 0..limit_flits {
            if self.is_quiet() {
                return true;
            }
            self.step();
        }
        self.is_quiet()
    }

    /// Whether nothing but NOPs is under way.
    pub fn is_quiet(&self) -> bool {
        self.host.is_quiet() && self.device.is_quiet() && self.training.is_none()
    }
}
