//! Waivers and severities: findings that a team knows of, each with a reason and an end.
//!
//! Modelled: `[[waiver]]` takes broken rules out of the result, of one interface or of all, up to a day; `[severity]` says of a rule
//! that it is a warning, which does not fail the inspection, or is not told at all. Left out: waivers of single units.
//!
//! A walk: behind all judges, each finding is held against the waivers that have not expired, then against the severities. What
//! is waived stays in the result with its reason. A waiver that has expired, and one that nothing matched, is told.

use super::map::Map;
use super::stream::{SeenUnit, WaveViolation};
use scalepool_protocols::rules;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A finding that is known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedWaiver {
    /// The rule.
    pub rule: String,
    /// Name of the interface; any if left out.
    pub interface: Option<String>,
    /// The last day on which it holds, YYYY-MM-DD; no end if left out.
    pub until: Option<String>,
    /// Why.
    pub reason: String,
}

/// How a broken rule is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleSeverity {
    /// It fails the inspection, as rules do that are not mentioned.
    Error,
    /// It is told, and does not fail the inspection.
    Warning,
    /// It is not told.
    Ignore,
}

/// A finding that does not fail the inspection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaivedFinding {
    /// The finding.
    pub found: WaveViolation,
    /// Why it does not; `None`: it is a warning.
    pub reason: Option<String>,
}

/// A day of the Gregorian calendar, YYYY-MM-DD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalendarDay {
    year: u16,
    month: u8,
    day: u8,
}

const fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

const fn days_in(year: u16, month: u8) -> u8 {
    match month {
        2 => 28 + is_leap(year) as u8,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl CalendarDay {
    /// Before all waivers end.
    pub const FIRST: CalendarDay = CalendarDay { year: 0, month: 1, day: 1 };

    /// Reads it.
    ///
    /// # Errors
    /// Another form, or a day that there is not.
    pub fn read(text: &str) -> Result<CalendarDay, String> {
        let wrong = || format!("found `{text}`, expected a day such as 2027-03-31");
        let is_form = text.len() == 10
            && text.bytes().enumerate().all(|(n, b)| if [4, 7].contains(&n) { b == b'-' } else { b.is_ascii_digit() });
        if !is_form {
            return Err(wrong());
        }
        let part = |range: std::ops::Range<usize>| text[range].parse::<u16>().map_err(|_| wrong());
        let (year, month, day) = (part(0..4)?, part(5..7)? as u8, part(8..10)? as u8);
        let fits = (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        if fits { Ok(CalendarDay { year, month, day }) } else { Err(wrong()) }
    }
}

impl MappedWaiver {
    /// The last day, in a checked map.
    fn last_day(&self) -> Option<CalendarDay> {
        self.until.as_deref().and_then(|until| CalendarDay::read(until).ok())
    }

    fn fits(&self, interface: &str, found: &WaveViolation) -> bool {
        self.rule == found.violation.rule && self.interface.as_ref().is_none_or(|name| name == interface)
    }
}

/// What is wrong with the waivers and severities of a map.
pub(super) fn check(map: &Map) -> Result<(), String> {
    let known = |rule: &str| match rules::find(rule) {
        Some(_) => Ok(()),
        None => Err(format!("found `{rule}`, expected a rule; `scalepool list rules` prints them")),
    };
    for (n, waiver) in map.waiver.iter().enumerate() {
        let at = |key: &str, text: String| format!("waiver {n}, key `{key}`: {text}");
        known(&waiver.rule).map_err(|text| at("rule", text))?;
        if waiver.reason.trim().is_empty() {
            return Err(at("reason", "found none, expected why the rule may be broken".into()));
        }
        waiver
            .until
            .as_deref()
            .map_or(Ok(()), |until| CalendarDay::read(until).map(|_| ()).map_err(|text| at("until", text)))?;
        if let Some(name) = waiver.interface.as_ref().filter(|name| !map.interface.iter().any(|i| i.name == **name)) {
            return Err(at("interface", format!("found `{name}`, expected the name of an interface")));
        }
    }
    map.severity.keys().try_for_each(|rule| known(rule).map_err(|text| format!("severity: {text}")))
}

/// Takes what is waived out of the findings; what is to be said of the waivers themselves.
pub(super) fn apply(map: &Map, today: CalendarDay, seen: &mut [SeenUnit]) -> Vec<String> {
    let is_over = |waiver: &MappedWaiver| waiver.last_day().is_some_and(|last| last < today);
    let mut used = vec![false; map.waiver.len()];
    for unit in seen.iter_mut() {
        let interface = &map.interface[unit.interface].name;
        for found in std::mem::take(&mut unit.broken) {
            let waived = map.waiver.iter().position(|waiver| !is_over(waiver) && waiver.fits(interface, &found));
            let severity = map.severity.get(found.violation.rule).copied().unwrap_or(RuleSeverity::Error);
            match (waived, severity) {
                (Some(n), _) => {
                    used[n] = true;
                    unit.waived.push(WaivedFinding { found, reason: Some(map.waiver[n].reason.clone()) });
                }
                (None, RuleSeverity::Error) => unit.broken.push(found),
                (None, RuleSeverity::Warning) => unit.waived.push(WaivedFinding { found, reason: None }),
                (None, RuleSeverity::Ignore) => {}
            }
        }
    }
    let told = map.waiver.iter().zip(used).filter_map(|(waiver, used)| {
        let MappedWaiver { rule, until, reason, .. } = waiver;
        match until.as_ref().filter(|_| is_over(waiver)) {
            Some(until) => Some(format!("the waiver of {rule} has expired on {until}: {reason}")),
            None if !used => Some(format!("the waiver of {rule} matches nothing: {reason}")),
            None => None,
        }
    });
    told.collect()
}

/// Severities by rule.
pub(super) type Severities = BTreeMap<String, RuleSeverity>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        let day = |text| CalendarDay::read(text).expect("a day");
        let ascending =
            ["0001-01-31", "1999-12-31", "2000-02-29", "2000-03-01", "2027-01-09", "2027-01-10", "9999-12-31"];
        assert!(ascending.map(day).is_sorted() && CalendarDay::FIRST < day("0001-01-01"));
        for no in [
            "2027-2-3",
            "2027-02-29",
            "1900-02-29",
            "2027-13-01",
            "2027-00-10",
            "20270101",
            "",
            "2027-01-001",
            "+027-01-01",
        ] {
            assert!(CalendarDay::read(no).is_err(), "{no}");
        }
    }
}
