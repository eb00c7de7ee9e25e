//! A random tester of the agents, in the style of memory-system testers: many cores, few lines, every order of messages.
//!
//! Modelled: cores that load, store, write by message, evict and drop at random; each owns some bytes of every line, so
//! that lines are falsely shared and every core knows what its own bytes must be. Messages of a link arrive in any order
//! that the ordering rules leave open, after any delay, with few credits a class; caches and snoop filter are small;
//! where several answers are legal one is picked at random. Detail: no time and no flits, the agents that the
//! simulations clock. Left out: bit errors and links, which have soak runs of their own.
//!
//! Watched behind every step, on the lines that it touched: V1 to V4 and what the agents report (V5 to V8), V12, V13. At
//! every load: the value is the last store in coherence order, own bytes are what the core wrote last. V9 and V10 by
//! bounds on steps. V11 and V14 at points of rest, where all cores stop and everything must drain.
//!
//! Beside the links, each at one of its ends, the monitor that knows messages alone has to agree
//! ([`scalepool_coherence::passive`]).
//!
//! A walk through one step: the dice say whether a core acts or a message arrives. A core acts on a random line: it
//! loads or stores when its copy allows it and asks for one otherwise. A message is one of a random lane; when its
//! receiver does not take it yet, it stays. What the agent sends goes on its way, stores get their place in order, and
//! the monitors look at the line.
//!
//! Equal seeds give equal runs; a failure names its seed.

pub(super) mod bias;
pub(super) mod cache;
mod failure;
mod lanes;
pub mod litmus;
pub(super) mod mem;
pub(super) mod rig;
mod tester;

pub use failure::StressFailure;

use bias::BiasRig;
use cache::CacheRig;
use mem::MemRig;
use rig::StressRig;
use scalepool_coherence::config::CoherenceConfig;
use tester::Tester;

/// Who is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StressProtocol {
    /// CXL.cache: devices (1 to 16), home, host core.
    Cache(usize),
    /// HDM-DB: hosts (1 to 4,096), DCOH, the device's own cache.
    HdmDb(usize),
    /// HDM-D: one host, one device.
    HdmD,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stress {
    /// Protocol of the agents that are stressed.
    pub protocol: StressProtocol,
    /// All choices come from it.
    pub seed: u64,
    /// Loads, stores, writes and other requests until the end.
    pub operations: u64,
    /// Lines, from 0 on.
    pub lines: u64,
    /// Lines that a cache holds.
    pub cache_lines: usize,
    /// Messages of a class that a link holds.
    pub credits: usize,
    /// Cores write only bytes of their own, where a line has a byte for each; otherwise whole lines too.
    pub byte_owners: bool,
    /// One store or write in so many is poisoned; 0: none.
    pub poison_every: u64,
    /// The hub's cores work too.
    pub hub_acts: bool,
    /// The invariants are watched, and what the agents report.
    pub watch: bool,
    /// A monitor beside the links judges the messages as they pass ([`scalepool_coherence::passive`]).
    pub passive: bool,
    /// Choices of the agents.
    pub config: CoherenceConfig,
}

impl Stress {
    /// Small caches, few lines, every legal answer. Basis of the numbers: model.
    pub fn new(protocol: StressProtocol, seed: u64, operations: u64) -> Self {
        let mut config = CoherenceConfig { alternatives: true, ..CoherenceConfig::default() };
        config.home_filter_lines = if seed.is_multiple_of(2) { 3 } else { 0 };
        config.mem.filter_sets = seed.is_multiple_of(2).into();
        config.mem.filter_ways = 3;
        config.mem.trackers = 1;
        config.silent_drop_e = seed.is_multiple_of(3);
        config.grant_dirty = seed % 3 == 1;
        config.home_queue_requests = (seed % 4) as usize;
        Self {
            protocol,
            seed,
            operations,
            lines: 8,
            cache_lines: 3,
            credits: 1 + seed as usize % 4,
            byte_owners: seed % 4 != 3,
            poison_every: 5,
            hub_acts: true,
            watch: true,
            passive: true,
            config,
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn run(&self) -> Result<StressCounts, Box<StressFailure>> {
        match self.protocol {
            StressProtocol::Cache(devices) => self.drive(CacheRig::new(devices)),
            StressProtocol::HdmDb(hosts) => self.drive(MemRig::new(&self.config, hosts, self.lines)),
            StressProtocol::HdmD => self.drive(BiasRig::new()),
        }
    }

    fn drive<R: StressRig>(&self, rig: R) -> Result<StressCounts, Box<StressFailure>> {
        let mut tester = Tester::new(rig, self);
        match tester.run(self.operations) {
            Ok(()) => Ok(tester.counts),
            Err(event) => Err(Box::new(tester.failure(self.seed, event))),
        }
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StressCounts {
    /// Loads, stores, writes by message, other requests.
    pub operations: u64,
    /// Loads, values used once among them.
    pub loads: u64,
    /// Of them those that got poison.
    pub poisoned_loads: u64,
    /// Stores into a copy.
    pub stores: u64,
    /// Writes by message.
    pub writes: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// Steps.
    pub steps: u64,
    /// Views checked by the monitors.
    pub checks: u64,
    /// Points of rest.
    pub rests: u64,
    /// Highest DevLoad that an answer carried.
    pub devload: u8,
}
