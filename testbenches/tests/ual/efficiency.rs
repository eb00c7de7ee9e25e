//! Efficiency of the packers, as exact fractions (`ualink` §15).

use super::common::*;

/// A request of 256 bytes with its data, or a response, as a stream repeats them.
#[derive(Clone, Copy)]
enum Item {
    Write,
    CompressedWrite,
    CompressedRead,
    Response,
    CompressedResponse,
    ReadResponse,
}

use Item::*;

fn field(item: Item) -> Field {
    let creq = |cmd| Field::CompressedRequest(TlCreq { cmd, len: 3, dst: 2, src: 1, ..TlCreq::default() });
    match item {
        Write => Field::Request(request(ReqCmd::WriteFull, 1, 4)),
        CompressedWrite => creq(CompressedCmd::WriteFull),
        CompressedRead => creq(CompressedCmd::Read),
        Response => Field::Response(response(RdWr::Write, 1, 1)),
        CompressedResponse => Field::CompressedMulti(TlCrspMulti::default()),
        ReadResponse => Field::CompressedMulti(TlCrspMulti { rdwr: RdWr::Read, len: 3, ..TlCrspMulti::default() }),
    }
}

/// Bytes of data in so many TL flits of a stream that repeats, and what a receiver finds wrong.
fn data_bytes(config: UalConfig, items: &[Item], flits: usize, periods: usize) -> usize {
    let mut packer = TlPacker::new(config);
    let mut unpacker = TlUnpacker::new(config, Role::ToSwitch);
    // The compressed requests need their region.
    let load = TlReq { cload: true, ..request(ReqCmd::Read, 1, 1) };
    unpacker.read(&tl(control(&[Field::Request(load)]), [0; 32]));
    let mut bytes = 0;
    for n in 0..flits * periods {
        while packer.waiting() < 8 {
            items.iter().for_each(|item| packer.push(transfer(field(*item), n as u8, &config)).expect("legal"));
        }
        let read = unpacker.read(&packer.pack().expect("more to send"));
        assert_clean(std::slice::from_ref(&read));
        bytes += 32 * read.roles.iter().filter(|role| **role == HalfRole::Data).count();
    }
    bytes
}

/// Transfers of 256 bytes in TL flits of 64 bytes, over many periods, to the byte.
#[track_caller]
fn reaches(config: UalConfig, items: &[Item], transfers: usize, flits: usize) {
    assert_eq!(data_bytes(config, items, flits, 10), 10 * 256 * transfers);
}

#[test]
fn uncompressed_is_2_writes_in_9_flits() {
    reaches(SHEET, &[Write, Response], 2, 9);
}

#[test]
fn compressed_responses_are_3_writes_in_13_flits() {
    let c = CompressedResponse;
    reaches(SHEET, &[Write, Write, Write, c, c, c], 3, 13);
}

#[test]
fn compressed_is_4_writes_in_17_flits() {
    reaches(SHEET, &[CompressedWrite, CompressedResponse], 4, 17);
}

#[test]
fn the_most_is_5_in_21_flits() {
    let (w, c) = (CompressedWrite, CompressedResponse);
    reaches(SHEET, &[w, w, w, c, c, c, c, c, w, w], 5, 21);
    let (q, r) = (CompressedRead, ReadResponse);
    reaches(SHEET, &[q, q, q, r, r, r, r, r, q, q], 5, 21);
}

#[test]
fn the_most_with_authentication_is_2_in_9_flits() {
    reaches(WITH_TAGS, &[CompressedWrite, CompressedWrite, CompressedResponse, CompressedResponse], 2, 9);
}

/// 157 TL flits in 16 DL flits: 628/640 of the bytes.
#[test]
fn a_dl_flit_carries_628_of_640_bytes() {
    let (mut packer, mut source) = (segment::Packer::default(), Saturated::default());
    for _ in 0..16 * 10 {
        packer.pack(&mut source);
    }
    assert_eq!((source.sent, packer.carry()), (157 * 10, 0));
    // 157 * 64 / (16 * 640) = 628 / 640.
    assert_eq!(157 * 64 * 640, 628 * 16 * 640);
    // The most, behind the DL and one idle code word in 1024: 93.36 %.
    let parts_per_10_000 = 10_000 * 1280_u64 * 628 * 1023 / (1344 * 640 * 1024);
    assert_eq!(parts_per_10_000, 9336);
}
