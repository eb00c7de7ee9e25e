//! CXL.io: TLPs of flit mode.

use super::{DOWN, UP, one};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpForm, TlpKind};
use scalepool::transactions::cxl_io::{CxlIoConfig, CxlIoTransactions};
use scalepool::transactions::{AnswerLimit, TransactionFinding};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::tlp::IoTlpForm;
use scalepool_protocols::wire::At;

/// The root port asks.
const ROOT: u16 = 0x0008;
/// The function 01:00.0 answers.
const FUNCTION: u16 = 0x0100;
const AT: u64 = 0x8000_0000;
const FLIT: IoTlpForm = IoTlpForm::Flit { pbr: false };
const PBR: IoTlpForm = IoTlpForm::Flit { pbr: true };

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
        all.extend(checker.see(0, if is_answer { UP } else { DOWN }, *unit, &bytes, FLIT));
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
    // At the end of all addresses.
    silent(&[read(5, u64::MAX - 3, 4), completion(5, 4, 0x7c, &[0; 4])]);
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
    // Two parts that end where a completion may (RCB of 64 B), with another read between them.
    let parts = [completion(5, 128, 0, &[0; 64]), completion(5, 64, 0x40, &[0; 64])];
    silent(&[&[read(5, AT, 128), read(6, AT, 64)], &parts[..1], &[line(6, 0)], &parts[1..]].concat());
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
    // Bytes that a read does not ask for may have any value, as those of a read of no byte.
    let flush = tlp(5, TlpKind::MemRead { address: AT, dw: 1, enables: Enables { first: 0, last: 0 } }, &[]);
    silent(&[write(AT, 1, 64), read(5, AT + 3, 1), completion(5, 1, 3, &[0, 0, 0, 1]), read(5, AT, 64), line(5, 1)]);
    silent(&[write(AT, 1, 64), flush, completion(5, 1, 0, &[0; 4]), read(5, AT, 64), line(5, 1)]);
    // A move of the memory leaves nothing known.
    silent(&[write(AT, 1, 64), config_write(6, 0x10), completion(6, 4, 0, &[]), read(5, AT, 64), line(5, 3)]);
}

/// Bytes of a flit with a FetchAdd of one DW at [`AT`] (`cxl-io` §3.3).
fn atomic(tag: u8) -> Vec<u8> {
    [&[0x4c, 0, 0, 1, 0, 8, 0, tag][..], &(AT as u32).to_be_bytes(), &[1, 0, 0, 0]].concat()
}

fn flit(tlp: &Tlp) -> Vec<u8> {
    tlp.encode(TlpForm::Flit).expect("a TLP")
}

/// What is said of bytes on links, by link and direction.
fn said_on(form: IoTlpForm, tlps: &[(usize, Dir, Vec<u8>)]) -> Vec<TransactionFinding> {
    let mut checker = CxlIoTransactions::new(CONFIG, vec!["a".into(), "b".into()]);
    let seen: Vec<_> = tlps.iter().flat_map(|(link, dir, bytes)| checker.see(*link, *dir, 0, bytes, form)).collect();
    seen.into_iter().chain(checker.finish()).collect()
}

#[test]
fn an_atomic_leaves_the_memory_of_its_link_unknown_until_its_completion() {
    let asks = |tag| (0, DOWN, flit(&read(tag, AT, 64)));
    let comes = |tag, value| (0, UP, flit(&line(tag, value)));
    let known = (0, DOWN, flit(&write(AT, 1, 64)));
    let [begins, ends] = [(0, DOWN, atomic(6)), (0, UP, flit(&word(6, 1)))];
    // A read that passes it, and one behind it.
    let passes = [known.clone(), begins.clone(), asks(5), comes(5, 1), asks(5), comes(5, 2), ends.clone()];
    assert_eq!(said_on(FLIT, &[&passes[..], &[asks(5), comes(5, 3)]].concat()), []);
    // Of another link, and of the other direction, which is the memory of the host.
    for [begins, ends] in
        [[(1, DOWN, atomic(6)), (1, UP, flit(&word(6, 1)))], [(0, UP, atomic(6)), (0, DOWN, flit(&word(6, 1)))]]
    {
        let all = said_on(FLIT, &[known.clone(), begins, ends, asks(5), comes(5, 2)]);
        one(&all, "TXN-DAT-01", (UP, 0), ["0x02 in byte 0", "0x01"]);
    }
    // Nor do writes of other registers move the memory of a function, when it is known to be one.
    let plain = [config_read(7, 0xc), word(7, 0), config_write(7, 0x44), completion(7, 4, 0, &[])];
    broken(
        &[&plain[..2], &[write(AT, 1, 64)], &plain[2..], &[read(5, AT, 64), line(5, 2)]].concat(),
        "TXN-DAT-01",
        (UP, 2),
        ["0x02 in byte 0", "0x01"],
    );
}

/// Two hosts that share a link use the same tag, and the same address for other memory (`cxl-io` §3.8).
#[test]
fn hosts_that_share_a_link_are_told_apart() {
    let from = |host: u16, device: u16| TlpForm::Pbr { spid: host, dpid: device };
    let down = |tlp: &Tlp, host| (0, DOWN, tlp.encode(from(host, 9)).expect("a TLP"));
    let up = |tlp: &Tlp, host| (0, UP, tlp.encode(from(9, host)).expect("a TLP"));
    let ask = read(5, AT, 64);
    let all = [down(&write(AT, 1, 64), 1), down(&ask, 1), down(&ask, 2), up(&line(5, 2), 2), up(&line(5, 1), 1)];
    assert_eq!(said_on(PBR, &all), []);
    let all = said_on(PBR, &[&all[..4], &[up(&line(5, 2), 1)]].concat());
    one(&all, "TXN-DAT-01", (UP, 0), ["requester 0x0008 between ports 0x1 and 0x9", "0x01"]);
    // The same behind a local prefix with an LD-ID.
    let of = |ld: u8, tlp: &Tlp| [vec![0x8e, 0, ld, 0], flit(tlp)].concat();
    let all =
        [(0, DOWN, of(1, &ask)), (0, DOWN, of(2, &ask)), (0, UP, of(1, &line(5, 1))), (0, UP, of(2, &line(5, 2)))];
    assert_eq!(said_on(FLIT, &all), []);
    let all = said_on(FLIT, &[&all[..3], &all[2..]].concat());
    one(&all, "TXN-TAG-03", (UP, 0), ["requester 0x0008 with ID 0x1", "none"]);
}

/// The same on a 68B link, whose headers have Fmt and Type (`cxl-io` §1).
#[test]
fn a_68b_link_is_judged_as_one_of_256b_flits() {
    let bytes = |tlp: &Tlp| tlp.encode(TlpForm::NonFlit).expect("a TLP");
    let [down, up] = [DOWN, UP].map(|dir| move |tlp: &Tlp| (0, dir, bytes(tlp)));
    let asks = [down(&write(AT, 1, 64)), down(&read(5, AT, 64))];
    let said = |more: &[(usize, Dir, Vec<u8>)]| said_on(IoTlpForm::NonFlit, &[&asks[..], more].concat());
    let halves = [completion(5, 64, 0, &[1; 32]), completion(5, 32, 0x20, &[1; 32])];
    assert_eq!(said(&[up(&line(5, 1))]), []);
    assert_eq!(said(&halves.clone().map(|tlp| up(&tlp))), []);
    one(&said(&[up(&line(6, 1)), up(&line(5, 1))]), "TXN-TAG-02", (UP, 0), ["tag 0x6", "the tag of a request"]);
    one(&said(&[up(&line(5, 1)), up(&line(5, 1))]), "TXN-TAG-03", (UP, 0), ["tag 0x5", "none"]);
    one(&said(&[up(&line(5, 2))]), "TXN-DAT-01", (UP, 0), ["0x02 in byte 0", "0x01"]);
    one(&said(&[]), "TXN-END-01", (UP, 0), ["no answer at the end", "CplD of 64 B"]);
    assert_eq!(said(&[up(&halves[1]), up(&halves[0])])[0].violation.rule, "TXN-ORD-04");
    // Behind a local prefix with an LD-ID, hosts are told apart (`cxl-io` §1.2, §3.8).
    let of = |ld: u8, (link, dir, tlp): (usize, Dir, Vec<u8>)| (link, dir, [vec![0x8e, 0, ld, 0], tlp].concat());
    let ask = down(&read(7, AT + 128, 64));
    let shared = [of(1, ask.clone()), of(2, ask), of(2, up(&line(7, 0))), of(1, up(&line(7, 0)))];
    assert_eq!(said_on(IoTlpForm::NonFlit, &shared), []);
    let mixed = said_on(IoTlpForm::NonFlit, &[&shared[..3], &shared[2..3]].concat());
    assert_eq!(mixed[0].violation.rule, "TXN-TAG-03");
}

#[test]
fn poison_stays_with_its_bytes() {
    let bad = Tlp { poison: true, ..write(AT, 1, 64) };
    silent(&[bad.clone(), read(5, AT, 64), Tlp { poison: true, ..line(5, 1) }]);
    broken(&[bad, read(5, AT, 64), line(5, 1)], "TXN-DAT-02", (UP, 0), ["byte 0 without poison", "poison"]);
}

#[test]
fn txn_dat_03_p() {
    silent(&[&plain()[..], &[config_read(5, 0), word(5, 1), config_read(5, 0), word(5, 1)]].concat());
    // A write may change a base address, and a status changes by itself.
    let moved = [config_write(5, 0x10), completion(5, 4, 0, &[])];
    silent(
        &[&plain()[..], &[config_read(5, 0x10), word(5, 0)], &moved[..], &[config_read(5, 0x10), word(5, 0xffff_0000)]]
            .concat(),
    );
    silent(&[&plain()[..], &[config_read(5, 4), word(5, 1), config_read(5, 4), word(5, 2)]].concat());
    // Another function, one that is not there, and bytes that were not asked for.
    let of_other = tlp(5, TlpKind::ConfigRead { level: 0, target: 0x0101, register: 0, enables: 0xf }, &[]);
    let all = [config_read(5, 0), word(5, 1), of_other, word(5, 2), config_read(5, 0), word(5, u32::MAX)];
    silent(&[&plain()[..], &all].concat());
    let low = tlp(5, TlpKind::ConfigRead { level: 0, target: FUNCTION, register: 0, enables: 3 }, &[]);
    silent(&[&plain()[..], &[config_read(5, 0), word(5, 0x1234_1e98), low, word(5, 0x1e98)]].concat());
    // What is no function of type 0, or not known to be one: a bus may have another number.
    for header in [&[][..], &[config_read(5, 0xc), word(5, 0x0001_0000)]] {
        silent(&[header, &[config_read(5, 0), word(5, 1), config_read(5, 0), word(5, 2)]].concat());
    }
    let of_bridge = tlp(6, TlpKind::ConfigWrite { level: 0, target: 0, register: 0x3c, enables: 0xf }, &[0xff; 4]);
    let reset = [of_bridge, completion(6, 4, 0, &[])];
    for register in [0, 0x10] {
        let [before, behind] = [1, 2].map(|value| [config_read(5, register), word(5, value)]);
        silent(&[&plain()[..], &before, &reset, &plain(), &behind].concat());
    }
    // A read that meets a write brings what was before it or what is behind it.
    let asks = |tag| config_read(tag, 0x10);
    let [begins, ends] = [config_write(6, 0x10), completion(6, 4, 0, &[])];
    silent(&[&plain()[..], &[asks(5), begins.clone(), word(5, 1), ends.clone(), asks(5), word(5, 2)]].concat());
    let between = [begins, asks(5), word(5, 1), asks(5), word(5, 2), ends, asks(5), word(5, 3)];
    silent(&[&plain()[..], &between].concat());
}

/// A read of the header type, 0, and of the bytes beside it.
fn plain() -> [Tlp; 2] {
    [config_read(7, 0xc), word(7, 0x0080_0010)]
}

#[test]
fn txn_dat_03_n() {
    for register in [0, 8, 0x10, 0x24, 0x34] {
        let twice = [config_read(5, register), word(5, 0x1234_1e98), config_read(5, register), word(5, 0x1234_1e99)];
        let words = ["0x12341e99 for CfgRd of register", "0x12341e98, as before"];
        broken(&[&plain()[..], &twice].concat(), "TXN-DAT-03", (UP, 2), words);
    }
}

/// Places: the line of memory, and none of a register.
#[test]
fn places_are_lines_of_memory() {
    let at = |tlps: &[Tlp]| said(tlps)[0].violation.at;
    assert_eq!(at(&[read(5, AT + 0x44, 4)]), At::Line(AT + 0x40));
    assert_eq!(at(&[config_read(5, 0x10)]), At::Message);
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
    assert_eq!(checker.see(0, DOWN, 0, &bytes(config_read(5, 0)), FLIT), []);
    assert_eq!(checker.clock(10), []);
    checker.unit(0, UP, 7);
    one(&checker.clock(11), "TXN-END-02", (UP, 7), ["no answer in 10 flit clocks to CfgRd of register 0x0", "CplD"]);
    assert_eq!((checker.clock(100), checker.open()), (vec![], 1));
    // It may still come.
    assert_eq!(checker.see(0, UP, 8, &bytes(word(5, 1)), FLIT), []);
    assert_eq!((checker.finish(), checker.open()), (vec![], 0));
}

/// Bytes as the sheet has them (`cxl-io` §3.6): MRd32 of 3 DW with tag 77h, FirstBE C, LastBE 1, of 04:00.2.
#[test]
fn bytes_of_the_sheet_are_read() {
    let mut checker = CxlIoTransactions::new(CONFIG, vec!["link".into()]);
    let request = [3, 1, 0, 3, 4, 2, 0, 0x77, 0x90, 0, 0x20, 4, 0, 0, 0, 0x1c];
    assert_eq!(checker.see(0, DOWN, 0, &request, FLIT), []);
    // Status in OHC-A5 with the low bits of Lower Address: 7 bytes from 9000_2006h on.
    let mut completion = vec![0x4a, 1, 0, 3, 1, 0, 0, 0x77, 4, 2, 0x10, 7, 0, 0, 0, 0x10];
    completion.extend([0; 12]);
    assert_eq!(checker.see(0, UP, 0, &completion, FLIT), []);
    assert_eq!((checker.open(), checker.finish()), (0, vec![]));
    // Garbage is nobody's here, and a read of UIO is owed a completion too.
    assert_eq!(checker.see(0, UP, 1, &[0xff; 12], FLIT), []);
    assert_eq!(checker.open(), 0);
    assert_eq!(checker.see(0, DOWN, 1, &[0x22, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], FLIT), []);
    assert_eq!(checker.open(), 1);
}

/// A TLP of UIO with a header of this many DW (`cxl-io` §3.3, §3.5).
fn uio(type_code: u8, header: [u32; 3], data: &[u8]) -> Vec<u8> {
    let dw0 = u32::from(type_code) << 24 | (data.len() / 4) as u32;
    let words = [dw0].into_iter().chain(header).flat_map(u32::to_be_bytes);
    words.chain(data.iter().copied()).collect()
}

/// What is said of TLPs as bytes, each in a flit of its own.
fn said_of_bytes(tlps: &[(Dir, Vec<u8>)]) -> Vec<TransactionFinding> {
    let mut checker = CxlIoTransactions::new(CONFIG, vec!["link".into()]);
    let mut all = Vec::new();
    for (unit, (dir, bytes)) in (0..).zip(tlps) {
        all.extend(checker.see(0, *dir, unit, bytes, FLIT));
    }
    all.extend(checker.finish());
    all
}

fn bytes(tlp: &Tlp) -> Vec<u8> {
    tlp.encode(TlpForm::Flit).expect("a TLP")
}

/// Of the bytes that a write of UIO touches nothing is known any more; those beside them are compared as before.
#[test]
fn a_write_of_uio_is_a_writer() {
    let write_of_uio = [uio_write(), uio_completion(WRITTEN, 0)];
    let read_back = |address: u64, value| {
        let came = completion(2, 64, (address & 0x7f) as u8, &[value; 64]);
        [(DOWN, bytes(&read(2, address, 64))), (UP, bytes(&came))]
    };
    for value in [1, 9] {
        let write = [(DOWN, bytes(&write(AT, 1, 64)))];
        assert_eq!(said_of_bytes(&[&write[..], &write_of_uio, &read_back(AT, value)].concat()), [], "{value}");
    }
    let beside = [(DOWN, bytes(&write(AT + 64, 1, 64)))];
    let found = said_of_bytes(&[&beside[..], &write_of_uio, &read_back(AT + 64, 9)].concat());
    one(&found, "TXN-DAT-01", (UP, 4), ["0x09 in byte 0", "0x01"]);
}

/// The request of UIO with tag 5 that reads so many bytes.
fn uio_read(bytes: u32) -> (Dir, Vec<u8>) {
    let mut read = uio(0x22, [u32::from(ROOT) << 16 | 5, 0, AT as u32], &[]);
    read[3] = (bytes / 4) as u8;
    (DOWN, read)
}

fn uio_write() -> (Dir, Vec<u8>) {
    (DOWN, uio(0x61, [u32::from(ROOT) << 16 | 5, 0, AT as u32], &[9; 64]))
}

/// A completion of UIO with tag 5, whose header has three DW: its code and data.
fn uio_completion(type_code: u8, data: usize) -> (Dir, Vec<u8>) {
    let header = [u32::from(FUNCTION) << 16 | 5, u32::from(ROOT) << 16 | 64, 0];
    let mut completion = uio(type_code, header, &vec![0; data]);
    completion.drain(12..16);
    (UP, completion)
}

const READ_DATA: u8 = 0x48;
const WRITTEN: u8 = 0x0c;
const NO_DATA: u8 = 0x0d;
const OF_UIO_READ: &str = "UIOMRd of 64 B at 0x80000000 in flit 0 down";

/// Each request of UIO gets completions of its kind, a read in one part or in several, and its tag is another one than that of a plain
/// request.
#[test]
fn uio_completions_of_their_requests_p() {
    let of = |tlps: &[(Dir, Vec<u8>)]| assert_eq!(said_of_bytes(tlps), []);
    of(&[uio_read(64), uio_completion(READ_DATA, 64), uio_read(64), uio_completion(NO_DATA, 0)]);
    of(&[uio_read(64), uio_completion(READ_DATA, 16), uio_completion(READ_DATA, 48)]);
    of(&[uio_write(), uio_completion(WRITTEN, 0), uio_write(), uio_completion(WRITTEN, 0)]);
    let plain = [(DOWN, bytes(&read(5, AT, 64))), (UP, bytes(&line(5, 0)))];
    of(&[plain[0].clone(), uio_read(64), uio_completion(READ_DATA, 64), plain[1].clone()]);
    of(&[uio_read(64), plain[0].clone(), plain[1].clone(), uio_completion(READ_DATA, 64)]);
}

/// Completions of UIO answer requests of UIO alone, before and behind one with the same tag, and nothing else answers these.
#[test]
fn uio_completions_of_other_requests_n() {
    let expected = "CplD of 64 B for MRd of 64 B at 0x80000000";
    let asked = (DOWN, bytes(&read(5, AT, 64)));
    for (type_code, name, data) in
        [(READ_DATA, "UIORdCplD of 64 B", 64), (WRITTEN, "UIOWrCpl", 0), (NO_DATA, "UIORdCpl", 0)]
    {
        let words = format!("{name} with tag 0x5 of requester 0x0008");
        let found = said_of_bytes(&[asked.clone(), uio_completion(type_code, data)]);
        one(&found, "TXN-ANS-03", (UP, 1), [&words, expected]);
        let before = [uio_read(64), uio_completion(READ_DATA, 64)];
        let found = said_of_bytes(&[&before[..], &[asked.clone(), uio_completion(type_code, data)]].concat());
        one(&found, "TXN-ANS-03", (UP, 3), [&words, expected]);
    }
    let found = said_of_bytes(&[uio_read(64), (UP, bytes(&line(5, 0)))]);
    let expected = format!("UIORdCplD of 64 B or UIORdCpl for {OF_UIO_READ}");
    one(&found, "TXN-ANS-03", (UP, 1), ["CplD of 64 B with tag 0x5", &expected]);
}

/// A write is not answered as a read, nor a read as a write.
#[test]
fn uio_completions_of_the_wrong_kind_n() {
    let found = said_of_bytes(&[uio_read(64), uio_completion(WRITTEN, 0)]);
    let expected = format!("UIORdCplD of 64 B or UIORdCpl for {OF_UIO_READ}");
    one(&found, "TXN-ANS-03", (UP, 1), ["UIOWrCpl with tag 0x5", &expected]);
    for (type_code, data) in [(READ_DATA, 64), (NO_DATA, 0)] {
        let found = said_of_bytes(&[uio_write(), uio_completion(type_code, data)]);
        one(&found, "TXN-ANS-03", (UP, 1), ["UIORdCpl", "UIOWrCpl for UIOMWr of 64 B at 0x80000000 in flit 0 down"]);
    }
}

/// Unknown, doubled and missing completions, and a tag that is used again too early.
#[test]
fn uio_tags_n() {
    let done = [uio_read(64), uio_completion(READ_DATA, 64)];
    let found = said_of_bytes(&done[1..]);
    one(&found, "TXN-TAG-02", (UP, 0), ["UIORdCplD of 64 B with tag 0x5 of requester 0x0008", "the tag of a request"]);
    let found = said_of_bytes(&[&done[..], &done[1..]].concat());
    let expected = format!("none: {OF_UIO_READ} had its last completion in flit 1 up");
    one(&found, "TXN-TAG-03", (UP, 2), ["UIORdCplD of 64 B with tag 0x5", &expected]);
    let found = said_of_bytes(&[uio_read(64), uio_write(), uio_completion(WRITTEN, 0)]);
    let expected = format!("a tag that is free: {OF_UIO_READ} waits for UIORdCplD of 64 B or UIORdCpl");
    one(&found, "TXN-TAG-01", (DOWN, 1), ["UIOMWr of 64 B at 0x80000000 with tag 0x5", &expected]);
    let found = said_of_bytes(&[uio_read(64), uio_completion(READ_DATA, 16)]);
    one(&found, "TXN-END-01", (UP, 1), ["no answer at the end of the run to UIOMRd of 64 B", "UIORdCplD of 48 B"]);
    let found = said_of_bytes(&[uio_write()]);
    one(&found, "TXN-END-01", (UP, 0), ["no answer at the end of the run to UIOMWr of 64 B", "UIOWrCpl"]);
}

/// Writes with relaxed order or order by ID may pass others, reads with order by ID may pass writes of other requesters. What has
/// neither is held to the order of its link.
#[test]
fn looser_order_is_not_blamed() {
    let with = |attr, tlp: Tlp| Tlp { attr, ..tlp };
    for attr in [0b010, 0b100, 0b110] {
        let writes = [write(AT, 1, 64), with(attr, write(AT, 2, 64))];
        for value in [1, 2] {
            silent(&[&writes[..], &[read(5, AT, 64), line(5, value)]].concat());
        }
    }
    let writes = [write(AT, 1, 64), write(AT, 2, 64)];
    silent(&[&writes[..], &[with(0b100, read(5, AT, 64)), line(5, 1)]].concat());
    // No snoop and relaxed order of a read loosen nothing here.
    for attr in [0, 0b001, 0b010] {
        let stale = [&writes[..], &[with(attr, read(5, AT, 64)), line(5, 1)]].concat();
        broken(&stale, "TXN-DAT-01", (UP, 0), ["0x01 in byte 0", "0x02"]);
    }
    let stale = [with(0b001, writes[0].clone()), with(0b001, writes[1].clone()), read(5, AT, 64), line(5, 1)];
    broken(&stale, "TXN-DAT-01", (UP, 0), ["0x01 in byte 0", "0x02"]);
}
