//! Settings to a built simulation.

use crate::faults::faults;
use crate::memory;
use crate::settings::{GIVE_UP, SettingError, Settings};
use scalepool_fabric::ualink_switch::core::CoreStats;
use scalepool_fabric::ualink_switch::{Core, Routes, place_switch};
use scalepool_kernel::{BuildError, Clock, ClockId, LinkInEnd, LinkOutEnd, PartitionBuilder, Rng, Simulation, Time};
use scalepool_link::fault::Fault;
use scalepool_link::sim_port::SimPort;
use scalepool_link::ualink::EndConfig;
use scalepool_link::ualink::line::{LaneRate, Line, Width};
use scalepool_link::ualink::security::{Protection, SecurityConfig};
use scalepool_link::ualink::tl::port::{OnWire, PortResult};
use scalepool_link::ualink::tl::{Counts, TlConfig};
use scalepool_link::ualink::upli::{self, Ordering, UpliConfig};
use scalepool_link::ualink::wiring::{self, Socket, SocketKind};
use scalepool_memory::limit;
use scalepool_nodes::ualink::accelerator::{self, Accelerator, AcceleratorConfig, AcceleratorResult, PortEnds};
use scalepool_nodes::ualink::completer::Responses;
use scalepool_nodes::ualink::guard::Guard;
use scalepool_nodes::ualink::port::{self, Port, Tamper};
use scalepool_nodes::ualink::station::{self, Interfaces, ParityFault, Sides, Station, StationResult};
use scalepool_nodes::ualink::traffic::{Generator, Mix, Pattern, Traffic};
use scalepool_nodes::ualink::{Ends, InEnds, OutEnds, channels};
use scalepool_protocols::ualink::code::DeviceType;
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::flit::FLIT_BYTES;
use scalepool_trace::{Hub, Tap};
use std::sync::{Arc, Mutex};

/// Everything that the settings say.
#[derive(Debug, Clone)]
pub struct Design {
    /// Period of the reference clock \[fs\].
    pub accel_clock_fs: u64,
    /// Rate and width.
    pub line: Line,
    /// Accelerators.
    pub accelerators: u16,
    /// Switches; 0: two accelerators face each other.
    pub switches: usize,
    /// Links of an accelerator.
    pub links: usize,
    /// Order that is promised.
    pub ordering: Ordering,
    /// Protection of transactions.
    security: SecurityConfig,
    stall_percent: u64,
    /// Bits that flip in transactions that accelerator 0 receives by its first port.
    flips: Vec<(u64, u32)>,
    /// UPLIs of an accelerator, one entry a station; empty: they are left out.
    stations: Vec<Interfaces>,
    upli_faults: Vec<ParityFault>,
    /// Cycle of the first operation.
    pub start_cycle: u64,
    /// Cycles from one operation to the next; 0: as fast as they go.
    pub interval_cycles: u64,
    /// Beats of 64 bytes of an operation, for what is offered.
    pub beats: u64,
    ber: f64,
    give_up: u32,
    /// Of accelerator 0 on its first port, and of its peer there.
    faults: [Vec<Fault>; 2],
    pipeline_fs: u64,
    propagation_fs: u64,
    tl: TlConfig,
    traffic: Traffic,
    outstanding: usize,
    vcs: u8,
    latency_cycles: u64,
    queue: usize,
    responses: Responses,
    timeout_fs: u64,
    poison_every: u64,
    outage: Option<(Time, Time)>,
    /// Routes that are denied: from and to.
    pub denied: Vec<(u16, u16)>,
    switch_latency_fs: u64,
    egress_queue: u16,
}

impl Design {
    /// Reads the settings of `ualink-pair` (0) or `ualink-pod` (1).
    ///
    /// # Errors
    /// Values that do not go together, or a fault that cannot be read.
    pub fn read(scenario: usize, settings: &Settings) -> Result<Design, SettingError> {
        let line = Line {
            rate: if settings.word("link.rate_gtps") == "106.25" { LaneRate::G100 } else { LaneRate::G200 },
            width: match settings.word("link.width") {
                "1" => Width::X1,
                "2" => Width::X2,
                _ => Width::X4,
            },
            interleave: match settings.word("link.interleave") {
                "1" => 1,
                "2" => 2,
                _ => 4,
            },
        };
        let faults = faults(settings, FLIT_BYTES)?;
        let count = |key: &str| settings.int(key) as u16;
        let commands = (count("link.pool_commands"), count("link.vc_commands"));
        let data = (count("link.pool_data"), count("link.vc_data"));
        let shared = settings.is_on("link.shared_data_buffer");
        // One transaction of 256 bytes has to fit, and in a shared buffer the one response that requests leave room for.
        let pays = |commands: u16, data: u16| commands > 0 && data >= 4;
        if !pays(commands.0, data.0) && !pays(commands.1, data.1) {
            let text = "expected pool or channel buffers for a transaction and its 4 beats".to_owned();
            return Err(SettingError::Together { key: "link.pool_data", text });
        }
        let compress = settings.is_on("link.compression");
        let protection = match settings.word("link.authentication") {
            "auth" => Protection::Authenticate,
            "encrypt" => Protection::Encrypt,
            _ => Protection::Off,
        };
        let protected = protection != Protection::Off;
        let together = |key: &'static str, text: &str| Err(SettingError::Together { key, text: text.to_owned() });
        let relaxed = settings.word("link.order") == "relaxed";
        if protected && relaxed {
            return together("link.order", "expected strict order where transactions count (link.authentication)");
        }
        if protected && settings.int("traffic.poison_every") > 0 {
            return together("traffic.poison_every", "expected 0 with link.authentication: poison cannot be judged");
        }
        if !protected && settings.int("link.key_roll_every") > 0 {
            return together("link.key_roll_every", "expected 0 without link.authentication");
        }
        let codec =
            UalConfig { authentication: protected, encryption: protection == Protection::Encrypt, ..UalConfig::SHEET };
        let tl = TlConfig {
            codec,
            buffers: Counts::even([commands.0, data.0], [commands.1, data.1]),
            shared_data_buffer: shared,
            compress_requests: compress,
            // The compressed forms lose the source, which names the key where the tag is encrypted.
            compress_responses: compress && protection != Protection::Encrypt,
            strict_order: !relaxed,
            ..TlConfig::accelerator()
        };
        let pod = scenario == 1;
        let accelerators = if pod { count("pod.accelerators") } else { 2 };
        let mut denied = Vec::new();
        if pod {
            for text in settings.list("switch.deny") {
                let ends = text.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                denied.push(ends.ok_or_else(|| settings.refuse("switch.deny", text))?);
            }
        }
        let bytes: u16 = settings.int("traffic.bytes") as u16;
        let traffic = Traffic {
            own: 0,
            accelerators,
            pattern: match if pod { settings.word("traffic.pattern") } else { "ring" } {
                "ring" => Pattern::Ring,
                "hot-spot" => Pattern::HotSpot,
                "random" => Pattern::Random,
                _ => Pattern::AllToAll,
            },
            mix: match settings.word("traffic.mix") {
                "reads" => Mix::Reads,
                "writes" => Mix::Writes,
                "mix" => Mix::TwoToOne,
                _ => Mix::All,
            },
            bytes,
            regions: settings.int("traffic.regions"),
            blocks: settings.int("traffic.blocks"),
            count: settings.int("traffic.operations"),
            key_roll_every: settings.int("link.key_roll_every"),
        };
        let links = settings.int(if pod { "pod.switches" } else { "pair.ports" }) as usize;
        let ports_per_station = 4 / line.width.lanes() as usize;
        if !pod && links > ports_per_station {
            return together("pair.ports", "expected at most the 4 lanes of a station in all (link.width)");
        }
        let ordering = if relaxed { Ordering::Default } else { Ordering::Strict };
        let credits = upli::Counts::each(count("upli.credits"));
        let mut stations = Vec::new();
        let has_upli = settings.is_on("upli.model");
        for first in (0..links).step_by(ports_per_station).filter(|_| has_upli) {
            let config = UpliConfig {
                ports: (links - first).min(ports_per_station) as u8,
                credits: [credits; 4],
                ordering,
                // The accelerator's own time-out comes first.
                watchdog_cycles: 2 * settings.int("accel.timeout_fs") / settings.int("accel.clock_fs") + 1,
                codec,
                ..UpliConfig::default()
            };
            let refused = |e: upli::ConfigError| SettingError::Together { key: "upli.credits", text: e.to_string() };
            stations.push(Interfaces::new(config).map_err(refused)?);
        }
        let mut upli_faults = Vec::new();
        for text in settings.list("upli.fault") {
            upli_faults.push(station::parse(text).ok_or_else(|| settings.refuse("upli.fault", text))?);
        }
        if !has_upli && !upli_faults.is_empty() {
            return together("upli.fault", "expected none without upli.model");
        }
        let mut flips = Vec::new();
        for text in settings.list("link.tamper") {
            flips.push(port::parse(text).ok_or_else(|| settings.refuse("link.tamper", text))?);
        }
        let design = Design {
            accel_clock_fs: settings.int("accel.clock_fs"),
            line,
            accelerators,
            switches: if pod { links } else { 0 },
            links,
            ordering,
            security: SecurityConfig { protection, ..SecurityConfig::default() },
            stall_percent: settings.int("link.stall_percent"),
            flips,
            stations,
            upli_faults,
            start_cycle: settings.int("traffic.start_cycles"),
            interval_cycles: settings.int("traffic.interval_cycles"),
            beats: u64::from(bytes / 64),
            ber: settings.real("link.ber"),
            give_up: settings.int(GIVE_UP.name) as u32,
            faults,
            pipeline_fs: settings.int("link.pipeline_fs"),
            propagation_fs: settings.int("link.propagation_fs"),
            tl,
            traffic,
            outstanding: settings.int("accel.outstanding") as usize,
            vcs: settings.int("accel.vcs") as u8,
            latency_cycles: settings.int("accel.latency_cycles"),
            queue: settings.int("accel.queue") as usize,
            responses: if settings.word("accel.responses") == "single" { Responses::Single } else { Responses::Multi },
            timeout_fs: settings.int("accel.timeout_fs"),
            poison_every: settings.int("traffic.poison_every"),
            outage: match settings.int("link.outage_fs") {
                0 => None,
                from => {
                    let from = Time::from_fs(from);
                    Some((from, from.plus_fs(settings.int("link.outage_length_fs"))))
                }
            },
            denied,
            switch_latency_fs: if pod { settings.int("switch.latency_fs") } else { 0 },
            egress_queue: if pod { count("switch.egress_queue") } else { 0 },
        };
        design.check_memory()?;
        Ok(design)
    }

    /// Refuses more flits under way than there is memory for.
    fn check_memory(&self) -> Result<(), SettingError> {
        /// Bytes of a flit under way beside its own: what else the wire keeps of it.
        const BESIDE_BYTES: usize = 64;
        let (links, ends) = match self.switches {
            0 => (self.links as u64, 2),
            switches => (u64::from(self.accelerators) * switches as u64, 1),
        };
        let key = if self.pipeline_fs > self.propagation_fs { "link.pipeline_fs" } else { "link.propagation_fs" };
        let unit_time = self.line.code_word_fs();
        memory::refuse(key, limit::above_on_wires(2 * links, self.wire_fs(ends), unit_time, FLIT_BYTES + BESIDE_BYTES))
    }

    /// Ports of an accelerator.
    pub fn ports(&self) -> usize {
        self.links
    }

    /// Bytes a second of whole DL flits of one port in one direction.
    pub fn flit_bytes_per_s(&self) -> f64 {
        let (num, den) = self.line.code_word_fs();
        FLIT_BYTES as f64 * 1e15 * den as f64 / num as f64
    }

    /// Time from the transmitter of one end to the receiver of the other: a flit is there when its last byte is, and the
    /// last code word of its group.
    fn wire_fs(&self, accelerators: u64) -> u64 {
        let (num, den) = self.line.code_word_fs();
        accelerators * self.pipeline_fs + self.propagation_fs + self.line.interleave_delay_fs() + num.div_ceil(den)
    }

    fn flit_clock(&self) -> Result<Clock, BuildError> {
        let (num, den) = self.line.code_word_fs();
        Clock::new(num, den, 0)
    }
}

/// Results of all modules.
#[derive(Debug, Default)]
pub struct Results {
    /// Accelerators.
    pub accelerators: Vec<Arc<Mutex<AcceleratorResult>>>,
    /// All link ends.
    pub ports: Vec<(SimPort, Arc<Mutex<PortResult>>)>,
    /// Switches.
    pub switches: Vec<Arc<Mutex<CoreStats>>>,
    /// UPLIs, by name.
    pub stations: Vec<(String, Arc<Mutex<StationResult>>)>,
}

impl Results {
    /// A link end with its place in traces.
    fn socket(
        &mut self,
        name: &str,
        design: &Design,
        configs: (EndConfig, TlConfig),
        dir: &'static str,
        wires: (LinkOutEnd<OnWire>, LinkInEnd<OnWire>),
        hub: &mut Hub,
    ) -> Socket {
        let kind = SocketKind { ber: design.ber, give_up: design.give_up, stall_percent: design.stall_percent };
        let (mut socket, port, result) = Socket::new(name, configs, dir, kind, wires);
        socket.tap(hub);
        self.ports.push((port, result));
        socket
    }
}

/// An accelerator that is still to be built.
struct AcceleratorParts {
    config: AcceleratorConfig,
    ports: Vec<Socket>,
    security: SecurityConfig,
    seed: u64,
    flips: Vec<(u64, u32)>,
    stations: Vec<StationParts>,
    tap: Tap,
    result: Arc<Mutex<AcceleratorResult>>,
}

/// A station that is still to be built.
struct StationParts {
    name: String,
    interfaces: Interfaces,
    faults: Vec<ParityFault>,
    taps: [Tap; 2],
    result: Arc<Mutex<StationResult>>,
}

impl AcceleratorParts {
    fn new(design: &Design, own: u16, seed: u64, ports: Vec<Socket>, hub: &mut Hub, results: &mut Results) -> Self {
        let place = format!("accel[{own}]");
        let rng = Rng::for_name(seed, &format!("{place}:operations"));
        let config = AcceleratorConfig {
            own,
            place: place.clone(),
            operations: Generator::new(Traffic { own, ..design.traffic }, rng),
            start_cycle: design.start_cycle,
            interval_cycles: design.interval_cycles,
            outstanding: design.outstanding,
            vcs: design.vcs,
            poison_every: design.poison_every,
            timeout_fs: design.timeout_fs,
            latency_cycles: design.latency_cycles,
            queue: design.queue,
            responses: design.responses,
        };
        let result = Arc::new(Mutex::new(AcceleratorResult::default()));
        results.accelerators.push(result.clone());
        let stations = design.stations.iter().enumerate().map(|(n, interfaces)| {
            let name = format!("{place}.upli[{n}]");
            let result = Arc::new(Mutex::new(StationResult::default()));
            results.stations.push((name.clone(), result.clone()));
            let faults = if (own, n) == (0, 0) { design.upli_faults.clone() } else { Vec::new() };
            let taps = ["asks", "asked"].map(|of| hub.tap(&format!("{name}.{of}"), station::SHOWS));
            StationParts { name, interfaces: interfaces.clone(), faults, taps, result }
        });
        let stations: Vec<StationParts> = stations.collect();
        AcceleratorParts {
            config,
            ports,
            security: design.security,
            seed,
            flips: if own == 0 { design.flips.clone() } else { Vec::new() },
            stations,
            tap: hub.tap(&place, accelerator::SHOWS),
            result,
        }
    }

    fn build(self, p: &mut PartitionBuilder, core: ClockId, flit: ClockId) -> Result<(), BuildError> {
        let AcceleratorParts { config, ports, security, seed, flips, stations, tap, result } = self;
        let (name, own) = (config.place.clone(), config.own);
        let count = ports.len();
        // Each port has its channels; with a UPLI between, the accelerator has others.
        let mut ends = Vec::new();
        for (n, parts) in ports.into_iter().enumerate() {
            let ((to_port, from_port), (tx, rx)) = channels(p, &name, "", n)?;
            ends.push((to_port, from_port));
            let port_name = parts.name().to_owned();
            let guard = (security.protection != Protection::Off).then(|| Guard::new(security, own, n, seed));
            let flips = if n == 0 { flips.clone() } else { Vec::new() };
            p.module(&port_name, flit, |bind| Port {
                link: parts.bind(bind),
                tx: tx.map(|end| bind.attach(end)),
                rx: rx.map(|end| bind.attach(end)),
                guard,
                tamper: Tamper { flips, seen: 0 },
            })?;
        }
        if !stations.is_empty() {
            let each = count.div_ceil(stations.len());
            let mut port_ends = ends.into_iter().enumerate();
            let mut accel_ends = Vec::new();
            for StationParts { name: station, interfaces, faults, taps, result } in stations {
                let mut sides = Vec::new();
                for (n, to_from_port) in port_ends.by_ref().take(each) {
                    let (accel, mine) = channels(p, &name, "upli_", n)?;
                    accel_ends.push(accel);
                    sides.push((mine, to_from_port));
                }
                p.module(&station, core, |bind| {
                    let attach = |((accel_rx, accel_tx), (port_tx, port_rx)): ((InEnds, OutEnds), Ends)| Sides {
                        accel_rx: accel_rx.map(|end| bind.attach(end)),
                        accel_tx: accel_tx.map(|end| bind.attach(end)),
                        port_rx: port_rx.map(|end| bind.attach(end)),
                        port_tx: port_tx.map(|end| bind.attach(end)),
                    };
                    let sides = sides.into_iter().map(attach).collect();
                    Station::new(&station, interfaces, faults, sides, taps, result)
                })?;
            }
            ends = accel_ends;
        }
        p.module(&name, core, |bind| {
            let attach =
                |(tx, rx): Ends| PortEnds { tx: tx.map(|end| bind.attach(end)), rx: rx.map(|end| bind.attach(end)) };
            let ports = ends.into_iter().map(attach).collect();
            Accelerator::new(config, ports, bind.rng(), tap, result)
        })
    }
}

/// Builds the simulation.
///
/// # Errors
/// A mistake of ours.
pub fn build(design: &Design, seed: u64, hub: &mut Hub) -> Result<(Simulation, Results), BuildError> {
    let mut sim = Simulation::new(seed);
    let mut results = Results::default();
    match design.switches {
        0 => pair(design, seed, &mut sim, hub, &mut results)?,
        _ => pod(design, seed, &mut sim, hub, &mut results)?,
    }
    Ok((sim, results))
}

/// Two accelerators face each other, a partition each.
fn pair(
    design: &Design,
    seed: u64,
    sim: &mut Simulation,
    hub: &mut Hub,
    results: &mut Results,
) -> Result<(), BuildError> {
    let latency_fs = design.wire_fs(2);
    let mut wires = [Vec::new(), Vec::new()];
    for n in 0..design.links {
        let names = [format!("wire.down[{n}]"), format!("wire.up[{n}]")];
        let ends = wiring::wires(sim, names.each_ref().map(String::as_str), latency_fs)?;
        wires.iter_mut().zip(ends).for_each(|(wires, end)| wires.push(end));
    }
    for ((own, dir), wires) in [(0, "up"), (1, "down")].into_iter().zip(wires) {
        let mut ports = Vec::new();
        for (n, wires) in wires.into_iter().enumerate() {
            let end = EndConfig {
                peer_type: DeviceType::Accelerator,
                opens_channels: own == 0,
                ..EndConfig::accelerator(design.line, own)
            };
            let name = format!("accel[{own}].port[{n}]");
            let faults = if n == 0 { design.faults[usize::from(own)].clone() } else { Vec::new() };
            let mut port = results.socket(&name, design, (end, design.tl), dir, wires, hub);
            port.faults = faults;
            port.outage = if (own, n) == (0, 0) { design.outage } else { None };
            ports.push(port);
        }
        let parts = AcceleratorParts::new(design, own, seed, ports, hub, results);
        let (core, flit) = (Clock::with_period_fs(design.accel_clock_fs)?, design.flit_clock()?);
        sim.partition(move |p| {
            let core = p.clock("accel", core)?;
            let flit = p.clock("flit", flit)?;
            parts.build(p, core, flit)
        });
    }
    Ok(())
}

/// Partitions of accelerators; those of switches come on top.
const GROUPS: usize = 8;
/// Accelerators around switches; each switch is a partition, the accelerators are up to eight.
fn pod(
    design: &Design,
    seed: u64,
    sim: &mut Simulation,
    hub: &mut Hub,
    results: &mut Results,
) -> Result<(), BuildError> {
    let latency_fs = design.wire_fs(1);
    let mut switch_ports: Vec<Vec<Socket>> = (0..design.switches).map(|_| Vec::new()).collect();
    let mut groups: Vec<Vec<AcceleratorParts>> = (0..GROUPS).map(|_| Vec::new()).collect();
    for own in 0..design.accelerators {
        let mut ports = Vec::new();
        for (switch, ends) in switch_ports.iter_mut().enumerate() {
            let names = [format!("wire.up[{own}][{switch}]"), format!("wire.down[{own}][{switch}]")];
            let [near, far] = wiring::wires(sim, names.each_ref().map(String::as_str), latency_fs)?;
            let faults = if (own, switch) == (0, 0) { design.faults.clone() } else { [Vec::new(), Vec::new()] };
            let [mine, peers] = faults;
            let end = EndConfig::accelerator(design.line, own);
            let name = format!("accel[{own}].port[{switch}]");
            let mut port = results.socket(&name, design, (end, design.tl), "up", near, hub);
            port.faults = mine;
            port.outage = if (own, switch) == (0, 0) { design.outage } else { None };
            ports.push(port);
            let end = EndConfig::switch_port(design.line, own);
            let TlConfig { role, isolates, .. } = TlConfig::switch_port();
            let tl = TlConfig { role, isolates, ..design.tl };
            let name = format!("switch[{switch}].port[{own}]");
            let mut port = results.socket(&name, design, (end, tl), "down", far, hub);
            port.faults = peers;
            ends.push(port);
        }
        let group = usize::from(own) * GROUPS / usize::from(design.accelerators);
        groups[group].push(AcceleratorParts::new(design, own, seed, ports, hub, results));
    }
    let (core, flit) = (Clock::with_period_fs(design.accel_clock_fs)?, design.flit_clock()?);
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        sim.partition(move |p| {
            let (core, flit) = (p.clock("accel", core)?, p.clock("flit", flit)?);
            group.into_iter().try_for_each(|parts| parts.build(p, core, flit))
        });
    }
    for (n, ports) in switch_ports.into_iter().enumerate() {
        let mut routes = Routes::new(design.accelerators, design.line.width.lanes() as u16);
        routes.allow_all();
        design.denied.iter().for_each(|&(from, to)| routes.set_denied(from, to, true));
        let (num, den) = design.line.code_word_fs();
        // A clock to the core and one back are a part of the latency.
        let latency_cycles = (design.switch_latency_fs * den).div_ceil(num).saturating_sub(2);
        let middle = Core::new(routes, latency_cycles, design.egress_queue);
        let result = Arc::new(Mutex::new(CoreStats::default()));
        results.switches.push(result.clone());
        sim.partition(move |p| {
            let flit = p.clock("flit", flit)?;
            place_switch(p, &format!("switch[{n}]"), ports, flit, middle, result)
        });
    }
    Ok(())
}
