//! Transactions of a trace are trees: one for each access, whatever it took, with the reason of every wait.

use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, SCENARIOS, ScenarioRequest};
use scalepool::trace::Wait;
use scalepool::trace::diff::DiffInput;
use scalepool::trace::explain::{TraceTransaction, Trees};
use std::collections::BTreeSet;

/// The trace of a run.
fn trace(name: &str, set: &[&str], cycles: Option<u64>) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.jsonl");
    let request = ScenarioRequest {
        scenario: name.to_owned(),
        seed: 1,
        cycles,
        threads: 1,
        set: set.iter().map(|&s| s.to_owned()).collect(),
        outputs: Outputs { trace: Some(path.clone()), ..Outputs::default() },
        ..ScenarioRequest::default()
    };
    let report = scenario::run(&request, &mut |_| ()).expect("legal");
    assert!(cycles.is_some() || report.violations.is_empty(), "{name} {set:?}: {:?}", report.violations);
    std::fs::read_to_string(path).expect("the trace is there")
}

fn trees(text: &str) -> Trees {
    Trees::read(DiffInput { name: "trace".to_owned(), reader: text.as_bytes() }).expect("a trace")
}

/// What may begin a tree: an access, a request of a GPU's program, a message of power management.
const ROOTS: &[&str] = &[
    "read",
    "write",
    "load",
    "store",
    "atomic",
    "message",
    "packet",
    "uio_read",
    "uio_write",
    "config_read",
    "config_write",
    "nvlink.header",
    "cxlio.nfm_msg",
    "cxlio.fm_msg",
];

/// Requests that may have ended when they arrive: those of NVLink and of CXL.io that are posted.
fn may_be_posted(transaction: &TraceTransaction) -> bool {
    ["nvlink.", "cxlio."].iter().any(|family| transaction.what.starts_with(family))
}

/// What is wrong with the trees of a trace.
fn wrong(trees: &Trees) -> Vec<String> {
    let mut wrong = trees.broken().to_vec();
    for (id, transaction) in trees.all() {
        let Some(parent) = trees.all().get(&transaction.parent) else {
            let name = transaction.what.split(' ').next().unwrap_or_default();
            if !ROOTS.contains(&name) {
                wrong.push(format!("id {id}: {} at {} has no parent", transaction.what, transaction.place));
            }
            continue;
        };
        let has_ended = parent.end_fs.is_some_and(|end| end < transaction.begin_fs);
        if transaction.begin_fs < parent.begin_fs || has_ended && !may_be_posted(parent) {
            wrong.push(format!("id {id}: {} begins when its parent is not open", transaction.what));
        }
    }
    wrong
}

#[test]
fn every_built_in_makes_trees() {
    let mut waits = BTreeSet::new();
    for scenario in SCENARIOS.iter() {
        // A service of the queue takes 1000 cycles, and the routers have 64 nodes.
        let cycles = match scenario.name {
            "queue-md1" => 1_000_000,
            "fabric-vc-router" => 500,
            // Accesses to configuration space come one after the other.
            "cxlio-enumerate" => 20_000,
            _ => 5_000,
        };
        let trees = trees(&trace(scenario.name, &[], Some(cycles)));
        assert_eq!(wrong(&trees), [""; 0], "{}", scenario.name);
        assert!(trees.all().len() > 200, "{}: {} transactions", scenario.name, trees.all().len());
        waits.extend(trees.all().values().flat_map(|t| &t.waits).map(|w| w.wait));
    }
    assert!(waits.len() > 6, "{waits:?}");
}

/// Runs that end, with what the built-ins do not do by themselves; by then everything has ended.
const WHOLE: &[(&str, &[&str])] = &[
    ("cxl68-expander", &["host.pattern=mix", "host.accesses=600", "host.region_lines=64", "link.ber=1e-5"]),
    ("cxl256-expander", &["host.pattern=writes", "host.accesses=100", "host.outstanding=4"]),
    ("cxlio-enumerate", &["host.accesses=40", "link.mode=cxl-256b", "link.rate_gtps=64", "link.cachemem=on"]),
    ("ualink-pair", &["traffic.operations=60", "traffic.mix=all"]),
    ("ualink-pod", &["pod.accelerators=4", "traffic.operations=20", "traffic.pattern=random"]),
    ("bridge-ualink", &["traffic.operations=40", "bridge.entries=32", "memory.queue=4"]),
    (
        "supercluster-small",
        &["traffic.operations=20", "gpu.requests=20", "host.accesses=20", "ubridge.inbound_entries=2"],
    ),
    ("nvlink-pair", &["traffic.requests=60", "link.count=3"]),
    ("nvlink-pod", &["pod.gpus=8", "pod.work=switch", "collective.bytes=4096"]),
    ("cxl-cache-pair", &["core.pattern=migratory", "core.accesses=60", "core.lines=4"]),
    ("cxl-cache-switch", &["devices=4", "core.pattern=migratory", "core.accesses=20", "core.lines=3"]),
    ("cxl-cache-peers", &["core.accesses=100"]),
    ("hdm-db-share", &["hosts=3", "core.pattern=false-sharing", "core.accesses=40", "core.lines=3"]),
    (
        "hdm-db-fabric",
        &[
            "hosts=2",
            "peers=1",
            "core.pattern=false-sharing",
            "core.accesses=40",
            "core.lines=3",
            "uio.accesses=10",
            "throttle=on",
            "device.devload=1,2,3",
        ],
    ),
    ("share-16", &["core.pattern=false-sharing", "core.accesses=8", "core.lines=3"]),
    ("snoop-filter-thrash", &["core.accesses=100"]),
    ("bias-flip", &["core.pattern=migratory", "core.accesses=40", "core.lines=4"]),
];

#[test]
fn everything_that_begins_ends() {
    let mut waits = BTreeSet::new();
    for (name, set) in WHOLE {
        let trees = trees(&trace(name, set, None));
        assert_eq!(wrong(&trees), [""; 0], "{name} {set:?}");
        let open: Vec<_> = trees.all().iter().filter(|(_, t)| t.end_fs.is_none()).collect();
        assert!(open.is_empty(), "{name} {set:?}: {} open, the first: {:?}", open.len(), open[0]);
        waits.extend(trees.all().values().flat_map(|t| &t.waits).map(|w| w.wait));
    }
    // Tags run out only when settings allow more open requests than there are tags.
    let text = trace(
        "ualink-pair",
        &["accel.outstanding=8192", "accel.queue=4096", "traffic.operations=2500", "accel.latency_cycles=100000"],
        None,
    );
    waits.extend(self::trees(&text).all().values().flat_map(|t| &t.waits).map(|w| w.wait));
    // Pages move, and windows change, in no other systems.
    for path in ["/systems/tiers.toml", "/systems/tiers_nvlink.toml", "/systems/epochs.toml"] {
        let text = trace(&format!("{}{path}", env!("CARGO_MANIFEST_DIR")), &["operations=150"], None);
        let trees = self::trees(&text);
        assert!(trees.all().values().all(|t| t.end_fs.is_some()), "something of {path} never ends");
        waits.extend(trees.all().values().flat_map(|t| &t.waits).map(|w| w.wait));
    }
    let path = format!("{}/systems/bridge_io.toml", env!("CARGO_MANIFEST_DIR"));
    let of_io = self::trees(&trace(&path, &["traffic.operations=20"], None));
    assert_eq!(wrong(&of_io), [""; 0]);
    assert!(of_io.all().values().all(|t| t.end_fs.is_some()), "something of a device of CXL.io never ends");
    let listed: BTreeSet<_> = Wait::ALL.iter().map(|wait| wait.name()).collect();
    assert_eq!(waits, listed, "every reason of the list is one that a component gives");
}

/// The device stores to a line that the other one has: the home snoops that one first.
#[test]
fn a_snoop_is_below_the_store_that_needs_it() {
    let text = trace("cxl-cache-pair", &["core.pattern=migratory", "core.accesses=20", "core.lines=4"], None);
    let trees = trees(&text);
    let is_snooped = |id: &u64| {
        let tree = trees.tree(*id).expect("it is there");
        tree.contains("cxl256.h2d_req SnpInv") && tree.contains("store")
    };
    let id = trees.all().keys().find(|id| trees.all()[*id].what == "store" && is_snooped(id)).expect("a snoop");
    insta::assert_snapshot!(trees.tree(*id).expect("it is there"));
}

#[test]
fn a_trace_without_a_parent_is_seen() {
    let text = trace("cxl68-expander", &["host.accesses=8"], None);
    assert_eq!(wrong(&trees(&text)), [""; 0]);
    let is_request =
        |line: &str| line.contains("\"where\":\"host.core\",\"kind\":\"begin\"") && line.contains("m2s_req");
    let lost = text.lines().position(is_request).expect("a request");
    let rest: Vec<&str> = text.lines().enumerate().filter(|(n, _)| *n != lost).map(|(_, line)| line).collect();
    let found = wrong(&trees(&rest.join("\n")));
    // What the device does for it, by both checks.
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("expected a transaction that began before"), "{found:?}");
    assert!(found[1].contains("at device.mem has no parent"), "{found:?}");
}

/// Who observes when changes nothing: ids and parents are those of a trace of the whole run, whatever the number of threads.
#[test]
fn threads_change_no_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |threads: usize| {
        let path = folder.path().join(format!("{threads}.jsonl"));
        let request = ScenarioRequest {
            scenario: "hdm-db-fabric".to_owned(),
            seed: 3,
            cycles: Some(10_000),
            threads,
            outputs: Outputs { trace: Some(path.clone()), ..Outputs::default() },
            ..ScenarioRequest::default()
        };
        scenario::run(&request, &mut |_| ()).expect("legal");
        std::fs::read(path).expect("the trace is there")
    };
    assert!(of(1) == of(3));
}
