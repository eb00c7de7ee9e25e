//! Topologies out of files.

use super::{good, request};
use scalepool::fabric::topology::{PortPeer, Topology};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, RunError};
use scalepool::system::builtin;
use scalepool::system::description::Description;
use scalepool::system::design::System;
use scalepool::system::draw::Drawing;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A topology as a file: every link once, its ports by their numbers.
fn file_of(topology: &Topology) -> String {
    let mut text = format!("format = 1\nrouters = {}\nnodes = {}\n", topology.routers(), topology.nodes());
    for (router, port) in (0..topology.routers()).flat_map(|r| (0..topology.ports(r)).map(move |port| (r, port))) {
        let here = format!("router[{router}].port[{port}]");
        let there = match topology.peer(router, port) {
            PortPeer::Node(node) => format!("node[{node}]"),
            PortPeer::Router(other, back) if (router, port) < (other, back) => format!("router[{other}].port[{back}]"),
            PortPeer::Router(..) => continue,
        };
        let _ = writeln!(text, "[[link]]\nbetween = [\"{here}\", \"{there}\"]");
    }
    text
}

/// What a run of `fabric-vc-router` reports and writes, without what names its settings: report, trace, drawing.
fn run(folder: &Path, name: &str, topology: &str) -> [String; 3] {
    let mut request =
        request("fabric-vc-router", &[&format!("topology={topology}"), "traffic.load=0.3", "traffic.packets=40"]);
    let [trace, drawing] = ["jsonl", "svg"].map(|ending| folder.join(format!("{name}.{ending}")));
    request.outputs = Outputs { trace: Some(trace.clone()), drawing: Some(drawing.clone()), ..Outputs::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|e| panic!("{topology}: {e}"));
    assert_eq!(report.violations, [], "{topology}");
    let mut report = report.json();
    for key in ["settings", "config", "description_digest"] {
        report.remove(key);
    }
    let text = serde_json::to_string_pretty(&report).expect("it is JSON");
    let read = |path: &Path| std::fs::read_to_string(path).expect("it was written");
    // The first line of a trace says what was run.
    let (_, trace) =
        read(&trace).split_once('\n').map(|(head, rest)| (head.to_owned(), rest.to_owned())).expect("lines");
    [text, trace, read(&drawing)]
}

/// A mesh that a file lists runs as the mesh of numbers, to the byte: shortest ways by the lowest port are its dimension order.
#[test]
fn a_mesh_out_of_a_file_runs_as_one_of_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    for shape in ["mesh:4x3", "mesh:2x3x2"] {
        let topology = Topology::parse(shape).expect("a mesh");
        let path = folder.path().join("mesh.toml");
        std::fs::write(&path, file_of(&topology)).expect("it can be written");
        let of_numbers = run(folder.path(), "numbers", shape);
        let of_file = run(folder.path(), "file", &format!("file:{}", path.display()));
        assert_eq!(of_file[0], of_numbers[0], "{shape}: the report");
        assert!(of_file[1] == of_numbers[1] && of_file[1].lines().count() > 100, "{shape}: the trace");
        // The drawing has the same boxes and lines elsewhere.
        assert_eq!(of_file[2].matches("<path").count(), of_numbers[2].matches("<path").count(), "{shape}");
    }
}

/// Resolves `fabric-vc-router` with a topology file of this text.
fn resolved(text: &str, more: &str) -> Result<System, String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("net.toml"), text).expect("it can be written");
    let built_in = builtin::ALL.iter().find(|b| b.file == "fabric-vc-router.toml").expect("a built-in").text;
    let text = built_in.replace("[link.channels]\n", &format!("[link.channels]\n{more}"));
    let mut description = Description::parse("f.toml", folder.path().to_owned(), &text).expect("it is TOML");
    description.set("topology=file:net.toml").expect("a setting");
    let place = format!("{}/", folder.path().display());
    description.resolve().map_err(|problems| problems.to_string().replace(&place, ""))
}

fn two_racks() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("systems/routers/two_racks.toml");
    std::fs::read_to_string(path).expect("the example")
}

#[test]
fn the_example_is_as_its_file_says() {
    let system = resolved(&two_racks(), "").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((system.components.len(), system.links.len()), (14, 14));
    let canonical = system.canonical();
    for line in ["link.channels[0].latency = 12", "link.channels.latency = 1"] {
        assert!(canonical.contains(line), "{line} in {canonical}");
    }
    // Port 3 of router 2 is named, so its nodes have ports 1 and 2.
    let joined_in = |system: &System, link: &str| {
        let link = system.links.iter().find(|found| found.path == link).expect("a link");
        link.ports.map(|(component, port)| system.components[component].ports[port].path.clone())
    };
    let joined = |link: &str| joined_in(&system, link);
    assert_eq!(joined("channels[5]"), ["router[2].port[3]", "router[3].port[1]"]);
    assert_eq!(joined("terminals[1]"), ["node[1].port", "router[2].port[2]"]);
    // A port that is named behind others is not theirs.
    let other = resolved(&two_racks().replace("port[3]", "port[1]"), "").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(joined_in(&other, "terminals[0]"), ["node[0].port", "router[2].port[2]"]);
    assert!(Drawing::of(&system).svg().contains("router[5]"));
    let path = format!("topology=file:{}/systems/routers/two_racks.toml", env!("CARGO_MANIFEST_DIR"));
    let report = good("fabric-vc-router", &[&path, "traffic.load=0.05", "traffic.packets=40"]);
    assert!(report.latency_cycles.max > 12 + 5, "the long cable: {}", report.latency_cycles.max);
}

/// Rings have circles with shortest ways and none with ways up, then down; every pair is joined, nothing goes up after down.
#[test]
fn a_ring_out_of_a_file_needs_up_down() {
    let ring = file_of(&Topology::parse("torus:5").expect("a ring"));
    let refused = resolved(&ring, "").map(|_| ()).expect_err("a circle");
    assert!(refused.contains("found channels that wait for each other in a circle"), "{refused}");
    assert!(refused.contains(".port[") && refused.contains("] passes packets on by the shortest way)"), "{refused}");
    assert!(refused.contains("`routing = \"up-down\"` in the file of the topology has no circle"), "{refused}");
    let up_down = ring.replace("nodes = 5\n", "nodes = 5\nrouting = \"up-down\"\n");
    resolved(&up_down, "").unwrap_or_else(|e| panic!("{e}"));
    for shape in ["torus:5", "torus:4x3", "mesh:3x3", "dragonfly:1,3,1", "fat-tree:2x3"] {
        let shape = Topology::parse(shape).expect("a topology");
        let ports = (0..shape.routers()).map(|r| (0..shape.ports(r)).map(|port| shape.peer(r, port)).collect());
        let net = Topology::of_ports(ports.collect(), "up-down").expect("it fits");
        let name = format!("graph:{shape}");
        assert!(
            Topology::parse(&name).expect_err("no name yet").to_string().contains("a generator has read from a file")
        );
        net.name_graph(&name);
        assert_eq!(Topology::parse(&name).as_ref(), Ok(&net));
        let level = |router| net.place(router).1;
        for (from, node) in (0..net.routers()).flat_map(|from| (0..net.nodes()).map(move |node| (from, node))) {
            let (mut here, mut hops, mut is_down) = (from, 0, false);
            loop {
                let ways: Vec<_> = net.route(here, node).ways().collect();
                assert_eq!(ways.len(), 1);
                let PortPeer::Router(next, _) = net.peer(here, ways[0].0) else { break };
                let leads_down = (level(next), next) > (level(here), here);
                assert!(leads_down || !is_down, "{shape}: {from} to {node} goes up at {here} after down");
                (here, hops, is_down) = (next, hops + 1, leads_down);
                assert!(hops <= 2 * net.routers(), "{shape}: {from} to {node}");
            }
            assert_eq!(here, net.router_of(node));
        }
    }
}

/// Each of 300 graphs keeps its name, so that a description may have any number of them.
#[test]
fn graphs_keep_their_names() {
    let line = |nodes: usize| {
        let other = |end| PortPeer::Router(end, 0);
        let second = [vec![other(0)], (1..nodes).map(PortPeer::Node).collect()].concat();
        Topology::of_ports(vec![vec![other(1), PortPeer::Node(0)], second], "shortest").expect("it fits")
    };
    let graphs = [line(2), line(3)];
    let name = |n: usize| format!("graph:kept {n}");
    (0..300).for_each(|n| graphs[n % 2].name_graph(&name(n)));
    for n in 0..300 {
        assert_eq!(Topology::parse(&name(n)).as_ref(), Ok(&graphs[n % 2]), "{n}");
    }
}

/// Each mistake is said with line, column and key of the file, and both ends of each range are known.
#[test]
fn mistakes_of_a_topology_file_are_named_with_their_places() {
    let text = two_racks();
    for (from, to, expected) in [
        ("format = 1", "", "net.toml:1:1: format: found no format, expected `format = 1` at the top"),
        ("format = 1", "format = 2", "net.toml:2:10: format: found 2, expected"),
        ("routers = 6", "routers = 1", "net.toml:3:11: routers: found 1, expected 2 to 1024 [routers]"),
        ("routers = 6", "routers = 1025", "routers: found 1025, expected 2 to 1024 [routers]"),
        ("nodes = 8", "nodes = 1", "net.toml:4:9: nodes: found 1, expected 2 to 32768 [nodes]"),
        ("nodes = 8", "nodes = 32769", "nodes: found 32769, expected 2 to 32768 [nodes]"),
        ("nodes = 8", "", "nodes: found no number, expected the number of nodes"),
        ("nodes = 8", "nodes = 9", "net.toml:4:9: nodes: found no link of node[8], expected one of each node"),
        ("nodes = 8", "nodes = 7", "net.toml:38:25: link[13].between: found `node[7]`, expected node[0] to node[6]"),
        ("routers = 6", "routers = 7", "routers: found no link of router[6].port[0], expected ports without gaps"),
        ("port[3]", "port[4]", "routers: found no link of router[2].port[3], expected ports without gaps"),
        (
            "port[3]",
            "port[64]",
            "net.toml:21:12: link[5].between: found `router[2].port[64]`, expected port[0] to port[63]",
        ),
        ("\"up-down\"", "\"down\"", "net.toml:5:11: routing: found `down`, expected shortest, up-down"),
        (
            "routing",
            "ways",
            "net.toml:5:1: ways: found the key `ways`, expected one of routers, nodes, routing, format, link",
        ),
        (
            "\"node[7]\"",
            "\"node[6]\"",
            "link[13].between: found node[6] at router[5].port[1] too, expected one link of each node",
        ),
        ("\"node[7]\"", "\"node[i]\"", "found `node[i]`, expected router[N], router[N].port[M] or node[N]"),
        ("\"node[7]\"", "7", "found 7, expected router[N], router[N].port[M] or node[N]"),
        ("\"router[5]\", \"node[7]\"", "\"node[7]\", \"node[6]\"", "found two nodes, expected a router and a node"),
        ("\"router[0]\", \"router[2]\"", "\"router[0]\", \"router[0]\"", "found router[0] at both ends"),
        ("[\"router[0]\", \"router[2]\"]", "\"router[0]\"", "link[1].between: found `router[0]`, expected two ends"),
        ("[\"router[0]\", \"router[2]\"]", "[\"router[0]\"]", "link[1].between: found 1 ends, expected two ends"),
        (
            "\"router[0]\", \"router[2]\"",
            "\"router[0].port[1]\", \"router[2].port[3]\"",
            "link[5].between: found router[2].port[3] twice",
        ),
        ("between = [\"router[0]\", \"router[1]\"]", "", "net.toml:7:1: link[0].between: found no between"),
        (
            "latency = 12",
            "latency = 4097",
            "net.toml:9:11: link.channels[0].latency: found 4097, expected 1 to 4096 [cycles]",
        ),
        ("latency = 12", "latency = 0", "link.channels[0].latency: found 0, expected 1 to 4096 [cycles]"),
        ("latency = 12", "latencies = 12", "link.channels[0].latencies: found the key `latencies`, expected one of"),
        (
            "latency = 12",
            "kind = \"fabric\"",
            "net.toml:9:1: link[0].kind: found the key `kind`, expected one of between",
        ),
        (
            "[[link]]\nbetween = [\"router[0]\", \"router[1]\"]\nlatency = 12",
            "",
            "found no way from router[0] to router[1]",
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let found = resolved(&changed, "").map(|_| String::new()).unwrap_or_else(|e| e);
        assert!(found.contains(expected), "{from} -> {to}: {found}");
    }
    let of_both = resolved(&text, "at = { 0 = { latency = 3 } }\n").map(|_| ()).expect_err("two say it");
    assert!(
        of_both.contains("link.channels[0].latency: found 3, expected none: the file of generator.fabric sets it"),
        "{of_both}"
    );
    let most = |count: usize| {
        let nodes = (0..count)
            .fold(String::new(), |text, n| text + &format!("[[link]]\nbetween = [\"router[0]\", \"node[{n}]\"]\n"));
        format!("format = 1\nrouters = 2\nnodes = {count}\n[[link]]\nbetween = [\"router[0]\", \"router[1]\"]\n{nodes}")
    };
    assert!(
        resolved(&most(64), "").map(|_| ()).expect_err("65 ports").contains("found more than 64 links of router[0]")
    );
    let set = ["topology=file:/nowhere/net.toml"];
    match scenario::check(&request("fabric-vc-router", &set)) {
        Err(RunError::Description(problems)) => {
            assert!(problems.to_string().contains("the file cannot be read"), "{problems}")
        }
        other => panic!("{other:?}"),
    }
    for (routing, expected) in [
        ("adaptive", "has one way to each router, expected minimal"),
        ("valiant", "has no intermediate places, expected minimal or adaptive"),
        ("ugal", "has no intermediate places, expected minimal or adaptive"),
    ] {
        let set = [
            format!("topology=file:{}/systems/routers/two_racks.toml", env!("CARGO_MANIFEST_DIR")),
            format!("router.routing={routing}"),
        ];
        let found = scenario::check(&request("fabric-vc-router", &set.each_ref().map(String::as_str)))
            .map_err(|e| e.to_string());
        assert!(found.as_ref().is_err_and(|text| text.contains(expected)), "{found:?}");
    }
}

/// Leaves of a file have four ways to each other. Minimal routing takes the lowest port, so that all packets share one spine: four nodes,
/// three quarters of whose packets go up, share a channel. Adaptive routing has all four, like the same tree by its numbers.
#[test]
fn adaptive_routing_takes_all_ways_of_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.toml");
    std::fs::write(&path, file_of(&Topology::parse("fat-tree:4x2").expect("a tree"))).expect("it can be written");
    let of_file = format!("topology=file:{}", path.display());
    let accepted = |topology: &str, routing: &str| {
        let routing = format!("router.routing={routing}");
        let set = [topology, &routing, "traffic.load=0.6", "traffic.packets=200", "traffic.warm_up_cycles=400"];
        good("fabric-vc-router", &set).fabric.expect("a fabric").accepted_flits_per_node_cycle
    };
    let minimal = accepted(&of_file, "minimal");
    assert!(minimal < 0.34, "{minimal}");
    let [adaptive, of_numbers] = [of_file.as_str(), "topology=fat-tree:4x2"].map(|of| accepted(of, "adaptive"));
    assert!(adaptive > 0.55 && (adaptive - of_numbers).abs() < 0.03, "{adaptive} {of_numbers}");
}

/// Of several channels between two routers adaptive routing uses all.
#[test]
fn adaptive_routing_takes_channels_side_by_side() {
    let link = |a: &str, b: &str| format!("[[link]]\nbetween = [\"{a}\", \"{b}\"]\n");
    let nodes: String = (0..4).map(|n| link(&format!("router[{}]", n / 2), &format!("node[{n}]"))).collect();
    let channels = link("router[0]", "router[1]").repeat(2);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net.toml");
    std::fs::write(&path, format!("format = 1\nrouters = 2\nnodes = 4\n{channels}{nodes}")).expect("it can be written");
    let accepted = |routing: &str| {
        let (topology, routing) = (format!("topology=file:{}", path.display()), format!("router.routing={routing}"));
        let across = ["traffic.pattern=shift", "traffic.shift=2", "traffic.load=0.9", "traffic.packets=300"];
        let set = [&[topology.as_str(), &routing][..], &across].concat();
        good("fabric-vc-router", &set).fabric.expect("a fabric").accepted_flits_per_node_cycle
    };
    let [minimal, adaptive] = ["minimal", "adaptive"].map(accepted);
    assert!(minimal < 0.52 && adaptive > 0.75, "{minimal} {adaptive}");
}
