//! Each rule of CXL.mem that can be turned off is found missing by the exploration. Prints mutant and killer.

use super::mem_explore::{blocks, explore, tiny_filter, with};
use scalepool::coherence::bias::system::{BiasSystem, Setup as BiasSetup};
use scalepool::coherence::config::{CoherenceConfig, WithoutBytes};
use scalepool::coherence::explore::Report;
use scalepool::coherence::mem::options::{BlockAnswer, MemConfig};
use scalepool::coherence::mem::system::{MemSystem, Setup};
use scalepool::coherence::mem::{DeviceOp, HostReq};
use scalepool::coherence::mutant::Mutant;

fn killed(mutant: Mutant, report: &Report, by: &[&str]) {
    let violation = report.violation.as_ref().unwrap_or_else(|| panic!("{mutant:?} lives"));
    println!("{mutant:?} -> {} in {} steps: {}", violation.event.rule, violation.steps.len(), violation.event);
    assert!(by.contains(&violation.event.rule), "{mutant:?}: {} instead of {by:?}", violation.event);
}

fn with_mutant(mutant: Mutant) -> CoherenceConfig {
    CoherenceConfig { mutant: Some(mutant), ..CoherenceConfig::default() }
}

#[test]
fn hdm_db_mutants() {
    let cases: &[(Mutant, &[&str])] = &[
        (Mutant::AckPassesCmp, &["COH-INV-01", "COH-INV-02", "COH-INV-03", "COH-INV-04", "COH-BIC-03"]),
        (Mutant::FilledWithoutData, &["COH-MEM-47"]),
        (Mutant::OwnerNotAsked, &["COH-INV-01", "COH-INV-02"]),
        (Mutant::AnswerBeforeWriteDone, &["COH-INV-02", "COH-MEM-42"]),
        (Mutant::DirtyHostNotWritten, &["COH-INV-03"]),
        (Mutant::BisnpBlocksRwd, &["COH-INV-09"]),
        (
            Mutant::ReqServedUnderBisnp,
            &["COH-INV-01", "COH-INV-02", "COH-INV-03", "COH-INV-04", "COH-SFI-08", "COH-BIC-03"],
        ),
        (Mutant::ConflictOnReq, &["COH-INV-09"]),
        (Mutant::AckWithheld, &["COH-INV-09"]),
        (Mutant::ConflictRowSwapped, &["COH-INV-01", "COH-INV-02", "COH-INV-04"]),
        (Mutant::GrantNotUsed, &["COH-INV-10"]),
        (Mutant::HolderSkipped, &["COH-INV-01", "COH-INV-02", "COH-INV-04"]),
    ];
    for &(mutant, by) in cases {
        let setup = Setup { orders: false, ..Setup::core(with_mutant(mutant), 2) };
        killed(mutant, &explore("HDM-DB, 2 hosts", &MemSystem::new(setup)), by);
    }
}

#[test]
fn old_bytes_mutant() {
    let config = CoherenceConfig { without_bytes: WithoutBytes::Write, ..with_mutant(Mutant::HostOldBytes) };
    let setup = Setup { orders: false, ..Setup::core(config, 2) };
    killed(Mutant::HostOldBytes, &explore("HDM-DB, 2 hosts", &MemSystem::new(setup)), &["COH-INV-02"]);
}

#[test]
fn filter_mutant() {
    let mutant = Mutant::EntryLeavesEarly;
    let setup = Setup { orders: false, ..tiny_filter(with_mutant(mutant)) };
    killed(mutant, &explore("HDM-DB, 1 filter entry", &MemSystem::new(setup)), &["COH-INV-12"]);
}

#[test]
fn block_mutants() {
    let cases: &[(Mutant, BlockAnswer, &[&str])] = &[
        (Mutant::BlockAnswerEarly, BlockAnswer::Whole, &["COH-BIC-11"]),
        (Mutant::OneConflictForBlock, BlockAnswer::Lines, &["COH-INV-09"]),
        (
            Mutant::BlockLineReleased,
            BlockAnswer::Lines,
            &["COH-INV-01", "COH-INV-02", "COH-INV-04", "COH-BIC-03", "COH-SFI-08"],
        ),
    ];
    for &(mutant, answer, by) in cases {
        let mut config = with(MemConfig { block_answer: answer, ..MemConfig::default() });
        config.mutant = Some(mutant);
        let mut setup = Setup { orders: false, ..blocks(config, 1, &[DeviceOp::ReadOwn]) };
        setup.requests = vec![HostReq::RD_ANY];
        killed(mutant, &explore("HDM-DB, blocks", &MemSystem::new(setup)), by);
    }
}

#[test]
fn hdm_d_mutants() {
    let cases: &[(Mutant, &[&str])] = &[
        (Mutant::ReqPassesFwd, &["COH-INV-01", "COH-INV-02", "COH-INV-13"]),
        (Mutant::FwdBeforeWriteDone, &["COH-INV-02"]),
        (Mutant::LocalUseInHostBias, &["COH-INV-13", "COH-INV-01", "COH-INV-02"]),
        (Mutant::BackFlipUnsnooped, &["COH-INV-01", "COH-INV-02", "COH-INV-13"]),
        (Mutant::FlushFlips, &["COH-INV-04", "COH-INV-13"]),
        (Mutant::ReqWaitsForOwnRequest, &["COH-INV-09"]),
    ];
    for &(mutant, by) in cases {
        let mut config = with_mutant(mutant);
        config.mem.flush_keeps_shared = mutant == Mutant::FlushFlips;
        killed(
            mutant,
            &explore("HDM-D", &BiasSystem::new(BiasSetup { orders: false, ..BiasSetup::everything(config) })),
            by,
        );
    }
}
