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
use crate::wires::Wires;
use scalepool_protocols::cxl::Dir;

/// A link.
#[derive(Debug, Clone)]
pub struct Pair<C: Client = Cachemem> {
    /// The end that sends down.
    pub host: End<C>,
    /// The end that sends up.
    pub device: End<C>,
    /// The wires between them.
    pub wires: Wires<WireFlit>,
    retrain_flits: u64,
    training: Option<u64>,
    /// Times that the link was trained.
    pub trainings: u64,
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
        Pair { host, device, wires: Wires::new(latency_flits), retrain_flits, training: None, trainings: 0 }
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

    /// Takes the link down for training, whoever wants it.
    pub fn train(&mut self) {
        self.trainings += 1;
        self.wires.clear();
        self.host.phy_down();
        self.device.phy_down();
        self.training = Some(self.wires.now() + self.retrain_flits);
    }

    /// One flit clock.
    pub fn step(&mut self) {
        self.wires.tick();
        let now = self.wires.now();
        if self.training.is_some_and(|until| now >= until) {
            self.training = None;
            self.host.phy_up();
            self.device.phy_up();
        }
        if self.training.is_some() {
            return;
        }
        for dir in Dir::ALL {
            while let Some(wire) = self.wires.arrival(dir) {
                self.receiver(dir).receive(&wire.flit, now);
            }
        }
        for dir in Dir::ALL {
            let sender = self.sender(dir);
            let (mode, flit) = (sender.link().mode, sender.transmit(now));
            self.wires.send(dir, WireFlit { mode, flit });
        }
        // Half a flit clock before a flit is whole its first half is there.
        for dir in Dir::ALL {
            if let Some(wire) = self.wires.coming(dir) {
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
