//! Switches with port based routing in meshes, tori, fat trees, dragonflies, fully connected groups and graphs out of a file.

use super::systems::resolved;
use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::fabric::topology::Topology;
use scalepool::scenario::report::ScenarioReport;

const TORUS: &str = include_str!("../../systems/pbr_torus.toml");

/// Shapes with the number of their switches and nodes, and a host far away from the first memory.
const SHAPES: [(&str, usize, usize, usize); 10] = [
    ("mesh:4x1", 4, 4, 3),
    ("mesh:3x3", 9, 9, 4),
    ("mesh:2x2x2", 8, 8, 7),
    ("torus:3x4", 12, 12, 7),
    ("torus:3x3x3", 27, 27, 13),
    ("fat-tree:2x3", 12, 8, 5),
    ("clos:2/1,1/2,3", 8, 6, 5),
    ("dragonfly:1,2,1", 6, 6, 3),
    ("full:2,4", 4, 8, 3),
    ("full:1,2", 2, 2, 1),
];

fn total(report: &ScenarioReport, array: &str, elements: usize, name: &str) -> u64 {
    (0..elements).map(|n| count(report, &format!("{array}[{n}]"), name)).sum()
}

/// What all switches have switched of the requests and answers of all reads and writes.
fn switched(report: &ScenarioReport, switches: usize) -> [u64; 4] {
    ["M2S Req", "S2M DRS", "M2S RwD", "S2M NDR"]
        .map(|class| total(report, "switch", switches, &format!("switched {class}")))
}

/// Every message is switched as often as its way has routers, counted by the topology itself. Shortest ways have the routers of the
/// topology; others have no fewer.
#[test]
fn messages_pass_the_routers_of_their_topology() {
    for (shape, switches, nodes, owner) in SHAPES {
        let set =
            [format!("fabric.shape={shape}"), format!("fabric.first_owner={owner}"), "host.accesses=12".to_owned()];
        let report = run(TORUS, &set.each_ref().map(String::as_str)).unwrap_or_else(|error| panic!("{shape}: {error}"));
        assert_eq!(report.violations, [], "{shape}");
        let topology = Topology::parse(shape).expect("a topology");
        assert_eq!((topology.routers(), topology.nodes()), (switches, nodes), "{shape}");
        let mut least = [0, 0];
        for memory in 0..nodes {
            let host = (owner + memory) % nodes;
            let routers = 1 + channels(&topology, topology.router_of(host), memory);
            for (sum, name) in least.iter_mut().zip(["reads", "writes"]) {
                *sum += routers * count(&report, &format!("host[{host}]"), name);
            }
        }
        let found = switched(&report, switches);
        assert!(least.iter().all(|n| *n > 0), "{shape}: {least:?}");
        assert_eq!([found[0], found[2]], [found[1], found[3]], "{shape}: requests and answers");
        match shape.split(':').next() {
            Some("mesh" | "fat-tree" | "clos" | "full") => assert_eq!([found[0], found[2]], least, "{shape}"),
            _ => assert!(found[0] >= least[0] && found[2] >= least[1], "{shape}: {found:?}, at least {least:?}"),
        }
    }
}

/// Channels on the way that the topology has from a router to a node.
fn channels(topology: &Topology, from: usize, node: usize) -> u64 {
    let (mut at, mut passed) = (from, 0);
    while at != topology.router_of(node) {
        let port = topology.route(at, node).ways().next().expect("a way").0;
        at = match topology.peer(at, port) {
            scalepool::fabric::topology::PortPeer::Router(next, _) => next,
            scalepool::fabric::topology::PortPeer::Node(_) => panic!("{topology}: a node on the way"),
        };
        passed += 1;
    }
    passed
}

/// In every shape, with bit errors on all links and a link that is lost while hosts ask: each request is answered or ends by its
/// time-out, once; each lost message is one request that timed out; everything is at rest at the end; and two threads give the same.
#[test]
fn requests_end_once_in_every_shape() {
    let mut lost_of_all = 0;
    for (shape, switches, nodes, owner) in SHAPES {
        for rerouted in ["", ", rerouted_after = \"500 ns\""] {
            let last = switches - 1;
            let text = TORUS.replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"6 us\"").replace(
                "[component.memory]",
                &format!("at.{last}.lost = [{{ at = \"700 ns\"{rerouted} }}]\n\n[component.memory]"),
            );
            // Routes around a lost link are shortest ones no more.
            let set = [
                format!("fabric.shape={shape}"),
                format!("fabric.first_owner={owner}"),
                "fabric.routing=up-down".to_owned(),
                "host.accesses=120".to_owned(),
                "link.ber=1e-5".to_owned(),
            ];
            let set = set.each_ref().map(String::as_str);
            let report = on_threads(&text, &set, 1);
            assert_eq!(report.violations, [], "{shape}");
            let of_hosts = |name| total(&report, "host", nodes, name);
            let lost = ["lost with links", "no route"].map(|name| total(&report, "switch", switches, name));
            assert_eq!(of_hosts("requests timed out"), lost[0] + lost[1], "{shape}");
            assert_eq!(of_hosts("line accesses"), 120 * nodes as u64, "{shape}");
            assert_eq!(of_hosts("late answers"), 0, "{shape}");
            lost_of_all += lost[0];
            if rerouted.is_empty() {
                assert_eq!(report.json(), on_threads(&text, &set, 2).json(), "{shape}: two threads");
            }
        }
    }
    assert!(lost_of_all > 0, "no message was under way where links were lost");
}

/// Logical devices go to the hosts in turn, several hosts and memories stand at a node, and windows make a memory map.
#[test]
fn nodes_have_what_the_description_says() {
    let with = |from: &str, to: &str, set: &[&str]| {
        let text = from.split('|').zip(to.split('|')).fold(TORUS.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        let report = run(&text, set).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.violations, []);
        report
    };
    let owner = "first_owner = 8";
    // Memory n is that of host n + 3; at a switch stand hosts 2 n and 2 n + 1.
    let several = "first_owner = 3\nhosts_per_node = 2\nmemories_per_node = 2";
    let report = with(owner, several, &["fabric.shape=mesh:2x2", "host.accesses=20"]);
    // Hosts 3 and 4 have memories 0 and 1 of switch 0, and so on: of four hosts at two neighbours one each is at the same switch.
    assert_eq!(total(&report, "host", 8, "line accesses"), 160);
    let reads: Vec<u64> = (0..8).map(|n| count(&report, &format!("host[{n}]"), "reads")).collect();
    let topology = Topology::parse("mesh:2x2").expect("a topology");
    let routers = |memory: usize| 1 + channels(&topology, (memory + 3) % 8 / 2, memory / 2);
    let expected: u64 = (0..8).map(|memory| routers(memory) * reads[(memory + 3) % 8]).sum();
    assert_eq!(switched(&report, 4)[0], expected);
    let kind = "kind = \"cxl.memory\"";
    let logical = format!("{owner}|{kind}|kind = \"cxl.switch.pbr\"");
    for (decode, windows) in [
        ("hdm", "first_owner = 1"),
        ("ldst", "window = \"256 MiB\""),
        ("ldst", "window = \"256 MiB\"\nfirst_owner = 2"),
    ] {
        let is_alone = windows.starts_with("first");
        let devices = if is_alone { 1 } else { 4 };
        let to = format!(
            "{windows}|{kind}\nlogical_devices = {devices}\nsize = \"4 GiB\"|kind = \"cxl.switch.pbr\"\ndecode = \"{decode}\""
        );
        let report = with(&logical, &to, &["fabric.shape=full:1,4", "host.accesses=20"]);
        assert_eq!(total(&report, "host", 4, "line accesses"), 80, "{windows}");
        let found = switched(&report, 4);
        assert_eq!([found[0], found[2]], [found[1], found[3]], "{windows}");
    }
}

/// What does not fit is refused where it stands, and a circle of channels by its names.
#[test]
fn fabrics_that_cannot_be_are_refused() {
    let refused = |text: &str| resolved(text).err().unwrap_or_else(|| panic!("expected a refusal of {}", &text[..400]));
    for (from, to, expected) in [
        (
            "shape = \"torus:4x4\"",
            "shape = \"torus:2x2\"",
            "generator.fabric.shape: found `torus:2x2`, expected 3 or more routers",
        ),
        ("shape = \"torus:4x4\"", "shape = \"full:1,1\"", "expected 2 to 64 routers"),
        ("shape = \"torus:4x4\"", "shape = \"full:60,6\"", "each with at most 64 ports"),
        ("shape = \"torus:4x4\"", "shape = \"mesh:60x60\"", "expected at most 4095 (fabric PID-1)"),
        ("first_owner = 8", "first_owner = 16", "found 16, expected one of 16 hosts"),
        ("trunk = \"trunk\"", "trunk = \"truk\"", "generator.fabric.trunk: found the link `truk`"),
        (
            "kind = \"cxl.switch.pbr\"",
            "kind = \"cxl.switch.pbr\"\nat.1.fabric = 3",
            "component.switch.at.1.fabric: found 3, expected none: generator.fabric sets it",
        ),
        (
            "kind = \"cxl.switch.pbr\"",
            "kind = \"cxl.switch.pbr\"\nrouting = \"minimal\"",
            "found channels that wait for each other in a circle",
        ),
        (
            "kind = \"cxl.switch.pbr\"",
            "kind = \"cxl.switch.pbr\"\nrouting = \"lowest-port\"",
            "found channels that wait for each other in a circle",
        ),
        (
            "kind = \"cxl.switch.pbr\"",
            "kind = \"cxl.switch.pbr\"\nspread = \"random\"\nrouting = \"lowest-port\"\ndecode = \"ldst\"",
            "circle",
        ),
    ] {
        assert!(TORUS.contains(from), "{from}");
        let found = refused(&TORUS.replace(from, to));
        assert!(found.contains(expected), "{expected}\n{found}");
    }
    let alone =
        "[component.lone]\nkind = \"cxl.switch.pbr\"\nclock = \"switch\"\nhosts = 1\ncolumn = 1\n\n[component.memory]";
    let found = refused(&TORUS.replace("[component.memory]", alone));
    assert!(found.contains("found one of `column` and `row`, expected both"), "{found}");
}
