//! A noisy neighbour at one memory, and requests that block a link for others, with and without hosts that heed the load that is told.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::scenario::report::ScenarioReport;

const NOISY: &str = include_str!("../../systems/noisy_neighbour.toml");
const LINE: &str = include_str!("../../systems/head_of_line.toml");

fn good(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

/// Cycles that a host with few requests under way needs for all of its own, but for the last of them: all are due at once, so
/// what it waits is its time.
fn needed(report: &ScenarioReport, host: usize) -> u64 {
    count(report, &format!("host[{host}]"), "host stall cycles")
}

/// Alone, hosts with 8 requests each need 35,500 cycles for 300 reads, beside the noisy one 63,300, and 37,800 if all heed what the memory
/// tells.
#[test]
fn a_noisy_neighbour_is_told_to_slow_down() {
    let alone = needed(&good(NOISY, &["noisy.accesses=1", "throttle=off"]), 1);
    let beside = good(NOISY, &["throttle=off"]);
    let heeded = good(NOISY, &["noisy.accesses=1500"]);
    for host in 1..4 {
        let [beside, heeded] = [&beside, &heeded].map(|report| needed(report, host));
        assert!(beside > alone * 17 / 10, "host {host}: {beside} beside the noisy one, {alone} alone");
        assert!(heeded < alone * 11 / 10, "host {host}: {heeded} beside the noisy one, {alone} alone");
    }
}

/// Who is over its share is told of a severe overload, the others of a moderate one at most; a memory without telemetry tells nothing.
#[test]
fn others_keep_their_share() {
    let report = good(NOISY, &["noisy.accesses=1500"]);
    let told = |host: &str, level: &str| count(&report, host, &format!("answers of {level} load"));
    assert!(told("host[0]", "severe") > 0);
    for host in ["host[1]", "host[2]", "host[3]"] {
        assert_eq!(told(host, "severe"), 0, "{host}");
    }
    let by_memory: u64 = ["light", "optimal", "moderate", "severe"]
        .iter()
        .map(|level| count(&report, "memory", &format!("told {level} load")))
        .sum();
    assert_eq!(by_memory, 1500 + 3 * 300);
}

/// Reads of a fast memory need 46,300 cycles alone and 102,900 behind those of a slow one on the same link. A queue at the edge that
/// holds all of these brings that back to 46,500, a host that heeds its memory to 68,600: what it had sent before it knew is in the way.
#[test]
fn requests_to_a_slow_memory_block_a_link() {
    let of = |set: &[&str]| needed(&good(LINE, set), 1);
    let alone = of(&["slow.accesses=1"]);
    let blocked = of(&[]);
    assert!(blocked > 2 * alone, "{blocked} behind the others, {alone} alone");
    let deep = of(&["switch.queue=1024", "slow.accesses=1000"]);
    assert!(deep < alone * 11 / 10, "{deep} with a long queue, {alone} alone");
    let heeded = of(&["throttle=on", "slow.accesses=1000"]);
    assert!(heeded < blocked * 7 / 10, "{heeded} with a host that heeds its memory, {blocked} without");
}

#[test]
fn throttles_are_the_same_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| on_threads(NOISY, &["noisy.accesses=300"], threads).json());
    assert_eq!(one, two);
}
