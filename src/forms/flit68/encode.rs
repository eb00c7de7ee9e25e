//! An object to its unit.

use super::decode::{RESERVED_FORMAT, default_almp, four_copies};
use super::{Cxl68UnitDecoder, PROTOCOL, control, kind_name, to_json};
use crate::{FormError, Object, almp, message, number, object, shown, stream, text};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check::{self, Findings};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::{Almp, Control};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::slot::{self, SlotContent, SlotFormat};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68SlotRole, Cxl68UnitKind};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, map, payload_of};
use scalepool_protocols::wire::{At, Violation, Wire};
use serde_json::Value;

/// Keys of every object. Those behind `pid` are what a decoder prints and an encoder works out; they are passed over.
const COMMON: [&str; 9] = ["protocol", "dir", "index", "kind", "pid", "fec", "violations", "lints", "hex"];

/// A unit that was built from an object.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The bytes.
    pub unit: Cxl68Unit,
    /// What a receiver finds, and where the sender meant something that a receiver cannot see.
    pub findings: Findings,
    /// The object, completed.
    pub form: Value,
}

/// Builds units from objects; keeps one stream a direction.
#[derive(Debug, Clone)]
pub struct Cxl68UnitEncoder {
    default_dir: Option<Dir>,
    streams: [Cxl68UnitDecoder; 2],
    units: u64,
}

impl Cxl68UnitEncoder {
    /// Streams of which nothing has been sent. `default_dir` is the direction of objects without `dir`.
    pub fn new(default_dir: Option<Dir>) -> Cxl68UnitEncoder {
        Cxl68UnitEncoder::with_config(default_dir, Cxl68Config::default())
    }

    /// The same, judged by a configuration.
    pub fn with_config(default_dir: Option<Dir>, config: Cxl68Config) -> Cxl68UnitEncoder {
        Cxl68UnitEncoder {
            default_dir,
            streams: Dir::ALL.map(|dir| Cxl68UnitDecoder::with_config(dir, config)),
            units: 0,
        }
    }

    /// Builds the next unit. Without `index` in the object, units are counted from 0.
    ///
    /// # Errors
    /// What cannot be written into a unit: unknown keys and names, values that do not fit, messages without a place.
    /// What can be written and is against the rules is a finding. After an error the streams are as before.
    pub fn encode(&mut self, form: &Value) -> Result<Encoded, FormError> {
        let dir = stream::dir(form, self.default_dir)?;
        let meant = Meant::read(form, dir)?;
        let index = stream::index(form, self.units)?;
        let stream = &mut self.streams[dir as usize];
        let (seen, findings) = stream.read(&meant.unit);
        let mut decoded = Cxl68DecodedUnit { kind: meant.kind, roles: meant.roles, ..seen };
        if same_kind(&decoded, &seen) {
            // G0 alone does not say whether the slot is empty or holds what is owed; the stream does.
            for (meant, seen) in decoded.roles.iter_mut().zip(seen.roles) {
                if matches!(meant, Cxl68SlotRole::Format(f) if f.content == SlotContent::Data) {
                    *meant = seen;
                }
            }
        }
        let findings = judge(&decoded, &seen, findings, stream);
        self.units += 1;
        Ok(Encoded { unit: meant.unit, form: to_json(&decoded, &findings, index), findings })
    }
}

/// Whether a receiver reads a unit as the kind that was meant.
fn same_kind(meant: &Cxl68DecodedUnit, seen: &Cxl68DecodedUnit) -> bool {
    std::mem::discriminant(&meant.kind) == std::mem::discriminant(&seen.kind)
}

/// What is to be reported: the findings of a receiver, and where it sees something else than was meant.
fn judge(meant: &Cxl68DecodedUnit, seen: &Cxl68DecodedUnit, findings: Findings, stream: &Cxl68UnitDecoder) -> Findings {
    let other = |rule, at, found: &str, expected: &str, text: &str| Violation {
        rule,
        at: At::Byte(at),
        found: found.to_owned(),
        expected: expected.to_owned(),
        text: text.to_owned(),
    };
    if !same_kind(meant, seen) {
        // A receiver reads the unit as something else, so what it finds is beside the point.
        let mut findings = check::unit(meant, stream.config());
        let broken = check::intent(&meant.kind, seen.rollover_before).unwrap_or_else(|| {
            let (found, expected) = (kind_name(&seen.kind), kind_name(&meant.kind));
            other("CXL68-FLT-01", map::SLOT0.start, found, expected, "the Type bit makes it another kind of flit")
        });
        findings.violations.insert(0, broken);
        return findings;
    }
    let mut findings = findings;
    if seen.crc_ok == Some(false) {
        return findings;
    }
    for (n, (meant, seen)) in meant.roles.iter().zip(&seen.roles).enumerate() {
        if *meant == Cxl68SlotRole::Data && matches!(seen, Cxl68SlotRole::Format(_) | Cxl68SlotRole::Reserved(_)) {
            let at = Cxl68Unit::slot_byte(n);
            findings.violations.push(other("CXL68-PCK-04", at, "data", "messages", "data in a slot, and none is owed"));
        }
    }
    findings
}

/// What an object says.
struct Meant {
    unit: Cxl68Unit,
    kind: Cxl68UnitKind,
    roles: [Cxl68SlotRole; 4],
}

impl Meant {
    fn read(form: &Value, dir: Dir) -> Result<Meant, FormError> {
        let kinds = "one of: protocol, all-data, control, almp, null, io, dropped";
        let kind = form.as_object().ok_or_else(|| FormError::new("flit", shown(form), "an object"))?.get("kind");
        let kind = text(kind.ok_or_else(|| FormError::new("flit", "no key `kind`", kinds))?, "kind", kinds)?;
        let own: &[&str] = match kind {
            "protocol" => &["header", "slots", "crc"],
            "all-data" => &["slots", "crc"],
            "control" => &["control", "slots", "crc"],
            "almp" => &["almp", "slots", "tail"],
            "null" | "io" | "dropped" => &["data", "tail"],
            _ => return Err(FormError::new("kind", shown(&kind.into()), kinds)),
        };
        let form = object(form, "flit", &[&COMMON[..5], own, &COMMON[5..]].concat())?;
        if let Some(protocol) = form.get("protocol")
            && protocol != PROTOCOL
        {
            return Err(FormError::new("protocol", shown(protocol), PROTOCOL));
        }
        match kind {
            "protocol" => protocol(form, dir),
            "all-data" => all_data(form),
            "control" => control_flit(form),
            "almp" => almp(form),
            "null" => opaque(form, pid_of(form, pid::NULL, PidKind::Null)?, Cxl68UnitKind::Null),
            "io" => opaque(form, pid_of(form, pid::IO, PidKind::Io)?, Cxl68UnitKind::Io),
            _ => opaque(form, unusable_pid(form)?, Cxl68UnitKind::Dropped),
        }
    }
}

/// The protocol ID of the object, which a receiver reads as this kind; `default` when there is none.
fn pid_of(form: &Object, default: u16, kind: PidKind) -> Result<u16, FormError> {
    let Some(id) = form.get("pid") else { return Ok(default) };
    read_pid(id, Some(kind), format!("an ID that is read as {kind:?}, such as {default:#06x}"))
}

/// The protocol ID of a unit that every receiver drops.
fn unusable_pid(form: &Object) -> Result<u16, FormError> {
    let expected = "an ID for which every receiver drops the unit";
    let id = form.get("pid").ok_or_else(|| FormError::new("flit", "no key `pid`", expected))?;
    read_pid(id, None, expected.to_owned())
}

/// A protocol ID that a receiver reads as a kind, or drops.
fn read_pid(id: &Value, kind: Option<PidKind>, expected: String) -> Result<u16, FormError> {
    let id = number::from_json(id, "pid")?;
    let read_as = |id: &u16| pid::receive(*id, Enabled::ALL).accept.map(|row| row.kind) == kind;
    let fitting = u16::try_from(id).ok().filter(read_as);
    fitting.ok_or_else(|| FormError::new("pid", format!("{id:#06x}"), expected))
}

/// One entry of `slots`.
struct SlotEntry<'a> {
    /// `slots[1]`, for errors.
    at: String,
    /// 0 to 3.
    number: usize,
    form: &'a Object,
    hex: Option<u128>,
    data: Option<u128>,
}

/// Reads `slots`; each number stands there at most once.
fn slots<'a>(form: &'a Object, known: &[&str]) -> Result<[Option<SlotEntry<'a>>; 4], FormError> {
    let mut slots = [const { None }; 4];
    let Some(list) = form.get("slots") else { return Ok(slots) };
    let list = list.as_array().ok_or_else(|| FormError::new("slots", shown(list), "a list of objects"))?;
    for (i, entry) in list.iter().enumerate() {
        let at = format!("slots[{i}]");
        let form = object(entry, &at, known)?;
        let number = form.get("slot").ok_or_else(|| FormError::new(&at, "no key `slot`", "0 to 3"))?;
        let found = number::from_json(number, &format!("{at}.slot"))?;
        let free = slots.get(found.min(4) as usize).map(Option::is_none);
        if free != Some(true) {
            let expected = if free.is_none() { "0 to 3" } else { "each slot once" };
            return Err(FormError::new(format!("{at}.slot"), shown(number), expected));
        }
        let bytes = |key: &str| -> Result<Option<u128>, FormError> {
            let bytes = form.get(key).map(|v| number::array_of(v, &format!("{at}.{key}"))).transpose()?;
            Ok(bytes.map(u128::from_le_bytes))
        };
        let (hex, data, number) = (bytes("hex")?, bytes("data")?, found as usize);
        slots[number] = Some(SlotEntry { at, number, form, hex, data });
    }
    Ok(slots)
}

/// A CXL.cachemem unit: CRC over the payload unless `crc.force` says otherwise.
fn cachemem(
    form: &Object,
    slots: &[u128; 4],
    kind: Cxl68UnitKind,
    roles: [Cxl68SlotRole; 4],
) -> Result<Meant, FormError> {
    let id = pid_of(form, pid::CACHEMEM, PidKind::Cachemem)?;
    let mut unit = Cxl68Unit::from_slots(id, slots);
    if let Some(crc) = form.get("crc") {
        let crc = object(crc, "crc", &["force", "ok", "found", "expected"])?;
        if let Some(force) = crc.get("force") {
            let value = number::from_json(force, "crc.force")?;
            let value = u16::try_from(value)
                .map_err(|_| FormError::new("crc.force", format!("{value:#x}"), "at most 0xffff"))?;
            unit.set_tail(value);
        }
    }
    Ok(Meant { unit, kind, roles })
}

fn all_data(form: &Object) -> Result<Meant, FormError> {
    let slots = slots(form, &["slot", "data", "hex"])?;
    let chunks = slots.map(|s| s.and_then(|s| s.data.or(s.hex)).unwrap_or(0));
    cachemem(form, &chunks, Cxl68UnitKind::AllData, [Cxl68SlotRole::Data; 4])
}

fn control_flit(form: &Object) -> Result<Meant, FormError> {
    let mut slots = slots(form, &["slot", "hex"])?.map(|s| s.and_then(|s| s.hex));
    let control = form
        .get("control")
        .ok_or_else(|| FormError::new("flit", "no key `control`", "an object with `name` and `fields`"))?;
    slots[0] = Some(control::from_json(control, slots[0])?);
    let slots = slots.map(|s| s.unwrap_or(0));
    cachemem(form, &slots, Cxl68UnitKind::Control(Control::from_slot(slots[0])), [Cxl68SlotRole::Opaque; 4])
}

fn almp(form: &Object) -> Result<Meant, FormError> {
    let slots = slots(form, &["slot", "hex"])?.map(|s| s.and_then(|s| s.hex));
    let almp = form
        .get("almp")
        .ok_or_else(|| FormError::new("flit", "no key `almp`", "an object with `kind`, `state` and `instance`"))?;
    let slot0 = match slots[0] {
        // The object describes the first copy; the others are as given.
        Some(hex) => hex & !u128::from(u32::MAX) | u128::from(almp::from_json(Almp::DEF, almp, hex as u32)?),
        None => four_copies(almp::from_json(Almp::DEF, almp, default_almp())?),
    };
    let [_, slot1, slot2, slot3] = slots.map(|s| s.unwrap_or(0));
    let id = pid_of(form, pid::ALMP, PidKind::Almp)?;
    let mut unit = Cxl68Unit::plain(id, &payload_of(&[slot0, slot1, slot2, slot3]));
    set_tail(&mut unit, form)?;
    Ok(Meant { unit, kind: Cxl68UnitKind::Almp, roles: [Cxl68SlotRole::Opaque; 4] })
}

/// A unit of bytes without form: CXL.io, NULL and what a receiver drops.
fn opaque(form: &Object, id: u16, kind: Cxl68UnitKind) -> Result<Meant, FormError> {
    let data = form.get("data").map(|data| number::array_of(data, "data")).transpose()?;
    let mut unit = Cxl68Unit::plain(id, &data.unwrap_or([0; 64]));
    set_tail(&mut unit, form)?;
    Ok(Meant { unit, kind, roles: [Cxl68SlotRole::Opaque; 4] })
}

fn set_tail(unit: &mut Cxl68Unit, form: &Object) -> Result<(), FormError> {
    if let Some(tail) = form.get("tail") {
        unit.set_tail(u16::from_le_bytes(number::array_of(tail, "tail")?));
    }
    Ok(())
}

fn protocol(form: &Object, dir: Dir) -> Result<Meant, FormError> {
    let slots = slots(form, &["slot", "format", "messages", "data", "hex"])?;
    let header = header(form, &slots, dir)?;
    let mut bits = [0; 4];
    let mut roles = [Cxl68SlotRole::Opaque; 4];
    for (n, given) in slots.iter().enumerate() {
        let code = header.slot(n);
        let format = slot::format(Revision::V2_0, dir, n, code);
        roles[n] = format.map_or(Cxl68SlotRole::Reserved(code), Cxl68SlotRole::Format);
        let Some(given) = given else { continue };
        bits[n] = given.hex.unwrap_or(0);
        if let Some(data) = given.data {
            if n == 0 {
                let expected = "no data in slot 0 of a protocol flit (CXL68-PCK-05)";
                return Err(FormError::new(format!("{}.data", given.at), "data", expected));
            }
            bits[n] = data;
            roles[n] = Cxl68SlotRole::Data;
        }
        if let Some(messages) = given.form.get("messages") {
            bits[n] = put_messages(messages, given, format, bits[n])?;
        }
    }
    let raw = header.to_bits()?;
    bits[0] = bits[0] & !u128::from(u32::MAX) | raw;
    cachemem(form, &bits, Cxl68UnitKind::Protocol(header), roles)
}

/// The flit header: `hex` of slot 0 first, the formats of the slots over it, the fields of `header` over that.
fn header(form: &Object, slots: &[Option<SlotEntry>; 4], dir: Dir) -> Result<FlitHeader, FormError> {
    let base = slots[0].as_ref().and_then(|s| s.hex);
    let base = base.map_or(FlitHeader::DEF.default_bits(), |hex| hex & u128::from(u32::MAX));
    let mut header = FlitHeader::from_bits(base);
    let mut formats = [None; 4];
    for (n, given) in slots.iter().enumerate() {
        formats[n] = given.as_ref().map(|s| format_name(s, dir)).transpose()?.flatten();
        if let Some(FormatValue::Format(format)) = formats[n] {
            header.set_slot(n, format.code);
        }
    }
    if let Some(fields) = form.get("header") {
        let bits = message::fields_from_json(FlitHeader::DEF, header.to_bits()?, fields)?;
        header = FlitHeader::from_bits(bits);
    }
    for (n, named) in formats.into_iter().enumerate() {
        let code = header.slot(n);
        let expected = match named {
            Some(FormatValue::Format(format)) if format.code != code => {
                format!("{}: `format` of the slot is {}", format.code, format.name)
            }
            Some(FormatValue::Reserved) if slot::format(Revision::V2_0, dir, n, code).is_some() => {
                format!("a reserved code: `format` of the slot is {RESERVED_FORMAT}")
            }
            _ => continue,
        };
        return Err(FormError::new(format!("header.slot{n}"), code.to_string(), expected));
    }
    Ok(header)
}

/// The value of `format`.
#[derive(Clone, Copy)]
enum FormatValue {
    Format(&'static SlotFormat),
    /// Which reserved code it is stands in the header.
    Reserved,
}

fn format_name(given: &SlotEntry, dir: Dir) -> Result<Option<FormatValue>, FormError> {
    let Some(name) = given.form.get("format") else { return Ok(None) };
    let at = format!("{}.format", given.at);
    let rows = slot::formats(Revision::V2_0, dir, given.number);
    let expected = || {
        let rows = rows.iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
        let rule = if given.number == 0 { " (CXL68-PCK-05: slot 0 of a protocol flit holds no G format)" } else { "" };
        format!("one of: {rows}, {RESERVED_FORMAT}{rule}")
    };
    let text = text(name, &at, "a string")?;
    if text == RESERVED_FORMAT {
        return Ok(Some(FormatValue::Reserved));
    }
    let row = rows.iter().find(|f| f.name == text);
    row.map(|f| Some(FormatValue::Format(f))).ok_or_else(|| FormError::new(at, shown(name), expected()))
}

/// Puts each message in the first place of its kind that no message before it took.
fn put_messages(
    messages: &Value,
    given: &SlotEntry,
    format: Option<&'static SlotFormat>,
    slot: u128,
) -> Result<u128, FormError> {
    let at = format!("{}.messages", given.at);
    let list = messages.as_array().ok_or_else(|| FormError::new(&at, shown(messages), "a list of messages"))?;
    if given.data.is_some() && !list.is_empty() {
        return Err(FormError::new(&at, "messages beside `data`", "one of them"));
    }
    let (name, places) = format.map_or((RESERVED_FORMAT, &[][..]), |f| (f.name, f.places()));
    let mut taken = 0u8;
    let mut slot = slot;
    for (i, form) in list.iter().enumerate() {
        let at = format!("{at}[{i}]");
        let (def, bits) = message::message_from_json(form).map_err(|e| e.within(&at))?;
        let class = Class::of(def);
        let free = places.iter().enumerate().find(|(n, p)| Some(p.class) == class && taken >> n & 1 == 0);
        let Some((n, place)) = free else {
            let places = places.iter().map(|p| p.class.def().name).collect::<Vec<_>>().join(", ");
            let holds = if places.is_empty() { "no message".to_owned() } else { places };
            let expected = format!("a free place of format {name}, which holds: {holds}");
            return Err(FormError::new(at, def.name, expected));
        };
        taken |= 1 << n;
        slot = place.insert(slot, bits);
    }
    Ok(slot)
}
