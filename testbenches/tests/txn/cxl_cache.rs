//! CXL.cache.

use super::{DOWN, UP, one};
use scalepool::transactions::cxl_cache::{CxlCacheConfig, CxlCacheTransactions};
use scalepool::transactions::{AnswerLimit, TransactionFinding};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode as Op, D2hRspOpcode as Rsp, GoState, H2dReqOpcode as Snp, H2dRspOpcode as Answer, M2sReqOpcode,
};
use scalepool_protocols::cxl::message::{D2hData, D2hReq, D2hRsp, Data, H2dData, H2dReq, H2dRsp, M2sReq, Message};

const LINE: u64 = 0x1000;

fn req(opcode: Op, cqid: u16) -> Message {
    Message::D2hReq(D2hReq { opcode, cqid, address: LINE, ..D2hReq::default() })
}

fn rsp(opcode: Answer, rsp_data: u16, cqid: u16) -> Message {
    Message::H2dRsp(H2dRsp { opcode, rsp_data, cqid, ..H2dRsp::default() })
}

fn go(state: GoState, cqid: u16) -> Message {
    rsp(Answer::GO, state.0.into(), cqid)
}

fn h2d(cqid: u16) -> Message {
    Message::H2dData(H2dData { cqid, ..H2dData::default() }, Data::line([1; 64]))
}

/// The data of an error.
fn ones(cqid: u16) -> Message {
    Message::H2dData(H2dData { cqid, ..H2dData::default() }, Data::line([0xff; 64]))
}

fn snp(opcode: Snp, uqid: u16) -> Message {
    Message::H2dReq(H2dReq { opcode, uqid, address: LINE, ..H2dReq::default() })
}

fn d2h_rsp(opcode: Rsp, uqid: u16) -> Message {
    Message::D2hRsp(D2hRsp { opcode, uqid, ..D2hRsp::default() })
}

fn d2h(uqid: u16) -> Message {
    Message::D2hData(D2hData { uqid, ..D2hData::default() }, Data::line([2; 64]))
}

/// What is said of some messages, each in a flit of its own, and at the end of the run.
fn said(messages: &[Message]) -> Vec<TransactionFinding> {
    let mut checker = CxlCacheTransactions::new(CxlCacheConfig::default(), vec!["link".into()]);
    let mut units = [0; 2];
    let mut all = Vec::new();
    for message in messages {
        let unit = &mut units[usize::from(message.class().dir() == Dir::Up)];
        all.extend(checker.see(0, *unit, message));
        *unit += 1;
    }
    all.extend(checker.finish());
    assert_eq!(checker.open() == 0, all.iter().all(|finding| finding.violation.rule != "TXN-END-01"), "{all:#?}");
    all
}

fn silent(messages: &[Message]) {
    assert_eq!(said(messages), [], "{messages:#?}");
}

fn broken(messages: &[Message], rule: &str, place: (Dir, u64), words: [&str; 2]) {
    one(&said(messages), rule, place, words);
}

/// Every request of the table of `coherence` §2.2 with each of its answers, spelled out from the sheet.
fn every_flow() -> Vec<Vec<Message>> {
    use GoState as Go;
    let mut flows = vec![
        vec![req(Op::RdCurr, 1), h2d(1)],
        vec![req(Op::CacheFlushed, 1), go(Go::Invalid, 1)],
        vec![req(Op::CleanEvict, 1), rsp(Answer::GO_WritePull_Drop, 9, 1)],
        vec![req(Op::CleanEvictNoData, 1), go(Go::Invalid, 1)],
        vec![
            req(Op::RdOwn, 1),
            Message::M2sReq(M2sReq { opcode: M2sReqOpcode::MemRdFwd, tag: 1, ..M2sReq::default() }),
        ],
    ];
    for (op, states) in [
        (Op::RdShared, &[Go::Shared, Go::Invalid, Go::Error][..]),
        (Op::RdAny, &[Go::Shared, Go::Exclusive, Go::Modified, Go::Invalid, Go::Error]),
        (Op::RdOwn, &[Go::Exclusive, Go::Modified, Go::Invalid, Go::Error]),
    ] {
        for &state in states {
            let line = if [Go::Invalid, Go::Error].contains(&state) { ones(1) } else { h2d(1) };
            flows.push(vec![req(op, 1), go(state, 1), line]);
            flows.push(vec![req(op, 1), line, go(state, 1)]);
        }
    }
    for (op, states) in [(Op::RdOwnNoData, [Go::Exclusive, Go::Error]), (Op::CLFlush, [Go::Invalid, Go::Error])] {
        flows.extend(states.map(|state| vec![req(op, 1), go(state, 1)]));
    }
    for op in [Op::ItoMWr, Op::WrCur, Op::DirtyEvict] {
        for answer in [Answer::GO_WritePull, Answer::GO_ERR_WritePull] {
            flows.push(vec![req(op, 1), rsp(answer, 9, 1), d2h(9)]);
        }
    }
    flows.push(vec![req(Op::CleanEvict, 1), rsp(Answer::GO_WritePull, 9, 1), d2h(9)]);
    for state in [Go::Invalid, Go::Error] {
        flows.push(vec![req(Op::WrInv, 1), rsp(Answer::WritePull, 9, 1), d2h(9), go(state, 1)]);
    }
    for op in [Op::WOWrInv, Op::WOWrInvF] {
        for pull in [Answer::Fast_GO_WritePull, Answer::GO_ERR_WritePull] {
            let [pull, end] = [rsp(pull, 9, 1), rsp(Answer::ExtCmp, 9, 1)];
            flows.push(vec![req(op, 1), pull, d2h(9), end]);
            flows.push(vec![req(op, 1), pull, end, d2h(9)]);
            flows.push(vec![req(op, 1), end, pull, d2h(9)]);
        }
    }
    for (snoop, hits, forwards) in [
        (Snp::SnpData, &[Rsp::RspIHitI, Rsp::RspSHitSE][..], &[Rsp::RspSFwdM, Rsp::RspIFwdM][..]),
        (Snp::SnpInv, &[Rsp::RspIHitI, Rsp::RspIHitSE], &[Rsp::RspIFwdM]),
        (Snp::SnpCur, &[Rsp::RspIHitI, Rsp::RspVHitV, Rsp::RspSHitSE], &[Rsp::RspVFwdV, Rsp::RspSFwdM, Rsp::RspIFwdM]),
    ] {
        flows.extend(hits.iter().map(|&hit| vec![snp(snoop, 4), d2h_rsp(hit, 4)]));
        for &forward in forwards {
            flows.push(vec![snp(snoop, 4), d2h_rsp(forward, 4), d2h(4)]);
            flows.push(vec![snp(snoop, 4), d2h(4), d2h_rsp(forward, 4)]);
        }
    }
    flows
}

/// The legal flows are silent, one behind the other under the same identifiers, and each that lacks its last message is missed.
#[test]
fn every_flow_of_the_sheet_is_silent_and_missed_without_its_end() {
    let flows = every_flow();
    assert_eq!(flows.len(), 73);
    silent(&flows.concat());
    for flow in flows {
        let cut = said(&flow[..flow.len() - 1]);
        let rules: Vec<_> = cut.iter().map(|finding| finding.violation.rule).collect();
        assert_eq!(rules, ["TXN-END-01"], "{flow:#?}");
    }
}

/// No H2D Rsp but those of the sheet's row is taken for an answer, and no D2H Rsp but those of its snoop.
#[test]
fn every_other_answer_is_of_the_wrong_kind() {
    let all = |opcode: Answer| match opcode {
        Answer::GO => [1, 2, 3, 4, 6].map(|state| go(GoState(state), 1)).to_vec(),
        other => vec![rsp(other, 9, 1)],
    };
    let answers: Vec<Message> = [
        Answer::GO,
        Answer::WritePull,
        Answer::GO_WritePull,
        Answer::ExtCmp,
        Answer::GO_WritePull_Drop,
        Answer::Fast_GO_WritePull,
        Answer::GO_ERR_WritePull,
    ]
    .into_iter()
    .flat_map(all)
    .collect();
    let flows = every_flow();
    let mut wrong = 0;
    for (first, answer) in flows.iter().map(|flow| &flow[0]).flat_map(|first| answers.iter().map(move |a| (first, a))) {
        let Message::D2hReq(request) = first else { continue };
        let legal = flows.iter().any(|flow| flow[0] == *first && flow.contains(answer));
        let found = said(&[*first, *answer]);
        let kind = if request.opcode == Op::RdCurr { "TXN-ANS-02" } else { "TXN-ANS-03" };
        assert_eq!(found.iter().any(|finding| finding.violation.rule == kind), !legal, "{first:?} {answer:?}");
        wrong += usize::from(!legal);
    }
    assert!(wrong > 300, "{wrong}");
    for first in [Snp::SnpData, Snp::SnpInv, Snp::SnpCur].map(|snoop| snp(snoop, 4)) {
        for opcode in [1, 4, 5, 6, 7, 15, 22].map(Rsp) {
            let answer = d2h_rsp(opcode, 4);
            let legal = flows.iter().any(|flow| flow[0] == first && flow.contains(&answer));
            let found = said(&[first, answer]);
            assert_eq!(found.iter().any(|f| f.violation.rule == "TXN-ANS-06"), !legal, "{first:?} {opcode:?}");
        }
    }
}

#[test]
fn txn_tag_04_p() {
    // A CQID is free behind the pull of its write, the UQID behind the data.
    let write = [req(Op::ItoMWr, 1), rsp(Answer::GO_WritePull, 1, 1)];
    silent(
        &[&write[..], &[req(Op::RdCurr, 1), d2h(1), h2d(1), snp(Snp::SnpInv, 1), d2h_rsp(Rsp::RspIHitI, 1)]].concat(),
    );
}

#[test]
fn txn_tag_04_n() {
    let again = [req(Op::RdOwn, 1), req(Op::RdCurr, 1), h2d(1)];
    let words = ["RdCurr with CQID 0x1", "a CQID that is free: RdOwn to 0x1000 in flit 0 up waits for GO-E or GO-M"];
    broken(&again, "TXN-TAG-04", (UP, 1), words);
    let snoops = [snp(Snp::SnpInv, 2), snp(Snp::SnpData, 2), d2h_rsp(Rsp::RspIHitI, 2)];
    let words = ["SnpData with UQID 0x2", "a UQID that is free: SnpInv of 0x1000 in flit 0 down waits for RspIHitI"];
    broken(&snoops, "TXN-TAG-04", (DOWN, 1), words);
    let pull = [req(Op::DirtyEvict, 1), snp(Snp::SnpInv, 2), rsp(Answer::GO_WritePull, 2, 1), d2h(2)];
    broken(&pull, "TXN-TAG-04", (DOWN, 1), ["the pull for DirtyEvict with UQID 0x2", "a UQID that is free: SnpInv"]);
}

#[test]
fn answers_to_nothing_are_told_from_doubled_ones() {
    let read = [req(Op::RdOwn, 1), go(GoState::Exclusive, 1), h2d(1)];
    let unknown = "the CQID of a request";
    broken(&[&[h2d(2)], &read[..]].concat(), "TXN-TAG-02", (DOWN, 0), ["H2D Data with CQID 0x2", unknown]);
    broken(&[&[go(GoState::Shared, 2)], &read[..]].concat(), "TXN-TAG-02", (DOWN, 0), ["GO-S with CQID 0x2", unknown]);
    let none = "none: RdOwn to 0x1000 in flit 0 up had its last answer in flit 1 down";
    broken(&[&read[..], &[h2d(1)]].concat(), "TXN-TAG-03", (DOWN, 2), ["H2D Data with CQID 0x1", none]);
    broken(&[&read[..], &[go(GoState::Exclusive, 1)]].concat(), "TXN-TAG-03", (DOWN, 2), ["GO-E", none]);
    let twice = [req(Op::RdOwn, 1), go(GoState::Exclusive, 1), go(GoState::Exclusive, 1), h2d(1)];
    broken(&twice, "TXN-TAG-03", (DOWN, 1), ["GO-E with CQID 0x1", "H2D Data for RdOwn"]);
    let twice = [req(Op::RdOwn, 1), h2d(1), h2d(1), go(GoState::Exclusive, 1)];
    broken(&twice, "TXN-TAG-03", (DOWN, 1), ["H2D Data", "GO-E or GO-M or GO-I or GO-Err for RdOwn"]);
    let unknown = "the UQID of a snoop or a pull";
    broken(&[d2h(3)], "TXN-TAG-02", (UP, 0), ["D2H Data with UQID 0x3", unknown]);
    broken(&[d2h_rsp(Rsp::RspIHitI, 3)], "TXN-TAG-02", (UP, 0), ["RspIHitI with UQID 0x3", unknown]);
    let hit = [snp(Snp::SnpInv, 3), d2h_rsp(Rsp::RspIHitI, 3)];
    let none = "none: SnpInv of 0x1000 in flit 0 down had its last answer in flit 0 up";
    broken(&[&hit[..], &hit[1..]].concat(), "TXN-TAG-03", (UP, 1), ["RspIHitI with UQID 0x3", none]);
    let forward = [snp(Snp::SnpInv, 3), d2h_rsp(Rsp::RspIFwdM, 3), d2h_rsp(Rsp::RspIFwdM, 3), d2h(3)];
    broken(&forward, "TXN-TAG-03", (UP, 1), ["RspIFwdM", "D2H Data for SnpInv"]);
    let forward = [snp(Snp::SnpInv, 3), d2h(3), d2h(3), d2h_rsp(Rsp::RspIFwdM, 3)];
    broken(&forward, "TXN-TAG-03", (UP, 1), ["D2H Data", "RspIFwdM for SnpInv"]);
}

#[test]
fn data_that_nobody_is_owed_is_heard() {
    let upgrade = [req(Op::RdOwnNoData, 1), h2d(1), go(GoState::Exclusive, 1)];
    broken(&upgrade, "TXN-ANS-01", (DOWN, 0), ["H2D Data", "GO-E or GO-Err for RdOwnNoData"]);
    let upgrade = [req(Op::RdOwnNoData, 1), go(GoState::Exclusive, 1), h2d(1)];
    broken(&upgrade, "TXN-ANS-01", (DOWN, 1), ["H2D Data", "none: RdOwnNoData"]);
    let hit = [snp(Snp::SnpInv, 3), d2h_rsp(Rsp::RspIHitSE, 3), d2h(3)];
    broken(&hit, "TXN-ANS-01", (UP, 1), ["D2H Data with UQID 0x3", "none: SnpInv"]);
    let hit = [snp(Snp::SnpInv, 3), d2h(3), d2h_rsp(Rsp::RspIHitSE, 3)];
    broken(&hit, "TXN-ANS-01", (UP, 1), ["RspIHitSE with UQID 0x3 behind D2H Data", "RspIFwdM for SnpInv"]);
    // A GO of a request that has none, and a response to a pull.
    broken(
        &[req(Op::RdCurr, 1), go(GoState::Invalid, 1), h2d(1)],
        "TXN-ANS-02",
        (DOWN, 0),
        ["GO-I", "H2D Data for RdCurr"],
    );
    let pull = [req(Op::DirtyEvict, 1), rsp(Answer::GO_WritePull, 3, 1), d2h_rsp(Rsp::RspIHitI, 3), d2h(3)];
    broken(&pull, "TXN-ANS-02", (UP, 1), ["RspIHitI with UQID 0x3", "D2H Data for the pull for DirtyEvict"]);
}

#[test]
fn txn_ans_06_p() {
    silent(&[snp(Snp::SnpCur, 3), d2h_rsp(Rsp::RspVFwdV, 3), d2h(3)]);
}

#[test]
fn txn_ans_06_n() {
    let words = ["RspIHitSE with UQID 0x3", "RspIHitI or RspSHitSE or RspSFwdM or RspIFwdM for SnpData of 0x1000"];
    broken(&[snp(Snp::SnpData, 3), d2h_rsp(Rsp::RspIHitSE, 3)], "TXN-ANS-06", (UP, 0), words);
}

#[test]
fn coh_req_18_p2() {
    for state in [GoState::Invalid, GoState::Error] {
        silent(&[req(Op::RdShared, 1), go(state, 1), ones(1)]);
        silent(&[req(Op::RdShared, 1), ones(1), go(state, 1)]);
    }
    // Poisoned bytes mean nothing.
    let poisoned = H2dData { cqid: 1, poison: true, ..H2dData::default() };
    silent(&[req(Op::RdShared, 1), go(GoState::Error, 1), Message::H2dData(poisoned, Data::line([1; 64]))]);
}

#[test]
fn coh_req_18_n2() {
    let expected = "ones in all bytes for RdShared to 0x1000 in flit 0 up";
    for (state, name) in [(GoState::Invalid, "GO-I"), (GoState::Error, "GO-Err")] {
        let behind = [req(Op::RdShared, 1), go(state, 1), h2d(1)];
        broken(
            &behind,
            "COH-REQ-18",
            (DOWN, 1),
            ["0x01 in byte 0 of H2D Data with CQID 0x1 behind an error", expected],
        );
        let before = [req(Op::RdShared, 1), h2d(1), go(state, 1)];
        let found = format!("{name} with CQID 0x1 behind data with 0x01 in byte 0");
        broken(&before, "COH-REQ-18", (DOWN, 1), [&found, expected]);
    }
    let refused = H2dData { cqid: 1, go_err: true, ..H2dData::default() };
    let current = [req(Op::RdCurr, 1), Message::H2dData(refused, Data::line([0; 64]))];
    broken(&current, "COH-REQ-18", (DOWN, 0), ["0x00 in byte 0", "ones in all bytes for RdCurr"]);
}

/// Byte enables are those of WrInv and WOWrInv; what an evict or a snoop brings is a full line, and counts as one.
#[test]
fn coh_req_26_n2() {
    let part = |uqid, enables| {
        let message = D2hData { uqid, ..D2hData::default() };
        Message::D2hData(message, Data { byte_enables: Some(enables), ..Data::line([2; 64]) })
    };
    for enables in [0, 0xff, 1 << 63, !1] {
        for op in [Op::DirtyEvict, Op::ItoMWr, Op::WrCur] {
            let evict = [req(op, 1), rsp(Answer::GO_WritePull, 9, 1), part(9, enables)];
            let found = format!("D2H Data with UQID 0x9 and byte enables {enables:#018x}");
            broken(&evict, "COH-REQ-26", (UP, 1), [&found, "a full line for the pull for"]);
        }
        let forward = [snp(Snp::SnpInv, 4), d2h_rsp(Rsp::RspIFwdM, 4), part(4, enables)];
        broken(&forward, "COH-SNP-13", (UP, 1), ["and byte enables", "a full line for SnpInv of 0x1000"]);
        silent(&[req(Op::WrInv, 1), rsp(Answer::WritePull, 9, 1), part(9, enables), go(GoState::Invalid, 1)]);
    }
    silent(&[req(Op::DirtyEvict, 1), rsp(Answer::GO_WritePull, 9, 1), part(9, u64::MAX)]);
}

/// A line may come in two messages of 32 bytes; the bytes that a write enables are no half.
#[test]
fn halves_of_a_line_are_counted() {
    let part = |message: Message, enables: u64| match message {
        Message::H2dData(m, data) => Message::H2dData(m, Data { byte_enables: Some(enables), ..data }),
        Message::D2hData(m, data) => Message::D2hData(m, Data { byte_enables: Some(enables), ..data }),
        other => other,
    };
    let lower = |message| part(message, 0xffff_ffff);
    let upper = |message| part(message, 0xffff_ffff_0000_0000);
    silent(&[req(Op::RdCurr, 1), lower(h2d(1)), upper(h2d(1))]);
    silent(&[req(Op::RdCurr, 1), upper(h2d(1)), lower(h2d(1))]);
    broken(&[req(Op::RdCurr, 1), lower(h2d(1))], "TXN-END-01", (DOWN, 0), ["RdCurr", "the other half of H2D Data"]);
    broken(
        &[req(Op::RdCurr, 1), lower(h2d(1)), h2d(1), upper(h2d(1))],
        "TXN-TAG-03",
        (DOWN, 1),
        ["", "the other half"],
    );
    // The same half twice is no line.
    let twice = [req(Op::RdCurr, 1), upper(h2d(1)), upper(h2d(1)), lower(h2d(1))];
    broken(&twice, "TXN-TAG-03", (DOWN, 1), ["", "the other half"]);
    let answered = d2h_rsp(Rsp::RspIFwdM, 1);
    silent(&[snp(Snp::SnpInv, 1), lower(d2h(1)), answered, upper(d2h(1))]);
    broken(
        &[snp(Snp::SnpInv, 1), lower(d2h(1)), answered, lower(d2h(1)), upper(d2h(1))],
        "TXN-TAG-03",
        (UP, 2),
        ["D2H Data with UQID 0x1", "D2H Data for SnpInv"],
    );
    silent(&[req(Op::WrInv, 1), rsp(Answer::WritePull, 3, 1), lower(d2h(3)), go(GoState::Invalid, 1)]);
}

#[test]
fn txn_ord_03_p() {
    silent(&[req(Op::WrInv, 1), rsp(Answer::WritePull, 3, 1), d2h(3), go(GoState::Invalid, 1)]);
}

#[test]
fn txn_ord_03_n() {
    let early = [req(Op::WrInv, 1), rsp(Answer::WritePull, 3, 1), go(GoState::Invalid, 1), d2h(3)];
    broken(&early, "TXN-ORD-03", (DOWN, 1), ["GO-I with CQID 0x1", "the data of the pull first, for WrInv"]);
    let early = [req(Op::WrInv, 1), go(GoState::Invalid, 1), rsp(Answer::WritePull, 3, 1), d2h(3)];
    broken(&early, "TXN-ORD-03", (DOWN, 0), ["GO-I with CQID 0x1", "WritePull first, for WrInv"]);
}

/// Devices behind one link have CQIDs of their own; one that is alone need not know what a switch calls it.
#[test]
fn devices_behind_a_link_are_told_apart() {
    let of = |cache_id: u8| {
        let request = D2hReq { opcode: Op::RdOwn, cqid: 1, cache_id, address: LINE, ..D2hReq::default() };
        let granted = H2dRsp { opcode: Answer::GO, rsp_data: 2, cqid: 1, cache_id, ..H2dRsp::default() };
        let line = H2dData { cqid: 1, cache_id, ..H2dData::default() };
        [Message::D2hReq(request), Message::H2dRsp(granted), Message::H2dData(line, Data::line([0; 64]))]
    };
    let ([a, b, c], [x, y, z]) = (of(3), of(4));
    silent(&[a, x, y, b, c, z]);
    silent(&[a, go(GoState::Exclusive, 1), h2d(1)]);
}

#[test]
fn what_waits_too_long_is_told_once() {
    let limit = AnswerLimit { time: 10, unit: "flit clocks", steps: 1 };
    let mut checker = CxlCacheTransactions::new(CxlCacheConfig { limit: Some(limit) }, vec!["link".into()]);
    for message in [req(Op::RdOwn, 1), go(GoState::Exclusive, 1), snp(Snp::SnpInv, 7), req(Op::WrInv, 2)] {
        assert_eq!(checker.see(0, 0, &message), []);
    }
    assert_eq!(checker.see(0, 1, &rsp(Answer::WritePull, 8, 2)), []);
    assert_eq!(checker.clock(10), []);
    let late = checker.clock(11);
    let told: Vec<_> = late.iter().map(|f| (f.violation.rule, f.dir, f.tag, f.violation.expected.as_str())).collect();
    let snoop = "RspIHitI or RspIHitSE or RspIFwdM";
    let rule = "TXN-END-02";
    let all = [
        (rule, DOWN, Some(1), "H2D Data"),
        (rule, UP, Some(7), snoop),
        (rule, DOWN, Some(2), "GO-I or GO-Err"),
        (rule, UP, Some(8), "D2H Data"),
    ];
    assert_eq!(told, all, "{late:#?}");
    assert!(late[3].violation.found.contains("no answer in 10 flit clocks to the pull for WrInv"), "{late:#?}");
    assert_eq!((checker.clock(100), checker.finish()), (vec![], vec![]));
    // What comes after all ends it.
    assert_eq!(checker.see(0, 2, &h2d(1)), []);
    assert_eq!(checker.open(), 3);
}
