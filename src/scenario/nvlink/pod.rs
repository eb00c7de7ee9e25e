//! `nvlink-pod`: GPUs behind one stage of switches. Basis: model (NVL-M1).
//!
//! Modelled: link l of each GPU goes to switch l modulo the switches, so a message passes one switch; every link with its
//! CRC, credits and replay. A partition a GPU and a switch; one clock, that of the flits, the reference. Left out: several
//! stages, link failures.

use super::outcome::{Results, Run, read};
use super::pair::check_sizes;
use super::*;
use crate::drive::{Built, Ended, identity};
use crate::memory as memory_of;
use crate::report::{Broken, FabricFigures};
use crate::settings::{GIVE_UP, SettingError};
use crate::{Request, RunError};
use scalepool_fabric::nvlink_switch::reduction::NumberType;
use scalepool_fabric::nvlink_switch::{
    Crossbar, CrossbarConfig, Groups, PRESETS, PortEnds, RemapEntry, RemapTable, Routes, SwitchMutant, SwitchPreset,
    SwitchResult, Target,
};
use scalepool_kernel::{Rng, SimError};
use scalepool_link::nvlink::chain::Chain;
use scalepool_link::nvlink::port::CHANNELS;
use scalepool_link::nvlink::wiring;
use scalepool_memory::limit;
use scalepool_nodes::nvlink::collective::{AllReduce, Vectors, Way};
use scalepool_nodes::nvlink::gpu::{GpuConfig, Mutant};
use scalepool_nodes::nvlink::program::Program;
use scalepool_nodes::nvlink::traffic::{Aim, Mix, Traffic, TrafficConfig};
use std::collections::BTreeMap;

/// Name on the command line.
pub const NAME: &str = "nvlink-pod";
/// What it is.
pub const DOC: &str = "model NVL-M1: 8 to 72 GPUs behind NVLink switches, traffic and all-reduce checked bit for bit";

/// Settings. Numbers without another source are of the model (basis: model).
pub static KEYS: &[Key] = &[
    key("pod.gpus", "8", "GPUs", Range::Int(2, 72), "number of GPUs (nvlink §5: up to 72)"),
    key(
        "pod.switch",
        "4",
        "-",
        Range::Words(&["1", "2", "3", "4"]),
        "switch generation, with 18, 36, 64 or 72 ports and its links (nvlink §5)",
    ),
    key("pod.links", "1", "links per GPU", Range::Int(1, 18), "links, spread over the switches (nvlink §4: up to 18)"),
    key("pod.switches", "0", "switches", Range::Int(0, 18), "number of switches; 0 = as few as have enough ports"),
    LATENCY,
    BER,
    GIVE_UP,
    STALL,
    HEADERS,
    DATA_FLITS,
    key(
        "switch.hop_fs",
        "150000000",
        "fs",
        Range::Int(0, 1 << 40),
        "latency from packet in to packet out (nvlink §5, a choice)",
    ),
    key("switch.store_flits", "2048", "flits", Range::Int(32, 1 << 20), "buffer of each input and channel"),
    MEMORY,
    OUTSTANDING,
    key(
        "pod.work",
        "all-to-all",
        "-",
        Range::Words(&["all-to-all", "hot-spot", "random", "ring", "direct", "switch"]),
        "all-to-all, hot-spot (to GPU 0), random: traffic; ring, direct (by reads), switch: all-reduce",
    ),
    key(
        "traffic.mix",
        "writes",
        "-",
        Range::Words(&["writes", "reads", "mix"]),
        "posted writes, reads, or all operations",
    ),
    key("traffic.requests", "200", "requests", Range::Int(0, 1 << 24), "requests of each GPU"),
    key("traffic.load", "0", "flits per GPU and cycle", Range::Real(0.0, 18.0), "offered load; 0 = unthrottled"),
    BYTES,
    REGION,
    VERIFY,
    key("collective.gpus", "0", "GPUs", Range::Int(0, 72), "number of GPUs that take part; 0 = all"),
    key(
        "collective.bytes",
        "65536",
        "bytes",
        Range::Int(512, 1 << 28),
        "size of each GPU's vector, rounded up to 256 bytes per GPU",
    ),
    key("collective.number", "f32", "-", Range::Words(&["int32", "f32", "bf16"]), "number type of the vector"),
];

/// Mistakes for tests of the rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mutants {
    /// Of all GPUs.
    pub gpu: Mutant,
    /// Of all switches.
    pub switch: SwitchMutant,
    /// The last GPU is missing in the remap tables.
    pub no_entry: bool,
}

/// Builds the scenario.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build(request: &Request, settings: &Settings) -> Result<Built, RunError> {
    build_with(request, settings, Mutants::default())
}

/// Sizes of a pod.
struct Shape {
    preset: &'static SwitchPreset,
    gpus: u16,
    links: usize,
    switches: usize,
    /// GPUs of a collective.
    members: u16,
}

impl Shape {
    fn of(settings: &Settings) -> Result<Shape, SettingError> {
        let number = settings.word("pod.switch").parse::<usize>().unwrap_or(PRESETS.len());
        let preset = &PRESETS[number.clamp(1, PRESETS.len()) - 1];
        let (gpus, links) = (settings.int("pod.gpus") as usize, settings.int("pod.links") as usize);
        let together = |key, text| SettingError::Together { key, text };
        if gpus > preset.ports {
            let text = format!("found {gpus}, expected at most the {} ports of switch {number}", preset.ports);
            return Err(together("pod.gpus", text));
        }
        let fits = |switches: usize| gpus * links.div_ceil(switches) <= preset.ports;
        let switches = match settings.int("pod.switches") as usize {
            0 => (1..=links).find(|&s| fits(s)).unwrap_or(links),
            given if given <= links && fits(given) => given,
            given => {
                let text = format!("found {given}, expected at most {links}, each with ports for all of its links");
                return Err(together("pod.switches", text));
            }
        };
        let members = match settings.int("collective.gpus") as usize {
            0 => gpus,
            given if (2..=gpus).contains(&given) => given,
            given => return Err(together("collective.gpus", format!("found {given}, expected 0 or 2 to {gpus}"))),
        };
        if settings.word("pod.work") == "switch" && !preset.multicast {
            return Err(together("pod.work", format!("switch {number} neither copies nor reduces, expected 3 or 4")));
        }
        Ok(Shape { preset, gpus: gpus as u16, links, switches, members: members as u16 })
    }

    fn generation(&self) -> &'static Generation {
        &GENERATIONS[self.preset.link_generation - 1]
    }
}

/// Window of the multicast group: the first behind all GPUs.
const fn group_window(gpus: u16) -> u16 {
    gpus
}

/// The same with mistakes.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build_with(request: &Request, settings: &Settings, mutants: Mutants) -> Result<Built, RunError> {
    check_sizes(settings)?;
    let shape = Shape::of(settings)?;
    let way = match settings.word("pod.work") {
        "ring" => Some(Way::Ring),
        "direct" => Some(Way::Direct),
        "switch" => Some(Way::Switch),
        _ => None,
    };
    let number = match settings.word("collective.number") {
        "int32" => NumberType::Int32,
        "bf16" => NumberType::Bf16,
        _ => NumberType::F32,
    };
    let blocks = settings
        .int("collective.bytes")
        .div_ceil(u64::from(shape.members) * scalepool_nodes::nvlink::gang::BLOCK_BYTES);
    if way.is_some() {
        // A vector each, and their sum.
        let bytes =
            u128::from(blocks) * u128::from(shape.members) * u128::from(scalepool_nodes::nvlink::gang::BLOCK_BYTES);
        let text = format!("the vectors of {} GPUs and their sum", shape.members);
        memory_of::refuse("collective.bytes", limit::above(&text, bytes * (u128::from(shape.members) + 1)))?;
    }
    let vectors = way.map(|way| (way, Arc::new(Vectors::new(request.seed, shape.members.into(), blocks, number, way))));
    let mut hub = Hub::default();
    let mut results = Results::default();
    let mut switches = Vec::new();
    let sim = simulation(request, settings, &shape, mutants, vectors.as_ref(), &mut hub, &mut results, &mut switches)
        .map_err(|e| RunError::Build(SimError::Build(e)))?;
    let (flit_fs, ports) = (shape.generation().flit_fs(), results.ports());
    let of_report = settings.clone();
    let report = move |request: &Request, ended: Ended| {
        let bytes = vectors.as_ref().map(|(_, v)| v.bytes());
        let extra = figures(&of_report, &shape, &results, &switches, bytes);
        let directions = u64::from(shape.gpus) * shape.links as u64;
        let own = own_of_switches(&shape, &switches);
        Run { request, flit_fs, directions, own, extra }.report(ended, &results)
    };
    Ok(Built {
        sim,
        hub,
        identity: identity(request, settings),
        ber: settings.real("link.ber"),
        clock_fs: flit_fs,
        stall_limit_fs: STALL_LIMIT_FS,
        stimulus: Vec::new(),
        ports,
        report: Box::new(report),
        chart: None,
    })
}

/// What the switches have taken in and sent out of themselves, by GPU and link.
fn own_of_switches(
    shape: &Shape,
    switches: &[(String, Shared<SwitchResult>)],
) -> BTreeMap<(usize, usize), [[Chain; 2]; CHANNELS.len()]> {
    let of_switches: Vec<SwitchResult> = switches.iter().map(|(_, s)| read(s)).collect();
    let ends = (0..usize::from(shape.gpus)).flat_map(|gpu| (0..shape.links).map(move |link| (gpu, link)));
    // Ports are plugged GPU by GPU, link by link.
    let mut plugged = vec![0; shape.switches];
    ends.filter_map(|end| {
        let switch = end.1 % shape.switches;
        let port = plugged[switch];
        plugged[switch] += 1;
        Some((end, *of_switches[switch].own.get(port)?))
    })
    .collect()
}

type Shared<T> = Arc<Mutex<T>>;

/// What the switches and the collective add to the report.
fn figures(
    settings: &Settings,
    shape: &Shape,
    results: &Results,
    switches: &[(String, Shared<SwitchResult>)],
    vector_bytes: Option<u64>,
) -> (Vec<Broken>, Vec<(String, u64)>, Option<FabricFigures>) {
    let gpus: Vec<GpuResult> = results.gpus.iter().map(|g| read(g)).collect();
    let of_switches: Vec<SwitchResult> = switches.iter().map(|(_, s)| read(s)).collect();
    let names = switches.iter().map(|(name, _)| name);
    let broken = names.zip(&of_switches).flat_map(|(name, s)| {
        s.broken.iter().map(move |e| Broken { place: name.clone(), violation: e.violation.clone() })
    });
    let sum = |count: fn(&SwitchResult) -> u64| of_switches.iter().map(count).sum::<u64>();
    let most = |count: fn(&SwitchResult) -> u64| of_switches.iter().map(count).max().unwrap_or(0);
    let cycles = gpus.iter().map(|g| g.last_cycle).max().unwrap_or(0);
    let mut counts: Vec<(String, u64)> = [
        ("switches", shape.switches as u64),
        ("switch messages received", sum(|s| s.received)),
        ("switch messages sent", sum(|s| s.sent)),
        ("switch copies", sum(|s| s.copies)),
        ("switch sums", sum(|s| s.sums)),
        ("switch misses", sum(|s| s.misses)),
        ("switch stray responses", sum(|s| s.strays)),
        ("switch store full", sum(|s| s.full_stalls)),
        ("most grants lost in a row", most(|s| s.most_lost)),
        ("packets of the busiest input", most(|s| s.by_input.iter().copied().max().unwrap_or(0))),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into();
    if let Some(bytes) = vector_bytes {
        // n - 1 of n chunks go in and out of each GPU twice; headers take 1 flit of 17.
        let n = f64::from(shape.members);
        let seconds = cycles as f64 * shape.generation().flit_fs() as f64 / 1e15;
        let bus = 2.0 * (n - 1.0) / n * bytes as f64 / seconds.max(f64::MIN_POSITIVE);
        let wire = shape.links as f64 * shape.generation().link_mbps() as f64;
        counts.push(("vector [bytes]".into(), bytes));
        counts.push(("bus bandwidth [MB/s]".into(), (bus / 1e6) as u64));
        counts.push((
            "bus bandwidth of full packets [MB/s]".into(),
            (wire * scalepool_protocols::nvlink::efficiency(256, 0)) as u64,
        ));
    }
    let per_node = |flits: u64| flits as f64 / (f64::from(shape.gpus) * cycles.max(1) as f64);
    let load = settings.real("traffic.load");
    let offered = per_node(gpus.iter().map(|g| g.flits).sum());
    let fabric = FabricFigures {
        // One stage: whatever has arrived has passed one switch.
        // GPU to switch, switch to GPU.
        hops_mean: if sum(|s| s.sent) > 0 { 2.0 } else { 0.0 },
        offered_flits_per_node_cycle: if load > 0.0 && vector_bytes.is_none() { load } else { offered },
        accepted_flits_per_node_cycle: per_node(gpus.iter().map(|g| g.received_flits).sum()),
    };
    (broken.collect(), counts, Some(fabric))
}

/// The remap table, the same for all inputs: each GPU's memory, and the group behind them.
fn remap_table(shape: &Shape, no_entry: bool) -> RemapTable {
    let mut table = RemapTable::default();
    let gpus = if no_entry { shape.gpus - 1 } else { shape.gpus };
    let endpoints = (0..gpus).map(|g| (g, Target::Endpoint(g)));
    for (select, target) in endpoints.chain([(group_window(shape.gpus), Target::Group(0))]) {
        table.set(select, RemapEntry::whole(target)).unwrap_or_else(|e| unreachable!("a whole window: {e}"));
    }
    table
}

#[allow(clippy::too_many_arguments)]
fn simulation(
    request: &Request,
    settings: &Settings,
    shape: &Shape,
    mutants: Mutants,
    vectors: Option<&(Way, Arc<Vectors>)>,
    hub: &mut Hub,
    results: &mut Results,
    switches: &mut Vec<(String, Shared<SwitchResult>)>,
) -> Result<Simulation, BuildError> {
    let generation = shape.generation();
    let (clock, kind) = (Clock::with_period_fs(generation.flit_fs())?, link_kind(settings, generation));
    let latency_fs = settings.int("link.latency_fs");
    let mut sim = Simulation::new(request.seed);
    let mut of_switches: Vec<Vec<Socket>> = (0..shape.switches).map(|_| Vec::new()).collect();
    let mut routes = vec![Routes::default(); shape.switches];
    for id in 0..shape.gpus {
        let mut sockets = Vec::new();
        for link in 0..shape.links {
            let (switch, ports) = (link % shape.switches, &mut of_switches[link % shape.switches]);
            let names = [format!("gpu[{id}].link[{link}]"), format!("switch[{switch}].port[{}]", ports.len())];
            let [mut near, mut far] = wiring::link(&mut sim, [&names[0], &names[1]], latency_fs)?;
            near.tap(hub);
            far.tap(hub);
            results.add([&mut near, &mut far]);
            routes[switch].add(id, ports.len());
            ports.push(far);
            sockets.push(near);
        }
        let config = GpuConfig {
            id,
            memory_cycles: settings.int("gpu.memory_cycles"),
            outstanding: settings.int("gpu.outstanding") as usize,
            answer_queue: ANSWER_QUEUE,
            group: shape.members,
            program: program(request, settings, shape, vectors, id),
            mutant: mutants.gpu,
        };
        results.gpus.push(add_gpu(&mut sim, hub, clock, kind, config, sockets));
    }
    let remap = Arc::new(remap_table(shape, mutants.no_entry));
    for (n, (sockets, routes)) in of_switches.into_iter().zip(routes).enumerate() {
        let name = format!("switch[{n}]");
        let result: Shared<SwitchResult> = Arc::default();
        switches.push((name.clone(), result.clone()));
        let mut groups = Groups::default();
        if shape.preset.multicast {
            let place_of = |place: usize, g: u16| {
                let ports = routes.ports(g);
                ports.get(place % ports.len().max(1)).copied()
            };
            let places = shape.links.div_ceil(shape.switches);
            let sets: Vec<Vec<usize>> =
                (0..places).map(|p| (0..shape.members).filter_map(|g| place_of(p, g)).collect()).collect();
            groups.set(0, sets).unwrap_or_else(|e| unreachable!("one port a member: {e}"));
        }
        let config = CrossbarConfig {
            name: name.clone(),
            hop_cycles: settings.int("switch.hop_fs").div_ceil(generation.flit_fs()),
            store_flits: settings.int("switch.store_flits") as u32,
            remap: vec![remap.clone(); sockets.len()],
            routes,
            groups,
            mutant: mutants.switch,
        };
        sim.partition(move |p| {
            let flit = p.clock("flit", clock)?;
            let plugs = sockets.into_iter().map(|s| s.place(p, flit, &kind)).collect::<Result<Vec<_>, BuildError>>()?;
            p.module(&format!("{name}.crossbar"), flit, |bind| {
                let ends = plugs.into_iter().map(|plug| PortEnds {
                    rx: plug.rx.map(|end| bind.attach(end)),
                    tx: plug.tx.map(|end| bind.attach(end)),
                });
                let ends = ends.collect();
                Crossbar::new(config, ends, result).unwrap_or_else(|e| unreachable!("at most 72 ports: {e}"))
            })
        });
    }
    Ok(sim)
}

fn program(
    request: &Request,
    settings: &Settings,
    shape: &Shape,
    vectors: Option<&(Way, Arc<Vectors>)>,
    id: u16,
) -> Box<dyn Program> {
    let aim = match settings.word("pod.work") {
        "hot-spot" => Aim::HotSpot(0),
        "random" => Aim::Random,
        _ => Aim::AllToAll,
    };
    let requests = match vectors {
        Some((way, vectors)) if id < shape.members => {
            return Box::new(AllReduce::new(*way, id, group_window(shape.gpus), vectors.clone()));
        }
        Some(_) => 0,
        None => settings.int("traffic.requests"),
    };
    let mix = match settings.word("traffic.mix") {
        "reads" => Mix::Reads,
        "mix" => Mix::All,
        _ => Mix::Writes,
    };
    let config = TrafficConfig {
        id,
        gpus: shape.gpus,
        mix,
        aim,
        requests,
        bytes: settings.int("traffic.bytes") as usize,
        region_bytes: settings.int("traffic.region_bytes"),
        load: settings.real("traffic.load"),
        verify: settings.is_on("traffic.verify"),
    };
    Box::new(Traffic::new(config, Rng::for_name(request.seed, &format!("gpu[{id}].traffic"))))
}
