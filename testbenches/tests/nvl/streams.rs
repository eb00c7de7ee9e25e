//! Any bytes through decoder, checks and JSON form and back; what the encoder fills in; known bytes.

use super::common::*;
use scalepool::forms::flit_nvl::{self, NvlPacketDecoder, NvlPacketEncoder};
use scalepool_protocols::cxl::Dir;
use serde_json::{Value, json};

/// The form as an encoder reads it, with the CRC that stands in it.
fn forced(mut form: Value) -> Value {
    let found = form["crc"]["found"].clone();
    form["crc"] = json!({"force": found});
    if let Value::Object(form) = &mut form {
        form.remove("hex");
    }
    form
}

/// Decode, print, read again: the same flits.
fn round_trip(packets: &[Packet]) {
    let (mut decoder, mut encoder) =
        (NvlPacketDecoder::default(), NvlPacketEncoder::new(NvlConfig::default(), Some(Dir::Up)));
    for (n, packet) in packets.iter().enumerate() {
        let (decoded, findings) = decoder.read(packet);
        assert!(findings.violations.iter().all(|v| !v.to_string().is_empty()));
        assert!(decoded.is_good() || !findings.violations.is_empty());
        let form = flit_nvl::to_json(&decoded, &findings, Dir::Up, n as u64);
        let again = encoder.encode(&forced(form.clone())).unwrap_or_else(|e| panic!("{form} is refused: {e:?}"));
        assert_eq!((again.packet, &again.form), (*packet, &form), "packet {n}");
    }
}

#[test]
fn any_bytes() {
    let mut random = Random::new(7);
    for n in 0..300 {
        let mut packer = Packer::default();
        let packets: Vec<Packet> = (0..12)
            .map(|_| {
                let flits: Vec<u128> = (0..1 + random.below(18)).map(|_| random.wide()).collect();
                let packet = Packet::new(&flits).expect("1 to 18 flits");
                if n % 2 == 0 { packer.seal(&packet) } else { packet }
            })
            .collect();
        round_trip(&packets);
    }
}

#[test]
fn legal_streams_and_single_wrong_bits() {
    let mut random = Random::new(8);
    for n in 0..100 {
        let mut packer = Packer::default();
        let mut packets: Vec<Packet> = (0..20).map(|_| packer.seal(&random_packet(&mut random))).collect();
        let mut decoder = NvlPacketDecoder::default();
        // A link packet has no AE in these streams, so nothing is broken.
        assert!(packets.iter().all(|p| decoder.read(p).1.violations.is_empty()));
        if n % 2 == 0 {
            let at = random.below(packets.len());
            let bits = packets[at].header_bits() ^ 1 << random.below(128);
            packets[at] = packets[at].with_header_bits(bits);
        }
        round_trip(&packets);
    }
}

/// `len`, `ae`, `be`, `size` and `vc` follow from the parts.
#[test]
fn the_encoder_fills_in_what_follows() {
    let mut encoder = NvlPacketEncoder::new(NvlConfig::default(), Some(Dir::Down));
    let form = json!({"packet": {
        "header": {"op": "WRITE_POSTED", "address": "0x1230", "tag": 5, "crc": 1},
        "ae": {"address": "0x4000000000"}, "be": "ff00000000000000ffffffffffffffff", "data": "00".repeat(32),
    }});
    let encoded = encoder.encode(&form).expect("it can be written");
    let header = encoded.packet.header();
    assert_eq!((header.len, header.ae, header.be, header.size, header.vc), (4, true, true, 1, Vc::CREQ1));
    assert!(encoded.findings.violations.is_empty(), "{:?}", encoded.findings);
    assert_eq!(encoded.form["kind"], "protocol");
    // Known bytes: reset state, READ of 16 bytes at 0 with tag 1; fields by hand from `nvlink` §6.1, CRC by the oracle.
    let read = encoder.encode(&json!({"dir": "down", "packet": {"header": {"op": 1, "tag": 1}}})).expect("legal");
    let bits = read.packet.header_bits();
    assert_eq!(bits & ((1 << 103) - 1), 1 << 97 | 1 << 84);
}

#[test]
fn what_cannot_be_written() {
    let mut encoder = NvlPacketEncoder::new(NvlConfig::default(), Some(Dir::Down));
    let cases = [
        (json!({}), "flit: found no key `packet`"),
        (json!({"packet": {}, "slots": []}), "flit: found key `slots`"),
        (json!({"packet": {"header": {"ackid": 4096}}}), "field `ackid` at bits 11:0"),
        (json!({"packet": {"header": {"op": "NOP"}}}), "field `op`"),
        (json!({"packet": {"data": "00".repeat(17)}}), "packet.data: found 17 bytes"),
        (json!({"packet": {"data": "00".repeat(16 * 18)}}), "packet: found 19 flits, expected 1 to 18 flits"),
        (json!({"packet": {"be": "00"}}), "packet.be: found 1 bytes, expected 16 bytes"),
        (json!({"packet": {}, "kind": "protocol"}), "kind: found \"protocol\", expected `idle`"),
        (json!({"packet": {}, "crc": {"force": "0x2000000"}}), "crc.force"),
        (json!({"packet": {}, "protocol": "ualink"}), "protocol: found \"ualink\""),
        (json!({"packet": {}, "dir": "up"}), "dir: found up, expected down"),
    ];
    for (form, expected) in cases {
        let error = encoder.encode(&form).unwrap_err().to_string();
        assert!(error.contains(expected), "{form}: {error}");
    }
    assert!(flit_nvl::packet(&[0; 15]).unwrap_err().to_string().contains("found 15 bytes"));
}
