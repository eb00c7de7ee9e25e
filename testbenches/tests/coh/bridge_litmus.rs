//! Litmus programs across bridges: accelerators and hosts on the lines of one device, in every order.

use super::shapes::explained;
use scalepool::bridge::cache::StorePolicy;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::explore::{ExplorationReport, Limits};
use scalepool::proof::litmus::bridge::BridgeAgents;
use scalepool::proof::litmus::cores;
use scalepool::proof::litmus::program::LitmusAgents;
use scalepool::proof::litmus::shapes::{CORR, LitmusShape, MP, SB, SHAPES};
use scalepool::proof::systems::bridge::wrong::WrongBridge;
use scalepool_testbenches::soak::is_soak;
use std::collections::BTreeSet;

/// How stores leave a bridge: it has no cache, it writes back, it writes through.
const STORES: [Option<StorePolicy>; 3] = [None, Some(StorePolicy::Back), Some(StorePolicy::Through)];

fn explored(shape: &LitmusShape, agents: BridgeAgents) -> ExplorationReport {
    let start = cores::start(shape, LitmusAgents::Bridge(agents), CoherenceConfig::default());
    let limits = Limits { liveness: is_soak(), reduction: !is_soak(), ..Limits::default() };
    start.search(limits, &mut |_| ())
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
    for stores in STORES {
        for shape in two_cores() {
            is_explained(shape, BridgeAgents { stores, ..BridgeAgents::beside_a_host(1) });
        }
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
    for stores in STORES {
        for shape in two_cores() {
            is_explained(shape, BridgeAgents { stores, bridges: 2, hosts: 0, ..BridgeAgents::beside_a_host(1) });
        }
    }
}

/// Each wrong bridge is seen by a program that runs across it, or by what the bridge and the device say of each other.
#[test]
fn wrong_bridges_give_outcomes_that_nothing_explains() {
    let mut seen = Vec::new();
    for wrong in WrongBridge::ALL {
        for stores in [None, Some(StorePolicy::Back)] {
            let agents = BridgeAgents { stores, wrong: Some(wrong), ..BridgeAgents::beside_a_host(1) };
            let of = |shape: &'static LitmusShape| {
                Some(format!("{}: {}", shape.name, explored(shape, agents).violation?.event.rule))
            };
            let name = stores.map_or("uncached".to_owned(), |stores| format!("{stores:?}"));
            let found = [&MP, &SB, &CORR].into_iter().find_map(of).unwrap_or_else(|| "is right".to_owned());
            seen.push(format!("{wrong:?}, {name}: {found}"));
        }
    }
    insta::assert_snapshot!(seen.join("\n"));
}
