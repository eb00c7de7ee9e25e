//! CXL links of a bridge that are lost and come back (`bridge` §8.1), those of its home too.

use super::common::*;
use super::io_systems::IO;
use crate::fab_hbr::systems::{count, on_threads, refused, run};
use scalepool::bridge::outbound::table::ChildId;
use scalepool::bridge::outbound::{BridgeActor, OutboundConfig};
use scalepool::bridge::window::{BridgeWindow, WindowClass};
use scalepool::coherence::clocked::outages::{LinkChange, LinkOutage, LinkOutages};
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;

const MEMORY: [WindowClass; 3] = [WindowClass::Mn, WindowClass::Mc, WindowClass::Cc];

/// The link of port 0 goes down, with all messages on their way.
fn down(bench: &mut Bench) -> Vec<ChildId> {
    let ended = bench.bridge.link_down(0, &mut bench.out);
    bench.collect();
    ended
}

/// The same before the last `kept` messages have left: they are taken back where they may be.
fn down_before(bench: &mut Bench, kept: usize) {
    let ended = down(bench);
    let from = bench.sent.len() - kept;
    for (by, _, msg) in bench.sent.split_off(from) {
        let Some(BridgeActor::Child(id)) = by.filter(|by| matches!(by, BridgeActor::Child(id) if ended.contains(id)))
        else {
            continue;
        };
        assert!(bench.bridge.may_be_taken_back(id, &msg), "{}", label(&msg));
        bench.answers.retain(|(_, answer)| !answers(answer, id));
        bench.bridge.taken_back(id, &mut bench.out);
        bench.collect();
    }
}

fn answers(msg: &scalepool::coherence::message::Msg<scalepool::coherence::content::CacheLine>, id: ChildId) -> bool {
    use scalepool::coherence::message::Msg;
    match msg {
        Msg::S2mDrs { tag, .. } | Msg::S2mNdr { tag, .. } => *tag == id.tag(),
        Msg::H2dRsp { cqid, .. } | Msg::H2dData { cqid, .. } => *cqid == id.tag(),
        _ => false,
    }
}

/// It comes back, and so does all that was on its way.
fn up(bench: &mut Bench) {
    bench.bridge.link_up(0);
    bench.finish(false);
}

fn statuses(bench: &Bench) -> Vec<Status> {
    bench.responses.iter().map(|response| rsp(response).status).collect()
}

/// Nothing is open, held or told.
fn is_quiet(bench: &Bench) {
    assert_eq!((bench.bridge.open(), bench.bridge.held(), &bench.findings), (0, None, &Vec::new()));
}

fn requests(class: WindowClass) -> Vec<Transfer> {
    let mut all = vec![read(BASE, 64), read(BASE + 64, 16), write_full(BASE, 4, 7), write_part(BASE, 0xff, 7)];
    if class != WindowClass::Mn {
        all.push(add(ReqCmd::AtomicR, BASE, 5));
        all.push(add(ReqCmd::AtomicNR, BASE, 5));
    }
    all
}

fn benches(class: WindowClass) -> [Bench; 2] {
    [Bench::of(class), Bench::new(cached(class, SMALL))]
}

/// Whatever a request has got when its link is lost, it ends once with status 8; when the link is back nothing of it is left, and the next
/// ones are served.
#[test]
fn brg_err_05_p2() {
    for class in MEMORY {
        for (n, request) in requests(class).into_iter().enumerate() {
            for delivered in 0..9 {
                for mut bench in benches(class) {
                    bench.ask(request.clone());
                    for _ in 0..delivered {
                        if !bench.answers.is_empty() {
                            bench.answer(0);
                        }
                    }
                    if !bench.responses.is_empty() {
                        continue;
                    }
                    down(&mut bench);
                    let place = format!("{class:?}, request {n}, {delivered} answers");
                    assert_eq!(statuses(&bench), [Status::CompletionTimeout], "{place}");
                    assert_eq!((bench.bridge.counts().lost, bench.bridge.is_down(0)), (1, true));
                    up(&mut bench);
                    assert_eq!(bench.responses.len(), 1, "{place}: it is answered once");
                    is_quiet(&bench);
                    assert_eq!(rsp(&bench.whole(read(BASE, 64))).status, Status::OKAY, "{place}");
                    assert_eq!(rsp(&bench.whole(write_full(BASE, 4, 9))).status, Status::OKAY, "{place}");
                    assert_eq!(beats(&bench.whole(read(BASE, 64))), [[9; 64]; 4], "{place}");
                }
            }
        }
    }
}

/// A bridge that hears of no loss answers nothing, and one that leaves out the state is seen.
#[test]
fn brg_err_05_n2() {
    let mut bench = Bench::of(WindowClass::Mn);
    bench.ask(read(BASE, 16));
    assert_eq!((statuses(&bench), bench.bridge.open()), (Vec::new(), 1));
    let responds = |_: &[super::judge::Event], mut response: Transfer| {
        if let ControlField::Response(rsp) = &mut response.field {
            rsp.status = Status::OKAY;
        }
        response
    };
    let mut wrong = Bench { wrong: WrongBridge { responds, ..WrongBridge::NOTHING }, ..Bench::of(WindowClass::Mn) };
    wrong.ask(read(BASE, 16));
    down(&mut wrong);
    assert_ne!(statuses(&wrong), [Status::CompletionTimeout]);
    // Another port has lost nothing.
    let mut other = Bench::of(WindowClass::Mn);
    other.ask(read(BASE, 16));
    assert_eq!(other.bridge.link_down(1, &mut other.out), []);
    other.finish(false);
    assert_eq!(statuses(&other), [Status::OKAY]);
}

/// A link that is down: whatever comes ends with status 2, and nothing is sent; a line that is in the cache too. A line of which nothing
/// is written needs no link.
#[test]
fn brg_err_06_p2() {
    for class in MEMORY {
        for mut bench in benches(class) {
            bench.whole(write_full(BASE, 1, 3));
            bench.sent.clear();
            bench.responses.clear();
            down(&mut bench);
            for request in requests(class) {
                assert_eq!(rsp(&bench.whole(request)).status, Status::TargetAbort, "{class:?}");
            }
            assert_eq!(rsp(&bench.whole(write_part(BASE, 0, 1))).status, Status::OKAY);
            assert!(bench.sent.is_empty() && bench.bridge.buffers_free() == 64);
            is_quiet(&bench);
            bench.bridge.link_up(0);
            assert_eq!(beats(&bench.whole(read(BASE, 16))), [[3; 64]], "{class:?}: what was there is there");
        }
    }
}

/// Windows and rights are looked at before, and the other port of a dealt window is served.
#[test]
fn brg_err_06_n2() {
    let dealt = windows(vec![BridgeWindow { ports: vec![0, 1], ..window(WindowClass::Mn) }]);
    let mut bench = Bench::new(OutboundConfig { windows: dealt, ..config(WindowClass::Mn) });
    down(&mut bench);
    assert_eq!(rsp(&bench.whole(read(BASE + SIZE, 16))).status, Status::DecodeError);
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::TargetAbort);
    assert_eq!(rsp(&bench.whole(read(BASE + 256, 16))).status, Status::OKAY);
    bench.bridge.link_up(0);
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::OKAY);
}

/// Those that wait for the line, or for their turn in the block, end too, and get no line that nobody serves.
#[test]
fn who_waits_for_a_lost_request_ends_with_it() {
    for class in MEMORY {
        for (mut bench, unsent) in benches(class).into_iter().flat_map(|bench| [(bench, 0), (Bench::of(class), 1)]) {
            let from = |source, mut request: Transfer| {
                change(&mut request, |req| req.src = source);
                request
            };
            for source in 0..4 {
                bench.ask(from(source, read(BASE, 16)));
                bench.ask(from(source, write_full(BASE, 1, source as u8)));
            }
            down_before(&mut bench, unsent);
            assert_eq!(statuses(&bench), [Status::CompletionTimeout; 8], "{class:?}");
            let open = if unsent == 1 && class == WindowClass::Mn { 0 } else { bench.bridge.open() };
            assert_eq!(bench.bridge.open(), open, "what has not left is free at once");
            up(&mut bench);
            is_quiet(&bench);
            assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::OKAY);
        }
    }
}

/// A message that has not left does not leave: memory never hears of it, and its line is free before the link is back.
#[test]
fn what_has_not_left_is_taken_back() {
    for class in MEMORY {
        let mut bench = Bench::of(class);
        bench.ask(read(BASE, 16));
        down_before(&mut bench, 1);
        is_quiet(&bench);
        assert!(bench.sent.is_empty() && bench.answers.is_empty());
        bench.bridge.link_up(0);
        assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::OKAY);
        assert_eq!(bench.bridge.counts().late, 0);
    }
}

/// Dirty lines stay where they are, and what the cache writes back waits for its link: nothing is lost.
#[test]
fn dirty_lines_outlive_a_loss() {
    for class in MEMORY {
        let mut bench = Bench::new(cached(class, SMALL));
        for n in 0..4u64 {
            bench.whole(write_full(BASE + 256 * n, 1, n as u8 + 1));
        }
        // A fifth block makes one of them leave; its Cmp has not come.
        bench.ask(write_full(BASE + 1024, 1, 9));
        assert!(bench.bridge.write_backs().open() > 0, "{class:?}");
        bench.responses.clear();
        down(&mut bench);
        assert_eq!(statuses(&bench), [Status::CompletionTimeout]);
        up(&mut bench);
        is_quiet(&bench);
        for n in 0..4u64 {
            assert_eq!(beats(&bench.whole(read(BASE + 256 * n, 16))), [[n as u8 + 1; 64]], "{class:?}, block {n}");
        }
        assert_eq!(bench.bridge.cache_counts().lost_dirty, 0);
    }
}

/// Requests, answers in any order, losses at any time: each request is answered once, and at the end nothing is held.
#[test]
fn losses_at_any_time_leave_nothing_behind() {
    for class in MEMORY {
        for (seed, mut bench) in (1u64..).zip((0..40).flat_map(|_| benches(class))) {
            let mut draw = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut drawn = move |below: u64| {
                draw ^= draw << 13;
                draw ^= draw >> 7;
                draw ^= draw << 17;
                draw % below
            };
            let (mut asked, mut is_down) = (0, false);
            for _ in 0..300 {
                match drawn(8) {
                    0..3 if bench.bridge.open() < 24 => {
                        let all = requests(class);
                        let mut request = all[drawn(all.len() as u64) as usize].clone();
                        let (source, block) = (drawn(3) as u16, 256 * drawn(6));
                        change(&mut request, |req| (req.src, req.address) = (source, req.address + block));
                        bench.ask(request);
                        asked += 1;
                    }
                    3..7 if !bench.answers.is_empty() && !is_down => {
                        let place = drawn(bench.answers.len() as u64) as usize;
                        // Answers to one request of a host keep their order.
                        let place = if class == WindowClass::Cc { 0 } else { place };
                        bench.answer(place);
                    }
                    7 if drawn(4) == 0 => {
                        if is_down {
                            bench.bridge.link_up(0);
                        } else {
                            down(&mut bench);
                        }
                        is_down = !is_down;
                    }
                    _ => (),
                }
            }
            up(&mut bench);
            assert_eq!(bench.responses.len(), asked, "{class:?}, seed {seed}");
            is_quiet(&bench);
        }
    }
}

// ---- in runs -----------------------------------------------------------------------------------------------------

const LOST: &str = include_str!("../../systems/lost_links.toml");
const COHERENT: &str = include_str!("../../systems/coherent_bridge.toml");
const HOST_LINES: &str = include_str!("../../systems/host_lines.toml");
const SMALL_CACHES: [&str; 4] = [
    "",
    "cache = { mode = \"both\", capacity = \"8 KiB\", ways = 2 }",
    "cache = { mode = \"data\", capacity = \"8 KiB\", ways = 2, write = \"through\" }",
    "cache = { mode = \"data\", capacity = \"8 KiB\", ways = 2, tag_store = \"hbm\" }",
];

/// A system whose bridge loses links, with a cache or without.
fn losing(text: &str, lost: &str, cache: &str) -> String {
    let counted = text
        .replace(
            "traffic = { operations = 150,",
            "outstanding = 16\ntraffic = { failures = \"counted\", operations = 300,",
        )
        .replace(
            "traffic = { operations = 60 }",
            "outstanding = 16\ntraffic = { failures = \"counted\", operations = 300 }",
        );
    assert_ne!(counted, text);
    counted.replacen("windows = [", &format!("lost = [{lost}]\n{cache}\nwindows = ["), 1)
}

fn times(port: &str) -> String {
    let at = [("3 us", "500 ns"), ("4 us", "1 fs"), ("4100 ns", "60 us")];
    at.map(|(at, length)| format!("{{ port = \"{port}\", at = \"{at}\", length = \"{length}\" }}")).join(", ")
}

/// Links to memory and to a device of CXL.io: requests end with both states, every byte that is read is one that may be there.
#[test]
fn links_to_memory_and_registers_come_back() {
    for set in [&[][..], &["mix=writes"], &["mix=reads"], &["ber=1e-5"]] {
        let report = run(LOST, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(report.violations, [], "{set:?}");
        let of = |name| count(&report, "bridge", name);
        let failed: u64 = (0..2).map(|n| count(&report, &format!("accel[{n}]"), "operations failed")).sum();
        assert_eq!(of("CXL links lost"), 3, "{set:?}");
        let lost = of("requests lost with links");
        assert!(lost > 0 && failed > lost && failed == of("requests refused"), "{set:?}: {lost} of {failed}");
    }
}

/// Homes that keep lines coherent, with every cache: nobody hangs, and no copy is wrong.
#[test]
fn links_to_homes_come_back() {
    for (text, port) in [(COHERENT, "coherent[0]"), (HOST_LINES, "host[0]"), (IO, "io[0]")] {
        for cache in SMALL_CACHES {
            let text = losing(text, &times(port), cache);
            let report = run(&text, &[]).unwrap_or_else(|error| panic!("{port}, {cache}: {error}"));
            assert_eq!(report.violations, [], "{port}, {cache}");
            assert_eq!(count(&report, "bridge", "CXL links lost"), 3);
            assert!(count(&report, "bridge", "requests refused") > 0, "{port}, {cache}");
        }
    }
}

/// Both ends of the ranges: from the first moment on, for the shortest and for the longest time.
#[test]
fn losses_may_last_a_moment_or_a_second() {
    for (at, length) in
        [("0", "1 fs"), ("0", "2 us"), ("1 fs", "1_125_899_906_842_624 fs"), ("2 us", "1_125_899_906_842_624 fs")]
    {
        let lost = format!("{{ port = \"host[0]\", at = \"{at}\", length = \"{length}\" }}");
        let text = losing(HOST_LINES, &lost, "").replace("accesses = 2000", "accesses = 200");
        let report = run(&text, &[]).unwrap_or_else(|error| panic!("{at}, {length}: {error}"));
        assert_eq!(report.violations, [], "{at}, {length}");
    }
}

const EXPORTED: &str = include_str!("../../systems/exported_hbm.toml");

/// A home whose ports 0 and 2 go down, to a host and to another bridge, for so long each time.
fn losing_home(length: &str) -> String {
    let lost = [("home[0]", "3 us"), ("home[2]", "3200 ns"), ("home[2]", "20 us")]
        .map(|(port, at)| format!("{{ port = \"{port}\", at = \"{at}\", length = \"{length}\" }}"));
    EXPORTED.replace("home_ports = 3\n", &format!("home_ports = 3\nlost = [{}]\n", lost.join(", ")))
}

/// Who holds lines knows no time-out: at a home requests, answers and snoops wait for the link, nothing of them is lost, no copy is wrong,
/// and every access ends well.
#[test]
fn a_lost_link_of_the_home_takes_time_alone() {
    for (length, lines) in [("1 fs", "4"), ("700 ns", "4"), ("9 us", "16"), ("9 us", "1")] {
        let set = format!("host.lines={lines}");
        let report = run(&losing_home(length), &[&set]).unwrap_or_else(|error| panic!("{length}, {lines}: {error}"));
        assert_eq!(report.violations, [], "{length}, {lines}");
        assert_eq!(count(&report, "ubridge", "CXL links lost"), 3);
        for (bridge, name) in [("ubridge", "messages lost with links"), ("nbridge", "requests refused")] {
            assert_eq!(report.json()["components"][bridge][name].as_u64().unwrap_or(0), 0, "{bridge}: {name}");
        }
        for host in ["host[0]", "host[1]"] {
            assert_eq!(count(&report, host, "accesses"), 300, "{length}, {lines}");
        }
    }
}

/// While the link of a host is down nothing comes from it or goes to it: it ends later, by that time.
#[test]
fn nothing_passes_a_lost_link_of_the_home() {
    let end_fs = |length: &str| {
        let lost = format!("lost = [{{ port = \"home[0]\", at = \"3 us\", length = \"{length}\" }}]");
        let text = EXPORTED.replace("home_ports = 3\n", &format!("home_ports = 3\n{lost}\n"));
        let report = run(&text, &["host.lines=4"]).expect("a run");
        assert_eq!(report.violations, [], "{length}");
        report.json()["time_fs"].as_u64().expect("a time")
    };
    let (short, long) = (end_fs("1 fs"), end_fs("150 us"));
    assert!(short < 153_000_000_000 && long > 153_000_000_000, "{short} and {long} fs");
}

/// Threads change nothing.
#[test]
fn losses_are_the_same_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| on_threads(LOST, &["operations=200"], threads).json());
    assert_eq!(one, two);
}

/// A host that reads and writes the memory of GPUs: what it has asked over a link that is lost ends by its own time-out.
#[test]
fn brg_err_26_p() {
    let text = include_str!("../../../src/system/builtin/supercluster-small.toml")
        .replace("host = { kind = \"cxl.host\",", "host = { kind = \"cxl.host\", timeout = \"4 us\",")
        .replacen(
            "target_ports = 2",
            "target_ports = 2\nlost = [{ port = \"target[1]\", at = \"2 us\", length = \"500 ns\" }, { port = \"target[1]\", at = \"3 us\", length = \"1 fs\" }]",
            1,
        );
    let report = run(&text, &["host.accesses=2000"]).expect("a run");
    assert_eq!(report.violations, []);
    assert_eq!(count(&report, "nbridge", "CXL links lost"), 2);
    let lost = count(&report, "nbridge", "messages lost with links");
    assert!(lost > 0 && count(&report, "host", "requests timed out") == lost, "{lost}");
}

/// A host without a time-out would wait for ever.
#[test]
fn brg_err_26_n() {
    let text = include_str!("../../../src/system/builtin/supercluster-small.toml").replacen(
        "target_ports = 2",
        "target_ports = 2\nlost = [{ port = \"target[1]\", at = \"2 us\" }]",
        1,
    );
    let found = refused(&text);
    assert!(found.contains("which has no time-out, expected one"), "{found}");
}

/// Ports that are not there, or cannot be lost, and times that overlap.
#[test]
fn losses_are_read_and_judged() {
    for (port, expected) in [
        ("cxl[1]", "expected a port that the bridge has"),
        ("cxl", "expected a port that the bridge has"),
        ("cxl[+0]", "expected a port that the bridge has"),
        ("coherent[0]", "expected a port that the bridge has"),
        ("target[0]", "expected a port that the bridge has"),
        ("x[0]", "a UALink has an outage of its own"),
        ("home[0]", "expected a port that the bridge has"),
    ] {
        let found =
            refused(&LOST.replace("port = \"cxl[0]\", at = \"3 us\"", &format!("port = \"{port}\", at = \"3 us\"")));
        assert!(found.contains(expected), "{port}: {found}");
    }
    let found = refused(&LOST.replace("at = \"5 us\"", "at = \"3499 ns\""));
    assert!(found.contains("expected times that do not overlap"), "{found}");
    // One that is back may be lost at once.
    let report = run(&LOST.replace("at = \"5 us\"", "at = \"3500 ns\""), &["operations=50"]).expect("a run");
    assert_eq!(report.violations, []);
}

/// Outages of several ports, one behind the other and at once.
#[test]
fn links_go_down_and_come_back_in_order() {
    let of = |from_cycle, until_cycle, port| LinkOutage { from_cycle, until_cycle, port };
    let mut links = LinkOutages::new(&[of(7, 9, 1), of(5, 7, 1), of(5, 6, 0)]);
    assert_eq!((links.next_at(4), links.due()), (None, Some(5)));
    let mut next = |cycle, changes: &[Option<LinkChange>], down: [bool; 2]| {
        changes.iter().for_each(|change| assert_eq!(links.next_at(cycle), *change, "in cycle {cycle}"));
        assert_eq!([0, 1].map(|port| links.is_down(port)), down, "behind cycle {cycle}");
        links.due()
    };
    let [down, up] = [LinkChange::Down, LinkChange::Up].map(|of| move |port| Some(of(port)));
    assert_eq!(next(5, &[down(0), down(1), None], [true, true]), Some(6));
    // Back and lost again in cycle 7.
    assert_eq!(next(8, &[up(0), up(1), down(1), None], [false, true]), Some(9));
    assert_eq!(next(u64::MAX, &[up(1), None], [false, false]), None);
}
