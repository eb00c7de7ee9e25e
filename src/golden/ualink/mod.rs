//! `flit_ualink_<dir>`: headers, DL messages, every field at every place, transfers with data, poison and message halves,
//! TL flits that go on in the next DL flit, compressed requests, random traffic, wrong CRCs, and visible breaks.
//!
//! Every case starts and ends with no TL flit left over and nothing owed. Breaks that only a count or a history shows are
//! left out.

pub mod fields;
mod send;

use super::legal;
use super::vectors::{Content, Group, StreamCase, VectorSet};
use crate::forms::flit_ual::PROTOCOL;
use crate::kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::{CompressedCmd, FlitOp, HalfType, RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::{Field, Writer};
use scalepool_protocols::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::flit::{Flit, segment_header_byte};
use scalepool_protocols::ualink::half::{MessageHalf, TlFlit};
use scalepool_protocols::ualink::header::{CommandHeader, ExplicitHeader, Header};
use scalepool_protocols::ualink::message::{MESSAGES, PortNumber, UartTransport};
use scalepool_protocols::wire::Wire;
use send::{Offers, Sender};

type Case = StreamCase<Flit>;

/// The vectors of one direction; about `4 * count` flits of random traffic.
pub fn vectors(dir: Dir, seed: u64, count: u32) -> VectorSet {
    let path = format!("ualink/flit_{PROTOCOL}_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let s = &mut Sender::new(&mut rng);
    let mut groups = vec![headers(s), messages(s), places(s), transfers(s), halves(s), left_over(s), compressed(s)];
    groups.push(Group::new("random traffic", vec![StreamCase::legal(s.traffic(4 * count as usize))]));
    groups.push(wrong_crc(s));
    groups.push(breaks(s));
    VectorSet {
        path,
        about: format!("flits of {PROTOCOL}, direction {}, 640 bytes", dir.name()),
        content: Content::Ualink(dir, groups),
    }
}

/// Every `op` that is used, with and without payload.
fn headers(s: &mut Sender) -> Group<Case> {
    let mut cases = Vec::new();
    for seq in [1, 256, 511] {
        let explicit = |op, payload| Header::Explicit(ExplicitHeader { op, payload, seq, ..ExplicitHeader::default() });
        let command = |op, payload| {
            let header = CommandHeader { op, payload, ack_req_seq: seq, seq_lo: 5, ..CommandHeader::default() };
            Header::Command(header)
        };
        for header in [
            explicit(FlitOp::Original, false),
            explicit(FlitOp::Original, true),
            explicit(FlitOp::Replayed, true),
            command(FlitOp::Ack, false),
            command(FlitOp::Ack, true),
            command(FlitOp::ReplayRequest, false),
            command(FlitOp::ReplayRequest, true),
        ] {
            cases.push(StreamCase::legal(vec![s.flit_of(header, &mut Offers::default())]));
        }
    }
    Group::new("flit headers", cases)
}

/// Every message in every segment, then UART payload over the ends of flits.
fn messages(s: &mut Sender) -> Group<Case> {
    let mut cases = Vec::new();
    for def in MESSAGES.into_iter().filter(|def| def.name != UartTransport::DEF.name) {
        for segment in 0..5 {
            let word = legal::random(def, s.rng) as u32;
            cases.push(StreamCase::legal(vec![s.flit(&mut Offers::message(segment, word))]));
        }
    }
    let head = UartTransport { length: 31, ..UartTransport::default() };
    let mut words = vec![head.to_bits().unwrap_or_default() as u32];
    words.extend((0..32).map(|_| s.rng.next_u64() as u32));
    let flits = words.chunks(5).map(|words| {
        let mut offers = Offers::default();
        words.iter().zip(&mut offers.messages).for_each(|(word, place)| *place = Some(*word));
        s.flit(&mut offers)
    });
    cases.push(StreamCase::legal(flits.collect()));
    Group::new("DL messages", cases)
}

fn request(cmd: ReqCmd, beats: u8) -> TlReq {
    TlReq { cmd, numbeats: beats - 1, len: 16 * beats - 1, ..TlReq::default() }
}

/// Each field at each place where it may stand.
fn places(s: &mut Sender) -> Group<Case> {
    let mut cases = Vec::new();
    let fields = [
        Field::Request(request(ReqCmd::Read, 4)),
        Field::Response(TlRsp { tag: 0x7ff, ..TlRsp::default() }),
        Field::CompressedMulti(TlCrspMulti { tag: 0x7ff, ..TlCrspMulti::default() }),
        Field::FlowControl(TlFc { req_cmd_cnt: 7, rsp_data_cnt: 31, ..TlFc::default() }),
    ];
    for field in fields {
        let bits = field.to_bits().unwrap_or_default();
        for at in (0..8).step_by(field.sectors()) {
            cases.push(StreamCase::legal(vec![s.one(control_at(bits, field.sectors(), at))]));
        }
    }
    Group::new("each field at each place", cases)
}

/// A TL flit with the bits of a field from a sector on.
fn control_at(bits: u128, sectors: usize, at: usize) -> TlFlit {
    let mut flit = TlFlit::default();
    for n in 0..sectors {
        flit.set_sector(at + n, ((bits >> (32 * n)) as u32).to_le_bytes());
    }
    flit
}

/// Every command and response with every number of beats, and each beat poisoned.
fn transfers(s: &mut Sender) -> Group<Case> {
    let mut cases = Vec::new();
    for code in ReqCmd::TABLE.codes {
        for beats in 1..=4 {
            let cmd = ReqCmd(code.value as u8);
            let atomic = [ReqCmd::AtomicR, ReqCmd::AtomicNR].contains(&cmd);
            let len = if atomic { 0 } else { 16 * beats - 1 };
            let field = Field::Request(TlReq { len, ..request(cmd, beats) });
            cases.push(StreamCase::legal(s.transfer(field, 0)));
        }
    }
    for len in 0..4 {
        let all = TlRsp { rdwr: RdWr::Read, len, ..TlRsp::default() };
        cases.push(StreamCase::legal(s.transfer(Field::Response(all), 0)));
        let all = TlCrspMulti { rdwr: RdWr::Read, len, ..TlCrspMulti::default() };
        cases.push(StreamCase::legal(s.transfer(Field::CompressedMulti(all), 0)));
        let one = TlCrspSingle { offset: len, last: len == 3, ..TlCrspSingle::default() };
        cases.push(StreamCase::legal(s.transfer(Field::CompressedSingle(one), 0)));
    }
    for poisoned in 1..16 {
        cases.push(StreamCase::legal(s.transfer(Field::Request(request(ReqCmd::Write, 4)), poisoned)));
    }
    Group::new("transfers, then poisoned beats", cases)
}

/// Message halves in either half.
fn halves(s: &mut Sender) -> Group<Case> {
    let messages = [
        MessageHalf::new(HalfType::NOP),
        MessageHalf::initial_credits_done(false),
        MessageHalf::initial_credits_done(true),
    ];
    let mut cases = Vec::new();
    for message in messages {
        for n in 0..2 {
            cases.push(StreamCase::legal(vec![s.one(message_at(message, n))]));
        }
    }
    Group::new("message halves", cases)
}

fn message_at(message: MessageHalf, n: usize) -> TlFlit {
    let mut flit = TlFlit::default();
    flit.halves[n] = message.to_half();
    flit.message[n] = true;
    flit
}

/// Starts at every place, then as many TL flits as there is room for until nothing is left over.
fn left_over(s: &mut Sender) -> Group<Case> {
    let mut cases = Vec::new();
    for segment in 0..5 {
        for place in 0..2 {
            let mut offers = Offers::default();
            offers.tl[segment][place] = Some(TlFlit::default());
            let mut flits = vec![s.flit(&mut offers)];
            flits.extend(s.finish());
            cases.push(StreamCase::legal(flits));
        }
    }
    // 157 TL flits fill 16 DL flits.
    cases.push(StreamCase::legal((0..16).map(|_| s.flit(&mut Offers::full())).collect()));
    Group::new("starts at every place, then the most that fits", cases)
}

/// A region for each way, then requests in them.
fn compressed(s: &mut Sender) -> Group<Case> {
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
        flits.extend(s.transfer(Field::Request(load), 0));
        for cmd in [CompressedCmd::Read, CompressedCmd::Write, CompressedCmd::WriteFull] {
            let hit = TlCreq { cmd, cway: way, src: 3, dst: 4, len: way, ..TlCreq::default() };
            flits.extend(s.transfer(Field::CompressedRequest(hit), 0));
        }
    }
    Group::new("address cache", vec![StreamCase::legal(flits)])
}

/// One wrong bit in every part of a flit; the flit is dropped and sent again.
fn wrong_crc(s: &mut Sender) -> Group<Case> {
    let good = s.one(message_at(MessageHalf::new(HalfType::NOP), 1));
    let bits = (0..5120).step_by(331).chain([8 * 624, 8 * 636, 8 * 639 + 7]);
    let cases = bits.map(|bit| {
        let mut bad = good;
        bad.0[bit / 8] ^= 1 << (bit % 8);
        StreamCase::breaks("UAL-CRC-01", vec![bad, good])
    });
    Group::new("one wrong bit", cases.collect())
}

/// Breaks that one flit shows.
fn breaks(s: &mut Sender) -> Group<Case> {
    let mut cases = Vec::new();
    let mut breaks = |rule, flit| cases.push(StreamCase::breaks(rule, vec![flit]));
    for (op, payload) in [(1, false), (4, true), (5, true), (6, false), (7, true)] {
        let header = Header::Explicit(ExplicitHeader { op: FlitOp(op), payload, seq: 1, ..ExplicitHeader::default() });
        breaks("UAL-FLH-03", s.flit_of(header, &mut Offers::default()));
    }
    let reserved = ExplicitHeader { payload: true, seq: 1, rsvd: 0x80, ..ExplicitHeader::default() };
    breaks("UAL-FLH-04", s.flit_of(Header::Explicit(reserved), &mut Offers::default()));
    for (segment, header, rule) in [(0, 0x02, "UAL-SEG-01"), (3, 0x0c, "UAL-SEG-02"), (4, 0x60, "UAL-SEG-02")] {
        let flit = s.flit(&mut Offers::default());
        breaks(rule, s.with_byte(flit, segment_header_byte(segment), header));
    }
    let flit = s.flit(&mut Offers::default());
    breaks("UAL-SEG-06", s.with_byte(flit, 300, 1));
    let nop =
        s.flit_of(Header::Explicit(ExplicitHeader { seq: 1, ..ExplicitHeader::default() }), &mut Offers::default());
    breaks("UAL-SEG-12", s.with_byte(nop, 0, 1));

    let port = PortNumber { port: 1024, ..PortNumber::default() }.to_bits().unwrap_or_default() as u32;
    for (word, rule) in [(1, "UAL-MSG-01"), (1 << 6, "UAL-MSG-02"), (0xf << 2, "UAL-MSG-02"), (port, "UAL-MSG-15")] {
        breaks(rule, s.flit(&mut Offers::message(2, word)));
    }

    breaks("UAL-TLF-02", s.one(control_at(1 << 124, 4, 2)));
    breaks("UAL-TLF-02", s.one(control_at(2 << 60, 2, 3)));
    for kind in 6..16 {
        breaks("UAL-TLF-03", s.one(control_at(kind << 28, 1, 1)));
    }
    breaks("UAL-TLF-04", s.one(control_at(0x60, 1, 0)));
    breaks("UAL-TLF-05", s.one(control_at(5 << 28, 1, 8)));
    breaks("UAL-SQN-01", s.one(control_at(0xf << 28, 1, 8)));
    for kind in [0x02, 0x1f, 0x21, 0xff] {
        breaks("UAL-SQN-08", s.one(message_at(MessageHalf::new(HalfType(kind)), 1)));
    }
    breaks("UAL-SQN-09", s.one(message_at(MessageHalf::new(HalfType::Poison), 0)));

    let far = TlCreq { src: 1023, dst: 1023, ..TlCreq::default() };
    let crossing = TlCreq { src: 3, dst: 4, len: 3, address: 64, ..TlCreq::default() };
    let too_long = TlReq { address: 4, ..request(ReqCmd::Read, 4) };
    let unlisted = TlReq { cmd: ReqCmd(0x31), len: 0, ..TlReq::default() };
    for (field, rule) in [
        (Field::CompressedRequest(far), "UAL-CAC-01"),
        (Field::CompressedRequest(crossing), "UAL-FLD-07"),
        (Field::CompressedRequest(TlCreq { cmd: CompressedCmd(1), len: 0, ..crossing }), "UAL-FLD-03"),
        (Field::Request(too_long), "UAL-SIZ-02"),
        (Field::Request(unlisted), "UAL-UPL-02"),
        (Field::Response(TlRsp { status: Status(1), ..TlRsp::default() }), "UAL-UPL-03"),
        (Field::Response(TlRsp { spare: 1, ..TlRsp::default() }), "UAL-FLD-02"),
        (Field::CompressedMulti(TlCrspMulti { len: 1, ..TlCrspMulti::default() }), "UAL-FLD-05"),
    ] {
        let mut writer = Writer::default();
        // The fields fit, and there is room for one.
        let _ = writer.put(&field);
        breaks(rule, s.one(TlFlit { halves: [writer.half(), [0; 32]], message: [false; 2] }));
    }
    Group::new("breaks that one flit shows", cases)
}

/// What all flits here are made with.
const CONFIG: UalConfig = UalConfig::SHEET;
