//! `fabric.queue`: a queue with one server, M/D/1, see [`scalepool_nodes::fabric::md1_queue`].
//!
//! Modelled: a component without ports; packets come and go by themselves.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{Component, ComponentKind, ComponentNode, NodeError, PortDecl, Site, component};
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_kernel::Clock;
use scalepool_nodes::fabric::md1_queue::{self, Md1Config, Md1Queue, Md1Result};
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "fabric.queue",
    about: "queue with one server, exponential arrivals and constant service (M/D/1); it has no port",
    fields: FabricQueue::fields,
    read: component::<FabricQueue>,
    external: &[],
    metrics: &[METRICS],
};

metrics! {
    /// What a queue counts.
    static METRICS {
        PACKETS = "packets served" ["packets"] Sum, "packets that have left";
        WAIT = "mean wait of packets" ["millionths of a service time"] Largest, "from coming to the beginning of service";
        THEORY = "mean wait by theory" ["millionths of a service time"] Largest, "load / (2 (1 - load)) (fabric §6.1)";
    }
}

config! {
    /// A queue. Numbers are of the model (basis: model).
    pub struct FabricQueue {
        service: u64 = "1 us" [Unit::Time] in FieldRange::Int(1_000_000, 10_000_000_000), "time of a service";
        load: f64 = "0.5" [Unit::Of("-")] in FieldRange::Real(0.01, 0.99), "share of the time in which the server works";
        packets: u64 = "1000000" [Unit::Of("packets")] in FieldRange::Int(1, 1 << 24), "packets that are measured; at a load of 0.9 their mean wait scatters by 2.5 percent, and of 4000000 packets by half of that (fabric §6.1)";
        warm_up: u64 = "1000" [Unit::Of("packets")] in FieldRange::Int(0, 1 << 24), "packets before these, which are not measured";
    }
}

impl Component for FabricQueue {
    fn ports(&self) -> Vec<PortDecl> {
        Vec::new()
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(Vec::new())
    }

    /// Gaps that are 64 times as long as the mean are rarer than one in 10^27.
    fn own_wait_fs(&self, _: Clock) -> u64 {
        (64.0 * self.service as f64 / self.load) as u64
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let FabricQueue { service: service_fs, load, packets, warm_up } = *self;
        let result: Arc<Mutex<Md1Result>> = Arc::default();
        let (seen, name) = (result.clone(), format!("{}.server", site.path));
        let tap = hub.tap(&name, md1_queue::SHOWS);
        let config = Md1Config { service_fs, load, warm_up, packets };
        Ok(ComponentNode {
            place: Box::new(move |p, clock, _| {
                p.module(&name, clock, |bind| Md1Queue::new(config, bind.rng(), tap, result))
            }),
            measure: Box::new(move || measured(&super::published(&seen), service_fs, load)),
            digest: Vec::new(),
            ledger: None,
        })
    }
}

fn measured(result: &Md1Result, service_fs: u64, load: f64) -> ComponentMeasured {
    let services = u128::from(result.measured.max(1)) * u128::from(service_fs);
    ComponentMeasured {
        counts: vec![
            (&PACKETS, result.packets),
            (&WAIT, (result.wait_fs * 1_000_000 / services) as u64),
            (&THEORY, (1e6 * load / (2.0 * (1.0 - load))).round() as u64),
        ],
        latencies: result.latencies.clone(),
        ..ComponentMeasured::default()
    }
}
