//! Hosts and one device with HDM-DB.

use super::composite::Composite;
use super::menu::{AtomicHold, Menu, ProgramOperation};
use super::part::{CacheDevicePart, HdmCacheHome, HdmDbDevicePart, MemHostPart, Member, MemoryPart};
use super::setup::{AgentDescription, SystemDescription};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::{AgentPort, IdSet};
use scalepool_coherence::mem::dcoh::DeviceOp;
use scalepool_coherence::mem::host::{HostAccess, HostReq};
use scalepool_coherence::mem::tables::Copy4;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode;

/// What an exploration may do; no part of a state.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration of all agents.
    pub config: CoherenceConfig,
    /// Hosts, at least 1. Their lines together are at most 65,536.
    pub hosts: AgentPort,
    /// Lines 0 to n-1.
    pub lines: u8,
    /// The device's memory is behind a port.
    pub memory_behind: bool,
    /// Requests of the hosts.
    pub requests: Vec<HostReq>,
    /// What a MemWr may keep; empty: no write backs of their own.
    pub write_backs: Vec<Copy4>,
    /// Whether hosts store into copies that they own.
    pub stores: bool,
    /// Accesses for which ownership is asked.
    pub wants: Vec<HostAccess>,
    /// Whether hosts drop clean copies.
    pub drops: bool,
    /// Operations of the device's own cache.
    pub device: Vec<DeviceOp>,
    /// Operations of the device on a block of lines, and its enable.
    pub blocks: Vec<(DeviceOp, u8)>,
    /// Atomics of the hosts and, where it has operations of its own, the device; `None`: there are none.
    pub atomics: Option<AtomicHold>,
    /// Programs, one a host, on line 0; empty when the hosts are free.
    pub programs: Vec<Vec<ProgramOperation>>,
    /// Hosts that are direct peers.
    pub peers: IdSet,
    /// Check every step (V5 to V8) too, not only states and values.
    pub orders: bool,
    /// Agents whose stores and writes are poisoned, the device behind the hosts; an M copy of the start is a store.
    pub poisoners: IdSet,
}

impl Setup {
    /// Everything on one line.
    pub fn everything(config: CoherenceConfig, hosts: AgentPort) -> Self {
        Self {
            config,
            hosts,
            lines: 1,
            memory_behind: false,
            requests: HostReq::ALL.to_vec(),
            write_backs: vec![Copy4::I, Copy4::S, Copy4::E],
            stores: true,
            wants: vec![HostAccess::Nothing, HostAccess::Store],
            drops: true,
            device: vec![DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict],
            blocks: Vec::new(),
            atomics: None,
            programs: Vec::new(),
            peers: IdSet::EMPTY,
            orders: true,
            poisoners: IdSet::EMPTY,
        }
    }

    /// Two lines that share the one entry of a filter.
    pub fn one_entry(mut config: CoherenceConfig) -> Self {
        config.mem.filter_sets = 1;
        config.mem.filter_ways = 1;
        Self { lines: 2, ..Self::owners(config, 2) }
    }

    /// The device takes blocks of two lines back while hosts own them.
    pub fn blocks(config: CoherenceConfig, hosts: AgentPort, ops: &[DeviceOp]) -> Self {
        Self { lines: 2, blocks: ops.iter().map(|&op| (op, 1)).collect(), ..Self::owners(config, hosts) }
    }

    /// Two hosts, of which one may be a direct peer, and accesses of UIO at any time.
    pub fn uio(config: CoherenceConfig) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::CLN_EVCT],
            device: vec![DeviceOp::UioRead, DeviceOp::UioWrite],
            ..Self::core(config, 2)
        }
    }

    /// Hosts that ask for ownership to load and to store; every access waits until it is made.
    pub fn waiting_accesses(config: CoherenceConfig, hosts: AgentPort) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::INV],
            wants: vec![HostAccess::Load, HostAccess::Store],
            ..Self::core(config, hosts)
        }
    }

    /// Hosts that ask for ownership and store, and do nothing else.
    fn owners(config: CoherenceConfig, hosts: AgentPort) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY],
            write_backs: Vec::new(),
            stores: false,
            wants: vec![HostAccess::Store],
            ..Self::core(config, hosts)
        }
    }

    /// The core of the protocol on one line: reads, ownership, evictions, stores.
    pub fn core(config: CoherenceConfig, hosts: AgentPort) -> Self {
        Self {
            requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::INV, HostReq::CLN_EVCT],
            write_backs: vec![Copy4::I],
            drops: false,
            device: Vec::new(),
            ..Self::everything(config, hosts)
        }
    }
}

/// The hosts, the device behind them, and its memory if it has none of its own.
pub fn system(setup: Setup) -> Composite {
    let Setup { config, hosts, lines, requests, write_backs, stores, wants, drops, device, blocks, .. } = setup;
    let runs_programs = !setup.programs.is_empty();
    let mut programs = setup.programs.into_iter();
    let home = AgentDescription {
        name: "device".to_owned(),
        member: match setup.memory_behind {
            true => HdmDbDevicePart::without_memory(&config, hosts).into(),
            false => HdmDbDevicePart::new(&config, hosts).into(),
        },
        config: config.clone(),
        program: Vec::new(),
        poisons: setup.poisoners.has(hosts),
    };
    let memory = setup.memory_behind.then(|| AgentDescription {
        name: "memory".to_owned(),
        member: MemoryPart::default().into(),
        config: config.clone(),
        program: Vec::new(),
        poisons: false,
    });
    let host = |n: AgentPort| AgentDescription {
        name: format!("host {n}"),
        member: MemHostPart::new(n).into(),
        config: config.clone(),
        program: programs.next().unwrap_or_default(),
        poisons: setup.poisoners.has(n),
    };
    let device_number = usize::from(hosts);
    let agents = (0..hosts).map(host).chain(std::iter::once(home)).chain(memory).collect();
    let behind = setup.memory_behind.then_some([(device_number, hosts), (device_number + 1, 0)]);
    Composite::of(SystemDescription {
        agents,
        links: (0..hosts).map(|n| [(n.into(), 0), (device_number, n)]).chain(behind).collect(),
        lines: vec![device_number; lines.into()],
        menu: Menu {
            requests,
            write_backs,
            stores,
            wants,
            drops,
            device,
            blocks,
            peers: setup.peers,
            atomics: setup.atomics,
            ..Menu::default()
        },
        programs: runs_programs,
        orders: setup.orders,
    })
}

/// Two levels: a host whose caching devices hold lines of the device, and one host more. Devices and hosts share, own and give up.
pub fn two_levels(config: CoherenceConfig, devices: AgentPort) -> Composite {
    let agent = |name: String, member: Member| AgentDescription {
        name,
        member,
        config: config.clone(),
        program: Vec::new(),
        poisons: false,
    };
    let below = (0..devices).map(|n| agent(format!("device {n}"), CacheDevicePart::default().into()));
    let mut agents = vec![
        agent("memory".to_owned(), HdmDbDevicePart::new(&config, 2).into()),
        agent("host 0".to_owned(), HdmCacheHome::new(devices, 0).into()),
        agent("host 1".to_owned(), MemHostPart::new(1).into()),
    ];
    agents.extend(below);
    // Of CXL.mem the holder is upstream, of CXL.cache the home.
    let above = [[(1, devices), (0, 0)], [(2, 0), (0, 1)]];
    let links = above.into_iter().chain((0..devices).map(|n| [(1, n), (3 + usize::from(n), 0)])).collect();
    let menu = Menu {
        cache: vec![D2hReqOpcode::RdShared, D2hReqOpcode::RdOwn, D2hReqOpcode::CleanEvict, D2hReqOpcode::DirtyEvict],
        requests: vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::CLN_EVCT],
        write_backs: vec![Copy4::I],
        stores: true,
        wants: vec![HostAccess::Nothing, HostAccess::Store],
        drops: true,
        ..Menu::default()
    };
    Composite::of(SystemDescription { agents, links, lines: vec![0], menu, programs: false, orders: true })
}
