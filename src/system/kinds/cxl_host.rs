//! `cxl.host`: a core with a cache that uses the memory of a device, see [`scalepool_nodes::cxl::host`].

use crate::field::{Config, Range, config};
use crate::kind::{
    Component, ComponentKind, Finding, Measured, Node, NodeError, Plug, PortDecl, Role, Site, component,
};
use crate::quantity::Unit;
use scalepool_memory::LINE_BYTES;
use scalepool_memory::cache::{Cache, CacheConfig};
use scalepool_nodes::cxl::host::{Host, HostChannels, HostConfig, HostPorts, HostResult, LineSource};
use scalepool_nodes::cxl::{BACKGROUND, transaction_layouts};
use scalepool_nodes::stimulus::{self, Access, LineAccess, Mix, Op, ParameterError, Region};
use scalepool_trace::{Hub, PlaceKind};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.host",
    about: "core with a cache that reads and writes the memory of a CXL device; its port is `cxl`",
    fields: CxlHost::fields,
    read: component::<CxlHost>,
    external: &["flits"],
};

config! {
    /// The cache of a host.
    pub struct HostCache {
        size: u64 = "32 KiB" [Unit::Bytes] in Range::Int(0, 1 << 32), "size of the host cache; 0 = no cache";
        ways: u32 = "8" [Unit::Of("ways")] in Range::Int(1, 1024), "ways of the cache, LRU";
    }
}

config! {
    /// What a host is asked to do.
    pub struct HostStimulus {
        kind: String = "generated" [Unit::Of("-")] in Range::Words(&["generated", "trace"]), "where accesses come from; trace = the file";
        file: String = "" [Unit::Of("-")] in Range::Text("path of a memory trace, relative to the description"), "memory trace: valgrind lackey text or CSV, plain or .gz";
        ifetch: bool = "on" [Unit::Of("-")] in Range::Switch, "treat instruction fetches of a trace as loads";
        pattern: String = "reads" [Unit::Of("-")] in Range::Words(&["reads", "writes", "mix"]), "generated accesses if there is no --stimulus; mix = two reads per write";
        accesses: u64 = "10000" [Unit::Of("line accesses")] in Range::Int(1, 1 << 24), "number of generated accesses";
        region_lines: u64 = "65536" [Unit::Of("lines")] in Range::Int(1, 1 << 40), "size of the region that generated accesses use";
    }
}

config! {
    /// A host. Numbers without another source are of the model (basis: model).
    pub struct CxlHost {
        outstanding: usize = "64" [Unit::Of("misses")] in Range::Int(1, 32768), "open misses";
        cache: HostCache = "" [Unit::Of("-")] in Range::Table(HostCache::fields), "cache in front of the accesses of a trace; generated ones go past it, to load the link";
        stimulus: HostStimulus = "" [Unit::Of("-")] in Range::Table(HostStimulus::fields), "what the host does";
    }
}

impl CxlHost {
    fn cache_config(&self) -> CacheConfig {
        CacheConfig { capacity_bytes: self.cache.size, ways: self.cache.ways }
    }
}

impl Component for CxlHost {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "cxl", len: None, links: super::cxl_links::NAMES, role: Role::Host }]
    }

    fn check(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let given = !self.stimulus.file.is_empty();
        if given != (self.stimulus.kind == "trace") {
            let text = "found a file without kind = \"trace\", or that kind without a file, expected both or none";
            found.push(("stimulus.file", text.to_owned()));
        }
        found
    }

    fn takes_stimulus(&self) -> bool {
        true
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<Node, NodeError> {
        let (name, port) = (format!("{}.core", site.path), &site.ports[0]);
        let (form, port_ids) = port.link.cxl();
        let file = site.stimulus.clone().or_else(|| self.stimulus.file_in(&site.folder));
        let accesses = accesses(&self.stimulus, file, port.peer.memory_bytes, site.clock.period())?;
        // Generated accesses are there to load the link, so no cache stands in their way.
        let has_cache = accesses.cached && self.cache.size > 0;
        let config = HostConfig {
            place: name.clone(),
            accesses: accesses.list,
            absolute_cycles: accesses.absolute,
            cache: has_cache.then(|| Cache::new(self.cache_config())).transpose()?,
            outstanding: self.outstanding,
            background: BACKGROUND,
            ports: HostPorts { own: port_ids[0], device: port_ids[1] },
            form,
        };
        let tap = hub.tap(&name, PlaceKind::Messages(transaction_layouts(form)));
        let result: Arc<Mutex<HostResult>> = Arc::default();
        let shared = result.clone();
        Ok(Node {
            place: Box::new(move |p, clock, plugs| {
                let Some((tx, rx)) = plugs.into_iter().map(Plug::cxl).next() else { return Ok(()) };
                p.module(&name, clock, |bind| {
                    let channels = HostChannels { tx: bind.attach(tx), rx: bind.attach(rx) };
                    Host::new(config, channels, bind.rng(), tap, shared)
                })
            }),
            measure: Box::new(move || measured(&super::published(&result))),
            digest: accesses.digest.to_vec(),
            ledger: None,
        })
    }
}

fn measured(host: &HostResult) -> Measured {
    Measured {
        counts: vec![
            ("line accesses", host.accesses),
            ("cache hits", host.hits),
            ("reads", host.misses),
            ("writes", host.writes),
            ("host stall cycles", host.stall_cycles),
        ],
        bytes: host.bytes,
        latencies: host.latencies.clone(),
        broken: host.broken.clone(),
        ..Measured::default()
    }
}

impl HostStimulus {
    /// The file of the description, relative to its folder.
    fn file_in(&self, folder: &Path) -> Option<PathBuf> {
        (self.kind == "trace").then(|| folder.join(&self.file))
    }
}

/// Latest time of an access \[fs\], 2.5 hours: the half of what 64 bits hold, so what follows it has a time too.
const LATEST_ACCESS_FS: u64 = u64::MAX / 2;

/// Accesses in program order.
struct Accesses {
    list: LineSource,
    /// Their cycles are times of their own.
    absolute: bool,
    /// Bytes that name the stimulus, for the hash of the run.
    digest: [u8; 32],
    /// They go through the cache of the host.
    cached: bool,
}

/// Reads or makes them; addresses are taken modulo the memory of the device.
fn accesses(
    stimulus: &HostStimulus,
    file: Option<PathBuf>,
    memory_bytes: Option<u64>,
    period: (u64, u64),
) -> Result<Accesses, NodeError> {
    let size = memory_bytes.unwrap_or(u64::MAX - u64::MAX % LINE_BYTES);
    match file {
        Some(path) => {
            let raw = stimulus::read_trace(&path, None)?;
            let absolute = raw.iter().any(|a| a.at_cycles.is_some());
            judged(stimulus::in_memory(raw), absolute, true, stimulus.ifetch, size, period)
        }
        None => {
            let mix = match stimulus.pattern.as_str() {
                "reads" => Mix::Reads,
                "writes" => Mix::Writes,
                _ => Mix::TwoToOne,
            };
            let region = Region::new(0, stimulus.region_lines.min(size / LINE_BYTES))?;
            let raw = stimulus::saturated(mix, region, stimulus.accesses);
            judged(raw, true, false, stimulus.ifetch, size, period)
        }
    }
}

/// Names and checks them, and cuts them into lines when these are asked for.
fn judged(
    raw: impl Iterator<Item = Access> + Clone + Send + 'static,
    absolute: bool,
    cached: bool,
    ifetch: bool,
    size: u64,
    (num, den): (u64, u64),
) -> Result<Accesses, NodeError> {
    let mut sha = Sha256::new();
    let latest_cycle = LATEST_ACCESS_FS / num.div_ceil(den);
    for a in raw.clone() {
        if let Some(found) = a.at_cycles.filter(|&cycle| cycle > latest_cycle) {
            let expected = "a cycle of the host's clock before 2^63 fs";
            return Err(ParameterError { parameter: "time of an access", found, expected }.into());
        }
        let op = match a.op {
            Op::Ifetch => 0u8,
            Op::Load => 1,
            Op::Store => 2,
            Op::Modify => 3,
        };
        let mut bytes = [0; 21];
        bytes[..8].copy_from_slice(&a.at_cycles.unwrap_or(u64::MAX).to_le_bytes());
        bytes[8] = op;
        bytes[9..17].copy_from_slice(&a.address.to_le_bytes());
        bytes[17..].copy_from_slice(&a.size_bytes.to_le_bytes());
        sha.update(bytes);
    }
    let lines = stimulus::line_accesses(raw, ifetch);
    let list = Box::new(lines.map(move |a| LineAccess { line_address: a.line_address % size, ..a }));
    Ok(Accesses { list, absolute, digest: sha.finalize().into(), cached })
}
