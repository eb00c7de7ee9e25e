//! Noise: nothing lost, nothing twice, nothing out of order, all credits home.
//!
//! Modelled: random traffic of all twelve classes in all three flit formats, bit errors, flits that are replaced by noise,
//! flits that vanish without a trace, flits that come twice, both kinds of Nak, acknowledgements that are not heard for a
//! while, training from outside. `SCALEPOOL_SOAK` sets the flit clocks of one run, default 6 000.
//!
//! The FEC repairs a single wrong byte, so at low rates hardly a flit is bad behind it; the higher rates and the listed
//! faults make the replays.

use super::rig::*;
use scalepool::kernel::Rng;
use scalepool_testbenches::soak::{is_soak, number_in};

/// Flit clocks of one run, unless the environment says otherwise.
const SOAK_FLITS: u64 = 6_000;
/// Flit clocks for which acknowledgements are not heard, once in a while.
const DEAF_FLITS: u64 = 300;

fn soak_flits() -> u64 {
    number_in("SCALEPOOL_SOAK", SOAK_FLITS)
}

/// What happens on the wires of one run.
#[derive(Debug, Clone, Copy, Default)]
struct Noise {
    ber: f64,
    /// Flits between two of each kind of listed fault, on average; 0: none.
    drops: u64,
    vanishes: u64,
    twice: u64,
    /// Acknowledgements are not heard for a while.
    deaf: bool,
    /// Flits between two trainings; 0: none.
    training: u64,
}

/// Faults of a kind at random flits, `every` flits on average.
fn listed(rng: &mut Rng, every: u64, fault: fn(u64) -> Fault) -> Vec<Fault> {
    if every == 0 {
        return Vec::new();
    }
    (1..soak_flits() / every).map(|n| fault(n * every - rng.below(every))).collect()
}

/// Names of rules that tell of a fault of the wire which the link repairs.
const NAMED: [&str; 2] = ["CXL256-HDR-02", "CXL256-RTY-06"];

fn soak(noise: Noise, messages: u16, link: LinkConfig, seed: u64) -> Bench {
    let mut bench = Bench::new(link, messages, seed);
    let mut rng = Rng::for_name(seed, "faults");
    for dir in Dir::ALL {
        let mut faults = listed(&mut rng, noise.drops, |unit| Fault::Drop { unit });
        faults.extend(listed(&mut rng, noise.vanishes, |unit| Fault::Vanish { unit }));
        faults.extend(listed(&mut rng, noise.twice, |unit| Fault::Duplicate { unit }));
        bench.wire(dir, faults, noise.ber, seed);
    }
    while bench.pair.wires.now() < soak_flits() {
        let now = bench.pair.wires.now();
        bench.pair.host.lose_acks(noise.deaf && now % 2001 < DEAF_FLITS);
        bench.pair.device.lose_acks(noise.deaf && now % 2503 < DEAF_FLITS);
        if noise.training > 0 && now % noise.training == noise.training - 1 {
            bench.pair.train();
        }
        bench.step();
    }
    assert_eq!(bench.pair.wires.undetected(), 0, "FEC and CRC let one through; choose another seed");
    bench.pair.host.lose_acks(false);
    bench.pair.device.lose_acks(false);
    let rested = bench.rest(50_000);
    let (host, device) = (*bench.pair.host.stats(), *bench.pair.device.stats());
    let (into_host, into_device) = (bench.pair.host.receiver(), bench.pair.device.receiver());
    println!(
        "{}, {noise:?}, selective {}: {} flit clocks, {} messages, {} flits damaged, {} repaired, {} bad, {} replays, {} \
         flits replayed, {} duplicates, {} in doubt dropped, {} trainings",
        link.mode.protocol(),
        link.selective_nak,
        soak_flits(),
        bench.delivered.iter().sum::<u64>(),
        bench.pair.wires.damaged(),
        host.repaired + device.repaired,
        host.bad + device.bad,
        host.replays + device.replays,
        host.replayed + device.replayed,
        into_host.duplicates + into_device.duplicates,
        into_host.doubted + into_device.doubted,
        bench.pair.trainings,
    );
    assert!(rested, "the link does not come to rest: {host:?} {device:?}");
    if noise.vanishes + noise.twice > 0 {
        bench.events.retain(|e| !NAMED.contains(&e.violation.rule));
    }
    bench.assert_clean();
    assert!(
        bench.delivered.iter().all(|&n| n > soak_flits() / 200),
        "every class has travelled: {:?}",
        bench.delivered
    );
    bench
}

/// Links of every format and both kinds of Nak, with their number.
fn links() -> impl Iterator<Item = (u64, LinkConfig)> {
    let with =
        |(mode, selective_nak)| LinkConfig { mode, selective_nak, replay_timer_flits: 300, ..LinkConfig::default() };
    (0..).zip(Mode::ALL.into_iter().flat_map(|mode| [(mode, false), (mode, true)]).map(with))
}

#[test]
fn soak_at_1e_5() {
    for (n, link) in links() {
        soak(Noise { ber: 1e-5, drops: 499, ..Noise::default() }, 32, link, 100 + n);
    }
}

#[test]
fn soak_at_1e_3_with_a_short_buffer() {
    for (n, link) in links() {
        let link = LinkConfig { buffer_flits: 24, ..link };
        soak(Noise { ber: 1e-3, ..Noise::default() }, 20, link, 200 + n);
    }
}

#[test]
fn soak_with_flits_that_vanish_or_come_twice() {
    for (n, link) in links() {
        let noise = Noise { ber: 1e-5, drops: 997, vanishes: 499, twice: 601, deaf: true, training: 1501 };
        soak(noise, 32, link, 300 + n);
    }
}

#[test]
fn soak_of_many_faults() {
    for (n, link) in links() {
        for seed in 0..if is_soak() { 3 } else { 1 } {
            let noise = Noise { ber: 1e-4, drops: 61, vanishes: 47, twice: 53, deaf: true, training: 0 };
            soak(noise, 24, link, 400 + 10 * n + seed);
        }
    }
}

#[test]
fn clean_link_never_replays() {
    for (n, link) in links() {
        let bench = soak(Noise::default(), 32, link, 500 + n);
        let (host, device) = (&bench.pair.host, &bench.pair.device);
        let replays = (host.stats().replays, device.stats().replays);
        assert_eq!((replays, host.receiver().duplicates, device.receiver().ahead), ((0, 0), 0, 0));
        assert_eq!((host.receiver().doubted, device.receiver().doubted), (0, 0));
    }
}

#[test]
fn credit_of_one() {
    for (n, link) in links().filter(|(_, link)| link.selective_nak) {
        let mut bench = Bench::new(link, 1, 600 + n);
        while bench.pair.wires.now() < soak_flits() {
            bench.step();
        }
        assert!(bench.rest(20_000));
        bench.assert_clean();
    }
}
