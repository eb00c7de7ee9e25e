//! Systems whose accelerators reach devices of CXL.io by a bridge.

use super::systems::resolves;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

/// Two accelerators and a bridge around a switch; behind the bridge a device whose BARs firmware has placed.
pub const IO: &str = r#"
format = 1
[system]
name = "bridge-io"
about = "accelerators that reach registers of a device over CXL.io"
[clock]
accel = { period = "640 ps" }
bridge = { period = "1 ns" }
device = { period = "500 ps" }
[component.accel]
kind = "ualink.accelerator"
count = 2
clock = "accel"
traffic = { operations = 60 }
[component.bridge]
kind = "bridge.ualink"
clock = "bridge"
cxl_ports = 0
io_ports = 1
windows = [{ base = "0", size = "1 GiB", to = "0x4000000000", class = "IO" }]
[component.switch]
kind = "ualink.switch"
clock = "accel"
ports = 3
[component.device]
kind = "cxl.io-device"
clock = "device"
bar0 = "1 GiB"
bar1 = "0"
placed = "0x4000000000"
[link.fabric]
kind = "ualink"
order = "relaxed"
between = [
  ["accel[0].port[0]", "switch.port[0]"],
  ["accel[1].port[0]", "switch.port[1]"],
  ["bridge.x[0]", "switch.port[2]"],
]
[link.cxl]
kind = "cxl-io"
between = ["bridge.io[0]", "device.link"]
[settings]
"traffic.operations" = "component.accel.traffic.operations"
"traffic.mix" = "component.accel.traffic.mix"
"traffic.bytes" = "component.accel.traffic.bytes"
"traffic.blocks" = "component.accel.traffic.blocks"
"traffic.poison_every" = "component.accel.traffic.poison_every"
"accel.vcs" = "component.accel.vcs"
"bridge.io_ack" = "component.bridge.io_ack"
"bridge.io_mode" = "component.bridge.io_mode"
"bridge.entries" = "component.bridge.entries"
"link.ber" = "link.cxl.ber"
"link.rate" = "link.cxl.rate"
"link.cachemem" = "link.cxl.cachemem"
"device.latency_cycles" = "component.device.latency_cycles"
"device.placed" = "component.device.placed"
"#;

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
        &["traffic.mix=writes", "traffic.bytes=4"],
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
