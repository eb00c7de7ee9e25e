//! Memory maps: the arithmetic of decoders against the sheet's formulas, and hosts that use windows.

use scalepool::memory::decoder::{ADDRESS_END, Arithmetic, Decoders, GRANULARITIES, Interleave, WAYS, Window};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::system::description::Description;
use scalepool::system::design::System;
use scalepool::system::memory_map::MappedWindow;
use scalepool_oracle::hdm::{self, Root};
use std::path::{Path, PathBuf};

const MIB_256: u64 = 256 << 20;
/// Chunks at each end of a window that are looked at: more than any set of ways has.
const CHUNKS: u64 = 40;

fn window(base: u64, ways: usize, g: usize, root: Root) -> Window {
    let arithmetic = match root {
        Root::Modulo => Arithmetic::Modulo,
        Root::Xor => Arithmetic::Xor,
    };
    let interleave = Interleave::new(ways, GRANULARITIES[g], arithmetic).expect("the sheet has it");
    Window { base, size: ways as u64 * MIB_256, interleave }
}

fn device_address(window: Window, address: u64) -> Option<u64> {
    let mut decoders = Decoders::default();
    decoders.push(window);
    decoders.device_address(address)
}

/// Addresses of a window: all chunks at both ends with their first and last bytes, and some between.
fn addresses(window: &Window, granularity: u64) -> Vec<u64> {
    let edges = |chunk: u64| [chunk * granularity, chunk * granularity + 1, (chunk + 1) * granularity - 1];
    let chunks = window.size / granularity;
    let mut addresses: Vec<u64> = (0..CHUNKS).chain(chunks - CHUNKS..chunks).flat_map(edges).collect();
    // A fixed sequence that visits all bits of an offset.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..500 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        addresses.push((state >> 16) % window.size);
    }
    addresses.into_iter().map(|offset| window.base + offset).collect()
}

/// Every case of the sheet: bases that are and are not multiples of three steps, the last ones below the end of addresses.
fn cases() -> impl Iterator<Item = (usize, usize, Root, u64)> {
    let bases = |ways: usize| {
        let top = ADDRESS_END - ways as u64 * MIB_256;
        [0, 3 * MIB_256, 4 << 30, 12 << 30, 0x7_5000_0000, top]
    };
    let of_ways = move |ways: usize| bases(ways).into_iter().map(move |base| (ways, base));
    WAYS.into_iter().flat_map(of_ways).flat_map(|(ways, base)| {
        (0..GRANULARITIES.len()).flat_map(move |g| [Root::Modulo, Root::Xor].map(|root| (ways, g, root, base)))
    })
}

#[test]
fn every_interleave_is_that_of_the_sheet() {
    for (ways, g, root, base) in cases() {
        let window = window(base, ways, g, root);
        for address in addresses(&window, GRANULARITIES[g]) {
            let expected = hdm::target(address, ways as u64, g, root);
            let place = format!("{ways} ways of {} bytes, {root:?}, {address:#x} in {base:#x}", GRANULARITIES[g]);
            assert_eq!(window.interleave.way(address) as u64, expected, "{place}");
            let share = hdm::share_offset(address - base, ways as u64, g);
            assert_eq!(device_address(window, address), Some(share), "{place}");
            assert!(share < window.share(), "{place}");
        }
        assert_eq!(device_address(window, window.end()), None);
        assert_eq!(base.checked_sub(1).and_then(|below| device_address(window, below)), None);
    }
}

#[test]
fn every_byte_of_a_device_has_one_address() {
    // The way back of the sheet takes the position for the offset's, so the base has to be a multiple of the ways' chunks.
    for (ways, g, root, base) in cases().filter(|(ways, .., base)| base.is_multiple_of(*ways as u64 * MIB_256)) {
        let window = window(base, ways, g, root);
        for address in addresses(&window, GRANULARITIES[g]) {
            let share = device_address(window, address).expect("it lies in the window");
            let position = window.interleave.way(address) as u64;
            let back = hdm::window_offset(share, position, base, ways as u64, g, root);
            assert_eq!(base + back, address, "{ways} ways of {} bytes, {root:?}", GRANULARITIES[g]);
        }
    }
    // Where the base is none, targets turn, and each still gets every byte of its share once (`fabric` HDM-6).
    for (ways, g, root, base) in cases() {
        let (window, granularity) = (window(base, ways, g, root), GRANULARITIES[g]);
        let bytes = (0..48).map(|chunk| base + chunk * granularity);
        let mut seen: Vec<_> = bytes.map(|at| (window.interleave.way(at), device_address(window, at))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 48, "{ways} ways of {granularity} bytes, {root:?}, base {base:#x}");
    }
    let turned = window(4 << 30, 3, 0, Root::Modulo);
    assert_eq!([0, 1, 2].map(|chunk| turned.interleave.way((4 << 30) + chunk * 256)), [1, 2, 0]);
}

/// Ways, granularity, base, address, target at the root, device address: the table of `fabric` §2.5.
const WORKED: &[(usize, u64, u64, u64, usize, u64)] = &[
    (1, 256, 0x1_0000_0000, 0x1_1234_5678, 0, 0x1234_5678),
    (2, 256, 0x1_0000_0000, 0x1_0000_01ff, 1, 0xff),
    (2, 256, 0x1_0000_0000, 0x1_1234_5678, 0, 0x91a_2b78),
    (2, 16384, 0x1_0000_0000, 0x1_1234_5678, 1, 0x91a_1678),
    (4, 256, 0x2_0000_0000, 0x2_1234_5678, 2, 0x48d_1578),
    (4, 1024, 0x2_0000_0000, 0x2_1234_5678, 1, 0x48d_1678),
    (8, 256, 0x4_0000_0000, 0x4_1234_5678, 6, 0x246_8a78),
    (8, 4096, 0x4_0000_0000, 0x4_1234_5678, 5, 0x246_8678),
    (16, 256, 0x4_0000_0000, 0x4_1234_5678, 6, 0x123_4578),
    (16, 2048, 0x4_0000_0000, 0x4_1234_5678, 10, 0x123_4678),
    (3, 256, 0x3_0000_0000, 0x3_1234_5678, 0, 0x611_7278),
    (3, 16384, 0x3_0000_0000, 0x3_1234_5678, 2, 0x611_5678),
    (3, 256, 0x3_0000_0000, 0x3_0000_02ff, 2, 0xff),
    (3, 256, 0x3_0000_0000, 0x3_0000_0300, 0, 0x100),
    (6, 256, 0x3_0000_0000, 0x3_1234_5678, 0, 0x308_b978),
    (6, 512, 0x3_0000_0000, 0x3_1234_5678, 3, 0x308_b878),
    (6, 256, 0x3_0000_0000, 0x3_0000_0700, 1, 0x100),
    (12, 256, 0x3_0000_0000, 0x3_1234_5678, 6, 0x184_5c78),
    (12, 8192, 0x3_0000_0000, 0x3_1234_5678, 10, 0x184_5678),
];

/// Ways, address, target by modulo and by XOR, device address; chunks of 256 bytes, base 0 (`fabric` §2.5).
const WORKED_XOR: &[(usize, u64, usize, usize, u64)] = &[
    (2, 0x1234_5678, 0, 1, 0x91a_2b78),
    (4, 0x1234_5678, 2, 3, 0x48d_1578),
    (8, 0x1234_5678, 6, 7, 0x246_8a78),
    (16, 0x1234_5678, 6, 7, 0x123_4578),
    (6, 0x1234_5678, 0, 1, 0x308_b978),
    (12, 0x1234_5678, 6, 7, 0x184_5c78),
    (4, 0x202_0900, 1, 0, 0x80_8200),
    (4, 0x100, 1, 1, 0),
    (4, 0x800, 0, 1, 0x200),
];

/// Ways, arithmetic, device address, position, address: published vectors (`fabric` §2.5).
const PUBLISHED: &[(usize, Arithmetic, u64, usize, u64)] = &[
    (4, Arithmetic::Modulo, 256, 0, 1024),
    (4, Arithmetic::Modulo, 256, 1, 1280),
    (4, Arithmetic::Modulo, 256, 2, 1536),
    (4, Arithmetic::Modulo, 256, 3, 1792),
    (4, Arithmetic::Modulo, 2048, 0, 8192),
    (4, Arithmetic::Modulo, 2048, 3, 8960),
    (4, Arithmetic::Xor, 544, 1, 2080),
    (4, Arithmetic::Xor, 544, 0, 2336),
    (4, Arithmetic::Xor, 544, 3, 2592),
    (4, Arithmetic::Xor, 1040, 2, 4112),
    (4, Arithmetic::Xor, 1568, 3, 6176),
    (4, Arithmetic::Xor, 65552, 2, 262_160),
    (4, Arithmetic::Xor, 443_953_523, 0, 1_775_813_747),
    (12, Arithmetic::Modulo, 512, 0, 6144),
    (12, Arithmetic::Modulo, 512, 11, 6144 + 11 * 256),
    (12, Arithmetic::Xor, 32, 9, 2080),
    (12, Arithmetic::Xor, 32, 8, 2336),
    (12, Arithmetic::Xor, 288, 0, 3360),
    (12, Arithmetic::Xor, 299_017_087, 7, 3_588_205_439),
    (12, Arithmetic::Xor, 151_050_637, 11, 1_812_608_653),
];

#[test]
fn worked_and_published_examples() {
    let at = |ways: usize, granularity: u64, arithmetic: Arithmetic, base: u64, address: u64| {
        let interleave = Interleave::new(ways, granularity, arithmetic).expect("the sheet has it");
        let window = Window { base, size: 48 * MIB_256, interleave };
        (interleave.way(address), device_address(window, address))
    };
    for &(ways, granularity, base, address, way, device) in WORKED {
        assert_eq!(
            at(ways, granularity, Arithmetic::Modulo, base, address),
            (way, Some(device)),
            "{ways} {address:#x}"
        );
    }
    for &(ways, address, modulo, xor, device) in WORKED_XOR {
        assert_eq!(at(ways, 256, Arithmetic::Modulo, 0, address), (modulo, Some(device)), "{ways} {address:#x}");
        assert_eq!(at(ways, 256, Arithmetic::Xor, 0, address), (xor, Some(device)), "{ways} {address:#x}");
    }
    for &(ways, arithmetic, device, position, address) in PUBLISHED {
        assert_eq!(at(ways, 256, arithmetic, 0, address), (position, Some(device)), "{ways} {address}");
    }
    let twelve = [0, 256, 512, 768, 1024, 1280, 1536, 1792, 2304, 2048, 2816, 2560];
    assert_eq!(
        twelve.map(|address| at(12, 256, Arithmetic::Xor, 0, address).0),
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    );
    // 8 ways at 512 bytes behind 32 GB at 8 ways: the published pair of decoders.
    let eight = |base: u64, size: u64| {
        let interleave = Interleave::new(8, 512, Arithmetic::Modulo).expect("the sheet has it");
        Window { base, size, interleave }
    };
    let mut decoders = Decoders::default();
    decoders.push(eight(32 << 30, 32 << 30));
    decoders.push(eight(128 << 30, 4 << 30));
    assert_eq!(decoders.device_address((129 << 30) + 1028), Some(0x1_0800_0004));
}

fn example() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("systems/interleaved_memories.toml");
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn system(text: &str, set: &[&str]) -> System {
    let mut description = Description::parse("f.toml", PathBuf::new(), text).expect("it is TOML");
    set.iter().for_each(|text| description.set(text).unwrap_or_else(|e| panic!("{e}")));
    description.resolve().unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str, set: &[&str], stimulus: Option<&Path>) -> Result<ScenarioReport, String> {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let stimulus = stimulus.map(Path::to_owned);
    let request =
        ScenarioRequest { description: Some(text.to_owned()), seed: 1, set, stimulus, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).map_err(|e| e.to_string())
}

/// Flits toward each memory.
fn down(report: &ScenarioReport) -> Vec<u64> {
    let json = report.json();
    let links = json["links"].as_object().expect("links");
    links.values().map(|link| link["flits down"].as_u64().expect("flits")).collect()
}

#[test]
fn a_host_spreads_its_accesses_over_interleaved_memories() {
    for set in [
        &[][..],
        &["map.arithmetic=modulo", "map.granularity=256"],
        &["map.granularity=16 KiB", "link.ber=1e-5"],
        &["component.host.stimulus.region_lines=40", "host.accesses=5000"],
    ] {
        let report = run(&example(), set, None).expect("it runs");
        assert_eq!(report.violations, [], "{set:?}");
        let flits = down(&report);
        let (least, most) = (flits.iter().min().expect("two"), flits.iter().max().expect("two"));
        assert!(2 * least > *most, "both memories are used alike: {flits:?} {set:?}");
    }
    // The number of threads decides nothing.
    let [one, four] = [1, 4].map(|threads| {
        let request = ScenarioRequest { description: Some(example()), seed: 9, threads, ..ScenarioRequest::default() };
        scenario::run(&request, &mut |_| ()).expect("it runs").json()
    });
    assert_eq!(one, four);
    // The second window leads to one memory alone; the other link carries what a link carries without requests.
    let near = run(&example(), &["host.base=0x8_0000_0000"], None).expect("it runs");
    assert_eq!(near.violations, []);
    assert!(down(&near)[0] > 10 * down(&near)[1], "{:?}", down(&near));
    // From the end of one window into the next, where they stand side by side.
    let set = ["memory_map.near.base=0x5_0000_0000", "host.base=0x4_ffff_f000", "host.accesses=2000"];
    let across = run(&example(), &set, None).expect("it runs");
    assert_eq!(across.violations, []);
}

#[test]
fn every_number_of_ways_runs_through_the_host_and_its_memories() {
    for ways in WAYS {
        let text = example()
            .replace("ports = 2", &format!("ports = {ways}"))
            .replace("count = 2", &format!("count = {ways}"))
            .replace("size = \"16 GiB\"\ntargets", "size = \"48 GiB\"\ntargets")
            .replace("0x1_0000_0000", "0x24_0000_0000")
            .replace("size = \"16 GiB\"\n\n[link", "size = \"64 GiB\"\n\n[link");
        let set = ["host.accesses=800", "map.granularity=512", "component.host.stimulus.region_lines=256"];
        let report = run(&text, &[&set[..], &["host.base=0x24_0000_0000"]].concat(), None).expect("it runs");
        assert_eq!(report.violations, [], "{ways} ways");
        assert_eq!(down(&report).len(), ways);
    }
}

#[test]
fn a_host_with_a_port_that_has_an_index_is_as_one_without() {
    let text = example();
    let alone = text[..text.find("[memory_map.spread]").expect("a window")]
        .replace("ports = 2 ", "ports = 1 ")
        .replace("count = 2", "count = 1");
    let plain = alone.replace("ports = 1 ", "").replace("count = 1", "").replace("[i]", "");
    let [indexed, plain] = [alone, plain].map(|text| run(&text, &[], None).expect("it runs").json());
    for key in ["time_fs", "counts", "latency", "messages", "goodput"] {
        assert_eq!(indexed.get(key), plain.get(key), "{key}");
    }
    assert_eq!(indexed["components"]["host"], plain["components"]["host"]);
}

#[test]
fn accesses_of_a_trace_lie_in_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = |name: &str, lines: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, lines).expect("it can be written");
        path
    };
    let inside =
        "# both windows\n0,write,0x100000000,4096\n5,read,0x4ffffffc0,64\n6,w,0x9ffffffff,1\n7,r,0x800000000,8\n";
    let report = run(&example(), &[], Some(&trace("in.csv", inside))).expect("it runs");
    assert_eq!(report.violations, []);
    let refused = |lines: &str| run(&example(), &[], Some(&trace("out.csv", lines))).expect_err("it is refused");
    let expected = "which lies in no window that `host` reaches, expected addresses in 0x100000000 to 0x4ffffffff, 0x800000000 to 0x9ffffffff";
    for (address, size) in [("0xffffffff", 1), ("0x4ffffffff", 2), ("0xa00000000", 4), ("0xffffffffffffffff", 1)] {
        let found = refused(&format!("0,read,0x100000000,4\n\n9,write,{address},{size}\n"));
        let text = format!("out.csv:3: found an access to {address}, {expected}");
        assert!(found.ends_with(&text), "{found}");
    }
    // What is not fetched is not judged.
    let lackey = trace("out.lackey", "I  0000,4\n L 100000000,8\n");
    let found = run(&example(), &[], Some(&lackey)).expect_err("it is refused");
    assert!(found.contains("out.lackey:1: found an access to 0x0"), "{found}");
    let report = run(&example(), &["component.host.stimulus.ifetch=off"], Some(&lackey)).expect("it runs");
    assert_eq!(report.violations, []);
}

#[test]
fn a_cache_writes_lines_back_to_the_memories_that_they_came_from() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    // 200 lines, each stored to and loaded several times, through a cache of 64 lines.
    let access = |n: u64| {
        let (op, address) = (if n.is_multiple_of(3) { "w" } else { "r" }, 0x1_0000_0000 + n * 37 % 200 * 320);
        format!("{n},{op},{address:#x},{}\n", 8 + n % 57)
    };
    std::fs::write(&path, (0..2000).map(access).collect::<String>()).expect("it can be written");
    let counts = |granularity: &str| {
        let set = ["component.host.cache.size=4 KiB", &format!("map.granularity={granularity}")];
        let report = run(&example(), &set, Some(&path)).expect("it runs");
        assert_eq!(report.violations, [], "{granularity}");
        assert!(down(&report).iter().all(|flits| *flits > 100), "{:?}", down(&report));
        report.json()["components"]["host"].clone()
    };
    let (fine, coarse) = (counts("256"), counts("16 KiB"));
    assert!(fine["writes"].as_u64() > Some(100), "{fine}");
    for name in ["line accesses", "cache hits", "reads", "writes"] {
        assert_eq!(fine[name], coarse[name], "{name}");
    }
}

#[test]
fn the_map_is_part_of_the_identity_in_one_spelling() {
    let text = example();
    let canonical = |text: &str, set: &[&str]| system(text, set).canonical();
    let listed = text.replace("[\"memory[i]\"]", "[\"memory[0]\", \"memory[1]\"]").replace("0x1_0000_0000", "4 GiB");
    assert_eq!(canonical(&text, &[]), canonical(&listed, &[]));
    assert_eq!(canonical(&text, &[]), canonical(&text, &["memory_map.spread.targets=memory[0], memory[1]"]));
    for set in [
        "memory_map.spread.base=0",
        "memory_map.spread.targets=[memory[1], memory[0]]",
        "map.granularity=256",
        "map.arithmetic=modulo",
        "host.base=0x8_0000_0000",
    ] {
        assert_ne!(canonical(&text, &[]), canonical(&text, &[set]), "{set}");
    }
    assert!(!canonical(&text, &[]).contains("stimulus.base"), "a field without a value is not there");
    let system = system(&text, &["memory_map.spread.size=8 GiB"]);
    let targets = |window: &MappedWindow| window.targets.iter().map(|target| target.component).collect::<Vec<_>>();
    let names: Vec<(&str, u64, Vec<usize>)> =
        system.memory_map.iter().map(|w| (w.name.as_str(), w.window.size, targets(w))).collect();
    assert_eq!(names, [("spread", 8 << 30, vec![1, 2]), ("near", 8 << 30, vec![1])]);
}

#[test]
fn three_ways_from_another_base_are_warned_of() {
    let text = example()
        .replace("ports = 2", "ports = 3")
        .replace("count = 2", "count = 3")
        .replace("size = \"16 GiB\"\ntargets", "size = \"12 GiB\"\ntargets");
    let expected = "f.toml:26:8: memory_map.spread.base: 0x100000000 is no multiple of 768 MiB, so that the first chunk of the window is not that of its first target (fabric HDM-6)";
    assert_eq!(system(&text, &[]).warnings.lines(), [expected]);
    let report = run(&text, &[], None).expect("it runs");
    assert_eq!((report.violations.as_slice(), report.remarks.len()), (&[][..], 1));
    assert_eq!(system(&text, &["memory_map.spread.base=12 GiB"]).warnings.lines(), [""; 0]);
}

#[test]
fn a_part_brings_its_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = "format = 1\n[part.tray]\nuse = \"tray.toml\"\ncount = 2\n\
                 [part.tray.at.1]\nset = { \"memory_map.spread.base\" = \"0x100_0000_0000\", \"near.base\" = \"0x108_0000_0000\" }\n";
    let tray = example().replace("[settings]", "[settings]\n\"near.base\" = \"memory_map.near.base\"\n");
    let file = folder.path().join("whole.toml");
    std::fs::write(&file, whole).expect("it can be written");
    std::fs::write(folder.path().join("tray.toml"), tray).expect("it can be written");
    let mut description = Description::open(&file).expect("it is TOML");
    description.set("part.tray[0].memory_map.near.targets=memory[1]").expect("a setting of a part");
    let system = description.resolve().unwrap_or_else(|e| panic!("{e}"));
    let windows: Vec<(&str, u64, Vec<&str>)> = system
        .memory_map
        .iter()
        .map(|w| {
            let targets = w.targets.iter().map(|target| system.components[target.component].path.as_str()).collect();
            (w.name.as_str(), w.window.base, targets)
        })
        .collect();
    assert_eq!(
        windows,
        [
            ("tray[0].spread", 0x1_0000_0000, vec!["tray[0].memory[0]", "tray[0].memory[1]"]),
            ("tray[0].near", 0x8_0000_0000, vec!["tray[0].memory[1]"]),
            ("tray[1].spread", 0x100_0000_0000, vec!["tray[1].memory[0]", "tray[1].memory[1]"]),
            ("tray[1].near", 0x108_0000_0000, vec!["tray[1].memory[0]"]),
        ]
    );
    assert!(scalepool::system::build::assemble(system, scalepool::system::build::Run::default()).is_ok());
}
