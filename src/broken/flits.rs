//! Judged flits as a case: the steps up to the first finding, and the wave.
//!
//! Modelled: of each flit its kind, what it controls and the messages in it with the fields that tell them apart. Left out: flits that
//! carry nothing, where others are left to show; what a flit has beside its first messages.

use super::{
    BrokenCase, CaseStep,
    timeline::{MOST_STEPS, cut},
};
use scalepool_inspect::told::{fields, messages};
use scalepool_inspect::{Inspection, SeenUnit};
use serde_json::Value;

/// Most messages of a flit that are told.
const MOST_MESSAGES: usize = 2;
/// Fields that say that nothing is asked for.
const AT_REST: [&str; 4] = [" snp_type=NoOp", " meta_field=NoOp", " meta_value=Invalid", " devload=Light"];
/// Most characters of what a flit is told as.
const MOST_CHARACTERS: usize = 150;

/// The case of a rule, if the rule is what fires first. `what` is the case in words; `changed` is the time of a flit that is shown in any
/// case \[fs\].
pub(super) fn case_of(rule: &str, inspection: &Inspection, what: String, changed: Option<u64>) -> Option<BrokenCase> {
    let all = inspection.seen.iter().enumerate();
    let mut broken = all.flat_map(|(n, seen)| seen.broken.iter().map(move |broken| (n, broken)));
    let first = broken.clone().next()?.1.t_fs;
    // Of several findings of one time the order says nothing.
    let (place, found) = broken.find(|(_, broken)| broken.violation.rule == rule && broken.t_fs == first)?;
    let seen = &inspection.seen[..=place];
    let is_shown = |seen: &&SeenUnit| !is_idle(seen) || Some(seen.t_fs) == changed;
    let mut shown: Vec<&SeenUnit> = Vec::new();
    for seen in seen[..place].iter().filter(is_shown) {
        // A flit that is as the one before it in its direction says nothing new.
        let before = shown.iter().rev().find(|before| before.interface == seen.interface);
        if Some(seen.t_fs) == changed || before.is_none_or(|before| before.bytes != seen.bytes) {
            shown.push(seen);
        }
    }
    if shown.is_empty() {
        shown = seen[..place].iter().collect();
    }
    let kept_changed = changed.and_then(|t_fs| shown.iter().position(|seen| seen.t_fs == t_fs));
    let first = shown.len().saturating_sub(MOST_STEPS - 1);
    let before = kept_changed.filter(|n| *n < first).map(|n| shown[n]);
    let steps = before.into_iter().chain(shown[first + usize::from(before.is_some())..].iter().copied());
    let steps = steps.chain([&seen[place]]).map(|seen| step(inspection, seen)).collect();
    let (t_fs, found) = (found.t_fs, found.violation.to_string());
    // A viewer shows the last value of a signal at a time: that of the rule of this case.
    let mut own = inspection.clone();
    for seen in &mut own.seen {
        seen.broken.retain(|broken| broken.t_fs != t_fs || broken.violation.rule == rule);
    }
    Some(BrokenCase { what, t_fs, found, steps, records: Some(own.decoded()), axis: inspection.axis })
}

fn is_idle(seen: &SeenUnit) -> bool {
    let Some(form) = &seen.form else { return false };
    let kind = form["kind"].as_str().unwrap_or_default();
    let carries = ["control", "almp", "io", "all-data"].contains(&kind);
    let is_plain_control = form["control"]["name"] == "RETRY.Idle";
    (!carries || is_plain_control) && messages(form).is_empty()
}

fn step(inspection: &Inspection, seen: &SeenUnit) -> CaseStep {
    let name = &inspection.map.interface[seen.interface].name;
    let place = name.strip_prefix("link.").unwrap_or(name).to_owned();
    let mut said = seen.form.as_ref().map_or_else(|| "bytes that are no unit".to_owned(), said);
    // What the line of a run has damaged is known.
    seen.waived.iter().take(1).for_each(|waived| said += &format!(" ({})", waived.found.violation.rule));
    CaseStep { t_fs: seen.t_fs, place, said }
}

/// A flit object in words.
pub(super) fn said(form: &Value) -> String {
    let kind = form["kind"].as_str().unwrap_or("unit");
    let mut text = match (form["control"]["name"].as_str(), form["packet"]["header"].as_object()) {
        (Some(name), _) => format!("{name}{}", fields(form["control"]["fields"].as_object())),
        (None, Some(header)) => fields(Some(header)).trim_start().to_owned(),
        (None, None) => {
            let names = ["op", "seq_lo", "ack_req_seq", "prior_type", "flit_type", "seq", "rp", "rsp_crd", "req_crd"];
            let of_header = names.iter().filter_map(|name| Some((*name, form["header"].get(name)?)));
            let of_header = of_header.filter(|(_, value)| **value != 0);
            let told = of_header.map(|(name, value)| {
                format!(" {name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            });
            format!("{kind}{}", told.collect::<String>())
        }
    };
    let all = messages(form);
    for (layout, values) in all.iter().take(MOST_MESSAGES) {
        let name = layout.split_once('.').map_or(*layout, |(_, name)| name);
        text += &format!(", {name}{}", fields(Some(values)));
    }
    for at_rest in AT_REST {
        text = text.replace(at_rest, "");
    }
    if all.len() > MOST_MESSAGES {
        text += &format!(", {} more", all.len() - MOST_MESSAGES);
    }
    cut(&text, MOST_CHARACTERS)
}
