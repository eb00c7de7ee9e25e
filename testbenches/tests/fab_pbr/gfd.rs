//! G-FAM devices: their tables by requester, and hosts that share them over a fabric (`fabric` §3.6).

use super::edges::{DEVICES, HOSTS};
use crate::fab_hbr::systems::{count, on_threads, refused, run};
use scalepool::fabric::cxl_switch::pbr::{EdgeDrop, EdgeIds, PbrPort};
use scalepool::fabric::cxl_switch::{Routed, Switching};
use scalepool::memory::gfd::{GfdAccessError, GfdDecoder, GfdGroup, GfdRequester, GfdTable, GfdTableError};
use scalepool::ordered::OrderedSet;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::{Data, Message, S2mDrs};

const POOL: &str = include_str!("../../systems/gfd_pool.toml");
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A G-FAM device at the port of a host.
const ALONE: &str = "format = 1\n[system]\nname = \"alone\"\n[clock]\ncore = { period = \"1 ns\" }\n\
    [component.host]\nkind = \"cxl.host\"\n[component.pool]\nkind = \"cxl.memory\"\nsize = \"1 GiB\"\ngfd = {}\n\
    [link.pool]\nkind = \"cxl-256b-pbr\"\nbetween = [\"host.cxl\", \"pool.cxl\"]\n";

fn changed(from: &str, to: &str) -> String {
    assert!(POOL.contains(from), "{from}");
    POOL.replace(from, to)
}

fn decoder(base: u64, device_base: u64, bytes: u64) -> GfdDecoder {
    GfdDecoder { base, device_base, bytes, granularity: 256, ways: 1, way: 0 }
}

/// A device of 1 GiB, of which the second quarter is group 1.
fn table() -> GfdTable {
    let group = GfdGroup { first: 256 * MIB, bytes: 256 * MIB, group: 1 };
    GfdTable::new(&[512 * MIB; 2], vec![group]).expect("it is legal")
}

fn requester(decoders: Vec<GfdDecoder>, groups: &[u8]) -> GfdRequester {
    GfdRequester { decoders, groups: groups.iter().copied().collect::<OrderedSet<u8>>() }
}

/// More hosts than logical devices share two devices: all read the same bytes, and whoever may, writes.
#[test]
fn fab_gfd_01_p() {
    let report = run(POOL, &["link.ber=1e-6"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let hosts: Vec<String> = (0..20).map(|n| format!("host[{n}]")).collect();
    assert!(hosts.iter().all(|host| count(&report, host, "line accesses") == 200));
    let asked: u64 = hosts.iter().map(|host| count(&report, host, "reads") + count(&report, host, "writes")).sum();
    let passed = |path: &str| {
        ["M2S Req", "M2S RwD"].map(|class| count(&report, path, &format!("switched {class}"))).iter().sum::<u64>()
    };
    assert_eq!([passed("leaf[0]") + passed("leaf[1]"), passed("spine"), passed("leaf[2]")], [asked; 3]);
    for path in ["leaf[0]", "leaf[1]", "leaf[2]", "spine"] {
        for name in ["not decoded", "switch answers", "not claimed", "no route", "other classes"] {
            assert_eq!(count(&report, path, name), 0, "{name} of {path}");
        }
    }
    assert_eq!(["pool[0]", "pool[1]"].map(|path| count(&report, path, "access errors")), [0; 2]);
}

/// LDST of 20 hosts, HDM decoders, logical devices, a device elsewhere than at an edge port, and CXL.io.
#[test]
fn fab_gfd_01_n() {
    let cases = [
        (
            changed("decode = \"fast\"", "decode = \"ldst\""),
            "more than 16 hosts that reach the G-FAM device at `leaf[2].dsp[0]` by LDST",
        ),
        (changed("decode = \"fast\"\n", ""), "expected decode = \"ldst\" or \"fast\""),
        (
            changed("size = \"1 GiB\"\n", "size = \"1 GiB\"\nlogical_devices = 2\n"),
            "found logical devices of a G-FAM device",
        ),
        (ALONE.to_owned(), "found a G-FAM device elsewhere"),
    ];
    for (text, expected) in cases {
        let found = refused(&text);
        assert!(found.contains(expected), "{expected}\n{found}");
    }
    assert_eq!(EdgeIds::Gfd.tlp_header(0, None, false), Err(EdgeDrop::Class { class: "CXL.io" }));
}

/// Interleave bits are taken out, chunk by chunk, and eight decoders of a requester lead to their own parts.
#[test]
fn fab_gfd_02_p() {
    for ways in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        for (granularity, way) in [(256, 0), (1024, ways - 1), (16384, ways / 2)] {
            let own = GfdDecoder { base: 64 * GIB, device_base: 64 * MIB, bytes: 128 * MIB, granularity, ways, way };
            let mut table = table();
            table.set(7, requester(vec![own], &[0, 1])).expect("it is legal");
            for chunk in [0, 1, 5, 128 * MIB / granularity - 1] {
                for offset in [0, 64, granularity - 1] {
                    let address = 64 * GIB + (chunk * ways + way) * granularity + offset;
                    let device_address = 64 * MIB + chunk * granularity + offset;
                    assert_eq!(table.device_address(7, address), Ok(device_address), "{ways} ways");
                    assert_eq!(table.requester_address(7, device_address), Some(address), "{ways} ways");
                }
            }
            assert_eq!(table.device_address(7, 64 * GIB + 128 * MIB * ways), Err(GfdAccessError::NotDecoded));
        }
    }
    let mut table = table();
    let eight = (0..8).map(|n| decoder((64 + n) * GIB, n * 64 * MIB, 64 * MIB)).collect();
    table.set(7, requester(eight, &[0, 1])).expect("eight decoders");
    for n in 0..8 {
        assert_eq!(table.device_address(7, (64 + n) * GIB + 5), Ok(n * 64 * MIB + 5));
    }
}

#[test]
fn fab_gfd_02_n() {
    let mut table = table();
    table
        .set(7, requester(vec![decoder(GIB, 0, 64 * MIB), decoder(GIB + 32 * MIB, 0, 64 * MIB)], &[0]))
        .expect("legal");
    assert_eq!(table.device_address(7, GIB), Ok(0));
    assert_eq!(table.device_address(7, GIB + 32 * MIB), Err(GfdAccessError::Ambiguous { found: 2 }));
    for (pid, address) in [(7, GIB - 1), (7, GIB + 96 * MIB), (8, GIB)] {
        assert_eq!(table.device_address(pid, address), Err(GfdAccessError::NotDecoded), "{pid} {address:#x}");
    }
    let before = table.clone();
    let one = decoder(GIB, 0, 64 * MIB);
    assert_eq!(table.set(7, requester(vec![one; 9], &[0])), Err(GfdTableError::Decoders { found: 9 }));
    for (ways, granularity, way) in [(3, 256, 0), (512, 256, 0), (2, 100, 0), (2, 256, 2)] {
        let refused = requester(vec![GfdDecoder { ways, granularity, way, ..one }], &[0]);
        assert_eq!(table.set(7, refused), Err(GfdTableError::Interleave { ways, granularity, way }));
    }
    let far = requester(vec![decoder(GIB, 1000 * MIB, 64 * MIB)], &[0]);
    assert_eq!(table.set(7, far), Err(GfdTableError::Range { end: 1064 * MIB, bytes: GIB }));
    assert_eq!(table, before, "what is refused writes nothing");
}

#[test]
fn fab_gfd_03_p() {
    let mut table = table();
    table.set(7, requester(vec![decoder(0, 0, GIB)], &[0, 1])).expect("legal");
    table.set(8, requester(vec![decoder(0, 0, GIB)], &[1])).expect("legal");
    for (address, group) in [(0, 0), (256 * MIB - 1, 0), (256 * MIB, 1), (512 * MIB - 1, 1), (512 * MIB, 0)] {
        assert_eq!(table.group(address), group, "{address:#x}");
        assert_eq!(table.device_address(7, address), Ok(address));
        let expected = if group == 1 { Ok(address) } else { Err(GfdAccessError::Group { group }) };
        assert_eq!(table.device_address(8, address), expected);
    }
}

/// A host in the group of another one reads nothing of it and changes nothing, and the host whose it is does not notice.
#[test]
fn fab_gfd_03_n() {
    let text = changed(
        "at.1.stimulus = { pattern = \"mix\", base = \"0x1030000000\" }",
        "at.1.stimulus = { pattern = \"mix\", base = \"0x1020000000\" }",
    );
    let report = run(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let errors: u64 = ["pool[0]", "pool[1]"].map(|path| count(&report, path, "access errors")).iter().sum();
    let asked = count(&report, "host[1]", "reads") + count(&report, "host[1]", "writes");
    assert_eq!((errors, asked > 0), (asked, true), "every request of the host");
    assert!(!report.violations.is_empty(), "it does not read what it has written");
    assert!(report.violations.iter().all(|one| one.place.contains("host[1]")), "{:?}", report.violations);
    let partitions = [(&[][..], 0), (&[100 * MIB][..], 1), (&[256 * MIB; 5][..], 5)];
    for (partitions, count) in partitions {
        let bytes = partitions.iter().sum();
        assert_eq!(GfdTable::new(partitions, Vec::new()), Err(GfdTableError::Partitions { count, bytes }));
    }
    for (first, bytes) in [(0, 32 * MIB), (32 * MIB, 64 * MIB), (0, 0), (960 * MIB, 128 * MIB)] {
        let refused = GfdTable::new(&[GIB], vec![GfdGroup { first, bytes, group: 1 }]);
        assert_eq!(refused, Err(GfdTableError::Block { first, bytes }));
    }
    let two = [0, 64 * MIB].map(|first| GfdGroup { first, bytes: 128 * MIB, group: 1 });
    assert_eq!(GfdTable::new(&[GIB], two.into()), Err(GfdTableError::Overlap { found: 64 * MIB }));
    let found = run(&changed("usp = \"leaf[0].usp[1]\", group = 2", "usp = \"leaf[0].usp[11]\", group = 2"), &[]);
    assert!(found.err().is_some_and(|text| text.contains("found access of `leaf[0].usp[11]`")));
    // A check says so as well, where the access stands, and what decoders are too many.
    let text = changed("usp = \"leaf[0].usp[1]\", group = 2", "usp = \"leaf[0].usp[11]\", group = 2");
    let found = refused(&text);
    let line = 1 + text.lines().position(|line| line.contains("usp[11]")).expect("it is there");
    assert!(found.contains(&format!(":{line}")) && found.contains("gfd.access"), "{found}");
    let window = |n: usize| {
        let base = 128 + 64 * n;
        format!("[memory_map.w{n}]\nbase = \"{base} GiB\"\nsize = \"256 MiB\"\ntargets = \"pool[0]\"\n")
    };
    let windows: String = (0..9).map(window).collect();
    let (before, rest) = POOL.split_once("[memory_map.pool]").expect("a window");
    let (_, links) = rest.split_once("[link.host]").expect("links");
    let text = format!("{before}{windows}[link.host]{links}").replace("size = \"1 GiB\"", "size = \"4 GiB\"");
    let found = refused(&text);
    assert!(found.contains("found 9 decoders of a requester, expected at most 8"), "{found}");
    let found = refused(&changed("partitions = 2", "partitions = 3"));
    assert!(found.contains("found 1073741824 bytes for 3 media partitions, 268435456 bytes more than"), "{found}");
}

/// Two requesters know the same line by addresses of their own, and a snoop to each has its own.
#[test]
fn fab_gfd_04_p() {
    let mut table = table();
    let dealt = GfdDecoder { granularity: 1024, ways: 4, way: 2, ..decoder(128 * GIB, 64 * MIB, 128 * MIB) };
    table.set(7, requester(vec![decoder(64 * GIB, 0, GIB)], &[0, 1])).expect("legal");
    table.set(8, requester(vec![dealt], &[0, 1])).expect("legal");
    let line = 64 * MIB + 0x1440;
    let own = [7, 8].map(|pid| table.requester_address(pid, line));
    assert_eq!(own, [Some(64 * GIB + line), Some(128 * GIB + (5 * 4 + 2) * 1024 + 0x40)]);
    for (pid, address) in [7, 8].into_iter().zip(own) {
        assert_eq!(table.device_address(pid, address.expect("it reaches it")), Ok(line));
    }
}

/// The address of another requester is not that of this one, and who does not reach a line is not snooped for it.
#[test]
fn fab_gfd_04_n() {
    let mut table = table();
    table.set(7, requester(vec![decoder(64 * GIB, 0, 64 * MIB)], &[0])).expect("legal");
    table.set(8, requester(vec![decoder(96 * GIB, 0, GIB)], &[0])).expect("legal");
    let of_other = table.requester_address(8, 0x40).expect("it reaches it");
    assert_eq!(table.device_address(7, of_other), Err(GfdAccessError::NotDecoded));
    assert_eq!(table.requester_address(7, 64 * MIB), None, "behind its decoder");
    assert_eq!(table.requester_address(8, 256 * MIB), None, "in a group that it may not access");
    assert_eq!(table.requester_address(9, 0x40), None, "no requester");
    // Two decoders hold one address, and a third leads to the same line by another.
    let twice =
        vec![decoder(64 * GIB, 0, 64 * MIB), decoder(64 * GIB, 128 * MIB, 64 * MIB), decoder(96 * GIB, 0, 64 * MIB)];
    table.set(9, requester(twice, &[0])).expect("legal");
    assert_eq!(table.requester_address(9, 0x40), Some(96 * GIB + 0x40));
}

/// Every read that is an access error is answered with poisoned ones as MemData, every write with a completion.
#[test]
fn fab_gfd_05_p() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let text = changed("base = \"0x1030000000\"", "base = \"0x1020000000\"");
    let set = vec!["host.accesses=60".to_owned()];
    let request =
        ScenarioRequest { description: Some(text), seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let errors: u64 = ["pool[0]", "pool[1]"].map(|path| count(&report, path, "access errors")).iter().sum();
    let text = std::fs::read_to_string(trace).expect("a trace");
    let mut poisoned = 0;
    for line in text.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if record["where"].as_str().is_some_and(|place| place.starts_with("pool"))
            && record["message"] == "cxlpbr.s2m_drs"
        {
            assert_eq!(record["fields"]["opcode"], "MemData", "{record}");
            let is_ones = record["data"].as_str().is_some_and(|data| data.bytes().all(|digit| digit == b'f'));
            assert_eq!(record["fields"]["poison"] == 1, is_ones, "{record}");
            poisoned += u64::from(is_ones);
        }
    }
    assert!(poisoned > 0);
    assert_eq!(poisoned + count(&report, "host[1]", "writes"), errors);
    assert_eq!(count(&report, "host[1]", "line accesses"), 60, "every request ends");
}

/// A device that answers as with a hole is found by the switch at its port.
#[test]
fn fab_gfd_05_n() {
    let [_, mut back] = super::edges::with_snoops(true);
    let answer = |opcode, poison| {
        let header = S2mDrs { opcode, poison, dpid: HOSTS[0], tag: 9, ..S2mDrs::default() };
        Message::S2mDrs(header, Data::line([0xff; 64]))
    };
    for (is_gfd, opcode, rule) in [
        (true, DrsOpcode::MemDataNXM, Some("FAB-GFD-05")),
        (true, DrsOpcode::MemData, None),
        (false, DrsOpcode::MemDataNXM, None),
    ] {
        let PbrPort::Shared(device) = &mut back.ports[0] else { panic!("a device") };
        assert_eq!(device.pid.number(), DEVICES[0]);
        device.is_gfd = is_gfd;
        let given = answer(opcode, true);
        let routed = back.route(0, &given);
        assert!(matches!(routed, Routed::Port { .. }), "{routed:?}");
        assert_eq!(back.judge(0, &given, &routed).map(|violation| violation.rule), rule);
    }
}

/// Threads and bytes of flits change nothing; one host below a table for 16 is taken.
#[test]
fn gfds_are_deterministic() {
    let [one, again] = [1, 2].map(|threads| on_threads(POOL, &["host.accesses=60"], threads).json());
    assert_eq!(one, again);
    let [watched, always] = ["watched", "always"]
        .map(|bits| on_threads(POOL, &["host.accesses=60", &format!("link.bits={bits}")], 1).json());
    assert_eq!(watched, always);
}
