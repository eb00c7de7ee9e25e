//! Two link ends and the wires between them, without a kernel: for vectors and for tests of a link layer alone.
//!
//! Modelled: one unit a flit clock in each direction, NOPs that say nothing included; a latency in flit clocks, faults,
//! training that takes a stated time and loses what is on the wires. A walk through [`Pair::step`]: units that are due arrive,
//! both ends send, the even halves of the units that arrive next come, a request to train takes the link down.

use crate::port::LinkEnd;
use crate::wires::LinkWires;
use scalepool_protocols::cxl::Dir;

/// What stands beside the ends of a [`Pair`] and sees every unit.
pub trait Beside<U> {
    /// A unit was sent in a direction.
    fn sent(&mut self, dir: Dir, unit: &U, now_flits: u64);

    /// A unit of a direction arrives; its end takes it next.
    fn received(&mut self, dir: Dir, unit: &U, now_flits: u64);

    /// The link trains.
    fn trained(&mut self);
}

impl<U> Beside<U> for () {
    fn sent(&mut self, _: Dir, _: &U, _: u64) {}
    fn received(&mut self, _: Dir, _: &U, _: u64) {}
    fn trained(&mut self) {}
}

/// What a wire of the caller does to a unit: which end sends it (0 is the host), the flit clock, the unit; `None`: it is lost.
pub type WireFunction<'a, U> = dyn FnMut(usize, u64, U) -> Option<U> + 'a;

/// A link between two ends. Where both are alike, the host is the one that sends down.
#[derive(Debug, Clone)]
pub struct Pair<E: LinkEnd, B = ()> {
    /// The end that sends down.
    pub host: E,
    /// The end that sends up.
    pub device: E,
    /// The wires between them.
    pub wires: LinkWires<E::Unit>,
    /// Times that the link was trained.
    pub trainings: u64,
    /// Cut: nothing arrives any more.
    pub cut: bool,
    /// What sees every unit.
    pub beside: B,
    retrain_flits: u64,
    training: Option<u64>,
}

impl<E: LinkEnd, B: Beside<E::Unit> + Default> Pair<E, B> {
    /// A link whose wires take `latency_flits` (at least 1) and whose training takes `retrain_flits`.
    pub fn of(host: E, device: E, latency_flits: u64, retrain_flits: u64) -> Pair<E, B> {
        Pair {
            host,
            device,
            wires: LinkWires::new(latency_flits),
            trainings: 0,
            cut: false,
            beside: B::default(),
            retrain_flits,
            training: None,
        }
    }

    /// The end that transmits in a direction.
    pub fn sender(&mut self, dir: Dir) -> &mut E {
        match dir {
            Dir::Down => &mut self.host,
            Dir::Up => &mut self.device,
        }
    }

    /// The end that receives a direction.
    pub fn receiver(&mut self, dir: Dir) -> &mut E {
        self.sender(dir.opposite())
    }

    /// Hands a unit to the receiver of a direction at once, as if it came off the wire.
    pub fn inject(&mut self, dir: Dir, unit: &E::Unit) {
        let now = self.wires.now();
        self.beside.received(dir, unit, now);
        self.receiver(dir).receive(unit, now);
    }

    /// Takes the link down for training, whoever wants it.
    pub fn train(&mut self) {
        self.trainings += 1;
        self.wires.clear();
        self.ends_mut().into_iter().for_each(E::phy_down);
        self.beside.trained();
        self.training = Some(self.wires.now() + self.retrain_flits);
    }

    /// Both ends, the host first.
    pub fn ends(&self) -> [&E; 2] {
        [&self.host, &self.device]
    }

    /// The same, to be changed.
    pub fn ends_mut(&mut self) -> [&mut E; 2] {
        [&mut self.host, &mut self.device]
    }

    /// One flit clock.
    pub fn step(&mut self) {
        self.step_with(&mut |_, _, unit| Some(unit));
    }

    /// One flit clock in which a line of the caller stands in front of the wires.
    pub fn step_with(&mut self, line: &mut WireFunction<'_, E::Unit>) {
        self.wires.tick();
        let now = self.wires.now();
        if self.training.take_if(|until| now >= *until).is_some() {
            self.ends_mut().into_iter().for_each(E::phy_up);
        }
        for dir in Dir::ALL {
            while let Some(unit) = self.wires.arrival(dir) {
                if !self.cut {
                    self.inject(dir, &unit);
                }
            }
        }
        if self.training.is_none() {
            self.send(now, line);
        }
        let wanted = self.ends_mut().map(E::take_retrain_request);
        if wanted.contains(&true) && self.training.is_none() {
            self.train();
        }
    }

    fn send(&mut self, now: u64, line: &mut WireFunction<'_, E::Unit>) {
        for (from, dir) in Dir::ALL.into_iter().enumerate() {
            let Some(unit) = self.sender(dir).fill(now) else { continue };
            self.beside.sent(dir, &unit, now);
            if let Some(unit) = line(from, now, unit) {
                self.wires.send(dir, unit);
            }
        }
        // Half a flit clock before a unit is whole its first half is there.
        for dir in Dir::ALL {
            if let Some(unit) = self.wires.coming(dir) {
                self.receiver(dir).receive_even(&unit, now);
            }
        }
    }

    /// Steps until the link is quiet. `false`: still busy after `limit_flits`.
    pub fn drain(&mut self, limit_flits: u64) -> bool {
        for _ in 0..limit_flits {
            if self.is_quiet() {
                return true;
            }
            self.step();
        }
        self.is_quiet()
    }

    /// Whether nothing is under way but what nobody would miss.
    pub fn is_quiet(&self) -> bool {
        let rests = E::FILLS || self.wires.is_empty();
        self.ends().into_iter().all(E::is_quiet) && rests && self.training.is_none()
    }
}
