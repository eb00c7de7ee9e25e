//! Ends of links, and channels of messages behind them, by name: where a run is watched, disturbed and driven from outside.

use crate::external::Feed;
use crate::hook::Hooks;
use crate::mailbox::MailboxChannel;
use std::fmt;

/// An end of a link in a scenario, or a channel of messages between it and a component that stands outside.
#[derive(Clone)]
pub struct SimPort {
    /// Its place, as traces name it.
    pub name: String,
    /// Protocol of the link.
    pub protocol: &'static str,
    /// Bytes of a unit or a message.
    pub unit_bytes: usize,
    /// Its hooks; a channel of messages has none.
    pub hooks: Hooks,
    /// What a caller drives, if the end is external: no end of the model stands there.
    pub feed: Option<Feed>,
    /// The channel of messages, if it is one: the model keeps the link end.
    pub channel: Option<MailboxChannel>,
}

impl SimPort {
    /// A port of the model, with the hooks that its end takes.
    pub fn new(name: impl Into<String>, protocol: &'static str, unit_bytes: usize) -> SimPort {
        SimPort { name: name.into(), protocol, unit_bytes, hooks: Hooks::new(), feed: None, channel: None }
    }

    /// Whether a caller stands here.
    pub fn is_external(&self) -> bool {
        self.feed.is_some() || self.channel.is_some()
    }

    /// What the caller has driven and has not left yet.
    pub fn driven(&self) -> usize {
        let units = self.feed.as_ref().map_or(0, Feed::waiting);
        units + self.channel.as_ref().map_or(0, MailboxChannel::posted)
    }
}

impl fmt::Debug for SimPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimPort({}, {})", self.name, self.protocol)
    }
}
