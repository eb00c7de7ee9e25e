//! The kernel's promise, on random designs: what a run does depends on the design and the seed alone, not on the order of
//! evaluation within an instant, on idle modules being evaluated or not, on observers, on how the run is cut into steps,
//! on threads, or on partitions.

#[path = "../benches/ring.rs"]
mod ring;

use scalepool_testbenches::soak::is_soak;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use scalepool::kernel::{
    BuildError, Clock, Cx, Full, In, InEnd, LinkIn, LinkInEnd, LinkOut, LinkOutEnd, Module, Next, Out, OutEnd,
    PartitionBuilder, Pending, Rng, RunOptions, RunReport, SimError, Simulation, Stop, Time, WireIn, WireInEnd,
    WireOut, WireOutEnd,
};

/// A random design.
#[derive(Clone, Debug)]
struct Design {
    /// (numerator, denominator, phase) of the clocks; every partition has them all.
    clocks: Vec<(u64, u64, u64)>,
    nodes: Vec<NodePlan>,
    edges: Vec<EdgePlan>,
    limit_fs: Option<u64>,
    seed: u64,
}

#[derive(Clone, Debug)]
struct NodePlan {
    partition: usize,
    clock: usize,
    /// Items that it makes itself.
    makes: u64,
    /// Items that it can hold.
    holds: usize,
    /// It stalls after one item in so many, for up to so long.
    stalls_one_in: u64,
    stall_fs: u64,
}

/// A channel or a link, and perhaps a wire beside it.
#[derive(Clone, Debug)]
struct EdgePlan {
    from: usize,
    to: usize,
    depth: u32,
    latency_cycles: u32,
    latency_fs: u64,
    link: bool,
    wire: bool,
}

fn designs() -> impl Strategy<Value = Design> {
    let clock = (3_u64..40, 1_u64..4, 0_u64..20);
    let node = (0..3_usize, 0..3_usize, 0..12_u64, 1..4_usize, 1..8_u64, 1..2_000_u64).prop_map(
        |(partition, clock, makes, holds, stalls_one_in, stall_fs)| NodePlan {
            partition,
            clock,
            makes,
            holds,
            stalls_one_in,
            stall_fs,
        },
    );
    let latency = prop_oneof![1_u32..4, 1_u32..4, 60_u32..70, 100_u32..200];
    let ends = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let edge = (ends, 1_u32..6, latency, 1_u64..700, any::<bool>(), any::<bool>());
    let limit = prop_oneof![Just(None), (1_u64..5_000).prop_map(Some)];
    (
        prop::collection::vec(clock, 1..4),
        prop::collection::vec(node, 2..10),
        prop::collection::vec(edge, 1..20),
        limit,
        any::<u64>(),
    )
        .prop_map(|(clocks, nodes, edges, limit_fs, seed)| {
            let edge = |((from, to), depth, latency_cycles, latency_fs, link, wire)| {
                let (from, to): (prop::sample::Index, prop::sample::Index) = (from, to);
                let (from, to) = (from.index(nodes.len()), to.index(nodes.len()));
                let apart = nodes[from].partition != nodes[to].partition;
                EdgePlan { from, to, depth, latency_cycles, latency_fs, link: link || apart, wire: wire && !apart }
            };
            let edges = edges.into_iter().map(edge).collect();
            Design { clocks, nodes, edges, limit_fs, seed }
        })
}

/// What travels: hops to go, and a number that every node mixes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Item {
    hops: u8,
    number: u64,
}

enum AnyIn {
    Channel(In<Item>),
    Link(LinkIn<Item>),
}

enum AnyOut {
    Channel(Out<Item>),
    Link(LinkOut<Item>),
}

impl AnyOut {
    fn push(&mut self, cx: &mut Cx, item: Item) -> Result<(), Full<Item>> {
        match self {
            AnyOut::Channel(port) => port.push(cx, item),
            AnyOut::Link(port) => {
                port.push(cx, item);
                Ok(())
            }
        }
    }
}

/// Makes, takes, merges, stalls and forwards. An evaluation that finds nothing to do changes nothing.
struct Node {
    plan: NodePlan,
    inputs: Vec<AnyIn>,
    outputs: Vec<AnyOut>,
    wires_in: Vec<(WireIn<u64>, u64)>,
    wires_out: Vec<WireOut<u64>>,
    rng: Rng,
    to_make: u64,
    make_at: Time,
    stalled_until: Time,
    held: VecDeque<(Time, Item)>,
    state: u64,
    log: Arc<Mutex<String>>,
}

impl Node {
    fn log(&self, cx: &Cx, what: std::fmt::Arguments) {
        use std::fmt::Write;
        writeln!(self.log.lock().unwrap(), "{} {} {what}", cx.now(), cx.cycle()).unwrap();
    }

    fn has_room(&self) -> bool {
        self.held.len() < self.plan.holds
    }

    fn take(&mut self, cx: &mut Cx, input: usize) -> bool {
        // A look first, now and then, makes no difference.
        let look = self.state.is_multiple_of(3);
        let item = match &mut self.inputs[input] {
            AnyIn::Channel(port) => {
                let seen = if look { port.peek(cx).copied() } else { None };
                let item = port.pop(cx);
                assert!(!look || seen == item);
                item
            }
            AnyIn::Link(port) => {
                let seen = if look { port.peek(cx).copied() } else { None };
                let item = port.pop(cx);
                assert!(!look || seen == item);
                item
            }
        };
        let Some(item) = item else { return false };
        self.state = self.state.rotate_left(5) ^ item.number;
        self.log(cx, format_args!("in[{input}] {} {:x}", item.hops, item.number));
        if item.hops == 0 || self.outputs.is_empty() {
            cx.progress();
        } else {
            self.held.push_back((cx.now(), Item { hops: item.hops - 1, number: self.state }));
        }
        if self.rng.ratio(1, self.plan.stalls_one_in) {
            self.stalled_until = cx.now().plus_fs(self.rng.below(self.plan.stall_fs));
        }
        for wire in &mut self.wires_out {
            wire.write(cx, self.state % 4);
        }
        true
    }
}

impl Module for Node {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        for i in 0..self.wires_in.len() {
            let value = self.wires_in[i].0.read(cx);
            if value != self.wires_in[i].1 {
                self.wires_in[i].1 = value;
                self.log(cx, format_args!("wire[{i}] {value}"));
            }
        }
        if cx.now() < self.stalled_until {
            return Next::At(self.stalled_until);
        }
        let mut worked = false;
        while let Some((_, item)) = self.held.front() {
            let output = (item.number % self.outputs.len() as u64) as usize;
            if self.outputs[output].push(cx, *item).is_err() {
                break;
            }
            self.held.pop_front();
            worked = true;
        }
        if self.to_make > 0 && self.make_at <= cx.now() && self.has_room() && !self.outputs.is_empty() {
            self.to_make -= 1;
            let item = Item { hops: self.rng.below(6) as u8, number: self.rng.next_u64() };
            self.held.push_back((cx.now(), item));
            self.make_at = cx.now().plus_fs(self.rng.below(self.plan.stall_fs));
            worked = true;
        }
        for input in 0..self.inputs.len() {
            if self.has_room() && cx.now() >= self.stalled_until {
                worked |= self.take(cx, input);
            }
        }
        if worked {
            Next::Busy
        } else if self.to_make > 0 && self.has_room() && !self.outputs.is_empty() {
            Next::At(self.make_at)
        } else {
            Next::Idle
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let oldest = self.held.front();
        oldest.map_or(Ok(()), |(since, _)| Err(Pending::new(format!("{} held", self.held.len()), *since)))
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("state", self.state);
    }
}

#[derive(Default)]
struct LinkEnds {
    inputs: Vec<(usize, LinkInEnd<Item>)>,
    outputs: Vec<(usize, LinkOutEnd<Item>)>,
}

/// The ends of an edge, until their nodes take them.
type Ends<W, R> = (Option<W>, Option<R>);

/// Puts the nodes of one partition together.
fn build(
    p: &mut PartitionBuilder,
    design: &Design,
    mine: &[usize],
    links: Vec<LinkEnds>,
    logs: &[Arc<Mutex<String>>],
) -> Result<(), BuildError> {
    let mut clocks = Vec::new();
    for (i, &(num, den, phase)) in design.clocks.iter().enumerate() {
        clocks.push(p.clock(&format!("clock[{i}]"), Clock::new(num, den, phase)?)?);
    }
    let mut channels: Vec<Ends<OutEnd<Item>, InEnd<Item>>> = Vec::new();
    let mut wires: Vec<Ends<WireOutEnd<u64>, WireInEnd<u64>>> = Vec::new();
    for (i, edge) in design.edges.iter().enumerate() {
        let here = mine.contains(&edge.from);
        let channel = (here && !edge.link).then(|| p.channel(&format!("c[{i}]"), edge.depth, edge.latency_cycles));
        channels.push(channel.transpose()?.unzip());
        let wire = (here && edge.wire).then(|| p.wire(&format!("w[{i}]"), edge.latency_cycles, 0));
        wires.push(wire.transpose()?.unzip());
    }
    for (&n, links) in mine.iter().zip(links) {
        let plan = design.nodes[n].clone();
        let clock = clocks[plan.clock % clocks.len()];
        p.module(&format!("node[{n}]"), clock, |bind| {
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            let (mut wires_in, mut wires_out) = (Vec::new(), Vec::new());
            for (i, edge) in design.edges.iter().enumerate() {
                if edge.from == n {
                    outputs.extend(channels[i].0.take().map(|end| (i, AnyOut::Channel(bind.attach(end)))));
                    wires_out.extend(wires[i].0.take().map(|end| bind.attach(end)));
                }
                if edge.to == n {
                    inputs.extend(channels[i].1.take().map(|end| (i, AnyIn::Channel(bind.attach(end)))));
                    wires_in.extend(wires[i].1.take().map(|end| (bind.attach(end), 0)));
                }
            }
            inputs.extend(links.inputs.into_iter().map(|(i, end)| (i, AnyIn::Link(bind.attach(end)))));
            outputs.extend(links.outputs.into_iter().map(|(i, end)| (i, AnyOut::Link(bind.attach(end)))));
            inputs.sort_by_key(|(i, _)| *i);
            outputs.sort_by_key(|(i, _)| *i);
            Node {
                rng: bind.rng(),
                to_make: plan.makes,
                plan,
                inputs: inputs.into_iter().map(|(_, port)| port).collect(),
                outputs: outputs.into_iter().map(|(_, port)| port).collect(),
                wires_in,
                wires_out,
                make_at: Time::ZERO,
                stalled_until: Time::ZERO,
                held: VecDeque::new(),
                state: n as u64,
                log: logs[n].clone(),
            }
        })?;
    }
    Ok(())
}

/// The simulation of a design, with its partitions or all in one, and the logs of its nodes.
fn simulation(design: &Design, one_partition: bool) -> (Simulation, Vec<Arc<Mutex<String>>>) {
    let mut sim = Simulation::new(design.seed);
    let logs: Vec<Arc<Mutex<String>>> = design.nodes.iter().map(|_| Arc::default()).collect();
    let mut links: Vec<Option<LinkEnds>> = design.nodes.iter().map(|_| Some(LinkEnds::default())).collect();
    for (i, edge) in design.edges.iter().enumerate().filter(|(_, edge)| edge.link) {
        let (tx, rx) = sim.link(&format!("l[{i}]"), edge.latency_fs).unwrap();
        links[edge.from].as_mut().unwrap().outputs.push((i, tx));
        links[edge.to].as_mut().unwrap().inputs.push((i, rx));
    }
    for partition in 0..if one_partition { 1 } else { 3 } {
        let mine: Vec<usize> =
            (0..design.nodes.len()).filter(|n| one_partition || design.nodes[*n].partition == partition).collect();
        let links = mine.iter().map(|n| links[*n].take().unwrap()).collect();
        let (design, logs) = (design.clone(), logs.clone());
        sim.partition(move |p| build(p, &design, &mine, links, &logs));
    }
    (sim, logs)
}

/// Everything that a run may show.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    log: Vec<String>,
    /// Without the counts of work: they are the simulator's, not the design's.
    end: Result<RunReport, SimError>,
}

fn outcome(logs: &[Arc<Mutex<String>>], result: Result<RunReport, SimError>) -> Outcome {
    Outcome {
        log: logs.iter().map(|log| log.lock().unwrap().clone()).collect(),
        end: result.map(|report| RunReport { evaluations: 0, windows: 0, ..report }),
    }
}

fn run(design: &Design, one_partition: bool, options: &RunOptions) -> (Outcome, Vec<Time>) {
    let (sim, logs) = simulation(design, one_partition);
    let mut windows = Vec::new();
    let result = sim.run(options, |end| windows.push(end));
    (outcome(&logs, result), windows)
}

fn run_in_steps(design: &Design, options: &RunOptions, step_fs: u64) -> Outcome {
    let (sim, logs) = simulation(design, false);
    let mut running = sim.start(options).unwrap();
    let last = options.limit.unwrap_or(Time::MAX);
    let mut limit = Time::ZERO;
    let result = loop {
        limit = limit.plus_fs(step_fs).min(last);
        match running.run_until(limit, |_| ()) {
            Ok(Stop::Limit) if limit < last => {}
            Ok(_) => break running.report(),
            Err(error) => break Err(error),
        }
    };
    outcome(&logs, result)
}

/// Designs that are tried, in `make soak` six times as many.
fn cases() -> u32 {
    if is_soak() { 192 } else { 32 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_but_the_design_and_the_seed_matters(
        design in designs(),
        order in any::<u64>(),
        step_fs in 20_u64..400,
    ) {
        let plain = RunOptions { limit: design.limit_fs.map(Time::from_fs), ..RunOptions::default() };
        let (expected, windows) = run(&design, false, &plain);
        for shuffle in [None, Some(order)] {
            for evaluate_idle in [false, true] {
                for threads in [1, 2, 3] {
                    let options = RunOptions { shuffle, evaluate_idle, threads, ..plain.clone() };
                    let (found, its_windows) = run(&design, false, &options);
                    prop_assert_eq!(&found, &expected, "{:?}", options);
                    prop_assert_eq!(&its_windows, &windows, "{:?}", options);
                }
                let options = RunOptions { shuffle, evaluate_idle, ..plain.clone() };
                prop_assert_eq!(&run(&design, true, &options).0, &expected, "one partition, {:?}", options);
            }
        }
        prop_assert_eq!(&run_in_steps(&design, &plain, step_fs), &expected, "in steps of {} fs", step_fs);
    }
}

/// The designs above are worth running: most deliver items, and all ends of a run occur.
#[test]
fn the_random_designs_do_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut lines, mut quiescent, mut limit, mut deadlock, mut open) = (0, 0, 0, 0, 0);
    for _ in 0..200 {
        let design = designs().new_tree(&mut runner).unwrap().current();
        let options = RunOptions { limit: design.limit_fs.map(Time::from_fs), ..RunOptions::default() };
        let outcome = run(&design, false, &options).0;
        lines += outcome.log.iter().map(|log| log.lines().count()).sum::<usize>();
        match outcome.end {
            Ok(RunReport { stop: Stop::Quiescent | Stop::Done, .. }) => quiescent += 1,
            Ok(RunReport { stop: Stop::Limit, .. }) => limit += 1,
            Err(SimError::Deadlock { .. }) => deadlock += 1,
            Err(SimError::OpenAtLimit { .. }) => open += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(lines > 200 * 30, "{lines} lines");
    assert!(quiescent > 20 && limit > 0 && deadlock > 0 && open > 20, "{quiescent} {limit} {deadlock} {open}");
}

/// The hashes that `benches/systemc/ring.cpp` prints, for both of its forms.
#[test]
fn the_ring_agrees_with_systemc() {
    for (items, cycles, hash) in [(64, 100, 0x3824_6a07_6e57_1849), (1, 200_000, 0x8a7e_d79d_1af7_9b7a)] {
        assert_eq!(ring::run(items, cycles).1, hash);
    }
}
