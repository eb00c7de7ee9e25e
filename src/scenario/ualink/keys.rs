//! Settings of the UALink scenarios. Numbers without another source are of the model (basis: model).

use crate::settings::{GIVE_UP, Key, Range};

const fn key(name: &'static str, default: &'static str, unit: &'static str, range: Range, doc: &'static str) -> Key {
    Key { name, default, unit, range, doc }
}

const ON_OFF: Range = Range::Words(&["on", "off"]);

/// One list behind the other.
const fn join<const A: usize, const B: usize, const C: usize>(first: [Key; A], second: [Key; B]) -> [Key; C] {
    let mut all = [first[0]; C];
    let mut n = 0;
    while n < C {
        all[n] = if n < A { first[n] } else { second[n - A] };
        n += 1;
    }
    all
}

/// What `upli.model` does.
const UPLI_DOC: &str =
    "accelerators reach their ports over UPLIs, signal by signal, with a monitor on each (ualink §12)";

/// Keys of both scenarios.
const COMMON: [Key; 38] = [
    key("link.rate_gtps", "212.5", "Gb/s per lane", Range::Words(&["106.25", "212.5"]), "line rate (ualink §1)"),
    key("link.width", "4", "lanes", Range::Words(&["1", "2", "4"]), "lanes (ualink §1)"),
    key("link.mode", "ualink", "-", Range::Words(&["ualink"]), "protocol"),
    key("link.interleave", "4", "code words", Range::Words(&["1", "2", "4"]), "FEC interleave (ualink §13)"),
    key("link.ber", "0", "errors per bit", Range::Real(0.0, 0.1), "bit error rate of all wires"),
    GIVE_UP,
    key(
        "link.fault",
        "",
        "-",
        Range::List("flip:FLIT:BIT, noise:FLIT, drop:FLIT, dup:FLIT, vanish:FLIT; `up:` in front for the peer's flits"),
        "faults to inject at numbered flits of accelerator 0 on its first port, counted from 0 in the order sent",
    ),
    key(
        "link.outage_fs",
        "0",
        "fs",
        Range::Int(0, 1 << 60),
        "time at which the line of accelerator 0's first port fails; 0 = never",
    ),
    key("link.outage_length_fs", "1000000000", "fs", Range::Int(1, 1 << 50), "length of the outage"),
    key(
        "link.pipeline_fs",
        "50000000",
        "fs",
        Range::Int(0, 1 << 40),
        "delay of the pipelines of an accelerator's link end",
    ),
    key("link.propagation_fs", "5000000", "fs", Range::Int(0, 1 << 40), "propagation delay of the wire"),
    key("link.compression", "on", "-", ON_OFF, "compressed requests and responses (ualink §10)"),
    key(
        "link.authentication",
        "off",
        "-",
        Range::Words(&["off", "auth", "encrypt"]),
        "AES-256-GCM over transactions with a tag of 8 bytes each: authentication, or encryption too (ualink §12)",
    ),
    key(
        "link.key_roll_every",
        "0",
        "operations",
        Range::Int(0, 1 << 30),
        "operations of an accelerator between two key rolls, of types 1, 2, 3 in turn; 0 = never (ualink §12)",
    ),
    key(
        "link.order",
        "strict",
        "-",
        Range::Words(&["strict", "relaxed"]),
        "what keeps its order: strict = all requests and all responses of a pair and port; relaxed = requests of a channel inside 256 bytes (ualink §12)",
    ),
    key(
        "link.stall_percent",
        "0",
        "%",
        Range::Int(0, 99),
        "share of flit clocks in which a port stalls its received transactions, for each port and class",
    ),
    key(
        "link.tamper",
        "",
        "-",
        Range::List("TRANSACTION:BIT"),
        "bits to flip above the data link layer of accelerator 0's first port; transactions count from 0 as received, bits run through field, data, byte enables, tag",
    ),
    key(
        "link.shared_data_buffer",
        "off",
        "-",
        ON_OFF,
        "share one receive buffer between request and response data (ualink §11)",
    ),
    key("link.pool_commands", "256", "transactions", Range::Int(0, 4096), "pool receive buffers of each class"),
    key("link.pool_data", "1024", "beats", Range::Int(0, 16384), "pool data buffers of each class"),
    key(
        "link.vc_commands",
        "8",
        "transactions",
        Range::Int(0, 4096),
        "receive buffers of each class and virtual channel",
    ),
    key("link.vc_data", "32", "beats", Range::Int(0, 16384), "data buffers of each class and virtual channel"),
    key(
        "accel.clock_fs",
        "640000",
        "fs",
        Range::Int(1000, 1 << 30),
        "clock period of the accelerators; the reference clock (ualink §1)",
    ),
    key("accel.outstanding", "1024", "operations", Range::Int(1, 1 << 16), "open operations per accelerator"),
    key("accel.vcs", "1", "channels", Range::Int(1, 4), "virtual channels that an accelerator uses"),
    key("accel.latency_cycles", "100", "cycles", Range::Int(1, 1 << 30), "latency from request to answer in a memory"),
    key("accel.queue", "512", "answers", Range::Int(4, 1 << 20), "answers that a completer queues for a port"),
    key(
        "accel.responses",
        "multi",
        "-",
        Range::Words(&["multi", "single"]),
        "read responses carry all beats, or one each (ualink §12)",
    ),
    key(
        "accel.timeout_fs",
        "2000000000000",
        "fs",
        Range::Int(1, 1 << 50),
        "answer time-out, after which the port is isolated (ualink §12)",
    ),
    key(
        "upli.credits",
        "32",
        "credits",
        Range::Int(4, 1024),
        "credits of each channel, virtual channel and pool of a UPLI port (ualink §12)",
    ),
    key(
        "upli.fault",
        "",
        "-",
        Range::List("request:N, response:N, data:N, read:N"),
        "parity errors to inject in the Nth word, counted from 0, on the UPLI of accelerator 0: control parity of requests and responses, data parity of data and reads",
    ),
    key(
        "traffic.mix",
        "mix",
        "-",
        Range::Words(&["reads", "writes", "mix", "all"]),
        "mix = two reads per write; all = any size, with atomics",
    ),
    key(
        "traffic.bytes",
        "256",
        "bytes",
        Range::Words(&["64", "128", "192", "256"]),
        "bytes of an operation, except with traffic.mix=all",
    ),
    key("traffic.regions", "1", "regions", Range::Int(1, 64), "1 MB regions that an accelerator uses in each memory"),
    key(
        "traffic.blocks",
        "64",
        "blocks",
        Range::Int(1, 4096),
        "blocks of 256 bytes that an accelerator uses in each region",
    ),
    key(
        "traffic.start_cycles",
        "2500",
        "cycles",
        Range::Int(0, 1 << 30),
        "cycles before the first operation, from which goodput counts; links come up in about 1 us at x4",
    ),
    key(
        "traffic.interval_cycles",
        "0",
        "cycles",
        Range::Int(0, 1 << 30),
        "cycles from one operation to the next; 0 = unthrottled",
    ),
    key("traffic.poison_every", "0", "writes", Range::Int(0, 1 << 30), "poison one beat in every N writes; 0 = none"),
];

/// Settings of `ualink-pair`.
pub static PAIR_KEYS: &[Key] = &join::<38, 3, 41>(
    COMMON,
    [
        key("traffic.operations", "5000", "operations", Range::Int(1, 1 << 24), "operations of each accelerator"),
        key("upli.model", "on", "-", ON_OFF, UPLI_DOC),
        key(
            "pair.ports",
            "1",
            "ports",
            Range::Int(1, 4),
            "links between the two, ports of one station each (ualink §1)",
        ),
    ],
);

/// Settings of `ualink-pod`.
pub static POD_KEYS: &[Key] = &join::<38, 8, 46>(
    COMMON,
    [
        key("upli.model", "off", "-", ON_OFF, UPLI_DOC),
        key("traffic.operations", "500", "operations", Range::Int(1, 1 << 24), "operations of each accelerator"),
        key(
            "traffic.pattern",
            "all-to-all",
            "-",
            Range::Words(&["all-to-all", "ring", "hot-spot", "random"]),
            "destinations of the operations; hot-spot = accelerator 0",
        ),
        key("pod.accelerators", "8", "accelerators", Range::Int(4, 1024), "accelerators (ualink §1)"),
        key(
            "pod.switches",
            "1",
            "switches",
            Range::Int(1, 16),
            "number of switches; each has a port for every accelerator",
        ),
        key(
            "switch.latency_fs",
            "200000000",
            "fs",
            Range::Int(0, 1 << 40),
            "latency from pin to pin when idle (ualink §14)",
        ),
        key(
            "switch.egress_queue",
            "8",
            "transactions",
            Range::Int(1, 4096),
            "transactions of a class that an egress port can queue",
        ),
        key(
            "switch.deny",
            "",
            "-",
            Range::List("FROM:TO"),
            "pairs of accelerators whose routes are denied (ualink §14)",
        ),
    ],
);
