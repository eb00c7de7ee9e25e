//! Resets while a system runs (`fabric` §1.4): whom they reach, and that they leave nothing open.

use super::manager::{of_the_other_host, seen_by_the_other_host, with};
use super::systems::{POOLED, count, on_threads, refused, run};
use scalepool::scenario::report::ScenarioReport;

/// `pooled-pair`, whose hosts read, with a reset. Nothing was written, so every byte that a memory brings is known, before a reset and
/// after it.
fn reset(at: &str, what: &str, set: &[&str]) -> ScenarioReport {
    let command = format!("{{ at = \"{at}\", command = \"reset\", {what} }}");
    let report = with(&command, &[&["host.accesses=2500", "host.pattern=reads"], set].concat());
    // The run has come to its end with nothing open.
    assert_eq!(report.violations, [], "{at} {what}");
    assert_eq!(count(&report, "switch", "commands refused"), 0, "{at} {what}");
    report
}

/// For each host, whether requests of it were open and ended by their time-out. Most others got their bytes.
fn noticed(report: &ScenarioReport) -> [bool; 2] {
    ["host[0]", "host[1]"].map(|host| {
        let of = |name| count(report, host, name);
        let (lost, unmapped) = (of("requests timed out"), of("reads not decoded"));
        assert!(lost + unmapped < of("reads") / 2, "{host}: the reset does not end, {lost} and {unmapped}");
        // An unmapped read brings bytes, those that are all ones.
        assert_eq!(of("reads") * 64, of("bytes") + lost * 64, "{host}: each read ends once");
        lost > 0
    })
}

const UPSTREAM: &str = "scope = \"upstream\", vcs = 1";
const VPPB: &str = "scope = \"vppb\", vcs = 1";
const PORT: &str = "scope = \"port\"";
const SWITCH: &str = "scope = \"switch\"";

/// Which hosts a reset reaches; vPPBs that the switch says it has reset are one for each of them.
fn reached_at(at: &str, what: &str) -> [bool; 2] {
    let report = reset(at, what, &[]);
    let hosts = noticed(&report);
    let resets = count(&report, "switch", "vPPBs reset");
    assert_eq!(resets, hosts.map(u64::from).iter().sum::<u64>(), "{at} {what}");
    hosts
}

/// The same at two times, of which one is no edge of the clock of the switch.
fn reached(what: &str) -> [bool; 2] {
    let [early, later] = ["2 us", "4003 ns"].map(|at| reached_at(at, what));
    assert_eq!(early, later, "{what}");
    early
}

/// The whole switch: everybody behind it.
#[test]
fn fab_rst_01_p() {
    assert_eq!(reached(SWITCH), [true, true]);
}

/// A reset that leaves a hierarchy out is seen.
#[test]
fn fab_rst_01_n() {
    assert_eq!(reached_at("2 us", UPSTREAM), [false, true]);
}

/// PERST# of an upstream port: the logical device of its hierarchy, and not that of the other one.
#[test]
fn fab_rst_02_p() {
    assert_eq!(reached(UPSTREAM), [false, true]);
    assert_eq!(reached_at("2 us", "scope = \"upstream\""), [true, false]);
}

/// A reset that the other hierarchy notices is seen.
#[test]
fn fab_rst_02_n() {
    assert_eq!(reached_at("2 us", PORT), [true, true]);
}

/// Two hosts that read and write, the first one in front of one device, the second one in front of two that share its lines.
fn two_ports(what: &str) -> ScenarioReport {
    let text = format!(
        "format = 1\n[system]\nname = \"two-ports\"\n[clock]\ncore = {{ period = \"500 ps\" }}\n\
         [component.host]\nkind = \"cxl.host\"\ncount = 2\ntimeout = \"5 us\"\n\
         stimulus = {{ pattern = \"mix\", accesses = 1500, region_lines = 64, base = \"1 GiB\" }}\n\
         at = {{ 1 = {{ stimulus = {{ base = \"4 GiB\" }} }} }}\n\
         [component.switch]\nkind = \"cxl.switch.hbr\"\nhosts = 2\nports = 3\n\
         bindings = [{{ port = 0 }}, {{ vcs = 1, port = 1 }}, {{ vcs = 1, vppb = 1, port = 2 }}]\n\
         commands = [{{ at = \"2 us\", command = \"reset\", {what} }}]\n\
         [component.memory]\nkind = \"cxl.memory\"\ncount = 3\nsize = \"1 GiB\"\n\
         [link.hosts]\nkind = \"cxl-256b\"\nbetween = [\"host[i].cxl\", \"switch.usp[i]\"]\n\
         [link.memory]\nkind = \"cxl-256b\"\nbetween = [\"switch.dsp[i]\", \"memory[i].cxl\"]\n\
         [memory_map.one]\nbase = \"1 GiB\"\nsize = \"1 GiB\"\ntargets = [\"memory[0]\"]\n\
         [memory_map.two]\nbase = \"4 GiB\"\nsize = \"2 GiB\"\ntargets = [\"memory[1]\", \"memory[2]\"]\n"
    );
    let report = run(&text, &[]).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(report.violations, [], "{what}");
    report
}

/// What a reset of `two_ports` ended at each host, and the vPPBs that it reset.
fn ended(what: &str) -> [u64; 3] {
    let report = two_ports(what);
    let lost = |host| count(&report, host, "requests timed out");
    [lost("host[0]"), lost("host[1]"), count(&report, "switch", "vPPBs reset")]
}

/// A hot reset of an upstream port, or SBR in its vPPB: both devices of its hierarchy, whose open requests add up to what the host
/// loses, and not that of the other one.
#[test]
fn fab_rst_03_p() {
    let [both, first, second] = [UPSTREAM, VPPB, "vcs = 1, vppb = 1"].map(ended);
    assert!(first[1] > 0 && second[1] > 0, "{first:?} {second:?}");
    assert_eq!(both, [0, first[1] + second[1], 2]);
    assert_eq!([first[2], second[2]], [1, 1]);
    let [other, none, one] = ended("scope = \"upstream\"");
    assert_eq!((other > 0, none, one), (true, 0, 1));
}

/// A reset of one of its devices alone is seen, and so is one of the whole switch.
#[test]
fn fab_rst_03_n() {
    let [both, first, all] = [UPSTREAM, VPPB, SWITCH].map(ended);
    assert!(0 < first[1] && first[1] < both[1], "{first:?} {both:?}");
    assert_eq!((all[0] > 0, all[1], all[2]), (true, both[1], 3));
}

/// SBR in one vPPB: what it is bound to.
#[test]
fn fab_rst_04_p() {
    assert_eq!(reached(VPPB), [false, true]);
}

/// A reset of more than that is seen.
#[test]
fn fab_rst_04_n() {
    assert_eq!(reached_at("4003 ns", SWITCH), [true, true]);
}

/// The manager resets a port: all of its logical devices.
#[test]
fn fab_rst_05_p() {
    assert_eq!(reached(PORT), [true, true]);
}

/// A reset of one logical device alone is seen.
#[test]
fn fab_rst_05_n() {
    assert_eq!(reached_at("4003 ns", VPPB), [false, true]);
}

const RESETS: [&str; 3] = ["4 us", "5 us", "6 us"];

/// What the first host sees while a scope is reset three times.
fn seen_with_resets(scope: &str) -> Vec<String> {
    let resets = RESETS.map(|at| format!("{{ at = \"{at}\", command = \"reset\", {scope} }}"));
    let (seen, report) = seen_by_the_other_host(&resets.join(", "), &[]);
    assert_eq!(count(&report, "switch", "commands refused"), 0);
    let resets = if scope == PORT { 6 } else { 3 };
    assert_eq!(count(&report, "switch", "vPPBs reset"), resets);
    seen
}

/// The reset of a logical device leaves the link up and the other logical device alone: record by record beside a host that is
/// idle, and beside one whose requests are ended, by what the link of the device tells of itself.
#[test]
fn fab_rst_07_p() {
    assert!(seen_with_resets("vcs = 1") == of_the_other_host("", &[]));
    let report = reset("2 us", VPPB, &[]);
    assert_eq!(noticed(&report), [false, true]);
    let link = |name: &str| report.json()["links"]["device"][name].as_u64().unwrap_or_else(|| panic!("{name}"));
    assert_eq!(["retries", "damaged", "replayed flits", "Nak flits", "bad flits"].map(link), [0; 5]);
    let passed = count(&report, "switch", "switched M2S Req");
    assert_eq!(link("cxl256.m2s_req"), passed, "every request that the switch has passed on came to the device");
}

/// A reset that reaches the other logical device is seen in the same records.
#[test]
fn fab_rst_07_n() {
    assert!(seen_with_resets(PORT) != of_the_other_host("", &[]));
}

/// A reset awaits the last answer, however long a bind would wait: the limit of a drain changes nothing that hosts see.
#[test]
fn a_reset_has_no_limit() {
    let hosts = |limit: &str| {
        let json = reset("2 us", VPPB, &[limit]).json();
        ["host[0]", "host[1]"].map(|host| json["components"][host].clone())
    };
    assert_eq!(hosts("component.switch.drain_limit=10 ns"), hosts("component.switch.drain_limit=100 us"));
}

/// Media keep their bytes. One request is open at a time, and a reset that meets none has ended when the next one comes: no read is
/// unmapped, and every byte that was written is compared.
#[test]
fn what_was_written_stays_in_a_reset() {
    let set = ["host.accesses=80", "host.outstanding=1", "host.region_lines=8"];
    let is_quiet = |at: &u64| {
        let report = with(&format!("{{ at = \"{at} ns\", command = \"reset\", {SWITCH} }}"), &set);
        assert_eq!(report.violations, [], "{at} ns");
        assert_eq!(count(&report, "switch", "vPPBs reset"), 2, "{at} ns");
        let host = |name| count(&report, "host[1]", name);
        assert!(host("reads") > 20 && host("writes") > 20, "{at} ns");
        host("requests timed out") + host("reads not decoded") == 0
    };
    let quiet = [6000, 6060, 6120, 6180, 6240, 6300, 6360].iter().filter(|at| is_quiet(at)).count();
    assert!((1..7).contains(&quiet), "{quiet} of 7 resets met no request");
}

/// On a 68B link all ones are the only sign of an unmapped read, and no wrong byte.
#[test]
fn unmapped_reads_of_a_68b_link_are_told_from_wrong_bytes() {
    for pattern in ["reads", "mix"] {
        let set = ["link.mode=cxl-68b", "host.accesses=1000", &format!("host.pattern={pattern}")];
        let report = with("{ at = \"2 us\", command = \"unbind\", vcs = 1 }", &set);
        assert_eq!(report.violations, [], "{pattern}");
        let count = |name| count(&report, "host[1]", name);
        let (unmapped, reads) = (count("reads not decoded"), count("reads"));
        assert!(0 < unmapped && unmapped < reads, "{pattern}: {unmapped} of {reads}");
    }
}

#[test]
fn resets_are_the_same_on_any_number_of_threads() {
    let text = POOLED
        .replace("preset = \"cxl_switch\"", "commands = [{ at = \"5 us\", command = \"reset\", scope = \"port\" }]")
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    let [one, two] = [1, 2].map(|threads| on_threads(&text, &["host.accesses=1500"], threads).json());
    assert_eq!(one, two);
}

#[test]
fn fields_that_a_reset_has_no_use_for_are_refused() {
    for (command, expected) in [
        (
            "command = \"reset\", scope = \"switch\", vcs = 1",
            "found vcs = 1 with scope = \"switch\", expected no vcs: the whole switch is reset",
        ),
        (
            "command = \"reset\", scope = \"port\", vppb = 1",
            "found vppb = 1 with scope = \"port\", expected no vppb: the whole port is reset",
        ),
        (
            "command = \"reset\", scope = \"upstream\", port = 1",
            "found port = 1 with scope = \"upstream\", expected no port: the whole hierarchy is reset",
        ),
        (
            "command = \"reset\", ld = 1",
            "found ld = 1 with scope = \"vppb\", expected no ld: what the vPPB is bound to is reset",
        ),
        (
            "command = \"reset\", option = \"surprise\"",
            "found option = \"surprise\" with scope = \"vppb\", expected no option",
        ),
        ("command = \"unbind\", scope = \"port\"", "found scope = \"port\" of a command `unbind`, expected none"),
    ] {
        let text = POOLED.replace("preset = \"cxl_switch\"", &format!("commands = [{{ at = \"5 us\", {command} }}]"));
        let found = refused(&text);
        assert!(found.contains(expected), "{command}: {found}");
    }
}
