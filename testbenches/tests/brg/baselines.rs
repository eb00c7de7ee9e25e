//! Baselines beside the bridge (BRG-BAS-01, BRG-BAS-02): remote memory by operations, and a supercluster without tiers.

use super::systems::resolves;
use scalepool::bridge::remote::RemoteOperation;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

const NS: u64 = 1_000_000;

/// Two accelerators and remote memory around a switch; one operation at a time goes to it alone.
const UALINK: &str = r#"
format = 1
[clock]
accel = { period = "1 ns" }
[component]
accel = { kind = "ualink.accelerator", clock = "accel", outstanding = 1, traffic = { operations = 30, mix = "all", pattern = "ring" } }
remote = { kind = "net.rdma", clock = "accel", size = "1 GiB" }
[link.ualink]
kind = "ualink"
order = "relaxed"
between = ["accel.port[0]", "remote.x[0]"]
[settings]
transport = "component.remote.transport"
software = "component.remote.software"
outstanding = "component.accel.outstanding"
size = "component.remote.size"
mix = "component.accel.traffic.mix"
"#;

/// The same with GPUs of the NVLink model.
const NVLINK: &str = r#"
format = 1
[clock]
core = { period = "1 ns" }
[component]
gpu = { kind = "nvlink.gpu", count = 2, clock = "core", links = 1, traffic = { pattern = "accesses", requests = 60 } }
switch = { kind = "nvlink.switch", clock = "core", ports = 3 }
remote = { kind = "net.rdma", clock = "core", transport = "c2c-nvlink" }
[link]
nvlink = { kind = "nvlink", between = [["gpu[0].link[0]", "switch.port[0]"], ["gpu[1].link[0]", "switch.port[1]"], ["remote.x[0]", "switch.port[2]"]] }
[settings]
transport = "component.remote.transport"
"#;

fn run(text: &str, set: &[&str]) -> ScenarioReport {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request =
        ScenarioRequest { description: Some(text.to_owned()), seed: 1, threads: 1, set, ..Default::default() };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

fn sound(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set);
    assert_eq!(report.violations, [], "{set:?}");
    report
}

fn count(report: &ScenarioReport, name: &str) -> u64 {
    let json = report.json();
    json["components"]["remote"][name].as_u64().unwrap_or_else(|| panic!("no `{name}`: {json:?}"))
}

/// The sum by hand, of 64 B, 4 KiB and 1 MiB: 50 GB/s are 50 bytes a nanosecond.
#[test]
fn brg_bas_01_p() {
    let rdma = RemoteOperation::RDMA;
    let by_hand = [(64, 3_001_280_000), (4096, 3_081_920_000), (1 << 20, 23_971_520_000)];
    for (bytes, expected_fs) in by_hand {
        assert_eq!(rdma.time_fs(bytes), expected_fs, "{bytes}");
        let without = RemoteOperation { software_fs: 0, ..rdma };
        assert_eq!(without.time_fs(bytes), expected_fs - 2000 * NS, "{bytes}");
    }
    assert_eq!(RemoteOperation::C2C_PCIE.time_fs(64_000), 600 * NS + 1000 * NS);
    assert_eq!([RemoteOperation::C2C_NVLINK, RemoteOperation::C2C_PCIE].map(|c2c| c2c.software_fs), [0, 0]);
    // An accelerator that asks for one after the other sees the software in each of them, and every byte is right.
    let mean = |set: &[&str]| sound(UALINK, set).json()["latency_fs"]["mean"].as_f64().expect("a mean");
    let differs = mean(&[]) - mean(&["software=0"]);
    assert!((differs - 2e9).abs() < 1e7, "{differs} fs, not 2 us but for clock edges and places in code words");
    let differs = mean(&[]) - mean(&["component.remote.network=0"]);
    assert!((differs - 1e9).abs() < 1e7, "{differs} fs, not 1 us");
    // At 50 MB/s a byte takes 20 ns in place of 20 ps.
    let bytes = count(&sound(UALINK, &[]), "remote bytes") as f64 / 30.0;
    let differs = mean(&["component.remote.bandwidth=50"]) - mean(&[]);
    assert!((differs - bytes * 19.98e6).abs() < 1e7, "{differs} fs for {bytes} bytes");
    // Operations at once share the line: at 50 MB/s all their bytes take 20 ns each, one behind the other.
    let shared = sound(UALINK, &["outstanding=64", "component.remote.bandwidth=50"]);
    let of_bytes = count(&shared, "remote bytes") as f64 * 2e7;
    let over = shared.time_fs as f64 - of_bytes;
    assert!((0.0..2e10).contains(&over), "{over} fs beside {of_bytes}");
    let many = sound(UALINK, &["transport=c2c-pcie", "outstanding=64"]);
    assert_eq!(
        ["remote reads", "remote writes", "remote atomics"].map(|name| count(&many, name)).iter().sum::<u64>(),
        30
    );
    let nvlink = sound(NVLINK, &[]);
    assert!(count(&nvlink, "remote bytes") > 1000, "{:?}", nvlink.json());
}

/// A sum without one of its terms is not that by hand; what lies behind the memory is refused, and so is another protocol at a port.
#[test]
fn brg_bas_01_n() {
    let rdma = RemoteOperation::RDMA;
    for (bytes, by_hand) in [(64, 3_001_280_000), (4096, 3_081_920_000), (1 << 20, 23_971_520_000)] {
        let without_software = RemoteOperation { software_fs: 0, ..rdma };
        let without_network = RemoteOperation { network_fs: 0, ..rdma };
        let without_bytes = RemoteOperation { mbytes_per_s: u64::MAX, ..rdma };
        for left_out in [without_software, without_network, without_bytes] {
            assert_ne!(left_out.time_fs(bytes), by_hand, "{left_out:?}");
        }
    }
    let small = run(UALINK, &["size=256 B", "mix=writes"]);
    assert!(count(&small, "remote requests refused") > 0);
    assert!(small.violations.iter().any(|placed| placed.violation.rule == "SIM-E2E-02"), "{:?}", small.violations);
    // Refused without software and network, it takes no time at all, and is answered all the same.
    let network = "component.remote.network=0";
    let at_once = run(UALINK, &["size=256 B", "mix=writes", "software=0", network]);
    let is_stalled = at_once.violations.iter().any(|placed| placed.violation.rule == "SIM-E2E-03");
    assert!(!is_stalled && count(&at_once, "remote requests refused") > 0, "{:?}", at_once.violations);
    let strict = UALINK.replace("kind = \"ualink\"\n", "kind = \"ualink\"\nauthentication = \"on\"\n");
    let error = resolves(&strict).err().expect("it is refused");
    assert!(error.contains("authentication"), "{error}");
}

const TIERED: &str = include_str!("../../../src/system/builtin/supercluster-small.toml");
const UNTIERED: &str = include_str!("../../systems/supercluster_untiered.toml");

/// Lines of the windows of bridges to CXL, each with its CXL port.
fn windows(text: &str) -> Vec<(&str, &str)> {
    let is_window = |line: &&str| line.trim_start().starts_with("{ base") && !line.contains("accelerators");
    let port =
        |line: &str| line.split("ports = [\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("0").to_owned();
    text.lines().filter(is_window).map(|line| (line, if port(line) == "1" { "1" } else { "0" })).collect()
}

/// What of a description is compared: all but comments, its name and these windows.
fn without_windows(text: &str) -> Vec<&str> {
    let windows: Vec<&str> = windows(text).into_iter().map(|(line, _)| line).collect();
    let is_compared = |line: &&str| {
        !line.starts_with('#') && !line.starts_with("name =") && !line.starts_with("about =") && !windows.contains(line)
    };
    text.lines().filter(is_compared).map(|line| line.split(" #").next().unwrap_or_default()).collect()
}

fn ports_of_windows(text: &str) -> Vec<&str> {
    windows(text).into_iter().map(|(_, port)| port).collect()
}

/// What of the windows is the same however their memory is reached: base, size and whatever else, but for where they lead.
fn ranges_of_windows(text: &str) -> Vec<Vec<&str>> {
    let is_range = |field: &&str| !field.starts_with("to =") && !field.starts_with("ports =");
    windows(text).into_iter().map(|(line, _)| line.split(", ").filter(is_range).collect()).collect()
}

/// The same clusters and links, no window that leads to tier 2, and every byte is right.
#[test]
fn brg_bas_02_p() {
    assert_eq!(without_windows(UNTIERED), without_windows(TIERED));
    assert_eq!(ranges_of_windows(UNTIERED), ranges_of_windows(TIERED));
    // Port 0 of the UALink bridge and port 1 of the NVLink bridge lead to tier 2.
    assert_eq!(ports_of_windows(TIERED), ["0", "1", "0", "1"]);
    assert_eq!(ports_of_windows(UNTIERED), ["1", "1", "0", "0"]);
    sound(UNTIERED, &["traffic.operations=30", "gpu.requests=20", "host.accesses=30"]);
}

/// Another difference is seen: a link less, another size of a cluster.
#[test]
fn brg_bas_02_n() {
    for (from, to) in [("count = 4", "count = 3"), ("ports = 5", "ports = 6"), ("\"cxl-256b-pbr\"", "\"cxl-256b\"")] {
        assert_ne!(without_windows(&UNTIERED.replacen(from, to, 1)), without_windows(TIERED), "{to}");
    }
    for (from, to) in [
        ("{ base = \"0\", size = \"5 MiB\"", "{ base = \"0\", size = \"4 MiB\""),
        ("{ base = \"5 MiB\"", "{ base = \"6 MiB\""),
        ("ports = [\"1\"]", "rights = [], ports = [\"1\"]"),
    ] {
        assert_ne!(ranges_of_windows(&UNTIERED.replacen(from, to, 1)), ranges_of_windows(TIERED), "{to}");
    }
    let tier2 = UNTIERED.replacen("ports = [\"1\"]", "ports = [\"0\"]", 1);
    assert_ne!(ports_of_windows(&tier2), ["1", "1", "0", "0"]);
}
