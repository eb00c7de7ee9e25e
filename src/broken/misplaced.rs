//! Bits that stand elsewhere than a layout says: what the sender means, and what a decoder reads of the bits of a sender that breaks the rule.
//!
//! Modelled: a message or a few flits with known values, encoded as the layout says, and the same bits moved, left out or put in by one step or
//! more; both are read by the decoder that reads the flits of somebody else. The first field that is read otherwise is the finding, and what
//! the decoder itself has to say of the wrong bits stands behind it, which may be nothing. Flits get the checks that fit, unless the case is about
//! these. The cases stand in `misplaced.txt`; the wave has the fields of both, `right` and `wrong`.
//! Left out: receivers that read right bits wrongly.
//!
//! A walk: an S2M NDR with tag 5 is encoded; the bit below its tag is put in once more; the decoder reads tag 10 and names no rule, so that a
//! user sees why nothing was said.

mod moves;
mod read;

use super::case_file::CaseFile;
use super::{BrokenCase, CaseError, CaseStep};
use moves::Move;
use read::{UnitReading, first_difference};
use scalepool_protocols::rules;

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "misplaced.txt", text: include_str!("misplaced.txt"), judged };

/// Most bytes of a unit that are told.
const MOST_BYTES: usize = 16;

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let lines = || text.lines().filter(|line| !line.is_empty());
    let head = lines().next().unwrap_or_default();
    let right = UnitReading::of_objects(head, lines().skip(1).filter(|line| line.starts_with('{')))?;
    let mut wrong = right.clone();
    let mut is_sealed = true;
    for line in lines().skip(1).filter(|line| !line.starts_with('{')) {
        match line {
            "unsealed" => is_sealed = false,
            _ => Move::read(line)?.apply(wrong.last_unit()?)?,
        }
    }
    if is_sealed {
        wrong.seal()?;
    }
    let (right, wrong) = (right.decoded()?, wrong.decoded()?);
    if !right.broken.is_empty() {
        return Err(CaseError::of(format!(
            "found {} in the right bits, expected no broken rule",
            right.broken.join(", ")
        )));
    }
    let difference = first_difference(&right.forms, &wrong.forms, !is_sealed);
    let (place, expected, found) = difference.ok_or_else(|| CaseError::of("found the same fields, expected others"))?;
    let text = rules::find(rule).map_or("", |rule| rule.text);
    let told = match wrong.broken.as_slice() {
        [] => "the decoder names no rule".to_owned(),
        broken => format!("the decoder names {}", broken.join(", ")),
    };
    let bytes = told_bytes(&right.units, &wrong.units);
    let said = format!("{rule} at {place}: found {found}, expected {expected} ({text}; {told})");
    let steps = [("right", &right, &bytes.0), ("wrong", &wrong, &bytes.1)].map(|(place, decoded, bytes)| CaseStep {
        t_fs: decoded.t_fs,
        place: place.to_owned(),
        said: format!("{}: {}", bytes, decoded.said),
    });
    let (t_fs, axis) = (wrong.t_fs, wrong.axis());
    let records = read::wave(rule, &right, &wrong, (found, expected), text)?;
    Ok(BrokenCase { what: what.to_owned(), t_fs, found: said, steps: steps.into(), records: Some(records), axis })
}

/// The bytes of the first unit from the first to the last one that differ.
fn told_bytes(right: &[Vec<u8>], wrong: &[Vec<u8>]) -> (String, String) {
    let pairs = right.iter().zip(wrong);
    let Some((right, wrong)) = pairs.into_iter().find(|(right, wrong)| right != wrong) else {
        return ("same bytes".to_owned(), "same bytes".to_owned());
    };
    let differ = |n: &usize| right[*n] != wrong[*n];
    let first = (0..right.len()).find(differ).unwrap_or_default();
    let last = (0..right.len()).rfind(differ).unwrap_or_default().min(first + MOST_BYTES - 1);
    let hex = |unit: &[u8]| scalepool_forms::number::hex(&unit[first..=last]);
    let head = if first == last { format!("byte {first}") } else { format!("bytes {first} to {last}") };
    (format!("{head} {}", hex(right)), format!("{head} {}", hex(wrong)))
}
