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
