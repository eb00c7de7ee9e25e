//! What can go wrong: while a design is put together, and while it runs.

use std::fmt;

use super::time::Time;

/// A mistake in the design, found before the first edge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A name is outside the grammar of [`check_name`](super::check_name).
    #[error("name `{name}`, byte {at}: found {found}, expected {expected}")]
    Name {
        /// The whole name.
        name: String,
        /// The byte at which it leaves the grammar.
        at: usize,
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// Two modules, two channels (wires and links included) or two clocks of a partition have the same name.
    #[error("{kind} `{name}` exists already, expected a name of its own")]
    Duplicate {
        /// `module`, `channel` or `clock`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// An end was never attached to a module.
    #[error("channel `{name}`: the {end} end is attached to no module")]
    Unbound {
        /// The channel, wire or link.
        name: String,
        /// `writer` or `reader`.
        end: &'static str,
    },
    /// A channel, wire or link without latency: what is sent could be seen at the same instant.
    #[error("channel `{name}`: latency 0, expected at least one")]
    Latency {
        /// The channel, wire or link.
        name: String,
    },
    /// A channel without room.
    #[error("channel `{name}`: depth 0, expected at least one item")]
    Depth {
        /// The channel.
        name: String,
    },
    /// A clock whose edges could share a point in time.
    #[error("clock period {num}/{den} fs, expected at least 1 fs")]
    Period {
        /// The numerator.
        num: u64,
        /// The denominator.
        den: u64,
    },
}

/// Something that is not finished: a line of the report of a run that stalled or ended too early.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unfinished {
    /// Since when it is open.
    pub since: Time,
    /// The module or the channel.
    pub place: String,
    /// What is open.
    pub what: String,
    /// The probes of the module at that moment.
    pub probes: Vec<(String, u64)>,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, since {}", self.place, self.what, self.since)?;
        for (i, (name, value)) in self.probes.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { " (" } else { ", " })?;
        }
        if self.probes.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// A run that could not start or did not end well. None of them can be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The design is wrong.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Modules kept running, nothing got done, and something is open.
    #[error("stalled at {at}: no progress for more than {limit_fs} fs; open, oldest first:{}", lines(open))]
    Stall {
        /// When this was found.
        at: Time,
        /// The limit of the run options, in fs.
        limit_fs: u64,
        /// What is open, oldest first.
        open: Vec<Unfinished>,
    },
    /// A module gave up what it has open.
    #[error("given up at {since} by {rule}; open, oldest first:{}", lines(open))]
    GivenUp {
        /// The last instant at which a module ran.
        at: Time,
        /// When it gave up.
        since: Time,
        /// By which rule.
        rule: &'static str,
        /// What is open, oldest first.
        open: Vec<Unfinished>,
    },
    /// Nobody will ever run again, and something is open.
    #[error("deadlock at {at}: no module has anything to do; open, oldest first:{}", lines(open))]
    Deadlock {
        /// The last instant at which a module ran.
        at: Time,
        /// What is open, oldest first.
        open: Vec<Unfinished>,
    },
    /// The time limit came while something was open.
    #[error("time limit {at} reached with work open, oldest first:{}", lines(open))]
    OpenAtLimit {
        /// The limit.
        at: Time,
        /// What is open, oldest first.
        open: Vec<Unfinished>,
    },
}

impl SimError {
    /// The last instant of the run.
    pub fn at(&self) -> Time {
        match self {
            SimError::Build(_) => Time::ZERO,
            SimError::Stall { at, .. }
            | SimError::GivenUp { at, .. }
            | SimError::Deadlock { at, .. }
            | SimError::OpenAtLimit { at, .. } => *at,
        }
    }
}

/// One line an open item, as many as a person reads.
fn lines(open: &[Unfinished]) -> String {
    const SHOWN: usize = 20;
    let mut text: String = open.iter().take(SHOWN).map(|item| format!("\n  {item}")).collect();
    if open.len() > SHOWN {
        text += &format!("\n  and {} more", open.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_for_the_reader() {
        let item =
            |i| Unfinished { since: Time::from_fs(i), place: format!("m[{i}]"), what: "x".into(), probes: vec![] };
        let text = SimError::Deadlock { at: Time::ZERO, open: (0..23).map(item).collect() }.to_string();
        assert!(text.contains("\n  m[0]: x, since 0 fs\n") && text.ends_with("m[19]: x, since 19 fs\n  and 3 more"));
    }
}
