//! Tables that software commits while a switch runs (`fabric` CID-4, HDM-2): what reaches nothing before, what is served afterwards,
//! limits, and a switch that uses a table too early.

use super::manager::with;
use super::module::{Bench, bench, read, run};
use super::systems::{POOLED, count, refused, run as run_system};
use scalepool::fabric::cxl_switch::{ManagerEvent, TableCommit, TableKind, Undelivered};

const OF_HDM: TableCommit =
    TableCommit { vcs: 0, kind: TableKind::Hdm, at_cycle: 100, takes_cycles: 50, limit_cycles: 80 };

/// One host that reads all the time.
fn reader(commits: &[TableCommit]) -> Bench {
    let mut one = bench(1);
    one.commits = commits.to_vec();
    (0..100).for_each(|n| one.sends[0].push((10 + 4 * u64::from(n), read(n, 0))));
    one
}

/// Cycles of the answers of the device and of the switch.
fn answers(commits: &[TableCommit]) -> ([Vec<u64>; 2], Vec<(u64, ManagerEvent)>) {
    let (seen, result) = run(reader(commits));
    assert_eq!(result.broken, [], "{commits:?}");
    assert_eq!(seen[0].len(), 100, "every read is answered");
    let of = |byte: u8| -> Vec<u64> {
        let is_it = |message: &scalepool_protocols::cxl::message::Message| {
            message.data().is_some_and(|data| data.line[0] == byte)
        };
        seen[0].iter().filter(|(_, message)| is_it(message)).map(|(cycle, _)| *cycle).collect()
    };
    let not_decoded = result.undelivered.get(&Undelivered::NotDecoded).copied().unwrap_or(0);
    let answers = [of(3), of(0xff)];
    assert_eq!(answers[1].len() as u64, not_decoded);
    (answers, result.events.iter().map(|(fs, event)| (fs / 1_000_000, *event)).collect())
}

/// Requests find no decoder until the cycle of the commit, and their device from then on.
#[test]
fn decoders_are_used_from_their_commit_on() {
    let ([served, unmapped], events) = answers(&[OF_HDM]);
    assert_eq!(events, [(150, ManagerEvent::Committed(0, TableKind::Hdm))]);
    assert!(unmapped.len() > 30 && served.len() > 55, "{} {}", unmapped.len(), served.len());
    assert!(unmapped.iter().all(|cycle| *cycle < 150 + 14) && served.iter().all(|cycle| *cycle > 150 + 20));
    // As fast as the limit allows, and at the start.
    let at_limit = TableCommit { takes_cycles: 80, ..OF_HDM };
    assert_eq!(answers(&[at_limit]).1, [(180, ManagerEvent::Committed(0, TableKind::Hdm))]);
    let ([served, _], _) = answers(&[TableCommit { at_cycle: 0, takes_cycles: 0, ..OF_HDM }]);
    assert_eq!(served.len(), 100);
}

/// A commit that takes longer than its limit has failed when that is over, and its table is never used.
#[test]
fn a_commit_behind_its_limit_fails() {
    let ([served, unmapped], events) = answers(&[TableCommit { takes_cycles: 81, ..OF_HDM }]);
    assert_eq!(events, [(181, ManagerEvent::CommitFailed(0, TableKind::Hdm))]);
    assert_eq!((served.len(), unmapped.len()), (0, 100));
}

/// A switch that routes by a table that is not committed, or whose commit has failed, is found.
#[test]
fn a_table_that_is_used_too_early_is_found() {
    for takes_cycles in [50, 81] {
        let mut hasty = reader(&[TableCommit { takes_cycles, ..OF_HDM }]);
        hasty.is_hasty = true;
        let (seen, result) = run(hasty);
        assert_eq!(seen[0].len(), 100);
        let early = result.broken.len();
        assert!(result.broken.iter().all(|one| one.rule == "FAB-CID-04"), "{:?}", result.broken);
        assert!(if takes_cycles == 50 { (30..40).contains(&early) } else { early == 100 }, "{early}");
        assert_eq!(result.broken[0].found, "a M2S Req led by the HDM decoders of VCS 0");
    }
}

/// In a system: one host finds nothing until its decoders are committed, the other one is served all the time.
#[test]
fn a_host_waits_for_its_decoders() {
    for (scale, takes, is_served) in [(0, "900 ns", true), (1, "9 us", true), (0, "2 us", false)] {
        let text = POOLED.replace(
            "preset = \"cxl_switch\"",
            &format!("commits = [{{ vcs = 1, at = \"500 ns\", takes = \"{takes}\", scale = {scale} }}]\npreset = \"cxl_switch\""),
        );
        let text = text.replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
        let report = run_system(&text, &["host.accesses=6000", "host.pattern=reads"]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.violations, [], "{takes}");
        let [first, second] = ["host[0]", "host[1]"].map(|host| count(&report, host, "reads not decoded"));
        assert!(first == 0 && second > 100 && (second < 6000) == is_served, "{takes}: {first} {second}");
        let ended = ["tables committed", "commits failed"].map(|name| count(&report, "switch", name));
        assert_eq!(ended, [u64::from(is_served), u64::from(!is_served)], "{takes}");
    }
    // Without commits the tables are in use from the start.
    assert_eq!(count(&with("", &["host.accesses=500"]), "switch", "not decoded"), 0);
}

/// CacheIDs: a table that is committed in time leads everything; one that never is discards, and the watchdog names who waits.
#[test]
fn caching_devices_wait_for_their_table() {
    let text = include_str!("../../../src/system/builtin/cxl-cache-switch.toml");
    let with = |takes: &str| {
        let commits = format!("ports = 2\ncommits = [{{ table = \"cache-id\", takes = \"{takes}\" }}]");
        run_system(&text.replace("ports = 2", &commits), &["core.accesses=40"])
    };
    let report = with("10 ns").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert_eq!(["tables committed", "CacheIDs discarded"].map(|name| count(&report, "switch", name)), [1, 0]);
    match with("2 us") {
        Ok(report) => {
            assert!(count(&report, "switch", "CacheIDs discarded") > 0);
            assert!(!report.violations.is_empty(), "who waits is named");
        }
        Err(error) => assert!(error.contains("dev"), "{error}"),
    }
}

#[test]
fn commits_that_do_not_fit_are_refused() {
    let with = |commits: &str| POOLED.replace("preset = \"cxl_switch\"", &format!("commits = [{commits}]"));
    let cases = [
        ("{ vcs = 2 }", "found vcs = 2 of a commit, expected 0 to 1"),
        ("{ vcs = 1 }, { vcs = 1, at = \"1 us\" }", "found a second commit of the table `hdm` of VCS 1"),
        (
            "{ table = \"cache-id\" }",
            "found a commit of `cache-id` of VCS 0, expected `hdm` where the host caches no lines",
        ),
        ("{ scale = 8 }", "expected 0 to 7"),
        ("{ base = 16 }", "expected 0 to 15"),
    ];
    for (commits, expected) in cases {
        let found = refused(&with(commits));
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
