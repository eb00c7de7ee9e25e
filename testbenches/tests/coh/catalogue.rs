//! The scenarios COH-T of the catalogue, by number: `scenario_coh_t01` is COH-T01. COH-T10 stands beside the litmus shapes, COH-T11
//! in `c14`.

use super::cache_bench::{Op, explored};
use super::cache_explore::drops;
use super::stress::{runs, soak};
use scalepool::coherence::agent::{Agent, Out};
use scalepool::coherence::bias::device::{Bias, BiasDevice};
use scalepool::coherence::bias::system::{BiasSystem, Setup as BiasSetup};
use scalepool::coherence::bias::tables as bias_tables;
use scalepool::coherence::cache::device::{Bytes, Device};
use scalepool::coherence::cache::requests::{Kind, REQUESTS};
use scalepool::coherence::cache::state::{Answer, At};
use scalepool::coherence::cache::system::{CacheSystem, HINTED_REQUESTS, Setup};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{Content, Line, LineAddr, WHOLE_LINE};
use scalepool::coherence::explore::{Limits, Report, System, search};
use scalepool::coherence::mem::dcoh::{Dcoh, DeviceOp};
use scalepool::coherence::mem::filter::Holders;
use scalepool::coherence::mem::hdm_h::HdmH;
use scalepool::coherence::mem::host::{HostReq, MemHost, Want};
use scalepool::coherence::mem::system::{MemSystem, Setup as MemSetup};
use scalepool::coherence::mem::tables::{self, Copy4, Region};
use scalepool::coherence::message::Msg;
use scalepool::coherence::mutant::Mutant;
use scalepool::coherence::stress::{Protocol, Stress};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType,
};

const LINE: LineAddr = LineAddr(0);

fn clean<S: System>(start: &S, symmetry: bool) -> Report {
    let report = search(start, Limits { symmetry, ..Limits::default() });
    if let Some(v) = &report.violation {
        panic!("{}\n{}", v.event, scalepool::coherence::chart::Chart::of(v).text());
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

/// The reads, writes and evicts of three devices; all of the size hints are in `cache_explore::three_devices_hinted`.
#[test]
fn scenario_coh_t02() {
    let menu: Vec<Op> =
        HINTED_REQUESTS.iter().copied().filter(|o| [Op::RdShared, Op::RdOwn, Op::DirtyEvict].contains(o)).collect();
    clean(&CacheSystem::new(Setup::free(drops(), 3, &menu)), true);
}

/// Two hosts, then three, on HDM-DB; wider menus are in `mem_explore`.
#[test]
fn scenario_coh_t03() {
    clean(&MemSystem::new(MemSetup::core(CoherenceConfig::default(), 2)), false);
    let requests = vec![HostReq::RD_ANY, HostReq::RD_SHARED];
    let setup = MemSetup {
        requests,
        write_backs: Vec::new(),
        wants: vec![Want::Store],
        ..MemSetup::core(CoherenceConfig::default(), 3)
    };
    clean(&MemSystem::new(setup), false);
}

/// Every operation of host and device on one line of HDM-D.
#[test]
fn scenario_coh_t04() {
    clean(&BiasSystem::new(BiasSetup::everything(CoherenceConfig::default())), false);
}

/// One mutant of each protocol; all of them, with the rule that each counterexample names, are in `cache_mutants` and
/// `mem_mutants`.
#[test]
fn scenario_coh_t05() {
    let of = |mutant| CoherenceConfig { mutant: Some(mutant), ..CoherenceConfig::default() };
    let limits = Limits { states: 400_000, symmetry: false };
    let cache = CacheSystem::new(Setup::free(of(Mutant::SharersNotSnooped), 2, HINTED_REQUESTS));
    let violation = search(&cache, limits).violation.expect("a counterexample");
    assert!(violation.event.rule.starts_with("COH-INV-"));
    let mem = MemSystem::new(MemSetup::core(of(Mutant::HolderSkipped), 2));
    assert!(search(&mem, limits).violation.is_some());
    let bias = BiasSystem::new(BiasSetup::everything(of(Mutant::BackFlipUnsnooped)));
    assert!(search(&bias, limits).violation.is_some());
}

/// Devices and hosts answer in any legal way, at random.
#[test]
fn scenario_coh_t06() {
    assert!(Stress::new(Protocol::Cache(4), 0, 0).config.alternatives);
    runs(&[Protocol::Cache(4), Protocol::HdmDb(3), Protocol::HdmD], 60, 60_000 * soak());
}

/// Ten thousand seeds of random delays, each to rest.
#[test]
fn scenario_coh_t07() {
    runs(&[Protocol::Cache(3), Protocol::HdmDb(3), Protocol::HdmD], 10_000, 600_000 * soak());
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
            let mut dcoh = Dcoh::<Line>::new(&config, 1);
            for line in (0..4).map(LineAddr) {
                dcoh.preset(line, Line::initial(line), Holders::Owner(0));
            }
            let mut out = Out::default();
            assert!(dcoh.issue_block(&config, LineAddr(enable), DeviceOp::ReadOwn, &mut out));
            let [(0, Msg::S2mBisnp { opcode, bi_tag, line })] = out.sends[..] else { panic!("{:?}", out.sends) };
            assert_eq!((opcode, line), (BisnpOpcode::BISnpInvBlk, LineAddr(enable)));
            (dcoh, bi_tag)
        };
        let answer = |dcoh: &mut Dcoh<Line>, opcode, bi_tag, low_addr| {
            let mut out = Out::default();
            dcoh.take(&config, 0, Msg::M2sBirsp { opcode, bi_tag, low_addr }, 0, &mut out);
            out.events.len()
        };
        let (mut dcoh, tag) = opened();
        assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspIBlk, tag, 0), 0);
        assert!(dcoh.is_idle() && dcoh.own(LineAddr(first)).is_some());
        assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspIBlk, tag, 0), 1, "a second time");
        for order in orders(count) {
            let (mut dcoh, tag) = opened();
            for (n, line) in order.iter().enumerate() {
                assert_eq!(dcoh.open_back_invalidates(), 1, "{order:?}");
                let low = first as u8 + *line as u8;
                assert_eq!(answer(&mut dcoh, BirspOpcode::BIRspI, tag, low), 0);
                if n + 1 < count {
                    assert!(answer(&mut dcoh, BirspOpcode::BIRspI, tag, low) > 0, "a line twice");
                    assert!(answer(&mut dcoh, BirspOpcode::BIRspIBlk, tag, 0) > 0, "a mix");
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
        let protocol = [Protocol::Cache(5), Protocol::HdmDb(4), Protocol::HdmD][(seed % 3) as usize];
        let stress = Stress::new(protocol, seed, seed * 7 % 113);
        let counts = stress.run().unwrap_or_else(|failure| panic!("{protocol:?}\n{failure}"));
        assert_eq!(counts.rests, 1);
    }
}

fn line_of(byte: u8) -> Line {
    Line([byte; 64])
}

/// CXL.cache requests from each stable state, and every H2D Rsp to each request.
fn illegal_cxl_cache() {
    let config = CoherenceConfig::default();
    for row in REQUESTS {
        for start in [At::I, At::S, At::E, At::M] {
            let mut device = Device::<Line>::new();
            device.preset(LINE, start, line_of(1));
            let bytes = (row.kind == Kind::Write)
                .then(|| Bytes { data: line_of(2), enables: if row.op == Op::WOWrInv { 1 } else { WHOLE_LINE } });
            let mut out = Out::default();
            let legal = match row.op {
                Op::CacheFlushed => start == At::I,
                _ => row.starts.iter().any(|(s, _)| *s == start),
            };
            let before = device.clone();
            assert_eq!(device.issue(row.op, LINE, bytes, &mut out), legal, "{:?} from {start:?}", row.op);
            if !legal {
                assert!(out.sends.is_empty() && device == before);
                continue;
            }
            for answer in Answer::ALL.iter().filter(|a| !row.answers.contains(a)) {
                let (opcode, state) = answer.code();
                let (mut got, before) = (device.clone(), device.clone());
                let mut out = Out::default();
                let rsp_data = state.map_or(0, |s| u16::from(s.0));
                got.take(&config, 0, Msg::H2dRsp { opcode, rsp_data, cqid: 0 }, 0, &mut out);
                assert!(!out.events.is_empty(), "{answer:?} to {:?}", row.op);
                assert!(got == before && out.sends.is_empty(), "{answer:?} to {:?}", row.op);
            }
        }
    }
}

const META_FIELDS: [MetaField; 2] = [MetaField::Meta0State, MetaField::NoOp];
const META_VALUES: [MetaValue; 3] = [MetaValue::Invalid, MetaValue::Any, MetaValue::Shared];

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
                    poison: false,
                    data: line_of(9),
                    enables: WHOLE_LINE,
                };
                let db = [
                    (req, tables::check_req(Region::HdmDb, opcode, field, value, snp).is_ok()),
                    (rwd, tables::rwd(Region::HdmDb, true, rwd_opcode, field, value, snp).is_ok()),
                ];
                for (msg, is_legal) in db {
                    if is_legal {
                        legal += 1;
                        continue;
                    }
                    illegal += 1;
                    let mut dcoh = Dcoh::<Line>::new(&config, 2);
                    dcoh.preset(LINE, line_of(1), Holders::Owner(1));
                    let before = dcoh.clone();
                    let mut out = Out::default();
                    dcoh.take(&config, 0, msg, 0, &mut out);
                    assert!(!out.events.is_empty(), "HDM-DB: {msg:?}");
                    assert_eq!(dcoh, before, "HDM-DB: {msg:?}");
                }
                let h = [
                    (req, tables::hdm_h_req(opcode, field, snp).is_ok()),
                    (rwd, tables::hdm_h_rwd(rwd_opcode, field, snp).is_ok()),
                ];
                for (msg, is_legal) in h {
                    if is_legal {
                        continue;
                    }
                    let mut device = HdmH::<Line>::new();
                    let before = device.clone();
                    let mut out = Out::default();
                    device.take(&config, 0, msg, 0, &mut out);
                    assert!(!out.events.is_empty() && out.sends.is_empty(), "HDM-H: {msg:?}");
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
            let mut host = MemHost::<Line>::new(0);
            host.preset(LINE, state, line_of(1));
            let before = host.clone();
            let mut out = Out::default();
            host.issue(LINE, req, Want::Nothing, &mut out);
            assert!(!out.events.is_empty() && out.sends.is_empty() && host == before, "{req:?} from {state:?}");
        }
    }
    [legal, illegal]
}

/// Mem*Fwd with a MetaValue that the request does not allow, or of the other kind, or with no request.
fn illegal_hdm_d() {
    let config = CoherenceConfig::default();
    for row in bias_tables::ROWS {
        for &op in row.opcodes {
            let start = bias_tables::starts(op)[0];
            let mut device = BiasDevice::<Line>::new();
            device.preset(LINE, line_of(1), Bias::Host, start, (start != Copy4::I).then(|| line_of(1)));
            device.issue(&config, LINE, op, Some((line_of(5), WHOLE_LINE)), &mut Out::default());
            for opcode in [M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd] {
                for meta in META_VALUES {
                    let legal =
                        row.served == bias_tables::Served::Forward(opcode) && row.grants.iter().any(|g| g.0 == meta);
                    if legal {
                        continue;
                    }
                    let mut got = device.clone();
                    let mut out = Out::default();
                    let (snp, meta_field) = (SnpType::NoOp, MetaField::Meta0State);
                    got.take(
                        &config,
                        0,
                        Msg::M2sReq { opcode, snp, meta_field, meta, line: LINE, tag: 0 },
                        0,
                        &mut out,
                    );
                    assert!(!out.events.is_empty(), "{opcode:?} {meta:?} for {op:?}");
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
        let mut dcoh = Dcoh::<Line>::new(&config, 1);
        for line in (0..2).map(LineAddr) {
            dcoh.preset(line, line_of(1), Holders::Owner(0));
        }
        let mut out = Out::default();
        match block {
            true => assert!(dcoh.issue_block(&config, LineAddr(1), op, &mut out)),
            false => dcoh.issue(&config, LINE, op, &mut out),
        }
        let [(0, Msg::S2mBisnp { opcode: snoop, bi_tag, .. })] = out.sends[..] else { panic!("{:?}", out.sends) };
        for answer in (0..16).map(BirspOpcode).filter(|a| tables::check_answer(snoop, *a).is_err()) {
            let mut got = dcoh.clone();
            let mut out = Out::default();
            got.take(&config, 0, Msg::M2sBirsp { opcode: answer, bi_tag, low_addr: 0 }, 0, &mut out);
            assert!(!out.events.is_empty(), "{answer:?} to {snoop:?}");
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
        let mut first = Device::<Line>::new();
        let mut out = Out::default();
        first.issue(Op::RdOwn, LINE, None, &mut out);
        assert!(matches!(out.sends[..], [(_, Msg::D2hReq { cqid: 0, .. })]));
        runs(&[Protocol::Cache(devices)], 8, 80_000 * soak());
    }
}
