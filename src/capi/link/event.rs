//! What a link end reports, as it waits to be taken.

use scalepool::forms::{Object, violation};
use scalepool::link::event::{LinkEvent, Severity};
use scalepool::link::hook::Direction;
use serde_json::Value;

/// An event of a link end.
#[derive(Debug, Clone)]
pub struct CapiEvent {
    /// The direction of the unit that it concerns.
    pub way: Direction,
    /// What it says.
    pub event: LinkEvent,
    /// Tag of the request that it concerns, where there is one.
    pub tag: Option<u16>,
}

impl CapiEvent {
    /// One that concerns no request.
    pub fn of(way: Direction, event: LinkEvent) -> CapiEvent {
        CapiEvent { way, event, tag: None }
    }

    /// Its form.
    pub fn json(&self) -> Value {
        let mut form = Object::new();
        form.insert("unit".into(), self.event.unit.into());
        form.insert("port".into(), self.way.name().into());
        form.insert("by".into(), self.event.culprit(self.way).name().into());
        let severity = match self.event.severity {
            Severity::Corrected => "corrected",
            Severity::Protocol => "protocol",
            Severity::Retrain => "retrain",
            Severity::Uncorrectable => "uncorrectable",
            Severity::Fatal => "fatal",
        };
        form.insert("severity".into(), severity.into());
        if let Value::Object(violation) = violation::to_json(&self.event.violation) {
            form.extend(violation);
        }
        if let Some(tag) = self.tag {
            form.insert("tag".into(), tag.into());
        }
        Value::Object(form)
    }
}
