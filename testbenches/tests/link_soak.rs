//! The 68B link under noise: nothing lost, nothing twice, nothing out of order, all credits home.
//!
//! Modelled: random traffic of all ten classes in both directions, credits held back now and then, link training from
//! outside, bit errors. A monitor beside each end judges every unit. `SCALEPOOL_SOAK_FLITS` sets the flits of each
//! direction, default one million. The default runs take about a minute on two cores.
//!
//! CRC-16 lets one of 65536 heavy error patterns through. Such a flit would be used as it is, here as in a real link,
//! and the scoreboard would see it. It is not hidden: the wires count the units that changed unseen, and a run that
//! meets one says so instead of blaming the link. The fixed seeds of the default runs meet none.

#[path = "cxl68_retry/bench.rs"]
mod bench;

use bench::{Bench, link};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;

/// Flits of each direction, unless the environment says otherwise.
const SOAK_FLITS: u64 = 1_000_000;
/// Flit clocks between two trainings from outside, on average.
const TRAIN_EVERY_FLITS: u64 = 50_000;

fn soak_flits() -> u64 {
    std::env::var("SCALEPOOL_SOAK_FLITS").map_or(SOAK_FLITS, |text| {
        text.parse().unwrap_or_else(|_| panic!("SCALEPOOL_SOAK_FLITS: found `{text}`, expected a number of flits"))
    })
}

fn soak(ber: f64, host_entries: u16, device_entries: u16, seed: u64) {
    let flits = soak_flits();
    let with = |llrb_entries| Cxl68Config { llrb_entries, ..link() };
    let mut bench = Bench::new(with(host_entries), with(device_entries), seed);
    bench.holds = true;
    for dir in Dir::ALL {
        bench.wire(dir, Vec::new(), ber, seed);
    }
    let sent = |bench: &Bench| bench.pair.host.stats().sent.min(bench.pair.device.stats().sent);
    while sent(&bench) < flits && bench.findings.is_empty() {
        bench.step();
        if bench.rng.ratio(1, TRAIN_EVERY_FLITS) {
            bench.pair.train();
        }
    }
    let (rested, undetected) = (bench.pair.now(), bench.pair.undetected());
    assert_eq!(undetected, 0, "a CRC alias came through; choose another seed or fewer flits");
    bench.rest(100_000);
    bench.assert_clean(&format!("bit error rate {ber:e}"));
    let pair = &bench.pair;
    let (host, device) = (pair.host.stats(), pair.device.stats());
    println!(
        "bit error rate {ber:e}, buffers {host_entries} and {device_entries}: {} and {} units sent in {rested} flit \
         clocks, {} messages; {} units damaged, {} CRC errors, {} unusable IDs, {} and {} Req sequences, {} and {} units \
         replayed, {} trainings, {} asked for by retry, 0 undetected",
        host.sent,
        device.sent,
        bench.delivered.iter().sum::<u64>(),
        pair.damaged(),
        host.crc_errors + device.crc_errors,
        host.pid_errors + device.pid_errors,
        host.retries,
        device.retries,
        host.replayed,
        device.replayed,
        pair.trainings,
        host.reinits + device.reinits,
    );
    assert!(pair.damaged() > 0, "noise was on the wires");
    assert!(bench.delivered.iter().all(|&n| n > flits / 1000), "every class has travelled: {:?}", bench.delivered);
}

#[test]
fn soak_at_1e_6() {
    soak(1e-6, 128, 128, 11);
}

#[test]
fn soak_at_1e_5() {
    soak(1e-5, 22, 255, 12);
}

#[test]
fn soak_at_1e_4() {
    soak(1e-4, 255, 22, 13);
}
