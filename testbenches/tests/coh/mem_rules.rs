//! Rules of CXL.mem and of the bias flow, each obeyed and broken.

use super::mem_bench::*;
use super::mem_explore::{clean, explore};
use scalepool::coherence::agent::{Accept, Agent, Out};
use scalepool::coherence::bias::Bias;
use scalepool::coherence::bias::system::{BiasSystem, Setup as BiasSetup};
use scalepool::coherence::config::{CoherenceConfig, WithoutBytes};
use scalepool::coherence::content::{Line, LineAddr, WHOLE_LINE};
use scalepool::coherence::explore::System;
use scalepool::coherence::mem::options::{BlockAnswer, MemConfig};
use scalepool::coherence::mem::system::{MemSystem, Setup};
use scalepool::coherence::mem::tables::{self, Copy4, REQ_ROWS};
use scalepool::coherence::mem::{Dcoh, DeviceOp, Holders, HostReq, MemHost, Want};
use scalepool::coherence::message::Msg;
use scalepool::coherence::mutant::Mutant;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, GoState, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// The exploration finds that a rule is off.
fn finds<S: System>(name: &str, start: &S, by: &[&str]) {
    let violation = explore(name, start).violation.unwrap_or_else(|| panic!("{name} lives"));
    assert!(by.contains(&violation.event.rule), "{name}: {}", violation.event);
}

#[test]
fn coh_mem_01_p() {
    let config = CoherenceConfig::default();
    for (meta, kept) in [(Copy4::I, None), (Copy4::S, Some(Holders::Shared(1))), (Copy4::E, Some(Holders::Owner(0)))] {
        let (mut from, mut to) = (host(Copy4::M), device(&config, 2, Holders::Owner(0)));
        let mut out = Out::default();
        from.write_back(X, meta, &mut out);
        let (_, msg) = out.sends.remove(0);
        give(&mut to, &config, 0, msg);
        assert_eq!((from.copy(X).state, to.holders(X)), (meta, kept));
    }
}

#[test]
fn coh_mem_01_n() {
    let config = CoherenceConfig::default();
    // A host that keeps more than it said: its next write back is not believed.
    let mut to = device(&config, 2, Holders::Owner(0));
    give(&mut to, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 2));
    let out = give(&mut to, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 3));
    assert_eq!((rules(&out), to.memory(X)), (vec!["COH-MEM-42"], bytes(2)));
}

#[test]
fn coh_mem_02_p() {
    let config = CoherenceConfig::default();
    for (req, left) in [(HostReq::RD_ANY, Copy4::I), (HostReq::RD_SHARED, Copy4::S), (HostReq::RD_NOOP_CUR, Copy4::M)] {
        let mut dcoh = device(&config, 2, Holders::Shared(0));
        dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
        dcoh.store(X, &bytes(6), WHOLE_LINE, &mut Out::default());
        let out = give(&mut dcoh, &config, 0, m2s(req.opcode, req.meta, req.snp));
        let data = out.sends.iter().find_map(|(_, m)| m.data().copied());
        assert_eq!((dcoh.own(X).map_or(Copy4::I, |o| o.0), data), (left, Some(bytes(6))));
    }
}

#[test]
fn coh_mem_02_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::BackFlipUnsnooped), ..CoherenceConfig::default() };
    let report = explore("HDM-D", &BiasSystem::new(BiasSetup::everything(config)));
    assert!(report.violation.is_some(), "a cache that keeps its copy is found");
}

#[test]
fn coh_mem_03_p() {
    let stored = with(MemConfig { meta_stored: true, ..MemConfig::default() });
    for config in [stored, CoherenceConfig::default()] {
        let mut dcoh = device(&config, 2, Holders::Shared(0));
        give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
        let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, None, SnpType::NoOp));
        let Some((_, Msg::S2mNdr { meta_field, meta, .. })) = out.sends.first() else { panic!("no NDR") };
        let expected = (MetaField::Meta0State, MetaValue::Any);
        let none = (MetaField::NoOp, MetaValue::Invalid);
        assert_eq!((*meta_field, *meta), if config.mem.meta_stored { expected } else { none });
    }
}

#[test]
fn coh_mem_03_n() {
    let config = CoherenceConfig::default();
    let mut from = host(Copy4::M);
    let mut out = Out::default();
    from.write_back(X, Copy4::I, &mut out);
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("no write") };
    let before = from.clone();
    let (meta_field, meta) = (MetaField::Meta0State, MetaValue::Any);
    let wrong = Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag, devload: DevLoad(0) };
    let out = give(&mut from, &config, 0, wrong);
    assert_eq!(rules(&out), ["COH-MEM-03"]);
    assert!(from == before && out.sends.is_empty());
    // Our device does not send it, whatever it stores.
    let config = with(MemConfig { meta_stored: true, ..MemConfig::default() });
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Any), SnpType::NoOp, 2));
    assert!(matches!(out.sends[..], [(0, Msg::S2mNdr { meta_field: MetaField::NoOp, .. })]));
}

#[test]
fn coh_mem_04_p() {
    req_obeys("COH-MEM-04");
}

#[test]
fn coh_mem_04_n() {
    req_breaks("COH-MEM-04");
}

#[test]
fn coh_mem_05_p() {
    req_obeys("COH-MEM-05");
}

#[test]
fn coh_mem_05_n() {
    req_breaks("COH-MEM-05");
}

#[test]
fn coh_mem_06_p() {
    req_obeys("COH-MEM-06");
}

#[test]
fn coh_mem_06_n() {
    req_breaks("COH-MEM-06");
}

#[test]
fn coh_mem_07_p() {
    req_obeys("COH-MEM-07");
}

#[test]
fn coh_mem_07_n() {
    req_breaks("COH-MEM-07");
}

#[test]
fn coh_mem_08_p() {
    req_obeys("COH-MEM-08");
}

#[test]
fn coh_mem_08_n() {
    req_breaks("COH-MEM-08");
}

#[test]
fn coh_mem_09_p() {
    req_obeys("COH-MEM-09");
}

#[test]
fn coh_mem_09_n() {
    req_breaks("COH-MEM-09");
}

#[test]
fn coh_mem_10_p() {
    req_obeys("COH-MEM-10");
}

#[test]
fn coh_mem_10_n() {
    req_breaks("COH-MEM-10");
}

#[test]
fn coh_mem_11_p() {
    req_obeys("COH-MEM-11");
}

#[test]
fn coh_mem_11_n() {
    req_breaks("COH-MEM-11");
}

#[test]
fn coh_mem_12_p() {
    req_obeys("COH-MEM-12");
}

#[test]
fn coh_mem_12_n() {
    req_breaks("COH-MEM-12");
}

#[test]
fn coh_mem_13_p() {
    req_obeys("COH-MEM-13");
}

#[test]
fn coh_mem_13_n() {
    req_breaks("COH-MEM-13");
}

#[test]
fn coh_mem_14_p() {
    req_obeys("COH-MEM-14");
}

#[test]
fn coh_mem_14_n() {
    req_breaks("COH-MEM-14");
}

#[test]
fn coh_mem_15_p() {
    req_obeys("COH-MEM-15");
}

#[test]
fn coh_mem_15_n() {
    req_breaks("COH-MEM-15");
}

#[test]
fn coh_mem_16_p() {
    req_obeys("COH-MEM-16");
}

#[test]
fn coh_mem_16_n() {
    req_breaks("COH-MEM-16");
}

#[test]
fn coh_mem_17_p() {
    req_obeys("COH-MEM-17");
}

#[test]
fn coh_mem_17_n() {
    req_breaks("COH-MEM-17");
}

#[test]
fn coh_mem_18_p() {
    req_obeys("COH-MEM-18");
}

#[test]
fn coh_mem_18_n() {
    req_breaks("COH-MEM-18");
}

#[test]
fn coh_mem_19_p() {
    req_obeys("COH-MEM-19");
}

#[test]
fn coh_mem_19_n() {
    req_breaks("COH-MEM-19");
}

#[test]
fn coh_mem_20_p() {
    req_obeys("COH-MEM-20");
}

#[test]
fn coh_mem_20_n() {
    req_breaks("COH-MEM-20");
}

#[test]
fn coh_mem_21_p() {
    write_obeys("COH-MEM-21");
}

#[test]
fn coh_mem_21_n() {
    write_breaks("COH-MEM-25");
}

#[test]
fn coh_mem_22_p() {
    write_obeys("COH-MEM-22");
}

#[test]
fn coh_mem_22_n() {
    write_breaks("COH-MEM-25");
}

#[test]
fn coh_mem_23_p() {
    write_obeys("COH-MEM-23");
}

#[test]
fn coh_mem_23_n() {
    write_breaks("COH-MEM-26");
}

#[test]
fn coh_mem_24_p() {
    write_obeys("COH-MEM-24");
}

#[test]
fn coh_mem_24_n() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Shared(2));
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::SnpInv, 9));
    assert_eq!((rules(&out), dcoh.memory(X)), (vec!["COH-MEM-45"], bytes(1)));
}

#[test]
fn coh_mem_25_p() {
    write_obeys("COH-MEM-21");
    write_obeys("COH-MEM-22");
}

#[test]
fn coh_mem_25_n() {
    write_breaks("COH-MEM-25");
}

#[test]
fn coh_mem_26_p() {
    write_obeys("COH-MEM-23");
    write_obeys("COH-MEM-24");
}

#[test]
fn coh_mem_26_n() {
    write_breaks("COH-MEM-26");
}

#[test]
fn coh_mem_27_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0));
    assert_eq!((rules(&out), labels(&out)), (vec![], vec!["BIConflictAck".to_owned()]));
}

#[test]
fn coh_mem_27_n() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::BIConflict, Some(MetaValue::Any), SnpType::NoOp, 0));
    assert_eq!((rules(&out), out.sends.len()), (vec!["COH-MEM-27"], 0));
}

#[test]
fn coh_mem_28_p() {
    hdm_h_obeys("COH-MEM-34");
}

#[test]
fn coh_mem_28_n() {
    write_breaks("COH-MEM-28");
}

#[test]
fn coh_mem_29_p() {
    hdm_h_obeys("COH-MEM-29");
}

#[test]
fn coh_mem_29_n() {
    hdm_h_breaks("COH-MEM-29");
}

#[test]
fn coh_mem_30_p() {
    hdm_h_obeys("COH-MEM-30");
}

#[test]
fn coh_mem_30_n() {
    hdm_h_breaks("COH-MEM-30");
}

#[test]
fn coh_mem_31_p() {
    hdm_h_obeys("COH-MEM-31");
}

#[test]
fn coh_mem_31_n() {
    hdm_h_breaks("COH-MEM-31");
}

#[test]
fn coh_mem_32_p() {
    hdm_h_obeys("COH-MEM-32");
}

#[test]
fn coh_mem_32_n() {
    hdm_h_breaks("COH-MEM-32");
}

#[test]
fn coh_mem_33_p() {
    hdm_h_obeys("COH-MEM-33");
}

#[test]
fn coh_mem_33_n() {
    hdm_h_breaks("COH-MEM-33");
}

#[test]
fn coh_mem_34_p() {
    hdm_h_obeys("COH-MEM-34");
}

#[test]
fn coh_mem_34_n() {
    hdm_h_breaks("COH-MEM-34");
}

#[test]
fn coh_mem_35_p() {
    (29..=34).for_each(|i| hdm_h_obeys(&format!("COH-MEM-{i}")));
}

#[test]
fn coh_mem_35_n() {
    hdm_h_breaks("COH-MEM-35");
}

#[test]
fn coh_mem_36_p() {
    let config = outside();
    let mut dcoh = device(&config, 2, Holders::Shared(0));
    let read = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&read), ["MemDataNXM"]);
    assert_eq!(read.sends[0].1.data(), Some(&bytes(0xff)));
    let inv = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv));
    let wr = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 3));
    assert_eq!((labels(&inv), labels(&wr)), (vec!["Cmp".to_owned()], vec!["Cmp".to_owned()]));
    // The host takes the one answer as the end: nothing is cached.
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Nothing);
    give(&mut host, &config, 0, read.sends[0].1);
    assert!(host.is_idle() && host.copy(X).state == Copy4::I);
}

#[test]
fn coh_mem_36_n() {
    let config = outside();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Nothing);
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    let mut dcoh = device(&config, 2, Holders::Shared(0));
    let read = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(rules(&give(&mut host, &config, 0, read.sends[0].1)), ["COH-MEM-36"]);
}

#[test]
fn coh_mem_37_p() {
    issue_obeys("COH-MEM-37");
}

#[test]
fn coh_mem_37_n() {
    issue_breaks("COH-MEM-37");
}

#[test]
fn coh_mem_38_p() {
    issue_obeys("COH-MEM-38");
}

#[test]
fn coh_mem_38_n() {
    issue_breaks("COH-MEM-38");
}

#[test]
fn coh_mem_39_p() {
    issue_obeys("COH-MEM-39");
}

#[test]
fn coh_mem_39_n() {
    issue_breaks("COH-MEM-39");
}

#[test]
fn coh_mem_40_p() {
    issue_obeys("COH-MEM-40");
}

#[test]
fn coh_mem_40_n() {
    issue_breaks("COH-MEM-40");
}

#[test]
fn coh_mem_41_p() {
    issue_obeys("COH-MEM-41");
}

#[test]
fn coh_mem_41_n() {
    issue_breaks("COH-MEM-41");
}

#[test]
fn coh_mem_42_p() {
    issue_obeys("COH-MEM-42");
}

#[test]
fn coh_mem_42_n() {
    issue_breaks("COH-MEM-42");
}

#[test]
fn coh_mem_43_p() {
    issue_obeys("COH-MEM-43");
}

#[test]
fn coh_mem_43_n() {
    issue_breaks("COH-MEM-43");
}

/// Every request that a core could name, with every SnpType: what is a row leaves, and nothing else does.
#[test]
fn a_host_sends_rows_of_the_table_alone() {
    let metas = [None, Some(MetaValue::Invalid), Some(MetaValue::Any), Some(MetaValue::Shared)];
    let snps = [SnpType::NoOp, SnpType::SnpData, SnpType::SnpCur, SnpType::SnpInv];
    let opcodes = REQ_ROWS.iter().flat_map(|r| r.opcodes).filter(|o| !o.name().is_some_and(|n| n.ends_with("Fwd")));
    let (mut legal, mut illegal) = (0, 0);
    let combinations = opcodes.flat_map(|&o| metas.iter().map(move |&m| (o, m)));
    for (opcode, meta, snp) in combinations.flat_map(|(o, m)| snps.map(|s| (o, m, s))) {
        let row =
            REQ_ROWS.iter().find(|r| r.opcodes.contains(&opcode) && (r.meta_ignored || r.meta == meta) && r.snp == snp);
        let req = HostReq { opcode, meta, snp };
        for state in [Copy4::I, Copy4::S] {
            let mut host = host(state);
            let out = issue(&mut host, req, Want::Nothing);
            match row {
                None => {
                    illegal += 1;
                    assert!(out.sends.is_empty() && rules(&out).len() == 1, "{req:?}: {:?}", rules(&out));
                    // The rule is the row of the same opcode that comes nearest.
                    let near = REQ_ROWS.iter().find(|r| r.rule == rules(&out)[0]).expect("a row of a request");
                    assert!(near.opcodes.contains(&opcode), "{req:?}: {}", near.rule);
                }
                Some(_) => legal += usize::from(out.events.is_empty()),
            }
        }
    }
    assert!(legal > 20 && illegal > 100, "{legal} {illegal}");
    // On HDM-D there is no MemClnEvct.
    let mut of_hdm_d = bias_host(Copy4::S);
    assert!(!of_hdm_d.mem.can_issue(X, HostReq::CLN_EVCT) && of_hdm_d.mem.can_issue(X, HostReq::RD_ANY));
    let out = issue(&mut of_hdm_d.mem, HostReq::CLN_EVCT, Want::Nothing);
    assert_eq!((rules(&out), out.sends.len()), (vec!["COH-MEM-18"], 0));
}

#[test]
fn coh_mem_44_p() {
    clean("HDM-DB, 2 hosts", &MemSystem::new(Setup::core(CoherenceConfig::default(), 2)));
}

#[test]
fn coh_mem_44_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::AnswerBeforeWriteDone), ..CoherenceConfig::default() };
    finds("AnswerBeforeWriteDone", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-02", "COH-MEM-42"]);
}

#[test]
fn coh_mem_45_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    let mut dcoh = device(&config, 2, Holders::Shared(0));
    let asked = issue(&mut host, HostReq::RD_ANY, Want::Store);
    let granted = give(&mut dcoh, &config, 0, asked.sends[0].1);
    granted.sends.iter().for_each(|(_, m)| drop(give(&mut host, &config, 0, *m)));
    let mut out = Out::default();
    assert!(host.store(&config, X, bytes(4), WHOLE_LINE, &mut out));
    host.write_back(X, Copy4::I, &mut out);
    give(&mut dcoh, &config, 0, out.sends[0].1);
    assert_eq!(dcoh.memory(X), bytes(4));
}

#[test]
fn coh_mem_45_n() {
    let config = CoherenceConfig::default();
    let mut out = Out::default();
    host(Copy4::I).write_unowned(X, bytes(4), WHOLE_LINE, &mut out);
    let mut dcoh = device(&config, 2, Holders::Shared(0));
    let answer = give(&mut dcoh, &config, 0, out.sends[0].1);
    assert_eq!((rules(&answer), dcoh.memory(X)), (vec!["COH-MEM-45"], bytes(1)));
}

#[test]
fn coh_mem_46_p() {
    let config = with(MemConfig { cmp_m: true, ..MemConfig::default() });
    let mut dcoh = device(&config, 2, Holders::Shared(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    dcoh.store(X, &bytes(6), WHOLE_LINE, &mut Out::default());
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&out), ["CmpM", "MemData"]);
    assert_eq!(dcoh.memory(X), bytes(1), "dirty data went to the host alone");
}

#[test]
fn coh_mem_46_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Nothing);
    assert_eq!(rules(&give(&mut host, &config, 0, ndr(NdrOpcode::CmpM, TAG))), ["COH-MEM-46"]);
    let config = CoherenceConfig { mutant: Some(Mutant::HolderSkipped), ..CoherenceConfig::default() };
    finds("HolderSkipped", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-01", "COH-INV-02", "COH-INV-04"]);
}

#[test]
fn coh_mem_47_p() {
    let config = CoherenceConfig::default();
    for data_first in [false, true] {
        let mut host = host(Copy4::I);
        issue(&mut host, HostReq::RD_ANY, Want::Nothing);
        let mut two = [ndr(NdrOpcode::CmpE, TAG), drs(TAG, 3)];
        if data_first {
            two.reverse();
        }
        give(&mut host, &config, 0, two[0]);
        assert_eq!(host.copy(X).state, Copy4::I);
        give(&mut host, &config, 0, two[1]);
        assert_eq!((host.copy(X).state, host.copy(X).data), (Copy4::E, Some(bytes(3))));
    }
}

#[test]
fn coh_mem_47_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Nothing);
    give(&mut host, &config, 0, drs(TAG, 3));
    assert_eq!(rules(&give(&mut host, &config, 0, drs(TAG, 3))), ["COH-MEM-47"]);
}

#[test]
fn coh_sfi_01_p() {
    clean("1 filter entry", &MemSystem::new(Setup::one_entry(CoherenceConfig::default())));
}

#[test]
fn coh_sfi_01_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::EntryLeavesEarly), ..CoherenceConfig::default() };
    finds("EntryLeavesEarly", &MemSystem::new(Setup::one_entry(config)), &["COH-INV-12"]);
}

#[test]
fn coh_sfi_02_p() {
    answers_obey("COH-SFI-02");
}

#[test]
fn coh_sfi_02_n() {
    answers_break("COH-SFI-02");
}

#[test]
fn coh_sfi_03_p() {
    answers_obey("COH-SFI-03");
}

#[test]
fn coh_sfi_03_n() {
    answers_break("COH-SFI-03");
}

#[test]
fn coh_sfi_04_p() {
    answers_obey("COH-SFI-04");
}

#[test]
fn coh_sfi_04_n() {
    answers_break("COH-SFI-04");
}

#[test]
fn coh_sfi_05_p() {
    answers_obey("COH-SFI-02");
}

#[test]
fn coh_sfi_05_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::AnswerBeforeWriteDone), ..CoherenceConfig::default() };
    finds("AnswerBeforeWriteDone", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-02", "COH-MEM-42"]);
}

#[test]
fn coh_sfi_06_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    let req = m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv);
    assert_eq!(dcoh.accepts(&config, 1, &req), Accept::Wait);
    let write = write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 2);
    assert_eq!(dcoh.accepts(&config, 0, &write), Accept::Take);
    assert_eq!(dcoh.accepts(&config, 0, &birsp(BirspOpcode::BIRspI, 0)), Accept::Take);
}

#[test]
fn coh_sfi_06_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::BisnpBlocksRwd), ..CoherenceConfig::default() };
    finds("BisnpBlocksRwd", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-09"]);
    let config = CoherenceConfig { mutant: Some(Mutant::ReqServedUnderBisnp), ..CoherenceConfig::default() };
    finds(
        "ReqServedUnderBisnp",
        &MemSystem::new(Setup::core(config, 2)),
        &["COH-INV-01", "COH-INV-02", "COH-INV-03", "COH-INV-04"],
    );
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
    let config = CoherenceConfig { mutant: Some(Mutant::EntryLeavesEarly), ..CoherenceConfig::default() };
    finds("EntryLeavesEarly", &MemSystem::new(Setup::one_entry(config)), &["COH-INV-12"]);
}

#[test]
fn coh_sfi_08_p() {
    clean("HDM-DB, 2 hosts", &MemSystem::new(Setup::core(CoherenceConfig::default(), 2)));
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
    let mut dcoh = device(&config, 2, Holders::Shared(1));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&out), ["CmpE"]);
}

#[test]
fn coh_sfi_09_n() {
    let config = CoherenceConfig::default();
    // With a second sharer it has to be asked.
    let mut dcoh = device(&config, 2, Holders::Shared(3));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!((labels(&out), out.sends[0].0), (vec!["BISnpInv".to_owned()], 1));
}

#[test]
fn coh_sfi_10_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::S);
    issue(&mut host, HostReq::INV, Want::Nothing);
    give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    assert_eq!((labels(&out), host.copy(X).data), (vec!["MemRd Any SnpInv".to_owned()], None));
}

#[test]
fn coh_sfi_10_n() {
    let config = CoherenceConfig {
        mutant: Some(Mutant::HostOldBytes),
        without_bytes: WithoutBytes::Write,
        ..CoherenceConfig::default()
    };
    finds("HostOldBytes", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-02"]);
}

#[test]
fn coh_blk_01_p() {
    let config = CoherenceConfig::default();
    for (enable, lines) in [(1, 2), (2, 2), (3, 4)] {
        let mut host = MemHost::<Line>::new(0);
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
    assert!(!Dcoh::<Line>::new(&config, 1).issue_block(&config, X, DeviceOp::ReadOwn, &mut Out::default()));
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
        let mut out = Out::default();
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
    let mut out = Out::default();
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
        assert!(dcoh.issue_block(&config, LineAddr(8 | 1), op, &mut Out::default()));
        assert_eq!(rules(&give(&mut dcoh, &config, 0, birsp(answer, 0))), [""; 0], "{op:?}, {answer:?}");
        let kept = match answer {
            BirspOpcode::BIRspIBlk => None,
            BirspOpcode::BIRspSBlk => Some(Holders::Shared(1)),
            _ => Some(Holders::Owner(0)),
        };
        assert!(dcoh.is_idle() && dcoh.holders(LineAddr(9)) == kept, "{op:?}, {answer:?}");
    }
}

#[test]
fn coh_blk_03_n() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    assert_eq!(rules(&give(&mut dcoh, &config, 0, birsp(BirspOpcode::BIRspIBlk, 0))), ["COH-BLK-03"]);
    assert!(tables::check_answer(BisnpOpcode::BISnpInvBlk, BirspOpcode::BIRspSBlk).is_err());
}

#[test]
fn coh_blk_04_p() {
    let config = with(MemConfig { block_answer: BlockAnswer::Whole, ..MemConfig::default() });
    clean("blocks", &MemSystem::new(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])));
}

#[test]
fn coh_blk_04_n() {
    let mut config = with(MemConfig { block_answer: BlockAnswer::Whole, ..MemConfig::default() });
    config.mutant = Some(Mutant::BlockAnswerEarly);
    finds("BlockAnswerEarly", &MemSystem::new(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])), &["COH-BIC-11"]);
}

#[test]
fn coh_blk_05_p() {
    let config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    clean("blocks", &MemSystem::new(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])));
}

#[test]
fn coh_blk_05_n() {
    let mut config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    config.mutant = Some(Mutant::BlockLineReleased);
    finds("BlockLineReleased", &MemSystem::new(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])), &["COH-SFI-08"]);
}

#[test]
fn coh_bic_01_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Store);
    let out = give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    let [(0, Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, tag: TAG, line: X, .. })] = out.sends[..] else {
        panic!("{:?}", labels(&out))
    };
}

#[test]
fn coh_bic_01_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::ConflictOnReq), ..CoherenceConfig::default() };
    finds("ConflictOnReq", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-09"]);
}

#[test]
fn coh_bic_02_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0));
    assert_eq!(labels(&out), ["BIConflictAck"]);
}

#[test]
fn coh_bic_02_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::AckWithheld), ..CoherenceConfig::default() };
    finds("AckWithheld", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-09"]);
    let mut host = host(Copy4::S);
    let config = CoherenceConfig::default();
    assert_eq!(rules(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, 5))), ["COH-BIC-02"]);
}

#[test]
fn coh_bic_04_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Store);
    give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    assert!(give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG)).sends.is_empty());
    assert!(give(&mut host, &config, 0, drs(TAG, 3)).sends.is_empty(), "the access comes first");
    let mut out = Out::default();
    assert!(host.store(&config, X, bytes(4), WHOLE_LINE, &mut out));
    assert_eq!(labels(&out), ["MemWr Invalid NoOp"]);
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("a write") };
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag))), ["BIRspI"]);
}

#[test]
fn coh_bic_04_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::ConflictRowSwapped), ..CoherenceConfig::default() };
    finds("ConflictRowSwapped", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-01", "COH-INV-02", "COH-INV-04"]);
}

#[test]
fn coh_bic_05_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Store);
    give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    give(&mut host, &config, 0, drs(TAG, 3));
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    assert_eq!(host.copy(X).state, Copy4::E);
}

#[test]
fn coh_bic_05_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Store);
    // A completion between Ack and the answer to the write back cannot be: the device blocks the request.
    let mut dirty = crate::mem_bench::host(Copy4::M);
    issue(&mut dirty, HostReq::RD_ANY, Want::Nothing);
    give(&mut dirty, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    give(&mut dirty, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG));
    assert_eq!(rules(&give(&mut dirty, &config, 0, ndr(NdrOpcode::CmpE, TAG))), ["COH-BIC-03"]);
    assert_eq!(rules(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["COH-BIC-02"]);
}

#[test]
fn coh_bic_06_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::E);
    issue(&mut host, HostReq::CLN_EVCT, Want::Nothing);
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpData, X))), ["BIConflict Invalid NoOp"]);
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG));
    assert!(host.is_idle());
}

#[test]
fn coh_bic_06_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::E);
    issue(&mut host, HostReq::CLN_EVCT, Want::Nothing);
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpData, X))), ["BIConflict Invalid NoOp"]);
    assert_eq!(rules(&give(&mut host, &config, 0, drs(TAG, 1))), ["COH-MEM-47"], "an evict has no data");
}

#[test]
fn coh_bic_07_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::E);
    issue(&mut host, HostReq::CLN_EVCT, Want::Nothing);
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpData, X))), ["BIConflict Invalid NoOp"]);
    give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG));
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    assert!(host.is_idle());
}

#[test]
fn coh_bic_07_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::E);
    issue(&mut host, HostReq::CLN_EVCT, Want::Nothing);
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpData, X))), ["BIConflict Invalid NoOp"]);
    give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG));
    assert_eq!(rules(&give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG))), ["COH-IDS-01"]);
}

#[test]
fn coh_bic_08_p() {
    let config = CoherenceConfig::default();
    for (kept, snoop, answer) in [
        (Copy4::I, BisnpOpcode::BISnpData, "BIRspI"),
        (Copy4::S, BisnpOpcode::BISnpData, "BIRspS"),
        (Copy4::E, BisnpOpcode::BISnpCur, "BIRspE"),
    ] {
        let mut host = host(Copy4::M);
        host.write_back(X, kept, &mut Out::default());
        assert!(give(&mut host, &config, 0, bisnp(snoop, X)).sends.is_empty());
        assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG))), [answer]);
    }
}

#[test]
fn coh_bic_08_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::BisnpBlocksRwd), ..CoherenceConfig::default() };
    finds("BisnpBlocksRwd", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-09"]);
}

#[test]
fn coh_bic_09_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, Want::Store);
    give(&mut host, &config, 0, drs(TAG, 3));
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    host.store(&config, X, bytes(4), WHOLE_LINE, &mut Out::default());
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X))), ["MemWr Invalid NoOp"]);
}

#[test]
fn coh_bic_09_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::ConflictRowSwapped), ..CoherenceConfig::default() };
    finds("ConflictRowSwapped", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-01", "COH-INV-02", "COH-INV-04"]);
}

#[test]
fn coh_bic_10_p() {
    let config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    clean("blocks", &MemSystem::new(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])));
}

#[test]
fn coh_bic_10_n() {
    let mut config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    config.mutant = Some(Mutant::OneConflictForBlock);
    finds("OneConflictForBlock", &MemSystem::new(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])), &["COH-INV-09"]);
}

#[test]
fn coh_bic_11_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    assert!(give(&mut dcoh, &config, 0, write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0)).events.is_empty());
}

#[test]
fn coh_bic_11_n() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    let before = dcoh.clone();
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0));
    assert_eq!((rules(&out), labels(&out)), (vec!["COH-BIC-11"], vec!["BIConflictAck".to_owned()]));
    assert!(dcoh == before);
}

#[test]
fn coh_bic_12_p() {
    clean("HDM-DB, 2 hosts", &MemSystem::new(Setup::core(CoherenceConfig::default(), 2)));
}

#[test]
fn coh_bic_12_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::GrantNotUsed), ..CoherenceConfig::default() };
    finds("GrantNotUsed", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-10"]);
}

#[test]
fn coh_mho_01_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 4, Holders::Shared(0b1110));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(out.sends.iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 3]);
    for host in [2, 1] {
        assert!(give(&mut dcoh, &config, host, birsp(BirspOpcode::BIRspI, 0)).sends.is_empty());
    }
    assert_eq!(labels(&give(&mut dcoh, &config, 3, birsp(BirspOpcode::BIRspI, 0))), ["CmpE", "MemData"]);
}

#[test]
fn coh_mho_01_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::HolderSkipped), ..CoherenceConfig::default() };
    finds("HolderSkipped", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-01", "COH-INV-02", "COH-INV-04"]);
}

#[test]
fn coh_mho_02_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 4, Holders::Owner(2));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Shared), SnpType::SnpData));
    assert_eq!((labels(&out), out.sends[0].0), (vec!["BISnpData".to_owned()], 2));
    let mut dcoh = device(&config, 4, Holders::Shared(0b1110));
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Shared), SnpType::SnpData));
    assert_eq!(labels(&out), ["CmpS", "MemData"]);
}

#[test]
fn coh_mho_02_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::OwnerNotAsked), ..CoherenceConfig::default() };
    finds("OwnerNotAsked", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-01", "COH-INV-02"]);
}

#[test]
fn coh_bia_01_p() {
    clean("HDM-D", &BiasSystem::new(BiasSetup::everything(CoherenceConfig::default())));
}

#[test]
fn coh_bia_01_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::LocalUseInHostBias), ..CoherenceConfig::default() };
    finds("LocalUseInHostBias", &BiasSystem::new(BiasSetup::everything(config)), &["COH-INV-13"]);
}

#[test]
fn coh_bia_02_p() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(D2hReqOpcode::RdCurr));
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("the write back first") };
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
    assert_eq!(labels(&out), ["MemRdFwd Any NoOp"]);
}

#[test]
fn coh_bia_02_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdCurr, Some((bytes(2), WHOLE_LINE)), &mut Out::default());
    let before = device.clone();
    let wrong = Msg::M2sReq {
        opcode: M2sReqOpcode::MemWrFwd,
        snp: SnpType::NoOp,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Any,
        line: X,
        tag: CQID,
    };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-BIA-02"]);
    assert!(device == before);
}

#[test]
fn coh_bia_03_p() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(D2hReqOpcode::RdShared));
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("the write back first") };
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
    assert_eq!(labels(&out), ["MemRdFwd Shared NoOp"]);
}

#[test]
fn coh_bia_03_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdShared, Some((bytes(2), WHOLE_LINE)), &mut Out::default());
    let before = device.clone();
    let wrong = Msg::M2sReq {
        opcode: M2sReqOpcode::MemRdFwd,
        snp: SnpType::NoOp,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Any,
        line: X,
        tag: CQID,
    };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-BIA-03"]);
    assert!(device == before);
}

#[test]
fn coh_bia_04_p() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(D2hReqOpcode::RdAny));
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("the write back first") };
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
    assert_eq!(labels(&out), ["MemRdFwd Shared NoOp"]);
}

#[test]
fn coh_bia_04_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdAny, Some((bytes(2), WHOLE_LINE)), &mut Out::default());
    let before = device.clone();
    let wrong = Msg::M2sReq {
        opcode: M2sReqOpcode::MemRdFwd,
        snp: SnpType::NoOp,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Any,
        line: X,
        tag: CQID,
    };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-BIA-04"]);
    assert!(device == before);
}

#[test]
fn coh_bia_05_p() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(D2hReqOpcode::RdOwn));
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("the write back first") };
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
    assert_eq!(labels(&out), ["MemRdFwd Invalid NoOp"]);
}

#[test]
fn coh_bia_05_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, Some((bytes(2), WHOLE_LINE)), &mut Out::default());
    let before = device.clone();
    let wrong = Msg::M2sReq {
        opcode: M2sReqOpcode::MemRdFwd,
        snp: SnpType::NoOp,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Shared,
        line: X,
        tag: CQID,
    };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-BIA-05"]);
    assert!(device == before);
}

#[test]
fn coh_bia_06_p() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(D2hReqOpcode::CLFlush));
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("the write back first") };
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
    assert_eq!(labels(&out), ["MemRdFwd Invalid NoOp"]);
}

#[test]
fn coh_bia_06_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::CLFlush, Some((bytes(2), WHOLE_LINE)), &mut Out::default());
    let before = device.clone();
    let wrong = Msg::M2sReq {
        opcode: M2sReqOpcode::MemRdFwd,
        snp: SnpType::NoOp,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Shared,
        line: X,
        tag: CQID,
    };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-BIA-06"]);
    assert!(device == before);
}

#[test]
fn coh_bia_07_p() {
    let config = CoherenceConfig::default();
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(D2hReqOpcode::WOWrInvF));
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("the write back first") };
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
    assert_eq!(labels(&out), ["MemWrFwd Invalid NoOp"]);
}

#[test]
fn coh_bia_07_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::WOWrInvF, Some((bytes(2), WHOLE_LINE)), &mut Out::default());
    let before = device.clone();
    let wrong = Msg::M2sReq {
        opcode: M2sReqOpcode::MemWrFwd,
        snp: SnpType::NoOp,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Shared,
        line: X,
        tag: CQID,
    };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-BIA-07"]);
    assert!(device == before);
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
        let data = Msg::D2hData { uqid: X.0 as u16, bogus: false, poison: false, data: bytes(2), enables: WHOLE_LINE };
        assert_eq!(labels(&give(&mut host, &config, 0, data)), ["MemWr Invalid SnpInv"]);
    }
}

#[test]
fn coh_bia_08_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::ItoMWr, Some((bytes(2), WHOLE_LINE)), &mut Out::default());
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
    let mut out = Out::default();
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
    let config = CoherenceConfig { mutant: Some(Mutant::FwdBeforeWriteDone), ..CoherenceConfig::default() };
    finds("FwdBeforeWriteDone", &BiasSystem::new(BiasSetup::everything(config)), &["COH-INV-02"]);
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
    let config = CoherenceConfig { mutant: Some(Mutant::BackFlipUnsnooped), ..CoherenceConfig::default() };
    finds(
        "BackFlipUnsnooped",
        &BiasSystem::new(BiasSetup::everything(config)),
        &["COH-INV-01", "COH-INV-02", "COH-INV-13"],
    );
}

#[test]
fn coh_bia_14_p() {
    let config = with(MemConfig { flush_keeps_shared: true, ..MemConfig::default() });
    clean("HDM-D", &BiasSystem::new(BiasSetup::everything(config)));
}

#[test]
fn coh_bia_14_n() {
    let mut config = with(MemConfig { flush_keeps_shared: true, ..MemConfig::default() });
    config.mutant = Some(Mutant::FlushFlips);
    finds("FlushFlips", &BiasSystem::new(BiasSetup::everything(config)), &["COH-INV-04", "COH-INV-13"]);
}

#[test]
fn coh_bia_15_p() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut Out::default());
    let out = give(&mut device, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&out), ["CmpE", "MemData"]);
}

#[test]
fn coh_bia_15_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::ReqWaitsForOwnRequest), ..CoherenceConfig::default() };
    finds("ReqWaitsForOwnRequest", &BiasSystem::new(BiasSetup::everything(config)), &["COH-INV-09"]);
}

#[test]
fn coh_bia_16_p() {
    let config = with(MemConfig { flip_by_go: true, ..MemConfig::default() });
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut Out::default());
    let go = Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: GoState::Exclusive.0.into(), cqid: CQID };
    let out = give(&mut device, &config, 0, go);
    assert_eq!((rules(&out), device.bias(X)), (vec![], Bias::Device));
}

#[test]
fn coh_bia_16_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut Out::default());
    let go = Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: GoState::Exclusive.0.into(), cqid: CQID };
    let out = give(&mut device, &config, 0, go);
    assert_eq!((rules(&out), device.bias(X)), (vec!["COH-BIA-16"], Bias::Host));
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
    coh_bic_01_p();
}

#[test]
fn coh_ids_03_n() {
    let config = CoherenceConfig::default();
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, D2hReqOpcode::RdOwn, None, &mut Out::default());
    let Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } =
        m2s(M2sReqOpcode::MemRdFwd, Some(MetaValue::Invalid), SnpType::NoOp)
    else {
        return;
    };
    let wrong = Msg::M2sReq { opcode, snp, meta_field, meta, line, tag: tag + CQID + 1 };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), ["COH-IDS-03"]);
}

#[test]
fn coh_qos_01_p() {
    let config = with(MemConfig { devload: [1, 2, 3], ..MemConfig::default() });
    let mut dcoh = Dcoh::<Line>::new(&config, 2);
    for (line, load) in [(0, 0), (1, 2), (2, 3)].map(|(l, d)| (LineAddr(l), d)) {
        let write = Msg::M2sRwd {
            opcode: M2sRwdOpcode::MemWr,
            snp: SnpType::NoOp,
            meta_field: MetaField::Meta0State,
            meta: MetaValue::Any,
            line: LineAddr(100),
            tag: 1,
            poison: false,
            data: bytes(0),
            enables: WHOLE_LINE,
        };
        dcoh.preset(LineAddr(100), bytes(0), Holders::Owner(0));
        let out = give(&mut dcoh, &config, 0, write);
        assert!(matches!(out.sends[..], [(0, Msg::S2mNdr { devload: DevLoad(d), .. })] if d == load));
        dcoh.preset(line, bytes(0), Holders::Owner(0));
        dcoh.issue(&config, line, DeviceOp::ReadOwn, &mut Out::default());
    }
}

#[test]
fn coh_qos_01_n() {
    use scalepool::coherence::wire::Route;
    use scalepool_protocols::cxl::message::Form;
    let has_field = |msg: M, form| {
        let (layout, _) = Route::default().to_link(&msg).spell(form).expect("it fits");
        layout.fields.iter().any(|f| f.name.to_lowercase().replace('_', "").contains("devload"))
    };
    // The field is on NDR and DRS alone; a load that it cannot hold is refused.
    for form in [Form::Hbr, Form::Pbr] {
        assert!(has_field(ndr(NdrOpcode::Cmp, 1), form) && has_field(drs(1, 1), form));
        for other in [bisnp(BisnpOpcode::BISnpInv, X), birsp(BirspOpcode::BIRspI, 0)] {
            assert!(!has_field(other, form));
        }
        let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
        let wrong: M = Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag: 1, devload: DevLoad(4) };
        assert!(Route::default().to_link(&wrong).spell(form).is_err());
    }
    // Back-invalidates are not counted by a device whose thresholds are off.
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut Out::default());
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 2));
    assert!(matches!(out.sends[..], [(0, Msg::S2mNdr { devload: DevLoad(0), .. })]));
}

#[test]
fn coh_inv_10_p() {
    clean("HDM-DB, 2 hosts", &MemSystem::new(Setup::core(CoherenceConfig::default(), 2)));
}

#[test]
fn coh_inv_10_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::GrantNotUsed), ..CoherenceConfig::default() };
    finds("GrantNotUsed", &MemSystem::new(Setup::core(config, 2)), &["COH-INV-10"]);
}

#[test]
fn coh_inv_12_p() {
    clean("1 filter entry", &MemSystem::new(Setup::one_entry(CoherenceConfig::default())));
}

#[test]
fn coh_inv_12_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::EntryLeavesEarly), ..CoherenceConfig::default() };
    finds("EntryLeavesEarly", &MemSystem::new(Setup::one_entry(config)), &["COH-INV-12"]);
}

#[test]
fn coh_inv_13_p() {
    clean("HDM-D", &BiasSystem::new(BiasSetup::everything(CoherenceConfig::default())));
}

#[test]
fn coh_inv_13_n() {
    let config = CoherenceConfig { mutant: Some(Mutant::LocalUseInHostBias), ..CoherenceConfig::default() };
    finds("LocalUseInHostBias", &BiasSystem::new(BiasSetup::everything(config)), &["COH-INV-13"]);
}
