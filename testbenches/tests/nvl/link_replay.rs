//! NVL-RPL: errors, REPLAY_INIT, replays, the end of patience.

use super::common::*;
use super::rig::*;

/// An end with three packets of four flits that are sent and not acknowledged.
fn three_open() -> Solo {
    let mut solo = Solo::with_credits().begun();
    for tag in 0..3 {
        solo.end.send(message(Op::WRITE_POSTED, tag, 3)).expect("legal");
    }
    assert_eq!(solo.ops(4), [Op::WRITE_POSTED, Op::WRITE_POSTED, Op::WRITE_POSTED, Op::IDLE]);
    solo
}

/// Tags of the packets that a replay sends, behind its three REPLAY_INIT.
fn replay(solo: &mut Solo) -> (u16, Vec<u16>) {
    let inits = solo.packets(3);
    assert!(inits.iter().all(|p| p.header().op == Op::REPLAY_INIT && p.flits().len() == 1));
    assert!(inits.iter().all(|p| p.header().ackid == inits[0].header().ackid && !p.header().ackv));
    let mut tags = Vec::new();
    loop {
        let header = solo.next().header();
        if header.op == Op::IDLE {
            return (inits[0].header().ackid, tags);
        }
        tags.push(header.tag);
    }
}

/// A bad header: the open payload and all that follows are gone, and come again.
#[test]
fn nvl_rpl_01_p() {
    let mut solo = Solo::new().begun();
    solo.feed(&packet(Op::READ, 0));
    solo.feed(&packet(Op::WRITE_POSTED, 2));
    solo.bad_header();
    assert!(solo.end.receiver().is_hunting());
    assert_eq!(solo.taken().len(), 1);
    // The last identifier is stated again and again, and does not move.
    let headers = solo.packets(5);
    assert!(headers.iter().all(|p| p.header().ackv && p.header().ackid == 0));
    solo.replay_init(1);
    assert!(!solo.end.receiver().is_hunting());
    solo.feed(&packet(Op::WRITE_POSTED, 2));
    solo.idle();
    assert_eq!((solo.taken().len(), solo.end.receiver().accepted(), solo.rules()), (1, 3, vec![]));
}

/// Between the error and REPLAY_INIT nothing is delivered, whatever it is.
#[test]
fn nvl_rpl_01_n() {
    let mut solo = Solo::new();
    solo.bad_header();
    let mut random = Random::new(9);
    for _ in 0..300 {
        let packet = random_packet(&mut random);
        if packet.header().op != Op::REPLAY_INIT {
            solo.feed(&packet);
        }
    }
    solo.idle();
    assert_eq!((solo.taken(), solo.end.receiver().accepted(), solo.end.stats().accepted), (vec![], 4095, 0));
    assert_eq!(solo.end.credits().available(Vc::CREQ0).headers, 0, "credits neither");
}

#[test]
fn nvl_rpl_02_p() {
    let mut solo = Solo::new();
    solo.feed(&packet(Op::READ, 0));
    solo.bad_header();
    solo.replay_init(1);
    assert!(!solo.end.receiver().is_hunting());
    solo.replay_init(1);
    solo.replay_init(1);
    solo.feed(&packet(Op::READ, 0));
    assert_eq!((solo.taken().len(), solo.rules()), (2, vec![]));
}

/// Another identifier is ignored; one behind us is no event: the peer has missed an acknowledgement.
#[test]
fn nvl_rpl_02_n() {
    for (ackid, broken) in [(0, vec![]), (4000, vec![]), (2, vec!["NVL-SEQ-01"]), (1000, vec!["NVL-SEQ-01"])] {
        for hunting in [true, false] {
            let mut solo = Solo::new().begun();
            solo.feed(&packet(Op::READ, 0));
            if hunting {
                solo.bad_header();
            }
            solo.replay_init(ackid);
            assert!(solo.end.receiver().is_hunting());
            solo.feed(&packet(Op::READ, 0));
            solo.idle();
            assert_eq!((solo.taken().len(), solo.rules()), (1, broken.clone()), "{ackid} {hunting}");
            assert!(solo.next().header().ackv, "the peer is told where we are");
            solo.replay_init(1);
            solo.feed(&packet(Op::READ, 0));
            assert_eq!(solo.taken().len(), 1);
        }
    }
}

/// Both causes: the time-out, three equal acknowledgements.
#[test]
fn nvl_rpl_03_p() {
    let mut solo = three_open();
    solo.ack(3);
    let quiet = solo.packets(250).iter().position(|p| p.header().op == Op::REPLAY_INIT).expect("a time-out");
    assert!((190..=200).contains(&quiet), "after {quiet} flits");
    // The search took everything of the first replay; the next one begins at the oldest too.
    solo.ack(3);
    let mut again = three_open();
    again.ack(3);
    again.ack(3);
    again.ack(3);
    assert_eq!(replay(&mut again), (4, vec![1, 2]));
    assert_eq!(again.end.stats().replay_inits, 3);
    // No second replay for acknowledgements that were under way.
    again.ack(3);
    again.ack(3);
    again.ack(3);
    assert_eq!(again.ops(3), [Op::IDLE; 3]);
    again.ack(7);
    again.ack(7);
    again.ack(7);
    assert_eq!(replay(&mut again), (8, vec![2]));
    again.ack(11);
    assert_eq!((again.end.transmitter().unacknowledged_flits(), again.end.transmitter().tries()), (0, 0));
}

/// Two equal acknowledgements, or different ones, begin no replay.
#[test]
fn nvl_rpl_03_n() {
    let mut solo = three_open();
    for ackid in [3, 3, 7, 7] {
        solo.ack(ackid);
        assert_eq!(solo.ops(1), [Op::IDLE]);
    }
    assert_eq!(solo.end.stats().replays, 0);
    // Headers that acknowledge nothing neither.
    for _ in 0..50 {
        solo.idle();
        assert_eq!(solo.ops(1), [Op::IDLE]);
    }
    assert_eq!(solo.end.stats().replays, 0);
}

#[test]
fn nvl_rpl_04_p() {
    let mut solo = three_open();
    for _ in 0..3 {
        solo.ack(4095);
    }
    let packets = solo.packets(3 + 9 * 3 + 2);
    let codec = NvlConfig::default();
    for packet in &packets[..4] {
        assert_eq!(packet.crc(), codec.crc_of(&[], packet.header_bits()), "{packet:?}");
    }
    assert_eq!(packets[3].header().op, Op::CREDIT_INIT, "nothing was acknowledged yet: from the very start");
    let first = packets.iter().position(|p| p.header().op == Op::WRITE_POSTED).expect("replayed");
    assert_eq!(packets[first].crc(), codec.crc_of(&[], packets[first].header_bits()));
    assert_eq!(packets[first + 1].crc(), codec.crc_of(packets[first].payload(), packets[first + 1].header_bits()));
}

/// A peer that covers an old payload with the header behind REPLAY_INIT is not understood.
#[test]
fn nvl_rpl_04_n() {
    let mut solo = Solo::new();
    solo.feed(&packet(Op::WRITE_POSTED, 2));
    solo.bad_header();
    solo.replay_init(0);
    let old = packet(Op::WRITE_POSTED, 2);
    let read = packet(Op::READ, 0);
    solo.raw(&read.with_crc(NvlConfig::default().crc_of(old.payload(), read.header_bits())));
    assert!(solo.end.receiver().is_hunting());
    assert_eq!((solo.taken(), solo.end.stats().bad_headers), (vec![], 2));
}

#[test]
fn nvl_rpl_05_p() {
    let mut solo = three_open();
    // A dead peer: the eighth replay fails too.
    let mut flits = 0;
    while !solo.end.is_down() {
        solo.transmit();
        flits += 1;
        assert!(flits < 10_000);
    }
    assert_eq!((solo.end.stats().replays, solo.rules()), (8, vec!["NVL-RPL-05"]));
    // Nine time-outs, and what the eight replays take: REPLAY_INIT, CREDIT_INIT as nothing was ever acknowledged, 12 flits.
    assert!((9 * 200 - 20..9 * 200 + 8 * 50).contains(&flits), "{flits}");
    assert_eq!(solo.ops(20), [Op::IDLE; 20]);
    solo.feed(&packet(Op::READ, 0));
    assert_eq!(solo.taken(), [], "nothing is heard any more");
}

/// Seven failed replays and a late answer: still up, and the count begins anew.
#[test]
fn nvl_rpl_05_n() {
    let mut solo = three_open();
    while solo.end.stats().replays < 8 {
        solo.transmit();
    }
    assert_eq!((solo.end.transmitter().tries(), solo.end.is_down()), (8, false));
    solo.ack(3);
    assert_eq!(solo.end.transmitter().tries(), 0);
    while solo.end.stats().replays < 15 {
        solo.transmit();
    }
    assert!(!solo.end.is_down() && solo.rules().is_empty());
}
