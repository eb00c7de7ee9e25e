//! Rules that are off in clocked runs: the watcher and the switches see it. Agents that are joined in a wrong way are refused.

use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::rules::RuleSet;
use scalepool::kernel::RunOptions;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::system::build::{Run, amended};
use scalepool::system::builtin;
use scalepool::system::description::Description;
use scalepool::system::kind::NodeError;
use scalepool_protocols::wire::Violation;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A description that comes with the program, with few accesses.
fn small(name: &str, set: &[&str]) -> Description {
    let file = format!("{name}.toml");
    let builtin = builtin::ALL.iter().find(|one| one.file == file).expect("a built-in description");
    let mut description = Description::parse(builtin.file, PathBuf::new(), builtin.text).expect("it is sound");
    let small = ["core.accesses=60", "core.lines=3", "core.pattern=migratory"];
    small.iter().chain(set).for_each(|text| description.set(text).expect("a legal setting"));
    description
}

/// What its components saw broken in a run with other choices.
fn violations(name: &str, set: &[&str], amend: &dyn Fn(&mut CoherenceConfig)) -> Vec<Violation> {
    let system = small(name, set).resolve().expect("it is sound");
    let assembly = amended(system, Run { seed: 3, ..Run::default() }, amend).expect("it may run");
    let options = RunOptions { stall_limit_fs: Some(20_000_000_000_000), ..RunOptions::default() };
    // What is broken may leave work open, which ends the run with an error.
    let _ = assembly.sim.run(&options, |_| ());
    let components = assembly.figures.components();
    components.iter().flat_map(|(_, measured)| &measured.broken).map(|broken| broken.violation.clone()).collect()
}

/// The rules of these.
fn broken(name: &str, set: &[&str], amend: &dyn Fn(&mut CoherenceConfig)) -> BTreeSet<&'static str> {
    violations(name, set, amend).iter().map(|violation| violation.rule).collect()
}

/// The sheet, or what is left of it.
fn rules_of(mutant: Option<CoherenceMutant>) -> RuleSet {
    mutant.map(CoherenceMutant::rules).unwrap_or_default()
}

/// The same with one rule off.
fn without(name: &str, set: &[&str], mutant: Option<CoherenceMutant>) -> BTreeSet<&'static str> {
    broken(name, set, &|config| config.rules = rules_of(mutant))
}

fn is_seen(rules: &BTreeSet<&'static str>) -> bool {
    rules.iter().any(|rule| ["COH-INV-01", "COH-INV-02", "COH-INV-04"].contains(rule))
}

#[test]
fn a_holder_that_is_not_asked_for_a_direct_peer_is_seen() {
    let found = |mutant| without("hdm-db-fabric", &["hosts=1", "peers=1"], mutant);
    assert_eq!(found(None), BTreeSet::new());
    let rules = found(Some(CoherenceMutant::HolderSkipped));
    assert!(is_seen(&rules), "{rules:?}");
}

/// Of eighty hosts two use one line, 70 and 76: the watcher names the one that is not asked.
#[test]
fn a_holder_above_64_that_is_not_asked_is_seen() {
    let alone = ["hosts=80", "core.pattern=private", "core.lines=100", "core.accesses=1"];
    let two = [70, 76].map(|host| {
        let core = format!("component.host[{host}].core");
        [format!("{core}.pattern=migratory"), format!("{core}.lines=6")]
    });
    let set: Vec<&str> = alone.into_iter().chain(two.iter().flatten().map(String::as_str)).collect();
    let found = |mutant| violations("hdm-db-fabric", &set, &|config| config.rules = rules_of(mutant));
    assert_eq!(found(None), []);
    let found = found(Some(CoherenceMutant::HolderSkipped));
    let is_named = |v: &Violation| ["host[70].mem[0]: ", "host[76].mem[0]: "].iter().any(|at| v.text.starts_with(at));
    let is_rule = |v: &Violation| ["COH-INV-01", "COH-INV-04"].contains(&v.rule);
    assert!(found.iter().any(|v| is_named(v) && is_rule(v)), "{found:?}");
}

#[test]
fn a_holder_that_is_not_asked_for_a_device_of_the_same_host_is_seen() {
    let found = |mutant| without("cxl-cache-peers", &[], mutant);
    assert_eq!(found(None), BTreeSet::new());
    // The rule of each interface, seen by the watcher of its lines.
    for mutant in [CoherenceMutant::HolderSkipped, CoherenceMutant::SharersNotSnooped] {
        let rules = found(Some(mutant));
        assert!(is_seen(&rules), "{rules:?}");
    }
}

#[test]
fn accesses_of_cxl_io_that_ask_nobody_are_seen() {
    let shared = |set: &[&str], mutant| without("hdm-db-share", set, mutant);
    let io = ["hosts=1", "uio.accesses=200", "core.accesses=600"];
    assert_eq!(shared(&io, None), BTreeSet::new());
    // A write beside a copy, a read below a dirty one.
    let found = shared(&io, Some(CoherenceMutant::UioSkipsHolders));
    assert!(found.iter().any(|rule| rule.starts_with("COH-INV-0")), "{found:?}");
    let reads = [&io[..], &["uio.writes=0", "device.reduced=0:1000000:3"]].concat();
    assert_eq!(shared(&reads, None), BTreeSet::new());
    assert_eq!(shared(&reads, Some(CoherenceMutant::LoadSkipsSnoops)), BTreeSet::from(["COH-UIO-01"]));
}

#[test]
fn a_port_that_lets_foreign_messages_through_is_seen() {
    let found = |mutant| without("cxl-cache-switch", &["devices=3", "switch.table=1:2"], mutant);
    assert!(!found(None).contains("COH-CID-02"));
    assert!(found(Some(CoherenceMutant::ForeignCacheId)).contains("COH-CID-02"));
}

/// V10: with a bound below what a fair order needs, the watcher counts the requests that went first.
#[test]
fn a_request_that_waits_for_more_than_its_bound_is_seen() {
    let fight = ["hosts=5", "core.lines=1", "core.pattern=false-sharing"];
    let found = |bound| broken("hdm-db-share", &fight, &|config| config.progress_bound = bound);
    assert_eq!((found(0), found(4)), (BTreeSet::new(), BTreeSet::new()), "one for each other host");
    assert_eq!(found(2), BTreeSet::from(["COH-INV-10"]));
}

/// Why a description with these tables cannot be built.
fn refused(text: &str) -> String {
    let head = "format = 1\n[clock]\nagents = { period = \"500 ps\" }\n";
    let description = Description::parse("f.toml", PathBuf::new(), &format!("{head}{text}")).expect("it is TOML");
    let system = description.resolve().expect("every port has its link");
    match amended(system, Run::default(), &|_| ()).err() {
        Some(scalepool::system::build::AssemblyError::Node(NodeError::Joined { path, text })) => {
            format!("{path}: {text}")
        }
        other => panic!("found {other:?}"),
    }
}

#[test]
fn agents_that_are_joined_in_a_wrong_way_are_refused() {
    let two_switches = r#"
        [component]
        host = { kind = "cxl.home" }
        upper = { kind = "cxl.fabric-switch", carries = "cxl.cache", devices = 1 }
        lower = { kind = "cxl.fabric-switch", carries = "cxl.cache", devices = 1 }
        dev = { kind = "cxl.cache-device" }
        [link]
        a = { kind = "cxl-256b-pbr", between = ["host.port[0]", "upper.trunk"] }
        b = { kind = "cxl-256b-pbr", between = ["upper.device[0]", "lower.trunk"] }
        c = { kind = "cxl-256b-pbr", between = ["lower.device[0]", "dev.link"] }
    "#;
    assert_eq!(refused(two_switches), "host: found no holder of lines behind upper.device[0], expected one");
    let beside = r#"
        [component]
        host = { kind = "cxl.home", ports = 2 }
        switch = { kind = "cxl.switch.hbr" }
        dev = { kind = "cxl.cache-device", count = 2 }
        [link]
        a = { kind = "cxl-256b", between = ["host.port[0]", "switch.usp[0]"] }
        b = { kind = "cxl-256b", between = ["switch.dsp[0]", "dev[0].link"] }
        c = { kind = "cxl-256b", between = ["host.port[1]", "dev[1].link"] }
    "#;
    assert!(refused(beside).starts_with("host: found the switch switch beside other ports"), "{}", refused(beside));
    let crossed = r#"
        [component]
        host = { kind = "cxl.home", ports = 2 }
        fabric = { kind = "cxl.fabric-switch", hosts = 0, peers = 2 }
        target = { kind = "cxl.hdm-db-device" }
        dev = { kind = "cxl.cache-peer", count = 2 }
        [link]
        host = { kind = "cxl-256b", between = ["host.port[i]", "dev[i].link"] }
        one = { kind = "cxl-256b-pbr", between = ["fabric.peer[0]", "dev[1].peer"] }
        two = { kind = "cxl-256b-pbr", between = ["fabric.peer[1]", "dev[0].peer"] }
        trunk = { kind = "cxl-256b-pbr", between = ["fabric.trunk", "target.link[0]"] }
    "#;
    let expected =
        "dev[0]: found dev[0].cache as holder 0 of one home and 1 of another, expected the same place at both";
    assert_eq!(refused(crossed), expected);
}
