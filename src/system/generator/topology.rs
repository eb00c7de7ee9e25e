//! `topology`: nodes and routers joined as a topology has it, see [`scalepool_fabric::topology`].
//!
//! Modelled: node n and router r of the topology are elements n and r of their components; two links, one of channels between
//! routers, one of those between a router and a node. What the description does not set and the topology decides is set too:
//! virtual channels and latency of channels. Left out: places of links on a board.

use super::{Generating, GeneratorKind};
use crate::document::{self, DocumentItem, Value};
use crate::field::{Config, FieldRange, config};
use crate::quantity::Unit;
use scalepool_fabric::topology::{EXPECTED, PortPeer, Topology};

/// The kind.
pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "topology",
    about: "nodes behind routers: mesh, torus, fat tree or dragonfly",
    fields: TopologyOf::fields,
    generate,
};

config! {
    /// Nodes behind routers.
    pub struct TopologyOf {
        shape: String = "mesh:8x8" [Unit::Of("-")] in FieldRange::Text(EXPECTED), "topology (fabric §6.3 and §6.5)";
        nodes: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a node; the generator sets its count and its topology";
        routers: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a router; the generator sets its count, and topology, position and ports of each";
        channels: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between routers; the generator sets what it joins, and its latency and virtual channels where they are not set";
        terminals: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a node and its router; the generator sets what it joins, and its virtual channels where they are not set";
    }
}

impl Generating<'_> {
    /// Sets what the description leaves to the topology.
    fn set_unless_given(&mut self, top: &str, name: &str, key: &str, value: Value) {
        if self.named("shape", top, name).is_some_and(|table| table.get(key).is_none()) {
            self.set(top, name, key, value);
        }
    }
}

fn generate(own: &mut Generating<'_>) {
    let TopologyOf { shape, nodes, routers, channels, terminals } = own.read();
    let topology = match Topology::parse(&shape) {
        Ok(topology) => topology,
        Err(error) => return own.refuse("shape", error.to_string()),
    };
    let number = |n: usize| Value::Number(n.to_string());
    let shape = || Value::Text(topology.to_string());
    let given = own.named("routers", "component", &routers).and_then(|table| table.get("vcs").cloned());
    own.set_of("nodes", &nodes, &[("count", number(topology.nodes())), ("topology", shape())]);
    own.set_of("routers", &routers, &[("count", number(topology.routers())), ("topology", shape())]);
    let place = own.place;
    for router in 0..topology.routers() {
        for (key, n) in [("position", router), ("ports", topology.ports(router))] {
            let path = ["component", &routers, "at", &router.to_string(), key].map(str::to_owned);
            document::edit(own.root, &path, DocumentItem { place, value: number(n) });
        }
    }
    let (mut between_routers, mut to_nodes) = (Vec::new(), Vec::new());
    for (router, port) in (0..topology.routers()).flat_map(|r| (0..topology.ports(r)).map(move |port| (r, port))) {
        let here = format!("{routers}[{router}].port[{port}]");
        match topology.peer(router, port) {
            PortPeer::Node(node) => to_nodes.push((node, [format!("{nodes}[{node}].port"), here])),
            PortPeer::Router(peer, back) if (router, port) < (peer, back) => {
                between_routers.push([here, format!("{routers}[{peer}].port[{back}]")]);
            }
            PortPeer::Router(..) => (),
        }
    }
    scalepool_ordered::sort(&mut to_nodes);
    let list = |own: &Generating<'_>, all: Vec<[String; 2]>| {
        Value::List(all.into_iter().map(|ports| DocumentItem { place, value: own.pair(ports) }).collect())
    };
    let between = list(own, between_routers);
    own.join(&channels, between);
    let between = list(own, to_nodes.into_iter().map(|(_, ports)| ports).collect());
    own.join(&terminals, between);
    let defaults = topology.defaults();
    // Whoever sets the virtual channels of routers sets those of their channels.
    let vcs = given.map_or_else(|| number(defaults.vcs), |item| item.value);
    own.set_unless_given("component", &nodes, "vcs", vcs.clone());
    for link in [&channels, &terminals] {
        own.set_unless_given("link", link, "vcs", vcs.clone());
    }
    let latency = Value::Number(defaults.channel_latency_cycles.to_string());
    own.set_unless_given("link", &channels, "latency", latency);
}
