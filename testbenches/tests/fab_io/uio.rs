//! Unordered I/O in runs of systems: devices and root complexes that reach memory of devices through switches.

use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind, UioAnswer};
use scalepool::scenario::report::ScenarioReport;
use scalepool_protocols::cxl::cxlio::code::CplStatus;

const PEERS: &str = include_str!("../../systems/uio_peers.toml");
const FABRIC: &str = include_str!("../../systems/pbr_uio.toml");
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
fn fab_ior_06_p2() {
    for set in [&[][..], &["link.ber=1e-6"], &["link.non_posted=1"]] {
        let report = good(PEERS, set);
        assert_eq!(of_requester(&report, "accelerator"), [80, 0, 0], "{set:?}");
        assert_eq!(of_requester(&report, "host"), [40, 0, 0], "{set:?}");
        assert_eq!((of_switch(&report), count(&report, "host", "UIO requests that came")), ([120, 0, 0], 0), "{set:?}");
    }
    // Both devices have a part of the range.
    let served = |set: &[&str]| {
        let report = good(PEERS, set);
        ["first", "second"].map(|path| count(&report, path, "requests served"))
    };
    let [with, without] = [served(&[]), served(&["uio.accesses=0"])];
    assert_eq!((with[0] + with[1]) - (without[0] + without[1]), 80);
    assert!(with[0] > without[0] + 20 && with[1] > without[1] + 20, "{with:?} {without:?}");
}

/// Decoders that do not allow UIO lead toward the host, which has no memory for it; and a request from the host goes nowhere. What
/// its watcher says of a switch that does not look at the bit is in `fab_hbr::uio`.
#[test]
fn fab_ior_06_n2() {
    let report = good(&not_allowed(PEERS), &[COUNTED]);
    assert_eq!((of_requester(&report, "accelerator"), of_requester(&report, "host")), ([0, 0, 80], [0, 0, 40]));
    assert_eq!((of_switch(&report), count(&report, "host", "UIO requests that came")), ([0, 80, 0], 80));
    // A refused request breaks a rule where nothing is said of refusals.
    let refused = run(&not_allowed(PEERS), &[]).expect("it runs");
    assert!(!refused.violations.is_empty() && refused.violations.iter().all(|one| one.violation.rule == "SIM-E2E-03"));
}

/// What crosses into the part of the other device goes toward the host; the rest is performed.
#[test]
fn fab_uio_02_p2() {
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
fn fab_uio_03_p2() {
    let report = good(PEERS, &["uio.memory=off", COUNTED]);
    assert_eq!((of_requester(&report, "accelerator"), of_requester(&report, "host")), ([0, 80, 0], [0, 40, 0]));
    assert_eq!(of_switch(&report), [120, 0, 0]);
}

/// A link without the channel of UIO: to a root complex that takes no part, and to one with 68B flits.
#[test]
fn uio_leaves_at_no_port_without_its_channel() {
    let text = PEERS.replace("uio = { window = \"0x20000010000\", accesses = 40, start = \"100 us\" }\n", "");
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
        ("accesses = 80, start", "bytes = 132, start", "expected 4 bytes to 128 bytes"),
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

/// Over virtual links of a fabric: the requests of the accelerator go up to the edge of the host, whose decoders turn them to the device there
/// and, over another virtual link, to the one beside the accelerator.
#[test]
fn fab_ior_06_p3() {
    for set in [&[][..], &["link.ber=1e-6"]] {
        let report = good(FABRIC, set);
        let requesters = ["accelerator", "host"].map(|path| of_requester(&report, path));
        assert_eq!(requesters, [[80, 0, 0], [40, 0, 0]], "{set:?}");
        let of = |switch: &str| ["UIO down", "UIO up"].map(|name| count(&report, switch, name));
        let [front, back] = [of("front"), of("back")];
        assert_eq!((front, back[1]), ([120, 0], 80), "{set:?}");
        // About half of them are for the device at the other edge.
        assert!((30..90).contains(&back[0]), "{back:?}");
    }
}

/// Ports that are not enabled for peers, decoders that allow no UIO, at either edge; vPPBs and edges that are not there.
#[test]
fn fab_ior_06_n3() {
    let report = good(FABRIC, &["uio.to_peers=off", COUNTED]);
    assert_eq!(of_requester(&report, "accelerator"), [0, 80, 0]);
    let near = FABRIC.replace("vppb = 2\n", "vppb = 2\nuio = \"off\"\n");
    let report = good(&near, &[COUNTED]);
    let [done, aborted, unsupported] = of_requester(&report, "accelerator");
    assert!(done > 20 && aborted == 0 && unsupported > 20 && count(&report, "host", "UIO requests that came") > 20);
    let far = FABRIC.replace("edge = \"device\"\n", "edge = \"device\"\nuio = \"off\"\n");
    let report = good(&far, &[COUNTED]);
    let [done, aborted, unsupported] = of_requester(&report, "accelerator");
    assert!(done > 20 && aborted == 0 && unsupported > 20);
    for (from, to, expected) in [
        ("vppb = 2\n", "vppb = 3\n", "uio: found vPPB 3 at the edge port 0 of a host"),
        (
            "edge = \"device\"\nport = 1\n",
            "edge = \"device\"\nport = 2\n",
            "found port = 2, expected one of the 2 edge ports towards devices",
        ),
        ("edge = \"device\"\nport = 1\n", "edge = \"device\"\nport = 1\nvppb = 1\n", "found vppb = 1, expected 0"),
    ] {
        let text = FABRIC.replacen(from, to, 1);
        assert_ne!(text, FABRIC, "{from}");
        let found = run(&text, &[]).expect_err("it is refused");
        assert!(found.contains(expected), "{to}: {found}");
    }
}

/// Bytes of UIO spelled by hand from the sheet (`cxl-io` §3.3 to §3.5): both ways, and in no other mode.
#[test]
fn tlps_of_uio_have_the_bytes_of_the_sheet() {
    let address = 0x2_0000_0040;
    let of = |kind, data: &[u8]| Tlp { tag: 5, ..Tlp::new(kind, 0x0300, data.to_vec()) };
    let answer = |of, status, byte_count, lower_address| TlpKind::UioCompletion {
        of,
        completer: 0x0400,
        status,
        byte_count,
        lower_address,
    };
    let line = [0x5a; 64];
    let read = of(TlpKind::UioRead { address, dw: 16, enables: Enables::all(16) }, &[]);
    let write = of(TlpKind::UioWrite { address, enables: Enables::all(1) }, &[1, 2, 3, 4]);
    let part = of(TlpKind::UioWrite { address, enables: Enables { first: 0xc, last: 0 } }, &[1, 2, 3, 4]);
    // Type and length, requester and tag, 64 bits of address; OHC-A1 with the enables.
    let mut cases: Vec<(&Tlp, Vec<u8>)> = vec![
        (&read, vec![0x22, 0, 0, 16, 3, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 0x40]),
        (&write, vec![0x61, 0, 0, 1, 3, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 0x40, 1, 2, 3, 4]),
        (&part, vec![0x61, 1, 0, 1, 3, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 0x40, 0, 0, 0, 0xc, 1, 2, 3, 4]),
    ];
    // Completer, bit 6 of the lower address and tag, requester and byte count; OHC-A5 with the status, here Completer Abort.
    let written = of(answer(UioAnswer::Written, CplStatus::SC, 4, 0), &[]);
    let aborted = of(answer(UioAnswer::NoData, CplStatus::CA, 4, 0), &[]);
    let data = of(answer(UioAnswer::Data, CplStatus::SC, 64, 0x40), &line);
    cases.push((&written, vec![0x0c, 0, 0, 0, 4, 0, 0, 5, 3, 0, 0, 4]));
    cases.push((&aborted, vec![0x0d, 1, 0, 0, 4, 0, 0, 5, 3, 0, 0, 4, 0, 0, 0, 4]));
    cases.push((&data, [&[0x48, 0, 0, 16, 4, 0, 0x40, 5, 3, 0, 0, 64][..], &line].concat()));
    for (tlp, bytes) in cases {
        assert_eq!(tlp.encode(TlpForm::Flit).expect("it fits"), bytes, "{tlp:?}");
        assert_eq!(Tlp::decode(&bytes, TlpForm::Flit).as_ref(), Ok(tlp));
        assert!(tlp.encode(TlpForm::NonFlit).is_err(), "{tlp:?}");
    }
    assert_eq!(read.uio_ended(0x0400, CplStatus::CA), Some(aborted));
    assert_eq!(write.uio_ended(0x0400, CplStatus::SC), Some(written));
}
