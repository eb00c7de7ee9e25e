//! What components and links leave behind: figures, broken rules, what is still open.
//!
//! A report is made of these alone. Each component and link gives its own ([`ComponentMeasured`], [`LinkMeasured`])
//! whenever a run is looked at; which counts there can be stands with its kind ([`Metric`](super::metric::Metric)).

use super::draw::LinkLoad;
use super::metric::MetricValue;
use scalepool_kernel::{Clock, RunReport, SimError, Stop, Time};
use scalepool_link::coverage::Met;
use scalepool_link::health::LinkHealth;
use scalepool_link::line_time::{LineTime, Use};
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::cxl::memory::KeptCommands;
use scalepool_nodes::latencies::Latencies;

/// How a run has ended, for those that judge what is left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Nothing is under way and nothing waits.
    pub at_rest: bool,
    /// No stall, no deadlock.
    pub well: bool,
    /// When.
    pub at: Time,
    /// The time was over; what was due at its last instant has not happened.
    pub at_limit: bool,
}

impl Ending {
    /// Of a run.
    pub fn of(ended: &Result<RunReport, SimError>) -> Ending {
        match ended {
            Ok(RunReport { stop, end, .. }) => {
                Ending { at_rest: *stop == Stop::Quiescent, well: true, at: *end, at_limit: *stop == Stop::Limit }
            }
            Err(error) => Ending { at_rest: false, well: false, at: error.at(), at_limit: false },
        }
    }

    /// Edges of a clock of (numerator, denominator) fs from the start to the end.
    pub fn clocks(&self, (num, den): (u64, u64)) -> u64 {
        let Ok(clock) = Clock::new(num, den, 0) else { return 0 };
        if self.at_limit { clock.first_at_or_after(self.at) } else { clock.first_after(self.at) }
    }
}

/// Gives the figures of a component.
pub type Measure = Box<dyn Fn() -> ComponentMeasured>;

/// Gives the figures of a link.
pub type MeasureLink = Box<dyn Fn(&Ending) -> LinkMeasured>;

/// Figures of a component.
#[derive(Debug, Clone, Default)]
pub struct ComponentMeasured {
    /// What it counts, in the order of the report.
    pub counts: Vec<MetricValue>,
    /// Messages sent, by name; where agents count them, links do not.
    pub messages: Vec<(String, u64)>,
    /// A check has ended its part of the run, so open work is no news.
    pub has_stopped: bool,
    /// Bytes of finished reads and writes.
    pub bytes: u64,
    /// Request to answer, by transaction, in cycles of its clock.
    pub latencies: Latencies,
    /// Checks that failed.
    pub broken: Vec<PlacedViolation>,
    /// What is left over at rest.
    pub astray: Vec<PlacedViolation>,
    /// It has been isolated, or has given requests up, so not everything that was sent has come.
    pub is_isolated: bool,
    /// Time before its first request \[fs\].
    pub from_fs: u64,
    /// When its work was done \[fs\], if that is not the end of the run.
    pub to_fs: Option<u64>,
    /// What a node of a fabric has offered and taken.
    pub traffic: Option<NodeTraffic>,
    /// The same of nodes without a protocol.
    pub packets: Option<PacketTraffic>,
    /// Commands of each of its DRAMs, if it has any and the run keeps them.
    pub dram_commands: Option<Vec<KeptCommands>>,
    /// Cycles that flits or messages spent in its buffers, by class.
    pub buffered: Vec<(&'static str, u64)>,
    /// Coverage points that all components of a system share.
    pub rows: Vec<Met>,
    /// Links from source to destination over this switch, arithmetic mean; `None`: it is no switch.
    pub hops_mean: Option<f64>,
}

/// What a node of a fabric has wanted to send, and what it has received.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeTraffic {
    /// Wanted.
    pub offered: Offered,
    /// Flits received.
    pub accepted_flits: u64,
}

/// What nodes without a protocol have measured in a window of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketTraffic {
    /// Nodes that it is the sum of.
    pub nodes: u64,
    /// First cycle of the window.
    pub from_cycle: u64,
    /// Cycles of the window.
    pub cycles: u64,
    /// Flits that were made in it.
    pub offered_flits: u64,
    /// Flits that came in it.
    pub accepted_flits: u64,
    /// Packets that were made in it and have come.
    pub packets: u64,
    /// Routers that these have passed.
    pub hops: u64,
}

/// Flits that a node wanted to send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offered {
    /// So many a cycle of the reference clock, as its settings say.
    PerCycle(f64),
    /// So many in all: as fast as they went.
    Flits(u64),
}

/// Figures of a link.
#[derive(Debug, Clone, Default)]
pub struct LinkMeasured {
    /// Units sent, by the first end and by the second.
    pub units: [u64; 2],
    /// Messages sent, by layout.
    pub messages: Vec<(String, u64)>,
    /// The agents at its ends count their messages, which a switch would have twice.
    pub is_counted_by_agents: bool,
    /// Times that something was asked for again.
    pub retries: u64,
    /// Flit clocks in which a message waited for a credit.
    pub credit_stalls: u64,
    /// Units that a fault input damaged.
    pub damaged: u64,
    /// No end has stopped.
    pub is_whole: bool,
    /// Where the time of each direction has gone; `None`: a caller drives it.
    pub times: [Option<LineTime>; 2],
    /// Units for which each direction had time, of a link without an account of its time.
    pub unit_slots: u64,
    /// Further counts, in the order of the report.
    pub counts: Vec<MetricValue>,
    /// Coverage points of the link by itself. A system sums them.
    pub coverage: Vec<Met>,
    /// Coverage points that all links of a system share.
    pub rows: Vec<Met>,
    /// Figures of its ends, by their places; none of an end that a caller drives.
    pub health: Vec<(String, LinkHealth)>,
    /// Rules that the ends saw broken.
    pub broken: Vec<PlacedViolation>,
    /// What is left over at rest.
    pub astray: Vec<PlacedViolation>,
}

impl LinkMeasured {
    /// Share of the time of each direction that went to transactions: payload, headers, and what went again.
    pub fn load(&self) -> LinkLoad {
        [0, 1].map(|n| match self.times[n] {
            Some(time) => {
                let busy: u64 = [Use::Payload, Use::Headers, Use::Replay].map(|of| time.of(of)).iter().sum();
                Some(busy as f64 / time.total().max(1) as f64)
            }
            None if self.unit_slots > 0 => Some(self.units[n] as f64 / self.unit_slots as f64),
            None => None,
        })
    }
}
