//! V13: who may hold a line of HDM-D in which bias.

use super::View;
use crate::coherence::content::Content;
use crate::coherence::event::Event;

/// V13 bias: no copy but the device's in device bias, no ownership of the device in host bias. `device` is its agent.
pub fn check_bias<D: Content>(view: &View<D>, device: usize, in_device_bias: bool, events: &mut Vec<Event>) {
    for copy in &view.copies {
        let at = || format!("agent {}", copy.agent);
        if copy.agent != device && in_device_bias {
            let found = "a copy outside the device";
            events.push(Event::new("COH-INV-13", view.line, at(), found, "no host copy in device bias"));
        }
        if copy.agent == device && copy.writable && !in_device_bias {
            let found = "the device owns the line in host bias";
            events.push(Event::new("COH-INV-13", view.line, at(), found, "ownership in device bias only"));
        }
    }
}
