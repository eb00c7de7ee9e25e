//! Ways over an intermediate place: where they lead, which virtual channels they need, and what they are for.

use super::{good, request};
use scalepool::fabric::topology::routing::RoutePolicy;
use scalepool::fabric::topology::{PortPeer, Topology};
use scalepool::fabric::vc_router::flit::NO_VIA;
use scalepool::fabric::vc_router::route_table::{WayThrough, ways_through};
use scalepool::fabric::vc_router::{RouteTable, VcFlit};
use scalepool::kernel::Rng;
use scalepool::scenario::curve::{self, LOAD_KEY};
use scalepool::scenario::{self, RunError, ScenarioRequest};

const POLICIES: [(&str, RoutePolicy); 3] = [
    ("minimal", RoutePolicy::Minimal),
    ("valiant", RoutePolicy::Valiant),
    ("ugal", RoutePolicy::Ugal { threshold: 0 }),
];

fn topology(text: &str) -> Topology {
    Topology::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Tables and declared ways of all routers of a topology.
struct Fabric {
    topology: Topology,
    vcs: usize,
    tables: Vec<RouteTable>,
    ways: Vec<Vec<WayThrough>>,
}

impl Fabric {
    fn new(text: &str, routing: RoutePolicy, vcs: usize) -> Fabric {
        let topology = topology(text);
        let routers = 0..topology.routers();
        Fabric {
            tables: routers.clone().map(|router| RouteTable::new(&topology, routing, router, vcs)).collect(),
            ways: routers.map(|router| ways_through(&topology, routing, router, vcs)).collect(),
            topology,
            vcs,
        }
    }

    /// The router and the port of a node.
    fn place(&self, node: usize) -> (usize, usize) {
        let ports = |router| (0..self.topology.ports(router)).map(move |port| (router, port));
        let mut all = (0..self.topology.routers()).flat_map(ports);
        all.find(|&(router, port)| self.topology.peer(router, port) == PortPeer::Node(node))
            .expect("every node has one")
    }

    /// Sends a packet from node to node, on any of the virtual channels that it may use; returns the routers passed, and the
    /// intermediate place that it was given, and how many of its steps are none of the declared ways.
    fn walk(
        &self,
        (source, target): (usize, usize),
        rng: &mut Rng,
        backlog: fn(usize) -> u64,
    ) -> (Vec<usize>, u16, usize) {
        let mut flit = VcFlit { source: source as u16, target: target as u16, is_head: true, ..VcFlit::NONE };
        let ((mut router, mut from), mut vc) = (self.place(source), rng.below(self.vcs as u64) as usize);
        let (mut passed, mut via, mut undeclared) = (vec![router], NO_VIA, 0);
        loop {
            let (port, mask) = self.tables[router].next(&mut flit, (from as u8, vc), rng, backlog);
            if passed.len() == 1 {
                via = flit.via;
            }
            let is_declared = |((of, incoming), (to, outgoing)): &WayThrough| {
                *of == from && incoming >> vc & 1 == 1 && *to == port && mask & !outgoing == 0
            };
            assert!(mask != 0, "{}: router {router}", self.topology);
            undeclared += usize::from(!self.ways[router].iter().any(is_declared));
            match self.topology.peer(router, port) {
                PortPeer::Node(node) => {
                    assert_eq!((node, flit.via), (target, NO_VIA), "{}", self.topology);
                    return (passed, via, undeclared);
                }
                PortPeer::Router(next, back) => (router, from) = (next, back),
            }
            let allowed: Vec<usize> = (0..self.vcs).filter(|vc| mask >> vc & 1 == 1).collect();
            vc = allowed[rng.below(allowed.len() as u64) as usize];
            passed.push(router);
            assert!(passed.len() <= 40, "{}: the way does not end", self.topology);
        }
    }
}

/// Shortest ways by the routes of one leg, step by step.
fn channels(topology: &Topology, mut router: usize, node: usize) -> usize {
    let mut count = 0;
    while let PortPeer::Router(next, _) = topology.peer(router, topology.route(router, node).port(0)) {
        (router, count) = (next, count + 1);
    }
    count
}

const SHAPES: [&str; 6] = ["mesh:4x3", "mesh:2x2x3", "torus:5", "torus:4x4", "torus:3x3x3", "dragonfly:1,3,1"];

/// Every step of a packet is a way that the check for deadlock knows.
#[test]
fn fab_dlk_06_p() {
    let mut rng = Rng::for_name(11, "walks");
    for (shape, (name, routing)) in SHAPES.into_iter().flat_map(|shape| POLICIES.map(|policy| (shape, policy))) {
        for vcs in [1, 4, 5] {
            let fabric = Fabric::new(shape, routing, vcs);
            let nodes = fabric.topology.nodes() as u64;
            let mut indirect = 0;
            for _ in 0..120 {
                let (source, target) = (rng.below(nodes) as usize, rng.below(nodes) as usize);
                // Every other port is free, so that both kinds of ways are taken.
                let (passed, via, undeclared) =
                    fabric.walk((source, target), &mut rng, |port| if port % 2 == 0 { 9 } else { 0 });
                assert_eq!(undeclared, 0, "{shape} {name}: {passed:?}");
                indirect += usize::from(via != NO_VIA);
                let over = passed.iter().any(|at| fabric.topology.intermediate_of(*at) == usize::from(via));
                let direct = channels(&fabric.topology, passed[0], target) + 1;
                assert!(if via == NO_VIA { passed.len() == direct } else { over }, "{shape} {name}: {passed:?}");
            }
            assert_eq!(indirect > 0, routing != RoutePolicy::Minimal, "{shape} {name}");
        }
    }
}

/// Packets that take ways over intermediate places where the check was told of shortest ones are seen.
#[test]
fn fab_dlk_06_n() {
    let mut rng = Rng::for_name(12, "walks");
    for shape in ["torus:4x4", "dragonfly:1,3,1"] {
        let other = Fabric::new(shape, RoutePolicy::Minimal, 5).ways;
        let fabric = Fabric { ways: other, ..Fabric::new(shape, RoutePolicy::Valiant, 5) };
        let nodes = fabric.topology.nodes() as u64;
        let steps = |_| {
            let pair = (rng.below(nodes) as usize, rng.below(nodes) as usize);
            fabric.walk(pair, &mut rng, |_| 0).2
        };
        assert!((0..120).map(steps).sum::<usize>() > 20, "{shape}");
    }
}

/// Topologies in which an adaptive router has a choice, and the virtual channels that they need.
const ADAPTIVE: [(&str, usize); 4] = [("torus:4", 2), ("torus:4x4", 2), ("torus:6", 2), ("fat-tree:2x3", 1)];

/// Whichever ports are busy, every choice lies in the graph of waits, which has no circle, and from every channel that was chosen
/// the way to the goal goes on: the whole network is its own way out.
#[test]
fn fab_dlk_05_p() {
    let mut rng = Rng::for_name(13, "walks");
    for (shape, vcs) in ADAPTIVE {
        let set = [format!("topology={shape}"), "router.routing=adaptive".to_owned(), format!("router.vcs={vcs}")];
        assert_eq!(refusal(&set.each_ref().map(String::as_str)), None, "{shape}");
        let fabric = Fabric::new(shape, RoutePolicy::Adaptive, vcs);
        let nodes = fabric.topology.nodes();
        let busy: [fn(usize) -> u64; 4] =
            [|_| 0, |port| port as u64, |port| 64 - port as u64, |port| (port as u64 % 2) * 9];
        for (source, target) in (0..nodes).flat_map(|source| (0..nodes).map(move |target| (source, target))) {
            for backlog in busy {
                assert_eq!(fabric.walk((source, target), &mut rng, backlog).2, 0, "{shape}: {source} to {target}");
            }
        }
    }
    good("fabric-vc-router", &["topology=torus:4x4", "router.routing=adaptive", "router.vcs=2", "traffic.load=0.9"]);
}

/// A ring without a dateline has circles among the ways that are chosen, which are named; and ways that the graph does not know are seen.
#[test]
fn fab_dlk_05_n() {
    for topology in ["torus:4", "torus:4x4", "torus:6"] {
        let text = refusal(&[&format!("topology={topology}"), "router.routing=adaptive", "router.vcs=1"]);
        assert!(text.as_ref().is_some_and(|text| text.contains("wait for each other in a circle")), "{text:?}");
    }
    let mut rng = Rng::for_name(14, "walks");
    let mut fabric = Fabric::new("torus:4", RoutePolicy::Adaptive, 2);
    // A graph that was made without the choice: of ports that are equally good the first one alone.
    for (router, ways) in fabric.ways.iter_mut().enumerate() {
        let node = (router + 2) % 4;
        let second = fabric.topology.route(router, node).port(0) + 1;
        let own = (0..fabric.topology.ports(router))
            .find(|port| matches!(fabric.topology.peer(router, *port), PortPeer::Node(_)));
        ways.retain(|((from, _), (to, _))| Some(*from) != own || *to != second);
    }
    let busy_first = |port: usize| if port == 0 { 9 } else { 0 };
    let undeclared: usize = (0..4).map(|source| fabric.walk((source, (source + 2) % 4), &mut rng, busy_first).2).sum();
    assert!(undeclared > 0);
}

#[test]
fn distances_are_those_of_the_routes() {
    for net in SHAPES.map(topology) {
        for (from, node) in (0..net.routers()).flat_map(|from| (0..net.nodes()).map(move |node| (from, node))) {
            let at = (0..net.routers()).find(|at| channels(&net, *at, node) == 0).expect("a node is at a router");
            assert_eq!(net.distance(from, at), Some(channels(&net, from, node)), "{net}: {from} to {at}");
            assert_eq!(net.router_of(node), at, "{net}: node {node}");
        }
    }
}

/// A shortest way is left when its backlog times its channels is more, and kept in a tie.
#[test]
fn ugal_compares_backlog_times_channels() {
    // From router 0 of a ring of eight to the next one: one channel up at port 0, or over another router.
    let fabric = Fabric::new("torus:8", RoutePolicy::Ugal { threshold: 0 }, 4);
    let mut rng = Rng::for_name(5, "choices");
    let mut taken = |backlog: fn(usize) -> u64| {
        (0..200).map(|_| fabric.walk((0, 1), &mut rng, backlog).1).filter(|via| *via != NO_VIA).collect::<Vec<u16>>()
    };
    assert!(taken(|_| 0).is_empty(), "a tie is for the shortest way");
    assert!(taken(|_| 9).is_empty(), "the same backlog on a longer way is more");
    // Down over router 7 there are three channels, over 6 five, over 5 seven: 7 flits ahead are more than 1 x 5 and 1 x 3.
    let mut over = taken(|port| if port == 0 { 7 } else { 1 });
    over.sort_unstable();
    over.dedup();
    assert_eq!(over, [6, 7]);
}

/// With a threshold the shortest way is left when its backlog times its channels is more by that too: from router 0 of the ring 7 flits
/// ahead over one channel are 4 more than 1 x 3 over router 7, and 2 more than 1 x 5 over router 6.
#[test]
fn ugal_leaves_the_shortest_way_for_more_than_its_threshold() {
    let mut rng = Rng::for_name(5, "choices");
    for (threshold, expected) in [(0, &[6, 7][..]), (2, &[7]), (3, &[7]), (4, &[])] {
        let fabric = Fabric::new("torus:8", RoutePolicy::Ugal { threshold }, 4);
        let mut over: Vec<u16> = (0..200)
            .map(|_| fabric.walk((0, 1), &mut rng, |port| if port == 0 { 7 } else { 1 }).1)
            .filter(|via| *via != NO_VIA)
            .collect();
        over.sort_unstable();
        over.dedup();
        assert_eq!(over, expected, "{threshold}");
    }
    let text = refusal(&["topology=torus:4x4", "component.router.ugal_threshold=2"]).expect("minimal has none");
    assert!(text.contains("ugal_threshold: found it with routing = \"minimal\", expected \"ugal\""), "{text}");
}

/// Two steps along a ring of four are as many up as down. UGAL takes the port with the smaller backlog, whichever that is, and it is
/// the backlog of that port that it compares.
#[test]
fn ugal_compares_the_port_that_it_takes() {
    let fabric = Fabric::new("torus:4x4", RoutePolicy::Ugal { threshold: 0 }, 4);
    let mut rng = Rng::for_name(9, "equal ports");
    for busy in [0usize, 1] {
        for _ in 0..200 {
            let mut flit = VcFlit { source: 0, target: 2, is_head: true, ..VcFlit::NONE };
            let (from, backlog) = (fabric.place(0).1 as u8, |port| if port == busy { 40 } else { 0 });
            let (port, _) = fabric.tables[0].next(&mut flit, (from, 0), &mut rng, backlog);
            assert_eq!((port, flit.via), (1 - busy, NO_VIA), "nothing is ahead at the other port of the ring");
        }
    }
}

/// A packet on its way to an intermediate place would come to a router that knows none.
#[test]
fn routers_of_one_topology_have_one_policy() {
    let with = |others: &str, one: &str| {
        let text = include_str!("../../../src/system/builtin/fabric-vc-router.toml").replace(
            "kind = \"fabric.router\"",
            &format!("kind = \"fabric.router\"\nrouting = \"{others}\"\nat = {{ 0 = {{ routing = \"{one}\" }} }}"),
        );
        refused(&ScenarioRequest { description: Some(text), ..request("", &["topology=mesh:2x2"]) })
    };
    assert_eq!(with("valiant", "valiant"), None);
    for (others, one) in [("minimal", "valiant"), ("minimal", "ugal"), ("valiant", "minimal"), ("ugal", "valiant")] {
        let text = with(others, one).unwrap_or_else(|| panic!("{one} among {others}"));
        assert!(text.contains("expected one policy in all routers of a topology"), "{text}");
        assert!(text.contains(&format!("found {one}, and another policy")), "{text}");
    }
}

fn refusal(set: &[&str]) -> Option<String> {
    refused(&request("fabric-vc-router", set))
}

fn refused(request: &ScenarioRequest) -> Option<String> {
    match scenario::check(request) {
        Ok(()) => None,
        Err(RunError::Description(problems)) => Some(problems.lines().join("\n")),
        Err(other) => panic!("{:?}: {other}", request.set),
    }
}

/// Virtual channels that a policy needs in a topology.
const NEEDED: [(&str, &str, usize); 8] = [
    ("dragonfly:1,3,1", "minimal", 2),
    ("dragonfly:1,3,1", "valiant", 3),
    ("dragonfly:1,3,1", "ugal", 3),
    ("torus:4", "valiant", 4),
    ("torus:4x4", "ugal", 4),
    ("torus:4", "adaptive", 2),
    ("mesh:3x3", "valiant", 2),
    ("mesh:2x3x2", "ugal", 2),
];

/// With three local and two global classes, or a set of classes for each leg, no channel waits for itself.
#[test]
fn fab_dlk_04_p() {
    for (topology, routing, vcs) in NEEDED {
        let set = [&format!("topology={topology}"), &format!("router.routing={routing}"), &format!("router.vcs={vcs}")];
        assert_eq!(refusal(&set.map(String::as_str)), None, "{topology} {routing} {vcs}");
    }
}

/// With one virtual channel less a circle is found and named.
#[test]
fn fab_dlk_04_n() {
    for (topology, routing, vcs) in NEEDED {
        let (vcs, routing) = (format!("router.vcs={}", vcs - 1), format!("router.routing={routing}"));
        let text = refusal(&[&format!("topology={topology}"), &routing, &vcs]).expect("a circle");
        assert!(text.contains("found channels that wait for each other in a circle"), "{topology} {routing}: {text}");
        assert!(text.contains("needs room for vc"), "{topology} {routing}: {text}");
    }
}

#[test]
fn policies_that_change_nothing_are_refused() {
    for (topology, routing, expected) in [
        ("fat-tree:2x3", "valiant", "expected minimal or adaptive"),
        ("fat-tree:2x3", "ugal", "expected minimal or adaptive"),
        ("mesh:4x4", "adaptive", "routes in mesh:4x4 follow dimension order, one port each"),
        ("torus:5", "adaptive", "expected minimal, valiant or ugal, or a torus with a ring of an even number"),
        ("torus:5x3", "adaptive", "routes in torus:5x3 follow dimension order, one port each"),
        ("dragonfly:1,3,1", "adaptive", "expected minimal, valiant or ugal"),
        ("mesh:4x4", "shortest", "expected minimal, adaptive, valiant, ugal"),
    ] {
        let set = [format!("topology={topology}"), format!("router.routing={routing}")];
        let text = refusal(&set.each_ref().map(String::as_str)).unwrap_or_else(|| panic!("{topology} {routing}"));
        assert!(text.contains(expected), "{topology} {routing}: {text}");
    }
    let text = refusal(&["topology=mesh:4x4", "traffic.shift=2"]).expect("uniform traffic");
    assert!(text.contains("traffic.shift: found it with pattern = \"uniform\""), "{text}");
}

/// Every node of a group of a dragonfly sends to the next group: eight nodes share one global channel.
const GROUP: &[&str] = &["topology=dragonfly:2,4,2", "traffic.pattern=shift", "traffic.shift=8"];
/// Every node of a ring sends nearly half around it, all in the same direction: seven share each channel. A class with one virtual
/// channel alone would pass a flit every third cycle.
const TORNADO: &[&str] = &["topology=torus:16", "traffic.pattern=shift", "traffic.shift=7", "router.vcs=8"];

/// Flits a node and cycle that arrive at a load.
fn accepted(traffic: &[&str], routing: &str, load: &str) -> f64 {
    let set = [traffic, &[routing, load, "traffic.packets=60", "traffic.warm_up_cycles=400"]].concat();
    good("fabric-vc-router", &set).fabric.expect("a fabric").accepted_flits_per_node_cycle
}

/// Ways over an intermediate place are twice as long as those of uniform traffic. Where every node of a group sends to the next
/// group, shortest ways pass 1/(ap), and the others more.
#[test]
fn fab_top_03_p() {
    for (topology, uniform) in [("torus:8x8", 4.0), ("mesh:4x4", 2.5), ("torus:5x5", 2.4)] {
        let set = [format!("topology={topology}"), "router.routing=valiant".to_owned()];
        let more =
            ["traffic.load=0.02", "traffic.packets=120", "traffic.warm_up_cycles=100", "traffic.pattern=neighbour"];
        let set = [&set.each_ref().map(String::as_str)[..], &more].concat();
        // To a fixed node the first leg is a uniform way, and by symmetry of a torus the second one too.
        let channels = good("fabric-vc-router", &set).fabric.expect("a fabric").hops_mean - 1.0;
        assert!((channels / (2.0 * uniform) - 1.0).abs() < 0.02, "{topology}: {channels} channels");
    }
    for (traffic, bound, load) in
        [(GROUP, 1.0 / 8.0_f64, "traffic.load=0.25"), (TORNADO, 1.0 / 7.0, "traffic.load=0.18")]
    {
        let offered: f64 = load.rsplit('=').next().and_then(|n| n.parse().ok()).expect("a load");
        let minimal = accepted(traffic, "router.routing=minimal", load);
        assert!(minimal <= 1.02 * bound && minimal > 0.8 * bound, "{traffic:?}: {minimal} of {bound}");
        // UGAL knows its own outputs only, and finds out late that a global channel behind the next router is full.
        for (routing, least) in [("router.routing=valiant", 0.9 * offered), ("router.routing=ugal", 1.1 * minimal)] {
            let found = accepted(traffic, routing, load);
            assert!(found > least, "{traffic:?} {routing}: {found} of {offered}");
        }
    }
}

/// The bound of shortest ways is none of other ways: whoever takes these passes more, and would be found out.
#[test]
fn fab_top_03_n() {
    let found = accepted(GROUP, "router.routing=valiant", "traffic.load=0.2");
    assert!(found > 1.3 / 8.0, "{found}");
}

/// Latency by load, as `curve` gives it: shortest ways end early, and without load they are the shorter ones, which UGAL takes.
#[test]
fn curves_show_what_the_policies_are_for() {
    let mean = |routing: &str, load: f64| {
        let set = [GROUP, &[routing, "traffic.packets=40", "traffic.warm_up_cycles=300"]].concat();
        curve::point(&request("fabric-vc-router", &set), LOAD_KEY, load).expect("it runs").latency.mean
    };
    let [minimal, valiant, ugal] =
        ["router.routing=minimal", "router.routing=valiant", "router.routing=ugal"].map(|routing| mean(routing, 0.01));
    assert!((ugal / minimal - 1.0).abs() < 0.1 && valiant > 1.3 * minimal, "{minimal} {valiant} {ugal}");
    assert!(mean("router.routing=minimal", 0.2) > 3.0 * minimal, "shortest ways are not full at 0.2");
    for routing in ["router.routing=valiant", "router.routing=ugal"] {
        assert!(mean(routing, 0.2) < 3.0 * valiant, "{routing} is full at 0.2");
    }
}

/// Up ports of a tree by congestion instead of at random: queues are shorter.
#[test]
fn adaptive_ports_of_a_tree_wait_less() {
    let set = ["topology=fat-tree:4x2", "traffic.load=0.6", "traffic.packets=150", "traffic.warm_up_cycles=300"];
    let mean = |routing| good("fabric-vc-router", &[&set[..], &[routing]].concat()).latency_cycles.mean;
    let (random, adaptive) = (mean("router.routing=minimal"), mean("router.routing=adaptive"));
    assert!(adaptive < 0.97 * random, "{adaptive} against {random}");
}

#[test]
fn threads_and_order_change_no_policy() {
    for (topology, routing) in [("torus:4x4", "adaptive"), ("mesh:3x3", "valiant"), ("dragonfly:1,3,1", "ugal")] {
        let set = [
            &format!("topology={topology}"),
            &format!("router.routing={routing}"),
            "traffic.load=0.4",
            "traffic.packet_flits=3",
            "traffic.packets=20",
            "traffic.warm_up_cycles=100",
        ];
        let one = request("fabric-vc-router", &set);
        let run = |request: &ScenarioRequest| {
            serde_json::to_string(&scenario::run(request, &mut |_| ()).expect("it runs").json()).expect("JSON")
        };
        let idle = scenario::Modes { evaluate_idle: true, shuffle: Some(3) };
        assert_eq!(run(&one), run(&ScenarioRequest { threads: 2, ..one.clone() }), "{topology}");
        assert_eq!(run(&one), run(&ScenarioRequest { modes: idle, ..one.clone() }), "{topology}");
    }
}
