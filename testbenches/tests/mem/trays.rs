//! Trays: JBOM and memory box, switch inside or without, buffer or none, behind a CXL link (`memory §9`).

use super::systems::{count, run_text, try_text};
use scalepool::memory::backend::{
    BufferedMedia, LineBuffer, LineBufferConfig, Media, MemoryAccess, MemoryBackend, MemoryRequest, MemoryTiming,
    ServerConfig,
};
use scalepool::memory::owner_clock::OwnerClock;
use scalepool::scenario::report::ScenarioReport;

const NS: u64 = 1_000_000;

/// A host that reads and writes a tray; `TRAY` are keys of its table.
const TEXT: &str = r#"format = 1
[system]
name = "tray"
[clock]
core = { period = "1 ns" }
[component.host]
kind = "cxl.host"
clock = "core"
stimulus = { pattern = "mix", accesses = ACCESSES, region_lines = LINES }
[component.memory]
kind = "KIND"
clock = "core"
size = "64 MiB"
TRAY
[link.cxl]
kind = "cxl-256b"
between = ["host.cxl", "memory.cxlPORT"]
"#;

fn text(kind: &str, tray: &str, (accesses, lines): (u64, u64)) -> String {
    let port = if kind == "memory.tray" { "[0]" } else { "" };
    let text = TEXT.replace("KIND", kind).replace("TRAY", tray).replace("PORT", port);
    text.replace("ACCESSES", &accesses.to_string()).replace("LINES", &lines.to_string())
}

fn tray(keys: &str) -> ScenarioReport {
    run_text(&text("memory.tray", keys, (300, 256)))
}

/// Time of one access alone \[fs\].
fn alone(kind: &str, keys: &str) -> u64 {
    let json = run_text(&text(kind, keys, (1, 1))).json();
    json["latency_fs"]["max"].as_u64().unwrap_or_else(|| panic!("{json:?}"))
}

const HBM: &str = "media = { preset = \"ddr5_4800b\", buffer = \"hbm3_6400\", buffer_size = \"64 KiB\" }";
const DRAM: &str = "media = { preset = \"ddr5_4800b\" }";

#[test]
fn mem_try_01_p() {
    for (form, media) in [("jbom", DRAM), ("box", DRAM), ("box", HBM)] {
        for switch in ["inside", "outside"] {
            let count = if form == "jbom" && switch == "outside" { 1 } else { 4 };
            let report = tray(&format!("form = \"{form}\"\nswitch = \"{switch}\"\nmedia_count = {count}\n{media}"));
            assert_eq!(report.violations, [], "{form} {switch} {media}");
        }
    }
    // Flash has a controller in each medium.
    assert_eq!(tray("media_count = 2\nswitch = \"inside\"\nmedia = { preset = \"flash_ull\" }").violations, []);
}

#[test]
fn mem_try_01_n() {
    for (keys, expected) in [
        (HBM, "a JBOM has no controller"),
        ("controller = \"10 ns\"", "expected form"),
        ("media_count = 2", "expected as many of both"),
        ("form = \"box\"\nmedia_count = 3", "a row of bytes at each medium"),
        ("form = \"box\"\ndead_medium = 1", "expected one of 1 media"),
    ] {
        let error = try_text(&text("memory.tray", keys, (1, 1))).expect_err(keys).to_string();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

/// Latency of a memory of one part that takes as long as a tray.
fn as_long(keys: &str, cycles: u64) -> (u64, u64) {
    (alone("memory.tray", keys), alone("cxl.memory", &format!("latency_cycles = {cycles}")))
}

#[test]
fn mem_try_02_p() {
    // 90 ns port to port, there and back (fabric §5).
    let (tray, memory) = as_long("switch = \"inside\"\nport = \"20 ns\"", 2 * 90 + 2 * 20);
    assert_eq!(tray, memory);
}

#[test]
fn mem_try_02_n() {
    let (inside, memory) = as_long("switch = \"inside\"\nport = \"20 ns\"", 90 + 2 * 20);
    let outside = alone("memory.tray", "port = \"20 ns\"");
    assert!(inside > memory, "the hop is passed on both ways");
    assert_ne!(inside, outside);
}

/// A buffer of one set of two pages of 4 KiB over a memory of 200 ns, in a memory of 30 ns, with lookups of 50 ns.
fn buffer() -> LineBuffer<usize> {
    let clock = OwnerClock::new((1, 1));
    let server = |latency_fs| Media::Server(ServerConfig { latency_fs, byte_time: (0, 1), clock });
    let config = LineBufferConfig {
        bytes: 8192,
        page_bytes: 4096,
        ways: 2,
        lookup_fs: 50 * NS,
        memory: server(30 * NS),
        behind: BufferedMedia::Memory(server(200 * NS)),
        clock,
    };
    LineBuffer::new(&MemoryTiming::fixed(0), config)
}

/// The time of one access to a buffer at rest, and how many pages it has written behind.
fn access(memory: &mut LineBuffer<usize>, now: &mut u64, page: u64, access: MemoryAccess) -> (u64, u64) {
    let from = *now;
    memory.push(from, &MemoryRequest { address: page * 4096, bytes: 64, access }, 0).expect("room");
    while memory.pop(*now).is_none() {
        *now = memory.wake_at(*now).expect("it goes on");
        memory.advance(*now);
    }
    let time = *now - from;
    *now += 1000 * NS;
    memory.advance(*now);
    (time, memory.buffer().expect("a buffer").0.written)
}

#[test]
fn mem_try_03_p() {
    let (mut memory, mut now) = (buffer(), 0);
    let (hit, miss) = (80 * NS, 280 * NS);
    let mut done = |page, kind| access(&mut memory, &mut now, page, kind);
    assert_eq!(done(0, MemoryAccess::Write), (miss, 0));
    assert_eq!(done(0, MemoryAccess::Read), (hit, 0));
    assert_eq!(done(1, MemoryAccess::Read), (miss, 0));
    // Page 0 was used before page 1: it leaves, dirty, and page 1 after it, clean.
    assert_eq!(done(2, MemoryAccess::Read), (miss, 1));
    assert_eq!(done(3, MemoryAccess::Read), (miss, 1));
    assert_eq!(done(0, MemoryAccess::Read), (miss, 1), "it comes back from the media");
    assert!(memory.is_idle());
}

#[test]
fn mem_try_03_n() {
    // A page that is dirty in the buffer is counted until it has been written: dropping it would lose the count.
    let (mut memory, mut now) = (buffer(), 0);
    access(&mut memory, &mut now, 0, MemoryAccess::Write);
    let counts = |memory: &LineBuffer<usize>| memory.buffer().expect("a buffer").0;
    assert_eq!((counts(&memory).dirty, counts(&memory).written), (1, 0));
    for page in 1..4 {
        access(&mut memory, &mut now, page, MemoryAccess::Read);
    }
    assert_eq!((counts(&memory).dirty, counts(&memory).written), (0, 1));
}

#[test]
fn mem_try_04_p() {
    let fixed = "media = { preset = \"fixed\", latency = \"99 ns\", bandwidth = 64 }";
    let keys = |switch: &str| {
        format!("form = \"box\"\nswitch = \"{switch}\"\nport = \"7 ns\"\ncontroller = \"31 ns\"\n{fixed}")
    };
    // Ports, controller, media with its server for 64 bytes.
    let parts = 2 * 7 + 31 + 99 + 1;
    for (switch, hop) in [("inside", 180), ("outside", 0)] {
        let (tray, memory) = as_long(&keys(switch), parts + hop);
        assert_eq!(tray, memory, "{switch}");
    }
}

#[test]
fn mem_try_04_n() {
    let keys = "form = \"box\"\nport = \"7 ns\"\ncontroller = \"31 ns\"";
    for missing in [14, 31] {
        let (tray, memory) = as_long(keys, 14 + 31 - missing);
        assert_ne!(tray, memory, "without {missing}");
    }
}

/// Two bits of a word of line 1 are wrong: the host reads poison, whatever is on the way.
const LOST: &str = "ecc = { scheme = \"secded\", flips = [\"0x40:0\", \"0x40:1\"] }";

fn reads(keys: &str) -> ScenarioReport {
    run_text(&text("memory.tray", keys, (200, 64)).replace("mix", "reads"))
}

#[test]
fn mem_try_05_p() {
    for (form, media) in [("jbom", DRAM), ("box", DRAM), ("box", HBM)] {
        for switch in ["inside", "outside"] {
            let report = reads(&format!("form = \"{form}\"\nswitch = \"{switch}\"\n{media}\n{LOST}"));
            assert_eq!(count(&report, "lines lost"), 1, "{form} {switch}");
            assert!(report.violations.iter().all(|found| found.violation.found.contains("poison 1")));
            assert!(!report.violations.is_empty(), "{form} {switch}: the host sees it");
        }
    }
}

#[test]
fn mem_try_05_n() {
    // Without a code the same flips arrive as clean data, which the host's own bytes refuse.
    let flips = LOST.replace("scheme = \"secded\", ", "");
    let report = reads(&format!("form = \"box\"\n{HBM}\n{flips}"));
    assert!(!report.violations.is_empty());
    assert!(report.violations.iter().all(|found| found.violation.found.contains("poison 0")));
}

/// With media of a row of 256 bytes each, of 64 lines: how many accesses find poison.
fn poisoned(media: usize, dead: Option<usize>) -> (usize, ScenarioReport) {
    let dead = dead.map_or(String::new(), |dead| format!("\ndead_medium = {dead}"));
    let keys = format!("switch = \"inside\"\nmedia_count = {media}\ngranule = 256{dead}");
    let report = reads(&keys);
    (report.violations.len(), report)
}

#[test]
fn mem_try_06_p() {
    for media in [1, 2, 4, 8] {
        assert_eq!(poisoned(media, None).0, 0, "{media}: every byte is that of its address");
        let keys = format!("form = \"box\"\nmedia_count = {media}\n{DRAM}");
        assert_eq!(tray(&keys).violations, [], "{media}");
    }
    // Of 200 reads of 64 lines in order a dead one of four ends those of its 16 lines.
    let (found, report) = poisoned(4, Some(1));
    assert_eq!(found, 3 * 16 + 4, "{:?}", report.violations.first());
}

#[test]
fn mem_try_06_n() {
    assert_eq!(poisoned(1, Some(0)).0, 200, "a dead medium alone ends all");
    assert_ne!(poisoned(4, Some(0)).0, 0);
}
