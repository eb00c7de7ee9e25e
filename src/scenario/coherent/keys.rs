//! Settings. Numbers without another source are of the model (basis: model).

use super::stimulus::PATTERNS;
use crate::settings::{GIVE_UP, Key, ON_OFF, Range};

const fn key(name: &'static str, default: &'static str, unit: &'static str, range: Range, doc: &'static str) -> Key {
    Key { name, default, unit, range, doc }
}

/// The table of a scenario: its own settings and those of links, caches and stimulus.
macro_rules! table {
    (pattern $pattern:literal over $lines:literal, cached $cached:literal, $($own:expr,)*) => {
        &[
            $($own,)*
            key("link.rate_gtps", "32", "GT/s per lane", Range::Words(&["8", "16", "32", "64"]), "line rate (cxl-68b §1.3, cxl-256b §9)"),
            key("link.width", "16", "lanes", Range::Words(&["1", "2", "4", "8", "16"]), "lanes (cxl-68b §1.3)"),
            key("link.ber", "0", "errors per bit", Range::Real(0.0, 0.1), "bit error rate of both directions, before FEC"),
            GIVE_UP,
            key(
                "link.fault",
                "",
                "-",
                Range::List("flip:FLIT:BIT, noise:FLIT, drop:FLIT, dup:FLIT, vanish:FLIT; `up:` in front for the device's flits"),
                "faults at numbered flits of link 0",
            ),
            key("link.credits_hold", "0", "flit clocks", Range::Int(0, 1 << 40), "time for which devices hold back freed credits"),
            key("link.buffers", "64", "messages per channel", Range::Int(1, 1023), "receive buffers of each channel"),
            key("link.tx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "delay of the transmit pipeline"),
            key("link.rx_pipeline_fs", "8000000", "fs", Range::Int(0, 1 << 40), "delay of the receive pipeline"),
            key("link.propagation_fs", "2000000", "fs", Range::Int(0, 1 << 40), "propagation delay of the wire"),
            key("link.retrain_fs", "1000000000", "fs", Range::Int(1, 1 << 50), "duration of link training"),
            key("host.clock_fs", "500000", "fs", Range::Int(1000, 1 << 30), "clock period of host and devices; the reference clock"),
            key("core.pattern", $pattern, "-", Range::Words(PATTERNS), "access pattern of the cores"),
            key("core.accesses", "2000", "accesses per core", Range::Int(1, 1 << 24), "accesses of each core"),
            key("core.lines", $lines, "lines", Range::Int(1, 1 << 32), "lines that the cores share"),
            key("core.outstanding", "4", "accesses", Range::Int(1, 64), "open accesses per core; 1 = sequential"),
            key("core.cache_lines", $cached, "lines", Range::Int(1, 1 << 20), "size of each core's cache"),
            key("core.poison_every", "0", "stores", Range::Int(0, 1 << 40), "poison the bytes of one in every N stores of a core; 0 = none (memory §6.3)"),
            key("core.trace_block", "64", "accesses", Range::Int(1, 1 << 24), "a trace (--stimulus) is dealt to the cores in turn, in blocks of this many line accesses; it replaces core.pattern, core.accesses and core.lines"),
            key("watch", "on", "-", ON_OFF, "check the invariants V1 to V4, for HDM-D V13 too, after every step (coherence §4)"),
        ]
    };
}

/// 68B flits have no back-invalidate snoops.
const MODES_256: Range = Range::Words(&["cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"]);

/// Settings of `cxl-cache-pair`.
pub static CACHE_PAIR: &[Key] = table!(
    pattern "read-mostly" over "16", cached "64",
    key(
        "link.mode",
        "cxl-256b",
        "-",
        Range::Words(&["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"]),
        "flits of every link; 68B flits have no CacheID, so each root port has one device (coherence §2.9)",
    ),
    key("devices", "2", "devices", Range::Int(1, 16), "caching devices below the host (coherence §2.9)"),
    key("switch", "off", "-", ON_OFF, "put all devices behind one switch; the link above it carries CacheIDs, with cxl-256b-pbr port IDs (coherence §2.9)"),
    key(
        "target",
        "off",
        "-",
        ON_OFF,
        "add a device with HDM-DB whose memory the others access directly over a fabric with 256B flits; it holds the odd lines (coherence §3.7)",
    ),
    key("switch.device_mode", "same", "-", Range::Words(&["same", "cxl-68b"]), "flit mode between switch and devices; a device on a 68B link has CacheID 0 (coherence §2.9)"),
    key(
        "switch.table",
        "",
        "-",
        Range::List("CACHEID:DEVICE, CACHEID:none"),
        "routing entries of the switch that differ from CacheID n to device n; messages without an entry are discarded (coherence §2.9)",
    ),
    key("home.filter_lines", "0", "lines", Range::Int(0, 1 << 20), "lines that the home can track; 0 = all (coherence §2.9)"),
);

/// The table of the scenarios with HDM-DB.
macro_rules! table_db {
    (pattern $pattern:literal over $lines:literal, cached $cached:literal, hosts $hosts:literal, filter $sets:literal by $ways:literal) => {
        table!(
            pattern $pattern over $lines, cached $cached,
            key("link.mode", "cxl-256b", "-", MODES_256, "flits of every link; 68B flits have no back-invalidate snoops"),
            key("hosts", $hosts, "hosts", Range::Int(1, 16), "number of hosts; each has a link to every device"),
            key("devices", "1", "devices", Range::Int(1, 16), "number of devices; each has a link to every host"),
            key("peers", "0", "accelerators", Range::Int(0, 15), "devices that read and write the memory of every device directly, as further holders of lines; they need switch=on (coherence §3.7)"),
            key("switch", "off", "-", ON_OFF, "put a fabric switch before each device, whose one link carries the messages of all hosts; needs link.mode=cxl-256b-pbr (coherence §3.7)"),
            key("device.filter_sets", $sets, "sets", Range::Int(0, 1 << 20), "sets of the snoop filter; 0 = it tracks every line (coherence §3.4)"),
            key("device.filter_ways", $ways, "entries per set", Range::Int(1, 1 << 10), "ways of the snoop filter"),
            key("device.devload", "", "open transactions", Range::List("OPTIMAL,MODERATE,SEVERE"), "numbers of open transactions at which DevLoad rises; empty = always light (coherence §3.8)"),
            key("device.reduced", "", "cycles", Range::List("FROM:TO:LEVEL"), "time spans of reduced throughput, in which the device reports at least DevLoad LEVEL, 0 to 3 (coherence §3.8)"),
            key("uio.accesses", "0", "accesses", Range::Int(0, 1 << 24), "reads and writes of a peer on CXL.io to the lines of each device; the packets are not simulated (coherence §3.7)"),
            key("uio.writes", "50", "percent", Range::Int(0, 100), "share of UIO accesses that write"),
            key("uio.bytes", "64", "bytes", Range::Int(1, 4096), "length of a UIO access; one that crosses the end of the lines is aborted without effect"),
            key("throttle", "off", "-", ON_OFF, "hosts and peers obey DevLoad: they leave idle cycles between two requests (coherence §3.8)"),
            key("throttle.normal", "4", "idle cycles", Range::Int(1, 1 << 20), "idle cycles added under moderate overload, removed when the load is light"),
            key("throttle.severe", "16", "idle cycles", Range::Int(1, 1 << 20), "idle cycles added under severe overload"),
            key("throttle.most", "256", "idle cycles", Range::Int(1, 1 << 20), "most idle cycles between two requests"),
            key("throttle.window", "1000", "cycles", Range::Int(1, 1 << 40), "time between two throttle steps (tH); the first overload acts at once"),
            key("device.trackers", "16", "snoops", Range::Int(1, 4096), "open back-invalidate snoops per device (coherence §3.4)"),
        )
    };
}

/// Settings of `hdm-db-share`.
pub static DB_SHARE: &[Key] = table_db!(pattern "read-mostly" over "16", cached "64", hosts "2", filter "0" by "1");

/// Settings of `snoop-filter-thrash`.
pub static FILTER_THRASH: &[Key] = table_db!(pattern "walk" over "1000", cached "2048", hosts "1", filter "4" by "4");

/// Settings of `bias-flip`.
pub static BIAS_FLIP: &[Key] = table!(
    pattern "migratory" over "16", cached "64",
    key(
        "link.mode",
        "cxl-68b",
        "-",
        Range::Words(&["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"]),
        "flits of the link; HDM-D needs no back-invalidate snoops, so 68B flits carry it (coherence §3.3)",
    ),
);
