//! TLP bytes and DLLPs in 256B flits: NOPs, groups, straddling TLPs, halves, PBR headers, ID prefixes.

use super::rig::*;
use scalepool::link::cxlio::flit::tlp_bytes;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::{body_byte, body_bytes};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxlio::code::DllpType;
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::cxl::cxlio::stream::{FoundPiece, PieceKind, TlpRegionReader};
use scalepool_protocols::wire::At;

/// A flit of a type whose TLP bytes begin so; the others are NOPs.
fn flit(mode: Mode, flit_type: FlitType, tlps: &[u8]) -> Cxl256Flit {
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&FlitHeader { flit_type, ..FlitHeader::default() }).expect("a type");
    flit.set_body(mode, tlps.iter().copied());
    flit
}

fn region(mode: Mode, flit: &Cxl256Flit) -> Vec<u8> {
    flit.body(mode).take(tlp_bytes(mode)).collect()
}

/// A link that is up and at rest, without a log.
fn rested(mode: Mode) -> Flits {
    let mut link = Flits::plain(mode);
    link.bring_up();
    link.rest();
    link.assert_no_events();
    link.log.clear();
    link
}

/// The pieces of what was sent down, flit by flit.
fn pieces(link: &Flits) -> Vec<Vec<FoundPiece>> {
    let mut reader = TlpRegionReader::new(link.mode == Mode::Pbr);
    link.log.iter().map(|flit| reader.read(&region(link.mode, flit))).collect()
}

#[test]
fn cxlio_plc_01_p() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        let sent = [write(link.form(), 1, 0, &[1; 40]), read(link.form(), 2, 0, 4)];
        sent.iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        assert_eq!(link.collect(Dir::Down, 40), sent);
        assert_eq!(link.log.len(), 1);
        let used: usize = sent.iter().map(|tlp| tlp.bytes().len()).sum();
        assert!(region(mode, &link.log[0])[used..].iter().all(|&b| b == 0));
        let nops = pieces(&link)[0].iter().filter(|f| f.piece.kind == PieceKind::Nop).count();
        assert_eq!(nops, (tlp_bytes(mode) - used) / 4);
        link.assert_no_events();
    }
}

#[test]
fn cxlio_plc_01_n() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        // Two bytes of a NOP, then the next TLP begins: it stands across two DW, as the last NOP does.
        let mut bytes = vec![0; tlp_bytes(mode)];
        let last = bytes.len() - 2;
        bytes[last] = 0x40;
        link.inject(Dir::Down, &flit(mode, FlitType::Io, &bytes));
        let events = link.events(Dir::Up);
        assert_eq!(rules(&events), ["CXLIO-PLC-01"]);
        assert_eq!(events[0].violation.at, At::Byte(body_byte(mode, last - 2)));
        assert_eq!(link.end(Dir::Up).pop(), None);
    }
}

#[test]
fn cxlio_plc_02_p2() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        let sent: Vec<IoTlp> = (0..16).map(|n| read(link.form(), n, 0, 4)).collect();
        sent.iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        assert_eq!(link.collect(Dir::Down, 60), sent);
        let starts = |flit: &Vec<FoundPiece>, group: usize| {
            let begins = flit.iter().filter(|f| f.piece.kind == PieceKind::Tlp && f.piece.begins);
            begins.filter(|f| usize::from(f.piece.at >= 128) == group).count()
        };
        // 12 bytes a TLP, 16 with a PBR header: eight fit in each group but the second of a PBR flit.
        let flits = pieces(&link);
        assert_eq!(starts(&flits[0], 0), 8);
        assert!(flits.iter().all(|flit| starts(flit, 0) <= 8 && starts(flit, 1) <= 8));
        assert_eq!(starts(&flits[0], 1), if mode == Mode::Pbr { 7 } else { 8 });
        link.assert_no_events();
    }
}

#[test]
fn cxlio_plc_02_n2() {
    for mode in [Mode::Standard, Mode::LatencyOptimised] {
        let mut link = rested(mode);
        for (first, rule) in [(0, true), (128, true), (56, false)] {
            let mut bytes = vec![0; first];
            (0..9).for_each(|n| bytes.extend(read(link.form(), n, 0, 4).bytes()));
            if bytes.len() > tlp_bytes(mode) {
                // Nine of 12 bytes are more than the second group has; the last goes on in the next flit.
                bytes.truncate(tlp_bytes(mode));
            }
            link.inject(Dir::Down, &flit(mode, FlitType::Io, &bytes));
            link.inject(Dir::Down, &flit(mode, FlitType::Io, &[0; 4]));
            let events = link.events(Dir::Up);
            assert_eq!(rules(&events), vec!["CXLIO-PLC-02"; usize::from(rule)], "{mode:?} from {first}");
            while link.end(Dir::Up).pop().is_some() {}
        }
    }
}

#[test]
fn cxlio_plc_03_p2() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        let sent: Vec<IoTlp> = (0..5).map(|n| write(link.form(), n, 0, &pattern(n as u8, 300))).collect();
        sent.iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        assert_eq!(link.collect(Dir::Down, 80), sent);
        assert!(pieces(&link).iter().flatten().any(|f| f.piece.begins && !f.piece.ends));
        // The bytes of the flits are those of the TLPs, in their order.
        let stream: Vec<u8> = link.log.iter().flat_map(|flit| region(mode, flit)).collect();
        let want: Vec<u8> = sent.iter().flat_map(|tlp| tlp.bytes().to_vec()).collect();
        assert_eq!(stream[..want.len()], want);
        link.assert_no_events();
    }
}

#[test]
fn cxlio_plc_03_n2() {
    let mut link = rested(Mode::Standard);
    let tlp = write(link.form(), 1, 0, &pattern(1, 300));
    let mut bytes = tlp.bytes().to_vec();
    // Two bytes of the part in the second flit change places: no check of the TLP tells, the data do.
    bytes.swap(240, 241);
    let (first, second) = bytes.split_at(tlp_bytes(Mode::Standard));
    link.inject(Dir::Down, &flit(Mode::Standard, FlitType::Io, first));
    assert_eq!(link.end(Dir::Up).pop(), None);
    link.inject(Dir::Down, &flit(Mode::Standard, FlitType::Io, second));
    let came = link.end(Dir::Up).pop().expect("it is whole");
    assert_eq!(came.payload().len(), 300);
    assert_ne!(came, tlp);
}

#[test]
fn cxlio_plc_04_p() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        let before = link.end(Dir::Up).stats().dllps_sent;
        link.inject(Dir::Down, &flit(mode, FlitType::Nop, &[]));
        // An idle link sends no payload, and still its UpdateFC come.
        link.steps(30_000);
        assert!(link.log.is_empty());
        assert!(link.end(Dir::Up).stats().dllps_sent > before);
        link.assert_no_events();
    }
}

#[test]
fn cxlio_plc_04_n() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        let tlp = write(link.form(), 1, 0, &[1; 4]);
        for at in [0, 160] {
            let mut bytes = vec![0; at];
            bytes.extend(tlp.bytes());
            link.inject(Dir::Down, &flit(mode, FlitType::Nop, &bytes));
            let events = link.events(Dir::Up);
            assert_eq!(rules(&events), ["CXLIO-PLC-04"]);
            assert_eq!(events[0].violation.at, At::Byte(body_byte(mode, at)));
            assert_eq!(link.end(Dir::Up).pop(), None);
        }
    }
}

const UNUSED: [DllpType; 6] = [
    DllpType::Ack,
    DllpType::Nak,
    DllpType::PmEnterL1,
    DllpType::PmEnterL23,
    DllpType::PmActiveStateRequestL1,
    DllpType::PmRequestAck,
];

#[test]
fn cxlio_dll_06_p() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        (0..16).for_each(|n| link.push(Dir::Down, write(link.form(), n, 0, &pattern(1, 200))));
        let mut seen = 0;
        for _ in 0..20_000 {
            link.step();
            while link.end(Dir::Up).pop().is_some() {}
            for dllp in link.under_way().chain(link.log.iter().map(|f| {
                let first = body_bytes(mode) - 4;
                Dllp(std::array::from_fn(|i| f.0[body_byte(mode, first + i)]))
            })) {
                seen += 1;
                assert!(!UNUSED.contains(&DllpType(dllp.0[0])), "{dllp:02x?}");
            }
            link.log.clear();
        }
        assert!(seen > 10);
        link.assert_no_events();
    }
}

#[test]
fn cxlio_dll_06_n() {
    for mode in Mode::ALL {
        let mut link = rested(mode);
        let before = *link.end(Dir::Up).stats();
        for dllp_type in UNUSED {
            link.inject_dllp(Dir::Down, Dllp([dllp_type.0, 0, 0, 7]));
        }
        let after = *link.end(Dir::Up).stats();
        assert_eq!(after.dllps_dropped - before.dllps_dropped, 6);
        assert_eq!(Stats { dllps_dropped: before.dllps_dropped, ..after }, before, "no other effect");
        link.assert_no_events();
        link.inject_dllp(Dir::Down, Dllp([0x7f, 0, 0, 0]));
        assert_eq!(rules(&link.events(Dir::Up)), ["CXLIO-DLL-01"]);
    }
}

#[test]
fn cxlio_pth_02_p() {
    let mut link = rested(Mode::Pbr);
    let sent: Vec<IoTlp> = (0..9).map(|n| write(link.form(), n, 0, &pattern(n as u8, 100))).collect();
    sent.iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
    assert_eq!(link.collect(Dir::Down, 60), sent);
    let begins: Vec<u8> = link
        .log
        .iter()
        .zip(pieces(&link))
        .flat_map(|(flit, found)| {
            let region = region(Mode::Pbr, flit);
            let firsts = found.into_iter().filter(|f| f.piece.begins && f.piece.kind == PieceKind::Tlp);
            firsts.map(|f| region[f.piece.at]).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(begins, [0xc0; 9]);
    link.assert_no_events();
}

#[test]
fn cxlio_pth_02_n() {
    let form = IoTlpForm::Flit { pbr: false };
    let bare = write(form, 1, 0, &[1; 4]);
    let behind_prefix = bare.clone().with_id_prefix(5);
    for wrong in [bare.clone(), behind_prefix] {
        let mut link = rested(Mode::Pbr);
        link.inject(Dir::Down, &flit(Mode::Pbr, FlitType::Io, wrong.bytes()));
        assert_eq!(rules(&link.events(Dir::Up)), ["CXLIO-PTH-02"]);
        assert_eq!(link.end(Dir::Up).stats().unreadable, 1);
        assert_eq!(link.end(Dir::Up).pop(), None);
        // The next flit is read again.
        let good = write(link.form(), 2, 0, &[2; 4]);
        link.push(Dir::Down, good.clone());
        assert_eq!(link.collect(Dir::Down, 40), [good]);
    }
    let mut link = rested(Mode::Pbr);
    let refused = link.end(Dir::Down).push(bare).expect_err("no PBR header");
    assert_eq!(refused.why, Why::Form { found: form, expected: link.form() });
}

#[test]
fn cxlio_pth_04_p() {
    for (id_prefix, id) in [(IdPrefix::LdId, 0xabcd), (IdPrefix::PbrId, 0x0bcd)] {
        let both = IoConfig { id_prefix, ..config() };
        for mut link in links_of([both.clone(), both]) {
            link.bring_up();
            let plain = write(link.form(), 1, 0x40, &pattern(1, 64));
            let sent = plain.clone().with_id_prefix(id);
            assert_eq!((plain.id_prefix(), sent.id_prefix()), (None, Some(id)));
            assert_eq!((sent.payload(), sent.header()), (plain.payload(), plain.header()));
            let [high, low] = id.to_be_bytes();
            assert_eq!(sent.bytes()[..4], [0x8e, high, low, 0]);
            link.push(Dir::Down, sent.clone());
            assert_eq!(link.collect(Dir::Down, 60), [sent]);
            link.assert_no_events();
        }
    }
}

#[test]
fn cxlio_pth_04_n() {
    let with = IoConfig { id_prefix: IdPrefix::LdId, ..config() };
    for mut link in links_of([with, config()]) {
        link.bring_up();
        let tlp = write(link.form(), 1, 0x40, &pattern(1, 64));
        link.push(Dir::Down, tlp.clone().with_id_prefix(3));
        assert_eq!(link.collect(Dir::Down, 60), []);
        assert_eq!(rules(&link.events(Dir::Up)), ["CXLIO-PTH-04"]);
        assert!(link.end(Dir::Up).flow().is_home());
        let refused = link.end(Dir::Up).push(tlp.with_id_prefix(3)).expect_err("one device");
        assert_eq!(refused.why, Why::Prefix { found: Some(3), expected: IdPrefix::Nothing });
    }
}

#[test]
fn the_last_tlp_of_an_even_half_waits_for_the_odd_half() {
    let mut link = rested(Mode::LatencyOptimised);
    let form = link.form();
    let sent = [write(form, 1, 0, &pattern(1, 84)), write(form, 2, 0, &pattern(2, 84))];
    let bytes: Vec<u8> = sent.iter().flat_map(|tlp| tlp.bytes().to_vec()).collect();
    let whole = flit(Mode::LatencyOptimised, FlitType::Io, &bytes);
    let end = &mut link.ends[1];
    end.receive(&whole, FlitPart::Even, 1000);
    assert_eq!(end.pop(), Some(sent[0].clone()));
    assert_eq!(end.pop(), None);
    end.receive(&whole, FlitPart::Odd, 1001);
    assert_eq!(end.pop(), Some(sent[1].clone()));
}

#[test]
fn a_dllp_that_finds_no_flit_gets_one() {
    let mut link = rested(Mode::Standard);
    let now = link.now;
    link.push(Dir::Down, write(link.form(), 1, 0, &[1; 4]));
    link.steps(14);
    assert!(link.end(Dir::Up).pop().is_some());
    // Nothing of CXL.io leaves from here on: the credit of the TLP waits.
    let end = &mut link.ends[1];
    let first = (now + 14..now + 100).find_map(|now| end.transmit(now).map(|flit| (now, flit)));
    let (at, flit) = first.expect("a flit of NOPs");
    assert!(at <= now + 14 + 17, "{}", at - now);
    assert_eq!(flit.header().flit_type, FlitType::Io);
    assert!(region(Mode::Standard, &flit).iter().all(|&b| b == 0));
    assert_eq!(end.dllp(at).map(|dllp| dllp[0]), Some(0x80));
}
