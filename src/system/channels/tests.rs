//! Graphs of systems: what is built in is free of circles, and each way to make one is found.

use super::*;
use crate::builtin;
use crate::description::Description;
use crate::field::{Config, Range, config};
use crate::kind::{Component, ComponentKind, Node, NodeError, PortDecl, Role, Site, component};
use crate::quantity::Unit;
use scalepool_trace::Hub;
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

/// A kind whose components pass requests on, or answer them.
pub(crate) const RELAY: ComponentKind = ComponentKind {
    name: "test.relay",
    about: "relay of a ring, for tests",
    fields: TestRelay::fields,
    read: component::<TestRelay>,
    metrics: &[],
    external: &[],
};

config! {
    /// A relay that is read from a description.
    pub struct TestRelay {
        ports: usize = "2" [Unit::Of("ports")] in Range::Int(2, 2), "ports";
        work: String = "passes" [Unit::Of("-")] in Range::Words(&["passes", "answers"]), "what it does with requests";
    }
}

impl Component for TestRelay {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(self.ports), links: &["ualink"], role: Role::Node }]
    }

    fn waits(&self) -> Option<Vec<Wait>> {
        let passes = self.work == "passes";
        let wait =
            || if passes { Wait::routed("request", Reach::OtherPorts) } else { Wait::answered("request", "response") };
        Some(vec![wait()])
    }

    fn elaborate(self: Box<Self>, _: &Site<'_>, _: &mut Hub) -> Result<Node, NodeError> {
        unreachable!("it is not built")
    }
}

/// A kind with these waits at the ports of an accelerator.
struct Relay(Option<Vec<Wait>>);

impl Component for Relay {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(2), links: &["ualink"], role: Role::Node }]
    }

    fn waits(&self) -> Option<Vec<Wait>> {
        self.0.clone()
    }

    fn elaborate(self: Box<Self>, _: &Site<'_>, _: &mut Hub) -> Result<Node, NodeError> {
        unreachable!("it is not built")
    }
}

/// The ring with such relays, its graph and what is found.
fn ring(waits: &Option<Vec<Wait>>) -> (System, ChannelGraph, Vec<String>) {
    let mut system = system(RING);
    for component in &mut system.components {
        component.config = Box::new(Relay(waits.clone()));
    }
    let graph = ChannelGraph::of(&system);
    let mut problems = Problems::of("f.toml");
    let place = |by| match by {
        By::Component(n) => (Place { file: 0, line: 6, column: 12 }, format!("component.relay[{n}]")),
        By::Link(n) => (Place { file: 0, line: 11, column: 7 }, format!("link.ring[{n}]")),
    };
    judge(&system, &graph, place, &mut problems);
    let lines = problems.lines();
    (system, graph, lines)
}

#[test]
fn what_is_built_in_has_no_circle() {
    for builtin in &builtin::ALL {
        let (name, system) = (builtin.file, system(builtin.text));
        let graph = &system.channels;
        assert!(graph.channels() > 0 && graph.edges() > 0, "{name}");
        assert_eq!(graph.circles(), Vec::<Circle>::new(), "{name}");
        let is_declared = system.components.iter().all(|component| component.config.waits().is_some());
        assert!(is_declared, "{name}");
    }
}

#[test]
fn a_ring_of_accelerators_that_answer_has_no_circle() {
    let (system, (channels, edges)) = (system(RING), (12, 6));
    // Each of six ports has requests and responses in each direction; each answers its requests.
    assert_eq!((system.channels.channels(), system.channels.edges()), (channels, edges));
    assert_eq!(system.channels.circles(), Vec::<Circle>::new());
}

#[test]
fn a_description_with_a_circle_is_refused() {
    let text = RING.replace("ualink.accelerator", "test.relay");
    let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
    let found = description.resolve().map(|_| String::new()).unwrap_or_else(|e| e.to_string());
    let lines: Vec<&str> = found.lines().collect();
    let start = "f.toml:6:12: component.relay: found channels that wait for each other in a circle, so messages in them can wait for ever: ";
    let down = "request on ring[0] down needs room for request on ring[1] down (f.toml:6:12: relay[1] passes messages on), which needs room for request on ring[2] down (f.toml:6:12: relay[2] passes messages on), which needs room for request on ring[0] down (f.toml:6:12: relay[0] passes messages on), expected a class among them that is always taken";
    assert_eq!((lines.len(), lines[0]), (2, format!("{start}{down}").as_str()), "{found}");
    assert!(lines[1].contains("request on ring[0] up needs room for request on ring[2] up"), "{found}");
    // With an exception of its own, a relay that answers ends the circle.
    let answers = text.replace("[link.ring]", "[component.relay.at.1]\nwork = \"answers\"\n[link.ring]");
    assert!(system(&answers).channels.edges() > 0);
}

#[test]
fn a_class_that_is_always_taken_breaks_a_circle() {
    // Requests are passed on as responses, which nobody passes on.
    let waits = vec![Wait { outgoing: "response", ..Wait::routed("request", Reach::OtherPorts) }];
    assert_eq!(ring(&Some(waits)).2, Vec::<String>::new());
    let waits = |outgoing| vec![Wait::answered("request", "response"), Wait::answered("response", outgoing)];
    // An answer to an answer ends, and a request for an answer does not.
    assert_eq!(ring(&Some(vec![Wait::answered("request", "response")])).2.len(), 0);
    assert_eq!(ring(&Some(waits("request"))).2.len(), 6, "one for the requests of each direction of each link");
}

#[test]
fn queues_stand_between_inputs_and_outputs() {
    let queued = |reach| vec![Wait { queue: Some("relay queue"), ..Wait::routed("request", reach) }];
    let (system, graph, lines) = ring(&Some(queued(Reach::OtherPorts)));
    assert_eq!((graph.channels(), graph.edges(), lines.len()), (12 + 6, 12, 2));
    assert!(lines[0].contains("request in the relay queue of relay[1].port[1] (f.toml:6:12: relay[1] passes messages on), which needs room for request on ring[1] down (f.toml:6:12: relay[1] sends what it has queued)"), "{}", lines[0]);
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
    assert!(lines[0].contains(UNDECLARED), "{}", lines[0]);
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
    let graph = system(&text).channels;
    // Three classes in each direction; non-posted requests wait for completions, both and completions for posted ones.
    assert_eq!((graph.channels(), graph.edges(), graph.circles()), (6, 1 + 4, Vec::new()));
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
            component.config = Box::new(Relay(Some(vec![Wait::routed("response", Reach::OtherPorts)])));
        }
        let mut problems = Problems::of("f.toml");
        judge(&system, &ChannelGraph::of(&system), |_| (Place::start(0), String::new()), &mut problems);
        problems.lines()
    };
    assert!(found(LISTED).iter().all(|line| !line.contains("and so on")));
    assert!(found(100)[0].contains(", and so on over 84 more, expected"));
}
