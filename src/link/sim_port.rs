//! Ends of links by name: where a run is watched, disturbed and driven from outside.

use crate::external::Feed;
use crate::hook::Hooks;
use std::fmt;

/// An end of a link in a scenario.
#[derive(Clone)]
pub struct SimPort {
    /// Its place, as traces name it.
    pub name: String,
    /// Protocol of its units.
    pub protocol: &'static str,
    /// Bytes of a unit.
    pub unit_bytes: usize,
    /// Its hooks.
    pub hooks: Hooks,
    /// What a caller drives, if the end is external: no end of the model stands there.
    pub feed: Option<Feed>,
}

impl SimPort {
    /// A port of the model, with the hooks that its end takes.
    pub fn new(name: impl Into<String>, protocol: &'static str, unit_bytes: usize) -> SimPort {
        SimPort { name: name.into(), protocol, unit_bytes, hooks: Hooks::new(), feed: None }
    }
}

impl fmt::Debug for SimPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimPort({}, {})", self.name, self.protocol)
    }
}
