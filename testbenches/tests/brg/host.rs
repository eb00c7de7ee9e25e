//! Lines of a host behind windows of class CC: snoops, races and errors (`bridge` §8.1, §9.5, §9.6), message by message, by a host that
//! is told what to answer.

use super::common::*;
use scalepool::bridge::outbound::table::ChildId;
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool::coherence::message::Msg;
use scalepool_oracle::bridge as oracle;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, GoState, H2dReqOpcode, H2dRspOpcode};
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::unpack::Transfer;

const CC: WindowClass = WindowClass::Cc;
const UQID: u16 = 0x123;

const SNOOPS: [(H2dReqOpcode, &str); 3] =
    [(H2dReqOpcode::SnpInv, "SnpInv"), (H2dReqOpcode::SnpData, "SnpData"), (H2dReqOpcode::SnpCur, "SnpCur")];

fn with_cache() -> Bench {
    Bench::new(cached(CC, SMALL))
}

fn both() -> [Bench; 2] {
    [Bench::of(CC), with_cache()]
}

/// A snoop of the first line of the window; what it is answered with, and what its data is.
fn snoop(bench: &mut Bench, opcode: H2dReqOpcode) -> Vec<String> {
    let before = bench.sent.len();
    bench.deliver(Msg::H2dReq { opcode, line: LineAddr::of_address(OUT), uqid: UQID });
    let answers = bench.sent[before..].iter();
    answers
        .inspect(|(by, _, msg)| assert!(by.is_none() && uqid(msg) == Some(UQID), "{msg:?}"))
        .map(|(.., m)| label(m))
        .collect()
}

fn uqid(msg: &Msg<CacheLine>) -> Option<u16> {
    match msg {
        Msg::D2hRsp { uqid, .. } | Msg::D2hData { uqid, .. } => Some(*uqid),
        _ => None,
    }
}

/// Data that has left, the last one: UQID, Bogus, bytes.
fn data(bench: &Bench) -> (u16, bool, [u8; 64]) {
    let is_data = |msg: &Msg<CacheLine>| match msg {
        Msg::D2hData { uqid, bogus, data, .. } => Some((*uqid, *bogus, data.bytes)),
        _ => None,
    };
    bench.sent.iter().rev().find_map(|(.., msg)| is_data(msg)).expect("data")
}

fn rule(bench: &Bench) -> &'static str {
    bench.findings.first().map_or("", |finding| finding.rule)
}

/// All is done and nothing is held.
fn is_quiet(bench: &Bench) -> bool {
    bench.findings.is_empty() && bench.bridge.open() == 0 && bench.bridge.buffers_free() == 64
}

/// A bridge that has asked for a line, by this request, and got no answer.
fn asking(mut bench: Bench, request: Transfer, expected: &str) -> Bench {
    bench.ask(request);
    assert_eq!(bench.labels().last().map(String::as_str), Some(expected));
    bench.answers.clear();
    bench
}

fn sum(value: u64) -> [u8; 64] {
    let mut line = [0; 64];
    line[..8].copy_from_slice(&value.to_le_bytes());
    line
}

/// States and snoops in which the bridge differs from a table.
fn differing(name: &str, table: fn(&str, char) -> (&'static str, bool, char)) -> Vec<char> {
    let (opcode, _) = SNOOPS.into_iter().find(|(_, of)| *of == name).expect("a snoop");
    let is_wrong = |state: &char| {
        let mut bench = with_cache();
        bench.bring(BASE, *state);
        let (answer, has_data, end) = table(name, *state);
        let mut expected = vec![answer.to_owned()];
        expected.extend(has_data.then(|| "Data".to_owned()));
        let is = snoop(&mut bench, opcode);
        let is_right_data = !has_data || data(&bench) == (UQID, false, [0xd1; 64]);
        is != expected || bench.state(BASE) != end || !is_right_data || !is_quiet(&bench)
    };
    ['I', 'S', 'M'].into_iter().filter(is_wrong).collect()
}

/// A table in which one cell is that of another snoop.
fn spoiled(name: &str, state: char) -> (&'static str, bool, char) {
    let other = if name == "SnpInv" { "SnpData" } else { "SnpInv" };
    if state == 'M' { oracle::snooped_by_host(other, state) } else { oracle::snooped_by_host(name, state) }
}

macro_rules! snoops {
    ($($p:ident $n:ident $name:literal;)*) => {$(
        #[test]
        fn $p() {
            assert_eq!(differing($name, oracle::snooped_by_host), []);
        }

        /// An answer of another cell is seen.
        #[test]
        fn $n() {
            assert_eq!(differing($name, spoiled), ['M']);
        }
    )*};
}

snoops! {
    brg_snp_05_p brg_snp_05_n "SnpInv";
    brg_snp_06_p brg_snp_06_n "SnpData";
    brg_snp_07_p brg_snp_07_n "SnpCur";
}

/// Without a cache there is nothing between two requests; a snoop with a code that is none is told.
#[test]
fn a_bridge_without_a_cache_holds_nothing() {
    for (opcode, _) in SNOOPS {
        let mut bench = Bench::of(CC);
        bench.whole(write_full(BASE, 1, 1));
        assert_eq!(snoop(&mut bench, opcode), ["RspIHitI"]);
        // A write that is under way holds nothing either: its host takes the bytes when it likes.
        let mut bench = asking(Bench::of(CC), write_part(BASE, 1, 1), "WrInv");
        assert_eq!(snoop(&mut bench, opcode), ["RspIHitI"]);
        let mut bench = asking(Bench::of(CC), read(BASE, 16), "RdCurr");
        assert_eq!(snoop(&mut bench, opcode), ["RspIHitI"]);
    }
    let mut bench = Bench::of(CC);
    assert_eq!(snoop(&mut bench, H2dReqOpcode(7)), [""; 0]);
    assert_eq!(rule(&bench), "COH-OPC-01");
}

/// R6: the line is not here before its GO; the request goes on and is done.
#[test]
fn brg_rac_06_p() {
    for (opcode, _) in SNOOPS {
        let reads = [(with_cache(), read(BASE, 16), "RdShared"), (with_cache(), write_part(BASE, 1, 1), "RdOwn")];
        let [own, _] = both();
        let all = reads.into_iter().chain([(own, add(ReqCmd::AtomicR, BASE, 5), "RdOwn")]);
        for (bench, request, sent) in all {
            let is_read = sent == "RdShared";
            let mut bench = asking(bench, request, sent);
            assert_eq!(snoop(&mut bench, opcode), ["RspIHitI"]);
            bench.deliver(go(0, if is_read { GoState::Shared } else { GoState::Exclusive }));
            bench.deliver(h2d_data(0, CacheLine::of([0; 64])));
            bench.finish(false);
            assert_eq!(rsp(&bench.responses[0]).status, Status::OKAY);
            assert!(is_quiet(&bench), "{sent}: {:?}", bench.findings);
        }
    }
}

/// Between the data of a read and its GO a host sends no snoop.
#[test]
fn brg_rac_06_n() {
    let mut bench = asking(with_cache(), read(BASE, 16), "RdShared");
    bench.deliver(h2d_data(0, CacheLine::of([0; 64])));
    assert_eq!(snoop(&mut bench, H2dReqOpcode::SnpInv), [""; 0]);
    assert_eq!(rule(&bench), "COH-ORD-06");
}

/// R7: the line is the bridge's from its GO on. Where a store waits, the answer says M at once, and the line follows with the store in it.
#[test]
fn brg_rac_07_p() {
    for opcode in [H2dReqOpcode::SnpInv, H2dReqOpcode::SnpData] {
        for bench in both() {
            let mut bench = asking(bench, add(ReqCmd::AtomicR, BASE, 5), "RdOwn");
            bench.deliver(go(0, GoState::Exclusive));
            assert_eq!(snoop(&mut bench, opcode), ["RspIFwdM"], "the data is not here");
            bench.deliver(h2d_data(0, CacheLine::of(sum(7))));
            assert_eq!(bench.labels(), ["RdOwn", "RspIFwdM", "Data"], "nothing is left to give back");
            assert_eq!(data(&bench), (UQID, false, sum(12)));
            assert_eq!((rsp(&bench.responses[0]).status, beats(&bench.responses[0])[0]), (Status::OKAY, sum(7)));
            assert!(is_quiet(&bench));
        }
    }
    // SnpCur takes nothing.
    for (state, answer) in [(GoState::Exclusive, "RspVHitV"), (GoState::Modified, "RspVFwdV")] {
        for bench in both() {
            let mut bench = asking(bench, add(ReqCmd::AtomicR, BASE, 5), "RdOwn");
            bench.deliver(go(0, state));
            assert_eq!(snoop(&mut bench, H2dReqOpcode::SnpCur), [answer]);
            bench.deliver(h2d_data(0, CacheLine::of(sum(7))));
            if answer == "RspVFwdV" {
                let of_snoop = bench.sent.iter().find(|(.., msg)| matches!(msg, Msg::D2hData { .. })).map(|(.., m)| m);
                assert_eq!(of_snoop.and_then(uqid), Some(UQID));
            }
            bench.finish(false);
            assert_eq!(beats(&bench.whole(read(BASE, 16)))[0], sum(12));
            assert!(is_quiet(&bench), "{:?}", bench.findings);
        }
    }
    // A line that is read is used once.
    let mut bench = asking(with_cache(), read(BASE, 16), "RdShared");
    bench.deliver(go(0, GoState::Shared));
    assert_eq!(snoop(&mut bench, H2dReqOpcode::SnpInv), ["RspIHitSE"]);
    bench.deliver(h2d_data(0, CacheLine::of(sum(7))));
    assert_eq!((beats(&bench.responses[0])[0], bench.state(BASE), is_quiet(&bench)), (sum(7), 'I', true));
}

/// While the line is owed no second snoop comes; and without a snoop the line is given back by DirtyEvict.
#[test]
fn brg_rac_07_n() {
    for bench in both() {
        let mut bench = asking(bench, add(ReqCmd::AtomicR, BASE, 5), "RdOwn");
        bench.deliver(go(0, GoState::Exclusive));
        snoop(&mut bench, H2dReqOpcode::SnpInv);
        assert_eq!(snoop(&mut bench, H2dReqOpcode::SnpInv), [""; 0]);
        assert_eq!(rule(&bench), "COH-ORD-04");
    }
    let mut bench = asking(Bench::of(CC), add(ReqCmd::AtomicR, BASE, 5), "RdOwn");
    bench.deliver(go(0, GoState::Exclusive));
    bench.deliver(h2d_data(0, CacheLine::of(sum(7))));
    assert_eq!(bench.labels().last().map(String::as_str), Some("DirtyEvict"));
}

/// Benches with an evict of a line in M under way, by an atomic without a cache and by a block that leaves; and the bytes of the line.
fn evicting() -> [(Bench, [u8; 64], u16); 2] {
    let mut own = Bench::of(CC);
    own.ask(add(ReqCmd::AtomicR, BASE, 5));
    own.answer(0);
    own.answer(0);
    let mut cache = with_cache();
    cache.bring(BASE, 'M');
    cache.whole(read(BASE + 512, 16));
    cache.ask(read(BASE + 1024, 16));
    [(own, sum(5)), (cache, [0xd1; 64])].map(|(mut bench, line)| {
        let asked = bench.sent.last().and_then(|(.., msg)| match msg {
            Msg::D2hReq { opcode: D2hReqOpcode::DirtyEvict, cqid, .. } => Some(*cqid),
            _ => None,
        });
        bench.answers.clear();
        (bench, line, asked.expect("DirtyEvict"))
    })
}

fn pull(bench: &mut Bench, opcode: H2dRspOpcode, cqid: u16) {
    bench.deliver(Msg::H2dRsp { opcode, rsp_data: 9, cqid });
}

/// R8: the line is still here while its evict waits; a snoop that takes it makes the pulled data Bogus.
#[test]
fn brg_rac_08_p() {
    let rows = [
        (H2dReqOpcode::SnpInv, "RspIFwdM", true),
        (H2dReqOpcode::SnpData, "RspSFwdM", true),
        (H2dReqOpcode::SnpCur, "RspVFwdV", false),
    ];
    for (opcode, answer, bogus) in rows {
        for (mut bench, line, cqid) in evicting() {
            assert_eq!(snoop(&mut bench, opcode), [answer, "Data"]);
            assert_eq!(data(&bench), (UQID, false, line));
            pull(&mut bench, H2dRspOpcode::GO_WritePull, cqid);
            let of_pull = bench.sent.iter().find_map(|(.., msg)| match msg {
                Msg::D2hData { uqid: 9, bogus, data, .. } => Some((*bogus, data.bytes)),
                _ => None,
            });
            assert_eq!(of_pull, Some((bogus, line)));
            bench.finish(false);
            assert!(bench.responses.len() == 1 && is_quiet(&bench), "{:?}", bench.findings);
        }
    }
}

/// A host never lets the data of a dirty line go.
#[test]
fn brg_rac_08_n() {
    for (mut bench, _, cqid) in evicting() {
        pull(&mut bench, H2dRspOpcode::GO_WritePull_Drop, cqid);
        assert_eq!(rule(&bench), "COH-REQ-19");
        assert!(bench.bridge.open() > 0, "it still waits");
    }
}

/// Every error of a host is status 2, and leaves nothing in the cache.
#[test]
fn brg_err_02_p() {
    let ones = CacheLine::ones();
    for state in [GoState::Invalid, GoState::Error] {
        for (bench, request, sent) in [
            (with_cache(), read(BASE, 16), "RdShared"),
            (with_cache(), write_part(BASE, 1, 1), "RdOwn"),
            (Bench::of(CC), add(ReqCmd::AtomicR, BASE, 5), "RdOwn"),
        ] {
            let mut bench = asking(bench, request, sent);
            bench.deliver(go(0, state));
            bench.deliver(h2d_data(0, ones));
            assert_eq!(rsp(&bench.responses[0]).status, Status::TargetAbort, "{sent}");
            assert!(is_quiet(&bench) && bench.bridge.cache().is_none_or(|_| bench.state(BASE) == 'I'));
        }
    }
    let mut bench = asking(with_cache(), write_full(BASE, 1, 1), "RdOwnNoData");
    bench.deliver(go(0, GoState::Error));
    assert_eq!((rsp(&bench.responses[0]).status, bench.state(BASE)), (Status::TargetAbort, 'I'));

    let mut bench = asking(Bench::of(CC), read(BASE, 16), "RdCurr");
    bench.deliver(Msg::H2dData { cqid: 0, go_err: true, data: ones });
    assert_eq!(rsp(&bench.responses[0]).status, Status::TargetAbort);

    // The data that is pulled leaves all the same.
    let mut bench = asking(Bench::of(CC), write_full(BASE, 1, 1), "WrCur");
    pull(&mut bench, H2dRspOpcode::GO_ERR_WritePull, 0);
    assert_eq!((rsp(&bench.responses[0]).status, data(&bench)), (Status::TargetAbort, (9, false, [1; 64])));
    let mut bench = asking(Bench::of(CC), write_part(BASE, 1, 1), "WrInv");
    pull(&mut bench, H2dRspOpcode::WritePull, 0);
    assert!(bench.responses.is_empty(), "its GO is still to come");
    bench.deliver(go(0, GoState::Error));
    assert_eq!(rsp(&bench.responses[0]).status, Status::TargetAbort);
    for (mut bench, _, cqid) in evicting() {
        pull(&mut bench, H2dRspOpcode::GO_ERR_WritePull, cqid);
        bench.finish(false);
        assert!(is_quiet(&bench));
        assert_eq!(
            bench.bridge.cache_counts().lost_dirty,
            u64::from(cqid > 4000),
            "what no request hears of is counted"
        );
    }
}

/// Answers that a request never gets are told and change nothing; poison is no error.
#[test]
fn brg_err_02_n() {
    let wrong = [
        (asking(Bench::of(CC), read(BASE, 16), "RdCurr"), go(0, GoState::Error), "COH-REQ-01"),
        (asking(Bench::of(CC), write_full(BASE, 1, 1), "WrCur"), go(0, GoState::Invalid), "COH-REQ-09"),
        (asking(Bench::of(CC), write_part(BASE, 1, 1), "WrInv"), go(0, GoState::Invalid), "COH-REQ-22"),
        (asking(Bench::of(CC), add(ReqCmd::AtomicR, BASE, 1), "RdOwn"), go(0, GoState::Shared), "COH-REQ-04"),
        (asking(with_cache(), read(BASE, 16), "RdShared"), go(0, GoState::Exclusive), "COH-REQ-19"),
        (asking(with_cache(), read(BASE, 16), "RdShared"), go(1, GoState::Shared), "COH-IDS-01"),
    ];
    for (mut bench, answer, expected) in wrong {
        bench.deliver(answer);
        assert_eq!((rule(&bench), bench.responses.len()), (expected, 0), "{answer:?}");
    }
    let mut bench = asking(Bench::of(CC), read(BASE, 16), "RdCurr");
    bench.deliver(h2d_data(0, CacheLine { bytes: [3; 64], poison: true }));
    assert_eq!(rsp(&bench.responses[0]).status, Status::OKAY);
}

/// An S copy that a snoop takes while the line is upgraded: the whole line is written; a part gives the ownership up and reads (`bridge` §9.4).
#[test]
fn an_upgrade_without_bytes_starts_anew() {
    let mut bench = with_cache();
    bench.bring(BASE, 'S');
    let mut bench = asking(bench, write_full(BASE, 1, 4), "RdOwnNoData");
    assert_eq!(snoop(&mut bench, H2dReqOpcode::SnpInv), ["RspIHitSE"]);
    bench.deliver(go(4, GoState::Exclusive));
    assert_eq!((bench.state(BASE), bench.responses.len(), is_quiet(&bench)), ('M', 1, true));

    let mut bench = with_cache();
    bench.bring(BASE, 'S');
    let mut bench = asking(bench, add(ReqCmd::AtomicR, BASE, 5), "RdOwnNoData");
    assert_eq!(snoop(&mut bench, H2dReqOpcode::SnpInv), ["RspIHitSE"]);
    bench.memory.insert(OUT, CacheLine::of(sum(30)));
    bench.deliver(go(4, GoState::Exclusive));
    bench.finish(false);
    assert_eq!(bench.labels(), ["RdOwnNoData", "RspIHitSE", "CleanEvictNoData", "RdOwn"]);
    assert_eq!((beats(&bench.responses[0])[0], bench.state(BASE)), (sum(30), 'M'));
    assert!(is_quiet(&bench), "{:?}", bench.findings);
    assert_eq!(snoop(&mut bench, H2dReqOpcode::SnpData), ["RspSFwdM", "Data"]);
    assert_eq!(data(&bench), (UQID, false, sum(35)));
}

/// A request that was given up: its line goes back to the host when it comes, and its identifier is free then.
#[test]
fn a_line_that_comes_too_late_is_given_back() {
    for (state, sent) in [(GoState::Exclusive, "CleanEvictNoData"), (GoState::Modified, "DirtyEvict")] {
        for bench in both() {
            let mut bench = asking(bench, add(ReqCmd::AtomicR, BASE, 5), "RdOwn");
            let id = ChildId { entry: 0, child: 0 };
            let advances = bench.bridge.child_of(id).expect("a child").advances;
            bench.bridge.time_out(id, advances, &mut bench.out);
            bench.collect();
            assert_eq!(rsp(&bench.responses[0]).status, Status::CompletionTimeout);
            assert_eq!(bench.bridge.open(), 1);
            bench.deliver(go(0, state));
            bench.deliver(h2d_data(0, CacheLine::of(sum(7))));
            assert_eq!(bench.labels().get(1).map(String::as_str), Some(sent));
            bench.finish(false);
            assert!(is_quiet(&bench), "{:?}", bench.findings);
            let is_dirty = state == GoState::Modified;
            assert!(!is_dirty || bench.memory[&OUT].bytes == sum(7), "nothing was stored to it");
        }
    }
}
