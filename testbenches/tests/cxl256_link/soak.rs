//! Noise: nothing lost, nothing twice, nothing out of order, all credits home.
//!
//! The FEC repairs a single wrong byte, so at low rates hardly a flit is bad behind it; the higher rates and the listed
//! drops make the replays.

use super::rig::*;

/// Flits of each direction.
const FLITS: u64 = 40_000;

fn soak(ber: f64, messages: u16, link: LinkConfig, seed: u64) {
    let mut bench = Bench::new(link, messages, seed);
    for dir in Dir::ALL {
        let drops = (1..20).map(|n| Fault::Drop { unit: n * 1999 + seed }).collect();
        bench.wire(dir, drops, ber, seed);
    }
    while bench.pair.now() < FLITS {
        bench.step();
    }
    assert_eq!(bench.pair.undetected(), 0, "FEC and CRC let one through; choose another seed");
    let rested = bench.rest(50_000);
    let (host, device) = (*bench.pair.host.stats(), *bench.pair.device.stats());
    println!(
        "bit error rate {ber:e}: {FLITS} flit clocks, {} messages, {} flits damaged, {} repaired, {} bad, {} replays, {} \
         flits replayed, {} duplicates, {} trainings",
        bench.delivered.iter().sum::<u64>(),
        bench.pair.damaged(),
        host.repaired + device.repaired,
        host.bad + device.bad,
        host.replays + device.replays,
        host.replayed + device.replayed,
        bench.pair.host.receiver().duplicates + bench.pair.device.receiver().duplicates,
        bench.pair.trainings,
    );
    assert!(rested, "the link does not come to rest: {host:?} {device:?}");
    bench.assert_clean();
    assert!(host.repaired + device.repaired > 0 && host.replays > 0 && device.replays > 0);
    assert!(bench.delivered.iter().all(|&n| n > 500), "every class has travelled: {:?}", bench.delivered);
}

#[test]
fn soak_at_1e_5() {
    soak(1e-5, 32, LinkConfig::default(), 1);
}

#[test]
fn soak_at_1e_4() {
    soak(1e-4, 32, LinkConfig::default(), 2);
}

#[test]
fn soak_at_1e_3_with_a_short_buffer() {
    let link = LinkConfig { buffer_flits: 24, replay_timer_flits: 200, ..LinkConfig::default() };
    soak(1e-3, 20, link, 3);
}

#[test]
fn soak_at_1e_4_with_selective_naks() {
    soak(1e-4, 32, LinkConfig { selective_nak: true, ..LinkConfig::default() }, 7);
}

#[test]
fn soak_at_1e_3_with_selective_naks() {
    soak(1e-3, 20, LinkConfig { selective_nak: true, replay_timer_flits: 200, ..LinkConfig::default() }, 8);
}

#[test]
fn soak_of_many_seeds() {
    for seed in 10..18 {
        let link = LinkConfig { selective_nak: seed % 2 == 0, replay_timer_flits: 200, ..LinkConfig::default() };
        soak(8e-4, 24, link, seed);
    }
}

#[test]
fn clean_link_never_replays() {
    let mut bench = Bench::new(LinkConfig::default(), 32, 4);
    while bench.pair.now() < 10_000 {
        bench.step();
    }
    assert!(bench.rest(20_000));
    bench.assert_clean();
    let (host, device) = (&bench.pair.host, &bench.pair.device);
    let replays = (host.stats().replays, device.stats().replays);
    assert_eq!((replays, host.receiver().duplicates, device.receiver().ahead), ((0, 0), 0, 0));
}

#[test]
fn training_loses_nothing() {
    let mut bench = Bench::new(LinkConfig::default(), 32, 5);
    for n in 1..12_000 {
        bench.step();
        if n % 1111 == 0 {
            bench.pair.train();
        }
    }
    assert!(bench.rest(20_000));
    bench.assert_clean();
    assert!(bench.pair.trainings >= 10);
}

#[test]
fn credit_of_one() {
    let mut bench = Bench::new(LinkConfig::default(), 1, 6);
    while bench.pair.now() < 30_000 {
        bench.step();
    }
    assert!(bench.rest(20_000));
    bench.assert_clean();
}
