//! Settings of the scenario: defaults, units, ranges.

use crate::settings::{GIVE_UP, Key, ON_OFF, Range};

const fn key(name: &'static str, default: &'static str, unit: &'static str, range: Range, doc: &'static str) -> Key {
    Key { name, default, unit, range, doc }
}

/// Flit formats, each a mode that a port reaches.
pub const MODES: &[&str] = &["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"];

/// Settings. Numbers without another source are of the model (basis: model).
pub static KEYS: &[Key] = &[
    key(
        "link.rate_gtps",
        "32",
        "GT/s per lane",
        Range::Words(&["8", "16", "32", "64"]),
        "line rate (cxl-68b §1.3); 64 takes 256B flits (cxl-io §7)",
    ),
    key("link.width", "16", "lanes", Range::Words(&["1", "2", "4", "8", "16"]), "lanes (cxl-68b §1.3)"),
    key("link.mode", "cxl-68b", "-", Range::Words(MODES), "best mode of the host's port (cxl-io §7)"),
    key("link.ber", "0", "errors per bit", Range::Real(0.0, 0.01), "bit error rate of both directions"),
    GIVE_UP,
    key(
        "link.fault",
        "",
        "-",
        Range::List(
            "flip:FLIT:BIT, noise:FLIT, drop:FLIT, dup:FLIT, vanish:FLIT; `up:` in front for the device's flits",
        ),
        "faults to inject at numbered flits, counted from 0 in the order sent",
    ),
    key(
        "link.selective_nak",
        "off",
        "-",
        ON_OFF,
        "256B flits: request only the lost flit instead of all flits from it on (cxl-256b §9)",
    ),
    key(
        "link.cachemem",
        "off",
        "-",
        ON_OFF,
        "CXL.mem accesses share the link, behind the ARB/MUX (cxl-68b §8, cxl-256b §6)",
    ),
    key("link.buffers", "64", "messages per channel", Range::Int(1, 1023), "receive buffers of CXL.cachemem"),
    key(
        "arbmux.weight_io",
        "1",
        "-",
        Range::Int(1, 65535),
        "arbitration weight of CXL.io while both protocols have flits",
    ),
    key(
        "arbmux.weight_cachemem",
        "1",
        "-",
        Range::Int(1, 65535),
        "arbitration weight of CXL.cachemem while both protocols have flits",
    ),
    key(
        "link.credits_hold",
        "0",
        "flit clocks",
        Range::Int(0, 1 << 20),
        "time for which the device holds back freed credits",
    ),
    key("link.tx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "delay of the transmit pipeline"),
    key("link.rx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "delay of the receive pipeline"),
    key("link.propagation_fs", "2000000", "fs", Range::Int(0, 1 << 40), "propagation delay of the wire"),
    key("link.retrain_fs", "1000000000", "fs", Range::Int(1, 1 << 50), "duration of link training"),
    key(
        "host.clock_fs",
        "500000",
        "fs",
        Range::Int(1000, 1 << 30),
        "period of the host clock, which is the reference clock",
    ),
    key("host.outstanding", "32", "requests", Range::Int(1, 1024), "open requests; tags have 10 bits"),
    key(
        "host.timeout_fs",
        "50000000000",
        "fs",
        Range::Int(50_000_000_000, 1 << 50),
        "completion time-out, at least 50 us; it has to exceed the round-trip time",
    ),
    key("host.retry_fs", "1000000000", "fs", Range::Int(1, 1 << 50), "wait after a Request Retry Status"),
    key("host.max_payload_bytes", "256", "bytes", Range::Int(128, 4096), "largest payload of the host"),
    key("host.mmio_base", "0x1000000000", "address", Range::Int(1 << 20, 1 << 50), "base address of the BARs"),
    key(
        "host.memory_base",
        "0x10000000000",
        "address",
        Range::Int(1 << 28, 1 << 50),
        "base address of the memory ranges",
    ),
    key("host.accesses", "200", "accesses", Range::Int(0, 1 << 24), "writes and reads to the BARs"),
    key(
        "host.power",
        "none",
        "-",
        Range::Words(&["none", "reset", "s3", "flush"]),
        "power management message at the end: RESETPREP of a kind, or both phases of GPF (cxl-io §6)",
    ),
    key("mem.accesses", "2000", "line accesses", Range::Int(0, 1 << 24), "CXL.mem accesses, with link.cachemem=on"),
    key(
        "mem.pattern",
        "mix",
        "-",
        Range::Words(&["reads", "writes", "mix"]),
        "kind of the CXL.mem accesses; mix = two reads per write",
    ),
    key(
        "mem.start_fs",
        "0",
        "fs",
        Range::Int(0, 1 << 50),
        "start of the CXL.mem accesses; memory counts as enabled by firmware",
    ),
    key("mem.outstanding", "64", "requests", Range::Int(1, 32768), "open CXL.mem requests"),
    key("host.access_bytes", "512", "bytes", Range::Int(1, 4096), "longest BAR access; lengths are random"),
    key(
        "device.mode",
        "cxl-256b-pbr",
        "-",
        Range::Words(MODES),
        "best mode of the device; the link gets the best that both can do, and has 256B flits if both can",
    ),
    key("device.bar0_bytes", "64k", "bytes", Range::Int(0, 1 << 40), "size of BAR 0: a power of two from 4k, or 0"),
    key("device.bar1_bytes", "1m", "bytes", Range::Int(0, 1 << 40), "size of BAR 1: a power of two from 4k, or 0"),
    key("device.range0_bytes", "16g", "bytes", Range::Int(0, 1 << 46), "size of memory range 0: a multiple of 256m"),
    key(
        "device.range1_bytes",
        "0",
        "bytes",
        Range::Int(0, 1 << 46),
        "size of memory range 1: a multiple of 256m, or 0",
    ),
    key(
        "device.logical_devices",
        "1",
        "devices",
        Range::Int(1, 16),
        "logical devices; more than one adds an MLD DVSEC",
    ),
    key("device.max_payload_bytes", "512", "bytes", Range::Int(128, 4096), "largest payload of the device"),
    key("device.boundary_bytes", "64", "bytes", Range::Words(&["64", "128"]), "read completion boundary"),
    key(
        "device.not_ready",
        "2",
        "requests",
        Range::Int(0, 1000),
        "configuration requests that the device answers with Request Retry Status before it is ready",
    ),
    key("device.clock_fs", "500000", "fs", Range::Int(1000, 1 << 30), "period of the device clock"),
    key(
        "device.latency_cycles",
        "40",
        "device cycles",
        Range::Int(1, 1 << 30),
        "latency from request to completion in the device",
    ),
];
