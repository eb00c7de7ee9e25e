//! Link states and error containment (`ualink` §5, §8).

use super::rig::*;
use std::sync::Arc;

/// What one end sends in so many flit times while the peer says the same thing each time.
fn sends(solo: &mut Solo, flits: u64, heard: Option<UalHeader>) -> Vec<OnLine> {
    (0..flits)
        .map(|_| {
            let sent = solo.transmit();
            match heard {
                Some(header) => solo.receive(header, &Payload::ZERO),
                None => solo.idle(),
            }
            sent
        })
        .collect()
}

/// A NOP of a peer that is up.
fn nop(solo: &Solo) -> Option<UalHeader> {
    Some(explicit(FlitOp::Original, false, solo.given))
}

/// Both ends in a state; the accelerator's is looked at.
fn solo_in(state: State) -> Solo {
    let mut solo = Solo::new(configs()[0], 0);
    if state > State::Fault {
        solo.end.enable(state > State::Idle);
        solo.end.line_fault(None);
        solo.transmit();
    }
    if state == State::Up {
        solo.pass(10);
    }
    assert_eq!(solo.end.state(), state);
    solo
}

#[test]
fn ual_lnk_01_p() {
    assert_eq!(Solo::new(configs()[0], 0).end.state(), State::Fault, "after reset");
    for state in State::ALL {
        for fault in [Fault::Local, Fault::Remote] {
            let mut solo = solo_in(state);
            solo.end.line_fault(Some(fault));
            assert_eq!(solo.end.state(), State::Fault, "{state:?}");
            let from_up = if state == State::Up { vec!["UAL-LNK-01"] } else { vec![] };
            assert_eq!(solo.rules(), from_up, "a link that was up says so");
            solo.end.line_fault(None);
            assert_eq!(solo.end.state(), State::Idle);
        }
    }
}

#[test]
fn ual_lnk_01_n() {
    // Whatever arrives, an end stays in Fault until the layer below has none.
    let mut solo = Solo::new(configs()[0], 0);
    let sent = sends(&mut solo, 30, Some(explicit(FlitOp::Original, false, 511)));
    assert_eq!((solo.end.state(), sent), (State::Fault, vec![OnLine::RemoteFault; 30]));
}

#[test]
fn ual_lnk_02_p() {
    for (fault, expected) in [(Fault::Local, OnLine::RemoteFault), (Fault::Remote, OnLine::Idle)] {
        let mut solo = solo_in(State::Up);
        solo.end.line_fault(Some(fault));
        assert_eq!(sends(&mut solo, 20, None), vec![expected; 20], "{fault:?}");
    }
}

#[test]
fn ual_lnk_02_n() {
    // The cause may change, and with it what is sent; payload never goes.
    let mut solo = Solo::online(configs()[0], 1000);
    solo.end.line_fault(Some(Fault::Remote));
    let given = solo.end.client.next;
    assert_eq!(solo.transmit(), OnLine::Idle);
    solo.end.line_fault(Some(Fault::Local));
    assert_eq!(solo.transmit(), OnLine::RemoteFault);
    assert_eq!(solo.end.client.next, given);
}

#[test]
fn ual_lnk_03_p() {
    let mut solo = solo_in(State::Idle);
    assert_eq!(sends(&mut solo, 20, None), vec![OnLine::Idle; 20], "held until it is enabled");
    solo.end.enable(true);
    assert!(matches!(solo.transmit(), OnLine::Flit(_)));
    assert_eq!(solo.end.state(), State::Nop);
}

#[test]
fn ual_lnk_03_n() {
    let mut solo = solo_in(State::Idle);
    solo.deliver(&[], &[numbered(0)]);
    assert_eq!((solo.rules(), solo.end.client.taken), (vec!["UAL-LNK-03"], 0));
    solo.deliver(&[], &[numbered(1)]);
    assert_eq!((solo.rules(), solo.end.client.taken), (vec![], 0), "said once");
    assert_eq!(solo.end.replay().last_taken(), 511);
}

/// State of an end that has sent and received so many flits.
fn after(sent: u64, received: u64) -> State {
    let mut solo = Solo::new(configs()[0], 0);
    solo.end.line_fault(None);
    (0..sent).for_each(|_| drop(solo.transmit()));
    (0..received).for_each(|_| solo.receive(explicit(FlitOp::Original, false, 511), &Payload::ZERO));
    solo.end.state()
}

#[test]
fn ual_lnk_04_p() {
    for (sent, received) in [(10, 2), (10, 3), (11, 2), (300, 300)] {
        assert_eq!(after(sent, received), State::Up, "{sent} sent, {received} received");
    }
}

#[test]
fn ual_lnk_04_n() {
    for (sent, received) in [(9, 2), (10, 1), (9, 300), (300, 1), (10, 0)] {
        assert_eq!(after(sent, received), State::Nop, "{sent} sent, {received} received");
    }
    // Two that do not follow each other are not enough.
    let mut solo = Solo::new(configs()[0], 0);
    solo.end.line_fault(None);
    (0..20).for_each(|_| drop(solo.transmit()));
    for _ in 0..3 {
        solo.receive(explicit(FlitOp::Original, false, 511), &Payload::ZERO);
        solo.idle();
    }
    assert_eq!(solo.end.state(), State::Nop);
}

#[test]
fn ual_lnk_05_p() {
    // Four control flits in a row.
    let mut solo = solo_in(State::Up);
    (0..4).for_each(|_| solo.idle());
    assert_eq!((solo.end.state(), solo.rules()), (State::Idle, vec!["UAL-LNK-05"]));
    // Error containment.
    let mut solo = solo_in(State::Up);
    solo.end.contain_error();
    solo.transmit();
    assert_eq!((solo.end.state(), solo.rules()), (State::Idle, vec!["UAL-CRC-04"]));
    // The watchdog: `ual_txs_07_p`. Each time the replay machine begins anew.
    assert_eq!((solo.end.replay().last_given(), solo.end.stats().downs, solo.end.client.downs), (511, 1, 1));
}

#[test]
fn ual_lnk_05_n() {
    let mut solo = solo_in(State::Up);
    for _ in 0..10 {
        (0..3).for_each(|_| solo.idle());
        let header = nop(&solo).expect("a header");
        solo.receive(header, &Payload::ZERO);
    }
    assert_eq!((solo.end.state(), solo.end.stats().downs), (State::Up, 0), "three in a row are not four");
}

#[test]
fn ual_lnk_06_p() {
    // One end comes up long before the other one and sends at once: its payload is not lost.
    for late in [0, 5, 12, 15] {
        let mut pair = pair_of(configs(), [200, 200]);
        pair.device.enable(false);
        for _ in 0..late {
            pair.step();
        }
        pair.device.enable(true);
        rest(&mut pair, 2000);
        assert_all_came(&pair);
        assert!(events(&mut pair).iter().all(|e| e.severity == Severity::Corrected));
    }
}

#[test]
fn ual_lnk_06_n() {
    let mut solo = solo_in(State::Nop);
    solo.deliver(&[], &[numbered(0)]);
    assert_eq!((solo.rules(), solo.end.client.taken), (vec!["UAL-LNK-06"], 0));
    assert_eq!(solo.end.replay().last_taken(), 511, "it is not acknowledged");
    let all_nops = sends(&mut solo, 8, None);
    assert!(all_nops.iter().all(|s| matches!(s, OnLine::Flit(f) if !f.header().payload())));
}

#[test]
fn ual_crc_04_p() {
    let mut pair = pair_of(configs(), [5000, 5000]);
    (0..100).for_each(|_| pair.step());
    pair.host.contain_error();
    let mut from_zero = Vec::new();
    let mut record = |from: usize, _: u64, sent: OnLine| {
        if from == 0 {
            from_zero.push(sent.clone());
        }
        Some(sent)
    };
    for _ in 0..40 {
        pair.step_with(&mut record);
    }
    let OnLine::Flit(spoilt) = &from_zero[0] else { panic!("a flit") };
    assert_eq!(spoilt.crc(), !spoilt.expected_crc(&UalConfig::SHEET), "all 32 bits are inverted");
    let next_flit = from_zero[1..].iter().position(|s| matches!(s, OnLine::Flit(_)));
    assert!(next_flit.is_none_or(|n| n >= 8), "Idle alone follows, so that the peer leaves Up");
    rest(&mut pair, 3000);
    let rules: Vec<&str> =
        events(&mut pair).iter().filter(|e| e.severity != Severity::Corrected).map(|e| e.violation.rule).collect();
    assert_eq!(rules, ["UAL-CRC-04", "UAL-LNK-05"], "one end leaves by itself, the other one by control flits");
    for end in pair.ends() {
        assert_eq!((end.stats().downs, end.client.downs, end.state()), (1, 1, State::Up));
    }
}

#[test]
fn ual_crc_04_n() {
    let mut solo = solo_in(State::Up);
    let mut spoilt = flit(explicit(FlitOp::Original, false, 511), &Payload::ZERO);
    spoilt.poison(&UalConfig::SHEET);
    solo.arrives(&OnLine::Flit(Arc::new(spoilt)));
    assert_eq!(solo.rules(), [""; 0]);
    solo.receive(explicit(FlitOp::Original, false, 511), &Payload::ZERO);
    assert_eq!(solo.rules(), ["UAL-CRC-04"]);
    // With control flits behind it all is well; a flit that is merely bad says nothing of what follows.
    solo.arrives(&OnLine::Flit(Arc::new(spoilt)));
    (0..4).for_each(|_| solo.idle());
    assert_eq!(solo.rules(), ["UAL-LNK-05"]);
    let mut solo = solo_in(State::Up);
    solo.arrives(&spoil(OnLine::Flit(Arc::new(flit(explicit(FlitOp::Original, false, 511), &Payload::ZERO)))));
    solo.receive(explicit(FlitOp::Original, false, 511), &Payload::ZERO);
    assert_eq!(solo.rules(), [""; 0]);
}
