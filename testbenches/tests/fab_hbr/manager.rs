//! Bindings that change while a system runs (`fabric` §1.2).

use super::systems::{count, run};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

/// `pooled-pair` with commands, and hosts whose requests may end with an error.
pub fn with(commands: &str, set: &[&str]) -> ScenarioReport {
    let text = super::systems::POOLED
        .replace("preset = \"cxl_switch\"", &format!("commands = [{commands}]\npreset = \"cxl_switch\""))
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    run(&text, set).unwrap_or_else(|error| panic!("{error}"))
}

const SET: &[&str] = &["host.accesses=3000"];

/// Messages that came in went out, ended here, or are still there: nothing is left at the end.
fn ends(report: &ScenarioReport) -> [u64; 3] {
    ["reads not decoded", "requests timed out", "late answers"].map(|name| count(report, "host[1]", name))
}

#[test]
fn a_managed_removal_loses_nothing_that_was_open() {
    let report = with("{ at = \"10 us\", command = \"unbind\", vcs = 1, vppb = 0 }", SET);
    assert_eq!(report.violations, []);
    let [not_decoded, timed_out, late] = ends(&report);
    assert!(not_decoded > 100, "what comes later reaches nothing: {not_decoded}");
    assert_eq!((timed_out, late), (0, 0));
    assert_eq!(count(&report, "switch", "vPPBs unbound"), 1);
    assert_eq!(count(&report, "switch", "messages flushed"), 0);
    assert!(count(&report, "switch", "not bound") >= not_decoded);
    // The other host does not notice.
    assert_eq!(count(&report, "host[0]", "reads not decoded"), 0);
}

/// Open requests are flushed or lose their answers, and end at the host by its time-out.
#[test]
fn a_surprise_removal_ends_every_open_request_once() {
    for at in ["3 us", "10 us", "10003 ns"] {
        let command = format!("{{ at = \"{at}\", command = \"unbind\", vcs = 1, option = \"surprise\" }}");
        let report = with(&command, SET);
        assert_eq!(report.violations, [], "{at}");
        let [not_decoded, timed_out, _] = ends(&report);
        assert!(timed_out > 0 && not_decoded > 100, "{at}: {timed_out} timed out, {not_decoded} not decoded");
        let lost = count(&report, "switch", "messages flushed") + count(&report, "switch", "unknown LD-ID");
        assert_eq!(timed_out, lost, "{at}: each is flushed in the switch, or its answer comes to a port that is gone");
        let host = |name| count(&report, "host[0]", name);
        assert_eq!((host("requests timed out"), host("reads not decoded")), (0, 0), "{at}");
    }
}

/// A drain that is shorter than the latency of the device ends at its limit.
#[test]
fn a_drain_ends_at_its_limit() {
    for (limit, is_flushed) in [("100 us", false), ("10 ns", true)] {
        let text = format!("component.switch.drain_limit={limit}");
        let set = [SET, &[text.as_str()]].concat();
        let report = with("{ at = \"10 us\", command = \"unbind\", vcs = 1 }", &set);
        assert_eq!(report.violations, [], "{limit}");
        assert_eq!(ends(&report)[1] > 0, is_flushed, "{limit}");
    }
}

/// A logical device goes from one host to the other, and what was written there stays.
#[test]
fn a_device_is_bound_again() {
    let commands = "{ at = \"10 us\", command = \"unbind\", vcs = 1 }, \
                    { at = \"10001 ns\", command = \"bind\", vcs = 1, ld = 1 }, \
                    { at = \"30 us\", command = \"bind\", vcs = 1, ld = 1 }";
    let report = with(commands, &["host.accesses=20000", "host.pattern=reads"]);
    assert_eq!(reasons(&report), ["an unbind or a reset of vPPB 0 of VCS 1 under way"]);
    assert_eq!(count(&report, "switch", "vPPBs bound"), 1);
    assert_eq!(count(&report, "switch", "commands refused"), 1, "the unbind had not ended");
    let [not_decoded, ..] = ends(&report);
    let reads = count(&report, "host[1]", "reads");
    assert!(0 < not_decoded && not_decoded + 1000 < reads, "{not_decoded} of {reads} reads reached nothing");
}

/// The same commands give the same report, whatever the threads.
#[test]
fn removals_are_the_same_on_any_number_of_threads() {
    let text = super::systems::POOLED
        .replace("preset = \"cxl_switch\"", "commands = [{ at = \"5 us\", vcs = 1, option = \"surprise\" }]")
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    let [one, two] = [1, 2].map(|threads| super::systems::on_threads(&text, &["host.accesses=1500"], threads).json());
    assert_eq!(one, two);
}

/// What the first host of `pooled-pair` does, record by record, while the fabric manager works for the second one, which has done
/// its few accesses before.
pub fn of_the_other_host(commands: &str, set: &[&str]) -> Vec<String> {
    seen_by_the_other_host(commands, set).0
}

/// The same with the report of the run.
pub fn seen_by_the_other_host(commands: &str, set: &[&str]) -> (Vec<String>, ScenarioReport) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let text = super::systems::POOLED
        .replace("preset = \"cxl_switch\"", &format!("commands = [{commands}]\npreset = \"cxl_switch\""))
        .replace("accesses = 10_000 }", "accesses = 1_500 }\nat = { 1 = { stimulus = { accesses = 20 } } }")
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    let outputs = Outputs { trace: Some(path.clone()), scopes: vec!["host[0].core".to_owned()], ..Outputs::default() };
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text), seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let trace = std::fs::read_to_string(path).expect("a trace");
    // The first line names the description.
    (trace.lines().skip(1).map(str::to_owned).collect(), report)
}

/// A message that waits for its link when it is flushed waits no more, and the next one has a wait of its own.
#[test]
fn the_wait_of_a_flushed_message_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let text = super::systems::POOLED
        .replace("preset = \"cxl_switch\"", "commands = [{ at = \"2 us\", command = \"reset\", scope = \"switch\" }]")
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    let set = ["host.accesses=300", "link.device.buffers=2", "switch.queue=2", "component.switch.output_queue=2"];
    let outputs = Outputs { trace: Some(path.clone()), scopes: vec!["switch".to_owned()], ..Outputs::default() };
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text), seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert!(count(&report, "switch", "messages flushed") > 0);
    let (mut waiting, mut ended) = (std::collections::BTreeMap::new(), 0);
    for line in std::fs::read_to_string(path).expect("a trace").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let (id, name) = (record["id"].as_u64().expect("an id"), record["name"].as_str().unwrap_or_default());
        match name {
            "wait_over" => {
                assert!(waiting.remove(&id).is_some(), "the end of no wait: {line}");
                ended += 1;
            }
            _ if name.starts_with("wait_") => {
                assert!(waiting.insert(id, line.to_owned()).is_none(), "two waits at once: {line}");
            }
            "port_gone" => assert!(!waiting.contains_key(&id), "it is flushed and waits: {line}"),
            _ => (),
        }
    }
    assert!(ended > 100 && waiting.is_empty(), "{ended} waits have ended, and these have not: {waiting:?}");
}

const MOVES: &str = "{ at = \"4 us\", command = \"unbind\", vcs = 1 }, { at = \"5 us\", command = \"bind\", vcs = 1, ld = 1 }, \
                     { at = \"6 us\", command = \"unbind\", vcs = 1, option = \"surprise\" }, \
                     { at = \"7 us\", command = \"bind\", vcs = 1, ld = 1 }";

/// Binding and unbinding a logical device leaves the link and the other logical device alone.
#[test]
fn fab_mld_03_p() {
    let still = of_the_other_host("", &[]);
    assert!(still.len() > 3000, "{} records", still.len());
    assert!(of_the_other_host(MOVES, &[]) == still, "the other host sees what it always sees");
}

/// A link that had to be trained again would be seen in the same records.
#[test]
fn fab_mld_03_n() {
    let trained = of_the_other_host("", &["device_link.fault=noise:60,noise:61"]);
    assert!(trained != of_the_other_host("", &[]));
}

/// What the findings of refused commands say that they found; there are no others.
fn reasons(report: &ScenarioReport) -> Vec<&str> {
    let reason = |one: &scalepool::nodes::PlacedViolation| {
        assert_eq!((one.place.as_str(), one.violation.rule), ("switch", "FAB-BND-07"), "{:?}", one.violation);
    };
    report.violations.iter().for_each(reason);
    report.violations.iter().map(|one| one.violation.found.as_str()).collect()
}

/// Virtual DPC of the second host's logical device from 5 us to 20 us.
fn contained(cause: &str) -> ScenarioReport {
    let commands = format!(
        "{{ at = \"5 us\", command = \"dpc\", vcs = 1, cause = \"{cause}\" }}, \
         {{ at = \"20 us\", command = \"dpc-clear\", vcs = 1 }}"
    );
    with(&commands, &["host.accesses=4000", "host.pattern=reads"])
}

/// All traffic of the logical device is discarded both ways and nothing is answered as unmapped, as it stays bound; then it goes
/// on. The other host notices nothing.
#[test]
fn fab_mld_07_p() {
    for cause in ["software", "fatal", "non-fatal"] {
        let report = contained(cause);
        assert_eq!(report.violations, [], "{cause}");
        let switch = |name| count(&report, "switch", name);
        let lost = switch("contained messages") + switch("messages flushed");
        let [not_decoded, timed_out, late] = ends(&report);
        assert_eq!((not_decoded, late, timed_out), (0, 0, lost), "{cause}");
        assert!(lost > 64, "{cause}: what was open, and what came later: {lost}");
        let reads = count(&report, "host[1]", "reads");
        assert!(
            reads > timed_out + 2000,
            "{cause}: it goes on when the trigger is cleared, {timed_out} of {reads} lost"
        );
        assert_eq!((switch("vPPBs contained"), switch("commands refused")), (1, 0), "{cause}");
        assert_eq!(count(&report, "host[0]", "requests timed out"), 0, "{cause}");
    }
}

/// An uncorrectable error alone triggers nothing, so there is nothing to clear; and only a logical device is contained.
#[test]
fn fab_mld_07_n() {
    let report = contained("uncorrectable");
    assert_eq!(ends(&report), [0; 3]);
    assert_eq!(["vPPBs contained", "commands refused"].map(|name| count(&report, "switch", name)), [0, 1]);
    assert_eq!(reasons(&report), ["vPPB 0 of VCS 1, which is not contained"]);
    let whole = super::systems::two_devices().replace(
        "preset = \"cxl_switch\"",
        "commands = [{ at = \"1 us\", command = \"dpc\", vcs = 1 }, { at = \"2 us\", command = \"dpc-clear\", vcs = 1 }]",
    );
    let report = run(&whole, &["host.accesses=1000"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(reasons(&report), ["vPPB 0 of VCS 1, which is not bound to a logical device"; 2]);
    assert_eq!(["vPPBs contained", "commands refused"].map(|name| count(&report, "switch", name)), [0, 2]);
    let text = super::systems::POOLED
        .replace("preset = \"cxl_switch\"", "commands = [{ at = \"5 us\", command = \"unbind\", cause = \"fatal\" }]");
    let found = super::systems::refused(&text);
    assert!(found.contains("found cause = \"fatal\" of a command that contains nothing"), "{found}");
}

/// An unbind of a contained device has nothing to wait for, as what was open is gone.
#[test]
fn a_contained_device_is_unbound_at_once() {
    let commands = "{ at = \"5 us\", command = \"dpc\", vcs = 1 }, { at = \"7 us\", command = \"unbind\", vcs = 1 }, \
                    { at = \"8 us\", command = \"bind\", vcs = 1, ld = 1 }";
    let report = with(commands, &["host.accesses=3000", "host.pattern=reads"]);
    assert_eq!(report.violations, []);
    let of = |name| count(&report, "switch", name);
    assert_eq!((of("vPPBs unbound"), of("vPPBs bound"), of("commands refused")), (1, 1, 0));
}

const STATIC: &str = "format = 1\n[system]\nname = \"static\"\n[clock]\ncore = { period = \"1 ns\" }\n\
    [component.host]\nkind = \"cxl.host\"\ncount = 2\ntimeout = \"50 us\"\nstimulus = { pattern = \"mix\", accesses = 300 }\n\
    [component.switch]\nkind = \"cxl.switch.hbr\"\nhosts = 2\nports = 2\n\
    [component.memory]\nkind = \"cxl.memory\"\ncount = 2\n\
    [link.host]\nkind = \"cxl-256b\"\nbetween = [\"host[i].cxl\", \"switch.usp[i]\"]\n\
    [link.memory]\nkind = \"cxl-256b\"\nbetween = [\"switch.dsp[i]\", \"memory[i].cxl\"]\n";

/// Static bindings, those of a manager before the hosts start, and one that comes late, as a hot-add.
#[test]
fn fab_vcs_04_p() {
    let given = "hosts = 2\nbindings = [{ vcs = 0, port = 0 }, { vcs = 1, port = 1 }]";
    let late = "hosts = 2\nbindings = [{ vcs = 0, port = 0 }]\ncommands = [{ at = \"1 us\", command = \"bind\", vcs = 1, port = 1 }]";
    let text = |to: &str| STATIC.replace("hosts = 2", to);
    let runs = ["hosts = 2\nstart = \"static\"", given, late].map(|to| {
        let report = run(&text(to), &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.violations, [], "{to}");
        report
    });
    let figures = runs.each_ref().map(|report| {
        ["hot-plug events", "links trained", "vPPBs bound", "not bound"].map(|name| count(report, "switch", name))
    });
    assert_eq!(figures[..2], [[0; 4]; 2]);
    let [events, trained, bound, not_bound] = figures[2];
    assert_eq!([events, trained, bound], [1; 3], "the host is told, and trains the link");
    assert!(not_bound > 0, "before that the vPPB looks like a link that is down");
    assert_eq!(runs[0].json()["components"]["host[0]"], runs[1].json()["components"]["host[0]"]);
}

/// What a static switch is asked to change it does not know.
#[test]
fn fab_vcs_04_n() {
    for (command, field) in [("unbind", "vcs"), ("bind", "vcs"), ("attention", "port"), ("ready", "vcs")] {
        let to = format!(
            "hosts = 2\nstart = \"static\"\nbindings = [{{ vcs = 0, port = 0 }}, {{ vcs = 1, port = 1 }}]\ncommands = [{{ at = \"1 us\", command = \"{command}\", {field} = 1 }}]"
        );
        let found = super::systems::refused(&STATIC.replace("hosts = 2", &to));
        assert!(
            found.contains(&format!("found a command `{command}` of a switch without a fabric manager")),
            "{found}"
        );
    }
}

#[test]
fn fab_vcs_05_p() {
    let report = run(&STATIC.replace("hosts = 2", "hosts = 2\nstart = \"static\""), &[]);
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    for host in ["host[0]", "host[1]"] {
        assert_eq!(count(&report, host, "line accesses"), 300);
    }
}

#[test]
fn fab_vcs_05_n() {
    let found = super::systems::refused(&super::systems::POOLED.replace("hosts = 2", "hosts = 2\nstart = \"static\""));
    assert!(
        found.contains("found a device with logical devices at switch.dsp[0]") && found.contains("fabric VCS-5"),
        "{found}"
    );
}
