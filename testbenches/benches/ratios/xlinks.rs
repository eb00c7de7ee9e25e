//! Accelerator links: DL flits of UALink and longest packets of NVLink, with their CRC, beside memcpy of the same bytes.
//!
//! A DL flit is made of header, segment headers and 157 sectors, and judged and cut into them; a packet of 18 flits is sealed
//! as the next one of its stream, and read as one. What they carry is random and costs nothing here. The peer takes the
//! CRC from its definition, bit by bit, and does all else the same way. `table` rows are what a CPU without carry-less
//! multiplication does.

use std::hint::black_box;

use scalepool_protocols::check::{Simd, crc25::Crc25};
use scalepool_protocols::nvlink::stream::{Packer, Unpacker};
use scalepool_protocols::nvlink::{MAX_DATA_FLITS, NvlConfig, NvlHeader, Op, Packet};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::crc::crc_bitwise;
use scalepool_protocols::ualink::flit::{DlFlit, FLIT_BYTES, Payload};
use scalepool_protocols::ualink::header::{CommandHeader, UalHeader};

use super::Effort;
use super::race::{Numbers, Variant, limited, race};
use super::table::{Row, Table};

/// DL flits a call: 20 KB, in and out 40 KB.
const FLITS: usize = 32;
/// Million DL flits a second that encoding and decoding want to reach: 2.5 GB/s.
const FLIT_AIM: f64 = 4.0;
/// Packets a call: 18 KB.
const PACKETS: usize = 64;
/// Million packets a second that sealing and reading want to reach: 1.4 GB/s.
const PACKET_AIM: f64 = 5.0;

const CONFIG: UalConfig = UalConfig::SHEET;

/// Header, segment headers and sectors.
type Parts = (UalHeader, Payload);

fn encode(parts: &Parts) -> DlFlit {
    DlFlit::new(&parts.0, &parts.1, &CONFIG).expect("a header that fits")
}

fn encode_bitwise(parts: &Parts) -> DlFlit {
    let mut flit = DlFlit::ZERO;
    flit.set_header_bits(parts.0.to_bits().expect("a header that fits"));
    flit.set_payload(&parts.1);
    flit.set_crc(crc_bitwise(&flit.0, CONFIG.crc_order, CONFIG.crc_coverage));
    flit
}

fn decode(flit: &DlFlit) -> Option<Parts> {
    (flit.crc() == flit.expected_crc(&CONFIG)).then(|| (flit.header(), flit.payload()))
}

fn decode_bitwise(flit: &DlFlit) -> Option<Parts> {
    let crc = crc_bitwise(&flit.0, CONFIG.crc_order, CONFIG.crc_coverage);
    (flit.crc() == crc).then(|| (flit.header(), flit.payload()))
}

/// Adds the rows of both links.
pub fn measure(effort: Effort, table: &mut Table) {
    ualink(effort, table);
    nvlink(effort, table);
}

fn ualink(effort: Effort, table: &mut Table) {
    let mut numbers = Numbers(640);
    let parts: Vec<Parts> = (0..FLITS)
        .map(|n| {
            let header = CommandHeader { payload: true, ack_req_seq: 511, seq_lo: n as u8 & 7, ..Default::default() };
            let mut payload = Payload::ZERO;
            payload.headers.iter_mut().for_each(|header| *header = numbers.next() as u8);
            payload.sectors.iter_mut().for_each(|sector| *sector = (numbers.next() as u32).to_le_bytes());
            (UalHeader::Command(header), payload)
        })
        .collect();
    let flits: Vec<DlFlit> = parts.iter().map(encode).collect();
    for (parts, flit) in parts.iter().zip(&flits) {
        assert_eq!(*flit, encode_bitwise(parts));
        assert_eq!(decode(flit).as_ref(), Some(parts));
        assert_eq!(decode_bitwise(flit).as_ref(), Some(parts));
    }
    let mut out = [(); 4].map(|_| flits.clone());
    let [best, by_table, bitwise, copied] = &mut out;
    let encode_all = |out: &mut Vec<DlFlit>, encode: fn(&Parts) -> DlFlit| {
        for (to, from) in black_box(out).iter_mut().zip(black_box(&parts)) {
            *to = encode(from);
        }
    };
    let encoders: [Variant; 4] = [
        Box::new(|| encode_all(best, encode)),
        Box::new(|| limited(Simd::Off, || encode_all(by_table, encode))),
        Box::new(|| encode_all(bitwise, encode_bitwise)),
        Box::new(|| black_box(&mut *copied).copy_from_slice(black_box(&flits))),
    ];
    let encoded = race(effort, FLITS, encoders);
    let decode_all = |decode: fn(&DlFlit) -> Option<Parts>| {
        black_box(&flits).iter().for_each(|flit| {
            black_box(decode(flit));
        });
    };
    let decoders: [Variant; 3] = [
        Box::new(|| decode_all(decode)),
        Box::new(|| limited(Simd::Off, || decode_all(decode))),
        Box::new(|| decode_all(decode_bitwise)),
    ];
    let decoded = race(effort, FLITS, decoders);
    let bytes = FLIT_BYTES as f64;
    rows(table, Link { what: "UALink", unit: "M flit/s", aim: FLIT_AIM, bytes }, encoded, decoded);
}

/// Definition of the CRC, as the peer takes it.
fn crc_of(previous: &Packet, packet: &Packet) -> u32 {
    let crc = Crc25::default();
    let covered = previous.payload().iter().fold(crc.start(), |register, &flit| crc.bitwise(register, flit, 128));
    crc.finish(crc.bitwise(covered, packet.header_bits(), 103))
}

fn nvlink(effort: Effort, table: &mut Table) {
    let mut numbers = Numbers(18);
    let plain: Vec<Packet> = (0..PACKETS)
        .map(|n| {
            let data: Vec<u8> = (0..MAX_DATA_FLITS).flat_map(|_| numbers.next().to_le_bytes()).collect();
            let vc = NvlConfig::default().vc_of(Op::WRITE_POSTED).expect("a channel of writes");
            let header = NvlHeader { op: Op::WRITE_POSTED, vc, tag: n as u16, ..NvlHeader::default() };
            Packet::build(header, Some(Default::default()), None, &data).expect("a legal packet")
        })
        .collect();
    let seal_all = |out: &mut Vec<Packet>| {
        let mut packer = Packer::default();
        black_box(out).iter_mut().zip(black_box(&plain)).for_each(|(to, packet)| *to = packer.seal(packet));
    };
    let seal_bitwise = |out: &mut Vec<Packet>| {
        let mut previous = Packet::new(&[0]).expect("one flit");
        for (to, packet) in black_box(out).iter_mut().zip(black_box(&plain)) {
            *to = packet.with_crc(crc_of(&previous, packet));
            previous = *packet;
        }
    };
    let read_all = |packets: &Vec<Packet>| {
        let mut unpacker = Unpacker::default();
        black_box(packets).iter().all(|packet| black_box(unpacker.read(packet)).is_good())
    };
    let read_bitwise = |packets: &Vec<Packet>| {
        let mut previous = Packet::new(&[0]).expect("one flit");
        black_box(packets).iter().all(|packet| {
            let good = black_box(packet.crc() == crc_of(&previous, packet));
            previous = *packet;
            good
        })
    };
    let mut sealed = plain.clone();
    seal_all(&mut sealed);
    let mut out = [(); 4].map(|_| plain.clone());
    seal_bitwise(&mut out[0]);
    assert!(out[0] == sealed && read_all(&sealed) && read_bitwise(&sealed));
    let [best, by_table, bitwise, copied] = &mut out;
    let encoders: [Variant; 4] = [
        Box::new(|| seal_all(best)),
        Box::new(|| limited(Simd::Off, || seal_all(by_table))),
        Box::new(|| seal_bitwise(bitwise)),
        Box::new(|| black_box(&mut *copied).copy_from_slice(black_box(&sealed))),
    ];
    let encoded = race(effort, PACKETS, encoders);
    let decoders: [Variant; 3] = [
        Box::new(|| assert!(read_all(&sealed))),
        Box::new(|| limited(Simd::Off, || assert!(read_all(&sealed)))),
        Box::new(|| assert!(read_bitwise(&sealed))),
    ];
    let decoded = race(effort, PACKETS, decoders);
    let bytes = plain[0].bytes().count() as f64;
    rows(table, Link { what: "NVLink 18 flits", unit: "M packet/s", aim: PACKET_AIM, bytes }, encoded, decoded);
}

/// What a link's rows say.
struct Link {
    what: &'static str,
    unit: &'static str,
    /// Million items a second.
    aim: f64,
    /// Of an item.
    bytes: f64,
}

/// Rates of encoding (ours, table, bit by bit, memcpy) and decoding.
fn rows(table: &mut Table, link: Link, encoded: [f64; 4], decoded: [f64; 3]) {
    let [best_encode, table_encode, bitwise_encode, memcpy] = encoded;
    let [best_decode, table_decode, bitwise_decode] = decoded;
    for (what, ours, peer) in [
        ("encode", best_encode, bitwise_encode),
        ("encode, table", table_encode, bitwise_encode),
        ("decode", best_decode, bitwise_decode),
        ("decode, table", table_decode, bitwise_decode),
    ] {
        let (what, peer) = (format!("{} {what}", link.what), Some(("bitwise", peer)));
        table.row(Row { what, unit: link.unit, ours, peer, aim: None, memcpy: Some(memcpy) });
    }
    let aim = |rate: f64| if rate >= link.aim { "met" } else { "MISSED" };
    table.remark(format!(
        "{} with CRC: aim {} {} ({:.1} GB/s), encode {} ({:.1} GB/s), decode {} ({:.1} GB/s)",
        link.what,
        link.aim,
        link.unit,
        link.aim * link.bytes / 1e3,
        aim(best_encode),
        best_encode * link.bytes / 1e3,
        aim(best_decode),
        best_decode * link.bytes / 1e3,
    ));
}
