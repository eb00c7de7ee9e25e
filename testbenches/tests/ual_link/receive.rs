//! Receive decisions of link-level replay (`ualink` §7).

use super::rig::*;
use super::twin::*;

/// Flits of a peer that has sent `given` payload flits.
fn nop(given: u16) -> UalHeader {
    explicit(FlitOp::Original, false, given)
}

/// A twin with so much payload sent and not acknowledged.
fn kept(config: impl Into<Machine>, flits: u16) -> Twin {
    let mut twin = Twin::new(config, flits.into());
    twin.send(flits.into());
    twin
}

/// A twin that has seen payload 2 in place of 1, so that it waits for a replay.
fn waiting(config: impl Into<Machine>) -> Twin {
    let mut twin = Twin::new(config, 0);
    twin.hear(explicit(FlitOp::Original, true, 2));
    assert!(twin.ours.is_waiting());
    twin
}

fn requests(headers: &[UalHeader]) -> Vec<u16> {
    headers
        .iter()
        .filter_map(|h| match h {
            UalHeader::Command(h) if h.op == FlitOp::ReplayRequest => Some(h.ack_req_seq),
            _ => None,
        })
        .collect()
}

fn numbers(headers: &[UalHeader]) -> Vec<u16> {
    headers
        .iter()
        .filter_map(|h| match h {
            UalHeader::Explicit(h) if h.payload && h.op == FlitOp::Replayed => Some(h.seq),
            _ => None,
        })
        .collect()
}

/// A request, eleven flits, then another: how many replays begin.
fn second_request(config: impl Into<Machine>, between: u16) -> (u64, Twin) {
    let mut twin = kept(config, 30);
    twin.hear(command(FlitOp::ReplayRequest, false, 3, 511));
    for _ in 0..between {
        twin.hear(nop(511));
        twin.send(1);
    }
    twin.hear(command(FlitOp::ReplayRequest, false, 3, 511));
    twin.send(10);
    (twin.ours.stats().replays, twin)
}

#[test]
fn ual_rxr_01_p() {
    for (between, replays) in [(0, 1), (10, 1), (11, 2), (20, 2)] {
        let (found, twin) = second_request(ReplayConfig::default(), between);
        assert_eq!((found, twin.differs, twin.logged), (replays, None, vec![]), "{between} flits between");
    }
}

#[test]
fn ual_rxr_01_n() {
    let (found, twin) = second_request(ReplayConfig { ignore_flits: 0, ..ReplayConfig::default() }, 4);
    assert!(found == 2 && twin.differs.is_some(), "a second replay within the window is seen");
}

/// So many bad flits in a row, then a command flit with payload 1.
fn after_bad(config: impl Into<Machine>, bad: usize) -> Twin {
    let mut twin = Twin::new(config, 0);
    (0..bad).for_each(|_| twin.receive(None));
    twin.hear(command(FlitOp::Ack, true, 511, 1));
    twin
}

#[test]
fn ual_rxr_02_p() {
    for bad in 0..10 {
        let mut twin = after_bad(ReplayConfig::default(), bad);
        assert_eq!((twin.ours.is_ambiguous(), twin.came.len()), (bad >= 7, usize::from(bad < 7)), "{bad} bad flits");
        twin.hear(explicit(FlitOp::Original, true, if bad < 7 { 2 } else { 1 }));
        assert!(!twin.ours.is_ambiguous(), "a number in full repairs it");
        assert_eq!((twin.differs, twin.ours.stats().bad), (None, bad as u64));
    }
}

#[test]
fn ual_rxr_02_n() {
    // Eight payload flits are lost; the ninth has the low bits of the first.
    let lost = |machine: Machine| {
        let mut twin = Twin::new(machine, 0);
        (0..8).for_each(|_| twin.receive(None));
        twin.receive(Some((command(FlitOp::Ack, true, 511, 9).to_bits().expect("fits"), Some(8))));
        twin
    };
    let good = lost(ReplayConfig::default().into());
    assert!(good.in_order() && good.differs.is_none());
    let bad = lost(wrong(ReplayFault::NeverAmbiguous));
    assert!(!bad.in_order() && bad.differs.is_some(), "the wrong flit is taken, and the scoreboard sees it");
}

#[test]
fn ual_rxr_03_p() {
    let mut link = Link::new(ReplayConfig::default(), [600, 600]);
    assert!(link.run(2000, &mut |_, now, _| now % 97 == 0));
    link.assert_clean();
    let zero = |fh: &u32| matches!(UalHeader::from_bits(*fh), UalHeader::Command(h) if h.ack_req_seq == 0);
    assert!(!link.ends.iter().flat_map(|t| &t.sent).any(zero));
}

#[test]
fn ual_rxr_03_n() {
    for op in [FlitOp::Ack, FlitOp::ReplayRequest] {
        let mut twin = Twin::new(ReplayConfig::default(), 0);
        twin.hear(command(op, true, 0, 1));
        assert_eq!((twin.logged.as_slice(), twin.came.len()), (["UAL-RXR-03"].as_slice(), 0), "the payload is lost");
        assert!(!twin.ours.is_waiting());
        twin.hear(command(FlitOp::Ack, true, 511, 2));
        assert!(twin.ours.is_waiting(), "and asked for again");
        twin.hear(explicit(FlitOp::Replayed, true, 1));
        assert_eq!((twin.came.len(), twin.differs), (1, None));
    }
}

#[test]
fn ual_rxr_04_p() {
    for first in [1, 7, 30] {
        let mut twin = kept(ReplayConfig::default(), 30);
        twin.hear(command(FlitOp::ReplayRequest, false, first, 511));
        let sent = twin.send(31);
        assert_eq!(numbers(&sent)[0], first, "the next flit is the one that is asked for");
        assert_eq!(twin.ours.stats().replayed, u64::from(31 - first));
        assert_eq!((twin.differs, twin.logged), (None, vec![]));
    }
}

#[test]
fn ual_rxr_04_n() {
    for (in_buffer, target) in [(0, 1), (0, 511), (30, 31), (30, 511), (30, 286), (255, 256)] {
        let mut twin = kept(ReplayConfig::default(), in_buffer);
        twin.hear(command(FlitOp::ReplayRequest, false, target, 511));
        assert_eq!(twin.logged, ["UAL-RXR-04"], "{target} of {in_buffer}");
        assert_eq!(numbers(&twin.send(20)), [0; 0]);
        assert_eq!((twin.differs, twin.ours.stats().replays), (None, 0));
    }
}

/// A flit that the line has doubled makes the receiver ask for the next one, which comes without the mark of a replay; the
/// sender has not kept that one yet. Both ends report a repaired fault, and neither blames the other.
#[test]
fn ual_rxr_04_p2() {
    let last = explicit(FlitOp::Original, true, 1);
    // The copy tells its number in full, or with three bits.
    for copy in [last, command(FlitOp::Ack, true, 511, 1)] {
        let mut receiver = Twin::new(ReplayConfig::default(), 0);
        receiver.hear(last);
        receiver.hear(copy);
        assert_eq!((requests(&receiver.send(20)), receiver.logged.clone()), (vec![2; 3], vec!["UAL-RXR-08"]));
        receiver.hear(explicit(FlitOp::Original, true, 2));
        assert_eq!((receiver.logged.len(), receiver.ours.is_waiting(), receiver.differs), (1, false, None));
    }
    // Behind a flit that was lost the mark is missed.
    let mut receiver = waiting(ReplayConfig::default());
    receiver.hear(last);
    assert_eq!(receiver.logged, ["UAL-RXR-08", "UAL-TXS-04"]);
    let mut sender = kept(ReplayConfig::default(), 1);
    let asks = command(FlitOp::ReplayRequest, false, 2, 511);
    let received = sender.ours.receive(Some(head(asks.to_bits().expect("it fits"))));
    assert_eq!(
        received.found.map(|(severity, found)| (severity, found.rule)),
        Some((Severity::Corrected, "UAL-RXR-04"))
    );
    assert_eq!((numbers(&sender.send(20)), sender.ours.stats().replays), (vec![], 0));
}

#[test]
fn ual_rxr_05_p() {
    let mut twin = kept(ReplayConfig::default(), 30);
    twin.hear(command(FlitOp::ReplayRequest, false, 20, 511));
    assert_eq!(twin.ours.unacknowledged(), 30, "the 19 before it are kept");
    assert_eq!((twin.ours.last_acknowledged(), twin.differs), (511, None));
}

#[test]
fn ual_rxr_05_n() {
    let mut twin = kept(wrong(ReplayFault::RequestAcknowledges), 30);
    twin.hear(command(FlitOp::ReplayRequest, false, 20, 511));
    assert!(twin.ours.unacknowledged() < 30 && twin.differs.is_some());
}

#[test]
fn ual_rxr_06_p() {
    for in_buffer in [0, 1, 2, 100, 254, 255] {
        for ack in (1..=in_buffer).chain([511]) {
            let mut twin = kept(ReplayConfig::default(), in_buffer);
            twin.hear(command(FlitOp::Ack, false, ack, 511));
            assert_eq!(twin.ours.unacknowledged(), usize::from(in_buffer - ack % 511), "{ack} of {in_buffer}");
            assert_eq!((twin.differs, twin.logged), (None, vec![]));
        }
    }
}

#[test]
fn ual_rxr_06_n() {
    for in_buffer in [0, 1, 254, 255] {
        for ack in [in_buffer + 1, 256, 300, 510] {
            let mut twin = kept(ReplayConfig::default(), in_buffer);
            twin.hear(command(FlitOp::Ack, false, ack, 511));
            assert_eq!(twin.ours.unacknowledged(), usize::from(in_buffer), "nothing is freed");
            assert_eq!((twin.differs, twin.logged), (None, vec!["UAL-RXR-06"]), "{ack} of {in_buffer}");
        }
    }
}

#[test]
fn ual_rxr_07_p() {
    let mut twin = waiting(ReplayConfig::default());
    twin.receive(None);
    twin.hear(command(FlitOp::Ack, false, 511, 2));
    assert_eq!(twin.ours.unexpected(), 2);
    twin.hear(explicit(FlitOp::Replayed, true, 1));
    assert_eq!((twin.came.len(), twin.ours.is_waiting(), twin.ours.unexpected()), (1, false, 0));
    twin.hear(command(FlitOp::Ack, true, 511, 2));
    twin.hear(command(FlitOp::Ack, false, 511, 2));
    twin.hear(explicit(FlitOp::Original, true, 3));
    twin.hear(nop(3));
    assert_eq!((twin.came.len(), twin.differs), (3, None), "payload each time, NOPs between change nothing");
}

#[test]
fn ual_rxr_07_n() {
    // Nothing but the flit that is due gets through: not one ahead, not the last one again.
    for number in (1..=511).filter(|&n| n != 1) {
        let mut twin = Twin::new(ReplayConfig::default(), 0);
        twin.hear(explicit(FlitOp::Original, true, number));
        assert_eq!((twin.came.len(), twin.ours.is_waiting(), twin.differs), (0, true, None), "{number}");
    }
}

#[test]
fn ual_rxr_08_p() {
    let mut twin = waiting(ReplayConfig::default());
    assert_eq!(twin.logged, ["UAL-RXR-08"]);
    let sent = twin.send(20);
    assert_eq!(requests(&sent), [1, 1, 1]);
    assert_eq!((twin.came.len(), twin.differs), (0, None));
}

#[test]
fn ual_rxr_08_n() {
    let mut link = Link::new(wrong(ReplayFault::GapTaken), [60, 0]);
    link.run(300, &mut |from, now, _| from == 0 && now == 20);
    assert!(link.is_caught() && !link.ends[1].in_order(), "payload out of order reaches the scoreboard");
}

#[test]
fn ual_rxr_09_p() {
    let mut twin = waiting(ReplayConfig::default());
    assert_eq!(requests(&twin.send(16)).len(), 3);
    for n in 1..=50 {
        assert_eq!(requests(&twin.send(1)).len(), 0, "before flit {n}");
        twin.hear(command(FlitOp::Ack, false, 511, 2));
    }
    assert_eq!((requests(&twin.send(16)), twin.differs), (vec![1, 1, 1], None));
    // Bad flits count too; the limit is seen with the next good one.
    let mut twin = waiting(ReplayConfig::default());
    twin.send(16);
    (0..60).for_each(|_| twin.receive(None));
    assert_eq!(requests(&twin.send(16)).len(), 0);
    twin.hear(command(FlitOp::Ack, false, 511, 2));
    assert_eq!((requests(&twin.send(16)).len(), twin.differs), (3, None));
}

/// All copies of the first request are lost.
fn lost_requests(config: impl Into<Machine>) -> (bool, Link) {
    let mut link = Link::new(config, [60, 60]);
    let mut lost = 0;
    let came = link.run(1000, &mut |from, now, fh| {
        let request = from == 1 && fh >> 21 == 3 && lost < 3;
        lost += u32::from(request);
        request || from == 0 && now == 20
    });
    (came, link)
}

#[test]
fn ual_rxr_09_n() {
    let (came, link) = lost_requests(ReplayConfig::default());
    assert!(came);
    link.assert_clean();
    let (came, link) = lost_requests(wrong(ReplayFault::AskedOnce));
    assert!(!came && link.is_caught(), "without a second request it hangs");
}

/// Explicit flits out of order while a replay is waited for.
fn explicit_unexpected(config: impl Into<Machine>) -> Twin {
    let mut twin = waiting(config);
    twin.send(16);
    for n in 3..103 {
        twin.hear(explicit(FlitOp::Original, true, n));
    }
    twin
}

#[test]
fn ual_rxr_10_p() {
    let mut twin = explicit_unexpected(ReplayConfig::default());
    assert_eq!(twin.ours.unexpected(), 0, "only flits that cannot be told count");
    twin.hear(command(FlitOp::Ack, true, 511, 5));
    assert_eq!((twin.ours.unexpected(), twin.came.len(), twin.differs), (1, 0, None));
}

#[test]
fn ual_rxr_10_n() {
    let mut twin = explicit_unexpected(wrong(ReplayFault::ExplicitCounted));
    twin.send(40);
    assert!(twin.differs.is_some());
}

#[test]
fn ual_rxr_11_p() {
    let mut twin = Twin::new(ReplayConfig::default(), 0);
    (0..7).for_each(|_| twin.receive(None));
    twin.hear(command(FlitOp::Ack, true, 511, 1));
    twin.hear(command(FlitOp::Ack, false, 511, 7));
    assert_eq!((twin.came.len(), twin.ours.is_waiting(), twin.ours.unexpected()), (0, false, 0), "no other effect");
    assert_eq!(requests(&twin.send(10)), [0; 0]);
    twin.hear(explicit(FlitOp::Original, true, 1));
    assert_eq!((twin.came.len(), twin.ours.is_ambiguous(), twin.differs), (1, false, None));
}

#[test]
fn ual_rxr_11_n() {
    let twin = after_bad(wrong(ReplayFault::AmbiguousUsed), 7);
    assert!(twin.came.len() == 1 && twin.differs.is_some());
}

#[test]
fn ual_rxr_13_p() {
    for in_buffer in [0, 1, 2, 254, 255] {
        for n in 1..=511 {
            let resident = (1..=in_buffer).contains(&n);
            let mut twin = kept(ReplayConfig::default(), in_buffer);
            twin.hear(command(FlitOp::Ack, false, n, 511));
            assert_eq!(twin.logged.is_empty(), resident || n == 511, "Ack {n} of {in_buffer}");
            let mut twin = kept(ReplayConfig::default(), in_buffer);
            twin.hear(command(FlitOp::ReplayRequest, false, n, 511));
            assert_eq!((twin.logged.is_empty(), twin.differs), (resident, None), "request {n} of {in_buffer}");
        }
    }
}

#[test]
fn ual_rxr_13_n() {
    // The bounds as printed let numbers pass that were never sent; exact ones do not.
    let literal = ReplayConfig { literal_1_0: true, ..ReplayConfig::default() };
    for n in [255, 256] {
        let mut exact = kept(ReplayConfig::default(), 0);
        exact.hear(command(FlitOp::Ack, false, n, 511));
        assert_eq!(exact.logged, ["UAL-RXR-06"]);
        let mut printed = kept(literal, 0);
        printed.hear(command(FlitOp::Ack, false, n, 511));
        assert_eq!((printed.logged.as_slice(), printed.ours.unacknowledged()), ([""; 0].as_slice(), 0));
        let mut printed = kept(literal, 1);
        printed.hear(command(FlitOp::ReplayRequest, false, n + 1, 511));
        assert_eq!(printed.logged, [""; 0], "and nothing breaks");
        printed.send(20);
    }
}
