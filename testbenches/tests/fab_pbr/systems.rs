//! Systems of switches with port based routing: every kind of edge link, errors, order of threads, latencies, refusals.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::description::Description;
use scalepool::system::design::System;
use std::collections::BTreeMap;
use std::path::PathBuf;

const TWO: &str = include_str!("../../systems/pbr_two_switches.toml");

/// A run without findings in which all accesses are done, and each switch has passed on what came.
fn sound(text: &str, set: &[&str], hosts: &[&str], switches: &[&str], accesses: u64) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    let host = |name: &str| hosts.iter().map(|path| count(&report, path, name)).sum::<u64>();
    assert_eq!(host("line accesses"), hosts.len() as u64 * accesses, "{set:?}");
    let passed = |class: &str| {
        let name = format!("switched {class}");
        switches.iter().map(|path| count(&report, path, &name)).sum::<u64>()
    };
    assert_eq!((passed("M2S Req"), passed("M2S RwD")), (passed("S2M DRS"), passed("S2M NDR")), "{set:?}");
    for path in switches {
        for name in ["not decoded", "unknown LD-ID", "other classes", "switch answers", "not claimed", "no route"] {
            assert_eq!(count(&report, path, name), 0, "{set:?}: {name} of {path}");
        }
    }
    report
}

fn two(set: &[&str], accesses: u64) -> ScenarioReport {
    let report = sound(TWO, set, &["host[0]", "host[1]"], &["front", "back"], accesses);
    let asked: u64 =
        ["reads", "writes"].iter().flat_map(|name| ["host[0]", "host[1]"].map(|h| count(&report, h, name))).sum();
    for path in ["front", "back"] {
        let passed = ["M2S Req", "M2S RwD"].map(|class| count(&report, path, &format!("switched {class}")));
        assert_eq!(passed.iter().sum::<u64>(), asked, "{path}: each request once");
    }
    report
}

#[test]
fn two_hosts_reach_their_memories_over_two_switches() {
    two(&["host.accesses=600"], 600);
    for (kind, other) in [("cxl-68b", "cxl-256b-lopt"), ("cxl-256b-lopt", "cxl-68b"), ("cxl-256b", "cxl-68b")] {
        let [host, memory] = [format!("link.host.kind={kind}"), format!("link.memory.kind={other}")];
        let set = [host.as_str(), memory.as_str(), "host.accesses=200"];
        two(&set, 200);
    }
}

#[test]
fn bits_are_wrong_on_every_link() {
    let set = ["link.ber=3e-5", "host.accesses=300", "link.between.fault=drop:40,up:noise:50"];
    let report = two(&set, 300);
    assert!(report.errors_repaired + report.retries > 0);
}

/// Queues, buffers and ports as small as they can be: everything waits, nothing gets stuck, and all credits come home.
#[test]
fn the_smallest_switches_go_on() {
    let mut set = vec!["host.accesses=150".to_owned()];
    for path in ["front", "back"] {
        for value in ["queue=1", "output_queue=1", "width=16"] {
            set.push(format!("component.{path}.{value}"));
        }
    }
    set.extend(["host", "between", "memory"].map(|link| format!("link.{link}.buffers=1")));
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    two(&set, 150);
}

#[test]
fn two_threads_and_bytes_of_flits_change_nothing() {
    let set = ["host.accesses=120", "link.between.ber=2e-5"];
    let [one, again] = [1, 2].map(|threads| on_threads(TWO, &set, threads).json());
    assert_eq!(one, again);
    let [watched, always] = ["watched", "always"]
        .map(|bits| on_threads(TWO, &["host.accesses=120", &format!("link.bits={bits}")], 1).json());
    assert_eq!(watched, always);
}

/// A request is one transaction from the access over both switches to the memory, and PIDs are shown between.
#[test]
fn transactions_go_through_both_switches() {
    let folder = tempfile::tempdir().expect("a folder");
    let [trace, wave] = ["t.jsonl", "t.vcd"].map(|name| folder.path().join(name));
    let outputs = Outputs { trace: Some(trace.clone()), vcd: Some(wave.clone()), ..Outputs::default() };
    let description = Some(TWO.to_owned());
    let set = vec!["host.accesses=60".to_owned()];
    let request = ScenarioRequest { description, seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert_eq!(report.violations, []);
    let text = std::fs::read_to_string(trace).expect("a trace");
    let (mut place_of, mut passed, mut served) = (BTreeMap::new(), BTreeMap::new(), 0);
    for line in text.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let [place, kind] = ["where", "kind"].map(|key| record[key].as_str().expect("a text").to_owned());
        let [id, parent] = ["id", "parent"].map(|key| record[key].as_u64().unwrap_or(0));
        if kind == "begin" {
            place_of.entry(id).or_insert(place.clone());
        }
        if record["message"] == "cxlpbr.m2s_req" && (place == "front" || place == "back") {
            let [spid, dpid] = ["spid", "dpid"].map(|key| record["fields"][key].as_u64().expect("a PID"));
            // The bindings cross the hosts over; PIDs are in the order of the manager, switches, hosts and bindings.
            assert!([(3, 6), (4, 5)].contains(&(spid, dpid)), "{record}");
            passed.entry(id).or_insert_with(Vec::new).push(place.clone());
        }
        if place.starts_with("memory") && kind == "begin" && record["message"] == "cxl256.m2s_req" {
            assert_eq!(passed.get(&parent).map(Vec::as_slice), Some(&["front".to_owned(), "back".to_owned()][..]));
            let host = if place == "memory[0].mem" { "host[1].core" } else { "host[0].core" };
            assert_eq!(place_of.get(&parent).map(String::as_str), Some(host), "{record}");
            served += 1;
        }
    }
    assert_eq!(served, count(&report, "host[0]", "reads") + count(&report, "host[1]", "reads"));
    let wave = std::fs::read_to_string(wave).expect("a wave");
    for name in ["front", "back", "isl", "m2s_req_queued", "s2m_drs_queued"] {
        assert!(wave.contains(name), "{name}");
    }
}

/// Switches in a graph: each has a host and a memory; `bound[n]` is the switch with the memory of host n.
pub(super) fn graph(edges: &[(usize, usize)], bound: &[usize], more: &str) -> String {
    let count = bound.len();
    let mut ports = vec![0; count];
    let mut next = |switch: usize| {
        ports[switch] += 1;
        ports[switch] - 1
    };
    let between: Vec<String> = edges
        .iter()
        .map(|&(a, b)| format!("[\"switch[{a}].isl[{}]\", \"switch[{b}].isl[{}]\"]", next(a), next(b)))
        .collect();
    let mut text = format!(
        "format = 1\n[system]\nname = \"graph\"\n[clock]\ncore = {{ period = \"2 ns\" }}\n\
         [component.host]\nkind = \"cxl.host\"\ncount = {count}\nstimulus = {{ pattern = \"mix\", accesses = 100 }}\n\
         [component.memory]\nkind = \"cxl.memory\"\ncount = {count}\n\
         [component.switch]\nkind = \"cxl.switch.pbr\"\ncount = {count}\nhosts = 1\nports = 1\n"
    );
    for (n, ports) in ports.iter().enumerate() {
        let host = bound.iter().position(|switch| *switch == n).expect("each memory has a host");
        text += &format!(
            "[component.switch.at.{n}]\nfabric = {ports}\nbindings = [{{ port = 0, usp = \"switch[{host}].usp[0]\" }}]\n"
        );
    }
    text += "[link.host]\nkind = \"cxl-256b\"\nbetween = [\"host[i].cxl\", \"switch[i].usp[0]\"]\n\
             [link.memory]\nkind = \"cxl-256b\"\nbetween = [\"switch[i].dsp[0]\", \"memory[i].cxl\"]\n";
    if !edges.is_empty() {
        text += &format!("[link.isl]\nkind = \"cxl-256b-pbr\"\nbetween = [{}]\n", between.join(", "));
    }
    text + more
}

pub(super) fn resolved(text: &str) -> Result<System, String> {
    let description = Description::parse("f.toml", PathBuf::new(), text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    description.resolve().map_err(|problems| problems.to_string())
}

pub(super) fn ring(count: usize) -> Vec<(usize, usize)> {
    (0..count).map(|n| (n, (n + 1) % count)).collect()
}

/// Hosts and memories at both ends of a link: requests and answers of both directions share it.
#[test]
fn an_inter_switch_link_carries_requests_both_ways() {
    let text = graph(&[(0, 1)], &[1, 0], "");
    let report = sound(&text, &[], &["host[0]", "host[1]"], &["switch[0]", "switch[1]"], 100);
    let json = report.json();
    let link = &json["links"]["isl[0]"];
    let sum = |name: &str| ["host[0]", "host[1]"].iter().map(|path| count(&report, path, name)).sum::<u64>();
    assert_eq!(link["cxlpbr.m2s_req"].as_u64(), Some(sum("reads")));
    assert_eq!(link["cxlpbr.m2s_rwd"].as_u64(), Some(sum("writes")));
    let system = resolved(&text).unwrap_or_else(|error| panic!("{error}"));
    let json = system.channels.json(&system);
    let channels = json["channels"].as_array().expect("channels");
    let of_link = channels.iter().filter(|channel| channel["link"] == "isl[0]").count();
    assert_eq!(of_link, 12, "six classes each way");
}

/// Fully connected groups, trees, lines and rings without circles are built; so is a ring whose routes do not close it.
#[test]
fn fab_isl_09_p() {
    for count in 3..=6 {
        let all: Vec<(usize, usize)> = (0..count).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let bound: Vec<usize> = (0..count).map(|n| (n + 1) % count).collect();
        for edges in [all, ring(count), (1..count).map(|n| (n - 1, n)).collect(), (1..count).map(|n| (0, n)).collect()]
        {
            let text = graph(&edges, &bound, "");
            let system = resolved(&text).unwrap_or_else(|error| panic!("{edges:?}: {error}"));
            assert!(system.channels.edges() > 0);
        }
    }
}

/// Every host of a ring reaches over two links the same way round: each link waits for the next one.
#[test]
fn fab_isl_09_n() {
    for count in [5, 6, 7] {
        let bound: Vec<usize> = (0..count).map(|n| (n + 2) % count).collect();
        let found = resolved(&graph(&ring(count), &bound, "")).err().expect("it is refused");
        assert!(found.contains("found channels that wait for each other in a circle"), "{found}");
        for n in 0..count {
            for class in ["M2S Req", "M2S RwD", "S2M NDR", "S2M DRS"] {
                assert!(found.contains(&format!("{class} on isl[{n}] ")), "{class} on isl[{n}]:\n{found}");
            }
        }
        assert!(found.contains("switch[0] passes messages on"), "{found}");
    }
}

/// The same rings with routes up and down are built, and everything arrives.
#[test]
fn routes_up_and_down_open_every_ring() {
    for count in [5, 6] {
        let bound: Vec<usize> = (0..count).map(|n| (n + 2) % count).collect();
        let text = graph(&ring(count), &bound, "").replace("hosts = 1\n", "hosts = 1\nrouting = \"up-down\"\n");
        let paths = |name: &str| (0..count).map(|n| format!("{name}[{n}]")).collect::<Vec<_>>();
        let (hosts, switches) = (paths("host"), paths("switch"));
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let switches: Vec<&str> = switches.iter().map(String::as_str).collect();
        sound(&text, &[], &hosts, &switches, 100);
        let other = text.replace("[component.switch.at.1]\n", "[component.switch.at.1]\nrouting = \"minimal\"\n");
        let found = resolved(&other).err().expect("it is refused");
        assert!(found.contains("found another policy than that of `switch[0]`"), "{found}");
    }
}

/// Time of a flit of 256 bytes \[ns\].
const FLIT_NS: u64 = 2;

/// The latency of an idle path \[ns\]. All clocks have edges every 2 ns, as flits do, so that nothing is rounded.
fn idle_ns(switches: u64, stages_ns: u64, propagation_ns: u64) -> u64 {
    const CLOCK_NS: u64 = 2;
    // 160 cycles of the memory.
    const MEMORY_NS: u64 = 160 * CLOCK_NS;
    // The flit, both pipelines and the wire, the channel to the component.
    let link = |propagation_ns: u64| FLIT_NS + 8 + propagation_ns + 8 + CLOCK_NS;
    let edges = 2 * link(2);
    let between = (switches - 1) * link(propagation_ns);
    // The stages of a switch end at its link end; a host and a memory have a channel to theirs.
    let way = CLOCK_NS + edges + between + switches * stages_ns;
    MEMORY_NS + 2 * way
}

/// A host at the first switch of a line, and its memory at the last one.
fn line_latency_ns(switches: usize, stages_ns: u64, propagation_ns: u64) -> u64 {
    let last = switches - 1;
    let mut text = format!(
        "format = 1\n[system]\nname = \"line\"\n[clock]\ncore = {{ period = \"2 ns\" }}\n\
         [component.host]\nkind = \"cxl.host\"\noutstanding = 1\n\
         stimulus = {{ pattern = \"reads\", accesses = 9 }}\n\
         [component.memory]\nkind = \"cxl.memory\"\n\
         [component.switch]\nkind = \"cxl.switch.pbr\"\ncount = {switches}\nfabric = 2\n\
         pipeline = {{ ingress = \"30 ns\", decode = \"26 ns\", crossbar = \"{} ns\", egress = \"26 ns\" }}\n\
         [link.host]\nkind = \"cxl-256b\"\nbetween = [\"host.cxl\", \"switch[0].usp[0]\"]\n\
         [link.memory]\nkind = \"cxl-256b\"\nbetween = [\"switch[{last}].dsp[0]\", \"memory.cxl\"]\n",
        stages_ns - 82,
    );
    for n in 0..switches {
        let fabric = usize::from(n > 0) + usize::from(n < last);
        let (hosts, ports) = (usize::from(n == 0), usize::from(n == last));
        text += &format!("[component.switch.at.{n}]\nhosts = {hosts}\nports = {ports}\nfabric = {fabric}\n");
    }
    if switches > 1 {
        // The first switch has its only fabric port towards the second one, all others their second one.
        let port = |n: usize| usize::from(n > 0);
        let pair = |n: usize| format!("[\"switch[{n}].isl[{}]\", \"switch[{}].isl[0]\"]", port(n), n + 1);
        let pairs: Vec<String> = (0..last).map(pair).collect();
        let pairs = pairs.join(", ");
        text += &format!(
            "[link.isl]\nkind = \"cxl-256b-pbr\"\npropagation = \"{propagation_ns} ns\"\nbetween = [{pairs}]\n"
        );
    }
    let report = run(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((report.violations.len(), report.latency_fs.min % 1_000_000), (0, 0));
    report.latency_fs.min / 1_000_000
}

/// The latency of a read over one switch, two and three is the sum of the named parts. An Ack that is due in the flit clock of a
/// message has the place of the sequence number in the header of its flit; such a flit is certain, and taken, when the next one
/// states the number, one flit later. Whether it meets a message depends on the stages: it is one more part of the sum.
#[test]
fn fab_lat_03_p() {
    // Switches, stages \[ns\], wire between \[ns\], messages of a read whose flits carry an Ack.
    let cases = [
        (1, 102, 2, 0),
        (2, 102, 2, 0),
        (2, 102, 20, 0),
        (2, 134, 2, 0),
        (3, 102, 2, 0),
        // From the second switch to the first.
        (2, 132, 2, 1),
        // From the second switch to the first, and on to the host.
        (3, 92, 12, 2),
    ];
    for (switches, stages_ns, propagation_ns, acks) in cases {
        let found = line_latency_ns(switches, stages_ns, propagation_ns);
        let expected = idle_ns(switches as u64, stages_ns, propagation_ns) + acks * FLIT_NS;
        assert_eq!(found, expected, "{switches} switches, {stages_ns} ns each, {propagation_ns} ns between");
    }
}

/// With one part left out the sum differs.
#[test]
fn fab_lat_03_n() {
    let found = line_latency_ns(2, 102, 2);
    assert_eq!(found - idle_ns(1, 102, 2), 2 * (102 + 22), "a switch and a link, both ways");
    assert_ne!(found, idle_ns(2, 100, 2));
    assert_ne!(found, idle_ns(2, 102, 1));
}

/// Pairs of ports that a link may join, and all others.
#[test]
fn fab_pid_03_p() {
    for text in [graph(&[], &[0], ""), graph(&[(0, 1)], &[1, 0], "")] {
        resolved(&text).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn fab_pid_03_n() {
    let text = graph(&[(0, 1)], &[1, 0], "");
    let cases = [
        // Host at a port towards devices, device at one towards hosts.
        (
            "\"host[i].cxl\", \"switch[i].usp[0]\"",
            "\"host[i].cxl\", \"switch[i].dsp[0]\"",
            "expected a device below the downstream port",
        ),
        (
            "\"switch[i].dsp[0]\", \"memory[i].cxl\"",
            "\"switch[i].usp[0]\", \"memory[i].cxl\"",
            "expected a host above the upstream port",
        ),
        // Fabric ports to anything but another one.
        ("[\"switch[0].isl[0]\", \"switch[1].isl[0]\"]", "[\"switch[0].isl[0]\", \"host[1].cxl\"]", "fabric PID-3"),
        ("[\"switch[0].isl[0]\", \"switch[1].isl[0]\"]", "[\"switch[0].isl[0]\", \"memory[1].cxl\"]", "fabric PID-3"),
        (
            "[\"switch[0].isl[0]\", \"switch[1].isl[0]\"]",
            "[\"switch[0].isl[0]\", \"switch[0].isl[0]\"]",
            "found both ends at `switch[0]`",
        ),
        // Port based routing at an edge, and none between switches.
        (
            "[link.host]\nkind = \"cxl-256b\"",
            "[link.host]\nkind = \"cxl-256b-pbr\"",
            "found a link of kind `cxl-256b-pbr` at `switch[0].usp[0]`",
        ),
        (
            "[link.isl]\nkind = \"cxl-256b-pbr\"",
            "[link.isl]\nkind = \"cxl-256b\"",
            "found a link of kind `cxl-256b` at `switch[0].isl[0]`, expected cxl-256b-pbr",
        ),
    ];
    for (from, to, expected) in cases {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        let found = resolved(&changed).err().unwrap_or_else(|| panic!("{to}: it is taken"));
        assert!(found.contains(expected), "{to}: {expected}\n{found}");
    }
    let edges =
        text.replace("\"switch[0].isl[0]\", \"switch[1].isl[0]\"", "\"switch[0].usp[0]\", \"switch[1].dsp[0]\"");
    assert!(resolved(&edges).is_err());
}

#[test]
fn what_does_not_fit_is_refused() {
    let cases = [
        (
            "usp = \"front.usp[1]\"",
            "usp = \"front.usp[2]\"",
            "found `front.usp[2]`, which is no edge port of a host of this fabric, expected one such as `front.usp[0]`",
        ),
        ("port = 1, usp", "port = 2, usp", "found port 2, expected 0 to 1"),
        ("port = 1, usp", "port = 1, ld = 0, usp", "found LD 0 at back.dsp[1], expected none"),
        ("port = 1, usp", "port = 0, usp", "found `back.dsp[0]` for `front.usp[0]`, which `front.usp[1]` has"),
        (
            ", { port = 1, usp = \"front.usp[0]\" }",
            "",
            "found no device for `front.usp[0]`, expected one at least for every host",
        ),
        (
            "count = 2\nclock = \"core\"\n\n[link",
            "count = 2\nclock = \"core\"\nlogical_devices = 2\n\n[link",
            "found no LD at back.dsp[0], expected one of 0 to 1",
        ),
        (
            "hosts = 2\nfabric = 1",
            "hosts = 2\nfabric = 255",
            "found 257 ports in `hosts`, `ports` and `fabric` together, expected 1 to 256",
        ),
    ];
    for (from, to, expected) in cases {
        let text = TWO.replace(from, to);
        assert_ne!(text, TWO, "{from}");
        let found = resolved(&text).err().unwrap_or_else(|| panic!("{to}: it is taken"));
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

/// Hosts of a shared device, each with a logical device; without bindings they go in turn.
#[test]
fn logical_devices_go_to_hosts_in_turn() {
    let text = TWO
        .replace("bindings = [{ port = 0, usp = \"front.usp[1]\" }, { port = 1, usp = \"front.usp[0]\" }]", "")
        .replace("ports = 2", "ports = 1")
        .replace("kind = \"cxl.memory\"\ncount = 2", "kind = \"cxl.memory\"\nlogical_devices = 2")
        .replace("\"back.dsp[i]\", \"memory[i].cxl\"", "\"back.dsp[0]\", \"memory.cxl\"");
    sound(&text, &["host.accesses=400"], &["host[0]", "host[1]"], &["front", "back"], 400);
}

/// A window over memories behind two switches, and a memory at the switch of the host itself beside it.
#[test]
fn a_window_is_dealt_over_switches() {
    for granularity in ["256", "4 KiB"] {
        let text = format!(
            "format = 1\n[system]\nname = \"dealt\"\n[clock]\ncore = {{ period = \"500 ps\" }}\n\
             [component.host]\nkind = \"cxl.host\"\nstimulus = {{ pattern = \"mix\", accesses = 900, region_lines = 700, base = \"0x2_ffff_c000\" }}\n\
             [component.switch]\nkind = \"cxl.switch.pbr\"\ncount = 3\nports = 2\nfabric = 2\n\
             at = {{ 0 = {{ hosts = 1 }} }}\n\
             [component.memory]\nkind = \"cxl.memory\"\ncount = 6\nsize = \"1 GiB\"\n\
             [link.host]\nkind = \"cxl-256b\"\nbetween = [\"host.cxl\", \"switch[0].usp[0]\"]\n\
             [link.memory]\nkind = \"cxl-256b\"\nbetween = [[\"switch[0].dsp[k]\", \"memory[0].cxl\"]]\n\
             [link.isl]\nkind = \"cxl-256b-pbr\"\n\
             between = [[\"switch[0].isl[0]\", \"switch[1].isl[0]\"], [\"switch[1].isl[1]\", \"switch[2].isl[0]\"], [\"switch[2].isl[1]\", \"switch[0].isl[1]\"]]\n\
             [memory_map]\n\
             far = {{ base = \"8 GiB\", size = \"4 GiB\", targets = [\"memory[2]\", \"memory[4]\", \"memory[3]\", \"memory[5]\"], granularity = \"{granularity}\" }}\n\
             near = {{ base = \"12 GiB\", size = \"2 GiB\", targets = [\"memory[0]\", \"memory[1]\"] }}\n"
        );
        let pairs: Vec<String> =
            (0..6).map(|n| format!("[\"switch[{}].dsp[{}]\", \"memory[{n}].cxl\"]", n / 2, n % 2)).collect();
        let text = text.replace("[[\"switch[0].dsp[k]\", \"memory[0].cxl\"]]", &format!("[{}]", pairs.join(", ")));
        let report = sound(&text, &[], &["host"], &["switch[0]", "switch[1]", "switch[2]"], 900);
        let json = report.json();
        for n in 0..6 {
            let flits = json["links"][format!("memory[{n}]")]["cxl256.m2s_req"].as_u64().expect("a count");
            assert!(flits > 0, "memory[{n}] has something to do with {granularity}: {flits}");
        }
    }
}

/// Hosts with segment tables: windows in segments of their own, dealt over devices and logical devices behind two switches.
fn segments() -> String {
    TWO.replace("hosts = 2\nfabric", "hosts = 2\ndecode = \"ldst\"\nfabric")
        .replace("ports = 2\nfabric", "ports = 3\nfabric")
        .replace(
            "bindings = [{ port = 0, usp = \"front.usp[1]\" }, { port = 1, usp = \"front.usp[0]\" }]",
            "bindings = [{ port = 0, usp = \"front.usp[1]\" }, { port = 1, usp = \"front.usp[0]\" }, { port = 2, ld = 0, usp = \"front.usp[0]\" }, { port = 2, ld = 1, usp = \"front.usp[1]\" }]",
        )
        .replace("[link.host]", "[component.pool]\nkind = \"cxl.memory\"\nclock = \"core\"\nsize = \"256 GiB\"\nlogical_devices = 2\n\n[link.pool]\nkind = \"cxl-256b\"\nbetween = [\"back.dsp[2]\", \"pool.cxl\"]\n\n[link.host]")
        .replace("[\"back.dsp[i]\", \"memory[i].cxl\"]", "[[\"back.dsp[0]\", \"memory[0].cxl\"], [\"back.dsp[1]\", \"memory[1].cxl\"]]")
        .replace("[settings]", "[memory_map]\na = { base = \"0x100_0000_0000\", size = \"16 GiB\", targets = [\"pool.ld[0]\", \"memory[1]\"], granularity = \"1 KiB\" }\nb = { base = \"0x120_0000_0000\", size = \"100 GiB\", targets = [\"pool.ld[0]\"] }\nc = { base = \"0x140_0000_0000\", size = \"16 GiB\", targets = [\"memory[0]\", \"pool.ld[1]\"] }\n\n[settings]")
        .replace("accesses = 1_000 }", "accesses = 500, region_lines = 268_435_456 }")
}

#[test]
fn segment_tables_find_devices_and_logical_devices() {
    let text = segments();
    let report = sound(&text, &[], &["host[0]", "host[1]"], &["front", "back"], 500);
    let json = report.json();
    for link in ["memory[0]", "memory[1]", "pool"] {
        assert!(json["links"][link]["cxl256.m2s_req"].as_u64().is_some_and(|count| count > 100), "{link}: {json:?}");
    }
    // Host 0 works where its two windows meet, in the second of which it has one device alone.
    let set = ["component.host[0].stimulus.base=0x120_0000_0000", "component.host[0].stimulus.region_lines=1024"];
    sound(&text, &set, &["host[0]", "host[1]"], &["front", "back"], 500);
}

#[test]
fn windows_that_segments_cannot_say_are_refused() {
    let cases = [
        (
            "0x100_0000_0000",
            "0x108_0000_0000",
            "found a window at 0x10800000000 for a host with a segment table, expected a multiple of 64 GiB",
        ),
        (
            "0x120_0000_0000",
            "0x110_4000_0000",
            "found a window at 0x11040000000 for a host with a segment table, expected a multiple of 64 GiB",
        ),
        (
            "{ port = 2, ld = 1, usp = \"front.usp[1]\" }",
            "{ port = 2, ld = 1, usp = \"front.usp[0]\" }",
            "found two logical devices of one device for a host with a segment table, expected one",
        ),
    ];
    for (from, to, expected) in cases {
        let text = segments().replace(from, to);
        assert_ne!(text, segments(), "{from}");
        let found = resolved(&text).err().unwrap_or_else(|| panic!("{to}: it is taken"));
        assert!(found.contains(expected), "{expected}\n{found}");
    }
    let several = TWO.replace("port = 0, usp = \"front.usp[1]\"", "port = 0, usp = \"front.usp[0]\"");
    let several =
        several.replace("}]\n\n[component.memory]", "}, { port = 2, usp = \"front.usp[1]\" }]\n\n[component.memory]");
    let several = several
        .replace("ports = 2\n", "ports = 3\n")
        .replace("kind = \"cxl.memory\"\ncount = 2", "kind = \"cxl.memory\"\ncount = 3");
    let found = resolved(&several).err().expect("it is refused");
    assert!(found.contains("found several memories bound to the host at `front.usp[0]`"), "{found}");
    // Two logical devices of one device for one host.
    let twice = TWO
        .replace("bindings = [{ port = 0, usp = \"front.usp[1]\" }, { port = 1, usp = \"front.usp[0]\" }]", "bindings = [{ port = 0, ld = 0, usp = \"front.usp[0]\" }, { port = 0, ld = 1, usp = \"front.usp[0]\" }, { port = 1, ld = 0, usp = \"front.usp[1]\" }]")
        .replace("hosts = 2\nfabric", "hosts = 2\ndecode = \"ldst\"\nfabric")
        .replace("kind = \"cxl.memory\"\ncount = 2", "kind = \"cxl.memory\"\ncount = 2\nlogical_devices = 2")
        .replace("[settings]", "[memory_map]\na = { base = 0, size = \"4 GiB\", targets = [\"memory[0].ld[0]\", \"memory[0].ld[1]\"] }\nb = { base = \"0x100_0000_0000\", size = \"4 GiB\", targets = [\"memory[1].ld[0]\"] }\n[settings]");
    let found = resolved(&twice).err().expect("it is refused");
    assert!(found.contains("found two logical devices of one device for a host with a segment table"), "{found}");
    let shared = segments().replace("0x120_0000_0000", "0x104_0000_0000");
    let found = resolved(&shared).err().expect("it is refused");
    assert!(found.contains("found a window at 0x10400000000"), "{found}");
}
