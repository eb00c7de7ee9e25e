//! Two ends and the wires between them, without a kernel: for vectors and for tests of the link layer alone.
//!
//! Modelled: one flit a flit clock in each direction, a latency in flit clocks, faults. A walk through [`Pair::step`]: flits
//! that are due arrive, both ends send.

use super::config::{Buffers, LinkConfig};
use super::end::End;
use super::flit::Flit;
use crate::link::fault::{FaultyWire, Lane};
use scalepool_protocols::cxl::Dir;

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

/// A link. The two sides are alike; `down` goes from the first to the second.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The end that sends down.
    pub first: End,
    /// The end that sends up.
    pub second: End,
    down: Lane<Flit>,
    up: Lane<Flit>,
    latency_flits: u64,
    now: u64,
    /// Cut: nothing arrives any more.
    pub cut: bool,
    log: Option<Vec<Seen>>,
}

impl Pair {
    /// A link between two ends of the same choices and buffers, whose wires take `latency_flits` (at least 1).
    pub fn new(config: LinkConfig, buffers: Buffers, latency_flits: u64) -> Pair {
        Pair::of(End::new(config, buffers), End::new(config, buffers), latency_flits)
    }

    /// A link between two ends.
    pub fn of(first: End, second: End, latency_flits: u64) -> Pair {
        let latency_flits = latency_flits.max(1);
        Pair { first, second, down: Lane::clean(), up: Lane::clean(), latency_flits, now: 0, cut: false, log: None }
    }

    /// Puts a faulty wire into a direction.
    pub fn set_wire(&mut self, dir: Dir, wire: FaultyWire) {
        self.lane(dir).wire = wire;
    }

    /// Flits that arrived changed.
    pub fn damaged(&self) -> u64 {
        self.down.wire.damaged + self.up.wire.damaged
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

    fn lane(&mut self, dir: Dir) -> &mut Lane<Flit> {
        match dir {
            Dir::Down => &mut self.down,
            Dir::Up => &mut self.up,
        }
    }

    /// One flit clock.
    pub fn step(&mut self) {
        self.now += 1;
        let (now, due, cut) = (self.now, self.now + self.latency_flits, self.cut);
        for dir in Dir::ALL {
            while let Some(flit) = self.lane(dir).arrival(now) {
                if !cut {
                    self.receiver(dir).receive(&flit);
                }
            }
        }
        for dir in Dir::ALL {
            let flit = self.sender(dir).transmit();
            self.lane(dir).send(flit, due);
            if let Some(log) = &mut self.log {
                log.push(Seen { at: now, dir, flit });
            }
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
