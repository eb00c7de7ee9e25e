//! Exhaustive exploration of HDM-DB and HDM-D.

use scalepool::coherence::bias::system::{BiasSystem, Setup as BiasSetup};
use scalepool::coherence::config::{CoherenceConfig, WithoutBytes};
use scalepool::coherence::explore::{Limits, Report, System, search};
use scalepool::coherence::mem::options::{BlockAnswer, BlockRelease, MemConfig};
use scalepool::coherence::mem::system::{MemSystem, Setup};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::{DeviceOp, HostReq, Want};

pub fn with(mem: MemConfig) -> CoherenceConfig {
    CoherenceConfig { mem, ..CoherenceConfig::default() }
}

pub fn explore<S: System>(name: &str, start: &S) -> Report {
    let began = std::time::Instant::now();
    let report = search(start, Limits { states: 5_000_000, symmetry: false });
    println!(
        "{name}: {} states, {} transitions, depth {}, {:.1} s",
        report.states,
        report.transitions,
        report.depth,
        began.elapsed().as_secs_f64()
    );
    report
}

pub fn clean<S: System>(name: &str, start: &S) -> Report {
    let report = explore(name, start);
    if let Some(v) = &report.violation {
        panic!("{name}: {}\n{}", v.event, scalepool::coherence::chart::Chart::of(v).text());
    }
    assert!(report.complete, "{name}");
    report
}

/// Two lines that share the one entry of a filter.
pub fn tiny_filter(mut config: CoherenceConfig) -> Setup {
    config.mem.filter_sets = 1;
    config.mem.filter_ways = 1;
    Setup {
        lines: 2,
        requests: vec![HostReq::RD_ANY],
        write_backs: Vec::new(),
        stores: false,
        wants: vec![Want::Store],
        ..Setup::core(config, 2)
    }
}

/// The device takes blocks of two lines back while hosts use them.
pub fn blocks(config: CoherenceConfig, hosts: u8, ops: &[DeviceOp]) -> Setup {
    Setup {
        lines: 2,
        requests: vec![HostReq::RD_ANY],
        write_backs: Vec::new(),
        stores: false,
        wants: vec![Want::Store],
        blocks: ops.iter().map(|&op| (op, 1)).collect(),
        ..Setup::core(config, hosts)
    }
}

#[test]
fn two_hosts() {
    clean("HDM-DB, 2 hosts, core", &MemSystem::new(Setup::core(CoherenceConfig::default(), 2)));
    let all = Setup {
        device: Vec::new(),
        drops: false,
        requests: HostReq::ALL.into_iter().filter(|r| *r != HostReq::INV_NT && *r != HostReq::SPEC_RD).collect(),
        ..Setup::everything(CoherenceConfig::default(), 2)
    };
    clean("HDM-DB, 2 hosts, all requests", &MemSystem::new(all));
}

#[test]
fn two_hosts_legal_alternatives() {
    let config = CoherenceConfig { alternatives: true, without_bytes: WithoutBytes::Write, ..CoherenceConfig::default() };
    let setup = Setup { drops: true, ..Setup::core(config, 2) };
    clean("HDM-DB, 2 hosts, every legal answer", &MemSystem::new(setup));
}

#[test]
fn two_hosts_and_the_device_cache() {
    let device = vec![DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict];
    let setup = Setup { device: device.clone(), ..Setup::core(CoherenceConfig::default(), 2) };
    clean("HDM-DB, 2 hosts and the device's cache", &MemSystem::new(setup));
    let config = with(MemConfig { cmp_m: true, ..MemConfig::default() });
    let setup = Setup { device, requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED], ..Setup::core(config, 2) };
    clean("HDM-DB, the same with Cmp-M", &MemSystem::new(setup));
}

#[test]
fn three_hosts() {
    let setup = Setup {
        requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED],
        write_backs: Vec::new(),
        wants: vec![Want::Store],
        ..Setup::core(CoherenceConfig::default(), 3)
    };
    clean("HDM-DB, 3 hosts", &MemSystem::new(setup));
}

#[test]
fn filter_victims() {
    clean("HDM-DB, 2 hosts, 2 lines, 1 filter entry", &MemSystem::new(tiny_filter(CoherenceConfig::default())));
}

#[test]
fn block_back_invalidates() {
    let ops = [DeviceOp::ReadOwn, DeviceOp::ReadOnce];
    for answer in [BlockAnswer::Lines, BlockAnswer::Whole, BlockAnswer::WholeIfEqual] {
        let config = with(MemConfig { block_answer: answer, ..MemConfig::default() });
        let mut setup = blocks(config, 1, &ops);
        setup.device = vec![DeviceOp::Evict];
        clean(&format!("HDM-DB, 1 host, blocks of 2 lines, {answer:?}"), &MemSystem::new(setup));
    }
    let config = with(MemConfig { block_release: BlockRelease::Early, ..MemConfig::default() });
    let setup = blocks(config, 1, &[DeviceOp::ReadOnce]);
    clean("HDM-DB, 1 host, blocks of 2 lines, released line by line", &MemSystem::new(setup));
}

#[test]
fn bias_flips() {
    clean("HDM-D", &BiasSystem::new(BiasSetup::everything(CoherenceConfig::default())));
    let config = with(MemConfig { flush_keeps_shared: true, ..MemConfig::default() });
    clean("HDM-D, the host keeps S under CLFlush", &BiasSystem::new(BiasSetup::everything(config)));
    let config = with(MemConfig {
        shared_grants_exclusive: true,
        device_keeps_shared: false,
        ..MemConfig::default()
    });
    clean("HDM-D, a sole reader gets E", &BiasSystem::new(BiasSetup::everything(config)));
}

#[test]
fn write_backs_may_keep_a_copy() {
    let setup = Setup {
        requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::CLN_EVCT],
        write_backs: vec![Copy4::I, Copy4::S, Copy4::E],
        ..Setup::core(CoherenceConfig::default(), 2)
    };
    clean("HDM-DB, 2 hosts, MemWr of every kind", &MemSystem::new(setup));
}
