//! Accelerators behind a bridge, a host and a device with back-invalidation, in every order of deliveries and of operations (`bridge` §9.6).

use super::mem_explore::clean;
use scalepool::bridge::cache::StorePolicy;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::explore::fingerprint::fingerprint;
use scalepool::proof::explore::{Explored, ExploredSystem, Limits, search};
use scalepool::proof::systems::bridge::of_host::{HostBridgeSetup, HostBridgeSystem, WrongHostBridge};
use scalepool::proof::systems::bridge::wrong::WrongBridge;
use scalepool::proof::systems::bridge::{BridgeMove, BridgeSetup, BridgeSystem, HostMenu};
use scalepool_testbenches::soak::is_soak;
use std::collections::HashSet;

/// How stores leave a bridge: it has no cache, it writes back, it writes through.
const STORES: [Option<StorePolicy>; 3] = [None, Some(StorePolicy::Back), Some(StorePolicy::Through)];

fn setup(stores: Option<StorePolicy>) -> BridgeSetup {
    BridgeSetup::one_line(CoherenceConfig::default(), stores)
}

fn is_clean(setup: BridgeSetup) -> usize {
    clean(&format!("{setup:?}"), &BridgeSystem::new(setup)).states
}

/// The races of `bridge` §9.6 on one line. `make soak` has a request more, and every operation twice at both sides of two lines.
#[test]
fn scenario_brg_t07() {
    let reached = STORES.map(|stores| {
        let plain = setup(stores);
        is_clean(BridgeSetup { requests: if is_soak() { 3 } else { plain.requests }, ..plain })
    });
    if !is_soak() {
        assert_eq!(reached, [11_557, 12_149, 14_500], "states");
    }
    let two_lines = BridgeSetup { lines: 2, ..setup(Some(StorePolicy::Back)) };
    is_clean(BridgeSetup { host: HostMenu::Bounded(if is_soak() { 2 } else { 1 }), ..two_lines });
    for stores in if is_soak() { &STORES[..] } else { &STORES[1..2] } {
        let (stores, requesters, requests) = (*stores, 2, if is_soak() { 3 } else { 2 });
        is_clean(BridgeSetup { requesters, requests, ..setup(stores) });
    }
}

/// The races of `bridge` §9.6 R6 to R8 on one line of a host, of which a device and the core of the host want something too; and two
/// requesters.
#[test]
fn lines_of_a_host_stay_coherent_in_every_order() {
    let all_of = |setup: HostBridgeSetup| clean(&format!("{setup:?}"), &HostBridgeSystem::new(setup)).states;
    let soak = u8::from(is_soak());
    let reached = STORES.map(|stores| {
        let plain = HostBridgeSetup::one_line(CoherenceConfig::default(), stores);
        let one = all_of(HostBridgeSetup { of_device: 1 + soak, of_core: 1 + soak, ..plain.clone() });
        if is_soak() || stores.is_none() {
            all_of(HostBridgeSetup { requesters: 2, of_core: soak, ..plain.clone() });
        }
        if is_soak() || stores == Some(StorePolicy::Back) {
            all_of(HostBridgeSetup { lines: 2, of_core: soak, ..plain });
        }
        one
    });
    assert!(reached.iter().all(|states| *states > 1000), "{reached:?}");
}

/// Bridges that are wrong at the port of a host are found.
#[test]
fn every_wrong_bridge_at_a_host_is_found() {
    for wrong in WrongHostBridge::ALL {
        let is_found = |stores| {
            let setup =
                HostBridgeSetup { wrong: Some(wrong), ..HostBridgeSetup::one_line(CoherenceConfig::default(), stores) };
            search(&HostBridgeSystem::new(setup), Limits::default()).violation.is_some()
        };
        assert!(STORES.into_iter().any(is_found), "{wrong:?} lives");
    }
}

/// However often a host takes the line, requests of the accelerator end: a line that was granted is used before it is given up.
#[test]
fn a_host_without_end_starves_nobody() {
    for stores in STORES {
        is_clean(BridgeSetup { host: HostMenu::Endless, ..setup(stores) });
    }
}

/// Two requests of one accelerator at a time to one block take effect in their order (O1 of `bridge` §6.2).
#[test]
fn requests_of_one_accelerator_keep_their_order() {
    for stores in STORES {
        let (requesters, is_one_source, host) = (2, true, HostMenu::Bounded(u8::from(is_soak())));
        is_clean(BridgeSetup { lines: 2, requesters, is_one_source, host, ..setup(stores) });
    }
}

/// Each fault is found, and the script of the way to it leads there again.
#[test]
fn every_wrong_bridge_is_found() {
    let mut seen = Vec::new();
    for (wrong, stores) in WrongBridge::ALL.into_iter().flat_map(|wrong| STORES.map(|stores| (wrong, stores))) {
        let wrong_one = match wrong {
            // Requests to one line have the order of its lock besides, those in a cache that of its only way.
            WrongBridge::Overtakes if stores.is_some() => continue,
            WrongBridge::Overtakes => {
                let (lines, requesters, host) = (2, 2, HostMenu::Bounded(0));
                BridgeSetup { lines, requesters, is_one_source: true, host, ..setup(stores) }
            }
            WrongBridge::HidesPoison => BridgeSetup { poisons: true, ..setup(stores) },
            _ => setup(stores),
        };
        let start = BridgeSystem::new(BridgeSetup { wrong: Some(wrong), ..wrong_one });
        let name = stores.map_or("uncached".to_owned(), |stores| format!("{stores:?}"));
        let Some(found) = search(&start, Limits::default()).violation else {
            // Only a cache has lines to keep, to share or to lose.
            seen.push(format!("{wrong:?}, {name}: is right"));
            continue;
        };
        seen.push(format!("{wrong:?}, {name}: {}", found.event.rule));
        let script: Vec<&str> = found.script.iter().map(String::as_str).collect();
        let followed = start.follow(&script).expect_err("the rule is broken behind the last step").to_string();
        // What never comes breaks one rule in a search and another one behind a script, which ends there.
        let is_open = ["open work", "COH-INV-14", "waits for ever"].iter().any(|end| followed.contains(end));
        let is_endless = ["COH-INV-09", "COH-INV-10"].contains(&found.event.rule);
        let is_the_same = followed.contains(found.event.rule) || is_endless && is_open;
        assert!(is_the_same, "{wrong:?}, {}: {followed}", found.event.rule);
    }
    insta::assert_snapshot!(seen.join("\n"));
}

/// Without a host nobody takes a line away; an atomic behind an atomic gets its result.
#[test]
fn accelerators_alone_read_what_they_store() {
    for stores in STORES {
        is_clean(BridgeSetup {
            requesters: 2,
            requests: if is_soak() { 3 } else { 2 },
            host: HostMenu::Bounded(0),
            ..setup(stores)
        });
    }
}

/// Poison by value: a store of the whole line brings it or takes it away, one of a part leaves it, an atomic leaves its line as it is.
#[test]
fn poison_goes_with_its_line() {
    for stores in if is_soak() { &STORES[..] } else { &STORES[..2] } {
        let host = HostMenu::Bounded(if is_soak() { 2 } else { 1 });
        is_clean(BridgeSetup { poisons: true, host, ..setup(*stores) });
    }
}

/// Two accelerators that change places: the same moves by the other one lead to a state with the same canonical form, and a search with
/// symmetry visits one state for each form.
#[test]
fn accelerators_in_symmetry() {
    for stores in if is_soak() { &STORES[..] } else { &STORES[1..2] } {
        let stores = *stores;
        let alike = BridgeSetup { requesters: 2, host: HostMenu::Bounded(1), ..setup(stores) };
        let start = BridgeSystem::new(alike.clone());
        assert!(start.has_symmetry());
        let (mut seen, mut forms) = (HashSet::from([fingerprint(&start)]), HashSet::new());
        let mut left = vec![(start.clone(), start.clone())];
        while let Some((state, twin)) = left.pop() {
            let form = state.clone().canonical(&mut []);
            assert!(form == twin.clone().canonical(&mut []), "{stores:?}: a form for each of two twins");
            forms.insert(fingerprint(&form));
            let mut moves = Vec::new();
            state.moves(&mut moves);
            for mv in moves {
                let exchanged = match mv {
                    BridgeMove::Request { requester, operation, line } => {
                        BridgeMove::Request { requester: 1 - requester, operation, line }
                    }
                    other => other,
                };
                let (mut next, mut other) = (state.clone(), twin.clone());
                next.apply(mv, &mut Vec::new());
                other.apply(exchanged, &mut Vec::new());
                if seen.insert(fingerprint(&next)) {
                    left.push((next, other));
                }
            }
        }
        let limits = Limits { symmetry: true, liveness: false, ..Limits::default() };
        let report = search(&start, limits);
        println!("{stores:?}: {} states, {} without names", seen.len(), forms.len());
        assert!(report.violation.is_none() && report.complete);
        assert_eq!(report.states, forms.len(), "{stores:?}");
        assert!(forms.len() * 3 < seen.len() * 2, "{stores:?}: {} of {}", forms.len(), seen.len());
    }
}

/// Three accelerators at once, told apart by nothing. Each fault that needs no order of one source is found by symmetry too.
#[test]
fn three_accelerators_without_names() {
    let limits = Limits { symmetry: true, liveness: false, ..Limits::default() };
    let three = |stores, requests, host| BridgeSetup { requesters: 3, requests, host, ..setup(stores) };
    for stores in if is_soak() { &STORES[..] } else { &STORES[1..2] } {
        let host = HostMenu::Bounded(if is_soak() { 1 } else { 0 });
        let report = search(&BridgeSystem::new(three(*stores, 3, host)), limits);
        println!("{stores:?}: {} states", report.states);
        assert!(report.complete && report.violation.is_none(), "{:?}", report.violation.map(|v| v.chart().text()));
    }
    for wrong in [WrongBridge::AnswersWithResults, WrongBridge::IgnoresSnoops, WrongBridge::IgnoresEnables] {
        let one = three(Some(StorePolicy::Back), 2, HostMenu::Bounded(1));
        let found = search(&BridgeSystem::new(BridgeSetup { wrong: Some(wrong), ..one }), limits).violation;
        assert!(found.is_some(), "{wrong:?} lives");
    }
}
