//! `ualink.accelerator`: an originator and completer of UALink transactions, see [`scalepool_nodes::ualink::accelerator`].

use crate::field::{Config, Range, config};
use crate::kind::{Component, ComponentKind, Ledger, Measured, Node, NodeError, PortDecl, Role, Site, component};
use crate::quantity::Unit;
use scalepool_kernel::Rng;
use scalepool_nodes::Broken;
use scalepool_nodes::ualink::accelerator::{self, Accelerator, AcceleratorConfig, AcceleratorResult, PortEnds};
use scalepool_nodes::ualink::channels;
use scalepool_nodes::ualink::completer::Responses;
use scalepool_nodes::ualink::port::{Port, Tamper};
use scalepool_nodes::ualink::traffic::{Generator, Mix, Pattern, Traffic};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "ualink.accelerator",
    about: "accelerator that reads, writes and updates the memory of the others; its ports are `port[n]`",
    fields: UalAccelerator::fields,
    read: component::<UalAccelerator>,
    external: &[],
};

config! {
    /// What an accelerator asks the others for.
    pub struct UalTraffic {
        pattern: String = "all-to-all" [Unit::Of("-")] in Range::Words(&["all-to-all", "ring", "hot-spot", "random"]), "destinations of the operations; hot-spot = accelerator 0";
        mix: String = "mix" [Unit::Of("-")] in Range::Words(&["reads", "writes", "mix", "all"]), "mix = two reads per write; all = any size, with atomics";
        bytes: u16 = "256" [Unit::Bytes] in Range::OneOf(&[64, 128, 192, 256]), "bytes of an operation, except with mix = \"all\"";
        regions: u64 = "1" [Unit::Of("regions")] in Range::Int(1, 64), "1 MB regions that an accelerator uses in each memory";
        blocks: u64 = "64" [Unit::Of("blocks")] in Range::Int(1, 4096), "blocks of 256 bytes that an accelerator uses in each region";
        operations: u64 = "500" [Unit::Of("operations")] in Range::Int(1, 1 << 24), "operations of the accelerator";
        start_cycles: u64 = "2500" [Unit::Of("cycles")] in Range::Int(0, 1 << 30), "cycles before the first operation, from which goodput counts; links come up in about 1 us at x4";
        interval_cycles: u64 = "0" [Unit::Of("cycles")] in Range::Int(0, 1 << 30), "cycles from one operation to the next; 0 = unthrottled";
        poison_every: u64 = "0" [Unit::Of("writes")] in Range::Int(0, 1 << 30), "poison one beat in every N writes; 0 = none";
    }
}

config! {
    /// An accelerator. Numbers without another source are of the model (basis: model).
    pub struct UalAccelerator {
        ports: usize = "1" [Unit::Of("ports")] in Range::Int(1, 16), "links of the accelerator";
        outstanding: usize = "1024" [Unit::Of("operations")] in Range::Int(1, 1 << 16), "open operations";
        vcs: u8 = "1" [Unit::Of("channels")] in Range::Int(1, 4), "virtual channels that it uses";
        latency_cycles: u64 = "100" [Unit::Of("cycles")] in Range::Int(1, 1 << 30), "latency from request to answer in its memory";
        queue: usize = "512" [Unit::Of("answers")] in Range::Int(4, 1 << 20), "answers that its completer queues for a port";
        responses: String = "multi" [Unit::Of("-")] in Range::Words(&["multi", "single"]), "read responses carry all beats, or one each (ualink §12)";
        timeout: u64 = "2 ms" [Unit::Time] in Range::Int(1, 1 << 50), "answer time-out, after which the port is isolated (ualink §12)";
        traffic: UalTraffic = "" [Unit::Of("-")] in Range::Table(UalTraffic::fields), "what it asks for";
    }
}

impl Component for UalAccelerator {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(self.ports), links: &["ualink"], role: Role::Node }]
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<Node, NodeError> {
        let is_direct = site.ports.iter().any(|port| port.peer_role == Role::Node);
        if is_direct && site.member.nodes != 2 {
            let text = format!(
                "found a link to another accelerator among {}, expected a switch with a port for each: a transaction takes any port of an accelerator",
                site.member.nodes
            );
            return Err(NodeError::Joined { path: site.path.to_owned(), text });
        }
        let (name, UalTraffic { bytes, regions, blocks, operations, .. }) =
            (site.path.to_owned(), self.traffic.clone());
        let traffic = Traffic {
            own: site.member.own,
            accelerators: site.member.nodes,
            pattern: match self.traffic.pattern.as_str() {
                "ring" => Pattern::Ring,
                "hot-spot" => Pattern::HotSpot,
                "random" => Pattern::Random,
                _ => Pattern::AllToAll,
            },
            mix: match self.traffic.mix.as_str() {
                "reads" => Mix::Reads,
                "writes" => Mix::Writes,
                "mix" => Mix::TwoToOne,
                _ => Mix::All,
            },
            bytes,
            regions,
            blocks,
            count: operations,
            key_roll_every: 0,
        };
        let config = AcceleratorConfig {
            own: site.member.own,
            place: name.clone(),
            operations: Generator::new(traffic, Rng::for_name(site.seed, &format!("{name}:operations"))),
            start_cycle: self.traffic.start_cycles,
            interval_cycles: self.traffic.interval_cycles,
            outstanding: self.outstanding,
            vcs: self.vcs,
            poison_every: self.traffic.poison_every,
            timeout_fs: self.timeout,
            latency_cycles: self.latency_cycles,
            queue: self.queue,
            responses: if self.responses == "single" { Responses::Single } else { Responses::Multi },
        };
        let tap = hub.tap(&name, accelerator::SHOWS);
        let result: Arc<Mutex<AcceleratorResult>> = Arc::default();
        let (shared, seen, ledger) = (result.clone(), result.clone(), Ledger::Ualink(result));
        let from_fs = site.clock.edge(self.traffic.start_cycles).as_fs();
        let path = name.clone();
        Ok(Node {
            place: Box::new(move |p, clock, plugs| {
                let mut ends = Vec::new();
                for (n, plug) in plugs.into_iter().enumerate() {
                    let (socket, flit) = plug.ualink();
                    let (own, (tx, rx)) = channels(p, &name, "", n)?;
                    ends.push(own);
                    let port_name = socket.name().to_owned();
                    p.module(&port_name, flit, |bind| Port {
                        link: socket.bind(bind),
                        tx: tx.map(|end| bind.attach(end)),
                        rx: rx.map(|end| bind.attach(end)),
                        guard: None,
                        tamper: Tamper::default(),
                    })?;
                }
                p.module(&name, clock, |bind| {
                    let ports = ends.into_iter().map(|(tx, rx)| PortEnds {
                        tx: tx.map(|end| bind.attach(end)),
                        rx: rx.map(|end| bind.attach(end)),
                    });
                    let ports = ports.collect();
                    Accelerator::new(config, ports, bind.rng(), tap, shared)
                })
            }),
            measure: Box::new(move || measured(&path, from_fs, &super::published(&seen))),
            digest: Vec::new(),
            ledger: Some(ledger),
        })
    }
}

fn measured(path: &str, from_fs: u64, result: &AcceleratorResult) -> Measured {
    let mut broken = result.broken.clone();
    if result.dummies > 0 {
        let found = format!("{} operations answered by dummies", result.dummies);
        let violation = Violation::at_byte("SIM-E2E-03", 0, found, "no open request", "the originator is isolated");
        broken.push(Broken { place: path.to_owned(), violation });
    }
    Measured {
        counts: vec![
            ("operations", result.done),
            ("reads", result.issued[0]),
            ("writes", result.issued[1]),
            ("atomics", result.issued[2]),
            ("dummy answers", result.dummies),
            ("late answers", result.late),
        ],
        bytes: result.bytes,
        latency_cycles: result.latency_cycles.clone(),
        latency_fs: result.latency_fs.clone(),
        broken,
        from_fs,
        to_fs: None,
        ..Measured::default()
    }
}
