//! Arbiters and allocators that a description names: each of them in each component that lets its own be chosen.

use scalepool::arbiter::{
    ALLOCATOR_NAMES, ALLOCATORS, ARBITER_NAMES, ARBITERS, AllocatorKind, ArbiterKind, Matching, Requests,
};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::builtin;
use scalepool::system::description::Description;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn run(scenario: &str, set: &[&str]) -> ScenarioReport {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request = ScenarioRequest { scenario: scenario.into(), seed: 1, threads: 1, set, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert_eq!(report.violations, [], "{scenario} {:?}", request.set);
    report
}

/// Runs with every name: all accesses come to their end, the first name is what a description without one has, and it
/// matters which one is chosen.
fn with_each(scenario: &str, key: &str, set: &[&str], without: &str, names: &[&str], done: &str) {
    let counted = |report: &ScenarioReport| report.json()["counts"][done].as_u64().expect("it is counted");
    let plain = run(scenario, set);
    assert!(counted(&plain) > 0);
    let mut results = BTreeSet::new();
    for name in names {
        let choice = format!("{key}={name}");
        let report = run(scenario, &[set, &[choice.as_str()]].concat());
        assert_eq!(counted(&report), counted(&plain), "{scenario} {choice}");
        let result = format!("{:?}", report.json());
        assert!(*name != without || result == format!("{:?}", plain.json()), "{scenario} {choice}");
        results.insert(result);
    }
    assert!(results.len() > 1, "{scenario}: the choice of {key} changes nothing");
}

#[test]
fn a_ualink_switch_takes_every_arbiter() {
    let set = ["pod.accelerators=4", "traffic.operations=60", "traffic.pattern=hot-spot", "switch.egress_queue=1"];
    with_each("ualink-pod", "switch.arbiter", &set, "round-robin", ARBITER_NAMES, "operations");
}

#[test]
fn an_nvlink_switch_takes_every_allocator() {
    let set = ["pod.gpus=8", "traffic.requests=40", "pod.work=random"];
    with_each(
        "nvlink-pod",
        "switch.allocator",
        &set,
        "separable-output-first",
        ALLOCATOR_NAMES,
        "switch messages sent",
    );
}

#[test]
fn the_arb_mux_takes_every_arbiter() {
    for mode in ["link.mode=cxl-68b", "link.mode=cxl-256b"] {
        let set = [mode, "link.cachemem=on", "host.accesses=20", "mem.accesses=100", "arbmux.weight_cachemem=3"];
        with_each("cxlio-enumerate", "arbmux.arbiter", &set, "weighted-round-robin", ARBITER_NAMES, "CXL.mem reads");
    }
}

#[test]
fn a_name_that_nobody_has_is_refused_with_its_place() {
    let cases = [
        ("ualink-pod.toml", "kind = \"ualink.switch\"", "arbiter", 16, "component.switch", ARBITER_NAMES),
        ("nvlink-pod.toml", "kind = \"nvlink.switch\"", "allocator", 17, "component.switch[0]", ALLOCATOR_NAMES),
        ("cxlio-enumerate.toml", "kind = \"cxl-io\"", "arbiter", 22, "link.cxl", ARBITER_NAMES),
    ];
    for (file, kind, key, line, path, names) in cases {
        let text = builtin::ALL.iter().find(|builtin| builtin.file == file).expect("built in").text;
        let text = text.replacen(kind, &format!("{kind}\n{key} = \"round-robbin\""), 1);
        let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
        let found = description.resolve().map(drop).expect_err("it is refused").to_string();
        let (column, names) = (key.len() + 4, names.join(", "));
        let expected = format!("f.toml:{line}:{column}: {path}.{key}: found `round-robbin`, expected {names}");
        assert_eq!(found, expected);
    }
    let wrong = ArbiterKind::by_name("any").map(drop).unwrap_err().to_string();
    assert_eq!(wrong, format!("found the arbiter `any`, expected one of {}", ARBITER_NAMES.join(", ")));
    let wrong = AllocatorKind::by_name("any").map(drop).unwrap_err().to_string();
    assert_eq!(wrong, format!("found the allocator `any`, expected one of {}", ALLOCATOR_NAMES.join(", ")));
}

/// Every name makes what keeps the invariants of the library.
#[test]
fn what_a_name_makes_grants_only_what_was_asked() {
    let names: BTreeSet<_> = ARBITER_NAMES.iter().chain(ALLOCATOR_NAMES).collect();
    assert_eq!(names.len(), ARBITERS.len() + ALLOCATORS.len(), "each name once");
    for kind in ARBITERS {
        let mut arbiter = (kind.make)(&[2, 1, 3]).expect("three requesters");
        for asking in (0..8u64).cycle().take(80) {
            let requests = Requests::from(asking);
            let granted = arbiter.arbitrate(&requests);
            assert_eq!(arbiter.clone().arbitrate(&requests), granted, "{}: a copy is no other", kind.name);
            assert!(
                granted.is_some() == (asking != 0) && granted.is_none_or(|i| requests.contains(i)),
                "{}",
                kind.name
            );
            granted.into_iter().for_each(|i| arbiter.update(&requests, i));
        }
        assert!((kind.make)(&[]).is_err() && (kind.make)(&[1; 1025]).is_err(), "{}", kind.name);
    }
    for kind in ALLOCATORS {
        let (mut allocator, mut matching) = ((kind.make)(2, 3).expect("it fits"), Matching::new());
        for asking in (0..64u64).cycle().take(640) {
            let requests = [Requests::from(asking & 7), Requests::from(asking >> 3)];
            allocator.arbitrate(&requests, &mut matching);
            assert!(matching.iter().all(|(input, output)| requests[input].contains(output)), "{}", kind.name);
            assert_eq!(matching.iter().count() > 0, asking != 0, "{}", kind.name);
            allocator.update(&requests, &matching);
        }
        assert!((kind.make)(0, 1).is_err() && (kind.make)(1, 1025).is_err(), "{}", kind.name);
    }
}
