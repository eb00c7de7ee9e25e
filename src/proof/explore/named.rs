//! The explorations by name.

use super::options::{self, *};
use super::{ExplorationReport, ExploredSystem, Limits, search_with};
use crate::flows::{FlowError, play};
use crate::litmus::cores::start as cores;
use crate::litmus::shapes::{CORR, CORW, COWR, COWW, MP, SB, WW};
use crate::stress::StressProtocol;
use crate::systems::bias::{self, Setup as BiasSetup};
use crate::systems::cache::{self, ALL_REQUESTS, HINTED_REQUESTS, Setup as CacheSetup};
use crate::systems::mem::{self, Setup as MemSetup};
use scalepool_coherence::chart::Chart;
use scalepool_coherence::config::{CoherenceConfig, OutOfRange};
use scalepool_coherence::ids::IdSet;
use scalepool_coherence::mem::DeviceOp;
use scalepool_protocols::cxl::cxl256::code::D2hReqOpcode as Op;

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

/// An exploration.
#[derive(Debug)]
pub struct NamedExploration {
    /// Its name.
    pub name: &'static str,
    /// Who does what.
    pub doc: &'static str,
    /// Options that act in it.
    pub options: Acting,
    /// Where it starts, under a configuration that [`NamedExploration::begin`] would take.
    pub start: fn(CoherenceConfig) -> Box<dyn Explored>,
}

impl NamedExploration {
    /// Where it starts.
    ///
    /// # Errors
    /// A number out of its range, an option that does nothing in this exploration.
    pub fn begin(&self, config: CoherenceConfig) -> Result<Box<dyn Explored>, OutOfRange> {
        options::check(&config, self.options)?;
        Ok((self.start)(config))
    }
}

fn cache(setup: CacheSetup) -> Box<dyn Explored> {
    Box::new(cache::system(setup))
}

fn mem(setup: MemSetup) -> Box<dyn Explored> {
    Box::new(mem::system(setup))
}

/// A litmus shape on two agents.
macro_rules! shape {
    ($name:literal, $shape:ident, $protocol:expr, $options:expr) => {
        NamedExploration {
            name: $name,
            doc: $shape.doc,
            options: $options,
            start: |config| cores(&$shape, $protocol, config),
        }
    };
}

/// All of them, on one line where nothing else is said.
pub static NAMED: &[NamedExploration] = &[
    NamedExploration {
        name: "cxl-cache-2",
        doc: "two caching devices: every request of CXL.cache, silent drops, waiting stores",
        options: CACHE_DROPS,
        start: |config| cache(CacheSetup::free(config, 2, ALL_REQUESTS)),
    },
    NamedExploration {
        name: "cxl-cache-2-values",
        doc: "as cxl-cache-2, checked without the order rules V6 and V8: states and values only",
        options: CACHE_DROPS,
        start: |config| cache(CacheSetup { orders: false, ..CacheSetup::free(config, 2, ALL_REQUESTS) }),
    },
    NamedExploration {
        name: "cxl-cache-2-core",
        doc: "as cxl-cache-2, with reads and writes of the host's core",
        options: CACHE_DROPS,
        start: |config| cache(CacheSetup { core: true, ..CacheSetup::free(config, 2, ALL_REQUESTS) }),
    },
    NamedExploration {
        name: "cxl-cache-2-memory",
        doc: "as cxl-cache-2-core, with the home's memory behind a port, which it asks by messages",
        options: CACHE_MEMORY,
        start: |config| {
            cache(CacheSetup { memory_behind: true, core: true, ..CacheSetup::free(config, 2, ALL_REQUESTS) })
        },
    },
    NamedExploration {
        name: "cxl-cache-2-poison",
        doc: "two caching devices, one of which writes poison: every request of CXL.cache, reads and writes of the host's core",
        options: CACHE_DROPS,
        start: |config| {
            cache(CacheSetup {
                poisoners: IdSet::of_bits(0b10),
                core: true,
                ..CacheSetup::free(config, 2, ALL_REQUESTS)
            })
        },
    },
    NamedExploration {
        name: "cxl-cache-3",
        doc: "three caching devices: reads, ItoMWr, evicts, silent drops, waiting stores",
        options: CACHE_DROPS,
        start: |config| cache(CacheSetup::free(config, 3, HINTED_REQUESTS)),
    },
    NamedExploration {
        name: "cxl-cache-2-lines",
        doc: "two caching devices and two lines: ownership, full writes, silent drops",
        options: CACHE_LINES,
        start: |config| {
            let setup = CacheSetup::free(config, 2, &[Op::RdOwn, Op::ItoMWr]);
            cache(CacheSetup { lines: 2, waiting_stores: false, ..setup })
        },
    },
    NamedExploration {
        name: "hdm-db-2",
        doc: "two hosts of a device with back-invalidation: reads, ownership, stores, evicts",
        options: HDM_DB,
        start: |config| mem(MemSetup::core(config, 2)),
    },
    NamedExploration {
        name: "hdm-db-3",
        doc: "three hosts of a device with back-invalidation: reads, ownership, stores, evicts",
        options: HDM_DB,
        start: |config| mem(MemSetup::core(config, 3)),
    },
    NamedExploration {
        name: "hdm-db-2-all",
        doc: "two hosts: every request of CXL.mem, every write-back, stores, silent drops",
        options: HDM_DB,
        start: |config| mem(MemSetup { device: Vec::new(), ..MemSetup::everything(config, 2) }),
    },
    NamedExploration {
        name: "hdm-db-2-loads",
        doc: "two hosts that request ownership for waiting loads and stores",
        options: HDM_DB,
        start: |config| mem(MemSetup::waiting_accesses(config, 2)),
    },
    NamedExploration {
        name: "hdm-db-2-poison",
        doc: "two hosts, one of which stores poison, and the device's own cache",
        options: HDM_DB,
        start: |config| {
            mem(MemSetup { poisoners: IdSet::of_bits(0b010), device: OWN_CACHE.to_vec(), ..MemSetup::core(config, 2) })
        },
    },
    NamedExploration {
        name: "hdm-db-device",
        doc: "two hosts and the device's own cache",
        options: HDM_DB_OWN,
        start: |config| mem(MemSetup { device: OWN_CACHE.to_vec(), ..MemSetup::core(config, 2) }),
    },
    NamedExploration {
        name: "hdm-db-memory",
        doc: "two hosts, the device's own cache, and the device's memory behind a port, which it asks by messages",
        options: HDM_DB_OWN,
        start: |config| mem(MemSetup { memory_behind: true, device: OWN_CACHE.to_vec(), ..MemSetup::core(config, 2) }),
    },
    NamedExploration {
        name: "hdm-db-filter",
        doc: "two hosts, two lines, one entry of the snoop filter",
        options: HDM_DB_OWNERS,
        start: |config| mem(MemSetup::one_entry(config)),
    },
    NamedExploration {
        name: "hdm-db-block",
        doc: "a host that owns two lines, and a device that takes them back with block back-invalidates",
        options: HDM_DB_BLOCKS,
        start: |config| {
            let ops = [DeviceOp::ReadOwn, DeviceOp::ReadOnce];
            mem(MemSetup { device: vec![DeviceOp::Evict], ..MemSetup::blocks(config, 1, &ops) })
        },
    },
    NamedExploration {
        name: "hdm-db-uio",
        doc: "two holders of lines, and reads and writes of CXL.io peers (UIO)",
        options: HDM_DB_UIO,
        start: |config| mem(MemSetup::uio(config)),
    },
    NamedExploration {
        name: "hdm-db-two-levels",
        doc: "a host whose two caching devices hold lines of a device with back-invalidation, and one host more",
        options: HDM_DB_LEVELS,
        start: |config| Box::new(mem::two_levels(config, 2)),
    },
    NamedExploration {
        name: "hdm-d",
        doc: "a host and a device with bias flips both ways",
        options: HDM_D,
        start: |config| Box::new(bias::system(BiasSetup::everything(config))),
    },
    NamedExploration {
        name: "hdm-d-poison",
        doc: "a host and a device that stores and writes poison, with bias flips both ways",
        options: HDM_D,
        start: |config| {
            Box::new(bias::system(BiasSetup { poisoners: IdSet::of_bits(0b01), ..BiasSetup::everything(config) }))
        },
    },
    shape!("cxl-cache-corr", CORR, StressProtocol::Cache(2), CACHE_CORES),
    shape!("cxl-cache-coww", COWW, StressProtocol::Cache(2), CACHE_CORES),
    shape!("cxl-cache-cowr", COWR, StressProtocol::Cache(2), CACHE_CORES),
    shape!("cxl-cache-corw", CORW, StressProtocol::Cache(2), CACHE_CORES),
    shape!("cxl-cache-mp", MP, StressProtocol::Cache(2), CACHE_CORES),
    shape!("cxl-cache-sb", SB, StressProtocol::Cache(2), CACHE_CORES),
    shape!("cxl-cache-2+2w", WW, StressProtocol::Cache(2), CACHE_CORES),
    shape!("hdm-db-corr", CORR, StressProtocol::HdmDb(2), HDM_DB_CORES),
    shape!("hdm-db-coww", COWW, StressProtocol::HdmDb(2), HDM_DB_CORES),
    shape!("hdm-db-cowr", COWR, StressProtocol::HdmDb(2), HDM_DB_CORES),
    shape!("hdm-db-corw", CORW, StressProtocol::HdmDb(2), HDM_DB_CORES),
    shape!("hdm-db-mp", MP, StressProtocol::HdmDb(2), HDM_DB_CORES),
    shape!("hdm-db-sb", SB, StressProtocol::HdmDb(2), HDM_DB_CORES),
    shape!("hdm-db-2+2w", WW, StressProtocol::HdmDb(2), HDM_DB_CORES),
    shape!("hdm-d-corr", CORR, StressProtocol::HdmD, HDM_D_CORES),
    shape!("hdm-d-coww", COWW, StressProtocol::HdmD, HDM_D_CORES),
    shape!("hdm-d-cowr", COWR, StressProtocol::HdmD, HDM_D_CORES),
    shape!("hdm-d-corw", CORW, StressProtocol::HdmD, HDM_D_CORES),
    shape!("hdm-d-mp", MP, StressProtocol::HdmD, HDM_D_CORES),
    shape!("hdm-d-sb", SB, StressProtocol::HdmD, HDM_D_CORES),
    shape!("hdm-d-2+2w", WW, StressProtocol::HdmD, HDM_D_CORES),
];

/// What the device's own cache does.
const OWN_CACHE: &[DeviceOp] = &[DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict];

/// The exploration of a name.
pub fn find(name: &str) -> Option<&'static NamedExploration> {
    NAMED.iter().find(|n| n.name == name)
}
