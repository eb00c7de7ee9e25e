//! `cxl.io-device`: a CXL Type 3 device that is found over CXL.io, see [`scalepool_nodes::io::function`]; where the link
//! carries CXL.mem too, its memory answers beside it.

use crate::channels::ChannelWait;
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, MOST_GAPS, MemPlug,
    NodeError, Offer, PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::cxl_root::PAYLOADS;
use crate::kinds::uio::{self, UioDecoderConfig, UioStimulus};
use crate::kinds::{cxl_links, memory_device};
use crate::measured::ComponentMeasured;
use crate::metric::{MetricValue, metrics};
use crate::quantity::Unit;
use scalepool_endpoint::completer::{Completer, CompleterConfig};
use scalepool_endpoint::config_space::type3::{Type3Config, Type3ConfigError, type3};
use scalepool_endpoint::config_space::{ConfigSpace, registers};
use scalepool_endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool_kernel::Clock;
use scalepool_memory::backend::MemoryTiming;
use scalepool_memory::ecc::UpsetConfig;
use scalepool_memory::ecc::{EccConfig, EccStore};
use scalepool_memory::store::{Background, Store};
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::cxl::memory::{DeviceConfig, LogicalDevice, MemoryDevice, MemoryResult, MemoryRoute};
use scalepool_nodes::cxl::{BACKGROUND, transaction_layouts};
use scalepool_nodes::io::function::{Function, FunctionResult, LogicalFunction};
use scalepool_nodes::io::mode::{self, FlexPort, MODES};
use scalepool_nodes::io::tlps::IoRequestNames;
use scalepool_nodes::io::uio::UioAccesses;
use scalepool_nodes::io::{self, tlps};
use scalepool_nodes::latencies::Latencies;
use scalepool_protocols::cxl::cxlio::dvsec::FlexBus;
use scalepool_trace::{Hub, PlaceKind};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.io-device",
    about: "CXL Type 3 device that is found over CXL.io, with memory where the link carries CXL.mem too; its port is `link`",
    fields: IoDevice::fields,
    read: component::<IoDevice>,
    external: &["flits"],
    metrics: &[METRICS],
};

metrics! {
    /// What a device counts.
    static METRICS {
        SERVED = "requests served" ["requests"] Sum, "requests of CXL.io that the device carried out";
        COMPLETIONS = "completions" ["TLPs"] Sum, "completions that it sent";
        UIO_WRITES = "UIO writes" ["requests"] Sum, "requests of UIO of the device that wrote memory of others, given where it has `uio`";
        UIO_READS = "UIO reads" ["requests"] Sum, "requests of UIO of the device that read memory of others";
        UIO_ABORTED = "UIO aborted" ["requests"] Sum, "requests of UIO of the device that were completed as Completer Abort";
        UIO_UNSUPPORTED = "UIO unsupported" ["requests"] Sum, "requests of UIO of the device that were completed as Unsupported Request";
    }
}

/// Requests that the memory of the device holds.
const MEM_QUEUE: usize = 512;
/// Content of registers behind BARs that nothing has written.
const REGISTERS: Background = Background::Zero;
/// The largest BAR of a description has 2 to this power bytes.
const MOST_BAR_BITS: u32 = 40;
/// Largest payload that firmware allows: a block of the bridge.
const PLACED_PAYLOAD: usize = 256;

config! {
    /// A device. Numbers without another source are of the model (basis: model).
    pub struct IoDevice {
        mode: String = "cxl-256b-pbr" [Unit::Of("-")] in FieldRange::Words(MODES), "best mode of the device; the link gets the best that both can do, and has 256B flits if both can";
        bar0: u64 = "64 KiB" [Unit::Bytes] in FieldRange::Int(0, 1 << MOST_BAR_BITS), "size of BAR 0: a power of two from 4k, or 0";
        bar1: u64 = "1 MiB" [Unit::Bytes] in FieldRange::Int(0, 1 << MOST_BAR_BITS), "size of BAR 1: a power of two from 4k, or 0";
        placed: Option<u64> = "" [Unit::Of("address")] in FieldRange::Int(0, 1 << 51), "address at which firmware has placed BAR 0 before the run, BAR 1 at the next multiple of its size behind it, with payloads of up to 256 bytes: for a device at a bridge, which reads no configuration space; left out, the root complex places them";
        range0: u64 = "16 GiB" [Unit::Bytes] in FieldRange::Int(0, 1 << 46), "size of memory range 0: a multiple of 256m";
        range1: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, 1 << 46), "size of memory range 1: a multiple of 256m, or 0";
        logical_devices: u16 = "1" [Unit::Of("devices")] in FieldRange::Int(1, 16), "logical devices; more than one adds an MLD DVSEC, or where a switch binds them, makes each of them a device of its own with ranges and BARs of these sizes (fabric MLD-2)";
        max_payload: usize = "512" [Unit::Bytes] in FieldRange::OneOf(PAYLOADS), "largest payload of the device";
        boundary: u64 = "64" [Unit::Bytes] in FieldRange::OneOf(&[64, 128]), "read completion boundary; completions end there too where poison begins or ends, so that with 128 a poisoned line marks its neighbour";
        not_ready: u32 = "2" [Unit::Of("requests")] in FieldRange::Int(0, 1000), "configuration requests that the device answers with Request Retry Status before it is ready";
        uio_memory: Option<UioDecoderConfig> = "" [Unit::Of("-")] in FieldRange::Table(UioDecoderConfig::fields), "the decoder of memory that others reach by unordered I/O; its bytes begin as 0, and CXL.mem does not see them. Left out, such requests are unsupported";
        uio: Option<UioStimulus> = "" [Unit::Of("-")] in FieldRange::Table(UioStimulus::fields), "accesses to memory of others by unordered I/O, from when the device is the master of its bus on; a device whose logical devices are bound apart makes none";
        latency_cycles: u64 = "40" [Unit::Of("device cycles")] in FieldRange::Int(1, 1 << 30), "latency from request to completion in the device";
    }
}

impl IoDevice {
    fn port(&self) -> FlexPort {
        let port = FlexPort::device(&self.mode);
        FlexPort { can: FlexBus { mld: self.logical_devices > 1, ..port.can }, ..port }
    }

    /// Where firmware has placed BARs with a size.
    fn placed_bars(&self) -> Vec<Range<u64>> {
        let mut from = self.placed.unwrap_or(0);
        let sizes = [self.bar0, self.bar1].into_iter().filter(|size| self.placed.is_some() && *size > 0);
        let place = |size: u64| {
            let first = from.next_multiple_of(size);
            from = first + size;
            first..from
        };
        sizes.map(place).collect()
    }

    /// Its configuration space as firmware leaves it.
    fn firmware(&self, space: &mut ConfigSpace) {
        let bars = [self.bar0, self.bar1].into_iter().enumerate().filter(|(_, size)| *size > 0);
        for ((n, _), place) in bars.zip(self.placed_bars()) {
            let [low, high] = [place.start as u32, (place.start >> 32) as u32];
            let at = registers::bar_at(n) as u16;
            space.write(at, low, 0xf);
            space.write(at + 4, high, 0xf);
        }
        if self.placed.is_some() {
            let control = u32::from(registers::payload_code(PLACED_PAYLOAD.min(self.max_payload))) << 5;
            space.write((registers::PCIE_AT + registers::PCIE_DEVICE_CONTROL) as u16, control, 0x1);
            let command = registers::COMMAND_MEMORY | registers::COMMAND_MASTER;
            space.write(registers::COMMAND.start as u16, command.into(), 0x3);
        }
    }

    /// Its configuration space after reset.
    fn space(&self) -> Result<ConfigSpace, Type3ConfigError> {
        self.space_of(self.logical_devices)
    }

    /// That of a device, or of a logical one, which says nothing of others.
    fn space_of(&self, logical_devices: u16) -> Result<ConfigSpace, Type3ConfigError> {
        type3(&Type3Config {
            flex_bus: self.port().can,
            bar_bytes: [self.bar0, self.bar1],
            range_bytes: [self.range0, self.range1],
            logical_devices,
            max_payload_bytes: self.max_payload,
            ..Type3Config::default()
        })
    }
}

impl Component for IoDevice {
    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let uio = self.uio.as_ref().map_or(0, |uio| uio.start.max(uio.timeout));
        clock.periods_fs(self.latency_cycles).max(uio)
    }

    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "link", len: None, links: &["cxl-io"], role: PortRole::Device }]
    }

    fn why_no_window(&self) -> &'static str {
        "whose memory its root complex places at its own `memory_base`"
    }

    fn offer(&self) -> Offer {
        let bars = self.placed_bars();
        let mut memory_gaps = [(0, 0); MOST_GAPS];
        if let [first, second] = &bars[..] {
            memory_gaps[0] = (first.end, second.start);
        }
        Offer {
            flex_bus: Some(self.port()),
            io_logical_devices: (self.logical_devices > 1).then_some(self.logical_devices),
            has_uio: self.uio.is_some() || self.uio_memory.is_some(),
            uio_timeout_fs: self.uio.as_ref().map(|uio| uio.timeout),
            answer_cycles: self.latency_cycles,
            memory_from: bars.first().map_or(0, |bar| bar.start),
            memory_bytes: bars.last().map(|bar| bar.end),
            memory_gaps,
            ..Offer::default()
        }
    }

    /// Firmware places what stands at a bridge, and nothing else.
    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        // A bridge asks for nothing in power management, so it says no time for that.
        let is_bridge = |port: &SitePort| port.peer_role == PortRole::Host && port.peer.power_timeout_fs.is_none();
        let walked = ports.iter().find(|port| self.placed.is_some() && !is_bridge(port));
        let text = |port: &SitePort| {
            format!("found it with no bridge at {}, expected none: a root complex places the BARs", port.path)
        };
        walked.map(|port| ("placed", text(port))).into_iter().collect()
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let wrong = self.space().err().map(|error| {
            let field = match error {
                Type3ConfigError::Bar { bar, .. } => ["bar0", "bar1"][bar.min(1)],
                Type3ConfigError::Range { range, .. } => ["range0", "range1"][range.min(1)],
                Type3ConfigError::SecondRangeAlone { .. } => "range1",
                Type3ConfigError::LogicalDevices { .. } => "logical_devices",
            };
            let text = match error {
                Type3ConfigError::Bar { bar, found } => {
                    format!(
                        "BAR {bar}: found {found} bytes, expected 0 or a power of two from 4096 to 2^{MOST_BAR_BITS}"
                    )
                }
                _ => error.to_string(),
            };
            (field, text)
        });
        let unaligned = self.placed.filter(|at| self.bar0 > 0 && !at.is_multiple_of(self.bar0)).map(|at| {
            let size = self.bar0;
            ("placed", format!("found {at:#x}, expected a multiple of the size of BAR 0, {size:#x}"))
        });
        let decoder = self.uio_memory.as_ref().and_then(|uio| uio.check("uio_memory"));
        let shared = (self.logical_devices > 1).then_some(["uio", "uio_memory"]).into_iter().flatten();
        let given = shared.zip([self.uio.is_some(), self.uio_memory.is_some()]).filter(|(_, is_given)| *is_given);
        let of_several = given.map(|(field, _)| {
            let text = format!("found {} logical devices beside it, expected one", self.logical_devices);
            (field, text)
        });
        let of_several: Vec<_> = of_several.collect();
        let stimulus = self.uio.as_ref().and_then(|uio| uio.check("uio"));
        wrong.into_iter().chain(unaligned).chain(decoder).chain(stimulus).chain(of_several).collect()
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        let mut waits = cxl_links::answered_memory();
        waits.push(ChannelWait::answered(cxl_links::NON_POSTED, cxl_links::COMPLETION));
        Some(waits)
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let port = &site.ports[0];
        let Carried::CxlIo { rate_gtps, cachemem, port_ids: [host, own], .. } = port.link.carried else {
            unreachable!("a port takes the links that it declares")
        };
        let trained = port.peer.flex_bus.and_then(|peer| Some((peer, peer.train(&self.port(), rate_gtps)?)));
        let (Some((peer, agreed)), Ok(mut space)) = (trained, self.space()) else { unreachable!("it was checked") };
        space.trained(&peer.can, agreed);
        self.firmware(&mut space);
        // Where the switch has bound logical devices, each has a space of its own.
        let spaces: Vec<(Option<u16>, ConfigSpace)> = match peer.can.mld && self.logical_devices > 1 {
            false => vec![(None, space)],
            true => (0..self.logical_devices)
                .map(|ld| {
                    let mut own = self.space_of(1).unwrap_or_else(|e| unreachable!("it was checked: {e}"));
                    own.trained(&peer.can, agreed);
                    (Some(ld), own)
                })
                .collect(),
        };
        let (form, mem_form) = (mode::form(agreed, own, host), mode::message_form(agreed));
        let [name, mem_name] = ["function", "mem"].map(|part| format!("{}.{part}", site.path));
        let tap = hub.tap(&name, tlps::shows(form));
        let mem_tap = cachemem.then(|| hub.tap(&mem_name, PlaceKind::Messages(transaction_layouts(mem_form))));
        let config = CompleterConfig { boundary_bytes: self.boundary, not_ready: self.not_ready };
        let result: Arc<Mutex<FunctionResult>> = Arc::default();
        let (shared, place) = (result.clone(), name.clone());
        let (latency_cycles, link) = (self.latency_cycles, port.number);
        let arbiter = memory_device::arbiter(None, 1, site)?;
        let of_memory: Arc<Mutex<MemoryResult>> = Arc::default();
        let broken = of_memory.clone();
        let dropped = site.dropped_stores();
        let uio_memory = self.uio_memory.as_ref().map(UioDecoderConfig::range);
        // It learns its bus, device and function from configuration writes.
        let uio = self.uio.as_ref().map(|uio| uio.accesses((&name, link, form), 0, site.clock));
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let Some(plug) = plugs.into_iter().map(ComponentPlug::cxl_io).next() else { return Ok(()) };
                let (tx, rx) = plug.io;
                let memories = spaces.len();
                p.module(&name, clock, |bind| {
                    let logical = spaces.into_iter().map(|(ld, space)| LogicalFunction {
                        ld,
                        completer: Completer::new(config, space, Store::new(REGISTERS)).with_uio(uio_memory),
                        agent: PmAgent::new(PmConfig::new(PmSide::Device)),
                    });
                    let logical = logical.collect();
                    let (rx, tx) = (bind.attach(rx), bind.attach(tx));
                    let uio = uio.map(|(accesses, requester)| UioAccesses::new(accesses, requester, bind.rng()));
                    let names = IoRequestNames::new(link);
                    Function::new(logical, form, latency_cycles, names, rx, tx, tap, shared).asking(uio)
                })?;
                let Some(((tx, rx), tap)) = plug.mem.map(MemPlug::together).zip(mem_tap) else { return Ok(()) };
                let port = mode::routed_id(agreed, own);
                let logical = || LogicalDevice::new(EccStore::new(BACKGROUND, EccConfig::NONE), vec![None]);
                let place = mem_name.clone();
                let config = DeviceConfig {
                    logical: (0..memories).map(|_| logical()).collect(),
                    logical_bytes: 0,
                    timing: MemoryTiming { in_flight: MEM_QUEUE, ..MemoryTiming::fixed(latency_cycles) },
                    ports: vec![(MemoryRoute { id: port, form: mem_form }, link)],
                    arbiter,
                    patrol: None,
                    upsets: UpsetConfig::default(),
                    is_apart: false,
                    telemetry: None,
                    dropped,
                    place,
                };
                p.module(&mem_name, clock, |bind| {
                    let channels = vec![(bind.attach(rx), bind.attach(tx))];
                    MemoryDevice::new(config, channels, bind.rng(), tap, of_memory)
                })
            }),
            measure: Box::new(move || measured(&place, &super::published(&result), super::published(&broken).broken)),
            digest: Vec::new(),
            ledger: None,
        })
    }
}

fn measured(place: &str, function: &FunctionResult, of_memory: Vec<PlacedViolation>) -> ComponentMeasured {
    let mut counts: Vec<MetricValue> = vec![(&SERVED, function.requests), (&COMPLETIONS, function.completions)];
    let mut broken: Vec<_> = io::broken(place, &function.events).chain(of_memory).collect();
    let (mut bytes, mut latencies) = (0, Latencies::default());
    if let Some(uio) = &function.uio {
        let metrics = [&UIO_WRITES, &UIO_READS, &UIO_ABORTED, &UIO_UNSUPPORTED];
        counts.extend(metrics.into_iter().zip(uio::counted(uio)));
        broken.extend(io::broken(place, &uio.events));
        broken.extend(uio.broken.iter().cloned());
        (bytes, latencies) = (uio.bytes, uio.latencies.clone());
    }
    ComponentMeasured { counts, bytes, latencies, broken, ..ComponentMeasured::default() }
}
