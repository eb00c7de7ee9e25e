//! NVL-CRD: credits of headers and data, by channel.

use super::common::*;
use super::rig::*;
use scalepool::link::nvlink::credit::{CreditBook, NvlCreditCount};
use scalepool::link::nvlink::{LINK_RID, NvlRefused};

/// A CREDIT_INIT of the peer.
fn init(vc: Vc, crh: u8, crd: u8) -> Packet {
    bare(NvlHeader { crvc: vc, crh, crd, ..header(Op::CREDIT_INIT) })
}

fn count(headers: u64, data_flits: u64) -> NvlCreditCount {
    NvlCreditCount { headers, data_flits }
}

#[test]
fn nvl_crd_01_p() {
    let mut solo = Solo::new();
    for (crh, crd) in [(15, 31), (15, 31), (2, 0)] {
        solo.feed(&init(Vc::CREQ0, crh, crd));
    }
    assert_eq!(solo.end.credits().available(Vc::CREQ0), count(32, 62));
    assert_eq!(solo.end.credits().available(Vc::CREQ1), count(0, 0));
    // What we say ourselves sums to our buffers.
    let mut said = [NvlCreditCount::default(); 8];
    let mut own = Solo::new();
    loop {
        let header = own.next().header();
        if header.op != Op::CREDIT_INIT {
            break;
        }
        let to = &mut said[usize::from(header.crvc.0)];
        (to.headers, to.data_flits) = (to.headers + u64::from(header.crh), to.data_flits + u64::from(header.crd));
    }
    for vc in CHANNELS {
        assert_eq!(said[usize::from(vc.0)], count(32, 256));
        assert_eq!(own.end.credits().granted(vc), count(32, 256));
    }
}

/// A book in which the last CREDIT_INIT counts alone is told apart; one that begins again is not added.
#[test]
fn nvl_crd_01_n() {
    let mut solo = Solo::new();
    solo.feed(&init(Vc::CREQ0, 3, 4));
    solo.feed(&init(Vc::CREQ0, 1, 1));
    assert_ne!(solo.end.credits().available(Vc::CREQ0), count(1, 1));
    // The peer begins again: nothing was accepted, so it repeats all of it.
    solo.bad_header();
    solo.feed(&init(Vc::CREQ0, 9, 9));
    for _ in 0..3 {
        solo.replay_init(0);
    }
    assert_eq!(solo.end.credits().available(Vc::CREQ0), count(4, 5));
    solo.feed(&init(Vc::CREQ0, 5, 6));
    assert_eq!(solo.end.credits().available(Vc::CREQ0), count(5, 6));
    solo.feed(&init(Vc::CREQ0, 1, 1));
    assert_eq!(solo.end.credits().available(Vc::CREQ0), count(6, 7));
    // Later replays forget nothing.
    solo.feed(&packet(Op::READ, 0));
    solo.replay_init(1);
    assert_eq!(solo.end.credits().available(Vc::CREQ0), count(6, 7));
}

/// CREDIT_INIT of large buffers comes in parts with a numbered packet behind each: a replay repeats the part that may have been
/// lost, and not those before it, which count already.
#[test]
fn nvl_crd_01_p2() {
    let buffers = Buffers::of_default_channels(128, 16384);
    for seed in 1..=3 {
        let mut bench = Bench::new(LinkConfig::default(), buffers, seed);
        (bench.produce, bench.consume) = ([1; 2], [64; 2]);
        for dir in Dir::ALL {
            bench.wire(dir, Vec::new(), 1e-4, seed);
        }
        while bench.delivered.iter().flatten().sum::<u64>() < 100 {
            bench.step();
            assert!(bench.pair.wires.now() < 500_000, "seed {seed}: {:?}", bench.events);
        }
        assert!(bench.pair.host.stats().replays > 3, "seed {seed}: parts were lost");
        assert!(bench.rest(100_000), "seed {seed}");
        bench.assert_clean();
    }
}

#[test]
fn nvl_crd_01_n2() {
    let mut solo = Solo::new();
    let counts = |solo: &Solo| solo.end.credits().available(Vc::CREQ0);
    solo.feed(&init(Vc::CREQ0, 3, 4));
    solo.feed(&packet(Op::READ, 0));
    solo.feed(&init(Vc::CREQ0, 2, 2));
    // The part behind the packet is begun again, that in front of it stays.
    solo.bad_header();
    for _ in 0..3 {
        solo.replay_init(1);
    }
    solo.feed(&init(Vc::CREQ0, 5, 6));
    assert_eq!(counts(&solo), count(8, 10), "neither counted twice nor forgotten");
}

/// A peer whose first packet came damaged replays it and need not say CREDIT_INIT again, which has no number: its credits stay.
#[test]
fn credits_stay_when_a_replay_does_not_repeat_them() {
    let mut solo = Solo::new();
    solo.feed(&init(Vc::CREQ0, 3, 4));
    solo.bad_header();
    for _ in 0..3 {
        solo.replay_init(0);
    }
    solo.feed(&packet(Op::READ, 0));
    assert_eq!(solo.end.credits().available(Vc::CREQ0), count(3, 4));
    // What comes behind is no repetition.
    solo.feed(&init(Vc::CREQ0, 1, 1));
    assert_eq!(solo.end.credits().available(Vc::CREQ0), count(4, 5));
}

#[test]
fn nvl_crd_02_p() {
    let mut solo = Solo::new().begun();
    solo.feed(&init(Vc::CREQ1, 15, 31));
    let with = |address: u64, be, flits| NvlMessage { address, be, ..message(Op::WRITE_POSTED, 0, flits) };
    let mut left = count(15, 31);
    for (message, flits_behind) in
        [(with(0, None, 1), 1), (with(1 << 40, None, 16), 17), (with(1 << 50, Some(1), 8), 10)]
    {
        left = count(left.headers - 1, left.data_flits - u64::from(message.data_flits()));
        solo.end.send(message).expect("legal");
        assert_eq!(solo.next().header().len, flits_behind);
        assert_eq!(solo.end.credits().available(Vc::CREQ1), left, "AE and BE are free");
    }
    // A read takes a header credit of its own channel alone.
    solo.feed(&init(Vc::CREQ0, 1, 0));
    solo.end.send(message(Op::READ, 0, 0)).expect("legal");
    assert_eq!(solo.next().header().op, Op::READ);
    assert_eq!((solo.end.credits().available(Vc::CREQ0), solo.end.credits().available(Vc::CREQ1)), (count(0, 0), left));
}

/// A count that takes AE and BE for data differs from what came in.
#[test]
fn nvl_crd_02_n() {
    let mut solo = Solo::new();
    let ae = Ae { address: 1 << 38, ..Ae::default() };
    for _ in 0..32 {
        solo.feed(&Packet::build(header(Op::WRITE_POSTED), Some(ae), Some(3), &data(8)).expect("legal"));
    }
    solo.idle();
    // 32 packets of 8 data flits are all there is; with 10 a packet it would not have been enough.
    assert_eq!((solo.rules(), solo.end.credits().granted(Vc::CREQ1)), (vec![], count(0, 0)));
    solo.feed(&packet(Op::WRITE_POSTED, 1));
    solo.idle();
    assert_eq!(solo.rules(), ["NVL-CRD-04"]);
}

/// Credits of the packets that an end sends, carriers included.
fn given_back(solo: &mut Solo, packets: usize) -> Vec<(Op, Vc, u8, u8)> {
    let given = solo.packets(packets).into_iter().map(|p| p.header()).filter(|h| h.crh + h.crd > 0);
    given.map(|h| (h.op, h.crvc, h.crh, h.crd)).collect()
}

#[test]
fn nvl_crd_03_p() {
    let mut solo = Solo::new().begun();
    for _ in 0..3 {
        solo.feed(&packet(Op::WRITE_POSTED, 4));
    }
    solo.feed(&packet(Op::READ, 0));
    assert_eq!(given_back(&mut solo, 100), [], "a slow sink: nothing is free");
    assert!(solo.end.take(Vc::CREQ1).is_some());
    assert_eq!(given_back(&mut solo, 100), [(Op::RSP_DONE, Vc::CREQ1, 1, 4)], "a carrier, as nothing else goes");
    solo.taken();
    let given = given_back(&mut solo, 100);
    assert_eq!(given, [(Op::RSP_DONE, Vc::CREQ0, 1, 0), (Op::RSP_DONE, Vc::CREQ1, 2, 8)]);
    for vc in CHANNELS {
        assert_eq!(solo.end.credits().granted(vc), count(32, 256));
    }
    // With a message they go at once.
    solo.feed(&init(Vc::RSP0, 2, 0));
    solo.feed(&packet(Op::READ, 0));
    assert!(solo.end.take(Vc::CREQ0).is_some());
    solo.end.send(message(Op::RSP_DONE, 5, 0)).expect("legal");
    let header = solo.next().header();
    assert_eq!((header.tag, header.rid, header.crvc, header.crh), (5, 0, Vc::CREQ0, 1));
}

/// A peer that gives back what was never used.
#[test]
fn nvl_crd_03_n() {
    let mut solo = Solo::new();
    solo.feed(&init(Vc::CREQ0, 2, 2));
    solo.feed(&bare(NvlHeader { crvc: Vc::CREQ0, crh: 1, ..header(Op::RSP_DONE) }));
    assert_eq!(solo.rules(), ["NVL-CRD-03"]);
    let mut book = CreditBook::new(Buffers::default());
    assert!(book.heard(&init(Vc::CREQ0, 2, 2).header()));
    assert!(book.spend(Vc::CREQ0, 1));
    assert!(book.heard(&NvlHeader { crvc: Vc::CREQ0, crh: 1, crd: 1, ..NvlHeader::default() }));
    assert!(!book.heard(&NvlHeader { crvc: Vc::CREQ0, crd: 1, ..NvlHeader::default() }));
}

#[test]
fn nvl_crd_04_p() {
    let mut solo = Solo::new().begun();
    solo.end.send(message(Op::WRITE_POSTED, 1, 4)).expect("legal");
    solo.end.send(message(Op::READ, 2, 0)).expect("legal");
    let idle = |solo: &mut Solo| solo.ops(20).iter().all(|op| *op == Op::IDLE);
    assert!(idle(&mut solo), "no credit at all");
    solo.feed(&init(Vc::CREQ1, 1, 3));
    assert!(idle(&mut solo), "a data credit is missing");
    solo.feed(&init(Vc::CREQ0, 1, 0));
    assert_eq!(solo.next().header().op, Op::READ, "other channels do not wait");
    solo.feed(&init(Vc::CREQ1, 0, 1));
    assert_eq!(solo.next().header().op, Op::WRITE_POSTED);
    assert!(idle(&mut solo));
}

/// A peer that forces a packet without credit: an event, the packet is there all the same.
#[test]
fn nvl_crd_04_n() {
    let buffers = Buffers::of_default_channels(2, 4);
    for (op, flits, count) in [(Op::READ, 0, 3), (Op::WRITE_POSTED, 5, 1), (Op::WRITE_POSTED, 2, 3)] {
        let mut solo = Solo::new();
        solo.end = NvlEnd::new(config(), buffers);
        for _ in 0..count {
            solo.feed(&packet(op, flits));
        }
        solo.idle();
        assert_eq!(solo.rules(), ["NVL-CRD-04"], "{op:?}");
        assert_eq!(solo.taken().len(), count);
    }
}

/// Requests fill their buffers and nobody takes them; responses go through.
#[test]
fn nvl_crd_05_p() {
    let mut pair = Pair::new(config(), Buffers::default(), LATENCY_FLITS);
    for tag in 0..100 {
        for op in [Op::READ, Op::WRITE_NONPOSTED, Op::WRITE_POSTED] {
            let flits = if op == Op::READ { 0 } else { 4 };
            pair.host.send(message(op, tag, flits)).expect("legal");
        }
    }
    for tag in 0..1000 {
        pair.host.send(message(Op::RSP_DATA, tag, 8)).expect("legal");
    }
    let mut tags = Vec::new();
    while tags.len() < 1000 {
        pair.step();
        tags.extend(std::iter::from_fn(|| pair.device.take(Vc::RSP0)).map(|m| m.tag));
        assert!(pair.wires.now() < 40_000, "{} responses", tags.len());
    }
    assert!(tags.iter().copied().eq(0..1000));
    assert!(pair.host.waiting(Vc::CREQ0) > 0 && pair.host.waiting(Vc::CREQ1) > 0, "requests wait");
}

/// Responses that nobody takes: the link does not come to rest, and says so.
#[test]
fn nvl_crd_05_n() {
    let mut pair = Pair::new(config(), Buffers::default(), LATENCY_FLITS);
    for tag in 0..40 {
        pair.host.send(message(Op::RSP_DONE, tag, 0)).expect("legal");
    }
    assert!(!pair.drain(3000));
    assert_eq!(pair.host.waiting(Vc::RSP0), 8);
    assert_eq!((pair.host.take_events(), pair.host.is_down()), (vec![], false));
}

#[test]
fn what_cannot_be_sent() {
    let mut end = NvlEnd::new(config(), Buffers::default());
    let refused = |end: &mut NvlEnd, message: NvlMessage| end.send(message).unwrap_err();
    assert!(matches!(refused(&mut end, message(Op::IDLE, 0, 0)), NvlRefused::OfTheLink { .. }));
    assert!(matches!(
        refused(&mut end, NvlMessage { rid: LINK_RID, ..message(Op::READ, 0, 0) }),
        NvlRefused::OfTheLink { .. }
    ));
    assert!(matches!(
        refused(&mut end, NvlMessage { vc: Vc(9), ..message(Op::READ, 0, 0) }),
        NvlRefused::Channel { found: 9 }
    ));
    for bad in [
        NvlMessage { tag: 1024, ..message(Op::READ, 0, 0) },
        NvlMessage { attr: 64, ..message(Op::READ, 0, 0) },
        NvlMessage { address: 8, ..message(Op::READ, 0, 0) },
        message(Op::READ, 0, 1),
        message(Op::WRITE_POSTED, 0, 17),
        NvlMessage { be: Some(1), ..message(Op::WRITE_POSTED, 0, 9) },
    ] {
        assert!(matches!(refused(&mut end, bad.clone()), NvlRefused::Packet(_)), "{bad:?}");
    }
    assert_eq!(end.take(Vc(200)), None);
    assert_eq!(end.waiting(Vc(200)), 0);
}
