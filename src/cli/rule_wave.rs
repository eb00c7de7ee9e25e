//! The wave of a case that breaks a rule: flits of the golden vectors, or a run whose flits were changed, judged as `inspect` judges a
//! capture.
//!
//! Modelled: of vectors the case and up to three legal flits in front of it, a flit each nanosecond; of runs both directions of a link. The
//! wave has messages, fields, states and credits, and the name of the broken rule; the save file of GTKWave beside it opens with the marker
//! there. Left out: rules that neither breaks, such as those that say what a part does inside.

use super::broken_run;
use super::inspect_files::write_decoded;
use anyhow::{Context, bail};
use scalepool_golden::breaking::{BreakingCase, breaking_cases};
use scalepool_inspect::capture::{Capture, CapturedUnit};
use scalepool_inspect::told::time_ns;
use scalepool_inspect::{InspectDetail, Inspection, Map, inspect_capture};
use scalepool_trace::output::PartFile;
use scalepool_trace::{TraceFilter, gtkw};
use serde_json::{Value, json};
use std::path::Path;

/// Time from flit to flit \[fs\].
const STEP_FS: u64 = 1_000_000;

/// What was written, in words and as an object.
pub(super) struct WrittenWave {
    pub text: String,
    pub json: Value,
}

/// A case, judged.
struct RuleCase {
    inspection: Inspection,
    what: String,
}

/// Rules that have a wave, of those whose ids begin so; all for an empty `prefix`.
pub(super) fn rules_with_waves(prefix: &str) -> Vec<&'static str> {
    let of_runs = broken_run::rules().filter(|rule| rule.starts_with(prefix));
    breaking_cases(prefix).keys().copied().chain(of_runs).collect()
}

/// The case of a rule: that of the vectors, or else that of a run.
fn case_of(rule: &str) -> anyhow::Result<RuleCase> {
    let family = rule.split_once('-').map_or(rule, |(family, _)| family);
    let prefix = format!("{family}-");
    if let Some(case) = breaking_cases(&prefix).get(rule) {
        let BreakingCase { file, count, what, .. } = case;
        let what = format!("{what} (case {count} of golden/{file}.rsp)");
        return Ok(RuleCase { inspection: inspected(rule, case)?, what });
    }
    if let Some(run) = broken_run::of(rule)? {
        return Ok(RuleCase { inspection: run.inspection, what: run.what });
    }
    let near = rules_with_waves(&prefix);
    let near = if near.is_empty() { String::new() } else { format!("; of {family} these are {}", near.join(", ")) };
    bail!(
        "--wave: found {rule}, expected a rule that flits of the golden vectors or of changed runs break{near}; \
         docs/reference/rules.md says of every rule whether it has a wave"
    )
}

/// Writes the wave of a rule, and a save file beside it.
///
/// # Errors
/// A rule that has none; a file of another kind, or one that cannot be written.
pub(super) fn write(rule: &str, path: &Path) -> anyhow::Result<WrittenWave> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["vcd", "fst"].contains(&ending) {
        bail!("--wave: found {}, expected a name that ends in .vcd or .fst", path.display());
    }
    let RuleCase { inspection, what } = case_of(rule)?;
    // Before any file is made, so that none is left behind where there is nothing to show.
    let (t_fs, said) = first_of(&inspection, rule)
        .with_context(|| format!("{rule}: found no flit that breaks it first, expected one"))?;
    let (mut part, file) = PartFile::create(path)?;
    let highlights = write_decoded(ending == "fst", path, file, &inspection, TraceFilter::default())?;
    part.keep()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    gtkw::write_gtkwave(folder, &name, inspection.decoded().places(), &TraceFilter::default(), &highlights)?;
    let save = gtkw::save_of(path);
    let text = format!(
        "wave:        {} with {}, marker at {} ns: {what}\nfound:       {said}",
        path.display(),
        save.display(),
        time_ns(t_fs)
    );
    let json = json!({
        "file": path.display().to_string(), "save": save.display().to_string(), "t_fs": t_fs, "what": what, "found": said,
    });
    Ok(WrittenWave { text, json })
}

/// The case as its decoder sees it: behind legal flits where these change nothing, else alone.
fn inspected(rule: &str, case: &BreakingCase) -> anyhow::Result<Inspection> {
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
        inspect_capture(&capture, rule, Map::read(&map, rule)?, rule, InspectDetail::default())
    };
    let with_others = inspected(&case.before)?;
    let is_first = first_of(&with_others, rule).is_some_and(|(t_fs, _)| t_fs > STEP_FS * case.before.len() as u64);
    Ok(if is_first { with_others } else { inspected(&[])? })
}

/// Time and text of the first finding of a rule, if no other one stands before its flit.
fn first_of(inspection: &Inspection, rule: &str) -> Option<(u64, String)> {
    let broken = || inspection.seen.iter().flat_map(|seen| &seen.broken);
    let found = broken().find(|broken| broken.violation.rule == rule)?;
    let is_first = broken().next().is_some_and(|first| first.t_fs == found.t_fs);
    is_first.then(|| (found.t_fs, found.violation.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rule that has a case: nothing stands in front of the flit that breaks it.
    #[test]
    fn a_wave_breaks_its_rule_first() {
        let cases = breaking_cases("");
        for (&rule, case) in &cases {
            let inspection = inspected(rule, case).unwrap_or_else(|e| panic!("{rule}: {e}"));
            assert!(first_of(&inspection, rule).is_some(), "{rule}: {:?}", inspection.seen);
        }
        assert!(cases.len() > 130, "{} rules have cases", cases.len());
        for rule in broken_run::rules() {
            assert!(!cases.contains_key(rule), "{rule} has a case already");
            let inspection = case_of(rule).unwrap_or_else(|e| panic!("{e:#}")).inspection;
            assert!(first_of(&inspection, rule).is_some(), "{rule}");
        }
    }
}
