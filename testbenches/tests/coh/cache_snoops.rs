//! Snoops in stable and transient states, and how the home reads the answers (`coherence` §2.3, §2.4).

use super::cache_bench::*;
use super::litmus::outcomes;
use super::names::{cache_names, device_breaks, takes_and};
use scalepool::coherence::cache::snoops;
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::monitor::DeviceStep;

/// An answer of the sheet: response, state that follows, one line of data.
type Legal = (Rsp, CacheLineState, bool);

/// The table of §2.3, spelled again, the default first.
fn legal(at: CacheLineState, snoop: Snoop) -> &'static [Legal] {
    match (snoop, at) {
        (_, CacheLineState::I) => &[(Rsp::RspIHitI, CacheLineState::I, false)],
        (Snoop::Data, CacheLineState::S | CacheLineState::E) => &[(Rsp::RspSHitSE, CacheLineState::S, false)],
        (Snoop::Inv, CacheLineState::S | CacheLineState::E) => &[(Rsp::RspIHitSE, CacheLineState::I, false)],
        (Snoop::Cur, CacheLineState::S) => {
            &[(Rsp::RspVHitV, CacheLineState::S, false), (Rsp::RspSHitSE, CacheLineState::S, false)]
        }
        (Snoop::Cur, CacheLineState::E) => &[
            (Rsp::RspVHitV, CacheLineState::E, false),
            (Rsp::RspVFwdV, CacheLineState::E, true),
            (Rsp::RspSHitSE, CacheLineState::S, false),
        ],
        (Snoop::Data, _) => &[
            (Rsp::RspSFwdM, CacheLineState::S, true),
            (Rsp::RspSFwdM, CacheLineState::I, true),
            (Rsp::RspIFwdM, CacheLineState::I, true),
        ],
        (Snoop::Inv, _) => &[(Rsp::RspIFwdM, CacheLineState::I, true)],
        (Snoop::Cur, _) => &[
            (Rsp::RspVFwdV, CacheLineState::M, true),
            (Rsp::RspSFwdM, CacheLineState::S, true),
            (Rsp::RspIFwdM, CacheLineState::I, true),
        ],
    }
}

const RESPONSES: [Rsp; 7] =
    [Rsp::RspIHitI, Rsp::RspIHitSE, Rsp::RspSHitSE, Rsp::RspVHitV, Rsp::RspSFwdM, Rsp::RspIFwdM, Rsp::RspVFwdV];

/// Every reply of a device that tries all of them.
fn replies(bench: &Bench, snoop: Snoop) -> Vec<Legal> {
    let config = CoherenceConfig { alternatives: true, ..CoherenceConfig::default() };
    let msg = Msg::H2dReq { opcode: snoop.code(), line: LINE, uqid: 0x30 };
    (0..bench.device.ways(&config, 0, &msg))
        .map(|way| {
            let mut bench = bench.clone();
            bench.config = config.clone();
            let out = bench.snoop(snoop, way);
            assert_eq!(rules(&out), [""; 0]);
            let data = data_sent(&out);
            assert!(data.iter().all(|d| *d == (0x30, false)));
            (rsp_sent(&out)[0], bench.at(), !data.is_empty())
        })
        .collect()
}

/// Every response with every state that may follow, with data and without.
fn every_answer() -> impl Iterator<Item = Legal> {
    let left = |rsp| {
        [CacheLineState::I, CacheLineState::S, CacheLineState::E, CacheLineState::M]
            .map(|at| [(rsp, at, false), (rsp, at, true)])
    };
    RESPONSES.into_iter().flat_map(left).flatten()
}

/// State and snoop of a row: rules 01 to 12 are the table of §2.3, column by column.
fn cell_of(rule: &str) -> (CacheLineState, Snoop) {
    let (snoop, rules) = match rule {
        "COH-SNP-01" | "COH-SNP-02" | "COH-SNP-03" | "COH-SNP-04" => (Snoop::Data, 1),
        "COH-SNP-05" | "COH-SNP-06" | "COH-SNP-07" | "COH-SNP-08" => (Snoop::Inv, 5),
        _ => (Snoop::Cur, 9),
    };
    let number: usize = rule[8..].parse().expect("a number");
    ([CacheLineState::I, CacheLineState::S, CacheLineState::E, CacheLineState::M][number - rules], snoop)
}

/// The device answers exactly what the sheet allows, its default first.
fn device_obeys(rule: &str) {
    let (at, snoop) = cell_of(rule);
    let (mut found, mut expected) = (replies(&Bench::new(at), snoop), legal(at, snoop).to_vec());
    assert_eq!(found[0], expected[0], "{at:?} {snoop:?}");
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{at:?} {snoop:?}");
}

/// A device in this state that answers what its row does not have, or keeps another state, is reported under the row's
/// rule. A home cannot know the state: it reports an answer that the snoop's whole column does not have, and takes no
/// notice of it.
fn is_reported(rule: &str) {
    let (at, snoop) = cell_of(rule);
    let op = match snoop {
        Snoop::Data => Op::RdShared,
        Snoop::Inv => Op::RdOwn,
        Snoop::Cur => Op::RdCurr,
    };
    let column = |rsp| {
        [CacheLineState::I, CacheLineState::S, CacheLineState::E, CacheLineState::M]
            .iter()
            .any(|at| legal(*at, snoop).iter().any(|l| l.0 == rsp))
    };
    assert_eq!(snoops::row_of(at, snoop).rule, rule);
    let msg = Msg::H2dReq { opcode: snoop.code(), line: LINE, uqid: 0x30 };
    for (rsp, left, data) in every_answer() {
        let mut sends = vec![Msg::D2hRsp { opcode: rsp, uqid: 0x30 }];
        let line = Msg::D2hData { uqid: 0x30, bogus: false, data: token(Age::Current), enables: WHOLE_LINE };
        sends.extend(data.then_some(line));
        let found = device_breaks(&Bench::new(at), DeviceStep::Took(msg), sends, &Bench::new(left));
        let expected: &[&str] = if legal(at, snoop).contains(&(rsp, left, data)) { &[] } else { &[rule] };
        assert_eq!(found, expected, "{rsp:?}, {left:?}, data: {data}");
    }
    let mut wrong = 0;
    for rsp in RESPONSES.into_iter().filter(|rsp| !column(*rsp)) {
        let mut home = HomeBench::new(Some(1), 0);
        assert_eq!(snoops_sent(&home.request(0, op)), [(1, snoop)]);
        let out = home.reply(1, rsp);
        assert!(rules(&out).len() == 1 && rules(&out)[0].starts_with("COH-SNP-"), "{rsp:?} {:?}", out.events);
        assert!(out.sends.is_empty() && home.holders() == (Some(1), 0) && !home.home.is_idle());
        // No device answers so.
        assert!(replies(&Bench::new(at), snoop).iter().all(|r| r.0 != rsp));
        wrong += 1;
    }
    assert!(wrong > 0);
}

rule_tests! { device_obeys, is_reported:
    coh_snp_01_p coh_snp_01_n "COH-SNP-01"
    coh_snp_02_p coh_snp_02_n "COH-SNP-02"
    coh_snp_03_p coh_snp_03_n "COH-SNP-03"
    coh_snp_04_p coh_snp_04_n "COH-SNP-04"
    coh_snp_05_p coh_snp_05_n "COH-SNP-05"
    coh_snp_06_p coh_snp_06_n "COH-SNP-06"
    coh_snp_07_p coh_snp_07_n "COH-SNP-07"
    coh_snp_08_p coh_snp_08_n "COH-SNP-08"
    coh_snp_09_p coh_snp_09_n "COH-SNP-09"
    coh_snp_10_p coh_snp_10_n "COH-SNP-10"
    coh_snp_11_p coh_snp_11_n "COH-SNP-11"
    coh_snp_12_p coh_snp_12_n "COH-SNP-12"
}

/// A home that has snooped the owner, port 1, for a RdShared of port 0.
fn snooping() -> HomeBench {
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdShared);
    home
}

#[test]
fn coh_snp_13_p() {
    for data_first in [false, true] {
        let mut home = snooping();
        let outs = if data_first {
            [home.data(1, false, Age::Current), home.reply(1, Rsp::RspSFwdM)]
        } else {
            [home.reply(1, Rsp::RspSFwdM), home.data(1, false, Age::Current)]
        };
        assert!(outs.iter().all(|o| o.events.is_empty()));
        assert!(answers_sent(&outs[0]).is_empty(), "both have to be in");
        assert_eq!(answers_sent(&outs[1]), [(0, HostAnswer::GoS)]);
        assert_eq!((home.memory(), home.holders()), (Age::Current, (None, 0b11)));
    }
}

#[test]
fn coh_snp_13_n() {
    // Twice.
    let mut home = HomeBench::new(None, 0b110);
    home.request(0, Op::RdOwn);
    home.reply(1, Rsp::RspIHitSE);
    assert_eq!(rules(&home.reply(1, Rsp::RspIHitSE)), ["COH-IDS-01"]);
    // Data without a Fwd answer.
    let mut home = snooping();
    home.data(1, false, Age::Current);
    assert_eq!(rules(&home.reply(1, Rsp::RspSHitSE)), ["COH-SNP-13"]);
    // Fwd without data: the request stays open.
    let mut home = snooping();
    assert!(answers_sent(&home.reply(1, Rsp::RspSFwdM)).is_empty() && !home.home.is_idle());
    // A second line.
    let mut home = snooping();
    home.data(1, false, Age::Current);
    assert_eq!(rules(&home.data(1, false, Age::Current)), ["COH-SNP-13"]);
}

#[test]
fn coh_snp_14_p() {
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdCurr);
    home.reply(1, Rsp::RspVFwdV);
    let out = home.data(1, false, Age::Current);
    assert!(matches!(out.sends[..], [(0, Msg::H2dData { data: LineToken { age: Age::Current, .. }, .. })]));
    assert_eq!((home.memory(), home.holders()), (Age::Stale, (Some(1), 0)));
}

#[test]
fn coh_snp_14_n() {
    cache_names(CoherenceMutant::CurrentDataCleansOwner, "COH-SNP-14");
    assert_eq!(killer(CoherenceMutant::CurrentDataCleansOwner, false), "COH-EVT-03");
}

#[test]
fn coh_snp_15_p() {
    // The device kept nothing; the home tracks S and stays right.
    assert_eq!(outcomes("MI", &["", "RdAny"], "snp_data_on_m = 'shared-then-invalid'"), ["IS+".into()].into());
    let mut home = snooping();
    home.reply(1, Rsp::RspSFwdM);
    home.data(1, false, Age::Current);
    assert_eq!(home.holders(), (None, 0b11));
}

#[test]
fn coh_snp_15_n() {
    // A home that forgets the S copy is caught by the tracking monitor, and named by the watch.
    assert_eq!(untracked(CacheLineState::S), ["COH-INV-04"]);
    let home = snooping();
    let answer = Msg::D2hRsp { opcode: Rsp::RspSFwdM, uqid: uqid(0, 1) };
    let forgets = |home: &mut HomeAgent<LineToken, Flat<LineToken>>, _: &mut AgentOutput<LineToken>| {
        home.set_holders(LINE, Holders { owner: None, sharers: IdSet::of_bits(1) });
    };
    assert_eq!(takes_and(&home.config, &home.home, (1, answer), forgets), ["COH-HOM-04", "COH-SNP-15"]);
}

/// What the monitors say of a copy that nobody tracks.
pub fn untracked(at: CacheLineState) -> Vec<&'static str> {
    use scalepool::coherence::monitor::{CopyView, View, check_copies};
    let value = token(Age::Current);
    let copy = CopyView { agent: 0, usable: true, writable: at.may_store(), dirty: at.is_dirty(), value };
    let view = View {
        line: LINE,
        newest: value,
        home: value,
        copies: vec![copy],
        in_flight: Vec::new(),
        tracked: IdSet::of_bits(0),
        levels: Vec::new(),
    };
    let mut events = Vec::new();
    check_copies(&view, &|n| format!("agent {n}"), &mut events);
    events.iter().map(|e| e.rule).collect()
}

#[test]
fn coh_snp_16_p() {
    for op in ALL_REQUESTS {
        let expected = match *op {
            Op::RdCurr => Some(Snoop::Cur),
            Op::RdShared | Op::RdAny => Some(Snoop::Data),
            Op::CleanEvict | Op::DirtyEvict | Op::CleanEvictNoData => None,
            _ => Some(Snoop::Inv),
        };
        let sent = snoops_sent(&HomeBench::new(Some(1), 0).request(0, *op));
        assert_eq!(sent, expected.map(|s| (1, s)).into_iter().collect::<Vec<_>>(), "{op:?}");
    }
}

#[test]
fn coh_snp_16_n() {
    // Whoever answers S keeps RdAny from E.
    for (rsp, go) in [(Rsp::RspSHitSE, HostAnswer::GoS), (Rsp::RspIHitI, HostAnswer::GoE)] {
        let mut home = HomeBench::new(Some(1), 0);
        home.request(0, Op::RdAny);
        assert_eq!(answers_sent(&home.reply(1, rsp)), [(0, go)]);
    }
    // Another snoop than the request's.
    for (op, right) in [(Op::RdOwn, Snoop::Inv), (Op::RdShared, Snoop::Data), (Op::RdCurr, Snoop::Cur)] {
        for wrong in Snoop::ALL.iter().filter(|s| **s != right) {
            let bench = HomeBench::new(Some(1), 0);
            let msg = Msg::D2hReq { opcode: op, line: LINE, cqid: 7 };
            let found = takes_and(&bench.config, &bench.home, (0, msg), |_, out| {
                out.sends[0].1 = Msg::H2dReq { opcode: wrong.code(), line: LINE, uqid: uqid(0, 1) };
            });
            assert_eq!(found, ["COH-SNP-16"], "{wrong:?} for {op:?}");
        }
    }
    // An answer that only SnpCur has, to a snoop for ownership.
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdOwn);
    assert_eq!(rules(&home.reply(1, Rsp::RspVHitV)), ["COH-SNP-05"]);
}

/// A snoop of a device in some transient state: answer, data that leaves at once, state that follows.
fn snooped(bench: &Bench, snoop: Snoop) -> (Rsp, bool, CacheLineState) {
    let mut bench = bench.clone();
    let out = bench.snoop(snoop, 0);
    assert_eq!(rules(&out), [""; 0]);
    (rsp_sent(&out)[0], !data_sent(&out).is_empty(), bench.at())
}

#[test]
fn coh_trn_01_p() {
    for op in [Op::RdShared, Op::RdAny, Op::RdOwn, Op::RdCurr, Op::CLFlush] {
        let bench = Bench::issued(CacheLineState::I, op);
        for &snoop in Snoop::ALL {
            assert_eq!(snooped(&bench, snoop), (Rsp::RspIHitI, false, bench.at()));
        }
    }
}

#[test]
fn coh_trn_01_n() {
    // Held until the own request has ended: nothing moves any more.
    cache_names(CoherenceMutant::SnoopWaitsForRequest, "COH-TRN-01");
    assert_eq!(killer(CoherenceMutant::SnoopWaitsForRequest, false), "COH-INV-09");
}

#[test]
fn coh_trn_02_p() {
    let bench = Bench::issued(CacheLineState::S, Op::RdOwnNoData);
    assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIHitSE, false, CacheLineState::UpI));
    assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSHitSE, false, CacheLineState::UpS));
    assert_eq!(snooped(&bench, Snoop::Cur), (Rsp::RspVHitV, false, CacheLineState::UpS));
}

#[test]
fn coh_trn_02_n() {
    cache_names(CoherenceMutant::OldBytesKept, "COH-TRN-02");
    assert_eq!(killer(CoherenceMutant::OldBytesKept, false), "COH-INV-02");
}

/// RdOwn or RdShared whose GO is here and whose data is not; `store`: a store waits.
fn granted(op: Op, answer: HostAnswer, store: bool) -> Bench {
    let mut bench = Bench::new(CacheLineState::I);
    let bytes = store.then_some(WriteBytes { data: token(Age::New), enables: 1 });
    assert!(bench.device.issue(op, LINE, bytes, &mut AgentOutput::default()));
    bench.answer(answer);
    bench
}

#[test]
fn coh_trn_03_p() {
    let s = granted(Op::RdShared, HostAnswer::GoS, false);
    assert_eq!(snooped(&s, Snoop::Inv), (Rsp::RspIHitSE, false, CacheLineState::RdOnce));
    assert_eq!(snooped(&s, Snoop::Data), (Rsp::RspSHitSE, false, CacheLineState::RdGoS));
    assert_eq!(snooped(&s, Snoop::Cur), (Rsp::RspVHitV, false, CacheLineState::RdGoS));
    let e = granted(Op::RdOwn, HostAnswer::GoE, false);
    assert_eq!(snooped(&e, Snoop::Inv), (Rsp::RspIHitSE, false, CacheLineState::RdOnce));
    assert_eq!(snooped(&e, Snoop::Data), (Rsp::RspSHitSE, false, CacheLineState::RdGoS));
    assert_eq!(snooped(&e, Snoop::Cur), (Rsp::RspVHitV, false, CacheLineState::RdGoE));
    // A store waits, or the line is dirty: the answer now, the line when it has come.
    for (bench, cur, end) in [
        (granted(Op::RdOwn, HostAnswer::GoE, true), Rsp::RspVHitV, CacheLineState::RdGoESt),
        (granted(Op::RdOwn, HostAnswer::GoM, false), Rsp::RspVFwdV, CacheLineState::OweM),
    ] {
        assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIFwdM, false, CacheLineState::OweI));
        assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSFwdM, false, CacheLineState::OweS));
        assert_eq!(snooped(&bench, Snoop::Cur), (cur, false, end));
        for (snoop, end) in [(Snoop::Inv, CacheLineState::I), (Snoop::Data, CacheLineState::S)] {
            let mut bench = bench.clone();
            bench.snoop(snoop, 0);
            assert_eq!((data_sent(&bench.data()), bench.at()), (vec![(0x30, false)], end));
        }
    }
}

#[test]
fn coh_trn_03_n() {
    cache_names(CoherenceMutant::GrantedAnswersAsInvalid, "COH-TRN-03");
    cache_names(CoherenceMutant::GrantedHoldsSnoop, "COH-TRN-03");
    assert_eq!(killer(CoherenceMutant::GrantedAnswersAsInvalid, false), "COH-INV-04");
    assert_eq!(killer(CoherenceMutant::GrantedHoldsSnoop, true), "COH-ORD-07");
}

#[test]
fn coh_trn_04_p() {
    let bench = Bench::issued(CacheLineState::M, Op::DirtyEvict);
    assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIFwdM, true, CacheLineState::EvI));
    assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSFwdM, true, CacheLineState::EvS));
    assert_eq!(snooped(&bench, Snoop::Cur), (Rsp::RspVFwdV, true, CacheLineState::EvM));
    // Marked when the state changed, and only then.
    for (snoop, bogus) in [(Snoop::Inv, true), (Snoop::Data, true), (Snoop::Cur, false)] {
        let mut bench = bench.clone();
        bench.snoop(snoop, 0);
        assert_eq!(data_sent(&bench.answer(HostAnswer::GoPull)), [(0x21, bogus)]);
    }
}

#[test]
fn coh_trn_04_n() {
    // Answered as M and not marked.
    let bench = Bench::issued(CacheLineState::M, Op::DirtyEvict);
    for &snoop in &[Snoop::Data, Snoop::Inv] {
        let forgets =
            |device: &mut DeviceCache<LineToken>, _: &mut AgentOutput<LineToken>| *device = bench.device.clone();
        let msg = Msg::H2dReq { opcode: snoop.code(), line: LINE, uqid: 0x30 };
        assert_eq!(takes_and(&bench.config, &bench.device, (0, msg), forgets), ["COH-TRN-04"]);
    }
    assert_eq!(killer(CoherenceMutant::BogusNotSet, false), "COH-EVT-03");
}

#[test]
fn coh_trn_05_p() {
    let e = Bench::issued(CacheLineState::E, Op::CleanEvict);
    assert_eq!(snooped(&e, Snoop::Inv), (Rsp::RspIHitSE, false, CacheLineState::EvI));
    assert_eq!(snooped(&e, Snoop::Data), (Rsp::RspSHitSE, false, CacheLineState::EvS));
    assert_eq!(snooped(&e, Snoop::Cur), (Rsp::RspVHitV, false, CacheLineState::EvE));
    for (start, inv, data, cur) in [
        (CacheLineState::E, CacheLineState::NdI, CacheLineState::NdS, CacheLineState::NdE),
        (CacheLineState::S, CacheLineState::NdI, CacheLineState::NdS, CacheLineState::NdS),
    ] {
        let bench = Bench::issued(start, Op::CleanEvictNoData);
        assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIHitSE, false, inv));
        assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSHitSE, false, data));
        assert_eq!(snooped(&bench, Snoop::Cur), (Rsp::RspVHitV, false, cur));
    }
}

#[test]
fn coh_trn_05_n() {
    // Marked under SnpCur, which changes no state.
    let bench = Bench::issued(CacheLineState::E, Op::CleanEvict);
    let mut marked = bench.clone();
    marked.snoop(Snoop::Data, 0);
    let msg = Msg::H2dReq { opcode: H2dReqOpcode::SnpCur, line: LINE, uqid: 0x30 };
    let marks = |device: &mut DeviceCache<LineToken>, _: &mut AgentOutput<LineToken>| *device = marked.device.clone();
    assert_eq!(takes_and(&bench.config, &bench.device, (0, msg), marks), ["COH-TRN-05"]);
    // It would send Bogus though it is the holder: the home reports it.
    let mut home = HomeBench::new(Some(0), 0);
    home.config.clean_evict = CleanEvictAnswer::Pull;
    home.request(0, Op::CleanEvict);
    assert_eq!(rules(&home.data(0, true, Age::Current)), ["COH-BOG-02"]);
}

#[test]
fn coh_trn_06_p() {
    for op in [Op::WrInv, Op::ItoMWr, Op::WrCur, Op::WOWrInv, Op::WOWrInvF] {
        let bench = Bench::issued(CacheLineState::I, op);
        for &snoop in Snoop::ALL {
            assert_eq!(snooped(&bench, snoop), (Rsp::RspIHitI, false, CacheLineState::Wr));
        }
    }
}

#[test]
fn coh_trn_06_n() {
    for op in [Op::WrInv, Op::ItoMWr, Op::WrCur, Op::WOWrInv, Op::WOWrInvF] {
        let bench = Bench::issued(CacheLineState::I, op);
        let msg = Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line: LINE, uqid: 0x30 };
        let forwards = |_: &mut DeviceCache<LineToken>, out: &mut AgentOutput<LineToken>| {
            let data = token(Age::Current);
            out.sends[0].1 = Msg::D2hRsp { opcode: Rsp::RspIFwdM, uqid: 0x30 };
            out.send(0, Msg::D2hData { uqid: 0x30, bogus: false, data, enables: WHOLE_LINE });
        };
        assert_eq!(takes_and(&bench.config, &bench.device, (0, msg), forwards), ["COH-TRN-06"]);
    }
    // A line of data that its answer does not announce.
    let mut home = HomeBench::new(None, 0b10);
    home.request(0, Op::RdOwn);
    home.data(1, false, Age::Current);
    assert_eq!(rules(&home.reply(1, Rsp::RspIHitI)), ["COH-SNP-13"]);
}
