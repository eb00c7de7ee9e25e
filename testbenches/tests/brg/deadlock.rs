//! Who may wait for whom at a bridge (`bridge` §10): the table of the sheet against what the kinds of components say, and circles that a
//! wait too many would close.
//!
//! Modelled here, independently of the graph of channels: the classes of the sheet with what each may wait for, those of CXL.io among them.

use super::supercluster::{self, sound};
use super::systems::resolves;
use scalepool::coherence::message::Class;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::channels::forbidden::why_not;
use scalepool::system::channels::{ChannelGraph, ChannelWait, Reach};
use scalepool::system::design::System;
use scalepool::system::kind::{Component, ComponentNode, NodeError, PortDecl, Site};
use scalepool::trace::Hub;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The table of §10: class, what it may wait for, level. ACT is a request with an entry of the table.
static TABLE: [(&str, &[&str], usize); 18] = [
    ("XQ0", &["XQ1", "ACT"], 8),
    ("XQ1", &["ACT"], 7),
    ("ACT", &["dQ", "mQ", "bS", "mW", "ioN", "ioP", "XO", "ioC", "mR", "bR", "dR", "hG", "XI", "XR"], 6),
    ("dQ", &["mQ", "bS", "mW", "hS", "mR", "bR", "dR", "hG"], 5),
    ("mQ", &["bS", "XO", "mR", "XI", "dR"], 4),
    ("ioN", &["ioP", "ioC", "XO", "XI"], 4),
    ("bS", &["mW", "hS", "bR", "mR", "hG"], 3),
    ("ioC", &["ioP"], 3),
    ("mW", &["XO", "mR", "XI", "dR"], 2),
    ("ioP", &["XO", "XI"], 2),
    ("hS", &["dR", "mR"], 1),
    ("XO", &["XI"], 1),
    ("mR", &[], 0),
    ("bR", &[], 0),
    ("dR", &[], 0),
    ("hG", &[], 0),
    ("XI", &[], 0),
    ("XR", &[], 0),
];

/// What a class waits for, at once or by way of others.
fn below(class: &str) -> BTreeSet<&'static str> {
    let row = TABLE.iter().find(|(name, ..)| *name == class).unwrap_or_else(|| panic!("no class {class}"));
    row.1.iter().flat_map(|next| below(next).into_iter().chain([*next])).collect()
}

/// Length of the longest way down.
fn longest(class: &str) -> usize {
    let row = TABLE.iter().find(|(name, ..)| *name == class).unwrap_or_else(|| panic!("no class {class}"));
    row.1.iter().map(|next| longest(next) + 1).max().unwrap_or(0)
}

/// The class of the sheet of messages that come to a bridge, or that leave it.
fn sheet_class(name: &str, is_incoming: bool) -> &'static str {
    match (name, is_incoming) {
        ("request", true) => "XQ0",
        ("posted request", true) => "XQ1",
        ("request" | "posted request", false) => "XO",
        ("response", true) => "XI",
        ("response", false) => "XR",
        ("posted", _) => "ioP",
        ("non-posted", _) => "ioN",
        ("completion", _) => "ioC",
        ("M2S Req", _) => "mQ",
        ("M2S RwD", _) => "mW",
        ("S2M BISnp", _) => "bS",
        ("S2M NDR" | "S2M DRS", _) => "mR",
        ("M2S BIRsp", _) => "bR",
        ("D2H Req", _) => "dQ",
        ("D2H Rsp" | "D2H Data", _) => "dR",
        ("H2D Req", _) => "hS",
        ("H2D Rsp" | "H2D Data", _) => "hG",
        other => panic!("no class of the sheet: {other:?}"),
    }
}

/// Waits of a bridge that the table does not have.
fn unlisted(waits: &[ChannelWait]) -> Vec<String> {
    let is_listed =
        |wait: &&ChannelWait| below(sheet_class(wait.incoming, true)).contains(sheet_class(wait.outgoing, false));
    let shown = |wait: &ChannelWait| format!("{} -> {}", wait.incoming, wait.outgoing);
    waits.iter().filter(|wait| !is_listed(wait)).map(shown).collect()
}

/// A bridge that is a caching device of a host.
const HOST_LINES: &str = include_str!("../../systems/host_lines.toml");

/// Bridges that keep lines of their accelerators coherent, for hosts, another bridge, and by the hairpin.
const HOMES: [&str; 3] = [
    include_str!("../../systems/exported_hbm.toml"),
    include_str!("../../systems/hairpin.toml"),
    include_str!("../../systems/handover.toml"),
];

/// Devices of CXL.io behind a switch, in which completions stay behind posted requests.
const IO_SWITCH: &str = include_str!("../../systems/io_switch.toml");

/// Systems with bridges.
fn systems() -> Vec<String> {
    let mut texts = vec![supercluster::pressed()];
    texts.extend(
        [
            include_str!("../../../src/system/builtin/bridge-ualink.toml"),
            include_str!("../../../src/system/builtin/supercluster-small.toml"),
            include_str!("../../systems/coherent_bridge.toml"),
            include_str!("../../systems/epochs.toml"),
            HOST_LINES,
            include_str!("../../../src/system/builtin/supercluster-rack.toml"),
            include_str!("../../systems/supercluster_untiered.toml"),
            include_str!("../../systems/tiers.toml"),
        ]
        .map(str::to_owned),
    );
    texts
}

/// A component with its ports and other waits.
struct Seeded(Vec<PortDecl>, Vec<ChannelWait>);

impl Component for Seeded {
    fn ports(&self) -> Vec<PortDecl> {
        self.0.clone()
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(self.1.clone())
    }

    fn elaborate(self: Box<Self>, _: &Site<'_>, _: &mut Hub) -> Result<ComponentNode, NodeError> {
        unreachable!("it is not built")
    }
}

fn wait(incoming: &'static str, outgoing: &'static str, why: &'static str) -> ChannelWait {
    ChannelWait { incoming, outgoing, reach: Reach::AnyPort, queue: None, why }
}

/// A system with these waits beside those that its components have; each is of the components whose paths begin so.
fn seeded(text: &str, seeds: &[(&str, ChannelWait)]) -> System {
    let mut system = resolves(text).unwrap_or_else(|e| panic!("{e}"));
    for component in &mut system.components {
        let mine = seeds.iter().filter(|(prefix, _)| component.path.starts_with(prefix)).map(|(_, wait)| wait.clone());
        let mine: Vec<_> = mine.collect();
        if !mine.is_empty() {
            let waits = component.config.waits().expect("it says").into_iter().chain(mine).collect();
            component.config = Box::new(Seeded(component.config.ports(), waits));
        }
    }
    system
}

/// The circles of a system with these waits besides.
fn circles(text: &str, seeds: &[(&str, ChannelWait)]) -> Vec<String> {
    let system = seeded(text, seeds);
    ChannelGraph::of(&system).problems(&system).lines()
}

/// Every edge falls, the levels are the longest ways down, what bridges say is in the table, and with everything around them there is no
/// circle.
#[test]
fn brg_dlk_01_p() {
    for (class, next, level) in TABLE {
        assert_eq!(longest(class), level, "{class}");
        assert!(next.iter().all(|next| longest(next) < level), "{class}");
    }
    let mut bridges = 0;
    // Bridges that ask by CXL.io alone, and that are asked by it.
    let of_io = [include_str!("../../systems/bridge_io.toml"), include_str!("../../systems/bar_memory.toml")];
    for text in systems().into_iter().chain(of_io.into_iter().chain(HOMES).map(str::to_owned)) {
        let system = resolves(&text).unwrap_or_else(|e| panic!("{e}"));
        for component in system.components.iter().filter(|component| component.path.contains("bridge")) {
            let waits = component.config.waits().expect("it says");
            assert!(waits.len() >= 3, "{}", component.path);
            assert_eq!(unlisted(&waits), [""; 0], "{}", component.path);
            bridges += 1;
        }
        assert_eq!(ChannelGraph::of(&system).problems(&system).lines(), [""; 0]);
    }
    assert!(bridges > 20);
}

/// A role, the system with it, the bridge there, and pairs of classes.
type RoleOfBridge = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Roles of a bridge, a system with each, the bridge there, and all waits of §10 that the bridge has in it: those of its ports, without those
/// for what always has space (XI, and mR, dR, hG of its own requests) and those inside an entry (XQ0 for XQ1 of a FLUSH).
static ROLES: [RoleOfBridge; 8] = [
    ("P", include_str!("../../../src/system/builtin/bridge-ualink.toml"), "bridge", PLAIN),
    ("P, coherent", include_str!("../../systems/coherent_bridge.toml"), "bridge", PLAIN),
    ("H", HOST_LINES, "bridge", &[("XQ0", "XR"), ("XQ0", "dQ"), ("XQ0", "dR"), ("hS", "dR")]),
    (
        "I, requester",
        include_str!("../../systems/bridge_io.toml"),
        "bridge",
        &[("XQ0", "XR"), ("XQ0", "ioN"), ("XQ0", "ioP")],
    ),
    (
        "I, completer",
        include_str!("../../systems/bar_memory.toml"),
        "bridge",
        &[("XQ0", "XR"), ("ioN", "XO"), ("ioN", "ioC"), ("ioP", "XO")],
    ),
    (
        "T without coherence, P",
        include_str!("../../../src/system/builtin/supercluster-small.toml"),
        "ubridge",
        &[
            ("XQ0", "XR"),
            ("XQ0", "mQ"),
            ("XQ0", "mW"),
            ("bS", "bR"),
            ("bS", "mW"),
            ("mQ", "XO"),
            ("mQ", "mR"),
            ("mW", "XO"),
            ("mW", "mR"),
        ],
    ),
    (
        "T with coherence, P",
        HOMES[0],
        "ubridge",
        &[
            ("XQ0", "XR"),
            ("XQ0", "mQ"),
            ("XQ0", "mW"),
            ("bS", "bR"),
            ("bS", "mW"),
            ("mQ", "XO"),
            ("mQ", "bS"),
            ("mQ", "mR"),
            ("mW", "XO"),
            ("mW", "mR"),
        ],
    ),
    (
        "P of NVLink, coherent",
        HOMES[0],
        "nbridge",
        &[("XQ0", "XR"), ("XQ0", "mQ"), ("XQ0", "mW"), ("XQ1", "mQ"), ("XQ1", "mW"), ("bS", "bR"), ("bS", "mW")],
    ),
];

/// Waits of a bridge that asks memory on CXL.
const PLAIN: &[(&str, &str)] = &[("XQ0", "XR"), ("XQ0", "mQ"), ("XQ0", "mW"), ("bS", "bR"), ("bS", "mW")];

/// What a bridge declares in each of its roles is what the table has for it, no less and no more.
#[test]
fn each_role_declares_its_part_of_the_table() {
    for (role, text, path, expected) in ROLES {
        let system = resolves(text).unwrap_or_else(|e| panic!("{e}"));
        let bridge = system.components.iter().find(|component| component.path == path).expect("a bridge");
        let waits = bridge.config.waits().expect("it says");
        let declared: BTreeSet<_> =
            waits.iter().map(|wait| (sheet_class(wait.incoming, true), sheet_class(wait.outgoing, false))).collect();
        assert_eq!(declared.into_iter().collect::<Vec<_>>(), expected, "{role}");
        // The table says it at once, or by way of ACT.
        for (from, to) in expected {
            let row = TABLE.iter().find(|(name, ..)| name == from).expect("a class").1;
            let of_act = row.contains(&"ACT") && TABLE[2].1.contains(to);
            assert!(row.contains(to) || of_act, "{role}: {from} -> {to}");
        }
    }
}

/// A wait to the same level or a higher one, beside those that a bridge says itself, is found, and nothing that the bridge says.
#[test]
fn brg_dlk_01_n() {
    let incoming = ["request", "posted request", "response", "M2S Req", "M2S RwD", "S2M BISnp", "S2M NDR", "S2M DRS"];
    let outgoing = ["request", "response", "M2S Req", "M2S RwD", "S2M BISnp", "S2M NDR", "M2S BIRsp"];
    let system = resolves(&supercluster::pressed()).unwrap_or_else(|e| panic!("{e}"));
    let mut found = 0;
    for component in system.components.iter().filter(|component| component.path.contains("bridge")) {
        let declared = component.config.waits().expect("it says");
        for from in incoming {
            for to in outgoing {
                if longest(sheet_class(from, true)) <= longest(sheet_class(to, false)) {
                    let waits: Vec<_> = declared.iter().cloned().chain([wait(from, to, "is wrong")]).collect();
                    assert_eq!(unlisted(&waits), [format!("{from} -> {to}")], "{}", component.path);
                    found += 1;
                }
            }
        }
    }
    assert!(found > 40, "{found}");
}

/// Waits of §10 that the check has to refuse, of those whose classes are built: edge, components, waits.
fn forbidden() -> Vec<(&'static str, Vec<(&'static str, ChannelWait)>)> {
    let of_both = |from, to, why| vec![("ubridge", wait(from, to, why)), ("nbridge", wait(from, to, why))];
    vec![
        ("XO -> XQ0", vec![("accel", wait("request", "request", "sends its own requests first"))]),
        ("mW -> bS", vec![("shared", wait("M2S RwD", "S2M BISnp", "snoops before it writes"))]),
        ("XI -> ACT", of_both("response", "M2S Req", "takes answers when its requests have left")),
        ("mR -> mW", vec![("ubridge", wait("S2M NDR", "M2S RwD", "has one queue for both"))]),
        ("bS -> mQ", vec![("ubridge", wait("S2M BISnp", "M2S Req", "answers snoops behind its requests"))]),
    ]
}

#[test]
fn brg_dlk_02_p() {
    assert_eq!(circles(&supercluster::pressed(), &[]), [""; 0]);
}

/// Each is refused, and the circle that is told has it.
#[test]
fn brg_dlk_02_n() {
    let of_pressed = forbidden().into_iter().map(|(edge, seeds)| (edge, supercluster::pressed(), seeds));
    let of_others = [
        // Beside what the table allows: a completion waits for posted requests.
        (
            "ioP -> ioC",
            IO_SWITCH,
            vec![
                ("switch", wait("posted", "completion", "answers behind what it has taken")),
                ("device", wait("completion", "posted", "takes completions behind what it sends")),
            ],
        ),
        // No circle, but CXL.io may stand still for as long as software likes: the extra rule of §10.
        (
            "mW -> ioN",
            include_str!("../../systems/bridge_io.toml"),
            vec![("bridge", wait("M2S RwD", "non-posted", "asks a device before it writes"))],
        ),
        ("hS -> dQ", HOST_LINES, vec![("device", wait("H2D Req", "D2H Req", "answers snoops behind its requests"))]),
    ];
    for (edge, text, seeds) in of_pressed.chain(of_others.map(|(edge, text, seeds)| (edge, text.to_owned(), seeds))) {
        let told = circles(&text, &seeds).join("\n");
        let is_alone = edge == "mW -> ioN";
        assert_eq!(told.contains("found channels that wait for each other in a circle"), !is_alone, "{edge}: {told}");
        assert!(!is_alone || told.contains("no class of CXL.mem or CXL.cache waits for CXL.io"), "{edge}: {told}");
        assert!(told.contains(seeds[0].1.why), "{edge}: {told}");
    }
}

/// With the fewest entries, buffers and ways everything ends, on all sides, with every byte right.
#[test]
fn brg_dlk_03_p() {
    let least = ["ubridge.entries=32", "nbridge.entries=32", "ubridge.inbound_entries=1", "nbridge.inbound_entries=1"];
    let text = supercluster::pressed()
        .replace("kind = \"bridge.ualink\"", "kind = \"bridge.ualink\"\nwrite_buffers = 4")
        .replace("kind = \"bridge.nvlink\"", "kind = \"bridge.nvlink\"\nwrite_buffers = 4")
        .replace("kind = \"memory.node\", clock", "kind = \"memory.node\", queue = 1, clock")
        .replace("capacity = \"1 KiB\", ways = 2", "capacity = \"256 B\", ways = 1");
    let short = ["traffic.operations=40", "gpu.requests=30", "host.accesses=40"];
    sound(&text, &[&least[..], &short].concat());
}

/// What would let go of each obligation closes a circle, which names it: (a) space for answers before the request leaves, (b) a queue of its
/// own for what accelerators are asked, (c) accelerators that serve others before themselves, on both networks, (d) snoops that need room
/// for their answer alone, (f) posted requests that do not wait for others.
#[test]
fn brg_dlk_03_n() {
    let unreserved = || ("ubridge", wait("S2M DRS", "response", "keeps no space for answers"));
    let stubborn = || ("accel", wait("response", "request", "sends its requests first"));
    let shared = |bridge| (bridge, wait("M2S Req", "M2S Req", "has one queue for both directions"));
    let served = |node| (node, wait("request", "request", "serves others last"));
    let behind = ("ubridge", wait("S2M BISnp", "M2S Req", "looks at snoops behind requests"));
    let posted = ("nbridge", wait("posted request", "request", "takes posted requests behind others"));
    let unposted = ("gpu", wait("request", "posted request", "sends its posted requests first"));
    for (obligation, seeds) in [
        ("a", vec![unreserved(), stubborn()]),
        ("b", vec![shared("ubridge"), shared("nbridge")]),
        ("c", vec![served("accel")]),
        ("c", vec![served("gpu")]),
        ("d", vec![behind]),
        ("f", vec![posted, unposted]),
    ] {
        let told = circles(&supercluster::pressed(), &seeds).join("\n");
        assert!(told.contains("in a circle") && told.contains(seeds[0].1.why), "{obligation}: {told}");
    }
    // Alone it is no circle: accelerators take answers, whatever else they do.
    assert_eq!(circles(&supercluster::pressed(), &[unreserved()]), [""; 0]);
}

/// Classes of channels that messages of one class may come to wait for, at once or by way of others.
fn reached(system: &System, from: &str) -> BTreeSet<String> {
    let graph = ChannelGraph::of(system).json(system);
    let channels = graph["channels"].as_array().expect("channels");
    let class = |n: usize| channels[n]["class"].as_str().expect("a class");
    let number = |value: &Value| value.as_u64().expect("a number") as usize;
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for edge in graph["edges"].as_array().expect("edges") {
        next.entry(number(&edge[0])).or_default().push(number(&edge[1]));
    }
    let mut open: Vec<usize> = (0..channels.len()).filter(|n| class(*n) == from).collect();
    assert!(!open.is_empty(), "no {from}");
    let mut seen = BTreeSet::new();
    while let Some(channel) = open.pop() {
        let new = next.get(&channel).into_iter().flatten().copied().filter(|channel| seen.insert(*channel));
        open.extend(new);
    }
    seen.into_iter().map(|channel| class(channel).to_owned()).collect()
}

/// Whatever a write to memory waits for, over all components: never a snoop, never a request of memory.
fn write_waits_for(system: &System) -> Vec<String> {
    let above = ["S2M BISnp", "M2S Req"];
    reached(system, "M2S RwD").into_iter().filter(|class| above.contains(&class.as_str())).collect()
}

#[test]
fn brg_dlk_04_p() {
    for text in systems() {
        let system = resolves(&text).unwrap_or_else(|e| panic!("{e}"));
        if text == HOST_LINES {
            // Nothing of CXL.mem is there; a snoop of the host waits for no request.
            let of_snoops = reached(&system, "H2D Req");
            assert!(of_snoops.contains("D2H Rsp") && !of_snoops.contains("D2H Req"), "{of_snoops:?}");
            continue;
        }
        assert_eq!(write_waits_for(&system), [""; 0], "{}", &text[..100]);
    }
    // Where there are snoops, they wait for writes: the way round.
    let system = resolves(&supercluster::pressed()).expect("a system");
    assert!(reached(&system, "S2M BISnp").contains("M2S RwD"));
}

/// A device that says that it snoops before it takes a write, and a bridge that says that answers wait for its requests: judged as those that say
/// neither. The second is a circle only with more of its kind, so this is what finds it.
#[test]
fn brg_dlk_04_n() {
    let text = supercluster::pressed();
    let snoops = ("shared", wait("M2S RwD", "S2M BISnp", "snoops before it writes"));
    assert!(write_waits_for(&seeded(&text, &[snoops])).contains(&"S2M BISnp".to_owned()));
    let answers = ("nbridge", wait("response", "M2S Req", "takes answers when its requests have left"));
    assert!(write_waits_for(&seeded(&text, &[answers])).contains(&"M2S Req".to_owned()));
}

/// Waits that the trace of a run shows at bridges, class by class, each with what is wrong with it, if the table does not have it.
///
/// What stands in front of an input is XQ0 there: the table lets a posted request, XQ1, wait for less, and nobody here posts. What has begun
/// in a bridge is ACT, at its targets mQ. Own time of a stage or a memory is no wait for anybody.
fn observed(trace: &str) -> BTreeMap<(&'static str, &'static str), Vec<String>> {
    let mut begun: BTreeMap<u64, (usize, String)> = BTreeMap::new();
    let mut seen: BTreeMap<(&'static str, &'static str), Vec<String>> = BTreeMap::new();
    let is_told = |line: &str| line.contains(r#""kind":"begin""#) || line.contains(r#""name":"wait_"#);
    let of_bridges = |(_, line): &(usize, &str)| line.contains("bridge") && is_told(line);
    for (n, line) in trace.lines().enumerate().filter(of_bridges) {
        let record: Value = serde_json::from_str(line).expect("a record");
        let (id, place) = (record["id"].as_u64().unwrap_or(0), record["where"].as_str().unwrap_or_default());
        if record["kind"] == "begin" {
            begun.insert(id, (n, place.to_owned()));
        }
        let Some(wait) = record["name"].as_str().and_then(|name| name.strip_prefix("wait_")) else { continue };
        let is_bridge = ["ubridge", "nbridge"].contains(&place.trim_end_matches(".inbound"));
        if !is_bridge || record["kind"] != "mark" {
            continue;
        }
        let began = begun.get(&id).filter(|(_, of)| of == place);
        let own = match (place.ends_with(".inbound"), began) {
            (true, _) => "mQ",
            (false, Some(_)) => "ACT",
            (false, None) => "XQ0",
        };
        let awaited = match (wait, own) {
            ("stage" | "media" | "over", _) => continue,
            ("order" | "line", own) => own,
            ("room" | "epoch", "XQ0") => "ACT",
            ("room", _) => "mW",
            ("link" | "throttle" | "credit", "mQ") => "XO",
            ("link" | "throttle" | "credit", _) => "mQ",
            (other, _) => panic!("a wait for {other} of {own} at {place}"),
        };
        let holder = record["holder"].as_u64().and_then(|holder| begun.get(&holder));
        let is_listed = match own == awaited {
            true => holder.zip(began).is_none_or(|((holder, _), (own, _))| holder < own),
            false => TABLE.iter().any(|(class, next, _)| *class == own && next.contains(&awaited)),
        };
        let wrong = seen.entry((own, awaited)).or_default();
        if !is_listed {
            wrong.push(format!("line {n}: {own} waits for {awaited}, {wait}"));
        }
    }
    seen
}

/// The trace of a run under pressure.
fn pressed_trace() -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let set =
        ["traffic.operations=150", "gpu.requests=150", "host.accesses=100", "ubridge.entries=32", "traffic.blocks=1"];
    let set = set.map(str::to_owned).to_vec();
    let description = Some(supercluster::pressed());
    let request = ScenarioRequest { description, outputs, set, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    std::fs::read_to_string(trace).expect("a trace")
}

/// Waits of a run under pressure are those of the table.
#[test]
fn waits_of_a_run_are_those_of_the_table() {
    let seen = observed(&pressed_trace());
    let wrong: Vec<&String> = seen.values().flatten().collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(seen.len() >= 3 && seen.contains_key(&("ACT", "ACT")), "{:?}", seen.keys());
}

/// A request that waits for one that came behind it, and one in front of an input that waits for a credit of CXL as if it had an entry.
#[test]
fn waits_that_the_table_lacks_are_seen() {
    let begin = |id: u64, place: &str| format!(r#"{{"kind":"begin","where":"{place}","id":{id},"name":"convert"}}"#);
    let mark = |id: u64, name: &str, holder: u64| {
        format!(r#"{{"kind":"mark","where":"ubridge","id":{id},"name":"{name}","holder":{holder}}}"#)
    };
    let found = |lines: &[String]| observed(&lines.join("\n")).into_values().flatten().collect::<Vec<_>>();
    let two = [begin(1, "ubridge"), begin(2, "ubridge")];
    let with = |line| [two.to_vec(), vec![line]].concat();
    assert_eq!(found(&with(mark(2, "wait_line", 1))), [""; 0]);
    assert_eq!(found(&with(mark(1, "wait_order", 2))), ["line 2: ACT waits for ACT, order"]);
    assert_eq!(found(&with(mark(9, "wait_room", 0))), [""; 0], "a request in front waits for an entry");
    assert_eq!(found(&with(mark(9, "wait_throttle", 0))), ["line 2: XQ0 waits for mQ, throttle"]);
}

/// Waits that no component may have, by the classes alone: nothing of CXL.mem and CXL.cache for CXL.io, writes and snoops for requests.
#[test]
fn pairs_are_refused_by_their_classes() {
    let names = || Class::ALL.into_iter().map(Class::name);
    for of_io in ["posted", "non-posted", "completion"] {
        assert!(names().all(|class| why_not(class, of_io).is_some()));
        // TLPs wait for TLPs, and requests of accelerators for both.
        assert!([of_io, "request", "posted request"].iter().all(|from| why_not(from, of_io).is_none()));
    }
    let refused: Vec<_> = names()
        .flat_map(|from| names().map(move |to| (from, to)))
        .filter(|(from, to)| why_not(from, to).is_some())
        .collect();
    assert_eq!(refused, [("H2D Req", "D2H Req"), ("H2D Req", "S2M BISnp"), ("M2S RwD", "S2M BISnp")]);
}
