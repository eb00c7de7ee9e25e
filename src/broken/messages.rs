//! Messages of the golden vectors that break a rule by themselves, outside of any flit.
//!
//! Modelled: the message, judged by its layout. The wave has its fields and the broken rule.

use super::message_wave::{MessageWave, STEP_FS};
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_forms::message::{fields_to_json, message_to_json};
use scalepool_forms::told::fields;
use scalepool_golden::breaking::BreakingMessage;
use scalepool_trace::TimeAxis;

/// Place of the message in the wave.
const PLACE: &str = "message";

/// The message of a rule, judged.
pub(super) fn judged(rule: &str, case: &BreakingMessage) -> Result<BrokenCase, CaseError> {
    let BreakingMessage { layout, bits, file, count, what } = case;
    let mut violations = Vec::new();
    layout.check(*bits, &mut violations);
    let violation = violations.into_iter().next().filter(|violation| violation.rule == rule);
    let violation = violation.ok_or_else(|| CaseError::breaks_nothing(rule, "message"))?;
    let found = violation.to_string();
    let said = format!("{}{}", layout.name, fields(fields_to_json(layout, *bits).as_object()));
    let mut wave = MessageWave::new(PLACE);
    wave.message(STEP_FS, PLACE, &message_to_json(layout, *bits))?;
    Ok(BrokenCase {
        what: format!("{what} (case {count} of golden/{file}.rsp)"),
        t_fs: STEP_FS,
        found,
        steps: vec![CaseStep { t_fs: STEP_FS, place: PLACE.to_owned(), said }],
        records: Some(wave.records(STEP_FS, violation)),
        axis: TimeAxis::of_step(1, 2 * STEP_FS),
    })
}
