//! Whole fabrics: every request ends once, and neither threads nor observers nor the order of modules change anything.

use scalepool::kernel::{Clock, Cx, Module, Next, Rng, RunOptions, Simulation, Time};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, Modes, ScenarioRequest};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const TWO: &str = include_str!("../systems/pbr_two_switches.toml");

/// Fabrics of every kind, short, with faults on the links of those that have a protocol.
const FABRICS: [(&str, &[&str]); 9] = [
    ("fabric-vc-router", &["topology=mesh:4x4", "traffic.load=0.4", "traffic.packet_flits=3", "traffic.packets=40"]),
    ("fabric-vc-router", &["topology=torus:4x4", "traffic.load=0.4", "traffic.packet_flits=3", "traffic.packets=40"]),
    ("fabric-vc-router", &["topology=fat-tree:2x3", "traffic.load=0.4", "traffic.packets=40"]),
    ("fabric-vc-router", &["topology=dragonfly:1,3,1", "traffic.load=0.4", "traffic.packets=40"]),
    ("pooled-pair", &["host.accesses=200", "link.ber=3e-5", "host_link.fault=drop:40,up:noise:50"]),
    ("pooled-pair", &["link.mode=cxl-68b", "host.accesses=100", "link.ber=1e-5"]),
    ("pool-16", &["host.accesses=30", "link.ber=1e-5"]),
    ("pbr-rack", &["rack.leaves=2", "rack.spines=2", "rack.per_leaf=2", "host.accesses=30", "link.ber=1e-5"]),
    (TWO, &["host.accesses=100", "link.ber=3e-5", "link.between.fault=drop:40,up:noise:50"]),
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

/// Notes of modules, in the order in which they were written: cycle and module.
type Notes = Arc<Mutex<Vec<(u64, usize)>>>;

/// A module that writes into a list of all modules; it may wait until another module has begun to.
struct Writer {
    number: usize,
    notes: Notes,
    waits: bool,
}

impl Module for Writer {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        // A thread that is slow: the other one runs on its own.
        for _ in 0..100_000_000u64 {
            if !self.waits || !self.notes.lock().expect("no panic").is_empty() {
                break;
            }
            std::thread::yield_now();
        }
        self.waits = false;
        self.notes.lock().expect("no panic").push((cx.cycle(), self.number));
        Next::Busy
    }
}

/// What two modules write that are in partitions of their own.
fn written(threads: usize) -> Vec<(u64, usize)> {
    let notes = Notes::default();
    let mut sim = Simulation::new(1);
    for number in 0..2 {
        let notes = notes.clone();
        sim.partition(move |p| {
            let clock = p.clock("clock", Clock::with_period_fs(1_000_000)?)?;
            let waits = threads > 1 && number == 0;
            p.module(&format!("writer[{number}]"), clock, |_| Writer { number, notes, waits })
        });
    }
    run(sim, RunOptions { threads, ..RunOptions::default() });
    notes.lock().expect("no panic").clone()
}

fn run(sim: Simulation, options: RunOptions) {
    let limit = Some(Time::from_fs(100_000_000));
    sim.run(&RunOptions { limit, open_at_limit_allowed: true, ..options }, |_| ()).expect("it runs");
}

/// What is merged in the order in which threads come differs; in the order of times it does not.
#[test]
fn fab_det_01_n() {
    let [one, two] = [1, 2].map(written);
    assert_ne!(one, two);
    let sorted = |mut notes: Vec<(u64, usize)>| {
        notes.sort_unstable();
        notes
    };
    assert_eq!(sorted(one), sorted(two));
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

/// A module that draws a number at every edge.
struct Drawer {
    rng: Arc<Mutex<Rng>>,
    drawn: Arc<Mutex<Vec<u64>>>,
}

impl Module for Drawer {
    fn eval(&mut self, _: &mut Cx) -> Next {
        let number = self.rng.lock().expect("no panic").next_u64();
        self.drawn.lock().expect("no panic").push(number);
        Next::Busy
    }
}

/// What two modules draw from a generator of their own each, or from one for both.
fn drawn(is_shared: bool, shuffle: Option<u64>) -> Vec<Vec<u64>> {
    let of = |name: &str| Arc::new(Mutex::new(Rng::for_name(5, name)));
    let own = [of("a"), if is_shared { of("a") } else { of("b") }];
    let generators = if is_shared { [own[0].clone(), own[0].clone()] } else { own };
    let all: [Arc<Mutex<Vec<u64>>>; 2] = Default::default();
    let (mut sim, kept) = (Simulation::new(1), all.clone());
    sim.partition(move |p| {
        let clock = p.clock("clock", Clock::with_period_fs(1_000_000)?)?;
        for (n, (rng, drawn)) in generators.into_iter().zip(all).enumerate() {
            p.module(&format!("drawer[{n}]"), clock, |_| Drawer { rng, drawn })?;
        }
        Ok(())
    });
    run(sim, RunOptions { shuffle, ..RunOptions::default() });
    kept.iter().map(|drawn| drawn.lock().expect("no panic").clone()).collect()
}

/// A generator that modules share gives each of them other numbers in another order.
#[test]
fn fab_det_02_n() {
    assert_ne!(drawn(true, None), drawn(true, Some(3)));
    assert_eq!(drawn(false, None), drawn(false, Some(3)));
}
