//! Wrong ends: each fault is put into the device of a noisy link and has to be seen.
//!
//! A walk: [`provoke`] brings about what the fault needs, with or without it; without it nothing may be seen. [`killed`]
//! compares the two. The killers are the monitor beside the device, the events of either end, the scoreboard, and a link
//! that does not come to rest.

use crate::cxl68_retry::bench::{Bench, Findings, LATENCY_FLITS, link};
use crate::cxl68_retry::solo::{ack, framed};
use crate::cxl68_retry::wrong_end::RetryFault;
use scalepool::link::cxl68::EndConfig;
use scalepool::link::cxl68::retry::Local;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::Class;

/// Bit error rate at which most flits pass and every retry state is visited often.
const BER: f64 = 6e-5;

/// The faults of retry, with the rule each breaks and who sees it first of all. The scoreboard sees what the
/// end makes of a unit without sending anything wrong at once.
pub const MUTANTS: &[(RetryFault, &str, &str)] = &[
    (RetryFault::IdleStored, "CXL68-LLR-01", "monitor CXL68-RRS-01"),
    (RetryFault::CountedWhileFrozen, "CXL68-LLR-02", "monitor CXL68-LLR-02"),
    (RetryFault::ReplayedAkDecrements, "CXL68-LLR-03", "monitor CXL68-LLR-10"),
    (RetryFault::ReplayOffByOne, "CXL68-LLR-04", "monitor CXL68-LLR-14"),
    (RetryFault::LastEntryUsed, "CXL68-LLR-07", "monitor CXL68-LLR-07"),
    (RetryFault::AkTooEarly, "CXL68-LLR-09", "monitor CXL68-LLR-09"),
    (RetryFault::FlushTimerOff, "CXL68-LLR-10", "monitor CXL68-LLR-10"),
    (RetryFault::ReplayAltered, "CXL68-LLR-11", "monitor CXL68-LLR-11"),
    (RetryFault::FourFrames, "CXL68-LLR-12", "monitor CXL68-LLR-12"),
    (RetryFault::ReplayOrderChanged, "CXL68-LLR-14", "monitor CXL68-LLR-14"),
    (RetryFault::ReqBeforeAck, "CXL68-LLR-16", "monitor CXL68-LLR-16"),
    (RetryFault::RetryFlitCounted, "CXL68-LRS-02", "monitor CXL68-LLR-05"),
    (RetryFault::ReqMovesLocal, "CXL68-LRS-03", "monitor CXL68-LRS-03"),
    (RetryFault::BadFlitDelivered, "CXL68-LRS-04", "scoreboard"),
    (RetryFault::DeliversInLlrReq, "CXL68-LRS-08", "scoreboard"),
    (RetryFault::NoTimeout, "CXL68-LRS-14", "monitor CXL68-LRS-14"),
    (RetryFault::ReinitKeepsCount, "CXL68-LRS-11", "monitor CXL68-LRS-11"),
    (RetryFault::StaleAckAccepted, "CXL68-LRS-13", "monitor CXL68-LRS-18"),
    (RetryFault::DeliversInLocalIdle, "CXL68-LRS-15", "scoreboard"),
    (RetryFault::AbortLeaves, "CXL68-LRS-16", "monitor CXL68-LRS-16"),
    (RetryFault::DataBeforeAck, "CXL68-RRS-02", "monitor CXL68-RRS-02"),
    (RetryFault::AckAfterRetrain, "CXL68-RRS-03", "monitor CXL68-RRS-03"),
    (RetryFault::EmptyWithData, "CXL68-RRS-04", "monitor CXL68-RRS-04"),
];

/// A link whose device may have a fault, brought into the situation in which `fault` shows.
fn provoke(of: RetryFault, on: bool) -> Findings {
    let fault = on.then_some(of);
    let mut bench = match of {
        RetryFault::AbortLeaves => return given_up(fault),
        RetryFault::FlushTimerOff => return one_sided(fault),
        // A small buffer for the rule of the last entry.
        RetryFault::LastEntryUsed => Bench::wrong(Cxl68Config { llrb_entries: 22, ..link() }, fault, 5),
        _ => Bench::wrong(link(), fault, 5),
    };
    for dir in Dir::ALL {
        bench.wire(dir, Vec::new(), BER, 5);
    }
    for flit in 1..=30_000u64 {
        bench.step();
        let trains = match of {
            RetryFault::AckAfterRetrain => bench.pair.device.remote() != scalepool::link::cxl68::retry::Remote::Normal,
            RetryFault::ReinitKeepsCount => bench.pair.device.local().num_retry > 0,
            _ => false,
        };
        if trains && flit % 16 == 0 {
            bench.pair.train();
        }
        if of == RetryFault::StaleAckAccepted && bench.pair.device.local().state == Local::LocalIdle && flit % 16 == 0 {
            let (echo, eseq) = (bench.pair.device.local().num_retry + 7, bench.pair.device.eseq());
            for unit in framed(5, ack(eseq, echo, false)) {
                bench.pair.inject(Dir::Down, &unit);
            }
        }
        if !bench.findings.is_empty() && flit > 20_000 {
            break;
        }
    }
    bench.rest(30_000);
    bench.findings
}

/// Nobody answers the device, which gives up; then the link works again.
fn given_up(fault: Option<RetryFault>) -> Findings {
    let device = EndConfig::cachemem(
        Dir::Up,
        Cxl68Config { timeout_flits: 16, max_num_retry: 2, max_num_phy_reinit: 2, ..link() },
        40,
    );
    let patient = Cxl68Config { max_num_retry: 31, max_num_phy_reinit: 31, ..link() };
    let mut bench = Bench::of([EndConfig::cachemem(Dir::Down, patient, 40), device], fault, LATENCY_FLITS, 6);
    bench.run(2000);
    bench.pair.inject(Dir::Down, &crate::cxl68_retry::solo::bad());
    bench.pair.cut = true;
    bench.run(2000);
    assert_eq!(bench.pair.device.local().state, Local::Abort, "the device has given up");
    bench.pair.cut = false;
    bench.run(5000);
    // Giving up is the model's own report, not a finding.
    bench.findings.ends.retain(|e| e.violation.rule != "CXL68-LRS-06");
    bench.findings
}

/// The host alone has something to say.
fn one_sided(fault: Option<RetryFault>) -> Findings {
    let mut bench = Bench::wrong(link(), fault, 7);
    for _ in 0..2000 {
        if bench.pair.host.waiting(Class::M2sReq) < 4 {
            bench.give_random(Class::M2sReq);
        }
        bench.quiet_step();
    }
    bench.rest(5000);
    bench.findings
}

/// What the fault brings about; without it there is nothing.
#[track_caller]
pub fn killed(fault: RetryFault) -> Findings {
    let without = provoke(fault, false);
    assert!(without.is_empty(), "{fault:?} off: {:?}, {:?}", without.killers(), without.monitor.first());
    let with = provoke(fault, true);
    assert!(!with.is_empty(), "{fault:?} survives");
    let (_, rule, killer) = MUTANTS.iter().find(|m| m.0 == fault).expect("a listed fault");
    let killers = with.killers();
    assert!(killers.contains(*killer), "{fault:?} ({rule}): {killers:?}, expected {killer}");
    with
}

#[test]
fn every_mutant_is_killed() {
    for (mutant, rule, _) in MUTANTS {
        let findings = provoke(*mutant, true);
        println!("{mutant:?} ({rule}): {}", findings.killers().into_iter().collect::<Vec<_>>().join(", "));
        assert!(!findings.is_empty(), "{mutant:?} survives");
    }
}
