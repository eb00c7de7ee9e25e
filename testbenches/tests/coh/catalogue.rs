//! The scenarios COH-T of the catalogue, by number: `scenario_coh_t01` is COH-T01. COH-T10 stands beside the litmus shapes, COH-T11
//! in `c14`.

use super::cache_bench::{ALL_REQUESTS, Counterexample, Op, explored};
use super::cache_explore::drops;
use super::names::{cache_names, names};
use super::stress::{runs, soak};
use scalepool::coherence::agent::{Accept, Agent, AgentOutput};
use scalepool::coherence::bias::device::{Bias, BiasDevice};
use scalepool::coherence::bias::tables as bias_tables;
use scalepool::coherence::cache::device::{DeviceCache, WriteBytes};
use scalepool::coherence::cache::requests::{CacheRequestKind, REQUESTS};
use scalepool::coherence::cache::state::{CacheLineState, HostAnswer};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool::coherence::mem::dcoh::{Dcoh, DeviceOp};
use scalepool::coherence::mem::filter::Holders;
use scalepool::coherence::mem::hdm_h::HdmH;
use scalepool::coherence::mem::host::{HostAccess, HostReq, MemHost};
use scalepool::coherence::mem::options::{BlockAnswer, BlockRelease, MemConfig};
use scalepool::coherence::mem::tables::{self, Copy4, HdmRegion};
use scalepool::coherence::message::Msg;
use scalepool::proof::explore::{ExplorationReport, ExploredSystem, Limits, search};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::stress::{Stress, StressProtocol};
use scalepool::proof::systems::bias::{Setup as BiasSetup, system as bias_system};
use scalepool::proof::systems::cache::{Setup, system as cache_system};
use scalepool::proof::systems::mem::{Setup as MemSetup, system as mem_system};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType,
};
use scalepool_testbenches::soak::is_soak;

const LINE: LineAddr = LineAddr(0);

fn clean<S: ExploredSystem>(start: &S, symmetry: bool) -> ExplorationReport {
    // What never ends is looked for with names, and the largest of these have too many of them.
    let report = search(start, Limits { symmetry, liveness: !symmetry, ..Limits::default() });
    if let Some(v) = &report.violation {
        panic!("{}\n{}", v.event, v.chart().text());
    }
    assert!(report.complete);
    report
}

/// Every request, evict, drop and legal answer of two devices with the host's core.
#[test]
fn scenario_coh_t01() {
    let report = explored();
    assert!(report.complete && report.violation.is_none());
}

/// Every request, evict and drop of three devices, with stores that wait for ownership. The nearest states; all in `make soak`.
#[test]
fn scenario_coh_t02() {
    let states = if is_soak() { usize::MAX } else { 60_000 };
    let limits = Limits { states, symmetry: true, liveness: false, ..Limits::default() };
    let report = search(&cache_system(Setup::free(drops(), 3, ALL_REQUESTS)), limits);
    assert!(report.complete == is_soak() && report.violation.is_none(), "{:?}", report.violation.map(|v| v.event));
}

/// Two hosts, then three, on HDM-DB; wider menus are in `mem_explore`.
#[test]
fn scenario_coh_t03() {
    clean(&mem_system(MemSetup::core(CoherenceConfig::default(), 2)), false);
    let requests = vec![HostReq::RD_ANY, HostReq::RD_SHARED];
    let setup = MemSetup {
        requests,
        write_backs: Vec::new(),
        wants: vec![HostAccess::Store],
        ..MemSetup::core(CoherenceConfig::default(), 3)
    };
    clean(&mem_system(setup), false);
}

/// Every operation of host and device on one line of HDM-D.
#[test]
fn scenario_coh_t04() {
    clean(&bias_system(BiasSetup::everything(CoherenceConfig::default())), false);
}

/// Every rule that can be turned off, off, one at a time: a counterexample that names the rule. Among them are all that
/// the sheet marks +X!. What harm each does to states and values is in `mutants`.
#[test]
fn scenario_coh_t05() {
    use CoherenceMutant::*;
    let told = |mutant: CoherenceMutant, rule: &str, found: Counterexample| {
        assert!(found.event.rule == rule && !found.steps.is_empty());
        println!("{mutant:?}: {} after {} steps", found.event, found.steps.len());
    };
    let cache = [
        (SnoopPassesGo, "COH-ORD-01"),
        (HomeDoesNotBlock, "COH-ORD-05"),
        (SnoopDuringPull, "COH-HOM-05"),
        (SnoopBetweenDataAndGo, "COH-ORD-06"),
        (SnoopWaitsForRequest, "COH-ORD-07"),
        (GoBeforeAnswers, "COH-ORD-08"),
        (EvictUntracksAll, "COH-ORD-12"),
        (UseAfterEvict, "COH-STA-04"),
        (BogusNotSet, "COH-BOG-01"),
        (BogusWritten, "COH-BOG-03"),
        (GrantedAnswersAsInvalid, "COH-TRN-03"),
        (GrantedHoldsSnoop, "COH-TRN-03"),
        (OldBytesKept, "COH-TRN-02"),
        (StaleEvictClearsOwner, "COH-EVT-02"),
        (CurrentDataCleansOwner, "COH-SNP-14"),
        (SharersNotSnooped, "COH-HOM-02"),
        (DirtyDropped, "COH-STA-02"),
        (CopyKeptUnderSnpInv, "COH-SNP-06"),
        (CleanGrantedDirty, "COH-REQ-17"),
        (WriteEndsBeforeData, "COH-ORD-13"),
    ];
    for (mutant, rule) in cache {
        told(mutant, rule, cache_names(mutant, rule));
    }
    let of = |mutant: CoherenceMutant| CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
    let two_hosts = [
        (AckPassesCmp, "COH-BIC-03"),
        (FilledWithoutData, "COH-MEM-47"),
        (HolderSkipped, "COH-MHO-01"),
        (OwnerNotAsked, "COH-MHO-02"),
        (AnswerBeforeWriteDone, "COH-SFI-05"),
        (DirtyHostNotWritten, "COH-SFI-05"),
        (BisnpBlocksRwd, "COH-SFI-06"),
        (ReqServedUnderBisnp, "COH-SFI-06"),
        (ConflictOnReq, "COH-BIC-01"),
        (AckWithheld, "COH-BIC-02"),
        (ConflictRowSwapped, "COH-BIC-04"),
        (GrantNotUsed, "COH-BIC-12"),
        (HostOldBytes, "COH-SFI-10"),
    ];
    for (mutant, rule) in two_hosts {
        told(mutant, rule, names(&mem_system(MemSetup::core(of(mutant), 2)), rule));
    }
    told(EntryLeavesEarly, "COH-SFI-01", names(&mem_system(MemSetup::one_entry(of(EntryLeavesEarly))), "COH-SFI-01"));
    let in_blocks = [
        (BlockAnswerEarly, BlockAnswer::Whole, "COH-BLK-04"),
        (OneConflictForBlock, BlockAnswer::Lines, "COH-BIC-10"),
        (BlockLineReleased, BlockAnswer::Lines, "COH-BLK-05"),
    ];
    for (mutant, block_answer, rule) in in_blocks {
        let config = CoherenceConfig { mem: MemConfig { block_answer, ..MemConfig::default() }, ..of(mutant) };
        told(mutant, rule, names(&mem_system(MemSetup::blocks(config, 1, &[DeviceOp::ReadOwn])), rule));
    }
    let bias = [
        (ReqPassesFwd, "COH-BIA-11"),
        (FwdBeforeWriteDone, "COH-BIA-12"),
        (LocalUseInHostBias, "COH-BIA-01"),
        (BackFlipUnsnooped, "COH-BIA-13"),
        (FlushFlips, "COH-BIA-14"),
        (ReqWaitsForOwnRequest, "COH-BIA-15"),
    ];
    for (mutant, rule) in bias {
        let mut config = of(mutant);
        config.mem.flush_keeps_shared = mutant == FlushFlips;
        told(mutant, rule, names(&bias_system(BiasSetup::everything(config)), rule));
    }
}

/// Devices and hosts answer in any legal way, at random.
#[test]
fn scenario_coh_t06() {
    assert!(Stress::new(StressProtocol::Cache(4), 0, 0).config.alternatives);
    runs(&[StressProtocol::Cache(4), StressProtocol::HdmDb(3), StressProtocol::HdmD], 60, 60_000 * soak());
}

/// Random delays, each seed to rest; the 10,000 seeds of the catalogue in `make soak`.
#[test]
fn scenario_coh_t07() {
    let seeds = if soak() > 1 { 10_000 } else { 2_500 };
    runs(&[StressProtocol::Cache(3), StressProtocol::HdmDb(3), StressProtocol::HdmD], seeds, 62_500 * soak());
}

/// Every order of as many things.
fn orders(of: usize) -> Vec<Vec<usize>> {
    if of == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(of - 1);
    (0..of)
        .flat_map(|at| {
            shorter.iter().map(move |o| {
                let mut o = o.clone();
                o.insert(at, of - 1);
                o
            })
        })
        .collect()
}

/// Every split of the answers to a block snoop: one for the block, or one a line in any order. Closed exactly once.
#[test]
fn scenario_coh_t08() {
    let config = CoherenceConfig::default();
    for (enable, first, count) in [(1, 0, 2), (2, 2, 2), (3, 0, 4)] {
        let opened = || {
            let mut dcoh = Dcoh::<CacheLine>::new(&config, 1);
            for line in (0..4).map(LineAddr) {
                dcoh.preset(line, CacheLine::initial(line), Holders::Owner(0));
            }
            let mut out = AgentOutput::default();
            assert!(dcoh.issue_block(&config, LineAddr(enable), DeviceOp::ReadOwn, &mut out));
            let [(0, Msg::S2mBisnp { opcode, bi_tag, line })] = out.sends[..] else { panic!("{:?}", out.sends) };
            assert_eq!((opcode, line), (BisnpOpcode::BISnpInvBlk, LineAddr(enable)));
            (dcoh, bi_tag)
        };
        let answer = |dcoh: &mut Dcoh<CacheLine>, opcode, bi_tag, low_addr| {
            let mut out = AgentOutput::default();
            dcoh.take(&config, 0, Msg::M2sBirsp { opcode, bi_tag, low_addr }, 0, &mut out);
            out.events.iter().map(|e| e.rule).collect::<Vec<_>>()
        };
        let (mut dcoh, tag) = opened();
        assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspIBlk, tag, 0), [""; 0]);
        assert!(dcoh.is_idle() && dcoh.own(LineAddr(first)).is_some());
        assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspIBlk, tag, 0), ["COH-IDS-01"], "a second time");
        for order in orders(count) {
            let (mut dcoh, tag) = opened();
            for (n, line) in order.iter().enumerate() {
                assert_eq!(dcoh.open_back_invalidates(), 1, "{order:?}");
                let low = first as u8 + *line as u8;
                assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspI, tag, low), [""; 0]);
                if n + 1 < count {
                    assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspI, tag, low), ["COH-BLK-02"], "a line twice");
                    assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspIBlk, tag, 0), ["COH-BLK-02"], "a mix");
                }
            }
            assert!(dcoh.is_idle(), "{order:?}");
        }
    }
}

/// Cores that stop after a random number of operations: the queues drain and nothing is open.
#[test]
fn scenario_coh_t09() {
    for seed in 0..1_500 * soak() {
        let protocol = [StressProtocol::Cache(5), StressProtocol::HdmDb(4), StressProtocol::HdmD][(seed % 3) as usize];
        let stress = Stress::new(protocol, seed, seed * 7 % 113);
        let counts = stress.run().unwrap_or_else(|failure| panic!("{protocol:?}\n{failure}"));
        assert_eq!(counts.rests, 1);
    }
}

fn line_of(byte: u8) -> CacheLine {
    CacheLine::of([byte; 64])
}

/// CXL.cache requests from each stable state, and every H2D Rsp to each request.
fn illegal_cxl_cache() {
    let config = CoherenceConfig::default();
    for row in REQUESTS {
        for start in [CacheLineState::I, CacheLineState::S, CacheLineState::E, CacheLineState::M] {
            let mut device = DeviceCache::<CacheLine>::new();
            device.preset(LINE, start, line_of(1));
            let bytes = (row.kind == CacheRequestKind::Write)
                .then(|| WriteBytes { data: line_of(2), enables: if row.op == Op::WOWrInv { 1 } else { WHOLE_LINE } });
            let mut out = AgentOutput::default();
            let legal = match row.op {
                Op::CacheFlushed => start == CacheLineState::I,
                _ => row.starts.iter().any(|(s, _)| *s == start),
            };
            let before = device.clone();
            assert_eq!(device.issue(row.op, LINE, bytes, &mut out), legal, "{:?} from {start:?}", row.op);
            if !legal {
                assert!(out.sends.is_empty() && device == before);
                continue;
            }
            for answer in HostAnswer::ALL.iter().filter(|a| !row.answers.contains(a)) {
                let (opcode, state) = answer.code();
                let (mut got, before) = (device.clone(), device.clone());
                let mut out = AgentOutput::default();
                let rsp_data = state.map_or(0, |s| u16::from(s.0));
                got.take(&config, 0, Msg::H2dRsp { opcode, rsp_data, cqid: 0 }, 0, &mut out);
                assert!(out.events.iter().any(|e| e.rule == row.rule), "{answer:?} to {:?}", row.op);
                assert!(got == before && out.sends.is_empty(), "{answer:?} to {:?}", row.op);
            }
        }
    }
}

const RESERVED_FIELD: MetaField = MetaField(2);
const META_FIELDS: [MetaField; 4] = [MetaField::Meta0State, MetaField::EMS, RESERVED_FIELD, MetaField::NoOp];
const META_VALUES: [MetaValue; 4] = [MetaValue::Invalid, MetaValue::ExplicitNoOp, MetaValue::Any, MetaValue::Shared];

/// Every M2S Req and RwD of the whole code space: what no row allows is reported and changes nothing.
fn illegal_cxl_mem() -> [usize; 2] {
    let config = CoherenceConfig::default();
    let (mut legal, mut illegal) = (0, 0);
    for (field, value) in META_FIELDS.into_iter().flat_map(|f| META_VALUES.map(|v| (f, v))) {
        for snp in (0..4).map(SnpType) {
            for code in 0..16 {
                let opcode = M2sReqOpcode(code);
                let req = Msg::M2sReq { opcode, snp, meta_field: field, meta: value, line: LINE, tag: 3 };
                let rwd_opcode = M2sRwdOpcode(code);
                let rwd = Msg::M2sRwd {
                    opcode: rwd_opcode,
                    snp,
                    meta_field: field,
                    meta: value,
                    line: LINE,
                    tag: 3,
                    data: line_of(9),
                    enables: WHOLE_LINE,
                };
                let db = [
                    (req, tables::check_req(HdmRegion::HdmDb, opcode, field, value, snp).err()),
                    (rwd, tables::rwd(HdmRegion::HdmDb, true, rwd_opcode, field, value, snp).err()),
                ];
                for (msg, rule) in db {
                    let Some(rule) = rule else {
                        legal += 1;
                        continue;
                    };
                    illegal += 1;
                    let mut dcoh = Dcoh::<CacheLine>::new(&config, 2);
                    dcoh.preset(LINE, line_of(1), Holders::Owner(1));
                    let before = dcoh.clone();
                    let mut out = AgentOutput::default();
                    dcoh.take(&config, 0, msg, 0, &mut out);
                    assert!(out.events.iter().any(|e| e.rule == rule), "HDM-DB: {msg:?}");
                    assert_eq!(dcoh, before, "HDM-DB: {msg:?}");
                }
                let h = [
                    (req, tables::hdm_h_req(opcode, field, snp).err()),
                    (rwd, tables::hdm_h_rwd(rwd_opcode, field, snp).err()),
                ];
                for (msg, rule) in h.into_iter().filter_map(|(msg, rule)| Some((msg, rule?))) {
                    let mut device = HdmH::<CacheLine>::new();
                    let before = device.clone();
                    let mut out = AgentOutput::default();
                    device.take(&config, 0, msg, 0, &mut out);
                    assert!(out.events.iter().any(|e| e.rule == rule), "HDM-H: {msg:?}");
                    assert!(out.sends.is_empty(), "HDM-H: {msg:?}");
                    assert_eq!(device, before, "HDM-H: {msg:?}");
                }
            }
        }
    }
    // The sender: a host issues nothing from a state outside the row.
    for req in HostReq::ALL.into_iter().filter(|r| r.opcode != M2sReqOpcode::MemSpecRd) {
        let (field, value) =
            (req.meta.map_or(MetaField::NoOp, |_| MetaField::Meta0State), req.meta.unwrap_or(MetaValue::Invalid));
        let row = tables::issue_req(req.opcode, field, value).expect("a row");
        for state in [Copy4::I, Copy4::S, Copy4::E, Copy4::M].into_iter().filter(|s| !row.states.contains(s)) {
            let mut host = MemHost::<CacheLine>::new(0);
            host.preset(LINE, state, line_of(1));
            let before = host.clone();
            let mut out = AgentOutput::default();
            host.issue(LINE, req, HostAccess::Nothing, &mut out);
            assert_eq!(out.events.iter().map(|e| e.rule).collect::<Vec<_>>(), [row.rule], "{req:?} from {state:?}");
            assert!(out.sends.is_empty() && host == before, "{req:?} from {state:?}");
        }
    }
    [legal, illegal]
}

/// Beside extended metadata the MetaValue means what it means alone, and Explicit-NoOp what MetaField NoOp does (`coherence` §1, §3.1):
/// the DCOH answers and records the same. HDM-D has no extended metadata, a reserved MetaField nobody.
#[test]
fn extended_metadata_says_of_copies_what_meta0_says() {
    let config = CoherenceConfig::default();
    let taken = |meta_field, meta, opcode, snp, holders: &Holders| {
        let mut dcoh = Dcoh::<CacheLine>::new(&config, 2);
        dcoh.preset(LINE, line_of(1), holders.clone());
        let mut out = AgentOutput::default();
        dcoh.take(&config, 0, Msg::M2sReq { opcode, snp, meta_field, meta, line: LINE, tag: 3 }, 0, &mut out);
        assert!(out.events.is_empty(), "{opcode:?} {meta_field:?} {meta:?} {snp:?}: {}", out.events[0]);
        (out.sends, dcoh.holders(LINE))
    };
    let mut compared = 0;
    for (opcode, snp) in (0..16).map(M2sReqOpcode).flat_map(|o| (0..4).map(move |s| (o, SnpType(s)))) {
        for said in META_VALUES {
            let alone = match said {
                MetaValue::ExplicitNoOp => (MetaField::NoOp, MetaValue::Invalid),
                value => (MetaField::Meta0State, value),
            };
            let check = |region, (field, value)| tables::check_req(region, opcode, field, value, snp);
            let (db, extended) = (HdmRegion::HdmDb, (MetaField::EMS, said));
            assert_eq!(check(db, extended).is_ok(), check(db, alone).is_ok(), "{opcode:?} {said:?} {snp:?}");
            let is_ignored = [M2sReqOpcode::MemRdData, M2sReqOpcode::MemSpecRd].contains(&opcode);
            for (region, field) in
                [(HdmRegion::HdmD, MetaField::EMS), (HdmRegion::HdmD, RESERVED_FIELD), (db, RESERVED_FIELD)]
            {
                let is_taken = check(region, (field, said)).is_ok();
                assert!(!is_taken || is_ignored, "{region:?} {opcode:?} {field:?} {said:?} {snp:?}");
            }
            if check(db, alone).is_err() {
                continue;
            }
            for holders in [Holders::NONE, Holders::Owner(0)] {
                let [one, other] = [alone, extended].map(|(field, value)| taken(field, value, opcode, snp, &holders));
                assert_eq!(one, other, "{opcode:?} {said:?} {snp:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
}

/// A line of a block that the device releases early is the device's from then on, so a host that asks for it gets it, and the end of the
/// block does not take it once more (`coherence` §3.4).
#[test]
fn a_line_that_is_released_early_is_not_taken_twice() {
    let mem = MemConfig { block_release: BlockRelease::Early, ..MemConfig::default() };
    let config = CoherenceConfig { mem, ..CoherenceConfig::default() };
    for op in [DeviceOp::ReadOwn, DeviceOp::ReadShared] {
        let mut dcoh = Dcoh::<CacheLine>::new(&config, 1);
        let lines = [0, 1].map(LineAddr);
        lines.iter().for_each(|line| dcoh.preset(*line, line_of(1), Holders::Owner(0)));
        let mut out = AgentOutput::default();
        assert!(dcoh.issue_block(&config, LineAddr(1), op, &mut out));
        let [(0, Msg::S2mBisnp { bi_tag, .. })] = out.sends[..] else { panic!("{:?}", out.sends) };
        let answer = |low_addr| Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag, low_addr };
        let take = |dcoh: &mut Dcoh<CacheLine>, msg: Msg<CacheLine>| {
            assert_eq!(dcoh.accepts(&config, 0, &msg), Accept::Take, "{msg:?}");
            let mut out = AgentOutput::default();
            dcoh.take(&config, 0, msg, 0, &mut out);
            assert!(out.events.is_empty(), "{:?}", out.events);
        };
        take(&mut dcoh, answer(0));
        assert!(dcoh.own(lines[0]).is_some() && dcoh.own(lines[1]).is_none(), "{op:?}");
        let (snp, meta_field, meta) = (SnpType::SnpInv, MetaField::Meta0State, MetaValue::Any);
        take(&mut dcoh, Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp, meta_field, meta, line: lines[0], tag: 3 });
        assert_eq!((dcoh.own(lines[0]), dcoh.holders(lines[0])), (None, Some(Holders::Owner(0))), "{op:?}");
        take(&mut dcoh, answer(1));
        assert_eq!((dcoh.own(lines[0]), dcoh.holders(lines[0])), (None, Some(Holders::Owner(0))), "{op:?}");
        assert!(dcoh.own(lines[1]).is_some() && dcoh.is_idle(), "{op:?}");
    }
}

/// Mem*Fwd with a MetaValue that the request does not allow, or of the other kind, or with no request.
fn illegal_hdm_d() {
    let config = CoherenceConfig::default();
    for row in bias_tables::ROWS {
        for &op in row.opcodes {
            let start = bias_tables::starts(op)[0];
            let mut device = BiasDevice::<CacheLine>::new();
            device.preset(LINE, line_of(1), Bias::Host, start, (start != Copy4::I).then(|| line_of(1)));
            device.issue(&config, LINE, op, Some((line_of(5), WHOLE_LINE)), &mut AgentOutput::default());
            for opcode in [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd] {
                // Explicit-NoOp without extended metadata is refused by the table of requests before.
                for meta in META_VALUES.into_iter().filter(|meta| *meta != MetaValue::ExplicitNoOp) {
                    let legal =
                        row.served == bias_tables::Served::Forward(opcode) && row.grants.iter().any(|g| g.0 == meta);
                    if legal {
                        continue;
                    }
                    let mut got = device.clone();
                    let mut out = AgentOutput::default();
                    let (snp, meta_field) = (SnpType::NoOp, MetaField::Meta0State);
                    got.take(
                        &config,
                        0,
                        Msg::M2sReq { opcode, snp, meta_field, meta, line: LINE, tag: 0 },
                        0,
                        &mut out,
                    );
                    // Inside the device nothing is asked: the answer is to nobody.
                    let rule = if row.served == bias_tables::Served::Inside { "COH-IDS-03" } else { row.rule };
                    let found: Vec<_> = out.events.iter().map(|e| e.rule).collect();
                    assert_eq!(found, [rule], "{opcode:?} {meta:?} for {op:?}");
                    assert_eq!((got.memory(LINE), got.own(LINE)), (device.memory(LINE), device.own(LINE)), "{op:?}");
                }
            }
        }
    }
}

/// Every BIRsp to every BISnp.
fn illegal_back_invalidate() {
    let config = CoherenceConfig::default();
    let ops = [DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn];
    for (op, block) in ops.into_iter().flat_map(|op| [(op, false), (op, true)]) {
        let mut dcoh = Dcoh::<CacheLine>::new(&config, 1);
        for line in (0..2).map(LineAddr) {
            dcoh.preset(line, line_of(1), Holders::Owner(0));
        }
        let mut out = AgentOutput::default();
        match block {
            true => assert!(dcoh.issue_block(&config, LineAddr(1), op, &mut out)),
            false => dcoh.issue(&config, LINE, op, &mut out),
        }
        let [(0, Msg::S2mBisnp { opcode: snoop, bi_tag, .. })] = out.sends[..] else { panic!("{:?}", out.sends) };
        let illegal = |a| tables::check_answer(snoop, a).err().map(|rule| (a, rule));
        for (answer, rule) in (0..16).map(BirspOpcode).filter_map(illegal) {
            let mut got = dcoh.clone();
            let mut out = AgentOutput::default();
            got.take(&config, 0, Msg::M2sBirsp { opcode: answer, bi_tag, low_addr: 0 }, 0, &mut out);
            assert_eq!(out.events.iter().map(|e| e.rule).collect::<Vec<_>>(), [rule], "{answer:?} to {snoop:?}");
            assert_eq!(got, dcoh, "{answer:?} to {snoop:?}");
        }
    }
}

/// Every combination that the tables of §2.2, §3.2, §3.3 and §3.4 do not have, one at a time.
#[test]
fn scenario_coh_t12() {
    illegal_cxl_cache();
    let [legal, illegal] = illegal_cxl_mem();
    assert!(legal > 0 && illegal > 10 * legal, "{legal} legal, {illegal} illegal");
    illegal_hdm_d();
    illegal_back_invalidate();
}

/// 2 and 16 devices below one home. Every device counts its CQIDs from 0, so they are the same ones.
#[test]
fn scenario_coh_t13() {
    for devices in [2, 16] {
        let mut first = DeviceCache::<CacheLine>::new();
        let mut out = AgentOutput::default();
        first.issue(Op::RdOwn, LINE, None, &mut out);
        assert!(matches!(out.sends[..], [(_, Msg::D2hReq { cqid: 0, .. })]));
        runs(&[StressProtocol::Cache(devices)], 4, 20_000 * soak());
    }
}
