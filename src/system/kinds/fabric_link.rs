//! `fabric`: a channel of a fabric that carries no protocol: a flit and a credit a cycle in each direction.
//!
//! Modelled: latency, in cycles; that of a cable is rounded up to cycles. Left out: errors, and the size of a flit. Its virtual channels have their credits at its ends.

use super::cable::Cable;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    BuiltLink, Carried, Clocks, ComponentPlug, ConfigFinding, Link, LinkEndSite, LinkFacts, LinkKind, LinkSite,
    PortRole, link,
};
use crate::measured::LinkMeasured;
use crate::quantity::Unit;
use scalepool_fabric::vc_router::{MOST_LINES, VcPortEnds};
use scalepool_kernel::{BuildError, Clock, LinkInEnd, LinkOutEnd, PartitionBuilder, Simulation};
use scalepool_link::sim_port::SimPort;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: LinkKind = LinkKind {
    name: "fabric",
    about: "channel between routers, or a router and a node, of no protocol: a flit and a credit a cycle each way",
    fields: FabricLink::fields,
    read: link::<FabricLink>,
    metrics: &[],
};

config! {
    /// A channel. Numbers are of the model (basis: model).
    pub struct FabricLink with { cable: Cable } {
        cycle: u64 = "1 ns" [Unit::Time] in FieldRange::Int(1000, 1 << 30), "cycle time, which is the clock of its ends";
        latency: u64 = "1" [Unit::Of("cycles")] in FieldRange::Int(1, 4096), "cycles that a flit or a credit is on the wire";
        vcs: usize = "4" [Unit::Of("virtual channels")] in FieldRange::Int(1, MOST_LINES as u64), "virtual channels, each with credits of its own";
    }
}

/// Classes of a channel: its virtual channels.
pub(crate) static VC_NAMES: [&str; MOST_LINES] = [
    "vc0", "vc1", "vc2", "vc3", "vc4", "vc5", "vc6", "vc7", "vc8", "vc9", "vc10", "vc11", "vc12", "vc13", "vc14",
    "vc15", "vc16", "vc17", "vc18", "vc19", "vc20", "vc21", "vc22", "vc23", "vc24", "vc25", "vc26", "vc27", "vc28",
    "vc29", "vc30", "vc31", "vc32", "vc33", "vc34", "vc35", "vc36", "vc37", "vc38", "vc39", "vc40", "vc41", "vc42",
    "vc43", "vc44", "vc45", "vc46", "vc47", "vc48", "vc49", "vc50", "vc51", "vc52", "vc53", "vc54", "vc55", "vc56",
    "vc57", "vc58", "vc59", "vc60", "vc61", "vc62", "vc63",
];

impl FabricLink {
    fn clock(&self) -> Clock {
        Clock::with_period_fs(self.cycle).unwrap_or_else(|e| unreachable!("a cycle of the range: {e}"))
    }

    /// From the edge at which a beat leaves a module to the one at which it is there: the wire, a cable in whole cycles, and the
    /// register in front of it.
    fn way_fs(&self) -> u64 {
        self.cycle * (self.latency + self.cable.delay_fs().div_ceil(self.cycle) + 1)
    }
}

impl Link for FabricLink {
    fn facts(&self) -> LinkFacts {
        LinkFacts { carried: Carried::Flits { clock: self.clock(), vcs: self.vcs }, unit_bytes_per_s: 0.0 }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        Vec::new()
    }

    fn directions(&self, roles: [PortRole; 2]) -> [&'static str; 2] {
        if roles[0] == PortRole::Terminal { ["injected", "ejected"] } else { ["onward", "back"] }
    }

    fn channels(&self, _: [PortRole; 2]) -> [Vec<&'static str>; 2] {
        [VC_NAMES[..self.vcs].to_vec(), VC_NAMES[..self.vcs].to_vec()]
    }

    /// Above any wait of a packet that moves at all: 2^20 cycles.
    fn settle_fs(&self) -> u64 {
        self.cycle << 20
    }

    fn latency_fs(&self, _: usize) -> u64 {
        self.way_fs()
    }

    fn ber(&self) -> f64 {
        0.0
    }

    fn build(self: Box<Self>, sim: &mut Simulation, site: &LinkSite<'_>) -> Result<BuiltLink, BuildError> {
        let [first, second] = site.ports;
        let (a_tx, b_rx) = sim.link(&format!("{first}.tx"), self.way_fs())?;
        let (b_tx, a_rx) = sim.link(&format!("{second}.tx"), self.way_fs())?;
        let sent: [Arc<Mutex<u64>>; 2] = Default::default();
        let end = |name: &str, tx: LinkOutEnd<_>, rx: LinkInEnd<_>, sent: &Arc<Mutex<u64>>| {
            let ends = VcPortEnds { tx, rx, sent: sent.clone() };
            // A flit has no bytes; a watcher counts it as one.
            Box::new(FabricLinkEnd { port: SimPort::new(name, KIND.name, 1), ends })
        };
        let ends: [Box<dyn LinkEndSite>; 2] = [end(first, a_tx, a_rx, &sent[0]), end(second, b_tx, b_rx, &sent[1])];
        let cycle_fs = self.cycle;
        let measure = move |ending: &crate::measured::Ending| LinkMeasured {
            units: [0, 1].map(|n| super::published(&sent[n])),
            unit_slots: ending.at.as_fs() / cycle_fs.max(1),
            is_whole: true,
            ..LinkMeasured::default()
        };
        Ok(BuiltLink { ends, measure: Box::new(measure) })
    }
}

/// One end.
struct FabricLinkEnd {
    port: SimPort,
    ends: VcPortEnds,
}

impl LinkEndSite for FabricLinkEnd {
    fn port(&self) -> SimPort {
        self.port.clone()
    }

    fn tap(&mut self, _: &mut Hub) {}

    fn place(self: Box<Self>, _: &mut PartitionBuilder, _: &mut Clocks) -> Result<Option<ComponentPlug>, BuildError> {
        Ok(Some(ComponentPlug::Flits(self.ends)))
    }
}
