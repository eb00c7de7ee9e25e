//! The way to a fault as a trace and as waves, and as a script that can be followed again.
//!
//! Modelled: each step of the way is one nanosecond; a message stands at the agent that takes it and, in the step in which
//! it leaves, at the agent that sends it. Detail: fields of 256B flits; data is the age of the value in every byte
//! ([`LineContent::bytes`](scalepool_coherence::content::LineContent::bytes)). Left out: links and flits, of which an
//! exploration knows nothing.
//!
//! A walk: [`places`] names one place an agent; [`record`] writes the steps into them; a sink takes them from the hub as in
//! any run. [`Counterexample::script`] has the words that [`play`](crate::flows::play) follows, to the same event.

use crate::explore::{ChartStep, Counterexample};
use scalepool_protocols::cxl::message::{Message, MessageForm};
use scalepool_protocols::wire::At;
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, Tap};

/// Time of a step \[fs\].
pub const STEP_FS: u64 = 1_000_000;

/// One place an agent, named as its column, blanks as underscores.
pub fn places(violation: &Counterexample, hub: &mut Hub) -> Vec<Tap> {
    let names = violation.columns.iter().map(|name| name.replace(' ', "_"));
    names.map(|name| hub.tap(&name, PlaceKind::Messages(MessageForm::Hbr.layouts()))).collect()
}

fn body(message: &Message) -> Body {
    let data = message.data().map(|d| d.line.to_vec());
    message.spell(MessageForm::Hbr).map_or(Body::None, |(layout, bits)| Body::Message { layout, bits, data })
}

/// Writes the way into the places of its agents, the broken rule behind the last step.
pub fn record(violation: &Counterexample, taps: &mut [Tap]) {
    let at = |step: usize| Stamp { t_fs: (step as u64 + 1) * STEP_FS, cycle: step as u64 + 1 };
    for (n, step) in violation.steps.iter().enumerate() {
        let (own, sent) = match step {
            ChartStep::Act { agent, sent, .. } => ((*agent, None), sent),
            ChartStep::Deliver { to, message, sent, .. } => ((*to, Some(message)), sent),
        };
        if let Some(tap) = taps.get_mut(own.0) {
            tap.record(at(n), RecordKind::Mark, 0, 0, || own.1.map_or(Body::None, body));
        }
        for message in sent {
            if let Some(tap) = taps.get_mut(message.from) {
                tap.record(at(n), RecordKind::Begin, 0, 0, || body(&message.message));
            }
        }
    }
    if let Some(tap) = taps.first_mut() {
        let event = &violation.event;
        let broken = scalepool_protocols::wire::Violation {
            rule: event.rule,
            at: event.line.map_or(At::Message, |line| At::Line(line.address())),
            found: event.found.clone(),
            expected: event.expected.clone(),
            text: event.to_string(),
        };
        tap.record(at(violation.steps.len()), RecordKind::Violation, 0, 0, || Body::Violation(broken));
    }
}
