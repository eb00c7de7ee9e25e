//! Transmit decisions of link-level replay (`ualink` §7).

use super::rig::*;
use super::twin::*;

/// Kinds of headers: R first replayed or replayed in full, E in full, Q request, A Ack; small letters without payload.
fn kinds(headers: &[u32]) -> String {
    let kind = |&fh: &u32| {
        let letter = ['E', 'R', 'A', 'Q'][(fh >> 21) as usize & 3];
        if fh >> 20 & 1 == 1 { letter } else { letter.to_ascii_lowercase() }
    };
    headers.iter().map(kind).collect()
}

/// Everything due at once, at each place of the explicit count: the first flit, and the ones behind it.
fn all_due(config: impl Into<Machine>, count: usize, replay: bool, request: bool) -> (String, Twin) {
    let mut twin = Twin::new(config, 30);
    twin.send(14 + count);
    if request {
        twin.hear(explicit(FlitOp::Original, true, 2));
    }
    if replay {
        twin.hear(command(FlitOp::ReplayRequest, true, 1, 3));
    }
    let before = twin.sent.len();
    twin.send(9);
    (kinds(&twin.sent[before..]), twin)
}

#[test]
fn ual_txs_01_p() {
    for count in 0..7 {
        for (replay, request) in [(false, false), (false, true), (true, false), (true, true)] {
            let (kinds, twin) = all_due(ReplayConfig::default(), count, replay, request);
            assert_eq!(twin.differs, None);
            let expected = match (replay, count == 6, request) {
                (true, _, _) => 'R',
                (false, true, _) => 'E',
                (false, false, true) => 'Q',
                (false, false, false) => 'A',
            };
            assert_eq!(kinds.chars().next(), Some(expected), "{count} {replay} {request}: {kinds}");
            if request && (replay || count == 6) {
                assert_eq!(kinds.chars().nth(1), Some('Q'), "the request comes behind it");
            }
        }
    }
}

#[test]
fn ual_txs_01_n() {
    let (kinds, twin) = all_due(wrong(ReplayFault::RequestFirst), 6, false, true);
    assert!(kinds.starts_with('Q') && twin.differs.is_some());
    // The receiver says so too: the seventh command in a row is a Replay Request.
    let mut twin = Twin::new(ReplayConfig::default(), 30);
    twin.send(30);
    twin.hear(explicit(FlitOp::Original, false, 511));
    (0..6).for_each(|_| twin.hear(ack(5)));
    assert_eq!(twin.logged, [""; 0]);
    twin.hear(command(FlitOp::ReplayRequest, false, 5, 511));
    assert_eq!(twin.logged, ["UAL-TXS-01"]);
    let mut seen = false;
    for bad in 20..34 {
        // It asks for the bad flit where a number in full is due.
        let mut link = Link::new(wrong(ReplayFault::RequestFirst), [60, 60]);
        link.run(300, &mut |from, now, _| from == 0 && now == bad);
        seen |= link.ends[0].logged.contains(&"UAL-TXS-01");
    }
    assert!(seen);
}

#[test]
fn ual_txs_02_p() {
    for spoil in [0, 13, 40] {
        let mut link = Link::new(ReplayConfig::default(), [500, 300]);
        assert!(link.run(5000, &mut |_, now, _| spoil > 0 && now % spoil == 0 && now < 600));
        link.assert_clean();
        for twin in &link.ends {
            let kinds = kinds(&twin.sent).to_uppercase();
            let longest = kinds.split(['E', 'R']).map(str::len).max();
            assert_eq!(longest, Some(6), "six commands between two numbers in full");
        }
    }
}

#[test]
fn ual_txs_02_n() {
    let mut twin = Twin::new(wrong(ReplayFault::ExplicitEveryEight), 100);
    twin.send(30);
    assert!(kinds(&twin.sent).starts_with("AAAAAAAE") && twin.differs.is_some());
    // The receiver says so too, unless one of the flits was bad.
    let mut solo = Solo::up(EndConfig { opens_channels: false, ..configs()[0] }, 0);
    for flits in [7, 8] {
        solo.receive(explicit(FlitOp::Original, false, 511), &Payload::ZERO);
        (1..flits).for_each(|_| solo.receive(command(FlitOp::Ack, false, 511, 511), &Payload::ZERO));
        assert_eq!(solo.rules(), ["UAL-TXS-02"][..flits - 7]);
    }
}

#[test]
fn ual_txs_03_p() {
    let mut twin = Twin::new(ReplayConfig::default(), 0);
    twin.send(21);
    assert_eq!((kinds(&twin.sent).as_str(), twin.differs), ("aaaaaaeaaaaaaeaaaaaae", None));
    assert_eq!(twin.sent[0], 0x4fff00, "ackReqSeq 511, flitSeqLo 7: the flit of the CRC anchor");
}

#[test]
fn ual_txs_03_n() {
    let mut twin = Twin::new(wrong(ReplayFault::ExplicitEveryEight), 0);
    twin.send(21);
    assert_ne!(kinds(&twin.sent), "aaaaaaeaaaaaaeaaaaaae");
    assert!(twin.differs.is_some());
}

#[test]
fn ual_txs_04_p() {
    let mut twin = Twin::new(ReplayConfig::default(), 40);
    twin.send(20);
    twin.hear(command(FlitOp::ReplayRequest, false, 1, 511));
    let before = twin.sent.len();
    twin.send(40);
    let kinds = kinds(&twin.sent[before..]);
    assert_eq!(kinds, "RAAAAAARAAAAAARAAAAAAEAAAAAAEAAAAAAEAAAA");
    assert_eq!((twin.differs, twin.ours.stats().replayed), (None, 20));
}

#[test]
fn ual_txs_04_n() {
    // A receiver that waits for a replay gets the flit unmarked.
    let mut solo = Solo::online(configs()[0], 0);
    let due = next_seq(solo.given);
    solo.receive(explicit(FlitOp::Original, true, next_seq(due)), &Payload::ZERO);
    assert_eq!(solo.rules(), ["UAL-RXR-08"]);
    solo.receive(explicit(FlitOp::Original, true, due), &Payload::ZERO);
    assert_eq!(solo.rules(), ["UAL-TXS-04"]);
    let mut link = Link::new(wrong(ReplayFault::ReplayUnmarked), [60, 0]);
    assert!(link.run(300, &mut |from, now, _| from == 0 && now == 20));
    assert!(link.is_caught() && link.ends[1].logged.contains(&"UAL-TXS-04"));
}

/// An Ack of what comes before a number that is asked for.
fn ack(number: u16) -> UalHeader {
    command(FlitOp::Ack, false, number - 1, 511)
}

/// Flits at which the copies of a request go, from a place in a group on, and what they ask for, while payload arrives.
fn copies(config: impl Into<Machine>, before: usize) -> (Vec<usize>, Vec<u32>, Twin) {
    let mut twin = Twin::new(config, 0);
    twin.send(before);
    twin.hear(explicit(FlitOp::Original, true, 2));
    for _ in 0..20 {
        twin.send(1);
        twin.hear(explicit(FlitOp::Original, true, 3));
    }
    let at: Vec<usize> = (0..twin.sent.len()).filter(|&n| twin.sent[n] >> 21 == 3).collect();
    let targets = at.iter().map(|&n| twin.sent[n] >> 11 & 0x1ff).collect();
    (at, targets, twin)
}

#[test]
fn ual_txs_05_p() {
    for fec_group_flits in [1, 2, 4] {
        for before in 0..8 {
            let (at, targets, twin) = copies(ReplayConfig { fec_group_flits, ..ReplayConfig::default() }, before);
            let groups: Vec<usize> = at.iter().map(|n| n / usize::from(fec_group_flits)).collect();
            assert_eq!((at.len(), targets.as_slice()), (3, [1, 1, 1].as_slice()));
            assert!(groups.windows(2).all(|w| w[0] < w[1]), "a group each: {at:?}");
            assert!(at[0] <= before + 1, "the first one at once");
            assert_eq!(twin.differs, None);
        }
    }
    // The number is fixed with the first copy, whatever comes behind it.
    let mut twin = Twin::new(ReplayConfig::default(), 0);
    twin.hear(explicit(FlitOp::Original, true, 2));
    twin.send(1);
    twin.hear(explicit(FlitOp::Replayed, true, 1));
    twin.send(12);
    let targets: Vec<u32> = twin.sent.iter().filter(|&fh| fh >> 21 == 3).map(|fh| fh >> 11 & 0x1ff).collect();
    assert_eq!((targets, twin.differs), (vec![1, 1, 1], None));
}

#[test]
fn ual_txs_05_n() {
    let mut twin = Twin::new(wrong(ReplayFault::RequestMoves), 0);
    twin.hear(explicit(FlitOp::Original, true, 2));
    twin.send(1);
    twin.hear(explicit(FlitOp::Replayed, true, 1));
    twin.send(3);
    let targets: Vec<u32> = twin.sent.iter().filter(|&fh| fh >> 21 == 3).map(|fh| fh >> 11 & 0x1ff).collect();
    assert_eq!(targets, [1, 2, 2]);
    assert!(twin.differs.is_some());
    // The receiver says so too, of copies that come too soon and of one that names another number.
    for fec_group_flits in [2, 4] {
        let config = ReplayConfig { fec_group_flits, ..ReplayConfig::default() };
        let machine = Machine { config, fault: Some(ReplayFault::RequestMoves) };
        // With a number in full between them, three copies are as far apart as two groups may be.
        let is_seen = (20..27).any(|bad| {
            let mut link = Link::new(machine, [60, 60]);
            link.run(300, &mut |from, now, _| from == 0 && now == bad);
            link.ends[0].logged.contains(&"UAL-TXS-05")
        });
        assert!(is_seen, "{fec_group_flits}");
    }
    let asked = |numbers: &[(u16, usize)]| {
        let mut twin = Twin::new(ReplayConfig { fec_group_flits: 1, ..ReplayConfig::default() }, 30);
        twin.send(30);
        for &(number, acks) in numbers {
            twin.hear(command(FlitOp::ReplayRequest, false, number, 511));
            (0..acks)
                .for_each(|n| twin.hear(if n == 3 { explicit(FlitOp::Original, false, 511) } else { ack(number) }));
        }
        twin.logged
    };
    let ours = |logged: Vec<&'static str>| logged.into_iter().filter(|rule| *rule == "UAL-TXS-05").count();
    assert_eq!(ours(asked(&[(5, 0), (5, 0), (5, 3)])), 0);
    assert_eq!(ours(asked(&[(5, 0), (6, 0), (6, 3)])), 1, "the number has moved");
    assert_eq!(ours(asked(&[(5, 5), (6, 0), (6, 3)])), 0, "it may be another loss");
}

#[test]
fn ual_txs_06_p() {
    // A full buffer, whatever its size.
    for buffer_flits in [1, 20, 255, 400] {
        let mut twin = Twin::new(ReplayConfig { buffer_flits, ..ReplayConfig::default() }, 1000);
        twin.send(500);
        assert_eq!((twin.ours.unacknowledged(), twin.next), (usize::from(buffer_flits.min(255)), twin.next));
        assert_eq!((twin.next, twin.differs), (u64::from(buffer_flits.min(255)), None));
    }
    // A replay: new payload waits until the last one has gone again.
    let mut twin = Twin::new(ReplayConfig::default(), 1000);
    twin.send(30);
    twin.hear(command(FlitOp::ReplayRequest, false, 11, 511));
    twin.send(20);
    assert_eq!((twin.next, twin.ours.is_replaying()), (30, false));
    twin.send(1);
    assert_eq!((twin.next, twin.differs), (31, None));
}

#[test]
fn ual_txs_06_n() {
    let config = ReplayConfig { buffer_flits: 8, ..ReplayConfig::default() };
    let mut link = Link::new(Machine { config, fault: Some(ReplayFault::RoomIgnored) }, [200, 0]);
    link.run(2000, &mut |from, now, _| from == 0 && now == 30);
    assert!(link.is_caught(), "what was pushed out cannot come again");
}

/// Flit times until an end without Acks leaves Up.
fn expires(watchdog_flits: u32, most: u32) -> Option<u32> {
    let config = ReplayConfig { watchdog_flits, ..ReplayConfig::default() };
    let mut twin = Twin::new(config, 1);
    (1..=most).find(|_| {
        twin.transmit();
        twin.ours.has_expired()
    })
}

#[test]
fn ual_txs_07_p() {
    assert_eq!(expires(ReplayConfig::default().watchdog_flits, 50_000), Some(40_000));
    let replay = ReplayConfig { watchdog_flits: 300, ..ReplayConfig::default() };
    let mut solo = Solo::online(EndConfig { replay, ..configs()[0] }, 10);
    solo.acks = false;
    let mut flits = 0;
    while solo.end.state() == State::Up {
        solo.exchange(&[]);
        flits += 1;
        assert!(flits <= 300);
    }
    assert_eq!((flits, solo.end.state(), solo.rules()), (300, State::Idle, vec!["UAL-TXS-07"]));
    assert_eq!(solo.end.client.downs, 1);
}

#[test]
fn ual_txs_07_n() {
    assert_eq!(expires(ReplayConfig::default().watchdog_flits, 39_999), None);
    // An Ack that frees something begins anew, one that frees nothing does not.
    let mut twin = Twin::new(ReplayConfig { watchdog_flits: 100, ..ReplayConfig::default() }, 2);
    twin.send(99);
    twin.hear(command(FlitOp::Ack, false, 1, 511));
    twin.send(99);
    assert!(!twin.ours.has_expired());
    twin.hear(command(FlitOp::Ack, false, 1, 511));
    twin.send(1);
    assert!(twin.ours.has_expired());
}

/// Payload flits of 1000 flit times with a buffer, over a line with a round trip of 20 flits and the flits of the ends.
fn sent_with(buffer_flits: u16) -> u64 {
    let mut link = Link::new(ReplayConfig { buffer_flits, ..ReplayConfig::default() }, [100_000, 100_000]);
    (0..1200).for_each(|_| link.step(&mut |_, _, _| false));
    let before = link.ends[0].next;
    (0..1000).for_each(|_| link.step(&mut |_, _, _| false));
    link.ends[0].next - before
}

#[test]
fn ual_txs_08_p() {
    // An Ack comes back after 21 flit times, and 7 later at most where a number in full takes its place.
    let needed = (1..=60).find(|&buffer| sent_with(buffer) == 1000);
    assert_eq!(needed, Some(23), "a buffer of the round trip keeps the full rate");
    assert_eq!(sent_with(40), 1000, "40 flits are 1 us at 25 ns");
}

#[test]
fn ual_txs_08_n() {
    let (half, full) = (sent_with(10), sent_with(40));
    println!("payload flits in 1000 flit times: {full} with 40 entries, {half} with 10");
    assert!((350..=500).contains(&half), "{half}: a buffer of half the round trip has half the rate");
}
