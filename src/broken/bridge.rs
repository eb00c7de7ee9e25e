//! Messages at the ports of a bridge that break a rule, judged by the scoreboard that watches a bridge of somebody else.
//!
//! The cases stand in `bridge.txt`: the configuration of the scoreboard, then a line for each message, credit or commit, in their order, a
//! nanosecond apart; `end` is the end of the run. The wave has a scope for each of the four points of the bridge with the messages there.

use super::{BrokenCase, CaseError, CaseStep};
use scalepool_conversion::config::ReferenceConfig;
use scalepool_conversion::message::BridgeMessage;
use scalepool_conversion::model::{BridgeEvent, BridgePoint};
use scalepool_conversion::scoreboard::BridgeScoreboard;
use scalepool_forms::message::message_from_json;
use scalepool_forms::parse;
use scalepool_inspect::told::fields;
use scalepool_protocols::cxl::cxl256::message::{M2sBirsp, M2sReq, M2sRwd, S2mBisnp, S2mDrs, S2mNdr};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCpl, NfmMem32, NfmMem64};
use scalepool_protocols::nvlink::NvlHeader;
use scalepool_protocols::rules;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::wire::{At, LayoutDef, Violation, Wire};
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, Tap, TimeAxis};
use serde_json::{Value, json};

const TEXT: &str = include_str!("bridge.txt");

/// Time from line to line \[fs\].
const STEP_FS: u64 = 1_000_000;

/// Layouts of messages at the ports, each by itself, so that the wave has those that pass.
const LAYOUTS: &[&[&LayoutDef]] = &[
    &[TlReq::DEF],
    &[TlRsp::DEF],
    &[NvlHeader::DEF],
    &[M2sReq::DEF],
    &[M2sRwd::DEF],
    &[M2sBirsp::DEF],
    &[S2mNdr::DEF],
    &[S2mDrs::DEF],
    &[S2mBisnp::DEF],
    &[NfmMem32::DEF],
    &[NfmMem64::DEF],
    &[NfmCpl::DEF],
];

/// The text of a case: its head and its lines.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXT.split("\n= ").skip(1).filter_map(|case| case.split_once('\n'))
}

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    cases().filter_map(|(head, _)| head.split(' ').next())
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    let mut found = cases().filter_map(|(head, lines)| Some((head.split_once(' ')?, lines)));
    let found = found.find(|((id, _), _)| *id == rule);
    found
        .map(|((id, what), lines)| judged(id, what, lines).map_err(|e| CaseError::of(format!("bridge.txt: {id}: {e}"))))
        .transpose()
}

/// What a line says.
enum Line {
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
    let mut lines = text.lines();
    let config = lines.next().and_then(|line| line.strip_prefix("config "));
    let config = config.ok_or_else(|| CaseError::of("found no configuration, expected one"))?;
    let config = parse(config).and_then(|form| ReferenceConfig::from_json(&form)).map_err(CaseError::of)?;
    let mut board = BridgeScoreboard::new(config);
    let (mut steps, mut wave) = (Vec::new(), Wave::new());
    for (n, line) in lines.enumerate() {
        let t_fs = STEP_FS * (n as u64 + 1);
        let (place, said) = match line_of(line)? {
            Line::Message(event, form) => {
                board.pass(&event).map_err(CaseError::of)?;
                wave.message(t_fs, event.point, &form)?;
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
        let Some(finding) = findings.iter().find(|finding| finding.rule == rule) else {
            return Err(CaseError::of(format!("found {} at line {n}, expected the rule first", others.join(", "))));
        };
        let text = rules::find(rule).map_or("", |rule| rule.text);
        let (found, expected) = (finding.found.clone(), finding.expected.clone());
        let said = format!("{rule}: found {found}, expected {expected} ({text})");
        let violation = Violation { rule, at: At::Message, found, expected, text: text.to_owned() };
        let first = steps.len().saturating_sub(super::timeline::MOST_STEPS);
        return Ok(BrokenCase {
            what: what.to_owned(),
            t_fs,
            found: said,
            steps: steps.split_off(first),
            records: wave.records(t_fs, violation),
            axis: TimeAxis::of_step(1, t_fs + STEP_FS),
        });
    }
    Err(CaseError::breaks_nothing(rule, "message"))
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

/// The wave: a scope for each point.
struct Wave {
    hub: Hub,
    findings: Tap,
    points: Vec<(BridgePoint, &'static LayoutDef, Tap)>,
}

impl Wave {
    fn new() -> Wave {
        let mut hub = Hub::new(true);
        let findings = hub.tap("bridge", PlaceKind::Findings);
        Wave { hub, findings, points: Vec::new() }
    }

    fn message(&mut self, t_fs: u64, point: BridgePoint, form: &Value) -> Result<(), CaseError> {
        let (layout, bits) =
            message_from_json(&json!({ "layout": form["layout"], "fields": form["fields"] })).map_err(CaseError::of)?;
        let known = self.points.iter().position(|(of, def, _)| *of == point && std::ptr::eq(*def, layout));
        let at = known.unwrap_or_else(|| {
            let shown = LAYOUTS.iter().find(|shown| std::ptr::eq(shown[0], layout)).copied().unwrap_or_default();
            let tap = self.hub.tap(&format!("bridge.{}", point.name()), PlaceKind::Messages(shown));
            self.points.push((point, layout, tap));
            self.points.len() - 1
        });
        let at_time = Stamp { t_fs, cycle: t_fs / STEP_FS };
        let tap = &mut self.points[at].2;
        tap.record(at_time, RecordKind::Mark, 0, 0, || Body::Message { layout, bits, data: None });
        Ok(())
    }

    fn records(mut self, t_fs: u64, violation: Violation) -> Hub {
        let at = Stamp { t_fs, cycle: t_fs / STEP_FS };
        self.findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
        self.hub
    }
}
