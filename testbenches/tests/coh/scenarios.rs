//! The coherent scenarios over real links: every mode and pattern, traces as stimulus, faults, the snoop filter.

use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, RunError, ScenarioRequest};
use std::path::{Path, PathBuf};

pub const MODES: [&str; 4] = ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"];
pub const PATTERNS: [&str; 4] = ["producer-consumer", "migratory", "false-sharing", "read-mostly"];

pub fn run(scenario: &str, stimulus: Option<PathBuf>, set: &[String]) -> Result<ScenarioReport, RunError> {
    let request = ScenarioRequest {
        scenario: scenario.into(),
        seed: 3,
        threads: 1,
        stimulus,
        set: set.to_vec(),
        ..ScenarioRequest::default()
    };
    scenario::run(&request, &mut |_| ())
}

/// A run without a broken rule.
pub fn sound(scenario: &str, stimulus: Option<PathBuf>, set: &[String]) -> ScenarioReport {
    let report = run(scenario, stimulus, set).unwrap_or_else(|e| panic!("{scenario} {set:?}: {e}"));
    let broken = report.violations.first().map(|b| b.violation.to_string());
    assert!(broken.is_none(), "{scenario} {set:?}: {}", broken.unwrap_or_default());
    report
}

pub fn settings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

/// Devices behind one switch that use the memory of one more device directly.
pub fn below_a_switch() -> String {
    let file = "systems/cache_switch_peers.toml";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file).display().to_string()
}

pub fn count(report: &ScenarioReport, of: &str) -> u64 {
    report.counts.iter().chain(&report.messages).find(|(name, _)| name == of).map_or(0, |(_, n)| *n)
}

#[test]
fn bias_flips_in_every_mode_and_pattern() {
    for mode in MODES {
        for pattern in PATTERNS {
            let mut set = settings(&["core.accesses=60", "core.lines=6", "core.cache_lines=4"]);
            set.extend([format!("link.mode={mode}"), format!("core.pattern={pattern}")]);
            let report = sound("bias-flip", None, &set);
            let each = if pattern == "migratory" { 120 } else { 60 };
            assert_eq!(count(&report, "accesses"), 2 * each, "{mode} {pattern}");
            let groups: Vec<_> = report.coverage.iter().map(|(group, ..)| group.as_str()).collect();
            for group in ["mem request", "host situation", "bias request"] {
                assert!(groups.contains(&group), "{mode} {pattern}: {groups:?}");
            }
            assert!(report.coverage.iter().all(|(_, met, of)| met <= of), "{:?}", report.coverage);
            assert!(count(&report, "d2h_req") > 0 && count(&report, "m2s_req") > 0, "{mode} {pattern}: both ask");
        }
    }
}

#[test]
fn a_trace_is_dealt_to_the_cores() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace.csv");
    // The second one crosses a line: two line accesses. The last begins at cycle 900.
    let lines = [
        "cycle,op,address,size",
        "0,W,0x40,8",
        "1,R,0x7c,8",
        "2,R,0x40,4",
        "2,W,0x40,4",
        "3,R,0xffffffffffffffc0,64",
        "900,R,0x0,1",
    ];
    std::fs::write(&trace, lines.join("\n") + "\n").expect("a file");
    for scenario in ["cxl-cache-pair", "hdm-db-share", "snoop-filter-thrash", "bias-flip"] {
        let report = sound(scenario, Some(trace.clone()), &settings(&["core.trace_block=2"]));
        assert_eq!(count(&report, "accesses"), 7, "{scenario}");
        assert!(report.cycles > 900, "{scenario}");
    }
    let two = sound("hdm-db-share", Some(trace), &settings(&["devices=2", "core.trace_block=1"]));
    assert_eq!(count(&two, "accesses"), 7);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("stimulus/hash_list_matrix.lackey.gz");
    let request = ScenarioRequest {
        scenario: "cxl-cache-pair".into(),
        cycles: Some(4000),
        threads: 1,
        stimulus: Some(program),
        ..ScenarioRequest::default()
    };
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert!(report.violations.is_empty() && count(&report, "accesses") > 50, "{:?}", report.violations);
    assert!(run("bias-flip", Some(dir.path().join("none.csv")), &[]).is_err(), "no such trace");
}

/// Back-invalidates of one walk: every line beyond the places of its set takes another one's place.
fn expected_snoops(lines: u64, sets: u64, ways: u64) -> u64 {
    (0..sets).map(|set| (lines + sets - 1 - set) / sets).map(|n| n.saturating_sub(ways)).sum()
}

#[test]
fn more_lines_than_the_snoop_filter_has_entries() {
    assert_eq!(expected_snoops(1000, 4, 4), 984);
    let cases = [(1000, 4, 4), (1000, 1, 16), (100, 16, 1), (90, 2, 3), (9, 4, 2), (10, 4, 4), (60, 1, 1)];
    for (lines, sets, ways) in cases {
        let set = [
            format!("core.lines={lines}"),
            format!("core.accesses={lines}"),
            format!("device.filter_sets={sets}"),
            format!("device.filter_ways={ways}"),
        ];
        let report = sound("snoop-filter-thrash", None, &set);
        let name = format!("{lines} lines, {sets} sets of {ways}");
        assert_eq!(count(&report, "accesses"), lines, "{name}");
        assert_eq!(count(&report, "m2s_req"), lines, "each line misses once: {name}");
        assert_eq!(count(&report, "s2m_bisnp"), expected_snoops(lines, sets, ways), "{name}");
        assert_eq!(count(&report, "s2m_bisnp"), count(&report, "m2s_birsp"), "{name}");
    }
}

/// A walk that starts again finds nothing left: with least recently used victims every access misses.
#[test]
fn a_walk_again_and_again_misses_each_time() {
    for (lines, passes, sets, ways) in [(40, 3, 4, 4), (24, 4, 1, 16), (24, 2, 8, 1)] {
        let set = [
            format!("core.lines={lines}"),
            format!("core.accesses={}", lines * passes),
            "core.outstanding=1".to_owned(),
            format!("device.filter_sets={sets}"),
            format!("device.filter_ways={ways}"),
        ];
        let report = sound("snoop-filter-thrash", None, &set);
        let misses = count(&report, "m2s_req");
        assert_eq!(misses, lines * passes, "{set:?}");
        assert_eq!(count(&report, "s2m_bisnp"), misses - sets * ways, "{set:?}");
    }
}

#[test]
fn capacity_and_associativity_are_settings() {
    let walk = ["core.lines=64", "core.accesses=64", "device.filter_sets=0"];
    assert_eq!(count(&sound("snoop-filter-thrash", None, &settings(&walk)), "s2m_bisnp"), 0, "it tracks every line");
    for bad in ["device.filter_ways=0", "device.filter_ways=1025", "device.filter_sets=-1", "device.filter_sets=x"] {
        assert!(run("snoop-filter-thrash", None, &settings(&[bad])).is_err(), "{bad}");
    }
}

/// What a link repairs is invisible to coherence: bit errors, lost and doubled flits.
#[test]
fn faults_of_the_link_break_no_invariant() {
    for (scenario, modes) in [
        ("cxl-cache-pair", &MODES[..]),
        ("hdm-db-share", &MODES[1..]),
        ("snoop-filter-thrash", &MODES[1..]),
        ("bias-flip", &MODES[..]),
    ] {
        for mode in modes {
            let mut set = settings(&[
                "core.accesses=60",
                "link.ber=1e-5",
                "link.retrain_fs=1000000",
                "link.fault=flip:12:77,drop:20,dup:31,up:drop:25,up:dup:36,up:flip:44:300",
            ]);
            set.push(format!("link.mode={mode}"));
            let report = sound(scenario, None, &set);
            assert!(count(&report, "accesses") >= 60, "{scenario} {mode}");
            assert!(report.retries > 0, "{scenario} {mode}: a lost flit goes again");
        }
    }
}

#[test]
fn a_chart_shows_a_window_and_a_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let chart = |scenario: &str, file: &str, line, window: [Option<u64>; 2]| {
        let path = dir.path().join(file);
        let mut request =
            ScenarioRequest { scenario: scenario.into(), seed: 1, threads: 1, ..ScenarioRequest::default() };
        request.set = settings(&["core.accesses=8", "core.lines=2"]);
        request.outputs.chart = Some(path.clone());
        request.outputs.chart_line = line;
        [request.outputs.from_fs, request.outputs.to_fs] = window;
        scenario::run(&request, &mut |_| ()).map(|_| std::fs::read_to_string(path).expect("a chart"))
    };
    for scenario in ["cxl-cache-pair", "hdm-db-share", "snoop-filter-thrash", "bias-flip"] {
        let all = chart(scenario, "all.txt", None, [None; 2]).expect("it runs");
        let one = chart(scenario, "one.txt", Some(0x47), [None; 2]).expect("it runs");
        assert!(all.contains(" 0x40") && all.lines().count() > one.lines().count(), "{scenario}");
        assert!(one.ends_with("line 0x40; behind a message: when it was sent [ns]\n"), "{scenario}: {one}");
        let early = chart(scenario, "early.txt", None, [None, Some(100_000_000)]).expect("it runs");
        let late = chart(scenario, "late.txt", None, [Some(100_000_001), None]).expect("it runs");
        // A head and a caption each.
        assert_eq!(early.lines().count() + late.lines().count(), all.lines().count() + 2, "{scenario}");
        assert!(chart(scenario, "all.svg", None, [None; 2]).expect("it runs").starts_with("<svg"), "{scenario}");
    }
    let error = chart("cxl68-expander", "none.txt", None, [None; 2]).expect_err("no messages to draw");
    assert!(
        error.to_string().contains("which has no coherent agents to draw, expected one of cxl-cache-pair"),
        "{error}"
    );
    assert!(!dir.path().join("none.txt").exists());
}

/// V10: of agents that fight for one line none waits for more requests than there are others. The watcher counts.
#[test]
fn no_link_is_passed_again_and_again() {
    for (scenario, more) in [
        ("cxl-cache-pair", &["devices=3"][..]),
        ("cxl-cache-pair", &["devices=6"]),
        ("cxl-cache-switch", &["devices=6"]),
        ("cxl-cache-pair", &["devices=4", "core.lines=3", "core.cache_lines=1", "home.filter_lines=2"]),
        ("hdm-db-share", &["hosts=3"]),
        ("hdm-db-fabric", &["hosts=3", "peers=2"]),
        ("hdm-db-share", &["hosts=4", "core.lines=3", "device.filter_sets=1", "uio.accesses=50"]),
    ] {
        for pattern in ["false-sharing", "migratory"] {
            let pattern = format!("core.pattern={pattern}");
            let set = [&["core.lines=1", "core.accesses=50", pattern.as_str()], more].concat();
            sound(scenario, None, &settings(&set));
        }
    }
}
