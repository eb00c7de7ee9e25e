//! Unordered I/O in runs of systems: devices and root complexes that reach memory of devices through switches.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::scenario::report::ScenarioReport;

const PEERS: &str = include_str!("../../systems/uio_peers.toml");
const COUNTED: &str = "uio.refused=counted";

/// The system whose switch has decoders that do not allow UIO.
fn not_allowed(text: &str) -> String {
    text.replace("\nvppb = ", "\nuio = \"off\"\nvppb = ")
}

fn good(text: &str, set: &[&str]) -> ScenarioReport {
    let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    report
}

/// Writes and reads, refused as Completer Abort, refused otherwise.
fn of_requester(report: &ScenarioReport, path: &str) -> [u64; 3] {
    let [writes, reads, aborted, unsupported] =
        ["UIO writes", "UIO reads", "UIO aborted", "UIO unsupported"].map(|name| count(report, path, name));
    [writes + reads, aborted, unsupported]
}

fn of_switch(report: &ScenarioReport) -> [u64; 3] {
    ["UIO down", "UIO up", "UIO aborted"].map(|name| count(report, "switch", name))
}

/// Requests from above and from a peer go straight to the device that has their bytes, and every read brings what was written, whatever
/// errors the lines have.
#[test]
fn fab_ior_06_in_a_run_p() {
    for set in [&[][..], &["link.ber=1e-6"], &["link.non_posted=1"]] {
        let report = good(PEERS, set);
        assert_eq!(of_requester(&report, "accelerator"), [80, 0, 0], "{set:?}");
        assert_eq!(of_requester(&report, "host"), [40, 0, 0], "{set:?}");
        assert_eq!((of_switch(&report), count(&report, "host", "UIO requests that came")), ([120, 0, 0], 0), "{set:?}");
    }
    // Both devices have a part of the range.
    let report = good(PEERS, &[]);
    let served = ["accelerator", "first", "second"].map(|path| count(&report, path, "requests served"));
    assert!(served[1] > served[0] + 20 && served[2] > served[0] + 20, "{served:?}");
}

/// Decoders that do not allow UIO lead toward the host, which has no memory for it; and a request from the host goes nowhere. A switch that
/// does not look at the bit is found.
#[test]
fn fab_ior_06_in_a_run_n() {
    let report = good(&not_allowed(PEERS), &[COUNTED]);
    assert_eq!((of_requester(&report, "accelerator"), of_requester(&report, "host")), ([0, 0, 80], [0, 0, 40]));
    assert_eq!((of_switch(&report), count(&report, "host", "UIO requests that came")), ([0, 80, 0], 80));
    let broken = run(&not_allowed(PEERS), &["uio.fault=uio-bit"]).expect("it runs");
    let at_switch: Vec<_> = broken.violations.iter().filter(|one| one.place == "switch").collect();
    assert!(at_switch.len() >= 120 && at_switch.iter().all(|one| one.violation.rule == "FAB-IOR-06"));
    assert!(at_switch[0].violation.to_string().contains("whose decoder has UIO off"), "{}", at_switch[0].violation);
    // The same switch does nothing wrong where every decoder allows it.
    good(PEERS, &["uio.fault=uio-bit"]);
    // A refused request breaks a rule where nothing is said of refusals.
    let refused = run(&not_allowed(PEERS), &[]).expect("it runs");
    assert!(!refused.violations.is_empty() && refused.violations.iter().all(|one| one.violation.rule == "SIM-E2E-03"));
}

/// What crosses into the part of the other device goes toward the host; the rest is performed.
#[test]
fn fab_uio_02_in_a_run() {
    let across = ["uio.step=64", "uio.bytes=128", "uio.accesses=200", COUNTED];
    let report = good(PEERS, &across);
    let [done, aborted, unsupported] = of_requester(&report, "accelerator");
    // One of four places in a chunk of 256 bytes crosses its end.
    assert!((150 - 30..=150 + 30).contains(&done) && aborted == 0 && done + unsupported == 200, "{done} {unsupported}");
    assert_eq!(of_switch(&report)[1], unsupported);
    // Ports that are not enabled for peers abort; the host may ask on.
    let report = good(PEERS, &["uio.to_peers=off", COUNTED]);
    assert_eq!((of_requester(&report, "accelerator"), of_requester(&report, "host")), ([0, 80, 0], [40, 0, 0]));
    assert_eq!(of_switch(&report), [40, 0, 80]);
}

/// A device whose decoder does not allow UIO aborts everything, and nothing is written.
#[test]
fn fab_uio_03_in_a_run() {
    let report = good(PEERS, &["uio.memory=off", COUNTED]);
    assert_eq!((of_requester(&report, "accelerator"), of_requester(&report, "host")), ([0, 80, 0], [0, 40, 0]));
    assert_eq!(of_switch(&report), [120, 0, 0]);
}

/// A link without the channel of UIO: to a root complex that takes no part, and to one with 68B flits.
#[test]
fn uio_leaves_at_no_port_without_its_channel() {
    let text = PEERS.replace("uio = { window = \"0x20000010000\", accesses = 40, start = \"20 us\" }\n", "");
    assert!(text.len() < PEERS.len());
    let text = text.replace("\"component.host.uio.refused\", ", "").replace("\"component.host.uio.start\", ", "");
    let report = good(&text, &[]);
    assert_eq!((of_requester(&report, "accelerator"), of_switch(&report)), ([80, 0, 0], [80, 0, 0]));
    let report = good(&not_allowed(&text), &[COUNTED]);
    assert_eq!((of_requester(&report, "accelerator"), of_switch(&report)), ([0, 0, 80], [0, 0, 0]));
    let text = PEERS.replacen("mode = \"cxl-256b\"\nuio_memory", "mode = \"cxl-68b\"\nuio_memory", 1);
    let report = good(&text, &[COUNTED]);
    let [done, aborted, unsupported] = of_requester(&report, "accelerator");
    assert!(done > 20 && aborted == 0 && unsupported > 20, "{done} {unsupported}");
}

#[test]
fn uio_is_the_same_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| on_threads(PEERS, &["link.ber=1e-6"], threads).json());
    assert_eq!(one, two);
}

/// Ends of ranges of every number, and what no decoder can be.
#[test]
fn what_no_decoder_says_is_refused() {
    for (from, to, expected) in [
        ("ways = 2\n\n[[component.switch.uio]]", "ways = 3\n\n[[component.switch.uio]]", "expected 1, 2, 4, 8, 16"),
        ("vppb = 2", "vppb = 3", "found vPPB 3 of VCS 0, expected one that is bound"),
        ("position = 1\n\n[component.acc", "position = 2\n\n[component.acc", "found position 2 of 2 ways"),
        ("size = \"512 MiB\", ways = 2 }", "size = \"100 MiB\", ways = 2 }", "multiples of 256 MiB"),
        ("accesses = 80, start", "bytes = 132, start", "expected 4 to 128"),
        ("accesses = 80, start", "bytes = 6, start", "found bytes = 0x6, expected a multiple of 4"),
        ("accesses = 80, start", "step = 6, start", "found step = 0x6, expected a multiple of 4"),
        ("accesses = 80, start", "window_bytes = 32, start", "found window_bytes = 32, expected at least 64"),
        (
            "uio_memory = { base = \"0x20000000000\", size = \"512 MiB\", ways = 2 }",
            "logical_devices = 2\nuio_memory = {}",
            "found 2 logical devices beside it",
        ),
    ] {
        let text = PEERS.replacen(from, to, 1);
        assert_ne!(text, PEERS, "{from}");
        let found = run(&text, &[]).expect_err("it is refused");
        assert!(found.contains(expected), "{from} -> {to}: {found}");
    }
    // The smallest and the largest of what can be asked for, in a window of one place.
    for set in [
        "window_bytes = 4, bytes = 4, step = 4, outstanding = 1, accesses = 30",
        "window_bytes = 128, bytes = 128, step = 1048576, outstanding = 1024, accesses = 30",
        "accesses = 0",
    ] {
        let text = PEERS.replace("accesses = 80, start", &format!("{set}, start"));
        let report = good(&text, &[]);
        assert_eq!(of_requester(&report, "accelerator")[1..], [0, 0], "{set}");
    }
}
