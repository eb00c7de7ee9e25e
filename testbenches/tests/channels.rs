//! Graphs of systems: what is built in is free of circles, and each way to make one is found.

use scalepool::system::builtin;
use scalepool::system::channels::circles;
use scalepool::system::channels::{ChannelGraph, ChannelWait, Reach};
use scalepool::system::description::Description;
use scalepool::system::design::System;
use scalepool::system::kind::{Component, ComponentNode, NodeError, PortDecl, PortRole, Site};
use scalepool::trace::Hub;
use serde_json::json;
use std::path::PathBuf;

/// Three accelerators in a ring, each with a port to the one before and one to the next.
const RING: &str = r#"format = 1
[system]
name = "ring"
[clock]
core = { period = "1 ns" }
[component.relay]
kind = "ualink.accelerator"
count = 3
clock = "core"
ports = 2
[link.ring]
kind = "ualink"
between = [["relay[0].port[1]", "relay[1].port[0]"], ["relay[1].port[1]", "relay[2].port[0]"], ["relay[2].port[1]", "relay[0].port[0]"]]
"#;

fn system(text: &str) -> System {
    let description = Description::parse("f.toml", PathBuf::new(), text).unwrap_or_else(|e| panic!("{e}"));
    description.resolve().unwrap_or_else(|e| panic!("{e}"))
}

/// A kind with these waits at the ports of an accelerator.
struct Relay(Option<Vec<ChannelWait>>);

impl Component for Relay {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(2), links: &["ualink"], role: PortRole::Node }]
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        self.0.clone()
    }

    fn elaborate(self: Box<Self>, _: &Site<'_>, _: &mut Hub) -> Result<ComponentNode, NodeError> {
        unreachable!("it is not built")
    }
}

/// The ring with such relays, its graph and what is found.
fn ring(waits: &Option<Vec<ChannelWait>>) -> (System, ChannelGraph, Vec<String>) {
    let mut system = system(RING);
    for component in &mut system.components {
        component.config = Box::new(Relay(waits.clone()));
    }
    let graph = ChannelGraph::of(&system);
    let lines = graph.problems(&system).lines();
    (system, graph, lines)
}

#[test]
fn what_is_built_in_has_no_circle() {
    for builtin in &builtin::ALL {
        let (name, system) = (builtin.file, system(builtin.text));
        let graph = &system.channels;
        // A queue with its own source and sink has no links.
        let has_links = !system.links.is_empty();
        assert_eq!((graph.channels() > 0, graph.edges() > 0), (has_links, has_links), "{name}");
        assert_eq!(graph.problems(&system).lines(), Vec::<String>::new(), "{name}");
        let is_declared = system.components.iter().all(|component| component.config.waits().is_some());
        assert!(is_declared, "{name}");
    }
}

#[test]
fn the_examples_have_none_either() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("systems");
    let mut whole = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        // A part has ports for others to join.
        if !text.contains("[export]") {
            let description = Description::open(&path).unwrap_or_else(|e| panic!("{e}"));
            let system = description.resolve().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(system.channels.problems(&system).lines(), Vec::<String>::new(), "{}", path.display());
            whole += 1;
        }
    }
    assert!(whole > 3, "{whole}");
}

#[test]
fn a_ring_of_accelerators_that_answer_has_no_circle() {
    let (system, (channels, edges)) = (system(RING), (12, 6));
    // Each of six ports has requests and responses in each direction; each answers its requests.
    assert_eq!((system.channels.channels(), system.channels.edges()), (channels, edges));
    assert_eq!(system.channels.problems(&system).lines(), Vec::<String>::new());
}

#[test]
fn a_ring_of_relays_is_a_circle_in_each_direction() {
    let (_, _, lines) = ring(&Some(vec![
        ChannelWait::routed("request", Reach::OtherPorts),
        ChannelWait::answered("request", "response"),
    ]));
    let start = "found channels that wait for each other in a circle, so messages in them can wait for ever: request on ring[0]";
    let down = "down needs room for request on ring[1] down (f.toml:6:12: relay[1] passes messages on), which needs room for request on ring[2] down (f.toml:6:12: relay[2] passes messages on), which needs room for request on ring[0] down (f.toml:6:12: relay[0] passes messages on), expected a class among them that is always taken";
    let up = "up needs room for request on ring[2] up (f.toml:6:12: relay[0] passes messages on), which";
    assert_eq!(
        (lines.len(), lines[1].as_str()),
        (2, format!("f.toml:6:12: component.relay[1]: {start} {down}").as_str())
    );
    assert!(lines[0].starts_with(&format!("f.toml:6:12: component.relay[0]: {start} {up}")), "{}", lines[0]);
}

#[test]
fn a_class_that_is_always_taken_breaks_a_circle() {
    // Requests are passed on as responses, which nobody passes on.
    let waits = vec![ChannelWait { outgoing: "response", ..ChannelWait::routed("request", Reach::OtherPorts) }];
    assert_eq!(ring(&Some(waits)).2, Vec::<String>::new());
    let waits =
        |outgoing| vec![ChannelWait::answered("request", "response"), ChannelWait::answered("response", outgoing)];
    // An answer to an answer ends, and a request for an answer does not.
    assert_eq!(ring(&Some(vec![ChannelWait::answered("request", "response")])).2.len(), 0);
    assert_eq!(ring(&Some(waits("request"))).2.len(), 6, "one for the requests of each direction of each link");
}

#[test]
fn queues_stand_between_inputs_and_outputs() {
    let queued = |reach| vec![ChannelWait { queue: Some("relay queue"), ..ChannelWait::routed("request", reach) }];
    let (system, graph, lines) = ring(&Some(queued(Reach::OtherPorts)));
    assert_eq!((graph.channels(), graph.edges(), lines.len()), (12 + 6, 12, 2));
    assert!(lines[1].contains("request in the relay queue of relay[1].port[1] (f.toml:6:12: relay[1] passes messages on), which needs room for request on ring[1] down (f.toml:6:12: relay[1] sends what it has queued)"), "{}", lines[1]);
    let json = graph.json(&system);
    assert_eq!(json["channels"].as_array().map(Vec::len), Some(18));
    assert_eq!(json["channels"][0], json!({"link": "ring[0]", "direction": "down", "class": "request"}));
    assert_eq!(json["channels"][12], json!({"port": "relay[0].port[0]", "queue": "relay queue", "class": "request"}));
    assert_eq!(
        (json["edges"].as_array().map(Vec::len), json["edges"][0].as_array().map(Vec::len)),
        (Some(12), Some(3))
    );
    // A way that is denied in one relay of the three is the way of one direction.
    let denied =
        |ways: &[(usize, usize)]| ring(&Some(queued(Reach::OtherPortsBut(ways.iter().copied().collect())))).2.len();
    assert_eq!((denied(&[]), denied(&[(0, 1)]), denied(&[(0, 1), (1, 0)])), (2, 1, 0));
}

#[test]
fn a_kind_that_declares_nothing_may_wait_for_everything() {
    let (_, _, lines) = ring(&None);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("does not say what waits for what"), "{}", lines[0]);
}

#[test]
fn a_link_holds_classes_behind_others() {
    let text = RING.replace("ualink.accelerator", "cxl.root").replace("count = 3\n", "").replace("ports = 2\n", "");
    let text = text.replace(
        "[component.relay]",
        "[component.device]\nkind = \"cxl.io-device\"\nclock = \"core\"\n[component.relay]",
    );
    let (head, _) = text.split_once("[link.ring]").expect("a link");
    let text = format!("{head}[link.io]\nkind = \"cxl-io\"\nbetween = [\"relay.link\", \"device.link\"]\n");
    let system = system(&text);
    let (graph, found) = (&system.channels, system.channels.problems(&system).lines());
    // Three classes in each direction; non-posted requests wait for completions, both and completions for posted ones.
    assert_eq!((graph.channels(), graph.edges(), found), (6, 1 + 4, Vec::new()));
}

#[test]
fn a_long_circle_is_told_in_part() {
    let found = |count: usize| {
        let pairs: Vec<String> =
            (0..count).map(|n| format!("[\"relay[{n}].port[1]\", \"relay[{}].port[0]\"]", (n + 1) % count)).collect();
        let (head, _) = RING.split_once("between").expect("a link");
        let mut system = system(&format!(
            "{}between = [{}]\n",
            head.replace("count = 3", &format!("count = {count}")),
            pairs.join(", ")
        ));
        for component in &mut system.components {
            component.config = Box::new(Relay(Some(vec![ChannelWait::routed("response", Reach::OtherPorts)])));
        }
        ChannelGraph::of(&system).problems(&system).lines()
    };
    assert!(found(16).iter().all(|line| !line.contains("and so on")));
    assert!(found(100)[0].contains(", and so on over 84 more, expected"));
}

// ---- circles of graphs -------------------------------------------------------------------------------------------------

/// Circles of edges, as the vertices that they pass.
fn of_edges(vertices: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let next = |from: usize| edges.iter().filter(|(a, _)| *a == from).map(|(_, b)| (*b, 0)).collect();
    circles::of(vertices, &next).into_iter().map(|circle| circle.into_iter().map(|(from, ..)| from).collect()).collect()
}

#[test]
fn a_graph_without_circles_has_none() {
    assert_eq!(of_edges(0, &[]), Vec::<Vec<usize>>::new());
    assert_eq!(of_edges(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 4)]), Vec::<Vec<usize>>::new());
}

#[test]
fn each_part_has_its_shortest_circle() {
    assert_eq!(of_edges(2, &[(1, 1)]), [[1]]);
    assert_eq!(of_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (1, 0)]), [[0, 1]]);
    let two = [(4, 0), (0, 1), (1, 2), (2, 0), (2, 3), (3, 5), (5, 6), (6, 3)];
    assert_eq!(of_edges(7, &two), [[0, 1, 2], [3, 5, 6]]);
}

#[test]
fn a_long_circle_takes_no_deep_stack() {
    let edges: Vec<(usize, usize)> = (0..100_000).map(|n| (n, (n + 1) % 100_000)).collect();
    let next = |from: usize| vec![(edges[from].1, 0)];
    assert_eq!(circles::of(edges.len(), &next).iter().map(Vec::len).collect::<Vec<_>>(), [100_000]);
}
