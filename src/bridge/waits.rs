//! Which messages of a bridge wait for which, as they are seen to (`bridge` §10).
//!
//! Modelled: what a description says of the waits of a bridge, by which its system is known to have no circle of them, is compared with the
//! waits of the run: a message that stands since another class has no room. Each pair is told of once. Left out: waits for an entry, for a
//! line and for earlier requests, which end by what their holder waits for.
//!
//! A walk: a response finds no room at its link. The list has UPLI requests that wait for UPLI responses, so all is well. An access to an
//! accelerator stands because of a message to memory: no list has that, and it is told.

use crate::outbound::BridgeFinding;

/// Names of the classes of the links to accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AcceleratorClasses {
    /// Requests with an answer.
    pub request: &'static str,
    /// Posted requests, if there are any.
    pub posted: Option<&'static str>,
    /// Answers.
    pub response: &'static str,
}

/// The waits that are listed, and those that were seen beside them.
#[derive(Debug, Clone, Default)]
pub struct WaitWatch {
    /// Names at the links to accelerators.
    pub classes: AcceleratorClasses,
    /// A class that comes in, and one that it waits for; empty: nothing is known of them, and nothing is told.
    listed: Vec<(&'static str, &'static str)>,
    told: Vec<(&'static str, &'static str)>,
}

impl WaitWatch {
    /// A watch with these waits.
    pub fn new(classes: AcceleratorClasses, listed: Vec<(&'static str, &'static str)>) -> WaitWatch {
        WaitWatch { classes, listed, told: Vec::new() }
    }

    /// Messages of a class wait for room for another one: what is wrong with that, if it was not told before.
    pub fn observed(&mut self, incoming: &'static str, outgoing: &'static str) -> Option<BridgeFinding> {
        let wait = (incoming, outgoing);
        if self.listed.is_empty() || self.listed.contains(&wait) || self.told.contains(&wait) {
            return None;
        }
        self.told.push(wait);
        let found = format!("{incoming} waits for {outgoing}");
        Some(BridgeFinding { rule: "BRG-DLK-05", found, expected: "a wait that the bridge lists" })
    }
}
