//! V11: credits of a channel.

use crate::event::CoherenceEvent;

/// Credits of one channel, counted on both sides: sent - returned <= granted, none negative, all returned when idle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditWatch {
    channel: String,
    granted: u64,
    sent: u64,
    returned: u64,
}

impl CreditWatch {
    /// A channel that was granted so many credits.
    pub fn new(channel: impl Into<String>, granted: u64) -> Self {
        Self { channel: channel.into(), granted, sent: 0, returned: 0 }
    }

    fn event(&self, found: String, expected: &str) -> CoherenceEvent {
        CoherenceEvent::new("COH-INV-11", None, self.channel.clone(), found, expected)
    }

    /// A message was sent.
    pub fn send(&mut self, events: &mut Vec<CoherenceEvent>) {
        self.sent += 1;
        let open = self.sent - self.returned.min(self.sent);
        if open > self.granted {
            events.push(self.event(format!("{open} messages open"), "no more than the credits granted"));
        }
    }

    /// A credit came back.
    pub fn give_back(&mut self, events: &mut Vec<CoherenceEvent>) {
        self.returned += 1;
        if self.returned > self.sent {
            let found = format!("{} returned for {} sent", self.returned, self.sent);
            events.push(self.event(found, "one credit per message"));
        }
    }

    /// Nothing is under way.
    pub fn idle(&self, events: &mut Vec<CoherenceEvent>) {
        if self.sent != self.returned {
            let found = format!("{} sent, {} returned", self.sent, self.returned);
            events.push(self.event(found, "all credits returned when idle"));
        }
    }
}
