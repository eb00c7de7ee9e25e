//! Latencies of the stages of the bridge (`bridge` §11).
//!
//! Modelled: a named number of cycles for each stage, passed one after the other. At 1 GHz the defaults are the nanoseconds of the
//! sheet. Left out: what a stage is made of.

/// Stages, in cycles of the bridge's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeTiming {
    /// A message out of the link layer into the core.
    pub deframe_cycles: u64,
    /// Window and rights.
    pub lookup_cycles: u64,
    /// Cut, mask, message.
    pub convert_cycles: u64,
    /// A conversion that is kept is found, in place of the two before.
    pub template_cycles: u64,
    /// Into the packer of a link.
    pub frame_cycles: u64,
    /// An answer is matched and merged.
    pub response_cycles: u64,
    /// An atomic.
    pub alu_cycles: u64,
    /// Messages to CXL that may leave in a cycle.
    pub children_per_cycle: usize,
    /// Time in which the lines under way at a target may become one more, while it reports light load.
    pub growth_cycles: u64,
    /// Time without progress after which a request ends with status 8.
    pub timeout_cycles: u64,
}

impl BridgeTiming {
    /// The sheet's numbers at 1 GHz (`bridge` §7, §11).
    pub const SHEET: BridgeTiming = BridgeTiming {
        deframe_cycles: 5,
        lookup_cycles: 3,
        convert_cycles: 8,
        template_cycles: 2,
        frame_cycles: 4,
        response_cycles: 5,
        alu_cycles: 2,
        children_per_cycle: 2,
        growth_cycles: 1000,
        timeout_cycles: 50_000,
    };

    /// From a request at the port to its first message at the link, without a cache.
    pub fn request_cycles(&self) -> u64 {
        self.deframe_cycles + self.lookup_cycles + self.convert_cycles
    }

    /// From a request at the port to the cycle in which its lines are known to be in the cache or not, and conversions to be kept or
    /// not; all are looked for at once (`bridge` §9.8). Without a cache it is converted first.
    pub fn start_cycles(&self, data: bool, templates: bool) -> u64 {
        let found = match (data, templates) {
            (false, false) => return self.request_cycles(),
            (true, false) => self.lookup_cycles,
            (false, true) => self.template_cycles,
            (true, true) => self.lookup_cycles.max(self.template_cycles),
        };
        self.deframe_cycles + found
    }

    /// From an answer at the port to what follows from it.
    pub fn answer_cycles(&self) -> u64 {
        self.deframe_cycles + self.response_cycles
    }
}
