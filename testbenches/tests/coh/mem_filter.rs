//! Rules of the snoop filter: back-invalidates, blocks, several hosts.

use super::mem_bench::*;
use super::mem_explore::clean;
use super::names::{names, takes_and};
use scalepool::coherence::agent::{Accept, Agent, AgentOutput};
use scalepool::coherence::config::{CoherenceConfig, WithoutBytes};
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::mem::options::{BlockAnswer, MemConfig};
use scalepool::coherence::mem::tables::{self, Copy4};
use scalepool::coherence::mem::{Dcoh, DeviceOp, Holders, HostAccess, HostReq, MemHost};
use scalepool::coherence::message::Msg;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::mem::{Setup, system as mem_system};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

#[test]
fn coh_sfi_01_p() {
    clean("1 filter entry", &mem_system(Setup::one_entry(CoherenceConfig::default())));
}

#[test]
fn coh_sfi_01_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::EntryLeavesEarly.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::one_entry(config)), "COH-SFI-01");
}

#[test]
fn coh_sfi_05_p() {
    answers_obey("COH-SFI-02");
}

#[test]
fn coh_sfi_05_n() {
    let config =
        CoherenceConfig { rules: CoherenceMutant::AnswerBeforeWriteDone.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-SFI-05");
}

#[test]
fn coh_sfi_06_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    let req = m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv);
    assert_eq!(dcoh.accepts(&config, 1, &req), Accept::Wait);
    let write = write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 2);
    assert_eq!(dcoh.accepts(&config, 0, &write), Accept::Take);
    assert_eq!(dcoh.accepts(&config, 0, &birsp(BirspOpcode::BIRspI, 0)), Accept::Take);
}

#[test]
fn coh_sfi_06_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::BisnpBlocksRwd.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-SFI-06");
    let config = CoherenceConfig { rules: CoherenceMutant::ReqServedUnderBisnp.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-SFI-06");
}

#[test]
fn coh_sfi_07_p() {
    let config = with(MemConfig { filter_sets: 1, filter_ways: 1, trackers: 2, ..MemConfig::default() });
    let mut dcoh = device(&config, 2, Holders::Owner(1));
    let other = Msg::M2sReq {
        opcode: M2sReqOpcode::MemRd,
        snp: SnpType::SnpInv,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Any,
        line: LineAddr(9),
        tag: 3,
    };
    assert_eq!(labels(&give(&mut dcoh, &config, 0, other)), ["BISnpInv"]);
    let third = Msg::M2sReq {
        opcode: M2sReqOpcode::MemRd,
        snp: SnpType::SnpInv,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Any,
        line: LineAddr(10),
        tag: 4,
    };
    assert_eq!(dcoh.accepts(&config, 0, &third), Accept::Wait);
    assert_eq!(labels(&give(&mut dcoh, &config, 1, birsp(BirspOpcode::BIRspI, 0))), ["CmpE", "MemData"]);
    assert_eq!((dcoh.holders(X), dcoh.filter().len()), (None, 1));
}

#[test]
fn coh_sfi_07_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::EntryLeavesEarly.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::one_entry(config)), "COH-SFI-07");
}

#[test]
fn coh_sfi_08_p() {
    clean("HDM-DB, 2 hosts", &mem_system(Setup::core(CoherenceConfig::default(), 2)));
}

#[test]
fn coh_sfi_08_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::M);
    give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    assert_eq!(rules(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X))), ["COH-SFI-08"]);
}

#[test]
fn coh_sfi_09_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Shared(IdSet::of_bits(1)));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&out), ["CmpE"]);
}

#[test]
fn coh_sfi_09_n() {
    let config = CoherenceConfig::default();
    // With a second sharer it has to be asked.
    let mut dcoh = device(&config, 2, Holders::Shared(IdSet::of_bits(3)));
    let upgrade = m2s(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv);
    let out = give(&mut dcoh, &config, 0, upgrade);
    assert_eq!((labels(&out), out.sends[0].0), (vec!["BISnpInv".to_owned()], 1));
    // Who holds nothing, and the requester itself, need not be: reported as needless.
    for asked in [0, 1] {
        let dcoh = device(&config, 2, Holders::Shared(IdSet::of_bits(1)));
        let found = takes_and(&config, &dcoh, (0, upgrade), |_, out| out.send(asked, bisnp(BisnpOpcode::BISnpInv, X)));
        assert_eq!(found, ["COH-SFI-09"], "host {asked}");
    }
}

#[test]
fn coh_sfi_10_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::S);
    issue(&mut host, HostReq::INV, HostAccess::Nothing);
    give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    assert_eq!((labels(&out), host.copy(X).data), (vec!["MemRd Any SnpInv".to_owned()], None));
}

#[test]
fn coh_sfi_10_n() {
    let config = CoherenceConfig {
        rules: CoherenceMutant::HostOldBytes.rules(),
        without_bytes: WithoutBytes::Write,
        ..CoherenceConfig::default()
    };
    names(&mem_system(Setup::core(config, 2)), "COH-SFI-10");
}

#[test]
fn coh_blk_01_p() {
    let config = CoherenceConfig::default();
    for (enable, lines) in [(1, 2), (2, 2), (3, 4)] {
        let mut host = MemHost::<CacheLine>::new(0);
        let out = give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInvBlk, LineAddr(8 | enable)));
        assert_eq!((rules(&out), out.sends.len()), (vec![], lines));
    }
}

#[test]
fn coh_blk_01_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::S);
    let out = give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInvBlk, X));
    assert_eq!((rules(&out), out.sends.len()), (vec!["COH-BLK-01"], 0));
    assert!(!Dcoh::<CacheLine>::new(&config, 1).issue_block(
        &config,
        X,
        DeviceOp::ReadOwn,
        &mut AgentOutput::default()
    ));
}

#[test]
fn coh_blk_02_p() {
    let config = CoherenceConfig::default();
    let splits: [&[(BirspOpcode, u8)]; 3] = [
        &[(BirspOpcode::BIRspIBlk, 0)],
        &[(BirspOpcode::BIRspI, 0), (BirspOpcode::BIRspI, 1)],
        &[(BirspOpcode::BIRspI, 1), (BirspOpcode::BIRspI, 0)],
    ];
    for split in splits {
        let mut dcoh = Dcoh::new(&config, 2);
        for line in [8, 9].map(LineAddr) {
            dcoh.preset(line, bytes(1), Holders::Owner(0));
        }
        let mut out = AgentOutput::default();
        assert!(dcoh.issue_block(&config, LineAddr(8 | 1), DeviceOp::ReadOwn, &mut out));
        for &(answer, low) in split {
            assert_eq!(dcoh.open_back_invalidates(), 1);
            assert!(give(&mut dcoh, &config, 0, birsp(answer, low)).events.is_empty());
        }
        assert!(dcoh.is_idle() && dcoh.own(LineAddr(9)).is_some());
    }
}

#[test]
fn coh_blk_02_n() {
    let config = CoherenceConfig::default();
    let mut dcoh = Dcoh::new(&config, 2);
    for line in [8, 9].map(LineAddr) {
        dcoh.preset(line, bytes(1), Holders::Owner(0));
    }
    let mut out = AgentOutput::default();
    assert!(dcoh.issue_block(&config, LineAddr(8 | 1), DeviceOp::ReadOwn, &mut out));
    give(&mut dcoh, &config, 0, birsp(BirspOpcode::BIRspI, 0));
    for (answer, low) in [(BirspOpcode::BIRspI, 0), (BirspOpcode::BIRspIBlk, 0), (BirspOpcode::BIRspI, 2)] {
        assert_eq!(rules(&give(&mut dcoh, &config, 0, birsp(answer, low))), ["COH-BLK-02"]);
        assert_eq!(dcoh.open_back_invalidates(), 1, "the block stays open");
    }
}

#[test]
fn coh_blk_03_p() {
    let config = CoherenceConfig::default();
    let cases = [
        (DeviceOp::ReadOwn, &[BirspOpcode::BIRspIBlk][..]),
        (DeviceOp::ReadShared, &[BirspOpcode::BIRspIBlk, BirspOpcode::BIRspSBlk]),
        (DeviceOp::ReadOnce, &[BirspOpcode::BIRspIBlk, BirspOpcode::BIRspSBlk, BirspOpcode::BIRspEBlk]),
    ];
    for (op, answer) in cases.iter().flat_map(|(op, answers)| answers.iter().map(move |a| (*op, *a))) {
        let mut dcoh = Dcoh::new(&config, 2);
        for line in [8, 9].map(LineAddr) {
            dcoh.preset(line, bytes(1), Holders::Owner(0));
        }
        assert!(dcoh.issue_block(&config, LineAddr(8 | 1), op, &mut AgentOutput::default()));
        assert_eq!(rules(&give(&mut dcoh, &config, 0, birsp(answer, 0))), [""; 0], "{op:?}, {answer:?}");
        let kept = match answer {
            BirspOpcode::BIRspIBlk => None,
            BirspOpcode::BIRspSBlk => Some(Holders::Shared(IdSet::of_bits(1))),
            _ => Some(Holders::Owner(0)),
        };
        assert!(dcoh.is_idle() && dcoh.holders(LineAddr(9)) == kept, "{op:?}, {answer:?}");
    }
}

#[test]
fn coh_blk_03_n() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    assert_eq!(rules(&give(&mut dcoh, &config, 0, birsp(BirspOpcode::BIRspIBlk, 0))), ["COH-BLK-03"]);
    assert!(tables::check_answer(BisnpOpcode::BISnpInvBlk, BirspOpcode::BIRspSBlk).is_err());
}

#[test]
fn coh_blk_04_p() {
    let config = with(MemConfig { block_answer: BlockAnswer::Whole, ..MemConfig::default() });
    clean("blocks", &mem_system(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])));
}

#[test]
fn coh_blk_04_n() {
    let mut config = with(MemConfig { block_answer: BlockAnswer::Whole, ..MemConfig::default() });
    config.rules = CoherenceMutant::BlockAnswerEarly.rules();
    names(&mem_system(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])), "COH-BLK-04");
}

#[test]
fn coh_blk_05_p() {
    let config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    clean("blocks", &mem_system(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])));
}

#[test]
fn coh_blk_05_n() {
    let mut config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    config.rules = CoherenceMutant::BlockLineReleased.rules();
    names(&mem_system(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])), "COH-BLK-05");
}

#[test]
fn coh_mho_01_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 4, Holders::Shared(IdSet::of_bits(0b1110)));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(out.sends.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 3]);
    for host in [2, 1] {
        assert!(give(&mut dcoh, &config, host, birsp(BirspOpcode::BIRspI, 0)).sends.is_empty());
    }
    assert_eq!(labels(&give(&mut dcoh, &config, 3, birsp(BirspOpcode::BIRspI, 0))), ["CmpE", "MemData"]);
}

#[test]
fn coh_mho_01_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::HolderSkipped.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-MHO-01");
}

#[test]
fn coh_mho_02_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 4, Holders::Owner(2));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Shared), SnpType::SnpData));
    assert_eq!((labels(&out), out.sends[0].0), (vec!["BISnpData".to_owned()], 2));
    let mut dcoh = device(&config, 4, Holders::Shared(IdSet::of_bits(0b1110)));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Shared), SnpType::SnpData));
    assert_eq!(labels(&out), ["CmpS", "MemData"]);
}

#[test]
fn coh_mho_02_n() {
    // Sharers need not be asked to share.
    let config = CoherenceConfig::default();
    let dcoh = device(&config, 2, Holders::Shared(IdSet::of_bits(2)));
    let read = m2s(M2sReqOpcode::MemRd, Some(MetaValue::Shared), SnpType::SnpData);
    let found = takes_and(&config, &dcoh, (0, read), |_, out| out.send(1, bisnp(BisnpOpcode::BISnpData, X)));
    assert_eq!(found, ["COH-MHO-02"]);
    let config = CoherenceConfig { rules: CoherenceMutant::OwnerNotAsked.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-MHO-02");
}
