//! Random testing of the agents.

use scalepool::coherence::stress::{Counts, Protocol, Stress};

fn run(protocol: Protocol, seed: u64, operations: u64) -> Counts {
    let began = std::time::Instant::now();
    let counts = Stress::new(protocol, seed, operations).run().unwrap_or_else(|f| panic!("{protocol:?}\n{f}"));
    println!("{protocol:?} seed {seed}: {counts:?} {:.2} s", began.elapsed().as_secs_f64());
    counts
}

#[test]
fn stress_cache() {
    for seed in 0..24 {
        run(Protocol::Cache([2, 3, 5, 16][seed as usize % 4]), seed, 20_000);
    }
}

#[test]
fn stress_db() {
    for seed in 0..24 {
        run(Protocol::HdmDb([2, 3, 5, 8][seed as usize % 4]), seed, 20_000);
    }
}

#[test]
fn stress_d() {
    for seed in 0..24 {
        run(Protocol::HdmD, seed, 20_000);
    }
}

use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::mutant::Mutant;
use scalepool::coherence::stress::litmus::{SHAPES, explore};

#[test]
fn litmus_find() {
    use Mutant::*;
    for protocol in [Protocol::Cache(3), Protocol::HdmDb(4), Protocol::HdmD] {
        for shape in SHAPES {
            if shape.programs.len() > 2 && protocol == Protocol::HdmD {
                continue;
            }
            let seen = explore(shape, protocol, &CoherenceConfig::default(), 500);
            println!("{protocol:?} {}: {seen:?}", shape.name);
        }
        let all = [
            SnoopPassesGo, HomeDoesNotBlock, SnoopDuringPull, SnoopWaitsForRequest, GoBeforeAnswers, EvictUntracksAll, UseAfterEvict,
            BogusNotSet, BogusWritten, GrantedAnswersAsInvalid, GrantedHoldsSnoop, OldBytesKept, StaleEvictClearsOwner,
            CurrentDataCleansOwner, SharersNotSnooped, DirtyDropped, CopyKeptUnderSnpInv, AckPassesCmp, ReqPassesFwd,
            FilledWithoutData, HolderSkipped, OwnerNotAsked, EntryLeavesEarly, AnswerBeforeWriteDone, DirtyHostNotWritten,
            BisnpBlocksRwd, ReqServedUnderBisnp, HostOldBytes, ConflictOnReq, AckWithheld, ConflictRowSwapped, GrantNotUsed,
            FwdBeforeWriteDone, LocalUseInHostBias, BackFlipUnsnooped, FlushFlips, ReqWaitsForOwnRequest,
        ];
        for mutant in all {
            let config = CoherenceConfig { mutant: Some(mutant), ..CoherenceConfig::default() };
            for shape in SHAPES {
                if shape.programs.len() > 2 && protocol == Protocol::HdmD {
                    continue;
                }
                let seen = explore(shape, protocol, &config, 400);
                if seen.forbidden > 0 {
                    println!("    PAIR {protocol:?} {mutant:?} {}: {} of 400, broken {}", shape.name, seen.forbidden, seen.broken);
                }
            }
        }
    }
}
