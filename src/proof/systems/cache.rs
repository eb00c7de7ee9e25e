//! Device caches and a home over CXL.cache.

use super::composite::Composite;
use super::menu::{AtomicHold, Menu, ProgramOperation};
use super::part::{CacheDevicePart, CacheHomePart, Member, MemoryPart};
use super::setup::{AgentDescription, SystemDescription};
use scalepool_coherence::agent::AgentPort;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::IdSet;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

/// What does not change during a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Choices.
    pub config: CoherenceConfig,
    /// How many devices, 1 to 16.
    pub devices: AgentPort,
    /// How many lines, from line 0 on.
    pub lines: u64,
    /// Free operations; empty when programs run.
    pub menu: Vec<Op>,
    /// Free devices attach a store to RdOwn and RdOwnNoData too (a store that waits for ownership).
    pub waiting_stores: bool,
    /// The host's core reads and writes too.
    pub core: bool,
    /// Atomics of the devices; `None`: there are none.
    pub atomics: Option<AtomicHold>,
    /// The home's memory is behind a port of CXL.mem.
    pub memory_behind: bool,
    /// Programs, one a device; empty when free. They run on line 0.
    pub programs: Vec<Vec<ProgramOperation>>,
    /// Check every step (V5 to V8) too, not only states and values.
    pub orders: bool,
    /// Devices whose stores and writes are poisoned; an M copy of the start is a store.
    pub poisoners: IdSet,
}

impl Setup {
    /// Free devices with a menu on one line.
    pub fn free(config: CoherenceConfig, devices: AgentPort, menu: &[Op]) -> Self {
        Self {
            config,
            devices,
            lines: 1,
            menu: menu.to_vec(),
            waiting_stores: true,
            core: false,
            atomics: None,
            memory_behind: false,
            programs: Vec::new(),
            orders: true,
            poisoners: IdSet::EMPTY,
        }
    }
}

/// Every request of §2.2 but CacheFlushed, which is about a whole cache.
pub const ALL_REQUESTS: &[Op] = &[
    Op::RdCurr,
    Op::RdOwn,
    Op::RdShared,
    Op::RdAny,
    Op::RdOwnNoData,
    Op::ItoMWr,
    Op::WrCur,
    Op::CLFlush,
    Op::CleanEvict,
    Op::DirtyEvict,
    Op::CleanEvictNoData,
    Op::WOWrInv,
    Op::WOWrInvF,
    Op::WrInv,
];

/// What the size hints of the sheet (§4) cover: reads, ItoMWr and evicts.
pub const HINTED_REQUESTS: &[Op] = &[
    Op::RdShared,
    Op::RdOwn,
    Op::RdOwnNoData,
    Op::RdAny,
    Op::RdCurr,
    Op::ItoMWr,
    Op::CleanEvict,
    Op::CleanEvictNoData,
    Op::DirtyEvict,
];

/// The home, agent 0, the devices, and the memory if the home has none of its own.
pub fn system(setup: Setup) -> Composite {
    let Setup { config, devices, lines, menu, waiting_stores, core, atomics, memory_behind, .. } = setup;
    let (programs, orders, poisoners) = (setup.programs, setup.orders, setup.poisoners);
    let runs_programs = !programs.is_empty();
    let mut programs = programs.into_iter();
    let home = if memory_behind { CacheHomePart::without_memory(devices) } else { CacheHomePart::new(devices) };
    let plain = |name: &str, member: Member| AgentDescription {
        name: name.to_owned(),
        member,
        config: config.clone(),
        program: Vec::new(),
        poisons: false,
    };
    let memory = memory_behind.then(|| plain("memory", MemoryPart::default().into()));
    let device = |n: AgentPort| AgentDescription {
        name: format!("device {n}"),
        member: CacheDevicePart::default().into(),
        config: config.clone(),
        program: programs.next().unwrap_or_default(),
        poisons: poisoners.has(n),
    };
    let home = plain("home", home.into());
    let agents = std::iter::once(home).chain((0..devices).map(device)).chain(memory).collect();
    let behind = memory_behind.then_some([(0, devices), (usize::from(devices) + 1, 0)]);
    Composite::of(SystemDescription {
        agents,
        links: (0..devices).map(|n| [(0, n), (usize::from(n) + 1, 0)]).chain(behind).collect(),
        lines: vec![0; lines as usize],
        menu: Menu { cache: menu, waiting_stores, core, atomics, ..Menu::default() },
        programs: runs_programs,
        orders,
    })
}
