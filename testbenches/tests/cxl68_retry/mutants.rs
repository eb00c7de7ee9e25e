//! Deliberate faults of the model: each is switched on at the device of a noisy link and has to be seen.
//!
//! A walk: [`provoke`] brings about what the fault needs, with or without it; without it nothing may be seen. [`killed`]
//! compares the two. The killers are the monitor beside the device, the events of either end, the scoreboard, and a link
//! that does not come to rest.

use crate::cxl68_retry::bench::{Bench, Findings, link};
use crate::cxl68_retry::solo::{ack, framed};
use scalepool::link::cxl68::retry::Local;
use scalepool::link::cxl68::{Cxl68End, Cxl68Mutant, EndConfig};
use scalepool::link::fault as wire;
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint, Hooks};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Bit error rate at which most flits pass and every retry state is visited often.
const BER: f64 = 6e-5;

/// A fault: a branch inside the end, or a hook at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Inside a state machine.
    Inside(Cxl68Mutant),
    /// LLR-04: replay starts one flit late.
    ReplayOffByOne,
    /// LLR-11: a replayed flit is changed (its credits are left out).
    ReplayAltered,
}

impl From<Cxl68Mutant> for Fault {
    fn from(mutant: Cxl68Mutant) -> Fault {
        Fault::Inside(mutant)
    }
}

impl Fault {
    fn mutant(self) -> Option<Cxl68Mutant> {
        match self {
            Fault::Inside(mutant) => Some(mutant),
            Fault::ReplayOffByOne | Fault::ReplayAltered => None,
        }
    }

    /// Attaches it, if it is a hook.
    fn attach(self, end: &mut Cxl68End) {
        let hooks = Hooks::new();
        match self {
            Fault::Inside(_) => return,
            Fault::ReplayOffByOne => {
                hooks
                    .attach_fault(HookPoint::ReplayOut, Direction::Tx, wire::Fault::Drop { unit: 0 })
                    .expect("allowed");
            }
            Fault::ReplayAltered => {
                // What a flit is, its stream alone knows.
                let (mut stream, protocol) =
                    (Unpacker::new(Dir::Up, link().revision, Enabled::ALL), Arc::new(Mutex::new(BTreeSet::new())));
                let known = protocol.clone();
                let learn = move |item: &HookItem<'_>| {
                    let decoded = stream.read(&Cxl68Unit::from_bytes(item.bytes).expect("68 bytes"));
                    if matches!(decoded.kind, Cxl68UnitKind::Protocol(_)) {
                        protocol.lock().expect("no panic").insert(item.bytes.to_vec());
                    }
                    HookAnswer::Keep
                };
                hooks.attach(HookPoint::ReplayIn, Direction::Tx, learn).expect("no hook runs");
                let alter = move |item: &HookItem<'_>| {
                    if !known.lock().expect("no panic").contains(item.bytes) {
                        return HookAnswer::Keep;
                    }
                    let mut unit = Cxl68Unit::from_bytes(item.bytes).expect("68 bytes");
                    unit.0[4] &= 0x0f;
                    unit.0[5] = 0;
                    unit.set_tail(unit.expected_crc());
                    HookAnswer::Replace(unit.0.to_vec())
                };
                hooks.attach(HookPoint::ReplayOut, Direction::Tx, alter).expect("no hook runs");
            }
        }
        end.attach_hooks(&hooks);
    }
}

/// The faults of retry, with the rule each breaks and who sees it first of all. The scoreboard sees what the
/// end makes of a unit without sending anything wrong at once.
pub const MUTANTS: &[(Fault, &str, &str)] = &[
    (Fault::Inside(Cxl68Mutant::IdleStored), "CXL68-LLR-01", "monitor CXL68-RRS-01"),
    (Fault::Inside(Cxl68Mutant::CountedWhileFrozen), "CXL68-LLR-02", "monitor CXL68-LLR-02"),
    (Fault::Inside(Cxl68Mutant::ReplayedAkDecrements), "CXL68-LLR-03", "monitor CXL68-LLR-10"),
    (Fault::ReplayOffByOne, "CXL68-LLR-04", "monitor CXL68-LLR-14"),
    (Fault::Inside(Cxl68Mutant::LastEntryUsed), "CXL68-LLR-07", "monitor CXL68-LLR-07"),
    (Fault::Inside(Cxl68Mutant::RunNotReserved), "CXL68-LLR-08", "monitor CXL68-LLR-08"),
    (Fault::Inside(Cxl68Mutant::AkTooEarly), "CXL68-LLR-09", "monitor CXL68-LLR-09"),
    (Fault::Inside(Cxl68Mutant::FlushTimerOff), "CXL68-LLR-10", "monitor CXL68-LLR-10"),
    (Fault::ReplayAltered, "CXL68-LLR-11", "monitor CXL68-LLR-11"),
    (Fault::Inside(Cxl68Mutant::FourFrames), "CXL68-LLR-12", "monitor CXL68-LLR-12"),
    (Fault::Inside(Cxl68Mutant::ReplayOrderChanged), "CXL68-LLR-14", "monitor CXL68-LLR-14"),
    (Fault::Inside(Cxl68Mutant::ReqBeforeAck), "CXL68-LLR-16", "monitor CXL68-LLR-16"),
    (Fault::Inside(Cxl68Mutant::RetryFlitCounted), "CXL68-LRS-02", "monitor CXL68-LLR-05"),
    (Fault::Inside(Cxl68Mutant::ReqMovesLocal), "CXL68-LRS-03", "monitor CXL68-LRS-03"),
    (Fault::Inside(Cxl68Mutant::BadFlitDelivered), "CXL68-LRS-04", "scoreboard"),
    (Fault::Inside(Cxl68Mutant::DeliversInLlrReq), "CXL68-LRS-08", "scoreboard"),
    (Fault::Inside(Cxl68Mutant::NoTimeout), "CXL68-LRS-14", "monitor CXL68-LRS-14"),
    (Fault::Inside(Cxl68Mutant::ReinitKeepsCount), "CXL68-LRS-11", "monitor CXL68-LRS-11"),
    (Fault::Inside(Cxl68Mutant::StaleAckAccepted), "CXL68-LRS-13", "monitor CXL68-LRS-18"),
    (Fault::Inside(Cxl68Mutant::DeliversInLocalIdle), "CXL68-LRS-15", "scoreboard"),
    (Fault::Inside(Cxl68Mutant::AbortLeaves), "CXL68-LRS-16", "monitor CXL68-LRS-16"),
    (Fault::Inside(Cxl68Mutant::DataBeforeAck), "CXL68-RRS-02", "monitor CXL68-RRS-02"),
    (Fault::Inside(Cxl68Mutant::AckAfterRetrain), "CXL68-RRS-03", "monitor CXL68-RRS-03"),
    (Fault::Inside(Cxl68Mutant::EmptyWithData), "CXL68-RRS-04", "monitor CXL68-RRS-04"),
];

/// A link whose device may have a fault, brought into the situation in which `fault` shows.
fn provoke(fault: Fault, on: bool) -> Findings {
    let (mutant, of) = (fault.mutant().filter(|_| on), fault.mutant());
    let mut bench = match of {
        Some(Cxl68Mutant::AbortLeaves) => return given_up(mutant),
        Some(Cxl68Mutant::FlushTimerOff) => return one_sided(mutant),
        // Small buffers for the rules of the last entries.
        Some(Cxl68Mutant::LastEntryUsed | Cxl68Mutant::RunNotReserved) => {
            Bench::mutant(Cxl68Config { llrb_entries: 22, ..link() }, mutant, 5)
        }
        _ => Bench::mutant(link(), mutant, 5),
    };
    if on {
        fault.attach(&mut bench.pair.device);
    }
    for dir in Dir::ALL {
        bench.wire(dir, Vec::new(), BER, 5);
    }
    for flit in 1..=30_000u64 {
        bench.step();
        let trains = match of {
            Some(Cxl68Mutant::AckAfterRetrain) => {
                bench.pair.device.remote() != scalepool::link::cxl68::retry::Remote::Normal
            }
            Some(Cxl68Mutant::ReinitKeepsCount) => bench.pair.device.local().num_retry > 0,
            _ => false,
        };
        if trains && flit % 16 == 0 {
            bench.pair.train();
        }
        if of == Some(Cxl68Mutant::StaleAckAccepted)
            && bench.pair.device.local().state == Local::LocalIdle
            && flit % 16 == 0
        {
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
fn given_up(mutant: Option<Cxl68Mutant>) -> Findings {
    let mut device = EndConfig::cachemem(
        Dir::Up,
        Cxl68Config { timeout_flits: 16, max_num_retry: 2, max_num_phy_reinit: 2, ..link() },
        40,
    );
    device.mutant = mutant;
    let patient = Cxl68Config { max_num_retry: 31, max_num_phy_reinit: 31, ..link() };
    let mut bench = Bench::with(EndConfig::cachemem(Dir::Down, patient, 40), device, 6);
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
fn one_sided(mutant: Option<Cxl68Mutant>) -> Findings {
    let mut bench = Bench::mutant(link(), mutant, 7);
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
pub fn killed(fault: impl Into<Fault>) -> Findings {
    let fault = fault.into();
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
