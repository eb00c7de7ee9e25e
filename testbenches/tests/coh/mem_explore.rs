//! Exhaustive exploration of HDM-DB and HDM-D.

use scalepool::coherence::agent::{Agent, AgentOutput};
use scalepool::coherence::config::{CoherenceConfig, WithoutBytes};
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::mem::options::{BlockAnswer, BlockRelease, MemConfig};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::{Dcoh, DeviceOp, HostAccess, HostReq, MemHost};
use scalepool::coherence::message::{Class, Dir};
use scalepool::proof::explore::{ExplorationReport, ExploredSystem, Limits, search};
use scalepool::proof::systems::bias::{Setup as BiasSetup, system as bias_system};
use scalepool::proof::systems::mem::{Setup, system as mem_system};
use scalepool_testbenches::soak::is_soak;
use std::collections::VecDeque;

pub fn with(mem: MemConfig) -> CoherenceConfig {
    CoherenceConfig { mem, ..CoherenceConfig::default() }
}

pub fn explore<S: ExploredSystem>(name: &str, start: &S) -> ExplorationReport {
    let report = search(start, Limits { states: 5_000_000, ..Limits::default() });
    println!("{name}: {} states, {} transitions, depth {}", report.states, report.transitions, report.depth);
    report
}

pub fn clean<S: ExploredSystem>(name: &str, start: &S) -> ExplorationReport {
    let report = explore(name, start);
    if let Some(v) = &report.violation {
        panic!("{name}: {}\n{}", v.event, v.chart().text());
    }
    assert!(report.complete, "{name}");
    report
}

#[test]
fn two_hosts() {
    clean("HDM-DB, 2 hosts, core", &mem_system(Setup::core(CoherenceConfig::default(), 2)));
    let all = Setup {
        device: Vec::new(),
        drops: false,
        requests: HostReq::ALL.into_iter().filter(|r| *r != HostReq::INV_NT && *r != HostReq::SPEC_RD).collect(),
        ..Setup::everything(CoherenceConfig::default(), 2)
    };
    clean("HDM-DB, 2 hosts, all requests", &mem_system(all));
}

/// Every request beside silent drops: a host that dropped its copy may still ask, and says that it holds nothing. The
/// nearest states; all with `SCALEPOOL_SOAK`.
#[test]
fn two_hosts_every_request_and_drops() {
    let soak = is_soak();
    let states = if soak { 5_000_000 } else { 30_000 };
    let all = Setup { device: Vec::new(), ..Setup::everything(CoherenceConfig::default(), 2) };
    let report = search(&mem_system(all), Limits { states, symmetry: true, ..Limits::default() });
    println!("HDM-DB, 2 hosts, all requests, drops: {} states, {} transitions", report.states, report.transitions);
    assert!(report.complete == soak && report.violation.is_none(), "{:?}", report.violation.map(|v| v.event));
}

#[test]
fn hdm_d_legal_alternatives() {
    let config = CoherenceConfig { alternatives: true, ..CoherenceConfig::default() };
    let all = clean("HDM-D, every legal answer", &bias_system(BiasSetup::everything(config)));
    let few = clean("HDM-D", &bias_system(BiasSetup::everything(CoherenceConfig::default())));
    assert!(all.states > few.states);
}

#[test]
fn two_hosts_legal_alternatives() {
    let config =
        CoherenceConfig { alternatives: true, without_bytes: WithoutBytes::Write, ..CoherenceConfig::default() };
    let setup = Setup { drops: true, ..Setup::core(config, 2) };
    clean("HDM-DB, 2 hosts, every legal answer", &mem_system(setup));
}

#[test]
fn two_hosts_and_the_device_cache() {
    let device = vec![DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict];
    let setup = Setup { device: device.clone(), ..Setup::core(CoherenceConfig::default(), 2) };
    clean("HDM-DB, 2 hosts and the device's cache", &mem_system(setup));
    let config = with(MemConfig { cmp_m: true, ..MemConfig::default() });
    let setup = Setup { device, requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED], ..Setup::core(config, 2) };
    clean("HDM-DB, the same with Cmp-M", &mem_system(setup));
}

/// All of the core on three hosts; hosts that differ in name only count once. What never ends is looked for with names, in
/// `cache_explore::the_named_explorations_reach_as_many_states_as_a_second_program`.
#[test]
fn three_hosts() {
    let start = mem_system(Setup::core(CoherenceConfig::default(), 3));
    let report = search(&start, Limits { symmetry: true, liveness: false, ..Limits::default() });
    println!("HDM-DB, 3 hosts: {} states, {} transitions, depth {}", report.states, report.transitions, report.depth);
    assert!(report.complete && report.violation.is_none(), "{:?}", report.violation.map(|v| v.event));
    // 182,571 with names, nearly six times as many.
    assert_eq!((report.states, report.transitions, report.depth), (31_117, 100_544, 26));
}

/// Nearly each state has a twin with the hosts exchanged; no way gets longer, and a broken rule is still found.
#[test]
fn renaming_hosts_finds_no_less() {
    let setups: [fn(CoherenceConfig) -> Setup; 3] = [|c| Setup::core(c, 2), Setup::one_entry, Setup::uio];
    for setup in setups {
        let start = mem_system(setup(CoherenceConfig::default()));
        let [all, half] =
            [false, true].map(|symmetry| search(&start, Limits { symmetry, liveness: false, ..Limits::default() }));
        assert!(half.complete && half.states * 2 >= all.states && half.states * 2 < all.states + all.states / 10);
        assert_eq!(half.depth, all.depth);
    }
}

/// One host owns 1,000 lines one after the other through 16 entries, twice over: each line but the first 16 costs one
/// back-invalidate, 2,000 - 16 in all, and every byte comes home.
#[test]
fn a_thousand_lines_through_sixteen_entries() {
    for (sets, ways) in [(1, 16), (4, 4), (16, 1)] {
        let config = with(MemConfig { filter_sets: sets, filter_ways: ways, ..MemConfig::default() });
        let mut host = MemHost::<CacheLine>::new(0);
        let mut dcoh = Dcoh::<CacheLine>::new(&config, 1);
        let mut back_invalidates = 0;
        for n in 0..2_000_u64 {
            let line = LineAddr(n % 1_000);
            let mut out = AgentOutput::default();
            host.issue(line, HostReq::RD_ANY, HostAccess::Store, &mut out);
            // Every message is delivered at once, in the order of sending.
            let mut under_way: VecDeque<_> = out.sends.drain(..).map(|(_, m)| m).collect();
            while let Some(msg) = under_way.pop_front() {
                back_invalidates += u64::from(msg.class() == Class::S2mBisnp);
                match msg.class().dir() {
                    Dir::Down => dcoh.take(&config, 0, msg, 0, &mut out),
                    Dir::Up => host.take(&config, 0, msg, 0, &mut out),
                }
                if host.due(line) == HostAccess::Store {
                    let written = host.load(&config, line, &mut out).expect("a filled line");
                    assert_eq!(written.bytes[0], u8::from(n >= 1_000), "line {} has its last store", line.0);
                    host.store(&config, line, CacheLine::of([1 + (n >= 1_000) as u8; 64]), u64::MAX, &mut out);
                }
                assert!(out.events.is_empty(), "{}", out.events[0]);
                under_way.extend(out.sends.drain(..).map(|(_, m)| m));
            }
            assert!(dcoh.filter().len() <= 16 && host.is_idle() && dcoh.is_idle());
        }
        assert_eq!(back_invalidates, 2_000 - 16);
    }
}

#[test]
fn filter_victims() {
    clean("HDM-DB, 2 hosts, 2 lines, 1 filter entry", &mem_system(Setup::one_entry(CoherenceConfig::default())));
}

#[test]
fn block_back_invalidates() {
    let ops = [DeviceOp::ReadOwn, DeviceOp::ReadOnce];
    for answer in [BlockAnswer::Lines, BlockAnswer::Whole, BlockAnswer::WholeIfEqual] {
        let config = with(MemConfig { block_answer: answer, ..MemConfig::default() });
        let mut setup = Setup::blocks(config, 1, &ops);
        setup.device = vec![DeviceOp::Evict];
        clean(&format!("HDM-DB, 1 host, blocks of 2 lines, {answer:?}"), &mem_system(setup));
    }
    let config = with(MemConfig { block_release: BlockRelease::Early, ..MemConfig::default() });
    let mut setup = Setup::blocks(config, 1, &ops);
    setup.device = vec![DeviceOp::Evict];
    clean("HDM-DB, 1 host, blocks of 2 lines, released line by line", &mem_system(setup));
}

#[test]
fn bias_flips() {
    clean("HDM-D", &bias_system(BiasSetup::everything(CoherenceConfig::default())));
    let config = with(MemConfig { flush_keeps_shared: true, ..MemConfig::default() });
    clean("HDM-D, the host keeps S under CLFlush", &bias_system(BiasSetup::everything(config)));
    let config = with(MemConfig { shared_grants_exclusive: true, device_keeps_shared: false, ..MemConfig::default() });
    clean("HDM-D, a sole reader gets E", &bias_system(BiasSetup::everything(config)));
}

#[test]
fn write_backs_may_keep_a_copy() {
    let setup = Setup {
        requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::CLN_EVCT],
        write_backs: vec![Copy4::I, Copy4::S, Copy4::E],
        ..Setup::core(CoherenceConfig::default(), 2)
    };
    clean("HDM-DB, 2 hosts, MemWr of every kind", &mem_system(setup));
}

#[test]
fn the_documentation_has_every_row() {
    let mem = scalepool::proof::docs::mem_pages::markdown();
    let bias = scalepool::coherence::bias::tables::markdown();
    for n in (4..=35).chain(37..=43) {
        assert!(mem.contains(&format!("| COH-MEM-{n:02} |")), "row {n}");
    }
    for n in 2..=9 {
        assert!(bias.contains(&format!("| COH-BIA-{n:02} |")), "row {n}");
    }
}
