//! Requests whose port is gone: time-out and isolation at the root port, and what a removal may do (`fabric` §1.2, §1.9).

use super::systems::{POOLED, count, refused, run};
use scalepool::nodes::cxl::isolation::{
    IsolatedAnswer, IsolatedLine, IsolatedSnoop, IsolationControl, IsolationStatus, PortBusy, RootPortIsolation,
};
use scalepool::nodes::cxl::isolation_registers::{
    IsolationRegisterError, LEGAL_RANGES, TIMEOUT_NAMES, TIMEOUT_RANGES, TimeoutRange, capability_register,
    control_register,
};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::isolation::{
    TimeoutCode, TimeoutIsolationCapability, TimeoutIsolationControl, TimeoutIsolationStatus,
};
use scalepool_protocols::wire::Wire;

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

/// Cycles from each request of the second host that timed out to its end.
fn timed_out_after(hosts: &str, set: &[&str]) -> Vec<u64> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let commands = "commands = [{ at = \"3 us\", vcs = 1, option = \"surprise\" }]\npreset = \"cxl_switch\"";
    let text = POOLED
        .replace("preset = \"cxl_switch\"", commands)
        .replace("kind = \"cxl.host\"", &format!("kind = \"cxl.host\"\n{hosts}"));
    let outputs = Outputs { trace: Some(path.clone()), scopes: vec!["host[1].core".to_owned()], ..Outputs::default() };
    let set = [&["host.accesses=1500", "host.pattern=reads"], set].concat().iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text), seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let (mut began, mut all) = (std::collections::BTreeMap::new(), Vec::new());
    for line in std::fs::read_to_string(path).expect("a trace").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let (id, cycle) = (record["id"].as_u64().expect("an id"), record["cycle"].as_u64().expect("a cycle"));
        match (record["kind"].as_str(), record["name"].as_str()) {
            (Some("begin"), _) => drop(began.entry(id).or_insert(cycle)),
            (_, Some("timed_out")) => all.push(cycle - began[&id]),
            _ => (),
        }
    }
    assert_eq!(all.len() as u64, count(&report, "host[1]", "requests timed out"));
    all
}

/// Each request has a timer of its own, from when it was sent, with the geometric middle of the range; what is answered in time
/// does not time out.
#[test]
fn fab_iso_01_p() {
    let all = timed_out_after("timeout_range = \"A1\"", &[]);
    let cycles = TimeoutRange::by_name("A1").expect("a range").preset_fs().div_ceil(500_000);
    assert!(all.len() > 10 && all.iter().all(|found| *found == cycles), "{cycles}: {all:?}");
    for range in TIMEOUT_RANGES {
        let (least, middle, most) = (range.least_fs as f64, range.preset_fs() as f64, range.most_fs as f64);
        assert!((middle / least / (most / middle) - 1.0).abs() < 1e-6, "{range:?}: {middle}");
        assert!(range.least_fs < range.preset_fs() && range.preset_fs() < range.most_fs);
    }
    assert_eq!(TIMEOUT_RANGES.map(|range| range.name), TIMEOUT_NAMES);
}

/// A timer that runs out before the answer ends requests that are answered, which is seen: their answers come late.
#[test]
fn fab_iso_01_n() {
    let text = POOLED.replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"400 ns\"");
    let report = run(&text, &["host.accesses=300", "host.pattern=reads"]).unwrap_or_else(|error| panic!("{error}"));
    assert!(count(&report, "host[0]", "requests timed out") > 0 && count(&report, "host[0]", "late answers") > 0);
    let both = "kind = \"cxl.host\"\ntimeout = \"5 us\"\ntimeout_range = \"A1\"";
    let found = refused(&POOLED.replace("kind = \"cxl.host\"", both));
    assert!(found.contains("timeout_range: found `A1` and a timeout, expected one of both"), "{found}");
}

#[test]
fn fab_iso_04_p() {
    for (line, answer) in [
        (IsolatedLine::MaybeOwned, IsolatedSnoop::Poisoned),
        (IsolatedLine::SharedOrInvalid, IsolatedSnoop::Invalid),
        (IsolatedLine::OpenWritePull, IsolatedSnoop::Poisoned),
    ] {
        assert_eq!(IsolatedSnoop::of(line), answer, "{line:?}");
    }
}

/// An owner that is taken as invalid would leave memory with data of before.
#[test]
fn fab_iso_04_n() {
    let lost = [IsolatedLine::MaybeOwned, IsolatedLine::OpenWritePull];
    assert!(lost.into_iter().all(|line| IsolatedSnoop::of(line) != IsolatedSnoop::Invalid));
}

/// Every bit of the three registers, and the sets and codes of the sheet.
#[test]
fn fab_iso_07_p() {
    let all = TimeoutIsolationCapability { mem_ranges: 0xf, cache_ranges: 0xf, ..Default::default() };
    assert_eq!(capability_register(all), Ok(0xf0f));
    let none = TimeoutIsolationControl::default();
    for (control, bit) in [
        (TimeoutIsolationControl { mem_timeout_enable: true, ..none }, 4),
        (TimeoutIsolationControl { cache_timeout_enable: true, ..none }, 12),
        (TimeoutIsolationControl { mem_isolation_on_timeout: true, ..none }, 16),
        (TimeoutIsolationControl { mem_isolation_on_link_down: true, ..none }, 17),
        (TimeoutIsolationControl { cache_isolation_on_timeout: true, ..none }, 18),
        (TimeoutIsolationControl { cache_isolation_on_link_down: true, ..none }, 19),
        (TimeoutIsolationControl { signal_err_cor: true, ..none }, 25),
        (TimeoutIsolationControl { signal_interrupt: true, ..none }, 26),
    ] {
        for range in TIMEOUT_RANGES {
            let code = u32::from(range.code.0);
            let of_mem = TimeoutIsolationControl { mem_timeout: range.code, ..control };
            let of_cache = TimeoutIsolationControl { cache_timeout: range.code, ..control };
            assert_eq!(control_register(of_mem, all), Ok(1 << bit | code), "{range:?}");
            assert_eq!(control_register(of_cache, all), Ok(1 << bit | code << 8), "{range:?}");
        }
    }
    let codes = TIMEOUT_RANGES.map(|range| range.code.0);
    assert_eq!(codes, [0x0, 0x1, 0x2, 0x5, 0x6, 0x9, 0xa, 0xd, 0xe]);
    let none = TimeoutIsolationStatus::default();
    for (status, bit) in [
        (TimeoutIsolationStatus { mem_timeout: true, ..none }, 0),
        (TimeoutIsolationStatus { cache_timeout: true, ..none }, 4),
        (TimeoutIsolationStatus { mem_isolated: true, ..none }, 8),
        (TimeoutIsolationStatus { mem_isolated_by_link_down: true, ..none }, 9),
        (TimeoutIsolationStatus { cache_isolated: true, ..none }, 12),
        (TimeoutIsolationStatus { cache_isolated_by_link_down: true, ..none }, 13),
        (TimeoutIsolationStatus { busy: true, ..none }, 14),
    ] {
        assert_eq!(status.to_bits(), Ok(1 << bit));
    }
}

#[test]
fn fab_iso_07_n() {
    for ranges in 0..16 {
        let capability = TimeoutIsolationCapability { mem_ranges: ranges, ..Default::default() };
        let expected = if LEGAL_RANGES.contains(&ranges) {
            Ok(u32::from(ranges))
        } else {
            Err(IsolationRegisterError::Ranges { found: ranges })
        };
        assert_eq!(capability_register(capability), expected);
        for code in 0..16 {
            let control = TimeoutIsolationControl { mem_timeout: TimeoutCode(code), ..Default::default() };
            let found = control_register(control, capability);
            let needs =
                [None, Some(0), Some(0), None, None, Some(1), Some(1), None, None, Some(2), Some(2), None, None];
            let expected = match (code, needs.into_iter().chain([Some(3), Some(3), None]).nth(code.into()).flatten()) {
                (0, _) => Ok(0),
                (_, None) => Err(IsolationRegisterError::Code { found: code }),
                (_, Some(bit)) if ranges >> bit & 1 == 1 => Ok(u32::from(code)),
                _ => Err(IsolationRegisterError::NotSupported { found: code, ranges }),
            };
            assert_eq!(found, expected, "code {code:#x}, set {ranges:#x}");
        }
    }
}
