//! NVLink scenarios, model profile NVL-M1. Basis: model, no product.
//!
//! Modelled: `nvlink-pair`, two GPUs over ganged links; `nvlink-pod`, 8 to 72 GPUs behind switches. Every link carries
//! whole packets bit for bit, with CRC, credits and replay. Left out: training, FEC, address translation.
//!
//! A walk through one write: the program asks for it; the GPU chooses the link by the block of the address and gives
//! it a number; the port sends its flits; the peer (or a switch on the way) accepts it behind the CRC of the next header;
//! the peer's GPU checks link and number, and writes its memory.

pub mod outcome;
pub mod pair;
pub mod pod;

use super::settings::{GIVE_UP, Key, Range, Settings};
use scalepool_kernel::{BuildError, Clock, Simulation};
use scalepool_link::nvlink::wiring::{LinkKind, Socket};
use scalepool_link::nvlink::{Buffers, LinkConfig};
use scalepool_nodes::nvlink::gpu::{self, Gpu, GpuConfig, GpuResult, LinkEnds};
use scalepool_protocols::nvlink::{C2C, C2C_RATE, GENERATIONS, Generation};
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

pub(super) const fn key(
    name: &'static str,
    default: &'static str,
    unit: &'static str,
    range: Range,
    doc: &'static str,
) -> Key {
    Key { name, default, unit, range, doc }
}

pub(super) const ON_OFF: Range = Range::Words(&["on", "off"]);
/// Keys that both scenarios have.
pub(super) const GENERATION: Key = key(
    "link.generation",
    "5",
    "-",
    Range::Words(&["1", "2", "3", "4", "5", "c2c"]),
    "link generation, which sets the rate (nvlink §4); c2c also sets 10 links of 5 ns unless these are given (nvlink §5)",
);
pub(super) const LATENCY: Key = key(
    "link.latency_fs",
    "60000000",
    "fs",
    Range::Int(1, 1 << 40),
    "latency of PHY, data link and wire, each way (nvlink §5, a choice)",
);
pub(super) const BER: Key =
    key("link.ber", "0", "errors per bit", Range::Real(0.0, 0.1), "bit error rate of both directions");
pub(super) const STALL: Key = key(
    "link.stall",
    "0",
    "percent",
    Range::Int(0, 90),
    "share of the time, at random, in which each receiving port stalls",
);
pub(super) const HEADERS: Key = key(
    "link.headers",
    "128",
    "packets per channel",
    Range::Int(1, 1024),
    "receive buffers for packets; the 32 of nvlink §6.3 would limit the rate of a link with 60 ns latency",
);
pub(super) const DATA_FLITS: Key = key(
    "link.data_flits",
    "1024",
    "flits per channel",
    Range::Int(16, 16384),
    "receive buffers for data flits; the 256 of nvlink §6.3 would limit the rate of a link with 60 ns latency",
);
pub(super) const MEMORY: Key =
    key("gpu.memory_cycles", "100", "flit clocks", Range::Int(1, 1 << 20), "latency from request to answer in a GPU");
pub(super) const OUTSTANDING: Key =
    key("gpu.outstanding", "256", "requests", Range::Int(1, 1000), "open requests per GPU; tags have 10 bits");
pub(super) const BYTES: Key =
    key("traffic.bytes", "256", "bytes", Range::Int(16, 256), "payload of a request; a multiple of 16");
pub(super) const REGION: Key =
    key("traffic.region_bytes", "65536", "bytes", Range::Int(256, 1 << 24), "memory that a GPU uses in each other GPU");
pub(super) const VERIFY: Key = key("traffic.verify", "on", "-", ON_OFF, "read all written memory back at the end");

/// Messages between a port and its user.
const CHANNEL_DEPTH: u32 = 8;
/// Answers that wait in a GPU for each link, before it takes requests no more.
const ANSWER_QUEUE: usize = 256;
/// Time without progress after which a run is over: above 8 replays of 2000 ns each.
pub(super) const STALL_LIMIT_FS: u64 = 200_000_000_000;

/// Word of `link.generation` for NVLink-C2C.
const C2C_WORD: &str = "c2c";

/// Settings with what their preset brings: links and latency of C2C, where they were not set. Packets of NVL-M1 stand for those
/// of C2C, whose format is not public.
pub(super) fn with_preset(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    if settings.word("link.generation") == C2C_WORD {
        settings.default_to("link.count", C2C.links);
        settings.default_to("link.latency_fs", C2C.latency_fs);
    }
    settings
}

/// The generation that settings name.
pub(super) fn generation(settings: &Settings) -> &'static Generation {
    if settings.word("link.generation") == C2C_WORD {
        return &C2C_RATE;
    }
    let number = settings.word("link.generation").parse::<usize>().unwrap_or(GENERATIONS.len());
    &GENERATIONS[number.clamp(1, GENERATIONS.len()) - 1]
}

/// What all links of a run have in common.
pub(super) fn link_kind(settings: &Settings, generation: &Generation) -> LinkKind {
    let (headers, data_flits) = (settings.int("link.headers") as u16, settings.int("link.data_flits") as u16);
    LinkKind {
        config: LinkConfig::of(generation),
        buffers: Buffers::of_default_channels(headers, data_flits),
        ber: settings.real("link.ber"),
        give_up: settings.int(GIVE_UP.name) as u32,
        stall_percent: settings.int("link.stall"),
        channel_depth: CHANNEL_DEPTH,
    }
}

/// Puts a GPU into a partition of its own.
pub(super) fn add_gpu(
    sim: &mut Simulation,
    hub: &mut Hub,
    clock: Clock,
    kind: LinkKind,
    config: GpuConfig,
    sockets: Vec<Socket>,
) -> Arc<Mutex<GpuResult>> {
    let name = format!("gpu[{}]", config.id);
    let tap = hub.tap(&format!("{name}.core"), gpu::SHOWS);
    let result: Arc<Mutex<GpuResult>> = Arc::default();
    let shared = result.clone();
    sim.partition(move |p| {
        let flit = p.clock("flit", clock)?;
        let plugs = sockets.into_iter().map(|s| s.place(p, flit, &kind)).collect::<Result<Vec<_>, BuildError>>()?;
        p.module(&format!("{name}.core"), flit, |bind| {
            let ends = plugs.into_iter().map(|plug| LinkEnds {
                tx: plug.tx.map(|end| bind.attach(end)),
                rx: plug.rx.map(|end| bind.attach(end)),
            });
            let ends = ends.collect();
            Gpu::new(config, ends, tap, shared)
        })
    });
    result
}
