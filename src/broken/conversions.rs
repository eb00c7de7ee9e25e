//! Conversions of a bridge of which one message is wrong, judged by the scoreboard that watches a bridge of somebody else.
//!
//! Modelled: a case of the vectors of conversions, in which the bridge does right, and one message of it that it sends otherwise, sends too
//! early, leaves out, or sends though it should not. The table stands in `conversions.txt`. What the scoreboard says of such a message is
//! that another one was expected, BRG-INT-02, or that it is one too many or missing, BRG-INT-03, where no rule
//! of its own says it better; which rule asked for that one is what the table knows.
//! Left out: what the bridge does inside, such as the choice of a victim, and everything that needs time.
//!
//! A walk: `BRG-MAP-01 | ualink_to_cxl_mc 2052 | sent 1 | snp_type=SnpInv | ..`: in that case of `scalepool export conversions` the first
//! message at the point `sent` gets that value, and the scoreboard finds it where it expects SnpCur.

use super::bridge::{BridgeCase, Line};
use super::{BrokenCase, CaseError};
use scalepool_conversion::message::BridgeMessage;
use scalepool_conversion::model::{BridgeEvent, BridgePoint};
use scalepool_conversion::vectors::{self, ConversionVectors};
use scalepool_forms::parse;
use serde_json::Value;
use std::sync::LazyLock;

/// The table, a rule once.
const TEXT: &str = include_str!("conversions.txt");

/// What the scoreboard finds where a message is not the expected one, one too many or missing.
const TOLD_UNDER: [&str; 2] = ["BRG-INT-02", "BRG-INT-03"];

/// All conversions: they are made in a tenth of a second, and the cases of many rules stand in one file.
static VECTORS: LazyLock<Vec<ConversionVectors>> = LazyLock::new(vectors::all);

/// A line of the table.
struct ConversionBreak {
    rule: &'static str,
    file: &'static str,
    case: usize,
    /// Which message is meant: the point and its number there, from 1 on.
    place: &'static str,
    change: &'static str,
    what: &'static str,
}

fn rows() -> impl Iterator<Item = ConversionBreak> {
    TEXT.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut parts = line.split(" | ");
        let rule = parts.next()?;
        let (file, case) = parts.next()?.split_once(' ')?;
        let (place, change, what) = (parts.next()?, parts.next()?, parts.next()?);
        Some(ConversionBreak { rule, file, case: case.parse().ok()?, place, change, what })
    })
}

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.rule)
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    let found = rows().find(|row| row.rule == rule);
    found.map(|row| row.judged().map_err(|e| CaseError::of(format!("conversions.txt: {rule}: {e}")))).transpose()
}

impl ConversionBreak {
    fn judged(&self) -> Result<BrokenCase, CaseError> {
        let file = VECTORS.iter().find(|vectors| vectors.name == self.file);
        let case = file.and_then(|file| Some((&file.config, file.cases.get(self.case)?)));
        let missing = || CaseError::of(format!("found {} {}, expected a case of a file", self.file, self.case));
        let (config, case) = case.ok_or_else(missing)?;
        let what = format!("{} (case {} of {}.jsonl, {})", self.what, self.case, self.file, case.what);
        let lines = self.changed(&case.events)?;
        let [other, surplus] = TOLD_UNDER;
        BridgeCase { rule: self.rule, what, config, told_under: &[other, surplus, self.rule] }.judged(lines)
    }

    /// The messages with the changed one, up to the end.
    fn changed(&self, events: &[BridgeEvent]) -> Result<Vec<Line>, CaseError> {
        let at = self.at(events)?;
        let mut events: Vec<BridgeEvent> = events.to_vec();
        match self.change.split_once(' ').unwrap_or((self.change, "")) {
            ("lost", _) => {
                // What follows from it does not come to be either.
                let point = events[at].point;
                let is_before_answers = |event: &BridgeEvent| event.point == point && point == BridgePoint::Sent;
                let beside: Vec<_> =
                    events[at + 1..].iter().take_while(|event| is_before_answers(event)).cloned().collect();
                events.truncate(at);
                events.extend(beside);
            }
            ("early", steps) => {
                let steps: usize = steps.parse().map_err(CaseError::of)?;
                let event = events.remove(at);
                let to =
                    at.checked_sub(steps).ok_or_else(|| CaseError::of("found more steps than messages before it"))?;
                events.insert(to, event);
            }
            ("twice", _) => events.insert(at, events[at].clone()),
            ("also", messages) => {
                for (n, message) in messages.split(" && ").enumerate() {
                    events.insert(at + n, event_of(message)?);
                }
            }
            _ => events[at].message = altered(&events[at].message, self.change)?,
        }
        let message = |event: BridgeEvent| {
            let form = event.message.to_json();
            Line::Message(event, form)
        };
        Ok(events.into_iter().map(message).chain([Line::End]).collect())
    }

    /// Number of the message among all of the case; behind them all for `end`.
    fn at(&self, events: &[BridgeEvent]) -> Result<usize, CaseError> {
        if self.place == "end" {
            return Ok(events.len());
        }
        let wrong = || CaseError::of(format!("found `{}`, expected a message of the case, such as sent 1", self.place));
        let (point, number) = self.place.split_once(' ').ok_or_else(wrong)?;
        let (point, number): (_, usize) = (point_of(point)?, number.parse().map_err(CaseError::of)?);
        let mut of_point = events.iter().enumerate().filter(|(_, event)| event.point == point).map(|(at, _)| at);
        of_point.nth(number.saturating_sub(1)).ok_or_else(wrong)
    }
}

/// A message as a line has it: point, port and object.
fn event_of(message: &str) -> Result<BridgeEvent, CaseError> {
    let wrong = || CaseError::of(format!("found `{message}`, expected POINT PORT MESSAGE"));
    let (head, form) = message.split_once(" {").ok_or_else(wrong)?;
    let (point, port) = head.split_once(' ').ok_or_else(wrong)?;
    let form = parse(&format!("{{{form}")).map_err(CaseError::of)?;
    let message = BridgeMessage::from_json(&form).map_err(CaseError::of)?;
    Ok(BridgeEvent { point: point_of(point)?, port: port.parse().map_err(CaseError::of)?, message })
}

fn point_of(name: &str) -> Result<BridgePoint, CaseError> {
    let point = BridgePoint::ALL.into_iter().find(|point| point.name() == name);
    point.ok_or_else(|| CaseError::of(format!("found `{name}`, expected a point of the bridge")))
}

/// A message with other values, `; ` between them: `field=value`, `:member=value` for what stands beside the fields, without a value to
/// leave it out, `data^5` for an inverted byte of its first line, `data<>` for its beats from the last one on.
fn altered(message: &BridgeMessage, changes: &str) -> Result<BridgeMessage, CaseError> {
    let mut form = message.to_json();
    let none = || CaseError::of("found a message without fields or data, expected one with them");
    for change in changes.split("; ") {
        if change == "data<>" {
            form.get_mut("data").and_then(Value::as_array_mut).ok_or_else(none)?.reverse();
            continue;
        }
        if let Some(byte) = change.strip_prefix("data^") {
            let at = byte.parse::<usize>().map_err(CaseError::of)? * 2;
            let data = form.get_mut("data").ok_or_else(none)?;
            let line = if data.is_array() { data.get_mut(0).ok_or_else(none)? } else { data };
            let digits = line.as_str().ok_or_else(none)?;
            let byte = digits.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok()).ok_or_else(none)?;
            *line = format!("{}{:02x}{}", &digits[..at], !byte, &digits[at + 2..]).into();
            continue;
        }
        let (name, value) =
            change.split_once('=').ok_or_else(|| CaseError::of(format!("found `{change}`, expected a change")))?;
        let (of, name) = match name.strip_prefix(':') {
            Some(member) => (form.as_object_mut(), member),
            None => (form.get_mut("fields").and_then(Value::as_object_mut), name),
        };
        let of = of.ok_or_else(none)?;
        match value {
            "" => drop(of.remove(name)),
            _ => drop(of.insert(name.to_owned(), parse(value).unwrap_or_else(|_| value.into()))),
        }
    }
    BridgeMessage::from_json(&form).map_err(CaseError::of)
}
