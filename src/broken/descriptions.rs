//! Descriptions of systems that a rule forbids: a built-in system with one thing changed, or a ring of switches, and the words with which
//! it is refused.
//!
//! Modelled: a text in the description that is replaced by another one, and settings. What is refused has no wave, for nothing moves; a
//! command of the fabric manager that is refused while the system runs is what the run finds. The cases stand in `descriptions.txt`.
//! Left out: what is a warning.
//!
//! A walk: without its second binding, `pooled-pair` has a host whose virtual hierarchy has no port; the description is refused at the line
//! of the bindings, with the rule FAB-VCS-01.

use super::case_file::CaseFile;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_protocols::rules;
use scalepool_scenario::{self as scenario, Scenario, ScenarioRequest};
use scalepool_trace::TimeAxis;

/// Its cases.
pub(super) static FILE: CaseFile =
    CaseFile { name: "descriptions.txt", text: include_str!("descriptions.txt"), judged };

/// A system that is none of the built-in ones, and its description.
const RING: (&str, &str) = ("ring-of-five", include_str!("descriptions/ring.toml"));

/// What stands in front of and behind a text that is replaced.
const BECOMES: &str = " => ";

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let name = lines.next().unwrap_or_default();
    let system = match name == RING.0 {
        true => Some(RING.1),
        false => scenario::find(name).map(Scenario::description),
    };
    let mut description =
        system.ok_or_else(|| CaseError::of(format!("found `{name}`, expected a built-in system")))?.to_owned();
    let (mut set, mut changes) = (Vec::new(), Vec::new());
    for line in lines {
        match line.split_once(BECOMES) {
            Some((old, new)) => {
                // A line break stands as `\n` in a line of the file.
                let [old, new] = [old, new].map(|text| text.replace("\\n", "\n"));
                if !description.contains(&old) {
                    return Err(CaseError::of(format!("{name}: found no `{old}`, expected it")));
                }
                description = description.replace(&old, &new);
                changes.push(new.replace('\n', " ").trim().to_owned());
            }
            None => set.push(line.to_owned()),
        }
    }
    let said = |found: String| {
        let text = rules::find(rule).map_or("", |rule| rule.text);
        let changed =
            |text: &String| if text.is_empty() { "without a part of it".to_owned() } else { format!("with {text}") };
        let changes: Vec<String> =
            changes.iter().map(changed).chain(set.iter().map(|set| format!("--set {set}"))).collect();
        let said = if changes.is_empty() { "as it stands".to_owned() } else { changes.join(", ") };
        BrokenCase {
            what: what.to_owned(),
            t_fs: 0,
            found: format!("{rule}: {found} ({text})"),
            steps: vec![CaseStep { t_fs: 0, place: name.to_owned(), said }],
            records: None,
            axis: TimeAxis::of_step(1, 1),
        }
    };
    let request = ScenarioRequest {
        description: Some(description.clone()),
        seed: 1,
        threads: 1,
        set: set.clone(),
        ..ScenarioRequest::default()
    };
    match scenario::run(&request, &mut |_| ()) {
        // Of several problems the first one is told.
        Err(refused) => Ok(said(refused.to_string().lines().next().unwrap_or_default().to_owned())),
        Ok(report) => {
            let mut found = report.violations.iter();
            let found = found.find(|found| {
                found.violation.rule == rule
                    || names(&found.violation.found, rule)
                    || names(&found.violation.expected, rule)
            });
            let found = found.ok_or_else(|| CaseError::breaks_nothing(rule, "refused description"))?;
            Ok(said(format!("found {}, expected {}", found.violation.found, found.violation.expected)))
        }
    }
}

/// Whether a text names a rule, by its id or as the sheets do: FAB-BND-08 as BND-8.
pub(super) fn names(text: &str, rule: &str) -> bool {
    let short = rule.split_once('-').map_or(rule, |(_, short)| short);
    let short = short.replace("-0", "-");
    text.contains(rule) || text.contains(&format!("{short})"))
}
