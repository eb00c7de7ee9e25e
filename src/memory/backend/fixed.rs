//! A memory with one latency for all requests.
//!
//! Modelled: the latency, a most number of requests in flight, an interval between requests. Left out: what makes one request
//! slower than another.
//!
//! A walk through one request: it is taken if fewer than the most are in flight and the interval since the last one has passed;
//! its handle is ready after the latency, behind those that were taken before.

use super::{MemoryBackend, MemoryRequest, MemoryTiming, RequestPace};
use std::collections::VecDeque;

/// Handles of a page. A queue of one piece is moved each time that it grows, and with a thousand memories that grow together
/// the holes that it leaves are too small for the next one.
const PAGE: usize = 16;

/// The backend.
pub struct Fixed<H> {
    latency_cycles: u64,
    most: usize,
    pace: RequestPace,
    /// Handles with the cycles at which they are ready, so many a page; no page but the only one is empty.
    waiting: VecDeque<VecDeque<(u64, H)>>,
    in_flight: usize,
}

impl<H> Fixed<H> {
    /// An empty one.
    pub fn new(timing: &MemoryTiming) -> Fixed<H> {
        let MemoryTiming { latency_cycles, interval_cycles, in_flight, .. } = *timing;
        Fixed {
            latency_cycles,
            most: in_flight,
            pace: RequestPace::new(interval_cycles),
            waiting: VecDeque::new(),
            in_flight: 0,
        }
    }

    /// The first handle with its cycle.
    fn front(&self) -> Option<&(u64, H)> {
        self.waiting.front()?.front()
    }
}

impl<H> MemoryBackend<H> for Fixed<H> {
    fn room_at(&self, cycle: u64, _: &MemoryRequest) -> Option<u64> {
        (self.in_flight < self.most).then(|| self.pace.at(cycle))
    }

    fn push(&mut self, cycle: u64, request: &MemoryRequest, handle: H) -> Result<(), H> {
        if !self.has_room(cycle, request) {
            return Err(handle);
        }
        self.pace.taken(cycle);
        self.in_flight += 1;
        let waiting = (cycle + self.latency_cycles, handle);
        match self.waiting.back_mut() {
            Some(page) if page.len() < PAGE => page.push_back(waiting),
            _ => {
                let mut page = VecDeque::with_capacity(PAGE);
                page.push_back(waiting);
                self.waiting.push_back(page);
            }
        }
        Ok(())
    }

    fn first(&self) -> Option<&H> {
        self.front().map(|(_, handle)| handle)
    }

    fn ready_at(&self) -> Option<u64> {
        self.front().map(|(ready, _)| *ready)
    }

    fn pop(&mut self, cycle: u64) -> Option<H> {
        let page = self.waiting.front_mut()?;
        page.front().filter(|(ready, _)| *ready <= cycle)?;
        let (_, handle) = page.pop_front()?;
        self.in_flight -= 1;
        if page.is_empty() && self.waiting.len() > 1 {
            self.waiting.pop_front();
        }
        Some(handle)
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(interval_cycles: u64, in_flight: usize) -> Fixed<u32> {
        Fixed::new(&MemoryTiming { interval_cycles, in_flight, ..MemoryTiming::fixed(10) })
    }

    #[test]
    fn each_request_takes_the_latency_and_all_keep_their_order() {
        let mut memory = memory(0, usize::MAX);
        assert!(memory.is_idle());
        for (cycle, handle) in [(0, 1), (0, 2), (3, 3)] {
            assert_eq!(memory.push(cycle, &MemoryRequest::NONE, handle), Ok(()));
        }
        assert_eq!((memory.pop(9), memory.ready_at(), memory.in_flight()), (None, Some(10), 3));
        assert_eq!([10, 10, 10, 13, 13].map(|cycle| memory.pop(cycle)), [Some(1), Some(2), None, Some(3), None]);
        assert!(memory.is_idle() && memory.ready_at().is_none());
    }

    #[test]
    fn a_full_memory_refuses_until_a_handle_is_popped() {
        let mut memory = memory(0, 2);
        assert_eq!([1, 2, 3].map(|handle| memory.push(0, &MemoryRequest::NONE, handle)), [Ok(()), Ok(()), Err(3)]);
        // That one is ready makes no room: it stands where it is until the owner takes it.
        assert_eq!((memory.room_at(99, &MemoryRequest::NONE), memory.pop(99)), (None, Some(1)));
        assert_eq!(
            (memory.room_at(99, &MemoryRequest::NONE), memory.push(99, &MemoryRequest::NONE, 3)),
            (Some(99), Ok(()))
        );
    }

    #[test]
    fn the_interval_paces_requests() {
        let mut memory = memory(4, usize::MAX);
        let mut taken = Vec::new();
        for cycle in 0..20 {
            if memory.push(cycle, &MemoryRequest::NONE, cycle as u32).is_ok() {
                taken.push(cycle);
            }
        }
        assert_eq!(taken, [0, 4, 8, 12, 16]);
        assert_eq!(memory.room_at(17, &MemoryRequest::NONE), Some(20));
    }
}
