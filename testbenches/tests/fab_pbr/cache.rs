//! CXL.cache over switches with port based routing: identifiers at edges, and systems of caching devices (FAB-T17, `fabric` §3.4).

use super::edges::HOSTS;
use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::fabric::cxl_switch::pbr::drt::Drts;
use scalepool::fabric::cxl_switch::pbr::{
    DrtEntry, EdgeIds, PbrDevicePort, PbrHostPort, PbrOwner, PbrPid, PbrPort, PbrRoutes, PbrViral, Rgt,
};
use scalepool::fabric::cxl_switch::{Routed, Switching, Undelivered};
use scalepool::memory::bridge::BridgeDecoders;
use scalepool::ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::message::{
    Class, D2hData, D2hReq, D2hRsp, Data, H2dData, H2dReq, H2dRsp, M2sReq, Message, MessageForm, PeerRoute, S2mNdr,
};

const PBR_CACHE: &str = include_str!("../../systems/pbr_cache.toml");

/// PIDs of the caching devices, whose CacheIDs are 0, 1 and 2; the last one is at a port of another host.
const CACHES: [u16; 4] = [0x303, 0x0b0, 0xffe, 0x404];
/// Where devices begin, and the fabric port.
const DSP: usize = 2;
const ISL: usize = 6;

fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).expect("it is none that is reserved")
}

/// Two hosts, the first with three caching devices, the second with one, all at one switch; and its fabric port, where PID 777h leads.
fn switch() -> PbrRoutes {
    let host = |n: usize, caches: &[u16]| {
        PbrPort::Host(PbrHostPort {
            pid: pid(HOSTS[n]),
            form: MessageForm::Hbr,
            segments: Vec::new(),
            decoders: BridgeDecoders::default(),
            bindings: caches.iter().copied().map(pid).collect(),
            has_cache: true,
            has_snoops: false,
        })
    };
    let device = |n: usize, host: u16| {
        PbrPort::Device(PbrDevicePort {
            pid: pid(0x500 + n as u16),
            owners: OrderedMap::from([(0, PbrOwner { host: pid(host), own: pid(CACHES[n]) })]),
            bus: None,
            has_snoops: false,
            has_cache: true,
        })
    };
    let mut tables = Drts::new(1, 7, Rgt::default());
    let ends = HOSTS.into_iter().chain(CACHES).chain([0x777]);
    for (port, dpid) in ends.enumerate() {
        tables.table(0).expect("there is one").set(dpid.into(), &[DrtEntry::Port(port as u8)]).expect("it is legal");
    }
    let devices = (0..4).map(|n| device(n, HOSTS[usize::from(n == 3)]));
    PbrRoutes {
        ports: [host(0, &CACHES[..3]), host(1, &CACHES[3..])]
            .into_iter()
            .chain(devices)
            .chain([PbrPort::Fabric])
            .collect(),
        tables,
        claims: OrderedMap::new(),
        poison_on_decode_error: false,
        has_snoops: false,
        has_cache: true,
        seed: 1,
        lost: OrderedSet::new(),
        is_cut: false,
        viral: PbrViral::default(),
        changes: Vec::new(),
    }
}

/// A message of each class, with a CacheID where the class has one.
fn down(cache_id: u8) -> [Message; 3] {
    [
        Message::H2dReq(H2dReq { uqid: 77, address: 0x1240, cache_id, ..H2dReq::default() }),
        Message::H2dRsp(H2dRsp { cqid: 78, rsp_data: 5, cache_id, ..H2dRsp::default() }),
        Message::H2dData(H2dData { cqid: 79, cache_id, ..H2dData::default() }, Data::line([7; 64])),
    ]
}

fn up() -> [Message; 3] {
    [
        Message::D2hReq(D2hReq { cqid: 80, address: 0x4540, ..D2hReq::default() }),
        Message::D2hRsp(D2hRsp { uqid: 81, ..D2hRsp::default() }),
        Message::D2hData(D2hData { uqid: 82, ..D2hData::default() }, Data::line([9; 64])),
    ]
}

/// As a message leaves the fabric, by the table of the sheet: [`EdgeIds`] is compared with a spelling in Python.
fn by_table(from: &EdgeIds, to: &EdgeIds, message: &Message) -> Message {
    to.to_hbr(&from.to_pbr(message, None).expect("the edge takes it")).expect("the edge takes it")
}

#[test]
fn identifiers_are_those_of_the_sheet() {
    let switch = switch();
    let caches = (0..).zip(CACHES[..3].iter().copied().map(pid)).collect();
    let usp = EdgeIds::Usp { own: pid(HOSTS[0]), caches };
    for (n, cache) in CACHES[..3].iter().enumerate() {
        let sld = EdgeIds::Sld { own: pid(*cache), root: pid(HOSTS[0]) };
        for message in down(n as u8) {
            let Routed::Port { to, message: sent, flow } = switch.route(0, &message) else { panic!("{message:?}") };
            assert_eq!((to, sent), (DSP + n, by_table(&usp, &sld, &message)));
            assert_eq!(sent.route(), PeerRoute::default(), "neither PIDs nor a CacheID on the link of a device");
            assert_eq!(flow.dpid, *cache);
        }
        for message in up() {
            let Routed::Port { to, message: sent, .. } = switch.route(DSP + n, &message) else { panic!("{message:?}") };
            assert_eq!((to, sent), (0, by_table(&sld, &usp, &message)));
            let expected = if message.class() == Class::D2hReq { n as u8 } else { 0 };
            assert_eq!(sent.route(), PeerRoute { cache_id: expected, ..PeerRoute::default() });
        }
    }
}

/// Three caching devices below one switch with hierarchy based routing at an edge port: CacheIDs on both of its sides, PIDs between.
#[test]
fn identifiers_above_a_switch_are_those_of_the_sheet() {
    let mut switch = switch();
    let owner = |n: usize| PbrOwner { host: pid(HOSTS[0]), own: pid(CACHES[n]) };
    let PbrPort::Device(device) = &mut switch.ports[DSP] else { panic!("a device") };
    // Their CacheIDs below are others than those at the host.
    let below = [2, 0, 1];
    device.owners = below.into_iter().enumerate().map(|(n, id)| (id, owner(n))).collect();
    let table = switch.tables.table(0).expect("there is one");
    for cache in &CACHES[..3] {
        table.set((*cache).into(), &[DrtEntry::Port(DSP as u8)]).expect("it is legal");
    }
    let caches = |ids: [u8; 3]| ids.into_iter().zip(CACHES[..3].iter().copied().map(pid)).collect();
    let usp = EdgeIds::Usp { own: pid(HOSTS[0]), caches: caches([0, 1, 2]) };
    let edge = EdgeIds::Switch { own: pid(0x500), root: pid(HOSTS[0]), caches: caches(below), buses: Vec::new() };
    for (n, id) in below.into_iter().enumerate() {
        for message in down(n as u8) {
            let Routed::Port { to, message: sent, .. } = switch.route(0, &message) else { panic!("{message:?}") };
            assert_eq!((to, sent), (DSP, by_table(&usp, &edge, &message)));
            assert_eq!(sent.route(), PeerRoute { cache_id: id, ..PeerRoute::default() });
        }
        let [request, ..] = up();
        let request = request.on_route(PeerRoute { cache_id: id, ..PeerRoute::default() });
        for message in [[request].as_slice(), &up()[1..]].concat() {
            let Routed::Port { to, message: sent, .. } = switch.route(DSP, &message) else { panic!("{message:?}") };
            assert_eq!((to, sent), (0, by_table(&edge, &usp, &message)));
        }
    }
    // A CacheID that none of them has.
    let [request, ..] = up();
    let stranger = request.on_route(PeerRoute { cache_id: 3, ..PeerRoute::default() });
    assert_eq!(switch.route(DSP, &stranger), Routed::Dropped(Undelivered::UnknownLd));
}

/// What no table has is dropped, and said.
#[test]
fn unknown_identifiers_are_dropped() {
    let mut switch = switch();
    let mut dropped = |port: usize, message: Message, why| {
        let routed = switch.route(port, &message);
        assert_eq!(routed, Routed::Dropped(why), "{message:?}");
        switch.judge(port, &message, &routed).map(|violation| (violation.rule, violation.found))
    };
    // CacheIDs of the second host are its own.
    for (port, first) in [(0, 3), (1, 1)] {
        for cache_id in [first, 15] {
            for message in down(cache_id) {
                let expected = ("FAB-EDG-08", format!("{} with CacheID {cache_id}", message.class().name()));
                assert_eq!(dropped(port, message, Undelivered::CacheId), Some(expected));
            }
        }
    }
    let on_route = |message: Message, spid, dpid| message.on_route(PeerRoute { spid, dpid, ..PeerRoute::default() });
    let [request, ..] = up();
    // A device of the second host asks the first one, and a snoop of the first host is for a device of the second.
    let stranger = on_route(request, CACHES[3], HOSTS[0]);
    let expected = ("FAB-EDG-08", "D2H Req with SPID 0x404".to_owned());
    assert_eq!(dropped(ISL, stranger, Undelivered::CacheId), Some(expected));
    let [snoop, ..] = down(0);
    let (rule, _) = dropped(ISL, on_route(snoop, HOSTS[0], CACHES[3]), Undelivered::NotClaimed).expect("a finding");
    assert_eq!(rule, "FAB-PID-05");
}

/// Edges of CXL.cache have no CXL.mem, and the reverse; a fabric without caching devices has none at all.
#[test]
fn other_classes_are_dropped() {
    let mut caching = switch();
    let mut without = PbrRoutes { has_cache: false, ..switch() };
    for port in without.ports.iter_mut() {
        match port {
            PbrPort::Host(host) => host.has_cache = false,
            PbrPort::Device(device) => device.has_cache = false,
            PbrPort::Shared(_) | PbrPort::Fabric => (),
        }
    }
    let (read, answer) = (Message::M2sReq(M2sReq::default()), Message::S2mNdr(S2mNdr::default()));
    let class = |switch: &mut PbrRoutes, port: usize, message: Message| {
        let routed = switch.route(port, &message);
        assert_eq!(routed, Routed::Dropped(Undelivered::Class), "{message:?} at {port}");
        let violation = switch.judge(port, &message, &routed).expect("a finding");
        assert_eq!(violation.rule, "FAB-ERR-04");
        violation.expected
    };
    assert_eq!(class(&mut caching, 0, read), "H2D Req, Rsp or Data");
    assert_eq!(class(&mut caching, DSP, answer), "D2H Req, Rsp or Data");
    // In the wrong direction.
    assert_eq!(class(&mut caching, 0, up()[0]), "H2D Req, Rsp or Data");
    assert_eq!(class(&mut caching, DSP, down(0)[1]), "D2H Req, Rsp or Data");
    for message in down(0) {
        assert_eq!(class(&mut without, 0, message), "M2S Req or RwD");
        class(&mut without, ISL, message);
    }
    for message in up() {
        assert_eq!(class(&mut without, DSP, message), "S2M NDR or DRS");
        class(&mut without, ISL, message);
    }
}

/// A run with the watcher of all invariants on: every access is done, and each message of CXL.cache passes both switches.
fn sound(set: &[&str], accesses: u64) {
    let report = run(PBR_CACHE, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    assert_eq!(report.violations, [], "{set:?}");
    let done: u64 = (0..4).map(|n| count(&report, &format!("dev[{n}]"), "accesses")).sum();
    assert_eq!(done, 4 * accesses, "{set:?}");
    for class in ["D2H Req", "D2H Rsp", "D2H Data", "H2D Req", "H2D Rsp", "H2D Data"] {
        let passed = |path: &str| count(&report, path, &format!("switched {class}"));
        assert_eq!(passed("front"), passed("back[0]") + passed("back[1]"), "{set:?}: {class}");
        assert!(passed("front") > 0, "{set:?}: {class}");
    }
    for path in ["front", "back[0]", "back[1]"] {
        for name in ["CacheIDs discarded", "not claimed", "other classes", "no route"] {
            assert_eq!(count(&report, path, name), 0, "{set:?}: {name} of {path}");
        }
    }
}

#[test]
fn devices_over_two_levels_cache_the_lines_of_a_host() {
    for set in [
        &["core.accesses=300"][..],
        &["core.accesses=300", "core.lines=1"],
        &["core.accesses=200", "core.lines=2", "home.filter_lines=1"],
        &["core.accesses=200", "core.outstanding=16", "host.accesses=2000"],
        &["core.accesses=200", "link.home.buffers=1", "link.between.buffers=1", "link.dev.buffers=1"],
        &["core.accesses=200", "component.front.queue=1", "component.back.queue=1", "component.front.output_queue=1"],
        &["core.accesses=200", "link.dev.kind=cxl-68b", "link.home.kind=cxl-256b-lopt"],
        &["core.accesses=200", "link.ber=1e-5"],
        &["core.accesses=100", "component.front.decode=ldst", "host.accesses=50", "component.front.spread=random"],
    ] {
        let accesses = set[0].strip_prefix("core.accesses=").and_then(|n| n.parse().ok()).expect("the first setting");
        sound(set, accesses);
    }
}

/// Every class travels both ways between switches (`fabric` ISL-1): which end of such a link the description names first says nothing.
#[test]
fn the_order_of_the_ends_of_a_link_says_nothing() {
    let forward = "[[\"front.isl[0]\", \"back[0].isl[0]\"], [\"front.isl[1]\", \"back[1].isl[0]\"]]";
    let backward = "[[\"back[0].isl[0]\", \"front.isl[0]\"], [\"back[1].isl[0]\", \"front.isl[1]\"]]";
    let turned = PBR_CACHE.replace(forward, backward);
    assert_ne!(turned, PBR_CACHE);
    for set in [&["core.accesses=100"][..], &["core.accesses=100", "link.bits=always"]] {
        let [one, other] = [PBR_CACHE, &turned].map(|text| run(text, set).unwrap_or_else(|error| panic!("{error}")));
        assert_eq!((&one.violations[..], &other.violations[..]), (&[][..], &[][..]));
        for n in 0..4 {
            let path = format!("dev[{n}]");
            assert_eq!(count(&one, &path, "accesses"), count(&other, &path, "accesses"));
        }
    }
}

/// Two homes at two switches, each with its devices at the other one, and two switches between: both directions of every link carry
/// snoops and responses, and there are two ways.
#[test]
fn homes_on_both_sides_and_two_ways_between() {
    const TWO: &str = r#"
format = 1
[system]
name = "two-homes"
[clock]
core = { period = "1 ns" }
[component.home]
kind = "cxl.home"
count = 2
[component.dev]
kind = "cxl.cache-device"
count = 4
core = { accesses = 200, lines = 4, outstanding = 8 }
[component.leaf]
kind = "cxl.switch.pbr"
count = 2
hosts = 1
ports = 2
fabric = 2
routing = "up-down"
spread = "random"
bindings = [{ port = 0, usp = "leaf[1].usp[0]" }, { port = 1, usp = "leaf[1].usp[0]" }]
at = { 1 = { bindings = [{ port = 0, usp = "leaf[0].usp[0]" }, { port = 1, usp = "leaf[0].usp[0]" }] } }
[component.spine]
kind = "cxl.switch.pbr"
count = 2
fabric = 2
routing = "up-down"
[link.home]
kind = "cxl-256b"
between = ["home[i].port[0]", "leaf[i].usp[0]"]
[link.dev]
kind = "cxl-256b"
between = [["leaf[0].dsp[0]", "dev[0].link"], ["leaf[0].dsp[1]", "dev[1].link"], ["leaf[1].dsp[0]", "dev[2].link"], ["leaf[1].dsp[1]", "dev[3].link"]]
[link.isl]
kind = "cxl-256b-pbr"
between = [["leaf[0].isl[0]", "spine[0].isl[0]"], ["spine[0].isl[1]", "leaf[1].isl[0]"], ["leaf[0].isl[1]", "spine[1].isl[0]"], ["leaf[1].isl[1]", "spine[1].isl[1]"]]
"#;
    for set in [&[][..], &["link.isl.buffers=2", "link.isl.ber=1e-6"], &["component.home.filter_lines=2"]] {
        let report = run(TWO, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(report.violations, [], "{set:?}");
        assert_eq!((0..4).map(|n| count(&report, &format!("dev[{n}]"), "accesses")).sum::<u64>(), 800, "{set:?}");
        // A PID keeps its way, and the PIDs of four devices and two homes use both spines.
        for spine in ["spine[0]", "spine[1]"] {
            let passed: u64 = ["H2D Req", "H2D Rsp"]
                .map(|class| count(&report, spine, &format!("switched {class}")))
                .into_iter()
                .sum();
            assert!(passed > 0, "{set:?}: {spine}");
        }
    }
}

#[test]
fn threads_and_bytes_change_nothing() {
    let set = ["core.accesses=120", "link.bits=watched"];
    let report = |set: &[&str], threads| on_threads(PBR_CACHE, set, threads).json();
    let one = report(&set, 1);
    assert_eq!(one, report(&set, 2));
    assert_eq!(one, report(&["core.accesses=120", "link.bits=always"], 1));
}

/// As many devices as CacheIDs, and one more.
#[test]
fn sixteen_devices_have_a_cache_id_each() {
    let many = |count: usize, home: &str| {
        format!(
            "format = 1\n[system]\nname = \"many\"\n[clock]\ncore = {{ period = \"1 ns\" }}\n\
             [component.home]\nkind = \"cxl.home\"\n\
             [component.switch]\nkind = \"cxl.switch.pbr\"\nhosts = 1\nports = {count}\n\
             [component.dev]\nkind = \"cxl.cache-device\"\ncount = {count}\ncore = {{ accesses = 20, lines = 4 }}\n\
             [link.home]\nkind = \"{home}\"\nbetween = [\"home.port[0]\", \"switch.usp[0]\"]\n\
             [link.dev]\nkind = \"cxl-256b\"\nbetween = [\"switch.dsp[i]\", \"dev[i].link\"]\n"
        )
    };
    let report = run(&many(16, "cxl-256b"), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert_eq!((0..16).map(|n| count(&report, &format!("dev[{n}]"), "accesses")).sum::<u64>(), 16 * 20);
    for (text, expected) in [
        (
            many(17, "cxl-256b"),
            "component.switch.bindings: COH-CID-01: 17 caching devices below one port, expected at most 16",
        ),
        (many(2, "cxl-68b"), "component.switch.bindings: COH-CID-04: 2 caching devices behind a link without CacheID"),
        (
            many(1, "cxl-256b")
                .replace("kind = \"cxl-256b\"\nbetween = [\"switch", "kind = \"cxl-256b-pbr\"\nbetween = [\"switch"),
            "found a device of CXL.cache at switch.dsp[0], expected a device of HDM-DB",
        ),
    ] {
        let error = run(&text, &[]).expect_err("it is refused");
        assert!(error.contains(expected), "{error}");
    }
    // A device that no host has.
    let orphan = PBR_CACHE.replace("[component.home]\nkind = \"cxl.home\"", "[component.home]\nkind = \"cxl.host\"");
    let orphan = orphan
        .replace("home.port[0]", "home.cxl")
        .replace("\"home.filter_lines\" = \"component.home.filter_lines\"\n", "");
    let error = run(&orphan, &[]).expect_err("it is refused");
    assert!(error.contains("found no host for the device of CXL.cache at `back[0].dsp[0]`"), "{error}");
    // One device needs no CacheID.
    let report = run(&many(1, "cxl-68b"), &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
}
