//! Routes of topologies: where the ports of a router lead, and which ports lead towards each node on the shortest way
//! (`fabric` §6.3 to §6.5).

use super::FabricVectors;
use scalepool_fabric::topology::{PortPeer, Topology};
use serde_json::{Value, json};

/// Small topologies of every shape, with even and odd rings and grids that are no squares.
const SHAPES: [&str; 8] = [
    "mesh:4x3",
    "mesh:2x3x2",
    "torus:4x4",
    "torus:5x3",
    "torus:3x3x3",
    "fat-tree:2x3",
    "fat-tree:4x2",
    "dragonfly:1,3,1",
];

pub(super) fn vectors() -> FabricVectors {
    let parsed = |text: &&str| Topology::parse(text).unwrap_or_else(|e| unreachable!("a shape of the list: {e}"));
    let topologies = SHAPES.iter().map(parsed);
    FabricVectors {
        name: "topology_routes",
        about: "routers of topologies: where ports lead, and the ports towards each node on shortest ways",
        cases: topologies
            .flat_map(|topology| (0..topology.routers()).map(|n| case(&topology, n)).collect::<Vec<_>>())
            .collect(),
    }
}

fn case(topology: &Topology, router: usize) -> Value {
    let peer = |port| match topology.peer(router, port) {
        PortPeer::Node(node) => json!({ "node": node }),
        PortPeer::Router(other, back) => json!({ "router": other, "port": back }),
    };
    let ports = |node| topology.route(router, node).ways().map(|(port, _)| port).collect::<Vec<_>>();
    json!({
        "topology": topology.to_string(), "router": router,
        "ports": (0..topology.ports(router)).map(peer).collect::<Vec<_>>(),
        "routes": (0..topology.nodes()).map(ports).collect::<Vec<_>>(),
    })
}
