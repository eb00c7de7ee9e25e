//! Requests and states of a device (`coherence` §2.1, §2.2, §2.4).

use super::cache_bench::*;
use super::litmus::outcomes;
use super::names::{cache_names, device_breaks, takes_and};
use scalepool::coherence::event::CoherenceEvent;
use scalepool::coherence::monitor::{DeviceStep, IssueWatch};

/// One event of a request's life.
#[derive(Debug, Clone, Copy)]
enum Got {
    Rsp(HostAnswer),
    Data,
}

use Got::{Data as D, Rsp as R};

/// What the sheet says of a request, spelled again: start states, and every legal course with the state that follows.
struct Row {
    op: Op,
    starts: &'static [CacheLineState],
    courses: &'static [(&'static [Got], CacheLineState)],
    /// Lines of D2H Data that leave.
    data: usize,
}

const READ_S: (&[Got], CacheLineState) = (&[R(HostAnswer::GoS), D], CacheLineState::S);
const READ_E: (&[Got], CacheLineState) = (&[R(HostAnswer::GoE), D], CacheLineState::E);
const READ_M: (&[Got], CacheLineState) = (&[R(HostAnswer::GoM), D], CacheLineState::M);
const READ_I: (&[Got], CacheLineState) = (&[R(HostAnswer::GoI), D], CacheLineState::I);
const READ_ERR: (&[Got], CacheLineState) = (&[D, R(HostAnswer::GoErr)], CacheLineState::I);

/// The request of a row.
fn request_of(rule: &str) -> Op {
    match rule {
        "COH-REQ-01" => Op::RdCurr,
        "COH-REQ-02" => Op::RdShared,
        "COH-REQ-03" => Op::RdAny,
        "COH-REQ-04" => Op::RdOwn,
        "COH-REQ-05" => Op::RdOwnNoData,
        "COH-REQ-06" => Op::CLFlush,
        "COH-REQ-08" => Op::ItoMWr,
        "COH-REQ-09" => Op::WrCur,
        "COH-REQ-10" => Op::CleanEvict,
        "COH-REQ-11" => Op::CleanEvictNoData,
        "COH-REQ-12" => Op::DirtyEvict,
        "COH-REQ-13" => Op::WrInv,
        "COH-REQ-14" => Op::WOWrInv,
        "COH-REQ-15" => Op::WOWrInvF,
        other => panic!("{other} is no row of requests"),
    }
}

fn row(op: Op) -> Row {
    let row = |starts, courses, data| Row { op, starts, courses, data };
    match op {
        Op::RdCurr => row(&[CacheLineState::I], &[(&[D], CacheLineState::I)], 0),
        Op::RdShared => {
            row(&[CacheLineState::I], &[READ_S, (&[D, R(HostAnswer::GoS)], CacheLineState::S), READ_I, READ_ERR], 0)
        }
        Op::RdAny => row(
            &[CacheLineState::I],
            &[READ_S, READ_E, READ_M, READ_I, READ_ERR, (&[D, R(HostAnswer::GoE)], CacheLineState::E)],
            0,
        ),
        Op::RdOwn => row(
            &[CacheLineState::I],
            &[READ_E, READ_M, READ_I, READ_ERR, (&[D, R(HostAnswer::GoM)], CacheLineState::M)],
            0,
        ),
        Op::RdOwnNoData => row(
            &[CacheLineState::S],
            &[(&[R(HostAnswer::GoE)], CacheLineState::E), (&[R(HostAnswer::GoErr)], CacheLineState::I)],
            0,
        ),
        Op::CLFlush => row(
            &[CacheLineState::I],
            &[(&[R(HostAnswer::GoI)], CacheLineState::I), (&[R(HostAnswer::GoErr)], CacheLineState::I)],
            0,
        ),
        Op::ItoMWr | Op::WrCur => row(
            &[CacheLineState::I],
            &[(&[R(HostAnswer::GoPull)], CacheLineState::I), (&[R(HostAnswer::GoErrPull)], CacheLineState::I)],
            1,
        ),
        Op::CleanEvict => row(&[CacheLineState::E], &[(&[R(HostAnswer::GoPull)], CacheLineState::I)], 1),
        Op::CleanEvictNoData => {
            row(&[CacheLineState::E, CacheLineState::S], &[(&[R(HostAnswer::GoI)], CacheLineState::I)], 0)
        }
        Op::DirtyEvict => row(
            &[CacheLineState::M],
            &[(&[R(HostAnswer::GoPull)], CacheLineState::I), (&[R(HostAnswer::GoErrPull)], CacheLineState::I)],
            1,
        ),
        Op::WrInv => row(
            &[CacheLineState::I],
            &[
                (&[R(HostAnswer::Pull), R(HostAnswer::GoI)], CacheLineState::I),
                (&[R(HostAnswer::Pull), R(HostAnswer::GoErr)], CacheLineState::I),
            ],
            1,
        ),
        _ => row(
            &[CacheLineState::I],
            &[
                (&[R(HostAnswer::FastGoPull), R(HostAnswer::ExtCmp)], CacheLineState::I),
                (&[R(HostAnswer::ExtCmp), R(HostAnswer::FastGoPull)], CacheLineState::I),
                (&[R(HostAnswer::GoErrPull), R(HostAnswer::ExtCmp)], CacheLineState::I),
            ],
            1,
        ),
    }
}

/// Every legal course from every start state ends as the sheet says, without an event.
fn obeys(rule: &str) {
    let op = request_of(rule);
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
fn breaks(rule: &str) {
    let op = request_of(rule);
    // The other answer to CleanEvict, which pulls nothing.
    let also_allowed: &[HostAnswer] = if op == Op::CleanEvict { &[HostAnswer::GoDrop] } else { &[] };
    let row = row(op);
    let allowed = |a: &HostAnswer| {
        also_allowed.contains(a) || row.courses.iter().any(|(c, _)| c.iter().any(|g| matches!(g, R(x) if x == a)))
    };
    for &start in row.starts {
        for answer in HostAnswer::ALL.iter().filter(|a| !allowed(a)) {
            let mut bench = Bench::issued(start, op);
            let before = bench.device.clone();
            let out = bench.answer(*answer);
            let mut found = rules(&out);
            found.retain(|r| !["COH-REQ-19", "COH-REQ-25"].contains(r));
            assert_eq!((found, out.sends.len()), (vec![rule], 0), "{op:?} {answer:?}");
            assert!(bench.device == before);
        }
    }
    let may_start = |at: &CacheLineState| row.starts.contains(at) || op == Op::RdOwnNoData && *at == CacheLineState::I;
    for start in [CacheLineState::I, CacheLineState::S, CacheLineState::E, CacheLineState::M]
        .into_iter()
        .filter(|at| !may_start(at))
    {
        let mut bench = Bench::new(start);
        assert!(!bench.device.can_issue(op, LINE) && !bench.issue(op) && bench.at() == start, "{op:?} {start:?}");
        // A device that issues it all the same.
        let wrong = Msg::D2hReq { opcode: op, line: LINE, cqid: 0 };
        assert_eq!(device_breaks(&bench, DeviceStep::Issued(op, LINE), vec![wrong], &bench), [rule], "{start:?}");
    }
}

rule_tests! { obeys, breaks:
    coh_req_01_p coh_req_01_n "COH-REQ-01"
    coh_req_02_p coh_req_02_n "COH-REQ-02"
    coh_req_03_p coh_req_03_n "COH-REQ-03"
    coh_req_04_p coh_req_04_n "COH-REQ-04"
    coh_req_05_p coh_req_05_n "COH-REQ-05"
    coh_req_06_p coh_req_06_n "COH-REQ-06"
    coh_req_08_p coh_req_08_n "COH-REQ-08"
    coh_req_09_p coh_req_09_n "COH-REQ-09"
    coh_req_10_p coh_req_10_n "COH-REQ-10"
    coh_req_11_p coh_req_11_n "COH-REQ-11"
    coh_req_12_p coh_req_12_n "COH-REQ-12"
    coh_req_13_p coh_req_13_n "COH-REQ-13"
    coh_req_14_p coh_req_14_n "COH-REQ-14"
    coh_req_15_p coh_req_15_n "COH-REQ-15"
}

#[test]
fn coh_req_07_p() {
    let mut bench = Bench::issued(CacheLineState::I, Op::CacheFlushed);
    assert!(!bench.device.is_idle());
    assert_eq!(rules(&bench.answer(HostAnswer::GoI)), [""; 0]);
    assert!(bench.device.is_idle());
    // The home forgets the device, and only it.
    let mut home = HomeBench::new(None, 0b11);
    assert_eq!(answers_sent(&home.request(0, Op::CacheFlushed)), [(0, HostAnswer::GoI)]);
    assert_eq!(home.holders(), (None, 0b10));
}

#[test]
fn coh_req_07_n() {
    for answer in HostAnswer::ALL.iter().filter(|a| **a != HostAnswer::GoI) {
        assert_eq!(rules(&Bench::issued(CacheLineState::I, Op::CacheFlushed).answer(*answer)), ["COH-REQ-07"]);
    }
}

#[test]
fn coh_req_27_p() {
    // After the GO the next cacheable request may go.
    let mut bench = Bench::issued(CacheLineState::I, Op::CacheFlushed);
    bench.answer(HostAnswer::GoI);
    assert!(bench.issue(Op::RdShared));
}

#[test]
fn coh_req_27_n() {
    let flush = Msg::D2hReq { opcode: Op::CacheFlushed, line: LINE, cqid: 1 };
    let issued = |bench: &Bench, op, msg| device_breaks(bench, DeviceStep::Issued(op, LINE), vec![msg], bench);
    for start in [CacheLineState::S, CacheLineState::E, CacheLineState::M] {
        assert!(!Bench::new(start).issue(Op::CacheFlushed));
        assert_eq!(issued(&Bench::new(start), Op::CacheFlushed, flush), ["COH-REQ-27"]);
    }
    let mut asking = Bench::issued(CacheLineState::I, Op::RdShared);
    assert!(!asking.issue(Op::CacheFlushed));
    assert_eq!(issued(&asking, Op::CacheFlushed, flush), ["COH-REQ-27"]);
    let mut flushing = Bench::issued(CacheLineState::I, Op::CacheFlushed);
    assert!(!flushing.issue(Op::RdShared));
    let read = Msg::D2hReq { opcode: Op::RdShared, line: LINE, cqid: 2 };
    assert_eq!(issued(&flushing, Op::RdShared, read), ["COH-REQ-27"]);
    // On the link: beside an open access, and a snoop that is sent between its GO and the next cacheable request.
    let (mut watch, mut events) = (IssueWatch::default(), Vec::new());
    watch.up(&read, &mut events);
    watch.up(&flush, &mut events);
    assert_eq!(events.iter().map(|e| e.rule).collect::<Vec<_>>(), ["COH-REQ-27"]);
    let (mut watch, mut events) = (IssueWatch::default(), Vec::new());
    watch.up(&flush, &mut events);
    watch.down(&rsp(HostAnswer::GoI, 1), &mut events);
    let snoop = Msg::<LineToken>::H2dReq { opcode: H2dReqOpcode::SnpInv, line: LINE, uqid: 0 };
    watch.down(&snoop, &mut events);
    assert_eq!(events.iter().map(|e| e.rule).collect::<Vec<_>>(), ["COH-REQ-27"]);
    watch.up(&read, &mut events);
    watch.down(&snoop, &mut events);
    assert_eq!(events.len(), 1, "after the next request it may be snooped");
}

#[test]
fn coh_sta_01_p() {
    let config = CoherenceConfig::default();
    for (at, load, store) in [
        (CacheLineState::I, false, false),
        (CacheLineState::S, true, false),
        (CacheLineState::E, true, true),
        (CacheLineState::M, true, true),
    ] {
        let mut bench = Bench::new(at);
        assert_eq!(bench.device.load(&config, LINE).is_some(), load);
        let bytes = WriteBytes { data: token(Age::New), enables: 1 };
        assert_eq!(bench.device.store(LINE, &bytes, &mut AgentOutput::default()), store);
        assert_eq!(bench.at(), if store { CacheLineState::M } else { at });
    }
}

#[test]
fn coh_sta_01_n() {
    for at in [CacheLineState::I, CacheLineState::S] {
        let mut bench = Bench::new(at);
        let before = bench.device.clone();
        assert!(!bench.device.store(
            LINE,
            &WriteBytes { data: token(Age::New), enables: 1 },
            &mut AgentOutput::default()
        ));
        assert!(bench.device == before);
        // A device that stores all the same.
        assert_eq!(
            device_breaks(&bench, DeviceStep::Stored(LINE), vec![], &Bench::new(CacheLineState::M)),
            ["COH-STA-01"]
        );
    }
}

#[test]
fn coh_sta_02_p() {
    let config = CoherenceConfig { silent_drop_s: true, silent_drop_e: true, ..CoherenceConfig::default() };
    let mut bench = Bench::new(CacheLineState::M);
    assert!(!bench.device.drop_copy(&config, LINE) && bench.at() == CacheLineState::M);
}

#[test]
fn coh_sta_02_n() {
    cache_names(CoherenceMutant::DirtyDropped, "COH-STA-02");
    assert_eq!(killer(CoherenceMutant::DirtyDropped, false), "COH-INV-03");
}

#[test]
fn coh_sta_03_p() {
    for on in [false, true] {
        let config = CoherenceConfig { silent_drop_s: on, silent_drop_e: on, ..CoherenceConfig::default() };
        for at in [CacheLineState::S, CacheLineState::E] {
            let mut bench = Bench::new(at);
            assert_eq!(bench.device.drop_copy(&config, LINE), on);
            assert_eq!(bench.at(), if on { CacheLineState::I } else { at });
        }
    }
    // A home whose devices drop what they like stays clean.
    explored();
}

#[test]
fn coh_sta_03_n() {
    let config = CoherenceConfig::default();
    assert!(!config.silent_drop_e && !Bench::new(CacheLineState::E).device.drop_copy(&config, LINE));
    let dropped =
        |bench: &Bench| device_breaks(bench, DeviceStep::Dropped(LINE), vec![], &Bench::new(CacheLineState::I));
    for at in [CacheLineState::S, CacheLineState::E] {
        let mut bench = Bench::new(at);
        (bench.config.silent_drop_s, bench.config.silent_drop_e) = (false, false);
        assert_eq!(dropped(&bench), ["COH-STA-03"], "with the switch off");
        (bench.config.silent_drop_s, bench.config.silent_drop_e) = (true, true);
        assert_eq!(dropped(&bench), [""; 0], "a legal drop is not reported");
    }
}

#[test]
fn coh_sta_04_p() {
    for (at, op) in [
        (CacheLineState::M, Op::DirtyEvict),
        (CacheLineState::E, Op::CleanEvict),
        (CacheLineState::S, Op::CleanEvictNoData),
    ] {
        let mut bench = Bench::issued(at, op);
        assert!(bench.device.load(&CoherenceConfig::default(), LINE).is_none());
        assert!(!bench.device.store(
            LINE,
            &WriteBytes { data: token(Age::New), enables: 1 },
            &mut AgentOutput::default()
        ));
    }
}

#[test]
fn coh_sta_04_n() {
    cache_names(CoherenceMutant::UseAfterEvict, "COH-STA-04");
    assert_eq!(killer(CoherenceMutant::UseAfterEvict, false), "COH-INV-01");
    // A store into the copy that is leaving.
    let evicting = Bench::issued(CacheLineState::M, Op::DirtyEvict);
    assert_eq!(
        device_breaks(&evicting, DeviceStep::Stored(LINE), vec![], &Bench::new(CacheLineState::M)),
        ["COH-STA-04"]
    );
}

#[test]
fn coh_req_16_p() {
    // The snoop of the other upgrade lowers the state after the request has left.
    let ends = outcomes("SS", &["RdOwnNoData Store", "RdOwnNoData Store"], "");
    assert_eq!(ends, ["IM-".to_owned(), "MI-".to_owned()].into());
}

#[test]
fn coh_req_16_n() {
    // A request from a device that the directory does not know is served without complaint; a home that faults it, or
    // takes no notice, is reported.
    for op in [Op::RdOwnNoData, Op::CleanEvict, Op::CleanEvictNoData, Op::DirtyEvict] {
        let bench = HomeBench::new(None, 0);
        assert_eq!(rules(&bench.clone().request(0, op)), [""; 0], "{op:?}");
        let msg = Msg::D2hReq { opcode: op, line: LINE, cqid: 7 };
        let faults = |home: &mut HomeAgent<LineToken, Flat<LineToken>>, out: &mut AgentOutput<LineToken>| {
            *home = bench.home.clone();
            out.sends.clear();
        };
        assert_eq!(takes_and(&bench.config, &bench.home, (0, msg), faults), ["COH-REQ-16"], "{op:?}");
        let event = CoherenceEvent::new("COH-REQ-05", LINE, "home", "a request from I", "S");
        let complains =
            |_: &mut HomeAgent<LineToken, Flat<LineToken>>, out: &mut AgentOutput<LineToken>| out.events.push(event);
        assert_eq!(takes_and(&bench.config, &bench.home, (0, msg), complains), ["COH-REQ-16"], "{op:?}");
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
    for (op, answer) in
        [Op::RdShared, Op::RdAny, Op::RdOwn].map(|op| [(op, HostAnswer::GoErr), (op, HostAnswer::GoI)]).as_flattened()
    {
        let mut bench = Bench::issued(CacheLineState::I, *op);
        bench.data();
        // Cached all the same.
        let caches = |device: &mut DeviceCache<LineToken>, _: &mut AgentOutput<LineToken>| {
            device.preset(LINE, CacheLineState::S, token(Age::Ones))
        };
        assert_eq!(takes_and(&bench.config, &bench.device, (0, rsp(*answer, 0)), caches), ["COH-REQ-18"], "{op:?}");
        let out = bench.answer(*answer);
        // Used once, and gone.
        assert!(out.effects.iter().any(|e| matches!(e, Effect::Used { .. })));
        assert!(bench.at() == CacheLineState::I && bench.device.load(&CoherenceConfig::default(), LINE).is_none());
        // The same when the answer comes before its data.
        let mut bench = Bench::issued(CacheLineState::I, *op);
        bench.answer(*answer);
        let data = Msg::H2dData { cqid: 0, go_err: false, data: token(Age::Ones) };
        assert_eq!(takes_and(&bench.config, &bench.device, (0, data), caches), ["COH-REQ-18"], "{op:?}");
    }
}

#[test]
fn coh_req_19_p() {
    let mut home = HomeBench::new(None, 0);
    assert_eq!(answers_sent(&home.request(0, Op::RdShared)), [(0, HostAnswer::GoS)]);
    let mut home = HomeBench::new(Some(0), 0);
    assert_eq!(answers_sent(&home.request(0, Op::DirtyEvict)), [(0, HostAnswer::GoPull)]);
}

#[test]
fn coh_req_19_n() {
    assert_eq!(
        rules(&Bench::issued(CacheLineState::I, Op::RdShared).answer(HostAnswer::GoE)),
        ["COH-REQ-19", "COH-REQ-02"]
    );
    assert_eq!(
        rules(&Bench::issued(CacheLineState::M, Op::DirtyEvict).answer(HostAnswer::GoDrop)),
        ["COH-REQ-19", "COH-REQ-12"]
    );
}

#[test]
fn coh_req_20_p() {
    let mut bench = Bench::issued(CacheLineState::I, Op::RdShared);
    let used = Effect::Used { line: LINE, value: token(Age::Current), current: true };
    assert_eq!(bench.data().effects, [used]);
    // Once: it is no copy yet.
    assert!(bench.device.load(&CoherenceConfig::default(), LINE).is_none());
    bench.answer(HostAnswer::GoS);
    assert!(bench.device.load(&CoherenceConfig::default(), LINE).is_some());
}

#[test]
fn coh_req_20_n() {
    // Early use is sound only because the home lets nothing else at the line.
    assert_eq!(killer(CoherenceMutant::HomeDoesNotBlock, false), "COH-REQ-20");
    // Cached with the data, before the GO.
    let bench = Bench::issued(CacheLineState::I, Op::RdShared);
    let data = Msg::H2dData { cqid: 0, go_err: false, data: token(Age::Current) };
    let caches = |device: &mut DeviceCache<LineToken>, _: &mut AgentOutput<LineToken>| {
        device.preset(LINE, CacheLineState::S, token(Age::Current))
    };
    assert_eq!(takes_and(&bench.config, &bench.device, (0, data), caches), ["COH-REQ-20"]);
}

#[test]
fn coh_req_21_p() {
    // GO before, between two parts of (one message here), or after the data.
    for first in [true, false] {
        let mut bench = Bench::issued(CacheLineState::I, Op::RdOwn);
        if first {
            bench.answer(HostAnswer::GoE);
            assert!(!bench.device.is_idle());
            bench.data();
        } else {
            bench.data();
            assert!(!bench.device.is_idle());
            bench.answer(HostAnswer::GoE);
        }
        assert!(bench.at() == CacheLineState::E && bench.device.is_idle());
    }
}

#[test]
fn coh_req_21_n() {
    let mut bench = Bench::issued(CacheLineState::I, Op::RdOwn);
    bench.data();
    assert_eq!(rules(&bench.data()), ["COH-REQ-21"]);
    let mut bench = Bench::issued(CacheLineState::I, Op::RdOwn);
    bench.answer(HostAnswer::GoE);
    assert_eq!(rules(&bench.answer(HostAnswer::GoE)), ["COH-REQ-21"]);
}

#[test]
fn coh_req_22_p() {
    let mut home = HomeBench::new(None, 0);
    assert_eq!(answers_sent(&home.request(0, Op::WrInv)), [(0, HostAnswer::Pull)]);
    let out = home.data(0, false, Age::New);
    assert_eq!((answers_sent(&out), home.memory()), (vec![(0, HostAnswer::GoI)], Age::New));
}

#[test]
fn coh_req_22_n() {
    let mut bench = Bench::issued(CacheLineState::I, Op::WrInv);
    assert_eq!(rules(&bench.answer(HostAnswer::GoI)), ["COH-REQ-22"]);
    assert!(!bench.device.is_idle());
}

#[test]
fn coh_req_23_p() {
    obeys("COH-REQ-14");
    let mut home = HomeBench::new(None, 0);
    assert_eq!(answers_sent(&home.request(0, Op::WOWrInv)), [(0, HostAnswer::FastGoPull)]);
    assert_eq!(answers_sent(&home.data(0, false, Age::New)), [(0, HostAnswer::ExtCmp)]);
}

#[test]
fn coh_req_23_n() {
    for op in [Op::WOWrInv, Op::WOWrInvF] {
        for pull in [HostAnswer::FastGoPull, HostAnswer::GoErrPull] {
            // Without its ExtCmp the write stays open; a device that ends it there is reported.
            let mut bench = Bench::issued(CacheLineState::I, op);
            let ends =
                |device: &mut DeviceCache<LineToken>, _: &mut AgentOutput<LineToken>| *device = DeviceCache::new();
            assert_eq!(takes_and(&bench.config, &bench.device, (0, rsp(pull, 0)), ends), ["COH-REQ-23"]);
            bench.answer(pull);
            assert!(!bench.device.is_idle());
        }
        // A home that does not send it.
        let mut home = HomeBench::new(None, 0);
        home.request(0, op);
        let data = Msg::D2hData { uqid: uqid(0, 0), bogus: false, data: token(Age::New), enables: 1 };
        assert_eq!(takes_and(&home.config, &home.home, (0, data), |_, out| out.sends.clear()), ["COH-REQ-23"]);
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
    scalepool::proof::litmus::parse(&file).expect("a case").config
}

#[test]
fn coh_req_24_p() {
    for (op, answer, end) in [
        (Op::ItoMWr, HostAnswer::GoErrPull, vec![]),
        (Op::WOWrInv, HostAnswer::GoErrPull, vec![(0, HostAnswer::ExtCmp)]),
        (Op::WrInv, HostAnswer::Pull, vec![(0, HostAnswer::GoErr)]),
    ] {
        let mut home = refusing();
        assert_eq!(answers_sent(&home.request(0, op)), [(0, answer)]);
        assert_eq!(answers_sent(&home.data(0, false, Age::New)), end);
        assert!(home.home.is_idle());
    }
}

#[test]
fn coh_req_24_n() {
    for op in [Op::ItoMWr, Op::WOWrInv, Op::DirtyEvict] {
        let mut home = refusing();
        home.request(0, op);
        let data = Msg::D2hData { uqid: uqid(0, 0), bogus: false, data: token(Age::New), enables: 1 };
        let writes = |home: &mut HomeAgent<LineToken, Flat<LineToken>>, _: &mut AgentOutput<LineToken>| {
            home.memory.write(LINE, &token(Age::New), WHOLE_LINE);
        };
        assert_eq!(takes_and(&home.config, &home.home, (0, data), writes), ["COH-REQ-24"], "{op:?}");
        let out = home.data(0, false, Age::New);
        assert_eq!((home.memory(), out.effects.contains(&Effect::Written(LINE))), (Age::Stale, false));
    }
    // A device that does not send the data: the pull would stay open for ever.
    let bench = Bench::issued(CacheLineState::I, Op::ItoMWr);
    let pull = rsp(HostAnswer::GoErrPull, 0);
    assert_eq!(takes_and(&bench.config, &bench.device, (0, pull), |_, out| out.sends.clear()), ["COH-REQ-24"]);
}

#[test]
fn coh_req_25_p() {
    for op in [Op::WrInv, Op::WOWrInv, Op::WOWrInvF, Op::ItoMWr, Op::WrCur] {
        let sent = answers_sent(&HomeBench::new(None, 0).request(0, op));
        assert!(sent.len() == 1 && sent[0].1 != HostAnswer::GoDrop);
    }
}

#[test]
fn coh_req_25_n() {
    for (op, rule) in [
        (Op::WrInv, "COH-REQ-13"),
        (Op::WOWrInv, "COH-REQ-14"),
        (Op::WOWrInvF, "COH-REQ-15"),
        (Op::ItoMWr, "COH-REQ-08"),
        (Op::WrCur, "COH-REQ-09"),
    ] {
        assert_eq!(rules(&Bench::issued(CacheLineState::I, op).answer(HostAnswer::GoDrop)), ["COH-REQ-25", rule]);
    }
}

/// Memory after a write of 0xff bytes with these enables over zeros, through a real device and home.
fn written(op: Op, enables: u64) -> Option<CacheLine> {
    let config = CoherenceConfig::default();
    let (mut device, mut home) =
        (DeviceCache::<CacheLine>::new(), HomeAgent::<CacheLine, Flat<CacheLine>>::new(Flat::default()));
    let mut out = AgentOutput::default();
    if !device.issue(op, LINE, Some(WriteBytes { data: CacheLine::ones(), enables }), &mut out) {
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
            for (i, byte) in line.bytes.iter().enumerate() {
                assert_eq!(*byte, if enables >> i & 1 == 1 { 0xff } else { 0 }, "{op:?} {enables:x} byte {i}");
            }
        }
    }
    assert_eq!(written(Op::ItoMWr, WHOLE_LINE), Some(CacheLine::ones()));
}

#[test]
fn coh_req_26_n() {
    // Enables that the request does not have: refused at the device.
    assert_eq!(written(Op::ItoMWr, 1), None);
    assert_eq!(written(Op::WOWrInvF, 1), None);
    assert_eq!(written(Op::WOWrInv, WHOLE_LINE), None);
    // A home that writes a byte too many, and one too few.
    for enables in [0b11, 0] {
        let config = CoherenceConfig::default();
        let mut home = HomeAgent::<CacheLine, Flat<CacheLine>>::new(Flat::default());
        home.take(&config, 0, Msg::D2hReq { opcode: Op::WrInv, line: LINE, cqid: 7 }, 0, &mut AgentOutput::default());
        let data = Msg::D2hData { uqid: uqid(0, 0), bogus: false, data: CacheLine::of([9; 64]), enables: 1 };
        let before = home.memory.read(LINE);
        let writes = |home: &mut HomeAgent<CacheLine, Flat<CacheLine>>, _: &mut AgentOutput<CacheLine>| {
            home.memory.write(LINE, &before, WHOLE_LINE);
            home.memory.write(LINE, &CacheLine::of([9; 64]), enables);
        };
        assert_eq!(takes_and(&config, &home, (0, data), writes), ["COH-REQ-26"], "{enables:#b}");
    }
}

#[test]
fn coh_req_28_p() {
    // Lost S: our device gives the E up and reads.
    let mut bench = Bench::issued(CacheLineState::S, Op::RdOwnNoData);
    bench.snoop(Snoop::Inv, 0);
    let out = bench.answer(HostAnswer::GoE);
    assert!(matches!(out.sends[0].1, Msg::D2hReq { opcode: Op::RdOwn, .. }));
    // Or it writes the whole line.
    let mut bench = Bench::new(CacheLineState::I);
    bench.config.without_bytes = WithoutBytes::Write;
    let store = WriteBytes { data: token(Age::New), enables: WHOLE_LINE };
    assert!(bench.device.issue(Op::RdOwnNoData, LINE, Some(store), &mut AgentOutput::default()));
    assert!(bench.answer(HostAnswer::GoE).sends.is_empty() && bench.at() == CacheLineState::M);
}

#[test]
fn coh_req_28_n() {
    // A part of a line is not written over nothing.
    let mut bench = Bench::new(CacheLineState::I);
    bench.config.without_bytes = WithoutBytes::Write;
    let store = WriteBytes { data: token(Age::New), enables: 1 };
    assert!(bench.device.issue(Op::RdOwnNoData, LINE, Some(store), &mut AgentOutput::default()));
    bench.answer(HostAnswer::GoE);
    assert_ne!(bench.at(), CacheLineState::M);
    cache_names(CoherenceMutant::OldBytesKept, "COH-REQ-28");
    assert_eq!(killer(CoherenceMutant::OldBytesKept, false), "COH-INV-02");
}

#[test]
fn coh_ids_01_p() {
    // Answers come under the CQID of the request, snoop answers under the UQID of the snoop.
    let mut home = HomeBench::new(None, 0);
    let out = home.request(0, Op::RdShared);
    assert!(out.sends.iter().all(|(_, m)| matches!(m, Msg::H2dRsp { cqid: 7, .. } | Msg::H2dData { cqid: 7, .. })));
    let out = Bench::new(CacheLineState::M).snoop(Snoop::Inv, 0);
    assert!(
        out.sends.iter().all(|(_, m)| matches!(m, Msg::D2hRsp { uqid: 0x30, .. } | Msg::D2hData { uqid: 0x30, .. }))
    );
}

#[test]
fn coh_ids_01_n() {
    let mut bench = Bench::issued(CacheLineState::I, Op::CLFlush);
    assert_eq!(rules(&bench.give(rsp(HostAnswer::GoI, 9), 0)), ["COH-IDS-01"]);
    assert_eq!(rules(&bench.answer(HostAnswer::GoI)), [""; 0]);
    // Retired: once only.
    assert_eq!(rules(&bench.answer(HostAnswer::GoI)), ["COH-IDS-01"]);
    assert_eq!(rules(&HomeBench::new(None, 0).reply(0, Rsp::RspIHitI)), ["COH-IDS-01"]);
}

#[test]
fn coh_ids_02_p() {
    let mut bench = Bench::issued(CacheLineState::I, Op::ItoMWr);
    assert_eq!(data_sent(&bench.answer(HostAnswer::GoPull)), [(0x21, false)]);
}

#[test]
fn coh_ids_02_n() {
    let mut home = HomeBench::new(None, 0);
    home.request(0, Op::ItoMWr);
    // Under the CQID instead.
    let data = token(Age::New);
    let wrong = Msg::D2hData { uqid: 7, bogus: false, data, enables: WHOLE_LINE };
    assert_eq!(rules(&home.give(0, wrong)), ["COH-IDS-02"]);
    assert_eq!(home.memory(), Age::Stale);
}

#[test]
fn coh_ids_05_p() {
    for (code, answer) in [
        (1, HostAnswer::GoS),
        (2, HostAnswer::GoE),
        (3, HostAnswer::GoI),
        (4, HostAnswer::GoErr),
        (6, HostAnswer::GoM),
        (0xff6, HostAnswer::GoM),
    ] {
        assert_eq!(HostAnswer::of(H2dRspOpcode::GO, code), Some(answer));
    }
    assert_eq!(HostAnswer::of(H2dRspOpcode::ExtCmp, 0xabc), Some(HostAnswer::ExtCmp));
}

#[test]
fn coh_ids_05_n() {
    for code in [0, 5, 7, 8, 15] {
        let mut bench = Bench::issued(CacheLineState::I, Op::RdShared);
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
    let mut bench = Bench::new(CacheLineState::M);
    let snoop = Msg::H2dReq { opcode: H2dReqOpcode(7), line: LINE, uqid: 0 };
    assert_eq!(rules(&bench.give(snoop, 0)), ["COH-OPC-01"]);
    assert_eq!(bench.at(), CacheLineState::M);
}

#[test]
fn coh_typ_01_p() {
    // Both directions of CXL.cache are taken by their receiver; `coh_req_01_p` and the explorations show each class.
    explored();
}

#[test]
fn coh_typ_01_n() {
    let req = Msg::D2hReq { opcode: Op::RdOwn, line: LINE, cqid: 0 };
    assert_eq!(rules(&Bench::new(CacheLineState::I).give(req, 0)), ["COH-TYP-01"]);
    let snoop = Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line: LINE, uqid: 0 };
    assert_eq!(rules(&HomeBench::new(None, 0).give(0, snoop)), ["COH-TYP-01"]);
}
