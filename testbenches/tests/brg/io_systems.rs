//! Systems whose accelerators reach devices of CXL.io by a bridge.

use super::systems::resolves;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

/// Two accelerators and a bridge around a switch; behind the bridge a device whose BARs firmware has placed.
pub const IO: &str = include_str!("../../systems/bridge_io.toml");

pub fn run(text: &str, set: &[&str]) -> ScenarioReport {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text.to_owned()), seed: 1, threads: 1, set, ..Default::default() };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

fn count(report: &ScenarioReport, component: &str, name: &str) -> u64 {
    let json = report.json();
    json["components"][component][name].as_u64().unwrap_or_else(|| panic!("no `{name}`: {json:?}"))
}

/// A run in which the accelerators find nothing wrong with any byte.
fn sound(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set);
    assert_eq!(report.violations, [], "{set:?}");
    assert_eq!(count(&report, "bridge", "requests refused"), 0, "{set:?}");
    report
}

#[test]
fn accelerators_find_every_byte_of_a_device() {
    let report = sound(IO, &[]);
    assert_eq!(count(&report, "bridge", "requests answered"), 60);
    assert!(count(&report, "device", "completions") >= 60);
    for set in [
        &["traffic.bytes=192", "accel.vcs=4", "traffic.blocks=2"][..],
        &["traffic.mix=writes", "traffic.bytes=128"],
        &["bridge.io_ack=sent"],
        &["bridge.io_mode=cxl-68b", "bridge.entries=256", "link.rate=16"],
        &["bridge.io_mode=cxl-256b-pbr"],
        &["link.ber=2e-6"],
    ] {
        sound(IO, set);
    }
}

/// Lines that are stored with poison come back with it, and their neighbours in the same block without (bridge §8.3).
#[test]
fn poison_of_a_line_stays_with_it() {
    for set in [
        &["traffic.poison_every=3"][..],
        &["traffic.poison_every=1", "traffic.blocks=2"],
        &["traffic.poison_every=2", "traffic.bytes=128", "bridge.io_ack=sent"],
        &["traffic.poison_every=3", "bridge.io_mode=cxl-68b", "bridge.entries=256", "link.rate=16"],
    ] {
        sound(IO, set);
    }
    let clean = count(&run(IO, &[]), "device", "completions");
    assert!(count(&run(IO, &["traffic.poison_every=3"]), "device", "completions") > clean, "blocks are cut");
}

/// A window over two BARs that touch, and one over two that do not.
#[test]
fn a_window_leads_over_bars_that_touch() {
    let two = |placed: &str| {
        IO.replace("bar0 = \"1 GiB\"\nbar1 = \"0\"", "bar0 = \"512 MiB\"\nbar1 = \"512 MiB\"")
            .replace("placed = \"0x4000000000\"", &format!("placed = \"{placed}\""))
    };
    sound(&two("0x4000000000"), &[]);
    let apart = two("0x4000000000").replace("bar0 = \"512 MiB\"", "bar0 = \"256 MiB\"");
    let error = resolves(&apart).err().expect("it is refused");
    assert!(error.contains("0x4000000000 to 0x4040000000, but 0x4010000000 to 0x4020000000"), "{error}");
}

/// What is said of a BAR that cannot be is what the setting takes.
#[test]
fn bars_that_cannot_be_are_refused() {
    for size in ["1000", "2 KiB", "3 GiB"] {
        let error =
            resolves(&IO.replace("bar0 = \"1 GiB\"", &format!("bar0 = \"{size}\""))).err().expect("it is refused");
        assert!(error.contains("expected 0 or a power of two from 4096 to 2^40"), "{error}");
    }
    let most = |size: &str| {
        let text = IO.replace("bar0 = \"1 GiB\"", &format!("bar0 = \"{size}\""));
        resolves(&text.replace("0x4000000000", "0x10000000000"))
    };
    most("1 TiB").unwrap_or_else(|error| panic!("{error}"));
    assert!(most("2 TiB").is_err());
}

/// Two addresses of accelerators for one byte, and lists of ports that name none or one of them twice, are refused, in windows that are valid
/// together and in those of a later epoch.
#[test]
fn windows_with_two_addresses_for_a_byte_are_refused() {
    let own = "windows = [{ base = \"0\", size = \"1 GiB\", to = \"0x4000000000\", class = \"IO\" }]";
    let refuses = |windows: &str, expected: &str| {
        let error = resolves(&IO.replace(own, windows)).err().unwrap_or_else(|| panic!("{expected}"));
        assert!(error.contains(expected), "{error}");
    };
    let window = |base: &str, size: &str, to: &str| {
        format!("{{ base = \"{base}\", size = \"{size}\", to = \"{to}\", class = \"IO\" }}")
    };
    let low = window("0", "4 MiB", "0x4000000000");
    for (other, expected) in [
        (
            window("8 MiB", "4 MiB", "0x4000000000"),
            "found 0x0 in window 0 and 0x800000 in window 1, which both lead to 0x4000000000",
        ),
        (window("8 MiB", "4 MiB", "0x40003fff00"), "found 0x3fff00 in window 0 and 0x800000 in window 1"),
    ] {
        refuses(&format!("windows = [{low}, {other}]"), expected);
        let commit = format!("windows = [{low}]\ncommits = [{{ at = \"1 us\", windows = [{other}] }}]");
        refuses(&commit, "in window 0 of commit 0, which both lead to");
    }
    let beside = window("8 MiB", "4 MiB", "0x4000400000");
    for windows in [
        format!("windows = [{low}, {beside}]"),
        format!("windows = [{low}]\ncommits = [{{ at = \"1 us\", windows = [{low}, {beside}] }}]"),
    ] {
        resolves(&IO.replace(own, &windows)).unwrap_or_else(|error| panic!("{error}"));
    }
    for (ports, expected) in [("[]", "an empty list of ports"), ("[\"0\", \"0\"]", "with port 0 twice")] {
        refuses(&own.replace(" }]", &format!(", ports = {ports} }}]")), expected);
    }
}

#[test]
fn ports_of_io_are_checked() {
    let refuses = |text: &str, expected: &str| {
        let error = resolves(text).err().unwrap_or_else(|| panic!("{expected}"));
        assert!(error.contains(expected), "{error}");
    };
    resolves(IO).unwrap_or_else(|error| panic!("{error}"));
    refuses(&IO.replace("placed = \"0x4000000000\"\n", ""), "firmware has not placed");
    refuses(&IO.replace("kind = \"cxl-io\"\n", "kind = \"cxl-io\"\ncachemem = true\n"), "cachemem");
    refuses(
        &IO.replace("io_ports = 1\n", "io_ports = 1\nio_mode = \"cxl-68b\"\n")
            .replace("kind = \"cxl-io\"\n", "kind = \"cxl-io\"\nrate = 16\n"),
        "10 bits",
    );
    refuses(&IO.replace("placed = \"0x4000000000\"", "placed = \"0x4000100000\""), "multiple of the size of BAR 0");
    refuses(&IO.replace("to = \"0x4000000000\"", "to = \"0x4000000100\""), "expected addresses of the memory there");
}

/// The system with memory behind CXL.mem, a device behind CXL.io, both or none, and windows of these classes.
fn tier(mem: bool, io: bool, classes: &[&str]) -> String {
    let window = |(n, class): (usize, &&str)| {
        let to = if *class == "IO" { "0x4000000000" } else { "0" };
        format!("{{ base = \"{n} GiB\", size = \"1 GiB\", to = \"{to}\", class = \"{class}\" }}")
    };
    let windows: Vec<String> = classes.iter().enumerate().map(window).collect();
    let (mut text, _) = IO.split_once("[settings]").map(|(text, rest)| (text.to_owned(), rest)).expect("settings");
    let own = "{ base = \"0\", size = \"1 GiB\", to = \"0x4000000000\", class = \"IO\" }";
    text = text.replace(own, &windows.join(", "));
    if !io {
        let (before, device) = text.split_once("[component.device]").expect("a device");
        let (_, links) = device.split_once("[link.fabric]").expect("links");
        let (links, _) = links.split_once("[link.cxl]").expect("a link");
        text = format!("{before}[link.fabric]{links}").replace("io_ports = 1", "io_ports = 0");
        text = text.replace("device = { period = \"500 ps\" }\n", "");
    }
    if mem {
        text = text
            .replace("cxl_ports = 0", "cxl_ports = 1")
            .replace("[clock]\n", "[clock]\nmemory = { period = \"500 ps\" }\n");
        text += "[component.memory]\nkind = \"cxl.memory\"\nclock = \"memory\"\nsize = \"4 GiB\"\n";
        text += "[link.mem]\nkind = \"cxl-256b-pbr\"\nbetween = [\"bridge.cxl[0]\", \"memory.cxl\"]\n";
    }
    text
}

/// Lost tags of the cache end requests of class MN; those of class IO, of which nothing is in the cache, go on as if there was none.
#[test]
fn io_goes_on_when_tags_of_the_cache_are_lost() {
    let with = |upsets: &str| {
        let cache = format!(
            "cache = {{ mode = \"data\", capacity = \"16 KiB\", tag_store = \"hbm\", ecc = \"secded\"{upsets} }}"
        );
        // Both windows lie in what the accelerators use.
        tier(true, true, &["MN", "IO"])
            .replace("base = \"0 GiB\", size = \"1 GiB\"", "base = \"0 GiB\", size = \"2 MiB\"")
            .replace("base = \"1 GiB\"", "base = \"2 MiB\"")
            .replace("operations = 60", "operations = 200, regions = 4")
            .replace("io_ports = 1", &format!("io_ports = 1\n{cache}"))
    };
    let [whole, lost] = ["", ", upset_every = 1, upset_bits = 2"].map(|upsets| run(&with(upsets), &[]));
    assert_eq!(whole.violations, []);
    assert!(count(&lost, "bridge", "viral CXL ports") > 0 && count(&lost, "bridge", "requests refused") > 0);
    let of_io = |report: &ScenarioReport| ["requests served", "completions"].map(|name| count(report, "device", name));
    assert!(of_io(&whole)[1] > 0);
    assert_eq!(of_io(&lost), of_io(&whole));
    // Every line of class IO passes by the cache.
    assert!(count(&whole, "bridge", "cache bypasses") > 0);
}

/// Classes of messages that have passed at links of CXL.
fn passed(text: &str) -> (bool, bool) {
    let report = run(text, &[]);
    assert_eq!(report.violations, []);
    let has = |word: &str| report.messages.iter().any(|(name, count)| name.contains(word) && *count > 0);
    (has("m2s_"), has("posted"))
}

/// What a tier lacks does not pass; what it has does.
#[test]
fn brg_tir_04_p() {
    assert_eq!(passed(&tier(true, false, &["MN"])), (true, false));
    assert_eq!(passed(&tier(false, true, &["IO"])), (false, true));
    assert_eq!(passed(&tier(true, true, &["MN", "IO"])), (true, true));
}

/// A window that needs what the tier lacks is refused, whatever else there is.
#[test]
fn brg_tir_04_n() {
    for (mem, io, classes, port) in [
        (false, true, &["MN"][..], "0 ports `cxl`"),
        (false, true, &["IO", "MN"], "0 ports `cxl`"),
        (true, true, &["MC"], "0 ports `coherent`"),
        (true, false, &["IO"], "0 ports `io`"),
        (true, false, &["MN", "IO"], "0 ports `io`"),
        (false, false, &["IO"], "0 ports `io`"),
        (false, false, &["MN"], "0 ports `cxl`"),
    ] {
        let error = resolves(&tier(mem, io, classes)).err().unwrap_or_else(|| panic!("{mem} {io} {classes:?}"));
        assert!(error.contains(port), "{mem} {io} {classes:?}: {error}");
    }
}

/// GPUs of the NVLink model, and a bridge whose window of class IO is dealt among two devices.
const OF_GPUS: &str = r#"
format = 1
[system]
name = "bridge-io-nvlink"
about = "GPUs that reach registers of two devices over CXL.io"
[clock]
gpu = { period = "1 ns" }
device = { period = "500 ps" }
[component]
gpu = { kind = "nvlink.gpu", count = 2, clock = "gpu", links = 1, traffic = { pattern = "accesses", requests = 100 } }
switch = { kind = "nvlink.switch", clock = "gpu", ports = 3 }
device = { kind = "cxl.io-device", count = 2, clock = "device", bar0 = "1 GiB", bar1 = "0", placed = "0x4000000000" }
[component.bridge]
kind = "bridge.nvlink"
clock = "gpu"
cxl_ports = 0
io_ports = 2
windows = [{ base = "0", size = "1 GiB", to = "0x4000000000", class = "IO", ports = ["0", "1"], granule = "512 B" }]
[link.nvlink]
kind = "nvlink"
between = [["gpu[0].link[0]", "switch.port[0]"], ["gpu[1].link[0]", "switch.port[1]"], ["bridge.x[0]", "switch.port[2]"]]
[link.cxl]
kind = "cxl-io"
between = [["bridge.io[0]", "device[0].link"], ["bridge.io[1]", "device[1].link"]]
[settings]
"bridge.io_ack" = "component.bridge.io_ack"
"link.ber" = "link.cxl.ber"
"#;

/// Posted writes too, and the FLUSH behind them.
#[test]
fn gpus_find_every_byte_of_two_devices() {
    for set in [&[][..], &["bridge.io_ack=sent"], &["link.ber=2e-6"]] {
        let report = sound(OF_GPUS, set);
        assert!(count(&report, "device[0]", "completions") > 0 && count(&report, "device[1]", "completions") > 0);
    }
}
