//! Conversions that are kept, and all modes of the cache against each other (`bridge` §9.1, §9.7, §9.8).

use super::common::*;
use super::judge::{broken, ids};
use scalepool::bridge::cache::policy::EvictionPolicy;
use scalepool::bridge::cache::templates::TemplateConfig;
use scalepool::bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::window::{AccessRights, BridgeWindows, WindowClass};
use scalepool::ordered::OrderedMap;
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::BTreeSet;

const MC: WindowClass = WindowClass::Mc;
const MN: WindowClass = WindowClass::Mn;

fn templates(config: OutboundConfig) -> OutboundConfig {
    OutboundConfig { templates: Some(TemplateConfig { entries: 16, ways: 2 }), ..config }
}

/// Hits and misses of conversions so far.
fn found(bench: &Bench) -> (u64, u64) {
    let counts = bench.bridge.cache_counts();
    (counts.template_hits, counts.template_misses)
}

/// The same operation on the same lines of a block by another source of the group: other tags, data and bytes do not matter.
#[test]
fn brg_tpl_01_p() {
    let mut bench = Bench::new(templates(config(MC)));
    let mut twice = |a: Transfer, b: Transfer| {
        let before = found(&bench);
        bench.whole(a);
        bench.whole(b);
        let (hits, misses) = found(&bench);
        (hits - before.0, misses - before.1)
    };
    let mut of_other = tagged(read(BASE, 32), 9);
    change(&mut of_other, |req| req.src = 4);
    assert_eq!(twice(read(BASE, 32), of_other), (1, 1));
    assert_eq!(twice(read(BASE + 256 + 8, 2), read(BASE + 256, 16)), (1, 1), "one line is touched");
    assert_eq!(twice(write_full(BASE, 2, 1), write_full(BASE, 2, 7)), (1, 1));
    assert_eq!(twice(write_part(BASE, 1, 1), write_part(BASE, 0xf0, 1)), (1, 1));
    assert_eq!(twice(add(ReqCmd::AtomicR, BASE, 1), add(ReqCmd::AtomicNR, BASE, 2)), (1, 1));
}

/// Every part of the key: one that differs is a miss, and what is sent is right.
#[test]
fn brg_tpl_01_n() {
    let rights = |read| AccessRights { read, write: true, atomic: true };
    let mut of_window = window(MC);
    of_window.rights = std::array::from_fn(|group| rights(group != 1));
    let windows = BridgeWindows::new(vec![of_window], OrderedMap::from([(5, 1), (6, 2)]), 16).expect("windows");
    let from = |source: u16, mut request: Transfer| {
        change(&mut request, |req| req.src = source);
        request
    };
    let cases: Vec<(Transfer, Status)> = vec![
        (from(5, read(BASE, 16)), Status::ProtectionViolation),
        (from(6, read(BASE, 16)), Status::OKAY),
        (read(BASE + 256, 16), Status::OKAY),
        (read(BASE + 64, 16), Status::OKAY),
        (read(BASE, 32), Status::OKAY),
        (write_full(BASE, 1, 1), Status::OKAY),
        (write_part(BASE, 1, 1), Status::OKAY),
        (add(ReqCmd::AtomicR, BASE, 1), Status::OKAY),
    ];
    for (request, status) in cases {
        let mut bench = Bench::new(templates(OutboundConfig { windows: windows.clone(), ..config(MC) }));
        bench.whole(read(BASE, 16));
        let response = bench.whole(request.clone());
        assert_eq!((found(&bench).0, rsp(&response).status), (0, status), "{request:?}");
    }
    // What is refused by its form is not looked for: a read that leaves its block has the lines of a good one.
    let mut bench = Bench::new(templates(config(MC)));
    bench.whole(read(BASE + 0xc0, 16));
    assert_eq!(rsp(&bench.whole(read(BASE + 0xf8, 3))).status, Status::TargetAbort);
    assert_eq!(found(&bench), (0, 1));
    // Two lines, of which one is full: the other one is full as well, or not.
    let mut half = write_full(BASE, 2, 1);
    change(&mut half, |req| req.cmd = ReqCmd::Write);
    let mut enables = [0xff; 32];
    enables[8] = 0;
    half.enables = Some(Box::new(enables));
    bench.whole(write_full(BASE, 2, 1));
    bench.sent.clear();
    bench.whole(half);
    assert!(bench.labels().contains(&"MemRd Any/SnpInv".to_owned()), "{:?}", bench.labels());
}

/// Requests of all kinds, again and again on few blocks.
fn requests() -> Vec<Transfer> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let request = |_| {
        let (address, value) = (BASE + 256 * random(12), random(256) as u8);
        let line = address + 64 * random(4);
        match random(6) {
            0 => write_full(address, 1 + random(4) as u8, value),
            1 => write_part(line, random(u64::MAX), value),
            2 => {
                add(if random(2) == 0 { ReqCmd::AtomicR } else { ReqCmd::AtomicNR }, line + 8 * random(8), value.into())
            }
            3 => read(line + 4 * random(16), 1),
            _ => read(address + 4 * random(32), 1 + random(32) as u8),
        }
    };
    (0..600).map(request).collect()
}

/// Status, beats and poison of all responses, and messages.
fn outcome(config: OutboundConfig) -> (Vec<Transfer>, Vec<String>, Bench) {
    outcome_beside(config, |_| ())
}

/// The same, with something that happens in front of every request.
fn outcome_beside(config: OutboundConfig, happens: impl Fn(&mut Bench)) -> (Vec<Transfer>, Vec<String>, Bench) {
    let mut bench = Bench::new(config);
    let one = |request| {
        happens(&mut bench);
        bench.whole(request)
    };
    let responses = requests().into_iter().map(one).collect();
    assert!(bench.findings.is_empty() && bench.bridge.open() == 0, "{:?}", bench.findings);
    let sent = bench.sent.iter().map(|(_, port, msg)| format!("{port} {msg:?}")).collect();
    (responses, sent, bench)
}

/// The rule that responses of two modes break together, if they differ.
fn compared(plain: &[Transfer], other: &[Transfer]) -> Option<&'static str> {
    (plain != other).then_some("BRG-CHC-12")
}

/// The same bytes and states of requests in every mode, with every policy, size of blocks and place of tags.
#[test]
fn brg_chc_12_p() {
    for class in [MC, MN] {
        let plain = outcome(config(class)).0;
        for block_bytes in [64, 256] {
            for policy in EvictionPolicy::ALL {
                for (stores, tags_in_hbm) in [(StorePolicy::Back, false), (StorePolicy::Through, true)] {
                    let data = DataCacheConfig { block_bytes, policy, stores, tags_in_hbm, ..SMALL };
                    let (responses, _, bench) = outcome(cached(class, data));
                    assert_eq!(compared(&plain, &responses), None, "{class:?} {data:?}");
                    assert!(bench.bridge.cache_counts().hits[0] > 0);
                    let kept = outcome(templates(cached(class, data))).0;
                    assert_eq!(compared(&plain, &kept), None, "{class:?} {data:?}");
                }
            }
        }
        assert_eq!(compared(&plain, &outcome(templates(config(class))).0), None);
    }
}

/// A cache in front of memory that loses a bit of each line, now and then, gives other bytes.
#[test]
fn brg_chc_12_n() {
    for class in [MC, MN] {
        let plain = outcome(config(class)).0;
        let loses = |bench: &mut Bench| {
            if bench.sent.len() % 50 == 49 {
                bench.memory.values_mut().for_each(|line| line.bytes[5] ^= 1);
            }
        };
        let wrong = outcome_beside(cached(class, SMALL), loses).0;
        assert_eq!(compared(&plain, &wrong), Some("BRG-CHC-12"), "{class:?}");
    }
}

/// What passes at both sides of the small cache in front of many requests breaks no rule that can be seen there.
#[test]
fn a_judge_of_both_sides_finds_nothing() {
    for class in [MC, MN] {
        let log = outcome(templates(cached(class, SMALL))).2.log;
        assert_eq!(broken(judged(class), &log), [], "{class:?}");
    }
}

/// With kept conversions the very same messages leave.
#[test]
fn brg_tpl_03_p() {
    for class in [MC, MN] {
        let kept = OutboundConfig { templates: Some(TemplateConfig::SHEET), ..config(class) };
        let (with, without) = (outcome(kept), outcome(config(class)));
        assert!(with.1 == without.1, "{class:?}");
        assert!(found(&with.2).0 > 50, "{:?}", found(&with.2));
    }
}

/// Data and enables are those of the request, not of the one that was converted.
#[test]
fn brg_tpl_03_n() {
    let mut bench = Bench::new(templates(config(MN)));
    bench.whole(write_part(BASE, 0x0f, 1));
    bench.whole(write_part(BASE, 0xf0, 2));
    assert_eq!(bench.memory[&OUT].bytes[..8], [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(found(&bench), (1, 1));
}

/// Sets of two: three blocks of one set, of which the one that was not used for longest leaves.
#[test]
fn brg_tpl_04_p() {
    let mut bench = Bench::new(templates(config(MN)));
    let mut hit = |block: u64| {
        let before = found(&bench).0;
        bench.whole(read(BASE + 256 * 8 * block, 16));
        found(&bench).0 > before
    };
    let trace = [0, 1, 0, 2, 0, 1];
    assert_eq!(trace.map(&mut hit), [false, false, true, false, true, false]);
    assert_eq!(TemplateConfig::SHEET.sets(), 8 << 10);
}

/// What sends nothing is not kept; a snoop finds no conversion in its way.
#[test]
fn brg_tpl_04_n() {
    let snoop = scalepool_protocols::cxl::cxl256::code::BisnpOpcode::BISnpInv;
    let line = scalepool::coherence::content::LineAddr(OUT >> 6);
    let snoop = scalepool::coherence::message::Msg::S2mBisnp { opcode: snoop, line, bi_tag: 1 };
    let mut bench = Bench::new(templates(config(MC)));
    bench.whole(write_part(BASE, 0, 1));
    bench.whole(read(0, 16));
    assert_eq!((found(&bench), bench.sent.len()), ((0, 1), 0), "an address without a window is looked for in vain");
    bench.whole(read(BASE, 16));
    bench.sent.clear();
    bench.deliver(snoop);
    assert_eq!(bench.sent.len(), 1, "BIRspI");
    // A bridge whose snoops wait until the next conversion was looked for.
    for (keeps_snoops, found) in [(false, BTreeSet::new()), (true, ["BRG-TPL-04"].into())] {
        let wrong = WrongBridge { keeps_snoops, ..WrongBridge::NOTHING };
        let mut bench = Bench { wrong, ..Bench::new(templates(config(MC))) };
        bench.whole(read(BASE, 16));
        bench.deliver(snoop);
        bench.whole(read(BASE, 16));
        assert_eq!(ids(judged(MC), &bench.log), found);
    }
}

/// Both: data miss and no template, data hit, data miss with a template; what was found as data is no conversion.
#[test]
fn brg_chc_23_p() {
    let mut bench = Bench::new(templates(cached(MN, SMALL)));
    let mut step = |request: Transfer| {
        let (sent, saved) = (bench.sent.len(), bench.bridge.cache_counts().saved);
        bench.whole(request);
        let is_found = found(&bench);
        (bench.sent.len() > sent, bench.bridge.cache_counts().saved > saved, is_found)
    };
    assert_eq!(step(read(BASE, 16)), (true, false, (0, 1)), "converted, and kept");
    assert_eq!(step(read(BASE, 16)), (false, true, (1, 1)), "both are found: the line wins");
    for n in 1..3 {
        step(read(BASE + 512 * n, 16));
    }
    assert_eq!(step(read(BASE, 16)), (true, true, (2, 3)), "the line has left, its conversion has not");
    assert_eq!(step(read(BASE + 512 * 2 + 4, 1)), (false, true, (3, 3)));
}

/// A request whose lines are all there converts nothing, so nothing is kept of it.
#[test]
fn brg_chc_23_n() {
    let mut bench = Bench::new(templates(cached(MN, SMALL)));
    bench.whole(read(BASE, 16));
    bench.whole(write_full(BASE, 1, 1));
    bench.whole(write_full(BASE, 1, 1));
    assert_eq!(found(&bench), (0, 3));
}
