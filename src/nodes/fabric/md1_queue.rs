//! A queue with one server, M/D/1: packets come at exponential times and take as long as each other.
//!
//! Modelled: the queue of theory, in femtoseconds; the wait of each packet is that of the one before and its service, less the time
//! between the two. Left out: room; the queue has no end.
//!
//! A walk through one packet: at the first edge of the clock behind its arrival the server's free time says when it begins, and so
//! when it leaves; from its arrival to its service it waits, and from its arrival to the end of that is its latency. It is counted at the
//! first edge behind its end.
//!
//! Times between arrivals are drawn by von Neumann's method, which compares uniform numbers and computes no logarithm, so
//! every machine draws the same. Sources: `fabric` §6.1.

use crate::latencies::Latencies;
use scalepool_kernel::{Cx, Module, Next, Pending, Rng, Time};
use scalepool_trace::{Body, PlaceKind, RecordKind, Stamp, Tap};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What a queue is made of.
#[derive(Debug, Clone, Copy)]
pub struct Md1Config {
    /// Time of a service \[fs\].
    pub service_fs: u64,
    /// Share of the time in which the server works, above 0 and below 1.
    pub load: f64,
    /// Packets before it is measured.
    pub warm_up: u64,
    /// Packets that are measured.
    pub packets: u64,
}

/// What a queue has measured.
#[derive(Debug, Clone, Default)]
pub struct Md1Result {
    /// Packets that were served.
    pub packets: u64,
    /// Of measured packets: from coming to the end of the service.
    pub latencies: Latencies,
    /// The part of it before the service \[fs\], all together.
    pub wait_fs: u128,
    /// Packets that are measured.
    pub measured: u64,
}

/// A packet that has come.
#[derive(Debug, Clone, Copy)]
struct InsidePacket {
    came_fs: u64,
    begins_fs: u64,
    ends_fs: u64,
    id: u64,
}

/// The module.
pub struct Md1Queue {
    config: Md1Config,
    mean_gap_fs: f64,
    rng: Rng,
    /// When the next packet comes.
    next_fs: u64,
    /// Packets that have come.
    came: u64,
    /// When the server is free.
    free_fs: u64,
    /// Packets that have come and not left, the first to leave first.
    inside: VecDeque<InsidePacket>,
    tap: Tap,
    counted: Md1Result,
    result: Arc<Mutex<Md1Result>>,
}

/// What a queue shows: packets as transactions.
pub const SHOWS: PlaceKind = PlaceKind::Messages(&[]);

/// A number with an exponential distribution and a mean of 1.
fn exponential(rng: &mut Rng) -> f64 {
    // A uniform number of 53 bits, exact.
    let mut uniform = || (rng.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0;
    let mut whole = 0.0;
    loop {
        // The length of the run of falling numbers is odd with probability exp(-first).
        let first = uniform();
        let (mut last, mut length) = (first, 1u32);
        loop {
            let next = uniform();
            if next > last {
                break;
            }
            (last, length) = (next, length + 1);
        }
        if length % 2 == 1 {
            return whole + first;
        }
        whole += 1.0;
    }
}

impl Md1Queue {
    /// A queue to which nothing has come.
    pub fn new(config: Md1Config, rng: Rng, tap: Tap, result: Arc<Mutex<Md1Result>>) -> Md1Queue {
        let mean_gap_fs = config.service_fs as f64 / config.load;
        let counted = Md1Result::default();
        let inside = VecDeque::new();
        let mut queue =
            Md1Queue { config, mean_gap_fs, rng, next_fs: 0, came: 0, free_fs: 0, inside, tap, counted, result };
        queue.next_fs = queue.gap();
        queue
    }

    fn gap(&mut self) -> u64 {
        (self.mean_gap_fs * exponential(&mut self.rng)) as u64
    }

    /// A packet has been served.
    fn leave(&mut self, cx: &mut Cx<'_>, at: Stamp, packet: InsidePacket) {
        cx.progress();
        self.tap.record(at, RecordKind::End, packet.id, 0, || Body::None);
        self.counted.packets += 1;
        if self.counted.packets > self.config.warm_up {
            let latency_fs = packet.ends_fs - packet.came_fs;
            self.counted.latencies.add(latency_fs / cx.clock().periods_fs(1).max(1), latency_fs);
            self.counted.wait_fs += u128::from(packet.begins_fs - packet.came_fs);
            self.counted.measured += 1;
        }
    }
}

impl Module for Md1Queue {
    fn eval(&mut self, cx: &mut Cx<'_>) -> Next {
        let all = self.config.warm_up + self.config.packets;
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        while self.came < all && self.next_fs <= at.t_fs {
            let came_fs = self.next_fs;
            let begins_fs = came_fs.max(self.free_fs);
            self.free_fs = begins_fs.saturating_add(self.config.service_fs);
            self.came += 1;
            let (id, number) = (self.tap.new_id(), self.came);
            self.tap.record(at, RecordKind::Begin, id, 0, || Body::Access { name: "packet", address: number });
            self.inside.push_back(InsidePacket { came_fs, begins_fs, ends_fs: self.free_fs, id });
            self.next_fs = if self.came < all { came_fs.saturating_add(self.gap()) } else { u64::MAX };
        }
        while let Some(&packet) = self.inside.front()
            && packet.ends_fs <= at.t_fs
        {
            self.inside.pop_front();
            self.leave(cx, at, packet);
        }
        let ends_fs = self.inside.front().map_or(u64::MAX, |packet| packet.ends_fs);
        match ends_fs.min(self.next_fs) {
            u64::MAX => Next::Idle,
            next_fs => Next::At(Time::from_fs(next_fs)),
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.inside.front() {
            None => Ok(()),
            Some(first) => Err(Pending::new("packets in the queue", Time::from_fs(first.came_fs))),
        }
    }

    fn publish(&self) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.counted);
    }
}
