//! A memory with a latency and a bandwidth: `fixed(L, B)` of `memory §9`, \[D\].
//!
//! Modelled: a request arrives at a server after the latency; the server passes its bytes on at its rate, one request after the
//! other. Left out: everything that makes one request slower than another.
//!
//! A walk through two reads of 64 bytes that come together, with 60 ns and 64 GB/s: the first one has passed the server after 61 ns, the
//! second one after 62 ns.

use super::{MemoryBackend, MemoryRequest, MemoryTiming, RequestPace};
use crate::owner_clock::OwnerClock;
use std::collections::VecDeque;

/// How it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerConfig {
    /// Latency in front of the server \[fs\].
    pub latency_fs: u64,
    /// Time of the server for a byte: numerator and denominator \[fs\].
    pub byte_time: (u64, u64),
    /// Clock of the owner.
    pub clock: OwnerClock,
}

/// The backend.
pub struct Server<H> {
    config: ServerConfig,
    latency_cycles: u64,
    most: usize,
    pace: RequestPace,
    /// Time until which the server is busy, in parts of a femtosecond that the denominator names.
    free: u128,
    waiting: VecDeque<(u64, H)>,
}

impl<H> Server<H> {
    /// An empty one.
    pub fn new(timing: &MemoryTiming, config: ServerConfig) -> Server<H> {
        let MemoryTiming { latency_cycles, interval_cycles, in_flight, .. } = *timing;
        let pace = RequestPace::new(interval_cycles);
        Server { config, latency_cycles, most: in_flight, pace, free: 0, waiting: VecDeque::new() }
    }
}

impl<H> MemoryBackend<H> for Server<H> {
    fn room_at(&self, cycle: u64, _: &MemoryRequest) -> Option<u64> {
        (self.waiting.len() < self.most).then(|| self.pace.at(cycle))
    }

    fn push(&mut self, cycle: u64, request: &MemoryRequest, handle: H) -> Result<(), H> {
        if !self.has_room(cycle, request) {
            return Err(handle);
        }
        self.pace.taken(cycle);
        let ServerConfig { latency_fs, byte_time: (num, den), clock } = self.config;
        let arrives = u128::from(clock.fs(cycle).saturating_add(latency_fs)) * u128::from(den);
        self.free = self.free.max(arrives) + u128::from(request.bytes) * u128::from(num);
        let done_fs = u64::try_from(self.free.div_ceil(u128::from(den))).unwrap_or(u64::MAX);
        self.waiting.push_back((clock.cycle(done_fs).saturating_add(self.latency_cycles), handle));
        Ok(())
    }

    fn first(&self) -> Option<&H> {
        self.waiting.front().map(|(_, handle)| handle)
    }

    fn ready_at(&self) -> Option<u64> {
        self.waiting.front().map(|(ready, _)| *ready)
    }

    fn pop(&mut self, cycle: u64) -> Option<H> {
        if self.is_ready(cycle) { self.waiting.pop_front().map(|(_, handle)| handle) } else { None }
    }

    fn in_flight(&self) -> usize {
        self.waiting.len()
    }
}
