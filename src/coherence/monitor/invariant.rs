//! V5 to V8 are sums of rules: who breaks one of their rules breaks the invariant.

use crate::content::LineContent;
use crate::event::CoherenceEvent;
use crate::message::Msg;

/// The event of a message that overtakes one which it must stay behind by this rule.
pub fn overtaken<D: LineContent>(rule: &'static str, msg: &Msg<D>) -> CoherenceEvent {
    let found = format!("{} before a message that it must not pass", msg.label());
    CoherenceEvent::new(rule, msg.line(), "link", found, "delivery in the order in which they were sent")
}

/// The invariant that a rule belongs to; `None` for rules of states and values (V1 to V4) and for choices.
pub fn invariant_of(rule: &str) -> Option<&'static str> {
    match rule {
        "COH-BOG-01" | "COH-BOG-02" | "COH-EVT-03" => Some("COH-INV-07"),
        "COH-ORD-01" | "COH-ORD-02" | "COH-ORD-06" | "COH-BIC-03" | "COH-BIA-11" => Some("COH-INV-08"),
        "COH-ORD-03" | "COH-ORD-04" | "COH-ORD-05" | "COH-ORD-10" | "COH-ORD-11" | "COH-SFI-08" => Some("COH-INV-06"),
        "COH-SFI-02" | "COH-SFI-03" | "COH-SFI-04" => Some("COH-INV-05"),
        _ => {
            let shapes = ["COH-IDS-", "COH-REQ-", "COH-SNP-", "COH-MEM-", "COH-BLK-"];
            shapes.iter().any(|area| rule.starts_with(area)).then_some("COH-INV-05")
        }
    }
}

/// Adds an event of its invariant to each event from `first` on that has one.
pub fn name_invariants(events: &mut Vec<CoherenceEvent>, first: usize) {
    for at in first..events.len() {
        let event = &events[at];
        if let Some(invariant) = invariant_of(event.rule)
            && !events.iter().any(|e| e.rule == invariant)
        {
            let found = format!("{}: {}", event.rule, event.found);
            let more = CoherenceEvent::new(invariant, event.line, event.at.clone(), found, event.expected.clone());
            events.push(more);
        }
    }
}
