//! Rules of CXL.cache about several requests of a device, strong and weak writes, dirty grants, own memory.

use super::cache_bench::*;
use super::mem_bench::{X, birsp, bisnp, bytes as line_of, device as dcoh_of, give, host as host_of};
use scalepool::coherence::config::OwnMemory;
use scalepool::coherence::content::CacheLine;
use scalepool::coherence::mem::options::{BlockAnswer, MemConfig};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::{Dcoh, DeviceOp, Holders as MemHolders, MemHost};
use scalepool::coherence::monitor::IssueWatch;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode};

/// All requests of a menu by two devices: the first broken rule.
pub fn explored_with(config: CoherenceConfig, menu: &[Op]) -> ExplorationReport {
    search(&cache_system(Setup::free(config, 2, menu)), Limits { states: 2_000_000, ..Limits::default() })
}

fn breaking(mutant: CoherenceMutant) -> CoherenceConfig {
    CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() }
}

#[test]
fn coh_req_17_p() {
    let config = CoherenceConfig { grant_dirty: true, ..CoherenceConfig::default() };
    // A dirty line changes hands with GO-M and memory is not written; a clean one comes with GO-E.
    let mut home = HomeBench::new(Some(1), 0);
    home.config = config.clone();
    home.request(0, Op::RdOwn);
    home.data(1, false, Age::Current);
    let out = home.reply(1, Rsp::RspIFwdM);
    assert_eq!((answers_sent(&out), home.memory()), (vec![(0, HostAnswer::GoM)], Age::Stale));
    let mut home = HomeBench::new(Some(1), 0);
    home.config = config.clone();
    home.request(0, Op::RdOwn);
    assert_eq!(answers_sent(&home.reply(1, Rsp::RspIHitSE)), [(0, HostAnswer::GoE)]);
    clean(explored_with(config, &[Op::RdOwn, Op::RdAny, Op::RdShared, Op::DirtyEvict]));
}

#[test]
fn coh_req_17_n() {
    let found = explored_with(breaking(CoherenceMutant::CleanGrantedDirty), &[Op::RdOwn, Op::RdAny]).violation;
    assert_eq!(found.map(|v| v.event.rule), Some("COH-REQ-17"));
}

const DATA: LineAddr = LineAddr(0);
const FLAG: LineAddr = LineAddr(1);

/// A home with two lines, all requests by hand.
struct TwoLines(HomeAgent<CacheLine, Flat<CacheLine>>);

impl TwoLines {
    fn new() -> Self {
        let mut home = HomeAgent::new(Flat::default());
        for line in [DATA, FLAG] {
            home.memory.write(line, &line_of(0), WHOLE_LINE);
        }
        Self(home)
    }

    fn take(&mut self, port: AgentPort, msg: Msg<CacheLine>) -> Vec<Msg<CacheLine>> {
        let mut out = AgentOutput::default();
        self.0.take(&CoherenceConfig::default(), port, msg, 0, &mut out);
        assert!(out.events.is_empty(), "{:?}", out.events);
        out.sends.into_iter().map(|(_, m)| m).collect()
    }

    /// The home takes a write of device 0; returns the UQID of its pull.
    fn begins(&mut self, op: Op, line: LineAddr) -> u16 {
        match self.take(0, Msg::D2hReq { opcode: op, line, cqid: line.0 as u16 })[..] {
            [Msg::H2dRsp { rsp_data, .. }] => rsp_data,
            ref other => panic!("{other:?}"),
        }
    }

    /// The data of a write arrives.
    fn ends(&mut self, uqid: u16) -> Vec<Msg<CacheLine>> {
        let data = Msg::D2hData { uqid, bogus: false, data: line_of(1), enables: WHOLE_LINE };
        self.take(0, data)
    }

    /// Device 1 reads the flag, then the data.
    fn reads(&mut self) -> (u8, u8) {
        let mut read = |line| match self.take(1, Msg::D2hReq { opcode: Op::RdCurr, line, cqid: 9 })[..] {
            [Msg::H2dData { data, .. }] => data.bytes[0],
            ref other => panic!("{other:?}"),
        };
        let flag = read(FLAG);
        (flag, read(DATA))
    }
}

#[test]
fn coh_ord_09_p() {
    // The device waits for the end of the first write before it sends the second: message passing holds.
    let mut home = TwoLines::new();
    assert_eq!(home.reads(), (0, 0));
    let data = home.begins(Op::WrInv, DATA);
    assert_eq!(home.ends(data).len(), 1, "its GO");
    assert_eq!(home.reads(), (0, 1));
    let flag = home.begins(Op::WrInv, FLAG);
    home.ends(flag);
    assert_eq!(home.reads(), (1, 1));
    // In an exploration any request of a device may be taken first; nothing breaks.
    assert!(explored().complete);
}

/// The rule is a freedom of the host (O10: "a device that needs order waits for GO/ExtCmp"), so no message breaks it: two
/// requests of one device are legal whatever its program expects of them. The litmus test shows the harm; the watch names
/// it where it is told what the program relies on.
#[test]
fn coh_ord_09_n() {
    // A device that relies on the order of its requests: the home takes the second one first.
    let mut home = TwoLines::new();
    let flag = home.begins(Op::WrInv, FLAG);
    home.ends(flag);
    assert_eq!(home.reads(), (1, 0), "the litmus test fails");
    // No message shows that one request relies on another: who knows tells the watch.
    let mut watched = Watched::default();
    watched.watch.relies_on(2, 1);
    watched.ask(Op::WrInv, 1).ask(Op::WrCur, 2);
    assert_eq!(watched.rules, ["COH-ORD-09"]);
    let mut watched = Watched::default();
    watched.watch.relies_on(2, 1);
    watched.ask(Op::WrInv, 1).go(HostAnswer::GoI, 1).ask(Op::WrCur, 2);
    assert!(watched.rules.is_empty(), "it has waited");
}

/// A device's link, as the watch reads it.
#[derive(Default)]
struct Watched {
    watch: IssueWatch,
    rules: Vec<&'static str>,
}

impl Watched {
    fn ask(&mut self, op: Op, cqid: u16) -> &mut Self {
        let mut events = Vec::new();
        self.watch.up(&Msg::<LineToken>::D2hReq { opcode: op, line: LINE, cqid }, &mut events);
        self.rules.extend(events.iter().map(|e| e.rule));
        self
    }

    fn go(&mut self, answer: HostAnswer, cqid: u16) -> &mut Self {
        let mut events = Vec::new();
        self.watch.down(&rsp(answer, cqid), &mut events);
        self.rules.extend(events.iter().map(|e| e.rule));
        self
    }
}

const PARALLEL: [Op; 7] = [Op::RdCurr, Op::CLFlush, Op::WrInv, Op::WOWrInv, Op::WOWrInvF, Op::ItoMWr, Op::WrCur];
const SERIAL: [Op; 4] = [Op::RdShared, Op::RdAny, Op::RdOwn, Op::RdOwnNoData];

#[test]
fn coh_ord_10_p() {
    let mut watched = Watched::default();
    for (cqid, op) in PARALLEL.into_iter().chain(PARALLEL).enumerate() {
        watched.ask(op, cqid as u16);
    }
    assert!(watched.rules.is_empty());
    for op in SERIAL {
        let mut watched = Watched::default();
        watched.ask(op, 1).go(HostAnswer::GoE, 1).ask(Op::CleanEvict, 2).go(HostAnswer::GoDrop, 2).ask(op, 3);
        watched.go(HostAnswer::GoE, 3).ask(Op::DirtyEvict, 4);
        assert!(watched.rules.is_empty(), "{op:?}");
    }
    // Flips of a line of HDM-D, which are RdOwnNoData alone.
    let flips = || {
        let mut watched = Watched::default();
        watched.watch.may_flip = true;
        watched
    };
    let mut watched = flips();
    for cqid in 1..9 {
        watched.ask(Op::RdOwnNoData, cqid);
    }
    assert!(watched.rules.is_empty());
    for other in PARALLEL.into_iter().chain(SERIAL).filter(|op| *op != Op::RdOwnNoData) {
        let mut watched = flips();
        watched.ask(Op::RdOwnNoData, 1).ask(other, 2);
        assert_eq!(watched.rules, ["COH-ORD-10"], "{other:?}");
    }
    // Our device under all requests, one after the other.
    let (mut watch, mut events) = (IssueWatch::default(), Vec::new());
    let mut bench = Bench::new(CacheLineState::I);
    let mut home = HomeBench::new(None, 0);
    for op in [Op::RdOwn, Op::CleanEvict, Op::WrInv, Op::RdShared, Op::CleanEvictNoData, Op::ItoMWr] {
        let mut out = AgentOutput::default();
        assert!(bench.device.issue(op, LINE, bytes_of(op), &mut out), "{op:?}");
        let mut up: Vec<_> = out.sends.into_iter().map(|(_, m)| m).collect();
        while !up.is_empty() {
            for msg in std::mem::take(&mut up) {
                watch.up(&msg, &mut events);
                for (_, down) in home.give(0, msg).sends {
                    watch.down(&down, &mut events);
                    up.extend(bench.give(down, 0).sends.into_iter().map(|(_, m)| m));
                }
            }
        }
        assert!(bench.device.is_idle() && events.is_empty(), "{op:?}: {events:?}");
    }
}

#[test]
fn coh_ord_10_n() {
    for (serial, parallel) in SERIAL.iter().flat_map(|s| PARALLEL.iter().chain(&SERIAL).map(move |p| (*s, *p))) {
        for (first, second) in [(serial, parallel), (parallel, serial)] {
            let mut watched = Watched::default();
            watched.ask(first, 1).ask(second, 2);
            assert_eq!(watched.rules, ["COH-ORD-10"], "{first:?}, {second:?}");
        }
    }
    let mut watched = Watched::default();
    watched
        .ask(Op::RdOwn, 1)
        .go(HostAnswer::GoE, 1)
        .ask(Op::CleanEvict, 2)
        .go(HostAnswer::GoDrop, 2)
        .ask(Op::CleanEvict, 3);
    assert_eq!(watched.rules, ["COH-ORD-10"], "a second evict without a read");
}

#[test]
fn coh_ord_13_p() {
    // Strong: when it has ended it is visible. Weak: its Fast-GO says nothing, ExtCmp does.
    let mut home = TwoLines::new();
    let weak = home.begins(Op::WOWrInvF, DATA);
    let flag = home.begins(Op::WrInv, FLAG);
    home.ends(flag);
    assert_eq!(home.reads_flag_only(), 1, "behind a Fast-GO the flag may be seen first");
    let ext = home.ends(weak);
    assert!(matches!(ext[..], [Msg::H2dRsp { opcode: H2dRspOpcode::ExtCmp, .. }]));
    assert_eq!(home.reads(), (1, 1));
    let menu = [Op::WrInv, Op::ItoMWr, Op::WrCur, Op::WOWrInv, Op::RdCurr, Op::RdOwn, Op::DirtyEvict];
    clean(explored_with(CoherenceConfig::default(), &menu));
}

impl TwoLines {
    /// The flag alone, while the data line is busy.
    fn reads_flag_only(&mut self) -> u8 {
        match self.take(1, Msg::D2hReq { opcode: Op::RdCurr, line: FLAG, cqid: 9 })[..] {
            [Msg::H2dData { data, .. }] => data.bytes[0],
            ref other => panic!("{other:?}"),
        }
    }
}

#[test]
fn coh_ord_13_n() {
    let found = explored_with(breaking(CoherenceMutant::WriteEndsBeforeData), &[Op::WrInv, Op::RdCurr]).violation;
    assert_eq!(found.map(|v| v.event.rule), Some("COH-ORD-13"));
}

/// A home that knows that line 0 is HDM-DB of device 1.
fn with_own_memory() -> HomeBench {
    let mut home = HomeBench::new(None, 0);
    home.config.own_memory = vec![OwnMemory { first: 0, last: 0xfff, device: 1 }];
    home
}

#[test]
fn coh_bia_10_p() {
    for op in [Op::ItoMWr, Op::WrCur, Op::WrInv] {
        let out = with_own_memory().request(1, op);
        assert_eq!((rules(&out), out.sends.len()), (vec![], 1), "{op:?}");
    }
    // Another device is not the owner of that memory.
    assert!(rules(&with_own_memory().request(0, Op::RdOwn)).is_empty());
}

#[test]
fn coh_bia_10_n() {
    for op in ALL_REQUESTS.iter().filter(|op| ![Op::ItoMWr, Op::WrCur, Op::WrInv].contains(op)) {
        let mut home = with_own_memory();
        let before = home.home.clone();
        let out = home.request(1, *op);
        assert_eq!((rules(&out), out.sends.len()), (vec!["COH-BIA-10"], 0), "{op:?}");
        assert!(home.home == before);
    }
}

#[test]
fn coh_ids_04_p() {
    // Lines 8 to 11 are a block: each answer names its line.
    let config = CoherenceConfig::default();
    let mut host = MemHost::<CacheLine>::new(0);
    let out = give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInvBlk, LineAddr(X.0 | 3)));
    let named = |m: &Msg<CacheLine>| if let Msg::M2sBirsp { low_addr, .. } = m { Some(*low_addr) } else { None };
    assert_eq!(out.sends.iter().filter_map(|(_, m)| named(m)).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let whole = CoherenceConfig {
        mem: MemConfig { block_answer: BlockAnswer::Whole, ..MemConfig::default() },
        ..CoherenceConfig::default()
    };
    let mut host = host_of(Copy4::I);
    let out = give(&mut host, &whole, 0, bisnp(BisnpOpcode::BISnpInvBlk, LineAddr(X.0 | 3)));
    assert!(matches!(out.sends[..], [(_, Msg::M2sBirsp { opcode: BirspOpcode::BIRspIBlk, low_addr: 0, .. })]));
}

#[test]
fn coh_ids_04_n() {
    let config = CoherenceConfig::default();
    let open = || {
        let mut dcoh: Dcoh<CacheLine> = dcoh_of(&config, 2, MemHolders::Owner(0));
        dcoh.preset(LineAddr(X.0 + 1), line_of(1), MemHolders::Owner(0));
        assert!(dcoh.issue_block(&config, LineAddr(X.0 | 1), DeviceOp::ReadOwn, &mut AgentOutput::default()));
        dcoh
    };
    let (mut plain, mut set) = (open(), open());
    give(&mut plain, &config, 0, birsp(BirspOpcode::BIRspIBlk, 0));
    let out = give(&mut set, &config, 0, birsp(BirspOpcode::BIRspIBlk, 3));
    assert!(out.events.is_empty() && plain == set, "ignored, without effect");
    // In a plain answer it counts: Addr[7:6] of the line of a plain snoop, a line of the block otherwise.
    let mut dcoh: Dcoh<CacheLine> = dcoh_of(&config, 2, MemHolders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    let before = dcoh.clone();
    let out = give(&mut dcoh, &config, 0, birsp(BirspOpcode::BIRspI, 2));
    assert_eq!((out.events[0].rule, dcoh == before), ("COH-IDS-04", true));
    let out = give(&mut open(), &config, 0, birsp(BirspOpcode::BIRspI, 3));
    assert_eq!(out.events[0].rule, "COH-BLK-02");
}
