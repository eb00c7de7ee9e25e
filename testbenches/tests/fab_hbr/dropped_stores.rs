//! What the check of a host makes of accesses that reach nothing and are completed all the same (`fabric` CMR-4, CMR-5): the bytes
//! of such a store are unknown until they are written again, those bytes alone, and of reads those alone are excused that
//! reached nothing.

use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};

/// A host, a switch and a memory; from 5 us to 9 us requests reach nothing.
const GAP: &str = r#"
format = 1
[clock]
core = { period = "500 ps" }
switch = { period = "1 ns", phase = "250 ps" }
[component.host]
kind = "cxl.host"
clock = "core"
timeout = "8 us"
outstanding = 8
cache = { size = 0 }
stimulus = { kind = "trace", file = "TRACE" }
[component.switch]
kind = "cxl.switch.hbr"
clock = "switch"
bindings = [{ vcs = 0, vppb = 0, port = 0 }]
WHY
[component.mem]
kind = "cxl.memory"
clock = "core"
[link.up]
kind = "FORM"
between = ["host.cxl", "switch.usp[0]"]
[link.down]
kind = "FORM"
between = ["switch.dsp[0]", "mem.cxl"]
"#;

/// Why requests reach nothing from 5 us to 9 us.
const WHYS: [&str; 2] = [
    r#"commands = [{ at = "5 us", command = "unbind", vcs = 0, vppb = 0 }, { at = "9 us", command = "bind", vcs = 0, vppb = 0, port = 0 }]"#,
    r#"commands = [{ at = "5 us", command = "remove", port = 0 }, { at = "9 us", command = "insert", port = 0 }]"#,
];
/// Why they reach nothing up to 5.5 us.
const LATE: &str = r#"commits = [{ vcs = 0, table = "hdm", at = "5 us", takes = "500 ns" }]"#;
const FORMS: [&str; 2] = ["cxl-256b", "cxl-68b"];
/// Bits flip with each access.
const UPSETS: [&str; 2] = ["component.mem.ecc.upset_every=1", "component.mem.ecc.upset_bits=64"];

fn run(why: &str, form: &str, trace: &str, set: &[&str]) -> ScenarioReport {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("t.csv");
    std::fs::write(&file, trace).expect("it is written");
    let text = GAP.replace("WHY", why).replace("FORM", form).replace("TRACE", file.to_str().expect("a plain path"));
    let request = ScenarioRequest {
        scenario: "f.toml".into(),
        description: Some(text),
        seed: 1,
        set: set.iter().map(|one| (*one).to_owned()).collect(),
        ..ScenarioRequest::default()
    };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{why} {form}: {error}"))
}

/// Lines of which bytes were found wrong.
fn wrong(report: &ScenarioReport) -> Vec<String> {
    let found = report.violations.iter();
    found.for_each(|one| assert_eq!(one.violation.rule, "SIM-E2E-01", "{:?}", one.violation));
    let line = |text: &str| text.split("line ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    report.violations.iter().filter_map(|one| line(&one.violation.text)).collect()
}

/// The rule stays silent about a store that was dropped, whether a read was missed beside it or not.
#[test]
fn a_dropped_store_leaves_its_line_unknown() {
    for form in FORMS {
        for missed in ["", "13000,R,0x2000,64\n"] {
            for why in WHYS {
                let trace = format!("0,W,0x1000,64\n12000,W,0x1000,64\n{missed}40000,R,0x1000,64\n");
                assert_eq!(run(why, form, &trace, &[]).violations, [], "{why} {form} {missed}");
                let part = format!("0,W,0x1000,64\n12000,W,0x1008,8\n{missed}40000,R,0x1000,64\n");
                assert_eq!(run(why, form, &part, &[]).violations, [], "{why} {form} {missed}");
            }
            let missed = missed.replace("13000", "300");
            let trace = format!("200,W,0x1000,64\n{missed}40000,R,0x1000,64\n");
            assert_eq!(run(LATE, form, &trace, &[]).violations, [], "{form} {missed}");
        }
    }
}

/// It is checked again once it has been written, and so are the bytes beside a store of a part.
#[test]
fn a_line_that_is_written_again_is_checked_again() {
    for form in FORMS {
        for why in WHYS {
            let again = "12000,W,0x1000,64\n40000,W,0x1000,64\n50000,R,0x1000,64\n";
            assert_eq!(run(why, form, again, &[]).violations, [], "{why} {form}");
            assert_eq!(wrong(&run(why, form, again, &UPSETS)), ["0x1000"], "{why} {form}");
            let part = "0,W,0x1000,64\n12000,W,0x1000,8\n40000,R,0x1000,64\n";
            assert_eq!(wrong(&run(why, form, part, &UPSETS)), ["0x1000"], "{why} {form}");
        }
    }
}

/// Neither a read that reached nothing nor a dropped store excuses another line.
#[test]
fn what_reached_nothing_excuses_no_other_line() {
    for form in FORMS {
        let rest = "40000,W,0x3000,64\n50000,R,0x3000,64\n60000,R,0x3000,64\n";
        for why in WHYS {
            for missed in ["13000,R,0x2000,64\n", "13000,W,0x2000,64\n"] {
                let report = run(why, form, &format!("{missed}{rest}"), &UPSETS);
                assert_eq!(wrong(&report), ["0x3000", "0x3000"], "{why} {form} {missed}");
            }
        }
        let report = run(LATE, form, &format!("200,R,0x2000,64\n{rest}"), &UPSETS);
        assert_eq!(wrong(&report), ["0x3000", "0x3000"], "{form}");
    }
}

/// Two hosts under resets, removals, containment and time-outs, with a root port that is isolated and without.
#[test]
fn whatever_happens_to_bindings_no_store_is_found_wrong() {
    let text = r#"
format = 1
[clock]
host = { period = "500 ps" }
switch = { period = "1 ns", phase = "250 ps" }
[component.host]
kind = "cxl.host"
count = 2
clock = "host"
timeout = "8 us"
outstanding = 8
stimulus = { pattern = "mix", accesses = 1500, region_lines = 512, order = "random" }
[component.switch]
kind = "cxl.switch.hbr"
clock = "switch"
hosts = 2
ports = 3
drain_limit = "1 us"
link_errors = "on"
bindings = [{ vcs = 0, vppb = 0, port = 0, ld = 0 }, { vcs = 1, vppb = 0, port = 0, ld = 1 }, { vcs = 0, vppb = 1, port = 1 }, { vcs = 1, vppb = 1, port = 2 }]
commands = [
  { at = "1500 ns", command = "reset", scope = "upstream", vcs = 1 },
  { at = "1600 ns", command = "remove", port = 0 },
  { at = "4600 ns", command = "unbind", vcs = 1, vppb = 1, option = "surprise" },
  { at = "6800 ns", command = "link-down", port = 1 },
  { at = "15802 ns", command = "reset", scope = "port", port = 1 },
]
[component.pool]
kind = "cxl.memory"
clock = "host"
size = "2 GiB"
logical_devices = 2
[component.mem]
kind = "cxl.memory"
clock = "host"
size = "1 GiB"
count = 2
[link]
hosts = { kind = "cxl-256b", between = ["host[i].cxl", "switch.usp[i]"], ber = 1e-6 }
pool = { kind = "cxl-256b", between = ["switch.dsp[0]", "pool.cxl"], ber = 1e-6 }
mem = { kind = "cxl-256b", between = [["switch.dsp[1]", "mem[0].cxl"], ["switch.dsp[2]", "mem[1].cxl"]] }
[memory_map]
p0 = { base = "0x1000_0000", size = "512 MiB", targets = ["pool.ld[0]", "mem[0]"] }
p1 = { base = "0x1_0000_0000", size = "512 MiB", targets = ["pool.ld[1]", "mem[1]"] }
"#;
    for isolated in ["", "isolate_on = \"timeout\"\n"] {
        for seed in 1..=6 {
            let request = ScenarioRequest {
                scenario: "f.toml".into(),
                description: Some(text.replace("outstanding = 8", &format!("{isolated}outstanding = 8"))),
                seed,
                ..ScenarioRequest::default()
            };
            let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(report.violations, [], "{isolated} {seed}");
        }
    }
}
