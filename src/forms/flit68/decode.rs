//! A unit to its object.

use super::{PROTOCOL, control, kind_name, word};
use crate::{Object, almp, message, number, violation};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check::{self, Findings};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::Almp;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::slot::{self, SlotContent, SlotFormat};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68SlotRole, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;
use serde_json::Value;

/// Name of a format whose code is reserved.
pub(super) const RESERVED_FORMAT: &str = "RSVD";

/// Reads units of one direction as one stream.
#[derive(Debug, Clone)]
pub struct Cxl68UnitDecoder {
    unpacker: Unpacker,
    config: Cxl68Config,
}

impl Cxl68UnitDecoder {
    /// A stream of which nothing has been read.
    pub fn new(dir: Dir) -> Cxl68UnitDecoder {
        Cxl68UnitDecoder::with_config(dir, Cxl68Config::default())
    }

    /// The same, judged by a configuration.
    pub fn with_config(dir: Dir, config: Cxl68Config) -> Cxl68UnitDecoder {
        Cxl68UnitDecoder { unpacker: Unpacker::new(dir, config.revision, Enabled::ALL), config }
    }

    /// Chunks owed now.
    pub fn rollover(&self) -> usize {
        self.unpacker.rollover()
    }

    /// The configuration that units are judged by.
    pub(super) fn config(&self) -> &Cxl68Config {
        &self.config
    }

    /// Takes the next unit apart and judges it.
    pub fn read(&mut self, unit: &Cxl68Unit) -> (Cxl68DecodedUnit, Findings) {
        let decoded = self.unpacker.read(unit);
        let findings = check::unit(&decoded, &self.config);
        (decoded, findings)
    }
}

/// The object of a unit; `index` counts the units of the stream from 0.
pub fn to_json(decoded: &Cxl68DecodedUnit, findings: &Findings, index: u64) -> Value {
    let unit = &decoded.unit;
    let mut form = Object::new();
    form.insert("protocol".into(), PROTOCOL.into());
    form.insert("dir".into(), decoded.dir.name().into());
    form.insert("index".into(), index.into());
    form.insert("kind".into(), kind_name(&decoded.kind).into());
    form.insert("pid".into(), word(unit.pid()).into());
    match &decoded.kind {
        Cxl68UnitKind::Protocol(header) => {
            form.insert("header".into(), message::fields_to_json(FlitHeader::DEF, header_bits(unit)));
            let slots =
                decoded.roles.iter().enumerate().map(|(n, role)| slot(decoded.dir, unit, n, role, Some(header)));
            form.insert("slots".into(), slots.collect());
        }
        Cxl68UnitKind::AllData => {
            let slots = decoded.roles.iter().enumerate().map(|(n, role)| slot(decoded.dir, unit, n, role, None));
            form.insert("slots".into(), slots.collect());
        }
        Cxl68UnitKind::Control(_) => {
            let control = control::to_json(unit.slot(0));
            let own = control::from_json(&control, None).ok();
            slots_that_differ(&mut form, unit, [own, Some(0), Some(0), Some(0)]);
            form.insert("control".into(), control);
        }
        Cxl68UnitKind::Almp => {
            let almp = almp::to_json(Almp::DEF, unit.slot(0) as u32);
            let own = almp::from_json(Almp::DEF, &almp, default_almp()).ok().map(four_copies);
            slots_that_differ(&mut form, unit, [own, Some(0), Some(0), Some(0)]);
            form.insert("almp".into(), almp);
            tail_unless_zero(&mut form, unit);
        }
        Cxl68UnitKind::Null => {
            if unit.payload().iter().any(|&b| b != 0) {
                form.insert("data".into(), number::hex(unit.payload()).into());
            }
            tail_unless_zero(&mut form, unit);
        }
        Cxl68UnitKind::Io | Cxl68UnitKind::Dropped => {
            form.insert("data".into(), number::hex(unit.payload()).into());
            form.insert("tail".into(), number::hex(&unit.tail().to_le_bytes()).into());
        }
    }
    if let Some(ok) = decoded.crc_ok {
        let mut crc = Object::new();
        crc.insert("ok".into(), ok.into());
        crc.insert("found".into(), word(unit.tail()).into());
        crc.insert("expected".into(), word(unit.expected_crc()).into());
        form.insert("crc".into(), Value::Object(crc));
    }
    form.insert("violations".into(), violation::list_to_json(&findings.violations));
    if !findings.lints.is_empty() {
        form.insert("lints".into(), violation::list_to_json(&findings.lints));
    }
    form.insert("hex".into(), number::hex(&unit.0).into());
    Value::Object(form)
}

/// Flit bits 31:0.
pub(super) fn header_bits(unit: &Cxl68Unit) -> u128 {
    unit.slot(0) & u128::from(u32::MAX)
}

/// The word of an ALMP with every field at its default.
pub(super) fn default_almp() -> u32 {
    Almp::DEF.default_bits() as u32
}

/// A word at all four places of a slot.
pub(super) fn four_copies(word: u32) -> u128 {
    (0..4).fold(0, |slot, n| slot | u128::from(word) << (32 * n))
}

fn slot_hex(slot: u128) -> Value {
    number::hex(&slot.to_le_bytes()).into()
}

fn tail_unless_zero(form: &mut Object, unit: &Cxl68Unit) {
    if unit.tail() != 0 {
        form.insert("tail".into(), number::hex(&unit.tail().to_le_bytes()).into());
    }
}

/// `slots` with `hex`, where the unit is not what its form encodes to; `None`: the form says nothing about the slot.
fn slots_that_differ(form: &mut Object, unit: &Cxl68Unit, own: [Option<u128>; 4]) {
    let differ = (0..4).filter(|&n| own[n] != Some(unit.slot(n)));
    let slots: Vec<Value> = differ
        .map(|n| Value::Object(Object::from_iter([("slot".into(), n.into()), ("hex".into(), slot_hex(unit.slot(n)))])))
        .collect();
    if !slots.is_empty() {
        form.insert("slots".into(), slots.into());
    }
}

fn slot(dir: Dir, unit: &Cxl68Unit, n: usize, role: &Cxl68SlotRole, header: Option<&FlitHeader>) -> Value {
    let bits = unit.slot(n);
    let mut form = Object::new();
    form.insert("slot".into(), n.into());
    if let Some(header) = header {
        // The name is the same in every revision; what a code means to this stream stands in `role`.
        let format = slot::format(Revision::V2_0, dir, n, header.slot(n))
            .filter(|_| !matches!(role, Cxl68SlotRole::Reserved(_)));
        form.insert("format".into(), format.map_or(RESERVED_FORMAT, |f| f.name).into());
    }
    match role {
        Cxl68SlotRole::Format(format) => {
            if let SlotContent::Messages(places) = format.content {
                let messages = places.iter().map(|p| message::message_to_json(p.class.def(), p.extract(bits)));
                form.insert("messages".into(), messages.collect());
            }
            if !is_given(format, bits) {
                form.insert("hex".into(), slot_hex(bits));
            }
        }
        Cxl68SlotRole::Data | Cxl68SlotRole::ByteEnables => {
            form.insert("data".into(), slot_hex(bits));
        }
        Cxl68SlotRole::Reserved(_) | Cxl68SlotRole::Opaque => {
            form.insert("hex".into(), slot_hex(bits));
        }
    }
    Value::Object(form)
}

/// Whether header and messages give every bit of a slot.
fn is_given(format: &SlotFormat, bits: u128) -> bool {
    match format.content {
        SlotContent::Messages(_) => bits & format.reserved_bits() == 0,
        SlotContent::Data => bits == 0,
        SlotContent::Mac => false,
    }
}
