//! The byte stream of 68B units: tokens, TLPs that end with their unit, nullified TLPs, Ack, Nak and replay.

use super::rig::*;
use scalepool::kernel::Rng;
use scalepool_protocols::cxl::cxl68::lanes::{Cxl68Width, stripe, unstripe};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::cxl::cxlio::framing::{
    EDB, EDS, Framed, FramingToken, IDL, Stp, frame_dllp, frame_tlp, unframe_tlp,
};
use scalepool_protocols::wire::At;

/// A link that is up and at rest; its log is empty.
pub fn rested(receiver: IoConfig, replay: ReplayConfig) -> Units {
    let mut link = Units::new([config(), receiver], replay);
    link.bring_up();
    link.rest();
    link.assert_no_events();
    link.wires.take_log();
    link
}

/// A write whose framed length is so many bytes: token, header of 12, data, LCRC.
pub fn framed(bytes: usize) -> IoTlp {
    write(IoTlpForm::NonFlit, 9, 0x40, &pattern(9, bytes - 20))
}

/// Units that leave with the next packets until nothing more comes.
fn units(link: &mut Units) -> Vec<Cxl68Unit> {
    link.wires.take_log();
    link.steps(8);
    link.sent_down()
}

/// What a receiver has after each of some units.
fn taken_after(receiver: &mut NonFlitEnd, units: &[Cxl68Unit], now: u64) -> Vec<usize> {
    let mut taken = 0;
    let each = units.iter().map(|unit| {
        receiver.receive(unit, now);
        taken += std::iter::from_fn(|| receiver.pop()).count();
        taken
    });
    each.collect()
}

/// The units of a write of 64 framed bytes, and the receiver before them.
fn at_the_flit_end() -> (Units, Vec<Cxl68Unit>, NonFlitEnd) {
    let mut link = rested(config(), ReplayConfig::default());
    let far = link.io(Dir::Up).clone();
    link.push(Dir::Down, framed(64));
    let sent = units(&mut link);
    assert_eq!(sent.len(), 2, "a unit with the TLP, one that begins with IDL");
    assert!(
        matches!(FramingToken::read(&sent[0].payload()[..4]), Ok(Some((FramingToken::Stp(stp), _))) if stp.length_dw == 16)
    );
    assert_eq!(sent[1].payload(), &[IDL; 64]);
    (link, sent, far)
}

#[test]
fn cxlio_stp_03_p() {
    let (link, sent, mut far) = at_the_flit_end();
    assert_eq!(taken_after(&mut far, &sent, link.wires.now()), [0, 1]);
    // One that ends earlier needs no further unit: what follows it stands in its own.
    let mut link = rested(config(), ReplayConfig::default());
    let mut far = link.io(Dir::Up).clone();
    link.push(Dir::Down, framed(60));
    let sent = units(&mut link);
    assert_eq!(taken_after(&mut far, &sent, link.wires.now()), [1]);
}

#[test]
fn cxlio_stp_03_n() {
    // A receiver that does not wait has the TLP with its last byte, and is told by that from one that does.
    let (link, sent, mut far) = at_the_flit_end();
    let stream: Vec<u8> = sent.iter().flat_map(|unit| *unit.payload()).collect();
    let Ok(Some((FramingToken::Stp(stp), _))) = FramingToken::read(&stream) else { panic!("a TLP") };
    let early: Vec<usize> =
        (1..=sent.len()).map(|units| usize::from(64 * units >= 4 * usize::from(stp.length_dw))).collect();
    assert_eq!(early, [1, 1]);
    assert_ne!(taken_after(&mut far, &sent, link.wires.now()), early);
}

/// A stream without gaps: packets of several lengths.
fn busy_units() -> (Units, Vec<Cxl68Unit>) {
    let mut link = rested(config(), ReplayConfig::default());
    for dw in [1, 5, 2, 9, 30] {
        link.push(Dir::Down, write(IoTlpForm::NonFlit, dw, 0x40, &pattern(1, 4 * usize::from(dw))));
    }
    let sent = units(&mut link);
    (link, sent)
}

#[test]
fn cxlio_stp_04_p() {
    let (mut link, sent) = busy_units();
    let mut far = link.io(Dir::Up).clone();
    let wire: Vec<u8> = sent.iter().flat_map(|unit| unit.0).collect();
    // The lanes change the way of the bytes, not the stream: what x16 sends is read from x4 and x1 too.
    for lanes in [1, 2, 4, 8, 16] {
        let width = Cxl68Width::new(lanes).expect("a width");
        let gathered = unstripe(&stripe(&wire, width), 0);
        let back: Vec<Cxl68Unit> =
            gathered.chunks(68).map(|bytes| Cxl68Unit::from_bytes(bytes).expect("68 bytes")).collect();
        assert_eq!(back, sent, "x{lanes}");
    }
    assert_eq!(taken_after(&mut far, &sent, link.wires.now()).last(), Some(&5));
    // Every token stands at a multiple of four bytes.
    let stream: Vec<u8> = sent.iter().flat_map(|unit| *unit.payload()).collect();
    let mut at = 0;
    while at < stream.len() {
        match FramingToken::read(&stream[at..]).expect("a token") {
            Some((FramingToken::Stp(stp), _)) => at += 4 * usize::from(stp.length_dw),
            Some((FramingToken::Sdp, _)) => at += 8,
            Some((FramingToken::Idl, _)) => {
                assert_eq!(stream[at..at + 4], [IDL; 4]);
                at += 4;
            }
            other => panic!("{other:?} at {at}"),
        }
    }
}

#[test]
fn cxlio_stp_04_n() {
    // On one lane a token could stand behind any symbol; here that is a framing error.
    for shift in 1..4 {
        let mut link = rested(config(), ReplayConfig::default());
        let tlp = framed(24);
        let (token, lcrc) = frame_tlp(0, tlp.bytes()).expect("it fits");
        let mut payload = [IDL; 64];
        let framed: Vec<u8> = token.iter().chain(tlp.bytes()).chain(&lcrc).copied().collect();
        payload[shift..shift + framed.len()].copy_from_slice(&framed);
        link.inject(Dir::Down, &Cxl68Unit::plain(pid::IO, &payload));
        let events = link.events(Dir::Up);
        assert_eq!(rules(&events), ["CXLIO-STP-04"], "shift {shift}");
        assert_eq!(events[0].severity, Severity::Retrain);
        assert_eq!(link.io(Dir::Up).pop(), None);
        // Training heals it.
        link.push(Dir::Down, tlp.clone());
        assert_eq!(link.collect(Dir::Down, 300), [tlp]);
        assert_eq!(link.trainings, 1);
    }
}

/// What comes when the first of two TLPs goes nullified before it goes well.
fn nullified(first_bytes: usize) -> (Vec<IoTlp>, Stats) {
    let mut link = rested(config(), ReplayConfig::default());
    link.io(Dir::Down).nullify(1);
    link.push(Dir::Down, framed(first_bytes));
    link.push(Dir::Down, framed(40));
    let came = link.collect(Dir::Down, 200);
    assert_eq!(link.events(Dir::Up), []);
    (came, *link.io(Dir::Up).stats())
}

#[test]
fn cxlio_lcr_03_p2() {
    // 64: EDB is the first token of the next unit.
    for first_bytes in [24, 60, 64, 200] {
        let (came, stats) = nullified(first_bytes);
        assert_eq!(came, [framed(first_bytes), framed(40)]);
        assert_eq!((stats.nullified, stats.naks, stats.duplicates), (1, 0, 0));
    }
}

#[test]
fn cxlio_lcr_03_n2() {
    // A receiver that takes what is nullified hands the spoilt TLP over for the good one.
    let mut link = rested(config(), ReplayConfig::default());
    link.io(Dir::Down).nullify(1);
    link.push(Dir::Down, framed(64));
    let stream: Vec<u8> = units(&mut link).iter().flat_map(|unit| *unit.payload()).collect();
    let spoilt = &stream[..64];
    assert!(matches!(unframe_tlp(spoilt), Ok(Some(Framed::Nullified(_)))));
    let came = link.collect(Dir::Down, 200);
    assert_eq!(came, [framed(64)]);
    assert_ne!(came[0].bytes(), &spoilt[4..60], "the spoilt TLP is another one");
}

// ---- replay --------------------------------------------------------------------------------------------------------

/// The first units of a direction are lost.
fn vanish(units: u64) -> Vec<Fault> {
    (0..units).map(|unit| Fault::Vanish { unit }).collect()
}

#[test]
fn a_bad_lcrc_is_asked_for_again() {
    let mut link = rested(config(), ReplayConfig::default());
    // The first unit that leaves now: a bit of the data of the first TLP.
    let flip = Fault::Flip { unit: 0, bit: 8 * 30 };
    link.wires.put(Dir::Down, FaultyWire::new(vec![flip], 0.0, Rng::from_seed(1)));
    let sent = [framed(64), framed(44), framed(24)];
    sent.iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
    assert_eq!(link.collect(Dir::Down, 200), sent);
    let (near, far) = (*link.io(Dir::Down).stats(), *link.io(Dir::Up).stats());
    assert_eq!((near.replays, near.replayed, far.naks, link.trainings), (1, 3, 1, 0));
    assert_eq!(rules(&link.events(Dir::Up)), ["CXLIO-LCR-01"]);
    link.rest();
}

#[test]
fn a_lost_ack_is_healed_by_the_timer() {
    let mut link = rested(config(), ReplayConfig::default());
    let wire = FaultyWire::new(vanish(2), 0.0, Rng::from_seed(1));
    link.wires.put(Dir::Up, wire);
    // The far end says that a buffer is free, then that the TLP came.
    link.push(Dir::Down, framed(40));
    // 6 us of 1062.5 ps are 5647 flits.
    assert_eq!(link.collect(Dir::Down, 7000), [framed(40)]);
    link.rest();
    let (near, far) = (*link.io(Dir::Down).stats(), *link.io(Dir::Up).stats());
    assert_eq!((near.replays, far.duplicates), (1, 1));
    assert_eq!(link.io(Dir::Down).unacknowledged(), 0);
    link.assert_no_events();
}

#[test]
fn one_replay_too_many_asks_for_training() {
    let mut link = rested(config(), ReplayConfig { replay_timer_fs: 100_000_000, ..ReplayConfig::default() });
    // Everything that the far end says is lost for a while.
    link.wires.put(Dir::Up, FaultyWire::new(vanish(5), 0.0, Rng::from_seed(1)));
    link.push(Dir::Down, framed(40));
    let came = link.collect(Dir::Down, 1500);
    assert_eq!(came, [framed(40)]);
    link.rest();
    assert_eq!((link.trainings, link.io(Dir::Down).stats().replays), (1, 3));
    link.assert_no_events();
}

#[test]
fn an_ack_of_what_was_never_sent_frees_nothing() {
    let mut link = rested(config(), ReplayConfig::default());
    link.inject_dllp(Dir::Up, Dllp([0, 0, 0x01, 0x23]));
    assert_eq!(link.io(Dir::Down).stats().bad_acks, 1);
    link.push(Dir::Down, framed(40));
    assert_eq!(link.collect(Dir::Down, 100), [framed(40)]);
}

#[test]
fn a_tlp_that_is_missing_is_asked_for_once() {
    let mut link = rested(config(), ReplayConfig::default());
    link.wires.put(Dir::Down, FaultyWire::new(vanish(1), 0.0, Rng::from_seed(1)));
    // The first fills a unit and is lost with it; the others come too early.
    let sent = [framed(64), framed(64), framed(64), framed(64)];
    sent.iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
    assert_eq!(link.collect(Dir::Down, 200), sent);
    let (near, far) = (*link.io(Dir::Down).stats(), *link.io(Dir::Up).stats());
    assert_eq!((near.replays, near.replayed, far.naks), (1, 4, 1));
    link.rest();
    link.assert_no_events();
}

#[test]
fn initialisation_goes_in_two_steps() {
    let mut link = Units::plain();
    link.bring_up();
    link.steps(5);
    let stream: Vec<u8> = link.sent_down().iter().flat_map(|unit| *unit.payload()).collect();
    let types: Vec<u8> = stream.chunks(8).filter(|c| c[..2] == [0xf0, 0xac]).map(|c| c[2] >> 4).collect();
    // InitFC1 of P, NP and Cpl, then InitFC2, then UpdateFC.
    assert_eq!(types, [4, 5, 6, 12, 13, 14, 8, 9, 10]);
}

#[test]
fn tokens_out_of_place_end_the_stream() {
    let short = Stp { length_dw: 4, sequence: 0 }.to_bytes();
    let mut wrong_check = Stp { length_dw: 6, sequence: 0 }.to_bytes();
    wrong_check[2] ^= 0x10;
    let cases = [
        (short, "CXLIO-STP-01"),
        (wrong_check, "CXLIO-STP-01"),
        (EDB, "CXLIO-STP-02"),
        ([0xf0, 0xad, 0, 0], "CXLIO-STP-02"),
        ([0xc0, 0xc0, 0xc0, 0], "CXLIO-STP-02"),
    ];
    for (token, rule) in cases {
        let mut link = rested(config(), ReplayConfig::default());
        let mut payload = [IDL; 64];
        payload[8..12].copy_from_slice(&token);
        // What stands behind it is not read.
        payload[16..24].copy_from_slice(&frame_dllp(Dllp([0x10, 0, 0, 0])));
        link.inject(Dir::Down, &Cxl68Unit::plain(pid::IO, &payload));
        let events = link.events(Dir::Up);
        assert_eq!(rules(&events), [rule], "{token:02x?}");
        assert_eq!((events[0].severity, events[0].violation.at), (Severity::Retrain, At::Byte(10)));
        link.push(Dir::Down, framed(40));
        assert_eq!(link.collect(Dir::Down, 300), [framed(40)]);
        assert_eq!(link.trainings, 1);
    }
    // The end of the data stream is no error here.
    let mut link = rested(config(), ReplayConfig::default());
    let mut payload = [IDL; 64];
    payload[60..].copy_from_slice(&EDS);
    link.inject(Dir::Down, &Cxl68Unit::plain(pid::IO, &payload));
    link.assert_no_events();
}

#[test]
fn packets_that_mean_nothing_are_named() {
    let mut link = rested(config(), ReplayConfig::default());
    // Fmt and Type 7Fh under a good LCRC; the number after those sent so far is 0.
    let (token, lcrc) = frame_tlp(0, &[0x7f; 12]).expect("it fits");
    let mut payload = [IDL; 64];
    let bytes: Vec<u8> = token.iter().chain(&[0x7f; 12]).chain(&lcrc).copied().collect();
    payload[..bytes.len()].copy_from_slice(&bytes);
    link.inject(Dir::Down, &Cxl68Unit::plain(pid::IO, &payload));
    assert_eq!(rules(&link.events(Dir::Up)), ["CXLIO-NFM-02"]);
    assert_eq!(link.io(Dir::Up).stats().dropped, 1);
    // DLLPs: an unlisted type, one of a channel that is not there, one of power states, nothing, a CRC that does not fit.
    link.inject_dllp(Dir::Down, Dllp([0x7f, 0, 0, 0]));
    assert_eq!(rules(&link.events(Dir::Up)), ["CXLIO-DLL-01"]);
    for dllp in [[0x81, 0, 0, 0], [0x20, 0, 0, 0], [0x31, 0, 0, 0]] {
        link.inject_dllp(Dir::Down, Dllp(dllp));
    }
    assert_eq!(link.events(Dir::Up), []);
    assert_eq!(link.io(Dir::Up).stats().dllps_dropped, 3);
    let mut payload = [IDL; 64];
    payload[..8].copy_from_slice(&frame_dllp(Dllp([0x31, 0, 0, 0])));
    payload[7] ^= 1;
    link.inject(Dir::Down, &Cxl68Unit::plain(pid::IO, &payload));
    let events = link.events(Dir::Up);
    assert_eq!((rules(&events), events[0].severity), (vec!["CXLIO-DLL-04"], Severity::Corrected));
}

#[test]
fn what_no_token_can_say_is_refused() {
    let mut link = rested(IoConfig { id_prefix: IdPrefix::LdId, ..config() }, ReplayConfig::default());
    let long = (0..1025).fold(write(IoTlpForm::NonFlit, 1, 0, &[1; 4096]), |tlp, _| tlp.with_id_prefix(1));
    let refused = link.io(Dir::Up).push(long).expect_err("too long");
    assert_eq!(refused.why, Why::TooLong { found: 1025 + 3 + 1024, expected: 2045 });
    // The longest that has data alone goes, over 65 units.
    let longest = write(IoTlpForm::NonFlit, 1, 0, &pattern(1, 4096)).with_id_prefix(7);
    link.push(Dir::Up, longest.clone());
    link.steps(100);
    assert_eq!(rules(&link.events(Dir::Down)), ["CXLIO-PTH-04"], "the host has one device behind it");
    assert_eq!(link.io(Dir::Down).stats().dropped, 1);
    let plain = write(IoTlpForm::NonFlit, 1, 0, &pattern(1, 4096));
    link.push(Dir::Down, plain.clone());
    link.steps(100);
    assert_eq!(rules(&link.events(Dir::Up)), ["CXLIO-PTH-04"], "no ID where there are several devices");
    assert_eq!((plain.data_credits(), longest.bytes().len()), (256, 4 + 12 + 4096));
}
