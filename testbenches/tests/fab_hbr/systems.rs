//! Systems with a switch: hosts, links with errors, shared devices, decoders of several levels.

use scalepool::arbiter::{ALLOCATOR_NAMES, ARBITER_NAMES};
use scalepool::fabric::cxl_switch::preset::{HBR_PRESETS, PBR_PRESETS, SwitchPreset};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::description::Description;
use scalepool::system::draw::Drawing;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub const POOLED: &str = include_str!("../../../src/system/builtin/pooled-pair.toml");
const POOL_16: &str = include_str!("../../../src/system/builtin/pool-16.toml");

fn request(text: &str, set: &[&str], threads: usize) -> ScenarioRequest {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    ScenarioRequest { description: Some(text.to_owned()), seed: 1, threads, set, ..ScenarioRequest::default() }
}

pub fn run(text: &str, set: &[&str]) -> Result<ScenarioReport, String> {
    scenario::run(&request(text, set, 1), &mut |_| ()).map_err(|e| e.to_string())
}

pub fn on_threads(text: &str, set: &[&str], threads: usize) -> ScenarioReport {
    scenario::run(&request(text, set, threads), &mut |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// A count of a component.
pub fn count(report: &ScenarioReport, path: &str, name: &str) -> u64 {
    let json = report.json();
    json["components"][path][name].as_u64().unwrap_or_else(|| panic!("{path} has no `{name}`: {json:?}"))
}

/// A run without findings in which every host has done all its accesses, and the switch has passed on what they asked.
fn sound(text: &str, set: &[&str], hosts: usize, accesses: u64) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    let host = |name: &str| (0..hosts).map(|n| count(&report, &format!("host[{n}]"), name)).sum::<u64>();
    assert_eq!(host("line accesses"), hosts as u64 * accesses, "{set:?}");
    let switched = ["M2S Req", "M2S RwD", "S2M NDR", "S2M DRS"]
        .map(|class| count(&report, "switch", &format!("switched {class}")));
    let [reads, writes] = [host("reads"), host("writes")];
    assert_eq!(switched, [reads, writes, writes, reads], "{set:?}");
    for name in ["not decoded", "not bound", "unknown LD-ID", "other classes", "switch answers"] {
        assert_eq!(count(&report, "switch", name), 0, "{set:?}");
    }
    report
}

#[test]
fn two_hosts_share_a_device_over_every_kind_of_link() {
    for mode in ["cxl-68b", "cxl-256b", "cxl-256b-lopt"] {
        let mode = format!("link.mode={mode}");
        sound(POOLED, &[&mode, "host.accesses=1500"], 2, 1500);
    }
    // The hosts' links and that of the device need not be of one kind.
    for mode in ["cxl-68b", "cxl-256b-lopt"] {
        sound(POOLED, &[&format!("device_link.mode={mode}"), "host.accesses=600"], 2, 600);
    }
}

#[test]
fn bits_are_wrong_on_every_link() {
    for (mode, ber) in [("cxl-256b", "3e-5"), ("cxl-68b", "1e-5")] {
        let set = [
            &format!("link.mode={mode}"),
            &format!("link.ber={ber}"),
            "host.accesses=800",
            "host_link.fault=drop:40,up:noise:50",
        ];
        sound(POOLED, &set, 2, 800);
    }
}

#[test]
fn every_allocator_and_arbiter_serves() {
    for allocator in ALLOCATOR_NAMES {
        sound(POOLED, &[&format!("switch.allocator={allocator}"), "host.accesses=400"], 2, 400);
    }
    for arbiter in ARBITER_NAMES {
        sound(POOLED, &[&format!("switch.arbiter={arbiter}"), "host.accesses=400"], 2, 400);
    }
    // Queues of one message: everything waits, nothing gets stuck.
    let set = ["switch.queue=1", "component.switch.output_queue=1", "component.switch.width=16", "host.accesses=400"];
    sound(POOLED, &set, 2, 400);
}

/// Each host has a device of its own.
pub fn two_devices() -> String {
    POOLED
        .replace("logical_devices = 2 # 8 GiB each, at addresses from 0 on for its host", "count = 2")
        .replace("hosts = 2\n", "hosts = 2\nports = 2\n")
        .replace("port = 0, ld = 0", "port = 0")
        .replace("port = 0, ld = 1", "port = 1")
        .replace("[\"switch.dsp[0]\", \"memory.cxl\"]", "[\"switch.dsp[i]\", \"memory[i].cxl\"]")
}

#[test]
fn each_host_has_a_device_of_its_own() {
    sound(&two_devices(), &["host.accesses=1500"], 2, 1500);
}

/// The stages of a preset are passed there and back; nothing else differs.
#[test]
fn latencies_are_those_of_the_presets() {
    let latency = |preset: &str| {
        let set = [&format!("switch.preset={preset}"), "host.outstanding=1", "host.accesses=40", "host.pattern=reads"];
        run(POOLED, &set).expect("it runs").latency_fs.min
    };
    let [slow, normal, fast] = ["cxl_switch_slow", "cxl_switch", "cxl_switch_fast"].map(latency);
    // Half a clock of flits, 2 ns, and one of the switch either way.
    for (difference, ns) in [(slow - normal, 100), (normal - fast, 60)] {
        assert!(difference.abs_diff(ns * 1_000_000) <= 3_000_000, "{difference} fs, expected {ns} ns");
    }
    assert!(normal > 180_000_000, "{normal}");
}

/// A request is one transaction from the access to the memory, though both hosts use the same tags.
#[test]
fn transactions_go_through_the_switch() {
    let folder = tempfile::tempdir().expect("a folder");
    let [trace, wave] = ["t.jsonl", "t.vcd"].map(|name| folder.path().join(name));
    let outputs = Outputs { trace: Some(trace.clone()), vcd: Some(wave.clone()), ..Outputs::default() };
    let set = ["host.accesses=300", "link.device.buffers=2", "switch.queue=2", "component.switch.output_queue=2"];
    let report = scenario::run(&ScenarioRequest { outputs, ..request(POOLED, &set, 1) }, &mut |_| ()).expect("it runs");
    assert_eq!(report.violations, []);
    let text = std::fs::read_to_string(trace).expect("a trace");
    let records: Vec<serde_json::Value> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (mut place_of, mut served, mut passed, mut waits) = (BTreeMap::new(), 0, 0, BTreeSet::new());
    for record in &records {
        let (place, kind) = (record["where"].as_str().expect("a place"), record["kind"].as_str().expect("a kind"));
        let [id, parent] = ["id", "parent"].map(|key| record[key].as_u64().unwrap_or(0));
        if kind == "begin" {
            place_of.entry(id).or_insert(place.to_owned());
        }
        match place {
            "memory.mem" if kind == "begin" => {
                let ld = record["fields"]["ld_id"].as_u64().expect("an LD-ID");
                assert_eq!(place_of.get(&parent), Some(&format!("host[{ld}].core")), "{record}");
                served += 1;
            }
            "switch" => {
                assert_ne!(id, 0, "{record}");
                match record["name"].as_str().filter(|name| name.starts_with("wait_")) {
                    Some(wait) => drop(waits.insert(wait.to_owned())),
                    None => passed += 1,
                }
            }
            _ => (),
        }
    }
    assert_eq!(served, 600);
    assert!(passed >= 1200, "{passed}");
    assert!(waits.contains("wait_room") && waits.contains("wait_link"), "{waits:?}");
    let wave = std::fs::read_to_string(wave).expect("a wave");
    for name in ["m2s_req_queued", "s2m_drs_queued", "usp", "dsp"] {
        assert!(wave.contains(name), "{name}");
    }
}

#[test]
fn four_hosts_share_sixteen_logical_devices_and_have_eight_devices() {
    let report = sound(POOL_16, &["host.accesses=400"], 4, 400);
    // The region of each host lies across its windows, so every device has something to do.
    let json = report.json();
    let links = json["links"].as_object().expect("links");
    let (mut least, mut most) = (u64::MAX, 0);
    for (path, link) in links.iter().filter(|(path, _)| path.starts_with("memory")) {
        let flits = link["flits down"].as_u64().unwrap_or_else(|| panic!("{path}"));
        (least, most) = (least.min(flits), most.max(flits));
    }
    assert!(2 * least > most, "{least} to {most} flits");
}

#[test]
fn the_pool_is_the_same_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| on_threads(POOL_16, &["host.accesses=150", "link.ber=1e-5"], threads).json());
    assert_eq!(one, two);
}

/// A host with root ports, a switch at each of them, devices below, and one window over all devices.
fn levels(root: usize, below: usize, granularity: &str, arithmetic: &str) -> String {
    let memories = root * below;
    let bindings: Vec<String> = (0..below).map(|n| format!("{{ vcs = 0, vppb = {n}, port = {n} }}")).collect();
    // Target n lies behind port n modulo the ports of the root.
    let between: Vec<String> =
        (0..memories).map(|n| format!("[\"switch[{}].dsp[{}]\", \"memory[{n}].cxl\"]", n % root, n / root)).collect();
    let (bindings, between) = (bindings.join(", "), between.join(", "));
    let size = memories;
    format!(
        "format = 1\n[system]\nname = \"levels\"\n[clock]\ncore = {{ period = \"500 ps\" }}\n\
         [component.host]\nkind = \"cxl.host\"\nports = {root}\n\
         stimulus = {{ pattern = \"mix\", accesses = 700, region_lines = 300 }}\n\
         [component.switch]\nkind = \"cxl.switch.hbr\"\ncount = {root}\nports = {below}\nbindings = [{bindings}]\n\
         [component.memory]\nkind = \"cxl.memory\"\ncount = {memories}\nsize = \"1 GiB\"\n\
         [link.host]\nkind = \"cxl-256b\"\nbetween = [\"host.cxl[i]\", \"switch[i].usp[0]\"]\n\
         [link.memory]\nkind = \"cxl-256b\"\nbetween = [{between}]\n\
         [memory_map.all]\nbase = \"12 GiB\"\nsize = \"{size} GiB\"\ntargets = [\"memory[i]\"]\n\
         granularity = \"{granularity}\"\narithmetic = \"{arithmetic}\"\n"
    )
}

#[test]
fn a_window_is_dealt_by_the_root_and_by_switches() {
    for (root, below, granularity, arithmetic) in [
        (1, 1, "256", "modulo"),
        (1, 4, "256", "modulo"),
        (1, 8, "1 KiB", "modulo"),
        (2, 2, "256", "xor"),
        (4, 2, "512", "xor"),
        (3, 2, "256", "modulo"),
        (6, 2, "256", "xor"),
        (2, 1, "16 KiB", "modulo"),
    ] {
        let text = levels(root, below, granularity, arithmetic);
        let report = run(&text, &[]).unwrap_or_else(|error| panic!("{root} x {below}: {error}"));
        assert_eq!(report.violations, [], "{root} x {below}");
        let passed: u64 = (0..root).map(|n| count(&report, &format!("switch[{n}]"), "switched M2S Req")).sum();
        assert_eq!(passed, count(&report, "host", "reads"), "{root} x {below}");
    }
}

/// What is wrong with a description.
pub fn refused(text: &str) -> String {
    let description = Description::parse("f.toml", PathBuf::new(), text).expect("it is TOML");
    match description.resolve() {
        Ok(_) => panic!("it is taken"),
        Err(problems) => problems.to_string(),
    }
}

/// A hierarchy without a downstream port, and a second upstream port for one.
#[test]
fn fab_vcs_01_n() {
    let text = POOLED.replace(", { vcs = 1, vppb = 0, port = 0, ld = 1 }", "");
    let found = refused(&text);
    assert!(
        found.contains("found no binding of VCS 1, expected at least one for every upstream port (fabric VCS-1)"),
        "{found}"
    );
    let twice = POOLED.replace(
        "[\"host[i].cxl\", \"switch.usp[i]\"]",
        "[[\"host[0].cxl\", \"switch.usp[0]\"], [\"host[1].cxl\", \"switch.usp[0]\"]]",
    );
    let found = refused(&twice);
    assert!(found.contains("found a second link at `switch.usp[0]`"), "{found}");
}

/// Ways that are no power of two below the root, ways that there are not, and a size that is not one of all ways.
#[test]
fn fab_hdm_09_n() {
    for (root, below, expected) in [
        (1, 5, "found 5 targets, expected one of 1, 2, 3, 4, 6, 8, 12, 16 (fabric HDM-9)"),
        (2, 3, "found 6 targets, 256 bytes each in turn, over 2 ports"),
        (4, 3, "found 12 targets, 256 bytes each in turn, over 4 ports"),
    ] {
        let found = refused(&levels(root, below, "256", "modulo"));
        assert!(found.contains(expected), "{root} x {below}: {found}");
    }
    let found = refused(&levels(2, 2, "256", "modulo").replace("size = \"4 GiB\"", "size = \"4352 MiB\""));
    let expected = "found 4563402752 bytes, expected a multiple of 256 MiB for each of 4 targets (fabric HDM-9)";
    assert!(found.contains(expected), "{found}");
}

/// What is wrong with the latencies of presets \[ns\] and the lines that they stand on.
fn unfounded(presets: &[SwitchPreset], expected_ns: &[u64]) -> usize {
    let is_wrong = |(preset, ns): (&SwitchPreset, &u64)| {
        preset.total_fs() != ns * 1_000_000 || !preset.anchor.contains(" ns") || preset.anchor.contains("measured")
    };
    presets.len().abs_diff(expected_ns.len()) + presets.iter().zip(expected_ns).filter(|pair| is_wrong(*pair)).count()
}

#[test]
fn fab_lat_01_p() {
    assert_eq!(unfounded(&HBR_PRESETS, &[90, 60, 140]), 0);
    assert_eq!(unfounded(&PBR_PRESETS, &[100]), 0);
}

/// A preset without an anchor, one that says that it was measured, one of another latency.
#[test]
fn fab_lat_01_n() {
    for (anchor, ns) in [("", 90), ("90 ns, measured", 90), (HBR_PRESETS[0].anchor, 91)] {
        assert_eq!(unfounded(&[SwitchPreset { anchor, ..HBR_PRESETS[0] }], &[ns]), 1, "{anchor} {ns}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let with_command =
        |command: &str| POOLED.replace("hosts = 2\n", &format!("hosts = 2\ncommands = [{{ {command} }}]\n"));
    let cases = [
        (with_command("command = \"unbind\", vcs = 1, ld = 1"), "found ld = 1 of a command that unbinds"),
        (with_command("command = \"unbind\", vcs = 1, port = 1"), "found port = 1 of a command that unbinds"),
        (with_command("command = \"dpc\", port = 1"), "found port = 1 of a command of containment"),
        (
            with_command("command = \"dpc\", option = \"wait\""),
            "found option = \"wait\" of a command of containment, expected none: only `unbind` has an option",
        ),
        (
            with_command("command = \"dpc\", scope = \"switch\""),
            "found scope = \"switch\" of a command `dpc`, expected none: only `reset` and `viral` have a scope",
        ),
        (with_command("command = \"unbind\", vcs = 2"), "found vcs = 2 of a command `unbind`, expected 0 to 1"),
        (
            with_command("command = \"dpc-clear\", vppb = 32"),
            "found vppb = 32 of a command `dpc-clear`, expected 0 to 31",
        ),
        (with_command("command = \"bind\", vppb = 1, port = 1"), "found port = 1 of a command `bind`, expected 0 to 0"),
        (
            with_command("command = \"reset\", scope = \"upstream\", vcs = 2"),
            "found vcs = 2 of a command `reset`, expected 0 to 1",
        ),
        (
            with_command("command = \"viral\", scope = \"port\", port = 1"),
            "found port = 1 of a command `viral`, expected 0 to 0",
        ),
        (
            POOLED.replace("port = 0, ld = 1", "port = 0, ld = 1, viral = false"),
            "found viral = false of vPPB 0 of VCS 1, expected none: no command makes anything viral",
        ),
        (
            with_command("command = \"bind\", vcs = 1, ld = 1, option = \"surprise\""),
            "found option = \"surprise\" of a command that binds",
        ),
        (
            POOLED.replace("port = 0, ld = 1", "port = 0, ld = 2"),
            "vPPB 0 of VCS 1: found LD 2 at switch.dsp[0], expected 0 to 1",
        ),
        (
            POOLED.replace("port = 0, ld = 1", "port = 0, ld = 0"),
            "found port 0, LD 0, which is bound to vPPB 0 of VCS 0",
        ),
        (POOLED.replace("port = 0, ld = 1", "port = 3, ld = 1"), "found port 3, expected 0 to 0"),
        (POOLED.replace("hosts = 2\n", "hosts = 2\nvppbs = 0\n"), "found 0, expected 1 to 255"),
        (
            two_devices().replace("port = 1 }", "port = 1, ld = 0 }"),
            "the device there has no logical devices (fabric BND-7)",
        ),
        (
            POOLED.replace("\"16 GiB\"", "\"16 MiB\""),
            "the memory of VCS 0: found base 0x0 and size 0x800000, expected multiples of 256 MiB",
        ),
        (
            POOLED.replace("kind = \"cxl-256b\"", "kind = \"cxl-256b-pbr\""),
            "found a link of kind `cxl-256b-pbr` at `switch.usp[0]`",
        ),
        (
            POOLED.replace("port = 0, ld = 0 }, { vcs = 1", "port = 0, ld = 0 }, { vcs = 0"),
            "found vPPB 0 of VCS 0, which is bound to port 0, expected a free one",
        ),
        (
            POOLED
                .replace("bindings = [", "ports = 1\nbindings = [{ vcs = 0, vppb = 1, port = 0, ld = 2 }, ")
                .replace("logical_devices = 2 ", "logical_devices = 4 "),
            "found several memories bound to VCS 0, expected a [memory_map]",
        ),
        (levels(2, 2, "16 KiB", "modulo"), "found 4 targets, 16384 bytes each in turn, over 2 ports"),
        (
            levels(2, 2, "256", "modulo")
                .replace("[\"memory[i]\"]", "[\"memory[0]\", \"memory[2]\", \"memory[1]\", \"memory[3]\"]"),
            "found 4 targets over 2 ports in another order",
        ),
        (
            POOL_16.replace("\"pool.ld[0]\", ", "\"pool\", "),
            "found `pool`, which has 16 logical devices, expected one of them, as `pool.ld[0]`",
        ),
        (POOL_16.replace("pool.ld[15]", "pool.ld[16]"), "found the index 16 of `pool.ld`, expected 0 to 15"),
        (
            POOL_16.replace("\"memory[0]\", \"memory[1]\"]", "\"memory[0].ld[0]\", \"memory[1]\"]"),
            "expected `memory[0]`: it has no logical devices",
        ),
    ];
    for (text, expected) in cases {
        let found = refused(&text);
        assert!(found.contains(expected), "{expected}\n{found}");
    }
    // Logical devices without a switch.
    let direct = include_str!("../../../src/system/builtin/cxl256-expander.toml")
        .replace("kind = \"cxl.memory\"", "kind = \"cxl.memory\"\nlogical_devices = 2");
    let found = refused(&direct);
    assert!(found.contains("found logical devices at the port of a host, expected a switch there"), "{found}");
}

#[test]
fn drawings_show_the_switch_between_hosts_and_devices() {
    let system = Description::parse("f.toml", PathBuf::new(), POOL_16).expect("it is TOML").resolve();
    let svg = Drawing::of(&system.unwrap_or_else(|problems| panic!("{problems}"))).svg();
    for name in ["host[3]", "cxl.switch.hbr", "memory[7]", "pool (cxl-256b)"] {
        assert!(svg.contains(name), "{name}");
    }
}

/// Bridges that lead to each other are a ring, in which no component is behind all others.
#[test]
fn a_drawing_of_a_ring_has_no_empty_columns() {
    let text = include_str!("../../../src/system/builtin/supercluster-small.toml");
    let system = Description::parse("f.toml", PathBuf::new(), text).expect("it is TOML").resolve();
    let svg = Drawing::of(&system.unwrap_or_else(|problems| panic!("{problems}"))).svg();
    let width = svg.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a width");
    // Four columns of at most 800.
    assert!(width.parse::<u32>().expect("a number") <= 3200, "{width}");
}
