//! Snoops in stable and transient states, and how the home reads the answers (`coherence` §2.3, §2.4).

use super::cache_bench::*;
use super::litmus::outcomes;

/// An answer of the sheet: response, state that follows, one line of data.
type Legal = (Rsp, At, bool);

/// The table of §2.3, spelled again, the default first.
fn legal(at: At, snoop: Snoop) -> &'static [Legal] {
    match (snoop, at) {
        (_, At::I) => &[(Rsp::RspIHitI, At::I, false)],
        (Snoop::Data, At::S | At::E) => &[(Rsp::RspSHitSE, At::S, false)],
        (Snoop::Inv, At::S | At::E) => &[(Rsp::RspIHitSE, At::I, false)],
        (Snoop::Cur, At::S) => &[(Rsp::RspVHitV, At::S, false), (Rsp::RspSHitSE, At::S, false)],
        (Snoop::Cur, At::E) => {
            &[(Rsp::RspVHitV, At::E, false), (Rsp::RspVFwdV, At::E, true), (Rsp::RspSHitSE, At::S, false)]
        }
        (Snoop::Data, _) => &[(Rsp::RspSFwdM, At::S, true), (Rsp::RspSFwdM, At::I, true), (Rsp::RspIFwdM, At::I, true)],
        (Snoop::Inv, _) => &[(Rsp::RspIFwdM, At::I, true)],
        (Snoop::Cur, _) => &[(Rsp::RspVFwdV, At::M, true), (Rsp::RspSFwdM, At::S, true), (Rsp::RspIFwdM, At::I, true)],
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

/// The device answers exactly what the sheet allows, its default first.
fn device_obeys(at: At, snoop: Snoop) {
    let (mut found, mut expected) = (replies(&Bench::new(at), snoop), legal(at, snoop).to_vec());
    assert_eq!(found[0], expected[0], "{at:?} {snoop:?}");
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{at:?} {snoop:?}");
}

/// The home reports an answer that the snoop's column does not have, and takes no notice of it.
fn home_reports(at: At, snoop: Snoop) {
    let op = match snoop {
        Snoop::Data => Op::RdShared,
        Snoop::Inv => Op::RdOwn,
        Snoop::Cur => Op::RdCurr,
    };
    let column = |rsp| [At::I, At::S, At::E, At::M].iter().any(|at| legal(*at, snoop).iter().any(|l| l.0 == rsp));
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

#[test]
fn coh_snp_01_p() {
    device_obeys(At::I, Snoop::Data);
}

#[test]
fn coh_snp_01_n() {
    home_reports(At::I, Snoop::Data);
}

#[test]
fn coh_snp_02_p() {
    device_obeys(At::S, Snoop::Data);
}

#[test]
fn coh_snp_02_n() {
    home_reports(At::S, Snoop::Data);
}

#[test]
fn coh_snp_03_p() {
    device_obeys(At::E, Snoop::Data);
}

#[test]
fn coh_snp_03_n() {
    home_reports(At::E, Snoop::Data);
}

#[test]
fn coh_snp_04_p() {
    device_obeys(At::M, Snoop::Data);
}

#[test]
fn coh_snp_04_n() {
    home_reports(At::M, Snoop::Data);
}

#[test]
fn coh_snp_05_p() {
    device_obeys(At::I, Snoop::Inv);
}

#[test]
fn coh_snp_05_n() {
    home_reports(At::I, Snoop::Inv);
}

#[test]
fn coh_snp_06_p() {
    device_obeys(At::S, Snoop::Inv);
}

#[test]
fn coh_snp_06_n() {
    home_reports(At::S, Snoop::Inv);
}

#[test]
fn coh_snp_07_p() {
    device_obeys(At::E, Snoop::Inv);
}

#[test]
fn coh_snp_07_n() {
    home_reports(At::E, Snoop::Inv);
}

#[test]
fn coh_snp_08_p() {
    device_obeys(At::M, Snoop::Inv);
}

#[test]
fn coh_snp_08_n() {
    home_reports(At::M, Snoop::Inv);
}

#[test]
fn coh_snp_09_p() {
    device_obeys(At::I, Snoop::Cur);
}

#[test]
fn coh_snp_09_n() {
    home_reports(At::I, Snoop::Cur);
}

#[test]
fn coh_snp_10_p() {
    device_obeys(At::S, Snoop::Cur);
}

#[test]
fn coh_snp_10_n() {
    home_reports(At::S, Snoop::Cur);
}

#[test]
fn coh_snp_11_p() {
    device_obeys(At::E, Snoop::Cur);
}

#[test]
fn coh_snp_11_n() {
    home_reports(At::E, Snoop::Cur);
}

#[test]
fn coh_snp_12_p() {
    device_obeys(At::M, Snoop::Cur);
}

#[test]
fn coh_snp_12_n() {
    home_reports(At::M, Snoop::Cur);
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
        assert_eq!(answers_sent(&outs[1]), [(0, Answer::GoS)]);
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
    assert!(matches!(out.sends[..], [(0, Msg::H2dData { data: Token { age: Age::Current, .. }, .. })]));
    assert_eq!((home.memory(), home.holders()), (Age::Stale, (Some(1), 0)));
}

#[test]
fn coh_snp_14_n() {
    assert_eq!(killer(Mutant::CurrentDataCleansOwner, false), "COH-EVT-03");
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
    // A home that forgets the S copy is caught by the tracking monitor.
    assert_eq!(untracked(At::S), ["COH-INV-04"]);
}

/// What the monitors say of a copy that nobody tracks.
pub fn untracked(at: At) -> Vec<&'static str> {
    use scalepool::coherence::monitor::{CopyView, View, check_copies};
    let value = token(Age::Current);
    let copy = CopyView { agent: 0, usable: true, writable: at.may_store(), dirty: at.is_dirty(), value };
    let view = View { line: LINE, newest: value, home: value, copies: vec![copy], in_flight: Vec::new(), tracked: 0 };
    let mut events = Vec::new();
    check_copies(&view, &mut events);
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
    for (rsp, go) in [(Rsp::RspSHitSE, Answer::GoS), (Rsp::RspIHitI, Answer::GoE)] {
        let mut home = HomeBench::new(Some(1), 0);
        home.request(0, Op::RdAny);
        assert_eq!(answers_sent(&home.reply(1, rsp)), [(0, go)]);
    }
    // An answer that only SnpCur has, to a snoop for ownership.
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdOwn);
    assert_eq!(rules(&home.reply(1, Rsp::RspVHitV)), ["COH-SNP-05"]);
}

/// A snoop of a device in some transient state: answer, data that leaves at once, state that follows.
fn snooped(bench: &Bench, snoop: Snoop) -> (Rsp, bool, At) {
    let mut bench = bench.clone();
    let out = bench.snoop(snoop, 0);
    assert_eq!(rules(&out), [""; 0]);
    (rsp_sent(&out)[0], !data_sent(&out).is_empty(), bench.at())
}

#[test]
fn coh_trn_01_p() {
    for op in [Op::RdShared, Op::RdAny, Op::RdOwn, Op::RdCurr, Op::CLFlush] {
        let bench = Bench::issued(At::I, op);
        for &snoop in Snoop::ALL {
            assert_eq!(snooped(&bench, snoop), (Rsp::RspIHitI, false, bench.at()));
        }
    }
}

#[test]
fn coh_trn_01_n() {
    // Held until the own request has ended: nothing moves any more.
    assert_eq!(killer(Mutant::SnoopWaitsForRequest, false), "COH-INV-09");
}

#[test]
fn coh_trn_02_p() {
    let bench = Bench::issued(At::S, Op::RdOwnNoData);
    assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIHitSE, false, At::UpI));
    assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSHitSE, false, At::UpS));
    assert_eq!(snooped(&bench, Snoop::Cur), (Rsp::RspVHitV, false, At::UpS));
}

#[test]
fn coh_trn_02_n() {
    assert_eq!(killer(Mutant::OldBytesKept, false), "COH-INV-02");
}

/// RdOwn or RdShared whose GO is here and whose data is not; `store`: a store waits.
fn granted(op: Op, answer: Answer, store: bool) -> Bench {
    let mut bench = Bench::new(At::I);
    let bytes = store.then_some(Bytes { data: token(Age::New), enables: 1 });
    assert!(bench.device.issue(op, LINE, bytes, &mut Out::default()));
    bench.answer(answer);
    bench
}

#[test]
fn coh_trn_03_p() {
    let s = granted(Op::RdShared, Answer::GoS, false);
    assert_eq!(snooped(&s, Snoop::Inv), (Rsp::RspIHitSE, false, At::RdOnce));
    assert_eq!(snooped(&s, Snoop::Data), (Rsp::RspSHitSE, false, At::RdGoS));
    assert_eq!(snooped(&s, Snoop::Cur), (Rsp::RspVHitV, false, At::RdGoS));
    let e = granted(Op::RdOwn, Answer::GoE, false);
    assert_eq!(snooped(&e, Snoop::Inv), (Rsp::RspIHitSE, false, At::RdOnce));
    assert_eq!(snooped(&e, Snoop::Data), (Rsp::RspSHitSE, false, At::RdGoS));
    assert_eq!(snooped(&e, Snoop::Cur), (Rsp::RspVHitV, false, At::RdGoE));
    // A store waits, or the line is dirty: the answer now, the line when it has come.
    for (bench, cur, end) in [
        (granted(Op::RdOwn, Answer::GoE, true), Rsp::RspVHitV, At::RdGoESt),
        (granted(Op::RdOwn, Answer::GoM, false), Rsp::RspVFwdV, At::OweM),
    ] {
        assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIFwdM, false, At::OweI));
        assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSFwdM, false, At::OweS));
        assert_eq!(snooped(&bench, Snoop::Cur), (cur, false, end));
        for (snoop, end) in [(Snoop::Inv, At::I), (Snoop::Data, At::S)] {
            let mut bench = bench.clone();
            bench.snoop(snoop, 0);
            assert_eq!((data_sent(&bench.data()), bench.at()), (vec![(0x30, false)], end));
        }
    }
}

#[test]
fn coh_trn_03_n() {
    assert_eq!(killer(Mutant::GrantedAnswersAsInvalid, false), "COH-INV-04");
    assert_eq!(killer(Mutant::GrantedHoldsSnoop, true), "COH-ORD-07");
}

#[test]
fn coh_trn_04_p() {
    let bench = Bench::issued(At::M, Op::DirtyEvict);
    assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIFwdM, true, At::EvI));
    assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSFwdM, true, At::EvS));
    assert_eq!(snooped(&bench, Snoop::Cur), (Rsp::RspVFwdV, true, At::EvM));
    // Marked when the state changed, and only then.
    for (snoop, bogus) in [(Snoop::Inv, true), (Snoop::Data, true), (Snoop::Cur, false)] {
        let mut bench = bench.clone();
        bench.snoop(snoop, 0);
        assert_eq!(data_sent(&bench.answer(Answer::GoPull)), [(0x21, bogus)]);
    }
}

#[test]
fn coh_trn_04_n() {
    assert_eq!(killer(Mutant::BogusNotSet, false), "COH-EVT-03");
}

#[test]
fn coh_trn_05_p() {
    let e = Bench::issued(At::E, Op::CleanEvict);
    assert_eq!(snooped(&e, Snoop::Inv), (Rsp::RspIHitSE, false, At::EvI));
    assert_eq!(snooped(&e, Snoop::Data), (Rsp::RspSHitSE, false, At::EvS));
    assert_eq!(snooped(&e, Snoop::Cur), (Rsp::RspVHitV, false, At::EvE));
    for (start, inv, data, cur) in [(At::E, At::NdI, At::NdS, At::NdE), (At::S, At::NdI, At::NdS, At::NdS)] {
        let bench = Bench::issued(start, Op::CleanEvictNoData);
        assert_eq!(snooped(&bench, Snoop::Inv), (Rsp::RspIHitSE, false, inv));
        assert_eq!(snooped(&bench, Snoop::Data), (Rsp::RspSHitSE, false, data));
        assert_eq!(snooped(&bench, Snoop::Cur), (Rsp::RspVHitV, false, cur));
    }
}

#[test]
fn coh_trn_05_n() {
    // A device that marked under SnpCur would send Bogus though it is the holder: the home reports it.
    let mut home = HomeBench::new(Some(0), 0);
    home.config.clean_evict = CleanEvictAnswer::Pull;
    home.request(0, Op::CleanEvict);
    assert_eq!(rules(&home.data(0, true, Age::Current)), ["COH-BOG-02"]);
}

#[test]
fn coh_trn_06_p() {
    for op in [Op::WrInv, Op::ItoMWr, Op::WrCur, Op::WOWrInv, Op::WOWrInvF] {
        let bench = Bench::issued(At::I, op);
        for &snoop in Snoop::ALL {
            assert_eq!(snooped(&bench, snoop), (Rsp::RspIHitI, false, At::Wr));
        }
    }
}

#[test]
fn coh_trn_06_n() {
    // A line of data that its answer does not announce.
    let mut home = HomeBench::new(None, 0b10);
    home.request(0, Op::RdOwn);
    home.data(1, false, Age::Current);
    assert_eq!(rules(&home.reply(1, Rsp::RspIHitI)), ["COH-SNP-13"]);
}
