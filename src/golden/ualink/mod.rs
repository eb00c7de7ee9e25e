//! `flit_ualink_<dir>`: headers, DL messages, every field at every place, transfers with data, poison and message halves,
//! TL flits that go on in the next DL flit, compressed requests, random traffic, wrong CRCs, and visible breaks.
//!
//! Every case starts and ends with no TL flit left over and nothing owed. Flits are long and the format is the same in both
//! directions: of transfers, starts, wrong bits and breaks each direction has every second one. Breaks that only a count or
//! a history shows are left out.

pub mod fields;
mod send;

use super::legal;
use super::vectors::{CaseGroup, StreamCase, VectorContent, VectorSet};
use scalepool_forms::flit_ual::PROTOCOL;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::{CompressedCmd, FlitOp, HalfType, RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::{ControlField, Writer};
use scalepool_protocols::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::flit::{DlFlit, segment_header_byte};
use scalepool_protocols::ualink::half::{MessageHalf, TlFlit};
use scalepool_protocols::ualink::header::{CommandHeader, ExplicitHeader, UalHeader};
use scalepool_protocols::ualink::message::{MESSAGES, PortNumber, UartTransport};
use scalepool_protocols::wire::Wire;
use send::{Offers, UalSender};

type Case = StreamCase<DlFlit>;

/// The vectors of one direction; about `count` flits of random traffic.
pub fn vectors(dir: Dir, seed: u64, count: u32) -> VectorSet {
    let path = format!("ualink/flit_{PROTOCOL}_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let s = &mut UalSender::new(&mut rng, dir);
    let mut groups = vec![headers(s), messages(s), places(s), transfers(s), halves(s), left_over(s), compressed(s)];
    groups.push(CaseGroup::new("random traffic", vec![StreamCase::legal(s.traffic(count as usize))]));
    groups.push(wrong_crc(s));
    groups.push(breaks(s));
    // A count of zero: no traffic.
    groups.retain(|g| g.cases.iter().any(|c| !c.units.is_empty()));
    VectorSet {
        path,
        about: format!("flits of {PROTOCOL}, direction {}, 640 bytes", dir.name()),
        content: VectorContent::Ualink(dir, groups),
    }
}

/// Every `op` that is used, with and without payload, with the lowest, a middle and the highest number in turn.
fn headers(s: &mut UalSender) -> CaseGroup<Case> {
    let explicit = |op, payload| UalHeader::Explicit(ExplicitHeader { op, payload, ..ExplicitHeader::default() });
    let command =
        |op, payload| UalHeader::Command(CommandHeader { op, payload, seq_lo: 5, ..CommandHeader::default() });
    let headers = [
        explicit(FlitOp::Original, false),
        explicit(FlitOp::Original, true),
        explicit(FlitOp::Replayed, true),
        command(FlitOp::Ack, false),
        command(FlitOp::Ack, true),
        command(FlitOp::ReplayRequest, false),
        command(FlitOp::ReplayRequest, true),
    ];
    let numbered = headers.into_iter().zip([1, 256, 511].into_iter().cycle()).map(|(header, seq)| match header {
        UalHeader::Explicit(header) => UalHeader::Explicit(ExplicitHeader { seq, ..header }),
        UalHeader::Command(header) => UalHeader::Command(CommandHeader { ack_req_seq: seq, ..header }),
    });
    let cases = numbered.map(|header| StreamCase::legal(vec![s.flit_of(header, &mut Offers::default())]));
    CaseGroup::new("flit headers", cases.collect())
}

/// Every message in every segment, then UART payload over the ends of flits.
fn messages(s: &mut UalSender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    let defs: Vec<_> = MESSAGES.into_iter().filter(|def| def.name != UartTransport::DEF.name).collect();
    for first in 0..defs.len() {
        let mut offers = Offers::default();
        for (n, place) in offers.messages.iter_mut().enumerate() {
            *place = Some(legal::random(defs[(first + n) % defs.len()], s.rng) as u32);
        }
        cases.push(StreamCase::legal(vec![s.flit(&mut offers)]));
    }
    let head = UartTransport { length: 15, ..UartTransport::default() };
    let mut words = vec![head.to_bits().unwrap_or_default() as u32];
    words.extend((0..16).map(|_| s.rng.next_u64() as u32));
    let flits = words.chunks(5).map(|words| {
        let mut offers = Offers::default();
        words.iter().zip(&mut offers.messages).for_each(|(word, place)| *place = Some(*word));
        s.flit(&mut offers)
    });
    cases.push(StreamCase::legal(flits.collect()));
    CaseGroup::new("DL messages", cases)
}

fn request(cmd: ReqCmd, beats: u8) -> TlReq {
    TlReq { cmd, numbeats: beats - 1, len: 16 * beats - 1, ..TlReq::default() }
}

/// A flit with TL flits at the first starts of its segments.
fn several(s: &mut UalSender, tl: &[TlFlit]) -> Case {
    let mut offers = Offers::default();
    offers.tl.iter_mut().zip(tl).for_each(|(places, flit)| places[0] = Some(*flit));
    let mut flits = vec![s.flit(&mut offers)];
    flits.extend(s.finish());
    StreamCase::legal(flits)
}

/// Each field at each place where it may stand.
fn places(s: &mut UalSender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    let fields = [
        ControlField::Request(request(ReqCmd::Read, 4)),
        ControlField::Response(TlRsp { tag: 0x7ff, ..TlRsp::default() }),
        ControlField::CompressedMulti(TlCrspMulti { tag: 0x7ff, ..TlCrspMulti::default() }),
        ControlField::FlowControl(TlFc { req_cmd_cnt: 7, rsp_data_cnt: 31, ..TlFc::default() }),
    ];
    for field in fields {
        let bits = field.to_bits().unwrap_or_default();
        let all: Vec<_> = (0..8).step_by(field.sectors()).map(|at| control_at(bits, field.sectors(), at)).collect();
        cases.extend(all.chunks(5).map(|tl| several(s, tl)));
    }
    CaseGroup::new("each field at each place", cases)
}

/// A TL flit with the bits of a field from a sector on.
fn control_at(bits: u128, sectors: usize, at: usize) -> TlFlit {
    let mut flit = TlFlit::default();
    for n in 0..sectors {
        flit.set_sector(at + n, ((bits >> (32 * n)) as u32).to_le_bytes());
    }
    flit
}

/// Commands and responses with every number of beats, and beats poisoned.
fn transfers(s: &mut UalSender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for (n, code) in ReqCmd::TABLE.codes.iter().enumerate() {
        let cmd = ReqCmd(code.value as u8);
        let atomic = [ReqCmd::AtomicR, ReqCmd::AtomicNR].contains(&cmd);
        let beats = (1..=4).map(|beats| {
            let len = if atomic { 0 } else { 16 * beats - 1 };
            ControlField::Request(TlReq { len, ..request(cmd, beats) })
        });
        if s.takes(n) {
            cases.push(StreamCase::legal(s.transfers(beats.map(|field| (field, 0)))));
        }
    }
    let every_len = |field: fn(u8) -> ControlField| (0..4).map(move |len| (field(len), 0));
    let all = |len| ControlField::Response(TlRsp { rdwr: RdWr::Read, len, ..TlRsp::default() });
    cases.push(StreamCase::legal(s.transfers(every_len(all))));
    let all = |len| ControlField::CompressedMulti(TlCrspMulti { rdwr: RdWr::Read, len, ..TlCrspMulti::default() });
    cases.push(StreamCase::legal(s.transfers(every_len(all))));
    let one =
        |len| ControlField::CompressedSingle(TlCrspSingle { offset: len, last: len == 3, ..TlCrspSingle::default() });
    cases.push(StreamCase::legal(s.transfers(every_len(one))));
    let poisoned: Vec<u8> =
        [1, 2, 4, 8, 3, 15].into_iter().enumerate().filter(|(n, _)| s.takes(*n)).map(|p| p.1).collect();
    let write = |poisoned: u8| (ControlField::Request(request(ReqCmd::Write, 4)), poisoned);
    cases.push(StreamCase::legal(s.transfers(poisoned.into_iter().map(write))));
    CaseGroup::new("transfers, then poisoned beats", cases)
}

/// Message halves in either half.
fn halves(s: &mut UalSender) -> CaseGroup<Case> {
    let messages = [
        MessageHalf::new(HalfType::NOP),
        MessageHalf::initial_credits_done(false),
        MessageHalf::initial_credits_done(true),
    ];
    let cases = (0..2).map(|n| several(s, &messages.map(|message| message_at(message, n))));
    CaseGroup::new("message halves", cases.collect())
}

fn message_at(message: MessageHalf, n: usize) -> TlFlit {
    let mut flit = TlFlit::default();
    flit.halves[n] = message.to_half();
    flit.message[n] = true;
    flit
}

/// A start in every segment, then, down, as many TL flits as three flits have room for.
fn left_over(s: &mut UalSender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    for (segment, place) in (0..5).map(|segment| (segment, usize::from(!s.takes(segment)))).collect::<Vec<_>>() {
        let mut offers = Offers::default();
        offers.tl[segment][place] = Some(TlFlit::default());
        let mut flits = vec![s.flit(&mut offers)];
        flits.extend(s.finish());
        cases.push(StreamCase::legal(flits));
    }
    if s.takes(0) {
        let mut flits: Vec<DlFlit> = (0..3).map(|_| s.flit(&mut Offers::full())).collect();
        flits.extend(s.finish());
        cases.push(StreamCase::legal(flits));
    }
    CaseGroup::new("a start in every segment; down, the most that three flits hold", cases)
}

/// A region for each way, then requests in them.
fn compressed(s: &mut UalSender) -> CaseGroup<Case> {
    let mut flits = Vec::new();
    for way in 0..4 {
        let load = TlReq {
            cload: true,
            cway: way,
            address: (u64::from(way) + 1) << 20,
            attr: 0xff,
            src: 3,
            dst: 4,
            ..request(ReqCmd::Read, 1)
        };
        let hits = [CompressedCmd::Read, CompressedCmd::Write, CompressedCmd::WriteFull].map(|cmd| {
            ControlField::CompressedRequest(TlCreq { cmd, cway: way, src: 3, dst: 4, len: way, ..TlCreq::default() })
        });
        flits.extend(s.transfers([ControlField::Request(load)].into_iter().chain(hits).map(|field| (field, 0))));
    }
    CaseGroup::new("address cache", vec![StreamCase::legal(flits)])
}

/// One wrong bit in every part of a flit; the flit is dropped and sent again.
fn wrong_crc(s: &mut UalSender) -> CaseGroup<Case> {
    let good = s.one(message_at(MessageHalf::new(HalfType::NOP), 1));
    let bits = (0..5120).step_by(1291).chain([8 * 624, 8 * 636, 8 * 639 + 7]).enumerate();
    let cases = bits.filter(|(n, _)| s.takes(*n)).map(|(_, bit)| {
        let mut bad = good;
        bad.0[bit / 8] ^= 1 << (bit % 8);
        StreamCase::breaks("UAL-CRC-01", vec![bad, good])
    });
    CaseGroup::new("one wrong bit", cases.collect())
}

/// Breaks that one flit shows.
fn breaks(s: &mut UalSender) -> CaseGroup<Case> {
    let mut cases = Vec::new();
    let mut seen = 0;
    let mut breaks = |rule, make: &mut dyn FnMut(&mut UalSender) -> DlFlit| {
        if s.takes(seen) {
            cases.push(StreamCase::breaks(rule, vec![make(s)]));
        }
        seen += 1;
    };
    for (op, payload) in [(1, false), (4, true), (5, true), (6, false), (7, true)] {
        let header =
            UalHeader::Explicit(ExplicitHeader { op: FlitOp(op), payload, seq: 1, ..ExplicitHeader::default() });
        breaks("UAL-FLH-03", &mut |s| s.flit_of(header, &mut Offers::default()));
    }
    let reserved = ExplicitHeader { payload: true, seq: 1, rsvd: 0x80, ..ExplicitHeader::default() };
    breaks("UAL-FLH-04", &mut |s| s.flit_of(UalHeader::Explicit(reserved), &mut Offers::default()));
    for (segment, header, rule) in [(0, 0x02, "UAL-SEG-01"), (3, 0x0c, "UAL-SEG-02"), (4, 0x60, "UAL-SEG-02")] {
        breaks(rule, &mut |s| {
            let flit = s.flit(&mut Offers::default());
            s.with_byte(flit, segment_header_byte(segment), header)
        });
    }
    breaks("UAL-SEG-06", &mut |s| {
        let flit = s.flit(&mut Offers::default());
        s.with_byte(flit, 300, 1)
    });
    breaks("UAL-SEG-12", &mut |s| {
        let header = UalHeader::Explicit(ExplicitHeader { seq: 1, ..ExplicitHeader::default() });
        let nop = s.flit_of(header, &mut Offers::default());
        s.with_byte(nop, 0, 1)
    });

    let port = PortNumber { port: 1024, ..PortNumber::default() }.to_bits().unwrap_or_default() as u32;
    for (word, rule) in [(1, "UAL-MSG-01"), (1 << 6, "UAL-MSG-02"), (0xf << 2, "UAL-MSG-02"), (port, "UAL-MSG-15")] {
        breaks(rule, &mut |s| s.flit(&mut Offers::message(2, word)));
    }

    breaks("UAL-TLF-02", &mut |s| s.one(control_at(1 << 124, 4, 2)));
    breaks("UAL-TLF-02", &mut |s| s.one(control_at(2 << 60, 2, 3)));
    for kind in [6, 7, 10, 15] {
        breaks("UAL-TLF-03", &mut |s| s.one(control_at(kind << 28, 1, 1)));
    }
    breaks("UAL-TLF-04", &mut |s| s.one(control_at(0x60, 1, 0)));
    breaks("UAL-TLF-05", &mut |s| s.one(control_at(5 << 28, 1, 8)));
    breaks("UAL-SQN-01", &mut |s| s.one(control_at(0xf << 28, 1, 8)));
    for kind in [0x02, 0x1f, 0x21, 0xff] {
        breaks("UAL-SQN-08", &mut |s| s.one(message_at(MessageHalf::new(HalfType(kind)), 1)));
    }
    breaks("UAL-SQN-09", &mut |s| s.one(message_at(MessageHalf::new(HalfType::Poison), 0)));

    let far = TlCreq { src: 1023, dst: 1023, ..TlCreq::default() };
    let crossing = TlCreq { src: 3, dst: 4, len: 3, address: 64, ..TlCreq::default() };
    let too_long = TlReq { address: 4, ..request(ReqCmd::Read, 4) };
    let unlisted = TlReq { cmd: ReqCmd(0x31), len: 0, ..TlReq::default() };
    for (field, rule) in [
        (ControlField::CompressedRequest(far), "UAL-CAC-01"),
        (ControlField::CompressedRequest(crossing), "UAL-FLD-07"),
        (ControlField::CompressedRequest(TlCreq { cmd: CompressedCmd(1), len: 0, ..crossing }), "UAL-FLD-03"),
        (ControlField::Request(too_long), "UAL-SIZ-02"),
        (ControlField::Request(unlisted), "UAL-UPL-02"),
        (ControlField::Response(TlRsp { status: Status(1), ..TlRsp::default() }), "UAL-UPL-03"),
        (ControlField::Response(TlRsp { spare: 1, ..TlRsp::default() }), "UAL-FLD-02"),
        (ControlField::CompressedMulti(TlCrspMulti { len: 1, ..TlCrspMulti::default() }), "UAL-FLD-05"),
    ] {
        let mut writer = Writer::default();
        // The fields fit, and there is room for one.
        let _ = writer.put(&field);
        breaks(rule, &mut |s| s.one(TlFlit { halves: [writer.half(), [0; 32]], message: [false; 2] }));
    }
    CaseGroup::new("breaks that one flit shows", cases)
}

/// What all flits here are made with.
const CONFIG: UalConfig = UalConfig::SHEET;
