//! The explorations by name.

use super::options::{self, *};
use super::{ExplorationReport, ExploredSystem, Limits, search_with};
use crate::flows::{FlowError, play};
use crate::litmus::bridge::BridgeAgents;
use crate::litmus::cores::start as cores;
use crate::litmus::program::LitmusAgents;
use crate::litmus::shapes::LitmusShape;
use crate::litmus::shapes::{CORR, CORW, COWR, COWW, MP, SB, WW};
use crate::stress::StressProtocol;
use crate::systems::altered::{Alteration, Altered};
use crate::systems::bias::{self, Setup as BiasSetup};
use crate::systems::bridge::of_host::{HostBridgeSetup, HostBridgeSystem};
use crate::systems::bridge::{BridgeSetup, BridgeSystem, HostMenu};
use crate::systems::cache::{self, ALL_REQUESTS, HINTED_REQUESTS, Setup as CacheSetup};
use crate::systems::composite::Composite;
use crate::systems::mem::{self, Setup as MemSetup};
use crate::systems::menu::{AtomicHold, Menu};
use crate::systems::misstep::{Misstep, WrongStep};
use scalepool_bridge::cache::StorePolicy;
use scalepool_coherence::chart::Chart;
use scalepool_coherence::config::{CoherenceConfig, OutOfRange};
use scalepool_coherence::ids::{AgentPort, IdSet};
use scalepool_coherence::mem::DeviceOp;
use scalepool_coherence::message::Class;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;
use std::fmt::Display;

/// A start that can be searched, whatever its agents are.
pub trait Explored {
    /// Visits every state; `progress` sees the counts now and then.
    fn search(&self, limits: Limits, progress: &mut dyn FnMut(&ExplorationReport)) -> ExplorationReport;

    /// Follows a script, as [`Counterexample::script`](super::Counterexample::script) has it.
    ///
    /// # Errors
    /// A step that is not possible, a rule that is broken.
    fn follow(&self, script: &[&str]) -> Result<Chart, FlowError>;
}

impl<S: ExploredSystem> Explored for S {
    fn search(&self, limits: Limits, progress: &mut dyn FnMut(&ExplorationReport)) -> ExplorationReport {
        search_with(self, limits, progress)
    }

    fn follow(&self, script: &[&str]) -> Result<Chart, FlowError> {
        play("script", self.clone(), script)
    }
}

/// A system that a name stands for.
#[derive(Debug)]
pub enum NamedSystem {
    /// Caching devices and a home.
    Cache(CacheSetup),
    /// Hosts and a device with back-invalidation.
    HdmDb(MemSetup),
    /// So many caching devices below a host of such a device, and one host more.
    TwoLevels(CoherenceConfig, AgentPort),
    /// A host and a device with bias.
    HdmD(BiasSetup),
    /// Accelerators behind a bridge, a host and a device with back-invalidation.
    Bridge(BridgeSetup),
    /// Accelerators behind a bridge that caches lines of a host, and one more caching device.
    HostBridge(HostBridgeSetup),
    /// A litmus shape on two agents.
    Shape(&'static LitmusShape, LitmusAgents, CoherenceConfig),
}

/// What is asked for instead of what a name stands for; `None`: as it is.
#[derive(Debug, Clone, Default)]
pub struct ExplorationScope {
    /// How many agents are alike.
    pub agents: Option<u16>,
    /// How many lines there are.
    pub lines: Option<u8>,
    /// What agents may begin besides the accesses that wait for it.
    pub menu: Option<Menu>,
}

/// Most agents that are alike: CacheID has 4 bits, and hosts are kept to the same number.
pub const MOST_AGENTS: u16 = 16;

fn found(option: &str, value: impl Display, expected: impl Into<String>) -> OutOfRange {
    OutOfRange { found: format!("{option} {value}"), expected: expected.into() }
}

/// Refuses operations that no agent of a system has. `has`: requests of CXL.cache, of hosts, of the device's own cache, of the core,
/// atomics.
fn check_menu(menu: &Menu, has: [bool; 5]) -> Result<(), OutOfRange> {
    let of_hosts = !menu.requests.is_empty() || !menu.write_backs.is_empty() || menu.drops;
    let is_asked = [!menu.cache.is_empty(), of_hosts, !menu.device.is_empty(), menu.core, menu.atomics.is_some()];
    let names = [
        "requests of CXL.cache",
        "operations of hosts of CXL.mem",
        "operations of the device's own cache",
        "Core",
        "atomics",
    ];
    let parts = || names.into_iter().zip(has).zip(is_asked);
    match parts().find(|((_, has), is_asked)| *is_asked && !has) {
        None => Ok(()),
        Some(((name, _), _)) => {
            let known: Vec<&str> = parts().filter(|((_, has), _)| *has).map(|((name, _), _)| name).collect();
            Err(found("--ops with", name, known.join(", ")))
        }
    }
}

impl NamedSystem {
    /// The same with another number of agents or lines, or other operations.
    fn scoped(mut self, scope: &ExplorationScope) -> Result<Self, OutOfRange> {
        let alike = match &mut self {
            Self::Cache(setup) => Some((&mut setup.devices, !setup.poisoners.is_empty())),
            Self::HdmDb(setup) => Some((&mut setup.hosts, !setup.poisoners.is_empty())),
            Self::TwoLevels(_, devices) => Some((devices, false)),
            Self::HdmD(_) | Self::Bridge(_) | Self::HostBridge(_) | Self::Shape(..) => None,
        };
        match (scope.agents, alike) {
            (None, _) => {}
            (Some(agents), None) => {
                return Err(found(
                    "--agents",
                    agents,
                    "none: the agents of this exploration are fixed; those of CXL.cache and HDM-DB can be set",
                ));
            }
            (Some(agents), Some((count, second_poisons))) => {
                let least = if second_poisons { 2 } else { 1 };
                if !(least..=MOST_AGENTS).contains(&agents) {
                    return Err(found("--agents", agents, format!("{least} to {MOST_AGENTS}")));
                }
                *count = agents;
            }
        }
        match (scope.lines, &mut self) {
            (None, _) => {}
            (Some(lines), Self::Cache(setup)) => setup.lines = lines.into(),
            (Some(lines), Self::HdmDb(setup)) => setup.lines = lines,
            (Some(lines), _) => {
                let expected = "none: the lines of this exploration are fixed; those of CXL.cache and HDM-DB with one level can be set";
                return Err(found("--lines", lines, expected));
            }
        }
        match (scope.menu.clone(), &mut self) {
            (None, _) => {}
            (Some(menu), Self::Cache(setup)) => {
                check_menu(&menu, [true, false, false, true, true])?;
                (setup.menu, setup.core, setup.atomics) = (menu.cache, menu.core, menu.atomics);
            }
            (Some(menu), Self::HdmDb(setup)) => {
                check_menu(&menu, [false, true, true, false, true])?;
                (setup.requests, setup.write_backs) = (menu.requests, menu.write_backs);
                (setup.drops, setup.device, setup.atomics) = (menu.drops, menu.device, menu.atomics);
            }
            (Some(menu), Self::HdmD(setup)) => {
                check_menu(&menu, [true, true, false, false, true])?;
                (setup.device, setup.host) = (menu.cache, menu.requests);
                (setup.write_backs, setup.drops, setup.atomics) = (menu.write_backs, menu.drops, menu.atomics);
            }
            (Some(_), Self::TwoLevels(..) | Self::Bridge(_) | Self::HostBridge(_) | Self::Shape(..)) => {
                let expected = "none: the operations of this exploration are fixed; those of CXL.cache, HDM-DB and HDM-D with one level can be set";
                return Err(found("--ops", "here", expected));
            }
        }
        Ok(self)
    }

    /// Options that act in it besides those of its name, where more lines are asked for.
    fn more_options(&self, scope: &ExplorationScope) -> Acting {
        match self {
            _ if scope.lines.is_none_or(|lines| lines == 1) => &[],
            Self::Cache(_) => CACHE_MORE_LINES,
            Self::HdmDb(_) => HDM_DB_MORE_LINES,
            Self::TwoLevels(..) | Self::HdmD(_) | Self::Bridge(_) | Self::HostBridge(_) | Self::Shape(..) => &[],
        }
    }

    fn start(self) -> Box<dyn Explored> {
        match self {
            Self::Cache(setup) => Box::new(cache::system(setup)),
            Self::HdmDb(setup) => Box::new(mem::system(setup)),
            Self::TwoLevels(config, devices) => Box::new(mem::two_levels(config, devices)),
            Self::HdmD(setup) => Box::new(bias::system(setup)),
            Self::Bridge(setup) => Box::new(BridgeSystem::new(setup)),
            Self::HostBridge(setup) => Box::new(HostBridgeSystem::new(setup)),
            Self::Shape(shape, agents, config) => cores(shape, agents, config),
        }
    }
}

/// An exploration.
#[derive(Debug)]
pub struct NamedExploration {
    /// Its name.
    pub name: &'static str,
    /// Who does what.
    pub doc: &'static str,
    /// Options that act in it.
    pub options: Acting,
    /// What it is, under a configuration.
    pub system: fn(CoherenceConfig) -> NamedSystem,
}

impl NamedExploration {
    /// Where it starts, with other numbers and operations.
    ///
    /// # Errors
    /// A number out of its range; an option that does nothing in this exploration; something that it does not have.
    pub fn begin(&self, config: CoherenceConfig, scope: &ExplorationScope) -> Result<Box<dyn Explored>, OutOfRange> {
        let system = (self.system)(config.clone()).scoped(scope)?;
        options::check(&config, &[self.options, system.more_options(scope)].concat())?;
        Ok(system.start())
    }

    /// Where it starts, with other operations, and one message of a class that is changed on its way. `None` where its agents carry bytes,
    /// or for operations that it does not have.
    pub fn altered(&self, scope: &ExplorationScope, class: Class, alteration: Alteration) -> Option<Box<dyn Explored>> {
        let system = self.agents(CoherenceConfig::default(), scope)?;
        Some(Box::new(Altered::new(system, class, alteration)))
    }

    /// Where it starts, with other operations, and one wrong step, or a configuration that is wrong, which is to break the rule `wanted`.
    /// `None` as for [`NamedExploration::altered`].
    pub fn misstep(
        &self,
        config: CoherenceConfig,
        scope: &ExplorationScope,
        wrong: Option<WrongStep>,
        wanted: &'static str,
    ) -> Option<Box<dyn Explored>> {
        Some(Box::new(Misstep::new(self.agents(config, scope)?, wrong, wanted)))
    }

    /// Its agents, where they carry no bytes.
    fn agents(&self, config: CoherenceConfig, scope: &ExplorationScope) -> Option<Composite> {
        match (self.system)(config).scoped(scope).ok()? {
            NamedSystem::Cache(setup) => Some(cache::system(setup)),
            NamedSystem::HdmDb(setup) => Some(mem::system(setup)),
            NamedSystem::TwoLevels(config, devices) => Some(mem::two_levels(config, devices)),
            NamedSystem::HdmD(setup) => Some(bias::system(setup)),
            NamedSystem::Bridge(_) | NamedSystem::HostBridge(_) | NamedSystem::Shape(..) => None,
        }
    }

    /// Where it starts, under a configuration that [`NamedExploration::begin`] would take.
    pub fn start(&self, config: CoherenceConfig) -> Box<dyn Explored> {
        (self.system)(config).start()
    }
}

/// A litmus shape on two agents.
macro_rules! shape {
    ($name:literal, $shape:ident, $agents:expr, $options:expr) => {
        NamedExploration {
            name: $name,
            doc: $shape.doc,
            options: $options,
            system: |config| NamedSystem::Shape(&$shape, $agents, config),
        }
    };
}

/// All of them, on one line where nothing else is said.
pub static NAMED: &[NamedExploration] = &[
    NamedExploration {
        name: "cxl-cache-2",
        doc: "two caching devices: every request of CXL.cache, silent drops, waiting stores",
        options: CACHE_DROPS,
        system: |config| NamedSystem::Cache(CacheSetup::free(config, 2, ALL_REQUESTS)),
    },
    NamedExploration {
        name: "cxl-cache-2-values",
        doc: "as cxl-cache-2, checked without the order rules V6 and V8: states and values only",
        options: CACHE_DROPS,
        system: |config| NamedSystem::Cache(CacheSetup { orders: false, ..CacheSetup::free(config, 2, ALL_REQUESTS) }),
    },
    NamedExploration {
        name: "cxl-cache-2-core",
        doc: "as cxl-cache-2, with reads and writes of the host's core",
        options: CACHE_DROPS,
        system: |config| NamedSystem::Cache(CacheSetup { core: true, ..CacheSetup::free(config, 2, ALL_REQUESTS) }),
    },
    NamedExploration {
        name: "cxl-cache-2-memory",
        doc: "as cxl-cache-2-core, with the home's memory behind a port, which it asks by messages",
        options: CACHE_MEMORY,
        system: |config| {
            NamedSystem::Cache(CacheSetup {
                memory_behind: true,
                core: true,
                ..CacheSetup::free(config, 2, ALL_REQUESTS)
            })
        },
    },
    NamedExploration {
        name: "cxl-cache-2-poison",
        doc: "two caching devices, one of which writes poison: every request of CXL.cache, reads and writes of the host's core",
        options: CACHE_DROPS,
        system: |config| {
            NamedSystem::Cache(CacheSetup {
                poisoners: IdSet::of_bits(0b10),
                core: true,
                ..CacheSetup::free(config, 2, ALL_REQUESTS)
            })
        },
    },
    NamedExploration {
        name: "cxl-cache-2-atomics",
        doc: "as cxl-cache-2, with atomics of the devices, which load and store with time between",
        options: CACHE_DROPS,
        system: |config| {
            let atomics = Some(AtomicHold::Held);
            NamedSystem::Cache(CacheSetup { atomics, ..CacheSetup::free(config, 2, ALL_REQUESTS) })
        },
    },
    NamedExploration {
        name: "cxl-cache-3",
        doc: "three caching devices: reads, ItoMWr, evicts, silent drops, waiting stores",
        options: CACHE_DROPS,
        system: |config| NamedSystem::Cache(CacheSetup::free(config, 3, HINTED_REQUESTS)),
    },
    NamedExploration {
        name: "cxl-cache-2-lines",
        doc: "two caching devices and two lines: ownership, full writes, silent drops",
        options: CACHE_LINES,
        system: |config| {
            let setup = CacheSetup::free(config, 2, &[Op::RdOwn, Op::ItoMWr]);
            NamedSystem::Cache(CacheSetup { lines: 2, waiting_stores: false, ..setup })
        },
    },
    NamedExploration {
        name: "hdm-db-2",
        doc: "two hosts of a device with back-invalidation: reads, ownership, stores, evicts",
        options: HDM_DB,
        system: |config| NamedSystem::HdmDb(MemSetup::core(config, 2)),
    },
    NamedExploration {
        name: "hdm-db-3",
        doc: "three hosts of a device with back-invalidation: reads, ownership, stores, evicts",
        options: HDM_DB,
        system: |config| NamedSystem::HdmDb(MemSetup::core(config, 3)),
    },
    NamedExploration {
        name: "hdm-db-2-all",
        doc: "two hosts: every request of CXL.mem, every write-back, stores, silent drops",
        options: HDM_DB,
        system: |config| NamedSystem::HdmDb(MemSetup { device: Vec::new(), ..MemSetup::everything(config, 2) }),
    },
    NamedExploration {
        name: "hdm-db-2-loads",
        doc: "two hosts that request ownership for waiting loads and stores",
        options: HDM_DB,
        system: |config| NamedSystem::HdmDb(MemSetup::waiting_accesses(config, 2)),
    },
    NamedExploration {
        name: "hdm-db-2-poison",
        doc: "two hosts, one of which stores poison, and the device's own cache",
        options: HDM_DB,
        system: |config| {
            NamedSystem::HdmDb(MemSetup {
                poisoners: IdSet::of_bits(0b010),
                device: OWN_CACHE.to_vec(),
                ..MemSetup::core(config, 2)
            })
        },
    },
    NamedExploration {
        name: "hdm-db-device",
        doc: "two hosts and the device's own cache",
        options: HDM_DB_OWN,
        system: |config| NamedSystem::HdmDb(MemSetup { device: OWN_CACHE.to_vec(), ..MemSetup::core(config, 2) }),
    },
    NamedExploration {
        name: "hdm-db-2-atomics",
        doc: "as hdm-db-device, with atomics of the hosts and of the device, which load and store with time between",
        options: HDM_DB_OWN,
        system: |config| {
            let (device, atomics) = (OWN_CACHE.to_vec(), Some(AtomicHold::Held));
            NamedSystem::HdmDb(MemSetup { device, atomics, ..MemSetup::core(config, 2) })
        },
    },
    NamedExploration {
        name: "hdm-db-memory",
        doc: "two hosts, the device's own cache, and the device's memory behind a port, which it asks by messages",
        options: HDM_DB_OWN,
        system: |config| {
            NamedSystem::HdmDb(MemSetup {
                memory_behind: true,
                device: OWN_CACHE.to_vec(),
                ..MemSetup::core(config, 2)
            })
        },
    },
    NamedExploration {
        name: "hdm-db-filter",
        doc: "two hosts, two lines, one entry of the snoop filter",
        options: HDM_DB_OWNERS,
        system: |config| NamedSystem::HdmDb(MemSetup::one_entry(config)),
    },
    NamedExploration {
        name: "hdm-db-block",
        doc: "a host that owns two lines, and a device that takes them back with block back-invalidates",
        options: HDM_DB_BLOCKS,
        system: |config| {
            let ops = [DeviceOp::ReadOwn, DeviceOp::ReadOnce];
            NamedSystem::HdmDb(MemSetup { device: vec![DeviceOp::Evict], ..MemSetup::blocks(config, 1, &ops) })
        },
    },
    NamedExploration {
        name: "hdm-db-uio",
        doc: "two holders of lines, and reads and writes of CXL.io peers (UIO)",
        options: HDM_DB_UIO,
        system: |config| NamedSystem::HdmDb(MemSetup::uio(config)),
    },
    NamedExploration {
        name: "hdm-db-two-levels",
        doc: "a host whose two caching devices hold lines of a device with back-invalidation, and one host more",
        options: HDM_DB_LEVELS,
        system: |config| NamedSystem::TwoLevels(config, 2),
    },
    NamedExploration {
        name: "hdm-d",
        doc: "a host and a device with bias flips both ways",
        options: HDM_D,
        system: |config| NamedSystem::HdmD(BiasSetup::everything(config)),
    },
    NamedExploration {
        name: "hdm-d-atomics",
        doc: "as hdm-d, with atomics of host and device, which load and store with time between",
        options: HDM_D,
        system: |config| {
            NamedSystem::HdmD(BiasSetup { atomics: Some(AtomicHold::Held), ..BiasSetup::everything(config) })
        },
    },
    NamedExploration {
        name: "hdm-d-poison",
        doc: "a host and a device that stores and writes poison, with bias flips both ways",
        options: HDM_D,
        system: |config| {
            NamedSystem::HdmD(BiasSetup { poisoners: IdSet::of_bits(0b01), ..BiasSetup::everything(config) })
        },
    },
    NamedExploration {
        name: "bridge",
        doc: "an accelerator behind a bridge that writes back and a host: two requests of any kind, two operations of the host",
        options: &[],
        system: |config| NamedSystem::Bridge(BridgeSetup::one_line(config, Some(StorePolicy::Back))),
    },
    NamedExploration {
        name: "bridge-of-host",
        doc: "an accelerator behind a bridge that caches lines of a host, one more such device and the core of the host: two requests of any kind, one operation of each of the others",
        options: &[],
        system: |config| NamedSystem::HostBridge(HostBridgeSetup::one_line(config, Some(StorePolicy::Back))),
    },
    NamedExploration {
        name: "bridge-of-host-uncached",
        doc: "as bridge-of-host, without a conversion cache",
        options: &[],
        system: |config| NamedSystem::HostBridge(HostBridgeSetup::one_line(config, None)),
    },
    NamedExploration {
        name: "bridge-through",
        doc: "as bridge, with a conversion cache that writes through",
        options: &[],
        system: |config| NamedSystem::Bridge(BridgeSetup::one_line(config, Some(StorePolicy::Through))),
    },
    NamedExploration {
        name: "bridge-uncached",
        doc: "as bridge, without a conversion cache",
        options: &[],
        system: |config| NamedSystem::Bridge(BridgeSetup::one_line(config, None)),
    },
    NamedExploration {
        name: "bridge-contended",
        doc: "as bridge, with a host that takes the line and gives it up without end: the accelerator gets it all the same",
        options: &[],
        system: |config| {
            let one = BridgeSetup::one_line(config, Some(StorePolicy::Back));
            NamedSystem::Bridge(BridgeSetup { host: HostMenu::Endless, ..one })
        },
    },
    NamedExploration {
        name: "bridge-2",
        doc: "as bridge, with two accelerators",
        options: &[],
        system: |config| {
            let one = BridgeSetup::one_line(config, Some(StorePolicy::Back));
            NamedSystem::Bridge(BridgeSetup { requesters: 2, ..one })
        },
    },
    NamedExploration {
        name: "bridge-poison",
        doc: "as bridge, with an accelerator that writes poison too",
        options: &[],
        system: |config| {
            let one = BridgeSetup::one_line(config, Some(StorePolicy::Back));
            NamedSystem::Bridge(BridgeSetup { poisons: true, ..one })
        },
    },
    NamedExploration {
        name: "bridge-order",
        doc: "as bridge-2-lines, with two requests of the accelerator at a time, which take effect in their order",
        options: &[],
        system: |config| {
            let one = BridgeSetup::one_line(config, Some(StorePolicy::Back));
            NamedSystem::Bridge(BridgeSetup {
                lines: 2,
                requesters: 2,
                is_one_source: true,
                host: HostMenu::Bounded(1),
                ..one
            })
        },
    },
    NamedExploration {
        name: "bridge-2-lines",
        doc: "as bridge, with two lines, a cache with room for one, and one operation of the host",
        options: &[],
        system: |config| {
            let one = BridgeSetup::one_line(config, Some(StorePolicy::Back));
            NamedSystem::Bridge(BridgeSetup { lines: 2, host: HostMenu::Bounded(1), ..one })
        },
    },
    shape!("cxl-cache-corr", CORR, LitmusAgents::Caching(StressProtocol::Cache(2)), CACHE_CORES),
    shape!("cxl-cache-coww", COWW, LitmusAgents::Caching(StressProtocol::Cache(2)), CACHE_CORES),
    shape!("cxl-cache-cowr", COWR, LitmusAgents::Caching(StressProtocol::Cache(2)), CACHE_CORES),
    shape!("cxl-cache-corw", CORW, LitmusAgents::Caching(StressProtocol::Cache(2)), CACHE_CORES),
    shape!("cxl-cache-mp", MP, LitmusAgents::Caching(StressProtocol::Cache(2)), CACHE_CORES),
    shape!("cxl-cache-sb", SB, LitmusAgents::Caching(StressProtocol::Cache(2)), CACHE_CORES),
    shape!("cxl-cache-2+2w", WW, LitmusAgents::Caching(StressProtocol::Cache(2)), CACHE_CORES),
    shape!("hdm-db-corr", CORR, LitmusAgents::Caching(StressProtocol::HdmDb(2)), HDM_DB_CORES),
    shape!("hdm-db-coww", COWW, LitmusAgents::Caching(StressProtocol::HdmDb(2)), HDM_DB_CORES),
    shape!("hdm-db-cowr", COWR, LitmusAgents::Caching(StressProtocol::HdmDb(2)), HDM_DB_CORES),
    shape!("hdm-db-corw", CORW, LitmusAgents::Caching(StressProtocol::HdmDb(2)), HDM_DB_CORES),
    shape!("hdm-db-mp", MP, LitmusAgents::Caching(StressProtocol::HdmDb(2)), HDM_DB_CORES),
    shape!("hdm-db-sb", SB, LitmusAgents::Caching(StressProtocol::HdmDb(2)), HDM_DB_CORES),
    shape!("hdm-db-2+2w", WW, LitmusAgents::Caching(StressProtocol::HdmDb(2)), HDM_DB_CORES),
    shape!("hdm-d-corr", CORR, LitmusAgents::Caching(StressProtocol::HdmD), HDM_D_CORES),
    shape!("hdm-d-coww", COWW, LitmusAgents::Caching(StressProtocol::HdmD), HDM_D_CORES),
    shape!("hdm-d-cowr", COWR, LitmusAgents::Caching(StressProtocol::HdmD), HDM_D_CORES),
    shape!("hdm-d-corw", CORW, LitmusAgents::Caching(StressProtocol::HdmD), HDM_D_CORES),
    shape!("hdm-d-mp", MP, LitmusAgents::Caching(StressProtocol::HdmD), HDM_D_CORES),
    shape!("hdm-d-sb", SB, LitmusAgents::Caching(StressProtocol::HdmD), HDM_D_CORES),
    shape!("hdm-d-2+2w", WW, LitmusAgents::Caching(StressProtocol::HdmD), HDM_D_CORES),
    shape!("bridge-corr", CORR, LitmusAgents::Bridge(BridgeAgents::beside_a_host(1)), HDM_DB_CORES),
    shape!("bridge-coww", COWW, LitmusAgents::Bridge(BridgeAgents::beside_a_host(1)), HDM_DB_CORES),
    shape!("bridge-cowr", COWR, LitmusAgents::Bridge(BridgeAgents::beside_a_host(1)), HDM_DB_CORES),
    shape!("bridge-corw", CORW, LitmusAgents::Bridge(BridgeAgents::beside_a_host(1)), HDM_DB_CORES),
    shape!("bridge-mp", MP, LitmusAgents::Bridge(BridgeAgents::beside_a_host(1)), HDM_DB_CORES),
    shape!("bridge-sb", SB, LitmusAgents::Bridge(BridgeAgents::beside_a_host(1)), HDM_DB_CORES),
    shape!("bridge-2+2w", WW, LitmusAgents::Bridge(BridgeAgents::beside_a_host(1)), HDM_DB_CORES),
];

/// What the device's own cache does.
const OWN_CACHE: &[DeviceOp] = &[DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict];

/// The exploration of a name.
pub fn find(name: &str) -> Option<&'static NamedExploration> {
    NAMED.iter().find(|n| n.name == name)
}
