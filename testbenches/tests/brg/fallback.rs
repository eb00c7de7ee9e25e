//! Links without role P: windows of class MN and MC that fall back to class IO as they declare, and a bridge whose links all carry 68B flits
//! (`bridge` §1.2, §4.1, BRG-PRT-04).

use super::io_systems::{IO, run};
use super::systems::{TEXT as DIRECT, resolves};
use crate::fab_hbr::systems::count;
use scalepool::scenario::report::ScenarioReport;

const OF_CLASS_IO: &str = "class = \"IO\" }";

/// The device of CXL.io behind a window of a class that needs role P, with these fields more.
fn window(class: &str, more: &str) -> String {
    IO.replace(OF_CLASS_IO, &format!("class = \"{class}\"{more} }}"))
}

/// What is said of a description that is taken.
fn warnings(text: &str) -> Vec<String> {
    resolves(text).unwrap_or_else(|error| panic!("{error}")).warnings.lines()
}

fn passed(report: &ScenarioReport, word: &str) -> u64 {
    report.messages.iter().filter(|(name, _)| name.contains(word)).map(|(_, count)| count).sum()
}

/// The window works as one of class IO, whatever class it declares; the run, the check, and a later epoch say so.
#[test]
fn brg_prt_04_p() {
    let io = run(IO, &[]);
    for (class, more) in [("MN", ""), ("MC", ", without coherence")] {
        let text = window(class, ", fallback = \"io\"");
        let report = run(&text, &[]);
        assert_eq!(report.violations, [], "{class}");
        assert_eq!(report.messages, io.messages, "{class}: it is class IO, message by message");
        assert!(passed(&report, "posted") > 0 && passed(&report, "m2s_") == 0, "{class}");
        let said = format!("window 0: class {class} falls back to class IO at io[0]{more}");
        assert!(report.remarks.iter().any(|remark| remark.contains(&said)), "{:?}", report.remarks);
        let [line] = &warnings(&text)[..] else { panic!("one line: {:?}", warnings(&text)) };
        assert!(line.contains("component.bridge.windows") && line.contains(&said), "{line}");
        let later = text.replace(
            "io_ports = 1\n",
            "io_ports = 1\ncommits = [{ at = \"1 us\", windows = [{ size = \"1 GiB\", to = \"0x4000000000\", fallback = \"io\" }] }]\n",
        );
        assert!(warnings(&later).iter().any(|line| line.contains("commit 0: window 0: class MN falls back")));
    }
    assert_eq!(warnings(IO), [""; 0]);
    // Where role P is, nothing falls back.
    let declared = DIRECT.replacen("class = \"MN\"", "class = \"MN\", fallback = \"io\"", 1);
    assert_ne!(DIRECT, declared);
    assert_eq!(warnings(&declared), [""; 0]);
}

/// Without a word of it, or with a word that leads nowhere, such a window is refused.
#[test]
fn brg_prt_04_n() {
    let two = |ports: &str| window("MN", &format!(", ports = [{ports}], fallback = \"io\""));
    for (text, expected) in [
        (window("MN", ""), "expected one of the 0 ports `cxl`, whose links have port based routing and 256B flits"),
        (window("MC", ""), "expected one of the 0 ports `coherent`, whose links have port based routing"),
        (window("MN", ""), "or fallback = \"io\""),
        (window("MN", ", fallback = \"cc\""), "expected io"),
        (window("IO", ", fallback = \"io\""), "found a window of class IO with a fallback, expected none"),
        (window("CC", ", fallback = \"io\""), "found a window of class CC with a fallback, expected none"),
        (two("\"1\""), "class MN at port 1, expected one of the 1 ports `io`, by which it is reached as class IO"),
        // Half of it by CXL.mem and half by CXL.io is no window.
        (
            two("\"0\", \"1\"").replace("cxl_ports = 0", "cxl_ports = 1").replace("io_ports = 1", "io_ports = 2"),
            "class MN at port 1, expected one of the 1 ports `cxl`",
        ),
    ] {
        let error = resolves(&text).err().unwrap_or_else(|| panic!("{expected}: it is taken"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // Links of 68B flits, and others without port based routing, do not give it: not to who asks, and of 68B flits not to a home.
    for kind in ["cxl-68b", "cxl-256b"] {
        let error = resolves(&OLD.replace("cxl_ports = 0", "cxl_ports = 1").replace("host[0]", "cxl[0]")).err();
        let error = error.unwrap_or_else(|| panic!("{kind} is taken"));
        assert!(error.contains("bridge.cxl[0]") && error.contains("cxl-256b-pbr"), "{error}");
    }
    let home = OLD
        .replace("target_ports", "home_ports")
        .replace("bridge.target[0]", "bridge.home[0]")
        .replace("class = \"NH\"", "class = \"DB\"");
    let error = resolves(&home).err().expect("HDM-DB needs flits of 256 bytes");
    assert!(error.contains("found a link of kind `cxl-68b` at `bridge.home[0]`"), "{error}");
}

/// A bridge with links of 68B flits alone: memory of a host and a device of CXL.io outbound, memory of accelerators for a host and behind a
/// BAR inbound.
const OLD: &str = r#"
format = 1
[system]
name = "bridge-of-68b"
about = "a bridge all of whose links of CXL carry 68B flits"
[clock]
accel = { period = "640 ps" }
bridge = { period = "1 ns" }
agents = { period = "500 ps" }
[component]
accel = { kind = "ualink.accelerator", count = 2, clock = "accel", traffic = { operations = 60, regions = 4 } }
switch = { kind = "ualink.switch", clock = "accel", ports = 3 }
home = { kind = "cxl.home", clock = "agents", ports = 1 }
device = { kind = "cxl.io-device", clock = "agents", bar0 = "1 GiB", bar1 = "0", placed = "0x4000000000" }
host = { kind = "cxl.host", clock = "agents", stimulus = { pattern = "mix", accesses = 60, region_lines = 64, base = "8 GiB" } }
root = { kind = "cxl.root", clock = "agents", mode = "cxl-68b", accesses = 40, timeout = "1 ms" }
[component.bridge]
kind = "bridge.ualink"
clock = "bridge"
cxl_ports = 0
host_ports = 1
io_ports = 1
io_mode = "cxl-68b"
entries = 256
target_ports = 1
bar_ports = 1
bar_mode = "cxl-68b"
windows = [
  { base = "0", size = "2 MiB", to = "0", class = "CC" },
  { base = "2 MiB", size = "1 GiB", to = "0x4000000000", class = "IO" },
]
inbound = [
  { base = "8 GiB", size = "64 MiB", to = "8 GiB", class = "NH" },
  { base = "0", size = "64 MiB", to = "12 GiB", class = "BR" },
]
[link]
host = { kind = "cxl-68b", between = ["home.port[0]", "bridge.host[0]"] }
memory = { kind = "cxl-68b", between = ["host.cxl", "bridge.target[0]"] }
device = { kind = "cxl-io", rate = 16, between = ["bridge.io[0]", "device.link"] }
root = { kind = "cxl-io", rate = 16, between = ["root.link", "bridge.bar[0]"] }
fabric = { kind = "ualink", order = "relaxed", between = [
  ["accel[0].port[0]", "switch.port[0]"], ["accel[1].port[0]", "switch.port[1]"], ["bridge.x[0]", "switch.port[2]"],
] }
"#;

/// All four classes that links of 68B flits have work beside each other.
#[test]
fn a_bridge_of_68b_links_works_both_ways() {
    let report = run(OLD, &[]);
    assert_eq!(report.violations, []);
    let of = |name| count(&report, "bridge", name);
    assert_eq!((of("requests refused"), of("inbound refused"), of("inbound messages")), (0, 0, 60));
    assert!(of("requests answered") == 60 && of("BAR requests") > 20);
    assert!(passed(&report, "h2d_") > 0 && count(&report, "device", "requests served") > 0);
    assert_eq!(passed(&report, "bisnp"), 0);
}
