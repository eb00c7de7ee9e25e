//! DevLoad: what a device reports, what a logical device is told of it, what a host does about it (`coherence` §3.8).
//!
//! Modelled: the maximum of the three parts, the steps for logical devices, the throttle of a host. Detail: load is the
//! number of open back-invalidates and transactions against thresholds. Left out: how a device balances its logical
//! devices. Coherence depends on none of it.

use crate::event::CoherenceEvent;
use scalepool_protocols::cxl::cxl256::code::DevLoad;
use std::fmt;

// Codes of DevLoad; 0 is light.
const OPTIMAL: u8 = 1;
const MODERATE: u8 = 2;
const SEVERE: u8 = 3;

/// Load of a depth against the thresholds of optimal, moderate and severe; a threshold of 0 is never reached.
pub fn of_depth(depth: usize, thresholds: [usize; 3]) -> DevLoad {
    let reached = |(_, at): &(u8, usize)| *at != 0 && depth >= *at;
    let levels = [OPTIMAL, MODERATE, SEVERE].into_iter().zip(thresholds);
    DevLoad(levels.filter(reached).map(|(level, _)| level).max().unwrap_or(0))
}

/// The three parts of a device's load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DevLoadParts {
    /// Of its memory and its queues.
    pub internal: DevLoad,
    /// Of the port on which its answers leave.
    pub egress: DevLoad,
    /// Throughput reduced for a while, e.g. by temperature.
    pub reduction: DevLoad,
}

/// As findings have it.
impl fmt::Display for DevLoadParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DevLoadParts { internal, egress, reduction } = self;
        write!(f, "Parts {{ internal: {internal:?}, egress: {egress:?}, reduction: {reduction:?} }}")
    }
}

impl DevLoadParts {
    /// What its answers say: the maximum.
    pub fn reported(self) -> DevLoad {
        DevLoad(self.internal.0.max(self.egress.0).max(self.reduction.0).min(SEVERE))
    }

    /// What is wrong with an answer that said `said`.
    pub fn check(self, said: DevLoad) -> Option<CoherenceEvent> {
        let expected = format!("DevLoad {}", self.reported().0);
        let found = format!("DevLoad {} of {self}", said.0);
        (said != self.reported()).then(|| CoherenceEvent::new("COH-QOS-02", None, "device", found, expected))
    }
}

/// The share of a logical device, in 256ths of the device's bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// More than this is overload of this logical device.
    pub limit: u16,
    /// Up to this it does not answer for the others' overload; surplus of others included.
    pub allocation: u16,
    /// What it uses.
    pub used: u16,
}

impl Share {
    /// What this logical device is told when the device reports `load`.
    pub fn reported(self, load: DevLoad) -> DevLoad {
        if self.used > self.limit {
            DevLoad(load.0.max(MODERATE))
        } else if self.used <= self.allocation && load.0 >= MODERATE {
            DevLoad(load.0 - 1)
        } else {
            load
        }
    }

    /// What is wrong with an answer to this logical device that said `said`.
    pub fn check(self, load: DevLoad, said: DevLoad) -> Option<CoherenceEvent> {
        let expected = format!("DevLoad {}", self.reported(load).0);
        let found = format!("DevLoad {} for {self:?}", said.0);
        (said != self.reported(load))
            .then(|| CoherenceEvent::new("COH-QOS-03", None, "logical device", found, expected))
    }
}

/// How a host slows its requests down. The steps are recommended, not required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// Step up under moderate overload, and down when light.
    pub normal_delta: u32,
    /// Step up under severe overload.
    pub severe_delta: u32,
    /// Strongest throttle.
    pub most: u32,
    /// tH: cycles between two steps.
    pub window_cycles: u64,
}

/// The throttle of one range of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttle {
    steps: Steps,
    level: u32,
    seen: DevLoad,
    /// The last step was one for overload.
    reacted: bool,
    /// End of the window.
    next_cycle: u64,
}

impl Throttle {
    /// Without throttle.
    pub fn new(steps: Steps) -> Self {
        Self { steps, level: 0, seen: DevLoad(0), reacted: false, next_cycle: steps.window_cycles }
    }

    /// Idle cycles that the host puts between two requests of the range.
    pub fn level(&mut self, cycle: u64) -> u32 {
        self.pass(cycle);
        self.level
    }

    /// An answer of the range has come. The first overload acts at once, then a window passes.
    pub fn answer(&mut self, cycle: u64, load: DevLoad) {
        self.pass(cycle);
        self.seen = DevLoad(self.seen.0.max(load.0));
        if cycle == self.next_cycle || (load.0 >= MODERATE && !self.reacted) {
            self.step(cycle);
        }
    }

    /// Windows have ended before a cycle: the first one with what was seen in it, the others without an answer.
    fn pass(&mut self, cycle: u64) {
        if cycle <= self.next_cycle {
            return;
        }
        self.step(self.next_cycle);
        let Steps { normal_delta, window_cycles, .. } = self.steps;
        let silent = (cycle - 1 + window_cycles - self.next_cycle) / window_cycles;
        if silent > 0 {
            let relaxed = silent.saturating_mul(normal_delta.into());
            self.level = u64::from(self.level).saturating_sub(relaxed) as u32;
            self.reacted = false;
            self.next_cycle += silent * window_cycles;
        }
    }

    /// The end of a window: what was seen in it decides.
    fn step(&mut self, cycle: u64) {
        let Steps { normal_delta, severe_delta, most, window_cycles } = self.steps;
        self.level = match self.seen.0 {
            0 => self.level.saturating_sub(normal_delta),
            OPTIMAL => self.level,
            MODERATE => (self.level + normal_delta).min(most),
            _ => (self.level + severe_delta).min(most),
        };
        self.reacted = self.seen.0 >= MODERATE;
        self.seen = DevLoad(0);
        self.next_cycle = cycle + window_cycles;
    }
}
