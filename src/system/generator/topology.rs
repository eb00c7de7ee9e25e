//! `topology`: nodes and routers joined as a topology has it, see [`scalepool_fabric::topology`].
//!
//! Modelled: node n and router r of the topology are elements n and r of their components; two links, one of channels between
//! routers, one of those between a router and a node. What the description does not set and the topology decides is set too:
//! virtual channels and latency of channels. A topology of any form comes from a file ([`topology_file`](super::topology_file)).
//! Left out: places of links on a board.

use super::topology_file;
pub(super) use super::topology_file::FileTopology;
use super::{Generating, GeneratorKind};
use crate::document::{self, DocumentItem, Table, Value};
use crate::field::{Config, FieldRange, config};
use crate::quantity::Unit;
use scalepool_fabric::topology::{EXPECTED, PortPeer, Topology};
use scalepool_ordered::OrderedMap;
use sha2::{Digest, Sha256};

/// The kind.
pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "topology",
    about: "nodes behind routers: mesh, torus, fat tree, Clos network, dragonfly, or as a file lists them",
    fields: TopologyOf::fields,
    generate,
};

config! {
    /// Nodes behind routers.
    pub struct TopologyOf {
        shape: String = "mesh:8x8" [Unit::Of("-")] in FieldRange::Text(EXPECTED), "topology (fabric §6.3 and §6.5), or file:PATH, a file of routers, nodes and links, relative to the description";
        nodes: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a node; the generator sets its count and its topology";
        routers: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a router; the generator sets its count, and topology, position and ports of each";
        channels: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between routers; the generator sets what it joins, and its latency and virtual channels where they are not set";
        terminals: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a node and its router; the generator sets what it joins, and its virtual channels where they are not set";
    }
}

/// The topology of a shape, or of a file; what is wrong is said, and there is none.
pub(super) fn made(own: &mut Generating<'_>, shape: &str) -> Option<FileTopology> {
    if let Some(path) = shape.strip_prefix(topology_file::PREFIX) {
        return topology_file::read(own, path);
    }
    match Topology::parse(shape) {
        Ok(topology) => Some(FileTopology { topology, settings: OrderedMap::new() }),
        Err(error) => {
            own.refuse("shape", error.to_string());
            None
        }
    }
}

impl Generating<'_> {
    /// Sets what the description leaves to the topology.
    pub(super) fn set_unless_given(&mut self, top: &str, name: &str, key: &str, value: Value) {
        if self.table_of(top, name).is_some_and(|table| table.get(key).is_none()) {
            self.set(top, name, key, value);
        }
    }

    /// Sets what a file says of single links, by their numbers.
    pub(super) fn set_of_links(&mut self, name: &str, settings: Vec<Option<&Table>>) {
        // A name that is no link's is found where the link is joined.
        let Some(link) = self.table_of("link", name) else { return };
        let exceptions = match link.get("at") {
            Some(DocumentItem { value: Value::Table(at), .. }) => at.clone(),
            _ => Table::default(),
        };
        let of_links = settings.into_iter().enumerate().filter_map(|(n, of)| Some((n, of?)));
        for (n, (key, _, item)) in of_links.flat_map(|(n, of)| of.entries.iter().map(move |entry| (n, entry))) {
            let n = n.to_string();
            let given = match exceptions.get(&n).map(|item| &item.value) {
                Some(Value::Table(own)) => own.get(key),
                _ => None,
            };
            if let Some(given) = given {
                let text = format!("found {}, expected none: the file of {} sets it", given.shown(), self.path);
                self.problems.add(given.place, format!("link.{name}[{n}].{key}"), text);
                continue;
            }
            let path = ["link", name, "at", &n, key].map(str::to_owned);
            document::edit(self.root, &path, item.clone());
        }
    }
}

fn generate(own: &mut Generating<'_>) {
    let TopologyOf { shape, nodes, routers, channels, terminals } = own.read();
    let Some(FileTopology { topology, settings }) = made(own, &shape) else { return };
    let number = |n: usize| Value::Number(n.to_string());
    let name = topology.graph_text().map_or_else(
        || topology.to_string(),
        |text| {
            let name = format!("graph:{}", scalepool_forms::number::hex(&Sha256::digest(text)));
            topology.name_graph(&name);
            name
        },
    );
    let shape = || Value::Text(name.clone());
    let given = own.named("routers", "component", &routers).and_then(|table| table.get("vcs").cloned());
    own.set_of("nodes", &nodes, &[("count", number(topology.nodes())), ("topology", shape())]);
    own.set_of("routers", &routers, &[("count", number(topology.routers())), ("topology", shape())]);
    let place = own.place;
    for router in 0..topology.routers() {
        for (key, n) in [("position", router), ("ports", topology.ports(router))] {
            own.set_at(&routers, router, key, number(n));
        }
    }
    let (mut between_routers, mut to_nodes) = (Vec::new(), Vec::new());
    for (router, port) in (0..topology.routers()).flat_map(|r| (0..topology.ports(r)).map(move |port| (r, port))) {
        let here = format!("{routers}[{router}].port[{port}]");
        match topology.peer(router, port) {
            PortPeer::Node(node) => {
                to_nodes.push((node, [format!("{nodes}[{node}].port"), here], settings.get(&(router, port))));
            }
            PortPeer::Router(peer, back) if (router, port) < (peer, back) => {
                let pair = [here, format!("{routers}[{peer}].port[{back}]")];
                between_routers.push((pair, settings.get(&(router, port))));
            }
            PortPeer::Router(..) => (),
        }
    }
    scalepool_ordered::sort_by_key(&mut to_nodes, |(node, ..)| *node);
    let to_nodes = to_nodes.into_iter().map(|(_, pair, settings)| (pair, settings)).collect();
    for (role, link, joined) in [("channels", &channels, between_routers), ("terminals", &terminals, to_nodes)] {
        let (pairs, settings): (Vec<_>, Vec<_>) = joined.into_iter().unzip();
        let pairs = pairs.into_iter().map(|ports| DocumentItem { place, value: own.pair(ports) });
        let between = Value::List(pairs.collect());
        own.join(role, link, between);
        own.set_of_links(link, settings);
    }
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
