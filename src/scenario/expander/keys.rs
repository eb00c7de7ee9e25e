//! Settings of every mode. Numbers without another source are of the model (basis: model).

use super::super::settings::{GIVE_UP, Key, ON_OFF, Range};

const fn key(name: &'static str, default: &'static str, unit: &'static str, range: Range, doc: &'static str) -> Key {
    Key { name, default, unit, range, doc }
}

/// What `link.mode` takes.
const MODES: Range = Range::List("68b, 256b, 256b-lopt, 256b-pbr; several compare the modes");

/// The table of a mode: its own settings among those that every mode has.
macro_rules! table {
    (mode $mode:literal, rate $rate:literal of $rates:expr, $($own:expr,)*) => {
        &[
            key("link.rate_gtps", $rate, "GT/s per lane", Range::Words($rates), "line rate (cxl-68b §1.3, cxl-256b §9)"),
            key("link.width", "16", "lanes", Range::Words(&["1", "2", "4", "8", "16"]), "lanes (cxl-68b §1.3)"),
            key("link.mode", $mode, "-", MODES, "flit mode, with or without `cxl-`; other modes have settings of their own"),
            key("link.mdh", "on", "-", ON_OFF, "allow several data headers in one slot (cxl-68b §5.3, cxl-256b §5.3)"),
            key("link.ber", "0", "errors per bit", Range::Real(0.0, 0.1), "bit error rate of both directions, before FEC"),
            GIVE_UP,
            key(
                "link.fault",
                "",
                "-",
                Range::List(
                    "flip:FLIT:BIT, noise:FLIT, drop:FLIT, dup:FLIT, vanish:FLIT; `up:` in front for the device's flits",
                ),
                "faults to inject at numbered flits, counted from 0 in the order sent, flits without messages included",
            ),
            key("link.credits_hold", "0", "flit clocks", Range::Int(0, 1 << 40), "time for which the device holds back freed credits"),
            key("link.buffers", "256", "messages per channel", Range::Int(1, 1023), "receive buffers of each channel"),
            $($own,)*
            key("link.tx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "delay of the transmit pipeline"),
            key("link.rx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "delay of the receive pipeline"),
            key("link.propagation_fs", "2000000", "fs", Range::Int(0, 1 << 40), "propagation delay of the wire"),
            key("link.retrain_fs", "1000000000", "fs", Range::Int(1, 1 << 50), "duration of link training"),
            key("host.clock_fs", "500000", "fs", Range::Int(1000, 1 << 30), "period of the host clock, which is the reference clock"),
            key("host.outstanding", "64", "misses", Range::Int(1, 32768), "open misses"),
            key("host.cache_bytes", "32768", "bytes", Range::Int(0, 1 << 32), "size of the host cache; 0 = no cache"),
            key("host.cache_ways", "8", "ways", Range::Int(1, 1024), "ways of the cache, LRU"),
            key("host.ifetch", "on", "-", ON_OFF, "treat instruction fetches of a trace as loads"),
            key(
                "host.pattern",
                "reads",
                "-",
                Range::Words(&["reads", "writes", "mix"]),
                "generated accesses if there is no --stimulus; mix = two reads per write",
            ),
            key("host.accesses", "10000", "line accesses", Range::Int(1, 1 << 24), "number of generated accesses"),
            key("host.region_lines", "65536", "lines", Range::Int(1, 1 << 40), "size of the region that generated accesses use"),
            key("device.bytes", "16g", "bytes", Range::Int(64, 1 << 46), "memory size; addresses are taken modulo it"),
            key("device.clock_fs", "500000", "fs", Range::Int(1000, 1 << 30), "period of the device clock"),
            key("device.latency_cycles", "160", "device cycles", Range::Int(1, 1 << 30), "latency from request to answer in the device"),
            key("device.queue", "512", "requests", Range::Int(1, 1 << 20), "requests that the device can queue"),
        ]
    };
}

/// Settings of 68B flits.
pub static CXL68: &[Key] = table!(
    mode "cxl-68b", rate "32" of &["8", "16", "32"],
    key("link.sync_headers", "off", "-", ON_OFF, "2-bit sync header every 130 bits (cxl-68b §1.3)"),
    key("link.skip_ordered_sets", "off", "-", ON_OFF, "one ordered set every 340 data blocks"),
    key("link.retry_entries", "128", "flits", Range::Int(22, 255), "retry buffer (cxl-68b §7.1)"),
    key("link.timeout_flits", "4096", "flits", Range::Int(1, u32::MAX as u64), "retry time-out, counted in sent flits (cxl-68b §7.3)"),
    key("link.max_num_retry", "10", "tries", Range::Int(1, 31), "retries before the physical layer is reinitialised (cxl-68b §7.3)"),
    key("link.max_num_phy_reinit", "10", "tries", Range::Int(1, 31), "reinitialisations before the link goes down (cxl-68b §7.3)"),
    key("link.flush_flits", "32", "flit clocks", Range::Int(1, 1023), "LLCRD flush timer (cxl-68b §7.1)"),
);

/// The table of a mode of 256B flits.
macro_rules! table_256 {
    (mode $mode:literal, $($own:expr,)*) => {
        table!(
            mode $mode, rate "64" of &["8", "16", "32", "64"],
            $($own,)*
            key("link.retry_entries", "511", "flits", Range::Int(1, 511), "retry buffer (cxl-256b §9)"),
            key("link.timeout_flits", "1500", "flits", Range::Int(1, u32::MAX as u64), "replay timer (cxl-256b §9)"),
            key("link.selective_nak", "off", "-", ON_OFF, "request only the lost flit instead of all flits from it on (cxl-256b §9)"),
            key(
                "link.nak_ignore_flits",
                "16",
                "flits",
                Range::Int(0, 1023),
                "flits after the start of a replay in which a Nak is ignored (cxl-256b §9)",
            ),
            key("link.flush_credits", "16", "credits", Range::Int(1, 1023), "pending credits of a channel that force an Empty flit (cxl-256b §9)"),
            key("link.flush_flits", "64", "flits", Range::Int(1, 1 << 20), "flits for which credits wait for a message to travel with (cxl-256b §9)"),
        )
    };
}

/// Settings of standard 256B flits.
pub static CXL256: &[Key] = table_256!(mode "cxl-256b",);

/// Settings of latency-optimised 256B flits.
pub static CXL256_LOPT: &[Key] = table_256!(mode "cxl-256b-lopt",);

/// Settings of 256B flits with port based routing.
pub static CXL256_PBR: &[Key] = table_256!(
    mode "cxl-256b-pbr",
    key("link.host_pid", "1", "-", Range::Int(0, 4095), "port ID of the host, the SPID of its requests (cxl-256b §3.2)"),
    key("link.device_pid", "2", "-", Range::Int(0, 4095), "port ID of the device, the DPID of requests (cxl-256b §3.2)"),
);
