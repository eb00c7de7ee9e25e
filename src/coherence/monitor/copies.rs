//! V1 to V4: copies and values, with their poison. What goes by the home of a copy is judged level by level
//! ([`super::LevelView`]).

use super::{View, misled};
use crate::content::LineContent;
use crate::event::CoherenceEvent;

/// V1 single writer, V2 value, V3 no lost write, V4 tracking, and that no copy is more than what the level above holds.
///
/// `name`: the name of an agent by its number.
pub fn check_copies<D: LineContent>(view: &View<D>, name: &dyn Fn(usize) -> String, events: &mut Vec<CoherenceEvent>) {
    let usable = || view.copies.iter().filter(|c| c.usable);
    // Ownership without bytes cannot be loaded from, and is ownership all the same.
    if let Some(writer) = view.copies.iter().find(|c| c.writable)
        && let Some(other) = view.copies.iter().find(|c| c.agent != writer.agent && (c.usable || c.writable))
    {
        let (at, found) = (name(writer.agent), format!("a usable copy at {} too", name(other.agent)));
        events.push(CoherenceEvent::new("COH-INV-01", view.line, at, found, "no other usable copy"));
    }
    for copy in usable() {
        let at = || name(copy.agent);
        if let Some((rule, expected)) = misled(&copy.value, &view.newest) {
            events.push(CoherenceEvent::new(rule, view.line, at(), format!("a copy with {}", copy.value), expected));
        } else if copy.value != view.newest {
            let (found, expected) = (format!("a copy with {}", copy.value), format!("the last store, {}", view.newest));
            events.push(CoherenceEvent::new("COH-INV-02", view.line, at(), found, expected));
        } else if !copy.dirty {
            view.levels().for_each(|level| level.check_value(view, copy, name, events));
        }
    }
    let kept = view.home == view.newest
        || view.copies.iter().any(|c| c.dirty && c.value == view.newest)
        || view.in_flight.contains(&view.newest);
    if !kept {
        let dirty = view.copies.iter().filter(|c| c.dirty).map(|c| &c.value);
        let mut left = dirty.chain([&view.home]).chain(&view.in_flight);
        let event = match left.find_map(|value| Some((value, misled(value, &view.newest)?))) {
            Some((value, (rule, expected))) => {
                CoherenceEvent::new(rule, view.line, "system", format!("{value} is all that is left"), expected)
            }
            None => {
                let (found, expected) = ("the value of the last store is lost", "a copy of it, at an agent or at home");
                CoherenceEvent::new("COH-INV-03", view.line, "system", found, expected)
            }
        };
        events.push(event);
    }
    view.levels().for_each(|level| level.check_holders(view, name, events));
}
