//! Answers of accelerators on UALink whose beats come at once or one by one (`ualink` §12, `bridge` §3.3).

use scalepool::bridge::inbound::beats::UpliAnswer;
use scalepool::coherence::content::CacheLine;
use scalepool_protocols::ualink::code::RdWr;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlRsp;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;

/// A response with these beats, each filled with its byte.
fn response(offset: u8, last: bool, status: Status, bytes: &[u8]) -> Transfer {
    let beats: Vec<[u8; 64]> = bytes.iter().map(|byte| [*byte; 64]).collect();
    let len = beats.len() as u8 - 1;
    let rsp = TlRsp { rdwr: RdWr::Read, offset, last, len, status, ..TlRsp::default() };
    with_data(ControlField::Response(rsp), &beats, None)
}

fn lines(bytes: &[u8]) -> Vec<CacheLine> {
    bytes.iter().map(|byte| CacheLine::of([*byte; 64])).collect()
}

#[test]
fn beats_come_at_once_or_one_by_one() {
    let mut whole = UpliAnswer::new(true, 3);
    assert_eq!(whole.take(&response(0, true, Status::OKAY, &[1, 2, 3])), Ok(Some((Status::OKAY, lines(&[1, 2, 3])))));
    let mut single = UpliAnswer::new(true, 3);
    assert_eq!(single.take(&response(1, false, Status::OKAY, &[2])), Ok(None));
    assert_eq!(single.take(&response(2, false, Status::OKAY, &[3])), Ok(None));
    let poisoned = Transfer { poisoned: 1, ..response(0, true, Status::OKAY, &[1]) };
    let Ok(Some((status, came))) = single.take(&poisoned) else { panic!("the answer is complete") };
    assert_eq!(status, Status::OKAY);
    assert_eq!(
        came.iter().map(|line| (line.bytes[0], line.poison)).collect::<Vec<_>>(),
        [(1, true), (2, false), (3, false)]
    );
}

#[test]
fn the_worst_beat_says_the_status() {
    let mut answer = UpliAnswer::new(true, 2);
    assert_eq!(answer.take(&response(1, false, Status::TargetAbort, &[0xff])), Ok(None));
    assert_eq!(answer.take(&response(0, true, Status::OKAY, &[1])), Ok(Some((Status::TargetAbort, Vec::new()))));
}

#[test]
fn beats_that_do_not_fit_are_told() {
    let mut twice = UpliAnswer::new(true, 3);
    assert_eq!(twice.take(&response(1, false, Status::OKAY, &[2])), Ok(None));
    assert!(twice.take(&response(1, false, Status::OKAY, &[2])).is_err());
    assert!(UpliAnswer::new(true, 2).take(&response(2, false, Status::OKAY, &[2])).is_err());
    let mut mixed = UpliAnswer::new(true, 2);
    assert_eq!(mixed.take(&response(1, false, Status::OKAY, &[2])), Ok(None));
    assert!(mixed.take(&response(0, true, Status::OKAY, &[1, 2])).is_err());
    // Too few of them are judged where they are used.
    let short = UpliAnswer::new(true, 2).take(&response(0, true, Status::OKAY, &[1]));
    assert_eq!(short, Ok(Some((Status::OKAY, lines(&[1])))));
}
