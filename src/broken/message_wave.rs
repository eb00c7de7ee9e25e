//! The wave of messages that stand by themselves: at ports of a bridge, on a link without its flits, at one port, or none of these.

use super::{BrokenCase, CaseError, CaseStep};
use scalepool_forms::message::message_from_json;
use scalepool_protocols::cxl::{cxl68, cxl256, cxlio};
use scalepool_protocols::wire::{LayoutDef, Violation};
use scalepool_protocols::{nvlink, ualink};
use scalepool_trace::{Body, FigureSignal, Hub, PlaceKind, RecordKind, Stamp, Tap, TimeAxis};
use serde_json::{Value, json};

/// Time from message to message \[fs\].
pub(super) const STEP_FS: u64 = 1_000_000;

/// Bits of a figure in the wave.
const FIGURE_BITS: u32 = 64;

/// All layouts, by family.
const FAMILIES: [&[&LayoutDef]; 6] =
    [cxl68::LAYOUTS, cxl256::LAYOUTS, cxl256::PBR_LAYOUTS, cxlio::LAYOUTS, ualink::LAYOUTS, nvlink::LAYOUTS];

/// A layout by itself as what a place shows, so that the wave has those that pass.
fn shown(layout: &'static LayoutDef) -> &'static [&'static LayoutDef] {
    let of_family = |family: &&'static [&'static LayoutDef]| {
        let at = family.iter().position(|def| std::ptr::eq(*def, layout))?;
        family.get(at..=at)
    };
    FAMILIES.iter().find_map(of_family).unwrap_or_default()
}

/// A wave with a scope for each place.
pub(super) struct MessageWave {
    scope: &'static str,
    hub: Hub,
    findings: Tap,
    places: Vec<(String, &'static LayoutDef, Tap)>,
    figures: Vec<(&'static str, Tap)>,
}

impl MessageWave {
    /// With this scope around all places.
    pub(super) fn new(scope: &'static str) -> MessageWave {
        let mut hub = Hub::new(true);
        let findings = hub.tap(scope, PlaceKind::Findings);
        MessageWave { scope, hub, findings, places: Vec::new(), figures: Vec::new() }
    }

    /// A message passes at a place.
    pub(super) fn message(&mut self, t_fs: u64, place: &str, form: &Value) -> Result<(), CaseError> {
        let (layout, bits) =
            message_from_json(&json!({ "layout": form["layout"], "fields": form["fields"] })).map_err(CaseError::of)?;
        let known = self.places.iter().position(|(of, def, _)| *of == place && std::ptr::eq(*def, layout));
        let at = known.unwrap_or_else(|| {
            let tap = self.hub.tap(&format!("{}.{place}", self.scope), PlaceKind::Messages(shown(layout)));
            self.places.push((place.to_owned(), layout, tap));
            self.places.len() - 1
        });
        let at_time = Stamp { t_fs, cycle: t_fs / STEP_FS };
        let tap = &mut self.places[at].2;
        tap.record(at_time, RecordKind::Mark, 0, 0, || Body::Message { layout, bits, data: None });
        Ok(())
    }

    /// A figure has a value from now on.
    pub(super) fn figure(&mut self, t_fs: u64, name: &'static str, value: u64) {
        let at = self.figures.iter().position(|(of, _)| *of == name).unwrap_or_else(|| {
            let signal = FigureSignal { name: name.to_owned(), width: FIGURE_BITS, names: None };
            let tap = self.hub.tap(&format!("{}.{name}", self.scope), PlaceKind::Figures(vec![signal].into()));
            self.figures.push((name, tap));
            self.figures.len() - 1
        });
        let at_time = Stamp { t_fs, cycle: t_fs / STEP_FS };
        self.figures[at].1.record(at_time, RecordKind::Value, 0, 0, || Body::Figure { signal: 0, value });
    }

    /// The records, with a broken rule.
    pub(super) fn records(mut self, t_fs: u64, violation: Violation) -> Hub {
        let at = Stamp { t_fs, cycle: t_fs / STEP_FS };
        self.findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
        self.hub
    }

    /// The case that ends with this finding at the last step.
    pub(super) fn case(self, what: &str, t_fs: u64, violation: Violation, steps: Vec<CaseStep>) -> BrokenCase {
        BrokenCase {
            what: what.to_owned(),
            t_fs,
            found: violation.to_string(),
            steps,
            records: Some(self.records(t_fs, violation)),
            axis: TimeAxis::of_step(1, t_fs + STEP_FS),
        }
    }
}
