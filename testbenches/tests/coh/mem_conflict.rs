//! Rules of the conflict: BIConflict, its Ack, and the rows of its outcomes.

use super::mem_bench::*;
use super::mem_explore::clean;
use super::names::{names, takes_and};
use scalepool::coherence::agent::{Agent, AgentOutput};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, WHOLE_LINE};
use scalepool::coherence::ids::AgentPort;
use scalepool::coherence::mem::options::{BlockAnswer, MemConfig};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::{DeviceOp, Holders, HostAccess, HostReq, MemHost};
use scalepool::coherence::message::Msg;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::mem::{Setup, system as mem_system};
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode, M2sRwdOpcode, NdrOpcode, SnpType};

#[test]
fn coh_bic_01_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Store);
    let out = give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    let [(0, Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, tag: TAG, line: X, .. })] = out.sends[..] else {
        panic!("{:?}", labels(&out))
    };
}

#[test]
fn coh_bic_01_n() {
    // Another Tag, no BIConflict, and an answer at once.
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::S);
    issue(&mut host, HostReq::INV, HostAccess::Store);
    let snoop = (0, bisnp(BisnpOpcode::BISnpInv, X));
    let fresh_tag = |_: &mut MemHost<CacheLine>, out: &mut AgentOutput<CacheLine>| {
        if let Msg::M2sRwd { tag, .. } = &mut out.sends[0].1 {
            *tag = 9;
        }
    };
    assert_eq!(takes_and(&config, &host, snoop, fresh_tag), ["COH-BIC-01", "COH-IDS-03"]);
    assert_eq!(takes_and(&config, &host, snoop, |_, out| out.sends.clear()), ["COH-BIC-01"]);
    let answers =
        |_: &mut MemHost<CacheLine>, out: &mut AgentOutput<CacheLine>| out.send(0, birsp(BirspOpcode::BIRspI, 0));
    assert_eq!(takes_and(&config, &host, snoop, answers), ["COH-BIC-01"]);
    let config = CoherenceConfig { rules: CoherenceMutant::ConflictOnReq.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-BIC-01");
}

#[test]
fn coh_bic_02_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0));
    assert_eq!(labels(&out), ["BIConflictAck"]);
}

#[test]
fn coh_bic_02_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::AckWithheld.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-BIC-02");
    let mut host = host(Copy4::S);
    let config = CoherenceConfig::default();
    assert_eq!(rules(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, 5))), ["COH-BIC-02"]);
}

/// A host with a request of a line in some state, that has been snooped and has sent BIConflict.
fn disputing(state: Copy4, req: HostReq, want: HostAccess, snoop: BisnpOpcode) -> MemHost<CacheLine> {
    let mut host = host(state);
    issue(&mut host, req, want);
    let out = give(&mut host, &CoherenceConfig::default(), 0, bisnp(snoop, X));
    assert_eq!(labels(&out), ["BIConflict Invalid NoOp"]);
    host
}

/// The Ack of the request's BIConflict.
fn ack() -> (AgentPort, M) {
    (0, ndr(NdrOpcode::BIConflictAck, TAG))
}

#[test]
fn coh_bic_04_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Store);
    give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    assert!(give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG)).sends.is_empty());
    assert!(give(&mut host, &config, 0, drs(TAG, 3)).sends.is_empty(), "the access comes first");
    let mut out = AgentOutput::default();
    assert!(host.store(&config, X, bytes(4), WHOLE_LINE, &mut out));
    assert_eq!(labels(&out), ["MemWr Invalid NoOp"]);
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("a write") };
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag))), ["BIRspI"]);
}

#[test]
fn coh_bic_04_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::ConflictRowSwapped.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-BIC-04");
}

#[test]
fn coh_bic_05_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Store);
    give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X));
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    give(&mut host, &config, 0, drs(TAG, 3));
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    assert_eq!(host.copy(X).state, Copy4::E);
}

#[test]
fn coh_bic_05_n() {
    let config = CoherenceConfig::default();
    // No answer at the Ack, and a request that is given up with it.
    let early = disputing(Copy4::S, HostReq::INV, HostAccess::Store, BisnpOpcode::BISnpInv);
    assert_eq!(takes_and(&config, &early, ack(), |_, out| out.sends.clear()), ["COH-BIC-05"]);
    let gives_up = |after: &mut MemHost<CacheLine>, _: &mut AgentOutput<CacheLine>| *after = MemHost::new(0);
    assert_eq!(takes_and(&config, &early, ack(), gives_up), ["COH-BIC-05"]);
    // A completion between Ack and the answer to the write back cannot be: the device blocks the request.
    let mut dirty = disputing(Copy4::M, HostReq::RD_ANY, HostAccess::Nothing, BisnpOpcode::BISnpInv);
    give(&mut dirty, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG));
    assert_eq!(rules(&give(&mut dirty, &config, 0, ndr(NdrOpcode::CmpE, TAG))), ["COH-BIC-03"]);
    // An Ack without a BIConflict.
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Store);
    assert_eq!(rules(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["COH-BIC-02"]);
}

#[test]
fn coh_bic_06_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::E);
    issue(&mut host, HostReq::CLN_EVCT, HostAccess::Nothing);
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpData, X))), ["BIConflict Invalid NoOp"]);
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG));
    assert!(host.is_idle());
}

#[test]
fn coh_bic_06_n() {
    let config = CoherenceConfig::default();
    let mut host = disputing(Copy4::E, HostReq::CLN_EVCT, HostAccess::Nothing, BisnpOpcode::BISnpData);
    // The answer waits for the Cmp of the evict, which waits for the answer.
    assert_eq!(takes_and(&config, &host, ack(), |_, out| out.sends.clear()), ["COH-BIC-06"]);
    assert_eq!(rules(&give(&mut host, &config, 0, drs(TAG, 1))), ["COH-MEM-47"], "an evict has no data");
}

#[test]
fn coh_bic_07_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::E);
    issue(&mut host, HostReq::CLN_EVCT, HostAccess::Nothing);
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpData, X))), ["BIConflict Invalid NoOp"]);
    give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG));
    assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::BIConflictAck, TAG))), ["BIRspI"]);
    assert!(host.is_idle());
}

#[test]
fn coh_bic_07_n() {
    let config = CoherenceConfig::default();
    let mut host = disputing(Copy4::E, HostReq::CLN_EVCT, HostAccess::Nothing, BisnpOpcode::BISnpData);
    give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG));
    assert_eq!(takes_and(&config, &host, ack(), |_, out| out.sends.clear()), ["COH-BIC-07"]);
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
        host.write_back(X, kept, &mut AgentOutput::default());
        assert!(give(&mut host, &config, 0, bisnp(snoop, X)).sends.is_empty());
        assert_eq!(labels(&give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, TAG))), [answer]);
    }
}

#[test]
fn coh_bic_08_n() {
    // A handshake for a write, an answer before its Cmp, and none after it.
    let config = CoherenceConfig::default();
    let mut writing = host(Copy4::M);
    writing.write_back(X, Copy4::S, &mut AgentOutput::default());
    let snoop = (0, bisnp(BisnpOpcode::BISnpData, X));
    let conflict = write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0);
    assert_eq!(takes_and(&config, &writing, snoop, |_, out| out.send(0, conflict)), ["COH-BIC-08"]);
    give(&mut writing, &config, 0, snoop.1);
    let cmp = (0, ndr(NdrOpcode::Cmp, TAG));
    assert_eq!(takes_and(&config, &writing, cmp, |_, out| out.sends.clear()), ["COH-BIC-08"]);
    let config = CoherenceConfig { rules: CoherenceMutant::BisnpBlocksRwd.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-BIC-08");
}

#[test]
fn coh_bic_09_p() {
    let config = CoherenceConfig::default();
    let mut host = host(Copy4::I);
    issue(&mut host, HostReq::RD_ANY, HostAccess::Store);
    give(&mut host, &config, 0, drs(TAG, 3));
    give(&mut host, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    host.store(&config, X, bytes(4), WHOLE_LINE, &mut AgentOutput::default());
    assert_eq!(labels(&give(&mut host, &config, 0, bisnp(BisnpOpcode::BISnpInv, X))), ["MemWr Invalid NoOp"]);
}

#[test]
fn coh_bic_09_n() {
    let config = CoherenceConfig::default();
    // The completion came first and the line is filled, or waits for its data: no BIConflict, and no answer before.
    let conflict = write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0);
    let snoop = (0, bisnp(BisnpOpcode::BISnpInv, X));
    let mut granted = host(Copy4::I);
    issue(&mut granted, HostReq::RD_ANY, HostAccess::Store);
    give(&mut granted, &config, 0, ndr(NdrOpcode::CmpE, TAG));
    for host in [host(Copy4::E), granted.clone()] {
        assert_eq!(takes_and(&config, &host, snoop, |_, out| out.send(0, conflict)), ["COH-BIC-09"]);
    }
    let answers =
        |_: &mut MemHost<CacheLine>, out: &mut AgentOutput<CacheLine>| out.send(0, birsp(BirspOpcode::BIRspI, 0));
    assert_eq!(takes_and(&config, &granted, snoop, answers), ["COH-BIC-09"]);
    assert_eq!(takes_and(&config, &host(Copy4::S), snoop, |_, out| out.sends.clear()), ["COH-BIC-09"]);
}

#[test]
fn coh_bic_10_p() {
    let config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    clean("blocks", &mem_system(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])));
}

#[test]
fn coh_bic_10_n() {
    let mut config = with(MemConfig { block_answer: BlockAnswer::Lines, ..MemConfig::default() });
    config.rules = CoherenceMutant::OneConflictForBlock.rules();
    names(&mem_system(Setup::blocks(config, 1, &[DeviceOp::ReadOwn])), "COH-BIC-10");
}

#[test]
fn coh_bic_11_p() {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
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
    clean("HDM-DB, 2 hosts", &mem_system(Setup::core(CoherenceConfig::default(), 2)));
}

#[test]
fn coh_bic_12_n() {
    let config = CoherenceConfig { rules: CoherenceMutant::GrantNotUsed.rules(), ..CoherenceConfig::default() };
    names(&mem_system(Setup::core(config, 2)), "COH-BIC-12");
}
