//! UALink.

use super::{DOWN, UP, one};
use scalepool::transactions::ualink::{UalTransactionConfig, UalTransactions};
use scalepool::transactions::{AnswerLimit, TransactionFinding};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::{CompressedCmd, RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlReq, TlRsp};
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;

/// Accelerator 1 asks, accelerator 2 answers.
const SRC: u16 = 1;
const DST: u16 = 2;
const AT: u64 = 0x1000;

fn request(cmd: ReqCmd, tag: u16, address: u64, bytes: u64) -> TlReq {
    let (len, numbeats) = ((bytes / 4 - 1) as u8, ((address % 64 + bytes).div_ceil(64) - 1) as u8);
    let attr = if cmd == ReqCmd::Read { 0xff } else { 0 };
    TlReq { cmd, tag, address, len, numbeats, attr, src: SRC, dst: DST, ..TlReq::default() }
}

fn read_of(tag: u16, address: u64, bytes: u64) -> Transfer {
    let field = ControlField::Request(request(ReqCmd::Read, tag, address, bytes));
    Transfer { address: address.into(), ..Transfer::new(field) }
}

/// A read of two beats.
fn read(tag: u16) -> Transfer {
    read_of(tag, AT, 128)
}

/// A write of two beats with these bytes, of which some may be left out.
fn write(tag: u16, value: u8, enables: Option<[u8; 32]>) -> Transfer {
    let cmd = if enables.is_some() { ReqCmd::Write } else { ReqCmd::WriteFull };
    with_data(ControlField::Request(request(cmd, tag, AT, 128)), &[[value; 64]; 2], enables)
}

fn response(tag: u16, rdwr: RdWr, first: u8, count: u8, last: bool) -> TlRsp {
    let (offset, len) = if count > 1 { (0, count - 1) } else { (first, 0) };
    TlRsp { tag, rdwr, offset, len, last, dst: SRC, src: DST, ..TlRsp::default() }
}

/// All beats of a read.
fn beats(tag: u16, values: [u8; 2]) -> Transfer {
    with_data(ControlField::Response(response(tag, RdWr::Read, 0, 2, true)), &values.map(|value| [value; 64]), None)
}

/// One beat of a read.
fn beat(tag: u16, n: u8, value: u8, last: bool) -> Transfer {
    with_data(ControlField::Response(response(tag, RdWr::Read, n, 1, last)), &[[value; 64]], None)
}

fn written(tag: u16) -> Transfer {
    Transfer::new(ControlField::Response(response(tag, RdWr::Write, 0, 1, false)))
}

const CONFIG: UalTransactionConfig = UalTransactionConfig { all_writers_seen: true, strict: false, limit: None };

/// What is said of some transfers, each in a flit of its own, and at the end of the run; requests go down.
fn said(config: UalTransactionConfig, transfers: &[Transfer]) -> Vec<TransactionFinding> {
    let mut checker = UalTransactions::new(config, vec!["link".into()]);
    let mut units = [0; 2];
    let mut all = Vec::new();
    for transfer in transfers {
        let is_request = matches!(transfer.field, ControlField::Request(_) | ControlField::CompressedRequest(_));
        let dir = if is_request { DOWN } else { UP };
        let unit = &mut units[usize::from(dir == UP)];
        all.extend(checker.see(0, dir, *unit, transfer));
        *unit += 1;
    }
    all.extend(checker.finish());
    all
}

fn silent(transfers: &[Transfer]) {
    assert_eq!(said(CONFIG, transfers), [], "{transfers:#?}");
}

fn broken(transfers: &[Transfer], rule: &str, place: (Dir, u64), words: [&str; 2]) {
    one(&said(CONFIG, transfers), rule, place, words);
}

const OF_READ: &str = "Read of 128 B at 0x1000 of accelerator 2 in flit 0 down";

#[test]
fn tags_are_free_behind_the_last_beat() {
    silent(&[read(5), beat(5, 1, 0, false), beat(5, 0, 0, true), read(5), beats(5, [0, 0])]);
    let twice = [read(5), read(5), beats(5, [0, 0])];
    let expected = format!("a tag that is free: {OF_READ} waits for beats 0, 1 of read data");
    broken(&twice, "TXN-TAG-01", (DOWN, 1), ["Read with tag 0x5 of accelerator 1", &expected]);
}

#[test]
fn both_ends_may_use_the_same_tags() {
    let mut checker = UalTransactions::new(CONFIG, vec!["link".into()]);
    for (dir, transfer) in [(DOWN, read(5)), (UP, write(5, 1, None)), (UP, beats(5, [0, 0])), (DOWN, written(5))] {
        assert_eq!(checker.see(0, dir, 0, &transfer), [], "{dir:?}");
    }
    assert_eq!((checker.open(), checker.finish()), (0, vec![]));
}

#[test]
fn answers_that_nobody_is_owed() {
    broken(
        &[beats(5, [0, 0])],
        "TXN-TAG-02",
        (UP, 0),
        ["a read response of 2 beats with tag 0x5", "the tag of a request"],
    );
    let again = [read(5), beats(5, [0, 0]), beats(5, [0, 0])];
    let expected = format!("none: {OF_READ} had its last answer in flit 0 up");
    broken(&again, "TXN-TAG-03", (UP, 1), ["a read response of 2 beats", &expected]);
    let beat_again = [read(5), beat(5, 1, 0, false), beat(5, 1, 0, false), beat(5, 0, 0, true)];
    broken(&beat_again, "TXN-TAG-03", (UP, 1), ["beat 1 in a read response of beat 1", "beat 0 of read data for Read"]);
    let other_kind = [read(5), written(5), beats(5, [0, 0])];
    broken(&other_kind, "TXN-ANS-02", (UP, 0), ["a write response with tag 0x5", "beats 0, 1 of read data for Read"]);
    let data = [write(5, 1, None), beat(5, 0, 0, true), written(5)];
    broken(&data, "TXN-ANS-01", (UP, 0), ["a read response of beat 0", "a write response for WriteFull of 128 B"]);
    let done = [write(5, 1, None), written(5), beat(5, 0, 0, true)];
    broken(&done, "TXN-ANS-01", (UP, 1), ["a read response of beat 0", "none: WriteFull"]);
    let beyond = [read(5), beat(5, 2, 0, false), beat(5, 1, 0, false), beat(5, 0, 0, true)];
    broken(&beyond, "TXN-ANS-01", (UP, 0), ["beat 2 in", "beats below 2 for Read"]);
}

#[test]
fn txn_ans_05_p() {
    silent(&[read(5), beat(5, 1, 0, false), beat(5, 0, 0, true)]);
    // Compressed responses of all beats have no Last, those of one beat have one.
    let multi = TlCrspMulti { tag: 5, dst: SRC, rdwr: RdWr::Read, len: 1, ..TlCrspMulti::default() };
    silent(&[read(5), with_data(ControlField::CompressedMulti(multi), &[[0; 64]; 2], None)]);
    let single = |offset, last| {
        let field = TlCrspSingle { tag: 5, dst: SRC, offset, last, ..TlCrspSingle::default() };
        with_data(ControlField::CompressedSingle(field), &[[0; 64]], None)
    };
    silent(&[read(5), single(1, false), single(0, true)]);
}

#[test]
fn txn_ans_05_n() {
    let early = [read(5), beat(5, 1, 0, true), beat(5, 0, 0, true)];
    broken(&early, "TXN-ANS-05", (UP, 0), ["a read response of beat 1", "Last with the final beat alone"]);
    let never = [read(5), beat(5, 1, 0, false), beat(5, 0, 0, false)];
    broken(&never, "TXN-ANS-05", (UP, 1), ["a read response of beat 0", "Last with the final beat: Read of 128 B"]);
}

#[test]
fn txn_ord_02_p() {
    let strict = UalTransactionConfig { strict: true, ..CONFIG };
    let other = |tag| {
        let Transfer { field: ControlField::Request(field), .. } = read(tag) else { unreachable!("a request") };
        Transfer::new(ControlField::Request(TlReq { dst: 9, ..field }))
    };
    // Writes and reads pass each other, and so do those to different destinations.
    let legal = [
        read(1),
        write(2, 1, None),
        other(3),
        read(4),
        beats(3, [0, 0]),
        written(2),
        beats(1, [0, 0]),
        beats(4, [1, 1]),
    ];
    let unseen = UalTransactionConfig { all_writers_seen: false, ..strict };
    assert_eq!(said(unseen, &legal), []);
    // In default order responses are unordered.
    silent(&[read(1), read(2), beats(2, [0, 0]), beats(1, [0, 0])]);
}

#[test]
fn txn_ord_02_n() {
    let strict = UalTransactionConfig { strict: true, ..CONFIG };
    let passed = said(strict, &[read(1), read(2), beats(2, [0, 0]), beats(1, [0, 0])]);
    let expected = format!("beats 0, 1 of read data for {OF_READ} first");
    one(&passed, "TXN-ORD-02", (UP, 0), ["a read response of 2 beats with tag 0x2", &expected]);
    let passed = said(strict, &[write(1, 0, None), write(2, 0, None), written(2), written(1)]);
    one(&passed, "TXN-ORD-02", (UP, 0), ["a write response with tag 0x2", "a write response for WriteFull"]);
}

#[test]
fn bytes_are_those_that_were_written() {
    let wrote = |value| [write(7, value, None), written(7)];
    silent(&[&wrote(3)[..], &[read(5), beats(5, [3, 3])]].concat());
    let stale = [&wrote(3)[..], &wrote(4), &[read(5), beats(5, [4, 3])]].concat();
    broken(&stale, "TXN-DAT-01", (UP, 2), ["0x03 in byte 0 of beat 1 for Read of 128 B", "0x04"]);
    // Byte enables: those of bytes 0 to 7 of the block are off.
    let mut enables = [0xff; 32];
    enables[0] = 0;
    let part = |value| [&wrote(3)[..], &[write(7, 4, Some(enables)), written(7), read(5), beats(5, value)]].concat();
    let all = part([4, 4]);
    let looks = "tag 0x5 of accelerator 1 (the newest write has changed bytes that it does not enable)";
    broken(&all, "TXN-DAT-01", (UP, 2), [looks, "0x03"]);
    // Only what a read asks for is compared: DWords 15 and 16 of the block, the first one without its low half.
    let asked = |values| {
        let field = ControlField::Request(TlReq { attr: 0xfc, ..request(ReqCmd::Read, 5, AT + 60, 8) });
        let read = Transfer { address: (AT + 60).into(), ..Transfer::new(field) };
        let mut answer = beats(5, [3, 3]);
        let mut data = [[3; 64]; 2];
        data[0][values] = 9;
        answer = with_data(answer.field, &data, None);
        [&wrote(3)[..], &[read, answer]].concat()
    };
    for byte in [0, 59, 60, 61] {
        silent(&asked(byte));
    }
    broken(&asked(62), "TXN-DAT-01", (UP, 1), ["0x09 in byte 62 of beat 0", "0x03"]);
    // Another accelerator has bytes of its own.
    let Transfer { field: ControlField::Request(field), .. } = read(5) else { unreachable!("a request") };
    let other = Transfer { address: AT.into(), ..Transfer::new(ControlField::Request(TlReq { dst: 9, ..field })) };
    silent(&[&wrote(3)[..], &[other, beats(5, [8, 8])]].concat());
}

#[test]
fn poison_is_kept() {
    let poisoned = Transfer { poisoned: 0b10, ..write(7, 3, None) };
    let read_back = |mask| [poisoned.clone(), written(7), read(5), Transfer { poisoned: mask, ..beats(5, [3, 3]) }];
    silent(&read_back(0b10));
    broken(&read_back(0), "TXN-DAT-02", (UP, 1), ["byte 0 of beat 1 without poison for Read", "poison"]);
}

#[test]
fn what_is_not_known_is_not_judged() {
    // What an atomic leaves; the bytes of a failed read; any answer to a vendor's command, and that of an accelerator that is cut off.
    let atomic = with_data(ControlField::Request(request(ReqCmd::AtomicNR, 7, AT, 8)), &[[1; 64]], Some([0xff; 32]));
    silent(&[write(7, 3, None), written(7), atomic, written(7), read_of(5, AT, 64), beat(5, 0, 9, true)]);
    let aborted = |status| {
        let field = TlRsp { status, ..response(5, RdWr::Read, 0, 2, true) };
        with_data(ControlField::Response(field), &[[0xff; 64]; 2], None)
    };
    silent(&[write(7, 3, None), written(7), read(5), aborted(Status::TargetAbort)]);
    let vendor = Transfer::new(ControlField::Request(request(ReqCmd::VendorRead0, 5, AT, 64)));
    silent(&[vendor.clone(), written(5), vendor, beat(5, 3, 0, false)]);
    let isolated = Transfer::new(ControlField::Response(TlRsp {
        status: Status::ISOLATE,
        ..response(5, RdWr::Write, 0, 1, false)
    }));
    silent(&[read(5), isolated]);
    // A compressed request whose address the receiver does not know.
    let unknown = ControlField::CompressedRequest(TlCreq {
        cmd: CompressedCmd::Read,
        tag: 5,
        src: SRC,
        dst: DST,
        ..TlCreq::default()
    });
    silent(&[write(7, 3, None), written(7), Transfer::new(unknown), beat(5, 0, 9, true)]);
    let known = Transfer { address: AT.into(), ..Transfer::new(unknown) };
    let wrong = [write(7, 3, None), written(7), known, beat(5, 0, 9, true)];
    broken(&wrong, "TXN-DAT-01", (UP, 1), ["0x09 in byte 0 of beat 0 for Read of 64 B at 0x1000", "0x03"]);
}

#[test]
fn what_is_owed_is_told_at_the_end_or_behind_a_limit() {
    let found = format!("no answer at the end of the run to {OF_READ} with tag 0x5 of accelerator 1");
    broken(&[read(5), beat(5, 1, 0, false)], "TXN-END-01", (UP, 0), [&found, "beat 0 of read data"]);
    let limit = Some(AnswerLimit { time: 50, unit: "flit clocks", steps: 1 });
    let mut checker = UalTransactions::new(UalTransactionConfig { limit, ..CONFIG }, vec!["link".into()]);
    assert_eq!(checker.see(0, DOWN, 0, &write(5, 1, None)), []);
    checker.unit(0, UP, 30);
    assert_eq!(checker.clock(50), []);
    let found = "no answer in 50 flit clocks to WriteFull of 128 B";
    one(&checker.clock(51), "TXN-END-02", (UP, 30), [found, "a write response"]);
    assert_eq!(checker.see(0, UP, 31, &written(5)), []);
    assert_eq!(checker.finish(), []);
}
