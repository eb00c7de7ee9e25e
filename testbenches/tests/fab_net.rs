//! Whole fabrics: every request ends once, and neither threads nor observers nor the order of modules change anything.

use scalepool::kernel::Rng;
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint};
use scalepool::scenario::drive::Live;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, Modes, ScenarioRequest};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const TWO: &str = include_str!("../systems/pbr_two_switches.toml");
const IO: &str = include_str!("../systems/io_switch.toml");
const LOGICAL: &str = include_str!("../systems/io_logical_devices.toml");

/// Fabrics of every kind, short, with faults on the links of those that have a protocol.
const FABRICS: [(&str, &[&str]); 11] = [
    ("fabric-vc-router", &["topology=mesh:4x4", "traffic.load=0.4", "traffic.packet_flits=3", "traffic.packets=40"]),
    ("fabric-vc-router", &["topology=torus:4x4", "traffic.load=0.4", "traffic.packet_flits=3", "traffic.packets=40"]),
    ("fabric-vc-router", &["topology=fat-tree:2x3", "traffic.load=0.4", "traffic.packets=40"]),
    ("fabric-vc-router", &["topology=dragonfly:1,3,1", "traffic.load=0.4", "traffic.packets=40"]),
    ("pooled-pair", &["host.accesses=200", "link.ber=3e-5", "host_link.fault=drop:40,up:noise:50"]),
    ("pooled-pair", &["link.mode=cxl-68b", "host.accesses=100", "link.ber=1e-5"]),
    ("pool-16", &["host.accesses=30", "link.ber=1e-5"]),
    ("pbr-rack", &["rack.leaves=2", "rack.spines=2", "rack.per_leaf=2", "host.accesses=30", "link.ber=1e-5"]),
    (TWO, &["host.accesses=100", "link.ber=3e-5", "link.between.fault=drop:40,up:noise:50"]),
    (IO, &["host.accesses=60", "link.ber=1e-6", "switch.order=relaxed", "link.non_posted=1"]),
    (LOGICAL, &["host.accesses=30", "link.ber=1e-6"]),
];

/// A run of a built-in scenario, or of a description.
fn request(name: &str, set: &[&str]) -> ScenarioRequest {
    let description = name.contains('\n').then(|| name.to_owned());
    let scenario = if description.is_some() { String::new() } else { name.to_owned() };
    let set = set.iter().map(|&text| text.to_owned()).collect();
    ScenarioRequest { scenario, description, seed: 7, threads: 1, set, ..ScenarioRequest::default() }
}

fn report(request: &ScenarioRequest) -> String {
    let report = scenario::run(request, &mut |_| ()).unwrap_or_else(|error| panic!("{:?}: {error}", request.set));
    assert_eq!(report.violations, [], "{:?}", request.set);
    serde_json::to_string(&report.json()).expect("JSON")
}

/// The report and the trace of a run.
fn traced(request: &ScenarioRequest) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.jsonl");
    let outputs = Outputs { trace: Some(path.clone()), ..Outputs::default() };
    let report = report(&ScenarioRequest { outputs, ..request.clone() });
    (report, std::fs::read_to_string(path).expect("the run wrote it"))
}

/// Transactions that begin, and of those the ones that do not begin once and end once.
fn not_ended_once(trace: &str) -> (usize, Vec<u64>) {
    let mut counts = BTreeMap::<u64, [u32; 2]>::new();
    for line in trace.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let at = match record["kind"].as_str() {
            Some("begin") => 0,
            Some("end") => 1,
            _ => continue,
        };
        counts.entry(record["id"].as_u64().expect("an id")).or_default()[at] += 1;
    }
    (counts.len(), counts.into_iter().filter(|(_, count)| *count != [1, 1]).map(|(id, _)| id).collect())
}

/// Every request of every fabric ends once, whatever its links do to flits.
#[test]
fn fab_con_01_p() {
    for (name, set) in FABRICS {
        let (begun, wrong) = not_ended_once(&traced(&request(name, set)).1);
        assert!(begun > 100 && wrong.is_empty(), "{set:?}: {} of {begun}", wrong.len());
    }
}

/// A trace in which one request does not end, and one in which it ends twice.
#[test]
fn fab_con_01_n() {
    let (name, set) = FABRICS[6];
    let trace = traced(&request(name, set)).1;
    let lines: Vec<&str> = trace.lines().collect();
    let at = lines.iter().position(|line| line.contains("\"kind\":\"end\"")).expect("one ends");
    let lost = [&lines[..at], &lines[at + 1..]].concat().join("\n");
    let twice = [&lines[..=at], &lines[at..]].concat().join("\n");
    for wrong in [lost, twice] {
        assert_eq!(not_ended_once(&wrong).1.len(), 1);
    }
}

/// Reports and traces are the same bytes on one and on two threads, and others with another seed.
#[test]
fn fab_det_01_p() {
    for (name, set) in FABRICS {
        let one = request(name, set);
        let outcome = traced(&one);
        assert!(outcome == traced(&ScenarioRequest { threads: 2, ..one.clone() }), "{set:?}");
        assert!(outcome != traced(&ScenarioRequest { seed: 8, ..one }), "{set:?}");
    }
}

/// The report of a run of a built-in fabric, in which a hook damages units that come to ports: `damages` says of the n-th port whether it
/// damages a unit.
fn damaged<D>(name: &str, options: (usize, Option<u64>), ports: [&str; 2], damages: [D; 2]) -> String
where
    D: FnMut(u64) -> bool + Send + 'static,
{
    let (threads, shuffle) = options;
    let modes = Modes { shuffle, ..Modes::default() };
    let request = ScenarioRequest { threads, modes, ..request(name, &["host.accesses=200"]) };
    let live = Live::new(&request).expect("it is built");
    for (port, mut damages) in ports.into_iter().zip(damages) {
        let hook = move |item: &HookItem<'_>| match damages(item.number) {
            false => HookAnswer::Keep,
            true => {
                let mut bytes = item.bytes.to_vec();
                // More than the code of a flit corrects, so it is sent again.
                bytes[20..26].iter_mut().for_each(|byte| *byte ^= 0x5a);
                HookAnswer::Replace(bytes)
            }
        };
        let hooks = live.port(port).expect("there is one").hooks.clone();
        hooks.attach(HookPoint::Wire, Direction::Rx, hook).expect("no hook runs");
    }
    let report = live.finish(&mut |_| ()).expect("it runs");
    assert_eq!(report.violations, [], "damage is repaired");
    serde_json::to_string(&report.json()).expect("JSON")
}

/// Of two hosts of a built-in fabric, the one whose first unit was looked at before that of the other.
type First = Arc<Mutex<Option<usize>>>;

/// A fabric in which the host that comes first, as threads come, has its units damaged: the report, and who that was. `late` waits until
/// somebody was first.
fn merged_as_they_come(threads: usize, late: Option<usize>) -> (String, Option<usize>) {
    let first = First::default();
    let damages = [0, 1].map(|n| {
        let first = first.clone();
        move |unit: u64| {
            // A thread that is slow: the other one runs on its own.
            for _ in 0..100_000_000u64 {
                if late != Some(n) || first.lock().expect("no panic").is_some() {
                    break;
                }
                std::thread::yield_now();
            }
            let is_first = *first.lock().expect("no panic").get_or_insert(n) == n;
            is_first && unit % 40 == 20
        }
    });
    let report = damaged("pooled-pair", (threads, None), ["host[0].cxl", "host[1].cxl"], damages);
    let first = *first.lock().expect("no panic");
    (report, first)
}

/// A built-in fabric in which what comes from two threads is merged in the order in which they come: another report. Merged by the number
/// of the host it is the same.
#[test]
fn fab_det_01_n() {
    let (one, first) = merged_as_they_come(1, None);
    let (two, other) = merged_as_they_come(4, first);
    assert_ne!(first, other, "the other thread came first");
    assert!(one != two, "an unordered merge is seen");
    let by_number = |threads| {
        let damages = [0, 1].map(|n| move |unit: u64| n == 0 && unit % 40 == 20);
        damaged("pooled-pair", (threads, None), ["host[0].cxl", "host[1].cxl"], damages)
    };
    assert!(by_number(1) == by_number(4));
}

/// Modules in another order, modules that idle, and nobody who looks: the same report, and the same trace.
#[test]
fn fab_det_02_p() {
    for (name, set) in FABRICS {
        let plain = request(name, set);
        let outcome = traced(&plain);
        assert_eq!(outcome.0, report(&plain), "{set:?}: without a trace");
        let modes = Modes { evaluate_idle: true, shuffle: Some(3) };
        assert!(outcome == traced(&ScenarioRequest { modes, ..plain }), "{set:?}");
    }
}

/// A built-in fabric two ports of whose switch have units damaged by numbers of a generator of their own each, or of one for both.
fn drawn(is_shared: bool, shuffle: Option<u64>) -> String {
    let of = |name: &str| Arc::new(Mutex::new(Rng::for_name(5, name)));
    let first = of("a");
    let generators = [first.clone(), if is_shared { first } else { of("b") }];
    let damages = generators.map(|rng| move |_: u64| rng.lock().expect("no panic").below(50) == 0);
    damaged("pooled-pair", (1, shuffle), ["switch.usp[0]", "switch.usp[1]"], damages)
}

/// A generator that modules of a built-in fabric share gives each of them other numbers in another order.
#[test]
fn fab_det_02_n() {
    let shared = drawn(true, None);
    assert!((1..6).any(|seed| drawn(true, Some(seed)) != shared), "a shared generator is seen");
    let own = drawn(false, None);
    assert!((1..6).all(|seed| drawn(false, Some(seed)) == own));
}
