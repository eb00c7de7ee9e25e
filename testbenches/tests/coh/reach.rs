//! How far a search reaches: deliveries that commute are left out, numbers and operations of a named exploration are others, and
//! memory has a limit.

use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::explore::killers::KILLERS;
use scalepool::proof::explore::named::{ExplorationScope, find};
use scalepool::proof::explore::{ExplorationReport, Explored, Limits};
use scalepool::proof::systems::menu::Menu;
use scalepool_testbenches::soak::is_soak;

const QUICK: Limits =
    Limits { states: 400_000, symmetry: true, liveness: false, reduction: false, memory_bytes: None, threads: 1 };

fn begun(name: &str, scope: &ExplorationScope) -> Result<Box<dyn Explored>, String> {
    find(name).expect("an exploration").begin(CoherenceConfig::default(), scope).map_err(|e| e.to_string())
}

fn explored(name: &str, scope: &ExplorationScope, limits: Limits) -> ExplorationReport {
    begun(name, scope).unwrap_or_else(|e| panic!("{name}: {e}")).search(limits, &mut |_| ())
}

/// The same states at the same depth by fewer moves, with equal agents told apart and not, with any number of threads.
#[test]
fn what_commutes_is_left_out_and_no_state_is_missed() {
    let names = ["cxl-cache-2", "cxl-cache-2-core", "hdm-db-2", "hdm-db-2-loads"];
    let more = ["hdm-db-memory", "hdm-db-filter", "hdm-db-block", "hdm-db-uio", "hdm-d-poison"];
    for name in names.into_iter().chain(more) {
        // Without renaming there are as many states again; one has them, in `make soak` two.
        for symmetry in [false, true] {
            if !symmetry && name != "hdm-db-block" && !(is_soak() && name == "cxl-cache-2-core") {
                continue;
            }
            let limits = Limits { symmetry, ..QUICK };
            let all = explored(name, &ExplorationScope::default(), limits);
            let less = explored(name, &ExplorationScope::default(), Limits { reduction: true, ..limits });
            assert!(all.complete && all.violation.is_none(), "{name}: {all:?}");
            assert!(less.transitions < all.transitions, "{name}: {less:?}");
            assert_eq!((less.states, less.depth, less.complete), (all.states, all.depth, true), "{name} {symmetry}");
            println!("{name}: {} states, {} moves instead of {}", all.states, less.transitions, all.transitions);
        }
    }
    let limits = Limits { reduction: true, ..QUICK };
    let wide = if is_soak() { "hdm-db-3" } else { "hdm-db-2-loads" };
    let one = explored(wide, &ExplorationScope::default(), limits);
    assert_eq!(explored(wide, &ExplorationScope::default(), Limits { threads: 3, ..limits }), one);
}

/// A broken rule of which a state or a step tells is found, and shown as without the reduction.
#[test]
fn every_mutant_is_seen_where_what_commutes_is_left_out() {
    let mut seen = 0;
    for killer in KILLERS {
        let Some((named, config)) = killer.case() else { continue };
        let start = named.start(config);
        let named = Limits { symmetry: false, states: 800_000, ..QUICK };
        let all = start.search(named, &mut |_| ());
        let less = start.search(Limits { reduction: true, ..named }, &mut |_| ());
        let shown = |report: &ExplorationReport| report.violation.as_ref().map(|v| (v.event.clone(), v.script.clone()));
        assert_eq!(shown(&less), shown(&all), "{:?}", killer.mutant);
        seen += usize::from(less.violation.is_some());
    }
    assert!(seen > 50, "{seen} mutants were seen");
}

/// What never ends is looked for among all moves.
#[test]
fn liveness_is_looked_for_without_the_reduction() {
    let mut config = CoherenceConfig::default();
    config.mem.one_access = false;
    let start = find("hdm-db-2-loads").expect("an exploration").start(config);
    let limits = Limits { liveness: true, ..QUICK };
    let all = start.search(limits, &mut |_| ());
    let less = start.search(Limits { reduction: true, ..limits }, &mut |_| ());
    assert_eq!(all.violation.as_ref().map(|v| v.event.rule), Some("COH-INV-10"));
    assert_eq!(less.violation, all.violation);
}

/// One exploration with the numbers and operations of another is that other one.
#[test]
fn agents_lines_and_operations_are_those_that_are_asked_for() {
    let counts = |name: &str, scope: &ExplorationScope| {
        let report = explored(name, scope, QUICK);
        assert!(report.complete && report.violation.is_none(), "{name}: {report:?}");
        (report.states, report.transitions)
    };
    let three = ExplorationScope { agents: Some(3), ..ExplorationScope::default() };
    assert_eq!(counts("hdm-db-2", &three), counts("hdm-db-3", &ExplorationScope::default()));
    let menu = |names: &str| Some(Menu::of_names(names).expect("names of operations"));
    let all = "RdCurr,RdOwn,RdShared,RdAny,RdOwnNoData,ItoMWr,WrCur,CLFlush,CleanEvict,DirtyEvict,CleanEvictNoData,WOWrInv,WOWrInvF,\
               WrInv,Core";
    let core = ExplorationScope { menu: menu(all), ..ExplorationScope::default() };
    assert_eq!(counts("cxl-cache-2", &core), counts("cxl-cache-2-core", &ExplorationScope::default()));
    let own = ExplorationScope {
        menu: menu("MemRdA,MemRdS,MemInv,MemClnEvct,MemWr,ReadOnce,ReadShared,ReadOwn,Evict"),
        ..three
    };
    let own = ExplorationScope { agents: Some(2), ..own };
    assert_eq!(counts("hdm-db-2", &own), counts("hdm-db-device", &ExplorationScope::default()));
    let few = ExplorationScope { menu: menu("RdOwn"), agents: Some(1), lines: Some(2) };
    let one = ExplorationScope { lines: None, ..few.clone() };
    assert!(counts("cxl-cache-2", &few) > counts("cxl-cache-2", &one));
}

/// What an exploration does not have is refused.
#[test]
fn what_an_exploration_does_not_have_is_refused() {
    let menu = |names: &str| ExplorationScope { menu: Menu::of_names(names).ok(), ..ExplorationScope::default() };
    let agents = |count| ExplorationScope { agents: Some(count), ..ExplorationScope::default() };
    let lines = ExplorationScope { lines: Some(2), ..ExplorationScope::default() };
    for (name, scope, expected) in [
        (
            "hdm-d",
            agents(2),
            "found --agents 2, expected none: the agents of this exploration are fixed; those of CXL.cache and HDM-DB can be set",
        ),
        ("cxl-cache-2", agents(17), "found --agents 17, expected 1 to 16"),
        ("cxl-cache-2", agents(0), "found --agents 0, expected 1 to 16"),
        ("hdm-db-2-poison", agents(1), "found --agents 1, expected 2 to 16"),
        (
            "hdm-d",
            lines.clone(),
            "found --lines 2, expected none: the lines of this exploration are fixed; those of CXL.cache and HDM-DB with one level can be set",
        ),
        (
            "cxl-cache-mp",
            lines,
            "found --lines 2, expected none: the lines of this exploration are fixed; those of CXL.cache and HDM-DB with one level can be set",
        ),
        (
            "cxl-cache-2",
            menu("MemWr"),
            "found --ops with operations of hosts of CXL.mem, expected requests of CXL.cache, Core, atomics",
        ),
        (
            "hdm-db-2",
            menu("RdOwn"),
            "found --ops with requests of CXL.cache, expected operations of hosts of CXL.mem, operations of the device's own cache, atomics",
        ),
        (
            "hdm-d",
            menu("Core"),
            "found --ops with Core, expected requests of CXL.cache, operations of hosts of CXL.mem, atomics",
        ),
    ] {
        let error = begun(name, &scope).err().unwrap_or_else(|| panic!("{name}: {scope:?} is taken"));
        assert_eq!(error, expected);
    }
}

/// What is kept of a visited state where liveness is not looked for: its fingerprint, the way to it, and the place by which it is
/// found again.
#[test]
fn a_visited_state_takes_at_most_32_bytes() {
    let pinned = ["cxl-cache-2", "hdm-db-2", "hdm-db-3", "cxl-cache-3"];
    for name in pinned.into_iter().take(if is_soak() { 4 } else { 2 }) {
        let limits = Limits { symmetry: false, states: 1_000_000, ..QUICK };
        let report = explored(name, &ExplorationScope::default(), limits);
        let (kept, states) = (report.kept_bytes, report.states);
        assert!(report.complete && kept <= 32 * states, "{name}: {kept} bytes of {states} states");
    }
}

/// With more memory than allowed the search gives up.
#[cfg(target_os = "linux")]
#[test]
fn memory_has_a_limit() {
    let limits = Limits { memory_bytes: Some(1), ..QUICK };
    let report = explored("cxl-cache-2-memory", &ExplorationScope::default(), limits);
    assert!(!report.complete && report.violation.is_none() && report.states > 1, "{report:?}");
    assert!(
        explored("cxl-cache-2-memory", &ExplorationScope::default(), Limits { memory_bytes: Some(1 << 40), ..limits })
            .complete
    );
}
