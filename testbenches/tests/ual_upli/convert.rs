//! Transfers of the transaction layer as words and beats, and back.

use super::rig::*;
use convert::*;

fn there_and_back(transfer: &Transfer) -> Transfer {
    let request = request_to_wires(transfer, 1, &SHEET).expect("a request");
    request_from_wires(&request, &SHEET).expect("a request")
}

/// Every command, every length, every place in a block.
#[test]
fn requests_come_back_as_they_were() {
    let commands = (0..64).map(ReqCmd).filter(|cmd| cmd.name().is_some());
    for cmd in commands {
        for place in 0..4 {
            for beats in 1..=4 - place {
                let beats = if matches!(cmd, ReqCmd::AtomicR | ReqCmd::AtomicNR) { 1 } else { beats };
                let mut transfer = request(cmd, 7, 0x1_0000 + 64 * u64::from(place), beats);
                transfer.auth_tag = 0x0123_4567_89ab_cdef;
                transfer.poisoned = if transfer.data.is_empty() { 0 } else { 1 };
                assert_eq!(there_and_back(&transfer), transfer, "{cmd:?}");
            }
        }
    }
}

/// Bit i of the half enables byte i of the block, and byte i - 64 * place of a beat.
#[test]
fn enables_find_their_beat() {
    let mut transfer = request(ReqCmd::Write, 1, 0x1040, 2);
    let mut enables = [0; 32];
    // Byte 64 and byte 191 of the block.
    (enables[8], enables[23]) = (0x01, 0x80);
    transfer.enables = Some(Box::new(enables));
    let request = request_to_wires(&transfer, 0, &SHEET).expect("a request");
    let beats: Vec<_> = request.beats.iter().map(|beat| beat.word.byte_en).collect();
    assert_eq!(beats, [1, 1 << 63]);
    assert_eq!(there_and_back(&transfer), transfer);
}

#[test]
fn responses_come_back_as_they_were() {
    for (rdwr, len, offset, last) in
        [(RdWr::Write, 0, 0, false), (RdWr::Read, 3, 0, true), (RdWr::Read, 0, 2, false), (RdWr::Read, 0, 3, true)]
    {
        let rsp =
            TlRsp { rdwr, len, offset, last, tag: 9, src: 3, dst: 4, status: Status::DecodeError, ..TlRsp::default() };
        let mut transfer = with_data(ControlField::Response(rsp));
        transfer.auth_tag = 5;
        let response = response_to_wires(&transfer, 2).expect("a response");
        assert_eq!(response_from_wires(&response).expect("a response"), transfer);
    }
}

/// Beats of reads by address and length.
#[test]
fn a_read_is_answered_by_the_beats_that_it_touches() {
    for (address, dwords, beats) in [(0, 1, 1), (0, 64, 4), (0x3c, 1, 1), (0x3c, 2, 2), (0x44, 48, 4), (0xc0, 16, 1)] {
        let mut transfer = read(1, 0, 1);
        let ControlField::Request(req) = &mut transfer.field else { panic!("a request") };
        (req.address, req.len) = (address, dwords - 1);
        let word = request_to_wires(&transfer, 0, &SHEET).expect("a request").wires.word;
        assert_eq!(read_beats(&word), beats, "{address:#x} {dwords}");
    }
}

#[test]
fn what_has_no_form_is_refused() {
    let refused = |transfer: &Transfer| request_to_wires(transfer, 0, &SHEET).expect_err("it has no form");
    let good = request(ReqCmd::Write, 1, 0x1040, 2);
    assert_eq!(
        refused(&Transfer { data: good.data.iter().take(3).collect(), ..good.clone() }),
        ConvertError::Halves(3)
    );
    assert_eq!(
        refused(&Transfer { data: good.data.iter().take(2).collect(), ..good.clone() }),
        ConvertError::Beats { found: 1, expected: 2 }
    );
    assert_eq!(
        refused(&Transfer { enables: None, ..good.clone() }),
        ConvertError::Enables { found: false, expected: true }
    );
    assert_eq!(refused(&Transfer { enables: Some(Box::new([0xff; 32])), ..good }), ConvertError::Outside(0));
    assert_eq!(refused(&request(ReqCmd::WriteFull, 1, 0x10c0, 2)), ConvertError::Block { place: 3, beats: 2 });
    assert_eq!(
        refused(&Transfer::new(ControlField::Request(TlReq { cmd: ReqCmd(1), ..TlReq::default() }))),
        ConvertError::Command(1)
    );
    assert!(matches!(refused(&answers(&read(1, 0, 1), false)[0]), ConvertError::Form(..)));
    assert!(matches!(refused(&Transfer { ..request(ReqCmd::Read, 4000, 0, 1) }), ConvertError::Field(_)));
    assert!(matches!(response_to_wires(&read(1, 0, 1), 0), Err(ConvertError::Form(..))));
}
