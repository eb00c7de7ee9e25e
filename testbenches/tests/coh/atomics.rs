//! Atomics of caching devices, hosts and a device with memory: while they hold their line no store is lost, and where they do
//! not, the search shows the store that is.

use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{Age, LineAddr, LineToken};
use scalepool::coherence::monitor::lost_atomic;
use scalepool::proof::explore::named::{ExplorationScope, find};
use scalepool::proof::explore::{ExplorationReport, Limits};
use scalepool::proof::systems::menu::Menu;

fn explored(name: &str, ops: Option<&str>) -> ExplorationReport {
    let menu = ops.map(|ops| Menu::of_names(ops).expect("names of operations"));
    let scope = ExplorationScope { menu, ..ExplorationScope::default() };
    let start = find(name).expect("an exploration").begin(CoherenceConfig::default(), &scope).expect("a scope");
    start.search(Limits { states: 400_000, symmetry: true, liveness: false, ..Limits::default() }, &mut |_| ())
}

const OVER_CACHE: &str = "RdShared,RdOwn,RdOwnNoData,CleanEvict,DirtyEvict";
const OVER_MEM: &str = "MemRdA,MemRdS,MemInv,MemWr,MemClnEvct,ReadOwn,ReadShared,Evict";

const OVER_BOTH: &str = "RdShared,RdOwn,RdOwnNoData,MemRdA,MemInv,MemWr";

#[test]
fn coh_inv_15_p() {
    assert_eq!(lost_atomic(LineAddr(0), "host", &LineToken::of(LineAddr(0), Age::Based)), None);
    for (atomics, without) in
        [("cxl-cache-2-atomics", "cxl-cache-2"), ("hdm-db-2-atomics", "hdm-db-device"), ("hdm-d-atomics", "hdm-d")]
    {
        let (report, plain) = (explored(atomics, None), explored(without, None));
        println!("{atomics}: {} states, {} without atomics", report.states, plain.states);
        assert!(report.complete && report.violation.is_none(), "{:?}", report.violation.map(|v| v.chart().text()));
        assert!(report.states > plain.states);
    }
}

/// Two atomics of one value, or an atomic over a store that came between: the way to it has both of its halves, and is the
/// shortest one.
#[test]
fn coh_inv_15_n() {
    let outdated = LineToken::of(LineAddr(0), Age::Outdated);
    assert_eq!(lost_atomic(LineAddr(0), "host", &outdated).map(|event| event.rule), Some("COH-INV-15"));
    let over_mem = [("hdm-db-2", OVER_MEM), ("hdm-db-device", OVER_MEM)];
    for (name, ops) in [("cxl-cache-2", OVER_CACHE), ("hdm-d", OVER_BOTH)].into_iter().chain(over_mem) {
        let held = explored(name, Some(&format!("{ops},Atomic")));
        assert!(held.complete && held.violation.is_none(), "{:?}", held.violation.map(|v| v.chart().text()));
        let lost = explored(name, Some(&format!("{ops},UnheldAtomic"))).violation.expect("a store is lost");
        let chart = lost.chart().text();
        println!("{chart}");
        assert_eq!(lost.event.rule, "COH-INV-15", "{chart}");
        assert!(chart.contains("Atomic loads") && chart.contains("Atomic stores"), "{chart}");
    }
}
