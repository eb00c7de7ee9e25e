//! CXL.io: TLPs of flit mode.

use super::{DOWN, UP, one};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind};
use scalepool::transactions::cxl_io::{CxlIoConfig, CxlIoTransactions};
use scalepool::transactions::{AnswerLimit, TransactionFinding};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxlio::code::CplStatus;

/// The root port asks.
const ROOT: u16 = 0x0008;
/// The function 01:00.0 answers.
const FUNCTION: u16 = 0x0100;
const AT: u64 = 0x8000_0000;

fn tlp(tag: u16, kind: TlpKind, data: &[u8]) -> Tlp {
    Tlp { tag, ..Tlp::new(kind, ROOT, data.to_vec()) }
}

/// A read of bytes of memory.
fn read(tag: u16, address: u64, bytes: usize) -> Tlp {
    let (enables, dw) = Enables::span(address, bytes);
    tlp(tag, TlpKind::MemRead { address: address & !3, dw, enables }, &[])
}

/// A write of whole DW, of which `enables` says the bytes.
fn write_of(address: u64, value: u8, bytes: usize, enables: Enables) -> Tlp {
    tlp(0, TlpKind::MemWrite { address, enables }, &vec![value; bytes])
}

fn write(address: u64, value: u8, bytes: usize) -> Tlp {
    write_of(address, value, bytes, Enables::all(bytes / 4))
}

fn config_read(tag: u16, register: u16) -> Tlp {
    tlp(tag, TlpKind::ConfigRead { level: 0, target: FUNCTION, register, enables: 0xf }, &[])
}

fn config_write(tag: u16, register: u16) -> Tlp {
    tlp(tag, TlpKind::ConfigWrite { level: 0, target: FUNCTION, register, enables: 0xf }, &[0xff; 4])
}

/// A completion: bytes to come, low address bits, data.
fn completion(tag: u16, byte_count: usize, lower_address: u8, data: &[u8]) -> Tlp {
    tlp(tag, TlpKind::Completion { completer: FUNCTION, status: CplStatus::SC, byte_count, lower_address }, data)
}

/// The only completion of a read of a line.
fn line(tag: u16, value: u8) -> Tlp {
    completion(tag, 64, 0, &[value; 64])
}

fn word(tag: u16, value: u32) -> Tlp {
    completion(tag, 4, 0, &value.to_le_bytes())
}

fn refused(tag: u16, status: CplStatus) -> Tlp {
    tlp(tag, TlpKind::Completion { completer: FUNCTION, status, byte_count: 4, lower_address: 0 }, &[])
}

const CONFIG: CxlIoConfig = CxlIoConfig { all_writers_seen: true, limit: None };

/// What is said of some TLPs, each in a flit of its own, and at the end of the run; requests go down.
fn said(tlps: &[Tlp]) -> Vec<TransactionFinding> {
    let mut checker = CxlIoTransactions::new(CONFIG, vec!["link".into()]);
    let mut units = [0; 2];
    let mut all = Vec::new();
    for tlp in tlps {
        let is_answer = matches!(tlp.kind, TlpKind::Completion { .. });
        let unit = &mut units[usize::from(is_answer)];
        let bytes = tlp.encode(TlpForm::Flit).expect("a TLP");
        all.extend(checker.see(0, if is_answer { UP } else { DOWN }, *unit, &bytes, false));
        *unit += 1;
    }
    all.extend(checker.finish());
    all
}

#[track_caller]
fn silent(tlps: &[Tlp]) {
    assert_eq!(said(tlps), [], "{tlps:#?}");
}

#[track_caller]
fn broken(tlps: &[Tlp], rule: &str, place: (Dir, u64), words: [&str; 2]) {
    one(&said(tlps), rule, place, words);
}

const OF_READ: &str = "MRd of 64 B at 0x80000000 in flit 0 down";

#[test]
fn tags_are_free_behind_the_last_completion() {
    silent(&[read(5, AT, 64), line(5, 0), read(5, AT, 64), line(5, 0)]);
    let halves = [completion(5, 64, 0, &[0; 32]), completion(5, 32, 0x20, &[0; 32])];
    silent(&[&[read(5, AT, 64)], &halves[..], &[read(5, AT, 64), line(5, 0)]].concat());
    let expected = format!("a tag that is free: {OF_READ} waits for CplD of 64 B");
    broken(
        &[read(5, AT, 64), read(5, AT, 64), line(5, 0)],
        "TXN-TAG-01",
        (DOWN, 1),
        ["MRd of 64 B at 0x80000000 with tag 0x5 of requester 0x0008", &expected],
    );
    // Writes are posted, and requesters have tags of their own.
    silent(&[
        read(5, AT, 64),
        write(AT, 1, 64),
        Tlp { requester: 9, ..read(5, AT, 64) },
        line(5, 1),
        Tlp { requester: 9, ..line(5, 1) },
    ]);
}

#[test]
fn completions_that_nobody_is_owed() {
    let found = "CplD of 64 B with tag 0x5 of requester 0x0008";
    broken(&[line(5, 0)], "TXN-TAG-02", (UP, 0), [found, "the tag of a request"]);
    broken(
        &[read(5, AT, 64), Tlp { requester: 9, ..line(5, 0) }, line(5, 0)],
        "TXN-TAG-02",
        (UP, 0),
        ["requester 0x0009", "the tag of a request"],
    );
    let expected = format!("none: {OF_READ} had its last completion in flit 0 up");
    broken(&[read(5, AT, 64), line(5, 0), line(5, 0)], "TXN-TAG-03", (UP, 1), [found, &expected]);
}

#[test]
fn completions_of_the_wrong_kind() {
    let expected = format!("CplD of 64 B for {OF_READ}");
    broken(&[read(5, AT, 64), completion(5, 64, 0, &[])], "TXN-ANS-03", (UP, 0), ["Cpl with tag 0x5", &expected]);
    broken(
        &[read(5, AT, 64), refused(5, CplStatus::CRS)],
        "TXN-ANS-03",
        (UP, 0),
        ["status CRS", "configuration requests"],
    );
    silent(&[read(5, AT, 64), refused(5, CplStatus::UR), config_read(5, 0), refused(5, CplStatus::CRS)]);
    silent(&[config_write(5, 4), completion(5, 4, 0, &[]), config_read(5, 4), word(5, 7)]);
    broken(
        &[config_write(5, 4), word(5, 7)],
        "TXN-ANS-01",
        (UP, 0),
        ["CplD of 4 B", "Cpl for CfgWr of register 0x4 of 01:00.0"],
    );
    broken(&[config_read(5, 4), completion(5, 4, 0, &[])], "TXN-ANS-03", (UP, 0), ["Cpl with", "CplD for CfgRd"]);
    broken(&[config_read(5, 4), completion(5, 8, 0, &[0; 8])], "TXN-ANS-01", (UP, 0), ["CplD of 8 B", "one DW"]);
    let long = completion(5, 64, 0, &[0; 68]);
    broken(&[read(5, AT, 64), long], "TXN-ANS-01", (UP, 0), ["CplD of 68 B", "64 B in all"]);
}

#[test]
fn txn_ans_07_p() {
    // Bytes 3 to 66, cut at a boundary of 64 bytes: byte counts leave out what is not enabled.
    let parts = [completion(5, 64, 3, &[0; 64]), completion(5, 3, 0x40, &[0; 4])];
    silent(&[&[read(5, AT + 3, 64)], &parts[..]].concat());
    // Lower Address has 7 bits, and a Byte Count of 4096 is 0 on the link.
    let whole: Vec<Tlp> = (0..32).map(|n| completion(5, 4096 - 128 * n, 0, &[0; 128])).collect();
    silent(&[&[read(5, AT, 4096)], &whole[..]].concat());
    // A read of no byte is answered by one DW.
    silent(&[
        tlp(5, TlpKind::MemRead { address: AT, dw: 1, enables: Enables { first: 0, last: 0 } }, &[]),
        completion(5, 1, 0, &[0; 4]),
    ]);
}

#[test]
fn txn_ans_07_n() {
    let expected = format!("Byte Count 64, Lower Address 0x0 for {OF_READ}");
    for (first, found) in [
        (completion(5, 60, 0, &[0; 32]), "Byte Count 60, Lower Address 0x0"),
        (completion(5, 64, 4, &[0; 32]), "Byte Count 64, Lower Address 0x4"),
        (completion(5, 128, 0, &[0; 32]), "Byte Count 128, Lower Address 0x0"),
    ] {
        // It is told once, and the tag is free behind all bytes.
        let rest = completion(5, 32, 0x20, &[0; 32]);
        broken(&[read(5, AT, 64), first, rest, read(5, AT, 64), line(5, 0)], "TXN-ANS-07", (UP, 0), [found, &expected]);
    }
}

#[test]
fn txn_ord_04_p() {
    let quarters: Vec<Tlp> = (0..4).map(|n| completion(5, 64 - 16 * n, 16 * n as u8, &[0; 16])).collect();
    silent(&[&[read(5, AT, 64), read(6, AT, 64)], &quarters[..2], &[line(6, 0)], &quarters[2..]].concat());
}

#[test]
fn txn_ord_04_n() {
    let late = [completion(5, 32, 0x20, &[2; 32]), completion(5, 64, 0, &[1; 32])];
    let expected = format!("Byte Count 64, Lower Address 0x0 for {OF_READ}");
    broken(
        &[&[read(5, AT, 64)], &late[..]].concat(),
        "TXN-ORD-04",
        (UP, 0),
        ["Byte Count 32, Lower Address 0x20", &expected],
    );
}

#[test]
fn reads_bring_what_was_written() {
    silent(&[write(AT, 1, 64), read(5, AT, 64), line(5, 1), write(AT, 2, 64), read(5, AT, 64), line(5, 2)]);
    let found = "0x01 in byte 0 (the line is as it was before the newest write) of line 0x80000000 for MRd of 64 B at 0x80000000 in flit 2 down";
    broken(&[write(AT, 1, 64), write(AT, 2, 64), read(5, AT, 64), line(5, 1)], "TXN-DAT-01", (UP, 0), [found, "0x02"]);
    // A write that passes behind the request may be there or not, and one in front of it is.
    for value in [1, 2] {
        silent(&[write(AT, 1, 64), read(5, AT, 64), write(AT, 2, 64), line(5, value)]);
    }
    // Byte enables.
    let middle = write_of(AT, 9, 8, Enables { first: 0x8, last: 0x1 });
    let mut bytes = [1; 64];
    bytes[3..5].fill(9);
    let good = completion(5, 64, 0, &bytes);
    silent(&[write(AT, 1, 64), middle.clone(), read(5, AT, 64), good]);
    bytes[5] = 9;
    let bad = completion(5, 64, 0, &bytes);
    broken(&[write(AT, 1, 64), middle, read(5, AT, 64), bad], "TXN-DAT-01", (UP, 0), ["0x09 in byte 5", "0x01"]);
    // Over the end of a line, in parts.
    let parts = [completion(5, 64, 0x3f, &[7; 4]), completion(5, 63, 0x40, &[7; 64])];
    silent(&[&[write(AT, 7, 128), read(5, AT + 63, 64)], &parts[..]].concat());
    // A move of the memory, or an atomic, leaves nothing known.
    silent(&[write(AT, 1, 64), config_write(6, 0x10), completion(6, 4, 0, &[]), read(5, AT, 64), line(5, 3)]);
}

#[test]
fn poison_stays_with_its_bytes() {
    let bad = Tlp { poison: true, ..write(AT, 1, 64) };
    silent(&[bad.clone(), read(5, AT, 64), Tlp { poison: true, ..line(5, 1) }]);
    broken(&[bad, read(5, AT, 64), line(5, 1)], "TXN-DAT-02", (UP, 0), ["byte 0 without poison", "poison"]);
}

#[test]
fn txn_dat_03_p() {
    silent(&[config_read(5, 0), word(5, 0x1234_1e98), config_read(5, 0), word(5, 0x1234_1e98)]);
    // A write may change a base address, and a status changes by itself.
    let moved = [config_write(5, 0x10), completion(5, 4, 0, &[])];
    silent(&[&[config_read(5, 0x10), word(5, 0)], &moved[..], &[config_read(5, 0x10), word(5, 0xffff_0000)]].concat());
    silent(&[config_read(5, 4), word(5, 1), config_read(5, 4), word(5, 2)]);
    // Another function, one that is not there, and bytes that were not asked for.
    let of_other = tlp(5, TlpKind::ConfigRead { level: 0, target: 0x0101, register: 0, enables: 0xf }, &[]);
    silent(&[config_read(5, 0), word(5, 1), of_other, word(5, 2), config_read(5, 0), word(5, u32::MAX)]);
    let low = tlp(5, TlpKind::ConfigRead { level: 0, target: FUNCTION, register: 0, enables: 3 }, &[]);
    silent(&[config_read(5, 0), word(5, 0x1234_1e98), low, word(5, 0x1e98)]);
}

#[test]
fn txn_dat_03_n() {
    for register in [0, 8, 0x10, 0x24, 0x34] {
        broken(
            &[config_read(5, register), word(5, 0x1234_1e98), config_read(5, register), word(5, 0x1234_1e99)],
            "TXN-DAT-03",
            (UP, 1),
            ["0x12341e99 for CfgRd of register", "0x12341e98, as before"],
        );
    }
}

#[test]
fn what_is_owed_is_told_at_the_end_or_behind_a_limit() {
    broken(&[read(5, AT, 64)], "TXN-END-01", (UP, 0), ["no answer at the end of the run to MRd", "CplD of 64 B"]);
    let half = completion(5, 64, 0, &[0; 32]);
    broken(&[read(5, AT, 64), half], "TXN-END-01", (UP, 0), ["with tag 0x5", "CplD of the last 32 B"]);
    let limit = AnswerLimit { time: 10, unit: "flit clocks", steps: 1 };
    let config = CxlIoConfig { limit: Some(limit), ..CONFIG };
    let mut checker = CxlIoTransactions::new(config, vec!["link".into()]);
    let bytes = |tlp: Tlp| tlp.encode(TlpForm::Flit).expect("a TLP");
    assert_eq!(checker.see(0, DOWN, 0, &bytes(config_read(5, 0)), false), []);
    assert_eq!(checker.clock(10), []);
    checker.unit(0, UP, 7);
    one(&checker.clock(11), "TXN-END-02", (UP, 7), ["no answer in 10 flit clocks to CfgRd of register 0x0", "CplD"]);
    assert_eq!((checker.clock(100), checker.open()), (vec![], 1));
    // It may still come.
    assert_eq!(checker.see(0, UP, 8, &bytes(word(5, 1)), false), []);
    assert_eq!((checker.finish(), checker.open()), (vec![], 0));
}

/// Bytes as the sheet has them (`cxl-io` §3.6): MRd32 of 3 DW with tag 77h, FirstBE C, LastBE 1, of 04:00.2.
#[test]
fn bytes_of_the_sheet_are_read() {
    let mut checker = CxlIoTransactions::new(CONFIG, vec!["link".into()]);
    let request = [3, 1, 0, 3, 4, 2, 0, 0x77, 0x90, 0, 0x20, 4, 0, 0, 0, 0x1c];
    assert_eq!(checker.see(0, DOWN, 0, &request, false), []);
    // Status in OHC-A5 with the low bits of Lower Address: 7 bytes from 9000_2006h on.
    let mut completion = vec![0x4a, 1, 0, 3, 1, 0, 0, 0x77, 4, 2, 0x10, 7, 0, 0, 0, 0x10];
    completion.extend([0; 12]);
    assert_eq!(checker.see(0, UP, 0, &completion, false), []);
    assert_eq!((checker.open(), checker.finish()), (0, vec![]));
    // Garbage and UIO are nobody's here.
    assert_eq!(checker.see(0, UP, 1, &[0xff; 12], false), []);
    assert_eq!(checker.see(0, DOWN, 1, &[0x22, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], false), []);
    assert_eq!(checker.open(), 0);
}
