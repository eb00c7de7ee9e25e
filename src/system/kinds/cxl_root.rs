//! `cxl.root`: a root complex that finds a CXL device over CXL.io and brings it up, see [`scalepool_nodes::io::root`]; where
//! the link carries CXL.mem too, a core uses the memory of the device beside it.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, MemPlug, NodeError, Offer,
    PortDecl, PortRole, Site, component,
};
use crate::kinds::uio::{self, UioStimulus};
use crate::measured::ComponentMeasured;
use crate::metric::MetricValue;
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_endpoint::config_space::port::port as root_port;
use scalepool_endpoint::pm::{PmAgent, PmConfig, PmRequest, PmSide, ResetKind};
use scalepool_endpoint::requester::{Requester, RequesterConfig};
use scalepool_kernel::Clock;
use scalepool_memory::decoder::WINDOW_STEP_BYTES;
use scalepool_nodes::cxl::host::{Host, HostChannels, HostConfig, HostPorts, HostResult};
use scalepool_nodes::cxl::isolation::IsolationControl;
use scalepool_nodes::cxl::{BACKGROUND, transaction_layouts};
use scalepool_nodes::io::mode::{self, FlexPort, MODES};
use scalepool_nodes::io::root::{Root, RootConfig, RootResult};
use scalepool_nodes::io::walk::{ConfigWalkResult, Windows};
use scalepool_nodes::io::{self, tlps};
use scalepool_nodes::stimulus::{self, LineRegion, LineSource, Mix};
use scalepool_protocols::cxl::cxlio::dvsec::ConnectedMode;
use scalepool_protocols::wire::Wire;
use scalepool_trace::{Hub, PlaceKind};
use std::ops::Range as Span;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.root",
    about: "root complex that finds a CXL device over CXL.io, brings it up and uses its registers, and its memory where the link carries CXL.mem too; its port is `link`",
    fields: CxlRoot::fields,
    read: component::<CxlRoot>,
    external: &["flits"],
    metrics: &[METRICS, DVSECS],
};

metrics! {
    /// What a root complex finds and counts.
    static METRICS {
        MODE = "connected mode" ["number of the mode"] Same, "the mode to which the ports agreed (cxl-io §7)";
        FUNCTIONS = "functions" ["functions"] Sum, "functions that were found";
        CAPABILITIES = "capabilities" ["structures"] Sum, "capability structures that were found";
        EXTENDED = "extended capabilities" ["structures"] Sum, "extended capability structures that were found";
        FOUND_DVSECS = "DVSECs of CXL" ["structures"] Sum, "DVSECs with the vendor ID of CXL that were found";
        BARS = "BARs" ["BARs"] Sum, "base address registers that were found";
        BARS_BYTES = "BARs [bytes]" ["bytes"] Sum, "sizes of the base address registers, added up";
        RANGES = "memory ranges" ["ranges"] Sum, "ranges of host-managed memory that were found";
        RANGES_BYTES = "memory ranges [bytes]" ["bytes"] Sum, "sizes of these ranges, added up";
        LOGICAL_DEVICES = "logical devices" ["devices"] Sum, "logical devices that were found";
        LARGEST_PAYLOAD = "largest payload [bytes]" ["bytes"] Smallest, "the largest payload that both sides take";
        MEM_ENABLED = "CXL.mem enabled" ["devices"] Sum, "devices whose CXL.mem was enabled";
        PM_READY = "power management ready" ["devices"] Sum, "devices that reported that they are ready for power management";
        POWER_ANSWERED = "power requests answered" ["requests"] Sum, "requests for a power state that were answered";
        HOST_STATUS = "host port status" ["register"] Same, "status register of the port of the host";
        DEVICE_STATUS = "device port status" ["register"] Same, "status register of the port of the device";
        CONFIG_READS = "configuration reads" ["requests"] Sum, "configuration requests that read";
        CONFIG_WRITES = "configuration writes" ["requests"] Sum, "configuration requests that wrote";
        CONFIG_RETRIES = "configuration retries" ["requests"] Sum, "configuration requests sent again after a Request Retry Status";
        MEMORY_WRITES = "memory writes" ["requests"] Sum, "writes to registers behind BARs";
        MEMORY_READS = "memory reads" ["requests"] Sum, "reads of registers behind BARs";
        MEMORY_ATOMICS = "memory atomics" ["requests"] Sum, "atomics on registers behind BARs";
        TIMED_OUT = "reads timed out" ["requests"] Sum, "reads of registers that ended by time-out, where failures = \"counted\"";
        UNSUPPORTED = "reads unsupported" ["requests"] Sum, "reads of registers that were completed with UR, since nobody has the address, where failures = \"counted\"";
        ABORTED = "reads aborted" ["requests"] Sum, "reads of registers that were completed with CA or CRS, since the right is missing or who has the address could not perform them, where failures = \"counted\"; a bridge says which of both (bridge §8.2)";
        LATE = "late completions" ["completions"] Sum, "completions of requests that had ended by time-out, where failures = \"counted\"";
        CONFIG_TIMED_OUT = "configuration requests timed out" ["requests"] Sum, "configuration requests that ended by time-out, where failures = \"counted\"";
        CONFIG_REFUSED = "configuration requests refused" ["requests"] Sum, "configuration requests that were completed without success, but for those that ask whether a function is there, where failures = \"counted\"";
        UNFINISHED = "functions not walked to their end" ["functions"] Sum, "functions whose walk ended at a configuration request without data, where failures = \"counted\"";
        UIO_WRITES = "UIO writes" ["requests"] Sum, "requests of UIO that wrote memory of a device, given where it has `uio`";
        UIO_READS = "UIO reads" ["requests"] Sum, "requests of UIO that read memory of a device";
        UIO_ABORTED = "UIO aborted" ["requests"] Sum, "requests of UIO that were completed as Completer Abort";
        UIO_UNSUPPORTED = "UIO unsupported" ["requests"] Sum, "requests of UIO that were completed as Unsupported Request";
        UIO_CAME = "UIO requests that came" ["requests"] Sum, "requests of UIO that came up to the host, which completes them as Unsupported Request";
        MEM_READS = "CXL.mem reads" ["requests"] Sum, "lines read over CXL.mem";
        MEM_WRITES = "CXL.mem writes" ["requests"] Sum, "lines written over CXL.mem";
        MEM_NOT_DECODED = "CXL.mem reads not decoded" ["requests"] Sum, "lines that were read and that nothing decodes, where memory.not_decoded = \"counted\"";
        MEM_LATENCY = "CXL.mem mean latency [fs]" ["fs"] Largest, "request to answer over CXL.mem, arithmetic mean";
    }
}

metrics! {
    /// Lengths of the DVSECs of CXL, by their IDs.
    static DVSECS {
        DVSEC_0 = "DVSEC 0 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 0";
        DVSEC_1 = "DVSEC 1 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 1";
        DVSEC_2 = "DVSEC 2 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 2";
        DVSEC_3 = "DVSEC 3 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 3";
        DVSEC_4 = "DVSEC 4 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 4";
        DVSEC_5 = "DVSEC 5 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 5";
        DVSEC_6 = "DVSEC 6 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 6";
        DVSEC_7 = "DVSEC 7 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 7";
        DVSEC_8 = "DVSEC 8 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 8";
        DVSEC_9 = "DVSEC 9 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 9";
        DVSEC_10 = "DVSEC 10 [bytes]" ["bytes"] Same, "the length of the DVSEC with ID 10";
    }
}

/// Root complex: bus 0, device 0, function 0.
const ROOT_ID: u16 = 0;
/// Bus behind the root port.
const DEVICE_BUS: u8 = 1;
/// Sizes that a largest payload can have \[bytes\]: 128 doubled up to five times (general knowledge of PCI Express).
pub(in crate::kinds) const PAYLOADS: &[u64] = &[128, 256, 512, 1024, 2048, 4096];
/// Time-out of requests of CXL.mem where reads that nobody decodes are counted: longer than any run, as every request is answered there \[fs\].
const NEVER_FS: u64 = 1 << 50;
/// Lines of memory that CXL.mem accesses walk through.
const MEM_LINES: u64 = 4096;

config! {
    /// CXL.mem accesses of a root complex, where the link carries them.
    pub struct MemAccesses {
        accesses: u64 = "2000" [Unit::Of("line accesses")] in FieldRange::Int(0, 1 << 24), "CXL.mem accesses, where the link has cachemem = \"on\"";
        pattern: String = "mix" [Unit::Of("-")] in FieldRange::Words(&["reads", "writes", "mix"]), "kind of the CXL.mem accesses; mix = two reads per write";
        start: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "start of the CXL.mem accesses; memory counts as enabled by firmware";
        outstanding: usize = "64" [Unit::Of("requests")] in FieldRange::Int(1, 32768), "open CXL.mem requests";
        not_decoded: String = "broken" [Unit::Of("-")] in FieldRange::Words(&["broken", "counted"]), "reads that a switch answers because nothing decodes their address: broken = each breaks a rule; counted = they are counted, for systems that unbind devices";
    }
}

config! {
    /// A root complex. Numbers without another source are of the model (basis: model).
    pub struct CxlRoot {
        mode: String = "cxl-68b" [Unit::Of("-")] in FieldRange::Words(MODES), "best mode of the host's port (cxl-io §7)";
        outstanding: usize = "32" [Unit::Of("requests")] in FieldRange::Int(1, 1024), "requests that can be outstanding; tags have 10 bits";
        timeout: u64 = "50 us" [Unit::Time] in FieldRange::Int(50_000_000_000, 1 << 50), "completion time-out, at least 50 us; it has to exceed the round-trip time";
        retry: u64 = "1 us" [Unit::Time] in FieldRange::Int(1, 1 << 50), "wait after a Request Retry Status";
        max_payload: usize = "256" [Unit::Bytes] in FieldRange::OneOf(PAYLOADS), "largest payload of the host";
        mmio_base: u64 = "0x1000000000" [Unit::Of("address")] in FieldRange::Int(1 << 20, 1 << 50), "base address of the BARs";
        memory_base: u64 = "0x10000000000" [Unit::Of("address")] in FieldRange::Int(1 << 28, 1 << 50), "base address of the memory ranges";
        accesses: u64 = "200" [Unit::Of("accesses")] in FieldRange::Int(0, 1 << 24), "writes and reads to the BARs";
        access_bytes: u64 = "512" [Unit::Bytes] in FieldRange::Int(1, 4096), "longest BAR access; lengths are random";
        atomics: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "one BAR access in four is an atomic of 4 or 8 bytes: FetchAdd, Swap or CAS; a device or accelerator behind the BAR has to perform them";
        power: String = "none" [Unit::Of("-")] in FieldRange::Words(&["none", "reset", "s3", "flush"]), "power management message at the end: RESETPREP of a kind, or both phases of GPF (cxl-io §6)";
        rest_at: Option<u64> = "" [Unit::Time] in FieldRange::Int(0, 1 << 50), "from then on it asks for nothing behind its BARs until it walks again, because its hierarchy is reset; not given = it walks once";
        rescan_at: Option<u64> = "" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it walks again; not given = at rest_at";
        failures: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["broken", "counted"]), "reads of registers and configuration requests that end without data: broken = each breaks a rule; counted = they are counted, for systems that lose links or refuse accesses, and a byte that was written may have its old value until it is read, since writes have no answer; not given = broken";
        uio: Option<UioStimulus> = "" [Unit::Of("-")] in FieldRange::Table(UioStimulus::fields), "accesses to memory of devices by unordered I/O, beside the others; its link has the channel of UIO if the other end takes part in it too. Left out, it takes no part";
        memory: MemAccesses = "" [Unit::Of("-")] in FieldRange::Table(MemAccesses::fields), "CXL.mem accesses beside it";
    }
}

/// Cycles of a clock in which a time is over.
pub(in crate::kinds) fn cycles(time_fs: u64, clock: Clock) -> u64 {
    let (num, den) = clock.period();
    let cycles = (u128::from(time_fs) * u128::from(den)).div_ceil(num.into());
    u64::try_from(cycles).unwrap_or(u64::MAX)
}

impl CxlRoot {
    fn requester(&self, clock: Clock) -> Requester {
        let timeout = cycles(self.timeout, clock);
        Requester::new(RequesterConfig { id: ROOT_ID, outstanding: self.outstanding, timeout })
    }

    fn windows(&self) -> Windows {
        Windows { bus: DEVICE_BUS, mmio: self.mmio_base, memory: self.memory_base, max_payload_bytes: self.max_payload }
    }

    fn rescan(&self, clock: Clock) -> Option<[u64; 2]> {
        let from = self.rest_at?;
        Some([from, self.rescan_at.unwrap_or(from)].map(|fs| cycles(fs, clock)))
    }

    fn power(&self) -> Option<PmRequest> {
        match self.power.as_str() {
            "reset" => Some(PmRequest::ResetPrep(ResetKind::Reset)),
            "s3" => Some(PmRequest::ResetPrep(ResetKind::S3)),
            "flush" => Some(PmRequest::Flush),
            _ => None,
        }
    }
}

impl MemAccesses {
    /// The accesses in program order.
    fn list(&self, clock: Clock) -> Result<LineSource, NodeError> {
        let mix = match self.pattern.as_str() {
            "reads" => Mix::Reads,
            "writes" => Mix::Writes,
            _ => Mix::TwoToOne,
        };
        let region = LineRegion::new(0, MEM_LINES)?;
        Ok(stimulus::lines_from(cycles(self.start, clock), mix, region, self.accesses))
    }
}

impl Component for CxlRoot {
    fn own_wait_fs(&self, _: Clock) -> u64 {
        let rescan = self.rescan_at.or(self.rest_at).unwrap_or(0);
        let uio = self.uio.as_ref().map_or(0, |uio| uio.start.max(uio.timeout));
        self.memory.start.max(self.timeout).max(self.retry).max(rescan).max(uio)
    }

    /// A time at which it walks again without one from which it rests says nothing; whether an atomic that has failed was performed nobody
    /// knows; registers of ranges hold address bits from 28 on (`cxl-io` §7).
    fn check(&self) -> Vec<ConfigFinding> {
        let rescan = match (self.rest_at, self.rescan_at) {
            (None, Some(_)) => Some("found no rest_at beside it, expected one".to_owned()),
            (Some(rest), Some(again)) if again < rest => {
                let [again, rest] = [again, rest].map(|fs| Unit::Time.shown(fs));
                Some(format!("found {again}, expected not less than {rest}, rest_at"))
            }
            _ => None,
        };
        let may_fail = self.atomics && self.failures.as_deref() == Some("counted");
        let text = "found atomics beside failures = \"counted\", expected one of them: what an atomic that has failed did is not known";
        let unknown = may_fail.then(|| ("atomics", text.to_owned()));
        let uio = self.uio.as_ref().and_then(|uio| uio.check("uio"));
        let unaligned = (!self.memory_base.is_multiple_of(WINDOW_STEP_BYTES)).then(|| {
            let found = self.memory_base;
            (
                "memory_base",
                format!("found {found:#x}, expected a multiple of 256 MiB, which registers of ranges can hold"),
            )
        });
        rescan.map(|found| ("rescan_at", found)).into_iter().chain(unknown).chain(uio).chain(unaligned).collect()
    }

    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "link", len: None, links: &["cxl-io"], role: PortRole::Host }]
    }

    fn offer(&self) -> Offer {
        // Each access is a request without a cache in front, so each has one answer.
        Offer {
            flex_bus: Some(FlexPort::root(&self.mode)),
            answers_due: self.memory.accesses,
            power_timeout_fs: Some(self.timeout),
            has_uio: self.uio.is_some(),
            uio_timeout_fs: self.uio.as_ref().map(|uio| uio.timeout),
            uses_bars: self.accesses > 0,
            ..Offer::default()
        }
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // Every request has a place for its completion or answer, and messages of power management are taken at once.
        Some(Vec::new())
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (port, clock) = (&site.ports[0], site.clock);
        let Carried::CxlIo { rate_gtps, cachemem, port_ids: [own, device], .. } = port.link.carried else {
            unreachable!("a port takes the links that it declares")
        };
        let flex_port = FlexPort::root(&self.mode);
        let trained = port.peer.flex_bus.and_then(|peer| Some((peer, flex_port.train(&peer, rate_gtps)?)));
        let Some((peer, agreed)) = trained else { unreachable!("it was checked") };
        let mut space = root_port(flex_port.can);
        space.trained(&peer.can, agreed);
        let (form, mem_form) = (mode::form(agreed, own, device), mode::message_form(agreed));
        let [name, mem_name] = ["root", "core"].map(|part| format!("{}.{part}", site.path));
        let tap = hub.tap(&name, tlps::shows(form));
        let mem_tap = cachemem.then(|| hub.tap(&mem_name, PlaceKind::Messages(transaction_layouts(mem_form))));
        let config = RootConfig {
            place: name.clone(),
            link: port.number,
            form,
            requester: self.requester(clock),
            agent: PmAgent::new(PmConfig { timeout: cycles(self.timeout, clock), ..PmConfig::new(PmSide::Host) }),
            port: space,
            windows: self.windows(),
            accesses: self.accesses,
            access_bytes: self.access_bytes,
            has_atomics: self.atomics,
            retry_cycles: cycles(self.retry, clock),
            power: self.power(),
            rescan: self.rescan(clock),
            edge_layers: port.peer.edge_layers,
            behind: super::bridge::lines_of_devices(site),
            may_fail: self.failures.as_deref() == Some("counted"),
            uio: self.uio.as_ref().map(|uio| uio.accesses((&name, port.number, form), ROOT_ID, clock)),
        };
        let mem_config = HostConfig {
            place: mem_name.clone(),
            accesses: self.memory.list(clock)?,
            absolute_cycles: true,
            cache: None,
            outstanding: self.memory.outstanding,
            background: BACKGROUND,
            ports: vec![HostPorts {
                own: mode::routed_id(agreed, own),
                device: mode::routed_id(agreed, device),
                link: port.number,
            }],
            routes: None,
            form: mem_form,
            isolation: IsolationControl::default(),
            throttle: None,
            timeout_cycles: (self.memory.not_decoded == "counted").then(|| cycles(NEVER_FS, clock)),
            dropped: site.dropped_stores(),
        };
        let (result, mem_result): (Arc<Mutex<RootResult>>, Arc<Mutex<HostResult>>) = Default::default();
        let (may_fail, has_atomics) = (self.failures.as_deref() == Some("counted"), self.atomics);
        let (shared, mem_shared, place) = (result.clone(), mem_result.clone(), name.clone());
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let Some(plug) = plugs.into_iter().map(ComponentPlug::cxl_io).next() else { return Ok(()) };
                let (tx, rx) = plug.io;
                p.module(&name, clock, |bind| {
                    let (tx, rx, rngs) = (bind.attach(tx), bind.attach(rx), [bind.rng(), bind.rng_for("uio")]);
                    Root::new(config, tx, rx, rngs, tap, shared)
                })?;
                let Some(((tx, rx), tap)) = plug.mem.map(MemPlug::together).zip(mem_tap) else { return Ok(()) };
                p.module(&mem_name, clock, |bind| {
                    let channels = HostChannels { tx: bind.attach(tx), rx: bind.attach(rx) };
                    Host::new(mem_config, vec![channels], bind.rng(), tap, mem_shared)
                })
            }),
            measure: Box::new(move || {
                let mem = cachemem.then(|| super::published(&mem_result));
                measured(&place, agreed, (super::published(&result), may_fail, has_atomics), mem)
            }),
            digest: Vec::new(),
            ledger: None,
        })
    }
}

fn measured(
    place: &str,
    agreed: ConnectedMode,
    (root, may_fail, has_atomics): (RootResult, bool, bool),
    mem: Option<HostResult>,
) -> ComponentMeasured {
    let found = root.found.unwrap_or_default();
    let bytes = |spans: &[Span<u64>]| spans.iter().map(|span| span.end - span.start).sum::<u64>();
    let status = |status| Wire::to_bits(&status).unwrap_or(0) as u64;
    let ConfigWalkResult { functions, capabilities, extended, dvsecs, bars, ranges, .. } = &found;
    let mut counts: Vec<MetricValue> = vec![
        (&MODE, agreed as u64),
        (&FUNCTIONS, functions.len() as u64),
        (&CAPABILITIES, *capabilities),
        (&EXTENDED, extended.len() as u64),
        (&FOUND_DVSECS, dvsecs.len() as u64),
    ];
    counts.extend(dvsecs.iter().filter_map(|(id, length)| Some((*DVSECS.get(usize::from(*id))?, u64::from(*length)))));
    counts.extend([
        (&BARS, bars.len() as u64),
        (&BARS_BYTES, bytes(bars)),
        (&RANGES, ranges.len() as u64),
        (&RANGES_BYTES, bytes(ranges)),
        (&LOGICAL_DEVICES, found.logical_devices.into()),
        (&LARGEST_PAYLOAD, found.max_payload_bytes as u64),
        (&MEM_ENABLED, found.mem_enabled.into()),
        (&PM_READY, root.pm_ready.into()),
        (&POWER_ANSWERED, root.power_answered),
        (&HOST_STATUS, status(root.status)),
        (&DEVICE_STATUS, status(found.status)),
        (&CONFIG_READS, root.config[0]),
        (&CONFIG_WRITES, root.config[1]),
        (&CONFIG_RETRIES, root.config[2]),
        (&MEMORY_WRITES, root.memory[0]),
        (&MEMORY_READS, root.memory[1]),
    ]);
    if has_atomics {
        counts.push((&MEMORY_ATOMICS, root.memory[2]));
    }
    if may_fail {
        let [timed_out, unsupported, aborted] = root.failed;
        counts.extend([(&TIMED_OUT, timed_out), (&UNSUPPORTED, unsupported), (&ABORTED, aborted), (&LATE, root.late)]);
        let [timed_out, refused] = root.config_failed;
        let mut unfinished: Vec<u16> = found.unanswered.iter().map(|access| access.target).collect();
        scalepool_ordered::sort(&mut unfinished);
        unfinished.dedup();
        counts.extend([
            (&CONFIG_TIMED_OUT, timed_out),
            (&CONFIG_REFUSED, refused),
            (&UNFINISHED, unfinished.len() as u64),
        ]);
    }
    let mut broken: Vec<_> = io::broken(place, &root.events).chain(root.broken).collect();
    let mut all_bytes = root.bytes;
    if let Some(uio) = root.uio {
        let metrics = [&UIO_WRITES, &UIO_READS, &UIO_ABORTED, &UIO_UNSUPPORTED];
        counts.extend(metrics.into_iter().zip(uio::counted(&uio)));
        counts.push((&UIO_CAME, root.uio_refused));
        all_bytes += uio.bytes;
        broken.extend(io::broken(place, &uio.events).chain(uio.broken));
    }
    if let Some(mem) = mem {
        let sum_fs: u64 = mem.latencies.each().map(|((_, fs), times)| fs * times).sum();
        let mean_fs = sum_fs.checked_div(mem.latencies.len()).unwrap_or(0);
        counts.extend([(&MEM_READS, mem.misses), (&MEM_WRITES, mem.writes), (&MEM_LATENCY, mean_fs)]);
        counts.extend(mem.errors.map(|errors| -> MetricValue { (&MEM_NOT_DECODED, errors.not_decoded) }));
        all_bytes += mem.bytes;
        broken.extend(mem.broken);
    }
    ComponentMeasured { counts, bytes: all_bytes, latencies: root.latencies, broken, ..ComponentMeasured::default() }
}
