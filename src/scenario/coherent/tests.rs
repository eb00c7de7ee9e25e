//! Rules that are off in clocked runs: the watcher and the switches see it.

use super::star::{HubAgent, Star};
use super::{cache_pair, db_share, keys};
use crate::Request;
use crate::settings::{Key, Settings};
use scalepool_coherence::agent::Agent;
use scalepool_coherence::cache::device::Device;
use scalepool_coherence::clocked::accessor::Caching;
use scalepool_coherence::clocked::watcher::Watched;
use scalepool_coherence::content::Line;
use scalepool_coherence::mem::peer::Peer;
use scalepool_coherence::mutant::Mutant;
use std::collections::BTreeSet;

const SEED: u64 = 3;

fn settings(keys: &'static [Key], set: &[&str]) -> Settings {
    let mut settings = Settings::new(keys);
    let small = ["core.accesses=60", "core.lines=3", "core.pattern=migratory"];
    small.iter().chain(set).for_each(|text| settings.set(text).expect("a legal setting"));
    settings
}

/// Rules broken in a run.
fn broken<L, H>(star: Star<L, H>, settings: &Settings) -> BTreeSet<&'static str>
where
    L: Agent<Line> + Caching + Watched + Send + 'static,
    H: HubAgent,
{
    let request = Request { seed: SEED, threads: 1, ..Request::default() };
    let report = star.build(&request, settings).and_then(|built| built.run(&request, &mut |_| ())).expect("it runs");
    report.violations.iter().map(|b| b.violation.rule).collect()
}

fn shared(set: &[&str], mutant: Option<Mutant>) -> BTreeSet<&'static str> {
    let settings = settings(keys::DB_SHARE, set);
    let mut star = db_share::star(SEED, &settings).expect("it may run");
    star.config.mutant = mutant;
    broken(star, &settings)
}

#[test]
fn a_holder_that_is_not_asked_for_a_direct_peer_is_seen() {
    let fabric = ["hosts=1", "peers=1", "switch=on", "link.mode=cxl-256b-pbr"];
    assert_eq!(shared(&fabric, None), BTreeSet::new());
    let found = shared(&fabric, Some(Mutant::HolderSkipped));
    assert!(found.iter().any(|rule| ["COH-INV-01", "COH-INV-02", "COH-INV-04"].contains(rule)), "{found:?}");
}

#[test]
fn a_holder_that_is_not_asked_for_a_device_of_the_same_host_is_seen() {
    let found = |mutant| {
        let settings = settings(keys::CACHE_PAIR, &["target=on"]);
        let mut star = cache_pair::star(&settings, |n| Peer::new(n as u8)).expect("it may run");
        star.config.mutant = mutant;
        broken(star, &settings)
    };
    assert_eq!(found(None), BTreeSet::new());
    // The rule of each interface, seen by the watcher of its lines.
    for mutant in [Mutant::HolderSkipped, Mutant::SharersNotSnooped] {
        let rules = found(Some(mutant));
        assert!(rules.iter().any(|rule| ["COH-INV-01", "COH-INV-02", "COH-INV-04"].contains(rule)), "{rules:?}");
    }
}

#[test]
fn accesses_of_cxl_io_that_ask_nobody_are_seen() {
    let io = ["hosts=1", "uio.accesses=200", "core.accesses=600"];
    assert_eq!(shared(&io, None), BTreeSet::new());
    // A write beside a copy, a read below a dirty one.
    let found = shared(&io, Some(Mutant::UioSkipsHolders));
    assert!(found.iter().any(|rule| rule.starts_with("COH-INV-0")), "{found:?}");
    let reads = [&io[..], &["uio.writes=0", "device.reduced=0:1000000:3"]].concat();
    assert_eq!(shared(&reads, None), BTreeSet::new());
    assert_eq!(shared(&reads, Some(Mutant::LoadSkipsSnoops)), BTreeSet::from(["COH-UIO-01"]));
}

#[test]
fn a_port_that_lets_foreign_messages_through_is_seen() {
    let wrong = ["devices=3", "switch=on", "switch.table=1:2"];
    let found = |mutant| {
        let settings = settings(keys::CACHE_PAIR, &wrong);
        let mut star = cache_pair::star(&settings, |_| Device::new()).expect("it may run");
        star.config.mutant = mutant;
        broken(star, &settings)
    };
    assert!(!found(None).contains("COH-CID-02"));
    assert!(found(Some(Mutant::ForeignCacheId)).contains("COH-CID-02"));
}

/// V10: with a bound below what a fair order needs, the watcher counts the requests that went first.
#[test]
fn a_request_that_waits_for_more_than_its_bound_is_seen() {
    let found = |bound| {
        let settings = settings(keys::DB_SHARE, &["hosts=5", "core.lines=1", "core.pattern=false-sharing"]);
        let mut star = db_share::star(SEED, &settings).expect("it may run");
        star.config.progress_bound = bound;
        broken(star, &settings)
    };
    assert_eq!((found(0), found(4)), (BTreeSet::new(), BTreeSet::new()), "one for each other host");
    assert_eq!(found(2), BTreeSet::from(["COH-INV-10"]));
}
