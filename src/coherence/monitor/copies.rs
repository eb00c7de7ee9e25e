//! V1 to V4: copies and values.

use super::View;
use crate::coherence::content::Content;
use crate::coherence::event::Event;

/// V1 single writer, V2 value, V3 no lost write, V4 tracking.
pub fn check_copies<D: Content>(view: &View<D>, events: &mut Vec<Event>) {
    let usable = || view.copies.iter().filter(|c| c.usable);
    // Ownership without bytes cannot be loaded from, and is ownership all the same.
    if let Some(writer) = view.copies.iter().find(|c| c.writable)
        && let Some(other) = view.copies.iter().find(|c| c.agent != writer.agent && (c.usable || c.writable))
    {
        let (at, found) = (format!("agent {}", writer.agent), format!("a usable copy at agent {} too", other.agent));
        events.push(Event::new("COH-INV-01", view.line, at, found, "no other usable copy"));
    }
    for copy in usable() {
        let at = || format!("agent {}", copy.agent);
        if copy.value != view.newest {
            let (found, expected) = (format!("{:?}", copy.value), format!("the last store, {:?}", view.newest));
            events.push(Event::new("COH-INV-02", view.line, at(), found, expected));
        } else if !copy.dirty && copy.value != view.home && !view.in_flight.contains(&copy.value) {
            // A forwarded line that is still under way makes the home's value equal when it arrives.
            let found = format!("a clean copy while the home holds {:?}", view.home);
            events.push(Event::new("COH-INV-02", view.line, at(), found, "a clean copy with the value of the home"));
        }
    }
    let kept = view.home == view.newest
        || view.copies.iter().any(|c| c.dirty && c.value == view.newest)
        || view.in_flight.contains(&view.newest);
    if !kept {
        events.push(Event::new(
            "COH-INV-03",
            view.line,
            "system",
            "the value of the last store is lost",
            "a copy of it, at an agent or at home",
        ));
    }
    for copy in &view.copies {
        if view.tracked >> copy.agent & 1 == 0 {
            let at = format!("agent {}", copy.agent);
            events.push(Event::new(
                "COH-INV-04",
                view.line,
                at,
                "a copy that the home does not track",
                "tracking of every holder",
            ));
        }
    }
}
