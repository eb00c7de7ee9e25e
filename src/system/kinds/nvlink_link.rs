//! `nvlink`: an NVLink of model profile NVL-M1, see [`scalepool_link::nvlink`]. Basis: model, no product.

use super::cable::Cable;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    BuiltLink, Carried, Clocks, ComponentPlug, ConfigFinding, ExternalComponent, Link, LinkEndSite, LinkFacts,
    LinkKind, LinkSite, PortRole, UnitsInFlight, link,
};
use crate::measured::{Ending, LinkMeasured};
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_kernel::{BuildError, Clock, PartitionBuilder, Simulation};
use scalepool_link::external::Feed;
use scalepool_link::fault::Fault;
use scalepool_link::nvlink::port::{CHANNELS, NvlReport};
use scalepool_link::nvlink::wiring::{self, NvlLinkCommon, Socket};
use scalepool_link::nvlink::{Buffers, LinkConfig};
use scalepool_link::port::PortResult;
use scalepool_link::sim_port::SimPort;
use scalepool_nodes::PlacedViolation;
use scalepool_protocols::nvlink::{C2C_RATE, FLIT_BYTES, GENERATIONS, Generation, MAX_FLITS};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: LinkKind = LinkKind {
    name: "nvlink",
    about: "NVLink of model profile NVL-M1 with flits of 16 bytes, between GPUs and switches",
    fields: NvLink::fields,
    read: link::<NvLink>,
    metrics: &[METRICS],
};

metrics! {
    /// What a link counts.
    static METRICS {
        REPLAYED = "replayed packets" ["packets"] Sum, "packets sent again";
        CARRIERS = "credit carriers" ["packets"] Sum, "packets sent for their credits alone";
        PRESSED = "ports under back-pressure" ["ports"] Sum, "ports whose receiver was full at least once";
    }
}

/// Listed faults.
const FAULTS: &str = "flip:FLIT:BIT, noise:FLIT, drop:FLIT; `up:` in front for the flits of the second GPU";
/// Time without progress before a replay \[fs\] (`nvlink` §6.3).
const TIMEOUT_FS: u64 = 2_000_000_000;
/// Messages between a port and its user.
const CHANNEL_DEPTH: u32 = 8;

/// Class of requests with an answer.
pub(super) const REQUEST: &str = "request";
/// Class of posted requests.
pub(super) const POSTED: &str = "posted request";
/// Class of answers.
pub(super) const RESPONSE: &str = "response";
/// Classes, in the order of their channels.
const CLASSES: [&str; 3] = [REQUEST, POSTED, RESPONSE];

config! {
    /// An NVLink. Numbers without another source are of the model (basis: model).
    pub struct NvLink with { cable: Cable } {
        generation: String = "5" [Unit::Of("-")] in FieldRange::Words(&["1", "2", "3", "4", "5", "c2c"]), "NVLink generation, which sets the rate of a link (nvlink §4); c2c = the rate of NVLink-C2C (nvlink §5) with the same packets";
        latency: u64 = "60 ns" [Unit::Time] in FieldRange::Int(1, 1 << 40), "latency of PHY, data link and wire in each direction (nvlink §5, a choice)";
        skew: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 40), "latency that each link of an array has in addition to the link before it";
        ber: f64 = "0" [Unit::Of("errors per bit")] in FieldRange::Real(0.0, 0.1), "bit error rate of both directions";
        give_up: u32 = "64" [Unit::Of("tries")] in FieldRange::Int(1, 1 << 20), "replays in a row, without one good packet, after which the run ends (SIM-LNK-01)";
        fault: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(FAULTS), "faults to inject at numbered flits, counted from 0 in the order sent, IDLE flits included";
        credits_hold: u64 = "0" [Unit::Of("flit clocks")] in FieldRange::Int(0, 1 << 20), "time for which the second GPU holds back freed credits";
        stall: u64 = "0" [Unit::Of("percent")] in FieldRange::Int(0, 90), "share of the time for which each receiving port stalls at random";
        headers: u16 = "128" [Unit::Of("packets per channel")] in FieldRange::Int(1, 1024), "receive buffers for packets; 32 as in nvlink §6.3 would throttle a link with a latency of 60 ns";
        data_flits: u16 = "1024" [Unit::Of("flits per channel")] in FieldRange::Int(16, 16384), "receive buffers for data flits; 256 as in nvlink §6.3 would throttle a link with a latency of 60 ns";
    }
}

/// Memory of a flit under way beside its bytes.
const BESIDE_BYTES: usize = 48;

impl NvLink {
    fn generation(&self) -> &'static Generation {
        match self.generation.parse::<usize>() {
            Ok(n) => &GENERATIONS[n - 1],
            Err(_) => &C2C_RATE,
        }
    }

    fn flit_clock(&self) -> Clock {
        Clock::with_period_fs(self.generation().flit_fs()).unwrap_or_else(|e| unreachable!("a rate of the sheet: {e}"))
    }

    fn faults(&self) -> ([Vec<Fault>; 2], Vec<ConfigFinding>) {
        super::faults(&self.fault, FLIT_BYTES, FAULTS)
    }
}

impl Link for NvLink {
    fn facts(&self) -> LinkFacts {
        let flit_fs = self.generation().flit_fs();
        LinkFacts {
            carried: Carried::Nvlink { flit_clock: self.flit_clock(), link_mbps: self.generation().link_mbps() },
            unit_bytes_per_s: FLIT_BYTES as f64 * 1e15 / flit_fs as f64,
        }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let why = "what is not acknowledged within 2000 ns goes again (nvlink §6.3)";
        // An acknowledgement may wait for a packet that has begun.
        let packet_fs = MAX_FLITS as u64 * self.generation().flit_fs();
        let most_fs = TIMEOUT_FS / 2 - packet_fs;
        let too_long = self.cable.too_long([("latency", self.latency)], (self.latency_fs(0), most_fs), why);
        self.faults().1.into_iter().chain(too_long).collect()
    }

    fn channels(&self, _: [PortRole; 2]) -> [Vec<&'static str>; 2] {
        [CLASSES.to_vec(), CLASSES.to_vec()]
    }

    fn on_wire(&self, _: [PortRole; 2], index: usize) -> Option<UnitsInFlight> {
        let skew_fs = self.skew.saturating_mul(index as u64);
        Some(UnitsInFlight {
            key: self.cable.slowest([("latency", self.latency), ("skew", skew_fs)]),
            way_fs: self.latency_fs(index),
            unit_time_fs: (self.generation().flit_fs(), 1),
            unit_bytes: FLIT_BYTES + BESIDE_BYTES,
        })
    }

    fn hold_fs(&self) -> u64 {
        self.credits_hold.saturating_mul(self.generation().flit_fs())
    }

    /// Above 8 replays of 2000 ns each.
    fn settle_fs(&self) -> u64 {
        200_000_000_000
    }

    fn latency_fs(&self, index: usize) -> u64 {
        (index as u64).saturating_mul(self.skew).saturating_add(self.latency + self.cable.delay_fs())
    }

    fn ber(&self) -> f64 {
        self.ber
    }

    fn build(self: Box<Self>, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError> {
        let kind = NvlLinkCommon {
            config: LinkConfig::of(self.generation()),
            buffers: Buffers::of_default_channels(self.headers, self.data_flits),
            ber: self.ber,
            give_up: self.give_up,
            stall_percent: self.stall,
            channel_depth: CHANNEL_DEPTH,
        };
        let (faults, _) = self.faults();
        let mut results = Vec::new();
        let ends = wiring::link(sim, site.ports, self.latency_fs(site.index))?;
        let mut sites = ends.into_iter().zip(faults).enumerate().map(|(n, (mut socket, faults))| {
            let feed = (site.external[n] == Some(ExternalComponent::Flits)).then(Feed::default);
            let port = SimPort { feed, ..SimPort::new(socket.name(), "nvlink", FLIT_BYTES) };
            socket.hooks = port.hooks.clone();
            socket.faults = faults;
            socket.hold_credits_flits = if n == 1 { self.credits_hold } else { 0 };
            results.push((port.clone(), socket.result.clone()));
            let (clock_name, flit_clock) = (format!("{}.flit", site.path), self.flit_clock());
            Box::new(NvlLinkEnd { socket, port, clock_name, flit_clock, kind })
        });
        let (Some(first), Some(second)) = (sites.next(), sites.next()) else { unreachable!("a link has two ends") };
        drop(sites);
        let flit_fs = self.generation().flit_fs();
        Ok(BuiltLink { ends: [first, second], measure: Box::new(move |ending| measured(&results, flit_fs, ending)) })
    }
}

/// One end.
struct NvlLinkEnd {
    socket: Socket,
    port: SimPort,
    clock_name: String,
    flit_clock: Clock,
    kind: NvlLinkCommon,
}

impl LinkEndSite for NvlLinkEnd {
    fn port(&self) -> SimPort {
        self.port.clone()
    }

    fn tap(&mut self, hub: &mut Hub) {
        self.socket.tap(hub);
    }

    fn place(
        self: Box<Self>,
        p: &mut PartitionBuilder,
        clocks: &mut Clocks,
    ) -> Result<Option<ComponentPlug>, BuildError> {
        let NvlLinkEnd { socket, port, clock_name, flit_clock, kind } = *self;
        let flit = clocks.id(p, &clock_name, flit_clock)?;
        if let Some(feed) = port.feed {
            socket.place_external(p, flit, kind.ber, feed)?;
            return Ok(None);
        }
        Ok(Some(ComponentPlug::Nvlink(socket.place(p, flit, &kind)?, flit)))
    }
}

fn measured(results: &[(SimPort, Arc<Mutex<PortResult<NvlReport>>>)], flit_fs: u64, ending: &Ending) -> LinkMeasured {
    let ports = results.iter().map(|(_, result)| super::published(result)).collect::<Vec<_>>();
    let ends: Vec<NvlReport> = ports.iter().map(|port| port.end.clone().unwrap_or_default()).collect();
    let is_driven = |n: usize| results[n].0.feed.is_some();
    let sum = |of: fn(&NvlReport) -> u64| ends.iter().map(of).sum::<u64>();
    let clocks = ending.clocks((flit_fs, 1));
    let (mut broken, mut astray) = (Vec::new(), Vec::new());
    for (n, port) in ports.iter().enumerate() {
        let name = &results[n].0.name;
        broken.extend(super::broken(name, &port.violations));
        // What one end has sent and still owes is known to the other one, which is the caller's.
        if is_driven(0) || is_driven(1) {
            continue;
        }
        let text = "credits or requests are still open at the end of the run";
        astray.extend(ends[n].astray(&ends[1 - n]).into_iter().map(|(found, expected)| PlacedViolation {
            place: name.clone(),
            violation: Violation::at_byte("SIM-E2E-03", 0, found, expected, text),
        }));
    }
    LinkMeasured {
        units: [0, 1].map(|n| ends[n].stats.sent_flits),
        messages: CHANNELS
            .iter()
            .enumerate()
            .map(|(n, vc)| (format!("{vc:?}"), ends.iter().map(|end| end.delivered[n]).sum()))
            .collect(),
        retries: sum(|end| end.stats.replays),
        credit_stalls: sum(|end| end.credit_stalls),
        damaged: ports.iter().map(|port| port.damaged).sum(),
        is_whole: ends.iter().all(|end| !end.down),
        // A packet is counted when it begins, so the last one may end behind the run.
        times: [0, 1].map(|n| {
            let time = ports[n].time;
            (!is_driven(n)).then(|| time.of_line(time.total().max(clocks * 8 * FLIT_BYTES as u64)))
        }),
        counts: vec![
            (&REPLAYED, sum(|end| end.stats.replayed)),
            (&CARRIERS, sum(|end| end.stats.carriers)),
            (&PRESSED, sum(|end| u64::from(end.stalled_windows > 0))),
        ],
        coverage: Vec::new(),
        rows: Vec::new(),
        health: (0..ports.len())
            .filter(|&n| !is_driven(n))
            .map(|n| (results[n].0.name.clone(), ports[n].health.clone()))
            .collect(),
        broken,
        astray,
        ..LinkMeasured::default()
    }
}
