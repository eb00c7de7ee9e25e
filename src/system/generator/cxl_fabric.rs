//! `cxl.fabric`: switches with port based routing as a topology has them, with hosts and memories at each of its nodes.
//!
//! Modelled: a node of a [`scalepool_fabric::topology`] stands for so many hosts and so many memories at one switch, and a channel
//! between two routers is an inter-switch link. Ports of a switch have the order of the topology, so `routing = "lowest-port"` is
//! dimension order in a mesh. Routing is set where the description does not: what is free of deadlock in any system of the shape.
//! Memories, or their logical devices, go to the hosts in turn, from a host on that can be chosen: with 0 the nearest host has a
//! memory, and no message leaves a switch. Left out: several links between two switches, other than in a file.

use super::segment_windows::{logical_devices, windows};
use super::topology::{FileTopology, made};
use super::{Generating, GeneratorKind};
use crate::document::{DocumentItem, Table, Value};
use crate::field::{Config, FieldRange, config};
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::pbr::pid::{PidCounts, PidPlan};
use scalepool_fabric::cxl_switch::pbr::segments::SEGMENT_BYTES;
use scalepool_fabric::topology::{EXPECTED, PortPeer, Topology};
use scalepool_memory::decoder::WINDOW_STEP_BYTES;

/// The kind.
pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "cxl.fabric",
    about: "hosts and memories at switches with port based routing that are joined as a mesh, torus, fat tree, Clos network, dragonfly or fully connected group, or as a file lists them",
    fields: CxlFabric::fields,
    generate,
};

config! {
    /// Switches with port based routing in a topology.
    pub struct CxlFabric {
        shape: String = "mesh:2x2" [Unit::Of("-")] in FieldRange::Text(EXPECTED), "topology (fabric §6.3 and §6.5), or file:PATH, a file of routers, nodes and links, relative to the description";
        switches: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a switch; the generator sets its count and its ports, and its routing where that is not set: lowest-port in a mesh, in a fully connected group and with a file of shortest ways, minimal in a fat tree or a Clos network, up-down otherwise";
        hosts: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a host; the generator sets its count";
        memories: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a memory; the generator sets its count";
        trunk: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between two switches; the generator sets what it joins";
        host_link: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a host and its switch; the generator sets what it joins";
        memory_link: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a switch and a memory; the generator sets what it joins";
        hosts_per_node: usize = "1" [Unit::Of("hosts")] in FieldRange::Int(1, 64), "hosts at a node of the topology";
        memories_per_node: usize = "1" [Unit::Of("memories")] in FieldRange::Int(1, 64), "memories at a node of the topology";
        first_owner: Option<usize> = "" [Unit::Of("-")] in FieldRange::Int(0, 4095), "host that has the first memory or logical device; each further one goes to the next host, and behind the last to the first. Not given = the switches have the bindings, or the memories serve all hosts";
        window: Option<u64> = "" [Unit::Bytes] in FieldRange::Int(WINDOW_STEP_BYTES, SEGMENT_BYTES << 7), "window of each memory or logical device in the memory map, each at the next multiple of 64 GiB; not given = no windows, or those of the description";
    }
}

/// What is at the ports of one switch.
#[derive(Clone, Default)]
struct SwitchAttachments {
    /// Nodes of the topology, ascending.
    nodes: Vec<usize>,
    /// Own ports of the topology that lead to another router.
    channels: Vec<usize>,
}

fn number(n: usize) -> Value {
    Value::Number(n.to_string())
}

/// The routing that no system of the shape makes wait in a circle; of a file, what the file says.
fn routing_of(topology: &Topology, shape: &str) -> &'static str {
    if topology.is_shortest_graph() || shape.starts_with("mesh") {
        "lowest-port"
    } else if shape.starts_with("fat-tree") || shape.starts_with("clos") {
        "minimal"
    } else {
        "up-down"
    }
}

fn generate(own: &mut Generating<'_>) {
    let fabric: CxlFabric = own.read();
    let Some(FileTopology { topology, settings }) = made(own, &fabric.shape) else { return };
    let switches: Vec<SwitchAttachments> = (0..topology.routers())
        .map(|router| {
            let mut at = SwitchAttachments::default();
            for port in 0..topology.ports(router) {
                match topology.peer(router, port) {
                    PortPeer::Node(node) => at.nodes.push(node),
                    PortPeer::Router(..) => at.channels.push(port),
                }
            }
            scalepool_ordered::sort(&mut at.nodes);
            at
        })
        .collect();
    let (hosts, memories) = (topology.nodes() * fabric.hosts_per_node, topology.nodes() * fabric.memories_per_node);
    let logical = own.named("memories", "component", &fabric.memories).and_then(|table| logical_devices(&table));
    // Refused here, a fabric that is too large takes no memory; bindings may need PIDs too.
    let counts = PidCounts { switches: switches.len(), hosts, bindings: 0, devices: memories };
    if let Err(error) = PidPlan::new(counts) {
        return own.refuse("shape", error.to_string());
    }
    own.set_of("hosts", &fabric.hosts, &[("count", number(hosts))]);
    own.set_of("memories", &fabric.memories, &[("count", number(memories))]);
    own.set_of("switches", &fabric.switches, &[("count", number(switches.len()))]);
    let routing = Value::Text(routing_of(&topology, &fabric.shape).to_owned());
    own.set_unless_given("component", &fabric.switches, "routing", routing);
    for (n, at) in switches.iter().enumerate() {
        let edges = [("hosts", fabric.hosts_per_node), ("ports", fabric.memories_per_node)];
        let edges = edges.map(|(key, each)| (key, at.nodes.len() * each));
        let (column, row) = topology.place(n);
        for (key, count) in edges.into_iter().chain([("fabric", at.channels.len()), ("column", column), ("row", row)]) {
            own.set_at(&fabric.switches, n, key, number(count));
        }
    }
    let (mut trunks, mut of_trunks) = (Vec::new(), Vec::new());
    for (router, at) in switches.iter().enumerate() {
        for (isl, port) in at.channels.iter().enumerate() {
            let PortPeer::Router(peer, back) = topology.peer(router, *port) else { continue };
            let there = switches[peer].channels.iter().position(|channel| *channel == back);
            if let (true, Some(there)) = ((router, *port) < (peer, back), there) {
                let name = &fabric.switches;
                trunks.push([format!("{name}[{router}].isl[{isl}]"), format!("{name}[{peer}].isl[{there}]")]);
                of_trunks.push(settings.get(&(router, *port)));
            }
        }
    }
    join(own, ("trunk", &fabric.trunk), trunks);
    own.set_of_links(&fabric.trunk, of_trunks);
    let is_at_node = |(router, port): &(usize, usize)| matches!(topology.peer(*router, *port), PortPeer::Node(_));
    if let Some((_, key, _)) =
        settings.iter().find_map(|(end, table)| table.entries.first().filter(|_| is_at_node(end)))
    {
        let text = format!(
            "found a file with settings of the link of a node, expected none: [link.{}] and [link.{}] have them for each element",
            fabric.host_link, fabric.memory_link
        );
        own.problems.add(*key, format!("{}.shape", own.path), text);
    }
    let edges = [
        (("host_link", fabric.host_link.as_str()), &fabric.hosts, "usp", fabric.hosts_per_node),
        (("memory_link", fabric.memory_link.as_str()), &fabric.memories, "dsp", fabric.memories_per_node),
    ];
    for (link, ends, port, each) in edges {
        let pairs = (0..topology.nodes() * each).map(|n| {
            let (at, number) = edge(&topology, &switches, n, each);
            [format!("{}[{at}].{port}[{number}]", fabric.switches), format!("{ends}[{n}].cxl")]
        });
        join(own, link, pairs.collect());
    }
    if let Some(first) = fabric.first_owner {
        bind(own, &fabric, (&topology, &switches), logical, first);
    }
    if let Some(bytes) = fabric.window {
        windows(own, &fabric.memories, memories, logical, bytes);
    }
}

/// The switch of host or memory `n`, of which each node has so many, and its edge port there.
fn edge(topology: &Topology, switches: &[SwitchAttachments], n: usize, each: usize) -> (usize, usize) {
    let (node, at) = (n / each, topology.router_of(n / each));
    let place = switches[at].nodes.iter().position(|one| *one == node).unwrap_or(0);
    (at, place * each + n % each)
}

fn join(own: &mut Generating<'_>, (role, link): (&str, &str), pairs: Vec<[String; 2]>) {
    let place = own.place;
    let pairs = pairs.into_iter().map(|ports| DocumentItem { place, value: own.pair(ports) });
    let between = Value::List(pairs.collect());
    own.join(role, link, between);
}

/// Writes the bindings: memories, or their logical devices, go to the hosts in turn.
fn bind(
    own: &mut Generating<'_>,
    fabric: &CxlFabric,
    (topology, switches): (&Topology, &[SwitchAttachments]),
    logical: Option<usize>,
    first: usize,
) {
    let (hosts, memories) = (topology.nodes() * fabric.hosts_per_node, topology.nodes() * fabric.memories_per_node);
    if first >= hosts {
        return own.refuse("first_owner", format!("found {first}, expected one of {hosts} hosts, from 0 on"));
    }
    let place = own.place;
    let item = |value| DocumentItem { place, value };
    let mut bindings = vec![Vec::new(); switches.len()];
    for n in 0..memories {
        let (at, port) = edge(topology, switches, n, fabric.memories_per_node);
        for ld in 0..logical.unwrap_or(1) {
            let host = (first + n * logical.unwrap_or(1) + ld) % hosts;
            let (switch, usp) = edge(topology, switches, host, fabric.hosts_per_node);
            let mut entries = vec![
                ("port".to_owned(), place, item(number(port))),
                ("usp".to_owned(), place, item(Value::Text(format!("{}[{switch}].usp[{usp}]", fabric.switches)))),
            ];
            if logical.is_some() {
                entries.push(("ld".to_owned(), place, item(number(ld))));
            }
            bindings[at].push(item(Value::Table(Table { entries })));
        }
    }
    for (n, list) in bindings.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        own.set_at(&fabric.switches, n, "bindings", Value::List(list));
    }
}
