//! Flits of a sender that does not keep to what both ends have agreed on, or that owes more data than there may be, judged as those of a
//! capture.
//!
//! Modelled: flits of one direction, a nanosecond apart, and the options of their interface. The cases stand in `agreed.txt`: behind the
//! head `PROTOCOL DIR OPTION=on|off ..`, then flit objects as `flit encode` reads them, a line each.
//! Left out: the other direction.
//!
//! A walk: `cxl-68b up mdh=off` and a flit with two data headers in a slot of format G6, which only MDH allows: CXL68-PCK-14.

use super::case_file::CaseFile;
use super::{BrokenCase, CaseError, flits};
use scalepool_forms::flit::FlitEncoder;
use scalepool_forms::options::Options;
use scalepool_forms::{number, parse};
use scalepool_inspect::capture::{Capture, CapturedUnit};
use scalepool_inspect::{InspectDetail, Map, inspect_capture};
use scalepool_protocols::cxl::Dir;

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "agreed.txt", text: include_str!("agreed.txt"), judged };

/// Time from flit to flit \[fs\].
const STEP_FS: u64 = 1_000_000;

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let head = lines.next().unwrap_or_default();
    let words: Vec<&str> = head.split(' ').collect();
    let [protocol, dir, settings @ ..] = words.as_slice() else {
        return Err(CaseError::of(format!("found `{head}`, expected PROTOCOL DIR OPTION=on|off ..")));
    };
    let known = [Dir::Down, Dir::Up].into_iter().find(|known| known.name() == *dir);
    let known = known.ok_or_else(|| CaseError::of(format!("found `{dir}`, expected down or up")))?;
    let mut options = Options::default();
    for setting in settings {
        options.set(protocol, setting).map_err(CaseError::of)?;
    }
    let mut encoder = FlitEncoder::with_options(protocol, Some(known), &options).map_err(CaseError::of)?;
    let forms = lines.map(|line| parse(line).map_err(CaseError::of)).collect::<Result<Vec<_>, _>>()?;
    let mut answers: Vec<_> = forms.into_iter().flat_map(|form| encoder.encode(Ok(form))).collect();
    answers.extend(encoder.finish());
    let mut units = Vec::new();
    for (n, answer) in answers.into_iter().enumerate() {
        let (form, _) = answer.map_err(CaseError::of)?;
        let bytes = number::bytes_of(form["hex"].as_str().unwrap_or_default(), "hex").map_err(CaseError::of)?;
        let (t_fs, place) = (STEP_FS * (n as u64 + 1), format!("link.{dir}"));
        units.push(CapturedUnit { line: n + 1, t_fs, cycle: None, place, dir: None, bytes });
    }
    let set = settings.iter().map(|setting| format!("\"{setting}\"")).collect::<Vec<_>>().join(", ");
    let map = format!(
        "[[interface]]\nname = \"link.{dir}\"\nprotocol = \"{protocol}\"\ndir = \"{dir}\"\noptions = [{set}]\n"
    );
    let map = Map::read(&map, rule).map_err(CaseError::of)?;
    let judged =
        inspect_capture(&Capture { units }, rule, map, rule, InspectDetail::default()).map_err(CaseError::of)?;
    flits::case_of(rule, &judged, what.to_owned(), None).ok_or_else(|| CaseError::breaks_nothing(rule, "flit"))
}
