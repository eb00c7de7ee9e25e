//! An object to its flit.

use super::answers::{Answers, UalFlitAnswer};
use super::{PROTOCOL, role};
use crate::{FormError, Object, message, number, object, shown, stream, text};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::code::{FieldType, FlitOp, HalfType};
use scalepool_protocols::ualink::config::UalConfig;
use scalepool_protocols::ualink::control::{ControlField, Writer};
use scalepool_protocols::ualink::flit::{DlFlit, Payload, SECTOR_BYTES, SEGMENTS};
use scalepool_protocols::ualink::half::{HALF_BYTES, Half, MessageHalf, TlFlit};
use scalepool_protocols::ualink::header::{
    CommandHeader, ExplicitHeader, FIRST_SEQ, MAX_SEQ, SegmentHeader, UalHeader,
};
use scalepool_protocols::ualink::segment::{BOUNDS, Packer, SegmentPlace, SegmentSource};
use scalepool_protocols::ualink::stream::Unpacker;
use scalepool_protocols::wire::{LayoutDef, Wire};
use serde_json::Value;
use std::collections::VecDeque;

/// Keys of an object. The last ones are what a decoder prints and an encoder works out; they are passed over.
const KEYS: [&str; 13] = [
    "protocol",
    "dir",
    "index",
    "kind",
    "header",
    "segments",
    "messages",
    "tl_flits",
    "crc",
    "fec",
    "violations",
    "lints",
    "hex",
];

/// One direction.
#[derive(Debug, Clone)]
struct UalDirectionCodec {
    packer: Packer,
    unpacker: Unpacker,
}

/// Builds flits from objects; keeps one stream a direction.
#[derive(Debug, Clone)]
pub struct UalFlitEncoder {
    config: UalConfig,
    default_dir: Option<Dir>,
    directions: [UalDirectionCodec; 2],
    answers: Answers,
    flits: u64,
}

impl UalFlitEncoder {
    /// Streams of which nothing has been sent. `default_dir` is the direction of objects without `dir`.
    pub fn new(default_dir: Option<Dir>) -> UalFlitEncoder {
        UalFlitEncoder::with_config(default_dir, UalConfig::SHEET)
    }

    /// The same, written and judged by a configuration.
    pub fn with_config(default_dir: Option<Dir>, config: UalConfig) -> UalFlitEncoder {
        let direction =
            |dir| UalDirectionCodec { packer: Packer::default(), unpacker: Unpacker::new(config, role(dir)) };
        UalFlitEncoder {
            config,
            default_dir,
            directions: Dir::ALL.map(direction),
            answers: Answers::default(),
            flits: 0,
        }
    }

    /// Builds the next flit and gives all answers that are due now: objects, completed, and why others were refused. After
    /// an object that is refused the streams are as before.
    pub fn encode(&mut self, form: &Value) -> Vec<UalFlitAnswer> {
        match self.build(form) {
            Ok((dir, index, unit)) => {
                self.flits += 1;
                let decoded = self.directions[dir as usize].unpacker.read(&unit);
                self.answers.flit(dir, index, decoded)
            }
            Err(error) => self.refuse(error),
        }
    }

    /// Notes a line that is no object; all answers that are due now.
    pub fn refuse(&mut self, error: FormError) -> Vec<UalFlitAnswer> {
        self.answers.error(error)
    }

    /// The end of the streams: all other answers.
    pub fn finish(&mut self) -> Vec<UalFlitAnswer> {
        self.answers.finish()
    }

    /// The bytes of an object.
    fn build(&mut self, form: &Value) -> Result<(Dir, u64, DlFlit), FormError> {
        let dir = stream::dir(form, self.default_dir)?;
        let index = stream::index(form, self.flits)?;
        let form = object(form, "flit", &KEYS)?;
        if let Some(protocol) = form.get("protocol")
            && protocol != PROTOCOL
        {
            return Err(FormError::new("protocol", shown(protocol), PROTOCOL));
        }
        let packer = &self.directions[dir as usize].packer;
        let (header, has_payload) = header(form)?;
        let (payload, packer) = match form.get("segments") {
            // What a flit before left over stands in these segments.
            Some(segments) => (segments_from_json(segments)?, Packer::default()),
            None => packed(form, has_payload, packer.clone())?,
        };
        let mut unit = DlFlit::ZERO;
        unit.set_header_bits(header);
        unit.set_payload(&payload);
        unit.seal(&self.config);
        if let Some(crc) = form.get("crc") {
            force(crc, &mut unit)?;
        }
        self.directions[dir as usize].packer = packer;
        Ok((dir, index, unit))
    }
}

/// FH\[23:0\], and whether there is payload.
fn header(form: &Object) -> Result<(u32, bool), FormError> {
    let kind = match form.get("kind") {
        Some(kind) => Some(text(kind, "kind", "`protocol` or `nop`")?),
        None => None,
    };
    let has_payload = match kind {
        None | Some("protocol") => true,
        Some("nop") => false,
        Some(other) => return Err(FormError::new("kind", shown(&other.into()), "`protocol` or `nop`")),
    };
    let none = Value::Object(Object::new());
    let fields = form.get("header").unwrap_or(&none);
    let def = header_def(fields)?;
    let own = def.field("payload")?.insert(def.default_bits(), has_payload.into()).map_err(|fault| def.error(fault))?;
    let mut bits = message::fields_from_json(def, own, fields).map_err(|e| e.within("header"))?;
    let payload = def.field("payload")?.extract(bits) != 0;
    for (name, first) in first_numbers(&UalHeader::from_bits(bits as u32), payload) {
        if fields.get(name).is_none() {
            bits = message::set_field(def, bits, name, &first.into())?;
        }
    }
    if kind.is_some() && payload != has_payload {
        return Err(FormError::new("header.payload", u8::from(payload).to_string(), "the one of `kind`"));
    }
    Ok((bits as u32, payload))
}

/// Numbers of a header that does not give them: the first legal ones of a stream (`ualink` §7, reset values). A NOP has
/// the number of the last payload flit, which is 511 before the first one, as what was received last.
fn first_numbers(header: &UalHeader, payload: bool) -> Vec<(&'static str, u16)> {
    let own = if payload { FIRST_SEQ } else { MAX_SEQ };
    match header {
        UalHeader::Explicit(_) => vec![("seq", own)],
        UalHeader::Command(command) => {
            let named = if command.op == FlitOp::ReplayRequest { FIRST_SEQ } else { MAX_SEQ };
            vec![("seq_lo", own & 7), ("ack_req_seq", named)]
        }
    }
}

/// The format of a header: that of its `op`; without one, that to which its fields belong.
fn header_def(fields: &Value) -> Result<&'static LayoutDef, FormError> {
    if let Some(op) = fields.get("op") {
        let only_op = Value::Object(Object::from_iter([("op".to_owned(), op.clone())]));
        let bits = message::fields_from_json(ExplicitHeader::DEF, 0, &only_op).map_err(|e| e.within("header"))?;
        let op: FlitOp = ExplicitHeader::from_bits(bits).op;
        return Ok(if op.is_command() { CommandHeader::DEF } else { ExplicitHeader::DEF });
    }
    let command = ["ack_req_seq", "seq_lo"].iter().any(|key| fields.get(key).is_some());
    Ok(if command { CommandHeader::DEF } else { ExplicitHeader::DEF })
}

/// A list of objects.
fn list<'a>(value: &'a Value, at: &str) -> Result<&'a [Value], FormError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| FormError::new(at, shown(value), "a list of objects"))
}

fn segments_from_json(segments: &Value) -> Result<Payload, FormError> {
    let mut payload = Payload::ZERO;
    let mut given = [false; SEGMENTS];
    for (i, segment) in list(segments, "segments")?.iter().enumerate() {
        let at = format!("segments[{i}]");
        let form = object(segment, &at, &["segment", "header", "data"])?;
        let place = format!("{at}.segment");
        let missing = || FormError::new(place.clone(), "none", "0 to 4");
        let number = number::from_json(form.get("segment").ok_or_else(missing)?, &place)?;
        let n = usize::try_from(number).ok().filter(|&n| n < SEGMENTS);
        let n = n.ok_or_else(|| FormError::new(place.clone(), number.to_string(), "0 to 4"))?;
        if std::mem::replace(&mut given[n], true) {
            return Err(FormError::new(place, number.to_string(), "each segment once"));
        }
        if let Some(header) = form.get("header") {
            let bits = message::fields_from_json(SegmentHeader::DEF, 0, header).map_err(|e| e.within(&at))?;
            payload.headers[n] = bits as u8;
        }
        if let Some(data) = form.get("data") {
            let at = format!("{at}.data");
            let bytes = number::bytes_of(text(data, &at, "a string of hexadecimal digits")?, &at)?;
            let sectors = &mut payload.sectors[BOUNDS[n].0..BOUNDS[n].2];
            if bytes.len() != SECTOR_BYTES * sectors.len() {
                let expected = format!("{} bytes", SECTOR_BYTES * sectors.len());
                return Err(FormError::new(at, format!("{} bytes", bytes.len()), expected));
            }
            for (sector, bytes) in sectors.iter_mut().zip(bytes.chunks_exact(SECTOR_BYTES)) {
                sector.copy_from_slice(bytes);
            }
        }
    }
    Ok(payload)
}

/// What an object wants to send, in order.
struct UalToSend {
    messages: VecDeque<u32>,
    tl: VecDeque<(Option<u128>, Option<u128>, TlFlit)>,
}

impl SegmentSource for UalToSend {
    fn message(&mut self, _segment: usize) -> Option<u32> {
        self.messages.pop_front()
    }

    fn tl_flit(&mut self, segment: usize, place: SegmentPlace) -> Option<TlFlit> {
        let (at, which, _) = self.tl.front()?;
        let here = at.is_none_or(|n| n == segment as u128) && which.is_none_or(|n| n == place as u128);
        if here { self.tl.pop_front().map(|(_, _, flit)| flit) } else { None }
    }
}

/// A payload of `messages` and `tl_flits`, and what is left for the next one.
fn packed(form: &Object, has_payload: bool, mut packer: Packer) -> Result<(Payload, Packer), FormError> {
    let mut wanted = UalToSend { messages: VecDeque::new(), tl: VecDeque::new() };
    if let Some(messages) = form.get("messages") {
        for (i, message) in list(messages, "messages")?.iter().enumerate() {
            wanted.messages.push_back(dl_word(message, &format!("messages[{i}]"))?);
        }
    }
    if let Some(flits) = form.get("tl_flits") {
        for (i, flit) in list(flits, "tl_flits")?.iter().enumerate() {
            wanted.tl.push_back(tl_flit(flit, &format!("tl_flits[{i}]"))?);
        }
    }
    if !has_payload {
        return match wanted.messages.is_empty() && wanted.tl.is_empty() {
            true => Ok((Payload::ZERO, packer)),
            false => Err(FormError::new("flit", "messages or TL flits", "none in a NOP (UAL-SEG-12)")),
        };
    }
    let payload = packer.pack(&mut wanted);
    for (key, left) in [("messages", wanted.messages.len()), ("tl_flits", wanted.tl.len())] {
        if left > 0 {
            let found = format!("{left} that find no place");
            return Err(FormError::new(key, found, "a place for each, in order, behind the carry-over"));
        }
    }
    Ok((payload, packer))
}

fn dl_word(form: &Value, at: &str) -> Result<u32, FormError> {
    for key in ["uart", "hex"] {
        if let Some(hex) = form.get(key) {
            object(form, at, &[key])?;
            return Ok(u32::from_le_bytes(number::array_of(hex, &format!("{at}.{key}"))?));
        }
    }
    let (def, bits) = message::message_from_json(form).map_err(|e| e.within(at))?;
    match u32::try_from(bits) {
        Ok(word) if def.name.starts_with("ualink.dl_") => Ok(word),
        _ => Err(FormError::new(at, def.name, "a DL message")),
    }
}

fn tl_flit(form: &Value, at: &str) -> Result<(Option<u128>, Option<u128>, TlFlit), FormError> {
    let form = object(form, at, &["segment", "place", "lower", "upper"])?;
    let place = |key: &str| match form.get(key) {
        Some(n) => number::from_json(n, &format!("{at}.{key}")).map(Some),
        None => Ok(None),
    };
    let mut flit = TlFlit::default();
    for (n, key) in ["lower", "upper"].into_iter().enumerate() {
        if let Some(half) = form.get(key) {
            (flit.halves[n], flit.message[n]) = half_from_json(half, &format!("{at}.{key}"))?;
        }
    }
    Ok((place("segment")?, place("place")?, flit))
}

/// The bytes of a half and its indicator.
fn half_from_json(form: &Value, at: &str) -> Result<(Half, bool), FormError> {
    const KINDS: [&str; 7] = ["control", "data", "poison", "byte_enables", "auth_tags", "nop", "message"];
    let form = object(form, at, &["kind", "type", "messages", "hex"])?;
    let kind = match form.get("kind") {
        Some(kind) => text(kind, &format!("{at}.kind"), "a string")?,
        None if form.contains_key("type") => "message",
        None => "control",
    };
    if !KINDS.contains(&kind) {
        let expected = format!("one of: {}", KINDS.join(", "));
        return Err(FormError::new(format!("{at}.kind"), shown(&kind.into()), expected));
    }
    let indicator = matches!(kind, "poison" | "message");
    if let Some(hex) = form.get("hex") {
        return Ok((number::array_of::<HALF_BYTES>(hex, &format!("{at}.hex"))?, indicator));
    }
    if indicator {
        let at = format!("{at}.type");
        let message_type = match form.get("type") {
            None if kind == "poison" => HalfType::Poison,
            None => HalfType::NOP,
            Some(Value::String(name)) if HalfType::TABLE.value_of(name).is_some() => {
                HalfType(HalfType::TABLE.value_of(name).unwrap_or(0) as u8)
            }
            Some(other) => match u8::try_from(number::from_json(other, &at)?) {
                Ok(number) => HalfType(number),
                Err(_) => return Err(FormError::new(at, shown(other), "at most 0xff")),
            },
        };
        return Ok((MessageHalf::new(message_type).to_half(), true));
    }
    let mut writer = Writer::default();
    if let Some(messages) = form.get("messages") {
        for (i, message) in list(messages, &format!("{at}.messages"))?.iter().enumerate() {
            let at = format!("{at}.messages[{i}]");
            let (def, bits) = message::message_from_json(message).map_err(|e| e.within(&at))?;
            let field =
                field_of(def, bits).ok_or_else(|| FormError::new(&at, def.name, "a field of a Control half"))?;
            if !writer.put(&field)? {
                let expected = format!("{} free sectors behind the fields before", field.sectors());
                return Err(FormError::new(at, format!("no room for {}", def.name), expected));
            }
        }
    }
    Ok((writer.half(), false))
}

/// The field of a layout, whatever its type field says.
fn field_of(def: &LayoutDef, bits: u128) -> Option<ControlField> {
    let kinds = (0..6).filter_map(|kind| ControlField::from_bits(FieldType(kind), bits));
    kinds.into_iter().find(|field| field.def().name == def.name)
}

/// Writes the CRC that the object forces.
fn force(crc: &Value, unit: &mut DlFlit) -> Result<(), FormError> {
    let form = object(crc, "crc", &["force", "ok", "found", "expected"])?;
    if let Some(force) = form.get("force") {
        let value = number::from_json(force, "crc.force")?;
        let value = u32::try_from(value);
        unit.set_crc(value.map_err(|_| FormError::new("crc.force", shown(force), "at most 0xffffffff"))?);
    }
    Ok(())
}
