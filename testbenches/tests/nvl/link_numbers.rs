//! NVL-SEQ, NVL-DLV, NVL-ACK: identifiers, delivery, acknowledgements.

use super::common::*;
use super::rig::*;

/// The acknowledgement in the next headers of an end.
fn stated(solo: &mut Solo) -> Option<u16> {
    solo.packets(2).iter().filter(|p| p.header().ackv).map(|p| p.header().ackid).next_back()
}

#[test]
fn nvl_seq_01_p() {
    let mut solo = Solo::with(LinkConfig { timeout_flits: u32::MAX, ..config() }).begun();
    let mut flits = 0u32;
    for n in 0..3000u32 {
        let length = if n % 2 == 0 { 1 + n as usize % 16 } else { 0 };
        let packet = packet(if length > 0 { Op::WRITE_POSTED } else { Op::READ }, length);
        solo.feed(&packet);
        solo.idle();
        flits += 1 + length as u32;
        assert_eq!(solo.taken().len(), 1);
        assert_eq!(u32::from(solo.end.receiver().accepted()), (flits - 1) % 4096);
        assert_eq!(stated(&mut solo), Some(((flits - 1) % 4096) as u16), "packet {n}");
    }
    assert!(flits > 3 * 4096, "the identifiers went round");
}

/// A peer that skips an identifier is found at its next replay: it begins ahead of what was accepted.
#[test]
fn nvl_seq_01_n() {
    for skipped in [1, 2, 2047] {
        let mut solo = Solo::new();
        solo.feed(&packet(Op::READ, 0));
        solo.replay_init(1 + skipped);
        assert_eq!(solo.rules(), ["NVL-SEQ-01"], "{skipped}");
        assert_eq!(solo.end.receiver().accepted(), 0);
        solo.feed(&packet(Op::READ, 0));
        assert_eq!(solo.taken().len(), 1, "what follows is ignored");
    }
}

#[test]
fn nvl_seq_02_p() {
    let mut solo = Solo::new();
    solo.feed(&packet(Op::READ, 0));
    for op in [Op::IDLE, Op::CREDIT_INIT, Op::IDLE] {
        solo.feed(&bare(header(op)));
        assert_eq!(solo.end.receiver().accepted(), 0, "{op:?}");
    }
    solo.replay_init(1);
    assert_eq!((solo.end.receiver().accepted(), solo.rules()), (0, vec![]));
    // And what we send: the first packet is number 0, however many IDLE went before.
    let mut sender = Solo::with_credits().begun();
    sender.ops(50);
    assert_eq!(sender.end.transmitter().next_id(), 0);
    sender.end.send(message(Op::WRITE_POSTED, 1, 3)).expect("legal");
    sender.ops(4);
    assert_eq!(sender.end.transmitter().next_id(), 4);
}

/// A peer that numbers its IDLE is ahead of us.
#[test]
fn nvl_seq_02_n() {
    let mut solo = Solo::new();
    solo.feed(&packet(Op::READ, 0));
    solo.idle();
    solo.replay_init(2);
    assert_eq!(solo.rules(), ["NVL-SEQ-01"]);
}

#[test]
fn nvl_dlv_01_p() {
    let mut solo = Solo::new();
    solo.feed(&packet(Op::READ, 0));
    assert_eq!(solo.taken().len(), 1, "no payload: its own CRC is enough");
    solo.feed(&packet(Op::WRITE_POSTED, 4));
    assert_eq!((solo.taken().len(), solo.end.receiver().accepted()), (0, 0), "the payload is not confirmed");
    solo.feed(&packet(Op::WRITE_POSTED, 2));
    assert_eq!((solo.taken().len(), solo.end.receiver().accepted()), (1, 5), "the next header confirms it");
    solo.idle();
    assert_eq!((solo.taken().len(), solo.end.receiver().accepted()), (1, 8));
}

/// Nothing comes out before, nor when the payload is wrong.
#[test]
fn nvl_dlv_01_n() {
    for bit in [0, 127, 128, 300, 511] {
        let mut solo = Solo::new();
        let mut packer = Packer::default();
        let mut write = packer.seal(&packet(Op::WRITE_POSTED, 4));
        let idle = packer.seal(&packet(Op::IDLE, 0));
        write.payload_mut()[bit / 128] ^= 1 << (bit % 128);
        solo.raw(&write);
        solo.raw(&idle);
        assert_eq!(solo.taken(), []);
        assert!(solo.end.receiver().is_hunting());
        assert_eq!((solo.end.receiver().accepted(), solo.end.stats().bad_headers), (4095, 1));
    }
}

#[test]
fn nvl_dlv_02_p() {
    let mut solo = Solo::with_credits().begun();
    solo.end.send(message(Op::WRITE_POSTED, 1, 16)).expect("legal");
    let packets = solo.packets(2);
    let ops: Vec<_> = packets.iter().map(|p| p.header().op).collect();
    assert_eq!(ops, [Op::WRITE_POSTED, Op::IDLE]);
    let crc = NvlConfig::default().crc_of(packets[0].payload(), packets[1].header_bits());
    assert_eq!(packets[1].crc(), crc, "it closes the payload");
}

/// A peer that falls silent behind a payload: the packet stays open, and the end is not at rest.
#[test]
fn nvl_dlv_02_n() {
    let mut solo = Solo::new().begun();
    solo.ops(2);
    assert!(solo.end.is_quiet());
    solo.feed(&packet(Op::WRITE_POSTED, 2));
    solo.ops(500);
    assert!(!solo.end.is_quiet() && solo.taken().is_empty());
}

#[test]
fn nvl_ack_01_p() {
    let mut bench = Bench::new(config(), Buffers::default(), 1);
    bench.pair.wires.keep_log();
    bench.run(3000);
    assert!(bench.rest(2000));
    bench.assert_clean();
    // Each header on the wire states an identifier that the other side has sent completely.
    let (mut sent, mut headers_at, mut acks) = ([0u64; 2], [0u64; 2], 0);
    for seen in bench.pair.wires.take_log() {
        let s = usize::from(seen.dir == Dir::Up);
        if headers_at[s] > 0 {
            headers_at[s] -= 1;
            continue;
        }
        let header = NvlHeader::from_bits(seen.unit.bits());
        headers_at[s] = header.len.into();
        if header.op.is_numbered() {
            sent[s] += 1 + u64::from(header.len);
        }
        if header.ackv {
            acks += 1;
            let behind = (sent[1 - s] + 4095 - u64::from(header.ackid)) % 4096;
            assert!(behind < 600, "{behind} flits behind");
        }
    }
    assert!(acks > 200);
}

#[test]
fn nvl_ack_01_n() {
    let mut solo = Solo::with_credits().begun();
    for tag in 0..3 {
        solo.end.send(message(Op::WRITE_POSTED, tag, 3)).expect("legal");
    }
    solo.ops(4);
    assert_eq!(solo.end.transmitter().unacknowledged_flits(), 12);
    solo.ack(12);
    assert_eq!((solo.rules(), solo.end.transmitter().unacknowledged_flits()), (vec!["NVL-ACK-01"], 12));
    // In the middle of the second packet: the first one is acknowledged all the same.
    solo.ack(5);
    assert_eq!((solo.rules(), solo.end.transmitter().unacknowledged_flits()), (vec!["NVL-ACK-01"], 8));
    solo.ack(11);
    assert_eq!((solo.rules(), solo.end.transmitter().unacknowledged_flits()), (vec![], 0));
}

#[test]
fn nvl_ack_02_p() {
    let mut solo = Solo::with(LinkConfig { timeout_flits: u32::MAX, ..config() }).begun();
    for _ in 0..200 {
        solo.feed(&bare(NvlHeader { crvc: Vc::CREQ1, crh: 15, crd: 31, ..header(Op::CREDIT_INIT) }));
    }
    for tag in 0..150 {
        solo.end.send(message(Op::WRITE_POSTED, tag, 15)).expect("legal");
    }
    let ops = solo.ops(200);
    assert_eq!(ops.iter().filter(|op| **op == Op::WRITE_POSTED).count(), 128);
    assert_eq!(solo.end.transmitter().unacknowledged_flits(), 2048);
    assert_eq!(solo.end.waiting(Vc::CREQ1), 22, "the 2049th flit waits");
}

/// Room for one packet, one packet goes; a packet that is one flit too long waits.
#[test]
fn nvl_ack_02_n() {
    let mut solo = Solo::with(LinkConfig { window_flits: 20, timeout_flits: u32::MAX, ..config() }).begun();
    for _ in 0..10 {
        solo.feed(&bare(NvlHeader { crvc: Vc::CREQ1, crh: 15, crd: 31, ..header(Op::CREDIT_INIT) }));
    }
    for flits in [15, 3, 4] {
        solo.end.send(message(Op::WRITE_POSTED, 0, flits)).expect("legal");
    }
    let sent = |solo: &mut Solo| solo.ops(30).into_iter().filter(|op| *op == Op::WRITE_POSTED).count();
    assert_eq!((sent(&mut solo), solo.end.transmitter().unacknowledged_flits()), (2, 20));
    assert_eq!(sent(&mut solo), 0);
    solo.ack(15);
    assert_eq!((sent(&mut solo), solo.end.transmitter().unacknowledged_flits()), (1, 9));
}
