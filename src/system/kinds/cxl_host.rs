//! `cxl.host`: a core with a cache that uses the memory of a device, see [`scalepool_nodes::cxl::host`].

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError, Offer, PortDecl,
    PortRole, Site, SitePort, component,
};
use crate::kinds::cxl_coherent::hdm_db_host::ThrottleConfig;
use crate::measured::ComponentMeasured;
use crate::memory_map::{Span, shown};
use crate::metric::{MetricValue, metrics};
use crate::quantity::Unit;
use scalepool_kernel::{Clock, Rng, Time};
use scalepool_memory::LINE_BYTES;
use scalepool_memory::cache::{Cache, CacheConfig};
use scalepool_memory::decoder::ADDRESS_END;
use scalepool_nodes::cxl::host::{Host, HostChannels, HostConfig, HostErrors, HostPorts, HostResult, HostThrottled};
use scalepool_nodes::cxl::isolation::IsolationControl;
use scalepool_nodes::cxl::isolation_registers::{TIMEOUT_NAMES, TimeoutRange};
use scalepool_nodes::cxl::{BACKGROUND, transaction_layouts};
use scalepool_nodes::stimulus::{
    self, HostProgram, LineRegion, LineSource, Mix, ParameterError, RegionTraffic, StimulusAccess, StimulusOp,
};
use scalepool_trace::{Hub, PlaceKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.host",
    about: "core with a cache that reads and writes the memory of CXL devices; its port is `cxl`, or its ports are `cxl[n]`",
    fields: CxlHost::fields,
    read: component::<CxlHost>,
    external: &["flits", "messages"],
    metrics: &[METRICS],
};

metrics! {
    /// What a host counts.
    static METRICS {
        ACCESSES = "line accesses" ["accesses"] Sum, "accesses of the stimulus, each to one line";
        HITS = "cache hits" ["accesses"] Sum, "accesses that the cache of the host answered";
        READS = "reads" ["requests"] Sum, "lines read from memory";
        WRITES = "writes" ["requests"] Sum, "lines written to memory";
        NOT_DECODED = "reads not decoded" ["requests"] Sum, "reads of addresses that nothing decodes, of a host with a time-out";
        TIMED_OUT = "requests timed out" ["requests"] Sum, "requests whose answer has not come in time, of a host with a time-out";
        LATE = "late answers" ["answers"] Sum, "answers to requests that had timed out, which are dropped";
        ISOLATED_READS = "reads isolated" ["requests"] Sum, "reads that ended with poisoned data at an isolated root port (fabric ISO-3)";
        ISOLATED_WRITES = "writes isolated" ["requests"] Sum, "writes that were completed at an isolated root port, and are lost (fabric ISO-3)";
        SPACED = "requests spaced" ["requests"] Sum, "requests behind which the host left idle cycles, since the memory was overloaded (fabric QOS-3)";
        LIGHT = "answers of light load" ["answers"] Sum, "answers with DevLoad light, of a host that heeds it";
        OPTIMAL = "answers of optimal load" ["answers"] Sum, "answers with DevLoad optimal";
        MODERATE = "answers of moderate load" ["answers"] Sum, "answers with DevLoad moderate overload";
        SEVERE = "answers of severe load" ["answers"] Sum, "answers with DevLoad severe overload";
        THROTTLE_MOST = "throttle most" ["step"] Largest, "most idle cycles between two requests";
        STALLS = "host stall cycles" ["cycles"] Sum, "cycles of the host in which an access was due and could not begin";
    }
}

config! {
    /// The cache of a host.
    pub struct HostCache {
        size: u64 = "32 KiB" [Unit::Bytes] in FieldRange::Int(0, 1 << 32), "size of the host cache; 0 = no cache";
        ways: u32 = "8" [Unit::Of("ways")] in FieldRange::Int(1, 1024), "ways of the cache, LRU";
    }
}

config! {
    /// What a host is asked to do.
    pub struct HostStimulus {
        kind: String = "generated" [Unit::Of("-")] in FieldRange::Words(&["generated", "trace"]), "where accesses come from; trace = the file";
        file: String = "" [Unit::Of("-")] in FieldRange::Text("path of a memory trace, relative to the description"), "memory trace, plain or .gz: valgrind lackey text, or CSV with the columns time, op, address, size, as `0,read,0x1000,64`: time in host cycles, never falling; op r, read, w or write; the first line may be a header with these names, and without one the columns are the same";
        ifetch: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "treat instruction fetches of a trace as loads";
        pattern: String = "reads" [Unit::Of("-")] in FieldRange::Words(&["reads", "writes", "mix"]), "generated accesses if there is no --stimulus; mix = two reads per write";
        accesses: u64 = "10000" [Unit::Of("line accesses")] in FieldRange::Int(1, 1 << 24), "number of generated accesses";
        region_lines: u64 = "65536" [Unit::Of("lines")] in FieldRange::Int(1, 1 << 40), "size of the region that generated accesses use";
        order: String = "in-turn" [Unit::Of("-")] in FieldRange::Words(&["in-turn", "random"]), "in-turn: the lines of the region in ascending order, then again from the first; random: any line of it for each access";
        interval: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 50), "mean time between two generated accesses, rounded down to cycles; not given = all are due at once";
        base: Option<u64> = "" [Unit::Bytes] in FieldRange::Int(0, ADDRESS_END - 1), "first system address of the region of generated accesses; not given = the lowest one that leads to memory, and holes are left out";
    }
}

config! {
    /// A host. Numbers without another source are of the model (basis: model).
    pub struct CxlHost {
        ports: Option<usize> = "" [Unit::Of("ports")] in FieldRange::Int(1, 16), "root ports `cxl[n]`, which lead where the windows of the memory map say; not given = the one port `cxl`";
        timeout: Option<u64> = "" [Unit::Time] in FieldRange::Int(1, 1 << 50), "time after which a request without an answer ends with an error that is counted, as at a root port with isolation (fabric ISO-1); reads that nothing decodes end so too; not given = both are findings, and a request without an answer stalls the run";
        timeout_range: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(TIMEOUT_NAMES), "timeout by its code in the control register of a root port: the geometric middle of its range, from 71 us (A1) to 33 s (DE) (fabric ISO-1); in place of timeout";
        isolate_on: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["timeout"]), "what isolates a root port for the rest of the run: all requests there, open and new ones, then end at once, reads with poisoned data, writes as if they were done, and nothing goes to the link (fabric ISO-2, ISO-3); not given = nothing";
        outstanding: usize = "64" [Unit::Of("misses")] in FieldRange::Int(1, 32768), "cache misses that can be outstanding";
        throttle: ThrottleConfig = "" [Unit::Of("-")] in FieldRange::Table(ThrottleConfig::fields), "what it does about the load that memories tell, of each memory by itself (fabric QOS-3)";
        cache: HostCache = "" [Unit::Of("-")] in FieldRange::Table(HostCache::fields), "cache in front of the accesses of a trace; generated ones go past it, to load the link";
        stimulus: HostStimulus = "" [Unit::Of("-")] in FieldRange::Table(HostStimulus::fields), "what the host does";
    }
}

impl CxlHost {
    /// Time-out of requests \[fs\].
    fn timeout_fs(&self) -> Option<u64> {
        let range = self.timeout_range.as_deref().and_then(TimeoutRange::by_name);
        self.timeout.or(range.map(TimeoutRange::preset_fs))
    }

    fn cache_config(&self) -> CacheConfig {
        CacheConfig { capacity_bytes: self.cache.size, ways: self.cache.ways }
    }
}

impl Component for CxlHost {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "cxl", len: self.ports, links: super::cxl_links::NAMES, role: PortRole::Host }]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let mut found = Vec::new();
        let given = !self.stimulus.file.is_empty();
        if given != (self.stimulus.kind == "trace") {
            let text = "found a file without kind = \"trace\", or that kind without a file, expected both or none";
            found.push(("stimulus.file", text.to_owned()));
        }
        for (name, is_given) in [
            ("stimulus.order", self.stimulus.order != "in-turn"),
            ("stimulus.interval", self.stimulus.interval.is_some()),
        ] {
            if is_given && self.stimulus.kind == "trace" {
                found.push((name, "found it with kind = \"trace\", expected generated accesses".to_owned()));
            }
        }
        if let (Some(range), true) = (&self.timeout_range, self.timeout.is_some()) {
            let text = format!("found `{range}` and a timeout, expected one of both (fabric ISO-1)");
            found.push(("timeout_range", text));
        }
        if self.isolate_on.is_some() && self.timeout_fs().is_none() {
            found.push(("isolate_on", "found `timeout` without a timeout, expected one (fabric ISO-2)".to_owned()));
        }
        found
    }

    /// Refuses ports whose messages the host would have to spell in several forms.
    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let (form, _) = ports[0].link.cxl();
        let Some(other) = ports.iter().find(|port| port.link.cxl().0 != form) else { return Vec::new() };
        let text = format!(
            "found links that spell messages in different forms at {} and {}, expected one form: 68B, 256B, or 256B with port based routing",
            ports[0].path, other.path
        );
        vec![("ports", text)]
    }

    fn offer(&self) -> Offer {
        Offer { waits_for_ever: self.timeout_fs().is_none(), ..Offer::default() }
    }

    fn uses_memory_map(&self) -> bool {
        true
    }

    fn check_addresses(&self, windows: Option<&[Span]>, ports: &[SitePort]) -> Vec<ConfigFinding> {
        if windows.is_none() && ports.len() > 1 {
            let text = format!(
                "found {} ports, expected a [memory_map] that says which addresses lead to which port",
                ports.len()
            );
            return vec![("ports", text)];
        }
        let memory = [(0, memory_size(ports[0].peer.memory_bytes))];
        let spans = windows.unwrap_or(&memory);
        let region = self.stimulus.base.filter(|_| self.stimulus.kind == "generated");
        region
            .and_then(|base| self.stimulus.hole(base, spans))
            .map(|text| ("stimulus.base", text))
            .into_iter()
            .collect()
    }

    fn takes_stimulus(&self) -> bool {
        true
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // Every request has a place for its answer.
        Some(Vec::new())
    }

    fn asks(&self) -> bool {
        true
    }

    fn own_wait_fs(&self, _: Clock) -> u64 {
        self.timeout_fs().unwrap_or(0)
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let name = format!("{}.core", site.path);
        let (form, _) = site.ports[0].link.cxl();
        let ids = site.ports.iter().map(|port| (port.link.cxl().1, port.number));
        let file = site.stimulus.clone().or_else(|| self.stimulus.file_in(&site.folder));
        let reach = match &site.map.routes {
            None => Reach::Memory(memory_size(site.ports[0].peer.memory_bytes)),
            Some(routes) => Reach::Windows(routes.spans().into()),
        };
        let accesses = accesses(&self.stimulus, file, &reach, site)?;
        // Generated accesses are there to load the link, so no cache stands in their way.
        let has_cache = accesses.cached && self.cache.size > 0;
        let config = HostConfig {
            place: name.clone(),
            accesses: accesses.list,
            absolute_cycles: accesses.absolute,
            cache: has_cache.then(|| Cache::new(self.cache_config())).transpose()?,
            outstanding: self.outstanding,
            background: BACKGROUND,
            ports: ids.map(|([own, device], link)| HostPorts { own, device, link }).collect(),
            routes: site.map.routes.clone(),
            form,
            isolation: IsolationControl { on_timeout: self.isolate_on.is_some(), on_link_down: false },
            throttle: self.throttle.steps(),
            timeout_cycles: self.timeout_fs().map(|fs| site.clock.first_at_or_after(Time::from_fs(fs)).max(1)),
            dropped: site.dropped_stores(),
        };
        let tap = hub.tap(&name, PlaceKind::Messages(transaction_layouts(form)));
        let result: Arc<Mutex<HostResult>> = Arc::default();
        let shared = result.clone();
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                if plugs.is_empty() {
                    return Ok(());
                }
                p.module(&name, clock, |bind| {
                    let channels = |(tx, rx)| HostChannels { tx: bind.attach(tx), rx: bind.attach(rx) };
                    let channels = plugs.into_iter().map(ComponentPlug::cxl).map(channels).collect();
                    Host::new(config, channels, bind.rng(), tap, shared)
                })
            }),
            measure: Box::new(move || measured(&super::published(&result))),
            digest: accesses.digest,
            ledger: None,
        })
    }
}

fn measured(host: &HostResult) -> ComponentMeasured {
    let mut counts: Vec<MetricValue> =
        vec![(&ACCESSES, host.accesses), (&HITS, host.hits), (&READS, host.misses), (&WRITES, host.writes)];
    if let Some(HostErrors { not_decoded, timed_out, late, isolated_reads, isolated_writes }) = host.errors {
        counts.extend([(&NOT_DECODED, not_decoded), (&TIMED_OUT, timed_out), (&LATE, late)]);
        counts.extend([(&ISOLATED_READS, isolated_reads), (&ISOLATED_WRITES, isolated_writes)]);
    }
    if let Some(HostThrottled { loads, spaced, most }) = host.throttled {
        counts.push((&SPACED, spaced));
        counts.extend([&LIGHT, &OPTIMAL, &MODERATE, &SEVERE].into_iter().zip(loads));
        counts.push((&THROTTLE_MOST, most.into()));
    }
    counts.push((&STALLS, host.stall_cycles));
    ComponentMeasured {
        counts,
        bytes: host.bytes,
        latencies: host.latencies.clone(),
        broken: host.broken.clone(),
        ..ComponentMeasured::default()
    }
}

impl HostStimulus {
    /// The file of the description, relative to its folder.
    fn file_in(&self, folder: &Path) -> Option<PathBuf> {
        (self.kind == "trace").then(|| folder.join(&self.file))
    }

    /// What is wrong with the region of generated accesses from a base on: the first address in none of the spans.
    fn hole(&self, base: u64, spans: &[Span]) -> Option<String> {
        if !base.is_multiple_of(LINE_BYTES) {
            return Some(format!("found {base:#x}, expected a multiple of {LINE_BYTES} bytes, a line"));
        }
        // Both are far below 2^64.
        let end = base + self.region_lines * LINE_BYTES;
        let hole = match spans.iter().find(|(from, until)| (*from..*until).contains(&base)) {
            Some((_, until)) if end <= *until => return None,
            Some((_, until)) => *until,
            None => base,
        };
        let last = end - 1;
        Some(format!(
            "found a region from {base:#x} to {last:#x}, where nothing is reached at {hole:#x}, expected addresses in {}",
            shown(spans)
        ))
    }
}

/// Latest time of an access \[fs\], 2.5 hours: the half of what 64 bits hold, so what follows it has a time too.
const LATEST_ACCESS_FS: u64 = u64::MAX / 2;

/// Accesses in program order.
struct Accesses {
    list: LineSource,
    /// Their cycles are times of their own.
    absolute: bool,
    /// Bytes that name the stimulus, for the hash of a run that is recorded.
    digest: Vec<u8>,
    /// They go through the cache of the host.
    cached: bool,
}

/// Which addresses lead to memory.
enum Reach {
    /// Those from 0 to this size; others are taken modulo it.
    Memory(u64),
    /// Those of windows; others are refused.
    Windows(Arc<[Span]>),
}

/// Bytes of the memory at a port; all there can be where it does not say.
fn memory_size(memory_bytes: Option<u64>) -> u64 {
    memory_bytes.unwrap_or(u64::MAX - u64::MAX % LINE_BYTES)
}

/// Reads or makes them.
fn accesses(
    stimulus: &HostStimulus,
    file: Option<PathBuf>,
    reach: &Reach,
    site: &Site<'_>,
) -> Result<Accesses, NodeError> {
    let modulo = match reach {
        Reach::Memory(size) => Some(*size),
        Reach::Windows(_) => None,
    };
    match file {
        Some(path) => {
            let within = |access: &StimulusAccess| match reach {
                Reach::Memory(_) => Ok(()),
                Reach::Windows(_) if access.op == StimulusOp::Ifetch && !stimulus.ifetch => Ok(()),
                Reach::Windows(spans) => in_windows(access, spans, site.path),
            };
            let raw = stimulus::read_trace_within(&path, None, &within)?;
            let absolute = raw.iter().any(|a| a.at_cycles.is_some());
            judged(HostProgram::Trace(Arc::new(raw)), absolute, true, stimulus.ifetch, modulo, site)
        }
        None => {
            let raw = generated(stimulus, reach, site)?;
            judged(raw, true, false, stimulus.ifetch, modulo, site)
        }
    }
}

/// All bytes of an access of a trace lie in windows that the host reaches.
fn in_windows(access: &StimulusAccess, spans: &[Span], host: &str) -> Result<(), String> {
    let last = access.address.saturating_add(u64::from(access.size_bytes).saturating_sub(1));
    let is_in = |(from, until): &Span| *from <= access.address && last < *until;
    if spans.iter().any(is_in) {
        return Ok(());
    }
    Err(format!("which lies in no window that `{host}` reaches, expected addresses in {}", shown(spans)))
}

/// Accesses to the lines of a region, one after the other and round again, or at random.
fn generated(stimulus: &HostStimulus, reach: &Reach, site: &Site<'_>) -> Result<HostProgram, NodeError> {
    let mix = match stimulus.pattern.as_str() {
        "reads" => Mix::Reads,
        "writes" => Mix::Writes,
        _ => Mix::TwoToOne,
    };
    let spans: Arc<[Span]> = match (stimulus.base, reach) {
        (Some(base), _) => Arc::new([(base, base + stimulus.region_lines * LINE_BYTES)]),
        (None, Reach::Memory(size)) => Arc::new([(0, *size)]),
        (None, Reach::Windows(spans)) => spans.clone(),
    };
    let lines: u64 = spans.iter().map(|(from, until)| (until - from) / LINE_BYTES).sum();
    let lines = stimulus.region_lines.min(lines);
    let region = LineRegion::new(0, lines)?;
    let draws = (stimulus.order == "random").then(|| Rng::for_name(site.seed, &format!("{}.stimulus", site.path)));
    let traffic = RegionTraffic {
        mix,
        spans,
        lines,
        accesses: stimulus.accesses,
        interval_fs: stimulus.interval.unwrap_or(0),
        period_fs: site.clock.period(),
        draws,
    };
    Ok(HostProgram::Region(traffic, region))
}

/// Names and checks them, and cuts them into lines when these are asked for.
fn judged(
    program: HostProgram,
    absolute: bool,
    cached: bool,
    ifetch: bool,
    modulo: Option<u64>,
    site: &Site<'_>,
) -> Result<Accesses, NodeError> {
    let (num, den) = site.clock.period();
    if let Some(found) = program.first_behind(LATEST_ACCESS_FS / num.div_ceil(den)) {
        let expected = "a cycle of the host's clock before 2^63 fs";
        return Err(ParameterError { parameter: "time of an access", found, expected }.into());
    }
    // Only the head of a trace or wave has the hash, which takes a tenth of the instructions of a short run.
    let digest = if site.is_recorded { program.digest().to_vec() } else { Vec::new() };
    Ok(Accesses { list: program.lines(ifetch, modulo), absolute, digest, cached })
}
