//! Rules of CXL.mem outside its tables: meta, completions, shared memory, load.

use super::mem_bench::*;
use super::mem_explore::{clean, explore};
use super::names::{names, takes_and};
use scalepool::coherence::agent::{Agent, AgentOutput};
use scalepool::coherence::config::{CoherenceConfig, WithoutBytes};
use scalepool::coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::mem::options::MemConfig;
use scalepool::coherence::mem::tables::{Copy4, HdmRegion, REQ_ROWS, check_req};
use scalepool::coherence::mem::{Dcoh, DeviceOp, Holders, HostAccess, HostReq};
use scalepool::coherence::message::Msg;
use scalepool::coherence::monitor::MemHostWatch;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::bias::{Setup as BiasSetup, system as bias_system};
use scalepool::proof::systems::mem::{Setup, system as mem_system};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, DevLoad, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// The MetaValue under Extended-Meta says what it says under Meta0: a DCOH answers and records the same. HDM-D has no extended metadata.
#[test]
fn the_value_of_extended_metadata_is_that_of_meta0() {
    let config = CoherenceConfig::default();
    let holders = [Holders::NONE, Holders::Owner(0), Holders::Shared(IdSet::one(0))];
    let rows = REQ_ROWS.iter().filter(|row| row.hdm_db && row.meta.is_some() && !row.meta_ignored);
    for (row, holders) in rows.flat_map(|row| holders.iter().map(move |holders| (row, holders))) {
        for &opcode in row.opcodes {
            let meta = row.meta.expect("a value");
            let [plain, extended] = [MetaField::Meta0State, MetaField::EMS].map(|meta_field| {
                let mut dcoh = device(&config, 2, holders.clone());
                let mut out = AgentOutput::default();
                let msg = Msg::M2sReq { opcode, snp: row.snp, meta_field, meta, line: X, tag: TAG };
                dcoh.take(&config, 0, msg, 0, &mut out);
                (out.sends, out.events, dcoh.holders(X), dcoh.gives_up(X))
            });
            assert_eq!(plain, extended, "{opcode:?} {meta:?} {:?} with {holders}", row.snp);
            let of_hdm_d = check_req(HdmRegion::HdmD, opcode, MetaField::EMS, meta, row.snp);
            assert!(of_hdm_d.is_err(), "{opcode:?} {meta:?} {:?} of HDM-D", row.snp);
        }
    }
}

#[test]
fn coh_mem_01_p() {
    let config = CoherenceConfig::default();
    for (meta, kept) in
        [(Copy4::I, None), (Copy4::S, Some(Holders::Shared(IdSet::of_bits(1)))), (Copy4::E, Some(Holders::Owner(0)))]
    {
        let (mut from, mut to) = (host(Copy4::M), device(&config, 2, Holders::Owner(0)));
        let mut out = AgentOutput::default();
        from.write_back(X, meta, &mut out);
        let (_, msg) = out.sends.remove(0);
        give(&mut to, &config, 0, msg);
        assert_eq!((from.copy(X).state, to.holders(X)), (meta, kept));
    }
}

#[test]
fn coh_mem_01_n() {
    let config = CoherenceConfig::default();
    // A host that keeps more than it said, seen at the host.
    let mut from = host(Copy4::M);
    let mut out = AgentOutput::default();
    let before = from.clone();
    from.write_back(X, Copy4::I, &mut out);
    for kept in [Copy4::S, Copy4::E] {
        let mut events = Vec::new();
        MemHostWatch { before: &before, out: &out, after: &host(kept) }.check(None, &mut events);
        assert_eq!(events.iter().map(|e| e.rule).collect::<Vec<_>>(), ["COH-MEM-01"], "{kept:?}");
    }
    // Its next write back is not believed by the device.
    let mut to = device(&config, 2, Holders::Owner(0));
    give(&mut to, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 2));
    let out = give(&mut to, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 3));
    assert_eq!((rules(&out), to.memory(X)), (vec!["COH-MEM-42"], bytes(2)));
}

#[test]
fn coh_mem_02_p() {
    let config = CoherenceConfig::default();
    for (req, left) in [(HostReq::RD_ANY, Copy4::I), (HostReq::RD_SHARED, Copy4::S), (HostReq::RD_NOOP_CUR, Copy4::M)] {
        let mut dcoh = device(&config, 2, Holders::NONE);
        dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
        dcoh.store(X, &bytes(6), WHOLE_LINE, &mut AgentOutput::default());
        let out = give(&mut dcoh, &config, 0, m2s(req.opcode, req.meta, req.snp));
        let data = out.sends.iter().find_map(|(_, m)| m.data().copied());
        assert_eq!((dcoh.own(X).map_or(Copy4::I, |o| o.0), data), (left, Some(bytes(6))));
    }
}

#[test]
fn coh_mem_02_n() {
    // HDM-D: the own cache is left out.
    let config = CoherenceConfig { rules: CoherenceMutant::BackFlipUnsnooped.rules(), ..CoherenceConfig::default() };
    names(&bias_system(BiasSetup::everything(config)), "COH-MEM-02");
    // HDM-DB: a copy that is kept under each SnpType.
    let config = CoherenceConfig::default();
    for (req, kept) in [(HostReq::RD_ANY, DeviceOp::ReadShared), (HostReq::RD_SHARED, DeviceOp::ReadOwn)] {
        let mut dcoh = device(&config, 2, Holders::NONE);
        dcoh.issue(&config, X, kept, &mut AgentOutput::default());
        let keeps = |after: &mut Dcoh<CacheLine>, _: &mut AgentOutput<CacheLine>| *after = dcoh.clone();
        let took = (0, m2s(req.opcode, req.meta, req.snp));
        assert_eq!(takes_and(&config, &dcoh, took, keeps), ["COH-MEM-02"], "{req:?}");
    }
}

#[test]
fn coh_mem_03_p() {
    let stored = with(MemConfig { meta_stored: true, ..MemConfig::default() });
    for config in [stored, CoherenceConfig::default()] {
        let mut dcoh = device(&config, 2, Holders::NONE);
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
    let mut out = AgentOutput::default();
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
fn coh_mem_36_p() {
    let config = outside();
    let mut dcoh = device(&config, 2, Holders::NONE);
    let read = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&read), ["MemDataNXM"]);
    assert_eq!(read.sends[0].1.data(), Some(&bytes(0xff)));
    let inv = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemInv, Some(MetaValue::Any), SnpType::SnpInv));
    let wr = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 3));
    assert_eq!((labels(&inv), labels(&wr)), (vec!["Cmp".to_owned()], vec!["Cmp".to_owned()]));
    // The host takes the one answer as the end: nothing is cached.
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Nothing);
    give(&mut host, &config, 0, read.sends[0].1);
    assert!(host.is_idle() && host.copy(X).state == Copy4::I);
}

#[test]
fn coh_mem_36_n() {
    let config = outside();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Nothing);
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    let mut dcoh = device(&config, 2, Holders::NONE);
    let read = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(rules(&give(&mut host, &config, 0, read.sends[0].1)), ["COH-MEM-36"]);
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
            let out = issue(&mut host, req, HostAccess::Nothing);
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
    let out = issue(&mut of_hdm_d.mem, HostReq::CLN_EVCT, HostAccess::Nothing);
    assert_eq!((rules(&out), out.sends.len()), (vec!["COH-MEM-18"], 0));
}

#[test]
fn coh_mem_44_p() {
    clean("HDM-DB, 2 hosts", &mem_system(Setup::core(CoherenceConfig::default(), 2)));
}

#[test]
fn coh_mem_44_n() {
    let config =
        CoherenceConfig { rules: CoherenceMutant::AnswerBeforeWriteDone.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-MEM-44");
}

#[test]
fn coh_mem_45_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    let mut dcoh = device(&config, 2, Holders::NONE);
    let asked = issue(&mut host, HostReq::RD_ANY, HostAccess::Store);
    let granted = give(&mut dcoh, &config, 0, asked.sends[0].1);
    granted.sends.iter().for_each(|(_, m)| drop(give(&mut host, &config, 0, *m)));
    let mut out = AgentOutput::default();
    assert!(host.store(&config, X, bytes(4), WHOLE_LINE, &mut out));
    host.write_back(X, Copy4::I, &mut out);
    give(&mut dcoh, &config, 0, out.sends[0].1);
    assert_eq!(dcoh.memory(X), bytes(4));
}

#[test]
fn coh_mem_45_n() {
    let config = CoherenceConfig::default();
    let mut out = AgentOutput::default();
    host(Copy4::I).write_unowned(X, bytes(4), WHOLE_LINE, &mut out);
    let mut dcoh = device(&config, 2, Holders::NONE);
    let answer = give(&mut dcoh, &config, 0, out.sends[0].1);
    assert_eq!((rules(&answer), dcoh.memory(X)), (vec!["COH-MEM-24", "COH-MEM-45"], bytes(1)));
}

#[test]
fn coh_mem_46_p() {
    let config = with(MemConfig { cmp_m: true, ..MemConfig::default() });
    let mut dcoh = device(&config, 2, Holders::NONE);
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    dcoh.store(X, &bytes(6), WHOLE_LINE, &mut AgentOutput::default());
    let out = give(&mut dcoh, &config, 0, m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv));
    assert_eq!(labels(&out), ["CmpM", "MemData"]);
    assert_eq!(dcoh.memory(X), bytes(1), "dirty data went to the host alone");
}

#[test]
fn coh_mem_46_n() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Nothing);
    assert_eq!(rules(&give(&mut host, &config, 0, ndr(NdrOpcode::CmpM, TAG))), ["COH-MEM-46"]);
    let config = CoherenceConfig { rules: CoherenceMutant::HolderSkipped.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-MEM-46");
}

#[test]
fn coh_mem_47_p() {
    let config = CoherenceConfig::default();
    for data_first in [false, true] {
        let mut host = host(Copy4::I);
        issue(&mut host, HostReq::RD_ANY, HostAccess::Nothing);
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
    issue(&mut host, HostReq::RD_ANY, HostAccess::Nothing);
    give(&mut host, &config, 0, drs(TAG, 3));
    assert_eq!(rules(&give(&mut host, &config, 0, drs(TAG, 3))), ["COH-MEM-47"]);
}

#[test]
fn coh_qos_01_p() {
    let config = with(MemConfig { devload: [1, 2, 3], ..MemConfig::default() });
    let mut dcoh = Dcoh::<CacheLine>::new(&config, 2);
    for (line, load) in [(0, 0), (1, 2), (2, 3)].map(|(l, d)| (LineAddr(l), d)) {
        let write = Msg::M2sRwd {
            opcode: M2sRwdOpcode::MemWr,
            snp: SnpType::NoOp,
            meta_field: MetaField::Meta0State,
            meta: MetaValue::Any,
            line: LineAddr(100),
            tag: 1,
            data: bytes(0),
            enables: WHOLE_LINE,
        };
        dcoh.preset(LineAddr(100), bytes(0), Holders::Owner(0));
        let out = give(&mut dcoh, &config, 0, write);
        assert!(matches!(out.sends[..], [(0, Msg::S2mNdr { devload: DevLoad(d), .. })] if d == load));
        dcoh.preset(line, bytes(0), Holders::Owner(0));
        dcoh.issue(&config, line, DeviceOp::ReadOwn, &mut AgentOutput::default());
    }
}

#[test]
fn coh_qos_01_n() {
    use scalepool_protocols::cxl::message::MessageForm;
    use scalepool_protocols::cxl::message::PeerRoute;
    let has_field = |msg: M, form| {
        let (layout, _) = msg.to_link(PeerRoute::default()).spell(form).expect("it fits");
        layout.fields.iter().any(|f| f.name.to_lowercase().replace('_', "").contains("devload"))
    };
    // The field is on NDR and DRS alone; a load that it cannot hold is refused.
    for form in [MessageForm::Hbr, MessageForm::Pbr] {
        assert!(has_field(ndr(NdrOpcode::Cmp, 1), form) && has_field(drs(1, 1), form));
        for other in [bisnp(BisnpOpcode::BISnpInv, X), birsp(BirspOpcode::BIRspI, 0)] {
            assert!(!has_field(other, form));
        }
        let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
        let wrong: M = Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag: TAG, devload: DevLoad(4) };
        assert!(wrong.to_link(PeerRoute::default()).spell(form).is_err());
        let mut host = host(Copy4::I);
        issue(&mut host, HostReq::RD_ANY, HostAccess::Nothing);
        let before = host.clone();
        assert_eq!(rules(&give(&mut host, &CoherenceConfig::default(), 0, wrong)), ["COH-QOS-01"]);
        assert!(host == before);
    }
    // Back-invalidates are not counted by a device whose thresholds are off.
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::NoOp, 2));
    assert!(matches!(out.sends[..], [(0, Msg::S2mNdr { devload: DevLoad(0), .. })]));
}

#[test]
fn coh_inv_10_p() {
    clean("HDM-DB, 2 hosts", &mem_system(Setup::core(CoherenceConfig::default(), 2)));
}

#[test]
fn coh_inv_10_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::GrantNotUsed.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-INV-10");
    let (rules, without_bytes) = (CoherenceMutant::BytesNotAsked.rules(), WithoutBytes::Write);
    let config = CoherenceConfig { rules, without_bytes, ..CoherenceConfig::default() };
    let found = explore("a load without bytes", &mem_system(Setup::waiting_accesses(config, 2)));
    assert_eq!(found.violation.map(|v| v.event.rule), Some("COH-INV-10"));
}

#[test]
fn coh_inv_12_p() {
    clean("1 filter entry", &mem_system(Setup::one_entry(CoherenceConfig::default())));
}

#[test]
fn coh_inv_12_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::EntryLeavesEarly.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::one_entry(config)), "COH-INV-12");
}

#[test]
fn coh_inv_13_p() {
    clean("HDM-D", &bias_system(BiasSetup::everything(CoherenceConfig::default())));
}

#[test]
fn coh_inv_13_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::LocalUseInHostBias.rules(), ..CoherenceConfig::default() };
    names(&bias_system(BiasSetup::everything(config)), "COH-INV-13");
}
