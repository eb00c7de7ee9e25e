//! Order, stale evicts, the home, and the invariants (`coherence` §2.5 to §2.9, §4).

use super::cache_bench::*;
use super::cache_issue::explored_with;
use super::cache_snoops::untracked;
use super::litmus::outcomes;
use super::names::{cache_names, device_breaks, names, takes_and};
use scalepool::coherence::event::CoherenceEvent;
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::message::Dir;
use scalepool::coherence::monitor::{CopyView, DeviceStep, View, check_copies, name_invariants};
use scalepool::coherence::rules::{BiasRules, CacheRules, MemRules, PoisonRules, RuleSet, SheetRules};
use scalepool::proof::net::Net;
use scalepool::proof::systems::bias::{Setup as BiasSetup, system as bias_system};
use scalepool::proof::systems::mem::{Setup as MemSetup, system as mem_system};

fn one(letters: &str) -> std::collections::BTreeSet<String> {
    letters.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn coh_bog_01_p() {
    for snoop in [Snoop::Data, Snoop::Inv] {
        let mut bench = Bench::issued(CacheLineState::M, Op::DirtyEvict);
        bench.snoop(snoop, 0);
        assert_eq!(data_sent(&bench.answer(HostAnswer::GoPull)), [(0x21, true)]);
    }
}

#[test]
fn coh_bog_01_n() {
    cache_names(CoherenceMutant::BogusNotSet, "COH-BOG-01");
    assert_eq!(killer(CoherenceMutant::BogusNotSet, false), "COH-EVT-03");
}

#[test]
fn coh_bog_02_p() {
    for (op, pull) in [
        (Op::WrInv, HostAnswer::Pull),
        (Op::WOWrInv, HostAnswer::FastGoPull),
        (Op::WOWrInvF, HostAnswer::FastGoPull),
        (Op::ItoMWr, HostAnswer::GoPull),
        (Op::WrCur, HostAnswer::GoPull),
    ] {
        let mut bench = Bench::issued(CacheLineState::I, op);
        bench.snoop(Snoop::Inv, 0);
        assert_eq!(data_sent(&bench.answer(pull)), [(0x21, false)]);
    }
}

#[test]
fn coh_bog_02_n() {
    for op in [Op::WrInv, Op::WOWrInv, Op::WOWrInvF, Op::ItoMWr, Op::WrCur] {
        let mut home = HomeBench::new(None, 0);
        home.request(0, op);
        assert_eq!(rules(&home.data(0, true, Age::New)), ["COH-BOG-02"], "{op:?}");
        assert_eq!(home.memory(), Age::Stale);
    }
    // On the data of a snoop.
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdShared);
    home.reply(1, Rsp::RspSFwdM);
    assert_eq!(rules(&home.data(1, true, Age::Current)), ["COH-BOG-02"]);
}

#[test]
fn coh_bog_03_p() {
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::DirtyEvict);
    assert_eq!(rules(&home.data(0, true, Age::Current)), [""; 0]);
    assert_eq!((home.memory(), home.holders()), (Age::Stale, (Some(1), 0)));
}

#[test]
fn coh_bog_03_n() {
    cache_names(CoherenceMutant::BogusWritten, "COH-BOG-03");
    assert_eq!(killer(CoherenceMutant::BogusWritten, false), "COH-INV-03");
}

/// A link with two messages sent in this order: may the second one be delivered first?
fn passes(config: &CoherenceConfig, dir: Dir, first: Msg<LineToken>, second: Msg<LineToken>) -> bool {
    let mut net = Net::new(1);
    net.send(0, first);
    net.send(0, second);
    let at = net.of(0, dir).iter().position(|m| *m == second).expect("under way");
    net.is_free(config, 0, dir, at)
}

fn snoop() -> Msg<LineToken> {
    Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line: LINE, uqid: 0 }
}

#[test]
fn coh_ord_01_p() {
    let config = CoherenceConfig::default();
    for answer in HostAnswer::ALL {
        let bears_go = !matches!(answer, HostAnswer::Pull | HostAnswer::ExtCmp);
        assert_eq!(passes(&config, Dir::Down, rsp(*answer, 0), snoop()), !bears_go, "{answer:?}");
        // The other way round nothing waits.
        assert!(passes(&config, Dir::Down, snoop(), rsp(*answer, 0)));
    }
}

#[test]
fn coh_ord_01_n() {
    cache_names(CoherenceMutant::SnoopPassesGo, "COH-ORD-01");
    assert_eq!(killer(CoherenceMutant::SnoopPassesGo, false), "COH-ORD-06", "the harm");
}

#[test]
fn coh_ord_02_p() {
    // An evict of the device that is being snooped waits.
    let mut home = HomeBench::new(Some(0), 0);
    home.request(1, Op::RdShared);
    let evict = Msg::D2hReq { opcode: Op::DirtyEvict, line: LINE, cqid: 3 };
    assert_eq!(home.home.accepts(&home.config, 0, &evict), Accept::Wait);
    explored();
}

#[test]
fn coh_ord_02_n() {
    let found = order_rules(CoherenceMutant::HomeDoesNotBlock, 2, 6);
    assert!(found.contains(&"COH-ORD-02"), "{found:?}");
}

/// Every order rule that is broken within so many moves when one rule is off.
fn order_rules(mutant: CoherenceMutant, devices: u16, moves_made: usize) -> Vec<&'static str> {
    use scalepool::proof::explore::{ExploredSystem, fingerprint::fingerprint};
    let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
    let mut found = std::collections::BTreeSet::new();
    let start = cache_system(Setup::free(config, devices, &[Op::RdShared, Op::RdOwn, Op::DirtyEvict]));
    let start = start.start_at(&[CacheLineState::M]);
    let (mut level, mut moves) = (vec![start], Vec::new());
    for _ in 0..moves_made {
        let mut seen = std::collections::HashSet::new();
        let mut next = Vec::new();
        for state in level {
            moves.clear();
            state.moves(&mut moves);
            for &mv in &moves {
                let (mut after, mut events) = (state.clone(), Vec::new());
                after.apply(mv, &mut events);
                after.check(&mut events);
                found.extend(events.iter().map(|e| e.rule));
                let after = after.canonical(&mut []);
                if seen.insert(fingerprint(&after)) {
                    next.push(after);
                }
            }
        }
        level = next;
    }
    found.into_iter().filter(|r| r.starts_with("COH-ORD")).collect()
}

#[test]
fn coh_ord_03_p() {
    // While a pull is open the home takes no other request of the line, so it sends no snoop.
    let mut home = HomeBench::new(Some(0), 0);
    home.request(0, Op::DirtyEvict);
    let read = Msg::D2hReq { opcode: Op::RdOwn, line: LINE, cqid: 3 };
    assert_eq!(home.home.accepts(&home.config, 1, &read), Accept::Wait);
    home.data(0, false, Age::Current);
    assert_eq!(home.home.accepts(&home.config, 1, &read), Accept::Take);
}

#[test]
fn coh_ord_03_n() {
    assert_eq!(killer(CoherenceMutant::SnoopDuringPull, false), "COH-REQ-20");
    // The evict of a device that is being snooped, pulled at once.
    let found = order_rules(CoherenceMutant::HomeDoesNotBlock, 2, 6);
    assert!(found.contains(&"COH-ORD-03"), "{found:?}");
}

#[test]
fn coh_ord_04_p() {
    let mut home = HomeBench::new(Some(1), 0);
    assert_eq!(snoops_sent(&home.request(0, Op::RdOwn)).len(), 1);
    explored();
}

#[test]
fn coh_ord_04_n() {
    // Two readers, each with its own snoop of the owner.
    let found = order_rules(CoherenceMutant::HomeDoesNotBlock, 3, 5);
    assert!(found.contains(&"COH-ORD-04"), "{found:?}");
}

#[test]
fn coh_ord_05_p() {
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdShared);
    let other = |line| Msg::<LineToken>::D2hReq { opcode: Op::RdShared, line, cqid: 3 };
    assert_eq!(home.home.accepts(&home.config, 2, &other(LINE)), Accept::Wait);
    // Another line goes on.
    assert_eq!(home.home.accepts(&home.config, 2, &other(LineAddr(1))), Accept::Take);
}

#[test]
fn coh_ord_05_n() {
    let found = order_rules(CoherenceMutant::HomeDoesNotBlock, 2, 6);
    assert!(found.contains(&"COH-ORD-05"), "{found:?}");
}

#[test]
fn coh_ord_06_p() {
    // Both leave in one step, so no snoop falls between them; a snoop after the GO is legal before the data.
    let out = HomeBench::new(None, 0).request(0, Op::RdOwn);
    assert_eq!(out.sends.len(), 2);
    let mut bench = Bench::issued(CacheLineState::I, Op::RdOwn);
    bench.answer(HostAnswer::GoE);
    assert_eq!(rules(&bench.snoop(Snoop::Inv, 0)), [""; 0]);
}

/// The sheet, but the home sends the GO of a read in a step of its own behind the data.
struct GoApart;

impl PoisonRules for GoApart {}
impl MemRules for GoApart {}
impl BiasRules for GoApart {}
impl CacheRules for GoApart {
    fn go_leaves_with_data(&self) -> bool {
        false
    }
}
impl SheetRules for GoApart {
    fn deviation(&self) -> Option<&'static str> {
        Some("GoApart")
    }
}

/// A home that keeps the line until its GO has left breaks nothing, in any order; it is the release of the line that
/// `SnoopBetweenDataAndGo` gets wrong.
#[test]
fn a_go_may_leave_behind_the_data_of_its_read() {
    let rules = RuleSet::new(&GoApart);
    let report = explored_with(CoherenceConfig { rules, ..CoherenceConfig::default() }, &[Op::RdOwn, Op::RdShared]);
    assert!(report.complete && report.violation.is_none(), "{:?}", report.violation);
    let together = explored_with(CoherenceConfig::default(), &[Op::RdOwn, Op::RdShared]);
    assert!(report.states > together.states, "{} and {} states", report.states, together.states);
}

#[test]
fn coh_ord_06_n() {
    let mut bench = Bench::issued(CacheLineState::I, Op::RdOwn);
    bench.data();
    assert_eq!(rules(&bench.snoop(Snoop::Inv, 0)), ["COH-ORD-06"]);
    assert_eq!(killer(CoherenceMutant::SnoopBetweenDataAndGo, false), "COH-ORD-06");
}

#[test]
fn coh_ord_07_p() {
    // Whatever is open, a snoop is taken.
    for (start, op) in [
        (CacheLineState::I, Op::RdOwn),
        (CacheLineState::S, Op::RdOwnNoData),
        (CacheLineState::M, Op::DirtyEvict),
        (CacheLineState::I, Op::WrInv),
    ] {
        let bench = Bench::issued(start, op);
        assert_eq!(bench.device.accepts(&bench.config, 0, &snoop()), Accept::Take);
    }
}

#[test]
fn coh_ord_07_n() {
    assert_eq!(killer(CoherenceMutant::SnoopWaitsForRequest, false), "COH-INV-09");
    assert_eq!(killer(CoherenceMutant::SnoopWaitsForRequest, true), "COH-ORD-07");
}

#[test]
fn coh_ord_08_p() {
    let mut home = HomeBench::new(None, 0b110);
    assert!(answers_sent(&home.request(0, Op::RdOwn)).is_empty());
    assert!(answers_sent(&home.reply(1, Rsp::RspIHitSE)).is_empty());
    assert_eq!(answers_sent(&home.reply(2, Rsp::RspIHitSE)), [(0, HostAnswer::GoE)]);
}

#[test]
fn coh_ord_08_n() {
    assert_eq!(killer(CoherenceMutant::GoBeforeAnswers, false), "COH-INV-04");
    assert_eq!(killer(CoherenceMutant::GoBeforeAnswers, true), "COH-ORD-08");
}

#[test]
fn coh_ord_11_p() {
    let mut bench = Bench::issued(CacheLineState::I, Op::RdCurr);
    // Another line is free.
    assert!(bench.device.issue(Op::RdCurr, LineAddr(1), None, &mut AgentOutput::default()));
}

#[test]
fn coh_ord_11_n() {
    for op in ALL_REQUESTS {
        let mut bench = Bench::issued(CacheLineState::I, Op::RdCurr);
        assert!(!bench.device.can_issue(*op, LINE) && !bench.issue(*op));
        // A device that issues it all the same.
        let second = Msg::D2hReq { opcode: *op, line: LINE, cqid: 1 };
        assert_eq!(device_breaks(&bench, DeviceStep::Issued(*op, LINE), vec![second], &bench), ["COH-ORD-11"]);
    }
}

#[test]
fn coh_ord_12_p() {
    let mut home = HomeBench::new(Some(0), 0);
    let out = home.request(0, Op::DirtyEvict);
    assert_eq!((answers_sent(&out), home.holders()), (vec![(0, HostAnswer::GoPull)], (None, 0)));
}

#[test]
fn coh_ord_12_n() {
    cache_names(CoherenceMutant::EvictUntracksAll, "COH-ORD-12");
    assert_eq!(killer(CoherenceMutant::EvictUntracksAll, false), "COH-INV-04");
}

/// The data of the evict that port 0 has asked for first.
fn evicted(bogus: bool) -> Msg<LineToken> {
    let data = token(Age::Current);
    Msg::D2hData { uqid: uqid(0, 0), bogus, data, enables: WHOLE_LINE }
}

#[test]
fn coh_evt_01_p() {
    let mut home = HomeBench::new(Some(0), 0);
    home.request(0, Op::DirtyEvict);
    home.data(0, false, Age::Current);
    assert_eq!((home.memory(), home.holders(), home.home.is_idle()), (Age::Current, (None, 0), true));
}

#[test]
fn coh_evt_01_n() {
    let mut home = HomeBench::new(Some(0), 0);
    home.request(0, Op::DirtyEvict);
    let forgets = |home: &mut HomeAgent<LineToken, Flat<LineToken>>, _: &mut AgentOutput<LineToken>| {
        home.memory.write(LINE, &token(Age::Stale), WHOLE_LINE);
    };
    assert_eq!(takes_and(&home.config, &home.home, (0, evicted(false)), forgets), ["COH-EVT-01"]);
    assert_eq!(rules(&home.data(0, true, Age::Current)), ["COH-BOG-02"], "a holder's data is not bogus");
    assert_eq!(home.memory(), Age::Stale);
}

#[test]
fn coh_evt_02_p() {
    let mut home = HomeBench::new(Some(1), 0);
    assert_eq!(answers_sent(&home.request(0, Op::DirtyEvict)), [(0, HostAnswer::GoPull)]);
    home.data(0, true, Age::Current);
    assert_eq!((home.memory(), home.holders()), (Age::Stale, (Some(1), 0)));
    assert_eq!(outcomes("MI", &["DirtyEvict", "RdOwn Store"], ""), one("IM-"));
}

#[test]
fn coh_evt_02_n() {
    for mutant in [CoherenceMutant::StaleEvictClearsOwner, CoherenceMutant::BogusWritten] {
        cache_names(mutant, "COH-EVT-02");
    }
    assert_eq!(killer(CoherenceMutant::StaleEvictClearsOwner, false), "COH-INV-04");
    assert_eq!(killer(CoherenceMutant::BogusWritten, false), "COH-INV-03");
}

#[test]
fn coh_evt_03_p() {
    let mut home = HomeBench::new(None, 0b10);
    home.request(0, Op::DirtyEvict);
    assert_eq!(rules(&home.data(0, true, Age::Current)), [""; 0]);
}

#[test]
fn coh_evt_03_n() {
    let mut home = HomeBench::new(None, 0b10);
    home.request(0, Op::DirtyEvict);
    assert_eq!(rules(&home.data(0, false, Age::Current)), ["COH-EVT-03", "COH-BOG-01"]);
    assert_eq!((home.memory(), home.holders()), (Age::Stale, (None, 0b10)));
}

#[test]
fn coh_evt_04_p() {
    let mut home = HomeBench::new(None, 0b11);
    assert_eq!(answers_sent(&home.request(0, Op::CleanEvict)), [(0, HostAnswer::GoDrop)]);
    assert_eq!(home.holders(), (None, 0b10));
}

#[test]
fn coh_evt_04_n() {
    // Dropped: there is no pull whose data would count.
    let mut home = HomeBench::new(None, 0b11);
    home.config.clean_evict = CleanEvictAnswer::Pull;
    home.request(0, Op::CleanEvict);
    assert_eq!(rules(&home.data(0, false, Age::New)), ["COH-IDS-02"]);
    assert_eq!(home.memory(), Age::Stale);
    // The data of a pulled clean evict is not written.
    let mut home = HomeBench::new(Some(0), 0);
    home.config.clean_evict = CleanEvictAnswer::Pull;
    home.request(0, Op::CleanEvict);
    let writes = |home: &mut HomeAgent<LineToken, Flat<LineToken>>, _: &mut AgentOutput<LineToken>| {
        home.memory.write(LINE, &token(Age::New), WHOLE_LINE);
    };
    assert_eq!(takes_and(&home.config, &home.home, (0, evicted(false)), writes), ["COH-EVT-04"]);
    // Nobody else's state changes.
    cache_names(CoherenceMutant::StaleEvictClearsOwner, "COH-EVT-04");
}

#[test]
fn coh_evt_05_p() {
    let mut home = HomeBench::new(Some(1), 0);
    assert_eq!(answers_sent(&home.request(0, Op::CleanEvictNoData)), [(0, HostAnswer::GoI)]);
    assert_eq!((home.holders(), home.home.is_idle()), ((Some(1), 0), true));
}

#[test]
fn coh_evt_05_n() {
    // The mutant that clears the owner all the same loses the M copy's tracking.
    cache_names(CoherenceMutant::StaleEvictClearsOwner, "COH-EVT-05");
    let mut home = HomeBench::new(Some(1), 0);
    home.config.rules = CoherenceMutant::StaleEvictClearsOwner.rules();
    home.request(0, Op::CleanEvictNoData);
    assert_eq!(home.holders(), (None, 0));
    assert_eq!(untracked(CacheLineState::M), ["COH-INV-04"]);
}

#[test]
fn coh_hom_01_p() {
    // With a queue the home takes the request and serves it when the line is free.
    let mut home = HomeBench::new(Some(1), 0);
    home.config.home_queue_requests = 1;
    home.request(0, Op::RdShared);
    let second = Msg::D2hReq { opcode: Op::RdShared, line: LINE, cqid: 3 };
    assert_eq!(home.home.accepts(&home.config, 2, &second), Accept::Take);
    assert!(home.give(2, second).sends.is_empty());
    // It is full.
    assert_eq!(home.home.accepts(&home.config, 3, &second), Accept::Wait);
    let out = home.reply(1, Rsp::RspSHitSE);
    assert_eq!(answers_sent(&out), [(0, HostAnswer::GoS), (2, HostAnswer::GoS)]);
    assert!(home.home.is_idle());
}

/// All transactions are in use: a request waits in its channel, one that is handed over all the same waits at the home, and
/// both are served when a transaction ends.
#[test]
fn a_request_without_a_transaction_waits() {
    for most in [1, 255] {
        let mut home = HomeBench::new(None, 0);
        home.config.home_transactions = most;
        let line = |n: usize| LineAddr(n as u64);
        let asks = |n: usize| Msg::D2hReq { opcode: Op::RdShared, line: line(n), cqid: n as u16 };
        for n in 0..most + 2 {
            home.home.set_holders(line(n), Holders { owner: Some(1), sharers: IdSet::of_bits(0) });
        }
        for n in 0..most {
            assert_eq!(home.home.accepts(&home.config, 0, &asks(n)), Accept::Take);
            assert_eq!(snoops_sent(&home.give(0, asks(n))), [(1, Snoop::Data)]);
        }
        assert_eq!(home.home.accepts(&home.config, 0, &asks(most)), Accept::Wait);
        let early = home.give(0, asks(most));
        assert!(early.events.is_empty() && early.sends.is_empty());
        assert!(
            !home.home.core_read(&home.config, line(most + 1), &mut AgentOutput::default()),
            "the host's core waits too"
        );
        let mut answered = 0;
        for slot in (0..most as u8).chain([0]) {
            let hit = Msg::D2hRsp { opcode: Rsp::RspSHitSE, uqid: uqid(slot, 1) };
            let out = home.give(1, hit);
            assert!(out.events.is_empty(), "{:?}", rules(&out));
            answered += answers_sent(&out).len();
        }
        assert_eq!(answered, most + 1);
        assert!(home.home.is_idle());
    }
}

/// Two devices, two lines, one transaction: nothing is lost and every state drains.
#[test]
fn a_home_with_one_transaction() {
    let config = CoherenceConfig { home_transactions: 1, ..CoherenceConfig::default() };
    let setup = Setup::free(config, 2, &[Op::RdOwn, Op::RdCurr]);
    let start = cache_system(Setup { lines: 2, waiting_stores: false, ..setup });
    let report = search(&start, Limits::default());
    assert!(report.complete && report.violation.is_none(), "{:?}", report.violation.map(|v| v.event));
}

#[test]
fn coh_hom_01_n() {
    cache_names(CoherenceMutant::HomeDoesNotBlock, "COH-HOM-01");
}

#[test]
fn coh_hom_02_p() {
    for (op, owner, sharers, expected) in [
        (Op::RdShared, Some(1), 0, vec![1]),
        (Op::RdShared, None, 0b110, vec![]),
        (Op::RdOwn, None, 0b110, vec![1, 2]),
        (Op::RdOwnNoData, None, 0b111, vec![1, 2]),
        (Op::CLFlush, None, 0b110, vec![1, 2]),
        (Op::RdCurr, Some(2), 0, vec![2]),
        (Op::RdCurr, None, 0b110, vec![]),
        (Op::WrInv, Some(3), 0, vec![3]),
    ] {
        let sent = snoops_sent(&HomeBench::new(owner, sharers).request(0, op));
        assert_eq!(sent.iter().map(|(p, _)| *p).collect::<Vec<_>>(), expected, "{op:?}");
    }
}

#[test]
fn coh_hom_02_n() {
    cache_names(CoherenceMutant::SharersNotSnooped, "COH-HOM-02");
    assert_eq!(killer(CoherenceMutant::SharersNotSnooped, false), "COH-INV-04");
    // Tracked itself, never snooped for its own request.
    for op in ALL_REQUESTS {
        for (owner, sharers) in [(Some(0), 0), (None, 1)] {
            let bench = HomeBench::new(owner, sharers);
            let msg = Msg::D2hReq { opcode: *op, line: LINE, cqid: 7 };
            let found = takes_and(&bench.config, &bench.home, (0, msg), |_, out| {
                assert!(snoops_sent(out).is_empty(), "{op:?}");
                out.send(0, snoop());
            });
            assert!(found.contains(&"COH-HOM-02"), "{op:?} {found:?}");
        }
    }
}

#[test]
fn coh_hom_03_p() {
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdOwn);
    assert!(answers_sent(&home.reply(1, Rsp::RspIFwdM)).is_empty());
    let out = home.data(1, false, Age::Current);
    assert_eq!((answers_sent(&out), home.memory()), (vec![(0, HostAnswer::GoE)], Age::Current));
}

#[test]
fn coh_hom_03_n() {
    cache_names(CoherenceMutant::GoBeforeAnswers, "COH-HOM-03");
    assert_eq!(killer(CoherenceMutant::GoBeforeAnswers, false), "COH-INV-04");
}

#[test]
fn coh_hom_04_p() {
    for (op, rsp, data, expected) in [
        (Op::RdShared, Rsp::RspIHitI, false, (None, 0b01)),
        (Op::RdShared, Rsp::RspSHitSE, false, (None, 0b11)),
        (Op::RdShared, Rsp::RspSFwdM, true, (None, 0b11)),
        (Op::RdShared, Rsp::RspIFwdM, true, (None, 0b01)),
        (Op::RdCurr, Rsp::RspVHitV, false, (Some(1), 0)),
        (Op::RdCurr, Rsp::RspVFwdV, true, (Some(1), 0)),
        (Op::RdCurr, Rsp::RspSHitSE, false, (None, 0b10)),
        (Op::RdCurr, Rsp::RspIHitI, false, (None, 0)),
    ] {
        let mut home = HomeBench::new(Some(1), 0);
        home.request(0, op);
        home.reply(1, rsp);
        if data {
            home.data(1, false, Age::Current);
        }
        assert_eq!((home.holders(), home.home.is_idle()), (expected, true), "{op:?} {rsp:?}");
    }
}

#[test]
fn coh_hom_04_n() {
    cache_names(CoherenceMutant::CurrentDataCleansOwner, "COH-HOM-04");
    // A holder that answers S and is forgotten.
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdShared);
    let answer = Msg::D2hRsp { opcode: Rsp::RspSHitSE, uqid: uqid(0, 1) };
    let forgets = |home: &mut HomeAgent<LineToken, Flat<LineToken>>, _: &mut AgentOutput<LineToken>| {
        home.set_holders(LINE, Holders { owner: None, sharers: IdSet::of_bits(1) });
    };
    assert_eq!(takes_and(&home.config, &home.home, (1, answer), forgets), ["COH-HOM-04"]);
}

#[test]
fn coh_hom_05_p() {
    // A read frees the line at once, a pull with its data.
    let mut home = HomeBench::new(None, 0);
    home.request(0, Op::RdShared);
    assert!(home.home.is_idle());
    home.request(1, Op::ItoMWr);
    assert!(!home.home.is_idle());
    home.reply(0, Rsp::RspIHitSE);
    assert!(!home.home.is_idle());
    home.data(1, false, Age::New);
    assert!(home.home.is_idle());
}

#[test]
fn coh_hom_05_n() {
    cache_names(CoherenceMutant::SnoopDuringPull, "COH-HOM-05");
    assert_eq!(killer(CoherenceMutant::SnoopDuringPull, false), "COH-REQ-20");
}

#[test]
fn coh_hom_06_p() {
    // Tracked and gone: an extra snoop, answered RspIHitI.
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdAny);
    assert_eq!(answers_sent(&home.reply(1, Rsp::RspIHitI)), [(0, HostAnswer::GoE)]);
}

#[test]
fn coh_hom_06_n() {
    for at in [CacheLineState::S, CacheLineState::E, CacheLineState::M] {
        assert_eq!(untracked(at), ["COH-INV-04"]);
    }
    // A grant that nobody writes down.
    for op in [Op::RdShared, Op::RdAny, Op::RdOwn, Op::RdOwnNoData] {
        let bench = HomeBench::new(None, 0);
        let msg = Msg::D2hReq { opcode: op, line: LINE, cqid: 7 };
        let forgets = |home: &mut HomeAgent<LineToken, Flat<LineToken>>, _: &mut AgentOutput<LineToken>| {
            home.set_holders(LINE, Holders::default());
        };
        assert_eq!(takes_and(&bench.config, &bench.home, (0, msg), forgets), ["COH-HOM-06"], "{op:?}");
    }
}

#[test]
fn coh_cid_05_p() {
    // Equal CQIDs of two devices, on two lines: each gets its own answer.
    let mut home = HomeBench::new(None, 0);
    let a = home.give(0, Msg::D2hReq { opcode: Op::RdShared, line: LINE, cqid: 7 });
    let b = home.give(1, Msg::D2hReq { opcode: Op::RdOwn, line: LineAddr(1), cqid: 7 });
    assert_eq!((answers_sent(&a), answers_sent(&b)), (vec![(0, HostAnswer::GoS)], vec![(1, HostAnswer::GoE)]));
}

#[test]
fn coh_cid_05_n() {
    // The answer of another device's request: no such CQID is open here.
    assert_eq!(rules(&Bench::new(CacheLineState::I).answer(HostAnswer::GoS)), ["COH-IDS-01"]);
    // A snoop answer of another port.
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdShared);
    assert_eq!(rules(&home.reply(2, Rsp::RspIHitI)), ["COH-IDS-01"]);
    // A home that keys by CQID alone: what one device has asked goes to another.
    let bench = HomeBench::new(None, 0);
    let msg = Msg::D2hReq { opcode: Op::CLFlush, line: LINE, cqid: 7 };
    assert_eq!(takes_and(&bench.config, &bench.home, (0, msg), |_, out| out.sends[0].0 = 1), ["COH-CID-05"]);
}

fn ndr(opcode: NdrOpcode, tag: u16) -> Msg<LineToken> {
    let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
    Msg::S2mNdr { opcode, meta_field, meta, tag, devload: Default::default() }
}

#[test]
fn coh_bic_03_p() {
    let config = CoherenceConfig::default();
    for cmp in [NdrOpcode::Cmp, NdrOpcode::CmpS, NdrOpcode::CmpE, NdrOpcode::CmpM] {
        assert!(!passes(&config, Dir::Up, ndr(cmp, 4), ndr(NdrOpcode::BIConflictAck, 4)));
        assert!(passes(&config, Dir::Up, ndr(cmp, 4), ndr(NdrOpcode::BIConflictAck, 5)));
        assert!(passes(&config, Dir::Up, ndr(NdrOpcode::BIConflictAck, 4), ndr(cmp, 4)));
    }
}

#[test]
fn coh_bic_03_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::AckPassesCmp.rules(), ..CoherenceConfig::default() };
    assert!(passes(&config, Dir::Up, ndr(NdrOpcode::CmpE, 4), ndr(NdrOpcode::BIConflictAck, 4)));
    names(&mem_system(MemSetup::core(config, 2)), "COH-BIC-03");
}

fn m2s(opcode: M2sReqOpcode, line: u64) -> Msg<LineToken> {
    let (snp, meta_field, meta) = (SnpType::NoOp, MetaField::Meta0State, MetaValue::Invalid);
    Msg::M2sReq { opcode, snp, meta_field, meta, line: LineAddr(line), tag: 0 }
}

#[test]
fn coh_bia_11_p() {
    let config = CoherenceConfig::default();
    for fwd in [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd] {
        assert!(!passes(&config, Dir::Down, m2s(fwd, 0), m2s(M2sReqOpcode::MemRd, 0)));
        assert!(passes(&config, Dir::Down, m2s(fwd, 0), m2s(M2sReqOpcode::MemRd, 1)));
        assert!(passes(&config, Dir::Down, m2s(M2sReqOpcode::MemRd, 0), m2s(fwd, 0)));
    }
}

#[test]
fn coh_bia_11_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::ReqPassesFwd.rules(), ..CoherenceConfig::default() };
    assert!(passes(&config, Dir::Down, m2s(M2sReqOpcode::MemRdFwd, 0), m2s(M2sReqOpcode::MemRd, 0)));
    names(&bias_system(BiasSetup::everything(config)), "COH-BIA-11");
}

/// What the monitors say of two copies, (writable, dirty, age), over a home of some age.
fn judged(copies: &[(bool, bool, Age)], home: Age) -> Vec<&'static str> {
    let copies = copies.iter().enumerate().map(|(agent, &(writable, dirty, age))| CopyView {
        agent,
        usable: true,
        writable,
        dirty,
        value: token(age),
    });
    let view = View {
        line: LINE,
        newest: token(Age::Current),
        home: token(home),
        copies: copies.collect(),
        in_flight: Vec::new(),
        tracked: IdSet::of_bits(u64::MAX),
        levels: Vec::new(),
    };
    let mut events: Vec<CoherenceEvent> = Vec::new();
    check_copies(&view, &|n| format!("agent {n}"), &mut events);
    events.iter().map(|e| e.rule).collect()
}

#[test]
fn coh_inv_01_p() {
    let s = (false, false, Age::Current);
    assert_eq!(judged(&[s, s], Age::Current), [""; 0]);
    assert_eq!(judged(&[(true, true, Age::Current)], Age::Stale), [""; 0]);
}

#[test]
fn coh_inv_01_n() {
    assert_eq!(judged(&[(true, false, Age::Current), (false, false, Age::Current)], Age::Current), ["COH-INV-01"]);
    // Ownership without bytes, which no core can load from, beside an S copy; two of them.
    let (newest, home) = (token(Age::Current), token(Age::Current));
    let owner = |agent| CopyView { agent, usable: false, writable: true, dirty: false, value: LineToken::ones() };
    let sharer = CopyView { agent: 1, usable: true, writable: false, dirty: false, value: newest };
    for copies in [vec![owner(0), sharer], vec![owner(0), owner(1)]] {
        let (in_flight, tracked, levels) = (Vec::new(), IdSet::of_bits(u64::MAX), Vec::new());
        let view = View { line: LINE, newest, home, copies, in_flight, tracked, levels };
        let mut events: Vec<CoherenceEvent> = Vec::new();
        check_copies(&view, &|n| format!("agent {n}"), &mut events);
        assert_eq!(events.iter().map(|e| e.rule).collect::<Vec<_>>(), ["COH-INV-01"]);
    }
}

#[test]
fn coh_inv_02_p() {
    assert_eq!(judged(&[(true, false, Age::Current)], Age::Current), [""; 0]);
}

#[test]
fn coh_inv_02_n() {
    assert_eq!(judged(&[(false, false, Age::Stale)], Age::Current), ["COH-INV-02"]);
    // A clean copy over a home that has something else.
    assert_eq!(judged(&[(true, false, Age::Current)], Age::Stale)[0], "COH-INV-02");
}

#[test]
fn coh_inv_03_p() {
    assert_eq!(judged(&[], Age::Current), [""; 0]);
    explored();
}

#[test]
fn coh_inv_03_n() {
    assert_eq!(judged(&[], Age::Stale), ["COH-INV-03"]);
}

#[test]
fn coh_inv_04_p() {
    explored();
}

#[test]
fn coh_inv_04_n() {
    assert_eq!(untracked(CacheLineState::S), ["COH-INV-04"]);
}

#[test]
fn coh_inv_05_p() {
    // Devices and home report every shape outside their rows; in the exploration they have nothing to report.
    explored();
}

#[test]
fn coh_inv_05_n() {
    cache_names(CoherenceMutant::CopyKeptUnderSnpInv, "COH-INV-05");
    let mut bench = Bench::issued(CacheLineState::I, Op::RdShared);
    assert_eq!(rules(&bench.answer(HostAnswer::GoE)), ["COH-REQ-19", "COH-REQ-02"]);
    let mut home = HomeBench::new(Some(1), 0);
    home.request(0, Op::RdShared);
    let mut events = home.reply(1, Rsp::RspIHitSE).events;
    name_invariants(&mut events, 0);
    assert_eq!(events.iter().map(|e| e.rule).collect::<Vec<_>>(), ["COH-SNP-01", "COH-INV-05"]);
}

#[test]
fn coh_inv_06_p() {
    explored();
}

#[test]
fn coh_inv_06_n() {
    cache_names(CoherenceMutant::HomeDoesNotBlock, "COH-INV-06");
}

#[test]
fn coh_inv_07_p() {
    explored();
}

#[test]
fn coh_inv_07_n() {
    cache_names(CoherenceMutant::BogusNotSet, "COH-INV-07");
}

#[test]
fn coh_inv_08_p() {
    explored();
}

#[test]
fn coh_inv_08_n() {
    cache_names(CoherenceMutant::SnoopPassesGo, "COH-INV-08");
    assert_eq!(killer(CoherenceMutant::SnoopPassesGo, true), "COH-ORD-01");
}

#[test]
fn coh_inv_09_p() {
    // Every state of the exploration that is not idle has a move that drains it.
    assert!(explored().complete);
}

#[test]
fn coh_inv_09_n() {
    assert_eq!(killer(CoherenceMutant::SnoopWaitsForRequest, false), "COH-INV-09");
}

#[test]
fn coh_inv_14_p() {
    explored();
}

#[test]
fn coh_inv_14_n() {
    use scalepool::proof::explore::ExploredSystem;
    // Dropped: nothing is open, and the last store is nowhere.
    let config = CoherenceConfig { rules: CoherenceMutant::DirtyDropped.rules(), ..CoherenceConfig::default() };
    let mut system = cache_system(Setup::free(config, 1, ALL_REQUESTS)).start_at(&[CacheLineState::M]);
    let mut moves = Vec::new();
    system.moves(&mut moves);
    let dropped = moves.into_iter().find(|m| format!("{m:?}").contains("Drop")).expect("a drop");
    system.apply(dropped, &mut Vec::new());
    let mut events = Vec::new();
    system.check_idle(&mut events);
    assert!(system.is_idle() && events.iter().any(|e| e.rule == "COH-INV-14"));
}
