//! Two ends and the wires between them, without a kernel: for vectors and for tests of the link layer alone.
//!
//! Modelled: one flit a flit clock in each direction, a latency in flit clocks, faults. A walk through [`Pair::step`]: flits
//! that are due arrive, both ends send.

use super::config::{Buffers, LinkConfig};
use super::end::End;
use super::flit::Flit;
use crate::wires::Wires;
use scalepool_protocols::cxl::Dir;

/// A link. The two sides are alike; `down` goes from the first to the second.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The end that sends down.
    pub first: End,
    /// The end that sends up.
    pub second: End,
    /// The wires between them.
    pub wires: Wires<Flit>,
    /// Cut: nothing arrives any more.
    pub cut: bool,
}

impl Pair {
    /// A link between two ends of the same choices and buffers, whose wires take `latency_flits` (at least 1).
    pub fn new(config: LinkConfig, buffers: Buffers, latency_flits: u64) -> Pair {
        Pair::of(End::new(config, buffers), End::new(config, buffers), latency_flits)
    }

    /// A link between two ends.
    pub fn of(first: End, second: End, latency_flits: u64) -> Pair {
        Pair { first, second, wires: Wires::new(latency_flits), cut: false }
    }

    /// The end that transmits in a direction.
    pub fn sender(&mut self, dir: Dir) -> &mut End {
        match dir {
            Dir::Down => &mut self.first,
            Dir::Up => &mut self.second,
        }
    }

    /// The end that receives a direction.
    pub fn receiver(&mut self, dir: Dir) -> &mut End {
        self.sender(dir.opposite())
    }

    /// One flit clock.
    pub fn step(&mut self) {
        self.wires.tick();
        for dir in Dir::ALL {
            while let Some(flit) = self.wires.arrival(dir) {
                if !self.cut {
                    self.receiver(dir).receive(&flit);
                }
            }
        }
        for dir in Dir::ALL {
            let flit = self.sender(dir).transmit();
            self.wires.send(dir, flit);
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

    /// Whether nothing but IDLE is under way.
    pub fn is_quiet(&self) -> bool {
        self.first.is_quiet() && self.second.is_quiet()
    }
}
