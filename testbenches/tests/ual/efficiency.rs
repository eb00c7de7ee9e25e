//! Efficiency of the packers, as exact fractions (`ualink` §15).

use super::common::*;
use scalepool::link::ualink::line::{CodeWord, LaneRate, UalLine, UalWidth};

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

fn field(item: Item) -> ControlField {
    let creq = |cmd| ControlField::CompressedRequest(TlCreq { cmd, len: 3, dst: 2, src: 1, ..TlCreq::default() });
    match item {
        Write => ControlField::Request(request(ReqCmd::WriteFull, 1, 4)),
        CompressedWrite => creq(CompressedCmd::WriteFull),
        CompressedRead => creq(CompressedCmd::Read),
        Response => ControlField::Response(response(RdWr::Write, 1, 1)),
        CompressedResponse => ControlField::CompressedMulti(TlCrspMulti::default()),
        ReadResponse => {
            ControlField::CompressedMulti(TlCrspMulti { rdwr: RdWr::Read, len: 3, ..TlCrspMulti::default() })
        }
    }
}

/// Bytes of data in so many TL flits of a stream that repeats, and what a receiver finds wrong.
fn data_bytes(config: UalConfig, items: &[Item], flits: usize, periods: usize) -> usize {
    let mut packer = TlPacker::new(config);
    let mut unpacker = TlUnpacker::new(config, CompressionRole::ToSwitch);
    // The compressed requests need their region.
    let load = TlReq { cload: true, ..request(ReqCmd::Read, 1, 1) };
    unpacker.read(&tl(control(&[ControlField::Request(load)]), [0; 32]));
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

/// A stream of transfers that repeats, packed into TL flits on demand.
struct Steady {
    packer: TlPacker,
    items: Vec<Item>,
    config: UalConfig,
    tag: u8,
}

impl SegmentSource for Steady {
    fn message(&mut self, _segment: usize) -> Option<u32> {
        None
    }

    fn tl_flit(&mut self, _segment: usize, _place: SegmentPlace) -> Option<TlFlit> {
        while self.packer.waiting() < 8 {
            for &item in &self.items {
                self.packer.push(transfer(field(item), self.tag, &self.config)).expect("legal");
            }
            self.tag = self.tag.wrapping_add(1);
        }
        self.packer.pack()
    }
}

/// UAL-T24, every row of the sheet: transfers of 256 bytes in TL flits. Behind DL flits to the byte: 157 TL flits in 16 of
/// them. Behind the code words of a clocked line, one of 1024 idle, within 0.1 %.
#[test]
fn t24_every_row_over_the_line() {
    let (w, q, c, r) = (CompressedWrite, CompressedRead, CompressedResponse, ReadResponse);
    let rows: [(UalConfig, Vec<Item>, u64, u64, f64); 6] = [
        (SHEET, vec![Write, Response], 2, 9, 88.89),
        (SHEET, vec![Write, Write, Write, c, c, c], 3, 13, 92.31),
        (SHEET, vec![w, c], 4, 17, 94.12),
        (SHEET, vec![w, w, w, c, c, c, c, c, w, w], 5, 21, 95.24),
        (SHEET, vec![q, q, q, r, r, r, r, r, q, q], 5, 21, 95.24),
        (WITH_TAGS, vec![w, w, c, c], 2, 9, 88.89),
    ];
    let line = UalLine { rate: LaneRate::G200, width: UalWidth::X4, interleave: 4 };
    for (config, items, transfers, tl_flits, percent) in rows {
        assert!((25_600.0 * transfers as f64 / (64 * tl_flits) as f64 - percent).abs() < 0.005);
        let mut source = Steady { packer: TlPacker::new(config), items, config, tag: 0 };
        let (mut packer, mut cut) = (segment::Packer::default(), segment::Unpacker::default());
        let mut unpacker = TlUnpacker::new(config, CompressionRole::ToSwitch);
        let load = TlReq { cload: true, ..request(ReqCmd::Read, 1, 1) };
        let tags = [0; 32];
        unpacker.read(&tl(control(&[ControlField::Request(load)]), tags));
        // Data of the payload of so many DL flits.
        let mut pass = |dl_flits: u64| {
            let mut bytes = 0;
            for _ in 0..dl_flits {
                let read = cut.read(&packer.pack(&mut source));
                assert_eq!(read.violations, []);
                for piece in read.finished.iter().chain(&read.started).filter(|piece| piece.is_whole()) {
                    let read = unpacker.read(&piece.flit);
                    assert_clean(std::slice::from_ref(&read));
                    bytes += 32 * read.roles.iter().filter(|role| **role == HalfRole::Data).count() as u64;
                }
            }
            bytes
        };
        // A period in which both patterns close.
        let period = 16 * tl_flits;
        assert_eq!(pass(period), 157 * transfers * 256);
        assert_eq!(pass(period), 157 * transfers * 256, "and again");
        let code_words = 1024 * 4;
        let dl_flits = (0..code_words).filter(|&cycle| line.code_word(cycle) == CodeWord::Flit).count() as u64;
        let is = pass(dl_flits) as f64 / (640 * code_words) as f64;
        let want = percent / 100.0 * 628.0 / 640.0 * 1023.0 / 1024.0;
        assert!((is / want - 1.0).abs() < 0.001, "{is}, expected {want}");
    }
}
