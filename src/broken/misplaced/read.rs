//! Units, and what is read of them.

use crate::message_wave::MessageWave;
use crate::runs::sealed;
use crate::{CaseError, flits};
use scalepool_forms::Object;
use scalepool_forms::flit::{FlitDecoder, FlitEncoder};
use scalepool_forms::message::{fields_to_json, layout, message_from_json};
use scalepool_forms::options::Options;
use scalepool_forms::told::fields;
use scalepool_forms::{number, parse};
use scalepool_inspect::capture::{Capture, CapturedUnit};
use scalepool_inspect::{InspectDetail, Map, inspect_capture};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::{At, LayoutDef, Violation};
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, TimeAxis};
use serde_json::{Value, json};

/// Time from unit to unit \[fs\].
const STEP_FS: u64 = 1_000_000;

/// Parts of an object that say no more than the rest, and checks, which are judged apart.
const PASSED_OVER: [&str; 8] = ["hex", "index", "violations", "lints", "segments", "crc", "fec", "tail"];
/// Checks of a flit.
const CHECKS: [&str; 2] = ["crc", "fec"];
/// Most digits of data that are told.
const MOST_DIGITS: usize = 32;

/// What units are.
#[derive(Debug, Clone)]
enum UnitKind {
    /// A message, in bytes of ascending bits.
    Message(&'static LayoutDef),
    /// Flits of a protocol in a direction, and what its ends have agreed on.
    Flits(String, Dir, Vec<String>),
}

/// Units as they are sent.
#[derive(Debug, Clone)]
pub(super) struct UnitReading {
    kind: UnitKind,
    units: Vec<Vec<u8>>,
}

/// What a decoder makes of them.
pub(super) struct Decoded {
    kind: UnitKind,
    pub(super) units: Vec<Vec<u8>>,
    pub(super) forms: Vec<Value>,
    /// Rules that the decoder names.
    pub(super) broken: Vec<&'static str>,
    /// The last one that says something, in words.
    pub(super) said: String,
    /// Time of the last one \[fs\].
    pub(super) t_fs: u64,
}

impl UnitReading {
    /// Encodes objects: `message LAYOUT` with one object of fields, or `flit PROTOCOL DIR` with flit objects.
    ///
    /// # Errors
    /// What cannot be encoded.
    pub(super) fn of_objects<'a>(head: &str, lines: impl Iterator<Item = &'a str>) -> Result<UnitReading, CaseError> {
        let wrong = || CaseError::of(format!("found `{head}`, expected `message LAYOUT` or `flit PROTOCOL DIR`"));
        let forms = lines.map(|line| parse(line).map_err(CaseError::of)).collect::<Result<Vec<_>, _>>()?;
        let words: Vec<&str> = head.split(' ').collect();
        match words.as_slice() {
            ["message", name] => {
                let def = layout(name).map_err(CaseError::of)?;
                let form = json!({ "layout": name, "fields": forms.first().ok_or_else(wrong)? });
                let (_, bits) = message_from_json(&form).map_err(CaseError::of)?;
                let unit = bits.to_le_bytes()[..def.len_bytes()].to_vec();
                Ok(UnitReading { kind: UnitKind::Message(def), units: vec![unit] })
            }
            ["flit", protocol, dir, settings @ ..] => {
                let dir = [Dir::Down, Dir::Up].into_iter().find(|known| known.name() == *dir).ok_or_else(wrong)?;
                let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
                let options = options(protocol, &settings)?;
                let mut encoder = FlitEncoder::with_options(protocol, Some(dir), &options).map_err(CaseError::of)?;
                let mut answers: Vec<_> = forms.into_iter().flat_map(|form| encoder.encode(Ok(form))).collect();
                answers.extend(encoder.finish());
                let mut units = Vec::new();
                for answer in answers {
                    let (form, _) = answer.map_err(CaseError::of)?;
                    let hex = form["hex"].as_str().unwrap_or_default();
                    units.push(number::bytes_of(hex, "hex").map_err(CaseError::of)?);
                }
                Ok(UnitReading { kind: UnitKind::Flits((*protocol).to_owned(), dir, settings), units })
            }
            _ => Err(wrong()),
        }
    }

    /// The unit that is changed.
    ///
    /// # Errors
    /// None at all.
    pub(super) fn last_unit(&mut self) -> Result<&mut Vec<u8>, CaseError> {
        self.units.last_mut().ok_or_else(|| CaseError::of("found no unit, expected one"))
    }

    /// Gives the last flit the checks that fit.
    ///
    /// # Errors
    /// What is no flit.
    pub(super) fn seal(&mut self) -> Result<(), CaseError> {
        let UnitKind::Flits(protocol, ..) = &self.kind else { return Ok(()) };
        let protocol = protocol.clone();
        let before = self.units.len().checked_sub(2).map_or_else(Vec::new, |at| self.units[at].clone());
        let last = self.last_unit()?;
        *last = sealed(&protocol, &before, last).ok_or_else(|| CaseError::of("found a unit that has no checks"))?;
        Ok(())
    }

    /// What a decoder reads.
    ///
    /// # Errors
    /// Units that are none.
    pub(super) fn decoded(self) -> Result<Decoded, CaseError> {
        let UnitReading { kind, mut units } = self;
        let t_fs = STEP_FS * units.len() as u64;
        let (mut forms, mut broken, mut said) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = |violations: &[Violation]| {
            for violation in violations {
                if !broken.contains(&violation.rule) {
                    broken.push(violation.rule);
                }
            }
        };
        match &kind {
            UnitKind::Message(def) => {
                let mut bits = [0; 16];
                bits[..units[0].len()].copy_from_slice(&units[0]);
                let bits = u128::from_le_bytes(bits) & (u128::MAX >> (128 - def.bits));
                let mut violations = Vec::new();
                def.check(bits, &mut violations);
                names(&violations);
                units = vec![def.to_bytes(bits)];
                let form = fields_to_json(def, bits);
                said.push(format!("{}{}", def.name, fields(form.as_object())));
                forms.push(form);
            }
            UnitKind::Flits(protocol, dir, settings) => {
                let options = options(protocol, settings)?;
                let mut decoder = FlitDecoder::with_options(protocol, *dir, &options).map_err(CaseError::of)?;
                let mut answers: Vec<_> = units.iter().flat_map(|unit| decoder.read(Ok(unit))).collect();
                answers.extend(decoder.finish());
                for answer in answers {
                    let (form, findings) = answer.map_err(CaseError::of)?;
                    names(&findings.violations);
                    said.push(flits::said(&form));
                    forms.push(form);
                }
            }
        }
        let said = said.pop().unwrap_or_default();
        Ok(Decoded { kind, units, forms, broken, said, t_fs })
    }
}

fn options(protocol: &str, settings: &[String]) -> Result<Options, CaseError> {
    let mut options = Options::default();
    for setting in settings {
        options.set(protocol, setting).map_err(CaseError::of)?;
    }
    Ok(options)
}

impl Decoded {
    pub(super) fn axis(&self) -> TimeAxis {
        TimeAxis::of_step(1, self.t_fs + STEP_FS)
    }
}

/// The first field that is read otherwise: where it stands, what is meant, and what is read. Where checks are what it is about, these alone.
pub(super) fn first_difference(right: &[Value], wrong: &[Value], of_checks: bool) -> Option<(String, String, String)> {
    let pairs = || right.iter().zip(wrong);
    if of_checks {
        let find = |name: &str| pairs().find_map(|(right, wrong)| differ(name, &right[name], &wrong[name], &[]));
        return CHECKS.into_iter().find_map(find);
    }
    pairs().find_map(|(right, wrong)| differ("", right, wrong, &PASSED_OVER))
}

fn differ(place: &str, right: &Value, wrong: &Value, passed_over: &[&str]) -> Option<(String, String, String)> {
    let inner = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place} {name}") };
    match (right, wrong) {
        _ if right == wrong => None,
        (Value::Object(right), Value::Object(wrong)) => {
            let only_wrong = wrong.keys().filter(|name| !right.contains_key(*name));
            // The bytes of what is told by its parts say no more than these.
            let has_parts = right.contains_key("header") || right.contains_key("messages");
            let is_passed_over =
                |name: &str| place.is_empty() && passed_over.contains(&name) || has_parts && name == "hex";
            let names = right.keys().chain(only_wrong).filter(|name| !is_passed_over(name));
            names.into_iter().find_map(|name| {
                let of = |form: &Object| form.get(name).cloned().unwrap_or_default();
                let place = if name == "fields" { place.to_owned() } else { inner(name) };
                differ(&place, &of(right), &of(wrong), passed_over)
            })
        }
        (Value::Array(right), Value::Array(wrong)) => (0..right.len().max(wrong.len())).find_map(|n| {
            let of = |list: &[Value]| list.get(n).cloned().unwrap_or_default();
            differ(&inner(&n.to_string()), &of(right), &of(wrong), passed_over)
        }),
        (Value::String(right), Value::String(wrong)) if right.len() == wrong.len() && right.len() > MOST_DIGITS => {
            let byte = |text: &str, n: usize| text.get(2 * n..2 * n + 2).unwrap_or_default().to_owned();
            let n = (0..right.len() / 2).find(|n| byte(right, *n) != byte(wrong, *n))?;
            Some((format!("{place} byte {n}"), byte(right, n), byte(wrong, n)))
        }
        _ => Some((place.to_owned(), told(right), told(wrong))),
    }
}

/// A value in words; of an object what it is.
fn told(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) if text.len() > MOST_DIGITS => format!("{}..", &text[..MOST_DIGITS]),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(told).collect::<Vec<_>>().join(" and "),
        Value::Object(form) => match (form.get("layout"), form.get("format")) {
            (Some(Value::String(layout)), _) => {
                format!("{layout}{}", fields(form.get("fields").and_then(Value::as_object)))
            }
            (_, Some(Value::String(format))) => format!("a slot of format {format}"),
            // Of what has parts its parts say more.
            _ => {
                let own: Object =
                    form.iter().filter(|(_, value)| !value.is_object() && !value.is_array()).map(own).collect();
                let text = fields(Some(&own));
                if text.is_empty() { "one".to_owned() } else { text.trim_start().to_owned() }
            }
        },
        _ => value.to_string(),
    }
}

fn own((name, value): (&String, &Value)) -> (String, Value) {
    let value = match value {
        Value::String(text) => text.chars().take(MOST_DIGITS).collect::<String>().into(),
        _ => value.clone(),
    };
    (name.clone(), value)
}

/// The wave of both, with the broken rule at the end.
pub(super) fn wave(
    rule: &'static str,
    right: &Decoded,
    wrong: &Decoded,
    (found, expected): (String, String),
    text: &str,
) -> Result<Hub, CaseError> {
    let violation = Violation { rule, at: At::Message, found, expected, text: text.to_owned() };
    match &right.kind {
        UnitKind::Message(def) => {
            let mut wave = MessageWave::new("message");
            for (place, decoded) in [("right", right), ("wrong", wrong)] {
                wave.message(STEP_FS, place, &json!({ "layout": def.name, "fields": decoded.forms[0] }))?;
            }
            Ok(wave.records(wrong.t_fs, violation))
        }
        UnitKind::Flits(protocol, dir, _) => {
            let dir = dir.name();
            let places = [("right", right), ("wrong", wrong)];
            let map: String = places
                .map(|(place, _)| {
                    format!("[[interface]]\nname = \"{place}.{dir}\"\nprotocol = \"{protocol}\"\ndir = \"{dir}\"\n")
                })
                .concat();
            let mut units: Vec<CapturedUnit> = Vec::new();
            for n in 0..right.units.len() {
                for (place, decoded) in places {
                    let (t_fs, bytes) = (STEP_FS * (n as u64 + 1), decoded.units[n].clone());
                    let place = format!("{place}.{dir}");
                    units.push(CapturedUnit { line: units.len() + 1, t_fs, cycle: None, place, dir: None, bytes });
                }
            }
            let map = Map::read(&map, rule).map_err(CaseError::of)?;
            let detail = InspectDetail::default();
            let inspection = inspect_capture(&Capture { units }, rule, map, rule, detail).map_err(CaseError::of)?;
            let mut records = inspection.decoded();
            let mut findings = records.tap("misplaced", PlaceKind::Findings);
            let at = Stamp { t_fs: wrong.t_fs, cycle: 0 };
            findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
            Ok(records)
        }
    }
}
