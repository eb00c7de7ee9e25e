//! The switch as a module, with messages and without flits: latencies, classes that don't hold one another up, commands.

use super::relayed::{Relay, Relayed};
use scalepool::arbiter::{ArbiterKind, RoundRobin, Separable};
use scalepool::coherence::clocked::linked::{NodeLink, Numbered};
use scalepool::fabric::cxl_switch::{
    Bindings, CommandError, CxlSwitch, HbrRoutes, HbrSwitching, ManagerCommand, ManagerEvent, PlugAction, PlugDelays,
    ResetScope, SharedPorts, SwitchConfig, SwitchResult, SwitchTraffic, TableCommit, TimedCommand, UnbindOption,
    Undelivered, VppbBinding,
};
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, RunReport, SimError, Simulation, Time};
use scalepool::memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool::ordered::{OrderedMap, OrderedSet};
use scalepool::trace::Tap;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode};
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Class, Data, M2sBirsp, M2sReq, M2sRwd, Message, MessageForm, S2mDrs, S2mNdr};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const GIB: u64 = 1 << 30;
/// Latency of a device \[cycles\].
const DEVICE_CYCLES: u64 = 20;
const DOWN: [Class; 3] = [Class::M2sReq, Class::M2sRwd, Class::M2sBirsp];
const UP: [Class; 2] = [Class::S2mNdr, Class::S2mDrs];

/// What came at each port, what each was told of viral, and what the switch has counted.
pub(super) type ToldRun = (Vec<Vec<(u64, Message)>>, Vec<Vec<(u64, Option<u16>)>>, SwitchResult);

/// Messages that came, each with its cycle.
type Seen = Arc<Mutex<Vec<(u64, Message)>>>;
/// Statuses of viral that came, each with its cycle.
type Told = Arc<Mutex<Vec<(u64, Option<u16>)>>>;

/// What stands at a port: it sends what it is told to, and answers what it gets if it is a device.
struct End {
    sends: VecDeque<(u64, Message)>,
    tx: Vec<(Class, Out<Message>)>,
    rx: Vec<(Class, In<Numbered>)>,
    /// A message of each of these classes is sent whenever there is room for it.
    flood: Vec<Message>,
    is_device: bool,
    /// Classes that it never takes.
    closed: Vec<Class>,
    seen: Seen,
    /// What the switch tells of viral, and when that came.
    viral: In<LinkStatus>,
    told: Told,
    /// A device answers reads with poisoned data.
    is_poisoned: bool,
}

impl Module for End {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let cycle = cx.cycle();
        while let Some(status) = self.viral.pop(cx) {
            let vector = match status {
                LinkStatus::Viral(vector) => Some(vector),
                LinkStatus::ViralOver => None,
                LinkStatus::HotReset => unreachable!("no switch is below"),
            };
            self.told.lock().expect("no panic").push((cycle, vector));
        }
        for (class, rx) in self.rx.iter_mut().filter(|(class, _)| !self.closed.contains(class)) {
            while let Some((_, message)) = rx.pop(cx) {
                assert_eq!(message.class(), *class);
                self.seen.lock().expect("no panic").push((cycle, message));
                let ld_id = message.route().ld_id;
                let answer = match message {
                    Message::M2sReq(m) if m.opcode == M2sReqOpcode::MemSpecRd => continue,
                    Message::M2sReq(m) if self.is_device => {
                        let poison = self.is_poisoned;
                        Message::S2mDrs(S2mDrs { tag: m.tag, ld_id, poison, ..S2mDrs::default() }, Data::line([3; 64]))
                    }
                    Message::M2sRwd(m, _) if self.is_device => {
                        Message::S2mNdr(S2mNdr { tag: m.tag, ld_id, ..S2mNdr::default() })
                    }
                    _ => continue,
                };
                self.sends.push_back((cycle + DEVICE_CYCLES, answer));
            }
        }
        for (class, tx) in &mut self.tx {
            let is_next = |(at, message): &(u64, Message)| *at <= cycle && message.class() == *class;
            while let Some(place) = self.sends.iter().position(is_next) {
                if tx.push(cx, self.sends[place].1).is_err() {
                    break;
                }
                self.sends.remove(place);
            }
            for message in self.flood.iter().filter(|message| message.class() == *class) {
                while tx.push(cx, *message).is_ok() {}
            }
        }
        Next::Busy
    }
}

/// A run: what is sent at each port, what devices don't take, and the settings of the switch.
pub(super) struct Bench {
    hosts: usize,
    pub(super) sends: Vec<Vec<(u64, Message)>>,
    /// What each host sends whenever it can, to a logical device of the first port, which then answers nothing.
    pub(super) floods: Vec<Vec<Message>>,
    closed: Vec<Class>,
    /// Classes that hosts never take.
    closed_hosts: Vec<Class>,
    pub(super) commands: Vec<TimedCommand>,
    /// Devices answer reads with poisoned data.
    pub(super) is_poisoned: bool,
    /// The switch sends bad data of a device on as good ones.
    pub(super) mends: bool,
    queue: usize,
    pub(super) width_bytes: u64,
    pub(super) speedup: u64,
    pub(super) arbiter: &'static ArbiterKind,
    /// Age from which on a message is found as starved \[cycles\].
    starved_cycles: Option<u64>,
    stages_cycles: [u64; 2],
    /// Time that an unbind waits \[cycles\].
    drain_cycles: u64,
    /// Hosts have a logical device each of the first port, and not a port each.
    pub(super) is_shared: bool,
    /// Time that hosts and links take when a port comes or goes.
    pub(super) delays: PlugDelays,
    /// Tables that are committed while the switch runs.
    pub(super) commits: Vec<TableCommit>,
    /// The switch routes by tables that are not committed.
    pub(super) is_hasty: bool,
    /// What becomes of an action of the fabric manager on its way to the switch.
    pub(super) relay: Relay,
    /// What is open at the end, or goes on no more for half of the run, is an error.
    must_end: bool,
}

/// Hosts that have a device each, at address 0, and none beside it.
pub(super) fn bench(hosts: usize) -> Bench {
    let sends = vec![Vec::new(); 2 * hosts];
    Bench {
        hosts,
        sends,
        floods: vec![Vec::new(); hosts],
        closed: Vec::new(),
        closed_hosts: Vec::new(),
        commands: Vec::new(),
        is_poisoned: false,
        mends: false,
        queue: 8,
        width_bytes: 128,
        speedup: 1,
        arbiter: &RoundRobin::KIND,
        starved_cycles: None,
        stages_cycles: [5, 7],
        drain_cycles: 100,
        is_shared: false,
        delays: PlugDelays::default(),
        commits: Vec::new(),
        is_hasty: false,
        relay: |managed| vec![managed],
        must_end: false,
    }
}

/// What came at every port, and what the switch has counted, after a thousand cycles.
pub(super) fn run(bench: Bench) -> (Vec<Vec<(u64, Message)>>, SwitchResult) {
    let (seen, _, result) = run_told(bench);
    (seen, result)
}

/// The same, with what each port was told of viral.
pub(super) fn run_told(bench: Bench) -> ToldRun {
    let (told, ended) = simulate(bench);
    ended.expect("it runs");
    told
}

/// The same, with how the run ended.
fn simulate(bench: Bench) -> (ToldRun, Result<RunReport, SimError>) {
    let Bench { hosts, sends, floods, closed, closed_hosts, commands, queue, stages_cycles, drain_cycles, .. } = bench;
    let is_flooded = floods.iter().any(|flood| !flood.is_empty());
    let is_shared = bench.is_shared || is_flooded;
    let (result, seen): (Arc<Mutex<SwitchResult>>, Vec<Seen>) =
        (Arc::default(), sends.iter().map(|_| Seen::default()).collect());
    let told: Vec<Told> = sends.iter().map(|_| Told::default()).collect();
    let (shared, of_ports, told_ports) = (result.clone(), seen.clone(), told.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = p.clock("clock", Clock::with_period_fs(1_000_000)?)?;
        let mut links = Vec::new();
        for (port, (sends, seen)) in sends.into_iter().zip(of_ports).enumerate() {
            let is_device = port >= hosts;
            let (to_switch, from_switch) = if is_device { (&UP[..], &DOWN[..]) } else { (&DOWN[..], &UP[..]) };
            let (mut tx, mut rx, mut switch_rx, mut switch_tx) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for class in to_switch {
                let (out, end) = p.channel::<Message>(&format!("p{port}.to_switch.c{}", class.index()), 8, 1)?;
                tx.push((*class, out));
                switch_rx.push((*class, end));
            }
            for class in from_switch {
                let (out, end) = p.channel::<Numbered>(&format!("p{port}.from_switch.c{}", class.index()), 8, 1)?;
                switch_tx.push((*class, out));
                rx.push((*class, end));
            }
            let (viral_tx, viral) = p.channel::<LinkStatus>(&format!("p{port}.viral"), 8, 1)?;
            let told = told_ports[port].clone();
            let closed = if is_device { closed.clone() } else { closed_hosts.clone() };
            p.module(&format!("p{port}"), clock, |bind| End {
                sends: sends.into(),
                tx: tx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
                rx: rx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
                flood: floods.get(port).cloned().unwrap_or_default(),
                is_device: is_device && !is_flooded,
                closed,
                seen,
                viral: bind.attach(viral),
                told,
                is_poisoned: bench.is_poisoned,
            })?;
            links.push((switch_rx, switch_tx, viral_tx));
        }
        let mut bindings = Bindings::new(hosts, 4, hosts);
        (0..hosts).for_each(|n| {
            let (port, ld) = if is_shared { (0, Some(n as u8)) } else { (n, None) };
            bindings.bind(VppbBinding { vcs: n, vppb: 0, port, ld }).expect("it is free");
        });
        let mut decoders = BridgeDecoders::default();
        decoders
            .commit(BridgeDecoder { back_invalidate: false, base: 0, size: GIB, granularity: 256, targets: vec![0] })
            .expect("it is legal");
        let routes = HbrRoutes {
            bindings,
            stopped: OrderedSet::new(),
            bridges: OrderedMap::new(),
            caches: OrderedMap::new(),
            decoders: vec![decoders; hosts],
            forms: vec![MessageForm::Hbr; 2 * hosts],
            uncommitted: OrderedSet::new(),
            poison_on_decode_error: false,
        };
        let hasty = bench.is_hasty.then(|| HbrSwitching::new(routes.clone(), Vec::new(), drain_cycles));
        let switching = HbrSwitching::new(routes, commands, drain_cycles)
            .with_plugs(SharedPorts::new(), bench.delays)
            .with_commits(bench.commits);
        let switching = Relayed::new(switching, bench.relay, hasty).mending(bench.mends);
        let config = SwitchConfig {
            traffic: SwitchTraffic::Mem,
            stages_cycles,
            queue,
            output_queue: queue,
            width_bytes: bench.width_bytes,
            speedup: bench.speedup,
            allocator: &Separable::OUTPUT_FIRST,
            arbiter: bench.arbiter,
            weights: [1; 12],
            starved_cycles: bench.starved_cycles,
            dropped: Arc::default(),
        };
        p.module("switch", clock, |bind| {
            let links = links.into_iter().enumerate().map(|(n, (rx, tx, viral))| {
                let link = NodeLink {
                    tells: Some(bind.attach(viral)),
                    hears: None,
                    damage: None,
                    rx: rx.into_iter().map(|(class, end)| (class, bind.attach(end).into())).collect(),
                    tx: tx.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
                    routes: Vec::new(),
                    form: MessageForm::Hbr,
                    number: 0,
                    link: n as u32,
                };
                (link, Tap::off())
            });
            let links = links.collect();
            CxlSwitch::new(switching, config, links, Tap::off(), shared).expect("few ports")
        })
    });
    let limit = Some(Time::from_fs(1_000_000_000));
    let mut options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    if bench.must_end {
        (options.open_at_limit_allowed, options.stall_limit_fs) = (false, Some(500_000_000));
    }
    let ended = sim.run(&options, |_| ());
    let seen = seen.iter().map(|seen| seen.lock().expect("no panic").clone()).collect();
    let told = told.iter().map(|told| told.lock().expect("no panic").clone()).collect();
    let result = result.lock().expect("no panic").clone();
    ((seen, told, result), ended)
}

pub(super) fn read(tag: u16, address: u64) -> Message {
    Message::M2sReq(M2sReq { opcode: M2sReqOpcode::MemRd, address, tag, ..M2sReq::default() })
}

pub(super) fn write(tag: u16) -> Message {
    Message::M2sRwd(M2sRwd { opcode: M2sRwdOpcode::MemWr, tag, ..M2sRwd::default() }, Data::line([1; 64]))
}

/// Messages of each class that came in went out or ended, but for those that are still there.
fn left(result: &SwitchResult) -> [u64; 4] {
    std::array::from_fn(|class| {
        let sum =
            |of: &dyn Fn(&scalepool::fabric::cxl_switch::PortCounts) -> u64| result.ports.iter().map(of).sum::<u64>();
        let gone = sum(&|port| port.sent[class] - port.own[class]) + sum(&|port| port.ended[class]);
        sum(&|port| port.received[class]) - gone
    })
}

/// Cycles in which a read came to the device, and its answer to the host.
fn crossing(stages_cycles: [u64; 2]) -> Vec<Vec<u64>> {
    let mut one = bench(1);
    one.stages_cycles = stages_cycles;
    one.sends[0].push((10, read(3, 0)));
    let (seen, result) = run(one);
    assert_eq!(left(&result), [0; 4]);
    [1, 0].map(|port| seen[port].iter().map(|(cycle, _)| *cycle).collect()).to_vec()
}

/// The same by the sum of the stages and nothing else.
fn by_sum(sum: u64) -> Vec<Vec<u64>> {
    // The channel to the switch takes a cycle.
    let at_device = 11 + sum;
    vec![vec![at_device], vec![at_device + DEVICE_CYCLES + 1 + sum]]
}

/// From the cycle in which the switch can take a message to that in which the link end has it, the stages and no more.
#[test]
fn fab_swc_05_p() {
    for stages_cycles in [[1, 1], [5, 7], [45, 45], [90, 50], [30, 30]] {
        assert_eq!(crossing(stages_cycles), by_sum(stages_cycles.iter().sum()), "{stages_cycles:?}");
    }
}

#[test]
fn fab_swc_05_n() {
    assert_ne!(crossing([6, 7]), by_sum(12), "one stage is a cycle longer");
}

/// A host with reads and writes whose device, or which itself, takes nothing of a class.
fn with_closed(class: Class) -> Bench {
    let mut blocked = bench(2);
    blocked.queue = 2;
    if DOWN.contains(&class) {
        blocked.closed = vec![class]
    } else {
        blocked.closed_hosts = vec![class]
    }
    for n in 0..60 {
        blocked.sends[0].push((10, read(n, 0)));
        blocked.sends[0].push((10, write(100 + n)));
    }
    blocked
}

/// Each class in turn is not taken: the other ones go on, and so do all of their answers.
#[test]
fn fab_ord_04_p() {
    let tags_of = |class: Class| if matches!(class, Class::M2sReq | Class::S2mDrs) { 100..160 } else { 0..60 };
    for (n, class) in [Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs].into_iter().enumerate() {
        let (seen, result) = run(with_closed(class));
        let tags: Vec<u16> = seen[0].iter().map(|(_, message)| message.identifier().1).collect();
        assert_eq!(tags, tags_of(class).collect::<Vec<_>>(), "{class:?}: in order, and all of them");
        assert!(result.full_cycles > 0);
        let held = left(&result);
        let is_right = |(at, held): (usize, &u64)| (*held > 0) == (at == n);
        assert!(held.iter().enumerate().all(is_right), "{class:?} is not taken: {held:?} are held");
    }
}

/// Messages that the switch takes from a host whose device takes none, and those that leave for the device.
fn taken_and_left(queue: usize) -> [u64; 2] {
    let mut blocked = with_closed(Class::M2sReq);
    blocked.queue = queue;
    let (_, result) = run(blocked);
    [result.ports[0].received[0], result.ports[2].sent[0]]
}

/// Messages leave for the device while its channel has room, 8, and come in while the two queues of the switch have.
#[test]
fn fab_swc_04_p2() {
    for queue in [1, 2, 5, 8] {
        assert_eq!(taken_and_left(queue), [8 + 2 * queue as u64, 8], "queues of {queue}");
    }
}

/// A run whose requests are all answered ends with nothing open.
#[test]
fn fab_con_04_p() {
    let mut whole = bench(2);
    (whole.must_end, whole.queue) = (true, 1);
    for n in 0..60 {
        whole.sends[0].extend([(10, read(n, 0)), (10, write(100 + n))]);
        whole.sends[1].push((20, read(n, 7 * GIB)));
    }
    let ((seen, _, result), ended) = simulate(whole);
    ended.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((seen[0].len(), seen[1].len(), left(&result)), (120, 60, [0; 4]));
}

/// One message that nobody takes is open at the end.
#[test]
fn fab_con_04_n() {
    let mut one = bench(1);
    (one.must_end, one.closed) = (true, vec![Class::M2sRwd]);
    // The channel to the device has room for eight.
    (0..9).for_each(|n| one.sends[0].push((900, write(n))));
    let (_, ended) = simulate(one);
    let text = ended.expect_err("a message is held").to_string();
    assert!(text.contains("switch") && text.contains("1 messages to send"), "{text}");
}

/// A switch that goes on no more ends its run, and says so, long before the limit.
#[test]
fn fab_dlk_06_n2() {
    let mut stuck = with_closed(Class::M2sReq);
    stuck.must_end = true;
    let (_, ended) = simulate(stuck);
    let error = ended.expect_err("it is stuck");
    let text = error.to_string();
    assert!(text.starts_with("stalled at ") && text.contains("switch: 4 messages to send"), "{text}");
}

/// Two hosts that write to one device, each a write every so many cycles: what the switch finds of ages.
fn ages(every_cycles: u64, starved_cycles: Option<u64>) -> Vec<String> {
    let mut busy = bench(2);
    // A write takes the output for five cycles.
    (busy.is_shared, busy.width_bytes, busy.queue, busy.starved_cycles) = (true, 16, 64, starved_cycles);
    for (host, sends) in busy.sends.iter_mut().take(2).enumerate() {
        sends.extend((0..30).map(|n| (10 + 6 * host as u64 + every_cycles * u64::from(n), write(n))));
    }
    let (seen, result) = run(busy);
    assert_eq!([seen[0].len(), seen[1].len()], [30; 2], "all are answered");
    assert!(result.broken.iter().all(|one| one.rule == "FAB-DLK-07"), "{:?}", result.broken);
    result.broken.iter().map(|one| one.found.clone()).collect()
}

/// What the port of the device takes as it comes is never old, and without a limit nothing is found.
#[test]
fn fab_dlk_07_p() {
    assert_eq!(ages(12, Some(40)), Vec::<String>::new());
    assert_eq!(ages(0, None), Vec::<String>::new());
}

/// A class that waits for ever longer is named once, with its ports and its age.
#[test]
fn fab_dlk_07_n() {
    let found = ages(0, Some(40));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("M2S RwD from port ") && found[0].contains(" to port 2 after 4"), "{found:?}");
}

/// Messages that never leave are found as well, each class once toward each port, at the age that is one above the limit.
#[test]
fn fab_dlk_07_n2() {
    for (class, way) in
        [(Class::M2sReq, "M2S Req from port 0 to port 2"), (Class::S2mDrs, "S2M DRS from port 2 to port 0")]
    {
        let mut blocked = with_closed(class);
        blocked.starved_cycles = Some(100);
        let (_, result) = run(blocked);
        let found: Vec<&str> = result.broken.iter().map(|one| one.found.as_str()).collect();
        assert_eq!(found, [format!("{way} after 101 cycles")]);
    }
}

/// Writes that come together, each of which keeps the input for five cycles: the next one is as old as it stands there.
fn behind_the_width(limit_cycles: u64) -> Vec<String> {
    let mut narrow = bench(1);
    (narrow.width_bytes, narrow.stages_cycles, narrow.starved_cycles) = (16, [1, 1], Some(limit_cycles));
    narrow.sends[0] = (0..3).map(|n| (10, write(n))).collect();
    let (_, result) = run(narrow);
    result.broken.iter().map(|one| one.found.clone()).collect()
}

#[test]
fn fab_dlk_07_p2() {
    assert_eq!(behind_the_width(20), Vec::<String>::new());
}

#[test]
fn fab_dlk_07_n3() {
    assert_eq!(behind_the_width(4), ["M2S RwD from port 0 to port 1 after 5 cycles"]);
}

/// Answers that come to a host whose device takes no requests.
fn answers_behind_requests(closed: Vec<Class>) -> usize {
    let mut blocked = bench(1);
    (blocked.closed, blocked.queue) = (vec![Class::M2sReq, Class::M2sRwd], 1);
    blocked.closed_hosts = closed;
    for n in 0..40 {
        blocked.sends[0].extend([(5, read(n, 0)), (5, write(n))]);
        let answer = Message::S2mNdr(S2mNdr { tag: n, ..S2mNdr::default() });
        blocked.sends[1].push((100, answer));
    }
    run(blocked).0[0].len()
}

/// The device takes nothing, and its own answers come through.
#[test]
fn fab_swc_02_p() {
    assert_eq!(answers_behind_requests(Vec::new()), 40);
}

/// Answers that wait for something are missing at the host, here because it takes none itself.
#[test]
fn fab_swc_02_n() {
    assert_eq!(answers_behind_requests(vec![Class::S2mNdr]), 0);
}

/// What came in went out, ended in the switch, or is held there: with blocked classes, holes, removals and late answers.
#[test]
fn fab_swc_09_p() {
    let mut mixed = bench(2);
    (mixed.commands, mixed.queue) = (vec![unbind(60, true)], 2);
    for n in 0..50 {
        mixed.sends[0].extend([(10 + u64::from(n), read(n, 0)), (20 + u64::from(n), read(100 + n, 7 * GIB))]);
        mixed.sends[1].extend([(10, write(n)), (30, read(n, 0))]);
    }
    let (_, result) = run(mixed);
    assert_eq!(left(&result), [0; 4], "nothing is held at the end");
    assert!(result.undelivered.values().sum::<u64>() > 50);
}

#[test]
fn fab_swc_09_n() {
    let mut one = bench(1);
    one.sends[0].extend([(5, read(1, 0)), (6, write(2))]);
    let (_, mut result) = run(one);
    assert_eq!(left(&result), [0; 4]);
    result.ports[1].sent[0] -= 1;
    assert_eq!(left(&result), [1, 0, 0, 0], "one is not accounted for");
}

#[test]
fn the_switch_answers_what_reaches_nothing() {
    let mut hole = bench(2);
    hole.sends[1].push((10, read(7, 5 * GIB)));
    let (seen, result) = run(hole);
    assert!(matches!(&seen[1][..], [(_, Message::S2mDrs(drs, data))] if drs.tag == 7 && data.line == [0xff; 64]));
    assert_eq!(result.undelivered.get(&Undelivered::NotDecoded), Some(&1));
    assert_eq!((result.ports[1].own, left(&result)), ([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0; 4]));
}

/// Messages that the port has not negotiated are dropped and reported, and so is an LD-ID above the switch.
#[test]
fn what_breaks_a_rule_is_reported() {
    let mut wrong = bench(1);
    let above = M2sReq { opcode: M2sReqOpcode::MemRd, ld_id: 2, ..M2sReq::default() };
    wrong.sends[0].extend([(5, Message::M2sBirsp(M2sBirsp::default())), (9, Message::M2sReq(above))]);
    let (seen, result) = run(wrong);
    let rules: Vec<_> = result.broken.iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, ["FAB-ERR-04", "FAB-MLD-02"]);
    assert_eq!(seen[1].len(), 1, "the request goes on");
    assert_eq!(seen[1][0].1.route().ld_id, 0, "as what it is below the switch");
}

fn unbind(at_cycle: u64, surprise: bool) -> TimedCommand {
    let option = if surprise { UnbindOption::SurpriseRemove } else { UnbindOption::ManagedRemove };
    unbind_by(at_cycle, option)
}

fn unbind_by(at_cycle: u64, option: UnbindOption) -> TimedCommand {
    TimedCommand { at_cycle, command: ManagerCommand::Unbind { vppb: (0, 0), option } }
}

/// Reads of a host, one each cycle, and what they end with: an answer of the device, one of the switch, or none.
fn ends(commands: Vec<TimedCommand>) -> ([usize; 3], SwitchResult, usize) {
    let mut two = bench(2);
    two.commands = commands;
    for n in 0..200 {
        two.sends[0].push((10 + u64::from(n), read(n, 0)));
        two.sends[1].push((10 + u64::from(n), read(n, 0)));
    }
    let (seen, result) = run(two);
    let lines = |host: usize, byte: u8| {
        let is_it = |message: &Message| message.data().is_some_and(|data| data.line[0] == byte);
        seen[host].iter().filter(|(_, message)| is_it(message)).count()
    };
    let [good, unmapped] = [lines(0, 3), lines(0, 0xff)];
    ([good, unmapped, 200 - good - unmapped], result, lines(1, 3))
}

/// Answers of a removed port that came too late, and messages that were flushed with its binding.
fn late_and_flushed(result: &SwitchResult) -> [u64; 2] {
    let late = result.undelivered.get(&Undelivered::UnknownLd).copied().unwrap_or(0);
    let flushed = |(_, event): &(u64, ManagerEvent)| if let ManagerEvent::Unbound(_, n) = event { *n } else { 0 };
    [late, result.events.iter().map(flushed).sum()]
}

/// Every option ends with one record, that of the vPPB; a managed removal loses nothing. Option 0 changes nothing before the link of its
/// port goes down, which ends it.
#[test]
fn fab_bnd_04_p() {
    let binding = VppbBinding { vcs: 0, vppb: 0, port: 0, ld: None };
    let is_one =
        |result: &SwitchResult| matches!(result.events[..], [(_, ManagerEvent::Unbound(of, _))] if of == binding);
    for (code, loses) in [(1, false), (2, true)] {
        let option = UnbindOption::of_code(code).expect("it is defined");
        let ([.., lost], result, _) = ends(vec![unbind_by(100, option)]);
        assert!(is_one(&result), "option {code}: {:?}", result.events);
        assert_eq!(lost > 0, loses, "option {code}");
    }
    let wait = unbind_by(100, UnbindOption::of_code(0).expect("it is defined"));
    let ([good, ..], result, _) = ends(vec![wait]);
    assert_eq!((good, &result.events[..]), (200, &[][..]), "the link stays up");
    let down = TimedCommand { at_cycle: 150, command: ManagerCommand::Plug(0, PlugAction::LinkDown) };
    let ([good, ..], result, other) = ends(vec![wait, down]);
    assert!(is_one(&result), "{:?}", result.events);
    assert!((50..200).contains(&good) && other == 200, "{good} {other}");
}

/// Other options are invalid input, and a command that fails ends with a record too.
#[test]
fn fab_bnd_04_n() {
    for code in 3..=15 {
        assert_eq!(UnbindOption::of_code(code), Err(CommandError::Option { found: code }));
    }
    let (_, result, _) = ends(vec![unbind(100, false), unbind(101, true)]);
    let refused =
        |(_, event): &&(u64, ManagerEvent)| matches!(event, ManagerEvent::Refused(_, CommandError::Busy { .. }));
    assert_eq!((result.events.len(), result.events.iter().filter(refused).count()), (2, 1), "{:?}", result.events);
}

/// After a drain nothing is lost; everything that a surprise loses stands in the record, and nothing of another host.
#[test]
fn fab_bnd_05_p() {
    let ([.., lost], result, other) = ends(vec![unbind(100, false)]);
    assert_eq!((lost, other, late_and_flushed(&result)), (0, 200, [0; 2]));
    let ([.., lost], result, other) = ends(vec![unbind(100, true)]);
    assert_eq!((lost as u64, other), (late_and_flushed(&result).iter().sum::<u64>(), 200));
    assert!(lost > 20);
}

/// A record without one of the discarded messages does not account for what was lost.
#[test]
fn fab_bnd_05_n() {
    let ([.., lost], mut result, _) = ends(vec![unbind(100, true)]);
    let [(_, ManagerEvent::Unbound(_, flushed))] = &mut result.events[..] else { panic!("{:?}", result.events) };
    *flushed -= 1;
    assert_ne!(lost as u64, late_and_flushed(&result).iter().sum::<u64>());
}

/// Whether an unbind at cycle 100 flushes nothing before its limit, and no answer of the device comes through afterwards.
fn keeps_its_limit(drain_cycles: u64, surprise: bool) -> (bool, u64) {
    let mut slow = bench(1);
    (slow.commands, slow.drain_cycles) = (vec![unbind(100, surprise)], drain_cycles);
    (0..200).for_each(|n| slow.sends[0].push((10 + u64::from(n), read(n, 0))));
    let (seen, result) = run(slow);
    let [(at_fs, ManagerEvent::Unbound(..))] = result.events[..] else { panic!("{:?}", result.events) };
    let (ended, lost) = (at_fs / 1_000_000, late_and_flushed(&result).iter().sum());
    let is_late = |(cycle, message): &(u64, Message)| {
        // The channel to the host takes a cycle.
        *cycle > ended + 1 && message.data().is_some_and(|data| data.line[0] == 3)
    };
    ((lost == 0 || ended >= 100 + drain_cycles) && !seen[0].iter().any(is_late), lost)
}

/// The device is faster than the limit, as fast, and slower.
#[test]
fn fab_bnd_06_p() {
    for (drain_cycles, loses) in [(1000, false), (100, false), (60, true), (20, true), (1, true), (0, true)] {
        let (keeps, lost) = keeps_its_limit(drain_cycles, false);
        assert!(keeps && (lost > 0) == loses, "{drain_cycles} cycles: {lost} lost");
    }
}

/// What is flushed before the limit is seen: a surprise does that.
#[test]
fn fab_bnd_06_n() {
    assert!(!keeps_its_limit(100, true).0);
}

#[test]
fn a_drain_answers_what_was_open() {
    let ([good, unmapped, lost], result, other) = ends(vec![unbind(100, false)]);
    assert!(good > 50 && unmapped > 50, "{good} {unmapped}");
    assert_eq!((lost, other, left(&result)), (0, 200, [0; 4]));
    let binding = VppbBinding { vcs: 0, vppb: 0, port: 0, ld: None };
    let [(_, event)] = result.events[..] else { panic!("{:?}", result.events) };
    assert_eq!(event, ManagerEvent::Unbound(binding, 0));
}

#[test]
fn a_surprise_loses_what_was_open_and_nothing_else() {
    let ([good, unmapped, lost], result, other) = ends(vec![unbind(100, true)]);
    assert!(good > 20 && unmapped > 50 && lost > 20, "{good} {unmapped} {lost}");
    assert_eq!((other, left(&result)), (200, [0; 4]));
    let [(_, ManagerEvent::Unbound(_, flushed))] = result.events[..] else { panic!("{:?}", result.events) };
    let late = result.undelivered.get(&Undelivered::UnknownLd).copied().unwrap_or(0);
    assert!(flushed > 0 && late > 0);
    assert_eq!(flushed + late, lost as u64, "each is flushed, or its answer comes too late");
}

/// Speculative reads have no answer, so a reset that flushes some of them awaits no answer less: none of before reaches the host.
#[test]
fn a_reset_takes_no_speculative_read_for_an_answer() {
    let mut one = bench(1);
    let command = ManagerCommand::Reset(ResetScope::Vppb((0, 0)));
    one.commands = vec![TimedCommand { at_cycle: 50, command }];
    for n in 0..50 {
        let opcode = M2sReqOpcode::MemSpecRd;
        let speculative = Message::M2sReq(M2sReq { opcode, tag: 100 + n, ..M2sReq::default() });
        one.sends[0].extend([(10 + u64::from(n), read(n, 0)), (10 + u64::from(n), speculative)]);
    }
    let (seen, result) = run(one);
    let [(_, ManagerEvent::Reset(_, flushed)), (released_fs, ManagerEvent::Released(_))] = result.events[..] else {
        panic!("{:?}", result.events)
    };
    assert!(flushed > 10, "{flushed}");
    // A request of afterwards passes the stages of the switch twice, and the device.
    let first = released_fs / 1_000_000 + DEVICE_CYCLES + 2 * 12;
    let of_before =
        |(cycle, message): &&(u64, Message)| *cycle < first && message.data().is_some_and(|data| data.line[0] == 3);
    assert_eq!(seen[0].iter().find(of_before), None);
}

/// While answers are due the port is not bound again; then it is, and what follows is answered by the device.
#[test]
fn a_port_is_bound_again_when_no_answer_is_due() {
    let bind = |at_cycle| TimedCommand {
        at_cycle,
        command: ManagerCommand::Bind(VppbBinding { vcs: 0, vppb: 0, port: 0, ld: None }),
    };
    let ([good, _, lost], result, other) = ends(vec![unbind(60, true), bind(61), bind(160)]);
    let names: Vec<_> = result
        .events
        .iter()
        .map(|(_, event)| match event {
            ManagerEvent::Bound(_) => "bound",
            ManagerEvent::Unbound(..) => "unbound",
            ManagerEvent::Reset(..) => "reset",
            ManagerEvent::Released(_) => "released",
            ManagerEvent::Lost(..) => "lost",
            ManagerEvent::Committed(..) => "committed",
            ManagerEvent::CommitFailed(..) => "commit failed",
            ManagerEvent::Refused(..) => "refused",
            ManagerEvent::Rerouted => "rerouted",
            ManagerEvent::Contained(..) => "contained",
            ManagerEvent::Uncontained(_) => "uncontained",
            ManagerEvent::Viral(_) => "viral",
            ManagerEvent::ViralOver(_) => "viral over",
            ManagerEvent::UnknownLd(..) => "unknown LD-ID",
        })
        .collect();
    assert_eq!(names, ["unbound", "refused", "bound"]);
    assert!(good > 50 && lost > 0, "{good} {lost}");
    assert_eq!((other, left(&result)), (200, [0; 4]));
}

/// Two hosts with a logical device each of one port, which answers with these LD-IDs beside its own traffic.
fn with_answers_of(ld_ids: &[u8]) -> (Vec<Vec<(u64, Message)>>, SwitchResult) {
    let mut two = bench(2);
    two.is_shared = true;
    (0..2).for_each(|host| two.sends[host].push((10, read(host as u16, 0))));
    let answer = |ld_id: &u8| (40, Message::S2mNdr(S2mNdr { tag: 9, ld_id: *ld_id, ..S2mNdr::default() }));
    two.sends[2].extend(ld_ids.iter().map(answer));
    run(two)
}

/// The fabric manager is told nothing of what is bound.
#[test]
fn fab_mld_05_p2() {
    let (seen, result) = with_answers_of(&[]);
    assert_eq!([seen[0].len(), seen[1].len()], [1, 1]);
    assert!(result.events.is_empty(), "{:?}", result.events);
    assert_eq!(result.undelivered.get(&Undelivered::UnknownLd), None);
}

/// What comes with an LD-ID of nobody reaches no host, is counted, and the fabric manager is told of each.
#[test]
fn fab_mld_05_n2() {
    let (seen, result) = with_answers_of(&[5, 2, 5]);
    assert_eq!([seen[0].len(), seen[1].len()], [1, 1]);
    let told: Vec<_> = result.events.iter().map(|(_, event)| *event).collect();
    assert_eq!(told, [5, 2, 5].map(|ld_id| ManagerEvent::UnknownLd(0, ld_id)));
    assert_eq!(result.undelivered.get(&Undelivered::UnknownLd), Some(&3));
}
