//! Pages in tiers of GPUs on NVLink: placement, moves in traffic, the flush of a bridge, memories and frames that leave and come (BRG-MIG-01 to 05,
//! MEM-MIR-01 to 05, MEM-RMV-05 to 07). What rules say without a link is in the tests of these rules.

use super::systems::resolves;
use crate::fab_hbr::systems::{on_threads, run};
use scalepool::kernel::Rng;
use scalepool::scenario::report::ScenarioReport;

const TEXT: &str = include_str!("../../systems/tiers_nvlink.toml");
const MIRROR: &str = include_str!("../../systems/mirrored_tier2_nvlink.toml");
const TRAYS: &str = include_str!("../../systems/leaving_trays_nvlink.toml");
const CLUSTER: &str = include_str!("../../systems/leaving_cluster_nvlink.toml");

/// What both GPUs have counted together.
fn count(report: &ScenarioReport, name: &str) -> u64 {
    let json = report.json();
    let of = |n| json["components"][format!("accel[{n}]")][name].as_u64();
    of(0).zip(of(1)).map_or_else(|| panic!("no `{name}`: {json:?}"), |(a, b)| a + b)
}

/// A run in which every byte that is read is the one that was written last.
fn sound(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

/// The links of the GPUs and of the bridge over a second switch beside those over the first.
fn over_two_switches() -> String {
    let switch = "switch = { kind = \"nvlink.switch\", clock = \"gpu\", ports = 3 }\n";
    let second = ["accel[0].port", "accel[1].port", "bridge.x"].into_iter().enumerate();
    let second: String = second.map(|(n, end)| format!("  [\"{end}[1]\", \"second.port[{n}]\"],\n")).collect();
    let text = TEXT.replace(switch, &format!("{switch}second{}", &switch["switch".len()..]));
    text.replace("switch.port[2]\"],\n]", &format!("switch.port[2]\"],\n{second}]"))
        .replace("pages = 4\n", "pages = 4\nports = 2\n")
        .replace("\"bridge.nvlink\"", "\"bridge.nvlink\", x_ports = 2")
}

/// Tier 2 of a system behind other ports of the bridge: a device of CXL.io alone (class IO), or one that keeps its memory coherent (class MC).
fn behind(text: &str, class: &str) -> String {
    let (ports, to, kind, keys, end, link) = match class {
        "IO" => (
            "io",
            "0x4000000000",
            "cxl.io-device",
            ", bar0 = \"1 GiB\", bar1 = \"0\", placed = \"0x4000000000\"",
            "link",
            "cxl-io",
        ),
        _ => ("coherent", "0", "cxl.hdm-db-device", ", ports = 1", "link[0]", "cxl-256b-pbr"),
    };
    let window = format!("{{ base = \"0\", size = \"4 MiB\", to = \"{to}\", class = \"{class}\" }}");
    let text = text
        .replace(
            "windows = [{ base = \"0\", size = \"4 MiB\" }]",
            &format!("cxl_ports = 0, {ports}_ports = 1, windows = [{window}]"),
        )
        .replace(
            "kind = \"memory.node\", clock = \"core\", ports = 1, size = \"1 GiB\"",
            &format!("kind = \"{kind}\", clock = \"core\"{keys}"),
        )
        .replace(
            "kind = \"cxl-256b-pbr\"\nbetween = [\"bridge.cxl[0]\", \"memory.cxl[0]\"]",
            &format!("kind = \"{link}\"\nbetween = [\"bridge.{ports}[0]\", \"memory.{end}\"]"),
        );
    // What nothing but CXL.io reaches, no cache of the bridge holds.
    match class {
        "IO" => text.replace(", control = \"4 MiB\"", "").replace(", cache = { capacity = \"16 KiB\", ways = 4 }", ""),
        _ => text,
    }
}

/// Pages move to and from tier 2 over CXL.io alone, and in memory that a device keeps coherent, as they do in one that nobody keeps coherent.
#[test]
fn tier_2_may_be_reached_by_any_class() {
    let messages = |report: &ScenarioReport, word: &str| {
        report.messages.iter().filter(|(name, _)| name.contains(word)).map(|(_, count)| count).sum::<u64>()
    };
    for text in [TEXT, include_str!("../../systems/tiers.toml")] {
        for policy in ["policy=temperature", "policy=static"] {
            for class in ["IO", "MC"] {
                let report = sound(&behind(text, class), &["operations=150", policy]);
                assert!(count(&report, "accesses of tier 2") > 30, "{class}, {policy}");
                assert_eq!(count(&report, "pages moved") > 0, policy == "policy=temperature", "{class}");
                let [mem, io] = ["s2m_", "completion"].map(|word| messages(&report, word) > 0);
                assert_eq!([mem, io], [class == "MC", class == "IO"], "{class}: what passes on CXL");
            }
        }
    }
}

/// Moves in traffic change no byte and no poison, with bit errors, the fewest and the most blocks under way, larger pages, without frames in
/// HBM, over two links, and on whatever threads; pages that move are flushed from the cache of the bridge.
#[test]
fn pages_of_gpus_move_in_traffic() {
    let report = sound(TEXT, &[]);
    assert!(count(&report, "pages moved") > 4 && count(&report, "copies") > 5, "{:?}", report.json());
    assert!(count(&report, "cycles of page waits") > 100 && count(&report, "page messages") > 10);
    let flushed = report.json()["components"]["bridge"]["lines flushed"].as_u64();
    assert!(flushed > Some(4), "{:?}", report.json());
    let moved = count(&report, "pages moved") * 4096;
    assert_eq!(count(&report, "moved [bytes]"), moved, "each page once");
    sound(TEXT, &["operations=100", "copies=1", "ber=1e-6"]);
    sound(TEXT, &["operations=100", "copies=512", "component.accel.outstanding=1024"]);
    sound(TEXT, &["operations=60", "page=16 KiB", "component.accel.outstanding=1"]);
    let without = sound(TEXT, &["operations=80", "component.accel.hbm_pages=0", "component.accel.tier2.pages=4"]);
    assert_eq!(count(&without, "accesses of HBM"), 0);
    let two = sound(&over_two_switches(), &["operations=100"]);
    assert!(count(&two, "pages moved") > 1, "{:?}", two.json());
    let set = ["operations=80"];
    assert_eq!(on_threads(TEXT, &set, 2).json(), on_threads(TEXT, &set, 1).json());
}

/// Every line of every write has poison, or none has: blocks go in one packet or in two, and are read by blocks or line by line.
#[test]
fn gpus_keep_the_poison_of_each_line() {
    for every in ["1", "2", "0"] {
        let poison = format!("component.accel.traffic.poison_every={every}");
        let report = sound(TEXT, &["operations=120", &poison]);
        assert!(count(&report, "pages moved") > 0, "{every}: {:?}", report.json());
    }
}

/// All policies over NVLink, HBM as an exclusive cache with prefetch and warming among them.
#[test]
fn policies_place_pages_of_gpus() {
    for policy in ["static", "first-touch", "caller"] {
        let report = sound(TEXT, &["operations=100", &format!("policy={policy}")]);
        assert_eq!((count(&report, "pages moved"), count(&report, "decisions refused")), (0, 0), "{policy}");
        assert!(count(&report, "pages placed") <= 8);
    }
    let cache = TEXT
        .replace("policy = \"temperature\"", "policy = \"exclusive\"")
        .replace("hbm_pages = 1\npeer_pages = 1", "hbm_pages = 2\npeer_pages = 0")
        .replace("tier2 = { pages = 3", "tier2 = { pages = 4");
    let plain = sound(&cache, &["operations=150"]);
    assert!(count(&plain, "pages moved") > 4, "{:?}", plain.json());
    let ahead = sound(&cache, &["operations=150", "component.accel.prefetch=1"]);
    assert!(count(&ahead, "pages prefetched") > 0, "{:?}", ahead.json());
    let warm = ["operations=150", "component.accel.warm_pages=2", "component.accel.traffic.start_cycles=20000"];
    let warm = sound(&cache, &warm);
    assert!(count(&warm, "accesses of HBM") > count(&plain, "accesses of HBM"), "{:?}", warm.json());
}

/// Two GPUs without a switch and without tier 2 keep pages in HBM of each other.
#[test]
fn gpus_face_each_other_with_pages_of_both() {
    let (head, _) = TEXT.split_once("[component]").expect("components");
    let text = format!(
        "{head}[component]\naccel = {{ kind = \"accelerator.nvlink\", count = 2, clock = \"gpu\", ports = 2, page = \"4 KiB\", \
         pages = 3, hbm_pages = 1, peer_pages = 3, policy = \"temperature\", interval = \"500 ns\", traffic = {{ operations = 300, phase = 40, \
         foreign = 30, poison_every = 3, copy_every = 20 }} }}\n[link.nvlink]\nkind = \"nvlink\"\nbetween = [[\"accel[0].port[0]\", \
         \"accel[1].port[0]\"], [\"accel[0].port[1]\", \"accel[1].port[1]\"]]\n"
    );
    let report = sound(&text, &[]);
    assert!(count(&report, "pages moved") > 0 && count(&report, "accesses of peer HBM") > 10, "{:?}", report.json());
    let crossed = text.replace("\"accel[1].port[0]\"]", "\"accel[1].port[9]\"]").replace("port[1]\"]]", "port[0]\"]]");
    let crossed = crossed.replace("port[9]", "port[1]");
    let error = resolves(&crossed).err().expect("crossed links");
    assert!(error.contains("a block takes the link of its number at both GPUs"), "{error}");
}

/// Tier 2 in two memories of which either is lost, in trays that leave in order and by surprise, and in the HBM of a cluster that leaves and
/// joins again.
#[test]
fn tier2_of_gpus_leaves_and_comes() {
    let report = sound(MIRROR, &["operations=200"]);
    assert!(count(&report, "accesses of tier 2") > 20, "{:?}", report.json());
    sound(&MIRROR.replace("memory = 0", "memory = 1"), &["operations=200"]);
    let trays = sound(TRAYS, &[]);
    assert_eq!((count(&trays, "frames removed"), count(&trays, "frames inserted")), (8, 8));
    let lost = ["requests to lost frames", "lines lost with frames"].map(|name| count(&trays, name));
    assert!(lost.iter().all(|count| *count > 0), "{lost:?}");
    let cluster = sound(CLUSTER, &[]);
    assert_eq!((count(&cluster, "frames removed"), count(&cluster, "frames inserted")), (4, 4));
}

/// A loss that GPUs do not know of is a finding of each access to it.
#[test]
fn gpus_tell_of_a_loss_that_they_do_not_know_of() {
    let from = TRAYS.find("  { at = \"32 us\", command = \"remove\", first = 2").expect("the surprise");
    let to = TRAYS[from..].find("\n]").expect("the end of the list") + from + 1;
    let report = run(&format!("{}{}", &TRAYS[..from], &TRAYS[to..]), &["operations=1500"]).expect("it runs");
    let rules: Vec<&str> = report.violations.iter().map(|placed| placed.violation.rule).collect();
    assert!(rules.contains(&"SIM-E2E-02"), "{rules:?}");
}

/// Settings drawn at random, at both ends of their ranges and between: nothing hangs, and no byte is wrong.
#[test]
fn gpus_with_settings_at_random() {
    let mut rng = Rng::for_name(1, "settings of GPUs with tiers");
    for n in 0..10 {
        let mut one_of = |words: &[&str]| words[rng.below(words.len() as u64) as usize].to_owned();
        let set = [
            format!("policy={}", one_of(&["static", "first-touch", "temperature", "caller"])),
            format!("copies={}", one_of(&["1", "3", "512"])),
            format!("component.accel.outstanding={}", one_of(&["1", "7", "1024"])),
            format!("component.accel.hbm_cycles={}", one_of(&["1", "100", "3000"])),
            format!("component.accel.traffic.foreign={}", one_of(&["0", "50", "100"])),
            format!("component.accel.traffic.blocks={}", one_of(&["1", "4", "8"])),
            format!("component.accel.traffic.poison_every={}", one_of(&["0", "1", "3"])),
            format!("component.accel.traffic.copy_every={}", one_of(&["0", "1", "7"])),
            format!("component.accel.traffic.phase={}", one_of(&["0", "1", "30"])),
            format!("component.accel.traffic.start_cycles={}", one_of(&["0", "2500"])),
            format!("component.accel.interval={}", one_of(&["1 us", "3 us", "50 us"])),
            format!("component.accel.page={}", one_of(&["4 KiB", "16 KiB"])),
            format!("link.nvlink.headers={}", one_of(&["1", "128"])),
            format!("link.nvlink.data_flits={}", one_of(&["16", "1024"])),
            format!("link.nvlink.stall={}", one_of(&["0", "50"])),
            format!("component.switch.store_flits={}", one_of(&["32", "2048"])),
            "operations=50".to_owned(),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let report = sound(TEXT, &set);
        assert!(count(&report, "operations") > 0, "{n}: {set:?}");
    }
}

/// Frames behind the addresses of NVLink, a control window that is another one than that of the bridge, and GPUs of other kinds are refused.
#[test]
fn gpus_that_cannot_have_pages_are_refused() {
    for (from, to, expected) in [
        ("base = \"1 MiB\"", "base = \"0xffffff000\"", "the 36 bits of a local address"),
        ("page = \"4 KiB\"", "page = \"2 MiB\"", "expected none at the control window 0x400000"),
        ("page = \"4 KiB\"\nhbm_pages = 1", "page = \"64 KiB\"\nhbm_pages = 1_048_576", "expected at most 34359738368"),
        (
            "base = \"1 MiB\", control = \"4 MiB\"",
            "base = \"1 MiB\", control = \"8 MiB\"",
            "as control of the bridge says",
        ),
        ("base = \"1 MiB\", control = \"4 MiB\"", "base = \"1 MiB\"", "as control of the bridge says"),
        ("pages = 4\n", "pages = 4\nports = 19\n", "expected 1 to 18"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let error = resolves(&TEXT.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{expected}: it is taken"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let other = "[component.other]\nkind = \"nvlink.gpu\"\nclock = \"gpu\"\nlinks = 1\n[link.nvlink]";
    let text = TEXT.replace("ports = 3 }", "ports = 4 }").replace("[link.nvlink]", other).replace(
        "[\"bridge.x[0]\", \"switch.port[2]\"]",
        "[\"bridge.x[0]\", \"switch.port[2]\"], [\"other.link[0]\", \"switch.port[3]\"]",
    );
    let error = resolves(&text).err().expect("two kinds");
    assert!(error.contains("expected GPUs of one kind"), "{error}");
}
