//! Requests and states of a device (`coherence` §2.1, §2.2, §2.4).

use super::cache_bench::*;
use super::litmus::outcomes;

/// One event of a request's life.
#[derive(Debug, Clone, Copy)]
enum Got {
    Rsp(Answer),
    Data,
}

use Got::{Data as D, Rsp as R};

/// What the sheet says of a request, spelled again: start states, and every legal course with the state that follows.
struct Row {
    op: Op,
    starts: &'static [At],
    courses: &'static [(&'static [Got], At)],
    /// Lines of D2H Data that leave.
    data: usize,
}

const READ_S: (&[Got], At) = (&[R(Answer::GoS), D], At::S);
const READ_E: (&[Got], At) = (&[R(Answer::GoE), D], At::E);
const READ_M: (&[Got], At) = (&[R(Answer::GoM), D], At::M);
const READ_I: (&[Got], At) = (&[R(Answer::GoI), D], At::I);
const READ_ERR: (&[Got], At) = (&[D, R(Answer::GoErr)], At::I);

fn row(op: Op) -> Row {
    let row = |starts, courses, data| Row { op, starts, courses, data };
    match op {
        Op::RdCurr => row(&[At::I], &[(&[D], At::I)], 0),
        Op::RdShared => row(&[At::I], &[READ_S, (&[D, R(Answer::GoS)], At::S), READ_I, READ_ERR], 0),
        Op::RdAny => row(&[At::I], &[READ_S, READ_E, READ_M, READ_I, READ_ERR, (&[D, R(Answer::GoE)], At::E)], 0),
        Op::RdOwn => row(&[At::I], &[READ_E, READ_M, READ_I, READ_ERR, (&[D, R(Answer::GoM)], At::M)], 0),
        Op::RdOwnNoData => row(&[At::S], &[(&[R(Answer::GoE)], At::E), (&[R(Answer::GoErr)], At::I)], 0),
        Op::CLFlush => row(&[At::I], &[(&[R(Answer::GoI)], At::I), (&[R(Answer::GoErr)], At::I)], 0),
        Op::ItoMWr | Op::WrCur => row(&[At::I], &[(&[R(Answer::GoPull)], At::I), (&[R(Answer::GoErrPull)], At::I)], 1),
        Op::CleanEvict => row(&[At::E], &[(&[R(Answer::GoPull)], At::I)], 1),
        Op::CleanEvictNoData => row(&[At::E, At::S], &[(&[R(Answer::GoI)], At::I)], 0),
        Op::DirtyEvict => row(&[At::M], &[(&[R(Answer::GoPull)], At::I), (&[R(Answer::GoErrPull)], At::I)], 1),
        Op::WrInv => row(
            &[At::I],
            &[(&[R(Answer::Pull), R(Answer::GoI)], At::I), (&[R(Answer::Pull), R(Answer::GoErr)], At::I)],
            1,
        ),
        _ => row(
            &[At::I],
            &[
                (&[R(Answer::FastGoPull), R(Answer::ExtCmp)], At::I),
                (&[R(Answer::ExtCmp), R(Answer::FastGoPull)], At::I),
                (&[R(Answer::GoErrPull), R(Answer::ExtCmp)], At::I),
            ],
            1,
        ),
    }
}

/// Every legal course from every start state ends as the sheet says, without an event.
fn obeys(op: Op) {
    let row = row(op);
    for &start in row.starts {
        for (course, end) in row.courses {
            let mut bench = Bench::issued(start, row.op);
            let mut data = 0;
            for got in *course {
                assert!(!bench.device.is_idle());
                let out = match got {
                    R(answer) => bench.answer(*answer),
                    D => bench.data(),
                };
                assert_eq!(rules(&out), [""; 0], "{op:?} {course:?}");
                data += data_sent(&out).len();
                assert!(data_sent(&out).iter().all(|d| *d == (0x21, false)));
            }
            assert_eq!((bench.at(), data, bench.device.is_idle()), (*end, row.data, true), "{op:?} {course:?}");
        }
    }
}

/// Every answer outside the row is reported under the row's rule and changes nothing; no other state issues.
fn breaks(op: Op, rule: &str, also_allowed: &[Answer]) {
    let row = row(op);
    let allowed = |a: &Answer| {
        also_allowed.contains(a) || row.courses.iter().any(|(c, _)| c.iter().any(|g| matches!(g, R(x) if x == a)))
    };
    for &start in row.starts {
        for answer in Answer::ALL.iter().filter(|a| !allowed(a)) {
            let mut bench = Bench::issued(start, op);
            let before = bench.device.clone();
            let out = bench.answer(*answer);
            assert_eq!((rules(&out), out.sends.len()), (vec![rule], 0), "{op:?} {answer:?}");
            assert!(bench.device == before);
        }
    }
    let may_start = |at: &At| row.starts.contains(at) || op == Op::RdOwnNoData && *at == At::I;
    for start in [At::I, At::S, At::E, At::M].into_iter().filter(|at| !may_start(at)) {
        let mut bench = Bench::new(start);
        assert!(!bench.device.can_issue(op, LINE) && !bench.issue(op) && bench.at() == start, "{op:?} {start:?}");
    }
}

#[test]
fn coh_req_01_p() {
    obeys(Op::RdCurr);
}

#[test]
fn coh_req_01_n() {
    breaks(Op::RdCurr, "COH-REQ-01", &[]);
}

#[test]
fn coh_req_02_p() {
    obeys(Op::RdShared);
}

#[test]
fn coh_req_02_n() {
    breaks(Op::RdShared, "COH-REQ-02", &[]);
}

#[test]
fn coh_req_03_p() {
    obeys(Op::RdAny);
}

#[test]
fn coh_req_03_n() {
    breaks(Op::RdAny, "COH-REQ-03", &[]);
}

#[test]
fn coh_req_04_p() {
    obeys(Op::RdOwn);
}

#[test]
fn coh_req_04_n() {
    breaks(Op::RdOwn, "COH-REQ-04", &[]);
}

#[test]
fn coh_req_05_p() {
    obeys(Op::RdOwnNoData);
}

#[test]
fn coh_req_05_n() {
    breaks(Op::RdOwnNoData, "COH-REQ-05", &[]);
}

#[test]
fn coh_req_06_p() {
    obeys(Op::CLFlush);
}

#[test]
fn coh_req_06_n() {
    breaks(Op::CLFlush, "COH-REQ-06", &[]);
}

#[test]
fn coh_req_08_p() {
    obeys(Op::ItoMWr);
}

#[test]
fn coh_req_08_n() {
    breaks(Op::ItoMWr, "COH-REQ-08", &[]);
}

#[test]
fn coh_req_09_p() {
    obeys(Op::WrCur);
}

#[test]
fn coh_req_09_n() {
    breaks(Op::WrCur, "COH-REQ-09", &[]);
}

#[test]
fn coh_req_10_p() {
    obeys(Op::CleanEvict);
}

#[test]
fn coh_req_10_n() {
    breaks(Op::CleanEvict, "COH-REQ-10", &[Answer::GoDrop]);
}

#[test]
fn coh_req_11_p() {
    obeys(Op::CleanEvictNoData);
}

#[test]
fn coh_req_11_n() {
    breaks(Op::CleanEvictNoData, "COH-REQ-11", &[]);
}

#[test]
fn coh_req_12_p() {
    obeys(Op::DirtyEvict);
}

#[test]
fn coh_req_12_n() {
    breaks(Op::DirtyEvict, "COH-REQ-12", &[]);
}

#[test]
fn coh_req_13_p() {
    obeys(Op::WrInv);
}

#[test]
fn coh_req_13_n() {
    breaks(Op::WrInv, "COH-REQ-13", &[]);
}

#[test]
fn coh_req_14_p() {
    obeys(Op::WOWrInv);
}

#[test]
fn coh_req_14_n() {
    breaks(Op::WOWrInv, "COH-REQ-14", &[]);
}

#[test]
fn coh_req_15_p() {
    obeys(Op::WOWrInvF);
}

#[test]
fn coh_req_15_n() {
    breaks(Op::WOWrInvF, "COH-REQ-15", &[]);
}

#[test]
fn coh_req_07_p() {
    let mut bench = Bench::issued(At::I, Op::CacheFlushed);
    assert!(!bench.device.is_idle());
    assert_eq!(rules(&bench.answer(Answer::GoI)), [""; 0]);
    assert!(bench.device.is_idle());
    // The home forgets the device, and only it.
    let mut home = HomeBench::new(None, 0b11);
    assert_eq!(answers_sent(&home.request(0, Op::CacheFlushed)), [(0, Answer::GoI)]);
    assert_eq!(home.holders(), (None, 0b10));
}

#[test]
fn coh_req_07_n() {
    for answer in Answer::ALL.iter().filter(|a| **a != Answer::GoI) {
        assert_eq!(rules(&Bench::issued(At::I, Op::CacheFlushed).answer(*answer)), ["COH-REQ-07"]);
    }
}

#[test]
fn coh_req_27_p() {
    // After the GO the next cacheable request may go.
    let mut bench = Bench::issued(At::I, Op::CacheFlushed);
    bench.answer(Answer::GoI);
    assert!(bench.issue(Op::RdShared));
}

#[test]
fn coh_req_27_n() {
    for start in [At::S, At::E, At::M] {
        assert!(!Bench::new(start).issue(Op::CacheFlushed));
    }
    assert!(!Bench::issued(At::I, Op::RdShared).issue(Op::CacheFlushed));
    assert!(!Bench::issued(At::I, Op::CacheFlushed).issue(Op::RdShared));
}

#[test]
fn coh_sta_01_p() {
    let config = CoherenceConfig::default();
    for (at, load, store) in [(At::I, false, false), (At::S, true, false), (At::E, true, true), (At::M, true, true)] {
        let mut bench = Bench::new(at);
        assert_eq!(bench.device.load(&config, LINE).is_some(), load);
        let bytes = Bytes { data: token(Age::New), enables: 1 };
        assert_eq!(bench.device.store(LINE, &bytes, &mut Out::default()), store);
        assert_eq!(bench.at(), if store { At::M } else { at });
    }
}

#[test]
fn coh_sta_01_n() {
    let mut bench = Bench::new(At::S);
    let before = bench.device.clone();
    assert!(!bench.device.store(LINE, &Bytes { data: token(Age::New), enables: 1 }, &mut Out::default()));
    assert!(bench.device == before);
}

#[test]
fn coh_sta_02_p() {
    let config = CoherenceConfig { silent_drop_s: true, silent_drop_e: true, ..CoherenceConfig::default() };
    let mut bench = Bench::new(At::M);
    assert!(!bench.device.drop_copy(&config, LINE) && bench.at() == At::M);
}

#[test]
fn coh_sta_02_n() {
    assert_eq!(killer(Mutant::DirtyDropped, false), "COH-INV-03");
}

#[test]
fn coh_sta_03_p() {
    for on in [false, true] {
        let config = CoherenceConfig { silent_drop_s: on, silent_drop_e: on, ..CoherenceConfig::default() };
        for at in [At::S, At::E] {
            let mut bench = Bench::new(at);
            assert_eq!(bench.device.drop_copy(&config, LINE), on);
            assert_eq!(bench.at(), if on { At::I } else { at });
        }
    }
    // A home whose devices drop what they like stays clean.
    explored();
}

#[test]
fn coh_sta_03_n() {
    let config = CoherenceConfig::default();
    assert!(!config.silent_drop_e && !Bench::new(At::E).device.drop_copy(&config, LINE));
}

#[test]
fn coh_sta_04_p() {
    for (at, op) in [(At::M, Op::DirtyEvict), (At::E, Op::CleanEvict), (At::S, Op::CleanEvictNoData)] {
        let mut bench = Bench::issued(at, op);
        assert!(bench.device.load(&CoherenceConfig::default(), LINE).is_none());
        assert!(!bench.device.store(LINE, &Bytes { data: token(Age::New), enables: 1 }, &mut Out::default()));
    }
}

#[test]
fn coh_sta_04_n() {
    assert_eq!(killer(Mutant::UseAfterEvict, false), "COH-INV-01");
}

#[test]
fn coh_req_16_p() {
    // The snoop of the other upgrade lowers the state after the request has left.
    assert_eq!(outcomes("SS", &["RdOwnNoData Store", "RdOwnNoData Store"], "").len(), 2);
}

#[test]
fn coh_req_16_n() {
    // A request from a device that the directory does not know is served without complaint.
    for op in [Op::RdOwnNoData, Op::CleanEvict, Op::CleanEvictNoData, Op::DirtyEvict] {
        assert_eq!(rules(&HomeBench::new(None, 0).request(0, op)), [""; 0], "{op:?}");
    }
}

#[test]
fn coh_req_18_p() {
    for answer in ["go-error", "go-invalid"] {
        let config = format!("error_ranges = [{{ first = 0, last = 63, answer = '{answer}' }}]");
        for op in ALL_REQUESTS.iter().filter_map(|op| op.name()) {
            let end = outcomes("II", &[op, op], &config);
            assert!(end.iter().all(|e| e == "II+"), "{op} {end:?}");
        }
    }
}

#[test]
fn coh_req_18_n() {
    for op in [Op::RdShared, Op::RdAny, Op::RdOwn] {
        let mut bench = Bench::issued(At::I, op);
        bench.data();
        let out = bench.answer(Answer::GoErr);
        // Used once, and gone.
        assert!(out.effects.iter().any(|e| matches!(e, Effect::Used { .. })));
        assert!(bench.at() == At::I && bench.device.load(&CoherenceConfig::default(), LINE).is_none());
    }
}

#[test]
fn coh_req_19_p() {
    let mut home = HomeBench::new(None, 0);
    assert_eq!(answers_sent(&home.request(0, Op::RdShared)), [(0, Answer::GoS)]);
    let mut home = HomeBench::new(Some(0), 0);
    assert_eq!(answers_sent(&home.request(0, Op::DirtyEvict)), [(0, Answer::GoPull)]);
}

#[test]
fn coh_req_19_n() {
    assert_eq!(rules(&Bench::issued(At::I, Op::RdShared).answer(Answer::GoE)), ["COH-REQ-02"]);
    assert_eq!(rules(&Bench::issued(At::M, Op::DirtyEvict).answer(Answer::GoDrop)), ["COH-REQ-12"]);
}

#[test]
fn coh_req_20_p() {
    let mut bench = Bench::issued(At::I, Op::RdShared);
    let used = Effect::Used { line: LINE, value: token(Age::Current), current: true };
    assert_eq!(bench.data().effects, [used]);
    // Once: it is no copy yet.
    assert!(bench.device.load(&CoherenceConfig::default(), LINE).is_none());
    bench.answer(Answer::GoS);
    assert!(bench.device.load(&CoherenceConfig::default(), LINE).is_some());
}

#[test]
fn coh_req_20_n() {
    // Early use is sound only because the home lets nothing else at the line.
    assert_eq!(killer(Mutant::HomeDoesNotBlock, false), "COH-REQ-20");
}

#[test]
fn coh_req_21_p() {
    // GO before, between two parts of (one message here), or after the data.
    for first in [true, false] {
        let mut bench = Bench::issued(At::I, Op::RdOwn);
        if first {
            bench.answer(Answer::GoE);
            assert!(!bench.device.is_idle());
            bench.data();
        } else {
            bench.data();
            assert!(!bench.device.is_idle());
            bench.answer(Answer::GoE);
        }
        assert!(bench.at() == At::E && bench.device.is_idle());
    }
}

#[test]
fn coh_req_21_n() {
    let mut bench = Bench::issued(At::I, Op::RdOwn);
    bench.data();
    assert_eq!(rules(&bench.data()), ["COH-REQ-21"]);
    let mut bench = Bench::issued(At::I, Op::RdOwn);
    bench.answer(Answer::GoE);
    assert_eq!(rules(&bench.answer(Answer::GoE)), ["COH-REQ-21"]);
}

#[test]
fn coh_req_22_p() {
    let mut home = HomeBench::new(None, 0);
    assert_eq!(answers_sent(&home.request(0, Op::WrInv)), [(0, Answer::Pull)]);
    let out = home.data(0, false, Age::New);
    assert_eq!((answers_sent(&out), home.memory()), (vec![(0, Answer::GoI)], Age::New));
}

#[test]
fn coh_req_22_n() {
    let mut bench = Bench::issued(At::I, Op::WrInv);
    assert_eq!(rules(&bench.answer(Answer::GoI)), ["COH-REQ-22"]);
    assert!(!bench.device.is_idle());
}

#[test]
fn coh_req_23_p() {
    obeys(Op::WOWrInv);
    let mut home = HomeBench::new(None, 0);
    assert_eq!(answers_sent(&home.request(0, Op::WOWrInv)), [(0, Answer::FastGoPull)]);
    assert_eq!(answers_sent(&home.data(0, false, Age::New)), [(0, Answer::ExtCmp)]);
}

#[test]
fn coh_req_23_n() {
    // Without its ExtCmp the write stays open.
    for op in [Op::WOWrInv, Op::WOWrInvF] {
        for pull in [Answer::FastGoPull, Answer::GoErrPull] {
            let mut bench = Bench::issued(At::I, op);
            bench.answer(pull);
            assert!(!bench.device.is_idle());
        }
    }
}

fn refusing() -> HomeBench {
    let mut home = HomeBench::new(None, 0);
    let text = "error_ranges = [{ first = 0, last = 63, answer = 'go-error' }]";
    home.config = toml_config(text);
    home
}

fn toml_config(text: &str) -> CoherenceConfig {
    // Through a litmus file, which is how options are read.
    let file = format!("kind = 'cxl-cache'\nstart = 'I'\nprograms = [[]]\n[config]\n{text}\n");
    scalepool::coherence::litmus::parse(&file).expect("a case").config
}

#[test]
fn coh_req_24_p() {
    for (op, answer, end) in [
        (Op::ItoMWr, Answer::GoErrPull, vec![]),
        (Op::WOWrInv, Answer::GoErrPull, vec![(0, Answer::ExtCmp)]),
        (Op::WrInv, Answer::Pull, vec![(0, Answer::GoErr)]),
    ] {
        let mut home = refusing();
        assert_eq!(answers_sent(&home.request(0, op)), [(0, answer)]);
        assert_eq!(answers_sent(&home.data(0, false, Age::New)), end);
        assert!(home.home.is_idle());
    }
}

#[test]
fn coh_req_24_n() {
    let mut home = refusing();
    home.request(0, Op::ItoMWr);
    let out = home.data(0, false, Age::New);
    assert_eq!((home.memory(), out.effects.contains(&Effect::Written(LINE))), (Age::Stale, false));
}

#[test]
fn coh_req_25_p() {
    for op in [Op::WrInv, Op::WOWrInv, Op::WOWrInvF, Op::ItoMWr, Op::WrCur] {
        let sent = answers_sent(&HomeBench::new(None, 0).request(0, op));
        assert!(sent.len() == 1 && sent[0].1 != Answer::GoDrop);
    }
}

#[test]
fn coh_req_25_n() {
    for (op, rule) in [(Op::WrInv, "COH-REQ-13"), (Op::WOWrInv, "COH-REQ-14"), (Op::ItoMWr, "COH-REQ-08")] {
        assert_eq!(rules(&Bench::issued(At::I, op).answer(Answer::GoDrop)), [rule]);
    }
}

/// Memory after a write of 0xff bytes with these enables over zeros, through a real device and home.
fn written(op: Op, enables: u64) -> Option<Line> {
    let config = CoherenceConfig::default();
    let (mut device, mut home) = (Device::<Line>::new(), Home::<Line, Flat<Line>>::new(Flat::default()));
    let mut out = Out::default();
    if !device.issue(op, LINE, Some(Bytes { data: Line::ones(), enables }), &mut out) {
        return None;
    }
    let mut to_home = true;
    while !out.sends.is_empty() {
        let sends = std::mem::take(&mut out.sends);
        for (_, msg) in sends {
            if to_home {
                home.take(&config, 0, msg, 0, &mut out);
            } else {
                device.take(&config, 0, msg, 0, &mut out);
            }
        }
        to_home = !to_home;
    }
    assert!(out.events.is_empty() && device.is_idle() && home.is_idle());
    Some(home.memory.read(LINE))
}

#[test]
fn coh_req_26_p() {
    for op in [Op::WrInv, Op::WOWrInv] {
        for enables in [0, 1, 0xf0, 1 << 63, 0x5555_5555_5555_5555] {
            let line = written(op, enables).expect("a legal write");
            for (i, byte) in line.0.iter().enumerate() {
                assert_eq!(*byte, if enables >> i & 1 == 1 { 0xff } else { 0 }, "{op:?} {enables:x} byte {i}");
            }
        }
    }
    assert_eq!(written(Op::ItoMWr, WHOLE_LINE), Some(Line::ones()));
}

#[test]
fn coh_req_26_n() {
    // Enables that the request does not have: refused at the device.
    assert_eq!(written(Op::ItoMWr, 1), None);
    assert_eq!(written(Op::WOWrInvF, 1), None);
    assert_eq!(written(Op::WOWrInv, WHOLE_LINE), None);
}

#[test]
fn coh_req_28_p() {
    // Lost S: our device gives the E up and reads.
    let mut bench = Bench::issued(At::S, Op::RdOwnNoData);
    bench.snoop(Snoop::Inv, 0);
    let out = bench.answer(Answer::GoE);
    assert!(matches!(out.sends[0].1, Msg::D2hReq { opcode: Op::RdOwn, .. }));
    // Or it writes the whole line.
    let mut bench = Bench::new(At::I);
    bench.config.without_bytes = WithoutBytes::Write;
    let store = Bytes { data: token(Age::New), enables: WHOLE_LINE };
    assert!(bench.device.issue(Op::RdOwnNoData, LINE, Some(store), &mut Out::default()));
    assert!(bench.answer(Answer::GoE).sends.is_empty() && bench.at() == At::M);
}

#[test]
fn coh_req_28_n() {
    // A part of a line is not written over nothing.
    let mut bench = Bench::new(At::I);
    bench.config.without_bytes = WithoutBytes::Write;
    let store = Bytes { data: token(Age::New), enables: 1 };
    assert!(bench.device.issue(Op::RdOwnNoData, LINE, Some(store), &mut Out::default()));
    bench.answer(Answer::GoE);
    assert_ne!(bench.at(), At::M);
    assert_eq!(killer(Mutant::OldBytesKept, false), "COH-INV-02");
}

#[test]
fn coh_ids_01_p() {
    // Answers come under the CQID of the request, snoop answers under the UQID of the snoop.
    let mut home = HomeBench::new(None, 0);
    let out = home.request(0, Op::RdShared);
    assert!(out.sends.iter().all(|(_, m)| matches!(m, Msg::H2dRsp { cqid: 7, .. } | Msg::H2dData { cqid: 7, .. })));
    let out = Bench::new(At::M).snoop(Snoop::Inv, 0);
    assert!(
        out.sends.iter().all(|(_, m)| matches!(m, Msg::D2hRsp { uqid: 0x30, .. } | Msg::D2hData { uqid: 0x30, .. }))
    );
}

#[test]
fn coh_ids_01_n() {
    let mut bench = Bench::issued(At::I, Op::CLFlush);
    assert_eq!(rules(&bench.give(rsp(Answer::GoI, 9), 0)), ["COH-IDS-01"]);
    assert_eq!(rules(&bench.answer(Answer::GoI)), [""; 0]);
    // Retired: once only.
    assert_eq!(rules(&bench.answer(Answer::GoI)), ["COH-IDS-01"]);
    assert_eq!(rules(&HomeBench::new(None, 0).reply(0, Rsp::RspIHitI)), ["COH-IDS-01"]);
}

#[test]
fn coh_ids_02_p() {
    let mut bench = Bench::issued(At::I, Op::ItoMWr);
    assert_eq!(data_sent(&bench.answer(Answer::GoPull)), [(0x21, false)]);
}

#[test]
fn coh_ids_02_n() {
    let mut home = HomeBench::new(None, 0);
    home.request(0, Op::ItoMWr);
    // Under the CQID instead.
    let data = token(Age::New);
    let wrong = Msg::D2hData { uqid: 7, bogus: false, poison: false, data, enables: WHOLE_LINE };
    assert_eq!(rules(&home.give(0, wrong)), ["COH-IDS-02"]);
    assert_eq!(home.memory(), Age::Stale);
}

#[test]
fn coh_ids_05_p() {
    for (code, answer) in [
        (1, Answer::GoS),
        (2, Answer::GoE),
        (3, Answer::GoI),
        (4, Answer::GoErr),
        (6, Answer::GoM),
        (0xff6, Answer::GoM),
    ] {
        assert_eq!(Answer::of(H2dRspOpcode::GO, code), Some(answer));
    }
    assert_eq!(Answer::of(H2dRspOpcode::ExtCmp, 0xabc), Some(Answer::ExtCmp));
}

#[test]
fn coh_ids_05_n() {
    for code in [0, 5, 7, 8, 15] {
        let mut bench = Bench::issued(At::I, Op::RdShared);
        let bad = Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: code, cqid: 0 };
        assert_eq!(rules(&bench.give(bad, 0)), ["COH-IDS-05"]);
    }
}

#[test]
fn coh_opc_01_p() {
    // Every named request is taken.
    for op in ALL_REQUESTS {
        assert_eq!(rules(&HomeBench::new(None, 0).request(0, *op)), [""; 0]);
    }
}

#[test]
fn coh_opc_01_n() {
    let mut home = HomeBench::new(None, 0);
    for code in [0, 15, 17, 31] {
        assert_eq!(rules(&home.request(0, Op(code))), ["COH-OPC-01"]);
    }
    let mut bench = Bench::new(At::M);
    let snoop = Msg::H2dReq { opcode: H2dReqOpcode(7), line: LINE, uqid: 0 };
    assert_eq!(rules(&bench.give(snoop, 0)), ["COH-OPC-01"]);
    assert_eq!(bench.at(), At::M);
}

#[test]
fn coh_typ_01_p() {
    // Both directions of CXL.cache are taken by their receiver; `coh_req_01_p` and the explorations show each class.
    explored();
}

#[test]
fn coh_typ_01_n() {
    let req = Msg::D2hReq { opcode: Op::RdOwn, line: LINE, cqid: 0 };
    assert_eq!(rules(&Bench::new(At::I).give(req, 0)), ["COH-TYP-01"]);
    let snoop = Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line: LINE, uqid: 0 };
    assert_eq!(rules(&HomeBench::new(None, 0).give(0, snoop)), ["COH-TYP-01"]);
}
