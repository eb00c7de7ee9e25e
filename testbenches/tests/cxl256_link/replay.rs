//! CXL256-RTY: Nak, replay, its timer and count.

use super::rig::*;
use scalepool::link::cxl256::ReplayLimit;

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
    bench.pair.keep_log();
    for _ in 0..600 {
        bench.step();
    }
    let log = bench.pair.take_log();
    for dir in Dir::ALL {
        let headers: Vec<_> = log.iter().filter(|s| s.dir == dir).map(|s| s.flit.header()).collect();
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
