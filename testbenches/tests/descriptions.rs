//! System descriptions: what is built in, what users write, and forty mistakes, each with its place.

use scalepool::scenario::drive::Live;
use scalepool::scenario::report::{ReportPart, ScenarioReport};
use scalepool::scenario::{self, RunError, SCENARIOS, ScenarioRequest};
use scalepool::system::bench::{BenchSource, bench};
use scalepool::system::build::{Run, assemble};
use scalepool::system::builtin;
use scalepool::system::description::Description;
use scalepool::system::design::{ComponentInstance, System};
use scalepool::system::kind::{COMPONENTS, ComponentKind, LINKS, LinkKind};
use scalepool::system::metric::Metric;
use scalepool::system::schema::schema;
use scalepool_testbenches::soak::is_soak;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

/// A host and a memory, two components and one link.
const PAIR: &str = r#"format = 1
[system]
name = "pair"
[clock]
host = { period = "500 ps" }
slow = { num = 15_625_000, den = 16, phase = "250 ps" }
[component.host]
kind = "cxl.host"
clock = "host"
outstanding = 8
stimulus = { pattern = "mix", accesses = 200 }
[component.memory]
kind = "cxl.memory"
clock = "slow"
size = "1 GiB"
[link.cxl]
kind = "cxl-68b"
between = ["host.cxl", "memory.cxl"]
[settings]
"link.ber" = "link.cxl.ber"
"#;

fn read(text: &str) -> Result<System, String> {
    let description = Description::parse("f.toml", PathBuf::new(), text).map_err(|p| p.to_string())?;
    description.resolve().map_err(|p| p.to_string())
}

fn run(text: &str, set: &[&str]) -> Result<ScenarioReport, RunError> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.toml");
    std::fs::write(&file, text).expect("it can be written");
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request = ScenarioRequest { scenario: file.display().to_string(), seed: 1, set, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ())
}

#[test]
fn a_host_and_a_memory_run_from_a_file() {
    let report = run(PAIR, &[]).expect("it runs");
    assert_eq!(report.violations, []);
    assert_eq!((report.scenario.as_str(), report.components.len(), report.links.len()), ("pair", 2, 1));
    let json = report.json();
    assert_eq!(json["components"]["host"]["line accesses"], 200);
    assert_eq!(json["counts"]["line accesses"], 200, "aggregates are the sums of the parts");
    assert!(json["links"]["cxl"]["flits down"].as_u64() > Some(0));
    let noisy = run(PAIR, &["link.ber=1e-4", "component.host.stimulus.accesses=600"]).expect("it runs");
    assert_eq!(noisy.violations, []);
    assert!(noisy.retries > 0, "short names and paths both set");
}

#[test]
fn arrays_of_components_and_links() {
    let text = PAIR
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ncount = 3")
        .replace("kind = \"cxl.memory\"", "kind = \"cxl.memory\"\ncount = 3")
        .replace("[component.memory]", "[component.host.at.1]\noutstanding = 1\n[component.memory]")
        .replace("\"host.cxl\", \"memory.cxl\"", "\"host[i].cxl\", \"memory[i].cxl\"");
    let report = run(&text, &["link.cxl[2].width=4"]).expect("it runs");
    assert_eq!(report.violations, []);
    let paths: Vec<&str> = report.links.iter().map(|link| link.path.as_str()).collect();
    assert_eq!(paths, ["cxl[0]", "cxl[1]", "cxl[2]"]);
    let system = read(&text).expect("it is sound");
    let value = |path: &str| system.resolved.iter().find(|(p, _)| p == path).map(|(_, v)| v.as_str());
    assert_eq!(value("component.host.outstanding"), Some("8"));
    assert_eq!(value("component.host[1].outstanding"), Some("1"));
    assert_eq!(report.json()["counts"]["line accesses"], 600);
}

#[test]
fn two_pairs_side_by_side_are_as_each_alone() {
    let second = PAIR
        .lines()
        .skip(6)
        .take(12)
        .collect::<Vec<_>>()
        .join("\n")
        .replace("component.host", "component.host2")
        .replace("component.memory", "component.memory2")
        .replace("link.cxl", "link.cxl2")
        .replace("host.cxl", "host2.cxl")
        .replace("memory.cxl", "memory2.cxl")
        .replace("cxl-68b", "cxl-256b-pbr");
    let both = run(&PAIR.replace("[settings]", &format!("{second}\n[settings]")), &[]).expect("it runs");
    let alone = run(PAIR, &[]).expect("it runs");
    assert_eq!(both.violations, []);
    assert_eq!(both.components[0], alone.components[0]);
    let part = |report: &ScenarioReport| report.links.iter().find(|link| link.path == "cxl").cloned().expect("a link");
    let messages = |report: &ScenarioReport| part(report).messages;
    assert!(messages(&alone).iter().all(|(name, n)| name.starts_with("cxl68.") && *n > 0));
    assert_eq!(messages(&both), messages(&alone), "a neighbour changes nothing");
}

#[test]
fn built_in_descriptions_are_sound_and_fit_on_a_screen() {
    for scenario in SCENARIOS.iter() {
        let text = scenario.description();
        let system = read(text).unwrap_or_else(|e| panic!("{}: {e}", scenario.name));
        assert_eq!((system.name.as_str(), system.about.as_str()), (scenario.name, scenario.doc()));
        let body = text.split("[settings]").next().unwrap_or_default();
        assert!(body.lines().count() <= 64, "{}", scenario.name);
        for key in scenario.keys() {
            assert!(!key.doc.is_empty() && !key.unit.is_empty(), "{}", key.name);
        }
        // What it prints to start from runs as a file.
        let short = [
            "traffic.packets=20",
            "host.accesses=20",
            "core.accesses=20",
            "traffic.operations=20",
            "traffic.requests=20",
        ];
        let is_key = |set: &&str| scenario.keys().iter().any(|key| set.split('=').next() == Some(key.name));
        let report = run(text, &short.into_iter().filter(is_key).collect::<Vec<_>>()).expect("it runs");
        assert_eq!(report.violations, []);
    }
}

#[test]
fn the_hash_covers_what_decides_the_run() {
    let canonical = |text: &str| read(text).expect("it is sound").canonical();
    let same = PAIR.replace("\"500 ps\"", "\"0.5 ns\"").replace("accesses = 200", "accesses = 0xc8");
    assert_eq!(canonical(PAIR), canonical(&same), "one spelling of a value");
    for (from, to) in [("outstanding = 8", "outstanding = 9"), ("\"slow\"", "\"host\""), ("cxl-68b", "cxl-256b")] {
        let changed = PAIR.replacen(from, to, if from == "\"slow\"" { 1 } else { usize::MAX });
        assert_ne!(canonical(PAIR), canonical(&changed), "{from}");
    }
}

#[test]
fn two_thousand_components_are_built_in_a_second() {
    let text = PAIR
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ncount = 1000")
        .replace("kind = \"cxl.memory\"", "kind = \"cxl.memory\"\ncount = 1000")
        .replace("\"host.cxl\", \"memory.cxl\"", "\"host[i].cxl\", \"memory[i].cxl\"");
    let begun = Instant::now();
    let system = read(&text).expect("it is sound");
    assert_eq!((system.components.len(), system.links.len()), (2000, 1000));
    assert!(assemble(system, Run::default()).is_ok());
    // The figure is printed, not asserted: tests say nothing about the machine.
    println!("2000 components and 1000 links: {:.3} s", begun.elapsed().as_secs_f64());
}

#[test]
fn the_schema_names_every_kind_and_field() {
    let text = schema().to_string();
    for name in ["cxl.host", "cxl.memory", "cxl-256b-pbr", "outstanding", "max_num_retry", "host_pid", "between"] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

/// One mistake each: what is replaced, by what, and a part of the message that has to come, with its place.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("format = 1\n", "", "f.toml:1:1: format: found no format, expected `format = 1` at the top"),
    (
        "format = 1",
        "format = 2",
        "f.toml:1:1: format: found format 2, expected 1: a newer version of scalepool is needed",
    ),
    ("format = 1", "format = \"1\"", "f.toml:1:1: format: found `1`, expected 1"),
    ("format = 1", "format = 0", "f.toml:1:1: format: found 0, expected 1"),
    ("[system]", "[sytem]", "f.toml:2:2: sytem: found the key `sytem`, expected one of format, system"),
    ("name = \"pair\"", "name = \"A pair\"", "system.name: found `A pair`, expected lower-case letters"),
    (
        "name = \"pair\"",
        "nam = \"pair\"",
        "f.toml:3:1: system.nam: found the key `nam`, expected one of name, about; the nearest is `name`",
    ),
    ("period = \"500 ps\"", "period = 0", "f.toml:5:19: clock.host.period: found 0, expected 1 ps to 1.073741824 us"),
    (
        "period = \"500 ps\"",
        "period = \"500 MiB\"",
        "clock.host.period: found `500 MiB`, expected 1 ps to 1.073741824 us: a number with one of the units fs, ps, ns, us, ms or s",
    ),
    (
        "period = \"500 ps\"",
        "phase = 1",
        "f.toml:5:1: clock.host: found more than one of period, num and link, or none, expected one of them",
    ),
    ("num = 15_625_000, den = 16,", "num = 15_625_000, den = 0,", "clock.slow.den: found 0, expected 1 to 1048576"),
    ("num = 15_625_000, den = 16,", "num = 1, den = 16,", "clock.slow: found a clock that cannot tick"),
    (
        "host = { period",
        "Host = { period",
        "f.toml:5:1: clock.Host: found the name `Host`, expected a lower-case letter",
    ),
    (
        "clock = \"host\"",
        "clock = \"hots\"",
        "f.toml:9:9: component.host.clock: found the clock `hots`, expected one of host, slow; the nearest is `host`",
    ),
    ("clock = \"host\"\n", "", "f.toml:7:12: component.host.clock: found no clock, expected one of host, slow"),
    ("clock = \"host\"", "clock = 1", "f.toml:9:9: component.host.clock: found 1, expected the name of a clock"),
    (
        "kind = \"cxl.host\"",
        "kind = \"cxl.hots\"",
        "f.toml:8:8: component.host.kind: found the kind of component `cxl.hots`, expected one of cxl.host",
    ),
    (
        "kind = \"cxl.host\"\n",
        "",
        "f.toml:7:12: component.host.kind: found no kind, expected the name of a kind of component",
    ),
    ("outstanding = 8", "outstandnig = 8", "f.toml:10:1: component.host.outstandnig: found the key `outstandnig`"),
    (
        "outstanding = 8",
        "outstanding = 0",
        "f.toml:10:15: component.host.outstanding: found 0, expected 1 to 32768 [misses]",
    ),
    ("outstanding = 8", "outstanding = -8", "component.host.outstanding: found -8, expected 1 to 32768"),
    (
        "outstanding = 8",
        "outstanding = \"8 hits\"",
        "component.host.outstanding: found `8 hits`, expected 1 to 32768 [misses]: a number of misses",
    ),
    ("outstanding = 8", "outstanding = [8]", "component.host.outstanding: found an array, expected 1 to 32768"),
    ("outstanding = 8", "count = 0", "f.toml:10:9: component.host.count: found 0, expected 1 to 65536"),
    (
        "outstanding = 8",
        "at = { 0 = { outstanding = 8 } }",
        "component.host.at.0: found an index, expected none: it is no array",
    ),
    (
        "outstanding = 8",
        "external = \"signals\"",
        "f.toml:10:12: component.host.external: found `signals`, expected one of what `cxl.host` offers: flits, messages",
    ),
    (
        "pattern = \"mix\"",
        "pattern = \"mixed\"",
        "component.host.stimulus.pattern: found `mixed`, expected reads, writes, mix",
    ),
    (
        "accesses = 200",
        "accesses = 200, file = \"x.gz\"",
        "component.host.stimulus.file: found a file without kind = \"trace\"",
    ),
    (
        "stimulus = {",
        "stimulus = 4 # {",
        "f.toml:11:12: component.host.stimulus: found 4, expected a table with kind, file",
    ),
    (
        "size = \"1 GiB\"",
        "size = \"1 GB\"",
        "f.toml:15:8: component.memory.size: found `1 GB`, expected 64 bytes to 64 TiB: a number with one of the units B",
    ),
    ("size = \"1 GiB\"", "size = 100", "component.memory.size: found 100 bytes, expected a multiple of 64 bytes"),
    (
        "kind = \"cxl-68b\"",
        "kind = \"cxl-69b\"",
        "f.toml:17:8: link.cxl.kind: found the kind of link `cxl-69b`, expected one of cxl-68b",
    ),
    (
        "kind = \"cxl-68b\"",
        "kind = \"cxl-68b\"\nrate = 64",
        "f.toml:18:8: link.cxl.rate: found 64, expected 8, 16, 32 [GT/s per lane]",
    ),
    (
        "kind = \"cxl-68b\"",
        "kind = \"cxl-68b\"\nfault = [\"flop:1\"]",
        "f.toml:18:9: link.cxl.fault: found `flop:1`, expected flip:FLIT:BIT",
    ),
    (
        "kind = \"cxl-68b\"",
        "kind = \"cxl-256b\"\npropagation = \"1 ms\"",
        "f.toml:18:15: link.cxl.propagation: found 1000016000000 fs one way",
    ),
    (
        "between = [\"host.cxl\", \"memory.cxl\"]",
        "",
        "f.toml:16:7: link.cxl.between: found no between, expected two ports",
    ),
    ("\"memory.cxl\"]", "\"memory.cxl\", \"memory.cxl\"]", "link.cxl.between: found 3 elements, expected two ports"),
    ("\"memory.cxl\"]", "\"memory\"]", "f.toml:18:24: link.cxl.between: found `memory`, expected component.port"),
    (
        "\"memory.cxl\"]",
        "\"memry.cxl\"]",
        "f.toml:18:24: link.cxl.between: found the component `memry`, expected one of host, memory; the nearest is `memory`",
    ),
    (
        "\"memory.cxl\"]",
        "\"memory.mem\"]",
        "found the port `mem`, expected one of cxl; the nearest is `cxl` (`memory` is a cxl.memory)",
    ),
    ("\"memory.cxl\"]", "\"memory[0].cxl\"]", "found an index of `memory`, expected none: it is no array"),
    ("\"memory.cxl\"]", "\"host.cxl\"]", "link.cxl.between: found both ends at `host`, expected two components"),
    (
        "[settings]",
        "[link.more]\nkind = \"cxl-68b\"\nbetween = [\"host.cxl\", \"memory.cxl\"]\n[settings]",
        "link.more.between: found a second link at `host.cxl`, expected one for each port",
    ),
    (
        "[settings]",
        "[component.spare]\nkind = \"cxl.memory\"\nclock = \"host\"\n[settings]",
        "f.toml:19:12: component.spare: found no link at the port `spare.cxl`, expected one of kind cxl-68b",
    ),
    (
        "[settings]",
        "[component.host]\nkind = \"cxl.host\"\n[settings]",
        "f.toml:19:12: the file is no TOML: duplicate key",
    ),
    (
        "\"link.cxl.ber\"",
        "\"link.cxl.bre\"",
        "settings.\"link.ber\": found `link.cxl.bre`, expected the path of a field",
    ),
];

#[test]
fn mistakes_are_named_with_their_places() {
    assert!(MISTAKES.len() >= 40);
    for (from, to, expected) in MISTAKES {
        let text = PAIR.replacen(from, to, 1);
        assert_ne!(text, PAIR, "{from}");
        let found = read(&text).map(|_| String::new()).unwrap_or_else(|e| e);
        assert!(found.contains(expected), "{from} -> {to}:\nfound    {found}\nexpected {expected}");
    }
}

#[test]
fn lengths_of_arrays_that_differ_name_both() {
    let text = PAIR
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ncount = 3")
        .replace("kind = \"cxl.memory\"", "kind = \"cxl.memory\"\ncount = 2");
    let with = |between: &str| read(&text.replace("\"host.cxl\", \"memory.cxl\"", between)).err().unwrap_or_default();
    let found = with("\"host[i].cxl\", \"memory[i].cxl\"");
    assert!(found.contains("the 3 of `host` and the 2 of `memory`, expected equal lengths"), "{found}");
    let found = with("\"host[2].cxl\", \"memory[2].cxl\"");
    assert!(found.contains("found the index 2 of `memory`, expected 0 to 1"), "{found}");
    assert!(with("\"host.cxl\", \"memory[0].cxl\"").contains("found `host` without an index"));
}

#[test]
fn all_mistakes_come_at_once_in_their_order() {
    let text = PAIR.replace("outstanding = 8", "outstanding = 0").replace("1 GiB", "1 GB").replace("cxl-68b", "cxl");
    let found = read(&text).err().unwrap_or_default();
    let lines: Vec<&str> = found.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(lines, ["f.toml:10:15", "f.toml:15:8", "f.toml:17:8"], "{found}");
}

#[test]
fn settings_that_are_refused() {
    let refused = |set: &str| run(PAIR, &[set]).expect_err("it is refused").to_string();
    assert_eq!(refused("link.ber=2"), "--set link.ber: found `2`, expected 0 to 0.1 [errors per bit]");
    assert!(refused("host.outstanding=2").contains("`host.outstanding`: no such key"));
    assert!(refused("component.host.outstanding=many").contains("--set component.host.outstanding: found `many`"));
    assert!(refused("component.host=1").contains("no such key"));
    assert!(refused("link.ber").contains("expected key=value"));
    for key in ["component.front[0].lost", "component.front[0].lost[0].at", "component.front.lost"] {
        let request = ScenarioRequest {
            scenario: "pbr-rack".into(),
            set: vec![format!("{key}=[{{ isl = 0, at = \"1 us\" }}]")],
            ..ScenarioRequest::default()
        };
        let error = scenario::run(&request, &mut |_| ()).expect_err("it is refused").to_string();
        let list = key.trim_end_matches("[0].at");
        let expected =
            format!("`{key}`: found a list of tables, expected a single value: `{list}` is given in the file");
        assert!(error.contains(&expected), "{error}");
    }
    let missing = ScenarioRequest { scenario: "nowhere.toml".into(), ..ScenarioRequest::default() };
    let error = scenario::run(&missing, &mut |_| ()).expect_err("it is refused").to_string();
    assert!(error.starts_with("nowhere.toml:1:1: the file cannot be read: "), "{error}");
}

/// A description of the repository.
fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("systems").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn count(report: &ScenarioReport, component: &str, name: &str) -> u64 {
    report.json()["components"][component][name].as_u64().unwrap_or_else(|| panic!("{component} counts no {name}"))
}

#[test]
fn examples_run_clean() {
    let report = run(&example("host_and_memory.toml"), &["host.accesses=500"]).expect("it runs");
    assert_eq!((report.violations.as_slice(), count(&report, "host", "line accesses")), (&[][..], 500));
    let report = run(&example("pod.toml"), &["link.ber=1e-6"]).expect("it runs");
    assert_eq!(report.violations, []);
    assert_eq!((report.components.len(), report.links.len()), (6, 8));
    for accel in 0..4 {
        assert_eq!(count(&report, &format!("accel[{accel}]"), "operations"), 200);
    }
    assert!(count(&report, "switch[1]", "relayed requests") > 0, "both switches are used");
    let report = run(&example("side_by_side.toml"), &[]).expect("it runs");
    assert_eq!(report.violations, []);
    assert_eq!(count(&report, "accel[1]", "operations"), 300);
    assert!(count(&report, "gpu[0]", "payload [bytes]") > 0 && count(&report, "gpu[1]", "answers") > 0);
}

#[test]
fn a_generated_pod_is_the_one_written_by_hand() {
    let (by_hand, generated) = (example("pod.toml"), example("generated_pod.toml"));
    let system = |text: &str| read(text).expect("it is sound");
    assert_eq!(system(&generated).canonical(), system(&by_hand).canonical());
    let larger = run(&generated, &["pod.accelerators=8", "pod.switches=1", "traffic.operations=20"]).expect("it runs");
    assert_eq!((larger.violations.as_slice(), larger.components.len(), larger.links.len()), (&[][..], 9, 8));
    // The same pod of arrays that a short name sets together.
    let counts = "\"accel\" = [\"component.accel.count\", \"component.switch.ports\"]\n\"link.ber\"";
    let mut description =
        Description::parse("f.toml", PathBuf::new(), &by_hand.replace("\"link.ber\"", counts)).expect("it is TOML");
    let short = description.shorts().into_iter().find(|short| short.name == "accel").expect("a short name");
    assert_eq!(
        (short.default.as_str(), short.field.range.to_string().as_str()),
        ("4", "2 to 1024"),
        "what both of its paths take"
    );
    description.set("accel=7").expect("it can be set");
    let system = description.resolve().map_err(|p| p.to_string()).expect("it is sound");
    assert_eq!((system.components.len(), system.links.len()), (9, 14));
}

#[test]
fn mistakes_of_generators_are_named_with_their_places() {
    let pod = example("generated_pod.toml");
    for (from, to, expected) in [
        (
            "kind = \"pod\"",
            "kind = \"pot\"",
            "f.toml:25:8: generator.pod.kind: found the kind of generator `pot`, expected one of pod, nvlink.pod, cxl.rack, cxl.fabric, topology; the nearest is `pod`",
        ),
        (
            "kind = \"pod\"",
            "",
            "f.toml:24:12: generator.pod.kind: found no kind, expected one of pod, nvlink.pod, cxl.rack, cxl.fabric, topology",
        ),
        ("nodes = \"accel\"", "", "f.toml:24:12: generator.pod.nodes: found no name, expected the name of a component"),
        (
            "nodes = \"accel\"",
            "nodes = \"acel\"",
            "f.toml:26:9: generator.pod.nodes: found the component `acel`, expected one of accel, switch; the nearest is `accel`",
        ),
        ("link = \"fabric\"", "link = \"x\"", "generator.pod.link: found the link `x`, expected one of fabric"),
        (
            "node_count = 4",
            "node_count = 1025",
            "f.toml:29:14: generator.pod.node_count: found 1025, expected 2 to 1024 [nodes]",
        ),
        ("node_count = 4", "nodecount = 4", "generator.pod.nodecount: found the key `nodecount`"),
        (
            "kind = \"ualink.switch\"",
            "kind = \"ualink.switch\"\nports = 4",
            "f.toml:20:9: component.switch.ports: found 4, expected none: generator.pod sets it",
        ),
        (
            "kind = \"ualink.switch\"",
            "kind = \"cxl.memory\"",
            "generator.pod.switches: found `switch`, a cxl.memory, expected a component with an array of ports",
        ),
        ("[generator.pod]", "[generator]\npod = 1\n[generator.x]", "generator.pod: found 1, expected a table"),
        (
            "\"generator.pod.node_count\"",
            "[\"generator.pod.node_count\", \"component.accel.count\"]",
            "settings.\"pod.accelerators\": found `component.accel.count`, expected the path of a field",
        ),
    ] {
        let text = pod.replacen(from, to, 1);
        assert_ne!(text, pod, "{from}");
        let found = read(&text).map(|_| String::new()).unwrap_or_else(|e| e);
        assert!(found.contains(expected), "{from} -> {to}:\nfound    {found}\nexpected {expected}");
    }
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    folder
}

/// What is wrong with a description in files; the first is the whole. Paths are shown without their folder.
fn wrong(files: &[(&str, &str)]) -> String {
    let folder = folder(files);
    let found = Description::open(&folder.path().join(files[0].0)).and_then(|description| description.resolve());
    let found = found.map(|_| String::new()).unwrap_or_else(|problems| problems.to_string());
    found.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn parts_are_as_if_written_by_hand() {
    let run = |file: &str, set: &[&str]| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("systems").join(file);
        let set = set.iter().map(|s| (*s).to_owned()).collect();
        let request =
            ScenarioRequest { scenario: path.display().to_string(), seed: 1, set, ..ScenarioRequest::default() };
        scenario::run(&request, &mut |_| ()).expect("it runs")
    };
    let report = run("two_pods.toml", &["link.ber=1e-6", "part.pod[1].traffic.operations=30", "tray.bytes=1m"]);
    assert_eq!((report.violations.as_slice(), report.components.len(), report.links.len()), (&[][..], 15, 14));
    for (path, operations) in [("pod[0].accel[3]", 50), ("pod[1].accel[0]", 30)] {
        assert_eq!(count(&report, path, "operations"), operations, "{path}");
    }
    assert_eq!(count(&report, "host[1]", "line accesses"), 200);
    assert_eq!(report.json()["links"]["pod[1].fabric[3]"]["violations"], 0);
    // A part is the system of its file.
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("systems");
    let whole = "format = 1\n[part.p]\nuse = \"pod.toml\"\n";
    let part = Description::parse("f.toml", path, whole).and_then(|d| d.resolve()).map_err(|p| p.to_string());
    let alone = read(&example("pod.toml")).expect("it is sound").canonical();
    let inside = part.expect("it is sound").canonical();
    let own = |line: &&str| !line.starts_with("system") && !line.starts_with("link.fabric[") && !line.contains(" is ");
    let alone: Vec<&str> = alone.lines().filter(own).collect();
    let inside: Vec<String> = inside.lines().filter(own).map(|line| line.replacen(".p.", ".", 1)).collect();
    assert_eq!(inside, alone);
}

#[test]
fn parts_inside_parts_export_their_ports() {
    let files = [
        (
            "whole.toml",
            "format = 1\n[clock]\nhost = { period = \"500 ps\" }\n[component.host]\nkind = \"cxl.host\"\ncount = 4\n\
             stimulus = { pattern = \"reads\", accesses = 20 }\n[part.rack]\nuse = \"inner/rack.toml\"\ncount = 2\n\
             [link.a]\nkind = \"cxl-68b\"\nbetween = [\"host[i].cxl\", \"rack[0].first\"]\n",
        ),
        (
            "inner/rack.toml",
            "format = 1\n[part.tray]\nuse = \"../tray.toml\"\n[export]\nfirst = \"tray.memory[0]\"\nall = \"tray.memory[k]\"\n",
        ),
        ("tray.toml", &example("memory_tray.toml")),
    ];
    assert!(
        wrong(&files).contains("whole.toml:13:12: link.a.between: found a second link at `rack[0].tray.memory[0].cxl`"),
        "{}",
        wrong(&files)
    );
    let whole = files[0].1.replace("\"rack[0].first\"", "\"rack[i].all[k]\"");
    let uneven = [("whole.toml", whole.as_str()), files[1], files[2]];
    assert!(
        wrong(&uneven)
            .contains("found the index `i` through the 4 of `host` and the 2 of `rack`, expected equal lengths"),
        "{}",
        wrong(&uneven)
    );
    let whole = files[0]
        .1
        .replace("count = 4", "count = 2")
        .replace("between = [\"host[i].cxl\", \"rack[0].first\"]", "between = [\"host[i].cxl\", \"rack[i].first\"]");
    let whole = whole
        + "[component.more]\nkind = \"cxl.host\"\ncount = 2\n[link.b]\nkind = \"cxl-68b\"\nbetween = [\"more[i].cxl\", \"rack[i].all[1]\"]\n";
    let folder = folder(&[("whole.toml", whole.as_str()), files[1], files[2]]);
    let system = Description::open(&folder.path().join("whole.toml")).and_then(|d| d.resolve());
    let system = system.map_err(|p| p.to_string()).expect("it is sound");
    let ports: Vec<[&str; 2]> = system.links.iter().map(|link| system.ports_of(link)).collect();
    assert_eq!(
        ports,
        [
            ["host[0].cxl", "rack[0].tray.memory[0].cxl"],
            ["host[1].cxl", "rack[1].tray.memory[0].cxl"],
            ["more[0].cxl", "rack[0].tray.memory[1].cxl"],
            ["more[1].cxl", "rack[1].tray.memory[1].cxl"],
        ]
    );
}

#[test]
fn mistakes_of_parts_are_named_with_their_files() {
    const WHOLE: &str = "format = 1\n[part.pod]\nuse = \"pod.toml\"\nset = { \"ops\" = 50 }\n";
    const POD: &str = "format = 1\n[clock]\naccel = { period = \"640 ps\" }\n[component.accel]\nkind = \"ualink.accelerator\"\n\
                       count = 2\n[link.ual]\nkind = \"ualink\"\nbetween = [\"accel[0].port[0]\", \"accel[1].port[0]\"]\n\
                       [export]\nport = \"accel[i].port[0]\"\n[settings]\nops = \"component.accel.traffic.operations\"\n";
    assert_eq!(wrong(&[("f.toml", WHOLE), ("pod.toml", POD)]), "");
    for (file, from, to, expected) in [
        ("f.toml", "pod.toml", "nowhere.toml", "f.toml:3:7: part.pod.use: `nowhere.toml`: the file cannot be read"),
        (
            "f.toml",
            "pod.toml",
            "f.toml",
            "f.toml:3:7: part.pod.use: found `f.toml`, which is being read: a description cannot be a part of itself",
        ),
        (
            "f.toml",
            "use = \"pod.toml\"\n",
            "",
            "f.toml:2:7: part.pod.use: found no use, expected the file of a description",
        ),
        ("f.toml", "\"ops\"", "\"opps\"", "f.toml:4:9: part.pod.set.\"opps\": no such key; expected one of: ops"),
        ("f.toml", "50", "0", "f.toml:4:17: component.pod.accel.traffic.operations: found 0, expected 1 to 16777216"),
        (
            "f.toml",
            "set =",
            "sett =",
            "f.toml:4:1: part.pod.sett: found the key `sett`, expected one of use, count, set, at",
        ),
        (
            "f.toml",
            "[part.pod]",
            "[part.Pod]",
            "f.toml:2:7: part.Pod: found the name `Pod`, expected a lower-case letter",
        ),
        ("pod.toml", "count = 2", "count = 0", "pod.toml:6:9: component.pod.accel.count: found 0, expected 1 to 65536"),
        (
            "pod.toml",
            "accel[i].port[0]\"\n[settings]",
            "accel[i].port[k]\"\n[settings]",
            "pod.toml:11:1: export.port: found several index variables, expected at most one",
        ),
        (
            "pod.toml",
            "\"accel[i].port[0]\"\n[settings]",
            "1\n[settings]",
            "pod.toml:11:8: export.port: found 1, expected a port",
        ),
        (
            "pod.toml",
            "accel[i].port[0]\"\n[settings]",
            "axel[i].port[0]\"\n[settings]",
            "pod.toml:11:1: export.port: found the component `pod.axel`, expected one of pod.accel",
        ),
        ("pod.toml", "format = 1", "format = 3", "pod.toml:1:1: format: found format 3, expected 1"),
        ("pod.toml", "[export]", "[exprt]", "pod.toml:10:2: exprt: found the key `exprt`, expected one of format"),
        (
            "pod.toml",
            "kind = \"ualink\"",
            "kind = \"uolink\"",
            "pod.toml:8:8: link.pod.ual.kind: found the kind of link `uolink`",
        ),
        ("pod.toml", "[clock]", "[clock]]", "pod.toml:2:8: the file is no TOML"),
    ] {
        let text = |name: &str, text: &str| if name == file { text.replacen(from, to, 1) } else { text.to_owned() };
        let (whole, pod) = (text("f.toml", WHOLE), text("pod.toml", POD));
        assert!(whole != WHOLE || pod != POD, "{from}");
        let found = wrong(&[("f.toml", &whole), ("pod.toml", &pod)]);
        assert!(found.contains(expected), "found    {found}\nexpected {expected}");
    }
}

#[test]
fn a_denied_route_and_a_fault_are_seen_in_a_described_pod() {
    let text = example("pod.toml").replace("ports = 4", "ports = 4\ndeny = [\"0:3\"]");
    let report = run(&text, &["component.accel.timeout=2000000"]).expect("it runs");
    assert!(count(&report, "switch[0]", "denied") > 0);
    assert!(!report.violations.is_empty(), "nobody answers what is denied");
    let clean = run(&example("pod.toml"), &[]).expect("it runs");
    let faulty = run(&example("pod.toml"), &["link.fabric[0].fault=noise:700,up:noise:700"]).expect("it runs");
    assert_eq!((faulty.violations.as_slice(), clean.violations.as_slice()), (&[][..], &[][..]));
    assert_eq!(faulty.json()["links"]["fabric[0]"]["damaged"], 2, "one of each direction, and both are repaired");
}

#[test]
fn an_external_component_is_the_callers() {
    let text = PAIR.replace("kind = \"cxl.memory\"", "kind = \"cxl.memory\"\nexternal = \"flits\"");
    let request =
        ScenarioRequest { description: Some(text), threads: 1, cycles: Some(200), ..ScenarioRequest::default() };
    let mut live = Live::new(&request).expect("it is built");
    assert!(live.port("memory.cxl").expect("a port").feed.is_some(), "a caller drives it");
    assert!(live.port("host.cxl").expect("a port").feed.is_none(), "the model drives it");
    live.run_until(None, &mut |_| ()).expect("it runs");
    let json = live.report().expect("a report").json();
    let flits = |way: &str| json["links"]["cxl"][way].as_u64();
    assert!(flits("flits down") > Some(0) && flits("flits up") == Some(0), "{json:?}");
    let source = BenchSource { system: String::new(), set: Vec::new() };
    let refused = bench(read(PAIR).expect("sound"), "host=messages", &source).map(|_| ()).expect_err("it is refused");
    assert_eq!(
        refused.to_string(),
        "--external: found `host=messages`, expected `host` or `host=flits`: a bench exchanges flits with its component"
    );
    assert!(bench(read(PAIR).expect("sound"), "host=flits", &source).is_ok());
    let queue = read(include_str!("../../src/system/builtin/queue-md1.toml")).expect("sound");
    let refused = bench(queue, "queue", &source).map(|_| ()).expect_err("it has no port").to_string();
    assert!(refused.contains("--external: found `queue`, which has no port"), "{refused}");
    for component in ["front", "host[0]"] {
        let fabric = read(include_str!("../systems/pbr_two_switches.toml")).expect("sound");
        let refused =
            bench(fabric, component, &source).map(|_| ()).expect_err("a switch is in the model alone").to_string();
        let expected = format!(
            "--external: found `{component}`, expected a component that like those beside it can be external by its flits: `cxl.switch.pbr` of `front` cannot"
        );
        assert_eq!(refused, expected);
    }
    // A bridge has links of two kinds: CXL has 256 bytes in 2 ns, UALink 640 in 6.4 ns. The clock of its bench is that of the faster units.
    let text = include_str!("../../src/system/builtin/supercluster-small.toml");
    let files = bench(read(text).expect("sound"), "ubridge", &source).expect("a bench");
    let of = |name: &str| &files.iter().find(|(file, _)| file == name).expect("a file").1;
    assert!(of("test_ubridge.py").contains("UNIT_FS = 2000000\n"), "{}", of("test_ubridge.py"));
    assert!(
        of("ubridge.sv").contains("// `x_0` carries a unit every 3.20 cycles on the average.\n//\n"),
        "{}",
        of("ubridge.sv")
    );
    let accelerators = example("side_by_side.toml")
        .replace("kind = \"ualink.accelerator\"", "kind = \"ualink.accelerator\"\nexternal = \"messages\"");
    let found = read(&accelerators).map(|_| String::new()).unwrap_or_else(|e| e);
    assert!(found.contains("found `messages`, expected one of what `ualink.accelerator` offers: flits"), "{found}");
}

/// What a component or a link counts is what its kind lists, so `describe KIND` says all of it; and what two kinds call
/// alike is summed alike.
#[test]
fn every_count_is_declared_with_its_kind() {
    let mut known: BTreeMap<&str, &Metric> = BTreeMap::new();
    let of_components = COMPONENTS.iter().flat_map(ComponentKind::all_metrics);
    for metric in of_components.chain(LINKS.iter().flat_map(LinkKind::all_metrics)) {
        let first = known.entry(metric.name).or_insert(metric);
        assert_eq!((first.unit, first.total), (metric.unit, metric.total), "{}", metric.name);
    }
    for builtin in &builtin::ALL {
        let name = builtin.file.trim_end_matches(".toml");
        let description = Description::parse(builtin.file, PathBuf::new(), builtin.text).expect("a sound description");
        let system = description.resolve().expect("a sound system");
        let request =
            ScenarioRequest { scenario: name.into(), cycles: Some(5_000), threads: 1, ..ScenarioRequest::default() };
        let report = scenario::run(&request, &mut |_| ()).expect("it runs");
        let is_of = |part: &ReportPart, metrics: Vec<&Metric>| {
            part.counts.iter().for_each(|(metric, _)| {
                assert!(
                    metrics.contains(metric),
                    "{name}: {} counts `{}`, which its kind does not list",
                    part.path,
                    metric.name
                );
            });
        };
        for (part, component) in report.components.iter().zip(&system.components) {
            is_of(part, component.kind.all_metrics().collect());
        }
        for (part, link) in report.links.iter().zip(&system.links) {
            is_of(part, link.kind.all_metrics().collect());
        }
        let json = report.json();
        for (path, figures) in json["components"].as_object().expect("parts") {
            let counts = report.components.iter().find(|part| part.path == *path).expect("a part").counts.iter();
            assert!(counts.into_iter().all(|(metric, n)| figures[metric.name] == *n), "{name}: {path}");
        }
        let metrics = json["metrics"].as_array().expect("a list");
        let named = |metric: &serde_json::Value| metric["name"] == "violations";
        let violations: Vec<_> = metrics.iter().filter(|metric| named(metric)).collect();
        let form = serde_json::json!({"name": "violations", "unit": "violations", "total": "sum"});
        assert_eq!(violations, [&form], "{name}");
    }
}

/// A state of several components is no sum: the system shows it where all have the same.
#[test]
fn states_of_several_components_are_not_summed() {
    let pair = |modes: [&str; 2]| {
        let [first, second] = modes;
        format!(
            "format = 1\n[system]\nname = \"two\"\nabout = \"two roots\"\n[clock]\nhost = {{ period = \"500 ps\" }}\n\
             [component.host]\nkind = \"cxl.root\"\ncount = 2\nclock = \"host\"\n\
             [component.host.at.0]\nmode = \"{first}\"\n[component.host.at.1]\nmode = \"{second}\"\n\
             [component.device]\nkind = \"cxl.io-device\"\ncount = 2\nclock = \"host\"\n\
             [link.cxl]\nkind = \"cxl-io\"\nbetween = [\"host[i].link\", \"device[i].link\"]\n"
        )
    };
    let count = |modes, name: &str| {
        let report = run(&pair(modes), &[]).expect("it runs");
        report.counts.iter().find(|(of, _)| of == name).map(|(_, n)| *n)
    };
    assert_eq!(count(["cxl-68b", "cxl-68b"], "functions"), Some(2));
    assert_eq!(count(["cxl-68b", "cxl-68b"], "connected mode"), Some(2));
    assert_eq!(count(["cxl-68b", "cxl-256b"], "connected mode"), None);
}

/// Files of `systems/` with kinds that no scenario has.
const OTHER_KINDS: [(&str, &str); 9] = [
    ("memory_box.toml", include_str!("../systems/memory_box.toml")),
    ("io_switch.toml", include_str!("../systems/io_switch.toml")),
    ("io_and_mem_switch.toml", include_str!("../systems/io_and_mem_switch.toml")),
    ("pbr_io.toml", include_str!("../systems/pbr_io.toml")),
    ("tiers.toml", include_str!("../systems/tiers.toml")),
    ("tiers_nvlink.toml", include_str!("../systems/tiers_nvlink.toml")),
    ("handover.toml", include_str!("../systems/handover.toml")),
    ("remote_memory.toml", include_str!("../systems/remote_memory.toml")),
    ("mirrored_tier2.toml", include_str!("../systems/mirrored_tier2.toml")),
];

/// Of every scenario each component in turn, of arrays the first two, in `make soak` the first eight, and all at once: the rest is
/// built and runs, though nobody answers it.
#[test]
fn every_component_can_stand_outside() {
    let most = if is_soak() { 8 } else { 2 };
    let mut kinds = BTreeSet::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("systems");
    let of_files = OTHER_KINDS.map(|(name, text)| (folder.join(name).display().to_string(), text));
    let builtins = builtin::ALL.iter().map(|b| (b.file.trim_end_matches(".toml").to_owned(), b.text));
    for (name, text) in builtins.chain(of_files) {
        let description = Description::parse(&name, PathBuf::new(), text).expect("a sound description");
        let system = description.resolve().expect("a sound system");
        // Those without a protocol have no flits for a caller.
        let offers = |c: &&ComponentInstance| c.kind.external.contains(&"flits");
        let paths: Vec<&str> = system.components.iter().filter(offers).map(|c| c.path.as_str()).collect();
        kinds.extend(system.components.iter().map(|c| c.kind.name));
        // Elements of an array are alike.
        let is_in_turn = |path: &&[&str]| match path[0].rsplit_once('[') {
            Some((_, index)) => index.trim_end_matches(']').parse().is_ok_and(|index: usize| index < most),
            None => true,
        };
        for outside in paths.chunks(1).filter(is_in_turn).chain([&paths[..]]) {
            let set = outside.iter().map(|path| format!("component.{path}.external=flits")).collect();
            let request = ScenarioRequest {
                scenario: name.clone(),
                cycles: Some(1_000),
                threads: 1,
                set,
                ..ScenarioRequest::default()
            };
            let mut live = Live::new(&request).unwrap_or_else(|e| panic!("{name} without {outside:?}: {e}"));
            live.run_until(None, &mut |_| ()).unwrap_or_else(|e| panic!("{name} without {outside:?}: {e}"));
            let report = live.report().expect("a report");
            let of_rules = report.violations.iter().find(|b| b.violation.rule != "SIM-E2E-03");
            assert!(of_rules.is_none(), "{name} without {outside:?}: {:?}", of_rules.map(|b| b.violation.to_string()));
            for port in live.ports() {
                let is_outside = outside.iter().any(|path| port.name.starts_with(&format!("{path}.")));
                assert_eq!(port.feed.is_some(), is_outside, "{name}: {}", port.name);
            }
        }
    }
    let missing: Vec<_> = COMPONENTS.iter().map(|kind| kind.name).filter(|name| !kinds.contains(name)).collect();
    assert_eq!(missing, [""; 0], "kinds in no scenario");
}

#[test]
fn fabrics_that_lead_astray_are_refused() {
    let refused = |text: String| run(&text, &[]).expect_err("it is refused").to_string();
    let swapped = example("pod.toml")
        .replace("count = 2\nports = 4", "count = 1\nports = 4")
        .replace("ports = 2", "ports = 1")
        .replace(
            "between = [\"accel[i].port[k]\", \"switch[k].port[i]\"]",
            "between = [\"accel[i].port[0]\", \"switch[0].port[i]\"]",
        );
    assert_eq!(run(&swapped, &[]).expect("it runs").violations, []);
    let crossed = swapped.replace(
        "[link.fabric]\nkind = \"ualink\"\nbetween = [\"accel[i].port[0]\", \"switch[0].port[i]\"]",
        "[link.a]\nkind = \"ualink\"\nbetween = [\"accel[0].port[0]\", \"switch[0].port[1]\"]\n\
         [link.b]\nkind = \"ualink\"\nbetween = [\"accel[1].port[0]\", \"switch[0].port[0]\"]\n\
         [link.c]\nkind = \"ualink\"\nbetween = [\"accel[2].port[0]\", \"switch[0].port[2]\"]\n\
         [link.fabric]\nkind = \"ualink\"\nbetween = [\"accel[3].port[0]\", \"switch[0].port[3]\"]",
    );
    let found = refused(crossed);
    assert!(
        found.contains("component.switch.ports: found accelerator 1 at switch[0].port[0], expected accelerator 0"),
        "{found}"
    );
    let slower = |name: &str, set: &str| run(&example(name), &[set]).expect_err("it is refused").to_string();
    let found = slower("pod.toml", "link.fabric[5].rate=106.25");
    assert!(found.contains("switch[1]: found a link at switch[1].port[2] of another rate"), "{found}");
    let found = slower("side_by_side.toml", "link.nvl[1].generation=4");
    assert!(found.contains("gpu[0]: found a link at gpu[0].link[1] of another rate"), "{found}");
    let ring = example("side_by_side.toml")
        .replace("kind = \"ualink.accelerator\"\ncount = 2", "kind = \"ualink.accelerator\"\ncount = 3\nports = 2")
        .replace(
            "between = [\"accel[0].port[0]\", \"accel[1].port[0]\"]",
            "between = [\"accel[0].port[0]\", \"accel[1].port[1]\"]\n[link.ual2]\nkind = \"ualink\"\n\
             between = [\"accel[1].port[0]\", \"accel[2].port[1]\"]\n[link.ual3]\nkind = \"ualink\"\n\
             between = [\"accel[2].port[0]\", \"accel[0].port[1]\"]",
        );
    let found = refused(ring);
    assert!(found.contains("accel[0]: found a link to another accelerator among 3, expected a switch"), "{found}");
}

#[test]
fn a_choice_brings_what_nobody_has_set() {
    let system = |set: &[&str]| {
        let mut description = builtin("nvlink-pair.toml");
        set.iter().for_each(|text| description.set(text).expect("a setting"));
        description.resolve().map_err(|p| p.to_string()).expect("it is sound")
    };
    let value = |system: &System, path: &str| {
        let found = system.resolved.iter().find(|(known, _)| known == path);
        found.map_or(String::new(), |(_, value)| value.clone())
    };
    let of = |set: &[&str]| {
        let system = system(set);
        (system.links.len(), value(&system, "link.links.latency"))
    };
    assert_eq!(of(&[]), (4, "60000000".to_owned()));
    assert_eq!(of(&["link.generation=c2c"]), (10, "5000000".to_owned()));
    assert_eq!(of(&["link.count=3", "link.generation=c2c"]), (3, "5000000".to_owned()));
    assert_eq!(of(&["link.generation=c2c", "link.latency_fs=7"]), (10, "7".to_owned()));
    let wrong = builtin_text("nvlink-pair.toml").replace("\"link.count\" = 10", "\"link.cuont\" = 10");
    let expected = "preset.\"link.generation\".c2c: found the setting `link.cuont`";
    let found = read(&wrong).map(|_| ()).expect_err("no such setting");
    assert!(found.contains(expected) && found.contains("the nearest is `link.count`"), "{found}");
}

/// What does not fit what stands at the other end of a port, and what else a description of UALinks and NVLinks gets wrong.
#[test]
fn mistakes_of_fabrics_are_named_with_their_places() {
    for (file, set, expected) in [
        (
            "ualink-pair.toml",
            &["link.authentication=auth", "traffic.poison_every=3"][..],
            "traffic.poison_every: found 3, expected 0 where transactions are protected, as at accel[0].port[0]",
        ),
        ("ualink-pair.toml", &["link.key_roll_every=9"], "link.key_roll_every: found 9, expected 0 without"),
        (
            "ualink-pair.toml",
            &["link.authentication=encrypt", "link.order=relaxed"],
            "link.order: found relaxed, expected strict order where transactions count",
        ),
        (
            "ualink-pair.toml",
            &["upli.model=off", "upli.fault=data:3"],
            "upli.fault: found parity faults without a UPLI",
        ),
        ("ualink-pair.toml", &["upli.fault=date:3"], "upli.fault: found `date:3`, expected request:N, response:N"),
        ("ualink-pair.toml", &["link.tamper=3"], "link.tamper: found `3`, expected TRANSACTION:BIT"),
        ("ualink-pair.toml", &["pair.ports=2"], "pair.ports: found 2 ports with 8 lanes at one other accelerator"),
        (
            "ualink-pod.toml",
            &["link.pipeline_fs=200_000_000_000", "pod.accelerators=64"],
            "link.pipeline_fs: found 400.0306 us one way, expected at most 500 ns",
        ),
        // Shorter than the way of a flit and its Ack, 8 + 2 + 8 ns each way.
        (
            "cxl256-expander.toml",
            &["link.timeout_flits=17"],
            "link.timeout_flits: found 17 flits, expected at least 18",
        ),
        (
            "cxl-cache-pair.toml",
            &["link.mode=cxl-68b", "devices=16", "link.propagation_fs=1_099_511_627_776"],
            "link.propagation_fs: found about",
        ),
        ("nvlink-pair.toml", &["link.skew_fs=1_099_511_627_776"], "link.skew_fs: found about"),
        ("nvlink-pod.toml", &["pod.gpus=19", "pod.switch=1"], "pod.gpus: found 19, expected at most the 18 ports"),
        ("nvlink-pod.toml", &["traffic.mix=litmus"], "traffic.mix: found litmus tests of 8 GPUs, expected two GPUs"),
        ("nvlink-pair.toml", &["pod.gpus=3"], "`pod.gpus`: no such key; expected one of: link.generation"),
    ] {
        let mut description = builtin(file);
        let set: Result<Vec<()>, _> = set.iter().map(|text| description.set(text)).collect();
        let found = set.and_then(|_| description.resolve().map(|_| ())).map_err(|p| p.to_string());
        let found = found.expect_err("it is refused");
        assert!(found.contains(expected), "{file}:\nfound    {found}\nexpected {expected}");
    }
    let pair = builtin_text("nvlink-pair.toml");
    for (from, to, expected) in [
        (
            "[\"gpu[0].link[k]\", \"gpu[1].link[k]\"]",
            "[[\"gpu[0].link[0]\", \"gpu[1].link[0]\"], [\"gpu[0].link[1]\"]]",
            "link.links.between: found 1 ports in a pair, expected two",
        ),
        (
            "[\"gpu[0].link[k]\", \"gpu[1].link[k]\"]",
            "[[\"gpu[0].link[k]\", \"gpu[1].link[0]\"]]",
            "link.links.between: found `gpu[0].link[k]`, expected component.port with numbers for indices in a list of pairs",
        ),
        (
            "[\"gpu[0].link[k]\", \"gpu[1].link[k]\"]",
            "[[\"gpu[0].link[0]\", \"gpu[1].link[1]\"], [\"gpu[0].link[1]\", \"gpu[1].link[0]\"], \
             [\"gpu[0].link[2]\", \"gpu[1].link[2]\"], [\"gpu[0].link[3]\", \"gpu[1].link[3]\"]]",
            "component.gpu.links: found link 1 of the other GPU at gpu[0].link[0], expected link 0",
        ),
        (
            "{ link = \"links\" }",
            "{ link = \"lnks\" }",
            "clock.flit.link: found the link `lnks`, expected one of links",
        ),
        (
            "{ link = \"links\" }",
            "{ link = \"links\", period = \"1 ns\" }",
            "clock.flit: found more than one of period, num and link, or none, expected one of them",
        ),
    ] {
        let text = pair.replacen(from, to, 1);
        assert_ne!(text, pair, "{from}");
        let found = read(&text).map(|_| String::new()).unwrap_or_else(|e| e);
        assert!(found.contains(expected), "{from} -> {to}:\nfound    {found}\nexpected {expected}");
    }
}

fn builtin_text(file: &str) -> &'static str {
    scalepool::system::builtin::ALL.iter().find(|builtin| builtin.file == file).expect("built in").text
}

fn builtin(file: &str) -> Description {
    Description::parse(file, PathBuf::new(), builtin_text(file)).expect("it is TOML")
}

/// What a memory map gets wrong.
#[test]
fn mistakes_of_memory_maps_are_named_with_their_places() {
    let map = example("interleaved_memories.toml");
    let more = |table: &str| format!("[memory_map.more]\n{table}\n\n[settings]");
    let one = |base: &str, size: &str, targets: &str| {
        more(&format!("base = \"{base}\"\nsize = \"{size}\"\ntargets = [{targets}]"))
    };
    let others = "[component.accel]\nkind = \"ualink.accelerator\"\ncount = 2\n[link.ual]\nkind = \"ualink\"\n\
                  between = [\"accel[0].port[0]\", \"accel[1].port[0]\"]\n\n";
    let second = "[component.second]\nkind = \"cxl.host\"\n[component.own]\nkind = \"cxl.memory\"\n[link.own]\nkind = \"cxl-68b\"\n\
                  between = [\"second.cxl\", \"own.cxl\"]\n\n";
    let cases: &[(&str, &str, &str)] = &[
        (
            "base = \"0x1_0000_0000\"\n",
            "",
            "f.toml:25:13: memory_map.spread.base: found no base, expected the first address",
        ),
        (
            "size = \"8 GiB\"\n",
            "",
            "f.toml:32:13: memory_map.near.size: found no size, expected the bytes of the window",
        ),
        (
            "targets = [\"memory[0]\"]",
            "",
            "f.toml:32:13: memory_map.near.targets: found no targets, expected one component",
        ),
        ("targets = [\"memory[0]\"]", "tragets = []", "memory_map.near.tragets: found the key `tragets`"),
        ("[memory_map.near]", "[memory_map.Near]", "f.toml:32:13: memory_map.Near: found the name `Near`"),
        (
            "[memory_map.near]",
            "[memory_map]\nx = 1\n[memory_map.near]",
            "f.toml:33:5: memory_map.x: found 1, expected a table",
        ),
        (
            "base = \"0x1_0000_0000\"",
            "base = \"0x1_0000_0040\"",
            "f.toml:26:8: memory_map.spread.base: found 0x100000040, expected a multiple of 256 MiB, as decoder registers hold it",
        ),
        (
            "base = \"0x1_0000_0000\"",
            "base = \"0x10_0000_0000_0000\"",
            "f.toml:26:8: memory_map.spread.base: found `0x10_0000_0000_0000`, expected 0 to 4503599627370495 bytes, which is 1 B below 4 PiB",
        ),
        (
            "size = \"8 GiB\"",
            "size = \"8191 MiB\"",
            "f.toml:34:8: memory_map.near.size: found 8588886016 bytes, expected a multiple of 256 MiB (fabric §2.1)",
        ),
        (
            "size = \"16 GiB\"\ntargets",
            "size = \"768 MiB\"\ntargets",
            "f.toml:27:8: memory_map.spread.size: found 805306368 bytes, expected a multiple of 256 MiB for each of 2 targets (fabric HDM-9)",
        ),
        (
            "base = \"0x8_0000_0000\"",
            "base = \"0xf_ffff_f000_0000\"",
            "f.toml:34:8: memory_map.near.size: found a window of 8589934592 bytes at 0xffffff0000000, expected an end of at most 0x10000000000000: addresses have 52 bits",
        ),
        (
            "granularity = \"1 KiB\"",
            "granularity = \"128 B\"",
            "f.toml:29:15: memory_map.spread.granularity: found `128 B`, expected 256, 512, 1024, 2048, 4096, 8192, 16384 [bytes]",
        ),
        (
            "granularity = \"1 KiB\"",
            "granularity = \"32 KiB\"",
            "memory_map.spread.granularity: found `32 KiB`, expected 256, 512",
        ),
        (
            "arithmetic = \"xor\"",
            "arithmetic = \"hash\"",
            "f.toml:30:14: memory_map.spread.arithmetic: found `hash`, expected modulo, xor",
        ),
        (
            "base = \"0x8_0000_0000\"",
            "base = \"0x4_c000_0000\"",
            "f.toml:33:8: memory_map.near.base: found the addresses 0x4c0000000 to 0x4ffffffff in `spread` and in `near`, expected windows that don't overlap",
        ),
        (
            "[settings]",
            &one("0x2_0000_0000", "256 MiB", "\"memory[1]\""),
            "f.toml:38:8: memory_map.more.base: found the addresses 0x200000000 to 0x20fffffff in `spread` and in `more`",
        ),
        (
            "[\"memory[0]\"]",
            "[\"memroy[0]\"]",
            "f.toml:35:12: memory_map.near.targets: found the component `memroy`, expected one of host, memory; the nearest is `memory`",
        ),
        (
            "[\"memory[0]\"]",
            "[\"memory\"]",
            "memory_map.near.targets: found `memory` without an index, expected one: it is an array of 2",
        ),
        (
            "[\"memory[0]\"]",
            "[\"memory[2]\"]",
            "memory_map.near.targets: found the index 2 of `memory`, expected 0 to 1",
        ),
        ("[\"memory[0]\"]", "[\"memory 0\"]", "found `memory 0`, expected a component such as `memory[0]`"),
        ("[\"memory[0]\"]", "7", "f.toml:35:11: memory_map.near.targets: found 7, expected list of components"),
        (
            "[\"memory[0]\"]",
            "[\"host\"]",
            "f.toml:35:12: memory_map.near.targets: found `host`, a cxl.host, which has no memory, expected a component with memory that has system addresses",
        ),
        (
            "[settings]",
            &format!("{others}{}", one("0x0", "256 MiB", "\"accel[0]\"")),
            "f.toml:47:12: memory_map.more.targets: found `accel[0]`, a ualink.accelerator, whose memory other accelerators address by its number, expected",
        ),
        (
            "[\"memory[i]\"]",
            "[\"memory[0]\", \"memory[0]\"]",
            "f.toml:28:25: memory_map.spread.targets: found `memory[0]` twice, expected each target once (fabric HDM-2)",
        ),
        (
            "[\"memory[0]\"]",
            "[\"memory[i]\", \"memory[i]\", \"memory[1]\"]",
            "f.toml:35:11: memory_map.near.targets: found 5 targets, expected one of 1, 2, 3, 4, 6, 8, 12, 16 (fabric HDM-9)",
        ),
        (
            "size = \"16 GiB\"\n\n[link",
            "size = \"4 GiB\"\n\n[link",
            "f.toml:28:12: memory_map.spread.targets: found `memory[0]` with 4294967296 bytes, expected at least 8589934592: the window takes 8589934592",
        ),
        (
            "size = \"8 GiB\"",
            "size = \"8448 MiB\"",
            "f.toml:35:12: memory_map.near.targets: found `memory[0]` with 17179869184 bytes, expected at least 17448304640: the window takes 8858370048 beside 8589934592 of windows below",
        ),
        (
            "[settings]",
            &format!("{second}{}", one("0x0", "512 MiB", "\"own\", \"memory[1]\"")),
            "f.toml:48:11: memory_map.more.targets: found targets that no single component reaches (`own` from `second`, `memory[1]` from `host`), expected one that asks with links to all of them",
        ),
        (
            "[settings]",
            &format!("{second}[settings]"),
            "f.toml:37:12: component.second: found no window that leads to what is at its ports, expected one under [memory_map]",
        ),
        (
            "region_lines = 512",
            "base = \"0x5_0000_0000\"",
            "f.toml:14:56: component.host.stimulus.base: found a region from 0x500000000 to 0x5003fffff, where nothing is reached at 0x500000000, expected addresses in 0x100000000 to 0x4ffffffff, 0x800000000 to 0x9ffffffff",
        ),
        (
            "region_lines = 512",
            "base = \"0x4_fff0_0000\"",
            "found a region from 0x4fff00000 to 0x5002fffff, where nothing is reached at 0x500000000, expected",
        ),
        (
            "region_lines = 512",
            "base = 0x100000004",
            "stimulus.base: found 0x100000004, expected a multiple of 64 bytes",
        ),
    ];
    for (from, to, expected) in cases {
        let text = map.replacen(from, to, 1);
        assert_ne!(text, map, "{from}");
        let found = read(&text).map(|_| String::new()).unwrap_or_else(|e| e);
        assert!(found.contains(expected), "{from} -> {to}:\nfound    {found}\nexpected {expected}");
    }
    // An eleventh window finds no decoder of the device.
    let windows: Vec<String> = (0..10)
        .map(|n| format!("[memory_map.w{n}]\nbase = \"{n} GiB\"\nsize = \"256 MiB\"\ntargets = [\"memory[0]\"]\n"))
        .collect();
    let text =
        map.replacen("[memory_map.spread]\nbase = \"0x1_0000_0000\"", "[memory_map.spread]\nbase = \"64 GiB\"", 1);
    let text = text
        .replace("base = \"0x8_0000_0000\"", "base = \"128 GiB\"")
        .replace("[settings]", &(windows.concat() + "[settings]"));
    let found = read(&text).map(|_| String::new()).unwrap_or_else(|e| e);
    let expected =
        "found 11 windows that lead to `memory[0]`, expected at most 10, the decoders of a device (fabric §2.1)";
    assert!(found.contains(expected), "{found}");
    // Without a memory map there is no telling where two ports lead; a region begins and ends in the one memory.
    let start = map.find("[memory_map.spread]").expect("a window");
    let without = &map[..start];
    let found = read(without).map(|_| String::new()).unwrap_or_else(|e| e);
    assert_eq!(
        found,
        "f.toml:13:9: component.host.ports: found 2 ports, expected a [memory_map] that says which addresses lead to which port"
    );
    let mixed = without.replace("[\"host.cxl[i]\", \"memory[i].cxl\"]", "[\"host.cxl[0]\", \"memory[0].cxl\"]")
        + "[link.other]\nkind = \"cxl-68b\"\nbetween = [\"host.cxl[1]\", \"memory[1].cxl\"]\n";
    let found = read(&mixed).map(|_| String::new()).unwrap_or_else(|e| e);
    assert!(found.contains("f.toml:13:9: component.host.ports: found links that spell messages in different forms at host.cxl[0] and host.cxl[1]"), "{found}");
    let far = PAIR.replace("accesses = 200", "accesses = 200, base = \"1023 MiB\"");
    let found = read(&far).map(|_| String::new()).unwrap_or_else(|e| e);
    let expected = "f.toml:11:54: component.host.stimulus.base: found a region from 0x3ff00000 to 0x402fffff, where nothing is reached at 0x40000000, expected addresses in 0x0 to 0x3fffffff";
    assert!(found.contains(expected), "{found}");
    let near = run(&far, &["component.host.stimulus.region_lines=1024"]).expect("it runs");
    assert_eq!(near.violations, []);
    // All of them come at once.
    let all = map
        .replace("\"1 KiB\"", "\"1 B\"")
        .replace("0x8_0000_0000", "0x8_0000_0001")
        .replace("[\"memory[0]\"]", "[\"host\"]");
    let lines: Vec<String> = read(&all).err().unwrap_or_default().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
}
