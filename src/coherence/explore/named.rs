//! The explorations by name.

use super::{Limits, Report, System, search_with};
use crate::coherence::bias::system::{BiasSystem, Setup as BiasSetup};
use crate::coherence::cache::system::{ALL_REQUESTS, CacheSystem, HINTED_REQUESTS, Setup as CacheSetup};
use crate::coherence::chart::Chart;
use crate::coherence::config::CoherenceConfig;
use crate::coherence::flows::{FlowError, play};
use crate::coherence::litmus::cores::start as cores;
use crate::coherence::litmus::shapes::{CORR, CORW, COWR, COWW, MP, SB, WW};
use crate::coherence::mem::DeviceOp;
use crate::coherence::mem::system::{MemSystem, Setup as MemSetup};
use crate::coherence::stress::Protocol;

/// A start that can be searched, whatever its agents are.
pub trait Explored {
    /// Visits every state; `progress` sees the counts now and then.
    fn search(&self, limits: Limits, progress: &mut dyn FnMut(&Report)) -> Report;

    /// Follows a script, as [`Violation::script`](super::Violation::script) has it.
    ///
    /// # Errors
    /// A step that is not possible, a rule that is broken.
    fn follow(&self, script: &[&str]) -> Result<Chart, FlowError>;
}

impl<S: System> Explored for S {
    fn search(&self, limits: Limits, progress: &mut dyn FnMut(&Report)) -> Report {
        search_with(self, limits, progress)
    }

    fn follow(&self, script: &[&str]) -> Result<Chart, FlowError> {
        play("script", self.clone(), script)
    }
}

/// An exploration.
#[derive(Debug)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// Who does what.
    pub doc: &'static str,
    /// Where it starts, under a configuration.
    pub start: fn(CoherenceConfig) -> Box<dyn Explored>,
}

fn cache(setup: CacheSetup) -> Box<dyn Explored> {
    Box::new(CacheSystem::new(setup))
}

fn mem(setup: MemSetup) -> Box<dyn Explored> {
    Box::new(MemSystem::new(setup))
}

/// All of them, on one line where nothing else is said.
pub static NAMED: &[Named] = &[
    Named {
        name: "cxl-cache-2",
        doc: "two caching devices, every request of CXL.cache, drops, waiting stores",
        start: |config| cache(CacheSetup::free(config, 2, ALL_REQUESTS)),
    },
    Named {
        name: "cxl-cache-2-values",
        doc: "the same without the order rules V6 and V8: states and values alone",
        start: |config| cache(CacheSetup { orders: false, ..CacheSetup::free(config, 2, ALL_REQUESTS) }),
    },
    Named {
        name: "cxl-cache-2-core",
        doc: "the same with reads and writes of the host's core",
        start: |config| cache(CacheSetup { core: true, ..CacheSetup::free(config, 2, ALL_REQUESTS) }),
    },
    Named {
        name: "cxl-cache-3",
        doc: "three caching devices: reads, ItoMWr, evicts, drops, waiting stores",
        start: |config| cache(CacheSetup::free(config, 3, HINTED_REQUESTS)),
    },
    Named {
        name: "hdm-db-2",
        doc: "two hosts of a device with back-invalidation: reads, ownership, stores, evicts",
        start: |config| mem(MemSetup::core(config, 2)),
    },
    Named { name: "hdm-db-3", doc: "the same with three hosts", start: |config| mem(MemSetup::core(config, 3)) },
    Named {
        name: "hdm-db-device",
        doc: "two hosts and the device's own cache",
        start: |config| mem(MemSetup { device: OWN_CACHE.to_vec(), ..MemSetup::core(config, 2) }),
    },
    Named {
        name: "hdm-db-filter",
        doc: "two hosts, two lines, one entry of the snoop filter",
        start: |config| mem(MemSetup::one_entry(config)),
    },
    Named {
        name: "hdm-db-block",
        doc: "a host owns two lines, the device takes them back with block back-invalidates",
        start: |config| {
            let ops = [DeviceOp::ReadOwn, DeviceOp::ReadOnce];
            mem(MemSetup { device: vec![DeviceOp::Evict], ..MemSetup::blocks(config, 1, &ops) })
        },
    },
    Named {
        name: "hdm-db-uio",
        doc: "two holders and reads and writes of CXL.io peers (UIO)",
        start: |config| mem(MemSetup::uio(config)),
    },
    Named {
        name: "hdm-d",
        doc: "a host and a device with bias flips both ways",
        start: |config| Box::new(BiasSystem::new(BiasSetup::everything(config))),
    },
    shape("cxl-cache-corr", "loads of a core see the stores to a line in their order", |config| {
        cores(&CORR, Protocol::Cache(2), config)
    }),
    shape("cxl-cache-coww", "stores of a core to a line have the core's order", |config| {
        cores(&COWW, Protocol::Cache(2), config)
    }),
    shape("cxl-cache-cowr", "a core loads its own store or a later one", |config| {
        cores(&COWR, Protocol::Cache(2), config)
    }),
    shape("cxl-cache-corw", "a load does not see a later store of its own core", |config| {
        cores(&CORW, Protocol::Cache(2), config)
    }),
    shape("cxl-cache-mp", "who sees the flag sees the data", |config| cores(&MP, Protocol::Cache(2), config)),
    shape("cxl-cache-sb", "of two cores that store and then load what the other stored, one sees it", |config| {
        cores(&SB, Protocol::Cache(2), config)
    }),
    shape("cxl-cache-2+2w", "two cores that store to two lines in turn agree on one order", |config| {
        cores(&WW, Protocol::Cache(2), config)
    }),
    shape("hdm-db-corr", "loads of a core see the stores to a line in their order", |config| {
        cores(&CORR, Protocol::HdmDb(2), config)
    }),
    shape("hdm-db-coww", "stores of a core to a line have the core's order", |config| {
        cores(&COWW, Protocol::HdmDb(2), config)
    }),
    shape("hdm-db-cowr", "a core loads its own store or a later one", |config| {
        cores(&COWR, Protocol::HdmDb(2), config)
    }),
    shape("hdm-db-corw", "a load does not see a later store of its own core", |config| {
        cores(&CORW, Protocol::HdmDb(2), config)
    }),
    shape("hdm-db-mp", "who sees the flag sees the data", |config| cores(&MP, Protocol::HdmDb(2), config)),
    shape("hdm-db-sb", "of two cores that store and then load what the other stored, one sees it", |config| {
        cores(&SB, Protocol::HdmDb(2), config)
    }),
    shape("hdm-db-2+2w", "two cores that store to two lines in turn agree on one order", |config| {
        cores(&WW, Protocol::HdmDb(2), config)
    }),
    shape("hdm-d-corr", "loads of a core see the stores to a line in their order", |config| {
        cores(&CORR, Protocol::HdmD, config)
    }),
    shape("hdm-d-coww", "stores of a core to a line have the core's order", |config| {
        cores(&COWW, Protocol::HdmD, config)
    }),
    shape("hdm-d-cowr", "a core loads its own store or a later one", |config| cores(&COWR, Protocol::HdmD, config)),
    shape("hdm-d-corw", "a load does not see a later store of its own core", |config| {
        cores(&CORW, Protocol::HdmD, config)
    }),
    shape("hdm-d-mp", "who sees the flag sees the data", |config| cores(&MP, Protocol::HdmD, config)),
    shape("hdm-d-sb", "of two cores that store and then load what the other stored, one sees it", |config| {
        cores(&SB, Protocol::HdmD, config)
    }),
    shape("hdm-d-2+2w", "two cores that store to two lines in turn agree on one order", |config| {
        cores(&WW, Protocol::HdmD, config)
    }),
];

/// A litmus shape on two agents.
const fn shape(name: &'static str, doc: &'static str, start: fn(CoherenceConfig) -> Box<dyn Explored>) -> Named {
    Named { name, doc, start }
}

/// What the device's own cache does.
const OWN_CACHE: &[DeviceOp] = &[DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict];

/// The exploration of a name.
pub fn find(name: &str) -> Option<&'static Named> {
    NAMED.iter().find(|n| n.name == name)
}
