//! Logical devices of CXL.io behind an edge of a fabric: LD-IDs stand on the link of the device alone, and inside the fabric the PIDs of the
//! bindings in their place (`fabric` §3.4, MLD-2).

use crate::fab_hbr::systems::{count, on_threads, refused, run};

const FABRIC: &str = include_str!("../../systems/pbr_io.toml");

/// The fabric with two devices of four logical devices each, and these bindings of them.
fn text(bindings: &str) -> String {
    let changes = [
        ("ports = 4\n", format!("ports = 2\nbindings = [{bindings}]\n")),
        (
            "kind = \"cxl.io-device\"\ncount = 4\n",
            "kind = \"cxl.io-device\"\nlogical_devices = 4\ncount = 2\n".to_owned(),
        ),
    ];
    changes.into_iter().fold(FABRIC.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, &to, 1)
    })
}

/// Logical devices, each as its port, its LD-ID and the number of its host.
fn bindings(all: &[(usize, u8, usize)]) -> String {
    let one =
        |(port, ld, host): &(usize, u8, usize)| format!("{{ port = {port}, ld = {ld}, usp = \"front.usp[{host}]\" }}");
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Both hosts have two logical devices of each device, those of the others between theirs: each finds its own, behind a vPPB and a switch
/// with one port each, and reads from them what it wrote, though all have the same registers. A device has logical devices of nobody too.
#[test]
fn hosts_share_devices_behind_a_fabric() {
    let all = bindings(&[(0, 0, 0), (0, 1, 1), (0, 2, 0), (1, 0, 1), (1, 3, 0), (1, 2, 1)]);
    for set in [
        &["host.accesses=60"][..],
        &["host.accesses=60", "link.ber=1e-5"],
        &["host.power=reset"],
        &["host.power=flush"],
    ] {
        let report = run(&text(&all), set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(report.violations, [], "{set:?}");
        // The upstream port, and for each logical device its vPPB, the two ports of the switch behind it, and itself.
        for host in ["host[0]", "host[1]"] {
            assert_eq!(count(&report, host, "functions"), 13, "{host} {set:?}");
        }
        for switch in ["front", "mid", "back"] {
            for name in ["unclaimed TLPs", "TLPs lost with links", "TLPs without a route", "TLPs not claimed"] {
                assert_eq!(count(&report, switch, name), 0, "{switch} {name} {set:?}");
            }
        }
    }
    let [one, two] = [1, 2].map(|threads| on_threads(&text(&all), &["host.accesses=30"], threads).json());
    assert_eq!(one, two);
}

/// At the switch of its host a logical device is behind one switch, and those of a host behind another one are behind two.
#[test]
fn a_logical_device_may_be_at_the_edge_of_one_of_its_hosts() {
    let near = text(&bindings(&[(0, 0, 0), (0, 1, 1), (0, 3, 0), (1, 1, 1)]))
        .replacen("hosts = 2\nfabric = 1\n", "hosts = 1\nfabric = 1\n", 1)
        .replacen("ports = 2\n", "hosts = 1\nports = 2\n", 1)
        .replace("front.usp[1]", "back.usp[0]")
        .replacen(
            "[\"host[i].link\", \"front.usp[i]\"]",
            "[[\"host[0].link\", \"front.usp[0]\"], [\"host[1].link\", \"back.usp[0]\"]]",
            1,
        );
    let report = run(&near, &["host.accesses=40"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let functions = ["host[0]", "host[1]"].map(|host| count(&report, host, "functions"));
    assert_eq!(functions, [9, 5]);
}

#[test]
fn what_logical_devices_cannot_be_is_refused() {
    for (all, expected) in [
        (bindings(&[(0, 4, 0), (1, 0, 1)]), "found LD 4 at back.dsp[0], expected 0 to 3"),
        (
            bindings(&[(0, 1, 0), (0, 1, 1)]),
            "found `back.dsp[0]`, LD 1 for `front.usp[1]`, which `front.usp[0]` has, expected a free one",
        ),
        (
            format!("{}, {{ port = 0, usp = \"front.usp[1]\" }}", bindings(&[(0, 1, 0), (1, 1, 1)])),
            "found `back.dsp[0]` for `front.usp[1]` as a whole and logical devices of it for `front.usp[0]`, expected one of both",
        ),
    ] {
        let found = refused(&text(&all));
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

/// Ranges of UIO where logical devices are bound. Of a host at the same switch a range may lead to one: its link has no channel of UIO, so the
/// switch completes the request as Unsupported Request. At the edge of a device there is no range for its logical devices: each has a
/// hierarchy of its own there, and none of them could serve it.
#[test]
fn uio_finds_no_memory_at_logical_devices() {
    let range = "base = \"0x20000000000\", size = \"256 MiB\"";
    let all = bindings(&[(0, 0, 0), (0, 1, 1), (1, 2, 0), (1, 3, 1)]);
    for port in [0, 1] {
        let device = text(&all).replacen(
            "ports = 2\n",
            &format!("ports = 2\nuio = [{{ edge = \"device\", port = {port}, {range} }}]\n"),
            1,
        );
        let found = run(&device, &[]).expect_err("it is refused");
        let expected =
            format!("uio: found vPPB 0 at the edge port {port} of a device, expected one to which a device is bound");
        assert!(found.contains(&expected), "{found}");
    }
    // All of it at one switch: the host asks what its own decoder leads to the port of the logical device.
    let near = text(&all)
        .replacen("ports = 2\n", &format!("hosts = 2\nports = 2\nuio = [{{ vppb = 0, {range} }}]\n"), 1)
        .replacen("hosts = 2\nfabric = 1\n", "ports = 0\nfabric = 1\n", 1)
        .replace("front.usp[", "back.usp[")
        .replacen(
            "mode = \"cxl-256b\"\n",
            "mode = \"cxl-256b\"\nuio = { window = \"0x20000000000\", accesses = 20, start = \"300 us\", refused = \"counted\" }\n",
            1,
        );
    let report = run(&near, &["host.accesses=20"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    for host in ["host[0]", "host[1]"] {
        let counts =
            ["UIO writes", "UIO reads", "UIO aborted", "UIO unsupported"].map(|name| count(&report, host, name));
        assert_eq!(counts, [0, 0, 0, 20], "{host}");
    }
}
