//! Topologies beside counting and search in breadth.

use scalepool::fabric::topology::{PortPeer, Topology};
use std::collections::VecDeque;

fn topology(text: &str) -> Topology {
    Topology::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

const ALL: [&str; 15] = [
    "mesh:8x8",
    "mesh:3x1",
    "mesh:2x3x4",
    "torus:8x8",
    "torus:4x4x4",
    "torus:5",
    "torus:3x5",
    "fat-tree:4x3",
    "fat-tree:2x6",
    "clos:4/2,8",
    "clos:2/3,3/2,4",
    "clos:3/1,1/2,2/1,2",
    "dragonfly:2,4,2",
    "full:2,4",
    "full:1,2",
];

/// Routers from each router to all others, those at both ends counted, by search in breadth.
fn distances(net: &Topology, from: usize) -> Vec<usize> {
    let mut passed = vec![0; net.routers()];
    passed[from] = 1;
    let mut queue = VecDeque::from([from]);
    while let Some(router) = queue.pop_front() {
        for port in 0..net.ports(router) {
            if let PortPeer::Router(next, _) = net.peer(router, port)
                && passed[next] == 0
            {
                passed[next] = passed[router] + 1;
                queue.push_back(next);
            }
        }
    }
    passed
}

/// The router of each node.
fn routers_of_nodes(net: &Topology) -> Vec<usize> {
    let mut of = vec![usize::MAX; net.nodes()];
    for (router, port) in (0..net.routers()).flat_map(|r| (0..net.ports(r)).map(move |p| (r, p))) {
        if let PortPeer::Node(node) = net.peer(router, port) {
            assert_eq!(of[node], usize::MAX, "{net}: node {node} is at two ports");
            of[node] = router;
        }
    }
    assert!(of.iter().all(|router| *router != usize::MAX), "{net}: a node is at no port");
    of
}

/// Routers passed on the way to a node, whichever of the ways is taken; all are as long.
fn passed(net: &Topology, mut router: usize, node: usize, last: bool) -> usize {
    let mut count = 1;
    loop {
        let ways: Vec<_> = net.route(router, node).ways().collect();
        let (port, _) = ways[if last { ways.len() - 1 } else { 0 }];
        match net.peer(router, port) {
            PortPeer::Node(found) => {
                assert_eq!(found, node, "{net}");
                return count;
            }
            PortPeer::Router(next, _) => router = next,
        }
        count += 1;
        assert!(count <= net.routers(), "{net}: the way to {node} does not end");
    }
}

#[test]
fn every_port_leads_to_one_that_leads_back() {
    for net in ALL.map(topology) {
        for (router, port) in (0..net.routers()).flat_map(|r| (0..net.ports(r)).map(move |p| (r, p))) {
            if let PortPeer::Router(peer, back) = net.peer(router, port) {
                assert_ne!(peer, router, "{net}");
                assert_eq!(net.peer(peer, back), PortPeer::Router(router, port), "{net}: router {router} port {port}");
            }
        }
        routers_of_nodes(&net);
    }
}

/// Every node is reached, and on a shortest way.
#[test]
fn fab_top_05_p() {
    for net in ALL.map(topology) {
        let of = routers_of_nodes(&net);
        let is_dragonfly = net.to_string().starts_with("dragonfly");
        for from in of.iter().copied() {
            let shortest = distances(&net, from);
            for (node, router) in of.iter().enumerate() {
                let found = passed(&net, from, node, false);
                assert_eq!(found, passed(&net, from, node, true), "{net}");
                // Two global channels can be shorter than local, global, local.
                let fits =
                    if is_dragonfly { (shortest[*router]..=4).contains(&found) } else { found == shortest[*router] };
                assert!(fits, "{net}: {found} from {from} to {node}, {} are enough", shortest[*router]);
            }
        }
    }
}

/// Mean number of routers passed, with the node itself as a destination or without.
fn mean_passed(text: &str, with_self: bool) -> f64 {
    let net = topology(text);
    let of = routers_of_nodes(&net);
    let ends = of.iter().enumerate();
    let pairs = ends.flat_map(|(source, &from)| (0..net.nodes()).map(move |node| (source, from, node)));
    let pairs = pairs.filter(|(source, _, node)| with_self || source != node);
    let lengths: Vec<usize> = pairs.map(|(_, from, node)| passed(&net, from, node, false)).collect();
    lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
}

fn judge_means(means: &[(&str, f64)]) {
    for (text, mean) in means {
        let found = mean_passed(text, true);
        assert!((found - mean).abs() < 5e-5, "{text}: {found}");
    }
}

/// Means of `fabric` §6.5, routers at both ends counted, the node itself a destination.
#[test]
fn fab_top_01_p() {
    judge_means(&[
        ("mesh:8x8", 6.25),
        ("mesh:4x4", 3.5),
        ("torus:8x8", 5.0),
        ("torus:4x4x4", 4.0),
        ("torus:5x5", 3.4),
        ("dragonfly:2,4,2", 3.3056),
    ]);
}

/// Without the node itself the mean is another one, that of §6.5 beside it.
#[test]
fn fab_top_01_n() {
    for (text, mean) in [("mesh:8x8", 6.3333), ("mesh:4x4", 3.6667), ("torus:4x4x4", 4.0476)] {
        let found = mean_passed(text, false);
        assert!((found - mean).abs() < 5e-5 && found - mean_passed(text, true) > 0.04, "{text}: {found}");
    }
}

/// Nodes, switches and means of K-ary N-trees (`fabric` §6.3).
#[test]
fn fab_top_02_p() {
    judge_means(&[("fat-tree:4x3", 4.375), ("fat-tree:8x2", 2.75), ("fat-tree:2x6", 9.0625)]);
    let counts = |text| (topology(text).nodes(), topology(text).routers());
    assert_eq!((counts("fat-tree:4x3"), counts("dragonfly:2,4,2")), ((64, 48), (72, 36)));
}

/// Clos networks: k-port fat trees of three levels, three stages (m, n, r), and trees whose levels are all alike are K-ary N-trees.
#[test]
fn fab_top_02_p2() {
    for k in [4, 8, 16] {
        let half = k / 2;
        let net = topology(&format!("clos:{half}/{half},{half}/{half},{k}"));
        assert_eq!((net.nodes(), net.routers()), (k * k * k / 4, 5 * k * k / 4), "{net}");
        assert!((0..net.routers()).all(|router| net.ports(router) == k), "{net}");
    }
    let [m, n, r] = [7, 4, 4];
    let net = topology(&format!("clos:{n}/{m},{r}"));
    assert_eq!((net.nodes(), net.routers()), (n * r, m + r), "strictly non-blocking from m = 2n - 1 on");
    assert_eq!(topology("clos:4/4,4/4,4"), topology("fat-tree:4x3"));
    for text in ALL.into_iter().filter(|text| text.starts_with("clos") || text.starts_with("fat-tree")) {
        assert_eq!(topology(text).to_string(), text);
    }
}

/// A tree of three levels of switches with four ports each would be another one, with 16 nodes.
#[test]
fn fab_top_02_n() {
    let k_port = |k: usize| (k * k * k / 4, 5 * k * k / 4);
    let net = topology("fat-tree:4x3");
    assert_eq!(k_port(4), (16, 20));
    assert_ne!((net.nodes(), net.routers()), k_port(4));
}

/// Numbers of which no topology can be built: too many ports of a router, too few or too many routers, another form.
#[test]
fn fab_top_05_n() {
    for (text, expected) in [
        ("mesh", "found `mesh`, expected mesh:8x8"),
        ("mesh:8,8", "expected mesh:8x8"),
        ("mesh:0x4", "numbers of 1 to"),
        ("mesh:1x1", "2 to 32768 routers and 2 to 32768 nodes, and not 1 and 1"),
        ("mesh:2x2x2x2", "expected mesh:8x8"),
        ("torus:2x4", "3 or more routers in each ring"),
        ("fat-tree:1x3", "2 to 32 ports down"),
        ("fat-tree:4x1", "2 to 32 ports down"),
        ("dragonfly:2x4x2", "expected mesh:8x8"),
        ("dragonfly:60,4,4", "at most 64 ports, and not 67"),
        ("mesh:30000x30000", "2 to 32768 routers"),
        ("fat-tree:32x15", "2 to 32768 routers"),
        ("ring:8", "expected mesh:8x8"),
        ("clos:8", "expected mesh:8x8"),
        ("clos:4,8", "expected mesh:8x8"),
        ("clos:4/2,8/2", "expected mesh:8x8"),
        ("clos:0/2,8", "expected mesh:8x8"),
        ("clos:4/61,8", "at most 64 ports, and not 65"),
        ("clos:64/64,64/64,64/64,64", "2 to 32768 routers"),
    ] {
        let error = Topology::parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
