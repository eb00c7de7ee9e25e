//! CXL256-HDR-02 and CXL256-RTY: sequence numbers, stated and implied, and the handshake that agrees on them.

use super::rig::*;
use scalepool_protocols::cxl::cxl256::control::InitParam;
use scalepool_protocols::cxl::cxl256::number::{self, NumberPlace};
use scalepool_protocols::wire::Wire;

/// Flits that a busy link sends down.
fn log_of(flits: u64) -> Vec<Cxl256Flit> {
    let mut bench = Bench::new(LinkConfig::default(), 32, 1);
    (bench.phases, bench.produce) = (false, [64; 12]);
    bench.pair.wires.keep_log();
    while bench.pair.wires.now() < flits {
        bench.step();
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
    bench.pair.wires.take_log().into_iter().filter(|s| s.dir == Dir::Down).map(|s| s.unit.flit).collect()
}

#[test]
fn cxl256_hdr_02_p() {
    let log = log_of(500);
    let mut before = false;
    for flit in log {
        assert_eq!(flit.header().prior, before);
        before = flit.header().flit_type != FlitType::Nop;
    }
}

#[test]
fn cxl256_hdr_02_n() {
    let mut solo = Solo::up(LinkConfig::default());
    let header = FlitHeader { prior: true, seq: 1, ..FlitHeader::default() };
    // The flit before was a NOP.
    solo.receive(&sealed(header, &[], Crd::default()));
    assert_eq!(solo.rules(), ["CXL256-HDR-02"]);
}

#[test]
fn cxl256_typ_02_p() {
    let mut solo = Solo::up(LinkConfig::default());
    let mut idle = Solo::up(LinkConfig::default());
    idle.end.client.hold_credits(true);
    for _ in 0..100 {
        let flit = idle.transmit();
        assert_eq!(flit.header().flit_type, FlitType::Nop);
        assert!(flit.body(Mode::Standard).all(|b| b == 0));
    }
    assert_eq!(idle.end.transmitter().unacknowledged(), 0);
    (0..9).for_each(|_| solo.nop(ReplayCommand::Explicit, 1));
    assert_eq!((solo.end.receiver().last_good(), solo.rules()), (1, vec![]));
}

#[test]
fn cxl256_typ_02_n() {
    let mut solo = Solo::up(LinkConfig::default());
    for seq in [2, 3, 4] {
        solo.nop(ReplayCommand::Explicit, seq);
    }
    // A NOP that counts is taken for a sign of lost payload, and moves nothing on.
    assert_eq!(solo.end.receiver().last_good(), 1);
    assert!(solo.headers(8).iter().any(|h| h.command == ReplayCommand::NakStandard));
}

#[test]
fn cxl256_rty_01_p() {
    let mut expected = 1;
    let mut payload = 0;
    for header in log_of(3000).iter().map(Cxl256Flit::header).filter(|h| h.flit_type != FlitType::Nop) {
        if header.command == ReplayCommand::Explicit {
            assert_eq!(header.seq, expected);
        }
        expected = if expected == 1023 { 1 } else { expected + 1 };
        payload += 1;
    }
    assert!(payload > 2100, "{payload} flits have gone around twice");
}

#[test]
fn cxl256_rty_01_n() {
    let mut solo = Solo::up(LinkConfig::default());
    solo.payload(0, &[]);
    assert_eq!(solo.rules(), ["CXL256-RTY-01"]);
    assert_eq!(solo.end.receiver().expected, 2, "it was not taken");
}

#[test]
fn cxl256_rty_02_p() {
    let mut last = 1023;
    let mut nops = 0;
    for flit in log_of(600) {
        let header = flit.header();
        if header.flit_type != FlitType::Nop {
            last = if last == 1023 { 1 } else { last + 1 };
        } else {
            assert!(flit.body(Mode::Standard).all(|b| b == 0));
            if header.command == ReplayCommand::Explicit {
                assert_eq!(header.seq, last);
                nops += 1;
            }
        }
    }
    assert!(nops > 20);
}

#[test]
fn cxl256_rty_02_n() {
    let mut solo = Solo::up(LinkConfig::default());
    // A NOP with a number of its own looks like payload that got lost.
    solo.nop(ReplayCommand::Explicit, 2);
    assert!(solo.end.receiver().nak_open);
}

#[test]
fn cxl256_rty_03_p() {
    let log = log_of(100);
    assert_eq!((log[0].header().command, log[0].header().seq), (ReplayCommand::Explicit, 1023));
    let ack = log.iter().map(Cxl256Flit::header).find(|h| h.command == ReplayCommand::Ack).expect("an Ack");
    assert_eq!(ack.seq, 1023);
    let payload = log.iter().map(Cxl256Flit::header).find(|h| h.flit_type != FlitType::Nop).expect("payload");
    assert_eq!((payload.command, payload.seq), (ReplayCommand::Explicit, 1));
}

#[test]
fn cxl256_rty_03_n() {
    let mut solo = Solo::new(LinkConfig::default());
    let flits = LinkConfig::default().handshake_flits + 2;
    for _ in 0..flits {
        // A peer that begins with number 8.
        solo.nop(ReplayCommand::Ack, 7);
        solo.transmit();
    }
    assert!(solo.end.take_retrain_request());
}

#[test]
fn cxl256_rty_04_p() {
    let mut solo = Solo::up(LinkConfig::default());
    for (command, seq) in [(ReplayCommand::Explicit, 2), (ReplayCommand::Ack, 1), (ReplayCommand::Ack, 1)] {
        solo.flit(FlitType::Cachemem, command, seq, &[], Crd::default());
        solo.nop(ReplayCommand::Ack, 1);
    }
    assert_eq!(solo.end.receiver().last_good(), 2, "3 and 4 are in doubt, and so not acknowledged");
    solo.nop(ReplayCommand::Explicit, 4);
    assert_eq!(solo.end.receiver().last_good(), 4, "2 was stated, 3 and 4 were implied");
    assert_eq!(solo.rules(), [""; 0]);
}

#[test]
fn cxl256_rty_04_n() {
    let mut solo = Solo::up(LinkConfig::default());
    // The end has sent number 1 alone.
    solo.nop(ReplayCommand::Ack, 2);
    assert_eq!(solo.rules(), ["CXL256-RTY-04"]);
}

#[test]
fn cxl256_rty_05_p() {
    let mut solo = Solo::new(LinkConfig::default());
    for _ in 0..2 {
        solo.nop(ReplayCommand::Ack, 1023);
    }
    assert_eq!(solo.headers(40).iter().filter(|h| h.flit_type != FlitType::Nop).count(), 0, "two Acks do not do");
    let mut solo = Solo::new(LinkConfig::default());
    for _ in 0..3 {
        solo.nop(ReplayCommand::Ack, 1023);
    }
    let headers = solo.headers(14);
    let begin = headers.iter().position(|h| h.flit_type != FlitType::Nop).expect("the handshake ends");
    let stated = headers[..begin].iter().filter(|h| h.command == ReplayCommand::Explicit).count();
    assert_eq!(stated, 9);
    for four in headers[..8].chunks(4) {
        let acks: Vec<bool> = four.iter().map(|h| h.command == ReplayCommand::Ack).collect();
        assert_eq!(acks, [false, false, false, true]);
    }
}

#[test]
fn cxl256_rty_05_n() {
    let mut solo = Solo::new(LinkConfig::default());
    let flits = LinkConfig::default().handshake_flits as usize;
    solo.headers(flits);
    assert!(!solo.end.take_retrain_request());
    solo.headers(2);
    assert!(solo.end.take_retrain_request(), "nobody answers");
}

#[test]
fn cxl256_rty_14_p() {
    for expected in [1, 2, 511, 512, 513, 1022, 1023] {
        let at = |steps| number::place(expected, number::plus(expected, steps));
        assert_eq!((at(1), at(511), at(512), at(1022)), {
            (NumberPlace::Future, NumberPlace::Future, NumberPlace::Duplicate, NumberPlace::Duplicate)
        });
    }
}

#[test]
fn cxl256_rty_14_n() {
    let mut solo = Solo::up(LinkConfig::default());
    solo.payload(2, &[]);
    for seq in [2, 1, 1023, number::plus(3, 512)] {
        solo.payload(seq, &[]);
    }
    assert_eq!((solo.end.receiver().duplicates, solo.end.receiver().expected), (4, 3), "none was taken again");
    assert!(!solo.end.receiver().nak_open);
    solo.payload(number::plus(3, 511), &[]);
    assert!(solo.end.receiver().nak_open, "the farthest one ahead");
}

/// Whatever a peer sends under a CRC that fits is taken, reported or passed over; nothing stops the program.
#[test]
fn any_flit_is_survived() {
    for mode in Mode::ALL {
        let mut rng = scalepool::kernel::Rng::for_name(1, mode.protocol());
        let link = LinkConfig { mode, selective_nak: true, nak_ignore_flits: 2, ..LinkConfig::default() };
        let fresh = || {
            let mut end = Cxl256End::cachemem(link, CachememConfig::cachemem(Dir::Up, mode, 20));
            let header = FlitHeader { flit_type: FlitType::Cachemem, seq: 1, ..FlitHeader::default() };
            let mut init = Cxl256Flit::ZERO;
            init.set_header(&header).expect("fits");
            init.set_slot(mode, 0, InitParam::default().to_bits().expect("fits"));
            init.seal(mode);
            end.receive(&init, 0);
            end
        };
        let (mut end, mut delivered) = (fresh(), 0);
        for now in 1..6000 {
            let mut flit = Cxl256Flit::ZERO;
            if rng.ratio(1, 2) {
                rng.fill_bytes(&mut flit.0);
            }
            let mut header = FlitHeader::from_bits(rng.below(1 << 16).into());
            if rng.ratio(3, 4) {
                let near = number::plus(end.receiver().expected, rng.below(4) as u16);
                (header.seq, header.flit_type) = (number::previous(near), FlitType::Cachemem);
            }
            flit.set_header(&header).expect("ten bits");
            flit.seal(mode);
            end.receive_even(&flit, now);
            if rng.ratio(1, 8) {
                flit.0[100] ^= 1;
                flit.0[103] ^= 1;
            }
            end.receive(&flit, now);
            end.transmit(now);
            if end.take_retrain_request() || rng.ratio(1, 200) {
                end.phy_down();
                end.phy_up();
            }
            end.client.take();
            end.take_events();
            if end.halted().or(end.client.halted()).is_some() {
                delivered += end.stats().delivered;
                end = fresh();
            }
        }
        assert!(delivered + end.stats().delivered > 100, "{delivered}");
    }
}
