//! Sequence numbers and command flits with payload (`ualink` §3, §7).

use super::rig::*;
use super::twin::*;
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint, Hooks};

#[test]
fn ual_flh_05_p() {
    let mut solo = Solo::online(configs()[0], 1000);
    solo.deliver(&[], &[numbered(0)]);
    assert_eq!((solo.end.client.taken, solo.end.client.wrong), (1, 0));
    solo.headers.clear();
    solo.pass(6);
    let with_payload =
        |h: &&Option<UalHeader>| matches!(h, Some(UalHeader::Command(c)) if c.payload && c.op == FlitOp::Ack);
    assert!(solo.headers.iter().filter(with_payload).count() >= 3, "Acks travel with payload: {:?}", solo.headers);
}

#[test]
fn ual_flh_05_n() {
    let mut link = Link::new(wrong(ReplayFault::CommandPayloadLost), [100, 0]);
    assert!(!link.run(400, &mut |_, _, _| false));
    assert!(link.is_caught());
    let mut solo = Solo::up(EndConfig { opens_channels: false, ..configs()[0] }, 0);
    let hooks = Hooks::new();
    let lost = |item: &HookItem<'_>| {
        let came = DlFlit::from_bytes(item.bytes).expect("640 bytes");
        match came.header() {
            UalHeader::Command(header) if header.payload => {
                HookAnswer::Replace(flit(UalHeader::Command(header), &Payload::ZERO).0.to_vec())
            }
            _ => HookAnswer::Keep,
        }
    };
    hooks.attach(HookPoint::ReplayIn, Direction::Rx, lost).expect("no hook runs");
    solo.end.attach_hooks(&hooks);
    solo.exchange(&[word(&DeviceId::default())]);
    solo.pass(3);
    assert!(solo.words.is_empty(), "a question without answer");
}

#[test]
fn ual_seq_01_p() {
    let mut link = Link::new(ReplayConfig::default(), [1200, 1200]);
    assert!(link.run(3000, &mut |_, _, _| false));
    link.assert_clean();
    for twin in &link.ends {
        let own: Vec<u16> = twin
            .sent
            .iter()
            .map(|&fh| UalHeader::from_bits(fh))
            .filter_map(|h| match h {
                UalHeader::Explicit(h) if h.payload => Some(h.seq),
                _ => None,
            })
            .collect();
        assert!(own.iter().all(|&n| (1..=511).contains(&n)));
        assert!(own.windows(2).any(|w| w[0] > w[1]), "around the end");
        assert_eq!(twin.ours.last_given(), 1200 % 511);
    }
}

#[test]
fn ual_seq_01_n() {
    for payload in [false, true] {
        let mut solo = Solo::online(configs()[0], 0);
        let last = solo.end.replay().last_taken();
        solo.receive(explicit(FlitOp::Original, payload, 0), &Payload::ZERO);
        assert_eq!(solo.rules(), ["UAL-SEQ-01"]);
        assert!(!solo.end.replay().is_waiting(), "it is dropped, no replay is asked for");
        assert_eq!(solo.end.replay().last_taken(), last);
    }
}

#[test]
fn ual_seq_02_p() {
    let mut solo = Solo::online(configs()[0], 25);
    let before = solo.taken;
    solo.pass(20);
    let nops = solo.headers.iter().flatten().filter(|h| !h.payload()).count();
    assert!(nops > 10 && solo.taken - before == 3, "{} payload flits", solo.taken - before);
    assert_eq!(solo.end.replay().last_given(), solo.taken);
    let last = solo.headers.iter().rev().flatten().find_map(|h| match h {
        UalHeader::Explicit(h) if !h.payload => Some(h.seq),
        _ => None,
    });
    assert_eq!(last, Some(solo.taken), "a NOP reports the last number");
}

#[test]
fn ual_seq_02_n() {
    // A NOP with a number of its own is a gap for the receiver.
    let mut solo = Solo::online(configs()[0], 0);
    solo.receive(explicit(FlitOp::Original, false, next_seq(solo.given)), &Payload::ZERO);
    assert_eq!(solo.rules(), ["UAL-RXR-08"]);
    assert!(solo.end.replay().is_waiting());
    let mut link = Link::new(wrong(ReplayFault::NopNumbered), [3, 0]);
    link.run(100, &mut |_, _, _| false);
    assert!(link.is_caught());
}

#[test]
fn ual_seq_03_p() {
    let mut solo = Solo::online(configs()[0], 1_000_000);
    solo.acks = false;
    let acked = solo.taken;
    solo.pass(250);
    assert_eq!(solo.end.replay().unacknowledged(), 250);
    solo.acks = true;
    solo.pass(2);
    assert!(solo.end.replay().unacknowledged() <= 1, "one Ack frees all");
    assert_eq!(solo.end.replay().last_acknowledged(), (acked + 251) % 511 + 1);
}

#[test]
fn ual_seq_03_n() {
    // Without Acks the 256th payload flit waits.
    let mut solo = Solo::online(configs()[0], 1_000_000);
    solo.acks = false;
    solo.pass(255);
    let (sent, payload) = (solo.end.client.next, solo.taken);
    assert_eq!(solo.end.replay().unacknowledged(), 255);
    solo.pass(100);
    assert_eq!((solo.end.client.next, solo.taken), (sent, payload), "back-pressure up to the client");
    assert!(solo.headers.iter().rev().take(100).flatten().all(|h| !h.payload()));
}
