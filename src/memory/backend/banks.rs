//! A memory of interleaved banks, each of which does one thing at a time.
//!
//! Modelled: which banks a request touches, the time that each of them is busy with it, a queue in front of each bank, a most
//! number of requests in flight, an interval between requests. A write of a part of its bytes keeps a bank busy twice, to read
//! and to write \[D\]. Left out: rows, refresh, turnarounds between reads and writes.
//!
//! A walk through one request: it is taken if all its banks have a place in their queues; each bank does it as soon as it has
//! done what came before, so the cycle at which the request is ready is known when it is taken: the latency behind the end of
//! its last bank. Requests to other banks pass it; one that shares a bank with it is never ready before it.
//!
//! Invariants: a bank serves in order of arrival; a handle is ready at the cycle that was foretold.

use super::{MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming, RequestPace};
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

/// How the banks are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BanksConfig {
    /// Number of banks, at least 1.
    pub banks: u64,
    /// Bytes in a row in one bank before the next one follows, at least 1.
    pub interleave_bytes: u64,
    /// Time that a bank is busy to read the bytes in a row, at least 1 \[cycles\].
    pub busy_cycles: u64,
    /// Time that it is busy to write them, at least 1 \[cycles\].
    pub write_busy_cycles: u64,
    /// Requests that a bank holds, with the one that it does, at least 1.
    pub queue: usize,
}

/// A bank.
#[derive(Debug, Clone, Default)]
struct Bank {
    /// Cycles at which it will have done what it holds, in order.
    done: VecDeque<u64>,
    /// The cycle at which the last request that touched it is ready.
    ready: u64,
}

impl Bank {
    /// The first cycle from `cycle` on at which it holds fewer than `most`.
    fn room_at(&self, cycle: u64, most: usize) -> u64 {
        let held = self.done.len() - self.done.partition_point(|done| *done <= cycle);
        if held < most { cycle } else { self.done[self.done.len() - most] }
    }

    /// Takes work of so many cycles; the cycle at which it is done.
    fn take(&mut self, cycle: u64, busy_cycles: u64) -> u64 {
        while self.done.front().is_some_and(|done| *done <= cycle) {
            self.done.pop_front();
        }
        let done = self.done.back().copied().unwrap_or(cycle) + busy_cycles;
        self.done.push_back(done);
        done
    }
}

/// The backend.
pub struct Banks<H> {
    config: BanksConfig,
    latency_cycles: u64,
    most: usize,
    pace: RequestPace,
    banks: Vec<Bank>,
    /// Handles by the cycle at which they are ready and by their number.
    waiting: OrderedMap<(u64, u64), H>,
    taken: u64,
}

impl<H> Banks<H> {
    /// Empty ones.
    pub fn new(timing: &MemoryTiming, config: BanksConfig) -> Banks<H> {
        let MemoryTiming { latency_cycles, interval_cycles, in_flight, .. } = *timing;
        Banks {
            banks: vec![Bank::default(); config.banks as usize],
            config,
            latency_cycles,
            most: in_flight,
            pace: RequestPace::new(interval_cycles),
            waiting: OrderedMap::new(),
            taken: 0,
        }
    }

    /// The banks that a request touches, each with the number of its rows of bytes there.
    fn touched(&self, request: &MemoryRequest) -> impl Iterator<Item = (usize, u64)> + use<H> {
        let BanksConfig { banks, interleave_bytes, .. } = self.config;
        let (first, end) =
            (request.address / interleave_bytes, (request.address + request.bytes).div_ceil(interleave_bytes));
        let rows = if request.bytes == 0 { 0 } else { end - first };
        (0..rows.min(banks)).map(move |n| (((first + n) % banks) as usize, (rows - n).div_ceil(banks)))
    }
}

impl<H> MemoryBackend<H> for Banks<H> {
    fn room_at(&self, cycle: u64, request: &MemoryRequest) -> Option<u64> {
        let from = self.pace.at(cycle);
        let rooms = self.touched(request).map(|(bank, _)| self.banks[bank].room_at(cycle, self.config.queue));
        (self.waiting.len() < self.most).then(|| rooms.fold(from, u64::max))
    }

    fn push(&mut self, cycle: u64, request: &MemoryRequest, handle: H) -> Result<(), H> {
        if !self.has_room(cycle, request) {
            return Err(handle);
        }
        self.pace.taken(cycle);
        let BanksConfig { busy_cycles, write_busy_cycles, .. } = self.config;
        let row_cycles = match request.access {
            MemoryAccess::Read => busy_cycles,
            MemoryAccess::Write => write_busy_cycles,
            MemoryAccess::Modify => busy_cycles + write_busy_cycles,
        };
        let (mut done, mut ready) = (cycle, 0);
        for (bank, rows) in self.touched(request) {
            let bank = &mut self.banks[bank];
            done = done.max(bank.take(cycle, row_cycles * rows));
            ready = ready.max(bank.ready);
        }
        let ready = ready.max(done + self.latency_cycles);
        for (bank, _) in self.touched(request) {
            self.banks[bank].ready = ready;
        }
        self.waiting.insert((ready, self.taken), handle);
        self.taken += 1;
        Ok(())
    }

    fn first(&self) -> Option<&H> {
        self.waiting.first_key_value().map(|(_, handle)| handle)
    }

    fn ready_at(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|((ready, _), _)| *ready)
    }

    fn pop(&mut self, cycle: u64) -> Option<H> {
        if self.is_ready(cycle) { self.waiting.pop_first().map(|(_, handle)| handle) } else { None }
    }

    fn in_flight(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Media;

    const LINE: u64 = 64;

    fn config(banks: u64, busy_cycles: u64, queue: usize) -> BanksConfig {
        BanksConfig { banks, interleave_bytes: LINE, busy_cycles, write_busy_cycles: busy_cycles, queue }
    }

    fn timing(banks: u64, busy_cycles: u64, queue: usize) -> MemoryTiming {
        let media = Media::Banks(config(banks, busy_cycles, queue));
        MemoryTiming { media, ..MemoryTiming::fixed(20) }
    }

    fn read(line: u64) -> MemoryRequest {
        MemoryRequest { address: line * LINE, bytes: LINE, access: MemoryAccess::Read }
    }

    /// Runs requests that are there from the start; the cycle at which each came out, in that order.
    fn run(timing: MemoryTiming, requests: &[MemoryRequest]) -> Vec<(usize, u64)> {
        let mut memory = timing.build();
        let (mut next, mut out, mut cycle) = (0, Vec::new(), 0);
        while out.len() < requests.len() {
            while let Some(n) = memory.pop(cycle) {
                out.push((n, cycle));
            }
            while let Some(request) = requests.get(next)
                && memory.push(cycle, request, next).is_ok()
            {
                next += 1;
            }
            // As an owner sleeps: until something is ready or there is room.
            let room = requests.get(next).and_then(|request| memory.room_at(cycle, request));
            cycle = memory.ready_at().into_iter().chain(room).min().unwrap_or(cycle).max(cycle + 1);
        }
        assert!(memory.is_idle());
        out
    }

    #[test]
    fn the_throughput_is_that_of_the_banks_that_a_stride_reaches() {
        // Request k of a stride that reaches r of the banks is done after (k / r + 1) times the time of a bank.
        for (banks, stride, reached) in
            [(1, 1, 1), (1, 5, 1), (4, 1, 4), (4, 2, 2), (4, 4, 1), (4, 3, 4), (6, 4, 3), (16, 1, 16)]
        {
            for queue in [1, 2, 1000] {
                let requests: Vec<MemoryRequest> = (0..96).map(|n| read(n * stride)).collect();
                let out = run(timing(banks, 10, queue), &requests);
                let expected: Vec<(usize, u64)> = (0..96).map(|n| (n, (n as u64 / reached + 1) * 10 + 20)).collect();
                assert_eq!(out, expected, "{banks} banks, stride {stride}, queues of {queue}");
            }
        }
    }

    #[test]
    fn what_another_bank_holds_is_passed_and_a_line_keeps_its_order() {
        let lines = [0, 4, 8, 1, 0];
        let out = run(timing(4, 10, 8), &lines.map(read));
        assert_eq!(out, [(0, 30), (3, 30), (1, 40), (2, 50), (4, 60)]);
    }

    #[test]
    fn a_full_bank_refuses_its_requests_alone_and_says_when_it_takes_them() {
        let mut memory = Banks::new(&timing(2, 10, 2), config(2, 10, 2));
        assert_eq!([0, 2, 4].map(|line| memory.push(0, &read(line), line)), [Ok(()), Ok(()), Err(4)]);
        assert_eq!((memory.room_at(3, &read(4)), memory.room_at(3, &read(1))), (Some(10), Some(3)));
        assert_eq!((memory.push(10, &read(4), 4), memory.in_flight()), (Ok(()), 3));
    }

    #[test]
    fn no_more_are_in_flight_than_may_be() {
        let mut memory = MemoryTiming { in_flight: 2, ..timing(4, 10, 8) }.build();
        assert_eq!([0, 1, 2].map(|line| memory.push(0, &read(line), line)), [Ok(()), Ok(()), Err(2)]);
        assert_eq!(
            (memory.room_at(99, &read(2)), memory.pop(99), memory.room_at(99, &read(2))),
            (None, Some(0), Some(99))
        );
    }

    #[test]
    fn the_interval_bounds_what_the_banks_could_do() {
        let requests: Vec<MemoryRequest> = (0..32).map(read).collect();
        let out = run(MemoryTiming { interval_cycles: 7, ..timing(16, 10, 8) }, &requests);
        assert_eq!(out, (0..32).map(|n| (n, n as u64 * 7 + 30)).collect::<Vec<_>>());
    }

    #[test]
    fn a_write_of_a_part_takes_a_bank_twice_and_a_long_request_takes_several() {
        let part = MemoryRequest { access: MemoryAccess::Modify, ..read(0) };
        let whole = MemoryRequest { access: MemoryAccess::Write, ..read(1) };
        // Five lines from the second half of a line on lie in six rows of four banks: two banks have two of them.
        let long = MemoryRequest { address: 32, bytes: 5 * LINE, access: MemoryAccess::Read };
        assert_eq!(run(timing(4, 10, 8), &[part, whole]), [(1, 30), (0, 40)]);
        assert_eq!(run(timing(4, 10, 8), &[long, read(2), read(3)]), [(0, 40), (1, 40), (2, 40)]);
        assert_eq!(run(timing(4, 10, 8), &[MemoryRequest::NONE]), [(0, 20)]);
    }

    #[test]
    fn requests_that_share_a_bank_are_ready_in_order() {
        // The long one waits for bank 0; line 1 is done sooner in bank 1 and waits for it.
        let long = MemoryRequest { address: 0, bytes: 2 * LINE, access: MemoryAccess::Write };
        let out = run(timing(2, 10, 8), &[read(0), read(2), long, read(1)]);
        assert_eq!(out.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
