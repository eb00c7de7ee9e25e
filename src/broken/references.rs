//! State machines, ends of links and address decoders that do otherwise than a rule says: what the reference answers, and what somebody answers who takes
//! an event or a number for another one.
//!
//! Modelled: events or numbers in their order, `right`, and the same as an end takes them that breaks the rule, `wrong`; the reference works
//! out both, and the first value that differs at the end is the finding. So an LRSM that ignores a bad flit is one that has taken it for a good
//! one. The cases stand in `references.txt`; the wave has the values of both behind each event.
//! Left out: how somebody comes to take one for the other.
//!
//! A walk: `right Error` leads an LRSM to RETRY_LLRREQ, `wrong NotRetryable` leaves it in RETRY_LOCAL_NORMAL: CXL68-LRS-04.

mod books;
mod bridge;
mod checks;
mod ends;
mod fabric;
mod flash;
mod io_switch;
mod machine;
mod memory;
mod switch;

use super::case_file::CaseFile;
use super::timeline::told;
use super::{BrokenCase, CaseError, CaseStep};
use machine::{Figure, Reference};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::{Body, FigureSignal, Hub, PlaceKind, RecordKind, Stamp, TimeAxis};

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "references.txt", text: include_str!("references.txt"), judged };

/// Time from event to event \[fs\].
const STEP_FS: u64 = 1_000_000;

/// Values that are all told.
const MOST_TOLD: usize = 7;

/// Bits of a value in the wave.
const VALUE_BITS: u32 = 64;

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let reference = Reference::of_name(lines.next().unwrap_or_default())?;
    let mut answers = |word: &str| {
        let events = lines.next().and_then(|line| line.strip_prefix(word));
        let events = events.ok_or_else(|| CaseError::of(format!("found no line `{word}`, expected one")))?;
        Ok::<_, CaseError>((events.trim(), reference.answers(events.trim())?))
    };
    let [(right_said, right), (wrong_said, wrong)] = [answers("right")?, answers("wrong")?];
    let last = |steps: &[Vec<Figure>]| steps.last().cloned().unwrap_or_default();
    let pairs: Vec<(Figure, Figure)> = last(&right).into_iter().zip(last(&wrong)).collect();
    let differs = pairs.iter().find(|(right, wrong)| right.said != wrong.said);
    let (expected, found) = differs.ok_or_else(|| CaseError::of("found the same answers, expected others"))?;
    let text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
    let (found, expected) =
        (format!("{} = {}", found.name, found.said), format!("{} = {}", expected.name, expected.said));
    // Of many values those alone that somebody sees to be wrong.
    let is_told = |figure: &Figure| {
        let is_other = |(right, wrong): &(Figure, Figure)| right.name == figure.name && right.said != wrong.said;
        pairs.len() <= MOST_TOLD || pairs.iter().any(is_other)
    };
    let said = |steps: &[Vec<Figure>]| {
        let last = last(steps);
        let told = last.iter().filter(|figure| is_told(figure) && figure.said != memory::NO_COMMAND);
        told.map(|figure| format!("{} = {}", figure.name, figure.said)).collect::<Vec<_>>().join(", ")
    };
    let t_fs = STEP_FS * right.len().max(wrong.len()) as u64;
    let step = |place: &str, events: &str, steps: &[Vec<Figure>]| CaseStep {
        t_fs: STEP_FS * steps.len() as u64,
        place: place.to_owned(),
        said: if events.is_empty() { said(steps) } else { format!("{events}: {}", said(steps)) },
    };
    let mut steps =
        vec![step("right", &reference.told(right_said), &right), step("wrong", &reference.told(wrong_said), &wrong)];
    steps.sort_by_key(|step| step.t_fs);
    let mut hub = Hub::new(true);
    let mut findings = hub.tap(reference.name(), PlaceKind::Findings);
    for (place, values) in [("right", &right), ("wrong", &wrong)] {
        let signal = |figure: &Figure| FigureSignal { name: figure.name.to_owned(), width: VALUE_BITS, names: None };
        let signals: Vec<FigureSignal> = last(values).iter().map(signal).collect();
        let mut tap = hub.tap(&format!("{}.{place}", reference.name()), PlaceKind::Figures(signals.into()));
        for (n, figures) in values.iter().enumerate() {
            let at = Stamp { t_fs: STEP_FS * (n as u64 + 1), cycle: n as u64 + 1 };
            for (signal, figure) in figures.iter().enumerate() {
                tap.record(at, RecordKind::Value, 0, 0, || Body::Figure { signal, value: figure.value });
            }
        }
    }
    let violation = Violation { rule, at: At::Message, found, expected, text };
    let finding = told(&violation);
    findings.record(Stamp { t_fs, cycle: 0 }, RecordKind::Violation, 0, 0, || Body::Violation(violation));
    let axis = TimeAxis::of_step(1, t_fs + STEP_FS);
    Ok(BrokenCase { what: what.to_owned(), t_fs, found: finding, steps, records: Some(hub), axis })
}
