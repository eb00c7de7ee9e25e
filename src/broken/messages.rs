//! Messages of the golden vectors that break a rule by themselves, outside of any flit.
//!
//! Modelled: the message, judged by its layout. The wave has its fields and the broken rule.

use super::{BrokenCase, CaseError, CaseStep};
use scalepool_forms::message::fields_to_json;
use scalepool_golden::breaking::BreakingMessage;
use scalepool_inspect::told::fields;
use scalepool_protocols::cxl::{cxl68, cxl256, cxlio};
use scalepool_protocols::wire::LayoutDef;
use scalepool_protocols::{nvlink, ualink};
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, TimeAxis};

/// Time of the message \[fs\].
const AT_FS: u64 = 1_000_000;

/// Place of the message in the wave.
const PLACE: &str = "message";

/// All layouts, by family.
const FAMILIES: [&[&LayoutDef]; 6] =
    [cxl68::LAYOUTS, cxl256::LAYOUTS, cxl256::PBR_LAYOUTS, cxlio::LAYOUTS, ualink::LAYOUTS, nvlink::LAYOUTS];

/// The message of a rule, judged.
pub(super) fn judged(rule: &str, case: &BreakingMessage) -> Result<BrokenCase, CaseError> {
    let BreakingMessage { layout, bits, file, count, what } = case;
    let mut violations = Vec::new();
    layout.check(*bits, &mut violations);
    let violation = violations.into_iter().next().filter(|violation| violation.rule == rule);
    let violation = violation.ok_or_else(|| CaseError::breaks_nothing(rule, "message"))?;
    let found = violation.to_string();
    let said = format!("{}{}", layout.name, fields(fields_to_json(layout, *bits).as_object()));
    let shown = FAMILIES.into_iter().find_map(|family| {
        let at = family.iter().position(|def| std::ptr::eq(*def, *layout))?;
        family.get(at..=at)
    });
    let mut records = Hub::new(true);
    let mut message = records.tap(PLACE, PlaceKind::Messages(shown.unwrap_or_default()));
    let mut findings = records.tap(PLACE, PlaceKind::Findings);
    let at = Stamp { t_fs: AT_FS, cycle: 1 };
    message.record(at, RecordKind::Mark, 0, 0, || Body::Message { layout, bits: *bits, data: None });
    findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
    Ok(BrokenCase {
        what: format!("{what} (case {count} of golden/{file}.rsp)"),
        t_fs: AT_FS,
        found,
        steps: vec![CaseStep { t_fs: AT_FS, place: PLACE.to_owned(), said }],
        records,
        axis: TimeAxis::of_step(1, 2 * AT_FS),
    })
}
