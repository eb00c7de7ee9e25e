//! Litmus programs across bridges: accelerators and hosts on the lines of one device, in every order.

use super::shapes::explained;
use scalepool::bridge::cache::StorePolicy;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::thread::{Term, ThreadAccess};
use scalepool::proof::explore::{ExplorationReport, Limits};
use scalepool::proof::litmus::bridge::BridgeAgents;
use scalepool::proof::litmus::cores;
use scalepool::proof::litmus::program::{Freedom, LitmusAgents, LitmusProgram};
use scalepool::proof::litmus::shapes::{COWW, LitmusShape, MP, SB, SHAPES, WW};
use scalepool::proof::systems::bridge::wrong::WrongBridge;
use scalepool_testbenches::soak::is_soak;
use std::collections::BTreeSet;

/// How stores leave a bridge: it has no cache, it writes back, it writes through.
const STORES: [Option<StorePolicy>; 3] = [None, Some(StorePolicy::Back), Some(StorePolicy::Through)];

/// The programs of two cores, each with the ways of its stores: `make soak` has every way for each, a test run one, the ways by turns.
fn two_cores_and_stores() -> impl Iterator<Item = (&'static LitmusShape, Option<StorePolicy>)> {
    let ways = |n: usize| if is_soak() { &STORES[..] } else { &STORES[n % STORES.len()..][..1] };
    two_cores().enumerate().flat_map(move |(n, shape)| ways(n).iter().map(move |stores| (shape, *stores)))
}

fn explored(shape: &LitmusShape, agents: BridgeAgents) -> ExplorationReport {
    let start = cores::start(shape, LitmusAgents::Bridge(agents), CoherenceConfig::default());
    // A way to a fault is looked for without the reduction.
    let reduction = !is_soak() && agents.wrong.is_none();
    start.search(Limits { liveness: is_soak(), reduction, ..Limits::default() }, &mut |_| ())
}

/// Exactly the outcomes that some order of the accesses explains.
fn is_explained(shape: &LitmusShape, agents: BridgeAgents) {
    let report = explored(shape, agents);
    println!("{} {agents:?}: {} states", shape.name, report.states);
    let violation = report.violation.map(|v| v.chart().text()).unwrap_or_default();
    assert!(report.complete && violation.is_empty(), "{} {agents:?}: {violation}", shape.name);
    let expected: BTreeSet<String> =
        explained(shape).into_iter().map(|(loads, last)| format!("{loads:?} {last:?}")).collect();
    assert_eq!(report.outcomes.into_keys().collect::<BTreeSet<_>>(), expected, "{} {agents:?}", shape.name);
}

fn two_cores() -> impl Iterator<Item = &'static LitmusShape> {
    SHAPES.iter().copied().filter(|shape| shape.programs.len() == 2)
}

/// One core is an accelerator, the other one a host.
#[test]
fn an_accelerator_and_a_host_agree() {
    for (shape, stores) in two_cores_and_stores() {
        is_explained(shape, BridgeAgents { stores, cache_lines: 1, ..BridgeAgents::beside_a_host(1) });
    }
}

/// Both cores are accelerators behind one bridge, and no host.
#[test]
fn two_accelerators_of_a_bridge_agree() {
    for stores in STORES {
        for shape in two_cores() {
            is_explained(shape, BridgeAgents { stores, hosts: 0, ..BridgeAgents::beside_a_host(2) });
        }
    }
}

/// Each core is an accelerator behind a bridge of its own.
#[test]
fn accelerators_of_two_bridges_agree() {
    for (shape, stores) in two_cores_and_stores() {
        is_explained(shape, BridgeAgents { stores, bridges: 2, hosts: 0, ..BridgeAgents::beside_a_host(1) });
    }
}

fn program(name: &str, agents: BridgeAgents, threads: Vec<Vec<ThreadAccess>>, lines: usize) -> ExplorationReport {
    let (initial, freedom) = (vec![0; lines], Freedom::Copies);
    let program = LitmusProgram { name: name.to_owned(), threads, initial, forbidden: None, freedom };
    let start = cores::run(program, LitmusAgents::Bridge(agents), CoherenceConfig::default());
    start.search(Limits { liveness: is_soak(), reduction: !is_soak(), ..Limits::default() }, &mut |_| ())
}

fn outcomes(name: &str, agents: BridgeAgents, threads: Vec<Vec<ThreadAccess>>, lines: usize) -> Vec<String> {
    let report = program(name, agents, threads, lines);
    assert!(report.complete, "{name} {agents:?}");
    assert!(report.violation.is_none(), "{name} {agents:?}: {}", report.violation.unwrap().chart().text());
    report.outcomes.into_keys().collect()
}

/// An access behind nothing.
fn access(line: u64, store: Option<Term>) -> ThreadAccess {
    ThreadAccess { line, store, is_rmw: false, exclusive: None, behind: 0, forwards: None, known: 0 }
}

/// A read-modify-write of line 0, the first access of its thread.
fn update(stored: Term) -> ThreadAccess {
    ThreadAccess { is_rmw: true, ..access(0, Some(stored)) }
}

fn sum_with(number: u32) -> Term {
    Term::Add(Box::new(Term::Load(0)), Box::new(Term::Number(number)))
}

/// Who takes part, with every way in which stores leave a bridge.
fn pairs() -> Vec<BridgeAgents> {
    let of = |stores| {
        let (one, two) = (BridgeAgents::beside_a_host(1), BridgeAgents::beside_a_host(2));
        let all = [one, BridgeAgents { hosts: 0, ..two }, BridgeAgents { bridges: 2, hosts: 0, ..one }];
        all.map(|agents| BridgeAgents { stores, ..agents })
    };
    STORES.into_iter().flat_map(of).collect()
}

/// No increment is lost, of two exchanges one gets the other's value, and bits that change twice are as before: the bridge computes, or the host does
/// in a line that it owns.
#[test]
fn atomics_are_one_point() {
    for agents in pairs() {
        let add = vec![vec![update(sum_with(1))], vec![update(sum_with(2))]];
        assert_eq!(outcomes("ADD", agents, add, 1), ["[0, 1] [3, 0]", "[2, 0] [3, 0]"], "{agents:?}");
        let swap = vec![vec![update(Term::Number(1))], vec![update(Term::Number(2))]];
        assert_eq!(outcomes("SWAP", agents, swap, 1), ["[0, 1] [2, 0]", "[2, 0] [1, 0]"], "{agents:?}");
        let eor = Term::Eor(Box::new(Term::Load(0)), Box::new(Term::Number(5)));
        let xor = vec![vec![update(eor.clone())], vec![update(eor)]];
        assert_eq!(outcomes("XOR", agents, xor, 1), ["[0, 5] [0, 0]", "[5, 0] [0, 0]"], "{agents:?}");
        // A store stands before both halves of an increment or behind both.
        let store = vec![vec![update(sum_with(1))], vec![access(0, Some(Term::Number(8)))]];
        assert_eq!(outcomes("ADD+store", agents, store, 1), ["[0] [8, 0]", "[8] [9, 0]"], "{agents:?}");
    }
}

/// Message passing with cores that order nothing: the requests of an accelerator to two blocks have no order (O2 of `bridge` §6.2).
#[test]
fn two_blocks_have_no_order() {
    let (store, load) = (|line| access(line, Some(Term::Number(1))), |line| access(line, None));
    let together = BridgeAgents { hosts: 0, ..BridgeAgents::beside_a_host(2) };
    let apart = BridgeAgents { bridges: 2, hosts: 0, ..BridgeAgents::beside_a_host(1) };
    // Two bridges know nothing of each other and have many more states.
    let all = [together, apart];
    for agents in &all[..if is_soak() { all.len() } else { 1 }] {
        for stores in &STORES[..if is_soak() { STORES.len() } else { 1 }] {
            let agents = BridgeAgents { stores: *stores, ..*agents };
            let weak = outcomes("MP", agents, vec![vec![store(0), store(1)], vec![load(1), load(0)]], 2);
            assert_eq!(weak, ["[0, 0] [1, 1]", "[0, 1] [1, 1]", "[1, 0] [1, 1]", "[1, 1] [1, 1]"], "{agents:?}");
        }
    }
}

/// Wrong bridges are seen by programs that run across them, or by what bridge and device say of each other. What is wrong with bytes at
/// which no program looks, explorations of one line find (`behind_bridge`).
#[test]
fn wrong_bridges_are_seen_by_programs() {
    let rows = [
        (WrongBridge::IgnoresSnoops, &MP),
        (WrongBridge::KeepsShared, &MP),
        (WrongBridge::OwnsWhatIsShared, &MP),
        (WrongBridge::DropsDirty, &WW),
        (WrongBridge::ReadsPastOwners, &MP),
        (WrongBridge::MergesIntoZeros, &SB),
        (WrongBridge::LosesResponses, &COWW),
        (WrongBridge::TellsAnError, &COWW),
    ];
    let seen = rows.map(|(wrong, shape)| {
        // A dirty line leaves a cache that has room for one.
        let cache_lines = if wrong == WrongBridge::DropsDirty { 1 } else { 2 };
        let agents = BridgeAgents { wrong: Some(wrong), cache_lines, ..BridgeAgents::beside_a_host(1) };
        let found = explored(shape, agents).violation.unwrap_or_else(|| panic!("{wrong:?} lives"));
        format!("{wrong:?}, {}: {}", shape.name, found.event.rule)
    });
    let adds = vec![vec![update(sum_with(1))], vec![update(sum_with(2))]];
    let wrong = Some(WrongBridge::AnswersWithResults);
    let lost = program("ADD", BridgeAgents { wrong, ..BridgeAgents::beside_a_host(1) }, adds, 1);
    assert!(lost.outcomes.keys().any(|found| !["[0, 1] [3, 0]", "[2, 0] [3, 0]"].contains(&&**found)));
    insta::assert_snapshot!(seen.join("\n"));
}
