//! The memory in which the conversion cache lies, on the clock of the bridge (`bridge` §9.1, §11).
//!
//! Modelled: accesses wait for room in the order in which they come; how long each lasts is up to the
//! [backend](scalepool_memory::backend), a fixed latency or HBM with its commands. Left out: bytes, which stand with the sectors.
//!
//! A walk: two lines are found, so two reads come; the first one is taken in this cycle and the second one in the next, since that is how
//! often this memory takes one; both end after their time, and the bridge goes on with each.

use crate::outbound::BridgeActor;
use scalepool_memory::LINE_BYTES;
use scalepool_memory::backend::{DramView, MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming};
use std::collections::VecDeque;

/// Who waits for an access; nobody, of what is written behind a response.
type Handle = Option<BridgeActor>;

/// The memory.
pub struct CacheMemory {
    backend: Box<dyn MemoryBackend<Handle>>,
    waiting: VecDeque<(MemoryRequest, Handle)>,
}

impl CacheMemory {
    /// A memory at rest.
    pub fn new(timing: MemoryTiming) -> CacheMemory {
        CacheMemory { backend: timing.build(), waiting: VecDeque::new() }
    }

    /// An access to 64 bytes.
    pub fn access(&mut self, by: Handle, address: u64, is_write: bool) {
        let access = if is_write { MemoryAccess::Write } else { MemoryAccess::Read };
        self.waiting.push_back((MemoryRequest { address, bytes: LINE_BYTES, access }, by));
    }

    /// Does what is due; who goes on in this cycle.
    pub fn ended(&mut self, cycle: u64) -> Vec<BridgeActor> {
        self.backend.advance(cycle);
        std::iter::from_fn(|| self.backend.pop(cycle)).flatten().collect()
    }

    /// Hands over what there is room for.
    pub fn issue(&mut self, cycle: u64) {
        while let Some((request, by)) = self.waiting.pop_front() {
            if let Err(by) = self.backend.push(cycle, &request, by) {
                return self.waiting.push_front((request, by));
            }
        }
    }

    /// The first cycle behind this one in which it has something to do.
    pub fn wake_at(&self, cycle: u64) -> Option<u64> {
        let room = self.waiting.front().and_then(|(request, _)| self.backend.room_at(cycle, request));
        self.backend.wake_at(cycle).into_iter().chain(room.map(|room| room.max(cycle + 1))).min()
    }

    /// What it shows of its DRAM, if that is what it is.
    pub fn dram(&self) -> Option<DramView<'_>> {
        self.backend.dram(0)
    }
}
