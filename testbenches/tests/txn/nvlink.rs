//! The NVLink model.

use super::{DOWN, UP, one};
use scalepool::transactions::nvlink::{NvlTransactionConfig, NvlTransactions};
use scalepool::transactions::{AnswerLimit, TransactionFinding};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::nvlink::stream::NvlDecodedPacket;
use scalepool_protocols::nvlink::{Ae, NvlHeader, Op, Packet};

/// Requester 1 asks, by a tag.
const RID: u16 = 1;
const AT: u64 = 0x1000;

fn packet(header: NvlHeader, address: u64, be: Option<u128>, data: &[u8]) -> NvlDecodedPacket {
    let ae = Ae { address: address >> 38 << 38, ..Ae::default() };
    let header = NvlHeader { rid: RID, address: address & ((1 << 38) - 1), ..header };
    let packet = Packet::build(header, Some(ae), be, data).expect("a packet");
    NvlDecodedPacket { packet, covered_flits: 0, expected_crc: packet.crc(), ae }
}

fn of(op: Op, tag: u16) -> NvlHeader {
    NvlHeader { op, tag, ..NvlHeader::default() }
}

/// A read of so many units of 16 bytes.
fn read_of(tag: u16, address: u64, units: u8) -> NvlDecodedPacket {
    packet(NvlHeader { size: units - 1, ..of(Op::READ, tag) }, address, None, &[])
}

/// A read of two lines.
fn read(tag: u16) -> NvlDecodedPacket {
    read_of(tag, AT, 8)
}

fn data(tag: u16, values: [u8; 2]) -> NvlDecodedPacket {
    packet(of(Op::RSP_DATA, tag), 0, None, values.map(|value| [value; 64]).as_flattened())
}

/// A write of two lines.
fn write(op: Op, tag: u16, value: u8, be: Option<u128>) -> NvlDecodedPacket {
    packet(of(op, tag), AT, be, &[value; 128])
}

fn wrote(value: u8) -> [NvlDecodedPacket; 2] {
    [write(Op::WRITE_NONPOSTED, 7, value, None), done(7)]
}

fn done(tag: u16) -> NvlDecodedPacket {
    packet(of(Op::RSP_DONE, tag), 0, None, &[])
}

fn failed(tag: u16) -> NvlDecodedPacket {
    packet(NvlHeader { size: 3, ..of(Op::RSP_ERROR, tag) }, 0, None, &[])
}

fn flush(tag: u16) -> NvlDecodedPacket {
    packet(of(Op::FLUSH, tag), 0, None, &[])
}

const CONFIG: NvlTransactionConfig = NvlTransactionConfig { all_writers_seen: true, limit: None };

/// What is said of some packets, each in a flit of its own, and at the end of the run; requests go down.
fn said(packets: &[NvlDecodedPacket]) -> Vec<TransactionFinding> {
    let mut checker = NvlTransactions::new(CONFIG, vec!["link".into()]);
    let mut units = [0; 2];
    let mut all = Vec::new();
    for packet in packets {
        let is_response = matches!(packet.packet.header().op, Op::RSP_DATA | Op::RSP_DONE | Op::RSP_ERROR);
        let dir = if is_response { UP } else { DOWN };
        let unit = &mut units[usize::from(is_response)];
        all.extend(checker.see(0, dir, *unit, packet));
        *unit += 1;
    }
    all.extend(checker.finish());
    all
}

fn silent(packets: &[NvlDecodedPacket]) {
    assert_eq!(said(packets), [], "{packets:#?}");
}

fn broken(packets: &[NvlDecodedPacket], rule: &str, place: (Dir, u64), words: [&str; 2]) {
    one(&said(packets), rule, place, words);
}

const OF_READ: &str = "READ of 128 B at 0x1000 in flit 0 down";

#[test]
fn tags_are_free_behind_the_response() {
    silent(&[read(5), data(5, [0, 0]), read(5), data(5, [0, 0])]);
    let expected = format!("a tag that is free: {OF_READ} waits for RSP_DATA of 128 B");
    broken(
        &[read(5), read(5), data(5, [0, 0])],
        "TXN-TAG-01",
        (DOWN, 1),
        ["READ with tag 0x5 of requester 1", &expected],
    );
    // Posted requests have no answer, so their tags mean nothing.
    let posted = || write(Op::WRITE_POSTED, 5, 1, None);
    silent(&[posted(), posted(), read(5), posted(), data(5, [1, 1])]);
}

#[test]
fn answers_that_nobody_is_owed() {
    let found = "RSP_DATA of 128 B with tag 0x5 of requester 1";
    broken(&[data(5, [0, 0])], "TXN-TAG-02", (UP, 0), [found, "the tag of a request"]);
    let expected = format!("none: {OF_READ} had its last answer in flit 0 up");
    broken(&[read(5), data(5, [0, 0]), data(5, [0, 0])], "TXN-TAG-03", (UP, 1), [found, &expected]);
    broken(&[read(5), data(5, [0, 0]), done(5)], "TXN-ANS-02", (UP, 1), ["RSP_DONE with tag 0x5", &expected]);
    let expected = format!("RSP_DATA of 128 B for {OF_READ}");
    broken(&[read(5), done(5), data(5, [0, 0])], "TXN-ANS-02", (UP, 0), ["RSP_DONE with tag 0x5", &expected]);
    let short = packet(of(Op::RSP_DATA, 5), 0, None, &[0; 64]);
    broken(&[read(5), short, data(5, [0, 0])], "TXN-ANS-01", (UP, 0), ["RSP_DATA of 64 B with tag 0x5", &expected]);
    let [asked, answered] = wrote(1);
    let expected = "RSP_DONE for WRITE_NONPOSTED of 128 B at 0x1000 in flit 0 down";
    broken(&[asked, data(7, [0, 0]), answered], "TXN-ANS-01", (UP, 0), ["RSP_DATA of 128 B with tag 0x7", expected]);
    silent(&[read(5), failed(5), asked, failed(7), flush(3), failed(3)]);
}

#[test]
fn both_ends_may_use_the_same_tags() {
    let mut checker = NvlTransactions::new(CONFIG, vec!["link".into()]);
    let [asked, answered] = wrote(1);
    for (dir, packet) in [(DOWN, read(7)), (UP, asked), (UP, data(7, [0, 0])), (DOWN, answered)] {
        assert_eq!(checker.see(0, dir, 0, &packet), [], "{dir:?}");
    }
    assert_eq!((checker.open(), checker.finish()), (0, vec![]));
}

#[test]
fn bytes_are_those_that_were_written() {
    silent(&[&wrote(3)[..], &[read(5), data(5, [3, 3])]].concat());
    let stale = [&wrote(3)[..], &wrote(4), &[read(5), data(5, [4, 3])]].concat();
    let found = "0x03 in byte 0 of line 0x1040 for READ of 128 B at 0x1000 in flit 2 down with tag 0x5 of requester 1 (the line is as it was before the newest write)";
    broken(&stale, "TXN-DAT-01", (UP, 2), [found, "0x04"]);
    // Byte enables: those of bytes 0 to 7 are off.
    let part = write(Op::WRITE_NONPOSTED, 7, 4, Some(u128::MAX << 8));
    let changed = |bytes: &[u8]| packet(of(Op::RSP_DATA, 5), 0, None, bytes);
    let mut right = [4; 128];
    right[..8].fill(3);
    silent(&[&wrote(3)[..], &[part, done(7), read(5), changed(&right)]].concat());
    let found = "0x04 in byte 0 of line 0x1000";
    broken(
        &[&wrote(3)[..], &[part, done(7), read(5), data(5, [4, 4])]].concat(),
        "TXN-DAT-01",
        (UP, 2),
        [found, "0x03"],
    );
    // Reads that begin and end inside of lines.
    let some = |units: u8, value: u8| [read_of(5, AT + 48, units), changed(&vec![value; 16 * usize::from(units)])];
    silent(&[&wrote(3)[..], &some(3, 3)].concat());
    broken(&[&wrote(3)[..], &some(1, 9)].concat(), "TXN-DAT-01", (UP, 1), ["0x09 in byte 48 of line 0x1000", "0x03"]);
}

#[test]
fn posted_writes_are_certain_behind_a_flush() {
    let posted = |value| write(Op::WRITE_POSTED, 0, value, None);
    let before = |answer| [&wrote(3)[..], &[posted(4), read(5), answer]].concat();
    silent(&before(data(5, [3, 4])));
    broken(&before(data(5, [9, 4])), "TXN-DAT-01", (UP, 1), ["0x09 in byte 0 of line 0x1000", "0x03 or 0x04"]);
    let behind = |answer| [&wrote(3)[..], &[posted(4), flush(1), done(1), read(5), answer]].concat();
    silent(&behind(data(5, [4, 4])));
    broken(&behind(data(5, [3, 4])), "TXN-DAT-01", (UP, 2), ["0x03 in byte 0 of line 0x1000", "0x04"]);
    // A flush that ends with an error says that some write has failed, not which.
    silent(&[&wrote(3)[..], &[posted(4), flush(1), failed(1), read(5), data(5, [9, 9])]].concat());
}

#[test]
fn what_is_not_known_is_not_judged() {
    // What an atomic leaves, and how much it brings; a write that has failed; a reduction; multicast.
    let atomic = |op| packet(of(op, 8), AT, Some(0xff), &[1; 16]);
    let brought = packet(of(Op::RSP_DATA, 8), 0, None, &[0; 16]);
    silent(&[&wrote(3)[..], &[atomic(Op::ATOMIC_RETURN), brought]].concat());
    let line = packet(of(Op::RSP_DATA, 5), 0, None, &[9; 64]);
    silent(&[&wrote(3)[..], &[atomic(Op::ATOMIC_POSTED), read_of(5, AT, 4), line]].concat());
    silent(&[&wrote(3)[..], &[write(Op::WRITE_NONPOSTED, 7, 4, None), failed(7), read(5), data(5, [3, 4])]].concat());
    silent(&[packet(NvlHeader { size: 3, ..of(Op::REDUCE_READ, 5) }, AT, None, &[]), line]);
    silent(&[&wrote(3)[..], &[write(Op::MULTICAST_WRITE, 0, 4, None), read(5), data(5, [3, 3])]].concat());
}

#[test]
fn poison_is_kept() {
    let poisoned = packet(NvlHeader { ep: true, ..of(Op::WRITE_NONPOSTED, 7) }, AT, None, &[3; 128]);
    let brings = |ep| packet(NvlHeader { ep, ..of(Op::RSP_DATA, 5) }, 0, None, &[3; 128]);
    silent(&[poisoned, done(7), read(5), brings(true)]);
    let found = said(&[poisoned, done(7), read(5), brings(false)]);
    assert_eq!(found.len(), 2, "one for each line: {found:#?}");
    one(&found[..1], "TXN-DAT-02", (UP, 1), ["byte 0 of line 0x1000 for READ", "poison"]);
}

#[test]
fn what_is_owed_is_told_at_the_end_or_behind_a_limit() {
    let found = format!("no answer at the end of the run to {OF_READ} with tag 0x5 of requester 1");
    broken(&[read(5)], "TXN-END-01", (UP, 0), [&found, "RSP_DATA of 128 B"]);
    let limit = Some(AnswerLimit { time: 50, unit: "flit clocks", steps: 1 });
    let mut checker = NvlTransactions::new(NvlTransactionConfig { limit, ..CONFIG }, vec!["link".into()]);
    assert_eq!(checker.see(0, DOWN, 0, &flush(5)), []);
    checker.unit(0, UP, 30);
    assert_eq!(checker.clock(50), []);
    let late = checker.clock(51);
    one(
        &late,
        "TXN-END-02",
        (UP, 30),
        ["no answer in 50 flit clocks to FLUSH in flit 0 down with tag 0x5", "RSP_DONE"],
    );
    assert_eq!((checker.clock(200), checker.see(0, UP, 40, &done(5))), (vec![], vec![]));
}
