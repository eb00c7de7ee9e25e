//! Requests whose port is gone: time-out and isolation at the root port, and what a removal may do (`fabric` §1.2, §1.9).

use super::systems::{POOLED, count, refused, run};
use scalepool::nodes::cxl::isolation::{
    IsolatedAnswer, IsolationControl, IsolationStatus, PortBusy, RootPortIsolation,
};
use scalepool::scenario::report::ScenarioReport;

/// `pooled-pair` whose second host loses its device at 10 us, and what its hosts have beside.
fn removed(hosts: &str, set: &[&str]) -> ScenarioReport {
    removed_at("10 us", 1, hosts, set)
}

/// The same at another time, or of the other host.
fn removed_at(at: &str, vcs: usize, hosts: &str, set: &[&str]) -> ScenarioReport {
    let commands =
        format!("commands = [{{ at = \"{at}\", vcs = {vcs}, option = \"surprise\" }}]\npreset = \"cxl_switch\"");
    let text = POOLED
        .replace("preset = \"cxl_switch\"", &commands)
        .replace("kind = \"cxl.host\"", &format!("kind = \"cxl.host\"\n{hosts}"));
    run(&text, &[&["host.accesses=3000", "host.pattern=reads"], set].concat()).unwrap_or_else(|error| panic!("{error}"))
}

const TIMEOUT: &str = "timeout = \"5 us\"";
const ISOLATION: &str = "timeout = \"5 us\"\nisolate_on = \"timeout\"";

/// What the root port makes of a time-out and of a link that goes down, for each setting of the enable bits.
#[test]
fn fab_iso_02_p() {
    for on_timeout in [false, true] {
        for on_link_down in [false, true] {
            let port = || RootPortIsolation::new(IsolationControl { on_timeout, on_link_down });
            let mut timed_out = port();
            assert_eq!((timed_out.timed_out(), timed_out.is_isolated()), (on_timeout, on_timeout));
            assert!(timed_out.status().timed_out && !timed_out.status().by_link_down);
            assert!(!timed_out.timed_out(), "the next one finds it isolated, or isolates nothing either");
            let mut down = port();
            assert_eq!((down.link_down(), down.is_isolated()), (on_link_down, on_link_down));
            assert_eq!(down.status().by_link_down, on_link_down);
        }
    }
}

/// Reads of the second host on its link.
fn on_its_link(report: &ScenarioReport) -> u64 {
    let json = report.json();
    json["links"]["hosts[1]"]["cxl256.m2s_req"].as_u64().unwrap_or_else(|| panic!("no reads: {json:?}"))
}

/// Whether all of its requests went to the link, as they do where nothing isolates.
fn goes_to_the_link(report: &ScenarioReport) -> bool {
    on_its_link(report) == count(report, "host[1]", "reads")
}

/// A port with the enable off that isolates all the same keeps requests from the link, which is seen.
#[test]
fn fab_iso_02_n() {
    assert!(goes_to_the_link(&removed(TIMEOUT, &[])));
    assert!(!goes_to_the_link(&removed(ISOLATION, &[])));
}

/// All requests of the isolated port end, the open ones too, and the other host notices nothing.
#[test]
fn fab_iso_03_p() {
    for (pattern, of) in [("reads", "reads isolated"), ("writes", "writes isolated")] {
        let pattern = format!("host.pattern={pattern}");
        let report = removed(ISOLATION, &[&pattern]);
        assert_eq!(report.violations, [], "{pattern}");
        let isolated = count(&report, "host[1]", of);
        let all = count(&report, "host[1]", "reads isolated") + count(&report, "host[1]", "writes isolated");
        assert!(isolated > 1000 && isolated == all, "{pattern}: {isolated} of {all}");
        assert_eq!(count(&report, "host[1]", "line accesses"), 3000, "{pattern}");
        assert_eq!(count(&report, "host[0]", of), 0, "{pattern}");
    }
    let mut port = RootPortIsolation::new(IsolationControl { on_timeout: true, on_link_down: false });
    assert_eq!(port.answer(false), None);
    assert!(port.timed_out());
    assert_eq!(
        [false, true].map(|write| port.answer(write)),
        [Some(IsolatedAnswer::PoisonedData), Some(IsolatedAnswer::Completion)]
    );
}

/// What is sent all the same stands on the link.
#[test]
fn fab_iso_03_n() {
    let report = removed(ISOLATION, &[]);
    // Of those that ended isolated at most the open ones had been sent.
    let most = count(&report, "host[1]", "reads") - count(&report, "host[1]", "reads isolated") + 64;
    assert!(on_its_link(&report) <= most);
    assert!(on_its_link(&removed(TIMEOUT, &[])) > most);
}

#[test]
fn isolation_on_a_time_out_needs_one() {
    let text = POOLED.replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\nisolate_on = \"timeout\"");
    let found = refused(&text);
    assert!(found.contains("isolate_on: found `timeout` without a timeout, expected one"), "{found}");
}

/// Both have to happen, in either order.
#[test]
fn fab_iso_05_p() {
    let isolated = || {
        let mut port = RootPortIsolation::new(IsolationControl { on_timeout: true, on_link_down: false });
        assert!(port.timed_out());
        port
    };
    let mut first = isolated();
    assert_eq!((first.clear(0), first.is_isolated()), (Ok(()), true));
    assert!(!first.link_down() && !first.is_isolated());
    let mut then = isolated();
    assert!(!then.link_down() && then.is_isolated());
    assert_eq!((then.clear(0), then.is_isolated(), then.status()), (Ok(()), false, IsolationStatus::default()));
    assert_eq!(then.answer(true), None);
    // It can be isolated again.
    assert!(then.timed_out() && then.is_isolated());
}

/// A busy port keeps its status, and without a link down the device is not used.
#[test]
fn fab_iso_05_n() {
    let mut port = RootPortIsolation::new(IsolationControl { on_timeout: true, on_link_down: true });
    assert!(port.timed_out());
    let before = port;
    assert_eq!(port.clear(3), Err(PortBusy { open: 3 }));
    assert_eq!(port, before, "it stays as it is");
    assert_eq!(port.clear(0), Ok(()));
    assert_eq!(port.answer(false), Some(IsolatedAnswer::PoisonedData), "the link has not been down");
    assert!(!port.link_down() && port.is_isolated(), "link down isolates it by itself");
    assert_eq!((port.clear(0), port.is_isolated()), (Ok(()), false));
}

/// The finding at the end of a run that names a request without an answer.
fn named(report: &ScenarioReport) -> Option<String> {
    let found = report.violations.iter().find(|broken| broken.violation.rule == "SIM-E2E-03")?;
    Some(found.violation.to_string())
}

#[test]
fn fab_iso_06_p() {
    let text = named(&removed("", &[])).expect("the run ends with a finding");
    assert!(text.contains("host[1].core") && text.contains("oldest: read of line"), "{text}");
}

/// A run that lost nothing names nothing.
#[test]
fn fab_iso_06_n() {
    let report = run(POOLED, &["host.accesses=300"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(named(&report), None);
}

/// Requests that did not end by their own answer: timed out, and ended with others.
fn ended(report: &ScenarioReport) -> [u64; 2] {
    ["requests timed out", "reads isolated"].map(|name| count(report, "host[1]", name))
}

/// Each lost request ends by its own time-out, and no other with it.
#[test]
fn fab_iso_08_p() {
    let report = removed(TIMEOUT, &[]);
    let lost = count(&report, "switch", "messages flushed") + count(&report, "switch", "unknown LD-ID");
    assert_eq!((report.violations.len(), ended(&report)), (0, [lost, 0]));
}

#[test]
fn fab_iso_08_n() {
    let [timed_out, others] = ended(&removed(ISOLATION, &[]));
    assert!(timed_out > 0 && others > 0, "with isolation on others end too: {timed_out}, {others}");
}

/// Whether every access of a host ended once: by its own bytes, as unmapped, or by a time-out.
fn ends_once(report: &ScenarioReport, host: &str) -> bool {
    let of = |name| count(report, host, name);
    // An unmapped read brings bytes, those that are all ones.
    report.violations.is_empty() && of("reads") * 64 == of("bytes") + of("requests timed out") * 64
}

#[test]
fn fab_con_02_p() {
    for at in ["3 us", "10 us", "10003 ns"] {
        let report = removed_at(at, 1, TIMEOUT, &[]);
        assert!(ends_once(&report, "host[1]") && ends_once(&report, "host[0]"), "{at}");
        assert!(ended(&report)[0] > 0, "{at}");
    }
}

/// A request that ends in no way is missing in the sum.
#[test]
fn fab_con_02_n() {
    let report = removed("", &[]);
    assert!(!ends_once(&report, "host[1]"));
}

/// Errors of a host.
fn errors(report: &ScenarioReport, host: &str) -> u64 {
    ["reads not decoded", "requests timed out", "reads isolated"].iter().map(|name| count(report, host, name)).sum()
}

#[test]
fn fab_con_03_p() {
    for hosts in [TIMEOUT, ISOLATION] {
        let report = removed(hosts, &[]);
        assert!(errors(&report, "host[1]") > 0);
        assert_eq!(errors(&report, "host[0]"), 0, "its logical device of the same port is there");
    }
}

/// Taking the logical device of the other host away shows there.
#[test]
fn fab_con_03_n() {
    let report = removed_at("10 us", 0, TIMEOUT, &[]);
    assert!(errors(&report, "host[0]") > 0);
    assert_eq!(errors(&report, "host[1]"), 0);
}
