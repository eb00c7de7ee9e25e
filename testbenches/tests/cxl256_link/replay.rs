//! CXL256-RTY: Nak, replay, its timer and count.

use super::rig::*;
use scalepool::link::cxl256::{ReplayLimit, ack_target_flits};

/// Naks among the next flits of an end.
fn naks(solo: &mut Solo, flits: usize) -> Vec<u16> {
    let headers = solo.headers(flits);
    headers.iter().filter(|h| h.command == ReplayCommand::NakStandard).map(|h| h.seq).collect()
}

/// A device whose consumers' answers wait: `count` messages to send, credits for them.
fn with_traffic(link: LinkConfig, count: u16) -> Solo {
    let mut solo = Solo::up(link);
    let mut rng = scalepool::kernel::Rng::from_seed(1);
    for n in 0..count.div_ceil(16) {
        let mut crd = Crd::default();
        crd.give(Class::S2mBisnp, 16);
        solo.flit(FlitType::Cachemem, ReplayCommand::Explicit, 2 + n, &[], crd);
    }
    for _ in 0..count {
        solo.end.client.send(random_message(&mut rng, Routing::Hbr, Class::S2mBisnp)).expect("legal");
    }
    solo
}

#[test]
fn cxl256_rty_06_p() {
    let mut bench = Bench::new(LinkConfig::default(), 32, 1);
    // Both directions at once, so that a Nak and a replay meet.
    for dir in Dir::ALL {
        bench.wire(dir, vec![Fault::Drop { unit: 300 }], 0.0, 1);
    }
    (bench.phases, bench.produce) = (false, [64; 12]);
    bench.pair.wires.keep_log();
    for _ in 0..600 {
        bench.step();
    }
    let log = bench.pair.wires.take_log();
    for dir in Dir::ALL {
        let headers: Vec<_> = log.iter().filter(|s| s.dir == dir).map(|s| s.unit.flit.header()).collect();
        let is_nak = |h: &FlitHeader| h.command == ReplayCommand::NakStandard;
        let first = headers.iter().position(is_nak).expect("a Nak");
        assert!(headers[first..first + 3].iter().all(is_nak), "{dir:?}");
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
    // How a replay starts, on an end alone.
    let mut solo = with_traffic(LinkConfig::default(), 16);
    solo.headers(12);
    solo.nop(ReplayCommand::NakStandard, 3);
    let headers = solo.headers(4);
    let stated: Vec<bool> = headers.iter().map(|h| h.command == ReplayCommand::Explicit).collect();
    assert_eq!((headers[0].seq, stated), (4, vec![true, true, true, false]));
}

#[test]
fn cxl256_rty_06_n() {
    for naks in [1, 2] {
        let mut solo = Solo::up(LinkConfig::default());
        for _ in 0..naks {
            solo.nop(ReplayCommand::NakStandard, 1);
        }
        solo.nop(ReplayCommand::Ack, 1);
        assert_eq!(solo.rules(), ["CXL256-RTY-06"]);
    }
}

#[test]
fn cxl256_rty_07_p() {
    // Two snoops a flit: enough for 511 flits with the one for credits.
    let mut solo = with_traffic(LinkConfig { replay_timer_flits: 5000, ..LinkConfig::default() }, 4800);
    solo.headers(511);
    assert_eq!(solo.end.transmitter().unacknowledged(), 511);
}

#[test]
fn cxl256_rty_07_n() {
    for (buffer_flits, limit) in [(511, 511), (1000, 511), (40, 40)] {
        let link = LinkConfig { replay_timer_flits: 5000, buffer_flits, ..LinkConfig::default() };
        let mut solo = with_traffic(link, 4800);
        solo.headers(700);
        assert_eq!(solo.end.transmitter().unacknowledged(), limit, "the next one waits");
        assert!(solo.end.client.waiting(Class::S2mBisnp) > 0);
    }
}

#[test]
fn cxl256_rty_08_p() {
    let mut bench = Bench::new(LinkConfig::default(), 32, 1);
    (bench.phases, bench.produce) = (false, [64; 12]);
    for n in 0..4000 {
        bench.pair.host.lose_acks((100..1800).contains(&n));
        bench.step();
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
    assert!(bench.pair.host.stats().replays > 0, "the timer has run out");
    assert!(bench.pair.device.receiver().duplicates > 0);
}

#[test]
fn cxl256_rty_08_n() {
    // The replay is lost as well, the Nak for it is not heard and the timer never runs out: the bench sees that nothing
    // moves any more.
    let link = LinkConfig { replay_timer_flits: u32::MAX, nak_ignore_flits: u16::MAX, ..LinkConfig::default() };
    let mut bench = Bench::new(link, 32, 1);
    let lost = [300].into_iter().chain(320..340).map(|unit| Fault::Drop { unit }).collect();
    bench.wire(Dir::Down, lost, 0.0, 1);
    (bench.phases, bench.produce) = (false, [64; 12]);
    for _ in 0..1000 {
        bench.step();
    }
    assert!(!bench.rest(5000));
}

/// Naks for the same number that an end answers before it asks for training.
fn replays_before_training(replay_limit: ReplayLimit) -> u64 {
    let link = LinkConfig { replay_limit, nak_ignore_flits: 0, ..LinkConfig::default() };
    let mut solo = with_traffic(link, 4);
    solo.headers(8);
    for _ in 0..20 {
        solo.nop(ReplayCommand::NakStandard, 1);
        if solo.end.take_retrain_request() {
            return solo.end.stats().replays;
        }
    }
    panic!("the link is never trained");
}

#[test]
fn cxl256_rty_09_p() {
    assert_eq!(replays_before_training(ReplayLimit::UpTo7), 7);
    assert_eq!(replays_before_training(ReplayLimit::Below6), 2);
}

#[test]
fn cxl256_rty_09_n() {
    let link = LinkConfig { nak_ignore_flits: 0, ..LinkConfig::default() };
    let mut solo = with_traffic(link, 4);
    solo.headers(8);
    for _ in 0..8 {
        solo.nop(ReplayCommand::NakStandard, 1);
    }
    assert!(solo.end.take_retrain_request(), "the eighth is one too many");
    assert_eq!(solo.end.stats().trainings, 1);
}

/// A single loss is asked for alone.
fn selective() -> LinkConfig {
    LinkConfig { selective_nak: true, ..LinkConfig::default() }
}

/// One flit lost on a busy link: flits sent again, and the messages of each class in the order they came out.
fn single_loss(link: LinkConfig) -> (u64, [u64; 12]) {
    let mut bench = Bench::new(link, 32, 1);
    bench.wire(Dir::Down, vec![Fault::Drop { unit: 301 }], 0.0, 1);
    (bench.phases, bench.produce) = (false, [64; 12]);
    for _ in 0..1000 {
        bench.step();
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
    (bench.pair.host.stats().replayed, bench.delivered)
}

#[test]
fn cxl256_rty_10_p() {
    let (alone, _) = single_loss(selective());
    let (all, _) = single_loss(LinkConfig::default());
    assert_eq!(alone, 1);
    assert!(all > 20, "{all} flits went again with a standard Nak");
    // The end alone: what lies ahead is kept and follows at once.
    let mut solo = Solo::up(selective());
    solo.bad(true);
    (3..6).for_each(|seq| solo.payload(seq, &[]));
    let headers = solo.headers(8);
    let naks: Vec<u16> = headers.iter().filter(|h| h.command == ReplayCommand::NakSelective).map(|h| h.seq).collect();
    assert_eq!((naks, solo.end.receiver().expected), (vec![1; 3], 2));
    solo.payload(2, &[]);
    assert_eq!(solo.end.receiver().expected, 6);
}

#[test]
fn cxl256_rty_10_n() {
    let mut solo = Solo::up(selective());
    solo.bad(true);
    solo.payload(3, &[]);
    solo.headers(4);
    // A second one before the repair: everything is asked for.
    solo.bad(true);
    solo.payload(5, &[]);
    assert_eq!(naks(&mut solo, 8), [1; 3]);
    (2..6).for_each(|seq| solo.payload(seq, &[]));
    assert_eq!((solo.end.receiver().expected, solo.end.receiver().nak_open), (6, false));
}

#[test]
fn cxl256_rty_11_p() {
    let mut solo = Solo::up(LinkConfig::default());
    solo.bad(false);
    assert_eq!(naks(&mut solo, 8), [0; 0], "one bad flit alone says nothing");
    solo.bad(false);
    assert_eq!(naks(&mut solo, 8), [1; 3]);
    // A stated NOP tells that nothing is missing.
    solo.nop(ReplayCommand::Explicit, 1);
    assert!(!solo.end.receiver().nak_open);
}

#[test]
fn cxl256_rty_11_n() {
    // Behind two bad flits an implied number means nothing; the flit is not taken.
    let mut solo = Solo::up(LinkConfig::default());
    solo.bad(true);
    solo.bad(true);
    solo.flit(FlitType::Cachemem, ReplayCommand::Ack, 1, &[], Crd::default());
    assert_eq!((solo.end.receiver().expected, solo.end.receiver().ahead), (2, 1));
    assert!(solo.end.receiver().nak_open);
}

#[test]
fn cxl256_rty_12_p() {
    let mut solo = Solo::up(LinkConfig::default());
    solo.bad(false);
    solo.flit(FlitType::Cachemem, ReplayCommand::Ack, 1, &[], Crd::default());
    solo.nop(ReplayCommand::Explicit, 2);
    assert_eq!(solo.end.receiver().expected, 3);
    assert_eq!(naks(&mut solo, 8), [0; 0]);
}

#[test]
fn cxl256_rty_12_n() {
    for command in [ReplayCommand::Explicit, ReplayCommand::Ack] {
        let mut solo = Solo::up(LinkConfig::default());
        solo.bad(true);
        let seq = if command == ReplayCommand::Ack { 1 } else { 3 };
        solo.flit(FlitType::Cachemem, command, seq, &[], Crd::default());
        assert_eq!(solo.end.receiver().expected, 2, "number 2 is missing");
        assert_eq!(naks(&mut solo, 8), [1; 3]);
    }
}

#[test]
fn cxl256_rty_13_p() {
    let mut solo = with_traffic(LinkConfig::default(), 4);
    solo.headers(8);
    for _ in 0..3 {
        solo.nop(ReplayCommand::NakStandard, 1);
    }
    assert_eq!(solo.end.stats().replays, 1);
    let headers = solo.headers(4);
    assert!(headers[..3].iter().all(|h| h.command == ReplayCommand::Explicit), "it starts with three stated numbers");
    assert_eq!((headers[0].seq, headers[3].command), (2, ReplayCommand::Ack));
}

#[test]
fn cxl256_rty_13_n() {
    let mut solo = with_traffic(LinkConfig::default(), 4);
    solo.headers(8);
    for _ in 0..2 {
        solo.nop(ReplayCommand::NakStandard, 1);
        solo.headers(usize::from(LinkConfig::default().nak_ignore_flits));
    }
    assert_eq!(solo.end.stats().replays, 2, "a Nak behind the window is heard");
}

/// A busy link whose Acks should come within `target` flits: the longest wait, and how often it was longer.
fn ack_latency(target: u64) -> (u64, u64) {
    let link = LinkConfig { ack_target_flits: target, ..LinkConfig::default() };
    let mut bench = Bench::new(link, 32, 1);
    (bench.phases, bench.produce) = (false, [64; 12]);
    (0..2000).for_each(|_| bench.step());
    let stats = bench.pair.device.stats();
    (stats.ack_most_flits, stats.acks_late)
}

#[test]
fn cxl256_rty_15_p() {
    let targets = [16, 8, 4, 2, 1].map(|lanes| ack_target_flits(lanes, 64));
    assert_eq!(targets, [Some(25), Some(13), Some(7), Some(4), Some(2)]);
    assert_eq!(ack_target_flits(3, 64), None);
    let (most, late) = ack_latency(25);
    println!("x16: payload is acknowledged within {most} flits of 25");
    assert_eq!(late, 0);
}

#[test]
fn cxl256_rty_15_n() {
    // With an Ack in every fourth flit a link of one lane cannot keep its target, and that is reported.
    let (most, late) = ack_latency(2);
    assert!(most > 2 && late > 0, "{late} Acks later than 2 flits, the latest {most}");
}

#[test]
fn flits_that_vanish_or_come_twice_are_asked_for() {
    // Payload 2 is stated; 3, whose number is implied, vanishes, and 4 is taken for it until 5 states its number.
    let mut solo = Solo::up(LinkConfig::default());
    solo.payload(2, &[]);
    solo.flit(FlitType::Cachemem, ReplayCommand::Ack, 1, &[], Crd::default());
    solo.payload(5, &[]);
    assert_eq!((solo.end.receiver().expected, solo.end.receiver().doubted), (3, 1));
    assert_eq!(naks(&mut solo, 8), [2; 3]);
    // The one with an implied number comes twice.
    let mut solo = Solo::up(LinkConfig::default());
    solo.payload(2, &[]);
    for _ in 0..2 {
        solo.flit(FlitType::Cachemem, ReplayCommand::Ack, 1, &[], Crd::default());
    }
    solo.nop(ReplayCommand::Explicit, 3);
    assert_eq!(solo.end.receiver().expected, 3);
    assert_eq!(naks(&mut solo, 8), [2; 3]);
}

#[test]
fn without_doubt_a_lost_flit_is_not_seen_in_time() {
    let mut solo = Solo::up(LinkConfig { doubt_implied: false, ..LinkConfig::default() });
    solo.payload(2, &[]);
    // Number 3 vanished; this is 4.
    solo.flit(FlitType::Cachemem, ReplayCommand::Ack, 1, &[], Crd::default());
    assert_eq!(solo.end.receiver().expected, 4, "it was handed over as number 3");
}

/// The stream of messages does not depend on the kind of Nak.
#[test]
fn both_naks_deliver_the_same() {
    let stream = |selective_nak| {
        let mut bench = Bench::new(LinkConfig { selective_nak, ..LinkConfig::default() }, 32, 1);
        let drops = (1..30).map(|n| Fault::Drop { unit: 40 * n }).collect();
        bench.wire(Dir::Down, drops, 0.0, 1);
        bench.phases = false;
        let mut given = scalepool::kernel::Rng::from_seed(3);
        let mut out = Vec::new();
        for n in 0..3000 {
            if n < 2400 && n % 2 == 0 {
                let message = random_message(&mut given, Routing::Hbr, Class::M2sRwd);
                bench.pair.host.client.send(message).expect("legal");
            }
            bench.pair.step();
            out.extend(bench.pair.device.client.take());
        }
        (out, bench.pair.host.stats().replayed)
    };
    let ((standard, many), (selective, few)) = (stream(false), stream(true));
    assert_eq!(standard.len(), 1200);
    assert!(standard == selective);
    println!("29 lost flits: {many} sent again with standard Naks, {few} with selective ones");
    assert!(few < many);
}
