//! HDM-DB with more hosts than a word has bits, up to as many as a fabric has ports: the agents alone, the random tester, and
//! whole runs behind a fabric switch. The monitors see hosts above number 64 as they see the others.

use super::mem_bench::{X, birsp, labels, m2s};
use super::mem_explore::with;
use super::names::takes_and;
use super::scenarios::{count, run, settings, sound};
use super::stress::{runs, soak};
use super::topology::trace;
use scalepool::coherence::agent::{Agent, AgentOutput};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool::coherence::ids::{AgentPort, IdSet, MOST_PORTS};
use scalepool::coherence::mem::options::MemConfig;
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::{Dcoh, Holders, HostAccess, HostReq, MemHost};
use scalepool::coherence::message::{Class, Dir, Msg};
use scalepool::coherence::monitor::{DcohStep, DcohWatch};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::stress::{Stress, StressProtocol};
use scalepool::system::coherence::{HOME_PID, MOST_FABRIC_HOLDERS, holder_pid};
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, M2sReqOpcode, MetaValue, SnpType};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A device and its hosts, between which every message arrives in the order of sending.
struct Star {
    config: CoherenceConfig,
    hosts: Vec<MemHost<CacheLine>>,
    dcoh: Dcoh<CacheLine>,
    /// Hosts that were asked for the line, in the order in which they were.
    asked: Vec<AgentPort>,
}

impl Star {
    fn new(config: CoherenceConfig, hosts: usize) -> Self {
        let (dcoh, hosts) =
            (Dcoh::new(&config, hosts as AgentPort), (0..hosts as AgentPort).map(MemHost::new).collect());
        Self { config, hosts, dcoh, asked: Vec::new() }
    }

    /// A host asks, and every message that follows arrives; a store that waits is made.
    fn ask(&mut self, host: usize, line: LineAddr, req: HostReq, want: HostAccess) {
        let mut out = AgentOutput::default();
        self.hosts[host].issue(line, req, want, &mut out);
        let mut under_way: VecDeque<_> = out.sends.drain(..).map(|(_, msg)| (host, msg)).collect();
        while let Some((host, msg)) = under_way.pop_front() {
            let to_host = msg.class().dir() == Dir::Up;
            if msg.class() == Class::S2mBisnp {
                self.asked.push(host as AgentPort);
            }
            if to_host {
                self.hosts[host].take(&self.config, 0, msg, 0, &mut out);
                if self.hosts[host].due(line).stores() {
                    self.hosts[host].store(&self.config, line, CacheLine::of([host as u8; 64]), WHOLE_LINE, &mut out);
                }
            } else {
                // What the monitor keeps is a copy of the whole device: it sees one step in 64, and those that ask hosts.
                let asks = matches!(msg, Msg::M2sReq { snp: SnpType::SnpInv, .. });
                let before = (asks || host % 64 == 0).then(|| self.dcoh.clone());
                self.dcoh.take(&self.config, host as AgentPort, msg, 0, &mut out);
                if let Some(before) = before {
                    let (step, mut events) = (DcohStep::Took(host as AgentPort, msg), Vec::new());
                    let watch = DcohWatch { before: &before, out: &out, after: &self.dcoh, peers: &IdSet::EMPTY };
                    watch.check(&self.config, &step, &mut events);
                    assert!(events.is_empty(), "{}", events[0]);
                }
            }
            assert!(out.events.is_empty(), "{}", out.events[0]);
            let sends = out.sends.drain(..).map(|(port, msg)| (if to_host { host } else { port.into() }, msg));
            under_way.extend(sends);
        }
    }
}

/// As many hosts as ports have numbers share a line, and each of the others is asked when one wants it alone.
#[test]
fn a_line_is_taken_back_from_four_thousand_hosts() {
    let mut star = Star::new(CoherenceConfig::default(), MOST_PORTS);
    (0..MOST_PORTS).for_each(|host| star.ask(host, X, HostReq::RD_SHARED, HostAccess::Load));
    let all: IdSet = (0..MOST_PORTS as AgentPort).collect();
    assert_eq!((star.dcoh.holders(X), star.asked.len()), (Some(Holders::Shared(all.clone())), 0));
    star.ask(4_000, X, HostReq::INV, HostAccess::Store);
    assert!(
        star.asked.iter().copied().eq(&all.without(4_000)),
        "each of the others once, in the order of their numbers"
    );
    assert_eq!(star.dcoh.holders(X), Some(Holders::Owner(4_000)));
    assert!(star.hosts.iter().enumerate().all(|(n, h)| (h.copy(X).state == Copy4::I) == (n != 4_000)));
    // To share, the owner alone is asked; its store comes home.
    star.asked.clear();
    star.ask(70, X, HostReq::RD_SHARED, HostAccess::Load);
    assert_eq!(star.asked, [4_000]);
    assert_eq!(star.hosts[70].copy(X).data, Some(CacheLine::of([4_000_u16 as u8; 64])));
    assert_eq!(star.dcoh.holders(X), Some(Holders::Shared([70, 4_000].into_iter().collect())));
    assert!(star.dcoh.is_idle() && star.hosts.iter().all(Agent::is_idle));
}

/// Hosts from 64 on that a rule leaves out, or that answer for what they were not asked, are named.
#[test]
fn the_monitor_of_a_device_names_hosts_above_64() {
    let holders = || Holders::Shared([70, 80, 300].into_iter().collect());
    let device = |config: &CoherenceConfig| {
        let mut dcoh = Dcoh::<CacheLine>::new(config, 400);
        dcoh.preset(X, CacheLine::of([0; 64]), holders());
        dcoh
    };
    let own = m2s(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv);
    let config = CoherenceConfig::default();
    assert_eq!(takes_and(&config, &device(&config), (399, own), |_, _| ()), <[&str; 0]>::default());
    let skips = CoherenceConfig { rules: CoherenceMutant::HolderSkipped.rules(), ..config.clone() };
    let (before, mut after, mut out) = (device(&skips), device(&skips), AgentOutput::default());
    after.take(&skips, 399, own, 0, &mut out);
    let (step, mut events) = (DcohStep::Took(399, own), Vec::new());
    DcohWatch { before: &before, out: &out, after: &after, peers: &IdSet::one(70) }.check(&skips, &step, &mut events);
    let found: Vec<(&str, bool)> = events.iter().map(|e| (e.rule, e.found.contains("of host 70"))).collect();
    assert_eq!(found, [("COH-MHO-01", true), ("COH-P2P-01", true)], "{events:?}");
    // Host 79 was asked nothing, host 80 was.
    let mut dcoh = device(&config);
    let mut out = AgentOutput::default();
    dcoh.take(&config, 399, own, 0, &mut out);
    assert_eq!(labels(&out), ["BISnpInv"; 3]);
    for (host, rules) in [(79, &["COH-IDS-01"][..]), (80, &[])] {
        let mut out = AgentOutput::default();
        dcoh.take(&config, host, birsp(BirspOpcode::BIRspI, 0), 0, &mut out);
        assert_eq!(out.events.iter().map(|e| e.rule).collect::<Vec<_>>(), rules, "host {host}");
    }
}

/// The random tester with its monitors, with lines that share one set of the snoop filter and with one that holds all.
#[test]
fn stress_of_many_hosts() {
    let sum = runs(&[65, 130, 300].map(StressProtocol::HdmDb), 6, 750 * soak());
    assert!(sum.operations >= 750);
    // A holder that is not asked is seen, whoever it is.
    let mut stress = Stress::new(StressProtocol::HdmDb(130), 1, 60_000);
    stress.config.rules = CoherenceMutant::HolderSkipped.rules();
    let failure = stress.run().expect_err("a holder is not asked");
    assert!(failure.event.rule.starts_with("COH-INV-"), "{failure}");
}

/// A set of the filter with many ways, which has an index, evicts what one with few ways would.
#[test]
fn a_large_set_evicts_the_least_recently_used_line() {
    for ways in [4, 16, 17, 100] {
        let config = with(MemConfig { filter_sets: 1, filter_ways: ways, ..MemConfig::default() });
        let mut star = Star::new(config, 2);
        let ways = ways as u64;
        (0..ways).for_each(|n| star.ask(0, LineAddr(n), HostReq::RD_SHARED, HostAccess::Load));
        // Line 0 is used again, so line 1 and then line 2 go.
        star.ask(1, LineAddr(0), HostReq::RD_SHARED, HostAccess::Load);
        for (new, gone) in [(ways, 1), (ways + 1, 2)] {
            star.ask(1, LineAddr(new), HostReq::RD_SHARED, HostAccess::Load);
            assert_eq!(
                (star.dcoh.holders(LineAddr(gone)), star.dcoh.filter().len() as u64),
                (None, ways),
                "{ways} ways"
            );
        }
        let last = star.dcoh.filter().candidates(X).map(|e| e.line.0).last();
        assert_eq!((star.asked.len(), last), (2, Some(ways + 1)));
    }
}

fn many(hosts: usize, more: &[&str]) -> Vec<String> {
    let hosts = format!("hosts={hosts}");
    settings(&[&[hosts.as_str(), "core.lines=2"][..], more].concat())
}

/// Sixty-four hosts and three hundred use two lines behind a switch. A store takes its line from more than 64 at once: one message
/// each, in one step of the device.
#[test]
fn many_hosts_share_lines_behind_a_switch() {
    for (hosts, accesses) in [(64, 10), (300, 4)] {
        let set = many(hosts, &[&format!("core.accesses={accesses}")]);
        let report = sound("hdm-db-fabric", None, &set);
        assert_eq!(count(&report, "accesses"), ((hosts + 1) * accesses) as u64, "a direct peer beside the hosts");
        assert_eq!(count(&report, "s2m_bisnp"), count(&report, "m2s_birsp"));
    }
    // Eighty read each of the lines, then one of them stores.
    let one_stores = ["core.pattern=walk", "core.lines=7", "core.accesses=7", "core.outstanding=1"];
    let set = many(80, &[&one_stores[..], &["component.host[70].core.accesses=8"]].concat());
    let mut at_once: BTreeMap<u64, usize> = BTreeMap::new();
    let is_snoop =
        |r: &&Value| r["where"] == "dev[0].dcoh" && r["message"].as_str().is_some_and(|m| m.ends_with("s2m_bisnp"));
    for record in trace("hdm-db-fabric", set).iter().filter(is_snoop) {
        *at_once.entry(record["t_fs"].as_u64().expect("a time")).or_default() += 1;
    }
    assert_eq!(at_once.values().collect::<Vec<_>>(), [&80], "the other hosts and the direct peer");
}

/// Ports of a fabric have 12 bits; 0 stands for no fabric and FFFh for no port.
#[test]
fn every_holder_of_a_full_fabric_has_a_port_of_its_own() {
    let ports: BTreeSet<u16> = (0..MOST_FABRIC_HOLDERS).map(holder_pid).collect();
    assert_eq!(ports.len(), MOST_FABRIC_HOLDERS);
    assert!(!ports.contains(&HOME_PID) && ports.first() == Some(&1) && ports.last() == Some(&0xffe));
}

#[test]
fn more_holders_than_a_protocol_tells_apart_are_refused() {
    for (scenario, set, why) in [
        ("hdm-db-fabric", &["hosts=4093", "peers=1"][..], "found 4093 hosts and 1 peers, expected 1 to 4093 in all"),
        ("hdm-db-fabric", &["hosts=4094"], "expected 0 to 4093"),
        ("cxl-cache-switch", &["devices=17"], "found 17 holders of its lines, expected 1 to 16"),
    ] {
        let error = run(scenario, None, &settings(set)).expect_err("refused").to_string();
        assert!(error.contains(why), "{set:?}: {error}");
    }
}
