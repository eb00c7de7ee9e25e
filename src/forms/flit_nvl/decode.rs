//! A packet to its object.

use super::{PROTOCOL, kind_name};
use crate::{Object, message, number, violation};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::nvlink::check::{self, Findings};
use scalepool_protocols::nvlink::stream::{NvlDecodedPacket, Unpacker};
use scalepool_protocols::nvlink::{Ae, NvlConfig, NvlHeader, Packet};
use scalepool_protocols::wire::Wire;
use serde_json::Value;

/// Reads packets of one direction as one stream.
#[derive(Debug, Clone, Default)]
pub struct NvlPacketDecoder(Unpacker);

impl NvlPacketDecoder {
    /// A stream of which nothing has been read.
    pub fn new(config: NvlConfig) -> NvlPacketDecoder {
        NvlPacketDecoder(Unpacker::new(config))
    }

    /// Checks the next packet.
    pub fn read(&mut self, packet: &Packet) -> (NvlDecodedPacket, Findings) {
        let decoded = self.0.read(packet);
        let findings = check::packet(&decoded, self.0.config());
        (decoded, findings)
    }

    /// The stream goes on behind a packet, whatever was read before.
    pub(super) fn goes_on_behind(&mut self, packet: Option<&Packet>) {
        self.0.goes_on_behind(packet);
    }

    /// The packet with the CRC that fits here; the stream does not go on.
    pub(super) fn sealed(&self, packet: &Packet) -> Packet {
        packet.with_crc(self.0.crc_of_next(packet.header_bits()))
    }
}

/// The object of a packet; `index` counts the packets of the stream from 0.
pub fn to_json(decoded: &NvlDecodedPacket, findings: &Findings, dir: Dir, index: u64) -> Value {
    let packet = &decoded.packet;
    let mut form = Object::new();
    form.insert("protocol".into(), PROTOCOL.into());
    form.insert("dir".into(), dir.name().into());
    form.insert("index".into(), index.into());
    form.insert("kind".into(), kind_name(packet.header().op).into());
    form.insert("packet".into(), parts(packet));
    let mut crc = Object::new();
    crc.insert("ok".into(), decoded.is_good().into());
    crc.insert("found".into(), word(packet.crc()));
    crc.insert("expected".into(), word(decoded.expected_crc));
    form.insert("crc".into(), Value::Object(crc));
    form.insert("violations".into(), violation::list_to_json(&findings.violations));
    form.insert("hex".into(), number::hex(&packet.bytes().collect::<Vec<_>>()).into());
    Value::Object(form)
}

/// 25 bits in hex.
fn word(crc: u32) -> Value {
    format!("{crc:#09x}").into()
}

fn parts(packet: &Packet) -> Value {
    let parts = packet.parts();
    let mut form = Object::new();
    form.insert("header".into(), message::fields_to_json(NvlHeader::DEF, packet.header_bits()));
    if let Some(ae) = parts.ae {
        form.insert("ae".into(), message::fields_to_json(Ae::DEF, ae));
    }
    if let Some(be) = parts.be {
        form.insert("be".into(), number::hex(&be.to_le_bytes()).into());
    }
    if !parts.data.is_empty() {
        let data: Vec<u8> = parts.data.iter().flat_map(|flit| flit.to_le_bytes()).collect();
        form.insert("data".into(), number::hex(&data).into());
    }
    Value::Object(form)
}
