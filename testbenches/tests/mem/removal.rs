//! Frames of tier 2 that leave and come in traffic, with the trays and clusters behind them (MEM-RMV-05 to 07).

use scalepool::nodes::tiers::frames::{FrameBook, Tier, TierFrame};
use scalepool::nodes::tiers::manager::{ManagerAct, PageManager};
use scalepool::nodes::tiers::policy::PlacementPolicy;
use scalepool::nodes::tiers::watch::{MigrationWatch, TierEvent};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

const TRAYS: &str = include_str!("../../systems/leaving_trays.toml");
const CLUSTER: &str = include_str!("../../systems/leaving_cluster.toml");

fn try_run(text: &str, set: &[&str]) -> Result<ScenarioReport, String> {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text.to_owned()), seed: 1, threads: 1, set, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).map_err(|error| error.to_string())
}

/// A run in which every byte that is read is the one that was written last, but for those that were lost.
fn sound(text: &str, set: &[&str]) -> ScenarioReport {
    let report = try_run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

/// Why a description is refused.
fn refused(text: &str, set: &[&str]) -> String {
    try_run(text, set).map_or_else(|error| error, |_| panic!("{set:?}: it is taken"))
}

/// What both accelerators have counted together.
fn count(report: &ScenarioReport, name: &str) -> u64 {
    let json = report.json();
    let of = |n| json["components"][format!("accel[{n}]")][name].as_u64();
    of(0).zip(of(1)).map_or_else(|| panic!("no `{name}`: {json:?}"), |(a, b)| a + b)
}

/// Frames beyond the windows of the bridge, and pages that leave frames behind a cache of lines that nobody flushes, are refused.
#[test]
fn frames_lie_in_windows_and_are_flushed() {
    let frames = refused(TRAYS, &["component.accel.tier2.pages=1048576"]);
    assert!(frames.contains("the end of the windows of the bridge"), "{frames}");
    let cache = "cache = { mode = \"data\" }, windows";
    let cached = refused(&TRAYS.replace("windows", cache), &[]);
    assert!(cached.contains("expected control at the bridge too, by which pages are flushed"), "{cached}");
}

/// The rules that a row of events breaks, with frames for one page in HBM and four in tier 2.
fn broken(events: &[TierEvent]) -> Vec<&'static str> {
    let mut watch = MigrationWatch::new(512, [1, 0, 4], false);
    events.iter().filter_map(|event| watch.see(event.clone())).map(|finding| finding.rule).collect()
}

fn far(frame: u32) -> TierFrame {
    TierFrame { tier: Tier::Tier2, frame }
}

/// Does what a manager wants, with no source that knows a page, and lists where pages went.
fn follow(manager: &mut PageManager) -> Vec<(u32, TierFrame)> {
    let mut moves = Vec::new();
    while let Some(act) = manager.acts.pop_front() {
        match act {
            ManagerAct::Moves { page, to, .. } => moves.push((page, to)),
            ManagerAct::Flush { .. } => manager.flushed(),
            ManagerAct::Copy { .. } => manager.copied(),
            _ => (),
        }
    }
    moves
}

/// Frames that leave are given to no page, and pages that lie there move to the fastest free frame, one after the other.
#[test]
fn mem_rmv_05_p() {
    let mut book = FrameBook::new([0, 0, 3]);
    book.leave(0..2, false);
    assert_eq!((book.count_free(Tier::Tier2), book.free()), (1, Some(far(2))));
    assert!(!book.take(far(0), 1) && book.take(far(2), 1));
    book.come(0..2);
    assert_eq!(book.free(), Some(far(0)));
    // Four pages by their numbers: one in HBM, three in tier 2, of which two leave.
    let mut manager = PageManager::new(PlacementPolicy::Static, 4, [1, 0, 6]);
    assert_eq!(follow(&mut manager), []);
    manager.frames_leave(0..2, false);
    assert!(manager.is_leaving());
    assert_eq!(follow(&mut manager), [(1, far(3)), (2, far(4))]);
    assert!(!manager.is_leaving());
    // One that comes again while a page still lies there is free behind its move.
    manager.frames_leave(2..3, true);
    manager.frames_come(2..3);
    assert_eq!(follow(&mut manager), [(3, far(5))]);
    manager.frames_leave(3..4, false);
    assert_eq!(follow(&mut manager), [(1, far(2))]);
    // Frames that come later are not there at first.
    let mut later = PageManager::new(PlacementPolicy::Exclusive, 2, [1, 0, 5]).without(std::slice::from_ref(&(0..2)));
    let placed = later.acts.iter().map(|act| if let ManagerAct::Placed { place, .. } = act { place.frame } else { 9 });
    assert_eq!(placed.collect::<Vec<_>>(), [2, 3]);
    later.acts.clear();
}

#[test]
fn mem_rmv_05_n() {
    assert_eq!(broken(&[TierEvent::Leaves(1, 3), TierEvent::Placed(7, far(1))]), ["MEM-RMV-05"]);
    assert_eq!(
        broken(&[TierEvent::Placed(7, far(0)), TierEvent::Leaves(1, 3), TierEvent::Moves(7, far(2))]),
        ["MEM-RMV-05"]
    );
    assert_eq!(broken(&[TierEvent::Leaves(1, 3), TierEvent::Comes(1, 3), TierEvent::Placed(7, far(1))]), [""; 0]);
}

/// A tray that leaves in order loses no byte: pages are off it before it goes. Frames that come are used.
#[test]
fn mem_rmv_06_p() {
    let orderly = TRAYS.replace("  { at = \"32 us\", command = \"remove\", first = 2, frames = 2, option = \"surprise\" },\n  { at = \"45 us\", command = \"insert\", first = 2, frames = 2 },\n", "");
    let orderly = orderly.replace("  { at = \"32 us\", command = \"remove\", memory = 1, option = \"surprise\" },\n  { at = \"44 us\", command = \"insert\", memory = 1 },\n", "");
    for set in [&["operations=1000"][..], &["operations=1000", "policy=temperature", "link.ber=1e-6"]] {
        let report = sound(&orderly, set);
        assert_eq!((count(&report, "frames removed"), count(&report, "frames inserted")), (4, 4), "{set:?}");
        assert_eq!((count(&report, "requests to lost frames"), count(&report, "lines lost with frames")), (0, 0));
        assert!(count(&report, "pages moved") > 0);
    }
}

#[test]
fn mem_rmv_06_n() {
    let events = [TierEvent::Placed(7, far(1)), TierEvent::Leaves(1, 3), TierEvent::Left(1, 3)];
    assert_eq!(broken(&events), ["MEM-RMV-06"]);
    // Without frames to move to, or out of turn, the description is refused.
    for (from, to, expected) in [
        (
            "first = 0, frames = 2 },\n  { at = \"25",
            "first = 0, frames = 4 },\n  { at = \"25",
            "in which all pages can lie and move",
        ),
        (
            "first = 0, frames = 2 },\n  { at = \"25",
            "first = 1, frames = 2 },\n  { at = \"25",
            "expected the other one before it",
        ),
        (
            "first = 0, frames = 2 },\n  { at = \"25",
            "first = 3, frames = 2 },\n  { at = \"25",
            "expected one of 4 in tier 2",
        ),
        (
            "command = \"insert\", first = 2, frames = 2",
            "command = \"insert\", first = 2, frames = 2, option = \"surprise\"",
            "at remove alone",
        ),
    ] {
        let error = try_run(&TRAYS.replacen(from, to, 1), &[]).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

/// What is lost ends with an error, and what could not be read is poison until it is written again; the rest is as it was.
#[test]
fn mem_rmv_07_p() {
    let report = sound(TRAYS, &[]);
    assert_eq!((count(&report, "frames removed"), count(&report, "frames inserted")), (8, 8));
    assert!(
        count(&report, "requests to lost frames") > 0 && count(&report, "lines lost with frames") > 0,
        "{:?}",
        report.json()
    );
}

/// A loss that accelerators do not know of is a finding of each access to it.
#[test]
fn mem_rmv_07_n() {
    let unknown = "  { at = \"32 us\", command = \"remove\", first = 2, frames = 2, option = \"surprise\" },\n  { at = \"45 us\", command = \"insert\", first = 2, frames = 2 },\n";
    let report = try_run(&TRAYS.replace(unknown, ""), &["operations=1500"]).expect("it runs");
    let rules: Vec<&str> = report.violations.iter().map(|placed| placed.violation.rule).collect();
    assert!(rules.contains(&"SIM-E2E-02"), "{rules:?}");
}

/// A cluster that lends its HBM as tier 2 leaves: pages move back, its own accelerators stop, its bridge is taken away, and all ends at rest;
/// it joins again and its memory is used.
#[test]
fn clusters_leave_and_join() {
    let report = sound(CLUSTER, &[]);
    assert_eq!((count(&report, "frames removed"), count(&report, "frames inserted")), (4, 4));
}
