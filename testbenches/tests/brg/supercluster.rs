//! `supercluster-small` and a rack like it: UALink accelerators, bridges, GPUs on NVLink and memory of tier 2, from the description to the
//! run.

use super::systems::resolves;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::channels::ChannelGraph;
use scalepool_testbenches::soak::{is_soak, number_in};
use serde_json::Value;
use std::collections::BTreeMap;

const TEXT: &str = include_str!("../../../src/system/builtin/supercluster-small.toml");

fn request(text: &str, set: &[&str], threads: usize) -> ScenarioRequest {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    ScenarioRequest { description: Some(text.to_owned()), seed: 1, threads, set, ..ScenarioRequest::default() }
}

pub fn run(text: &str, set: &[&str]) -> ScenarioReport {
    scenario::run(&request(text, set, 1), &mut |_| ()).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

fn count(report: &ScenarioReport, component: &str, name: &str) -> u64 {
    let json = report.json();
    json["components"][component][name].as_u64().unwrap_or_else(|| panic!("no `{name}`: {json:?}"))
}

/// A run in which accelerators, GPUs and the host find nothing wrong with any byte.
pub fn sound(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set);
    assert_eq!(report.violations, [], "{set:?}");
    let json = report.json();
    for (component, figures) in json["components"].as_object().expect("components") {
        for name in ["requests refused", "inbound refused"] {
            assert!(figures.get(name).is_none_or(|count| *count == 0), "{set:?}: {component}, {name}");
        }
    }
    report
}

const SHORT: [&str; 3] = ["traffic.operations=40", "gpu.requests=30", "host.accesses=40"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SHORT.iter().chain(more).copied().collect()
}

/// All kinds of accesses that memory without an owner takes, with bit errors on every link, the smallest tables, poison: every byte is
/// what was written, and every message one that is answered once.
#[test]
fn brg_int_01_p() {
    let report = sound(TEXT, &SHORT);
    let told = |name| count(&report, "nbridge", name);
    assert!(told("inbound writes") > 10 && told("inbound reads") > 40);
    assert_eq!(told("inbound accesses") + told("inbound joined reads"), told("inbound messages"));
    let small = ["nbridge.inbound_entries=3", "ubridge.inbound_entries=2", "nbridge.entries=32", "ubridge.entries=32"];
    let errors = ["link.ualink_ber=1e-5", "link.cxl_ber=1e-5", "link.host_ber=1e-5", "link.nvlink_ber=1e-5"];
    for more in [&small[..], &errors[..], &["traffic.poison_every=3"]] {
        sound(TEXT, &with(more));
    }
    if is_soak() {
        let long = ["traffic.operations=20000", "gpu.requests=20000", "host.accesses=20000"];
        sound(TEXT, &[&long[..], &errors[..]].concat());
    }
    // Parts of lines, with byte enables: everything but atomics, which memory without an owner refuses.
    assert!(count(&sound(TEXT, &with(&["traffic.bytes=64"])), "nbridge", "inbound writes") > 5);
}

/// The supercluster under pressure: accelerators have a third region in memory that a device with a tiny snoop filter keeps coherent, behind
/// tiny conversion caches, so lines are recalled, written back and evicted all the time; bits of the memory of these caches flip, and the
/// windows of one bridge pass through several epochs.
pub fn pressed() -> String {
    let cache = "cache = { mode = \"both\", capacity = \"1 KiB\", ways = 2, templates = 64, ecc = \"secded\", upset_every = 50 }";
    // The same windows again, in an epoch of their own.
    let windows = "[{ base = \"0\", size = \"40 MiB\", to = \"32 GiB\" }, { base = \"40 MiB\", size = \"40 MiB\", to = \"512 MiB\", ports = [\"1\"] }]";
    let commits: Vec<String> = (1..9).map(|n| format!("{{ at = \"{n} us\", windows = {windows} }}")).collect();
    let commits = format!("commits = [{}]", commits.join(", "));
    let shared =
        "shared = { kind = \"cxl.hdm-db-device\", clock = \"memory\", filter_sets = 2, filter_ways = 2 }\ntier2 = {";
    TEXT.replacen("tier2 = {", shared, 1)
        .replace("regions = 2", "regions = 3")
        .replace("kind = \"bridge.ualink\"", &format!("kind = \"bridge.ualink\"\ncoherent_ports = 1\n{cache}"))
        .replace("kind = \"bridge.nvlink\"", &format!("kind = \"bridge.nvlink\"\n{cache}\n{commits}"))
        .replace(
            "ports = [\"1\"] },\n]\ninbound = [{ base = \"32 GiB\"",
            "ports = [\"1\"] },\n  { base = \"10 MiB\", size = \"5 MiB\", to = \"0\", class = \"MC\" },\n]\ninbound = [{ base = \"32 GiB\"",
        )
        .replace("[\"ubridge.cxl[0]\", \"tier2.cxl[0]\"],", "[\"ubridge.cxl[0]\", \"tier2.cxl[0]\"], [\"ubridge.coherent[0]\", \"shared.link[0]\"],")
}

/// Link errors, recalls of a snoop filter and evictions at once, with every monitor on: nobody finds a wrong byte.
/// With SCALEPOOL_SOAK, 10^7 accesses, which take about 35 minutes of one core, or as many as `SCALEPOOL_ACCESSES` says: 2,500,000 take ten.
#[test]
fn integrity_under_pressure() {
    let text = pressed();
    let errors = ["link.ualink_ber=1e-6", "link.cxl_ber=1e-6", "link.host_ber=1e-6", "link.nvlink_ber=1e-6"];
    let mut sizes = ["traffic.operations=100", "gpu.requests=50", "host.accesses=40"].map(str::to_owned);
    if is_soak() {
        let all = number_in("SCALEPOOL_ACCESSES", 10_000_000);
        // Four accelerators, four GPUs and a host.
        sizes = ["traffic.operations", "gpu.requests", "host.accesses"].map(|key| format!("{key}={}", all / 9));
    }
    let set: Vec<&str> = sizes.iter().map(String::as_str).chain(errors).collect();
    let report = sound(&text, &set);
    for (component, name) in [
        ("ubridge", "snoops"),
        ("ubridge", "dirty evictions"),
        ("ubridge", "clean evictions"),
        ("nbridge", "dirty evictions"),
        ("ubridge", "cache errors corrected"),
        ("nbridge", "cache errors corrected"),
        ("nbridge", "epochs"),
        ("nbridge", "commit cycles"),
        ("tier2", "least port requests"),
    ] {
        assert!(count(&report, component, name) > 0, "{component}: {name}");
    }
}

/// Accelerators that use all virtual channels, with as few entries as a bridge may have: nothing is lost between channels, with errors on links too.
#[test]
fn virtual_channels_of_accelerators_reach_a_bridge() {
    for errors in [&[][..], &["link.ualink_ber=1e-5"]] {
        sound(TEXT, &with(&[&["component.accel.vcs=4", "ubridge.entries=32"], errors].concat()));
    }
}

/// Reads of both bridges that leave as reads of 128 and 256 bytes: with the setting some do, every byte is right and fewer requests reach the
/// accelerators; without it none does.
#[test]
fn reads_of_both_clusters_may_be_merged() {
    let on = TEXT
        .replace("kind = \"bridge.ualink\"", "kind = \"bridge.ualink\"\nmerge_inbound = \"on\"\nmerge_cycles = 40")
        .replace("kind = \"bridge.nvlink\"", "kind = \"bridge.nvlink\"\nmerge_inbound = \"on\"\nmerge_cycles = 40");
    let errors = ["link.ualink_ber=1e-6", "link.nvlink_ber=1e-6", "traffic.poison_every=5"];
    for (text, is_merged) in [(on.as_str(), true), (TEXT, false)] {
        let report = sound(text, &with(&errors));
        for bridge in ["ubridge", "nbridge"] {
            assert_eq!(count(&report, bridge, "inbound merged reads") > 0, is_merged, "{bridge}");
        }
    }
}

/// A bridge on UALink that answers line by line: accelerators see the same bytes, with errors on links and in strict order as well.
#[test]
fn reads_may_be_answered_beat_by_beat() {
    let single = TEXT.replace("kind = \"bridge.ualink\"", "kind = \"bridge.ualink\"\nsingle_beat = \"on\"");
    for set in [&[][..], &["link.ualink_ber=1e-6", "traffic.poison_every=5"]] {
        let [whole, single] =
            [TEXT, &single].map(|text| count(&sound(text, &with(set)), "uswitch", "relayed responses"));
        assert!(single > whole, "{set:?}: {single} responses beside {whole}");
    }
}

/// The counts of the description.
#[test]
fn brg_sup_05_p() {
    assert_eq!(counts_of(TEXT), [4, 4, 1, 1, 1, 1]);
}

/// Components by kind: accelerators, GPUs, both kinds of bridges, nodes of tier 2, hosts.
fn counts_of(text: &str) -> [u64; 6] {
    let system = resolves(text).unwrap_or_else(|error| panic!("{error}"));
    let is_of =
        |path: &str, name: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['));
    ["accel", "gpu", "ubridge", "nbridge", "tier2", "host"]
        .map(|name| system.components.iter().filter(|component| is_of(&component.path, name)).count() as u64)
}

const RACK: &str = include_str!("../../../src/system/builtin/supercluster-rack.toml");

/// The links of the rack: four from each accelerator and bridge on UALink, 18 from each GPU and bridge on NVLink, four on CXL from each pair of
/// bridges; so many of each GPU and bridge as switches have ports for, and no more.
#[test]
fn a_rack_has_all_links_of_its_nodes() {
    let system = resolves(RACK).unwrap_or_else(|error| panic!("{error}"));
    let links = |name: &str| system.links.iter().filter(|link| link.path.starts_with(name)).count();
    assert_eq!((links("ualink["), links("nvlink[")), (4 * (72 + 8), 18 * (64 + 8)));
    assert_eq!(system.links.len() - links("ualink[") - links("nvlink["), 4 * 8);
    let text = RACK.replace("gpu_count = 64", "gpu_count = 65");
    let error = resolves(&text).err().expect("a switch has 72 ports");
    assert!(error.contains("found 65 beside 8 bridges, expected at most the 72 ports of switch 4"), "{error}");
    // A generator says what has no ports to accelerators.
    let text = RACK.replace("bridges = \"ubridge\"", "bridges = \"tier2\"");
    let error = resolves(&text).err().expect("a memory is no bridge");
    assert!(
        error.contains("found `tier2`, a memory.node, expected a bridge, which has ports to accelerators"),
        "{error}"
    );
}

/// Bridges, GPUs and what they share are as many as the ports of the NVLink switch; bridges beside each other form no circle of waits.
/// Every bridge and every node of tier 2 has work, and all bytes are right.
#[test]
fn a_rack_of_bridges_reaches_all_memories() {
    assert_eq!(counts_of(RACK), [72, 64, 8, 8, 8, 0]);
    // So many that accelerators have asked every bridge, and so have GPUs of both halves.
    let one_link = ["rack.ualinks=1", "rack.nvlinks=1", "traffic.interval_cycles=0", "gpu.load=0"];
    let report = sound(RACK, &[&one_link[..], &["traffic.operations=12", "gpu.requests=42"]].concat());
    for n in 0..8 {
        for (component, name) in [
            (format!("ubridge[{n}]"), "requests answered"),
            (format!("ubridge[{n}]"), "inbound messages"),
            (format!("nbridge[{n}]"), "requests answered"),
            (format!("nbridge[{n}]"), "inbound messages"),
            (format!("tier2[{n}]"), "least port requests"),
        ] {
            assert!(count(&report, &component, name) > 0, "{component} {name}");
        }
    }
}

/// A bridge asks nodes with memory of their own: through the switch its requests lead to accelerators alone, those of accelerators to
/// all others.
#[test]
fn bridges_ask_no_bridges() {
    let system = resolves(RACK).unwrap_or_else(|error| panic!("{error}"));
    let graph = ChannelGraph::of(&system).json(&system);
    let number = |is_it: &dyn Fn(&Value) -> bool| {
        graph["channels"].as_array().expect("channels").iter().position(is_it).expect("there is one")
    };
    let leads = |from: usize, to: usize| {
        // Its link to the first of four switches.
        let link = format!("ualink[{}]", 4 * from);
        let port = format!("uswitch[0].port[{to}]");
        let sent = number(&|c| c["link"] == link && c["direction"] == "to switch" && c["class"] == "request");
        let queued = number(&|c| c["port"] == port && c["class"] == "request");
        graph["edges"].as_array().expect("edges").iter().any(|edge| edge[0] == sent && edge[1] == queued)
    };
    let (accelerator, bridge) = (3, 72);
    assert_eq!([(accelerator, 5), (accelerator, bridge), (bridge, accelerator)].map(|(a, b)| leads(a, b)), [true; 3]);
    assert!(!leads(bridge, bridge + 1));
}

/// With a GPU less the counts are others.
#[test]
fn brg_sup_05_n() {
    let three = TEXT
        .replace("kind = \"nvlink.gpu\", count = 4", "kind = \"nvlink.gpu\", count = 3")
        .replace(
            "[\"gpu[3].link[0]\", \"nswitch.port[3]\"], [\"nbridge.x[0]\", \"nswitch.port[4]\"]",
            "[\"nbridge.x[0]\", \"nswitch.port[3]\"]",
        )
        .replace(
            "kind = \"nvlink.switch\", clock = \"bridge\", ports = 5",
            "kind = \"nvlink.switch\", clock = \"bridge\", ports = 4",
        )
        .replace(
            "size = \"2 GiB\", to = \"16 GiB\", accelerators = [\"0\", \"1\", \"2\", \"3\"]",
            "size = \"2 GiB\", to = \"16 GiB\", accelerators = [\"0\", \"1\"]",
        );
    assert_ne!(counts_of(&three)[1], 4);
}

/// All three ports of the node of tier 2 are used, by each bridge and the host.
#[test]
fn tier_2_is_shared() {
    let report = sound(TEXT, &SHORT);
    assert!(count(&report, "tier2", "least port requests") > 10, "{:?}", report.json()["components"]["tier2"]);
}

/// A bit that flips in what an accelerator has received is seen.
#[test]
fn brg_int_01_n() {
    let flips: Vec<String> = (0..60).map(|transaction| format!("\"{transaction}:300\"")).collect();
    let tamper = format!("tamper = [{}], traffic = {{ operations = 200", flips.join(", "));
    let report = run(&TEXT.replace("traffic = { operations = 200", &tamper), &SHORT);
    let rules: Vec<_> = report.violations.iter().map(|found| (&found.place, found.violation.rule)).collect();
    assert!(rules.iter().any(|(_, rule)| *rule == "SIM-E2E-01"), "{rules:?}");
}

/// Transactions of a run: what has begun by its id, and how often each id has ended.
pub struct Told {
    begun: BTreeMap<u64, Begun>,
    ends: BTreeMap<u64, usize>,
}

/// A transaction that has begun.
struct Begun {
    place: String,
    parent: u64,
    /// Its name, or that of its message.
    name: String,
    /// Address at which it is, if it has one of its own.
    address: Option<u64>,
}

impl Told {
    fn of(set: &[&str]) -> Told {
        Told::of_system(TEXT, set)
    }

    /// Those of a run of a description.
    pub fn of_system(text: &str, set: &[&str]) -> Told {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("t.jsonl");
        let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
        scenario::run(&ScenarioRequest { outputs, ..request(text, set, 1) }, &mut |_| ()).expect("it runs");
        let text = std::fs::read_to_string(trace).expect("a trace");
        let mut told = Told { begun: BTreeMap::new(), ends: BTreeMap::new() };
        // Flits are most of a trace.
        let of_transactions = |line: &&str| line.contains("\"kind\":\"begin\"") || line.contains("\"kind\":\"end\"");
        for line in text.lines().filter(of_transactions) {
            let record: Value = serde_json::from_str(line).expect("a record");
            let id = record["id"].as_u64().expect("an id");
            if record["kind"] == "end" {
                *told.ends.entry(id).or_default() += 1;
                continue;
            }
            let (place, parent) = (record["where"].as_str(), record["parent"].as_u64());
            let name = record["name"].as_str().or(record["message"].as_str()).unwrap_or_default().to_owned();
            let digits = record["address"].as_str().and_then(|text| text.strip_prefix("0x"));
            let address = digits.map(|digits| u64::from_str_radix(digits, 16).expect("an address"));
            let parent = parent.expect("a parent");
            let begun = Begun { place: place.expect("a place").to_owned(), parent, name, address };
            told.begun.insert(id, begun);
        }
        told
    }

    /// From what a place does up to the access that caused it, of all that it has done.
    pub fn paths(&self, place: impl Fn(&str) -> bool) -> Vec<Vec<&str>> {
        let path = |(mut id, _): (&u64, &Begun)| {
            let mut path = Vec::new();
            while *id != 0 {
                let Begun { place, parent, .. } = &self.begun[id];
                path.push(place.as_str());
                id = parent;
            }
            path
        };
        self.begun.iter().filter(|(_, begun)| place(&begun.place)).map(path).collect()
    }
}

/// One access is one tree, over both bridges, and everything that begins ends once.
#[test]
fn brg_sup_06_p() {
    let told = Told::of(&["traffic.operations=24", "gpu.requests=12", "host.accesses=2"]);
    let mut paths = told.paths(|place| place.starts_with("gpu["));
    paths.retain(|path| path.contains(&"nbridge.inbound"));
    let (from_host, from_accel): (Vec<_>, Vec<_>) =
        paths.into_iter().partition(|path| path.last() == Some(&"host.core"));
    assert!(from_accel.len() >= 4 && !from_host.is_empty());
    for path in from_accel {
        assert_eq!(path[1..4], ["nbridge.inbound", "ubridge", "ubridge"]);
        assert!(path.len() == 6 && path[4].starts_with("accel[") && path[5] == path[4], "{path:?}");
    }
    // The other way: from a GPU over its bridge and that of the accelerators.
    let back = told.paths(|place| place == "ubridge.inbound");
    assert!(back.len() > 2);
    for path in back {
        assert_eq!(path[1..3], ["nbridge", "nbridge"]);
        assert!(path.len() == 4 && path[3].starts_with("gpu["), "{path:?}");
    }
}

impl Told {
    /// The first transaction that has not ended once, and the first end of none.
    pub fn first_unbalanced(&self) -> Option<u64> {
        let open = self.begun.keys().find(|id| self.ends.get(id) != Some(&1));
        open.or_else(|| self.ends.keys().find(|id| !self.begun.contains_key(id))).copied()
    }
}

/// Everything that begins ends once: requests of both sides, posted ones, messages on CXL, answers.
#[test]
fn brg_int_03_p() {
    let told = Told::of(&["traffic.operations=24", "gpu.requests=12", "host.accesses=2"]);
    assert!(told.begun.len() > 500);
    assert_eq!(told.first_unbalanced(), None);
}

/// An answer that is lost, one that comes twice, and one of nothing are found.
#[test]
fn brg_int_03_n() {
    let mut told = Told::of(&["traffic.operations=4", "gpu.requests=2", "host.accesses=1"]);
    let id = *told.begun.keys().nth(7).expect("more than that");
    for ends in [0, 2] {
        told.ends.insert(id, ends);
        assert_eq!(told.first_unbalanced(), Some(id));
    }
    told.ends.insert(id, 1);
    told.ends.insert(u64::MAX, 1);
    assert_eq!(told.first_unbalanced(), Some(u64::MAX));
}

/// Without what joins a request to its cause the path would end at the second bridge.
#[test]
fn brg_sup_06_n() {
    let mut told = Told::of(&["traffic.operations=16", "gpu.requests=0", "host.accesses=1"]);
    for begun in told.begun.values_mut().filter(|begun| begun.place == "nbridge.inbound") {
        begun.parent = 0;
    }
    let paths = told.paths(|place| place.starts_with("gpu["));
    assert!(!paths.is_empty() && paths.iter().all(|path| path.len() == 2));
}

#[test]
fn nothing_depends_on_threads() {
    let one = run(TEXT, &SHORT).json();
    let two = scenario::run(&request(TEXT, &SHORT, 2), &mut |_| ()).expect("it runs");
    assert_eq!(two.json(), one);
}

/// A window that moves addresses: an accelerator that reads what nobody has written finds what the memory of the GPUs holds there.
#[test]
fn what_memory_holds_at_first_is_known_behind_two_windows() {
    let moved = TEXT.replace("to = \"16 GiB\", ports = [\"1\"]", "to = \"20 GiB\", ports = [\"1\"]").replace(
        "inbound = [{ base = \"16 GiB\"",
        "inbound = [{ base = \"20 GiB\", size = \"8 MiB\", to = \"3 GiB\", accelerators = [\"2\"] }, { base = \"16 GiB\"",
    );
    // A host at the same bridge would judge bytes by its own addresses, so it is refused.
    let error = resolves(&moved).err().expect("it is refused");
    assert!(error.contains("a host judges bytes by its addresses"), "{error}");
    let of_host =
        |line: &&str| ["host", "[memory_map]", "hbm = {", "tier2 = { base"].iter().any(|word| line.contains(word));
    let text: String = moved.lines().filter(|line| !of_host(line)).map(|line| format!("{line}\n")).collect();
    let text = text.replace("target_ports = 2", "target_ports = 1").replace("ports = 3", "ports = 2");
    let report = sound(&text, &["traffic.operations=40", "gpu.requests=10"]);
    assert!(count(&report, "nbridge", "inbound reads") > 10);
}

/// With two links for each GPU, FLUSHes go over both, and each block keeps its link over the bridge.
#[test]
fn several_links_carry_the_same() {
    let (before, rest) = TEXT.split_once("nvlink = {").expect("links");
    let (_, settings) = rest.split_once("[settings]").expect("settings");
    let nodes = (0..4).map(|gpu| format!("gpu[{gpu}].link")).chain(["nbridge.x".to_owned()]);
    let ports = nodes.flat_map(|node| [0, 1].map(|link| format!("{node}[{link}]"))).enumerate();
    let pairs: Vec<String> = ports.map(|(n, port)| format!("[\"{port}\", \"nswitch.port[{n}]\"]")).collect();
    let text =
        format!("{before}nvlink = {{ kind = \"nvlink\", between = [{}] }}\n[settings]{settings}", pairs.join(", "))
            .replace("links = 1", "links = 2")
            .replace(
                "kind = \"nvlink.switch\", clock = \"bridge\", ports = 5",
                "kind = \"nvlink.switch\", clock = \"bridge\", ports = 10",
            )
            .replace("kind = \"bridge.nvlink\"", "kind = \"bridge.nvlink\"\nx_ports = 2");
    let report = sound(&text, &SHORT);
    assert!(count(&report, "nbridge", "messages ended") > 2, "FLUSHes");
    // In front of conversion caches, written back and through.
    let cached = TEXT
        .replace(
            "kind = \"bridge.nvlink\"",
            "kind = \"bridge.nvlink\"\ncache = { mode = \"both\", capacity = \"8 KiB\", ways = 2 }",
        )
        .replace(
            "kind = \"bridge.ualink\"",
            "kind = \"bridge.ualink\"\ncache = { capacity = \"8 KiB\", ways = 2, write = \"through\" }",
        );
    let report = sound(&cached, &SHORT);
    assert!(count(&report, "nbridge", "dirty evictions") > 0 && count(&report, "ubridge", "lines written through") > 0);
}

/// A host that finds the memory of a GPU and that of a memory node behind one switch, by windows of the memory map.
const BEHIND_A_SWITCH: &str = r#"
format = 1
[system]
name = "behind-a-switch"
about = "a host that reaches a GPU through a switch and a bridge"
[clock]
core = { period = "1 ns" }
[component]
host = { kind = "cxl.host", clock = "core", stimulus = { pattern = "mix", accesses = 120, region_lines = 64, base = "4 GiB" } }
memory = { kind = "cxl.memory", clock = "core", size = "1 GiB" }
gpu = { kind = "nvlink.gpu", count = 1, clock = "core", links = 1 }
switch = { kind = "cxl.switch.hbr", clock = "core", ports = 2, bindings = [{ port = 0 }, { vppb = 1, port = 1 }] }
bridge = { kind = "bridge.nvlink", clock = "core", cxl_ports = 0, target_ports = 1, inbound = [{ base = "0", size = "1 GiB" }] }
[memory_map]
near = { base = "0", size = "1 GiB", targets = ["memory"] }
far = { base = "4 GiB", size = "1 GiB", targets = ["bridge"] }
[link]
cxl = { kind = "cxl-256b", between = [["host.cxl", "switch.usp[0]"], ["switch.dsp[0]", "bridge.target[0]"], ["switch.dsp[1]", "memory.cxl"]] }
nvlink = { kind = "nvlink", between = ["gpu[0].link[0]", "bridge.x[0]"] }
"#;

#[test]
fn hosts_reach_gpus_through_switches() {
    for kind in ["cxl-256b", "cxl-256b-lopt", "cxl-68b"] {
        let report = run(&BEHIND_A_SWITCH.replace("\"cxl-256b\"", &format!("\"{kind}\"")), &[]);
        assert_eq!(
            (report.violations.as_slice(), count(&report, "bridge", "inbound messages")),
            (&[][..], 120),
            "{kind}"
        );
    }
    let alone = BEHIND_A_SWITCH.replace("links = 1 }", "links = 1, work = \"ring\" }");
    let error = resolves(&alone).err().expect("it is refused");
    assert!(error.contains("all-reduce of one GPU"), "{error}");
    let moved = BEHIND_A_SWITCH.replace("size = \"1 GiB\" }] }", "size = \"1 GiB\", to = \"1 GiB\" }] }");
    let error = resolves(&moved).err().expect("it is refused");
    assert!(error.contains("a host judges bytes by its addresses"), "{error}");
}

/// A GPU that answers later than the bridge waits: reads are poison, lost writes are not read as old data, and the accelerators see both.
#[test]
fn a_silent_gpu_poisons_what_it_owes() {
    let report = run(TEXT, &with(&["nbridge.timeout_cycles=60", "gpu.memory_cycles=2000"]));
    let told = |name| count(&report, "nbridge", name);
    assert!(told("inbound time-outs") > 0 && told("inbound late answers") > 0 && told("writes lost") > 0);
    assert!(report.violations.iter().any(|found| found.violation.rule == "SIM-E2E-01"), "the accelerators are told");
}

/// A request that the bridge of the GPUs has given up has failed: that is told once. No bytes are compared with none, nor with what a write
/// was to change that has failed, of which a FLUSH tells if it was posted.
#[test]
fn what_has_failed_is_told_once() {
    for text in [TEXT, &two_links()] {
        let report = run(text, &with(&["nbridge.timeout_cycles=60"]));
        let of_gpus = || report.violations.iter().filter(|found| found.place.starts_with("gpu"));
        assert!(count(&report, "nbridge", "time-outs") > 0);
        assert!(of_gpus().any(|found| found.violation.text.starts_with("FLUSH")), "posted writes have failed too");
        let other = of_gpus().find(|found| found.violation.rule != "SIM-E2E-02");
        assert!(other.is_none(), "{other:?}");
    }
}

/// GPUs and their bridge with two links each: a FLUSH has a part for each link, and any of them may bring the error.
fn two_links() -> String {
    let mut second: Vec<String> =
        (0..4).map(|n| format!("[\"gpu[{n}].link[1]\", \"nswitch.port[{}]\"]", 5 + n)).collect();
    second.push("[\"nbridge.x[1]\", \"nswitch.port[9]\"]".to_owned());
    let last = "[\"nbridge.x[0]\", \"nswitch.port[4]\"],";
    TEXT.replace("clock = \"bridge\", links = 1", "clock = \"bridge\", links = 2")
        .replace("clock = \"bridge\", ports = 5", "clock = \"bridge\", ports = 10")
        .replace("kind = \"bridge.nvlink\"\n", "kind = \"bridge.nvlink\"\nx_ports = 2\n")
        .replace(last, &format!("{last} {},", second.join(", ")))
}

/// What is not built, or does not fit, is refused by name.
#[test]
fn descriptions_that_ask_for_more_are_refused() {
    let window = |new: &str| {
        let (before, rest) = TEXT.split_once("inbound = [").expect("a window");
        let (_, after) = rest.split_once("]\n").expect("its end");
        format!("{before}inbound = [{new}]\n{after}")
    };
    for (text, expected) in [
        (window("{ class = \"BI\" }"), "expected NH, DB, BR"),
        (window("{ class = \"BR\" }"), "found 1 window of class BR and 0 bar ports, expected both or neither"),
        (window("{ class = \"DB\" }"), "found 1 window of class DB and 0 home ports, expected both or neither"),
        (window(""), "found 0 windows and 1 target port, expected both or neither"),
        (window("{ base = 64 }"), "multiple of 256"),
        (window("{ size = \"1 MiB\" }"), "expected 2 MiB to 4 PiB"),
        (window("{ accelerators = [\"4\"] }"), "at port or accelerator 4, expected 0 to 3"),
        (window("{ accelerators = [\"0\", \"1\", \"2\"] }"), "1, 2, 4, 8 or 16"),
        (window("{ accelerators = [\"one\"] }"), "found accelerator `one`"),
        (window("{ rights = [\"0:rx\"] }"), "found rights `0:rx`"),
        (
            TEXT.replace("to = \"512 MiB\"", "to = \"1000 MiB\""),
            "expected addresses of the memory there, 0x0 to 0x40000000",
        ),
        (
            TEXT.replace("size = \"5 MiB\", to = \"16 GiB\"", "size = \"5 MiB\", to = \"15 GiB\""),
            "expected addresses of the memory there, 0x400000000 to",
        ),
        (window("{ rights = [\"0:rwa\"] }"), "found rights `0:rwa`"),
        (window("{ base = 0 }, { base = \"1 MiB\" }"), "do not overlap"),
        (TEXT.replace("target_ports = 2", "target_ports = 2\ninbound_groups = [\"4096:0\"]"), "4096"),
        (TEXT.replace("target_ports = 2", "target_ports = 2\ninbound_entries = 1025"), "1024"),
    ] {
        let error = resolves(&text).err().unwrap_or_else(|| panic!("{expected}: it is taken"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// Rights of a group of CXL: the source with this port identifier may not write, and the bridge in front of it learns nothing of it.
#[test]
fn rights_are_those_of_the_group() {
    let text = TEXT
        .replace("granule = \"4 KiB\" }]", "granule = \"4 KiB\", rights = [\"0:rw\", \"1:r\"] }]")
        .replace("target_ports = 2", "target_ports = 2\ninbound_groups = [\"1:1\"]");
    let report = run(&text, &SHORT);
    assert!(count(&report, "nbridge", "inbound refused") > 0);
    assert!(report.violations.iter().all(|found| !found.place.starts_with("host")), "the host has group 0");
}

/// Atomics have no effect in windows of class MN, so traffic that has them there is refused by what to choose instead.
#[test]
fn traffic_with_atomics_is_refused_beside_memory_without_an_owner() {
    let bridge_ualink = include_str!("../../../src/system/builtin/bridge-ualink.toml");
    for (text, set, found) in [
        (TEXT, "traffic.mix=all", "traffic.mix: found \"all\" with atomics"),
        (bridge_ualink, "traffic.mix=all", "traffic.mix: found \"all\" with atomics"),
        (TEXT, "component.gpu.traffic.pattern=mix", "traffic.pattern: found \"mix\" with atomics"),
    ] {
        let error = scenario::run(&request(text, &[set], 1), &mut |_| ()).expect_err("it is refused").to_string();
        assert!(error.contains(found), "{set}: {error}");
    }
    // The hot spots are an accelerator and a GPU.
    sound(TEXT, &with(&["traffic.mix=all", "traffic.pattern=hot-spot"]));
}

/// With a region more in each memory than the windows of the bridge hold: what there is no window for.
const OUTSIDE: [&str; 4] =
    ["component.accel.traffic.regions=3", "traffic.operations=24", "gpu.requests=2", "host.accesses=1"];
/// First address behind the windows of the bridge of the accelerators.
const WINDOWS_END: u64 = 10 << 20;

impl Told {
    /// Requests at the bridge of the accelerators to an address in a window, and to none; of each whether something followed from it.
    fn requests_by_window(&self) -> [Vec<bool>; 2] {
        let parents: std::collections::BTreeSet<u64> = self.begun.values().map(|begun| begun.parent).collect();
        let mut followed = [Vec::new(), Vec::new()];
        for (id, begun) in self.begun.iter().filter(|(_, begun)| begun.place == "ubridge" && begun.name == "convert") {
            let is_outside = begun.address.expect("an address") >= WINDOWS_END;
            followed[usize::from(is_outside)].push(parents.contains(id));
        }
        followed
    }
}

/// What has no window ends at the bridge, and who asked is told status 3.
#[test]
fn brg_sup_02_p() {
    let [inside, outside] = Told::of(&OUTSIDE).requests_by_window();
    assert!(outside.len() > 5 && inside.len() > 10, "{} {}", outside.len(), inside.len());
    assert!(outside.iter().all(|followed| !followed) && inside.iter().all(|followed| *followed));
    let report = run(TEXT, &OUTSIDE);
    assert_eq!(count(&report, "ubridge", "requests refused"), outside.len() as u64);
    let of_status = report.violations.iter().filter(|found| found.violation.rule == "SIM-E2E-02");
    let told: Vec<_> =
        of_status.map(|found| (found.place.starts_with("accel"), found.violation.found.as_str())).collect();
    assert!(
        !told.is_empty() && told.iter().all(|(is_accel, found)| *is_accel && found.contains("DecodeError")),
        "{told:?}"
    );
}

/// A request that goes on from there to a node is found.
#[test]
fn brg_sup_02_n() {
    let mut told = Told::of(&OUTSIDE);
    let is_outside = |begun: &Begun| begun.name == "convert" && begun.address >= Some(WINDOWS_END);
    let [from, to] = ["ubridge", "tier2.mem"].map(|place| {
        let mut found = told.begun.iter().filter(|(_, begun)| begun.place == place);
        *found.find(|(_, begun)| place != "ubridge" || is_outside(begun)).expect("there is one").0
    });
    told.begun.get_mut(&to).expect("it is there").parent = from;
    assert_eq!(told.requests_by_window()[1].iter().filter(|followed| **followed).count(), 1);
}

/// The description is what it says, and so are those that say the same in another order.
#[test]
fn brg_sup_03_p() {
    assert!(resolves(TEXT).is_ok() && resolves(RACK).is_ok());
    let ubridge = "[component.ubridge]";
    let (before, rest) = TEXT.split_once(ubridge).expect("a bridge");
    let (own, after) = rest.split_once("[component.nbridge]").expect("another bridge");
    let (other, links) = after.split_once("[memory_map]").expect("a map");
    let turned = format!("{before}[component.nbridge]{other}{ubridge}{own}[memory_map]{links}");
    assert!(resolves(&turned).is_ok());
}

/// An unknown key, windows that are missing, two nodes with one number, switches that are too small or too large: the error names it and
/// what may stand there.
#[test]
fn brg_sup_03_n() {
    let inbound = |text: &str| {
        let start = text.find("inbound = [{ base = \"32 GiB\"").expect("windows");
        let end = start + text[start..].find('\n').expect("its end");
        format!("{}{}", &text[..start], &text[end..])
    };
    let ports = "kind = \"ualink.switch\", clock = \"accel\", ports = ";
    let of_ports = |count: &str| TEXT.replace(&format!("{ports}5"), &format!("{ports}{count}"));
    for (text, expected) in [
        (
            TEXT.replace("[component.ubridge]", "[component.ubridge]\nwindow = []"),
            "component.ubridge.window: found the key `window`, expected one of",
        ),
        (TEXT.replace("regions = 2", "region = 2"), "found the key `region`, expected one of"),
        (inbound(TEXT), "component.ubridge.inbound: found 0 windows and 1 target port, expected both or neither"),
        (
            TEXT.replace("\"uswitch.port[3]\"", "\"uswitch.port[2]\""),
            "found a second link at `uswitch.port[2]`, expected one for each port",
        ),
        (TEXT.replace("uswitch = {", "accel = { kind = \"ualink.switch\" }\nuswitch = {"), "duplicate key"),
        (of_ports("4"), "found the index 4 of `uswitch.port`, expected 0 to 3"),
        (of_ports("6"), "found no link at the port `uswitch.port[5]`, expected one of kind ualink"),
        (of_ports("1025"), "component.uswitch.ports: found 1025, expected 2 to 1024"),
        (
            TEXT.replace("size = \"1 GiB\", ports = 3", "size = \"1 GiB\", ports = 65"),
            "component.tier2.ports: found 65, expected 1 to 64",
        ),
        (
            TEXT.replace(
                "inbound = [{ base = \"32 GiB\"",
                "inbound = [{ base = \"40 GiB\", to = \"8 GiB\" }, { base = \"32 GiB\"",
            ),
            "found address 0x200000000 of accelerator 0 in window 0 and in window 1",
        ),
    ] {
        let error = resolves(&text).err().unwrap_or_else(|| panic!("{expected}: it is taken"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// Sixteen hosts behind one switch that share a device by its logical devices.
const SHARED_BY_LD: &str = include_str!("../../../src/system/builtin/share-16.toml");
/// Hosts that a device tells apart by their PBR ids.
const SHARED_BY_ID: &str = include_str!("../../../src/system/builtin/hdm-db-fabric.toml");

/// Sixteen requesters of one target, each by a logical device or by its PBR id, and seventeen by PBR ids.
#[test]
fn sixteen_requesters_by_logical_device_and_more_by_pid() {
    sound(SHARED_BY_LD, &["core.accesses=20"]);
    for hosts in ["hosts=16", "hosts=17"] {
        sound(SHARED_BY_ID, &[hosts, "core.accesses=20"]);
    }
}

/// A seventeenth requester of a multi-logical device is refused, whether it brings a logical device of its own or not.
#[test]
fn a_seventeenth_logical_device_is_refused() {
    let one_more = SHARED_BY_LD
        .replace("hosts = 16", "hosts = 17")
        .replace("count = 16", "count = 17")
        .replace("{ vcs = 15, ld = 15 },", "{ vcs = 15, ld = 15 }, { vcs = 16, ld = 16 },");
    let error = resolves(&one_more).err().expect("17 hosts of 16 logical devices");
    assert!(error.contains("bindings[16].ld: found 16, expected 0 to 15"), "{error}");
    let error = resolves(&one_more.replace("logical_devices = 16", "logical_devices = 17")).err().expect("17 of them");
    assert!(error.contains("logical_devices: found 17, expected 1 to 16"), "{error}");
}
