//! The time of one access on an idle system, path by path, as the sum of its named parts, beside the windows of the literature.
//!
//! Each path is a system of its own with one access; the trace says which part each femtosecond belongs to. What parts take is known from
//! the description: stages of bridges, media, and links, of which each is measured alone, in a system without a bridge.

use scalepool::memory::backend::{DramMedia, Media, MemoryAccess, MemoryRequest, MemoryTiming};
use scalepool::memory::dram::DramConfig;
use scalepool::memory::dram::controller::DramRefresh;
use scalepool::memory::dram::preset;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::trace::diff::DiffInput;
use scalepool::trace::explain::Trees;
use scalepool::trace::hops::Hops;

const NS: u64 = 1_000_000;

/// Everything on one clock of 1 ns; GPUs ask for 64 bytes at a time, one after the other, and the memory takes `MEDIA` cycles.
const HEAD: &str = r#"format = 1
[system]
name = "path"
[clock]
core = { period = "1 ns" }
[component]
"#;

/// A GPU that asks for the first bytes of a block so many times.
fn gpu(count: usize, requests: usize, memory: u64) -> String {
    // The memory of a GPU counts flits of NVLink 5: 16 bytes at 50 GB/s, 0.32 ns.
    let memory_cycles = (memory * 25).div_ceil(8);
    let traffic = format!("pattern = \"reads\", requests = {requests}, bytes = 64, region = 256, verify = \"off\"");
    let others = if count > 1 { ", at = { 1 = { traffic = { requests = 0 } } }" } else { "" };
    format!(
        "gpu = {{ kind = \"nvlink.gpu\", count = {count}, clock = \"core\", links = 1, outstanding = 1, memory_cycles = {memory_cycles}, traffic = {{ {traffic} }}{others} }}\n"
    )
}

/// Latencies of one path, as the description has them \[cycles of 1 ns\].
#[derive(Debug, Clone, Copy)]
struct Parts {
    media: u64,
    /// Deframe, lookup, convert, frame, response.
    stages: [u64; 5],
    /// A line of the conversion cache.
    cache: u64,
}

const PARTS: Parts = Parts { media: 80, stages: [5, 3, 8, 4, 5], cache: 40 };

impl Parts {
    fn stages(&self) -> String {
        let [deframe, lookup, convert, frame, response] = self.stages;
        format!(
            "stages = {{ deframe_cycles = {deframe}, lookup_cycles = {lookup}, convert_cycles = {convert}, frame_cycles = {frame}, response_cycles = {response} }}"
        )
    }

    /// From the port in of a request to the port out of its message, and the same of the answer.
    fn passed(&self) -> u64 {
        let [deframe, lookup, convert, frame, response] = self.stages;
        (deframe + lookup + convert + frame) + (deframe + response + frame)
    }

    /// The same of a line that the cache has.
    fn found(&self) -> u64 {
        let [deframe, lookup, _, frame, response] = self.stages;
        deframe + lookup + self.cache + response + frame
    }

    fn peers(&self) -> String {
        let gpus = gpu(2, 1, self.media);
        format!("{HEAD}{gpus}[link]\nx = {{ kind = \"nvlink\", between = [\"gpu[0].link[0]\", \"gpu[1].link[0]\"] }}\n")
    }

    fn tier_2(&self, requests: usize, cache: bool) -> String {
        let (gpus, stages, media) = (gpu(1, requests, 1), self.stages(), self.media);
        let cache = match cache {
            true => format!(", cache = {{ capacity = \"64 KiB\", latency_cycles = {} }}", self.cache),
            false => String::new(),
        };
        format!(
            "{HEAD}{gpus}bridge = {{ kind = \"bridge.nvlink\", clock = \"core\", windows = [{{ base = 0, size = \"1 GiB\" }}], {stages}{cache} }}\n\
            node = {{ kind = \"memory.node\", clock = \"core\", size = \"1 GiB\", ports = 1, latency_cycles = {media} }}\n\
            [link]\nx = {{ kind = \"nvlink\", between = [\"gpu[0].link[0]\", \"bridge.x[0]\"] }}\n\
            c = {{ kind = \"cxl-256b-pbr\", between = [\"bridge.cxl[0]\", \"node.cxl[0]\"] }}\n"
        )
    }

    /// An accelerator on UALink that reads or writes the same line of tier 2 so many times.
    fn of_ualink(&self, mix: &str, operations: usize, cache: bool) -> String {
        let (stages, media) = (self.stages(), self.media);
        let cache = match cache {
            true => format!(", cache = {{ capacity = \"64 KiB\", latency_cycles = {} }}", self.cache),
            false => String::new(),
        };
        let traffic =
            format!("operations = {operations}, mix = \"{mix}\", bytes = 64, blocks = 1, interval_cycles = 10000");
        format!(
            "{HEAD}accel = {{ kind = \"ualink.accelerator\", clock = \"core\", outstanding = 1, traffic = {{ {traffic} }} }}\n\
            bridge = {{ kind = \"bridge.ualink\", clock = \"core\", windows = [{{ base = 0, size = \"1 GiB\" }}], {stages}{cache} }}\n\
            node = {{ kind = \"memory.node\", clock = \"core\", size = \"1 GiB\", ports = 1, latency_cycles = {media} }}\n\
            [link]\nx = {{ kind = \"ualink\", between = [\"accel.port[0]\", \"bridge.x[0]\"] }}\n\
            c = {{ kind = \"cxl-256b-pbr\", between = [\"bridge.cxl[0]\", \"node.cxl[0]\"] }}\n"
        )
    }

    fn out_of_cxl(&self) -> String {
        let (gpus, stages) = (gpu(1, 0, self.media), self.stages());
        format!(
            "{HEAD}{gpus}bridge = {{ kind = \"bridge.nvlink\", clock = \"core\", cxl_ports = 0, target_ports = 1, inbound = [{{ base = 0, size = \"1 GiB\" }}], {stages} }}\n\
            host = {{ kind = \"cxl.host\", clock = \"core\", stimulus = {{ accesses = 1, region_lines = 1 }} }}\n\
            [link]\nx = {{ kind = \"nvlink\", between = [\"gpu[0].link[0]\", \"bridge.x[0]\"] }}\n\
            c = {{ kind = \"cxl-256b\", between = [\"host.cxl\", \"bridge.target[0]\"] }}\n"
        )
    }
}

/// The time of a load of a host whose line lies in the memory of a GPU that a bridge keeps coherent, with stages of these cycles, the
/// directory among them, and nobody else who holds it \[fs\].
fn exported(parts: Parts, directory: u64) -> u128 {
    let (gpus, stages) = (gpu(1, 0, parts.media), parts.stages());
    let text = format!(
        "{HEAD}{gpus}bridge = {{ kind = \"bridge.nvlink\", clock = \"core\", cxl_ports = 0, home_ports = 1, home = {{ directory_cycles = {directory} }}, inbound = [{{ base = 0, size = \"1 GiB\", class = \"DB\" }}], {stages} }}\n\
        host = {{ kind = \"cxl.hdm-db-host\", clock = \"core\", core = {{ accesses = 1, lines = 1 }} }}\n\
        [link]\nx = {{ kind = \"nvlink\", between = [\"gpu[0].link[0]\", \"bridge.x[0]\"] }}\n\
        c = {{ kind = \"cxl-256b\", between = [\"host.port[0]\", \"bridge.home[0]\"] }}\n"
    );
    total(&text)
}

/// The time of the only access of a system \[fs\].
fn total(text: &str) -> u128 {
    let (trees, roots) = traced(text);
    let (_, id, _) = roots[0];
    Hops::of(&trees, id).expect("it is there").total_fs
}

/// Where the time of an access went \[fs\].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Spent {
    /// Everything.
    total: u128,
    /// Stages of the bridge, those behind its answers included.
    bridge: u128,
    /// Media, those of the conversion cache included.
    media: u128,
    /// The rest, which is the ways of messages.
    links: u128,
}

/// The trees of a run of a description, and their roots that have ended: when they began, their ids, their times.
fn traced(text: &str) -> (Trees, Vec<(u64, u64, u64)>) {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let request = ScenarioRequest {
        description: Some(text.to_owned()),
        seed: 1,
        threads: 1,
        outputs,
        ..ScenarioRequest::default()
    };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(report.violations, []);
    let reader = std::io::BufReader::new(std::fs::File::open(trace).expect("a trace"));
    let trees = Trees::read(DiffInput { name: "t.jsonl".to_owned(), reader }).expect("it is read");
    let mut roots: Vec<_> = trees.ended_roots().map(|(id, root)| (root.begin_fs, id, root.time_fs())).collect();
    roots.sort_unstable();
    (trees, roots)
}

/// The time of the access of that number, of those in a description.
fn spent(text: &str, number: usize) -> Spent {
    let (trees, roots) = traced(text);
    let (_, id, time) = roots[number];
    let hops = Hops::of(&trees, id).expect("it is there");
    let waited = |reason| hops.hops.values().filter_map(|hop| hop.waits_fs.get(reason)).sum::<u128>();
    let (bridge, media) = (waited("wait_stage"), waited("wait_media"));
    let served: u128 = hops.hops.values().map(|hop| hop.service_fs).sum();
    assert_eq!(hops.total_fs, u128::from(time), "hops are all of it");
    assert_eq!(bridge + media + served, hops.total_fs, "an access alone waits for nothing else: {hops:?}");
    Spent { total: hops.total_fs, bridge, media, links: served }
}

fn ns(cycles: u64) -> u128 {
    u128::from(cycles * NS)
}

/// Time that a path takes more when a part of it takes so many cycles more.
fn more(path: impl Fn(Parts) -> Spent, change: impl Fn(&mut Parts)) -> u128 {
    let mut other = PARTS;
    change(&mut other);
    path(other).total - path(PARTS).total
}

/// Of a line of HBM3-6400 alone behind its controller: front, activate, read, two bursts, back.
fn local_hbm() -> (u64, u64) {
    let hbm = preset::find("hbm3_6400").expect("a preset");
    let config = DramConfig { refresh: DramRefresh::Off, ..DramConfig::new(hbm) };
    let media = DramMedia::new(config, (1, 1), false).expect("a legal memory");
    let mut memory = MemoryTiming { media: Media::Dram(Box::new(media)), ..MemoryTiming::fixed(0) }.build();
    let read = MemoryRequest { address: 0, bytes: 64, access: MemoryAccess::Read };
    memory.push(0, &read, ()).expect("room");
    let mut now = 0;
    while memory.pop(now).is_none() {
        now = memory.wake_at(now).expect("it goes on");
        memory.advance(now);
    }
    // 10 ns each way, RCD 31, CL 20, CCD_L 4, BL 2 at 0.625 ns (memory §2.2, §4).
    (now, 20 * NS + (31 + 20 + 4 + 2) * 625_000)
}

/// Every path class: the access takes its parts, exactly, and each part counts as often as it is passed.
#[test]
fn brg_lat_05_p() {
    let (found, expected) = local_hbm();
    assert_eq!(found, expected, "local HBM");
    let peer = spent(&PARTS.peers(), 0);
    let tier_2 = spent(&PARTS.tier_2(1, false), 0);
    let miss = spent(&PARTS.tier_2(2, true), 0);
    let hit = spent(&PARTS.tier_2(2, true), 1);
    let cxl_peer = spent(&PARTS.out_of_cxl(), 0);
    let [ualink_read, ualink_write] = ["reads", "writes"].map(|mix| spent(&PARTS.of_ualink(mix, 1, false), 0));
    let [ualink_miss, ualink_hit] = [0, 1].map(|n| spent(&PARTS.of_ualink("reads", 2, true), n));
    let table = [
        ("local HBM", "", u128::from(found), [0, u128::from(found), 0]),
        ("XLink peer", "NVLink < 500", peer.total, [peer.bridge, peer.media, peer.links]),
        ("CXL peer", "UALink < 1000", cxl_peer.total, [cxl_peer.bridge, cxl_peer.media, cxl_peer.links]),
        ("tier 2", "CXL 100 to 250", tier_2.total, [tier_2.bridge, tier_2.media, tier_2.links]),
        ("bridge hit", "", hit.total, [hit.bridge, hit.media, hit.links]),
        ("bridge miss", "CXL 100 to 250", miss.total, [miss.bridge, miss.media, miss.links]),
        ("UALink read", "UALink < 1000", ualink_read.total, [ualink_read.bridge, ualink_read.media, ualink_read.links]),
        (
            "UALink write",
            "UALink < 1000",
            ualink_write.total,
            [ualink_write.bridge, ualink_write.media, ualink_write.links],
        ),
        ("UALink miss", "UALink < 1000", ualink_miss.total, [ualink_miss.bridge, ualink_miss.media, ualink_miss.links]),
        ("UALink hit", "UALink < 1000", ualink_hit.total, [ualink_hit.bridge, ualink_hit.media, ualink_hit.links]),
    ];
    println!("path         total    bridge   media    links [ns]; published window");
    for (path, window, total, [bridge, media, links]) in table {
        assert_eq!(bridge + media + links, total, "{path}");
        let [total, bridge, media, links] = [total, bridge, media, links].map(|fs| fs as f64 / NS as f64);
        println!("{path:12} {total:8.2} {bridge:8.2} {media:8.2} {links:8.2} {window}");
    }
    for path in [&tier_2, &miss, &cxl_peer, &ualink_read, &ualink_write, &ualink_miss] {
        assert_eq!((path.bridge, path.media), (ns(PARTS.passed()), ns(PARTS.media)), "{path:?}");
    }
    assert_eq!((peer.bridge, peer.media), (0, ns(PARTS.media)), "{peer:?}");
    for hit in [&hit, &ualink_hit] {
        assert_eq!((hit.bridge, hit.media), (ns(PARTS.found() - PARTS.cache), ns(PARTS.cache)), "{hit:?}");
    }
    assert_eq!(ualink_read.links, ualink_write.links, "each has one line one way");
    // Periods of both links, 2 ns and 0.32 ns, divide 80 ns, so a part that grows by that moves nothing against their clocks.
    let by = 80;
    let grown: [fn(&mut Parts); 6] = [
        |p| p.stages[0] += 80,
        |p| p.stages[1] += 80,
        |p| p.stages[2] += 80,
        |p| p.stages[3] += 80,
        |p| p.stages[4] += 80,
        |p| p.media += 80,
    ];
    let uses = |path: &dyn Fn(Parts) -> Spent| grown.map(|change| more(path, change) / ns(by));
    assert_eq!(uses(&|p| spent(&p.peers(), 0)), [0, 0, 0, 0, 0, 1], "XLink peer");
    assert_eq!(uses(&|p| spent(&p.tier_2(1, false), 0)), [2, 1, 1, 2, 1, 1], "tier 2");
    // On UALink what is late goes with the next flit, some nanoseconds later at most.
    for mix in ["reads", "writes"] {
        assert_eq!(uses(&|p| spent(&p.of_ualink(mix, 1, false), 0)), [2, 1, 1, 2, 1, 1], "UALink {mix}");
    }
    assert_eq!(uses(&|p| spent(&p.tier_2(2, true), 1)), [1, 1, 0, 1, 1, 0], "bridge hit");
    assert_eq!(uses(&|p| spent(&p.tier_2(2, true), 0)), [2, 1, 1, 2, 1, 1], "bridge miss");
    assert_eq!(uses(&|p| spent(&p.out_of_cxl(), 0)), [2, 1, 1, 2, 1, 1], "CXL peer");
    assert_eq!(more(|p| spent(&p.tier_2(2, true), 1), |p| p.cache += by), ns(by), "a hit reads the cache once");
    assert_eq!(PARTS.passed(), 34, "bridge §11");
}

/// A read of exported memory passes the stages of both ways and the directory, which are 37 ns, its accelerator and its links
/// (`bridge` §11).
#[test]
fn a_read_of_exported_memory_takes_the_sum_of_its_parts() {
    let own = exported(PARTS, 3);
    let by = 80;
    let uses = |change: fn(&mut Parts)| {
        let mut other = PARTS;
        change(&mut other);
        ((exported(other, 3) - own) / ns(by)) as u64
    };
    let stages: [fn(&mut Parts); 5] = [
        |p| p.stages[0] += 80,
        |p| p.stages[1] += 80,
        |p| p.stages[2] += 80,
        |p| p.stages[3] += 80,
        |p| p.stages[4] += 80,
    ];
    let used = stages.map(uses);
    assert_eq!((used, uses(|p| p.media += 80)), ([2, 1, 1, 2, 1], 1));
    assert_eq!(exported(PARTS, 3 + by) - own, ns(by));
    let sum: u64 = used.iter().zip(PARTS.stages).map(|(times, cycles)| times * cycles).sum();
    assert_eq!(sum + 3, 37);
}

/// A part that is left out, or counted twice, is seen.
#[test]
fn brg_lat_05_n() {
    let path = spent(&PARTS.tier_2(1, false), 0);
    for wrong in [PARTS.media - 1, 2 * PARTS.media] {
        assert_ne!(path.media, ns(wrong));
    }
    let slower = Parts { media: PARTS.media + 1, ..PARTS };
    assert_eq!(spent(&slower.tier_2(1, false), 0).media, path.media + ns(1));
}
