//! An object to its flit.

use super::decode::almp_word;
use super::{Cxl256FlitDecoder, KINDS, RESERVED_FORMAT, control, to_json};
use crate::{FormError, Object, almp, flit_io, message, number, object, shown, stream, text};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::almp::{Almp, L0p};
use scalepool_protocols::cxl::cxl256::check::{self, Findings};
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::crd::{Crd, RequestCredit};
use scalepool_protocols::cxl::cxl256::flit::{self, Cxl256Flit, DLLP_BYTES, SLOTS, crc_parts};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::slot::{self, SlotKind};
use scalepool_protocols::cxl::cxl256::{Class, Mode, Routing};
use scalepool_protocols::wire::Wire;
use serde_json::Value;

/// Keys of every object. Those behind `header` are what a decoder prints and an encoder works out; they are passed over.
const COMMON: [&str; 9] = ["protocol", "dir", "index", "kind", "header", "fec", "violations", "lints", "hex"];

/// A flit that was built from an object.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The bytes.
    pub unit: Cxl256Flit,
    /// What a receiver finds, and where the sender meant something that a receiver cannot see.
    pub findings: Findings,
    /// The object, completed: what a receiver sees.
    pub form: Value,
}

/// Builds flits from objects; keeps one stream a direction.
#[derive(Debug, Clone)]
pub struct Cxl256FlitEncoder {
    mode: Mode,
    default_dir: Option<Dir>,
    streams: [Cxl256FlitDecoder; 2],
    units: u64,
}

impl Cxl256FlitEncoder {
    /// Streams of which nothing has been sent. `default_dir` is the direction of objects without `dir`.
    pub fn new(mode: Mode, default_dir: Option<Dir>) -> Cxl256FlitEncoder {
        Cxl256FlitEncoder::with_config(mode, default_dir, Cxl256Config::default())
    }

    /// The same, judged by a configuration.
    pub fn with_config(mode: Mode, default_dir: Option<Dir>, config: Cxl256Config) -> Cxl256FlitEncoder {
        let streams = Dir::ALL.map(|dir| Cxl256FlitDecoder::with_config(mode, dir, config));
        Cxl256FlitEncoder { mode, default_dir, streams, units: 0 }
    }

    /// Builds the next flit. Without `index` in the object, flits are counted from 0.
    ///
    /// # Errors
    /// What cannot be written into a flit: unknown keys and names, values that do not fit, messages without a place or
    /// with bits that their slot drops. What can be written and is against the rules is a finding. After an error the
    /// streams are as before.
    pub fn encode(&mut self, form: &Value) -> Result<Encoded, FormError> {
        let dir = stream::dir(form, self.default_dir)?;
        let meant = Meant::read(form, self.mode)?;
        let index = stream::index(form, self.units)?;
        let (seen, mut findings) = self.streams[dir as usize].read(&meant.unit);
        if seen.is_good() && seen.has_slots() {
            let slots = meant.data.iter().zip(&seen.roles).enumerate();
            let unseen = slots.filter_map(|(n, (data, role))| check::intent(self.mode, n, (*data)?, role));
            findings.violations.extend(unseen);
        }
        self.units += 1;
        Ok(Encoded { unit: meant.unit, form: to_json(&seen, &findings, index), findings })
    }
}

/// A flit as its object describes it.
struct Meant {
    unit: Cxl256Flit,
    /// For each slot: data (`true`) or messages (`false`) are meant to stand there.
    data: [Option<bool>; SLOTS],
}

impl Meant {
    fn read(form: &Value, mode: Mode) -> Result<Meant, FormError> {
        let kinds = || format!("one of: {}", KINDS.map(|(name, _)| name).join(", "));
        let kind = form.as_object().ok_or_else(|| FormError::new("flit", shown(form), "an object"))?.get("kind");
        let kind = text(kind.ok_or_else(|| FormError::new("flit", "no key `kind`", kinds()))?, "kind", "a string")?;
        let flit_type = KINDS.iter().find(|(name, _)| *name == kind).map(|(_, flit_type)| *flit_type);
        let flit_type = flit_type.ok_or_else(|| FormError::new("kind", shown(&kind.into()), kinds()))?;
        let own: &[&str] = match kind {
            "control" => &["control", "slots", "crd", "crc"],
            "protocol" | "empty" => &["slots", "crd", "crc"],
            "almp" => &["almp", "data", "crc"],
            "io" => &["tlps", "dllp", "crc"],
            _ => &["dllp", "data", "crc"],
        };
        let form = object(form, "flit", &[&COMMON[..5], own, &COMMON[5..]].concat())?;
        if let Some(protocol) = form.get("protocol")
            && protocol != mode.protocol()
        {
            return Err(FormError::new("protocol", shown(protocol), mode.protocol()));
        }
        let mut meant = Meant { unit: Cxl256Flit::ZERO, data: [None; SLOTS] };
        meant.header(form, flit_type)?;
        match flit_type {
            FlitType::Cachemem => meant.cachemem(form, kind, mode)?,
            FlitType::Io => meant.io(form, mode)?,
            FlitType::Almp => meant.almp(form, mode)?,
            _ => meant.nop(form, mode)?,
        }
        meant.unit.seal(mode);
        if let Some(crc) = form.get("crc") {
            meant.force(crc, mode)?;
        }
        Ok(meant)
    }

    fn header(&mut self, form: &Object, flit_type: FlitType) -> Result<(), FormError> {
        let own = FlitHeader { flit_type, ..FlitHeader::default() };
        let mut header = own;
        if let Some(fields) = form.get("header") {
            header = FlitHeader::from_bits(message::fields_from_json(FlitHeader::DEF, own.to_bits()?, fields)?);
        }
        if form.get("header").is_none_or(|fields| fields.get("seq").is_none()) {
            header.seq = header.first_seq();
        }
        if header.flit_type != flit_type {
            let expected = format!("{flit_type:?}, the type of this kind of flit");
            return Err(FormError::new("header.flit_type", format!("{:?}", header.flit_type), expected));
        }
        Ok(self.unit.set_header(&header)?)
    }

    fn cachemem(&mut self, form: &Object, kind: &str, mode: Mode) -> Result<(), FormError> {
        let mut seen = [false; SLOTS];
        let mut hex_of_slot0 = None;
        for (i, entry) in list(form, "slots")?.iter().enumerate() {
            let at = format!("slots[{i}]");
            let entry = object(entry, &at, &["slot", "format", "messages", "control", "data", "hex"])?;
            let number = entry.get("slot").ok_or_else(|| FormError::new(&at, "no key `slot`", "0 to 14"))?;
            let n = number::from_json(number, &format!("{at}.slot"))?;
            let n = usize::try_from(n).ok().filter(|&n| n < SLOTS);
            let n = n.ok_or_else(|| FormError::new(format!("{at}.slot"), shown(number), "0 to 14"))?;
            if std::mem::replace(&mut seen[n], true) {
                return Err(FormError::new(format!("{at}.slot"), shown(number), "each slot once"));
            }
            let hex =
                entry.get("hex").map(|hex| bits(hex, &format!("{at}.hex"), mode.slot_kind(n).bytes())).transpose()?;
            self.slot(entry, &at, n, hex, mode)?;
            if n == 0 {
                hex_of_slot0 = hex;
            }
        }
        if kind == "control" {
            let control = form
                .get("control")
                .ok_or_else(|| FormError::new("flit", "no key `control`", "an object with `name` and `fields`"))?;
            self.unit.set_slot(mode, 0, control::from_json(control, hex_of_slot0)?);
        }
        let own = match kind {
            "empty" => Crd { request: RequestCredit::EmptyFlit, ..Crd::default() },
            _ => Crd::default(),
        };
        let crd = match form.get("crd") {
            Some(fields) => Crd::from_bits(message::fields_from_json(Crd::DEF, own.to_bits()?, fields)?),
            None => own,
        };
        Ok(self.unit.set_crd(&crd)?)
    }

    /// One entry of `slots`; `hex` is what stands under that key of it.
    fn slot(&mut self, form: &Object, at: &str, n: usize, hex: Option<u128>, mode: Mode) -> Result<(), FormError> {
        let kind = mode.slot_kind(n);
        let mut bits_of_slot = hex.unwrap_or(0);
        if let Some(data) = form.get("data") {
            let at = format!("{at}.data");
            if kind != SlotKind::G {
                return Err(FormError::new(at, "data", "no data in an H or HS slot (CXL256-DAT-03)"));
            }
            self.unit.set_slot(mode, n, bits(data, &at, kind.bytes())?);
            self.data[n] = Some(true);
            return match form.get("messages").and_then(Value::as_array).is_some_and(|m| !m.is_empty()) {
                true => Err(FormError::new(at, "messages beside `data`", "one of them")),
                false => Ok(()),
            };
        }
        if let Some(name) = form.get("format") {
            bits_of_slot = bits_of_slot & !0xf | u128::from(code_of(name, at, n, mode, hex)?);
        }
        if let Some(control) = form.get("control") {
            bits_of_slot = control::from_json(control, hex).map_err(|e| e.within(at))?;
        }
        if let Some(messages) = form.get("messages") {
            bits_of_slot = put_messages(messages, &format!("{at}.messages"), n, mode, bits_of_slot)?;
            self.data[n] = Some(false).filter(|_| bits_of_slot >> 4 != 0);
        }
        self.unit.set_slot(mode, n, bits_of_slot);
        Ok(())
    }

    fn io(&mut self, form: &Object, mode: Mode) -> Result<(), FormError> {
        let mut body = vec![0; flit::body_bytes(mode)];
        if let Some(tlps) = form.get("tlps") {
            let room = body.len() - DLLP_BYTES;
            flit_io::tlps_from_json(tlps, &mut body[..room], mode.routing() == Routing::Pbr)?;
        }
        dllp(form, &mut body)?;
        self.unit.set_body(mode, body);
        Ok(())
    }

    fn nop(&mut self, form: &Object, mode: Mode) -> Result<(), FormError> {
        let mut body = body(form, mode)?;
        dllp(form, &mut body)?;
        self.unit.set_body(mode, body);
        Ok(())
    }

    fn almp(&mut self, form: &Object, mode: Mode) -> Result<(), FormError> {
        let expected = "an object with `kind`, `state` and `instance`";
        let almp = form.get("almp").ok_or_else(|| FormError::new("flit", "no key `almp`", expected))?;
        let def = if almp.get("width").is_some() { L0p::DEF } else { Almp::DEF };
        let mut body = body(form, mode)?;
        let own = if form.contains_key("data") { almp_word(&body) } else { def.default_bits() as u32 };
        body[..4].copy_from_slice(&almp::from_json(def, almp, own)?.to_le_bytes());
        self.unit.set_body(mode, body);
        Ok(())
    }

    /// Writes the CRCs that the object forces, and the FEC over them.
    fn force(&mut self, crc: &Value, mode: Mode) -> Result<(), FormError> {
        let own = ["force", "ok", "found", "expected"];
        let halves = ["ok", "even", "odd"];
        let form = object(crc, "crc", if mode.is_lopt() { &halves } else { &own })?;
        for part in crc_parts(mode) {
            let (form, at) = match (part.half, form.get(part.half)) {
                ("", _) => (form, "crc.force".to_owned()),
                (half, Some(given)) => {
                    let at = format!("crc.{half}");
                    (object(given, &at, &own)?, format!("{at}.force"))
                }
                (_, None) => continue,
            };
            let Some(force) = form.get("force") else { continue };
            let value = number::from_json(force, &at)?;
            let max = u64::MAX >> (64 - 8 * part.bytes.len());
            let value = u64::try_from(value).ok().filter(|&v| v <= max);
            let value = value.ok_or_else(|| FormError::new(at, shown(force), format!("at most {max:#x}")))?;
            part.put(&mut self.unit, value);
        }
        self.unit.seal_fec(mode);
        Ok(())
    }
}

/// The list under a key; empty without one.
fn list<'a>(form: &'a Object, key: &str) -> Result<&'a [Value], FormError> {
    match form.get(key) {
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(FormError::new(key, shown(other), "a list of objects")),
        None => Ok(&[]),
    }
}

/// `bytes` bytes of hex as the bits of a slot.
fn bits(hex: &Value, at: &str, bytes: usize) -> Result<u128, FormError> {
    let given = number::bytes_of(text(hex, at, "a string of hexadecimal digits")?, at)?;
    if given.len() != bytes {
        return Err(FormError::new(at, format!("{} bytes", given.len()), format!("{bytes} bytes")));
    }
    Ok(given.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
}

/// The body under `data`; zeros without one.
fn body(form: &Object, mode: Mode) -> Result<Vec<u8>, FormError> {
    let bytes = flit::body_bytes(mode);
    let Some(hex) = form.get("data") else { return Ok(vec![0; bytes]) };
    let given = number::bytes_of(text(hex, "data", "a string of hexadecimal digits")?, "data")?;
    match given.len() == bytes {
        true => Ok(given),
        false => Err(FormError::new("data", format!("{} bytes", given.len()), format!("{bytes} bytes"))),
    }
}

/// Writes `dllp` to the end of a body.
fn dllp(form: &Object, body: &mut [u8]) -> Result<(), FormError> {
    let Some(given) = form.get("dllp") else { return Ok(()) };
    let at = body.len() - DLLP_BYTES;
    body[at..].copy_from_slice(&flit_io::dllp_from_json(given, "dllp")?.0);
    Ok(())
}

/// The code that the name of a format stands for; a reserved one stands in `hex`.
fn code_of(name: &Value, at: &str, n: usize, mode: Mode, hex: Option<u128>) -> Result<u8, FormError> {
    let at = format!("{at}.format");
    let rows = slot::formats(mode, n);
    let text = text(name, &at, "a string")?;
    if let Some(row) = rows.iter().find(|f| f.name == text) {
        return Ok(row.code);
    }
    let of_hex = hex.map(slot::code).filter(|&code| slot::format(mode, n, code).is_none());
    match of_hex {
        Some(code) if text == RESERVED_FORMAT => Ok(code),
        _ => {
            let names = rows.iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
            let expected = format!("one of: {names}, or {RESERVED_FORMAT} beside `hex` with a reserved code");
            Err(FormError::new(at, shown(name), expected))
        }
    }
}

/// Puts each message in the first place of its kind that no message before it took.
fn put_messages(messages: &Value, at: &str, n: usize, mode: Mode, bits: u128) -> Result<u128, FormError> {
    let list = messages.as_array().ok_or_else(|| FormError::new(at, shown(messages), "a list of messages"))?;
    let format = slot::format(mode, n, slot::code(bits));
    let mut places: Vec<_> = format.into_iter().flat_map(|f| f.places()).collect();
    let mut bits = bits;
    for (i, form) in list.iter().enumerate() {
        let at = format!("{at}[{i}]");
        let (def, message) = message::message_from_json(form).map_err(|e| e.within(&at))?;
        let class = Class::of(def, mode.routing());
        let free = places.iter().position(|p| Some(p.class) == class);
        let (Some(free), Some(format)) = (free, format) else {
            let (name, held) = match format {
                Some(f) if !f.classes.is_empty() => {
                    let held = f.classes.iter().map(|c| c.def(f.routing).name).collect::<Vec<_>>();
                    (f.name, held.join(", "))
                }
                other => (other.map_or(RESERVED_FORMAT, |f| f.name), "no message".to_owned()),
            };
            return Err(FormError::new(at, def.name, format!("a free place of format {name}, which holds: {held}")));
        };
        let place = places.remove(free);
        if let Err(dropped) = check::zero_extension(&place, format, message) {
            let expected = format!("0: {} ({})", dropped.text, dropped.rule);
            return Err(FormError::new(format!("{at}: {}", dropped.at), dropped.found, expected));
        }
        bits = place.insert(bits, message);
    }
    Ok(bits)
}
