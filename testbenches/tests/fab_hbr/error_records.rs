//! Errors that a running switch meets, and who records them (`fabric` MLD-8, ERR-5): places of the trace against the rows of the sheet.

use super::aer::{EVERY, ITS_OWN};
use super::module::{bench, read, run as run_bench};
use super::systems::{POOLED, count, refused, two_devices};
use scalepool::fabric::cxl_switch::aer::{AerError, ErrorMessage, NO_HEADER};
use scalepool::fabric::cxl_switch::{ManagerCommand, PortError, ResetScope, SwitchResult, TimedCommand};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use std::collections::BTreeMap;

/// A run with commands: its report, and the places at which each error is recorded, with the messages to hosts there.
fn records(text: &str, commands: &str, set: &[&str]) -> (ScenarioReport, BTreeMap<String, Vec<String>>, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let text = text
        .replace("preset = \"cxl_switch\"", &format!("commands = [{commands}]\npreset = \"cxl_switch\""))
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    let outputs = Outputs { trace: Some(path.clone()), scopes: vec!["switch*".to_owned()], ..Outputs::default() };
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text), seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let (mut places, mut messages) = (BTreeMap::<String, Vec<String>>::new(), 0);
    for line in std::fs::read_to_string(path).expect("a trace").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let (name, place) = (record["name"].as_str().unwrap_or_default(), record["where"].as_str().expect("a place"));
        if let Some(error) = name.strip_prefix("aer-") {
            places.entry(error.to_owned()).or_default().push(place.to_owned());
        }
        messages += usize::from(name.starts_with("err_"));
    }
    places.values_mut().for_each(|places| places.sort());
    (report, places, messages)
}

/// Every error of the sheet, one after the other, at a port.
fn every_error(at_port: &str) -> String {
    let one = |(n, name): (usize, &&str)| {
        format!("{{ at = \"{} ns\", command = \"error\", error = \"{name}\", {at_port} }}", 1500 + 50 * n)
    };
    AerError::NAMES.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
}

/// Which places record an error of logical device 1 of a port that two hosts share.
fn places_of_shared(error: AerError) -> Vec<&'static str> {
    match (EVERY.contains(&error), ITS_OWN.contains(&error)) {
        (true, _) => vec!["switch.dsp[0]", "switch.usp[0]", "switch.usp[1]"],
        (_, true) => vec!["switch.dsp[0]", "switch.usp[1]"],
        _ => vec!["switch.dsp[0]"],
    }
}

/// Errors at the port of a shared device: each host by the table, and the manager always. Traffic goes on.
#[test]
fn hosts_of_a_shared_device_record_by_the_table() {
    let (report, places, messages) = records(POOLED, &every_error("port = 0, ld = 1"), &["host.accesses=1500"]);
    assert_eq!(report.violations, []);
    for error in AerError::ALL {
        assert_eq!(
            places.get(error.name()).map(Vec::as_slice).unwrap_or_default(),
            places_of_shared(*error),
            "{error:?}"
        );
    }
    let switch = |name| count(&report, "switch", name);
    let hosts = 2 * EVERY.len() as u64 + ITS_OWN.len() as u64;
    assert_eq!([switch("errors recorded"), switch("errors of the manager")], [hosts, AerError::ALL.len() as u64]);
    // Seven of those of every host are correctable, and all others but unsupported requests are fatal.
    assert_eq!(["ERR_COR", "ERR_NONFATAL", "ERR_FATAL"].map(switch), [14, hosts - 14 - 12, 12]);
    assert_eq!(messages as u64, hosts);
    assert_eq!(count(&report, "host[1]", "requests timed out"), 0);
}

/// Errors of a port that is bound as a whole: its own bridge and nobody else.
#[test]
fn an_error_of_an_own_port_is_recorded_there_alone() {
    let (report, places, _) = records(&two_devices(), &every_error("port = 1"), &["host.accesses=1500"]);
    assert_eq!(report.violations, []);
    for name in AerError::NAMES {
        assert_eq!(places.get(*name).map(Vec::as_slice).unwrap_or_default(), ["switch.usp[1]"], "{name}");
    }
    assert_eq!(count(&report, "switch", "errors of the manager"), 0);
    // A port of the manager: no host hears of its errors.
    let commands = format!("{{ at = \"1 us\", command = \"unbind\", vcs = 1 }}, {}", every_error("port = 1"));
    let (_, places, messages) = records(&two_devices(), &commands, &["host.accesses=1500"]);
    assert!(places.values().all(|places| *places == ["switch.dsp[1]"]) && places.len() == AerError::ALL.len());
    assert_eq!(messages, 0);
}

/// Masks keep the message from the host and not the record; severities choose the message.
#[test]
fn masks_and_severities_are_those_of_the_bridge() {
    let text = POOLED.replace(
        "port = 0, ld = 1 }",
        "port = 0, ld = 1, masked = [\"malformed-tlp\", \"bad-tlp\"], fatal = [\"surprise-down\", \"malformed-tlp\"] }",
    );
    let commands = ["malformed-tlp", "bad-tlp", "surprise-down", "receiver-overflow"]
        .map(|name| format!("{{ at = \"2 us\", command = \"error\", error = \"{name}\" }}"))
        .join(", ");
    let (report, places, _) = records(&text, &commands, &["host.accesses=1500"]);
    let switch = |name| count(&report, "switch", name);
    assert_eq!((switch("errors recorded"), places["malformed-tlp"].len()), (8, 3));
    // Host 0 masks nothing and has the severities of PCI Express, by which three of them are fatal.
    assert_eq!(["ERR_COR", "ERR_NONFATAL", "ERR_FATAL"].map(switch), [1, 1, 4]);
    let text = text.replace("port = 0, ld = 0 }", "port = 0, ld = 0, fatal = [\"none\"] }");
    let (report, ..) = records(&text, &commands, &["host.accesses=1500"]);
    assert_eq!(["ERR_COR", "ERR_NONFATAL", "ERR_FATAL"].map(|name| count(&report, "switch", name)), [1, 4, 1]);
}

/// What happens to a port is an error of its link: surprise down, of whatever is bound there.
#[test]
fn a_link_that_goes_down_is_recorded() {
    for (text, command, expected) in [
        (POOLED.to_owned(), "remove", &["switch.dsp[0]", "switch.usp[0]", "switch.usp[1]"][..]),
        (POOLED.to_owned(), "link-down", &["switch.dsp[0]", "switch.usp[0]", "switch.usp[1]"]),
        (two_devices(), "remove", &["switch.usp[0]"]),
        (two_devices(), "link-down", &["switch.usp[0]"]),
    ] {
        let (report, places, _) =
            records(&text, &format!("{{ at = \"2 us\", command = \"{command}\" }}"), &["host.accesses=1500"]);
        assert_eq!(report.violations, [], "{command}");
        assert_eq!(
            places.into_iter().collect::<Vec<_>>(),
            [("surprise-down".to_owned(), expected.iter().map(|s| (*s).to_owned()).collect())]
        );
    }
    // An unbind is none.
    let (_, places, _) = records(POOLED, "{ at = \"2 us\", command = \"unbind\", vcs = 1 }", &["host.accesses=1500"]);
    assert_eq!(places, BTreeMap::new());
}

/// Flits that come damaged from the device and are made good are corrected internal errors, as many as the link end counts.
#[test]
fn damage_of_a_line_is_recorded_as_often_as_it_comes() {
    for mode in ["cxl-256b", "cxl-256b-lopt", "cxl-68b"] {
        let mode = format!("link.mode={mode}");
        let set = [
            &mode,
            "device_link.fault=up:noise:40,up:noise:90,up:noise:150,down:noise:60",
            "host.accesses=800",
            "component.switch.link_errors=on",
        ];
        let (report, places, _) = records(POOLED, "", &set);
        assert_eq!(report.violations, [], "{mode}");
        assert_eq!(
            ["errors recorded", "errors of the manager", "ERR_COR"].map(|name| count(&report, "switch", name)),
            [6, 3, 6],
            "{mode}"
        );
        assert_eq!(places.keys().collect::<Vec<_>>(), ["corrected-internal"], "{mode}");
        // Without the setting nothing is heard of it, and nothing else differs for the hosts.
        let (silent, places, _) = records(POOLED, "", &set[..3]);
        assert_eq!(places, BTreeMap::new(), "{mode}");
        assert_eq!(silent.json()["components"]["host[0]"], report.json()["components"]["host[0]"], "{mode}");
    }
}

/// A fatal error inside the switch is one of every bridge.
#[test]
fn a_fatal_error_inside_the_switch_is_recorded_everywhere() {
    let commands = "{ at = \"2 us\", command = \"viral\", scope = \"switch\" }";
    let (report, places, _) = records(&two_devices(), commands, &["host.accesses=800"]);
    assert_eq!(count(&report, "switch", "ERR_FATAL"), 2);
    assert_eq!(places["uncorrectable-internal"], ["switch.usp[0]", "switch.usp[1]"]);
}

/// Errors of two hosts that share a port, in the bench.
fn bench_records(error: PortError) -> SwitchResult {
    let mut two = bench(2);
    two.is_shared = true;
    two.commands = vec![TimedCommand { at_cycle: 50, command: ManagerCommand::Error(error) }];
    (0..20).for_each(|n| two.sends[0].push((10 + 4 * u64::from(n), read(n, 0))));
    let (seen, result) = run_bench(two);
    assert_eq!((seen[0].len(), &result.broken[..]), (20, &[][..]));
    result
}

const HEADER: [u32; 4] = [0x4a00_0001, 2, 3, 4];

/// vPPB, message and header of a record.
type Seen = (Option<(usize, usize)>, Option<ErrorMessage>, Option<[u32; 4]>);

fn seen(result: &SwitchResult) -> Vec<Seen> {
    result.errors.iter().map(|(_, one)| (one.vppb, one.message, one.header)).collect()
}

/// Hosts see a header of ones where the error is nobody's alone; its owner and the manager see the true one.
#[test]
fn headers_are_hidden_from_hosts_that_share() {
    let of = |error| PortError { port: 0, error, ld: Some(1), header: Some(HEADER) };
    let [fatal, nonfatal] = [ErrorMessage::Fatal, ErrorMessage::NonFatal].map(Some);
    assert_eq!(
        seen(&bench_records(of(AerError::MalformedTlp))),
        [(None, None, Some(HEADER)), (Some((0, 0)), fatal, Some(NO_HEADER)), (Some((1, 0)), fatal, Some(NO_HEADER)),]
    );
    assert_eq!(
        seen(&bench_records(of(AerError::CompleterAbort))),
        [(None, None, Some(HEADER)), (Some((1, 0)), nonfatal, Some(HEADER))]
    );
}

/// A port that is not there is refused; a fatal error inside the switch in the bench reaches both bridges.
#[test]
fn an_error_of_no_port_is_refused() {
    let mut one = bench(1);
    let error = PortError { port: 9, error: AerError::BadTlp, ld: None, header: None };
    one.commands = vec![
        TimedCommand { at_cycle: 50, command: ManagerCommand::Error(error) },
        TimedCommand { at_cycle: 60, command: ManagerCommand::Viral(ResetScope::Switch) },
    ];
    let (_, result) = run_bench(one);
    assert_eq!(
        result.broken.iter().map(|one| (one.rule, one.found.as_str())).collect::<Vec<_>>(),
        [("FAB-BND-07", "port 9")]
    );
    assert_eq!(result.errors.len(), 1, "{:?}", result.errors);
}

#[test]
fn settings_of_errors_that_do_not_fit_are_refused() {
    let with_command = |command: &str| {
        POOLED.replace("preset = \"cxl_switch\"", &format!("commands = [{{ at = \"2 us\", {command} }}]"))
    };
    let binding = |setting: &str| POOLED.replace("port = 0, ld = 1 }", &format!("port = 0, ld = 1, {setting} }}"));
    let cases = [
        (binding("masked = [\"bad\"]"), "found an error `bad`, expected one of data-link-protocol"),
        (binding("fatal = [\"none\", \"ecrc\"]"), "found an error `none`, expected one of data-link-protocol"),
        (binding("fatal = [\"bad-tlp\"]"), "found `bad-tlp` as fatal, expected an error that is not correctable"),
        (with_command("command = \"error\", header = \"1 2 3\""), "found header = \"1 2 3\", expected four numbers"),
        (with_command("command = \"error\", port = 1"), "found port = 1 of a command `error`, expected 0 to 0"),
        (with_command("command = \"error\", vcs = 1"), "found vcs = 1 of `error`, expected no vcs"),
        (
            with_command("command = \"unbind\", error = \"bad-tlp\""),
            "of a command `unbind`, expected none: only `error` is an error",
        ),
    ];
    for (text, expected) in cases {
        let found = refused(&text);
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
