//! `fabric.crossbar`: the crossbar of queueing theory, see [`scalepool_nodes::fabric::slotted_crossbar`].
//!
//! Modelled: a component without ports; its sources and sinks are its own. A slot is a cycle of its clock.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{Component, ComponentKind, ComponentNode, NodeError, PortDecl, Site, component};
use crate::measured::{ComponentMeasured, PacketTraffic};
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_fabric::vc_router::RouterAllocator;
use scalepool_nodes::fabric::slotted_crossbar::{
    self, CrossbarPairing, CrossbarQueueing, CrossbarResult, SlottedCrossbar, SlottedCrossbarConfig,
};
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "fabric.crossbar",
    about: "crossbar in slots with queues at inputs or outputs, of no protocol, with its sources and sinks; it has no port",
    fields: FabricCrossbar::fields,
    read: component::<FabricCrossbar>,
    external: &[],
    metrics: &[METRICS],
};

metrics! {
    /// What a crossbar counts.
    static METRICS {
        CROSSBARS = "crossbars" ["crossbars"] Sum, "crossbars";
        OFFERED = "cells offered" ["cells"] Sum, "cells that came in measured slots";
        ACCEPTED = "cells accepted" ["cells"] Sum, "cells that left in measured slots";
        FULL = "full slots" ["slots"] Sum, "measured slots in which every output got a cell";
        THROUGHPUT = "throughput" ["millionths of a cell per slot and port"] Largest, "cells that left in measured slots, a slot and port";
        WAIT = "mean wait" ["millionths of a slot"] Largest, "latency without the slot in which the cell leaves";
    }
}

/// Allocators by name, and the random one.
const ARBITERS: &[&str] = &["islip", "separable-input-first", "separable-output-first", "random"];

config! {
    /// A crossbar. Numbers are of the model (basis: model).
    pub struct FabricCrossbar {
        ports: usize = "16" [Unit::Of("ports")] in FieldRange::Int(2, 64), "inputs, and as many outputs";
        arbiter: String = "islip" [Unit::Of("-")] in FieldRange::Words(ARBITERS), "which inputs send to which outputs (fabric §6.1); random = outputs pick inputs, then inputs outputs, at random";
        queueing: String = "voq" [Unit::Of("-")] in FieldRange::Words(&["fifo", "voq", "output"]), "where cells wait: one queue at each input (fifo), one at each input for each output (voq), or at the outputs (output)";
        arrivals: String = "bernoulli" [Unit::Of("-")] in FieldRange::Words(&["bernoulli", "full"]), "how cells come: at random with the load (bernoulli), or so that every queue always has one (full)";
        load: f64 = "0.5" [Unit::Of("cells per slot")] in FieldRange::Real(0.0, 1.0), "cells that come at each input in a slot, for any output; no matter where queues are full";
        slots: u64 = "20000" [Unit::Of("slots")] in FieldRange::Int(1, 1 << 30), "slots that are measured";
        warm_up: u64 = "1000" [Unit::Of("slots")] in FieldRange::Int(0, 1 << 30), "slots before these, which are not measured";
    }
}

impl Component for FabricCrossbar {
    fn ports(&self) -> Vec<PortDecl> {
        Vec::new()
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(Vec::new())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let refused = |text: String| NodeError::Joined { path: site.path.to_owned(), text };
        let pairing = match self.arbiter.as_str() {
            "random" => CrossbarPairing::Random,
            name => {
                let allocator = RouterAllocator::by_name(name, self.ports, self.ports);
                CrossbarPairing::Allocator(allocator.map_err(|error| refused(error.to_string()))?)
            }
        };
        let is_full = self.arrivals == "full";
        let config = SlottedCrossbarConfig {
            ports: self.ports,
            queueing: match self.queueing.as_str() {
                "fifo" => CrossbarQueueing::Fifo,
                "output" => CrossbarQueueing::Output,
                _ => CrossbarQueueing::Voq,
            },
            pairing,
            load: (!is_full).then_some(self.load),
            warm_up_slots: self.warm_up,
            measured_slots: self.slots,
        };
        let result: Arc<Mutex<CrossbarResult>> = Arc::default();
        let (seen, name) = (result.clone(), format!("{}.crossbar", site.path));
        let tap = hub.tap(&name, slotted_crossbar::SHOWS);
        Ok(ComponentNode {
            place: Box::new(move |p, clock, _| {
                p.module(&name, clock, |bind| SlottedCrossbar::new(config, bind.rng(), tap, result))
            }),
            measure: Box::new(move || self.measured(&super::published(&seen))),
            digest: Vec::new(),
            ledger: None,
        })
    }
}

impl FabricCrossbar {
    fn measured(&self, result: &CrossbarResult) -> ComponentMeasured {
        let cells = result.latencies.len();
        let slots: u64 = result.latencies.each().map(|((latency, _), times)| latency * times).sum();
        let millionths = |n: u64, of: u64| (u128::from(n) * 1_000_000 / u128::from(of.max(1))) as u64;
        ComponentMeasured {
            counts: vec![
                (&CROSSBARS, 1),
                (&OFFERED, result.offered),
                (&ACCEPTED, result.accepted),
                (&FULL, result.full_slots),
                (&THROUGHPUT, millionths(result.accepted, self.slots * self.ports as u64)),
                (&WAIT, millionths(slots - cells, cells)),
            ],
            latencies: result.latencies.clone(),
            packets: Some(PacketTraffic {
                nodes: self.ports as u64,
                from_cycle: self.warm_up,
                cycles: self.slots,
                offered_flits: result.offered,
                accepted_flits: result.accepted,
                packets: cells,
                hops: cells,
            }),
            ..ComponentMeasured::default()
        }
    }
}
