//! Rules of the bias flow of HDM-D.

use super::mem_bench::*;
use super::mem_explore::clean;
use super::names::names;
use scalepool::coherence::agent::{Accept, Agent, AgentOutput};
use scalepool::coherence::bias::Bias;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{LineAddr, WHOLE_LINE};
use scalepool::coherence::mem::options::MemConfig;
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::{HostAccess, HostReq};
use scalepool::coherence::message::Msg;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::bias::{Setup as BiasSetup, system as bias_system};
use scalepool_protocols::cxl::cxl256::code::{
    BisnpOpcode, D2hReqOpcode, D2hRspOpcode, GoState, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode,
    MetaValue, SnpType,
};
use std::collections::BTreeSet;

#[test]
fn coh_bia_01_p() {
    clean("HDM-D", &bias_system(BiasSetup::everything(CoherenceConfig::default())));
}

#[test]
fn coh_bia_01_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::LocalUseInHostBias.rules(), ..CoherenceConfig::default() };
    names(&bias_system(BiasSetup::everything(config)), "COH-BIA-01");
}

#[test]
fn coh_bia_08_p() {
    let config = CoherenceConfig::default();
    for (op, pull) in [
        (D2hReqOpcode::ItoMWr, "GO_WritePull"),
        (D2hReqOpcode::WrCur, "GO_WritePull"),
        (D2hReqOpcode::WrInv, "WritePull"),
    ] {
        let mut host = bias_host(Copy4::S);
        assert_eq!(labels(&give(&mut host, &config, 0, d2h(op))), [pull]);
        let data = Msg::D2hData { uqid: 0, bogus: false, data: bytes(2), enables: WHOLE_LINE };
        assert_eq!(labels(&give(&mut host, &config, 0, data)), ["MemWr Invalid SnpInv"]);
    }
}

/// Lines that are alike in their lowest 16 bits, and one above 256 KiB: each pull has a UQID of its own that fits in 12 bits,
/// and the data returns to its line. When all UQIDs are in use, requests wait.
#[test]
fn pulls_of_lines_far_apart_keep_their_names() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::I);
    let lines = [5, 5 + (1 << 16), 4096].map(LineAddr);
    let mut pulls = Vec::new();
    for (cqid, line) in (0..).zip(lines) {
        let out = give(&mut host, &config, 0, Msg::D2hReq { opcode: D2hReqOpcode::ItoMWr, line, cqid });
        let [(_, Msg::H2dRsp { rsp_data, .. })] = out.sends[..] else { panic!("{:?}", labels(&out)) };
        assert!(rsp_data < 4096, "UQID {rsp_data}");
        pulls.push((line, rsp_data));
    }
    for (n, (line, uqid)) in pulls.into_iter().enumerate().rev() {
        let data = Msg::D2hData { uqid, bogus: false, data: bytes(n as u8), enables: WHOLE_LINE };
        let out = give(&mut host, &config, 0, data);
        let [(_, Msg::M2sRwd { line: to, data, .. })] = out.sends[..] else { panic!("{:?}", labels(&out)) };
        assert_eq!((to, data), (line, bytes(n as u8)));
    }
    let mut full = bias_host(Copy4::I);
    for n in 0..4096 {
        let ask = Msg::D2hReq { opcode: D2hReqOpcode::ItoMWr, line: LineAddr(n), cqid: n as u16 };
        assert_eq!(full.accepts(&config, 0, &ask), Accept::Take);
        give(&mut full, &config, 0, ask);
    }
    let ask = Msg::D2hReq { opcode: D2hReqOpcode::ItoMWr, line: LineAddr(4096), cqid: 0 };
    assert_eq!(full.accepts(&config, 0, &ask), Accept::Wait);
}

/// 4,096 requests of a device have all CQIDs; the next one waits for the end of one of them.
#[test]
fn a_device_without_a_cqid_waits() {
    let (config, mut device) = (CoherenceConfig::default(), bias_device(Copy4::I));
    let mut out = AgentOutput::default();
    for line in (0..4096).map(|n| LineAddr(100 + n)) {
        // It looks at all requests that are open.
        assert!(line.0 % 64 != 0 || device.can_issue(line, D2hReqOpcode::RdOwn));
        device.issue(&config, line, D2hReqOpcode::RdOwn, None, &mut out);
    }
    let cqids = out.sends.iter().map(|(_, m)| if let Msg::D2hReq { cqid, .. } = m { *cqid } else { 0 });
    assert_eq!(cqids.collect::<BTreeSet<_>>(), (0..4096).collect());
    assert!(out.events.is_empty() && !device.can_issue(LineAddr(5000), D2hReqOpcode::RdOwn));
}

#[test]
fn coh_bia_08_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::ItoMWr, Some((bytes(2), WHOLE_LINE)), &mut AgentOutput::default());
    let Msg::M2sReq { opcode, snp, meta_field, meta, line, .. } =
        m2s(M2sReqOpcode::MemWrFwd, Some(MetaValue::Invalid), SnpType::NoOp)
    else {
        return;
    };
    let wrong = Msg::M2sReq { opcode, snp, meta_field, meta, line, tag: CQID };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-BIA-08"]);
}

#[test]
fn coh_bia_09_p() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::M);
    let mut out = AgentOutput::default();
    device.issue(&config, X, D2hReqOpcode::DirtyEvict, None, &mut out);
    assert!(out.sends.is_empty() && device.memory(X) == bytes(5));
}

#[test]
fn coh_bia_09_n() {
    let config = CoherenceConfig::default();
    for op in [D2hReqOpcode::CleanEvict, D2hReqOpcode::CleanEvictNoData, D2hReqOpcode::DirtyEvict] {
        assert_eq!(rules(&give(&mut bias_host(Copy4::I), &config, 0, d2h(op))), ["COH-BIA-09"]);
    }
}

#[test]
fn coh_bia_12_p() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(D2hReqOpcode::RdOwn));
    assert_eq!(labels(&out), ["MemWr Invalid NoOp"]);
}

#[test]
fn coh_bia_12_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::FwdBeforeWriteDone.rules(), ..CoherenceConfig::default() };
    names(&bias_system(BiasSetup::everything(config)), "COH-BIA-12");
}

#[test]
fn coh_bia_13_p() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::M);
    let out = give(&mut device, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!((labels(&out), device.bias(X)), (vec!["CmpE".to_owned(), "MemData".to_owned()], Bias::Host));
    assert_eq!((device.own(X).0, out.sends[1].1.data()), (Copy4::I, Some(&bytes(5))));
}

#[test]
fn coh_bia_13_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::BackFlipUnsnooped.rules(), ..CoherenceConfig::default() };
    names(&bias_system(BiasSetup::everything(config)), "COH-BIA-13");
}

#[test]
fn coh_bia_14_p() {
    let config = with(MemConfig { flush_keeps_shared: true, ..MemConfig::default() });
    clean("HDM-D", &bias_system(BiasSetup::everything(config)));
}

#[test]
fn coh_bia_14_n() {
    let mut config = with(MemConfig { flush_keeps_shared: true, ..MemConfig::default() });
    config.rules = CoherenceMutant::FlushFlips.rules();
    names(&bias_system(BiasSetup::everything(config)), "COH-BIA-14");
}

#[test]
fn coh_bia_15_p() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut AgentOutput::default());
    let out = give(&mut device, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&out), ["CmpE", "MemData"]);
}

#[test]
fn coh_bia_15_n() {
    let config =
        CoherenceConfig { rules: CoherenceMutant::ReqWaitsForOwnRequest.rules(), ..CoherenceConfig::default() };
    names(&bias_system(BiasSetup::everything(config)), "COH-BIA-15");
}

#[test]
fn coh_bia_16_p() {
    let config = with(MemConfig { flip_by_go: true, ..MemConfig::default() });
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut AgentOutput::default());
    let go = Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: GoState::Exclusive.0.into(), cqid: CQID };
    let out = give(&mut device, &config, 0, go);
    assert_eq!((rules(&out), device.bias(X)), (vec![], Bias::Device));
}

#[test]
fn coh_bia_16_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut AgentOutput::default());
    let go = Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: GoState::Exclusive.0.into(), cqid: CQID };
    let out = give(&mut device, &config, 0, go);
    assert_eq!((rules(&out), device.bias(X)), (vec!["COH-BIA-16"], Bias::Host));
}

/// Every H2D Rsp to every request for own memory (`coherence` §2.2, §3.3): a read is refused by GO-Err, a RdCurr by data alone, a write that
/// the host would forward by GO_ERR_WritePull; the others are pulled. What is none of that is reported, and the request waits on.
#[test]
fn each_request_for_own_memory_has_its_own_h2d_rsp() {
    use D2hReqOpcode as Op;
    use H2dRspOpcode as Rsp;
    let config = CoherenceConfig::default();
    let legal = |op| match op {
        Op::RdShared | Op::RdAny | Op::RdOwn | Op::RdOwnNoData | Op::CLFlush => vec![(Rsp::GO, 4)],
        Op::WOWrInv | Op::WOWrInvF => vec![(Rsp::GO_ERR_WritePull, 0)],
        Op::ItoMWr | Op::WrCur => vec![(Rsp::GO_WritePull, 0), (Rsp::GO_ERR_WritePull, 0)],
        Op::WrInv => vec![(Rsp::WritePull, 0)],
        _ => vec![],
    };
    let requests = [
        Op::RdCurr,
        Op::RdShared,
        Op::RdAny,
        Op::RdOwn,
        Op::RdOwnNoData,
        Op::CLFlush,
        Op::WOWrInv,
        Op::WOWrInvF,
        Op::ItoMWr,
        Op::WrCur,
        Op::WrInv,
    ];
    let answers = (0..16).map(Rsp).flat_map(|opcode| (0..16).map(move |rsp_data| (opcode, rsp_data)));
    for (op, (opcode, rsp_data)) in requests.into_iter().flat_map(|op| answers.clone().map(move |answer| (op, answer)))
    {
        // RspData of a pull is a UQID.
        let is_legal = legal(op).iter().any(|(o, d)| *o == opcode && (opcode != Rsp::GO || *d == rsp_data));
        let mut device = bias_device(Copy4::I);
        device.issue(&config, X, op, Some((bytes(2), WHOLE_LINE)), &mut AgentOutput::default());
        let before = device.clone();
        let out = give(&mut device, &config, 0, Msg::H2dRsp { opcode, rsp_data, cqid: CQID });
        assert_eq!(out.events.is_empty(), is_legal, "{opcode:?} {rsp_data} to {op:?}");
        assert!(is_legal || device == before && out.sends.is_empty(), "{opcode:?} {rsp_data} to {op:?}");
    }
    // Behind its data a WrInv ends by GO-I or GO-Err.
    for rsp_data in 0..16 {
        let mut device = bias_device(Copy4::I);
        device.issue(&config, X, Op::WrInv, Some((bytes(2), WHOLE_LINE)), &mut AgentOutput::default());
        give(&mut device, &config, 0, Msg::H2dRsp { opcode: Rsp::WritePull, rsp_data: 3, cqid: CQID });
        let out = give(&mut device, &config, 0, Msg::H2dRsp { opcode: Rsp::GO, rsp_data, cqid: CQID });
        let ends = [GoState::Invalid.0, GoState::Error.0].contains(&(rsp_data as u8));
        assert_eq!((out.events.is_empty(), device.is_pending(X)), (ends, !ends), "GO {rsp_data}");
    }
}

#[test]
fn coh_snp_17_p() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::M);
    let before = device.clone();
    let out = give(&mut device, &config, 0, Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line: X, uqid: 3 });
    assert_eq!(labels(&out), ["RspIHitI"]);
    assert!(device == before);
}

#[test]
fn coh_snp_17_n() {
    let config = CoherenceConfig::default();
    let wrong = Msg::D2hRsp { opcode: D2hRspOpcode::RspIFwdM, uqid: 3 };
    assert_eq!(rules(&give(&mut bias_host(Copy4::I), &config, 0, wrong)), ["COH-SNP-17"]);
}

#[test]
fn coh_ids_03_p() {
    req_obeys("COH-MEM-20");
    // BIConflict has the Tag of the request that it is about.
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::SPEC_RD, HostAccess::Nothing);
    let asked = issue(&mut host, HostReq::RD_ANY, HostAccess::Store);
    let Msg::M2sReq { tag: of_request, .. } = asked.sends[0].1 else { panic!("a request") };
    let out = give(&mut host, &CoherenceConfig::default(), 0, bisnp(BisnpOpcode::BISnpInv, X));
    assert!(
        matches!(out.sends[..], [(0, Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, tag, .. })] if tag == of_request)
    );
}

#[test]
fn coh_ids_03_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut AgentOutput::default());
    let Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } =
        m2s(M2sReqOpcode::MemRdFwd, Some(MetaValue::Invalid), SnpType::NoOp)
    else {
        return;
    };
    let wrong = Msg::M2sReq { opcode, snp, meta_field, meta, line, tag: tag + CQID + 1 };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-IDS-03"]);
}
