//! An object to its packet.

use super::{NvlPacketDecoder, PROTOCOL, kind_name, to_json};
use crate::{FormError, Object, message, number, object, shown, stream, text};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::nvlink::check::Findings;
use scalepool_protocols::nvlink::{Ae, FLIT_BYTES, MAX_DATA_FLITS, NvlConfig, NvlHeader, Packet};
use scalepool_protocols::wire::Wire;
use serde_json::Value;

/// Keys of an object. `violations` and `hex` are what a decoder prints; they are passed over.
const KEYS: [&str; 8] = ["protocol", "dir", "index", "kind", "packet", "crc", "violations", "hex"];

/// A packet that was built from an object.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The flits.
    pub packet: Packet,
    /// What a receiver finds.
    pub findings: Findings,
    /// The object, completed: what a receiver sees.
    pub form: Value,
}

/// Builds packets from objects; keeps one stream a direction.
#[derive(Debug, Clone)]
pub struct NvlPacketEncoder {
    config: NvlConfig,
    default_dir: Option<Dir>,
    streams: [NvlPacketDecoder; 2],
    packets: u64,
}

impl NvlPacketEncoder {
    /// Streams of which nothing has been sent. `default_dir` is the direction of objects without `dir`.
    pub fn new(config: NvlConfig, default_dir: Option<Dir>) -> NvlPacketEncoder {
        NvlPacketEncoder { config, default_dir, streams: Dir::ALL.map(|_| NvlPacketDecoder::new(config)), packets: 0 }
    }

    /// Builds the next packet. Without `index` in the object, packets are counted from 0.
    ///
    /// # Errors
    /// What cannot be written into a packet: unknown keys and names, values that do not fit, data that is no whole number
    /// of flits, more than 18 flits. What can be written and is against the rules is a finding. After an error the streams
    /// are as before.
    pub fn encode(&mut self, form: &Value) -> Result<Encoded, FormError> {
        let dir = stream::dir(form, self.default_dir)?;
        let index = stream::index(form, self.packets)?;
        let form = object(form, "flit", &KEYS)?;
        if let Some(protocol) = form.get("protocol")
            && protocol != PROTOCOL
        {
            return Err(FormError::new("protocol", shown(protocol), PROTOCOL));
        }
        let stream = &mut self.streams[dir as usize];
        let packet = stream.sealed(&packet(form, &self.config)?);
        let packet = match forced(form)? {
            Some(crc) => packet.with_crc(crc),
            None => packet,
        };
        if let Some(kind) = form.get("kind")
            && kind != kind_name(packet.header().op)
        {
            let expected = format!("`{}`, the kind of the operation", kind_name(packet.header().op));
            return Err(FormError::new("kind", shown(kind), expected));
        }
        let (decoded, findings) = stream.read(&packet);
        self.packets += 1;
        Ok(Encoded { packet, form: to_json(&decoded, &findings, dir, index), findings })
    }
}

/// The flits, without CRC.
fn packet(form: &Object, config: &NvlConfig) -> Result<Packet, FormError> {
    let expected = "an object with `header`, `ae`, `be`, `data`";
    let parts = form.get("packet").ok_or_else(|| FormError::new("flit", "no key `packet`", expected))?;
    let parts = object(parts, "packet", &["header", "ae", "be", "data"])?;
    let mut flits = vec![0];
    if let Some(ae) = parts.get("ae") {
        flits.push(message::fields_from_json(Ae::DEF, 0, ae).map_err(|e| e.within("packet.ae"))?);
    }
    if let Some(be) = parts.get("be") {
        flits.push(u128::from_le_bytes(number::array_of(be, "packet.be")?));
    }
    let before = flits.len();
    if let Some(data) = parts.get("data") {
        let at = "packet.data";
        let bytes = number::bytes_of(text(data, at, "a string of hexadecimal digits")?, at)?;
        let (chunks, rest) = bytes.as_chunks::<FLIT_BYTES>();
        if !rest.is_empty() {
            return Err(FormError::new(at, format!("{} bytes", bytes.len()), "a whole number of flits, 16 bytes each"));
        }
        flits.extend(chunks.iter().map(|flit| u128::from_le_bytes(*flit)));
    }
    let data = flits.len() - before;
    let packet = Packet::new(&flits)?;
    let given = parts.get("header");
    let has = |key: &str| given.and_then(|h| h.get(key)).is_some();
    let none = Value::Object(Object::new());
    let fields = |bits| message::fields_from_json(NvlHeader::DEF, bits, given.unwrap_or(&none));
    let mut header = NvlHeader::from_bits(fields(0).map_err(|e| e.within("packet.header"))?);
    // What follows from the parts, where the header does not say it.
    if !has("len") {
        header.len = packet.payload().len() as u8;
    }
    if !has("ae") {
        header.ae = parts.contains_key("ae");
    }
    if !has("be") {
        header.be = parts.contains_key("be");
    }
    if !has("size") && header.op.has_data() == Some(true) && (1..=MAX_DATA_FLITS).contains(&data) {
        header.size = (data - 1) as u8;
    }
    if !has("vc") {
        header.vc = config.vc_of(header.op).unwrap_or_default();
    }
    Ok(packet.with_header_bits(header.to_bits()?))
}

/// The CRC that the object forces.
fn forced(form: &Object) -> Result<Option<u32>, FormError> {
    let Some(crc) = form.get("crc") else { return Ok(None) };
    let Some(force) = object(crc, "crc", &["force", "ok", "found", "expected"])?.get("force") else { return Ok(None) };
    let crc = number::from_json(force, "crc.force")?;
    let crc = u32::try_from(crc).ok().filter(|crc| *crc < 1 << 25);
    crc.map(Some).ok_or_else(|| FormError::new("crc.force", shown(force), "at most 0x1ffffff"))
}
