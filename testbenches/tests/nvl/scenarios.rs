//! Scenarios NVL-T01 to NVL-T11 and NVL-T15 of the conformance catalogue: two ends and faulty wires.

use super::common::*;
use super::rig::*;
use scalepool_testbenches::soak::{is_soak, number_in};

/// A link that has said its credits.
fn ready(seed: u64) -> Bench {
    let mut bench = Bench::new(config(), Buffers::default(), seed);
    assert!(bench.rest(500));
    // The last CREDIT_INIT is under way.
    bench.run(LATENCY_FLITS + 1);
    bench
}

/// NVL-T01: CREDIT_INIT, first read.
#[test]
fn scenario_t01_bring_up() {
    let mut bench = ready(1);
    let credits = bench.pair.host.credits().available(Vc::CREQ0);
    assert_eq!((credits.headers, credits.data_flits), (32, 256));
    bench.send(Dir::Down, NvlMessage { size: 3, address: 0x1000, ..message(Op::READ, 7, 0) });
    assert!(bench.rest(200));
    bench.send(Dir::Up, message(Op::RSP_DATA, 7, 4));
    assert!(bench.rest(200));
    bench.assert_clean();
    assert_eq!((bench.delivered[0][0], bench.delivered[1][5]), (1, 1));
}

/// NVL-T02: all operations, sizes, AE, BE.
#[test]
fn scenario_t02_all_operations() {
    let mut bench = Bench::new(config(), Buffers::default(), 2);
    bench.produce = [40; 2];
    bench.pair.wires.keep_log();
    bench.run(30_000);
    assert!(bench.rest(5000));
    bench.assert_clean();
    assert_eq!(bench.pair.host.stats().replays + bench.pair.device.stats().replays, 0, "a clean link never replays");
    // Everything on the wire is legal, packet by packet, and every operation was there with and without AE and BE.
    let mut seen = std::collections::BTreeSet::new();
    for dir in Dir::ALL {
        let flits: Vec<u128> = bench.pair.take_log_of(dir).collect();
        let (mut unpacker, mut rest) = (Unpacker::default(), &flits[..]);
        while let Some(first) = rest.first() {
            let Some((packet, others)) = rest.split_at_checked(1 + usize::from(NvlHeader::from_bits(*first).len))
            else {
                break;
            };
            rest = others;
            let packet = Packet::new(packet).expect("1 to 18 flits");
            let decoded = unpacker.read(&packet);
            assert_eq!(check::packet(&decoded, unpacker.config()).violations, []);
            let header = packet.header();
            seen.insert((header.op, header.ae, header.be));
        }
    }
    for op in OPS {
        let has_be = op.has_data() == Some(true);
        assert!(seen.contains(&(op, false, false)) && seen.contains(&(op, true, false)), "{op:?}");
        assert_eq!(seen.contains(&(op, true, true)), has_be, "{op:?}");
    }
}

trait TakeLog {
    fn take_log_of(&mut self, dir: Dir) -> std::vec::IntoIter<u128>;
}

impl TakeLog for Pair {
    /// The flits of a direction; the log stays.
    fn take_log_of(&mut self, dir: Dir) -> std::vec::IntoIter<u128> {
        let log = self.wires.clone().take_log();
        log.into_iter().filter(|s| s.dir == dir).map(|s| s.unit.bits()).collect::<Vec<_>>().into_iter()
    }
}

/// A link on which one write with AE, BE and 4 data flits goes next, and this fault hits.
fn one_write(fault: impl Fn(u64) -> Fault) -> Bench {
    let mut bench = ready(3);
    bench.wire(Dir::Down, vec![fault(0)], 0.0, 3);
    let write = NvlMessage { address: 5 << 40, be: Some(0xffff), ..message(Op::WRITE_POSTED, 1, 4) };
    bench.send(Dir::Down, write);
    bench.send(Dir::Down, message(Op::READ, 2, 0));
    bench
}

/// NVL-T03: one wrong bit in header, AE, BE, each data flit: one replay, no loss.
#[test]
fn scenario_t03_single_error() {
    for unit in 0..8 {
        for bit in [0, 17, 64, 127] {
            let mut bench = one_write(|first| Fault::Flip { unit: first + unit, bit });
            assert!(bench.rest(2000), "flit {unit} bit {bit}");
            bench.assert_clean();
            assert_eq!((bench.pair.wires.damaged(), bench.pair.host.stats().replays), (1, 1), "flit {unit} bit {bit}");
            assert_eq!(bench.pair.device.stats().bad_headers, 1);
        }
    }
}

/// NVL-T04: a wrong bit in the last payload before silence; the IDLE that closes it finds it.
#[test]
fn scenario_t04_payload_error_at_idle() {
    for unit in 1..5 {
        let mut bench = ready(4);
        bench.wire(Dir::Down, vec![Fault::Flip { unit, bit: 77 }], 0.0, 4);
        bench.send(Dir::Down, message(Op::WRITE_POSTED, 1, 4));
        assert!(bench.rest(2000));
        bench.assert_clean();
        assert_eq!((bench.pair.host.stats().replays, bench.delivered[0][6]), (1, 1));
    }
}

/// NVL-T05: acknowledgements are lost; after the time-out REPLAY_INIT three times, replay from the oldest. What was here
/// already does not come twice.
#[test]
fn scenario_t05_time_out() {
    let mut bench = ready(5);
    bench.pair.host.lose_acks(true);
    for tag in 0..3 {
        bench.send(Dir::Down, message(Op::WRITE_POSTED, tag, 4));
    }
    while bench.pair.host.stats().replays == 0 {
        bench.step();
        assert!(bench.pair.wires.now() < 2000);
    }
    for _ in 0..3 {
        bench.step();
    }
    assert_eq!(bench.pair.host.stats().replay_inits, 3);
    // Nothing was ever acknowledged, so CREDIT_INIT goes again too.
    bench.run(60);
    assert_eq!(bench.pair.host.stats().replayed, 3, "the oldest and all behind it");
    bench.pair.host.lose_acks(false);
    bench.send(Dir::Down, message(Op::READ, 9, 0));
    assert!(bench.rest(3000));
    bench.assert_clean();
    assert_eq!((bench.delivered[0][6], bench.delivered[0][0]), (3, 1));
}

/// NVL-T06: three equal acknowledgements: no waiting for the time-out.
#[test]
fn scenario_t06_equal_acknowledgements() {
    let mut bench = Bench::new(LinkConfig { timeout_flits: 100_000, ..LinkConfig::default() }, Buffers::default(), 6);
    assert!(bench.rest(500));
    bench.wire(Dir::Down, vec![Fault::Drop { unit: 0 }], 0.0, 6);
    bench.send(Dir::Down, message(Op::WRITE_POSTED, 1, 2));
    let before = bench.pair.wires.now();
    assert!(bench.rest(300));
    bench.assert_clean();
    assert_eq!(bench.pair.host.stats().replays, 1);
    assert!(bench.pair.wires.now() - before < 10 * LATENCY_FLITS, "{} flits", bench.pair.wires.now() - before);
}

/// NVL-T07: the first one, two, three copies of REPLAY_INIT are lost.
#[test]
fn scenario_t07_lost_replay_init() {
    let with = |lost: std::ops::Range<u64>| {
        let mut bench = ready(7);
        let drops = [0].into_iter().chain(lost).map(|unit| Fault::Drop { unit });
        bench.wire(Dir::Down, drops.collect(), 0.0, 7);
        bench.pair.wires.keep_log();
        bench.send(Dir::Down, message(Op::READ, 1, 0));
        assert!(bench.rest(2000));
        bench.assert_clean();
        bench
    };
    let mut plain = with(0..0);
    let mut down = plain.pair.take_log_of(Dir::Down);
    let first = down.position(|bits| NvlHeader::from_bits(bits).op == Op::REPLAY_INIT).expect("a replay") as u64;
    assert_eq!((plain.pair.host.stats().replays, plain.pair.host.stats().replay_inits), (1, 3));
    for lost in 1..=3 {
        let stats = *with(first..first + lost).pair.host.stats();
        assert_eq!(stats.replays, if lost < 3 { 1 } else { 2 }, "{lost} lost");
    }
}

/// NVL-T08: identifiers go round; an error at the wrap replays the right packet.
#[test]
fn scenario_t08_wrap() {
    for error_at in [4090, 4095, 4096, 4097, 4100, 8190, 8193] {
        let mut bench = ready(8);
        let buffers = bench.pair.host.credits().available(Vc::CREQ1);
        assert_eq!(buffers.data_flits, 256);
        let mut sent = 0;
        let mut tag = 0;
        while sent < 9000 {
            let flits = 1 + tag % 16;
            if sent <= error_at && sent + flits as u64 >= error_at {
                bench.wire(Dir::Down, vec![Fault::Drop { unit: 3 }], 0.0, 8);
            }
            sent += 1 + flits as u64;
            bench.send(Dir::Down, message(Op::WRITE_POSTED, (tag % 1024) as u16, flits));
            tag += 1;
            while bench.pair.host.waiting(Vc::CREQ1) > 3 {
                bench.produce = [0; 2];
                bench.step();
            }
        }
        assert!(bench.rest(5000));
        bench.assert_clean();
        assert!(bench.pair.host.stats().replays >= 1, "an error near {error_at}");
    }
}

/// NVL-T09: nothing arrives any more: 8 tries, then the link is down.
#[test]
fn scenario_t09_dead_peer() {
    let mut bench = ready(9);
    bench.pair.cut = true;
    bench.send(Dir::Down, message(Op::READ, 1, 0));
    for _ in 0..2500 {
        bench.step();
    }
    assert!(bench.pair.host.is_down() && !bench.pair.device.is_down());
    assert_eq!(bench.pair.host.stats().replays, 8);
    let events: Vec<_> = bench.events.iter().map(|e| (e.severity, e.violation.rule)).collect();
    assert_eq!(events, [(Severity::Uncorrectable, "NVL-RPL-05")]);
}

/// NVL-T10: two channels alternate between regions, with errors: the addresses are right.
#[test]
fn scenario_t10_ae_memory() {
    let mut bench = ready(10);
    let drops = (0..40).map(|n| Fault::Drop { unit: 31 * n + 7 }).collect();
    bench.wire(Dir::Down, drops, 0.0, 10);
    for n in 0..400u64 {
        let (op, region) = if n % 2 == 0 { (Op::READ, n / 8) } else { (Op::WRITE_POSTED, n / 5) };
        let address = (region % 7) << 38 | n << 4;
        bench.send(Dir::Down, NvlMessage { address, ..message(op, n as u16, usize::from(op != Op::READ)) });
    }
    assert!(bench.rest(20_000));
    bench.assert_clean();
    assert!(bench.pair.host.stats().replays > 5);
    assert_eq!((bench.delivered[0][0], bench.delivered[0][6]), (200, 200));
}

/// NVL-T11: one header and one data credit a channel: no overrun, responses sink.
#[test]
fn scenario_t11_credit_of_one() {
    for ber in [0.0, 1e-4] {
        let mut bench = Bench::new(config(), Buffers::of_default_channels(1, 1), 11);
        for dir in Dir::ALL {
            bench.wire(dir, Vec::new(), ber, 11);
        }
        (bench.most, bench.produce, bench.consume) = (1, [64; 2], [40; 2]);
        bench.run(20_000);
        assert!(bench.rest(10_000));
        bench.assert_clean();
        assert!(
            bench.delivered.iter().all(|d| CHANNELS.iter().all(|vc| d[usize::from(vc.0)] > 100)),
            "{:?}",
            bench.delivered
        );
    }
}

/// Flits of each direction of a soak; `SCALEPOOL_SOAK_FLITS` sets another number.
fn soak_flits() -> u64 {
    number_in("SCALEPOOL_SOAK_FLITS", 40_000)
}

fn soak(seed: u64, ber: f64, config: LinkConfig, buffers: Buffers) {
    let mut bench = Bench::new(config, buffers, seed);
    for dir in Dir::ALL {
        let n = 1000 + 37 * seed;
        let faults = vec![
            Fault::Noise { unit: n },
            Fault::Vanish { unit: 2 * n },
            Fault::Duplicate { unit: 3 * n },
            Fault::Vanish { unit: 4 * n },
            Fault::Duplicate { unit: 5 * n + 1 },
            // In the middle of CREDIT_INIT.
            Fault::Drop { unit: seed % 30 },
        ];
        bench.wire(dir, faults, ber, seed);
    }
    for part in 0..8 {
        bench.produce = [[8, 30], [64, 0], [0, 64], [20, 20], [64, 64], [3, 3], [40, 10], [0, 0]][part];
        bench.consume = [[64, 64], [64, 20], [20, 64], [8, 8], [64, 64], [64, 64], [10, 30], [64, 64]][part];
        bench.run(soak_flits() / 8);
    }
    let stats = [*bench.pair.host.stats(), *bench.pair.device.stats()];
    let rested = bench.rest(20_000);
    let state = |end: &NvlEnd| {
        let (tx, rx) = (end.transmitter(), end.receiver());
        (end.is_down(), tx.unacknowledged_flits(), tx.is_replaying(), tx.tries(), rx.is_hunting(), rx.is_quiet())
    };
    let states = [state(&bench.pair.host), state(&bench.pair.device)];
    assert!(rested, "seed {seed}: the link does not come to rest: {stats:?} {states:?} {:?}", bench.events);
    bench.assert_clean();
    assert!(stats.iter().all(|s| s.replays > 2 && s.bad_headers > 2), "seed {seed}: {stats:?}");
    let busy = bench.delivered.iter().all(|d| CHANNELS.iter().all(|vc| d[usize::from(vc.0)] > 100));
    assert!(busy, "seed {seed}: {:?}", bench.delivered);
}

/// NVL-T15: bit errors, listed faults; nothing lost, nothing twice, rules silent, all credits home.
#[test]
fn scenario_t15_soak() {
    for seed in 1..=if is_soak() { 6 } else { 3 } {
        soak(seed, 1e-5, config(), Buffers::default());
        soak(10 + seed, 1e-4, config(), Buffers::of_default_channels(4, 32));
        // One flit in 40 is wrong: eight failures in a row are no accident then.
        let patient = LinkConfig { window_flits: 96, replay_tries: 64, ..config() };
        soak(20 + seed, 2e-4, patient, Buffers::of_default_channels(8, 64));
    }
}
