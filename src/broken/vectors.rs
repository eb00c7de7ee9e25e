//! Cases of the golden vectors that break a rule in flits.
//!
//! Modelled: the case and up to three legal flits in front of it, a flit each nanosecond.

use super::{BrokenCase, CaseError, flits};
use scalepool_golden::breaking::BreakingCase;
use scalepool_inspect::capture::{Capture, CapturedUnit};
use scalepool_inspect::{InspectDetail, Inspection, Map, inspect_capture};

/// Time from flit to flit \[fs\].
const STEP_FS: u64 = 1_000_000;

/// The case of a rule, judged.
pub(super) fn judged(rule: &str, case: &BreakingCase) -> Result<BrokenCase, CaseError> {
    let BreakingCase { file, count, what, .. } = case;
    let what = format!("{what} (case {count} of golden/{file}.rsp)");
    let found = flits::case_of(rule, &inspected(rule, case)?, what, None);
    found.ok_or_else(|| CaseError::breaks_nothing(rule, "flit"))
}

/// The case as its decoder sees it: behind legal flits where these change nothing, else alone.
fn inspected(rule: &str, case: &BreakingCase) -> Result<Inspection, CaseError> {
    let dir = case.dir.name();
    let map = format!("[[interface]]\nname = \"link.{dir}\"\nprotocol = \"{}\"\ndir = \"{dir}\"\n", case.protocol);
    let inspected = |before: &[Vec<u8>]| {
        let unit = |(n, bytes): (usize, &Vec<u8>)| CapturedUnit {
            line: n + 1,
            t_fs: STEP_FS * (n as u64 + 1),
            cycle: None,
            place: format!("link.{dir}"),
            dir: None,
            bytes: bytes.clone(),
        };
        let capture = Capture { units: before.iter().chain(&case.units).enumerate().map(unit).collect() };
        let map = Map::read(&map, rule).map_err(CaseError::of)?;
        inspect_capture(&capture, rule, map, rule, InspectDetail::default()).map_err(CaseError::of)
    };
    let with_others = inspected(&case.before)?;
    let mut broken = with_others.seen.iter().filter(|seen| !seen.broken.is_empty());
    let is_first = broken.next().is_some_and(|seen| {
        seen.t_fs > STEP_FS * case.before.len() as u64 && seen.broken.iter().any(|broken| broken.violation.rule == rule)
    });
    Ok(if is_first { with_others } else { inspected(&[])? })
}
