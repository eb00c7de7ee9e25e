//! Devices and links that come and go in traffic, in systems: conservation, with and without isolation at the hosts, on links with
//! errors, at several times and with several seeds (FAB-T01, FAB-T02).

use super::systems::{POOLED, count, on_threads, refused};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

/// Two hosts with a device each behind one switch, or with a logical device each of one device; host 1 is the one that something
/// happens to.
pub fn system(is_shared: bool, commands: &str) -> String {
    let text = if is_shared { POOLED.to_owned() } else { super::systems::two_devices() };
    text.replace("preset = \"cxl_switch\"", &format!("commands = [{commands}]\npreset = \"cxl_switch\""))
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"")
}

pub fn run_with(text: String, set: &[&str], seed: u64, outputs: Outputs) -> ScenarioReport {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text), seed, threads: 2, set, outputs, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Every request of a host ended once: with an answer, with a time-out, or at an isolated port. How many were lost.
fn conserved(report: &ScenarioReport, host: &str) -> u64 {
    let of = |name| count(report, host, name);
    let lost = of("requests timed out") + of("reads isolated") + of("writes isolated");
    assert_eq!(64 * (of("reads") + of("writes")), of("bytes") + 64 * lost, "{host}");
    assert_eq!(of("line accesses"), 2500, "{host}");
    lost
}

/// What happens, and how many ports it concerns: (commands, is the device shared).
fn storms(at_ns: u64) -> Vec<(String, bool)> {
    let [at, later, last] = [at_ns, at_ns + 1500, at_ns + 3000].map(|ns| format!("{ns} ns"));
    let one = |is_shared: bool, text: String| (text, is_shared);
    let bind = |port: &str| format!("{{ at = \"{last}\", command = \"bind\", vcs = 1, {port} }}");
    let unbind = |option: &str| format!("{{ at = \"{at}\", command = \"unbind\", vcs = 1, option = \"{option}\" }}, ");
    let happens = |command: &str, port: usize| format!("{{ at = \"{at}\", command = \"{command}\", port = {port} }}");
    let insert = |port: usize| format!(", {{ at = \"{later}\", command = \"insert\", port = {port} }}");
    vec![
        one(false, happens("link-down", 1)),
        one(false, happens("remove", 1)),
        one(false, happens("remove", 1) + &insert(1)),
        one(false, unbind("surprise") + &bind("port = 1")),
        one(false, unbind("managed") + &bind("port = 1")),
        one(true, happens("link-down", 0)),
        one(true, happens("remove", 0) + &insert(0) + ", " + &bind("ld = 1")),
        one(true, unbind("surprise") + &bind("ld = 1")),
    ]
}

/// A removal storm: several things, times and seeds, links with errors, and isolation on and off. Nothing is lost without an end, and
/// a host whose device stays notices nothing.
#[test]
fn every_request_ends_once_whatever_comes_and_goes() {
    let (mut lost, mut isolated) = (0, 0);
    for (at_ns, seed, ber, isolates) in
        [(1500, 1, "0", false), (2003, 2, "1e-6", true), (4000, 3, "1e-6", false), (3333, 4, "0", true)]
    {
        for (commands, is_shared) in storms(at_ns) {
            let ber = format!("link.ber={ber}");
            let mut set = vec!["host.accesses=2500", ber.as_str()];
            set.extend(isolates.then_some("component.host.isolate_on=timeout"));
            let report = run_with(system(is_shared, &commands), &set, seed, Outputs::default());
            assert_eq!(report.violations, [], "{commands} seed {seed}");
            let both = ["host[0]", "host[1]"].map(|host| conserved(&report, host));
            let switch = |name| count(&report, "switch", name);
            assert_eq!(switch("commands refused"), 0, "{commands}");
            let [late, gone] = ["unknown LD-ID", "messages flushed"].map(switch);
            if !isolates {
                assert_eq!(both[0] + both[1], late + gone, "{commands}: each is flushed, or its answer comes too late");
            }
            let shares_loss = is_shared && !commands.contains("unbind");
            assert!(both[0] == 0 || shares_loss, "{commands}: {both:?}");
            lost += both[1];
            isolated += count(&report, "host[1]", "reads isolated");
        }
    }
    assert!(lost > 1000 && isolated > 100, "{lost} lost, {isolated} isolated");
}

/// What hosts and the manager see, counted in the report and at its place in the trace.
#[test]
fn what_is_seen_stands_in_report_and_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let commands = "{ at = \"2 us\", command = \"remove\", port = 1 }, { at = \"3 us\", command = \"insert\", port = 1 }, \
                    { at = \"6 us\", command = \"link-down\", port = 0 }";
    let outputs = Outputs { trace: Some(path.clone()), scopes: vec!["switch*".to_owned()], ..Outputs::default() };
    let report = run_with(system(false, commands), &["host.accesses=2500"], 1, outputs);
    assert_eq!(report.violations, []);
    let names =
        ["devices removed", "links lost", "links trained", "hot-plug events", "absences seen", "physical records"];
    assert_eq!(names.map(|name| count(&report, "switch", name)), [1, 1, 2, 3, 1, 0]);
    let mut seen = Vec::new();
    for line in std::fs::read_to_string(path).expect("a trace").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let name = record["name"].as_str().unwrap_or_default().to_owned();
        if name.starts_with("plug_") {
            seen.push((record["where"].as_str().expect("a place").to_owned(), name));
        }
    }
    let expected = [
        ("switch.dsp[1]", "plug_device_removed"),
        ("switch.usp[1]", "plug_link_down_seen"),
        ("switch.usp[1]", "plug_absence_seen"),
        ("switch.usp[1]", "plug_event"),
        ("switch.dsp[1]", "plug_device_inserted"),
        ("switch.usp[1]", "plug_presence_seen"),
        ("switch.usp[1]", "plug_event"),
        ("switch.dsp[1]", "plug_link_up"),
        ("switch.usp[1]", "plug_link_up_seen"),
        ("switch.dsp[0]", "plug_link_lost"),
        ("switch.usp[0]", "plug_link_down_seen"),
        ("switch.usp[0]", "plug_event"),
        ("switch.dsp[0]", "plug_link_up"),
        ("switch.usp[0]", "plug_link_up_seen"),
    ];
    // What happens at one time stands in the order of the places.
    let in_place = |mut all: Vec<(String, String)>| {
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    assert_eq!(in_place(seen), in_place(expected.map(|(place, name)| (place.to_owned(), name.to_owned())).to_vec()));
}

/// A link that takes longer to train serves less.
#[test]
fn a_link_takes_its_time_to_train() {
    let not_bound = |training: &str| {
        // So slowly that requests come while the link is down, although those that are lost stay open until their time-out.
        let slow = ["component.host.stimulus.interval=10 ns", "host.outstanding=2000", "host.accesses=2500"];
        let set = [&slow[..], &["host.pattern=reads", training]].concat();
        let report = run_with(
            system(false, "{ at = \"2 us\", command = \"link-down\", port = 1 }"),
            &set,
            1,
            Outputs::default(),
        );
        assert_eq!(report.violations, [], "{training}");
        count(&report, "switch", "not bound")
    };
    let [short, long] = ["100 ns", "3 us"].map(|time| not_bound(&format!("component.switch.link_training={time}")));
    assert!(0 < short && 2 * short < long, "{short} {long}");
}

#[test]
fn it_is_the_same_on_any_number_of_threads() {
    let commands =
        "{ at = \"2 us\", command = \"remove\", port = 1 }, { at = \"3 us\", command = \"insert\", port = 1 }";
    let text = system(false, commands);
    let [one, two] = [1, 2].map(|threads| on_threads(&text, &["host.accesses=1500"], threads).json());
    assert_eq!(one, two);
}

#[test]
fn fields_that_a_port_has_no_use_for_are_refused() {
    let cases = [
        (
            "command = \"remove\", vcs = 1",
            "found vcs = 1 of `remove`, expected no vcs: it happens at a downstream port",
        ),
        ("command = \"insert\", ld = 1", "found ld = 1 of `insert`, expected no ld"),
        ("command = \"link-down\", port = 2", "found port = 2 of a command `link-down`, expected 0 to 1"),
        ("command = \"attention\", option = \"wait\"", "found option = \"wait\" of `attention`, expected no option"),
        ("command = \"ready\", ld = 1", "found ld = 1 of `ready`, expected vcs and vppb alone"),
        ("command = \"ready\", port = 1", "found port = 1 and option = \"managed\" of `ready`"),
        ("command = \"ready\", vcs = 2", "found vcs = 2 of a command `ready`, expected 0 to 1"),
    ];
    for (command, expected) in cases {
        let found = refused(&system(false, &format!("{{ at = \"2 us\", {command} }}")));
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
