//! Messages at the ports of a bridge that break a rule, judged by the scoreboard that watches a bridge of somebody else.
//!
//! The cases stand in `bridge.txt`: the configuration of the scoreboard, then a line for each message, credit or commit, in their order, a
//! nanosecond apart; `end` is the end of the run. `under RULE` in front of the configuration is the rule under which the scoreboard tells the
//! case, where that is not the rule itself: that another message was expected is BRG-INT-02, that none was or one is missing at the end BRG-INT-03, whichever rule asks for it. The wave has a scope for each of the four points of the bridge with the messages there.

use super::case_file::CaseFile;
use super::message_wave::{MessageWave, STEP_FS};
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_conversion::config::ReferenceConfig;
use scalepool_conversion::message::BridgeMessage;
use scalepool_conversion::model::{BridgeEvent, BridgePoint};
use scalepool_conversion::scoreboard::BridgeScoreboard;
use scalepool_forms::parse;
use scalepool_inspect::told::fields;
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::TimeAxis;
use serde_json::Value;

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "bridge.txt", text: include_str!("bridge.txt"), judged };

/// What a line says.
pub(super) enum Line {
    Message(BridgeEvent, Value),
    Credit(Value),
    Commit(Value),
    End,
}

fn line_of(text: &str) -> Result<Line, CaseError> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match word {
        "end" => Line::End,
        "credit" => Line::Credit(parse(rest).map_err(CaseError::of)?),
        "commit" => Line::Commit(parse(rest).map_err(CaseError::of)?),
        _ => {
            let point = BridgePoint::ALL.into_iter().find(|point| point.name() == word);
            let unknown = || CaseError::of(format!("found `{word}`, expected a point, credit, commit or end"));
            let point = point.ok_or_else(unknown)?;
            let (port, form) = rest.split_once(' ').ok_or_else(|| CaseError::of("found no port, expected one"))?;
            let form = parse(form).map_err(CaseError::of)?;
            let port = port.parse().map_err(CaseError::of)?;
            let message = BridgeMessage::from_json(&form).map_err(CaseError::of)?;
            Line::Message(BridgeEvent { point, port, message }, form)
        }
    })
}

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let (told_under, text) = match text.strip_prefix("under ").and_then(|text| text.split_once('\n')) {
        Some((under, text)) => (rules::find(under).map_or(rule, |rule| rule.id), text),
        None => (rule, text),
    };
    let told_under = &[told_under];
    let mut lines = text.lines();
    let config = lines.next().and_then(|line| line.strip_prefix("config "));
    let config = config.ok_or_else(|| CaseError::of("found no configuration, expected one"))?;
    let config = parse(config).map_err(CaseError::of)?;
    let lines = lines.map(line_of).collect::<Result<Vec<Line>, _>>()?;
    BridgeCase { rule, what: what.to_owned(), config: &config, told_under }.judged(lines)
}

/// A case of messages at the ports of a bridge.
pub(super) struct BridgeCase<'a> {
    pub(super) rule: &'static str,
    /// What happens, in words.
    pub(super) what: String,
    /// The configuration of the scoreboard.
    pub(super) config: &'a Value,
    /// The rules under one of which the scoreboard tells it, if not under that of the case.
    pub(super) told_under: &'a [&'static str],
}

impl BridgeCase<'_> {
    /// The lines up to the first finding.
    ///
    /// # Errors
    /// Lines without a finding, or whose first one has another rule.
    pub(super) fn judged(self, lines: Vec<Line>) -> Result<BrokenCase, CaseError> {
        let BridgeCase { rule, what, config, told_under } = self;
        let config = ReferenceConfig::from_json(config).map_err(CaseError::of)?;
        let mut board = BridgeScoreboard::new(config);
        let (mut steps, mut wave) = (Vec::new(), MessageWave::new("bridge"));
        for (n, line) in lines.into_iter().enumerate() {
            let t_fs = STEP_FS * (n as u64 + 1);
            let (place, said) = match line {
                Line::Message(event, form) => {
                    board.pass(&event).map_err(CaseError::of)?;
                    wave.message(t_fs, event.point.name(), &form)?;
                    (event.point.name(), told(event.port, &form))
                }
                Line::Credit(form) => {
                    board.credit(&form).map_err(CaseError::of)?;
                    ("credit", words(&form))
                }
                Line::Commit(form) => {
                    board.commit(&form).map_err(CaseError::of)?;
                    ("commit", "new windows".to_owned())
                }
                Line::End => {
                    board.finish();
                    ("end", "nothing more passes".to_owned())
                }
            };
            steps.push(CaseStep { t_fs, place: place.to_owned(), said });
            let mut findings = Vec::new();
            while let Some(finding) = board.finding() {
                findings.push(finding.clone());
                board.drop_finding();
            }
            if findings.is_empty() {
                continue;
            }
            let others: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
            let Some(finding) =
                findings.iter().find(|finding| finding.rule == rule || told_under.contains(&finding.rule))
            else {
                let (others, told_under) = (others.join(", "), told_under.join(" or "));
                return Err(CaseError::of(format!("found {others} at line {n}, expected {told_under} first")));
            };
            let mut text = rules::find(rule).map_or("", |rule| rule.text).to_owned();
            if finding.rule != rule {
                text += &format!("; the scoreboard tells it as {}", finding.rule);
            }
            let (found, expected) = (finding.found.clone(), finding.expected.clone());
            let said = format!("{rule}: found {found}, expected {expected} ({text})");
            let violation = Violation { rule, at: At::Message, found, expected, text };
            let first = steps.len().saturating_sub(super::timeline::MOST_STEPS);
            return Ok(BrokenCase {
                what,
                t_fs,
                found: said,
                steps: steps.split_off(first),
                records: Some(wave.records(t_fs, violation)),
                axis: TimeAxis::of_step(1, t_fs + STEP_FS),
            });
        }
        Err(CaseError::breaks_nothing(rule, "message"))
    }
}

/// A message in words.
fn told(port: usize, form: &Value) -> String {
    let layout = form["layout"].as_str().unwrap_or_default();
    let data = form.get("data").map_or("", |_| ", with data");
    format!("port {port}: {layout}{}{data}", fields(form["fields"].as_object()))
}

/// The keys of an object in words.
fn words(form: &Value) -> String {
    let keys = form.as_object().into_iter().flatten();
    let words = keys.map(|(key, value)| match value.as_str() {
        Some(text) => text.to_owned(),
        None => format!("{key} {value}"),
    });
    words.collect::<Vec<_>>().join(", ")
}
