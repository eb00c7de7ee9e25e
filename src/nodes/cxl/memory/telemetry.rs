//! What a memory tells its hosts of its load: DevLoad of a device and of each of its logical devices (`fabric` §4.3).
//!
//! Modelled: internal load by the fill of the queue; egress congestion by samples of whether an answer waits without room at its
//! port; for logical devices the requests that each uses, its share and its limit, and what it is told of the load of all. Detail: samples
//! and intervals are those of the device's clock. Left out: a reduction of throughput for a while, registers.
//!
//! A walk through one answer: samples and intervals that have passed are accounted; the larger of both loads is that of the device; a
//! logical device that stays within its share is told one step less of an overload.

use scalepool_protocols::cxl::cxl256::code::DevLoad;
use std::collections::VecDeque;

/// Codes of DevLoad.
const LIGHT: u8 = 0;
const OPTIMAL: u8 = 1;
const MODERATE: u8 = 2;
const SEVERE: u8 = 3;

/// Fill of the queue from which the load is optimal, moderate and severe \[percent\]: our choice (`fabric` QOS-1).
const FILL_PERCENT: [usize; 3] = [25, 60, 85];
/// Samples of egress congestion that are kept (`fabric` QOS-2).
const SAMPLES: usize = 100;
/// Intervals of completions that are kept (`fabric` QOS-4).
const INTERVALS: u64 = 16;
/// What fractions are parts of (`fabric` QOS-4).
pub const WHOLE: u64 = 256;

/// Internal load of a queue (`fabric` QOS-1).
pub const fn internal_load(queued: usize, size: usize) -> u8 {
    let percent = 100 * queued;
    if percent < FILL_PERCENT[0] * size {
        LIGHT
    } else if percent < FILL_PERCENT[1] * size {
        OPTIMAL
    } else if percent < FILL_PERCENT[2] * size {
        MODERATE
    } else {
        SEVERE
    }
}

/// Whether a port had something to send and no room for it, sample by sample (`fabric` QOS-2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressSamples {
    /// Cycles between two samples; 0 = none are taken, and nothing is congested.
    every_cycles: u64,
    samples: VecDeque<bool>,
    /// Samples that are set, of those that are kept.
    set: usize,
    /// Cycle of the next one.
    next_cycle: u64,
}

impl EgressSamples {
    /// A sample each so many cycles.
    pub fn new(every_cycles: u64) -> EgressSamples {
        EgressSamples { every_cycles, samples: VecDeque::new(), set: 0, next_cycle: every_cycles }
    }

    /// Takes the samples up to a cycle, for all of which the port was congested or was not.
    pub fn pass(&mut self, cycle: u64, is_congested: bool) {
        if self.every_cycles == 0 || cycle < self.next_cycle {
            return;
        }
        let taken = (cycle - self.next_cycle) / self.every_cycles + 1;
        self.next_cycle += taken * self.every_cycles;
        for _ in 0..taken.min(SAMPLES as u64) {
            self.samples.push_back(is_congested);
            self.set += usize::from(is_congested);
            if self.samples.len() > SAMPLES {
                self.set -= usize::from(self.samples.pop_front() == Some(true));
            }
        }
    }

    /// How many of the last 100 samples are set.
    pub fn average_percent(&self) -> usize {
        self.set
    }

    /// The load that this stands for.
    pub fn load(&self, moderate_percent: usize, severe_percent: usize) -> u8 {
        match self.average_percent() {
            average if average >= severe_percent => SEVERE,
            average if average >= moderate_percent => MODERATE,
            _ => LIGHT,
        }
    }
}

/// What a logical device may use, in 256ths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LdShare {
    /// Its allocation of all that is used; 0 = none.
    pub fraction: u64,
    /// Its limit of what the device can have open; 0 = none.
    pub limit: u64,
}

/// What logical devices use, open requests and completions of the last 16 intervals (`fabric` QOS-4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LdUse {
    /// Cycles of an interval; 0 = completions do not count.
    interval_cycles: u64,
    /// Number of the interval that runs.
    interval: u64,
    open: Vec<u64>,
    /// By interval modulo 16 and logical device.
    completed: Vec<[u64; INTERVALS as usize]>,
}

impl LdUse {
    /// Of so many logical devices.
    pub fn new(devices: usize, interval_cycles: u64) -> LdUse {
        let completed = vec![[0; INTERVALS as usize]; devices];
        LdUse { interval_cycles, interval: 0, open: vec![0; devices], completed }
    }

    /// A request of a logical device was taken. One that names a logical device which is not there reaches no memory, and counts for none.
    pub fn taken(&mut self, ld: usize) {
        if let Some(open) = self.open.get_mut(ld) {
            *open += 1;
        }
    }

    /// Intervals up to a cycle have passed.
    pub fn pass(&mut self, cycle: u64) {
        let Some(now) = cycle.checked_div(self.interval_cycles) else { return };
        for over in self.interval + 1..=now.min(self.interval + INTERVALS) {
            self.completed.iter_mut().for_each(|of| of[(over % INTERVALS) as usize] = 0);
        }
        self.interval = now;
    }

    /// An answer to a logical device has left.
    pub fn answered(&mut self, ld: usize) {
        let Some(open) = self.open.get_mut(ld) else { return };
        *open -= 1;
        if self.interval_cycles > 0 {
            self.completed[ld][(self.interval % INTERVALS) as usize] += 1;
        }
    }

    /// What each logical device uses.
    pub fn used(&self) -> Vec<u64> {
        self.open.iter().zip(&self.completed).map(|(open, completed)| open + completed.iter().sum::<u64>()).collect()
    }
}

/// Whether each logical device uses more than its allocation, the surplus of others dealt to those that claim it (`fabric` QOS-5). There is
/// no division: without any fraction nobody claims anything, and nobody is over (`fabric` QOS-8).
pub fn over_allocation(used: &[u64], shares: &[LdShare]) -> Vec<bool> {
    let total: u64 = used.iter().sum();
    // All in 256ths of a request.
    let each: Vec<(u64, u64)> =
        used.iter().zip(shares).map(|(used, share)| (used * WHOLE, share.fraction * total)).collect();
    let claim: u64 = each.iter().filter(|(used, own)| used > own).map(|(_, own)| own).sum();
    let surplus: u64 = each.iter().filter(|(used, own)| used <= own).map(|(used, own)| own - used).sum();
    let is_over = |&(used, own): &(u64, u64)| {
        u128::from(used) * u128::from(claim) > u128::from(own) * u128::from(claim + surplus)
    };
    each.iter().map(is_over).collect()
}

/// Whether a logical device uses more than its limit of what the device can have open (`fabric` QOS-5).
pub const fn over_limit(used: u64, share: LdShare, basis: u64) -> bool {
    share.limit > 0 && used * WHOLE > share.limit * basis
}

/// What a logical device is told of the load of all (`fabric` QOS-6).
pub const fn told(total: u8, is_over_limit: bool, is_over_allocation: bool) -> u8 {
    match (total, is_over_limit, is_over_allocation) {
        (LIGHT | OPTIMAL, false, _) => total,
        (LIGHT | OPTIMAL, true, _) => MODERATE,
        (MODERATE, false, false) => OPTIMAL,
        (MODERATE, ..) => MODERATE,
        (_, _, false) => MODERATE,
        (_, _, true) => SEVERE,
    }
}

/// Telemetry of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryConfig {
    /// Cycles between two samples of egress congestion; 0 = off.
    pub sample_cycles: u64,
    /// Samples of 100 from which congestion is moderate, and severe.
    pub congestion_percent: [usize; 2],
    /// Cycles of an interval of completions; 0 = off.
    pub interval_cycles: u64,
    /// By logical device; none of a device without any.
    pub shares: Vec<LdShare>,
}

/// The telemetry of a device at work.
#[derive(Debug, Clone)]
pub struct Telemetry {
    config: TelemetryConfig,
    egress: EgressSamples,
    used: LdUse,
    /// An answer waits without room, from the last cycle that was accounted on.
    is_congested: bool,
    /// Answers by what they told.
    pub told: [u64; 4],
}

impl Telemetry {
    /// Nothing is open.
    pub fn new(config: TelemetryConfig) -> Telemetry {
        Telemetry {
            egress: EgressSamples::new(config.sample_cycles),
            used: LdUse::new(config.shares.len().max(1), config.interval_cycles),
            is_congested: false,
            told: [0; 4],
            config,
        }
    }

    /// Accounts the time up to a cycle; from then on an answer waits without room, or does not.
    pub fn pass(&mut self, cycle: u64, is_congested: bool) {
        self.egress.pass(cycle, self.is_congested);
        self.used.pass(cycle);
        self.is_congested = is_congested;
    }

    /// A request of a logical device was taken.
    pub fn taken(&mut self, ld: usize) {
        self.used.taken(ld);
    }

    /// What the answer tells that leaves now, with so many requests in a queue of a size.
    pub fn answer(&mut self, ld: usize, (queued, size): (usize, usize)) -> DevLoad {
        let [moderate, severe] = self.config.congestion_percent;
        let total = internal_load(queued, size).max(self.egress.load(moderate, severe));
        let load = match self.config.shares.get(ld) {
            None => total,
            Some(share) => {
                let used = self.used.used();
                let is_over = over_allocation(&used, &self.config.shares)[ld];
                told(total, over_limit(used[ld], *share, size as u64), is_over)
            }
        };
        self.used.answered(ld);
        self.told[usize::from(load)] += 1;
        DevLoad(load)
    }
}
