//! Noise for long: nothing lost, nothing twice, nothing out of order, all rules silent, all credits home.
//!
//! Modelled: random traffic of all operations and channels in both directions, as fast as the link goes, bit errors at 1e-6,
//! 1e-5 and 1e-4 with three seeds each; of the acknowledgements that arrive one in a hundred is not heard. `SCALEPOOL_SOAK`
//! sets the packets of each direction at the two lower rates, a tenth of it at the highest; one million is the full size.
//! At the highest rate one flit in 80 is wrong, so the link gives up after 64 failed replays instead of 8.

use super::rig::*;
use scalepool::kernel::Rng;

/// Packets of each direction of one run, unless the environment says otherwise.
const SOAK_PACKETS: u64 = 10_000;
/// Flit clocks a packet that a run may take: a packet has 18 flits at most, and may have to go more than once.
const PATIENCE: u64 = 100;

fn soak_packets() -> u64 {
    std::env::var("SCALEPOOL_SOAK").map_or(SOAK_PACKETS, |text| {
        text.parse().unwrap_or_else(|_| panic!("SCALEPOOL_SOAK: found `{text}`, expected a number of packets"))
    })
}

fn soak(ber: f64, packets: u64, config: LinkConfig, seed: u64) {
    let mut bench = Bench::new(config, Buffers::default(), seed);
    bench.produce = [64; 2];
    for dir in Dir::ALL {
        bench.wire(dir, Vec::new(), ber, seed);
    }
    let mut rng = Rng::for_name(seed, "acks");
    let sent = |bench: &Bench| bench.pair.first.stats().sent_packets.min(bench.pair.second.stats().sent_packets);
    while sent(&bench) < packets {
        bench.pair.first.lose_acks(rng.ratio(1, 100));
        bench.pair.second.lose_acks(rng.ratio(1, 100));
        bench.step();
        assert!(bench.pair.wires.now() < packets * PATIENCE + 10_000, "seed {seed}: it hangs, {:?}", bench.events);
    }
    bench.pair.first.lose_acks(false);
    bench.pair.second.lose_acks(false);
    let busy_flits = bench.pair.wires.now();
    assert!(bench.rest(100_000), "seed {seed}: the link does not come to rest");
    bench.assert_clean();
    let stats = [*bench.pair.first.stats(), *bench.pair.second.stats()];
    println!(
        "bit error rate {ber:e}, seed {seed}: {} and {} packets, {} messages, in {busy_flits} flit clocks; {} flits damaged, \
         {} bad headers, {} replays, {} packets again, nothing lost, twice or out of order",
        stats[0].sent_packets,
        stats[1].sent_packets,
        bench.delivered.iter().flatten().sum::<u64>(),
        bench.pair.wires.damaged(),
        stats[0].bad_headers + stats[1].bad_headers,
        stats[0].replays + stats[1].replays,
        stats[0].replayed + stats[1].replayed,
    );
    let busy = bench.delivered.iter().all(|d| CHANNELS.iter().all(|vc| d[usize::from(vc.0)] > packets / 10));
    assert!(busy, "every channel has travelled: {:?}", bench.delivered);
    assert!(bench.pair.wires.damaged() > 0 || ber * 256.0 * (busy_flits as f64) < 20.0, "noise was on the wires");
}

#[test]
fn soak_at_1e_6() {
    (1..=3).for_each(|seed| soak(1e-6, soak_packets(), config(), seed));
}

#[test]
fn soak_at_1e_5() {
    (1..=3).for_each(|seed| soak(1e-5, soak_packets(), config(), 10 + seed));
}

#[test]
fn soak_at_1e_4() {
    let patient = LinkConfig { replay_tries: 64, ..config() };
    (1..=3).for_each(|seed| soak(1e-4, soak_packets() / 10, patient, 20 + seed));
}
