//! Rules of fabrics as networks: crossbars and queues beside theory, topologies, traffic, freedom from deadlock, latency, and that
//! nothing is lost and nothing hangs on who looks (`fabric` §5, §6).

use super::Rule;

const fn rule(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: false, text }
}

/// A rule that the sheet marks as our own choice.
const fn choice(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: true, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    rule(
        "FAB-XBR-01",
        "fabric §6.1",
        "with one queue an input, head-of-line blocking limits the throughput at saturation to what the sheet has for the number of ports",
    ),
    rule("FAB-XBR-02", "fabric §6.1", "queues at outputs wait (N-1)/N p / (2 (1 - p)) slots"),
    rule(
        "FAB-XBR-03",
        "fabric §6.1",
        "a queue with exponential arrivals and one constant server waits load / (2 (1 - load)) services",
    ),
    rule(
        "FAB-XBR-04",
        "fabric §6.1",
        "inputs with full queues for each output fill every slot with iSLIP once N - 1 slots are over, and with random matching of 64 ports 1 - 1/e of them within 0.01",
    ),
    rule(
        "FAB-TOP-01",
        "fabric §6.5",
        "mean routers passed in tori, meshes and dragonflies are those of the sheet with both ends and the node itself counted",
    ),
    choice("FAB-TOP-02", "fabric §6.3", "fat-tree:KxN is the K-ary N-tree with K^N nodes and N K^(N-1) switches"),
    rule(
        "FAB-TOP-03",
        "fabric §6.5",
        "paths over an intermediate node have twice the mean hops of uniform traffic; from group to group of a dragonfly shortest paths saturate at 1/(ap) flits a node and cycle, these above it",
    ),
    rule(
        "FAB-TOP-04",
        "fabric §6.5",
        "UGAL takes a shortest path unless its backlog times its links is more than that of a longer one and the threshold together",
    ),
    rule(
        "FAB-TOP-05",
        "fabric §6.5",
        "every node of a topology is reached on a shortest way; numbers of which none can be built are refused",
    ),
    rule(
        "FAB-TRF-01",
        "fabric §6",
        "patterns with a fixed destination are one-to-one, the others draw as they say, and the offered load is the one asked for",
    ),
    rule(
        "FAB-TRF-02",
        "fabric §6",
        "a closed loop keeps to its limit of open packets, and a packet of a program leaves when all that it waits for are there",
    ),
    rule(
        "FAB-DLK-01",
        "fabric §6.4",
        "a fabric is built if no channel waits for itself over all ways that messages may take, and a circle is named",
    ),
    rule("FAB-DLK-02", "fabric §6.4", "a ring needs two virtual channels and a dateline"),
    rule(
        "FAB-DLK-03",
        "fabric §6.4",
        "dimension order in a mesh and up-down in a tree need one virtual channel, free turns are refused",
    ),
    rule(
        "FAB-DLK-04",
        "fabric §6.5",
        "ways over an intermediate place need classes of virtual channels for each leg: in a dragonfly three of local channels and two of global ones",
    ),
    rule(
        "FAB-DLK-05",
        "fabric §6.4",
        "whichever port an adaptive router chooses, a way to the goal follows in a network of channels without a circle",
    ),
    rule(
        "FAB-DLK-06",
        "fabric §6.4",
        "what messages wait for in a run lies in the graph of waits, and a run that goes on no more ends and says where what is held",
    ),
    rule(
        "FAB-DLK-07",
        "fabric §6.2",
        "a class that waits in a switch for longer than the age that was stated is named with its ports and its age",
    ),
    choice(
        "FAB-LAT-01",
        "fabric §5",
        "presets of switches have the latencies of the sheet and name the line that they stand on",
    ),
    choice(
        "FAB-LAT-02",
        "fabric §6.5",
        "latency without load by routers passed: 5h + 2 in a mesh, 6h + 1 in a torus, 4h + 2 in a fat tree, and a cycle for each further flit",
    ),
    rule("FAB-LAT-03", "fabric §5", "the latency of an idle path is the sum of its parts"),
    rule("FAB-CON-01", "fabric §1.8", "every request ends once, whatever the topology and the faults of its links"),
    rule(
        "FAB-CON-02",
        "fabric §1.2",
        "a request to a device that is removed ends once: by its answer, as unmapped, or by a time-out because the port is gone",
    ),
    rule("FAB-CON-03", "fabric §1.8", "only requests to the port or logical device that is gone end with an error"),
    rule(
        "FAB-CON-04",
        "fabric §1.8",
        "a run ends with nothing open: queues are empty and credits are home, or it says what is not",
    ),
    rule("FAB-DET-01", "fabric §6", "seed, topology and load give the same bytes on any number of threads"),
    rule(
        "FAB-DET-02",
        "fabric §6",
        "observers, the order of modules and modules that idle change nothing: what is drawn comes from the module's own generator",
    ),
    rule("FAB-BIT-01", "fabric §6", "transactions, counts and times are the same whether links have bytes or not"),
    rule("FAB-BIT-02", "fabric §6", "who looks at one link changes nothing at another place"),
    rule(
        "FAB-BIT-03",
        "fabric §6",
        "the pattern of bit errors alone gives the verdict that the bytes of the flit give",
    ),
];
